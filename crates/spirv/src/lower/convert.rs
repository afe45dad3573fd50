//! From one number type to another.

use roundonce_arith::{Format, Rounding, widen};
use roundonce_ir::{Class, Comparand, Comparison, IntOp, Op as Step, Operand, Scalar, Width};
use rspirv::spirv::{Decoration, Op};

use super::types::Part;
use super::value::Components;
use super::{Body, Result};

impl Body<'_> {
    pub(super) fn conversion(&mut self, op: Op) -> Result<()> {
        let Components { part: from, parts } = self.components(self.operand(0)?)?;
        let (to, count) = self.result()?;
        if parts.len() != count {
            return Err(self.malformed("operand and result have different numbers of components"));
        }
        let mut converted = Vec::with_capacity(count);
        for &a in &parts[..] {
            converted.push(self.converted(op, from, to, a)?);
        }
        self.define(converted)
    }

    fn converted(&mut self, op: Op, from: Part, to: Part, a: Operand) -> Result<Operand> {
        let value = match (op, from, to) {
            (Op::UConvert | Op::SConvert, Part::Int { .. }, Part::Int { .. }) if !self.saturates() => {
                self.resized(from, Self::sign(op == Op::SConvert), to.bits(), a)
            }
            (
                Op::UConvert | Op::SConvert | Op::SatConvertSToU | Op::SatConvertUToS,
                Part::Int { .. },
                Part::Int { .. },
            ) => {
                let from_signed = matches!(op, Op::SConvert | Op::SatConvertSToU);
                let to_signed = matches!(op, Op::SConvert | Op::SatConvertUToS);
                let a = self.extended(from, Self::sign(from_signed), a);
                let to_scalar = Scalar::Int { bits: to.bits(), signed: to_signed };
                let from = Scalar::Int { bits: from.bits().max(16), signed: from_signed };
                let (d, rounding) = (self.fresh(to_scalar.width()), Rounding::TowardZero);
                self.emit(Step::Convert {
                    d,
                    to: to_scalar,
                    from,
                    rounding,
                    integral: false,
                    flush: false,
                    saturate: true,
                    a,
                });
                self.cut(to, d.into())
            }
            (Op::ConvertSToF | Op::ConvertUToF, Part::Int { bits, .. }, Part::Float(format)) => {
                let signed = op == Op::ConvertSToF;
                let a = self.extended(from, Self::sign(signed), a);
                let rounding = match self.decorated_rounding() {
                    Some(rounding) => rounding,
                    None => self.rounds(format).rounding,
                };
                let from = Scalar::Int { bits: bits.max(16), signed };
                self.convert(from, Scalar::Float(format), rounding, a)
            }
            (Op::ConvertFToS | Op::ConvertFToU, Part::Float(format), Part::Int { bits, .. }) => {
                let signed = op == Op::ConvertFToS;
                let rounding = self.decorated_rounding().unwrap_or(Rounding::TowardZero);
                let a = self.flushed(format, a);
                let value = self.convert(Scalar::Float(format), Scalar::Int { bits, signed }, rounding, a);
                let value = self.cut(to, value);
                if !self.saturates() {
                    return Ok(value);
                }
                let nan = self.is_of(Class::NotANumber, format, a);
                self.select(to.width(), nan, Operand::ZERO, value)
            }
            (Op::FConvert, Part::Float(from), Part::Float(to)) => self.float_to_float(from, to, a),
            (Op::QuantizeToF16, Part::Float(Format::F32), Part::Float(Format::F32)) => {
                let (half, single) = (Scalar::Float(Format::F16), Scalar::Float(Format::F32));
                let narrow = self.convert(single, half, Rounding::NearestEven, a);
                let value = self.convert(half, single, Rounding::NearestEven, narrow);
                self.open("OpQuantizeToF16: what is below the normal numbers of 16 bits becomes a zero of its sign");
                let [magnitude, zero] = [Format::F32.magnitude_mask(), Format::F32.sign_mask()]
                    .map(|mask| self.int(IntOp::And, Width::B32, &[a, Operand::Imm(mask)]));
                let least = Operand::Imm(widen(Format::F16, Format::F32, Format::F16.smallest_normal()));
                let small = self.compare(Comparison::Lt, Comparand::Unsigned(Width::B32), magnitude, least);
                self.select(Width::B32, small, zero, value)
            }
            _ => return Err(self.malformed("operand and result are of types that it does not take")),
        };
        Ok(value)
    }

    /// Whether what is out of range becomes the nearest number of the type, and NaN 0.
    fn saturates(&self) -> bool {
        let id = self.lowering.module.result(&self.at).unwrap_or(0);
        self.lowering.facts.is_decorated(id, Decoration::SaturatedConversion)
    }

    /// Rounded once where it is narrowed; widened exactly.
    pub(super) fn float_to_float(&mut self, from: Format, to: Format, a: Operand) -> Operand {
        if from == to {
            return self.flushed(from, a);
        }
        // A conversion flushes an f32 itself, and keeps what a NaN has.
        let flush = from == Format::F32 && self.flushes(from);
        let a = if matches!(from, Format::F32 | Format::BF16) { a } else { self.flushed(from, a) };
        let narrows = to.width() < from.width();
        let of_bf16 = from == Format::BF16 || to == Format::BF16;
        let rounding = match self.decorated_rounding() {
            Some(rounding) => rounding,
            None if of_bf16 => {
                self.open("bfloat16: rounded to nearest even, subnormals kept");
                Rounding::NearestEven
            }
            None if narrows => self.rounds(to).rounding,
            None => Rounding::NearestEven,
        };
        let (from, of) = (Scalar::Float(from), Scalar::Float(to));
        let d = self.fresh(of.width());
        self.emit(Step::Convert { d, to: of, from, rounding, integral: false, flush, saturate: false, a });
        if narrows && !of_bf16 { self.flushed(to, d.into()) } else { d.into() }
    }
}
