//! What a launch tells of its floats: exceptions by instruction, and how far rounding moved the results. The judge of
//! the wider values is the host's f64 arithmetic, in the order that the kernel names.

use roundonce_exec::{Arg, Breadth, Buffer, ExceptionKind, Launch, Options, Report, ShadowLine};

/// A kernel of `threads` threads with a buffer of floats in and one out, element by thread.
fn run(body: &str, input: &[f32], threads: u32, breadth: Breadth) -> (Report, Vec<(u32, u32)>) {
    let text = format!(
        ".version 8.7\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .pred %p<9>; .reg .f32 %f<20>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f64 %d<9>; .reg .b16 %h<9>;\n\
         .shared .align 4 .b8 s[4096];\n\
         ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n\
         cvt.u64.u32 %rd3, %r2; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3; ld.global.f32 %f1, [%rd4];\n\
         {body}\nret;\n}}\n"
    );
    let parsed = roundonce_ptx::parse(&text);
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    let program = roundonce_ptx::lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{}", findings[0]));
    let bytes: Vec<u8> = input.iter().flat_map(|value| value.to_le_bytes()).collect();
    let args = vec![Arg::Buffer(Buffer::from_bytes(&bytes)), Arg::Buffer(Buffer::zeros(threads as usize * 4))];
    let options = Options { shadow: Some(breadth), count_exceptions: true, ..Options::default() };
    let launch = Launch {
        program: &program,
        entry: None,
        grid: [1; 3],
        block: [threads, 1, 1],
        args: args.clone(),
        dynamic_shared: 0,
        options,
    };
    let report = launch.clone().run().unwrap_or_else(|error| panic!("{error}"));
    let plain = Launch { options: Options::default(), ..launch }.run().unwrap();
    assert_eq!(report.buffers, plain.buffers, "observing changes nothing");
    let lines = program.kernels[0].source_locs.iter().enumerate().map(|(loc, place)| (loc as u32, place.line));
    (report, lines.collect())
}

/// The wider values of `out`, by thread.
fn wide(report: &Report) -> Vec<f64> {
    report.shadow.as_ref().unwrap().buffers[1].iter().map(|element| element.wide).collect()
}

/// What was seen of the instructions of a line.
fn line((report, lines): &(Report, Vec<(u32, u32)>), wanted: u32) -> &ShadowLine {
    let shadow = report.shadow.as_ref().unwrap();
    let of_line = |(loc, _): &(&u32, &ShadowLine)| lines.contains(&(**loc, wanted));
    shadow.lines.iter().find(of_line).unwrap_or_else(|| panic!("line {wanted}: {lines:?}")).1
}

fn values(count: usize) -> Vec<f32> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        0.5 + (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..count).map(|_| next()).collect()
}

/// Through registers, shared memory, a select, a shuffle and a float atomic.
#[test]
fn a_sum_over_a_warp() {
    let input = values(32);
    let body = "mul.rn.f32 %f2, %f1, %f1;\n\
         cvt.u64.u32 %rd6, s; add.s64 %rd7, %rd6, %rd3; st.shared.f32 [%rd7], %f2; ld.shared.f32 %f3, [%rd7];\n\
         mov.f32 %f4, %f3; setp.ne.u32 %p1, %r1, 99; selp.f32 %f5, %f4, 0f00000000, %p1;\n\
         shfl.sync.down.b32 %r5, %f5, 16, 31, -1; mov.b32 %f6, %r5; add.rn.f32 %f5, %f5, %f6;\n\
         shfl.sync.bfly.b32 %r5, %f5, 1, 31, -1; mov.b32 %f6, %r5; add.rn.f32 %f7, %f5, %f6;\n\
         st.global.f32 [%rd5], %f7; bar.sync 0; red.global.add.f32 [%rd2], %f2;";
    let (report, _) = run(body, &input, 32, Breadth::Double);
    let squares: Vec<f64> = input.iter().map(|&value| f64::from(value) * f64::from(value)).collect();
    let halves: Vec<f64> =
        (0..32).map(|lane| squares[lane] + squares[if lane < 16 { lane + 16 } else { lane }]).collect();
    let mut expected: Vec<f64> = (0..32).map(|lane| halves[lane] + halves[lane ^ 1]).collect();
    expected[0] = squares.iter().fold(expected[0], |sum, square| sum + square);
    assert_eq!(wide(&report), expected);
    // The distance is that of the bits from the wider value.
    let elements = &report.shadow.as_ref().unwrap().buffers[1];
    for (element, wide) in elements.iter().zip(&expected) {
        let value = f64::from(f32::from_bits(element.bits as u32));
        let unit = 2f64.powi(wide.log2().floor() as i32 - 23);
        assert_eq!(element.ulps, (value - wide).abs() / unit);
    }
    assert!(elements.iter().any(|element| element.ulps > 0.5));
}

/// Packed halves keep their shadows through packing, packed arithmetic and unpacking.
#[test]
fn packed_halves() {
    let input = values(8);
    let body = "cvt.rn.f16.f32 %h1, %f1; mov.b32 %r5, {%h1, %h1}; fma.rn.f16x2 %r6, %r5, %r5, %r5;\n\
         st.global.b32 [%rd5], %r6;";
    let (report, _) = run(body, &input, 8, Breadth::Double);
    let expected: Vec<f64> = input.iter().map(|&value| f64::from(value)).map(|x| x.mul_add(x, x)).collect();
    let twice: Vec<f64> = expected.iter().flat_map(|&value| [value, value]).collect();
    assert_eq!(wide(&report), twice);
}

/// Cancellation, a comparison that rounding decides, and an operation that is not followed.
#[test]
fn lines() {
    let body = "add.rn.f32 %f2, %f1, 0f4b800000;\n\
         sub.rn.f32 %f3, %f2, 0f4b800000;\n\
         setp.eq.f32 %p1, %f3, %f1;\n\
         cvt.rmi.s32.f32 %r5, %f3;\n\
         mov.b32 %r6, %f3; xor.b32 %r7, %r6, 0;\n\
         mov.b32 %f4, %r7; add.rn.f32 %f4, %f4, %f4; st.global.f32 [%rd5], %f4;";
    // 2^24 + 0.75 rounds to 2^24: the difference is 0 in place of 0.75.
    let ran = run(body, &[0.75], 1, Breadth::Double);
    let [add, sub, compare, convert, xor] = [10, 11, 12, 13, 14].map(|wanted| line(&ran, wanted));
    assert_eq!((add.results, add.moved, add.cancellations), (1, 0, 0));
    let worst = sub.worst.unwrap();
    // An ulp at 0.75 is 2^-24.
    assert_eq!((worst.bits, worst.wide, worst.ulps), (0, 0.75, 0.75 * 16_777_216.0));
    assert_eq!((sub.cancellations, sub.cancelled_bits), (1, 24));
    assert_eq!((compare.decisions, compare.reversed), (1, 1));
    assert_eq!((convert.decisions, convert.reversed), (1, 0));
    assert_eq!(xor.not_followed, 1);
    assert_eq!(wide(&ran.0), [0.0]);
}

/// 1,024 bits hold what 53 lose.
#[test]
fn long_numbers() {
    let body = "cvt.f64.f32 %d1, %f1; add.rn.f64 %d2, %d1, 0d4690000000000000; sub.rn.f64 %d3, %d2, 0d4690000000000000;\n\
         cvt.rn.f32.f64 %f2, %d3; st.global.f32 [%rd5], %f2;";
    assert_eq!(wide(&run(body, &[0.1], 1, Breadth::Double).0), [0.0]);
    assert_eq!(wide(&run(body, &[0.1], 1, Breadth::Long).0), [f64::from(0.1f32)]);
}

/// Each kind, its origin, its first thread, in the order of the first occurrences.
#[test]
fn exceptions() {
    let body = "mul.rn.f32 %f2, %f1, 0f7f000000;\n\
         sub.rn.f32 %f3, %f2, %f2;\n\
         add.rn.f32 %f4, %f3, 0f3f800000;\n\
         mul.rn.f32 %f5, %f1, 0f00800000;\n\
         div.rn.f32 %f6, %f1, 0f40400000;\n\
         cvt.rn.f16.f32 %h1, %f1; sqrt.rn.f32 %f7, %f1;";
    let (report, lines) = run(body, &[0.25, 4.0, 0.75], 3, Breadth::Double);
    let told = report.exceptions.iter().map(|it| {
        let line = lines.iter().find(|(loc, _)| *loc == it.loc).unwrap().1;
        (line, it.kind, it.count, it.arising, it.results, it.thread.1[0])
    });
    let told: Vec<_> = told.collect();
    use ExceptionKind::{Inexact, Infinity, Nan, Subnormal};
    let expected = [
        // 4 × 2^127 overflows, and infinity − infinity is the first NaN.
        (10, Infinity, 1, 1, 3, 1),
        (10, Inexact, 1, 1, 3, 1),
        (11, Nan, 1, 1, 3, 1),
        (12, Nan, 1, 0, 3, 1),
        // 0.25 and 0.75 times the smallest normal number.
        (13, Subnormal, 2, 2, 3, 0),
        (14, Inexact, 2, 2, 3, 0),
        (15, Inexact, 1, 1, 3, 2),
    ];
    assert_eq!(told, expected);
    let overflow = &report.exceptions[0];
    assert_eq!(overflow.operands, [(0x4080_0000, 32), (0x7f00_0000, 32)]);
    assert_eq!(overflow.result, (0x7f80_0000, 32));
}

/// What differs from a reference by about as much as rounding moved it, and what differs by more.
#[test]
fn against_a_reference() {
    let body = "add.rn.f32 %f2, %f1, 0f49800000; sub.rn.f32 %f3, %f2, 0f49800000; st.global.f32 [%rd5], %f3;";
    let (report, _) = run(body, &[0.7, 0.7, 0.7], 3, Breadth::Double);
    let reference: Vec<u8> = [0.75f32, 0.7, 2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let against = report.shadow.unwrap().against(1, &reference);
    assert_eq!((against.differing, against.rounding, against.further), (2, 1, 1));
    assert_eq!(against.first_further.map(|(element, bits, _)| (element.offset, bits)), Some((8, 0x4000_0000)));
}

/// Conversions of several values, to formats of eight bits and by steps of integers are looked at; a conversion that is clamped is
/// one result.
#[test]
fn narrow_conversions() {
    let body = "cvt.rs.f16x2.f32 %r5, %f1, %f1, %r1;\n\
         cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f1;\n\
         cvt.rna.tf32.f32 %r6, %f1;\n\
         cvt.rn.satfinite.relu.f16.f32 %h2, %f1;\n\
         cvt.rn.satfinite.bf16x2.f32 %r7, %f1, %f1;\n\
         mov.b32 %f2, %r6; st.global.f32 [%rd5], %f2; red.global.add.f32 [%rd2], %f1;";
    let told = |value: f32| {
        let (report, lines) = run(body, &[value], 1, Breadth::Double);
        let of_line = |loc| lines.iter().find(|&&(known, _)| known == loc).unwrap().1;
        let told = report.exceptions.iter().map(|it| {
            let (operand, result) = (it.operands[0], it.result);
            (of_line(it.loc), it.kind, it.count, it.arising, it.results, operand, result)
        });
        told.collect::<Vec<_>>()
    };
    use ExceptionKind::{Inexact, Infinity, Nan};
    assert_eq!(
        told(1.1),
        [
            (10, Inexact, 2, 2, 2, (0x3f8c_cccd, 32), (0x3c66, 16)),
            (11, Inexact, 2, 2, 2, (0x3f8c_cccd, 32), (0x39, 8)),
            (12, Inexact, 1, 1, 1, (0x3f8c_cccd, 32), (0x3f8c_c000, 32)),
            (13, Inexact, 1, 1, 1, (0x3f8c_cccd, 32), (0x3c66, 16)),
            (14, Inexact, 2, 2, 2, (0x3f8c_cccd, 32), (0x3f8d, 16)),
            (15, Inexact, 1, 1, 1, (0x3f8c_c000, 32), (0x400c_c666, 32)),
        ]
    );
    let large = told(1e30);
    assert_eq!(large[0], (10, Infinity, 2, 2, 2, (0x7149_f2ca, 32), (0x7c00, 16)));
    assert_eq!(large[1], (10, Inexact, 2, 2, 2, (0x7149_f2ca, 32), (0x7c00, 16)));
    assert_eq!(large[2], (11, Inexact, 2, 2, 2, (0x7149_f2ca, 32), (0x7e, 8)));
    // Clamped: no infinity anywhere.
    assert_eq!(large[4], (13, Inexact, 1, 1, 1, (0x7149_f2ca, 32), (0x7bff, 16)));
    assert!(large[2..].iter().all(|it| it.1 == Inexact), "{large:?}");
    let nan = told(f32::NAN);
    assert!(nan.iter().all(|it| it.1 == Nan && it.3 == 0 && it.2 == it.4), "{nan:?}");
    assert_eq!(
        nan.iter().map(|it| (it.0, it.2)).collect::<Vec<_>>(),
        [(10, 2), (11, 2), (12, 1), (13, 1), (14, 2), (15, 1)]
    );
    // Negative: the clamp rounds nothing.
    assert!(told(-1.1).iter().all(|it| it.0 != 13), "{:?}", told(-1.1));
    assert_eq!(told(1.5).iter().filter(|it| it.0 != 15).count(), 0);
}

/// What these conversions move is seen: to 16 bits and TF32 with the wider value, to fewer by a count of what is lost.
#[test]
fn narrow_conversions_move_values() {
    let through = |conversion: &str| run(conversion, &[1.1], 1, Breadth::Double);
    let exact = f64::from(1.1f32);
    let random = through(
        "cvt.rs.bf16x2.f32 %r5, %f1, %f1, %r1; mov.b32 {%h1, %h2}, %r5; cvt.f32.bf16 %f2, %h1; st.global.f32 [%rd5], %f2;",
    );
    assert_eq!(wide(&random.0), [exact]);
    assert!(line(&random, 10).moved >= 2);
    let tf32 = through("cvt.rna.tf32.f32 %r1, %f1; st.global.b32 [%rd5], %r1;");
    assert_eq!(wide(&tf32.0), [exact]);
    assert_eq!((line(&tf32, 10).results, line(&tf32, 10).moved, line(&tf32, 10).not_followed), (1, 1, 0));
    let e4m3 = through(
        "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f1;\ncvt.rn.f16x2.e4m3x2 %r5, %h1;\nmov.b32 {%h1, %h2}, %r5;\n\
         cvt.f32.f16 %f2, %h1; st.global.f32 [%rd5], %f2;",
    );
    assert_eq!(line(&e4m3, 10).not_followed, 2);
    assert_eq!((line(&e4m3, 11).moved, line(&e4m3, 11).not_followed), (0, 0));
    assert_eq!(wide(&e4m3.0), [1.125]);
    // Clamped as the kernel's.
    let relu =
        through("neg.f32 %f1, %f1; cvt.rn.relu.f16.f32 %h1, %f1; cvt.f32.f16 %f2, %h1; st.global.f32 [%rd5], %f2;");
    assert_eq!(wide(&relu.0), [0.0]);
    let large = run(
        "cvt.rn.satfinite.bf16x2.f32 %r5, %f1, %f1; mov.b32 {%h1, %h2}, %r5; cvt.f32.bf16 %f2, %h1; st.global.f32 [%rd5], %f2;",
        &[f32::NEG_INFINITY],
        1,
        Breadth::Double,
    );
    assert_eq!(wide(&large.0), [f64::from(f32::from_bits(0xff7f_0000))]);
}

/// Atomics of which nothing is observed have loops of their own: the same bits, in the order of the lanes, through generic
/// addresses of both spaces too.
#[test]
fn atomics_observed_and_not() {
    let kinds = [
        "add.f32 %f3, [AT], %f1",
        "add.u32 %r3, [AT], %r4",
        "add.noftz.f16x2 %r3, [AT], %r4",
        "min.s32 %r3, [AT], %r4",
        "max.u32 %r3, [AT], %r4",
        "xor.b32 %r3, [AT], %r4",
        "exch.b32 %r3, [AT], %r4",
        "cas.b32 %r3, [AT], %r5, %r4",
        "inc.u32 %r3, [AT], %r4",
        "dec.u32 %r3, [AT], %r4",
        "add.u64 %rd8, [AT], %rd3",
        "add.f64 %d3, [AT], %d1",
        "cas.b64 %rd8, [AT], 0, %rd3",
    ];
    let mut input = values(256);
    (input[3], input[40], input[41]) = (f32::NAN, 1e-40, -f32::INFINITY);
    for kind in kinds {
        // Sixteen places in each space; every third lane is somewhere else than its neighbours.
        let body = format!(
            "and.b32 %r6, %r1, 15; mul.wide.u32 %rd6, %r6, 8; mov.u32 %r7, s; cvt.u64.u32 %rd7, %r7; cvta.shared.u64 %rd7, %rd7;\n\
             rem.u32 %r8, %r1, 3; setp.eq.u32 %p1, %r8, 0; selp.b64 %rd7, %rd7, %rd2, %p1; add.s64 %rd7, %rd7, %rd6;\n\
             mov.b32 %r4, %f1; mov.u32 %r5, 0; cvt.f64.f32 %d1, %f1; mov.u32 %r3, 0; mov.f32 %f3, 0f00000000; mov.u64 %rd8, 0; mov.f64 %d3, 0d0000000000000000;\n\
             setp.ge.u32 %p2, %r1, 250; @%p2 bra D;\n\
             atom.{}; \n\
             D: bar.sync 0; mov.b64 {{%r9, %r10}}, %d3; xor.b32 %r9, %r9, %r10; mov.b64 {{%r11, %r12}}, %rd8; xor.b32 %r11, %r11, %r12;\n\
             mov.b32 %r13, %f3; xor.b32 %r9, %r9, %r11; xor.b32 %r9, %r9, %r13; xor.b32 %r9, %r9, %r3;\n\
             setp.lt.u32 %p2, %r1, 32; shl.b32 %r14, %r1, 2; add.s32 %r14, %r7, %r14; @%p2 ld.shared.b32 %r15, [%r14];\n\
             setp.lt.u32 %p2, %r1, 32; @%p2 xor.b32 %r9, %r9, %r15; @!%p2 st.global.b32 [%rd5], %r9;",
            kind.replace("AT", "%rd7")
        );
        let (report, _) = run(&body, &input, 256, Breadth::Double);
        let Some(out) = report.buffers[1].as_ref() else { panic!("{kind}: no result") };
        assert!(out.words().iter().any(|&word| word != 0), "{kind}");
    }
}
