//! Machine code as code of a compiler's middle end, which engines run fast.

use roundonce_ir::Program;

use super::{barriers, copies, live_ranges, pairs, quotients, unused};

/// Rewrites a program that is lowered from machine code, for a run that observes nothing but results: each value gets a
/// register of its own, numbers of 64 bits are one register, copies are read through, arithmetic stands in front of
/// barriers, and what nothing reads is left out. The results stay, bit for bit; a trace lacks what was left out.
pub fn simplify(program: &mut Program) {
    for kernel in &mut program.kernels {
        live_ranges::split(kernel);
        copies::propagate(kernel);
        pairs::join(kernel);
        // Of halves that are still read here and there, the other values are unused now.
        live_ranges::split(kernel);
        copies::propagate(kernel);
        quotients::recognise(kernel);
        // What stands there twice now is not needed twice.
        live_ranges::split(kernel);
        unused::leave_out(kernel);
        barriers::hoist(kernel);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use roundonce_ir::{Block, Guard, Instruction, Kernel, Op, Operand, Reg, Terminator, Width};

    /// A block's code after a pass; registers of these widths, an instruction's predicate behind it.
    pub(in super::super) fn after(
        pass: impl Fn(&mut Kernel),
        widths: &[Width],
        code: Vec<(Op, Option<u32>)>,
    ) -> Vec<Op> {
        let mut kernel = Kernel::new("k");
        for &width in widths {
            kernel.register(width);
        }
        let guard = |pred: Option<u32>| pred.map(|pred| Guard { pred: Reg(pred), expected: true });
        let instructions =
            code.into_iter().map(|(op, pred)| Instruction { guard: guard(pred), ..Instruction::new(op, 0) }).collect();
        kernel.blocks = vec![Block { instructions, terminator: Terminator::Exit, loc: 0 }];
        pass(&mut kernel);
        kernel.blocks.remove(0).instructions.into_iter().map(|instruction| instruction.op).collect()
    }
    pub(in super::super) fn copy(d: u32, a: impl Into<Operand>) -> Op {
        Op::Move { d: Reg(d), a: a.into() }
    }
}
