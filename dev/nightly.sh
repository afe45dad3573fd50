#!/bin/sh
# The long comparison of the multiply-add: generated triples against SoftFloat, then against MPFR, for f16, f32 and f64
# in the four directions, on every core. One line a run; the exit status says whether all agree.
#
#   dev/nightly.sh [TRIPLES_PER_RUN]      (10^9 unless told; about an hour on two cores)
#
# MPFR is built from its sources the first time (a minute): that wants make and m4 beside a C compiler.
# docs/nightly.md keeps the last result.
set -eu
cd "$(dirname "$0")/.."
count=${1:-1000000000}
cargo build --quiet --release -p roundonce-arith --features mpfr --example nightly
nightly="${CARGO_TARGET_DIR:-target}/release/examples/nightly"
status=0
"$nightly" softfloat "$count" || status=1
"$nightly" mpfr "$count" || status=1
exit $status
