//! Calls: what is called, and how many values it takes and gives.

use super::scope::Entity;
use super::{Check, INSTRUCTIONS};
use crate::ast::{Instruction, Operand, OperandKind};
use roundonce_isa::Finding;

/// How many operands a list in parentheses has; none where there is no list.
fn listed(operand: Option<&Operand>) -> u32 {
    match operand.map(|operand| operand.kind) {
        Some(OperandKind::List(items)) => items.len,
        _ => 0,
    }
}

impl<'a> Check<'_, 'a> {
    /// Checks a call of a function by name; false for one through a register.
    pub(super) fn call(&mut self, instruction: &Instruction<'a>) -> bool {
        let module = self.module;
        self.declared(instruction.operands);
        let operands = module.operands(instruction.operands);
        let is_list = |operand: &&Operand| matches!(operand.kind, OperandKind::List(_));
        let given = operands.first().filter(is_list);
        let rest = &operands[usize::from(given.is_some())..];
        if let Some(word) = module.modifiers(instruction.modifiers).iter().find(|word| **word != ".uni") {
            let message = format!("`{word}` on a call: expected `call` or `call.uni`");
            self.report(Finding::error("PTX0023", self.span(word).place(), message).rule(INSTRUCTIONS));
        }
        let Some((callee, name)) = rest.first().and_then(|callee| Some((callee, callee.name()?))) else { return false };
        if self.scopes.find(name) != Some(Entity::Function) {
            return false;
        }
        let (returns, parameters) = (listed(given), listed(rest.get(1)));
        let found = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        if found.first().is_some_and(|function| function.is_entry) {
            let message = format!("`{name}` is a kernel: expected a function");
            self.report(Finding::error("PTX0030", callee.span.place(), message).rule(INSTRUCTIONS));
        } else if let Some(first) = found.first()
            && !found.iter().any(|function| (function.returns.len, function.parameters.len) == (returns, parameters))
        {
            let (gives, takes) = (first.returns.len, first.parameters.len);
            let message =
                format!("`{name}` called with {parameters} values for {returns} results: expected {takes} for {gives}");
            self.report(Finding::error("PTX0028", instruction.span.place(), message).rule(INSTRUCTIONS));
        }
        true
    }
}
