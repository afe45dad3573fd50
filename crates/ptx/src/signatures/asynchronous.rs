//! Since when there are the forms of instructions that have no row: asynchronous copies, barrier objects, clusters, tensor maps.

use super::{FormGate, since};
use roundonce_isa::{Gate, Range, Variants, Version};

const fn form(names: &'static str, words: &'static str, gates: &'static [Gate]) -> FormGate {
    FormGate { names, words, gates }
}

/// Of targets with a letter.
pub(super) const fn specific(version: Version, first: u32, last: Option<u32>) -> Gate {
    Gate::of(Range::new(version), Range { first, last }, Variants::Specific)
}

/// Of the data centre's targets from sm_100 on, with a letter.
const DATA_CENTRE: Gate = specific(Version(8, 6), 100, Some(110));
/// What sm_120 and sm_121 have for their architecture alone.
const FP8: &[Gate] =
    &[DATA_CENTRE, Gate::of(Range::new(Version(8, 6)), Range::new(120), Variants::Architecture(&[120, 121]))];

/// Every form that needs more than its opcode. What several rows are about needs all of them.
#[rustfmt::skip] // One row a form.
pub(super) static FORMS: &[FormGate] = &[
    // Barrier objects.
    form("mbarrier", ".arrive _", &[since(7, 1, 80)]),
    form("mbarrier", ".test_wait .parity", &[since(7, 1, 80)]),
    form("mbarrier", ".shared::cta", &[since(7, 8, 80)]),
    form("mbarrier", ".try_wait", &[since(7, 8, 90)]),
    form("mbarrier", ".arrive|.arrive_drop !.noComplete _|o o o", &[since(7, 8, 90)]),
    form("mbarrier", ".acquire|.release", &[since(8, 0, 80)]),
    form("mbarrier", ".cluster|.shared::cluster|.expect_tx|.complete_tx", &[since(8, 0, 90)]),
    form("mbarrier", ".arrive|.arrive_drop|.test_wait|.try_wait .relaxed", &[since(8, 6, 90)]),
    // Copies in bulk.
    form("cp", ".async .bulk", &[since(8, 0, 90)]),
    form("cp", ".bulk .shared::cta .global", &[since(8, 6, 90)]),
    form("cp", ".bulk .cp_mask", &[since(8, 6, 100)]),
    form("cp", ".bulk .ignore_oob", &[since(9, 2, 90)]),
    form("cp", ".shared::cta .global .im2col::w|.tile::gather4", &[since(8, 6, 100)]),
    form("cp", ".shared::cluster|.prefetch .im2col::w|.tile::gather4", &[DATA_CENTRE]),
    form("cp", ".tensor .im2col::w::128|.tile::scatter4|.cta_group::1|.cta_group::2", &[DATA_CENTRE]),
    // Stores and reductions.
    form("st red", ".async", &[since(8, 1, 90)]),
    form("st red", ".async .global", &[since(8, 7, 100)]),
    form("st", ".bulk", &[since(8, 6, 100)]),
    // Memory that several machines have.
    form("multimem", ".acc::f32", &[since(8, 2, 90)]),
    form("multimem", ".e4m3|.e4m3x2|.e4m3x4|.e5m2|.e5m2x2|.e5m2x4", FP8),
    form("multimem", ".cp", &[since(9, 1, 90)]),
    form("multimem", ".cp .cp_mask", &[since(9, 1, 100)]),
    // Clusters, tensor maps, and what is handed from one group of threads to another.
    form("barrier", ".cluster", &[since(7, 8, 90)]),
    form("barrier", ".cluster .acquire|.release|.relaxed", &[since(8, 0, 90)]),
    form("fence", ".mbarrier_init", &[since(8, 0, 90)]),
    form("fence", ".tensormap::generic", &[since(8, 3, 90)]),
    form("fence", ".sync_restrict::shared::cta|.sync_restrict::shared::cluster", &[since(8, 6, 90)]),
    form("prefetch", ".tensormap", &[since(8, 0, 90)]),
    form("tensormap", ".replace", &[specific(Version(8, 3), 90, None)]),
    form("tensormap", ".replace .swizzle_atomicity", &[specific(Version(8, 6), 100, None)]),
    form("clusterlaunchcontrol", ".multicast::cluster::all", &[specific(Version(8, 6), 100, None)]),
    // Conversions.
    form("cvt", ".pack", &[since(6, 5, 72)]),
    form("cvt", ".pack .u4|.s4|.u2|.s2", &[since(6, 5, 75)]),
];
