//! The vector kernels of f16 and bf16 against SoftFloat alone: none of the pipeline's code takes part.
//!
//! SoftFloat has f16, but not bf16. There its f32 is asked to cut the exact result (toward zero) and whether it was
//! inexact. A bf16 is the upper half of an f32, subnormals included: the upper half of what is left is the bf16 toward
//! zero, and the lower half, with whether more was cut off, says on which side of half a place the exact result lies.
//! That is all that a rounding asks for; nothing is rounded twice.

use roundonce_arith::batch::{Batch, Level, Source};
use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding};
use roundonce_oracle::softfloat::{self, Call};
use roundonce_oracle::{Direction, INEXACT, Layout, UNDERFLOW, Verdict, rectified, saturated};

use crate::common::{direction, generator, layout};

/// What the judge says without and with flushing, before the clamp, NaNs made canonical. bf16 is never flushed.
fn judge(call: Call, operation: &Operation, operands: [u64; 3]) -> [u64; 2] {
    let to = layout(operation.format);
    let direction = direction(operation.rounding);
    if operation.format == Format::BF16 {
        return [bf16(call, direction, operands); 2];
    }
    let ask = |operands| {
        let verdict = softfloat::judge(call, to, direction, false, operands);
        if to.is_nan(verdict.bits) { Verdict { bits: to.magnitude(), ..verdict } } else { verdict }
    };
    let flush = |bits: u64| if bits & to.magnitude() < to.smallest_normal() { bits & to.sign() } else { bits };
    let kept = ask(operands);
    // `map` over an array would not be inlined.
    let [a, b, c] = operands;
    let zeroed = [flush(a), flush(b), flush(c)];
    let flushed = if zeroed == operands { kept } else { ask(zeroed) };
    // Tiny after rounding: inexact, which the flag says, or subnormal.
    let tiny = flushed.flags & UNDERFLOW != 0;
    [kept.bits, if tiny { flushed.bits & to.sign() } else { flush(flushed.bits) }]
}

fn bf16(call: Call, direction: Direction, [a, b, c]: [u64; 3]) -> u64 {
    let operands = [a << 16, b << 16, c << 16];
    // The sign of a zero sum depends on the direction; nothing else of a zero or an infinite result does.
    let cut = softfloat::judge(call, Layout::F32, Direction::Zero, false, operands);
    if Layout::F32.is_nan(cut.bits) {
        return Layout::BF16.magnitude();
    }
    if cut.bits & Layout::F32.magnitude() == 0 && cut.flags & INEXACT == 0 {
        return softfloat::judge(call, Layout::F32, direction, false, operands).bits >> 16;
    }
    let (kept, rest, more) = (cut.bits >> 16, cut.bits & 0xffff, cut.flags & INEXACT != 0);
    let negative = kept & Layout::BF16.sign() != 0;
    let up = match direction {
        Direction::Nearest => rest > 0x8000 || rest == 0x8000 && (more || kept & 1 == 1),
        Direction::Zero => false,
        Direction::Down => negative && (rest != 0 || more),
        Direction::Up => !negative && (rest != 0 || more),
    };
    kept + u64::from(up)
}

/// A mode of an operation, its kernels, and what the judge says.
struct Mode {
    operation: Operation,
    batches: Vec<Batch>,
    expected: Vec<u16>,
}

/// Every mode of an operation that has a kernel: flushed or not, with every clamp.
fn modes(operation: Operation) -> Vec<Mode> {
    let levels: Vec<Level> =
        Level::ALL.into_iter().filter(|level| *level != Level::Portable && level.is_available()).collect();
    let mut modes = Vec::new();
    for flush in [false, true] {
        for clamp in [Clamp::None, Clamp::Unit, Clamp::Relu] {
            let operation = Operation { flush, clamp, ..operation };
            let batches = levels.iter().map(|level| (level, Batch::at_level(operation, &Profile::NVIDIA, *level)));
            let batches: Vec<Batch> =
                batches.filter(|(level, batch)| batch.level() == **level).map(|(_, batch)| batch).collect();
            if !batches.is_empty() {
                modes.push(Mode { operation, batches, expected: Vec::new() });
            }
        }
    }
    modes
}

impl Mode {
    fn expect(&mut self, verdicts: &[[u64; 2]]) {
        let Operation { format, flush, clamp, .. } = self.operation;
        let to = layout(format);
        self.expected.clear();
        self.expected.extend(verdicts.iter().map(|verdict| {
            let bits = verdict[usize::from(flush)];
            let clamped = match clamp {
                Clamp::None => bits,
                Clamp::Unit => saturated(to, bits),
                Clamp::Relu => rectified(to, bits),
            };
            clamped as u16
        }));
    }

    /// Says the first lanes that differ, and returns how many do.
    fn compare(&self, operands: &[Source<'_, u16>], out: &mut [u16]) -> u64 {
        let mut mismatches = 0;
        for batch in &self.batches {
            batch.run(operands, out);
            if out[..] == self.expected[..] {
                continue;
            }
            for (lane, (found, expected)) in out.iter().zip(&self.expected).enumerate() {
                if found != expected {
                    mismatches += 1;
                    if mismatches <= 3 {
                        let operands: Vec<u16> = operands.iter().map(|source| value(source, lane)).collect();
                        let (operation, level) = (batch.operation(), batch.level());
                        eprintln!("{level:?} {operation:?} {operands:#x?}: {found:#x}, SoftFloat {expected:#x}");
                    }
                }
            }
        }
        mismatches
    }
}

fn value(source: &Source<'_, u16>, lane: usize) -> u16 {
    match source {
        Source::Slice(all) => all[lane],
        Source::Uniform(value) => *value,
        Source::Out => unreachable!("no operand is the output"),
    }
}

const LANES: usize = 1 << 16;

/// `count` pairs of an addition (and of the subtraction, as the sum with the opposite) or of a multiplication from pair
/// number `begin` on, both multiples of 2^16. All pairs of one first operand follow each other; the first operands are
/// scattered, so that less than all 2^32 pairs are a sample of all exponents.
pub(crate) fn pairs(operation: Operation, begin: u64, count: u64) -> u64 {
    let every: Vec<u16> = (0..=u16::MAX).collect();
    let (mut verdicts, mut out) = (vec![[0; 2]; LANES], vec![0; LANES]);
    let mut adding = modes(operation);
    let mut subtracting = match operation.op {
        ArithOp::Add => modes(Operation { negate_addend: true, ..operation }),
        _ => Vec::new(),
    };
    let mut mismatches = 0;
    for row in (begin >> 16)..(begin + count) >> 16 {
        // By an odd number: each once.
        let first = (row * 40_503) & 0xffff;
        for (slot, second) in verdicts.iter_mut().zip(0..) {
            *slot = match operation.op {
                ArithOp::Add => judge(Call::Add, &operation, [first, 0, second]),
                _ => judge(Call::Mul, &operation, [first, second, 0]),
            };
        }
        let operands = [Source::Uniform(first as u16), Source::Slice(&every)];
        for mode in &mut adding {
            mode.expect(&verdicts);
            mismatches += mode.compare(&operands, &mut out);
        }
        let (positive, negative) = verdicts.split_at_mut(LANES / 2);
        positive.swap_with_slice(negative);
        for mode in &mut subtracting {
            mode.expect(&verdicts);
            mismatches += mode.compare(&operands, &mut out);
        }
    }
    mismatches
}

/// `count` generated triples of a multiply-add.
pub(crate) fn triples(operation: Operation, seed: u64, count: u64) -> u64 {
    let mut generator = generator(seed, &operation);
    let mut modes = modes(operation);
    let mut columns = [const { Vec::new() }; 3];
    let mut mismatches = 0;
    let mut left = count as usize;
    while left > 0 {
        let lanes = LANES.min(left);
        left -= lanes;
        columns.iter_mut().for_each(Vec::clear);
        let mut verdicts = Vec::with_capacity(lanes);
        for _ in 0..lanes {
            let triple = generator.triple();
            verdicts.push(judge(Call::MulAdd, &operation, triple));
            for (column, bits) in columns.iter_mut().zip(triple) {
                column.push(bits as u16);
            }
        }
        let operands = [0, 1, 2].map(|place: usize| Source::Slice(&columns[place][..]));
        let mut out = vec![0; lanes];
        for mode in &mut modes {
            mode.expect(&verdicts);
            mismatches += mode.compare(&operands, &mut out);
        }
    }
    mismatches
}

/// The operations that `pairs` is about.
pub(crate) fn of_pairs(format: Format) -> [Operation; 2] {
    [ArithOp::Add, ArithOp::Mul].map(|op| Operation::new(op, format, Rounding::NearestEven))
}
