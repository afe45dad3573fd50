//! On-stack replacement: lanes enter native code at an instruction, and return with their registers.

use super::interpreter::Interpreter;
use super::mask::Mask;
use super::native_entries::{Entry, MAX_INSTANCES, TileRuns};
use super::register::{AnyColumn, Lane, LaneShape, with_lane};
use super::split::Split;
use crate::kernel::{LaunchConfig, Segment, SegmentWords};
use crate::native::{
    self, CodeInstance, CompiledRegion, Exit, Input, LaunchConstants, LiveValue, MAX_TILE, MIN_TILE, ProgramPoint,
    SegmentView, TileOutcome,
};
use crate::scalar::sign_extend;
use roundonce_ir::{Operand, Reg, Width};

/// Instructions of tiles that native code executes before it looks whether the launch was stopped: some 20 ms.
const UNINTERRUPTED: u64 = 1 << 24;
/// Turns of the scheduler for which lanes that native code has left ahead of others wait for these.
const HEAD_START: u64 = 1 << 14;

impl Interpreter<'_> {
    /// Whether all lanes of the batch may enter native code where the split is.
    pub(super) fn may_enter_native(&self, split: &Split) -> bool {
        self.native.are_enabled()
            && split.bailed_out_at != Some((split.block, split.at))
            && self.splits.is_empty()
            && split.waiting.is_none()
            && split.mask == self.live
            && self.active.count == self.geometry.lanes
            && self.may_enter_at(ProgramPoint { block: split.block, at: split.at })
    }
    /// Whether there is code for a point, or may be.
    fn may_enter_at(&self, point: ProgramPoint) -> bool {
        match self.native.entries.get(&point) {
            Some(entry) => !entry.disabled && (!entry.instances.is_empty() || self.may_compile()),
            None => self.native.has_code(&point) || self.may_compile(),
        }
    }
    fn may_compile(&self) -> bool {
        self.native.may_compile(self.code_cache.budget.spent())
    }

    /// Runs the split's lanes in native code from where they are. Whether any completed.
    pub(super) fn enter_native(&mut self, split: &mut Split) -> bool {
        let start = ProgramPoint { block: split.block, at: split.at };
        let mut entry = self.native.take(start);
        let entered = self.enter_at(start, &mut entry, split);
        self.native.put_back(start, entry);
        entered
    }

    fn enter_at(&mut self, start: ProgramPoint, entry: &mut Entry, split: &mut Split) -> bool {
        loop {
            let mut known = entry.instances.iter().position(|instance| self.fits(instance));
            if known.is_none() && !self.native.held.is_empty() {
                self.settle();
                known = entry.instances.iter().position(|instance| self.fits(instance));
            }
            let may_compile = self.may_compile();
            let made = || {
                let is_new = may_compile || entry.instances.is_empty();
                let index = is_new.then(|| self.compile(start, entry)).flatten()?;
                self.fits(&entry.instances[index]).then_some(index)
            };
            let Some(index) = known.or_else(made) else {
                // Code of the whole kernel is for the batches behind this one.
                entry.disabled = may_compile && !entry.instances.iter().any(|instance| instance.code.is_whole);
                return false;
            };
            let mut instance = entry.instances.swap_remove(index);
            let mode = entry.mode;
            let (ran, mut outputs) = self.run_tiles(&mut instance);
            let completed = ran.completed;
            self.native.recording.entered();
            if completed > 0 {
                self.count_native(&mut instance, (ran.steps, ran.predicated), ran.completed());
                self.exit_native(&instance, &ran, &mut outputs, start, split);
            }
            outputs.drain(..).for_each(|(_, column)| self.files.release(column));
            entry.record(instance, &ran, &self.native.recording);
            (self.native.outputs, self.native.tiles) = (outputs, ran.tiles);
            if completed == 0 && entry.mode != mode && !entry.disabled {
                continue;
            }
            if completed == 0 {
                split.bailed_out_at = Some((start.block, start.at));
            }
            return completed > 0;
        }
    }

    /// Code for a point, taken from the cache or, if it may be, compiled.
    fn compile(&mut self, start: ProgramPoint, entry: &mut Entry) -> Option<usize> {
        if entry.instances.len() == MAX_INSTANCES || entry.disabled {
            return None;
        }
        let launch = LaunchConstants { code: self.code, config: self.config };
        // At the kernel's start all registers are zero.
        let fresh = start == (ProgramPoint { block: 0, at: 0 }) && self.issued == 0;
        // Code for the patterns of some columns is there already where these are others: the next is for any.
        let of_columns = entry.instances.is_empty();
        let input = |reg| match self.code.constant_at(reg, start.block, start.at) {
            _ if fresh => Input::Zero,
            Some(bits) => Input::Constant(bits),
            None => self.input(reg, of_columns),
        };
        let inputs = || {
            let budget = self.may_compile().then_some(&self.code_cache.budget)?;
            budget.spend(16 * self.code.kernel.registers.len())?;
            let live = native::live_registers(self.code, start, budget)?;
            budget.spend(live.len() * MAX_TILE)?;
            Some(live.into_iter().map(|reg| (reg, input(reg))).collect())
        };
        let fits = |code: &CompiledRegion| if fresh { code.is_fresh() } else { self.fits_file(code) };
        let code = self.code_cache.get(&launch, (start, entry.mode), fits, inputs)?;
        entry.instances.push(CodeInstance::new(code, |pattern| self.native.held.number_of(pattern)));
        Some(entry.instances.len() - 1)
    }

    /// What a register holds, as far as code is specialised for it; of lanes in a column their pattern where `of_columns`.
    fn input(&self, reg: Reg, of_columns: bool) -> Input {
        let (row, lanes) = (self.geometry.row, self.geometry.lanes);
        let width = self.code.kernel.width(reg);
        with_lane!(width, T => {
            let register = &T::file(&self.files).registers[reg.0 as usize];
            match register.shape {
                LaneShape::Uniform => Input::Scalar(vec![0; MAX_TILE]),
                LaneShape::Affine | LaneShape::Varying if self.may_have_pattern(reg, register.shape, of_columns) => {
                    let first = register.lane(0, row).bits();
                    let number = |lane: usize| {
                        sign_extend(register.lane(lane.min(lanes - 1), row).bits().wrapping_sub(first), width.bits())
                    };
                    let pattern: Vec<i64> = (0..MAX_TILE).map(number).collect();
                    // Rows are independent: tiles of every size that divides a block must all have this pattern.
                    let mut tiles = [MAX_TILE, 64, 32, MIN_TILE].into_iter().filter(|&tile| self.threads.is_multiple_of(tile));
                    let alike = tiles.all(|tile| {
                        (0..lanes).step_by(tile).all(|start| {
                            register.has_pattern(start, row, &pattern[..tile.min(lanes - start)])
                        })
                    });
                    if alike { Input::Scalar(pattern) } else { Input::Varying }
                }
                _ => Input::Varying,
            }
        })
    }

    /// Whether code is specialised for the pattern of a register's lanes: not where it may depend on data.
    fn may_have_pattern(&self, reg: Reg, shape: LaneShape, of_columns: bool) -> bool {
        let launch = LaunchConstants { code: self.code, config: self.config };
        match self.code.kernel.width(reg) {
            Width::Pred => false,
            _ if shape == LaneShape::Affine => true,
            Width::B16 => false,
            _ => of_columns && self.code_cache.is_of_indices(&launch, reg),
        }
    }
    /// Whether the registers hold what an instance was specialised for.
    fn fits(&mut self, instance: &CodeInstance) -> bool {
        let code = &instance.code;
        !code.is_whole
            && code.inputs().all(|(reg, value)| match value {
                LiveValue::Scalar(_, pattern) if self.native.held.has(reg) => {
                    let mask = self.code.kernel.width(reg).mask();
                    self.native.held.fits(reg, instance.patterns[pattern], mask)
                }
                LiveValue::Constant(_) if self.native.held.has(reg) => false,
                _ => self.file_fits(code, reg, value),
            })
    }
    /// The same where all of them are in the file.
    fn fits_file(&self, code: &CompiledRegion) -> bool {
        code.inputs().all(|(reg, value)| self.file_fits(code, reg, value))
    }
    fn file_fits(&self, code: &CompiledRegion, reg: Reg, value: LiveValue) -> bool {
        match value {
            LiveValue::Constant(bits) => {
                let width = self.code.kernel.width(reg);
                with_lane!(width, T => T::file(&self.files).uniform(Operand::Reg(reg)) == Some(T::of(bits)))
            }
            LiveValue::Column(_) => true,
            LiveValue::Scalar(_, pattern) => with_lane!(self.code.kernel.width(reg), T => {
                let (register, pattern) = (&T::file(&self.files).registers[reg.0 as usize], code.pattern(pattern));
                match register.shape {
                    LaneShape::Uniform => pattern.iter().all(|&number| number == 0),
                    LaneShape::Affine | LaneShape::Varying => {
                        let (row, lanes) = (self.geometry.row, self.geometry.lanes);
                        (0..lanes).step_by(code.lanes).all(|first| register.has_pattern(first, row, pattern))
                    }
                }
            }),
        }
    }
    /// A column for a register.
    pub(super) fn acquire_any(&mut self, reg: Reg) -> AnyColumn {
        with_lane!(self.code.kernel.width(reg), T => T::into_any(T::file_mut(&mut self.files).acquire()))
    }
    /// Runs an instance over all tiles.
    fn run_tiles(&mut self, instance: &mut CodeInstance) -> (TileRuns, Vec<(Reg, AnyColumn)>) {
        let count = self.geometry.lanes / instance.code.lanes;
        self.prepare(instance, count);
        let mut outputs = std::mem::take(&mut self.native.outputs);
        for index in 0..instance.code.columns.len() {
            let (reg, at) = instance.code.columns[index];
            let mut column = self.acquire_any(reg);
            instance.set(at, column.address());
            outputs.push((reg, column));
        }
        (self.run_pending_tiles(instance, count, |_| true), outputs)
    }

    /// Runs an instance over the pending tiles, whose records are filled.
    fn run_pending_tiles(
        &mut self,
        instance: &mut CodeInstance,
        count: usize,
        is_pending: impl Fn(usize) -> bool,
    ) -> TileRuns {
        let ran = TileRuns::new(std::mem::take(&mut self.native.tiles));
        self.run_rest(instance, count, ran, is_pending)
    }
    /// The same of the tiles behind those that have run.
    pub(super) fn run_rest(
        &mut self,
        instance: &mut CodeInstance,
        count: usize,
        mut ran: TileRuns,
        is_pending: impl Fn(usize) -> bool,
    ) -> TileRuns {
        let mut segments = std::mem::take(&mut self.native.segments);
        self.put_segments(&mut segments);
        instance.refresh_caches(&segments);
        let limit = i64::try_from(self.config.step_limit).unwrap_or(i64::MAX);
        let budget = limit.saturating_sub_unsigned(self.issued);
        while ran.tiles.len() < count {
            // Between runs of about so many steps the launch may be stopped: those that are done say how long a tile is.
            let steps = ran.steps.checked_div(ran.completed as u64).map_or(UNINTERRUPTED, |steps| steps.max(1));
            let most = (UNINTERRUPTED / steps).max(1) as usize;
            if self.is_stopped() {
                ran.fail(count - ran.tiles.len());
                break;
            }
            let next = ran.tiles.len();
            let end = count.min(next.saturating_add(most));
            let end = (next..end).find(|&tile| !is_pending(tile)).unwrap_or(end);
            if end == next {
                ran.tiles.push(false);
                continue;
            }
            let went = instance.run(next..end, self.config, &segments, budget);
            ran.complete(instance, next..went.done(end));
            ran.diverged += instance.take_diverged_late();
            match went {
                TileOutcome::Completed => {}
                TileOutcome::SideExit(_) if self.config.stops_at_faults => ran.fail(count - ran.tiles.len()),
                TileOutcome::SideExit(_) => ran.fail(1),
                TileOutcome::Diverged(tile) => {
                    ran.diverged += 1;
                    ran.fail(1);
                    // If all of the first tiles diverge, the others will too.
                    if tile + 1 == count.min(2) && ran.diverged as usize == tile + 1 {
                        ran.diverged = count as u32;
                        ran.fail(count - ran.tiles.len());
                    }
                }
                TileOutcome::Conflict(_) => {
                    ran.conflict = true;
                    ran.fail(count - ran.tiles.len());
                }
            }
        }
        self.native.segments = segments;
        ran
    }

    /// Runs several batches at once if one piece of code takes their lanes from the kernel's start to its end. Returns the
    /// lanes of each batch that are still to run; of the first one alone where there is no such code, or not yet.
    pub(crate) fn run_whole_kernels(&mut self, first: u64, blocks: usize, per_batch: usize) -> Vec<Mask> {
        let batches = blocks.div_ceil(per_batch);
        let threads = self.threads;
        let of_batch = |index: usize| (blocks - index * per_batch).min(per_batch) * threads;
        let first_alone = || vec![Mask::first(of_batch(0))];
        let start = ProgramPoint { block: 0, at: 0 };
        if !self.native.are_enabled() || !threads.is_multiple_of(MIN_TILE) || !self.may_enter_at(start) {
            return first_alone();
        }
        // Whether each group of `MIN_TILE` lanes has exited, where some have.
        let mut ended: Vec<bool> = Vec::new();
        self.issued = 0;
        let mut entry = self.native.take(start);
        loop {
            let known = entry.instances.iter().position(|instance| instance.code.is_whole);
            // From the start there is one piece of code: where it is not whole, no other will be.
            let is_made = entry.instances.iter().any(|instance| instance.code.is_fresh());
            let made = || (!is_made).then(|| self.compile(start, &mut entry)).flatten();
            let index = known.or_else(made);
            let Some(index) = index.filter(|&index| !entry.disabled && entry.instances[index].code.is_whole) else {
                break;
            };
            let mut instance = entry.instances.swap_remove(index);
            let (lanes, size) = (instance.code.lanes, self.config.block);
            let of_block = self.threads / lanes;
            let count = blocks * of_block;
            instance.reserve_tiles(of_block, |tile| LaunchConfig::axes(size, (tile * lanes) as u64));
            instance.set_first_block(first);
            let parts = lanes / MIN_TILE;
            let ran = if ended.is_empty() {
                self.run_pending_tiles(&mut instance, count, |_| true)
            } else {
                // Other code may have smaller tiles: one of which a part has ended is the interpreter's.
                let is_pending = |tile: usize| !ended[tile * parts..(tile + 1) * parts].contains(&true);
                self.run_pending_tiles(&mut instance, count, is_pending)
            };
            self.count_native(&mut instance, (ran.steps, ran.predicated), ran.completed());
            let mode = entry.mode;
            entry.record(instance, &ran, &self.native.recording);
            if ran.completed == count {
                self.native.put_back(start, entry);
                return vec![Mask::default(); batches];
            }
            ended.resize(blocks * threads / MIN_TILE, false);
            let tiles = ran.tiles.iter().zip(ended.chunks_exact_mut(parts));
            tiles.filter(|(completed, _)| **completed).for_each(|(_, ended)| ended.fill(true));
            // Code compiled in another mode may run the tiles that took a side exit.
            if entry.mode == mode || ended.iter().all(|&ended| ended) {
                break;
            }
        }
        self.native.put_back(start, entry);
        if ended.is_empty() {
            return first_alone();
        }
        let rest = |index: usize| {
            let mut mask = Mask::default();
            let start = index * per_batch * threads;
            for lane in (0..of_batch(index)).step_by(MIN_TILE).filter(|lane| !ended[(start + lane) / MIN_TILE]) {
                mask.add_range(lane, lane + MIN_TILE);
            }
            mask
        };
        (0..batches).map(rest).collect()
    }
    /// Counts the instructions of the tiles that completed, and the approximate ones among them.
    pub(super) fn count_native(
        &mut self,
        instance: &mut CodeInstance,
        (steps, predicated): (u64, u64),
        completed: impl Iterator<Item = usize> + Clone,
    ) {
        let steps = steps * instance.code.lanes as u64 + predicated;
        self.stats.steps += steps;
        self.stats.native_steps += steps;
        for index in 0..instance.code.approximations.len() {
            let count = instance.take_approximations(index, completed.clone());
            self.stats.approximated(&instance.code.approximations[index].0, count);
        }
    }

    /// Writes into the tiles' records which of these blocks they are of, and where its shared memory is.
    pub(super) fn set_blocks(&mut self, instance: &mut CodeInstance, first: u64, blocks: usize) {
        let shared = self.shared.as_mut_ptr().expose_provenance() as u64;
        let of_block = self.threads / instance.code.lanes;
        let mut axes = LaunchConfig::axes(self.config.grid, first);
        for block in 0..blocks {
            let own = shared + (block * self.shared_words * 4) as u64;
            instance.set_block(block * of_block..(block + 1) * of_block, axes, own);
            axes = LaunchConfig::next_axes(self.config.grid, axes);
        }
    }
    /// Fills the tiles' records, and the inputs' addresses.
    fn prepare(&mut self, instance: &mut CodeInstance, count: usize) {
        let (lanes, threads) = (instance.code.lanes, self.threads);
        let size = self.config.block;
        instance.reserve_tiles(count, |tile| LaunchConfig::axes(size, (tile * lanes % threads) as u64));
        self.set_blocks(instance, self.first_block, self.blocks);
        let mut next = 0;
        while let Some((reg, value)) = instance.code.input(next) {
            next += 1;
            match value {
                LiveValue::Constant(_) => {}
                LiveValue::Column(at) => {
                    self.settle_register(reg);
                    let address = with_lane!(self.code.kernel.width(reg), T => {
                        T::file_mut(&mut self.files).make_varying(reg, self.geometry).0.as_mut_ptr().expose_provenance()
                    });
                    instance.set(at, address as u64);
                }
                LiveValue::Scalar(word, pattern) => self.pass_numbers(instance, reg, word, instance.patterns[pattern]),
            }
        }
    }
    /// Passes a register's numbers in a word of the tiles' records.
    fn pass_numbers(&mut self, instance: &mut CodeInstance, reg: Reg, word: usize, pattern: usize) {
        let width = self.code.kernel.width(reg);
        if let Some(numbers) = self.native.held.numbers(reg, pattern, width.mask()) {
            instance.words_mut(word).zip(numbers).for_each(|(to, &number)| *to = number);
            return;
        }
        let (lanes, geometry) = (instance.code.lanes, self.geometry);
        let held = self.native.held.hold(reg, pattern, true);
        with_lane!(width, T => {
            T::file(&self.files).each_group(reg, lanes, geometry.lanes / lanes, geometry, |_, value| {
                held.push(value.bits() & width.mask());
            });
        });
        instance.words_mut(word).zip(held).for_each(|(to, number)| *to = *number);
    }

    /// Puts the segments' addresses in the place of others.
    pub(super) fn put_segments(&mut self, views: &mut Vec<SegmentView>) {
        let all = self.global.layout.segments.iter().zip(&mut self.global.words);
        let one = |(segment, words): (&Segment, &mut SegmentWords<'_>)| SegmentView {
            base: segment.base,
            bytes: segment.bytes,
            writable: segment.is_writable(),
            host: words.address() as u64,
        };
        views.clear();
        views.extend(all.map(one));
    }

    /// Takes over from native code: registers, and the lanes' splits.
    pub(super) fn exit_native(
        &mut self,
        instance: &CodeInstance,
        ran: &TileRuns,
        outputs: &mut Vec<(Reg, AnyColumn)>,
        start: ProgramPoint,
        split: &mut Split,
    ) {
        let limit = i64::try_from(self.config.step_limit).unwrap_or(i64::MAX);
        self.issued = limit.saturating_sub(ran.budget_left.unwrap_or(limit)) as u64;
        let exit_of = |tile: usize| ran.tiles[tile].then(|| instance.exit(tile));
        let first = exit_of(0);
        let alike = (1..ran.tiles.len()).all(|tile| exit_of(tile) == first);
        match first.and_then(|exit| instance.code.exits.get(exit).map(|&to| (exit, to))) {
            Some((exit, Exit::Ended)) if alike => {
                self.native.recording.left(start, &instance.code, exit);
                self.live = self.live.without(split.mask);
                split.mask = Mask::default();
            }
            // All lanes go on together.
            Some((exit, Exit::At(point))) if alike => {
                self.native.recording.left(start, &instance.code, exit);
                *split = self.split_at(point, split.mask, split.last_turn);
                self.activate(split.mask);
                self.inactive_live = None;
                self.registers_dirty = true;
                self.take_outputs(instance, exit, outputs, (true, true));
            }
            _ => {
                self.native.recording.stop();
                self.exit_apart(instance, ran, outputs, start, split);
            }
        }
    }
    /// Lanes behind native code.
    pub(super) fn split_at(&self, point: ProgramPoint, mask: Mask, last_turn: u64) -> Split {
        let waiting = self.code.waits.of_head(point.block).filter(|_| point.at == 0);
        Split { block: point.block, at: point.at, mask, blocked_on: None, last_turn, bailed_out_at: None, waiting }
    }
    /// The same where not all lanes go the same way.
    fn exit_apart(
        &mut self,
        instance: &CodeInstance,
        ran: &TileRuns,
        outputs: &mut Vec<(Reg, AnyColumn)>,
        start: ProgramPoint,
        split: &mut Split,
    ) {
        self.settle();
        let lanes = instance.code.lanes;
        let diverged = instance.code.exits.len();
        let of = |wanted: Option<usize>| {
            let mut mask = Mask::default();
            for (tile, completed) in ran.tiles.iter().enumerate() {
                let exit = completed.then(|| instance.exit(tile));
                if exit == wanted {
                    mask.add_range(tile * lanes, (tile + 1) * lanes);
                } else if let Some(wanted) = wanted.filter(|_| exit == Some(diverged)) {
                    for (place, &word) in instance.exit_mask(tile, wanted).iter().enumerate() {
                        mask.set_word(tile * lanes + place * 64, word);
                    }
                }
            }
            mask
        };
        // All splits first: which registers are live in inactive lanes depends on them.
        let rest = of(None);
        if !rest.is_empty() {
            let bailed_out_at = Some((start.block, start.at));
            self.splits.push(Split { bailed_out_at, waiting: None, ..self.split_at(start, rest, 0) });
        }
        let mut continuing: Vec<(usize, Mask)> = Vec::new();
        for (exit, &to) in instance.code.exits.iter().enumerate() {
            let mask = of(Some(exit));
            if mask.is_empty() {
                continue;
            }
            match to {
                Exit::Ended => self.live = self.live.without(mask),
                Exit::At(point) => {
                    let new = self.split_at(point, mask, 0);
                    // Lanes ahead of others do not run by their age before those have come to where they are, unless all wait.
                    let last_turn = if new.waiting.is_some() { 0 } else { self.turns.saturating_add(HEAD_START) };
                    self.splits.push(Split { last_turn, ..new });
                    continuing.push((exit, mask));
                }
            }
        }
        self.update_inactive_live();
        let is_only = continuing.len() == 1;
        self.registers_dirty |= !continuing.is_empty();
        for (exit, mask) in continuing {
            self.activate(mask);
            self.take_outputs(instance, exit, outputs, (false, is_only));
        }
        // A single remaining split continues directly.
        match self.splits.pop() {
            Some(only) if self.splits.is_empty() => {
                let last_turn = split.last_turn;
                *split = Split { last_turn, ..only };
                self.activate(split.mask);
            }
            Some(last) => {
                self.splits.push(last);
                split.mask = Mask::default();
            }
            None => split.mask = Mask::default(),
        }
    }
    /// Takes over the registers of an exit, of the active lanes: whether these are all, and whether no other exit needs the columns.
    pub(super) fn take_outputs(
        &mut self,
        instance: &CodeInstance,
        exit: usize,
        outputs: &mut Vec<(Reg, AnyColumn)>,
        (are_all, is_only): (bool, bool),
    ) {
        let count = self.geometry.lanes / instance.code.lanes;
        for (reg, value) in instance.code.outputs(exit) {
            match value {
                LiveValue::Constant(bits) => {
                    self.native.held.forget(reg);
                    with_lane!(self.code.kernel.width(reg), T => self.set_uniform::<T>(reg, T::of(bits)));
                }
                LiveValue::Scalar(word, pattern) if are_all => {
                    let mask = self.code.kernel.width(reg).mask();
                    let held = self.native.held.hold(reg, instance.patterns[pattern], false);
                    held.extend(instance.words(word).take(count).map(|number| number & mask));
                }
                LiveValue::Scalar(word, pattern) => with_lane!(self.code.kernel.width(reg), T => {
                    self.put_numbers::<T>(reg, instance.code.pattern(pattern), |tile| instance.word(tile, word));
                }),
                LiveValue::Column(_) => {
                    self.native.held.forget(reg);
                    let Some(index) = outputs.iter().position(|(other, _)| *other == reg) else { continue };
                    let column = if is_only {
                        outputs.swap_remove(index).1
                    } else {
                        self.files.copy(&outputs[index].1, self.geometry.lanes)
                    };
                    match column {
                        AnyColumn::Pred(column) => self.set_column::<u8>(reg, column),
                        AnyColumn::B16(column) => self.set_column::<u16>(reg, column),
                        AnyColumn::B32(column) => self.set_column::<u32>(reg, column),
                        AnyColumn::B64(column) => self.set_column::<u64>(reg, column),
                    }
                }
            }
        }
    }
}
