//! Which bytes a kernel accesses, found out by a kernel that marks them.
//!
//! Behind each store another one is put, of all ones, at a fixed distance: there lies a memory of marks for every buffer
//! and variable. So every engine runs it as it runs the kernel, native code included, under the same guards, and what is
//! marked is what was written, to the byte, whatever the values were. Loads of what the kernel may write leave marks too,
//! at twice the distance. Where the same thread writes what it reads, the marks of the store say enough.

use crate::kernel::{MayWrite, Origins};
use roundonce_ir::{Instruction, IntOp, Kernel, Op, Operand, Role, Space, Width};

/// How far from the memory its marks are. No access of a kernel's own goes there but by an address that is wrong by just
/// as much.
pub(super) const fn distance(address_bits: u32) -> u64 {
    if address_bits == 32 { 1 << 30 } else { 1 << 44 }
}

/// A kernel that marks what it accesses.
pub(super) struct Marking {
    pub(super) kernel: Kernel,
    /// Whether it marks what it reads; otherwise it reads nothing that it may write.
    pub(super) marks_reads: bool,
}

impl Marking {
    pub(super) fn of(kernel: &Kernel, address_bits: u32, is_memory: &[bool]) -> Marking {
        let origins = Origins::of(kernel, is_memory);
        let may_write = MayWrite::of(kernel, &origins);
        let distance = distance(address_bits);
        let pointer = if address_bits == 32 { Width::B32 } else { Width::B64 };
        let mut marking = Marking { kernel: kernel.clone(), marks_reads: false };
        for number in 0..kernel.blocks.len() {
            let mut instructions = Vec::new();
            let block = &kernel.blocks[number].instructions;
            for (at, instruction) in block.iter().enumerate() {
                match instruction.op {
                    Op::Store { ref values, space: Space::Global | Space::Generic, bytes, address, offset, .. } => {
                        let marks = Marks { count: values.len(), bytes, address, offset, distance };
                        marks.beside(instruction, &mut marking.kernel, pointer, &mut instructions);
                    }
                    Op::Load {
                        ref d,
                        space: Space::Global | Space::Generic | Space::Const,
                        bytes,
                        address,
                        offset,
                        ..
                    } if may_write.may_be_read(&origins, address) && !is_stored(&block[at..]) => {
                        marking.marks_reads = true;
                        let marks = Marks { count: d.len(), bytes, address, offset, distance: 2 * distance };
                        marks.beside(instruction, &mut marking.kernel, pointer, &mut instructions);
                    }
                    _ => instructions.push(instruction.clone()),
                }
            }
            marking.kernel.blocks[number].instructions = instructions;
        }
        marking
    }
}

/// The marks of one access.
struct Marks {
    count: usize,
    bytes: u32,
    address: Operand,
    offset: i64,
    distance: u64,
}

impl Marks {
    /// The instruction with its marks: their address is computed before it, which may overwrite its own, and they are left
    /// behind it, so that an error is the instruction's.
    fn beside(self, instruction: &Instruction, kernel: &mut Kernel, pointer: Width, into: &mut Vec<Instruction>) {
        let Marks { count, bytes, mut address, offset, distance } = self;
        let loc = instruction.loc;
        if let Operand::Reg(reg) = address
            && kernel.width(reg) != pointer
        {
            let d = kernel.register(pointer);
            into.push(Instruction::new(Op::Pack { d, low: address, high: Operand::ZERO }, loc));
            address = d.into();
        }
        let d = kernel.register(pointer);
        let args = [address, Operand::Imm(distance), Operand::ZERO, Operand::ZERO];
        into.push(Instruction::new(Op::Int { d, op: IntOp::Add, width: pointer, args }, loc));
        into.push(instruction.clone());
        let values = vec![Operand::Imm(u64::MAX); count];
        let width = Width::holding(bytes * 8);
        let op = Op::Store { values, width, space: Space::Global, bytes, address: d.into(), offset };
        into.push(Instruction { op, ..instruction.clone() });
    }
}

/// Whether the first instruction is a load of bytes that the same thread stores to further down in the block, whatever
/// happens until then but a fault.
fn is_stored(block: &[Instruction]) -> bool {
    let [first, rest @ ..] = block else { return false };
    let Op::Load { d, bytes, address, offset, .. } = &first.op else { return false };
    let length = |bytes: u32, count: usize| i64::from(bytes) * count as i64;
    let end = offset.saturating_add(length(*bytes, d.len()));
    let is_changed = |op: &Op| {
        let mut changed = false;
        op.registers(|role, reg| {
            changed |= role == Role::Def
                && (*address == Operand::Reg(reg) || first.guard.is_some_and(|guard| guard.pred == reg));
        });
        changed
    };
    if is_changed(&first.op) {
        return false;
    }
    for Instruction { op, guard, .. } in rest {
        if let Op::Store { values, space: Space::Global | Space::Generic, bytes, address: to, offset: from, .. } = op
            && to == address
            && (guard.is_none() || *guard == first.guard)
            && *from <= *offset
            && from.saturating_add(length(*bytes, values.len())) >= end
        {
            return true;
        }
        if is_changed(op) || matches!(op, Op::Exit) {
            return false;
        }
    }
    false
}
