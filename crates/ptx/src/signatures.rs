//! The signatures of instructions outside the multiply-add family: which modifiers and types an opcode takes together,
//! and what its operands are. One row a fact, as `table` writes them; [`of`] gives those of an opcode.
//!
//! What this is not: it says nothing about what an instruction does. An opcode without a row is not checked.

mod asynchronous;
mod memory;
mod table;

use crate::opcodes::space_name;
use crate::types::{ScalarKind, Type, is_type};
use roundonce_isa::{Gate, SmTarget, Version};
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

/// One row as it is written.
pub(crate) struct Row {
    /// The opcodes that have it: `add sub`.
    pub(crate) names: &'static str,
    /// Slots of modifiers, in any order but for types: `{.sat} .u32|.s32`. One of the alternatives of each, none or one
    /// in braces; a word without a dot is a set of [`table::SETS`]; `!` in front has it stand right behind the opcode.
    pub(crate) modifiers: &'static str,
    /// The operands: see [`Place`].
    pub(crate) operands: &'static str,
    pub(crate) gate: Gate,
}

/// What some modifiers of some opcodes need beside their rows.
pub(crate) struct WordGate {
    names: &'static str,
    /// As in a slot.
    words: &'static str,
    pub(crate) gate: Gate,
}

/// What some forms of opcodes need that have no rows, beside their opcode.
pub(crate) struct FormGate {
    names: &'static str,
    /// What stands behind each other, maybe with others between: modifiers, then `_` for each operand that is thrown away
    /// and `o` for each other. Alternatives as in a slot; `!` in front: no such one is written.
    words: &'static str,
    /// One of these.
    gates: &'static [Gate],
}

/// A place for one of several modifiers.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    pub(crate) choices: Vec<&'static str>,
    pub(crate) required: bool,
    /// Whether it stands right behind the opcode.
    pub(crate) first: bool,
    pub(crate) is_type: bool,
}

/// What type the value in an operand has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Typed {
    /// That of the written types at this index.
    Written(usize),
    /// This, whatever is written.
    Fixed(&'static str),
    /// The first written one, twice as wide with `.wide`.
    Widened,
    /// As many bits as the first written one has.
    Bits,
}

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PlaceKind {
    /// `=0`: a register that is written.
    Result,
    /// `0`: a register or a constant.
    Source,
    /// `A`: an address in brackets.
    Address,
    /// `S`, `G`: one in this state space, whatever the modifiers say of others.
    AddressIn(&'static str),
    /// `#`: an integer constant.
    Constant,
    /// `#24..256/8`: one from 24 to 256 that is a multiple of 8; `#128`: this one.
    Number { least: u32, most: u32, step: u32 },
    /// `F`: a value of f32, a constant one above 0 and at most 1.
    Fraction,
    /// `a`: a constant power of two.
    Alignment,
    /// `L`: a label.
    Label,
    /// `h`: the policy that goes with `.L2::cache_hint`, and only with it.
    Policy,
    /// `I`: a texture or a surface in brackets, with coordinates.
    Image,
    /// `*`: anything; only its names are looked at.
    Any,
}

/// An operand of a row: `=0`, `1`, `=.pred|`, `?n`, `A`. A digit is a written type, `.pred` itself, `n` a number of 32
/// bits, `r` the same in a register, `c` the same or a predicate, `g` an address, `w` the widened first type,
/// `b` its bits. Marks behind it: `~` a wider register will do, `<` a vector as long
/// as `.v2` says,
/// `|` a second, predicate result, `||` which must be there, `_` may be thrown away, `%` may be a special register, `@`
/// may be the address of a variable (of an address: may be an element of an array, without brackets), `&` may be parts in braces, `:` may be bytes or half-words of a register as video
/// instructions take them, `-` may be negated. `?` in front: it may be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) kind: PlaceKind,
    pub(crate) ty: Typed,
    pub(crate) optional: bool,
    pub(crate) relaxed: bool,
    pub(crate) vector: bool,
    /// Whether a second result may stand there, and whether it must.
    pub(crate) second: (bool, bool),
    pub(crate) discards: bool,
    pub(crate) special: bool,
    pub(crate) symbols: bool,
    pub(crate) packs: bool,
    pub(crate) selects: bool,
    pub(crate) negates: bool,
}

/// A row taken apart.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) slots: Vec<Slot>,
    pub(crate) places: Vec<Place>,
    pub(crate) gate: Gate,
}

/// Why modifiers are not a signature's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Misfit<'s, 'w> {
    /// Other types.
    Types,
    /// It has no such modifier.
    NotAllowed(&'w str),
    /// Two for one slot.
    Twice(&'w str),
    /// It has to stand right behind the opcode.
    NotFirst(&'w str),
    /// One of a slot's is needed.
    Missing(&'s Slot),
}

/// By opcode, its rows, and what they say once it was asked for: a module has few opcodes.
struct OnDemand<R: 'static, T>(HashMap<&'static str, (Vec<&'static R>, OnceLock<Vec<T>>)>);

impl<R, T> OnDemand<R, T> {
    fn new(rows: impl Iterator<Item = &'static R>, names: impl Fn(&'static R) -> &'static str) -> OnDemand<R, T> {
        let mut all: HashMap<&'static str, (Vec<&'static R>, OnceLock<Vec<T>>)> = HashMap::new();
        for row in rows {
            for name in names(row).split(' ') {
                all.entry(name).or_default().0.push(row);
            }
        }
        OnDemand(all)
    }
    fn of(&self, opcode: &str, read: impl Fn(&'static R) -> T) -> &[T] {
        let Some((rows, made)) = self.0.get(opcode) else { return &[] };
        made.get_or_init(|| rows.iter().map(|&row| read(row)).collect())
    }
}

static SIGNATURES: LazyLock<OnDemand<Row, Signature>> =
    LazyLock::new(|| OnDemand::new(table::ROWS.iter().chain(memory::ROWS), |row| row.names));

/// The signatures of an opcode; none if it is not checked by them.
pub(crate) fn of(opcode: &str) -> &'static [Signature] {
    SIGNATURES.of(opcode, Row::signature)
}

impl Row {
    fn signature(&self) -> Signature {
        Signature {
            slots: self.modifiers.split_whitespace().map(Slot::of).collect(),
            places: self.operands.split_whitespace().map(Place::of).collect(),
            gate: self.gate,
        }
    }
}

/// The alternatives of a slot, sets unfolded.
fn choices(text: &'static str) -> Vec<&'static str> {
    let unfold = |word: &'static str| match table::SETS.iter().find(|(name, _)| *name == word) {
        Some((_, members)) => members.split(' ').collect(),
        None => vec![word],
    };
    text.split('|').flat_map(unfold).collect()
}

/// The words of a slot as they are written. Of what may be left out the first few are named.
pub(crate) fn alternatives(words: &[&str], required: bool) -> String {
    match words {
        all if required => all.join("|"),
        [first, second, third, _, _, ..] => format!("{{{first}|{second}|{third}|…}}"),
        all => format!("{{{}}}", all.join("|")),
    }
}

impl Slot {
    fn of(text: &'static str) -> Slot {
        let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let (text, required) = (inner.unwrap_or(text), inner.is_none());
        let rest = text.strip_prefix('!');
        let choices = choices(rest.unwrap_or(text));
        let is_type = choices.first().is_some_and(|word| is_type(word));
        Slot { choices, required, first: rest.is_some(), is_type }
    }
}

impl PlaceKind {
    fn number(text: &str) -> PlaceKind {
        let (range, step) = text.split_once('/').unwrap_or((text, "1"));
        let (least, most) = range.split_once("..").unwrap_or((range, range));
        let [least, most, step] = [least, most, step].map(|number| number.parse().unwrap_or(1));
        PlaceKind::Number { least, most, step }
    }
}

impl Place {
    fn of(text: &'static str) -> Place {
        let has = |mark: char| text.contains(mark);
        let core = text.trim_matches(['=', '~', '<', '|', '?', '_', '%', '@', '&', ':', '-']);
        let kind = match core {
            "A" => PlaceKind::Address,
            "S" => PlaceKind::AddressIn(".shared"),
            "G" => PlaceKind::AddressIn(".global"),
            "#" => PlaceKind::Constant,
            "a" => PlaceKind::Alignment,
            "F" => PlaceKind::Fraction,
            _ if core.starts_with('#') => PlaceKind::number(&core[1..]),
            "L" => PlaceKind::Label,
            "h" => PlaceKind::Policy,
            "I" => PlaceKind::Image,
            "*" => PlaceKind::Any,
            _ if has('=') => PlaceKind::Result,
            _ => PlaceKind::Source,
        };
        let ty = match core.parse() {
            Ok(index) => Typed::Written(index),
            Err(_) if core == "w" => Typed::Widened,
            Err(_) if core == "b" => Typed::Bits,
            Err(_) => Typed::Fixed(core),
        };
        Place {
            kind,
            ty,
            optional: has('?'),
            relaxed: has('~'),
            vector: has('<'),
            second: (has('|'), text.contains("||")),
            discards: has('_'),
            special: has('%'),
            symbols: has('@'),
            packs: has('&'),
            selects: has(':'),
            negates: has('-'),
        }
    }
}

impl Signature {
    /// As it is written, behind an opcode.
    pub(crate) fn syntax(&self) -> String {
        self.slots.iter().map(|slot| alternatives(&slot.choices, slot.required)).collect()
    }

    /// Whether a modifier or a type is one of its own.
    pub(crate) fn writes(&self, word: &str) -> bool {
        self.slots.iter().any(|slot| slot.choices.contains(&word))
    }

    /// Its operands with these modifiers.
    pub(crate) fn places(&self, written: &[&str]) -> impl Iterator<Item = &Place> {
        let has_policy = written.contains(&".L2::cache_hint");
        self.places.iter().filter(move |place| place.kind != PlaceKind::Policy || has_policy)
    }

    /// How many operands it takes with these modifiers: at least, at most.
    pub(crate) fn operand_count(&self, written: &[&str]) -> (usize, usize) {
        let needed = |place: &&Place| !place.optional || place.kind == PlaceKind::Policy;
        (self.places(written).filter(needed).count(), self.places(written).count())
    }

    /// The written types that it reads, or what is wrong with the modifiers.
    pub(crate) fn matches<'s, 'w>(&'s self, written: &[&'w str]) -> Result<Vec<&'w str>, Misfit<'s, 'w>> {
        let mut left: Vec<Option<&'w str>> = written.iter().copied().map(Some).collect();
        let mut types = Vec::new();
        let mut from = 0;
        for slot in self.slots.iter().filter(|slot| slot.is_type) {
            let next = (from..left.len()).find(|&at| left[at].is_some_and(is_type));
            let fits = next.filter(|&at| left[at].is_some_and(|word| slot.choices.contains(&word)));
            match fits {
                Some(at) => {
                    types.extend(left[at].take());
                    from = at + 1;
                }
                None if slot.required => return Err(Misfit::Types),
                None => {}
            }
        }
        if left.iter().flatten().any(|word| is_type(word)) {
            return Err(Misfit::Types);
        }
        let mut missing = None;
        let mut slots = self.slots.iter().filter(|slot| !slot.is_type);
        while let Some(slot) = slots.next() {
            let mut found = (0..left.len()).filter(|&at| left[at].is_some_and(|word| slot.choices.contains(&word)));
            match (found.next(), found.next()) {
                // A later slot may have the second one.
                (Some(first), Some(second)) if slots.clone().any(|slot| slot.choices.contains(&written[second])) => {
                    left[first] = None;
                }
                (_, Some(second)) => return Err(Misfit::Twice(written[second])),
                (Some(at), None) if slot.first && at > 0 => return Err(Misfit::NotFirst(written[at])),
                (Some(at), None) => left[at] = None,
                (None, None) if slot.required => missing = missing.or(Some(slot)),
                (None, None) => {}
            }
        }
        match (left.into_iter().flatten().next(), missing) {
            (Some(extra), _) => Err(Misfit::NotAllowed(extra)),
            (None, Some(slot)) => Err(Misfit::Missing(slot)),
            (None, None) => Ok(types),
        }
    }
}

/// The modifiers of which a target and a version are known to have the row and the word, and that may still be written
/// behind an opcode beside some: each with its place among the slots of its row.
pub(crate) fn next_modifiers(
    opcode: &str,
    written: &[&str],
    target: Option<SmTarget>,
    version: Option<Version>,
) -> Vec<(usize, &'static str)> {
    let is_there = |choice: &str| {
        let gates = word_gates(opcode, &[choice]);
        gates.iter().all(|(word, gate)| *word != choice || gate.holds(target, version))
    };
    let mut next = Vec::new();
    for row in of(opcode).iter().filter(|row| row.gate.holds(target, version)) {
        let mut left = written.to_vec();
        let mut of_row = Vec::new();
        for (place, slot) in row.slots.iter().enumerate() {
            match left.iter().position(|word| slot.choices.contains(word)) {
                Some(at) => drop(left.remove(at)),
                None => {
                    let choices = slot.choices.iter().filter(|choice| is_there(choice));
                    of_row.extend(choices.map(|choice| (place, *choice)));
                }
            }
        }
        if left.is_empty() {
            next.extend(of_row);
        }
    }
    next
}

/// By opcode, words and their gates.
static WORD_GATES: LazyLock<OnDemand<WordGate, WordsGated>> =
    LazyLock::new(|| OnDemand::new(table::WORDS.iter(), |gate| gate.names));
type WordsGated = (Vec<&'static str>, &'static Gate);

/// What some of the modifiers need.
pub(crate) fn word_gates<'w>(opcode: &str, written: &[&'w str]) -> Vec<(&'w str, &'static Gate)> {
    let gates = WORD_GATES.of(opcode, |gate| (choices(gate.words), &gate.gate));
    if gates.is_empty() {
        return Vec::new();
    }
    let mut words = written.to_vec();
    if !words.iter().any(|word| space_name(word).is_some()) {
        words.push(table::GENERIC);
    }
    let gated = |(choices, gate): &'static WordsGated| {
        words.iter().filter(|word| choices.contains(word)).map(|word| (*word, *gate)).collect::<Vec<_>>()
    };
    gates.iter().flat_map(gated).collect()
}

/// A modifier that is written beside one that it excludes, and that one.
pub(crate) fn exclusive<'w>(opcode: &str, written: &[&'w str]) -> Option<(&'w str, &'w str)> {
    let of = table::EXCLUSIVE.iter().filter(|(names, ..)| names.split(' ').any(|name| name == opcode));
    let find = |words| {
        let choices = choices(words);
        written.iter().copied().find(|word| choices.contains(word))
    };
    of.into_iter().find_map(|(_, words, others)| Some((find(words)?, find(others)?)))
}

/// Whether an operand may be a sum.
pub(crate) fn takes_sums(opcode: &str, written: &[&str]) -> bool {
    let of = table::WRITTEN_OUT.iter().filter(|(names, _)| names.split(' ').any(|name| name == opcode));
    let has = |words| choices(words).iter().any(|choice| written.contains(choice));
    !of.into_iter().any(|(_, words)| words.split_whitespace().all(has))
}

/// By opcode, forms without a row and their gates.
static FORM_GATES: LazyLock<OnDemand<FormGate, FormGated>> =
    LazyLock::new(|| OnDemand::new(asynchronous::FORMS.iter(), |form| form.names));

/// A form taken apart.
struct FormGated {
    words: Vec<FormWord>,
    gates: &'static [Gate],
}

struct FormWord {
    choices: Vec<&'static str>,
    is_absent: bool,
}

impl FormGate {
    fn apart(&'static self) -> FormGated {
        let word = |text: &'static str| {
            let rest = text.strip_prefix('!');
            FormWord { choices: choices(rest.unwrap_or(text)), is_absent: rest.is_some() }
        };
        FormGated { words: self.words.split_whitespace().map(word).collect(), gates: self.gates }
    }
}

impl FormGated {
    /// The modifiers of the form that are written, if all are.
    fn matches(&self, written: &[&str]) -> Option<String> {
        let mut left = written;
        let mut found = String::new();
        for word in &self.words {
            if word.is_absent {
                if written.iter().any(|word_written| word.choices.contains(word_written)) {
                    return None;
                }
                continue;
            }
            let at = left.iter().position(|written| word.choices.contains(written))?;
            if left[at].starts_with('.') {
                found += left[at];
            }
            left = &left[at + 1..];
        }
        Some(found)
    }
}

/// The forms without a row that are written, modifiers and then operands as a [`FormGate`] has them: each with its
/// modifiers and its gates.
pub(crate) fn form_gates(opcode: &str, written: &[&str]) -> impl Iterator<Item = (String, &'static [Gate])> {
    let forms = FORM_GATES.of(opcode, FormGate::apart);
    forms.iter().filter_map(|form| Some((form.matches(written)?, form.gates)))
}

/// The gate of a vector of so many bits, or of an eviction priority that such a vector has.
pub(crate) static WIDE_VECTORS: &Gate = &table::WIDE_VECTORS;

/// Whether the modifiers make another instruction of the opcode, which has no rows.
pub(crate) fn is_elsewhere(opcode: &str, written: &[&str]) -> bool {
    let of = table::ELSEWHERE.iter().filter(|(names, _)| names.split(' ').any(|name| name == opcode));
    of.into_iter()
        .any(|(_, word)| written.iter().any(|written| written.split("::").next() == Some(word) || written == word))
}

/// The types that registers are declared with.
#[rustfmt::skip] // A table.
static REGISTERS: &[&str] = &[
    ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64",
    ".f16", ".f16x2", ".f32", ".f64", ".pred",
];

/// Whether a register holds a value of a type; `relaxed`: in its low bits.
fn accepts(ty: &str, register: &str, relaxed: bool) -> bool {
    let (Some(has), Some(is)) = (Type::of_register(register), Type::of(ty)) else {
        // A type that programs are not lowered with: `.tf32`.
        return register == ".b32";
    };
    let fits = has.bits == is.bits || relaxed && has.bits > is.bits;
    match is.kind {
        ScalarKind::Pred => has.kind == ScalarKind::Pred,
        _ if has.kind == ScalarKind::Pred => false,
        ScalarKind::Bits => fits,
        _ if is.components > 1 && is.is_integer() => matches!(register, ".b32" | ".f16x2"),
        ScalarKind::Unsigned | ScalarKind::Signed => fits && (has.is_integer() || register == ".f16x2"),
        ScalarKind::Float(_) if ty.starts_with(".bf") => has.is_untyped() && has.bits == is.bits,
        ScalarKind::Float(_) => fits && has.is_untyped() || register == ty,
    }
}

/// By type: the registers that hold it, and those that hold it in their low bits, once they were asked for.
static HOLDERS: LazyLock<HashMap<&'static str, [OnceLock<Vec<&'static str>>; 2]>> =
    LazyLock::new(|| crate::types::names().map(|ty| (ty, Default::default())).collect());

/// The types of registers that hold a value of a type (`n`: a number of 32 bits, `r`: one that is no constant, `e`: one whose
/// constants have eight bits, `i`: the number of a barrier, `t`: a number of threads, `u`: one that is not 0, `c`: one or a
/// predicate, `g`: an address).
pub(crate) fn holders(ty: &str, relaxed: bool) -> &'static [&'static str] {
    match ty {
        "n" | "r" | "e" | "i" | "t" | "u" => &[".b32", ".u32", ".s32"],
        "c" => &[".b32", ".u32", ".s32", ".pred"],
        "g" => &[".b32", ".u32", ".s32", ".b64", ".u64", ".s64"],
        _ => HOLDERS.get(ty).map_or(&[], |all| {
            let accepting = || REGISTERS.iter().copied().filter(|register| accepts(ty, register, relaxed)).collect();
            all[usize::from(relaxed)].get_or_init(accepting)
        }),
    }
}

/// A gate of a first version and target.
const fn since(major: u16, minor: u16, target: u32) -> Gate {
    Gate::since(Version(major, minor), target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> impl Iterator<Item = &'static Row> {
        table::ROWS.iter().chain(memory::ROWS)
    }

    /// Rows, gates of words and exceptions are of opcodes that there are.
    #[test]
    fn names_are_opcodes() {
        let of_rows = rows().map(|row| row.names).chain(table::WORDS.iter().map(|gate| gate.names));
        let of_forms = asynchronous::FORMS.iter().map(|form| form.names);
        for names in of_rows.chain(of_forms).chain(table::ELSEWHERE.iter().map(|(names, _)| *names)) {
            for name in names.split(' ') {
                assert!(crate::opcodes::find(name).is_some(), "`{name}`");
            }
        }
    }

    /// A word of a slot is a modifier or a set, a set is used, and an operand's type is written.
    #[test]
    fn rows_are_well_formed() {
        let words = rows().map(|row| row.modifiers).chain(table::WORDS.iter().map(|gate| gate.words));
        let words = words.chain(table::EXCLUSIVE.iter().flat_map(|(_, words, others)| [*words, *others]));
        let words = words.chain(table::WRITTEN_OUT.iter().map(|(_, words)| *words));
        let words: Vec<&str> = words.flat_map(|text| text.split([' ', '|', '{', '}', '!'])).collect();
        let is_set = |word: &str| table::SETS.iter().any(|(name, _)| *name == word);
        for word in words.iter().filter(|word| !word.is_empty()) {
            assert!(word.starts_with('.') || is_set(word), "`{word}`");
        }
        assert!(table::SETS.iter().all(|(name, _)| words.contains(name)), "a set that no row has");
        for row in rows() {
            let signature = row.signature();
            let types = signature.slots.iter().filter(|slot| slot.is_type && slot.required).count();
            for place in &signature.places {
                let is_known = match place.ty {
                    Typed::Written(index) => index < types,
                    Typed::Widened | Typed::Bits => types > 0,
                    Typed::Fixed(ty) => {
                        let is_value = matches!(place.kind, PlaceKind::Source | PlaceKind::Result);
                        !is_value || !holders(ty, false).is_empty()
                    }
                };
                assert!(is_known, "{} {} {}", row.names, row.modifiers, row.operands);
            }
        }
    }
}
