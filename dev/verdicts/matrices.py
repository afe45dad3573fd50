#!/usr/bin/env python3
"""Asks NVIDIA's assembler which matrix instructions it takes, and records the answers.

    dev/verdicts/matrices.py            # writes vectors/edge/ptx/matrix-verdicts.tsv

Needs pip, as record.py does. Of each instruction there are right and wrong shapes, types, layouts and modifiers, all
asked for as matrix_record.py says. crates/ptx/tests/matrix_verdicts.rs holds `check` against the record, without an
assembler.
"""

import itertools
import os
import re

from matrix_record import Places, record
from ptxas import ROOT

OUT = os.path.join(ROOT, "vectors", "edge", "ptx", "matrix-verdicts.tsv")
PLACES = Places(
    targets={
        "12.9": "60 70 72 75 80 86 87 89 90 90a 100 100a 100f 101a 103 103a 120 120a 121",
        "13.5": "75 80 88 89 90 90a 100 100a 100f 103 103a 107 107a 110 110a 110f 120 120a 120f 121 121a",
    },
    by_version={"12.9": "70 75 80 90 90a 100a 120a", "13.5": "89 90a 100a 103a 110a 120a 120f 121a"},
    first="6.0",
    asked_whole={
        ("70", "6.0"), ("70", "6.4"), ("75", "9.5"), ("90a", "8.0"), ("90a", "9.5"), ("100a", "9.5"), ("110a", "9.5"),
        ("120a", "9.5"),
    },
    operands=("90a", "120a"),
)
BITS = {"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "f16": 16, "bf16": 16, "s4": 4, "u4": 4, "b1": 1}


def registers(rows, columns, ty, narrow=False):
    """A fragment: so many registers of 32 or 64 bits, `4f`."""
    bits = 4 if narrow else BITS.get(ty, 8)
    letter = {"f64": "d", "f32": "f"}.get(ty, "r")
    return f"{max(1, rows * columns * bits // 32 // (64 if bits == 64 else 32))}{letter}"


def numbers(shape):
    return [int(number) for number in re.findall(r"\d+", shape)]


def fragments(shape, types, sparse=False, narrow=False):
    m, n, k = numbers(shape)
    d, a, b, c = types
    if shape == "m8n8k4" and BITS.get(a, 8) < 64:
        return ["8f" if d == "f32" else "4r", "2r", "2r", "8f" if c == "f32" else "4r"]
    of = [registers(m, n, d), registers(m, k // (2 if sparse else 1), a, narrow), registers(k, n, b, narrow)]
    return of + [registers(m, n, c)]


DENSE = "m8n8k4 m8n8k16 m8n8k32 m8n8k128 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256".split()
SUMS = [("f16", "f16"), ("f32", "f32"), ("f32", "f16"), ("f16", "f32")]
BYTES = ("e4m3", "e5m2")
SMALL = BYTES + ("e3m2", "e2m3", "e2m1")


def quads():
    for d, c in SUMS:
        for a in ("f16", "bf16", "tf32"):
            yield d, a, a, c
        for a, b in itertools.product(BYTES, BYTES):
            yield d, a, b, c
    yield from (("f32", "f16", "bf16", "f32"), ("f32", "bf16", "f16", "f32"), ("f32", "e4m3", "f16", "f32"))
    yield from (("f64",) * 4, ("f32", "f64", "f64", "f32"), ("f64", "f32", "f32", "f64"), ("f32",) * 4)
    for group in (("s8", "u8"), ("s4", "u4")):
        for a, b in itertools.product(group, group):
            yield "s32", a, b, "s32"
    yield from (("s32", "s8", "s4", "s32"), ("f32", "s8", "s8", "f32"), ("s32", "b1", "b1", "s32"), ("u32", "u8", "u8", "u32"))


def mma():
    for shape, types in itertools.product(DENSE, quads()):
        operands = fragments(shape, types)
        ends = (".xor.popc", ".and.popc", ".or.popc", "") if types[1] == "b1" else ("",)
        for end in ends:
            yield f"mma.sync.aligned.{shape}.row.col.{'.'.join(types)}{end}", operands
    for shape, types in (
        ("m8n8k4", ("f32", "f16", "f16", "f32")), ("m8n8k4", ("f16",) * 4), ("m8n8k4", ("f32", "f16", "f16", "f16")),
        ("m16n8k8", ("f16",) * 4), ("m16n8k16", ("f32", "bf16", "bf16", "f32")), ("m16n8k8", ("f32", "tf32", "tf32", "f32")),
        ("m8n8k4", ("f64",) * 4), ("m16n8k8", ("f64",) * 4), ("m16n8k32", ("f32", "e4m3", "e4m3", "f32")),
        ("m8n8k16", ("s32", "s8", "s8", "s32")), ("m16n8k32", ("s32", "u8", "s8", "s32")),
        ("m16n8k64", ("s32", "s4", "s4", "s32")), ("m16n8k256", ("s32", "b1", "b1", "s32")),
    ):
        operands, tail = fragments(shape, types), ".".join(types)
        for layouts in (".row.row", ".col.col", ".col.row", ".row", ".col", ""):
            yield f"mma.sync.aligned.{shape}{layouts}.{tail}", operands
        for word in ("satfinite", "rn", "rz", "rm", "rp", "kind::f8f6f4", "xor.popc", "relu"):
            yield f"mma.sync.aligned.{shape}.row.col.{word}.{tail}", operands
        yield f"mma.aligned.{shape}.row.col.{tail}", operands
        yield f"mma.sync.{shape}.row.col.{tail}", operands
    for a, b, (d, c), shape in itertools.product(SMALL, SMALL, SUMS, ("m16n8k16", "m16n8k32", "m16n8k64")):
        types = (d, a, b, c)
        if shape == "m16n8k32" or (a, b) in (("e4m3", "e5m2"), ("e2m1", "e2m1"), ("e3m2", "e4m3")):
            yield f"mma.sync.aligned.{shape}.row.col.kind::f8f6f4.{'.'.join(types)}", fragments(shape, types)
    types = ("f32", "e2m1", "e3m2", "f32")
    yield f"mma.sync.aligned.m16n8k32.row.col.{'.'.join(types)}", fragments("m16n8k32", types)
    yield from scaled("", "m16n8k32 m16n8k64 m16n8k128")


def scaled(sparse, shapes):
    """The kinds with block scales."""
    scales = ["r", "{0,1}", "r", "{0,1}"]
    for kind, vector, scale in itertools.product(
        ("mxf8f6f4", "mxf4", "mxf4nvf4", "f8f6f4"), ("", "1X", "2X", "4X"), ("ue8m0", "ue4m3", "")
    ):
        for shape, (a, b), (d, c) in itertools.product(
            shapes.split(), (("e2m1", "e2m1"), ("e4m3", "e2m3"), ("e5m2", "e2m1")), (("f32", "f32"), ("f16", "f16"))
        ):
            if d == "f16" and (scale == "" or a != "e4m3" or vector == "4X"):
                continue
            types = (d, a, b, c)
            narrow = kind.startswith("mxf4") and a == "e2m1"
            operands = fragments(shape, types, bool(sparse), narrow)
            operands += ["r", "0"] if sparse else []
            words = f"kind::{kind}.block_scale" + (f".scale_vec::{vector}" if vector else "")
            tail = ".".join(types) + (f".{scale}" if scale else "")
            yield f"mma{sparse}.sync.aligned.{shape}.row.col.{words}.{tail}", operands + scales
    if not sparse:
        for a, b in itertools.product(SMALL, SMALL):
            types = ("f32", a, b, "f32")
            words = "kind::mxf8f6f4.block_scale.scale_vec::1X"
            yield f"mma.sync.aligned.m16n8k32.row.col.{words}.{'.'.join(types)}.ue8m0", fragments("m16n8k32", types) + scales


def sparse():
    for sp in (".sp", ".sp::ordered_metadata"):
        for shape, types in itertools.product([shape for shape in DENSE if shape.startswith("m16")], quads()):
            if types[1] in ("f64", "b1", "f32") and shape != "m16n8k16":
                continue
            yield f"mma{sp}.sync.aligned.{shape}.row.col.{'.'.join(types)}", fragments(shape, types, True) + ["r", "0"]
        for shape, types in (("m16n8k32", ("s32", "s8", "s8", "s32")), ("m16n8k16", ("f16",) * 4)):
            operands = fragments(shape, types, True) + ["r", "0"]
            for words in (".row.row", ".row.col.satfinite", ".col.row", ""):
                yield f"mma{sp}.sync.aligned.{shape}{words}.{'.'.join(types)}", operands
            for last in ("1", "2", "3", "4", "r"):
                yield f"mma{sp}.sync.aligned.{shape}.row.col.{'.'.join(types)}", operands[:-1] + [last]
            yield f"mma{sp}.sync.aligned.{shape}.row.col.{'.'.join(types)}", operands[:-2]
        for (a, b), (d, c), shape in itertools.product(
            (("e4m3", "e5m2"), ("e2m1", "e2m1"), ("e3m2", "e2m3")), SUMS, ("m16n8k32", "m16n8k64", "m16n8k128")
        ):
            types = (d, a, b, c)
            operands = fragments(shape, types, True) + ["r", "0"]
            yield f"mma{sp}.sync.aligned.{shape}.row.col.kind::f8f6f4.{'.'.join(types)}", operands
    yield from scaled(".sp::ordered_metadata", "m16n8k64 m16n8k128")


OPAQUE = "m16n16k16 m32n8k16 m8n32k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128".split()


def opaque(shape, which, ty):
    m, n, k = numbers(shape)
    if ty == "f16" and which in "ab":
        return "8r"
    return registers(*{"a": (m, k), "b": (k, n)}.get(which, (m, n)), ty)


def wmma():
    kinds = ("f16", "bf16", "tf32", "f64", "s8", "u8", "s4", "u4", "b1", "f32", "s32")
    for shape, which, ty in itertools.product(OPAQUE, "abc", kinds):
        operands = [opaque(shape, which, ty), "[q]"]
        name = f"wmma.load.{which}.sync.aligned"
        yield f"{name}.row.{shape}.{ty}", operands
        yield f"{name}.col.{shape}.{ty}", operands + ["r"]
    for shape, ty in itertools.product(OPAQUE, kinds):
        yield f"wmma.store.d.sync.aligned.row.{shape}.{ty}", ["[q]", opaque(shape, "d", ty)]
    for space in (".global", ".shared", ".shared::cta", ".shared::cluster", ".const", ".local", ".param"):
        yield f"wmma.load.a.sync.aligned.row.m16n16k16{space}.f16", ["8r", "[q]", "r"]
        yield f"wmma.store.d.sync.aligned.row.m16n16k16{space}.f32", ["[q]", "8f", "r"]
    for words in ("row.m16n16k16.f16", "sync.row.m16n16k16.f16", "sync.aligned.m16n16k16.f16", "sync.aligned.row.f16"):
        yield f"wmma.load.a.{words}", ["8r", "[q]"]
    for last in ("r", "1r", "16", "q"):
        yield "wmma.load.a.sync.aligned.row.m16n16k16.f16", ["8r", "[q]", last]
    yield "wmma.load.d.sync.aligned.row.m16n16k16.f32", ["8f", "[q]"]
    yield "wmma.store.c.sync.aligned.row.m16n16k16.f32", ["[q]", "8f"]
    for shape, (d, a, b, c) in itertools.product(OPAQUE, quads()):
        if b != a and "f16" in (a, b):
            continue
        if "f16" in (a, d, c) and a != "f16" and shape != "m16n16k16":
            continue
        operands = [opaque(shape, which, ty) for which, ty in zip("dabc", (d, a, b, c))]
        tail = f"{d}.{a}.{b}.{c}"
        for layouts in ("row.col", "col.row") if shape == "m16n16k16" or a in ("f64", "tf32", "b1", "s4") else ("row.col",):
            if a == "b1":
                for word in ("xor.popc", "and.popc"):
                    yield f"wmma.mma.{word}.sync.aligned.{layouts}.{shape}.{tail}", operands
            yield f"wmma.mma.sync.aligned.{layouts}.{shape}.{tail}", operands
        for word in ("satfinite", "rn", "rz"):
            if shape in ("m16n16k16", "m8n8k4", "m16n16k8", "m8n8k32"):
                at = f"{shape}.{word}.{tail}" if word != "satfinite" else f"{shape}.{tail}.{word}"
                yield f"wmma.mma.sync.aligned.row.col.{at}", operands
        if a == "f16":
            for layouts, word in itertools.product(("row.col", "row.row", "col.col", "col.row"), ("", ".satfinite")):
                yield f"wmma.mma.sync.aligned.{layouts}.{shape}.{d}.{c}{word}", operands


def wgmma():
    def one(n, k, types, a, tail, sp=""):
        d = registers(64, n, types[0]).rstrip("frd")
        letter = "f" if types[0] == "f32" else "r"
        count = int(d) // 4
        first = [f"{count}{letter}", a, "1q"] + (["r", "0"] if sp else [])
        return f"wgmma.mma_async{sp}.sync.aligned.m64n{n}k{k}.{'.'.join(types)}", first + tail

    scales, transposes = ["p", "1", "1"], ["0", "0"]
    halves = [(d, a, a) for d in ("f16", "f32") for a in ("f16", "bf16", "tf32")]
    eights = [(d, a, b) for d in ("f16", "f32") for a in BYTES for b in BYTES]
    integers = [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
    bits = [("s32", "b1", "b1")]
    for sp in ("", ".sp"):
        for types in halves + eights + integers + bits:
            for n, k in itertools.product((8, 24, 256), (8, 16, 32, 64, 256)):
                if sp and n == 24:
                    continue
                tail = scales + (transposes if types[1] in ("f16", "bf16") else [])
                tail = tail if types[0] != "s32" else ["p"]
                for a in ("1q", "4r"):
                    # Of a fragment only b is transposed.
                    with_a = tail[:4] if a == "4r" and len(tail) == 5 else tail
                    spelling, operands = one(n, k, types, a, with_a, sp)
                    if types[1] == "b1":
                        spelling += ".and.popc"
                    yield spelling, operands
        for n in range(4, 273, 4):
            if n % 8 and n not in (4, 12, 100):
                continue
            if not sp:
                yield one(n, 16, ("f32", "f16", "f16"), "1q", scales + transposes)
                yield one(n, 32, ("s32", "s8", "s8"), "1q", ["p"])
                yield one(n, 32, ("f16", "e4m3", "e4m3"), "1q", scales)
                spelling, operands = one(n, 256, ("s32", "b1", "b1"), "1q", ["p"])
                yield spelling + ".and.popc", operands
        spelling, operands = one(16, 32, ("s32", "s8", "s8"), "1q", ["p"])
        yield spelling + ".satfinite", operands
        spelling, operands = one(16, 256, ("s32", "b1", "b1"), "1q", ["p"])
        yield from ((spelling + word, operands) for word in ("", ".xor.popc", ".or.popc"))
        for tail in (
            ["p"], ["p", "1"], ["p", "1", "1"], ["p", "-1", "1", "0", "1"], ["p", "2", "1", "0", "0"], ["p", "0", "1", "0", "0"],
            ["p", "1", "1", "0"], ["p", "1", "1", "2", "0"], ["1", "1", "1", "0", "0"], ["r", "1", "1", "0", "0"], [],
        ):
            yield one(16, 32 if sp else 16, ("f32", "f16", "f16"), "1q", tail, sp)
            yield one(16, 32 if sp else 16, ("f32", "f16", "f16"), "4r", tail, sp)
            yield one(16, 64 if sp else 32, ("f32", "e4m3", "e5m2"), "1q", tail, sp)
            yield one(16, 64 if sp else 32, ("s32", "s8", "u8"), "1q", tail, sp)
    for name in ("fence", "commit_group", "wait_group"):
        for words in ("sync.aligned", "sync", "aligned", ""):
            for operands in ([], ["0"], ["7"], ["8"], ["r"]):
                yield f"wgmma.{name}{'.' if words else ''}{words}", operands


def copies():
    for name in ("ldmatrix", "stmatrix"):
        for shape, count, trans, ty in itertools.product(
            ("m8n8", "m16n8", "m16n16", "m8n16"), (1, 2, 4, 8), ("", ".trans"), ("b16", "b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64")
        ):
            if name == "stmatrix" and "x" in ty:
                continue
            for of in (1, 2) if shape == "m16n16" else (1,):
                operands = [f"{count * of}r", "[s]"]
                operands = operands if name == "ldmatrix" else operands[::-1]
                yield f"{name}.sync.aligned.{shape}.x{count}{trans}.shared.{ty}", operands
        for words in (
            "sync.aligned.m8n8.x1.b16", "sync.aligned.m8n8.x1.shared::cta.b16", "sync.aligned.m8n8.x1.shared::cluster.b16",
            "sync.aligned.m8n8.x1.global.b16", "sync.aligned.m8n8.shared.b16", "aligned.m8n8.x1.shared.b16",
            "sync.m8n8.x1.shared.b16", "sync.aligned.x1.shared.b16", "sync.aligned.m8n8.x1.shared.f16", "sync.aligned.m8n8.x1.shared",
        ):
            for address in ("[s]", "[q]"):
                operands = ["1r", address] if name == "ldmatrix" else [address, "1r"]
                yield f"{name}.{words}", operands
    for words in ("sync.aligned.m8n8.trans.b16", "sync.aligned.m8n8.b16", "sync.aligned.m8n8.trans.b8", "aligned.m8n8.trans.b16", "sync.aligned.m16n8.trans.b16"):
        yield f"movmatrix.{words}", ["r", "r"]


def group(spelling, operands):
    """Whose operands are asked for: one of each class."""
    if spelling.startswith("mma") and "kind" in spelling and "e2m1" not in spelling:
        return None
    # wgmma's numbers of columns are many.
    return re.sub(r"m64n\d+", "", spelling), len(operands), operands[1:2]


if __name__ == "__main__":
    record(OUT, "dev/verdicts/matrices.py", itertools.chain(mma(), sparse(), wmma(), wgmma(), copies()), PLACES, group)
