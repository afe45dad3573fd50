//! The operands of the multiply-add family: how many, of which kinds and types, as the row says.

use super::names::is_special;
use super::scope::Entity;
use super::{Check, integer_mad};
use crate::ast::{Component, Instruction, Operand, OperandKind, Unary};
use crate::integer::operand_types;
use crate::literal::{Constant, evaluate};
use crate::types::{ScalarKind, Type};
use roundonce_arith::Format;
use roundonce_isa::{Effect, Finding, Form};

/// Constants that a place takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Immediate {
    None,
    Floating,
    Integer,
    /// From 0 to 255.
    Byte,
    /// The number of a barrier, from 0 to 15.
    Barrier,
    /// How many threads: a multiple of 32.
    Threads,
    /// Likewise, and not 0.
    SomeThreads,
    /// Or the bits of a float in hexadecimal.
    IntegerOrSingle,
    /// Or a floating constant of 64 bits.
    IntegerOrDouble,
}

impl Immediate {
    /// Whether integers may stand there.
    fn is_integer(self) -> bool {
        !matches!(self, Immediate::None | Immediate::Floating)
    }

    /// Whether not every integer may stand there.
    fn is_limited(self) -> bool {
        matches!(self, Immediate::Byte | Immediate::Barrier | Immediate::Threads | Immediate::SomeThreads)
    }

    /// What an integer is that may not stand there.
    fn refuses(self, constant: Constant) -> Option<&'static str> {
        let value = match constant {
            Constant::Signed(value) => value as u64,
            Constant::Unsigned(value) => value,
            Constant::Double(_) | Constant::Single(_) => return None,
        };
        match self {
            Immediate::Byte if value > 255 => Some("a constant of more than eight bits"),
            Immediate::Barrier if value > 15 => Some("a constant above 15"),
            Immediate::Threads | Immediate::SomeThreads if value % 32 != 0 => {
                Some("a constant that is no multiple of 32")
            }
            Immediate::SomeThreads if value == 0 => Some("a constant 0"),
            _ => None,
        }
    }
}

/// What may stand in a place of a form.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// As the manual names it: `d`.
    pub(super) name: &'static str,
    /// Types of registers.
    types: &'static [&'static str],
    /// What constants may stand there.
    immediate: Immediate,
    /// The form's rule.
    source: &'static str,
    sum: Sum,
}

/// The registers that may have an integer added, which ptxas takes for an address.
#[derive(Clone, Copy)]
pub(super) enum Sum {
    /// None, and no variable.
    Never,
    /// Those that may stand there without it.
    Alone,
    /// Those of a type's kind, however wide.
    Of(Type),
}

impl Sum {
    fn has(self, register: &str, types: &[&str]) -> bool {
        let Some(has) = Type::of_register(register).filter(|ty| ty.kind != ScalarKind::Pred) else { return false };
        let is = match self {
            Sum::Never => return false,
            Sum::Alone => return types.contains(&register),
            Sum::Of(ty) => ty,
        };
        let is_packed = |ty: Type| ty.components > 1;
        match is.kind {
            ScalarKind::Pred => false,
            ScalarKind::Bits => true,
            ScalarKind::Float(Format::BF16) => has.is_untyped() && has.bits == is.bits,
            _ if has.is_untyped() => true,
            _ if is_packed(is) => is_packed(has),
            ScalarKind::Unsigned | ScalarKind::Signed => has.is_integer() || is_packed(has),
            ScalarKind::Float(_) => has.format().is_some() && !is_packed(has),
        }
    }
}

impl Wanted {
    pub(super) const fn plain(
        name: &'static str,
        types: &'static [&'static str],
        immediate: Immediate,
        source: &'static str,
    ) -> Wanted {
        Wanted { name, types, immediate, source, sum: Sum::Alone }
    }

    /// The same, with what may be in a sum.
    pub(super) fn with_sum(self, sum: Sum) -> Wanted {
        Wanted { sum, ..self }
    }

    /// Whether a register of a type may stand there.
    pub(super) fn takes(&self, register: &str) -> bool {
        self.types.contains(&register)
    }

    fn of(form: &'static Form, index: usize, name: &'static str) -> Wanted {
        let operation = &form.recipe.operation;
        let format = if index == 0 { operation.format } else { operation.operand_format(index - 1) };
        Self::in_format(form, format, form.recipe.components, index, name)
    }

    fn in_format(form: &'static Form, format: Format, components: u32, index: usize, name: &'static str) -> Wanted {
        let (types, immediate): (&[&str], Immediate) = match (format, components) {
            (Format::F32, 1) => (&[".f32", ".b32"], Immediate::Floating),
            (Format::F32, _) => (&[".b64"], Immediate::None),
            (Format::F64, _) => (&[".f64", ".b64"], Immediate::Floating),
            (Format::F16, 1) => (&[".f16", ".b16"], Immediate::None),
            (Format::F16, _) => (&[".f16x2", ".b32"], Immediate::None),
            (Format::BF16, 1) => (&[".b16"], Immediate::None),
            _ => (&[".b32"], Immediate::None),
        };
        let immediate = if index == 0 { Immediate::None } else { immediate };
        let ty = Type { kind: ScalarKind::Float(format), bits: format.width() * components, components };
        Wanted { name, types, immediate, source: form.source, sum: Sum::Of(ty) }
    }

    fn registers(&self) -> String {
        let types = self.types.iter().map(|ty| format!("`{ty}`")).collect::<Vec<_>>().join(" or ");
        format!("a {types} register")
    }

    fn expected(&self) -> String {
        let constant = match self.immediate {
            Immediate::Floating => "a floating constant",
            Immediate::Integer | Immediate::IntegerOrSingle | Immediate::IntegerOrDouble => "an integer constant",
            Immediate::Byte => "an integer constant from 0 to 255",
            Immediate::Barrier => "an integer constant from 0 to 15",
            Immediate::Threads => "a constant multiple of 32",
            Immediate::SomeThreads => "a constant multiple of 32, and not 0",
            Immediate::None => return self.registers(),
        };
        // Some places take a constant alone.
        if self.types.is_empty() { constant.to_owned() } else { format!("{} or {constant}", self.registers()) }
    }
}

impl<'a> Check<'_, 'a> {
    pub(super) fn operands_of(&mut self, instruction: &Instruction<'a>, form: &'static Form) {
        let module = self.module;
        let operands = module.operands(instruction.operands);
        let names: Vec<&'static str> = form.operands.split(", ").collect();
        self.count(instruction, names.len(), form.operands, form.source);
        // The factor's format is a modifier's: the row as it is spelled, not as it stands.
        let written = module.modifiers(instruction.modifiers);
        let mixed = form.slots().flat_map(|slot| slot.choices).find_map(|choice| match choice.effect {
            Effect::Factors(format) if written.contains(&choice.text) => Some(format),
            _ => None,
        });
        // Where there is a type an operand, they stand in the operands' order.
        let types: Vec<Format> =
            written.iter().filter_map(|word| Type::of(word)).filter_map(|ty| ty.format()).collect();
        let each = types.len() == names.len();
        for (index, (operand, name)) in operands.iter().zip(&names).enumerate() {
            let wanted = match mixed {
                _ if each => Wanted::in_format(form, types[index], form.recipe.components, index, name),
                // In a mixed form the addend and the result alone are wide.
                Some(format) if matches!(*name, "a" | "b") => {
                    Wanted::in_format(form, format, form.recipe.components, index, name)
                }
                _ => Wanted::of(form, index, name),
            };
            if index == 0 { self.destination(operand, &wanted) } else { self.source(operand, &wanted) }
        }
    }

    pub(super) fn count(&mut self, instruction: &Instruction, wanted: usize, expected: &str, source: &str) {
        let found = instruction.operands.len as usize;
        if found != wanted {
            self.report(
                Finding::error(
                    "PTX0028",
                    instruction.span.place(),
                    format!("`{}` with {found} operands: expected {wanted}, `{expected}`", instruction.opcode),
                )
                .rule(source),
            );
        }
    }

    /// The operands of an integer multiply-add, its modifiers found right.
    pub(super) fn integer_operands(&mut self, instruction: &Instruction<'a>) {
        let module = self.module;
        let of = operand_types(&instruction.spelling(module));
        let is_dot_product = instruction.opcode.starts_with("dp");
        let types = |bits: u32, is_factor: bool| -> &'static [&'static str] {
            match bits {
                // The sum of a dot product is no packed value.
                32 if is_dot_product && !is_factor => &[".b32", ".u32", ".s32"],
                16 => &[".b16", ".u16", ".s16"],
                32 => &[".b32", ".u32", ".s32", ".f16x2"],
                _ => &[".b64", ".u64", ".s64"],
            }
        };
        let source = integer_mad::RULE;
        self.count(instruction, 4, "d, a, b, c", source);
        for (index, operand) in module.operands(instruction.operands).iter().take(4).enumerate() {
            let types = types(of[index].bits, matches!(index, 1 | 2));
            let immediate = if index == 0 { Immediate::None } else { Immediate::Integer };
            let name = ["d", "a", "b", "c"][index];
            let of_kind = Sum::Of(Type { kind: ScalarKind::Unsigned, bits: of[index].bits, components: 1 });
            let sum = if is_dot_product && index == 3 { Sum::Alone } else { of_kind };
            let wanted = Wanted::plain(name, types, immediate, source).with_sum(sum);
            if index == 0 { self.destination(operand, &wanted) } else { self.source(operand, &wanted) }
        }
    }

    pub(super) fn refuse(&mut self, code: &'static str, operand: &Operand, wanted: &Wanted, found: &str, help: &str) {
        let expected = if code == "PTX0029" { wanted.registers() } else { wanted.expected() };
        self.report(
            Finding::error(
                code,
                operand.span.place(),
                format!("{found} as operand `{}`: expected {expected}", wanted.name),
            )
            .rule(wanted.source)
            .help(help),
        );
    }

    pub(super) fn destination(&mut self, operand: &Operand<'a>, wanted: &Wanted) {
        let module = self.module;
        match operand.kind {
            OperandKind::Name("WARP_SZ") => self.shape(operand, wanted, "PTX0029"),
            OperandKind::Name(_) | OperandKind::Component(..) => self.register(operand, wanted, true),
            OperandKind::Pair(items) => {
                let [first, second] = module.operands(items) else { return };
                self.destination(first, wanted);
                // A predicate thrown away again passes.
                if second.kind != OperandKind::Discard {
                    self.refuse(
                        "PTX0029",
                        second,
                        wanted,
                        "a second, predicate result",
                        "no such form gives a predicate",
                    );
                }
            }
            OperandKind::Discard => {
                self.refuse("PTX0029", operand, wanted, "`_`", "name a register, if only to drop its value");
            }
            _ => self.shape(operand, wanted, "PTX0029"),
        }
    }

    pub(super) fn source(&mut self, operand: &Operand<'a>, wanted: &Wanted) {
        let module = self.module;
        match operand.kind {
            OperandKind::Name("WARP_SZ") => self.constant(operand, wanted),
            OperandKind::Name(_) | OperandKind::Component(..) => self.register(operand, wanted, false),
            OperandKind::Number(_) | OperandKind::Group(_) | OperandKind::Cast(..) | OperandKind::Choose(_) => {
                self.constant(operand, wanted)
            }
            OperandKind::Binary(_, items) => match module.operands(items) {
                [first, offset] if matches!(first.kind, OperandKind::Name(name) if name != "WARP_SZ") => {
                    self.sum(operand, first, offset, wanted);
                }
                _ => self.constant(operand, wanted),
            },
            OperandKind::Unary(unary, inner) => {
                let negated = matches!(
                    module.operand(inner).kind,
                    OperandKind::Name(_) | OperandKind::Component(..) | OperandKind::Discard
                );
                if !negated {
                    self.constant(operand, wanted);
                } else if unary == Unary::Minus {
                    let help = "PTX negates no operand: use `neg`, or negate the constant";
                    self.refuse("PTX0030", operand, wanted, "a negated register", help);
                } else {
                    self.refuse("PTX0030", operand, wanted, "an inverted register", "only predicates are inverted");
                }
            }
            _ => self.shape(operand, wanted, "PTX0030"),
        }
    }

    /// So many sources in braces.
    pub(super) fn vector(&mut self, operand: &Operand<'a>, wanted: &Wanted, count: usize) {
        match operand.kind {
            OperandKind::Vector(items) if items.len as usize == count => {
                for item in self.module.operands(items) {
                    self.source(item, wanted);
                }
            }
            _ => {
                let message = format!("operand `{}`: expected {count} values in braces", wanted.name);
                self.report(Finding::error("PTX0030", operand.span.place(), message).rule(wanted.source));
            }
        }
    }

    /// `f3+1`, a register or a variable and an integer.
    fn sum(&mut self, operand: &Operand<'a>, register: &Operand<'a>, offset: &Operand<'a>, wanted: &Wanted) {
        match evaluate(self.module, offset) {
            Ok(Constant::Signed(_) | Constant::Unsigned(_)) => {}
            Ok(_) => {
                let help = "nothing is added to a register inside an operand";
                return self.refuse("PTX0030", operand, wanted, "a register and a floating constant", help);
            }
            Err(finding) => return self.report(finding),
        }
        let entity = register.name().and_then(|name| self.scopes.find(name));
        match entity {
            Some(Entity::Register { ty, lanes: 1 }) => {
                if !wanted.sum.has(ty, wanted.types) {
                    let help = "nothing is added to a register inside an operand";
                    return self.refuse("PTX0030", operand, wanted, "a sum with a register", help);
                }
                self.report(
                    Finding::note(
                        "PTX0030",
                        operand.span.place(),
                        "a sum with a register: expected the register alone; the assembler takes it for an address",
                    )
                    .rule(wanted.source)
                    .help("drop the sum"),
                );
            }
            Some(Entity::Variable(..)) if matches!(wanted.sum, Sum::Never) => {
                self.refuse("PTX0030", operand, wanted, "a sum with an address", "move it into a register first");
            }
            // Its address, a number: not as the manual has it, but the assembler takes it.
            Some(Entity::Variable(..)) if wanted.immediate.is_integer() && wanted.types != [".pred"] => {}
            Some(Entity::Function | Entity::Label) => {
                self.refuse("PTX0030", operand, wanted, "a sum with an address", "no address is taken here");
            }
            _ => self.register(register, wanted, false),
        }
    }

    /// Refuses what has the wrong shape whatever its type.
    pub(super) fn shape(&mut self, operand: &Operand<'a>, wanted: &Wanted, code: &'static str) {
        let (found, help) = match operand.kind {
            OperandKind::Address(_) => ("an address", "load it into a register first"),
            OperandKind::Vector(_) => ("a vector", "pack it into a register with `mov` first"),
            OperandKind::Discard => ("`_`", "name a register"),
            OperandKind::Index(_) => ("an element of an array", "load it into a register first"),
            OperandKind::Name(_) | OperandKind::Number(_) | OperandKind::Group(_) | OperandKind::Binary(..) => {
                ("a constant", "a result needs a register")
            }
            OperandKind::Unary(..) => ("a negated register", "PTX negates no operand: use `neg`"),
            _ => ("this", "the operand has no such form"),
        };
        self.refuse(code, operand, wanted, found, help);
    }

    /// A name, or a component of one.
    fn register(&mut self, operand: &Operand<'a>, wanted: &Wanted, is_destination: bool) {
        let (name, component) = match operand.kind {
            OperandKind::Name(name) => (name, None),
            OperandKind::Component(name, component) => (name, Some(component)),
            _ => return,
        };
        let code = if is_destination { "PTX0029" } else { "PTX0030" };
        let entity = match self.scopes.find(name) {
            None if is_special(name) => {
                let help = "copy it into a register with `mov` first";
                return self.refuse(code, operand, wanted, &format!("the special register `{name}`"), help);
            }
            None => return self.undeclared(name, operand.span),
            Some(entity) => entity,
        };
        match entity {
            Entity::Register { ty, lanes } => {
                if let Some(component) = component {
                    self.component(operand, wanted, lanes, component);
                } else if lanes > 1 {
                    let help = format!("name a component: `{name}.x`");
                    return self.refuse(code, operand, wanted, &format!("the vector `{name}`"), &help);
                }
                if !wanted.types.contains(&ty) {
                    let help =
                        format!("`{name}` is declared as `{ty}`: convert with `cvt`, or copy its bits with `mov`");
                    let found = format!("the `{ty}` register `{name}`");
                    self.refuse(if is_destination { "PTX0029" } else { "PTX0027" }, operand, wanted, &found, &help);
                }
            }
            // The assembler takes a function's address for a number of any type; as a result it does not.
            Entity::Function if !is_destination => {}
            entity => {
                let help = if matches!(entity, Entity::Variable(..)) { "load it into a register first" } else { "" };
                self.refuse(code, operand, wanted, &format!("the {} `{name}`", entity.noun()), help);
            }
        }
    }

    fn component(&mut self, operand: &Operand<'a>, wanted: &Wanted, lanes: u8, component: Component) {
        let index = match component {
            Component::X | Component::R => 0,
            Component::Y | Component::G => 1,
            Component::Z | Component::B => 2,
            Component::W | Component::A => 3,
        };
        let text = component.text();
        if lanes == 1 {
            let found = format!("`{text}` of what has no such component");
            self.refuse("PTX0030", operand, wanted, &found, "only vectors have components, `.x` to `.w`");
        } else if index >= lanes {
            self.report(
                Finding::note(
                    "PTX0030",
                    operand.span.place(),
                    format!(
                        "`{text}` of a vector of {lanes}: expected an earlier component; the assembler says nothing"
                    ),
                )
                .rule("PTX ISA, 5.4.2 vectors"),
            );
        }
    }

    pub(super) fn constant(&mut self, operand: &Operand<'a>, wanted: &Wanted) {
        let constant = match evaluate(self.module, operand) {
            Ok(constant) => constant,
            Err(finding) => return self.report(finding),
        };
        let floating = matches!(constant, Constant::Double(_) | Constant::Single(_));
        match wanted.immediate {
            Immediate::Floating if floating => {}
            limited if !floating && limited.refuses(constant).is_some() => {
                let found = limited.refuses(constant).unwrap_or_default();
                self.refuse("PTX0027", operand, wanted, found, "");
            }
            limited if !floating && limited.is_limited() => {}
            Immediate::Integer | Immediate::IntegerOrSingle | Immediate::IntegerOrDouble if !floating => {}
            Immediate::IntegerOrSingle if matches!(constant, Constant::Single(_)) => {}
            Immediate::IntegerOrDouble if matches!(constant, Constant::Double(_)) => {}
            Immediate::Floating => {
                let text = operand.span.of(self.module.text());
                let help = format!("write it with a point: `{text}.0`");
                let help = if text.bytes().all(|byte| byte.is_ascii_digit()) { help.as_str() } else { "" };
                self.refuse("PTX0027", operand, wanted, "an integer constant", help);
            }
            Immediate::Integer
            | Immediate::Byte
            | Immediate::Barrier
            | Immediate::Threads
            | Immediate::SomeThreads
            | Immediate::IntegerOrSingle
            | Immediate::IntegerOrDouble => {
                self.refuse("PTX0027", operand, wanted, "a floating constant", "write it whole");
            }
            Immediate::None => {
                self.refuse("PTX0027", operand, wanted, "a constant", "move it into a register first");
            }
        }
    }
}
