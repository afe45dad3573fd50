//! Types as the rules of operands look at them.

use rspirv::spirv::{Op, StorageClass};

use super::Checker;
use crate::module::Instruction;

/// What a scalar, or a vector's component, is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scalar {
    Bool,
    Int { width: u32, signed: bool },
    Float { width: u32 },
}

/// A type, as far as the rules tell types apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum View {
    Scalar(Scalar),
    Vector(Scalar, u32),
    Pointer {
        class: u32,
        to: u32,
    },
    /// A matrix, an aggregate, an image and its like.
    Other(Op),
    /// A type of an extension, whose rules are its own.
    Foreign,
}

impl View {
    /// The scalar and how many of it.
    pub(super) fn numbers(self) -> Option<(Scalar, u32)> {
        match self {
            View::Scalar(scalar) => Some((scalar, 1)),
            View::Vector(scalar, count) => Some((scalar, count)),
            _ => None,
        }
    }
    pub(super) fn ints(self) -> Option<(u32, u32)> {
        match self.numbers()? {
            (Scalar::Int { width, .. }, count) => Some((width, count)),
            _ => None,
        }
    }
    pub(super) fn floats(self) -> Option<(u32, u32)> {
        match self.numbers()? {
            (Scalar::Float { width }, count) => Some((width, count)),
            _ => None,
        }
    }
    pub(super) fn bools(self) -> Option<u32> {
        self.numbers().filter(|(scalar, _)| *scalar == Scalar::Bool).map(|(_, count)| count)
    }
    pub(super) fn is_scalar(self) -> bool {
        matches!(self, View::Scalar(_))
    }
    pub(super) fn is_vector(self) -> bool {
        matches!(self, View::Vector(..))
    }
}

impl Checker<'_> {
    /// The declaration of a type.
    pub(super) fn declared(&self, type_id: u32) -> Option<(Op, &Instruction)> {
        let declared = self.facts.instruction(self.module, type_id)?;
        Some((Op::from_u32(declared.opcode.into())?, declared))
    }

    fn scalar(&self, type_id: u32) -> Option<Scalar> {
        let (op, declared) = self.declared(type_id)?;
        let word = |index| self.module.operand_word(declared, index);
        match op {
            Op::TypeBool => Some(Scalar::Bool),
            Op::TypeInt => Some(Scalar::Int { width: word(1), signed: word(2) != 0 }),
            Op::TypeFloat => Some(Scalar::Float { width: word(1) }),
            _ => None,
        }
    }

    pub(super) fn view(&self, type_id: u32) -> View {
        if let Some(scalar) = self.scalar(type_id) {
            return View::Scalar(scalar);
        }
        let Some((op, declared)) = self.declared(type_id) else { return View::Foreign };
        let word = |index| self.module.operand_word(declared, index);
        match op {
            Op::TypeVector => self.scalar(word(1)).map_or(View::Foreign, |scalar| View::Vector(scalar, word(2))),
            Op::TypePointer => View::Pointer { class: word(1), to: word(2) },
            _ if (declared.opcode) < 400 => View::Other(op),
            _ => View::Foreign,
        }
    }

    /// The type of a value, looked at.
    pub(super) fn view_of(&self, value: u32) -> View {
        self.facts.type_of(value).map_or(View::Foreign, |type_id| self.view(type_id))
    }

    /// Whether a value is an integer with a sign.
    pub(super) fn is_signed(&self, value: u32) -> bool {
        matches!(self.view_of(value), View::Scalar(Scalar::Int { signed: true, .. }))
    }

    /// What a constant integer of 32 bits or fewer is; `None` of a specialisation constant.
    pub(super) fn constant(&self, id: u32) -> Option<u32> {
        let constant = self.facts.defined_by(self.module, id, Op::Constant)?;
        (constant.count == 4).then(|| self.module.operand_word(constant, 2))
    }

    /// Whether an id is a constant, of a specialisation too.
    pub(super) fn is_constant(&self, id: u32) -> bool {
        self.facts.definition(id).is_some_and(|at| (41..=52).contains(&at.opcode) || at.opcode == Op::Undef as u16)
    }
}

/// The name of a storage class.
pub(super) fn class_name(class: u32) -> String {
    StorageClass::from_u32(class).map_or_else(|| class.to_string(), |class| format!("{class:?}"))
}
