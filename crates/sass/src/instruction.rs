//! One decoded instruction: what text and binary both become.

use roundonce_arith::OperandIndex as Side;
use roundonce_isa::Recipe;

use crate::lookup::{ENTRIES, Entry};
use crate::opcode::{Lowering, MAX_MODIFIERS, MAX_OPERANDS, Modifier, Opcode, OperandForm, OperandKind};

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
    pub const fn kind(self) -> OperandKind {
        match self {
            Value::Register(_) => OperandKind::Register,
            Value::Constant { .. } => OperandKind::Constant,
            Value::Immediate(_) => OperandKind::Immediate,
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

/// A decoded instruction. It is small, holds no text and allocates nothing.
///
/// ```
/// let instruction = roundonce_sass::decode(0x59bc_0180_0027_0100).unwrap();
/// assert_eq!((instruction.opcode().name, instruction.operand_form().name), ("FFMA", "register"));
/// assert_eq!(instruction.modifier(".rnd"), Some(".RZ"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// The index of its operand form in [`ENTRIES`].
    pub(crate) entry: u16,
    /// Where it runs.
    pub guard: Guard,
    /// The value of each modifier slot of the opcode.
    pub(crate) modifiers: [u8; MAX_MODIFIERS],
    pub(crate) operands: [Operand; MAX_OPERANDS],
    /// The bits of the word that mean nothing in this form ([`OperandForm::ignored`]), kept.
    pub ignored_bits: u64,
}

impl Instruction {
    /// An instruction of the operand form with that index, with nothing set.
    pub(crate) const fn blank(entry: u16) -> Instruction {
        Instruction {
            entry,
            guard: Guard::ALWAYS,
            modifiers: [0; MAX_MODIFIERS],
            operands: [Operand::plain(Value::Register(RZ)); MAX_OPERANDS],
            ignored_bits: 0,
        }
    }

    #[inline]
    pub(crate) fn entry(&self) -> &'static Entry {
        &ENTRIES[usize::from(self.entry)]
    }
    /// Its row in the table.
    #[inline]
    pub fn opcode(&self) -> &'static Opcode {
        self.entry().opcode()
    }
    /// Its operand form.
    #[inline]
    pub fn operand_form(&self) -> &'static OperandForm {
        self.entry().form
    }
    /// The operands, the destination first.
    #[inline]
    pub fn operands(&self) -> &[Operand] {
        &self.operands[..self.operand_form().operands.len()]
    }
    /// The operands, the destination first.
    #[inline]
    pub fn operands_mut(&mut self) -> &mut [Operand] {
        let count = self.operand_form().operands.len();
        &mut self.operands[..count]
    }
    /// The register written; [`RZ`] where nothing is.
    pub fn destination(&self) -> u8 {
        match self.operands[0].value {
            Value::Register(number) => number,
            // No form has another destination.
            Value::Constant { .. } | Value::Immediate(_) => RZ,
        }
    }

    /// The opcode's modifier slots with the value of each.
    #[inline]
    pub(crate) fn slots(&self) -> impl Iterator<Item = (&'static Modifier, u8)> + use<> {
        self.opcode().modifiers.iter().zip(self.modifiers)
    }

    /// The modifier in a slot of the opcode (`.fmz`, `.rnd`, `.SAT`, `.CC`), as it is printed: `None` where there is
    /// none, and for `.RN`, which is what none means.
    pub fn modifier(&self, slot_name: &str) -> Option<&'static str> {
        let (modifier, value) = self.slots().find(|(modifier, _)| modifier.slot.name == slot_name)?;
        modifier.text(value)
    }
    /// The modifier that the encoding has room for and that means nothing, if there is one: `.INVALIDFMZ3`.
    pub fn illegal_modifier(&self) -> Option<&'static str> {
        self.slots().find_map(|(modifier, value)| modifier.illegal_text(value))
    }

    /// What it computes, negations included: `None` for a move, and where a modifier means nothing.
    ///
    /// ```
    /// use roundonce_arith::Rounding;
    /// let recipe = roundonce_sass::decode(0x59bc_0180_0027_0100).unwrap().recipe().unwrap();
    /// assert_eq!(recipe.operation.rounding, Rounding::TowardZero);
    /// assert!(recipe.operation.flush && recipe.operation.saturates());
    /// ```
    pub fn recipe(&self) -> Option<Recipe> {
        let mut recipe = match self.opcode().lowering {
            Lowering::Arithmetic(recipe) => recipe,
            Lowering::Move => return None,
        };
        if self.illegal_modifier().is_some() {
            return None;
        }
        for (modifier, value) in self.slots() {
            if let Some(choice) = modifier.choice(value) {
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
