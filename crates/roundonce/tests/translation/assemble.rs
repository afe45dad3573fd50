//! The assemblers at hand: `PTXAS` names them, separated by colons.

use std::path::PathBuf;
use std::process::Command;

/// Every assembler at hand takes the text.
pub(crate) fn assemble(name: &str, text: &str) {
    let Ok(assemblers) = std::env::var("PTXAS") else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{name}.{}.ptx", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let target = text.split_once(".target ").unwrap().1.split([',', '\n']).next().unwrap();
    for assembler in assemblers.split(':') {
        let mut command = Command::new(assembler);
        command.arg(format!("-arch={target}")).arg(&file).arg("-o").arg(file.with_extension("cubin"));
        let output = command.output().unwrap_or_else(|error| panic!("{assembler}: {error}"));
        let message = String::from_utf8_lossy(&output.stderr);
        // An older assembler does not know every version, a newer one not every target.
        let is_unknown = ["Unsupported .version", "is not defined for option 'gpu-name'"];
        let is_unknown = is_unknown.iter().any(|text| message.contains(text));
        assert!(output.status.success() || is_unknown, "{name}: {assembler}: {message}");
    }
    std::fs::remove_file(&file).unwrap();
}
