//! What lanes hold that wait while others run.
//!
//! Where lanes part, those at the node of the lowest rank run, and the others wait where they are, as fragments do in the
//! interpreter. A register that has one place for the whole tile must not be written while somebody waits who will read
//! it; and a place must not be given to a second register then.

use super::alloc::{has, live_at};
use super::region::{Exit, Next, Region, Target};
use crate::kernel::DecodedKernel;
use roundonce_ir::Reg;

/// By node: the registers that waiting lanes may read later, a bit each.
#[derive(Clone, Debug)]
pub(super) struct Waiting(Vec<Vec<u64>>);

impl Waiting {
    /// Of a region whose branches by these predicates part lanes.
    pub(super) fn of(code: &DecodedKernel<'_>, region: &Region, parts: impl Fn(Reg) -> bool) -> Waiting {
        let (nodes, exits) = (region.nodes.len(), region.exits.len());
        let number = |target: Target| match target {
            Target::Node(node) => node,
            Target::Exit(exit) => nodes + exit,
        };
        let words = (nodes + exits).div_ceil(64);
        // Where lanes may come from each place on.
        let reached: Vec<Vec<u64>> = (0..nodes + exits)
            .map(|from| {
                let mut reached = vec![0; words];
                let mut todo = vec![from];
                while let Some(place) = todo.pop() {
                    if reached[place / 64] >> (place % 64) & 1 == 1 {
                        continue;
                    }
                    reached[place / 64] |= 1 << (place % 64);
                    let targets = region.nodes.get(place).map_or([None; 2], |node| node.next.targets());
                    todo.extend(targets.into_iter().flatten().map(number));
                }
                reached
            })
            .collect();
        // Where others may wait while lanes run a node.
        let mut others = vec![vec![0; words]; nodes];
        for node in &region.nodes {
            let Next::Branch { pred, then, otherwise, .. } = node.next else { continue };
            if then == otherwise || !parts(pred) {
                continue;
            }
            for (one, other) in [(then, otherwise), (otherwise, then)] {
                for (place, others) in others.iter_mut().enumerate() {
                    if reached[number(one)][place / 64] >> (place % 64) & 1 == 1 {
                        others.iter_mut().zip(&reached[number(other)]).for_each(|(all, more)| *all |= more);
                    }
                }
            }
        }
        let live: Vec<Vec<u64>> = region
            .nodes
            .iter()
            .map(|node| live_at(code, Exit::At(node.start)))
            .chain(region.exits.iter().map(|&exit| live_at(code, exit)))
            .collect();
        let registers = code.kernel.registers.len().div_ceil(64);
        let of_node = |(node, others): (usize, &Vec<u64>)| {
            let mut all = vec![0; registers];
            // Nobody waits at a node of lower rank.
            for place in node + 1..nodes + exits {
                if others[place / 64] >> (place % 64) & 1 == 1 {
                    all.iter_mut().zip(&live[place]).for_each(|(all, more)| *all |= more);
                }
            }
            all
        };
        Waiting(others.iter().enumerate().map(of_node).collect())
    }

    /// Nobody ever waits.
    pub(super) fn nobody(code: &DecodedKernel<'_>, region: &Region) -> Waiting {
        Waiting(vec![vec![0; code.kernel.registers.len().div_ceil(64)]; region.nodes.len()])
    }

    /// Whether somebody may wait with this register while a node runs.
    pub(super) fn keeps(&self, node: usize, reg: Reg) -> bool {
        has(&self.0[node], reg)
    }
}
