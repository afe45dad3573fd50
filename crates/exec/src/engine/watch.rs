//! What is told about a run beside its results: counts, and the trace of one lane.
//!
//! The source's instructions are counted and told, not the operations that they became: the last operation of an
//! instruction stands for all of it.

use super::code::{Step, Steps};
use super::group::Machine;
use crate::launch::{Computed, TraceLine};
use roundonce_ir::{Op, Operand, Reg, Role, Terminator, Width};

/// The traced lane's instruction, as far as it has run.
#[derive(Default, Debug)]
pub(super) struct Traced<'a> {
    /// The lane in this group, where it is of this group.
    lane: Option<usize>,
    /// The place of the instruction.
    place: u32,
    /// The operation whose operands are noted last: one that waits is met again.
    noted: Option<&'a Op>,
    /// What the operations have read that none of them wrote.
    operands: Vec<Seen>,
    /// What they have written, and whether one has read it since: then it is nobody else's.
    written: Vec<(Seen, bool)>,
    /// The multiply-adds, the last one without its result until it has run.
    computed: Vec<Computed>,
}

/// A register's bits at the time, and how many.
#[derive(Clone, Copy, Debug)]
struct Seen {
    reg: Reg,
    bits: u64,
    width: u32,
}

impl Traced<'_> {
    pub(super) fn of(lane: Option<usize>) -> Self {
        Traced { lane, ..Traced::default() }
    }
    /// Whether the lane is of this group.
    pub(super) const fn is_here(&self) -> bool {
        self.lane.is_some()
    }
    fn clear(&mut self) {
        *self = Traced::of(self.lane);
    }
}

impl<'a> Machine<'a> {
    fn seen(&self, reg: Reg, lane: usize) -> Seen {
        let width = self.code.kernel.width(reg);
        Seen { reg, bits: self.files.lane(Operand::Reg(reg), width, lane, self.geometry), width: width.bits() }
    }

    /// Before an operation: what the traced lane reads.
    #[inline]
    pub(super) fn before(&mut self, step: &Step<'a>) {
        if let Some(lane) = self.traced.lane.filter(|&lane| self.active.mask.has(lane)) {
            self.note_operands(step, lane);
        }
    }

    #[cold]
    fn note_operands(&mut self, step: &Step<'a>, lane: usize) {
        if self.traced.noted.is_some_and(|op| core::ptr::eq(op, step.op)) {
            return;
        }
        if self.traced.place != step.place {
            // The rest of the last instruction did not run: its guard did not hold.
            self.traced.clear();
            self.traced.place = step.place;
        }
        self.traced.noted = Some(step.op);
        if let Op::Float { operation, args, .. } = step.op {
            let operand = |(index, &arg): (usize, &Operand)| {
                let width = Width::holding(operation.operand_format(index).width());
                self.files.lane(arg, width, lane, self.geometry) & width.mask()
            };
            let operands = args.iter().take(operation.op.arity()).enumerate().map(operand).collect();
            self.traced.computed.push(Computed { operation: *operation, operands, result: 0 });
        }
        let earlier = self.traced.operands.len();
        let mut read = Vec::new();
        step.op.registers(|role, reg| {
            if role == Role::Use {
                read.push(reg);
            }
        });
        for reg in read {
            if let Some((_, read)) = self.traced.written.iter_mut().find(|(seen, _)| seen.reg == reg) {
                *read = true;
            } else if !self.traced.operands[..earlier].iter().any(|seen| seen.reg == reg) {
                let seen = self.seen(reg, lane);
                self.traced.operands.push(seen);
            }
        }
    }

    /// After an operation that ran.
    #[inline]
    pub(super) fn after(&mut self, step: &Step<'a>) {
        if step.completes {
            self.count(step.place);
        }
        if let Some(lane) = self.traced.lane.filter(|&lane| self.active.mask.has(lane)) {
            self.note_results(step, lane);
        }
    }

    #[inline]
    fn count(&mut self, place: u32) {
        self.tally.steps += self.active.count as u64;
        if self.setup.count_lines {
            *self.tally.places.entry(place).or_default() += self.active.count as u64;
        }
    }

    #[cold]
    fn note_results(&mut self, step: &Step<'a>, lane: usize) {
        if let Op::Float { d, .. } = step.op {
            let result = self.seen(*d, lane).bits;
            self.traced.computed.last_mut().into_iter().for_each(|computed| computed.result = result);
        }
        // A special register is an operand of whatever reads it.
        if !matches!(step.op, Op::Special { .. }) || step.completes {
            let mut written = Vec::new();
            step.op.registers(|role, reg| {
                if role == Role::Def {
                    written.push(reg);
                }
            });
            for reg in written {
                let seen = self.seen(reg, lane);
                self.traced.written.retain(|(earlier, _)| earlier.reg != reg);
                self.traced.written.push((seen, false));
            }
        }
        if step.completes {
            let operands = self.traced.operands.iter().map(|seen| (seen.bits, seen.width)).collect();
            let results = self.traced.written.iter().filter(|(_, read)| !read);
            let results = results.map(|(seen, _)| (seen.bits, seen.width)).collect();
            let computed = core::mem::take(&mut self.traced.computed);
            self.tell(step.place, operands, results, computed);
            self.traced.clear();
        }
    }

    fn tell(&mut self, place: u32, operands: Vec<(u64, u32)>, results: Vec<(u64, u32)>, computed: Vec<Computed>) {
        let at = &self.code.kernel.source_locs[place as usize];
        let (line, text) = (at.line, at.text.clone());
        self.tally.trace.push(TraceLine { place, line, text, operands, results, computed });
    }

    /// At a block's end: a branch is an instruction too.
    #[inline]
    pub(super) fn leave(&mut self, block: &Steps<'a>) {
        if !block.ends_by_instruction {
            return;
        }
        self.count(block.place);
        if let Some(lane) = self.traced.lane.filter(|&lane| self.active.mask.has(lane)) {
            let operand = match block.terminator {
                Terminator::Branch { pred, .. } => Some(self.seen(*pred, lane)),
                &Terminator::Switch { index: Operand::Reg(index), .. } => Some(self.seen(index, lane)),
                _ => None,
            };
            let operands = operand.map(|seen| (seen.bits, seen.width)).into_iter().collect();
            self.tell(block.place, operands, Vec::new(), Vec::new());
        }
    }
}
