//! `why --test-reference`: a multiply-add of one's own, run on inputs on which evaluations differ.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use roundonce::arith::Format as Lane;
use roundonce::isa::hex_bits;
use roundonce::why::{Line, Outcome, ReferenceReport, ReferenceTest, Verdict};
use roundonce::{Profile, Target, instruction};

use serde::Serialize;

use crate::answer_output::{AnswerOutput, Writer};
use crate::{Ended, Failure};

/// How many cases a reference is given.
const CASES: usize = 100_000;
/// How long it may take for them.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of a line of its output.
const LONGEST_LINE: u64 = 256;
/// Characters of it in a message.
const SHOWN: usize = 60;

pub(crate) fn run(command: &str, spelling: &str, profile: &Profile, writer: Writer<'_>) -> Ended {
    let instruction = instruction(spelling, &Target::default())?;
    let recipe = instruction.recipe;
    if recipe.components != 1 || recipe.condition_codes {
        let message = format!("`{spelling}` has several results: a reference is tried on instructions of one");
        return Err(Failure::Unsupported(message));
    }
    let test = ReferenceTest::new(recipe.operation, CASES).map_err(Failure::Unsupported)?;
    let formats: Vec<Lane> = (0..recipe.operation.op.arity()).map(|at| recipe.operation.operand_format(at)).collect();
    let line = |case: Vec<u64>| {
        let texts: Vec<String> =
            case.iter().zip(&formats).map(|(&bits, format)| hex_bits(format.width(), bits)).collect();
        texts.join(" ")
    };
    let lines: Vec<String> = test.cases().map(line).collect();
    let results = answers(command, &lines, recipe.operation.format)?;
    let answer = test.answer(&results, profile).map_err(Failure::Input)?;
    writer.only(&Tried { answer, what: format!("`{command}` for {spelling}") }, None)
}

/// The answer about a reference, and what it is about.
#[derive(Serialize)]
struct Tried {
    #[serde(flatten)]
    answer: ReferenceReport,
    #[serde(skip)]
    what: String,
}

impl AnswerOutput for Tried {
    fn lines(&self) -> Vec<Line> {
        self.answer.lines(&self.what)
    }
    fn verdicts(&self) -> Vec<Verdict> {
        let outcome = if self.explained() { Outcome::One } else { Outcome::None };
        vec![Verdict { saw: self.what.clone(), outcome, sentence: self.answer.sentence(&self.what), line: None }]
    }
    fn explained(&self) -> bool {
        self.answer.is_correct()
    }
}

/// What the command answers to the lines, one hex number a line.
fn answers(command: &str, lines: &[String], format: Lane) -> Result<Vec<u64>, Failure> {
    let fault = |problem: String| Failure::Input(format!("`{command}`: {problem}"));
    let until = Instant::now() + PATIENCE;
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut child = Command::new(shell)
        .args([option, command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| fault(error.to_string()))?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(fault("its input and output cannot be had".to_owned()));
    };
    let questions = lines.join("\n") + "\n";
    // It may answer line by line, or end early: what it has not read is its own affair. Neither thread is joined, as a
    // program that it started may hold the other end.
    std::thread::spawn(move || drop(stdin.write_all(questions.as_bytes())));
    let (send, receive) = mpsc::channel();
    let most = lines.len();
    std::thread::spawn(move || drop(send.send(results(stdout, most, format))));
    let answered = receive.recv_timeout(PATIENCE);
    // Who has more to say is not waited for.
    let ended = matches!(answered, Ok(Ok(_))).then(|| end(&mut child, until)).flatten();
    let _ = child.kill();
    let _ = child.wait();
    let answered = answered.map_err(|_| fault(format!("no end after {} s", PATIENCE.as_secs())))?;
    let results = answered.map_err(fault)?;
    let count = results.len();
    match ended.and_then(signal) {
        Some(signal) => Err(fault(format!("signal {signal} ended it, after {count} results"))),
        None if count != most => {
            let code = ended.and_then(|status| status.code()).filter(|code| *code != 0);
            let status = code.map_or(String::new(), |code| format!(", and ended with exit status {code}"));
            Err(fault(format!("it gave {count} results for {most} cases{status}")))
        }
        None => Ok(results),
    }
}

/// The results in an output that holds no more than so many.
fn results(output: impl Read, most: usize, format: Lane) -> Result<Vec<u64>, String> {
    let mut output = BufReader::new(output);
    let mut results = Vec::new();
    loop {
        let mut line = Vec::new();
        output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if line.is_empty() {
            return Ok(results);
        }
        if results.len() == most {
            return Err(format!("it gave more than {most} results for {most} cases"));
        }
        let text = String::from_utf8_lossy(&line);
        let whole = line.ends_with(b"\n") || line.len() < LONGEST_LINE as usize;
        let bits = result(&text, format).filter(|_| whole).ok_or_else(|| {
            let (number, digits) = (results.len() + 1, format.width() / 4);
            let shown: String = text.trim_end().chars().take(SHOWN).collect();
            format!("line {number} of its output is `{shown}`: expected {digits} hex digits and nothing else")
        })?;
        results.push(bits);
    }
}

/// The one hex number that a line is.
fn result(line: &str, format: Lane) -> Option<u64> {
    let word = line.trim();
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
    u64::from_str_radix(digits, 16).ok().filter(|bits| bits & !format.mask() == 0)
}

/// How a program ended whose output has; `None` if it goes on until then.
fn end(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    while Instant::now() < until {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// The signal that ended a program: a shell tells it as a status above 128.
fn signal(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    let own = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let own = None;
    own.or_else(|| status.code().filter(|code| (129..=192).contains(code)).map(|code| code - 128))
}
