//! Every row has what it promises: an opcode that is lowered is a row, and a row lowers its sample.

use super::*;
use crate::{UNSUPPORTED, lower, parse};
use roundonce_isa::Finding;

#[test]
fn opcodes_are_sorted_so_that_they_are_found() {
    assert!(OPCODES.is_sorted_by_key(|opcode| opcode.name));
    assert!(OPCODES.iter().all(|opcode| find(opcode.name).is_some_and(|found| found.name == opcode.name)));
}

#[test]
fn what_was_meant() {
    for (word, meant) in [("FMA", "fma"), ("ffma", "fma"), ("fmaf", "fma")] {
        assert_eq!(nearest(word), Some(meant));
    }
    assert_eq!(nearest("ä"), None);
}

#[test]
fn every_form_is_its_opcodes() {
    let rows: Vec<&Form> = OPCODES.iter().flat_map(|opcode| opcode.forms).collect();
    assert_eq!(rows.len(), crate::forms::FORMS.len());
    for form in crate::forms::FORMS {
        let opcode = find(form.mnemonic).unwrap_or_else(|| panic!("`{}` has a form and no opcode", form.mnemonic));
        assert!(opcode.forms.contains(form), "`{}` is no form of its opcode", form.syntax());
    }
}

/// A statement of each opcode that is lowered; several where its first type decides.
#[rustfmt::skip] // A table.
static SAMPLES: &[&str] = &[
    "abs.s32 %r1, %r2;", "abs.f32 %f1, %f2;", "activemask.b32 %r1;", "add.s32 %r1, %r2, %r3;", "add.f32 %f1, %f2, %f3;",
    "addc.u32 %r1, %r2, %r3;", "alloca.u64 %x1, %x2, 16;", "and.b32 %r1, %r2, %r3;", "applypriority.global.L2::evict_normal [%x1], 128;",
    "atom.global.add.u32 %r1, [%x1], %r2;", "bar.sync 0;", "barrier.sync 0;", "bfe.u32 %r1, %r2, %r3, %r4;",
    "bfi.b32 %r1, %r2, %r3, %r4, %r4;", "bfind.u32 %r1, %r2;", "bmsk.clamp.b32 %r1, %r2, %r3;", "bra L;", "brev.b32 %r1, %r2;",
    "brkpt;", "brx.idx %r1, T;", "call (%r1), f, (%r2);", "clmad.lo.u64 %x1, %x2, %x3, %x4;", "clz.b32 %r1, %r2;", "cnot.b32 %r1, %r2;",
    "copysign.f32 %f1, %f2, %f3;", "cos.approx.f32 %f1, %f2;", "cp.async.ca.shared.global [%r1], [%x1], 16;",
    "createpolicy.fractional.L2::evict_last.b64 %x1, 1.0;", "cvt.rn.f32.s32 %f1, %r1;", "cvta.to.global.u64 %x1, %x2;",
    "discard.global.L2 [%x1], 128;", "div.s32 %r1, %r2, %r3;", "div.rn.f32 %f1, %f2, %f3;", "dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;",
    "dp4a.u32.u32 %r1, %r2, %r3, %r4;", "elect.sync _|%p1, %r1;", "ex2.approx.f32 %f1, %f2;", "exit;", "fence.acq_rel.gpu;",
    "fma.rn.f32 %f1, %f2, %f3, %f4;", "fns.b32 %r1, %r2, %r3, %r4;", "getctarank.u32 %r1, %r2;", "griddepcontrol.wait;", "isspacep.shared %p1, %x1;",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", "mapa.u32 %r1, %r2, 0;", "mbarrier.init.shared.b64 [%r1], %r2;",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
    "ld.global.u32 %r1, [%x1];", "ldu.global.u32 %r1, [%x1];", "lg2.approx.f32 %f1, %f2;", "lop3.b32 %r1, %r2, %r3, %r4, 0x80;",
    "mad.lo.s32 %r1, %r2, %r3, %r4;", "mad.rn.f32 %f1, %f2, %f3, %f4;", "mad24.lo.s32 %r1, %r2, %r3, %r4;",
    "madc.lo.u32 %r1, %r2, %r3, %r4;", "match.any.sync.b32 %r1, %r2, %r3;", "max.s32 %r1, %r2, %r3;", "max.f32 %f1, %f2, %f3;",
    "membar.gl;", "min.s32 %r1, %r2, %r3;", "min.f32 %f1, %f2, %f3;", "mov.u32 %r1, %r2;", "mul.lo.s32 %r1, %r2, %r3;",
    "mul.f32 %f1, %f2, %f3;", "mul24.lo.s32 %r1, %r2, %r3;", "nanosleep.u32 100;", "neg.s32 %r1, %r2;", "neg.f32 %f1, %f2;",
    "not.b32 %r1, %r2;", "or.b32 %r1, %r2, %r3;", "pmevent 1;", "popc.b32 %r1, %r2;", "prefetch.global.L2 [%x1];",
    "prefetchu.L1 [%x1];", "prmt.b32 %r1, %r2, %r3, %r4;", "rcp.rn.f32 %f1, %f2;", "red.global.add.u32 [%x1], %r1;",
    "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.u32 [%r1], %r2, [%r3];",
    "redux.sync.add.s32 %r1, %r2, %r3;", "rem.s32 %r1, %r2, %r3;", "ret;", "rsqrt.approx.f32 %f1, %f2;",
    "sad.s32 %r1, %r2, %r3, %r4;", "selp.b32 %r1, %r2, %r3, %p1;", "set.lt.u32.s32 %r1, %r2, %r3;", "setmaxnreg.inc.sync.aligned.u32 64;",
    "setp.lt.s32 %p1, %r1, %r2;", "shf.l.wrap.b32 %r1, %r2, %r3, %r4;", "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
    "shl.b32 %r1, %r2, 1;", "shr.u32 %r1, %r2, 1;", "sin.approx.f32 %f1, %f2;", "slct.b32.s32 %r1, %r2, %r3, %r4;",
    "sqrt.rn.f32 %f1, %f2;", "stackrestore.u64 %x1;", "stacksave.u32 %r1;", "st.global.u32 [%x1], %r1;", "sub.s32 %r1, %r2, %r3;", "sub.f32 %f1, %f2, %f3;",
    "subc.u32 %r1, %r2, %r3;", "szext.clamp.s32 %r1, %r2, %r3;", "tanh.approx.f32 %f1, %f2;", "testp.finite.f32 %p1, %f1;", "trap;",
    "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;", "vsub.s32.s32.s32 %r1.h0, %r2, %r3, %r4;", "vabsdiff.u32.u32.u32.add %r1, %r2, %r3, %r4;",
    "vmin.s32.s32.s32.max %r1, %r2, %r3, %r4;", "vmax.u32.u32.s32 %r1, %r2, %r3;", "vshl.u32.u32.u32.clamp %r1, %r2, %r3;",
    "vshr.s32.s32.u32.wrap %r1, %r2, %r3.b1;", "vset.s32.u32.lt %r1, %r2, %r3;", "vmad.s32.s32.u32.sat.shr7 %r1, %r2, -%r3.h0, %r4;",
    "vadd2.s32.s32.s32.sat %r1, %r2, %r3, %r4;", "vadd4.u32.u32.u32 %r1.b20, %r2.b0123, %r3.b7654, %r4;", "vsub2.s32.s32.s32 %r1.h1, %r2.h33, %r3, %r4;",
    "vsub4.s32.u32.u32.add %r1, %r2, %r3, %r4;", "vavrg2.s32.s32.s32 %r1, %r2, %r3, %r4;", "vavrg4.u32.u32.u32 %r1, %r2, %r3, %r4;",
    "vabsdiff2.s32.s32.s32 %r1, %r2, %r3, %r4;", "vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;", "vmin2.s32.s32.s32 %r1, %r2, %r3, %r4;",
    "vmin4.s32.s32.s32 %r1, %r2, %r3, %r4;", "vmax2.u32.u32.u32 %r1, %r2, %r3, %r4;", "vmax4.u32.u32.u32 %r1, %r2, %r3, %r4;",
    "vset2.s32.u32.lt %r1, %r2, %r3, %r4;", "vset4.u32.u32.ne.add %r1, %r2, %r3, %r4;",
    "suld.b.2d.b32.trap %r1, [%x1, {%r2, %r3}];", "suq.width.b32 %r1, [%x1];", "sured.b.add.1d.u32.trap [%x1, {%r2}], %r1;",
    "sust.b.2d.b32.trap [%x1, {%r2, %r3}], %r1;", "tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%x1, {%r1}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%x1, {%f1, %f2}];", "txq.width.b32 %r1, [%x1];",
    "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%x1, {%f1, %f2}];",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4};",
    "wmma.load.b.sync.aligned.col.m32n8k16.bf16 {%r1, %r2}, [%x1], %r3;", "wgmma.fence.sync.aligned;",
    "vote.sync.all.pred %p1, %p2, -1;", "xor.b32 %r1, %r2, %r3;",
];

fn findings(statement: &str) -> Vec<Finding> {
    let text = format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n\
         .func (.reg .b32 y) f (.reg .b32 x) {{ mov.b32 y, x; ret; }}\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<5>; .reg .b32 %r<5>; .reg .b64 %x<5>; .reg .f32 %f<5>;\n\
         T: .branchtargets L;\n{statement}\nL: ret;\n}}\n"
    );
    let parsed = parse(&text);
    assert!(parsed.findings.is_empty(), "{statement} {:?}", parsed.findings);
    lower(&parsed.module, None).err().unwrap_or_default()
}

fn opcode_of(statement: &str) -> &str {
    statement.split(['.', ' ', ';']).next().unwrap_or_default()
}

#[test]
fn every_opcode_lowers_its_sample() {
    for &statement in SAMPLES {
        let name = opcode_of(statement);
        let opcode = find(name).unwrap_or_else(|| panic!("`{name}` is lowered without a row"));
        assert!(
            !matches!(opcode.lowering, Lowering::Unsupported(_)),
            "`{name}` is lowered, and its row says it is not"
        );
        assert_eq!(findings(statement), [], "`{name}` has a row without a lowering: {statement}");
    }
    for opcode in OPCODES {
        let has = |float: bool| {
            SAMPLES.iter().filter(|sample| opcode_of(sample) == opcode.name).any(|s| float == s.contains(".f32"))
        };
        match opcode.lowering {
            Lowering::Unsupported(_) => {
                let found = findings(&format!("{};", opcode.name));
                assert_eq!(found[0].code, UNSUPPORTED, "{}", opcode.name);
            }
            _ => {
                assert!(has(true) || has(false), "`{}` is lowered and has no sample", opcode.name);
                let both = opcode.float.is_some() && opcode.float != Some(opcode.lowering);
                assert!(!both || has(true) && has(false), "`{}` lacks a sample of one of its types", opcode.name);
            }
        }
    }
}

/// A word that is no row is refused, whatever stands behind it.
#[test]
fn no_row_no_lowering() {
    let found = findings("frobnicate.f32 %f1, %f2, %f3;");
    assert_eq!(found[0].code, UNSUPPORTED);
    assert!(found[0].message.contains("frobnicate"), "{}", found[0].message);
}

#[test]
fn operands_are_counted() {
    for (name, count) in [("ret", (0, usize::MAX)), ("activemask", (1, 1)), ("add", (3, 3)), ("atom", (3, 5))] {
        assert_eq!(find(name).unwrap().operand_count(), count, "{name}");
    }
    assert!(findings("and.b32 %r1, %r2;")[0].message.contains("expected `d, a, b`"));
    assert!(findings("and.b32 %r1, %r2, %r3, %r4;")[0].message.contains("expected `d, a, b`"));
}
