//! Spellings of matrix multiply-adds that PTX does not have are refused, as `check` does, and so are machines that lack them.

use roundonce_arith::Profile;
use roundonce_ptx::matrix::{MatrixInstruction, Refusal};

#[test]
fn ill_formed() {
    for spelling in [
        "mma.m16n8k8.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k8.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k8.row.col.kind::f8f6f4.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k8.row.col.kind::i8.f32.f16.f16.f32",
        "mma.cta_group::1.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m8n8k4.row.col.rn.rz.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k8.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k32.row.row.s32.s8.s8.s32",
        "wgmma.mma_async.m64n8k16.f32.f16.f16",
        "wmma.mma.sync.aligned.m16n16k16.f32.f16",
        "tcgen05.mma.cta_group::1.kind::tf32 m64n8k16.f32.f16.f16",
        "tcgen05.mma.cta_group::1.kind::f8f6f4 m64n8k16.f32.f16.f16",
        "tcgen05.mma.cta_group::1.kind::i8 m64n8k16.f32.f16.f16",
        "tcgen05.mma.cta_group::1 m64n8k16.f32.f16.f16",
        "tcgen05.mma.kind::f16 m64n8k16.f32.f16.f16",
        "tcgen05.mma.cta_group::1.cta_group::2.kind::f16 m64n8k16.f32.f16.f16",
        "tcgen05.mma.cta_group::1.kind::f16.row.col m64n8k16.f32.f16.f16",
        "tcgen05.mma.cta_group::1.kind::f16 m64n8k16.row.col.f32.f16.f16",
    ] {
        let found = MatrixInstruction::parse(spelling);
        let found = found.and_then(|instruction| instruction.row(100.into(), &Profile::NVIDIA));
        assert!(matches!(found, Err(Refusal::Malformed(_))), "{spelling}: {found:?}");
    }
}

/// `.kind::f8f6f4` came with sm_100.
#[test]
fn a_kind_is_on_the_machines_that_have_it() {
    let kind = MatrixInstruction::parse("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32").unwrap();
    assert_eq!(kind.targets(), [100, 103, 110, 120, 121]);
    for machine in [89, 90] {
        let refused = kind.row(machine.into(), &Profile::NVIDIA);
        let text =
            format!("mma.sync.kind::f8f6f4 m16n8k32 f32 = e4m3 × e4m3 + f32 is not on sm_{machine}, but on sm_100");
        assert!(matches!(&refused, Err(Refusal::Missing(found)) if found.starts_with(&text)), "{refused:?}");
    }
    let plain = MatrixInstruction::parse("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32").unwrap();
    assert_eq!(plain.targets()[..2], [89, 90]);
    let row = |instruction: &MatrixInstruction| instruction.row(100.into(), &Profile::NVIDIA).unwrap().dot;
    assert_eq!(row(&kind), row(&plain));
}

/// Bits have no sum that is rounded.
#[test]
fn matrices_of_bits() {
    let bits = MatrixInstruction::parse("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc");
    assert!(
        matches!(&bits, Err(Refusal::Unknown(text)) if text.contains("matrices of .b1 are not computed")),
        "{bits:?}"
    );
}
