//! One instruction, taken apart: what text and binary both become.

use roundonce_arith::Operand as Side;
use roundonce_isa::{Part, Recipe, Slot};

use crate::shape::{Kind, MAX_OPERANDS, MAX_SLOTS, SHAPES, Shape};

/// The register that reads as zero and swallows what is written: `RZ`.
pub const RZ: u8 = 255;
/// The predicate that always holds: `PT`.
pub const PT: u8 = 7;

/// `@P0`, `@!P0`: the instruction runs in the lanes where the predicate holds, or does not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// 0 to 6, or [`PT`].
    pub predicate: u8,
    /// `!`.
    pub negated: bool,
}

impl Guard {
    /// No guard: `@PT`, which is not written.
    pub const ALWAYS: Guard = Guard { predicate: PT, negated: false };
}

/// What an operand names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A register's number; [`RZ`] is 255.
    Register(u8),
    /// `c[bank][offset]`, the offset in bytes, modulo 64 KiB.
    Constant {
        /// 0 to 31.
        bank: u8,
        /// In bytes, a multiple of 4. Offsets from 0x8000 print negative.
        offset: u16,
    },
    /// The bits of an f32.
    Immediate(u32),
}

impl Value {
    /// Its kind.
    pub const fn kind(self) -> Kind {
        match self {
            Value::Register(_) => Kind::Register,
            Value::Constant { .. } => Kind::Constant,
            Value::Immediate(_) => Kind::Immediate,
        }
    }
}

/// One operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// What it names.
    pub value: Value,
    /// `-R1`, `-c[0x3][0x140]`, `1.5.NEG`: the value with its sign flipped.
    pub negate: bool,
    /// `.reuse`: the register stays in the operand cache. It belongs to the control word and changes no bit of a
    /// result.
    pub reuse: bool,
}

impl Operand {
    /// A value as it is.
    pub const fn plain(value: Value) -> Operand {
        Operand { value, negate: false, reuse: false }
    }
}

/// An instruction taken apart. It is small, holds no text and allocates nothing.
///
/// ```
/// let instruction = roundonce_sass::decode(0x59bc_0180_0027_0100).unwrap();
/// assert_eq!(instruction.shape().name, "register");
/// assert_eq!(instruction.modifier(".rnd"), Some(".RZ"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    pub(crate) shape: u8,
    /// Where it runs.
    pub guard: Guard,
    /// The value of each modifier slot of the shape.
    pub(crate) modifiers: [u8; MAX_SLOTS],
    pub(crate) operands: [Operand; MAX_OPERANDS],
    /// The bits of the word that mean nothing in this form (`Shape::ignored`), kept.
    pub ignored_bits: u64,
}

impl Instruction {
    /// An instruction of the shape with that index, with nothing set.
    pub(crate) const fn blank(shape: u8) -> Instruction {
        Instruction {
            shape,
            guard: Guard::ALWAYS,
            modifiers: [0; MAX_SLOTS],
            operands: [Operand::plain(Value::Register(RZ)); MAX_OPERANDS],
            ignored_bits: 0,
        }
    }

    /// Its operand form.
    #[inline]
    pub fn shape(&self) -> &'static Shape {
        &SHAPES[usize::from(self.shape)]
    }
    /// The operands, the destination first.
    #[inline]
    pub fn operands(&self) -> &[Operand] {
        &self.operands[..self.shape().places.len()]
    }
    /// The operands, the destination first.
    #[inline]
    pub fn operands_mut(&mut self) -> &mut [Operand] {
        let count = self.shape().places.len();
        &mut self.operands[..count]
    }
    /// The register written; [`RZ`] where nothing is.
    pub fn destination(&self) -> u8 {
        match self.operands[0].value {
            Value::Register(number) => number,
            // No shape has another destination.
            Value::Constant { .. } | Value::Immediate(_) => RZ,
        }
    }

    /// The row's modifier slots with the value of each and its place in the word.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (&'static Slot, u8, usize)> {
        let parts = self.shape().form.map_or(&[][..], |form| form.parts);
        let modifiers = self.modifiers;
        parts.iter().enumerate().filter_map(move |(index, part)| match part {
            Part::Slot(slot) => Some((slot, modifiers[index], index)),
            Part::Fixed(_) => None,
        })
    }

    /// The modifier in a slot of the row (`.fmz`, `.rnd`, `.SAT`, `.CC`), as it is printed: `None` where none stands,
    /// and for `.RN`, which is what none means.
    pub fn modifier(&self, slot_name: &str) -> Option<&'static str> {
        let (slot, value, index) = self.slots().find(|(slot, ..)| slot.name == slot_name)?;
        self.modifier_text(slot, value, index)
    }
    #[inline]
    pub(crate) fn modifier_text(&self, slot: &'static Slot, value: u8, index: usize) -> Option<&'static str> {
        if value == 0 {
            return None;
        }
        let field = &self.shape().modifiers[index];
        match slot.choices.get(usize::from(value - field.first)) {
            Some(choice) => Some(choice.text),
            None => field.illegal.filter(|(illegal, _)| *illegal == value).map(|(_, text)| text),
        }
    }
    /// The modifier that the encoding has room for and that means nothing, if one stands there: `.INVALIDFMZ3`.
    pub fn illegal_modifier(&self) -> Option<&'static str> {
        let fields = self.shape().modifiers.iter();
        fields
            .zip(self.modifiers)
            .find_map(|(field, value)| field.illegal.filter(|(illegal, _)| *illegal == value))
            .map(|(_, text)| text)
    }

    /// What it computes, negations included: `None` for a move, and where a modifier means nothing.
    ///
    /// ```
    /// use roundonce_arith::Rounding;
    /// let recipe = roundonce_sass::decode(0x59bc_0180_0027_0100).unwrap().recipe().unwrap();
    /// assert_eq!(recipe.operation.rounding, Rounding::TowardZero);
    /// assert!(recipe.operation.flush && recipe.operation.saturate);
    /// ```
    pub fn recipe(&self) -> Option<Recipe> {
        let form = self.shape().form?;
        if self.illegal_modifier().is_some() {
            return None;
        }
        let mut recipe = form.recipe;
        for (slot, value, index) in self.slots() {
            let first = self.shape().modifiers[index].first;
            if let Some(choice) = value.checked_sub(first).and_then(|at| slot.choices.get(usize::from(at))) {
                recipe = recipe.with(choice.effect);
            }
        }
        // The sources follow the destination in the order of the operation's operands.
        for (side, operand) in recipe.operation.op.operands().iter().zip(&self.operands()[1..]) {
            match side {
                Side::C => recipe.operation.negate_addend ^= operand.negate,
                Side::A | Side::B => recipe.operation.negate_product ^= operand.negate,
            }
        }
        Some(recipe)
    }
}
