//! What stays open of a kernel's bits although every instruction has its counterpart, and how it is decided.

use std::collections::BTreeSet;

use roundonce_ir::{Kernel, Position, candidates, contract, unrolled_candidates};
use roundonce_isa::{Finding, counted};

use super::location;
use crate::rules::CONTRACTION;

/// Decides what the source leaves open of products that sums take: each is rounded, or with `fuse` those are fused that
/// NVIDIA's assembler fuses in what is written (docs/contraction.md). The finding says so where there is anything to decide.
pub fn decide_contraction(kernel: &mut Kernel, fuse: bool) -> Option<Finding> {
    let as_written = candidates(kernel);
    let unrolled = unrolled_candidates(kernel, &as_written);
    let sums: BTreeSet<Position> = as_written.iter().chain(&unrolled).map(|candidate| candidate.sum).collect();
    let first = sums.first()?;
    let place = location(kernel, kernel.blocks[first.block].instructions[first.index].loc);
    let may = format!("{} may take a product that is not rounded", counted(sums.len() as u64, "sum"));
    let message = if fuse {
        let fused = contract(kernel).len();
        format!("{may}, as the source has it; fused here, as NVIDIA's assembler fuses: {fused}")
    } else {
        format!("{may}, as the source has it; here every product is rounded, where `--contract none` stands")
    };
    Some(CONTRACTION.finding(place, message))
}
