//! `asm`: text to words.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use roundonce::answers::Checked;
use roundonce::isa::Finding;
use roundonce::sass::Generation;
use roundonce::sass::modern::{self, Target};
use roundonce::{sass, spirv};

use crate::{Ended, Failure, Status, files, lines, modules, report, sass_modern};

/// A language that has words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Language {
    /// SASS: machine code of NVIDIA's GPUs
    Sass,
    /// SPIR-V
    Spirv,
}

impl Language {
    /// The language that a file's name tells; of stdin, what it holds.
    pub(crate) fn of(path: &Path) -> Option<Language> {
        match modules::Language::of(path)? {
            modules::Language::Sass | modules::Language::Cubin => Some(Language::Sass),
            modules::Language::Spirv | modules::Language::SpirvText => Some(Language::Spirv),
            modules::Language::Ptx => None,
        }
    }
}

/// A target whose SASS is read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arch {
    /// 64-bit words in bundles with control words.
    Maxwell(Generation),
    /// 128-bit words.
    Modern(Target),
}

impl Arch {
    /// That of a cubin.
    pub(crate) fn of_cubin(bytes: &[u8]) -> Option<Arch> {
        let maxwell = || sass::Cubin::parse(bytes).ok().map(|cubin| Arch::Maxwell(cubin.generation()));
        modern::Cubin::target_of(bytes).map(Arch::Modern).or_else(maxwell)
    }
}

impl FromStr for Arch {
    type Err = String;
    fn from_str(text: &str) -> Result<Arch, String> {
        match text.parse() {
            Ok(generation) => Ok(Arch::Maxwell(generation)),
            Err(_) => text.parse().map(Arch::Modern).map_err(|problem| format!("{problem}, or sm_50 to sm_62")),
        }
    }
}

/// Whose the lines of stdin are without --arch, words of 64 bits or their texts.
pub(crate) const OF_LINES: Generation = Generation::Sm50;

/// Refuses a listing that can be read and has no instruction.
pub(crate) fn check_listing(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(target) = modern::listing_target(text) {
        return match modern::asm_file(text, target) {
            Ok(words) if words.is_empty() => Err(no_instruction(path)),
            _ => Ok(()),
        };
    }
    match sass::asm_file(text) {
        Ok(assembly) if assembly.words().is_empty() => Err(no_instruction(path)),
        _ => Ok(()),
    }
}

pub(crate) fn no_instruction(path: &Path) -> Failure {
    Failure::Input(format!("{}: the listing has no instruction", path.display()))
}

#[derive(Args)]
pub(crate) struct Arguments {
    /// The text; `-` reads stdin, with --lang sass an instruction a line; with --patch, the instruction
    file: PathBuf,
    /// The language (default: by the file's name)
    #[arg(long, value_enum)]
    lang: Option<Language>,
    /// The target of SASS: sm_50 to sm_62 have words of 64 bits, sm_70 to sm_121 of 128 (default: the one that the listing
    /// names, or sm_62; of lines on stdin, sm_50)
    #[arg(long, value_name = "SM")]
    arch: Option<Arch>,
    /// Replaces an instruction of this cubin by the text given in the place of a file; its control fields stay unless the
    /// text has its own
    #[arg(long, value_name = "CUBIN", requires = "at", requires = "output", conflicts_with = "arch")]
    patch: Option<PathBuf>,
    /// Where the instruction is: its address in the kernel, as listings have it
    #[arg(long, value_name = "ADDRESS", requires = "patch", value_parser = address)]
    at: Option<usize>,
    /// The kernel (needed when the cubin has several)
    #[arg(long, value_name = "NAME", requires = "patch")]
    entry: Option<String>,
    /// Where the words go: for SASS, bundles of a control word and three instructions (default: hex words on stdout);
    /// for SPIR-V, a little-endian module (needed)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// `0x90` or `144`.
fn address(text: &str) -> Result<usize, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is not an address such as 0x90"))
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    if let (Some(cubin), Some(at), Some(output)) = (&arguments.patch, arguments.at, &arguments.output) {
        let text = arguments.file.to_string_lossy();
        return sass_modern::patch(cubin, arguments.entry.as_deref(), at, &text, output);
    }
    match arguments.lang.or_else(|| Language::of(&arguments.file)) {
        Some(Language::Sass) => sass(arguments),
        Some(Language::Spirv) => spirv(arguments),
        None => Err(Failure::Input(format!(
            "{}: the language cannot be told from the name: add --lang sass or --lang spirv",
            arguments.file.display()
        ))),
    }
}

fn sass(arguments: &Arguments) -> Ended {
    let by_line = arguments.file.as_os_str() == "-" && arguments.lang.is_some() && arguments.output.is_none();
    let (target, generation) = match arguments.arch {
        Some(Arch::Modern(target)) => (Some(target), None),
        Some(Arch::Maxwell(generation)) => (None, Some(generation)),
        None if !by_line => (sass_modern::target_of(&files::read(&arguments.file)?), None),
        None => (None, None),
    };
    if let Some(target) = target {
        if by_line {
            return sass_modern::assemble_lines(target);
        }
        return sass_modern::assemble(&arguments.file, arguments.output.as_deref(), target);
    }
    if by_line {
        let answer = |line: &str, out: &mut String| {
            let word =
                sass::asm_line_for(line, generation.unwrap_or(OF_LINES)).map_err(|finding| finding.to_string())?;
            let _ = write!(out, "{word:#018x}");
            Ok(())
        };
        return lines::answer(None, || answer, lines::error_line);
    }
    let text = files::text(&arguments.file, files::read(&arguments.file)?)?;
    let assembly = match sass::asm_file_for(&text, generation) {
        Ok(assembly) if assembly.words().is_empty() => return Err(no_instruction(&arguments.file)),
        Ok(assembly) => assembly,
        Err(findings) => return refused(&arguments.file, text, findings),
    };
    if !assembly.findings.is_empty() {
        report::tell(Checked::new(&arguments.file.display().to_string(), text, assembly.findings.clone(), false))?;
    }
    match &arguments.output {
        Some(path) => files::write(path, &assembly.bytes())?,
        None => {
            let lines: String = assembly.words().iter().map(|word| format!("{word:#018x}\n")).collect();
            files::write_or_print(None, lines.as_bytes())?;
        }
    }
    Ok(Status::Done)
}

/// The findings on stderr, since stdout is for words.
pub(crate) fn refused(path: &Path, text: String, findings: Vec<Finding>) -> Ended {
    report::tell(Checked::new(&path.display().to_string(), text, findings, false))?;
    Ok(Status::Unreadable)
}

fn spirv(arguments: &Arguments) -> Ended {
    let Some(output) = &arguments.output else {
        return Err(Failure::Input("a SPIR-V module is binary: say where it goes with -o FILE".to_owned()));
    };
    let text = files::text(&arguments.file, files::read(&arguments.file)?)?;
    match spirv::assemble_module(&text, None) {
        Ok(module) if module.instructions().is_empty() => {
            Err(Failure::Input(format!("{}: there is no instruction in it", arguments.file.display())))
        }
        Ok(module) => {
            files::write(output, &module.to_bytes())?;
            Ok(Status::Done)
        }
        Err(findings) => refused(&arguments.file, text, findings),
    }
}
