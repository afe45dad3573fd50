//! Matrix instructions (`mma`, `wmma`, `wgmma`, `ldmatrix`, `stmatrix`, `movmatrix`) and those of tensor memory
//! (`tcgen05`) by the rows of what the assembler takes.

use super::gate::Gated;
use super::names::is_special;
use super::operands::{Immediate, Wanted};
use super::places::MIXED;
use super::scope::Entity;
use super::signature::plain;
use super::{Check, INSTRUCTIONS, module};
use crate::ast::{Instruction, Operand, OperandKind, Unary};
use crate::literal::evaluate;
use crate::matrix::{ACCEPTED, AcceptedRow, SHORT, TENSOR_MEMORY};
use crate::types::is_type;
use roundonce_isa::{Finding, Gate, split_spelling};
use std::collections::HashMap;
use std::sync::LazyLock;

/// How many spellings a message lists.
const LISTED: usize = 3;
/// How an operand is called in messages.
static NAMES: &[&str] = &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
const TENSOR_MEMORY_OPCODE: &str = "tcgen05";
/// How many columns of tensor memory are allocated at once.
const COLUMNS: &[i64] = &[32, 64, 128, 256, 512];

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
            _ if is_type(word) || matches!(word, ".ue4m3" | ".b8x16" | ".b6x16_p32" | ".b4x16_p64") => Class::Type,
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

/// The number in a word, if the pattern has one: the columns of a shape of `wgmma`, `.m64nNk16`, and `.x1-64`.
fn number_in(pattern: &str, word: &str) -> Option<usize> {
    let number = |text: &str| text.parse::<usize>().ok().filter(|_| !text.starts_with(['0', '+']));
    if let Some((first, last)) = pattern.strip_prefix(".x").and_then(|range| range.split_once('-')) {
        let range = number(first)?..=number(last)?;
        return number(word.strip_prefix(".x")?).filter(|count| count.is_power_of_two() && range.contains(count));
    }
    let depth = pattern.strip_prefix(".m64n")?.strip_prefix(['N', 'M'])?;
    let columns = number(word.strip_prefix(".m64n")?.strip_suffix(depth)?)?;
    let is_spread = pattern.contains('M') && columns > 32;
    let fits = columns.is_multiple_of(if is_spread { 16 } else { 8 }) && (8..=256).contains(&columns);
    fits.then_some(columns)
}

/// A row, its modifiers taken apart, with every list of operands that it has.
struct Prepared {
    row: &'static AcceptedRow,
    slots: Vec<Slot>,
    operands: Vec<Vec<&'static str>>,
}

impl Prepared {
    fn of(row: &'static AcceptedRow) -> Prepared {
        let mut operands: Vec<Vec<&str>> = vec![Vec::new()];
        for text in row.operands.split_whitespace() {
            let optional = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            let without = if optional.is_some() { operands.clone() } else { Vec::new() };
            let choices = optional.unwrap_or(text).split('|');
            let with = |code| operands.iter().map(move |codes| [codes.as_slice(), &[code]].concat());
            operands = choices.flat_map(with).chain(without).collect();
        }
        Prepared { row, slots: row.modifiers.split_whitespace().map(Slot::of).collect(), operands }
    }
}

/// A row with one of its lists of operands, and the number in its modifiers.
type Candidate = (&'static AcceptedRow, &'static [&'static str], usize);

struct Slot {
    text: &'static str,
    choices: Vec<&'static str>,
    class: Class,
    required: bool,
}

impl Slot {
    fn of(text: &'static str) -> Slot {
        let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let name = inner.unwrap_or(text);
        let long = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
        let choices: Vec<&str> = long.split('|').collect();
        Slot { text, class: Class::of(choices[0]), choices, required: inner.is_none() }
    }

    fn has(&self, word: &str) -> bool {
        self.choices.iter().any(|choice| *choice == word || number_in(choice, word).is_some())
    }
}

static ROWS: LazyLock<HashMap<&'static str, Vec<Prepared>>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<Prepared>> = HashMap::new();
    for row in ACCEPTED.iter().chain(TENSOR_MEMORY) {
        all.entry(row.opcode).or_default().push(Prepared::of(row));
    }
    all
});

/// The rows of an opcode with its first modifiers (`tcgen05.mma.ws`), or of the opcode alone; with how many modifiers.
fn rows_of(opcode: &str, written: &[&str]) -> Option<(&'static [Prepared], usize)> {
    let names = (0..=written.len().min(2)).rev().map(|count| (opcode.to_owned() + &written[..count].concat(), count));
    names.into_iter().find_map(|(name, count)| Some((ROWS.get(name.as_str())?.as_slice(), count)))
}

/// Whether modifiers are a row's: with the number in them; or how many of them are, and why not all.
fn matches(row: &Prepared, written: &[(&str, Class)]) -> Result<usize, (usize, Misfit)> {
    let mut left = vec![true; written.len()];
    let (mut number, mut fitting, mut misfit) = (0, 0, None);
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
                number = slot.choices.iter().find_map(|choice| number_in(choice, written[at].0)).unwrap_or(number);
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
        None => Ok(number),
        Some(_) if left.contains(&true) => Err((fitting, Misfit::Other)),
        Some(misfit) => Err((fitting, misfit)),
    }
}

/// Where a matrix instruction exists, by its spelling: of each form that it is.
///
/// ```
/// let gates = roundonce_ptx::matrix_gates("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32");
/// assert_eq!(gates[0].to_string(), "PTX 8.4, sm_89");
/// assert!(roundonce_ptx::matrix_gates("mma.sync").is_empty());
/// ```
pub fn matrix_gates(spelling: &str) -> Vec<Gate> {
    let (opcode, written) = split_spelling(spelling);
    let Some((rows, first)) = rows_of(opcode, &written) else { return Vec::new() };
    let classed: Vec<(&str, Class)> = written[first..].iter().map(|word| (*word, Class::of(word))).collect();
    rows.iter().filter(|row| matches(row, &classed).is_ok()).map(|row| row.row.gate).collect()
}

/// A code of operands: how many registers in braces, and its kind.
fn parts(code: &'static str, number: usize) -> (Option<usize>, &'static str) {
    let kind = code.trim_start_matches(|letter: char| letter == 'N' || letter.is_ascii_digit());
    let count = match &code[..code.len() - kind.len()] {
        "" => None,
        "N" => Some(number),
        "2N" => Some(2 * number),
        "4N" => Some(4 * number),
        "N2" => Some(number / 2),
        "N4" => Some(number / 4),
        fixed => fixed.parse().ok(),
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
        "b" | "B" => &[".b32"],
        "q" => &[".b64", ".u64", ".s64"],
        "p" => &[".pred"],
        "t" | "n" | "U" => &[".b32", ".u32", ".s32"],
        "c" | "C" => &[".b16", ".u16", ".s16"],
        _ => &[".b32", ".f32", ".u32", ".s32", ".f16x2"],
    }
}

/// Whether so many operands of such a look are a row's.
fn has_look(codes: &[&'static str], number: usize, operands: &[Operand]) -> bool {
    codes.iter().zip(operands).all(|(code, operand)| {
        let (count, kind) = parts(code, number);
        match (count, operand.kind) {
            (Some(count), OperandKind::Vector(items)) => items.len as usize == count,
            (Some(_), _) => false,
            (None, OperandKind::Vector(items)) => match kind {
                "m" | "c" | "C" => items.len == 1,
                _ => kind == "s",
            },
            (None, OperandKind::Address(_)) => matches!(kind, "A" | "B" | "U" | "X"),
            _ => !matches!(kind, "B" | "U" | "X"),
        }
    })
}

impl<'a> Check<'_, 'a> {
    /// Checks a matrix instruction; false if it is none that has rows.
    pub(super) fn by_matrix_rows(&mut self, instruction: &Instruction<'a>) -> bool {
        let module = self.module;
        let opcode = instruction.opcode;
        if self.version.is_some_and(|version| version > module::NEWEST) {
            return false;
        }
        let written = plain(module.modifiers(instruction.modifiers));
        let Some((rows, first)) = rows_of(opcode, &written) else {
            return opcode == TENSOR_MEMORY_OPCODE && self.no_operation(instruction);
        };
        let classed: Vec<(&str, Class)> = written[first..].iter().map(|word| (*word, Class::of(word))).collect();
        let operands = module.operands(instruction.operands);
        let mut right: Vec<Candidate> = Vec::new();
        let mut wrong = Vec::new();
        for row in rows {
            match matches(row, &classed) {
                Ok(number) => right.extend(row.operands.iter().map(|codes| (row.row, codes.as_slice(), number))),
                Err(misfit) => wrong.push((row.row, misfit)),
            }
        }
        if right.is_empty() {
            self.no_row(instruction, wrong);
            self.declared(instruction.operands);
            return true;
        }
        let counted: Vec<Candidate> =
            right.iter().copied().filter(|(_, codes, _)| codes.len() == operands.len()).collect();
        let looks: Vec<Candidate> =
            counted.iter().copied().filter(|(_, codes, number)| has_look(codes, *number, operands)).collect();
        let passing = |all: &[Candidate]| {
            all.iter().copied().find(|(row, ..)| self.passes(&row.gate, self.target)).or(all.first().copied())
        };
        let Some((row, codes, number)) = passing(&looks).or_else(|| passing(&counted)) else {
            let mut counts: Vec<usize> = right.iter().map(|(_, codes, _)| codes.len()).collect();
            counts.sort_unstable();
            counts.dedup();
            let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
            let (name, given) = (instruction.spelling(module), operands.len());
            let message = format!("`{name}` with {given} operands: expected {}", counts.join(" or "));
            self.report(Finding::error("PTX0028", instruction.span.place(), message).rule(INSTRUCTIONS));
            self.declared(instruction.operands);
            return true;
        };
        if !self.passes(&row.gate, self.target) {
            let (span, name) = (self.spelling_span(instruction), format!("`{}`", instruction.spelling(module)));
            let gated = Gated { span, name, gate: &row.gate, source: INSTRUCTIONS, note: "no later PTX has it" };
            self.report_gate(&gated, self.target);
        }
        if opcode == TENSOR_MEMORY_OPCODE {
            self.one_cta_group(&written);
        }
        let space = written.iter().find_map(|word| crate::opcodes::space_name(word));
        for ((code, operand), name) in codes.iter().zip(operands).zip(NAMES) {
            self.matrix_operand(operand, parts(code, number), name, space);
        }
        true
    }

    /// The manual asks for one `.cta_group` in a kernel; ptxas 13.5 does of each function, 12.9 does not.
    fn one_cta_group(&mut self, written: &[&'a str]) {
        let Some(group) = written.iter().copied().find(|word| word.starts_with(".cta_group")) else { return };
        let first = *self.cta_group.get_or_insert(group);
        if first != group {
            let message = format!("`{group}` in a function with `{first}`: expected the same in all of its `tcgen05`");
            self.report(Finding::error("PTX0033", self.span(group).place(), message).rule(INSTRUCTIONS));
        }
    }

    /// That there is no such operation on tensor memory.
    fn no_operation(&mut self, instruction: &Instruction<'a>) -> bool {
        let mut names: Vec<String> = TENSOR_MEMORY.iter().map(|row| format!("`{}`", row.opcode)).collect();
        names.dedup();
        let name = instruction.spelling(self.module);
        let message = format!("`{name}`: there is no such operation: expected one of {}", names.join(", "));
        let place = self.spelling_span(instruction).place();
        self.report(Finding::error("PTX0021", place, message).rule(INSTRUCTIONS));
        self.declared(instruction.operands);
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
        let is_constant = matches!(kind, "p" | "q" | "t" | "n" | "C" | "+") || kind.starts_with('#');
        let immediate = if is_constant { Immediate::Integer } else { Immediate::None };
        let wanted = Wanted::plain(name, registers(kind), immediate, INSTRUCTIONS);
        match (count, kind) {
            (Some(count), _) => self.fragment(operand, &wanted, count),
            (None, "A") => self.address_place(operand, &wanted, space, false),
            (None, "s") => self.declared_in(operand),
            (None, "B" | "U" | "X") => self.tensor_address(operand, &wanted, kind),
            (None, "m" | "c" | "C") if matches!(operand.kind, OperandKind::Vector(_)) => {
                self.vector(operand, &wanted, 1)
            }
            (None, "p") if matches!(operand.kind, OperandKind::Unary(Unary::Not, _)) => self.declared_in(operand),
            (None, "+") => {
                self.constant_place(operand, &wanted);
                self.limit(operand, &wanted, |value| matches!(value, 1 | -1), "1 or -1");
            }
            (None, "#") => self.constant_place(operand, &wanted),
            (None, "n") => {
                self.source(operand, &wanted);
                self.limit(operand, &wanted, |value| COLUMNS.contains(&value), "a power of two from 32 to 512");
            }
            (None, "C") => {
                self.source(operand, &wanted);
                self.limit(operand, &wanted, |value| (0..=0xffff).contains(&value), "16 bits");
            }
            _ => match kind.strip_prefix('#').and_then(|last| last.parse::<i64>().ok()) {
                Some(last) => {
                    self.constant_place(operand, &wanted);
                    self.limit(operand, &wanted, |value| (0..=last).contains(&value), &format!("0 to {last}"));
                }
                None => self.source(operand, &wanted),
            },
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
        let items = self.module.operands(items);
        if items.iter().all(|item| item.kind == OperandKind::Discard) {
            return self.refuse("PTX0030", operand, wanted, "no register in braces", "name one, if only to drop it");
        }
        if self.is_mixed(items) {
            return self.refuse("PTX0027", operand, wanted, MIXED.0, MIXED.1);
        }
        for item in items {
            match item.kind {
                OperandKind::Discard if is_first => {}
                OperandKind::Discard => self.source(item, wanted),
                OperandKind::Name(name) | OperandKind::Component(name, _) if is_first || !is_special(name) => {
                    self.source(item, wanted);
                }
                _ if is_first => self.source(item, wanted),
                _ => self.declared_in(item),
            }
        }
    }

    /// That a constant, if it is one, is allowed.
    fn limit(&mut self, operand: &Operand<'a>, wanted: &Wanted, is_allowed: impl Fn(i64) -> bool, expected: &str) {
        let bits = evaluate(self.module, operand).ok().and_then(|constant| constant.bits_as(".s64"));
        if bits.is_some_and(|bits| !is_allowed(bits as i64)) {
            let message = format!("operand `{}`: expected {expected}", wanted.name);
            self.report(Finding::error("PTX0030", operand.span.place(), message).rule(INSTRUCTIONS));
        }
    }

    /// An address in tensor memory.
    fn tensor_address(&mut self, operand: &Operand<'a>, wanted: &Wanted, kind: &str) {
        self.declared_in(operand);
        let OperandKind::Address(items) = operand.kind else {
            let (found, help) = ("an operand without brackets", "write an address: `[a]`");
            return self.refuse("PTX0030", operand, wanted, found, help);
        };
        let entity = match self.address_base(items).and_then(Operand::name) {
            Some(name) => match self.scopes.find(name) {
                None if !is_special(name) => return,
                entity => entity,
            },
            None => None,
        };
        let is_right = kind == "X"
            || match entity {
                Some(Entity::Register { ty, lanes: 1 }) => registers(kind).contains(&ty),
                Some(Entity::Variable(_)) => kind == "U",
                _ => false,
            };
        if !is_right {
            let help = "an address in tensor memory is that of `tcgen05.alloc`, in a register";
            self.refuse("PTX0030", operand, wanted, "another address", help);
        }
    }
}
