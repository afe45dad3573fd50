#!/usr/bin/env bash
# Builds the package into a fresh virtual environment under target/ and runs its tests.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
venv="$CARGO_TARGET_DIR/python"
python3 -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check './bindings/python[test]'
"$venv/bin/python" -m pytest -q -p no:cacheprovider bindings/python/tests "$@"
