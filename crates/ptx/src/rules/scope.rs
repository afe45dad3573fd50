//! What a name means where it stands.

use super::declarations::OPAQUE;
use crate::ast::{Module, OperandKind, Space, Variable};
use crate::literal::{Constant, evaluate};
use crate::scopes::{Found, Map, Scopes};
use crate::types::{ScalarKind, Type};

/// What was declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entity<'a> {
    /// A register, or a vector of them.
    Register {
        /// With its dot.
        ty: &'a str,
        /// Components.
        lanes: u8,
    },
    /// Anything with an address, where it lives, and how it is laid out.
    Variable(Space, Holds, Layout<'a>),
    /// A kernel or function.
    Function,
    /// A label.
    Label,
}

/// What a variable in memory is to its function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    Argument,
    Result,
    Anything,
}

/// How a variable or a register is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout<'a> {
    /// With its dot.
    ty: &'a str,
    lanes: u8,
    /// What `.align` says.
    align: u32,
    /// How many elements an array has, 0 where that is open; `None` for what is no array.
    pub(super) elements: Option<u64>,
}

impl<'a> Layout<'a> {
    pub(super) fn of_register(ty: &'a str, lanes: u8) -> Layout<'a> {
        Layout { ty, lanes, align: 1, elements: None }
    }

    /// The same whatever `.align` says.
    pub(super) fn unaligned(module: &Module<'a>, variable: &Variable<'a>) -> Layout<'a> {
        Layout { align: 1, ..Layout::of(module, variable) }
    }

    pub(super) fn of(module: &Module<'a>, variable: &Variable<'a>) -> Layout<'a> {
        let size = |operand| match evaluate(module, operand) {
            Ok(Constant::Signed(size)) => u64::try_from(size).unwrap_or(0),
            Ok(Constant::Unsigned(size)) => size,
            _ => 0,
        };
        let dimensions = module.operands(variable.dimensions);
        let is_open = |operand: &crate::ast::Operand| operand.kind == OperandKind::Empty;
        let product = |known: u64, operand| known.saturating_mul(if is_open(operand) { 0 } else { size(operand) });
        let elements = (!dimensions.is_empty()).then(|| dimensions.iter().fold(1, product));
        Layout { ty: variable.ty, lanes: variable.lanes, align: variable.align.unwrap_or(1), elements }
    }

    /// The type of a register that holds it, or an element of it: bits, of a vector. `None` of a type that registers have not.
    pub(super) fn register(&self) -> Option<Type> {
        let ty = Type::of_register(self.ty)?;
        let vector = Type { kind: ScalarKind::Bits, bits: ty.bits * u32::from(self.lanes), components: 1 };
        Some(if self.lanes > 1 { vector } else { ty })
    }

    /// The type of what is one number.
    pub(super) fn number(&self) -> Option<&'a str> {
        (self.lanes == 1 && self.elements.is_none()).then_some(self.ty)
    }

    /// Whether it is a texture, a sampler or a surface.
    pub(super) fn is_image(&self) -> bool {
        self.number().is_some_and(|ty| OPAQUE.contains(&ty))
    }

    /// In bytes: of the type, or more where `.align` says so.
    pub(super) fn alignment(&self) -> u32 {
        let natural = match self.register() {
            Some(Type { kind: ScalarKind::Pred, .. }) => 4,
            ty => ty.map_or(1, Type::bytes),
        };
        natural.max(self.align)
    }

    /// Whether two are of the same type, length and alignment.
    pub(super) fn is_alike(&self, other: &Layout) -> bool {
        Layout { align: 0, ..*self } == Layout { align: 0, ..*other } && self.alignment() == other.alignment()
    }

    /// As messages name it.
    pub(super) fn text(&self, space: Space) -> String {
        let (space, ty) = (space.text(), self.ty);
        let vector = if self.lanes > 1 { format!(".v{} ", self.lanes) } else { String::new() };
        match self.elements {
            None => format!("a `{space} {vector}{ty}`"),
            Some(0) => format!("a `{space} {vector}{ty}` array"),
            Some(count) => format!("a `{space} {vector}{ty}` array of {count}"),
        }
    }
}

impl Entity<'_> {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Entity::Register { .. } => "register",
            Entity::Variable(..) => "variable in memory",
            Entity::Function => "function",
            Entity::Label => "label",
        }
    }
}

/// The names that stand in a module.
pub(super) struct Names<'a> {
    scopes: Scopes<'a, Entity<'a>, Entity<'a>>,
    /// Of each open scope, by the part before the number at the end of a name, the least number that is declared alone.
    numbered: Vec<Map<&'a str, u32>>,
}

/// `r12` as `r` and 12. What begins with a zero is no number: `%r<4>` may stand behind `%r0` and `%r02`, to the assembler.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let prefix = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let digits = &name[prefix.len()..];
    Some((prefix, digits.parse().ok()?)).filter(|_| !digits.starts_with('0'))
}

impl<'a> Names<'a> {
    pub(super) fn new() -> Names<'a> {
        Names { scopes: Scopes::default(), numbered: vec![Map::default()] }
    }

    pub(super) fn enter(&mut self) {
        self.scopes.enter();
        self.numbered.push(Map::default());
    }
    pub(super) fn leave(&mut self) {
        self.scopes.leave();
        self.numbered.pop();
    }

    /// Declares a name in the innermost scope and says whether it was already declared there.
    pub(super) fn declare(&mut self, name: &'a str, entity: Entity<'a>) -> bool {
        let again = self.scopes.find_here(name).is_some();
        match entity {
            Entity::Label => self.scopes.declare_label(name, entity),
            _ => self.scopes.declare(name, entity),
        }
        if let (Entity::Register { .. } | Entity::Variable(..), Some((prefix, number))) = (entity, numbered(name))
            && let Some(numbers) = self.numbered.last_mut()
        {
            numbers.entry(prefix).and_modify(|least| *least = number.min(*least)).or_insert(number);
        }
        again
    }

    /// Declares a variable likewise.
    pub(super) fn declare_variable(&mut self, module: &Module<'a>, variable: &Variable<'a>) -> bool {
        let entity = match variable.space {
            Space::Reg => Entity::Register { ty: variable.ty, lanes: variable.lanes },
            space => Entity::Variable(space, Holds::Anything, Layout::of(module, variable)),
        };
        let Some(count) = variable.count else {
            let is_in_range = matches!(self.scopes.find_here(variable.name), Some(Found::InRange(..)));
            let again = self.declare(variable.name, entity);
            // Which of the module's may be repeated, `declarations` says.
            return again && variable.linkage.is_none() && (is_in_range || !self.is_outermost());
        };
        // Two ranges of one prefix overlap in their first register; a single one may lie within.
        let least = self.numbered.last().and_then(|numbers| numbers.get(variable.name));
        let again = self.scopes.has_range_here(variable.name) || least.is_some_and(|least| *least < count);
        self.scopes.declare_range(variable.name, count, entity);
        again
    }

    /// Whether declarations are the module's.
    pub(super) fn is_outermost(&self) -> bool {
        self.scopes.depth() == 1
    }

    /// What a name means here.
    pub(super) fn find(&self, name: &str) -> Option<Entity<'a>> {
        self.scopes.find(name).map(|(Found::Name(_, entity) | Found::InRange(_, _, entity))| *entity)
    }
}
