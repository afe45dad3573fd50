//! The page of docs/reference that says which form has which counterpart in which language.

use std::fmt::Write;

use roundonce::arith::Clamp;
use roundonce::isa::Part;
use roundonce::translate::instruction::{Counterpart, Language, Step, Translated, translate};
use roundonce::{Form, TABLES};

/// The languages with a column; the other two have no counterpart of anything.
const COLUMNS: [Language; 6] =
    [Language::Ptx, Language::Sass, Language::SpirV, Language::Cuda, Language::Glsl, Language::C];

/// What stands around the arithmetic.
fn around(counterpart: &Counterpart) -> Vec<&'static str> {
    let name = |step: &Step| match step {
        Step::Widen { .. } => Some("widened"),
        Step::ZeroFactors(_) => Some("zero factors selected"),
        Step::Negate { .. } => Some("negated"),
        Step::Constant { .. } => Some("as multiply-add"),
        Step::Clamp(_, Clamp::Unit) => Some("clamped by selections"),
        Step::Clamp(..) => Some("rectified by selections"),
        Step::Compute(_) => None,
    };
    let mut names: Vec<&str> = counterpart.steps.iter().filter_map(name).collect();
    names.dedup();
    names
}

/// A counterpart without its modifiers, or the fields that refuse.
fn cell(found: Translated, components: u32) -> String {
    let counterparts = match found {
        Translated::Refused(refusal) => return format!("no: {}", refusal.fields.join(", ")),
        Translated::Counterparts(counterparts) => counterparts,
    };
    let first = &counterparts[0];
    // `asm` stands before PTX's name, `precise` before an operator.
    let spelling = first.spelling.split_once('.').map_or(first.spelling.as_str(), |(head, _)| head);
    let spelling =
        ["_rn", "_rz", "_rd", "_ru", "_sat", "_relu"].iter().fold(spelling, |name, end| name.trim_end_matches(end));
    let mut text = format!("`{spelling}`");
    for name in around(first) {
        write!(text, ", {name}").unwrap();
    }
    if first.components != components {
        text.push_str(if first.components > components { ", low half" } else { ", by component" });
    }
    let marks = [("the bits of a NaN", " ¹"), ("flushes:", " ²")];
    let is_open = |start: &str| first.open.iter().any(|open| open.starts_with(start));
    marks.iter().filter(|(start, _)| is_open(start)).for_each(|(_, mark)| text.push_str(mark));
    text
}

/// The choice in each slot of each spelling, in the order of [`Form::spellings`].
fn choices(form: &'static Form) -> Vec<Vec<&'static str>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    for part in form.parts {
        let Part::Slot(slot) = part else { continue };
        let with = |chosen: &Vec<&'static str>| {
            let none = (!slot.required).then_some("");
            let texts = none.into_iter().chain(slot.choices.iter().map(|choice| choice.text));
            texts.map(|text| [chosen.as_slice(), &[text]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// Some spellings of a form: its syntax with what each slot holds, if they are all the combinations of that; else each.
fn folded(form: &'static Form, chosen: &[&Vec<&'static str>], spellings: &[String]) -> String {
    let slots = form.slots().count();
    let sets: Vec<Vec<&str>> = (0..slots)
        .map(|slot| {
            let mut set: Vec<&str> = Vec::new();
            chosen.iter().map(|choice| choice[slot]).for_each(|text| {
                if !set.contains(&text) {
                    set.push(text)
                }
            });
            set
        })
        .collect();
    if sets.iter().map(Vec::len).product::<usize>() != chosen.len() {
        return spellings.iter().map(|spelling| format!("`{spelling}`")).collect::<Vec<_>>().join(" ");
    }
    let mut sets = sets.into_iter();
    let mut text = form.mnemonic.to_owned();
    for part in form.parts {
        match part {
            Part::Fixed(fixed) => text.push_str(fixed),
            Part::Slot(_) => {
                let set = sets.next().unwrap_or_default();
                let words: Vec<&str> = set.iter().copied().filter(|word| !word.is_empty()).collect();
                match (words.as_slice(), set.contains(&"")) {
                    ([], _) => {}
                    ([word], false) => text.push_str(word),
                    (words, true) => write!(text, "{{{}}}", words.join(",")).unwrap(),
                    (words, false) => write!(text, "({})", words.join(",")).unwrap(),
                }
            }
        }
    }
    format!("`{text}`")
}

/// The rows of a form: its spellings, grouped by their counterparts.
fn rows(form: &'static Form, page: &mut String) {
    let spellings = form.spellings();
    let chosen = choices(form);
    assert_eq!(spellings.len(), chosen.len());
    let mut groups: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    for (at, (spelling, recipe)) in spellings.iter().enumerate() {
        for open in [Language::Wgsl, Language::Metal] {
            assert!(matches!(translate(recipe, open, &TABLES), Translated::Refused(_)), "{spelling}");
        }
        let cells: Vec<String> =
            COLUMNS.iter().map(|to| cell(translate(recipe, *to, &TABLES), recipe.components)).collect();
        match groups.iter_mut().find(|(known, _)| *known == cells) {
            Some((_, places)) => places.push(at),
            None => groups.push((cells, vec![at])),
        }
    }
    for (cells, places) in groups {
        let chosen: Vec<&Vec<&str>> = places.iter().map(|at| &chosen[*at]).collect();
        let names: Vec<String> = places.iter().map(|at| spellings[*at].0.clone()).collect();
        writeln!(page, "| {} | {} |", folded(form, &chosen, &names), cells.join(" | ")).unwrap();
    }
}

/// The page.
pub(crate) fn page() -> String {
    let columns: Vec<&str> = COLUMNS.iter().map(|language| language.name()).collect();
    let mut page = String::from(
        "# Counterparts of every form\n\nMade from the rows by `cargo test -p roundonce-cli --test reference`: what `roundonce translate` \
         gives first for each spelling, without its modifiers; `{.ftz}` may be left out, of `(.rn,.rz)` one is written. \
         `no:` names the fields of the meaning that the language has not. Every spelling that gives the same bits, and what must \
         stand around it, is what the command prints.\n\n\
         WGSL and Metal have no counterpart of any form: their documents leave the rounding of every operation to the device, \
         toward zero or to nearest even in Metal, up or down in WGSL, and whether subnormals are flushed; WGSL's `fma` need not \
         be fused.\n\n\
         ¹ What the bits of a NaN are is open. ² Of a flush the sign of the zero is open, and which values at the edge count as \
         subnormal. \"By component\": once for each component. \"Low half\": of a packed instruction.\n",
    );
    for table in TABLES {
        let mut mnemonic = "";
        for form in table {
            if form.mnemonic != mnemonic {
                let heading = if form.gate.target.first >= 70 && form.language == roundonce::isa::Language::Sass {
                    format!("{} of sm_{} and later", form.mnemonic, form.gate.target.first)
                } else {
                    format!("{} of {}", form.mnemonic, form.language.name())
                };
                mnemonic = form.mnemonic;
                write!(
                    page,
                    "\n## {heading}\n\n| form | {} |\n|---|{}\n",
                    columns.join(" | "),
                    "---|".repeat(columns.len())
                )
                .unwrap();
            }
            rows(form, &mut page);
        }
    }
    page
}
