//! Kernels of PTX and of Maxwell cubins as SPIR-V for OpenCL: every buffer of a launch is the same, bit for bit, or the
//! kernel is refused by name. Where `SPIRV_TOOLS` names the folder of spirv-as and spirv-val, they take every translation.
//! `ROUNDONCE_SPIRV_OUT` names a folder that each translation is written to, and its launch.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use launches::{Case, cases};
use roundonce::exec::Arg;
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{Argument, Comments, Options, Translation, spirv};
use roundonce::translation::translated_arguments;
use validate::validate;

mod launches;
#[path = "translation/validate.rs"]
mod validate;

/// What no environment has a counterpart for, by kernel: words of a refusal.
#[rustfmt::skip] // A kernel a line.
const REFUSED: [(&str, &str); 3] = [
    ("opaque",            "an image"),
    ("surfaces",          "an image"),
    ("textures",          "an image"),
];
/// What OpenCL's environments have not, but SPIR-V has.
const LACKING: [(&str, &str); 4] = [
    ("async_reduce", "an atomic on 64 bits"),
    ("heap", "an atomic on 64 bits"),
    ("pipeline", "an atomic on 64 bits"),
    ("reduce", "an atomic on 64 bits"),
];
/// What OpenCL 1.2 lacks beside them.
#[rustfmt::skip] // A kernel a line.
const LACKING_OLD: [(&str, &str); 11] = [
    (MATRICES,       "a subgroup of 32"),
    ("call",         "a generic address"),
    ("dot",          "a subgroup of 32"),
    ("grid_sync",    "a variable in global memory"),
    ("half2_dot",    "a subgroup of 32"),
    ("heap",         "a variable in global memory"),
    ("matrix_moves", "a subgroup of 32"),
    ("old_2_3",      "a variable in global memory"),
    ("recursive",    "a generic address"),
    ("softmax",      "a subgroup of 32"),
    ("virtual",      "a generic address"),
];

/// Stands for every kernel that multiplies matrices.
const MATRICES: &str = "matrices";

fn is_matrix(name: &str, known: &str) -> bool {
    known == MATRICES && ["mma_", "wmma_", "wgmma", "triton_dot_"].iter().any(|start| name.starts_with(start))
}

/// Whom modules are for.
struct Client {
    environment: &'static str,
    /// The SPIR-V that it takes.
    version: &'static str,
    /// How many kernels of PTX run.
    runs: usize,
    refused: Vec<(&'static str, &'static str)>,
}

fn clients() -> [Client; 3] {
    // What one lacks stands before what all lack.
    let lacking = |first: &[(&'static str, &'static str)], all: &[(&'static str, &'static str)]| {
        let rest = all.iter().filter(|(name, _)| !first.iter().any(|(other, _)| other == name));
        first.iter().chain(rest).copied().collect::<Vec<_>>()
    };
    let opencl = lacking(&LACKING, &REFUSED);
    let old = lacking(&LACKING_OLD, &opencl);
    [
        Client { environment: "opencl1.2", version: "spv1.0", runs: 27, refused: old },
        Client { environment: "opencl2.2", version: "spv1.2", runs: 68, refused: opencl },
        Client { environment: "spv1.3", version: "spv1.3", runs: 72, refused: REFUSED.to_vec() },
    ]
}

/// A kernel's translation, or the words of the refusals.
fn translate(ready: &Ready, comments: Comments, environment: &str) -> Result<Translation, Vec<String>> {
    let allow = ["TRN0201".to_owned()];
    let environment = Some(environment.parse().unwrap());
    let options = Options { comments, allow: &allow, environment, ..Options::default() };
    let translation = spirv::write(&ready.program, &options);
    translation.map_err(|findings| findings.into_iter().map(|finding| finding.message).collect())
}

/// Runs a kernel and its translation.
fn compare(case: &Case, ready: &Ready, translation: &Translation) {
    let name = &case.name;
    let choice = Choice { entry: Some(ready.kernel().name.clone()), ..Choice::default() };
    let read = Ready::read(Source::SpirvText(&translation.text), &choice);
    let read = read.unwrap_or_else(|refusal| panic!("{name}: {refusal:?}\n{}", translation.text));
    let place = ready.program.kernels.iter().position(|kernel| kernel.name == ready.kernel().name).unwrap();
    let arguments = &translation.arguments[place];
    let args = case.arguments(ready);
    let (given, dynamic) = translated_arguments(ready.kernel(), arguments, &args, case.shared);
    if let Ok(folder) = std::env::var("ROUNDONCE_SPIRV_OUT") {
        write_launch(Path::new(&folder), case, ready, &translation.text, &given);
    }
    let (before, after) = (case.run(ready, args, case.shared), case.run(&read, given, dynamic));
    let mut compared = 0;
    for (argument, buffer) in arguments.iter().zip(&after.buffers) {
        if let (Argument::Param(param), Some(buffer)) = (argument, buffer) {
            let wanted = before.buffers[*param].as_ref().unwrap();
            let differs = wanted.words().iter().zip(buffer.words()).position(|(wanted, found)| wanted != found);
            assert_eq!(differs, None, "{name}: argument {param} differs\n{}", translation.text);
            compared += 1;
        }
    }
    assert!(compared > 0, "{name}: no buffer");
    assert_eq!(before.printed, after.printed, "{name}");
}

/// The module and what it is launched with, for a program that asks other implementations.
fn write_launch(folder: &Path, case: &Case, ready: &Ready, text: &str, given: &[Arg]) {
    let folder = folder.join(&case.name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("module.spvasm"), text).unwrap();
    let mut arguments = Vec::new();
    for (place, arg) in given.iter().enumerate() {
        let (kind, bytes) = match arg {
            Arg::Buffer(buffer) => ("buffer", buffer.to_bytes()),
            Arg::Scalar(bits) => ("scalar", bits.to_le_bytes().to_vec()),
            Arg::Bytes(bytes) => ("bytes", bytes.clone()),
            Arg::Slice { .. } | Arg::Image(_) | Arg::Sampler(_) => continue,
        };
        std::fs::write(folder.join(format!("{place}.bin")), bytes).unwrap();
        let param = ready.kernel().params.get(place);
        arguments.push(serde_json::json!({ "kind": kind, "size": param.map(|param| param.size) }));
    }
    let args = case.arguments(ready);
    let before = case.run(ready, args, case.shared);
    for (place, buffer) in before.buffers.iter().enumerate() {
        if let Some(buffer) = buffer {
            std::fs::write(folder.join(format!("{place}.expected")), buffer.to_bytes()).unwrap();
        }
    }
    let launch = serde_json::json!({
        "kernel": ready.kernel().name, "grid": case.grid, "block": case.block, "arguments": arguments,
    });
    std::fs::write(folder.join("launch.json"), launch.to_string()).unwrap();
}

#[test]
fn kernels_of_ptx_give_the_same_buffers() {
    let mut validated = 0;
    // What ran for one environment need not run for another, whose version it only names.
    let mut ran_before = HashSet::new();
    for Client { environment, version, runs, refused: expected } in clients() {
        let (mut ran, mut refused) = (0, BTreeMap::new());
        for case in cases("kernels") {
            let text = std::fs::read_to_string(&case.module).unwrap();
            let ready = case.read(Source::Ptx(&text)).unwrap();
            match translate(&ready, Comments::of_slashes(&text), environment) {
                Ok(translation) => {
                    let (_, text) = translation.text.split_once("OpCapability").unwrap();
                    if ran_before.insert((case.name.clone(), text.to_owned())) {
                        compare(&case, &ready, &translation);
                    }
                    validated += usize::from(validate(&case.name, &translation.text, environment, version));
                    ran += 1;
                }
                Err(words) => {
                    refused.insert(case.name.clone(), words);
                }
            }
        }
        for (name, words) in &refused {
            let known = expected.iter().find(|(known, _)| known == name || is_matrix(name, known));
            let fits = known.is_some_and(|(_, what)| words.iter().any(|words| words.contains(what)));
            assert!(fits, "{name} for {environment}: {words:#?}");
        }
        for (name, _) in expected.iter().filter(|(name, _)| *name != MATRICES) {
            assert!(refused.contains_key(*name), "{name} for {environment} is not refused any more");
        }
        assert_eq!(ran, runs, "{environment}");
    }
    match std::env::var("SPIRV_TOOLS") {
        Ok(_) => println!("spirv-val took {validated} modules"),
        Err(_) => println!("spirv-val: skipped, SPIRV_TOOLS names no folder"),
    }
}

#[test]
fn kernels_of_maxwell_give_the_same_buffers() {
    let (mut ran, mut refused) = (0, Vec::new());
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/maxwell");
    for case in cases("kernels") {
        for target in ["sm_50", "sm_61"] {
            let Ok(bytes) = std::fs::read(folder.join(format!("{}.{target}.cubin", case.name))) else { continue };
            // What is not run is tested elsewhere.
            let Ok(ready) = case.read(Source::Cubin(&bytes)) else { continue };
            match translate(&ready, Comments::default(), "opencl2.2") {
                Ok(translation) => {
                    compare(&case, &ready, &translation);
                    validate(&case.name, &translation.text, "opencl2.2", "spv1.2");
                    ran += 1;
                }
                Err(words) => refused.push(format!("{}.{target}: {words:?}", case.name)),
            }
        }
    }
    let [only] = &refused[..] else { panic!("{refused:#?}") };
    assert!(only.starts_with("reduce.sm_61") && only.contains("an atomic on 64 bits"), "{only}");
    assert_eq!(ran, 35);
}
