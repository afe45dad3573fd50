//! A launch in parts leaves the bits of one run, or is refused.

use crate::cases;
use roundonce_exec::{Arg, Buffer, Engine, FaultKind, Launch, Options, Report, RunError, conflict};
use roundonce_ir::Program;

/// What became of a launch in parts.
#[derive(Debug)]
enum Ended {
    Merged(Box<Report>),
    /// The blocks depend on each other.
    Refused(String),
}

/// Runs a launch in parts and puts what they wrote together; the first fault, where no part depends on another.
fn run(launch: &Launch<'_>, count: u64) -> Result<Ended, RunError> {
    let refused = |error: RunError| match error.kind {
        FaultKind::Dependence => Ok(Ended::Refused(error.to_string())),
        _ => Err(error),
    };
    let ranges = match launch.parts(count) {
        Ok(ranges) => ranges,
        Err(error) => return refused(error),
    };
    let blocks: u64 = launch.grid.iter().map(|&axis| u64::from(axis)).product();
    assert_eq!((ranges.len() as u64, ranges.last().unwrap().end), (count.min(blocks), blocks));
    let bytes = |arg: &Arg| match arg {
        Arg::Buffer(buffer) => Some(buffer.to_bytes()),
        _ => None,
    };
    let mut buffers: Vec<Option<Vec<u8>>> = launch.args.iter().map(bytes).collect();
    let mut merged = Box::<Report>::default();
    let mut accesses = Vec::new();
    for range in ranges {
        assert_eq!(accesses.last().map_or(0, |(last, _): &(std::ops::Range<u64>, _)| last.end), range.start);
        let part = match launch.clone().run_part(range.clone()) {
            Ok(part) => part,
            Err(error) => return refused(error),
        };
        accesses.push((range, part.accesses));
        if let Some(conflict) = conflict(&accesses) {
            return Ok(Ended::Refused(conflict.to_string()));
        }
        let report = part.outcome?;
        for it in &accesses.last().unwrap().1 {
            let Some(argument) = it.argument else { continue };
            let Some(into) = &mut buffers[argument] else { continue };
            let left = report.buffers[argument].as_ref().unwrap().to_bytes();
            it.written.copy(&left[it.written.range().start as usize..], into);
            // What is not written is as it was.
            let mut rest = left.clone();
            it.written.copy(&bytes(&launch.args[argument]).unwrap()[it.written.range().start as usize..], &mut rest);
            assert_eq!(Some(rest), bytes(&launch.args[argument]), "a store that left no mark");
        }
        merged.steps += report.steps;
        merged.native_steps += report.native_steps;
        merged.trace.extend(report.trace);
        for (name, times) in report.approximations {
            *merged.approximations.entry(name).or_default() += times;
        }
        for (line, times) in report.lines {
            *merged.lines.entry(line).or_default() += times;
        }
    }
    merged.buffers = buffers.into_iter().map(|bytes| bytes.map(|bytes| Buffer::from_bytes(&bytes))).collect();
    Ok(Ended::Merged(merged))
}

/// Kernels whose blocks communicate, or that write an image; the rest is run in parts.
const REFUSED: [(&str, &str); 6] = [
    ("reduce", "line 66, `atom.global.add.f64 %fd3, [%rd12], %fd2`: an atomic on memory that all blocks share"),
    ("histogram", "line 72, `atom.global.add.u32 %r20, [%rd8], %r19`: an atomic on memory that all blocks share"),
    ("heap", "line 71, `call.uni (retval0), malloc, (param0)`: an atomic on memory that all blocks share"),
    ("grid_sync", "`atom.add.release.gpu.u32 %r50, [%rd6], %r51`: an atomic on memory that all blocks share"),
    ("surfaces", "line 55, `sust.b.2d.v4.b32.zero [%rd4, {%r17, %r18}], {%r14, %r3, %r16, %r15}`: it writes an image"),
    (
        "opaque",
        "line 47, `sured.b.add.2d.u32.trap [counts, {%r12, 0}], %r1`: an atomic on memory that all blocks share",
    ),
];

/// Every kernel in so many parts: the bits, the counts and the trace of one run.
fn all(counts: &[u64], options: &Options) {
    // What takes long to compile runs too short to be worth it.
    let options = Options { compile_limit: 1 << 24, ..options.clone() };
    let mut refused = Vec::new();
    for case in cases::all() {
        let mut launch = case.launch(&options);
        // The last thread of a launch that has not so many.
        let threads: u64 = launch.grid.iter().chain(&launch.block).map(|&axis| u64::from(axis)).product();
        launch.options.trace_lane = options.trace_lane.map(|lane| lane.min(threads - 1));
        let whole = launch.clone().run().unwrap();
        for &count in counts {
            let merged = match run(&launch, count).unwrap_or_else(|error| panic!("{}: {error}", case.name)) {
                Ended::Merged(merged) => merged,
                Ended::Refused(why) => {
                    let expected = REFUSED.iter().find(|(name, _)| *name == case.name);
                    assert!(expected.is_some_and(|(_, expected)| why.contains(expected)), "{}: {why}", case.name);
                    refused.push(case.name.clone());
                    continue;
                }
            };
            let name = format!("{} in {count} parts", case.name);
            case.compare(&merged).unwrap_or_else(|why| panic!("{name}: {why}"));
            for ((arg, merged), whole) in launch.args.iter().zip(&merged.buffers).zip(&whole.buffers) {
                assert!(!matches!(arg, Arg::Buffer(_)) || merged == whole, "{name}");
            }
            assert_eq!(
                (merged.steps, merged.lines, merged.trace),
                (whole.steps, whole.lines.clone(), whole.trace.clone()),
                "{name}"
            );
            assert_eq!(merged.approximations, whole.approximations, "{name}");
        }
    }
    assert_eq!(refused.len(), REFUSED.len() * counts.len(), "{refused:?}");
}

#[test]
fn every_kernel_in_parts() {
    all(&[1, 2, 3, 7], &Options { engine: Engine::Native, ..Options::default() });
}

#[test]
fn by_the_interpreter_traced() {
    all(&[3], &Options { engine: Engine::Interpreter, trace_lane: Some(37), count_lines: true, ..Options::default() });
}

/// A kernel of one buffer, `out`, with the block's number in %r1, the thread's in %r2 and in the grid in %r3, and the address of
/// its own word in %rd2.
pub(crate) fn program(body: &str) -> Program {
    let text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.global .align 4 .b8 counter[64];\n\
         .visible .entry k(.param .u64 out, .param .u64 in)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<9>;\n\
         ld.param.u64 %rd1, [out]; ld.param.u64 %rd3, [in];\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r4, %ntid.x; mad.lo.s32 %r3, %r1, %r4, %r2;\n\
         mul.wide.u32 %rd4, %r3, 4; add.s64 %rd2, %rd1, %rd4;\n{body}\nret;\n}}\n"
    );
    let parsed = roundonce_ptx::parse(&text);
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    roundonce_ptx::lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{}", findings[0]))
}

pub(crate) fn launch(program: &Program, grid: u32, options: Options) -> Launch<'_> {
    let args = vec![Arg::Buffer(Buffer::zeros(4096)), Arg::Buffer(Buffer::from_words((0..1024).collect()))];
    Launch { program, entry: None, grid: [grid, 1, 1], block: [32, 1, 1], args, dynamic_shared: 0, options }
}

/// By every engine.
fn refusal(body: &str, count: u64) -> Option<String> {
    let program = program(body);
    let mut all = Engine::native().iter().chain(&[Engine::Interpreter]).map(|&engine| {
        let launch = launch(&program, 7, Options { engine, ..Options::default() });
        match run(&launch, count).unwrap() {
            Ended::Refused(why) => Some(why),
            Ended::Merged(merged) => {
                assert_eq!(merged.buffers, launch.run().unwrap().buffers, "{body}");
                None
            }
        }
    });
    let first = all.next().unwrap();
    assert!(all.all(|other| other == first), "{body}");
    first
}

#[test]
fn what_only_a_run_shows() {
    // Each its own word, and each the word of another block's input.
    assert_eq!(refusal("st.global.u32 [%rd2], %r3;", 7), None);
    assert_eq!(refusal("add.s64 %rd5, %rd3, %rd4; ld.global.u32 %r5, [%rd5+128]; st.global.u32 [%rd2], %r5;", 7), None);
    // In place.
    assert_eq!(refusal("ld.global.u32 %r5, [%rd2]; add.s32 %r5, %r5, %r3; st.global.u32 [%rd2], %r5;", 7), None);
    // Two words of one thread, and bytes of a word that two blocks share.
    let bytes =
        "mul.wide.u32 %rd5, %r3, 2; add.s64 %rd5, %rd1, %rd5; st.global.u8 [%rd5+30], %r3; st.global.u8 [%rd5+31], 7;";
    assert_eq!(refusal(bytes, 3), None);
    // The same value by every block: who wrote it last makes no difference, that a part may write it does.
    let why = refusal("setp.eq.u32 %p1, %r2, 5; @%p1 st.global.u32 [%rd1+400], 0;", 7).unwrap();
    assert!(
        why.starts_with("byte 400 of `out` is written by one of blocks 0 to 0 and written by one of blocks 1 to 1:"),
        "{why}"
    );
    // A byte that overlaps the next block's first.
    let why =
        refusal("st.global.u32 [%rd2], %r3; setp.eq.u32 %p1, %r2, 31; @%p1 st.global.u8 [%rd2+6], 1;", 2).unwrap();
    assert!(
        why.starts_with("byte 386 of `out` is written by one of blocks 0 to 2 and written by one of blocks 3 to 6:"),
        "{why}"
    );
    // A neighbour's word, read before it is written and afterwards.
    let neighbour = "ld.global.u32 %r5, [%rd2+4]; st.global.u32 [%rd2], %r5;";
    let why = refusal(neighbour, 2).unwrap();
    assert!(
        why.starts_with("byte 384 of `out` is written by one of blocks 3 to 6 and read by one of blocks 0 to 2:"),
        "{why}"
    );
    let why = refusal("st.global.u32 [%rd2+4], %r3; ld.global.u32 %r5, [%rd2];", 2).unwrap();
    assert!(
        why.starts_with("byte 384 of `out` is written by one of blocks 0 to 2 and read by one of blocks 3 to 6:"),
        "{why}"
    );
    // A store by the register of the load that goes elsewhere, and one that a guard keeps from running, do not stand for it.
    for body in [
        "add.s64 %rd5, %rd2, 4; ld.global.u32 %r5, [%rd5]; mov.u64 %rd5, %rd2; st.global.u32 [%rd5], %r5;",
        "setp.ne.u32 %p1, %r2, 99; @%p1 ld.global.u32 %r5, [%rd2+4]; setp.eq.u32 %p1, %r2, 99;\n\
         @%p1 st.global.u32 [%rd2+4], %r5; st.global.u32 [%rd2], %r3;",
    ] {
        let why = refusal(body, 2).unwrap();
        assert!(
            why.starts_with("byte 384 of `out` is written by one of blocks 3 to 6 and read by one of blocks 0 to 2:"),
            "{why}"
        );
    }
    // Both parts read what neither writes.
    assert_eq!(refusal("ld.global.u32 %r5, [%rd1+4000]; add.s32 %r5, %r5, %r3; st.global.u32 [%rd2], %r5;", 7), None);
    // An address that a load overwrites.
    let chased = "st.global.u64 [%rd1+2048], %rd1; mov.u64 %rd5, %rd1; ld.global.u64 %rd5, [%rd5+2048];";
    assert!(refusal(chased, 2).unwrap().starts_with("byte 2048 of `out` is written by"));
    // Variables are memory too; what one part alone touches of them is its own.
    let variable =
        "mov.u64 %rd5, counter; setp.eq.u32 %p1, %r1, 6; @%p1 st.global.u32 [%rd5], %r3; ld.global.u32 %r5, [%rd5+4];";
    assert_eq!(refusal(variable, 7), None);
    let variable =
        "mov.u64 %rd5, counter; setp.eq.u32 %p1, %r1, 6; @%p1 st.global.u32 [%rd5], %r3; ld.global.u32 %r5, [%rd5];";
    assert!(
        refusal(variable, 2).unwrap().starts_with("byte 0 of `counter` is written by one of blocks 3 to 6 and read by")
    );
    // One buffer by another one's address: an error, in parts and as a whole.
    let program = program("sub.s64 %rd5, %rd3, %rd1; mov.u64 %rd6, 0; st.global.u32 [%rd2+8192], %r3;");
    let launch = launch(&program, 7, Options::default());
    let why = run(&launch, 2).err().unwrap();
    assert_eq!(launch.run().unwrap_err(), why);
    let why = why.to_string();
    assert!(why.contains("`in` is written by an address that belongs to no buffer that the kernel writes"), "{why}");
}

#[test]
fn what_the_code_says() {
    for (body, expected) in [
        ("atom.global.add.u32 %r5, [%rd1], 1;", "line 11, `atom.global.add.u32 %r5, [%rd1], 1`: an atomic on memory"),
        ("red.global.add.u32 [%rd1], 1;", "line 11, `red.global.add.u32 [%rd1], 1`: an atomic on memory"),
        ("membar.gl;", "line 11, `membar.gl`: a fence orders what other blocks may see"),
        (
            "W: ld.global.u32 %r5, [%rd1]; setp.eq.u32 %p1, %r5, 0; @%p1 bra W;",
            "a loop waits for what another block writes",
        ),
        ("mov.u32 %r5, %clock; st.global.u32 [%rd2], %r5;", "`mov.u32 %r5, %clock`: a clock tells what ran before"),
    ] {
        let why = refusal(body, 2).unwrap();
        assert!(why.starts_with("kernel `k`, line 11") && why.contains(expected), "{why}");
    }
    let program = program("st.global.u32 [%rd2], %r3;");
    let observed = launch(&program, 2, Options { count_exceptions: true, ..Options::default() });
    assert_eq!(observed.parts(2).unwrap_err().kind, FaultKind::Usage);
    assert_eq!(observed.run_part(0..1).unwrap_err().kind, FaultKind::Usage);
}

/// An address given as a number is memory too: what is stored there is kept, on any number of threads, and followed.
#[test]
fn addresses_as_numbers() {
    let program = program("add.s64 %rd5, %rd3, %rd4; ld.global.u32 %r5, [%rd5+128]; st.global.u32 [%rd5], %r3;");
    for threads in [1, 2] {
        let mut launch = launch(&program, 7, Options { threads, ..Options::default() });
        launch.args[1] = Arg::Scalar(0x1000_1000);
        let words = launch.clone().run().unwrap().buffers[0].as_ref().unwrap().words().to_vec();
        assert!(words[..224].iter().copied().eq(0..224), "{threads}");
        let Ended::Refused(why) = run(&launch, 2).unwrap() else { panic!("block 2 reads block 3's words") };
        assert!(why.starts_with("byte 384 of `out` is written by one of blocks 3 to 6 and read by"), "{why}");
    }
}

/// A fault is the one of a run of all blocks, and what the instructions before it accessed is known.
#[test]
fn faults() {
    let program = program(
        "st.global.u32 [%rd2], %r3; shl.b32 %r5, %r3, 3; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd5, %rd1, %rd5;\n\
         add.s64 %rd5, %rd5, 2048; st.global.u32 [%rd5], %r3;",
    );
    for (threads, engine) in [(1, Engine::Native), (2, Engine::Native), (1, Engine::Interpreter)] {
        let launch = launch(&program, 7, Options { threads, engine, ..Options::default() });
        let whole = launch.clone().run().unwrap_err();
        for count in [1, 2, 7] {
            assert_eq!(run(&launch, count).unwrap_err(), whole);
        }
        let part = launch.run_part(1..6).unwrap();
        assert_eq!(part.outcome.unwrap_err().thread, Some(([2, 0, 0], [0; 3])));
        assert_eq!(part.accesses[0].written.range().start, 128, "{engine:?}, {threads}");
    }
    // What made it fail is what another part leaves.
    let body = "st.global.u32 [%rd2], 65536; setp.ne.u32 %p1, %r1, 6; @%p1 bra E; ld.global.u32 %r5, [%rd1];\n\
                sub.s32 %r5, 65537, %r5; mul.wide.u32 %rd5, %r5, 65536; add.s64 %rd5, %rd1, %rd5; st.global.u32 [%rd5], 1; E:";
    let why = refusal(body, 2).unwrap();
    assert!(
        why.starts_with("byte 0 of `out` is written by one of blocks 0 to 2 and read by one of blocks 3 to 6"),
        "{why}"
    );
}

/// Parts have whole batches of blocks where there are enough.
#[test]
fn ranges() {
    let program = program("st.global.u32 [%rd2], %r3;");
    let of = |grid, count| launch(&program, grid, Options::default()).parts(count).unwrap();
    assert_eq!(of(7, 3), [0..2, 2..4, 4..7]);
    assert_eq!(of(2, 9), [0..1, 1..2]);
    assert_eq!(of(1000, 3), [0..320, 320..640, 640..1000]);
    assert_eq!(of(5, 0), of(5, 1));
}
