//! Which bytes of its buffers some blocks of a launch are expected to access: ranges of the numbers in the kernel's registers, at a
//! block's start whatever came before it.
//!
//! It is a guess. Sums and products are taken not to wrap, and a loop's counter to go as far as the furthest bound that it is compared with.
//! Blocks that access more than was given of a buffer end with [`FaultKind::Absent`](super::FaultKind::Absent).

use super::api::{Arg, Launch, RunError};
use super::arguments::are_memory;
use crate::kernel::{BUFFER_ALIGN, LaunchConfig, Origins};
use crate::scalar::sign_extend;
use roundonce_ir::flow::ParamBytes;
use roundonce_ir::{
    Comparand, Instruction, IntOp, Kernel, Liveness, Op, Operand, Reg, Role, Scalar, Signedness, Space, Special, Width,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How often a bound of a number that a loop changes may grow before the loop's end is looked for; a pointer's may more often, whose
/// loop may be bounded by a number.
const GROWTH: [u8; 2] = [3, 6];
/// Comparisons of a number, and numbers that change beside another, of which more are not looked at.
const MOST: usize = 16;
/// How often all instructions are looked at, at most, before nothing is said; and the most instructions, those of all parts together, of which anything is.
const PASSES: usize = 64;
const INSTRUCTIONS: usize = 1 << 22;
/// What is larger is not known: sums and products of such numbers do not overflow.
const UNBOUNDED: i128 = 1 << 62;

const fn clamped(number: i128) -> i128 {
    match number {
        _ if number < -UNBOUNDED => -UNBOUNDED,
        _ if number > UNBOUNDED => UNBOUNDED,
        _ => number,
    }
}

/// The least and the greatest that a register may hold: a number, or bytes from the start of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bounds {
    least: i128,
    most: i128,
    /// The parameter whose buffer it is.
    buffer: Option<usize>,
}

/// What is known of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// Nothing has written it yet.
    Unset,
    Known(Bounds),
    Unknown,
}
use Value::{Known, Unknown, Unset};

impl Bounds {
    const fn number(least: i128, most: i128) -> Bounds {
        Bounds { least, most, buffer: None }
    }
    const fn exactly(number: i128) -> Bounds {
        Bounds::number(number, number)
    }
    /// All numbers of so many bits.
    const fn of_type(bits: u32, signed: bool) -> Bounds {
        match signed {
            true => Bounds::number(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => Bounds::number(0, (1 << bits) - 1),
        }
    }
    fn constant(self) -> Option<i128> {
        (self.least == self.most && self.buffer.is_none()).then_some(self.least)
    }
    const fn is_natural(self) -> bool {
        self.least >= 0 && self.buffer.is_none()
    }
    /// The hull of these results, of numbers.
    fn hull(results: [i128; 4]) -> Bounds {
        let (least, most) =
            results.iter().fold((i128::MAX, i128::MIN), |(least, most), &it| (least.min(it), most.max(it)));
        Bounds::number(clamped(least), clamped(most))
    }
    fn map(self, other: Bounds, of: impl Fn(i128, i128) -> i128) -> Option<Bounds> {
        let ends = |a: Bounds| [a.least, a.most];
        let [[a, b], [c, d]] = [self, other].map(ends);
        (self.buffer.is_none() && other.buffer.is_none())
            .then(|| Bounds::hull([of(a, c), of(a, d), of(b, c), of(b, d)]))
    }
    fn plus(self, other: Bounds) -> Option<Bounds> {
        let buffer = match (self.buffer, other.buffer) {
            (Some(_), Some(_)) => return None,
            (one, other) => one.or(other),
        };
        let number = |bounds: Bounds| Bounds { buffer: None, ..bounds };
        Some(Bounds { buffer, ..number(self).map(number(other), |a, b| a + b)? })
    }
    fn minus(self, other: Bounds) -> Option<Bounds> {
        let negative = Bounds { least: -other.most, most: -other.least, buffer: None };
        match other.buffer {
            None => self.plus(negative),
            buffer if buffer == self.buffer => Bounds { buffer: None, ..self }.plus(negative),
            _ => None,
        }
    }
    /// The number as one of so many bits: where it has more, any.
    fn fit(self, bits: u32, signed: bool) -> Option<Bounds> {
        let all = Bounds::of_type(bits.min(64), signed);
        let fits = self.least >= all.least && self.most <= all.most;
        match self.buffer {
            Some(_) => (bits >= 32).then_some(self),
            None if fits => Some(self),
            None => (bits <= 16).then_some(all),
        }
    }
    fn and(self, other: Bounds) -> Option<Bounds> {
        let (value, mask) = if other.constant().is_some() { (self, other) } else { (other, self) };
        match mask.constant() {
            // A number or an address rounded down.
            Some(mask) if mask < 0 => Some(Bounds { least: clamped(value.least + mask + 1), ..value }),
            _ if value.is_natural() && mask.is_natural() => Some(Bounds::number(0, value.most.min(mask.most))),
            Some(mask) => Some(Bounds::number(0, mask)),
            None => None,
        }
    }
}

impl Value {
    fn of(bounds: Option<Bounds>) -> Value {
        bounds.map_or(Unknown, Known)
    }
    fn exactly(number: i128) -> Value {
        if number.abs() <= UNBOUNDED { Known(Bounds::exactly(number)) } else { Unknown }
    }
    fn join(self, other: Value) -> Value {
        match (self, other) {
            (Unset, value) | (value, Unset) => value,
            (Known(a), Known(b)) if a.buffer == b.buffer => {
                Known(Bounds { least: a.least.min(b.least), most: a.most.max(b.most), ..a })
            }
            _ => Unknown,
        }
    }
    /// What an operation makes of known operands.
    fn then(self, of: impl FnOnce(Bounds) -> Option<Bounds>) -> Value {
        match self {
            Known(bounds) => Value::of(of(bounds)),
            other => other,
        }
    }
    /// A sum or a difference. What is added to an address leads to the same buffer.
    fn plus(self, other: Value, of: impl FnOnce(Bounds, Bounds) -> Option<Bounds>) -> Value {
        match (self, other) {
            (Known(Bounds { buffer: Some(buffer), .. }), Unknown)
            | (Unknown, Known(Bounds { buffer: Some(buffer), .. })) => {
                Known(Bounds { least: -UNBOUNDED, most: UNBOUNDED, buffer: Some(buffer) })
            }
            _ => self.with(other, of),
        }
    }
    fn with(self, other: Value, of: impl FnOnce(Bounds, Bounds) -> Option<Bounds>) -> Value {
        match (self, other) {
            (Known(a), Known(b)) => Value::of(of(a, b)),
            (Unknown, _) | (_, Unknown) => Unknown,
            _ => Unset,
        }
    }
}

impl Launch<'_> {
    /// For each of these ranges of blocks the bytes of each argument that they are expected to access, as far as the kernel's code tells;
    /// `None` for what is no buffer, and for a buffer of which it does not. Of the arguments' contents only numbers are looked at.
    ///
    /// The ranges begin where an [`Arg::Slice`] may. Given those bytes alone, the blocks do what they do with all of them, or end with
    /// [`FaultKind::Absent`](super::FaultKind::Absent).
    ///
    /// # Errors
    /// Where the launch does not fit the kernel.
    pub fn footprints(&self, parts: &[Range<u64>]) -> Result<Vec<Vec<Option<Range<u64>>>>, RunError> {
        let kernel = self.kernel()?;
        self.sizes(kernel)?;
        let origins = Origins::of(kernel, &are_memory(&self.args));
        let (params, counters) = (ParamBytes::of(kernel), Counters::of(kernel));
        let of_part = |blocks: &Range<u64>| {
            let analysis = Analysis {
                launch: self,
                kernel,
                params: &params,
                blocks: axes(self.grid, blocks),
                counters: &counters,
                values: vec![Unset; kernel.registers.len()],
                here: BTreeMap::new(),
                growth: vec![[0; 2]; kernel.registers.len()],
            };
            analysis.footprint(&origins)
        };
        let instructions: usize = kernel.blocks.iter().map(|block| block.instructions.len()).sum();
        let mut found = Vec::with_capacity(parts.len());
        if instructions.saturating_mul(parts.len()) <= INSTRUCTIONS {
            // Where one part has no fixed point, the others have none either.
            found.extend(parts.iter().map_while(of_part));
        }
        found.resize(parts.len(), vec![None; self.args.len()]);
        Ok(found)
    }
}

/// The numbers of some blocks along each axis.
fn axes(grid: [u32; 3], blocks: &Range<u64>) -> [Bounds; 3] {
    let last = blocks.end.saturating_sub(1).max(blocks.start);
    let [first, last] = [blocks.start, last].map(|block| LaunchConfig::axes(grid, block));
    let mut is_same_line = true;
    let mut axes = [Bounds::exactly(0); 3];
    for axis in (0..3).rev() {
        axes[axis] = match is_same_line {
            true => Bounds::number(first[axis].into(), last[axis].into()),
            false => Bounds::number(0, i128::from(grid[axis]) - 1),
        };
        is_same_line &= first[axis] == last[axis];
    }
    axes
}

/// Registers that loops change, and what says how far.
struct Counters {
    /// Of each block the registers that it writes and others read.
    written: Vec<Vec<Reg>>,
    /// Whether several blocks write a register that others read.
    is_changed: Vec<bool>,
    /// What a register, or one that is a sum of it or copied from or to it, is compared with.
    limits: BTreeMap<Reg, Vec<Operand>>,
    /// By register a constant that is added to it, and the other registers to which that happens in the same block.
    steps: BTreeMap<Reg, (i128, Vec<(Reg, i128)>)>,
}

impl Counters {
    fn of(kernel: &Kernel) -> Counters {
        let liveness = Liveness::of(kernel);
        let mut written = Vec::with_capacity(kernel.blocks.len());
        let mut related: BTreeMap<Reg, Vec<Reg>> = BTreeMap::new();
        let mut compared: BTreeMap<Reg, Vec<Operand>> = BTreeMap::new();
        let mut steps = BTreeMap::new();
        for (number, block) in kernel.blocks.iter().enumerate() {
            let (mut here, mut defined) = (Vec::new(), BTreeSet::new());
            for instruction in &block.instructions {
                instruction.op.registers(|role, reg| {
                    if role == Role::Def {
                        defined.insert(reg);
                    }
                });
                match instruction.op {
                    Op::Int { d, op: IntOp::Add, width, args: [Operand::Reg(a), Operand::Imm(step), ..] } if a == d => {
                        here.push((d, i128::from(sign_extend(step, width.bits()))));
                    }
                    Op::Move { d, a: Operand::Reg(a) }
                    | Op::Int { d, op: IntOp::Add | IntOp::Sub, args: [Operand::Reg(a), ..], .. } => {
                        related.entry(a).or_default().push(d);
                        related.entry(d).or_default().push(a);
                    }
                    Op::Compare { of: Comparand::Signed(_) | Comparand::Unsigned(_), a, b, .. } => {
                        for (one, other) in [(a, b), (b, a)] {
                            if let Operand::Reg(reg) = one {
                                compared.entry(reg).or_default().push(other);
                            }
                        }
                    }
                    _ => {}
                }
            }
            let after = liveness.after(kernel, number);
            written.push(defined.into_iter().filter(|&reg| after.has(reg)).collect::<Vec<Reg>>());
            here.truncate(MOST);
            for &(reg, step) in &here {
                let others = here.iter().copied().filter(|&(other, _)| other != reg).collect();
                steps.insert(reg, (step, others));
            }
        }
        let mut definitions = vec![0; kernel.registers.len()];
        written.iter().flatten().for_each(|reg| definitions[reg.0 as usize] += 1);
        let is_changed: Vec<bool> = definitions.iter().map(|&count| count > 1).collect();
        let mut limits: BTreeMap<Reg, Vec<Operand>> = BTreeMap::new();
        for reg in (0..).map(Reg).zip(&is_changed).filter_map(|(reg, &is_changed)| is_changed.then_some(reg)) {
            let near = related.get(&reg).map_or(&[][..], Vec::as_slice);
            let with = std::iter::once(&reg).chain(near).filter_map(|reg| compared.get(reg)).flatten();
            limits.insert(reg, with.take(MOST).copied().collect());
        }
        Counters { written, is_changed, limits, steps }
    }
}

/// The ranges of one part's registers.
struct Analysis<'a> {
    launch: &'a Launch<'a>,
    kernel: &'a Kernel,
    params: &'a ParamBytes,
    /// The blocks' numbers.
    blocks: [Bounds; 3],
    counters: &'a Counters,
    /// What registers hold at the blocks' starts.
    values: Vec<Value>,
    /// What the registers hold that the block has written so far.
    here: BTreeMap<Reg, Value>,
    /// How often each register's least and greatest have grown.
    growth: Vec<[u8; 2]>,
}

impl Analysis<'_> {
    /// Nothing where no fixed point is found.
    fn footprint(mut self, origins: &Origins) -> Option<Vec<Option<Range<u64>>>> {
        let args = &self.launch.args;
        if (0..PASSES).all(|_| self.pass(|_, _| {})) {
            return None;
        }
        // Of each argument the hull of what is accessed, or that it is not known.
        let mut accessed: Vec<Value> = vec![Unset; args.len()];
        self.pass(|analysis, op| {
            let (space, address, offset, bytes) = match *op {
                Op::Load { ref d, space, bytes, address, offset, .. } => {
                    (space, address, offset, bytes as usize * d.len())
                }
                Op::Store { ref values, space, bytes, address, offset, .. } => {
                    (space, address, offset, bytes as usize * values.len())
                }
                Op::Atomic { space, bytes, address, offset, .. } => (space, address, offset, 2 * bytes as usize),
                _ => return,
            };
            if !matches!(space, Space::Global | Space::Generic | Space::Const) {
                return;
            }
            match analysis.value(address, Width::B64, true) {
                Known(Bounds { least, most, buffer: Some(buffer) }) => {
                    let offset = i128::from(offset);
                    let range = Bounds::number(least + offset, most + offset + bytes as i128);
                    accessed[buffer] = accessed[buffer].join(Known(range));
                }
                _ => {
                    let all = accessed.iter_mut().enumerate();
                    let possible = all.filter(|&(index, _)| origins.may_be_in(address, index));
                    possible.for_each(|(_, accessed)| *accessed = Unknown);
                }
            }
        });
        let range = |(arg, accessed): (&Arg, Value)| {
            let length = arg.buffer_bytes()?;
            let within = |at: i128| at.clamp(0, length.into()) as u64;
            match accessed {
                Unset => Some(0..0),
                Known(Bounds { least, most, .. }) => Some(within(least) / BUFFER_ALIGN * BUFFER_ALIGN..within(most)),
                Unknown => None,
            }
        };
        Some(args.iter().zip(accessed).map(range).collect())
    }

    /// Looks at all instructions once, in the order in which they stand. Whether that has changed anything.
    fn pass(&mut self, mut visit: impl FnMut(&Self, &Op)) -> bool {
        let (kernel, counters) = (self.kernel, self.counters);
        let mut changed = false;
        for (block, written) in kernel.blocks.iter().zip(&counters.written) {
            self.here.clear();
            for Instruction { op, guard, .. } in &block.instructions {
                visit(self, op);
                let value = self.evaluate(op);
                op.registers(|role, reg| {
                    if role == Role::Def {
                        let value = if guard.is_some() { value.join(self.register(reg)) } else { value };
                        self.here.insert(reg, value);
                    }
                });
            }
            for &reg in written {
                let value = self.register(reg);
                changed |= self.update(reg, value);
            }
        }
        changed
    }
    fn register(&self, reg: Reg) -> Value {
        self.here.get(&reg).copied().unwrap_or(self.values[reg.0 as usize])
    }

    fn update(&mut self, reg: Reg, value: Value) -> bool {
        let index = reg.0 as usize;
        let before = self.values[index];
        let mut after = before.join(value);
        if let (Known(old), Known(new)) = (before, &mut after)
            && self.counters.is_changed[index]
        {
            let most_often = GROWTH[usize::from(old.buffer.is_some())];
            for (side, grows) in [new.least < old.least, new.most > old.most].into_iter().enumerate() {
                let count = &mut self.growth[index][side];
                if !grows || *count < most_often {
                    *count += u8::from(grows);
                    continue;
                }
                let is_over = *count > most_often;
                *count = most_often + 1;
                let bound = match (is_over, side) {
                    (true, 0) => old.least,
                    (true, _) => old.most,
                    (false, _) => self.limit(reg, *new, side == 1),
                };
                *(if side == 0 { &mut new.least } else { &mut new.most }) = bound;
            }
        }
        self.values[index] = after;
        after != before
    }

    /// How far a loop takes a register at most, or at least.
    fn limit(&self, reg: Reg, now: Bounds, up: bool) -> i128 {
        let compared = self.counters.limits.get(&reg).into_iter().flatten();
        let ends = compared.filter_map(|&with| match self.value(with, Width::B64, true) {
            Known(with) if with.buffer == now.buffer => Some(if up { with.most } else { with.least }),
            _ => None,
        });
        let beyond = |end: &i128| end.abs() < UNBOUNDED && if up { *end >= now.most } else { *end <= now.least };
        if let Some(end) = ends.filter(beyond).max_by_key(|end| if up { *end } else { -end }) {
            return end;
        }
        self.limit_by_others(reg, now, up).unwrap_or(if up { UNBOUNDED } else { -UNBOUNDED })
    }
    /// The same where another register has a limit that the same block changes in constant steps.
    fn limit_by_others(&self, reg: Reg, now: Bounds, up: bool) -> Option<i128> {
        let (step, others) = self.counters.steps.get(&reg)?;
        let rounds = others.iter().filter_map(|&(other, by)| match self.values[other.0 as usize] {
            Known(Bounds { least, most, .. }) if by != 0 && most - least < UNBOUNDED => {
                Some((most - least) / by.abs() + 1)
            }
            _ => None,
        });
        let distance = rounds.min()? * step;
        match up {
            true if distance > 0 => Some(clamped(now.most + distance)),
            false if distance < 0 => Some(clamped(now.least + distance)),
            _ => None,
        }
    }

    /// What an operand holds; a constant has so many bits.
    fn value(&self, operand: Operand, width: Width, signed: bool) -> Value {
        match operand {
            Operand::Reg(reg) => self.register(reg),
            Operand::Imm(bits) if signed => Value::exactly(sign_extend(bits, width.bits()).into()),
            Operand::Imm(bits) => Value::exactly((bits & width.mask()).into()),
        }
    }

    /// What an instruction writes.
    fn evaluate(&self, op: &Op) -> Value {
        let width = |reg: Reg| self.kernel.width(reg);
        match *op {
            Op::Move { d, a } => self.value(a, width(d), true),
            Op::Select { d, a, b, .. } => self.value(a, width(d), true).join(self.value(b, width(d), true)),
            Op::Shuffle { a, .. } => self.value(a, Width::B32, true),
            Op::Special { special, .. } => Value::of(self.special(special)),
            Op::Load { space: Space::Param, address: Operand::Imm(at), offset, bytes, .. } => {
                self.parameter((at as i64).wrapping_add(offset), bytes)
            }
            Op::Load { bytes: bytes @ 1..=2, signed, .. } => Known(Bounds::of_type(8 * bytes, signed)),
            Op::Convert {
                to: Scalar::Int { bits, signed }, from: Scalar::Int { bits: from, signed: of }, a, ..
            } => self.value(a, Width::B64, true).then(|a| a.fit(from, of)?.fit(bits, signed)),
            Op::Extract { d, a, width: from, shift } => {
                let a = self.value(a, from, false);
                let shifted = |a: Bounds| a.is_natural().then(|| Bounds::number(a.least >> shift, a.most >> shift));
                a.then(|a| if shift == 0 { a.fit(width(d).bits(), true) } else { shifted(a) })
            }
            Op::Pack { d, low, high } => match self.value(high, Width::B32, true) {
                Known(high) if high == Bounds::exactly(0) => {
                    self.value(low, Width::B32, false).then(|low| low.fit(width(d).bits() / 2, false))
                }
                Unset => Unset,
                _ => Unknown,
            },
            Op::Int { op, width, ref args, .. } => self.integer(op, width, args),
            _ => Unknown,
        }
    }

    fn special(&self, special: Special) -> Option<Bounds> {
        let Launch { grid, block, args, .. } = self.launch;
        let axis = |sizes: &[u32; 3], axis: u8| i128::from(sizes[usize::from(axis)]);
        let threads: i128 = block.iter().map(|&axis| i128::from(axis)).product();
        Some(match special.in_engine() {
            Special::Tid(at) => Bounds::number(0, axis(block, at) - 1),
            Special::Ntid(at) => Bounds::exactly(axis(block, at)),
            Special::Ctaid(at) => self.blocks[usize::from(at)],
            Special::Nctaid(at) => Bounds::exactly(axis(grid, at)),
            Special::Lane => Bounds::number(0, 31),
            Special::Warp => Bounds::number(0, (threads - 1) / 32),
            Special::Warps => Bounds::exactly((threads + 31) / 32),
            Special::Placement(placement) => Bounds::exactly(placement.value()?.into()),
            Special::BufferBytes(param) => {
                Bounds::exactly(args.get(param as usize)?.buffer_bytes().unwrap_or(0).into())
            }
            _ => return None,
        })
    }

    /// What is loaded from the parameter block.
    fn parameter(&self, at: i64, bytes: u32) -> Value {
        let Some((index, true)) = self.params.at(at) else { return Unknown };
        match self.launch.args.get(index) {
            Some(Arg::Scalar(bits)) => Value::exactly(sign_extend(*bits, (8 * bytes).clamp(8, 64)).into()),
            Some(Arg::Buffer(_) | Arg::Slice { .. }) => Known(Bounds { buffer: Some(index), ..Bounds::exactly(0) }),
            _ => Unknown,
        }
    }

    fn integer(&self, op: IntOp, width: Width, args: &[Operand; 4]) -> Value {
        let signed = match op {
            IntOp::MulWide(sign)
            | IntOp::MulAddWide(sign)
            | IntOp::MulHigh(sign)
            | IntOp::Div(sign)
            | IntOp::Rem(sign)
            | IntOp::Min(sign)
            | IntOp::Max(sign)
            | IntOp::Shr(sign) => sign == Signedness::Signed,
            _ => true,
        };
        let [a, b] = [args[0], args[1]].map(|operand| self.value(operand, width, signed));
        let wide = || self.value(args[2], Width::B64, true);
        let times = |a: Bounds, b: Bounds| a.map(b, |a, b| a * b);
        match op {
            IntOp::Add => a.plus(b, Bounds::plus),
            IntOp::Sub => a.plus(b, Bounds::minus),
            IntOp::Mul | IntOp::MulWide(_) => a.with(b, times),
            IntOp::MulAdd => a.with(b, times).plus(self.value(args[2], width, true), Bounds::plus),
            IntOp::MulAddWide(_) => a.with(b, times).plus(wide(), Bounds::plus),
            IntOp::MulHigh(_) => a.with(b, |a, b| a.map(b, |a, b| (a * b) >> width.bits())),
            IntOp::Div(_) => {
                a.with(b, |a, b| a.map(b.constant().filter(|&by| by > 0).map(Bounds::exactly)?, |a, b| a / b))
            }
            IntOp::Rem(_) => a.with(b, |a, b| {
                let most = b.most - 1;
                let natural = a.is_natural() && b.is_natural() && most >= 0;
                natural.then(|| Bounds::number(0, a.most.min(most)))
            }),
            IntOp::Min(_) => a.with(b, |a, b| a.map(b, i128::min)),
            IntOp::Max(_) => a.with(b, |a, b| a.map(b, i128::max)),
            IntOp::Neg => a.then(|a| Bounds::exactly(0).minus(a)),
            IntOp::And => a.with(b, Bounds::and),
            IntOp::Or | IntOp::Xor => a.with(b, |a, b| {
                let least = if op == IntOp::Or { a.least.max(b.least) } else { 0 };
                (a.is_natural() && b.is_natural()).then(|| Bounds::number(least, (a.most + b.most).min(UNBOUNDED)))
            }),
            IntOp::Shl => a.with(b, |a, b| {
                let by = b.constant().filter(|by| (0..64).contains(by))?;
                a.map(Bounds::exactly(1 << by), |a, b| a * b)
            }),
            IntOp::Shr(_) => a.with(b, |a, b| {
                let by = b.constant().filter(|by| (0..64).contains(by) && (signed || a.least >= 0))?;
                a.map(Bounds::exactly(by), |a, by| a >> by)
            }),
            _ => Unknown,
        }
    }
}
