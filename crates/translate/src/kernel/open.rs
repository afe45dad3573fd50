//! What stays open of a kernel's bits although every instruction has its counterpart, and how it is decided.

use std::collections::BTreeSet;

use roundonce_arith::{Format, Profile};
use roundonce_ir::{AtomicKind, Kernel, Op, Position, Scalar, candidates, contract, unrolled_candidates};
use roundonce_isa::{Finding, Location, counted};

use super::location;
use crate::instruction::FLUSH;
use crate::instruction::text::NAN_BITS;
use crate::rules::{APPROXIMATION, CONTRACTION, MODES, NAN_RESULTS};

/// Decides what the source leaves open of products that sums take: each is rounded, or with `fuse` those are fused that
/// NVIDIA's assembler fuses in what is written (docs/contraction.md). The finding says so where there is anything to decide.
pub fn decide_contraction(kernel: &mut Kernel, fuse: bool) -> Option<Finding> {
    let as_written = candidates(kernel);
    let unrolled = unrolled_candidates(kernel, &as_written);
    let sums: BTreeSet<Position> = as_written.iter().chain(&unrolled).map(|candidate| candidate.sum).collect();
    let first = sums.first()?;
    let place = location(kernel, kernel.blocks[first.block].instructions[first.index].loc);
    let sums = counted(sums.len() as u64, "sum");
    let open = format!("the source leaves open whether products are rounded before {sums}");
    let message = if fuse {
        format!("{open}: here not before {}, as NVIDIA's assembler was seen to fuse", contract(kernel).len())
    } else {
        format!("{open}: here all are; `--contract fuse` fuses as NVIDIA's assembler was seen to")
    };
    Some(CONTRACTION.finding(place, message))
}

/// The first instruction of a kernel, read with a profile, whose NaNs PTX has otherwise.
pub fn nan_results(kernel: &Kernel, profile: &Profile) -> Option<Finding> {
    let differs = |format: Format| profile.nan_rule(format) != Profile::NVIDIA.nan_rule(format);
    let mut instructions = kernel.blocks.iter().flat_map(|block| &block.instructions);
    let first = instructions.find(|at| computed_format(&at.op).is_some_and(differs))?;
    let text = kernel.source_locs.get(first.loc as usize).map_or("", |place| place.text.as_str());
    let message = format!(
        "`{text}` in `{}`: a NaN result has NVIDIA's bits in PTX, and others as the source is read",
        kernel.name
    );
    Some(NAN_RESULTS.finding(location(kernel, first.loc), message))
}

/// The format of an operation's result, where that is a NaN of the profile.
fn computed_format(op: &Op) -> Option<Format> {
    match *op {
        Op::Float { operation, .. } | Op::Atomic { kind: AtomicKind::Float { operation, .. }, .. } => {
            Some(operation.format)
        }
        Op::Sign { format, arithmetic: true, .. }
        | Op::Divide { format, .. }
        | Op::Remainder { format, .. }
        | Op::SquareRoot { format, .. }
        | Op::Scale { format, .. }
        | Op::Approximate { format, .. }
        | Op::MinMax { format, .. }
        | Op::Atomic { kind: AtomicKind::FloatMinMax { format, .. }, .. }
        | Op::Convert { to: Scalar::Float(format), from: Scalar::Float(_), .. } => Some(format),
        Op::ImageSample { .. } => Some(Format::F32),
        _ => None,
    }
}

/// The functions of a kernel that machines approximate, each with the one that it is written as.
#[derive(Default)]
pub(super) struct Approximations(BTreeSet<(String, String)>);

impl Approximations {
    /// One is written; the source's own stays what it is.
    pub(super) fn add(&mut self, source: &str, written: &str) {
        if source != written {
            self.0.insert((source.to_owned(), written.to_owned()));
        }
    }

    /// That no document says their bits.
    pub(super) fn finding(&self) -> Option<Finding> {
        let all: Vec<String> = self.0.iter().map(|(source, written)| format!("{source} is {written}")).collect();
        let message = || format!("approximated, so that another machine may give other bits: {}", all.join(", "));
        (!all.is_empty()).then(|| APPROXIMATION.finding(Location::Whole, message()))
    }
}

/// What a kernel's execution modes leave open, where it computes with floats.
pub(super) fn of_modes(flushes: bool) -> Finding {
    let flush = if flushes { ["; ", FLUSH].concat() } else { String::new() };
    MODES.finding(Location::Whole, format!("SPIR-V leaves open {NAN_BITS}{flush}"))
}
