#!/usr/bin/env bash
# What can be tested of the kit without a GPU. With a C++ compiler: the reference against other judges, and what the
# program makes of a machine that is wrong in known ways. With `nvcc` as well (dev/gpu/test.sh nvcc): that kernels and
# PTX assemble for every architecture, that the bit makes FMZ (where nvdisasm is), and the SPIR-V (where spirv-val and
# Vulkan's headers are).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
edge=$here/../../vectors/edge
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expect() { grep -qF -- "$2" "$1" || { echo "gpu kit: $1 has no line with: $2"; exit 1; }; }

"${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra -o "$work/reference" "$here/test/reference_test.cpp"
"$work/reference" "$edge"

# Without cuda.h there is no cuda.cpp: the pretended machine alone.
"${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra -DWITHOUT_CUDA -o "$work/capture" \
    "$here/capture.cpp" "$here/questions.cpp" "$here/pretended.cpp"
"$here/ptx.sh" 100 "$work"
for spelling in fma.rn.f32 fma.rn.ftz.f32 fma.rz.ftz.f32 fma.rn.sat.f32 fma.rn.f64 fma.rp.f32.bf16 fma.rn.ftz.f32x2; do
    grep -F " $spelling " "$work/forms.list"
done > "$work/some" && mv "$work/some" "$work/forms.list"
mkdir "$work/out"
TESTFLOAT=$edge/testfloat "$work/capture" --pretend "$work" "$work/out" 50000 today none
expect "$work/out/questions.txt" "fma.rn.ftz.f32: 50 cases: result 0, after rounding 6, before rounding 50 (all)"
expect "$work/out/questions.txt" "fma.rz.ftz.f32: 0 cases"
expect "$work/out/questions.txt" "qqs: c made quiet;"
expect "$work/out/questions.txt" "always 0x7fffffff"
expect "$work/out/questions.txt" "-0 0x80000000;"
# 262,144 directed and 50,000 random triples, and TestFloat's where the format is its own.
expect "$work/out/results.jsonl" '"form":"fma.rn.f32","machine":"a pretended machine","assembler":"none","date":"today","cases":332589,"mismatches":0,'
expect "$work/out/results.jsonl" '"form":"fma.rp.f32.bf16","machine":"a pretended machine","assembler":"none","date":"today","cases":312144,"mismatches":0,'
# Nothing but the three planted errors, each under its name.
grep -F '"form":"fma.rn.f64"' "$work/out/results.jsonl" | grep -q '"nan_bits":[1-9].*"tiny_either":0,"other":0}'
grep -F '"form":"fma.rn.ftz.f32"' "$work/out/results.jsonl" | grep -q '"nan_bits":0,"tiny_result":0,"tiny_before":[1-9][0-9]*,"tiny_either":0,"other":0}'
grep -F '"form":"fma.rn.sat.f32"' "$work/out/results.jsonl" | grep -q '"nan_bits":0,"tiny_result":0,.*"other":[1-9]'
echo "gpu kit: the pretended machine's three errors are found and named"

# Programs on a driver that computes nothing: one leaves what is expected, one something else, one is refused, one faults.
"${CC:-cc}" -shared -fPIC -O1 -Wall -Wextra -o "$work/driver.so" "$here/test/pretended_driver.c"
line() { printf '{"name":"%s","ptx":".entry kernel %s","grid":[1,1,1],"block":[1,1,1],"bytes":[16,16],"crc32":[%s]}\n' "$@"; }
{
    line zeros "" 420107693
    line others "" 1
    line refused brkpt 420107693
    line faults "trap;" 420107693
} | gzip > "$work/programs.jsonl.gz"
CUDA_DRIVER=$work/driver.so python3 "$here/programs.py" "$work/programs.jsonl.gz" "$work/programs" > "$work/programs.txt"
expect "$work/programs.txt" "programs: 4, 1 same, 1 differs, 1 refused, 1 failed, 0 not reached"
echo "gpu kit: programs on a pretended driver are told apart"

# Machine code: two instructions run, the one between them faults and takes its process with it.
word() { printf '{"instruction":"FMUL","operands":"%s","type":"f32","seen":"f32","cubin":"%s"}\n' "$1" \
    "$(python3 -c 'import base64, sys, zlib; print(base64.b64encode(zlib.compress(sys.argv[1].encode() + b"\0")).decode())' "$2")"; }
{ word "a, b" ".entry probe"; word "-a, b" ".entry probe trap;"; word "|a|, b" ".entry probe"; } | gzip > "$work/words.jsonl.gz"
CUDA_DRIVER=$work/driver.so python3 "$here/words.py" run "$work/words.jsonl.gz" "$work/words" > "$work/words.txt"
expect "$work/words.txt" "FMUL -a, b cuCtxSynchronize: CUDA_ERROR_LAUNCH_FAILED"
expect "$work/words.txt" "3 instructions ran"
python3 "$here/words.py" table "$work/words/words-results.jsonl.gz" "$work/words.tsv.gz" 2
gzip -cd "$work/words.tsv.gz" | cut -f1,2,6 | sort | uniq -c | tr -s ' \t' ' ' > "$work/words.tsv"
expect "$work/words.tsv" "2 FMUL a, b 0"
expect "$work/words.tsv" "8 FMUL |a|, b 0"
echo "gpu kit: machine code on a pretended driver is told apart"
[ "${1:-}" = nvcc ] || exit 0

nvcc=${NVCC:-nvcc}
bin=$(dirname "$(readlink -f "$(command -v "$nvcc")")")
for sm in 75 80 86 89 90 100 120; do
    "$here/build.sh" "$sm" "$work/$sm"
    echo "sm_$sm: $(wc -l < "$work/$sm/forms.list") forms assemble"
done
if python3 -c 'import numpy' 2>/dev/null && [ -x "$here/../../target/release/roundonce" ]; then
    python3 "$here/test/matrix_test.py" "$here/../../target/release/roundonce" "$nvcc"
fi
if [ -x "$bin/nvdisasm" ]; then
    mkdir "$work/patched"
    for sm in 75 90 100 120; do
        "$work/$sm/capture" --fmz "$work/$sm/forms.cubin" fma_rn_sat_f32 "$work/patched/$sm.cubin"
        "$bin/nvdisasm" -c "$work/patched/$sm.cubin" > "$work/patched/$sm.sass"
        [ "$(grep -c 'FFMA.FMZ' "$work/patched/$sm.sass")" = 1 ]
        expect "$work/patched/$sm.sass" FFMA.FMZ.SAT
    done
    echo "one bit makes FFMA.FMZ.SAT of FFMA.SAT, on sm_75, 90, 100 and 120"
fi
if [ -f "${VULKAN_INCLUDE:-/usr/include}/vulkan/vulkan.h" ]; then
    "${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra ${VULKAN_INCLUDE:+-isystem "$VULKAN_INCLUDE"} -o "$work/vulkan" \
        "$here/vulkan.cpp" -l:libvulkan.so.1
    mkdir "$work/modules"
    "$work/vulkan" --modules "$work/modules"
    for module in "$work/modules"/*.spv; do "${SPIRV_VAL:-spirv-val}" --target-env vulkan1.2 "$module"; done
    echo "$(ls "$work/modules" | wc -l) SPIR-V modules are valid"
fi
