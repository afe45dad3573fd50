//! `run` for SPIR-V: a module read, specialised and made ready.

use clap::ValueEnum;
use roundonce::spirv::{self, Assume, Module, Settings};

use super::{Arguments, Ready, number, refused, split_pair};
use crate::{Failure, files};

/// What is done where a module leaves bits open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Assumption {
    /// To nearest even, subnormals kept, NVIDIA's NaNs: what `eval` gives
    Nvidia,
    /// IEEE 754: to nearest even, subnormals kept, a NaN operand's payload kept
    Strict,
    /// To nearest even, subnormals flushed
    Flush,
}

pub(crate) fn ready(arguments: &Arguments) -> Result<Ready, Failure> {
    let path = &arguments.file;
    let bytes = files::read(path)?;
    let (module, text) = if path.extension().is_some_and(|extension| extension == "spvasm") {
        let text = files::text(path, bytes)?;
        let module = spirv::assemble_module(&text, None);
        (module.map_err(|findings| refused(path, &text, findings, spirv::UNSUPPORTED))?, Some(text))
    } else {
        let module = Module::from_binary(&bytes);
        (module.map_err(|finding| refused(path, "", vec![finding], spirv::UNSUPPORTED))?, None)
    };
    let assume = match arguments.assume {
        Assumption::Nvidia => Assume::Nvidia,
        Assumption::Strict => Assume::Strict,
        Assumption::Flush => Assume::Flush,
    };
    let spec = arguments.spec.iter().map(|text| specialised(&module, text)).collect::<Result<_, _>>()?;
    let settings = Settings { entry: arguments.entry.clone(), spec, assume };
    let lowered = spirv::lower(&module, text.as_deref(), &settings);
    let text = text.unwrap_or_default();
    let lowered = lowered.map_err(|findings| refused(path, &text, findings, spirv::UNSUPPORTED))?;
    Ok(Ready { program: lowered.program, profile: assume.profile(), undetermined: lowered.undetermined })
}

/// `3=17` as the constant's type has it.
fn specialised(module: &Module, text: &str) -> Result<(u32, u64), Failure> {
    let (id, value) = split_pair("--spec", text)?;
    let fault = |problem: String| Failure::Input(format!("--spec `{text}`: {problem}"));
    let id: u32 = id.parse().map_err(|_| fault(format!("`{id}` is no SpecId")))?;
    let constants = spirv::spec_constants(module);
    let Some(constant) = constants.iter().find(|constant| constant.id == id) else {
        let known: Vec<String> = constants.iter().map(|constant| constant.id.to_string()).collect();
        let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        return Err(fault(format!("the module has no specialisation constant {id}: {known}")));
    };
    let bits = match (constant.scalar, value) {
        (None, "true" | "1") => 1,
        (None, "false" | "0") => 0,
        (None, _) => return Err(fault(format!("`{value}` is neither true nor false"))),
        (Some(scalar), _) => number(scalar.bits() / 8, Some(scalar), value).map_err(fault)?,
    };
    Ok((id, bits))
}
