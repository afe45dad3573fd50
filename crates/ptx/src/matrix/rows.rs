//! A spelling of a matrix instruction against the rows of what the assembler takes.

use super::{ACCEPTED, AcceptedRow, SHORT, TENSOR_MEMORY};
use crate::types::is_type;
use roundonce_isa::{Gate, split_spelling};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Where words keep their order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Layout,
    Type,
    /// `.xor.popc`: the operation on bits, then the sum.
    Bits,
    Other,
}

impl Class {
    pub(crate) fn of(word: &str) -> Class {
        match word {
            ".row" | ".col" => Class::Layout,
            ".xor" | ".and" | ".popc" => Class::Bits,
            _ if is_type(word) || matches!(word, ".ue4m3" | ".b8x16" | ".b6x16_p32" | ".b4x16_p64") => Class::Type,
            _ => Class::Other,
        }
    }
}

/// Why modifiers are not a row's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    Missing(&'static str),
    Other,
    NotAllowed,
}

/// The number in a word, if the pattern has one: the columns of a shape of `wgmma`, `.m64nNk16`, and `.x1-64`.
fn number_in(pattern: &str, word: &str) -> Option<usize> {
    let number = |text: &str| text.parse::<usize>().ok().filter(|_| !text.starts_with(['0', '+']));
    if let Some((first, last)) = pattern.strip_prefix(".x").and_then(|range| range.split_once('-')) {
        let range = number(first)?..=number(last)?;
        return number(word.strip_prefix(".x")?).filter(|count| count.is_power_of_two() && range.contains(count));
    }
    let depth = pattern.strip_prefix(".m64n")?.strip_prefix(['N', 'M'])?;
    let columns = number(word.strip_prefix(".m64n")?.strip_suffix(depth)?)?;
    let is_spread = pattern.contains('M') && columns > 32;
    let fits = columns.is_multiple_of(if is_spread { 16 } else { 8 }) && (8..=256).contains(&columns);
    fits.then_some(columns)
}

/// A row, its modifiers taken apart, with every list of operands that it has.
pub(crate) struct Prepared {
    pub(crate) row: &'static AcceptedRow,
    slots: Vec<Slot>,
    pub(crate) operands: Vec<Vec<&'static str>>,
}

impl Prepared {
    fn of(row: &'static AcceptedRow) -> Prepared {
        let mut operands: Vec<Vec<&str>> = vec![Vec::new()];
        for text in row.operands.split_whitespace() {
            let optional = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            let without = if optional.is_some() { operands.clone() } else { Vec::new() };
            let choices = optional.unwrap_or(text).split('|');
            let with = |code| operands.iter().map(move |codes| [codes.as_slice(), &[code]].concat());
            operands = choices.flat_map(with).chain(without).collect();
        }
        Prepared { row, slots: row.modifiers.split_whitespace().map(Slot::of).collect(), operands }
    }
}

struct Slot {
    text: &'static str,
    choices: Vec<&'static str>,
    class: Class,
    required: bool,
}

impl Slot {
    fn of(text: &'static str) -> Slot {
        let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let name = inner.unwrap_or(text);
        let long = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
        let choices: Vec<&str> = long.split('|').collect();
        Slot { text, class: Class::of(choices[0]), choices, required: inner.is_none() }
    }

    fn has(&self, word: &str) -> bool {
        self.choices.iter().any(|choice| *choice == word || number_in(choice, word).is_some())
    }
}

static ROWS: LazyLock<HashMap<&'static str, Vec<Prepared>>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<Prepared>> = HashMap::new();
    for row in ACCEPTED.iter().chain(TENSOR_MEMORY) {
        all.entry(row.opcode).or_default().push(Prepared::of(row));
    }
    all
});

/// The rows of an opcode with its first modifiers (`tcgen05.mma.ws`), or of the opcode alone; with how many modifiers.
pub(crate) fn rows_of(opcode: &str, written: &[&str]) -> Option<(&'static [Prepared], usize)> {
    let names = (0..=written.len().min(2)).rev().map(|count| (opcode.to_owned() + &written[..count].concat(), count));
    names.into_iter().find_map(|(name, count)| Some((ROWS.get(name.as_str())?.as_slice(), count)))
}

/// Whether modifiers are a row's: with the number in them; or how many of them are, and why not all.
pub(crate) fn matches(row: &Prepared, written: &[(&str, Class)]) -> Result<usize, (usize, Misfit)> {
    let mut left = vec![true; written.len()];
    let (mut number, mut fitting, mut misfit) = (0, 0, None);
    for slot in &row.slots {
        // A word that keeps its order is the next one of its class; others stand anywhere.
        let next = (0..left.len()).find(|&at| {
            let (word, class) = written[at];
            left[at] && class == slot.class && (class != Class::Other || slot.has(word))
        });
        match next {
            Some(at) if slot.has(written[at].0) => {
                left[at] = false;
                fitting += 1;
                number = slot.choices.iter().find_map(|choice| number_in(choice, written[at].0)).unwrap_or(number);
            }
            Some(at) => {
                left[at] = false;
                misfit = Some(Misfit::Other);
            }
            None if slot.required => misfit = misfit.or(Some(Misfit::Missing(slot.text))),
            None => {}
        }
    }
    // In place of what is missing something else stands.
    match misfit {
        None if left.contains(&true) => Err((fitting, Misfit::NotAllowed)),
        None => Ok(number),
        Some(_) if left.contains(&true) => Err((fitting, Misfit::Other)),
        Some(misfit) => Err((fitting, misfit)),
    }
}

/// Where a matrix instruction exists, by its spelling: of each form that it is.
///
/// ```
/// let gates = roundonce_ptx::matrix::matrix_gates("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32");
/// assert_eq!(gates[0].to_string(), "PTX 8.4, sm_89");
/// assert!(roundonce_ptx::matrix::matrix_gates("mma.sync").is_empty());
/// ```
pub fn matrix_gates(spelling: &str) -> Vec<Gate> {
    gates_of(spelling).unwrap_or_default()
}

/// The same, or why it is no form.
pub(super) fn gates_of(spelling: &str) -> Result<Vec<Gate>, String> {
    let (opcode, written) = split_spelling(spelling);
    let none = || format!("`{spelling}` is no matrix instruction");
    let (rows, first) = rows_of(opcode, &written).ok_or_else(none)?;
    let classed: Vec<(&str, Class)> = written[first..].iter().map(|word| (*word, Class::of(word))).collect();
    let matched = rows.iter().map(|row| (row.row, matches(row, &classed)));
    let (mut gates, mut wrong) = (Vec::new(), Vec::new());
    for (row, result) in matched {
        match result {
            Ok(_) => gates.push(row.gate),
            Err(misfit) => wrong.push((row, misfit)),
        }
    }
    if gates.is_empty() { Err(why_none(spelling, wrong).1) } else { Ok(gates) }
}

/// How many spellings a message lists.
const LISTED: usize = 3;

/// Why a spelling is of none of the rows, by those that are nearest: the finding's code, and a sentence.
pub(crate) fn why_none(
    spelling: &str,
    mut wrong: Vec<(&'static AcceptedRow, (usize, Misfit))>,
) -> (&'static str, String) {
    wrong.sort_by_key(|(_, (fitting, _))| std::cmp::Reverse(*fitting));
    let spelled = |row: &AcceptedRow| format!("`{}{}`", row.opcode, row.modifiers.replace(' ', ""));
    let nearest: Vec<String> = wrong.iter().take(LISTED).map(|(row, _)| spelled(row)).collect();
    let more = if wrong.len() > LISTED { ", …" } else { "" };
    let expected = format!("expected one like {}{more}", nearest.join(", "));
    match wrong.first() {
        Some((_, (_, Misfit::Missing(slot)))) => ("PTX0022", format!("`{spelling}` needs {slot}: {expected}")),
        Some((_, (_, Misfit::NotAllowed))) => {
            ("PTX0023", format!("`{spelling}` has a modifier that such a form has not: {expected}"))
        }
        _ => ("PTX0021", format!("`{spelling}`: there is no such form of these shapes, layouts and types: {expected}")),
    }
}
