//! Loads of elements that lie apart, which tiles load again: what is kept of them, and when it must not be.

use super::{Case, has_native, lowered, words, zeros};

/// Elements: how many, their type and bytes, and where they go.
const ELEMENTS: [(u64, &str, u64, &str); 6] = [
    (1, "u32", 4, "%r10"),
    (1, "f32", 4, "%f10"),
    (1, "u64", 8, "%rd10"),
    (2, "v2.f32", 4, "{%f10, %f11}"),
    (2, "v2.u64", 8, "{%rd10, %rd11}"),
    (4, "v4.u32", 4, "{%r10, %r11, %r12, %r13}"),
];

/// A sum of all that may have been loaded, into `%r9`.
const SUM: &str = "
    mov.b32 %r20, %f10; mov.b32 %r21, %f11; mov.b64 {%r22, %r23}, %rd10; mov.b64 {%r24, %r25}, %rd11;
    mad.lo.u32 %r9, %r9, 31, %r10; xor.b32 %r9, %r9, %r11; mad.lo.u32 %r9, %r9, 31, %r12; xor.b32 %r9, %r9, %r13;
    mad.lo.u32 %r9, %r9, 31, %r20; xor.b32 %r9, %r9, %r21; mad.lo.u32 %r9, %r9, 31, %r22; xor.b32 %r9, %r9, %r23;
    mad.lo.u32 %r9, %r9, 31, %r24; xor.b32 %r9, %r9, %r25;";

/// `%rd5` is the address of the thread's element.
fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 x, .param .u64 y, .param .u32 mask, .param .u32 step) {{
         .reg .pred %p<4>; .reg .b32 %r<30>; .reg .f32 %f<12>; .reg .b64 %rd<12>;
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r5, [mask]; ld.param.u32 %r6, [step];
         mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r1, %r2, %r3, %r4;
         and.b32 %r7, %r1, %r5; mul.lo.u32 %r8, %r7, %r6; mul.wide.u32 %rd4, %r8, 4; add.u64 %rd5, %rd1, %rd4;
         mul.wide.u32 %rd6, %r1, 4; add.u64 %rd7, %rd2, %rd6; mov.u32 %r9, 1;
         {body} st.global.u32 [%rd7], %r9; ret; }}\n"
    )
}

fn module(kernels: &str) -> String {
    format!(".version 7.8 .target sm_80 .address_size 64\n{kernels}")
}

#[test]
fn of_elements_that_are_not_written() {
    let load = |ty: &str, to: &str| format!("ld.global.{ty} {to}, [%rd5]; {SUM}");
    // Some lanes alone; and twice, at an address that goes on.
    let bodies = |ty: &str, to: &str| {
        let guarded =
            format!("and.b32 %r26, %r1, 3; setp.ne.u32 %p1, %r26, 0; @%p1 ld.global.{ty} {to}, [%rd5]; {SUM}");
        let again = format!("{} add.u64 %rd5, %rd5, 64; {}", load(ty, to), load(ty, to));
        [load(ty, to), guarded, again]
    };
    let mut text = String::new();
    for (index, &(_, ty, _, to)) in ELEMENTS.iter().enumerate() {
        for (way, body) in bodies(ty, to).iter().enumerate() {
            text += &kernel(&format!("k{index}_{way}"), body);
        }
    }
    let program = lowered(&module(&text));
    for (index, &(count, ty, bytes, _)) in ELEMENTS.iter().enumerate() {
        for way in 0..3 {
            for (mask, step) in [(15, 32), (255, 16), (255, 48), (63, 260), (4095, 16), (0, 16)] {
                for (blocks, threads, seed) in [(9, 256, 1), (9, 256, 2), (40, 96, 3), (70, 32, 4)] {
                    let elements = words(mask * step + 16 + (count * bytes / 4) as usize, seed, 0);
                    let written = zeros(blocks * threads);
                    let numbers = [mask, step].map(|number| roundonce_exec::Arg::Scalar(number as u64));
                    let args = [elements, written].into_iter().chain(numbers).collect();
                    let entry = format!("k{index}_{way}");
                    let share = Case::line(&program, &entry, blocks as u32, threads as u32, args)
                        .hold(&format!("{ty}, way {way}, mask {mask}, step {step}, {blocks} blocks of {threads}"));
                    assert!(!has_native() || share > 0.9, "{ty}, way {way}, mask {mask}, step {step}: {share} native");
                }
            }
        }
    }
}

#[test]
fn of_elements_that_change() {
    // Each thread has elements of its own, and changes what it loads again.
    let body = format!(
        "mov.u32 %r27, 0;
         AGAIN: ld.global.v2.f32 {{%f10, %f11}}, [%rd5]; {SUM}
         fma.rn.f32 %f10, %f10, %f11, 0f3F000000; add.f32 %f11, %f11, 0f3F800000;
         st.global.f32 [%rd5], %f10; st.global.f32 [%rd5+4], %f11;
         add.u32 %r27, %r27, 1; setp.lt.u32 %p1, %r27, 5; @%p1 bra AGAIN;"
    );
    let program = lowered(&module(&kernel("k", &body)));
    for step in [16, 32, 100] {
        let (blocks, threads) = (8, 128);
        let elements = words(blocks * threads * step + 16, 5, 0);
        let numbers = [1023, step].map(|number| roundonce_exec::Arg::Scalar(number as u64));
        let args = [elements, zeros(blocks * threads)].into_iter().chain(numbers).collect();
        let share = Case::line(&program, "k", blocks as u32, threads as u32, args).hold(&format!("step {step}"));
        assert!(!has_native() || share > 0.9, "step {step}: {share} native");
    }
}

/// A store that leads from one buffer into another, which is loaded alone: the same error on one thread and on two.
#[test]
fn of_a_buffer_that_a_store_leads_into() {
    // From `y` back to `x`, by a number that no address is part of.
    let body = format!("ld.global.u32 %r10, [%rd5]; {SUM} sub.u64 %rd7, %rd7, 0x2000; ");
    let program = lowered(&module(&kernel("k", &body)));
    let args = vec![words(1024, 1, 0), zeros(1024), roundonce_exec::Arg::Scalar(15), roundonce_exec::Arg::Scalar(32)];
    let case = Case::line(&program, "k", 16, 64, args);
    case.hold("a store into another buffer");
    let error = case.run(roundonce_exec::Engine::Interpreter, 1).0.unwrap_err();
    assert!(error.contains("`x` is written by an address that belongs to no buffer that the kernel writes"), "{error}");
}

/// Two addresses that one load gives: both buffers may be written.
#[test]
fn of_buffers_whose_addresses_are_loaded_together() {
    let program = lowered(&module(
        ".visible .entry k(.param .u64 x, .param .u64 y) {
         .reg .b32 %r<9>; .reg .b64 %rd<9>;
         ld.param.v2.u64 {%rd1, %rd2}, [x]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
         mad.lo.u32 %r1, %r2, %r3, %r4; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
         ld.global.u32 %r5, [%rd4]; mad.lo.u32 %r5, %r5, 3, %r1; st.global.u32 [%rd5], %r5; ret; }",
    ));
    let case = Case::line(&program, "k", 16, 64, vec![words(1024, 1, 0), zeros(1024)]);
    case.hold("two addresses");
    assert!(case.run(roundonce_exec::Engine::Interpreter, 2).0.is_ok());
}
