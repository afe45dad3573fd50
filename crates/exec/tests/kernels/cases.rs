//! The cases of tests/kernels: modules, their launches, and what they should leave.

use roundonce_arith::Format;
use roundonce_exec::{Arg, Buffer, Image, Launch, Options, Report};
use roundonce_ir::{AddressMode, Kernel, Passing, Program, Sampler, Scalar};
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

/// A line of the table, read.
pub(crate) struct Case {
    pub(crate) name: String,
    program: Program,
    grid: [u32; 3],
    block: [u32; 3],
    args: Vec<Arg>,
    dynamic_shared: u32,
    /// By argument.
    expected: Vec<(usize, Vec<u8>)>,
    approximate: Vec<String>,
}

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    let cases = std::fs::read_to_string(folder().join("cases.jsonl")).unwrap();
    cases.lines().map(|line| Case::read(&serde_json::from_str(line).unwrap())).collect()
}

impl Case {
    fn read(case: &Value) -> Case {
        let words: Vec<&str> = case["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let text = std::fs::read_to_string(folder().join(words[1])).unwrap();
        let parsed = roundonce_ptx::parse(&text);
        let machine = words.iter().position(|word| *word == "--arch").map(|at| words[at + 1].parse().unwrap());
        let settings = roundonce_ptx::Settings { machine, ..roundonce_ptx::Settings::default() };
        let program = roundonce_ptx::lower_with(&parsed.module, &settings);
        let program = program.unwrap_or_else(|findings| panic!("{}: {}", case["name"], findings[0]));
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
        let expected = case["expected"].as_object().unwrap().iter();
        let expected =
            expected.map(|(name, file)| (place(kernel, name), array(&folder().join(file.as_str().unwrap()))));
        let expected = expected.collect();
        let approximate = case["approximate"].as_array().unwrap().iter().filter_map(Value::as_str);
        let approximate = approximate.map(str::to_owned).collect();
        let name = case["name"].as_str().unwrap().to_owned();
        Case { name, program, grid, block, args, dynamic_shared, expected, approximate }
    }

    pub(crate) fn launch(&self, options: &Options) -> Launch<'_> {
        Launch {
            program: &self.program,
            entry: None,
            grid: self.grid,
            block: self.block,
            args: self.args.clone(),
            dynamic_shared: self.dynamic_shared,
            options: options.clone(),
        }
    }

    /// An error text where a result differs from the reference.
    pub(crate) fn compare(&self, report: &Report) -> Result<(), String> {
        for (place, expected) in &self.expected {
            let got = report.buffers[*place].as_ref().unwrap().to_bytes();
            if got != *expected {
                let at = got.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
                let word = |bytes: &[u8]| bytes.get(at & !3..(at & !3) + 4).map(<[u8]>::to_vec);
                return Err(format!("argument {place}, byte {at}: {:x?}, not {:x?}", word(&got), word(expected)));
            }
        }
        let reported: Vec<&String> = report.approximations.keys().collect();
        if reported.into_iter().ne(&self.approximate) {
            return Err(format!("approximate: {:?}, not {:?}", report.approximations, self.approximate));
        }
        Ok(())
    }
}
