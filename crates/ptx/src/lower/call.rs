//! Calls: of functions of the runtime, of functions inlined, and through addresses.

use super::routine::CODE_ALIGN;
use super::statement::Inst;
use super::{Body, Entity, Named, Purpose, Result};
use crate::ast::{Function, Operand as Written, OperandKind, Operands, Variable};
use crate::scopes::Scopes;
use crate::types::Type;
use core::iter::Peekable;
use core::slice::Iter;
use roundonce_ir::{
    AtomicKind, Comparand, Comparison, Guard, IntOp, Op, Operand, Reg, Signedness, Space, Special, Terminator, Width,
};
use std::collections::HashSet;

/// Calls inlined within calls; a function that is called deeper is lowered once.
const DEEPEST: usize = 64;

/// Whether a function takes so many arguments and gives so many results.
fn takes(function: &Function, results: &[Written], arguments: &[Written]) -> bool {
    function.returns.len as usize == results.len() && function.parameters.len as usize == arguments.len()
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// `call (results), function, (arguments)`, with the lists left out where they are empty.
    pub(super) fn call(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        if self.purpose == Purpose::Analysis {
            return Err(self.unsupported("a call"));
        }
        let mut operands = inst.operands.iter().peekable();
        let next_list = |operands: &mut Peekable<Iter<'m, Written<'a>>>| {
            let written = operands.next_if(|written| matches!(written.kind, OperandKind::List(_)));
            match written.map(|written| &written.kind) {
                Some(&OperandKind::List(items)) => self.module.operands(items),
                _ => &[],
            }
        };
        let results = next_list(&mut operands);
        let callee = operands.next();
        let arguments = next_list(&mut operands);
        let Some((callee, name)) = callee.and_then(|written| Some((written, written.name()?))) else {
            return Err(self.malformed("the call names no function"));
        };
        if matches!(self.find(name), Some(Entity::Register(..))) {
            let described = operands.next().and_then(|written| self.find(written.name()?));
            return self.only_if(|body| body.call_address(callee, described, results, arguments));
        }
        let Some(&function) = self.lowering.functions.get(name) else {
            return Err(self.malformed(format!("there is no function `{name}`")));
        };
        if function.body.is_none() {
            return self.external(name, results, arguments);
        }
        if self.lowering.recursive.contains(function.name) || self.calls.len() >= DEEPEST {
            return self.only_if(|body| body.call_routine(function, results, arguments));
        }
        self.only_if(|body| body.inline(function, results, arguments))
    }

    /// The functions that a list of targets names.
    fn listed(&self, list: Operands) -> HashSet<&'a str> {
        let named = |name: &str| self.lowering.functions.get(name).map(|function| function.name);
        let mut listed = HashSet::new();
        for written in self.operands(list) {
            match written.kind {
                OperandKind::Range(prefix, count) => {
                    listed.extend((0..count).map_while(|number| named(&format!("{prefix}{number}"))));
                }
                _ => listed.extend(written.name().and_then(named)),
            }
        }
        listed
    }

    /// A call of the function that an address names: of those whose address is taken somewhere, and that the call's prototype or list
    /// describes.
    fn call_address(
        &mut self,
        callee: &'m Written<'a>,
        described: Option<Entity<'m, 'a>>,
        results: &'m [Written<'a>],
        arguments: &'m [Written<'a>],
    ) -> Result<()> {
        let width = self.address_width();
        let ty = Type { bits: width.bits(), ..Type::U32 };
        let address = self.value(callee, ty)?;
        let mask = CODE_ALIGN - 1;
        // Rotated, an address that is no function's is a number larger than all of theirs.
        let low = self.int(IntOp::And, width, [address, Operand::Imm(mask), Operand::ZERO]);
        let high = self.int(
            IntOp::Shr(Signedness::Unsigned),
            width,
            [address, Operand::Imm(mask.count_ones().into()), Operand::ZERO],
        );
        let far = Operand::Imm((width.bits() - mask.count_ones()).into());
        let low = self.int(IntOp::Shl, width, [low.into(), far, Operand::ZERO]);
        let number = self.int(IntOp::Or, width, [low.into(), high.into(), Operand::ZERO]);
        let largest = Operand::Imm(u32::MAX.into());
        let number = self.int(IntOp::Min(Signedness::Unsigned), width, [number.into(), largest, Operand::ZERO]);
        let mut index = number;
        if width == Width::B64 {
            index = self.fresh(Width::B32);
            self.emit(Op::Extract { d: index, a: number.into(), width, shift: 0 });
        }
        let (nowhere, join) = (self.new_block(), self.new_block());
        // Every call has a target for each function whose address is taken.
        self.size += self.lowering.addressed.len();
        let listed = match described {
            Some(Entity::Targets(list)) => self.listed(list),
            _ => HashSet::new(),
        };
        self.size += listed.len();
        let mut targets = vec![nowhere];
        let mut called = Vec::new();
        for &function in &self.lowering.addressed {
            let fits = takes(function, results, arguments)
                && match &described {
                    Some(Entity::Prototype(prototype)) => self.is_called_as(function, prototype)?,
                    Some(Entity::Targets(_)) => listed.contains(function.name),
                    _ => true,
                };
            let target = if fits { self.new_block() } else { nowhere };
            called.extend(fits.then_some((function, target)));
            targets.push(target);
        }
        self.end(Terminator::Switch { index: index.into(), targets, otherwise: nowhere });
        for (function, target) in called {
            // Long before the next instruction there may be more than can be run.
            if self.is_too_large() {
                return Ok(());
            }
            self.current = target;
            self.call_routine(function, results, arguments)?;
            self.end(Terminator::Jump(join));
        }
        self.current = nowhere;
        let message = "the address called is that of no such function".to_owned();
        self.emit(Op::Trap { message, is_asked_for: true });
        self.start(join);
        Ok(())
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
            ("malloc", [bytes]) => {
                let [result] = results else { return Err(self.malformed("`malloc` returns one value")) };
                self.only_if(|body| body.malloc(result, bytes))
            }
            // What is given back is not given away again.
            ("free", [_]) => Ok(()),
            ("__assertfail" | "__assert_fail", _) => {
                self.emit(Op::Trap { message: "an assertion failed".to_owned(), is_asked_for: true });
                Ok(())
            }
            _ => Err(self.unsupported(format!("the call of `{name}`, which has no body"))),
        }
    }

    /// The next piece of the heap, a multiple of 16 bytes; 0 where the rest is too small.
    fn malloc(&mut self, result: &'m Written<'a>, bytes: &'m Written<'a>) -> Result<()> {
        let (width, heap) = (self.address_width(), self.lowering.heap);
        let ty = Type { bits: width.bits(), ..Type::U32 };
        let Some(variable) = heap else { return Err(self.malformed("`malloc` is not declared")) };
        let (d, bytes) = (self.exact(result, ty)?, self.value(bytes, ty)?);
        let end = self.lowering.program.variables[variable as usize].size;
        // One more than the heap has is as good as any more; none is one piece too.
        let bytes = self.int(IntOp::Min(Signedness::Unsigned), width, [bytes, Operand::Imm(end), Operand::ZERO]);
        let bytes = self.int(IntOp::Max(Signedness::Unsigned), width, [bytes.into(), Operand::Imm(1), Operand::ZERO]);
        let bytes = self.int(IntOp::Add, width, [bytes.into(), Operand::Imm(15), Operand::ZERO]);
        let bytes = self.int(IntOp::And, width, [bytes.into(), Operand::Imm(!15 & width.mask()), Operand::ZERO]);
        let (address, old, fits) = (self.fresh(width), self.fresh(width), self.fresh(Width::Pred));
        self.emit(Op::Special { d: address, special: Special::Address(variable) });
        let take = |b: Reg, d: Option<Reg>| Op::Atomic {
            d,
            kind: AtomicKind::Int(IntOp::Add),
            space: Space::Global,
            bytes: width.bits() / 8,
            address: address.into(),
            offset: 0,
            b: b.into(),
            c: Operand::ZERO,
            high: None,
        };
        self.emit(take(bytes, Some(old)));
        let next = self.int(IntOp::Add, width, [old.into(), bytes.into(), Operand::ZERO]);
        let of = Comparand::Unsigned(width);
        self.emit(Op::Compare { d: fits, comparison: Comparison::Le, of, a: next.into(), b: Operand::Imm(end) });
        // What did not fit may leave room for less.
        let back = self.int(IntOp::Sub, width, [Operand::ZERO, bytes.into(), Operand::ZERO]);
        self.guard = Some(Guard { pred: fits, expected: false });
        self.emit(take(back, None));
        self.guard = None;
        let piece = self.int(IntOp::Add, width, [address.into(), old.into(), Operand::ZERO]);
        self.emit(Op::Select { d, p: fits.into(), a: piece.into(), b: Operand::ZERO });
        Ok(())
    }

    pub(super) fn same_count(
        &self,
        function: &Function<'a>,
        results: &[Written<'a>],
        arguments: &[Written<'a>],
    ) -> Result<()> {
        if takes(function, results, arguments) {
            return Ok(());
        }
        let (wanted, given) = (function.parameters.len, arguments.len());
        Err(self.malformed(format!("`{}` takes {wanted} arguments, {given} are given", function.name)))
    }

    /// A function's body in place of its call.
    fn inline(
        &mut self,
        function: &'m Function<'a>,
        results: &'m [Written<'a>],
        arguments: &'m [Written<'a>],
    ) -> Result<()> {
        self.same_count(function, results, arguments)?;
        let (returns, parameters) =
            (self.module.variables(function.returns), self.module.variables(function.parameters));
        let mut scope = Scopes::default();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let entity = self.bind(parameter, argument, true)?;
            scope.declare(parameter.name, Named::of(parameter, entity));
        }
        let mut copies = Vec::new();
        for (result, to) in returns.iter().zip(results) {
            let entity = self.bind(result, to, false)?;
            if let Entity::Register(from, ty) | Entity::CallParam(from, ty) = &entity {
                copies.push((self.exact(to, *ty)?, *from));
            }
            scope.declare(result.name, Named::of(result, entity));
        }
        self.separate();
        let kept = self.keep_stack(function.name);
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
        self.give_back(kept);
        for (to, from) in copies {
            self.emit(Op::Move { d: to, a: from.into() });
        }
        Ok(())
    }

    /// What a function's parameter is for one call: a register of its own, or the caller's memory.
    fn bind(&mut self, formal: &Variable<'a>, actual: &'m Written<'a>, copies: bool) -> Result<Entity<'m, 'a>> {
        let of_caller = actual.name().and_then(|name| self.find(name));
        if let Some(memory @ (Entity::Local(_) | Entity::Frame(_))) = of_caller {
            return Ok(memory);
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
