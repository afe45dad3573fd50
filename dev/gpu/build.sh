#!/usr/bin/env bash
# Builds the kit for one architecture with the nvcc that is found (PATH, or NVCC): no GPU is needed for it.
#
#   dev/gpu/build.sh SM DIRECTORY        (75, 90, 100, ...)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sm=$1
out=$2
nvcc=${NVCC:-nvcc}
home=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")
mkdir -p "$out"
"$here/ptx.sh" "$sm" "$out"
"$home/bin/ptxas" -arch="sm_$sm" -o "$out/forms.cubin" "$out/forms.ptx"
"$home/bin/ptxas" -arch="sm_$sm" -o "$out/contract.cubin" "$out/contract.ptx"
"$nvcc" -O2 -cubin -arch="sm_$sm" -o "$out/check.cubin" "$here/check.cu"
"${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra -isystem "$home/include" -o "$out/capture" \
    "$here/capture.cpp" "$here/questions.cpp" "$here/cuda.cpp" "$here/pretended.cpp" -ldl
