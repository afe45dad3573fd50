//! Berkeley TestFloat's text. It names no instruction.
//!
//! Vectors are `a b c d flags` a line, in hex digits without a prefix (testfloat_gen and testfloat_ver). Error lines, as
//! testfloat_ver and testfloat write them, are `a  b  c  => d flags  expected d flags`, numbers as `+7F.000001` (sign, exponent
//! field, significand field) and flags as `v`, `i`, `o`, `u`, `x` or a dot each; a line that is too long goes on behind a tab.
//!
//! Source: TestFloat 3e, testfloat_gen and testfloat_ver; its general documentation, section 7.

use std::io::{self, BufRead, BufReader, Read, Write};

use roundonce::Value;
use roundonce::isa::parse_testfloat;

use super::{Bits, Options, refused, without_mark};
use crate::block::Vector;
use crate::generate::Generated;
use crate::instruction::InstructionUnderTest;
use crate::verify::Verifier;

/// What stands between the operands and what was seen.
const SEEN: &str = "=>";

/// The letters of the flags, the highest bit first.
const FLAGS: [u8; 5] = *b"vioux";

/// Lines, those of one error joined: each with the number of its first.
#[derive(Default)]
pub(super) struct Lines {
    held: Option<(u64, Vec<u8>)>,
}

impl Lines {
    /// The lines before this one, if they are whole now.
    pub(super) fn push(&mut self, row: u64, line: &[u8]) -> Option<(u64, Vec<u8>)> {
        match &mut self.held {
            Some((_, held)) if line.starts_with(b"\t") => {
                held.extend_from_slice(line);
                None
            }
            held => held.replace((row, line.to_vec())),
        }
    }

    pub(super) fn finish(self) -> Option<(u64, Vec<u8>)> {
        self.held
    }
}

/// One line. The outer error ends the run: without an instruction no line can be read.
pub(super) fn line(
    line: &[u8],
    row: u64,
    options: &Options,
    verifier: &mut Verifier<'_>,
) -> Result<Result<(), String>, String> {
    let Some(tested) = &options.instruction else {
        return Err("TestFloat's text names no instruction: say which with --instruction".to_owned());
    };
    let index = verifier.index_or_add(tested);
    let vector = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned());
    let vector =
        vector.and_then(|line| if is_prose(line.as_bytes()) { Ok(None) } else { read(line, tested).map(Some) });
    Ok(vector.map(|vector| vector.into_iter().for_each(|vector| verifier.push(index, row, &vector))))
}

/// Whether a line says what errors are about, or how many there were.
pub(super) fn is_prose(line: &[u8]) -> bool {
    line.starts_with(b"Errors found in ") || line.ends_with(b"tests total.") || line.ends_with(b" found.")
}

fn read(line: &str, tested: &InstructionUnderTest) -> Result<Vector, String> {
    let arity = tested.arity();
    let (mut words, is_error) = match line.split_once(SEEN) {
        Some((operands, seen)) => {
            let seen = seen.split_once("expected").map_or(seen, |(seen, _)| seen);
            (operands.split_ascii_whitespace().chain(seen.split_ascii_whitespace()), true)
        }
        None => (line.split_ascii_whitespace().chain("".split_ascii_whitespace()), false),
    };
    let mut next = |column| {
        let word = words.next().ok_or_else(|| format!("expected {arity} operands, a result and flags"))?;
        value(word, tested, column)
    };
    let operands = (0..arity).map(&mut next).collect::<Result<Vec<_>, String>>()?;
    let result = next(arity)?;
    let flags = words.next().map(|word| if is_error { letters(word) } else { Bits::Hex(word).flags() }).transpose()?;
    match words.next() {
        Some(extra) => Err(format!("`{extra}` is one too many: expected {arity} operands, a result and flags")),
        None => Ok(Vector { operands, result, flags }),
    }
}

/// Hex digits, or `+7F.000001`.
fn value(word: &str, tested: &InstructionUnderTest, column: usize) -> Result<Value, String> {
    if !word.starts_with(['+', '-']) {
        return Bits::Hex(word).value(tested, column);
    }
    let format = tested.format(column);
    parse_testfloat(format, word).map(Value::scalar).ok_or_else(|| {
        let [exponent, fraction] =
            [format.exp_bits(), format.frac_bits()].map(|bits| "0".repeat(bits.div_ceil(4) as usize));
        format!("`{word}` is no number of TestFloat's: expected such as +{exponent}.{fraction}")
    })
}

/// `...ux`: the exceptions.
fn letters(word: &str) -> Result<u8, String> {
    let bit = |(written, letter): (u8, u8)| match written {
        b'.' => Some(0),
        written if written == letter => Some(1),
        _ => None,
    };
    let bits: Option<Vec<u8>> = word.bytes().zip(FLAGS).map(bit).collect();
    let bits = bits.filter(|bits| bits.len() == FLAGS.len() && word.len() == FLAGS.len());
    let flags = bits.map(|bits| bits.iter().fold(0, |flags, bit| flags << 1 | bit));
    flags.ok_or_else(|| format!("`{word}` is no flags: expected five letters of vioux or dots"))
}

/// Writes each line of operands with the result and the flags behind them; what a line has behind its operands is replaced.
/// A line that cannot be read is given to `bad` with its number, from 1, and left out. What has been read is answered before more is
/// waited for.
///
/// # Errors
/// If a stream fails.
pub fn run(
    tested: &InstructionUnderTest,
    input: impl Read,
    out: &mut dyn Write,
    mut bad: impl FnMut(u64, &str),
) -> io::Result<()> {
    let arity = tested.arity();
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut line = Vec::new();
    for row in 1.. {
        if !input.buffer().contains(&b'\n') {
            out.flush()?;
        }
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let line = if row == 1 { without_mark(&line) } else { &line };
        let words: Result<Vec<&str>, _> = std::str::from_utf8(line).map(|line| line.split_ascii_whitespace().collect());
        let words = words.unwrap_or_default();
        if words.is_empty() && line.trim_ascii().is_empty() {
            continue;
        }
        let operands = match words.len() {
            count if count == arity || count == arity + 2 => {
                (0..arity).map(|column| value(words[column], tested, column)).collect::<Result<Vec<_>, String>>()
            }
            _ => Err(format!("expected {arity} operands, or these with a result and flags")),
        };
        match operands {
            Ok(operands) => {
                let evaluated = tested.evaluate(&operands);
                write_vector(
                    tested,
                    &Vector { operands, result: evaluated.value, flags: Some(evaluated.flags.bits()) },
                    out,
                )?;
            }
            Err(problem) => bad(row, &problem),
        }
    }
    out.flush()
}

fn write_vector(tested: &InstructionUnderTest, vector: &Vector, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    for (column, value) in vector.operands.iter().chain([&vector.result]).enumerate() {
        write!(out, "{} ", value.hex(tested.format(column))[2..].to_uppercase())?;
    }
    writeln!(out, "{:02X}", vector.flags.unwrap_or(0))
}

pub(super) fn write(vectors: &Generated, out: &mut impl Write) -> io::Result<()> {
    if vectors.instructions().len() > 1 {
        return Err(refused("TestFloat's text names no instruction: give one, or another format"));
    }
    vectors.iter().try_for_each(|(tested, vector)| write_vector(tested, &vector, out))
}
