//! The command `roundonce`: the only place that knows a terminal. One file a verb. The binary and `python -m roundonce` are
//! this function, [`command`]; nothing else is public.
//!
//! Exit status: 0 done, equal, valid; 1 a finding; 2 usage or unreadable input; 3 a construct that is not supported.

mod allowed;
mod answer_output;
mod argument;
mod array;
mod asm;
mod bits;
mod check;
mod command_files;
mod cuda;
mod diff;
mod diff_kernels;
mod disasm;
mod eval;
mod eval_arrays;
mod eval_matrices;
mod examples;
mod explain;
mod files;
mod forms;
mod images;
mod launch;
mod lines;
mod lsp;
mod memory;
mod modules;
mod options;
mod output;
mod plot;
mod progress;
mod report;
mod run;
mod run_observed;
mod run_sass;
mod sarif;
mod sass_modern;
mod signals;
mod smoke;
mod sweep;
mod terminal;
mod threads;
mod translate;
mod translate_kernel;
mod vectors;
mod why;
mod why_arrays;
mod why_kernel;
mod why_reference;
mod why_report;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use roundonce::answers::NoAnswer;

/// What a GPU's multiply-add instructions (PTX, SASS, SPIR-V) compute, bit for bit on a CPU, and why two numbers differ
#[derive(Parser)]
#[command(name = "roundonce", version, max_term_width = 100, after_help = examples::ALL)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    manners: terminal::Manners,
}

#[derive(Subcommand)]
enum Verb {
    /// One instruction on given operands; `-` evaluates a line at a time from stdin, `--in` arrays
    #[command(after_help = examples::EVAL)]
    Eval(eval::Arguments),
    /// One instruction, step by step, with what its neighbours would have given; or what a finding's code stands for
    #[command(after_help = examples::EXPLAIN)]
    Explain(explain::Arguments),
    /// One number taken apart in each format, from f64 to those of four bits
    #[command(after_help = examples::BITS)]
    Bits(bits::Arguments),
    /// Which evaluation of an expression, or run of a kernel, gives each seen value; alone, a published case
    #[command(after_help = examples::WHY)]
    Why(why::Arguments),
    /// Whether two expressions, instructions, kernels or files of results are bit-equal; else the first input that shows it
    #[command(after_help = examples::DIFF)]
    Diff(diff::Arguments),
    /// An instruction, an expression or a kernel in another language with the same bits, or what has no counterpart
    #[command(after_help = examples::TRANSLATE)]
    Translate(translate::Arguments),
    /// The table of every instruction form
    #[command(after_help = examples::FORMS)]
    Forms(forms::Arguments),
    /// Run a kernel over a grid, exactly
    #[command(after_help = examples::RUN)]
    Run(run::Arguments),
    /// Validate files against the documents' rules
    #[command(after_help = examples::CHECK)]
    Check(check::Arguments),
    /// The language server for editors, on stdin and stdout
    #[command(after_help = examples::LSP)]
    Lsp(lsp::Arguments),
    /// SASS or SPIR-V text to its words
    #[command(after_help = examples::ASM)]
    Asm(asm::Arguments),
    /// SASS or SPIR-V words to their text
    #[command(after_help = examples::DISASM)]
    Disasm(disasm::Arguments),
    /// Test vectors: make them, verify captured results
    #[command(after_help = examples::VECTORS)]
    Vectors(vectors::Arguments),
    /// Every operand of a space, in shards that can be continued
    #[command(after_help = examples::SWEEP)]
    Sweep(sweep::Arguments),
    /// A shell's completions of this command
    #[command(after_help = examples::COMPLETIONS)]
    Completions(command_files::Completions),
    /// The manual pages of all verbs, for packages
    #[command(hide = true)]
    Man(command_files::Man),
}

/// What a verb ends with.
type Ended = Result<Status, Failure>;

/// How a verb ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    /// 0: done, equal, valid.
    Done,
    /// 1: a difference, an invalid module, a mismatch.
    Found,
    /// 2: some of the input was unreadable; the rest was done.
    Unreadable,
}

/// Why a verb could not do its work.
enum Failure {
    /// 2: usage or unreadable input.
    Input(String),
    /// 3: a construct that is not supported.
    Unsupported(String),
    /// The reader of a file that is a pipe went away: there is nothing to say.
    OutputClosed,
}

impl From<NoAnswer> for Failure {
    fn from(reason: NoAnswer) -> Failure {
        match reason {
            NoAnswer::Input(message) => Failure::Input(message),
            NoAnswer::Unsupported(message) => Failure::Unsupported(message),
        }
    }
}

impl From<roundonce::Finding> for Failure {
    fn from(finding: roundonce::Finding) -> Failure {
        NoAnswer::from(finding).into()
    }
}

/// An error of writing to stdout; [`files::failed`] makes those of paths.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.raw_os_error() {
            Some(_) => files::failed(Path::new("standard output"), error),
            None => Failure::Input(error.to_string()),
        }
    }
}

/// What the process was asked.
static WORDS: RwLock<Vec<OsString>> = RwLock::new(Vec::new());

/// Does what the words of a command line ask, the program's name first, and returns the exit status.
pub fn command(words: impl Iterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.collect();
    WORDS.write().unwrap_or_else(PoisonError::into_inner).clone_from(&words);
    let arguments = output::hide_signs(words.into_iter());
    let arguments = Arguments::try_parse_from(output::join_profiles(arguments));
    let ended = arguments.map_or_else(usage, run).and_then(flushed);
    let (code, message) = match ended {
        Ok(Status::Done) | Err(Failure::OutputClosed) => (0, None),
        Ok(Status::Found) => (1, None),
        Ok(Status::Unreadable) => (2, None),
        Err(Failure::Input(message)) => (2, Some(message)),
        Err(Failure::Unsupported(message)) => (3, Some(message)),
    };
    if let Some(message) = message {
        output::error(&message);
    }
    code
}

/// Help, the version, or what is wrong with the arguments.
fn usage(mut error: clap::Error) -> Ended {
    suggest_listed(&mut error);
    if !error.use_stderr() {
        error.print()?;
        return Ok(Status::Done);
    }
    output::usage(&error.render().ansi().to_string());
    Ok(Status::Unreadable)
}

/// Of the verbs that a misspelled one may be, those that the help lists.
fn suggest_listed(error: &mut clap::Error) {
    let is_listed = |name: &String| {
        Arguments::command().get_subcommands().any(|verb| verb.get_name() == name && !verb.is_hide_set())
    };
    let listed = match error.remove(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(names)) => names.into_iter().filter(is_listed).collect::<Vec<_>>(),
        Some(ContextValue::String(name)) => Some(name).into_iter().filter(is_listed).collect(),
        _ => return,
    };
    if !listed.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(listed));
    }
}

/// What stdout holds back goes out, or the verb has failed.
fn flushed(status: Status) -> Ended {
    terminal::stdout().flush()?;
    Ok(status)
}

fn run(arguments: Arguments) -> Ended {
    arguments.manners.apply();
    match arguments.verb {
        Verb::Eval(arguments) => eval::run(&arguments),
        Verb::Explain(arguments) => explain::run(&arguments),
        Verb::Bits(arguments) => bits::run(&arguments),
        Verb::Why(arguments) => why::run(&arguments),
        Verb::Diff(arguments) => diff::run(&arguments),
        Verb::Forms(arguments) => forms::run(&arguments),
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Lsp(arguments) => lsp::run(&arguments),
        Verb::Asm(arguments) => asm::run(&arguments),
        Verb::Disasm(arguments) => disasm::run(&arguments),
        Verb::Translate(arguments) => translate::run(&arguments),
        Verb::Vectors(arguments) => vectors::run(&arguments),
        Verb::Sweep(arguments) => sweep::run(&arguments),
        Verb::Completions(arguments) => command_files::completions(&arguments),
        Verb::Man(arguments) => command_files::man(&arguments),
    }
}
