//! Control flow: the loop over tiles, nodes and the branches between them, exits.

use super::super::asm::{Asm, AsmError, Label, at};
use super::super::frame::{AccessSite, Frame, LiveReg, header, record};
use super::scalar::Ways;
use super::{BUDGET_LEFT, DeoptReason, EmitError, EmitResult, Emitter, FRAME, STEPS, TILE, low};
use super::{live, prefetch};
use crate::kernel::{DecodedInst, Machine};
use crate::native::LaunchConstants;
use crate::native::alloc::{Allocated, Allocation};
use crate::native::deferred::Deferred;
use crate::native::region::{Detour, Next, ProgramPoint, Region, Switch, Target, is_live, is_store};
use crate::native::schedule;
use crate::native::shape::{Shapes, VectorShape};
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::Rounding;
use roundonce_ir::{Comparand, Op, Operand, Reg, Width};
use std::collections::BTreeMap;

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const RDX: Register = Register::RDX;

/// A region's code.
pub(in crate::native) struct Emitted {
    pub(in crate::native) code: Vec<u8>,
    /// Scratch registers that it leaves alone.
    pub(in crate::native) spare: usize,
    pub(in crate::native) frame: Frame,
    /// The live-out registers of each exit.
    pub(in crate::native) outputs: Vec<Vec<LiveReg>>,
    /// In divergent code: for each exit the first word in a tile's record of the mask of lanes that took it.
    pub(in crate::native) exit_words: Vec<usize>,
    /// The approximate instructions, and the word in a tile's record where their runs are counted.
    pub(in crate::native) approximations: Vec<(String, usize)>,
    /// The direction of rounding that the code expects at its start.
    pub(in crate::native) home: Rounding,
}

/// The direction in which most of a region's arithmetic rounds, where instructions do not say theirs.
fn home_direction(launch: &LaunchConstants<'_>, region: &Region, machine: Machine) -> Rounding {
    let mut counts = [Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up].map(|to| (to, 0));
    if machine != Machine::Avx512 {
        for node in 0..region.nodes.len() {
            for inst in region.insts(launch.code, node) {
                if let Op::Float { operation, .. } = inst.op {
                    counts.iter_mut().for_each(|(to, count)| *count += usize::from(operation.rounding == *to));
                }
            }
        }
    }
    // The first of the most frequent.
    counts.into_iter().rev().max_by_key(|&(_, count)| count).map_or(Rounding::NearestEven, |(to, _)| to)
}

/// Why a region has no code: what would be different in the next attempt. Nothing where there is no point in one.
#[derive(Default, Debug)]
pub(in crate::native) struct Failed {
    /// Instructions without code.
    pub(in crate::native) boundaries: Vec<ProgramPoint>,
    /// Registers whose values must be canonicalised eagerly.
    pub(in crate::native) eager: Vec<Reg>,
}

impl Failed {
    fn at(deferred: &Deferred, error: EmitError, point: ProgramPoint) -> Failed {
        let mut failed = Failed::default();
        failed.add(deferred, error, point);
        failed
    }
    /// Of the nodes' failures those that are still in the region where it ends at the others.
    fn of(region: &Region, deferred: &Deferred, failures: &[Option<(EmitError, ProgramPoint)>]) -> Failed {
        let mut failed = Failed::default();
        let (mut is_reached, mut todo) = (vec![false; failures.len()], vec![region.entry]);
        while let Some(node) = todo.pop() {
            if std::mem::replace(&mut is_reached[node], true) {
                continue;
            }
            match failures[node] {
                Some((error, point)) => failed.add(deferred, error, point),
                None => todo.extend(region.targets(region.nodes[node].next).filter_map(|to| match to {
                    Target::Node(next) => Some(next),
                    Target::Exit(_) => None,
                })),
            }
        }
        failed
    }
    fn add(&mut self, deferred: &Deferred, error: EmitError, point: ProgramPoint) {
        match error {
            EmitError::NeedsEager(reg) if !deferred.eager.contains(&reg) => self.eager.push(reg),
            _ => self.boundaries.push(point),
        }
    }
}

/// The code of a region, or what stands against it; `whole` says whether it takes blocks from their starts to their ends.
pub(in crate::native) fn region(
    launch: &LaunchConstants<'_>,
    region: &Region,
    shapes: &Shapes,
    deferred: &Deferred,
    allocated: &Allocated,
    frame: Frame,
    (inputs, whole): (&[LiveReg], bool),
) -> Result<Emitted, Failed> {
    let first = region.nodes[region.entry].start;
    let home = home_direction(launch, region, shapes.machine);
    let loop_depths = region.loop_depths();
    let mut emit = Emitter {
        launch,
        region,
        shapes,
        deferred,
        reads: live::reads(launch, region),
        allocations: &allocated.allocations,
        addresses: &allocated.addresses,
        frame,
        asm: Asm::new(shapes.machine, home),
        states: deferred.before[region.entry].clone(),
        active_mask: None,
        point: first,
        deciding: None,
        accesses: BTreeMap::new(),
        groups: BTreeMap::new(),
        prefetches: prefetch::blocks_that_prefetch(launch, region, shapes, &loop_depths),
        prefetches_ahead: !whole && prefetch::prefetches_ahead(launch),
        prefetch_points: Vec::new(),
        last_point: 0,
        loop_depths,
        in_loop: false,
        free: allocated.free_general(),
        loaded_at_entry: BTreeMap::new(),
        folded: None,
        path_masks: None,
        approximations: Vec::new(),
        whole,
        side_exits: Vec::new(),
        unsettled: Vec::new(),
    };
    let outputs = emit.plan_outputs();
    if shapes.divergent {
        emit.plan_path_masks();
    }
    emit.plan_approximations();
    let at_start = |error| Failed::at(deferred, error, first);
    emit.asm.enter(FRAME, TILE);
    let entry = emit.loop_depths.iter().any(|&depth| depth > 0).then(|| emit.asm.label());
    if let Some(entry) = entry {
        emit.asm.jump(Code::Jmp_rel32_64, entry);
    }
    let tile = emit.asm.label();
    emit.asm.bind(tile);
    emit.asm.rm(Code::Mov_r64_rm64, BUDGET_LEFT, at(FRAME, header::BUDGET));
    emit.asm.rr(Code::Xor_r32_rm32, low(STEPS), low(STEPS));
    emit.asm.mi(Code::Mov_rm64_imm32, at(FRAME, header::PREDICATED), 0);
    if region.commits() {
        emit.asm.mi(Code::Mov_rm64_imm32, at(FRAME, header::COMMITTED), 0);
    }
    for index in 0..emit.approximations.len() {
        let counter = emit.approximation_counter(index, 0);
        emit.asm.mi(Code::Mov_rm64_imm32, counter, 0);
    }
    emit.prefetch_point();
    for input in inputs {
        emit.input(input).map_err(at_start)?;
    }
    let nodes: Vec<Label> = region.nodes.iter().map(|_| emit.asm.label()).collect();
    let exits: Vec<Label> = region.exits.iter().map(|_| emit.asm.label()).collect();
    let label = |target: Target| match target {
        Target::Node(node) => nodes[node],
        Target::Exit(exit) => exits[exit],
    };
    emit.asm.jump(Code::Jmp_rel32_64, nodes[region.entry]);
    let mut failures: Vec<Option<(EmitError, ProgramPoint)>> = vec![None; nodes.len()];
    for (index, node) in region.nodes.iter().enumerate() {
        emit.asm.bind(nodes[index]);
        emit.count(node.cost.completed);
        emit.charge_budget(node.cost);
        if let Err(error) = emit.node(index) {
            failures[index] = Some((error, emit.point));
            continue;
        }
        let follows = |target: Target| target == Target::Node(index + 1);
        match node.next {
            Next::Exit(exit) => emit.asm.jump(Code::Jmp_rel32_64, exits[exit]),
            Next::Jump(target) if follows(target) => {}
            Next::Jump(target) => emit.asm.jump(Code::Jmp_rel32_64, label(target)),
            Next::Switch(switch) => {
                let Switch { index: number, targets } = &region.switches[switch];
                if let Err(error) = emit.switch(*number, targets.iter().map(|&target| label(target))) {
                    failures[index] = Some((error, ProgramPoint { at: node.end, ..node.start }));
                }
            }
            Next::Fall(node) if node == index + 1 => {}
            Next::Stores(node) | Next::Fall(node) => emit.asm.jump(Code::Jmp_rel32_64, nodes[node]),
            Next::Commit { exit, node, .. } => {
                emit.commit(exit, &outputs[exit]).map_err(at_start)?;
                if node != index + 1 {
                    emit.asm.jump(Code::Jmp_rel32_64, nodes[node]);
                }
            }
            Next::Branch { pred, then, otherwise, mid_block, detour } => {
                let (yes, no) = if mid_block {
                    // A predicated `exit` completes only where it is taken.
                    let counted = emit.asm.label();
                    match (then, otherwise) {
                        (Target::Exit(_), _) => (counted, label(otherwise)),
                        _ => (label(then), counted),
                    }
                } else {
                    (label(then), label(otherwise))
                };
                let branch = ProgramPoint { at: node.end - usize::from(mid_block), ..node.start };
                let apart = detour.map(|detour| (detour, emit.asm.label()));
                if let Err(error) = emit.branch(index, pred, yes, no, apart.map(|(_, label)| label)) {
                    failures[index] = Some((error, branch));
                    continue;
                }
                if let Some((detour, parted)) = apart {
                    emit.asm.bind(parted);
                    if let Err(error) = emit.detour(pred, &detour) {
                        failures[index] = Some((error, emit.point));
                        continue;
                    }
                    if let Some(exit) = detour.commit {
                        emit.commit(exit, &outputs[exit]).map_err(at_start)?;
                    }
                    emit.asm.jump(Code::Jmp_rel32_64, label(detour.to));
                }
                if mid_block {
                    let counted = if matches!(then, Target::Exit(_)) { yes } else { no };
                    emit.asm.bind(counted);
                    let completes = region.insts(launch.code, index).last().is_some_and(|inst| inst.completes);
                    emit.count(u32::from(completes));
                    let taken = if matches!(then, Target::Exit(_)) { then } else { otherwise };
                    emit.asm.jump(Code::Jmp_rel32_64, label(taken));
                }
            }
        }
    }
    if failures.iter().any(Option::is_some) {
        return Err(Failed::of(region, deferred, &failures));
    }
    let done = emit.asm.label();
    if let Some(masks) = emit.path_masks.clone() {
        let emitted = emit.divergent_paths(&masks, &nodes, &exits, &outputs, done);
        emitted.map_err(|error| Failed::at(deferred, error, emit.point))?;
    }
    for (exit, live_out) in outputs.iter().enumerate() {
        emit.asm.bind(exits[exit]);
        emit.emit_exit(exit, live_out).map_err(at_start)?;
        if !whole {
            emit.asm.mi(Code::Mov_rm64_imm32, at(TILE, 8 * record::EXIT as i64), exit as i32);
        }
        emit.asm.jump(Code::Jmp_rel32_64, done);
    }
    emit.epilogue(tile, done);
    emit.prefetch_apart();
    emit.settle_apart();
    if let Some(entry) = entry {
        emit.asm.bind(entry);
        for (&word, &register) in &emit.loaded_at_entry {
            emit.asm.rm(Code::Mov_r64_rm64, register, at(FRAME, word));
        }
        emit.asm.jump(Code::Jmp_rel32_64, tile);
    }
    let (code, spare) = emit.asm.finish().map_err(|error| {
        debug_assert!(matches!(error, AsmError::NotSpare), "{error}");
        Failed::default()
    })?;
    let exit_words = emit.path_masks.map_or_else(Vec::new, |masks| masks.exit_words);
    Ok(Emitted { code, spare, frame: emit.frame, outputs, exit_words, approximations: emit.approximations, home })
}

impl Emitter<'_> {
    /// After an exit: stores the tile's counts and goes to the next tile; the return, and the side exits.
    fn epilogue(&mut self, tile: Label, done: Label) {
        self.asm.bind(done);
        if self.whole {
            self.add_counts();
        } else {
            self.store_counts();
        }
        let bytes = 8 * (record::VALUES + self.frame.record_values) as i32;
        self.asm.ri(Code::Add_rm64_imm32, TILE, bytes);
        self.asm.rm(Code::Cmp_r64_rm64, TILE, at(FRAME, header::END));
        self.asm.jump(Code::Jb_rel32_64, tile);
        if self.whole {
            self.next_block(tile);
        }
        let back = self.asm.label();
        self.asm.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX);
        self.asm.bind(back);
        self.asm.mr(Code::Mov_rm64_r64, at(FRAME, header::TILE), TILE);
        self.asm.leave();
        for (label, reason, site) in std::mem::take(&mut self.side_exits) {
            self.asm.bind(label);
            if reason == DeoptReason::CacheMiss {
                // RAX is the rotated offset in the segment; the caller needs the address.
                let AccessSite { cache, align, .. } = self.frame.sites[site];
                if align > 1 {
                    self.asm.push(Instruction::with2(Code::Rol_rm64_imm8, RAX, align.trailing_zeros()));
                }
                self.asm.rm(Code::Add_r64_rm64, RAX, at(FRAME, cache));
                self.asm.mr(Code::Mov_rm64_r64, at(FRAME, header::ADDRESS), RAX);
            }
            self.asm.constant(RAX, reason as u64 | (site as u64) << 8);
            self.asm.jump(Code::Jmp_rel32_64, back);
        }
    }

    /// Goes by a number that all lanes have: to the place of the number, or to the last one.
    fn switch(&mut self, number: Operand, places: impl ExactSizeIterator<Item = Label>) -> EmitResult {
        if !self.is_uniform(number) {
            return Err(EmitError::Unsupported);
        }
        let number = self.scalar(number, Width::B32, RAX)?;
        let last = places.len() - 1;
        for (value, place) in places.enumerate() {
            if value < last {
                self.asm.ri(Code::Cmp_rm32_imm32, low(number), value as i32);
            }
            self.asm.jump(if value < last { Code::Je_rel32_64 } else { Code::Jmp_rel32_64 }, place);
        }
        Ok(())
    }

    /// Goes to the next block's first tile, if a block is left.
    fn next_block(&mut self, tile: Label) {
        self.asm.rm(Code::Mov_r64_rm64, TILE, at(FRAME, header::FIRST));
        let last = self.asm.label();
        self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, header::BLOCKS));
        self.asm.ri(Code::Sub_rm64_imm32, RAX, 1);
        self.asm.mr(Code::Mov_rm64_r64, at(FRAME, header::BLOCKS), RAX);
        self.asm.ri(Code::Cmp_rm64_imm32, RAX, 0);
        self.asm.jump(Code::Je_rel32_64, last);
        for (axis, size) in (0..).zip(self.launch.config.grid) {
            let number = header::CTAID + 8 * axis;
            self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, number));
            self.asm.ri(Code::Add_rm64_imm32, RAX, 1);
            self.asm.mr(Code::Mov_rm64_r64, at(FRAME, number), RAX);
            self.asm.ri(Code::Cmp_rm64_imm32, RAX, size as i32);
            self.asm.jump(Code::Jne_rel32_64, tile);
            self.asm.mi(Code::Mov_rm64_imm32, at(FRAME, number), 0);
        }
        self.asm.bind(last);
    }

    /// Leaves a tile as an exit does; the code goes on.
    fn commit(&mut self, exit: usize, live_out: &[LiveReg]) -> EmitResult {
        self.emit_exit(exit, live_out)?;
        self.asm.mi(Code::Mov_rm64_imm32, at(TILE, 8 * record::EXIT as i64), exit as i32);
        self.store_counts();
        for index in 0..self.approximations.len() {
            let [counted, committed] = [0, 1].map(|word| self.approximation_counter(index, word));
            self.asm.rm(Code::Mov_r64_rm64, RAX, counted);
            self.asm.mr(Code::Mov_rm64_r64, committed, RAX);
        }
        self.asm.mi(Code::Mov_rm64_imm32, at(FRAME, header::COMMITTED), 1);
        Ok(())
    }

    /// A node's instructions. All its stores are checked before the first is executed, so that no side exit comes between
    /// them; if they are a separate node they are checked here and executed there.
    pub(super) fn node(&mut self, index: usize) -> EmitResult {
        let node = &self.region.nodes[index];
        self.states = self.deferred.before[index].clone();
        self.in_loop = self.loop_depths[index] > 0;
        self.group_loads(index);
        self.deciding = self.deciding_comparison(index);
        for (point, inst) in self.region.placed_insts(self.launch.code, index) {
            self.point = point;
            self.prefetch_point();
            if !matches!(inst.op, Op::Exit) && !is_store(inst.op) && Some(point) != self.deciding {
                self.predicated(inst)?;
                self.deferred.transfer(inst, &mut self.states);
            }
        }
        let stores = |index: usize| {
            let insts = self.region.placed_insts(self.launch.code, index);
            insts.filter(|(_, inst)| is_store(inst.op)).collect::<Vec<_>>()
        };
        let here = stores(index);
        let checked = match node.next {
            Next::Stores(apart) => stores(apart),
            Next::Commit { .. } => here.clone(),
            _ if self.shapes.divergent => Vec::new(),
            _ => here.clone(),
        };
        for (point, inst) in checked {
            self.point = point;
            self.guarded(inst, 0, |emit| emit.check_store(inst))?;
        }
        for (point, inst) in here {
            self.point = point;
            self.guarded(inst, u32::from(inst.completes), |emit| emit.store(inst))?;
        }
        Ok(())
    }

    /// The comparison of numbers at a node's end that nothing reads but the node's branch, which goes on by it.
    fn deciding_comparison(&self, index: usize) -> Option<ProgramPoint> {
        let (node, code) = (&self.region.nodes[index], self.launch.code);
        let Next::Branch { pred, .. } = node.next else { return None };
        let has_stores = self.region.insts(code, index).any(|inst| is_store(inst.op));
        let (point, inst) = self.region.placed_insts(code, index).rfind(|(_, inst)| !matches!(inst.op, Op::Exit))?;
        let Op::Compare { d, of, a, b, .. } = *inst.op else { return None };
        let is_integer = matches!(of, Comparand::Signed(width) | Comparand::Unsigned(width) if width != Width::B16);
        let decides = d == pred && is_integer && inst.guard.is_none() && !has_stores && self.active_mask.is_none();
        let for_tile = self.is_general(d) || self.compares_by_tile(of, a, b);
        (decides && for_tile && !is_live(&self.region.live_out(index), pred)).then_some(point)
    }

    /// What the lanes that take a detour do, behind a branch on whose predicate the lanes do not agree.
    fn detour(&mut self, pred: Reg, detour: &Detour) -> EmitResult {
        let Allocation::Mask(pred) = self.allocations[pred.0 as usize] else { return Ok(()) };
        let before = self.states.clone();
        // First all masks: a side may overwrite the predicate.
        let masked = detour.sides.map(|side| side.map(|side| (side, self.predicate_mask(pred, side.expected))));
        self.count(detour.end.completed);
        self.charge_budget(detour.end);
        for (side, mask) in masked.into_iter().flatten() {
            self.count_lanes(mask, side.cost.completed);
            self.charge_budget(side.cost);
            self.states.clone_from(&before);
            self.active_mask = Some(mask);
            let done = self.masked_blocks(detour.blocks(self.launch.code, side));
            self.active_mask = None;
            done?;
        }
        Ok(())
    }
    /// Blocks that follow each other, in the active lanes: behind the first one with a store there are stores only, and all of them are checked
    /// before the first is executed.
    fn masked_blocks(&mut self, blocks: impl Iterator<Item = usize>) -> EmitResult {
        let mut stores = Vec::new();
        for block in blocks {
            self.masked_block(block, &mut stores)?;
        }
        for point in stores {
            self.point = point;
            self.store(&self.launch.code.blocks[point.block].insts[point.at])?;
        }
        Ok(())
    }
    /// A block, whose stores are checked and come last.
    fn masked_block(&mut self, block: usize, stores: &mut Vec<ProgramPoint>) -> EmitResult {
        let insts = &self.launch.code.blocks[block].insts;
        let order = schedule::order(insts);
        self.groups.clear();
        for at in order {
            self.point = ProgramPoint { block, at };
            let inst = &insts[at];
            match inst.op {
                op if is_store(op) => {
                    self.check_store(inst)?;
                    stores.push(self.point);
                }
                _ => {
                    self.instruction(inst)?;
                    self.deferred.transfer(inst, &mut self.states);
                }
            }
        }
        Ok(())
    }

    /// An instruction in the active lanes where its predicate holds.
    fn predicated(&mut self, inst: &DecodedInst<'_>) -> EmitResult {
        self.guarded(inst, u32::from(inst.completes), |emit| emit.instruction(inst))
    }
    /// What an instruction does, in the active lanes where its predicate holds, of which each completes so many.
    fn guarded(
        &mut self,
        inst: &DecodedInst<'_>,
        completes: u32,
        emit: impl FnOnce(&mut Self) -> EmitResult,
    ) -> EmitResult {
        let Some(guard) = inst.guard else { return emit(self) };
        let pred = Operand::Reg(guard.pred);
        if let VectorShape::Constant(bits) = self.shapes.shape(pred) {
            if (bits & 1 != 0) == guard.expected {
                emit(self)?;
                self.count_active(completes);
            }
            return Ok(());
        }
        if let Allocation::Mask(mask) = self.allocations[guard.pred.0 as usize] {
            let outer = self.active_mask;
            let mask = self.predicate_mask(mask, guard.expected);
            self.count_lanes(mask, completes);
            self.active_mask = Some(mask);
            let done = emit(self);
            self.active_mask = outer;
            return done;
        }
        let skip = self.asm.label();
        let number = self.scalar(pred, Width::Pred, RAX)?;
        self.asm.rr(Code::Test_rm32_r32, low(number), low(number));
        self.asm.jump(if guard.expected { Code::Je_rel32_64 } else { Code::Jne_rel32_64 }, skip);
        emit(self)?;
        self.count_active(completes);
        self.asm.bind(skip);
        Ok(())
    }
    /// The mask of the active lanes where a predicate is as expected.
    fn predicate_mask(&mut self, pred: i64, expected: bool) -> i64 {
        let mask = self.frame.reserve(8 * self.mask_words() as usize, 8);
        for word in 0..self.mask_words() {
            self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, pred + 8 * word));
            if !expected {
                self.asm.push(Instruction::with1(Code::Not_rm64, RAX));
            }
            match self.active_mask {
                Some(active) => self.asm.rm(Code::And_r64_rm64, RAX, at(FRAME, active + 8 * word)),
                None => {
                    self.asm.constant(RCX, self.all_lanes());
                    self.asm.rr(Code::And_r64_rm64, RAX, RCX);
                }
            }
            self.asm.mr(Code::Mov_rm64_r64, at(FRAME, mask + 8 * word), RAX);
        }
        mask
    }
    /// A word of a full mask.
    pub(super) fn all_lanes(&self) -> u64 {
        u64::MAX >> (64 - self.shapes.lanes.min(64))
    }

    /// A branch. If it diverges, the code at `apart` continues, that for divergent paths, or the tile takes a side exit.
    fn branch(&mut self, node: usize, pred: Reg, yes: Label, no: Label, apart: Option<Label>) -> EmitResult {
        let operand = Operand::Reg(pred);
        if let VectorShape::Constant(bits) = self.shapes.shape(operand) {
            self.asm.jump(Code::Jmp_rel32_64, if bits & 1 != 0 { yes } else { no });
            return Ok(());
        }
        if let Some(point) = self.deciding
            && let Op::Compare { d, comparison, of, a, b } = *self.launch.code.blocks[point.block].insts[point.at].op
        {
            self.point = point;
            self.compare(d, (comparison, of), a, b, Some(Ways { yes, no, apart: None }))?;
            if self.is_general(d) {
                return Ok(());
            }
        }
        let Allocation::Mask(mask) = self.allocations[pred.0 as usize] else {
            let number = self.scalar(operand, Width::Pred, RAX)?;
            self.asm.rr(Code::Test_rm32_r32, low(number), low(number));
            self.asm.jump(Code::Jne_rel32_64, yes);
            self.asm.jump(Code::Jmp_rel32_64, no);
            return Ok(());
        };
        let load = |emit: &mut Self, word: i64| {
            let (load, to) = match emit.shapes.lanes {
                16 => (Code::Movzx_r32_rm16, Register::ECX),
                32 => (Code::Mov_r32_rm32, Register::ECX),
                _ => (Code::Mov_r64_rm64, RCX),
            };
            emit.asm.rm(load, to, at(FRAME, mask + 8 * word));
        };
        if self.mask_words() == 1 {
            load(self, 0);
            self.asm.rr(Code::Test_rm64_r64, RCX, RCX);
            self.asm.jump(Code::Je_rel32_64, no);
            self.asm.constant(RAX, self.all_lanes());
            self.asm.rr(Code::Cmp_r64_rm64, RAX, RCX);
            self.asm.jump(Code::Je_rel32_64, yes);
        } else {
            // RAX: the intersection of the words; RDX: their union.
            for word in 0..self.mask_words() {
                load(self, word);
                if word == 0 {
                    self.asm.rr(Code::Mov_r64_rm64, RAX, RCX);
                    self.asm.rr(Code::Mov_r64_rm64, RDX, RCX);
                } else {
                    self.asm.rr(Code::And_r64_rm64, RAX, RCX);
                    self.asm.rr(Code::Or_r64_rm64, RDX, RCX);
                }
            }
            self.asm.constant(RCX, self.all_lanes());
            self.asm.rr(Code::Cmp_r64_rm64, RAX, RCX);
            self.asm.jump(Code::Je_rel32_64, yes);
            self.asm.rr(Code::Test_rm64_r64, RDX, RDX);
            self.asm.jump(Code::Je_rel32_64, no);
        }
        match (apart, &self.path_masks) {
            (Some(apart), _) => self.asm.jump(Code::Jmp_rel32_64, apart),
            (None, Some(masks)) => self.asm.jump(Code::Jmp_rel32_64, masks.splits[node]),
            (None, None) => self.side_exit(Code::Jmp_rel32_64, DeoptReason::Divergence, 0),
        }
        Ok(())
    }
}
