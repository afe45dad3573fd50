//! A kernel's blocks: where values are, and how instructions are put together.
//!
//! Inside a block a register is the result that was written last; across blocks it is that result where it comes before
//! every use, and otherwise a variable ([`Home`]). A guarded instruction is a choice where it has no effect, and otherwise a
//! block of its own.

use std::cell::OnceCell;
use std::fmt::Write as _;

use roundonce_ir::{Instruction, Kernel, MemoryOrder, Op, Operand, Reg, Role, Special, Terminator, Width};
use roundonce_isa::Finding;

use super::super::open::Approximations;
use super::super::{Options, location};
use super::divergence::divergent_blocks;
use super::ids::{Class, Id, Ty, Type};
use super::memory::Parameters;
use super::module::Module;
use super::shape::{Home, Shape, is_pure};
use crate::rules;

/// Why an instruction has no counterpart.
pub(super) type Refused = String;
pub(super) type Result<T = ()> = core::result::Result<T, Refused>;

/// A register's value here, as an integer and as a float of its width.
#[derive(Clone, Copy, Default)]
struct Slot {
    bits: Option<Id>,
    float: Option<Id>,
    /// The stretches of code that they hold in.
    bits_at: u32,
    float_at: u32,
    /// The variable has an older value.
    dirty: bool,
}

/// Everywhere behind the write.
const EVERYWHERE: u32 = u32::MAX;

/// The widths of registers behind those of the kernel: two of each.
const SCRATCH: [Width; 6] = [Width::B16, Width::B32, Width::B64, Width::B16, Width::B32, Width::B64];

/// A kernel being written.
pub(super) struct Body<'a> {
    pub(super) module: &'a mut Module,
    pub(super) kernel: &'a Kernel,
    pub(super) options: &'a Options<'a>,
    pub(super) shape: Shape,
    pub(super) params: Parameters,
    /// The ids of the program's variables.
    pub(super) variables: &'a [Id],
    /// What is computed once, before the first block.
    pub(super) prologue: String,
    pub(super) out: String,
    slots: Vec<Slot>,
    variable_of: Vec<Option<Id>>,
    labels: Vec<Id>,
    /// The stretch of code at work: what was found in another is not known to come before.
    pub(super) at: u32,
    stretches: u32,
    dirty: Vec<Reg>,
    /// The stretch around that of a guard.
    around: u32,
    /// What was known before the stretch of a guard, of what it found.
    before: Option<Vec<(Reg, Slot)>>,
    /// Pointers made in this block: of which number, to what.
    pub(super) pointers: Vec<(Id, Type, Id)>,
    pub(super) specials: Vec<(Special, Id)>,
    pub(super) built_ins: Vec<(&'static str, Id)>,
    /// The variables of the entry point's interface.
    pub(super) interface: Vec<Id>,
    pub(super) windows: [Option<Id>; 2],
    /// Variables of loops that an instruction is.
    local_variables: Vec<(Id, Ty)>,
    /// Whether lanes of a warp do something together.
    pub(super) has_warps: bool,
    /// The mask of the lanes that are here, where it was asked for, and in which stretch.
    pub(super) here: Option<(Id, u32)>,
    pub(super) loc: u32,
    /// The block at work.
    block: usize,
    /// The blocks that some threads may reach without the others, once that was asked.
    divergent: OnceCell<Vec<bool>>,
    /// How the operation at hand is ordered.
    pub(super) order: MemoryOrder,
    /// What the last place was compiled from.
    source: String,
    pub(super) findings: Vec<Finding>,
    pub(super) losses: Vec<Finding>,
    pub(super) approximations: Approximations,
    /// The widths of floats that are computed with.
    pub(super) widths: [bool; 3],
}

impl<'a> Body<'a> {
    pub(super) fn new(
        module: &'a mut Module,
        kernel: &'a Kernel,
        options: &'a Options<'a>,
        variables: &'a [Id],
        (params, mut shape): (Parameters, Shape),
    ) -> Body<'a> {
        let labels = kernel.blocks.iter().map(|_| module.label()).collect();
        // Registers of no kernel, for what an instruction is made of.
        for width in SCRATCH {
            shape.homes.push(Home::Block);
            shape.types.push(Ty::of(width));
        }
        Body {
            module,
            kernel,
            options,
            shape,
            params,
            variables,
            prologue: String::new(),
            out: String::new(),
            slots: vec![Slot::default(); kernel.registers.len() + SCRATCH.len()],
            variable_of: vec![None; kernel.registers.len()],
            labels,
            at: 0,
            stretches: 0,
            dirty: Vec::new(),
            around: 0,
            before: None,
            pointers: Vec::new(),
            specials: Vec::new(),
            built_ins: Vec::new(),
            interface: Vec::new(),
            windows: [None; 2],
            local_variables: Vec::new(),
            has_warps: false,
            here: None,
            loc: 0,
            block: 0,
            divergent: OnceCell::new(),
            order: MemoryOrder::WEAK,
            source: String::new(),
            findings: Vec::new(),
            losses: Vec::new(),
            approximations: Approximations::default(),
            widths: [false; 3],
        }
    }

    /// Every block.
    pub(super) fn run(&mut self) {
        let kernel = self.kernel;
        for place in 0..self.shape.order.len() {
            let number = self.shape.order[place];
            let block = &kernel.blocks[number];
            self.block = number;
            self.start(self.labels[number]);
            let mut instructions = &block.instructions[..];
            // What ends the thread at a block's end is its terminator.
            if let ([rest @ .., Instruction { op: Op::Exit, guard: None, .. }], Terminator::Exit) =
                (instructions, &block.terminator)
            {
                instructions = rest;
            }
            let mut at = 0;
            while at < instructions.len() {
                at = self.step(instructions, at);
            }
            self.stand_at(block.loc);
            let before = self.out.len();
            if let Err(why) = self.end(number, &block.terminator) {
                self.out.truncate(before);
                self.refuse(why);
            }
        }
    }

    /// One instruction, or those that share a guard: where the next one is.
    fn step(&mut self, all: &[Instruction], at: usize) -> usize {
        let instruction = &all[at];
        let Instruction { op, guard, loc, .. } = instruction;
        self.stand_at(*loc);
        let Some(guard) = guard else {
            self.attempt(instruction);
            return at + 1;
        };
        if is_pure(op) {
            self.chosen(instruction, *guard);
            return at + 1;
        }
        // Neighbours with the same guard, which they leave alone, share a block.
        let mut end = at + 1;
        let mut writes = false;
        while !writes && end < all.len() && all[end].guard == Some(*guard) && !is_pure(&all[end].op) {
            all[end - 1].op.registers(|role, reg| writes |= role == Role::Def && reg == guard.pred);
            end += usize::from(!writes);
        }
        let pred = self.read_as(guard.pred.into(), Ty::Bool);
        let mut written = Vec::new();
        for Instruction { op, .. } in &all[at..end] {
            op.registers(|role, reg| written.extend((role == Role::Def).then_some(reg)));
        }
        written.iter().for_each(|&reg| self.clean(reg));
        let (inside, behind) = (self.module.label(), self.module.label());
        let (then, otherwise) = if guard.expected { (inside, behind) } else { (behind, inside) };
        self.effect("OpBranchConditional", &[pred, then, otherwise]);
        self.label(inside);
        self.around = self.at;
        self.stretches += 1;
        self.at = self.stretches;
        self.before = Some(Vec::new());
        let known = self.pointers.len();
        let mut ended = false;
        for instruction in &all[at..end] {
            self.stand_at(instruction.loc);
            if !ended {
                self.attempt(instruction);
            }
            ended |= matches!(instruction.op, Op::Exit | Op::Trap { .. });
        }
        written.iter().for_each(|&reg| self.clean(reg));
        if !ended {
            self.effect("OpBranch", &[behind]);
        }
        self.label(behind);
        self.pointers.truncate(known);
        self.at = self.around;
        // What held before the guard still does, unless it was written.
        for (reg, slot) in self.before.take().into_iter().flatten().rev() {
            self.slots[reg.0 as usize] = slot;
        }
        for reg in written {
            self.slots[reg.0 as usize] = Slot::default();
        }
        end
    }

    /// An instruction with no effect under a guard: its result or the old value.
    fn chosen(&mut self, instruction: &Instruction, guard: roundonce_ir::Guard) {
        let pred = self.read_as(guard.pred.into(), Ty::Bool);
        let mut written = Vec::new();
        instruction.op.registers(|role, reg| written.extend((role == Role::Def).then_some(reg)));
        let old: Vec<(Reg, Ty, Option<Id>)> = written
            .into_iter()
            .map(|reg| {
                let ty = self.shape.types[reg.0 as usize];
                (reg, ty, self.known(reg, ty))
            })
            .collect();
        self.attempt(instruction);
        for (reg, ty, old) in old {
            // One that nothing was written to holds nothing in particular.
            let Some(old) = old else { continue };
            let new = self.read_as(reg.into(), ty);
            let (then, otherwise) = if guard.expected { (new, old) } else { (old, new) };
            let value = self.select(ty, pred, then, otherwise);
            self.write(reg, value, ty);
        }
    }

    fn attempt(&mut self, instruction: &Instruction) {
        let op = &instruction.op;
        self.order = instruction.effective_order();
        let before = (self.out.len(), self.prologue.len());
        if let Err(why) = self.operation(op) {
            self.out.truncate(before.0);
            self.prologue.truncate(before.1);
            self.refuse(why);
            // Something stands for the results, so that only this instruction is reported.
            op.registers(|role, reg| {
                if role == Role::Def {
                    let ty = Ty::of(self.kernel.width(reg));
                    self.write(reg, Id::constant(ty, 0), ty);
                }
            });
        }
    }

    fn refuse(&mut self, why: Refused) {
        let finding = self.finding(&rules::NO_COUNTERPART, &why);
        self.findings.push(finding);
    }

    /// What a rule has against the instruction at hand.
    pub(super) fn finding(&self, rule: &roundonce_isa::Rule, why: &str) -> Finding {
        let place = location(self.kernel, self.loc);
        let text = self.kernel.source_locs.get(self.loc as usize).map_or("", |place| place.text.as_str());
        rule.finding(place, if text.is_empty() { why.to_owned() } else { format!("`{text}`: {why}") })
    }

    /// A loss, which is refused unless it is allowed.
    pub(super) fn lose(&mut self, rule: &roundonce_isa::Rule, what: &str) {
        match self.options.accept(self.finding(rule, what)) {
            Ok(accepted) => self.losses.push(accepted),
            Err(refused) => self.findings.push(refused),
        }
    }

    fn start(&mut self, label: Id) {
        self.stretches += 1;
        self.at = self.stretches;
        self.pointers.clear();
        self.dirty.clear();
        self.label(label);
    }

    pub(super) fn label(&mut self, label: Id) {
        let mut out = std::mem::take(&mut self.out);
        self.module.put(&mut out, label);
        out.push_str(" = OpLabel\n");
        self.out = out;
    }

    fn end(&mut self, block: usize, terminator: &Terminator) -> Result {
        let condition = match terminator {
            Terminator::Branch { pred, .. } => Some(self.read_as((*pred).into(), Ty::Bool)),
            Terminator::Switch { index, .. } => Some(self.read_as(*index, Ty::U32)),
            Terminator::Jump(_) | Terminator::Exit => None,
        };
        let dirty = std::mem::take(&mut self.dirty);
        if !dirty.is_empty() {
            let kernel = self.kernel;
            let (live, dead): (Vec<Reg>, Vec<Reg>) = {
                let after = self.shape.liveness.after(kernel, block);
                dirty.into_iter().partition(|&reg| after.has(reg))
            };
            live.into_iter().for_each(|reg| self.clean(reg));
            dead.into_iter().for_each(|reg| self.slots[reg.0 as usize].dirty = false);
        }
        match (terminator, condition) {
            (Terminator::Jump(target), _) => self.effect("OpBranch", &[self.labels[*target]]),
            (Terminator::Branch { then, otherwise, .. }, Some(pred)) => {
                // One of a known predicate is a branch too: the order of blocks is that of both its ways.
                self.effect("OpBranchConditional", &[pred, self.labels[*then], self.labels[*otherwise]]);
            }
            (Terminator::Switch { targets, otherwise, .. }, Some(index)) => {
                let mut out = std::mem::take(&mut self.out);
                out.push_str("OpSwitch ");
                self.module.put(&mut out, index);
                out.push(' ');
                self.module.put(&mut out, self.labels[*otherwise]);
                for (number, target) in targets.iter().enumerate() {
                    let _ = write!(out, " {number} ");
                    self.module.put(&mut out, self.labels[*target]);
                }
                out.push('\n');
                self.out = out;
            }
            _ => self.out.push_str("OpReturn\n"),
        }
        Ok(())
    }

    /// Makes a place the one at work: comments before it are repeated, and the line that it was compiled from is said.
    fn stand_at(&mut self, loc: u32) {
        if std::mem::replace(&mut self.loc, loc) == loc {
            return;
        }
        let kernel = self.kernel;
        let Some(place) = kernel.source_locs.get(loc as usize) else { return };
        for (_, text) in self.options.comments.between(self.module.commented, place.line) {
            let _ = writeln!(self.out, "; {}", text.replace('\n', " "));
        }
        self.module.commented = self.module.commented.max(place.line);
        if !place.source.is_empty() {
            if self.source != place.source {
                self.source.clone_from(&place.source);
                let mut parts = place.source.rsplitn(3, ':');
                let (column, line, file) = (parts.next(), parts.next(), parts.next());
                self.says_line(file, line, column);
            }
        } else if !self.options.file.is_empty() && place.line > 0 && !kernel.addresses {
            let line = place.line.to_string();
            self.says_line(Some(self.options.file), Some(&line), Some("0"));
        }
    }

    fn says_line(&mut self, file: Option<&str>, line: Option<&str>, column: Option<&str>) {
        let numbers = line.and_then(|line| line.parse().ok()).zip(column.and_then(|column| column.parse().ok()));
        if let (Some(file), Some((line, column))) = (file, numbers) {
            let (line, column): (u32, u32) = (line, column);
            let file = self.module.file(file);
            let _ = writeln!(self.out, "OpLine {file} {line} {column}");
        }
    }

    /// An operand as a type of its register's width. Of a wider register the low bits.
    pub(super) fn read_as(&mut self, operand: Operand, ty: Ty) -> Id {
        let reg = match operand {
            Operand::Imm(bits) => return Id::constant(ty, bits),
            Operand::Reg(reg) => reg,
        };
        let width = self.shape.types[reg.0 as usize].bits();
        if width != ty.bits() {
            let value = self.read_as(operand, Ty::int(width));
            let narrow = self.resize(value, Ty::int(width), Ty::int(ty.bits()));
            return self.bitcast(narrow, Ty::int(ty.bits()), ty);
        }
        match self.known(reg, ty) {
            Some(id) => id,
            None => Id::Undef(ty),
        }
    }

    /// The value of a register, where it has one.
    fn known(&mut self, reg: Reg, ty: Ty) -> Option<Id> {
        let place = reg.0 as usize;
        let home = self.shape.types[place];
        let slot = self.slots[place];
        let bits = slot.bits.filter(|_| slot.bits_at == EVERYWHERE || self.is_here(slot.bits_at));
        let float = slot.float.filter(|_| slot.float_at == EVERYWHERE || self.is_here(slot.float_at));
        let (wanted, other) = if ty.is_float() { (float, bits) } else { (bits, float) };
        if let Some(id) = wanted {
            return Some(id);
        }
        let other_ty = if ty.is_float() { Ty::int(ty.bits()) } else { Ty::float(ty.bits()) };
        if let Some(id) = other {
            let view = self.bitcast(id, other_ty, ty);
            self.remember(reg, view, ty, self.at);
            return Some(view);
        }
        if self.shape.homes[place] != Home::Variable {
            return None;
        }
        let variable = self.variable(reg);
        let value = self.emit(home, "OpLoad", &[variable]);
        self.remember(reg, value, home, self.at);
        if home == ty {
            return Some(value);
        }
        let view = self.bitcast(value, home, ty);
        self.remember(reg, view, ty, self.at);
        Some(view)
    }

    /// Whether what a stretch of code found holds here: this one, or that around a guard.
    fn is_here(&self, at: u32) -> bool {
        at == self.at || self.before.is_some() && at == self.around
    }

    fn save(&mut self, reg: Reg) {
        if let Some(before) = &mut self.before {
            before.push((reg, self.slots[reg.0 as usize]));
        }
    }

    fn remember(&mut self, reg: Reg, id: Id, ty: Ty, at: u32) {
        self.save(reg);
        let slot = &mut self.slots[reg.0 as usize];
        if ty.is_float() {
            (slot.float, slot.float_at) = (Some(id), at);
        } else {
            (slot.bits, slot.bits_at) = (Some(id), at);
        }
    }

    /// Gives a register a value of its width.
    pub(super) fn write(&mut self, reg: Reg, id: Id, ty: Ty) {
        let place = reg.0 as usize;
        self.save(reg);
        self.slots[place].bits = None;
        self.slots[place].float = None;
        let home = self.shape.types[place];
        match self.shape.homes[place] {
            Home::Block => self.remember(reg, id, ty, self.at),
            Home::Value => {
                // What is asked for elsewhere is its own type.
                let value = self.bitcast(id, ty, home);
                self.remember(reg, value, home, EVERYWHERE);
                if ty != home {
                    self.remember(reg, id, ty, EVERYWHERE);
                }
            }
            Home::Variable => {
                self.remember(reg, id, ty, self.at);
                if !std::mem::replace(&mut self.slots[place].dirty, true) {
                    self.dirty.push(reg);
                }
            }
        }
    }

    /// Stores a register's value into its variable, if that has an older one.
    fn clean(&mut self, reg: Reg) {
        let place = reg.0 as usize;
        if !std::mem::take(&mut self.slots[place].dirty) {
            return;
        }
        let home = self.shape.types[place];
        if let Some(value) = self.known(reg, home) {
            let variable = self.variable(reg);
            self.effect("OpStore", &[variable, value]);
        }
    }

    /// A value as an operand.
    pub(super) fn scratch(&mut self, value: Id, ty: Ty) -> Operand {
        self.scratch_at(0, value, ty)
    }

    /// Two values as operands.
    pub(super) fn scratch_pair(&mut self, values: [Id; 2], ty: Ty) -> [Operand; 2] {
        [self.scratch_at(0, values[0], ty), self.scratch_at(SCRATCH.len() / 2, values[1], ty)]
    }

    fn scratch_at(&mut self, first: usize, value: Id, ty: Ty) -> Operand {
        let place = SCRATCH.iter().position(|width| width.bits() == ty.bits()).unwrap_or(0);
        let reg = Reg((self.kernel.registers.len() + first + place) as u32);
        self.write(reg, value, ty);
        reg.into()
    }

    /// A variable of the thread's.
    pub(super) fn local_variable(&mut self, ty: Ty) -> Id {
        let id = self.module.temp();
        self.local_variables.push((id, ty));
        id
    }

    /// Whether some threads of a workgroup may be where the instruction at work is without the others.
    pub(super) fn is_divergent(&self) -> bool {
        self.is_guarded() || self.divergent.get_or_init(|| divergent_blocks(self.kernel))[self.block]
    }

    /// Whether the instruction at work has a block of its own, because of a guard.
    pub(super) fn is_guarded(&self) -> bool {
        self.before.is_some()
    }

    /// The label of the first block.
    pub(super) fn entry(&self) -> Id {
        self.labels[0]
    }

    fn variable(&mut self, reg: Reg) -> Id {
        let place = reg.0 as usize;
        if let Some(id) = self.variable_of[place] {
            return id;
        }
        let id = self.module.temp();
        self.variable_of[place] = Some(id);
        id
    }

    /// The variables' declarations.
    pub(super) fn declarations(&mut self) -> String {
        let mut out = String::new();
        let registers = self.variable_of.iter().zip(&self.shape.types);
        let registers = registers.filter_map(|(id, &ty)| id.map(|id| (id, ty)));
        for (id, ty) in registers.chain(self.local_variables.iter().copied()) {
            self.module.put(&mut out, id);
            out.push_str(" = OpVariable ");
            self.module.put(&mut out, Id::Of(Type::Pointer(Class::Function, ty, 1)));
            out.push_str(" Function\n");
        }
        out
    }
}
