//! Many lines, one instruction each.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use roundonce_arith::Profile;
use roundonce_isa::Instruction;

use crate::conversion::{self, Conversion};
use crate::integer::{self, Integer};
use crate::matrix::{self, Matrix};
use crate::{Target, eval, instruction, operands};

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
    known: HashMap<String, Result<Known, String>>,
}

#[derive(Clone)]
enum Known {
    Float(Instruction),
    Integer(Arc<Integer>),
    Conversion(Conversion),
    Matrix(Box<Matrix>),
}

/// A stream of ever new wrong spellings must not fill the memory: no language has so many right ones.
const MOST_KNOWN: usize = 10_000;

impl Batch {
    /// For a target and a profile.
    pub fn new(target: Target, profile: Profile) -> Batch {
        Batch { target, profile, known: HashMap::new() }
    }

    /// Appends the result of one line to `out`: the bits, and for instructions with condition codes these behind a
    /// space.
    ///
    /// # Errors
    /// What is wrong with the line, in one line; then `out` is as before.
    pub fn line(&mut self, line: &str, out: &mut String) -> Result<(), String> {
        let mut words = line.split_whitespace().peekable();
        let mut spelling = words.next().ok_or("an empty line: expected INSTRUCTION OPERAND…")?;
        // The shape and the types of `tcgen05.mma` are a word of their own.
        let joined;
        if let Some(shape) = words.next_if(|word| spelling.starts_with("tcgen05.mma") && word.starts_with('m')) {
            joined = format!("{spelling}.{shape}");
            spelling = &joined;
        }
        let known = match self.known.get(spelling) {
            Some(known) => known.clone()?,
            None => {
                let found = if integer::is_integer(spelling) {
                    integer::instruction(spelling, &self.target).map(|found| Known::Integer(Arc::new(found)))
                } else if conversion::is_conversion(spelling) {
                    conversion::instruction(spelling, &self.target).map(Known::Conversion)
                } else if matrix::is_matrix(spelling) {
                    matrix::instruction(spelling, &self.target, &self.profile)
                        .map(|found| Known::Matrix(Box::new(found)))
                } else {
                    instruction(spelling, &self.target).map(Known::Float)
                };
                let found = found.map_err(|finding| finding.to_string());
                if self.known.len() < MOST_KNOWN {
                    self.known.insert(spelling.to_owned(), found.clone());
                }
                found?
            }
        };
        let mut texts = [""; 8];
        let mut count = 0;
        for word in words {
            texts[count.min(texts.len() - 1)] = word;
            count += 1;
        }
        let texts = &texts[..count.min(texts.len())];
        let instruction = match known {
            Known::Float(instruction) => instruction,
            Known::Integer(integer) => return integer_line(&integer, texts, out),
            Known::Matrix(matrix) => {
                let (operands, _) = matrix.read(texts).map_err(|finding| finding.to_string())?;
                out.push_str(&matrix.hex(matrix.eval(&self.profile, &operands)));
                return Ok(());
            }
            Known::Conversion(conversion) => {
                let operands = conversion.read(texts).map_err(|finding| finding.to_string())?;
                out.push_str(&conversion.hex(conversion.eval(&self.profile, &operands)));
                return Ok(());
            }
        };
        let operands = operands(&instruction, texts).map_err(|finding| finding.to_string())?;
        let result = eval(&instruction, &operands.values, &self.profile);
        let format = instruction.recipe.operation.format;
        for (index, bits) in result.value.components().iter().rev().enumerate() {
            let digits = format.width() as usize / 4;
            out.push_str(if index == 0 { "0x" } else { "" });
            let _ = write!(out, "{bits:0digits$x}");
        }
        if let Some(codes) = result.codes {
            let _ = write!(out, " {codes}");
        }
        Ok(())
    }
}

fn integer_line(integer: &Integer, texts: &[&str], out: &mut String) -> Result<(), String> {
    let operands = integer.read(texts).map_err(|finding| finding.to_string())?;
    let result = integer.eval(&operands);
    out.push_str(&integer::hex(integer.result, result.bits));
    if let Some(carry) = result.carry {
        out.push_str(if carry { " --C-" } else { " ----" });
    }
    Ok(())
}
