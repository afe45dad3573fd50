//! GLSL.std.450: exact where the document leaves one result, otherwise as it derives it, and said so.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{IntOp, Operand, Scalar, Signedness, Width};

use super::float::approximation;
use super::types::Part;
use super::{Body, Result};

/// The set's name.
pub(super) const SET: &str = "GLSL.std.450";
const F32: Scalar = Scalar::Float(Format::F32);

impl Body<'_> {
    /// An instruction of the set; its operands follow set and number.
    pub(super) fn glsl(&mut self, number: u32) -> Result<()> {
        let spelled = self.spelled(SET, number);
        let name = spelled.rsplit(' ').next().unwrap_or_default().to_owned();
        let ids = self.operands()[2..].to_vec();
        if let Some(function) = approximation(&name) {
            return self.each_float(&ids, |body, format, args| body.approximate(function, format, &spelled, args));
        }
        let rounding = match name.as_str() {
            "RoundEven" | "Round" => Some(Rounding::NearestEven),
            "Trunc" => Some(Rounding::TowardZero),
            "Floor" => Some(Rounding::Down),
            "Ceil" => Some(Rounding::Up),
            _ => None,
        };
        if let Some(rounding) = rounding {
            if name == "Round" {
                self.open(format!("{spelled}: halves to even"));
            }
            return self.each_float(&ids, |body, format, args| body.integral(format, rounding, args[0]));
        }
        if let Some((op, signed)) = integer(&name) {
            return self.each_int(&ids, |body, part, args| match *args {
                [a, low, high] => {
                    let (max, min) = (IntOp::Max(Self::sign(signed)), IntOp::Min(Self::sign(signed)));
                    let raised = body.int_of(max, part, Self::sign(signed), &[a, low]);
                    body.int_of(min, part, Self::sign(signed), &[raised, high])
                }
                _ => body.int_of(op, part, Self::sign(signed), args),
            });
        }
        match name.as_str() {
            "FAbs" => self.each_float(&ids, |body, format, args| body.magnitude(format, args[0])),
            "FSign" => self.each_float(&ids, |body, format, args| body.sign_number(format, args[0])),
            "SSign" => self.each_int(&ids, |body, part, args| {
                let raised = body.int_of(
                    IntOp::Max(Signedness::Signed),
                    part,
                    Signedness::Signed,
                    &[args[0], Operand::Imm(part.width().mask())],
                );
                body.int_of(IntOp::Min(Signedness::Signed), part, Signedness::Signed, &[raised, Operand::Imm(1)])
            }),
            "Fract" => self.each_float(&ids, |body, format, args| {
                let below = body.integral(format, Rounding::Down, args[0]);
                body.subtract(format, args[0], below)
            }),
            "Sqrt" => self.each_float(&ids, |body, format, args| body.square_root(format, &spelled, args[0])),
            "Fma" => self.each_float(&ids, |body, format, args| {
                if body.is_contractible(format.width()) {
                    body.open(format!("{spelled} without NoContraction: fused"));
                }
                body.float(ArithOp::MulAdd, format, args)
            }),
            "FMin" | "NMin" => self.each_float(&ids, |body, format, args| body.minimum(format, args[0], args[1])),
            "FMax" | "NMax" => self.each_float(&ids, |body, format, args| body.maximum(format, args[0], args[1])),
            "FClamp" | "NClamp" => self.each_float(&ids, |body, format, args| body.clamp(format, args)),
            "Ldexp" => self.scaled(ids[0], ids[1]),
            "Modf" | "ModfStruct" => self.modf(&ids),
            "Frexp" | "FrexpStruct" => self.frexp(&ids),
            "FindILsb" => self.each_counted(2, |body, part, a| body.find_lowest(part, a)),
            "FindSMsb" => self.each_counted(2, |body, part, a| body.find_highest(part, Signedness::Signed, a)),
            "FindUMsb" => self.each_counted(2, |body, part, a| body.find_highest(part, Signedness::Unsigned, a)),
            "PackHalf2x16" | "PackDouble2x32" | "PackSnorm4x8" | "PackUnorm4x8" | "PackSnorm2x16" | "PackUnorm2x16" => {
                self.packed(&name)
            }
            "UnpackHalf2x16" | "UnpackDouble2x32" | "UnpackSnorm2x16" | "UnpackUnorm2x16" | "UnpackSnorm4x8"
            | "UnpackUnorm4x8" => self.unpacked(&name),
            "Determinant" | "MatrixInverse" => self.by_cofactors(&spelled, name == "MatrixInverse"),
            "Refract" => self.refracted(&spelled, &ids),
            _ => self.derived(&name, &spelled, &ids),
        }
    }

    /// Two halves in 32 bits, two words in a double, or normalised integers.
    fn packed(&mut self, name: &str) -> Result<()> {
        let parts = self.components(self.operand(2)?)?;
        let value = match (name, parts.part, &parts.parts[..]) {
            ("PackDouble2x32", Part::Int { bits: 32, .. }, &[low, high]) => self.pack(Width::B64, low, high),
            ("PackHalf2x16", Part::Float(Format::F32), &[low, high]) => {
                let [low, high] = [low, high].map(|a| self.float_to_float(Format::F32, Format::F16, a));
                self.pack(Width::B32, low, high)
            }
            (_, Part::Float(Format::F32), parts) if parts.len() == normalised(name).1 => {
                let (scale, count, signed) = normalised(name);
                let bits = 32 / count as u32;
                let mut all = Operand::ZERO;
                for (at, &part) in parts.iter().enumerate() {
                    let low = Operand::Imm(if signed { 0xbf80_0000 } else { 0 });
                    let inside = self.clamp(Format::F32, &[part, low, Operand::Imm(Format::F32.one())]);
                    let large = self.float(ArithOp::Mul, Format::F32, &[inside, Operand::Imm(scale)]);
                    let to = Scalar::Int { bits: 32, signed: true };
                    let number = self.convert(F32, to, Rounding::NearestEven, large);
                    let (place, bits) = (Operand::Imm(at as u64 * u64::from(bits)), Operand::Imm(bits.into()));
                    all = self.int(IntOp::FieldInsert, Width::B32, &[number, all, place, bits]);
                }
                self.open(format!("{SET} {name}: halves to even"));
                all
            }
            _ => return Err(self.malformed("the operand is of a type that it does not take")),
        };
        self.define(vec![value])
    }

    fn unpacked(&mut self, name: &str) -> Result<()> {
        let (part, a) = self.scalar(self.operand(2)?)?;
        let parts = match (name, part.bits()) {
            ("UnpackDouble2x32", 64) => [0, 32].map(|shift| self.extract(Width::B32, Width::B64, a, shift)).to_vec(),
            ("UnpackHalf2x16", 32) => {
                let halves = [0, 16].map(|shift| self.extract(Width::B16, Width::B32, a, shift));
                halves.map(|half| self.float_to_float(Format::F16, Format::F32, half)).to_vec()
            }
            (_, 32) => {
                let (scale, count, signed) = normalised(name);
                let bits = 32 / count as u32;
                let mut parts = Vec::new();
                for at in 0..count as u32 {
                    let (place, bits) = (Operand::Imm((at * bits).into()), Operand::Imm(bits.into()));
                    let field = IntOp::FieldExtract(Self::sign(signed));
                    let number = self.int(field, Width::B32, &[a, place, bits]);
                    let from = Scalar::Int { bits: 32, signed };
                    let number = self.convert(from, F32, Rounding::NearestEven, number);
                    let number = self.divide(Format::F32, number, Operand::Imm(scale));
                    parts.push(if signed {
                        let [low, high] = [0xbf80_0000, 0x3f80_0000].map(Operand::Imm);
                        self.clamp(Format::F32, &[number, low, high])
                    } else {
                        number
                    });
                }
                parts
            }
            _ => return Err(self.malformed("the operand is of a type that it does not take")),
        };
        self.define(parts)
    }

    /// a − b.
    pub(super) fn subtract(&mut self, format: Format, a: Operand, b: Operand) -> Operand {
        let operation = Operation { negate_addend: true, ..self.operation(ArithOp::Add, format) };
        self.operate(operation, &[a, b])
    }
}

/// The scale of a normalised integer as an f32, how many there are, and whether they have a sign.
fn normalised(name: &str) -> (u64, usize, bool) {
    match name.trim_start_matches("Unpack").trim_start_matches("Pack") {
        "Snorm4x8" => (0x42fe_0000, 4, true),
        "Unorm4x8" => (0x437f_0000, 4, false),
        "Snorm2x16" => (0x46ff_fe00, 2, true),
        _ => (0x477f_ff00, 2, false),
    }
}

/// The integer functions that are one operation; a clamp is recognised by its three operands.
fn integer(name: &str) -> Option<(IntOp, bool)> {
    Some(match name {
        "SAbs" => (IntOp::Abs, true),
        "SMin" | "SClamp" => (IntOp::Min(Signedness::Signed), true),
        "SMax" => (IntOp::Max(Signedness::Signed), true),
        "UMin" | "UClamp" => (IntOp::Min(Signedness::Unsigned), false),
        "UMax" => (IntOp::Max(Signedness::Unsigned), false),
        _ => return None,
    })
}
