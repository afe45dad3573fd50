//! Filters: a line of stdout for each line of stdin, in its order, worked out on several threads.
//!
//! One thread reads ahead. What has been read is cut into blocks of whole lines: a line is answered as soon as nothing else is there to be
//! read. Where input comes faster than it is answered, blocks are large, and several threads answer one each. So many blocks are under way
//! as keep them busy: the memory does not depend on how long the input is.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::sync::{Mutex, PoisonError};
use std::thread;

use roundonce_vectors::without_mark;

use crate::files::{self, STDIN};
use crate::{Ended, Failure, Status, terminal, threads};

/// Bytes of a block, about: some thousand lines, against which the change of threads is nothing. One line that is longer
/// is a block of its own.
const BLOCK: usize = 1 << 17;

/// Chunks that are read ahead.
const CHUNKS_AHEAD: usize = 4;

/// Blocks of fewer bytes come no faster than they are answered: they need no other thread.
const SMALL: usize = 1 << 15;

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
    let mut reader = Reader::of_stdin()?;
    let mut writer = Writer { out: terminal::stdout(), status: Status::Done };
    let count = threads::useful(threads, u64::MAX);
    let mut block = reader.next(Block::default());
    let mut answer = answerer();
    while let Some(mut question) = block.take_if(|block| count == 1 || reader.is_done() || block.lines.len() < SMALL) {
        question.answer(&mut answer, &refusal);
        writer.write(&question)?;
        if terminal::is_closed() {
            return Ok(writer.status);
        }
        block = reader.next(question);
    }
    if block.is_none() {
        return reader.ended(writer.status);
    }

    let pool = threads::pool(threads, count as u64)?;
    let answerers = Mutex::new(vec![answer]);
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
                let must_wait = !reader.is_ready() || under_way.len() == count * BLOCKS_A_THREAD;
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
struct Reader {
    /// What has been read, in order; closed at the end.
    chunks: Receiver<io::Result<Vec<u8>>>,
    /// A chunk that was taken to see whether there is one.
    taken: Option<io::Result<Vec<u8>>>,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    /// Whether nothing has been answered: a byte order mark may stand here.
    at_start: bool,
    state: Reading,
}

/// Behind the last end of a line.
fn last_line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1)
}

enum Reading {
    Inside,
    AtEnd,
    Failed(io::Error),
}

impl Reader {
    /// Stdin, which a thread of its own reads. That thread ends with the process, if not before.
    fn of_stdin() -> Result<Reader, Failure> {
        let (sender, chunks) = mpsc::sync_channel(CHUNKS_AHEAD);
        let read = move || {
            loop {
                let mut chunk = vec![0; BLOCK];
                let got = match io::stdin().read(&mut chunk) {
                    Ok(0) => return,
                    Ok(count) => {
                        chunk.truncate(count);
                        Ok(chunk)
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_last = got.is_err();
                if sender.send(got).is_err() || is_last {
                    return;
                }
            }
        };
        let reader = thread::Builder::new().spawn(read);
        reader.map_err(|error| files::failed(STDIN.as_ref(), error))?;
        Ok(Reader { chunks, taken: None, rest: Vec::new(), at_start: true, state: Reading::Inside })
    }

    /// The next block, in the memory of one that is done with; `None` at the end, or where reading failed. It waits for a line, and for no
    /// more than is there.
    fn next(&mut self, mut block: Block) -> Option<Block> {
        let lines = &mut block.lines;
        lines.clear();
        lines.append(&mut self.rest);
        // Where the last whole line ends.
        let mut end = 0;
        while !self.is_done() && (end == 0 || lines.len() < BLOCK) {
            let chunk = match self.taken.take() {
                Some(chunk) => Ok(chunk),
                None if end == 0 => self.chunks.recv().map_err(|_| TryRecvError::Disconnected),
                None => self.chunks.try_recv(),
            };
            match chunk {
                Ok(Ok(chunk)) => {
                    end = last_line_end(&chunk).map_or(end, |line| lines.len() + line);
                    lines.extend_from_slice(&chunk);
                }
                // A line that could not be read to its end is none.
                Ok(Err(error)) => self.state = Reading::Failed(error),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    // The last line needs no end.
                    end = lines.len();
                    self.state = Reading::AtEnd;
                }
            }
        }
        if std::mem::take(&mut self.at_start) {
            let mark = lines.len() - without_mark(lines).len();
            lines.drain(..mark);
            end = end.saturating_sub(mark);
        }
        self.rest.extend_from_slice(&lines[end..]);
        lines.truncate(end);
        (!lines.is_empty()).then_some(block)
    }

    /// Whether a line, or the end, is there to be read.
    fn is_ready(&mut self) -> bool {
        while self.taken.is_none() && !self.is_done() {
            match self.chunks.try_recv() {
                Ok(Ok(chunk)) if last_line_end(&chunk).is_none() => self.rest.extend_from_slice(&chunk),
                Ok(chunk) => self.taken = Some(chunk),
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => return true,
            }
        }
        !self.is_done()
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
