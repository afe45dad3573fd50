"""The record of which matrix instructions NVIDIA's assembler takes: what matrices.py and tensor_memory.py share.

All is asked for at the places of `asked_whole`; what is taken there, on every target with its newest PTX, and with every
PTX on a few. What is taken on one of `operands` is asked for again with other numbers and types of registers for every
operand.
"""

import collections
import dataclasses
import datetime
import re

import ptxas
from instructions import ranges
from ptxas import NEWEST, REGISTERS, VERSIONS, install


@dataclasses.dataclass
class Places:
    targets: dict
    # The targets of which every PTX is asked.
    by_version: dict
    first: str
    # Where all is asked for; elsewhere, what is taken at one of these.
    asked_whole: set
    # The targets on which other operands are asked for.
    operands: tuple


def written(code):
    """An operand as PTX has it: `4f` in braces, `r` alone, `[q]` an address."""
    if found := re.fullmatch(r"(\d+)([a-zA-Z])", code):
        count, letter = int(found[1]), found[2]
        named = ",".join(f"%{letter}{at % 8}" for at in range(count))
        return f"%{letter}0" if count == 1 and letter in "qQ" else "{" + named + "}"
    if found := re.fullmatch(r"\[([a-z])\]", code):
        return "[S]" if code == "[s]" else f"[%{found[1]}1]"
    return f"%{code}0" if code.isalpha() else code


def line(spelling, operands):
    return f"{spelling} {', '.join(written(code) for code in operands)};"


VARIABLES = ".shared .align 16 .b8 S[64];\n"
ALL = REGISTERS | {"Q": "b128"}


def taken(tool, target, version, lines):
    return ptxas.taken(tool, target, version, lines, ALL, VARIABLES)


def existing(tools, places):
    """The asked pairs of target and version that an assembler has."""
    found = []
    for name in tools:
        known = VERSIONS[VERSIONS.index(places.first) : VERSIONS.index(NEWEST[name]) + 1]
        for target in places.targets[name].split():
            some = known if target in places.by_version[name].split() else known[-1:]
            some = [v for v in some if taken(tools[name], target, v, ["mov.b32 %r0, %r1;"]) is not None]
            found += [(name, target, version) for version in some if (target, version) not in {f[1:] for f in found}]
    return found


def record(out, script, every, places, group):
    """Writes what is taken of `every`; `group`: the class of a spelling whose operands are asked for once, or `None`."""
    tools = install()
    found = list(dict.fromkeys((spelling, tuple(operands)) for spelling, operands in every))
    lines = [line(*one) for one in found]
    asked = existing(tools, places)
    print(f"{len(found)} spellings, {len(asked)} places", flush=True)
    good = set()
    for name, target, version in asked:
        if (target, version) in places.asked_whole:
            good |= {at for at, is_taken in enumerate(taken(tools[name], target, version, lines)) if is_taken}
            print(f"sm_{target}, PTX {version}: {len(good)}", flush=True)
    good = sorted(good)
    taken_at = collections.defaultdict(list)
    for place, (name, target, version) in enumerate(asked):
        for at, is_taken in zip(good, taken(tools[name], target, version, [lines[at] for at in good])):
            if is_taken:
                taken_at[at].append(place)
    print(f"{len(good)} taken", flush=True)
    patterns = collections.defaultdict(list)
    for at in range(len(found)):
        patterns[ranges(taken_at[at])].append(at)
    shapes = registers_of(tools, asked, found, taken_at, places.operands, group)
    with open(out, "w") as file:
        file.write("# Which matrix instructions NVIDIA's assembler takes, ptxas 12.9.86 (to PTX 8.8) and 13.5.37:\n")
        file.write(f"# {script}, {datetime.date.today()}.\n")
        file.write("# place: a target and a PTX version.\n")
        file.write("# taken: the places, then what is taken there and nowhere else.\n")
        file.write("# An operand: `4f` four registers %f in braces (one alone of %q), `r` one register, `[q]` and `[s]` addresses.\n")
        file.write("# `~` stands for `.sync.aligned`, `^` for `.row.col.`.\n")
        file.write("# operands: on a target, what is taken in place of an operand of these: numbers of registers, types.\n")
        file.write("registers\t" + " ".join(f"{letter}={ty}" for letter, ty in ALL.items()) + "\n")
        for _, target, version in asked:
            file.write(f"place\t{target} {version}\n")
        for pattern, these in patterns.items():
            file.write(f"taken\t{pattern}\t{together(found[at] for at in these)}\n")
        for (target, pattern), these in shapes.items():
            file.write(f"operands\t{target}\t{pattern}\t{together(found[at] for at in these)}\n")


def together(these):
    """Instructions of the same operands behind one another: `OPERANDS : SPELLING SPELLING; ...`."""
    by_operands = collections.defaultdict(list)
    for spelling, operands in these:
        by_operands[" ".join(operands)].append(spelling.replace(".sync.aligned", "~").replace(".row.col.", "^"))
    return "; ".join(f"{operands} : {' '.join(spellings)}" for operands, spellings in by_operands.items())


def registers_of(tools, asked, found, taken_at, targets, group):
    """What else is taken for each operand that has registers, of one instruction of each class."""
    shapes = collections.defaultdict(list)
    newest = {target: (place, name, version) for place, (name, target, version) in enumerate(asked)}
    done = {None}
    for target in targets:
        place, name, version = newest[target]
        each = []
        for at, (spelling, operands) in enumerate(found):
            if place in taken_at[at] and (one := group(spelling, operands)) not in done:
                done.add(one)
                for index, code in enumerate(operands):
                    each += [(at, index, kind) for kind in alternatives(code)]
        answers = collections.defaultdict(list)
        lines = [line(found[at][0], found[at][1][:i] + (kind,) + found[at][1][i + 1 :]) for at, i, kind in each]
        print(f"{len(lines)} operands", flush=True)
        for (at, index, kind), is_taken in zip(each, taken(tools[name], target, version, lines)):
            answers[at, index] += [kind] if is_taken else []
        for at in dict.fromkeys(at for at, _, _ in each):
            shapes[target, "; ".join(" ".join(answers[at, i]) for i in range(len(found[at][1])))].append(at)
    return shapes


def alternatives(code):
    found = re.fullmatch(r"(\d+)([a-zA-Z])", code)
    if code in ("r", "p", "h"):
        return list(ALL) + [f"1{code}"]
    if code in ("[q]", "[s]"):
        return ["[r]", "[q]", "[w]", "[f]", "[s]"]
    if code == "[r]":
        return ["[r]", "[u]", "[q]", "[w]", "[f]", "[x]", "[h]", "[s]"]
    if not found:
        return []
    count = int(found[1])
    others = sorted({count - 1, count + 1, count * 2} - {0})
    alone = [found[2]] if count == 1 else []
    return alone + [f"{count}{letter}" for letter in ALL] + [f"{other}{found[2]}" for other in others]
