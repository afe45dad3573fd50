//! Floating-point functions of OpenCL.std that GLSL.std.450 has not.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{Class, Comparand, Comparison, Function, IntOp, Op, Operand, Scalar, Width};

use super::types::Part;
use super::{Body, Result};

/// Bits of the quotient that `remquo` gives.
const QUOTIENT_BITS: u32 = 7;

impl Body<'_> {
    /// A function of floats; none of another name.
    pub(super) fn opencl_float(&mut self, name: &str, spelled: &str, ids: &[u32]) -> Option<Result<()>> {
        let f: fn(&mut Self, Format, &[Operand]) -> Operand = match name {
            "fdim" => |body, format, args| {
                let difference = body.subtract(format, args[0], args[1]);
                let of = Comparand::Float { format, flush: body.flushes(format) };
                let below = body.compare(Comparison::Le, of, args[0], args[1]);
                body.select(Width::holding(format.width()), below, Operand::ZERO, difference)
            },
            "maxmag" => |body, format, args| body.by_magnitude(format, true, args[0], args[1]),
            "minmag" => |body, format, args| body.by_magnitude(format, false, args[0], args[1]),
            "sign" => |body, format, args| body.sign_or_zero(format, args[0]),
            "nextafter" => Self::neighbour,
            "logb" => |body, format, args| body.exponent_as_float(format, args[0]),
            "remainder" => |body, format, args| body.nearest_remainder(format, 1, args[0], args[1]).0,
            "fract" => return Some(self.fract(ids)),
            "nan" => return Some(self.nan_of(ids[0])),
            "ilogb" => return Some(self.exponents(ids[0])),
            "pown" => return Some(self.with_whole(Function::Pown, spelled, ids)),
            "rootn" => return Some(self.with_whole(Function::Root, spelled, ids)),
            "sincos" => return Some(self.sine_and_cosine(spelled, ids)),
            "remquo" => return Some(self.remainder_and_quotient(ids)),
            _ => return None,
        };
        Some(self.each_float(ids, f))
    }

    /// Exact arithmetic, for what is derived from it: nothing is flushed, and overflow gives infinity.
    fn exactly(&mut self, subtracts: bool, format: Format, a: Operand, b: Operand) -> Operand {
        let add = Operation::new(ArithOp::Add, format, Rounding::NearestEven);
        self.operate(Operation { negate_addend: subtracts, ..add }, &[a, b])
    }

    /// 1 with the sign; of zero that zero, of NaN +0.
    fn sign_or_zero(&mut self, format: Format, a: Operand) -> Operand {
        let (width, of) = (Width::holding(format.width()), Comparand::Float { format, flush: self.flushes(format) });
        let sign = self.sign_number(format, a);
        let is_zero = self.compare(Comparison::Eq, of, a, Operand::ZERO);
        let zero = self.int(IntOp::And, width, &[a, Operand::Imm(format.sign_mask())]);
        self.select(width, is_zero, zero, sign)
    }

    /// The one of the larger, or smaller, magnitude; of equal ones the larger, or smaller.
    fn by_magnitude(&mut self, format: Format, max: bool, a: Operand, b: Operand) -> Operand {
        let (width, of) = (Width::holding(format.width()), Comparand::Float { format, flush: self.flushes(format) });
        let (x, y) = (self.magnitude(format, a), self.magnitude(format, b));
        let (first, second) = if max { (Comparison::Gt, Comparison::Lt) } else { (Comparison::Lt, Comparison::Gt) };
        let (is_first, is_second) = (self.compare(first, of, x, y), self.compare(second, of, x, y));
        let otherwise = if max { self.maximum(format, a, b) } else { self.minimum(format, a, b) };
        let (a, b) = (self.flushed(format, a), self.flushed(format, b));
        let other = self.select(width, is_second, b, otherwise);
        self.select(width, is_first, a, other)
    }

    /// The next number from `x` toward `y`. Where subnormals become zero, the next normal number or zero.
    fn neighbour(&mut self, format: Format, args: &[Operand]) -> Operand {
        let [x, y] = [args[0], args[1]].map(|a| self.flushed(format, a));
        let (width, of) = (Width::holding(format.width()), Comparand::Float { format, flush: false });
        let flush = self.flushes(format);
        let (up, down) = (self.compare(Comparison::Lt, of, x, y), self.compare(Comparison::Gt, of, x, y));
        let negative = self.is_negative(Part::Int { bits: format.width(), signed: true }, x);
        // Bits grow with the magnitude.
        let shrinks = self.select(Width::Pred, negative, up, down);
        let step = self.select(width, shrinks, Operand::Imm(width.mask()), Operand::Imm(1));
        let moved = self.int(IntOp::Add, width, &[x, step]);
        let moved = if flush {
            let magnitude = self.int(IntOp::And, width, &[moved, Operand::Imm(format.magnitude_mask())]);
            let smallest = Operand::Imm(format.smallest_normal());
            let small = self.compare(Comparison::Lt, Comparand::Unsigned(width), magnitude, smallest);
            let zero = self.int(IntOp::And, width, &[moved, Operand::Imm(format.sign_mask())]);
            self.select(width, small, zero, moved)
        } else {
            moved
        };
        let least = if flush { format.smallest_normal() } else { 1 };
        let below = Operand::Imm(least | format.sign_mask());
        let from_zero = self.select(width, up, Operand::Imm(least), below);
        let is_zero = self.compare(Comparison::Eq, of, x, Operand::ZERO);
        let next = self.select(width, is_zero, from_zero, moved);
        let equal = self.compare(Comparison::Eq, of, x, y);
        let next = self.select(width, equal, y, next);
        // A NaN of either is one of the sum.
        let unordered = self.compare(Comparison::Nan, of, x, y);
        let nan = self.exactly(false, format, x, y);
        self.select(width, unordered, nan, next)
    }

    /// The exponent as a float: −∞ of zero, +∞ of infinity.
    fn exponent_as_float(&mut self, format: Format, a: Operand) -> Operand {
        let width = Width::holding(format.width());
        let a = self.flushed(format, a);
        let (_, exponent) = self.significand_and_exponent(format, a);
        let exponent = self.int(IntOp::Sub, Width::B32, &[exponent, Operand::Imm(1)]);
        let int = Scalar::Int { bits: 32, signed: true };
        let exponent = self.convert(int, Scalar::Float(format), Rounding::NearestEven, exponent);
        let is_zero = self.compare(Comparison::Eq, Comparand::Float { format, flush: false }, a, Operand::ZERO);
        let lowest = Operand::Imm(format.infinity() | format.sign_mask());
        let exponent = self.select(width, is_zero, lowest, exponent);
        let finite = self.is_of(Class::Finite, format, a);
        let other = self.exactly(false, format, a, a);
        let other = self.magnitude_of_infinity(format, other);
        self.select(width, finite, exponent, other)
    }

    /// Infinity without its sign; a NaN as it is.
    fn magnitude_of_infinity(&mut self, format: Format, a: Operand) -> Operand {
        let infinite = self.is_of(Class::Infinite, format, a);
        self.select(Width::holding(format.width()), infinite, Operand::Imm(format.infinity()), a)
    }

    /// Exponents as integers. What has none gives the numbers that OpenCL C's header names, whose values are left open.
    fn exponents(&mut self, id: u32) -> Result<()> {
        self.open("OpenCL.std ilogb: of 0 and of NaN −2147483648, of infinity 2147483647");
        let (format, parts) = self.float_operand(id)?;
        let mut all = Vec::with_capacity(parts.len());
        for &a in &parts[..] {
            let a = self.flushed(format, a);
            let (_, exponent) = self.significand_and_exponent(format, a);
            let exponent = self.int(IntOp::Sub, Width::B32, &[exponent, Operand::Imm(1)]);
            let has = self.compare(Comparison::Ne, Comparand::Float { format, flush: false }, a, Operand::ZERO);
            let infinite = self.is_of(Class::Infinite, format, a);
            let exponent = self.select(Width::B32, has, exponent, Operand::Imm(1 << 31));
            all.push(self.select(Width::B32, infinite, Operand::Imm((1 << 31) - 1), exponent));
        }
        self.define(all)
    }

    /// What is above the next lower whole number, below 1; that number through the pointer.
    fn fract(&mut self, ids: &[u32]) -> Result<()> {
        let (format, parts) = self.float_operand(ids[0])?;
        let (width, of) = (Width::holding(format.width()), Comparand::Float { format, flush: false });
        let (mut fractions, mut wholes) = (Vec::new(), Vec::new());
        for &a in &parts[..] {
            let a = self.flushed(format, a);
            let whole = self.integral(format, Rounding::Down, a);
            let rest = self.subtract(format, a, whole);
            let reaches = self.compare(Comparison::Ge, of, rest, Operand::Imm(format.one()));
            let rest = self.select(width, reaches, Operand::Imm(format.one() - 1), rest);
            // Zero and infinity have a zero of their sign.
            let zero = self.compare(Comparison::Eq, of, a, Operand::ZERO);
            let infinite = self.is_of(Class::Infinite, format, a);
            let none = self.int(IntOp::Or, Width::Pred, &[zero, infinite]);
            let signed = self.int(IntOp::And, width, &[a, Operand::Imm(format.sign_mask())]);
            fractions.push(self.select(width, none, signed, rest));
            wholes.push(whole);
        }
        self.both(ids, fractions, wholes)
    }

    /// A quiet NaN with an integer's bits for a payload.
    fn nan_of(&mut self, id: u32) -> Result<()> {
        self.open("OpenCL.std nan: the code is the payload");
        let codes = self.components(id)?;
        let (part, count) = self.result()?;
        let Part::Float(format) = part else { return Err(self.malformed("the Result Type is no float")) };
        let fits = matches!(codes.part, Part::Int { .. }) && codes.part.bits() == format.width();
        if !fits || codes.parts.len() != count {
            return Err(self.malformed("the operand is no integer of the result's width"));
        }
        let width = Width::holding(format.width());
        let quiet = Operand::Imm(format.infinity() | 1 << (format.frac_bits() - 1));
        let one = |&code: &Operand| {
            let payload = self.int(IntOp::And, width, &[code, Operand::Imm(format.frac_mask())]);
            self.int(IntOp::Or, width, &[payload, quiet])
        };
        let parts: Vec<_> = codes.parts.iter().map(one).collect();
        self.define(parts)
    }

    /// A function of a float and a whole number: a power or a root.
    fn with_whole(&mut self, function: Function, spelled: &str, ids: &[u32]) -> Result<()> {
        let powers = self.components(ids[1])?;
        let count = self.result()?.1;
        if !matches!(powers.part, Part::Int { bits: 32, .. }) || powers.parts.len() != count {
            return Err(
                self.malformed("the second operand is no integer of 32 bits, or has another number of components")
            );
        }
        let mut powers = powers.parts.iter();
        self.each_float(&ids[..1], |body, format, args| {
            let power = powers.next().copied().unwrap_or(Operand::ZERO);
            body.approximate(function, format, spelled, &[args[0], power])
        })
    }

    /// The sine, and through the pointer the cosine.
    fn sine_and_cosine(&mut self, spelled: &str, ids: &[u32]) -> Result<()> {
        let (format, parts) = self.float_operand(ids[0])?;
        let [sines, cosines] = [Function::Sin, Function::Cos].map(|function| {
            let one = |&a: &Operand| self.approximate(function, format, spelled, &[a]);
            parts.iter().map(one).collect::<Vec<_>>()
        });
        self.both(ids, sines, cosines)
    }

    /// IEEE 754's remainder, and through the pointer the low bits of the quotient with its sign.
    fn remainder_and_quotient(&mut self, ids: &[u32]) -> Result<()> {
        self.open(format!("OpenCL.std remquo: {QUOTIENT_BITS} bits of the quotient"));
        let ((format, x), (other, y)) = (self.float_operand(ids[0])?, self.float_operand(ids[1])?);
        if format != other || x.len() != y.len() {
            return Err(self.malformed("the operands are of different types"));
        }
        let (mut rests, mut quotients) = (Vec::new(), Vec::new());
        for (&x, &y) in x.iter().zip(&y[..]) {
            let (rest, quotient) = self.nearest_remainder(format, QUOTIENT_BITS, x, y);
            rests.push(rest);
            quotients.push(quotient);
        }
        self.both(&[ids[0], ids[2]], rests, quotients)
    }

    /// x − n × y for the whole number n nearest to x / y, of two the even one: exact. And the low bits of n, with the
    /// quotient's sign.
    fn nearest_remainder(&mut self, format: Format, bits: u32, x: Operand, y: Operand) -> (Operand, Operand) {
        let (width, of) = (Width::holding(format.width()), Comparand::Float { format, flush: false });
        let (x, y) = (self.flushed(format, x), self.flushed(format, y));
        let mask = |body: &mut Self, a| body.int(IntOp::And, width, &[a, Operand::Imm(format.magnitude_mask())]);
        let (above, divisor) = (mask(self, x), mask(self, y));
        let times = |body: &mut Self, power: u32| {
            let (d, exponent) = (body.fresh(width), Operand::Imm(power.into()));
            let (rounding, flush) = (Rounding::NearestEven, false);
            body.emit(Op::Scale { d, format, rounding, flush, a: divisor, exponent });
            Operand::Reg(d)
        };
        // Below the divisor times 2^bits first; what overflows is above everything.
        let multiple = times(self, bits);
        let d = self.fresh(width);
        self.emit(Op::Remainder { d, format, a: above, b: multiple });
        let (mut rest, mut quotient) = (Operand::Reg(d), Operand::ZERO);
        for power in (0..bits).rev() {
            let multiple = times(self, power);
            let takes = self.compare(Comparison::Ge, of, rest, multiple);
            let less = self.exactly(true, format, rest, multiple);
            rest = self.select(width, takes, less, rest);
            let more = self.int(IntOp::Or, Width::B32, &[quotient, Operand::Imm(1 << power)]);
            quotient = self.select(Width::B32, takes, more, quotient);
        }
        let twice = self.exactly(false, format, rest, rest);
        let more = self.compare(Comparison::Gt, of, twice, divisor);
        let half = self.compare(Comparison::Eq, of, twice, divisor);
        let odd = self.int(IntOp::And, Width::B32, &[quotient, Operand::Imm(1)]);
        let odd = self.is_not_zero(Width::B32, odd);
        let tie = self.int(IntOp::And, Width::Pred, &[half, odd]);
        let up = self.int(IntOp::Or, Width::Pred, &[more, tie]);
        let less = self.exactly(true, format, rest, divisor);
        let rest = self.select(width, up, less, rest);
        let next = self.int(IntOp::Add, Width::B32, &[quotient, Operand::Imm(1)]);
        let quotient = self.select(Width::B32, up, next, quotient);
        let quotient = self.int(IntOp::And, Width::B32, &[quotient, Operand::Imm((1 << bits) - 1)]);
        // The signs: of the rest, x's; of the quotient, both multiplied.
        let sign = self.int(IntOp::And, width, &[x, Operand::Imm(format.sign_mask())]);
        let signed = self.int(IntOp::Xor, width, &[rest, sign]);
        let number = self.is_of(Class::Number, format, rest);
        let rest = self.select(width, number, signed, rest);
        let signs = self.int(IntOp::Xor, width, &[x, y]);
        let opposed = self.is_negative(Part::Int { bits: format.width(), signed: true }, signs);
        let negative = self.int(IntOp::Neg, Width::B32, &[quotient]);
        let quotient = self.select(Width::B32, opposed, negative, quotient);
        let quotient = self.select(Width::B32, number, quotient, Operand::ZERO);
        (self.flushed(format, rest), quotient)
    }
}
