#!/usr/bin/env python3
"""Asks NVIDIA's assembler which spellings and operands of the multiply-add family it takes, and records the answers.

    dev/verdicts/record.py            # writes vectors/edge/ptx/family-verdicts.tsv

Needs pip (ptxas.py). Each spelling of the cross product of opcodes,
modifiers and types is asked for every target and PTX version that an assembler has (at older versions those that any target takes); then each register type and
constant for every operand of what is taken. crates/ptx/tests/family_verdicts.rs holds `check` against the record,
without an assembler.
"""

import collections
import datetime
import itertools
import os
import re

from ptxas import NEWEST, PACKAGES, REGISTERS, ROOT, VERSIONS, install, taken

OUT = os.path.join(ROOT, "vectors", "edge", "ptx", "family-verdicts.tsv")

TARGETS = {
    "12.9": "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a 100f 101 101a 101f 103 103a 103f 120 120a 120f 121"
    " 121a 121f",
    "13.5": "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a 120f 121 121a"
    " 121f",
}
# The axes of the cross product: opcodes, then modifiers, then types with the registers of d, a, b and c. A register is
# named by its type's letter.
FLOAT_AXES = [
    ["add", "sub", "mul", "fma", "mad"],
    ["", ".rn", ".rz", ".rm", ".rp"],
    ["", ".ftz"],
    ["", ".oob"],
    ["", ".sat", ".relu"],
]
FLOAT_TYPES = """
f16 hhhh
f16x2 rrrr
bf16 hhhh
bf16x2 rrrr
f32x2 qqqq
f32 rrrr
f64 qqqq
f32.f16 rhrr rhhr
f32.bf16 rhrr rhhr
f32x2.f16x2 qrrq
f32x2.bf16x2 qrrq
f32x2.f16x2.f32x2 qrqq
f32x2.bf16x2.f32x2 qrqq
f32x2.f16x2.f32x2.f32x2 qrqq
f32x2.bf16x2.f32x2.f32x2 qrqq
f32x2.f16x2.f16x2.f32x2 qrrq
bf16x2.f32x2.f32x2 rqqq
f16x2.f32x2.f32x2 rqqq
bf16x2.f32x2.f32x2.f32x2 rqqq
f16x2.f32x2.f32x2.f32x2 rqqq
bf16x2.bf16x2.f16x2 rrrr
f16x2.f16x2.bf16x2 rrrr
bf16x2.f16x2.bf16x2 rrrr
f16x2.bf16x2.f16x2 rrrr
f16.f16.bf16 hhhh
bf16.f32.f32 hrrr
f16.f32 hrrr
f16x2.bf16x2 rrrr
"""
INTEGER_AXES = [["mad", "madc", "mad24"], ["", ".lo", ".hi", ".wide"], ["", ".sat"], ["", ".cc"]]
INTEGER_TYPES = """
u16 hhhh
s16 hhhh
u32 rrrr
s32 rrrr
u64 qqqq
s64 qqqq
b32 rrrr
u8 hhhh
"""
WIDE = {"h": "r", "r": "q", "q": "q"}
DOT_AXES = [["dp4a", "dp2a"], ["", ".lo", ".hi", ".sat"]]
DOT_TYPES = "\n".join(
    f"{a}.{b} rrrr" for a, b in itertools.product(["u32", "s32", "u16", "b32"], repeat=2)
) + "\nu32 rrrr\n"

# Conversions of formats of eight bits and fewer: the registers where there is no `.rs`; it takes random bits behind them.
CONVERSION_AXES = [
    ["cvt"],
    ["", ".rn", ".rz", ".rm", ".rp", ".rs", ".rna"],
    ["", ".ftz"],
    ["", ".satfinite", ".sat"],
    ["", ".relu"],
]


def conversion_types():
    for narrow, two, four in (("e4m3", "h", "r"), ("e5m2", "h", "r"), ("e2m3", "h", "r"), ("e3m2", "h", "r"), ("e2m1", "b", "h")):
        yield from (f"{narrow}x2.f32 {two}ff", f"{narrow}x2.f16x2 {two}r", f"{narrow}x2.bf16x2 {two}r")
        yield from (f"f16x2.{narrow}x2 r{two}", f"bf16x2.{narrow}x2 r{two}", f"f32.{narrow}x2 f{two}")
        yield from (f"{narrow}x4.f32 {four}F", f"{narrow}.f32 hf", f"f32.{narrow} fh", f"f16.{narrow} hh")


# Four registers of one type in braces.
VECTORS = {"F": "{%f0,%f1,%f2,%f3}"}
CONSTANTS = ["1", "-7", "1.0", "0f3F800000", "0d3FF0000000000000", "WARP_SZ", "%tid.x", "-%r1", "{%h1,%h2}"]


def spellings():
    """Each with its operands: `add.f16` and `%h0, %h1, %h2`."""
    for axes, types in ((FLOAT_AXES, FLOAT_TYPES), (INTEGER_AXES, INTEGER_TYPES), (DOT_AXES, DOT_TYPES)):
        for *words, line in itertools.product(*axes, types.split("\n")):
            if not line:
                continue
            ty, *letters = line.split()
            three = words[0] in ("add", "sub", "mul")
            letters = letters[0] if three else letters[-1]
            if ".wide" in words:
                letters = WIDE[letters[0]] + letters[1:3] + WIDE[letters[3]]
            operands = [f"%{letter}{at}" for at, letter in enumerate(letters[: 3 if three else 4])]
            yield "".join(words) + "." + ty, operands
    for *words, line in itertools.product(*CONVERSION_AXES, conversion_types()):
        ty, letters = line.split()
        letters += "r" if ".rs" in words else ""
        yield "".join(words) + "." + ty, [VECTORS.get(letter, f"%{letter}{at}") for at, letter in enumerate(letters)]
    for ty, *flags in itertools.product(["f16x2", "bf16x2"], ["", ".ftz"], ["", ".satfinite", ".sat"], ["", ".relu"]):
        yield f"cvt.rs{''.join(flags)}.{ty}.f32", ["%r0", "%f1", "%f2", "%r3"]


def ranges(versions):
    """`7.0-7.8 8.1` of versions in order."""
    text = []
    for _, run in itertools.groupby(enumerate(versions), key=lambda pair: VERSIONS.index(pair[1]) - pair[0]):
        run = [version for _, version in run]
        text.append(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return " ".join(text)


def main():
    tools = install()
    found = list(spellings())
    lines = [f"{spelling} {', '.join(operands)};" for spelling, operands in found]
    cells, verdicts, places = collections.defaultdict(list), {}, []
    for name in PACKAGES:
        for target in TARGETS[name].split():
            versions = VERSIONS[: VERSIONS.index(NEWEST[name]) + 1]
            versions = [v for v in versions if taken(tools[name], target, v, ["mov.b32 %r0, %r1;"]) is not None]
            places += [(name, target, version) for version in versions]
    # All of it once for every target, at its newest PTX; at the others what is taken anywhere.
    whole = {target: (name, target, version) for name, target, version in places}
    good = set()
    for name, target, version in whole.values():
        good |= {at for at, is_taken in enumerate(taken(tools[name], target, version, lines)) if is_taken}
    good = sorted(good)
    for name, target, version in places:
        answers = taken(tools[name], target, version, [lines[at] for at in good])
        answers = {at for at, is_taken in zip(good, answers) if is_taken}
        if version in cells[target]:
            assert verdicts[target, version] == answers, f"the assemblers differ on sm_{target}, PTX {version}"
        else:
            cells[target].append(version)
            verdicts[target, version] = answers
    patterns = collections.defaultdict(list)
    for at, (spelling, _) in enumerate(found):
        places = [(target, [v for v in cells[target] if at in verdicts[target, v]]) for target in cells]
        patterns["; ".join(f"{target} {ranges(versions)}" for target, versions in places if versions)].append(spelling)

    kinds = [f"%{letter}1" for letter in REGISTERS] + CONSTANTS
    shapes = collections.defaultdict(list)
    asked = [found[at] for at in sorted(verdicts["107a", "9.5"])]
    lines = []
    for spelling, operands in asked:
        for place, kind in itertools.product(range(len(operands)), kinds):
            lines.append(f"{spelling} {', '.join(operands[:place] + [kind] + operands[place + 1:])};")
    good = iter(taken(tools["13.5"], "107a", "9.5", lines))
    for spelling, operands in asked:
        places = [" ".join(kind for kind in kinds if next(good)) for _ in operands]
        shapes["; ".join(places)].append(spelling)

    with open(OUT, "w") as file:
        file.write("# What NVIDIA's assembler takes of the multiply-add family, ptxas 12.9.86 (to PTX 8.8) and 13.5.37:\n")
        file.write(f"# dev/verdicts/record.py, {datetime.date.today()}. A module names the target that it is assembled for.\n")
        file.write("# registers: the letter of each type.\n")
        file.write("# target: the PTX versions with which the assembler takes it at all.\n")
        file.write("# taken: where a spelling is taken, then the spellings; not at any other place.\n")
        file.write("# refused: never taken; types, then what stands before them.\n")
        file.write("# Behind a spelling or its types stand the operands, a letter each, d first.\n")
        file.write("# operands: on sm_107a with PTX 9.5, what is taken as d, a, b, c of the spellings.\n")
        file.write("registers\t" + " ".join(f"{letter}={ty}" for letter, ty in REGISTERS.items()) + "\n")
        file.write("kinds\t" + " ".join(kinds) + "\n")
        for target, versions in cells.items():
            file.write(f"target\t{target}\t{ranges(versions)}\n")
        letter = {text: letter for letter, text in VECTORS.items()}
        letters = {
            spelling: "".join(letter.get(operand, operand[1]) for operand in operands) for spelling, operands in found
        }
        for places, group in patterns.items():
            if places:
                named = " ".join(f"{spelling}/{letters[spelling]}" for spelling in group)
                file.write(f"taken\t{places}\t{named}\n")
                continue
            # By type, so that it is written once.
            heads = collections.defaultdict(list)
            for spelling in group:
                head, ty = re.fullmatch(r"(.*?)((?:\.b?[fusbe]\d+(?:m\d)?(?:x[24])?)+)", spelling).groups()
                heads[f"{ty}/{letters[spelling]}"].append(head)
            for tail, group in heads.items():
                file.write(f"refused\t{tail}\t{' '.join(group)}\n")
        for places, group in shapes.items():
            file.write(f"operands\t{places}\t{' '.join(group)}\n")


if __name__ == "__main__":
    main()
