//! The integer multiply-add: `mad`, which shares its mnemonic with floats, and `mad24`, `madc`, `dp4a`, `dp2a`.

use super::Check;
use crate::ast::Instruction;
use crate::integer::{FORMS, NOT_RUN};
use crate::types::is_type;
use roundonce_isa::{Finding, Form, Mismatch};

/// The rule of the integer `mad`.
pub(super) const RULE: &str = "PTX ISA, 9.7.1 integer arithmetic instructions: mad";

/// Which part of an integer product `mad` takes.
pub(super) static PARTS_OF_PRODUCT: &[&str] = &[".hi", ".lo", ".wide"];

/// What is wrong with the modifiers of an integer `mad`: the word, and what was expected.
pub(super) fn check(modifiers: &[&str]) -> Option<(Option<usize>, String)> {
    let at = |word: &str| modifiers.iter().position(|modifier| *modifier == word);
    let types: Vec<usize> = (0..modifiers.len()).filter(|&index| is_type(modifiers[index])).collect();
    let parts: Vec<usize> = (0..modifiers.len()).filter(|&i| PARTS_OF_PRODUCT.contains(&modifiers[i])).collect();
    let part = modifiers[parts[0]];
    if parts[0] != 0 {
        return Some((Some(parts[0]), format!("`{part}` right behind `mad`")));
    }
    if let Some(&second) = parts.get(1) {
        return Some((Some(second), format!("one of `{}` after `{part}`", PARTS_OF_PRODUCT.join("` `"))));
    }
    let wide: &[&str] = &[".u16", ".s16", ".u32", ".s32"];
    let any: &[&str] = &[".u16", ".s16", ".u32", ".s32", ".u64", ".s64"];
    let allowed = if part == ".wide" { wide } else { any };
    let &[ty_at] = types.as_slice() else {
        let extra = types.get(1).copied();
        return Some((extra, format!("exactly one type of {} for `mad{part}`", allowed.join(" "))));
    };
    let ty = modifiers[ty_at];
    if !allowed.contains(&ty) {
        return Some((Some(ty_at), format!("a type of {} for `mad{part}`", allowed.join(" "))));
    }
    if let Some(sat) = at(".sat")
        && (part, ty) != (".hi", ".s32")
    {
        return Some((Some(sat), "no `.sat` but in `mad.hi.sat.s32`".to_owned()));
    }
    if let Some(carry) = at(".cc") {
        if part == ".wide" || ty.ends_with("16") {
            return Some((Some(carry), "`.cc` on `.lo` and `.hi` of 32 or 64 bits only".to_owned()));
        }
        if at(".sat").is_some() {
            return Some((Some(carry), "either `.cc` or `.sat`".to_owned()));
        }
    }
    let known = |word: &&str| is_type(word) || PARTS_OF_PRODUCT.contains(word) || matches!(*word, ".sat" | ".cc");
    let other = modifiers.iter().position(|word| !known(word))?;
    Some((Some(other), format!("`mad{part}` with nothing but `.sat`, `.cc` and a type")))
}

/// Modifiers without repeats of those that the assembler takes repeatedly.
fn once<'w>(written: &[&'w str]) -> Vec<&'w str> {
    let mut once: Vec<&str> = Vec::with_capacity(written.len());
    for word in written {
        if !matches!(*word, ".sat" | ".cc") || !once.contains(word) {
            once.push(word);
        }
    }
    once
}

/// Whether an opcode has rows of the integer multiply-add.
pub(super) fn has_rows(opcode: &str) -> bool {
    FORMS.iter().any(|form| form.mnemonic == opcode)
}

/// The first thing wrong with a spelling, by the row that has most of it.
pub(super) fn wrong(form: &Form<()>, mismatch: &Mismatch) -> String {
    let syntax = form.syntax();
    match mismatch {
        Mismatch::Missing(slot) => {
            let choices: Vec<&str> = slot.choices.iter().map(|choice| choice.text).collect();
            format!("lacks one of {}: expected `{syntax}`", choices.join(" "))
        }
        Mismatch::Twice(modifier) => format!("has `{modifier}` beside another: expected `{syntax}`"),
        Mismatch::NotAllowed(modifier) => format!("has `{modifier}`: expected `{syntax}`"),
        Mismatch::Other => format!("is no form: expected `{syntax}`"),
    }
}

impl<'a> Check<'_, 'a> {
    /// Checks `mad24`, `madc`, `dp4a` or `dp2a` by its rows; false if its spelling is none, so that its names are yet to
    /// be checked.
    pub(super) fn integer_family(&mut self, instruction: &Instruction<'a>) -> bool {
        let (module, name) = (self.module, instruction.opcode);
        let written = module.modifiers(instruction.modifiers);
        if let Some(at) = written.iter().position(|word| PARTS_OF_PRODUCT.contains(word)).filter(|at| *at > 0) {
            let message =
                format!("found `{0}` behind `{1}`, expected `{0}` right behind `{name}`", written[at], written[0]);
            self.report(Finding::error("PTX0023", self.span(written[at]).place(), message).rule(RULE));
            return false;
        }
        let written = &once(written);
        let rows = FORMS.iter().chain(NOT_RUN).filter(|form| form.mnemonic == name);
        let matched: Vec<_> = rows.map(|form| (form, form.effects(name, written))).collect();
        if matched.iter().any(|(_, result)| result.is_ok()) {
            self.integer_gate(instruction);
            self.integer_operands(instruction);
            return true;
        }
        if let Some((form, Err(mismatch))) = matched.first() {
            let message = format!("`{}` {}", instruction.spelling(module), wrong(form, mismatch));
            let place = self.spelling_span(instruction).place();
            self.report(Finding::error("PTX0023", place, message).rule(form.source).help(form.note));
        }
        false
    }

    /// The gate of a form, where it is narrower than its opcode's; its modifiers are found right.
    pub(super) fn integer_gate(&mut self, instruction: &Instruction<'a>) {
        let written = &once(self.module.modifiers(instruction.modifiers));
        let form = FORMS.iter().find(|form| form.effects(instruction.opcode, written).is_ok());
        if let Some(form) = form {
            self.form_gate(instruction, form, self.target);
        }
    }
}
