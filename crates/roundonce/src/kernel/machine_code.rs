//! Kernels of machine code: of a cubin, and of a listing of a whole kernel.

use roundonce_ir::Program;
use roundonce_isa::SmTarget;

use super::{Choice, Each, Ready, Refusal, Source};
use crate::sass;

/// The names of the kernels of machine code.
pub(super) fn names(source: Source<'_>) -> Result<Vec<String>, Refusal> {
    let found = match source {
        Source::Cubin(bytes) => sass::cubin_kernels(bytes).map_err(|finding| vec![finding]),
        Source::Listing(text) => sass::listing_kernels(text),
        _ => Ok(Vec::new()),
    };
    found.map_err(|found| Refusal::of(found, sass::NOT_COMPUTED))
}

/// The machine of a cubin.
pub(super) fn target(source: Source<'_>) -> Option<SmTarget> {
    match source {
        Source::Cubin(bytes) => sass::cubin_target(bytes).map(SmTarget::from),
        _ => None,
    }
}

fn kernel(source: Source<'_>, name: &str, choice: &Choice) -> Result<Program, Refusal> {
    let program = match source {
        Source::Cubin(bytes) => sass::lower_cubin(bytes, name, choice.largest_kernel),
        Source::Listing(text) => sass::lower_kernel_listing(text, name, choice.largest_kernel),
        _ => Err(Vec::new()),
    };
    program.map_err(|found| Refusal::of(found, sass::NOT_COMPUTED))
}

pub(super) fn program(source: Source<'_>, choice: &Choice) -> Result<Program, Refusal> {
    let known = names(source)?;
    match (&known[..], choice.entry.as_deref()) {
        ([], None) => Err(Refusal::Usage("there is no kernel in it".to_owned())),
        ([name], None) => kernel(source, name, choice),
        (_, None) => Err(Refusal::Several(known)),
        (_, Some(name)) if known.iter().any(|other| other == name) => kernel(source, name, choice),
        (_, Some(name)) => Err(Refusal::Usage(format!("there is no kernel `{name}`"))),
    }
}

pub(super) fn each(source: Source<'_>, choice: &Choice) -> Result<Vec<Each>, Refusal> {
    let machine = target(source);
    let each = names(source)?.into_iter().map(|name| {
        let program = kernel(source, &name, choice);
        (name, program.map(|program| Ready::of(program, machine)))
    });
    Ok(each.collect())
}
