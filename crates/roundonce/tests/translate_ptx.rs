//! Kernels translated to PTX give the same bits.

mod translation;

use roundonce::kernel::{Choice, Ready, Source};
use roundonce_translate::kernel::{Options, ptx};
use translation::{Case, difference, translated_launch};

/// Translates the kernel of a case and compares the buffers of both.
fn check(case: &Case) -> Result<(), String> {
    let source = case.read().map_err(|refusal| format!("source: {refusal:?}"))?;
    let options = Options { target: case.target(), file: "", ..Options::default() };
    let translation = ptx::write(&source.program, &options).map_err(|findings| {
        let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        format!("refused: {}", messages.join("; "))
    })?;
    if let Ok(folder) = std::env::var("TRANSLATED") {
        std::fs::write(format!("{folder}/{}.ptx", case.name), &translation.text).unwrap();
    }
    let choice = Choice { machine: case.target(), entry: Some(source.kernel().name.clone()), ..Choice::default() };
    let ready =
        Ready::read(Source::Ptx(&translation.text), &choice).map_err(|refusal| format!("unread: {refusal:?}"))?;
    let launch = case.launch(&source);
    let other = translated_launch(&launch, &translation, &ready);
    let report = launch.run().map_err(|error| format!("source: {error}"))?;
    let translated = other.run().map_err(|error| format!("translated: {error}"))?;
    match difference(&report.buffers, &translation.arguments[0], &translated.buffers) {
        Some(difference) => Err(difference),
        None => Ok(()),
    }
}

fn check_all(folder: &str) {
    let mut failures = Vec::new();
    let mut equal = 0;
    for case in Case::all(folder) {
        match check(&case) {
            Ok(()) => equal += 1,
            Err(failure) => failures.push(format!("{}: {failure}", case.name)),
        }
    }
    panic!("{equal} equal\n{}", failures.join("\n"));
}

#[test]
fn kernels() {
    check_all("kernels");
}

#[test]
fn shaders() {
    check_all("shaders");
}
