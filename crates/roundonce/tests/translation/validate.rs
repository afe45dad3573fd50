//! The validator of SPIR-V at hand: `SPIRV_TOOLS` names the folder of spirv-as and spirv-val.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The validator's word, where it is installed.
pub(crate) fn validate(name: &str, text: &str, environment: &str, version: &str) -> bool {
    let Ok(tools) = std::env::var("SPIRV_TOOLS") else { return false };
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("roundonce-translate-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, words) = (folder.join(format!("{name}.spvasm")), folder.join(format!("{name}.spv")));
    std::fs::write(&source, text).unwrap();
    let run = |tool: &str, arguments: &[&Path], target: &str| {
        let mut command = Command::new(Path::new(&tools).join(tool));
        let output = command.args(["--target-env", target]).args(arguments).output().unwrap();
        let words = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{name} for {environment}: {}", String::from_utf8_lossy(&words));
    };
    run("spirv-as", &[&source, Path::new("-o"), &words], version);
    run("spirv-val", &[&words], environment);
    std::fs::remove_dir_all(folder).unwrap();
    true
}
