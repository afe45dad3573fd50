//! Registers and variables that a function declares.

use super::{Body, Entity, Named, Result, module};
use crate::ast::{Space, Variable, Variables};
use crate::types::Type;
use roundonce_ir::Width;

/// What a name of a range stands for: `%f<4>` declares `%f0` to `%f3`.
#[derive(Clone, Debug)]
pub(super) enum RangeOf<'m, 'a> {
    /// A register of so many lanes.
    Register(Type, u8),
    /// A parameter of a call.
    CallParam(Type),
    /// The memory of the first, of so many bytes.
    Memory(Entity<'m, 'a>, u32),
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// Bytes and alignment of a variable.
    pub(super) fn size_of(&self, variable: &Variable<'a>) -> Result<(u32, u32)> {
        module::size_of(self.module, variable)
    }

    /// Registers and variables declared inside a function.
    pub(super) fn declare(&mut self, variables: Variables) -> Result<()> {
        for variable in self.module.variables(variables) {
            self.declare_one(variable)?;
        }
        Ok(())
    }

    fn declare_one(&mut self, variable: &'m Variable<'a>) -> Result<()> {
        self.span = variable.span;
        if let Some(count) = variable.count {
            let of = self.range(variable, count)?;
            self.ranges += 1;
            self.scopes.declare_range(variable.name, count, (of, self.ranges));
            return Ok(());
        }
        let entity = match (variable.space, in_register(variable)) {
            (Space::Reg, _) => return self.declare_registers(variable),
            (Space::Param, Some(ty)) => Entity::CallParam(self.fresh(ty.width()), ty),
            _ => self.memory(variable)?,
        };
        self.scopes.declare(variable.name, Named::of(variable, entity));
        Ok(())
    }

    /// The memory of a variable, or the first of a range.
    fn memory(&mut self, variable: &'m Variable<'a>) -> Result<Entity<'m, 'a>> {
        match variable.space {
            Space::Local | Space::Param => {
                let (size, align) = self.size_of(variable)?;
                self.local(size, align)
            }
            Space::Shared => match self.shared.get(&variable.span.start) {
                Some(&offset) => Ok(Entity::Shared(offset)),
                None => Err(self.unsupported(format!("shared variable `{}`", variable.name))),
            },
            Space::Reg | Space::Const(_) | Space::Global | Space::Tex | Space::Sreg => {
                Err(self.unsupported(format!("`{}` inside a function", variable.space.text())))
            }
        }
    }

    fn declare_registers(&mut self, variable: &'m Variable<'a>) -> Result<()> {
        let ty = self.type_of_register(variable)?;
        let entity = self.register(ty, variable.lanes);
        self.name(variable.name, entity);
        Ok(())
    }

    fn type_of_register(&self, variable: &Variable<'a>) -> Result<Type> {
        Type::of(variable.ty).ok_or_else(|| self.unsupported(format!("a register of type `{}`", variable.ty)))
    }

    /// A register of a type and so many lanes; 128 bits are two halves, the lower one first.
    fn register(&mut self, ty: Type, lanes: u8) -> Entity<'m, 'a> {
        match lanes {
            _ if ty.bits > 64 => Entity::Vector(vec![self.fresh(Width::B64), self.fresh(Width::B64)]),
            0 | 1 => Entity::Register(self.fresh(ty.width()), ty),
            lanes => Entity::Vector((0..lanes).map(|_| self.fresh(ty.width())).collect()),
        }
    }

    /// What the names of a range stand for.
    fn range(&mut self, variable: &'m Variable<'a>, count: u32) -> Result<RangeOf<'m, 'a>> {
        if variable.space == Space::Reg {
            return Ok(RangeOf::Register(self.type_of_register(variable)?, variable.lanes));
        }
        if let (Space::Param, Some(ty)) = (variable.space, in_register(variable)) {
            return Ok(RangeOf::CallParam(ty));
        }
        let (size, align) = self.size_of(variable)?;
        let each = size / count.max(1);
        if !each.is_multiple_of(align.max(1)) {
            return Err(self.unsupported(format!("`{}<{count}>` of `{}`", variable.name, variable.space.text())));
        }
        Ok(RangeOf::Memory(self.memory(variable)?, each))
    }

    /// What one name of a range stands for.
    pub(super) fn of_range(&mut self, of: RangeOf<'m, 'a>, number: u32) -> Entity<'m, 'a> {
        match of {
            RangeOf::Register(ty, lanes) => self.register(ty, lanes),
            RangeOf::CallParam(ty) => Entity::CallParam(self.fresh(ty.width()), ty),
            RangeOf::Memory(first, each) => match first {
                Entity::Local(start) => Entity::Local(start + number * each),
                Entity::Frame(start) => Entity::Frame(start + number * each),
                Entity::Shared(start) => Entity::Shared(start + number * each),
                other => other,
            },
        }
    }
}

/// The type of a parameter of a call that a register holds, as long as its address is not taken.
fn in_register(variable: &Variable<'_>) -> Option<Type> {
    let ty = Type::of(variable.ty).filter(|_| variable.dimensions.len == 0 && variable.lanes <= 1)?;
    (16..=64).contains(&ty.bits).then_some(ty)
}
