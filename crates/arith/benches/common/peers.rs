//! Peers in Python, each a process that takes its turns when it is asked.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A process of `dev/peers/arrays.py`; `ROUNDONCE_PYTHON` names the interpreter that has the packages.
pub(crate) struct Peer {
    process: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Peer {
    /// None where the peer, or Python, is not installed.
    pub(crate) fn start(name: &str, lanes: usize) -> Option<Peer> {
        let python = std::env::var("ROUNDONCE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dev/peers/arrays.py");
        let mut command = Command::new(python);
        command.args([script, name, &lanes.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().ok()?;
        let questions = process.stdin.take()?;
        let mut answers = BufReader::new(process.stdout.take()?).lines();
        match answers.next() {
            Some(Ok(line)) if line == "ready" => Some(Peer { process, questions, answers }),
            _ => {
                let _ = process.wait();
                None
            }
        }
    }

    /// The nanoseconds of so many repeats, by its own clock.
    pub(crate) fn nanoseconds(&mut self, repeats: usize) -> f64 {
        writeln!(self.questions, "{repeats}").expect("the peer reads");
        let answer = self.answers.next().expect("the peer answers").expect("a line of text");
        answer.parse().expect("nanoseconds")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It waits for a question for ever otherwise; nothing is lost with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
