//! Functions that are called and return: recursive ones, and those called through addresses. All others are inlined.
//!
//! The program form has jumps only. So such a function is lowered once in a kernel, and a call puts the arguments and its
//! own number into registers and jumps to it; at the end it jumps to what follows the call of that number. Each call gets
//! a frame on a stack in local memory: the function's local variables, and what its own calls must keep. When all blocks
//! are known, each call stores the registers that are read after it and that some such function writes, and loads them
//! again afterwards.

use super::module::aliases;
use super::{Body, Draft, Entity, Lowering, Named, Result, aligned, element_bytes};
use crate::ast::{Function, Operand as Written, OperandKind, Space, Statement, Variable};
use crate::scopes::Scopes;
use crate::types::Type;
use roundonce_ir::{
    Comparand, Comparison, Instruction as Step, IntOp, Kernel, Liveness, Op, Operand, Reg, Role, SourceLoc,
    Space as Memory, Terminator, Width, too_large,
};
use std::collections::{HashMap, HashSet};

/// Addresses of functions are multiples of it, none of them zero.
pub(super) const CODE_ALIGN: u64 = 16;
/// Frames begin at multiples of it.
const FRAME_ALIGN: u32 = 16;

/// A function that is lowered once.
pub(super) struct Routine<'m, 'a> {
    function: &'m Function<'a>,
    /// Its first block, and the one that leads back.
    entry: usize,
    exit: usize,
    /// Which call it returns to.
    caller: Reg,
    parameters: Vec<Formal<'a>>,
    results: Vec<Formal<'a>>,
    /// Bytes of its parameters and variables in its frame.
    frame_bytes: u32,
    /// What follows each call.
    returns: Vec<usize>,
}

/// How a parameter or a result is handed over.
#[derive(Clone, Copy)]
struct Formal<'a> {
    name: &'a str,
    space: Space,
    bytes: u32,
    element: Option<u32>,
    passed: Passed,
}

#[derive(Clone, Copy)]
enum Passed {
    /// In a register between call and function; inside, it has another one.
    Register { between: Reg, inside: Reg, ty: Type },
    /// At an offset of the callee's frame.
    Frame(u32),
}

/// The type of a parameter or a result that is handed over in a register.
fn register_type(variable: &Variable) -> Option<Type> {
    let scalar = Type::of(variable.ty).filter(|_| variable.dimensions.len == 0 && variable.lanes <= 1);
    scalar.filter(|ty| (16..=64).contains(&ty.bits) || variable.space == Space::Reg)
}

/// A call of a routine.
pub(super) struct Site {
    /// The routine that calls; `None`: the kernel.
    owner: Option<usize>,
    /// The block that ends with the jump, and where in it registers are stored.
    before: usize,
    stores_at: usize,
    /// What follows.
    after: usize,
    /// Operations whose last operand is the size of the caller's frame.
    sized: [(usize, usize); 2],
}

/// Where a routine's registers are restored in the block behind its call.
const LOADS_AT: usize = 2;

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// The place of a variable in local memory; a routine's is in its frame.
    pub(super) fn local(&mut self, size: u32, align: u32) -> Result<Entity<'m, 'a>> {
        let start = aligned(self.local_top, align);
        self.local_top = start.checked_add(size).ok_or_else(|| self.malformed("too much local memory"))?;
        Ok(match self.owner {
            None => {
                self.kernel.local_bytes = self.kernel.local_bytes.max(self.local_top.next_multiple_of(8));
                Entity::Local(start)
            }
            Some(owner) => {
                let routine = &mut self.routines[owner];
                routine.frame_bytes = routine.frame_bytes.max(self.local_top);
                Entity::Frame(start)
            }
        })
    }

    /// The register that holds where the frame begins.
    pub(super) fn frame(&mut self) -> Reg {
        let width = self.address_width();
        match self.frame {
            Some(frame) => frame,
            None => *self.frame.insert(self.kernel.register(width)),
        }
    }

    /// The routine of a function, to be lowered when the kernel is.
    fn routine(&mut self, function: &'m Function<'a>) -> Result<usize> {
        if let Some(&known) = self.routine_of.get(function.name) {
            return Ok(known);
        }
        let mut frame_bytes = 0;
        let mut formals = |body: &mut Self, variables: &'m [Variable<'a>]| -> Result<Vec<Formal<'a>>> {
            let mut formals = Vec::new();
            for variable in variables {
                let (bytes, align) = body.size_of(variable)?;
                let passed = match register_type(variable) {
                    Some(ty) => {
                        let (between, inside) = (body.fresh(ty.width()), body.fresh(ty.width()));
                        Passed::Register { between, inside, ty }
                    }
                    None => {
                        let start = aligned(frame_bytes, align);
                        frame_bytes = start.saturating_add(bytes);
                        Passed::Frame(start)
                    }
                };
                let element = element_bytes(variable);
                formals.push(Formal { name: variable.name, space: variable.space, bytes, element, passed });
            }
            Ok(formals)
        };
        let parameters = formals(self, self.module.variables(function.parameters))?;
        let results = formals(self, self.module.variables(function.returns))?;
        let (entry, exit, caller) = (self.new_block(), self.new_block(), self.fresh(Width::B32));
        self.kernel.separate.push(entry);
        let returns = Vec::new();
        self.routines.push(Routine { function, entry, exit, caller, parameters, results, frame_bytes, returns });
        let number = self.routines.len() - 1;
        self.routine_of.insert(function.name, number);
        Ok(number)
    }

    /// Whether a function can be called as another one is: each parameter and result has the size that it has there, and is handed over
    /// in the same way.
    pub(super) fn is_called_as(&self, function: &Function<'a>, prototype: &Function<'a>) -> Result<bool> {
        let parts = |of: &Function<'a>| {
            let variables = [of.returns, of.parameters].map(|variables| self.module.variables(variables));
            let part = |variable| Ok((self.size_of(variable)?.0, register_type(variable).is_some()));
            variables.map(|variables| variables.iter().map(part).collect::<Result<Vec<_>>>())
        };
        let ([returns, parameters], [given, taken]) = (parts(function), parts(prototype));
        Ok(returns? == given? && parameters? == taken?)
    }

    pub(super) fn call_routine(
        &mut self,
        function: &'m Function<'a>,
        results: &'m [Written<'a>],
        arguments: &'m [Written<'a>],
    ) -> Result<()> {
        self.same_count(function, results, arguments)?;
        let callee = self.routine(function)?;
        let (width, frame) = (self.address_width(), self.frame());
        let next = self.fresh(width);
        let mut sized = [self.here(); 2];
        self.move_by(IntOp::Add, next, frame.into(), Operand::ZERO);
        for (formal, actual) in self.routines[callee].parameters.clone().iter().zip(arguments) {
            match formal.passed {
                Passed::Register { between, ty, .. } => {
                    let a = self.scalar_argument(formal, actual, ty)?;
                    self.emit(Op::Move { d: between, a });
                }
                Passed::Frame(offset) => {
                    let from = self.memory_argument(formal, actual)?;
                    self.copy_local((next.into(), offset), from, formal.bytes);
                }
            }
        }
        let after = self.new_block();
        let site = self.routines[callee].returns.len();
        self.routines[callee].returns.push(after);
        let (before, stores_at) = self.here();
        self.emit(Op::Move { d: self.routines[callee].caller, a: Operand::Imm(site as u64) });
        self.emit(Op::Move { d: frame, a: next.into() });
        self.end(Terminator::Jump(self.routines[callee].entry));
        self.kernel.separate.push(after);
        self.current = after;
        let top = self.fresh(width);
        self.emit(Op::Move { d: top, a: frame.into() });
        sized[1] = self.here();
        self.move_by(IntOp::Sub, frame, frame.into(), Operand::ZERO);
        debug_assert_eq!(self.here().1, LOADS_AT);
        for (formal, to) in self.routines[callee].results.clone().iter().zip(results) {
            match formal.passed {
                Passed::Register { between, ty, .. } => {
                    let d = self.exact(to, ty)?;
                    self.emit(Op::Move { d, a: between.into() });
                }
                Passed::Frame(offset) => {
                    let to = self.memory_argument(formal, to)?;
                    self.copy_local(to, (top.into(), offset), formal.bytes);
                }
            }
        }
        self.sites.push(Site { owner: self.owner, before, stores_at, after, sized });
        Ok(())
    }

    pub(super) fn here(&self) -> (usize, usize) {
        (self.current, self.blocks[self.current].instructions.len())
    }

    pub(super) fn move_by(&mut self, op: IntOp, d: Reg, a: Operand, b: Operand) {
        self.emit(Op::Int { d, op, width: self.address_width(), args: [a, b, Operand::ZERO, Operand::ZERO] });
    }

    fn scalar_argument(&mut self, formal: &Formal<'a>, actual: &'m Written<'a>, ty: Type) -> Result<Operand> {
        match actual.name().and_then(|name| self.find(name)) {
            Some(Entity::Local(_) | Entity::Frame(_)) => Err(self.unsupported(format!("parameter `{}`", formal.name))),
            _ => self.value(actual, ty),
        }
    }

    fn memory_argument(&mut self, formal: &Formal<'a>, actual: &'m Written<'a>) -> Result<(Operand, u32)> {
        match actual.name().and_then(|name| self.find(name)) {
            Some(Entity::Local(offset)) => Ok((Operand::Imm(offset.into()), 0)),
            Some(Entity::Frame(offset)) => Ok((self.frame().into(), offset)),
            _ => Err(self.unsupported(format!("parameter `{}`", formal.name))),
        }
    }

    fn copy_local(&mut self, to: (Operand, u32), from: (Operand, u32), bytes: u32) {
        // Both places are aligned as the parameter is, and frames to 16 bytes.
        let base = |operand: Operand| match operand {
            Operand::Imm(address) => address as u32,
            Operand::Reg(_) => 0,
        };
        let all = bytes | to.1 | from.1 | base(to.0) | base(from.0) | 8;
        let each = 1 << all.trailing_zeros();
        let width = Width::holding(each * 8);
        for at in (0..bytes).step_by(each as usize) {
            let value = self.fresh(width);
            let place = |(address, offset): (Operand, u32)| (address, i64::from(offset + at));
            let (address, offset) = place(from);
            let d = vec![Some(value)];
            self.emit(Op::Load { d, space: Memory::Local, bytes: each, signed: false, address, offset });
            let (address, offset) = place(to);
            let values = vec![value.into()];
            self.emit(Op::Store { values, width, space: Memory::Local, bytes: each, address, offset });
        }
    }

    /// The bodies of all routines that are called, after the kernel's.
    pub(super) fn routines(&mut self) -> Result<()> {
        self.first_of_routines = self.blocks.len();
        let mut next = 0;
        while next < self.routines.len() {
            self.end(Terminator::Exit);
            self.routine_body(next)?;
            next += 1;
        }
        self.owner = None;
        Ok(())
    }

    fn routine_body(&mut self, number: usize) -> Result<()> {
        let routine = &self.routines[number];
        let (function, entry, exit) = (routine.function, routine.entry, routine.exit);
        let (parameters, results) = (routine.parameters.clone(), routine.results.clone());
        self.local_top = routine.frame_bytes;
        self.owner = Some(number);
        self.calls = vec![(function.name, exit)];
        (self.current, self.span) = (entry, function.span);
        let line = self.lowering.line(function.span.start);
        let (text, source) = (function.name.to_owned(), String::new());
        let span = self.module.span_of(function.name).unwrap_or(function.span);
        let span = span.start as usize..span.end as usize;
        self.kernel.source_locs.push(SourceLoc { line, text, source, span });
        self.loc = self.kernel.source_locs.len() as u32 - 1;
        // Whether the stack is full: completed when the frame's size is known.
        let (full, frame) = (self.fresh(Width::Pred), self.frame());
        let of = Comparand::Unsigned(self.address_width());
        let (a, b) = match self.lowering.moves_stack.is_empty() {
            true => (frame.into(), Operand::ZERO),
            false => (self.end_of_frame(frame).into(), self.stack().into()),
        };
        self.emit(Op::Compare { d: full, comparison: Comparison::Gt, of, a, b });
        self.trap_full_stack(full, &format!("`{}` is called too deep", function.name));
        let kept = self.keep_stack(function.name);
        let mut scope = Scopes::default();
        for formal in parameters.iter().chain(&results) {
            let entity = match formal.passed {
                Passed::Frame(offset) => Entity::Frame(offset),
                Passed::Register { inside, ty, .. } if formal.space == Space::Reg => Entity::Register(inside, ty),
                Passed::Register { inside, ty, .. } => Entity::CallParam(inside, ty),
            };
            scope.declare(formal.name, Named { entity, element: formal.element });
        }
        for formal in &parameters {
            if let Passed::Register { between, inside, .. } = formal.passed {
                self.emit(Op::Move { d: inside, a: between.into() });
            }
        }
        self.scopes = scope;
        if let Some(body) = &function.body {
            self.statements(body)?;
        }
        self.start(exit);
        self.give_back(kept);
        for formal in &results {
            if let Passed::Register { between, inside, .. } = formal.passed {
                self.emit(Op::Move { d: between, a: inside.into() });
            }
        }
        let routine = &self.routines[number];
        let (index, targets) = (routine.caller.into(), Vec::new());
        // Where all calls of it were refused, it returns to none.
        let otherwise = routine.returns.first().copied().unwrap_or(exit);
        self.end(Terminator::Switch { index, targets, otherwise });
        Ok(())
    }

    /// Completes the calls of a kernel whose blocks are all there: where routines return to, and what calls keep.
    pub(super) fn finish_routines(&mut self) -> Result<()> {
        // What is refused needs no end.
        let Some(frame) = self.frame.filter(|_| self.findings.is_empty()) else { return Ok(()) };
        for routine in &mut self.routines {
            if let Some(Terminator::Switch { targets, .. }) = &mut self.blocks[routine.exit].terminator {
                *targets = core::mem::take(&mut routine.returns);
            }
        }
        let kept = self.kept_by_calls(frame);
        if self.size + kept.iter().map(Vec::len).sum::<usize>() > self.lowering.settings.largest_kernel {
            let (what, help) = too_large(self.lowering.settings.largest_kernel);
            return Err(self.unsupported(what).help(help));
        }
        let mut bytes: HashMap<Option<usize>, u32> = HashMap::new();
        let locals = |owner: Option<usize>| owner.map_or(0, |number| aligned(self.routines[number].frame_bytes, 8));
        for (site, kept) in self.sites.iter().zip(&kept) {
            let size = aligned(locals(site.owner) + 8 * kept.len() as u32, FRAME_ALIGN);
            let known = bytes.entry(site.owner).or_default();
            *known = size.max(*known);
        }
        let size = |owner: Option<usize>| match bytes.get(&owner) {
            Some(&size) => size,
            None => aligned(locals(owner), FRAME_ALIGN),
        };
        let below = aligned(self.kernel.local_bytes, FRAME_ALIGN);
        for (number, routine) in self.routines.iter().enumerate() {
            let limit = u64::from(below)
                + u64::from(self.lowering.settings.stack_bytes).saturating_sub(size(Some(number)).into());
            if let Op::Compare { b, .. } = &mut self.blocks[routine.entry].instructions[0].op {
                *b = Operand::Imm(limit);
            }
        }
        for &(owner, block, index) in &self.ends_of_frames {
            if let Op::Int { args, .. } = &mut self.blocks[block].instructions[index].op {
                args[1] = Operand::Imm(size(owner).into());
            }
        }
        let sizes: Vec<u32> = self.sites.iter().map(|site| size(site.owner)).collect();
        let starts: Vec<u32> = self.sites.iter().map(|site| locals(site.owner)).collect();
        // Several calls may stand in one block: what is put into it last comes first.
        let sites = core::mem::take(&mut self.sites);
        for (site, &size) in sites.iter().zip(&sizes) {
            for (block, index) in site.sized {
                if let Op::Int { args, .. } = &mut self.blocks[block].instructions[index].op {
                    args[1] = Operand::Imm(size.into());
                }
            }
        }
        for ((site, kept), &start) in sites.iter().zip(&kept).zip(&starts).rev() {
            let loc = self.blocks[site.before].instructions[site.stores_at].loc;
            let (stores, loads) = self.spills(frame, start, kept, loc);
            self.blocks[site.before].instructions.splice(site.stores_at..site.stores_at, stores);
            self.blocks[site.after].instructions.splice(LOADS_AT..LOADS_AT, loads);
        }
        let loc = self.blocks[0].instructions.first().map_or(0, |step| step.loc);
        self.kernel.local_bytes = below.saturating_add(self.lowering.settings.stack_bytes);
        let ends = [(Some(frame), below), (self.stack, self.kernel.local_bytes)];
        let moves = ends
            .into_iter()
            .filter_map(|(end, at)| Some(Step::new(Op::Move { d: end?, a: Operand::Imm(at.into()) }, loc)));
        self.blocks[0].instructions.splice(0..0, moves);
        Ok(())
    }

    /// For each call, the registers that are read after it and that a routine writes, but for its results.
    fn kept_by_calls(&mut self, frame: Reg) -> Vec<Vec<Reg>> {
        let mut written = HashSet::new();
        let of_routines = self.routines.iter().flat_map(|routine| [routine.entry, routine.exit]);
        for block in of_routines.chain(self.first_of_routines..self.blocks.len()) {
            for step in &self.blocks[block].instructions {
                step.op.registers(|role, reg| {
                    if role == Role::Def {
                        written.insert(reg);
                    }
                });
            }
        }
        let results = self.routines.iter().flat_map(|routine| &routine.results);
        let between = results.filter_map(|formal| match formal.passed {
            Passed::Register { between, .. } => Some(between),
            Passed::Frame(_) => None,
        });
        for reg in between.chain([frame, self.carry]).chain(self.stack) {
            written.remove(&reg);
        }
        let within = self.within_functions();
        let liveness = Liveness::of(&within);
        let kept = self.sites.iter().map(|site| {
            let live = liveness.before_instruction(&within, site.after, 0);
            let mut kept: Vec<Reg> = live.registers().filter(|reg| written.contains(reg)).collect();
            kept.sort_unstable();
            kept
        });
        kept.collect()
    }

    /// The kernel as each function sees it: a call goes on behind itself, and a routine does not return.
    fn within_functions(&self) -> Kernel {
        let mut blocks: Vec<_> = self.blocks.iter().cloned().map(Draft::block).collect();
        for site in &self.sites {
            blocks[site.before].instructions.truncate(site.stores_at);
            blocks[site.before].terminator = Terminator::Jump(site.after);
        }
        for routine in &self.routines {
            let (index, otherwise) = (routine.caller.into(), routine.exit);
            blocks[routine.exit].terminator = Terminator::Switch { index, targets: Vec::new(), otherwise };
        }
        Kernel { blocks, ..self.kernel.clone() }
    }

    /// Stores of registers into a frame from an offset on, and the loads that undo them.
    fn spills(&mut self, frame: Reg, start: u32, kept: &[Reg], loc: u32) -> (Vec<Step>, Vec<Step>) {
        let (mut stores, mut loads) = (Vec::new(), Vec::new());
        for (place, &reg) in kept.iter().enumerate() {
            let (width, address, offset) = (self.kernel.width(reg), frame.into(), i64::from(start) + 8 * place as i64);
            let memory = width.max(Width::B16);
            let bytes = memory.bits() / 8;
            // A predicate is stored as a number.
            let held = if width == Width::Pred { self.fresh(memory) } else { reg };
            if width == Width::Pred {
                let (p, a, b) = (reg.into(), Operand::Imm(1), Operand::ZERO);
                stores.push(Op::Select { d: held, p, a, b });
            }
            let values = vec![held.into()];
            stores.push(Op::Store { values, width: memory, space: Memory::Local, bytes, address, offset });
            let d = vec![Some(held)];
            loads.push(Op::Load { d, space: Memory::Local, bytes, signed: false, address, offset });
            if width == Width::Pred {
                let of = Comparand::Unsigned(memory);
                loads.push(Op::Compare { d: reg, comparison: Comparison::Ne, of, a: held.into(), b: Operand::ZERO });
            }
        }
        let steps = |ops: Vec<Op>| ops.into_iter().map(|op| Step::new(op, loc)).collect();
        (steps(stores), steps(loads))
    }
}

impl<'m, 'a> Lowering<'m, 'a> {
    /// Which functions call themselves through others, or are called so through an address, and which functions'
    /// addresses are taken.
    pub(super) fn look_at_calls(&mut self) {
        let mut others: HashMap<&'a str, usize> = HashMap::new();
        for operand in &self.module.operands {
            if let Some(function) = operand.name().and_then(|name| self.functions.get(name)) {
                *others.entry(function.name).or_default() += 1;
            }
        }
        for function in aliases(self.module).flatten().filter_map(|name| self.functions.get(name)) {
            others.entry(function.name).and_modify(|count| *count -= 1);
        }
        let mut callees: HashMap<&'a str, Vec<&'a str>> = HashMap::new();
        for function in self.module.functions() {
            let called = callees.entry(function.name).or_default();
            for statement in function.body.iter().flatten() {
                if let Statement::Instruction(instruction) = statement
                    && matches!(instruction.opcode, "alloca" | "stackrestore")
                {
                    self.moves_stack.insert(function.name);
                }
                if let Some(name) = self.called(statement) {
                    called.push(name);
                    others.entry(name).and_modify(|count| *count -= 1);
                }
            }
        }
        let bodies = self.module.functions().filter(|function| !function.is_entry && function.body.is_some());
        self.addressed = bodies.filter(|function| others.get(function.name).is_some_and(|&count| count > 0)).collect();
        let numbered = self.addressed.iter().zip(1..).map(|(function, number)| (function.name, CODE_ALIGN * number));
        self.code_addresses = numbered.collect();
        // A call that leads back to a function on the way to it: depth first, without recursion of our own.
        let mut state: HashMap<&'a str, bool> = HashMap::new();
        for function in self.module.functions() {
            let mut path = vec![(function.name, 0)];
            if state.contains_key(function.name) {
                continue;
            }
            state.insert(function.name, true);
            while let Some((name, next)) = path.last_mut() {
                match callees.get(name).and_then(|called| called.get(*next)) {
                    Some(&callee) => {
                        *next += 1;
                        match state.get(callee) {
                            Some(true) => drop(self.recursive.insert(callee)),
                            Some(false) => {}
                            None => {
                                state.insert(callee, true);
                                path.push((callee, 0));
                            }
                        }
                    }
                    None => {
                        state.insert(name, false);
                        path.pop();
                    }
                }
            }
        }
    }

    /// The function that a statement calls by its name.
    fn called(&self, statement: &Statement<'a>) -> Option<&'a str> {
        let Statement::Instruction(instruction) = statement else { return None };
        let operands = self.module.operands(instruction.operands);
        let mut names = operands.iter().filter(|operand| !matches!(operand.kind, OperandKind::List(_)));
        let name = names.next()?.name().filter(|_| instruction.opcode == "call")?;
        self.functions.get(name).map(|function| function.name)
    }

    /// The address of a function that has one.
    pub(super) fn code_address(&self, name: &str) -> Option<u64> {
        let function = self.functions.get(name)?;
        self.code_addresses.get(function.name).copied()
    }
}
