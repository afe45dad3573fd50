//! OpenCL.std: what kernels compute with beside operators. `opencl_integer`, `opencl_float` and `opencl_memory` have what
//! takes more than one operation.

use roundonce_arith::{ArithOp, Format, Rounding};
use roundonce_ir::{IntOp, Op, Operand, Signedness, Width};

use super::float::approximation;
use super::{Body, Result};

/// The set's name.
const SET: &str = "OpenCL.std";

impl Body<'_> {
    /// An instruction of the set; its operands follow set and number.
    pub(super) fn opencl(&mut self, number: u32) -> Result<()> {
        let spelled = self.spelled(SET, number);
        let name = spelled.rsplit(' ').next().unwrap_or_default().to_owned();
        let ids = self.operands()[2..].to_vec();
        // What is native or of half precision only may be less exact.
        let plain = name.trim_start_matches("native_").trim_start_matches("half_").trim_start_matches("fast_");
        if let Some(function) = approximation(plain) {
            return self.each_float(&ids, |body, format, args| body.approximate(function, format, &spelled, args));
        }
        if let Some(derived) = derived(plain) {
            return self.derived(derived, &spelled, &ids);
        }
        let rounding = match plain {
            "rint" => Some(Rounding::NearestEven),
            "trunc" => Some(Rounding::TowardZero),
            "floor" => Some(Rounding::Down),
            "ceil" => Some(Rounding::Up),
            _ => None,
        };
        if let Some(rounding) = rounding {
            return self.each_float(&ids, |body, format, args| body.integral(format, rounding, args[0]));
        }
        if let Some((op, signed)) = integer(plain) {
            return self.each_int(&ids, |body, part, args| body.int_of(op, part, Self::sign(signed), args));
        }
        match plain {
            "fma" | "mad" => {
                if plain == "mad" {
                    self.open(format!("{spelled}: fused"));
                }
                self.each_float(&ids, |body, format, args| body.float(ArithOp::MulAdd, format, args))
            }
            "fabs" => self.each_float(&ids, |body, format, args| body.magnitude(format, args[0])),
            "fmin" | "fmin_common" => {
                self.each_float(&ids, |body, format, args| body.minimum(format, args[0], args[1]))
            }
            "fmax" | "fmax_common" => {
                self.each_float(&ids, |body, format, args| body.maximum(format, args[0], args[1]))
            }
            "fclamp" => self.each_float(&ids, |body, format, args| body.clamp(format, args)),
            // Of f64 it is rounded once (OpenCL C 3.0, 7.4).
            "sqrt" if name == plain => self.each_float(&ids, |body, format, args| match format {
                Format::F64 => body.root(format, args[0]),
                _ => body.square_root(format, &spelled, args[0]),
            }),
            "sqrt" => self.each_float(&ids, |body, format, args| body.square_root(format, &spelled, args[0])),
            "round" => self.each_float(&ids, |body, format, args| body.rounded_away(format, args[0])),
            "fmod" => self.each_float(&ids, |body, format, args| body.remainder(format, args[0], args[1])),
            "divide" => self.each_float(&ids, |body, format, args| body.divide(format, args[0], args[1])),
            "recip" => {
                self.each_float(&ids, |body, format, args| body.divide(format, Operand::Imm(format.one()), args[0]))
            }
            "copysign" => self.each_float(&ids, |body, format, args| {
                let d = body.fresh(Width::holding(format.width()));
                body.emit(Op::CopySign { d, format, sign: args[1], magnitude: args[0] });
                d.into()
            }),
            "mix" => self.each_float(&ids, |body, format, args| body.mix(format, args)),
            "step" => self.each_float(&ids, |body, format, args| body.step(format, args[0], args[1])),
            "ldexp" => self.scaled(ids[0], ids[1]),
            "modf" => self.modf(&ids),
            "frexp" => self.frexp(&ids),
            "clz" => self.each_counted(2, |body, part, a| {
                let zeros = body.int(IntOp::LeadingZeros, part.width(), &[a]);
                // A number of 8 bits is held in a register of 16.
                let above = part.width().bits() - part.bits();
                body.int(IntOp::Sub, Width::B32, &[zeros, Operand::Imm(above.into())])
            }),
            "popcount" => self.each_counted(2, |body, part, a| body.int(IntOp::PopCount, part.width(), &[a])),
            "s_clamp" | "u_clamp" => {
                let signed = plain == "s_clamp";
                self.each_int(&ids, |body, part, args| {
                    let (max, min) = (IntOp::Max(Self::sign(signed)), IntOp::Min(Self::sign(signed)));
                    let raised = body.int_of(max, part, Self::sign(signed), &args[..2]);
                    body.int_of(min, part, Self::sign(signed), &[raised, args[2]])
                })
            }
            "s_mad24" | "u_mad24" => {
                self.each_int(&ids, |body, part, args| body.int_of(IntOp::MulAdd, part, Signedness::Unsigned, args))
            }
            // A prefetch changes nothing.
            "prefetch" => Ok(()),
            _ => {
                let done = match self.opencl_integer(plain, &ids) {
                    None => self.opencl_float(plain, &spelled, &ids),
                    done => done,
                };
                let done = done.or_else(|| self.opencl_memory(&name, &ids));
                done.unwrap_or_else(|| Err(self.unsupported(format!("OpExtInst {spelled}"))))
            }
        }
    }
}

/// GLSL.std.450's name of what both sets derive alike.
fn derived(name: &str) -> Option<&'static str> {
    Some(match name {
        "smoothstep" => "SmoothStep",
        "degrees" => "Degrees",
        "radians" => "Radians",
        "length" => "Length",
        "distance" => "Distance",
        "normalize" => "Normalize",
        "cross" => "Cross",
        _ => return None,
    })
}

/// The integer functions that are one operation.
fn integer(name: &str) -> Option<(IntOp, bool)> {
    Some(match name {
        "s_abs" => (IntOp::Abs, true),
        "s_abs_diff" => (IntOp::AbsDiff(Signedness::Signed), true),
        "u_abs_diff" => (IntOp::AbsDiff(Signedness::Unsigned), false),
        "s_min" => (IntOp::Min(Signedness::Signed), true),
        "s_max" => (IntOp::Max(Signedness::Signed), true),
        "u_min" => (IntOp::Min(Signedness::Unsigned), false),
        "u_max" => (IntOp::Max(Signedness::Unsigned), false),
        "s_mul24" | "u_mul24" => (IntOp::Mul, false),
        _ => return None,
    })
}
