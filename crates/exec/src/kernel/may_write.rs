//! Which memory a kernel may write: an analysis of where addresses come from.

use roundonce_ir::flow::{ParamBytes, Written, propagate};
use roundonce_ir::{Kernel, Op, Operand, Space, Special};

/// The may-write set: parameters whose buffers stores may reach, as bits (the first 61), variables, or anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MayWrite(u64);

/// Where the addresses in a kernel's registers come from: for each register parameters, variables, or anything, as in
/// [`MayWrite`].
pub(crate) struct Origins(Vec<u64>);

impl Origins {
    /// A register counts as derived from every buffer whose address flows into it, numbers left aside: `is_memory` says of
    /// each parameter which it is. A value loaded from memory may point anywhere.
    pub(crate) fn of(kernel: &Kernel, is_memory: &[bool]) -> Origins {
        let params = ParamBytes::of(kernel);
        let bit = |param: Option<usize>| match param {
            Some(index) if is_memory.get(index) == Some(&false) => 0,
            Some(index) if index < 61 => 1 << index,
            _ => MayWrite::ANYTHING,
        };
        Origins(propagate(
            kernel,
            0,
            |one, other| one | other,
            |op| match op {
                Op::Load { d, bytes, space: Space::Param, address: Operand::Imm(at), offset, .. } => {
                    let loaded = params.each((*at as i64).wrapping_add(*offset), d.len() as i64 * i64::from(*bytes));
                    Written::Value(loaded.fold(0, |all, param| all | bit(param)))
                }
                Op::Load { .. } | Op::Atomic { .. } => Written::Value(MayWrite::ANYTHING),
                Op::Special { special: Special::Address(_), .. } => Written::Value(MayWrite::VARIABLES),
                Op::Special {
                    special: Special::SharedWindow | Special::LocalWindow | Special::ParamWindow, ..
                } => Written::Value(MayWrite::WINDOWS),
                _ => Written::Operands,
            },
        ))
    }
    /// Whether an address may be that of a byte of a parameter's buffer.
    pub(crate) fn may_be_in(&self, address: Operand, param: usize) -> bool {
        MayWrite(self.address(address)).param(param)
    }
    fn address(&self, address: Operand) -> u64 {
        match address {
            Operand::Reg(reg) if self.0[reg.0 as usize] != 0 => self.0[reg.0 as usize],
            // An address made of numbers alone belongs to no known buffer.
            _ => MayWrite::ANYTHING,
        }
    }
}

impl MayWrite {
    const ANYTHING: u64 = 1 << 63;
    const VARIABLES: u64 = 1 << 62;
    /// Generic addresses of what is not in global memory.
    const WINDOWS: u64 = 1 << 61;

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
        let (written, from) = (self.0 & !MayWrite::WINDOWS, origins.address(address));
        written & from != 0 || written != 0 && (written | from) & MayWrite::ANYTHING != 0
    }
    /// Whether the buffer of a parameter may be written.
    pub(crate) const fn param(self, index: usize) -> bool {
        self.0 & MayWrite::ANYTHING != 0 || index >= 61 || self.0 >> index & 1 == 1
    }
    /// Whether the program's variables may be written.
    pub(crate) const fn variables(self) -> bool {
        self.0 & (MayWrite::ANYTHING | MayWrite::VARIABLES) != 0
    }
}
