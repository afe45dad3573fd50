#!/usr/bin/env bash
# On a machine with an NVIDIA GPU and nvcc: builds the kit for that GPU, runs every form that it has, and leaves what to
# bring back in OUT: at most 8 files of at most 16 MiB. README.md says what becomes of them.
#
#   dev/gpu/capture.sh OUT [RANDOM]      RANDOM triples a form and mode, 10^8 by default
#
# SM names the architecture (90, 100, ...) where nvidia-smi cannot; NVCC another nvcc; VULKAN_INCLUDE a folder that holds
# vulkan/vulkan.h where the system has none.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
random=${2:-100000000}
sm=${SM:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir -p "$out"
"$here/build.sh" "$sm" "$build"
# Tensor cores first: a few seconds.
if "${NVCC:-nvcc}" -O2 -arch="sm_$sm" -o "$build/matrix" "$here/matrix.cu" && "$build/matrix" > "$out/matrix.jsonl"; then
    echo "matrices: $(wc -l < "$out/matrix.jsonl") captured"
else
    echo "matrices: not captured"
fi
assembler=$("${NVCC:-nvcc}" --version | sed -n 's/.*release.*, V/ptxas of CUDA /p')
TESTFLOAT="$here/../../vectors/edge/testfloat" \
    "$build/capture" "$build" "$out" "$random" "$(date -u +%Y-%m-%d)" "$assembler"

# Vulkan, where its headers and a loader are.
if "${CXX:-c++}" -std=c++17 -O2 ${VULKAN_INCLUDE:+-isystem "$VULKAN_INCLUDE"} -o "$build/vulkan" "$here/vulkan.cpp" \
    ${VULKAN_LIB:+-L"$VULKAN_LIB"} -l:libvulkan.so.1 2> "$build/vulkan.log"; then
    "$build/vulkan" "$out" 4000000 | tee -a "$out/summary.txt"
else
    echo "vulkan: not captured, no headers or no loader to build with" | tee -a "$out/summary.txt"
fi
# `vectors verify` takes both kinds of lines.
if [ -f "$out/matrix.jsonl" ]; then cat "$out/matrix.jsonl" >> "$out/vectors.jsonl" && rm "$out/matrix.jsonl"; fi
# What the kit keeps of the mismatches is bounded; the counts in results.jsonl are exact.
for file in mismatches vectors vulkan-vectors; do
    [ ! -f "$out/$file.jsonl" ] || gzip -9 -f "$out/$file.jsonl"
done
gzip -9 -f "$out/nan.tsv"
find "$out" -type f -size +16M -print | while read -r file; do
    echo "larger than 16 MiB, cut: $file"
    gzip -dc "$file" | head -n 100000 | gzip -9 > "$file.cut" && mv "$file.cut" "$file"
done
ls -l "$out"
