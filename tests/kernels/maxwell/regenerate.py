#!/usr/bin/env python3
"""Makes the cubins here again: ../*.ptx for sm_50 and sm_61, and those of TARGETS. It writes operations.ptx, halves.ptx
and dots.ptx, and programs.ptx of the kernels in bodies.py.

    tests/kernels/maxwell/regenerate.py PTXAS NVDISASM      12.9 or earlier: later ones have no Maxwell

A kernel that the old targets have not is left out: ptxas says so. Left out too are the ones in the manner of sm_10 (`mad.f32`
means something else on every later target).
"""

import pathlib
import re
import subprocess
import sys

from bodies import BODIES, HEAD

HERE = pathlib.Path(__file__).parent
# A kernel of more operations takes more registers than there are.
OPERATIONS_OF_A_KERNEL = 40
OLD = {"old_1_4", "old_2_3"}
#: What is also compiled without optimising.
UNOPTIMISED = {"call", "horner", "interval", "softmax"}
#: What is compiled beside the kernels of the folder above, and for which targets.
TARGETS = {"operations": ["sm_50"], "flow": ["sm_50"], "nans": ["sm_50"], "roots": ["sm_50"], "sums": ["sm_50"],
           "halves": ["sm_53", "sm_60"], "dots": ["sm_61"], "carries": ["sm_61"], "programs": ["sm_50", "sm_61"]}


def operations():
    """The instructions on a thread's own numbers: x, y, z and s (0 to 63), X and Y of 64 bits, f, g, h, p and q the same
    bits as floats, w = y | 1, u and v finite doubles that are not zero. Each writes R, W, F, D, P or P|Q."""
    for t in ("s32", "u32"):
        yield from (f"{op}.{t} {args}" for op, args in (
            ("mul.hi", "R, x, y"), ("mul.wide", "W, x, y"), ("mad.lo", "R, x, y, z"), ("mul24.lo", "R, x, y"),
            ("min", "R, x, y"), ("max", "R, x, y"), ("bfe", "R, x, y, z"), ("bfind", "R, x"),
            ("bfind.shiftamt", "R, x"), ("shr", "R, x, s"), ("shr", "R, x, z"), ("shr", "R, x, 5"),
            ("div", "R, x, w"), ("rem", "R, x, w"), ("mad.hi", "R, x, y, z"), ("mul.hi", "R, x, 1717986919"),
            ("div", "R, x, 7"), ("rem", "R, x, 10"), ("slct.u32", "R, x, y, z") if t == "s32" else ("add", "R, x, y")))
    for t in ("s64", "u64"):
        yield from (f"{op}.{t} {args}" for op, args in (
            ("mul.hi", "W, X, Y"), ("mul.lo", "W, X, Y"), ("shr", "W, X, s"), ("shr", "W, X, z"), ("min", "W, X, Y"),
            ("max", "W, X, Y"), ("bfe", "W, X, s, 13"), ("bfind", "R, X"), ("cvt.rn.f32", "F, X"),
            ("cvt.rp.f64", "D, X")))
    for c in ("lt", "le", "gt", "ge", "eq", "ne"):
        for t, a, b in (("s32", "x", "y"), ("u32", "x", "y"), ("s64", "X", "Y"), ("u64", "X", "Y")):
            yield f"setp.{c}.{t} P, {a}, {b}"
        yield f"set.{c}.u32.s32 R, x, y"
        yield f"setp.{c}.or.s32 P|Q, x, y, B"
        yield f"setp.{c}.xor.f32 P|Q, f, g, B"
    for c in ("lt", "le", "gt", "ge", "eq", "ne", "ltu", "leu", "gtu", "geu", "equ", "neu", "num", "nan"):
        yield from (f"setp.{c}.f32 P, f, g", f"setp.{c}.ftz.f32 P, f, g", f"setp.{c}.f64 P, p, q",
                    f"set.{c}.f32.f32 F, f, g")
    for op in ("add", "sub"):
        yield f"{op}.u64 W, X, Y"
    yield from ("neg.s64 W, X", "abs.s64 W, X", "shl.b64 W, X, s", "shl.b64 W, X, z", "shl.b32 R, x, s",
                "shl.b32 R, x, z", "abs.s32 R, x", "neg.s32 R, x", "not.b32 R, x", "cnot.b32 R, x", "and.b32 R, x, y",
                "or.b32 R, x, y", "xor.b32 R, x, 0x12345", "popc.b32 R, x", "popc.b64 R, X", "clz.b32 R, x",
                "clz.b64 R, X", "brev.b32 R, x", "brev.b64 W, X", "bfi.b32 R, x, y, s, z", "bfi.b32 R, x, y, 7, 9",
                "bfe.u32 R, x, 8, 8", "bfe.s32 R, x, 16, 16")
    for table in (0x6C, 0x96, 0xE8, 0x1B, 0x80):
        yield f"lop3.b32 R, x, y, z, {table}"
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield f"prmt.b32{mode} R, x, y, z"
    for way in ("l.clamp", "l.wrap", "r.clamp", "r.wrap"):
        yield from (f"shf.{way}.b32 R, x, y, s", f"shf.{way}.b32 R, x, y, z")
    for r in ("rni", "rzi", "rmi", "rpi"):
        for t in ("s32", "u32"):
            yield from (f"cvt.{r}.{t}.f32 R, f", f"cvt.{r}.ftz.{t}.f32 R, f", f"cvt.{r}.{t}.f64 R, p")
        for t in ("s64", "u64"):
            yield from (f"cvt.{r}.{t}.f32 W, f", f"cvt.{r}.{t}.f64 W, p")
        yield from (f"cvt.{r}.f32.f32 F, f", f"cvt.{r}.f64.f64 D, p", f"cvt.{r}.sat.f32.f32 F, f")
    for r in ("rn", "rz", "rm", "rp"):
        yield from (f"cvt.{r}.f32.f64 F, p", f"cvt.{r}.ftz.f32.f64 F, p", f"cvt.{r}.f32.s32 F, x",
                    f"cvt.{r}.f32.u32 F, x", f"fma.{r}.f32 F, f, g, h", f"fma.{r}.ftz.f32 F, f, g, h",
                    f"fma.{r}.f64 D, p, q, p", f"sub.{r}.f32 F, f, g", f"sub.{r}.f64 D, p, q", f"div.{r}.f64 D, u, v",
                    f"rcp.{r}.f64 D, p", f"sqrt.{r}.f64 D, p")
        for op in ("add", "mul"):
            yield from (f"{op}.{r}.f32 F, f, g", f"{op}.{r}.ftz.f32 F, f, g", f"{op}.{r}.f64 D, p, q",
                        f"{op}.{r}.sat.f32 F, f, g")
        for flush in ("", ".ftz"):
            yield from (f"div.{r}{flush}.f32 F, f, g", f"rcp.{r}{flush}.f32 F, f", f"sqrt.{r}{flush}.f32 F, f")
    for op in ("min", "max"):
        yield from (f"{op}.f32 F, f, g", f"{op}.ftz.f32 F, f, g", f"{op}.f64 D, p, q")
    yield from ("abs.f64 D, p", "copysign.f32 F, f, g", "testp.normal.f32 P, f", "testp.subnormal.f32 P, f",
                "testp.infinite.f64 P, p", "cvt.sat.u32.s32 R, x", "cvt.sat.s32.u32 R, x", "cvt.sat.s32.s64 R, X",
                "cvt.sat.u32.s64 R, X", "cvt.rn.f16.f32 c, f", "cvt.f32.f16 F, k")
    for t in ("s8", "u8", "s16", "u16"):
        yield from (f"cvt.sat.{t}.s32 c, x", f"cvt.sat.{t}.u32 c, x", f"cvt.{t}.s32 c, x", f"cvt.rn.f32.{t} F, k",
                    f"cvt.sat.{t}.s64 c, X")
    for way, clamp in (("up", "0"), ("down", "0x1f"), ("bfly", "0x1f"), ("idx", "0x1f")):
        yield f"shfl.sync.{way}.b32 R|P, x, 3, {clamp}, -1"
    yield from (f"vote.sync.{way}.pred P, B, -1" for way in ("all", "any", "uni"))
    yield "vote.sync.ballot.b32 R, B, -1"


def halves():
    """The instructions on 16-bit floats, and what ptxas makes of other ones around them: a, b (y), m and j (x) are 16 bits
    each, c is written. The number 0x80000000 has no opposite: there PTX does not say what `neg` gives."""
    for flush in ("", ".ftz"):
        for sat in ("", ".sat"):
            for op in ("add", "sub", "mul"):
                yield from (f"{op}{flush}{sat}.f16 c, m, b", f"{op}{flush}{sat}.f16x2 R, x, y")
            yield from (f"fma.rn{flush}{sat}.f16 c, m, a, j", f"fma.rn{flush}{sat}.f16x2 R, x, y, z")
        for c in ("lt", "le", "gt", "ge", "eq", "ne", "ltu", "leu", "gtu", "geu", "equ", "neu", "num", "nan"):
            yield from (f"setp.{c}{flush}.f16 P, m, b", f"setp.{c}{flush}.f16x2 P|Q, x, y",
                        f"set.{c}{flush}.f16x2.f16x2 R, x, y", f"set.{c}{flush}.u32.f16x2 R, x, y")
        for logic in ("and", "or", "xor"):
            yield from (f"setp.gt.{logic}{flush}.f16x2 P|Q, x, y, B", f"setp.le.{logic}{flush}.f16 P, j, a, !B",
                        f"set.ne.{logic}{flush}.u32.f16x2 R, x, y, B")
        yield from (f"set.lt{flush}.f16.f16 c, m, a", f"set.ge{flush}.u32.f16 R, j, b")
    for sign in ("abs", "neg"):
        yield from (f"{sign}.f16 c, m", f"{sign}.f16 c, j; add.f16 c, c, a", f"{sign}.f16x2 R, x; mul.f16x2 R, R, y",
                    f"{sign}.f16x2 R, x; fma.rn.f16x2 R, y, z, R", f"{sign}.f16 c, j; cvt.f32.f16 F, c",
                    f"{sign}.f16 c, m; setp.gt.f16 P, c, b", f"{sign}.f16x2 R, x; setp.le.f16x2 P|Q, y, R",
                    f"{sign}.f16 c, j; cvt.rzi.s32.f16 R, c")
        for t in ("f16", "f32", "f64"):
            into = {"f16": "c", "f32": "F", "f64": "D"}[t]
            yield from (f"or.b32 R, x, 1; {sign}.s32 R, R; cvt.rn.{t}.s32 {into}, R",)
        for t in ("s8", "u8", "s16", "u16"):
            yield from (f"or.b32 R, x, 1; {sign}.s32 R, R; cvt.{t}.s32 c, R",
                        f"or.b32 R, x, 1; {sign}.s32 R, R; cvt.sat.{t}.s32 c, R")
    for op in ("add.f16 c, m, b", "mul.f16 c, j, b", "fma.rn.f16 c, m, j, b"):
        yield from (f"{op}; cvt.f32.f16 F, c", f"cvt.rn.f16.f32 m, f; {op}")
    yield from ("mov.b32 R, 0x3C00C100; mul.f16x2 R, x, R", "mov.b32 R, 0x3C00FC00; add.f16x2 R, x, R",
                "mov.b32 R, 0x3C00C100; fma.rn.f16x2 R, x, R, y", "mov.b32 R, 0x3C00C100; setp.gt.f16x2 P|Q, x, R")
    yield from ("setp.num.f16 P, m, m; @!P mov.b16 m, 0; cvt.f32.f16 F, m", "cvt.rn.f16.f32 c, f", "cvt.rz.f16.f32 c, f")
    for r in ("rni", "rzi", "rmi", "rpi"):
        yield from (f"cvt.{r}.f16.f16 c, j", f"cvt.{r}.s16.f32 c, f", f"cvt.{r}.u16.f32 c, f", f"cvt.{r}.s16.f16 c, m",
                    f"cvt.{r}.u16.f16 c, j", f"cvt.{r}.s32.f16 R, j", f"cvt.{r}.u64.f16 W, m", f"cvt.{r}.s8.f32 c, f")
    for t in ("s16", "u16"):
        yield from (f"cvt.rn.f16.{t} c, j", f"cvt.rz.f32.{t} F, j")
    for t in ("s32", "u32"):
        yield f"cvt.rn.f16.{t} c, x"
    for t in ("s64", "u64"):
        yield f"cvt.rn.f16.{t} c, X"


def dot_products():
    for a in ("s32", "u32"):
        for b in ("s32", "u32"):
            yield from (f"dp4a.{a}.{b} R, x, y, z", f"dp2a.lo.{a}.{b} R, x, y, z", f"dp2a.hi.{a}.{b} R, x, y, z")


def stored(operation, place):
    """The operation and the store of what its last instruction writes."""
    written = re.sub("^@!?P ", "", operation.split("; ")[-1]).split(" ")[1].rstrip(",")
    after = {"P": "selp.u32 R, 1, 0, P; ", "P|Q": "selp.u32 R, 1, 0, P; @Q or.b32 R, R, 2; ",
             "R|P": "@P not.b32 R, R; ", "c": "cvt.s32.s16 R, c; "}.get(written, "")
    register = {"P": "R", "P|Q": "R", "R|P": "R", "c": "R"}.get(written, written)
    kind = {"R": "u32", "W": "u64", "F": "f32", "D": "f64"}[register]
    return f"\t{operation}; {after}st.global.{kind} [O+{8 * place}], {register};"


def kernel(name, some):
    lines = [f".visible .entry {name}(.param .u32 n, .param .u64 input, .param .u64 output)", "{",
             "\t.reg .b32 x, y, z, s, w, t, i, R; .reg .b64 X, Y, W, A, O; .reg .f32 f, g, h, F;",
             "\t.reg .f64 p, q, u, v, D; .reg .pred P, Q, B; .reg .b16 c, k, a, b, m, j;",
             "\tld.param.u64 A, [input]; ld.param.u64 O, [output];",
             "\tmov.u32 i, %ctaid.x; mov.u32 t, %ntid.x; mov.u32 x, %tid.x; mad.lo.u32 i, i, t, x;",
             f"\tmul.wide.u32 X, i, 16; add.u64 A, A, X; mul.wide.u32 X, i, {8 * OPERATIONS_OF_A_KERNEL}; add.u64 O, O, X;",
             "\tld.global.u64 X, [A]; ld.global.u64 Y, [A+8]; mov.b64 {x, z}, X; mov.b64 {y, t}, Y;",
             "\tand.b32 s, z, 63; or.b32 w, y, 1; mov.b32 f, x; mov.b32 g, y; mov.b32 h, z; mov.b64 p, X; mov.b64 q, Y;",
             "\tcvt.rn.f64.s32 u, x; cvt.rn.f64.u32 v, w; setp.gt.u32 B, z, x; mov.b32 {c, k}, z;",
             "\tmov.b32 {m, j}, x; mov.b32 {a, b}, y;"]
    return "\n".join(lines + [stored(each, place) for place, each in enumerate(some)] + ["\tret;", "}", ""])


def program(name, body):
    return f""".visible .entry {name}(.param .u32 n, .param .u64 input, .param .u64 output)
{{
	.reg .b32 %x, %y, %z, %w, %t, %i, %r<20>; .reg .b64 %X, %Y, %a, %o, %d<8>; .reg .f32 %F, %G, %f<8>;
	.reg .f64 %E, %D, %e<4>; .reg .b16 %h<4>; .reg .pred %p<10>;
	ld.param.u64 %a, [input]; ld.param.u64 %o, [output];
	mov.u32 %t, %tid.x; mov.u32 %x, %ctaid.x; mov.u32 %y, %ntid.x; mad.lo.u32 %i, %x, %y, %t;
	mul.wide.u32 %X, %i, 16; add.u64 %a, %a, %X; mul.wide.u32 %X, %i, 32; add.u64 %o, %o, %X;
	ld.global.v4.u32 {{%x, %y, %z, %w}}, [%a]; mov.b64 %X, {{%x, %z}}; mov.b64 %Y, {{%y, %w}};
	mov.b32 %F, %x; mov.b32 %G, %y; mov.b64 %E, %X; mov.b64 %D, %Y; setp.gt.s32 %p9, %w, 0;{body}
	ret;
}}
"""


def main():
    ptxas, nvdisasm = sys.argv[1:]
    head = ".version 8.0\n.target sm_50\n.address_size 64\n// Written by regenerate.py.\n\n"

    def of(name, each):
        """The kernels of some operations."""
        each = list(each)
        groups = [each[at:at + OPERATIONS_OF_A_KERNEL] for at in range(0, len(each), OPERATIONS_OF_A_KERNEL)]
        text = "\n".join(kernel(f"{name}_{number}", group) for number, group in enumerate(groups))
        (HERE / f"{name}.ptx").write_text(head.replace("sm_50", TARGETS[name][0]) + text)
        return len(each)

    count = of("operations", operations()) + of("halves", halves()) + of("dots", dot_products())

    def compiled(text, target, name, options=()):
        source = HERE / "lowered.ptx"
        source.write_text(re.sub(r"(?m)^\.target .*$", f".target {target}", text))
        command = [ptxas, *options, f"-arch={target}", "-o", HERE / name, source]
        made = subprocess.run(command, capture_output=True, text=True)
        source.unlink()
        return made

    (HERE / "programs.ptx").write_text(head + HEAD + "".join("\n" + program(name, body) for name, body in BODIES.items()))
    for name, targets in TARGETS.items():
        for target in targets:
            file = f"{name}.{target}.cubin" if len(targets) > 1 else f"{name}.cubin"
            made = compiled((HERE / f"{name}.ptx").read_text(), target, file)
            assert made.returncode == 0, made.stderr
    for name in ("flow", "programs.sm_61"):
        listing = subprocess.run([nvdisasm, HERE / f"{name}.cubin"], capture_output=True, text=True, check=True).stdout
        (HERE / f"{name.split('.')[0]}.sass").write_text(re.sub("\n\n+", "\n", listing))
    for source in sorted(HERE.parent.glob("*.ptx")):
        text = re.sub(r"(?m)^\.version .*$", ".version 8.0", source.read_text())
        for target in ("sm_50", "sm_61"):
            if source.stem not in OLD:
                compiled(text, target, f"{source.stem}.{target}.cubin")
        if source.stem in UNOPTIMISED:
            compiled(text, "sm_61", f"{source.stem}.sm_61.O0.cubin", ["-O0"])
    print(count, "operations;", len(list(HERE.glob("*.cubin"))), "cubins")


main()
