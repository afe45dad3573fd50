//! What the verbs share: formats, colours, errors.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use roundonce::why::{Line, Role};
use roundonce::{Profile, ProfileChoice, SmTarget, Target};
use serde::Serialize;

use crate::modules::Language;
use crate::{Failure, terminal};

/// Who reads the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// A person.
    Text,
    /// A program.
    Json,
}

/// `--format`.
#[derive(Args)]
pub(crate) struct FormatArgument {
    /// Who reads the output: a person or a program
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// `--target`, `--ptx`.
#[derive(Args)]
pub(crate) struct TargetArguments {
    /// The PTX target, such as sm_20, sm_100a or sm_100f, where the meaning depends on it (default: the lowest that has
    /// the form)
    #[arg(long, value_name = "SM", value_parser = roundonce::parse_sm)]
    target: Option<SmTarget>,
    /// The PTX version, where the meaning depends on it
    #[arg(long, value_name = "VERSION", value_parser = roundonce::parse_ptx)]
    ptx: Option<roundonce::Version>,
}

impl TargetArguments {
    pub(crate) fn target(&self) -> Target {
        Target { sm: self.target, ptx: self.ptx }
    }
}

/// `--target`, `--ptx`, `--arch`.
#[derive(Args)]
pub(crate) struct MachineArguments {
    #[command(flatten)]
    target: TargetArguments,
    /// The machine, such as sm_90: --target, said of what runs and not of what is compiled
    #[arg(long, value_name = "SM", value_parser = roundonce::parse_sm, conflicts_with = "target")]
    arch: Option<SmTarget>,
}

impl MachineArguments {
    pub(crate) fn target(&self) -> Target {
        let target = self.target.target();
        Target { sm: target.sm.or(self.arch), ..target }
    }
}

/// `--profile`.
#[derive(Args)]
pub(crate) struct ProfileArgument {
    /// What the documents leave open: machines by name and FIELD=VALUE, separated by commas (gt200, sm_90, apple-m4,
    /// tininess=result, nan_f64=abc); docs/decisions.md lists them
    #[arg(long, value_name = "PROFILE", value_parser = ProfileChoice::parse)]
    profile: Option<ProfileChoice>,
}

impl ProfileArgument {
    pub(crate) fn profile(&self) -> Profile {
        self.profile.as_ref().map_or(Profile::NVIDIA, |choice| choice.apply(Profile::NVIDIA))
    }
}

/// The arguments with the value of `--profile`, which `run` may leave out, joined to it: anything but an option or a kernel.
pub(crate) fn join_profiles(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let value = argument.to_str().filter(|text| !text.starts_with('-') && Language::of(Path::new(text)).is_none());
        match (joined.last_mut(), value) {
            (Some(last), Some(value)) if last == "--profile" => *last = format!("--profile={value}").into(),
            _ => joined.push(argument),
        }
    }
    joined
}

/// Characters of a word of a message.
const LONGEST_WORD: usize = 400;

/// Stands for the `-` of a negative operand while the options are told apart from the operands: `-0x3f800000` and
/// `-inf` are no options.
const MINUS: char = '\u{2212}';

/// The arguments with the sign of negative numbers and expressions hidden from the option parser.
pub(crate) fn hide_signs(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let hide = |argument: OsString| {
        let Some(rest) = argument.to_str().and_then(|text| text.strip_prefix('-')) else { return argument };
        let lower = rest.to_ascii_lowercase();
        let number = lower.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            || ["inf", "nan"].iter().any(|name| lower.starts_with(name));
        // `-a*b+c`, `-(a+b)`, `-a - b`: no option has an operator.
        let expression = !rest.starts_with('-') && rest.contains(['*', '+', '(', ' ']) && !rest.contains('/');
        if number || expression { format!("{MINUS}{rest}").into() } else { argument }
    };
    arguments.map(hide).collect()
}

/// Shows the sign again.
pub(crate) fn show_sign(text: &str) -> String {
    text.replacen(MINUS, "-", 1)
}

/// The same, of an argument that is text.
pub(crate) fn signed(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(show_sign(text))
}

/// The colours of a terminal, those of the pictures as far as it has them; elsewhere they are stripped.
fn style(role: Role) -> Style {
    match role {
        Role::Plain => Style::new(),
        Role::Strong => Style::new().bold(),
        Role::Label => AnsiColor::Cyan.on_default(),
        Role::Kept => AnsiColor::Blue.on_default().bold(),
        Role::Dropped => AnsiColor::Red.on_default(),
        Role::Faint => Style::new().dimmed(),
    }
}

/// Writes lines to stdout.
pub(crate) fn lines(lines: &[Line]) -> Result<(), Failure> {
    let mut out = terminal::styled();
    for line in lines {
        for (role, text) in &line.0 {
            let style = style(*role);
            write!(out, "{style}{text}{style:#}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes one JSON object to stdout.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::Input(error.to_string()))?;
    writeln!(terminal::stdout(), "{text}")?;
    Ok(())
}

/// Writes an error to stderr.
pub(crate) fn error(message: &str) {
    say("error", AnsiColor::Red, message);
}

/// Writes a note to stderr.
pub(crate) fn note(message: &str) {
    if !terminal::is_quiet() {
        say("note", AnsiColor::Cyan, message);
    }
}

fn say(level: &str, colour: AnsiColor, message: &str) {
    let style = colour.on_default().bold();
    tell(&format!("{style}{level}{style:#}: {message}\n"));
}

/// What the option parser says of the arguments, their signs as they were given.
pub(crate) fn usage(message: &str) {
    tell(&message.replace(MINUS, "-"));
}

fn tell(message: &str) {
    // Where stderr is gone, it cannot be told.
    let _ = write!(anstream::stderr().lock(), "{}", readable(message));
}

/// A message with its long words cut off.
fn readable(message: &str) -> String {
    let cut = |word: &str| match word.char_indices().nth(LONGEST_WORD) {
        Some((end, _)) => format!("{}…{}", &word[..end], &word[word.trim_end().len()..]),
        None => word.to_owned(),
    };
    message.split_inclusive(char::is_whitespace).map(cut).collect()
}
