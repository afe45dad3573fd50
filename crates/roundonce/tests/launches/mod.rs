//! Launches from the tables of tests/kernels.

use std::path::{Path, PathBuf};

use roundonce::exec::{Arg, Buffer, Engine, Launch, Options, Report};
use roundonce::kernel::{self, Choice, Ready, Refusal, Source};
use serde_json::Value;

/// A line of a table.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) module: PathBuf,
    folder: PathBuf,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) choice: Choice,
    given: Vec<(String, String)>,
}

/// Every case of a folder.
pub(crate) fn cases(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let table = std::fs::read_to_string(folder.join("cases.jsonl")).unwrap();
    table.lines().map(|line| case(&folder, &serde_json::from_str(line).unwrap())).collect()
}

fn case(folder: &Path, line: &Value) -> Case {
    let words: Vec<&str> = line["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut case = Case {
        name: line["name"].as_str().unwrap().to_owned(),
        module: folder.join(words[1]),
        folder: folder.to_owned(),
        grid: [1; 3],
        block: [1; 3],
        shared: 0,
        choice: Choice::default(),
        given: Vec::new(),
    };
    let size = |text: &str| {
        let mut size = [1; 3];
        size.iter_mut().zip(text.split(',')).for_each(|(size, text)| *size = text.parse().unwrap());
        size
    };
    for pair in words[2..].chunks_exact(2) {
        match (pair[0], pair[1]) {
            ("--grid", value) => case.grid = size(value),
            ("--block", value) => case.block = size(value),
            ("--shared", value) => case.shared = value.parse().unwrap(),
            ("--arch", value) => case.choice.machine = Some(kernel::machine(value).unwrap()),
            ("--arg", value) => {
                let (name, value) = value.split_once('=').unwrap();
                case.given.push((name.to_owned(), value.to_owned()));
            }
            _ => {}
        }
    }
    case
}

/// The data of a file of NumPy's.
fn npy(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[10 + header..].to_vec()
}

impl Case {
    /// The arguments of the source's launch.
    pub(crate) fn arguments(&self, ready: &Ready) -> Vec<Arg> {
        let kernel = ready.kernel();
        let mut all: Vec<Option<Arg>> = vec![None; kernel.params.len()];
        for (name, value) in &self.given {
            let place = kernel::parameter(kernel, name).unwrap();
            let param = &kernel.params[place];
            all[place] = Some(if value.ends_with(".npy") {
                kernel::array_argument(param, npy(&self.folder.join(value)))
            } else if let Some(rest) = value.strip_prefix("zeros:") {
                let (ty, count) = rest.split_once(':').unwrap();
                let bytes = ty.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse::<usize>().unwrap() / 8;
                Arg::Buffer(Buffer::from_bytes(&vec![0; bytes * count.parse::<usize>().unwrap()]))
            } else {
                Arg::Scalar(kernel::number(param.size, param.scalar, value).unwrap())
            });
        }
        all.into_iter().map(|arg| arg.unwrap_or(Arg::Scalar(0))).collect()
    }

    /// Runs a kernel as the case says.
    pub(crate) fn run(&self, ready: &Ready, args: Vec<Arg>, shared: u32) -> Report {
        let launch = Launch {
            program: &ready.program,
            entry: Some(&ready.kernel().name),
            grid: self.grid,
            block: self.block,
            args,
            dynamic_shared: shared,
            // What takes long to compile runs too short to be worth it.
            options: Options {
                engine: Engine::Native,
                profile: ready.profile,
                compile_limit: 1 << 24,
                ..Options::default()
            },
        };
        launch.run().unwrap_or_else(|error| panic!("{}: {error:?}", self.name))
    }

    /// The source, read.
    pub(crate) fn read(&self, source: Source<'_>) -> Result<Ready, Refusal> {
        Ready::read(source, &self.choice)
    }
}
