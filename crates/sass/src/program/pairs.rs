//! Numbers of 64 bits that live in two registers: each pair that is taken together gets a register for the whole, written where
//! the second of its halves is. Engines then see how addresses of neighbouring lanes lie, around loops too.

use std::collections::{HashMap, HashSet};

use roundonce_ir::{Instruction, Kernel, Op, Operand, Reg, Role, Width};

/// What is known of a pair on the way through a block.
struct Pair {
    low: Reg,
    high: Reg,
    whole: Reg,
    /// The half that was written alone.
    half_written: Option<Reg>,
    is_usable: bool,
}

/// Copies of registers in a block, valid until either is written.
#[derive(Default)]
struct Copies(HashMap<Reg, (Reg, u32)>, HashMap<Reg, u32>);

impl Copies {
    fn version(&self, register: Reg) -> u32 {
        self.1.get(&register).copied().unwrap_or(0)
    }
    fn written(&mut self, register: Reg) {
        self.0.remove(&register);
        *self.1.entry(register).or_default() += 1;
    }
    /// What an operand is a copy of.
    fn source(&self, operand: Operand) -> Option<Reg> {
        let Operand::Reg(mut register) = operand else { return None };
        while let Some(&(source, _)) = self.0.get(&register).filter(|(source, at)| self.version(*source) == *at) {
            register = source;
        }
        Some(register)
    }
    fn after(&mut self, instruction: &Instruction) {
        instruction.op.registers(|role, register| {
            if role == Role::Def {
                self.written(register);
            }
        });
        if let (Op::Move { d, a: Operand::Reg(source) }, None) = (&instruction.op, &instruction.guard) {
            let version = self.version(*source);
            self.0.insert(*d, (*source, version));
        }
    }
}

/// Gives the pairs of a kernel a register each.
pub(super) fn join(kernel: &mut Kernel) {
    let mut pairs = found(kernel);
    // By half, its pair.
    let mut halves: HashMap<Reg, usize> = HashMap::new();
    for (at, pair) in pairs.iter_mut().enumerate() {
        for half in [pair.low, pair.high] {
            pair.is_usable &= *halves.entry(half).or_insert(at) == at;
        }
    }
    for block in &kernel.blocks {
        for instruction in &block.instructions {
            written_halves(instruction, &halves, |at, half| {
                let pair = &mut pairs[at];
                pair.is_usable &= instruction.guard.is_none();
                let other = if half == pair.low { pair.high } else { pair.low };
                pair.half_written = if pair.half_written == Some(other) { None } else { Some(half) };
            });
        }
        for pair in &mut pairs {
            pair.is_usable &= pair.half_written.take().is_none();
        }
    }
    for pair in pairs.iter_mut().filter(|pair| pair.is_usable) {
        pair.whole = kernel.register(Width::B64);
    }
    for block in &mut kernel.blocks {
        let mut copies = Copies::default();
        // What the registers were last written by in this block, where that was a half of a whole.
        let mut of_whole: HashMap<Reg, (Reg, u32)> = HashMap::new();
        let mut code = Vec::with_capacity(block.instructions.len());
        for mut instruction in std::mem::take(&mut block.instructions) {
            if let Op::Pack { d, low, high } = instruction.op
                && let (Some(low), Some(high)) = (copies.source(low), copies.source(high))
                && let Some(pair) = halves.get(&low).map(|&at| &pairs[at])
                && pair.is_usable
                && pair.half_written.is_none()
                && (pair.low, pair.high) == (low, high)
            {
                instruction.op = Op::Move { d, a: pair.whole.into() };
            }
            copies.after(&instruction);
            let mut wholes = Vec::new();
            written_halves(&instruction, &halves, |at, half| {
                of_whole.remove(&half);
                if let Op::Extract { a: Operand::Reg(whole), width: Width::B64, shift, .. } = instruction.op {
                    of_whole.insert(half, (whole, shift));
                }
                let pair = &mut pairs[at];
                let other = if half == pair.low { pair.high } else { pair.low };
                pair.half_written = if pair.half_written == Some(other) { None } else { Some(half) };
                if pair.is_usable && pair.half_written.is_none() {
                    let known = match (of_whole.get(&pair.low), of_whole.get(&pair.high)) {
                        (Some((one, 0)), Some((other, 32))) if one == other => Some(*one),
                        _ => None,
                    };
                    wholes.push(match known {
                        Some(whole) => Op::Move { d: pair.whole, a: whole.into() },
                        None => Op::Pack { d: pair.whole, low: pair.low.into(), high: pair.high.into() },
                    });
                }
            });
            let loc = instruction.loc;
            code.push(instruction);
            code.extend(wholes.into_iter().map(|op| Instruction { op, guard: None, loc }));
        }
        block.instructions = code;
    }
}

fn written_halves(instruction: &Instruction, halves: &HashMap<Reg, usize>, mut see: impl FnMut(usize, Reg)) {
    instruction.op.registers(|role, register| {
        if let (Role::Def, Some(&at)) = (role, halves.get(&register)) {
            see(at, register);
        }
    });
}

/// The pairs that are taken together anywhere.
fn found(kernel: &Kernel) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut known = HashSet::new();
    for block in &kernel.blocks {
        let mut copies = Copies::default();
        for instruction in &block.instructions {
            if let Op::Pack { low, high, .. } = instruction.op
                && let (Some(low), Some(high)) = (copies.source(low), copies.source(high))
                && low != high
                && [low, high].iter().all(|half| kernel.width(*half) == Width::B32)
                && known.insert((low, high))
            {
                pairs.push(Pair { low, high, whole: low, half_written: None, is_usable: true });
            }
            copies.after(instruction);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundonce_ir::{Block, Terminator};

    /// The code of a block after its pairs are joined. Registers 0 and 1 are wholes, 2 and 3 halves, 4 and 5 results.
    fn joined(ops: Vec<Op>) -> Vec<Op> {
        let mut kernel = Kernel::new("k");
        for width in [Width::B64, Width::B64, Width::B32, Width::B32, Width::B64, Width::B64] {
            kernel.register(width);
        }
        let instructions = ops.into_iter().map(|op| Instruction { op, guard: None, loc: 0 }).collect();
        kernel.blocks = vec![Block { instructions, terminator: Terminator::Exit, loc: 0 }];
        join(&mut kernel);
        kernel.blocks.remove(0).instructions.into_iter().map(|instruction| instruction.op).collect()
    }

    fn half(d: u32, whole: u32, shift: u32) -> Op {
        Op::Extract { d: Reg(d), a: Reg(whole).into(), width: Width::B64, shift }
    }
    fn pack(d: u32) -> Op {
        Op::Pack { d: Reg(d), low: Reg(2).into(), high: Reg(3).into() }
    }
    fn copy(d: u32, a: u32) -> Op {
        Op::Move { d: Reg(d), a: Reg(a).into() }
    }

    #[test]
    fn halves_of_one_number_are_that_number() {
        let code = joined(vec![half(2, 0, 0), half(3, 0, 32), pack(4)]);
        assert_eq!(code, [half(2, 0, 0), half(3, 0, 32), copy(6, 0), copy(4, 6)]);
    }

    #[test]
    fn halves_of_two_numbers_are_joined() {
        for (low, high) in [(half(2, 0, 0), half(3, 1, 32)), (half(2, 0, 32), half(3, 0, 32))] {
            let code = joined(vec![low.clone(), high.clone(), pack(4)]);
            assert_eq!(code, [low, high, pack(6), copy(4, 6)]);
        }
    }

    #[test]
    fn a_pair_whose_half_is_newer_is_taken_as_it_is() {
        let ops = vec![half(2, 0, 0), half(3, 0, 32), half(2, 1, 0), pack(4), half(3, 1, 32), pack(5)];
        let code = joined(ops);
        let whole = [half(2, 0, 0), half(3, 0, 32), copy(6, 0), half(2, 1, 0), pack(4), half(3, 1, 32), copy(6, 1)];
        assert_eq!(code, [&whole[..], &[copy(5, 6)]].concat());
    }
}
