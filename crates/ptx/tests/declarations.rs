//! Declarations and directives: since when they are there, and what ptxas 12.9 and 13.5 refuse of them.

use roundonce_ptx::{Options, check_text};

fn found(version: &str, target: &str, items: &str) -> Vec<&'static str> {
    let text = format!(".version {version}\n.target {target}\n{items}\n");
    check_text(&text, &Options::default()).iter().map(|finding| finding.code).collect()
}

/// What stands at the top, the last PTX without it, the first with it, the last target without it and the first with it.
#[rustfmt::skip] // A table.
const SINCE: &[(&str, [&str; 2], [&str; 2])] = &[
    (".common .global .u32 x;", ["4.3", "5.0"], ["", "sm_30"]),
    (".weak .global .u32 x;", ["3.0", "3.1"], ["", "sm_20"]),
    (".weak .func f() { ret; }", ["3.0", "3.1"], ["", "sm_20"]),
    (".func f() .noreturn { trap; }", ["6.3", "6.4"], ["sm_20", "sm_30"]),
    (".entry k() { c: .callprototype _ () .noreturn; ret; }", ["6.3", "6.4"], ["sm_20", "sm_30"]),
    (".func f(); .func g() { ret; } .alias f, g;", ["6.2", "6.3"], ["sm_20", "sm_30"]),
    (".entry k() .reqnctapercluster 2 { ret; }", ["", "7.8"], ["sm_89", "sm_90"]),
    (".entry k() .explicitcluster .maxclusterrank 4 { ret; }", ["", "7.8"], ["sm_89", "sm_90"]),
    (".func f() .abi_preserve 4 { ret; }", ["8.8", "9.0"], ["sm_75", "sm_80"]),
    (".func f() .abi_preserve_control 4 { ret; }", ["8.8", "9.0"], ["sm_75", "sm_80"]),
    (".global .attribute(.managed) .u32 x;", ["3.2", "4.0"], ["sm_20", "sm_30"]),
    (".global .attribute(.unified(1,2)) .u32 x;", ["7.8", "8.0"], ["sm_89", "sm_90"]),
    (".func .attribute(.unified(1,2)) f() { ret; }", ["7.8", "8.0"], ["sm_89", "sm_90"]),
    (".func f(.param .b8 a[]) { ret; }", ["5.1", "6.0"], ["sm_20", "sm_30"]),
    (".section .debug_str { s: .b8 0 }", ["6.5", "7.0"], ["", "sm_20"]),
    (".global .u32 y; .global .u8 x[8] = {0xff(y), 0xff00(y)};", ["7.0", "7.1"], ["", "sm_20"]),
    (".global .u32 y; .global .u32 x = generic(y);", ["3.0", "3.1"], ["", "sm_20"]),
    (".global .u32 y; .global .u32 x = y;", ["2.0", "2.1"], ["", "sm_20"]),
    (".entry k() { ret; } .global .u32 x = k;", ["", "3.1"], ["sm_30", "sm_35"]),
    (".entry k() .minnctapersm 2 .maxntid 32 { ret; }", ["1.5", "2.0"], ["", "sm_13"]),
    (".entry k() .reqntid 32 { ret; }", ["2.0", "2.1"], ["", "sm_20"]),
    (".entry k() { .pragma \"nounroll\"; ret; }", ["1.5", "2.0"], ["", "sm_13"]),
    (".entry k() { .pragma \"used_bytes_mask 0xfff\"; ret; }", ["8.2", "8.3"], ["", "sm_80"]),
    (".entry k() { .pragma \"nounroll\", \"enable_smem_spilling\"; ret; }", ["8.6", "8.7"], ["", "sm_80"]),
    (".entry k() { .pragma \"frequency 32\"; ret; }", ["8.8", "9.0"], ["", "sm_80"]),
];

#[test]
fn declarations_and_directives_have_a_first_version_and_target() {
    for (items, [before, first], [lower, target]) in SINCE {
        assert_eq!(found(first, target, items), [""; 0], "PTX {first}, {target}: {items}");
        if !before.is_empty() {
            let codes = found(before, target, items);
            assert!(
                !codes.is_empty() && codes.iter().all(|code| matches!(*code, "PTX0025" | "PTX0013")),
                "{items}: {codes:?}"
            );
            assert!(codes.contains(&"PTX0025"), "PTX {before}: {items}: {codes:?}");
        }
        if !lower.is_empty() {
            let codes = found(first, lower, items);
            assert!(codes.contains(&"PTX0026"), "{lower}: {items}: {codes:?}");
        }
    }
    // Packed halves have a rule of their own.
    assert_eq!(found("8.0", "sm_50", ".global .f16x2 x;"), ["PTX0015"]);
    assert_eq!(found("8.0", "sm_53", ".global .f16x2 x;"), [""; 0]);
}

/// How large the parameters of a kernel may be together.
#[test]
fn parameters_of_kernels_have_a_size() {
    let kernel = |bytes: u32| format!(".entry k(.param .b8 a[{bytes}]) {{ ret; }}");
    for (version, target, most) in
        [("4.0", "sm_20", 4352), ("8.0", "sm_90", 4352), ("8.1", "sm_60", 4352), ("8.1", "sm_70", 32764)]
    {
        assert_eq!(found(version, target, &kernel(most)), [""; 0], "PTX {version}, {target}");
        assert_eq!(found(version, target, &kernel(most + 1)), ["PTX0035"], "PTX {version}, {target}");
    }
    // With what lies between them; samplers and textures do not count.
    let two = ".entry k(.param .b8 a[32760], .param .b8 b, .param .u32 c) { ret; }";
    assert_eq!(found("9.0", "sm_90", two), ["PTX0035"]);
    let texture = ".entry k(.param .b8 a[32764], .param .texref t) { ret; }";
    assert_eq!(found("9.0", "sm_90", texture), [""; 0]);
}

#[test]
fn declarations_that_no_version_has() {
    for items in [
        ".func (.reg .u32 r, .reg .u32 q) f() { ret; }",
        ".entry k() { .reg .u32 $1, __, $$, %tid; ret; }",
        ".entry k(.param .u32 _) { t: .callprototype (.param .u32 _) _ (.param .u32 _, .reg .u32 _); ret; }",
        ".entry k() .maxnreg 0x10 .maxntid 32, 2, 4 .minnctapersm 1 { ret; }",
        ".entry k() .reqnctapercluster 2, 1 { ret; }",
        ".entry k() { .reg .u64 f; t: .callprototype _ (); call f, (), t; call f, t; ret; }",
        ".func f() { ret; } .entry k() { .reg .u64 p; t: .calltargets f; call p, (), t; ret; }",
        ".entry k() { x: { t: .branchtargets x, y, t; y: ret; } }",
    ] {
        assert_eq!(found("9.0", "sm_90", items), [""; 0], "{items}");
    }
    for (items, code) in [
        (".func (.param .u32 r, .param .u32 q) f() { ret; }", "PTX0017"),
        (".func (.param .u32 r, .reg .u32 q) f() { ret; }", "PTX0017"),
        (".entry k() { t: .callprototype (.param .u32 _, .param .u32 _) _ (); ret; }", "PTX0017"),
        (".func f(.shared .u32 a) { ret; }", "PTX0017"),
        (".func (.local .u32 a) f() { ret; }", "PTX0017"),
        (".entry k() { t: .callprototype _ (.local .u32 _); ret; }", "PTX0017"),
        (".texref t;", "PTX0017"),
        (".u32 x;", "PTX0017"),
        (".entry k() { .reg .u32 WARP_SZ; ret; }", "PTX0001"),
        (".func WARP_SZ();", "PTX0001"),
        (".entry k() { .reg .u32 $; ret; }", "PTX0001"),
        (".entry k() { .reg .u32 _; ret; }", "PTX0001"),
        (".entry k() { .reg .u32 $<2>; ret; }", "PTX0001"),
        (".entry k() { $: ret; }", "PTX0001"),
        (".global .u32 _;", "PTX0001"),
        (".func f(.param .u32 _) { ret; }", "PTX0001"),
        (".entry k() .maxnreg 0 { ret; }", "PTX0034"),
        (".entry k() .maxntid 32, 0 { ret; }", "PTX0034"),
        (".entry k() .maxntid 32, 2, 4, 5 { ret; }", "PTX0034"),
        (".entry k() .maxnreg { ret; }", "PTX0034"),
        (".entry k() .maxnreg -3 { ret; }", "PTX0034"),
        (".entry k() .maxclusterrank 1, 2 { ret; }", "PTX0034"),
        (".func f() .maxntid 32 { ret; }", "PTX0034"),
        (".entry k() .noreturn { ret; }", "PTX0034"),
        (".global .samplerref s = {addr_mode_0=wrap, filter_mode=nearest};", "PTX0026"),
        (".entry k() { .reg .u64 f; call f, (); ret; }", "PTX0028"),
        (".entry k() { .reg .u64 f; call f; ret; }", "PTX0028"),
        (".entry k() { t: .branchtargets x, y; x: ret; }", "PTX0031"),
        (".entry k() { .reg .u32 y; t: .branchtargets y; ret; }", "PTX0030"),
        (".entry k() { x: t: .calltargets x; ret; }", "PTX0030"),
    ] {
        assert_eq!(found("9.0", "sm_90", items), [code], "{items}");
    }
    assert_eq!(found("9.0", "sm_90, texmode_independent", ".global .samplerref s;"), [""; 0]);
}

/// State spaces that exclude each other, and the numbers of barriers.
#[test]
fn spaces_and_barriers() {
    let body = |body: &str| {
        let registers = ".reg .pred p; .reg .u32 r<4>; .reg .u64 d<4>;";
        found("9.0", "sm_100a", &format!(".address_size 64\n.entry k(.param .u32 n) {{ {registers} {body} ret; }}"))
    };
    for statement in [
        "ld.param::entry.u32 r0, [n];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [d0], r0, [d1];",
        "bar.sync 15, 64; bar.sync 0, 0; bar.sync r0, r1; bar.arrive 1, WARP_SZ; bar.sync 1, -32;",
        "bar.red.popc.u32 r0, 15, 64, p; bar.warp.sync 33; barrier.sync 7+8, r0;",
    ] {
        assert_eq!(body(statement), [""; 0], "{statement}");
    }
    for (statement, code) in [
        ("ld.param::func.u32 r0, [n];", "PTX0030"),
        (
            "red.async.relaxed.cluster.global.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [d0], r0, [d1];",
            "PTX0024",
        ),
        ("bar.sync 0, 33;", "PTX0027"),
        ("bar.sync 16;", "PTX0027"),
        ("bar.sync 8+8;", "PTX0027"),
        ("bar.sync -1;", "PTX0027"),
        ("bar.arrive 0, 63;", "PTX0027"),
        ("bar.arrive 0, 0;", "PTX0027"),
        ("bar.red.popc.u32 r0, 16, p;", "PTX0027"),
        ("barrier.red.and.pred p, 1, 33, p;", "PTX0027"),
        ("barrier.sync 16;", "PTX0027"),
    ] {
        assert_eq!(body(statement), [code], "{statement}");
    }
    let function = ".func f(.param .u32 n) { .reg .u32 r; ld.param::func.u32 r, [n]; ret; }";
    assert_eq!(found("9.0", "sm_90", function), [""; 0]);
}

/// A function's declarations and its body: what they must have alike, and what not, as ptxas 12.9 and 13.5 have it.
#[test]
#[rustfmt::skip] // A table.
fn declarations_of_a_function_agree() {
    for (first, second, agree) in [
        (".visible .func f(.param .b32 a);", ".visible .func f(.param .b32 b) { ret; }", true),
        (".weak .func f(.param .b32 a);", ".weak .func f(.param .b32 a) { ret; }", true),
        (".extern .func f(.param .b32 a);", ".extern .func f(.param .b32 a);", true),
        (".visible .entry f(.param .b32 a);", ".visible .entry f(.param .b32 a) .maxntid 32 { ret; }", true),
        (".extern .func f(.param .b32 a);", ".visible .func f(.param .b32 a) { ret; }", false),
        (".func f(.param .b32 a);", ".weak .func f(.param .b32 a) { ret; }", false),
        (".visible .func f(.param .b32 a);", ".visible .entry f(.param .b32 a) { ret; }", false),
        (".visible .func f(.param .b32 a);", ".visible .func f(.param .u32 a) { ret; }", false),
        (".visible .func f(.param .b32 a);", ".visible .func f(.reg .b32 a) { ret; }", false),
        (".visible .func f(.param .b32 a);", ".visible .func f(.param .b32 a, .param .b32 b) { ret; }", false),
        (".visible .func f(.param .b8 a[8]);", ".visible .func f(.param .b8 a[16]) { ret; }", false),
        (".visible .func (.param .b32 r) f();", ".visible .func f() { ret; }", false),
    ] {
        let codes = found("7.8", "sm_75", &format!("{first}\n{second}"));
        assert_eq!(codes, if agree { &[][..] } else { &["PTX0034"][..] }, "{first} {second}");
    }
}
