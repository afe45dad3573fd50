//! Conversions.

use roundonce_arith::{Format, Rounding};
use roundonce_ir::{IntOp, Op, Operand as Arg, Reg, Scalar, Signedness, Width};

use super::body::{B32, Body, Flags};
use super::float::rounding;
use crate::instruction::{Instruction, Operand};

fn float(text: Option<&str>) -> Option<Format> {
    match text? {
        ".F16" => Some(Format::F16),
        ".F32" => Some(Format::F32),
        ".F64" => Some(Format::F64),
        _ => None,
    }
}

/// An integer type: its bits and whether it has a sign.
fn int(text: Option<&str>) -> Option<(u32, bool)> {
    let text = text?;
    let bits = match text.get(2..)? {
        "8" => 8,
        "16" => 16,
        "32" => 32,
        "64" => 64,
        _ => return None,
    };
    Some((bits, text.starts_with(".S")))
}

const fn sign(signed: bool) -> Signedness {
    if signed { Signedness::Signed } else { Signedness::Unsigned }
}

impl Body<'_> {
    /// A float of any format, its signs applied.
    fn float_source(&mut self, operand: &Operand, format: Format, signed: bool) -> Option<Arg> {
        let operand = &if signed { *operand } else { Operand { negate: false, absolute: false, ..*operand } };
        match format {
            Format::F64 => self.double(operand),
            Format::F32 => self.single(operand),
            _ => {
                let whole = self.bits(operand)?;
                let half = self.half_float(whole, if operand.suffix == ".H1" { 16 } else { 0 });
                Some(self.signed(operand, format, half.into()))
            }
        }
    }

    /// A result of 16, 32 or 64 bits to its registers, one of 16 extended.
    fn write_scalar(&mut self, operand: &Operand, value: Reg, sign: Signedness) -> Option<()> {
        match self.kernel.width(value) {
            Width::B64 => self.write_pair(operand, value),
            Width::B16 => {
                let d = self.target(operand)?;
                let whole = self.fresh(B32);
                self.emit(Op::Pack { d: whole, low: value.into(), high: Arg::ZERO });
                let a = if sign == Signedness::Signed { self.part(whole.into(), 0, 16, sign) } else { whole.into() };
                self.finish(Op::Move { d, a });
                Some(())
            }
            _ => {
                let d = self.target(operand)?;
                self.finish(Op::Move { d, a: value.into() });
                Some(())
            }
        }
    }

    pub(super) fn float_to_float(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["ftz", "to", "from", "rnd", "sat", "half"])?;
        let operands = inst.operands();
        let (to, from) = (float(inst.modifier("to"))?, float(inst.modifier("from"))?);
        let text = inst.modifier("rnd");
        let is_integral = matches!(text, Some(".ROUND" | ".FLOOR" | ".CEIL" | ".TRUNC"));
        let rounding = match text {
            Some(".ROUND") => Rounding::NearestEven,
            // The format stays, and nothing is rounded.
            Some(".PASS") => Rounding::NearestEven,
            _ => rounding(text)?,
        };
        let a = self.float_source(&operands[1], from, true)?;
        let d = self.fresh(Width::holding(to.width()));
        self.finish(Op::Convert {
            d,
            to: Scalar::Float(to),
            from: Scalar::Float(from),
            rounding,
            integral: is_integral,
            flush: inst.modifier("ftz").is_some(),
            saturate: inst.modifier("sat").is_some(),
            a,
        });
        self.write_scalar(&operands[0], d, Signedness::Unsigned)
    }

    pub(super) fn float_to_int(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["ftz", "to", "from", "rnd", "half"])?;
        let operands = inst.operands();
        let (from, (bits, signed)) = (float(inst.modifier("from"))?, int(inst.modifier("to"))?);
        let a = self.float_source(&operands[1], from, true)?;
        let d = self.fresh(Width::holding(bits));
        self.finish(Op::Convert {
            d,
            to: Scalar::Int { bits, signed },
            from: Scalar::Float(from),
            rounding: rounding(inst.modifier("rnd"))?,
            integral: false,
            flush: inst.modifier("ftz").is_some(),
            saturate: false,
            a,
        });
        self.write_scalar(&operands[0], d, sign(signed))
    }

    /// Where the byte or the half that is taken begins.
    fn place(operand: &Operand) -> u32 {
        match operand.suffix {
            ".B1" => 8,
            ".B2" | ".H1" => 16,
            ".B3" => 24,
            _ => 0,
        }
    }

    /// An integer of up to 32 bits, its signs applied among numbers of its size: the lowest is its own opposite, as in the
    /// PTX that ptxas makes such operands of.
    fn int_source(&mut self, operand: &Operand, bits: u32, sign: Signedness) -> Option<Arg> {
        let all = self.bits(operand)?;
        let value = self.part(all, Self::place(operand), bits, sign);
        if !operand.absolute && !operand.negate {
            return Some(value);
        }
        let value = self.signed_int(operand, value);
        Some(self.part(value, 0, bits, sign))
    }

    pub(super) fn int_to_float(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["to", "from", "rnd", "byte", "half"])?;
        let operands = inst.operands();
        let (to, (bits, signed)) = (float(inst.modifier("to"))?, int(inst.modifier("from"))?);
        let operand = &operands[1];
        let a = match bits {
            64 => {
                let value = self.pair(operand)?;
                self.signed_whole(operand, Width::B64, value)
            }
            _ => self.int_source(operand, bits, sign(signed))?,
        };
        let d = self.fresh(Width::holding(to.width()));
        self.finish(Op::Convert {
            d,
            to: Scalar::Float(to),
            from: Scalar::Int { bits: bits.max(32), signed },
            rounding: rounding(inst.modifier("rnd"))?,
            integral: false,
            flush: false,
            saturate: false,
            a,
        });
        self.write_scalar(&operands[0], d, Signedness::Unsigned)
    }

    /// To a type of its own: clamped with `.SAT`, otherwise cut; then extended to 32 bits.
    pub(super) fn int_to_int(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["to", "from", "sat", "byte", "half", "CC"])?;
        let operands = inst.operands();
        let ((to, to_signed), (from, from_signed)) = (int(inst.modifier("to"))?, int(inst.modifier("from"))?);
        let operand = &operands[1];
        let value = self.int_source(operand, from, sign(from_signed))?;
        let d = self.target(&operands[0])?;
        let result = if inst.modifier("sat").is_some() {
            self.clamped(value, from_signed, to, to_signed)
        } else {
            self.part(value, 0, to, sign(to_signed))
        };
        self.finish(Op::Move { d, a: result });
        if inst.modifier("CC").is_some() {
            self.write_flags(d, Flags::Result);
        }
        Some(())
    }

    /// A number of 32 bits clamped to a narrower type's range, or to that of the other signedness.
    fn clamped(&mut self, value: Arg, from_signed: bool, bits: u32, signed: bool) -> Arg {
        let largest = u32::MAX >> (32 - bits + u32::from(signed));
        let sign = sign(from_signed);
        let mut value = value;
        if from_signed {
            let lowest = if signed { !largest } else { 0 };
            value = self.int32(IntOp::Max(sign), &[value, Arg::Imm(u64::from(lowest))]);
            if bits == 32 {
                return value;
            }
        }
        self.int32(IntOp::Min(sign), &[value, Arg::Imm(u64::from(largest))])
    }
}
