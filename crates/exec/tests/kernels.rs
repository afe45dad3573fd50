//! Every kernel of tests/kernels gives its reference's bits, by every way to run it.

use roundonce_arith::Format;
use roundonce_exec::{Arg, Buffer, Engine, Image, Launch, Options};
use roundonce_ir::{AddressMode, Kernel, Passing, Sampler, Scalar};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels")
}

/// The bytes of an .npy file behind its header.
fn array(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let header = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    bytes[10 + header..].to_vec()
}

fn number(text: &str, param: &roundonce_ir::Param) -> u64 {
    match text.strip_prefix("0f") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => text.parse::<i64>().unwrap_or_else(|error| panic!("{} = {text}: {error}", param.name)) as u64,
    }
}

/// A texture, a surface or a sampler, its words behind the file: as the command reads them.
fn image(value: &str) -> Arg {
    let (file, words) = value.split_once(".npy").map_or((None, value), |(file, words)| (Some(file), words));
    let mut sampler = Sampler::default();
    for word in words.split(',').filter(|word| !word.is_empty()) {
        let modes: Vec<&str> = word.split('/').collect();
        match word {
            "linear" | "nearest" => sampler.linear = word == "linear",
            "normalized" | "unnormalized" => sampler.normalized = word == "normalized",
            _ => {
                for (axis, mode) in sampler.address.iter_mut().enumerate() {
                    *mode = match modes[axis.min(modes.len() - 1)] {
                        "clamp" => AddressMode::Clamp,
                        "border" => AddressMode::Border,
                        "repeat" => AddressMode::Repeat,
                        "mirror" => AddressMode::Mirror,
                        other => panic!("{other}"),
                    };
                }
            }
        }
    }
    let Some(file) = file else { return Arg::Sampler(sampler) };
    let path = folder().join(format!("{file}.npy"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let end = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = std::str::from_utf8(&bytes[10..end]).unwrap();
    let element = header.split('\'').nth(3).unwrap().trim_start_matches(['<', '|']);
    let bits = 8 * element[1..].parse::<u32>().unwrap();
    let element = match &element[..1] {
        "f" => Scalar::Float(if bits == 16 { Format::F16 } else { Format::F32 }),
        kind => Scalar::Int { bits, signed: kind == "i" },
    };
    let shape = header.split(['(', ')']).nth(1).unwrap().split(',').map(str::trim).filter(|axis| !axis.is_empty());
    let shape = shape.map(|axis| axis.parse().unwrap()).collect();
    Arg::Image(Image { shape, element, data: Buffer::from_bytes(&bytes[end..]), sampler: Some(sampler) })
}

fn axes(text: &str) -> [u32; 3] {
    let mut all = [1; 3];
    for (axis, text) in all.iter_mut().zip(text.split(',')) {
        *axis = text.parse().unwrap();
    }
    all
}

fn place(kernel: &Kernel, name: &str) -> usize {
    let named = || kernel.params.iter().position(|param| param.name == name);
    name.parse().ok().or_else(named).unwrap_or_else(|| panic!("{name}"))
}

/// Runs one case; an error text where a result differs.
fn run(case: &Value, options: &Options) -> Result<(), String> {
    let words: Vec<&str> = case["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let text = std::fs::read_to_string(folder().join(words[1])).unwrap();
    let parsed = roundonce_ptx::parse(&text);
    let machine = words.iter().position(|word| *word == "--arch").map(|at| words[at + 1].parse().unwrap());
    let settings = roundonce_ptx::Settings { machine, ..roundonce_ptx::Settings::default() };
    let program = roundonce_ptx::lower_with(&parsed.module, &settings).map_err(|findings| findings[0].to_string())?;
    let kernel = program.kernel(None).unwrap();
    let (mut grid, mut block) = ([1; 3], [1; 3]);
    let mut args = vec![Arg::Scalar(0); kernel.params.len()];
    let mut dynamic_shared = 0;
    for pair in words[2..].chunks_exact(2) {
        match pair[0] {
            "--grid" => grid = axes(pair[1]),
            "--block" => block = axes(pair[1]),
            "--arg" | "--texture" => {
                let (name, value) = pair[1].split_once('=').unwrap();
                let place = place(kernel, name);
                args[place] = if pair[0] == "--texture" || kernel.params[place].passing == Passing::Sampler {
                    image(value)
                } else if value.ends_with(".npy") {
                    Arg::Buffer(Buffer::from_bytes(&array(&folder().join(value))))
                } else {
                    Arg::Scalar(number(value, &kernel.params[place]))
                };
            }
            "--arch" => {}
            "--shared" => dynamic_shared = pair[1].parse().unwrap(),
            other => panic!("{other}"),
        }
    }
    let launch = Launch { program: &program, entry: None, grid, block, args, dynamic_shared, options: options.clone() };
    let report = launch.run().map_err(|error| error.to_string())?;
    for (name, file) in case["expected"].as_object().unwrap() {
        let expected = array(&folder().join(file.as_str().unwrap()));
        let place = place(kernel, name);
        let got = report.buffers[place].as_ref().unwrap().to_bytes();
        if got != expected {
            let at = got.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0);
            let word = |bytes: &[u8]| bytes.get(at & !3..(at & !3) + 4).map(<[u8]>::to_vec);
            return Err(format!("argument {place}, byte {at}: {:x?}, not {:x?}", word(&got), word(&expected)));
        }
    }
    let approximate: Vec<&str> = case["approximate"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let reported: Vec<&str> = report.approximations.keys().map(String::as_str).collect();
    if approximate != reported { Err(format!("approximate: {reported:?}, not {approximate:?}")) } else { Ok(()) }
}

fn all(options: &Options) {
    let cases = std::fs::read_to_string(folder().join("cases.jsonl")).unwrap();
    let mut failures = Vec::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if let Err(failure) = run(&case, options) {
            failures.push(format!("{}: {failure}", case["name"]));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn alone() {
    all(&Options::default());
}

#[test]
fn by_the_interpreter() {
    all(&Options { engine: Engine::Interpreter, ..Options::default() });
}

#[test]
fn on_two_threads() {
    all(&Options { threads: 2, ..Options::default() });
}

#[test]
fn with_races_checked_and_lines_counted() {
    all(&Options { check_races: true, count_lines: true, trace_lane: Some(5), ..Options::default() });
}
