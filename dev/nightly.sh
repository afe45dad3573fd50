#!/bin/sh
# The long comparison of the multiply-add: generated triples against SoftFloat and MPFR, for f16, f32 and f64 in the four
# directions, on every core; against the processor's own AVX-512, for f32 and f64; then the vector kernels, every mode,
# against the scalar pipeline, and those of f16 and bf16 against SoftFloat: every pair of an addition, subtraction and
# multiplication, and generated triples; then the verdicts of `diff` on 10,000 pairs, and matrix multiply-adds, a million elements a
# row, against exact integers; where mdBook is installed, the book's links. One line a run; the exit status says whether all agree.
# Last, every crate is built from its package alone, and what a release hands out is built and installed (docs/packages.md says
# what that needs).
#
#   dev/nightly.sh [TRIPLES_PER_RUN]      (10^9 by default, 1.2 × 10^10 for each of the three; hours on two cores)
#   dev/nightly.sh sanitize               (the tests of the vector kernels under the address sanitizer, and the portable
#                                         kernel under Miri, where a nightly toolchain has it)
#
# Where TESTFLOAT_GEN names the `testfloat_gen` of a built Berkeley TestFloat, its levels 1 and 2 of f16, f32 and f64
# mulAdd (6 million and many more vectors each) in the four directions are verified as well, flags included.
#
# MPFR is built from its sources the first time (a minute): that needs make and m4 beside a C compiler.
# docs/nightly.md keeps the last result.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = sanitize ]; then
    host=$(rustc -vV | sed -n 's/^host: //p')
    RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address ROUNDONCE_BATCH_LANES=20000 \
        cargo test -p roundonce-arith --test batch --target "$host"
    if cargo +nightly miri --version >/dev/null 2>&1; then
        # Miri has no vector units: the level that it sees is the portable one.
        cargo +nightly miri test -p roundonce-arith --test batch any_length_start_and_source_f16
    fi
    exit
fi
count=${1:-1000000000}
cargo build --quiet --release -p roundonce-arith --features mpfr --example nightly
nightly="${CARGO_TARGET_DIR:-target}/release/examples/nightly"
status=0
"$nightly" softfloat "$count" || status=1
"$nightly" mpfr "$count" || status=1
if grep -q avx512f /proc/cpuinfo 2>/dev/null; then "$nightly" processor "$count" || status=1; fi
"$nightly" kernels "$count" || status=1
"$nightly" pairs 4294967296 || status=1
"$nightly" triples "$count" || status=1
cargo test --quiet --release -p roundonce-why --test diff -- --ignored || status=1
ROUNDONCE_CASES=1000000 cargo test --quiet --release -p roundonce-ptx --test matrix_random || status=1
if command -v mdbook >/dev/null; then python3 dev/book.py || status=1; fi
cargo test --quiet --release -p roundonce-cli --test hostile -- --ignored || status=1
if [ -n "${TESTFLOAT_GEN:-}" ]; then
    cargo build --quiet --release
    roundonce="${CARGO_TARGET_DIR:-target}/release/roundonce"
    for level in 1 2; do
        for format in f16 f32 f64; do
            for direction in rn:near_even rz:minMag rm:min rp:max; do
                "$TESTFLOAT_GEN" -level "$level" "-r${direction#*:}" -tininessafter "${format}_mulAdd" |
                    "$roundonce" vectors verify - --instruction "${format}_mulAdd_${direction%%:*}" || status=1
            done
        done
    done
fi
cargo publish --quiet --workspace --dry-run --allow-dirty || status=1
dev/release.sh && dev/release/try.sh || status=1
exit $status
