use super::super::places::{Place, places};
use super::*;
use roundonce_ir::{Block, Guard, Special};

const X: u32 = 0;
const R: u32 = 1;
const S: u32 = 2;
const P: u32 = 3;
const OTHER: u32 = 4;
const OUT: u32 = 5;
const FIRST: u32 = 6;

fn float(d: u32, operation: Operation, args: [Operand; 3]) -> Op {
    Op::Float { d: Reg(d), operation, components: 1, contractible: false, args }
}
fn reg(number: u32) -> Operand {
    Reg(number).into()
}
const fn imm(bits: u32) -> Operand {
    Operand::Imm(bits as u64)
}
fn approximate(function: Function) -> Op {
    let (d, a, name) = (Reg(R), reg(X), String::new());
    Op::Approximate { d, function, format: Format::F32, flush: true, saturate: false, a, b: imm(0), name }
}
fn int(d: u32, op: IntOp, width: Width, a: Operand, b: Operand) -> Op {
    Op::Int { d: Reg(d), op, width, args: [a, b, imm(0), imm(0)] }
}
fn above(d: u32, a: Operand, b: u32) -> Op {
    let of = Comparand::Unsigned(Width::B32);
    Op::Compare { d: Reg(d), comparison: Comparison::Gt, of, a, b: imm(b) }
}
fn copy(d: u32, a: Operand) -> Op {
    Op::Move { d: Reg(d), a }
}

/// A kernel of four blocks: the first decides between the second and the third, and the last reads the result.
fn kernel(blocks: [Vec<Op>; 2], [then, otherwise]: [usize; 2]) -> Kernel {
    let mut kernel = Kernel::new("k");
    for register in 0..32 {
        kernel.register(if register == P || register > 20 { Width::Pred } else { Width::B32 });
    }
    let [mut first, second] = blocks;
    let tid = |d, axis| Op::Special { d: Reg(d), special: Special::Tid(axis) };
    first.splice(0..0, [tid(X, 0), tid(OTHER, 1)]);
    let block = |ops: Vec<Op>, terminator| Block {
        instructions: ops.into_iter().map(|op| Instruction::new(op, 0)).collect(),
        terminator,
        loc: 0,
    };
    kernel.blocks = vec![
        block(first, Terminator::Branch { pred: Reg(P), then, otherwise }),
        block(second, Terminator::Jump(3)),
        block(vec![copy(S, reg(X))], Terminator::Jump(3)),
        block(vec![copy(OUT, reg(S))], Terminator::Exit),
    ];
    kernel
}

/// `sqrt.rn.f32`.
fn root() -> Kernel {
    let [t, g, h, e] = [FIRST, FIRST + 1, FIRST + 2, FIRST + 3];
    let first = vec![
        approximate(Function::ReciprocalSquareRoot),
        int(t, IntOp::Add, Width::B32, reg(X), imm(0xf300_0000)),
        above(P, reg(t), 0x727f_ffff),
    ];
    let second = vec![
        float(g, flushed_product(), [reg(X), reg(R), imm(0)]),
        float(h, flushed_product(), [reg(R), imm(0x3f00_0000), imm(0)]),
        float(e, fused(true), [reg(g), reg(g), reg(X)]),
        float(S, fused(false), [reg(e), reg(h), reg(g)]),
    ];
    kernel([first, second], [2, 1])
}
/// `rcp.rn.f32`.
fn reciprocal() -> Kernel {
    let [t, masked, e, n] = [FIRST, FIRST + 1, FIRST + 2, FIRST + 3];
    let first = vec![
        int(t, IntOp::Add, Width::B32, reg(X), imm(0x0180_0000)),
        int(masked, IntOp::And, Width::B32, reg(t), imm(0x7f80_0000)),
        above(P, reg(masked), 0x01ff_ffff),
    ];
    let second = vec![
        approximate(Function::Reciprocal),
        float(e, fused(false), [reg(X), reg(R), imm(0xbf80_0000)]),
        float(n, flushed_negation(), [reg(e), imm(0), imm(0)]),
        float(S, fused(false), [reg(R), reg(n), reg(R)]),
    ];
    kernel([first, second], [1, 2])
}
/// `div.rn.f32` of 1: the result is computed before the branch.
fn quotient() -> Kernel {
    let [exponent, from, apart, most, e, y, z, rest] = [0, 1, 2, 3, 4, 5, 6, 7].map(|place| FIRST + place);
    let is_outside = 21;
    let one = imm(0x3f80_0000);
    let max = IntOp::Max(Signedness::Unsigned);
    let first = vec![
        approximate(Function::Reciprocal),
        int(exponent, IntOp::And, Width::B32, reg(X), imm(0x7f80_0000)),
        int(from, IntOp::Sub, Width::B32, reg(exponent), imm(16 << 23)),
        int(apart, IntOp::Sub, Width::B32, reg(OTHER), reg(exponent)),
        int(most, max, Width::B32, reg(from), reg(apart)),
        above(is_outside, reg(most), 222 << 23),
        copy(P, reg(is_outside)),
        float(e, fused(true), [reg(R), reg(X), one]),
        float(y, fused(false), [reg(R), reg(e), reg(R)]),
        float(z, fused(false), [reg(y), one, imm(0)]),
        float(rest, fused(true), [reg(z), reg(X), one]),
        float(S, fused(false), [reg(y), reg(rest), reg(z)]),
    ];
    kernel([first, Vec::new()], [2, 3])
}

/// The one instruction that is another one afterwards.
fn recognised(mut kernel: Kernel) -> Option<Op> {
    let before = kernel.clone();
    recognise(&mut kernel);
    let pairs =
        before.blocks.iter().zip(&kernel.blocks).flat_map(|(one, other)| {
            one.instructions.iter().zip(&other.instructions).filter(|(one, other)| one != other)
        });
    let changed: Vec<&Instruction> = pairs.map(|(_, after)| after).collect();
    match changed[..] {
        [] => None,
        [only] => Some(only.op.clone()),
        _ => panic!("{changed:?}"),
    }
}

/// √x, then 1 / √x where the two ways of the root meet.
fn reciprocal_of_root() -> Kernel {
    let (mut kernel, division) = (root(), quotient());
    let mut check = division.blocks[0].instructions[3..].to_vec();
    // The approximation is of the root.
    check.insert(0, division.blocks[0].instructions[2].clone());
    for instruction in &mut check {
        places(&mut instruction.op, &mut |place| match place {
            Place::Use(Operand::Reg(register)) | Place::Def(register) => {
                *register = Reg(match register.0 {
                    X => S,
                    S => OUT,
                    P => 24,
                    OTHER => 19,
                    other => other,
                });
            }
            Place::Use(Operand::Imm(_)) => {}
        });
    }
    // The exponent of the dividend, and as far above it as that of the divisor may be below.
    check.insert(0, Instruction::new(copy(19, imm((127 + 111) << 23)), 0));
    kernel.blocks[3].instructions = check;
    kernel.blocks[3].terminator = Terminator::Branch { pred: Reg(24), then: 5, otherwise: 4 };
    for ops in [vec![copy(X, reg(OUT))], vec![copy(OUT, reg(OTHER))]] {
        let instructions = ops.into_iter().map(|op| Instruction::new(op, 0)).collect();
        kernel.blocks.push(Block { instructions, terminator: Terminator::Exit, loc: 0 });
    }
    kernel
}

/// A root is neither so small nor so large that a division by it is checked.
#[test]
fn divisions_by_roots_are_not_checked() {
    let mut kernel = reciprocal_of_root();
    recognise(&mut kernel);
    assert_eq!(kernel.blocks[1].terminator, Terminator::Jump(4));
    let is_quotient = |at: &Instruction| matches!(at.op, Op::Divide { b: Operand::Reg(Reg(S)), .. });
    assert_eq!(kernel.blocks[1].instructions.iter().filter(|at| is_quotient(at)).count(), 1);
    // The other way is checked.
    assert_eq!(kernel.blocks[3].terminator, reciprocal_of_root().blocks[3].terminator);
    assert_eq!(kernel.unlikely, BTreeSet::from([2, 5]));
}

#[test]
fn other_divisions_are_checked() {
    // Of another number than the root, a check that may hold, and where lanes have to meet.
    let mut kernels: Vec<Kernel> = (0..4).map(|_| reciprocal_of_root()).collect();
    let exponent = &mut kernels[0].blocks[3].instructions[2].op;
    assert_eq!(*exponent, int(FIRST, IntOp::And, Width::B32, reg(S), imm(0x7f80_0000)));
    *exponent = int(FIRST, IntOp::And, Width::B32, reg(OTHER), imm(0x7f80_0000));
    kernels[1].blocks[3].instructions[0].op = copy(19, imm((127 + 200) << 23));
    kernels[2].blocks[3].instructions.push(Instruction::new(Op::Fence, 0));
    kernels[3].blocks[0].instructions[4].op = above(P, reg(FIRST), 0x727f_fffe);
    for (number, mut kernel) in kernels.into_iter().enumerate() {
        recognise(&mut kernel);
        let branches =
            kernel.blocks.iter().filter(|at| matches!(at.terminator, Terminator::Branch { pred: Reg(24), .. }));
        assert_eq!(branches.count(), if number < 2 { 2 } else { 1 }, "{number}");
    }
}

/// The longer way is unlikely, but not where something else leads there.
#[test]
fn unlikely_blocks() {
    for make in [root, reciprocal, quotient] {
        let mut kernel = make();
        recognise(&mut kernel);
        assert_eq!(kernel.unlikely, BTreeSet::from([2]));
        let mut kernel = make();
        kernel.blocks[1].terminator = Terminator::Jump(2);
        recognise(&mut kernel);
        assert!(kernel.unlikely.is_empty());
    }
    // A division of another dividend is checked as well, though it is no reciprocal.
    let mut kernel = quotient();
    kernel.blocks[0].instructions.retain(|instruction| !matches!(instruction.op, Op::Float { .. }));
    recognise(&mut kernel);
    assert_eq!(kernel.unlikely, BTreeSet::from([2]));
    let mut kernel = quotient();
    kernel.blocks[0].instructions.retain(|instruction| !matches!(instruction.op, Op::Move { .. }));
    recognise(&mut kernel);
    assert!(kernel.unlikely.is_empty());
}

#[test]
fn sequences_are_one_operation() {
    let (d, format, rounding, flush) = (Reg(S), Format::F32, Rounding::NearestEven, false);
    let one = imm(0x3f80_0000);
    assert_eq!(recognised(root()), Some(Op::SquareRoot { d, format, rounding, flush, a: reg(X) }));
    for kernel in [reciprocal(), quotient()] {
        assert_eq!(recognised(kernel), Some(Op::Divide { d, format, rounding, flush, a: one, b: reg(X) }));
    }
}

/// The factors of a product stand in either order, and copies are read through.
#[test]
fn sequences_in_another_order() {
    for make in [root, reciprocal, quotient] {
        let mut kernel = make();
        for block in &mut kernel.blocks {
            for instruction in &mut block.instructions {
                match &mut instruction.op {
                    Op::Float { operation, args, .. } if operation.op != ArithOp::Add => args.swap(0, 1),
                    Op::Int { op: IntOp::Add | IntOp::And, args, .. } => args.swap(0, 1),
                    Op::Approximate { a, .. } => *a = reg(20),
                    _ => {}
                }
            }
        }
        kernel.blocks[0].instructions.insert(1, Instruction::new(copy(20, reg(X)), 0));
        assert!(recognised(kernel).is_some());
    }
}

type Change = Box<dyn Fn(&mut Instruction)>;

/// Every number, comparison, modifier and register of a sequence counts.
#[test]
fn near_misses_stay() {
    for make in [root, reciprocal, quotient] {
        let all: Vec<(usize, usize)> = (0..2)
            .flat_map(|block| (0..make().blocks[block].instructions.len()).map(move |at| (block, at)))
            .filter(|&place| place.0 > 0 || place.1 >= 2)
            .collect();
        for (block, at) in all {
            let changed = |change: &dyn Fn(&mut Instruction)| {
                let mut kernel = make();
                let instruction = &mut kernel.blocks[block].instructions[at];
                let before = instruction.clone();
                change(instruction);
                let after = instruction.clone();
                (after != before).then(|| (recognised(kernel), before, after))
            };
            let mut changes: Vec<Change> = vec![
                // What another predicate decides.
                Box::new(|it| it.guard = Some(Guard { pred: Reg(24), expected: true })),
                Box::new(|it| match &mut it.op {
                    Op::Float { operation, .. } => operation.flush ^= true,
                    Op::Approximate { flush, .. } => *flush = false,
                    Op::Compare { comparison, .. } => *comparison = Comparison::Ge,
                    Op::Int { op, .. } => *op = IntOp::Xor,
                    _ => {}
                }),
                Box::new(|it| match &mut it.op {
                    Op::Float { operation, .. } => operation.negate_product ^= true,
                    Op::Approximate { saturate, .. } => *saturate = true,
                    Op::Compare { of, .. } => *of = Comparand::Signed(Width::B32),
                    _ => {}
                }),
                Box::new(|it| match &mut it.op {
                    Op::Float { operation, .. } => operation.rounding = Rounding::TowardZero,
                    Op::Approximate { function, .. } => *function = Function::SquareRoot,
                    _ => {}
                }),
                Box::new(|it| {
                    if let Op::Float { operation, .. } = &mut it.op {
                        operation.negate_addend ^= operation.op.arity() != 2 || operation.op == ArithOp::Add;
                    }
                }),
            ];
            // Each operand: another register, another number.
            for operand in 0..3 {
                changes.push(Box::new(move |it| {
                    let mut seen = 0;
                    places(&mut it.op, &mut |place| {
                        if let Place::Use(place) = place {
                            if seen == operand {
                                *place = match *place {
                                    Operand::Imm(bits) => Operand::Imm(bits ^ 1),
                                    Operand::Reg(register) if register.0 > 20 => reg(24),
                                    Operand::Reg(_) => reg(OTHER),
                                };
                            }
                            seen += 1;
                        }
                    });
                }));
            }
            for change in changes {
                let Some((found, before, after)) = changed(&*change) else { continue };
                // Of the quotient's check what is said of the divisor is enough, and the function has one argument.
                let is_free = match (&before.op, &after.op) {
                    (Op::Int { op: IntOp::Sub, args: [Operand::Reg(Reg(OTHER)), ..], .. }, _) => true,
                    (Op::Int { args: [a, ..], .. }, Op::Int { op: IntOp::Max(_), args: [same, ..], .. }) => {
                        a == same && after.guard.is_none()
                    }
                    (Op::Approximate { b, .. }, Op::Approximate { b: other, .. }) => b != other,
                    _ => false,
                };
                assert!(found.is_none() || is_free, "{before:?} became {after:?}: {found:?}");
            }
        }
    }
}

#[test]
fn where_the_range_is_not_known_they_stay() {
    // The other side of the branch.
    for make in [root, reciprocal, quotient] {
        let mut kernel = make();
        if let Terminator::Branch { then, otherwise, .. } = &mut kernel.blocks[0].terminator {
            std::mem::swap(then, otherwise);
        }
        assert_eq!(recognised(kernel), None);
    }
    // A second way to the sequence.
    for make in [root, reciprocal] {
        let mut kernel = make();
        kernel.blocks[2].terminator = Terminator::Jump(1);
        assert_eq!(recognised(kernel), None);
    }
    // The other side reads the result, there or in the same block.
    let mut kernel = quotient();
    kernel.blocks[2].instructions[0].op = copy(S, reg(S));
    assert_eq!(recognised(kernel), None);
    let mut kernel = quotient();
    kernel.blocks[0].instructions.push(Instruction::new(copy(OUT, reg(S)), 0));
    assert_eq!(recognised(kernel), None);
}

/// The operand is another one in between, or is no longer there.
#[test]
fn overwritten_operands() {
    for make in [root, reciprocal, quotient] {
        for block in 0..2 {
            for at in 2 * (1 - block)..make().blocks[block].instructions.len() {
                let mut kernel = make();
                let overwrites = Instruction::new(copy(X, reg(OTHER)), 0);
                kernel.blocks[block].instructions.insert(at, overwrites);
                // Before anything reads it, it is the operand.
                let is_first = (block, at) == (0, 2);
                assert_eq!(recognised(kernel).is_some(), is_first, "{block}, {at}");
            }
        }
    }
}

// The sequences on the host's f32, which rounds to nearest; the approximations are correctly rounded here.

fn reciprocal_root_of(x: f32) -> f32 {
    (1.0 / f64::from(x).sqrt()) as f32
}

/// All significands with both parities of the exponent, at the range's lower end, in its middle and at its upper end.
#[test]
fn roots_are_correctly_rounded() {
    for first in [0x0d00_0000_u32, 0x3f80_0000, 0x7e80_0000] {
        for bits in first..first + 0x0100_0000 {
            let x = f32::from_bits(bits);
            let r = reciprocal_root_of(x);
            let (g, h) = (x * r, r * 0.5);
            let root = (-g).mul_add(g, x).mul_add(h, g);
            assert_eq!(root.to_bits(), x.sqrt().to_bits(), "{bits:#x}");
        }
    }
}

/// All significands, at both ends of the range and in its middle.
#[test]
fn reciprocals_are_correctly_rounded() {
    for exponent in [1_u32, 127, 252] {
        for bits in exponent << 23..(exponent + 1) << 23 {
            let b = f32::from_bits(bits);
            let (r, expected) = (1.0 / b, (1.0 / b).to_bits());
            let e = b.mul_add(r, -1.0);
            assert_eq!(r.mul_add(-e, r).to_bits(), expected, "{bits:#x}");
            let y = r.mul_add((-r).mul_add(b, 1.0), r);
            let z = y.mul_add(1.0, 0.0);
            assert_eq!(y.mul_add((-z).mul_add(b, 1.0), z).to_bits(), expected, "{bits:#x}");
        }
    }
}
