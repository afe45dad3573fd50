//! From one type to another.

use super::sign_extend;
use roundonce_arith::{ExactNumber, Format, Profile, Rounding, Unpacked, unpack, widen};
use roundonce_functions::{as_integer, integral, nan_as_integer};
use roundonce_ir::Scalar;

/// Everything that a conversion's spelling decides; see [`Op::Convert`](roundonce_ir::Op::Convert).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// Of the operand.
    pub from: Scalar,
    /// Of the result.
    pub to: Scalar,
    /// The direction of the one rounding.
    pub rounding: Rounding,
    /// A float result is integral.
    pub integral: bool,
    /// Subnormal f32 operands and results become zero.
    pub flush: bool,
    /// The result is clamped.
    pub saturate: bool,
}

/// A conversion. An 8-bit result is extended to 16 bits.
///
/// ```
/// use roundonce_arith::{Format, Profile, Rounding};
/// use roundonce_exec::scalar::{Conversion, convert};
/// use roundonce_ir::Scalar;
/// let how = Conversion {
///     from: Scalar::Float(Format::F32),
///     to: Scalar::Int { bits: 32, signed: true },
///     rounding: Rounding::TowardZero,
///     integral: false,
///     flush: false,
///     saturate: false,
/// };
/// assert_eq!(convert(&Profile::NVIDIA, how, 0xc020_0000), 0xffff_fffe); // -2.5
/// assert_eq!(convert(&Profile::NVIDIA, how, 0x7fc0_0000), 0);
/// ```
#[inline]
pub fn convert(profile: &Profile, how: Conversion, a: u64) -> u64 {
    match (how.from, how.to) {
        (Scalar::Int { bits, signed }, Scalar::Int { bits: to, signed: to_signed }) => {
            let value = number(a, bits, signed);
            let value = if how.saturate { clamp(value, to, to_signed) } else { value };
            integer(value, to, to_signed)
        }
        (Scalar::Int { bits, signed }, Scalar::Float(format)) => {
            let value = number(a, bits, signed);
            let (negative, significand) = (value < 0, value.unsigned_abs());
            let exact = ExactNumber { negative, quantum: 0, significand, sticky: false };
            let result = exact.round(format, how.rounding).bits;
            saturated(how, format, result)
        }
        (Scalar::Float(format), Scalar::Int { bits, signed }) => {
            let a = flushed(how, format, a);
            let Some(value) = as_integer(format, a, how.rounding) else {
                return integer(nan_as_integer(format, bits).into(), bits, signed);
            };
            integer(clamp(value, bits, signed), bits, signed)
        }
        (Scalar::Float(from), Scalar::Float(to)) => {
            let a = flushed(how, from, a);
            let result = match unpack(from, a) {
                Unpacked::Nan { .. } if from == to && !how.integral && !(how.flush && from == Format::F32) => a,
                Unpacked::Nan { .. } if (from, to) == (Format::BF16, Format::F32) && !how.integral && !how.flush => {
                    a << 16
                }
                Unpacked::Nan { .. } if from == Format::F64 && matches!(to, Format::F32 | Format::F16) => {
                    narrowed_nan(from, to, a)
                }
                // Flushing is an operation of f32 before the conversion.
                Unpacked::Nan { .. } if how.flush && (from, to) == (Format::F32, Format::F64) => {
                    widen(from, to, profile.nan_result(from, Some(a)))
                }
                Unpacked::Nan { .. } if from.precision() <= to.precision() && from.exp_bits() <= to.exp_bits() => {
                    profile.nan_result(to, Some(widen(from, to, a)))
                }
                Unpacked::Nan { .. } => profile.nan_result(to, Some(narrowed_nan(from, to, a))),
                Unpacked::Zero { negative } => {
                    if negative {
                        to.sign_mask()
                    } else {
                        0
                    }
                }
                Unpacked::Infinite { negative } => to.infinity() | if negative { to.sign_mask() } else { 0 },
                Unpacked::Finite(x) if how.integral && x.quantum < 0 => {
                    integral(x, how.rounding).round(to, how.rounding).bits
                }
                Unpacked::Finite(x) => {
                    // `.ftz` acts on f32 alone.
                    let tiny = (how.flush && to == Format::F32).then_some(profile.tininess);
                    ExactNumber::from(x).round_and_flush(to, how.rounding, tiny).bits
                }
            };
            saturated(how, to, flushed(how, to, result))
        }
    }
}

/// A NaN cut to a narrower format, made quiet.
fn narrowed_nan(from: Format, to: Format, a: u64) -> u64 {
    let payload = (a & from.frac_mask()) >> from.frac_bits().saturating_sub(to.frac_bits());
    let sign = if from.is_negative(a) { to.sign_mask() } else { 0 };
    sign | to.infinity() | (payload & to.frac_mask()) | to.quiet_bit()
}

fn number(a: u64, bits: u32, signed: bool) -> i128 {
    if signed { sign_extend(a, bits).into() } else { (a & (u64::MAX >> (64 - bits))).into() }
}

fn clamp(value: i128, bits: u32, signed: bool) -> i128 {
    let (low, high) =
        if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    value.clamp(low, high)
}

/// The bits of an integer in its register.
fn integer(value: i128, bits: u32, signed: bool) -> u64 {
    let low = value as u64 & (u64::MAX >> (64 - bits));
    if bits == 8 && signed { sign_extend(low, 8) as u64 & 0xffff } else { low }
}

/// `.ftz` acts on f32 alone.
fn flushed(how: Conversion, format: Format, bits: u64) -> u64 {
    roundonce_functions::flushed(format, how.flush && format == Format::F32, bits)
}

fn saturated(how: Conversion, format: Format, bits: u64) -> u64 {
    if how.saturate { format.saturate(bits) } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: Scalar = Scalar::Float(Format::F32);
    const fn how(from: Scalar, to: Scalar, rounding: Rounding) -> Conversion {
        Conversion { from, to, rounding, integral: false, flush: false, saturate: false }
    }
    const fn int(bits: u32, signed: bool) -> Scalar {
        Scalar::Int { bits, signed }
    }

    #[test]
    fn as_the_host_converts() {
        let run = |how, a: u64| convert(&Profile::NVIDIA, how, a);
        for bits in (0u32..=u32::MAX).step_by(65_521) {
            let a = f32::from_bits(bits);
            let wide = u64::from(bits);
            assert_eq!(run(how(F32, int(32, true), Rounding::TowardZero), wide), u64::from(a as i32 as u32));
            assert_eq!(run(how(F32, int(8, true), Rounding::TowardZero), wide), u64::from(a as i8 as i16 as u16));
            // The host gives 0 for a NaN.
            let (unsigned, signed) = if a.is_nan() { (1 << 63, 1 << 63) } else { (a as u64, a as i64 as u64) };
            assert_eq!(run(how(F32, int(64, false), Rounding::TowardZero), wide), unsigned);
            assert_eq!(run(how(F32, int(64, true), Rounding::TowardZero), wide), signed);
            assert_eq!(
                run(how(int(32, true), F32, Rounding::NearestEven), wide),
                u64::from((bits as i32 as f32).to_bits())
            );
            if !a.is_nan() {
                assert_eq!(
                    run(how(F32, Scalar::Float(Format::F64), Rounding::NearestEven), wide),
                    f64::from(a).to_bits()
                );
                let integral = Conversion { integral: true, ..how(F32, F32, Rounding::NearestEven) };
                assert_eq!(run(integral, wide), u64::from(a.round_ties_even().to_bits()));
                assert_eq!(
                    run(Conversion { rounding: Rounding::Down, ..integral }, wide),
                    u64::from(a.floor().to_bits())
                );
            }
        }
    }

    #[test]
    fn integers() {
        let run = |how, a: u64| convert(&Profile::NVIDIA, how, a);
        let plain = how(int(32, true), int(8, false), Rounding::TowardZero);
        assert_eq!(run(plain, 0xffff_ffff), 0xff);
        assert_eq!(run(Conversion { saturate: true, ..plain }, 0xffff_ffff), 0);
        assert_eq!(run(how(int(8, true), int(64, true), Rounding::TowardZero), 0x80), 0xffff_ffff_ffff_ff80);
    }
}
