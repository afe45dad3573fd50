//! A way carried out over many elements: what [`Way::run`] does for one, block by block over batch arithmetic.

use std::collections::BTreeMap;

use roundonce_arith::batch::{Batch, Source};
use roundonce_arith::{Format, Operation, Profile, Rounding};
use roundonce_isa::convert;

use super::Column;
use crate::plan::{Plan, Ref};
use crate::way::Way;

/// Elements of a block: its lanes stay in the first-level cache.
pub(crate) const BLOCK: usize = 1024;

/// A way, its names bound to columns.
pub(crate) struct Runner<'a> {
    leaves: Vec<Bound<'a>>,
    /// The format of each slot.
    formats: Vec<Format>,
    ops: Vec<Op>,
    result: Format,
    flip: u64,
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
    /// The slot of each, its format, and the format that the operation takes.
    operands: Vec<(usize, Format, Format)>,
    /// The result rounded again to the expression's type.
    narrow: Option<(Format, Rounding)>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(way: &Way, columns: &'a BTreeMap<String, Column>, profile: &Profile) -> Runner<'a> {
        Runner::of(&way.plan, columns, profile, |index| {
            let narrow = way.narrows(index).then_some((way.plan.ops[index].format, way.rounding));
            (way.operation(index), narrow)
        })
    }

    /// A plan, and what each of its operations does: its result may be rounded again.
    pub(crate) fn of(
        plan: &Plan,
        columns: &'a BTreeMap<String, Column>,
        profile: &Profile,
        operation: impl Fn(usize) -> (Operation, Option<(Format, Rounding)>),
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
            let (operation, narrow) = operation(index);
            runner.push(operation, &operands, narrow, profile);
        }
        runner.flip = if plan.negate_result { runner.result.sign_mask() } else { 0 };
        runner
    }

    fn of_leaves(leaves: Vec<Bound<'a>>) -> Runner<'a> {
        let formats: Vec<Format> = leaves.iter().map(|leaf| leaf.column().format).collect();
        let result = formats.last().copied().unwrap_or(Format::F32);
        Runner { slots: vec![Vec::new(); leaves.len()], leaves, formats, ops: Vec::new(), result, flip: 0 }
    }

    fn push(
        &mut self,
        operation: Operation,
        operands: &[usize],
        narrow: Option<(Format, Rounding)>,
        profile: &Profile,
    ) {
        let operand = |(index, &slot): (usize, &usize)| (slot, self.formats[slot], operation.operand_format(index));
        let operands = operands.iter().enumerate().map(operand).collect();
        self.result = narrow.map_or(operation.format, |(format, _)| format);
        self.formats.push(self.result);
        self.slots.push(Vec::new());
        self.ops.push(Op { batch: Batch::new(operation, profile), operands, narrow });
    }

    /// The format of the results.
    pub(crate) fn format(&self) -> Format {
        self.result
    }

    /// The results at at most [`BLOCK`] elements.
    pub(crate) fn run(&mut self, elements: &[usize]) -> &[u64] {
        let mut widened: [Vec<u64>; 3] = Default::default();
        for (leaf, slot) in self.leaves.iter().zip(&mut self.slots) {
            leaf.column().gather(elements, slot);
        }
        for (index, op) in self.ops.iter().enumerate() {
            let (before, from) = self.slots.split_at_mut(self.leaves.len() + index);
            let to = op.batch.operation().format;
            for (&(slot, from, to), wide) in op.operands.iter().zip(&mut widened) {
                wide.clear();
                if from == to {
                    wide.extend_from_slice(&before[slot]);
                } else {
                    wide.extend(before[slot].iter().map(|&bits| convert(from, to, Rounding::NearestEven, bits).0));
                }
            }
            let out = &mut from[0];
            out.resize(elements.len(), 0);
            run_lanes(&op.batch, &widened[..op.operands.len()], out);
            if let Some((format, rounding)) = op.narrow {
                out.iter_mut().for_each(|bits| *bits = convert(to, format, rounding, *bits).0);
            }
        }
        let Some(out) = self.slots.last_mut() else { return &[] };
        if self.flip != 0 {
            out.iter_mut().for_each(|bits| *bits ^= self.flip);
        }
        out
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
