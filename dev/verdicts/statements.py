#!/usr/bin/env python3
"""Asks NVIDIA's assembler which statements it takes with which operands, and records the answers.

    dev/verdicts/statements.py       # writes vectors/edge/ptx/statement-verdicts.tsv

Needs pip (ptxas.py); modules.py asks. Each case is a module: a frame with `@` in it, and what is put there. What the record of
single instructions has (instructions.py) is not asked again. crates/ptx/tests/declaration_verdicts.rs holds `check` against the
record, without an assembler.
"""

import itertools
import os

from modules import PLACES, at_versions, record
from ptxas import ROOT

OUT = os.path.join(ROOT, "vectors", "edge", "ptx", "statement-verdicts.tsv")

REGISTERS = ".reg .pred p; .reg .b16 h; .reg .b32 r; .reg .b64 q; .reg .f32 f; .reg .f64 d; .reg .v2 .b64 v;"
IN_KERNEL = f".global .b32 g[4]; .global .b32 n; .func fn() {{ ret; }} .entry k() {{ {REGISTERS} L: @; ret; }}"


def alternatives(text):
    return text.strip("\n").split("\n")


def put_in(frame, text):
    return [frame.replace("@", part) for part in alternatives(text)]


# A list of targets: where it stands, and what it names.
TARGET_FRAMES = alternatives("""
.entry k() { L0: L1: M: t: .branchtargets @; ret; }
.func g0() { ret; } .func g1() { ret; } .func g() { ret; } .entry k() { L0: t: .calltargets @; ret; }
""")
TARGETS = alternatives("""
L<1>
L<2>
L<3>
L<0>
L <2>
L<2>, M
M, L<2>
L0, L<2>
L0<1>
L1<2>
L<0x2>
L<2U>
L<1+1>
L<-1>
L<>
<2>
L<WARP_SZ>
L<4294967296>
L<2>[2]
L<2>+1
L<L>
k<0>
g<1>
g<2>
g<3>
g, g<2>
g<2>, g<2>
""")

# Addresses and sums.
ACCESSES = alternatives("""
ld.global.b32 r, @
ld.b32 r, @
st.local.b32 @, r
ldu.global.b32 r, @
atom.global.add.u32 r, @, r
red.global.add.u32 @, r
prefetch.global.L1 @
cp.async.ca.shared.global [r], @, 4
""")
ADDRESSES = alternatives("""
[]
[4]
[4+q]
[q+4]
[q+q]
[4+g]
[g+4]
[g]
[g+q]
[-4]
[q+-4]
[q-4]
[q+4+4]
[q+(4+4)]
[(q)]
[-q]
[q,4]
[q,q]
[{q,q}]
[q]+4
[[q]]
q
g
g+4
4
[q+1.0]
[g+1.0]
[q+0f3F800000]
[q+WARP_SZ]
[WARP_SZ]
[_]
[q+_]
[!q]
[q+!4]
[v.x]
[v]
[%tid.x]
[g[1]]
[g+g]
[1.0]
[0f3F800000]
[q+0xffffffffffffffff]
[g+0xffffffffffffffff]
[0]
[(4)]
[4+4]
[L]
[fn]
[fn+4]
["a"]
[.global]
[q*4]
[q+4==3]
[1?2:3]
[x]
[~4]
[(q+4)]
[f]
[p]
[f+1.0]
g[1]
g[-1]
g[9]
g[1+1]
g[WARP_SZ]
g[r]
g[q]
g[h]
g[f]
g[p]
g[v]
g[v.x]
g[g]
g[fn]
g[L]
g[x]
g[%tid.x]
g[r+1]
g[r+r]
g[1+r]
g[-r]
g[1.0]
g[r+1.0]
g[]
g[1]+4
n[1]
q[1]
fn[1]
L[1]
x[1]
""")
# Where the address of a variable may be a number.
NUMBERS = alternatives("""
mov.u64 q, @
mov.b32 r, @
mov.u16 h, @
mov.f64 d, @
mov.pred p, @
mov.b64 q, {@, r}
cvta.global.u64 q, @
cvta.shared.u64 q, @
cvta.to.global.u64 q, @
cvta.to.local.u64 q, @
isspacep.global p, @
add.u64 q, q, @
add.u32 r, @, r
add.f32 f, f, @
mul.lo.u64 q, @, q
mad.lo.u32 r, r, @, r
and.b64 q, q, @
and.pred p, p, @
shl.b64 q, q, @
setp.eq.u64 p, q, @
selp.b64 q, @, q, p
selp.b64 q, q, q, @
cvt.u32.u64 r, @
cvt.rn.f32.u32 f, @
fma.rn.f32 f, f, f, @
st.global.u64 [q], @
st.global.v2.b32 [q], {@, r}
atom.global.add.u64 q, [q], @
popc.b64 r, @
shfl.sync.idx.b32 r, r, @, 31, 31
bar.sync @
""")
SYMBOLS = alternatives("""
g
g+4
g[1]
n
n+4
n[1]
fn
fn+4
fn[1]
k
k+4
L
L+4
L[1]
q[1]
x
x+4
x[1]
g+1.0
g+0f3F800000
g+WARP_SZ
g+(-4)
g+q
(g)
g-4
g[1]+4
generic(g)
-g
""")
# Sums of a register or a variable and an integer, as numbers of each type.
SUM_FRAME = (
    ".global .b32 g; .entry k() { .reg .pred p; .reg .b16 h; .reg .u16 t; .reg .b32 r; .reg .u32 u; .reg .b64 q; .reg .u64 w; "
    ".reg .f16 e; .reg .f16x2 x; .reg .f32 f; .reg .f64 d; @; ret; }"
)
SUMS = ["h+4", "t+4", "r+4", "u+4", "q+4", "w+4", "e+4", "x+4", "f+4", "d+4", "g+4"]
TAKE_SUMS = alternatives("""
mov.u64 q, @
mov.u16 h, @
mov.f32 f, @
mov.b64 q, {@, r}
add.u32 r, r, @
add.u64 q, @, q
add.s16 t, t, @
add.f32 f, f, @
add.f16 e, e, @
add.f16x2 x, x, @
add.u16x2 r, r, @
mul.wide.u32 q, r, @
mad.lo.u32 r, r, @, r
mad.wide.u32 q, r, r, @
fma.rn.f32 f, f, f, @
fma.rn.f64 d, d, @, d
fma.rn.f16 e, e, e, @
and.b32 r, r, @
neg.f32 f, @
shl.b64 q, q, @
shl.b32 r, @, r
min.u32 r, r, @
setp.eq.u64 p, q, @
selp.f32 f, f, @, p
slct.b32.s32 r, r, r, @
cvt.u32.u64 r, @
cvt.rn.f32.u32 f, @
cvt.f64.f32 d, @
st.global.u8 [q], @
st.global.f32 [q], @
red.global.add.u32 [q], @
bfe.u32 r, r, @, 4
shf.l.wrap.b32 r, r, r, @
dp4a.u32.u32 r, r, r, @
bar.sync @
nanosleep.u32 @
isspacep.global p, @
div.u32 r, r, @
div.u64 q, q, @
div.s64 q, @, q
rem.u32 r, r, @
rem.u64 q, q, @
div.rz.f32 f, f, @
div.rz.f64 d, @, d
rcp.rz.f32 f, @
rcp.rz.f64 d, @
sqrt.rm.f64 d, @
vadd.u32.u32.u32 r, r, @
vset.u32.u32.eq r, r, @
vmad.u32.u32.u32 r, r, @, r
vadd2.u32.u32.u32 r, r, r, @
lop3.b32 r, r, r, r, @
pmevent @
""")

# Variables in each state space, as addresses and as numbers.
SPACES = alternatives("""
.global .b32 x[4]; .entry k() { @; ret; }
.const .b32 x[4]; .entry k() { @; ret; }
.shared .b32 x[4]; .entry k() { @; ret; }
.entry k() { .local .b32 x[4]; @; ret; }
.entry k(.param .b32 x[4]) { @; ret; }
""")
IN_SPACES = [
    f".reg .b32 r; .reg .b64 q; {line}"
    for opcode in ("ld{}.b32 r, [x+4]", "ld{}.b32 r, x[1]", "st{}.b32 [x+4], r", "st{}.b32 x[1], r", "cvta{}.u64 q, x", "cvta{}.u64 q, x+4",
                   "cvta{}.u64 q, x[1]", "cvta.to{}.u64 q, x+4", "cvta.to{}.u64 q, x[1]")
    for line in (opcode.format(space) for space in ("", ".global", ".const", ".shared", ".local", ".param"))
] + [f".reg .b32 r; mov.b32 r, {value}" for value in ("x", "x+4", "x[1]")]

# Names declared twice, one of them or both of a range.
TWICE = [f".entry k() {{ .reg .b32 {names}; ret; }}" for names in alternatives("""
r<4>, r
r, r<4>
r<4>, r<4>
r<0>, r<4>
r<4>, r<0>
r<0>, r
r<4>, r2
r2, r<4>
r2, r<2>
r4, r<4>
r8, r<9>
r0, r<4>
r00, r<4>
r<1>, r0
r<0>, r0
r007, r<8>
r<8>, r007
r<8>, r8
r1, r<4>, r3
r9, r10, r<10>
r10, r<11>
r10, r1<1>
r11, r1<2>
r101, r1<2>
r<4>, r1<2>
r1<2>, r<20>
r10<2>, r1<20>
r99999999999, r<5>
""")] + alternatives("""
.entry k(.param .b32 r2) { .reg .b32 r<4>; ret; }
.func f(.reg .b32 r2) { .reg .b32 r<4>; ret; }
.func (.reg .b32 r2) f() { .reg .b32 r<4>; ret; }
.global .b32 r2; .entry k() { .reg .b32 r<4>; ret; }
.func r2() { ret; } .entry k() { .reg .b32 r<4>; ret; }
.entry k() { .shared .b32 r1; .reg .b32 r<4>; ret; }
.entry k() { .reg .b32 r<4>; .shared .b32 r1; ret; }
.entry k() { .reg .b32 r1; .reg .f32 r<4>; ret; }
.entry k() { .reg .b32 r<4>; .reg .f32 r<2>; ret; }
.entry k() { .reg .b32 r<4>; { .reg .b32 r1; } ret; }
.entry k() { .reg .b32 r1; { .reg .b32 r<4>; } ret; }
.entry k() { { .reg .b32 r1; } .reg .b32 r<4>; ret; }
.entry k() { r1: .reg .b32 r<4>; ret; }
.global .b32 g2; .global .b32 g<4>;
.global .b64 g<4>; .global .b64 g2;
.global .b64 g<4>; .global .b64 g<4>;
""")

# Labels named like a register of a range.
TWICE += alternatives("""
.entry k() { .reg .b32 r<4>; r1: ret; }
.entry k() { .reg .b32 r<4>; bra r1; r1: ret; }
.entry k() { r1: bra r1; .reg .b32 r<4>; ret; }
.entry k() { r1: .reg .b32 r<4>; mov.u32 r1, 4; ret; }
.entry k() { .reg .b32 r<4>; mov.u32 r1, 4; r1: ret; }
.entry k() { .reg .b32 r1; mov.u32 r1, 4; r1: ret; }
.entry k() { .reg .b32 r<4>; { r1: bra r1; } ret; }
.entry k() { .reg .b32 r<4>; { bra r1; } r1: ret; }
.entry k() { { .reg .b32 r<4>; mov.u32 r1, 1; } r1: ret; }
.entry k() { { .reg .b32 r<4>; r1: mov.u32 r1, 1; } ret; }
.entry k() { .reg .b32 r<4>; { r1: mov.u32 r1, 1; } ret; }
.entry k() { .reg .b32 r<4>; { mov.u32 r1, 1; r1: ret; } ret; }
.entry k() { .reg .b32 r<4>; { mov.u32 r1, 1; } r1: ret; }
.entry k() { .reg .b32 r<4>; r01: mov.u32 r1, 1; ret; }
.entry k() { .reg .b32 r<4>; r01: bra r01; ret; }
.entry k() { .reg .b32 r<4>; r1: ret; r1: ret; }
.entry k() { .reg .b32 r<4>; r9: bra r9; ret; }
.entry k() { .reg .b32 r<4>; r1: t: .branchtargets r1; ret; }
.entry k() { .reg .b32 r<4>; .reg .b32 r<2>; mov.u32 r3, 1; ret; }
.entry k() { .reg .b32 r<4>; { .reg .f32 r<2>; mov.b32 r3, 1; } ret; }
.entry k() { .reg .b32 r<4>; { .reg .f32 r<2>; mov.u32 r1, 1; } ret; }
.entry k() { .reg .b32 r<2>; { .reg .f32 r<4>; } mov.u32 r1, 1; ret; }
""")

# Special registers, read at each width.
SPECIAL_FRAME = ".entry k() { .reg .pred p; .reg .b16 h; .reg .b32 r; .reg .b64 q; .reg .f32 f; @; ret; }"
READS = alternatives("""
mov.u32 r, @
mov.b32 r, @
mov.u16 h, @
mov.b16 h, @
mov.u64 q, @
mov.f32 f, @
mov.pred p, @
mov.b64 q, {@, r}
mov.b32 r, {@, h}
cvt.u32.u32 r, @
cvt.u16.u32 h, @
cvt.u32.u16 r, @
cvt.u64.u64 q, @
cvt.u32.u64 r, @
cvt.u32.u8 r, @
cvt.rn.f32.u32 f, @
""")
SPECIAL = alternatives("""
%laneid
%laneid.x
%tid
%tid.x
%tid.w
%tid.a
%nctaid.y
%clusterid.w
%clock
%clock64
%clock64.x
%globaltimer
%globaltimer_lo
%gridid
%gridid.x
%envreg3
%envreg3.y
%pm0
%pm0_64
%is_explicit_cluster
%is_explicit_cluster.x
%current_graph_exec
%dynamic_smem_size
%lanemask_lt
""")
# Special registers of several numbers, and what stands beside a special register in braces.
SPECIAL_VECTORS = put_in(SPECIAL_FRAME, """
mov.v4.u32 {r, r, r, r}, %tid
mov.v4.b32 {r, r, r, r}, %ctaid
mov.v4.u16 {h, h, h, h}, %tid
mov.v4.u32 {r, _, r, _}, %clusterid
mov.v4.f32 {f, f, f, f}, %tid
mov.v4.b64 {q, q, q, q}, %tid
mov.v2.u32 {r, r}, %tid
mov.v2.u32 {r, r}, {%tid.x, %tid.y}
mov.b64 q, {%tid.x, %tid.y}
mov.b64 q, {r, %is_explicit_cluster}
mov.b64 q, {%is_explicit_cluster, f}
st.global.v2.b32 [q], {%laneid, r}
st.global.v2.b16 [q], {%tid.x, h}
st.global.v4.b32 [q], %tid
st.global.b32 [q], %laneid
add.u32 r, r, %tid.x
""")
# Variables in braces.
IN_BRACES = put_in(
    ".global .b16 g16; .global .b32 g; .global .u32 u; .global .f32 gf; .global .b64 g64; .global .b32 a[4]; .shared .b32 s; "
    ".entry k(.param .b32 m) { .local .b32 l; .reg .b16 h; .reg .b32 r; .reg .u32 w; .reg .b64 q; .reg .f32 f; @; ret; }",
    """
mov.b64 q, {g16, r}
mov.b64 q, {g, r}
mov.b64 q, {r, u}
mov.b64 q, {gf, r}
mov.b64 q, {gf, w}
mov.b64 q, {u, f}
mov.b64 q, {g64, r}
mov.b64 q, {a, r}
mov.b64 q, {s, r}
mov.b64 q, {l, r}
mov.b64 q, {m, r}
mov.b64 q, {g, g}
mov.b32 r, {g16, h}
mov.b32 r, {g, h}
mov.b64 q, {g16, h, h, h}
mov.b64 q, {g+4, r}
""",
)
# The same at every version, with the target.
OLD_READS = [
    f"{target} {SPECIAL_FRAME.replace('@', read)}"
    for target in ("13", "20", "90")
    for read in ("mov.u16 h, %tid.x", "mov.u16 h, %laneid", "mov.u16 h, %clock", "mov.u16 h, %gridid", "mov.u32 r, %gridid",
                 "mov.u64 q, %gridid", "mov.u32 r, %laneid.x", "mov.b32 r, {%tid.x, h}")
]

# Whole modules: the order of the header.
HEADERS = alternatives(r"""
.version 8.8\n.target sm_90\n.address_size 64
.version 8.8\n.address_size 64\n.target sm_90
.target sm_90\n.version 8.8\n.address_size 64
.address_size 64\n.version 8.8\n.target sm_90
.version 8.8\n.target sm_90\n.address_size 64\n.target sm_90
.version 8.8\n.target sm_90\n.target sm_90\n.address_size 64
.version 8.8\n.target sm_90\n.target sm_80\n.address_size 64
.version 8.8\n.target sm_80\n.target sm_90\n.address_size 64
.version 8.8\n.target sm_90\n.address_size 64\n.address_size 64
.version 8.8\n.target sm_80\n.address_size 64\n.address_size 32
.version 8.8\n.version 8.8\n.target sm_90\n.address_size 64
.version 8.8\n.target sm_90\n.version 8.8\n.address_size 64
.version 8.8\n.target sm_90\n.address_size 64\n.version 8.8
.version 8.8\n.target sm_90\n.address_size 64\n.global .b32 g; .version 8.8
.version 8.8\n.target sm_90\n.address_size 64\n.global .b32 g; .target sm_90
.version 8.8\n.target sm_90\n.address_size 64\n.global .b32 g; .target sm_80
.version 8.8\n.target sm_90\n.address_size 64\n.global .b32 g; .address_size 64
.version 8.8\n.target sm_90\n.global .b32 g; .address_size 64
.version 8.8\n.target sm_90\n.func f() { ret; } .address_size 64
.version 8.8\n.target sm_90\n.file 1 "a" .address_size 64
.version 8.8\n.target sm_90\n.pragma "a"; .address_size 64
.version 8.8\n.global .b32 g;\n.target sm_90\n.address_size 64
.version 8.8\n.file 1 "a"\n.target sm_90\n.address_size 64
.version 8.8\n.pragma "a";\n.target sm_90\n.address_size 64
.version 8.8\n.section .debug_x { .b8 1 }\n.target sm_90\n.address_size 64
.version 8.8\n.target sm_90\n.section .debug_x { .b8 1 }\n.address_size 64
.version 8.8\n.target sm_90, sm_80\n.address_size 64
.version 8.8\n.target sm_90, sm_90\n.address_size 64
.version 8.8\n.target sm_90\n.target texmode_unified\n.address_size 64
.version 8.8\n.target sm_90, texmode_unified\n.address_size 64
.version 8.8\n.target sm_90, texmode_independent\n.address_size 64
.version 8.8\n.target sm_90, texmode_unified, texmode_independent\n.address_size 64
.version 8.8\n.target sm_90, texmode_unified, texmode_unified\n.address_size 64
.version 8.8\n.target sm_90, map_f64_to_f32\n.address_size 64
.version 8.8\n.target compute_90\n.address_size 64
.version 8.8\n.target sm_90,\n.address_size 64
.version 8.8\n.target\n.address_size 64
.version 8.8\n.target sm_90;\n.address_size 64
.version 8.8;\n.target sm_90\n.address_size 64
.version 8.8\n.target sm_90\n.address_size 64;
.version 8.8\n.target sm_90 sm_80\n.address_size 64
.version 8.8\n.address_size 64
.version 8.8\n.target sm_90
.version 8.8\n.target sm_80
.version 8.8\n.target sm_90\n.address_size 16
.version 8.8\n.target sm_90\n.address_size 0x40
.version 8.8\n.target sm_90\n.address_size 64U
.version 8.8\n.target sm_90\n.address_size (64)
.version 8.8\n.target sm_90\n.address_size
.version 8\n.target sm_90\n.address_size 64
.version 8.80\n.target sm_90\n.address_size 64
.version 08.8\n.target sm_90\n.address_size 64
.version 8.8.1\n.target sm_90\n.address_size 64
.version 8 .8\n.target sm_90\n.address_size 64
.version 8.9\n.target sm_90\n.address_size 64
.version -8.8\n.target sm_90\n.address_size 64
.version .8\n.target sm_90\n.address_size 64
.version "8.8"\n.target sm_90\n.address_size 64
.version 8.8 .target sm_90 .address_size 64
.version 8.8\n.target sm_90\n.address_size 64\n.entry k() { .target sm_90; ret; }
.version 8.8\n.target SM_90\n.address_size 64
.version 8.8\n.target "sm_90"\n.address_size 64
.version 8.8\n.target sm_90a, sm_90\n.address_size 64
.version 8.8\n// a\n.target sm_90\n/* b */ .address_size 64
.version 8.8\n# 1 "a"\n.target sm_90\n.address_size 64
.version 8.8\n.loc 1 1 1\n.target sm_90\n.address_size 64
.version 8.8\n@@DWARF x\n.target sm_90\n.address_size 64
.version 8.8\n.extern .func f();\n.target sm_90\n.address_size 64
""")

# What `.target debug` asks for.
HEADERS += [
    r".version 8.8\n.target sm_90, debug\n.address_size 64\n" + rest
    for rest in alternatives(r"""
.entry k() { ret; }
.file 1 "a.cu"\n.entry k() { .loc 1 1 1\n ret; }
.func f() { ret; }
.global .b32 g;
.section .debug_info { .b8 1 }\n.entry k() { ret; }
.section .debug_x { }\n.entry k() { ret; }
.entry k() { ret; }\n.section .debug_info { .b8 1 }
""")
] + [r".version 3.1\n.target sm_20, debug\n.address_size 64\n.section .debug_info { .b8 1 } .entry k() { ret; }"]

# Source lines, and what they say of inlined functions.
LINE_FRAMES = alternatives("""
.file 1 "a.cu" .section .debug_str { L0: .b8 1 } .entry k() { .loc 1 2 3 ret; @ ret; }
.file 1 "a.cu" .section .debug_str { L0: .b8 1 } .entry k() { @ ret; }
.file 1 "a.cu" .func f() { .loc 1 2 3 ret; } .entry k() { @ ret; } .section .debug_str { L0: .b8 1 }
.file 1 "a.cu" .section .debug_str { L0: .b8 1 } @ .entry k() { ret; }
""")
LINES = alternatives("""
.loc 1 2 3
.loc 1 2 0
.loc 1 0 0
.loc 3 2 3
.loc 1 2
.loc 1 2 3;
.loc 1 2 3 4
.loc 1 -2 3
.loc 1 2.0 3
.loc 1 0x2 3
.loc 1 2 4294967296
.loc 1 WARP_SZ 3
.loc 1 2 3, function_name L0, inlined_at 1 2 3
.loc 1 2 3, inlined_at 1 2 3, function_name L0
.loc 1 2 3, function_name L0
.loc 1 2 3, inlined_at 1 2 3
.loc 1 5 3, function_name L0+4, inlined_at 1 2 3
.loc 1 5 3, function_name .debug_str, inlined_at 1 2 3
.loc 1 5 3, function_name .debug_str+4, inlined_at 1 2 3
.loc 1 5 3, function_name .debug_foo, inlined_at 1 2 3
.loc 1 5 3, function_name L1, inlined_at 1 2 3
.loc 1 5 3, function_name k, inlined_at 1 2 3
.loc 1 5 3, function_name "k", inlined_at 1 2 3
.loc 1 5 3, function_name L0, inlined_at 3 2 3
.loc 1 5 3, function_name L0, inlined_at 1 9 9
.loc 1 5 3, function_name L0, inlined_at 2 2 3
.loc 1 5 3 function_name L0, inlined_at 1 2 3
.loc 1 5 3, function_name L0 inlined_at 1 2 3
.loc 1 5 3, function_name L0-4, inlined_at 1 2 3
.loc 1 5 3, function_name L0+-4, inlined_at 1 2 3
.loc 1 5 3, function_name L0, inlined_at 1 2
""")

# Strings.
STRINGS = [
    frame.replace("@", string)
    for frame in (".file 1 @ .entry k() { ret; }", ".entry k() { .pragma @; ret; }")
    for string in (r'"a\nb"', '"a', "'a'", '"a""b"', '""', r'"a\"b"', r'"a\\"', r'"a\\\nb"', r'"a\"', r'"a\b"')
]

# Calls, and prototypes.
CALLS = alternatives("""
.func f() { ret; } .entry k() { .reg .b64 q; { p: .callprototype _ (.param .b32 _); } p: .callprototype _ (); call q, (), p; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; p: .callprototype _ (); { p: .callprototype _ (.param .b32 _); } call q, (), p; ret; }
.func f() { ret; } .global .u64 tbl[2] = {f, f}; .entry k() { .reg .b64 q; call q, (), tbl; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; t: p: .callprototype _ (); call q, (), t; ret; }
.func f() { ret; } .entry k() { .reg .b16 h; p: .callprototype _ (); call h, (), p; ret; }
.func f() { ret; } .entry k() { call f+4; ret; }
.func f(.param .b32 a) { ret; } .entry k(.param .b32 x) { call f, (x); ret; }
.func f(.reg .b32 a) { ret; } .entry k(.param .b32 x) { call f, (x); ret; }
.func f(.param .b32 a) { ret; } .func g(.param .b32 x) { call f, (x); ret; }
.func f(.param .b32 a) { ret; } .func (.param .b32 x) g() { call f, (x); ret; }
.func (.param .b32 a) f() { ret; } .func (.param .b32 x) g() { call (x), f; ret; }
.func (.param .b32 a) f() { ret; } .func g(.param .b32 x) { call (x), f; ret; }
.func (.param .b32 a) f() { ret; } .entry k(.param .b32 x) { call (x), f; ret; }
.func f(.param .b8 a[4]) { ret; } .entry k(.param .b8 x[4]) { call f, (x); ret; }
.func f(.param .b32 a) { ret; } .entry k() { .param .b32 x; call f, (x); ret; }
.func f() { ret; } .entry k() { call f; ret; }
.func f() { ret; } .entry k() { call f (); ret; }
.func f() { ret; } .entry k() { call f, (); ret; }
.func f() { ret; } .entry k() { call (), f; ret; }
.func f() { ret; } .entry k() { call (), f, (); ret; }
.func f() { ret; } .entry k() { call () f (); ret; }
.func f() { ret; } .entry k() { call; ret; }
.func f() { ret; } .entry k() { call (); ret; }
.func f() { ret; } .entry k() { call f, (), f; ret; }
.func f() { ret; } .entry k() { call f, f; ret; }
.func f() { ret; } .entry k() { call f, x; ret; }
.func f() { ret; } .entry k() { call.uni f; ret; }
.func f() { ret; } .entry k() { p: .callprototype _ (); call f, (), p; ret; }
.func f() { ret; } .entry k() { p: .callprototype _ (); call f, p; ret; }
.func f() { ret; } .entry k() { p: .callprototype _ (.param .b32 _); call f, (), p; ret; }
.func f(.param .b32 a) { ret; } .entry k() { .param .b32 x; p: .callprototype _ (.param .b32 _); call f, (x), p; ret; }
.func f() { ret; } .entry k() { t: .calltargets f; call f, (), t; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; t: .calltargets f; mov.u64 q, f; call q, (), t; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; t: .calltargets f; mov.u64 q, f; call q, t; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; p: .callprototype _ (); mov.u64 q, f; call q, (), p; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; p: .callprototype _ (); mov.u64 q, f; call q, p; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; p: .callprototype _ (); mov.u64 q, f; call (), q, (), p; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; p: .callprototype _ (.param .b32 _); mov.u64 q, f; call q, (), p; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; p: .callprototype _ (); mov.u64 q, f; call q, (q), p; ret; }
.func f() { ret; } .entry k() { .reg .b32 r; p: .callprototype _ (); call r, (), p; ret; }
.func f() { ret; } .entry k() { .reg .f64 d; p: .callprototype _ (); call d, (), p; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; call q, (), f; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; L: call q, (), L; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; call q, (), q; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; t: .branchtargets t; call q, (), t; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; call q, (); ret; }
.func f() { ret; } .entry k() { .reg .b64 q; call q, (), nothing; ret; }
.func f() { ret; } .entry k() { .reg .b64 q; call q, (), p; p: .callprototype _ (); ret; }
.func f() { ret; } .entry k() { .reg .b64 q; { p: .callprototype _ (); } call q, (), p; ret; }
.entry k() { p: .callprototype _ (); ret; }
.entry k() { p: .callprototype f (); ret; }
.entry k() { p: .callprototype p (); ret; }
.entry k() { p: .callprototype (.param .b32 _) f (); ret; }
.entry k() { p: .callprototype (.param .b32 _) _ (); ret; }
.entry k() { p: .callprototype (.param .b32 _) (.param .b32 _); ret; }
.entry k() { p: .callprototype () _ (); ret; }
.entry k() { p: .callprototype _ (.param .b32 a); ret; }
.entry k() { p: .callprototype (.param .b32 a) _ (.param .b32 a); ret; }
.func f() { ret; } .entry k() { call f, (_); ret; }
.func f() { ret; } .entry k() { call (_), f; ret; }
.func f() { ret; } .entry k() { .reg .b32 r; call f, r; ret; }
.func f(.reg .b32 a) { ret; } .entry k() { .reg .b32 r; call f, r; ret; }
.func f(.reg .b32 a) { ret; } .entry k() { .reg .b32 r; call f, (r), (r); ret; }
.func f(.reg .b32 a) { ret; } .entry k() { .reg .b32 r; call f (r); ret; }
.func f(.reg .b32 a) { ret; } .entry k() { .reg .b32 r; call f, [r]; ret; }
.func f(.reg .b32 a) { ret; } .entry k() { .reg .b32 r; call f, {r}; ret; }
.entry k() { call k; ret; }
.entry e() { ret; } .entry k() { call e; ret; }
.entry k() { .reg .pred p; @p call k; ret; }
.entry k() { L: call L; ret; }
.global .b32 g; .entry k() { call g; ret; }
.entry k() { call nothing; ret; }
.entry k() { call f; ret; } .func f() { ret; }
.func f(); .entry k() { call f; ret; } .func f() { ret; }
.entry k() { call 4; ret; }
.entry k() { call %clock64; ret; }
.entry k(.param .u64 x) { call x, (); ret; }
.func f(.param .b32 a) { ret; } .entry k(.param .b32 x) { .param .b32 y; call f, (y), ; ret; }
.func f(.param .b32 a, .param .b32 b) { ret; } .entry k(.param .b32 x) { .param .b32 y; call f, (y, x); ret; }
.func f(.param .b32 a) { ret; } .entry k(.param .b32 x) { .reg .b64 q; p: .callprototype _ (.param .b32 _); call q, (x), p; ret; }
.func f(.param .b32 a) { ret; } .func g(.param .b32 x) { .reg .b64 q; p: .callprototype _ (.param .b32 _); call q, (x), p; ret; }
""")
# Values that are too narrow.
NARROW_TYPES = [".b8", ".u8", ".s8", ".b16", ".u16", ".s16", ".f16", ".pred", ".b32"]
NARROW = [
    frame.replace("@", f".{space} {ty}")
    for space in ("reg", "param")
    for ty in (NARROW_TYPES if space == "reg" else NARROW_TYPES[:-2])
    for frame in (
        ".func f(@ x) { ret; }", ".func (@ x) f() { ret; }", ".extern .func f(@ x); .entry k() { ret; }",
        ".extern .func f(@ x); .entry k() { .reg .pred p; @ y; call f, (y); ret; }",
        ".entry k() { .reg .b64 q; @ y; t: .callprototype _ (@ _); call q, (y), t; ret; }",
        ".entry k() { .reg .b64 q; @ y; t: .callprototype (@ _) _ (); call (y), q, (), t; ret; }",
    )
] + [".func f(.param .u16 x[4]) { ret; }", ".func f(.reg .v2 .u8 x) { ret; }"]
THROUGH_FRAMES = [
    f".entry k() {{ .reg .b32 r; .reg .f32 f; .reg .b64 q; .reg .pred p; .param .b32 x; .param .f32 y; .param .b8 z[4]; "
    f".param .align 8 .b8 a[4]; t: .callprototype {prototype}; call {call}, t; ret; }}"
    for formal in (".param .b32 _", ".param .f32 _", ".param .b64 _", ".param .b8 _[4]", ".param .align 8 .b8 _[4]", ".param .align 8 .b32 _",
                   ".reg .b32 _", ".reg .f32 _")
    for prototype, call in ((f"_ ({formal})", "q, (@)"), (f"({formal}) _ ()", "(@), q, ()"))
]
VALUES = ["r", "f", "q", "p", "x", "y", "z", "a", "4", "1.0", "_", "%clock64"]

# Textures and surfaces.
IMAGE_FRAME = (
    ".global .texref t; .global .surfref s; .global .texref a[2]; .global .b64 g; .entry k(.param .texref m, .param .b64 n) { .reg .pred p; "
    ".reg .b16 h; .reg .b32 r; .reg .u32 u; .reg .b64 q; .reg .u64 w; .reg .f32 f; .reg .f64 d; .reg .v2 .f32 v; .reg .v4 .b32 c; @; ret; }"
)
IMAGES = [
    line.replace("@", name)
    for line in alternatives("""
tex.1d.v4.f32.s32 {r, r, r, r}, [@, {r}]
txq.width.b32 r, [@]
suld.b.1d.b32.trap r, [@, {r}]
sust.b.1d.b32.trap [@, {r}], r
sured.b.add.1d.u32.trap [@, {r}], r
suq.width.b32 r, [@]
""")
    for name in ("t", "s", "a", "g", "m", "n", "q", "w", "r", "h", "d", "p", "q+8", "4", "a[1]", "nothing")
] + [
    f"tex{geometry}.v4.f32.{kind} {{r, r, r, r}}, [q, {{{', '.join(coordinates)}}}]"
    for geometry in (".1d", ".2d", ".3d", ".a1d", ".a2d", ".cube", ".acube")
    for kind, one in (("f32", "f"), ("s32", "r"))
    if "cube" not in geometry or kind == "f32"
    for count in (1, 2, 3, 4)
    for coordinates in [["r", *[one] * (count - 1)] if ".a" in geometry else [one] * count]
] + [
    f"suld.b{geometry}.b32.trap r, [q, {{{', '.join(['r'] * count)}}}]"
    for geometry in (".1d", ".2d", ".3d", ".a1d", ".a2d")
    for count in (1, 2, 3, 4)
] + alternatives("""
tex.2d.v4.f32.f32 {r, r, r}, [q, {f, f}]
tex.2d.v4.f32.f32 {f, f}, [q, {f, f}]
tex.2d.v4.f32.f32 f, [q, {f, f}]
tex.2d.v4.f32.f32 c, [q, v]
tex.2d.v4.f32.f32 {f, _, _, f}, [q, {f, f}]
tex.2d.v4.f32.f32 {_, _, _, _}, [q, {f, f}]
tex.2d.v4.f32.f32 {f, f, f, f}|p, [q, {f, f}]
tex.2d.v4.f32.f32 {u, u, u, u}, [q, {f, f}]
tex.2d.v4.f32.f32 {d, d, d, d}, [q, {f, f}]
tex.2d.v4.f32.f32 {h, h, h, h}, [q, {f, f}]
tex.2d.v4.f32.f32 {f, f, f, f}, [q, {d, d}]
tex.2d.v4.f32.f32 {f, f, f, f}, [q, {1.0, 1.0}]
tex.2d.v4.f32.f32 {f, f, f, f}, [q], {f, f}
tex.2d.v4.f32.f32 {f, f, f, f}, q, {f, f}
tex.2d.v4.f32.f32 {f, f, f, f}, [q, q, {f, f}]
tld4.r.2d.v4.f32.f32 {f, f, f, f}, [q, {f, f}]
tld4.r.2d.v4.f32.f32 {f, f, f, f}, [r, {f, f}]
tld4.r.2d.v4.f32.f32 {f, f, f, f}, [q, {f}]
suld.b.1d.b32.trap q, [q, {r}]
suld.b.1d.b32.trap h, [q, {r}]
suld.b.1d.b8.trap h, [q, {r}]
suld.b.1d.b32.trap r, [q, {h}]
suld.b.1d.b32.trap r, [q, {q}]
suld.b.1d.v2.b32.trap {r, r}, [q, {r}]
suld.b.1d.v4.b32.trap {r, r}, [q, {r}]
suld.b.1d.v2.b32.trap r, [q, {r}]
sust.b.1d.b32.trap [q, {r}], h
sust.b.1d.b32.trap [q, {r}], 4
sust.b.1d.v2.b32.trap [q, {r}], {r, r}
txq.width.b32 q, [q]
txq.width.b32 f, [q]
txq.width.b32 r, q
ld.global.b64 q, [t]
st.global.b64 [s], q
""")
INDEPENDENT = [
    r".version 8.8\n.target sm_90, texmode_independent\n.address_size 64\n"
    + f".global .texref t; .global .samplerref s; .entry k() {{ .reg .b32 r; .reg .b64 q; .reg .f32 f; {line}; ret; }}"
    for line in alternatives("""
tex.2d.v4.f32.f32 {f, f, f, f}, [t, s, {f, f}]
tex.2d.v4.f32.f32 {f, f, f, f}, [q, q, {f, f}]
tex.2d.v4.f32.f32 {f, f, f, f}, [q, r, {f, f}]
tex.2d.v4.f32.f32 {f, f, f, f}, [q, t, {f, f}]
tex.2d.v4.f32.f32 {f, f, f, f}, [q, {f, f}]
tex.2d.v4.f32.f32 {f, f, f, f}, [s, s, {f, f}]
txq.filter_mode.b32 r, [s]
txq.filter_mode.b32 r, [t]
txq.width.b32 r, [s]
txq.width.b32 r, [t]
""")
]

# Cache hints, eviction priorities and sizes of prefetches in each state space, and beside cache operators.
HINT_FRAME = ".entry k() { .reg .b16 h; .reg .b32 r; .reg .b64 q; .reg .f32 f; @; ret; }"
PRIORITIES = [".L1::evict_normal", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate"]
HINTS = [
    line.format(space)
    for space in ("", ".global", ".shared", ".shared::cta", ".shared::cluster", ".local", ".const", ".param")
    for line in (
        *(f"ld{{}}{word}.b32 r, [q]" for word in (*PRIORITIES, ".L1::evict_unchanged", ".L2::64B", ".L2::128B", ".L2::256B")),
        *(f"st{{}}{word}.b32 [q], r" for word in PRIORITIES),
        *(f"ld.{word}{{}}.L2::128B.b32 r, [q]" for word in ("weak", "volatile", "relaxed.gpu")),
        "ld{}.L2::cache_hint.b32 r, [q], q", "st{}.L2::cache_hint.b32 [q], r, q", "ld.acquire.gpu{}.L1::evict_last.b32 r, [q]",
        "st.relaxed.gpu{}.L1::evict_last.b32 [q], r", "atom{}.add.L2::cache_hint.u32 r, [q], r, q",
        "atom{}.exch.L2::cache_hint.b64 q, [q], q, q", "red{}.add.L2::cache_hint.f32 [q], f, q",
        "atom{}.cas.L2::cache_hint.b16 h, [q], h, h, q", "atom{}.cas.L2::cache_hint.b32 r, [q], r, r, q",
        "atom{}.cas.L2::cache_hint.b64 q, [q], q, q, q",
        *(f"ld{{}}{word}.L2::128B.L2::cache_hint.b32 r, [q], q" for word in (".ca", ".cv", ".L1::evict_last")),
    )
] + [
    f"ld.global{operator}{word}.b32 r, [q]"
    for operator in (".ca", ".cg", ".cs", ".lu", ".cv", ".nc", ".ca.nc", ".cs.nc")
    for word in (".L1::evict_last", ".L1::no_allocate", ".L2::128B")
] + [f"st.global{operator}{word}" for operator in (".wb", ".cg", ".cs", ".wt") for word in (".L1::evict_last.b32 [q], r", ".L2::cache_hint.b32 [q], r, q")]

# What says how long lines of the caches are kept, and how many registers a group of warps has.
LINES_FRAME = ".global .align 128 .b8 g[128]; .entry k() { .reg .b32 r; .reg .b64 q; .reg .f32 f; @; ret; }"
KEPT = [".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged"]
KEPT_LINES = [
    *(
        f"{opcode}{space}{level} {operands}"
        for opcode, levels in (("discard", ["", ".L2", ".L1"]), ("applypriority", ["", *KEPT, ".L1::evict_normal"]))
        for space in ("", ".global", ".local", ".shared")
        for level in levels
        for operands in ("[q], 128", "[g+4], 64", "[q], 256", "[q], r", "[q]", "q, 128")
    ),
    *(
        f"createpolicy{kind}{first}{second}{ty} q{operands}"
        for kind in ("", ".fractional", ".foo")
        for first in ("", *KEPT)
        for second in ("", ".L2::evict_first", ".L2::evict_unchanged", ".L2::evict_last")
        for ty in ("", ".b64", ".b32")
        for operands in ("", ", 1.0")
    ),
    *(
        f"createpolicy.fractional.L2::evict_last.b64 {operands}"
        for operands in ("q, 0.5", "q, 0.0", "q, 2.0", "q, -0.5", "q, f", "q, 1", "q, 0f3F000000", "r, 0.5", "f", "q, 0.5, 0.5", "")
    ),
    *(
        f"createpolicy.range{space}{first}{second}.b64 q, [q], {sizes}"
        for space in ("", ".global", ".shared")
        for first in ("", *KEPT)
        for second in ("", ".L2::evict_first", ".L2::evict_unchanged", ".L2::evict_last")
        for sizes in ("r, r", "4, 8", "q, r", "r")
    ),
    *(
        f"createpolicy{kind} {operands}"
        for kind in (".cvt.L2.b64", ".cvt.b64", ".cvt.L2", ".L2.b64", ".cvt.L2.b32")
        for operands in ("q, q", "q, r", "q, 4", "q", "r, q")
    ),
]
REGISTER_COUNTS = [
    *(f"setmaxnreg.{kind}.sync.aligned.u32 {count}" for kind in ("inc", "dec") for count in (0, 8, 16, 24, 25, 28, 32, 240, 248, 256, 264, "r", "1.0", "8+24")),
    *(
        f"setmaxnreg{words} {count}"
        for words in ("", ".foo", ".inc", ".sync.aligned.u32", ".inc.sync.u32", ".inc.aligned.u32", ".inc.sync.aligned", ".inc.dec.sync.aligned.u32", ".inc.sync.aligned.s32")
        for count in ("32", "", "32, 32")
    ),
]


def put(frames, parts):
    for frame, part in itertools.product(frames, parts):
        yield frame.replace("@", part)


def modules():
    yield from put(TARGET_FRAMES, TARGETS)
    yield from put(put([IN_KERNEL], ACCESSES), ADDRESSES)
    yield from put(put([IN_KERNEL], NUMBERS), SYMBOLS)
    yield from put(SPACES, IN_SPACES)
    yield from TWICE
    yield from put(put([SUM_FRAME], TAKE_SUMS), SUMS)
    yield from [*SPECIAL_VECTORS, *IN_BRACES, *NARROW]
    yield from put([IMAGE_FRAME], IMAGES)
    yield from INDEPENDENT
    yield from put([HINT_FRAME], HINTS)
    yield from put([LINES_FRAME], KEPT_LINES)
    yield from CALLS
    yield from put(THROUGH_FRAMES, VALUES)
    yield from HEADERS
    yield from put(LINE_FRAMES, LINES)
    yield from STRINGS
    yield from put(put([SPECIAL_FRAME], READS), SPECIAL)


def questions():
    for items in dict.fromkeys(modules()):
        yield from ((tool, *place, items) for tool, place in PLACES.items())
    for items in put([LINES_FRAME], REGISTER_COUNTS):
        yield from ((tool, version, "90a", items) for tool, (version, _) in PLACES.items())
    yield from at_versions(OLD_READS)


if __name__ == "__main__":
    record(OUT, "statements", "statements.py", list(questions()))
