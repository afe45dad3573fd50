//! Memory that arithmetic reads and writes where it is: lanes that were loaded for one sum alone are not copied into a
//! register, and a sum that is only stored goes to memory at once.
//!
//! Decoding finds the candidates (`is_foldable_load` and `fused_store` of a decoded instruction); each execution checks
//! that all live lanes are active and contiguous in one buffer.

use super::access::AddressPattern;
use super::interpreter::{FoldedLoad, Interpreter};
use super::register::LaneShape;
use crate::kernel::{DecodedInst, SegmentWords, WordsView};
use roundonce_arith::batch::{Batch, Source};
use roundonce_ir::{Op, Operand, Reg, Space};

impl<'a> Interpreter<'a> {
    /// Whether values may stay out of the registers: all live lanes are active, and none is observed.
    fn can_bypass_registers(&self) -> bool {
        self.active.full && self.splits.is_empty() && !self.tracer.is_active() && self.observers.is_none()
    }

    /// Folds a load into its only use, if possible: its lanes stay in memory.
    pub(super) fn fold_load(&mut self, reg: Reg, segment: usize, start: usize) -> bool {
        if !self.can_bypass_registers() || matches!(self.global.words[segment].view(), WordsView::Atomics(_)) {
            return false;
        }
        self.files.b32.kill(reg);
        self.files.b32.registers[reg.0 as usize].shape = LaneShape::Varying;
        self.folded.push(FoldedLoad { reg, segment, start });
        true
    }

    pub(super) fn folded(&self, operand: Operand) -> Option<FoldedLoad> {
        match operand {
            Operand::Reg(reg) => self.folded.iter().copied().find(|folded| folded.reg == reg),
            Operand::Imm(_) => None,
        }
    }

    /// An operation of which some operands may be folded loads.
    pub(super) fn float_folded(&mut self, inst: &DecodedInst<'a>, batch: &Batch, d: Reg, args: &[Operand]) {
        let (low, high) = (self.active.low, self.active.high);
        let (mut reused, mut out) = (None, None);
        if self.can_bypass_registers() {
            // An operand that is overwritten, or whose last use this is, gives its column to the result.
            let last_use = |&arg: &Operand| match arg {
                Operand::Reg(reg) if reg == d || inst.is_last_use(reg) => {
                    let register = &mut self.files.b32.registers[reg.0 as usize];
                    let once = args.iter().filter(|&&other| other == arg).count() == 1;
                    register.column.take_if(|_| register.shape == LaneShape::Varying && once)
                }
                _ => None,
            };
            (reused, out) = args.iter().map(last_use).enumerate().find(|(_, column)| column.is_some()).unzip();
        }
        let mut out = out.flatten().unwrap_or_else(|| self.files.b32.acquire());
        let mut sources = [Source::Out; 3];
        for (at, (source, &arg)) in sources.iter_mut().zip(args).enumerate() {
            *source = match self.folded(arg) {
                _ if reused == Some(at) => Source::Out,
                Some(folded) => lanes_of(&self.global.words[folded.segment], folded.start + low, folded.start + high),
                None => self.files.b32.source(arg, low, high),
            };
        }
        batch.run(&sources[..args.len()], &mut out.0[low..high]);
        self.release_folded(args);
        self.set_column(d, out);
    }

    /// Forgets the folded loads that an operation has used: it was their only use.
    fn release_folded(&mut self, args: &[Operand]) {
        for &arg in args {
            if let Some(folded) = self.folded(arg) {
                self.files.b32.kill(folded.reg);
                self.folded.retain(|other| other.reg != folded.reg);
            }
        }
    }

    /// The operation and its fused store: the result goes directly to memory. False if that is not possible.
    pub(super) fn float_store_fused(&mut self, inst: &DecodedInst<'a>, batch: &Batch, args: &[Operand]) -> bool {
        let Some(Op::Store { address, offset, space, .. }) = inst.fused_store else { return false };
        let lanes = self.geometry.lanes;
        if !self.can_bypass_registers() || self.active.count != lanes {
            return false;
        }
        let Some((segment, start)) = self.contiguous_words(*address, *offset, *space) else { return false };
        // The stored words may be an operand; other words of the same buffer may not.
        let aliases =
            |arg: &Operand| self.folded(*arg).is_some_and(|folded| folded.segment == segment && folded.start != start);
        if args.iter().any(aliases) {
            return false;
        }
        let SegmentWords::Exclusive(_) = &self.global.words[segment] else { return false };
        let SegmentWords::Exclusive(words) =
            std::mem::replace(&mut self.global.words[segment], SegmentWords::ReadOnly(&[]))
        else {
            return false;
        };
        let mut sources = [Source::Out; 3];
        for (source, &arg) in sources.iter_mut().zip(args) {
            *source = match self.folded(arg) {
                Some(folded) if folded.segment == segment => Source::Out,
                Some(folded) => lanes_of(&self.global.words[folded.segment], folded.start, folded.start + lanes),
                None => self.files.b32.source(arg, 0, lanes),
            };
        }
        batch.run(&sources[..args.len()], &mut words[start..start + lanes]);
        self.global.words[segment] = SegmentWords::Exclusive(words);
        self.release_folded(args);
        true
    }

    /// The segment and the index of the first word, if the addresses of all lanes are contiguous words that may be written.
    fn contiguous_words(&mut self, address: Operand, offset: i64, space: Space) -> Option<(usize, usize)> {
        let AddressPattern::Affine(4) = self.address_pattern(address, offset) else { return None };
        let row = 4 * self.geometry.row as u64;
        let joined = self.addresses.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == row);
        let (space, first) = Self::resolve(space, *self.addresses.first()?);
        if !joined || space != Space::Global || first % 4 != 0 {
            return None;
        }
        let (segment, offset) = self.global.locate(first, 4 * self.geometry.lanes as u64)?;
        self.global.layout.segments[segment].is_writable().then_some((segment, offset as usize / 4))
    }
}

fn lanes_of<'w>(words: &'w SegmentWords<'_>, from: usize, to: usize) -> Source<'w, u32> {
    match words.view() {
        WordsView::Slice(words) => Source::Slice(&words[from..to]),
        WordsView::Atomics(_) => Source::Uniform(0),
    }
}
