//! Steps of reductions, `d = x + shuffle(x)`: lanes that give each other their values compute the same. Where whole vectors do, as in a warp's
//! first steps, one of both is enough.

use super::region::Region;
use crate::kernel::{DecodedInst, DecodedKernel};
use roundonce_arith::ArithOp;
use roundonce_ir::{IntOp, Op, Operand, Reg, Role, ShuffleMode, Width};
use std::collections::BTreeMap;

/// A shuffle's mode and its operands but the value.
pub(super) type How = (ShuffleMode, Operand, Operand);

/// A value joined with what a shuffle makes of it, by an operation that takes its operands in any order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) value: Reg,
    pub(super) how: How,
    pub(super) result: Reg,
}

/// What an instruction does for a step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Result(Step),
    /// It makes what the result alone reads: the lanes that the result has no vectors of are not needed.
    Given(Step),
}

/// The steps of a region.
pub(super) struct Steps {
    /// Of each instruction, in their order.
    pub(super) parts: Vec<Option<Part>>,
    /// Registers that have a step's value, from the value's own to the one that is shuffled: all of them need all lanes.
    pub(super) values: Vec<bool>,
}

impl Steps {
    pub(super) fn of(code: &DecodedKernel<'_>, region: &Region) -> Steps {
        let [definitions, uses] = region.counts(code);
        let passed_once = |reg: Reg| {
            let at = reg.0 as usize;
            (definitions[at], uses[at]) == (1, 1) && !region.leaves(reg)
        };
        let mut steps = Steps { parts: Vec::new(), values: vec![false; uses.len()] };
        for node in 0..region.nodes.len() {
            let insts: Vec<&DecodedInst<'_>> = region.insts(code, node).collect();
            let start = steps.parts.len();
            steps.parts.resize(start + insts.len(), None);
            let mut numbers = Numbers::default();
            for (index, inst) in insts.iter().enumerate() {
                let step = inst.guard.is_none().then(|| numbers.step(inst.op)).flatten();
                if let Some((step, mut given)) = step {
                    steps.parts[start + index] = Some(Part::Result(step));
                    numbers.holders(step.value).into_iter().for_each(|reg| steps.values[reg.0 as usize] = true);
                    // Back to the shuffle.
                    while let Some(&writer) = numbers.writers.get(&given).filter(|_| passed_once(given)) {
                        steps.parts[start + writer] = Some(Part::Given(step));
                        match insts[writer].op {
                            &Op::Move { a: Operand::Reg(a), .. } => given = a,
                            _ => break,
                        }
                    }
                }
                numbers.define(inst, index);
            }
        }
        steps
    }
}

/// The values of a node's registers, by number, up to an instruction.
#[derive(Default)]
struct Numbers {
    next: u32,
    of: BTreeMap<Reg, u32>,
    /// The registers that have had each, since they were last asked for.
    holders: BTreeMap<u32, Vec<Reg>>,
    /// Of those that shuffles make: of which value, and how.
    shuffled: BTreeMap<u32, (u32, How)>,
    /// The instruction that wrote each register.
    writers: BTreeMap<Reg, usize>,
}

impl Numbers {
    fn hold(&mut self, reg: Reg, number: u32) {
        self.of.insert(reg, number);
        self.holders.entry(number).or_default().push(reg);
    }
    fn new_number(&mut self, reg: Reg) {
        self.next += 1;
        self.hold(reg, self.next);
    }
    fn number(&mut self, reg: Reg) -> u32 {
        if !self.of.contains_key(&reg) {
            self.new_number(reg);
        }
        self.of[&reg]
    }
    fn holders(&mut self, reg: Reg) -> Vec<Reg> {
        let number = self.number(reg);
        self.holders.insert(number, Vec::new()).unwrap_or_default()
    }
    /// The step that an instruction completes, and the register that the other lanes' values are in.
    fn step(&mut self, op: &Op) -> Option<(Step, Reg)> {
        let (result, [a, b]) = commuting(op)?;
        [(a, b), (b, a)].into_iter().find_map(|(value, given)| {
            let number = self.number(given);
            let &(of, how) = self.shuffled.get(&number)?;
            (of == self.number(value)).then_some((Step { value, how, result }, given))
        })
    }
    fn define(&mut self, inst: &DecodedInst<'_>, index: usize) {
        let read = match (inst.guard, inst.op) {
            (None, &(Op::Move { a: Operand::Reg(a), .. } | Op::Shuffle { a: Operand::Reg(a), .. })) => {
                Some(self.number(a))
            }
            _ => None,
        };
        inst.op.registers(|role, reg| {
            if role == Role::Def {
                self.writers.insert(reg, index);
                self.new_number(reg);
            }
        });
        match (inst.op, read) {
            (&Op::Move { d, .. }, Some(read)) => self.hold(d, read),
            (&Op::Shuffle { d, mode: ShuffleMode::Butterfly, b, c, .. }, Some(read)) => {
                let made = self.number(d);
                self.shuffled.insert(made, (read, (ShuffleMode::Butterfly, b, c)));
            }
            _ => {}
        }
    }
}

/// An operation of two registers that gives the same bits either way round; of NaNs that stand for the profile's, any.
fn commuting(op: &Op) -> Option<(Reg, [Reg; 2])> {
    let (d, a, b) = match *op {
        Op::Float { d, operation, args: [a, b, _], .. } => {
            let commutes = match operation.op {
                ArithOp::Add => operation.negate_product == operation.negate_addend,
                ArithOp::Mul => true,
                _ => false,
            };
            (commutes && operation.is_uniform()).then_some((d, a, b))?
        }
        Op::MinMax { d, a, b, .. } => (d, a, b),
        Op::Int { d, op, width, args: [a, b, ..] } if width != Width::Pred => {
            let commutes = matches!(
                op,
                IntOp::Add | IntOp::Mul | IntOp::Min(_) | IntOp::Max(_) | IntOp::And | IntOp::Or | IntOp::Xor
            );
            commutes.then_some((d, a, b))?
        }
        _ => return None,
    };
    match (a, b) {
        (Operand::Reg(a), Operand::Reg(b)) => Some((d, [a, b])),
        _ => None,
    }
}
