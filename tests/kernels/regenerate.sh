#!/bin/sh
# Makes every .ptx here from its .cu again, or by Triton, and the data from the references, which write some .ptx too. The
# compilers come from the package registry and are used for nothing else: a clone builds and tests without them.
#
#   tests/kernels/regenerate.sh [DIRECTORY]     the directory to install into, default a temporary one
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tools=${1:-$(mktemp -d)}
version=13
if [ ! -x "$tools/bin/python" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" --quiet install "nvidia-cuda-nvcc==$version.*" "nvidia-nvvm==$version.*" \
        "nvidia-cuda-crt==$version.*" "nvidia-cuda-runtime==$version.*" "nvidia-cuda-cccl==$version.*" "triton==3.9.*"
fi
nvcc=$(find "$tools" -path "*/bin/nvcc" -type f | head -n 1)

# compile ARCHITECTURE SOURCE RESULT [OPTIONS]
compile() {
    architecture=$1 source=$2 result=$3
    shift 3
    (cd "$here" && "$nvcc" -ptx -arch="compute_$architecture" "$@" -o "$result.ptx" "$source.cu")
}
for source in "$here"/*.cu; do
    name=$(basename "$source" .cu)
    case $name in
        bf16 | f32x2) compile 100 "$name" "$name" ;;
        half2_axpy) compile 80 "$name" "$name" -ftz=true ;;
        half2_* | mma_gemm | wmma_gemm) compile 80 "$name" "$name" ;;
        bf162_ops)
            compile 90 "$name" "$name"
            compile 80 "$name" "${name}_80"
            ;;
        fp8_convert) compile 89 "$name" "$name" ;;
        fp6_fp4_convert | tf32_convert) compile 100a "$name" "$name" ;;
        bf16_relu | half_convert | pipeline | matrix_moves | async_reduce | carry_less) compile 90 "$name" "$name" ;;
        *) compile 75 "$name" "$name" ;;
    esac
done
for source in "$here"/common/*.cu; do
    name=common/$(basename "$source" .cu)
    compile 80 "$name" "$name"
done
"$tools/bin/python" "$here/triton_dot.py"
"$tools/bin/python" "$here/reference/generate.py"
