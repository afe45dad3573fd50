#!/usr/bin/env bash
# Plants the mutants that cargo-mutants knows in the scalar pipeline, in a copy of the committed tree, and runs the tests
# (run.py). What came of it goes to evidence/mutants.tsv; docs/mutants.md explains what survives.
#
#   dev/mutants/run.sh [PART/PARTS]      0/1, all of them, by default: hours on two cores
#
# It needs cargo-mutants (`cargo install cargo-mutants`) and `patch`.
set -euo pipefail
cd "$(dirname "$0")/../.."
part=${1:-0/1}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git archive HEAD | tar -x -m -C "$copy"
out=evidence/mutants.tsv
: > "$out"
sources=()
for name in round ordinary mul_add wide unpack flush nan; do sources+=("crates/arith/src/$name.rs"); done
CARGO_TARGET_DIR=${MUTANTS_TARGET:-$PWD/target/mutants} \
    python3 dev/mutants/run.py "$copy" "$PWD/$out" --only "$part" "${sources[@]}"
count() { grep -c "^$1" "$out" || true; }
result="part $part: $(($(count caught) + $(count timeout))) caught, $(count missed) missed, $(count unviable) unviable"
echo "$result"
[ -z "${ROUNDONCE_RECORD:-}" ] || printf '{"date":"%s", "arith":"%s", "what":"mutants of the scalar pipeline", "result":"%s", "command":"dev/mutants/run.sh %s"}\n' \
    "$(date -u +%Y-%m-%d)" "$(git rev-parse --short=12 HEAD:crates/arith)" "$result" "$part" >> "$ROUNDONCE_RECORD"
