//! The instructions of tensor memory that the assembler takes (`vectors/edge/ptx/tensor-memory-verdicts.tsv`).

use super::accepted::{AcceptedRow, row};
use roundonce_isa::{Gate, Range, Variants, Version};

const fn gate(major: u16, minor: u16, first: u32, variants: Variants) -> Gate {
    Gate::of(Range::new(Version(major, minor)), Range::until(first, 110), variants)
}

/// The targets with tensor memory.
const FAMILY: Gate = gate(8, 6, 100, Variants::Specific);
const LATER: Gate = gate(8, 8, 100, Variants::Specific);
/// sm_100 alone has no `.ld.red`.
const REDUCED: Gate = gate(8, 8, 101, Variants::Specific);
/// What `f` targets do not have.
const ALONE_ON: Variants = Variants::Architecture(&[100, 101, 103, 107, 110]);
const ALONE: Gate = gate(8, 6, 100, ALONE_ON);
const NVF4: Gate = gate(8, 7, 100, ALONE_ON);
const LATER_ALONE: Gate = gate(8, 8, 100, ALONE_ON);
const INTEGERS: Gate = gate(8, 6, 100, Variants::Architecture(&[100, 101, 110]));
/// With `scale-input-d`.
const SCALED_SUM: Gate = gate(8, 6, 100, Variants::SpecificOf(&[100, 103, 107]));
/// A mask may be a constant since PTX 9.0.
const REGISTER_MASK: Gate =
    Gate::of(Range::until(Version(8, 6), Version(8, 8)), Range::until(100, 110), Variants::Specific);
const ANY_MASK: Gate = gate(9, 0, 100, Variants::Specific);
const EXCLUSIVE: Gate = gate(9, 4, 100, Variants::Specific);

/// Every form of tensor memory.
#[rustfmt::skip] // A table.
pub(crate) static TENSOR_MEMORY: &[AcceptedRow] = &[
    row("tcgen05.mma", ".cta_group::1 .kind::f16|.kind::tf32|.kind::f8f6f4 {.collector::a::USE}", "B B|q q t {4a} p", FAMILY),
    row("tcgen05.mma", ".cta_group::1 .kind::f16|.kind::tf32|.kind::f8f6f4 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q t {4a} p", FAMILY),
    row("tcgen05.mma", ".cta_group::2 .kind::f16|.kind::tf32|.kind::f8f6f4 {.collector::a::USE}", "B B|q q t {8a} p", FAMILY),
    row("tcgen05.mma", ".cta_group::2 .kind::f16|.kind::tf32|.kind::f8f6f4 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q t {8a} p", FAMILY),
    row("tcgen05.mma", ".cta_group::1 .kind::f16|.kind::tf32 {.collector::a::USE}", "B B|q q t {4a} p #15", SCALED_SUM),
    row("tcgen05.mma", ".cta_group::1 .kind::f16|.kind::tf32 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q t {4a} p #15", SCALED_SUM),
    row("tcgen05.mma", ".cta_group::2 .kind::f16|.kind::tf32 {.collector::a::USE}", "B B|q q t {8a} p #15", SCALED_SUM),
    row("tcgen05.mma", ".cta_group::2 .kind::f16|.kind::tf32 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q t {8a} p #15", SCALED_SUM),
    row("tcgen05.mma", ".cta_group::1 .kind::i8 {.collector::a::USE}", "B B|q q t {4a} p", INTEGERS),
    row("tcgen05.mma", ".cta_group::1 .kind::i8 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q t {4a} p", INTEGERS),
    row("tcgen05.mma", ".cta_group::2 .kind::i8 {.collector::a::USE}", "B B|q q t {8a} p", INTEGERS),
    row("tcgen05.mma", ".cta_group::2 .kind::i8 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q t {8a} p", INTEGERS),
    row("tcgen05.mma", ".cta_group::1|.cta_group::2 .kind::mxf8f6f4 .block_scale {.block32} {.collector::a::USE}", "B B|q q t B B p", LATER),
    row("tcgen05.mma", ".cta_group::1|.cta_group::2 .kind::mxf8f6f4 .block_scale .scale_vec::1X {.collector::a::USE}", "B B|q q t B B p", ALONE),
    row("tcgen05.mma", ".cta_group::1|.cta_group::2 .kind::mxf4 .block_scale {.block32} {.collector::a::USE}", "B B|q q t B B p", LATER),
    row("tcgen05.mma", ".cta_group::1|.cta_group::2 .kind::mxf4 .block_scale .scale_vec::2X {.collector::a::USE}", "B B|q q t B B p", ALONE),
    row("tcgen05.mma", ".cta_group::1|.cta_group::2 .kind::mxf4nvf4 .block_scale .block16|.block32 {.collector::a::USE}", "B B|q q t B B p", LATER),
    row("tcgen05.mma", ".cta_group::1|.cta_group::2 .kind::mxf4nvf4 .block_scale .scale_vec::2X|.scale_vec::4X {.collector::a::USE}", "B B|q q t B B p", NVF4),
    row("tcgen05.mma", ".sp .cta_group::1 .kind::f16|.kind::tf32|.kind::f8f6f4 {.collector::a::USE}", "B B|q q B t {4a} p", FAMILY),
    row("tcgen05.mma", ".sp .cta_group::1 .kind::f16|.kind::tf32|.kind::f8f6f4 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q B t {4a} p", FAMILY),
    row("tcgen05.mma", ".sp .cta_group::2 .kind::f16|.kind::tf32|.kind::f8f6f4 {.collector::a::USE}", "B B|q q B t {8a} p", FAMILY),
    row("tcgen05.mma", ".sp .cta_group::2 .kind::f16|.kind::tf32|.kind::f8f6f4 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q B t {8a} p", FAMILY),
    row("tcgen05.mma", ".sp .cta_group::1 .kind::f16|.kind::tf32 {.collector::a::USE}", "B B|q q B t {4a} p #15", SCALED_SUM),
    row("tcgen05.mma", ".sp .cta_group::1 .kind::f16|.kind::tf32 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q B t {4a} p #15", SCALED_SUM),
    row("tcgen05.mma", ".sp .cta_group::2 .kind::f16|.kind::tf32 {.collector::a::USE}", "B B|q q B t {8a} p #15", SCALED_SUM),
    row("tcgen05.mma", ".sp .cta_group::2 .kind::f16|.kind::tf32 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q B t {8a} p #15", SCALED_SUM),
    row("tcgen05.mma", ".sp .cta_group::1 .kind::i8 {.collector::a::USE}", "B B|q q B t {4a} p", INTEGERS),
    row("tcgen05.mma", ".sp .cta_group::1 .kind::i8 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q B t {4a} p", INTEGERS),
    row("tcgen05.mma", ".sp .cta_group::2 .kind::i8 {.collector::a::USE}", "B B|q q B t {8a} p", INTEGERS),
    row("tcgen05.mma", ".sp .cta_group::2 .kind::i8 .ashift {.collector::a::lastuse|.collector::a::discard}", "B B q B t {8a} p", INTEGERS),
    row("tcgen05.mma", ".sp .cta_group::1|.cta_group::2 .kind::mxf8f6f4 .block_scale {.block32} {.collector::a::USE}", "B B|q q B t B B p", LATER),
    row("tcgen05.mma", ".sp .cta_group::1|.cta_group::2 .kind::mxf8f6f4 .block_scale .scale_vec::1X {.collector::a::USE}", "B B|q q B t B B p", ALONE),
    row("tcgen05.mma", ".sp .cta_group::1|.cta_group::2 .kind::mxf4 .block_scale {.block32} {.collector::a::USE}", "B B|q q B t B B p", LATER_ALONE),
    row("tcgen05.mma", ".sp .cta_group::1|.cta_group::2 .kind::mxf4 .block_scale .scale_vec::2X {.collector::a::USE}", "B B|q q B t B B p", ALONE),
    row("tcgen05.mma", ".sp .cta_group::1|.cta_group::2 .kind::mxf4nvf4 .block_scale .block16|.block32 {.collector::a::USE}", "B B|q q B t B B p", LATER_ALONE),
    row("tcgen05.mma", ".sp .cta_group::1|.cta_group::2 .kind::mxf4nvf4 .block_scale .scale_vec::2X|.scale_vec::4X {.collector::a::USE}", "B B|q q B t B B p", NVF4),
    row("tcgen05.mma.ws", ".cta_group::1 .kind::f16|.kind::tf32|.kind::f8f6f4 {.collector::bN::USE}", "B B|q q t p {q}", FAMILY),
    row("tcgen05.mma.ws", ".cta_group::1 .kind::i8 {.collector::bN::USE}", "B B|q q t p {q}", INTEGERS),
    row("tcgen05.mma.ws", ".sp .cta_group::1 .kind::f16|.kind::tf32|.kind::f8f6f4 {.collector::bN::USE}", "B B|q q B t p {q}", FAMILY),
    row("tcgen05.mma.ws", ".sp .cta_group::1 .kind::i8 {.collector::bN::USE}", "B B|q q B t p {q}", INTEGERS),
    row("tcgen05.ld", ".sync .aligned .16x64b|.32x32b .x1-128 {.pack::16b} .b32", "Na U", FAMILY),
    row("tcgen05.ld", ".sync .aligned .16x128b .x1-64 {.pack::16b} .b32", "2Na U", FAMILY),
    row("tcgen05.ld", ".sync .aligned .16x256b .x1-32 {.pack::16b} .b32", "4Na U", FAMILY),
    row("tcgen05.ld", ".sync .aligned .16x32bx2 .x1-128 {.pack::16b} .b32", "Na U #", FAMILY),
    row("tcgen05.st", ".sync .aligned .16x64b|.32x32b .x1-128 {.unpack::16b} .b32", "U Na", FAMILY),
    row("tcgen05.st", ".sync .aligned .16x128b .x1-64 {.unpack::16b} .b32", "U 2Na", FAMILY),
    row("tcgen05.st", ".sync .aligned .16x256b .x1-32 {.unpack::16b} .b32", "U 4Na", FAMILY),
    row("tcgen05.st", ".sync .aligned .16x32bx2 .x1-128 {.unpack::16b} .b32", "U # Na", FAMILY),
    row("tcgen05.ld.red", ".sync .aligned .32x32b .x2-128 .min|.max {.abs} {.NaN} .f32", "Na m U", REDUCED),
    row("tcgen05.ld.red", ".sync .aligned .32x32b .x2-128 .min|.max .u32|.s32", "Na m U", REDUCED),
    row("tcgen05.ld.red", ".sync .aligned .16x32bx2 .x2-128 .min|.max {.abs} {.NaN} .f32", "Na m U #", REDUCED),
    row("tcgen05.ld.red", ".sync .aligned .16x32bx2 .x2-128 .min|.max .u32|.s32", "Na m U #", REDUCED),
    row("tcgen05.alloc", ".cta_group::1|.cta_group::2 .sync .aligned {.shared::cta} .b32", "A n", FAMILY),
    row("tcgen05.dealloc", ".cta_group::1|.cta_group::2 .sync .aligned .b32", "t n", FAMILY),
    row("tcgen05.alloc", ".exclusive .cta_group::1|.cta_group::2 .sync .aligned {.shared::cta} .b32", "A n", EXCLUSIVE),
    row("tcgen05.dealloc", ".exclusive .cta_group::1|.cta_group::2 .sync .aligned .b32", "t n", EXCLUSIVE),
    row("tcgen05.relinquish_alloc_permit", ".cta_group::1|.cta_group::2 .sync .aligned", "", FAMILY),
    row("tcgen05.wait::ld", ".sync .aligned", "", FAMILY),
    row("tcgen05.wait::st", ".sync .aligned", "", FAMILY),
    row("tcgen05.fence::before_thread_sync", "", "", FAMILY),
    row("tcgen05.fence::after_thread_sync", "", "", FAMILY),
    row("tcgen05.commit", ".cta_group::1|.cta_group::2 .mbarrier::arrive::one {.shared::cluster} .b64", "A", FAMILY),
    row("tcgen05.commit", ".cta_group::1|.cta_group::2 .mbarrier::arrive::one {.shared::cluster} .multicast::cluster .b64", "A c", REGISTER_MASK),
    row("tcgen05.commit", ".cta_group::1|.cta_group::2 .mbarrier::arrive::one {.shared::cluster} .multicast::cluster .b64", "A C", ANY_MASK),
    row("tcgen05.cp", ".cta_group::1|.cta_group::2 .128x256b|.4x256b|.128x128b", "X q", FAMILY),
    row("tcgen05.cp", ".cta_group::1|.cta_group::2 .128x256b|.4x256b|.128x128b .b8x16 .b6x16_p32|.b4x16_p64", "X q", FAMILY),
    row("tcgen05.cp", ".cta_group::1|.cta_group::2 .64x128b .warpx2::02_13|.warpx2::01_23", "X q", FAMILY),
    row("tcgen05.cp", ".cta_group::1|.cta_group::2 .64x128b .warpx2::02_13|.warpx2::01_23 .b8x16 .b6x16_p32|.b4x16_p64", "X q", FAMILY),
    row("tcgen05.cp", ".cta_group::1|.cta_group::2 .32x128b .warpx4", "X q", FAMILY),
    row("tcgen05.cp", ".cta_group::1|.cta_group::2 .32x128b .warpx4 .b8x16 .b6x16_p32|.b4x16_p64", "X q", FAMILY),
    row("tcgen05.shift", ".cta_group::1|.cta_group::2 .down", "X", ALONE),
];
