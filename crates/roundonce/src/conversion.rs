//! Conversions from and to formats of eight bits and fewer, and with random bits: PTX `cvt`, evaluated and explained.

use roundonce_arith::{ConversionRounding, Element, Format, PackedConversion, Profile};
use roundonce_isa::{Finding, Form, Table, hex_bits, parse_whole, shortest_decimal, split_spelling};
use roundonce_ptx::conversions::{self, FORMS, NOT_RUN, packed_conversion};
use roundonce_why::{Line, Role, wrap};
use serde::Serialize;

use crate::bits::{NotBits, parse_bits};
use crate::{NOT_COMPUTED, Target, fault};

static TABLE: Table<()> = Table::new(&[FORMS, NOT_RUN]);

/// A conversion, ready to be evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// The row.
    pub form: &'static Form<()>,
    /// What it computes.
    pub meaning: PackedConversion,
}

/// What an operand holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandType {
    /// How wide it is.
    pub bits: u32,
    /// The values in it and how many, the first in its lowest bits; `None` for the random bits.
    pub values: Option<(Element, u32)>,
}

/// Operands as bits; under `.rs` the random bits are behind them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConversionOperands {
    /// The values, in the order of the syntax.
    pub values: Vec<u64>,
    /// The random bits.
    pub random: u64,
    /// The places, from 0, of those that were rounded because the format does not hold them.
    pub inexact: Vec<usize>,
}

/// Whether a spelling is of such a conversion, right or wrong.
pub fn is_conversion(spelling: &str) -> bool {
    let (mnemonic, modifiers) = split_spelling(spelling.split('@').next().unwrap_or(spelling));
    mnemonic == "cvt" && conversions::is_conversion(&modifiers)
}

/// The conversion that a spelling names.
///
/// ```
/// use roundonce::{Profile, conversion};
/// let cvt = conversion::instruction("cvt.rn.satfinite.e4m3x2.f32", &Default::default())?;
/// let operands = cvt.read(&["1.0", "1000"])?;
/// assert_eq!(cvt.hex(cvt.eval(&Profile::NVIDIA, &operands)), "0x387e");
/// # Ok::<(), roundonce::Finding>(())
/// ```
///
/// # Errors
/// A finding that says what is wrong with the spelling, or what lacks it, and the rule; [`NOT_COMPUTED`] for one of which
/// no document says all.
pub fn instruction(spelling: &str, target: &Target) -> Result<Conversion, Finding> {
    let (name, sm) = crate::spelled_target(spelling, target)?;
    let (form, _) = TABLE.find(name, sm, target.ptx)?;
    if NOT_RUN.contains(form) {
        let message = format!("`{name}` is not computed: {}", form.note);
        return Err(fault(NOT_COMPUTED, message).rule(form.source));
    }
    let meaning = packed_conversion(name);
    let meaning = meaning.ok_or_else(|| fault("FORM0001", format!("`{name}` names no two types")))?;
    Ok(Conversion { form, meaning })
}

impl Conversion {
    /// The operands' names: `a`, `b`, `rbits`.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names = ["a", "b", "e", "f"][..self.meaning.operand_count()].to_vec();
        if self.meaning.rounding == ConversionRounding::Random {
            names.push("rbits");
        }
        names
    }

    /// The operands' types, the random bits too.
    pub fn operand_types(&self) -> Vec<OperandType> {
        let PackedConversion { from, count, .. } = self.meaning;
        let of_values = match self.meaning.has_separate_operands() {
            true => OperandType { bits: from.width(), values: Some((from, 1)) },
            false => OperandType { bits: self.meaning.operand_bits(), values: Some((from, count)) },
        };
        let mut types = vec![of_values; self.meaning.operand_count()];
        types.resize(self.names().len(), OperandType { bits: 32, values: None });
        types
    }

    /// Whether as many operands were found as the instruction takes.
    ///
    /// # Errors
    /// A finding that says how many it takes.
    pub fn check_arity(&self, found: usize) -> Result<(), Finding> {
        let names = self.names();
        if found == names.len() {
            return Ok(());
        }
        let syntax = self.form.syntax();
        let message = format!("`{syntax}` takes {} operands ({}), found {found}", names.len(), names.join(", "));
        Err(fault("FORM0005", message).rule(self.form.source))
    }

    /// Reads the operand at a place, from 0: an f32 as any number; packed values and random bits as hex bits. Beside its
    /// bits whether they are exactly the number that is written.
    ///
    /// # Errors
    /// A finding if it is no such value.
    ///
    /// # Panics
    /// If the instruction has no such operand: [`check_arity`](Conversion::check_arity) sees to it.
    pub fn operand(&self, index: usize, text: &str) -> Result<(u64, bool), Finding> {
        let (name, ty) = (self.names()[index], self.operand_types()[index]);
        let read = match ty.values {
            Some((Element::Float(format), 1)) => parse_whole(format, 1, text)
                .map(|parsed| (parsed.value.components().first().copied().unwrap_or(0), parsed.exact)),
            _ => packed_bits(text, ty.bits).map(|bits| (bits, true)),
        };
        read.map_err(|problem| fault("FORM0006", format!("operand {} ({name}): {problem}", index + 1)))
    }

    /// Reads all operands.
    ///
    /// # Errors
    /// A finding about their number or the first one that is no value.
    pub fn read<S: AsRef<str>>(&self, texts: &[S]) -> Result<ConversionOperands, Finding> {
        self.check_arity(texts.len())?;
        let mut read = Vec::with_capacity(texts.len());
        let mut inexact = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let (bits, exact) = self.operand(index, text.as_ref())?;
            read.push(bits);
            inexact.extend((!exact).then_some(index));
        }
        Ok(ConversionOperands { inexact, ..self.operands(&read) })
    }

    /// Operands given as bits, in the order of the syntax, the random bits last.
    pub fn operands(&self, bits: &[u64]) -> ConversionOperands {
        let (values, random) = bits.split_at(bits.len().min(self.meaning.operand_count()));
        let random = random.first().copied().unwrap_or(0);
        ConversionOperands { values: values.to_vec(), random, inexact: Vec::new() }
    }

    /// The GPU's bits, packed.
    pub fn eval(&self, profile: &Profile, operands: &ConversionOperands) -> u64 {
        self.meaning.evaluate(profile, &operands.values, operands.random)
    }

    /// Packed bits as `0x` and all digits.
    pub fn hex(&self, bits: u64) -> String {
        hex_bits(self.meaning.result_bits(), bits)
    }

    /// Each value, from the highest to the lowest: what it is, and what became of it.
    pub fn explain(&self, spelling: &str, profile: &Profile, operands: &ConversionOperands) -> ConversionExplained {
        let meaning = &self.meaning;
        let values = meaning.values(&operands.values);
        let step = |index: usize| {
            let random = meaning.random_bits(index, operands.random);
            let result = meaning.convert(profile, values[index], random);
            let magnitude = |element: Element, bits| element.widened(bits) & Format::F64.magnitude_mask();
            let (from, to) = (magnitude(meaning.from, values[index]), magnitude(meaning.to, result));
            let is_negative = Format::F64.is_negative(meaning.from.widened(values[index]));
            let is_largest = result & !meaning.to.sign_mask() == meaning.to.largest_finite();
            ConversionStep {
                operand: show(meaning.from, values[index]),
                random: (meaning.rounding == ConversionRounding::Random).then(|| hex_bits(random.1, random.0)),
                result: show(meaning.to, result),
                note: match (meaning.relu && is_negative, meaning.satfinite && is_largest && from > to) {
                    (true, _) => ".relu",
                    (false, true) => ".satfinite",
                    (false, false) => "",
                },
            }
        };
        let bits = self.eval(profile, operands);
        ConversionExplained {
            instruction: spelling.to_owned(),
            meaning: self.words(),
            source: self.form.source,
            note: self.form.note,
            steps: (0..meaning.count as usize).rev().map(step).collect(),
            bits: self.hex(bits),
        }
    }

    /// What it computes, in words.
    pub fn words(&self) -> String {
        let PackedConversion { to, from, count, rounding, .. } = self.meaning;
        let how = match rounding {
            ConversionRounding::Direction(direction) => format!("rounded .{}", direction.name()),
            ConversionRounding::Random => "rounded by the random bits".to_owned(),
        };
        format!("{count} values of {}, each converted to {} and {how}", from.name(), to.name())
    }
}

/// Bits of a packed operand. A sign would read as a number's.
fn packed_bits(text: &str, width: u32) -> Result<u64, String> {
    let read = if text.starts_with('-') { Err(NotBits::NoInteger) } else { parse_bits(text, width) };
    read.map_err(|problem| match problem {
        NotBits::TooWide => format!("`{text}` does not fit {width} bits"),
        NotBits::NoInteger => format!("`{text}` is not {width} bits: expected such as {}", hex_bits(width, 1)),
    })
}

/// A value of an element, in hexadecimal and decimal.
fn show(element: Element, bits: u64) -> Shown {
    let value = match element {
        Element::Float(format) => shortest_decimal(format, bits),
        _ => shortest_decimal(Format::F32, element.widened_to(Format::F32, bits)),
    };
    Shown { ty: element.name(), bits: hex_bits(element.width(), bits), value }
}

/// A value with its type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Shown {
    /// `e4m3`.
    #[serde(rename = "type")]
    pub ty: &'static str,
    /// Its bits.
    pub bits: String,
    /// The shortest decimal that means them.
    pub value: String,
}

/// One value on its way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConversionStep {
    /// As given.
    pub operand: Shown,
    /// Its random bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<String>,
    /// As converted.
    pub result: Shown,
    /// The modifier that changed it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
}

/// An explained conversion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConversionExplained {
    /// The instruction as spelled.
    pub instruction: String,
    /// What it computes, in words.
    pub meaning: String,
    /// Document and section.
    pub source: &'static str,
    /// What a reader would not guess.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
    /// The values, the highest first.
    pub steps: Vec<ConversionStep>,
    /// The packed result.
    pub bits: String,
}

impl ConversionExplained {
    /// The results' decimals, the highest first.
    pub fn values(&self) -> String {
        self.steps.iter().map(|step| step.result.value.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The explanation for a reader.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::of(Role::Strong, &self.instruction)];
        for (role, text) in [(Role::Faint, self.source), (Role::Plain, &self.meaning), (Role::Faint, self.note)] {
            lines.extend(wrap(role, text, 0, 80));
        }
        lines.push(Line::default());
        for step in &self.steps {
            let shown = |shown: &Shown| format!("{} {} {}", shown.ty, shown.bits, shown.value);
            let random = step.random.as_ref().map_or(String::new(), |bits| format!(" + {bits}"));
            let mut line = Line::of(Role::Plain, format!(" {}{random} → ", shown(&step.operand)));
            line = line.and(Role::Strong, shown(&step.result));
            lines.push(if step.note.is_empty() { line } else { line.and(Role::Faint, format!("   {}", step.note)) });
        }
        lines.push(Line::of(Role::Label, " d     ").and(Role::Strong, self.bits.clone()));
        lines
    }
}
