//! A kernel launched again: the code of an earlier launch is used where it is the same in everything that code depends on, and
//! nowhere else.

use super::{Case, lowered, random, words};
use crate::detect::has_native;
use roundonce_arith::{NanRule, Profile};
use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_ir::{Op, Operand, Program, Special};

fn text(body: &str) -> String {
    format!(
        ".version 7.0 .target sm_70 .address_size 64
         .visible .entry k(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) {{
         .reg .pred %p<4>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
         ld.param.u32 %r1, [n]; ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
         mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
         setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;
         mul.wide.u32 %rd3, %r5, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
         ld.global.f32 %f2, [%rd1]; {body} st.global.f32 [%rd2], %f2; DONE: ret; }}"
    )
}
fn program(body: &str) -> Program {
    lowered(&text(body))
}
const BODY: &str = "mov.u32 %r6, %nctaid.x; cvt.rn.f32.u32 %f3, %r6; add.f32 %f2, %f2, %f3; fma.rn.f32 %f2, %f2, %f1, 0f3f800000; mul.ftz.f32 %f2, %f2, %f2; add.f32 %f2, %f2, %f1;";

fn args(threads: usize, seed: u64) -> Vec<Arg> {
    let scalar = 0x3f00_0000 + random(seed)() as u32 % 0x80_0000;
    vec![
        Arg::Scalar(threads as u64 - 5),
        Arg::Scalar(scalar.into()),
        words(threads, seed, 9),
        words(threads, seed + 1, 3),
    ]
}

/// Each launch by the interpreter and, behind the others, by native code.
#[test]
fn launches_that_differ_in_one_thing() {
    let mut kernels = vec![program(BODY)];
    for (mode, other) in [("fma.rn", "fma.rz"), ("mul.ftz", "mul"), ("0f3f800000", "0f3f800001")] {
        kernels.push(program(&BODY.replace(mode, other)));
    }
    // The same text, changed once it was lowered.
    let mut changed = kernels[0].clone();
    let immediates = changed.kernels[0].blocks.iter_mut().flat_map(|block| &mut block.instructions);
    for instruction in immediates {
        if let Op::Float { args, .. } = &mut instruction.op {
            args.iter_mut()
                .filter(|arg| matches!(arg, Operand::Imm(_)))
                .for_each(|arg| *arg = Operand::Imm(0x4000_0000));
        }
    }
    assert_ne!(changed, kernels[0]);
    kernels.push(changed);
    let other = Profile { nan_f32: NanRule::ALL[1], ..Profile::NVIDIA };
    let mut shares = Vec::new();
    for kernel in &kernels {
        for (grid, block) in [(8, 256), (8, 128), (4, 256)] {
            for seed in [1, 7] {
                for profile in [Profile::NVIDIA, other] {
                    for round in 0..2 {
                        let mut case = Case::line(kernel, "k", grid, block, args(2048, seed));
                        case.profile = profile;
                        // The same scalars, other data.
                        case.args[2] = words(2048, seed + 10 * round, 5);
                        let what = format!("round {round}, {grid} x {block}, seed {seed}, {profile:?}");
                        let share = case.hold(&what);
                        // By another rule for NaNs the interpreter runs it.
                        shares.extend((profile == Profile::NVIDIA).then_some(share));
                    }
                }
            }
        }
    }
    assert!(!has_native() || shares.iter().all(|&share| share > 0.9), "{shares:?}");
}

/// The kernel is the same: the size of a buffer is not, or of an array that comes before another, or of dynamic shared memory.
#[test]
fn sizes_that_are_constants_of_the_code() {
    let threads = 2048;
    let launch = |kernel: &Program, engine, elements, dynamic_shared| {
        let mut args = args(threads, 5);
        args[3] = Arg::Buffer(Buffer::zeros(4 * (threads + elements)));
        let options = Options { engine, threads: 1, ..Options::default() };
        let (grid, block) = ([8, 1, 1], [256, 1, 1]);
        let launch = Launch { program: kernel, entry: Some("k"), grid, block, args, dynamic_shared, options };
        let report = launch.run().unwrap_or_else(|error| panic!("{error}"));
        assert!(engine == Engine::Interpreter || report.native_steps == report.steps);
        report.buffers[3].as_ref().map(|buffer| buffer.words()[..threads].to_vec())
    };
    let add = "cvt.rn.f32.u32 %f3, %r6; fma.rn.f32 %f2, %f3, 0f3b800000, %f2;";
    let dynamic = program(&format!("mov.u32 %r6, %dynamic_smem_size; {add}"));
    // No instruction of PTX asks for a buffer's size.
    let mut buffer = program(&format!("mov.u32 %r6, %nctaid.z; {add}"));
    for instruction in buffer.kernels[0].blocks.iter_mut().flat_map(|block| &mut block.instructions) {
        if let Op::Special { special: special @ Special::Nctaid(2), .. } = &mut instruction.op {
            *special = Special::BufferBytes(3);
        }
    }
    let [array, moved] = [1024, 4096].map(|bytes| {
        let arrays = format!(".global .b8 earlier[{bytes}]; .global .b8 later[8]; .visible .entry k(");
        let text = text(&format!("mov.u64 %rd4, later; cvt.u32.u64 %r6, %rd4; {add}"));
        lowered(&text.replace(".visible .entry k(", &arrays))
    });
    assert_eq!(array.kernels, moved.kernels);
    for [one, other] in
        [[(&dynamic, 0, 0), (&dynamic, 0, 96)], [(&buffer, 0, 0), (&buffer, 32, 0)], [(&array, 0, 0), (&moved, 0, 0)]]
    {
        let results = |engine| [one, other].map(|(kernel, elements, shared)| launch(kernel, engine, elements, shared));
        let expected = results(Engine::Interpreter);
        assert_ne!(expected[0], expected[1], "the size shows");
        for &engine in Engine::native() {
            assert!(results(engine) == expected, "{engine:?}");
        }
    }
}

/// Code for divergent lanes is used by a launch whose lanes do not diverge, and the other way round.
#[test]
fn divergent_lanes_in_some_launches() {
    let body = "mov.b32 %r6, %f2; and.b32 %r6, %r6, 15; L: fma.rn.f32 %f2, %f2, %f1, %f2; sub.u32 %r6, %r6, 1;
                setp.gt.s32 %p2, %r6, 0; @%p2 bra L;";
    let kernel = program(body);
    for (seed, special) in [(1, 0), (2, 0), (1, 2), (3, 0)] {
        let mut case = Case::line(&kernel, "k", 64, 128, args(64 * 128, 4));
        case.args[2] = match special {
            // All lanes alike.
            0 if seed == 1 => Arg::Buffer(Buffer::from_words(vec![0x3f80_0007; 64 * 128])),
            _ => words(64 * 128, seed, special),
        };
        case.hold(&format!("seed {seed}, {special}"));
    }
}

/// Several threads launch one kernel at a time, on data of their own.
#[test]
fn launches_at_the_same_time() {
    let kernel = program(BODY);
    std::thread::scope(|scope| {
        for seed in 0..6 {
            let kernel = &kernel;
            scope.spawn(move || {
                let mut case = Case::line(kernel, "k", 8, 256, args(2048, 9));
                case.args[2] = words(2048, seed, 5);
                for round in 0..8 {
                    case.hold(&format!("seed {seed}, round {round}"));
                }
            });
        }
    });
}

/// A launch too short to pay for code has it once there were many like it.
#[test]
fn short_launches_that_are_many() {
    let kernel = program(BODY);
    let case = Case::line(&kernel, "k", 1, 64, args(64, 3));
    let expected = case.run(Engine::Interpreter, 1).0;
    let mut native = 0;
    for _ in 0..20_000 {
        let (got, steps) = case.run(Engine::Auto, 1);
        assert_eq!(got, expected);
        native = steps;
        if steps > 0 {
            break;
        }
    }
    assert_eq!(native > 0, has_native());
    // Not where the launch is to be alone.
    let options = Options { keep_code: false, ..Options::default() };
    let (grid, block, args) = (case.grid, case.block, case.args.clone());
    let launch = Launch { program: &kernel, entry: Some("k"), grid, block, args, dynamic_shared: 0, options };
    assert_eq!(launch.run().map(|report| report.native_steps), Ok(0));
}
