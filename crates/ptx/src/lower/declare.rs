//! Registers and variables that a function declares.

use super::{Body, Entity, Named, Result, module};
use crate::ast::{Space, Variable, Variables};
use crate::types::Type;
use roundonce_ir::Width;

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
        let entity = match variable.space {
            Space::Reg => return self.declare_registers(variable),
            Space::Local => {
                let (size, align) = self.size_of(variable)?;
                self.local(size, align)?
            }
            Space::Param => {
                let ty = Type::of(variable.ty).filter(|_| variable.dimensions.len == 0 && variable.lanes <= 1);
                match ty {
                    Some(ty) if (16..=64).contains(&ty.bits) => Entity::CallParam(self.fresh(ty.width()), ty),
                    _ => {
                        let (size, align) = self.size_of(variable)?;
                        self.local(size, align)?
                    }
                }
            }
            Space::Shared => match self.shared.get(&variable.span.start) {
                Some(&offset) => Entity::Shared(offset),
                None => return Err(self.unsupported(format!("shared variable `{}`", variable.name))),
            },
            Space::Const(_) | Space::Global | Space::Tex | Space::Sreg => {
                return Err(self.unsupported(format!("`{}` inside a function", variable.space.text())));
            }
        };
        self.scopes.declare(variable.name, Named::of(variable, entity));
        Ok(())
    }

    fn declare_registers(&mut self, variable: &'m Variable<'a>) -> Result<()> {
        let Some(ty) = Type::of(variable.ty) else {
            return Err(self.unsupported(format!("a register of type `{}`", variable.ty)));
        };
        if let Some(count) = variable.count {
            self.ranges += 1;
            self.scopes.declare_range(variable.name, count, (ty, self.ranges));
            return Ok(());
        }
        let entity = if variable.lanes > 1 && ty.bits <= 64 {
            Entity::Vector((0..variable.lanes).map(|_| self.fresh(ty.width())).collect())
        } else {
            self.register(ty)
        };
        self.name(variable.name, entity);
        Ok(())
    }

    /// A register of a type; 128 bits are two halves, the lower one first.
    pub(super) fn register(&mut self, ty: Type) -> Entity<'m, 'a> {
        if ty.bits <= 64 {
            return Entity::Register(self.fresh(ty.width()), ty);
        }
        Entity::Vector(vec![self.fresh(Width::B64), self.fresh(Width::B64)])
    }
}
