//! A region compiled, and its run over the tiles of a group.

use super::Given;
use super::alloc::{Home, has, homes, live_at};
use super::call::{Aligned, Executable};
use super::emit::{self, Stop, Trouble};
use super::frame::{Frame, Handed, How, Site, head, line};
use super::notes::Noted;
use super::region::{Exit, Point, Region};
use super::shape::{Shape, Shapes, Tile};
use super::waiting::Waiting;
use roundonce_ir::{Op, Operand, Reg, Role, Space};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// What a register holds when a region begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// As all registers do at first.
    Zero,
    /// A number for each tile and a pattern, given for as many lanes as the largest tile has.
    Number(Vec<i64>),
    /// Anything.
    Lanes,
}

/// Lanes of the largest tile.
pub(crate) const MOST: usize = 128;
/// And at least, of which all sizes are multiples.
pub(crate) const LEAST: usize = 16;

/// The program's memory as this worker has it: of each segment the address, the bytes, whether it may be written, and
/// the machine's address.
#[derive(Clone, Debug)]
pub(crate) struct Segments(pub(crate) Vec<(u64, u64, bool, u64)>);

/// A region's code, its frame, and what goes in and out: the same for all workers.
#[derive(Debug)]
pub(crate) struct Compiled {
    executable: Executable,
    /// As it is before anybody runs.
    frame: Vec<Aligned>,
    sites: Vec<Site>,
    /// Registers written more than once, or before they are read: their value is not one and the same.
    changing: Vec<bool>,
    inputs: Vec<Handed>,
    outputs: Vec<Vec<Handed>>,
    /// Every column that some exit hands over, by register.
    pub(crate) columns: Vec<(Reg, i64)>,
    patterns: Vec<Vec<i64>>,
    pub(crate) exits: Vec<Exit>,
    /// Lanes of a tile.
    pub(crate) lanes: usize,
    /// Words of a tile's line.
    words: usize,
    /// For each exit the first word of a tile's line that says which lanes took it, where lanes may part.
    parted: Vec<usize>,
}

/// Code as one worker runs it.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) code: Arc<Compiled>,
    frame: Vec<Aligned>,
    /// By site: the segment, once it is known.
    known: Vec<Option<usize>>,
    /// The tiles' lines.
    lines: Vec<u64>,
}

/// How tiles went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Went {
    /// All are done.
    Through,
    /// This tile is given up, those before it are done.
    Stopped(usize),
    /// As well, because its lanes part.
    Parted(usize),
    /// As well; and stores may meet other lanes' accesses, so that the piece must not be used again.
    Conflict(usize),
}

/// How a tile left, and its counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// As many as there are exits: its lanes took several.
    pub(crate) exit: usize,
    /// Steps of the budget not used.
    pub(crate) left: i64,
    /// Instructions completed by every lane, and by some of them.
    pub(crate) steps: u64,
    pub(crate) guarded: u64,
}

/// How a register is handed over, as the caller sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hand<'a> {
    Constant(u64),
    /// A word of the tile's line, and the pattern on top.
    Number(usize, &'a [i64]),
    /// The column whose address stands at a place of the frame.
    Column(i64),
}

impl Compiled {
    /// Compiles the region from a point on. `inputs` are the registers that may be read from there on.
    pub(crate) fn compile(given: &Given<'_>, start: Point, inputs: &[(Reg, Input)], kind: Kind) -> Option<Compiled> {
        let threads = given.setup.threads();
        let whole_warps = |lanes: usize| lanes.is_multiple_of(32) || lanes == threads;
        let tiles = [MOST, 64, 32, LEAST].into_iter().filter(|&lanes| whole_warps(lanes));
        let mut plan = Plan::new(given, start, inputs, kind);
        let mut best: Option<(u64, Tile, Draft)> = None;
        // The largest tile whose registers fit the machine's.
        for lanes in tiles {
            let Some(tile) = Tile::of(given.setup.block, lanes) else { continue };
            let Some(draft) = plan.draft(&tile) else { continue };
            let cost = draft.spilled * 1024 / lanes as u64;
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, tile, draft));
            }
            if cost == 0 {
                break;
            }
        }
        let (_, tile, draft) = best?;
        let compiled = plan.compile(&tile, draft)?;
        if compiled.shared_conflict() && !kind.separate {
            let mut plan = Plan::new(given, start, inputs, Kind { separate: true, ..kind });
            let draft = plan.draft(&tile)?;
            return plan.compile(&tile, draft);
        }
        Some(compiled)
    }
    fn shared_conflict(&self) -> bool {
        let shared: Vec<&Site> = self.sites.iter().filter(|site| site.space == Space::Shared).collect();
        shared.iter().enumerate().any(|(index, a)| shared[..index].iter().any(|b| self.meet(a, b)))
    }

    /// Whether it wants registers as all are at first.
    pub(crate) fn is_fresh(&self) -> bool {
        self.inputs.iter().all(|input| matches!(input.how, How::Constant(0)))
    }
    /// Whether it takes lanes from the kernel's start to its end.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_fresh() && self.exits.iter().all(|&exit| exit == Exit::Ended)
    }
    /// The inputs, as the caller must give them.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (Reg, Hand<'_>)> {
        self.inputs.iter().map(|handed| (handed.reg, self.hand(handed)))
    }
    /// Those that come in columns.
    pub(crate) fn input_columns(&self) -> impl Iterator<Item = (Reg, i64)> + '_ {
        self.inputs().filter_map(|(reg, hand)| match hand {
            Hand::Column(at) => Some((reg, at)),
            _ => None,
        })
    }
    /// Those that come as numbers of the tiles' lines.
    pub(crate) fn input_numbers(&self) -> impl Iterator<Item = (Reg, usize)> + '_ {
        self.inputs().filter_map(|(reg, hand)| match hand {
            Hand::Number(word, _) => Some((reg, word)),
            _ => None,
        })
    }
    /// What an exit hands over.
    pub(crate) fn outputs(&self, exit: usize) -> impl Iterator<Item = (Reg, Hand<'_>)> {
        self.outputs[exit].iter().map(|handed| (handed.reg, self.hand(handed)))
    }
    fn hand(&self, handed: &Handed) -> Hand<'_> {
        match handed.how {
            How::Constant(bits) => Hand::Constant(bits),
            How::Number { word, pattern } => Hand::Number(word, &self.patterns[pattern]),
            How::Column(at) => Hand::Column(at),
        }
    }
    /// Whether two sites in one segment might see each other's lanes.
    fn meet(&self, a: &Site, b: &Site) -> bool {
        if !a.store && !b.store {
            return false;
        }
        let (Operand::Reg(reg), true) = (a.address, a.address == b.address) else { return true };
        let Shape::Scalar(pattern) = a.shape else { return true };
        // One register with one value: each lane has its own bytes if lanes are as far apart as it accesses.
        let from = a.offset.min(b.offset);
        let to = (a.offset + a.length as i64).max(b.offset + b.length as i64);
        let mut places = self.patterns[pattern].clone();
        places.sort_unstable();
        let apart = places.windows(2).all(|pair| pair[1] - pair[0] >= to - from);
        self.changing[reg.0 as usize] || !apart
    }
}

impl Piece {
    pub(crate) fn new(code: Arc<Compiled>) -> Piece {
        let (frame, known) = (code.frame.clone(), vec![None; code.sites.len()]);
        Piece { code, frame, known, lines: Vec::new() }
    }

    /// A word of the frame.
    pub(crate) fn set(&mut self, at: i64, value: u64) {
        put(&mut self.frame, at, value);
    }
    fn get(&self, at: i64) -> u64 {
        let (line, place) = (at as usize / 64, at as usize % 64);
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.frame[line].0[place..place + 8]);
        u64::from_le_bytes(bytes)
    }

    /// Lines for so many tiles; `thread` is a tile's first thread in its block.
    pub(crate) fn lines(&mut self, count: usize, thread: impl Fn(usize) -> [u32; 3]) {
        for tile in self.lines.len() / self.code.words..count {
            let mut line = vec![0; self.code.words];
            line[line::LANE] = (tile * self.code.lanes) as u64;
            for (word, axis) in line[line::TID..].iter_mut().zip(thread(tile)) {
                *word = axis.into();
            }
            self.lines.extend(line);
        }
    }
    fn line(&self, tile: usize) -> &[u64] {
        &self.lines[tile * self.code.words..(tile + 1) * self.code.words]
    }
    /// Gives a tile its block, and where the block's shared memory is.
    pub(crate) fn begin(&mut self, tile: usize, block: [u32; 3], shared: u64) {
        let line = &mut self.lines[tile * self.code.words..];
        line[line::SHARED] = shared;
        for (word, axis) in line[line::CTAID..].iter_mut().zip(block) {
            *word = axis.into();
        }
    }
    /// Gives a tile a number.
    pub(crate) fn put(&mut self, tile: usize, word: usize, number: u64) {
        self.lines[tile * self.code.words + word] = number;
    }
    /// A number that a tile left.
    pub(crate) fn number(&self, tile: usize, word: usize) -> u64 {
        self.line(tile)[word]
    }
    /// How a tile left that is done.
    pub(crate) fn left(&self, tile: usize) -> Left {
        let line = self.line(tile);
        Left {
            exit: line[line::EXIT] as usize,
            left: line[line::LEFT] as i64,
            steps: line[line::STEPS],
            guarded: line[line::GUARDED],
        }
    }

    /// The lanes of a tile that took an exit when they took several, 64 a word.
    pub(crate) fn took(&self, tile: usize, exit: usize) -> &[u64] {
        let (first, words) = (self.code.parted[exit], self.code.lanes.div_ceil(64));
        &self.line(tile)[first..first + words]
    }

    /// Runs tiles until all are done or one must be given up.
    ///
    /// What the lines and the frame name must be there: columns as [`inputs`](Piece::inputs) and
    /// `columns` want them, shared memory, segments.
    pub(crate) fn run(&mut self, tiles: core::ops::Range<usize>, segments: &Segments, budget: i64) -> Went {
        for site in 0..self.code.sites.len() {
            self.renew(site, segments);
        }
        self.set(head::BUDGET, budget as u64);
        let mut lines = std::mem::take(&mut self.lines);
        let words = tiles.start * self.code.words..tiles.end * self.code.words;
        let went = self.run_lines(&mut lines[words], segments);
        self.lines = lines;
        match went {
            Went::Through => Went::Through,
            Went::Stopped(tile) => Went::Stopped(tiles.start + tile),
            Went::Parted(tile) => Went::Parted(tiles.start + tile),
            Went::Conflict(tile) => Went::Conflict(tiles.start + tile),
        }
    }
    fn run_lines(&mut self, lines: &mut [u64], segments: &Segments) -> Went {
        self.set(head::END, lines.as_ptr_range().end as u64);
        let mut from = 0;
        // Each site may ask a few times, for other segments: then something is wrong.
        let mut patience = self.code.sites.len() * 4;
        loop {
            let told = self.code.executable.run(&mut self.frame, &mut lines[from..]);
            if told == 0 {
                return Went::Through;
            }
            from = (self.get(head::TILE) - lines.as_ptr() as u64) as usize / 8;
            let tile = from / self.code.words;
            if told & 0xff == Trouble::Parts as u64 {
                return Went::Parted(tile);
            }
            if told & 0xff != Trouble::Unknown as u64 || patience == 0 {
                return Went::Stopped(tile);
            }
            patience -= 1;
            match self.learn((told >> 8) as usize, segments) {
                Ok(true) => {}
                Ok(false) => return Went::Stopped(tile),
                Err(()) => return Went::Conflict(tile),
            }
        }
    }

    /// The segment of an address that a site met; whether there is one that it may access. An error where its stores
    /// may then be seen by other lanes of the region.
    fn learn(&mut self, site: usize, segments: &Segments) -> Result<bool, ()> {
        let address = self.get(head::ADDRESS);
        let Site { store, span, bytes, .. } = self.code.sites[site];
        let within = |&(base, size, writable, _): &(u64, u64, bool, u64)| {
            address >= base && address - base < size && size - (address - base) >= span && (writable || !store)
        };
        let Some(segment) = segments.0.iter().position(within) else { return Ok(false) };
        if !address.is_multiple_of(bytes.into()) {
            return Ok(false);
        }
        self.known[site] = Some(segment);
        let conflict = (0..self.code.sites.len()).any(|other| {
            other != site
                && self.known[other] == Some(segment)
                && self.code.meet(&self.code.sites[site], &self.code.sites[other])
        });
        if conflict {
            return Err(());
        }
        self.renew(site, segments);
        Ok(true)
    }
    /// Writes what is known of a site into the frame.
    fn renew(&mut self, site: usize, segments: &Segments) {
        let Site { at, span, bytes, .. } = self.code.sites[site];
        let Some((base, size, _, machine)) = self.known[site].map(|segment| segments.0[segment]) else { return };
        self.set(at, base);
        self.set(at + 8, (size - span) / u64::from(bytes) + 1);
        self.set(at + 16, machine.wrapping_sub(base));
    }
}

fn put(frame: &mut [Aligned], at: i64, value: u64) {
    let (line, place) = (at as usize / 64, at as usize % 64);
    frame[line].0[place..place + 8].copy_from_slice(&value.to_le_bytes());
}

/// What kind of code is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Kind {
    /// Stores stand alone in regions of their own.
    pub(crate) separate: bool,
    /// Lanes of a tile may go different ways.
    pub(crate) parting: bool,
}

/// What the workers of a launch have compiled so far, by where it begins.
#[derive(Default, Debug)]
pub(crate) struct Shelf(Mutex<BTreeMap<(Point, Kind), Known>>);

/// Code for one point, by what its registers hold.
type Known = Vec<Arc<Compiled>>;

impl Shelf {
    /// What is there and fits, or else is made now: while one worker makes it the others wait, who would make the same.
    pub(crate) fn get(
        &self,
        start: Point,
        kind: Kind,
        fits: impl Fn(&Compiled) -> bool,
        make: impl FnOnce() -> Option<Compiled>,
    ) -> Option<Arc<Compiled>> {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pieces = shelf.entry((start, kind)).or_default();
        if let Some(known) = pieces.iter().find(|piece| fits(piece)) {
            return Some(known.clone());
        }
        let made = Arc::new(make()?);
        pieces.push(made.clone());
        Some(made)
    }
}

/// A region on its way to code: what turned out not to be possible.
struct Plan<'a> {
    given: &'a Given<'a>,
    start: Point,
    inputs: &'a [(Reg, Input)],
    cuts: BTreeSet<Point>,
    eager: BTreeSet<Reg>,
    parting: bool,
}

/// What a plan comes to, short of the code.
struct Draft {
    region: Region,
    frame: Frame,
    shapes: Shapes,
    inputs: Vec<Handed>,
    homes: Vec<Home>,
    /// How many vectors live in the frame, weighed.
    spilled: u64,
}

impl<'a> Plan<'a> {
    fn new(given: &'a Given<'a>, start: Point, inputs: &'a [(Reg, Input)], kind: Kind) -> Plan<'a> {
        let mut cuts = BTreeSet::new();
        if kind.separate {
            for (block, steps) in given.code.blocks.iter().enumerate() {
                for (at, step) in steps.insts.iter().enumerate() {
                    if matches!(step.op, Op::Store { .. }) {
                        cuts.insert(Point { block, at });
                    }
                }
            }
        }
        Plan { given, start, inputs, cuts, eager: BTreeSet::new(), parting: kind.parting }
    }

    /// The registers that the region has anything to do with, of those that it may read first.
    fn touched(&self, region: &Region) -> Vec<&'a (Reg, Input)> {
        let mut touched = vec![false; self.given.code.kernel.registers.len()];
        for (index, node) in region.nodes.iter().enumerate() {
            for step in region.steps(self.given.code, index) {
                step.op.registers(|_: Role, reg| touched[reg.0 as usize] = true);
                if let Some(guard) = step.guard {
                    touched[guard.pred.0 as usize] = true;
                }
            }
            if let super::region::Next::Branch { pred, .. } = node.next {
                touched[pred.0 as usize] = true;
            }
        }
        self.inputs.iter().filter(|(reg, _)| touched[reg.0 as usize]).collect()
    }

    /// The shapes of a region's registers, and how each input comes in.
    fn shapes(&self, region: &Region, tile: &Tile, frame: &mut Frame) -> (Shapes, Waiting, Vec<Handed>) {
        let mut tile = tile.clone();
        let mut handed = Vec::new();
        let mut known = Vec::new();
        for (reg, input) in self.touched(region) {
            let (how, shape) = match input {
                Input::Zero => (How::Constant(0), Shape::Constant(0)),
                Input::Number(pattern) => {
                    let pattern = tile.pattern(pattern[..tile.lanes].to_vec());
                    (How::Number { word: frame.number(), pattern }, Shape::Scalar(pattern))
                }
                Input::Lanes => (How::Column(frame.reserve(8, 8)), Shape::Lanes),
            };
            handed.push(Handed { reg: *reg, how });
            known.push((*reg, shape));
        }
        let (shapes, waiting) = Shapes::of(self.given, region, &known, tile, self.parting);
        (shapes, waiting, handed)
    }

    fn draft(&self, tile: &Tile) -> Option<Draft> {
        let region = Region::from(self.given.code, self.start, &self.cuts, self.parting)?;
        let mut frame = Frame::new();
        let (shapes, waiting, inputs) = self.shapes(&region, tile, &mut frame);
        let (homes, spilled) = homes(self.given.code, &region, &shapes, &waiting, &mut frame);
        Some(Draft { region, frame, shapes, inputs, homes, spilled })
    }

    fn compile(&mut self, tile: &Tile, first: Draft) -> Option<Compiled> {
        let given = self.given;
        let mut draft = first;
        loop {
            let Draft { region, frame, shapes, inputs, homes, .. } = draft;
            let read: Vec<Reg> = inputs.iter().map(|input| input.reg).collect();
            let noted = Noted::of(given.code, &region, &read, &self.eager);
            if self.start != (Point { block: 0, at: 0 }) && !region.is_worthwhile() {
                return None;
            }
            match emit::region(given, &region, &shapes, &noted, &homes, frame, &inputs) {
                Ok(emitted) => return self.piece(emitted, &region, &shapes, &noted, inputs),
                Err((Stop::Eager(reg), _)) if self.eager.insert(reg) => {}
                Err((_, Some(point))) if point != self.start && self.cuts.insert(point) => {}
                Err(_) => return None,
            }
            draft = self.draft(tile)?;
        }
    }

    fn piece(
        &self,
        emitted: emit::Emitted,
        region: &Region,
        shapes: &Shapes,
        noted: &Noted,
        inputs: Vec<Handed>,
    ) -> Option<Compiled> {
        let executable = Executable::new(&emitted.code)?;
        let mut bytes = emitted.frame.words();
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        let frame = bytes.chunks_exact(64).map(|chunk| Aligned(core::array::from_fn(|at| chunk[at]))).collect();
        // To nearest, nothing raised; operands flushed.
        let environment: u64 = if noted.flushes { 0x1fc0 } else { 0x1f80 };
        let words = line::NUMBERS + emitted.frame.numbers;
        let (sites, outputs, parted, lanes) = (emitted.frame.sites, emitted.outputs, emitted.parted, shapes.lanes);
        let (patterns, exits) = (shapes.patterns().to_vec(), region.exits.clone());
        let changing = self.changing(region);
        let mut columns: Vec<(Reg, i64)> = outputs.iter().flatten().filter_map(Handed::column).collect();
        columns.sort_unstable();
        columns.dedup();
        let mut compiled = Compiled {
            executable,
            frame,
            sites,
            changing,
            inputs,
            outputs,
            columns,
            patterns,
            exits,
            lanes,
            words,
            parted,
        };
        put(&mut compiled.frame, head::SAVED, environment << 32);
        Some(compiled)
    }

    fn changing(&self, region: &Region) -> Vec<bool> {
        let mut times = vec![0u32; self.given.code.kernel.registers.len()];
        for (reg, _) in self.touched(region) {
            times[reg.0 as usize] += 1;
        }
        for (node, depth) in region.depths().into_iter().enumerate() {
            for step in region.steps(self.given.code, node) {
                step.op.registers(|role, reg| {
                    if role == Role::Def {
                        times[reg.0 as usize] += 1 + depth;
                    }
                });
            }
        }
        times.into_iter().map(|times| times > 1).collect()
    }
}

/// The registers that may be read from a point on.
pub(crate) fn live(given: &Given<'_>, start: Point) -> Vec<Reg> {
    let live = live_at(given.code, Exit::At(start));
    (0..given.code.kernel.registers.len() as u32).map(Reg).filter(|&reg| has(&live, reg)).collect()
}
