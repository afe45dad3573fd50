//! SPIRV-Tools as a judge, where they are installed.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The folder that `spirv-as` and its like are in: `SPIRV_TOOLS` names it, or they are on the path, new enough to know
/// SPV_KHR_fma.
pub(crate) fn tools() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("SPIRV_TOOLS") {
        return Some(PathBuf::from(folder));
    }
    let there = Command::new("spirv-as").arg("--version").output().is_ok();
    let known = there && run("spirv-as".into(), &["-o", "-", "-"], b"OpCapability FMAKHR").is_some();
    if !known {
        eprintln!("skipped: no spirv-as that knows FMAKHR was found (set SPIRV_TOOLS to the folder of one)");
    }
    known.then(PathBuf::new)
}

/// What a tool makes of an input; `None` if it refuses it.
pub(crate) fn run(tool: PathBuf, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the tool starts");
    child.stdin.take().expect("piped").write_all(input).ok();
    let output = child.wait_with_output().expect("the tool ends");
    output.status.success().then_some(output.stdout)
}
