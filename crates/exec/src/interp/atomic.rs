//! Atomics: lane after lane, in the order of their numbers.

use super::fault::Outcome;
use super::interpreter::Interpreter;
use super::mask::Mask;
use super::races::Atomicity;
use super::register::{Lane, with_lane};
use crate::kernel::{SegmentWords, read_element, write_element};
use crate::scalar::{MinMax, int_op, min_max};
use roundonce_arith::{Format, Profile};
use roundonce_ir::{AtomicKind, HighHalf, IntOp, Operand, Reg, Space, Width, arrival};

impl Interpreter<'_> {
    #[allow(clippy::too_many_arguments)] // The fields of one instruction.
    pub(super) fn atomic(
        &mut self,
        d: Option<Reg>,
        kind: AtomicKind,
        space: Space,
        bytes: u32,
        (address, offset): (Operand, i64),
        [b, c]: [Operand; 2],
        high: Option<HighHalf>,
    ) -> Outcome {
        let width = match address {
            Operand::Reg(reg) => self.code.kernel.width(reg),
            Operand::Imm(_) => Width::B64,
        };
        let value = Width::holding(bytes * 8);
        self.widen_operand(0, address, width);
        self.widen_operand(1, b, value);
        self.widen_operand(2, c, value);
        let profile = self.code.profile;
        let is_plain = high.is_none() && kind != AtomicKind::Arrive && self.races.is_none() && self.observers.is_none();
        let (mut received, mut received_high) = (Vec::new(), Vec::new());
        let mut left = self.active.mask;
        loop {
            if is_plain {
                left = self.plain_atomics(left, kind, (space, bytes), (width, offset));
            }
            let Some(lane) = left.first_lane() else { break };
            left.remove(lane);
            let address = self.wide[0][lane].wrapping_add(offset as u64) & width.mask();
            // The race check sees one access, the write.
            let races = self.races.take();
            let old = self.read_lane(space, lane, address, bytes);
            let old_high = high.map(|_| self.read_upper_half(space, lane, address)).transpose();
            self.races = races;
            let (old, old_high) = (old?, old_high?);
            let found = Self::resolve(space, address).0;
            let kind = in_space(kind, found);
            let [value, swapped] = [1, 2].map(|operand| self.wide[operand][lane]);
            let mut new = new_value(&profile, (kind, found), bytes * 8, [old, value, swapped]);
            if let (Some(high), Some(old_high)) = (high, old_high) {
                let value = |operand| self.files.lane(operand, Width::B64, lane, self.geometry);
                let (b_high, c_high) = (value(high.b), value(high.c));
                let mut new_high = combine(&profile, kind, 64, old_high, b_high, c_high);
                // Both halves are as compared, or neither is swapped.
                if kind == AtomicKind::CompareAndSwap && (old, old_high) != (self.wide[1][lane], b_high) {
                    (new, new_high) = (old, old_high);
                }
                let upper = address.wrapping_add(8) & width.mask();
                self.write_lane(space, lane, upper, 8, new_high, Atomicity::Atomic)?;
                if let Some(place) = self.place_of(space, lane, upper)
                    && let Some(shadow) = self.observers.as_mut().and_then(|observers| observers.shadow.as_mut())
                {
                    shadow.atomic(lane, place, (kind, 8), (high.b, b_high), (old_high, new_high));
                }
                self.atomic_changed |= old_high != new_high;
                received_high.push((lane, old_high));
            }
            self.write_lane(space, lane, address, bytes, new, Atomicity::Atomic)?;
            self.observe_atomic(lane, kind, [old, value, new]);
            self.atomic_changed |= old != new;
            // What waits for the phase is ordered behind what arrived in it.
            if kind == AtomicKind::Arrive
                && (old ^ new) & arrival::PHASE != 0
                && let Some(races) = &mut self.races
            {
                races.barrier(lane / self.threads);
            }
            if let Some(place) = self.place_of(space, lane, address)
                && let Some(shadow) = self.observers.as_mut().and_then(|observers| observers.shadow.as_mut())
            {
                let old = shadow.atomic(lane, place, (kind, bytes), (b, self.wide[1][lane]), (old, new));
                received.push((lane, old));
            }
            self.wide[3][lane] = old;
        }
        if let Some(d) = d {
            with_lane!(value, T => {
                let mut out = T::file_mut(&mut self.files).acquire();
                for lane in self.active.mask.lanes() {
                    out.0[lane] = T::of(self.wide[3][lane]);
                }
                self.set_column::<T>(d, out);
            });
            if let Some(shadow) = self.observers.as_mut().and_then(|observers| observers.shadow.as_mut()) {
                received.into_iter().for_each(|(lane, old)| shadow.put(d, lane, self.geometry.lanes, old));
            }
        }
        if let Some(d) = high.and_then(|high| high.d) {
            self.write_wide::<u64>(d, received_high);
        }
        Ok(())
    }

    /// An atomic of which nothing is observed, of these lanes up to one whose access is in another space than the first one's, or
    /// may not be made. Returns the lanes that are left.
    fn plain_atomics(&mut self, lanes: Mask, kind: AtomicKind, access: (Space, u32), address: (Width, i64)) -> Mask {
        let Some(first) = lanes.first_lane() else { return lanes };
        let place = self.wide[0][first].wrapping_add(address.1 as u64) & address.0.mask();
        let found = Self::resolve(access.0, place).0;
        let (profile, bits) = (self.code.profile, access.1 * 8);
        // The most frequent ones have loops of their own.
        match in_space(kind, found) {
            AtomicKind::Int(IntOp::Add) => {
                let mask = u64::MAX >> (64 - bits);
                self.each_plainly(lanes, (access, found), address, |[old, b, _]| old.wrapping_add(b) & mask)
            }
            AtomicKind::Float { operation, lanes: 1 } if operation.format == Format::F32 => {
                let sum = |[old, b, _]: [u64; 3]| operation.evaluate_sum(&profile, [old, b]).bits;
                self.each_plainly(lanes, (access, found), address, sum)
            }
            kind => self.each_plainly(lanes, (access, found), address, |bits_of| {
                new_value(&profile, (kind, found), bits, bits_of)
            }),
        }
    }
    /// The same by a function of what is there and the two operands, in one space.
    #[inline(never)]
    fn each_plainly(
        &mut self,
        lanes: Mask,
        ((space, bytes), wanted): ((Space, u32), Space),
        (width, offset): (Width, i64),
        new: impl Fn([u64; 3]) -> u64,
    ) -> Mask {
        let shared_bytes = self.shared_bytes();
        let Self { global, shared, shared_words, threads, wide, .. } = self;
        let [addresses, operands, swapped, received, ..] = &mut wide[..] else { return lanes };
        let (address_mask, size) = (width.mask(), u64::from(bytes));
        let mut changed = false;
        for (place, mut word) in lanes.words().enumerate() {
            while word != 0 {
                let lane = place * 64 + word.trailing_zeros() as usize;
                word &= word - 1;
                let (found, address) = Self::resolve(space, addresses[lane].wrapping_add(offset as u64) & address_mask);
                let inside = match found {
                    _ if found != wanted || address & (size - 1) != 0 => None,
                    Space::Shared if address < shared_bytes && shared_bytes - address >= size => {
                        Some((&mut shared[lane / *threads * *shared_words..], address))
                    }
                    Space::Global => match global.locate(address, size) {
                        Some((segment, at)) if global.layout.segments[segment].is_writable() => {
                            match &mut global.words[segment] {
                                SegmentWords::Exclusive(words) => Some((&mut **words, at)),
                                _ => None,
                            }
                        }
                        _ => None,
                    },
                    _ => None,
                };
                let Some((words, at)) = inside else {
                    self.atomic_changed |= changed;
                    return lanes.without(Mask::range(0, lane));
                };
                let old = read_element(|index| words[index], at, bytes);
                let new = new([old, operands[lane], swapped[lane]]);
                write_element(words, at, bytes, new);
                changed |= old != new;
                received[lane] = old;
            }
        }
        self.atomic_changed |= changed;
        Mask::default()
    }

    /// The upper half of 16 bytes, which are aligned to their size.
    fn read_upper_half(&mut self, space: Space, lane: usize, address: u64) -> Outcome<u64> {
        if Self::resolve(space, address).1 & 15 != 0 {
            return Err(Self::misaligned(lane, address, 16));
        }
        self.read_lane(space, lane, address.wrapping_add(8), 8)
    }
}

/// Shared memory keeps subnormals.
fn in_space(mut kind: AtomicKind, space: Space) -> AtomicKind {
    if let (AtomicKind::Float { operation, .. }, Space::Shared) = (&mut kind, space) {
        operation.flush = false;
    }
    kind
}

/// The NaN that a sum of f64 in global memory becomes: the operand, or else what was there, neither made quiet (measured on sm_90).
/// In shared memory the sum is an instruction, whose second operand is what was there.
fn double_nan(kind: AtomicKind, space: Space, old: u64, b: u64) -> Option<u64> {
    let AtomicKind::Float { operation, .. } = kind else { return None };
    let format = operation.format;
    if format != Format::F64 {
        return None;
    }
    let [first, second] = if space == Space::Shared { [old, b] } else { [b, old] };
    let nan = [first, second].into_iter().find(|bits| format.is_nan(*bits))?;
    Some(if space == Space::Shared { nan | format.quiet_bit() } else { nan })
}

/// What is in memory afterwards, of an atomic as it is in a space.
fn new_value(profile: &Profile, (kind, space): (AtomicKind, Space), bits: u32, [old, b, c]: [u64; 3]) -> u64 {
    double_nan(kind, space, old, b).unwrap_or_else(|| combine(profile, kind, bits, old, b, c))
}

/// The same where no rule for NaNs takes precedence.
fn combine(profile: &Profile, kind: AtomicKind, bits: u32, old: u64, b: u64, c: u64) -> u64 {
    match kind {
        AtomicKind::Int(op) => int_op(op, bits, [old, b, 0, 0]),
        AtomicKind::Float { operation, lanes } => {
            by_component(bits / lanes.max(1), lanes, |at| operation.evaluate(profile, &[at(old), at(b)]).bits)
        }
        AtomicKind::FloatMinMax { max, format, lanes } => by_component(bits / lanes.max(1), lanes, |at| {
            let op = MinMax { format, max, flush: false, nan: false, xorsign_abs: false };
            min_max(profile, op, [at(old), at(b)])
        }),
        AtomicKind::Exchange => b,
        AtomicKind::Arrive => arrival::arrived(old, b),
        AtomicKind::CompareAndSwap => {
            if old == b {
                c
            } else {
                old
            }
        }
        AtomicKind::Increment => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        AtomicKind::Decrement => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
    }
}

/// Each component on its own, the first in the low bits.
fn by_component(bits: u32, lanes: u32, f: impl Fn(&dyn Fn(u64) -> u64) -> u64) -> u64 {
    if lanes == 1 {
        return f(&|value| value);
    }
    let mask = u64::MAX >> (64 - bits);
    (0..lanes).fold(0, |all, lane| {
        let shift = lane * bits;
        all | (f(&|value| value >> shift & mask) & mask) << shift
    })
}
