//! Masks that were stored in the frame, because an instruction sets a mask register, and are not read before the next one: most
//! are used where they were made, from the register that holds them.

use super::super::super::frame::header;
use super::FRAME;
use iced_x86::{Code, Instruction, OpKind, Register};

/// The mask register in whose slot an instruction's memory operand is.
fn mask_of(i: &Instruction) -> Option<usize> {
    let in_frame = i.op_kinds().any(|kind| kind == OpKind::Memory) && i.memory_base() == FRAME;
    let place =
        (i.memory_displacement64() as i64).checked_sub(header::MASKS).filter(|&place| in_frame && place >= 0)?;
    Some(place as usize / 32).filter(|&mask| mask < 8)
}

/// Without the stores of masks that nothing reads. Where control flow joins or leaves all masks may be read.
pub(in crate::native::asm) fn without_dead_masks(instructions: Vec<Instruction>) -> Vec<Instruction> {
    let mut is_read = [true; 8];
    let mut kept: Vec<Instruction> = Vec::with_capacity(instructions.len());
    for instruction in instructions.into_iter().rev() {
        let has_index = instruction.memory_index() != Register::None;
        let is_store = instruction.code() == Code::VEX_Vmovaps_ymmm256_ymm && !has_index;
        let is_labelled = instruction.ip() != 0;
        if let Some(mask) = mask_of(&instruction) {
            let is_needed = std::mem::replace(&mut is_read[mask], !is_store);
            if is_store && !is_needed && !is_labelled {
                continue;
            }
        }
        let may_read_any = has_index && instruction.memory_base() == FRAME;
        if is_labelled || may_read_any || instruction.op0_kind() == OpKind::NearBranch64 {
            is_read = [true; 8];
        }
        kept.push(instruction);
    }
    kept.reverse();
    kept
}
