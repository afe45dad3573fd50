//! Conversions of formats of eight bits and fewer, and with random bits: what the rows of `conversions` say.

use super::Check;
use super::integer_mad::wrong;
use super::operands::{Immediate, Wanted};
use crate::ast::Instruction;
use crate::conversions::{FORMS, packed_conversion};
use roundonce_arith::{Element, Format};
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
        let matched: Vec<_> = FORMS.iter().map(|form| (form, form.effects("cvt", &written))).collect();
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
        let Some(conversion) = packed_conversion(&instruction.spelling(self.module)) else { return };
        let types = |element: Element, count: u32| -> &'static [&'static str] {
            match (element, element.stride() * count) {
                (Element::Float(Format::F32), _) => &[".f32", ".b32"],
                (Element::Float(Format::F16), _) => &[".f16x2", ".b32"],
                (_, 8) => &[".b8"],
                (_, 16) => &[".b16"],
                _ => &[".b32"],
            }
        };
        let (to, from) = (types(conversion.to, conversion.count), types(conversion.from, conversion.count));
        let place = |name, types, immediate| Wanted::plain(name, types, immediate, form.source);
        let floats = if conversion.has_separate_operands() { Immediate::Floating } else { Immediate::None };
        let mut places = vec![place("d", to, Immediate::None)];
        match (conversion.has_separate_operands(), conversion.count) {
            (false, _) => places.push(place("a", from, floats)),
            (true, 2) => places.extend([place("a", from, floats), place("b", from, floats)]),
            (true, _) => places.push(place("{a, b, e, f}", from, floats)),
        }
        if form.operands.ends_with("rbits") {
            places.push(place("rbits", &[".b32"], Immediate::None));
        }
        let operands = self.module.operands(instruction.operands);
        self.count(instruction, places.len(), form.operands, form.source);
        for (index, (operand, wanted)) in operands.iter().zip(&places).enumerate() {
            match index {
                0 => self.destination(operand, wanted),
                _ if wanted.name.starts_with('{') => self.vector(operand, wanted, conversion.count as usize),
                _ => self.source(operand, wanted),
            }
        }
    }
}
