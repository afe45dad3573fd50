//! `asm`: text to words.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use roundonce::sass::modern::{self, Target};
use roundonce::{sass, spirv};

use crate::report::{Checked, Format};
use crate::{Ended, Failure, Status, files, report};

/// A language that has words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Language {
    /// Maxwell SASS
    Sass,
    /// SPIR-V
    Spirv,
}

impl Language {
    /// The language that a file's name tells.
    pub(crate) fn of(path: &Path) -> Option<Language> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("sass" | "cubin") => Some(Language::Sass),
            Some("spv" | "spvasm") => Some(Language::Spirv),
            _ => None,
        }
    }
}

/// A target whose SASS is read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arch {
    /// 64-bit words in bundles with control words.
    Maxwell,
    /// 128-bit words.
    Modern(Target),
}

impl FromStr for Arch {
    type Err = String;
    fn from_str(text: &str) -> Result<Arch, String> {
        let number = text.strip_prefix("sm_").and_then(|digits| digits.parse::<u32>().ok());
        match number {
            Some(number) if sass::MAXWELL_TARGETS.contains(&number) => Ok(Arch::Maxwell),
            _ => text.parse().map(Arch::Modern).map_err(|problem| format!("{problem}, or sm_50 to sm_62")),
        }
    }
}

/// Refuses a listing that can be read and has no instruction.
pub(crate) fn check_listing(path: &Path, text: &str) -> Result<(), Failure> {
    match sass::asm_file(text) {
        Ok(assembly) if assembly.words().is_empty() => Err(no_instruction(path)),
        _ => Ok(()),
    }
}

fn no_instruction(path: &Path) -> Failure {
    Failure::Input(format!("{}: the listing has no instruction", path.display()))
}

#[derive(Args)]
pub(crate) struct Arguments {
    /// The text, or `-` for an instruction a line on stdin
    file: PathBuf,
    /// The language (default: by the file's name)
    #[arg(long, value_enum)]
    lang: Option<Language>,
    /// The target of SASS: sm_70 to sm_121 have words of 128 bits (default: sm_50, whose words have 64)
    #[arg(long, value_name = "SM")]
    arch: Option<Arch>,
    /// Where the words go: for SASS, bundles of a control word and three instructions (default: hex words on stdout);
    /// for SPIR-V, a little-endian module (needed)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
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
    if let Some(Arch::Modern(target)) = arguments.arch {
        return modern_sass(arguments, target);
    }
    if arguments.file.as_os_str() == "-" && arguments.output.is_none() {
        let answer = |line: &str, out: &mut String| {
            let word = sass::asm_line(line).map_err(|finding| finding.to_string())?;
            let _ = write!(out, "{word:#018x}");
            Ok(())
        };
        return files::answer_lines(answer, files::error_line);
    }
    let text = files::text(&arguments.file, files::read(&arguments.file)?)?;
    let assembly = match sass::asm_file(&text) {
        Ok(assembly) if assembly.words().is_empty() => return Err(no_instruction(&arguments.file)),
        Ok(assembly) => assembly,
        Err(findings) => {
            report::write(Format::Text, &[Checked::new(&arguments.file, text, findings, false)])?;
            return Ok(Status::Unreadable);
        }
    };
    match &arguments.output {
        Some(path) => files::write(path, &assembly.bytes())?,
        None => {
            let lines: String = assembly.words().iter().map(|word| format!("{word:#018x}\n")).collect();
            files::write_or_print(None, lines.as_bytes())?;
        }
    }
    Ok(Status::Done)
}

/// Words of 128 bits.
fn modern_sass(arguments: &Arguments, target: Target) -> Ended {
    if arguments.file.as_os_str() == "-" && arguments.output.is_none() {
        let answer = |line: &str, out: &mut String| {
            let word = modern::asm_line(line, target).map_err(|finding| finding.to_string())?;
            let _ = write!(out, "{word:#034x}");
            Ok(())
        };
        return files::answer_lines(answer, files::error_line);
    }
    let text = files::text(&arguments.file, files::read(&arguments.file)?)?;
    let words = match modern::asm_file(&text, target) {
        Ok(words) if words.is_empty() => return Err(no_instruction(&arguments.file)),
        Ok(words) => words,
        Err(findings) => {
            report::write(Format::Text, &[Checked::new(&arguments.file, text, findings, false)])?;
            return Ok(Status::Unreadable);
        }
    };
    match &arguments.output {
        Some(path) => files::write(path, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?,
        None => {
            let lines: String = words.iter().map(|word| format!("{word:#034x}\n")).collect();
            files::write_or_print(None, lines.as_bytes())?;
        }
    }
    Ok(Status::Done)
}

fn spirv(arguments: &Arguments) -> Ended {
    let Some(output) = &arguments.output else {
        return Err(Failure::Input("a SPIR-V module is binary: say where it goes with -o FILE".to_owned()));
    };
    let text = files::text(&arguments.file, files::read(&arguments.file)?)?;
    match spirv::assemble(&text) {
        Ok(words) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            files::write(output, &bytes)?;
            Ok(Status::Done)
        }
        Err(findings) => {
            report::write(Format::Text, &[Checked::new(&arguments.file, text, findings, false)])?;
            Ok(Status::Unreadable)
        }
    }
}
