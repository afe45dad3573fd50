//! The rows of arithmetic, and what all rows share.

use super::{Row, WordGate, since};
use roundonce_isa::{Gate, Range, Variants, Version};

pub(super) const fn row(names: &'static str, modifiers: &'static str, operands: &'static str, gate: Gate) -> Row {
    Row { names, modifiers, operands, gate }
}
const fn word(names: &'static str, words: &'static str, gate: Gate) -> WordGate {
    WordGate { names, words, gate }
}
/// Up to a PTX version.
pub(super) const fn until(major: u16, minor: u16) -> Gate {
    Gate::of(Range::until(Version(1, 0), Version(major, minor)), Range::new(10), Variants::All)
}

/// Of these targets, up to the PTX of the last assembler that took it.
pub(super) const fn until_last(first: u32, last: u32) -> Gate {
    Gate::of(Range::until(Version(1, 0), Version(8, 8)), Range::until(first, last), Variants::All)
}

/// No gate but the opcode's.
pub(super) const ANY: Gate = since(1, 0, 0);
/// `.ftz` and `.approx` were not written before.
const WRITTEN: Gate = since(1, 4, 0);
/// Differences with a borrow are younger than sums with a carry.
const SUBTRACTS: Gate = since(1, 3, 0);
pub(super) const FERMI: Gate = since(2, 0, 20);
const HALF: Gate = since(4, 2, 53);
const HALF_SIGN: Gate = since(5, 1, 53);
const HALF_SET: Gate = since(6, 5, 53);
/// The conversions that had no `.ftz` at first.
const FLUSHES_MORE: Gate = since(1, 5, 0);
/// What the later assembler takes from sm_90 on.
const FLUSHED_BF16: Gate = Gate::of(Range::until(Version(7, 1), Version(8, 8)), Range::until(80, 89), Variants::All);
const AMPERE: Gate = since(7, 0, 80);
const MIN_MAX_86: Gate = since(7, 2, 86);
pub(super) const HOPPER: Gate = since(7, 8, 90);
const PACKED_16: Gate = since(8, 0, 90);
const THREE_INPUTS: Gate = since(8, 8, 100);
/// Vectors of 256 bits, and eviction priorities of the second cache.
pub(super) const WIDE_VECTORS: Gate = since(8, 8, 100);
/// Of sm_107a and sm_107f alone.
const SM_107: Gate = Gate::of(Range::new(Version(9, 4)), Range::until(107, 107), Variants::Specific);
/// Of sm_120a, sm_120f and such variants of sm_121.
const SM_120: Gate = Gate::of(Range::new(Version(9, 5)), Range::until(120, 121), Variants::Specific);

/// Alternatives that many rows have.
#[rustfmt::skip] // A table.
pub(super) static SETS: &[(&str, &str)] = &[
    ("int", ".u16 .u32 .u64 .s16 .s32 .s64"),
    ("signed", ".s16 .s32 .s64"),
    ("bits", ".b16 .b32 .b64"),
    ("half", ".f16 .f16x2"),
    ("bhalf", ".bf16 .bf16x2"),
    ("rnd", ".rn .rz .rm .rp"),
    ("irnd", ".rni .rzi .rmi .rpi"),
    ("logic", ".and .or .xor"),
    ("to32", ".u32 .s32 .f32"),
    ("video", ".u32 .s32"),
    ("texgeom", ".1d .2d .3d .a1d .a2d"),
    ("outside", ".trap .clamp .zero"),
    ("texquery", ".width .height .depth .channel_data_type .channel_order .normalized_coords .array_size \
        .num_mipmap_levels .num_samples .force_unnormalized_coords .filter_mode .addr_mode_0 .addr_mode_1 .addr_mode_2 .memory_layout"),
    ("surfquery", ".width .height .depth .channel_data_type .channel_order .array_size .memory_layout"),
    ("ordered", ".eq .ne .lt .le .gt .ge"),
    ("unsigned", ".eq .ne .lt .le .gt .ge .lo .ls .hi .hs"),
    ("fcompare", ".eq .ne .lt .le .gt .ge .equ .neu .ltu .leu .gtu .geu .num .nan"),
    ("data", ".b8 .u8 .s8 .b16 .u16 .s16 .b32 .u32 .s32 .f32 .b64 .u64 .s64 .f64"),
    ("aspace", ".global .shared .shared::cta .shared::cluster"),
    ("lspace", ".global .shared .shared::cta .shared::cluster .local .const .param .param::entry .param::func"),
    ("sspace", ".global .shared .shared::cta .shared::cluster .local .param .param::func"),
    ("cspace", ".global .shared .shared::cta .shared::cluster .local .const .param .param::entry"),
    ("kept", ".L2::evict_last .L2::evict_normal .L2::evict_first .L2::evict_unchanged"),
    ("kept2", ".L2::evict_first .L2::evict_unchanged"),
    ("sem", ".relaxed .acquire .release .acq_rel"),
    ("rel", ".relaxed .release"),
    ("sums", ".add .min .max"),
    ("f16x2s", ".f16x2 .bf16x2"),
    ("hint", ".L2::cache_hint"),
    ("vec", ".v2 .v4 .v8"),
    ("v2-4", ".v2 .v4"),
    ("scalar", ".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64"),
    ("scope", ".cta .cluster .gpu .sys"),
    ("ld-cop", ".ca .cg .cs .lu .cv"),
    ("st-cop", ".wb .cg .cs .wt"),
    ("not-global", ".shared .shared::cta .shared::cluster .local .const .param .param::entry .param::func"),
    ("evict1", ".L1::evict_normal .L1::evict_unchanged .L1::evict_first .L1::evict_last .L1::no_allocate"),
    ("evict2", ".L2::evict_normal .L2::evict_first .L2::evict_last"),
    ("fetch", ".L2::64B .L2::128B .L2::256B"),
    ("cvt-int", ".u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64"),
];

/// What stands for a state space that is not written.
pub(super) const GENERIC: &str = ".generic";

/// Modifiers that need more than their opcode, whatever else is written.
#[rustfmt::skip] // A table.
pub(super) static WORDS: &[WordGate] = &[
    word("abs neg min max setp set slct cvt", ".ftz", WRITTEN),
    word("ld st atom red", GENERIC, FERMI),
    word("ld st", ".volatile", since(1, 1, 0)),
    word("ld st atom red", ".weak|.relaxed|.acquire|.release|.acq_rel", since(1, 0, 70)),
    word("ld st atom red fence", ".cluster", HOPPER),
    word("ld st atom red cvta isspacep", ".shared::cluster", HOPPER),
    word("ld st atom red cvta isspacep", ".shared::cta", since(7, 8, 0)),
    word("ld st cvta isspacep", ".param::entry", since(8, 3, 0)),
    word("ld st", ".param::func", since(8, 3, 0)),
    word("ld st", ".ca|.cg|.cs|.lu|.cv|.wb|.wt", FERMI),
    word("st", ".param|.param::func", FERMI),
    word("ld st", "evict1", since(7, 4, 70)),
    word("ld cp", ".L2::64B|.L2::128B", since(7, 4, 75)),
    word("ld cp", ".L2::256B", since(7, 4, 80)),
    word("ld st atom red cp", ".L2::cache_hint", since(7, 4, 80)),
    word("cp", ".shared::cta", since(7, 8, 0)),
    word("ld st", ".mmio", since(8, 2, 70)),
    word("ld st", ".b128", since(8, 3, 70)),
    word("atom red", ".cta|.gpu|.sys", since(5, 0, 60)),
    word("atom red", ".shared|.shared::cta", since(1, 2, 12)),
    word("cvta isspacep", ".const", since(3, 1, 20)),
    word("cvta isspacep", ".param|.param::entry", since(7, 7, 70)),
    word("bar barrier", ".cta", since(7, 8, 20)),
    word("prefetch", "evict2", since(7, 4, 80)),
];

/// Modifiers of an opcode that exclude each other, though its rows have slots for both.
#[rustfmt::skip] // A table.
pub(super) static EXCLUSIVE: &[(&str, &str, &str)] = &[
    ("ld st atom red", "evict1|evict2|fetch|hint", "not-global"),
    ("ld", "evict1", "ld-cop"),
    ("st", "evict1", "st-cop"),
];

/// What ptxas writes out as several instructions, in which no operand is a sum: opcodes, and alternatives that are written.
#[rustfmt::skip] // A table.
pub(super) static WRITTEN_OUT: &[(&str, &str)] = &[
    ("div rem", ".u64|.s64"), ("div", ".rz|.rm|.rp"), ("rcp sqrt", ".rz|.rm|.rp .f64"), ("clmad", ""),
];

/// Words that make another instruction of an opcode, which has no rows here.
#[rustfmt::skip] // A table.
pub(super) static ELSEWHERE: &[(&str, &str)] = &[
    ("st red", ".async"), ("st", ".bulk"), ("barrier", ".cluster"), ("cvt", ".pack"), ("prefetch", ".tensormap"), ("cp", ".bulk"),
    ("fence", ".tensormap"), ("fence", ".async::generic"), ("fence", ".mbarrier_init"), ("fence", ".sync_restrict"), ("cvta isspacep ld", ".surf"),
];

/// Every row.
#[rustfmt::skip] // One row a form.
pub(super) static ROWS: &[Row] = &[
    // Integers.
    row("add sub", "int", "=0 0 0", ANY),
    row("add sub", ".sat .s32", "=0 0 0", ANY),
    row("add", ".cc .u32|.s32", "=0 0 0", since(1, 2, 0)),
    row("sub", ".cc .u32|.s32", "=0 0 0", SUBTRACTS),
    row("add sub", ".cc .u64|.s64", "=0 0 0", since(4, 3, 20)),
    row("add", ".u16x2|.s16x2", "=0 0 0", PACKED_16),
    row("add", ".sat .u32|.u16x2|.s16x2", "=0 0 0", SM_107),
    row("add", ".sat .u32|.u16x2|.s16x2", "=0 0 0", SM_120),
    row("addc", "int", "=0 0 0", ANY),
    row("addc", ".sat .s32", "=0 0 0", ANY),
    row("addc", ".cc .u32|.s32", "=0 0 0", ANY),
    row("subc", "int", "=0 0 0", SUBTRACTS),
    row("subc", ".sat .s32", "=0 0 0", SUBTRACTS),
    row("subc", ".cc .u32|.s32", "=0 0 0", SUBTRACTS),
    row("addc subc", ".cc .u64|.s64", "=0 0 0", since(4, 3, 20)),
    row("mul", "!.lo|.hi int", "=0 0 0", ANY),
    row("mul", "!.wide .u16|.s16|.u32|.s32", "=w 0 0", ANY),
    row("mul24", "!.lo|.hi .u32|.s32", "=0 0 0", ANY),
    row("sad", "int", "=0 0 0 0", ANY),
    row("div rem", "int", "=0 0 0", ANY),
    row("abs neg", "signed", "=0 0", ANY),
    row("min max", "int", "=0 0 0", ANY),
    row("min max", ".u16x2|.s16x2", "=0 0 0", PACKED_16),
    row("min max", ".relu .s32|.s16x2", "=0 0 0", PACKED_16),
    row("popc clz", ".b32|.b64", "=n 0", ANY),
    row("bfind", "{.shiftamt} .u32|.u64|.s32|.s64", "=n 0", ANY),
    row("brev", ".b32|.b64", "=0 0", ANY),
    row("fns", ".b32", "=0 0 0 0", ANY),
    row("bfe", ".u32|.u64|.s32|.s64", "=0 0 e e", ANY),
    row("bfi", ".b32|.b64", "=0 0 0 e e", ANY),
    row("bmsk", ".clamp|.wrap .b32", "=n n n", ANY),
    row("szext", ".clamp|.wrap .u32|.s32", "=0 0 n", ANY),
    row("prmt", "{.f4e|.b4e|.rc8|.ecl|.ecr|.rc16} .b32", "=0 0 0 0", ANY),
    // Bits.
    row("and or xor", ".b16|.b32|.b64|.pred", "=0 0 0", ANY),
    row("not", ".b16|.b32|.b64|.pred", "=0 0", ANY),
    row("cnot", "bits", "=0 0", ANY),
    row("shl", "bits", "=0 0 n", ANY),
    row("shr", "bits|int", "=0 0 n", ANY),
    row("shf", "!.l|.r .wrap|.clamp .b32", "=0 0 0 n", ANY),
    row("lop3", ".b32", "=0_ 0 0 0 #", ANY),
    row("lop3", ".and|.or .b32", "=0_|| 0 0 0 # .pred", since(8, 2, 70)),
    // Floating point.
    row("abs neg", "{.ftz} .f32", "=0 0", ANY),
    row("abs neg copysign", ".f64", "=0 0", ANY),
    row("copysign", ".f32|.f64", "=0 0 0", ANY),
    row("abs", "{.ftz} half", "=0 0", HALF_SET),
    row("neg", "{.ftz} half", "=0 0", HALF_SIGN),
    row("abs neg", "bhalf", "=0 0", AMPERE),
    row("min max", "{.ftz} .f32", "=0 0 0", ANY),
    row("min max", ".f64", "=0 0 0", ANY),
    row("min max", "{.ftz} {.NaN} .f32", "=0 0 0", AMPERE),
    row("min max", "{.ftz} {.NaN} half", "=0 0 0", AMPERE),
    row("min max", "{.NaN} bhalf", "=0 0 0", AMPERE),
    row("min max", "{.ftz} {.NaN} .xorsign .abs .f32|.f16|.f16x2", "=0 0 0", MIN_MAX_86),
    row("min max", "{.NaN} .xorsign .abs bhalf", "=0 0 0", MIN_MAX_86),
    row("min max", "{.ftz} {.NaN} {.abs} .f32", "=0 0 0 0", THREE_INPUTS),
    row("div", ".approx|.full {.ftz} .f32", "=0 0 0", WRITTEN),
    row("div", "rnd {.ftz} .f32", "=0 0 0", FERMI),
    row("div", ".rn .f64", "=0 0 0", ANY),
    row("div", ".rz|.rm|.rp .f64", "=0 0 0", FERMI),
    row("div", ".f32|.f64", "=0 0 0", until(1, 3)),
    row("rcp sqrt", ".approx {.ftz} .f32", "=0 0", WRITTEN),
    row("rcp sqrt", "rnd {.ftz} .f32", "=0 0", FERMI),
    row("sqrt", ".rn .f64", "=0 0", ANY),
    row("rcp", ".rn {.ftz} .f64", "=0 0", WRITTEN),
    row("sqrt", ".rz|.rm|.rp .f64", "=0 0", FERMI),
    row("rcp", ".rz|.rm|.rp {.ftz} .f64", "=0 0", FERMI),
    row("rcp", ".approx .ftz .f64", "=0 0", since(2, 1, 20)),
    row("rcp", ".f32", "=0 0", until(1, 3)),
    row("sqrt rsqrt", ".f32|.f64", "=0 0", until(1, 3)),
    row("rsqrt", ".approx {.ftz} .f32", "=0 0", WRITTEN),
    row("rsqrt", ".approx .f64", "=0 0", WRITTEN),
    row("rsqrt", ".approx .ftz .f64", "=0 0", since(4, 0, 20)),
    row("sin cos lg2 ex2", ".f32", "=0 0", until(1, 3)),
    row("sin cos lg2 ex2", ".approx {.ftz} .f32", "=0 0", WRITTEN),
    row("tanh", ".approx .f32", "=0 0", ANY),
    row("ex2 tanh", ".approx half", "=0 0", since(7, 0, 75)),
    row("ex2", ".approx .ftz bhalf", "=0 0", HOPPER),
    row("tanh", ".approx bhalf", "=0 0", HOPPER),
    row("testp", "{.finite|.infinite|.number|.notanumber|.normal|.subnormal} .f32|.f64", "=.pred 0", ANY),
    // Comparison and selection.
    row("setp", "ordered int", "=.pred|_ 0 0", ANY),
    row("setp", "unsigned .u16|.u32|.u64", "=.pred|_ 0 0", ANY),
    row("setp", ".eq|.ne bits", "=.pred|_ 0 0", ANY),
    row("setp", "fcompare {.ftz} .f32", "=.pred|_ 0 0", ANY),
    row("setp", "fcompare .f64", "=.pred|_ 0 0", ANY),
    row("setp", "fcompare {.ftz} .f16", "=.pred_ 0 0", HALF),
    row("setp", "fcompare {.ftz} .f16x2", "=.pred|_ 0 0", HALF),
    row("setp", "fcompare .bf16", "=.pred_ 0 0", HOPPER),
    row("setp", "fcompare .bf16x2", "=.pred|_ 0 0", HOPPER),
    row("setp", "ordered logic int", "=.pred|_ 0 0 .pred", ANY),
    row("setp", "unsigned logic .u16|.u32|.u64", "=.pred|_ 0 0 .pred", ANY),
    row("setp", ".eq|.ne logic bits", "=.pred|_ 0 0 .pred", ANY),
    row("setp", "fcompare logic {.ftz} .f32", "=.pred|_ 0 0 .pred", ANY),
    row("setp", "fcompare logic .f64", "=.pred|_ 0 0 .pred", ANY),
    row("setp", "fcompare logic {.ftz} .f16", "=.pred_ 0 0 .pred", HALF),
    row("setp", "fcompare logic {.ftz} .f16x2", "=.pred|_ 0 0 .pred", HALF),
    row("setp", "fcompare logic .bf16", "=.pred_ 0 0 .pred", HOPPER),
    row("setp", "fcompare logic .bf16x2", "=.pred|_ 0 0 .pred", HOPPER),
    row("set", "ordered to32 int", "=0 1 1", ANY),
    row("set", "unsigned to32 .u16|.u32|.u64", "=0 1 1", ANY),
    row("set", ".eq|.ne to32 bits", "=0 1 1", ANY),
    row("set", "fcompare {.ftz} to32 .f32", "=0 1 1", ANY),
    row("set", "fcompare to32 .f64", "=0 1 1", ANY),
    row("set", "ordered .f16 int", "=0 1 1", HALF),
    row("set", "unsigned .f16 .u16|.u32|.u64", "=0 1 1", HALF),
    row("set", ".eq|.ne .f16 bits", "=0 1 1", HALF),
    row("set", "fcompare {.ftz} .f16 .f16|.f32", "=0 1 1", HALF),
    row("set", "fcompare .f16 .f64", "=0 1 1", HALF),
    row("set", "fcompare {.ftz} .f16x2 .f16x2", "=0 1 1", HALF),
    row("set", "fcompare {.ftz} .u32|.s32 half", "=0 1 1", HALF_SET),
    row("set", "fcompare {.ftz} .u16|.s16 .f16", "=0 1 1", HALF_SET),
    row("set", "ordered .bf16 int", "=0 1 1", HOPPER),
    row("set", "unsigned .bf16 .u16|.u32|.u64", "=0 1 1", HOPPER),
    row("set", ".eq|.ne .bf16 bits", "=0 1 1", HOPPER),
    row("set", "fcompare .bf16 .bf16|.f16|.f32|.f64", "=0 1 1", HOPPER),
    row("set", "fcompare .bf16x2 .bf16x2", "=0 1 1", HOPPER),
    row("set", "fcompare .u32|.s32 bhalf", "=0 1 1", HOPPER),
    row("set", "fcompare .u16|.s16 .bf16", "=0 1 1", HOPPER),
    row("set", "ordered logic to32 int", "=0 1 1 .pred", ANY),
    row("set", "unsigned logic to32 .u16|.u32|.u64", "=0 1 1 .pred", ANY),
    row("set", ".eq|.ne logic to32 bits", "=0 1 1 .pred", ANY),
    row("set", "fcompare logic {.ftz} to32 .f32", "=0 1 1 .pred", ANY),
    row("set", "fcompare logic to32 .f64", "=0 1 1 .pred", ANY),
    row("set", "ordered logic .f16 int", "=0 1 1 .pred", HALF),
    row("set", "unsigned logic .f16 .u16|.u32|.u64", "=0 1 1 .pred", HALF),
    row("set", ".eq|.ne logic .f16 bits", "=0 1 1 .pred", HALF),
    row("set", "fcompare logic {.ftz} .f16 .f16|.f32", "=0 1 1 .pred", HALF),
    row("set", "fcompare logic .f16 .f64", "=0 1 1 .pred", HALF),
    row("set", "fcompare logic {.ftz} .f16x2 .f16x2", "=0 1 1 .pred", HALF),
    row("set", "fcompare logic {.ftz} .u32|.s32 half", "=0 1 1 .pred", HALF_SET),
    row("set", "fcompare logic {.ftz} .u16|.s16 .f16", "=0 1 1 .pred", HALF_SET),
    row("set", "ordered logic .bf16 int", "=0 1 1 .pred", HOPPER),
    row("set", "unsigned logic .bf16 .u16|.u32|.u64", "=0 1 1 .pred", HOPPER),
    row("set", ".eq|.ne logic .bf16 bits", "=0 1 1 .pred", HOPPER),
    row("set", "fcompare logic .bf16 .bf16|.f16|.f32|.f64", "=0 1 1 .pred", HOPPER),
    row("set", "fcompare logic .bf16x2 .bf16x2", "=0 1 1 .pred", HOPPER),
    row("set", "fcompare logic .u32|.s32 bhalf", "=0 1 1 .pred", HOPPER),
    row("set", "fcompare logic .u16|.s16 .bf16", "=0 1 1 .pred", HOPPER),
    row("selp", "scalar", "=0 0 0 .pred", ANY),
    row("slct", "scalar .s32", "=0 0 0 1", ANY),
    row("slct", "{.ftz} scalar .f32", "=0 0 0 1", ANY),
    row("clmad", ".lo|.hi .u64", "=0 0 0 0", ANY),
    // Video instructions.
    row("vadd vsub vabsdiff vmin vmax", "{.sat} video video video", "=n n: n:", ANY),
    row("vadd vsub vabsdiff vmin vmax", "{.sat} video video video", "=n: n: n: n", ANY),
    row("vadd vsub vabsdiff vmin vmax", "{.sat} .add|.min|.max video video video", "=n n: n: n", ANY),
    row("vshl vshr", "{.sat} .clamp|.wrap video video .u32", "=n n: n:", ANY),
    row("vshl vshr", "{.sat} .clamp|.wrap video video .u32", "=n: n: n: n", ANY),
    row("vshl vshr", "{.sat} .clamp|.wrap .add|.min|.max video video .u32", "=n n: n: n", ANY),
    row("vset", "ordered video video", "=n n: n:", ANY),
    row("vset", "ordered video video", "=n: n: n: n", ANY),
    row("vset", "ordered .add|.min|.max video video", "=n n: n: n", ANY),
    row("vmad", "{.sat} {.shr7|.shr15} video video video", "=n n:- n:- n-", ANY),
    row("vmad", ".po {.sat} {.shr7|.shr15} video video video", "=n n: n: n", ANY),
    row("vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2", "{.sat} video video video", "=r: r: r: r", ANY),
    row("vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4", "{.sat} video video video", "=r: r: r: r", ANY),
    row("vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2", ".add video video video", "=r: r: r: r", ANY),
    row("vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4", ".add video video video", "=r: r: r: r", ANY),
    row("vset2 vset4", "ordered {.add} video video", "=r: r: r: r", ANY),
    // The stack. What it is restored to is a register, as a result is.
    row("alloca", ".u32|.u64", "=0 0 ?a", ANY),
    row("stacksave stackrestore", ".u32|.u64", "=0", ANY),
    // Moves and conversions.
    row("mov", ".pred", "=0 0%", ANY),
    row("mov", ".f32|.f64", "=0 0", ANY),
    row("mov", ".v2|.v4 bits|int|.f32|.f64", "=0< 0<%", ANY),
    row("mov", "bits|int", "=0& 0%&@", ANY),
    row("mov", ".b128", "=0& 0&@", since(8, 3, 70)),
    row("cvt", "cvt-int cvt-int", "=0~ 1~%", ANY),
    row("cvt", ".sat .u8 .u16|.u32|.u64|.s8|.s16|.s32|.s64", "=0~ 1~%", ANY),
    row("cvt", ".sat .s8 .u8|.u16|.u32|.u64|.s16|.s32|.s64", "=0~ 1~%", ANY),
    row("cvt", ".sat .u16 .u32|.u64|.s8|.s16|.s32|.s64", "=0~ 1~%", ANY),
    row("cvt", ".sat .s16 .u16|.u32|.u64|.s32|.s64", "=0~ 1~%", ANY),
    row("cvt", ".sat .u32 .u64|.s8|.s16|.s32|.s64", "=0~ 1~%", ANY),
    row("cvt", ".sat .s32 .u32|.u64|.s64", "=0~ 1~%", ANY),
    row("cvt", ".sat .u64 .s8|.s16|.s32|.s64", "=0~ 1~%", ANY),
    row("cvt", ".sat .s64 .u64", "=0~ 1~%", ANY),
    row("cvt", "rnd {.sat} .f16|.f64 cvt-int", "=0~ 1~", ANY),
    row("cvt", "rnd {.sat} .f32 cvt-int", "=0~ 1~", ANY),
    row("cvt", "rnd {.ftz} {.sat} .f32 .u16|.s16|.u32|.s32|.u64|.s64", "=0~ 1~", ANY),
    row("cvt", "rnd {.ftz} {.sat} .f32 .u8|.s8", "=0~ 1~", FLUSHES_MORE),
    row("cvt", "irnd {.sat} cvt-int .f16|.f32|.f64", "=0~ 1~", ANY),
    row("cvt", "irnd {.ftz} {.sat} .u8|.s8|.u16|.s16|.u32|.s32 .f32", "=0~ 1~", ANY),
    row("cvt", "irnd {.ftz} {.sat} .u64|.s64 .f32", "=0~ 1~", FLUSHES_MORE),
    row("cvt", "{.sat} .f16 .f16", "=0~ 1~", ANY),
    row("cvt", "{.ftz} {.sat} .f32 .f16|.f32", "=0~ 1~", ANY),
    row("cvt", "{.sat} .f64 .f16|.f32|.f64", "=0~ 1~", ANY),
    row("cvt", ".ftz {.sat} .f64 .f32", "=0~ 1~", FLUSHES_MORE),
    row("cvt", "rnd {.ftz} {.sat} .f16 .f32", "=0~ 1~", ANY),
    row("cvt", "rnd {.sat} .f16 .f64", "=0~ 1~", ANY),
    row("cvt", "rnd {.ftz} {.sat} .f32 .f64", "=0~ 1~", ANY),
    row("cvt", "irnd {.sat} .f16 .f16", "=0~ 1~", ANY),
    row("cvt", "irnd {.ftz} {.sat} .f32 .f32", "=0~ 1~", ANY),
    row("cvt", "irnd {.sat} .f64 .f64", "=0~ 1~", ANY),
    row("cvt", ".bf16 .bf16|.f16", "=0 1", HOPPER),
    row("cvt", "{rnd} .f16|.f64 .bf16", "=0 1", HOPPER),
    row("cvt", "rnd .bf16 .f16|.f64|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64", "=0 1", HOPPER),
    row("cvt", "irnd .bf16|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64 .bf16", "=0 1", HOPPER),
    row("cvt", "{rnd} .f32 .bf16", "=0 1", since(7, 1, 80)),
    row("cvt", "{rnd} .ftz .f32 .bf16", "=0 1", FLUSHED_BF16),
    row("cvt", "{rnd} .ftz .f32 .bf16", "=0 1", HOPPER),
    row("cvt", "rnd {.ftz} .bf16 .f32", "=0 1", AMPERE),
    row("cvt", ".rn|.rz {.relu} .f16 .f32", "=0~ 1~", AMPERE),
    row("cvt", ".rn|.rz {.relu} .bf16 .f32", "=0 1", AMPERE),
    row("cvt", ".rn|.rz .satfinite .f16 .f32", "=0~ 1~", since(8, 1, 70)),
    row("cvt", ".rn|.rz {.relu} .satfinite .f16 .f32", "=0~ 1~", since(8, 1, 80)),
    row("cvt", ".rn|.rz {.relu} .satfinite .bf16 .f32", "=0 1", since(8, 1, 80)),
    row("cvt", ".rn|.rz {.relu} .f16x2 .f32", "=0~ 1~ 1~", AMPERE),
    row("cvt", ".rn|.rz {.relu} .bf16x2 .f32", "=0 1 1", AMPERE),
    row("cvt", ".rn|.rz {.relu} .satfinite .f16x2 .f32", "=0~ 1~ 1~", since(8, 1, 80)),
    row("cvt", ".rn|.rz {.relu} .satfinite .bf16x2 .f32", "=0 1 1", since(8, 1, 80)),
    row("cvt", ".rna .tf32 .f32", "=0 1", AMPERE),
    row("cvt", ".rna .satfinite .tf32 .f32", "=0 1", since(8, 1, 80)),
    row("cvt", ".rn|.rz {.relu} .tf32 .f32", "=0 1", HOPPER),
    row("cvt", ".rn|.rz {.relu} .satfinite .tf32 .f32", "=0 1", since(8, 6, 100)),
    row("cvta", "cspace .u32|.u64", "=0 0@", FERMI),
    row("cvta", ".to cspace .u32|.u64", "=0 0", FERMI),
    row("isspacep", "cspace", "=.pred g", ANY),
];
