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

struct Pairs {
    all: Vec<Pair>,
    /// By half, its pair.
    halves: HashMap<Reg, usize>,
}

impl Pairs {
    /// The pairs that are taken together anywhere, and have a register each where that can hold them.
    fn of(kernel: &mut Kernel) -> Pairs {
        let mut all = found(kernel);
        let mut halves: HashMap<Reg, usize> = HashMap::new();
        for (at, pair) in all.iter_mut().enumerate() {
            for half in [pair.low, pair.high] {
                pair.is_usable &= *halves.entry(half).or_insert(at) == at;
            }
        }
        let mut pairs = Pairs { all, halves };
        for block in &kernel.blocks {
            for instruction in &block.instructions {
                pairs.written(&instruction.op, |pair, _, _| pair.is_usable &= instruction.guard.is_none());
            }
            for pair in &mut pairs.all {
                pair.is_usable &= pair.half_written.take().is_none();
            }
        }
        for pair in pairs.all.iter_mut().filter(|pair| pair.is_usable) {
            pair.whole = kernel.register(Width::B64);
        }
        pairs
    }

    /// Calls `see` with each pair of which an operation writes a half, that half, and whether both are of one number then.
    fn written(&mut self, op: &Op, mut see: impl FnMut(&mut Pair, Reg, bool)) {
        op.registers(|role, half| {
            if let (Role::Def, Some(&at)) = (role, self.halves.get(&half)) {
                let pair = &mut self.all[at];
                let other = if half == pair.low { pair.high } else { pair.low };
                pair.half_written = if pair.half_written == Some(other) { None } else { Some(half) };
                see(pair, half, pair.half_written.is_none());
            }
        });
    }

    /// The pair of two halves, if it has a register.
    fn usable(&self, low: Reg, high: Reg) -> Option<&Pair> {
        let pair = &self.all[*self.halves.get(&low)?];
        (pair.is_usable && (pair.low, pair.high) == (low, high)).then_some(pair)
    }

    /// The register of a pair that is read.
    fn whole(&self, low: Operand, high: Operand) -> Option<Reg> {
        let (Operand::Reg(low), Operand::Reg(high)) = (low, high) else { return None };
        self.usable(low, high).filter(|pair| pair.half_written.is_none()).map(|pair| pair.whole)
    }

    /// Takes the pairs that an operation reads as numbers of 64 bits.
    fn read(&self, op: &mut Op) {
        match op {
            Op::Pack { d, low, high } => {
                if let Some(whole) = self.whole(*low, *high) {
                    *op = Op::Move { d: *d, a: whole.into() };
                }
            }
            Op::Store { values, width, bytes, .. } if *bytes == 4 && values.len().is_multiple_of(2) => {
                let wholes = values.chunks_exact(2).map(|pair| self.whole(pair[0], pair[1]).map(Operand::from));
                if let Some(wholes) = wholes.collect() {
                    (*values, *width, *bytes) = (wholes, Width::B64, 8);
                }
            }
            _ => {}
        }
    }

    /// Loads numbers of 64 bits where all that is loaded are pairs; the halves are to be computed from those.
    fn load(&self, instruction: &mut Instruction) -> Option<Vec<Op>> {
        let Instruction { op: Op::Load { d, bytes: bytes @ 4, .. }, guard: None, .. } = instruction else {
            return None;
        };
        let loaded = d.chunks(2).map(|pair| match *pair {
            [Some(low), Some(high)] => self.usable(low, high),
            _ => None,
        });
        let loaded: Vec<&Pair> = loaded.collect::<Option<_>>()?;
        *d = loaded.iter().map(|pair| Some(pair.whole)).collect();
        *bytes = 8;
        let half = |d, whole: Reg, shift| Op::Extract { d, a: whole.into(), width: Width::B64, shift };
        Some(loaded.iter().flat_map(|pair| [half(pair.low, pair.whole, 0), half(pair.high, pair.whole, 32)]).collect())
    }
}

/// Gives the pairs of a kernel a register each.
pub(super) fn join(kernel: &mut Kernel) {
    let mut pairs = Pairs::of(kernel);
    let kernel_widths = kernel.registers.clone();
    for block in &mut kernel.blocks {
        // What the registers were last written by in this block, where that was a half of a whole: that, which writing of
        // the whole it was, and the half's place in it.
        let mut of_whole: HashMap<Reg, (Reg, u32, u32)> = HashMap::new();
        let mut writes: HashMap<Reg, u32> = HashMap::new();
        let mut code = Vec::with_capacity(block.instructions.len());
        for mut instruction in std::mem::take(&mut block.instructions) {
            let mut more = Vec::new();
            pairs.read(&mut instruction.op);
            if let Some(halves) = pairs.load(&mut instruction) {
                for half in &halves {
                    pairs.written(half, |_, half, _| {
                        of_whole.remove(&half);
                    });
                }
                more = halves;
            } else {
                pairs.written(&instruction.op, |pair, half, is_whole| {
                    of_whole.remove(&half);
                    if let Op::Extract { a: Operand::Reg(whole), width: Width::B64, shift, .. } = instruction.op {
                        of_whole.insert(half, (whole, writes.get(&whole).copied().unwrap_or(0), shift));
                    }
                    if pair.is_usable && is_whole {
                        let known = match (of_whole.get(&pair.low), of_whole.get(&pair.high)) {
                            (Some((one, writing, 0)), Some((other, last, 32)))
                                if (one, writing) == (other, last)
                                    && *writing == writes.get(one).copied().unwrap_or(0) =>
                            {
                                Some(*one)
                            }
                            _ => None,
                        };
                        more.push(match known {
                            Some(whole) => Op::Move { d: pair.whole, a: whole.into() },
                            None => Op::Pack { d: pair.whole, low: pair.low.into(), high: pair.high.into() },
                        });
                    }
                });
            }
            instruction.op.registers(|role, register| {
                if role == Role::Def && kernel_widths[register.0 as usize] == Width::B64 {
                    *writes.entry(register).or_default() += 1;
                }
            });
            let loc = instruction.loc;
            code.push(instruction);
            code.extend(more.into_iter().map(|op| Instruction::new(op, loc)));
        }
        block.instructions = code;
    }
}

/// The pairs that are taken together anywhere, or only copied.
fn found(kernel: &Kernel) -> Vec<Pair> {
    let (mut pairs, mut known) = (Vec::new(), HashSet::new());
    let mut reads: HashMap<Reg, u32> = HashMap::new();
    let mut loaded = HashSet::new();
    let instructions = || kernel.blocks.iter().flat_map(|block| &block.instructions);
    for instruction in instructions() {
        instruction.op.registers(|role, register| {
            if role == Role::Use {
                *reads.entry(register).or_default() += 1;
            }
        });
        if let Op::Load { d, bytes: 4, .. } = &instruction.op {
            loaded.extend(d.chunks(2).filter_map(|pair| Some((*pair.first()?.as_ref()?, *pair.get(1)?.as_ref()?))));
        }
    }
    let mut add = |low: Reg, high: Reg| {
        let halves = low != high && [low, high].iter().all(|half| kernel.width(*half) == Width::B32);
        if halves && known.insert((low, high)) {
            pairs.push(Pair { low, high, whole: low, half_written: None, is_usable: true });
        }
    };
    for instruction in instructions() {
        match &instruction.op {
            &Op::Pack { low: Operand::Reg(low), high: Operand::Reg(high), .. } => add(low, high),
            Op::Store { values, bytes: 4, .. } => {
                for pair in values.chunks_exact(2) {
                    let [Operand::Reg(low), Operand::Reg(high)] = *pair else { continue };
                    if loaded.contains(&(low, high)) && [low, high].iter().all(|half| reads.get(half) == Some(&1)) {
                        add(low, high);
                    }
                }
            }
            _ => {}
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::simplify::tests::{after, copy};
    use super::*;
    use roundonce_ir::Space;

    /// The code of a block after its pairs are joined. Registers 0 and 1 are wholes, 2 and 3 halves, 4 and 5 results.
    fn joined(ops: Vec<Op>) -> Vec<Op> {
        let widths = [Width::B64, Width::B64, Width::B32, Width::B32, Width::B64, Width::B64];
        after(join, &widths, ops.into_iter().map(|op| (op, None)).collect())
    }

    fn half(d: u32, whole: u32, shift: u32) -> Op {
        Op::Extract { d: Reg(d), a: Reg(whole).into(), width: Width::B64, shift }
    }
    fn pack(d: u32) -> Op {
        Op::Pack { d: Reg(d), low: Reg(2).into(), high: Reg(3).into() }
    }
    #[test]
    fn halves_of_one_number_are_that_number() {
        let code = joined(vec![half(2, 0, 0), half(3, 0, 32), pack(4)]);
        assert_eq!(code, [half(2, 0, 0), half(3, 0, 32), copy(6, Reg(0)), copy(4, Reg(6))]);
    }

    #[test]
    fn halves_of_two_numbers_are_joined() {
        for (low, high) in [(half(2, 0, 0), half(3, 1, 32)), (half(2, 0, 32), half(3, 0, 32))] {
            let code = joined(vec![low.clone(), high.clone(), pack(4)]);
            assert_eq!(code, [low, high, pack(6), copy(4, Reg(6))]);
        }
    }

    #[test]
    fn a_pair_whose_half_is_newer_is_taken_as_it_is() {
        let ops = vec![half(2, 0, 0), half(3, 0, 32), half(2, 1, 0), pack(4), half(3, 1, 32), pack(5)];
        let code = joined(ops);
        let whole =
            [half(2, 0, 0), half(3, 0, 32), copy(6, Reg(0)), half(2, 1, 0), pack(4), half(3, 1, 32), copy(6, Reg(1))];
        assert_eq!(code, [&whole[..], &[copy(5, Reg(6))]].concat());
    }

    #[test]
    fn halves_of_a_whole_that_is_written_between_them_are_joined() {
        let again = copy(0, Reg(1));
        let code = joined(vec![half(2, 0, 0), again.clone(), half(3, 0, 32), pack(4)]);
        assert_eq!(code, [half(2, 0, 0), again, half(3, 0, 32), pack(6), copy(4, Reg(6))]);
    }

    /// A load of a pair that is taken together, and what is only copied.
    #[test]
    fn pairs_are_loaded_and_stored_whole() {
        let load = |d: &[u32], bytes| {
            let d = d.iter().map(|&d| Some(Reg(d))).collect();
            Op::Load { d, space: Space::Shared, bytes, signed: false, address: Operand::Imm(0), offset: 0 }
        };
        let store = |values: &[u32], width: Width| {
            let values = values.iter().map(|&value| Reg(value).into()).collect();
            let bytes = width.bits() / 8;
            Op::Store { values, width, space: Space::Shared, bytes, address: Operand::Imm(0), offset: 0 }
        };
        let halves = || [half(2, 6, 0), half(3, 6, 32)];
        let code = joined(vec![load(&[2, 3], 4), pack(4)]);
        assert_eq!(code, [&[load(&[6], 8)][..], &halves(), &[copy(4, Reg(6))]].concat());
        let code = joined(vec![load(&[2, 3], 4), store(&[2, 3], Width::B32)]);
        assert_eq!(code, [&[load(&[6], 8)][..], &halves(), &[store(&[6], Width::B64)]].concat());
        // Halves that are read alone are no pair.
        let alone = vec![load(&[2, 3], 4), half(2, 0, 0), store(&[2, 3], Width::B32), store(&[2], Width::B32)];
        assert_eq!(joined(alone.clone()), alone);
    }
}
