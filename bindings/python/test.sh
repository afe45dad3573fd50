#!/usr/bin/env bash
# Builds the package into a fresh virtual environment under target/ and runs its tests and the examples; with --ray or
# --torch, which are large, those of Ray on a local cluster or of torch alone. What follows goes to pytest. The packages
# beside it are those of constraints.txt, so that what another project releases is met on purpose.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
venv="$CARGO_TARGET_DIR/python"
extras=test,examples,jax
tests=(bindings/python/tests examples)
if [ "${1:-}" = --ray ]; then
    shift
    extras=test,ray
    tests=(bindings/python/tests -m ray)
elif [ "${1:-}" = --torch ]; then
    shift
    extras=test,torch
    tests=(bindings/python/tests/test_torch.py bindings/python/tests/test_torch_compare.py)
fi
python3 -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check \
    --constraint bindings/python/constraints.txt "./bindings/python[$extras]"
"$venv/bin/python" -m pytest -q -p no:cacheprovider -c bindings/python/pyproject.toml "${tests[@]}" "$@"
