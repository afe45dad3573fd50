//! From a spelling to its row, or to a finding that says why there is none.

use std::sync::OnceLock;

use crate::{Effect, Finding, Form, Instruction, Location, Mismatch, Part};
use crate::{Recipe, Slot, SmTarget, Version, split_spelling};

/// The code of a spelling that no row has.
pub const NO_SUCH_INSTRUCTION: &str = "FORM0001";

/// The rows of all languages, searched by spelling.
pub struct Table<M: 'static = Recipe> {
    forms: &'static [&'static [Form<M>]],
    /// Every spelling, computed when the first misspelling needs the nearest one.
    spellings: OnceLock<Vec<String>>,
}

impl<M> Table<M> {
    /// Of these languages' rows.
    pub const fn new(forms: &'static [&'static [Form<M>]]) -> Table<M> {
        Table { forms, spellings: OnceLock::new() }
    }

    /// Every row.
    pub fn rows(&self) -> impl Iterator<Item = &'static Form<M>> {
        self.forms.iter().copied().flatten()
    }

    /// Finds the row that a spelling names, on a target and in a language version where they are given. The first row
    /// that fits is taken.
    ///
    /// # Errors
    /// A finding with the code `FORM0001` (no such instruction), `FORM0002` (a modifier is missing, repeated or not
    /// allowed) or `FORM0003` (the target or version lacks it), and the rule.
    pub fn find(
        &self,
        spelling: &str,
        target: Option<SmTarget>,
        version: Option<Version>,
    ) -> Result<(&'static Form<M>, Vec<Effect>), Finding> {
        let (mnemonic, modifiers) = split_spelling(spelling);
        let mut fitting = Vec::new();
        for form in self.rows() {
            if let Ok(effects) = form.effects(mnemonic, &modifiers) {
                if form.gate.holds(target, version) {
                    return Ok((form, effects));
                }
                fitting.push(form);
            }
        }
        if !fitting.is_empty() {
            return Err(unavailable(spelling, &fitting, target, version));
        }
        // The closest row has most of the modifiers that were written.
        let misfits: Vec<_> = self
            .rows()
            .filter_map(|form| match form.effects(mnemonic, &modifiers) {
                Err(mismatch) if mismatch != Mismatch::Other => Some((matched(form, &modifiers), form, mismatch)),
                _ => None,
            })
            .collect();
        let closest = misfits.iter().reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((most, form, mismatch)) = closest else { return Err(self.unknown(spelling, mnemonic)) };
        // Of a form that several rows write, what each lacks.
        let syntax = form.syntax();
        let alike = misfits.iter().filter(|(count, form, _)| count == most && form.syntax() == syntax);
        let lacking = alike.filter_map(|(.., mismatch)| match mismatch {
            Mismatch::Missing(slot) => Some(*slot),
            _ => None,
        });
        Err(mismatch_finding(spelling, form, mismatch, &lacking.collect::<Vec<_>>()))
    }

    fn unknown(&self, spelling: &str, mnemonic: &str) -> Finding {
        let known = self.rows().any(|form| form.mnemonic == mnemonic);
        let message = if known {
            format!("`{spelling}` is no form of `{mnemonic}`: its type is missing or unknown")
        } else {
            format!("there is no instruction `{spelling}`")
        };
        let finding = Finding::error(NO_SUCH_INSTRUCTION, Location::Whole, message);
        match self.nearest(spelling) {
            Some(nearest) => finding.help(format!("did you mean `{nearest}`?")),
            None => finding.help("`roundonce forms` lists every instruction"),
        }
    }

    fn nearest(&self, spelling: &str) -> Option<&str> {
        let all = self.spellings.get_or_init(|| self.rows().flat_map(Form::spelled).map(|(text, _)| text).collect());
        nearest(spelling, all.iter().map(String::as_str), 1 + spelling.len() / 4)
    }
}

/// The text with the smallest edit distance, two letters swapped being one edit and capitals none; of several first those
/// with the same first letter. `None` if the distance is more than `edits`.
///
/// ```
/// let known = ["DFMA", "FFMA", "FADD"];
/// assert_eq!(roundonce_isa::nearest("fma", known.into_iter(), 1), Some("FFMA"));
/// assert_eq!(roundonce_isa::nearest("EXIT", known.into_iter(), 1), None);
/// ```
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>, edits: usize) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let length = lower.chars().count();
    let mut closest: Option<((usize, bool), &str)> = None;
    for text in known {
        let enough = closest.map_or(edits, |((distance, _), _)| distance);
        // Most texts are told apart without the distance, whose time is the product of both lengths. Of one that is twice as
        // long nothing need be left.
        let letters = text.chars().count();
        if length.abs_diff(letters) > enough.min(letters) || fewest_edits(&lower, text) > enough {
            continue;
        }
        let text_lower = text.to_lowercase();
        let distance = strsim::osa_distance(&text_lower, &lower);
        let key = (distance, text_lower.chars().next() != lower.chars().next());
        if distance <= edits && closest.is_none_or(|(closest, _)| key < closest) {
            closest = Some((key, text));
        }
    }
    closest.map(|(_, text)| text)
}

/// How many edits there are at least between a text and a word in small letters: one adds at most one letter and takes
/// at most one away.
fn fewest_edits(lower: &str, text: &str) -> usize {
    // Letters that share a place make it fewer, never more.
    let mut more = [0_i64; 64];
    let place = |letter: char| letter.to_ascii_lowercase() as usize % 64;
    lower.chars().for_each(|letter| more[place(letter)] += 1);
    text.chars().for_each(|letter| more[place(letter)] -= 1);
    let (added, removed) =
        more.iter().fold((0, 0), |(added, removed), &count| (added + count.max(0), removed - count.min(0)));
    added.max(removed) as usize
}

impl Table {
    /// The same with the row's recipe, the spelling's modifiers applied.
    ///
    /// # Errors
    /// As [`find`](Table::find).
    pub fn resolve(
        &self,
        spelling: &str,
        target: Option<SmTarget>,
        version: Option<Version>,
    ) -> Result<Instruction, Finding> {
        let (form, effects) = self.find(spelling, target, version)?;
        Ok(Instruction { form, recipe: effects.into_iter().fold(form.recipe, Recipe::with) })
    }
}

/// How many of the form's required parts are present, then how many of the others.
fn matched<M>(form: &Form<M>, modifiers: &[&str]) -> (usize, usize) {
    let fills = |part: &&Part| match part {
        Part::Fixed(fixed) => modifiers.contains(fixed),
        Part::Slot(slot) => slot.choices.iter().any(|choice| modifiers.contains(&choice.text)),
    };
    let always = |part: &&Part| matches!(part, Part::Fixed(_) | Part::Slot(Slot { required: true, .. }));
    let (needed, others): (Vec<&Part>, Vec<&Part>) = form.parts.iter().filter(fills).partition(always);
    (needed.len(), others.len())
}

fn unavailable<M>(spelling: &str, fitting: &[&Form<M>], target: Option<SmTarget>, version: Option<Version>) -> Finding {
    let mut asked = Vec::new();
    asked.extend(target.map(|target| target.to_string()));
    asked.extend(version.map(|version| format!("PTX {version}")));
    let gates: Vec<String> = fitting.iter().map(|form| form.gate.to_string()).collect();
    let (last, first) = (fitting[fitting.len() - 1], fitting[0]);
    Finding::error(
        "FORM0003",
        Location::Whole,
        format!("`{spelling}` does not exist for {}: it needs {}", asked.join(", "), gates.join("; or ")),
    )
    .rule(first.source)
    .help(if last.note.is_empty() { first.note } else { last.note })
}

fn mismatch_finding<M>(spelling: &str, form: &Form<M>, mismatch: &Mismatch, lacking: &[&Slot]) -> Finding {
    let syntax = form.syntax();
    let message = match mismatch {
        Mismatch::NotAllowed(modifier) => {
            format!("`{modifier}` is not allowed in `{spelling}`: the form is `{syntax}`")
        }
        Mismatch::Twice(modifier) => format!("`{modifier}` is one too many in `{spelling}`: the form is `{syntax}`"),
        Mismatch::Missing(slot) => {
            let same = lacking.iter().filter(|other| other.name == slot.name);
            let mut choices: Vec<&str> = Vec::new();
            for choice in same.flat_map(|slot| slot.choices) {
                if !choices.contains(&choice.text) {
                    choices.push(choice.text);
                }
            }
            format!("`{spelling}` lacks one of {}: the form is `{syntax}`", choices.join(" "))
        }
        Mismatch::Other => format!("`{spelling}` is not `{syntax}`"),
    };
    Finding::error("FORM0002", Location::Whole, message).rule(form.source).help(form.note)
}
