//! Which memory a kernel may write: an analysis of where addresses come from.

use roundonce_ir::flow::{ParamBytes, Written, propagate};
use roundonce_ir::{Kernel, Op, Operand, Space, Special};

/// The may-write set: parameters whose buffers stores may reach, as bits (the first 62), variables, or anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MayWrite(u64);

impl MayWrite {
    const ANYTHING: u64 = 1 << 63;
    const VARIABLES: u64 = 1 << 62;

    /// A register counts as derived from every parameter whose value flows into it; a value loaded from memory may
    /// point anywhere.
    pub(crate) fn of(kernel: &Kernel) -> MayWrite {
        let params = ParamBytes::of(kernel);
        let bit = |offset: i64| {
            let index = params.at(offset).map(|(index, _)| index);
            index.filter(|&index| index < 62).map_or(MayWrite::ANYTHING, |index| 1 << index)
        };
        let from = propagate(
            kernel,
            0,
            |one, other| one | other,
            |op| match op {
                Op::Load { space: Space::Param, address: Operand::Imm(at), offset, .. } => {
                    Written::Value(bit((*at as i64).wrapping_add(*offset)))
                }
                Op::Load { .. } | Op::Atomic { .. } => Written::Value(MayWrite::ANYTHING),
                Op::Special { special: Special::Address(_), .. } => Written::Value(MayWrite::VARIABLES),
                _ => Written::Operands,
            },
        );
        let mut written = 0;
        for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
            if let Op::ImageStore { image: Operand::Reg(image), .. } = &instruction.op {
                written |= from[image.0 as usize];
            }
            if let Op::Store { address, space, .. } | Op::Atomic { address, space, .. } = &instruction.op
                && matches!(space, Space::Global | Space::Generic)
            {
                written |= match address {
                    Operand::Reg(reg) => from[reg.0 as usize],
                    // A constant address belongs to no known buffer.
                    Operand::Imm(_) => MayWrite::ANYTHING,
                };
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
