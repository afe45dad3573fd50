//! Branches, returns and calls.

use super::statement::Inst;
use super::{Body, Entity, Purpose, Result};
use crate::ast::{Function, Operand as Written, OperandKind, Variable};
use crate::scopes::Scopes;
use crate::types::Type;
use roundonce_ir::{Op, Operand, Terminator, Width};

/// Calls within calls; deeper ones are refused as recursion is.
const DEEPEST: usize = 64;

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn bra(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let target = self.label(self.operand_at(inst, 0)?)?;
        self.branch(target);
        Ok(())
    }

    pub(super) fn exit(&mut self) {
        self.emit(Op::Exit);
        if self.guard.is_none() {
            self.after(Terminator::Exit);
        }
    }

    /// From a function that was inlined back to its call; from the kernel itself out.
    pub(super) fn ret(&mut self) {
        match self.calls.last() {
            Some(&(_, back)) => self.branch(back),
            None => {
                self.returns();
                self.exit();
            }
        }
    }

    /// Ends the block; what follows is reached by its own labels alone.
    fn after(&mut self, terminator: Terminator) {
        self.end(terminator);
        self.current = self.new_block();
    }

    /// On to a block, where the guard holds.
    fn branch(&mut self, target: usize) {
        let Some(guard) = self.guard.take() else {
            return self.after(Terminator::Jump(target));
        };
        let next = self.new_block();
        let (then, otherwise) = if guard.expected { (target, next) } else { (next, target) };
        self.end(Terminator::Branch { pred: guard.pred, then, otherwise });
        self.current = next;
    }

    fn label(&mut self, written: &Written<'a>) -> Result<usize> {
        let name = written.name().ok_or_else(|| self.unsupported("a computed branch target"))?;
        self.label_named(name)
    }

    fn label_named(&mut self, name: &'a str) -> Result<usize> {
        match self.find(name) {
            Some(Entity::Label(block)) => Ok(block),
            _ => Err(self.malformed(format!("there is no label `{name}`"))),
        }
    }

    /// `brx.idx i, targets`
    pub(super) fn brx(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let index = self.value_at(inst, 0, Type::U32)?;
        let name = self.operand_at(inst, 1)?.name();
        let names = match name.and_then(|name| self.find(name)) {
            Some(Entity::Targets(names)) => names,
            _ => return Err(self.malformed("there is no such list of targets")),
        };
        let mut targets = Vec::new();
        for name in names {
            targets.push(self.label_named(name)?);
        }
        let Some(&last) = targets.last() else { return Err(self.malformed("the list of targets is empty")) };
        // An index past the end is not defined.
        let switch = Terminator::Switch { index, targets, otherwise: last };
        self.only_if(|body| {
            body.after(switch);
            Ok(())
        })
    }

    /// Runs what cannot be guarded itself in a block that is entered where the guard holds.
    pub(super) fn only_if(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let Some(guard) = self.guard.take() else { return work(self) };
        let (inside, next) = (self.new_block(), self.new_block());
        let (then, otherwise) = if guard.expected { (inside, next) } else { (next, inside) };
        self.end(Terminator::Branch { pred: guard.pred, then, otherwise });
        self.current = inside;
        let result = work(self);
        self.start(next);
        result
    }

    /// `call (results), function, (arguments)`, with the lists left out where they are empty.
    pub(super) fn call(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        if self.purpose == Purpose::Analysis {
            return Err(self.unsupported("a call"));
        }
        let list = |written: &Written<'a>| match written.kind {
            OperandKind::List(items) => Some(items),
            _ => None,
        };
        let mut operands = inst.operands.iter().peekable();
        let results = operands.peek().and_then(|written| list(written));
        if results.is_some() {
            operands.next();
        }
        let results = results.map_or(&[][..], |items| self.module.operands(items));
        let name = operands.next().and_then(|written| written.name());
        let arguments = operands.next().and_then(list).map_or(&[][..], |items| self.module.operands(items));
        let Some(name) = name else { return Err(self.malformed("the call names no function")) };
        if matches!(self.find(name), Some(Entity::Register(..))) {
            return Err(self.unsupported("an indirect call"));
        }
        let Some(&function) = self.lowering.functions.get(name) else {
            return Err(self.malformed(format!("there is no function `{name}`")));
        };
        if function.body.is_none() {
            return self.external(name, results, arguments);
        }
        if self.calls.iter().any(|(other, _)| *other == name) || self.calls.len() >= DEEPEST {
            return Err(self.unsupported(format!("the recursive call of `{name}`")));
        }
        self.only_if(|body| body.inline(function, results, arguments))
    }

    /// Functions of the runtime.
    fn external(&mut self, name: &str, results: &'m [Written<'a>], arguments: &'m [Written<'a>]) -> Result<()> {
        match (name, arguments) {
            ("vprintf", [format, args]) => {
                let ty = Type { bits: self.address_width().bits(), ..Type::U32 };
                let (format, args) = (self.value(format, ty)?, self.value(args, ty)?);
                let d = match results {
                    [result] => Some(self.destination(result, Type::B32)?),
                    _ => None,
                };
                self.emit(Op::Print { d, format, args });
                Ok(())
            }
            ("__assertfail" | "__assert_fail", _) => {
                self.emit(Op::Trap { message: "an assertion failed".to_owned() });
                Ok(())
            }
            _ => Err(self.unsupported(format!("the call of `{name}`, which has no body"))),
        }
    }

    /// A function's body in place of its call.
    fn inline(
        &mut self,
        function: &'m Function<'a>,
        results: &'m [Written<'a>],
        arguments: &'m [Written<'a>],
    ) -> Result<()> {
        let (returns, parameters) =
            (self.module.variables(function.returns), self.module.variables(function.parameters));
        if returns.len() != results.len() || parameters.len() != arguments.len() {
            let (wanted, given) = (parameters.len(), arguments.len());
            return Err(self.malformed(format!("`{}` takes {wanted} arguments, {given} are given", function.name)));
        }
        let mut scope = Scopes::default();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let entity = self.bind(parameter, argument, true)?;
            scope.declare(parameter.name, entity);
        }
        let mut copies = Vec::new();
        for (result, to) in returns.iter().zip(results) {
            let entity = self.bind(result, to, false)?;
            if let Entity::Register(from, ty) | Entity::CallParam(from, ty) = &entity {
                copies.push((self.exact(to, *ty)?, *from));
            }
            scope.declare(result.name, entity);
        }
        self.separate();
        let back = self.new_block();
        self.kernel.separate.push(back);
        let outer = core::mem::replace(&mut self.scopes, scope);
        let (top, span, loc, source) = (self.local_top, self.span, self.loc, self.source.clone());
        self.calls.push((function.name, back));
        let outcome = match &function.body {
            Some(body) => self.statements(body),
            None => Ok(()),
        };
        self.calls.pop();
        self.scopes = outer;
        self.local_top = top;
        (self.span, self.loc, self.source) = (span, loc, source);
        self.start(back);
        outcome?;
        for (to, from) in copies {
            self.emit(Op::Move { d: to, a: from.into() });
        }
        Ok(())
    }

    /// What a function's parameter is for one call: a register of its own, or the caller's memory.
    fn bind(&mut self, formal: &Variable<'a>, actual: &'m Written<'a>, copies: bool) -> Result<Entity<'a>> {
        let of_caller = actual.name().and_then(|name| self.find(name));
        if let Some(Entity::Local(offset)) = of_caller {
            return Ok(Entity::Local(offset));
        }
        let Some(ty) = Type::of(formal.ty).filter(|_| formal.dimensions.len == 0) else {
            return Err(self.unsupported(format!("parameter `{}`", formal.name)));
        };
        let reg = self.fresh(ty.width());
        if copies {
            let a: Operand = self.value(actual, ty)?;
            self.emit(Op::Move { d: reg, a });
        }
        debug_assert!(ty.width() >= Width::Pred);
        Ok(if formal.space == crate::ast::Space::Reg { Entity::Register(reg, ty) } else { Entity::CallParam(reg, ty) })
    }
}
