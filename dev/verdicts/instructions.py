#!/usr/bin/env python3
"""Asks NVIDIA's assembler which spellings and operands it takes of instructions outside the multiply-add family, and
records the answers.

    dev/verdicts/instructions.py            # writes vectors/edge/ptx/instruction-verdicts.tsv

Needs pip, as record.py does. Each line of `axes.txt` is a cross product of opcodes, modifiers and types. All of it is
asked for on the newest targets and on old ones; what is taken anywhere is asked for at every place of `PLACES`; then
each kind of operand for every operand of what is taken on sm_107a.
crates/ptx/tests/instruction_verdicts.rs holds `check` against the record, without an assembler.
"""

import collections
import datetime
import itertools
import os

import ptxas
from ptxas import NEWEST, ROOT, VERSIONS, install

AXES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "axes.txt")
OUT = os.path.join(ROOT, "vectors", "edge", "ptx", "instruction-verdicts.tsv")

REGISTERS = ptxas.REGISTERS | {"Q": "b128"}
VARIABLES = ".global .align 16 .b8 G[64];\n.shared .align 16 .b8 S[64];\n"

# The letter of the register that holds a type.
LETTERS = {
    "b8": "b", "u8": "b", "s8": "b", "b16": "h", "u16": "h", "s16": "h", "f16": "h", "bf16": "h", "b32": "r",
    "u32": "r", "s32": "r", "f32": "r", "tf32": "r", "f16x2": "r", "bf16x2": "r", "u16x2": "r", "s16x2": "r",
    "b64": "q", "u64": "q", "s64": "q", "f64": "q", "f32x2": "q", "b128": "Q", "pred": "p",
}
# Every target at its newest PTX, and every PTX on a few. Old targets are assembled for sm_50.
OLD = "10 11 12 13 20 21 30 32 35 37"
TARGETS = {
    "12.9": OLD + " 50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a 100f 101 101a 103 103a 120 120a 121",
    "13.5": "75 80 88 90 90a 100 100a 100f 103 103a 107 107a 107f 110 110a 110f 120 120a 120f 121",
}
BY_VERSION = {"12.9": "10 13 20 35 50 53 70 80 90 90a 100a", "13.5": "90a 100a 107a"}
WIDE = {"b": "h", "h": "r", "r": "q", "q": "q"}
KINDS = [f"%{letter}1" for letter in REGISTERS] + [
    "1", "-7", "1.0", "0f3F800000", "0d3FF0000000000000", "WARP_SZ", "%tid.x", "%clock64", "-%r1", "!%p1",
    "%p1|%p2", "%r1|%p1", "{%h1,%h2}", "{%r1,%r2}", "{%r1,%r2,%r3,%r4}", "{%q1,%q2}", "G", "S", "k",
    "[%q1]", "[%r1+4]", "[G]", "[S+4]", "[8]",
]
# A result thrown away. The assembler stops at one that it does not take, so that fewer are asked for.
DISCARD = "_"


def axes():
    """The opcodes and modifiers of each line, as lists of choices; its types; its operands."""
    sets = {}
    for line in open(AXES):
        line = line.split("#")[0].strip()
        if line.startswith("$"):
            name, words = line.split("=")
            sets[name.strip()] = ",".join(sets.get(word, word) for word in words.split())
        elif line:
            for name in sorted(sets, key=len, reverse=True):
                line = line.replace(name, sets[name])
            *slots, types, operands = line.split(" / ")
            slots[0] = ",".join(slots[0].split())
            yield [slots, types, operands.split()]


def operand(code, at, types, words):
    """An operand as written."""
    letters = [LETTERS[ty] for ty in types]
    letter = letters[int(code[0])] if code[0].isdigit() else code[0]
    if code == "W":
        letter = WIDE.get(letters[0], letters[0]) if ".wide" in words else letters[0]
    if code == "V":
        count = next((int(word[2]) for word in words if word.startswith(".v") and word[2:].isdigit()), 1)
        named = [f"%{letters[0]}{each}" for each in range(count)]
        return named[0] if count == 1 else "{" + ",".join(named) + "}"
    fixed = {"A": "[%q1]", "I": "1", "P": "%p0|%p1", "S": "[%r1]", "B": "[S]"}
    if code in fixed:
        return fixed[code]
    return f"%{letter}{at}" + ("|%p1" if code.endswith("|") else "")


def spellings():
    """Each with its operands."""
    for slots, types, shapes in axes():
        choices = [["" if word == "-" else word for word in slot.split(",")] for slot in slots]
        for *words, ty in itertools.product(*choices, types.split(",")):
            split = [f".{word}" for part in (*words[1:], ty) if part != "-" for word in part.split(".") if word]
            named = [word[1:] for word in split if word[1:] in LETTERS]
            for shape in shapes:
                codes = shape.split("+") if shape != "none" else []
                operands = [operand(code, at, named, split) for at, code in enumerate(codes)]
                yield "".join(words) + ("" if ty == "-" else ty), operands


def taken(tool, target, version, lines):
    return ptxas.taken(tool, target, version, lines, REGISTERS, VARIABLES)


def line(spelling, operands):
    return f"{spelling} {', '.join(operands)};"


def ranges(places):
    """`0-4 7` of numbers in order."""
    text = []
    for _, run in itertools.groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        run = [place for _, place in run]
        text.append(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return " ".join(text)


def places(tools):
    found = []
    for name, tool in tools.items():
        known = VERSIONS[: VERSIONS.index(NEWEST[name]) + 1]
        for target in TARGETS[name].split():
            versions = [v for v in known if taken(tool, target, v, ["mov.b32 %r0, %r1;"]) is not None]
            some = versions if target in BY_VERSION[name].split() else versions[-1:]
            found += [(name, target, version) for version in some if (target, version) not in {f[1:] for f in found}]
    return found


def main():
    tools = install()
    found = list(dict.fromkeys((spelling, tuple(operands)) for spelling, operands in spellings()))
    lines = [line(*one) for one in found]
    asked = places(tools)
    newest = {target: (name, target, version) for name, target, version in asked}
    good = set()
    for target in ("107a", "100a", "90a", "50", "20", "13"):
        name, _, version = newest[target]
        good |= {at for at, is_taken in enumerate(taken(tools[name], target, version, lines)) if is_taken}
    for target, version in (("13", "1.3"), ("20", "2.0")):
        good |= {at for at, is_taken in enumerate(taken(tools["12.9"], target, version, lines)) if is_taken}
    good = sorted(good)
    print(f"{len(lines)} spellings, {len(good)} taken, {len(asked)} places", flush=True)
    taken_at = collections.defaultdict(list)
    for place, (name, target, version) in enumerate(asked):
        for at, is_taken in zip(good, taken(tools[name], target, version, [lines[at] for at in good])):
            if is_taken:
                taken_at[at].append(place)
    patterns = collections.defaultdict(list)
    for at in good:
        patterns[ranges(taken_at[at])].append(at)

    last = len(asked) - 1 - [target for _, target, _ in asked][::-1].index("107a")
    whole = [at for at in good if last in taken_at[at]]
    each = [(at, place, kind) for at in whole for place in range(len(found[at][1])) for kind in KINDS if place == 0 or "|" not in kind]
    lines = []
    for at, place, kind in each:
        spelling, operands = found[at]
        lines.append(line(spelling, operands[:place] + (kind,) + operands[place + 1 :]))
    print(f"{len(lines)} operands", flush=True)
    answers = collections.defaultdict(list)
    for (at, place, kind), is_taken in zip(each, taken(tools["13.5"], "107a", "9.5", lines)):
        answers[at, place] += [kind] if is_taken else []
    shapes = collections.defaultdict(list)
    for at in whole:
        shapes["; ".join(" ".join(answers[at, place]) for place in range(len(found[at][1])))].append(at)

    first = {}
    for at in whole:
        spelling, operands = found[at]
        if operands:
            first.setdefault((spelling.split(".")[0], len(operands), operands[0]), at)
    lines = [line(found[at][0], (DISCARD,) + found[at][1][1:]) for at in first.values()]
    discards = [at for at, is_taken in zip(first.values(), taken(tools["13.5"], "107a", "9.5", lines)) if is_taken]

    with open(OUT, "w") as file:
        file.write("# What NVIDIA's assembler takes outside the multiply-add family, ptxas 12.9.86 (to PTX 8.8) and 13.5.37:\n")
        file.write(f"# dev/verdicts/instructions.py, {datetime.date.today()}.\n")
        file.write("# axes: opcodes, modifiers and types, whose cross product was asked for; its operands.\n")
        file.write("# place: a target and a PTX version. Targets before sm_50 are assembled for sm_50.\n")
        file.write("# taken: the places, then what is taken there; of the axes nothing else is, anywhere.\n")
        file.write("# operands: on sm_107a with PTX 9.5, what is taken as each operand of what.\n")
        file.write("# discards: of what was asked for, that whose first operand may be `_`.\n")
        file.write("registers\t" + " ".join(f"{letter}={ty}" for letter, ty in REGISTERS.items()) + "\n")
        file.write("letters\t" + " ".join(f"{ty}={letter}" for ty, letter in LETTERS.items()) + "\n")
        file.write("kinds\t" + " ".join(KINDS) + "\n")
        for slots, types, shapes_of in axes():
            file.write(f"axes\t{' / '.join(slots)} / {types} / {' '.join(shapes_of)}\n")
        for _, target, version in asked:
            file.write(f"place\t{target} {version}\n")
        for kind, group in (("discards", discards), ("asked", first.values())):
            file.write(f"{kind}\t{'; '.join(written(found[at]) for at in group)}\n")
        for pattern, group in patterns.items():
            file.write(f"taken\t{pattern}\t{'; '.join(written(found[at]) for at in group)}\n")
        for pattern, group in shapes.items():
            file.write(f"operands\t{pattern}\t{'; '.join(written(found[at]) for at in group)}\n")


def written(one):
    return line(*one)[:-1].strip()


if __name__ == "__main__":
    main()
