//! Which memory a kernel may write: an analysis of where addresses come from.

use roundonce_ir::{Kernel, Op, Operand, Role, Space, Special};

/// The may-write set: parameters whose buffers stores may reach, as bits (the first 62), variables, or anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MayWrite(u64);

impl MayWrite {
    const ANYTHING: u64 = 1 << 63;
    const VARIABLES: u64 = 1 << 62;

    /// A register counts as derived from every parameter whose value flows into it; a value loaded from memory may
    /// point anywhere.
    pub(crate) fn of(kernel: &Kernel) -> MayWrite {
        let mut from = vec![0u64; kernel.registers.len()];
        let bit = |offset: i64| {
            let index = kernel
                .params
                .iter()
                .position(|param| (param.offset as i64..param.offset as i64 + param.size as i64).contains(&offset));
            index.filter(|&index| index < 62).map_or(MayWrite::ANYTHING, |index| 1 << index)
        };
        let mut written = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for op in kernel.blocks.iter().flat_map(|block| &block.instructions).map(|instruction| &instruction.op) {
                let mut sources = 0;
                op.registers(|role, reg| {
                    if role == Role::Use {
                        sources |= from[reg.0 as usize];
                    }
                });
                let derived = match op {
                    Op::Load { space: Space::Param, address: Operand::Imm(at), offset, .. } => {
                        bit((*at as i64).wrapping_add(*offset))
                    }
                    Op::Load { .. } | Op::Atomic { .. } => MayWrite::ANYTHING,
                    Op::Special { special: Special::Address(_), .. } => MayWrite::VARIABLES,
                    _ => sources,
                };
                if let Op::Store { address, space, .. } | Op::Atomic { address, space, .. } = op
                    && matches!(space, Space::Global | Space::Generic)
                {
                    // A constant address belongs to no known buffer.
                    let target = match address {
                        Operand::Reg(reg) => from[reg.0 as usize],
                        Operand::Imm(_) => MayWrite::ANYTHING,
                    };
                    changed |= written | target != written;
                    written |= target;
                }
                op.registers(|role, reg| {
                    if role == Role::Def {
                        let old = from[reg.0 as usize];
                        changed |= old | derived != old;
                        from[reg.0 as usize] |= derived;
                    }
                });
            }
        }
        MayWrite(written)
    }
    /// Whether the buffer of a parameter may be written.
    pub(crate) const fn param(self, index: usize) -> bool {
        self.0 & MayWrite::ANYTHING != 0 || index >= 62 || self.0 >> index & 1 == 1
    }
    /// Whether the program's variables may be written.
    pub(crate) const fn variables(self) -> bool {
        self.0 & (MayWrite::ANYTHING | MayWrite::VARIABLES) != 0
    }
}
