//! `run` for SPIR-V: what it is read for.

use clap::ValueEnum;
use roundonce::kernel::Choice;
use roundonce::spirv::Assume;

use super::{Arguments, split_pair};
use crate::Failure;

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

pub(crate) fn choice(arguments: &Arguments) -> Result<Choice, Failure> {
    let assume = match arguments.assume {
        Assumption::Nvidia => Assume::Nvidia,
        Assumption::Strict => Assume::Strict,
        Assumption::Flush => Assume::Flush,
    };
    let spec = arguments.spec.iter().map(|text| {
        let (id, value) = split_pair("--spec", text)?;
        let id = id.parse().map_err(|_| Failure::Input(format!("--spec `{text}`: `{id}` is no SpecId")))?;
        Ok((id, value.to_owned()))
    });
    Ok(Choice { entry: arguments.entry.clone(), assume, spec: spec.collect::<Result<_, Failure>>()? })
}
