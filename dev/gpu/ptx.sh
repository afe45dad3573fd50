#!/usr/bin/env bash
# Writes the PTX of every form that an architecture has, each an entry of its own made of form.ptx; and the list of
# them: ENTRY, SPELLING, and how many results of the spelling's type one thread makes.
#
#   dev/gpu/ptx.sh SM DIRECTORY      (90, 100, ...; the files are forms.ptx, forms.list, contract.ptx, contract.list)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sm=$1
out=$2
mkdir -p "$out"

# Each the oldest that has all forms of the architecture.
version() { if [ "$sm" -ge 100 ]; then echo 8.7; elif [ "$sm" -ge 90 ]; then echo 8.1; else echo 7.8; fi; }
header() { printf '.version %s\n.target sm_%s\n.address_size 64\n' "$(version)" "$sm"; }
bytes() { echo $((${1#b} / 8)); }
# entry SPELLING FACTORS RESULT INSTRUCTIONS
entry() {
    local name=${1//[.;+]/_}
    sed -e "s|@SPELLING@|$1|; s|@NAME@|$name|; s|@FACTORS@|$2|g; s|@RESULT@|$3|g" \
        -e "s|@FACTORS_BYTES@|$(bytes "$2")|g; s|@RESULT_BYTES@|$(bytes "$3")|g; s|@INSTRUCTIONS@|$4|" "$here/form.ptx"
}

header > "$out/forms.ptx"
: > "$out/forms.list"
while read -r pattern lowest factors result operands; do
    case $pattern in '' | '#'*) continue ;; esac
    [ "$sm" -ge "$lowest" ] || continue
    for spelling in $(eval "echo $pattern"); do
        entry "$spelling" "$factors" "$result" "$spelling $operands;" >> "$out/forms.ptx"
        lanes=1
        [[ $spelling != *x2 ]] || lanes=2
        echo "${spelling//./_} $spelling $lanes" >> "$out/forms.list"
    done
done < "$here/forms.txt"

# What an assembler may fuse: SPELLING of the fused operation, then the pair. The entry's name says the pair.
header > "$out/contract.ptx"
: > "$out/contract.list"
pair() {
    local name="${2}+${3}"
    entry "$name" "$4" "$4" "$2 t, a, b; $3 d, t, c;" >> "$out/contract.ptx"
    echo "${name//[.+]/_} $1 $2 $3" >> "$out/contract.list"
}
pair fma.rn.f32 mul.f32 add.f32 b32
pair fma.rn.ftz.f32 mul.ftz.f32 add.ftz.f32 b32
pair fma.rn.sat.f32 mul.f32 add.sat.f32 b32
pair fma.rn.f32 mul.rn.f32 add.f32 b32
pair fma.rn.f32 mul.f32 add.rn.f32 b32
pair fma.rn.f32 mul.rn.f32 add.rn.f32 b32
pair fma.rn.ftz.f32 mul.ftz.f32 add.f32 b32
pair fma.rn.ftz.f32 mul.f32 add.ftz.f32 b32
pair fma.rz.f32 mul.rz.f32 add.rz.f32 b32
pair fma.rn.f64 mul.f64 add.f64 b64
pair fma.rn.f64 mul.rn.f64 add.f64 b64
pair fma.rn.f64 mul.rn.f64 add.rn.f64 b64
