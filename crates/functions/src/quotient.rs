//! Division, remainder and roots, each rounded once: an integer quotient or root with a sticky bit, then
//! [`ExactNumber::round`].

use std::hint::black_box;

use crate::flushed;
use roundonce_arith::{ExactNumber, FiniteNumber, Format, Profile, Rounding, Unpacked, unpack};

fn signed(format: Format, negative: bool, magnitude: u64) -> u64 {
    if negative { format.sign_mask() | magnitude } else { magnitude }
}

/// What the host rounds once, to nearest even: f32 and f64 whose exponents are in the middle half, so that no quotient
/// and no root is subnormal or infinite, whatever a program told the processor to do with those.
fn by_host(
    (format, rounding): (Format, Rounding),
    operands: &[u64],
    single: impl Fn() -> f32,
    double: impl Fn() -> f64,
) -> Option<u64> {
    if rounding != Rounding::NearestEven || !operands.iter().all(|&bits| is_moderate(format, bits)) {
        return None;
    }
    let result = match format {
        Format::F32 => single().to_bits().into(),
        Format::F64 => double().to_bits(),
        _ => return None,
    };
    host_rounds_to_nearest().then_some(result)
}

/// Whether a number's exponent is in the middle half of the format's, two away from its ends.
fn is_moderate(format: Format, bits: u64) -> bool {
    let exponent = (bits & format.magnitude_mask()) >> format.frac_bits();
    let quarter = 1 << (format.exp_bits() - 2);
    (quarter + 2..3 * quarter - 2).contains(&exponent)
}

/// Whether this thread's arithmetic rounds to nearest: a third lies nearer to the number above it, in magnitude.
fn host_rounds_to_nearest() -> bool {
    let third = |one: f32| (black_box(one) / black_box(3.0)).to_bits() & 0x7fff_ffff;
    third(1.0) == 0x3eaa_aaab && third(-1.0) == 0x3eaa_aaab
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// a / b, rounded once. With `flush` subnormal operands and results become zero of their sign.
///
/// ```
/// use roundonce_arith::{Format, Profile, Rounding};
/// use roundonce_functions::divide;
/// let third = divide(&Profile::NVIDIA, Format::F32, Rounding::NearestEven, false, 0x3f80_0000, 0x4040_0000);
/// assert_eq!(third, 0x3eaa_aaab);
/// ```
pub fn divide(profile: &Profile, format: Format, rounding: Rounding, flush: bool, a: u64, b: u64) -> u64 {
    let clean = |bits| flushed(format, flush, bits);
    let (a, b) = (clean(a), clean(b));
    let double = || f64::from_bits(a) / f64::from_bits(b);
    let result = by_host((format, rounding), &[a, b], || single(a) / single(b), double);
    result.unwrap_or_else(|| quotient(profile, format, rounding, flush, a, b))
}

fn quotient(profile: &Profile, format: Format, rounding: Rounding, flush: bool, a: u64, b: u64) -> u64 {
    let negative = format.is_negative(a) ^ format.is_negative(b);
    match (unpack(format, a), unpack(format, b)) {
        (Unpacked::Nan { .. }, _) | (_, Unpacked::Nan { .. }) => profile.nan_of_quotient(format, a, b),
        (Unpacked::Infinite { .. }, Unpacked::Infinite { .. }) | (Unpacked::Zero { .. }, Unpacked::Zero { .. }) => {
            profile.nan_result(format, None)
        }
        (Unpacked::Infinite { .. }, _) | (_, Unpacked::Zero { .. }) => signed(format, negative, format.infinity()),
        (Unpacked::Zero { .. }, _) | (_, Unpacked::Infinite { .. }) => signed(format, negative, 0),
        (Unpacked::Finite(x), Unpacked::Finite(y)) => {
            // The quotient of significands lies between 1/2 and 2: this shift leaves two bits below the last kept.
            let shift = format.precision() + 2;
            let dividend = (x.significand as u128) << shift;
            let divisor = y.significand as u128;
            let (quotient, rest) = (dividend / divisor, dividend % divisor);
            let quantum = x.quantum - y.quantum - shift as i32;
            let exact = ExactNumber { negative, quantum, significand: quotient, sticky: rest != 0 };
            exact.round_and_flush(format, rounding, flush.then_some(profile.tininess)).bits
        }
    }
}

/// a × 2^exponent, rounded once. With `flush` subnormal operands and results become zero of their sign.
///
/// ```
/// use roundonce_arith::{Format, Profile, Rounding};
/// use roundonce_functions::scale;
/// let tie = scale(&Profile::NVIDIA, Format::F32, Rounding::NearestEven, false, 0x3fc0_0000, -149);
/// assert_eq!(tie, 2); // 1.5 units of the smallest subnormal
/// ```
pub fn scale(profile: &Profile, format: Format, rounding: Rounding, flush: bool, a: u64, exponent: i32) -> u64 {
    let a = flushed(format, flush, a);
    match unpack(format, a) {
        Unpacked::Nan { .. } => profile.nan_result(format, Some(a)),
        Unpacked::Zero { .. } | Unpacked::Infinite { .. } => a,
        Unpacked::Finite(x) => {
            // Beyond this every number overflows, or is less than half of the smallest.
            let exponent = exponent.clamp(-8192, 8192);
            let scaled = ExactNumber { quantum: x.quantum + exponent, ..x.into() };
            scaled.round_and_flush(format, rounding, flush.then_some(profile.tininess)).bits
        }
    }
}

/// The remainder of a / b with the quotient toward zero, exact; the sign is the dividend's.
pub fn remainder(profile: &Profile, format: Format, a: u64, b: u64) -> u64 {
    let (a, b) = (a & format.mask(), b & format.mask());
    match (unpack(format, a), unpack(format, b)) {
        (Unpacked::Nan { .. }, _) | (_, Unpacked::Nan { .. }) => profile.nan_of_pair(format, a, b),
        (Unpacked::Infinite { .. }, _) | (_, Unpacked::Zero { .. }) => profile.nan_result(format, None),
        (Unpacked::Zero { .. }, _) | (_, Unpacked::Infinite { .. }) => a,
        (Unpacked::Finite(x), Unpacked::Finite(y)) => {
            if x.quantum < y.quantum {
                // The divisor is a multiple of the dividend's unit, and at least as large as it where it overflows.
                let shift = (y.quantum - x.quantum) as u32;
                let rest = if shift >= 64 {
                    x.significand as u128
                } else {
                    x.significand as u128 % ((y.significand as u128) << shift)
                };
                return exactly(format, x.negative, x.quantum, rest);
            }
            // Square and multiply would do; the exponents differ by at most 2,098.
            let divisor = y.significand as u128;
            let mut rest = x.significand as u128 % divisor;
            let mut left = (x.quantum - y.quantum) as u32;
            while left > 0 {
                let step = left.min(64);
                rest = (rest << step) % divisor;
                left -= step;
            }
            exactly(format, x.negative, y.quantum, rest)
        }
    }
}

/// A value that the format holds.
fn exactly(format: Format, negative: bool, quantum: i32, significand: u128) -> u64 {
    let exact = ExactNumber { negative, quantum, significand, sticky: false };
    exact.round(format, Rounding::TowardZero).bits
}

/// √a, rounded once. With `flush` a subnormal operand becomes zero of its sign (no result is subnormal).
///
/// ```
/// use roundonce_arith::{Format, Profile, Rounding};
/// use roundonce_functions::square_root;
/// let root = square_root(&Profile::NVIDIA, Format::F32, Rounding::Up, false, 0x4000_0000);
/// assert_eq!(root, 0x3fb5_04f4);
/// ```
pub fn square_root(profile: &Profile, format: Format, rounding: Rounding, flush: bool, a: u64) -> u64 {
    let a = flushed(format, flush, a);
    let is_positive = !format.is_negative(a);
    let host = || by_host((format, rounding), &[a], || single(a).sqrt(), || f64::from_bits(a).sqrt());
    is_positive.then(host).flatten().unwrap_or_else(|| root(profile, format, rounding, a))
}

fn root(profile: &Profile, format: Format, rounding: Rounding, a: u64) -> u64 {
    match unpack(format, a) {
        Unpacked::Nan { .. } => profile.nan_result(format, Some(a)),
        Unpacked::Zero { .. } | Unpacked::Infinite { negative: false } => a,
        Unpacked::Infinite { negative: true } | Unpacked::Finite(FiniteNumber { negative: true, .. }) => {
            profile.nan_result(format, None)
        }
        Unpacked::Finite(x) => {
            // An even quantum, and twice as many bits as the root needs: its own and two more.
            let shift = format.precision() + 6 + (x.quantum + format.precision() as i32).rem_euclid(2) as u32;
            let square = (x.significand as u128) << shift;
            let root = square.isqrt();
            let quantum = (x.quantum - shift as i32) / 2;
            let exact = ExactNumber { negative: false, quantum, significand: root, sticky: root * root != square };
            exact.round(format, rounding).bits
        }
    }
}

/// The f32 nearest to 1 / √a, a number in f32 above 0, where the host's f64 says it: root and quotient are each off by
/// half of a unit, so that what lies further from the middle between two f32 is on its side of it.
fn nearest_reciprocal_root(a: f32) -> Option<f32> {
    // By bits: comparing a signalling NaN or a subnormal, which a compiler may do first, would raise an exception.
    if !is_moderate(Format::F32, a.to_bits().into()) || a.is_sign_negative() {
        return None;
    }
    const MIDDLE: u64 = 1 << 28;
    let near = 1.0 / f64::from(a).sqrt();
    let below = near.to_bits() % (2 * MIDDLE);
    (below.abs_diff(MIDDLE) > 8 && host_rounds_to_nearest()).then_some(near as f32)
}

/// 1 / √a, rounded once.
pub fn reciprocal_square_root(profile: &Profile, format: Format, rounding: Rounding, flush: bool, a: u64) -> u64 {
    let a = flushed(format, flush, a);
    if let (Format::F32, Rounding::NearestEven, Some(root)) = (format, rounding, nearest_reciprocal_root(single(a))) {
        return root.to_bits().into();
    }
    reciprocal_root(profile, format, rounding, flush, a)
}

fn reciprocal_root(profile: &Profile, format: Format, rounding: Rounding, flush: bool, a: u64) -> u64 {
    match unpack(format, a) {
        Unpacked::Nan { .. } => profile.nan_result(format, Some(a)),
        Unpacked::Zero { negative } => signed(format, negative, format.infinity()),
        Unpacked::Infinite { negative: false } => 0,
        Unpacked::Infinite { negative: true } | Unpacked::Finite(FiniteNumber { negative: true, .. }) => {
            profile.nan_result(format, None)
        }
        Unpacked::Finite(x) => {
            // a = m × 2^(2k) with m below 2^(p+1): the largest r with r² × m ≤ 2^(2s) is 2^s / √m cut off.
            let odd = x.quantum.rem_euclid(2) as u32;
            let m = x.significand << odd;
            let s = (format.precision() * 3).div_ceil(2) + 4;
            let at_most = |r: u128| product_at_most(r, m, 2 * s);
            // The host's root is near; what is taken of it is only where to begin.
            let near = (2f64.powi(s as i32) / (m as f64).sqrt()) as u128;
            let margin = (near >> 50) + 2;
            let (mut low, mut high) = (near.saturating_sub(margin), near + margin);
            if !at_most(low) || at_most(high) {
                (low, high) = (0, (1 << s) + 1);
            }
            while high - low > 1 {
                let middle = (low + high) / 2;
                if at_most(middle) { low = middle } else { high = middle }
            }
            let exact = product_is(low, m, 2 * s);
            let quantum = -(x.quantum - odd as i32) / 2 - s as i32;
            let tiny = flush.then_some(profile.tininess);
            let root = ExactNumber { negative: false, quantum, significand: low, sticky: !exact };
            root.round_and_flush(format, rounding, tiny).bits
        }
    }
}

/// r² × m as three 64-bit digits and more, the lowest first.
fn square_times(r: u128, m: u64) -> [u64; 5] {
    let digits = |value: u128| [value as u64, (value >> 64) as u64];
    let mut square = [0u64; 4];
    for (i, &x) in digits(r).iter().enumerate() {
        let mut carry = 0u128;
        for (j, &y) in digits(r).iter().enumerate() {
            let sum = square[i + j] as u128 + x as u128 * y as u128 + carry;
            square[i + j] = sum as u64;
            carry = sum >> 64;
        }
        square[i + 2] = carry as u64;
    }
    let mut product = [0u64; 5];
    let mut carry = 0u128;
    for (place, digit) in square.into_iter().enumerate() {
        let sum = digit as u128 * m as u128 + carry;
        product[place] = sum as u64;
        carry = sum >> 64;
    }
    product[4] = carry as u64;
    product
}

fn power(exponent: u32) -> [u64; 5] {
    let mut digits = [0; 5];
    digits[exponent as usize / 64] = 1 << (exponent % 64);
    digits
}

fn product_at_most(r: u128, m: u64, exponent: u32) -> bool {
    if r < 1 << 48 && m < 1 << 31 && exponent < 128 {
        return r * r * u128::from(m) <= 1 << exponent;
    }
    square_times(r, m).iter().rev().le(power(exponent).iter().rev())
}

fn product_is(r: u128, m: u64, exponent: u32) -> bool {
    square_times(r, m) == power(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host's division and root are correctly rounded to nearest, with which integers agree.
    #[test]
    fn as_the_host_rounds() {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..200_000 {
            let (x, y) = (random(), random());
            let (a, b) = (x as u32, y as u32);
            let (fa, fb) = (f32::from_bits(a), f32::from_bits(b));
            let same = |got: u64, host: f32| {
                assert!(if host.is_nan() { got == 0x7fff_ffff } else { got == host.to_bits() as u64 }, "{a:x} {b:x}");
            };
            let (n, even) = (&Profile::NVIDIA, Rounding::NearestEven);
            same(divide(n, Format::F32, even, false, a.into(), b.into()), fa / fb);
            same(quotient(n, Format::F32, even, false, a.into(), b.into()), fa / fb);
            same(square_root(n, Format::F32, even, false, a.into()), fa.sqrt());
            same(root(n, Format::F32, even, a.into()), fa.sqrt());
            let flushed = |a: u32| flushed(Format::F32, true, a.into());
            let in_integers = quotient(n, Format::F32, even, true, flushed(a), flushed(b));
            assert_eq!(divide(n, Format::F32, even, true, a.into(), b.into()), in_integers, "{a:x} {b:x}");
            same(remainder(n, Format::F32, a.into(), b.into()), fa % fb);
            let (dx, dy) = (f64::from_bits(x), f64::from_bits(y));
            if !dx.is_nan() && !dy.is_nan() {
                assert_eq!(quotient(n, Format::F64, even, false, x, y), (dx / dy).to_bits());
                assert_eq!(remainder(n, Format::F64, x, y), (dx % dy).to_bits());
            }
            if dx >= 0.0 {
                assert_eq!(root(n, Format::F64, even, x), dx.sqrt().to_bits());
            }
        }
    }

    /// Exact where it is; ties, overflow and flushes at the edges.
    /// Of two NaNs the dividend's stays in f64, as in the routine of ptxas; the product's rule is another one.
    #[test]
    fn nans_of_quotients() {
        let (a, b, one) = (0xfff0_0000_0000_0aaa_u64, 0x7ff8_0000_0000_0bbb_u64, 0x3ff0_0000_0000_0000_u64);
        let of = |profile: &Profile, a, b| divide(profile, Format::F64, Rounding::NearestEven, false, a, b);
        let nvidia = Profile::NVIDIA;
        assert_eq!(of(&nvidia, a, b), 0xfff8_0000_0000_0aaa);
        assert_eq!((of(&nvidia, b, a), of(&nvidia, one, a), of(&nvidia, b, one)), (b, 0xfff8_0000_0000_0aaa, b));
        assert_eq!(of(&nvidia, 0, 0), 0xfff8_0000_0000_0000);
        assert_eq!(of(&Profile { div_nan_f64: nvidia.nan_f64, ..nvidia }, a, b), b);
        let single = divide(&nvidia, Format::F32, Rounding::NearestEven, false, 0x7fc0_0aaa, 0xffc0_0bbb);
        assert_eq!(single, 0x7fff_ffff);
    }

    #[test]
    fn scaled() {
        let f32 = |rounding, flush, a, exponent| scale(&Profile::NVIDIA, Format::F32, rounding, flush, a, exponent);
        let even = Rounding::NearestEven;
        assert_eq!(f32(even, false, 0x4040_0000, 5), 0x42c0_0000);
        assert_eq!(f32(even, false, 0x0000_0001, 149), 0x3f80_0000);
        assert_eq!(f32(even, false, 0xbf80_0000, -150), 0x8000_0000);
        assert_eq!(f32(Rounding::Down, false, 0xbf80_0000, i32::MIN), 0x8000_0001);
        assert_eq!(f32(even, false, 0x3f80_0000, i32::MAX), 0x7f80_0000);
        assert_eq!(f32(Rounding::TowardZero, false, 0x3f80_0000, 128), 0x7f7f_ffff);
        assert_eq!(f32(even, true, 0x3f80_0000, -127), 0);
        assert_eq!(f32(even, true, 0x8000_0001, 149), 0x8000_0000);
        assert_eq!(f32(even, false, 0x7fc1_2345, 1), 0x7fff_ffff);
        assert_eq!(f32(even, false, 0xff80_0000, -300), 0xff80_0000);
    }

    /// Direction by direction, a root brackets its square.
    #[test]
    fn roots_bracket() {
        for a in (0x0080_0000u64..0x7f80_0000).step_by(7_654_321) {
            let root = |rounding| square_root(&Profile::NVIDIA, Format::F32, rounding, false, a);
            let (down, up) = (root(Rounding::Down), root(Rounding::Up));
            assert!(up - down <= 1 && root(Rounding::TowardZero) == down);
            let square = |bits: u64| f64::from(f32::from_bits(bits as u32)).powi(2);
            let value = f64::from(f32::from_bits(a as u32));
            assert!(square(down) <= value && value <= square(up));
        }
    }

    /// For all f32 from 1 to 4, which those outside are times powers of 4: the host's f64 and integers agree, and the
    /// host leaves few.
    #[test]
    fn reciprocal_roots_are_the_same_by_both_ways() {
        let mut left = 0;
        for a in 0x3f80_0000u32..0x4080_0000 {
            let Some(near) = nearest_reciprocal_root(f32::from_bits(a)) else {
                left += 1;
                continue;
            };
            let exact = reciprocal_root(&Profile::NVIDIA, Format::F32, Rounding::NearestEven, false, a.into());
            assert_eq!(u64::from(near.to_bits()), exact, "{a:x}");
        }
        assert!(left < 100, "{left}");
    }

    /// 1 / √x in the host's f64, rounded to f32: for every significand and both parities of the exponent. Powers of four
    /// change neither step.
    #[test]
    fn reciprocal_roots_in_f64() {
        for bits in 0x3f80_0000_u32..0x4080_0000 {
            let near = (1.0 / f64::from(f32::from_bits(bits)).sqrt()) as f32;
            let root = reciprocal_square_root(&Profile::NVIDIA, Format::F32, Rounding::NearestEven, false, bits.into());
            assert_eq!(u64::from(near.to_bits()), root, "{bits:#x}");
        }
    }

    #[test]
    fn reciprocal_roots() {
        let rsqrt = |a| reciprocal_square_root(&Profile::NVIDIA, Format::F32, Rounding::NearestEven, false, a);
        assert_eq!(rsqrt(0x4080_0000), 0x3f00_0000);
        assert_eq!(rsqrt(0x4000_0000), 0x3f35_04f3);
        assert_eq!(rsqrt(0x8000_0000), 0xff80_0000);
        for a in (0x0080_0000u32..0x7f80_0000).step_by(1_234_567) {
            let host = (1.0 / f64::from(f32::from_bits(a)).sqrt()) as f32;
            assert_eq!(rsqrt(a.into()), u64::from(host.to_bits()), "{a:x}");
        }
        let wide = |a| reciprocal_square_root(&Profile::NVIDIA, Format::F64, Rounding::NearestEven, false, a);
        assert_eq!(wide(0x4010_0000_0000_0000), 0x3fe0_0000_0000_0000);
        assert_eq!(wide(0x4000_0000_0000_0000), 0x3fe6_a09e_667f_3bcd);
    }
}
