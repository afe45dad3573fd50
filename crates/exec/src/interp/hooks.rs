//! What is observed of a run besides its results: counts, and the trace of one lane.
//!
//! Source instructions are counted and traced, not the operations that they were lowered to: the last operation of an
//! instruction stands for all of it.

use super::interpreter::Interpreter;
use super::trace::{Computed, Snapshot, TraceLine};
use crate::kernel::{DecodedBlock, DecodedInst};
use roundonce_ir::{Op, Operand, Reg, Role, Terminator, Width};

impl<'a> Interpreter<'a> {
    fn snapshot(&self, reg: Reg, lane: usize) -> Snapshot {
        let width = self.code.kernel.width(reg);
        Snapshot { reg, bits: self.files.lane(Operand::Reg(reg), width, lane, self.geometry), width: width.bits() }
    }

    /// Before an operation: what the traced lane reads.
    #[inline]
    pub(super) fn before(&mut self, inst: &DecodedInst<'a>) {
        if self.observers.is_some() {
            self.observe_before(inst);
        }
        if let Some(lane) = self.tracer.lane.filter(|&lane| self.active.mask.has(lane)) {
            self.record_operands(inst, lane);
        }
    }

    #[cold]
    fn record_operands(&mut self, inst: &DecodedInst<'a>, lane: usize) {
        if self.tracer.recorded.is_some_and(|op| core::ptr::eq(op, inst.op)) {
            return;
        }
        if self.tracer.loc != inst.loc {
            // The rest of the last instruction did not run: its guard was false.
            self.tracer.clear();
            self.tracer.loc = inst.loc;
        }
        self.tracer.recorded = Some(inst.op);
        if let Op::Float { operation, args, .. } = inst.op {
            let operand = |(index, &arg): (usize, &Operand)| {
                let width = Width::holding(operation.operand_format(index).width());
                self.files.lane(arg, width, lane, self.geometry) & width.mask()
            };
            let operands = args.iter().take(operation.op.arity()).enumerate().map(operand).collect();
            self.tracer.computed.push(Computed { operation: *operation, operands, result: 0 });
        }
        let earlier = self.tracer.operands.len();
        for reg in Self::registers_of(inst.op, Role::Use) {
            if let Some((_, read)) = self.tracer.written.iter_mut().find(|(snapshot, _)| snapshot.reg == reg) {
                *read = true;
            } else if !self.tracer.operands[..earlier].iter().any(|snapshot| snapshot.reg == reg) {
                let snapshot = self.snapshot(reg, lane);
                self.tracer.operands.push(snapshot);
            }
        }
    }

    /// After an operation that ran.
    #[inline]
    pub(super) fn after(&mut self, inst: &DecodedInst<'a>) {
        if self.observers.is_some() {
            self.observe_after(inst);
        }
        if inst.completes {
            self.count(inst.loc);
        }
        if let Some(lane) = self.tracer.lane.filter(|&lane| self.active.mask.has(lane)) {
            self.record_results(inst, lane);
        }
    }

    #[inline]
    fn count(&mut self, loc: u32) {
        self.stats.steps += self.active.count as u64;
        if self.config.count_lines {
            *self.stats.locs.entry(loc).or_default() += self.active.count as u64;
        }
    }

    #[cold]
    fn record_results(&mut self, inst: &DecodedInst<'a>, lane: usize) {
        if let Op::Float { d, .. } = inst.op {
            let result = self.snapshot(*d, lane).bits;
            self.tracer.computed.last_mut().into_iter().for_each(|computed| computed.result = result);
        }
        // A special register is an operand of the operation that reads it.
        if !matches!(inst.op, Op::Special { .. }) || inst.completes {
            for reg in Self::registers_of(inst.op, Role::Def) {
                let snapshot = self.snapshot(reg, lane);
                self.tracer.written.retain(|(earlier, _)| earlier.reg != reg);
                self.tracer.written.push((snapshot, false));
            }
        }
        if inst.completes {
            let operands = self.tracer.operands.iter().map(|snapshot| (snapshot.bits, snapshot.width)).collect();
            let results = self.tracer.written.iter().filter(|(_, read)| !read);
            let results = results.map(|(snapshot, _)| (snapshot.bits, snapshot.width)).collect();
            let computed = core::mem::take(&mut self.tracer.computed);
            self.emit(inst.loc, operands, results, computed);
            self.tracer.clear();
        }
    }

    fn emit(&mut self, loc: u32, operands: Vec<(u64, u32)>, results: Vec<(u64, u32)>, computed: Vec<Computed>) {
        let source = &self.code.kernel.source_locs[loc as usize];
        let (line, text) = (source.line, source.text.clone());
        self.stats.trace.push(TraceLine { loc, line, text, operands, results, computed });
    }

    /// At a block's end: a branch is an instruction too.
    #[inline]
    pub(super) fn leave(&mut self, block: &DecodedBlock<'a>) {
        if !block.ends_by_instruction {
            return;
        }
        self.count(block.loc);
        if let Some(lane) = self.tracer.lane.filter(|&lane| self.active.mask.has(lane)) {
            let operand = match block.terminator {
                Terminator::Branch { pred, .. } => Some(self.snapshot(*pred, lane)),
                &Terminator::Switch { index: Operand::Reg(index), .. } => Some(self.snapshot(index, lane)),
                _ => None,
            };
            let operands = operand.map(|snapshot| (snapshot.bits, snapshot.width)).into_iter().collect();
            self.emit(block.loc, operands, Vec::new(), Vec::new());
        }
    }
}
