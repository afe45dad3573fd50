//! Where a fragment's lanes go through native code, and what becomes of their registers.

use super::code::Code;
use super::group::{Fragment, Machine, Setup};
use super::lanes::{Column, Lane, Shape, with_lane};
use super::mask::Mask;
use crate::memory::Words;
use crate::native::{self, Compiled, Exit, Given, Hand, Input, Kind, LEAST, Left, MOST, Piece, Point, Segments, Went};
use roundonce_ir::{Operand, Reg, Width};
use std::collections::BTreeMap;

/// A worker's native code.
#[derive(Debug, Default)]
pub(super) struct Natives {
    /// Whether the launch may be native at all.
    pub(super) enabled: bool,
    entries: BTreeMap<Point, Entry>,
}

/// What is known of a point where native code may begin.
#[derive(Debug, Default)]
struct Entry {
    pieces: Vec<Piece>,
    kind: Kind,
    /// Tiles given up, less those that went through.
    failures: u32,
    given_up: bool,
}

/// So many tiles may be given up before a region is left to the interpreter.
const FAILURES: u32 = 64;
/// Where one tile of so many parts, it is worth going on with lanes that do: the interpreter takes as much longer.
const PARTED: u32 = 8;
/// So many kinds of inputs are compiled for.
const PIECES: usize = 4;

impl Entry {
    /// Whether a piece that ran is worth running again, or one of another kind is.
    fn judge(&mut self, piece: Piece, ran: &Sweep) {
        let through = ran.tiles.iter().flatten().count() as u32;
        let count = through + ran.failed;
        self.failures = (self.failures + ran.failed).saturating_sub(through / 4);
        if ran.conflict {
            // Stores apart from now on; where they are already, none of it.
            self.given_up = self.kind.separate;
            self.change(Kind { separate: true, ..self.kind });
        } else if !self.kind.parting && (PARTED * ran.parted > count || ran.parted > 0 && self.failures > FAILURES) {
            self.change(Kind { parting: true, ..self.kind });
        } else {
            self.given_up = self.failures > FAILURES;
            self.pieces.push(piece);
        }
    }
    fn change(&mut self, kind: Kind) {
        self.pieces.clear();
        self.failures = 0;
        self.kind = kind;
    }
}

impl Natives {
    pub(super) fn new(code: &Code<'_>, setup: &Setup) -> Natives {
        Natives { enabled: setup.native && native::may_run(&Given { code, setup }), ..Natives::default() }
    }
}

impl Machine<'_> {
    /// Whether native code may begin at a point for all lanes of the group.
    pub(super) fn may_enter(&self, fragment: &Fragment) -> bool {
        let point = Point { block: fragment.block, at: fragment.at };
        self.native.enabled
            && fragment.interpreted != Some((fragment.block, fragment.at))
            && self.fragments.is_empty()
            && fragment.mask == self.live
            && self.active.count == self.geometry.lanes
            && self.native.entries.get(&point).is_none_or(|entry| !entry.given_up)
    }

    /// Runs the fragment's lanes through native code from where they are. Whether any went.
    pub(super) fn enter(&mut self, fragment: &mut Fragment) -> bool {
        let start = Point { block: fragment.block, at: fragment.at };
        let mut entry = self.native.entries.remove(&start).unwrap_or_default();
        let went = self.enter_at(start, &mut entry, fragment);
        self.native.entries.insert(start, entry);
        went
    }

    fn enter_at(&mut self, start: Point, entry: &mut Entry, fragment: &mut Fragment) -> bool {
        loop {
            let known = entry.pieces.iter().position(|piece| self.fits(&piece.code));
            let made = || self.compile(start, entry).filter(|&index| self.fits(&entry.pieces[index].code));
            let Some(index) = known.or_else(made) else {
                entry.given_up = true;
                return false;
            };
            let mut piece = entry.pieces.swap_remove(index);
            let kind = entry.kind;
            let (ran, outputs) = self.run_tiles(&mut piece);
            let through = ran.tiles.iter().flatten().count();
            if through > 0 {
                self.leave_native(&piece, &ran.tiles, outputs, start, fragment);
            }
            entry.judge(piece, &ran);
            if through == 0 && entry.kind != kind && !entry.given_up {
                continue;
            }
            if through == 0 {
                fragment.interpreted = Some((start.block, start.at));
            }
            return through > 0;
        }
    }

    fn compile(&self, start: Point, entry: &mut Entry) -> Option<usize> {
        if entry.pieces.len() == PIECES || entry.given_up {
            return None;
        }
        let given = Given { code: self.code, setup: self.setup };
        // At the kernel's start all registers are zero.
        let fresh = start == (Point { block: 0, at: 0 }) && self.issued == 0;
        let input = |reg| if fresh { Input::Zero } else { self.input(reg) };
        let make = || {
            let live = native::live(&given, start).into_iter();
            let inputs: Vec<(Reg, Input)> = live.map(|reg| (reg, input(reg))).collect();
            Compiled::compile(&given, start, &inputs, entry.kind)
        };
        let fits = |code: &Compiled| if fresh { code.is_fresh() } else { self.fits(code) };
        entry.pieces.push(Piece::new(self.setup.shelf.get(start, entry.kind, fits, make)?));
        Some(entry.pieces.len() - 1)
    }

    /// What a register holds, as far as code can be made for it.
    fn input(&self, reg: Reg) -> Input {
        let (row, lanes) = (self.geometry.row, self.geometry.lanes);
        let width = self.code.kernel.width(reg);
        with_lane!(width, T => {
            let cell = &T::file(&self.files).cells[reg.0 as usize];
            match cell.shape {
                Shape::Uniform => Input::Number(vec![0; MOST]),
                Shape::Rows if width != Width::Pred => {
                    let first = cell.rows[0].bits();
                    let number = |lane: usize| {
                        let lane = lane.min(lanes - 1);
                        let value = cell.rows[lane / row].step(cell.value, lane % row).bits().wrapping_sub(first);
                        crate::scalar::sign_extend(value, width.bits())
                    };
                    let pattern: Vec<i64> = (0..MOST).map(number).collect();
                    // Rows may differ by anything: tiles of any size that divides a block must all have it.
                    let mut tiles = [MOST, 64, 32, LEAST].into_iter().filter(|&tile| self.threads.is_multiple_of(tile));
                    let alike = tiles.all(|tile| {
                        (0..lanes).step_by(tile).all(|start| {
                            self.has_pattern::<T>(reg, start, &pattern[..tile.min(lanes - start)])
                        })
                    });
                    if alike { Input::Number(pattern) } else { Input::Lanes }
                }
                _ => Input::Lanes,
            }
        })
    }

    /// Whether the registers are as a piece was compiled for.
    fn fits(&self, piece: &Compiled) -> bool {
        let tiles = self.geometry.lanes / piece.lanes;
        piece.inputs().all(|(reg, hand)| match hand {
            Hand::Constant(bits) => {
                let width = self.code.kernel.width(reg);
                with_lane!(width, T => T::file(&self.files).uniform(Operand::Reg(reg)) == Some(T::of(bits)))
            }
            Hand::Column(_) => true,
            Hand::Number(_, pattern) => with_lane!(self.code.kernel.width(reg), T => {
                let cell = &T::file(&self.files).cells[reg.0 as usize];
                match cell.shape {
                    Shape::Uniform => pattern.iter().all(|&number| number == 0),
                    Shape::Rows => (0..tiles).all(|tile| self.has_pattern::<T>(reg, tile * piece.lanes, pattern)),
                    Shape::Lanes => false,
                }
            }),
        })
    }
    fn has_pattern<T: Lane>(&self, reg: Reg, first: usize, pattern: &[i64]) -> bool {
        let file = T::file(&self.files);
        let row = self.geometry.row;
        let value = |lane: usize| file.lane(Operand::Reg(reg), first + lane, self.geometry);
        let start = value(0).bits();
        // Rows are straight: their first lanes and one more tell.
        let places = (0..pattern.len()).step_by(row.min(pattern.len())).chain([1 % row, pattern.len() - 1]);
        places
            .filter(|&lane| lane < pattern.len())
            .all(|lane| value(lane) == T::of(start.wrapping_add(pattern[lane] as u64)))
    }

    /// Runs a piece over all tiles.
    fn run_tiles(&mut self, piece: &mut Piece) -> (Sweep, Vec<(Reg, Out)>) {
        let count = self.geometry.lanes / piece.code.lanes;
        let columns: Vec<(Reg, i64)> = piece.code.input_columns().collect();
        for (reg, at) in columns {
            let address = with_lane!(self.code.kernel.width(reg), T => {
                T::file_mut(&mut self.files).spread(reg, self.geometry).0.as_mut_ptr().expose_provenance()
            });
            piece.set(at, address as u64);
        }
        let mut outputs: Vec<(Reg, Out)> = Vec::new();
        for &(reg, at) in &piece.code.columns.clone() {
            let (column, address) = with_lane!(self.code.kernel.width(reg), T => {
                let mut column = T::file_mut(&mut self.files).take();
                let address = column.0.as_mut_ptr().expose_provenance();
                (T::out(column), address)
            });
            piece.set(at, address as u64);
            outputs.push((reg, column));
        }
        self.prepare(piece, count);
        (self.sweep(piece, count, |_| true), outputs)
    }

    /// Runs a piece over those tiles that are to do; their lines are filled.
    fn sweep(&mut self, piece: &mut Piece, count: usize, to_do: impl Fn(usize) -> bool) -> Sweep {
        let segments = self.segments();
        let limit = i64::try_from(self.setup.step_limit).unwrap_or(i64::MAX);
        let budget = limit.saturating_sub_unsigned(self.issued);
        let mut ran = Sweep { tiles: Vec::with_capacity(count), failed: 0, parted: 0, conflict: false };
        while ran.tiles.len() < count {
            let next = ran.tiles.len();
            let end = (next..count).find(|&tile| !to_do(tile)).unwrap_or(count);
            if end == next {
                ran.tiles.push(None);
                continue;
            }
            let went = piece.run(next..end, &segments, budget);
            let done = match went {
                Went::Through => end,
                Went::Stopped(tile) | Went::Parted(tile) | Went::Conflict(tile) => tile,
            };
            ran.tiles.extend((next..done).map(|tile| Some(piece.left(tile))));
            match went {
                Went::Through => {}
                Went::Stopped(_) => ran.fail(1),
                Went::Parted(tile) => {
                    ran.parted += 1;
                    ran.fail(1);
                    // Where the first ones all do the others will too.
                    if tile + 1 == count.min(2) && ran.parted as usize == tile + 1 {
                        ran.parted = count as u32;
                        ran.fail(count - ran.tiles.len());
                    }
                }
                Went::Conflict(_) => {
                    ran.conflict = true;
                    ran.fail(count - ran.tiles.len());
                }
            }
        }
        ran
    }

    /// Runs whole kernels of several groups at once, where one piece takes their lanes from the start to the end. What is
    /// left to do of each group: nothing where its lanes have all ended.
    pub(crate) fn ahead(&mut self, first: u64, blocks: usize, per_group: usize) -> Vec<Mask> {
        let groups = blocks.div_ceil(per_group);
        let threads = self.threads;
        let of_group = |index: usize| (blocks - index * per_group).min(per_group) * threads;
        let all = || (0..groups).map(|index| Mask::first(of_group(index))).collect();
        if !self.native.enabled || self.shared_words > 0 || !threads.is_multiple_of(LEAST) {
            return all();
        }
        // Of every so many lanes of all groups: whether they have ended. Masks would cost a short kernel more than it takes.
        let mut ended = vec![false; blocks * threads / LEAST];
        self.issued = 0;
        let start = Point { block: 0, at: 0 };
        let mut entry = self.native.entries.remove(&start).unwrap_or_default();
        loop {
            let known = entry.pieces.iter().position(|piece| piece.code.is_whole());
            let index = known.or_else(|| self.compile(start, &mut entry));
            let Some(index) = index.filter(|&index| !entry.given_up && entry.pieces[index].code.is_whole()) else {
                break;
            };
            let mut piece = entry.pieces.swap_remove(index);
            let (lanes, size) = (piece.code.lanes, self.setup.block);
            let of_block = self.threads / lanes;
            let count = blocks * of_block;
            piece.lines(count, |tile| Setup::axes(size, (tile % of_block * lanes) as u64));
            let mut block = Setup::axes(self.setup.grid, first);
            for number in 0..blocks {
                for tile in number * of_block..(number + 1) * of_block {
                    piece.begin(tile, block, 0);
                }
                block = self.next_block(block);
            }
            let parts = lanes / LEAST;
            let ran = self.sweep(&mut piece, count, |tile| !ended[tile * parts]);
            for (left, ended) in ran.tiles.iter().zip(ended.chunks_exact_mut(parts)) {
                if let Some(left) = left {
                    self.count_native(left, lanes);
                    ended.fill(true);
                }
            }
            let kind = entry.kind;
            entry.judge(piece, &ran);
            // What was given up may go by code of another kind.
            if entry.kind == kind || ended.iter().all(|&ended| ended) {
                break;
            }
        }
        self.native.entries.insert(start, entry);
        let rest = |index: usize| {
            let mut mask = Mask::default();
            let start = index * per_group * threads;
            for lane in (0..of_group(index)).step_by(LEAST).filter(|lane| !ended[(start + lane) / LEAST]) {
                mask = mask.or(Mask::range(lane, lane + LEAST));
            }
            mask
        };
        (0..groups).map(rest).collect()
    }
    fn next_block(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        let [width, height, _] = self.setup.grid;
        if x + 1 < width {
            [x + 1, y, z]
        } else if y + 1 < height {
            [0, y + 1, z]
        } else {
            [0, 0, z + 1]
        }
    }
    fn count_native(&mut self, left: &Left, lanes: usize) {
        let steps = left.steps * lanes as u64 + left.guarded;
        self.tally.steps += steps;
        self.tally.native_steps += steps;
    }

    /// Fills the tiles' lines.
    fn prepare(&mut self, piece: &mut Piece, count: usize) {
        let (lanes, threads) = (piece.code.lanes, self.threads);
        let size = self.setup.block;
        piece.lines(count, |tile| Setup::axes(size, (tile * lanes % threads) as u64));
        let shared = self.shared.as_mut_ptr().expose_provenance() as u64;
        for block in 0..self.blocks {
            let axes = Setup::axes(self.setup.grid, self.first_block + block as u64);
            let of_block = shared + (block * self.shared_words * 4) as u64;
            for tile in block * threads / lanes..(block + 1) * threads / lanes {
                piece.begin(tile, axes, of_block);
            }
        }
        let numbers: Vec<(Reg, usize)> = piece.code.input_numbers().collect();
        for (reg, word) in numbers {
            let width = self.code.kernel.width(reg);
            for tile in 0..count {
                piece.put(tile, word, self.files.lane(Operand::Reg(reg), width, tile * lanes, self.geometry));
            }
        }
    }

    /// Where the segments are.
    fn segments(&mut self) -> Segments {
        let all = self.global.layout.segments.iter().zip(&mut self.global.words);
        let one = |(segment, words): (&crate::memory::Segment, &mut Words<'_>)| {
            let (address, writable) = words.address();
            (segment.base, segment.bytes, segment.writable && writable, address as u64)
        };
        Segments(all.map(one).collect())
    }

    /// After the tiles: counts, registers, and where the lanes are now.
    fn leave_native(
        &mut self,
        piece: &Piece,
        tiles: &[Option<Left>],
        outputs: Vec<(Reg, Out)>,
        start: Point,
        fragment: &mut Fragment,
    ) {
        let lanes = piece.code.lanes;
        let limit = i64::try_from(self.setup.step_limit).unwrap_or(i64::MAX);
        let left = tiles.iter().flatten().map(|tile| tile.left).min().unwrap_or(limit);
        self.issued = limit.saturating_sub(left) as u64;
        for tile in tiles.iter().flatten() {
            self.count_native(tile, lanes);
        }
        let first = tiles.first().copied().flatten().map(|tile| tile.exit);
        let parted = Some(piece.code.exits.len());
        let alike = first != parted && tiles.iter().all(|tile| tile.map(|tile| tile.exit) == first);
        let of = |wanted: Option<usize>| {
            if alike {
                return if wanted == first { fragment.mask } else { Mask::default() };
            }
            let mut mask = Mask::default();
            for (tile, left) in tiles.iter().enumerate() {
                let exit = left.map(|left| left.exit);
                if exit == wanted {
                    mask = mask.or(Mask::range(tile * lanes, (tile + 1) * lanes));
                } else if let Some(wanted) = wanted.filter(|_| exit == parted) {
                    for (place, &word) in piece.took(tile, wanted).iter().enumerate() {
                        mask.set_word(tile * lanes + place * 64, word);
                    }
                }
            }
            mask
        };
        // Everybody else first: their registers must be kept.
        let at = |point: Point, mask: Mask| Fragment {
            block: point.block,
            at: point.at,
            mask,
            waits: None,
            ran: 0,
            interpreted: None,
        };
        let rest = of(None);
        if !rest.is_empty() {
            let interpreted = Some((start.block, start.at));
            self.fragments.push(Fragment { interpreted, ..at(start, rest) });
        }
        let mut gone: Vec<(usize, Mask)> = Vec::new();
        for (exit, &to) in piece.code.exits.iter().enumerate() {
            let mask = of(Some(exit));
            if mask.is_empty() {
                continue;
            }
            match to {
                Exit::Ended => self.live = self.live.without(mask),
                Exit::At(point) => {
                    self.fragments.push(at(point, mask));
                    gone.push((exit, mask));
                }
            }
        }
        self.want();
        let alone = gone.len() == 1;
        let mut outputs = outputs;
        self.written |= !gone.is_empty();
        for (exit, mask) in gone {
            self.activate(mask);
            for (reg, hand) in piece.code.outputs(exit) {
                match hand {
                    Hand::Constant(bits) => {
                        with_lane!(self.code.kernel.width(reg), T => self.set_uniform::<T>(reg, T::of(bits)));
                    }
                    Hand::Number(word, pattern) => {
                        with_lane!(self.code.kernel.width(reg), T => self.put_numbers::<T>(piece, reg, word, pattern));
                    }
                    Hand::Column(_) => {
                        let Some(index) = outputs.iter().position(|(other, _)| *other == reg) else { continue };
                        let column = if alone { outputs.swap_remove(index).1 } else { outputs[index].1.clone() };
                        match column {
                            Out::Pred(column) => self.set_column::<u8>(reg, column),
                            Out::B16(column) => self.set_column::<u16>(reg, column),
                            Out::B32(column) => self.set_column::<u32>(reg, column),
                            Out::B64(column) => self.set_column::<u64>(reg, column),
                        }
                    }
                }
            }
        }
        for (_, column) in outputs {
            match column {
                Out::Pred(column) => self.files.preds.give(column),
                Out::B16(column) => self.files.b16.give(column),
                Out::B32(column) => self.files.b32.give(column),
                Out::B64(column) => self.files.b64.give(column),
            }
        }
        // Whoever is alone goes on at once.
        match self.fragments.pop() {
            Some(only) if self.fragments.is_empty() => {
                let ran = fragment.ran;
                *fragment = Fragment { ran, ..only };
                self.activate(fragment.mask);
            }
            Some(last) => {
                self.fragments.push(last);
                fragment.mask = Mask::default();
            }
            None => fragment.mask = Mask::default(),
        }
    }

    /// Numbers of the tiles with a pattern become a register: uniform or rows if they are, otherwise lanes.
    fn put_numbers<T: Lane>(&mut self, piece: &Piece, d: Reg, word: usize, pattern: &[i64]) {
        let (row, lanes) = (self.geometry.row, piece.code.lanes);
        let number = |lane: usize| {
            let number = piece.number(lane / lanes, word);
            T::of(number.wrapping_add(pattern[lane % lanes] as u64))
        };
        if self.is_free(d) && self.active.count == self.geometry.lanes {
            let stride = if row == 1 { T::default() } else { T::of(number(1).bits().wrapping_sub(number(0).bits())) };
            // Within a tile patterns tell; between tiles their first lanes.
            let step = row.min(lanes);
            let straight = |start: usize| {
                let base = number(start);
                (start..start + row).step_by(step).all(|lane| number(lane) == base.step(stride, lane - start))
            };
            let within = |start: usize| {
                let base = pattern[start];
                (1..step).all(|lane| {
                    T::of(pattern[start + lane].wrapping_sub(base) as u64) == T::default().step(stride, lane)
                })
            };
            let even = row.is_multiple_of(step) && lanes.is_multiple_of(step);
            if even && (0..lanes).step_by(step).all(within) && (0..self.geometry.lanes).step_by(row).all(straight) {
                let rows = (0..self.geometry.rows).map(|index| number(index * row));
                T::file_mut(&mut self.files).put_rows(d, stride, rows);
                return;
            }
        }
        let mut column = T::file_mut(&mut self.files).take();
        for lane in self.active.mask.lanes() {
            column.0[lane] = number(lane);
        }
        self.set_column::<T>(d, column);
    }
}

/// How tiles went.
struct Sweep {
    /// How each left, none where it was given up or not to do.
    tiles: Vec<Option<Left>>,
    /// Those given up.
    failed: u32,
    /// Of these, those whose lanes parted.
    parted: u32,
    /// Stores may meet other lanes' accesses.
    conflict: bool,
}

impl Sweep {
    /// The next tiles are given up.
    fn fail(&mut self, count: usize) {
        self.failed += count as u32;
        self.tiles.resize(self.tiles.len() + count, None);
    }
}

/// A column of any width.
#[derive(Clone, Debug)]
pub(super) enum Out {
    Pred(Box<Column<u8>>),
    B16(Box<Column<u16>>),
    B32(Box<Column<u32>>),
    B64(Box<Column<u64>>),
}
