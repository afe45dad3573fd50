//! What is known of each register's lanes before anything runs: the same for all registers that a region writes, whatever
//! path it takes.
//!
//! A tile's lanes are known by number, so that `tid.x` is one number for the tile and a pattern that every tile shares;
//! sums and products with constants keep it so. Addresses of this form cost one general register, and show whether a
//! vector's elements are neighbours in memory.

use super::Given;
use super::region::Region;
use super::waiting::Waiting;
use crate::scalar::{int_op, sign_extend};
use roundonce_ir::{Comparand, IntOp, Op, Operand, Reg, Role, Scalar, Signedness, Space, Special, Width};

/// Lanes of a vector register: of 32 bits.
pub(super) const VECTOR: usize = 16;

/// The lanes of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Never written.
    Unknown,
    /// One number, known before the launch.
    Constant(u64),
    /// One number for the tile, plus a pattern (an index into [`Shapes::patterns`], 0 for none).
    Scalar(usize),
    /// The same vector again and again.
    Periodic,
    /// Anything.
    Lanes,
}

impl Shape {
    /// The same in all lanes.
    pub(super) const fn is_uniform(self) -> bool {
        matches!(self, Shape::Constant(_) | Shape::Scalar(0))
    }
    pub(super) const fn is_scalar(self) -> bool {
        matches!(self, Shape::Constant(_) | Shape::Scalar(_))
    }
}

/// What is known of a region's registers.
#[derive(Clone, Debug)]
pub(super) struct Shapes {
    of: Vec<Shape>,
    /// Used as a float, or made by arithmetic on floats: it lives where floats do.
    floats: Vec<bool>,
    /// Each lane has a value of its own, though it may be computed from what all share.
    own: Vec<bool>,
    patterns: Vec<Vec<i64>>,
    /// Lanes of a tile.
    pub(super) lanes: usize,
    /// Lanes may go different ways.
    pub(super) parting: bool,
}

impl Shapes {
    /// The shapes in such tiles; `inputs` are the registers that may be read before they are written. `parting`: lanes may
    /// go different ways. And what waiting lanes may read.
    pub(super) fn of(
        given: &Given<'_>,
        region: &Region,
        inputs: &[(Reg, Shape)],
        tile: Tile,
        parting: bool,
    ) -> (Shapes, Waiting) {
        let count = given.code.kernel.registers.len();
        let mut shapes = Shapes {
            of: Vec::new(),
            floats: vec![false; count],
            own: vec![false; count],
            patterns: tile.patterns,
            lanes: tile.lanes,
            parting,
        };
        let steps = || (0..region.nodes.len()).flat_map(|node| region.steps(given.code, node));
        for step in steps() {
            shapes.note_floats(step.op);
        }
        loop {
            shapes.settle(given, region, inputs);
            if !parting {
                return (shapes, Waiting::nobody(given.code, region));
            }
            let waiting = Waiting::of(given.code, region, |pred| !shapes.shape(Operand::Reg(pred)).is_uniform());
            // What is written while somebody waits who will read it, each lane has for itself.
            let mut changed = false;
            for node in 0..region.nodes.len() {
                for step in region.steps(given.code, node) {
                    step.op.registers(|role, reg| {
                        let shape = shapes.of[reg.0 as usize];
                        let shared = matches!(shape, Shape::Scalar(_) | Shape::Periodic);
                        if role == Role::Def && shared && waiting.keeps(node, reg) {
                            shapes.own[reg.0 as usize] = true;
                            changed = true;
                        }
                    });
                }
            }
            if !changed {
                return (shapes, waiting);
            }
        }
    }

    fn settle(&mut self, given: &Given<'_>, region: &Region, inputs: &[(Reg, Shape)]) {
        self.of = vec![Shape::Unknown; self.own.len()];
        for &(reg, shape) in inputs {
            self.of[reg.0 as usize] = if self.own[reg.0 as usize] { Shape::Lanes } else { shape };
        }
        let steps = || (0..region.nodes.len()).flat_map(|node| region.steps(given.code, node));
        let mut changed = true;
        while changed {
            changed = false;
            for step in steps() {
                let mut results = [(None, Shape::Lanes); 4];
                self.transfer(given, step.op, &mut results);
                let guard = step.guard.map(|guard| self.shape(Operand::Reg(guard.pred)));
                for (d, shape) in results {
                    let Some(Reg(d)) = d else { continue };
                    let old = self.of[d as usize];
                    let shape = match guard {
                        _ if self.own[d as usize] => Shape::Lanes,
                        Some(guard) if !guard.is_uniform() => Shape::Lanes,
                        _ => self.join(old, shape),
                    };
                    changed |= shape != old;
                    self.of[d as usize] = shape;
                }
            }
        }
    }

    pub(super) fn shape(&self, operand: Operand) -> Shape {
        match operand {
            Operand::Imm(bits) => Shape::Constant(bits),
            Operand::Reg(Reg(reg)) => match self.of[reg as usize] {
                // Registers begin as zero.
                Shape::Unknown => Shape::Constant(0),
                shape => shape,
            },
        }
    }
    pub(super) fn is_float(&self, reg: Reg) -> bool {
        self.floats[reg.0 as usize]
    }
    /// The pattern of a thread's number in its block.
    pub(super) fn tid(&self, axis: u8) -> usize {
        let pattern = &self.patterns[usize::from(axis % 3) + 1];
        self.patterns.iter().position(|other| other == pattern).unwrap_or(0)
    }
    pub(super) fn patterns(&self) -> &[Vec<i64>] {
        &self.patterns
    }
    /// A pattern's numbers, one a lane.
    pub(super) fn pattern(&self, index: usize) -> &[i64] {
        &self.patterns[index]
    }
    /// Whether all vectors of a tile have the same pattern.
    pub(super) fn repeats(&self, index: usize) -> bool {
        let pattern = &self.patterns[index];
        pattern.chunks_exact(VECTOR).all(|vector| vector == &pattern[..VECTOR])
    }

    fn intern(&mut self, pattern: Vec<i64>) -> Shape {
        let index = self.patterns.iter().position(|other| *other == pattern).unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        });
        Shape::Scalar(index)
    }
    fn map(&mut self, index: usize, width: Width, f: impl Fn(i64) -> i64) -> Shape {
        let all = self.patterns[index].iter().map(|&number| sign_extend(f(number) as u64, width.bits())).collect();
        self.intern(all)
    }
    fn zip(&mut self, a: usize, b: usize, width: Width, f: impl Fn(i64, i64) -> i64) -> Shape {
        let pairs = self.patterns[a].iter().zip(&self.patterns[b]);
        let all = pairs.map(|(&a, &b)| sign_extend(f(a, b) as u64, width.bits())).collect();
        self.intern(all)
    }

    fn join(&self, a: Shape, b: Shape) -> Shape {
        match (a, b) {
            (Shape::Unknown, other) | (other, Shape::Unknown) => other,
            (a, b) if a == b => a,
            (a, b) if a.is_uniform() && b.is_uniform() => Shape::Scalar(0),
            (a, b) if self.is_periodic(a) && self.is_periodic(b) => Shape::Periodic,
            _ => Shape::Lanes,
        }
    }
    fn is_periodic(&self, shape: Shape) -> bool {
        match shape {
            Shape::Unknown | Shape::Constant(_) | Shape::Periodic => true,
            Shape::Scalar(pattern) => self.repeats(pattern),
            Shape::Lanes => false,
        }
    }
    /// Of an operation on each lane for itself.
    fn lanewise(&self, operands: &[Operand]) -> Shape {
        let mut shapes = operands.iter().map(|&operand| self.shape(operand));
        if shapes.clone().all(Shape::is_uniform) {
            Shape::Scalar(0)
        } else if shapes.all(|shape| self.is_periodic(shape)) {
            Shape::Periodic
        } else {
            Shape::Lanes
        }
    }

    fn transfer(&mut self, given: &Given<'_>, op: &Op, results: &mut [(Option<Reg>, Shape); 4]) {
        let width = |reg: Reg| given.code.kernel.width(reg);
        results[0] = match op {
            &Op::Move { d, a } => {
                let shape = match self.shape(a) {
                    Shape::Constant(bits) => Shape::Constant(bits & width(d).mask()),
                    shape => shape,
                };
                (Some(d), shape)
            }
            &Op::Special { d, special } => (Some(d), self.special(given, special, width(d))),
            Op::Float { d, operation, args, .. } => (Some(*d), self.lanewise(&args[..operation.op.arity()])),
            &Op::Sign { d, a, .. } => (Some(d), self.lanewise(&[a])),
            Op::Int { d, op, width, args } => (Some(*d), self.int(*op, *width, args)),
            &Op::Compare { d, of, a, b, .. } => (Some(d), self.compare(of, a, b)),
            &Op::Select { d, p, a, b } => {
                let (a, b) = (self.shape(a), self.shape(b));
                let joined = self.join(a, b);
                let shape = match joined {
                    Shape::Constant(bits) => Shape::Constant(bits & width(d).mask()),
                    joined if self.shape(p).is_uniform() => joined,
                    _ => Shape::Lanes,
                };
                (Some(d), shape)
            }
            &Op::Convert { d, to, from, saturate, a, .. } => (Some(d), self.convert(to, from, saturate, a)),
            Op::Load { d, space, bytes, signed, address, offset } => {
                for (place, (result, d)) in results.iter_mut().zip(d).enumerate() {
                    let offset = offset.wrapping_add(place as i64 * i64::from(*bytes));
                    let shape = self.load(given, *space, (*bytes, *signed), *address, offset);
                    let shape = match (shape, d) {
                        (Shape::Constant(bits), Some(d)) => Shape::Constant(bits & width(*d).mask()),
                        (shape, _) => shape,
                    };
                    *result = (*d, shape);
                }
                return;
            }
            _ => (None, Shape::Lanes),
        };
    }

    fn special(&mut self, given: &Given<'_>, special: Special, width: Width) -> Shape {
        match special {
            Special::Tid(axis) => Shape::Scalar(self.tid(axis)),
            Special::Ctaid(_) => Shape::Scalar(0),
            _ => given.constant(special).map_or(Shape::Lanes, |bits| Shape::Constant(bits & width.mask())),
        }
    }

    fn int(&mut self, op: IntOp, width: Width, args: &[Operand; 4]) -> Shape {
        let (widths, count) = op.operand_widths(width);
        let args = &args[..count];
        let constants: Vec<u64> = args
            .iter()
            .zip(widths)
            .filter_map(|(&arg, width)| match self.shape(arg) {
                Shape::Constant(bits) => Some(bits & width.mask()),
                _ => None,
            })
            .collect();
        if constants.len() == count && width != Width::Pred {
            let mut all = [0; 4];
            all[..count].copy_from_slice(&constants);
            return Shape::Constant(int_op(op, width.bits(), all));
        }
        let pattern = |shapes: &Shapes, operand| match shapes.shape(operand) {
            Shape::Constant(_) => Some(0),
            Shape::Scalar(pattern) => Some(pattern),
            _ => None,
        };
        let patterns: Option<Vec<usize>> = args.iter().map(|&arg| pattern(self, arg)).collect();
        let Some(patterns) = patterns.filter(|_| width != Width::Pred) else { return self.lanewise(args) };
        if patterns.iter().all(|&pattern| pattern == 0) {
            return Shape::Scalar(0);
        }
        let wide = op.result_width(width);
        let product = |shapes: &mut Shapes, sign: Option<Signedness>| {
            // A pattern times a constant.
            let (fixed, moving) = if patterns[0] == 0 { (args[0], patterns[1]) } else { (args[1], patterns[0]) };
            if patterns[0] != 0 && patterns[1] != 0 {
                return None;
            }
            match (moving, shapes.shape(fixed)) {
                (0, _) => Some(0),
                (_, Shape::Constant(factor)) => {
                    let factor = match sign {
                        Some(Signedness::Unsigned) => (factor & width.mask()) as i64,
                        _ => sign_extend(factor, width.bits()),
                    };
                    match shapes.map(moving, wide, |number| number.wrapping_mul(factor)) {
                        Shape::Scalar(index) => Some(index),
                        _ => None,
                    }
                }
                _ => None,
            }
        };
        let sum = |shapes: &mut Shapes, product: Option<usize>| match product {
            Some(product) => shapes.zip(product, patterns[2], wide, i64::wrapping_add),
            None => shapes.lanewise(args),
        };
        match op {
            IntOp::Add => self.zip(patterns[0], patterns[1], width, i64::wrapping_add),
            IntOp::Sub => self.zip(patterns[0], patterns[1], width, i64::wrapping_sub),
            IntOp::Mul => product(self, None).map_or_else(|| self.lanewise(args), Shape::Scalar),
            IntOp::MulWide(sign) => product(self, Some(sign)).map_or_else(|| self.lanewise(args), Shape::Scalar),
            IntOp::MulAdd => {
                let product = product(self, None);
                sum(self, product)
            }
            IntOp::MulAddWide(sign) => {
                let product = product(self, Some(sign));
                sum(self, product)
            }
            IntOp::Shl => match self.shape(args[1]) {
                Shape::Constant(count) if (count as u32) < width.bits() => {
                    self.map(patterns[0], width, |number| number.wrapping_shl(count as u32))
                }
                _ => self.lanewise(args),
            },
            _ => self.lanewise(args),
        }
    }

    fn compare(&self, of: Comparand, a: Operand, b: Operand) -> Shape {
        // Numbers with patterns are compared at their ends where lanes must agree: for the tile as a whole, or not here.
        let tile = !self.parting
            && matches!(of, Comparand::Signed(_) | Comparand::Unsigned(Width::B32))
            && self.shape(a).is_scalar()
            && self.shape(b).is_scalar();
        match self.lanewise(&[a, b]) {
            Shape::Scalar(0) => Shape::Scalar(0),
            _ if tile => Shape::Scalar(0),
            _ => Shape::Lanes,
        }
    }

    fn convert(&mut self, to: Scalar, from: Scalar, saturate: bool, a: Operand) -> Shape {
        let (Scalar::Int { bits, signed }, Scalar::Int { bits: to, .. }, false) = (from, to, saturate) else {
            return self.lanewise(&[a]);
        };
        match self.shape(a) {
            Shape::Constant(value) => {
                let value = if signed { sign_extend(value, bits) as u64 } else { value & mask(bits) };
                Shape::Constant(value & mask(to))
            }
            Shape::Scalar(pattern) if bits >= 32 && to >= 32 => self.map(pattern, Width::holding(to), |number| number),
            _ => self.lanewise(&[a]),
        }
    }

    fn load(
        &mut self,
        given: &Given<'_>,
        space: Space,
        (bytes, signed): (u32, bool),
        address: Operand,
        offset: i64,
    ) -> Shape {
        match self.shape(address) {
            Shape::Constant(at) if space == Space::Param => {
                given.param(at.wrapping_add(offset as u64), bytes, signed).map_or(Shape::Lanes, Shape::Constant)
            }
            Shape::Constant(_) | Shape::Scalar(0) => Shape::Scalar(0),
            shape if self.is_periodic(shape) => Shape::Periodic,
            _ => Shape::Lanes,
        }
    }

    fn note_floats(&mut self, op: &Op) {
        let of_floats = matches!(
            op,
            Op::Float { .. }
                | Op::Sign { .. }
                | Op::Compare { of: Comparand::Float(..), .. }
                | Op::Convert { from: Scalar::Float(_), .. }
                | Op::Convert { to: Scalar::Float(_), .. }
        );
        let integer = match op {
            Op::Convert { d, to: Scalar::Int { .. }, .. } | Op::Compare { d, .. } => Some(*d),
            Op::Convert { a: Operand::Reg(a), from: Scalar::Int { .. }, .. } => Some(*a),
            _ => None,
        };
        if of_floats {
            op.registers(|_: Role, reg| self.floats[reg.0 as usize] |= Some(reg) != integer);
        }
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// How lanes lie in a tile.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub(super) lanes: usize,
    /// Nothing, and the three axes of `tid`.
    patterns: Vec<Vec<i64>>,
}

impl Tile {
    /// Tiles of so many lanes, if every tile of a block has the same pattern of threads.
    pub(super) fn of(block: [u32; 3], lanes: usize) -> Option<Tile> {
        let threads: usize = block.iter().map(|&axis| axis as usize).product();
        if !threads.is_multiple_of(lanes) {
            return None;
        }
        let axes = |thread: usize| Given::axes(block, thread as u64).map(i64::from);
        let pattern = |tile: usize, axis: usize| {
            let start = axes(tile * lanes)[axis];
            (0..lanes).map(move |lane| axes(tile * lanes + lane)[axis] - start)
        };
        let first: Vec<Vec<i64>> = (0..3).map(|axis| pattern(0, axis).collect()).collect();
        let alike =
            (0..threads / lanes).all(|tile| (0..3).all(|axis| pattern(tile, axis).eq(first[axis].iter().copied())));
        alike.then(|| Tile { lanes, patterns: [vec![vec![0; lanes]], first].concat() })
    }
    /// The number of a pattern, which may be new.
    pub(super) fn pattern(&mut self, pattern: Vec<i64>) -> usize {
        self.patterns.iter().position(|other| *other == pattern).unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        })
    }
}
