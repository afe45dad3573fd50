#!/usr/bin/env bash
# Builds the page into web/dist: the engine for WebAssembly, its JavaScript, the bundle.
#
# The toolchain is one whose rustc has the sources of the standard library for wasm32, as Debian's is:
#   apt-get install rustc-web cargo-web rust-web-src lld
# WASM_RUSTC and WASM_CARGO name another one; a target that is installed already is used as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() { printf 'web/build.sh: %s\n' "$*" >&2; exit 1; }

rustc=${WASM_RUSTC:-/usr/bin/rustc} cargo=${WASM_CARGO:-/usr/bin/cargo}
target=wasm32-unknown-unknown
for tool in "$rustc" "$cargo"; do
    command -v "$tool" >/dev/null || missing "there is no $tool: apt-get install rustc-web cargo-web rust-web-src lld," \
        "or name others in WASM_RUSTC and WASM_CARGO"
done
for tool in node npm python3; do
    command -v $tool >/dev/null || missing "there is no $tool: the bundle needs Node 20 or newer, and Python for the list of licences"
done
sysroot=$("$rustc" --print sysroot)
standard=() flags=
export RUSTC=$rustc CARGO_TARGET_DIR=$PWD/target/wasm
if [ ! -d "$sysroot/lib/rustlib/$target/lib" ]; then
    [ -e "$sysroot/lib/rustlib/src/rust/library/std" ] || missing "$rustc ($("$rustc" --version)) has neither the target $target nor" \
        "the standard library's sources: apt-get install rust-web-src"
    command -v wasm-ld >/dev/null || missing "wasm-ld is missing: apt-get install lld"
    # Building the standard library is not stable yet. Small code of its own saves 4 % of the engine.
    standard=(-Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size)
    # Where panics are from takes 2 % of the engine.
    flags=' -Zlocation-detail=none'
    export RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld
fi
# As much stack as a thread has: the parsers' limits on depth count on it.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-Clink-arg=-zstack-size=8388608$flags"
(cd bindings/wasm && "$cargo" build --locked --release --target $target "${standard[@]}")

env -u RUSTC -u RUSTC_BOOTSTRAP cargo run --quiet --locked --manifest-path bindings/wasm/bindgen/Cargo.toml -- \
    target/wasm/$target/release/roundonce_wasm.wasm target/wasm/package

cd web
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error
npm run --silent check
node bundle.mjs ../target/wasm/package dist
(cd .. && python3 dev/release/licences.py bindings/wasm/Cargo.toml roundonce-wasm $target > web/dist/THIRD-PARTY.txt)
size=$(gzip -9 -c dist/roundonce.wasm | wc -c)
printf 'web/dist: %s bytes of WebAssembly, %s by gzip\n' "$(wc -c < dist/roundonce.wasm)" "$size"
[ "$size" -le 1500000 ] || missing "the engine takes $size bytes by gzip: at most 1,500,000 are allowed"
