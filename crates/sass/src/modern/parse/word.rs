//! A statement as its word.

use roundonce_isa::Finding;

use super::super::decode::{CONTROL, Entry, decode, entries, kind_of};
use super::super::instruction::{Bank, Value};
use super::super::opcode::{Kind, Opcode, Place, Role, SHAPES, scatter};
use super::super::target::{Generation, Target};
use super::{Statement, Written, kind};
use crate::instruction::{Guard, RZ};
use crate::schedule::Slot;
use crate::{fields, rules};

impl Statement {
    pub(super) fn word(&self, text: &str, target: Target) -> Result<u128, Finding> {
        let entry = self.entry(target)?;
        let row = self.row;
        let mut word = u128::from(row.low) | u128::from(entry.form) << 9 | self.modifiers;
        word |= row.picked_by.map_or(0, |picks| 1 << picks);
        word |= u128::from(self.guard.predicate) << 12 | u128::from(self.guard.negated) << 15;
        word |= u128::from(self.destination) << 16;
        word |= u128::from(entry.needs_uniform_bit()) << 91;
        let mut reuse = 0;
        for (role, written) in row.roles.iter().zip(self.sources.iter().flatten()) {
            word |= self.operand(*role, written, entry, text, target)?;
            reuse |= if written.reuse { role.reuse_bit() } else { 0 };
        }
        if self.relu {
            let predicate = self.predicate.unwrap_or(Guard::ALWAYS);
            word |= u128::from(predicate.predicate) << 87 | u128::from(predicate.negated) << 90;
        }
        let scheduling = self.scheduling.reusing(reuse);
        let unsaid = match scheduling.over(Slot::CAUTIOUS) {
            slot if slot.reuse() == 0 => Slot::CAUTIOUS,
            _ => Slot::CAUTIOUS.with(fields::SCHEDULE, LONGEST_WITH_REUSE),
        };
        let slot = scheduling.over(unsaid);
        word |= u128::from(slot.bits()) << CONTROL;
        match decode(word, target) {
            Ok(_) => Ok(word),
            Err(error) => Err(rules::WORD.at(self.span, error.to_string())),
        }
    }

    /// The form that the operands' kinds fit.
    fn entry(&self, target: Target) -> Result<&'static Entry, Finding> {
        let row = self.row;
        let is_own = |entry: &&Entry| (entry.row().low, entry.row().picked_by) == (row.low, row.picked_by);
        let written = || self.sources.iter().flatten().map(|source| kind(source.value));
        let kinds = |form: u8| row.roles.iter().map(move |role| kind_of(row, form, *role));
        let mut own = entries(target.generation()).filter(is_own);
        own.clone().find(|entry| kinds(entry.form).eq(written())).ok_or_else(|| {
            let forms: Vec<String> = own.by_ref().map(|entry| names(kinds(entry.form))).collect();
            let message = format!(
                "{} on {target} does not take {} behind its destination: it takes {}",
                row.name,
                names(written()),
                forms.join(", ")
            );
            rules::OPERANDS.at(self.span, message)
        })
    }

    fn operand(
        &self,
        role: Role,
        written: &Written,
        entry: &Entry,
        text: &str,
        target: Target,
    ) -> Result<u128, Finding> {
        let row = self.row;
        let Some(shape) = SHAPES[usize::from(entry.form)] else { return Ok(0) };
        let place = row.place(role, shape);
        let ([absolute, negate], low) = match place {
            Place::A => (row.a_signs, 24),
            Place::Y => (row.y_signs, 64),
            Place::Wide => ([Some(62), Some(63)], 32),
        };
        let mut word = match written.value {
            Value::Register(number) => u128::from(number) << low,
            Value::Uniform(number) => {
                let zero = if target.generation() < Generation::Blackwell { 63 } else { RZ };
                u128::from(number.unwrap_or(zero)) << low
            }
            Value::Immediate(bits) => u128::from(bits) << 32,
            Value::Constant { bank, offset } => {
                let bank = match bank {
                    Bank::Number(number) => u128::from(number) << 54,
                    Bank::Uniform(number) => u128::from(number.unwrap_or(63)) << 32 | 1 << 91,
                };
                bank | u128::from(offset / 4) << 40
            }
        };
        for (is_set, index, sign) in [(written.negate, negate, "negated"), (written.absolute, absolute, "absolute")] {
            match index {
                _ if !is_set => {}
                Some(index) => word |= 1 << index,
                None => {
                    let message = format!("this operand of {} has no {sign} value", row.name);
                    return Err(rules::SYNTAX.at(written.span, message));
                }
            }
        }
        let mut given = 0_u32;
        for (start, end) in written.suffixes {
            word |= selected(row, role, place, written, text.get(start..end).unwrap_or_default(), &mut given, target)?;
        }
        Ok(word)
    }
}

/// The bits of what stands behind an operand.
fn selected(
    row: &Opcode,
    role: Role,
    place: Place,
    written: &Written,
    mut rest: &str,
    given: &mut u32,
    target: Target,
) -> Result<u128, Finding> {
    let immediate = matches!(written.value, Value::Immediate(_));
    let mut word = 0;
    while !rest.is_empty() {
        let all = row.selectors.iter().enumerate().filter(|(_, selector)| {
            (selector.role, selector.place) == (role, place)
                && selector.generations.holds(target.generation())
                && (selector.on_immediate || !immediate)
        });
        let texts = all.flat_map(|(index, selector)| {
            selector.texts.iter().enumerate().map(move |(value, text)| (index, selector, value, *text))
        });
        let fits = |text: &str| {
            let behind = rest.strip_prefix(text);
            !text.is_empty() && behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
        };
        let found = texts.clone().filter(|(.., text)| fits(text)).max_by_key(|(.., text)| text.len());
        let Some((index, selector, value, text)) = found else {
            let known: Vec<&str> = texts.map(|(.., text)| text).filter(|text| !text.is_empty()).collect();
            let message = if known.is_empty() {
                format!("`{rest}` is behind an operand of {} that takes nothing there", row.name)
            } else {
                format!("`{rest}` is behind an operand of {} that takes one of {}", row.name, known.join(" "))
            };
            return Err(rules::MODIFIER.at(written.span, message));
        };
        if *given >> index & 1 == 1 {
            return Err(rules::MODIFIER.at(written.span, format!("`{text}` is one too many")));
        }
        *given |= 1 << index;
        word |= scatter(value, selector.bits);
        rest = &rest[text.len()..];
    }
    Ok(word)
}

/// Stall and yield of the longest stall beside which operands are kept: 11 cycles.
const LONGEST_WITH_REUSE: u32 = 27;

fn names(kinds: impl Iterator<Item = Kind>) -> String {
    let name = |kind: Kind| match kind {
        Kind::Register => "register",
        Kind::Immediate => "immediate",
        Kind::Constant => "constant",
        Kind::Uniform => "uniform register",
    };
    format!("({})", kinds.map(name).collect::<Vec<_>>().join(", "))
}
