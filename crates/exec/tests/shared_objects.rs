//! Objects in shared memory that instructions of their own work on: barriers, matrices that a warp moves, copies in bulk. Their
//! addresses, and what the manual leaves undefined: an error with its place.

use roundonce_exec::{Arg, Buffer, Engine, FaultKind, Launch, Options, Report, RunError};

/// A body between declarations and the kernel's end. `%rd1` is the buffer, `%rd2` and `%rd3` are the barrier's generic address and
/// the generic address of `sm`, 64 words with their numbers.
fn run(body: &str, block: u32, engine: Engine) -> Result<Report, RunError> {
    run_on(["8.0", "sm_90"], body, block, engine)
}

/// The same in a version and on a target.
fn run_on([version, target]: [&str; 2], body: &str, block: u32, engine: Engine) -> Result<Report, RunError> {
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n\
         .shared .align 16 .b8 before[32]; .shared .align 16 .b8 sm[256]; .shared .align 8 .b64 bar;\n\
         ld.param.u64 %rd1, [out]; mov.u64 %rd4, bar; cvta.shared.u64 %rd2, %rd4;\n\
         mov.u64 %rd5, sm; cvta.shared.u64 %rd3, %rd5; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n\
         mov.u32 %r3, sm; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r1;\n{body}\nret;\n}}\n"
    );
    let parsed = roundonce_ptx::parse(&text);
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    let program = roundonce_ptx::lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{}", findings[0]));
    let options = Options { engine, step_limit: 1 << 30, ..Options::default() };
    let args = vec![Arg::Buffer(Buffer::from_words((100..164).collect()))];
    Launch { program: &program, entry: None, grid: [1; 3], block: [block, 1, 1], args, dynamic_shared: 0, options }
        .run()
}

/// The first words of the buffer, by every engine.
fn expect(body: &str, block: u32, expected: &[u32]) {
    expect_on(["8.0", "sm_90"], body, block, expected);
}

fn expect_on(machine: [&str; 2], body: &str, block: u32, expected: &[u32]) {
    for engine in [Engine::Interpreter, Engine::Native] {
        let report = run_on(machine, body, block, engine).unwrap_or_else(|error| panic!("{body}: {error}"));
        assert_eq!(report.buffers[0].as_ref().unwrap().words()[..expected.len()], *expected, "{body}, {engine:?}");
    }
}

/// What ends the launch, by every engine.
fn fails(body: &str, message: &str) {
    for engine in [Engine::Interpreter, Engine::Native] {
        let error = run(body, 32, engine).map(|_| ()).expect_err(body);
        assert!(error.to_string().contains("line 11"), "{body}: {error}");
        assert!(error.message.contains(message), "{body}: {error}");
    }
}

/// Without a space an address is generic, a name or 32 bits are a place in shared memory.
#[test]
fn addresses() {
    let report = "selp.u32 %r6, 1, 0, %p1; st.global.u32 [%rd1], %r6;";
    for (space, address) in [
        ("", "%rd2"),
        ("", "%rd6+8"),
        ("", "bar"),
        ("", "%r5"),
        (".shared", "%rd4"),
        (".shared::cta", "%r5"),
        (".shared", "bar"),
        (".shared", "%r5"),
    ] {
        let start = format!("sub.u64 %rd6, %rd2, 8; mov.u32 %r5, bar; mbarrier.init{space}.b64 [{address}], 1;");
        for arrive in [
            format!("mbarrier.arrive{space}.b64 %rd7, [{address}];"),
            format!("mbarrier.arrive.noComplete{space}.b64 %rd7, [{address}], 1;"),
            format!("cp.async.mbarrier.arrive.noinc{space}.b64 [{address}];"),
        ] {
            let wait = format!("mbarrier.test_wait.parity{space}.b64 %p1, [{address}], 0;");
            expect(&format!("{start} {arrive} {wait} {report}"), 1, &[1]);
            expect(&format!("{start} {wait} {report}"), 1, &[0]);
        }
    }
    // Of a store both addresses, or neither.
    let start = "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 %rd7, [bar], 4;";
    let end = "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.u32 %r6, 1, 0, %p1; ld.shared.u32 %r7, [sm+4]; \
               st.global.v2.u32 [%rd1], {%r6, %r7};";
    for (space, to, object) in
        [("", "%rd3+4", "%rd2"), (".shared::cluster", "%rd5+4", "%rd4"), (".shared::cluster", "%r3+4", "%rd4")]
    {
        let store = format!("st.async.weak{space}.mbarrier::complete_tx::bytes.u32 [{to}], 9, [{object}];");
        expect(&format!("{start} {store} {end}"), 1, &[1, 9]);
        let add = store.replace("st.async.weak", "red.async.relaxed.cluster").replace(".u32", ".add.u32");
        expect(&format!("{start} st.shared.u32 [sm+4], 2; {add} {end}"), 1, &[1, 11]);
    }
    // Rows are 16 bytes apart, lane t has word t.
    let to_lane = "mul.wide.u32 %rd7, %r1, 4; add.u64 %rd7, %rd1, %rd7;";
    let row = "and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 4; cvt.u64.u32 %rd8, %r6; add.u64 %rd9, %rd5, %rd8; \
               add.u64 %rd8, %rd3, %rd8; add.u32 %r7, %r3, %r6; bar.warp.sync -1;";
    for (space, address) in [("", "%rd8"), ("", "%r7"), (".shared", "%rd9"), (".shared::cta", "%r7")] {
        let load = format!("ldmatrix.sync.aligned.m8n8.x1{space}.b16 {{%r8}}, [{address}];");
        let body = format!("{to_lane} {row} {load} st.global.u32 [%rd7], %r8;");
        expect(&body, 32, &(0..32).collect::<Vec<_>>());
        let store = format!("add.u32 %r8, %r1, 500; stmatrix.sync.aligned.m8n8.x1{space}.b16 [{address}], {{%r8}};");
        let body =
            format!("{to_lane} {row} {store} bar.warp.sync -1; ld.shared.u32 %r9, [%r4]; st.global.u32 [%rd7], %r9;");
        expect(&body, 32, &(500..532).collect::<Vec<_>>());
    }
    // A generic address that is none of shared memory's.
    fails("mbarrier.init.b64 [%rd1], 1;", "outside the shared memory");
    fails("mbarrier.init.b64 [%rd4], 1;", "outside the shared memory");
}

/// A wait for arrivals that never come is known to have no end.
#[test]
fn a_phase_without_end() {
    for engine in [Engine::Interpreter, Engine::Native] {
        for (space, address) in [(".shared", "bar"), ("", "%rd2")] {
            let body = format!(
                "mbarrier.init.shared.b64 [bar], 33; mbarrier.arrive.shared.b64 %rd7, [bar];\n\
                 W: mbarrier.try_wait.parity{space}.b64 %p1, [{address}], 0; @!%p1 bra W;"
            );
            let started = std::time::Instant::now();
            let error = run(&body, 1, engine).unwrap_err();
            assert_eq!(error.kind, FaultKind::StepLimit, "{error}");
            assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
        }
    }
}

/// A barrier that all threads have left stays as it is: to ask for its phase changes nothing.
#[test]
fn a_barrier_that_all_have_left() {
    let body = "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive_drop.shared.b64 %rd7, [bar];\n\
                mbarrier.test_wait.shared.b64 %p1, [bar], %rd7; mbarrier.test_wait.shared.b64 %p2, [bar], %rd7;\n\
                selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 1, 0, %p2; st.global.v2.u32 [%rd1], {%r6, %r7};";
    expect(body, 1, &[1, 1]);
}

/// Reductions in bulk: each number of the buffer, from 100 on, with one of `sm`, from 0 on. 16 bytes have 4 numbers, the 5th stays.
#[test]
fn reductions_in_bulk() {
    let to_global = |op: &str, before: &str| {
        format!(
            "bar.sync 0; setp.eq.u32 %p1, %r1, 0; {before}\n@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.{op} [%rd1], [sm], 16;"
        )
    };
    for (op, expected) in [
        ("add.u32", [100, 102, 104, 106, 104]),
        ("add.s32", [100, 102, 104, 106, 104]),
        ("min.u32", [0, 1, 2, 3, 104]),
        ("max.s32", [100, 101, 102, 103, 104]),
        // Above the limit to 0 or to the limit.
        ("inc.u32", [0, 0, 0, 0, 104]),
        ("dec.u32", [0, 1, 2, 3, 104]),
        ("and.b32", [0, 1, 2, 3, 104]),
        ("or.b32", [100, 101, 102, 103, 104]),
        ("xor.b32", [100, 100, 100, 100, 104]),
    ] {
        expect(&to_global(op, ""), 32, &expected);
    }
    expect(&to_global("add.u64", ""), 32, &[100, 102, 104, 106, 104]);
    let set = |place: &str, words: [u32; 4]| {
        let [a, b, c, d] = words;
        format!("@%p1 st.{place}.v4.u32 [{}], {{{a}, {b}, {c}, {d}}};", if place == "global" { "%rd1" } else { "sm" })
    };
    let both = |global: [u32; 4], shared: [u32; 4]| set("global", global) + &set("shared", shared);
    // 1.5 + 2.5; subnormals are flushed in f32 and kept in 16 bits; of a number and a NaN the number.
    let floats = both([0x3fc0_0000, 1, 0x8000_0001, 0x0080_0000], [0x4020_0000, 1, 0, 0x8040_0000]);
    expect(&to_global("add.f32", &floats), 32, &[0x4080_0000, 0, 0, 0x0080_0000, 104]);
    let halves = both([0x3c00_0001, 0x7e00_8001, 0x4000_3c00, 0], [0x3c00_0001, 0x3c00_0001, 0x3c00_4000, 0]);
    expect(&to_global("add.noftz.f16", &halves), 32, &[0x4000_0002, 0x7fff_0000, 0x4200_4200, 0, 104]);
    expect(&to_global("max.f16", &halves), 32, &[0x3c00_0001, 0x3c00_0001, 0x4000_4000, 0, 104]);
    expect(&to_global("min.bf16", &both([0x3f80_4000; 4], [0x4000_3f80; 4])), 32, &[0x3f80_3f80; 4]);
    expect(&to_global("add.noftz.bf16", &both([0x3f80_0001; 4], [0x4000_0001; 4])), 32, &[0x4040_0002; 4]);

    // Into shared memory, which a barrier object learns of.
    let to_shared = "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 %rd7, [bar], 16;\n\
         cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [sm], [sm+16], 16, [bar];\n\
         mbarrier.test_wait.shared.b64 %p1, [bar], %rd7; selp.u32 %r6, 1, 0, %p1; ld.shared.u32 %r7, [sm];\n\
         st.global.v2.u32 [%rd1], {%r6, %r7};";
    expect(&format!("setp.ne.u32 %p2, %r1, 0; @%p2 exit; st.shared.u32 [sm+16], 7;\n{to_shared}"), 1, &[1, 7]);
    fails("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [sm], 8;", "a multiple of 16 bytes");
}

/// Of each 16 bytes those whose bits the mask has.
#[test]
fn copies_under_a_mask() {
    let body = "bar.sync 0; setp.eq.u32 %p1, %r1, 0; mov.b16 %h1, 0xf005;\n\
                @%p1 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [sm], 32, %h1;";
    let body = format!(".reg .b16 %h<2>; {body}");
    expect_on(["8.6", "sm_100"], &body, 32, &[0, 101, 102, 3, 4, 105, 106, 7, 108]);
}

/// Bytes at either end that may lie outside of a buffer are not read, and stay as they were.
#[test]
fn copies_that_ignore_bytes() {
    let copy = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [sm]";
    let ones = "0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff";
    let body = format!(
        "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 %rd8, [bar], 32; mov.u32 %r6, 3;
         st.shared.v4.u32 [sm], {{{ones}}}; st.shared.v4.u32 [sm+16], {{{ones}}};
{copy}, [%rd1], 32, 6, %r6, [bar];
         mbarrier.test_wait.shared.b64 %p2, [bar], %rd8; selp.u32 %r8, 1, 0, %p2;
         ld.shared.v4.u32 {{%r9, %r10, %r11, %r12}}, [sm]; ld.shared.v4.u32 {{%r13, %r14, %r15, %r5}}, [sm+16];
         st.global.v4.u32 [%rd1], {{%r8, %r9, %r10, %r11}}; st.global.v4.u32 [%rd1+16], {{%r12, %r13, %r14, %r15}};
         st.global.u32 [%rd1+32], %r5;"
    );
    expect(&body, 1, &[1, 0xffff_ffff, 0xffff, 102, 103, 104, 105, 106, 0xffff_ff6b]);
    fails(&format!("{copy}, [%rd1], 32, 16, 0, [bar];"), "up to 15 bytes at either end");
    // The last 16 bytes of 32 lie behind the buffer.
    fails(&format!("add.u64 %rd7, %rd1, 240; {copy}, [%rd7], 32, 0, 15, [bar];"), "outside every buffer");
}

#[test]
fn what_is_not_defined() {
    let bulk = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%rd1]";
    fails(&format!("{bulk}, 12, [bar];"), "a multiple of 16 bytes");
    fails(&format!("mov.u32 %r6, 20; {bulk}, %r6, [bar];"), "a multiple of 16 bytes");
    fails("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [sm], 4;", "a multiple of 16 bytes");
    fails("mbarrier.init.shared.b64 [bar], 0;", "for 1 to 1048575 arrivals");
    fails("mov.u32 %r6, 1048576; mbarrier.init.shared.b64 [bar], %r6;", "for 1 to 1048575 arrivals");
    let init = "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; bar.warp.sync -1;";
    fails(
        &format!("{init} @%p1 mbarrier.arrive.shared.b64 %rd7, [bar], 2;"),
        "more arrivals at a barrier object than it waits for",
    );
    fails("mov.u32 %r6, 9; cp.async.ca.shared.global [sm], [%rd1], 8, %r6;", "`src-size` is larger");
    fails("cp.async.ca.shared.global [sm], [%rd1], 4, 5;", "`src-size` is larger");
    fails("mapa.shared::cluster.u32 %r6, sm, 5; ld.shared::cluster.u32 %r7, [%r6];", "outside the shared memory");
    fails("mapa.u64 %rd7, %rd3, %r1; ld.u32 %r7, [%rd7];", "outside every buffer");
    let no_rank = "in no block's shared memory";
    fails("mapa.shared::cluster.u32 %r6, sm, 5; getctarank.shared::cluster.u32 %r7, %r6;", no_rank);
    fails("mapa.u64 %rd7, %rd3, 1; getctarank.u64 %r7, %rd7;", no_rank);
    fails("getctarank.u64 %r7, %rd1;", no_rank);
    fails("mov.u32 %r6, 48; bar.sync 1, %r6;", "a barrier of 48 threads");
    fails("barrier.sync.aligned 0, 48;", "a barrier of 48 threads");
    let astray = "the address of a row is not a multiple of 16";
    fails("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r3+8];", astray);
    fails("add.u64 %rd7, %rd3, 8; ldmatrix.sync.aligned.m8n8.x1.trans.b16 {%r6}, [%rd7];", astray);
    fails("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3+4], {%r6};", astray);
    // Lanes that name no row may have any address.
    let rows = "setp.ge.u32 %p1, %r1, 16; selp.u32 %r6, 3, 0, %p1; add.u32 %r6, %r6, %r3;";
    expect(&format!("{rows} ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{%r7, %r8}}, [%r6];"), 32, &[100]);
    // What a guard keeps from running is not asked.
    let never = "setp.eq.u32 %p1, %r1, 99; mov.u32 %r6, 0; mov.u32 %r7, 9;";
    for text in [
        format!("@%p1 {bulk}, %r7, [bar];"),
        "@%p1 mbarrier.init.shared.b64 [bar], %r6;".to_owned(),
        "@%p1 cp.async.ca.shared.global [sm], [%rd1], 8, %r7;".to_owned(),
        "@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r3+4];".to_owned(),
    ] {
        expect(&format!("{never} {text}"), 32, &[100]);
    }
    let copies = format!("{bulk}, 16, [bar]; mapa.u64 %rd7, %rd3, 0; ld.u32 %r6, [%rd7+4]; st.global.u32 [%rd1], %r6;");
    expect(&copies, 1, &[101]);
}

/// The one block of a cluster has the rank 0, whichever way its memory is addressed.
#[test]
fn the_rank_of_an_address() {
    let ranks = "mov.u32 %r6, 7; mov.u32 %r7, 7; mov.u32 %r8, 7; mov.u32 %r9, 7; setp.eq.u32 %p1, %r1, 99;\n\
                 getctarank.shared::cluster.u32 %r6, %r4; getctarank.u64 %r7, %rd3;\n\
                 mapa.shared::cluster.u32 %r10, sm, 0; getctarank.shared::cluster.u32 %r8, %r10;\n\
                 @%p1 getctarank.u64 %r9, %rd1; st.global.v4.u32 [%rd1], {%r6, %r7, %r8, %r9};";
    expect(ranks, 32, &[0, 0, 0, 7]);
}

/// An index that no target has.
#[test]
fn a_jump_past_its_table() {
    let body = "ts: .branchtargets A, B;\nmov.u32 %r6, 4000000000; add.u32 %r5, %r1, INDEX;\n@%p1 brx.idx %r5, ts;\nbra C;\n\
                A: mov.u32 %r6, 10; bra C;\nB: mov.u32 %r6, 20;\nC: st.global.u32 [%rd1], %r6;";
    let with = |index: &str, guard: &str| format!("setp.eq.u32 %p1, %r1, {guard}; {}", body.replace("INDEX", index));
    expect(&with("0", "0"), 1, &[10]);
    expect(&with("1", "0"), 1, &[20]);
    expect(&with("2", "1"), 1, &[4_000_000_000]);
    for index in ["2", "4000000000"] {
        for engine in [Engine::Interpreter, Engine::Native] {
            let error = run(&with(index, "0"), 1, engine).unwrap_err();
            assert!(error.to_string().contains("line 13, `@%p1 brx.idx %r5, ts`"), "{error}");
            assert!(error.message.contains("none of the 2 targets"), "{error}");
        }
    }
}
