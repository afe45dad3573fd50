#!/bin/sh
# The benchmark of crates/exec with PoCL taking turns, one thread: dev/peers/pocl/run.sh [FILTER]
# Wants a C compiler, the OpenCL headers and loader, and PoCL (Debian: ocl-icd-opencl-dev pocl-opencl-icd).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(mktemp -d)
trap 'rm -r "$build"' EXIT
cc -O2 -Wall -Wextra -o "$build/pocl" "$here/pocl.c" -lOpenCL
export POCL_MAX_PTHREAD_COUNT=1
cd "$here/../../.."
ROUNDONCE_PEER="$build/pocl $here/kernels.cl" cargo bench -q -p roundonce-exec -- "$@"
