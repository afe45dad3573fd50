//! Memory that arithmetic reads and writes where it is: lanes that were loaded for one sum alone are not copied into a
//! register, and a sum that is only stored goes to memory at once.
//!
//! Which steps these are is found once ([`Step::lends`](super::code::Step), [`Step::stores`](super::code::Step));
//! whether it can be done is asked each time: all lanes must be at work, side by side in one buffer.

use super::access::Pattern;
use super::code::Step;
use super::group::Machine;
use super::lanes::Shape;
use crate::memory::{Plain, Words};
use roundonce_arith::batch::{Batch, Source};
use roundonce_ir::{Op, Operand, Reg, Space, Width};

/// A register whose lanes are still in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lent {
    reg: Reg,
    segment: usize,
    /// The first lane's word.
    start: usize,
}

impl<'a> Machine<'a> {
    /// All lanes that live are at work, and nobody asks what a register holds.
    fn is_undisturbed(&self) -> bool {
        self.active.full && self.fragments.is_empty() && !self.traced.is_here()
    }

    /// Leaves a loaded register's lanes where they are, if that can be.
    pub(super) fn lend(&mut self, reg: Reg, segment: usize, start: usize) -> bool {
        if !self.is_undisturbed() || matches!(self.global.words[segment].plain(), Plain::Atomics(_)) {
            return false;
        }
        self.files.b32.kill(reg);
        self.files.b32.cells[reg.0 as usize].shape = Shape::Lanes;
        self.lent.push(Lent { reg, segment, start });
        true
    }

    pub(super) fn lent(&self, operand: Operand) -> Option<Lent> {
        match operand {
            Operand::Reg(reg) => self.lent.iter().copied().find(|lent| lent.reg == reg),
            Operand::Imm(_) => None,
        }
    }

    /// An operation on lanes of which some may be lent.
    pub(super) fn float_lent(&mut self, step: &Step<'a>, batch: &Batch, d: Reg, args: &[Operand]) {
        let (low, high) = (self.active.low, self.active.high);
        let (mut given, mut out) = (None, None);
        if self.is_undisturbed() {
            // An operand that is overwritten or read for the last time gives its column to the result.
            let ends = |&arg: &Operand| match arg {
                Operand::Reg(reg) if reg == d || step.is_last_use(reg) => {
                    let cell = &mut self.files.b32.cells[reg.0 as usize];
                    let once = args.iter().filter(|&&other| other == arg).count() == 1;
                    cell.column.take_if(|_| cell.shape == Shape::Lanes && once)
                }
                _ => None,
            };
            (given, out) = args.iter().map(ends).enumerate().find(|(_, column)| column.is_some()).unzip();
        }
        let mut out = out.flatten().unwrap_or_else(|| self.files.b32.take());
        let mut sources = [Source::Out; 3];
        for (at, (source, &arg)) in sources.iter_mut().zip(args).enumerate() {
            *source = match self.lent(arg) {
                _ if given == Some(at) => Source::Out,
                Some(lent) => lanes_of(&self.global.words[lent.segment], lent.start + low, lent.start + high),
                None => self.files.b32.source(arg, low, high),
            };
        }
        batch.run(&sources[..args.len()], &mut out.0[low..high]);
        self.returned(args);
        self.set_column(d, out);
    }

    /// What was lent to an operation is no longer: nobody else reads it.
    fn returned(&mut self, args: &[Operand]) {
        for &arg in args {
            if let Some(lent) = self.lent(arg) {
                self.files.b32.kill(lent.reg);
                self.lent.retain(|other| other.reg != lent.reg);
            }
        }
    }

    /// The operation, its result stored by the next step: straight to memory. False where that cannot be.
    pub(super) fn float_stored(&mut self, step: &Step<'a>, batch: &Batch, args: &[Operand]) -> bool {
        let Some(Op::Store { address, offset, space, .. }) = step.stores else { return false };
        let lanes = self.geometry.lanes;
        if !self.is_undisturbed() || self.active.count != lanes {
            return false;
        }
        let Some((segment, start)) = self.side_by_side(*address, *offset, *space) else { return false };
        // The same words may be an operand, others of the same buffer not.
        let clashes =
            |arg: &Operand| self.lent(*arg).is_some_and(|lent| lent.segment == segment && lent.start != start);
        if args.iter().any(clashes) {
            return false;
        }
        let Words::Own(_) = &self.global.words[segment] else { return false };
        let Words::Own(words) = std::mem::replace(&mut self.global.words[segment], Words::Read(&[])) else {
            return false;
        };
        let mut sources = [Source::Out; 3];
        for (source, &arg) in sources.iter_mut().zip(args) {
            *source = match self.lent(arg) {
                Some(lent) if lent.segment == segment => Source::Out,
                Some(lent) => lanes_of(&self.global.words[lent.segment], lent.start, lent.start + lanes),
                None => self.files.b32.source(arg, 0, lanes),
            };
        }
        batch.run(&sources[..args.len()], &mut words[start..start + lanes]);
        self.global.words[segment] = Words::Own(words);
        self.returned(args);
        true
    }

    /// The segment and the first word of addresses that step by 4 bytes through all lanes, where all may be written.
    fn side_by_side(&mut self, address: Operand, offset: i64, space: Space) -> Option<(usize, usize)> {
        let Pattern::Rows(4) = self.pattern(address, offset) else { return None };
        let row = 4 * self.geometry.row as u64;
        let joined = self.addresses.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == row);
        let (space, first) = Self::resolve(space, *self.addresses.first()?);
        if !joined || space != Space::Global || first % 4 != 0 {
            return None;
        }
        let (segment, offset) = self.global.locate(first, 4 * self.geometry.lanes as u64)?;
        self.global.layout.segments[segment].writable.then_some((segment, offset as usize / 4))
    }
}

fn lanes_of<'w>(words: &'w Words<'_>, from: usize, to: usize) -> Source<'w, u32> {
    match words.plain() {
        Plain::Slice(words) => Source::Slice(&words[from..to]),
        Plain::Atomics(_) => Source::Uniform(0),
    }
}

/// Whether lanes of single precision are computed, so that memory can stand for them.
pub(super) fn is_single(op: &Op) -> bool {
    match op {
        Op::Float { operation, .. } => {
            let width = |format: roundonce_arith::Format| Width::holding(format.width());
            (width(operation.format), width(operation.source_format)) == (Width::B32, Width::B32)
        }
        _ => false,
    }
}
