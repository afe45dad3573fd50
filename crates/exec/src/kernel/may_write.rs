//! Which memory a kernel may write: an analysis of where addresses come from.

use roundonce_ir::flow::{ParamBytes, Written, propagate};
use roundonce_ir::{Kernel, Op, Operand, Space, Special};

/// The may-write set: parameters whose buffers stores may reach, as bits (the first 62), variables, or anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MayWrite(u64);

/// Where the addresses in a kernel's registers come from: for each register parameters, variables, or anything, as in
/// [`MayWrite`].
pub(crate) struct Origins(Vec<u64>);

impl Origins {
    /// A register counts as derived from every parameter whose value flows into it; a value loaded from memory may
    /// point anywhere.
    pub(crate) fn of(kernel: &Kernel) -> Origins {
        let params = ParamBytes::of(kernel);
        let bit = |offset: i64| {
            let index = params.at(offset).map(|(index, _)| index);
            index.filter(|&index| index < 62).map_or(MayWrite::ANYTHING, |index| 1 << index)
        };
        Origins(propagate(
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
        ))
    }
    fn address(&self, address: Operand) -> u64 {
        match address {
            Operand::Reg(reg) => self.0[reg.0 as usize],
            // A constant address belongs to no known buffer.
            Operand::Imm(_) => MayWrite::ANYTHING,
        }
    }
}

impl MayWrite {
    const ANYTHING: u64 = 1 << 63;
    const VARIABLES: u64 = 1 << 62;

    /// What the stores of a kernel may reach.
    pub(crate) fn of(kernel: &Kernel, origins: &Origins) -> MayWrite {
        let mut written = 0;
        for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
            if let Op::ImageStore { image: image @ Operand::Reg(_), .. } = instruction.op {
                written |= origins.address(image);
            }
            if let Op::Store { address, space, .. } | Op::Atomic { address, space, .. } = &instruction.op
                && matches!(space, Space::Global | Space::Generic)
            {
                written |= origins.address(*address);
            }
        }
        MayWrite(written)
    }
    /// Whether a load from an address may read what the kernel may write.
    pub(crate) fn may_be_read(self, origins: &Origins, address: Operand) -> bool {
        let from = origins.address(address);
        self.0 & from != 0 || self.0 != 0 && (self.0 | from) & MayWrite::ANYTHING != 0
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
