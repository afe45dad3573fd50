#!/usr/bin/env bash
# Builds everything that a release hands out into OUT (target/products by default), for x86_64 and aarch64 Linux: the command as
# a tarball and a .deb (static, with manual pages and completions), Python wheels (manylinux2014, CPython 3.9 and newer) and
# their sources, SHA256SUMS. Nothing is uploaded. dev/release/try.sh installs all of it; docs/packages.md explains both.
#
#   dev/release.sh [OUT]
#
# Linker and C compiler are Zig's, from PyPI. A target whose standard library is not installed (`rustup target add TARGET`) is
# built with that library from its sources, where RELEASE_RUSTC is a rustc that has them: Debian's is (apt-get install
# rustc-web cargo-web rust-web-src). What cannot be built here is named, the rest is built, and the status is 1.
# RELEASE_PROFILE=dev builds quickly, to try the scripts.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:-target/products}"
out=$(cd "${1:-target/products}" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
export CARGO_TARGET_DIR=$PWD/target/dist SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
status=0
profile=${RELEASE_PROFILE:-dist}
missing() { printf 'dev/release.sh: %s\n' "$*" >&2; status=1; }
step() { printf '== %s\n' "$*"; }

tools=$CARGO_TARGET_DIR/tools
[ -x "$tools/bin/python" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1 cargo-zigbuild==0.24.0 maturin==1.16.0
export PATH=$tools/bin:$PATH

# The command that follows, with a toolchain that can build for a target.
with_toolchain() { # TARGET COMMAND…
    local target=$1 rustc=${RELEASE_RUSTC:-/usr/bin/rustc}
    shift
    # A product names no folder of the machine that built it.
    local flags="--remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
    if [ -d "$(rustc --print target-libdir --target "$target" 2>/dev/null)" ]; then
        RUSTFLAGS=$flags "$@"
    elif [ -e "$("$rustc" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/std" ]; then
        # Building the standard library is not stable yet; musl's start files are Zig's too then.
        [ "$target" = "${target%musl}" ] || flags="$flags -Clink-self-contained=no"
        RUSTFLAGS=$flags RUSTC_BOOTSTRAP=1 RUSTC=$rustc CARGO=$(dirname "$rustc")/cargo \
            CARGO_UNSTABLE_BUILD_STD=std,panic_unwind PATH=$tools/bin:$(dirname "$rustc"):$PATH "$@"
    else
        missing "no standard library for $target: rustup target add $target, or name in RELEASE_RUSTC a rustc with the" \
            "library's sources, as of Debian's rustc-web cargo-web rust-web-src"
        return 1
    fi
}

# The tree that a tarball unpacks over /usr/local and a .deb over /usr.
stage() { # BINARY FOLDER
    rm -rf "$2"
    install -D "$1" "$2/bin/roundonce"
    mkdir -p "$2/share/man"
    cp -r "$described/man1" "$2/share/man/"
    install -D -m 644 "$described/bash" "$2/share/bash-completion/completions/roundonce"
    install -D -m 644 "$described/zsh" "$2/share/zsh/site-functions/_roundonce"
    install -D -m 644 "$described/fish" "$2/share/fish/vendor_completions.d/roundonce.fish"
    install -D -m 644 -t "$2/share/doc/roundonce" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$described/THIRD-PARTY"
}

tarball() { # FOLDER
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$(dirname "$1")" -c "$(basename "$1")" |
        gzip -9n > "$out/$(basename "$1").tgz"
}

package() { # BINARY ARCHITECTURE
    command -v dpkg-deb >/dev/null || { missing "no dpkg-deb: the .deb of $2 is left out"; return 0; }
    local root=$CARGO_TARGET_DIR/deb-$2
    rm -rf "$root"
    stage "$1" "$root/usr"
    gzip -9n "$root"/usr/share/man/man1/*.1 "$root/usr/share/doc/roundonce/CHANGELOG.md"
    mv "$root/usr/share/doc/roundonce/CHANGELOG.md.gz" "$root/usr/share/doc/roundonce/changelog.gz"
    cat dev/release/copyright > "$root/usr/share/doc/roundonce/copyright"
    mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
    mkdir "$root/DEBIAN"
    sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$2/" -e "s/@SIZE@/$(du -sk --apparent-size "$root/usr" | cut -f1)/" \
        dev/release/control > "$root/DEBIAN/control"
    chmod -R u=rwX,go=rX "$root"
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out/roundonce_${version}_$2.deb" >/dev/null
}

# This machine's architecture first: its command describes itself.
architectures="x86_64 aarch64"
[ "$(uname -m)" = x86_64 ] || architectures="aarch64 x86_64"
described=$CARGO_TARGET_DIR/described
rm -rf "$described"
for architecture in $architectures; do
    target=$architecture-unknown-linux-musl
    step "the command for $target"
    with_toolchain "$target" cargo-zigbuild zigbuild --quiet --locked --profile "$profile" --target "$target" \
        -p roundonce-cli --features parquet || { missing "the command for $target is left out"; continue; }
    binary=$CARGO_TARGET_DIR/$target/${profile/%dev/debug}/roundonce
    if [ "$architecture" = "$(uname -m)" ]; then
        mkdir -p "$described/man1"
        "$binary" man "$described/man1"
        for shell in bash zsh fish; do "$binary" completions $shell > "$described/$shell"; done
        python3 dev/release/licences.py > "$described/THIRD-PARTY"
    fi
    [ -d "$described" ] || { missing "without this machine's command nothing describes that for $target: it is left out"; continue; }
    folder=$CARGO_TARGET_DIR/roundonce-$version-$target
    stage "$binary" "$folder"
    tarball "$folder"
    package "$binary" "$([ "$architecture" = x86_64 ] && echo amd64 || echo arm64)"
done

python3 dev/release/licences.py > bindings/python/THIRD-PARTY
trap 'rm -f bindings/python/THIRD-PARTY' EXIT
for architecture in $architectures; do
    target=$architecture-unknown-linux-gnu
    step "the wheel for $target"
    with_toolchain "$target" maturin build --quiet --profile "$profile" --locked --zig --compatibility manylinux2014 --target "$target" \
        --manifest-path bindings/python/Cargo.toml --out "$out" || missing "the wheel for $target is left out"
done
step "the wheel's sources"
maturin sdist --manifest-path bindings/python/Cargo.toml --out "$out"

(cd "$out" && sha256sum roundonce[-_]"$version"* > SHA256SUMS && cat SHA256SUMS)
exit $status
