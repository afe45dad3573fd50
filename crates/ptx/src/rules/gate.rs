//! Versions and targets: whether the module's have what is written.

use super::Check;
use crate::ast::{Instruction, Span};
use roundonce_isa::{Finding, Form, Gate, SmTarget, Variants, Version};

/// What a gate stands before.
pub(super) struct Gated<'g> {
    pub(super) span: Span,
    /// As the message names it.
    pub(super) name: String,
    pub(super) gate: &'g Gate,
    pub(super) source: &'g str,
    /// The message for a module that is too new for it.
    pub(super) note: &'g str,
}

/// The targets that a gate lets pass, and a help.
fn expected_target(gate: &Gate) -> (String, String) {
    let first = gate.target.first;
    match (gate.variants, gate.target.last) {
        (Variants::Architecture(numbers), _) => {
            let names: Vec<String> = numbers.iter().map(|number| format!("`sm_{number}a`")).collect();
            (names.join(" or "), "name one of these: no other has it".to_owned())
        }
        (Variants::SpecificOf(numbers), _) => {
            let names: Vec<String> = numbers.iter().map(|number| format!("`sm_{number}`")).collect();
            (format!("{}, with `a` or `f`", names.join(" or ")), "name one of these: no other has it".to_owned())
        }
        (Variants::Specific, None) => (
            format!("`.target sm_{first}a`, `sm_{first}f`, or such a variant of a later one"),
            format!("name the target `sm_{first}a` or `sm_{first}f`"),
        ),
        (Variants::Specific, Some(last)) if last > first => (
            format!("`.target sm_{first}a`, `sm_{first}f`, or such a variant of a later one up to `sm_{last}`"),
            format!("name the target `sm_{first}a` or `sm_{first}f`"),
        ),
        (Variants::Specific, Some(_)) => (
            format!("`.target sm_{first}a` or `sm_{first}f`"),
            format!("name the target `sm_{first}a` or `sm_{first}f`: no other has it"),
        ),
        (Variants::All, None) => (format!("`.target sm_{first}` or higher"), format!("name the target `sm_{first}`")),
        (Variants::All, Some(last)) => {
            let expected = match last == first {
                true => format!("`.target sm_{first}`"),
                false => format!("`.target sm_{first}` to `sm_{last}`"),
            };
            (expected, format!("name the target `sm_{first}`"))
        }
    }
}

impl<'a> Check<'_, 'a> {
    /// Whether a target, and the module's version, have what a gate stands before.
    pub(super) fn passes(&self, gate: &Gate, target: Option<SmTarget>) -> bool {
        gate.holds(target, self.version)
    }

    /// Reports that a target, or the module's version, lacks the form that an instruction names.
    pub(super) fn form_gate<M>(&mut self, instruction: &Instruction, form: &Form<M>, target: Option<SmTarget>) {
        if self.passes(&form.gate, target) {
            return;
        }
        let span = self.spelling_span(instruction);
        let name = format!("`{}`", instruction.spelling(self.module));
        self.report_gate(&Gated { span, name, gate: &form.gate, source: form.source, note: form.note }, target);
    }

    /// Reports what a gate does not let pass; `effective` is the target as it is to see it.
    pub(super) fn report_gate(&mut self, gated: &Gated, effective: Option<SmTarget>) {
        let Gated { span, name, gate, source, note } = gated;
        if let (Some(target), Some(effective)) = (self.target, effective)
            && !gate.has_target(effective)
        {
            let (expected, help) = expected_target(gate);
            let is_older = gate.target.last.is_some_and(|last| target.number > last) && !note.is_empty();
            let help = if is_older && gate.variants == Variants::All { (*note).to_owned() } else { help };
            let message = format!("{name} on {target}: expected {expected}");
            self.report(Finding::error("PTX0026", span.place(), message).rule(*source).help(help));
        }
        let Some(version) = self.version.filter(|version| !gate.version.holds(*version)) else { return };
        match gate.version.last.filter(|last| version > *last) {
            Some(last) => {
                let message = format!("{name} in PTX {version}: expected `.version {last}` or earlier");
                self.report(Finding::error("PTX0025", span.place(), message).rule(*source).help(*note));
            }
            None => self.needs_version(*span, name, gate.version.first, source),
        }
    }

    pub(super) fn needs_version(&mut self, span: Span, what: &str, first: Version, source: &str) {
        let version = self.version.unwrap_or(first);
        let message = format!("{what} in PTX {version}: expected `.version {first}` or later");
        let finding = Finding::error("PTX0025", span.place(), message).rule(source);
        self.report(finding.help(format!("write `.version {first}`")));
    }
}
