//! Operands of matrix instructions that a row's types alone do not judge: constants in fragments, selectors of scales; and
//! lines that one assembler refuses in its last pass. ptxas 12.9.86 and 13.5.37 agree on each, alone in a module.

use roundonce_isa::Severity;
use roundonce_ptx::{Options, check_text};

const F: &str = "{%f0,%f1,%f2,%f3}";
const A: &str = "{%r1,%r1,%r1,%r1}";
const B: &str = "{%r1,%r1}";

/// The codes of the errors in a line.
fn errors(target: &str, version: &str, line: &str) -> Vec<&'static str> {
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.shared .align 16 .b8 S[64];\n.visible .entry k () {{\n\
         .reg .b16 %h<8>; .reg .u16 %t<8>; .reg .b32 %r<8>; .reg .s32 %i<8>; .reg .f32 %f<9>; .reg .f64 %d<8>;\n\
         .reg .b64 %q<8>;\n{line}\nret;\n}}\n"
    );
    let findings = check_text(&text, &Options::default());
    findings.into_iter().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.code).collect()
}

fn judge(target: &str, version: &str, cases: &[(String, &[&str])]) {
    for (line, codes) in cases {
        assert_eq!(errors(target, version, line), *codes, "{line} on {target}, PTX {version}");
    }
}

#[test]
fn constants_in_fragments() {
    let halves =
        |a: &str, b: &str, c: &str| format!("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {F},{a},{b},{c};");
    let eights = |a: &str| format!("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {F},{a},{B},{F};");
    let integers = |c: &str| format!("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {A},{A},{B},{c};");
    let zeros = "{0,0,0,0}";
    let floats = "{0f00000000,0f00000000,0f00000000,0f00000000}";
    let refused: &[&str] = &["PTX0027"];
    judge(
        "sm_90",
        "8.4",
        &[
            (halves(zeros, B, F), refused),
            (halves(floats, B, F), refused),
            (halves("{0,%r1,%r1,%r1}", B, F), &[]),
            (halves("{0f00000000,%r1,%r1,%r1}", B, F), &[]),
            (halves("{%r1,0,0f00000000,%r1}", B, F), refused),
            (halves("{%tid.x,0,%r1,%r1}", B, F), &[]),
            (halves(A, "{%r1,0}", F), &[]),
            (halves(A, B, zeros), refused),
            (halves(A, B, floats), &[]),
            (halves(A, B, "{0.0,%f5,1.0,%f7}"), &[]),
            (halves(A, B, "{0,%f5,%f6,%f7}"), refused),
            (eights(zeros), refused),
            (eights(floats), &[]),
            (integers(zeros), &[]),
            (integers(floats), refused),
            (integers("{0,0,%r6,%r7}"), &[]),
            ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0,%d1},{%d3},{%d2},{0,1};".to_owned(), &[]),
            ("stmatrix.sync.aligned.m8n8.x2.shared.b16 [S],{0,0};".to_owned(), refused),
            ("stmatrix.sync.aligned.m8n8.x2.shared.b16 [S],{%r0,0};".to_owned(), &[]),
        ],
    );
}

#[test]
fn selectors_of_scales() {
    let scaled = |kind: &str, a: &str, b: &str| {
        let (shape, ty, format) = match kind {
            "mxf8f6f4" => ("m16n8k32", "e4m3", "ue8m0"),
            "mxf4.block_scale" => ("m16n8k64", "e2m1", "ue8m0"),
            _ => ("m16n8k64", "e2m1", "ue4m3"),
        };
        let kind = if kind == "mxf8f6f4" { "mxf8f6f4.block_scale" } else { kind };
        let types = format!("f32.{ty}.{ty}.f32.{format}");
        format!("mma.sync.aligned.{shape}.row.col.kind::{kind}.{types} {F},{A},{B},{F},%r2,{a},%r2,{b};")
    };
    let (one, two, four) = ("mxf8f6f4", "mxf4.block_scale", "mxf4nvf4.block_scale.scale_vec::4X");
    let refused: &[&str] = &["PTX0030"];
    judge(
        "sm_120a",
        "8.7",
        &[
            (scaled(one, "{3,1}", "{3,3}"), &[]),
            (scaled(one, "{4,0}", "{0,0}"), refused),
            (scaled(one, "{-1,0}", "{0,0}"), refused),
            (scaled(one, "{0,2}", "{0,0}"), refused),
            (scaled(one, "{0,0}", "{0,4}"), refused),
            (scaled(one, "{5,3}", "{0,6}"), &["PTX0030", "PTX0030", "PTX0030"]),
            (scaled(one, "{%h0,%t1}", "{%h0,1}"), &[]),
            (scaled(one, "{%r3,%h0}", "{0,0}"), &["PTX0027"]),
            (scaled(two, "{2,0}", "{0,3}"), &[]),
            (scaled(two, "{1,0}", "{0,0}"), refused),
            (scaled(four, "{0,1}", "{0,3}"), &[]),
            (scaled(four, "{3,0}", "{0,0}"), refused),
        ],
    );
}

#[test]
fn what_a_later_pass_refuses() {
    let none: &[&str] = &["PTX0021"];
    let mma = |words: &str, a: &str, b: &str| format!("mma.sync.aligned.{words} {F},{a},{b},{F};");
    judge(
        "sm_80",
        "7.0",
        &[(mma("m16n8k16.row.col.f32.tf32.tf32.f32", &A.replace('}', ",%r1,%r1,%r1,%r1}"), A), &["PTX0022"])],
    );
    judge(
        "sm_120a",
        "8.8",
        &[
            (mma("m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", B, "{%r1}"), none),
            (mma("m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32", B, "{%r1}"), &[]),
            (mma("m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", A, B), &[]),
        ],
    );
    let eight = "{%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}";
    judge(
        "sm_80",
        "7.8",
        &[
            (format!("wmma.load.a.sync.aligned.row.m16n16k16.shared.f64 {eight},[S],16;"), none),
            ("wmma.load.a.sync.aligned.row.m8n8k4.shared.f64 {%d0},[S],16;".to_owned(), &[]),
        ],
    );
    judge(
        "sm_90a",
        "8.0",
        &[
            ("wgmma.wait_group.sync.aligned -1;".to_owned(), &["PTX0030"]),
            ("wgmma.wait_group.sync.aligned 4294967295;".to_owned(), &[]),
        ],
    );
}

/// Of bf16 each pair of layouts, which no document has.
#[test]
fn layouts_of_bf16() {
    for layouts in ["row.row", "row.col", "col.row", "col.col"] {
        let c = "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}";
        let line = format!("mma.sync.aligned.m8n8k4.{layouts}.f32.bf16.bf16.f32 {c},{B},{B},{c};");
        judge("sm_80", "7.0", &[(line.clone(), &[])]);
        judge("sm_75", "7.0", &[(line, &["PTX0026"])]);
    }
}

#[test]
fn comparisons_of_halves_in_s16() {
    for line in ["set.eq.s16.f16 %h0,%h1,%h1;", "set.lt.and.ftz.s16.f16 %h0,%h1,%h1,%p0;"] {
        let line = format!(".reg .pred %p<2>; {line}");
        judge("sm_90", "7.8", &[(line, &[])]);
    }
    judge("sm_90", "7.8", &[("set.neu.s16.bf16 %h0,%h1,%h1;".to_owned(), &[])]);
}

/// The constant that says whether `wgmma` adds d is a bit.
#[test]
fn whether_d_is_added() {
    let halves =
        |scale: &str| format!("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {F},%q0,%q1,{scale},1,1,0,0;");
    let sparse = |scale: &str| format!("wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {A},%q0,%q1,%r1,0,{scale};");
    for scale in ["0", "1"] {
        judge("sm_90a", "8.5", &[(halves(scale), &[]), (sparse(scale), &[])]);
    }
    for scale in ["5", "-1", "2"] {
        judge("sm_90a", "8.5", &[(halves(scale), &["PTX0030"]), (sparse(scale), &["PTX0030"])]);
    }
}

/// The operation on bits stands before the sum, wherever they are.
#[test]
fn order_of_bits() {
    let (two, one) = ("{%r1,%r2}", "{%r3}");
    let line = |spelling: &str| format!("{spelling} {two},{one},{one},{two};");
    let taken = [
        "mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.xor.popc",
        "mma.xor.sync.aligned.row.col.m8n8k128.s32.popc.b1.b1.s32",
        "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
    ];
    for spelling in taken {
        judge("sm_90", "8.5", &[(line(spelling), &[])]);
    }
    let refused = [
        "mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.popc.xor",
        "mma.popc.sync.aligned.row.col.m8n8k128.s32.xor.b1.b1.s32",
        "wmma.mma.popc.and.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
    ];
    for spelling in refused {
        judge("sm_90", "8.5", &[(line(spelling), &["PTX0021"])]);
    }
}
