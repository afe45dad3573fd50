#!/usr/bin/env bash
# Proves the steps of the pipeline (docs/proofs.md) and holds the model that is proved against the code.
#
#   dev/proofs/run.sh [FORMAT...]        f16, bf16 and f32 by default; f64 too if asked
#
# The solver is bitwuzla, from PyPI, in a virtual environment of its own; PYTHON names one that has it. LIMIT is the
# seconds that a theorem gets (900). ROUNDONCE_RECORD names a file that takes the records.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
cargo run --quiet --release -p roundonce-arith --example results -- "${TRIPLES:-20000}" | python3 "$here/agree.py"
if [ -z "${PYTHON:-}" ]; then
    python3 -m venv target/proofs
    target/proofs/bin/pip install --quiet bitwuzla==0.9.1
    PYTHON=target/proofs/bin/python
fi
code=$(git rev-parse --short=12 HEAD:crates/arith)
status=0
log=$(mktemp)
"$PYTHON" "$here/prove.py" --limit "${LIMIT:-900}" ${ONLY:+--only "$ONLY"} "$@" | tee "$log" || status=1
[ -z "${ROUNDONCE_RECORD:-}" ] || awk -F'\t' -v date="$(date -u +%Y-%m-%d)" -v code="$code" 'NF == 4 {
    printf "{\"date\":\"%s\", \"arith\":\"%s\", \"format\":\"%s\", \"theorem\":\"%s\", \"result\":\"%s\", \"seconds\":%d}\n",
        date, code, $1, $2, $3, $4 + 0.5 }' "$log" >> "$ROUNDONCE_RECORD"
exit $status
