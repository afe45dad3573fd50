#!/usr/bin/env bash
# Installs what dev/release.sh made where there is no Rust, and runs the main job there: the tarball in an empty root and in
# Debian's smallest, the .deb, the wheel in a virtual environment of that Debian, and what is for AArch64 in an emulator. The
# answer must come within ten seconds. The wheel's sources are built last, with this machine's Rust.
#
#   dev/release/try.sh [OUT]      (target/products by default)
#
# Wants root, for chroot, and of Debian debootstrap and qemu-user-static.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(cd "${1:-target/products}" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
for tool in chroot debootstrap qemu-aarch64-static; do
    command -v $tool >/dev/null || { echo "dev/release/try.sh: no $tool: apt-get install debootstrap qemu-user-static, and be root" >&2; exit 1; }
done
(cd "$out" && sha256sum --check --quiet SHA256SUMS)
work=$PWD/target/try
mkdir -p "$work"
export PIP_DISABLE_PIP_VERSION_CHECK=1

# `why` and one instruction, as an installed command answers them.
job() { # LABEL COMMAND…
    local label=$1 start end
    shift
    start=$(date +%s%N)
    "$@" --quiet why > "$work/why.txt"
    end=$(date +%s%N)
    grep -q 'fuses `a \* x` into the sum, which rounds once' "$work/why.txt"
    "$@" eval fma.rn.f32 0x3f800001 0x3f800001 0xbf800002 | grep -q '^0x28800000 '
    awk -v label="$label" -v ns=$((end - start)) 'BEGIN {
        printf "%-46s why in %.2f s\n", label, ns / 1e9
        exit ns >= 1e10
    }'
}

# A root of Debian, from its packages; made once.
debian() { # FOLDER ARGUMENT…
    local root=$work/$1
    shift
    [ -e "$root.done" ] && return
    rm -rf "$root"
    debootstrap --variant=minbase "$@" bookworm "$root" > "$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
    # Of a foreign architecture nothing is configured: the files are enough.
    if [ -d "$root/debootstrap" ]; then
        for archive in "$root"/var/cache/apt/archives/*.deb; do
            dpkg-deb --fsys-tarfile "$archive" | tar -x --keep-directory-symlink -C "$root"
        done
    fi
    rm -rf "$root"/var/cache/apt/archives/*.deb
    touch "$root.done"
}

tarball() { tar -xzf "$out/roundonce-$version-$1-unknown-linux-musl.tgz" --strip-components=1 -C "$2"; }

# NumPy, the one thing that the wheel needs, for a root's Python.
numpy() { # FOLDER ARCHITECTURE
    local python
    python=$(basename "$(readlink "$work/$1/usr/bin/python3")")
    python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version "${python#python}" \
        --platform "manylinux2014_$2" --platform "manylinux_2_27_$2" --platform "manylinux_2_28_$2" --dest "$work/$1/wheels" numpy
    cp "$out/roundonce-$version"-*_"$2".whl "$work/$1/wheels"
}

rm -rf "$work/empty"
mkdir "$work/empty"
tarball x86_64 "$work/empty"
job "tarball, empty root" chroot "$work/empty" /bin/roundonce

debian amd64 --include=python3-venv
root=$work/amd64
tarball x86_64 "$root/usr/local"
job "tarball, Debian" chroot "$root" roundonce
[ "$(find "$root/usr/local" -name 'roundonce*.1' | wc -l)" -gt 12 ]
find "$root/usr/local" -name '*roundonce*' -prune -exec rm -r {} +

cp "$out/roundonce_${version}_amd64.deb" "$root/roundonce.deb"
chroot "$root" dpkg --install /roundonce.deb > "$work/dpkg.txt" 2>&1
job ".deb, Debian" chroot "$root" roundonce
chroot "$root" dpkg --purge roundonce >> "$work/dpkg.txt" 2>&1
[ ! -e "$root/usr/bin/roundonce" ]

numpy amd64 x86_64
rm -rf "$root/venv"
chroot "$root" python3 -m venv /venv
SECONDS=0
chroot "$root" /venv/bin/pip install --quiet --no-index --find-links=/wheels roundonce
echo "wheel, installed in $SECONDS s"
job "wheel, Debian, python -m roundonce" chroot "$root" /venv/bin/python -m roundonce
job "wheel, Debian, roundonce" chroot "$root" /venv/bin/roundonce
chroot "$root" /venv/bin/python -c '
import numpy, roundonce
x = numpy.float32(1.0000001)
assert roundonce.fma(x, x, numpy.float32(-1.0000002)).view(numpy.uint32) == 0x28800000'

rm -rf "$work/aarch64"
mkdir "$work/aarch64"
tarball aarch64 "$work/aarch64"
job "tarball, AArch64 emulated" qemu-aarch64-static "$work/aarch64/bin/roundonce"
dpkg-deb --fsys-tarfile "$out/roundonce_${version}_arm64.deb" | tar -xO ./usr/bin/roundonce | cmp - "$work/aarch64/bin/roundonce"

debian arm64 --arch=arm64 --foreign --include=python3
root=$work/arm64
numpy arm64 aarch64
rm -rf "$root/site"
for wheel in "$root"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$root/site"; done
emulated=(env PYTHONPATH="$root/site" qemu-aarch64-static -L "$root" "$root/usr/bin/python3")
job "wheel, AArch64 emulated, python -m roundonce" "${emulated[@]}" -m roundonce

rm -rf "$work/sources"
python3 -m venv "$work/sources"
# Whether the sources are whole, not how fast they are.
CARGO_TARGET_DIR=$PWD/target/dist MATURIN_PEP517_ARGS="--profile dev" \
    "$work/sources/bin/pip" install --quiet "$out/roundonce-$version.tar.gz"
job "wheel's sources, built here" "$work/sources/bin/python" -m roundonce
