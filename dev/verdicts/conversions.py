"""Asks NVIDIA's assembler which conversions of narrow formats it takes, every spelling of the axes below, and writes
vectors/edge/ptx/conversion-verdicts.tsv. `conversions.py [PTXAS]`.

A module that has other errors hides those of a later pass: what is taken is asked for again, until nothing is refused."""

import collections
import datetime
import itertools
import os
import sys

import ptxas

TO = "e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2 s2f6x2 f16x2 bf16x2 e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4".split()
FROM = "f32 f16x2 bf16x2 e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2 s2f6x2".split()
ROUNDINGS = "- rn rz rp rm rs rna".split()
PLACES = [
    ("89", "8.1"), ("90", "8.6"), ("100", "9.2"), ("100a", "8.6"), ("100a", "9.5"), ("100f", "9.2"), ("103a", "9.1"),
    ("107a", "9.4"), ("107f", "9.4"), ("110a", "9.3"), ("120a", "8.7"), ("120a", "9.2"), ("120f", "9.5"), ("121a", "9.1"),
]
OUT = os.path.join(ptxas.ROOT, "vectors", "edge", "ptx", "conversion-verdicts.tsv")


def register(name, at):
    letter = {"f32": "f", "f16x2": "r", "bf16x2": "r", "e2m1x2": "b", "e2m1x4": "h"}.get(name)
    return f"%{letter or ('r' if name.endswith('x4') else 'h')}{at}"


def spellings():
    """Each with its operands."""
    axes = itertools.product(TO, FROM, ROUNDINGS, ("", ".satfinite"), ("", ".relu"), ("", ".scaled::n2::ue8m0"))
    for to, source, rounding, satfinite, relu, scaled in axes:
        if scaled and rounding not in ("rn", "rz"):
            continue
        operands = [register(to, 0)]
        if source == "f32":
            operands += ["{%f1, %f2, %f3, %f4}"] if to.endswith("x4") else ["%f1", "%f2"]
        else:
            operands.append(register(source, 1))
        operands += ["%r5"] * (rounding == "rs") + ["%h2"] * bool(scaled)
        spelling = f"cvt{'' if rounding == '-' else '.' + rounding}{satfinite}{relu}{scaled}.{to}.{source}"
        yield spelling, f"{spelling} {', '.join(operands)};"


def taken(tool, target, version, lines):
    left = list(range(len(lines)))
    while True:
        good = ptxas.taken(tool, target, version, [lines[at] for at in left])
        if all(good):
            return left
        left = [at for at, is_good in zip(left, good) if is_good]


def main():
    tool = sys.argv[1] if len(sys.argv) > 1 else ptxas.install()["13.5"]
    asked = list(spellings())
    where = collections.defaultdict(list)
    for place, (target, version) in enumerate(PLACES):
        for at in taken(tool, target, version, [line for _, line in asked]):
            where[at].append(place)
    groups = collections.defaultdict(list)
    for at, places in where.items():
        groups[tuple(places)].append(asked[at][0])
    with open(OUT, "w") as file:
        file.write("# Which conversions of narrow formats NVIDIA's assembler takes, ptxas 13.5.37: dev/verdicts/conversions.py,\n")
        file.write(f"# {datetime.date.today()}. Every spelling of the axes was asked for; `.scaled::n2::ue8m0` with rn and rz alone.\n")
        file.write("# taken: the numbers of the places, from 0, and what is taken there.\n")
        for name, values in (("to", TO), ("from", FROM), ("rounding", ROUNDINGS)):
            file.write(f"{name}\t{' '.join(values)}\n")
        for target, version in PLACES:
            file.write(f"place\t{target}\t{version}\n")
        for places, all_of in groups.items():
            file.write(f"taken\t{' '.join(map(str, places))}\t{' '.join(all_of)}\n")


main()
