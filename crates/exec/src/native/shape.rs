//! Uniformity analysis: what is known of each register's lanes before anything runs. It is flow-insensitive: one shape
//! for a register in the whole region.
//!
//! A tile's lanes have fixed positions, so `tid.x` is one number for the tile plus a pattern that all tiles share, and
//! sums and products with constants have this form too. Addresses of this form need one general register, and the
//! pattern shows whether a vector's elements are contiguous in memory.

mod period;

use super::LaunchConstants;
use super::budget::Budget;
use super::butterfly::{Part, Steps};
use super::inactive::InactiveLiveness;
use super::numbers::{ALL_ZEROS, MAX_ZEROS, Numbers};
use super::quotient::Quotient;
use super::region::{CompileMode, Next, ProgramPoint, Region};
use super::tile::TileLayout;
use super::warp_lanes::{Lanes, WARP, WarpLanes};
use crate::kernel::{DecodedInst, LINE, Machine};
use crate::scalar::{int_op, sign_extend};
pub(super) use period::Period;
use period::repeated;
use roundonce_ir::{Comparand, IntOp, Op, Operand, Reg, Role, Scalar, Signedness, Space, Special, Width};
use std::sync::Arc;

/// Patterns that are told apart; numbers with others count as varying.
const MAX_PATTERNS: usize = 256;

/// How a register's lanes relate to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VectorShape {
    /// Never written: the bottom of the lattice.
    Undefined,
    /// One number, known before the launch.
    Constant(u64),
    /// One number for the tile, plus a pattern (an index into [`Shapes::patterns`], 0 for none).
    Scalar(usize),
    /// Vectors of which some are the same.
    Repeated(Period),
    /// Anything: the top of the lattice.
    Varying,
}

impl VectorShape {
    /// Whether all lanes have the same value.
    pub(super) const fn is_uniform(self) -> bool {
        matches!(self, VectorShape::Constant(_) | VectorShape::Scalar(0))
    }
    pub(super) const fn is_scalar(self) -> bool {
        matches!(self, VectorShape::Constant(_) | VectorShape::Scalar(_))
    }
}

/// The result of the analysis.
#[derive(Clone, Debug)]
pub(super) struct Shapes {
    of: Vec<VectorShape>,
    /// How many low bits of each register are zero in a tile's first lane: of its number, where it is one and a pattern.
    zeros: Arc<[u8]>,
    /// Used as a float, the result of arithmetic on floats, or of 16 bits: kept in vector registers.
    floats: Vec<bool>,
    /// Varying whatever the operands are: an inactive lane may still read the old value.
    forced_varying: Vec<bool>,
    /// Predicates that lanes may disagree on and stay together: of numbers with patterns each lane has its own.
    by_lane: Vec<bool>,
    patterns: Vec<Vec<i64>>,
    /// Of tiles of whole warps.
    warp_lanes: Option<Arc<WarpLanes>>,
    /// What code is compiled for.
    pub(super) machine: Machine,
    /// Lanes of a tile.
    pub(super) lanes: usize,
    /// Whether lanes may diverge.
    pub(super) divergent: bool,
}

/// What an instruction's result is for.
struct Use {
    step: Option<Part>,
    /// The lanes of a warp that read it.
    read: Lanes,
}

/// Bytes from element to element, at least, of gathers that may be worth keeping: with debug assertions any, as tests have small buffers.
const LEAST_APART: u64 = if cfg!(debug_assertions) { 1 } else { LINE };

impl Shapes {
    /// Whether the lanes of a load have elements, of so many bytes in all, that lie so far apart that they may be worth keeping
    /// (`emit::gather_cache`). On AArch64 nothing has been measured.
    pub(super) fn lie_apart(&self, address: Operand, space: Space, bytes: u32, count: usize) -> bool {
        let VectorShape::Scalar(pattern) = self.shape(address) else { return false };
        let (pattern, length) = (self.pattern(pattern), u64::from(bytes) * count as u64);
        self.machine != Machine::Neon
            && matches!(space, Space::Global | Space::Const | Space::Generic)
            && bytes >= 4
            && count.is_power_of_two()
            && pattern.len().is_power_of_two()
            && pattern.windows(2).all(|pair| pair[1].abs_diff(pair[0]) >= LEAST_APART.max(length + 1))
    }

    /// Analyses a region for such tiles; `inputs` are the registers that may be read before they are written. For divergent
    /// code also the registers live in inactive lanes.
    pub(super) fn analyse(
        launch: &LaunchConstants<'_>,
        region: &Region,
        inputs: &[(Reg, VectorShape)],
        tile: TileLayout,
        mode: CompileMode,
        (numbers, budget): (&Numbers, &Budget),
    ) -> Option<(Shapes, InactiveLiveness)> {
        let count = launch.code.kernel.registers.len();
        let by_lane = by_lane(launch, region, budget)?;
        let mut shapes = Shapes {
            of: Vec::new(),
            zeros: numbers.zeros(launch, tile.lanes, budget)?,
            // 16 bits are computed in vectors, in 32 bits a lane with zeros above. No operation gives them a pattern, with
            // which there could be bits above.
            floats: (0..count as u32).map(|reg| launch.code.kernel.width(Reg(reg)) == Width::B16).collect(),
            forced_varying: vec![false; count],
            by_lane,
            patterns: tile.patterns,
            warp_lanes: numbers.warp_lanes(launch, budget).filter(|_| tile.lanes.is_multiple_of(WARP)),
            machine: launch.machine(),
            lanes: tile.lanes,
            divergent: mode.divergent,
        };
        let insts = || (0..region.nodes.len()).flat_map(|node| region.insts(launch.code, node));
        for inst in insts() {
            shapes.collect_floats(inst.op);
        }
        let uses = shapes.uses(launch, region);
        loop {
            shapes.solve(launch, region, (inputs, &uses), budget)?;
            let diverges = |pred| !shapes.shape(Operand::Reg(pred)).is_uniform();
            let mut inactive = InactiveLiveness::of_detours(launch.code, region, diverges);
            if mode.divergent {
                inactive.join(&InactiveLiveness::compute(launch.code, region, diverges, budget)?);
            }
            // What is written while an inactive lane may still read it must be stored for each lane.
            let mut changed = false;
            for node in 0..region.nodes.len() {
                for inst in region.insts(launch.code, node) {
                    inst.op.registers(|role, reg| {
                        let shape = shapes.of[reg.0 as usize];
                        let shared = matches!(shape, VectorShape::Scalar(_) | VectorShape::Repeated(_));
                        if role == Role::Def && shared && inactive.is_live(node, reg) {
                            shapes.forced_varying[reg.0 as usize] = true;
                            changed = true;
                        }
                    });
                }
            }
            if !changed {
                return Some((shapes, inactive));
            }
        }
    }

    /// What each instruction's result is for.
    fn uses(&self, launch: &LaunchConstants<'_>, region: &Region) -> Vec<Use> {
        let Steps { parts, values } = Steps::of(launch.code, region);
        let points = (0..region.nodes.len()).flat_map(|node| region.placed_insts(launch.code, node));
        let of_point = |(step, (point, inst)): (Option<Part>, (ProgramPoint, &DecodedInst<'_>))| {
            // Loads check all lanes, and others have results of other kinds.
            let mut is_lanewise = !matches!(inst.op, Op::Load { .. } | Op::Atomic { .. } | Op::Vote { .. });
            inst.op.registers(|role, reg| is_lanewise &= role == Role::Use || !values[reg.0 as usize]);
            let lanes = self.warp_lanes.as_ref().filter(|_| is_lanewise);
            Use { step, read: lanes.map_or(Lanes::MAX, |lanes| lanes.that_read(point)) }
        };
        parts.into_iter().zip(points).map(of_point).collect()
    }

    /// Iterates to the fixed point.
    fn solve(
        &mut self,
        launch: &LaunchConstants<'_>,
        region: &Region,
        (inputs, uses): (&[(Reg, VectorShape)], &[Use]),
        budget: &Budget,
    ) -> Option<()> {
        self.of = vec![VectorShape::Undefined; self.forced_varying.len()];
        for &(reg, shape) in inputs {
            self.of[reg.0 as usize] = if self.forced_varying[reg.0 as usize] { VectorShape::Varying } else { shape };
        }
        let insts = || (0..region.nodes.len()).flat_map(|node| region.insts(launch.code, node));
        let mut changed = true;
        while changed {
            changed = false;
            budget.spend(32 * region.length())?;
            for (inst, of_result) in insts().zip(uses) {
                let mut results = [(None, VectorShape::Varying); 4];
                self.transfer(launch, inst.op, &mut results);
                if let Some(shape) = of_result.step.and_then(|part| self.of_step(part)) {
                    results[0].1 = shape;
                }
                results[0].1 = self.where_read(results[0].1, of_result.read);
                let guard = inst.guard.map(|guard| self.shape(Operand::Reg(guard.pred)));
                for (d, shape) in results {
                    let Some(Reg(d)) = d else { continue };
                    let old = self.of[d as usize];
                    let shape = match guard {
                        _ if self.forced_varying[d as usize] => VectorShape::Varying,
                        Some(guard) if !guard.is_uniform() => VectorShape::Varying,
                        _ => self.join(old, shape),
                    };
                    changed |= shape != old;
                    self.of[d as usize] = shape;
                }
            }
        }
        Some(())
    }

    pub(super) fn shape(&self, operand: Operand) -> VectorShape {
        match operand {
            Operand::Imm(bits) => VectorShape::Constant(bits),
            Operand::Reg(Reg(reg)) => match self.of[reg as usize] {
                // Registers begin as zero.
                VectorShape::Undefined => VectorShape::Constant(0),
                shape => shape,
            },
        }
    }
    /// An operand's number, where it is known before the launch.
    pub(super) fn constant(&self, operand: Operand) -> Option<u64> {
        match self.shape(operand) {
            VectorShape::Constant(bits) => Some(bits),
            _ => None,
        }
    }
    /// Whether a register is one number for the tile, in a general register.
    pub(super) fn is_general(&self, reg: Reg) -> bool {
        match self.shape(Operand::Reg(reg)) {
            VectorShape::Scalar(0) => !self.is_float(reg),
            shape => shape.is_scalar(),
        }
    }
    pub(super) fn is_float(&self, reg: Reg) -> bool {
        self.floats[reg.0 as usize]
    }
    /// The pattern of a thread's index in its block.
    pub(super) fn tid(&self, axis: u8) -> usize {
        let pattern = &self.patterns[usize::from(axis % 3) + 1];
        self.patterns.iter().position(|other| other == pattern).unwrap_or(0)
    }
    pub(super) fn patterns(&self) -> &[Vec<i64>] {
        &self.patterns
    }
    /// A pattern's numbers, one for each lane.
    pub(super) fn pattern(&self, index: usize) -> &[i64] {
        &self.patterns[index]
    }
    /// An operand's values in the lanes of every tile, where they are known.
    pub(super) fn known_lanes(&self, operand: Operand) -> Option<Vec<u64>> {
        match (self.shape(operand), operand) {
            (VectorShape::Constant(bits), _) => Some(vec![bits; self.lanes]),
            // Its first lane's is 0, so that the tile's number is what the pattern's first is less than that.
            (VectorShape::Scalar(pattern), Operand::Reg(Reg(reg)))
                if u32::from(self.zeros[reg as usize]) == ALL_ZEROS =>
            {
                let pattern = self.pattern(pattern);
                Some(pattern.iter().map(|number| number.wrapping_sub(pattern[0]) as u64).collect())
            }
            _ => None,
        }
    }
    fn intern(&mut self, pattern: Vec<i64>) -> VectorShape {
        match self.patterns.iter().position(|other| *other == pattern) {
            Some(index) => VectorShape::Scalar(index),
            None if self.patterns.len() < MAX_PATTERNS => {
                self.patterns.push(pattern);
                VectorShape::Scalar(self.patterns.len() - 1)
            }
            None => VectorShape::Varying,
        }
    }
    fn map(&mut self, index: usize, width: Width, f: impl Fn(i64) -> i64) -> VectorShape {
        let all = self.patterns[index].iter().map(|&number| sign_extend(f(number) as u64, width.bits())).collect();
        self.intern(all)
    }
    fn zip(&mut self, a: usize, b: usize, width: Width, f: impl Fn(i64, i64) -> i64) -> VectorShape {
        let pairs = self.patterns[a].iter().zip(&self.patterns[b]);
        let all = pairs.map(|(&a, &b)| sign_extend(f(a, b) as u64, width.bits())).collect();
        self.intern(all)
    }

    fn join(&self, a: VectorShape, b: VectorShape) -> VectorShape {
        match (a, b) {
            (VectorShape::Undefined, other) | (other, VectorShape::Undefined) => other,
            (a, b) if a == b => a,
            (a, b) if a.is_uniform() && b.is_uniform() => VectorShape::Scalar(0),
            (a, b) => repeated(self.period(a).zip(self.period(b)).map(|(a, b)| a.max(b))),
        }
    }
    /// The shape of a lanewise operation.
    fn lanewise(&self, operands: &[Operand]) -> VectorShape {
        let shapes = operands.iter().map(|&operand| self.shape(operand));
        if shapes.clone().all(VectorShape::is_uniform) {
            VectorShape::Scalar(0)
        } else {
            let periods: Option<Vec<Period>> = shapes.map(|shape| self.period(shape)).collect();
            repeated(periods.and_then(|periods| periods.into_iter().max()))
        }
    }

    fn transfer(&mut self, launch: &LaunchConstants<'_>, op: &Op, results: &mut [(Option<Reg>, VectorShape); 4]) {
        let width = |reg: Reg| launch.code.kernel.width(reg);
        results[0] = match op {
            &Op::Move { d, a } => {
                let shape = match self.shape(a) {
                    VectorShape::Constant(bits) => VectorShape::Constant(bits & width(d).mask()),
                    shape => shape,
                };
                (Some(d), shape)
            }
            &Op::Special { d, special } => (Some(d), self.special(launch, special, width(d))),
            Op::Float { d, operation, args, .. } => (Some(*d), self.lanewise(&args[..operation.op.arity()])),
            &Op::Sign { d, a, .. } => (Some(d), self.lanewise(&[a])),
            Op::Int { d, op, width, args } => (Some(*d), self.int(*op, *width, args)),
            &Op::Compare { d, of, a, b, .. } => (Some(d), self.compare(d, of, a, b)),
            &Op::Select { d, p, a, b } => {
                let (a, b) = (self.shape(a), self.shape(b));
                let joined = self.join(a, b);
                let shape = match joined {
                    VectorShape::Constant(bits) => VectorShape::Constant(bits & width(d).mask()),
                    joined if self.shape(p).is_uniform() => joined,
                    _ => VectorShape::Varying,
                };
                (Some(d), shape)
            }
            &Op::MinMax { d, a, b, .. } => (Some(d), self.lanewise(&[a, b])),
            &Op::Pack { d, low, high } => {
                let half = width(d).bits() / 2;
                let shape = match (self.shape(low), self.shape(high)) {
                    (VectorShape::Constant(low), VectorShape::Constant(high)) => {
                        VectorShape::Constant(low & mask(half) | (high & mask(half)) << half)
                    }
                    _ => self.lanewise(&[low, high]),
                };
                (Some(d), shape)
            }
            &Op::Extract { d, a, width: from, shift } => {
                let shape = match self.shape(a) {
                    VectorShape::Constant(bits) => {
                        VectorShape::Constant((bits & from.mask()) >> (shift & 63) & width(d).mask())
                    }
                    _ => self.lanewise(&[a]),
                };
                (Some(d), shape)
            }
            &Op::Convert { d, to, from, saturate, a, .. } => (Some(d), self.convert(to, from, saturate, a)),
            &Op::Shuffle { d, p, mode, a, b, c, .. } => {
                results[1] = (p, VectorShape::Varying);
                (Some(d), repeated(self.shuffled(a, (mode, b, c))))
            }
            &Op::Vote { d, .. } => (Some(d), VectorShape::Varying),
            Op::Load { d, space, bytes, signed, address, offset } => {
                for (index, (result, d)) in results.iter_mut().zip(d).enumerate() {
                    let offset = offset.wrapping_add(index as i64 * i64::from(*bytes));
                    let shape = self.load(launch, *space, (*bytes, *signed), *address, offset);
                    let shape = match (shape, d) {
                        (VectorShape::Constant(bits), Some(d)) => VectorShape::Constant(bits & width(*d).mask()),
                        (shape, _) => shape,
                    };
                    *result = (*d, shape);
                }
                return;
            }
            op => match Quotient::of(op) {
                Some(quotient) => (Some(quotient.d), self.lanewise(&quotient.operands())),
                None => (None, VectorShape::Varying),
            },
        };
    }

    fn special(&mut self, launch: &LaunchConstants<'_>, special: Special, width: Width) -> VectorShape {
        match special.in_engine() {
            Special::Tid(axis) => VectorShape::Scalar(self.tid(axis)),
            Special::Ctaid(_) => VectorShape::Scalar(0),
            _ => {
                launch.constant(special).map_or(VectorShape::Varying, |bits| VectorShape::Constant(bits & width.mask()))
            }
        }
    }

    fn int(&mut self, op: IntOp, width: Width, args: &[Operand; 4]) -> VectorShape {
        let (widths, count) = op.operand_widths(width);
        let args = &args[..count];
        let constants: Vec<u64> = args
            .iter()
            .zip(widths)
            .filter_map(|(&arg, width)| self.constant(arg).map(|bits| bits & width.mask()))
            .collect();
        if constants.len() == count && width != Width::Pred {
            let mut all = [0; 4];
            all[..count].copy_from_slice(&constants);
            return VectorShape::Constant(int_op(op, width.bits(), all));
        }
        let pattern = |shapes: &Shapes, operand| match shapes.shape(operand) {
            VectorShape::Constant(_) => Some(0),
            VectorShape::Scalar(pattern) => Some(pattern),
            _ => None,
        };
        let patterns: Option<Vec<usize>> = args.iter().map(|&arg| pattern(self, arg)).collect();
        let Some(patterns) = patterns.filter(|_| width != Width::Pred) else { return self.lanewise(args) };
        if patterns.iter().all(|&pattern| pattern == 0) {
            return VectorShape::Scalar(0);
        }
        let wide = op.result_width(width);
        let product = |shapes: &mut Shapes, sign: Option<Signedness>| {
            // A pattern times a constant.
            let (uniform, varying) = if patterns[0] == 0 { (args[0], patterns[1]) } else { (args[1], patterns[0]) };
            if patterns[0] != 0 && patterns[1] != 0 {
                return None;
            }
            match (varying, shapes.shape(uniform)) {
                (0, _) => Some(0),
                (_, VectorShape::Constant(factor)) => {
                    let factor = match sign {
                        Some(Signedness::Unsigned) => (factor & width.mask()) as i64,
                        _ => sign_extend(factor, width.bits()),
                    };
                    match shapes.map(varying, wide, |number| number.wrapping_mul(factor)) {
                        VectorShape::Scalar(index) => Some(index),
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
            IntOp::Mul => product(self, None).map_or_else(|| self.lanewise(args), VectorShape::Scalar),
            IntOp::MulWide(sign) => product(self, Some(sign)).map_or_else(|| self.lanewise(args), VectorShape::Scalar),
            IntOp::MulAdd => {
                let product = product(self, None);
                sum(self, product)
            }
            IntOp::MulAddWide(sign) => {
                let product = product(self, Some(sign));
                sum(self, product)
            }
            IntOp::Shl => match self.shape(args[1]) {
                VectorShape::Constant(count) if (count as u32) < width.bits() => {
                    self.map(patterns[0], width, |number| number.wrapping_shl(count as u32))
                }
                _ => self.lanewise(args),
            },
            IntOp::And | IntOp::Or | IntOp::Xor | IntOp::Shr(_) => {
                let by_bits = self.by_bits(op, args, width, &patterns);
                by_bits.unwrap_or_else(|| self.lanewise(args))
            }
            _ => self.lanewise(args),
        }
    }

    /// Bits of a number and a pattern that have none in common, with a constant: each by itself. `None` where they may have.
    fn by_bits(&mut self, op: IntOp, args: &[Operand], width: Width, patterns: &[usize]) -> Option<VectorShape> {
        let (varying, constant) = if patterns[0] != 0 { (0, 1) } else { (1, 0) };
        let VectorShape::Constant(bits) = self.shape(args[constant]) else { return None };
        let Operand::Reg(Reg(number)) = args[varying] else { return None };
        let below = 1i64 << u32::from(self.zeros[number as usize]).min(MAX_ZEROS);
        if !self.patterns[patterns[varying]].iter().all(|number| (0..below).contains(number)) {
            return None;
        }
        let bits = bits as i64;
        Some(match op {
            IntOp::And => self.map(patterns[varying], width, |number| number & bits),
            IntOp::Or => self.map(patterns[varying], width, |number| number & !bits),
            // The number's own low bits become the constant's.
            IntOp::Xor => {
                self.map(patterns[varying], width, |number| (number ^ bits & (below - 1)) - (bits & (below - 1)))
            }
            _ if varying == 0 && (0..i64::from(width.bits())).contains(&bits) => {
                self.map(patterns[0], width, |number| number >> bits)
            }
            _ => return None,
        })
    }

    /// Whether a comparison of two numbers and their patterns says it for a whole tile, where all lanes agree. Not of 16 bits, which
    /// have zeros above where they are a number too.
    pub(super) fn is_by_tile(&self, of: Comparand, a: Operand, b: Operand) -> bool {
        matches!(of, Comparand::Signed(Width::B32 | Width::B64) | Comparand::Unsigned(Width::B32))
            && self.shape(a).is_scalar()
            && self.shape(b).is_scalar()
    }
    fn compare(&self, d: Reg, of: Comparand, a: Operand, b: Operand) -> VectorShape {
        // Where lanes must not diverge, numbers with patterns are compared at the patterns' ends, for the whole tile.
        let tile = !self.divergent && !self.by_lane[d.0 as usize] && self.is_by_tile(of, a, b);
        match self.lanewise(&[a, b]) {
            VectorShape::Scalar(0) => VectorShape::Scalar(0),
            _ if tile => VectorShape::Scalar(0),
            _ => VectorShape::Varying,
        }
    }

    fn convert(&mut self, to: Scalar, from: Scalar, saturate: bool, a: Operand) -> VectorShape {
        let (Scalar::Int { bits, signed }, Scalar::Int { bits: to, .. }, false) = (from, to, saturate) else {
            return self.lanewise(&[a]);
        };
        match self.shape(a) {
            // A result of 8 bits is extended.
            VectorShape::Constant(value) if to > 8 => {
                let value = if signed { sign_extend(value, bits) as u64 } else { value & mask(bits) };
                VectorShape::Constant(value & mask(to))
            }
            VectorShape::Scalar(pattern) if bits >= 32 && to >= 32 => {
                self.map(pattern, Width::holding(to), |number| number)
            }
            _ => self.lanewise(&[a]),
        }
    }

    fn load(
        &mut self,
        launch: &LaunchConstants<'_>,
        space: Space,
        (bytes, signed): (u32, bool),
        address: Operand,
        offset: i64,
    ) -> VectorShape {
        match self.shape(address) {
            VectorShape::Constant(at) if space == Space::Param => launch
                .param(at.wrapping_add(offset as u64), bytes, signed)
                .map_or(VectorShape::Varying, VectorShape::Constant),
            VectorShape::Constant(_) | VectorShape::Scalar(0) => VectorShape::Scalar(0),
            shape => repeated(self.period(shape).filter(|&period| period == Period::Tile)),
        }
    }

    fn collect_floats(&mut self, op: &Op) {
        let of_floats = matches!(
            op,
            Op::Float { .. }
                | Op::Sign { .. }
                | Op::MinMax { .. }
                | Op::Compare { of: Comparand::Float { .. }, .. }
                | Op::Convert { from: Scalar::Float(_), .. }
                | Op::Convert { to: Scalar::Float(_), .. }
        ) || Quotient::of(op).is_some();
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

/// The predicates that decide who takes a detour, and those that they are made of.
fn by_lane(launch: &LaunchConstants<'_>, region: &Region, budget: &Budget) -> Option<Vec<bool>> {
    let mut by_lane = vec![false; launch.code.kernel.registers.len()];
    for node in &region.nodes {
        if let Next::Branch { pred, detour: Some(_), .. } = node.next {
            by_lane[pred.0 as usize] = true;
        }
    }
    let mut changed = by_lane.contains(&true);
    while changed {
        changed = false;
        budget.spend(8 * region.length())?;
        for node in (0..region.nodes.len()).rev() {
            for inst in region.insts(launch.code, node).rev() {
                let parts: &[Operand] = match inst.op {
                    Op::Int { d, width: Width::Pred, args, .. } if by_lane[d.0 as usize] => args,
                    Op::Move { d, a } if by_lane[d.0 as usize] => core::slice::from_ref(a),
                    _ => continue,
                };
                for part in parts {
                    if let Operand::Reg(part) = part {
                        changed |= !std::mem::replace(&mut by_lane[part.0 as usize], true);
                    }
                }
            }
        }
    }
    Some(by_lane)
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}
