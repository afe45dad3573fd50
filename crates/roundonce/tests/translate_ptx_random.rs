//! Programs at random, with loops, divergence, barriers and shuffles: translated to PTX, and the translation again, they
//! leave the same buffers.

use roundonce::arith::{Clamp, Format, Rounding};
use roundonce::exec::{Arg, Buffer, Engine, Launch, Options as RunOptions};
use roundonce::ir::{Op, Program};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{Options, ptx};
use roundonce_scalar::{Case, generate};

const PROGRAMS: u64 = 1500;

fn run(program: &Program, case: &Case) -> Result<Vec<Vec<u8>>, String> {
    let args = case.buffers.iter().map(|buffer| Arg::Buffer(Buffer::from_bytes(buffer))).collect();
    let (entry, grid, block, dynamic_shared) = (None, case.grid, case.block, 0);
    let launch = Launch {
        program,
        entry,
        grid,
        block,
        args,
        dynamic_shared,
        options: RunOptions { engine: Engine::Native, ..RunOptions::default() },
    };
    let report = launch.run().map_err(|error| error.message)?;
    Ok(report.buffers.into_iter().flatten().map(|buffer| buffer.to_bytes()).collect())
}

fn translated(program: &Program) -> (String, Program) {
    let text = ptx::write(program, &Options::default()).unwrap_or_else(|findings| panic!("{findings:?}")).text;
    let ready = Ready::read(Source::Ptx(&text), &Choice::default());
    let program = ready.unwrap_or_else(|refusal| panic!("{refusal:?}\n{text}")).program;
    (text, program)
}

/// The generator flushes in every format; PTX in f32, and in f16 to nearest.
fn as_ptx_has_it(mut program: Program) -> Program {
    let instructions = program.kernels.iter_mut().flat_map(|kernel| &mut kernel.blocks);
    for instruction in instructions.flat_map(|block| &mut block.instructions) {
        if let Op::Float { operation, .. } = &mut instruction.op {
            let is_single = operation.format == Format::F32;
            operation.flush &=
                is_single || operation.format == Format::F16 && operation.rounding == Rounding::NearestEven;
            let is_clamped = operation.clamp == Clamp::Relu && operation.format == Format::F64;
            operation.clamp = if is_clamped { Clamp::None } else { operation.clamp };
            operation.fmz &= is_single && operation.flush;
        }
    }
    program
}

#[test]
fn random_programs_leave_the_same_buffers() {
    let mut failed = 0;
    for seed in 0..PROGRAMS {
        let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut case = generate(&mut || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d)
        });
        case.program = as_ptx_has_it(case.program);
        let (text, once) = translated(&case.program);
        let (_, twice) = translated(&once);
        let expected = run(&case.program, &case);
        failed += u64::from(expected.is_err());
        assert_eq!(run(&once, &case), expected, "seed {seed}\n{text}");
        assert_eq!(run(&twice, &case), expected, "seed {seed}, translated twice");
    }
    // Where a launch fails there is nothing to compare.
    assert!(failed * 10 < PROGRAMS, "{failed} of {PROGRAMS} fail");
}
