#!/bin/sh
# The benchmark of crates/exec with lavapipe (Mesa's Vulkan on the CPU) taking turns, one thread:
# dev/peers/lavapipe/run.sh [FILTER]
# Wants a C compiler, Vulkan's headers and loader, glslangValidator and lavapipe (Debian: libvulkan-dev glslang-tools
# mesa-vulkan-drivers).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(mktemp -d)
trap 'rm -r "$build"' EXIT
cc -O2 -Wall -Wextra -o "$build/lavapipe" "$here/lavapipe.c" -lvulkan
for kernel in 1 2 3 4 5; do
    glslangValidator --quiet -V -DKERNEL=$kernel -o "$build/k$kernel.spv" "$here/kernels.comp"
done
export LP_NUM_THREADS=1
cd "$here/../../.."
ROUNDONCE_PEER="$build/lavapipe $build" cargo bench -q -p roundonce-exec -- "$@"
