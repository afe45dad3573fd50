//! The modifiers, versions and targets of the multiply-add family, read off the rows.

use super::signature::no_types;
use super::{Check, Outcome, Spelled, integer_mad};
use crate::ast::{Instruction, Span};
use crate::forms::FORMS;
use crate::opcodes::{Lowering, Opcode};
use crate::signatures::Signature;
use crate::types::{Type, is_type};
use crate::{integer, signatures};
use roundonce_arith::{Format, Rounding};
use roundonce_isa::{Effect, Finding, Form, Mismatch, Part, Slot, SmTarget, Version};

/// The first PTX with `.ftz`, whatever it stands on.
const FTZ_VERSION: Version = Version(1, 4);

/// The rows say sm_13 for f64, as the document does. The assembler takes it from sm_10 on, to be done in f32 or by a
/// later target, but there knows two directions only.
const F64_ACCEPTED_FROM: u32 = 10;
const F64_TARGET: u32 = 13;
static F64_BEFORE: [&str; 2] = [".rn", ".rz"];

/// The PTX that warns of a `mad.f32` without its rounding modifier; older ones are silent.
const MAD_WARNS: Version = Version(3, 1);

/// The types of a form in order, a `|` for each slot of types: what a list of types is compared with.
fn types_fit(form: &Form, types: &[&str]) -> bool {
    let mut left = types.iter();
    for part in form.parts {
        let fits = match part {
            Part::Fixed(fixed) => left.next() == Some(fixed),
            Part::Slot(slot) if slot.names_type() => {
                left.next().is_some_and(|ty| slot.choices.iter().any(|choice| choice.text == *ty))
            }
            Part::Slot(_) => true,
        };
        if !fits {
            return false;
        }
    }
    left.next().is_none()
}

/// Whether it is an integer `add`, `sub` or `mul`, whose rules are not kept here.
fn is_integer(row: &Opcode, types: &[&str]) -> bool {
    let has_integers =
        matches!(row.lowering, Lowering::IntegerSum { .. } | Lowering::IntegerProduct { adds: false, .. });
    let &[ty] = types else { return false };
    has_integers && Type::of(ty).is_some_and(|ty| ty.is_integer() && ty.bits >= 16 && !ty.is_untyped())
}

/// Whether the slot is of rounding directions.
fn rounds(slot: &Slot) -> bool {
    slot.choices.iter().any(|choice| matches!(choice.effect, Effect::Round(_) | Effect::RoundExplicitly(_)))
}

/// `.rn .rz .rm .rp` as they stand in some row.
fn is_rounding(modifier: &str) -> bool {
    FORMS.iter().flat_map(Form::slots).any(|slot| rounds(slot) && slot.choices.iter().any(|c| c.text == modifier))
}

/// Whether a modifier or a type stands in some spelling of a form.
fn writes<M>(form: &Form<M>, word: &str) -> bool {
    form.parts.iter().any(|part| match part {
        Part::Fixed(fixed) => *fixed == word,
        Part::Slot(slot) => slot.choices.iter().any(|choice| choice.text == word),
    })
}

/// How integers are written with an opcode of the family, where a word is given only those that have it.
fn integer_syntaxes<'w>(opcode: &'w str, word: Option<&'w str>) -> impl Iterator<Item = String> + use<'w> {
    let of_rows = signatures::of(opcode).iter().filter(move |row| word.is_none_or(|word| row.writes(word)));
    let products = integer::FORMS.iter().filter(move |form| form.mnemonic == opcode);
    let products = products.filter(move |form| word.is_none_or(|word| writes(form, word)));
    let words = |part: &Part| match part {
        Part::Fixed(fixed) => (*fixed).to_owned(),
        Part::Slot(slot) => {
            let words: Vec<&str> = slot.choices.iter().map(|choice| choice.text).collect();
            signatures::alternatives(&words, slot.required)
        }
    };
    let modifiers =
        of_rows.map(Signature::syntax).chain(products.map(move |form| form.parts.iter().map(words).collect()));
    modifiers.map(move |modifiers| format!("{opcode}{modifiers}"))
}

fn choices(slot: &Slot) -> String {
    slot.choices.iter().map(|choice| choice.text).collect::<Vec<_>>().join(" ")
}

impl<'a> Check<'_, 'a> {
    /// Checks the spelling of a member of the family; it may be none after all.
    pub(super) fn family(&mut self, instruction: &Instruction<'a>, row: &'static Opcode) -> Outcome<'a> {
        let module = self.module;
        let written = module.modifiers(instruction.modifiers);
        let adds = matches!(row.lowering, Lowering::IntegerProduct { adds: true, .. });
        if adds && written.iter().any(|word| integer_mad::PARTS_OF_PRODUCT.contains(word)) {
            return if self.integer_mad(instruction, written) { Outcome::Done } else { Outcome::Unknown };
        }
        let types: Vec<&str> = written.iter().copied().filter(|word| is_type(word)).collect();
        let fitting: Vec<&'static Form> = row.forms.iter().filter(|form| types_fit(form, &types)).collect();
        if fitting.is_empty() {
            if is_integer(row, &types) {
                return Outcome::Unknown;
            }
            self.wrong_types(instruction, &types, row);
            return Outcome::Done;
        }
        if let Some(ftz) = written.iter().find(|word| **word == ".ftz")
            && self.version.is_some_and(|version| version < FTZ_VERSION)
        {
            let span = self.span(ftz);
            self.needs_version(span, "`.ftz`", FTZ_VERSION, fitting[0].source);
        }
        self.row(instruction, written, &fitting).map_or(Outcome::Done, |form| Outcome::Operands(Spelled::Form(form)))
    }

    fn integer_mad(&mut self, instruction: &Instruction<'a>, written: &[&str]) -> bool {
        if let Some((at, expected)) = integer_mad::check(written) {
            let span = at.map_or(self.spelling_span(instruction), |at| self.span(written[at]));
            let found = at.map_or("its modifiers", |at| written[at]);
            self.report(
                Finding::error("PTX0023", span.place(), format!("found `{found}`, expected {expected}"))
                    .rule(integer_mad::RULE),
            );
            return false;
        }
        self.integer_gate(instruction);
        self.integer_operands(instruction);
        true
    }

    /// Finds the row that the modifiers, the version and the target name, or reports why there is none; gives a row
    /// to check the operands by in either case.
    fn row(&mut self, instruction: &Instruction, written: &[&str], fitting: &[&'static Form]) -> Option<&'static Form> {
        // `.sat` twice means `.sat`: the assembler lets it pass, alone of all modifiers.
        let mut modifiers: Vec<&str> = Vec::with_capacity(written.len());
        for word in written {
            if *word != ".sat" || !modifiers.contains(word) {
                modifiers.push(word);
            }
        }
        let matched: Vec<(&'static Form, Result<(), Mismatch>)> =
            fitting.iter().map(|form| (*form, form.matches(instruction.opcode, &modifiers).map(|_| ()))).collect();
        if let Some((form, _)) = matched.iter().find(|(form, result)| result.is_ok() && self.has(form)) {
            self.legacy(instruction, form);
            self.early_f64(instruction, written, form);
            return Some(form);
        }
        let here = matched.iter().filter(|(form, _)| self.has(form));
        let missing = here.clone().find(|(_, result)| matches!(result, Err(Mismatch::Missing(_))));
        if let Some((form, Err(mismatch))) = missing {
            self.mismatch(instruction, written, form, mismatch);
            return Some(form);
        }
        if let Some((form, _)) = matched.iter().find(|(_, result)| result.is_ok()) {
            self.form_gate(instruction, form, self.effective_target(form));
            return Some(form);
        }
        let (form, result) = here.into_iter().next().or(matched.first())?;
        if let Err(mismatch) = result {
            self.mismatch(instruction, written, form, mismatch);
        }
        if !self.has(form) {
            self.form_gate(instruction, form, self.effective_target(form));
        }
        Some(form)
    }

    /// Whether the module's version and target have a row.
    fn has(&self, form: &Form) -> bool {
        self.passes(&form.gate, self.effective_target(form))
    }

    /// The target as the row's gate is to see it.
    fn effective_target(&self, form: &Form) -> Option<SmTarget> {
        let target = self.target?;
        let early = form.recipe.operation.format == Format::F64 && target.number >= F64_ACCEPTED_FROM;
        let is_accepted = early && form.gate.target.first <= F64_TARGET;
        Some(if is_accepted { SmTarget { number: target.number.max(F64_TARGET), ..target } } else { target })
    }

    pub(super) fn spelling_span(&self, instruction: &Instruction) -> Span {
        let start = self.span(instruction.opcode);
        let last = self.module.modifiers(instruction.modifiers).last().map(|word| self.span(word));
        start.to(last.unwrap_or(start))
    }

    fn wrong_types(&mut self, instruction: &Instruction, types: &[&str], row: &Opcode) {
        let opcode = instruction.opcode;
        let written = self.module.modifiers(instruction.modifiers);
        let is_known = |word: &str| {
            row.forms.iter().any(|form| writes(form, word)) || integer_syntaxes(opcode, Some(word)).next().is_some()
        };
        let is_capital = |word: &str| word.to_lowercase() != word && is_type(&word.to_lowercase());
        // Beside types a modifier is not what keeps them from being the opcode's.
        let may_be_type = |word: &str| is_capital(word) || types.is_empty() && !is_known(word);
        let unknown = written.iter().copied().find(|word| !is_type(word) && may_be_type(word));
        let found = match unknown {
            Some(word) if is_capital(word) => format!("`{word}` is no type"),
            _ => no_types(opcode, written, unknown),
        };
        let mut syntaxes: Vec<String> = Vec::new();
        for syntax in integer_syntaxes(opcode, None).chain(row.forms.iter().map(Form::syntax)) {
            if !syntaxes.contains(&syntax) {
                syntaxes.push(syntax);
            }
        }
        let source = row.forms.first().map_or("", |form| form.source);
        let span = unknown.map_or(self.spelling_span(instruction), |word| self.span(word));
        self.report(
            Finding::error("PTX0021", span.place(), format!("{found}: expected one of {}", syntaxes.join(", ")))
                .rule(source)
                .help("types are lower case and stand in this order; other modifiers may stand anywhere"),
        );
    }

    fn mismatch(&mut self, instruction: &Instruction, written: &[&str], form: &'static Form, mismatch: &Mismatch) {
        let syntax = form.syntax();
        let place_of = |check: &Self, modifier: &str, last: bool| {
            let mut places = written.iter().filter(|word| **word == modifier);
            let word = if last { places.next_back() } else { places.next() };
            word.map_or(check.spelling_span(instruction), |word| check.span(word)).place()
        };
        let finding = match mismatch {
            Mismatch::Missing(slot) => {
                let opcode = self.span(instruction.opcode);
                let wrong = written.iter().find(|word| !is_rounding(word) && word.starts_with(".r") && word.len() <= 5);
                let found = wrong.map_or("none is written".to_owned(), |word| format!("found `{word}`"));
                let finding = Finding::error(
                    "PTX0022",
                    self.spelling_span(instruction).place(),
                    format!(
                        "`{}` needs a rounding modifier, {found}: expected one of {} as in `{syntax}`",
                        instruction.opcode,
                        choices(slot)
                    ),
                );
                // What a legacy mad without one means is written down; what such an fma means is not.
                if instruction.opcode == "mad" && rounds(slot) && wrong.is_none() {
                    let at = opcode.end as usize;
                    finding.fix(at, at, ".rn").help("older PTX took it as `.rn`: write that")
                } else {
                    finding.help(format!("`.rn` rounds to nearest even, as C does: `{}.rn…`", instruction.opcode))
                }
            }
            Mismatch::Twice(modifier) => {
                let rounding = is_rounding(modifier);
                let message = if rounding {
                    format!("`{modifier}` is a second rounding modifier: expected one")
                } else {
                    format!("`{modifier}` is written twice: expected once")
                };
                let finding = Finding::error("PTX0024", place_of(self, modifier, true), message);
                // Two equal modifiers can only have meant one.
                let equal: Vec<Span> =
                    written.iter().filter(|word| *word == modifier).map(|word| self.span(word)).collect();
                match equal.as_slice() {
                    [_, second, ..] => finding
                        .fix(second.start as usize, second.end as usize, "")
                        .help(format!("drop the second `{modifier}`")),
                    _ => finding.help("keep the direction that is meant"),
                }
            }
            Mismatch::NotAllowed(modifier) => Finding::error(
                "PTX0023",
                place_of(self, modifier, false),
                format!("`{modifier}` is not allowed here: expected `{syntax}`"),
            )
            .help(self.why_not(form, modifier)),
            Mismatch::Other => {
                Finding::error("PTX0021", self.spelling_span(instruction).place(), format!("expected `{syntax}`"))
            }
        };
        self.report(finding.rule(form.source));
    }

    /// Where a modifier that a form lacks would be at home.
    fn why_not(&self, form: &Form, modifier: &str) -> String {
        let has = |other: &&Form| {
            other.mnemonic == form.mnemonic
                && other.slots().any(|slot| slot.choices.iter().any(|choice| choice.text == modifier))
        };
        if let Some(other) = FORMS.iter().find(has) {
            return format!("`{modifier}` belongs to `{}` ({})", other.syntax(), other.gate);
        }
        match integer_syntaxes(form.mnemonic, Some(modifier)).next() {
            Some(syntax) => format!("`{modifier}` belongs to `{syntax}`"),
            None => format!("no form of `{}` has `{modifier}`; modifiers are lower case", form.mnemonic),
        }
    }

    /// `mad.f32` without rounding on sm_20 and later: silent, then warned of.
    fn legacy(&mut self, instruction: &Instruction, form: &Form) {
        let recipe = form.recipe.operation;
        let needs_none = form.slots().all(|slot| !rounds(slot));
        let fused = instruction.opcode == "mad" && recipe.op == roundonce_arith::ArithOp::MulAdd;
        if !fused || !needs_none || recipe.format != Format::F32 || recipe.rounding != Rounding::NearestEven {
            return;
        }
        let at = self.span(instruction.opcode).end as usize;
        let message = "`mad.f32` without a rounding modifier means `mad.rn.f32` from sm_20 on: expected it written";
        let place = self.spelling_span(instruction).place();
        let finding = if self.version.is_some_and(|version| version >= MAD_WARNS) {
            Finding::warning("PTX0040", place, message)
        } else {
            Finding::note("PTX0040", place, message)
        };
        self.report(
            finding
                .rule(format!("{}, errata", form.source))
                .help("write `.rn`: PTX 3.2 and later refuse it without")
                .fix(at, at, ".rn"),
        );
    }

    /// f64 before sm_13.
    fn early_f64(&mut self, instruction: &Instruction, written: &[&str], form: &Form) {
        let Some(target) = self.target.filter(|target| target.number < F64_TARGET) else { return };
        if form.recipe.operation.format != Format::F64 {
            return;
        }
        match written.iter().find(|word| is_rounding(word) && !F64_BEFORE.contains(word)) {
            Some(word) => {
                let place = self.span(word).place();
                self.report(
                    Finding::error(
                        "PTX0023",
                        place,
                        format!("`{word}` on {target}: expected one of {}", F64_BEFORE.join(" ")),
                    )
                    .rule(form.source)
                    .help("directed rounding of f64 needs `.target sm_13`"),
                );
            }
            None => {
                let place = self.spelling_span(instruction).place();
                self.report(
                    Finding::note(
                        "PTX0041",
                        place,
                        format!("f64 on {target}, which has none: expected sm_13 or higher; the assembler takes it"),
                    )
                    .rule(form.source)
                    .help("with `map_f64_to_f32` it is done in f32: other bits"),
                );
            }
        }
    }
}
