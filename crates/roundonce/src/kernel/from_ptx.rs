//! Kernels of PTX, and what the assembler rejects of them.

use std::ops::Range;

use roundonce_ir::Program;
use roundonce_isa::{Finding, Location, Severity, SmTarget, has_errors};

use super::{Choice, Each, Ready, Refusal, side_by_side};
use crate::ptx;

/// The codes of a wrong opcode, spelling, gate, operand or guard, and of names that nothing declares.
const OF_INSTRUCTIONS: core::ops::RangeInclusive<&str> = "PTX0020"..="PTX0032";

fn module(text: &str) -> Result<ptx::Module<'_>, Refusal> {
    let ptx::Parsed { module, findings } = ptx::parse(text);
    match has_errors(&findings) {
        true => Err(Refusal::of(findings, ptx::UNSUPPORTED)),
        false => Ok(module),
    }
}

/// A module's kernels, and its target.
pub(super) fn program(text: &str, choice: &Choice, all: bool) -> Result<(Program, Option<SmTarget>), Refusal> {
    let module = module(text)?;
    let kernels = module.functions().filter(|function| function.is_entry && function.body.is_some());
    let names: Vec<String> = kernels.map(|kernel| kernel.name.to_owned()).collect();
    if choice.entry.is_none() && names.len() > 1 && !all {
        return Err(Refusal::Several(names));
    }
    let settings = ptx::Settings { entry: choice.entry.as_deref(), ..choice.ptx_settings() };
    let (lowered, rejected) = lowered(&module, || ptx::lower_with(&module, &settings));
    Ok((accepted(lowered, rejected)?, module.target()))
}

/// The kernels of a module, each with what is wrong in it.
pub(super) fn each(text: &str, choice: &Choice) -> Result<Vec<Each>, Refusal> {
    let module = module(text)?;
    let (lowered, rejected) = lowered(&module, || ptx::lower_each(&module, &choice.ptx_settings()));
    let lowered = lowered.map_err(|findings| Refusal::of(findings, ptx::UNSUPPORTED))?;
    let (mut inside, mut everywhere) = (Vec::new(), Vec::new());
    for finding in rejected {
        match span(&finding) {
            Some(span) => inside.push((span.start, finding)),
            None => everywhere.push(finding),
        }
    }
    inside.sort_by_key(|&(start, _)| start);
    let each = lowered.into_iter().map(|(function, program)| {
        let place = |at: u32| inside.partition_point(|&(start, _)| start < at as usize);
        let own = &inside[place(function.span.start)..place(function.span.end)];
        let rejected = own.iter().map(|(_, finding)| finding).chain(&everywhere).cloned().collect();
        let ready = accepted(program, rejected).map(|program| Ready::of(program, module.target()));
        (function.name.to_owned(), ready)
    });
    Ok(each.collect())
}

/// What a lowering gives, and beside it all that the assembler rejects.
fn lowered<T: Send>(module: &ptx::Module<'_>, lower: impl FnOnce() -> T + Send) -> (T, Vec<Finding>) {
    let rejected = || {
        let mut rejected = ptx::check(module, &ptx::Options::default());
        rejected.retain(|found| found.severity == Severity::Error);
        rejected
    };
    side_by_side(module.text().len(), lower, rejected)
}

/// A program, unless the assembler rejects an instruction of it, which a run might not reach or understand. Where something in it
/// cannot be run, what the assembler rejects is the reason, and what else cannot be run comes behind; names that nothing declares
/// have other errors in their wake.
fn accepted(program: Result<Program, Vec<Finding>>, mut rejected: Vec<Finding>) -> Result<Program, Refusal> {
    let has_rejected = |findings: &[Finding]| findings.iter().any(|finding| OF_INSTRUCTIONS.contains(&finding.code));
    match program {
        Ok(program) if !has_rejected(&rejected) => Ok(program),
        Ok(_) => {
            rejected.retain(|found| OF_INSTRUCTIONS.contains(&found.code));
            Err(Refusal::of(rejected, ptx::UNSUPPORTED))
        }
        Err(mut findings) => {
            if findings.iter().any(|finding| finding.code != ptx::UNSUPPORTED) {
                if !has_rejected(&rejected) {
                    return Err(Refusal::of(findings, ptx::UNSUPPORTED));
                }
                findings.retain(|finding| finding.code == ptx::UNSUPPORTED);
            }
            let explained = Places::of(&rejected);
            findings.retain(|finding| !span(finding).is_some_and(|span| explained.overlap(span)));
            rejected.extend(findings);
            Err(Refusal::of(rejected, ptx::UNSUPPORTED))
        }
    }
}

/// Where findings are, in order, each with the farthest end so far.
struct Places(Vec<(usize, usize)>);

impl Places {
    fn of(findings: &[Finding]) -> Places {
        let mut places: Vec<(usize, usize)> =
            findings.iter().filter_map(span).map(|span| (span.start, span.end)).collect();
        places.sort_unstable();
        let mut farthest = 0;
        for (_, end) in &mut places {
            farthest = farthest.max(*end);
            *end = farthest;
        }
        Places(places)
    }
    fn overlap(&self, span: Range<usize>) -> bool {
        let before = self.0.partition_point(|&(start, _)| start < span.end);
        before > 0 && self.0[before - 1].1 > span.start
    }
}

fn span(finding: &Finding) -> Option<Range<usize>> {
    match finding.location {
        Location::Span { start, end } => Some(start..end),
        _ => None,
    }
}
