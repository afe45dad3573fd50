//! Where registers' values come from, whatever the order of the instructions.

use roundonce_ir::{Kernel, Op, Operand, Role};

/// What an instruction writes.
#[derive(Clone, Copy)]
pub(super) enum Written<T> {
    /// This.
    Value(T),
    /// What every operand holds.
    Operands,
    /// What this one holds.
    Operand(Operand),
}

/// The least values of a kernel's registers such that what an instruction writes is at least what `written` says of it.
/// `join` gives the least value that is at least both.
pub(super) fn propagate<T: Copy + PartialEq>(
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
pub(super) struct ParamBytes(Vec<(i64, i64, usize)>);

impl ParamBytes {
    pub(super) fn of(kernel: &Kernel) -> ParamBytes {
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
    pub(super) fn at(&self, byte: i64) -> Option<(usize, bool)> {
        let place = self.0.partition_point(|&(start, ..)| start <= byte).checked_sub(1)?;
        let (start, end, index) = self.0[place];
        (byte < end).then_some((index, byte == start))
    }
}
