//! `why --test-reference`: a multiply-add of one's own, run on inputs on which evaluations differ.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

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
    // It may answer line by line, or end early: what it has not read is its own affair.
    let writer = std::thread::spawn(move || drop(stdin.write_all(questions.as_bytes())));
    let (send, receive) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let lines: Result<Vec<String>, std::io::Error> = BufReader::new(stdout).lines().collect();
        let _ = send.send(lines);
    });
    let answered = receive.recv_timeout(PATIENCE);
    // Ended already, or too slow.
    let _ = child.kill();
    let _ = child.wait();
    let answered = answered.map_err(|_| fault(format!("no end after {} s", PATIENCE.as_secs())))?;
    let _ = (writer.join(), reader.join());
    let mut results = Vec::with_capacity(lines.len());
    for (number, text) in answered.map_err(|error| fault(error.to_string()))?.iter().enumerate() {
        let word = text.split_whitespace().next().unwrap_or_default();
        let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
        let bits = u64::from_str_radix(digits, 16).ok().filter(|bits| bits & !format.mask() == 0);
        let expected = format.width() / 4;
        let bits = bits.ok_or_else(|| {
            fault(format!("line {} of its output is `{text}`: expected {expected} hex digits", number + 1))
        })?;
        results.push(bits);
    }
    Ok(results)
}
