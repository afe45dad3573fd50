//! Matrix instructions (`mma`, `wmma`, `wgmma`, `ldmatrix`, `stmatrix`, `movmatrix`) by the rows of what the assembler
//! takes.

use super::gate::Gated;
use super::names::is_special;
use super::operands::{Immediate, Wanted};
use super::signature::plain;
use super::{Check, INSTRUCTIONS, module};
use crate::ast::{Instruction, Operand, OperandKind, Unary};
use crate::literal::evaluate;
use crate::matrix::{ACCEPTED, AcceptedRow};
use crate::types::is_type;
use roundonce_isa::Finding;
use std::collections::HashMap;
use std::sync::LazyLock;

/// How many spellings a message lists.
const LISTED: usize = 3;
/// How an operand is called in messages.
const NAMES: &[&str] = &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];

/// Where words keep their order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Layout,
    Type,
    Other,
}

impl Class {
    fn of(word: &str) -> Class {
        match word {
            ".row" | ".col" => Class::Layout,
            _ if is_type(word) || word == ".ue4m3" => Class::Type,
            _ => Class::Other,
        }
    }
}

/// Why modifiers are not a row's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Misfit {
    Missing(&'static str),
    Other,
    NotAllowed,
}

/// The columns of a shape of `wgmma`, if the pattern is one: `.m64nNk16`.
fn columns(pattern: &str, word: &str) -> Option<usize> {
    let depth = pattern.strip_prefix(".m64n")?.strip_prefix(['N', 'M'])?;
    let text = word.strip_prefix(".m64n")?.strip_suffix(depth)?;
    let columns: usize = text.parse().ok().filter(|_| !text.starts_with(['0', '+']))?;
    let is_spread = pattern.contains('M') && columns > 32;
    let fits = columns.is_multiple_of(if is_spread { 16 } else { 8 }) && (8..=256).contains(&columns);
    fits.then_some(columns)
}

/// A row, its modifiers taken apart.
struct Prepared {
    row: &'static AcceptedRow,
    slots: Vec<Slot>,
    operands: Vec<&'static str>,
}

struct Slot {
    text: &'static str,
    choices: Vec<&'static str>,
    class: Class,
    required: bool,
}

impl Slot {
    fn of(text: &'static str) -> Slot {
        let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let choices: Vec<&str> = inner.unwrap_or(text).split('|').collect();
        Slot { text, class: Class::of(choices[0]), choices, required: inner.is_none() }
    }

    fn has(&self, word: &str) -> bool {
        self.choices.iter().any(|choice| *choice == word || columns(choice, word).is_some())
    }
}

static ROWS: LazyLock<HashMap<&'static str, Vec<Prepared>>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<Prepared>> = HashMap::new();
    for row in ACCEPTED {
        let slots = row.modifiers.split(' ').map(Slot::of).collect();
        let operands = row.operands.split_whitespace().collect();
        all.entry(row.opcode).or_default().push(Prepared { row, slots, operands });
    }
    all
});

/// Whether modifiers are a row's: with the columns of `wgmma`; or how many of them are, and why not all.
fn matches(row: &Prepared, written: &[(&str, Class)]) -> Result<usize, (usize, Misfit)> {
    let mut left = vec![true; written.len()];
    let (mut of_shape, mut fitting, mut misfit) = (0, 0, None);
    for slot in &row.slots {
        // A type or a layout is the next one; other words stand anywhere.
        let next = (0..left.len()).find(|&at| {
            let (word, class) = written[at];
            left[at] && class == slot.class && (class != Class::Other || slot.has(word))
        });
        match next {
            Some(at) if slot.has(written[at].0) => {
                left[at] = false;
                fitting += 1;
                of_shape = slot.choices.iter().find_map(|choice| columns(choice, written[at].0)).unwrap_or(of_shape);
            }
            Some(at) => {
                left[at] = false;
                misfit = Some(Misfit::Other);
            }
            None if slot.required => misfit = misfit.or(Some(Misfit::Missing(slot.text))),
            None => {}
        }
    }
    // In place of what is missing something else stands.
    match misfit {
        None if left.contains(&true) => Err((fitting, Misfit::NotAllowed)),
        None => Ok(of_shape),
        Some(_) if left.contains(&true) => Err((fitting, Misfit::Other)),
        Some(misfit) => Err((fitting, misfit)),
    }
}

/// A code of operands: how many registers in braces, and its kind.
fn parts(code: &'static str, columns: usize) -> (Option<usize>, &'static str) {
    let kind = code.trim_start_matches(|letter: char| letter == 'N' || letter.is_ascii_digit());
    let count = match &code[..code.len() - kind.len()] {
        "" => None,
        "N2" => Some(columns / 2),
        "N4" => Some(columns / 4),
        number => number.parse().ok(),
    };
    (count, kind)
}

/// The registers of a kind.
fn registers(kind: &str) -> &'static [&'static str] {
    match kind {
        "f" => &[".f32", ".b32"],
        "d" => &[".f64", ".b64", ".u64", ".s64"],
        "i" => &[".b32", ".s32", ".u32"],
        "h" => &[".b32", ".f16x2"],
        "b" => &[".b32"],
        "q" => &[".b64", ".u64", ".s64"],
        "p" => &[".pred"],
        "t" => &[".b32", ".u32", ".s32"],
        _ => &[".b32", ".f32", ".u32", ".s32", ".f16x2"],
    }
}

/// Whether so many operands of such a look are a row's.
fn has_look(codes: &[&'static str], columns: usize, operands: &[Operand]) -> bool {
    codes.iter().zip(operands).all(|(code, operand)| {
        let (count, kind) = parts(code, columns);
        match (count, operand.kind) {
            (Some(count), OperandKind::Vector(items)) => items.len as usize == count,
            (Some(_), _) => false,
            (None, OperandKind::Vector(items)) => match kind {
                "m" => items.len == 1,
                _ => kind == "s",
            },
            _ => true,
        }
    })
}

impl<'a> Check<'_, 'a> {
    /// Checks a matrix instruction; false if it is none that has rows.
    pub(super) fn by_matrix_rows(&mut self, instruction: &Instruction<'a>) -> bool {
        let module = self.module;
        let opcode = instruction.opcode;
        let Some(rows) = ROWS.get(opcode) else { return false };
        if self.version.is_some_and(|version| version > module::NEWEST) {
            return false;
        }
        let written = plain(module.modifiers(instruction.modifiers));
        let classed: Vec<(&str, Class)> = written.iter().map(|word| (*word, Class::of(word))).collect();
        let operands = module.operands(instruction.operands);
        let mut right = Vec::new();
        let mut wrong = Vec::new();
        for row in rows {
            match matches(row, &classed) {
                Ok(columns) => right.push((row, columns)),
                Err(misfit) => wrong.push((row.row, misfit)),
            }
        }
        if right.is_empty() {
            self.no_row(instruction, wrong);
            self.declared(instruction.operands);
            return true;
        }
        let is_counted = |row: &Prepared| {
            let all = &row.operands;
            let least = all.len() - usize::from(all.last() == Some(&"t"));
            (least..=all.len()).contains(&operands.len())
        };
        let counted: Vec<_> = right.iter().copied().filter(|(row, _)| is_counted(row)).collect();
        let looks: Vec<_> =
            counted.iter().copied().filter(|(row, columns)| has_look(&row.operands, *columns, operands)).collect();
        let passing = |all: &[(&'static Prepared, usize)]| {
            all.iter().copied().find(|(row, _)| self.passes(&row.row.gate, self.target)).or(all.first().copied())
        };
        let Some((row, columns)) = passing(&looks).or_else(|| passing(&counted)) else {
            let mut counts: Vec<String> = right.iter().map(|(row, _)| row.operands.len().to_string()).collect();
            counts.dedup();
            let (name, given) = (instruction.spelling(module), operands.len());
            let message = format!("`{name}` with {given} operands: expected {}", counts.join(" or "));
            self.report(Finding::error("PTX0028", instruction.span.place(), message).rule(INSTRUCTIONS));
            self.declared(instruction.operands);
            return true;
        };
        if !self.passes(&row.row.gate, self.target) {
            let (span, name) = (self.spelling_span(instruction), format!("`{}`", instruction.spelling(module)));
            let gated = Gated { span, name, gate: &row.row.gate, source: INSTRUCTIONS, note: "no later PTX has it" };
            self.report_gate(&gated, self.target);
        }
        let space = written.iter().find_map(|word| crate::opcodes::space_name(word));
        for ((code, operand), name) in row.operands.iter().zip(operands).zip(NAMES) {
            self.matrix_operand(operand, parts(code, columns), name, space);
        }
        true
    }

    fn no_row(&mut self, instruction: &Instruction, mut wrong: Vec<(&'static AcceptedRow, (usize, Misfit))>) {
        wrong.sort_by_key(|(_, (fitting, _))| std::cmp::Reverse(*fitting));
        let name = instruction.spelling(self.module);
        let spelled = |row: &AcceptedRow| format!("`{}{}`", row.opcode, row.modifiers.replace(' ', ""));
        let nearest: Vec<String> = wrong.iter().take(LISTED).map(|(row, _)| spelled(row)).collect();
        let more = if wrong.len() > LISTED { ", …" } else { "" };
        let expected = format!("expected one like {}{more}", nearest.join(", "));
        let (code, message) = match wrong.first() {
            Some((_, (_, Misfit::Missing(slot)))) => ("PTX0022", format!("`{name}` needs {slot}: {expected}")),
            Some((_, (_, Misfit::NotAllowed))) => {
                ("PTX0023", format!("`{name}` has a modifier that such a form has not: {expected}"))
            }
            _ => ("PTX0021", format!("`{name}`: there is no such form of these shapes, layouts and types: {expected}")),
        };
        let place = self.spelling_span(instruction).place();
        self.report(Finding::error(code, place, message).rule(INSTRUCTIONS));
    }

    fn matrix_operand(
        &mut self,
        operand: &Operand<'a>,
        (count, kind): (Option<usize>, &'static str),
        name: &'static str,
        space: Option<&str>,
    ) {
        let is_constant = matches!(kind, "p" | "q" | "t" | "+") || kind.starts_with('#');
        let immediate = if is_constant { Immediate::Integer } else { Immediate::None };
        let wanted = Wanted::plain(name, registers(kind), immediate, INSTRUCTIONS);
        match (count, kind) {
            (Some(count), _) => self.fragment(operand, &wanted, count),
            (None, "A") => self.address_place(operand, &wanted, space, false),
            (None, "s") => self.declared_in(operand),
            (None, "m") if matches!(operand.kind, OperandKind::Vector(_)) => self.vector(operand, &wanted, 1),
            (None, "p") if matches!(operand.kind, OperandKind::Unary(Unary::Not, _)) => self.declared_in(operand),
            (None, "+") => self.constant_of(operand, &wanted, &[1, -1]),
            (None, "#1") => self.constant_of(operand, &wanted, &[0, 1]),
            (None, "#3") => self.constant_of(operand, &wanted, &[0, 1, 2, 3]),
            (None, "#") => self.constant_of(operand, &wanted, &[]),
            _ => self.source(operand, &wanted),
        }
    }

    /// So many registers in braces. A result may be thrown away; for a source the assembler takes some constants and
    /// special registers too, which are not looked at.
    fn fragment(&mut self, operand: &Operand<'a>, wanted: &Wanted, count: usize) {
        let is_first = wanted.name == NAMES[0];
        let OperandKind::Vector(items) = operand.kind else { return self.vector(operand, wanted, count) };
        if items.len as usize != count {
            return self.vector(operand, wanted, count);
        }
        for item in self.module.operands(items) {
            match item.kind {
                OperandKind::Discard if is_first => {}
                OperandKind::Name(name) | OperandKind::Component(name, _) if is_first || !is_special(name) => {
                    self.source(item, wanted);
                }
                _ if is_first => self.source(item, wanted),
                _ => self.declared_in(item),
            }
        }
    }

    /// One of these constants, any if there are none.
    fn constant_of(&mut self, operand: &Operand<'a>, wanted: &Wanted, values: &[i64]) {
        self.constant_place(operand, wanted);
        let bits = evaluate(self.module, operand).ok().and_then(|constant| constant.bits_as(".s64"));
        let is_other = bits.is_some_and(|bits| !values.iter().any(|value| *value as u64 == bits));
        if !values.is_empty() && is_other {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            let message = format!("operand `{}`: expected one of {}", wanted.name, values.join(", "));
            self.report(Finding::error("PTX0030", operand.span.place(), message).rule(INSTRUCTIONS));
        }
    }
}
