//! What a row of the table of 128-bit words is made of.

use roundonce_isa::Slot as ModifierSlot;

use super::target::{Generation, Generations};

/// One mnemonic: its bits, its modifiers, the forms of its operands. What it computes stands in `forms.rs`.
#[derive(Clone, Copy, Debug)]
pub struct Opcode {
    /// The mnemonic.
    pub name: &'static str,
    /// Bits 0 to 8 of the word.
    pub low: u16,
    /// The bit that picks it where it shares its other bits with the row before it.
    pub picked_by: Option<u8>,
    /// The operands, in the order in which they are written.
    pub roles: &'static [Role],
    /// The register beside Ra is in Y, where others have their only other source in the wide slot.
    pub addend_in_y: bool,
    /// The operand forms: bits 9 to 11, and the generations that have each.
    pub forms: &'static [(u8, Generations)],
    /// What an immediate is.
    pub number: Number,
    /// Its modifiers, in the order in which they are printed.
    pub modifiers: &'static [Modifier],
    /// The bits of `|Ra|` and `-Ra`.
    pub a_signs: [Option<u8>; 2],
    /// The bits of `|Y|` and `-Y`.
    pub y_signs: [Option<u8>; 2],
    /// What is printed behind an operand.
    pub selectors: &'static [Selector],
    /// Two bits of which one is zero, and where: up to two such pairs.
    pub exclusive: &'static [([u8; 2], Generations)],
    /// Ra can be kept for reuse.
    pub keeps_a: bool,
    /// Registers and guards are uniform.
    pub uniform: bool,
    /// Constants print `c[0x3] [0x160]`, with a blank.
    pub spaced_constants: bool,
}

/// What an operand is to the operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The first factor, or the first term of a sum.
    A,
    /// The second factor.
    B,
    /// The addend.
    C,
}

impl Role {
    /// Its bit in the reuse field.
    pub(super) const fn reuse_bit(self) -> u32 {
        match self {
            Role::A => 1,
            Role::B => 2,
            Role::C => 4,
        }
    }
}

/// Where an operand is in the word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// Bits 24 to 31.
    A,
    /// Bits 32 to 63: a register, an immediate, a constant or a uniform register.
    Wide,
    /// Bits 64 to 71.
    Y,
}

/// What the wide slot holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A register.
    Register,
    /// 32 bits.
    Immediate,
    /// A constant; from sm_75 on also one of a bank that a uniform register names.
    Constant,
    /// A uniform register.
    Uniform,
}

/// The formats of immediates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Number {
    /// An f32.
    F32,
    /// The upper half of an f64.
    F64,
    /// Two of 16 bits; the upper half is printed first.
    Half,
    /// An f16, in the lower half.
    LowHalf,
}

/// One modifier slot.
#[derive(Clone, Copy, Debug)]
pub struct Modifier {
    /// Its name, and its spellings of which some form says what they do.
    pub slot: ModifierSlot,
    /// Its bits, the lowest first.
    pub bits: &'static [u8],
    /// The text of each value; empty for the one that is not printed.
    pub texts: &'static [&'static str],
    /// Where it exists; elsewhere its bits mean nothing.
    pub generations: Generations,
}

/// What is printed behind an operand.
#[derive(Clone, Copy, Debug)]
pub struct Selector {
    /// Of this operand,
    pub role: Role,
    /// where it is here.
    pub place: Place,
    /// Its bits, the lowest first.
    pub bits: &'static [u8],
    /// The text of each value.
    pub texts: &'static [&'static str],
    /// Where it exists.
    pub generations: Generations,
    /// An immediate has it too.
    pub on_immediate: bool,
}

/// A form of operands: what bits 9 to 11 say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// What the wide slot holds.
    pub kind: Kind,
    /// The wide slot is the addend's, and Y the second factor's.
    pub wide_addend: bool,
}

/// The form of each value of bits 9 to 11.
#[rustfmt::skip] // One form a row.
pub const SHAPES: [Option<Shape>; 8] = [
    None,
    Some(Shape { kind: Kind::Register,  wide_addend: false }),
    Some(Shape { kind: Kind::Immediate, wide_addend: true  }),
    Some(Shape { kind: Kind::Constant,  wide_addend: true  }),
    Some(Shape { kind: Kind::Immediate, wide_addend: false }),
    Some(Shape { kind: Kind::Constant,  wide_addend: false }),
    Some(Shape { kind: Kind::Uniform,   wide_addend: false }),
    Some(Shape { kind: Kind::Uniform,   wide_addend: true  }),
];

/// The value of some bits of a word, the lowest first.
#[inline]
pub(super) fn gather(word: u128, bits: &[u8]) -> usize {
    bits.iter().rev().fold(0, |value, bit| value << 1 | (word >> bit & 1) as usize)
}

/// The bits of a word with a value in them.
pub(super) fn scatter(value: usize, bits: &[u8]) -> u128 {
    bits.iter().enumerate().fold(0, |word, (index, bit)| word | u128::from(value >> index & 1 == 1) << bit)
}

/// Whether a bit is set.
#[inline]
pub(super) fn bit(word: u128, index: u8) -> bool {
    word >> index & 1 == 1
}

impl Modifier {
    /// The value of a text: one that is never printed names the value without a text.
    pub(super) fn value(&self, text: &str) -> Option<usize> {
        let silent = || self.slot.choices.iter().any(|choice| choice.text == text).then(|| self.default_value());
        self.texts.iter().position(|known| !text.is_empty() && *known == text).or_else(silent)
    }
    /// The value without a text.
    pub(super) fn default_value(&self) -> usize {
        self.texts.iter().position(|text| text.is_empty()).unwrap_or(0)
    }
}

impl Opcode {
    /// Its modifiers on a generation.
    #[inline]
    pub(super) fn modifiers_on(
        &self,
        generation: Generation,
    ) -> impl Iterator<Item = &'static Modifier> + Clone + use<> {
        self.modifiers.iter().filter(move |modifier| modifier.generations.holds(generation))
    }
    /// Where an operand is in a form.
    #[inline]
    pub(super) fn place(&self, role: Role, shape: Shape) -> Place {
        match role {
            Role::A => Place::A,
            _ if self.roles.len() == 2 => {
                if self.addend_in_y && shape.kind == Kind::Register {
                    Place::Y
                } else {
                    Place::Wide
                }
            }
            Role::B if shape.wide_addend => Place::Y,
            Role::C if !shape.wide_addend => Place::Y,
            Role::B | Role::C => Place::Wide,
        }
    }
    /// The generations on which it has some form.
    pub fn generations(&self) -> impl Iterator<Item = Generation> + use<'_> {
        let has = |generation: &Generation| self.forms.iter().any(|(_, on)| on.holds(*generation));
        Generation::ALL.into_iter().filter(has)
    }
}
