//! Addresses: in brackets, of variables and of the elements of arrays.

use super::names::{is_special, special_lanes, special_widths};
use super::operands::{Immediate, Wanted};
use super::places::vector_without_component;
use super::scope::{Entity, Holds};
use super::{Check, INSTRUCTIONS};
use crate::ast::{Binary, Instruction, Module, Operand, OperandKind, Space};
use crate::literal::{Constant, evaluate};
use crate::opcodes::space_name;
use crate::signatures::holders;
use crate::types::Type;
use roundonce_isa::Finding;

/// The registers of an address of 64 bits.
static WIDE_ADDRESSES: &[&str] = &[".b64", ".u64", ".s64"];

/// What an address is.
const ADDRESSES: &str = "an address is a register or a variable, with an integer added: `[a+4]`";

/// The bits of the address of a variable in `.global`, where those of a module have 64.
const NARROW: u32 = 32;

fn is_integer(constant: Constant) -> bool {
    matches!(constant, Constant::Signed(_) | Constant::Unsigned(_))
}

/// A name, with the number that is added to it, if any.
pub(super) fn name_in_sum<'m, 'a>(
    module: &'m Module<'a>,
    operand: &'m Operand<'a>,
) -> Option<(&'a str, Option<&'m Operand<'a>>)> {
    let (name, offset) = match operand.kind {
        OperandKind::Binary(Binary::Add, items) => match module.operands(items) {
            [first, offset] => (first.name()?, Some(offset)),
            _ => return None,
        },
        _ => (operand.name()?, None),
    };
    Some((name, offset)).filter(|(name, _)| *name != "WARP_SZ")
}

/// The name of what an element is of, and its index.
fn element_of<'m, 'a>(module: &'m Module<'a>, operand: &Operand<'a>) -> Option<(&'a str, &'m Operand<'a>)> {
    let OperandKind::Index(items) = operand.kind else { return None };
    let [array, index] = module.operands(items) else { return None };
    Some((array.name()?, index))
}

impl<'a> Check<'_, 'a> {
    /// Whether an operand is the address of a variable or a function, with a number added or of an element.
    pub(super) fn is_symbol(&self, operand: &Operand<'a>) -> bool {
        let name = name_in_sum(self.module, operand)
            .map(|(name, _)| name)
            .or(element_of(self.module, operand).map(|(name, _)| name));
        matches!(name.and_then(|name| self.scopes.find(name)), Some(Entity::Variable(..) | Entity::Function))
    }

    /// The address of a variable, of an element of it, or of a function, as a number of a type.
    pub(super) fn symbol(&mut self, operand: &Operand<'a>, written: Option<&str>, wanted: &Wanted, ty: &str) {
        self.declared_in(operand);
        let (name, offset) = match (name_in_sum(self.module, operand), element_of(self.module, operand)) {
            (Some((name, offset)), _) => (name, offset),
            (None, Some((name, index))) => {
                self.element(operand, (name, index), wanted);
                (name, None)
            }
            (None, None) => return,
        };
        let is_sum = offset.is_some();
        self.integer_offset(offset, wanted);
        match self.scopes.find(name) {
            Some(Entity::Function) if written.is_some() || is_sum || !matches!(operand.kind, OperandKind::Name(_)) => {
                let help = "the address of a function is a number alone, in no state space";
                self.refuse("PTX0030", operand, wanted, &format!("the function `{name}`"), help);
            }
            // As ptxas 12.9 and 13.5 have it: cut to 16 bits they take it, and with a number added.
            Some(Entity::Variable(Space::Global, ..))
                if self.address_size > NARROW && !is_sum && Type::of(ty).is_some_and(|ty| ty.bits == NARROW) =>
            {
                let found = format!("the address of `{name}`, of {} bits", self.address_size);
                self.refuse("PTX0027", operand, wanted, &found, "move it as a `.b64`");
            }
            _ => self.in_space(operand, Some(name), written, wanted),
        }
    }

    /// That what is added to an address is an integer.
    fn integer_offset(&mut self, offset: Option<&Operand<'a>>, wanted: &Wanted) {
        let Some(offset) = offset else { return };
        match evaluate(self.module, offset) {
            Ok(constant) if is_integer(constant) => {}
            Ok(_) => self.refuse("PTX0030", offset, wanted, "a floating constant in an address", "add an integer"),
            Err(finding) => self.report(finding),
        }
    }

    /// `a[4]`, `a[r+4]`: that there are elements, and the index is an integer.
    fn element(&mut self, operand: &Operand<'a>, (array, index): (&str, &Operand<'a>), wanted: &Wanted) {
        let is_array = match self.scopes.find(array) {
            Some(Entity::Variable(_, _, layout)) => layout.elements.is_some(),
            // Reported by itself.
            None | Some(Entity::Function) => true,
            Some(_) => false,
        };
        if !is_array {
            let found = format!("an element of `{array}`, no array");
            return self.refuse("PTX0030", operand, wanted, &found, "write its address: `[a]`, `[a+4]`");
        }
        if let Some((name, offset)) = name_in_sum(self.module, index) {
            self.integer_offset(offset, wanted);
            let is_number = match self.scopes.find(name) {
                Some(Entity::Register { ty, lanes: 1 }) => Type::of_register(ty).is_some_and(Type::is_integer),
                Some(entity) => matches!(entity, Entity::Variable(..)),
                // Undeclared, which is reported by itself, or a special register.
                None => special_lanes(name) == 1 && special_widths(name) != [1],
            };
            if !is_number {
                let found = format!("`{name}` as an index");
                self.refuse("PTX0030", index, wanted, &found, "an index is an integer, or a register of one");
            }
        } else {
            self.integer_offset(Some(index), wanted);
        }
    }

    /// That a variable lives in the state space that is written.
    fn in_space(&mut self, operand: &Operand<'a>, name: Option<&str>, written: Option<&str>, wanted: &Wanted) {
        let Some(Entity::Variable(space, ..)) = name.and_then(|name| self.scopes.find(name)) else { return };
        let lives = space.text();
        let (Some(lives), Some(written)) = (space_name(lives), written) else { return };
        if lives != written {
            let name = name.unwrap_or_default();
            let found = format!("`{name}`, which lives in `{lives}`, with `{written}`");
            self.refuse("PTX0030", operand, wanted, &found, &format!("write `{lives}`"));
        }
    }

    /// The name of an address, with nothing added: of what is in brackets, or of what an element is of.
    pub(super) fn address_name(&self, operand: &Operand<'a>) -> Option<&'a str> {
        let OperandKind::Address(items) = operand.kind else {
            return element_of(self.module, operand).map(|(name, _)| name);
        };
        name_in_sum(self.module, self.module.operands(items).first()?).map(|(name, _)| name)
    }

    /// `wide`: as many bits as `.address_size` says; `indexed`: an element of an array will do, without brackets.
    pub(super) fn address_place(
        &mut self,
        operand: &Operand<'a>,
        wanted: &Wanted,
        space: Option<&str>,
        (wide, indexed): (bool, bool),
    ) {
        self.declared_in(operand);
        let module = self.module;
        let wanted = &Wanted::plain(wanted.name, holders("g", false), Immediate::None, INSTRUCTIONS);
        if let Some(element) = element_of(self.module, operand).filter(|_| indexed) {
            self.element(operand, element, wanted);
        } else {
            let OperandKind::Address(items) = operand.kind else {
                return self.refuse(
                    "PTX0030",
                    operand,
                    wanted,
                    "an operand without brackets",
                    "write an address: `[a]`",
                );
            };
            let (found, help) = match module.operands(items) {
                [inner] => match (name_in_sum(self.module, inner), evaluate(module, inner), inner.kind) {
                    (Some((_, offset)), ..) => {
                        self.integer_offset(offset, wanted);
                        ("", "")
                    }
                    (None, Ok(constant), _) if is_integer(constant) && space == Some(".local") => ("", ""),
                    (None, Ok(_), _) => ("a constant address", "move the address into a register first"),
                    (None, Err(_), OperandKind::Index(_)) => (
                        "an element of an array as an address",
                        "write the element without the brackets around it, `s[2]`, or its offset in bytes, `[s+8]`",
                    ),
                    (None, Err(_), _) => ("no address in brackets", ADDRESSES),
                },
                [] => ("empty brackets", ADDRESSES),
                _ => ("an address of several parts", ADDRESSES),
            };
            if !found.is_empty() {
                return self.refuse("PTX0030", operand, wanted, found, help);
            }
        }
        let name = self.address_name(operand);
        self.in_space(operand, name, space, wanted);
        match name.and_then(|name| self.scopes.find(name)) {
            Some(Entity::Register { lanes: 2.., .. }) => {
                self.refuse("PTX0030", operand, wanted, "a vector as an address", "name a register of one number");
            }
            Some(Entity::Register { ty, .. }) => {
                let of = Type::of_register(ty);
                let found = format!("an address in a `{ty}` register");
                let is_narrow = of.is_some_and(|ty| ty.bits == 32) && self.address_size == 64;
                if of.is_none_or(|ty| !ty.is_integer()) {
                    self.refuse("PTX0027", operand, wanted, &found, "an address is an integer");
                } else if is_narrow && wide {
                    let wanted = &Wanted::plain(wanted.name, WIDE_ADDRESSES, Immediate::None, INSTRUCTIONS);
                    self.refuse(
                        "PTX0027",
                        operand,
                        wanted,
                        &found,
                        "with `.address_size 64` such an address has 64 bits",
                    );
                }
            }
            // As ptxas 12.9 and 13.5 have it.
            Some(Entity::Variable(lives @ (Space::Param | Space::Const(_)), ..)) if space.is_none() => {
                let (name, lives) = (name.unwrap_or_default(), lives.text());
                let found = format!("`{name}`, which lives in `{lives}`, without a state space");
                self.refuse(
                    "PTX0030",
                    operand,
                    wanted,
                    &found,
                    "without one a name is of a window of generic addresses",
                );
            }
            Some(Entity::Variable(_, _, layout)) if layout.is_image() => {
                let found = format!("the texture, sampler or surface `{}`", name.unwrap_or_default());
                self.refuse("PTX0030", operand, wanted, &found, "it is read by `tex` and `suld`, written by `sust`");
            }
            Some(Entity::Function | Entity::Label) => {
                let found = format!("`{}`, no variable", name.unwrap_or_default());
                self.refuse("PTX0030", operand, wanted, &found, "write a register or a variable");
            }
            None if name.is_some_and(|name| is_special(name) && special_lanes(name) > 1) => {
                let (found, help) = vector_without_component(name.unwrap_or_default());
                self.refuse("PTX0030", operand, wanted, &found, &help);
            }
            _ => {}
        }
    }

    /// That a parameter is in the part of `.param` that is named, and a function's argument not written, its result not read.
    pub(super) fn parameter_place(&mut self, instruction: &Instruction<'a>, operand: &Operand<'a>) {
        let Some(name) = self.address_name(operand) else { return };
        let Some(Entity::Variable(Space::Param, holds, _)) = self.scopes.find(name) else { return };
        let words = self.module.modifiers(instruction.modifiers);
        if self.in_kernel && holds == Holds::Argument && words.contains(&".param::func") {
            let message = format!("`{name}` is a parameter of a kernel, with `.param::func`: expected `.param::entry`");
            return self.report(Finding::error("PTX0030", operand.span.place(), message).rule(INSTRUCTIONS));
        }
        let (what, expected) = match (instruction.opcode, holds) {
            ("st", Holds::Argument) => ("a parameter", "its results and the arguments of a call are written"),
            ("ld", Holds::Result) => ("a result", "its parameters and the results of a call are read"),
            _ => return,
        };
        let message = format!("`{name}` is {what} of its function: expected another variable: {expected}");
        self.report(Finding::error("PTX0030", operand.span.place(), message).rule(INSTRUCTIONS));
    }
}
