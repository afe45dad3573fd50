//! What is not run is named: nothing is run as something else.

use roundonce_ptx::{Settings, UNSUPPORTED, lower, lower_with, parse};

fn refusals(target: &str, line: &str) -> Vec<(&'static str, String)> {
    let text = format!(
        ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p<5>; .reg .b16 %h<5>; .reg .b32 %r<5>; .reg .b64 %x<5>; .reg .f32 %f<5>; .reg .f64 %d<5>;\n\
         .reg .b128 %q<3>; .shared .align 16 .b8 shared[64];\n{line}\nret;\n}}\n"
    );
    let parsed = parse(&text);
    assert!(parsed.findings.is_empty(), "{line}: {:?}", parsed.findings);
    let findings = lower(&parsed.module, None).err().unwrap_or_default();
    findings.into_iter().map(|finding| (finding.code, finding.message)).collect()
}

#[test]
fn by_name() {
    let lines = [
        "st.bulk.shared::cta [%x1], 64, 0;",
        "red.async.mmio.release.sys.global.add.u32 [%x1], %r1;",
        "atom.global.exch.b128 {%x1, %x2}, [%x1], %r1;",
        "atom.global.add.b128 %q1, [%x1], %q1;",
        "min.abs.f32 %f1, %f2, %f3;",
        "max.NaN.abs.f32 %f1, %f2, %f3, %f4;",
        "add.oob.f16 %h1, %h2, %h3;",
        "sub.u16x2 %r1, %r2, %r3;",
        "cvt.rn.satfinite.s2f6x2.f32 %h1, %f1, %f2;",
        "cvt.rn.e4m3x2.f32 %h1, %f1, %f2;",
        "cvt.pack.sat.u4.s32.b32 %r1, %r2, %r3, %r4;",
        "vadd.u32.u32.u32.sat %r1, %r2, %r3;",
        "vmin.u32.u32.u32.max %r1, %r2, %r3, %r4;",
        "vset.u32.u32.lt.max %r1, %r2, %r3, %r4;",
        "vmad.u32.u32.u32.shr7 %r1, %r2, %r3, %r4;",
        "vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4;",
        "vadd.u32.u32.u32 %r1, %r2, %r3, %r4;",
        "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%x1, {%f1, %f2, %f3, %f4}];",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%x1, {%f1, %f2}];",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%x1, {%f1, %f2}], {1, 2}, %f1;",
        "tex.2d.v2.f16x2.f32 {%r1, %r2}, [%x1, {%f1, %f2}];",
        "txq.channel_order.b32 %r1, [%x1];",
        "sured.p.min.1d.b32.trap [%x1, {%r1}], %r2;",
        "istypep.texref %p1, %x1;",
        "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {%r1}, {%r1}, {%r2}, {%r2};",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f2}, %r3, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r1, %r2, %r3, %r4}, %x1, %x2, 1;",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.u8 {%r1, %r2}, [%x1];",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %x1, %x2, %r2, %p1;",
        "add.sat.u16 %h1, %h2, %h3;",
        "mad.hi.sat.u32 %r1, %r2, %r3, %r4;",
        "bfe.wrong.u32 %r1, %r2, %r3, %r4;",
        "mov.u32 %r1, %pm0;",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%x1], [%x2, {%r1}], [%x3];",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%x1];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.ignore_oob [shared], [%x1], %r1, %r2, %r3, [shared];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.cp_mask [shared], [%x1], 16, [shared], %h1;",
        "cp.async.ca.add.shared.global [shared], [%x1], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%x1], [shared], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%x1], [shared], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u16 [%x1], [shared], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u64 [%x1], [shared], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.exch.b32 [%x1], [shared], 16;",
        "cp.reduce.async.bulk.shared::cta.global.bulk_group.add.u32 [shared], [%x1], 16;",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32 [shared], [shared], 16, [shared];",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b64 [shared], [shared], 16, [shared];",
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%x1, {%r1}], [shared];",
    ];
    for line in lines {
        let found = refusals("sm_100a", line);
        assert!(!found.is_empty(), "{line} is run");
        let opcode = line.split(['.', ' ']).next().unwrap();
        for (code, message) in found {
            assert_eq!(code, UNSUPPORTED, "{line}: {message}");
            assert!(message.contains(opcode) || message.contains("%pm0"), "{line}: {message}");
        }
    }
}

/// What the machine lacks is refused where it is reached, and the message says why.
#[test]
fn matrices_that_the_machine_lacks() {
    let tf32 =
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};";
    assert_eq!(refusals("sm_80", tf32), []);
    let [(code, message)] = &refusals("sm_75", tf32)[..] else { panic!("it is run on sm_75") };
    assert_eq!(*code, UNSUPPORTED);
    assert!(message.contains("is not on sm_75, but on sm_80"), "{message}");
    assert_eq!(refusals("sm_75", &format!("@%p1 {tf32}")), []);
    let text = format!(
        ".version 8.8\n.target sm_75\n.address_size 64\n.entry k ()\n{{ .reg .f32 %f<5>; .reg .b32 %r<5>; {tf32} ret; }}"
    );
    let settings = Settings { machine: "sm_90".parse().ok(), ..Settings::default() };
    assert!(lower_with(&parse(&text).module, &settings).is_ok());
}

/// Fragments have as many registers as their shape and type ask.
#[test]
fn fragments_of_another_size() {
    for line in [
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1}, {%r3}, {%f1,%f2,%f3,%f4};",
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3};",
        "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f1, %f2}, [%x1];",
    ] {
        let found = refusals("sm_80", line);
        assert!(found.len() == 1 && found[0].0 == "PTX0101", "{line}: {found:?}");
    }
}

/// What is no form of PTX is malformed, and not merely unsupported.
#[test]
fn what_is_ill_formed() {
    let fragments = "{%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};";
    for line in [
        format!("mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {fragments}"),
        format!("mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32 {fragments}"),
    ] {
        let found = refusals("sm_100a", &line);
        assert!(found.len() == 1 && found[0].0 == "PTX0101", "{line}: {found:?}");
    }
}

/// Half of the 64 bits are used: the documents do not say which.
#[test]
fn doubles_that_are_singles() {
    let narrowed = "sm_10, map_f64_to_f32";
    for line in ["add.f64 %d1, %d2, %d3;", "ld.global.f64 %d1, [%x1];", "cvt.f64.f32 %d1, %f1;"] {
        let found = refusals(narrowed, line);
        assert_eq!(found.len(), 1, "{line}");
        assert!(found[0].1.contains("map_f64_to_f32"), "{}", found[0].1);
        assert_eq!(found[0].0, UNSUPPORTED);
        assert!(refusals("sm_13", line).is_empty(), "{line}");
    }
    assert!(refusals(narrowed, "add.f32 %f1, %f2, %f3; mov.b64 %x1, %x2;").is_empty());
}

/// A kernel's address is for launches by other kernels; a function's may be missing.
#[test]
fn addresses_of_code() {
    let message = |name: &str| {
        let text = format!(
            ".version 8.8\n.target sm_90\n.address_size 64\n.func f();\n.entry k () {{ .reg .b64 %x; mov.u64 %x, {name}; ret; }}\n"
        );
        let found = lower(&parse(&text).module, None).err().unwrap_or_default();
        found.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(message("k"), "the address of kernel `k` cannot be run");
    assert_eq!(message("f"), "the address of `f`, which has no body, cannot be run");
}

/// A cluster is one block: a kernel that requires more is refused.
#[test]
fn clusters_of_several_blocks() {
    for (size, is_refused) in [("1", false), ("1, 1, 1", false), ("2", true), ("1, 2", true)] {
        let text = format!(
            ".version 8.8\n.target sm_90\n.address_size 64\n.entry k () .reqnctapercluster {size} {{ ret; }}\n"
        );
        let found = lower(&parse(&text).module, None).err().unwrap_or_default();
        assert_eq!(found.iter().any(|finding| finding.code == UNSUPPORTED), is_refused, "{size}: {found:?}");
    }
}
