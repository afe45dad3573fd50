#!/usr/bin/env python3
"""Asks NVIDIA's assembler which instructions of tensor memory (tcgen05) it takes, and records the answers.

    dev/verdicts/tensor_memory.py       # writes vectors/edge/ptx/tensor-memory-verdicts.tsv

Needs pip, as record.py does. As matrices.py does it: right and wrong spellings and operands, asked for as
matrix_record.py says. crates/ptx/tests/matrix_verdicts.rs holds `check` against the record, without an assembler.
"""

import itertools
import os
import re

from matrix_record import Places, record
from ptxas import ROOT

OUT = os.path.join(ROOT, "vectors", "edge", "ptx", "tensor-memory-verdicts.tsv")
PLACES = Places(
    targets={
        "12.9": "90a 100 100a 100f 101 101a 101f 103 103a 103f 120a 120f",
        "13.5": "90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120a 120f 121a",
    },
    by_version={"12.9": "100a 100f 101a 101f 103a 103f", "13.5": "100a 100f 103a 103f 107a 107f 110a 110f"},
    first="8.6",
    asked_whole={
        ("100a", "8.6"), ("100a", "8.8"), ("101a", "8.8"), ("100a", "9.5"), ("103a", "9.5"), ("107a", "9.5"), ("110a", "9.5"),
    },
    operands=("100a", "103a"),
)

FLOATS = ("f16", "tf32", "f8f6f4")
INTEGERS = ("i8",)
SCALED = ("mxf8f6f4", "mxf4", "mxf4nvf4")
VECTORS = ("", ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X", ".block16", ".block32")
SPARSE = ("", ".sp")
GROUPS = (".cta_group::1", ".cta_group::2")
USES = ("fill", "use", "lastuse", "discard")


def product(a, is_sparse, tail):
    """The operands of a multiply-add: d, a, b, the metadata, the instruction descriptor, and what follows."""
    return ["[r]", a, "1q"] + (["[r]"] if is_sparse else []) + ["r"] + tail


def mma():
    tails = [
        lanes + ["p"] + scale for lanes in ([], ["4r"], ["8r"]) for scale in ([], ["0"], ["15"], ["16"])
    ] + [["r"], [], ["p", "r"], ["p", "-1"], ["1"], ["5r", "p"], ["p", "4r"]]
    for sp, cta, kind, a in itertools.product(SPARSE, GROUPS, FLOATS + INTEGERS, ("1q", "[r]")):
        for tail in tails:
            yield f"tcgen05.mma{sp}{cta}.kind::{kind}", product(a, sp, tail)
    scales = ["[r]", "[r]"]
    for sp, cta, kind, vector, a in itertools.product(SPARSE, GROUPS, SCALED, VECTORS, ("1q", "[r]")):
        spelling = f"tcgen05.mma{sp}{cta}.kind::{kind}.block_scale{vector}"
        yield spelling, product(a, sp, scales + ["p"])
        if vector in ("", ".block16"):
            for tail in (
                ["p"], scales + ["p", "0"], scales + ["4r", "p"], ["4r"] + scales + ["p"], ["[r]", "p"], ["r", "r", "p"], scales,
            ):
                yield spelling, product(a, sp, tail)
        yield f"tcgen05.mma{sp}{cta}.kind::{kind}{vector}", product(a, sp, scales + ["p"])
    for sp, kind in itertools.product(SPARSE, SCALED):
        yield f"tcgen05.mma{sp}.cta_group::1.kind::{kind}", product("1q", sp, ["p"])
    for sp, kind, vector in itertools.product(SPARSE, FLOATS + INTEGERS, VECTORS):
        for scale in ("", ".block_scale"):
            yield f"tcgen05.mma{sp}.cta_group::1.kind::{kind}{scale}{vector}", product("1q", sp, scales + ["p"])
            yield f"tcgen05.mma{sp}.cta_group::1.kind::{kind}{scale}{vector}", product("1q", sp, ["p"])
    yield from collectors()
    yield from misspelled()


def collectors():
    """What stays in the collector buffers, and the shift of a."""
    buffers = [f".collector::{buffer}::{use}" for buffer in ("a", "b0", "b1") for use in USES]
    buffers += [".collector::a", ".collector::a::keep", ".collector::b0", ".collector::a::use.collector::a::use"]
    for sp, cta, kind, a, buffer, shift in itertools.product(
        SPARSE, GROUPS, FLOATS + INTEGERS + SCALED, ("1q", "[r]"), [""] + buffers, ("", ".ashift")
    ):
        if (buffer or shift) and (kind in ("f16", "i8", "mxf4") or buffer in ("", ".collector::a::use")):
            scaled = kind in SCALED
            words = (".block_scale" if scaled else "") + shift + buffer
            tail = ["[r]", "[r]", "p"] if scaled else ["p"]
            yield f"tcgen05.mma{sp}{cta}.kind::{kind}{words}", product(a, sp, tail)
    for sp, kind, words in itertools.product(SPARSE, FLOATS + INTEGERS, (".ashift", ".collector::a::fill")):
        for tail in (["4r", "p"], ["p", "3"], ["4r", "p", "3"]):
            yield f"tcgen05.mma{sp}.cta_group::1.kind::{kind}{words}", product("[r]", sp, tail)


def misspelled():
    for sp in SPARSE:
        operands = product("1q", sp, ["p"])
        for words in (
            ".kind::f16", ".cta_group::1", ".cta_group::3.kind::f16", ".cta_group::1.kind::bf16", ".cta_group::1.kind::f32",
            ".cta_group::1.kind::f16.sync", ".cta_group::1.kind::f16.sync.aligned", ".cta_group::1.f16",
            ".cta_group::1.kind::f16.kind::f16", ".cta_group::1.cta_group::2.kind::f16", ".kind::f16.cta_group::1",
            ".cta_group::1.kind::f16.b32", ".cta_group::1.kind::f16.m128n64k16", ".cta_group::1.kind::fp8",
        ):
            yield f"tcgen05.mma{sp}{words}", operands
    for words in (".sp::ordered_metadata.cta_group::1.kind::f16", ".cta_group::1.sp.kind::f16", ".cta_group::1.kind::f16.sp"):
        yield f"tcgen05.mma{words}", product("1q", True, ["p"])
    yield "tcgen05.cta_group::1.mma.kind::f16", product("1q", False, ["p"])
    yield "tcgen05.mma.cta_group::1.kind::f16", product("1q", True, ["p"])
    yield "tcgen05.mma.sp.cta_group::1.kind::f16", product("1q", False, ["p"])


def stationary():
    """`.ws`, with the columns that are zero."""
    buffers = [f".collector::b{number}::{use}" for number in range(4) for use in USES]
    others = [".collector::a::use", ".collector::a::fill", ".collector::b4::fill", ".collector::b0", ".collector::b::fill", ".ashift"]
    for sp, kind, a in itertools.product(SPARSE, FLOATS + INTEGERS, ("1q", "[r]")):
        name = f"tcgen05.mma.ws{sp}.cta_group"
        for tail in (["p"], ["p", "1q"], ["p", "0"], ["p", "r"], ["4r", "p"], ["p", "3", "1q"], ["p", "1q", "1q"], ["1q", "p"], []):
            yield f"{name}::1.kind::{kind}", product(a, sp, tail)
        for tail in (["p"], ["p", "1q"]):
            yield f"{name}::2.kind::{kind}", product(a, sp, tail)
            for buffer in buffers + others:
                if kind in ("f16", "i8") or buffer in (".collector::b2::use", ".collector::a::use"):
                    yield f"{name}::1.kind::{kind}{buffer}", product(a, sp, tail)
    for sp, kind, vector in itertools.product(SPARSE, SCALED, ("", ".block_scale", ".block_scale.block32")):
        for tail in (["p"], ["[r]", "[r]", "p"]):
            yield f"tcgen05.mma.ws{sp}.cta_group::1.kind::{kind}{vector}", product("1q", sp, tail)
    for words in (".sp.ws.cta_group::1.kind::f16", ".cta_group::1.ws.sp.kind::f16", ".ws.sp.kind::f16"):
        yield f"tcgen05.mma{words}", product("1q", True, ["p"])
    for words in (".cta_group::1.ws.kind::f16", ".ws.kind::f16", ".ws.cta_group::1", ".ws.ws.cta_group::1.kind::f16"):
        yield f"tcgen05.mma{words}", product("1q", False, ["p"])


SHAPES = {"16x64b": 1, "16x128b": 2, "16x256b": 4, "32x32b": 1, "16x32bx2": 1}


def moved(name, registers, *split):
    """The operands of a load or a store."""
    return registers + ["[r]", *split] if name == "ld" else ["[r]", *split] + registers


def loads():
    for name, (shape, each), number in itertools.product(("ld", "st"), SHAPES.items(), (1, 2, 3, 4, 8, 16, 32, 64, 128, 256)):
        count = number * each
        split = ["16"] if shape == "16x32bx2" else []
        for pack in ("", ".pack::16b", ".unpack::16b"):
            if count <= 256:
                yield f"tcgen05.{name}.sync.aligned.{shape}.x{number}{pack}.b32", moved(name, [f"{count}r"], *split)
        if number in (1, 4, 16):
            for registers in (f"{count * 2}r", f"{count - 1}r" if count > 1 else "r", f"{number}r"):
                yield f"tcgen05.{name}.sync.aligned.{shape}.x{number}.b32", moved(name, [registers], *split)
    for name in ("ld", "st"):
        for split in ([], ["0"], ["-1"], ["r"], ["4096"], ["16", "16"]):
            for shape in ("16x32bx2", "32x32b"):
                yield f"tcgen05.{name}.sync.aligned.{shape}.x2.b32", moved(name, ["2r"], *split)
        for words in (
            "sync.32x32b.x2.b32", "aligned.32x32b.x2.b32", "sync.aligned.32x32b.b32", "sync.aligned.x2.b32",
            "sync.aligned.32x32b.x2", "sync.aligned.32x32b.x2.b64", "sync.aligned.32x32b.x2.f32", "sync.aligned.32x32b.x2.u32",
            "aligned.sync.32x32b.x2.b32", "sync.aligned.x2.32x32b.b32", "cta_group::1.sync.aligned.32x32b.x2.b32",
            "sync.aligned.32x64b.x1.b32", "sync.aligned.32x32b.x02.b32", "sync.aligned.32x32b.x2.min.b32",
            "sync.aligned.32x32b.x2.shared.b32", "sync.aligned.32x32b.x2.pack::8b.b32",
        ):
            yield f"tcgen05.{name}.{words}", moved(name, ["2r"])
            yield f"tcgen05.{name}.red.{words}", moved(name, ["2r", "r"])


def reductions():
    for (shape, each), number, ty in itertools.product(SHAPES.items(), (1, 2, 4, 8, 16, 32, 64, 128, 256), ("f32", "u32", "s32")):
        if number * each <= 256 and (each == 1 or number < 8):
            split = ["16"] if shape == "16x32bx2" else []
            letter = {"f32": "f", "u32": "u", "s32": "r"}[ty]
            registers = [f"{number * each}{letter}", letter]
            yield f"tcgen05.ld.red.sync.aligned.{shape}.x{number}.min.{ty}", moved("ld", registers, *split)
    types = ("f32", "u32", "s32", "b32", "f16", "bf16", "f16x2", "bf16x2", "u16", "f64", "u64")
    for op, ty, word in itertools.product(("min", "max", "add", "and"), types, ("", ".abs", ".NaN", ".abs.NaN", ".NaN.abs")):
        if op in ("min", "max") or word == "":
            for shape, split in (("32x32b", []), ("16x32bx2", ["16"])):
                yield f"tcgen05.ld.red.sync.aligned.{shape}.x2.{op}{word}.{ty}", moved("ld", ["2r", "r"], *split)
    name = "tcgen05.ld.red.sync.aligned.32x32b.x2"
    for words in ("min.f32.f32", "min.max.f32", "f32", "min", "pack::16b.min.f32", "abs.min.f32"):
        yield f"{name}.{words}", ["2r", "r", "[r]"]
    for operands in (["2r", "[r]"], ["2r", "r", "[r]", "0"], ["3r", "[r]"], ["2r", "r", "r", "[r]"]):
        yield f"{name}.min.u32", operands
    for op in ("min", "max"):
        yield f"tcgen05.ld.red.sync.{op}.aligned.32x32b.x2.u32", ["2r", "r", "[r]"]
        yield f"tcgen05.ld.sync.red.aligned.32x32b.x2.{op}.u32", ["2r", "r", "[r]"]
        yield f"tcgen05.st.red.sync.aligned.32x32b.x2.{op}.u32", ["[r]", "2r", "r"]


def allocation():
    columns = ("r", "32", "64", "128", "256", "512", "0", "16", "33", "48", "1024", "-32")
    for cta in GROUPS:
        for space, address in itertools.product(("", ".shared::cta", ".shared", ".shared::cluster", ".global"), ("[q]", "[r]", "[s]")):
            yield f"tcgen05.alloc{cta}.sync.aligned{space}.b32", [address, "r"]
        for number in columns:
            yield f"tcgen05.alloc{cta}.sync.aligned.shared::cta.b32", ["[s]", number]
            yield f"tcgen05.dealloc{cta}.sync.aligned.b32", ["r", number]
        yield f"tcgen05.dealloc{cta}.sync.aligned.b32", ["[r]", "r"]
        yield f"tcgen05.dealloc{cta}.sync.aligned.b32", ["5", "r"]
        for operands in ([], ["r"]):
            yield f"tcgen05.relinquish_alloc_permit{cta}.sync.aligned", operands
    for words in (
        "cta_group::1.sync", "cta_group::1.aligned", "sync.aligned", "cta_group::3.sync.aligned", "cta_group::1.sync.aligned.relaxed",
        "cta_group::1.cta_group::1.sync.aligned", "sync.aligned.cta_group::1",
    ):
        for end in (".b32", "", ".u32", ".b64"):
            yield f"tcgen05.alloc.{words}{end}", ["[q]", "r"]
            yield f"tcgen05.dealloc.{words}{end}", ["r", "r"]
            yield f"tcgen05.relinquish_alloc_permit.{words}{end}", []
    yield "tcgen05.dealloc.cta_group::1.sync.aligned.shared::cta.b32", ["r", "r"]
    for operands in ([], ["[q]"], ["[q]", "r", "r"], ["r"], ["r", "r", "r"]):
        yield "tcgen05.alloc.cta_group::1.sync.aligned.b32", operands
        yield "tcgen05.dealloc.cta_group::1.sync.aligned.b32", operands


def order():
    """Waits, fences and commits."""
    for name, words in itertools.product(("wait::ld", "wait::st", "wait::cp", "wait", "wait.ld"), (".sync.aligned", ".sync", ".aligned", "")):
        yield f"tcgen05.{name}{words}", []
    yield "tcgen05.wait::ld.sync.aligned", ["0"]
    for name in ("fence::before_thread_sync", "fence::after_thread_sync", "fence", "fence.before_thread_sync", "fence::thread_sync"):
        for words in ("", ".sync", ".sync.aligned", ".cta_group::1"):
            yield f"tcgen05.{name}{words}", []
    yield "tcgen05.fence::after_thread_sync", ["r"]
    arrive = ".mbarrier::arrive::one"
    for cta, space, multicast in itertools.product(
        GROUPS, ("", ".shared::cluster", ".shared::cta", ".shared", ".global"), ("", ".multicast::cluster")
    ):
        for address, mask in itertools.product(("[q]", "[r]", "[s]"), ([], ["h"])):
            yield f"tcgen05.commit{cta}{arrive}{space}{multicast}.b64", [address] + mask
    for words in (
        arrive + ".b32", arrive, ".b64", ".mbarrier::arrive.b64", ".mbarrier::complete_tx::bytes.b64", arrive + ".sync.b64",
        ".sync.aligned" + arrive + ".b64", arrive + ".multicast::cta.b64", arrive + ".b64" + arrive,
    ):
        for mask in ([], ["h"]):
            yield f"tcgen05.commit.cta_group::1{words}", ["[q]"] + mask
    yield f"tcgen05.commit{arrive}.b64", ["[q]"]
    yield f"tcgen05.commit{arrive}.cta_group::1.b64", ["[q]"]
    for mask in (["65535"], ["65536"], ["-1"], ["r"], ["h", "h"]):
        yield f"tcgen05.commit.cta_group::1{arrive}.multicast::cluster.b64", ["[q]"] + mask
    yield f"tcgen05.commit.cta_group::1{arrive}.b64", []


def copies():
    shapes = "128x256b 4x256b 128x128b 64x128b 32x128b 64x256b 4x128b 16x64b".split()
    spreads = ("", ".warpx2::02_13", ".warpx2::01_23", ".warpx4", ".warpx2", ".warpx4.warpx4")
    formats = ("", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64")
    for cta, shape, spread, ty in itertools.product(GROUPS, shapes, spreads, formats):
        if ty != formats[1] or cta == GROUPS[0]:
            yield f"tcgen05.cp{cta}.{shape}{spread}{ty}", ["[r]", "1q"]
    for shape, ty in itertools.product(
        ("128x128b", "32x128b.warpx4"), (".b8x16", ".b6x16_p32.b8x16", ".b6x16_p32", ".b8", ".b8x16.b8x16", ".b4x16_p64", ".b32")
    ):
        yield f"tcgen05.cp.cta_group::1.{shape}{ty}", ["[r]", "1q"]
    for operands in (["[r]", "[q]"], ["r", "1q"], ["[r]", "r"], ["[r]", "5"], ["[r]"], ["[r]", "1q", "r"], ["1q", "[r]"]):
        yield "tcgen05.cp.cta_group::1.4x256b", operands
    for words in ("cp.4x256b", "cp.cta_group::1", "cp.cta_group::1.sync.aligned.4x256b", "cp.4x256b.cta_group::1", "cp.cta_group::3.4x256b"):
        yield f"tcgen05.{words}", ["[r]", "1q"]
    for words in (
        "cta_group::1.down", "cta_group::2.down", "cta_group::1", "down", "cta_group::1.up", "down.cta_group::1",
        "cta_group::1.down.down", "cta_group::1.down.b32",
    ):
        for operands in (["[r]"], ["r"], ["[r]", "r"], []):
            yield f"tcgen05.shift.{words}", operands
    for words in ("", ".mov", ".copy.cta_group::1.4x256b", ".load.sync.aligned.32x32b.x1.b32"):
        yield f"tcgen05{words}", ["[r]", "1q"]


def group(spelling, operands):
    """Whose operands are asked for: one of each class."""
    if re.search(r"collector|ashift|x(8|16|32|128)\b", spelling):
        return None
    spelling = re.sub(r"\.(un)?pack::16b|\.scale_vec::.X|\.block(16|32)|\.max|\.abs|\.NaN|b[46]x16_p\d+", "", spelling)
    return spelling.replace("64x128b", "32x128b"), tuple("9" if code[-1].isdigit() else code for code in operands)


if __name__ == "__main__":
    every = itertools.chain(
        mma(), stationary(), loads(), reductions(), allocation(), order(), copies(),
    )
    record(OUT, "dev/verdicts/tensor_memory.py", every, PLACES, group)
