//! Calls: what is called, how many values it takes and gives, and whether each is of its parameter's type.
//!
//! What stands here of types, sizes and alignments is what ptxas 12.9 and 13.5 take: they agree, and have one rule for
//! arguments and results, in registers and in `.param` variables.

use super::directives::ENTRIES;
use super::scope::{Entity, Holds, Layout};
use super::{Check, Described, INSTRUCTIONS};
use crate::ast::{Function, Instruction, Operand, OperandKind, Space, Span, Unary, Variable};
use crate::literal::{Constant, evaluate};
use crate::scopes::Found;
use crate::types::{ScalarKind, Type};
use roundonce_isa::{Finding, Version};

/// The first PTX that is assembled for calls from elsewhere, and types of values that these neither take nor give. Of bits as
/// wide they do.
const CALLED: Version = Version(3, 1);
static NARROW: &[&str] = &[".u8", ".s8", ".u16", ".s16", ".pred"];

/// How many operands a list in parentheses has; none where there is no list.
fn listed(operand: Option<&Operand>) -> u32 {
    match operand.map(|operand| operand.kind) {
        Some(OperandKind::List(items)) => items.len,
        _ => 0,
    }
}

/// What a value is to its call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Result,
    Argument,
}

/// Whether a value of one type stands for one of another: of as many bits, and of one kind or of bits. Packed halves are bits, and
/// pass for a predicate.
fn stands_for(given: Type, wanted: Type) -> bool {
    let is_bits = |ty: Type| ty.is_untyped() || ty.components > 1;
    let is_packed = given.components > 1 || wanted.components > 1;
    if given.kind == ScalarKind::Pred || wanted.kind == ScalarKind::Pred {
        return given.kind == wanted.kind || is_packed;
    }
    let is_one_kind = given.is_integer() && wanted.is_integer() || given.kind == wanted.kind;
    given.bits == wanted.bits && (is_bits(given) || is_bits(wanted) || is_one_kind)
}

/// Whether a constant stands for a value of a type.
fn holds(constant: Constant, ty: Type) -> bool {
    let is_floating = matches!(constant, Constant::Double(_) | Constant::Single(_));
    match ty.kind {
        _ if ty.components > 1 => matches!(constant, Constant::Single(_)),
        ScalarKind::Bits => true,
        ScalarKind::Unsigned | ScalarKind::Signed => !is_floating,
        ScalarKind::Float(_) => is_floating,
        ScalarKind::Pred => false,
    }
}

/// Whether a variable, or a register, stands for a parameter. `None` where one is of a type that is no register's.
fn fits(given: &Layout, wanted: &Layout) -> Option<bool> {
    let (one, other) = (given.register()?, wanted.register()?);
    Some(match (given.elements, wanted.elements) {
        (None, None) => stands_for(one, other),
        (Some(given), Some(wanted)) => {
            let is_bits = one.is_untyped() || other.is_untyped();
            // What is open takes any length.
            let size = |count: u64, ty: Type| count.saturating_mul(ty.bits.into());
            let is_long = wanted == 0 || size(given, one) == size(wanted, other);
            is_long && (is_bits || one == other)
        }
        _ => false,
    })
}

impl<'m, 'a> Check<'m, 'a> {
    /// Checks a call; false for one through a register of what is listed.
    pub(super) fn call(&mut self, instruction: &Instruction<'a>) -> bool {
        let module = self.module;
        self.declared(instruction.operands);
        let operands = module.operands(instruction.operands);
        let is_list = |operand: &&'m Operand<'a>| matches!(operand.kind, OperandKind::List(_));
        let given = operands.first().filter(is_list);
        let rest = &operands[usize::from(given.is_some())..];
        if let Some(word) = module.modifiers(instruction.modifiers).iter().find(|word| **word != ".uni") {
            let message = format!("`{word}` on a call: expected `call` or `call.uni`");
            self.report(Finding::error("PTX0023", self.span(word).place(), message).rule(INSTRUCTIONS));
        }
        let Some((callee, name)) = rest.first().and_then(|callee| Some((callee, callee.name()?))) else {
            let place = rest.first().map_or(instruction.span, |callee| callee.span).place();
            let message = "a call of nothing: expected a function's name or a register, then `, (a, b)`";
            self.report(Finding::error("PTX0030", place, message).rule(INSTRUCTIONS));
            return true;
        };
        let entity = self.scopes.find(name);
        let arguments = rest.get(1).filter(is_list);
        let behind = &rest[1 + usize::from(arguments.is_some())..];
        let most = usize::from(entity != Some(Entity::Function));
        if let Some(more) = behind.get(most) {
            let what = if most == 0 { "a call of a function by its name" } else { "a call" };
            let message = format!("`{}` behind {what}: expected no more", more.span.of(module.text()));
            self.report(Finding::error("PTX0028", more.span.place(), message).rule(INSTRUCTIONS));
            return true;
        }
        match entity {
            Some(Entity::Function) => {}
            Some(Entity::Register { ty, lanes }) => {
                let is_address = lanes == 1 && Type::of_register(ty).is_some_and(|ty| ty.is_integer() && ty.bits >= 32);
                if !is_address {
                    let message = format!("a call through the `{ty}` register `{name}`: expected one of an address");
                    self.report(Finding::error("PTX0027", callee.span.place(), message).rule(INSTRUCTIONS));
                }
                return self.call_through(instruction, name, behind.first(), [given, arguments]);
            }
            None if !super::is_special(name) => return true,
            entity => {
                let noun = entity.map_or("special register", Entity::noun);
                let message = format!("a call of the {noun} `{name}`: expected a function or a register");
                self.report(Finding::error("PTX0030", callee.span.place(), message).rule(INSTRUCTIONS));
                return true;
            }
        }
        let (returns, parameters) = (listed(given), listed(arguments));
        let found = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        let counted = found.iter().find(|it| (it.returns.len, it.parameters.len) == (returns, parameters)).copied();
        let first = found.first().copied();
        if first.is_some_and(|function| function.is_entry) {
            let message = format!("`{name}` is a kernel: expected a function");
            self.report(Finding::error("PTX0030", callee.span.place(), message).rule(INSTRUCTIONS));
        } else if let Some(function) = counted {
            if found.iter().all(|it| it.body.is_none()) {
                self.narrow_values(function, Some(callee.span));
            }
            self.values(function, [(Role::Result, given), (Role::Argument, arguments)]);
        } else if let Some(first) = first {
            let (gives, takes) = (first.returns.len, first.parameters.len);
            let message =
                format!("`{name}` called with {parameters} values for {returns} results: expected {takes} for {gives}");
            self.report(Finding::error("PTX0028", instruction.span.place(), message).rule(INSTRUCTIONS));
        }
        true
    }

    /// Checks a call through a register, by what it is said to call; false where that is no prototype.
    fn call_through(
        &mut self,
        instruction: &Instruction<'a>,
        name: &str,
        described: Option<&Operand<'a>>,
        [given, arguments]: [Option<&'m Operand<'a>>; 2],
    ) -> bool {
        let Some(described) = described else {
            let message =
                format!("a call through `{name}` without a prototype: expected its label as the last operand");
            let finding = Finding::error("PTX0028", instruction.span.place(), message).rule(INSTRUCTIONS);
            self.report(finding.help("declare one with `.callprototype`, or the functions with `.calltargets`"));
            return true;
        };
        let entity = described.name().and_then(|label| self.scopes.find(label));
        // A variable may hold the addresses of functions.
        let label = match (described.name(), entity) {
            (Some(label), Some(Entity::Label)) => label,
            (Some(_), None | Some(Entity::Variable(..))) => return false,
            _ => "",
        };
        match self.described.find(label) {
            Some(Found::Name(_, Described::Prototype(prototype))) => {
                let prototype = *prototype;
                let (returns, parameters) = (listed(given), listed(arguments));
                let (gives, takes) = (prototype.returns.len, prototype.parameters.len);
                if (returns, parameters) == (gives, takes) {
                    self.narrow_values(prototype, Some(instruction.span));
                    self.values(prototype, [(Role::Result, given), (Role::Argument, arguments)]);
                } else {
                    let message = format!(
                        "`{name}` called with {parameters} values for {returns} results: its prototype has {takes} for {gives}"
                    );
                    self.report(Finding::error("PTX0028", instruction.span.place(), message).rule(INSTRUCTIONS));
                }
                true
            }
            Some(Found::Name(_, Described::Calls)) => false,
            _ => {
                let found = described.span.of(self.module.text());
                let message = format!(
                    "`{found}` as what `{name}` calls: expected the label of a prototype or of `.calltargets` before"
                );
                self.report(Finding::error("PTX0030", described.span.place(), message).rule(INSTRUCTIONS));
                true
            }
        }
    }

    /// Where a `brx.idx` goes is a list that stands before it: a list may not be used before, as a label may.
    pub(super) fn indexed_branch(&mut self, instruction: &Instruction<'a>) {
        let Some(targets) = self.module.operands(instruction.operands).get(1) else { return };
        let label = targets.name().filter(|label| matches!(self.scopes.find(label), Some(Entity::Label)));
        let Some(label) = label else { return };
        if !matches!(self.described.find(label), Some(Found::Name(_, Described::Jumps))) {
            let message = format!("`{label}` as where `brx.idx` goes: expected the label of `.branchtargets` before");
            self.report(Finding::error("PTX0030", targets.span.place(), message).rule(INSTRUCTIONS));
        }
    }

    /// Checks the values of a call against the function's parameters, of which there are as many.
    fn values(&mut self, function: &'m Function<'a>, lists: [(Role, Option<&'m Operand<'a>>); 2]) {
        let module = self.module;
        for (role, list) in lists {
            let Some(Operand { kind: OperandKind::List(items), .. }) = list else { continue };
            let formals = if role == Role::Result { function.returns } else { function.parameters };
            for (operand, formal) in module.operands(*items).iter().zip(module.variables(formals)) {
                self.value(operand, formal, role);
            }
        }
    }

    /// That the values of a function, one that has a body or is called, are not of a type too narrow.
    pub(super) fn narrow_values(&mut self, function: &Function<'a>, call: Option<Span>) {
        if function.is_entry || self.version.is_some_and(|version| version < CALLED) {
            return;
        }
        let module = self.module;
        for variable in [function.returns, function.parameters].iter().flat_map(|list| module.variables(*list)) {
            let (name, ty) = (variable.name, variable.ty);
            let is_one = variable.lanes == 1 && variable.dimensions.len == 0;
            if is_one && NARROW.contains(&ty) {
                let place = call.unwrap_or_else(|| self.span(name)).place();
                let message =
                    format!("the value `{name}` of a function in `{ty}`: expected 32 bits, or `.b8`, `.b16` or `.f16`");
                self.report(Finding::error("PTX0027", place, message).rule(ENTRIES));
            }
        }
    }

    fn value(&mut self, operand: &Operand<'a>, formal: &Variable<'a>, role: Role) {
        // What a vector register is as a parameter was not asked.
        if formal.lanes > 1 {
            return;
        }
        let wanted = Layout::of(self.module, formal);
        let Some(ty) = wanted.register() else { return };
        let found = match operand.kind {
            OperandKind::Discard if role == Role::Result => return,
            OperandKind::Name(name) if name != "WARP_SZ" => match self.scopes.find(name) {
                Some(Entity::Register { ty, lanes }) => Ok((Layout::of_register(ty, lanes), Space::Reg)),
                Some(Entity::Variable(Space::Param, Holds::Anything, layout)) => Ok((layout, Space::Param)),
                Some(Entity::Variable(Space::Param, ..)) => Err(format!("the caller's own parameter `{name}`")),
                Some(entity) => Err(format!("the {} `{name}`", entity.noun())),
                // Reported as declared nowhere, unless it is a special register.
                None if super::is_special(name) => Err(format!("the special register `{name}`")),
                None => return,
            },
            OperandKind::Number(_)
            | OperandKind::Name(_)
            | OperandKind::Group(_)
            | OperandKind::Cast(..)
            | OperandKind::Choose(_)
            | OperandKind::Binary(..)
            | OperandKind::Unary(Unary::Plus | Unary::Minus | Unary::Complement, _) => {
                match evaluate(self.module, operand) {
                    Ok(constant) if wanted.elements.is_none() && holds(constant, ty) => return,
                    Ok(_) => return self.unfit(operand, formal, &wanted, "a constant", ""),
                    Err(_) => Err("this".to_owned()),
                }
            }
            _ => Err("this".to_owned()),
        };
        match found {
            Err(found) => {
                let message = format!(
                    "{found} for `{}` of a call: expected a register, a `.param` variable or a constant",
                    formal.name
                );
                self.report(Finding::error("PTX0030", operand.span.place(), message).rule(INSTRUCTIONS));
            }
            Ok((given, space)) => {
                let Some(is_right) = fits(&given, &wanted) else { return };
                let name = operand.name().unwrap_or_default();
                let found = format!("`{name}`, {}", given.text(space));
                if !is_right || space == Space::Reg && wanted.elements.is_some() {
                    self.unfit(operand, formal, &wanted, &found, "convert it, or copy its bits with `mov`");
                } else if given.alignment() != wanted.alignment() {
                    let found = format!("{found} aligned to {} bytes", given.alignment());
                    let help = "an argument and a result are aligned as the parameter is";
                    self.unfit(operand, formal, &wanted, &found, help);
                }
            }
        }
    }

    fn unfit(&mut self, operand: &Operand<'a>, formal: &Variable<'a>, wanted: &Layout, found: &str, help: &str) {
        let message = format!(
            "{found} for `{}` of a call: expected what stands for {} aligned to {} bytes",
            formal.name,
            wanted.text(formal.space),
            wanted.alignment()
        );
        self.report(Finding::error("PTX0027", operand.span.place(), message).rule(INSTRUCTIONS).help(help));
    }
}
