//! Loads and stores at addresses that data decide, and conversions: each body by both machines' code and by the interpreter.

use super::{Case, has_native, lowered, random, words, zeros};
use roundonce_exec::{Arg, Buffer, Engine};

/// Kernels of one line of threads, `k0` on. `%r1` is the thread's number in the grid, `%r2` that in its block, `%r3` a number
/// below 1,024 from the data, `%p1` and `%p2` are conditions of the data, of which the second is rarely true; `%rd1` is a table of 2,100
/// numbers, `%rd2` the thread's place among eight words of the result, `%rd4` the result. 2,048 words of shared memory hold the
/// table's first numbers.
pub(crate) fn program(bodies: &[String]) -> roundonce_ir::Program {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for (number, body) in bodies.iter().enumerate() {
        text.push_str(&format!(
            ".visible .entry k{number}(.param .u64 table, .param .u64 x, .param .u64 y) {{
             .reg .pred %p<6>; .reg .f32 %f<10>; .reg .f64 %d<6>; .reg .b32 %r<14>; .reg .b64 %rd<14>; .reg .b16 %h<6>;
             .shared .align 16 .b8 s[8192];
             ld.param.u64 %rd1, [table]; ld.param.u64 %rd3, [x]; ld.param.u64 %rd4, [y];
             mov.u32 %r2, %tid.x; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x; mad.lo.u32 %r1, %r5, %r6, %r2;
             mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd3, %rd5; ld.global.u32 %r4, [%rd6]; shr.u32 %r3, %r4, 5;
             and.b32 %r3, %r3, 1023; and.b32 %r7, %r4, 1; setp.eq.u32 %p1, %r7, 0; and.b32 %r7, %r4, 0x1f0000;
             setp.eq.u32 %p2, %r7, 0; and.b32 %r7, %r5, 1; setp.eq.u32 %p5, %r7, 1; shl.b64 %rd7, %rd5, 3; add.u64 %rd2, %rd4, %rd7;
             mov.u32 %r8, s; shl.b32 %r9, %r2, 4; add.u32 %r8, %r8, %r9; shl.b32 %r9, %r2, 4; cvt.u64.u32 %rd8, %r9;
             add.u64 %rd8, %rd1, %rd8; ld.global.v4.u32 {{%r9, %r10, %r11, %r12}}, [%rd8]; st.shared.v4.u32 [%r8], {{%r9, %r10, %r11, %r12}};
             bar.sync 0; {FILL}
             {body}
             ret; }}\n"
        ));
    }
    lowered(&text)
}

/// Enough that what is behind a barrier is worth compiling.
pub(crate) const FILL: &str = "add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1;
     add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1; add.u32 %r7, %r7, 1;";

/// By type: its bytes, the register that takes it, and what stores that.
const TYPES: [(&str, u32, &str, &str); 11] = [
    ("u8", 1, "%r10", "u32"),
    ("s8", 1, "%r10", "u32"),
    ("u16", 2, "%r10", "u32"),
    ("s16", 2, "%r10", "u32"),
    ("u16", 2, "%h1", "u16"),
    ("s8", 1, "%h1", "u16"),
    ("u32", 4, "%r10", "u32"),
    ("f32", 4, "%f2", "f32"),
    ("u32", 4, "%rd10", "u64"),
    ("s32", 4, "%rd10", "u64"),
    ("u64", 8, "%rd10", "u64"),
];

/// What some threads jump over, and what guards it instead; `%p4` is never true, `%p5` is for odd blocks.
const PARTS: [(&str, &str); 7] =
    [("", ""), ("@%p1 bra A;", ""), ("@%p2 bra A;", ""), ("", "@!%p1"), ("", "@%p2"), ("", "@%p4"), ("", "@%p5")];

fn loads() -> Vec<String> {
    let mut all = Vec::new();
    for (ty, bytes, to, stored) in TYPES {
        for guard in ["", "@%p1 ", "@!%p2 "] {
            // A displacement that is not a multiple of a word.
            for offset in [0, bytes * 3] {
                all.push(format!(
                    "mul.wide.u32 %rd9, %r3, {bytes}; add.u64 %rd9, %rd1, %rd9; {guard}ld.global.{ty} {to}, [%rd9+{offset}];
                     st.global.{stored} [%rd2], {to};"
                ));
                all.push(format!(
                    "and.b32 %r3, %r3, 255; mov.u32 %r13, s; mad.lo.u32 %r13, %r3, {bytes}, %r13;
                     {guard}ld.shared.{ty} {to}, [%r13+{offset}]; st.global.{stored} [%rd2], {to};"
                ));
            }
        }
    }
    for (ty, register, stored) in [("f32", "%f", "f32"), ("u32", "%r1", "u32"), ("u64", "%rd1", "u64")] {
        let bytes = if ty == "u64" { 8 } else { 4 };
        let of = |n: usize| if register == "%r1" { format!("%r1{n}") } else { format!("{register}{n}") };
        let pair = format!("{{{}, {}}}", of(0), of(1));
        let wide = if ty == "u64" { "and.b32 %r3, %r3, 510;" } else { "and.b32 %r3, %r3, 1022;" };
        all.push(format!(
            "{wide} mul.wide.u32 %rd9, %r3, {bytes}; add.u64 %rd9, %rd1, %rd9; ld.global.v2.{ty} {pair}, [%rd9];
             st.global.{stored} [%rd2], {}; st.global.{stored} [%rd2+8], {};",
            of(1),
            of(0)
        ));
    }
    // The last word of shared memory.
    all.push(
        "mov.u32 %r13, s; add.u32 %r13, %r13, 8188; @!%p2 sub.u32 %r13, %r13, 4; ld.shared.u32 %r10, [%r13]; st.global.u32 [%rd2], %r10;"
            .into(),
    );
    // The first number overwrites the address.
    all.push(
        "and.b32 %r3, %r3, 254; mul.wide.u32 %rd9, %r3, 8; add.u64 %rd9, %rd1, %rd9; ld.global.v2.u64 {%rd9, %rd10}, [%rd9];
         st.global.u64 [%rd2], %rd10; st.global.u64 [%rd2+8], %rd9;"
            .into(),
    );
    all.push("and.b32 %r3, %r3, 252; shl.b32 %r3, %r3, 2; mov.u32 %r13, s; add.u32 %r13, %r13, %r3; ld.shared.v4.u32 {%r13, %r10, %r11, %r12}, [%r13];
         st.global.u32 [%rd2], %r13; st.global.u32 [%rd2+4], %r10; st.global.u32 [%rd2+8], %r11; st.global.u32 [%rd2+12], %r12;".into());
    // Threads part about a load, and behind one.
    all.push("mov.u32 %r10, 5; @%p1 bra A; mul.wide.u32 %rd9, %r3, 4; add.u64 %rd9, %rd1, %rd9; ld.global.u32 %r10, [%rd9+4]; A: st.global.u32 [%rd2], %r10;".into());
    all.push("mov.u32 %r10, 0; L: mul.wide.u32 %rd9, %r3, 4; add.u64 %rd9, %rd1, %rd9; ld.global.u32 %r3, [%rd9]; and.b32 %r3, %r3, 1023; add.u32 %r10, %r10, %r3;
         setp.lt.u32 %p3, %r10, 4000; @%p3 bra L; st.global.u32 [%rd2], %r10;".into());
    all
}

/// Addresses that every fourth thread shares, so that one vector has all that a tile reads; some of the threads take part.
fn repeating() -> Vec<String> {
    let index = |steps: u32| {
        format!(
            "and.b32 %r13, %r2, 3; mul.wide.u32 %rd9, %r13, 4; add.u64 %rd9, %rd1, %rd9; ld.global.u32 %r13, [%rd9+4];
             and.b32 %r13, %r13, 1023; mul.wide.u32 %rd9, %r13, {steps}; add.u64 %rd9, %rd1, %rd9;"
        )
    };
    let mut all = Vec::new();
    for (ty, bytes, to, stored) in TYPES {
        let (at, load) = (index(bytes), format!("ld.global.{ty} {to}, [%rd9];"));
        // On a side that is passed under a mask; in a loop that lanes leave one by one.
        for part in ["@%p1 bra A;", "@!%p2 bra A;"] {
            all.push(format!("{at} {part} {load} st.global.{stored} [%rd2], {to}; A:"));
        }
        let add = match &to[..2] {
            "%h" => "cvt.u32.u16 %r9, %h1;",
            "%f" => "mov.b32 %r9, %f2;",
            _ if to == "%rd10" => "cvt.u32.u64 %r9, %rd10;",
            _ => "mov.b32 %r9, %r10;",
        };
        all.push(format!(
            "{at} and.b32 %r11, %r3, 3; L: setp.eq.u32 %p3, %r11, 0; @%p3 bra A; {load} {add} mad.lo.u32 %r4, %r4, 3, %r9; sub.u32 %r11, %r11, 1; bra L;
             A: st.global.u32 [%rd2], %r4;"
        ));
    }
    // Of two results one repeats and the other does not.
    for (first, second) in [("%r10", "%r11"), ("%r11", "%r10")] {
        for part in ["", "@%p1 bra A;"] {
            all.push(format!(
                "{} {part} ld.global.v2.u32 {{{first}, {second}}}, [%rd9]; add.u32 %r11, %r11, %r4; st.global.u32 [%rd2], %r10; st.global.u32 [%rd2+4], %r11; A:",
                index(8)
            ));
        }
    }
    all
}

/// Several elements a thread, thread after thread.
fn side_by_side() -> Vec<String> {
    let mut all = Vec::new();
    for (space, place, at) in [
        ("global", "%rd9", "mul.wide.u32 %rd9, %r1, BYTES; add.u64 %rd9, %rd4, %rd9;"),
        ("shared", "%r13", "mov.u32 %r13, s; mad.lo.u32 %r13, %r2, BYTES, %r13;"),
    ] {
        for (count, bytes, of) in [(2, 8, "%r4, %r3"), (4, 16, "%r4, %r3, %r2, %r1"), (2, 16, "%r4, %r3")] {
            for part in ["", "@%p1 bra A;"] {
                let at = at.replace("BYTES", &bytes.to_string());
                let back = if count == 2 { "%r9, %r10" } else { "%r9, %r10, %r11, %r12" };
                let sum = if count == 2 { "" } else { "mad.lo.u32 %r9, %r11, 3, %r9; mad.lo.u32 %r10, %r12, 5, %r10;" };
                all.push(format!(
                    "{at} {part} st.{space}.v{count}.u32 [{place}], {{{of}}}; A: bar.sync 0; {FILL} ld.{space}.v{count}.u32 {{{back}}}, [{place}]; {sum} bar.sync 0;
                     add.u64 %rd2, %rd2, 65536; st.global.v2.u32 [%rd2], {{%r9, %r10}};"
                ));
                // Of the table, or of what the block has of it.
                let table = at.replace("%r1, ", "%r2, ").replace("%rd4", "%rd1");
                all.push(format!(
                    "{table} mov.u32 %r9, 1; mov.u32 %r10, 2; mov.u32 %r11, 3; mov.u32 %r12, 4; {part} ld.{space}.v{count}.u32 {{{back}}}, [{place}]; A: {sum} bar.sync 0; st.global.v2.u32 [%rd2], {{%r10, %r9}};"
                ));
            }
        }
    }
    all
}

fn stores() -> Vec<String> {
    let mut all = Vec::new();
    for (ty, bytes, from) in
        [("u8", 1, "%r4"), ("u16", 2, "%r4"), ("u32", 4, "%r4"), ("f32", 4, "%f1"), ("u64", 8, "%rd5")]
    {
        for (part, guard) in PARTS {
            // Each its own place, the order mixed: an odd factor is a permutation. Then several threads of a warp a place: the last
            // one's is left.
            for place in [
                "mul.lo.u32 %r10, %r2, 37; and.b32 %r10, %r10, 127;",
                "and.b32 %r10, %r2, 96; and.b32 %r9, %r3, 15; or.b32 %r10, %r10, %r9;",
            ] {
                all.push(format!(
                    "mov.b32 %f1, %r4; {place} {part} mad.lo.u32 %r11, %r5, 128, %r10; mul.wide.u32 %rd9, %r11, {bytes};
                     add.u64 %rd9, %rd4, %rd9; {guard} st.global.{ty} [%rd9], {from}; A:"
                ));
                all.push(format!(
                    "mov.b32 %f1, %r4; {place} {part} mov.u32 %r13, s; mad.lo.u32 %r13, %r10, {bytes}, %r13; {guard} st.shared.{ty} [%r13], {from}; A:
                     bar.sync 0; mov.u32 %r13, s; mad.lo.u32 %r13, %r2, 4, %r13; ld.shared.u32 %r12, [%r13]; st.global.u32 [%rd2], %r12;"
                ));
            }
        }
    }
    all.push("mul.lo.u32 %r10, %r2, 37; and.b32 %r10, %r10, 127; mad.lo.u32 %r11, %r5, 128, %r10; mul.wide.u32 %rd9, %r11, 8; add.u64 %rd9, %rd4, %rd9; st.global.v2.u32 [%rd9], {%r4, %r3};".into());
    // One place for all threads of a warp, of which some take part.
    for guard in ["@%p1 bra A;", ""] {
        all.push(format!("shr.u32 %r10, %r1, 5; mul.wide.u32 %rd9, %r10, 4; add.u64 %rd9, %rd4, %rd9; {guard} st.global.u32 [%rd9], %r4; A:"));
    }
    // Read and written in place.
    all.push("mov.u32 %r13, s; mul.lo.u32 %r10, %r2, 37; and.b32 %r10, %r10, 127; mad.lo.u32 %r13, %r10, 4, %r13; ld.shared.u32 %r11, [%r13]; ld.shared.u32 %r12, [%r13+512]; min.s32 %r9, %r11, %r12;
         max.s32 %r8, %r11, %r12; @%p1 bra A; st.shared.u32 [%r13], %r9; st.shared.u32 [%r13+512], %r8; bra B; A: st.shared.u32 [%r13], %r8; st.shared.u32 [%r13+512], %r9; B:
         bar.sync 0; mov.u32 %r13, s; mad.lo.u32 %r13, %r2, 4, %r13; ld.shared.u32 %r12, [%r13]; ld.shared.u32 %r11, [%r13+512]; st.global.u32 [%rd2], %r12; st.global.u32 [%rd2+4], %r11;".into());
    all
}

/// Atomics whose results nobody reads: at one place, at each thread's, at any; by some of the threads.
fn atomics() -> Vec<String> {
    let mut all = Vec::new();
    for (op, ty) in [
        ("add", "u32"),
        ("add", "s32"),
        ("min", "s32"),
        ("max", "s32"),
        ("min", "u32"),
        ("max", "u32"),
        ("and", "b32"),
        ("or", "b32"),
        ("xor", "b32"),
        ("add", "u64"),
        ("min", "s64"),
        ("max", "u64"),
        ("or", "b64"),
    ] {
        let (bytes, value) = if ty.ends_with("64") { (8, "%rd6") } else { (4, "%r4") };
        for (part, guard) in PARTS {
            for place in ["mov.u32 %r10, 3;", "mov.u32 %r10, %r2;", "shr.u32 %r10, %r3, 4;"] {
                all.push(format!(
                    "{place} {part} mul.wide.u32 %rd9, %r10, {bytes}; add.u64 %rd9, %rd4, %rd9; {guard} red.global.{op}.{ty} [%rd9+16], {value}; A:"
                ));
                all.push(format!(
                    "{place} {part} mov.u32 %r13, s; mad.lo.u32 %r13, %r10, {bytes}, %r13; {guard} red.shared.{op}.{ty} [%r13], {value}; A:
                     bar.sync 0; mov.u32 %r13, s; mad.lo.u32 %r13, %r2, 4, %r13; ld.shared.u32 %r12, [%r13]; st.global.u32 [%rd2], %r12;"
                ));
            }
        }
    }
    // A loop around one, whose result is written and never read; code goes on behind it. One that is read is the interpreter's.
    let count = "mov.u32 %r10, 0; L: add.u32 %r11, %r3, %r10; and.b32 %r11, %r11, 63; mov.u32 %r13, s; mad.lo.u32 %r13, %r11, 4, %r13; atom.shared.add.u32 %r12, [%r13], 1;
         add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 9; @%p3 bra L;";
    let out = "bar.sync 0; mov.u32 %r13, s; mad.lo.u32 %r13, %r2, 4, %r13; ld.shared.u32 %r9, [%r13]; st.global.u32 [%rd2], %r9;";
    all.push(format!("{count} {out}"));
    all.push(format!("{count} st.global.u32 [%rd2+4], %r10; {out}"));
    all.push(format!("and.b32 %r9, %r3, 7; {} {out}", count.replace("%r10, 9", "%r10, %r9")));
    all.push("mov.u32 %r13, s; mad.lo.u32 %r13, %r2, 4, %r13; atom.shared.add.u32 %r12, [%r13], %r4; st.global.u32 [%rd2], %r12;".into());
    all
}

/// Code behind stores, and stores by some threads on the way.
fn behind_stores() -> Vec<String> {
    let far = |then: &str| {
        format!(
            "xor.b32 %r12, %r1, %r4; xor.b32 %r13, %r4, 1300; setp.eq.u32 %p3, %r12, %r13; mov.u64 %rd9, %rd1; @%p3 mov.u64 %rd9, 64; {then} ld.global.u32 %r12, [%rd9]; st.global.u32 [%rd2+8], %r12;"
        )
    };
    vec![
        // Loads of what was stored; a loop that stores; a loop that some threads leave.
        "st.global.u32 [%rd2], %r4; ld.global.u32 %r10, [%rd2]; add.u32 %r10, %r10, 1; st.global.u32 [%rd2], %r10; ld.global.u32 %r11, [%rd2]; st.global.u32 [%rd2+4], %r11;".into(),
        "mov.u32 %r10, 0; L: add.u32 %r10, %r10, 1; mul.wide.u32 %rd9, %r10, 4; add.u64 %rd9, %rd2, %rd9; mad.lo.u32 %r11, %r10, %r4, %r3; st.global.u32 [%rd9], %r11; setp.lt.u32 %p3, %r10, 7; @%p3 bra L; st.global.u32 [%rd2], %r11;".into(),
        "and.b32 %r9, %r3, 7; mov.u32 %r10, 0; L: mul.wide.u32 %rd9, %r10, 4; add.u64 %rd9, %rd2, %rd9; mad.lo.u32 %r11, %r10, %r4, %r3; st.global.u32 [%rd9], %r11; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, %r9; @%p3 bra L; st.global.u32 [%rd2+28], %r11;".into(),
        // Some threads store on their way, and compute for that.
        "add.u32 %r10, %r4, 1; @%p1 bra A; mul.lo.u32 %r11, %r4, 3; st.global.u32 [%rd2], %r11; A: mul.lo.u32 %r12, %r10, 5; st.global.u32 [%rd2+4], %r12;".into(),
        "@%p2 bra A; bra B; A: mul.lo.u32 %r11, %r4, 3; st.global.u32 [%rd2], %r11; st.global.u32 [%rd2+8], %r3; B: and.b32 %r10, %r4, 12; st.global.u32 [%rd2+4], %r10;".into(),
        "mov.u32 %r10, 0; L: setp.eq.u32 %p3, %r10, %r7; @%p1 bra A; st.global.u32 [%rd2], %r10; A: add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 5; @%p3 bra L; st.global.u32 [%rd2+4], %r10;".into(),
        // What it computes is read behind it: no detour.
        "mov.u32 %r11, 9; @%p1 bra A; mul.lo.u32 %r11, %r4, 3; st.global.u32 [%rd2], %r11; A: st.global.u32 [%rd2+4], %r11;".into(),
        // Approximations on both sides of a store, the second on one where a tile fails.
        "mov.b32 %f1, %r4; ex2.approx.f32 %f2, %f1; st.global.f32 [%rd2], %f2; ex2.approx.f32 %f3, %f2; ld.global.u32 %r12, [%rd2+4]; st.global.f32 [%rd2+4], %f3;".into(),
        // An error of one thread behind stores; threads that part behind them.
        far("st.global.u32 [%rd2], %r4;"),
        far("@%p1 bra A; st.global.u32 [%rd2], %r4; A:"),
        "st.global.u32 [%rd2], %r4; ld.global.u32 %r10, [%rd2]; @%p1 bra A; mul.lo.u32 %r10, %r10, 3; A: st.global.u32 [%rd2+4], %r10;".into(),
        // Steps without end.
        "L: st.global.u32 [%rd2], %r4; add.u32 %r4, %r4, 1; setp.ne.u32 %p3, %r7, 77; @%p3 bra L;".into(),
    ]
}

fn conversions() -> Vec<String> {
    let mut all = Vec::new();
    for flush in ["", ".ftz"] {
        for rounding in [".rni", ".rzi", ".rmi", ".rpi"] {
            all.push(format!("cvt{rounding}{flush}.f32.f32 %f2, %f1; st.global.f32 [%rd2], %f2;"));
            all.push(format!("cvt{rounding}{flush}.sat.f32.f32 %f2, %f1; st.global.f32 [%rd2], %f2;"));
        }
        all.push(format!("cvt{flush}.sat.f32.f32 %f2, %f1; st.global.f32 [%rd2], %f2;"));
        all.push(format!("cvt{flush}.f64.f32 %d2, %f1; st.global.f64 [%rd2], %d2;"));
        for rounding in [".rn", ".rz", ".rm", ".rp"] {
            all.push(format!("cvt{rounding}{flush}.f32.f64 %f2, %d1; st.global.f32 [%rd2], %f2;"));
        }
    }
    for rounding in [".rni", ".rzi", ".rmi", ".rpi"] {
        for ty in ["s32", "u32", "s16", "u16"] {
            let (to, bits) = if ty.ends_with("32") { ("%r10", 32) } else { ("%h1", 16) };
            all.push(format!("cvt{rounding}.{ty}.f32 {to}, %f1; st.global.u{bits} [%rd2], {to};"));
            all.push(format!("cvt{rounding}.ftz.{ty}.f32 {to}, %f1; st.global.u{bits} [%rd2], {to};"));
        }
        all.push(format!("cvt{rounding}.s32.f64 %r10, %d1; st.global.u32 [%rd2], %r10;"));
        all.push(format!("cvt{rounding}.u32.f64 %r10, %d1; st.global.u32 [%rd2], %r10;"));
    }
    all.push("cvt.rn.f64.s32 %d2, %r4; st.global.f64 [%rd2], %d2;".into());
    all.push("cvt.rn.f64.u32 %d2, %r4; st.global.f64 [%rd2], %d2;".into());
    // %d1 from f32 and from what that leaves out, near whole numbers and near the ends of the integers.
    let numbers =
        "mov.b32 %f1, %r4; cvt.f64.f32 %d1, %f1; mov.b64 %rd9, {%r4, %r3}; @!%p1 bra C; and.b64 %rd9, %rd9, 0x1fffffff;
         mov.b64 %rd10, %d1; or.b64 %rd10, %rd10, %rd9; mov.b64 %d1, %rd10; C:";
    all.into_iter().map(|body| format!("{numbers} {body}")).collect()
}

/// Numbers of all magnitudes and signs; about the ends of integers; zeros, infinities and NaNs.
fn numbers(count: usize, seed: u64) -> Arg {
    const ENDS: [u32; 16] = [
        0x4f00_0000,
        0xcf00_0000,
        0x4eff_ffff,
        0xcf00_0001,
        0x4f80_0000,
        0x4f7f_ffff,
        0x3f00_0000,
        0xbf00_0000,
        0x3fc0_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0xff80_0001,
        0x8000_0000,
        0x0000_0001,
        0x807f_ffff,
    ];
    let mut next = random(seed);
    let number = |bits: u64| match bits & 7 {
        0 => ENDS[(bits >> 40) as usize % 16],
        1 => (bits >> 32) as u32,
        // Between 2^-2 and 2^34.
        _ => (0x3e80_0000 + ((bits >> 36) as u32 % 0x1200_0000)) | (bits as u32) << 28 & 0x8000_0000,
    };
    Arg::Buffer(Buffer::from_words((0..count).map(|_| number(next())).collect()))
}

pub(crate) fn hold(bodies: &[String], x: impl Fn(u64) -> Arg, least: f64) {
    let program = program(bodies);
    let (n, block) = (2048, 128);
    for (number, body) in bodies.iter().enumerate() {
        let args = vec![words(2100, 1, 5), x(number as u64), zeros(16 * n)];
        let entry = format!("k{number}");
        let case = Case { step_limit: 1 << 12, ..Case::line(&program, &entry, n as u32 / block, block, args) };
        let share = case.hold(body);
        assert!(!has_native() || share > least, "{body}: {share} native");
    }
}

pub(crate) fn random_words(seed: u64) -> Arg {
    let mut next = random(seed);
    Arg::Buffer(Buffer::from_words((0..2048).map(|_| (next() >> 32) as u32).collect()))
}

#[test]
fn loads_at_any_address() {
    hold(&loads(), random_words, 0.8);
}

#[test]
fn loads_at_addresses_that_repeat() {
    hold(&repeating(), random_words, 0.6);
}

#[test]
fn stores_at_any_address() {
    hold(&stores(), random_words, 0.6);
}

#[test]
fn several_elements_side_by_side() {
    hold(&side_by_side(), random_words, 0.6);
}

#[test]
fn atomics_at_any_address() {
    hold(&atomics(), random_words, -1.0);
}

#[test]
fn code_behind_stores() {
    hold(&behind_stores(), random_words, -1.0);
}

#[test]
fn conversions_of_all_numbers() {
    hold(&conversions(), |seed| numbers(2048, seed), 0.8);
}

/// An address outside the table, of a thread in the middle of a tile or of one that takes no part.
#[test]
fn the_same_error_of_one_lane() {
    let at = |index: &str, then: &str| {
        format!("mul.wide.u32 %rd9, {index}, 4; add.u64 %rd9, %rd1, %rd9; {then}; st.global.u32 [%rd2], %r10;")
    };
    let outside = "xor.b32 %r12, %r1, %r4; xor.b32 %r13, %r4, 1234; setp.eq.u32 %p3, %r12, %r13; mov.u32 %r11, 0x10000; @!%p3 mov.u32 %r11, %r3";
    let bodies = [
        format!("{outside}; {}", at("%r11", "ld.global.u32 %r10, [%rd9]")),
        format!("{outside}; {}", at("%r11", "@!%p3 ld.global.u32 %r10, [%rd9]")),
        format!("{outside}; {}", at("%r11", "@%p1 ld.global.u32 %r10, [%rd9+2]")),
        format!("{outside}; {}", at("%r11", "st.global.u32 [%rd9], %r11; mov.u32 %r10, 3")),
        format!(
            "{outside}; add.u32 %r13, %r11, 1; @%p3 mov.u32 %r13, 0x7fffffff; ld.shared.u32 %r10, [%r13+3]; st.global.u32 [%rd2], %r10;"
        ),
        format!(
            "{outside}; mov.u32 %r13, s; add.u32 %r13, %r13, 8192; @!%p3 sub.u32 %r13, %r13, 4; ld.shared.u32 %r10, [%r13]; st.global.u32 [%rd2], %r10;"
        ),
    ];
    hold(&bodies, random_words, -1.0);
    let program = program(&bodies);
    // In the second the thread takes no part.
    for number in (0..bodies.len()).filter(|&number| number != 1) {
        let entry = format!("k{number}");
        let args = vec![words(2100, 1, 5), random_words(number as u64), zeros(32768)];
        assert!(
            Case::line(&program, &entry, 16, 128, args).run(Engine::Interpreter, 1).0.is_err(),
            "{}",
            bodies[number]
        );
    }
}
