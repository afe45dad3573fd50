//! An evaluation carried out over many elements: what [`Evaluation::run`] does for one, block by block over batch
//! arithmetic.

use std::collections::BTreeMap;

use roundonce_arith::batch::{Batch, Source};
use roundonce_arith::{Format, Profile};
use roundonce_deviate::{Narrowing, Stages, Typed};

use super::Column;
use crate::call::Call;
use crate::evaluation::{Evaluation, carry_out};
use crate::plan::{Plan, Ref};

/// Elements of a block: its lanes stay in the first-level cache.
pub(crate) const BLOCK: usize = 1024;

/// An evaluation, its names bound to columns.
pub(crate) struct Runner<'a> {
    leaves: Vec<Bound<'a>>,
    /// The format of each slot.
    formats: Vec<Format>,
    ops: Vec<Op>,
    result: Format,
    flip: u64,
    /// The evaluation, where it is computed in the x87's format: one element after the other.
    on_x87: Option<(Evaluation, Narrowing)>,
    /// The lanes of every leaf and of every operation's result.
    slots: Vec<Vec<u64>>,
}

/// A name's column, or a literal's own value.
enum Bound<'a> {
    Named(&'a Column),
    Literal(Column),
}

impl Bound<'_> {
    fn column(&self) -> &Column {
        match self {
            Bound::Named(column) => column,
            Bound::Literal(column) => column,
        }
    }
}

struct Op {
    batch: Batch,
    stages: Stages,
    /// What is computed in the arithmetic's place.
    call: Option<Call>,
    /// The slot of each, and its format.
    operands: Vec<(usize, Format)>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(evaluation: &Evaluation, columns: &'a BTreeMap<String, Column>, profile: &Profile) -> Runner<'a> {
        let mut runner = Runner::of(&evaluation.plan, columns, |index| evaluation.stages(index, profile));
        if let Some(narrowing) = evaluation.on_x87() {
            // The sign is part of what is carried out there.
            (runner.result, runner.flip) = (evaluation.plan.format(), 0);
            runner.on_x87 = Some((evaluation.clone(), narrowing));
        }
        runner
    }

    /// A plan, and how each of its operations is carried out.
    pub(crate) fn of(
        plan: &Plan,
        columns: &'a BTreeMap<String, Column>,
        stages: impl Fn(usize) -> Stages,
    ) -> Runner<'a> {
        let leaves = plan.leaves.iter().map(|(value, written)| match columns.get(written) {
            Some(column) => Bound::Named(column),
            None => Bound::Literal(Column::one(*value)),
        });
        let mut runner = Runner::of_leaves(leaves.collect());
        for (index, op) in plan.ops.iter().enumerate() {
            let slot = |operand: &Ref| match *operand {
                Ref::Leaf(leaf) => leaf,
                Ref::Op(earlier) => plan.leaves.len() + earlier,
            };
            let operands: Vec<usize> = op.operands.iter().map(slot).collect();
            runner.push(stages(index), op.call(), &operands);
        }
        runner.flip = if plan.negate_result { runner.result.sign_mask() } else { 0 };
        runner
    }

    fn of_leaves(leaves: Vec<Bound<'a>>) -> Runner<'a> {
        let formats: Vec<Format> = leaves.iter().map(|leaf| leaf.column().format).collect();
        let result = formats.last().copied().unwrap_or(Format::F32);
        Runner {
            slots: vec![Vec::new(); leaves.len()],
            leaves,
            formats,
            ops: Vec::new(),
            result,
            flip: 0,
            on_x87: None,
        }
    }

    fn push(&mut self, stages: Stages, call: Option<Call>, operands: &[usize]) {
        let operands = operands.iter().map(|&slot| (slot, self.formats[slot])).collect();
        self.result = stages.result_format();
        self.formats.push(self.result);
        self.slots.push(Vec::new());
        self.ops.push(Op { batch: Batch::new(stages.operation, &stages.profile), stages, call, operands });
    }

    /// The format of the results.
    pub(crate) fn format(&self) -> Format {
        self.result
    }

    /// The results at at most [`BLOCK`] elements.
    pub(crate) fn run(&mut self, elements: &[usize]) -> &[u64] {
        for (leaf, slot) in self.leaves.iter().zip(&mut self.slots) {
            leaf.column().gather(elements, slot);
        }
        match &self.on_x87 {
            Some((evaluation, narrowing)) => {
                let result = |at: usize| {
                    let leaf = |leaf: usize| Typed { format: self.formats[leaf], bits: self.slots[leaf][at] };
                    evaluation.run_on_x87(*narrowing, leaf, |_, _| ()).bits
                };
                let results: Vec<u64> = (0..elements.len()).map(result).collect();
                if let Some(out) = self.slots.last_mut() {
                    *out = results;
                }
            }
            None => self.run_operations(elements.len()),
        }
        let Some(out) = self.slots.last_mut() else { return &[] };
        if self.flip != 0 {
            out.iter_mut().for_each(|bits| *bits ^= self.flip);
        }
        out
    }

    /// Carries the operations out, on lanes of so many elements.
    fn run_operations(&mut self, elements: usize) {
        let mut widened: [Vec<u64>; 3] = Default::default();
        for (index, op) in self.ops.iter().enumerate() {
            let (before, from) = self.slots.split_at_mut(self.leaves.len() + index);
            let out = &mut from[0];
            out.resize(elements, 0);
            let stages = &op.stages;
            if op.call.is_some() || !stages.needs_no_flags() {
                let value = |&(slot, format): &(usize, Format), at: usize| Typed { format, bits: before[slot][at] };
                let mut operands = [Typed { format: stages.operation.format, bits: 0 }; 3];
                for (at, bits) in out.iter_mut().enumerate() {
                    for (to, operand) in operands.iter_mut().zip(&op.operands) {
                        *to = value(operand, at);
                    }
                    *bits = carry_out(stages, op.call, &operands[..op.operands.len()], 0, false).value().bits;
                }
                continue;
            }
            for (index, (&(slot, format), wide)) in op.operands.iter().zip(&mut widened).enumerate() {
                wide.clear();
                if stages.takes_operands_as_they_are() && format == stages.operation.operand_format(index) {
                    wide.extend_from_slice(&before[slot]);
                } else {
                    wide.extend(before[slot].iter().map(|&bits| stages.operand(index, Typed { format, bits })));
                }
            }
            run_lanes(&op.batch, &widened[..op.operands.len()], out);
            if stages.has_finish() {
                out.iter_mut().for_each(|bits| *bits = stages.finish(*bits));
            }
        }
    }
}

/// The operation in lanes of its own width, where the fast kernels are.
fn run_lanes(batch: &Batch, operands: &[Vec<u64>], out: &mut [u64]) {
    match batch.operation().format.width() {
        16 => narrow::<u16>(batch, operands, out, |bits| bits as u16),
        32 => narrow::<u32>(batch, operands, out, |bits| bits as u32),
        _ => {
            let sources: Vec<Source<'_, u64>> = operands.iter().map(|lanes| Source::Slice(lanes)).collect();
            batch.run(&sources, out);
        }
    }
}

fn narrow<T: roundonce_arith::batch::Lane + Into<u64>>(
    batch: &Batch,
    operands: &[Vec<u64>],
    out: &mut [u64],
    cut: impl Fn(u64) -> T,
) {
    let narrow: Vec<Vec<T>> = operands.iter().map(|lanes| lanes.iter().map(|&bits| cut(bits)).collect()).collect();
    let sources: Vec<Source<'_, T>> = narrow.iter().map(|lanes| Source::Slice(lanes)).collect();
    let mut results = vec![T::default(); out.len()];
    batch.run(&sources, &mut results);
    for (slot, result) in out.iter_mut().zip(results) {
        *slot = result.into();
    }
}
