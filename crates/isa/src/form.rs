//! One row of a language's table of forms: its spellings, matching a spelling against it, and why one does not match.

use crate::{Effect, Gate, Recipe};
use core::fmt;

/// A language whose instructions are rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Language {
    /// PTX.
    Ptx,
    /// SASS, the code of a GPU.
    Sass,
    /// SPIR-V.
    SpirV,
    /// The function names of Berkeley TestFloat.
    TestFloat,
}

impl Language {
    /// As its documents write it.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Ptx => "PTX",
            Language::Sass => "SASS",
            Language::SpirV => "SPIR-V",
            Language::TestFloat => "TestFloat",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One modifier that a slot accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// As spelled, its dot included: `.rz`.
    pub text: &'static str,
    /// What it changes.
    pub effect: Effect,
}

/// A position in a spelling for one of several modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// As the manual names it: `.rnd`.
    pub name: &'static str,
    /// The modifiers that it accepts.
    pub choices: &'static [Choice],
    /// Whether one of them is required.
    pub required: bool,
}

impl Slot {
    /// The choice that a modifier is.
    fn choice(&self, modifier: Option<&str>) -> Option<&'static Choice> {
        self.choices.iter().find(|choice| Some(choice.text) == modifier)
    }
    /// Whether it is a place for a type.
    pub fn names_type(&self) -> bool {
        let names = |effect| {
            matches!(effect, Effect::Factors(_) | Effect::FirstFactor(_) | Effect::Type(..) | Effect::NamesType)
        };
        self.choices.iter().any(|choice| names(choice.effect))
    }
}

/// A part of a spelling after the mnemonic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Always there: a type.
    Fixed(&'static str),
    /// A choice.
    Slot(Slot),
}

/// One row: an instruction form as its manual writes it, and what it means; `M` is `()` where its lowering says that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form<M = Recipe> {
    /// The language that has it.
    pub language: Language,
    /// The first word of the spelling.
    pub mnemonic: &'static str,
    /// The rest of it, in the manual's order.
    pub parts: &'static [Part],
    /// The operands as the manual writes them.
    pub operands: &'static str,
    /// The versions and targets that have it.
    pub gate: Gate,
    /// What it means before its modifiers are applied.
    pub recipe: M,
    /// The rule's source: document and section.
    pub source: &'static str,
    /// A remark on what is surprising; may be empty.
    pub note: &'static str,
}

/// A spelling that names a form, and its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The row.
    pub form: &'static Form,
    /// The row's recipe with the spelling's modifiers applied.
    pub recipe: Recipe,
}

/// Why a spelling does not match a form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// Another mnemonic, or another type: not this form at all.
    Other,
    /// The form does not have this modifier.
    NotAllowed(String),
    /// Two modifiers for one slot, or one twice.
    Twice(String),
    /// A required slot is empty.
    Missing(&'static Slot),
}

impl<M> Form<M> {
    /// The spelling as the manual writes it: `fma.rnd{.ftz}{.sat}.f32`.
    pub fn syntax(&self) -> String {
        let mut text = self.mnemonic.to_owned();
        for part in self.parts {
            match part {
                Part::Fixed(fixed) => text.push_str(fixed),
                Part::Slot(slot) if slot.required => text.push_str(slot.name),
                Part::Slot(slot) => text.push_str(&format!("{{{}}}", slot.name)),
            }
        }
        text
    }

    /// The form's slots.
    pub fn slots(&self) -> impl Iterator<Item = &'static Slot> {
        self.parts.iter().filter_map(|part| match part {
            Part::Slot(slot) => Some(slot),
            Part::Fixed(_) => None,
        })
    }

    /// Every spelling of the form with the effects of its modifiers, in the manual's order of modifiers.
    pub fn spelled(&self) -> Vec<(String, Vec<Effect>)> {
        let mut all = vec![(self.mnemonic.to_owned(), Vec::new())];
        for part in self.parts {
            all = all
                .into_iter()
                .flat_map(|(text, effects)| match part {
                    Part::Fixed(fixed) => vec![(text + fixed, effects)],
                    Part::Slot(slot) => {
                        let without = (!slot.required).then(|| (text.clone(), effects.clone()));
                        let with = slot.choices.iter().map(|choice| {
                            let mut effects = effects.clone();
                            effects.push(choice.effect);
                            (text.clone() + choice.text, effects)
                        });
                        without.into_iter().chain(with).collect()
                    }
                })
                .collect();
        }
        all
    }

    /// Matches the modifiers of a spelling (each with its leading `.` or `+`), in any order, against the form: their
    /// effects.
    ///
    /// # Errors
    /// [`Mismatch::Other`] if the mnemonic or a fixed part is missing, otherwise the first thing wrong.
    pub fn effects(&self, mnemonic: &str, modifiers: &[&str]) -> Result<Vec<Effect>, Mismatch> {
        if mnemonic != self.mnemonic {
            return Err(Mismatch::Other);
        }
        let mut left: Vec<Option<&str>> = modifiers.iter().copied().map(Some).collect();
        // Where a form has several types, they stand in its order.
        let mut behind = 0;
        let mut types = Vec::new();
        for part in self.parts {
            match part {
                // A part like `.f32.f16` is fixed as several modifiers.
                Part::Fixed(fixed) => {
                    for piece in split_modifiers(fixed) {
                        let at = left[behind..].iter().position(|modifier| *modifier == Some(piece));
                        behind += at.ok_or(Mismatch::Other)? + 1;
                        left[behind - 1] = None;
                    }
                }
                Part::Slot(slot) if slot.names_type() => {
                    let at = left[behind..].iter().position(|modifier| slot.choice(*modifier).is_some());
                    types.push(at.and_then(|at| left[behind + at].take()));
                    behind += at.map_or(0, |at| at + 1);
                }
                Part::Slot(_) => {}
            }
        }
        let mut types = types.into_iter();
        let mut effects = Vec::new();
        for slot in self.slots() {
            let found = if slot.names_type() {
                types.next().flatten()
            } else {
                let at = left.iter().position(|modifier| slot.choice(*modifier).is_some());
                at.and_then(|at| left[at].take())
            };
            let Some(choice) = slot.choice(found) else {
                if slot.required {
                    return Err(Mismatch::Missing(slot));
                }
                continue;
            };
            if let Some(second) = left.iter().find(|modifier| slot.choice(**modifier).is_some()) {
                return Err(Mismatch::Twice(second.unwrap_or_default().to_owned()));
            }
            effects.push(choice.effect);
        }
        match left.into_iter().flatten().next() {
            Some(extra) => Err(Mismatch::NotAllowed(extra.to_owned())),
            None => Ok(effects),
        }
    }

    /// The modifiers that may still be written beside some, in the manual's order: each with its place among the parts.
    /// `None` if one of the written ones is not the form's.
    ///
    /// ```
    /// # use roundonce_isa::{Choice, Effect, Form, Gate, Language, Part, Slot};
    /// const SAT: Choice = Choice { text: ".sat", effect: Effect::NamesType };
    /// let sat = Part::Slot(Slot { name: ".sat", choices: &[SAT], required: false });
    /// let parts: &[Part] = &[sat, Part::Fixed(".s32")];
    /// # let (language, gate) = (Language::Ptx, Gate::needs(&[]));
    /// # let parts: &'static [Part] = Box::leak(parts.to_vec().into_boxed_slice());
    /// let form = Form { language, mnemonic: "mad", parts, operands: "", gate, recipe: (), source: "", note: "" };
    /// assert_eq!(form.next_modifiers(&[]), Some(vec![(0, ".sat"), (1, ".s32")]));
    /// assert_eq!(form.next_modifiers(&[".sat"]), Some(vec![(1, ".s32")]));
    /// assert_eq!(form.next_modifiers(&[".ftz"]), None);
    /// ```
    pub fn next_modifiers(&self, written: &[&str]) -> Option<Vec<(usize, &'static str)>> {
        let mut left = written.to_vec();
        let mut next = Vec::new();
        for (place, part) in self.parts.iter().enumerate() {
            let choices = match part {
                Part::Fixed(fixed) => split_modifiers(fixed),
                Part::Slot(slot) => slot.choices.iter().map(|choice| choice.text).collect(),
            };
            let filled = left.iter().position(|word| choices.contains(word));
            match (filled, part) {
                (Some(at), Part::Slot(_)) => drop(left.remove(at)),
                (None, Part::Slot(_)) => next.extend(choices.into_iter().map(|choice| (place, choice))),
                // Of `.f32.f16` each must be written.
                (_, Part::Fixed(_)) => {
                    for choice in choices {
                        match left.iter().position(|word| *word == choice) {
                            Some(at) => drop(left.remove(at)),
                            None => next.push((place, choice)),
                        }
                    }
                }
            }
        }
        left.is_empty().then_some(next)
    }
}

impl Form {
    /// Every spelling of the form with its recipe, in the manual's order of modifiers.
    pub fn spellings(&'static self) -> Vec<(String, Recipe)> {
        let recipe = |effects: Vec<Effect>| effects.into_iter().fold(self.recipe, Recipe::with);
        self.spelled().into_iter().map(|(text, effects)| (text, recipe(effects))).collect()
    }

    /// The instruction that a spelling's modifiers make of the form.
    ///
    /// # Errors
    /// As [`effects`](Form::effects).
    pub fn matches(&'static self, mnemonic: &str, modifiers: &[&str]) -> Result<Instruction, Mismatch> {
        let effects = self.effects(mnemonic, modifiers)?;
        Ok(Instruction { form: self, recipe: effects.into_iter().fold(self.recipe, Recipe::with) })
    }
}

/// Cuts `.rz+ftz` into `.rz`, `+ftz`.
pub fn split_modifiers(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text.match_indices(['.', '+']).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &text[start..end]).collect()
}

/// Cuts `fma.rz.f32` into its mnemonic and its modifiers.
pub fn split_spelling(spelling: &str) -> (&str, Vec<&str>) {
    let cut = spelling.find(['.', '+']).unwrap_or(spelling.len());
    (&spelling[..cut], split_modifiers(&spelling[cut..]))
}
