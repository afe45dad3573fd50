//! Filters: a line of stdout for each line of stdin, in its order, worked out on several threads.
//!
//! Stdin is cut into blocks of whole lines. One thread reads and writes, the others answer a block each. So many blocks are
//! under way as keep them busy: the memory does not depend on how long the input is.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::sync::{Mutex, PoisonError};

use roundonce_vectors::without_mark;

use crate::files::{self, STDIN};
use crate::{Ended, Failure, Status, terminal, threads};

/// Bytes of a block, about: some thousand lines, against which the change of threads is nothing. One line that is longer
/// is a block of its own.
const BLOCK: usize = 1 << 17;

/// Blocks under way for each thread: one to work on, one that waits.
const BLOCKS_A_THREAD: usize = 2;

/// What stands in the place of the answer to a line that is wrong.
pub(crate) fn error_line(problem: &str) -> String {
    format!("error: {}", problem.replace('\n', " "))
}

/// Writes one line for each line of stdin. A thread takes a function from `answerer`, which appends the answer to a line; a
/// line that it refuses becomes what `refusal` makes of the reason, and the run goes on.
pub(crate) fn answer<A>(
    threads: Option<NonZeroUsize>,
    answerer: impl Fn() -> A + Sync,
    refusal: impl Fn(&str) -> String + Sync,
) -> Ended
where
    A: FnMut(&str, &mut String) -> Result<(), String> + Send,
{
    let mut reader = Reader { input: io::stdin().lock(), rest: Vec::new(), state: Reading::AtStart };
    let mut writer = Writer { out: terminal::stdout(), status: Status::Done };
    let mut block = reader.next(Block::default());
    // What is one block needs no other thread.
    let count = if reader.is_done() { 1 } else { threads::useful(threads, u64::MAX) };
    if count == 1 {
        let mut answer = answerer();
        while let Some(mut question) = block {
            question.answer(&mut answer, &refusal);
            writer.write(&question)?;
            if terminal::is_closed() {
                return Ok(writer.status);
            }
            block = reader.next(question);
        }
        return reader.ended(writer.status);
    }

    let pool = threads::pool(threads, count as u64)?;
    let answerers: Mutex<Vec<A>> = Mutex::default();
    let shelf = || answerers.lock().unwrap_or_else(PoisonError::into_inner);
    pool.in_place_scope_fifo(|scope| {
        let mut under_way: VecDeque<Receiver<Block>> = VecDeque::new();
        let mut spare = Vec::new();
        loop {
            if let Some(mut question) = block {
                let (done, answered) = mpsc::channel();
                under_way.push_back(answered);
                let (shelf, answerer, refusal) = (&shelf, &answerer, &refusal);
                scope.spawn_fifo(move |_| {
                    let taken = shelf().pop();
                    let mut answer = taken.unwrap_or_else(answerer);
                    question.answer(&mut answer, refusal);
                    shelf().push(answer);
                    // It has no receiver any more once the output is closed.
                    let _ = done.send(question);
                });
            }
            // Waits for the first block where there is nothing else to do; takes those that are done anyway.
            while let Some(first) = under_way.front() {
                let must_wait = reader.is_done() || under_way.len() == count * BLOCKS_A_THREAD;
                let answered = match must_wait {
                    true => first.recv().map_err(|_| TryRecvError::Disconnected),
                    false => first.try_recv(),
                };
                let answered = match answered {
                    Ok(answered) => answered,
                    Err(TryRecvError::Empty) => break,
                    // Its thread panicked, and the scope does now.
                    Err(TryRecvError::Disconnected) => return Ok(writer.status),
                };
                under_way.pop_front();
                writer.write(&answered)?;
                if terminal::is_closed() {
                    return Ok(writer.status);
                }
                spare.push(answered);
            }
            if reader.is_done() {
                return reader.ended(writer.status);
            }
            block = reader.next(spare.pop().unwrap_or_default());
        }
    })
}

/// Lines and their answers. The memory is used again and again.
#[derive(Default)]
struct Block {
    lines: Vec<u8>,
    answers: String,
    /// A line was refused.
    refused: bool,
}

impl Block {
    fn answer(
        &mut self,
        answer: &mut impl FnMut(&str, &mut String) -> Result<(), String>,
        refusal: &impl Fn(&str) -> String,
    ) {
        let Block { lines, answers, refused } = self;
        answers.clear();
        *refused = false;
        let mut each = |line: Option<&str>| {
            let start = answers.len();
            let answered = match line {
                Some(line) => answer(line.trim_end_matches(['\n', '\r']), answers),
                None => Err("the line is not UTF-8".to_owned()),
            };
            if let Err(problem) = answered {
                *refused = true;
                answers.truncate(start);
                answers.push_str(&refusal(&problem));
            }
            answers.push('\n');
        };
        match str::from_utf8(lines) {
            Ok(text) => text.split_inclusive('\n').for_each(|line| each(Some(line))),
            Err(_) => lines.split_inclusive(|byte| *byte == b'\n').for_each(|line| each(str::from_utf8(line).ok())),
        }
    }
}

/// Cuts the input into blocks.
struct Reader<R> {
    input: R,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    state: Reading,
}

enum Reading {
    AtStart,
    Inside,
    AtEnd,
    Failed(io::Error),
}

impl<R: Read> Reader<R> {
    /// The next block, in the memory of one that is done with; `None` at the end, or where reading failed.
    fn next(&mut self, mut block: Block) -> Option<Block> {
        let lines = &mut block.lines;
        lines.clear();
        lines.append(&mut self.rest);
        while !self.is_done() {
            let from = lines.len();
            let got = self.input.by_ref().take(BLOCK as u64).read_to_end(lines);
            if matches!(self.state, Reading::AtStart) {
                let mark = lines.len() - without_mark(lines).len();
                lines.drain(..mark);
                self.state = Reading::Inside;
            }
            match got {
                Ok(BLOCK) => {}
                // The last line needs no end.
                Ok(_) => {
                    self.state = Reading::AtEnd;
                    break;
                }
                Err(error) => self.state = Reading::Failed(error),
            }
            // A line that could not be read to its end is none.
            let end = lines[from..].iter().rposition(|byte| *byte == b'\n').map(|end| from + end + 1);
            match (&self.state, end) {
                (Reading::Failed(_), end) => lines.truncate(end.unwrap_or(0)),
                (_, Some(end)) => {
                    self.rest.extend_from_slice(&lines[end..]);
                    lines.truncate(end);
                    break;
                }
                (_, None) => {}
            }
        }
        (!lines.is_empty()).then_some(block)
    }

    fn is_done(&self) -> bool {
        matches!(self.state, Reading::AtEnd | Reading::Failed(_))
    }

    /// How the run ends once everything is answered.
    fn ended(self, status: Status) -> Ended {
        match self.state {
            Reading::Failed(error) => Err(files::failed(STDIN.as_ref(), error)),
            _ => Ok(status),
        }
    }
}

struct Writer {
    out: terminal::Stdout,
    status: Status,
}

impl Writer {
    fn write(&mut self, block: &Block) -> Result<(), Failure> {
        if block.refused {
            self.status = Status::Unreadable;
        }
        self.out.write_all(block.answers.as_bytes())?;
        Ok(self.out.flush()?)
    }
}
