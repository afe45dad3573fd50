//! What a name means where it stands.

use crate::ast::{Space, Variable};
use std::collections::HashMap;

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
    /// Anything with an address.
    Variable,
    /// A kernel or function.
    Function,
    /// A label.
    Label,
}

impl Entity<'_> {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Entity::Register { .. } => "register",
            Entity::Variable => "variable in memory",
            Entity::Function => "function",
            Entity::Label => "label",
        }
    }
}

/// Nested scopes, the innermost last.
#[derive(Default)]
pub(super) struct Scopes<'a> {
    scopes: Vec<Scope<'a>>,
}

#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Entity<'a>>,
    /// `%f<4>`: by its prefix, how many and of what.
    ranges: HashMap<&'a str, (u32, Entity<'a>)>,
}

impl<'a> Scopes<'a> {
    pub(super) fn enter(&mut self) {
        self.scopes.push(Scope::default());
    }
    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// Declares a name in the innermost scope and says whether it was already declared there.
    pub(super) fn declare(&mut self, name: &'a str, entity: Entity<'a>) -> bool {
        let Some(scope) = self.scopes.last_mut() else { return false };
        let again = scope.find(name).is_some();
        scope.names.insert(name, entity);
        again
    }

    /// Declares a variable likewise.
    pub(super) fn declare_variable(&mut self, variable: &Variable<'a>) -> bool {
        let entity = match variable.space {
            Space::Reg => Entity::Register { ty: variable.ty, lanes: variable.lanes },
            _ => Entity::Variable,
        };
        let Some(count) = variable.count else {
            let again = self.declare(variable.name, entity);
            // What is extern, common or a tentative definition may be repeated.
            return again && variable.linkage.is_none() && self.scopes.len() > 1;
        };
        let Some(scope) = self.scopes.last_mut() else { return false };
        // Two ranges of one prefix overlap in their first register; a single one may lie within.
        let first_again = count > 0 && scope.find_in_range(variable.name, 0);
        scope.ranges.insert(variable.name, (count, entity));
        first_again
    }

    /// What a name means here.
    pub(super) fn find(&self, name: &str) -> Option<Entity<'a>> {
        self.scopes.iter().rev().find_map(|scope| scope.find(name))
    }
}

impl<'a> Scope<'a> {
    fn find(&self, name: &str) -> Option<Entity<'a>> {
        if let Some(entity) = self.names.get(name) {
            return Some(*entity);
        }
        if self.ranges.is_empty() {
            return None;
        }
        // `%f12` is of `%f<13>` or of `%f1<3>`.
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        (name.len() - digits..name.len()).rev().find_map(|cut| {
            let (prefix, index) = name.split_at(cut);
            let (count, entity) = self.ranges.get(prefix)?;
            (index.parse::<u32>().ok()? < *count).then_some(*entity)
        })
    }

    fn find_in_range(&self, prefix: &str, index: u32) -> bool {
        self.ranges.get(prefix).is_some_and(|(count, _)| index < *count)
    }
}
