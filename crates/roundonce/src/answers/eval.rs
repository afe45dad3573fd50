//! One instruction: its result, and its steps.

use roundonce_arith::{ArithOp, Format};
use roundonce_isa::{Finding, counted, parse_value, shortest_decimal};
use roundonce_why::{DotExplained, Explained, Line, flags_text};
use serde::Serialize;

use super::Noted;
use super::counterpart::undeclared;
use crate::conversion::ConversionExplained;
use crate::integer::IntegerExplained;
use crate::{Profile, Target, conversion, instruction, integer, matrix, operands};

/// A result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Evaluated {
    /// As spelled.
    pub instruction: String,
    /// Its bits.
    pub bits: String,
    /// The same as a number.
    pub value: String,
    /// What the kind of instruction has beside.
    #[serde(flatten)]
    pub beside: Beside,
}

/// What a result has beside its bits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Beside {
    /// The multiply-add of floats.
    Float {
        /// Exactly.
        hexadecimal: String,
        /// The exceptions.
        flags: Vec<&'static str>,
        /// The condition codes, where they are written.
        #[serde(skip_serializing_if = "Option::is_none")]
        codes: Option<String>,
        /// Components of a packed value.
        #[serde(skip)]
        components: u32,
    },
    /// Of a matrix multiply-add.
    Matrix {
        /// The machine.
        target: String,
        /// What computes it there.
        unit: &'static str,
        /// How it is known.
        evidence: &'static str,
    },
    /// Of integers.
    Integer {
        /// The carry flag, where it is written.
        #[serde(skip_serializing_if = "Option::is_none")]
        carry: Option<bool>,
    },
    /// A conversion has nothing more.
    Conversion {},
}

impl Evaluated {
    /// For a person.
    pub fn line(&self) -> String {
        let Evaluated { bits, value, .. } = self;
        match &self.beside {
            Beside::Float { hexadecimal, flags, codes, components } => {
                let flags = flags_text(flags, hexadecimal);
                let codes = codes.as_ref().map_or(String::new(), |codes| format!(" {codes}"));
                let exactly = if *components == 1 { format!("{hexadecimal}; ") } else { String::new() };
                format!("{bits} {value}{codes} ({exactly}{flags})")
            }
            Beside::Matrix { target, evidence, .. } => format!("{bits} {value} (on {target}; evidence: {evidence})"),
            Beside::Integer { carry } => {
                let carry = carry.map_or(String::new(), |carry| format!(" carry {}", u8::from(carry)));
                format!("{bits} {value}{carry}")
            }
            Beside::Conversion {} => format!("{bits} ({value})"),
        }
    }
}

/// What is said of an operand that was rounded before anything was computed.
pub fn inexact_operand(index: usize, text: &str) -> String {
    format!("operand {} `{text}` is not exact in its format: rounded once, to nearest even", index + 1)
}

/// The same of lines, so many of them.
pub fn inexact_lines(count: u64) -> String {
    format!("operands of {} are not exact in their format: rounded once, to nearest even", counted(count, "line"))
}

/// The same of any number that a format has not; `what` names it.
pub fn inexact_number(what: &str, format: Format, text: &str) -> Option<String> {
    Rounded::of(format, text).map(|rounded| rounded.note(what, format))
}

/// The same of several: of the first few, of the first that became infinity, and how many there are beside these.
pub fn inexact_numbers<'t>(format: Format, texts: impl Iterator<Item = &'t str>) -> Vec<String> {
    const NAMED: usize = 3;
    let (mut notes, mut more, mut overflowed) = (Vec::new(), 0, false);
    for (text, rounded) in texts.filter_map(|text| Some((text, Rounded::of(format, text)?))) {
        let first_overflow = rounded.overflows && !overflowed;
        overflowed |= rounded.overflows;
        if notes.len() < NAMED || first_overflow {
            notes.push(rounded.note(&format!("`{text}`"), format));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        let (count, are) = (counted(more, "more number"), if more == 1 { "is" } else { "are" });
        notes.push(format!("and {count} {are} not exact in {}", format.name().unwrap_or("its format")));
    }
    notes
}

/// What became of a number that a format has not.
struct Rounded {
    overflows: bool,
}

impl Rounded {
    fn of(format: Format, text: &str) -> Option<Rounded> {
        let parsed = parse_value(format, 1, text).ok().filter(|parsed| !parsed.exact)?;
        Some(Rounded { overflows: parsed.value.components().iter().any(|&bits| format.is_infinite(bits)) })
    }
    fn note(&self, what: &str, format: Format) -> String {
        let name = format.name().unwrap_or("its format");
        let infinity = if self.overflows { ", which is infinity" } else { "" };
        format!("{what} is not exact in {name}: rounded once, to nearest even{infinity}")
    }
}

/// The same of an element of a matrix.
pub fn inexact_elements() -> String {
    "an operand is not exact in its format: rounded once, to nearest even".to_owned()
}

fn notes_of(inexact: &[usize], texts: &[String]) -> Vec<String> {
    inexact.iter().map(|&index| inexact_operand(index, &texts[index])).collect()
}

/// The result of an instruction of any kind.
///
/// # Errors
/// A finding about the spelling, the number of operands, or the first one that is no value.
///
/// ```
/// use roundonce::{Profile, answers};
/// let texts = ["1", "2", "0.1"].map(str::to_owned);
/// let fma = answers::eval("fma.rn.f32", &texts, &Default::default(), &Profile::NVIDIA)?;
/// assert_eq!(fma.answer.line(), "0x40066666 2.1 (0x1.0cccccp1; inexact)");
/// assert_eq!(fma.notes.len(), 1);
/// # Ok::<(), roundonce::Finding>(())
/// ```
pub fn eval(spelling: &str, texts: &[String], target: &Target, profile: &Profile) -> Result<Noted<Evaluated>, Finding> {
    let evaluated = |bits, value, beside| Evaluated { instruction: spelling.to_owned(), bits, value, beside };
    if matrix::is_matrix(spelling) {
        let found = matrix::instruction(spelling, target, profile)?;
        let (operands, exact) = found.read(texts)?;
        let bits = found.eval(profile, &operands);
        let beside = Beside::Matrix {
            target: found.target.to_string(),
            unit: found.row.unit.sass,
            evidence: found.evidence(profile, &operands).name(),
        };
        let answer = evaluated(found.hex(bits), shortest_decimal(found.row.dot.d, bits), beside);
        return Ok(Noted { answer, notes: if exact { Vec::new() } else { vec![inexact_elements()] } });
    }
    if integer::is_integer(spelling) {
        let found = integer::instruction(spelling, target)?;
        let IntegerExplained { result, carry, .. } = found.explain(spelling, &found.read(texts)?);
        let answer = evaluated(result.bits, result.value, Beside::Integer { carry });
        return Ok(Noted { answer, notes: Vec::new() });
    }
    if conversion::is_conversion(spelling) {
        let found = conversion::instruction(spelling, target)?;
        let operands = found.read(texts)?;
        let explained = found.explain(spelling, profile, &operands);
        let answer = evaluated(explained.bits.clone(), explained.values(), Beside::Conversion {});
        return Ok(Noted { answer, notes: notes_of(&operands.inexact, texts) });
    }
    let instruction = instruction(spelling, target)?;
    let operands = operands(&instruction, texts)?;
    let result = crate::eval(&instruction, &operands.values, profile);
    let format = instruction.recipe.operation.format;
    let beside = Beside::Float {
        hexadecimal: result.value.hexadecimal(format),
        flags: result.flags.names().collect(),
        codes: result.codes.map(|codes| codes.to_string()),
        components: instruction.recipe.components,
    };
    let answer = evaluated(result.value.hex(format), result.value.decimal(format), beside);
    Ok(Noted { answer, notes: notes_of(&operands.inexact, texts) })
}

/// The steps of an instruction of any kind.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Explanation {
    /// The multiply-add of floats.
    Float {
        /// The steps.
        #[serde(flatten)]
        explained: Explained,
        /// What it is, for the names of the picture's rows.
        #[serde(skip)]
        op: ArithOp,
    },
    /// Of integers.
    Integer(IntegerExplained),
    /// A conversion.
    Conversion(ConversionExplained),
    /// One element of a matrix multiply-add.
    Matrix(DotExplained),
}

impl Explanation {
    /// For a reader.
    pub fn lines(&self) -> Vec<Line> {
        match self {
            Explanation::Float { explained, op } => explained.lines(*op),
            Explanation::Integer(explained) => explained.lines(),
            Explanation::Conversion(explained) => explained.lines(),
            Explanation::Matrix(explained) => explained.lines(),
        }
    }

    /// The aligned significands of each component as SVG, without their style; empty where there is nothing to align.
    pub fn pictures(&self) -> Vec<String> {
        let Explanation::Float { explained, op } = self else { return Vec::new() };
        explained.pictures(*op)
    }

    /// The picture of the first component as a file of its own.
    pub fn picture_file(&self) -> Option<String> {
        let Explanation::Float { explained, op } = self else { return None };
        explained.picture_file(*op)
    }
}

/// The steps of an instruction of any kind, with what its neighbours would have given.
///
/// # Errors
/// As [`eval`].
pub fn explain(
    spelling: &str,
    texts: &[String],
    target: &Target,
    profile: &Profile,
) -> Result<Noted<Explanation>, Finding> {
    if matrix::is_matrix(spelling) {
        let found = matrix::instruction(spelling, target, profile)?;
        let (operands, exact) = found.read(texts)?;
        let answer = Explanation::Matrix(found.explain(spelling, profile, &operands));
        return Ok(Noted { answer, notes: if exact { Vec::new() } else { vec![inexact_elements()] } });
    }
    if integer::is_integer(spelling) {
        let found = integer::instruction(spelling, target)?;
        let answer = Explanation::Integer(found.explain(spelling, &found.read(texts)?));
        return Ok(Noted { answer, notes: Vec::new() });
    }
    if conversion::is_conversion(spelling) {
        let found = conversion::instruction(spelling, target)?;
        let operands = found.read(texts)?;
        let answer = Explanation::Conversion(found.explain(spelling, profile, &operands));
        return Ok(Noted { answer, notes: notes_of(&operands.inexact, texts) });
    }
    let instruction = instruction(spelling, target)?;
    let operands = operands(&instruction, texts)?;
    let explained = crate::explain(spelling, &instruction, &operands.values, profile);
    let answer = Explanation::Float { explained, op: instruction.recipe.operation.op };
    let notes = notes_of(&operands.inexact, texts).into_iter().chain(undeclared(spelling, &instruction)).collect();
    Ok(Noted { answer, notes })
}
