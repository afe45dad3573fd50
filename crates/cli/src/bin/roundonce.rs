//! The binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(roundonce_cli::command(std::env::args_os()))
}
