#!/usr/bin/env python3
"""Asks NVIDIA's assembler which products it fuses, and records the answers.

    dev/contraction/record.py            # writes vectors/edge/ptx/contraction.tsv
    dev/contraction/record.py loops      # writes vectors/edge/ptx/contraction_loops.tsv

Needs pip: ptxas 12.9 and 13.5 and nvdisasm are installed into target/assemblers. Every case is one entry of a module;
what the machine code has of it (products, additions, multiply-adds) is counted for each assembler and target.
crates/ptx/tests/contraction.rs holds the finder against the record, without an assembler.
"""

import collections
import datetime
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "target", "assemblers")
PACKAGES = {
    "12.9": "nvidia-cuda-nvcc-cu12==12.9.86",
    "13.5": "nvidia-cuda-nvcc==13.5.37",
    "nvdisasm": "nvidia-cuda-nvdisasm==13.5.37",
}
OUT = os.path.join(ROOT, "vectors", "edge", "ptx", "contraction.tsv")

# The register's prefix, the type that loads and stores it, its bytes, and the targets that have its arithmetic.
TYPES = {
    "f32": ("%f", "f32", 4, (75, 80, 90, 100, 120)),
    "f64": ("%d", "f64", 8, (75, 80, 90, 100, 120)),
    "f16": ("%h", "b16", 2, (75, 80, 90, 100, 120)),
    "f16x2": ("%r", "b32", 4, (75, 80, 90, 100, 120)),
    "bf16": ("%h", "b16", 2, (90, 100, 120)),
    "bf16x2": ("%r", "b32", 4, (90, 100, 120)),
    "f32x2": ("%b", "b64", 8, (100, 120)),
}
FLUSHES = ("f32", "f16", "f16x2", "f32x2")
SATURATES = ("f32", "f16", "f16x2")
INPUTS = 8

# Pairs, their operands and their uses. `$n` is a register, 1 to 8 the inputs; a number stored is `!n`.
PAIRS = """
mul.T $9,$1,$2; add.T $10,$9,$3; !10
mul.T $9,$1,$2; add.T $10,$3,$9; !10
mul.T $9,$1,$2; sub.T $10,$9,$3; !10
mul.T $9,$1,$2; sub.T $10,$3,$9; !10
mul.T $9,$1,$1; add.T $10,$9,$1; !10
mul.T $9,$1,$2; add.T $10,$9,$9; !10
mul.T $9,$1,$2; add.T $10,$9,$3; !9 !10
mul.T $9,$1,$2; add.T $10,$9,$3; add.T $11,$4,$9; !10 !11
mul.T $9,$1,$2; add.T $10,$9,$3; sub.T $11,$4,$9; add.T $12,$9,$5; !10 !11 !12
mul.T $9,$1,$2; add.T $10,$9,$3; add.T $11,$10,$9; !11
mul.T $9,$1,$2; add.T $10,$9,$3; mul.T $11,$10,$9; !11
mul.T $9,$1,$2; add.T $10,$9,$3; mul.T $11,$9,$4; !10 !11
mul.T $9,$1,$2; add.T $10,$9,$3; add.T $11,$9,$9; !10 !11
mul.T $9,$1,$2; add.T $10,$9,$3; add.rn.T $11,$9,$4; !10 !11
mul.T $9,$1,$2; add.T $10,$9,$3; fma.rn.T $11,$4,$5,$9; !10 !11
mul.T $9,$1,$2; mul.T $11,$9,$3; add.T $10,$11,$4; !10
mul.rn.T $9,$1,$2; add.T $10,$9,$3; !10
mul.T $9,$1,$2; add.rn.T $10,$9,$3; !10
mul.rn.T $9,$1,$2; add.rn.T $10,$9,$3; !10
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $11,$9,$10; !11
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $11,$10,$9; !11
mul.T $9,$1,$2; mul.T $10,$3,$4; sub.T $11,$9,$10; !11
mul.T $9,$1,$2; mul.T $10,$3,$4; sub.T $11,$10,$9; !11
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $11,$9,$10; !9 !11
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $11,$9,$10; !10 !11
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $11,$9,$10; add.T $12,$9,$5; !11 !12
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $12,$9,$5; add.T $11,$9,$10; !11 !12
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $11,$9,$10; add.T $12,$10,$5; !11 !12
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $11,$9,$10; add.T $12,$9,$5; add.T $13,$10,$6; !11 !12 !13
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $12,$9,$5; add.T $13,$10,$6; add.T $11,$9,$10; !11 !12 !13
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $11,$9,$10; sub.T $12,$9,$10; !11 !12
mul.T $9,$1,$2; mul.T $10,$3,$4; add.T $11,$9,$10; sub.T $12,$10,$9; !11 !12
mul.T $9,$1,$2; mul.T $10,$3,$4; mul.T $11,$5,$6; add.T $12,$9,$10; add.T $13,$12,$11; !13
mul.T $9,$1,$2; mul.T $10,$3,$4; mul.T $11,$5,$6; add.T $12,$9,$10; add.T $13,$11,$9; add.T $14,$10,$11; !12 !13 !14
mul.T $1,$1,$2; add.T $9,$1,$3; !9
mul.T $9,$1,$2; mov.R $1,$4; add.T $10,$9,$3; !10 !1
mul.T $9,$1,$2; add.T $1,$1,$4; add.T $10,$9,$3; !10 !1
mul.T $9,$1,$2; mul.T $1,$3,$2; mul.T $2,$3,$4; add.T $10,$9,$3; !10 !1 !2
mul.T $9,$1,$2; mov.R $11,$9; add.T $10,$11,$3; !10
mul.T $9,$1,$2; mov.R $11,$9; add.T $10,$11,$3; add.T $12,$9,$4; !10 !12
mul.T $9,$1,$2; mov.R $11,$9; add.T $10,$11,$3; !10 !9
@%p1 mul.T $9,$1,$2; @%p1 add.T $10,$9,$3; !10
@%p1 mul.T $9,$1,$2; add.T $10,$9,$3; !10
mul.T $9,$1,$2; @%p1 add.T $10,$9,$3; !10
mul.T $9,$1,$2; @%p1 add.T $3,$9,$3; !3
mul.T $9,$1,$2; @%p1 add.T $9,$9,$3; !9
mul.T $9,$1,$2; @%p1 add.T $10,$9,$3; @!%p1 add.T $10,$9,$4; !10
mul.T $9,$1,$2; @%p1 add.T $10,$9,$3; add.T $11,$9,$4; !10 !11
mul.T $9,$1,$2; @%p1 mov.R $9,$4; add.T $10,$9,$3; !10
mul.T $9,$1,$2; bra L; L: add.T $10,$9,$3; !10
mul.T $9,$1,$2; L: add.T $10,$9,$3; !10
mul.T $9,$1,$2; @%p1 bra L; add.T $10,$9,$3; !10 L:
mul.T $9,$1,$2; @%p1 bra L; add.T $9,$9,$3; bar.sync 0; L: !9
mul.T $9,$1,$2; @%p1 bra L; bar.sync 0; L: add.T $10,$9,$3; !10
mul.T $9,$1,$2; add.T $10,$9,$3; @%p1 bra L; add.T $10,$9,$4; bar.sync 0; L: !10
mul.T $9,$1,$2; add.T $10,$9,$3; !10 @%p1 bra L; !9 L:
mul.T $9,$1,$2; @%p1 exit; add.T $10,$9,$3; !10
mul.T $9,$1,$2; @%p1 ret; add.T $10,$9,$3; !10
"""
FLUSHED = """
mul.ftz.T $9,$1,$2; add.ftz.T $10,$9,$3; !10
mul.ftz.T $9,$1,$2; add.T $10,$9,$3; !10
mul.T $9,$1,$2; add.ftz.T $10,$9,$3; !10
mul.T $9,$1,$2; add.T $10,$9,$3; add.ftz.T $11,$9,$4; !10 !11
mul.ftz.T $9,$1,$2; add.ftz.T $10,$9,$3; sub.ftz.T $11,$4,$9; !10 !11
"""
SATURATED = """
mul.T $9,$1,$2; add.sat.T $10,$9,$3; !10
mul.sat.T $9,$1,$2; add.T $10,$9,$3; !10
mul.T $9,$1,$2; sub.sat.T $10,$3,$9; add.T $11,$9,$4; !10 !11
"""
NEGATED = """
mul.T $9,$1,$2; neg.T $9,$9; add.T $10,$9,$3; !10
mul.T $9,$1,$2; neg.T $11,$9; add.T $10,$11,$3; add.T $12,$9,$4; !10 !12
mul.T $9,$1,$2; abs.T $9,$9; add.T $10,$9,$3; !10
"""
# What stands between a product and its addition; `%q` and `%x` are registers of 32 and 64 bits.
BETWEEN = """
bar.sync 0;
@%p2 bar.sync 0;
bar.warp.sync -1;
membar.gl;
membar.cta;
fence.acq_rel.gpu;
fence.sc.cta;
brkpt;
pmevent 1;
@%p2 trap;
call ff, ();
atom.global.add.u32 %q5,[%rd1+3000],1;
@%p2 atom.global.add.u32 %q5,[%rd1+3000],1;
red.global.add.f32 [%rd1+3000],%f8;
@%p2 red.global.add.f32 [%rd1+3000],%f8;
st.global.f32 [%rd1+3000],%f8;
@%p2 st.global.f32 [%rd1+3000],%f8;
st.volatile.global.f32 [%rd1+3000],%f8;
ld.volatile.global.u32 %q5,[%rd1+3000]; st.global.u32 [%rd1+3004],%q5;
@%p2 ld.global.u32 %q5,[%rd1+3000]; st.global.u32 [%rd1+3004],%q5;
@%p2 shfl.sync.bfly.b32 %q5,%q1,1,31,-1; st.global.u32 [%rd1+3004],%q5;
@%p2 activemask.b32 %q5; st.global.u32 [%rd1+3004],%q5;
@%p2 match.any.sync.b32 %q5,%q1,-1; st.global.u32 [%rd1+3004],%q5;
@%p2 bar.warp.sync -1;
@%p2 nanosleep.u32 10;
@%p2 membar.gl;
@%p2 mov.u32 %q5,%q1; st.global.u32 [%rd1+3004],%q5;
@%p2 vote.sync.ballot.b32 %q5,%p1,-1; st.global.u32 [%rd1+3004],%q5;
vote.sync.ballot.b32 %q5,%p1,-1; st.global.u32 [%rd1+3004],%q5;
shfl.sync.bfly.b32 %q5,%q1,1,31,-1; st.global.u32 [%rd1+3004],%q5;
match.any.sync.b32 %q5,%q1,-1; st.global.u32 [%rd1+3004],%q5;
activemask.b32 %q5; st.global.u32 [%rd1+3004],%q5;
div.u32 %q5,%q1,%q2; st.global.u32 [%rd1+3004],%q5;
div.s32 %q5,%q1,%q2; st.global.u32 [%rd1+3004],%q5;
rem.u32 %q5,%q1,%q2; st.global.u32 [%rd1+3004],%q5;
rem.s32 %q5,%q1,%q2; st.global.u32 [%rd1+3004],%q5;
div.u32 %q5,%q1,10; st.global.u32 [%rd1+3004],%q5;
div.s32 %q5,%q1,10; st.global.u32 [%rd1+3004],%q5;
rem.s32 %q5,%q1,16; st.global.u32 [%rd1+3004],%q5;
div.u64 %x5,%x1,%x2; st.global.u64 [%rd1+3008],%x5;
rem.s64 %x5,%x1,%x2; st.global.u64 [%rd1+3008],%x5;
div.u64 %x5,%x1,10; st.global.u64 [%rd1+3008],%x5;
div.u64 %x5,%x1,16; st.global.u64 [%rd1+3008],%x5;
mul.lo.u64 %x5,%x1,%x2; st.global.u64 [%rd1+3008],%x5;
nanosleep.u32 10;
prefetch.global.L1 [%rd1];
setp.lt.u32 %p3,%q1,%q2; selp.u32 %q5,%q1,%q2,%p3; st.global.u32 [%rd1+3004],%q5;
"""
# The same, with arithmetic of its own that is not counted: the addition's module is compared with one whose product
# has `.rn`.
EXPANDED = """
div.rn.f32 %f14,%f7,%f8; st.global.f32 [%rd1+3004],%f14;
div.rn.ftz.f32 %f14,%f7,%f8; st.global.f32 [%rd1+3004],%f14;
div.full.f32 %f14,%f7,%f8; st.global.f32 [%rd1+3004],%f14;
div.approx.f32 %f14,%f7,%f8; st.global.f32 [%rd1+3004],%f14;
rcp.rn.f32 %f14,%f8; st.global.f32 [%rd1+3004],%f14;
rcp.rz.ftz.f32 %f14,%f8; st.global.f32 [%rd1+3004],%f14;
rcp.approx.f32 %f14,%f8; st.global.f32 [%rd1+3004],%f14;
sqrt.rn.f32 %f14,%f8; st.global.f32 [%rd1+3004],%f14;
sqrt.approx.f32 %f14,%f8; st.global.f32 [%rd1+3004],%f14;
rsqrt.approx.f32 %f14,%f8; st.global.f32 [%rd1+3004],%f14;
lg2.approx.f32 %f14,%f8; st.global.f32 [%rd1+3004],%f14;
sin.approx.f32 %f14,%f8; st.global.f32 [%rd1+3004],%f14;
div.rn.f64 %d14,%d7,%d8; st.global.f64 [%rd1+3008],%d14;
rcp.rn.f64 %d14,%d8; st.global.f64 [%rd1+3008],%d14;
sqrt.rn.f64 %d14,%d8; st.global.f64 [%rd1+3008],%d14;
rsqrt.approx.f64 %d14,%d8; st.global.f64 [%rd1+3008],%d14;
@%p2 div.approx.f32 %f14,%f7,%f8; st.global.f32 [%rd1+3004],%f14;
"""


# Loops, which the assembler unrolls before it fuses anything. `TIMES` is their number of iterations.
ROUND = "mov.u32 %q5,0; L: {} add.u32 %q5,%q5,1; setp.lt.u32 %p3,%q5,TIMES; @%p3 bra L; "
LOOPS = [
    "mov.R $9,$8; " + ROUND.format("add.T $10,$9,$3; mul.T $9,$10,$2;") + "!9",
    "mov.R $9,$8; " + ROUND.format("add.T $10,$3,$9; mul.T $9,$10,$10;") + "!9",
    "mov.R $9,$8; " + ROUND.format("sub.T $10,$9,$3; mul.T $9,$10,$2;") + "!10",
    "mov.R $9,$8; " + ROUND.format("add.T $10,$9,$3; mul.rn.T $9,$10,$2;") + "!9",
    "mov.R $9,$8; " + ROUND.format("add.T $10,$9,$3; mul.T $9,$10,$2; !9"),
    "mov.R $9,$8; " + ROUND.format("add.T $10,$9,$3; !10 mul.T $9,$1,$10;"),
    "mov.R $9,$8; " + ROUND.format("add.T $10,$9,$3; bar.sync 0; mul.T $9,$1,$10;") + "!10",
    "mov.R $9,$8; mov.R $10,$7; " + ROUND.format("add.T $10,$9,$10; mul.T $9,$9,$2;") + "!10",
    "mul.T $9,$1,$2; " + ROUND.format("add.T $9,$9,$3;") + "!9",
    "mul.T $9,$1,$2; " + ROUND.format("add.T $9,$9,$3;") + "!9 mul.T $10,$1,$2; !10",
    "mov.R $9,$8; " + ROUND.format("mul.T $9,$9,$2;") + "add.T $10,$9,$3; !10",
    "mov.R $9,$8; " + ROUND.format("mul.T $9,$9,$2;") + "add.T $10,$9,$3; !9 !10",
]


def lines(text):
    return [line for line in text.strip().splitlines() if line]


def at_random(chance, ty):
    """Products and additions that share operands in every way."""
    text, products, values, pairs = [], [], [f"${n}" for n in range(1, INPUTS + 1)], set()
    following, stored = INPUTS + 1, []

    def fresh(choices_a, choices_b):
        while True:
            a, b = chance.choice(choices_a), chance.choice(choices_b)
            if frozenset((a, b)) not in pairs and a != b:
                pairs.add(frozenset((a, b)))
                return a, b

    flush = ty in FLUSHES and chance.random() < 0.2
    for _ in range(chance.randint(1, 3)):
        a, b = fresh(values[:INPUTS], values[:INPUTS])
        text.append(f"mul{'.ftz' if flush else ''}.T ${following},{a},{b};")
        products.append(f"${following}")
        following += 1
    for _ in range(chance.randint(1, 5)):
        pool = products * 2 + values[-3:]
        a, b = fresh(products, pool) if chance.random() < 0.5 else fresh(pool, products)
        opcode = chance.choice(("add", "add", "sub"))
        modifier = ".rn" if chance.random() < 0.08 else ""
        ftz = ".ftz" if flush and chance.random() < 0.9 else ""
        guard = "@%p1 " if chance.random() < 0.1 else ""
        if guard:
            text.append(f"mov.R ${following},${chance.randint(1, INPUTS)};")
        text.append(f"{guard}{opcode}{modifier}{ftz}.T ${following},{a},{b};")
        values.append(f"${following}")
        stored.append(following)
        following += 1
    if chance.random() < 0.2:
        stored.append(int(chance.choice(products)[1:]))
    used = " ".join(text[len(products):])
    unused = [n for n, name in enumerate(products) if not re.search(re.escape(name) + r"\b", used)]
    text = [line for n, line in enumerate(text) if n not in unused or INPUTS + 1 + n in stored]
    return " ".join(text + [f"!{n}" for n in stored])


def cases():
    """(type, body), and whether the body computes something that is not counted."""
    chance = random.Random(29)
    for ty in TYPES:
        bodies = lines(PAIRS)
        bodies += lines(FLUSHED) if ty in FLUSHES else []
        bodies += lines(SATURATED) if ty in SATURATES else []
        bodies += lines(NEGATED) if ty in ("f32", "f64") else []
        bodies += [at_random(chance, ty) for _ in range(160 if ty == "f32" else 60)]
        pair = "mul.T $9,$1,$2; {} add.T $10,$9,$3; !10"
        if ty in ("f32", "f64", "f16x2"):
            bodies += [pair.format(text) for text in lines(BETWEEN)]
        for body in bodies:
            yield ty, body, False
        if ty == "f32":
            for text in lines(EXPANDED):
                yield ty, pair.format(text), True


def entry(name, ty, body):
    """An entry of a module; the label is its own."""
    prefix, memory, size, _ = TYPES[ty]
    body = re.sub(r"!(\d+)", lambda it: f"st.global.{memory} [%rd1+{1024 + 16 * int(it[1])}],{prefix}{it[1]};", body)
    body = re.sub(r"\$(\d+)", prefix + r"\1", body)
    body = re.sub(r"\.T\b", "." + ty, body)
    body = re.sub(r"\.R\b", "." + {2: "b16", 4: "b32", 8: "b64"}[size], body)
    text = [f".visible .entry {name}(.param .u64 p) {{"]
    text.append(" .reg .pred %p<9>; .reg .f32 %f<40>; .reg .f64 %d<40>; .reg .b16 %h<40>; .reg .b32 %r<40>;")
    text.append(" .reg .b64 %b<40>; .reg .b32 %q<9>; .reg .b64 %x<9>; .reg .u64 %rd<9>;")
    text.append(" ld.param.u64 %rd1,[p]; ld.global.u32 %q1,[%rd1+512]; ld.global.u32 %q2,[%rd1+516];")
    text.append(" ld.global.u64 %x1,[%rd1+520]; ld.global.u64 %x2,[%rd1+528];")
    text.append(" setp.ne.u32 %p1,%q1,0; setp.gt.u32 %p2,%q2,5;")
    for other, (base, width) in {"f32": ("%f", 4), "f64": ("%d", 8)}.items():
        for n in (7, 8):
            if other != ty:
                text.append(f" ld.global.{other} {base}{n},[%rd1+{640 + width * n}];")
    for n in range(1, INPUTS + 1):
        text.append(f" ld.global.{memory} {prefix}{n},[%rd1+{size * n}];")
    return "\n".join(text) + f"\n {body}\n ret;\n}}\n"


FUNCTION = ".func ff() { bar.sync 1; ret; }\n"


def install():
    python = os.path.join(TOOLS, "venv", "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(TOOLS, "venv")], check=True)
    found = {}
    for name, package in PACKAGES.items():
        place = os.path.join(TOOLS, name)
        if not os.path.isdir(place):
            subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--target", place, package], check=True)
        wanted = "nvdisasm" if name.startswith("nvdisasm") else "ptxas"
        for folder, _, files in os.walk(place):
            if wanted in files and os.path.basename(folder) == "bin":
                found[name] = os.path.join(folder, wanted)
                os.chmod(found[name], 0o755)
    return found


def kind(instruction):
    """`mul`, `add` or `fma` of a line of machine code; the half units do everything by HFMA2."""
    opcode, _, rest = instruction.partition(" ")
    found = re.match(r"[FDH](FMA|MUL|ADD)2?(\.|$)", opcode)
    if not found:
        return None
    if found[1] == "FMA" and opcode.startswith("H"):
        operands = [operand.strip() for operand in rest.split(",")]
        if "RZ" in operands[1]:
            return None
        if operands[2] in ("1", "1.0"):
            return "add"
        if operands[-1].lstrip("-") in ("RZ", "RZ.H0_H0"):
            return "mul"
    return found[1].lower()


def counted(tools, version, target, entries):
    """By entry: how many products, additions and multiply-adds the machine code has."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "x.ptx"), os.path.join(folder, "x.cubin")
        with open(source, "w") as file:
            file.write(f".version 8.8\n.target sm_{target}\n.address_size 64\n{FUNCTION}")
            file.writelines(entries)
        subprocess.run([tools[version], "-arch", f"sm_{target}", source, "-o", binary], check=True)
        text = subprocess.run([tools["nvdisasm"], "-c", binary], check=True, capture_output=True, text=True).stdout
    counts, name = collections.defaultdict(collections.Counter), None
    for line in text.splitlines():
        if begun := re.match(r"\.text\.(\w+):", line):
            name = begun[1]
        if found := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?(.*?) *;", line):
            counts[name][kind(found[1])] += 1
    return {name: tuple(count[kind] for kind in ("mul", "add", "fma")) for name, count in counts.items()}


def loops():
    """Of each loop, whether any assembler on any target fuses in it."""
    tools = install()
    bodies = [body.replace("TIMES", times) for body in LOOPS for times in ("4", "64", "%q1")]
    path = OUT.replace(".tsv", "_loops.tsv")
    with open(path, "w") as file:
        file.write("# Whether NVIDIA's assembler fuses in a loop: type, body, then the assemblers and targets that do.\n")
        file.write(f"# ptxas 12.9.86 and 13.5.37, sm_75 to sm_120, {datetime.date.today()}: dev/contraction/record.py loops\n")
        for ty, (_, _, _, targets) in TYPES.items():
            fused = collections.defaultdict(list)
            for target in targets:
                for version in ("12.9", "13.5"):
                    entries = [entry(f"k{index}", ty, body) for index, body in enumerate(bodies)]
                    for name, (_, _, fma) in counted(tools, version, target, entries).items():
                        if fma:
                            fused[name].append(f"{version}/sm_{target}")
            every = 2 * len(targets)
            for index, body in enumerate(bodies):
                at = fused[f"k{index}"]
                file.write("\t".join([ty, body, "all" if len(at) == every else " ".join(at) or "none"]) + "\n")


def main():
    if sys.argv[1:] == ["loops"]:
        return loops()
    tools = install()
    found = list(cases())
    answers = collections.defaultdict(dict)
    for ty, (_, _, _, targets) in TYPES.items():
        mine = [(index, body, noisy) for index, (other, body, noisy) in enumerate(found) if other == ty]
        for target in targets:
            for version in ("12.9", "13.5"):
                entries, plain = [], []
                for index, body, noisy in mine:
                    entries.append(entry(f"k{index}", ty, body))
                    if noisy:
                        plain.append(entry(f"r{index}", ty, body.replace("mul.T", "mul.rn.T")))
                counts = counted(tools, version, target, entries + plain)
                for index, body, noisy in mine:
                    count = counts.get(f"k{index}", (0, 0, 0))
                    if noisy:
                        # What the division has of its own is in both.
                        count = tuple(a - b + c for a, b, c in zip(count, counts[f"r{index}"], (1, 1, 0)))
                    if ty == "f32x2" and target == 120:
                        count = tuple(part // 2 for part in count)
                    answers[index][f"{version}/sm_{target}"] = count
            print(ty, target, len(mine), flush=True)
    with open(OUT, "w") as file:
        file.write("# Which products NVIDIA's assembler fuses: type, body, then products, additions and multiply-adds in\n")
        file.write("# the machine code; behind them, where assemblers or targets differ, their own counts.\n")
        file.write(f"# ptxas 12.9.86 and 13.5.37, sm_75 to sm_120, {datetime.date.today()}: dev/contraction/record.py\n")
        for index, (ty, body, _) in enumerate(found):
            newest = [count for at, count in answers[index].items() if at.startswith("13.5")]
            usual, _ = collections.Counter(newest).most_common(1)[0]
            others = [f"{at}={a},{b},{c}" for at, (a, b, c) in answers[index].items() if (a, b, c) != usual]
            file.write("\t".join([ty, body, *map(str, usual), *others]) + "\n")


if __name__ == "__main__":
    main()
