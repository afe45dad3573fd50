//! From one type to another.

use roundonce_arith::{Clamp, Format, Rounding};
use roundonce_ir::{Operand, Scalar};

use super::body::{Body, Result};
use super::ids::{Id, Ty};

/// Everything that a conversion's spelling decides beside its types.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) rounding: Rounding,
    pub(super) integral: bool,
    pub(super) flush: bool,
    pub(super) saturate: bool,
}

impl Body<'_> {
    /// A conversion: the value and its type, as wide as the register of the result.
    pub(super) fn convert(&mut self, to: Scalar, from: Scalar, how: How, a: Operand) -> Result<(Id, Ty)> {
        match (from, to) {
            (Scalar::Int { bits, signed }, Scalar::Int { bits: to, signed: to_signed }) => {
                let value = self.read_integer(bits, signed, a);
                let from = Ty::int(bits.max(16));
                let value = if how.saturate {
                    self.saturated(value, (from, signed), (to, to_signed))
                } else if signed {
                    self.extend(value, from, Ty::int(to.max(16)))
                } else {
                    self.resize(value, from, Ty::int(to.max(16)))
                };
                Ok((self.small(value, to, to_signed), Ty::int(to.max(16))))
            }
            (Scalar::Int { bits, signed }, Scalar::Float(format)) => {
                self.integer_to_float(bits, signed, format, how, a)
            }
            (Scalar::Float(format), Scalar::Int { bits, signed }) => {
                self.float_to_integer(format, bits, signed, how, a)
            }
            (Scalar::Float(from), Scalar::Float(to)) => self.between_floats(from, to, how, a),
        }
    }

    /// An integer operand; one of 8 bits as one of 16.
    fn read_integer(&mut self, bits: u32, signed: bool, a: Operand) -> Id {
        let value = self.read_as(a, Ty::int(bits.max(16)));
        if bits == 8 { self.small(value, 8, signed) } else { value }
    }

    /// What a register holds of an integer of 8 bits: extended to 16.
    fn small(&mut self, value: Id, bits: u32, signed: bool) -> Id {
        if bits != 8 {
            return value;
        }
        if !signed {
            return self.emit(Ty::U16, "OpBitwiseAnd", &[value, Id::constant(Ty::U16, 0xff)]);
        }
        let cut = self.resize(value, Ty::U16, Ty::U8);
        self.extend(cut, Ty::U8, Ty::U16)
    }

    /// An integer clamped to a type's range.
    fn saturated(&mut self, value: Id, (from, signed): (Ty, bool), (to, to_signed): (u32, bool)) -> Id {
        let wide = Ty::int(from.bits().max(to).max(16));
        let mut value = if signed { self.extend(value, from, wide) } else { self.resize(value, from, wide) };
        let ones = u64::MAX >> (64 - to);
        let highest = if to_signed { ones >> 1 } else { ones };
        let limit = |bits: u64| Id::constant(wide, bits);
        if signed {
            let lowest = if to_signed { !(ones >> 1) } else { 0 };
            value = self.call(wide, "s_max", &[value, limit(lowest)]);
            // What is as wide and has no sign has no end that a number with one reaches.
            if to < wide.bits() || to_signed {
                value = self.call(wide, "s_min", &[value, limit(highest)]);
            }
        } else {
            value = self.call(wide, "u_min", &[value, limit(highest)]);
        }
        self.resize(value, wide, Ty::int(to.max(16)))
    }

    fn integer_to_float(&mut self, bits: u32, signed: bool, format: Format, how: How, a: Operand) -> Result<(Id, Ty)> {
        let value = self.read_integer(bits, signed, a);
        let opcode = if signed { "OpConvertSToF" } else { "OpConvertUToF" };
        let clamp = if how.saturate { Clamp::Unit } else { Clamp::None };
        let Some(ty) = Ty::of_format(format) else {
            self.mode(Ty::F64);
            let mut wide = self.emit(Ty::F64, opcode, &[value]);
            if bits == 64 {
                wide = self.rounded_to_odd(wide, value, signed);
            }
            let (half, ty) = self.narrowed(wide, format, how.rounding, false)?;
            return Ok((self.clamped_bits(clamp, half), ty));
        };
        self.mode(ty);
        let converted = self.emit(ty, opcode, &[value]);
        self.round_as(converted, ty, how.rounding);
        Ok((self.clamped(clamp, converted, ty), ty))
    }

    /// The f64 that a 64-bit integer becomes, rounded to odd: what is rounded to fewer bits then is rounded once.
    fn rounded_to_odd(&mut self, converted: Id, value: Id, signed: bool) -> Id {
        self.round_as(converted, Ty::F64, Rounding::TowardZero);
        let back = self.emit(Ty::U64, if signed { "OpConvertFToS" } else { "OpConvertFToU" }, &[converted]);
        let is_inexact = self.emit(Ty::Bool, "OpINotEqual", &[back, value]);
        let bits = self.bitcast(converted, Ty::F64, Ty::U64);
        let odd = self.emit(Ty::U64, "OpBitwiseOr", &[bits, Id::constant(Ty::U64, 1)]);
        let bits = self.select(Ty::U64, is_inexact, odd, bits);
        self.bitcast(bits, Ty::U64, Ty::F64)
    }

    /// Clamped to the type's range; a NaN gives 0, but from f64 or to 64 bits the sign bit alone.
    fn float_to_integer(&mut self, format: Format, bits: u32, signed: bool, how: How, a: Operand) -> Result<(Id, Ty)> {
        let value = self.float_operand(format, how.flush, a)?.0;
        let to = Ty::int(bits);
        let converted = self.emit(to, if signed { "OpConvertFToS" } else { "OpConvertFToU" }, &[value]);
        self.module.decorate(converted, "SaturatedConversion");
        let name = match how.rounding {
            Rounding::NearestEven => "RTE",
            Rounding::TowardZero => "RTZ",
            Rounding::Up => "RTP",
            Rounding::Down => "RTN",
        };
        self.module.decorate(converted, &format!("FPRoundingMode {name}"));
        let mut result = converted;
        let of_nan = if format == Format::F64 || bits == 64 { 1 << (bits - 1) } else { 0 };
        if of_nan != 0 {
            let nan = self.emit(Ty::Bool, "OpIsNan", &[value]);
            result = self.select(to, nan, Id::constant(to, of_nan), result);
        }
        Ok(match (bits, signed) {
            (8, true) => (self.extend(result, Ty::U8, Ty::U16), Ty::U16),
            (8, false) => (self.resize(result, Ty::U8, Ty::U16), Ty::U16),
            _ => (result, to),
        })
    }

    /// A float operand of a conversion, whose flush is about f32 alone; bf16 as f32.
    fn float_operand(&mut self, format: Format, flush: bool, a: Operand) -> Result<(Id, Ty)> {
        match Ty::of_format(format) {
            Some(ty) => Ok((self.operand(a, ty, flush && ty == Ty::F32)?, ty)),
            None if format == Format::BF16 => {
                let bits = self.read_as(a, Ty::U16);
                if self.mode(Ty::F32).flush {
                    return Err("a bf16's subnormals where the kernel flushes those of f32".to_owned());
                }
                Ok((self.widened_bf16(bits), Ty::F32))
            }
            None => Err(format!("a number of format {}", format.name().unwrap_or("of its own"))),
        }
    }

    fn between_floats(&mut self, from: Format, to: Format, how: How, a: Operand) -> Result<(Id, Ty)> {
        let (mut value, mut ty) = self.float_operand(from, how.flush, a)?;
        if how.integral {
            value = self.integral(value, ty, how.rounding);
        }
        let clamp = if how.saturate { Clamp::Unit } else { Clamp::None };
        if to == Format::BF16 {
            return self.between_to_bf16(from, value, ty, how, clamp);
        }
        let result =
            Ty::of_format(to).ok_or_else(|| format!("a result of format {}", to.name().unwrap_or("of its own")))?;
        if ty == result {
            // What is not computed keeps its NaN.
            if how.flush && ty == Ty::F32 {
                if self.mode(ty).flush {
                    // No mode is about a selection.
                    value = self.flushed(value, ty);
                }
                value = self.canonical(value, ty);
            }
            return Ok((self.clamped(clamp, value, ty), ty));
        }
        if result.bits() > ty.bits() {
            if how.flush && from == Format::F32 {
                // Flushing makes every NaN one.
                value = self.canonical(value, ty);
            }
            self.mode(result);
            value = self.emit(result, "OpFConvert", &[value]);
            ty = result;
        } else if ty == Ty::F64 && result == Ty::F32 {
            value = self.cut(value, to, how.rounding, how.flush)?.0;
            ty = Ty::F32;
        } else {
            if self.mode(result).flush {
                return Err("an f16's subnormals kept where the kernel flushes them".to_owned());
            }
            value = self.convert_float(value, result, how.rounding);
            ty = result;
        }
        Ok((self.clamped(clamp, value, ty), ty))
    }

    fn between_to_bf16(&mut self, from: Format, value: Id, ty: Ty, how: How, clamp: Clamp) -> Result<(Id, Ty)> {
        let value = match ty {
            Ty::F64 => {
                let bits = self.narrowed(value, Format::BF16, how.rounding, false)?.0;
                self.widened_bf16(bits)
            }
            Ty::F16 => {
                self.mode(Ty::F32);
                self.emit(Ty::F32, "OpFConvert", &[value])
            }
            _ => value,
        };
        let bits = self.bitcast(value, Ty::F32, Ty::U32);
        let half = if from == Format::BF16 {
            let value = self.canonical(value, Ty::F32);
            let bits = self.bitcast(value, Ty::F32, Ty::U32);
            let shifted = self.emit(Ty::U32, "OpShiftRightLogical", &[bits, Id::constant(Ty::U32, 16)]);
            self.resize(shifted, Ty::U32, Ty::U16)
        } else {
            self.upper_half(bits, how.rounding)
        };
        Ok((self.clamped_bits(clamp, half), Ty::U16))
    }

    /// A value whose NaN is one that arithmetic gives.
    pub(super) fn canonical(&mut self, value: Id, ty: Ty) -> Id {
        if ty == Ty::F64 {
            return value;
        }
        let nan = self.emit(Ty::Bool, "OpIsNan", &[value]);
        self.select(ty, nan, Id::constant(ty, ty.format().magnitude_mask()), value)
    }

    /// An integral value, in a direction.
    fn integral(&mut self, value: Id, ty: Ty, rounding: Rounding) -> Id {
        let name = match rounding {
            Rounding::NearestEven => "rint",
            Rounding::TowardZero => "trunc",
            Rounding::Up => "ceil",
            Rounding::Down => "floor",
        };
        self.mode(ty);
        self.call(ty, name, &[value])
    }
}
