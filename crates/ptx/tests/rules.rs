//! The rules one by one: code, place, fix.

use roundonce_isa::{Finding, Location, Severity, apply_fixes};
use roundonce_ptx::{Options, check_text, contractions, parse};

const REGISTERS: &str = ".reg .pred p<4>; .reg .f32 f<8>; .reg .b32 b<8>; .reg .u32 u<8>; .reg .f64 d<8>; \
                         .reg .b64 q<8>; .reg .b16 h<8>; .reg .v2 .f32 v; .reg .s64 sl<8>;";

fn module(version: &str, target: &str, body: &str) -> String {
    format!(".version {version}\n.target {target}\n.entry k ()\n{{\n{REGISTERS}\n{body}\nexit;\n}}\n")
}

/// Level, code and underlined text of the findings in a body.
fn reported(version: &str, target: &str, body: &str) -> Vec<(Severity, &'static str, String)> {
    let text = module(version, target, body);
    let underlined = |finding: &Finding| match finding.location {
        Location::Span { start, end } => text[start..end].to_owned(),
        _ => String::new(),
    };
    let findings = check_text(&text, &Options::default());
    findings.iter().map(|finding| (finding.severity, finding.code, underlined(finding))).collect()
}

/// Version, target, statements, and the findings: codes and what they point at.
type Case<'a> = (&'a str, &'a str, &'a str, &'a [(&'a str, &'a str)]);

#[test]
fn each_rule_has_its_code_and_underlines_its_place() {
    #[rustfmt::skip] // A table.
    let cases: &[Case] = &[
        ("8.6", "sm_100", "fma.rn.f32 f0, f1, f2, f3;", &[]),
        ("8.6", "sm_100", "fma.f32 f0, f1, f2, f3;", &[("PTX0022", "fma.f32")]),
        ("8.6", "sm_100", "fma.rni.f32 f0, f1, f2, f3;", &[("PTX0022", "fma.rni.f32")]),
        ("8.6", "sm_100", "fma.rn.rz.f32 f0, f1, f2, f3;", &[("PTX0024", ".rz")]),
        ("8.6", "sm_100", "fma.rn.ftz.ftz.f32 f0, f1, f2, f3;", &[("PTX0024", ".ftz")]),
        ("8.6", "sm_100", "fma.rn.sat.sat.f32 f0, f1, f2, f3;", &[]),
        ("8.6", "sm_100", "fma.rn.relu.f32 f0, f1, f2, f3;", &[("PTX0023", ".relu")]),
        ("8.6", "sm_100", "fma.rn.sat.f64 d0, d1, d2, d3;", &[("PTX0023", ".sat")]),
        ("8.6", "sm_100", "fma.rn.f32.f64 f0, f1, f2, f3;", &[("PTX0021", "fma.rn.f32.f64")]),
        ("8.6", "sm_100", "fma.rn.f16.f32 f0, h1, h2, f3;", &[("PTX0021", "fma.rn.f16.f32")]),
        ("8.6", "sm_90", "fma.rn.f32x2 q0, q1, q2, q3;", &[("PTX0026", "fma.rn.f32x2")]),
        ("8.5", "sm_90", "add.f32.bf16 f0, h1, f2;", &[("PTX0026", "add.f32.bf16"), ("PTX0025", "add.f32.bf16")]),
        ("8.6", "sm_100", "add.rn.ftz.f32.f16 f0, h1, f2;", &[("PTX0023", ".ftz")]),
        ("1.3", "sm_13", "mad.ftz.f32 f0, f1, f2, f3;", &[("PTX0025", ".ftz")]),
        ("2.0", "sm_13", "mad.rn.f32 f0, f1, f2, f3;", &[("PTX0026", "mad.rn.f32")]),
        ("3.0", "sm_20", "mad.f32 f0, f1, f2, f3;", &[("PTX0040", "mad.f32")]),
        ("3.1", "sm_20", "mad.f32 f0, f1, f2, f3;", &[("PTX0040", "mad.f32")]),
        ("3.2", "sm_20", "mad.f32 f0, f1, f2, f3;", &[("PTX0022", "mad.f32")]),
        ("8.0", "sm_13", "mad.f32 f0, f1, f2, f3;", &[]),
        ("1.3", "sm_13", "mad.f64 d0, d1, d2, d3;", &[]),
        ("1.4", "sm_13", "mad.f64 d0, d1, d2, d3;", &[("PTX0022", "mad.f64")]),
        ("1.4", "sm_10", "fma.rz.f64 d0, d1, d2, d3;", &[("PTX0041", "fma.rz.f64")]),
        ("1.4", "sm_10", "fma.rm.f64 d0, d1, d2, d3;", &[("PTX0023", ".rm")]),
        ("8.6", "sm_100", "fma.rn.f32 f0, f1, f2;", &[("PTX0028", "fma.rn.f32 f0, f1, f2")]),
        ("8.6", "sm_100", "fma.rn.f32 _, f1, f2, f3;", &[("PTX0029", "_")]),
        ("8.6", "sm_100", "fma.rn.f32 f0|p1, f1, f2, f3;", &[("PTX0029", "p1")]),
        ("8.6", "sm_100", "fma.rn.f32 1.0, f1, f2, f3;", &[("PTX0029", "1.0")]),
        ("8.6", "sm_100", "fma.rn.f32 f0, -f1, f2, f3;", &[("PTX0030", "-f1")]),
        ("8.6", "sm_100", "fma.rn.f32 f0, {f1, f2}, f2, f3;", &[("PTX0030", "{f1, f2}")]),
        ("8.6", "sm_100", "fma.rn.f32 f0, v, f2, f3;", &[("PTX0030", "v")]),
        ("8.6", "sm_100", "fma.rn.f32 f0, v.y, f2, f3;", &[]),
        ("8.6", "sm_100", "fma.rn.f32 f0, %tid.x, f2, f3;", &[("PTX0030", "%tid.x")]),
        ("8.6", "sm_100", "fma.rn.f32 f0, u1, f2, f3;", &[("PTX0027", "u1")]),
        ("8.6", "sm_100", "fma.rn.f32 f0, 1, f2, f3;", &[("PTX0027", "1")]),
        ("8.6", "sm_100", "fma.rn.f32 f0, 1.0, 0f3F800000, b3;", &[]),
        ("8.6", "sm_100", "fma.rn.f32 f0, 1e400, f2, f3;", &[("PTX0006", "1e400")]),
        ("8.6", "sm_100", "fma.rn.f32 f0, f9, f2, f3;", &[("PTX0031", "f9")]),
        ("8.6", "sm_100", "fma.rn.f32x2 q0, sl1, q2, q3;", &[("PTX0027", "sl1")]),
        ("8.6", "sm_100", "fma.rn.f32x2 q0, 1.0, q2, q3;", &[("PTX0027", "1.0")]),
        ("8.6", "sm_100", "fma.rn.f32.f16 f0, f1, h2, f3;", &[("PTX0027", "f1")]),
        ("8.6", "sm_100", "@f0 fma.rn.f32 f0, f1, f2, f3;", &[("PTX0032", "f0")]),
        ("8.6", "sm_100", "FMA.rn.f32 f0, f1, f2, f3;", &[("PTX0020", "FMA")]),
        ("8.6", "sm_100", "mad.lo.f32 f0, f1, f2, f3;", &[("PTX0023", ".f32")]),
        ("8.6", "sm_100", "mad.wide.s32 u0, u1, u2, u3;", &[("PTX0029", "u0"), ("PTX0027", "u3")]),
        ("8.6", "sm_100", "mov.u32 u0, nowhere;", &[("PTX0031", "nowhere")]),
        // A special register of several numbers where one is wanted.
        ("8.6", "sm_100", "mov.u32 u0, %tid;", &[("PTX0030", "%tid")]),
        ("8.6", "sm_100", "cvt.u32.u32 u0, %ntid;", &[("PTX0030", "%ntid")]),
        ("8.6", "sm_100", "ld.shared.u32 u0, [%tid+4];", &[("PTX0030", "[%tid+4]")]),
        ("8.6", "sm_100", "ld.shared.u32 u0, [%laneid];", &[]),
        ("8.6", "sm_100", "mov.v4.u32 {u0, u1, u2, u3}, %tid;", &[]),
        // Registers in braces.
        ("8.6", "sm_100", "ld.global.v2.u16 {h0, b0}, [q0];", &[("PTX0027", "{h0, b0}")]),
        ("8.6", "sm_100", "st.global.v2.b32 [q0], {u0, f0};", &[("PTX0027", "{u0, f0}")]),
        ("8.6", "sm_100", "st.global.v2.b32 [q0], {b0, f0};", &[]),
        ("8.6", "sm_100", "mov.b64 q0, {h0, h1, b2, h3};", &[("PTX0027", "{h0, h1, b2, h3}")]),
        ("8.6", "sm_100", "ld.global.v2.b32 {b0, p0}, [q0];", &[("PTX0027", "p0")]),
        // Video instructions: selectors, masks, minus.
        ("8.6", "sm_100", "vadd.s32.u32.s32.sat u0.h1, u1.b0, b2.b3, 7;", &[]),
        ("8.6", "sm_100", "vadd.s32.u32.s32 u0, u1.b10, u2;", &[("PTX0030", "u1.b10")]),
        ("8.6", "sm_100", "vadd.s32.u32.s32.add u0.h0, u1, u2, u3;", &[("PTX0029", "u0.h0")]),
        ("8.6", "sm_100", "vadd4.u32.u32.u32 u0.b31, u1.b0123, u2.b7654, u3;", &[]),
        ("8.6", "sm_100", "vadd4.u32.u32.u32 u0.b13, u1, u2, u3;", &[("PTX0029", "u0.b13")]),
        ("8.6", "sm_100", "vadd2.u32.u32.u32 u0, 1, u2, u3;", &[("PTX0027", "1")]),
        ("8.6", "sm_100", "vmad.s32.s32.u32.shr7 u0, -u1.h0, u2, 5;", &[]),
        ("8.6", "sm_100", "vadd.s32.u32.s32 u0, -u1, u2;", &[("PTX0030", "-u1")]),
        ("8.6", "sm_100", "mov.u32 u0, u1.b0;", &[("PTX0030", "u1.b0")]),
        // Copies, and fences between proxies.
        ("8.6", "sm_80", "cp.async.ca.shared.global.L2::cache_hint [b0], [q0], 16, p0, q1;", &[]),
        ("8.6", "sm_80", "cp.async.ca.shared.global [b0], [q0], 16, q1;", &[("PTX0027", "q1")]),
        ("8.6", "sm_80", "cp.async.shared.global [b0], [q0], 16;", &[("PTX0022", "cp.async.shared.global")]),
        ("8.6", "sm_80", "fence.proxy.async;", &[("PTX0026", "fence.proxy.async")]),
        ("9.4", "sm_90", "fence.proxy.alias.acquire.sys; fence.proxy.alias.release.sys; prefetch.L1::32B.valid_addr [q0];", &[]),
        ("9.4", "sm_80", "fence.proxy.alias.acquire.sys;", &[("PTX0026", "fence.proxy.alias.acquire.sys")]),
        ("9.3", "sm_90", "prefetch.global.L1::32B.valid_addr [q0];", &[("PTX0025", "prefetch.global.L1::32B.valid_addr")]),
        ("9.4", "sm_90", "fence.proxy.alias.acquire.gpu;", &[("PTX0023", "fence.proxy.alias.acquire.gpu")]),
        ("9.4", "sm_90", "prefetch.global.L1.valid_addr [q0];", &[("PTX0023", "prefetch.global.L1.valid_addr")]),
        ("9.3", "sm_100", "fence.proxy.generic::fabric.alias.acquire.sys;", &[]),
        ("9.3", "sm_90", "fence.proxy.fabric::fabric.alias.acquire.sys;", &[("PTX0026", "fence.proxy.fabric::fabric.alias.acquire.sys")]),
        ("9.2", "sm_100", "fabric.submit;", &[("PTX0025", "fabric")]),
        ("9.3", "sm_100", "fabric.submit;", &[]),
        ("9.4", "sm_100a", "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.b32 [q0], b0;", &[]),
        ("9.3", "sm_100a", "tcgen05.dealloc.exclusive.cta_group::1.sync.aligned.b32 b0, b1;", &[("PTX0025", "tcgen05.dealloc.exclusive.cta_group::1.sync.aligned.b32")]),
        // One undeclared register is one error.
        ("8.6", "sm_100", "add.s32 u0, u9, u9; mul.lo.s32 u9, u1, u9; fma.rn.f32 f0, f9, f9, f9;", &[("PTX0031", "u9"), ("PTX0031", "f9")]),
        ("8.6", "sm_100", "@p9 exit; @!p9 exit; and.pred p0, p9, p9;", &[("PTX0032", "p9")]),
        ("8.0", "sm_60", "fence.acq_rel.gpu;", &[("PTX0026", "fence")]),
        ("7.5", "sm_70", "bmsk.clamp.b32 b0, b1, b2;", &[("PTX0025", "bmsk")]),
        ("8.6", "sm_100", ".reg .bf16 x;", &[("PTX0015", ".bf16")]),
        ("8.6", "sm_100", ".reg .v4 .f64 x;", &[("PTX0015", ".f64")]),
        ("8.6", "sm_100", ".reg .f32 f3;", &[("PTX0016", "f3")]),
        ("8.6", "sm_100", "{ .reg .f64 f3; fma.rn.f64 f3, f3, f3, f3; } fma.rn.f32 f3, f3, f3, f3;", &[]),
        ("3.0", "sm_35", "exit;", &[("PTX0013", "sm_35")]),
        ("2.4", "sm_20", "exit;", &[("PTX0011", ".version 2.4")]),
        ("8.6", "sm_19", "exit;", &[("PTX0012", "sm_19")]),
        ("3.0", "sm_20, map_f64_to_f32", "exit;", &[("PTX0014", "map_f64_to_f32")]),
        ("7.3", "sm_52", "alloca.u32 b0, 24, 8388608;", &[]),
        ("7.3", "sm_52", "alloca.u64 q0, q1, 3;", &[("PTX0030", "3")]),
        ("7.3", "sm_52", "alloca.u64 q0, q1, 1 << 24;", &[("PTX0030", "1 << 24")]),
        ("7.3", "sm_52", "alloca.u64 q0, q1, b0;", &[("PTX0027", "b0")]),
        ("7.3", "sm_52", "{ .param .b32 x; ld.u32 u0, [x]; ld.param.u32 u0, [x]; }", &[("PTX0030", "[x]")]),
        ("7.3", "sm_52", "{ .param .b64 x; st.v2.u32 [x+4], {u0, u1}; }", &[("PTX0030", "[x+4]")]),
        ("7.3", "sm_52", "{ .local .b32 x; ld.u32 u0, [x]; } .shared .b32 y; atom.add.u32 u0, [y], u1;", &[]),
        ("7.3", "sm_52", "st.global.u32 [k], u0; ld.u32 u0, [k];", &[("PTX0030", "[k]"), ("PTX0030", "[k]")]),
        ("7.3", "sm_52", "L: ld.shared.u32 u0, [L];", &[("PTX0030", "[L]")]),
        ("7.3", "sm_52", "stackrestore.u64 16;", &[("PTX0029", "16")]),
        ("7.2", "sm_52", "stacksave.u64 q0;", &[("PTX0025", "stacksave")]),
        ("7.3", "sm_50", "stacksave.u64 q0;", &[("PTX0026", "stacksave")]),
    ];
    for (version, target, body, expected) in cases {
        let found = reported(version, target, body);
        let found: Vec<(&str, &str)> = found.iter().map(|(_, code, text)| (*code, text.as_str())).collect();
        assert_eq!(found, *expected, "PTX {version}, {target}: {body}");
    }
}

#[test]
fn the_errata_of_mad_f32_are_silent_then_a_warning_then_an_error() {
    let level = |version: &str| reported(version, "sm_20", "mad.f32 f0, f1, f2, f3;")[0].0;
    let levels: Vec<Severity> = ["2.0", "3.0", "3.1", "3.2", "8.6"].map(level).to_vec();
    assert_eq!(levels, [Severity::Note, Severity::Note, Severity::Warning, Severity::Error, Severity::Error]);
}

#[test]
fn fixes_are_safe_and_mend() {
    for (version, before, after) in [
        ("2.3", "mad.f32 f0, f1, f2, f3;", "mad.rn.f32 f0, f1, f2, f3;"),
        ("3.1", "mad .ftz.sat .f32 f0, f1, f2, f3;", "mad.rn .ftz.sat .f32 f0, f1, f2, f3;"),
        ("3.2", "@p0 mad.sat.f32 f0, f1, f2, f3;", "@p0 mad.rn.sat.f32 f0, f1, f2, f3;"),
        ("3.2", "mad.f64 d0, d1, d2, d3;", "mad.rn.f64 d0, d1, d2, d3;"),
        ("3.2", "fma.rn.ftz.ftz.f32 f0, f1, f2, f3;", "fma.rn.ftz.f32 f0, f1, f2, f3;"),
        ("3.2", "fma.rn.rn.f32 f0, f1, f2, f3;", "fma.rn.f32 f0, f1, f2, f3;"),
        // Nothing says which of two directions was meant, nor what an fma without one means; free order is legal.
        ("3.2", "fma.rn.rz.f32 f0, f1, f2, f3;", "fma.rn.rz.f32 f0, f1, f2, f3;"),
        ("3.2", "fma.f32 f0, f1, f2, f3;", "fma.f32 f0, f1, f2, f3;"),
        ("3.2", "fma.f32.ftz.rn f0, f1, f2, f3;", "fma.f32.ftz.rn f0, f1, f2, f3;"),
    ] {
        let text = module(version, "sm_20", before);
        let fixed = apply_fixes(&text, &check_text(&text, &Options::default()));
        assert_eq!(fixed, module(version, "sm_20", after));
        if before != after {
            assert_eq!(check_text(&fixed, &Options::default()), [], "{after}");
        }
    }
}

/// The sums that may be fused, by the register between.
fn fused(body: &str) -> Vec<(String, String)> {
    let text = module("8.0", "sm_90", body);
    let parsed = parse(&text);
    assert_eq!(parsed.findings, []);
    contractions(&parsed.module)
        .iter()
        .map(|found| (found.sum.of(&text).to_owned(), found.register.to_owned()))
        .collect()
}

#[test]
fn every_unmodified_product_in_an_unmodified_sum_is_listed() {
    let add = |text: &str, register: &str| (text.to_owned(), register.to_owned());
    assert_eq!(fused("mul.f32 f0, f1, f2; add.f32 f3, f0, f4;"), [add("add.f32 f3, f0, f4", "f0")]);
    assert_eq!(fused("mul.ftz.f32 f0, f1, f2; sub.f32 f3, f4, f0;"), []);
    assert_eq!(fused("mul.ftz.f32 f0, f1, f2; sub.ftz.f32 f3, f4, f0;"), [add("sub.ftz.f32 f3, f4, f0", "f0")]);
    assert_eq!(fused("mul.f64 d0, d1, d2; sub.f64 d3, d0, d1;"), [add("sub.f64 d3, d0, d1", "d0")]);
    assert_eq!(fused("mul.f64 d0, d1, d2; sub.f64 d3, d0, d0;"), []);
    assert_eq!(fused("mul.rn.f32 f0, f1, f2; add.f32 f3, f0, f4;"), []);
    assert_eq!(fused("mul.f32 f0, f1, f2; add.rn.f32 f3, f0, f4;"), []);
    assert_eq!(fused("mul.f32 f0, f1, f2; mov.f32 f0, f5; add.f32 f3, f0, f4;"), []);
    // Each of several sums takes the product, none where anything else does.
    assert_eq!(fused("mul.f32 f0, f1, f2; add.f32 f3, f0, f4; sub.f32 f5, f1, f0;").len(), 2);
    assert_eq!(fused("mul.f32 f0, f1, f2; add.f32 f3, f0, f4; mul.f32 f5, f0, f0; add.f32 f1, f5, f3;").len(), 1);
    // Copies and overwritten factors are no obstacle; a guard on the product is, on the sum it is not.
    assert_eq!(fused("mul.f32 f0, f1, f2; mov.f32 f5, f0; add.f32 f3, f5, f4;"), [add("add.f32 f3, f5, f4", "f5")]);
    assert_eq!(fused("mul.f32 f1, f1, f2; mov.f32 f2, f4; add.f32 f3, f1, f2;").len(), 1);
    assert_eq!(fused("mul.f32 f0, f1, f2; @p0 mov.f32 f0, f5; add.f32 f3, f0, f4;"), []);
    assert_eq!(fused("@p0 mul.f32 f0, f2, f3; add.f32 f3, f0, f4;"), []);
    assert_eq!(fused("mul.f32 f0, f1, f2; @p0 add.f32 f3, f0, f4;").len(), 1);
    // Into the next iteration of a loop, which may be unrolled.
    let looped = "L: add.f32 f3, f0, f4; mul.f32 f0, f1, f2; @p0 bra L;";
    assert_eq!(fused(looped), [add("add.f32 f3, f0, f4", "f0")]);
    // Not across a branch nor what becomes one; a label that nothing jumps to is none.
    assert_eq!(fused("mul.f32 f0, f1, f2; @p0 bra L; mov.f32 f0, f5; L: add.f32 f3, f0, f4;"), []);
    assert_eq!(fused("mul.f32 f0, f1, f2; div.rn.f32 f5, f1, f2; add.f32 f3, f0, f5;"), []);
    assert_eq!(fused("mul.f32 f0, f1, f2; bra L; add.f32 f3, f0, f4; L: add.f32 f3, f0, f1;").len(), 1);
}

#[test]
fn determinacy_is_reported_as_notes_only_when_asked() {
    let text = module("8.0", "sm_90", "mul.f32 f0, f1, f2;\nadd.f32 f3, f0, f4;");
    assert_eq!(check_text(&text, &Options::default()), []);
    let notes = check_text(&text, &Options { determinacy: true });
    assert_eq!(notes.len(), 1);
    assert_eq!((notes[0].severity, notes[0].code), (Severity::Note, "PTX0050"));
    assert!(notes[0].message.contains("`f0` from `mul.f32 f0, f1, f2` of line 6"), "{}", notes[0]);
}

#[test]
fn a_module_says_its_version_and_target() {
    let codes = |text: &str| -> Vec<&'static str> {
        check_text(text, &Options::default()).iter().map(|finding| finding.code).collect()
    };
    assert_eq!(codes(""), ["PTX0010", "PTX0012"]);
    assert_eq!(codes(".version 8.0\n"), ["PTX0012"]);
    assert_eq!(codes(".target sm_90\n.version 8.0\n"), ["PTX0010"]);
    assert_eq!(codes(".version 8.0\n.target sm_90, fast\n"), ["PTX0012"]);
    assert_eq!(codes(".version 8.0\n.target sm_90\n.address_size 16\n"), ["PTX0012"]);
    assert_eq!(
        codes(".version 10.1\n.target sm_200\n.entry k () { newest.f32 a; }\n"),
        ["PTX0011", "PTX0012", "PTX0020"]
    );
}

/// An alias is a function, of one that is declared before it.
#[test]
fn an_alias_names_a_function() {
    let codes = |function: &str| -> Vec<(&'static str, bool)> {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.func f() {{ ret; }}\n.func g();\n.alias g, {function};\n\
             .visible .entry k() {{ call g; ret; }}\n"
        );
        let found = check_text(&text, &Options::default());
        found.iter().map(|finding| (finding.code, finding.message.contains(&format!("`{function}`")))).collect()
    };
    assert_eq!(codes("f"), []);
    assert_eq!(codes("h"), [("PTX0031", true)]);
}

/// With `.address_size 64`, and from sm_90 on without it, an address in global memory, or in any, has 64 bits; in shared memory it
/// may have 32.
#[test]
fn a_narrow_address_is_refused_where_addresses_are_wide() {
    let codes = |target: &str, body: &str| -> Vec<&'static str> {
        let text = module("8.6", target, body);
        check_text(&text, &Options::default()).iter().map(|finding| finding.code).collect()
    };
    for body in ["ld.global.u32 u0, [b0];", "st.u32 [u1+4], u0;", "atom.global.add.u32 u0, [b0], u1;"] {
        assert_eq!(codes("sm_80\n.address_size 64", body), ["PTX0027"], "{body}");
        assert_eq!(codes("sm_90", body), ["PTX0027"], "{body}");
        assert_eq!(codes("sm_80", body), [""; 0], "{body}");
    }
    for body in ["ld.shared.u32 u0, [b0];", "ld.local.u32 u0, [b0];", "ld.const.u32 u0, [b0];"] {
        assert_eq!(codes("sm_90\n.address_size 64", body), [""; 0], "{body}");
    }
}

/// A function reads its parameters and writes its results, as ptxas 12.9 and 13.5 have it.
#[test]
fn parameters_have_a_direction() {
    let codes = |head: &str, line: &str| -> Vec<&str> {
        let text = format!(".version 8.3\n.target sm_90\n{head} {{ .reg .b32 %r<3>; {line} ret; }}\n");
        check_text(&text, &Options::default()).into_iter().map(|finding| finding.code).collect()
    };
    let function = ".func (.param .u32 q) f(.param .u32 p)";
    let refused = ["st.param.u32 [p], %r1;", "st.param::func.u32 [p+4], %r1;", "ld.param.u32 %r1, [q];"];
    for line in refused {
        assert_eq!(codes(function, line), ["PTX0030"], "{line}");
    }
    assert_eq!(codes(".entry k(.param .u32 p)", refused[0]), ["PTX0030"]);
    let taken = [
        "ld.param.u32 %r1, [p]; st.param.u32 [q], %r1;",
        ".param .b32 z; st.param.b32 [z], %r1; ld.param.b32 %r1, [z];",
    ];
    for line in taken {
        assert!(codes(function, line).is_empty(), "{line}");
    }
}

/// What ptxas 12.9 and 13.5 take as the values of a call, in both places.
#[test]
fn the_values_of_a_call_are_of_its_parameters_types() {
    const FUNCTIONS: &str = ".func (.reg .f32 r) f(.reg .f32 a) { mov.f32 r, a; ret; }
.func (.reg .f16x2 r) x(.reg .f16 a) { ret; }
.func (.reg .b64 r) q(.reg .b128 a) { ret; }
.func (.param .b32 r) g(.param .b32 a, .param .u64 b) { ret; }
.func (.param .align 16 .b64 r) h(.param .align 16 .b8 a[32]) { ret; }
.func v(.param .u32 a[2], .param .align 8 .b8 b[]) { ret; }
.global .b32 gv;\n";
    const REGISTERS: &str = ".reg .pred %p<2>; .reg .b16 %h<2>; .reg .u32 %u<2>; .reg .b32 %r<2>; .reg .b64 %d<2>; .reg .f32 %f<2>; \
         .reg .f64 %e<2>; .reg .f16x2 %x<2>; .reg .b128 %q<2>; .reg .v2 .b32 %v2; .reg .v4 .f32 %v4;";
    let found = |body: &str| -> Vec<(&'static str, String)> {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n{FUNCTIONS}.entry k() {{ {REGISTERS} {body} ret; }}\n"
        );
        let underlined = |finding: &Finding| match finding.location {
            Location::Span { start, end } => text[start..end].to_owned(),
            _ => String::new(),
        };
        let findings = check_text(&text, &Options::default());
        findings.iter().map(|finding| (finding.code, underlined(finding))).collect()
    };
    let param = |declared: &str, call: &str| format!("{{ {declared} call {call}; }}");
    let taken = [
        "call (%f1), f, (%f0);".to_owned(),
        "call (%r1), f, (%r0);".to_owned(),
        "call (%x1), f, (1.0);".to_owned(),
        "call (_), f, (0f3f800000);".to_owned(),
        "call (%v2), q, (%v4);".to_owned(),
        "call (%e1), q, (1);".to_owned(),
        "call (%f1), g, (%u0, 1);".to_owned(),
        param(".param .f32 r; .param .align 2 .u32 a; .param .b64 b;", "(r), g, (a, b)"),
        param(".param .align 16 .b64 r; .param .align 16 .f32 a[8];", "(r), h, (a)"),
        param(".param .align 16 .b64 r; .param .align 16 .b64 a[4];", "(1.0), h, (a)"),
        param(".param .align 4 .b8 a[8]; .param .align 8 .b8 b[24];", "v, (a, b)"),
    ];
    for body in taken {
        assert_eq!(found(&body), [], "{body}");
    }
    let refused = [
        ("call (%f1), f, (%e0);".to_owned(), "PTX0027", "%e0"),
        ("call (%e1), f, (%f0);".to_owned(), "PTX0027", "%e1"),
        ("call (%p1), f, (%f0);".to_owned(), "PTX0027", "%p1"),
        ("call (%f1), f, (%u0);".to_owned(), "PTX0027", "%u0"),
        ("call (%f1), f, (%h0);".to_owned(), "PTX0027", "%h0"),
        ("call (%f1), f, (1);".to_owned(), "PTX0027", "1"),
        ("call (%f1), f, (_);".to_owned(), "PTX0030", "_"),
        ("call (%f1), f, (gv);".to_owned(), "PTX0030", "gv"),
        ("call (%f1), f, (k);".to_owned(), "PTX0030", "k"),
        ("call (%f1), f, (%laneid);".to_owned(), "PTX0030", "%laneid"),
        ("call (%f1), f, (-%f0);".to_owned(), "PTX0030", "-%f0"),
        ("call (%f1), f, ({%h0, %h1});".to_owned(), "PTX0030", "{%h0, %h1}"),
        ("call (%r1), x, (%r0);".to_owned(), "PTX0027", "%r0"),
        ("call (%r1), x, (1);".to_owned(), "PTX0027", "1"),
        ("call (%v4), q, (%q0);".to_owned(), "PTX0027", "%v4"),
        ("call (%r1), g, (%r0, 1.0);".to_owned(), "PTX0027", "1.0"),
        (param(".param .b32 r; .param .b32 a; .param .b32 c;", "(r), g, (a, c)"), "PTX0027", "c"),
        (param(".param .b32 r; .param .b64 a; .param .u64 b;", "(r), g, (a, b)"), "PTX0027", "a"),
        (param(".param .align 8 .b32 r; .param .b32 a; .param .u64 b;", "(r), g, (a, b)"), "PTX0027", "r"),
        (param(".param .b32 r; .param .b8 a[4]; .param .u64 b;", "(r), g, (a, b)"), "PTX0027", "a"),
        (param(".param .align 16 .b64 r; .param .align 16 .b8 a[16];", "(r), h, (a)"), "PTX0027", "a"),
        (param(".param .align 16 .b64 r; .param .align 8 .b8 a[32];", "(r), h, (a)"), "PTX0027", "a"),
        (param(".param .b64 r; .param .align 16 .b8 a[32];", "(r), h, (a)"), "PTX0027", "r"),
        (param(".param .align 16 .b8 a[32];", "(%d1), h, (a)"), "PTX0027", "%d1"),
        ("call (1), h, (%q0);".to_owned(), "PTX0027", "%q0"),
        ("call (1), h, (1);".to_owned(), "PTX0027", "1"),
        (param(".param .s32 a[2]; .param .align 8 .b8 b[24];", "v, (a, b)"), "PTX0027", "a"),
        (param(".param .u32 a[2]; .param .b8 b[24];", "v, (a, b)"), "PTX0027", "b"),
    ];
    for (body, code, place) in refused {
        assert_eq!(found(&body), [(code, place.to_owned())], "{body}");
    }
}

/// Up to PTX 1.4 textures are variables of their own state space. ptxas 12.9 and 13.5 take it.
#[test]
fn a_texture_may_be_a_variable_in_tex() {
    let codes = |names: &str| -> Vec<&'static str> {
        let text = format!(
            ".version 1.4\n.target sm_13\n.tex .u32 t; .global .u32 g; .entry k() {{ .reg .b32 r; .reg .f32 f; \
             tex.1d.v4.f32.s32 {{f, f, f, f}}, [{names}, {{r}}]; ret; }}\n"
        );
        check_text(&text, &Options::default()).iter().map(|finding| finding.code).collect()
    };
    assert_eq!(codes("t"), [""; 0]);
    assert_eq!(codes("g"), ["PTX0027"]);
}

/// What ptxas 12.9 and 13.5 take as declarations, and what not.
#[test]
fn declarations_are_of_their_place_type_size_and_value() {
    let found = |version: &str, target: &str, items: &str| -> Vec<&'static str> {
        let text = format!(".version {version}\n.target {target}\n.address_size 64\n{items}\n");
        check_text(&text, &Options::default()).iter().map(|finding| finding.code).collect()
    };
    let taken = [
        ".global .f32 g; .extern .global .f32 g;",
        ".extern .global .f32 g; .visible .global .f32 g = 1.0;",
        ".extern .shared .align 16 .b8 s[]; .extern .shared .align 16 .b8 s[];",
        ".extern .shared .b8 s[0]; .extern .shared .b8 z[][2];",
        ".global .f32 k; .func f() { .reg .f32 k; ret; }",
        ".global .u8 s = 256; .global .u8 t[] = {1, 2}; .global .u8 u[2][2] = {{1, 2}, {}};",
        ".global .v2 .u8 s[2] = {{1, 2}, {3, 4}}; .global .b16 t = 1.0; .global .b64 u[2] = {1.0, 2};",
        ".global .u32 x; .global .u64 s[2] = {x + 4, generic(x) + 8}; .const .f32 c = 0f3f800000;",
        ".global .align 33554432 .b8 s[4]; .global .f16x2 h; .shared .b128 q;",
        ".global .texref t; .global .v4 .f16x2 v;",
        ".func f(.param .b8 a[]) { ret; } .entry k(.param .u64 .ptr .global .align 8 a) { ret; }",
        ".common .global .f32 g; .global .attribute(.managed) .f32 m; .extern .func f();",
        ".entry k() .reqntid 32 .minnctapersm 2 .reqnctapercluster 2 .explicitcluster { ret; }",
        ".func f() .noreturn { trap; } .func g(.reg .v2 .f32 v) { ret; }",
    ];
    for items in taken {
        assert_eq!(found("8.7", "sm_90", items), [""; 0], "{items}");
    }
    let refused = [
        (".global .f32 g; .global .f32 g;", "PTX0016"),
        (".visible .global .f32 g; .weak .global .f32 g;", "PTX0016"),
        (".shared .f32 g; .const .f32 g;", "PTX0016"),
        (".global .f32 g, g;", "PTX0016"),
        (".entry k() { ret; } .global .f32 k;", "PTX0016"),
        (".global .f32 k; .entry k() { ret; }", "PTX0016"),
        (".extern .global .f32 k; .func k();", "PTX0016"),
        (".global .pred s;", "PTX0015"),
        (".entry k(.param .pred s) { ret; }", "PTX0015"),
        (".shared .bf16 s;", "PTX0015"),
        (".entry k() { .local .tf32 s; ret; }", "PTX0015"),
        (".shared .v4 .f64 s;", "PTX0015"),
        (".global .v2 .b128 s;", "PTX0015"),
        (".reg .f32 g;", "PTX0017"),
        (".local .f32 g;", "PTX0017"),
        (".param .f32 g;", "PTX0017"),
        (".tex .u32 t;", "PTX0017"),
        (".entry k(.reg .u32 a) { ret; }", "PTX0017"),
        (".extern .entry k(.reg .u32 a);", "PTX0017"),
        (".entry k(.param .v4 .f32 a) { ret; }", "PTX0017"),
        (".func f(.param .f16x2 a) { ret; }", "PTX0017"),
        (".entry k() { .param .v2 .f32 a; ret; }", "PTX0017"),
        (".common .shared .f32 g;", "PTX0017"),
        (".shared .attribute(.managed) .f32 g;", "PTX0017"),
        (".global .align 3 .b8 s[4];", "PTX0018"),
        (".global .align 0 .b8 s[4];", "PTX0018"),
        (".entry k(.param .u64 .ptr .global .align 7 a) { ret; }", "PTX0018"),
        (".func f(.param .align 3 .b8 a[4]) { ret; }", "PTX0018"),
        (".shared .b8 s[];", "PTX0018"),
        (".global .b8 s[0];", "PTX0018"),
        (".global .b8 s[-1];", "PTX0018"),
        (".global .b8 s[1.0];", "PTX0018"),
        (".global .b8 s[2][0];", "PTX0018"),
        (".entry k(.param .b8 s[]) { ret; }", "PTX0018"),
        (".func (.param .b8 s[]) f() { ret; }", "PTX0018"),
        (".func f(.param .b8 s[], .param .b8 x) { ret; }", "PTX0018"),
        (".entry k() { .local .b8 s[]; ret; }", "PTX0018"),
        (".entry k() { .reg .b8 s[4]; ret; }", "PTX0018"),
        (".shared .f32 s = 1.0;", "PTX0019"),
        (".extern .global .f32 s = 1.0;", "PTX0019"),
        (".global .u8 s[3] = {1, 2, 3, 4};", "PTX0019"),
        (".global .u8 s = {1};", "PTX0019"),
        (".global .u8 s[2] = 1;", "PTX0019"),
        (".global .u8 s[2][2] = {{1, 2}, 3};", "PTX0019"),
        (".global .u8 s[2][2] = {1, 2};", "PTX0019"),
        (".global .v4 .f32 s = {1.0, 2.0, 3.0};", "PTX0019"),
        (".global .f32 s[2] = {1.0, 2};", "PTX0019"),
        (".global .u32 s = 1.0;", "PTX0019"),
        (".global .f16 s = 1.0;", "PTX0019"),
        (".entry k() .maxntid 64 .reqntid 64 { ret; }", "PTX0034"),
        (".entry k() .reqnctapercluster 2 .maxclusterrank 8 { ret; }", "PTX0034"),
        (".entry k() .blocksareclusters .reqntid 32 .reqnctapercluster 2 { ret; }", "PTX0025"),
        (".func (.reg .u32 r) f() .noreturn { trap; }", "PTX0034"),
        (".extern .func f() { ret; }", "PTX0034"),
        (".visible .visible .entry k() { ret; }", "PTX0001"),
        (".visible .weak .global .f32 g;", "PTX0001"),
        (".version 8.7", "PTX0010"),
    ];
    for (items, code) in refused {
        assert!(found("8.7", "sm_90", items).contains(&code), "{items}: {:?}", found("8.7", "sm_90", items));
    }
    // From which version and target on.
    let clusters = ".entry k() .blocksareclusters .reqntid 32 .reqnctapercluster 2 { ret; }";
    assert_eq!(found("9.0", "sm_90", clusters), [""; 0]);
    assert_eq!(found("9.0", "sm_90", ".entry k() .blocksareclusters .reqntid 32 { ret; }"), ["PTX0034"]);
    for items in [".entry k() { .reg .b128 q; ret; }", ".global .b128 q;", ".func f(.param .b128 q) { ret; }"] {
        assert_eq!(found("8.3", "sm_70", items), [""; 0], "{items}");
        assert_eq!(found("8.2", "sm_90", items), ["PTX0015"], "{items}");
        assert_eq!(found("8.3", "sm_60", items), ["PTX0015"], "{items}");
    }
    assert_eq!(found("2.3", "sm_20", ".local .f32 g; .reg .f32 r;"), [""; 0]);
    let narrow = |target: &str| {
        let text = format!(".version 8.0\n.target {target}\n.address_size 32\n");
        check_text(&text, &Options::default()).iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    assert_eq!((narrow("sm_89"), narrow("sm_90")), (vec![], vec!["PTX0012"]));
}

/// Special registers with numbers, parts that all are thrown away, and elements in brackets.
#[test]
fn operands_that_the_assembler_refuses() {
    let found = |body: &str| -> Vec<&'static str> {
        let registers = ".reg .b16 %h<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<2>;";
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.shared .f32 s[64], o;\n.entry k() {{ {registers} {body} ret; }}\n"
        );
        check_text(&text, &Options::default()).iter().map(|finding| finding.code).collect()
    };
    for body in [
        "mov.u32 %r1, %envreg31; mov.u32 %r1, %pm7; mov.u64 %rd1, %pm0_64; mov.b32 %r1, %reserved_smem_offset_1;",
        "mov.b32 {_, %h1}, %r1; mov.b64 {_, %h1, _, _}, %rd1; ld.global.v2.b32 {_, %r1}, [%rd1];",
        "ld.shared.f32 %f1, [s+8]; ld.shared.f32 %f1, s[2]; mov.u32 %r1, s[2];",
        "ld.shared.f32 %f1, s[%r1]; st.shared.f32 s[%rd1], %f1; ld.shared.f32 %f1, s[%h1]; mov.u32 %r1, s[%r2];",
        "ld.shared.f32 %f1, s[%r1+(1+1)]; ld.shared.f32 %f1, s[%rd1+-1]; mov.u32 %r1, s[%r2+1]; mov.u32 %r1, s[%laneid];",
    ] {
        assert_eq!(found(body), [""; 0], "{body}");
    }
    for (body, code) in [
        ("mov.u32 %r1, %envreg32;", "PTX0031"),
        ("mov.u32 %r1, %envreg031;", "PTX0031"),
        ("mov.u32 %r1, %pm8;", "PTX0031"),
        ("mov.b32 {_, _}, %r1;", "PTX0030"),
        ("ld.global.v4.b32 {_, _, _, _}, [%rd1];", "PTX0030"),
        ("ld.shared.f32 %f1, [s[2]];", "PTX0030"),
        ("ld.shared.f32 %f1, s[%f1];", "PTX0030"),
        ("mov.u32 %r1, s[%f1+1];", "PTX0030"),
        ("mov.u32 %r1, s[%nope];", "PTX0031"),
        ("mov.u32 %r1, s[k];", "PTX0030"),
        ("mov.u32 %r1, s[%r1-1];", "PTX0001"),
        ("mov.u32 %r1, s[%r1*2];", "PTX0001"),
        ("mov.u32 %r1, s[%r1+%r2];", "PTX0001"),
        ("mov.u32 %r1, s[1+%r2];", "PTX0001"),
        ("mov.u32 %r1, s[];", "PTX0001"),
        ("ld.shared.f32 %f1, o[0];", "PTX0030"),
        ("mov.u32 %r1, %r2[0];", "PTX0030"),
        ("st.shared.f32 [s[2]+4], %f1;", "PTX0030"),
    ] {
        assert_eq!(found(body), [code], "{body}");
    }
}

#[test]
fn a_typo_is_named_and_what_is_offered_can_be_written() {
    #[rustfmt::skip] // A table: a statement, what the message points at, and what the message and its help say.
    let cases: &[(&str, &str, &[&str])] = &[
        ("mul.lo.f32 f0, f1, f2;", ".lo", &["`.lo` belongs to `mul.lo|.hi.u16|.u32|.u64|.s16|.s32|.s64`"]),
        ("mul.wide.f32 f0, f1, f2;", ".wide", &["`.wide` belongs to `mul.wide.u16|.s16|.u32|.s32`"]),
        ("add.u33 u0, u1, u2;", ".u33", &["`.u33` is neither a type nor a modifier of `add`", "add.u16|.u32|.u64|.s16|.s32|.s64, "]),
        ("sub.i32 u0, u1, u2;", ".i32", &["`.i32` is neither a type nor a modifier of `sub`", "sub.u16|.u32|.u64|.s16|.s32|.s64, "]),
        ("mul.s33 u0, u1, u2;", ".s33", &["`.s33` is neither a type nor a modifier of `mul`", "mul.lo|.hi.u16|"]),
        ("add.b32 u0, u1, u2;", "add.b32", &["`.b32` is no type of `add`", "add.u16|.u32|.u64|.s16|.s32|.s64, ", "add{.rnd}{.ftz}{.sat}.f32"]),
        ("add u0, u1, u2;", "add", &["no type is written", "add.u16|.u32|.u64|.s16|.s32|.s64, "]),
        ("mad.u32 u0, u1, u2, u3;", "mad.u32", &["`.u32` is no type of `mad`", "mad.lo|.hi.u16|.s16|.u32|.s32|.u64|.s64, mad.wide.u16|.s16|.u32|.s32, ", "mad.rnd{.ftz}{.sat}.f32"]),
        ("redux.sync.add.u33 u0, u1, u2;", ".u33", &["`.u33` is neither a type nor a modifier of `redux`"]),
        ("selp.f33 f0, f1, f2, p0;", ".f33", &["`selp.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64`"]),
        ("shl.u32 b0, b1, b2;", "shl.u32", &["`.u32` is no type of `shl`: expected one of `shl.b16|.b32|.b64`"]),
        ("min.i32 u0, u1, u2;", ".i32", &["`min.u16|.u32|.u64|.s16|.s32|.s64`"]),
        ("isspacep.foo p0, q0;", "isspacep.foo", &["`isspacep.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry`"]),
    ];
    for &(body, underlined, said) in cases {
        let text = module("8.6", "sm_100", body);
        let findings = check_text(&text, &Options::default());
        let [finding] = findings.as_slice() else { panic!("{body}: {findings:?}") };
        let Location::Span { start, end } = finding.location else { panic!("{body}: {finding}") };
        assert_eq!(&text[start..end], underlined, "{body}: {finding}");
        let whole = format!("{} {}", finding.message, finding.help);
        assert!(said.iter().all(|part| whole.contains(part)), "{body}: {whole}");
    }
}

#[test]
fn an_indexed_branch_goes_by_a_list_before_it() {
    let before = "L: ts: .branchtargets L; brx.idx u0, ts;";
    assert_eq!(reported("8.6", "sm_100", before), []);
    assert_eq!(reported("8.6", "sm_100", "{ L: ts: .branchtargets L; { @p0 brx.idx u0, ts; } }"), []);
    let wrong = |place: &str| vec![(Severity::Error, "PTX0030", place.to_owned())];
    assert_eq!(reported("8.6", "sm_100", "L: brx.idx u0, ts; ts: .branchtargets L;"), wrong("ts"));
    assert_eq!(reported("8.6", "sm_100", "L: brx.idx u0, L;"), wrong("L"));
    assert_eq!(reported("8.6", "sm_100", "L: .calltargets f; brx.idx u0, L;").last(), wrong("L").last());
}
