//! Programs at random, changed at random: where `roundonce_ir::equal` says that two are equal, a plain interpreter gets the
//! same bytes from both; where a change keeps the meaning, it mostly says so.

use roundonce_ir::{
    Block, Given, Instruction, IntOp, Kernel, Op, Operand, Program, Reg, Role, Space, Terminator, Width, equal,
};
use roundonce_scalar::{Case, generate, generate_plain};

/// Xorshift, from a seed.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

fn proves(one: &Program, other: &Program) -> bool {
    let given: Vec<Given> = (0..one.kernels[0].params.len()).map(Given::Param).collect();
    equal((one, &one.kernels[0]), (other, &other.kernels[0]), &given).is_ok()
}

fn run(case: &Case, program: &Program) -> Vec<Vec<u8>> {
    roundonce_scalar::run(program, case.grid, case.block, case.buffers.clone())
}

/// The same program otherwise written: blocks cut by jumps, branches turned round, copies, sums by differences.
fn rewritten(program: &Program, random: &mut dyn FnMut() -> u64) -> Program {
    let mut program = program.clone();
    let kernel = &mut program.kernels[0];
    for block in 0..kernel.blocks.len() {
        let cut = random() as usize % (kernel.blocks[block].instructions.len() + 1);
        let loc = kernel.blocks[block].loc;
        let instructions = kernel.blocks[block].instructions.split_off(cut);
        let mut terminator = std::mem::replace(&mut kernel.blocks[block].terminator, Terminator::Exit);
        let mut rest: Vec<Instruction> = Vec::new();
        for instruction in instructions {
            rewrite(kernel, instruction, &mut rest);
        }
        if let Terminator::Branch { pred, then, otherwise } = terminator {
            let d = kernel.register(Width::Pred);
            let args = [pred.into(), Operand::ZERO, Operand::ZERO, Operand::ZERO];
            rest.push(Instruction::new(Op::Int { d, op: IntOp::Not, width: Width::Pred, args }, loc));
            terminator = Terminator::Branch { pred: d, then: otherwise, otherwise: then };
        }
        kernel.blocks.push(Block { instructions: rest, terminator, loc });
        kernel.blocks[block].terminator = Terminator::Jump(kernel.blocks.len() - 1);
    }
    program
}

fn rewrite(kernel: &mut Kernel, instruction: Instruction, out: &mut Vec<Instruction>) {
    let Instruction { op, guard, loc, order } = instruction;
    match op {
        Op::Int { d, op: IntOp::Add, width, args: [a, Operand::Imm(b), ..] } => {
            let args = [a, Operand::Imm(b.wrapping_neg() & width.mask()), Operand::ZERO, Operand::ZERO];
            out.push(Instruction { op: Op::Int { d, op: IntOp::Sub, width, args }, guard, loc, order });
        }
        Op::Int { d, op: op @ (IntOp::And | IntOp::Or | IntOp::Xor | IntOp::Add | IntOp::Mul), width, args } => {
            let [a, b, ..] = args;
            let copy = kernel.register(width);
            out.push(Instruction::new(Op::Move { d: copy, a: b }, loc));
            let args = [copy.into(), a, Operand::ZERO, Operand::ZERO];
            out.push(Instruction { op: Op::Int { d, op, width, args }, guard, loc, order });
        }
        Op::Select { d, p, a, b } => {
            let opposite = kernel.register(Width::Pred);
            let args = [p, Operand::ZERO, Operand::ZERO, Operand::ZERO];
            out.push(Instruction::new(Op::Int { d: opposite, op: IntOp::Not, width: Width::Pred, args }, loc));
            out.push(Instruction { op: Op::Select { d, p: opposite.into(), a: b, b: a }, guard, loc, order });
        }
        op => out.push(Instruction { op, guard, loc, order }),
    }
}

/// The same program with one thing changed, which may change what it does.
fn changed(program: &Program, random: &mut dyn FnMut() -> u64) -> Program {
    let mut program = program.clone();
    let kernel = &mut program.kernels[0];
    let widths = kernel.registers.clone();
    let place = loop {
        let block = random() as usize % kernel.blocks.len();
        let count = kernel.blocks[block].instructions.len();
        if count > 0 {
            break (block, random() as usize % count);
        }
    };
    let choice = random() % 5;
    if choice == 0 {
        // Of what only some lanes do, memory before all.
        let instructions = kernel.blocks.iter_mut().flat_map(|block| &mut block.instructions);
        let mut guarded: Vec<&mut Instruction> =
            instructions.filter(|instruction| instruction.guard.is_some()).collect();
        guarded.sort_by_key(|instruction| !matches!(instruction.op, Op::Store { .. } | Op::Atomic { .. }));
        let count = guarded.len();
        if count > 0
            && let Some(guard) = &mut guarded[random() as usize % count.min(3)].guard
        {
            guard.expected = !guard.expected;
        }
        return program;
    }
    let block = &mut kernel.blocks[place.0];
    let instruction = &mut block.instructions[place.1];
    match (choice, &mut instruction.op) {
        (1, Op::Int { args, .. }) => args.swap(0, 1),
        (1, Op::Float { args, .. }) => args.swap(0, 2),
        (1, Op::Select { a, b, .. } | Op::Compare { a, b, .. } | Op::MinMax { a, b, .. }) => std::mem::swap(a, b),
        (2, Op::Int { op, width, .. }) if *op == IntOp::Add && *width != Width::Pred => *op = IntOp::Sub,
        (2, Op::Compare { comparison, .. }) => *comparison = roundonce_ir::Comparison::Le,
        (2, Op::Float { operation, .. }) => operation.negate_product ^= true,
        (3, op) if !op.is_shared_effect() => {
            // A register in place of another one of its width.
            let mut defs = Vec::new();
            op.registers(|role, reg| defs.extend((role == Role::Def).then_some(reg)));
            if let [d] = defs[..]
                && !matches!(op, Op::Load { space: Space::Param, .. })
            {
                let alike: Vec<u32> =
                    (0..widths.len() as u32).filter(|reg| widths[*reg as usize] == widths[d.0 as usize]).collect();
                let a = Operand::Reg(Reg(alike[random() as usize % alike.len()]));
                block.instructions.insert(place.1 + 1, Instruction::new(Op::Move { d, a }, 0));
            }
        }
        _ => {
            let at = random() as usize % block.instructions.len();
            let is_fixed = |at: usize| {
                let op = &block.instructions[at].op;
                op.is_shared_effect() || matches!(op, Op::Load { space: Space::Param, .. })
            };
            if !is_fixed(at) && !is_fixed(place.1) {
                block.instructions.swap(at, place.1);
            }
        }
    }
    program
}

/// With zeros in all registers from the start: what an undefined register holds in one program says nothing of another.
fn defined(mut case: Case) -> Case {
    let kernel = &mut case.program.kernels[0];
    let zeros = (0..kernel.registers.len() as u32).map(|d| Op::Move { d: Reg(d), a: Operand::ZERO });
    kernel.blocks[0].instructions.splice(0..0, zeros.map(|op| Instruction::new(op, 0)).collect::<Vec<_>>());
    case
}

/// How many of the changed programs were proved to be equal to the first, and how many of the rewritten ones.
fn hold(seeds: std::ops::Range<u64>, generate: fn(&mut dyn FnMut() -> u64) -> Case) -> [usize; 2] {
    let mut proved = [0; 2];
    for seed in seeds {
        let mut random = random(seed);
        let case = defined(generate(&mut random));
        assert!(proves(&case.program, &case.program) || !proves(&case.program, &rewritten(&case.program, &mut random)));
        let expected = run(&case, &case.program);
        let other = rewritten(&case.program, &mut random);
        other.verify().unwrap_or_else(|invalid| panic!("seed {seed}: {invalid}"));
        assert_eq!(run(&case, &other), expected, "seed {seed}: the test's own rewriting");
        proved[1] += usize::from(proves(&case.program, &other));
        for change in 0..4 {
            let other = changed(&case.program, &mut random);
            if other != case.program && other.verify().is_ok() && proves(&case.program, &other) {
                proved[0] += 1;
                let same = std::panic::catch_unwind(|| run(&case, &other) == expected);
                assert!(same.unwrap_or(false), "seed {seed}, change {change}: proved, and not equal");
            }
        }
    }
    proved
}

#[test]
fn what_is_proved_is_equal() {
    let [plain, all] = [hold(0..400, generate_plain), hold(0..400, generate)];
    println!("proved: {plain:?} of plain programs, {all:?} of all");
    // Changes of what nothing reads, among others.
    assert!(plain[0] > 20, "{plain:?}: no change was proved to be none");
    assert_eq!([plain[1], all[1]], [400, 400], "of 400 rewritten programs");
}
