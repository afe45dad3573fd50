#!/usr/bin/env bash
# Builds the page and tests it in Chromium: `web/test.sh [PICTURES]`, a folder for the pictures of the documents.
#
# Debian's packages: rustc-web cargo-web rust-web-src lld chromium; for the pictures fonts-inter fonts-jetbrains-mono. Where one
# cannot be had, ROUNDONCE_WEB=skip says so and ends with 0. ROUNDONCE names the command, which is built otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

lacking() {
    printf 'web/test.sh: %s\n' "$*" >&2
    [ "${ROUNDONCE_WEB:-}" = skip ] && { echo 'skipped: the web page was not tested'; exit 0; }
    exit 1
}
[ -n "${CHROMIUM:-}" ] || command -v chromium >/dev/null || lacking "there is no Chromium: apt-get install chromium, or name one in CHROMIUM"
[ -n "${WASM_RUSTC:-}" ] || [ -d /usr/lib/rustlib/src/rust/library/std ] ||
    lacking "there is no toolchain for wasm32: apt-get install rustc-web cargo-web rust-web-src lld"
command -v npm >/dev/null || lacking "there is no npm: install Node 20 or newer"

web/build.sh
# The command that the page's answers are compared with.
command=${ROUNDONCE:-}
if [ -z "$command" ]; then
    cargo build --quiet --release --locked
    command=target/release/roundonce
fi
node web/tests/page.test.mjs web/dist "$command" "$@"
