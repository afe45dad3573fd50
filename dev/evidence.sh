#!/usr/bin/env bash
# Makes every record of docs/evidence.md again, and the page: hours. A record says what was run at which commit, so that
# one part can be made again alone.
#
#   dev/evidence.sh [forms|arrays|exhaustive|long|llvm|proofs|mutants]...      all by default
#   TRIPLES=N                                                             of a long run's format and direction (10^9)
set -euo pipefail
cd "$(dirname "$0")/.."
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(forms arrays exhaustive long llvm proofs mutants)
# The old records of a part make place for the new ones.
renew() { # FILE PATTERN COMMAND...
    local file=evidence/$1 pattern=$2 new
    new=$(mktemp)
    shift 2
    ROUNDONCE_RECORD=$new "$@"
    { grep -v -e "$pattern" "$file" || true; cat "$new"; } > "$new.all"
    mv "$new.all" "$file"
}
for part in "${parts[@]}"; do
    case $part in
        forms) cargo run --release -p roundonce-evidence -- check --all --record ;;
        arrays) ROUNDONCE_CASES=1000000 renew arrays.jsonl . bindings/python/test.sh -k softfloat ;;
        exhaustive) renew runs.jsonl '"exhaustive":true' \
            cargo test --release -p roundonce-arith --test exhaustive -- --include-ignored ;;
        long) renew runs.jsonl '"rounding"' dev/nightly.sh "${TRIPLES:-1000000000}" ;;
        llvm) renew runs.jsonl '"what":"the folding' dev/llvm/fold.py 3000 ;;
        proofs) renew proofs.jsonl . dev/proofs/run.sh f16 bf16 f32 f64 ;;
        mutants) renew runs.jsonl '"what":"mutants' dev/mutants/run.sh ;;
        *) echo "dev/evidence.sh: no part $part" >&2; exit 2 ;;
    esac
done
cargo run --release -p roundonce-evidence -- page
