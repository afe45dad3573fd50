//! Liveness of the registers of inactive lanes.
//!
//! After a divergent branch the lanes at the node of the lowest index run; the others are inactive at their nodes, as
//! warp splits are in the interpreter. A register that is stored once for the whole tile must not be written while an
//! inactive lane may still read it, and its location must not be given to a second register meanwhile.

use super::budget::Budget;
use super::region::{Next, ProgramPoint, Region, Target, is_live};
use crate::kernel::DecodedKernel;
use roundonce_ir::Reg;
use std::collections::HashMap;

/// For each node the registers that inactive lanes may read later, one bit each.
#[derive(Clone, Debug)]
pub(super) struct InactiveLiveness(Vec<Vec<u64>>);

impl InactiveLiveness {
    /// Computes it for a region; `diverges` says whether a branch on a predicate may be divergent.
    pub(super) fn compute(
        code: &DecodedKernel<'_>,
        region: &Region,
        diverges: impl Fn(Reg) -> bool,
        budget: &Budget,
    ) -> Option<InactiveLiveness> {
        let (nodes, exits) = (region.nodes.len(), region.exits.len());
        let index = |target: Target| match target {
            Target::Node(node) => node,
            Target::Exit(exit) => nodes + exit,
        };
        let words = (nodes + exits).div_ceil(64);
        let registers = code.kernel.registers.len().div_ceil(64);
        // A search from every node, and for every node the sets of all that others may wait at.
        budget.spend((nodes + exits) * (4 * (nodes + exits) + words * nodes / 8 + registers * nodes / 8))?;
        // What each node can reach.
        let reached: Vec<Vec<u64>> = (0..nodes + exits)
            .map(|from| {
                let mut reached = vec![0; words];
                let mut todo = vec![from];
                while let Some(point) = todo.pop() {
                    if reached[point / 64] >> (point % 64) & 1 == 1 {
                        continue;
                    }
                    reached[point / 64] |= 1 << (point % 64);
                    let node = region.nodes.get(point).into_iter();
                    todo.extend(node.flat_map(|node| region.targets(node.next)).map(index));
                }
                reached
            })
            .collect();
        // Where other lanes may be inactive while a node runs.
        let mut others = vec![vec![0; words]; nodes];
        for node in &region.nodes {
            let Next::Branch { pred, then, otherwise, .. } = node.next else { continue };
            if then == otherwise || !diverges(pred) {
                continue;
            }
            for (one, other) in [(then, otherwise), (otherwise, then)] {
                for (point, others) in others.iter_mut().enumerate() {
                    if reached[index(one)][point / 64] >> (point % 64) & 1 == 1 {
                        others.iter_mut().zip(&reached[index(other)]).for_each(|(all, more)| *all |= more);
                    }
                }
            }
        }
        let of_node = |(node, others): (usize, &Vec<u64>)| {
            let mut all = vec![0; registers];
            // The lowest node runs first: no lane is inactive at a lower one.
            for point in node + 1..nodes + exits {
                if others[point / 64] >> (point % 64) & 1 == 1 {
                    all.iter_mut().zip(&region.live[point]).for_each(|(all, more)| *all |= more);
                }
            }
            all
        };
        Some(InactiveLiveness(others.iter().enumerate().map(of_node).collect()))
    }

    /// Those that do not pass a detour's block are inactive while it runs: they wait where it ends, which may be at a lower node, a loop's head.
    pub(super) fn of_detours(
        code: &DecodedKernel<'_>,
        region: &Region,
        diverges: impl Fn(Reg) -> bool,
    ) -> InactiveLiveness {
        let mut live = vec![vec![0; code.kernel.registers.len().div_ceil(64)]; region.nodes.len()];
        let starts: HashMap<ProgramPoint, usize> =
            region.nodes.iter().enumerate().map(|(index, node)| (node.start, index)).collect();
        for node in &region.nodes {
            let Next::Branch { pred, then, otherwise, detour: Some(detour), .. } = node.next else { continue };
            if !diverges(pred) {
                continue;
            }
            for side in detour.sides.into_iter().flatten() {
                let other = if side.expected { otherwise } else { then };
                let others = [other, detour.to].map(|target| region.live_at(target));
                for block in detour.blocks(code, side) {
                    let Some(&index) = starts.get(&ProgramPoint { block, at: 0 }) else { continue };
                    for more in others {
                        live[index].iter_mut().zip(more).for_each(|(all, more)| *all |= more);
                    }
                }
            }
        }
        InactiveLiveness(live)
    }

    /// With all that inactive lanes may read by another analysis of the region.
    pub(super) fn join(&mut self, other: &InactiveLiveness) {
        for (all, more) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *all |= more;
        }
    }

    /// The registers that an inactive lane may still read while a node runs, a bit each.
    pub(super) fn live(&self, node: usize) -> &[u64] {
        &self.0[node]
    }

    /// Whether this register is one of them.
    pub(super) fn is_live(&self, node: usize, reg: Reg) -> bool {
        is_live(&self.0[node], reg)
    }
}
