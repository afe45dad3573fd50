#!/usr/bin/env bash
# Every file with unsafe code, and how many blocks, functions and implementations it has: the list below is what
# docs/security.md argues for. A new one, or one more, fails until it is argued there and listed here.
set -euo pipefail
cd "$(dirname "$0")/.."
found=$(grep -rnE --include='*.rs' '\bunsafe( extern)? *(\{|fn|impl|trait|"C")' crates dev bindings/python/src fuzz/fuzz_targets |
    grep -vE '^[^:]*:[0-9]*: *//' | cut -d: -f1 | sort | uniq -c | awk '{ print $2, $1 }')
expected=$(sed -n 's/^| `\([^`]*\.rs\)` | \([0-9]*\) |.*/\1 \2/p' docs/security.md | sort)
diff <(echo "$expected") <(echo "$found") || {
    echo "unsafe code differs from the table of docs/security.md (<: the table, >: the code)"
    exit 1
}
