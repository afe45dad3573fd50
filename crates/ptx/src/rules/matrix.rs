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
use crate::literal::{Constant, evaluate};
use crate::matrix::{AcceptedRow, Class, Misfit, TENSOR_MEMORY, matches, rows_of, why_none};
use roundonce_isa::Finding;

/// A row with one of its lists of operands, and the number in its modifiers.
type Candidate = (&'static AcceptedRow, &'static [&'static str], usize);

/// How an operand is called in messages.
static NAMES: &[&str] = &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
const TENSOR_MEMORY_OPCODE: &str = "tcgen05";
/// How many columns of tensor memory are allocated at once.
const COLUMNS: &[i64] = &[32, 64, 128, 256, 512];

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
        "p" | "P" => &[".pred"],
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
                _ => kind.starts_with('s'),
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

    fn no_row(&mut self, instruction: &Instruction, wrong: Vec<(&'static AcceptedRow, (usize, Misfit))>) {
        let (code, message) = why_none(&instruction.spelling(self.module), wrong);
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
        let is_constant = matches!(kind, "p" | "P" | "q" | "t" | "n" | "C" | "+") || kind.starts_with('#');
        let immediate = if is_constant { Immediate::Integer } else { Immediate::None };
        let wanted = Wanted::plain(name, registers(kind), immediate, INSTRUCTIONS);
        match (count, kind) {
            (Some(count), _) => self.fragment(operand, &wanted, kind, count),
            (None, "A") => self.address_place(operand, &wanted, space, (false, false)),
            (None, _) if kind.starts_with('s') => self.selectors(operand, kind),
            (None, "B" | "U" | "X") => self.tensor_address(operand, &wanted, kind),
            (None, "m" | "c" | "C") if matches!(operand.kind, OperandKind::Vector(_)) => {
                self.vector(operand, &wanted, 1)
            }
            (None, "p" | "P") if matches!(operand.kind, OperandKind::Unary(Unary::Not, _)) => self.declared_in(operand),
            (None, "+") => {
                self.constant_place(operand, &wanted);
                self.limit(operand, &wanted, |value| matches!(value, 1 | -1), "1 or -1");
            }
            (None, "P") => {
                self.source(operand, &wanted);
                self.limit(operand, &wanted, |value| matches!(value, 0 | 1), "0 or 1");
            }
            (None, "#") => self.constant_place(operand, &wanted),
            (None, "#+") => {
                self.constant_place(operand, &wanted);
                self.limit(operand, &wanted, |value| value >= 0, "no negative number");
            }
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

    /// `{byte, thread}` that select scales: `sa2` of a, two at a time.
    fn selectors(&mut self, operand: &Operand<'a>, kind: &'static str) {
        let types: &[&str] = &[".b16", ".u16", ".s16"];
        let OperandKind::Vector(items) = operand.kind else { return self.declared_in(operand) };
        let &[byte, thread] = self.module.operands(items) else {
            let wanted = Wanted::plain("selectors", types, Immediate::Integer, INSTRUCTIONS);
            return self.vector(operand, &wanted, 2);
        };
        let threads = if kind.starts_with("sa") { 2 } else { 4 };
        let (scales, bytes) = match kind.trim_start_matches(char::is_alphabetic) {
            "1" => (1, "0 to 3"),
            "2" => (2, "0 or 2"),
            _ => (4, "0"),
        };
        let wanted = |name| Wanted::plain(name, types, Immediate::Integer, INSTRUCTIONS);
        self.source(&byte, &wanted("byte"));
        self.limit(&byte, &wanted("byte"), |value| (0..4).contains(&value) && value % scales == 0, bytes);
        self.source(&thread, &wanted("thread"));
        let most = if threads == 2 { "0 or 1" } else { "0 to 3" };
        self.limit(&thread, &wanted("thread"), |value| (0..threads).contains(&value), most);
    }

    /// What is wrong with the constants among a fragment's registers: what was found, and help. Beside registers they are
    /// bits, but integers are none of floats and floats none of integers; alone they have a type that a fragment of another
    /// does not take.
    fn wrong_constants(&self, items: &[Operand<'a>], kind: &str) -> Option<(&'static str, &'static str)> {
        // Beside a special register the assembler compares nothing.
        let is_special = |item: &Operand<'a>| match item.kind {
            OperandKind::Name(name) | OperandKind::Component(name, _) => is_special(name),
            _ => false,
        };
        if items.iter().any(is_special) {
            return None;
        }
        let constants: Vec<Constant> = items.iter().filter_map(|item| evaluate(self.module, item).ok()).collect();
        let integers =
            constants.iter().filter(|constant| matches!(constant, Constant::Signed(_) | Constant::Unsigned(_)));
        let integers = integers.count();
        let (are_integers, are_floats) = (integers > 0, integers < constants.len());
        let is_float = |item: &Operand<'a>| {
            matches!(item.name().and_then(|name| self.scopes.find(name)), Some(Entity::Register { ty: ".f32", .. }))
        };
        if kind != "d" && are_integers && (are_floats || items.iter().any(is_float)) {
            return Some(("an integer constant beside floats in braces", "write all of one type"));
        }
        let are_all = !constants.is_empty() && constants.len() == items.len();
        let is_taken = match kind {
            "h" | "b" => false,
            "a" | "f" => !are_integers,
            "i" => !are_floats,
            _ => true,
        };
        (are_all && !is_taken).then_some(("constants alone in braces", "move one into a register"))
    }

    /// So many registers in braces. A result may be thrown away; for a source the assembler takes some constants, which
    /// [`wrong_constants`](Self::wrong_constants) judges, and special registers too, which are not looked at.
    fn fragment(&mut self, operand: &Operand<'a>, wanted: &Wanted, kind: &str, count: usize) {
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
        if let Some((found, help)) = self.wrong_constants(items, kind).filter(|_| !is_first) {
            return self.refuse("PTX0027", operand, wanted, found, help);
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
        if !matches!(operand.kind, OperandKind::Address(_)) {
            let (found, help) = ("an operand without brackets", "write an address: `[a]`");
            return self.refuse("PTX0030", operand, wanted, found, help);
        }
        let entity = match self.address_name(operand) {
            Some(name) => match self.scopes.find(name) {
                None if !is_special(name) => return,
                entity => entity,
            },
            None => None,
        };
        let is_right = kind == "X"
            || match entity {
                Some(Entity::Register { ty, lanes: 1 }) => registers(kind).contains(&ty),
                Some(Entity::Variable(..)) => kind == "U",
                _ => false,
            };
        if !is_right {
            let help = "an address in tensor memory is that of `tcgen05.alloc`, in a register";
            self.refuse("PTX0030", operand, wanted, "another address", help);
        }
    }
}
