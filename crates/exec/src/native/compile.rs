//! Compiled regions: how one is made from the analyses.

use super::LaunchConstants;
use super::alloc::{Allocated, allocate};
use super::asm::direction_number;
use super::budget::Budget;
use super::call::{Executable, FrameChunk, put};
use super::deferred::Deferred;
use super::emit;
use super::frame::{Access, AccessSite, Frame, LiveLocation, LiveReg, header, record};
use super::inactive::InactiveLiveness;
use super::numbers::Numbers;
use super::quotient::Quotient;
use super::region::{CompileMode, Exit, ProgramPoint, Region};
use super::shape::{Shapes, VectorShape};
use super::tile::TileLayout;
use crate::kernel::Machine;
use roundonce_ir::{IntOp, Op, Operand, Reg, Role, Space, Width};
use std::collections::BTreeSet;

/// What a register holds when a region begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// Zero, as every register at the kernel's start.
    Zero,
    /// The number that its only definition sets, which dominates the region.
    Constant(u64),
    /// A number for each tile plus this pattern, given for as many lanes as the largest tile has.
    Scalar(Vec<i64>),
    /// Anything.
    Varying,
}

/// A region whose instructions cost the interpreter less is not worth its entry, in which the registers are passed.
/// Behind a barrier it may be one of the phases of a group of blocks, which pass them at less.
const MIN_COST: u64 = 12;

/// Lanes of the largest tile.
pub(crate) const MAX_TILE: usize = 128;
/// Lanes of the smallest tile, of which all sizes are multiples.
pub(crate) const MIN_TILE: usize = 16;

/// A region's code, its initial frame, its inputs and outputs: shared by all workers.
#[derive(Debug)]
pub(crate) struct CompiledRegion {
    pub(super) executable: Executable,
    /// As it is before the first run.
    pub(super) frame: Vec<FrameChunk>,
    pub(super) sites: Vec<AccessSite>,
    /// Sites, and the words of the frame where the last tile's accesses ended.
    pub(super) ends: Vec<(usize, i64)>,
    /// Sites, and the words of the frame that say whether their segments stay as they are.
    pub(super) unwritten: Vec<(usize, i64)>,
    /// Registers that may hold more than one value in a run of the region.
    pub(super) redefined: Vec<bool>,
    pub(super) inputs: Vec<LiveReg>,
    pub(super) outputs: Vec<Vec<LiveReg>>,
    /// Every column that some exit writes, by register.
    pub(crate) columns: Vec<(Reg, i64)>,
    pub(super) patterns: Vec<Vec<i64>>,
    pub(crate) exits: Vec<Exit>,
    /// Lanes of a tile, and of a block.
    pub(crate) lanes: usize,
    threads: usize,
    /// Whether it takes blocks from the kernel's start to its end, one after the other: it has records of one block's tiles.
    pub(crate) is_whole: bool,
    /// Whether [`CompileMode::masked`] would keep lanes together that part now.
    pub(crate) may_mask: bool,
    /// How many instructions it has, and what they cost the interpreter.
    length: u64,
    interpreted_cost: u64,
    /// Words of a tile's record.
    pub(super) record_words: usize,
    /// In divergent code: for each exit the first word in a tile's record of the mask of lanes that took it.
    pub(super) exit_words: Vec<usize>,
    /// The approximate instructions, and the word in a tile's record where their runs are counted; of a whole kernel the place in
    /// the frame of two words, the second of which has the sum over tiles.
    pub(crate) approximations: Vec<(String, usize)>,
}

/// A live-in or live-out value, as the caller sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LiveValue {
    Constant(u64),
    /// A word of the tile's record, plus a pattern of the region.
    Scalar(usize, usize),
    /// The column whose address is at this offset in the frame.
    Column(i64),
}

impl LiveReg {
    fn value(&self) -> LiveValue {
        match self.location {
            LiveLocation::Constant(bits) => LiveValue::Constant(bits),
            LiveLocation::Word { word, pattern } => LiveValue::Scalar(word, pattern),
            LiveLocation::Column(at) => LiveValue::Column(at),
        }
    }
}

impl CompiledRegion {
    /// Compiles the region from a point on. `inputs` are the registers that may be read from there on.
    pub(super) fn compile(
        launch: &LaunchConstants<'_>,
        start: ProgramPoint,
        inputs: &[(Reg, Input)],
        mode: CompileMode,
        (numbers, budget): (&Numbers, &Budget),
    ) -> Option<CompiledRegion> {
        let threads = launch.config.threads();
        let whole_warps = |lanes: usize| lanes.is_multiple_of(32) || lanes == threads;
        let tiles = [MAX_TILE, 64, 32, MIN_TILE].into_iter().filter(|&lanes| whole_warps(lanes));
        let plan = |mode| {
            let (boundaries, eager) = (BTreeSet::new(), BTreeSet::new());
            Plan { launch, start, inputs, boundaries, eager, spare: 0, mode, numbers, budget }
        };
        let mut best_plan = plan(mode);
        let mut best: Option<(u64, &TileLayout, Draft)> = None;
        // The largest tile whose values fit the processor's registers, or one that costs less.
        for lanes in tiles {
            let Some(tile) = numbers.tile(launch, lanes) else { continue };
            let Some(draft) = best_plan.draft(tile) else { continue };
            let (cost, fits) = (draft.cost * 1024 / lanes as u64, draft.fits);
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, tile, draft));
            }
            if fits {
                break;
            }
        }
        let (_, tile, draft) = best?;
        let compiled = best_plan.compile(tile, draft)?;
        if compiled.shared_conflict() && !mode.isolate_stores {
            let mut plan = plan(CompileMode { isolate_stores: true, ..mode });
            let draft = plan.draft(tile)?;
            return plan.compile(tile, draft);
        }
        Some(compiled)
    }
    fn shared_conflict(&self) -> bool {
        let shared: Vec<&AccessSite> = self.sites.iter().filter(|site| site.space == Space::Shared).collect();
        shared.iter().enumerate().any(|(index, a)| shared[..index].iter().any(|b| self.may_conflict(a, b)))
    }

    /// Bytes of code and of its frame.
    pub(super) fn code_bytes(&self) -> usize {
        self.executable.bytes() + size_of_val(&self.frame[..])
    }
    /// Whether it expects all registers to be zero.
    pub(crate) fn is_fresh(&self) -> bool {
        self.inputs.iter().all(|input| matches!(input.location, LiveLocation::Constant(0)))
    }
    /// What tiles saved the interpreter, less what their entries cost: they completed so many instructions in every lane, and so many
    /// summed over the lanes that did.
    pub(crate) fn gain(&self, tiles: usize, steps: u64, predicated: u64) -> i64 {
        let instructions = steps + predicated / self.lanes as u64;
        let saved = instructions.saturating_mul(self.interpreted_cost) / self.length.max(1);
        saved.min(1 << 40) as i64 - tiles as i64 * MIN_COST as i64
    }
    /// The live-in values, as the caller must pass them.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (Reg, LiveValue)> {
        (0..).map_while(|index| self.input(index))
    }
    pub(crate) fn input(&self, index: usize) -> Option<(Reg, LiveValue)> {
        self.inputs.get(index).map(|live| (live.reg, live.value()))
    }
    /// The live-out values of an exit.
    pub(crate) fn outputs(&self, exit: usize) -> impl Iterator<Item = (Reg, LiveValue)> {
        self.outputs[exit].iter().map(|live| (live.reg, live.value()))
    }
    /// What a tile's lanes have more than its number.
    pub(crate) fn pattern(&self, index: usize) -> &[i64] {
        &self.patterns[index]
    }
    /// Whether two sites in one segment might see each other's lanes in another order than in the interpreter. Lanes that are
    /// together load before they store in both, so that only warps that race could tell: they keep the interpreter's order in
    /// global memory, at numbers that one register holds in a block, and where one loads what another stores, both in even steps. Where
    /// lanes part, all paths load before any stores.
    pub(super) fn may_conflict(&self, a: &AccessSite, b: &AccessSite) -> bool {
        if a.access == b.access && a.access != Access::Store {
            return false;
        }
        let is_divergent = !self.exit_words.is_empty();
        let scattered = [a, b].iter().any(|site| !site.shape.is_scalar());
        if (scattered || a.space == Space::Shared) && !is_divergent {
            return false;
        }
        let (Operand::Reg(reg), true) = (a.address, a.address == b.address) else {
            let stores = a.access != Access::Load && b.access != Access::Load;
            return is_divergent || !stores && self.has_even_steps(a) && self.has_even_steps(b);
        };
        if self.redefined[reg.0 as usize] {
            return true;
        }
        // The same address in both. Lanes without a pattern that have parted and share an address race.
        let VectorShape::Scalar(pattern) = a.shape else { return !scattered };
        if self.has_even_steps(a) && !is_divergent {
            return self.lanes_overlap(pattern, [a, b]);
        }
        // The lanes' accesses are disjoint if the pattern's steps are as long as an access.
        let from = a.offset.min(b.offset);
        let to = (a.offset + a.length as i64).max(b.offset + b.length as i64);
        let mut starts = self.patterns[pattern].clone();
        starts.sort_unstable();
        !starts.windows(2).all(|pair| pair[1] - pair[0] >= to - from)
    }
    /// Whether different lanes of a block access the same bytes at the two sites, as far as a pattern shows that has even steps:
    /// they go on behind the tile. Other blocks are anywhere.
    fn lanes_overlap(&self, pattern: usize, [a, b]: [&AccessSite; 2]) -> bool {
        let (step, most_apart) =
            (self.patterns[pattern][1].abs_diff(self.patterns[pattern][0]) as i64, self.threads as i64 - 1);
        let between = a.offset - b.offset;
        // So many bytes from a lane at `a` on, one at `b` starts that overlaps.
        let (least, most) = (between - b.length as i64 + 1, between + a.length as i64 - 1);
        if step == 0 {
            return (least..=most).contains(&0);
        }
        let first = -(-least).div_euclid(step);
        let (first, last) = (first.max(-most_apart), most.div_euclid(step).min(most_apart));
        first < last || first == last && first != 0
    }
    fn has_even_steps(&self, site: &AccessSite) -> bool {
        let VectorShape::Scalar(pattern) = site.shape else { return true };
        let steps = self.patterns[pattern].windows(2).map(|pair| pair[1] - pair[0]);
        steps.clone().zip(steps.skip(1)).all(|(one, next)| one == next)
    }
}

/// A compilation in progress: what was found to be unsupported so far.
struct Plan<'a> {
    launch: &'a LaunchConstants<'a>,
    start: ProgramPoint,
    inputs: &'a [(Reg, Input)],
    boundaries: BTreeSet<ProgramPoint>,
    eager: BTreeSet<Reg>,
    /// Scratch registers that the code leaves alone.
    spare: usize,
    mode: CompileMode,
    numbers: &'a Numbers,
    budget: &'a Budget,
}

/// All that precedes code emission.
struct Draft {
    region: Region,
    frame: Frame,
    shapes: Shapes,
    inputs: Vec<LiveReg>,
    allocated: Allocated,
    /// What a tile costs that a larger one would share among more lanes, and what it costs for want of registers.
    cost: u64,
    /// Whether all vectors have registers: a smaller tile costs more.
    fits: bool,
}

impl<'a> Plan<'a> {
    /// The inputs that the region uses or defines.
    fn touched(&self, region: &Region) -> Vec<&'a (Reg, Input)> {
        let mut touched = vec![false; self.launch.code.kernel.registers.len()];
        for (index, node) in region.nodes.iter().enumerate() {
            for inst in region.insts(self.launch.code, index) {
                inst.op.registers(|_: Role, reg| touched[reg.0 as usize] = true);
                if let Some(guard) = inst.guard {
                    touched[guard.pred.0 as usize] = true;
                }
            }
            if let Some(reg) = region.decider(node.next) {
                touched[reg.0 as usize] = true;
            }
        }
        self.inputs.iter().filter(|(reg, _)| touched[reg.0 as usize]).collect()
    }

    /// The shapes of a region's registers, and the location of each input.
    fn shapes(
        &self,
        region: &Region,
        tile: &TileLayout,
        frame: &mut Frame,
    ) -> Option<(Shapes, InactiveLiveness, Vec<LiveReg>)> {
        let mut tile = tile.clone();
        let mut live_in = Vec::new();
        let mut known = Vec::new();
        for (reg, input) in self.touched(region) {
            let (location, shape) = match input {
                Input::Zero => (LiveLocation::Constant(0), VectorShape::Constant(0)),
                &Input::Constant(bits) => {
                    known.push((*reg, VectorShape::Constant(bits)));
                    continue;
                }
                // 16 bits have no pattern: see `Shapes::analyse`.
                Input::Scalar(pattern)
                    if self.launch.code.kernel.width(*reg) != Width::B16
                        || pattern.iter().all(|&number| number == 0) =>
                {
                    let pattern = tile.pattern(pattern[..tile.lanes].to_vec());
                    (LiveLocation::Word { word: frame.record_word(), pattern }, VectorShape::Scalar(pattern))
                }
                Input::Scalar(_) | Input::Varying => (LiveLocation::Column(frame.reserve(8, 8)), VectorShape::Varying),
            };
            live_in.push(LiveReg { reg: *reg, location });
            known.push((*reg, shape));
        }
        let facts = (self.numbers, self.budget);
        let (shapes, inactive) = Shapes::analyse(self.launch, region, &known, tile, self.mode, facts)?;
        Some((shapes, inactive, live_in))
    }

    fn draft(&self, tile: &TileLayout) -> Option<Draft> {
        let region = Region::build(self.launch.code, self.start, &self.boundaries, self.mode, self.budget)?;
        // Each analysis has tables of the kernel's registers, and each node and exit a set of them.
        let (registers, places) = (self.launch.code.kernel.registers.len(), region.nodes.len() + region.exits.len());
        self.budget.spend(2000 * (region.length() + places) + 64 * registers + places * registers / 8)?;
        let mut frame = Frame::new();
        let (shapes, inactive, inputs) = self.shapes(&region, tile, &mut frame)?;
        let allocated = allocate(self.launch.code, &region, &shapes, &inactive, (&mut frame, self.spare), self.budget)?;
        // Small tiles fit few registers, but pay for each number and each address of a tile.
        let cost = allocated.spilled_uses + self.cost_of_numbers(&region, &shapes);
        let fits = allocated.spilled == 0;
        Some(Draft { region, frame, shapes, inputs, allocated, cost, fits })
    }

    /// What a region's instructions cost the interpreter, each once: most are loops over vectors, some take lane after lane.
    fn interpreted_cost(&self, region: &Region, shapes: &Shapes) -> u64 {
        let insts = (0..region.nodes.len()).flat_map(|node| region.insts(self.launch.code, node));
        let cost = insts.map(|inst| match inst.op {
            Op::Load { address, .. } | Op::Store { address, .. } if !shapes.shape(*address).is_scalar() => 8,
            Op::Shuffle { .. } | Op::Vote { .. } | Op::MinMax { .. } | Op::Convert { .. } | Op::Atomic { .. } => 8,
            Op::Int { op: IntOp::Div(_) | IntOp::Rem(_), .. } => 16,
            op if Quotient::of(op).is_some() => 16,
            _ => 1,
        });
        cost.sum()
    }

    /// About how many instructions a tile runs for numbers and addresses, of which it has one, not one a lane.
    fn cost_of_numbers(&self, region: &Region, shapes: &Shapes) -> u64 {
        let per_tile = 40;
        let nodes = region.loop_depths().into_iter().enumerate().map(|(node, depth)| {
            let insts = region.insts(self.launch.code, node).map(|inst| match inst.op {
                Op::Load { .. } | Op::Store { .. } => 6,
                op => {
                    let mut number = false;
                    op.registers(|role, reg| number |= role == Role::Def && shapes.is_general(reg));
                    if number { 3 } else { 0 }
                }
            });
            (insts.sum::<u64>() + 4) * 8u64.pow(depth.min(6))
        });
        per_tile + nodes.sum::<u64>()
    }

    fn compile(&mut self, tile: &TileLayout, first: Draft) -> Option<CompiledRegion> {
        let launch = self.launch;
        let mut draft = first;
        loop {
            let Draft { region, frame, shapes, inputs, allocated, .. } = &draft;
            let read: Vec<Reg> = self.touched(region).into_iter().map(|&(reg, _)| reg).collect();
            let machine = (launch.machine(), shapes.divergent);
            let deferred = Deferred::analyse(launch.code, region, &read, &self.eager, machine, self.budget)?;
            let is_worthwhile = || {
                self.interpreted_cost(region, shapes) >= MIN_COST
                    || region.loop_depths().iter().any(|&depth| depth > 0)
                    || self.is_behind_barrier()
            };
            if self.start != (ProgramPoint { block: 0, at: 0 }) && !is_worthwhile() {
                return None;
            }
            self.budget.spend(4000 * region.length())?;
            let whole = self.is_whole(region, inputs);
            let emitted = emit::region(launch, region, shapes, &deferred, allocated, frame.clone(), (inputs, whole));
            let failed = match emitted {
                Ok(emitted) => {
                    self.budget.spend(32 * emitted.code.len())?;
                    // Elsewhere compiling once more takes longer than it saves.
                    let has_loop = region.loop_depths().iter().any(|&depth| depth > 0);
                    let spare = if has_loop && allocated.spilled > 0 { emitted.spare } else { 0 };
                    let again = self.with_spare(spare, tile, &deferred, whole);
                    let (emitted, draft) = again.unwrap_or((emitted, draft));
                    return self.finish(emitted, &draft, &deferred, whole);
                }
                Err(failed) => failed,
            };
            if failed.boundaries.contains(&self.start) || failed.boundaries.is_empty() && failed.eager.is_empty() {
                return None;
            }
            let (boundaries, eager) = (self.boundaries.len(), self.eager.len());
            self.boundaries.extend(failed.boundaries);
            self.eager.extend(failed.eager);
            if self.boundaries.len() > boundaries {
                draft = self.draft(tile)?;
            } else if self.eager.len() == eager {
                return None;
            }
        }
    }

    /// The same code with values in so many of the scratch registers, which it did without.
    fn with_spare(
        &mut self,
        spare: usize,
        tile: &TileLayout,
        deferred: &Deferred,
        whole: bool,
    ) -> Option<(emit::Emitted, Draft)> {
        if spare == 0 {
            return None;
        }
        self.spare = spare;
        let draft = self.draft(tile);
        self.spare = 0;
        let draft = draft?;
        self.budget.spend(4000 * draft.region.length())?;
        let Draft { region, shapes, allocated, frame, inputs, .. } = &draft;
        let code = emit::region(self.launch, region, shapes, deferred, allocated, frame.clone(), (inputs, whole));
        Some((code.ok()?, draft))
    }

    fn is_behind_barrier(&self) -> bool {
        let before = self.start.at.checked_sub(1).map(|at| self.launch.code.blocks[self.start.block].insts[at].op);
        matches!(before, Some(Op::Barrier { .. }))
    }
    /// Whether the region takes blocks from their starts to their ends, and does without their shared memory.
    fn is_whole(&self, region: &Region, inputs: &[LiveReg]) -> bool {
        let shares = |op: &Op| match op {
            Op::Load { space, .. } | Op::Store { space, .. } | Op::Atomic { space, .. } => {
                !matches!(space, Space::Global | Space::Param)
            }
            _ => false,
        };
        let insts = || (0..region.nodes.len()).flat_map(|node| region.insts(self.launch.code, node));
        self.start == ProgramPoint { block: 0, at: 0 }
            && inputs.iter().all(|input| matches!(input.location, LiveLocation::Constant(0)))
            && region.exits.iter().all(|&exit| exit == Exit::Ended)
            && (self.launch.config.shared_bytes() == 0 || !insts().any(|inst| shares(inst.op)))
    }

    fn finish(
        &self,
        emitted: emit::Emitted,
        draft: &Draft,
        deferred: &Deferred,
        is_whole: bool,
    ) -> Option<CompiledRegion> {
        let Draft { region, shapes, inputs, .. } = draft;
        let executable = Executable::new(&emitted.code)?;
        let mut bytes = emitted.frame.bytes();
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        let frame = bytes.chunks_exact(64).map(|chunk| FrameChunk(core::array::from_fn(|at| chunk[at]))).collect();
        let record_words = record::VALUES + emitted.frame.record_values;
        let ends = emitted.frame.ends.into_iter().collect();
        let unwritten = emitted.frame.unwritten.into_iter().collect();
        let (sites, outputs, exit_words, lanes) =
            (emitted.frame.sites, emitted.outputs, emitted.exit_words, shapes.lanes);
        let (patterns, exits) = (shapes.patterns().to_vec(), region.exits.clone());
        let redefined = self.redefined(region);
        let (length, interpreted_cost) = (region.length() as u64, self.interpreted_cost(region, shapes));
        let inputs = inputs.clone();
        let mut columns: Vec<(Reg, i64)> = outputs.iter().flatten().filter_map(LiveReg::column).collect();
        columns.sort_unstable();
        columns.dedup();
        let mut compiled = CompiledRegion {
            executable,
            frame,
            sites,
            ends,
            unwritten,
            redefined,
            inputs,
            outputs,
            columns,
            patterns,
            exits,
            lanes,
            threads: self.launch.config.threads(),
            is_whole,
            may_mask: region.may_mask,
            length,
            interpreted_cost,
            record_words,
            exit_words,
            approximations: emitted.approximations,
        };
        let machine = self.launch.machine();
        let word = |number: u32| u64::from(environment(machine, number, deferred));
        put(&mut compiled.frame, header::SAVED, word(direction_number(emitted.home)) << 32);
        put(&mut compiled.frame, header::ENVIRONMENTS, word(0) | word(1) << 32);
        put(&mut compiled.frame, header::ENVIRONMENTS + 8, word(2) | word(3) << 32);
        Some(compiled)
    }

    /// Registers with several definitions, an input being one, or with one in a loop.
    fn redefined(&self, region: &Region) -> Vec<bool> {
        let mut definitions = vec![0u32; self.launch.code.kernel.registers.len()];
        for (reg, _) in self.touched(region) {
            definitions[reg.0 as usize] += 1;
        }
        for (node, depth) in region.loop_depths().into_iter().enumerate() {
            for inst in region.insts(self.launch.code, node) {
                inst.op.registers(|role, reg| {
                    if role == Role::Def {
                        definitions[reg.0 as usize] += 1 + depth;
                    }
                });
            }
        }
        definitions.into_iter().map(|count| count > 1).collect()
    }
}

/// The floating-point environment with a direction of rounding, by its number in MXCSR.
fn environment(machine: Machine, direction: u32, deferred: &Deferred) -> u32 {
    if machine == Machine::Neon {
        // FPCR: no exception traps, nothing is flushed, NaNs keep their payloads. Up is 1 there, down is 2.
        return [0, 2, 1, 3][direction as usize % 4] << 22;
    }
    // MXCSR: all exceptions masked; 0x40 is DAZ, 0x8000 is FTZ.
    0x1f80 | direction << 13 | if deferred.daz { 0x40 } else { 0 } | if deferred.ftz { 0x8000 } else { 0 }
}
