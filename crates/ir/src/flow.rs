//! Where registers' values come from, whatever the order of the instructions.

use super::{IntOp, Kernel, Op, Operand, Program, Role, Space};

/// What an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written<T> {
    /// This.
    Value(T),
    /// What every operand holds.
    Operands,
    /// What this one holds.
    Operand(Operand),
}

/// The least values of a kernel's registers such that what an instruction writes is at least what `written` says of it.
/// `join` gives the least value that is at least both.
pub fn propagate<T: Copy + PartialEq>(
    kernel: &Kernel,
    least: T,
    join: impl Fn(T, T) -> T,
    written: impl Fn(&Op) -> Written<T>,
) -> Vec<T> {
    let mut values = vec![least; kernel.registers.len()];
    // By register, what is written by the instructions that read it.
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); values.len()];
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        let written = written(&instruction.op);
        instruction.op.registers(|role, d| {
            if role == Role::Use {
                return;
            }
            match written {
                Written::Value(value) => values[d.0 as usize] = join(values[d.0 as usize], value),
                Written::Operand(Operand::Reg(reg)) => into[reg.0 as usize].push(d.0),
                Written::Operand(Operand::Imm(_)) => {}
                Written::Operands => instruction.op.registers(|role, reg| {
                    if role == Role::Use {
                        into[reg.0 as usize].push(d.0);
                    }
                }),
            }
        });
    }
    let mut todo: Vec<usize> = (0..values.len()).collect();
    while let Some(reg) = todo.pop() {
        for &to in &into[reg] {
            let joined = join(values[to as usize], values[reg]);
            if joined != values[to as usize] {
                values[to as usize] = joined;
                todo.push(to as usize);
            }
        }
    }
    values
}

/// A kernel's parameters by their bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamBytes(Vec<(i64, i64, usize)>);

impl ParamBytes {
    /// Of a kernel.
    pub fn of(kernel: &Kernel) -> ParamBytes {
        let params = kernel.params.iter().enumerate();
        let spans = params.map(|(index, param)| {
            let start = i64::from(param.offset);
            (start, start + i64::from(param.size), index)
        });
        let mut spans: Vec<_> = spans.collect();
        spans.sort_unstable();
        ParamBytes(spans)
    }

    /// The parameter that a byte of the parameter block is of, and whether it is the first.
    pub fn at(&self, byte: i64) -> Option<(usize, bool)> {
        let place = self.0.partition_point(|&(start, ..)| start <= byte).checked_sub(1)?;
        let (start, end, index) = self.0[place];
        (byte < end).then_some((index, byte == start))
    }
}

/// For each of a kernel's first 64 parameters whether its value may be where a load or a store goes, with nothing but
/// sums in between. Machine code takes an address in halves.
pub fn pointer_parameters(program: &Program, kernel: &Kernel) -> Vec<bool> {
    let params = ParamBytes::of(kernel);
    let address_bytes = program.address_bits / 8;
    let from = propagate(
        kernel,
        0u64,
        |one, other| one | other,
        |op| match op {
            Op::Load { space: Space::Param, address: Operand::Imm(at), offset, bytes, .. } => {
                let param = params.at((*at as i64).wrapping_add(*offset));
                let is_address = |index: usize| {
                    *bytes == address_bytes || 2 * *bytes == address_bytes && kernel.params[index].size == address_bytes
                };
                let param = param.filter(|&(index, first)| first && index < 64 && is_address(index));
                Written::Value(param.map_or(0, |(index, _)| 1 << index))
            }
            Op::Move { .. }
            | Op::Select { .. }
            | Op::Pack { .. }
            | Op::Carry { .. }
            | Op::Int { op: IntOp::Add | IntOp::Sub, .. } => Written::Operands,
            Op::Int { op: IntOp::MulAdd | IntOp::MulAddWide(_), args, .. } => Written::Operand(args[2]),
            _ => Written::Value(0),
        },
    );
    let mut pointers = 0;
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        if let Op::Load { address, space, .. } | Op::Store { address, space, .. } | Op::Atomic { address, space, .. } =
            &instruction.op
            && let (Operand::Reg(reg), Space::Global | Space::Generic | Space::Const) = (address, space)
        {
            pointers |= from[reg.0 as usize];
        }
    }
    (0..kernel.params.len()).map(|index| index < 64 && pointers >> index & 1 == 1).collect()
}
