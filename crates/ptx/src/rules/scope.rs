//! What a name means where it stands.

use crate::ast::{Space, Variable};
use crate::scopes::{Found, Scopes};

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
    /// Anything with an address, and where it lives.
    Variable(Space, Holds),
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
#[derive(Default)]
pub(super) struct Names<'a>(Scopes<'a, Entity<'a>, Entity<'a>>);

impl<'a> Names<'a> {
    pub(super) fn enter(&mut self) {
        self.0.enter();
    }
    pub(super) fn leave(&mut self) {
        self.0.leave();
    }

    /// Declares a name in the innermost scope and says whether it was already declared there.
    pub(super) fn declare(&mut self, name: &'a str, entity: Entity<'a>) -> bool {
        let again = self.0.find_here(name).is_some();
        self.0.declare(name, entity);
        again
    }

    /// Declares a variable likewise.
    pub(super) fn declare_variable(&mut self, variable: &Variable<'a>) -> bool {
        let entity = match variable.space {
            Space::Reg => Entity::Register { ty: variable.ty, lanes: variable.lanes },
            space => Entity::Variable(space, Holds::Anything),
        };
        let Some(count) = variable.count else {
            let again = self.declare(variable.name, entity);
            // What is extern, common or a tentative definition may be repeated.
            return again && variable.linkage.is_none() && self.0.depth() > 1;
        };
        // Two ranges of one prefix overlap in their first register; a single one may lie within.
        let again = count > 0 && self.0.has_range_here(variable.name);
        self.0.declare_range(variable.name, count, entity);
        again
    }

    /// What a name means here.
    pub(super) fn find(&self, name: &str) -> Option<Entity<'a>> {
        self.0.find(name).map(|(Found::Name(_, entity) | Found::InRange(_, _, entity))| *entity)
    }
}
