//! One rounding that the modes cannot say: in a direction, with a flush of its own, to bf16, of quotients and roots.
//!
//! Products of two numbers of at most 24 bits are exact in f64. A sum is rounded there *to odd*: its error, which two-sum
//! gives, tells whether a bit was lost, and then the last bit is made one. What is rounded to odd rounds to any format of
//! at most 51 bits in any direction as the exact value does. A quotient or a root of numbers of 24 bits is no number of 25
//! bits unless it is exact, and then it is far enough from one that f64's own rounding loses nothing.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_ir::Operand;

use super::body::{Body, Result};
use super::ids::{Id, Ty};
use super::narrow::Direction;

const F64: Ty = Ty::F64;

impl Body<'_> {
    /// An operation of the family by f64.
    pub(super) fn expanded(&mut self, operation: &Operation, args: &[Operand; 3]) -> Result<(Id, Ty)> {
        if operation.format == Format::F64 {
            return self.directed(operation, args);
        }
        let widen = |body: &mut Self, at: usize, negate: bool| {
            body.as_f64(args[at], operation.operand_format(at), operation.flush, negate)
        };
        let Operation { negate_product, negate_addend, .. } = *operation;
        let first = widen(self, 0, negate_product)?;
        let exact = match operation.op {
            ArithOp::Add => {
                let second = widen(self, 1, negate_addend)?;
                self.sum_to_odd(first, second, operation.rounding)
            }
            _ => {
                let second = widen(self, 1, false)?;
                let mut product = self.emit(F64, "OpFMul", &[first, second]);
                if operation.fmz {
                    let zero = Id::constant(F64, 0);
                    for factor in [first, second] {
                        let is_zero = self.emit(Ty::Bool, "OpFOrdEqual", &[factor, zero]);
                        product = self.select(F64, is_zero, zero, product);
                    }
                }
                match operation.op {
                    ArithOp::Mul => product,
                    _ => {
                        let addend = widen(self, 2, negate_addend)?;
                        self.sum_to_odd(product, addend, operation.rounding)
                    }
                }
            }
        };
        self.narrowed(exact, operation.format, operation.rounding, operation.flush)
    }

    /// A multiply-add of sm_1x: the product is cut to 24 bits, and results that are subnormal when delivered are flushed.
    pub(super) fn truncated(&mut self, operation: &Operation, args: &[Operand; 3]) -> Result<(Id, Ty)> {
        let Operation { format, flush, negate_product, negate_addend, .. } = *operation;
        if format != Format::F32 || operation.operand_formats.is_some() {
            return Err("a product cut to 24 bits in another format than f32".to_owned());
        }
        let (word, int) = (|bits: u64| Id::constant(Ty::U32, bits), Ty::U32);
        let first = self.as_f64(args[0], format, flush, negate_product)?;
        let second = self.as_f64(args[1], format, flush, false)?;
        let addend = self.as_f64(args[2], format, flush, negate_addend)?;
        let product = self.emit(F64, "OpFMul", &[first, second]);
        let bits = self.bitcast(product, F64, Ty::U64);
        let below = Format::F64.frac_bits() - format.frac_bits();
        let cut = self.emit(Ty::U64, "OpBitwiseAnd", &[bits, Id::constant(Ty::U64, u64::MAX << below)]);
        let cut = self.bitcast(cut, Ty::U64, F64);
        let sum = self.sum_to_odd(cut, addend, Rounding::NearestEven);
        let bits = self.bitcast(sum, F64, Ty::U64);
        let mut result = self.delivered(format, format, bits, Direction::Nearest, true);
        if flush {
            let value = self.bitcast(result, int, Ty::F32);
            let value = self.flushed(value, Ty::F32);
            result = self.bitcast(value, Ty::F32, int);
        }
        // Where the addend is a zero, `mul` and `add`.
        let mul = Operation { op: ArithOp::Mul, clamp: Clamp::None, ..*operation };
        let (apart, ty) = self.family(&mul, args)?;
        let apart = self.scratch(apart, ty);
        let add = Operation { op: ArithOp::Add, clamp: Clamp::None, negate_product: false, ..*operation };
        let (apart, ty) = self.family(&add, &[apart, args[2], Operand::ZERO])?;
        let apart = self.bitcast(apart, ty, int);
        let addend = self.read_as(args[2], int);
        let counts = if flush { format.infinity() } else { format.magnitude_mask() };
        let rest = self.emit(int, "OpBitwiseAnd", &[addend, word(counts)]);
        let zero = self.emit(Ty::Bool, "OpIEqual", &[rest, word(0)]);
        let result = self.select(int, zero, apart, result);
        Ok((self.bitcast(result, int, Ty::F32), Ty::F32))
    }

    /// A quotient, rounded once.
    pub(super) fn quotient(
        &mut self,
        format: Format,
        rounding: Rounding,
        flush: bool,
        [a, b]: [Operand; 2],
    ) -> Result<(Id, Ty)> {
        if format == Format::F64 {
            self.is_f64_to_nearest(rounding)?;
            let args = [self.operand(a, F64, flush)?, self.operand(b, F64, flush)?];
            return Ok((self.emit(F64, "OpFDiv", &args), F64));
        }
        let args = [self.as_f64(a, format, flush, false)?, self.as_f64(b, format, flush, false)?];
        let quotient = self.emit(F64, "OpFDiv", &args);
        self.narrowed(quotient, format, rounding, flush)
    }

    /// A root, rounded once.
    pub(super) fn root(&mut self, format: Format, rounding: Rounding, flush: bool, a: Operand) -> Result<(Id, Ty)> {
        if format == Format::F64 {
            self.is_f64_to_nearest(rounding)?;
            let a = self.operand(a, F64, flush)?;
            return Ok((self.call(F64, "sqrt", &[a]), F64));
        }
        let a = self.as_f64(a, format, flush, false)?;
        let root = self.call(F64, "sqrt", &[a]);
        self.narrowed(root, format, rounding, flush)
    }

    fn is_f64_to_nearest(&mut self, rounding: Rounding) -> Result {
        if (rounding, self.mode(F64).toward_zero) != (Rounding::NearestEven, false) {
            return Err(format!("f64 rounded {}", direction(rounding)));
        }
        Ok(())
    }

    /// An operand in f64, exactly.
    pub(super) fn as_f64(&mut self, arg: Operand, format: Format, flush: bool, negate: bool) -> Result<Id> {
        self.mode(F64);
        let (value, ty) = match Ty::of_format(format) {
            Some(Ty::F64) => return Err("an operand of f64".to_owned()),
            Some(ty) => (self.operand(arg, ty, flush)?, ty),
            None if format == Format::BF16 && !flush => {
                let bits = self.read_as(arg, Ty::U16);
                let value = self.widened_bf16(bits);
                if self.mode(Ty::F32).flush {
                    return Err("a bf16's subnormals where the kernel flushes those of f32".to_owned());
                }
                (value, Ty::F32)
            }
            None => return Err(format!("a number of format {}", format.name().unwrap_or("of its own"))),
        };
        let value = if negate { self.negated(value, ty) } else { value };
        Ok(match value {
            Id::Const(Ty::F32, bits) => Id::constant(F64, f64::from(f32::from_bits(bits as u32)).to_bits()),
            _ => self.emit(F64, "OpFConvert", &[value]),
        })
    }

    /// a + b rounded to odd. An exact zero sum has the sign that a direction gives it.
    pub(super) fn sum_to_odd(&mut self, a: Id, b: Id, rounding: Rounding) -> Id {
        let sum = self.emit(F64, "OpFAdd", &[a, b]);
        // Two-sum: what the rounding left.
        let second = self.emit(F64, "OpFSub", &[sum, a]);
        let first = self.emit(F64, "OpFSub", &[sum, second]);
        let left_a = self.emit(F64, "OpFSub", &[a, first]);
        let left_b = self.emit(F64, "OpFSub", &[b, second]);
        let left = self.emit(F64, "OpFAdd", &[left_a, left_b]);
        let zero = Id::constant(F64, 0);
        // Of infinities and NaNs it is a NaN, which is not ordered.
        let inexact = self.emit(Ty::Bool, "OpFOrdNotEqual", &[left, zero]);
        let bits = self.bitcast(sum, F64, Ty::U64);
        let one = Id::constant(Ty::U64, 1);
        let last = self.emit(Ty::U64, "OpBitwiseAnd", &[bits, one]);
        let even = self.emit(Ty::Bool, "OpIEqual", &[last, Id::constant(Ty::U64, 0)]);
        let moves = self.emit(Ty::Bool, "OpLogicalAnd", &[inexact, even]);
        let left_bits = self.bitcast(left, F64, Ty::U64);
        let signs = self.emit(Ty::U64, "OpBitwiseXor", &[bits, left_bits]);
        let inward = self.emit(Ty::Bool, "OpSLessThan", &[signs, Id::constant(Ty::U64, 0)]);
        let step = self.select(Ty::U64, inward, Id::constant(Ty::U64, u64::MAX), one);
        let moved = self.emit(Ty::U64, "OpIAdd", &[bits, step]);
        let mut odd = self.select(Ty::U64, moves, moved, bits);
        if rounding == Rounding::Down {
            // +0 and −0, or two that cancel, give −0.
            let [x, y] = [a, b].map(|value| self.bitcast(value, F64, Ty::U64));
            let either = self.emit(Ty::U64, "OpBitwiseOr", &[x, y]);
            let sign = self.emit(Ty::U64, "OpBitwiseAnd", &[either, Id::constant(Ty::U64, 1 << 63)]);
            let is_zero = self.emit(Ty::Bool, "OpFOrdEqual", &[sum, zero]);
            odd = self.select(Ty::U64, is_zero, sign, odd);
        }
        self.bitcast(odd, Ty::U64, F64)
    }

    /// A computed f64 rounded once to a narrower format; a NaN is the canonical one.
    pub(super) fn narrowed(&mut self, value: Id, format: Format, rounding: Rounding, flush: bool) -> Result<(Id, Ty)> {
        let (narrow, ty) = self.cut(value, format, rounding, flush)?;
        Ok((if ty == Ty::U16 { narrow } else { self.canonical(narrow, ty) }, ty))
    }

    /// An f64 rounded once to a narrower format; a NaN keeps its payload. Flushed is what the format's precision cannot
    /// keep from being below its smallest normal number.
    pub(super) fn cut(&mut self, value: Id, format: Format, rounding: Rounding, flush: bool) -> Result<(Id, Ty)> {
        self.mode(F64);
        let Some(ty) = Ty::of_format(format) else {
            return match (format, flush) {
                (Format::BF16, false) => Ok((self.rounded_to_bf16(value, rounding), Ty::U16)),
                _ => Err(format!("a result of format {}", format.name().unwrap_or("of its own"))),
            };
        };
        let mode = self.mode(ty);
        if mode.flush && !flush {
            return Err("subnormals kept where the kernel flushes them".to_owned());
        }
        let narrow = self.convert_float(value, ty, rounding);
        if !flush {
            return Ok((narrow, ty));
        }
        let tiny = self.is_tiny(value, format, rounding);
        let int = Ty::int(ty.bits());
        let bits = self.bitcast(narrow, ty, int);
        let sign = self.emit(int, "OpBitwiseAnd", &[bits, Id::constant(int, format.sign_mask())]);
        let bits = self.select(int, tiny, sign, bits);
        Ok((self.bitcast(bits, int, ty), ty))
    }

    /// Whether an f64 is below a format's smallest normal number once it has the format's precision.
    fn is_tiny(&mut self, value: Id, format: Format, rounding: Rounding) -> Id {
        let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
        let least = power(format.emin());
        let constant = |value: f64| Id::constant(F64, value.to_bits());
        let precision = format.precision() as i32;
        // What rounds away from zero reaches the smallest normal number from its neighbour below on, what rounds to nearest
        // from halfway to that on.
        let nearest = constant(least - power(format.emin() - precision - 1));
        let below = constant(least - power(format.emin() - precision));
        match rounding {
            Rounding::Up | Rounding::Down => {
                let up = rounding == Rounding::Up;
                let (least, neighbour) = (constant(least), below);
                let flip = |id: Id| match id {
                    Id::Const(ty, bits) => Id::constant(ty, bits ^ 1 << 63),
                    _ => id,
                };
                let (above, under) = if up { (neighbour, flip(least)) } else { (least, flip(neighbour)) };
                let (less, more) = match up {
                    true => ("OpFOrdLessThanEqual", "OpFOrdGreaterThan"),
                    false => ("OpFOrdLessThan", "OpFOrdGreaterThanEqual"),
                };
                let is_less = self.emit(Ty::Bool, less, &[value, above]);
                let is_more = self.emit(Ty::Bool, more, &[value, under]);
                self.emit(Ty::Bool, "OpLogicalAnd", &[is_less, is_more])
            }
            Rounding::NearestEven | Rounding::TowardZero => {
                let magnitude = self.call(F64, "fabs", &[value]);
                let end = if rounding == Rounding::TowardZero { constant(least) } else { nearest };
                self.emit(Ty::Bool, "OpFOrdLessThan", &[magnitude, end])
            }
        }
    }

    /// To bf16's bits: to odd in f32, whose range is the same, and from there on integers.
    fn rounded_to_bf16(&mut self, value: Id, rounding: Rounding) -> Id {
        self.mode(Ty::F32);
        let cut = self.convert_float(value, Ty::F32, Rounding::TowardZero);
        let back = self.emit(F64, "OpFConvert", &[cut]);
        let lost = self.emit(Ty::Bool, "OpFOrdNotEqual", &[back, value]);
        let bits = self.bitcast(cut, Ty::F32, Ty::U32);
        let sticky = self.select(Ty::U32, lost, Id::constant(Ty::U32, 1), Id::constant(Ty::U32, 0));
        let odd = self.emit(Ty::U32, "OpBitwiseOr", &[bits, sticky]);
        self.upper_half(odd, rounding)
    }

    /// The upper half of an f32's bits, rounded; a NaN's is the canonical one.
    pub(super) fn upper_half(&mut self, bits: Id, rounding: Rounding) -> Id {
        let constant = |bits: u64| Id::constant(Ty::U32, bits);
        let added = match rounding {
            Rounding::TowardZero => None,
            Rounding::Up | Rounding::Down => {
                let negative = self.emit(Ty::Bool, "OpSLessThan", &[bits, constant(0)]);
                let (then, otherwise) = if rounding == Rounding::Down { (0xffff, 0) } else { (0, 0xffff) };
                Some(self.select(Ty::U32, negative, constant(then), constant(otherwise)))
            }
            Rounding::NearestEven => {
                let upper = self.emit(Ty::U32, "OpShiftRightLogical", &[bits, constant(16)]);
                let last = self.emit(Ty::U32, "OpBitwiseAnd", &[upper, constant(1)]);
                Some(self.emit(Ty::U32, "OpIAdd", &[last, constant(0x7fff)]))
            }
        };
        let rounded = match added {
            Some(added) => self.emit(Ty::U32, "OpIAdd", &[bits, added]),
            None => bits,
        };
        let half = self.emit(Ty::U32, "OpShiftRightLogical", &[rounded, constant(16)]);
        let magnitude = self.emit(Ty::U32, "OpBitwiseAnd", &[bits, constant(0x7fff_ffff)]);
        let nan = self.emit(Ty::Bool, "OpUGreaterThan", &[magnitude, constant(0x7f80_0000)]);
        let half = self.select(Ty::U32, nan, constant(0x7fff), half);
        self.resize(half, Ty::U32, Ty::U16)
    }

    /// A float in another type, in a direction.
    pub(super) fn convert_float(&mut self, value: Id, to: Ty, rounding: Rounding) -> Id {
        let converted = self.emit(to, "OpFConvert", &[value]);
        self.round_as(converted, to, rounding);
        converted
    }

    /// Says a conversion's direction where the mode of its result does not.
    pub(super) fn round_as(&mut self, converted: Id, to: Ty, rounding: Rounding) {
        let mode = self.mode(to);
        let name = match rounding {
            Rounding::NearestEven if !mode.toward_zero => return,
            Rounding::TowardZero if mode.toward_zero => return,
            Rounding::TowardZero => "RTZ",
            Rounding::Up => "RTP",
            Rounding::Down => "RTN",
            Rounding::NearestEven => "RTE",
        };
        self.module.decorate(converted, &format!("FPRoundingMode {name}"));
    }
}

/// A direction in words.
pub(super) fn direction(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => "to nearest even",
        Rounding::TowardZero => "toward zero",
        Rounding::Up => "up",
        Rounding::Down => "down",
    }
}
