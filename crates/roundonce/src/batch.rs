//! Many lines, one instruction each.

use std::collections::HashMap;
use std::fmt::Write;

use roundonce_arith::Profile;
use roundonce_isa::{Finding, Instruction, Recipe, Value, parse_plain_hex, push_hex_digits};

use crate::conversion::{self, Conversion};
use crate::integer::{self, Integer};
use crate::matrix::{self, Matrix};
use crate::{Target, check_arity, eval, instruction, operand};

/// Evaluates lines of `INSTRUCTION OPERAND…`, remembering the instructions, right and wrong, that it has met.
///
/// ```
/// let mut batch = roundonce::Batch::default();
/// let mut out = String::new();
/// batch.line("FFMA.CC 0x0 0x7f800000 0x0", &mut out).unwrap();
/// assert_eq!(out, "0x7fffffff ZS--");
/// ```
#[derive(Default)]
pub struct Batch {
    target: Target,
    profile: Profile,
    met: Vec<Met>,
    /// The place in `met` of each spelling.
    places: HashMap<String, usize>,
    /// The place of the last line's: the next line often has the same.
    last: usize,
    /// See [`take_rounded`](Batch::take_rounded).
    rounded: u64,
}

/// A spelling and what it names, or what is wrong with it.
struct Met {
    spelling: String,
    found: Result<Known, String>,
}

enum Known {
    Float(Instruction),
    Integer(Box<Integer>),
    Conversion(Conversion),
    Matrix(Box<Matrix>),
}

/// A stream of ever new wrong spellings must not fill the memory: no language has so many right ones.
const MOST_KNOWN: usize = 10_000;

impl Batch {
    /// For a target and a profile.
    pub fn new(target: Target, profile: Profile) -> Batch {
        Batch { target, profile, ..Batch::default() }
    }

    /// Appends the result of one line to `out`: the bits, and for instructions with condition codes these behind a
    /// space.
    ///
    /// # Errors
    /// What is wrong with the line, in one line; then `out` is as before.
    pub fn line(&mut self, line: &str, out: &mut String) -> Result<(), String> {
        // Characters are decoded only where there may be other spaces than ASCII's.
        match line.is_ascii() {
            true => self.words(AsciiWords(line), out),
            false => self.words(line.split_whitespace(), out),
        }
    }

    fn words<'l>(&mut self, words: impl Iterator<Item = &'l str>, out: &mut String) -> Result<(), String> {
        let mut words = words.peekable();
        let mut spelling = words.next().ok_or("an empty line: expected INSTRUCTION OPERAND…")?;
        // The shape and the types of `tcgen05.mma` are a word of their own.
        let joined;
        if let Some(shape) = words.next_if(|word| spelling.starts_with("tcgen05.mma") && word.starts_with('m')) {
            joined = format!("{spelling}.{shape}");
            spelling = &joined;
        }
        let mut texts = [""; 8];
        let mut count = 0;
        for word in words {
            texts[count.min(texts.len() - 1)] = word;
            count += 1;
        }
        let texts = &texts[..count.min(texts.len())];
        self.find(spelling);
        let known = self.met[self.last].found.as_ref().map_err(String::clone)?;
        let profile = &self.profile;
        let answered = match known {
            Known::Float(instruction) => float_line(instruction, profile, texts, out),
            Known::Integer(integer) => integer_line(integer, texts, out).map(|()| true),
            Known::Matrix(matrix) => matrix.read(texts).map(|(operands, exact)| {
                out.push_str(&matrix.hex(matrix.eval(profile, &operands)));
                exact
            }),
            Known::Conversion(conversion) => conversion.read(texts).map(|operands| {
                out.push_str(&conversion.hex(conversion.eval(profile, &operands)));
                operands.inexact.is_empty()
            }),
        };
        let exact = answered.map_err(|finding| finding.to_string())?;
        self.rounded += u64::from(!exact);
        Ok(())
    }

    /// The lines answered since this was last asked that have an operand which its format does not hold: it was rounded
    /// before anything was computed.
    ///
    /// ```
    /// let (mut batch, mut out) = (roundonce::Batch::default(), String::new());
    /// batch.line("fma.rn.f32 0.1 0.2 0", &mut out).unwrap();
    /// batch.line("fma.rn.f32 0.5 1 0", &mut out).unwrap();
    /// assert_eq!((batch.take_rounded(), batch.take_rounded()), (1, 0));
    /// ```
    pub fn take_rounded(&mut self) -> u64 {
        std::mem::take(&mut self.rounded)
    }

    /// Makes `last` the place of a spelling.
    fn find(&mut self, spelling: &str) {
        if self.met.get(self.last).is_some_and(|met| met.spelling == spelling) {
            return;
        }
        if let Some(place) = self.places.get(spelling) {
            self.last = *place;
            return;
        }
        let found = if integer::is_integer(spelling) {
            integer::instruction(spelling, &self.target).map(|found| Known::Integer(Box::new(found)))
        } else if conversion::is_conversion(spelling) {
            conversion::instruction(spelling, &self.target).map(Known::Conversion)
        } else if matrix::is_matrix(spelling) {
            matrix::instruction(spelling, &self.target, &self.profile).map(|found| Known::Matrix(Box::new(found)))
        } else {
            instruction(spelling, &self.target).map(Known::Float)
        };
        let met = Met { spelling: spelling.to_owned(), found: found.map_err(|finding| finding.to_string()) };
        // Behind the last place that is remembered is one for what is not.
        self.last = self.met.len().min(MOST_KNOWN);
        if self.last < MOST_KNOWN {
            self.places.insert(spelling.to_owned(), self.last);
        } else {
            self.met.truncate(MOST_KNOWN);
        }
        self.met.push(met);
    }
}

/// The words of an ASCII text, as [`str::split_whitespace`] has them.
struct AsciiWords<'l>(&'l str);

impl<'l> Iterator for AsciiWords<'l> {
    type Item = &'l str;

    fn next(&mut self) -> Option<&'l str> {
        let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
        let text = self.0;
        let start = text.bytes().position(|byte| !is_space(&byte))?;
        let length = text[start..].bytes().position(|byte| is_space(&byte));
        let end = length.map_or(text.len(), |length| start + length);
        self.0 = &text[end..];
        Some(&text[start..end])
    }
}

/// Whether every operand is exact.
fn float_line(instruction: &Instruction, profile: &Profile, texts: &[&str], out: &mut String) -> Result<bool, Finding> {
    check_arity(instruction, texts.len())?;
    let Recipe { operation, components, .. } = &instruction.recipe;
    let (mut operands, mut exact) = ([Value::scalar(0); 3], true);
    for (index, (value, text)) in operands.iter_mut().zip(texts).enumerate() {
        let plain = match components {
            1 => parse_plain_hex(operation.operand_format(index), text),
            _ => None,
        };
        *value = match plain {
            Some(bits) => Value::scalar(bits),
            None => {
                let parsed = operand(instruction, index, text)?;
                exact &= parsed.exact;
                parsed.value
            }
        };
    }
    let result = eval(instruction, &operands[..texts.len()], profile);
    let digits = operation.format.width() / 4;
    out.push_str("0x");
    for bits in result.value.components().iter().rev() {
        push_hex_digits(out, digits, *bits);
    }
    if let Some(codes) = result.codes {
        let _ = write!(out, " {codes}");
    }
    Ok(exact)
}

fn integer_line(integer: &Integer, texts: &[&str], out: &mut String) -> Result<(), Finding> {
    let operands = integer.read(texts)?;
    let result = integer.eval(&operands);
    out.push_str(&integer::hex(integer.result, result.bits));
    if let Some(carry) = result.carry {
        out.push_str(if carry { " --C-" } else { " ----" });
    }
    Ok(())
}
