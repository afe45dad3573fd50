#!/bin/sh
# The tests of the vector kernels on AArch64, in an emulator on another machine: `dev/neon.sh [LANES]` (4,000 lanes an
# operation by default).
#
# Wants a nightly toolchain with `rust-src` (no standard library for AArch64 need be installed: it is built), and of
# Debian gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user. docs/nightly.md keeps the last result.
set -eu
cd "$(dirname "$0")/.."
export ROUNDONCE_BATCH_LANES="${1:-4000}" ROUNDONCE_LANES="${1:-4000}"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
for tests in "-p roundonce-arith --test batch --test cancellation" "-p roundonce --test kernels"; do
    # shellcheck disable=SC2086 # Several arguments each.
    cargo +nightly -Zbuild-std test --release --target aarch64-unknown-linux-gnu $tests
done
