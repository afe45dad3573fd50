//! What lanes do together: barriers, matrices of warps, and waits for each other.

use super::*;

#[test]
fn a_barrier_that_some_never_reach() {
    let body = "setp.lt.u32 %p1, %r1, 5; @%p1 bra SKIP; bar.sync 1; SKIP: bar.sync 0;";
    let error = run(body, 1, 1, 64, Options::default()).unwrap_err();
    assert_eq!(error.kind, FaultKind::Deadlock);
    assert!(error.message.contains("59 threads wait at barrier 1"), "{error}");
    assert!(error.message.contains("5 threads wait at barrier 0"), "{error}");
    // Threads that have ended are not waited for.
    let body = "setp.lt.u32 %p1, %r1, 5; @%p1 exit; bar.sync 0;";
    assert!(run(body, 1, 1, 64, Options::default()).is_ok());
    // Half of the warps at each of two barriers.
    let body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 32; bra DONE; A: bar.sync 2, 32; DONE: bar.sync 0;";
    assert!(run(body, 1, 1, 64, Options::default()).is_ok());
    // A producer arrives, a consumer waits.
    let body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 64; bra DONE; A: bar.arrive 1, 64; DONE: bar.sync 0;";
    assert!(run(body, 1, 1, 64, Options::default()).is_ok());
}

/// A matrix multiply-add is the whole warp's: lanes that ended, that were never started, or that go another way.
#[test]
fn a_matrix_that_some_lanes_never_multiply() {
    let multiply =
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f2,%f3,%f4,%f5}, {%r1,%r1}, {%r1}, {%f1,%f1,%f1,%f1};";
    let after = format!("{multiply}\nst.global.f32 [%rd3], %f2;");
    for &engine in Engine::native().iter().chain(&[Engine::Interpreter]) {
        let options = || Options { engine, ..Options::default() };
        let error = run(&after, 20, 1, 20, options()).unwrap_err();
        assert_eq!((error.kind, error.thread), (FaultKind::Deadlock, Some(([0; 3], [0; 3]))));
        let text = error.to_string();
        for part in
            ["`mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32` needs all 32 lanes", "20 are here", "line 11"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let ended = format!("setp.lt.u32 %p1, %r1, 40;\n@%p1 exit;\n{after}");
        let error = run(&ended, 64, 1, 64, options()).unwrap_err();
        assert!(error.message.contains("24 are here"), "{error}");
        assert_eq!(error.thread, Some(([0; 3], [40, 0, 0])));
        let halves = format!("setp.lt.u32 %p1, %r1, 16;\n@%p1 {multiply}\n@!%p1 bar.sync 0;");
        let error = run(&halves, 32, 1, 32, options()).unwrap_err();
        assert!(error.message.contains("16 threads wait for lanes of their warp, line 12"), "{error}");
        // They meet again behind a branch; another warp may go its own way.
        let meet = format!("setp.lt.u32 %p1, %r1, 7;\n@%p1 bra A;\nadd.u32 %r6, %r1, 1;\nA: {after}");
        assert!(run(&meet, 64, 1, 64, options()).is_ok());
        let other = format!("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\n{after}\nA:");
        assert!(run(&other, 64, 1, 64, options()).is_ok());
    }
}

/// `wgmma` is four warps': what they meet at again is one instruction, and fewer are an error with its place.
#[test]
fn a_matrix_that_some_warps_never_multiply() {
    let multiply =
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f2,%f3,%f4,%f5}, {%r1,%r1,%r1,%r1}, %rd4, 0, 1, 1;";
    let text = |body: &str| {
        let body = body.replace("MULTIPLY", multiply);
        module(&format!("mov.u64 %rd4, 0;\n{body}\nst.global.f32 [%rd3], %f2;"))
            .replace(".version 7.8", ".version 8.0")
            .replace("sm_80", "sm_90a")
    };
    for &engine in Engine::native().iter().chain(&[Engine::Interpreter]) {
        let run = |body: &str, threads: u32| {
            run_module(&text(body), 256, 1, threads, Options { engine, ..Options::default() })
        };
        for (body, threads, parts) in [
            ("MULTIPLY", 32, &["needs all 128 threads of a warpgroup", "32 are here", "line 12"][..]),
            ("MULTIPLY", 160, &["needs all 128 threads", "32 are here", "line 12"]),
            ("setp.ge.u32 %p1, %r1, 32;\n@%p1 exit;\nMULTIPLY", 128, &["needs all 128 threads", "32 are here"]),
            (
                "setp.lt.u32 %p1, %r1, 32;\n@%p1 MULTIPLY\nbar.sync 0;",
                128,
                &["32 threads wait for lanes of their warpgroup"],
            ),
        ] {
            let error = run(body, threads).unwrap_err();
            assert_eq!(error.kind, FaultKind::Deadlock, "{error}");
            for part in parts {
                assert!(error.to_string().contains(part), "{part}: {error}");
            }
        }
        for body in [
            "MULTIPLY",
            "setp.lt.u32 %p1, %r1, 64;\n@%p1 bra A;\nadd.u32 %r6, %r1, 1;\nA: MULTIPLY",
            "setp.ge.u32 %p1, %r1, 128;\n@%p1 bra A;\nMULTIPLY\nA:",
        ] {
            assert!(run(body, 256).is_ok(), "{body}: {:?}", run(body, 256).err());
        }
    }
}

/// Selectors of scales out of their range are undefined: an error where a register has them.
#[test]
fn selectors_without_scales() {
    let body = "mov.u32 %r6, 0x38383838; mov.u32 %r7, 0x7f7f7f7f; mov.b16 %h1, BYTE; mov.b16 %h2, THREAD;\n\
                mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 \
                {%f2,%f3,%f4,%f5}, {%r6,%r6,%r6,%r6}, {%r6,%r6}, {%f1,%f1,%f1,%f1}, %r7, {%h1, %h2}, %r7, {0, 0};\n\
                st.global.f32 [%rd3], %f2;";
    let run = |byte: &str, thread: &str| {
        let text = module(&body.replace("BYTE", byte).replace("THREAD", thread))
            .replace(".version 7.8", ".version 8.7")
            .replace("sm_80", "sm_120a")
            .replace(".reg .pred", ".reg .b16 %h<9>; .reg .pred");
        run_module(&text, 32, 1, 32, Options::default())
    };
    assert!(run("3", "1").is_ok(), "{:?}", run("3", "1").err());
    for (byte, thread) in [("4", "0"), ("0", "2"), ("5", "3")] {
        let error = run(byte, thread).unwrap_err();
        assert_eq!(error.kind, FaultKind::Access);
        for part in [&format!("no scales of a with the selectors {{{byte}, {thread}}}"), "line 12"] {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    }
}

#[test]
fn lanes_that_wait_for_each_other_without_a_barrier() {
    // Thread 0 waits for a flag that thread 1 sets: a spinning thread lets others continue.
    let body = "add.u32 %r7, %r1, 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;\n\
        SPIN: ld.volatile.shared.u32 %r6, [s]; setp.eq.u32 %p2, %r6, 0; @%p2 bra SPIN; bra DONE;\n\
        SET: st.volatile.shared.u32 [s], 7;\nDONE: st.global.u32 [%rd3], %r6;";
    let report = run(body, 2, 1, 2, Options::default()).unwrap();
    assert_eq!(words(&report)[0], 7);
}
