#!/usr/bin/env bash
# A real client against the language server: Neovim, headless. `editors/nvim/test.sh [ROUNDONCE]`
#
# Debian's package: neovim. Where it cannot be had, ROUNDONCE_EDITORS=skip says so and ends with 0.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v nvim >/dev/null; then
    echo 'editors/nvim/test.sh: there is no nvim: apt-get install neovim' >&2
    [ "${ROUNDONCE_EDITORS:-}" = skip ] && { echo 'skipped: the language server was not tested with Neovim'; exit 0; }
    exit 1
fi
command=${1:-target/debug/roundonce}
[ -x "$command" ] || cargo build --quiet --locked
export ROUNDONCE=$PWD/$command
[ "${command#/}" = "$command" ] || ROUNDONCE=$command
FOLDER=$(mktemp -d)
export FOLDER
trap 'rm -rf "$FOLDER"' EXIT
cp editors/nvim/texts/* "$FOLDER"
# Without the user's configuration, and without a file of what was edited.
HOME=$FOLDER XDG_CONFIG_HOME=$FOLDER XDG_DATA_HOME=$FOLDER XDG_STATE_HOME=$FOLDER XDG_CACHE_HOME=$FOLDER \
    timeout 120 nvim --clean --headless -n -c 'luafile editors/nvim/test.lua'
