//! A plain, slow interpreter of [`Program`]s: one thread at a time, one instruction at a time, values as `u64`. It
//! shares no code with the engine; floats go through the scalar pipeline, which other judges hold.
//!
//! Threads of a block take turns: each runs until it waits or ends. What it does not know it refuses by panicking:
//! the generator ([`generate`]) writes nothing of the kind.

mod generate;
mod half;
mod input;
mod integer;

pub use generate::{Case, generate, generate_plain};
pub use input::{input, numbers};

use roundonce_arith::{Format, Profile, Rounding};
use roundonce_ir::{
    AtomicKind, BarrierKind, Comparand, Comparison, Kernel, Op, Operand, Program, Reg, Scalar, ShuffleMode, Space,
    Special, Terminator, VoteMode, Width,
};

/// Where the buffers lie: any two addresses that do not meet.
const BUFFERS: u64 = 1 << 32;

/// One thread.
struct Thread {
    regs: Vec<u64>,
    block: usize,
    at: usize,
    local: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Runs,
    Waits,
    Meets,
    Ended,
}

/// A block of threads and what they see.
struct Block<'a> {
    kernel: &'a Kernel,
    threads: Vec<Thread>,
    shared: Vec<u8>,
    buffers: &'a mut [Vec<u8>],
    params: Vec<u8>,
    grid: [u32; 3],
    size: [u32; 3],
    index: [u32; 3],
}

/// Runs a kernel whose parameters are 8-byte addresses of buffers, in order; gives the buffers back as they are
/// afterwards.
///
/// # Panics
/// On what it does not know, and on an access outside the buffers.
pub fn run(program: &Program, grid: [u32; 3], size: [u32; 3], mut buffers: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let kernel = &program.kernels[0];
    let params: Vec<u8> = (0..buffers.len() as u64).flat_map(|index| ((index + 1) * BUFFERS).to_le_bytes()).collect();
    for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                let count = (size[0] * size[1] * size[2]) as usize;
                let thread = || Thread {
                    regs: vec![0; kernel.registers.len()],
                    block: 0,
                    at: 0,
                    local: vec![0; kernel.local_bytes as usize],
                    state: State::Runs,
                };
                let mut block = Block {
                    kernel,
                    threads: (0..count).map(|_| thread()).collect(),
                    shared: vec![0; kernel.shared_bytes as usize],
                    buffers: &mut buffers,
                    params: params.clone(),
                    grid,
                    size,
                    index: [x, y, z],
                };
                block.run();
            }
        }
    }
    buffers
}

impl Block<'_> {
    fn run(&mut self) {
        loop {
            let mut moved = false;
            for thread in 0..self.threads.len() {
                while self.threads[thread].state == State::Runs {
                    self.step(thread);
                    moved = true;
                }
            }
            let all =
                |state| self.threads.iter().all(|thread| matches!(thread.state, State::Ended) || thread.state == state);
            if self.threads.iter().all(|thread| thread.state == State::Ended) {
                return;
            }
            if all(State::Waits) {
                for thread in self.threads.iter_mut().filter(|thread| thread.state == State::Waits) {
                    thread.state = State::Runs;
                    thread.at += 1;
                }
            } else {
                moved |= self.meet();
                assert!(moved, "the threads wait for each other");
            }
        }
    }

    fn step(&mut self, thread: usize) {
        let (block, at) = (self.threads[thread].block, self.threads[thread].at);
        let block = &self.kernel.blocks[block];
        let Some(instruction) = block.instructions.get(at) else {
            let target = match &block.terminator {
                Terminator::Jump(target) => *target,
                Terminator::Branch { pred, then, otherwise } => {
                    if self.threads[thread].regs[pred.0 as usize] != 0 {
                        *then
                    } else {
                        *otherwise
                    }
                }
                Terminator::Switch { index, targets, otherwise } => {
                    let index = self.value(thread, *index) as usize;
                    targets.get(index).copied().unwrap_or(*otherwise)
                }
                Terminator::Exit => {
                    self.threads[thread].state = State::Ended;
                    return;
                }
            };
            self.threads[thread].block = target;
            self.threads[thread].at = 0;
            return;
        };
        let holds = instruction
            .guard
            .is_none_or(|guard| (self.threads[thread].regs[guard.pred.0 as usize] != 0) == guard.expected);
        if holds {
            match &instruction.op {
                Op::Barrier { kind: BarrierKind::Wait, .. } => {
                    self.threads[thread].state = State::Waits;
                    return;
                }
                Op::Shuffle { .. } | Op::Vote { .. } => {
                    self.threads[thread].state = State::Meets;
                    return;
                }
                Op::Exit => {
                    self.threads[thread].state = State::Ended;
                    return;
                }
                op => self.work(thread, op),
            }
        }
        self.threads[thread].at += 1;
    }

    fn value(&self, thread: usize, operand: Operand) -> u64 {
        match operand {
            Operand::Reg(reg) => self.threads[thread].regs[reg.0 as usize],
            Operand::Imm(bits) => bits,
        }
    }

    fn set(&mut self, thread: usize, reg: Reg, value: u64) {
        self.threads[thread].regs[reg.0 as usize] = value & self.kernel.width(reg).mask();
    }

    fn work(&mut self, thread: usize, op: &Op) {
        let get = |operand: Operand| self.value(thread, operand);
        match op {
            Op::Move { d, a } => {
                let value = get(*a);
                self.set(thread, *d, value);
            }
            Op::Special { d, special } => {
                let value = self.special(thread, *special);
                self.set(thread, *d, value);
            }
            Op::Float { d, operation, components, args, .. } => {
                let mut packed = 0;
                for component in 0..*components {
                    let part = |(index, arg): (usize, &Operand)| {
                        let bits = operation.operand_format(index).width();
                        get(*arg) >> (component * bits) & (u64::MAX >> (64 - bits))
                    };
                    let values: Vec<u64> = args.iter().enumerate().take(operation.op.arity()).map(part).collect();
                    let result = operation.evaluate(&Profile::NVIDIA, &values).bits;
                    packed |= result << (component * operation.format.width());
                }
                self.set(thread, *d, packed);
            }
            Op::Sign { d, negate, format, flush: false, arithmetic, a } => {
                let a = get(*a);
                let value = match format.width() {
                    // As a GPU: all NaNs are one, of f64 the operand made quiet.
                    64 if *arithmetic && format.is_nan(a) => a | 1 << 51,
                    32 if *arithmetic && format.is_nan(a) => 0x7fff_ffff,
                    16 if *arithmetic && format.is_nan(a) => 0x7fff,
                    _ if *negate => a ^ format.sign_mask(),
                    _ => a & !format.sign_mask(),
                };
                self.set(thread, *d, value);
            }
            Op::Compare { d, comparison, of, a, b } => {
                let value = compare(*comparison, *of, get(*a), get(*b)) as u64;
                self.set(thread, *d, value);
            }
            Op::Select { d, p, a, b } => {
                let value = if get(*p) != 0 { get(*a) } else { get(*b) };
                self.set(thread, *d, value);
            }
            Op::Convert { d, to, from, rounding, saturate: false, flush: false, integral: false, a } => {
                let value = convert(*from, *to, *rounding, get(*a));
                self.set(thread, *d, value);
            }
            Op::MinMax { d, max, format, flush, nan, xorsign_abs, a, b } => {
                let value = half::min_max(*format, (*max, *flush, *nan, *xorsign_abs), get(*a), get(*b));
                self.set(thread, *d, value);
            }
            Op::Int { d, op, width, args } => {
                let value = integer::int(*op, width.bits(), args.map(get));
                self.set(thread, *d, value);
            }
            Op::Carry { d, out, subtract, carry, a, b } => {
                let bits = self.kernel.width(*d).bits();
                let (a, b, carry) = (get(*a) as i128, get(*b) as i128, (get(*carry) != 0) as i128);
                let exact = if *subtract { a - b - carry } else { a + b + carry };
                self.set(thread, *d, exact as u64);
                if let Some(out) = out {
                    self.set(thread, *out, (exact < 0 || exact >= 1i128 << bits) as u64);
                }
            }
            Op::Pack { d, low, high } => {
                let half = self.kernel.width(*d).bits() / 2;
                let value = (get(*low) & ((1 << half) - 1)) | get(*high) << half;
                self.set(thread, *d, value);
            }
            Op::Extract { d, a, shift, .. } => {
                let value = get(*a) >> shift;
                self.set(thread, *d, value);
            }
            Op::Load { d, space, bytes, signed, address, offset } => {
                let base = get(*address);
                let mut values = Vec::new();
                for place in 0..d.len() as u64 {
                    let address = base.wrapping_add(*offset as u64).wrapping_add(place * *bytes as u64);
                    let mut value = 0;
                    for byte in (0..*bytes as u64).rev() {
                        value = value << 8 | u64::from(*self.byte(thread, *space, address + byte));
                    }
                    let shift = 64 - bytes * 8;
                    values.push(if *signed { ((value << shift) as i64 >> shift) as u64 } else { value });
                }
                for (d, value) in d.iter().zip(values) {
                    if let Some(d) = d {
                        self.set(thread, *d, value);
                    }
                }
            }
            Op::Store { values, space, bytes, address, offset, .. } => {
                let base = get(*address);
                let values: Vec<u64> = values.iter().map(|value| get(*value)).collect();
                for (place, value) in values.into_iter().enumerate() {
                    let address = base.wrapping_add(*offset as u64).wrapping_add(place as u64 * *bytes as u64);
                    for byte in 0..*bytes as u64 {
                        *self.byte(thread, *space, address + byte) = (value >> (8 * byte)) as u8;
                    }
                }
            }
            Op::Atomic { d: None, kind: AtomicKind::Int(op), space, bytes, address, offset, b, high: None, .. } => {
                let (address, b) = (get(*address).wrapping_add(*offset as u64), get(*b));
                let mut old = 0;
                for byte in (0..*bytes as u64).rev() {
                    old = old << 8 | u64::from(*self.byte(thread, *space, address + byte));
                }
                let new = integer::int(*op, bytes * 8, [old, b, 0, 0]);
                for byte in 0..*bytes as u64 {
                    *self.byte(thread, *space, address + byte) = (new >> (8 * byte)) as u8;
                }
            }
            Op::Fence => {}
            other => panic!("the judge does not know {other:?}"),
        }
    }

    fn byte(&mut self, thread: usize, space: Space, address: u64) -> &mut u8 {
        match space {
            Space::Shared => &mut self.shared[address as usize],
            Space::Local => &mut self.threads[thread].local[address as usize],
            Space::Param => &mut self.params[address as usize],
            _ => &mut self.buffers[(address / BUFFERS) as usize - 1][(address % BUFFERS) as usize],
        }
    }

    fn special(&self, thread: usize, special: Special) -> u64 {
        let thread = thread as u32;
        let [x, y, _] = self.size;
        let tid = [thread % x, thread / x % y, thread / x / y];
        let value = match special {
            Special::Tid(axis) => tid[axis as usize],
            Special::Ntid(axis) => self.size[axis as usize],
            Special::Ctaid(axis) => self.index[axis as usize],
            Special::Nctaid(axis) => self.grid[axis as usize],
            Special::Lane => thread % 32,
            Special::Warp => thread / 32,
            Special::MaskLt => (1u32 << (thread % 32)) - 1,
            other => panic!("the judge does not know {other:?}"),
        };
        value.into()
    }

    /// The lanes of a warp that are all at one instruction go on together.
    fn meet(&mut self) -> bool {
        let mut moved = false;
        for first in (0..self.threads.len()).step_by(32) {
            let lanes = first..(first + 32).min(self.threads.len());
            let here: Vec<usize> = lanes.filter(|&lane| self.threads[lane].state != State::Ended).collect();
            let Some(&leader) = here.first() else { continue };
            let place = |lane: usize| (self.threads[lane].block, self.threads[lane].at);
            let together = |lane: &usize| self.threads[*lane].state == State::Meets && place(*lane) == place(leader);
            if !here.iter().all(together) {
                continue;
            }
            moved = true;
            let (block, at) = place(leader);
            match &self.kernel.blocks[block].instructions[at].op {
                Op::Shuffle { d, p, mode, a, b, c, .. } => self.shuffle(first, &here, (*d, *p), *mode, [*a, *b, *c]),
                Op::Vote { d, mode: VoteMode::Ballot, a, .. } => {
                    let yes = here.iter().filter(|&&lane| self.value(lane, *a) != 0);
                    let ballot = yes.fold(0, |all, lane| all | 1u64 << (lane - first));
                    for &lane in &here {
                        self.set(lane, *d, ballot);
                    }
                }
                other => panic!("the judge does not know {other:?}"),
            }
            for &lane in &here {
                self.threads[lane].state = State::Runs;
                self.threads[lane].at += 1;
            }
        }
        moved
    }

    fn shuffle(
        &mut self,
        first: usize,
        here: &[usize],
        (d, p): (Reg, Option<Reg>),
        mode: ShuffleMode,
        [a, b, c]: [Operand; 3],
    ) {
        let mut results = Vec::new();
        for &lane in here {
            let (me, b, c) = ((lane - first) as i64, self.value(lane, b) as i64 & 31, self.value(lane, c) as i64);
            let (clamp, segment) = (c & 31, c >> 8 & 31);
            let max = (me & segment) | (clamp & !segment);
            let min = me & segment;
            let (from, fits) = match mode {
                ShuffleMode::Up => (me - b, me - b >= max),
                ShuffleMode::Down => (me + b, me + b <= max),
                ShuffleMode::Butterfly => (me ^ b, me ^ b <= max),
                ShuffleMode::Index => (min | (b & !segment), (min | (b & !segment)) <= max),
            };
            let from = first + if fits { from as usize } else { me as usize };
            let value = if here.contains(&from) { self.value(from, a) } else { self.value(lane, a) };
            results.push((lane, value, fits));
        }
        for (lane, value, fits) in results {
            self.set(lane, d, value);
            if let Some(p) = p {
                self.set(lane, p, fits as u64);
            }
        }
    }
}

fn compare(comparison: Comparison, of: Comparand, a: u64, b: u64) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let signed = |value: u64, width: Width| (value << (64 - width.bits())) as i64;
    let order = match of {
        Comparand::Unsigned(_) => Some(a.cmp(&b)),
        Comparand::Signed(width) => Some(signed(a, width).cmp(&signed(b, width))),
        Comparand::Float { format: Format::F32, flush: false } => {
            f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32))
        }
        Comparand::Float { format: Format::F64, flush: false } => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        Comparand::Float { format: format @ (Format::F16 | Format::BF16), flush: false } => {
            half::value(format, a).partial_cmp(&half::value(format, b))
        }
        Comparand::Float { .. } => panic!("the judge does not compare these"),
    };
    match comparison {
        Comparison::Eq => order == Some(Equal),
        Comparison::Ne => matches!(order, Some(Less | Greater)),
        Comparison::Lt => order == Some(Less),
        Comparison::Le => matches!(order, Some(Less | Equal)),
        Comparison::Gt => order == Some(Greater),
        Comparison::Ge => matches!(order, Some(Greater | Equal)),
        Comparison::Equ => matches!(order, None | Some(Equal)),
        Comparison::Neu => order != Some(Equal),
        Comparison::Ltu => matches!(order, None | Some(Less)),
        Comparison::Leu => matches!(order, None | Some(Less | Equal)),
        Comparison::Gtu => matches!(order, None | Some(Greater)),
        Comparison::Geu => matches!(order, None | Some(Greater | Equal)),
        Comparison::Num => order.is_some(),
        Comparison::Nan => order.is_none(),
    }
}

/// Conversions by the host's f64, which holds integers of 32 bits and all floats.
fn convert(from: Scalar, to: Scalar, rounding: Rounding, a: u64) -> u64 {
    let integer = |bits: u32, signed: bool| {
        let shift = 64 - bits;
        if signed { ((a << shift) as i64 >> shift) as i128 } else { (a << shift >> shift) as i128 }
    };
    match (from, to) {
        (Scalar::Int { bits, signed }, Scalar::Int { bits: to, signed: to_signed }) => {
            let value = integer(bits, signed) as u64;
            // 8 bits are extended to 16.
            match (to, to_signed) {
                (8, true) => value as u8 as i8 as u64,
                (8, false) => value & 0xff,
                _ => value,
            }
        }
        (Scalar::Int { bits: bits @ ..=32, signed }, Scalar::Float(Format::F64)) => {
            (integer(bits, signed) as f64).to_bits()
        }
        (Scalar::Int { bits: bits @ ..=32, signed }, Scalar::Float(to)) => {
            half::round(to, integer(bits, signed) as f64, rounding)
        }
        (Scalar::Int { bits, signed }, Scalar::Float(Format::F32)) if rounding == Rounding::NearestEven => {
            let value = integer(bits, signed);
            (if signed { value as i64 as f32 } else { value as u64 as f32 }).to_bits().into()
        }
        (Scalar::Float(from), Scalar::Int { bits, signed }) => {
            let value = half::value(from, a);
            let value = match rounding {
                Rounding::NearestEven => value.round_ties_even(),
                Rounding::TowardZero => value.trunc(),
                Rounding::Down => value.floor(),
                Rounding::Up => value.ceil(),
            };
            match (bits, signed) {
                // Not as the host: PTX ISA 9.0, `cvt`.
                (64, false) if value.is_nan() && from == Format::F32 => 1 << 63,
                (64, false) if from == Format::F32 => value as u64,
                (8, true) => value as i8 as u64,
                (16, true) => value as i16 as u64,
                (32, true) => value as i32 as u64,
                (32, false) => value as u32 as u64,
                other => panic!("the judge does not convert to {other:?}"),
            }
        }
        // The upper half of an f32, NaNs too.
        (Scalar::Float(Format::BF16), Scalar::Float(Format::F32)) => a << 16,
        (Scalar::Float(from), Scalar::Float(Format::F64)) if from != Format::F64 => {
            let value = half::value(from, a);
            if !value.is_nan() {
                return value.to_bits();
            }
            // The payload stays, at the top, and is made quiet.
            let (sign, payload) = (a >> (from.width() - 1) & 1, a & ((1 << from.frac_bits()) - 1));
            sign << 63 | 0x7ff8 << 48 | payload << (52 - from.frac_bits())
        }
        (Scalar::Float(from), Scalar::Float(to)) => {
            let value = half::value(from, a);
            match value.is_nan() {
                false => half::round(to, value, rounding),
                // The upper bits of its payload are left.
                true if from == Format::F64 => {
                    let payload = (a & ((1 << 52) - 1)) >> (52 - to.frac_bits());
                    (a >> 63) << (to.width() - 1) | to.infinity() | to.quiet_bit() | payload
                }
                true => to.magnitude_mask(),
            }
        }
        other => panic!("the judge does not convert {other:?}"),
    }
}
