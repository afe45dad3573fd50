//! The order in which a node's instructions are compiled: each load as late as its results allow.
//!
//! A compiler for a GPU loads early, because memory answers late and registers are many. Here the processor's own
//! out-of-order execution hides the latency, and a loaded value takes a register of each vector of the tile.

use crate::kernel::DecodedInst;
use roundonce_ir::{Op, Reg, Role, Space};
use std::collections::{BTreeSet, HashMap};

/// The places of instructions in the order in which they are compiled: loads before what reads or overwrites their
/// results, or overwrites their address or predicate; without such an instruction last, but for an exit. A node's stores
/// come after everything else, so that nothing between changes what is loaded.
pub(super) fn order(insts: &[DecodedInst<'_>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(insts.len());
    let mut waiting = Waiting::default();
    for (place, inst) in insts.iter().enumerate() {
        let load = matches!(inst.op, Op::Load { space, .. } if *space != Space::Param);
        let mut due = BTreeSet::new();
        if matches!(inst.op, Op::Exit) {
            due.extend(&waiting.loads);
        }
        if let Some(guard) = inst.guard {
            due.extend(waiting.results.get(&guard.pred));
        }
        inst.op.registers(|role, register| {
            due.extend(waiting.results.get(&register));
            if role == Role::Def {
                due.extend(waiting.operands.remove(&register).into_iter().flatten());
            }
        });
        order.extend(due.into_iter().filter(|load| waiting.end(insts, *load)));
        match load {
            true => waiting.begin(insts, place),
            false => order.push(place),
        }
    }
    order.extend(waiting.loads);
    order
}

/// Loads that are not in the order yet.
#[derive(Default)]
struct Waiting {
    loads: BTreeSet<usize>,
    /// By result, its load.
    results: HashMap<Reg, usize>,
    /// By what is read, the loads that read it, some of which no longer wait.
    operands: HashMap<Reg, Vec<usize>>,
}

impl Waiting {
    fn begin(&mut self, insts: &[DecodedInst<'_>], load: usize) {
        self.loads.insert(load);
        insts[load].op.registers(|role, register| match role {
            Role::Def => drop(self.results.insert(register, load)),
            Role::Use => self.operands.entry(register).or_default().push(load),
        });
        if let Some(guard) = insts[load].guard {
            self.operands.entry(guard.pred).or_default().push(load);
        }
    }

    /// Whether the load waited.
    fn end(&mut self, insts: &[DecodedInst<'_>], load: usize) -> bool {
        insts[load].op.registers(|role, register| {
            if role == Role::Def && self.results.get(&register) == Some(&load) {
                self.results.remove(&register);
            }
        });
        self.loads.remove(&load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::DecodedKernel;
    use roundonce_arith::Profile;
    use roundonce_ir::{Block, Guard, Instruction, Kernel, Operand, Program, Terminator, Width};

    fn load(d: u32, address: u32) -> Op {
        let (space, address) = (Space::Shared, Reg(address).into());
        Op::Load { d: vec![Some(Reg(d))], space, bytes: 4, signed: false, address, offset: 0 }
    }
    fn copy(d: u32, a: u32) -> Op {
        Op::Move { d: Reg(d), a: Reg(a).into() }
    }
    fn ordered(code: Vec<(Op, Option<u32>)>) -> Vec<usize> {
        let mut kernel = Kernel::new("k");
        for _ in 0..6 {
            kernel.register(Width::B32);
        }
        kernel.register(Width::Pred);
        let guard = |pred: Option<u32>| pred.map(|pred| Guard { pred: Reg(pred), expected: true });
        let instructions =
            code.into_iter().map(|(op, pred)| Instruction { guard: guard(pred), ..Instruction::new(op, 0) }).collect();
        kernel.blocks = vec![Block { instructions, terminator: Terminator::Exit, loc: 0 }];
        let program = Program::of(kernel);
        let code = DecodedKernel::new(&program, &program.kernels[0], Profile::default(), |_, _| true);
        order(&code.blocks[0].insts)
    }
    fn unguarded(code: Vec<Op>) -> Vec<usize> {
        ordered(code.into_iter().map(|op| (op, None)).collect())
    }

    #[test]
    fn loads_wait_for_their_first_use() {
        assert_eq!(unguarded(vec![load(0, 4), load(1, 4), copy(2, 1), copy(3, 0)]), [1, 2, 0, 3]);
        assert_eq!(unguarded(vec![load(0, 4), load(1, 0), copy(2, 1)]), [0, 1, 2]);
        assert_eq!(unguarded(vec![load(0, 4), copy(2, 1), Op::Exit]), [1, 0, 2]);
    }

    #[test]
    fn loads_do_not_pass_what_changes_their_operands_or_results() {
        assert_eq!(unguarded(vec![load(0, 4), copy(4, 1), copy(2, 0)]), [0, 1, 2]);
        assert_eq!(unguarded(vec![load(0, 4), copy(0, 1), copy(2, 0)]), [0, 1, 2]);
        assert_eq!(unguarded(vec![load(0, 4), load(0, 5), copy(2, 0)]), [0, 1, 2]);
        let condition = Op::Move { d: Reg(6), a: Operand::Imm(1) };
        assert_eq!(ordered(vec![(load(0, 4), Some(6)), (condition, None), (copy(2, 0), None)]), [0, 1, 2]);
    }
}
