//! Rounding: the only code in the project that rounds an exact value.

use crate::wide::{Sum, Wide};
use crate::{FiniteNumber, Flags, Format, Outcome, Tininess, Underflow};

/// A rounding direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rounding {
    /// To nearest, ties to even: `.rn`, `.RN`, RTE.
    NearestEven,
    /// Toward zero: `.rz`, `.RZ`, RTZ.
    TowardZero,
    /// Toward −infinity: `.rm`, `.RM`, RTN.
    Down,
    /// Toward +infinity: `.rp`, `.RP`, RTP.
    Up,
}

impl Rounding {
    /// The four directions, in the order in which the manuals list them.
    pub const ALL: [Rounding; 4] = [Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up];

    /// PTX's two letters: `rn`, `rz`, `rm`, `rp`.
    pub const fn name(self) -> &'static str {
        match self {
            Rounding::NearestEven => "rn",
            Rounding::TowardZero => "rz",
            Rounding::Down => "rm",
            Rounding::Up => "rp",
        }
    }
}

/// An exact value, not rounded yet: ±significand × 2^quantum. The lowest bit of the significand may be a
/// sticky one (it stands for any nonzero amount below it) if it lies at least two positions below the rounding position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ExactValue<W> {
    pub(crate) negative: bool,
    pub(crate) quantum: i32,
    pub(crate) significand: W,
}

/// A rounded value, and whether it is tiny.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rounded {
    pub(crate) outcome: Outcome,
    /// The exact value is below the smallest normal number.
    pub(crate) tiny_before: bool,
    /// Rounded with an unbounded exponent range it is still below.
    pub(crate) tiny_after: bool,
}

impl Rounded {
    /// Whether the criteria of tininess differ: the exact value is below the smallest normal number, the result is not.
    #[inline(always)]
    pub(crate) const fn is_contested(&self, format: Format) -> bool {
        self.tiny_before && self.outcome.bits & format.magnitude_mask() >= format.smallest_normal()
    }
}

/// Whether to round up in magnitude. `rest` is what was cut off, `half` half a unit in the last place, on the same scale, on
/// which it is even.
#[inline(always)]
fn round_up<W: Wide>(rounding: Rounding, negative: bool, odd: bool, rest: W, half: W) -> bool {
    match rounding {
        // A tie rounds up if the last bit is odd.
        Rounding::NearestEven => rest | W::from(odd as u64) > half,
        Rounding::TowardZero => false,
        Rounding::Down => negative && rest != W::ZERO,
        Rounding::Up => !negative && rest != W::ZERO,
    }
}

/// Rounds the significand to its bits from position `drop` (at least 1) up. Returns them and whether the result is
/// inexact.
#[inline(always)]
fn round_significand<W: Wide>(rounding: Rounding, exact: ExactValue<W>, drop: u32) -> (u64, bool) {
    if drop >= W::BITS {
        // All of it is below half a unit: 2^(BITS-1) could reach half only if the leading bit were set, and `Wide`
        // keeps that one clear.
        let lost = exact.significand != W::ZERO;
        let rest = W::from(lost as u64);
        return (round_up(rounding, exact.negative, false, rest, W::from(2)) as u64, lost);
    }
    let kept = (exact.significand >> drop).low();
    let rest = exact.significand & ((W::from(1) << drop) - W::from(1));
    let up = round_up(rounding, exact.negative, kept & 1 == 1, rest << 1, W::from(1) << drop);
    (kept + up as u64, rest != W::ZERO)
}

/// Rounds once, with gradual underflow. The significand must not be zero, its top bit must be clear.
#[inline(always)]
pub(crate) fn round<W: Wide>(format: Format, rounding: Rounding, exact: ExactValue<W>) -> Rounded {
    let precision = format.precision() as i32;
    let length = (W::BITS - exact.significand.leading_zeros()) as i32;
    let exponent = exact.quantum + length - 1;
    let tiny_before = exponent < format.emin();
    let quantum = if tiny_before { format.min_quantum() } else { exponent + 1 - precision };
    let drop = quantum - exact.quantum;
    let (kept, inexact) = if drop > 0 {
        round_significand(rounding, exact, drop as u32)
    } else {
        ((exact.significand << -drop as u32).low(), false)
    };
    // A carry out of the significand correctly increments the exponent field. So does the hidden bit of a normal number;
    // the exponent field is therefore written one too small.
    let field = (quantum - format.min_quantum()) as i64;
    // Of a number that is much too large the field is cut, and looked at alone.
    let magnitude = ((field << format.frac_bits()) as u64).wrapping_add(kept);
    let sign = if exact.negative { format.sign_mask() } else { 0 };

    if field >= format.exp_max() as i64 || magnitude >= format.infinity() {
        let to_infinity = match rounding {
            Rounding::NearestEven => true,
            Rounding::TowardZero => false,
            Rounding::Down => exact.negative,
            Rounding::Up => !exact.negative,
        };
        let magnitude = if to_infinity { format.infinity() } else { format.largest_finite() };
        let flags = Flags::OVERFLOW.union(Flags::INEXACT);
        return Rounded { outcome: Outcome { bits: sign | magnitude, flags }, tiny_before: false, tiny_after: false };
    }
    let tiny_after = tiny_before && {
        // Only a value just below the smallest normal can leave the range, by a carry at full precision.
        let drop = length - precision;
        exponent + 1 != format.emin()
            || drop <= 0
            || round_significand(rounding, exact, drop as u32).0 >> precision == 0
    };
    Rounded {
        outcome: Outcome { bits: sign | magnitude, flags: Flags::INEXACT.when(inexact) },
        tiny_before,
        tiny_after,
    }
}

/// Rounds ±sum × 2^quantum if it is certainly normal before and after; `None` if it may not be, or the sum is zero or
/// short. `sign` is the result's sign bit.
#[inline(always)]
pub(crate) fn round_normal<W: Wide>(
    format: Format,
    rounding: Rounding,
    sign: u64,
    quantum: i64,
    sum: Sum<W>,
) -> Option<Outcome> {
    let (leading, kept, rest) = sum.significand.split(format.precision())?;
    let rest = rest | W::from(sum.sticky as u64);
    let up = round_up(rounding, sign != 0, kept & 1 == 1, rest, W::from(1) << (W::BITS - 1));
    // As in `round`: one too small, which the hidden bit corrects; a carry may add one more.
    let field = (quantum + leading as i64 - i64::from(format.frac_bits() as i32 + format.min_quantum())) as u64;
    if field >= format.exp_max() - 2 {
        return None;
    }
    let bits = sign | ((field << format.frac_bits()) + kept + up as u64);
    Some(Outcome { bits, flags: Flags::INEXACT.when(rest != W::ZERO) })
}

/// An exact number, for conversions and literals: ±significand × 2^quantum, or slightly more in magnitude if `sticky`.
///
/// ```
/// use roundonce_arith::{ExactNumber, Format, Rounding, Tininess};
/// // 2^24 + 1 has no f32.
/// let number = ExactNumber { negative: false, quantum: 0, significand: (1 << 24) + 1, sticky: false };
/// assert_eq!(number.round(Format::F32, Rounding::Up).bits, 0x4b80_0001);
///
/// // 2^-126 - 2^-150
/// let number = ExactNumber { negative: false, quantum: -150, significand: 0xff_ffff, sticky: false };
/// let rounded = |flush| number.round_and_flush(Format::F32, Rounding::NearestEven, flush).bits;
/// assert_eq!(rounded(None), 0x0080_0000);
/// assert_eq!(rounded(Some(Tininess::Result)), 0x0080_0000);
/// assert_eq!(rounded(Some(Tininess::AfterRounding)), 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExactNumber {
    /// Whether it is below zero; the sign of a zero.
    pub negative: bool,
    /// The exponent of the significand's lowest bit.
    pub quantum: i32,
    /// The significand. With `sticky` it must have at least two bits more than the format that it is rounded to.
    pub significand: u128,
    /// Something nonzero follows the significand's lowest bit.
    pub sticky: bool,
}

impl From<FiniteNumber> for ExactNumber {
    fn from(FiniteNumber { negative, quantum, significand }: FiniteNumber) -> ExactNumber {
        ExactNumber { negative, quantum, significand: significand.into(), sticky: false }
    }
}

impl ExactNumber {
    /// Rounds it once; subnormal results are kept.
    pub fn round(self, format: Format, rounding: Rounding) -> Outcome {
        self.round_and_flush(format, rounding, None)
    }

    /// Rounds it once; a result that is tiny by the criterion `flush` becomes zero of its sign.
    pub fn round_and_flush(self, format: Format, rounding: Rounding, flush: Option<Tininess>) -> Outcome {
        let ExactNumber { negative, quantum, significand, sticky } = self;
        if significand == 0 {
            let sign = if negative { format.sign_mask() } else { 0 };
            return Outcome { bits: sign, flags: Flags::NONE };
        }
        // Aligns the leading bit to position 125, so that `round`'s precondition holds for every caller.
        let up = significand.leading_zeros() as i32 - 2;
        let (significand, quantum) = if up >= 0 {
            (significand << up, quantum - up)
        } else {
            (significand.shift_right_sticky(-up as u32), quantum - up)
        };
        let exact = ExactValue { negative, quantum, significand: significand | sticky as u128 };
        handle_underflow(format, Underflow::AfterRounding, flush, round(format, rounding, exact))
    }

    /// Rounds it once to nearest even to 64 bits at a quantum that is at least `min_quantum`: the significand, its
    /// quantum, and whether it is inexact. A significand below 2^63 has the least quantum.
    pub(crate) fn round_to_64_bits(self, min_quantum: i32) -> (u64, i32, bool) {
        let ExactNumber { significand, sticky, .. } = self;
        let length = 128 - significand.leading_zeros() as i32;
        let quantum = (self.quantum + length - 64).max(min_quantum);
        let drop = quantum - self.quantum;
        if drop <= 0 {
            return ((significand << -drop) as u64, quantum, sticky);
        }
        // Far below the least quantum, the rest counts as one bit.
        let significand = match drop - 127 {
            ..=0 => significand,
            by @ 1..=127 => significand >> by | u128::from(significand << (128 - by) != 0),
            _ => u128::from(significand != 0),
        };
        let drop = drop.min(127) as u32;
        let rest = (significand & ((1 << drop) - 1)) << 1 | u128::from(sticky);
        let kept = significand >> drop;
        let up = round_up(Rounding::NearestEven, self.negative, kept & 1 == 1, rest, 1 << drop);
        let rounded = kept + u128::from(up);
        let carry = (rounded >> 64) as u32;
        ((rounded >> carry) as u64, quantum + carry as i32, rest != 0)
    }

    /// Rounds it once as if the format's exponents had no upper end: the magnitude's bits, above those of the largest
    /// finite number if it does not fit.
    pub(crate) fn round_unbounded(self, format: Format, rounding: Rounding) -> u64 {
        // The number is scaled as the smallest quantum is.
        let wide = format.with_wider_exponent();
        let quantum = self.quantum + wide.min_quantum() - format.min_quantum();
        ExactNumber { quantum, ..self }.round(wide, rounding).bits & wide.magnitude_mask()
    }

    /// The exponent of the power of two that its magnitude is rounded to: the one above it, or the one below. Of a number
    /// that is not zero.
    pub(crate) const fn power_of_two(self, up: bool) -> i32 {
        let below = self.quantum + 127 - self.significand.leading_zeros() as i32;
        let is_exact = self.significand.is_power_of_two() && !self.sticky;
        below + (up && !is_exact) as i32
    }

    /// The number with `bits` of `count` bits added to its magnitude below the last bit that the format keeps of it.
    pub(crate) fn plus_random(self, format: Format, (bits, count): (u64, u32)) -> ExactNumber {
        let leading = self.quantum + 127 - self.significand.leading_zeros() as i32;
        let last = (leading - format.frac_bits() as i32).max(format.min_quantum());
        let random_quantum = last - count as i32;
        // Both at the lower of the two quanta. A number far below the random bits, and these, are truncated together.
        let up = self.quantum - random_quantum;
        let (quantum, significand) = if up >= 0 {
            (random_quantum, (self.significand << up) + u128::from(bits))
        } else {
            (self.quantum, self.significand + (u128::from(bits) << (-up).min(64)))
        };
        ExactNumber { quantum, significand, ..self }
    }
}

/// Steps 8 and 9 after the rounding: raises underflow, and flushes a result that is tiny by the criterion `flush`.
#[inline(always)]
pub(crate) fn handle_underflow(
    format: Format,
    underflow: Underflow,
    flush: Option<Tininess>,
    rounded: Rounded,
) -> Outcome {
    let Rounded { mut outcome, tiny_before, tiny_after } = rounded;
    if tiny_before {
        let flushed = match flush {
            None => false,
            Some(Tininess::Result) => outcome.bits & format.magnitude_mask() < format.smallest_normal(),
            Some(Tininess::AfterRounding) => tiny_after,
            Some(Tininess::BeforeRounding) => true,
        };
        let tiny = match underflow {
            Underflow::AfterRounding => tiny_after,
            Underflow::BeforeRounding => true,
        };
        if flushed {
            outcome.bits &= format.sign_mask();
            outcome.flags = outcome.flags.union(Flags::UNDERFLOW).union(Flags::INEXACT);
        } else {
            outcome.flags = outcome.flags.union(Flags::UNDERFLOW.when(tiny && outcome.flags.contains(Flags::INEXACT)));
        }
    }
    outcome
}
