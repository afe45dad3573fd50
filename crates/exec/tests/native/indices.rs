//! Addresses of a base and an index in each lane: by both machines' code and by the interpreter.

use super::scattered::{FILL, hold, program, random_words};
use super::{Case, words, zeros};
use roundonce_exec::Engine;

/// How `%rd9` is computed from a base and the index %r3, which is below 1,024.
const FORMS: [&str; 9] = [
    "mul.wide.u32 %rd9, %r3, 4; add.u64 %rd9, %rd1, %rd9;",
    "mul.wide.s32 %rd9, %r3, 8; add.s64 %rd9, %rd9, %rd1;",
    "mad.wide.s32 %rd9, %r3, 4, %rd1;",
    "mad.wide.u32 %rd9, %r3, 8, %rd1;",
    "cvt.s64.s32 %rd9, %r3; shl.b64 %rd9, %rd9, 2; add.s64 %rd9, %rd1, %rd9;",
    "cvt.u64.u32 %rd9, %r3; mul.lo.u64 %rd9, %rd9, 8; add.s64 %rd9, %rd1, %rd9;",
    // A base in the middle of the table, and indices on both sides of it.
    "sub.s32 %r3, %r3, 500; add.u64 %rd10, %rd1, 4096; mad.wide.s32 %rd9, %r3, 4, %rd10;",
    // One before the table.
    "add.s32 %r3, %r3, 100; sub.u64 %rd10, %rd1, 400; mad.wide.s32 %rd9, %r3, 4, %rd10;",
    // One that each block has of its own.
    "mul.wide.u32 %rd10, %r5, 8; add.u64 %rd10, %rd1, %rd10; mad.wide.s32 %rd9, %r3, 4, %rd10;",
];

fn bodies() -> Vec<String> {
    let mut all = Vec::new();
    for form in FORMS {
        for access in [
            "ld.global.u32 %r10, [%rd9]; st.global.u32 [%rd2], %r10;",
            "ld.global.f32 %f2, [%rd9+4]; ld.global.f32 %f3, [%rd9]; sub.f32 %f4, %f2, %f3; st.global.f32 [%rd2], %f4;",
            "@%p1 ld.global.u32 %r10, [%rd9+4]; @!%p2 ld.global.u32 %r11, [%rd9]; st.global.v2.u32 [%rd2], {%r10, %r11};",
            "ld.global.s32 %rd12, [%rd9]; st.global.u64 [%rd2], %rd12;",
            "mov.u32 %r10, 1; @%p1 bra A; ld.global.u32 %r10, [%rd9]; A: st.global.u32 [%rd2], %r10;",
            // What is loaded, or computed, is the index or the base.
            "ld.global.u32 %r3, [%rd9]; st.global.u32 [%rd2], %r3;",
            "add.u32 %r3, %r3, 1; ld.global.u32 %r10, [%rd9]; st.global.v2.u32 [%rd2], {%r3, %r10};",
            "add.u64 %rd1, %rd1, 4; add.u64 %rd10, %rd1, 4; ld.global.u32 %r10, [%rd9]; st.global.u32 [%rd2], %r10; st.global.u64 [%rd2+8], %rd10;",
            // The address is used otherwise too, or elsewhere.
            "ld.global.u32 %r10, [%rd9]; st.global.u64 [%rd2], %rd9; st.global.u32 [%rd2+8], %r10;",
            "ld.global.u32 %r10, [%rd9]; @%p1 bra A; ld.global.u32 %r11, [%rd9+4]; add.u32 %r10, %r10, %r11; A: st.global.u32 [%rd2], %r10;",
            "and.b32 %r9, %r4, 7; mov.u32 %r10, 0; L: ld.global.u32 %r11, [%rd9]; mad.lo.u32 %r10, %r10, 3, %r11; sub.u32 %r9, %r9, 1; setp.gt.s32 %p3, %r9, 0;
             @%p3 bra L; st.global.u32 [%rd2], %r10;",
        ] {
            all.push(format!("{form} {access}"));
        }
    }
    for bytes in [4, 8] {
        let ty = 8 * bytes;
        let value = if bytes == 4 { "%r4" } else { "%rd5" };
        let at = format!("and.b32 %r3, %r3, 511; mad.wide.u32 %rd9, %r3, {bytes}, %rd4;");
        all.push(format!("{at} red.global.add.u{ty} [%rd9], {value};"));
        all.push(format!("{at} @%p1 red.global.max.u{ty} [%rd9+16], {value};"));
        // Each its own place.
        let own = format!(
            "mul.lo.u32 %r10, %r2, 37; and.b32 %r10, %r10, 127; mad.lo.u32 %r3, %r5, 128, %r10; mad.wide.u32 %rd9, %r3, {bytes}, %rd4;"
        );
        all.push(format!("{own} st.global.b{ty} [%rd9], {value};"));
        // The index is a subnormal's bits.
        let (index, _) = own.rsplit_once("mad.wide").unwrap();
        all.push(format!(
            "{index} mov.b32 %f4, %r3; add.f32 %f4, %f4, 0f00000000; mov.b32 %r13, %f4; mad.wide.u32 %rd9, %r13, {bytes}, %rd4;
             st.global.b{ty} [%rd9], {value};"
        ));
        all.push(format!(
            "{own} add.u32 %r3, %r3, 7; st.global.b{ty} [%rd9], {value}; st.global.u32 [%rd4+65536], %r6;"
        ));
    }
    all
}

/// Threads whose index, or base, leads outside of the table.
fn errors() -> Vec<String> {
    let one = "xor.b32 %r12, %r1, %r4; xor.b32 %r13, %r4, 1234; setp.eq.u32 %p3, %r12, %r13;";
    let mut all = Vec::new();
    for (index, base, sign) in [
        // Behind the table, before it, at the ends of 32 bits.
        (2100, "%rd1", "s32"),
        (-1, "%rd1", "s32"),
        (i32::MAX, "%rd1", "s32"),
        (i32::MIN, "%rd1", "u32"),
        (-1, "%rd1", "u32"),
        (0x4000_0000, "%rd1", "s32"),
        // From the middle of the table an unsigned index leads on only.
        (-1, "%rd10", "u32"),
        (-513, "%rd10", "s32"),
        (1588, "%rd10", "s32"),
    ] {
        for access in [
            "ld.global.u32 %r10, [%rd9]; st.global.u32 [%rd2], %r10;",
            "ld.global.u32 %r10, [%rd9]; ld.global.u32 %r11, [%rd9+4]; st.global.u32 [%rd2], %r10;",
            "st.global.u32 [%rd9], %r10;",
        ] {
            all.push(format!(
                "{FILL} {one} add.u64 %rd10, %rd1, 2048; @%p3 mov.u32 %r3, {index}; mad.wide.{sign} %rd9, %r3, 4, {base}; {access}"
            ));
        }
    }
    // 2^33 words behind the table: of the index that leads into it only the upper half is not zero.
    all.push("setp.gt.u32 %p3, %r5, 5; selp.b64 %rd10, 0x800000000, 0, %p3; add.u64 %rd10, %rd1, %rd10; mad.wide.s32 %rd9, %r3, 4, %rd10; ld.global.u32 %r10, [%rd9]; st.global.u32 [%rd2], %r10;".into());
    // Few threads pass a side, and few of the others are at the table's end, or the data's.
    let few =
        "and.b32 %r7, %r4, 0x7f0000; setp.eq.u32 %p3, %r7, 0; setp.eq.u32 %p4, %r7, 0x10000; @%p3 mov.u32 %r3, 2099;";
    for loads in [
        "mad.wide.u32 %rd9, %r3, 4, %rd1; ld.global.u32 %r10, [%rd9]; ld.global.u32 %r11, [%rd9+4];",
        "mad.wide.s32 %rd9, %r3, 4, %rd1; ld.global.u32 %r11, [%rd9+4]; ld.global.u32 %r10, [%rd9];",
        "ld.global.u32 %r10, [%rd6]; ld.global.u32 %r11, [%rd6+4];",
    ] {
        all.push(format!("{FILL} {few} @%p4 bra A; {loads} add.u32 %r10, %r10, %r11; st.global.u32 [%rd2], %r10; A:"));
    }
    // No segment, and no multiple of the element.
    for access in ["ld.global.u32 %r10, [%rd9]; st.global.u32 [%rd2], %r10;", "st.global.u32 [%rd9], %r10;"] {
        all.push(format!("mov.u64 %rd10, 2; mad.wide.u32 %rd9, %r3, 4, %rd10; {access}"));
    }
    // The last word, of which the second load has none behind; a base that is not a multiple of the element; none at all.
    all.push(format!("{one} @%p3 mov.u32 %r3, 2099; mad.wide.u32 %rd9, %r3, 4, %rd1; ld.global.u32 %r10, [%rd9]; ld.global.u32 %r11, [%rd9+4]; st.global.u32 [%rd2], %r10;"));
    all.push("add.u64 %rd10, %rd1, 2; mad.wide.u32 %rd9, %r3, 4, %rd10; ld.global.u32 %r10, [%rd9]; st.global.u32 [%rd2], %r10;".into());
    all.push("mov.u64 %rd10, 0x8000000000000000; mad.wide.u32 %rd9, %r3, 4, %rd10; ld.global.u32 %r10, [%rd9]; st.global.u32 [%rd2], %r10;".into());
    all.push(
        "mov.u64 %rd10, 3; mad.wide.u32 %rd9, %r3, 8, %rd10; ld.global.u32 %r10, [%rd9]; st.global.u32 [%rd2], %r10;"
            .into(),
    );
    all
}

#[test]
fn a_base_and_an_index() {
    hold(&bodies(), random_words, 0.6);
}

#[test]
fn an_index_outside() {
    let bodies = errors();
    hold(&bodies, random_words, -1.0);
    let program = program(&bodies);
    for (number, body) in bodies.iter().enumerate() {
        let args = vec![words(2100, 1, 5), random_words(number as u64), zeros(32768)];
        let entry = format!("k{number}");
        let ran = Case::line(&program, &entry, 16, 128, args).run(Engine::Interpreter, 1).0;
        assert!(ran.is_err(), "{body}");
    }
}
