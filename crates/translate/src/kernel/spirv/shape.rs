//! What is known of a kernel before it is written: its floating-point modes, where its registers live, in which order its
//! blocks stand.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{
    AtomicKind, Comparand, Dominators, Instruction, Kernel, Liveness, Op, Operand, Reduction, Reg, Role, Scalar,
    Terminator,
};

use super::ids::Ty;

/// The arithmetic that a kernel declares for a width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mode {
    pub(super) toward_zero: bool,
    pub(super) flush: bool,
}

impl Mode {
    pub(super) const fn rounding(self) -> Rounding {
        if self.toward_zero { Rounding::TowardZero } else { Rounding::NearestEven }
    }
}

/// Where a register lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// It is a value of one block.
    Block,
    /// It is a value that every use is dominated by.
    Value,
    /// It is a variable.
    Variable,
}

pub(super) struct Shape {
    /// Of 16, 32 and 64 bits.
    pub(super) modes: [Mode; 3],
    pub(super) homes: Vec<Home>,
    /// The type that each register has in its variable, and that it is loaded as.
    pub(super) types: Vec<Ty>,
    /// The blocks that are reached, each behind the block that dominates it.
    pub(super) order: Vec<usize>,
    pub(super) liveness: Liveness,
}

/// Where a width's mode stands.
pub(super) const fn index_of(bits: u32) -> usize {
    match bits {
        16 => 0,
        32 => 1,
        _ => 2,
    }
}

/// Whether a guarded instruction is written as a choice between its result and the old value: it has no effect, and what
/// it computes is defined whatever its operands are.
pub(super) fn is_pure(op: &Op) -> bool {
    matches!(
        op,
        Op::Move { .. }
            | Op::Float { .. }
            | Op::Sign { .. }
            | Op::Divide { .. }
            | Op::SquareRoot { .. }
            | Op::MinMax { .. }
            | Op::CopySign { .. }
            | Op::Compare { .. }
            | Op::Classify { .. }
            | Op::Select { .. }
            | Op::Convert { .. }
            | Op::ConvertPacked { .. }
            | Op::Int { .. }
            | Op::Pack { .. }
            | Op::Extract { .. }
            | Op::Special { .. }
            | Op::Approximate { .. }
            | Op::Carry { .. }
    )
}

impl Shape {
    pub(super) fn of(kernel: &Kernel) -> Shape {
        let dominators = Dominators::of(kernel);
        let liveness = Liveness::of(kernel);
        Shape {
            modes: modes(kernel),
            homes: homes(kernel, &dominators, &liveness),
            types: types(kernel),
            order: order(kernel, &dominators),
            liveness,
        }
    }
    pub(super) fn mode(&self, format: Format) -> Mode {
        self.modes[index_of(format.width())]
    }
}

/// Each block as early as its number says, behind the block that dominates it.
fn order(kernel: &Kernel, dominators: &Dominators) -> Vec<usize> {
    let mut below = vec![Vec::new(); kernel.blocks.len()];
    for block in 0..kernel.blocks.len() {
        if let Some(above) = dominators.immediate(block) {
            below[above].push(block);
        }
    }
    let mut ready = BinaryHeap::from([Reverse(0)]);
    let mut order = Vec::with_capacity(kernel.blocks.len());
    while let Some(Reverse(block)) = ready.pop() {
        order.push(block);
        ready.extend(below[block].iter().map(|&next| Reverse(next)));
    }
    order
}

fn homes(kernel: &Kernel, dominators: &Dominators, liveness: &Liveness) -> Vec<Home> {
    const NONE: u32 = u32::MAX;
    let reached = || (0..kernel.blocks.len()).filter(|&block| dominators.reaches(block));
    let mut homes: Vec<Home> = (0..kernel.registers.len() as u32)
        .map(|reg| if liveness.bit(Reg(reg)).is_some() { Home::Value } else { Home::Block })
        .collect();
    // By register, the block of its only write.
    let mut written = vec![NONE; kernel.registers.len()];
    for block in reached() {
        for Instruction { op, guard, .. } in &kernel.blocks[block].instructions {
            op.registers(|role, reg| {
                let place = reg.0 as usize;
                if role == Role::Def {
                    let again = std::mem::replace(&mut written[place], block as u32) != NONE;
                    let may_stay = guard.is_some() && !is_pure(op);
                    if may_stay || homes[place] == Home::Value && (again || guard.is_some()) {
                        homes[place] = Home::Variable;
                    }
                }
            });
        }
    }
    // A use that the write does not come before on every path.
    let mut last = vec![NONE; kernel.registers.len()];
    for block in reached() {
        let mut read = |reg: Reg, last: &[u32]| {
            let place = reg.0 as usize;
            let is_value = homes[place] == Home::Value;
            let behind = match written[place] as usize {
                at if at == block => last[place] == block as u32,
                at => written[place] != NONE && dominators.dominates(at, block),
            };
            if is_value && !behind {
                homes[place] = Home::Variable;
            }
        };
        let Some(contents) = kernel.blocks.get(block) else { continue };
        for Instruction { op, guard, .. } in &contents.instructions {
            guard.iter().for_each(|guard| read(guard.pred, &last));
            op.registers(|role, reg| {
                if role == Role::Use {
                    read(reg, &last);
                }
            });
            op.registers(|role, reg| {
                if role == Role::Def {
                    last[reg.0 as usize] = block as u32;
                }
            });
        }
        match &contents.terminator {
            Terminator::Branch { pred: reg, .. } | Terminator::Switch { index: Operand::Reg(reg), .. } => {
                read(*reg, &last);
            }
            _ => {}
        }
    }
    homes
}

/// Each register as what most instructions take or give it for.
fn types(kernel: &Kernel) -> Vec<Ty> {
    let mut as_float = vec![0i32; kernel.registers.len()];
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        let mut floats: Vec<Reg> = Vec::new();
        as_floats(&instruction.op, &mut |operand| {
            if let Operand::Reg(reg) = operand {
                floats.push(reg);
            }
        });
        if matches!(instruction.op, Op::Load { .. } | Op::Store { .. } | Op::Move { .. } | Op::Select { .. }) {
            continue;
        }
        instruction.op.registers(|_, reg| as_float[reg.0 as usize] -= 1);
        floats.into_iter().for_each(|reg| as_float[reg.0 as usize] += 2);
    }
    let widths = kernel.registers.iter().zip(as_float);
    widths.map(|(&width, votes)| if votes > 0 { Ty::float(width.bits()) } else { Ty::of(width) }).collect()
}

/// Calls `see` with the operands and the result that are floats of a type that kernels have.
fn as_floats(op: &Op, see: &mut dyn FnMut(Operand)) {
    let mut each = |format: Format, operands: &[Operand]| {
        if Ty::of_format(format).is_some() {
            operands.iter().for_each(|&operand| see(operand));
        }
    };
    match *op {
        Op::Float { d, operation, args, .. } => {
            each(operation.format, &[Operand::Reg(d)]);
            for (at, arg) in args.iter().enumerate().take(operation.op.arity()) {
                each(operation.operand_format(at), &[*arg]);
            }
        }
        Op::Approximate { d, function, format, a, .. } if function.takes_integer() => {
            each(format, &[Operand::Reg(d), a])
        }
        Op::Divide { d, format, a, b, .. }
        | Op::MinMax { d, format, a, b, .. }
        | Op::Approximate { d, format, a, b, .. } => each(format, &[Operand::Reg(d), a, b]),
        Op::SquareRoot { d, format, a, .. } => each(format, &[Operand::Reg(d), a]),
        Op::Compare { of: Comparand::Float { format, .. }, a, b, .. } => each(format, &[a, b]),
        Op::Convert { d, to, from, a, .. } => {
            if let Scalar::Float(format) = from {
                each(format, &[a]);
            }
            if let Scalar::Float(format) = to {
                each(format, &[Operand::Reg(d)]);
            }
        }
        _ => {}
    }
}

/// Whether an operation is one instruction where the modes fit: its own format throughout, nothing beside its rounding.
pub(super) fn is_plain(operation: &Operation) -> bool {
    operation.operand_formats.is_none()
        && !operation.fmz
        && !operation.oob
        && operation.op != ArithOp::TruncatedMulAdd
        && Ty::of_format(operation.format).is_some()
        && (operation.source_format == operation.format || operation.format == Format::F32)
}

/// What instructions want of the modes of a width.
#[derive(Clone, Copy, Default)]
struct Wants {
    flush: bool,
    keep: bool,
    nearest: bool,
    toward_zero: bool,
}

/// The modes under which most instructions are one: subnormals are flushed where every instruction of a width has it so,
/// and the direction is toward zero where every one has it so.
fn modes(kernel: &Kernel) -> [Mode; 3] {
    let mut wants = [Wants::default(); 3];
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        want(&instruction.op, &mut wants);
    }
    let expands = wants[2].nearest;
    let mut modes =
        wants.map(|wants| Mode { toward_zero: wants.toward_zero && !wants.nearest, flush: wants.flush && !wants.keep });
    modes[2].toward_zero &= !expands;
    modes
}

fn want(op: &Op, wants: &mut [Wants; 3]) {
    let mut subnormals = |format: Format, flush: bool| {
        // What is wider than its format in 16 bits is computed through f32, whose subnormals it needs.
        let bits = if Ty::of_format(format).is_some() { format.width() } else { 32 };
        let wants = &mut wants[index_of(bits)];
        if flush && Ty::of_format(format).is_some() { wants.flush = true } else { wants.keep = true }
    };
    match op {
        Op::Float { operation, .. } | Op::Atomic { kind: AtomicKind::Float { operation, .. }, .. } => {
            subnormals(operation.format, operation.flush);
            for at in 0..operation.op.arity() {
                let format = operation.operand_format(at);
                // What is widened to f32 is flushed, or not, as an f32: of an f16 no subnormal is one there.
                if operation.operand_formats.is_some() || format != operation.format {
                    subnormals(format, operation.flush && format == Format::F32);
                }
            }
            let bits = index_of(operation.format.width());
            match operation.rounding {
                Rounding::NearestEven if is_plain(operation) => wants[bits].nearest = true,
                Rounding::TowardZero if is_plain(operation) => wants[bits].toward_zero = true,
                // Computed in f64, to nearest.
                _ => wants[2].nearest = true,
            }
        }
        Op::Divide { format, flush, .. } | Op::SquareRoot { format, flush, .. } => {
            subnormals(*format, *flush);
            wants[2].nearest = true;
        }
        Op::Atomic { kind: AtomicKind::FloatMinMax { format, .. }, .. } => subnormals(*format, false),
        Op::Reduce { reduction: Reduction::Float { .. }, .. } => subnormals(Format::F32, false),
        Op::Scale { format, flush, .. } => subnormals(*format, *flush),
        Op::MinMax { format, flush, .. } => subnormals(*format, *flush),
        Op::Approximate { format, flush, .. } => {
            subnormals(*format, *flush);
            wants[index_of(format.width())].nearest = true;
        }
        Op::Compare { of: Comparand::Float { format, flush }, .. } => subnormals(*format, *flush),
        Op::ConvertPacked { .. } | Op::MultiplyMatrices { .. } => wants[2].nearest = true,
        Op::Sign { format, flush: true, .. } => subnormals(*format, true),
        Op::Convert { to, from, flush, integral, .. } => {
            // An f16's subnormals are normal numbers of the other formats, and what is flushed of f32 alone.
            for scalar in [from, to] {
                if let Scalar::Float(format @ (Format::F32 | Format::BF16)) = scalar
                    && (scalar == from || matches!(from, Scalar::Float(_)) && *from != Scalar::Float(Format::F16))
                {
                    subnormals(*format, *flush && *format == Format::F32);
                }
                if let Scalar::Float(Format::F16) = scalar {
                    subnormals(Format::F16, false);
                }
            }
            if *integral && let Scalar::Float(Format::F32) = to {
                subnormals(Format::F32, *flush);
            }
            if let Scalar::Float(Format::F64) = to {
                wants[2].nearest = true;
            }
        }
        _ => {}
    }
}
