//! The cases of tests/kernels and tests/shaders, run as they are and translated.

use std::path::{Path, PathBuf};

use roundonce::exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce::image;
use roundonce::ir::{Kernel, Param, Passing};
use roundonce::isa::SmTarget;
use roundonce::kernel::{
    Choice, Ready, Refusal, Source, array_argument, default_arguments, number, parameter, push_constants,
};
use roundonce::spirv::Assume;
use roundonce::translation::{Argument, Translation, translated_arguments};
use serde_json::Value;

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

/// A line of a table of cases.
pub(crate) struct Case {
    pub(crate) name: String,
    folder: PathBuf,
    words: Vec<String>,
}

impl Case {
    pub(crate) fn all(name: &str) -> Vec<Case> {
        let folder = folder(name);
        let table = std::fs::read_to_string(folder.join("cases.jsonl")).unwrap();
        let case = |line: &str| {
            let case: Value = serde_json::from_str(line).unwrap();
            let words = case["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
            let words = words.skip(1).collect();
            Case { name: case["name"].as_str().unwrap().to_owned(), folder: folder.clone(), words }
        };
        table.lines().map(case).collect()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join(&self.words[0])
    }

    fn options<'c>(&'c self, name: &'c str) -> impl Iterator<Item = &'c str> {
        let pairs = self.words[1..].chunks_exact(2);
        pairs.filter(move |pair| pair[0] == name).map(|pair| pair[1].as_str())
    }

    /// The machine that it is run on, where the case says one: in the variant that the module is for.
    pub(crate) fn target(&self) -> Option<SmTarget> {
        let asked: SmTarget = self.options("--arch").next()?.parse().unwrap();
        let text = std::fs::read_to_string(self.file()).unwrap();
        let own = text.split_once(".target")?.1.split([',', '\n']).next()?.trim().parse().unwrap_or(asked);
        Some(if own.number == asked.number { own } else { asked })
    }

    pub(crate) fn choice(&self) -> Choice {
        let assume = match self.options("--assume").next() {
            Some("strict") => Assume::Strict,
            None => Assume::default(),
            Some(other) => panic!("{other}"),
        };
        let spec = self.options("--spec").map(|given| {
            let (id, value) = given.split_once('=').unwrap();
            (id.parse().unwrap(), value.to_owned())
        });
        Choice { machine: self.target(), assume, spec: spec.collect(), ..Choice::default() }
    }

    pub(crate) fn read(&self) -> Result<Ready, Refusal> {
        let path = self.file();
        let bytes = std::fs::read(&path).unwrap();
        let text = std::str::from_utf8(&bytes);
        let source = match path.extension().and_then(|extension| extension.to_str()) {
            Some("ptx") => Source::Ptx(text.unwrap()),
            Some("spvasm") => Source::SpirvText(text.unwrap()),
            _ => Source::Spirv(&bytes),
        };
        Ready::read(source, &self.choice())
    }

    /// The launch that the case is.
    pub(crate) fn launch<'r>(&self, ready: &'r Ready) -> Launch<'r> {
        let kernel = ready.kernel();
        let axes = |name: &str| {
            let mut all = [1; 3];
            for (axis, text) in all.iter_mut().zip(self.options(name).next()?.split(',')) {
                *axis = text.parse().unwrap();
            }
            Some(all)
        };
        let block = axes("--block").or(kernel.required_block).unwrap_or([1; 3]);
        let dynamic_shared = self.options("--shared").next().map_or(0, |bytes| bytes.parse().unwrap());
        // What takes long to compile runs too short to be worth it.
        let options =
            Options { engine: Engine::Native, profile: ready.profile, compile_limit: 1 << 24, ..Options::default() };
        let grid = axes("--grid").unwrap_or([1; 3]);
        let (program, entry) = (&ready.program, Some(kernel.name.as_str()));
        Launch { program, entry, grid, block, args: self.arguments(kernel), dynamic_shared, options }
    }

    /// `in.npy,linear,clamp`
    fn image(&self, param: &Param, value: &str) -> Arg {
        let (file, words) = value.split_once(',').map_or((value, None), |(file, words)| (file, Some(words)));
        let (header, bytes) = array(&self.folder.join(file));
        let element = header.split_once("'descr': '").unwrap().1.split('\'').next().unwrap();
        let shape = header.split_once("'shape': (").unwrap().1.split(')').next().unwrap();
        let shape: Vec<u64> = shape.split(',').filter_map(|size| size.trim().parse().ok()).collect();
        let sampler = image::sampler_for(param, words).unwrap();
        Arg::Image(image::image(&element[1..], &shape, &bytes, sampler).unwrap())
    }

    fn arguments(&self, kernel: &Kernel) -> Vec<Arg> {
        let mut args: Vec<Option<Arg>> = vec![None; kernel.params.len()];
        for given in self.options("--arg") {
            let (name, value) = given.split_once('=').unwrap();
            let place = parameter(kernel, name).unwrap();
            let param = &kernel.params[place];
            args[place] = Some(match value.ends_with(".npy") {
                true if matches!(param.passing, Passing::Image(_)) => self.image(param, value),
                true => array_argument(param, array(&self.folder.join(value)).1),
                false if param.passing == Passing::Sampler => Arg::Sampler(image::sampler(value).unwrap()),
                false => Arg::Scalar(number(param.size, param.scalar, value).unwrap()),
            });
        }
        for given in self.options("--texture") {
            let (name, value) = given.split_once('=').unwrap();
            let place = parameter(kernel, name).unwrap();
            args[place] = Some(self.image(&kernel.params[place], value));
        }
        if let Some(block) = self.options("--push").next() {
            let digit = |at: usize| u8::from_str_radix(&block[at..at + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..block.len()).step_by(2).map(digit).collect();
            for (place, arg) in push_constants(kernel, &bytes).unwrap() {
                args[place] = Some(arg);
            }
        }
        let defaults = default_arguments(kernel, 1);
        let given = args.into_iter().enumerate();
        given.map(|(place, arg)| arg.or_else(|| defaults[place].clone()).unwrap()).collect()
    }
}

/// An .npy file: its header and the bytes behind it.
fn array(path: &Path) -> (String, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    (String::from_utf8_lossy(&bytes[10..start]).into_owned(), bytes[start..].to_vec())
}

/// What the translated kernel is given where the source's is given `launch`.
pub(crate) fn translated_launch<'r>(launch: &Launch<'_>, translation: &Translation, ready: &'r Ready) -> Launch<'r> {
    let source = launch.program.kernel(launch.entry).unwrap();
    let place = launch.program.kernels.iter().position(|kernel| kernel.name == source.name).unwrap();
    let arguments = &translation.arguments[place];
    let (args, dynamic_shared) = translated_arguments(source, arguments, &launch.args, launch.dynamic_shared);
    Launch {
        program: &ready.program,
        entry: Some(&ready.program.kernels[place].name),
        args,
        dynamic_shared,
        options: Options { profile: launch.options.profile, ..launch.options.clone() },
        ..*launch
    }
}

/// How the buffers of two launches differ.
pub(crate) fn difference(
    source: &[Option<Buffer>],
    arguments: &[Argument],
    translated: &[Option<Buffer>],
) -> Option<String> {
    let pairs = arguments.iter().zip(translated).filter_map(|(argument, buffer)| match argument {
        Argument::Param(index) => Some((*index, &source[*index], buffer)),
        _ => None,
    });
    for (index, source, translated) in pairs {
        let (Some(source), Some(translated)) = (source, translated) else { continue };
        let (expected, got) = (source.words(), translated.words());
        if let Some(word) = (0..expected.len()).find(|&word| expected.get(word) != got.get(word)) {
            let differing = expected.iter().zip(got).filter(|(expected, got)| expected != got).count();
            return Some(format!(
                "argument {index}: {differing} words differ, the first at {word}: {:#010x} becomes {:#010x}",
                expected[word], got[word]
            ));
        }
    }
    None
}
