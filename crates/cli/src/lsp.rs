//! `lsp`: the language server, for editors.

use clap::Args;
use roundonce::spirv::Environment;
use roundonce_lsp::{Settings, serve_stdio};

use crate::{Ended, Status, output};

#[derive(Args)]
pub(crate) struct Arguments {
    /// SPIR-V: the environment, as spirv-val names it; a client's `initializationOptions` come before it
    #[arg(long, value_name = "ENV", default_value = "spv1.6")]
    target_env: Environment,
    /// Do not look for what is left open
    #[arg(long)]
    no_determinacy: bool,
    /// Accepted, since some clients pass it: there is no other way
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let settings = Settings { environment: arguments.target_env, determinacy: !arguments.no_determinacy };
    // The protocol asks for status 1 where a client ends it otherwise than by `shutdown` and `exit`.
    Ok(serve_stdio(settings).map_or_else(
        |error| {
            output::error(&format!("lsp: {error}"));
            Status::Found
        },
        |()| Status::Done,
    ))
}
