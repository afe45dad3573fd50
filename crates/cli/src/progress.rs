//! How far a long run has come: a bar on stderr, only on a terminal and only past one second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal;

/// A shorter run shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    shown: AtomicBool,
}

impl Progress {
    /// Of so many steps.
    pub(crate) fn new(steps: u64) -> Progress {
        Progress::with(Some(steps), "{wide_bar} {percent:>3} %  {eta} left")
    }

    /// Of an unknown number of steps.
    pub(crate) fn open(what: &str) -> Progress {
        Progress::with(None, &format!("{{spinner}} {{human_pos}} {what}, {{elapsed}}"))
    }

    fn with(steps: Option<u64>, template: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(steps, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar());
        Progress { bar: bar.with_style(style), start: Instant::now(), shown: AtomicBool::new(false) }
    }

    /// More steps are ahead.
    pub(crate) fn expect(&self, steps: u64) {
        self.bar.inc_length(steps);
    }

    /// More steps are done.
    pub(crate) fn advance(&self, steps: u64) {
        self.bar.inc(steps);
        if self.start.elapsed() > PATIENCE && !terminal::is_quiet() && !self.shown.swap(true, Ordering::Relaxed) {
            // Draws nothing unless stderr is a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
