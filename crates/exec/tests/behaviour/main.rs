//! What a launch reports beside its buffers: errors with their places, approximations, prints, traces, contraction.

mod together;

use roundonce_exec::{Arg, Buffer, Contract, Engine, FaultKind, Launch, Options, Report, RunError};
use roundonce_ir::Passing;

/// A kernel with a body between `.reg` declarations and its end; `out` is a buffer.
fn module(body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .f32 a)\n{{\n\
         .reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f64 %d<9>;\n\
         .shared .align 4 .b8 s[4096];\n\
         ld.param.u64 %rd1, [out]; ld.param.f32 %f1, [a];\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;\n\
         mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; shl.b32 %r5, %r1, 2;\n{body}\nret;\n}}\n"
    )
}

fn run_module(text: &str, words: usize, grid: u32, block: u32, options: Options) -> Result<Report, RunError> {
    let parsed = roundonce_ptx::parse(text);
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    let program = roundonce_ptx::lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{}", findings[0]));
    let args = vec![Arg::Buffer(Buffer::zeros(words * 4)), Arg::Scalar(0x3f80_0001)];
    let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
    Launch { program: &program, entry: None, grid, block, args, dynamic_shared: 0, options }.run()
}

fn run(body: &str, words: usize, grid: u32, block: u32, options: Options) -> Result<Report, RunError> {
    run_module(&module(body), words, grid, block, options)
}

fn words(report: &Report) -> &[u32] {
    report.buffers[0].as_ref().unwrap().words()
}

#[test]
fn an_access_outside_names_everything() {
    let error = run("st.global.u32 [%rd3], %r4;", 40, 2, 32, Options::default()).unwrap_err();
    assert_eq!(error.kind, FaultKind::Access);
    assert_eq!(error.thread, Some(([1, 0, 0], [8, 0, 0])));
    let text = error.to_string();
    for part in ["kernel `k`", "line 11", "st.global.u32 [%rd3], %r4", "block (1, 0, 0) thread (8, 0, 0)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("0 bytes past the end of `out` (160 bytes at"), "{text}");
    let error = run("st.global.u32 [%rd3+2], %r4;", 40, 1, 1, Options::default()).unwrap_err();
    assert!(error.message.contains("not a multiple of 4"), "{error}");
    let error = run("ld.shared.u32 %r6, [%r5+4096];", 1, 1, 1, Options::default()).unwrap_err();
    assert!(error.message.contains("4 bytes at 0x1000 lie outside the shared memory of 4096 bytes"), "{error}");
    let error = run("ld.shared.u8 %r6, [%r5+4096];", 1, 1, 1, Options::default()).unwrap_err();
    assert!(error.message.contains("1 byte at 0x1000 lies outside the shared memory of 4096 bytes"), "{error}");
    let near = |at: u64| format!("mov.u64 %rd4, {at}; ld.u32 %r6, [%rd4];");
    let error = run(&near(0x1000_0000), 1, 1, 1, Options::default()).unwrap_err();
    assert!(error.message.contains("bytes before `out`"), "{error}");
    let error = run(&near(16), 1, 1, 1, Options::default()).unwrap_err();
    assert!(error.message.contains("outside every buffer: a null pointer, or a number"), "{error}");
}

/// 16 bytes lie at a multiple of 16, whatever their halves do; what the guard keeps from running is not asked.
#[test]
fn an_access_of_16_bytes_is_aligned() {
    for (line, expected) in [
        ("ld.b128 %q1, [%rd1+8];", true),
        ("ld.global.b128 %q1, [%rd1+16];", false),
        ("st.b128 [%rd1+8], %q1;", true),
        ("st.global.b128 [%rd1+16], %q1;", false),
        ("ld.shared.b128 %q1, [%r6+8];", true),
        ("ld.shared.b128 %q1, [%r6];", false),
        ("setp.eq.u32 %p1, %r1, 1; @%p1 ld.b128 %q1, [%rd1+8];", false),
        ("setp.eq.u32 %p1, %r1, 1; @!%p1 ld.b128 %q1, [%rd1+8];", true),
        ("setp.eq.u32 %p1, %r1, 0; @%p1 st.b128 [%rd1+8], %q1;", true),
    ] {
        let text = module(&format!(".reg .b128 %q<2>; mov.b128 %q1, {{%rd1, %rd1}}; mov.u32 %r6, s;\n{line}"));
        let text = text.replace(".version 7.8", ".version 8.3").replace(".shared .align 4", ".shared .align 16");
        let ended = run_module(&text, 16, 1, 1, Options::default());
        let fault = ended.err().map(|error| error.message);
        assert_eq!(
            fault.as_ref().is_some_and(|message| message.contains("multiple of 16")),
            expected,
            "{line}: {fault:?}"
        );
        assert!(expected || fault.is_none(), "{line}: {fault:?}");
    }
}

/// The system's own shared memory lies apart from the module's.
#[test]
fn reserved_shared_memory() {
    let body = "mov.u32 %r6, s; st.shared.u32 [%r6+4092], 7; mov.u32 %r7, %reserved_smem_offset_1;\n\
                st.shared.u32 [%r7], 9; ld.shared.u32 %r8, [%r6+4092]; ld.shared.u32 %r9, [%r7];\n\
                mov.u32 %r10, %reserved_smem_offset_begin; mov.u32 %r11, %reserved_smem_offset_end;\n\
                sub.u32 %r12, %r11, %r10; mov.u32 %r13, %reserved_smem_offset_cap; sub.u32 %r12, %r12, %r13;\n\
                sub.u32 %r14, %r6, %r11; st.global.v4.u32 [%rd1], {%r8, %r9, %r12, %r14};";
    let text = module(body).replace(".version 7.8", ".version 8.0");
    let report = run_module(&text, 4, 1, 1, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    // What is reserved lies first.
    assert_eq!(words(&report), [7, 9, 0, 0]);
}

/// Bytes of addresses in first values, each chosen by a mask.
#[test]
fn bytes_of_addresses() {
    let each: Vec<String> = (0..8).map(|byte| format!("{:#x}(foo)", 0xffu64 << (8 * byte))).collect();
    let variables = format!(
        ".global .u32 foo[2] = {{42, 43}};\n.global .align 8 .u8 all[8] = {{{}}};\n\
         .global .align 4 .u8 some[] = {{0xff(generic(foo)), 0xff00(foo+4), 3, 0xff(generic(foo)+260)}};\n.visible .entry",
        each.join(", ")
    );
    let body = "ld.global.u64 %rd4, [all]; ld.u32 %r6, [%rd4+4]; ld.global.u32 %r7, [some]; mov.u64 %rd5, foo;\n\
                cvt.u32.u64 %r8, %rd5; st.global.v4.u32 [%rd1], {%r6, %r7, %r8, %r6};";
    let report = run_module(&module(body).replace(".visible .entry", &variables), 4, 1, 1, Options::default()).unwrap();
    let address = words(&report)[2];
    let some = [address as u8, ((address + 4) >> 8) as u8, 3, (address + 260) as u8];
    assert_eq!(words(&report)[..2], [43, u32::from_le_bytes(some)]);
}

#[test]
fn the_error_of_the_lowest_block_whoever_was_first() {
    let body = "setp.lt.u32 %p1, %r2, 90; @%p1 bra GOOD; mov.u64 %rd3, 16;\nGOOD: st.global.u32 [%rd3], %r4;";
    for threads in [1, 2, 3] {
        let options = Options { threads, ..Options::default() };
        let error = run(body, 100 * 128, 100, 128, options).unwrap_err();
        assert_eq!(error.thread, Some(([90, 0, 0], [0, 0, 0])), "{error}");
    }
}

#[test]
fn endless_loops_and_traps_and_memory() {
    let options = || Options { step_limit: 10_000, ..Options::default() };
    let error = run("LOOP: bra LOOP;", 1, 1, 32, options()).unwrap_err();
    assert_eq!(error.kind, FaultKind::StepLimit);
    let error = run("setp.eq.u32 %p1, %r1, 5; @%p1 trap;", 1, 1, 32, options()).unwrap_err();
    assert_eq!((error.kind, error.thread), (FaultKind::Trap, Some(([0; 3], [5, 0, 0]))));
    let error = run("ret;", 1000, 1, 32, Options { memory_limit: 1000, ..Options::default() }).unwrap_err();
    assert_eq!(error.kind, FaultKind::MemoryLimit);
    let error = run("ret;", 1, 1, 1025, Options::default()).unwrap_err();
    assert_eq!(error.kind, FaultKind::Usage);
}

#[test]
fn races_are_told_where_asked_for() {
    let racy = "mov.u32 %r6, s; add.u32 %r6, %r6, %r5; st.shared.u32 [%r6], %r1; xor.b32 %r7, %r5, 4; mov.u32 %r8, s;\n\
        add.u32 %r7, %r7, %r8; BARRIER ld.shared.u32 %r9, [%r7]; st.global.u32 [%rd3], %r9;";
    let check = || Options { check_races: true, ..Options::default() };
    let error = run(&racy.replace("BARRIER", ""), 64, 1, 64, check()).unwrap_err();
    assert_eq!(error.kind, FaultKind::Race);
    assert!(run(&racy.replace("BARRIER", ""), 64, 1, 64, Options::default()).is_ok());
    let report = run(&racy.replace("BARRIER", "bar.sync 0;"), 64, 1, 64, check()).unwrap();
    assert_eq!(words(&report)[..4], [1, 0, 3, 2]);
    // Lanes of a warp that have met are ordered too.
    assert!(run(&racy.replace("BARRIER", "bar.warp.sync -1;"), 64, 1, 64, check()).is_ok());
}

/// Whichever of several equal stores is the last, memory holds the same. Compilers write so what all lanes know.
#[test]
fn equal_stores_are_no_race_and_hide_none() {
    let check = || Options { check_races: true, ..Options::default() };
    let equal = "st.shared.u32 [s], 3;";
    let read = "ld.shared.u32 %r9, [s]; st.global.u32 [%rd3], %r9;";
    assert!(run(&format!("{equal} bar.sync 0; {read}"), 64, 1, 64, check()).is_ok());
    // One byte of the four differs.
    let different = "shl.b32 %r6, %r1, 8; st.shared.u32 [s], %r6;";
    // Of the lanes that stored alike the first and the last go on to store something else.
    let again = |lane: u32| format!("setp.eq.u32 %p1, %r1, {lane}; @%p1 st.shared.u32 [s], 4;");
    for racy in [read, different, &again(0), &again(63)] {
        let error = run(&format!("{equal} {racy}"), 64, 1, 64, check()).unwrap_err();
        assert_eq!(error.kind, FaultKind::Race, "{racy}");
    }
}

/// `a[i]`: an index counts elements of the array's type, `.v4` aside, and is a number of 32 bits.
#[test]
fn elements_of_arrays() {
    let body = "{ .shared .align 16 .u16 t[64]; .shared .v4 .u32 v[8]; .local .u64 l[4]; .reg .s16 %h;\n\
         mov.u32 %r6, %r1; mov.u64 %rd4, 0x100000001; mov.u64 %rd5, 7; mov.s16 %h, -1;\n\
         st.shared.u16 t[%r6], 5; st.shared.u16 t[%r6+1], 6; ld.shared.u32 %r7, [t];\n\
         mov.u32 %r8, v[3]; mov.u32 %r9, v; sub.u32 %r8, %r8, %r9;\n\
         st.local.u64 l[2], %rd5; ld.local.u32 %r9, l[%rd5+-5];\n\
         ld.global.u32 %r10, A[%rd4]; mov.u64 %rd6, A[2]; ld.global.u32 %r11, [%rd6]; ld.global.u32 %r12, A[%h+4];\n\
         ld.param.u32 %r13, p[%r6+1]; mov.u64 %rd7, A; mov.u64 %rd8, A[%h]; sub.u64 %rd8, %rd8, %rd7; mov.b64 {%r14, %r15}, %rd8;\n\
         ld.shared.u16 %h, t[%laneid]; cvt.u32.u16 %r16, %h;\n\
         st.global.v4.u32 [%rd1], {%r7, %r8, %r9, %r10}; st.global.v4.u32 [%rd1+16], {%r11, %r12, %r13, %r14};\n\
         st.global.v2.u32 [%rd1+32], {%r15, %r16}; }";
    let text = module(body).replace(".visible .entry", ".global .u32 A[4] = {11, 22, 33, 44};\n.visible .entry");
    let text = text.replace(".param .f32 a)", ".param .f32 a, .param .u32 p[2])");
    let parsed = roundonce_ptx::parse(&text);
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    let program = roundonce_ptx::lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{}", findings[0]));
    let args = vec![Arg::Buffer(Buffer::zeros(40)), Arg::Scalar(0), Arg::Scalar(9 << 32 | 8)];
    let (grid, block) = ([1; 3], [1; 3]);
    let options = Options::default();
    let launch = Launch { program: &program, entry: None, grid, block, args, dynamic_shared: 0, options };
    let report = launch.run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(words(&report), [6 << 16 | 5, 12, 7, 22, 33, 44, 9, u32::MAX - 3, 0, 5]);
}

#[test]
fn contraction_is_a_choice() {
    // (1 + 2^-23)² − (1 + 2^-22): 2^-46 if fused, 0 if not.
    let body = "mul.f32 %f2, %f1, %f1; mov.f32 %f3, 0f3F800002; sub.f32 %f4, %f2, %f3; st.global.f32 [%rd3], %f4;";
    let with = |contract| run(body, 1, 1, 1, Options { contract, ..Options::default() }).unwrap();
    assert_eq!(words(&with(Contract::None)), [0]);
    let fused = with(Contract::Fuse);
    assert_eq!(words(&fused), [0x2880_0000]);
    assert_eq!(fused.fused, [11]);
    let report = with(Contract::Report);
    assert_eq!(words(&report), [0]);
    let [difference] = &report.differences[..] else { panic!("{:?}", report.differences) };
    assert_eq!((difference.arg, difference.words, difference.first), (0, 1, 0));
    assert_eq!((difference.unfused, difference.fused), (0, 0x2880_0000));
    // With a rounding modifier nothing may be fused.
    let rounded = body.replace("mul.f32", "mul.rn.f32");
    let report = run(&rounded, 1, 1, 1, Options { contract: Contract::Report, ..Options::default() }).unwrap();
    assert!(report.fused.is_empty() && report.differences.is_empty());
    // A product that two sums use is fused into both, one that anything else uses into none.
    let both = body.replace("st.global", "\nadd.f32 %f4, %f2, %f4; st.global");
    let report = run(&both, 1, 1, 1, Options { contract: Contract::Fuse, ..Options::default() }).unwrap();
    assert_eq!(report.fused, [11, 12]);
    let twice = body.replace("st.global", "mul.rn.f32 %f4, %f4, %f2; st.global");
    let report = run(&twice, 1, 1, 1, Options { contract: Contract::Fuse, ..Options::default() }).unwrap();
    assert!(report.fused.is_empty());
    // The factors are those of the product, overwritten or not.
    let overwritten = body.replace("mul.f32 %f2, %f1, %f1;", "mul.f32 %f2, %f1, %f1; mov.f32 %f1, 0f40000000;");
    let report = run(&overwritten, 1, 1, 1, Options { contract: Contract::Fuse, ..Options::default() }).unwrap();
    assert_eq!(words(&report), [0x2880_0000]);
    let own = body.replace("%f2", "%f1");
    let report = run(&own, 1, 1, 1, Options { contract: Contract::Fuse, ..Options::default() }).unwrap();
    assert_eq!((words(&report)[0], &report.fused[..]), (0x2880_0000, &[11][..]));
}

#[test]
fn packed_products_are_contracted() {
    // In each half (1 + 2^-10)² − (1 + 2^-9): 2^-20 if fused, 0 if not.
    let body = "mov.u32 %r2, 0x3c013c01; mov.u32 %r3, 0x3c023c02;\n\
        mul.f16x2 %r4, %r2, %r2; sub.f16x2 %r5, %r4, %r3; st.global.u32 [%rd3], %r5;";
    let with = |contract| run(body, 1, 1, 1, Options { contract, ..Options::default() }).unwrap();
    assert_eq!(words(&with(Contract::None)), [0]);
    assert_eq!(words(&with(Contract::Fuse)), [0x0010_0010]);
    let [difference] = &with(Contract::Report).differences[..] else { panic!() };
    assert_eq!((difference.unfused, difference.fused), (0, 0x0010_0010));
}

#[test]
fn approximations_are_counted() {
    let body = "ex2.approx.f32 %f2, %f1; rcp.approx.ftz.f32 %f3, %f2; setp.lt.u32 %p1, %r1, 3;\n\
        @%p1 sin.approx.f32 %f3, %f3; div.rn.f32 %f4, %f1, %f3; sqrt.rp.f32 %f4, %f4;";
    let report = run(body, 1, 2, 32, Options::default()).unwrap();
    let counts: Vec<(&str, u64)> = report.approximations.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(counts, [("ex2.approx.f32", 64), ("rcp.approx.ftz.f32", 64), ("sin.approx.f32", 6)]);
}

#[test]
fn one_thread_is_traced() {
    let body = "fma.rn.f32 %f2, %f1, %f1, 0fBF800002; setp.lt.u32 %p1, %r1, 3; @%p1 add.u32 %r6, %r1, 5;";
    let ran = |lane| run(body, 1, 2, 4, Options { trace_lane: Some(lane), ..Options::default() });
    let traced = |lane| ran(lane).unwrap().trace;
    let trace = traced(5);
    let fma = trace.iter().find(|line| line.text.starts_with("fma.rn.f32")).unwrap();
    assert_eq!(fma.line, 11);
    assert_eq!(fma.operands, [(0x3f80_0001, 32), (0x3f80_0001, 32)]);
    assert_eq!(fma.results, [(0x2880_0000, 32)]);
    assert_eq!(
        trace.iter().filter(|line| line.text.contains("add.u32 %r6")).map(|line| line.results[0]).collect::<Vec<_>>(),
        [(6, 32)]
    );
    // The guard holds it back in the last thread of the block.
    assert!(!traced(7).iter().any(|line| line.text.contains("add.u32 %r6")));
    let error = ran(8).unwrap_err();
    assert_eq!(error.kind, FaultKind::Usage);
    assert!(error.message.contains("there is no lane 8 to trace: the launch has 8"), "{}", error.message);
}

#[test]
fn printf_prints() {
    let text = ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n\
        .global .align 1 .b8 fmt[24] = {37,53,100,124,37,46,51,102,124,37,115,124,37,35,120,37,37,10,0};\n\
        .global .align 1 .b8 word[3] = {104,105,0};\n\
        .visible .entry k(.param .u64 out, .param .f32 a)\n{\n.local .align 8 .b8 depot[32]; .reg .b64 %rd<9>; .reg .b32 %r<4>; .reg .f64 %d<2>;\n\
        mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; mov.u32 %r1, %tid.x; add.s32 %r1, %r1, -1; st.local.u32 [%rd1], %r1;\n\
        mov.f64 %d1, 0d3FF8000000000000; st.local.f64 [%rd1+8], %d1; mov.u64 %rd3, word; cvta.global.u64 %rd3, %rd3;\n\
        st.local.u64 [%rd1+16], %rd3; mov.u32 %r2, 255; st.local.u32 [%rd1+24], %r2; mov.u64 %rd4, fmt; cvta.global.u64 %rd5, %rd4;\n\
        { .param .b64 p0; st.param.b64 [p0+0], %rd5; .param .b64 p1; st.param.b64 [p1+0], %rd2; .param .b32 r0;\n\
        call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r3, [r0+0]; }\nret;\n}\n";
    for threads in [1, 2] {
        let report = run_module(text, 1, 2, 2, Options { threads, ..Options::default() }).unwrap();
        let two = "   -1|1.500|hi|0xff%\n    0|1.500|hi|0xff%\n";
        assert_eq!(report.printed, two.repeat(2));
    }
}

#[test]
fn what_cannot_be_run_is_named_before_anything_runs() {
    let refused = |body: &str| {
        let text = module(body);
        let parsed = roundonce_ptx::parse(&text);
        roundonce_ptx::lower(&parsed.module, None).unwrap_err()
    };
    let findings = refused("wmma.load.a.sync.aligned.row.m16n16k16.shared.u8 {%r6}, [%rd3];\nlg2.approx.f32 %f2, %f1;");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, "PTX0100");
    assert!(findings[0].message.contains("wmma.load.a"), "{}", findings[0]);
    // Where some threads only reach it, a launch in which none does is not refused.
    let guarded = "setp.gt.u32 %p1, %r1, 3;\n@%p1 tcgen05.fence.f64 %d1, %d1;\n";
    let launch = |body: &str, threads| run(body, 1, 1, threads, Options::default());
    assert!(launch(guarded, 4).is_ok());
    let branch = "setp.le.u32 %p1, %r1, 3;\n@%p1 bra PAST;\ntcgen05.fence.f64 %d1, %d1;\nPAST:\n";
    for body in [guarded, branch] {
        for &engine in Engine::native().iter().chain(&[Engine::Interpreter]) {
            let error = run(body, 1, 1, 6, Options { engine, ..Options::default() }).unwrap_err();
            assert_eq!(error.kind, FaultKind::Unsupported);
            assert!(error.message.contains("`tcgen05.fence.f64` cannot be run"), "{error}");
            assert_eq!(error.thread, Some(([0; 3], [4, 0, 0])), "{error}");
        }
    }
}

#[test]
fn approximate_reciprocals_of_f64_are_of_the_upper_words() {
    // 3 with a lower word, a NaN whose payload is in the lower word: an infinity, another NaN, and -4.
    for (operand, reciprocal, root) in [
        ("0d40080000FFFFFFFF", 0x3fd5_5555, 0x3fe2_79a7),
        ("0d7FF0000000000001", 0, 0),
        ("0dFFF8000000000001", 0x7fff_ffff, 0x7fff_ffff),
        ("0dC010000000000000", 0xbfd0_0000, 0x7fff_ffff),
    ] {
        let body = format!(
            "mov.f64 %d0, {operand};\nrcp.approx.ftz.f64 %d1, %d0;\nst.global.f64 [%rd1], %d1;\n\
             rsqrt.approx.ftz.f64 %d1, %d0;\nst.global.f64 [%rd1+8], %d1;"
        );
        let report = run(&body, 4, 1, 1, Options::default()).unwrap();
        let words = report.buffers[0].as_ref().unwrap().words();
        assert_eq!(words, [0, reciprocal, 0, root], "{operand}");
    }
}

/// Up to PTX 1.4 `cvt` flushes no subnormals of f32 where it converts from or to 64 bits (PTX ISA, `cvt`); sm_1x does otherwise.
#[test]
fn conversions_of_old_modules() {
    let converted = |version: &str| {
        let text = format!(
            ".version {version}\n.target sm_13\n.entry k(.param .u64 out, .param .f32 a)\n{{\n\
             .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .u64 %rd<9>; .reg .s64 %x<9>; .reg .s32 %r<9>;\n\
             ld.param.u64 %rd1, [out]; mov.f32 %f1, 0f00000001; mov.f64 %d1, 0d36A0000000000000;\n\
             cvt.f64.f32 %d2, %f1; st.global.f64 [%rd1], %d2;\n\
             cvt.rpi.s64.f32 %x1, %f1; st.global.s64 [%rd1+8], %x1;\n\
             cvt.rn.f32.f64 %f2, %d1; st.global.f32 [%rd1+16], %f2;\n\
             cvt.rpi.s32.f32 %r1, %f1; st.global.s32 [%rd1+20], %r1;\n\
             ret;\n}}\n"
        );
        words(&run_module(&text, 6, 1, 1, Options::default()).unwrap()).to_vec()
    };
    assert_eq!(converted("1.4"), [0, 0x36a0_0000, 1, 0, 1, 0]);
    assert_eq!(converted("1.5"), [0; 6]);
}

#[test]
fn lines_are_counted() {
    let body = "mov.u32 %r6, 0;\nLOOP: add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r1;\n@%p1 bra LOOP;";
    let report = run(body, 1, 1, 4, Options { count_lines: true, ..Options::default() }).unwrap();
    // Threads 0 to 3 go round 1, 1, 2 and 3 times.
    assert_eq!(report.lines[&12], 7);
}

/// A source instruction is one line of the trace and one step, whatever it became.
#[test]
fn instructions_are_counted_and_traced_as_written() {
    let text = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .f32 a)\n{\n\
        .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>;\n\
        mov.u32 %r1, %tid.x;\n\
        mov.b32 %r2, 0x3c003c00;\n\
        fma.rn.f16x2 %r3, %r2, %r2, %r2;\n\
        setp.lt.u32 %p1|%p2, %r1, 1;\n\
        @%p1 mov.b32 {%h1, %h2}, %r3;\n\
        @%p2 bra SKIP;\n\
        shfl.sync.idx.b32 %r4|%p3, %r1, 0, 31, 1;\n\
        SKIP:\n\
        bar.sync 0;\n\
        barrier.red.popc.u32 %r5, 0, %p1;\n\
        LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 2; @%p1 bra LOOP;\n\
        ret;\n}\n";
    let traced = |lane| {
        let report =
            run_module(text, 1, 1, 2, Options { trace_lane: Some(lane), count_lines: true, ..Options::default() });
        let report = report.unwrap();
        let bits = |all: &[(u64, u32)]| all.iter().map(|&(bits, _)| format!("{bits:x}")).collect::<Vec<_>>().join(" ");
        let line = |step: &roundonce_exec::TraceLine| {
            format!("{} {}: {} -> {}", step.line, step.text, bits(&step.operands), bits(&step.results))
        };
        (report.trace.iter().map(line).collect::<Vec<_>>(), report.steps, report.lines)
    };
    let (first, steps, lines) = traced(0);
    assert_eq!(
        first,
        [
            "7 mov.u32 %r1, %tid.x: 0 -> 0",
            "8 mov.b32 %r2, 0x3c003c00:  -> 3c003c00",
            "9 fma.rn.f16x2 %r3, %r2, %r2, %r2: 3c003c00 -> 40004000",
            "10 setp.lt.u32 %p1|%p2, %r1, 1: 0 -> 1 0",
            "11 @%p1 mov.b32 {%h1, %h2}, %r3: 40004000 -> 4000 4000",
            "12 @%p2 bra SKIP: 0 -> ",
            "13 shfl.sync.idx.b32 %r4|%p3, %r1, 0, 31, 1: 0 -> 0 1",
            "15 bar.sync 0:  -> ",
            "16 barrier.red.popc.u32 %r5, 0, %p1: 1 -> 1",
            "17 add.u32 %r1, %r1, 1: 0 -> 1",
            "17 setp.lt.u32 %p1, %r1, 2: 1 -> 1",
            "17 @%p1 bra LOOP: 1 -> ",
            "17 add.u32 %r1, %r1, 1: 1 -> 2",
            "17 setp.lt.u32 %p1, %r1, 2: 2 -> 0",
            "17 @%p1 bra LOOP: 0 -> ",
            "18 ret:  -> ",
        ]
    );
    // The second thread leaves out the guarded move, the shuffle and one turn of the loop.
    let second = traced(1).0;
    assert_eq!(second.len(), first.len() - 5, "{second:#?}");
    assert_eq!(second[4], "12 @%p2 bra SKIP: 1 -> ");
    assert_eq!(steps, (first.len() + second.len()) as u64);
    assert_eq!(
        lines.iter().map(|(&line, &times)| (line, times)).collect::<Vec<_>>()[..5],
        [(7, 2), (8, 2), (9, 2), (10, 2), (11, 1)]
    );
    assert_eq!(lines.values().sum::<u64>(), steps);
}

/// Sums that read or write memory where it is give what they give lane by lane, whatever overlaps: tracing a lane makes
/// the engine keep every register.
#[test]
fn arithmetic_on_memory_where_it_is() {
    let bodies = [
        // In place.
        "ld.global.f32 %f2, [%rd3]; fma.rn.f32 %f3, %f1, %f1, %f2; st.global.f32 [%rd3], %f3;",
        // The operand and the result are the same register.
        "ld.global.f32 %f2, [%rd3]; add.rn.f32 %f2, %f2, %f1; st.global.f32 [%rd3], %f2;",
        // Two places of one buffer, the result shifted against one of them.
        "ld.global.f32 %f2, [%rd3]; ld.global.f32 %f3, [%rd3+4]; fma.rn.f32 %f4, %f2, %f1, %f3; st.global.f32 [%rd3], %f4;",
        "ld.global.f32 %f2, [%rd3+4]; add.rn.f32 %f4, %f2, %f1; st.global.f32 [%rd3], %f4;",
        "ld.global.f32 %f2, [%rd3]; add.rn.f32 %f4, %f2, %f1; st.global.f32 [%rd3+4], %f4;",
        // The same operand twice.
        "ld.global.f32 %f2, [%rd3]; fma.rn.f32 %f4, %f2, %f2, %f2; st.global.f32 [%rd3], %f4;",
        // Memory changes between the load and its use.
        "ld.global.f32 %f2, [%rd3]; mov.f32 %f5, 0f40000000; st.global.f32 [%rd3], %f5; add.rn.f32 %f4, %f2, %f1; st.global.f32 [%rd3], %f4;",
        // The result is needed again, or is stored by some lanes only.
        "ld.global.f32 %f2, [%rd3]; add.rn.f32 %f4, %f2, %f1; st.global.f32 [%rd3], %f4; add.rn.f32 %f4, %f4, %f4; st.global.f32 [%rd3], %f4;",
        "ld.global.f32 %f2, [%rd3]; setp.lt.u32 %p1, %r1, 20; add.rn.f32 %f4, %f2, %f1; @%p1 st.global.f32 [%rd3], %f4;",
        // Some lanes have ended; some come later.
        "setp.gt.u32 %p1, %r4, 100; @%p1 exit; ld.global.f32 %f2, [%rd3]; add.rn.f32 %f4, %f2, %f1; st.global.f32 [%rd3], %f4;",
        "setp.lt.u32 %p1, %r1, 7; @%p1 bra ON; ld.global.f32 %f2, [%rd3]; add.rn.f32 %f4, %f2, %f1; st.global.f32 [%rd3], %f4;\nON:",
        // A sum that goes on through the loop.
        "mov.u32 %r6, 3; mov.f32 %f4, %f1;\nL: ld.global.f32 %f2, [%rd3]; fma.rn.f32 %f4, %f2, %f1, %f4; sub.u32 %r6, %r6, 1; setp.ne.u32 %p1, %r6, 0; @%p1 bra L; st.global.f32 [%rd3], %f4;",
    ];
    for body in bodies {
        let start = "cvt.rn.f32.u32 %f6, %r4; st.global.f32 [%rd3], %f6; st.global.f32 [%rd3+4], %f6; bar.sync 0;\n";
        let body = format!("{start}{body}");
        let outcomes: Vec<Vec<u32>> = [None, Some(0)]
            .into_iter()
            .map(|trace_lane| {
                let report = run(&body, 257, 4, 64, Options { trace_lane, ..Options::default() });
                words(&report.unwrap_or_else(|error| panic!("{body}: {error}"))).to_vec()
            })
            .collect();
        assert_eq!(outcomes[0], outcomes[1], "{body}");
        assert!(outcomes[0][..256].iter().any(|&word| word != 0));
    }
}

#[test]
fn a_value_is_no_buffer_nor_a_buffer_a_value() {
    let parsed =
        roundonce_ptx::parse(".version 7.0\n.target sm_70\n.address_size 64\n.entry k (.param .u64 p) { exit; }");
    let mut program = roundonce_ptx::lower(&parsed.module, None).unwrap();
    let mut outcome = |passing, arg| {
        program.kernels[0].params[0].passing = passing;
        let (grid, block) = ([1; 3], [1; 3]);
        let options = Options::default();
        let launch =
            Launch { program: &program, entry: None, grid, block, args: vec![arg], dynamic_shared: 0, options };
        launch.run().map(|_| ()).map_err(|error| (error.kind, error.message))
    };
    let buffer = || Arg::Buffer(Buffer::zeros(4));
    assert_eq!(outcome(Passing::Value, buffer()), Err((FaultKind::Usage, "`p` is a value, not a buffer".to_owned())));
    assert_eq!(
        outcome(Passing::Buffer, Arg::Scalar(1)),
        Err((FaultKind::Usage, "`p` is a buffer, not a number".to_owned()))
    );
    assert_eq!(outcome(Passing::Any, buffer()), Ok(()));
    assert_eq!(outcome(Passing::Any, Arg::Scalar(1)), Ok(()));
}

/// 2^32 × 2^32 threads, counted modulo 2^64, would be none.
#[test]
fn a_block_of_more_threads_than_can_be_counted() {
    let parsed = roundonce_ptx::parse(".version 7.0\n.target sm_70\n.address_size 64\n.entry k () { exit; }");
    let program = roundonce_ptx::lower(&parsed.module, None).unwrap();
    for block in [[1 << 31, 1 << 31, 4], [u32::MAX; 3], [1 << 31, 1 << 31, 5]] {
        let (grid, options) = ([1; 3], Options::default());
        let launch = Launch { program: &program, entry: None, grid, block, args: vec![], dynamic_shared: 0, options };
        assert_eq!(launch.run().unwrap_err().kind, FaultKind::Usage, "{block:?}");
    }
}

/// Blocks without the others do what they do among them, traced or not.
#[test]
fn some_blocks_alone() {
    let body = "st.global.u32 [%rd3], %r4;";
    for threads in [1, 2] {
        let options = Options { blocks: Some(2..3), trace_lane: Some(2 * 32 + 5), threads, ..Options::default() };
        let report = run(body, 128, 4, 32, options).unwrap();
        let expected: Vec<u32> = (0..128).map(|at| if (64..96).contains(&at) { at } else { 0 }).collect();
        assert_eq!(words(&report), expected);
        assert_eq!(report.trace.iter().find(|line| line.line == 11).unwrap().operands[1], (69, 32));
    }
    let untouched = run(body, 128, 4, 32, Options { blocks: Some(4..6), ..Options::default() }).unwrap();
    assert_eq!(words(&untouched), [0; 128]);
}

/// The trace has every multiply-add with all its operands, constants and repeated ones among them.
#[test]
fn multiply_adds_are_traced_whole() {
    let body = "fma.rn.f32 %f2, %f1, %f1, 0fbf800002;\nadd.rn.f32 %f2, %f2, %f2;\nst.global.f32 [%rd3], %f2;";
    let report = run(body, 1, 1, 1, Options { trace_lane: Some(0), ..Options::default() }).unwrap();
    let computed: Vec<_> = report.trace.iter().flat_map(|line| &line.computed).collect();
    let seen: Vec<_> = computed.iter().map(|it| (it.operation.op, it.operands.clone(), it.result)).collect();
    use roundonce_arith::ArithOp;
    assert_eq!(
        seen,
        [
            (ArithOp::MulAdd, vec![0x3f80_0001, 0x3f80_0001, 0xbf80_0002], 0x2880_0000),
            (ArithOp::Add, vec![0x2880_0000, 0x2880_0000], 0x2900_0000),
        ]
    );
}

/// Which sums may take a product in, and which of them do.
#[test]
fn candidates_of_contraction() {
    let found = |body: &str| -> Vec<(u32, u32, bool)> {
        let text = module(body);
        let parsed = roundonce_ptx::parse(&text);
        let program = roundonce_ptx::lower(&parsed.module, None).unwrap();
        let kernel = &program.kernels[0];
        let line = |at: roundonce_ir::Position| {
            kernel.source_locs[kernel.blocks[at.block].instructions[at.index].loc as usize].line - 11
        };
        let candidates = roundonce_ir::candidates(kernel);
        candidates.iter().map(|it| (line(it.product), line(it.sum), it.fuses)).collect()
    };
    let product = "mul.f32 %f2, %f1, %f1;\n";
    assert_eq!(found(&format!("{product}add.f32 %f3, %f2, %f1;")), [(0, 1, true)]);
    let both = format!("{product}add.f32 %f3, %f2, %f1;\nsub.f32 %f4, %f1, %f2;");
    assert_eq!(found(&both), [(0, 1, true), (0, 2, true)]);
    assert_eq!(found(&format!("{product}add.f32 %f3, %f2, %f1;\nst.global.f32 [%rd3], %f2;")), [(0, 1, false)]);
    assert_eq!(found(&format!("{product}add.f32 %f3, %f2, %f1;\nmov.f32 %f2, %f1;")), [(0, 1, true)]);
    assert_eq!(found(&format!("{product}mov.f32 %f1, %f3;\nadd.f32 %f3, %f2, %f4;")), [(0, 2, true)]);
    assert_eq!(found(&format!("{product}add.f32 %f3, %f2, %f2;")), []);
    assert_eq!(found(&format!("{product}@%p1 add.f32 %f3, %f2, %f1;")), [(0, 1, true)]);
    assert_eq!(found(&format!("@%p1 {product}@%p1 add.f32 %f3, %f2, %f1;")), []);
    assert_eq!(found(&format!("{product}add.rn.f32 %f3, %f2, %f1;")), []);
    assert_eq!(found(&format!("{product}add.ftz.f32 %f3, %f2, %f1;")), []);
    // Of two products the first operand's; of two with other uses too, that with none.
    let two = format!("{product}mul.f32 %f5, %f4, %f4;\nadd.f32 %f3, %f2, %f5;");
    assert_eq!(found(&two), [(0, 2, true), (1, 2, false)]);
    assert_eq!(found(&format!("{two}\nadd.f32 %f6, %f2, %f1;")), [(0, 2, false), (1, 2, true), (0, 3, false)]);
}

/// Another thread stops what would run for minutes, in either engine, on one worker or several.
#[test]
fn stopped_from_outside() {
    let body = "mov.u32 %r6, 0;\nagain:\nadd.u32 %r6, %r6, 1; fma.rn.f32 %f1, %f1, %f1, %f1;\n\
                setp.lt.u32 %p1, %r6, 10000000;\n@%p1 bra again;\nst.global.f32 [%rd3], %f1;";
    for (engine, threads) in
        [(Engine::Native, 1), (Engine::Interpreter, 1), (Engine::Native, 2), (Engine::Interpreter, 2)]
    {
        let options = Options { step_limit: u64::MAX, engine, threads, ..Options::default() };
        let signal = options.stop.clone();
        let ran = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(200));
                signal.stop();
            });
            run(body, 1 << 22, 1 << 14, 256, options)
        });
        assert_eq!(ran.unwrap_err().kind, FaultKind::Stopped, "{engine:?}, {threads}");
    }
}
