//! Instructions outside the multiply-add family: the modifiers, types, versions and targets, by their signatures.

use super::gate::Gated;
use super::{Check, INSTRUCTIONS, Outcome, Spelled, module};
use crate::ast::{Instruction, OperandKind};
use crate::opcodes::space_name;
use crate::signatures::{self, Misfit, Signature};
use crate::types::{Type, is_type};
use roundonce_isa::Finding;
use std::rc::Rc;

/// Modifiers that the assembler takes twice as once.
static REPEATED: &[&str] = &[".sat", ".satfinite", ".relu", ".cc", ".NaN", ".approx", ".sync", ".uni", ".shiftamt"];

/// A spelling that fits a signature.
pub(super) struct BySignature<'a> {
    pub(super) row: &'static Signature,
    /// The types that are written.
    pub(super) types: Vec<&'a str>,
    /// All modifiers, as [`plain`] has them.
    pub(super) written: Vec<&'a str>,
    /// Whether its operands may be sums.
    pub(super) takes_sums: bool,
}

/// How many spellings a message lists.
const LISTED: usize = 6;

/// Modifiers as the rows have them: `.const` for `.const[2]`, and once what may stand twice.
pub(crate) fn plain<'w>(written: &[&'w str]) -> Vec<&'w str> {
    let mut plain: Vec<&str> = Vec::with_capacity(written.len());
    for word in written {
        let word = word.split('[').next().unwrap_or(word);
        if !REPEATED.contains(&word) || !plain.contains(&word) {
            plain.push(word);
        }
    }
    plain
}

/// The spellings of rows, each once.
fn spellings<'s>(opcode: &str, rows: impl Iterator<Item = &'s Signature>) -> String {
    let mut all: Vec<String> = Vec::new();
    for row in rows {
        let syntax = format!("{opcode}{}", row.syntax());
        if !all.contains(&syntax) {
            all.push(syntax);
        }
    }
    let more = if all.len() > LISTED { ", …" } else { "" };
    all.truncate(LISTED);
    format!("`{}`{more}", all.join("`, `"))
}

/// That what is written are no types of an opcode, and which word is none at all.
pub(super) fn no_types(opcode: &str, written: &[&str], unknown: Option<&str>) -> String {
    let types: Vec<&str> = written.iter().copied().filter(|word| is_type(word)).collect();
    match (unknown, types.as_slice()) {
        (Some(word), _) => format!("`{word}` is neither a type nor a modifier of `{opcode}`"),
        (None, []) => "no type is written".to_owned(),
        (None, [ty]) => format!("`{ty}` is no type of `{opcode}`"),
        (None, types) => format!("`{}` are no types of `{opcode}`", types.concat()),
    }
}

impl<'a> Check<'_, 'a> {
    /// Checks the spelling of an instruction, and how many operands it has, by the signatures of its opcode.
    pub(super) fn by_signature(&mut self, instruction: &Instruction<'a>) -> Outcome<'a> {
        let opcode = instruction.opcode;
        let written = plain(self.module.modifiers(instruction.modifiers));
        let rows = signatures::of(opcode);
        let is_newer = self.version.is_some_and(|version| version > module::NEWEST);
        if rows.is_empty() || is_newer || signatures::is_elsewhere(opcode, &written) {
            return Outcome::Unknown;
        }
        // What has ended is no help to a newer module.
        let is_live = |row: &&Signature| {
            let (version, target) = (self.version, self.target);
            row.gate.version.last.is_none_or(|last| version.is_none_or(|version| version <= last))
                && row.gate.target.last.is_none_or(|last| target.is_none_or(|target| target.number <= last))
        };
        let matched: Vec<_> = rows.iter().filter(is_live).map(|row| (row, row.matches(&written))).collect();
        let mut right: Vec<(&'static Signature, &[&'a str])> = Vec::new();
        for (row, result) in &matched {
            if let Ok(types) = result {
                right.push((row, types));
            }
        }
        if right.is_empty() {
            let misfits: Vec<_> =
                matched.iter().filter_map(|(row, result)| Some((*row, result.as_ref().err()?))).collect();
            self.misfit(instruction, &misfits);
            return Outcome::Done;
        }
        let given = instruction.operands.len as usize;
        let counted = |row: &Signature| {
            let (least, most) = row.operand_count(&written);
            (least..=most).contains(&given)
        };
        let fitting: Vec<_> = right.iter().filter(|(row, _)| counted(row)).collect();
        let of_gate = fitting.iter().find(|(row, _)| self.passes(&row.gate, self.target)).or(fitting.first());
        let Some((row, types)) = of_gate else {
            self.wrong_count(instruction, right.iter().map(|(row, _)| row.operand_count(&written)));
            return Outcome::Done;
        };
        let source = INSTRUCTIONS;
        if !self.passes(&row.gate, self.target) {
            let (span, name) = (self.spelling_span(instruction), format!("`{}`", instruction.spelling(self.module)));
            self.report_gate(&Gated { span, name, gate: &row.gate, source, note: "" }, self.target);
        }
        for (word, gate) in signatures::word_gates(opcode, &written) {
            if !self.passes(gate, self.target) {
                let (span, name) = (self.spelling_span(instruction), format!("`{word}` of `{opcode}`"));
                self.report_gate(&Gated { span, name, gate, source, note: "" }, self.target);
            }
        }
        if let Some((word, other)) = signatures::exclusive(opcode, &written) {
            let message = format!("`{word}` of `{opcode}` with `{other}`: expected one of them");
            let place = self.spelling_span(instruction).place();
            self.report(Finding::error("PTX0024", place, message).rule(source));
        }
        self.wide_vector(instruction, types, &written);
        let (row, types, takes_sums) = (*row, types.to_vec(), signatures::takes_sums(opcode, &written));
        Outcome::Operands(Spelled::Signature(Rc::new(BySignature { row, types, written, takes_sums })))
    }

    /// Since when there is the form of an instruction that no row is about. Of what it lacks the most is reported.
    pub(super) fn form_without_row(&mut self, instruction: &Instruction<'a>) {
        let module = self.module;
        let mut written = module.modifiers(instruction.modifiers).to_vec();
        written.extend(module.operands(instruction.operands).iter().map(|operand| match operand.kind {
            OperandKind::Discard => "_",
            _ => "o",
        }));
        let opcode = instruction.opcode;
        let lacking = signatures::form_gates(opcode, &written).filter_map(|(form, gates)| {
            let is_lacking = gates.iter().all(|gate| !self.passes(gate, self.target));
            Some((form, gates.first().filter(|_| is_lacking)?))
        });
        if let Some((form, gate)) = lacking.max_by_key(|(_, gate)| (gate.version.first, gate.target.first)) {
            let (span, name) = (self.spelling_span(instruction), format!("`{form}` of `{opcode}`"));
            self.report_gate(&Gated { span, name, gate, source: INSTRUCTIONS, note: "" }, self.target);
        }
    }

    /// That an asynchronous store or reduction, which no row is about, has one state space.
    pub(super) fn one_space(&mut self, instruction: &Instruction<'a>) {
        let written = self.module.modifiers(instruction.modifiers);
        if !matches!(instruction.opcode, "st" | "red") || !written.contains(&".async") {
            return;
        }
        if let Some(second) = written.iter().filter(|word| space_name(word).is_some()).nth(1) {
            let message = format!("`{second}` is a second state space: expected one");
            self.report(Finding::error("PTX0024", self.span(second).place(), message).rule(INSTRUCTIONS));
        }
    }

    /// Vectors beyond 128 bits, and the modifiers that they alone have.
    fn wide_vector(&mut self, instruction: &Instruction, types: &[&str], written: &[&str]) {
        let count: Option<u32> = written.iter().find_map(|word| word.strip_prefix(".v")?.parse().ok());
        let bits = types.first().and_then(|ty| Type::of(ty)).map_or(0, |ty| ty.bits);
        let bits = bits * count.unwrap_or(1);
        let priority = written.iter().find(|word| word.starts_with(".L2::evict_"));
        let is_access = matches!(instruction.opcode, "ld" | "st" | "ldu");
        if !is_access || (bits <= 128 && priority.is_none()) {
            return;
        }
        let (span, name) = (self.spelling_span(instruction), instruction.spelling(self.module));
        let is_global = written.iter().all(|word| space_name(word).is_none_or(|space| space == ".global"));
        if bits != 256 || !is_global || instruction.opcode == "ldu" {
            let message = match priority.filter(|_| bits != 256) {
                Some(word) => format!("`{word}` on {bits} bits: expected a vector of 256"),
                None => format!("`{name}` is of {bits} bits: expected 128, or 256 in global memory"),
            };
            self.report(Finding::error("PTX0023", span.place(), message).rule(INSTRUCTIONS));
        } else if !self.passes(signatures::WIDE_VECTORS, self.target) {
            let gate = signatures::WIDE_VECTORS;
            let gated = Gated { span, name: format!("`{name}`"), gate, source: INSTRUCTIONS, note: "" };
            self.report_gate(&gated, self.target);
        }
    }

    fn wrong_count(&mut self, instruction: &Instruction, counts: impl Iterator<Item = (usize, usize)>) {
        let mut texts: Vec<String> = Vec::new();
        for (least, most) in counts {
            let text = if least == most { format!("{least}") } else { format!("{least} to {most}") };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let (name, given) = (instruction.spelling(self.module), instruction.operands.len);
        let message = format!("`{name}` with {given} operands: expected {}", texts.join(" or "));
        self.report(Finding::error("PTX0028", instruction.span.place(), message).rule(INSTRUCTIONS));
    }

    /// Reports why modifiers are none of the rows'.
    fn misfit(&mut self, instruction: &Instruction, misfits: &[(&Signature, &Misfit)]) {
        let opcode = instruction.opcode;
        let name = instruction.spelling(self.module);
        let place = self.spelling_span(instruction).place();
        let mut missing: Vec<&str> = Vec::new();
        for (_, misfit) in misfits {
            let Misfit::Missing(slot) = misfit else { continue };
            missing.extend(slot.choices.iter().filter(|choice| !missing.contains(choice)).collect::<Vec<_>>());
        }
        let of_types = || misfits.iter().filter(|(_, misfit)| **misfit != Misfit::Types).map(|(row, _)| *row);
        let other = misfits.iter().find(|(_, misfit)| **misfit != Misfit::Types);
        let expected = spellings(opcode, of_types());
        let finding = match other.map(|(_, misfit)| misfit) {
            _ if !missing.is_empty() => {
                let message = format!("`{name}` needs one of {}: expected {expected}", missing.join(" "));
                Finding::error("PTX0022", place, message)
            }
            Some(Misfit::Twice(word)) => {
                Finding::error("PTX0024", place, format!("`{name}` has `{word}` beside another: expected {expected}"))
            }
            Some(Misfit::NotFirst(word)) => {
                let message = format!("`{name}`: expected `{word}` right behind `{opcode}`");
                Finding::error("PTX0023", place, message)
            }
            Some(Misfit::NotAllowed(word)) => {
                Finding::error("PTX0023", place, format!("`{name}`: `{word}` is not allowed, expected {expected}"))
            }
            _ => {
                let written = plain(self.module.modifiers(instruction.modifiers));
                let is_known = |word: &str| misfits.iter().any(|(row, _)| row.writes(word));
                let unknown = written.iter().find(|word| !is_type(word) && !is_known(word));
                let found = no_types(opcode, &written, unknown.copied());
                let place = unknown.map_or(place, |word| self.span(word).place());
                let all = spellings(opcode, misfits.iter().map(|(row, _)| *row));
                Finding::error("PTX0021", place, format!("{found}: expected one of {all}"))
            }
        };
        self.report(finding.rule(INSTRUCTIONS));
    }
}
