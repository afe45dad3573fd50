//! `translate`.
use crate::output::Format;
use crate::{Ended, translate_kernel};
use clap::Args;
use roundonce::translation::To;
use std::path::PathBuf;
#[derive(Args)]
pub(crate) struct Arguments {
    file: PathBuf,
    #[arg(long)]
    to: String,
    #[command(flatten)]
    kernels: translate_kernel::KernelArguments,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}
pub(crate) fn run(arguments: &Arguments) -> Ended {
    translate_kernel::run(
        &arguments.file,
        if arguments.to == "ptx" { To::Ptx } else { To::Spirv },
        &arguments.kernels,
        arguments.format,
    )
}
