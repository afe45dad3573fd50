//! `.alias`: another name of a function.

use super::directives::ENTRIES;
use super::scope::{Entity, Layout};
use super::{Check, Operand};
use crate::ast::{Directive, Function, Linkage, Variable, Variables};
use roundonce_isa::Finding;

impl<'m, 'a> Check<'m, 'a> {
    /// `.alias NAME, FUNCTION`: both were declared, alike, and the function alone has a body.
    pub(super) fn alias(&mut self, directive: &Directive<'a>) {
        let name = directive.name;
        self.available(name, self.span(name));
        let [alias, function] = self.module.operands(directive.operands) else {
            let message = "`.alias` of other than two names: expected `.alias NAME, FUNCTION`".to_owned();
            return self.report(Finding::error("PTX0034", directive.span.place(), message).rule(ENTRIES));
        };
        let (Some(one), Some(other)) = (self.aliased(alias), self.aliased(function)) else { return };
        let any = |all: &[&Function], linkage| all.iter().any(|it| it.linkage == Some(linkage));
        let has_body = |all: &[&Function]| all.iter().any(|it| it.body.is_some());
        let names = (one[0].name, other[0].name);
        let (operand, message) = match names {
            _ if one[0].is_entry => (alias, format!("the kernel `{}` as an alias: expected a function", names.0)),
            _ if other[0].is_entry => (function, format!("an alias of the kernel `{}`: expected a function", names.1)),
            _ if self.defined.contains(names.0) => {
                (alias, format!("`{}` as an alias, which has a body: expected a declaration alone", names.0))
            }
            _ if any(&other, Linkage::Extern) || any(&other, Linkage::Weak) => (
                function,
                format!("an alias of `{}`, which is `.extern` or `.weak`: expected another function", names.1),
            ),
            _ if !has_body(&other) => (function, format!("an alias of `{}`: expected a function with a body", names.1)),
            _ if !self.are_alike(one[0], other[0]) => {
                (alias, format!("`{}` as an alias of `{}`: expected the same parameters", names.0, names.1))
            }
            _ => {
                self.defined.insert(names.0);
                return;
            }
        };
        self.report(Finding::error("PTX0034", operand.span.place(), message).rule(ENTRIES));
    }

    /// The declarations of a function that was declared before.
    fn aliased(&mut self, operand: &Operand<'a>) -> Option<Vec<&'m Function<'a>>> {
        let found = match operand.name().map(|name| (name, self.scopes.find(name))) {
            Some((name, Some(Entity::Function))) => return self.functions.get(name).cloned(),
            Some((name, None)) => {
                self.undeclared(name, operand.span);
                return None;
            }
            Some((name, Some(entity))) => format!("the {} `{name}`", entity.noun()),
            None => format!("`{}`", operand.span.of(self.module.text())),
        };
        let message = format!("{found} in `.alias`: expected a function");
        self.report(Finding::error("PTX0034", operand.span.place(), message).rule(ENTRIES));
        None
    }

    fn are_alike(&self, one: &Function<'a>, other: &Function<'a>) -> bool {
        let module = self.module;
        let is_one = |(one, other): (&Variable<'a>, &Variable<'a>)| {
            one.space == other.space && Layout::of(module, one).is_alike(&Layout::of(module, other))
        };
        let lists = |one: Variables, other: Variables| {
            one.len == other.len && module.variables(one).iter().zip(module.variables(other)).all(is_one)
        };
        let returns = |it: &Function<'a>| !it.directives.iter().any(|directive| directive.name == ".noreturn");
        lists(one.returns, other.returns) && lists(one.parameters, other.parameters) && returns(one) == returns(other)
    }
}
