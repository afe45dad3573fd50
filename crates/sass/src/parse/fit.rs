//! From what is written to a word of one row.

mod value;

use super::operand::{What, Written};
use super::{Span, Target};
use crate::encode::EncodeError;
use crate::instruction::RZ;
use crate::lookup::arithmetic;
use crate::print::MINUS;
use crate::row::{Bits, Kind, MAX_OPERANDS, NUMBERED, OperandField, Row, Slot};

/// A word of a row, guard apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fitted {
    pub(super) word: u64,
    pub(super) reuse: u8,
    pub(super) target: Option<Target>,
}

/// Why a statement is none of a row's.
#[derive(Debug)]
pub(super) enum Misfit {
    /// The operands are of other kinds, from the given one on.
    Kinds { operand: usize },
    /// A slot has two modifiers.
    Twice { start: usize, end: usize },
    /// A slot has none and needs one.
    Missing { texts: &'static [&'static str] },
    /// An operand has a sign or a suffix that the row has not.
    Operand { operand: usize, message: String },
    /// A number cannot be read.
    Number { span: Span, message: String },
    /// Each part is one of the row's, but no word has all of them.
    Contradiction,
    /// It is the row's, but a value has no room.
    Unencodable { fitted: Fitted, error: EncodeError, operand: usize },
}

impl Misfit {
    /// How near it came.
    pub(super) fn rank(&self) -> usize {
        match self {
            Misfit::Kinds { operand } => *operand,
            Misfit::Number { .. } => 20,
            Misfit::Missing { .. } | Misfit::Operand { .. } => 30,
            Misfit::Contradiction => 40,
            Misfit::Twice { .. } => 50,
            Misfit::Unencodable { .. } => 60,
        }
    }
}

/// Whether a text begins with a short one, of which most differ in the second byte: a comparison without a call.
fn begins(text: &str, with: &str) -> bool {
    text.len() >= with.len() && text.bytes().zip(with.bytes()).all(|(one, other)| one == other)
}

/// The length of a slot's longest text at the start of `rest` that ends where a modifier does, with its number.
fn starts_with(slot: &Slot, rest: &str) -> Option<(usize, Values)> {
    let ends = |length: usize| matches!(rest.as_bytes().get(length), None | Some(b'.'));
    let texts = slot.texts.iter().enumerate();
    let fitting = texts.filter(|(_, text)| !text.is_empty() && begins(rest, text) && ends(text.len()));
    let longest = fitting.max_by_key(|(_, text)| text.len());
    if let Some((value, text)) = longest {
        return Some((text.len(), Values::of(slot, text, value)));
    }
    if slot.numbered.is_empty() || !rest.starts_with(slot.numbered) {
        return None;
    }
    let digits = rest[slot.numbered.len()..].bytes().take_while(u8::is_ascii_digit).count();
    let length = slot.numbered.len() + digits;
    let value: u64 = rest.get(slot.numbered.len()..length)?.parse().ok()?;
    let named = slot.texts.get(value as usize).is_some_and(|text| *text != NUMBERED);
    (ends(length) && !named && value >> slot.bits.width() == 0).then_some((length, Values::One(value)))
}

/// The length of a modifier at the start of `rest` that a row has.
pub(super) fn known_modifier(row: &Row, rest: &str) -> Option<usize> {
    let suffixes = row.operands.iter().filter_map(|field| field.suffix.as_ref()).filter(|slot| slot.name == "CC");
    let known = row.modifiers.iter().chain(suffixes).filter_map(|slot| starts_with(slot, rest).map(|found| found.0));
    known.max().or_else(|| is_nearest(row, rest).then_some(3))
}

/// `.RN`, which is read and never printed.
fn is_nearest(row: &Row, rest: &str) -> bool {
    let rounds = row.modifiers.iter().any(|slot| slot.name == "rnd" && slot.texts.contains(&".RM"));
    rounds && rest.starts_with(".RN") && matches!(rest.as_bytes().get(3), None | Some(b'.'))
}

/// The values that a field can have.
#[derive(Clone, Copy, Debug)]
enum Values {
    One(u64),
    Some(u64),
}

impl Values {
    /// Those with a slot's text, of which `value` is one.
    fn of(slot: &Slot, text: &str, value: usize) -> Values {
        if slot.texts.len() > 64 {
            return Values::One(value as u64);
        }
        let same = slot.texts.iter().enumerate().filter(|(_, other)| other.len() == text.len() && begins(other, text));
        Values::Some(same.fold(0, |set, (value, _)| set | 1 << value))
    }
    /// Those with no text.
    fn silent(slot: &Slot) -> Option<Values> {
        (slot.silent != 0).then_some(Values::Some(slot.silent))
    }
    fn iter(self) -> impl Iterator<Item = u64> {
        let (first, mut set) = match self {
            Values::One(value) => (Some(value), 0),
            Values::Some(set) => (None, set),
        };
        let lowest = move || {
            let value = (set != 0).then_some(u64::from(set.trailing_zeros()));
            set &= set.wrapping_sub(1);
            value
        };
        first.into_iter().chain(core::iter::from_fn(lowest))
    }
}

const MAX_CONSTRAINTS: usize = 12 + 3 * MAX_OPERANDS;

/// What is known of the word.
struct Fit<'a> {
    text: &'a str,
    row: &'static Row,
    word: u64,
    known: u64,
    constraints: [(Bits, Values); MAX_CONSTRAINTS],
    count: usize,
    reuse: u8,
    target: Option<Target>,
    unencodable: Option<(EncodeError, usize)>,
    /// The factors' signs that no field of their own holds.
    product_sign: bool,
}

fn piece(text: &str, (start, end): Span) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// The written operand of each field; none where it is left out.
fn align(row: &Row, text: &str, written: &[Written]) -> Result<[Option<usize>; MAX_OPERANDS], Misfit> {
    let mut aligned = [None; MAX_OPERANDS];
    let mut next = 0;
    for (index, field) in row.operands.iter().enumerate() {
        if written.get(next).is_some_and(|operand| is_kind(field, text, operand)) {
            aligned[index] = Some(next);
            next += 1;
        } else if !may_be_left_out(row, index, field) {
            return Err(Misfit::Kinds { operand: next });
        }
    }
    if next < written.len() { Err(Misfit::Kinds { operand: next }) } else { Ok(aligned) }
}

fn may_be_left_out(row: &Row, index: usize, field: &OperandField) -> bool {
    field.omitted.is_some()
        || matches!(&field.kind, Kind::Named(slot) if Values::silent(slot).is_some())
        || is_destination(row, index, field)
}

/// Whether the last field is the destination's again.
fn is_destination(row: &Row, index: usize, field: &OperandField) -> bool {
    index > 0 && index + 1 == row.operands.len() && row.operands[0].kind == field.kind
}

fn is_kind(field: &OperandField, text: &str, written: &Written) -> bool {
    match (&field.kind, written.what) {
        (Kind::Register(_) | Kind::SwapRegister { .. }, What::Register(_))
        | (Kind::RegisterPlus { .. }, What::Register(_) | What::RegisterPlus { .. })
        | (Kind::Predicate(_) | Kind::Inverted(_), What::Predicate(_))
        | (Kind::Constant { .. }, What::Constant { .. })
        | (Kind::ConstantAt { .. }, What::ConstantAt { .. } | What::Constant { .. })
        | (Kind::Set(_), What::Set(_)) => true,
        (Kind::Zero, What::Register(number)) => number == RZ,
        (Kind::Memory { space, .. }, What::Memory { attribute, .. }) => (*space == "a") == attribute,
        (Kind::Named(slot), What::Word(span)) => {
            let name = piece(text, span);
            starts_with(slot, name).is_some_and(|found| found.0 == name.len())
        }
        (Kind::Scoreboard(_), What::Word(span)) => piece(text, span).starts_with("SB"),
        (Kind::Signs(_), What::Word(span)) => piece(text, span).bytes().all(|byte| matches!(byte, b'P' | b'N' | b'Z')),
        (Kind::Relative(_), What::Word(_)) => true,
        (Kind::Integer { .. } | Kind::Float { .. }, What::Word(span)) => !piece(text, span).starts_with('`'),
        _ => false,
    }
}

/// The word of a row that is written so.
pub(super) fn fit(row: &'static Row, text: &str, modifiers: Span, written: &[Written]) -> Result<Fitted, Misfit> {
    let fields = align(row, text, written)?;
    let mut fit = Fit {
        text,
        row,
        word: row.bits,
        known: row.mask,
        constraints: [(Bits::new(0, 0), Values::One(0)); MAX_CONSTRAINTS],
        count: 0,
        reuse: 0,
        target: None,
        unencodable: None,
        product_sign: false,
    };
    let cc = fit.modifiers(modifiers)?;
    fit.signs(written, &fields)?;
    fit.values(written, &fields, cc)?;
    if !fit.solve(0) || row.is_refused(fit.word) {
        return Err(Misfit::Contradiction);
    }
    let fitted = Fitted { word: fit.word, reuse: fit.reuse, target: fit.target };
    match fit.unencodable {
        None => Ok(fitted),
        Some((error, operand)) => Err(Misfit::Unencodable { fitted, error, operand }),
    }
}

impl Fit<'_> {
    fn constrain(&mut self, bits: Bits, values: Values) {
        if let Some(constraint) = self.constraints.get_mut(self.count) {
            *constraint = (bits, values);
            self.count += 1;
        }
    }

    /// Tries the values of the constraints from one on.
    fn solve(&mut self, from: usize) -> bool {
        if from == self.count {
            return true;
        }
        let (bits, values) = self.constraints[from];
        let (word, known, mask) = (self.word, self.known, bits.mask());
        for value in values.iter() {
            let put = bits.put(value);
            if (word ^ put) & mask & known == 0 {
                (self.word, self.known) = (word | put, known | mask);
                if self.solve(from + 1) {
                    return true;
                }
                (self.word, self.known) = (word, known);
            }
        }
        false
    }

    fn piece(&self, span: Span) -> &str {
        piece(self.text, span)
    }

    /// Assigns the modifiers to the row's slots. The result says whether `.CC` is among them.
    fn modifiers(&mut self, (start, end): Span) -> Result<bool, Misfit> {
        let text = self.text.get(start..end).unwrap_or_default();
        let mut given = [false; 12];
        let (mut at, mut cc) = (0, false);
        while at < text.len() {
            let rest = &text[at..];
            let twice = |length: usize| Misfit::Twice { start: start + at, end: start + at + length };
            let slots = self.row.modifiers.iter().enumerate();
            let found = slots.clone().filter(|(index, _)| !given[*index]);
            let found = found.filter_map(|(index, slot)| starts_with(slot, rest).map(|(n, values)| (n, index, values)));
            // Of equally long ones the first.
            let found = found.reduce(|best, other| if other.0 > best.0 { other } else { best });
            if let Some((length, index, values)) = found {
                given[index] = true;
                let bits = self.row.modifiers[index].bits;
                self.constrain(bits, values);
                at += length;
            } else if is_nearest(self.row, rest) {
                let index = slots.clone().find(|(_, slot)| slot.name == "rnd").map_or(0, |(index, _)| index);
                if core::mem::replace(&mut given[index], true) {
                    return Err(twice(3));
                }
                self.constrain(self.row.modifiers[index].bits, Values::One(0));
                at += 3;
            } else {
                let length = 1 + rest[1..].find('.').unwrap_or(rest.len() - 1);
                let is_cc = &rest[..length] == ".CC";
                if known_modifier(self.row, rest).is_none() {
                    return Err(Misfit::Missing { texts: &[] });
                }
                if !is_cc || cc {
                    return Err(twice(length));
                }
                cc = true;
                at += length;
            }
        }
        for (index, slot) in self.row.modifiers.iter().enumerate() {
            if !given[index] {
                let values = Values::silent(slot).ok_or(Misfit::Missing { texts: slot.texts })?;
                self.constrain(slot.bits, values);
            }
        }
        Ok(cc)
    }

    /// The signs of operands, `|…|` among them.
    fn signs(&mut self, written: &[Written], fields: &[Option<usize>; MAX_OPERANDS]) -> Result<(), Misfit> {
        let row = self.row;
        let product = arithmetic(row)
            .is_some_and(|arithmetic| arithmetic.name.starts_with("FFMA") || arithmetic.name.starts_with("FMUL"));
        for (index, field) in row.operands.iter().enumerate() {
            let Some(operand) = fields[index] else { continue };
            let Written { mut sign, absolute, what, .. } = written[operand];
            if let (Some(slot), What::Word(span)) = (&field.sign, what)
                && slot.name == MINUS
                && self.piece(span).starts_with('-')
            {
                sign = "-";
            }
            let refused = |message: &str| Misfit::Operand { operand, message: message.to_owned() };
            match (field.absolute, absolute) {
                (Some(bit), _) => self.constrain(bit, Values::One(u64::from(absolute))),
                (None, true) => return Err(refused("this source has no absolute value")),
                (None, false) => {}
            }
            let negative = sign == "-";
            match &field.sign {
                _ if product && matches!(index, 1 | 2) => match sign {
                    "" | "-" => self.product_sign ^= negative,
                    _ => return Err(refused("this operand has no such sign")),
                },
                Some(slot) => {
                    let Some(value) = slot.texts.iter().position(|text| *text == sign) else {
                        return Err(refused("this operand has no such sign"));
                    };
                    self.constrain(slot.bits, Values::of(slot, sign, value));
                }
                None if sign.is_empty() => {}
                None if index == 0 => return Err(refused("a destination has no sign")),
                None => return Err(refused("this operand has no sign")),
            }
        }
        if product {
            let signed = row.operands[1..].iter().take(2).find_map(|field| field.sign);
            // Without a field the immediate's own sign takes it.
            if let Some(slot) = signed {
                self.constrain(slot.bits, Values::One(u64::from(self.product_sign)));
            }
        }
        Ok(())
    }

    fn values(&mut self, written: &[Written], fields: &[Option<usize>; MAX_OPERANDS], cc: bool) -> Result<(), Misfit> {
        let mut cc = cc;
        for (index, field) in self.row.operands.iter().enumerate() {
            let Some(operand) = fields[index] else {
                self.left_out(field);
                continue;
            };
            let written = written[operand];
            let mut suffix = self.text.get(written.suffix.0..written.suffix.1).unwrap_or_default();
            match &field.suffix {
                Some(slot) => {
                    if slot.name == "CC" && core::mem::take(&mut cc) {
                        if !suffix.is_empty() {
                            let (start, end) = written.suffix;
                            return Err(Misfit::Twice { start, end });
                        }
                        suffix = ".CC";
                    }
                    let value = slot.texts.iter().position(|text| *text == suffix);
                    let Some(value) = value else {
                        return Err(Misfit::Operand {
                            operand,
                            message: format!("`{suffix}` is nothing of this operand"),
                        });
                    };
                    self.constrain(slot.bits, Values::of(slot, slot.texts[value], value));
                }
                None if suffix.is_empty() => {}
                None => {
                    return Err(Misfit::Operand { operand, message: format!("`{suffix}` is nothing of this operand") });
                }
            }
            if written.reuse && field.reuse == 0 {
                let message = "this operand is not kept for reuse: a source in a register may be".to_owned();
                return Err(Misfit::Operand { operand, message });
            }
            self.reuse |= if written.reuse { field.reuse } else { 0 };
            self.value(field, operand, &written)?;
        }
        Ok(())
    }

    /// The field of an operand that is not written.
    fn left_out(&mut self, field: &OperandField) {
        match (&field.kind, field.omitted) {
            (Kind::Named(slot), _) => {
                if let Some(values) = Values::silent(slot) {
                    self.constrain(slot.bits, values);
                }
            }
            (
                Kind::Register(bits)
                | Kind::Predicate(bits)
                | Kind::Inverted(bits)
                | Kind::Set(bits)
                | Kind::Integer { bits, .. },
                Some(value),
            ) => {
                self.constrain(*bits, Values::One(value));
            }
            _ => {}
        }
        if let Some(slot) = field.sign.as_ref().or(field.suffix.as_ref())
            && let Some(values) = Values::silent(slot)
        {
            self.constrain(slot.bits, values);
        }
    }

    fn refuse(&mut self, operand: usize, error: EncodeError) {
        self.unencodable.get_or_insert((error, operand));
    }

    /// A register's number; two operands with one field must agree.
    fn register(&mut self, bits: Bits, number: u8, operand: usize) {
        let (mask, put) = (bits.mask(), bits.put(u64::from(number)));
        if (self.word ^ put) & mask & self.known != 0 {
            let error = EncodeError::AddendIsNotDestination {
                opcode: self.row.name,
                destination: bits.get(self.word) as u8,
                addend: number,
            };
            return self.refuse(operand, error);
        }
        self.word |= put;
        self.known |= mask;
    }

    fn offset(&mut self, bits: Bits, shift: u8, unsigned: bool, offset: i64, operand: usize) {
        let value = offset >> shift;
        let put = bits.put(value as u64);
        let back = if unsigned { bits.get(put) as i64 } else { bits.get_signed(put) };
        if back << shift != offset {
            self.refuse(operand, EncodeError::AddressOffset { offset });
        }
        self.word |= put;
        self.known |= bits.mask();
    }
}
