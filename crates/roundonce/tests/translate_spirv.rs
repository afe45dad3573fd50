//! Kernels of PTX as SPIR-V for OpenCL: every buffer of a launch is the same, bit for bit.

use std::collections::BTreeMap;

use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{Argument, Options, Translation, spirv};
use translated::{Case, cases, translated};

mod translated;

/// Of each kernel, where the translation is and what its launch takes, or the words of its refusals.
fn translate(case: &Case, text: &str, ready: &Ready) -> Result<Translation, Vec<String>> {
    let comments = roundonce::translate::kernel::Comments::of_slashes(text);
    let allow = ["TRN0201".to_owned()];
    let environment = std::env::var("ENVIRONMENT").ok().map(|name| name.parse().unwrap());
    let options = Options { comments, allow: &allow, environment, ..Options::default() };
    let translation = spirv::write(&ready.program, &options);
    let _ = case;
    translation.map_err(|findings| findings.into_iter().map(|finding| finding.message).collect())
}

#[test]
fn kernels_of_ptx_give_the_same_buffers() {
    let (mut ran, mut refused, mut different) = (0, BTreeMap::new(), Vec::new());
    for case in cases("kernels") {
        if case.module.extension().is_none_or(|extension| extension != "ptx") {
            continue;
        }
        let text = std::fs::read_to_string(&case.module).unwrap();
        let ready = case.ready(&text);
        let translation = match translate(&case, &text, &ready) {
            Ok(translation) => translation,
            Err(words) => {
                refused.insert(case.name.clone(), words);
                continue;
            }
        };
        if let Ok(folder) = std::env::var("ROUNDONCE_SPIRV_OUT") {
            std::fs::write(format!("{folder}/{}.spvasm", case.name), &translation.text).unwrap();
        }
        let choice = Choice { entry: Some(ready.kernel().name.clone()), ..Choice::default() };
        let read = Ready::read(Source::SpirvText(&translation.text), &choice);
        let read = read.unwrap_or_else(|error| panic!("{}: {error:?}\n{}", case.name, translation.text));
        let place = ready.program.kernels.iter().position(|kernel| kernel.name == ready.kernel().name).unwrap();
        let arguments = &translation.arguments[place];
        let args = case.arguments(&ready);
        let given = translated(arguments, &args, ready.kernel().shared_bytes, case.shared);
        let before = case.run(&ready, args, case.shared);
        let after = case.run(&read, given, 0);
        let mut compared = 0;
        for (argument, buffer) in arguments.iter().zip(&after.buffers) {
            if let (Argument::Param(param), Some(buffer)) = (argument, buffer) {
                let wanted = before.buffers[*param].as_ref().unwrap();
                if wanted.words() != buffer.words() {
                    let at = wanted.words().iter().zip(buffer.words()).position(|(a, b)| *a != *b).unwrap();
                    different.push(format!(
                        "{}: argument {param}, word {at}: {:08x} {:08x}",
                        case.name,
                        wanted.words()[at],
                        buffer.words()[at]
                    ));
                }
                compared += 1;
            }
        }
        assert!(compared > 0, "{}: no buffer", case.name);
        ran += 1;
    }
    for (name, words) in &refused {
        let mut whys: Vec<&str> =
            words.iter().filter_map(|words| words.rsplit_once("`: ").map(|(_, why)| why)).collect();
        whys.sort_unstable();
        whys.dedup();
        println!("{name}: {whys:?}");
    }
    println!("{different:#?}");
    println!("{ran} ran, {} refused", refused.len());
}
