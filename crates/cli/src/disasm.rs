//! `disasm`: words to text; a listing in another style of scheduling.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use roundonce::kernel::Refusal;
use roundonce::sass::{self, Cubin, Generation, Layout, ScheduleStyle, modern};
use roundonce::spirv;
use roundonce_vectors::without_mark;

use crate::asm::{Arch, Language, OF_LINES, check_listing};
use crate::modules::refused;
use crate::options::{self, Given, Kind};
use crate::{Ended, Failure, Status, files, lines, sass_modern};

/// How immediates look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Style {
    /// Decimal where it reads back to the same bits, else hex
    Exact,
    /// As nvdisasm 12.8 prints
    Nvdisasm,
    /// Always the bits
    Hex,
}

/// How scheduling looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Schedule {
    /// &req={0,2} ?W5G
    Seed,
    /// 05:-:-:Y:5
    Maxas,
    /// [B0-2---:R-:W-:Y:S05]
    Cuassembler,
    /// sched (st 0x5 wt 0x5) (st 0x1) (st 0x1)
    Envytools,
}

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// A cubin, raw bundles, hex words, a .sass listing to be written in another style, a .spv module; `-` reads stdin, with
    /// --lang sass a word a line
    file: PathBuf,
    /// The language (default: by the file's name or content)
    #[arg(long, value_enum)]
    lang: Option<Language>,
    /// The target of SASS words: sm_50 to sm_62 have words of 64 bits, sm_70 to sm_121 of 128 (default: the one that a
    /// cubin or a listing names, or sm_62; of lines on stdin, sm_50)
    #[arg(long, value_name = "SM")]
    arch: Option<Arch>,
    /// How immediates look
    #[arg(long, value_enum, default_value = "exact")]
    style: Style,
    /// Write the scheduling, in this style
    #[arg(long, value_enum)]
    schedule: Option<Schedule>,
    /// Write each instruction's address before it and its word behind it
    #[arg(long)]
    words: bool,
    /// The file has instruction words alone, no control words
    #[arg(long)]
    no_control: bool,
    /// Where the text goes (default: stdout)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    fn layout(&self) -> Layout {
        Layout {
            style: match self.style {
                Style::Exact => sass::Style::Exact,
                Style::Nvdisasm => sass::Style::Nvdisasm,
                Style::Hex => sass::Style::Hex,
            },
            schedule: self.schedule.map(|style| match style {
                Schedule::Seed => ScheduleStyle::Seed,
                Schedule::Maxas => ScheduleStyle::Maxas,
                Schedule::Cuassembler => ScheduleStyle::CuAssembler,
                Schedule::Envytools => ScheduleStyle::Envytools,
            }),
            addresses: self.words,
            words: self.words,
            generation: self.generation().unwrap_or_default(),
        }
    }

    /// Whose 64-bit words they are, where that is said.
    fn generation(&self) -> Option<Generation> {
        match self.arch {
            Some(Arch::Maxwell(generation)) => Some(generation),
            Some(Arch::Modern(_)) | None => None,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let layout = arguments.layout();
    let go_with = |kind| {
        if arguments.schedule == Some(Schedule::Envytools) && matches!(kind, Kind::ModernWords | Kind::ModernWordLines)
        {
            let problem = "envytools' sched lines are of bundles, which words of 128 bits have not";
            return Err(Failure::Input(problem.to_owned()));
        }
        arguments.given.check(options::DISASM, &[kind], arguments.file.display())
    };
    let is_stdin = arguments.file.as_os_str() == "-";
    if is_stdin && arguments.lang == Some(Language::Sass) && !files::stdin_is_elf() {
        if let Some(Arch::Modern(target)) = arguments.arch {
            go_with(Kind::ModernWordLines)?;
            return sass_modern::disassemble_lines(target, &layout);
        }
        go_with(Kind::WordLines)?;
        let generation = arguments.generation().unwrap_or(OF_LINES);
        let answer = |line: &str, out: &mut String| {
            let word = read_word(line)?;
            sass::disasm_word_into(word, layout.style, generation, out).map_err(|finding| finding.to_string())
        };
        return lines::answer(None, || answer, lines::error_line);
    }
    let bytes = files::read(&arguments.file)?;
    if arguments.lang.or_else(|| Language::of(&arguments.file)) == Some(Language::Spirv) {
        go_with(Kind::Spirv)?;
        let text = spirv::disassemble(&bytes)
            .map_err(|finding| Failure::Input(format!("{}: {finding}", arguments.file.display())))?;
        files::write_or_print(arguments.output.as_deref(), text.as_bytes())?;
        return Ok(Status::Done);
    }
    if let Some(asked) = arguments.arch
        && Arch::of_cubin(&bytes).is_some_and(|found| found != asked)
    {
        let problem = "the cubin is for another target than --arch says: leave --arch out";
        return Err(Failure::Input(format!("{}: {problem}", arguments.file.display())));
    }
    let target = match arguments.arch {
        None => sass_modern::target_of(&bytes),
        Some(Arch::Modern(target)) => Some(target),
        Some(Arch::Maxwell(_)) => None,
    };
    go_with(match target {
        Some(_) => Kind::ModernWords,
        None if Cubin::is_elf(&bytes) => Kind::MachineCode,
        None => Kind::Words,
    })?;
    let text = sass_text(arguments, bytes, target, &layout)?;
    files::write_or_print(arguments.output.as_deref(), text.as_bytes())?;
    Ok(Status::Done)
}

fn read_word(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let fits = (1..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| u64::from_str_radix(digits, 16).ok())
        .flatten()
        .ok_or_else(|| format!("`{text}` is not a word: expected up to 16 hex digits, such as 0x5980018000270100"))
}

/// The text of whatever the file holds.
fn sass_text(
    arguments: &Arguments,
    bytes: Vec<u8>,
    target: Option<modern::Target>,
    layout: &Layout,
) -> Result<String, Failure> {
    let named = |finding: roundonce::Finding| Failure::Input(format!("{}: {finding}", arguments.file.display()));
    if let Some(target) = target {
        return sass_modern::disassemble(&arguments.file, &bytes, target, layout);
    }
    if Cubin::is_elf(&bytes) {
        return Cubin::parse(&bytes).and_then(|cubin| cubin.disassemble(layout)).map_err(named);
    }
    let words = match std::str::from_utf8(without_mark(&bytes)) {
        Ok(text) => match hex_words(text) {
            Some(words) => words,
            None => return listing(arguments, text, layout),
        },
        Err(_) => raw_words(arguments, &bytes)?,
    };
    if arguments.no_control {
        Ok(sass::disasm_words(&words, layout))
    } else {
        sass::disasm_bundles(&words, layout).map_err(named)
    }
}

/// A text of nothing but hex words.
fn hex_words(text: &str) -> Option<Vec<u64>> {
    let words: Option<Vec<u64>> = text.split_whitespace().map(|word| read_word(word).ok()).collect();
    words.filter(|words| !words.is_empty())
}

fn raw_words(arguments: &Arguments, bytes: &[u8]) -> Result<Vec<u64>, Failure> {
    let (words, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        let file = arguments.file.display();
        return Err(Failure::Input(format!(
            "{file}: {} bytes are neither text nor whole words of 8 bytes",
            bytes.len()
        )));
    }
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// What is wrong in a listing, and where.
pub(crate) fn no_listing(file: &Path, text: &str, findings: Vec<roundonce::Finding>) -> Failure {
    refused(file, text, Refusal::Findings { findings, unsupported: false })
}

/// A listing, assembled and written in another style.
fn listing(arguments: &Arguments, text: &str, layout: &Layout) -> Result<String, Failure> {
    check_listing(&arguments.file, text)?;
    let assembly = sass::asm_file_for(text, arguments.generation())
        .map_err(|findings| no_listing(&arguments.file, text, findings))?;
    let layout = &Layout { generation: assembly.generation, ..*layout };
    if layout.schedule.is_none() || arguments.no_control {
        return Ok(sass::disasm_words(&assembly.words(), layout));
    }
    let words: Vec<u64> = assembly.bundles().into_iter().flatten().collect();
    sass::disasm_bundles(&words, layout)
        .map_err(|finding| Failure::Input(format!("{}: {finding}", arguments.file.display())))
}
