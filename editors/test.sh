#!/usr/bin/env bash
# The editors: the extension for VS Code, its grammars on real texts, and the language server with Neovim as its client.
# `editors/test.sh [ROUNDONCE]` leaves the extension at target/roundonce.vsix.
#
# It needs Node 20 or newer and Debian's neovim. Where one cannot be had, ROUNDONCE_EDITORS=skip says so and goes on.
set -euo pipefail
cd "$(dirname "$0")/.."

command=$(realpath "${1:-target/debug/roundonce}")
[ -x "$command" ] || cargo build --quiet --locked

editors/nvim/test.sh "$command"

if ! command -v npm >/dev/null; then
    echo 'editors/test.sh: there is no npm: install Node 20 or newer' >&2
    [ "${ROUNDONCE_EDITORS:-}" = skip ] && { echo 'skipped: the extension for VS Code was not built'; exit 0; }
    exit 1
fi
target=$PWD/target
cd editors/vscode
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error
npm run --silent check
npm test --silent -- "$command"
npm run --silent package -- --out "$target/roundonce.vsix"
