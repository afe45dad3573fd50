#!/usr/bin/env python3
"""Asks NVIDIA's assembler which declarations and directives it takes, and records the answers.

    dev/verdicts/declarations.py       # writes vectors/edge/ptx/declaration-verdicts.tsv

Needs pip (ptxas.py); modules.py asks. Each case is a module. Sentences that are right are broken in one place: a word is left out, written
twice, put elsewhere, taken for another, or a word comes in between. crates/ptx/tests/declaration_verdicts.rs holds `check`
against the record, without an assembler.
"""

import os

from modules import PLACES, at_versions, record
from ptxas import ROOT

OUT = os.path.join(ROOT, "vectors", "edge", "ptx", "declaration-verdicts.tsv")

PREFIX = [
    ".extern", ".visible", ".weak", ".common", ".reg", ".const", ".const[3]", ".global", ".local", ".param", ".shared", ".tex",
    ".sreg", ".align 8", ".attribute(.managed)", ".v2", ".v4", ".b32", ".pred", ".texref", ".samplerref", ".surfref", ".tensormap",
    ".foo", ".ptr", ".generic", ".bf16",
]
HEADER = [
    ".extern", ".visible", ".weak", ".common", ".entry", ".func", ".global", ".attribute(.unified(1,2))", ".foo", ".b32", ".align 8",
    ".maxntid 4", ".reqntid 4", ".maxnreg 32", ".minnctapersm 1", ".maxnctapersm 3", ".reqnctapercluster 2", ".explicitcluster",
    ".maxclusterrank 2", ".noreturn", ".abi_preserve 4", ".abi_preserve_control 4", ".address_size 64", '.pragma "nounroll";', "()",
    "(.param .b32 p)", "(.reg .b32 p)",
]

# What stands before and behind a sentence, its words, and the words that come in.
SENTENCES = [
    ("", "x;", ".visible .global .attribute(.managed) .align 8 .v2 .b32", PREFIX),
    ("", "x[2];", ".const .align 8 .b32", PREFIX),
    ("", "x;", ".global .b64", PREFIX),
    ("", "x;", ".global .texref", PREFIX),
    ("", "x[];", ".extern .shared .b32", PREFIX),
    (".entry k() {", "x; ret; }", ".shared .align 8 .v2 .b32", PREFIX),
    (".entry k() {", "x; ret; }", ".reg .v2 .b32", PREFIX),
    (".entry k() {", "x[4]; ret; }", ".local .align 8 .b8", PREFIX),
    (".entry k() {", "x; ret; }", ".param .b32", PREFIX),
    (".entry k(", "x[4]) { ret; }", ".param .align 8 .b8", PREFIX),
    (".entry k(", "x) { ret; }", ".param .u64 .ptr .global .align 8", PREFIX),
    (".entry k(", "x) { ret; }", ".param .surfref", PREFIX),
    (".func f(", "x) { ret; }", ".param .align 8 .b32", PREFIX),
    (".func f(", "x) { ret; }", ".reg .b32", PREFIX),
    (".func (", "x) f() { ret; }", ".param .align 8 .b64", PREFIX),
    (".func (", "x) f() { ret; }", ".reg .b32", PREFIX),
    (".entry k() { c: .callprototype _ (", "_); ret; }", ".param .align 8 .b32", PREFIX),
    ("", "{ ret; }", ".visible .entry f (.param .b32 a) .maxntid 4 .minnctapersm 1", HEADER),
    ("", "{ ret; }", ".visible .func (.reg .b32 r) f (.reg .b32 a)", HEADER),
    ("", "{ trap; }", ".weak .func .attribute(.unified(1,2)) f () .noreturn", HEADER),
    ("", ";", ".extern .func (.param .b32 r) f (.param .b32 a)", HEADER),
    ("", "{ ret; }", '.entry f .pragma "nounroll"; .maxnreg 32', HEADER),
    (".entry k() { c: .callprototype", "; ret; }", "(.param .b32 _) _ (.param .b32 _)", HEADER),
]

# Whole modules at the same places.
CASES = r"""
.global .foo x = 1;
.global .target gd;
.global .texref t = 5;
.global .texref t = {bogus = wrap};
.global .texref t = {width = 5, height = 3};
.global .texref t = {normalized_coords = 1};
.global .surfref t = {width = 5};
.global .texref t = {addr_mode_0 = wrap, filter_mode = linear, channel_data_type = 3, channel_order = 4};
.global .texref t[3];
.global .texref t, u;
.const .texref t;
.shared .texref t;
.entry k() { .global .texref t; ret; }
.entry k() { .local .texref t; ret; }
.entry k() { .param .texref t; ret; }
.entry k(.param .texref t[2]) { ret; }
.entry k(.param .u64 .ptr a) { ret; }
.entry k(.param .u64 .ptr .shared .align 4 a) { ret; }
.entry k(.param .u64 .ptr .local a) { ret; }
.entry k(.param .u64 .ptr .const a) { ret; }
.entry k(.param .u64 .ptr .align 4 a) { ret; }
.entry k(.param .u32 .ptr .global a) { ret; }
.entry k(.param .b8 .ptr .global a[8]) { ret; }
.entry k(.param .u16 .ptr .global a) { ret; }
.entry k(.param .f32 .ptr .global a) { ret; }
.entry k(.param .s64 .ptr .global a) { ret; }
.entry k(.param .b64 .ptr .global a) { ret; }
.entry k(.param .u64 .ptr .version a) { ret; }
.entry k(.param .u64 .ptr .generic a) { ret; }
.entry k(.param .u64 .ptr .param a) { ret; }
.entry k(.param .u64 .ptr .reg a) { ret; }
.entry k(.param .u64 .ptr .const .const a) { ret; }
.entry k(.param .u64 .ptr .align 4 .global a) { ret; }
.entry k(.param .u64 .ptr .align 4 .align 8 a) { ret; }
.entry k(.param .u64 .ptr .align 3 a) { ret; }
.entry k(.param .u64 .ptr .global .align 4 a[2]) { ret; }
.entry k(.param .align 8 .u64 .ptr .global .align 4 a) { ret; }
.entry k(.param .b32 a[2][3]) { ret; }
.func f(.param .b32 a[2][3]) { ret; }
.func f(.param .b32 a[2], .param .b32 b[]) { ret; }
.func f(.reg .b32 a<3>) { ret; }
.func f(.reg .v2 .b32 a) { ret; }
.func (.reg .v2 .b32 a) f() { ret; }
.func (.reg .b32 a<3>) f() { ret; }
.func f(.param .b32 a<3>) { ret; }
.entry k(.param .b32 a<3>) { ret; }
.func (.param .b32 a[3]) f() { ret; }
.func (.param .b32 a[3][2]) f() { ret; }
.func (.param .b32 a[]) f() { ret; }
.func (.param .b32 a<3>) f() { ret; }
.func f(.reg .b32 a = 5) { ret; }
.entry k(.param .b32 a = 5) { ret; }
.func f(.param .b32 a = 5) { ret; }
.entry k() { c: .callprototype _ (.param .b32 _[2][3]); ret; }
.entry k() { c: .callprototype _ (.reg .b32 _<3>); ret; }
.entry k() { c: .callprototype _ (.param .b32 _, .param .b8 _[]); ret; }
.entry k() { c: .callprototype _; ret; }
.entry k() { c: .callprototype f (); ret; }
.entry k() { c: .callprototype (.param .b32 a) _ (.param .b32 b); ret; }
.entry k() { c: .callprototype _ (.param .u64 .ptr .global a); ret; }
.entry k() { c: .callprototype _ () .abi_preserve 3; ret; }
.entry k() { c: .callprototype _ () .foo; ret; }
.entry k() { c: .callprototype _ () .maxntid 3; ret; }
.entry k() { .reg .b32 x; .callprototype _ (); ret; }
.global .b64 x<4>;
.global .b64 x<4>[2];
.entry k() { .shared .b32 x<4>; ret; }
.entry k() { .local .b32 x<4>; ret; }
.entry k() { .param .b32 x<4>; ret; }
.entry k() { .reg .b32 x<0>; ret; }
.entry k() { .reg .b32 x<4>, y, z<2>; ret; }
.entry k() { .reg .v2 .b32 x<4>; ret; }
.entry k() { .reg .align 8 .b32 x; ret; }
.entry k() { .reg .b32 x<4>[2]; ret; }
.entry k() { .visible .reg .b32 v; ret; }
.entry k() { .visible .shared .b32 v; ret; }
.entry k() { .extern .shared .b32 v[]; ret; }
.entry k() { .weak .global .b32 v; ret; }
.entry k() { .common .global .b32 v; ret; }
.entry k() { .extern .global .b32 v; ret; }
.entry k() { .global .b32 v; ret; }
.entry k() { .global .b32 v = 5; ret; }
.entry k() { .const .b32 v = 5; ret; }
.entry k() { .global .attribute(.managed) .b32 v; ret; }
.entry k() { .shared .b32 v[2][3]; ret; }
.entry k() { .param .b32 v[2][3]; ret; }
.entry k() { .param .align 4 .b8 v[8]; ret; }
.visible .shared .b32 x;
.weak .shared .b32 x;
.common .shared .b32 x;
.extern .shared .align 16 .b8 x[];
.extern .shared .b32 x;
.extern .global .b32 x[];
.extern .const .b32 x[4];
.weak .const .b32 x = 3;
.extern .const .b32 x;
.common .const .b32 x;
.visible .global .align 8 .b8 x[8] = {1, 2, 3};
.global .attribute(.managed) .align 8 .b8 x[8];
.global .attribute(.unified(1,2)) .align 8 .b8 x[8];
.global .attribute(.managed, .unified(1,2)) .b8 x[8];
.global .align 8 .attribute(.managed) .b8 x[8];
.global .attribute(.foo) .f32 u;
.global .attribute() .f32 u;
.global .attribute(.v4(19,95)) .f32 u;
.global .attribute(.managed, .managed) .f32 u;
.global .attribute(.unified) .f32 u;
.global .attribute(.unified(1)) .f32 u;
.global .attribute(.unified(1,2,3)) .f32 u;
.global .attribute(.unified(1,-2)) .f32 u;
.global .attribute(.unified(0x10,2)) .f32 u;
.global .attribute(.managed(1,2)) .f32 u;
.global .attribute(managed) .f32 u;
.global .attribute(5) .f32 u;
.func .attribute(.managed) f() { ret; }
.func .attribute(.foo) f() { ret; }
.entry .attribute(.unified(1,2)) f() { ret; }
.const .attribute(.managed) .b32 u;
.const .attribute(.unified(1,2)) .b32 u;
.shared .attribute(.unified(1,2)) .b32 u;
.global .b8 s[2] = {1, .const};
.global .b8 s[2] = {1, "a"};
.global .b8 s[2] = {1, %r1};
.global .b8 s[2] = "ab";
.global .b8 s[2] = {};
.global .b8 s[2] = {1, 2,};
.global .b32 s = [1];
.global .b32 s = (1, 2);
.global .b32 s = {1};
.global .b32 s = ((3));
.global .b32 s = 3 + 4 * 2;
.global .b32 s = a = 5;
.global .b32 s = _;
.global .b32 s = %tid.x;
.global .b32 a, b = 3, c[2] = {1, 2};
.global .b32 a b;
.global .b32 a,;
.global .b32 ;
.global x;
.global .v3 .b32 x;
.global .v1 .b32 x;
.global .v8 .b16 x;
.global .v2 .b64 x;
.global .v4 .f16 x;
.global .align 8 .align 8 .b32 x;
.global .align .b32 x;
.global .align 0 .b32 x;
.global .align 128 .b32 x;
.global .align 1024 .b32 x;
.global .align (8) .b32 x;
.global .align 4+4 .b32 x;
.func f() .foo { trap; }
.entry f() .foo 3 { trap; }
.func f() .b16 16 { ret; }
.func f() .noreturn .noreturn { trap; }
.func f() .pragma "nounroll"; { trap; }
.entry f() .pragma "nounroll"; { trap; }
.entry f() .pragma "nounroll" { trap; }
.func f() .noreturn;
.func f() .noreturn .pragma "nounroll"; { trap; }
.entry f() .maxntid (2) { ret; }
.entry f() .maxntid 1+1 { ret; }
.entry f() .maxntid 2,2,2 { ret; }
.entry f() .maxntid 2 2 { ret; }
.entry f() .maxntid 4294967297 { ret; }
.entry f() .maxntid 0x20 { ret; }
.entry f() .maxntid 32U { ret; }
.entry f() .maxntid 040 { ret; }
.entry f() .maxntid 1.0 { ret; }
.entry f() .maxntid WARP_SZ { ret; }
.entry f() .maxntid 1024,2,1 { ret; }
.entry f() .maxntid 3 .maxntid 3 { ret; }
.entry f() .maxnreg 32 .maxnreg 32 { ret; }
.entry f() .minnctapersm 1 { ret; }
.entry f() .minnctapersm 1 .maxntid 4 { ret; }
.entry f() .minnctapersm 1 .reqntid 4 { ret; }
.entry f() .reqntid 4 .reqntid 4 { ret; }
.entry f() .explicitcluster .explicitcluster { ret; }
.entry f() .reqnctapercluster 2 .reqnctapercluster 2 { ret; }
.entry f() .maxnctapersm 3 .maxntid 4 { ret; }
.entry f() .version 3 { ret; }
.entry f() .target 3 { ret; }
.entry f() .loc 1 2 3 { ret; }
.entry f() .align 8 { ret; }
.entry f() .maxntid 4;
.entry f();
.entry f
.func f() .visible { ret; }
.func f() .extern
.func f() { ret; }
.func f { ret; }
.func f;
.func f() {} 
.entry (.param .b32 r) f () { ret; }
.common .func f();
.common .entry f() { ret; }
.func .visible f() { ret; }
.weak .entry f() { ret; }
.extern .entry f();
.visible .func f();
.weak .func f();
.extern .visible .func f();
.visible .func .noreturn f() { trap; }
.func () f() { ret; }
.func (.param .b32 r) f { ret; }
.entry f() { .foo; ret; }
.entry f() { .foo 3; ret; }
.entry f() { .address_size 64; ret; }
.entry f() { .reg .b32 %r<3>; .address_size %r1, {%r2}; ret; }
.entry f() { .maxntid 3; ret; }
.entry f() { .noreturn; ret; }
.entry f() { .version 8.0; ret; }
.entry f() { .target sm_90; ret; }
.entry f() { .alias f, f; ret; }
.entry f() { .pragma "nounroll"; ret; }
.entry f() { .pragma "nounroll", "foo"; ret; }
.entry f() { .pragma nounroll; ret; }
.entry f() { .pragma 5; ret; }
.entry f() { .pragma; ret; }
.entry f() { .pragma ""; ret; }
.pragma "nounroll";
.pragma nounroll;
.pragma 5;
.pragma;
.entry f() { x: .branchtargets x; ret; }
.entry f() { t: .branchtargets; ret; }
.entry f() { t: .branchtargets 5; ret; }
.entry f() { x: t: .branchtargets x+1; ret; }
.entry f() { t: .calltargets; ret; }
.entry f() { t: .calltargets 5; ret; }
.entry f() { .branchtargets f; ret; }
.func g() { ret; } .entry f() { .calltargets g; ret; }
.foo;
.foo 3;
.noreturn;
.maxntid 3;
.branchtargets x;
.calltargets x;
.reg;
.ptr;
.address_size 64 .global .b32 x;
.func f() { ret; } .alias g, f;
.func g(); .func f() { ret; } .alias g, f;
.extern .func g(); .func f() { ret; } .alias g, f;
.visible .func g(); .func f() { ret; } .alias g, f;
.weak .func g(); .func f() { ret; } .alias g, f;
.visible .func g(); .visible .func f() { ret; } .alias g, f;
.func g(.param .b32 a); .func f() { ret; } .alias g, f;
.func (.param .b32 a) g(); .func f() { ret; } .alias g, f;
.func (.param .b32 a) g(); .func (.param .b32 a) f() { ret; } .alias g, f;
.func (.param .b32 b) g(); .func (.param .b32 a) f() { ret; } .alias g, f;
.func (.param .b32 b) g(); .func (.param .u32 a) f() { ret; } .alias g, f;
.func g(.param .b32 b); .func f(.param .f32 a) { ret; } .alias g, f;
.func g(.param .b32 b); .func f(.param .b64 a) { ret; } .alias g, f;
.func g(.param .b32 b); .func f(.param .align 8 .b32 a) { ret; } .alias g, f;
.func g(.param .b32 b); .func f(.reg .b32 a) { ret; } .alias g, f;
.func g(.param .b32 b); .func f(.param .b32 a[1]) { ret; } .alias g, f;
.func g() .noreturn; .func f() { ret; } .alias g, f;
.func g(); .func f() .noreturn { trap; } .alias g, f;
.func g; .func f() { ret; } .alias g, f;
.global .b32 f; .global .b32 g; .alias g, f;
.func g() { ret; } .func f() { ret; } .alias g, f;
.func f() { ret; } .alias f, f;
.func g(); .func f() { ret; } .alias g, f, f;
.func g(); .func f() { ret; } .alias g;
.func g(); .func f() { ret; } .alias g, f; .alias g, f;
.func g(); .func h(); .func f() { ret; } .alias g, f; .alias h, f;
.func g(); .func h(); .func f() { ret; } .alias g, f; .alias h, g;
.func g(); .weak .func f() { ret; } .alias g, f;
.func g(); .extern .func f(); .alias g, f;
.func g(); .func f(); .alias g, f;
.func g(); .func f(); .alias g, f; .func f() { ret; }
.func g(); .func f() { ret; } .alias g, f; .func g() { ret; }
.func f() { ret; } .alias g, f; .func g();
.func g(); .alias g, f; .func f() { ret; }
.entry f() { ret; } .func g(); .alias g, f;
.entry f() { ret; } .entry g(); .alias g, f;
.func g(); .entry f() { ret; } .alias g, f;
.func g(); .func f() { ret; } .alias g, 5;
.func g(); .func f() { ret; } .alias g f;
.func g(); .func f() { ret; } .visible .alias g, f;
.func g(); .func f() { ret; } .alias g, f; .entry k() { call g; ret; }
.func g(); .func f() { ret; } .entry k() { call g; ret; } .alias g, f;
.section .debug_x { .reg 5 }
.section .debug_x { .b8 17 17, 1 }
.section .debug_x { 0x3.b8 0 }
.section .debug_x { L0 .b16 5 }
.section .debug_x { L0: .b16 5 }
.section .debug_x { .b8 -4.0 }
.section .debug_x { .b8 256 }
.section .debug_x { .b8 255 }
.section .debug_x { .b8 -1 }
.section .debug_x { .b8 -128 }
.section .debug_x { .b8 -129 }
.section .debug_x { .b16 65535 }
.section .debug_x { .b16 65536 }
.section .debug_x { .b16 -32769 }
.section .debug_x { .b32 4294967295 }
.section .debug_x { .b32 4294967296 }
.section .debug_x { .b32 }
.section .debug_x { .b32 1, 2 }
.section .debug_x { .b32 1,2,  .b8 3 }
.section .debug_x { .b32 1, }
.section .debug_x { .b32 , 1 }
.section .debug_x { .b64 L0 L0: .b8 1 }
.section .debug_x { L0: .b64 L0 }
.section .debug_x { L0: .b64 L0+4 }
.section .debug_x { L0: L1: .b32 L1-L0 }
.section .debug_x { L0: .b64 .debug_x }
.section .debug_x { L0: .b64 .debug_x+4 }
.section .debug_x { .b8 (1) }
.section .debug_x { .b8 1+2 }
.section .debug_x { .b8 0x3 .b16 0x7 .b32 1 .b64 5 }
.section .debug_x { .b8 3U }
.section .debug_x { .u8 3 }
.section .debug_x { .b128 3 }
.section .debug_x { "a" }
.section .debug_x { }
.section debug_x { .b8 1 }
.section .foo { .b8 1 }
.section "x" { .b8 1 }
.section .debug_x { .b8 1 };
.file 6 "b.h"
.file 6.0 "b.h"
.file 6 "b.h", 1, 7
.file 6 "b.h", x, 7
.file 6 "b.h", 1
.file 6 "b.h", 1, 7, 8
.file 6 "b.h", 1.0, 7
.file 6 "b.h", -1, 7
.file -6 "b.h"
.file 0 "b.h"
.file 6 "b.h" .file 6 "b.h"
.file 6 "b.h" .file 6 "c.h"
.file 6 b.h
.file 6
.file "b.h"
.file 6 "b.h";
.file 1+1 "b.h"
.file 6U "b.h"
.file 6 "b.h" .entry k() { .loc 6 1 1 ret; }
.entry k() { .loc 6 1 1 ret; }
.file 6 "b.h" .entry k() { .loc 6 0 0 ret; }
.file 6 "b.h" .entry k() { .loc 6 1 ret; }
.file 6 "b.h" .entry k() { .loc 6 1 3 .loc 6 2 1, function_name FN, inlined_at 6 1 3 ret; } .section .debug_str { FN: .b8 0 }
.file 6 "b.h" .entry k() { .loc 6 1 3 .loc 6 2 1, function_name FN+4, inlined_at 6 1 3 ret; } .section .debug_str { FN: .b8 0 }
.file 6 "b.h" .entry k() { .loc 6 1 3 .loc 6 2 1, function_name .debug_str, inlined_at 6 1 3 ret; } .section .debug_str { FN: .b8 0 }
.file 6 "b.h" .entry k() { .loc 6 1 3 .loc 6 2 1, function_name .debug_str+4, inlined_at 6 1 3 ret; } .section .debug_str { FN: .b8 0 }
.file 6 "b.h" .entry k() { .loc 6 1 3 .loc 6 2 1, inlined_at 6 1 3 ret; } .section .debug_str { FN: .b8 0 }
.global .b32 x; .address_size 64
.entry k(.param .v2 .b32 x) { ret; }
.entry k(.param .v2 .b32 x[2]) { ret; }
.func f(.param .v2 .b32 x[2]) { ret; }
.entry k() { .param .v2 .b32 x[2]; ret; }
.entry k(.param .f16x2 x) { ret; }
.entry k(.param .f16x2 x[2]) { ret; }
.entry k() { .global .texref x[2]; ret; }
.func f(.param .texref x[2]) { ret; }
.global .v2 .texref x;
.global .v2 .texref x[2];
.global .texref x<2>;
.const .surfref x<2>;
.entry k() { .reg .texref x; ret; }
.common .global .texref x;
.common .global .texref x[2];
.global .texref x[2] = {1, 2};
.global .texref t = {depth = 5, array_size = 2, num_mipmap_levels = 3, num_samples = 4, memory_layout = 1};
.global .texref t = {force_unnormalized_coords = 1, addr_mode_1 = mirror, addr_mode_2 = clamp_to_border};
.global .surfref t = {normalized_coords = 1};
.entry f() .maxntid -3 { ret; }
.entry f() .reqnctapercluster 4294967297 { ret; }
.func f() .abi_preserve 5000000000 { ret; }
.func f() .abi_preserve 4 .abi_preserve 4 { ret; }
.func f() .abi_preserve 4 .abi_preserve_control 4 .abi_preserve 5 { ret; }
.func f() .abi_preserve_control 4 .abi_preserve 5 { ret; }
.func f() .abi_preserve 4 .noreturn { trap; }
.func f() .noreturn .abi_preserve 4 .noreturn { trap; }
.func g(.param .b32 a); .func f(.param .b32 b) { ret; } .alias g, f;
.func g(.param .align 4 .b32 a); .func f(.param .b32 b) { ret; } .alias g, f;
.func g(.param .b8 a[4]); .func f(.param .b8 b[4]) { ret; } .alias g, f;
.func g(.param .b8 a[4]); .func f(.param .b8 b[8]) { ret; } .alias g, f;
.func g(.param .b8 a[]); .func f(.param .b8 b[]) { ret; } .alias g, f;
.func g(.reg .b32 a); .func f(.reg .b32 b) { ret; } .alias g, f;
.func g(.reg .u32 a); .func f(.reg .b32 b) { ret; } .alias g, f;
.func g() .noreturn; .func f() .noreturn { trap; } .alias g, f;
.func f() { ret; } .func g(); .func g() { ret; } .alias g, f;
.func f() { ret; } .func g(); .alias g, f; .func g() { ret; }
.func g(); .weak .func f(); .func f() { ret; } .alias g, f;
.func g(); .extern .func f(); .func f() { ret; } .alias g, f;
.func f(); .func h(); .func g() { ret; } .alias f, g; .alias h, g; .entry k() { call f; call h; ret; }
.func g(); .visible .func f() { ret; } .alias g, f;
.section .debug_x { .b8 L0 L0: .b8 1 }
.section .debug_x { .b16 L0 L0: .b8 1 }
.section .debug_x { .b32 L0-4 L0: .b8 1 }
.section .debug_x { .b32 L0+L0 L0: .b8 1 }
.section .debug_x { .b32 .debug_x-4 }
.section .debug_x { .b32 .debug_x-.debug_x }
.section .debug_x { .b32 .foo }
.section .debug_x { .b32 L0+-4 L0: .b8 1 }
.section .debug_x { .b64 -1, -5 }
.section .debug_x { .b32 - 1 }
.section .debug_x { .b32 1.0 }
.section .debug_x { .b64 18446744073709551616 }
.section .debug_x { .b64 -18446744073709551615 }
.section .debug_x { L0: L0: .b8 1 }
.section .debug_x { L0: }
.section .debug_x { .b64 f } .func f() { ret; }
.func f() { L: ret; } .section .debug_x { .b64 L }
.entry f() { L: ret; } .section .debug_x { .b64 L }
.func f() { ret; } .section .debug_x { .b64 f }
.global .b32 v; .section .debug_x { .b64 v }
.global .b32 v; .section .debug_x { .b64 generic(v) }
.file 5 "a.h" .file 6 "b.h"
.file 6 "b.h" .global .b32 x; .file 6 "b.h"
.entry k() { .file 7 "x" ret; }
.global .attribute(.unified(1,WARP_SZ)) .f32 u;
.global .attribute(.unified(1,18446744073709551615)) .f32 u;
.global .attribute(.unified(4294967296,2)) .f32 u;
.global .attribute(.unified(1+1,2)) .f32 u;
.global .texref t = {width = 1};
.global .texref t = {height = 1};
.global .texref t = {depth = 1};
.global .texref t = {channel_data_type = 1};
.global .texref t = {channel_order = 1};
.global .texref t = {force_unnormalized_coords = 1};
.global .texref t = {filter_mode = 1};
.global .texref t = {addr_mode_0 = 1};
.global .texref t = {addr_mode_1 = 1};
.global .texref t = {addr_mode_2 = 1};
.global .texref t = {array_size = 1};
.global .texref t = {num_mipmap_levels = 1};
.global .texref t = {num_samples = 1};
.global .texref t = {memory_layout = 1};
.global .surfref t = {width = 1};
.global .surfref t = {height = 1};
.global .surfref t = {depth = 1};
.global .surfref t = {channel_data_type = 1};
.global .surfref t = {channel_order = 1};
.global .surfref t = {force_unnormalized_coords = 1};
.global .surfref t = {filter_mode = 1};
.global .surfref t = {addr_mode_0 = 1};
.global .surfref t = {addr_mode_1 = 1};
.global .surfref t = {addr_mode_2 = 1};
.global .surfref t = {array_size = 1};
.global .surfref t = {num_mipmap_levels = 1};
.global .surfref t = {num_samples = 1};
.global .surfref t = {memory_layout = 1};
.global .texref t[2] = {{width = 3}, {width = 4}};
.global .texref t[2] = {{width = 3}};
.global .texref t = {};
.entry k() { .section .debug_x { .b8 1 } ret; }
.section .debug_x { .b64 -9223372036854775809 }
.section .debug_x { .b32 -4294967297 }
.section .debug_x { L0: .b8 1 } .section .debug_y { L0: .b8 1 }
""".strip("\n").split("\n")

# Modules at every version, with the target.
VERSIONED = r"""
20 .address_size 64 .global .b32 x;
20 .extern .const[3] .b32 v[]; .entry f() { ret; }
20 .const[3] .b32 v;
20 .const[0] .b32 v;
20 .const .b32 v;
20 .entry f() { .const .b32 v; ret; }
20 .entry f() .maxnctapersm 3 .maxntid 4 { ret; }
20 .entry f() .maxnctapersm 3 { ret; }
50 .entry f() .maxnctapersm 3 .maxntid 4 { ret; }
20 .entry f() .minnctapersm 3 .maxntid 4 { ret; }
20 .entry f() .maxnreg 16 { ret; }
20 .entry f() .maxntid 16 { ret; }
20 .entry f() .reqntid 16 { ret; }
20 .entry f() .pragma "nounroll"; { ret; }
20 .func f() .pragma "nounroll"; { ret; }
20 .entry f() { .pragma "foo"; ret; }
20 .pragma "nounroll";
20 .section .x { L1: .b8 0 L0: .b32 L1-L0 }
20 .section .x { .b8 -1 }
20 .section .x { L1: .b32 L1+4 }
20 .section .x { L1: .b32 L1 }
20 .section .x { .b8 1 }
20 .section .x { .b64 .x }
20 .section .x { .b64 .x+1 }
20 .section .x { .b16 1, 2 }
20 .file 1 "a" .entry f() { .loc 1 2 3 ret; }
20 .file 1 "a", 1, 7
20 .global .texref t;
20 .global .surfref t;
20 .global .texref t = {width = 5};
20 .entry k(.param .texref t) { ret; }
20 .entry k(.param .surfref t) { ret; }
20 .entry k(.param .u32 .ptr .global .align 4 a) { ret; }
20 .entry k(.param .u32 .ptr a) { ret; }
20 .entry k(.param .u32 .ptr .align 4 a) { ret; }
20 .func f(.reg .b32 a) { ret; }
20 .func f(.param .b32 a) { ret; }
20 .entry f(.param .b32 a[2][3]) { ret; }
20 .visible .shared .b32 x; .entry f() { ret; }
20 .extern .shared .b32 x[]; .entry f() { ret; }
20 .entry f() { .global .b32 v; ret; }
20 .entry f() { c: .callprototype _ (); ret; }
20 .func g() { ret; } .entry f() { c: .calltargets g; ret; }
20 .global .v4 .b32 x;
20 .global .b32 x[2][3];
50 .func g(); .func f() { ret; } .alias g, f;
50 .func f() .noreturn { trap; }
90 .entry f() .explicitcluster { ret; }
90 .func f() .abi_preserve 3 { ret; }
20 .entry k() { .section .x { .b8 1 } ret; }
20 .entry k() { .file 1 "a" ret; }
20 .section .x { .b64 -9223372036854775808 }
""".strip("\n").split("\n")


# Special registers, a line for those of one gate, and the targets at which they are read.
SPECIAL = """
tid.x ntid.y ctaid.z nctaid.w gridid clock
laneid warpid smid pm0 pm1 pm2 pm3
nwarpid nsmid lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt
clock_hi
pm4 pm5 pm6 pm7
envreg0 envreg31
total_smem_size dynamic_smem_size
aggr_smem_size
clusterid.x nclusterid.y cluster_ctaid.z cluster_nctaid.x cluster_ctarank cluster_nctarank
globaltimer_lo globaltimer_hi
reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap reserved_smem_offset_0 reserved_smem_offset_1
clock64
globaltimer
pm0_64 pm7_64
current_graph_exec
is_explicit_cluster
"""
SPECIAL_TARGETS = ("13", "20", "30", "50", "75", "80", "90")


def special_registers():
    for names in SPECIAL.strip().split("\n"):
        wide = names in ("clock64", "globaltimer", "pm0_64 pm7_64", "current_graph_exec")
        ty, register = ("pred", "p") if names.startswith("is_") else ("u64", "q") if wide else ("u32", "r")
        moves = " ".join(f"mov.{ty} {register}, %{name};" for name in names.split())
        for target in SPECIAL_TARGETS:
            yield f"{target} .entry k() {{ .reg .pred p; .reg .u32 r; .reg .u64 q; {moves} ret; }}"


def words(sentence):
    """Its words; what stands in parentheses and the number behind a word are one with it."""
    found, depth = [], 0
    for word in sentence.split():
        is_number = word.isdigit() or word.startswith('"')
        if depth or is_number and found:
            found[-1] += " " + word
        else:
            found.append(word)
        depth += word.count("(") - word.count(")")
    return found


def broken(sentence, others):
    parts = words(sentence)
    count = len(parts)
    yield parts
    for at in range(count):
        yield parts[:at] + parts[at + 1 :]
        for to in range(at + 1, count):
            swapped = list(parts)
            swapped[at], swapped[to] = parts[to], parts[at]
            yield swapped
    for at in range(count + 1):
        for other in dict.fromkeys([*others, *parts]):
            yield parts[:at] + [other] + parts[at:]
            if at < count:
                yield parts[:at] + [other] + parts[at + 1 :]


def questions():
    sentences = []
    for before, behind, sentence, others in SENTENCES:
        for parts in broken(sentence, others):
            sentences.append(" ".join(part for part in (before, *parts, behind) if part))
    for items in dict.fromkeys([*sentences, *CASES]):
        yield from ((tool, *place, items) for tool, place in PLACES.items())
    yield from at_versions([*VERSIONED, *special_registers()])


if __name__ == "__main__":
    record(OUT, "declarations and directives", "declarations.py", list(questions()))
