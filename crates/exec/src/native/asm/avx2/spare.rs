//! Scratch registers that code leaves alone hold values: sixteen registers are few.

use super::super::AsmError;
use iced_x86::{Instruction, OpKind, Register};

/// The scratch registers that not all code needs: B, C and E of the emitter.
const SCRATCH: [u32; 3] = [10, 11, 13];
/// The first number of a register that stands for one of these, until it is known which: no instruction of AVX2 has it.
pub(super) const FIRST: u32 = 16;

/// A vector register's number, and the first one of its kind.
fn number(register: Register) -> Option<(u32, Register)> {
    let first = [Register::YMM0, Register::XMM0].into_iter().find(|&first| register >= first)?;
    let number = register as u32 - first as u32;
    (number < 32).then_some((number, first))
}

/// Names the registers from [`FIRST`] on after scratch registers that no instruction has. Returns how many there were of these.
pub(in super::super) fn with_spare_registers(
    mut instructions: Vec<Instruction>,
) -> Result<(Vec<Instruction>, usize), AsmError> {
    let mut used = [false; 32];
    for instruction in &instructions {
        let operands = (0..instruction.op_count()).map(|index| instruction.op_register(index));
        for (number, _) in operands.chain([instruction.memory_index()]).filter_map(number) {
            used[number as usize] = true;
        }
    }
    let spare: Vec<u32> = SCRATCH.into_iter().filter(|&number| !used[number as usize]).collect();
    let wanted = used[FIRST as usize..].iter().rposition(|&used| used).map_or(0, |last| last + 1);
    if wanted > spare.len() {
        return Err(AsmError::NotSpare);
    }
    if wanted > 0 {
        let renamed = |register: Register| {
            let (number, first) = number(register).filter(|&(number, _)| number >= FIRST)?;
            Some(first + spare[(number - FIRST) as usize])
        };
        for instruction in &mut instructions {
            for index in 0..instruction.op_count() {
                if instruction.op_kind(index) == OpKind::Register
                    && let Some(register) = renamed(instruction.op_register(index))
                {
                    instruction.set_op_register(index, register);
                }
            }
            if let Some(register) = renamed(instruction.memory_index()) {
                instruction.set_memory_index(register);
            }
        }
    }
    Ok((instructions, spare.len()))
}

#[cfg(test)]
mod tests {
    use super::{AsmError, Instruction, Register, with_spare_registers};
    use iced_x86::Code;

    fn sum(to: Register, a: Register, b: Register) -> Instruction {
        Instruction::with3(Code::VEX_Vaddps_ymm_ymm_ymmm256, to, a, b).unwrap_or_default()
    }

    #[test]
    fn scratch_registers_in_use_hold_no_values() {
        let first = sum(Register::YMM11, Register::YMM0, Register::YMM9);
        let renamed = with_spare_registers(vec![first, sum(Register::YMM17, Register::YMM1, Register::YMM16)]);
        let Ok((code, spare)) = renamed else { panic!("two of them are spare") };
        assert_eq!((code, spare), (vec![first, sum(Register::YMM13, Register::YMM1, Register::YMM10)], 2));
        let third = sum(Register::YMM18, Register::YMM1, Register::YMM16);
        assert!(matches!(with_spare_registers(vec![first, third]), Err(AsmError::NotSpare)));
        assert!(matches!(with_spare_registers(vec![third]), Ok((_, 3))));
    }
}
