//! Stdout: colours, a reader that goes away, and how much is said.

use std::io::{self, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice, StripStream};
use clap::{Args, ValueEnum};

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Colour {
    /// On a terminal, unless NO_COLOR says otherwise
    Auto,
    Always,
    Never,
}

/// What every verb takes.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Manners {
    /// When colours are used
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Colour,
    /// Results and errors alone: no notes, no progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more: of `why` the long recipes too, of `run` the steps executed and how many of them as native code
    #[arg(short, long, global = true)]
    verbose: bool,
}

static QUIET: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicBool = AtomicBool::new(false);
static CLOSED: AtomicBool = AtomicBool::new(false);

impl Manners {
    /// From here on they hold.
    pub(crate) fn apply(&self) {
        QUIET.store(self.quiet, Ordering::Relaxed);
        VERBOSE.store(self.verbose, Ordering::Relaxed);
        match self.color {
            Colour::Auto => {}
            Colour::Always => ColorChoice::AlwaysAnsi.write_global(),
            Colour::Never => ColorChoice::Never.write_global(),
        }
    }
}

/// Whether notes and progress are left out.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether more is said.
pub(crate) fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Whether nothing reads stdout any more.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Stdout. Once its reader has gone away what is written is lost, which is no error: the verb ends with the status that
/// its answer has.
pub(crate) struct Stdout(StdoutLock<'static>);

/// For text without colours.
pub(crate) fn stdout() -> Stdout {
    Stdout(io::stdout().lock())
}

/// For text with colours, which are taken away where they are not wanted.
pub(crate) fn styled() -> Box<dyn Write> {
    let plain: Box<dyn Write> = Box::new(stdout());
    match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => Box::new(StripStream::new(plain)),
        _ => plain,
    }
}

/// What stands for an outcome once the reader has gone away.
fn unless_closed<T>(outcome: io::Result<T>, instead: T) -> io::Result<T> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            CLOSED.store(true, Ordering::Relaxed);
            Ok(instead)
        }
        outcome => outcome,
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_closed(self.0.write(bytes), bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        unless_closed(self.0.flush(), ())
    }
}
