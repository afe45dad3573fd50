//! Parts of a launch that are given the bytes of buffers that they are expected to access, and no others.

use crate::cases;
use crate::parts::{launch, program};
use roundonce_exec::{Arg, Buffer, Engine, FaultKind, Launch, Options, Part};
use std::ops::Range;

/// The launch with those bytes of its buffers alone.
fn sliced<'a>(launch: &Launch<'a>, footprint: &[Option<Range<u64>>]) -> Launch<'a> {
    let mut sliced = launch.clone();
    for (arg, range) in sliced.args.iter_mut().zip(footprint) {
        if let (Arg::Buffer(buffer), Some(range)) = (&*arg, range) {
            let bytes = Buffer::from_bytes(&buffer.bytes(range.start as usize..range.end as usize));
            *arg = Arg::Slice { bytes, at: range.start, of: buffer.len() as u64 };
        }
    }
    sliced
}

/// Whether a part left the same with slices as with all of the buffers; `None` where a byte was missing.
fn same(whole: &Part, part: &Part, footprint: &[Option<Range<u64>>]) -> Option<bool> {
    match (&whole.outcome, &part.outcome) {
        (_, Err(fault)) if fault.kind == FaultKind::Absent => return None,
        (Err(whole), Err(fault)) => return Some(whole == fault && whole.kind == FaultKind::Access),
        (Ok(whole), Ok(part)) => {
            for ((whole, part), range) in whole.buffers.iter().zip(&part.buffers).zip(footprint) {
                let bytes = whole.as_ref().map(|whole| match range {
                    Some(range) => whole.bytes(range.start as usize..range.end as usize),
                    None => whole.to_bytes(),
                });
                assert_eq!(part.as_ref().map(Buffer::to_bytes), bytes);
            }
            assert_eq!((whole.steps, &whole.lines), (part.steps, &part.lines));
        }
        _ => return Some(false),
    }
    Some(whole.accesses == part.accesses)
}

/// How much of its buffers each of so many parts was given on average, and how many parts missed something.
fn run(launch: &Launch<'_>, count: u64) -> (Vec<f64>, usize) {
    let ranges = launch.parts(count).unwrap();
    let footprints = launch.footprints(&ranges).unwrap();
    let mut missed = 0;
    for (blocks, footprint) in ranges.iter().zip(&footprints) {
        let whole = launch.clone().run_part(blocks.clone()).unwrap();
        let part = sliced(launch, footprint).run_part(blocks.clone()).unwrap();
        match same(&whole, &part, footprint) {
            Some(same) => assert!(same, "{blocks:?}: {footprint:?}, {:?}", part.outcome),
            None => missed += 1,
        }
    }
    let shares = launch.args.iter().enumerate().filter_map(|(index, arg)| {
        let Arg::Buffer(buffer) = arg else { return None };
        let bytes = footprints.iter().map(|of| of[index].as_ref().map_or(buffer.len() as u64, |of| of.end - of.start));
        Some(bytes.sum::<u64>() as f64 / (footprints.len() * buffer.len()) as f64)
    });
    (shares.collect(), missed)
}

/// Where the guess holds for all of them, on both engines, which each find out for themselves what is missing.
#[test]
fn every_kernel() {
    let mut narrow = 0;
    for case in cases::all() {
        for (count, engine, threads) in [(3, Engine::Native, 1), (7, Engine::Interpreter, 2)] {
            let launch = case.launch(&Options { engine, threads, count_lines: true, ..Options::default() });
            if launch.parts(count).is_ok() {
                let (shares, missed) = run(&launch, count);
                assert_eq!(missed, 0, "{} in {count} parts", case.name);
                narrow += usize::from(shares.iter().any(|&share| share < 0.9));
            }
        }
    }
    assert!(narrow > 40, "{narrow}");
}

const WORD: &str = "st.global.u32 [%rd2], %r3;";

/// What blocks 8 to 15 of 32 are expected to access of `in` and `out`, whose words are as many as threads.
fn footprint(body: &str) -> [Option<Range<u64>>; 2] {
    let program = program(&format!("{body}\n{WORD}"));
    let mut all = Vec::new();
    for &engine in Engine::native().iter().chain(&[Engine::Interpreter]) {
        let launch = launch(&program, 32, Options { engine, ..Options::default() });
        let footprints = launch.footprints(std::slice::from_ref(&(8..16))).unwrap();
        let whole = launch.clone().run_part(8..16).unwrap();
        let part = sliced(&launch, &footprints[0]).run_part(8..16).unwrap();
        assert_eq!(same(&whole, &part, &footprints[0]), Some(true), "{body}: {footprints:?}");
        all.extend(footprints);
    }
    assert!(all.iter().all(|other| *other == all[0]));
    [all[0][1].clone(), all[0][0].clone()]
}

#[test]
fn what_is_expected() {
    let own = Some(1024..2048);
    assert_eq!(footprint(""), [Some(0..0), own.clone()]);
    // Its own word, and its neighbours': a slice begins at a multiple of 256.
    let neighbours = "add.s64 %rd5, %rd3, %rd4; ld.global.u32 %r5, [%rd5+4]; ld.global.v2.u32 {%r5, %r6}, [%rd5+-8];";
    let aligned = neighbours.replace("%rd3, %rd4", "%rd3, %rd6");
    let even = format!("and.b64 %rd6, %rd4, -8; {aligned}");
    assert_eq!(footprint(&even), [Some(768..2052), own.clone()]);
    // A row of words for each block: by an index, by an address that steps beside a counter, upwards and downwards.
    let index = "mov.u32 %r6, 0; L: mad.lo.s32 %r7, %r1, 32, %r6; mul.wide.s32 %rd5, %r7, 4; add.s64 %rd5, %rd3, %rd5;\n\
                 ld.global.u32 %r5, [%rd5]; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, 32; @%p1 bra L;";
    assert_eq!(footprint(index), [Some(1024..2052), own.clone()]);
    let address = "mul.wide.u32 %rd5, %r1, 128; add.s64 %rd5, %rd3, %rd5; mov.u32 %r6, 32;\n\
                   L: ld.global.u32 %r5, [%rd5]; add.s64 %rd5, %rd5, 4; add.s32 %r6, %r6, -1; setp.ne.s32 %p1, %r6, 0; @%p1 bra L;";
    let [read, _] = footprint(address);
    assert!(read.as_ref().is_some_and(|read| read.start == 1024 && (2048..2112).contains(&read.end)), "{read:?}");
    let down = "mul.wide.u32 %rd5, %r1, 128; add.s64 %rd5, %rd3, %rd5; mov.u32 %r6, 0;\n\
                L: ld.global.u32 %r5, [%rd5+124]; add.s64 %rd5, %rd5, -4; add.s32 %r6, %r6, 1; setp.ne.s32 %p1, %r6, 32; @%p1 bra L;";
    let [read, _] = footprint(down);
    assert!(read.as_ref().is_some_and(|read| read.end == 2048 && (768..=1024).contains(&read.start)), "{read:?}");
    // Every so many-th word from its own on.
    let strided = "mov.u32 %r6, %r3; L: mul.wide.s32 %rd5, %r6, 4; add.s64 %rd5, %rd3, %rd5; ld.global.u32 %r5, [%rd5];\n\
                   add.s32 %r6, %r6, 512; setp.lt.s32 %p1, %r6, 1024; @%p1 bra L;";
    assert_eq!(footprint(strided), [Some(1024..4096), own.clone()]);
    // A table by masked numbers, by bytes, by digits of a number.
    let table = |index: &str| {
        footprint(&format!("{index}; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd5, %rd3, %rd5; ld.global.u32 %r6, [%rd5];"))
    };
    assert_eq!(table("and.b32 %r5, %r3, 63"), [Some(0..256), own.clone()]);
    assert_eq!(table("ld.global.u8 %r5, [%rd3+64]"), [Some(0..1024), own.clone()]);
    assert_eq!(table("rem.u32 %r5, %r3, 10"), [Some(0..40), own.clone()]);
    assert_eq!(table("div.u32 %r5, %r3, 4"), [Some(256..512), own.clone()]);
    assert_eq!(table("shr.u32 %r5, %r3, 2"), [Some(256..512), own.clone()]);
    assert_eq!(table("shl.b32 %r6, %r1, 2; or.b32 %r5, %r6, 3"), [Some(0..256), own.clone()]);
    assert_eq!(table("min.u32 %r5, %r3, 300"), [Some(1024..1204), own.clone()]);
    // What is loaded may be any number: all of the buffer, whatever else is there.
    let loaded = table("add.s64 %rd5, %rd3, %rd4; ld.global.u32 %r5, [%rd5]; and.b32 %r5, %r5, %r5");
    assert_eq!(loaded, [Some(0..4096), own.clone()]);
    // Of a kernel with lines of blocks: those of one line, and of all lines between two.
    let program = program(WORD);
    let mut launch = launch(&program, 4, Options::default());
    launch.grid = [4, 2, 2];
    let of = |blocks: Range<u64>| launch.footprints(std::slice::from_ref(&blocks)).unwrap()[0][0].clone();
    assert_eq!([of(1..3), of(5..6), of(2..6), of(0..0)].map(Option::unwrap), [0..384, 0..256, 0..512, 0..128]);
}

/// A guess that is wrong ends the part; with all of its buffers it is run.
#[test]
fn what_is_absent() {
    // It reads up to word 77, the counter is compared with 50.
    let body = "mov.u32 %r6, 0; L: mul.wide.s32 %rd5, %r6, 4; add.s64 %rd5, %rd3, %rd5; ld.global.u32 %r5, [%rd5];\n\
                add.s32 %r6, %r6, 1; setp.eq.s32 %p2, %r6, 50; selp.u32 %r7, 1, 2, %p2; setp.ne.u32 %p1, %r5, 77; @%p1 bra L;\n\
                st.global.u32 [%rd2], %r7;";
    let program = program(body);
    for &engine in Engine::native().iter().chain(&[Engine::Interpreter]) {
        let launch = launch(&program, 7, Options { engine, ..Options::default() });
        let footprints = launch.footprints(std::slice::from_ref(&(2..4))).unwrap();
        let fault = sliced(&launch, &footprints[0]).run_part(2..4).unwrap().outcome.unwrap_err();
        assert_eq!((fault.kind, fault.thread), (FaultKind::Absent, Some(([2, 0, 0], [0; 3]))), "{engine:?}");
        let given =
            "4 bytes at 0x100030cc are not among those that are given: at byte 204 of `in` (4096 bytes at 0x10003000)";
        assert!(fault.message.contains(given), "{engine:?}: {}", fault.message);
        assert_eq!(run(&launch, 3).1, 3);
        // Past all of it is what it is elsewhere.
        let mut past = launch.clone();
        past.args[0] = Arg::Slice { bytes: Buffer::zeros(64), at: 256, of: 320 };
        let fault = past.run_part(4..5).unwrap().outcome.unwrap_err();
        assert_eq!((fault.kind, fault.thread), (FaultKind::Access, Some(([4, 0, 0], [0; 3]))), "{engine:?}");
    }
}

#[test]
fn no_slices() {
    let program = program(WORD);
    for (bytes, at, of) in [(64, 4, 4096), (64, 4096, 4096), (64, 256, 319), (64, u64::MAX / 256 * 256, u64::MAX)] {
        let mut launch = launch(&program, 7, Options::default());
        launch.args[1] = Arg::Slice { bytes: Buffer::zeros(bytes), at, of };
        let error = launch.run().unwrap_err();
        assert_eq!(error.kind, FaultKind::Usage, "{error}");
        assert!(error.message.contains("`in`: a slice of 64 bytes at "), "{error}");
    }
}

/// Numbers beyond all bounds, and without a fixed point.
#[test]
fn numbers_without_bounds() {
    for body in [
        "mov.u64 %rd5, 0x4000000000000000; mul.lo.s64 %rd5, %rd5, %rd5; mul.lo.s64 %rd5, %rd5, %rd5; add.s64 %rd5, %rd5, %rd3; ld.global.u32 %r5, [%rd5];",
        "cvt.u64.u32 %rd5, %r2; and.b64 %rd5, %rd5, -0x4000000000000000; and.b64 %rd5, %rd5, -0x4000000000000000;\n\
         and.b64 %rd5, %rd5, -0x4000000000000000; mul.lo.s64 %rd5, %rd5, %rd5; add.s64 %rd5, %rd5, %rd3; ld.global.u32 %r5, [%rd5];",
        "mov.u64 %rd5, 0; L: sub.s64 %rd5, %rd4, %rd5; mul.lo.s64 %rd5, %rd5, -3; setp.lt.s64 %p1, %rd5, 99; @%p1 bra L; add.s64 %rd5, %rd5, %rd3;",
        "shl.b64 %rd5, %rd4, 63; shr.s64 %rd6, %rd5, 63; mul.hi.u64 %rd5, %rd5, %rd6; mul.hi.s64 %rd5, %rd5, %rd5; add.s64 %rd5, %rd5, %rd3;",
    ] {
        let program = program(&format!("{body}\n{WORD}"));
        let launch = launch(&program, 32, Options { step_limit: 1 << 20, ..Options::default() });
        let footprints = launch.footprints(&[0..8, 8..16, 40..50]).unwrap();
        assert_eq!(footprints.len(), 3);
        assert!(
            footprints.iter().flatten().flatten().all(|range| range.start <= range.end && range.end <= 4096),
            "{footprints:?}"
        );
    }
    // So many parts that nothing is looked at.
    let program = program(WORD);
    let parts: Vec<Range<u64>> = (0..1 << 20).map(|part| part..part + 1).collect();
    let none = launch(&program, 32, Options::default()).footprints(&parts).unwrap();
    assert!(none.len() == parts.len() && none.iter().flatten().all(Option::is_none));
}
