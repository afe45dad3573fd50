#!/bin/sh
# Makes the assembly text of every shader from its source again, and the data from the references. Needs Debian's
# glslang-tools, clang-15 and llvm-spirv-15, which are used for nothing else, and a built `roundonce`.
#
#   tests/shaders/regenerate.sh [ROUNDONCE]     the command, default target/release/roundonce
set -eu
cd "$(dirname "$0")"
roundonce=${1:-../../target/release/roundonce}
scratch=$(mktemp -d)
for source in *.comp; do
    name=${source%.comp}
    case $name in
        saxpy) environment=vulkan1.0 ;;
        *) environment=vulkan1.1 ;;
    esac
    glslangValidator --quiet --target-env "$environment" -V "$source" -o "$scratch/$name.spv"
    "$roundonce" check --fix=glsl-fma "$scratch/$name.spv" > "$scratch/findings"
    "$roundonce" disasm "$scratch/$name.spv" -o "$name.spvasm"
done
# One binary is kept, so that one is run.
cp "$scratch/horner.spv" .
rm horner.spvasm
for source in *.cl; do
    name=${source%.cl}
    case $name in
        pointers_cl) level=-O0 ;;
        *) level=-O1 ;;
    esac
    clang-15 -target spir64-unknown-unknown -cl-std=CL2.0 -Xclang -finclude-default-header $level -emit-llvm -c \
        "$source" -o "$scratch/$name.bc"
    llvm-spirv-15 "$scratch/$name.bc" -o "$scratch/$name.spv"
    "$roundonce" check --fix "$scratch/$name.spv" > "$scratch/findings"
    "$roundonce" disasm "$scratch/$name.spv" -o "$name.spvasm"
done
python3 reference/shaders.py
