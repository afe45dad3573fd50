//! The operations of a kernel of one integer multiply-add, computed by the functions that the engine uses.

use roundonce_exec::scalar::{carry, int_op};
use roundonce_ir::{IntOp, Kernel, Op, Operand, Reg, Space};

use super::IntegerResult;

/// An operation. A kernel that has another is refused before anything is computed.
#[derive(Clone, Copy, Debug)]
enum Step {
    Operand { d: Reg, index: usize },
    Move { d: Reg, a: Operand },
    Extract { d: Reg, bits: u32, a: Operand, shift: u32 },
    Int { d: Reg, op: IntOp, bits: u32, args: [Operand; 4] },
    Carry { d: Reg, bits: u32, out: Option<Reg>, subtract: bool, carry: Operand, a: Operand, b: Operand },
    Result(Operand),
    CarryFlag(Operand),
}

/// The operations of a kernel, in order.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    registers: usize,
    steps: Vec<Step>,
}

impl Steps {
    /// Of a kernel whose first parameter is the address of its results and whose others are the operands.
    pub(super) fn of(kernel: &Kernel) -> Result<Steps, String> {
        let mut steps = Vec::new();
        let mut stored = 0;
        let Some((block, others)) = kernel.blocks.split_first() else { return Err("it has no result".to_owned()) };
        let mut ended = others.is_empty();
        for instruction in &block.instructions {
            let unknown = || format!("it becomes an operation that is not computed here: {:?}", instruction.op);
            if instruction.guard.is_some() {
                return Err(unknown());
            }
            let step = match &instruction.op {
                Op::Load { d, space: Space::Param, address: Operand::Imm(address), offset, .. } => {
                    let at = address.wrapping_add(*offset as u64);
                    let place = kernel.params.iter().position(|param| u64::from(param.offset) == at);
                    match (d.as_slice(), place) {
                        // Nothing needs the address of the results.
                        (_, Some(0)) => continue,
                        (&[Some(d)], Some(place)) => Step::Operand { d, index: place - 1 },
                        _ => return Err(unknown()),
                    }
                }
                Op::Store { values, .. } => {
                    stored += 1;
                    match (values.as_slice(), stored) {
                        (&[value], 1) => Step::Result(value),
                        (&[value], 2) => Step::CarryFlag(value),
                        _ => return Err(unknown()),
                    }
                }
                &Op::Move { d, a } => Step::Move { d, a },
                &Op::Extract { d, a, shift, .. } => Step::Extract { d, bits: kernel.width(d).bits(), a, shift },
                &Op::Int { d, op, width, args } => Step::Int { d, op, bits: width.bits(), args },
                &Op::Carry { d, out, subtract, carry, a, b } => {
                    Step::Carry { d, bits: kernel.width(d).bits(), out, subtract, carry, a, b }
                }
                Op::Exit => {
                    ended = true;
                    break;
                }
                _ => return Err(unknown()),
            };
            steps.push(step);
        }
        match (ended, stored) {
            (false, _) => return Err("it becomes several blocks".to_owned()),
            (true, 0) => return Err("it has no result".to_owned()),
            (true, _) => {}
        }
        Ok(Steps { registers: kernel.registers.len(), steps })
    }

    /// The results of operands.
    pub(super) fn eval(&self, operands: &[u64]) -> IntegerResult {
        let mut registers = vec![0; self.registers];
        let mut result = IntegerResult { bits: 0, carry: None };
        for step in &self.steps {
            let value = |operand: Operand| match operand {
                Operand::Reg(Reg(reg)) => registers[reg as usize],
                Operand::Imm(bits) => bits,
            };
            let (Reg(d), bits) = match *step {
                Step::Operand { d, index } => (d, operands[index]),
                Step::Move { d, a } => (d, value(a)),
                Step::Extract { d, bits, a, shift } => (d, value(a) >> shift & (u64::MAX >> (64 - bits))),
                Step::Int { d, op, bits, args } => (d, int_op(op, bits, args.map(value))),
                Step::Carry { d, bits, out, subtract, carry: flag, a, b } => {
                    let (sum, overflow) = carry(subtract, bits, value(a), value(b), value(flag) != 0);
                    if let Some(Reg(out)) = out {
                        registers[out as usize] = overflow.into();
                    }
                    (d, sum)
                }
                Step::Result(a) => {
                    result.bits = value(a);
                    continue;
                }
                Step::CarryFlag(a) => {
                    result.carry = Some(value(a) != 0);
                    continue;
                }
            };
            registers[d as usize] = bits;
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::Steps;

    fn steps(body: &str) -> Result<Steps, String> {
        let head = ".version 9.5\n.target sm_90\n.address_size 64\n.entry k (.param .u64 out, .param .b32 pa) {\n";
        let text =
            format!("{head}.reg .b64 %o; .reg .b32 %a, %d; .reg .pred %p;\nld.param.u64 %o, [out];\n{body}ret;\n}}\n");
        let parsed = roundonce_ptx::parse(&text);
        assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
        Steps::of(&roundonce_ptx::lower(&parsed.module, None).expect("a kernel").kernels[0])
    }

    #[test]
    fn an_operation_that_is_not_computed_is_refused() {
        let load = "ld.param.b32 %a, [pa];\n";
        let store = "st.global.b32 [%o], %d;\n";
        assert_eq!(steps(&format!("{load}add.u32 %d, %a, 5;\n{store}")).expect("steps").eval(&[37]).bits, 42);
        for line in ["add.f32 %d, %a, %a;", "ld.global.b32 %d, [%o];", "mov.u32 %d, %tid.x;"] {
            let problem = steps(&format!("{load}{line}\n{store}")).expect_err(line);
            assert!(problem.contains("not computed here"), "{line}: {problem}");
        }
        let branch = format!("{load}setp.eq.u32 %p, %a, 0;\n@%p bra over;\nadd.u32 %d, %a, 5;\nover:\n{store}");
        assert!(steps(&branch).is_err());
        let guarded = format!("{load}setp.eq.u32 %p, %a, 0;\n@%p add.u32 %d, %a, 5;\n{store}");
        assert!(steps(&guarded).is_err());
        assert!(steps(load).expect_err("no store").contains("no result"));
    }
}
