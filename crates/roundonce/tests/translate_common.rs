//! Kernels as programs commonly have them (tests/kernels/common), as PTX and as SPIR-V: equal for all data by proof, or equal
//! in launches on made data. `PTXAS` and `SPIRV_TOOLS` name judges of the text, as in `translate_ptx` and `translate_spirv`.

#[path = "translation/assemble.rs"]
mod assemble;
#[path = "translation/validate.rs"]
mod validate;

use std::path::{Path, PathBuf};

use assemble::assemble;
use roundonce::ir::Program;
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translation::{NoTranslation, Options, STEP_LIMIT, To, Translated, translate};
use validate::validate;

const LAUNCHES: usize = 8;

/// The modules, each with its name.
fn modules() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/common");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect()
}

/// A kernel alone in another language.
fn translated(text: &str, kernel: &str, to: To, options: &Options<'_>) -> Result<Translated, Vec<String>> {
    let choice = Choice { entry: Some(kernel.to_owned()), ..Choice::default() };
    translate(Source::Ptx(text), to, &choice, options).map_err(|none| match none {
        NoTranslation::Unread(refusal) => panic!("{kernel}: {refusal:?}"),
        NoTranslation::NoCounterpart(findings) => findings.into_iter().map(|finding| finding.message).collect(),
    })
}

/// Translates every kernel: how many are equal for all data, how many on data, and the reasons of the others.
fn check_all(to: To, options: &Options<'_>, mut judge: impl FnMut(&str, &str)) -> (usize, usize, Vec<String>) {
    let (mut proved, mut ran, mut refused) = (0, 0, Vec::new());
    for (module, text) in modules() {
        let source: Program = Ready::read_all(Source::Ptx(&text), &Choice::default()).unwrap().program;
        for kernel in source.kernels.iter().map(|kernel| kernel.name.as_str()) {
            let name = format!("{module}.{kernel}");
            let translated = match translated(&text, kernel, to, options) {
                Ok(translated) => translated,
                Err(messages) => {
                    refused.push(format!("{kernel}: {}", messages.join("; ")));
                    continue;
                }
            };
            judge(&name, &translated.translation.text);
            let [verification] = &translated.verify(LAUNCHES, STEP_LIMIT)[..] else { panic!("{name}") };
            assert_eq!(verification.different, None, "{name}");
            assert!(verification.launches > LAUNCHES / 2 && verification.changed > 0, "{name}: {verification:?}");
            match verification.proof {
                Ok(()) => proved += 1,
                Err(_) => ran += 1,
            }
        }
    }
    (proved, ran, refused)
}

#[test]
fn as_ptx() {
    let (proved, ran, refused) = check_all(To::Ptx, &Options::default(), assemble);
    assert_eq!((proved, ran), (64, 0), "{refused:#?}");
}

#[test]
fn as_spirv() {
    let options = Options { environment: Some("opencl2.2".parse().unwrap()), ..Options::default() };
    let judge = |name: &str, text: &str| {
        validate(name, text, "opencl2.2", "spv1.2");
    };
    let (proved, ran, refused) = check_all(To::Spirv, &options, judge);
    assert_eq!((proved, ran), (22, 42), "{refused:#?}");
}

/// Long modules are read, lowered and analysed on several threads: the kernels stay in order, each equal to its own source.
#[test]
fn long_modules() {
    let mut long = ".version 9.0\n.target sm_80\n.address_size 64\n".to_owned();
    for copy in 0..3 {
        for (_, text) in modules() {
            let (_, body) = text.split_once(".address_size 64").unwrap();
            let source = Ready::read_all(Source::Ptx(&text), &Choice::default()).unwrap().program;
            let renamed = source.kernels.iter().fold(body.to_owned(), |body, kernel| {
                let name = kernel.name.as_str();
                body.replace(&format!("{name}("), &format!("{name}_{copy}("))
            });
            long.push_str(&renamed.replace("_ZZ", &format!("_{copy}_ZZ")));
        }
    }
    assert!(long.len() > 1 << 18);
    for to in [To::Ptx, To::Spirv] {
        let translated = translate(Source::Ptx(&long), to, &Choice::default(), &Options::default());
        let translated = translated.unwrap_or_else(|none| panic!("{none:?}"));
        let text = &translated.translation.text;
        let place = |name: &str| match to {
            To::Ptx => text.find(&format!(".entry {name}(")),
            To::Spirv => text.find(&format!(" \"{name}\"")),
        };
        let names = translated.source.program.kernels.iter().map(|kernel| kernel.name.as_str());
        let places: Vec<usize> = names.map(|name| place(name).unwrap_or_else(|| panic!("{name} in {to:?}"))).collect();
        assert!(places.len() == 3 * 64 && places.is_sorted());
        if to == To::Ptx {
            assert!(translated.verify(0, STEP_LIMIT).iter().all(|verification| verification.proof.is_ok()));
        }
    }
}
