//! What an editor says of an instruction or a number in a text.

use roundonce_arith::Format;
use roundonce_isa::{Form, Mismatch, Outline, Spelled, split_spelling};
use roundonce_ptx::{conversions, integer as integer_rows};

use super::{FormRow, TextLanguage, bits};
use crate::{Profile, TABLES, Target, conversion, instruction, integer, matrix, ptx, sass, spirv, why};

/// An instruction's row and its meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    /// The form, as its document writes it.
    pub syntax: String,
    /// Its operands.
    pub operands: String,
    /// What it computes, in words; empty where no row of the family has it.
    pub meaning: String,
    /// What has it.
    pub gate: String,
    /// Document and section.
    pub source: String,
    /// What a reader would not guess.
    pub note: String,
}

impl Described {
    fn of(row: FormRow, meaning: String) -> Described {
        let FormRow { syntax, operands, gate, source, note, .. } = row;
        Described { syntax, operands: operands.to_owned(), meaning, gate, source: source.to_owned(), note }
    }
}

/// Rows listed of a spelling that names none.
const LISTED: usize = 8;

/// The rows that a spelling of a language names: one, or those that may be meant.
///
/// ```
/// use roundonce::answers::{TextLanguage, describe};
/// let rows = describe(TextLanguage::Ptx, "fma.rz.f32", &Default::default());
/// assert_eq!(rows[0].syntax, "fma.rnd{.ftz}{.sat}.f32");
/// assert_eq!(rows[0].meaning, "d = a × b + c, exact, then rounded once toward zero");
/// let shift = describe(TextLanguage::Ptx, "shl.b32", &Default::default());
/// assert_eq!((shift[0].operands.as_str(), shift[0].meaning.as_str()), ("d, a, b", ""));
/// ```
pub fn describe(language: TextLanguage, spelling: &str, target: &Target) -> Vec<Described> {
    if let Some(found) =
        of_family(language, spelling, target).or_else(|| of_family(language, spelling, &Target::default()))
    {
        return vec![found];
    }
    let (mnemonic, modifiers) = split_spelling(spelling);
    let near =
        of_mnemonic(TABLES.into_iter().flatten().filter(|row| is_of(language, row.language)), mnemonic, &modifiers);
    let others = || of_mnemonic(integer_rows::FORMS.iter().chain(conversions::FORMS), mnemonic, &modifiers);
    let near = if near.is_empty() && language == TextLanguage::Ptx { others() } else { near };
    if near.is_empty() { outside(language, spelling) } else { near }
}

pub(super) fn is_of(language: TextLanguage, of: roundonce_isa::Language) -> bool {
    use roundonce_isa::Language;
    match language {
        TextLanguage::Ptx => of == Language::Ptx,
        TextLanguage::Sass => of == Language::Sass,
        TextLanguage::Spirv => of == Language::SpirV,
    }
}

/// The row of the family that a spelling names on a target.
fn of_family(language: TextLanguage, spelling: &str, target: &Target) -> Option<Described> {
    if language == TextLanguage::Ptx {
        if matrix::is_matrix(spelling) {
            let found = matrix::instruction(spelling, target, &Profile::NVIDIA).ok()?;
            let row = FormRow::of_matrix(found.row.unit);
            return Some(Described {
                meaning: row.note.clone(),
                note: String::new(),
                ..Described::of(row, String::new())
            });
        }
        if integer::is_integer(spelling) {
            let found = integer::instruction(spelling, target).ok()?;
            return Some(Described::of(FormRow::of(found.form), found.meaning(spelling)));
        }
        if conversion::is_conversion(spelling) {
            let found = conversion::instruction(spelling, target).ok()?;
            return Some(Described::of(FormRow::of(found.form), found.words()));
        }
    }
    let found = instruction(spelling, target).ok().filter(|found| is_of(language, found.form.language))?;
    Some(Described::of(FormRow::of(found.form), why::meaning(&found)))
}

/// The rows of a mnemonic that have the most of some modifiers.
fn of_mnemonic<'f, M: 'f>(
    rows: impl Iterator<Item = &'f Form<M>>,
    mnemonic: &str,
    modifiers: &[&str],
) -> Vec<Described> {
    let (mut fitting, mut others) = (Vec::new(), Vec::new());
    for row in rows.filter(|row| row.mnemonic == mnemonic) {
        let fits = !matches!(row.effects(mnemonic, modifiers), Err(Mismatch::Other));
        if fits { &mut fitting } else { &mut others }.push(Described::of(FormRow::of(row), String::new()));
    }
    let mut rows = if fitting.is_empty() { others } else { fitting };
    rows.truncate(LISTED);
    rows
}

/// What a language says of an opcode outside the family.
fn outside(language: TextLanguage, spelling: &str) -> Vec<Described> {
    let described = |syntax: String, operands: String, gate: String, source: &str| Described {
        syntax,
        operands,
        meaning: String::new(),
        gate,
        source: source.to_owned(),
        note: String::new(),
    };
    let (mnemonic, _) = split_spelling(spelling);
    match language {
        TextLanguage::Ptx => ptx::opcode_text(spelling).map_or(Vec::new(), |found| {
            let rows = found.syntax.into_iter().take(LISTED);
            let row =
                |syntax| described(syntax, found.operands.to_owned(), found.gate.clone(), "PTX ISA, 9.7 instructions");
            rows.map(row).collect()
        }),
        TextLanguage::Spirv => spirv::opcode_text(mnemonic).map_or(Vec::new(), |(operands, capability)| {
            let gate = if capability.is_empty() { capability } else { format!("capability {capability}") };
            vec![described(mnemonic.to_owned(), operands, gate, "SPIR-V, 3.49 instructions")]
        }),
        TextLanguage::Sass => {
            let kinds = sass::operand_kinds(mnemonic).into_iter().take(LISTED);
            let rows = kinds.map(|kinds| described(mnemonic.to_owned(), kinds, "sm_50 to sm_62".to_owned(), ""));
            rows.collect()
        }
    }
}

/// A number of a text, in its own type and in others; nothing if it is none. The instruction that it is an operand of
/// decides its type.
///
/// ```
/// use roundonce::answers::{TextLanguage, literal};
/// let lines = literal(TextLanguage::Ptx, "0f3F800001", None);
/// assert!(lines[0].starts_with("0f3F800001 is the f32 0x3f800001 = 1.0000001"));
/// assert_eq!(literal(TextLanguage::Ptx, "42", None), ["42 is 0x2a"]);
/// ```
pub fn literal(language: TextLanguage, text: &str, instruction: Option<&Spelled>) -> Vec<String> {
    let spelling = instruction.map_or("", |instruction| &instruction.spelling);
    let format = operand_format(language, spelling);
    let whole = integer_value(text);
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).map_or(0, str::len);
    // Hexadecimal bits of a float have all their digits.
    let is_whole_width = |(_, format): (&str, Format)| digits == format.width().div_ceil(4) as usize;
    let asked = match (format, whole) {
        _ if is_raw(text) => Some(text.to_owned()),
        (Some((name, _)), None) => Some(format!("{text}:{name}")),
        (Some(named), Some(_)) if is_whole_width(named) => Some(format!("{text}:{}", named.0)),
        // `FADD R0, R0, 1`; PTX takes no integer for a float.
        (Some((name, _)), Some(_)) if digits == 0 && language != TextLanguage::Ptx => Some(format!("{text}:{name}")),
        (None, None) => Some(format!("{text}:{}", if language == TextLanguage::Ptx { "f64" } else { "f32" })),
        (None, Some(_)) if matches!(digits, 8 | 16) => Some(text.to_owned()),
        _ => None,
    };
    let other_radix = |value: u64| {
        let is_decimal = text.len() == 1 || !text.starts_with('0');
        if is_decimal { format!("{text} is {value:#x}") } else { format!("{text} is {value}") }
    };
    let mut lines: Vec<String> = whole.filter(|_| !is_raw(text)).map(other_radix).into_iter().collect();
    let Some(found) = asked.and_then(|asked| bits(&asked).ok()) else { return lines };
    let (fields, rounded) = (&found.answer, !found.notes.is_empty());
    let Some(own) = fields.formats.iter().find(|row| row.ty == fields.ty) else { return lines };
    let note = if rounded { ", rounded to nearest even" } else { "" };
    lines.push(format!("{text} is the {} {} = {} ({}{note})", own.ty, own.bits, own.value, own.class));
    lines.push(format!("sign {} exponent {} fraction {}", own.sign, own.exponent, own.fraction));
    lines.push(format!("{} = {}", own.hexadecimal, shortened(&fields.exact_decimal)));
    let others = Format::NAMED.map(|(name, _)| name);
    for row in fields.formats.iter().filter(|row| row.ty != fields.ty && others.contains(&row.ty)) {
        let note = if row.exact { "" } else { ", rounded" };
        lines.push(format!("{} {} = {}{note}", row.ty, row.bits, row.value));
    }
    lines
}

/// Digits of an exact decimal that are shown.
const DIGITS: usize = 80;

fn shortened(decimal: &str) -> String {
    if decimal.len() <= DIGITS {
        decimal.to_owned()
    } else {
        format!("{}… ({} digits)", &decimal[..DIGITS], decimal.len())
    }
}

/// `0f3F800000`, `0d…`: the text has the type.
fn is_raw(text: &str) -> bool {
    let behind = text.strip_prefix('0').unwrap_or_default();
    matches!(behind.as_bytes().first(), Some(b'f' | b'F' | b'd' | b'D'))
}

/// The format of the operands that a spelling names.
fn operand_format(language: TextLanguage, spelling: &str) -> Option<(&'static str, Format)> {
    let name = match language {
        TextLanguage::Sass => match spelling.as_bytes().first()? {
            b'F' => "f32",
            b'D' => "f64",
            b'H' => "f16",
            _ => return None,
        },
        TextLanguage::Ptx | TextLanguage::Spirv => {
            let last = split_spelling(spelling).1.into_iter().rev();
            let mut named = last.map(|word| word.trim_start_matches('.').trim_end_matches("x2"));
            let is_vector =
                |word: &str| word.strip_prefix('v').and_then(|rest| rest.get(1..)).unwrap_or(word).to_owned();
            let word = named.next().map(is_vector)?;
            Format::NAMED.iter().find(|(known, _)| *known == word)?.0
        }
    };
    Format::NAMED.into_iter().find(|(known, _)| *known == name)
}

/// A whole number: decimal, `0x`, octal `017`, `0b`, with a `U` behind it.
fn integer_value(text: &str) -> Option<u64> {
    ptx::literal::integer(text).map(|found| found.bits)
}

/// The machine and version that an outline names.
impl From<&Outline> for Target {
    fn from(outline: &Outline) -> Target {
        Target { sm: outline.sm, ptx: outline.version }
    }
}
