//! Kernels of SPIR-V, and what of a module's structure keeps all of them from being run.

use std::collections::BTreeMap;

use roundonce_arith::Profile;
use roundonce_ir::Program;
use roundonce_isa::Finding;

use super::{Choice, Each, Ready, Refusal, Source, number, side_by_side};
use crate::spirv::{self, Lowered, Module, Settings, SpecConstant};

fn refused(findings: Vec<Finding>) -> Refusal {
    Refusal::of(findings, spirv::UNSUPPORTED)
}

/// The module, and its text where it has one. Only these two kinds of source come here.
fn module(source: Source<'_>) -> Result<(Module, Option<&str>), Refusal> {
    match source {
        Source::SpirvText(text) => {
            spirv::assemble_module(text, None).map(|module| (module, Some(text))).map_err(refused)
        }
        Source::Spirv(bytes) => {
            Module::from_binary(bytes).map(|module| (module, None)).map_err(|found| refused(vec![found]))
        }
        Source::Ptx(_) | Source::Cubin(_) | Source::Listing(_) => Err(Refusal::Usage("it is no SPIR-V".to_owned())),
    }
}

/// What a lowering gives, if the module's structure is right: the lowering takes that for granted, so that what it says of another
/// module leads astray.
fn lowered<T: Send>(module: &Module, lower: impl FnOnce() -> Result<T, Vec<Finding>> + Send) -> Result<T, Refusal> {
    let (lowered, errors) = side_by_side(4 * module.words().len(), lower, || spirv::structural_errors(module));
    if errors.is_empty() { lowered.map_err(refused) } else { Err(refused(errors)) }
}

/// The kernel that is chosen, what it is run under, and what the module leaves open.
pub(super) fn program(source: Source<'_>, choice: &Choice) -> Result<(Program, Profile, Vec<String>), Refusal> {
    let (module, text) = module(source)?;
    let settings = settings(&module, choice)?;
    let lowered = lowered(&module, || spirv::lower(&module, text, &settings))?;
    Ok((lowered.program, choice.assume.profile(), lowered.undetermined))
}

/// The kernels of a module, each with what cannot be run in it.
pub(super) fn each(source: Source<'_>, choice: &Choice) -> Result<Vec<Each>, Refusal> {
    let (module, text) = module(source)?;
    let settings = settings(&module, choice)?;
    let each = lowered(&module, || spirv::lower_each(&module, text, &settings))?.into_iter();
    let ready = |lowered: Lowered| {
        let (profile, place) = (choice.assume.profile(), 0);
        Ready { program: lowered.program, profile, undetermined: lowered.undetermined, target: None, place }
    };
    Ok(each.map(|(name, lowered)| (name, lowered.map(ready).map_err(refused))).collect())
}

fn settings(module: &Module, choice: &Choice) -> Result<Settings, Refusal> {
    let known = spirv::spec_constants(module);
    let spec = choice.spec.iter().map(|(id, value)| {
        let bits = specialised(&known, *id, value);
        bits.map(|bits| (*id, bits)).map_err(|problem| Refusal::Usage(format!("constant {id}={value}: {problem}")))
    });
    let spec = spec.collect::<Result<_, _>>()?;
    let mut descriptors = BTreeMap::new();
    for (place, index) in choice.arguments.iter().filter_map(|name| descriptor(name)) {
        let count = descriptors.entry(place).or_default();
        *count = index.saturating_add(1).max(*count);
    }
    let Choice { entry, assume, largest_kernel, .. } = choice;
    Ok(Settings { entry: entry.clone(), spec, descriptors, assume: *assume, largest_kernel: *largest_kernel })
}

/// Set, binding and index of a name such as `0.1[2]`.
fn descriptor(name: &str) -> Option<((u32, u32), u32)> {
    let (place, index) = name.strip_suffix(']')?.split_once('[')?;
    let (set, binding) = place.split_once('.')?;
    Some(((set.parse().ok()?, binding.parse().ok()?), index.parse().ok()?))
}

/// A specialisation constant's bits.
fn specialised(known: &[SpecConstant], id: u32, value: &str) -> Result<u64, String> {
    let Some(constant) = known.iter().find(|constant| constant.id == id) else {
        let known: Vec<String> = known.iter().map(|constant| constant.id.to_string()).collect();
        let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        return Err(format!("the module has no specialisation constant {id}: {known}"));
    };
    match (constant.scalar, value) {
        (None, "true" | "1") => Ok(1),
        (None, "false" | "0") => Ok(0),
        (None, _) => Err(format!("`{value}` is neither true nor false")),
        (Some(scalar), _) => number(scalar.bits() / 8, Some(scalar), value),
    }
}
