#!/usr/bin/env bash
# The tests of the vector kernels and of native code on AArch64, in an emulator on another machine:
# `dev/neon.sh [LANES [TEST…]]` (4,000 lanes an operation by default; of the engine's tests those that are named, or all, and
# `ROUNDONCE_PROGRAMS` programs at random, 200 by default).
#
# Wants a toolchain that has the standard library for AArch64, or a rustc with the library's sources, named in NEON_RUSTC (as
# of Debian's rustc-web cargo-web rust-web-src); and of Debian gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
# docs/nightly.md keeps the last result.
set -euo pipefail
cd "$(dirname "$0")/.."
lanes=${1:-4000}
shift $(($# > 0))
target=aarch64-unknown-linux-gnu
# The emulator compiles the code once more: fewer programs at random than elsewhere.
export ROUNDONCE_BATCH_LANES=$lanes ROUNDONCE_LANES=$lanes ROUNDONCE_PROGRAMS=${ROUNDONCE_PROGRAMS:-200}
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
cargo=cargo
if ! [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ]; then
    rustc=${NEON_RUSTC:-/usr/bin/rustc}
    [ -e "$("$rustc" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/std" ] || {
        echo "no standard library for $target: rustup target add $target, or name in NEON_RUSTC a rustc with its sources" >&2
        exit 1
    }
    # Building the standard library is not stable yet.
    export RUSTC_BOOTSTRAP=1 RUSTC=$rustc CARGO_UNSTABLE_BUILD_STD=std,panic_unwind
    cargo=$(dirname "$rustc")/cargo
fi
run() {
    "$cargo" test --target $target "$@"
}
run --release -p roundonce-arith --test batch --test cancellation
run --release -p roundonce --test kernels
# What the engine asserts is part of its tests: the profile of tests has it.
run -p roundonce-exec --lib --test native --test random --test kernels --test forms -- "$@"
