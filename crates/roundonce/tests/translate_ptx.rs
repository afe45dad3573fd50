//! Kernels translated to PTX give the same bits in the engine, and the assemblers that are at hand take them.
//!
//! `PTXAS` names assemblers, separated by colons; `TRANSLATED` a folder that receives every translation.

mod translation;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use roundonce::exec::Launch;
use roundonce::ir::Program;
use roundonce::isa::SmTarget;
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{Comments, Options, Translation, ptx};
use translation::{Case, difference, folder, translated_launch};

/// Why a kernel is not translated: the messages of its findings that differ.
type Refused = Vec<String>;

/// Translates a program; `None` and the reasons where it is refused.
fn translate(name: &str, program: &Program, target: Option<SmTarget>) -> Result<Translation, Refused> {
    let options = Options { target, ..Options::default() };
    let translation = ptx::write(program, &options).map_err(|findings| {
        let mut messages: Vec<String> = findings.into_iter().map(|finding| finding.message).collect();
        messages.sort();
        messages.dedup();
        messages
    })?;
    if let Ok(folder) = std::env::var("TRANSLATED") {
        std::fs::write(PathBuf::from(folder).join(format!("{name}.ptx")), &translation.text).unwrap();
    }
    assemble(name, &translation.text);
    Ok(translation)
}

/// Every assembler at hand takes the text.
fn assemble(name: &str, text: &str) {
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
        // An older assembler does not know every version.
        let is_new = message.contains("Unsupported .version");
        assert!(output.status.success() || is_new, "{name}: {assembler}: {message}");
    }
    std::fs::remove_file(&file).unwrap();
}

/// Reads the translation and runs what it has as the source is run: how they differ.
fn compare(launch: &Launch<'_>, translation: &Translation, target: Option<SmTarget>) -> Result<(), String> {
    let name = launch.entry.map(str::to_owned);
    let choice = Choice { machine: target, entry: name, ..Choice::default() };
    let ready = Ready::read(Source::Ptx(&translation.text), &choice);
    let ready = ready.map_err(|refusal| format!("the translation is not read: {refusal:?}"))?;
    let other = translated_launch(launch, translation, &ready);
    let source = launch.clone().run().map_err(|error| format!("the source: {error}"))?;
    let translated = other.run().map_err(|error| format!("the translation: {error}"))?;
    let place = launch.program.kernels.iter().position(|kernel| Some(kernel.name.as_str()) == launch.entry);
    match difference(&source.buffers, &translation.arguments[place.unwrap()], &translated.buffers) {
        Some(difference) => Err(difference),
        None => Ok(()),
    }
}

/// Every case of a folder: how many are equal, and what is refused.
fn check_all(folder: &str) -> (usize, BTreeMap<String, Refused>) {
    let (mut equal, mut refused, mut failures) = (0, BTreeMap::new(), Vec::new());
    for case in Case::all(folder) {
        let source = case.read().unwrap_or_else(|refusal| panic!("{}: {refusal:?}", case.name));
        match translate(&case.name, &source.program, case.target()) {
            Ok(translation) => match compare(&case.launch(&source), &translation, case.target()) {
                Ok(()) => equal += 1,
                Err(failure) => failures.push(format!("{}: {failure}", case.name)),
            },
            Err(messages) => {
                refused.insert(case.name, messages);
            }
        }
    }
    assert!(failures.is_empty(), "{equal} equal\n{}", failures.join("\n"));
    (equal, refused)
}

/// That a folder's cases are refused as the table says, a case a line: its name and what stands in the first message.
fn check_refusals(refused: &BTreeMap<String, Refused>, expected: &[(&str, &str)]) {
    let found: Vec<String> =
        refused.iter().map(|(name, messages)| format!("{name}: {}", messages.join("; "))).collect();
    let names: Vec<&str> = refused.keys().map(String::as_str).collect();
    let expected_names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, expected_names, "{}", found.join("\n"));
    for (name, what) in expected {
        assert!(refused[*name].iter().any(|message| message.contains(what)), "{name}: {:?}", refused[*name]);
    }
}

#[test]
fn kernels_of_ptx_give_the_same_bits() {
    let (equal, refused) = check_all("kernels");
    check_refusals(&refused, &[]);
    assert_eq!(equal, 0);
}

#[test]
fn shaders_and_kernels_of_spirv_give_the_same_bits() {
    let (equal, refused) = check_all("shaders");
    check_refusals(&refused, &[]);
    assert_eq!(equal, 0);
}

/// The machine code of the kernels of tests/kernels, for two targets.
#[test]
fn machine_code_gives_the_same_bits() {
    let (mut equal, mut refused, mut failures) = (0, BTreeMap::new(), Vec::new());
    for case in Case::all("kernels") {
        for target in ["sm_50", "sm_61"] {
            let name = format!("{}.{target}", case.name);
            let path = folder("kernels").join("maxwell").join(format!("{name}.cubin"));
            let Ok(bytes) = std::fs::read(path) else { continue };
            // What is not run itself is no matter of translation.
            let Ok(source) = Ready::read(Source::Cubin(&bytes), &Choice::default()) else { continue };
            match translate(&name, &source.program, None) {
                Ok(translation) => match compare(&case.launch(&source), &translation, None) {
                    Ok(()) => equal += 1,
                    Err(failure) => failures.push(format!("{name}: {failure}")),
                },
                Err(messages) => {
                    refused.insert(name, messages);
                }
            }
        }
    }
    assert!(failures.is_empty(), "{equal} equal\n{}", failures.join("\n"));
    check_refusals(&refused, &[]);
    assert_eq!(equal, 36);
}
