#!/usr/bin/env bash
# Prints the path of the command: $ROUNDONCE, or the one in PATH, or this version's, which is fetched from its release or
# built from this checkout, once.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
root="${ROUNDONCE_CI_ROOT:-$here/target/ci}"

if [ -n "${ROUNDONCE:-}" ]; then
    printf '%s\n' "$ROUNDONCE"
    exit
fi
command -v roundonce && exit

version="$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/Cargo.toml" | head -n 1)"
releases="${ROUNDONCE_RELEASES:-$(sed -n 's/^repository = "\(.*\)"/\1/p' "$here/Cargo.toml" | head -n 1)/releases/download}"
# What dev/release.sh builds; elsewhere there is nothing to fetch.
target="$(uname -m)-unknown-$(uname -s | tr '[:upper:]' '[:lower:]')-musl"

fetched() {
    rm -rf "$root" && mkdir -p "$root/bin" "$root/archive"
    curl -fsSL "$releases/v$version/roundonce-$version-$target.tgz" | tar -xz -C "$root/archive" || return
    find "$root/archive" -type f -name 'roundonce*' -perm -u+x -exec mv {} "$root/bin/roundonce" \;
    "$root/bin/roundonce" --version > /dev/null
}

if [ ! -x "$root/bin/roundonce" ] && ! fetched 2> /dev/null; then
    echo "no release for $target: building roundonce from $here, once" >&2
    cargo install --quiet --locked --path "$here/crates/cli" --root "$root" --target-dir "$here/target" >&2
fi
printf '%s\n' "$root/bin/roundonce"
