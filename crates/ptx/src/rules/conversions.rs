//! Conversions of formats of eight bits and fewer, and with random bits: what the rows of `conversions` say.

use super::Check;
use super::integer_mad::wrong;
use super::operands::{Immediate, Wanted};
use crate::ast::Instruction;
use crate::conversions::{FORMS, NOT_RUN, registers};
use roundonce_isa::{Finding, Form, Mismatch};

impl<'a> Check<'_, 'a> {
    /// Checks such a `cvt` by its rows; false if its spelling is none of theirs.
    pub(super) fn conversion(&mut self, instruction: &Instruction<'a>) -> bool {
        // `.satfinite` and `.relu` twice mean it once: the assembler lets them pass.
        let mut written: Vec<&str> = Vec::new();
        for word in self.module.modifiers(instruction.modifiers) {
            if !matches!(*word, ".satfinite" | ".relu") || !written.contains(word) {
                written.push(word);
            }
        }
        let matched: Vec<_> = FORMS.iter().chain(NOT_RUN).map(|form| (form, form.effects("cvt", &written))).collect();
        let right: Vec<&'static Form<()>> =
            matched.iter().filter(|(_, result)| result.is_ok()).map(|(form, _)| *form).collect();
        if let Some(form) = right.iter().find(|form| self.passes(&form.gate, self.target)).or(right.last()) {
            self.form_gate(instruction, form, self.target);
            self.conversion_operands(instruction, form);
            return true;
        }
        let nearest = matched.iter().find_map(|(form, result)| match result {
            Err(Mismatch::Other) | Ok(_) => None,
            Err(mismatch) => Some((form, wrong(form, mismatch))),
        });
        let name = instruction.spelling(self.module);
        let (message, source) = match nearest {
            Some((form, text)) => (format!("`{name}` {text}"), form.source),
            None => (format!("`{name}` is no conversion: no such pair of types"), FORMS[0].source),
        };
        let finding = Finding::error("PTX0023", self.spelling_span(instruction).place(), message).rule(source);
        self.report(finding.help("`roundonce forms cvt` lists the conversions of these types"));
        false
    }

    fn conversion_operands(&mut self, instruction: &Instruction<'a>, form: &'static Form<()>) {
        let written = self.module.modifiers(instruction.modifiers);
        let types: Vec<_> = written.iter().filter_map(|word| registers(word)).collect();
        let &[to, from] = types.as_slice() else { return };
        let floats = if written.contains(&".f32") { Immediate::Floating } else { Immediate::None };
        let place = |name| match name {
            "d" => Wanted::plain(name, to, Immediate::None, form.source),
            "scale" => Wanted::plain(name, &[".b16"], Immediate::None, form.source),
            "rbits" => Wanted::plain(name, &[".b32"], Immediate::None, form.source),
            _ => Wanted::plain(name, from, floats, form.source),
        };
        const FOUR: &str = "{a, b, e, f}";
        let places: Vec<Wanted> = match form.operands.split_once(FOUR) {
            Some(_) => ["d", FOUR, "rbits"].map(place).into(),
            None => form.operands.split(", ").map(place).collect(),
        };
        let operands = self.module.operands(instruction.operands);
        self.count(instruction, places.len(), form.operands, form.source);
        for (index, (operand, wanted)) in operands.iter().zip(&places).enumerate() {
            match index {
                0 => self.destination(operand, wanted),
                _ if wanted.name == FOUR => self.vector(operand, wanted, 4),
                _ => self.source(operand, wanted),
            }
        }
    }
}
