//! Loads, stores, atomics, addresses: by a thread alone, and by the threads of a warp together.

use super::Forms;

#[test]
fn alone() {
    let mut forms = Forms::default();
    // Every thread has 16 bytes of shared memory of its own, at %y4; generic in %y5.
    let own = "cvt.u64.u32 %y4, %r9; rem.u64 %y4, %y4, 256; shl.b64 %y4, %y4, 5; mov.u64 %y6, shared; \
               add.u64 %y4, %y4, %y6; cvta.shared.u64 %y5, %y4; st.shared.v2.u64 [%y4], {%x1, %x2};";
    let mut add = |kind: &str, text: &str, judge: fn([u64; 4]) -> u64| {
        forms.add(format!("// %{kind}\n{own}\n{text}"), judge);
    };
    add("x", "ld.shared.u64 %x0, [%y4];", |[a, ..]| a);
    add("x", "ld.u64 %x0, [%y5+8];", |[_, b, ..]| b);
    add("x", "ld.shared::cta.u64 %x0, [%y4+8];", |[_, b, ..]| b);
    add("r", "ld.volatile.shared.u32 %r0, [%y4+4];", |[a, ..]| a >> 32);
    add("r", "ld.relaxed.cta.shared.u32 %r0, [%y4+4];", |[a, ..]| a >> 32);
    add("r", "ld.acquire.gpu.u32 %r0, [%y5];", |[a, ..]| a);
    add("r", "ld.weak.shared.s8 %r0, [%y4+3];", |[a, ..]| a.to_le_bytes()[3] as i8 as u64);
    add("r", "ld.shared.u8 %r0, [%y4+3];", |[a, ..]| a.to_le_bytes()[3].into());
    add("x", "ld.shared.s16 %x0, [%y4+2];", |[a, ..]| (a >> 16) as i16 as u64);
    add("h", "ld.shared.v4.u8 {%h5, %h6, %h0, %h7}, [%y4];", |[a, ..]| a.to_le_bytes()[2].into());
    add("r", "ld.shared.v4.b32 {%r5, %r6, %r7, %r0}, [%y4];", |[_, b, ..]| b >> 32);
    add("x", "ld.shared.b128 %q1, [%y4]; mov.b128 {%x5, %x0}, %q1;", |[_, b, ..]| b);
    add("x", "mov.b128 %q1, {%x3, %x4}; st.shared.b128 [%y4], %q1; ld.shared.u64 %x0, [%y4+8];", |[.., d]| d);
    add("x", "ld.global.b128 %q1, [%y1+16]; mov.b128 {%x0, %x5}, %q1;", |[_, _, c, _]| c);
    add("x", "ld.b128 %q1, [%y5]; mov.b128 {%x0, %x5}, %q1;", |[a, ..]| a);
    add("x", "mov.b128 %q1, {%x3, %x4}; st.global.b128 [%y2], %q1; ld.global.u64 %x0, [%y2+8];", |[.., d]| d);
    add("x", "mov.b128 %q1, {%x3, %x4}; @%p3 st.b128 [%y5], %q1; ld.shared.u64 %x0, [%y4];", |[a, _, c, _]| {
        if c & 1 == 1 { c } else { a }
    });
    add("x", "st.shared.u8 [%y4+1], %r3; ld.shared.u64 %x0, [%y4];", |[a, _, c, _]| a & !0xff00 | (c & 0xff) << 8);
    add("x", "st.shared.b16 [%y4+6], %h3; ld.shared.u64 %x0, [%y4];", |[a, _, c, _]| a & u64::MAX >> 16 | c << 48);
    add("x", "st.release.sys.v2.f32 [%y5], {%f3, %f4}; ld.shared.u64 %x0, [%y4];", |[_, _, c, d]| {
        c & 0xffff_ffff | d << 32
    });
    add("x", "st.relaxed.gpu.global.u64 [%y2], %x3; ld.global.cv.u64 %x0, [%y2];", |[_, _, c, _]| c);
    add("x", "ld.global.nc.L1::no_allocate.L2::128B.u64 %x0, [%y1+16];", |[_, _, c, _]| c);
    add("x", "ldu.global.v2.u64 {%x0, %x5}, [%y1+16];", |[_, _, c, _]| c);
    add(
        "x",
        "createpolicy.fractional.L2::evict_first.b64 %y6, 1.0; ld.global.L2::cache_hint.u64 %x0, [%y1], %y6;",
        |[a, ..]| a,
    );
    add(
        "x",
        "prefetch.global.L2 [%y1]; fence.acq_rel.cta; membar.cta; nanosleep.u32 10; mov.u64 %x0, %x1;",
        |[a, ..]| a,
    );
    add(
        "x",
        "cp.async.ca.shared.global [%y4], [%y1+16], 8; cp.async.commit_group; cp.async.wait_group 0; ld.shared.u64 %x0, [%y4];",
        |[_, _, c, _]| c,
    );
    add(
        "x",
        "cp.async.cg.shared.global [%y4], [%y1+16], 16; cp.async.wait_all; ld.shared.u64 %x0, [%y4+8];",
        |[.., d]| d,
    );
    add(
        "x",
        "and.b32 %r5, %r4, 7; cp.async.ca.shared.global [%y4], [%y1+16], 8, %r5; ld.shared.u64 %x0, [%y4];",
        |[_, _, c, d]| c & ((1u64 << (8 * (d & 7))) - 1),
    );
    add("x", "cp.async.ca.shared.global [%y4], [%y1+16], 8, %p4; ld.shared.u64 %x0, [%y4];", |[_, _, c, d]| {
        if d & 1 == 1 { 0 } else { c }
    });
    add("x", "@%p4 cp.async.ca.shared.global [%y4], [%y1+16], 8, 3; ld.shared.u64 %x0, [%y4];", |[a, _, c, d]| {
        if d & 1 == 1 { c & 0xff_ffff } else { a }
    });
    forms.check();
}

#[test]
fn addresses() {
    let mut forms = Forms::default();
    let mut spaces = |text: &str, truths: [bool; 5]| {
        let names = ["shared", "global", "local", "const", "param"];
        for (name, truth) in names.iter().zip(truths) {
            forms.add(format!("// %p\n.local .b64 own;\n{text}\nisspacep.{name} %p0, %y5;"), move |_| truth.into());
        }
    };
    spaces("cvta.shared.u64 %y5, shared;", [true, false, false, false, false]);
    spaces("cvta.shared.u64 %y5, shared+65535;", [true, false, false, false, false]);
    spaces("cvta.local.u64 %y5, own;", [false, false, true, false, false]);
    spaces("cvta.param.u64 %y5, out;", [false, false, false, false, true]);
    let mut add = |text: &str, judge: fn([u64; 4]) -> u64| {
        forms.add(format!("// %x\n.local .align 8 .b8 own[32];\n{text}"), judge);
    };
    add("cvta.global.u64 %y5, %y1; ld.u64 %x0, [%y5];", |[a, ..]| a);
    add("cvta.to.global.u64 %y5, %y1; ld.global.u64 %x0, [%y5+8];", |[_, b, ..]| b);
    add("st.local.u64 [own+16], %x3; ld.local.u64 %x0, [own+16];", |[_, _, c, _]| c);
    add("cvta.local.u64 %y5, own+16; st.u64 [%y5], %x3; ld.local.u64 %x0, [own+16];", |[_, _, c, _]| c);
    add("cvta.local.u64 %y5, own; cvta.to.local.u64 %y6, %y5; mov.u64 %y7, own; sub.u64 %x0, %y6, %y7;", |_| 0);
    add("st.local.v4.u16 [own], {%h1, %h2, %h3, %h4}; ld.local.u64 %x0, [own];", |[a, b, c, d]| {
        a & 0xffff | (b & 0xffff) << 16 | (c & 0xffff) << 32 | d << 48
    });
    add("cvta.param.u64 %y5, in; ld.u64 %y6, [%y5]; ld.param.u64 %y7, [in]; sub.u64 %x0, %y6, %y7;", |_| 0);
    forms.check();
}

/// A vector register is its components, and a name of a range a variable of its own.
#[test]
fn vectors_and_ranges() {
    let mut forms = Forms::default();
    let mut add = |text: &str, judge: fn([u64; 4]) -> u64| forms.add(format!("// %x\n{text}"), judge);
    add(".reg .v2 .u32 v; mov.v2.u32 v, {%r2, %r1}; mov.b64 %x0, v;", |[a, b, ..]| b & 0xffff_ffff | a << 32);
    add(".reg .v4 .b16 v; mov.b64 v, %x3; mov.b64 %x0, {v.w, v.x, v.y, v.z};", |[_, _, c, _]| c.rotate_left(16));
    add(".reg .v2 .f16 v; mov.b32 v, %r4; mov.b32 %r5, v; cvt.u64.u32 %x0, %r5;", |[.., d]| d & 0xffff_ffff);
    add(".reg .v2 .u32 v<3>; mov.b64 v2, %x1; mov.b64 v0, %x2; mov.b64 %x0, {v2.x, v0.y};", |[a, b, ..]| {
        a & 0xffff_ffff | b >> 32 << 32
    });
    add(
        ".local .v2 .u64 own<3>; .shared .u64 all<2>;\n\
         st.local.v2.u64 [own1], {%x1, %x2}; st.local.v2.u64 [own2], {%x3, %x3}; st.local.v2.u64 [own0], {%x4, %x4};\n\
         mov.u64 %y5, all1; mov.u64 %y6, all0; sub.u64 %y5, %y5, %y6; ld.local.u64 %x0, [own1+8]; add.u64 %x0, %x0, %y5;",
        |[_, b, ..]| b.wrapping_add(8),
    );
    add(
        "{ .param .u64 P<2>; st.param.u64 [P0], %x1; st.param.u64 [P1], %x2;\n\
         ld.param.u64 %y5, [P1]; ld.param.u64 %y6, [P0]; sub.u64 %x0, %y5, %y6; }",
        |[a, b, ..]| b.wrapping_sub(a),
    );
    forms.check();
}

#[test]
fn atomics_alone() {
    let mut forms = Forms::default();
    let own = "cvt.u64.u32 %y4, %r9; rem.u64 %y4, %y4, 256; shl.b64 %y4, %y4, 5; mov.u64 %y6, shared; \
               add.u64 %y4, %y4, %y6; cvta.shared.u64 %y5, %y4; st.shared.v2.u64 [%y4], {%x1, %x2};";
    // The old value is the first operand; what memory holds afterwards follows.
    let mut add = |name: &'static str, bits: u32, after: fn(u64, u64, u64) -> u64| {
        let (r, mask) = if bits == 32 { ('r', u64::from(u32::MAX)) } else { ('x', u64::MAX) };
        let more = if name.starts_with("cas") { format!(", %{r}4") } else { String::new() };
        for (form, address) in [("atom.shared", "%y4"), ("atom.relaxed.gpu", "%y5")] {
            let text = format!("// %{r}\n{own}\n{form}.{name} %{r}0, [{address}], %{r}3{more};");
            forms.add(text, move |[a, ..]| a & mask);
            let text = format!(
                "// %{r}\n{own}\n{form}.{name} %{r}5, [{address}], %{r}3{more}; ld.shared.b{bits} %{r}0, [%y4];"
            );
            forms.add(text, move |[a, _, c, d]| after(a & mask, c & mask, d & mask));
        }
        if !name.starts_with("cas") && !name.starts_with("exch") {
            let text = format!("// %{r}\n{own}\nred.shared.{name} [%y4], %{r}3; ld.shared.b{bits} %{r}0, [%y4];");
            forms.add(text, move |[a, _, c, d]| after(a & mask, c & mask, d & mask));
        }
    };
    add("add.u32", 32, |a, b, _| a.wrapping_add(b));
    add("add.s32", 32, |a, b, _| a.wrapping_add(b));
    add("add.u64", 64, |a, b, _| a.wrapping_add(b));
    add("and.b32", 32, |a, b, _| a & b);
    add("or.b64", 64, |a, b, _| a | b);
    add("xor.b32", 32, |a, b, _| a ^ b);
    add("exch.b32", 32, |_, b, _| b);
    add("exch.b64", 64, |_, b, _| b);
    add("cas.b32", 32, |a, b, c| if a == b { c } else { a });
    add("cas.b64", 64, |a, b, c| if a == b { c } else { a });
    add("inc.u32", 32, |a, b, _| if a >= b { 0 } else { a + 1 });
    add("dec.u32", 32, |a, b, _| if a == 0 || a > b { b } else { a - 1 });
    add("min.s32", 32, |a, b, _| (a as i32).min(b as i32) as u64);
    add("max.u32", 32, |a, b, _| a.max(b));
    add("min.u64", 64, |a, b, _| a.min(b));
    add("max.s64", 64, |a, b, _| (a as i64).max(b as i64) as u64);
    forms.check();
}

/// 16 bytes at once: swapped where both halves are as compared, and only there.
#[test]
fn atomics_of_16_bytes() {
    let mut forms = Forms::default();
    let own = "cvt.u64.u32 %y4, %r9; rem.u64 %y4, %y4, 256; shl.b64 %y4, %y4, 5; mov.u64 %y6, shared; \
               add.u64 %y4, %y4, %y6; cvta.shared.u64 %y5, %y4; st.shared.v2.u64 [%y4], {%x1, %x2}; \
               st.global.v2.u64 [%y2], {%x1, %x2}; mov.b128 %q1, {%x3, %x4};";
    for (form, address, space) in [
        ("atom.shared", "%y4", "shared"),
        ("atom.relaxed.gpu", "%y5", "shared"),
        ("atom.acq_rel.sys.global", "%y2", "global"),
    ] {
        let mut add = |text: String, judge: fn([u64; 4]) -> u64| {
            forms.add(format!("// %x\n{own}\n{text}"), judge);
        };
        let memory = |half: u32| format!("ld.{space}.u64 %x0, [{address}+{half}];").replace("%y5", "%y4");
        let low = "mov.b128 {%x0, %x6}, %q2;";
        let high = "mov.b128 {%x6, %x0}, %q2;";
        add(format!("{form}.exch.b128 %q2, [{address}], %q1; {low}"), |[a, ..]| a);
        add(format!("{form}.exch.b128 %q2, [{address}], %q1; {high}"), |[_, b, ..]| b);
        add(format!("{form}.exch.b128 %q2, [{address}], %q1; {}", memory(0)), |[_, _, c, _]| c);
        add(format!("{form}.exch.b128 _, [{address}], %q1; {}", memory(8)), |[.., d]| d);
        // ptxas 13.0 gives a constant the low 64 bits, and zeros above them.
        add(format!("{form}.exch.b128 _, [{address}], -5; {}", memory(0)), |_| -5i64 as u64);
        add(format!("{form}.exch.b128 _, [{address}], -5; {}", memory(8)), |_| 0);
        // Compared with what is there, if need be but for one bit of one half; the lowest bits of c and d say which.
        let compared = "and.b64 %y7, %x3, 1; and.b64 %y8, %x4, 1; shl.b64 %y8, %y8, 63; xor.b64 %y7, %y7, %x1; \
                        xor.b64 %y8, %y8, %x2; mov.b128 %q3, {%y7, %y8};";
        let cas = format!("{compared} {form}.cas.b128 %q2, [{address}], %q3, %q1;");
        add(format!("{cas} {low}"), |[a, ..]| a);
        add(format!("{cas} {high}"), |[_, b, ..]| b);
        add(format!("{cas} {}", memory(0)), |[a, _, c, d]| if (c | d) & 1 == 0 { c } else { a });
        add(format!("{cas} {}", memory(8)), |[_, b, c, d]| if (c | d) & 1 == 0 { d } else { b });
        add(
            format!("@%p3 {form}.exch.b128 %q2, [{address}], %q1; {}", memory(8)),
            |[_, b, c, d]| {
                if c & 1 == 1 { d } else { b }
            },
        );
    }
    forms.check();
}

/// Vectors: each element on its own. f32 in global memory is flushed, in shared memory not; halves are not.
#[test]
fn atomics_on_floats() {
    let mut forms = Forms::default();
    let mut add = |text: &str, judge: u64| {
        let start = "mov.b32 %f5, 0f3F800000; mov.b32 %f6, 0f40000000; st.global.v2.f32 [%y2], {%f5, %f6};";
        forms.add(format!("// %x\n{start}\n{text}"), move |_| judge);
    };
    add("red.global.v2.f32.add [%y2], {%f5, %f6}; ld.global.u64 %x0, [%y2];", 0x4080_0000_4000_0000);
    add("red.global.add.v2.f32 [%y2], {%f6, %f6}; ld.global.u64 %x0, [%y2];", 0x4080_0000_4040_0000);
    add("atom.global.v2.f32.add {%f7, %f8}, [%y2], {%f5, %f6}; mov.b64 %x0, {%f7, %f8};", 0x4000_0000_3f80_0000);
    // What one returns is an operand of the other.
    add("atom.global.v2.f32.add {%f6, %f5}, [%y2], {%f5, %f6}; ld.global.u64 %x0, [%y2];", 0x4080_0000_4000_0000);
    add("atom.global.v2.f32.add {%f6, %f5}, [%y2], {%f5, %f6}; mov.b64 %x0, {%f6, %f5};", 0x4000_0000_3f80_0000);
    add(
        "mov.b32 %r5, 0x00010002; st.global.v2.b32 [%y2], {%r5, %r5};\n\
         red.global.v2.f16x2.add.noftz [%y2], {%r5, 0x80008000}; ld.global.u64 %x0, [%y2];",
        0x0001_0002_0002_0004,
    );
    add(
        "mov.b32 %r5, 0x3f80bf80; mov.b32 %r6, 0xc0004000; st.global.v2.b32 [%y2], {%r5, %r5};\n\
         red.global.v2.bf16x2.max.noftz [%y2], {%r6, %r6}; ld.global.u64 %x0, [%y2];",
        0x3f80_4000_3f80_4000,
    );
    let tiny = "mov.b32 %r5, 1; cvt.u64.u32 %y4, %r9; rem.u64 %y4, %y4, 256; shl.b64 %y4, %y4, 5;\n\
                mov.u64 %y6, shared; add.u64 %y4, %y4, %y6; st.shared.b32 [%y4], %r5; st.global.b32 [%y2], %r5;\n\
                cvta.shared.u64 %y5, %y4;";
    add(&format!("{tiny} red.global.add.f32 [%y2], 0f00000001; ld.global.u32 %x0, [%y2];"), 0);
    add(&format!("{tiny} red.add.f32 [%y2], 0f00000001; ld.global.u32 %x0, [%y2];"), 0);
    add(&format!("{tiny} red.shared.add.f32 [%y4], 0f00000001; ld.shared.u32 %x0, [%y4];"), 2);
    add(&format!("{tiny} red.add.f32 [%y5], 0f00000001; ld.shared.u32 %x0, [%y4];"), 2);
    add("atom.global.add.f64 %d5, [%y2], 0d0000000000000000; mov.b64 %x0, %d5;", 0x4000_0000_3f80_0000);
    add("mov.b16 %h5, 0x3c00; atom.global.add.noftz.f16 %h6, [%y2+2], %h5; ld.global.u16 %x0, [%y2+2];", 0x41c0);
    forms.check();
}
