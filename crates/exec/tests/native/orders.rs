//! Elements in other orders than the lanes', and what registers keep from one barrier to the next.

use super::{Case, has_native, lowered, words, zeros};

/// Where in shared memory each thread has its element: `D`, by the thread's number `%r2`, over `A`, `B` and `C`.
const PLACES: [&str; 12] = [
    "shl.b32 D, %r2, 1;",
    "shl.b32 A, %r2, 1; add.u32 D, A, 1;",
    "and.b32 A, %r2, 1; shl.b32 B, %r2, 1; sub.u32 D, B, A;",
    "and.b32 A, %r2, 3; shl.b32 B, %r2, 1; sub.u32 D, B, A;",
    "and.b32 A, %r2, 7; shl.b32 B, %r2, 1; sub.u32 C, B, A; add.u32 D, C, 8;",
    "and.b32 A, %r2, 31; shl.b32 B, %r2, 1; sub.u32 D, B, A;",
    "xor.b32 D, %r2, 5;",
    "xor.b32 A, %r2, 15; add.u32 D, A, 3;",
    // Apart by three, from the end, by pairs of lanes at one element, and all at one.
    "mul.lo.u32 D, %r2, 3;",
    "mov.u32 A, 700; sub.u32 D, A, %r2;",
    "shr.u32 A, %r2, 1; shl.b32 D, A, 1;",
    "mov.u32 D, 77;",
];

/// Each stage goes to shared memory and back, in another order, and uses numbers of tiles that an earlier one computed; the lanes
/// between keep what they have.
fn stages(places: &[&str]) -> String {
    let mut text = String::from("mov.u32 %r5, s; mul.lo.u32 %r6, %r2, 12; add.u32 %r7, %r6, %r5; mov.u32 %r8, 0;\n");
    text += "mad.lo.u32 %r1, %r2, 16, %r5; shl.b64 %rd6, %rd4, 2; add.u64 %rd5, %rd1, %rd6;\n";
    text += "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd5]; st.shared.v4.u32 [%r1], {%r10, %r11, %r12, %r13};\n";
    // Enough between two barriers that it is worth compiling.
    let mix =
        "add.u32 %r8, %r8, %r9; mad.lo.u32 %r8, %r8, 5, %r6; shr.u32 %r11, %r8, 3; xor.b32 %r8, %r8, %r11;".repeat(4);
    for (stage, place) in places.iter().enumerate() {
        let of_stage = |index: usize| format!("%q{}", 5 * stage + index);
        let place = ["A", "B", "C", "D"]
            .into_iter()
            .enumerate()
            .fold(place.to_string(), |place, (index, name)| place.replace(name, &of_stage(index)));
        let (place, at) = (format!("{place} mad.lo.u32 {}, {}, 4, %r5;", of_stage(4), of_stage(3)), of_stage(4));
        text += &format!(
            "bar.sync 0;\n{place} ld.shared.u32 %r9, [{at}]; {mix} ld.shared.u32 %r12, [{at}+4];
             xor.b32 %r10, %r12, %r7; add.u32 %r7, %r7, {stage}; add.u32 %r10, %r10, %r2; bar.sync 0;
             st.shared.u32 [{at}], %r10; {mix}\n"
        );
    }
    text += "bar.sync 0; ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r1]; add.u32 %r10, %r10, %r8;\n";
    text += "add.u64 %rd11, %rd2, %rd6; st.global.v4.u32 [%rd11], {%r10, %r11, %r12, %r13};\n";
    // Pairs that lie further apart, in whatever order.
    text += "mul.wide.u32 %rd7, %r2, 24; add.u64 %rd8, %rd1, %rd7; ld.global.v2.u32 {%r10, %r11}, [%rd8];\n";
    text += "ld.global.v2.u32 {%r12, %r13}, [%rd8+8]; sub.u32 %r10, %r10, %r13; add.u32 %r11, %r11, %r12;\n";
    text += "shl.b64 %rd9, %rd4, 1; add.u64 %rd10, %rd3, %rd9; st.global.v2.u32 [%rd10], {%r10, %r11};\n";
    text
}

#[test]
fn of_elements() {
    let pairs = PLACES.iter().flat_map(|&one| PLACES.iter().step_by(3).map(move |&other| [one, other, one]));
    let orders: Vec<Vec<&str>> = pairs.map(|order| order.to_vec()).chain([PLACES.to_vec()]).collect();
    let mut text = String::from(".version 7.8\n.target sm_80\n.address_size 64\n");
    for (number, order) in orders.iter().enumerate() {
        text += &format!(
            ".visible .entry k{number}(.param .u64 x, .param .u64 y, .param .u64 z) {{
             .reg .b32 %r<14>; .reg .b32 %q<60>; .reg .b64 %rd<12>; .shared .align 16 .b8 s[8192];
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [z]; mov.u32 %r2, %tid.x; mov.u32 %r0, %ctaid.x;
             mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r0, %r3, %r2; mul.wide.u32 %rd4, %r4, 4;
             {} ret; }}\n",
            stages(order)
        );
    }
    let program = lowered(&text);
    for (blocks, threads) in [(5, 256), (7, 128), (3, 96), (9, 64)] {
        let n = (blocks * threads) as usize;
        let mut least = f64::INFINITY;
        for (number, order) in orders.iter().enumerate() {
            let entry = format!("k{number}");
            let args = vec![words(4 * n + 2048, 1, 0), zeros(4 * n), zeros(2 * n)];
            let share =
                Case::line(&program, &entry, blocks, threads, args).hold(&format!("{threads} threads, {order:?}"));
            least = least.min(share);
        }
        assert!(!has_native() || least > 0.5, "{threads} threads: {least} native");
    }
}

/// Two stores a distance apart, of lanes that are a step apart: native where no other thread of the block stores there, and in the
/// interpreter's order where some do.
#[test]
fn of_stores_apart() {
    // What each thread stores first and then, and the bytes of both.
    const STORES: [(&str, &str, i64, i64); 3] =
        [("u32", "%r5", 4, 4), ("v2.u32", "{%r5, %r6}", 8, 4), ("u32", "%r5", 4, 8)];
    for threads in [64, 128, 256_u32] {
        let extent = |step: i64| step * i64::from(threads);
        let mut kernels = Vec::new();
        for step in [4, 8, 12] {
            let extent = extent(step);
            for apart in [4, 8, step, extent / 2, extent - step, extent - 4, extent, extent + 4, 2 * extent] {
                kernels
                    .extend([apart, -apart].into_iter().flat_map(|apart| STORES.map(|stores| (step, apart, stores))));
            }
        }
        let mut text = String::from(".version 7.8\n.target sm_80\n.address_size 64\n");
        for (number, &(step, apart, (kind, value, _, second))) in kernels.iter().enumerate() {
            let then =
                if second == 8 { "st.global.v2.u32 [%rd4+AT], {%r7, %r8}" } else { "st.global.u32 [%rd4+AT], %r7" };
            text += &format!(
                ".visible .entry k{number}(.param .u64 x, .param .u64 y) {{
                 .reg .b32 %r<12>; .reg .b64 %rd<8>; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
                 mad.lo.u32 %r3, %r2, {threads}, %r1; mul.wide.u32 %rd3, %r3, 4; add.u64 %rd3, %rd3, %rd1; ld.global.u32 %r5, [%rd3];
                 add.u32 %r6, %r5, 1; mul.lo.u32 %r7, %r5, 3; xor.b32 %r8, %r7, %r6; mad.lo.u32 %r4, %r2, {whole}, {middle};
                 mul.wide.u32 %rd5, %r1, {step}; cvt.u64.u32 %rd6, %r4; add.u64 %rd7, %rd6, %rd5; add.u64 %rd4, %rd7, %rd2;
                 st.global.{kind} [%rd4], {value}; {then}; ret; }}\n",
                whole = 64 * threads,
                middle = 32 * threads,
                then = then.replace("AT", &apart.to_string()),
            );
        }
        let program = lowered(&text);
        let blocks = 24;
        for (number, (step, apart, (kind, _, first, second))) in kernels.into_iter().enumerate() {
            if (kind == "v2.u32" || second == 8) && (step % 8 != 0 || second == 8 && apart % 8 != 0) {
                continue;
            }
            let entry = format!("k{number}");
            let args = vec![words((blocks * threads) as usize, 5, 0), zeros((20 * blocks * threads) as usize)];
            let what = format!("{threads} threads {step} apart, {kind} of {first} bytes and {second} at {apart}");
            let share = Case::line(&program, &entry, blocks, threads, args).hold(&what);
            let lanes = 1 - i64::from(threads)..i64::from(threads);
            let meets = |lane: i64| lane != 0 && apart + second > lane * step && lane * step + first > apart;
            let expected = if lanes.into_iter().any(meets) { 0.0..0.999 } else { 0.999..1.1 };
            assert!(!has_native() || expected.contains(&share), "{what}: {share} native");
        }
    }
}
