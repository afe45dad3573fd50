//! f64 rounded in a direction that the modes do not say: nothing is wider, so that a fused multiply-add is computed on integers of
//! 128 bits. Sums and products are such multiply-adds too.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::Operand;

use super::body::{Body, Result};
use super::exact::direction;
use super::ids::{Id, Ty};

const U32: Ty = Ty::U32;
const U64: Ty = Ty::U64;
const F64: Ty = Ty::F64;
const BOOL: Ty = Ty::Bool;

const DOUBLE: Format = Format::F64;
/// Zeros below a product of two significands, and below an addend: the leading bit of both stands at 124, a product's also at 125.
const BELOW_PRODUCT: i32 = 20;
const BELOW_ADDEND: i32 = 72;
/// Far below every exponent.
const NOWHERE: u64 = -10_000i64 as u64;

/// Two halves of 128 bits: the upper and the lower one.
type Wide = [Id; 2];

/// A number taken apart: its sign in the lowest bit, its exponent field, and the significand with its leading bit at 52.
struct Parts {
    sign: Id,
    exponent: Id,
    significand: Id,
}

const fn long(bits: u64) -> Id {
    Id::constant(U64, bits)
}

const fn word(number: i32) -> Id {
    Id::constant(U32, number as u64)
}

impl Body<'_> {
    /// An operation of the family in f64, in a direction.
    pub(super) fn directed(&mut self, operation: &Operation, args: &[Operand; 3]) -> Result<(Id, Ty)> {
        let Operation { negate_product, negate_addend, rounding, .. } = *operation;
        if operation.operand_formats.is_some() || operation.source_format != DOUBLE || operation.fmz || operation.flush
        {
            return Err(format!("f64 rounded {}", direction(rounding)));
        }
        self.mode(F64);
        let value = |body: &mut Self, at: usize, negate: bool| {
            let value = body.read_as(args[at], F64);
            if negate { body.negated(value, F64) } else { value }
        };
        let first = value(self, 0, negate_product);
        let (second, addend) = match operation.op {
            ArithOp::Add => (Id::constant(F64, DOUBLE.one()), value(self, 1, negate_addend)),
            // A zero that leaves the sign of a zero product.
            ArithOp::Mul => {
                let zero = if rounding == Rounding::Down { 0 } else { DOUBLE.sign_mask() };
                (value(self, 1, false), Id::constant(F64, zero))
            }
            _ => (value(self, 1, false), value(self, 2, negate_addend)),
        };
        Ok((self.directed_fma(rounding, [first, second, addend])?, F64))
    }

    /// a × b + c, rounded once in a direction.
    pub(super) fn directed_fma(&mut self, rounding: Rounding, args: [Id; 3]) -> Result<Id> {
        let function = match self.module.directed.iter().find(|(known, _)| *known == rounding) {
            Some(&(_, known)) => known,
            None => {
                if rounding == Rounding::NearestEven {
                    return Err(format!("f64 rounded {}", direction(rounding)));
                }
                let comment = format!("a * b + c of f64 rounded {}", direction(rounding));
                let name = format!("fma_f64_{}", rounding.name());
                let id = self.function(&name, &comment, F64.into(), &[F64; 3], |body, given| {
                    Ok(body.fma_by_integers(rounding, [given[0], given[1], given[2]]))
                })?;
                self.module.directed.push((rounding, id));
                id
            }
        };
        Ok(self.emit(F64, "OpFunctionCall", &[&[function][..], &args].concat()))
    }

    fn fma_by_integers(&mut self, rounding: Rounding, values: [Id; 3]) -> Id {
        let bits = values.map(|value| self.bitcast(value, F64, U64));
        let [a, b, c] = bits.map(|bits| self.parts(bits));
        // The product and the addend, and the exponents of their lowest bits.
        let [x, y] = [&a, &b].map(|parts| self.up(parts.significand, (BELOW_PRODUCT / 2) as u64));
        let high = self.call(U64, "u_mul_hi", &[x, y]);
        let low = self.emit(U64, "OpIMul", &[x, y]);
        let both = self.emit(U32, "OpIAdd", &[a.exponent, b.exponent]);
        let last = DOUBLE.bias() + DOUBLE.frac_bits() as i32;
        let of_product = self.emit(U32, "OpIAdd", &[both, word(-2 * last - BELOW_PRODUCT)]);
        let of_product = self.nowhere_if_zero(high, of_product);
        let top = self.up(c.significand, (BELOW_ADDEND - 64) as u64);
        let of_addend = self.emit(U32, "OpIAdd", &[c.exponent, word(-last - BELOW_ADDEND)]);
        let of_addend = self.nowhere_if_zero(top, of_addend);
        let product_sign = self.emit(U64, "OpBitwiseXor", &[a.sign, b.sign]);

        // The one with the lower exponent is moved down. Where it loses bits the other is far larger.
        let swaps = self.emit(BOOL, "OpSLessThan", &[of_product, of_addend]);
        let choose = |body: &mut Self, ty: Ty, product: Id, addend: Id| {
            [body.select(ty, swaps, addend, product), body.select(ty, swaps, product, addend)]
        };
        let [upper_high, lower_high] = choose(self, U64, high, top);
        let [upper_low, lower_low] = choose(self, U64, low, long(0));
        let [exponent, lower_exponent] = choose(self, U32, of_product, of_addend);
        let [sign, lower_sign] = choose(self, U64, product_sign, c.sign);
        let down = self.emit(U32, "OpISub", &[exponent, lower_exponent]);
        let lower = self.moved_down_sticky([lower_high, lower_low], down);

        // Subtracted where the signs differ, and then negated where that was the larger one.
        let differ = self.emit(U64, "OpBitwiseXor", &[sign, lower_sign]);
        let lower = self.negated_if(lower, differ);
        let total = self.sum([upper_high, upper_low], lower);
        let below = self.down(total[0], 63);
        let total = self.negated_if(total, below);
        let turned = self.emit(U64, "OpBitwiseXor", &[sign, below]);
        let any = self.emit(U64, "OpBitwiseOr", &total);
        let vanishes = self.emit(BOOL, "OpIEqual", &[any, long(0)]);
        // Zeros of one sign keep it.
        let of_zero = if rounding == Rounding::Down {
            self.emit(U64, "OpBitwiseOr", &[product_sign, c.sign])
        } else {
            self.emit(U64, "OpBitwiseAnd", &[product_sign, c.sign])
        };
        let sign = self.select(U64, vanishes, of_zero, turned);

        let magnitude = self.magnitude_of(rounding, total, exponent, sign);
        let magnitude = self.select(U64, vanishes, long(0), magnitude);
        let top = self.up(sign, 63);
        let result = self.emit(U64, "OpBitwiseOr", &[magnitude, top]);
        let result = self.bitcast(result, U64, F64);
        // Of infinities and NaNs nothing is rounded.
        let plain = self.fused(F64, values[0], values[1], values[2]);
        let mut special = None;
        for bits in bits {
            let magnitude = self.emit(U64, "OpBitwiseAnd", &[bits, long(DOUBLE.magnitude_mask())]);
            let this = self.emit(BOOL, "OpUGreaterThanEqual", &[magnitude, long(DOUBLE.infinity())]);
            special = Some(match special {
                Some(others) => self.emit(BOOL, "OpLogicalOr", &[others, this]),
                None => this,
            });
        }
        special.map_or(result, |special| self.select(F64, special, plain, result))
    }

    /// The bits of a magnitude rounded once. `exponent` is that of the lowest of the 128 bits.
    fn magnitude_of(&mut self, rounding: Rounding, total: Wide, exponent: Id, sign: Id) -> Id {
        // The leading bit at the top.
        let empty = self.emit(BOOL, "OpIEqual", &[total[0], long(0)]);
        let high = self.select(U64, empty, total[1], total[0]);
        let low = self.select(U64, empty, long(0), total[1]);
        let zeros = self.call(U64, "clz", &[high]);
        let zeros = self.emit(U64, "OpBitwiseAnd", &[zeros, long(63)]);
        let moved = self.emit(U64, "OpShiftLeftLogical", &[high, zeros]);
        let from_low = self.upper_bits(low, zeros);
        let high = self.emit(U64, "OpBitwiseOr", &[moved, from_low]);
        let low = self.emit(U64, "OpShiftLeftLogical", &[low, zeros]);
        let zeros = self.emit(U32, "OpUConvert", &[zeros]);
        let further = self.select(U32, empty, word(64), word(0));
        let zeros = self.emit(U32, "OpIAdd", &[zeros, further]);
        let field = self.emit(U32, "OpISub", &[exponent, zeros]);
        let field = self.emit(U32, "OpIAdd", &[field, word(127 + DOUBLE.bias())]);
        // Below the smallest normal number fewer bits are kept.
        let short = self.emit(U32, "OpISub", &[word(1), field]);
        let short = self.call(U32, "s_clamp", &[short, word(0), word(63)]);
        let short = self.emit(U64, "OpUConvert", &[short]);
        let kept = self.emit(U64, "OpShiftRightLogical", &[high, short]);
        let back = self.emit(U64, "OpShiftLeftLogical", &[kept, short]);
        let lost = self.emit(U64, "OpBitwiseXor", &[back, high]);
        let guard = 63 - u64::from(DOUBLE.frac_bits());
        let rest = self.emit(U64, "OpBitwiseAnd", &[kept, long((1 << guard) - 1)]);
        let kept = self.down(kept, guard);
        let rest = self.emit(U64, "OpBitwiseOr", &[rest, lost]);
        let rest = self.emit(U64, "OpBitwiseOr", &[rest, low]);
        let inexact = self.emit(BOOL, "OpINotEqual", &[rest, long(0)]);
        // The hidden bit is one of the field.
        let infinite = DOUBLE.exp_max() as i32;
        let field = self.call(U32, "s_clamp", &[field, word(1), word(infinite)]);
        let field = self.emit(U32, "OpISub", &[field, word(1)]);
        let field = self.emit(U64, "OpUConvert", &[field]);
        let field = self.up(field, DOUBLE.frac_bits().into());
        let magnitude = self.emit(U64, "OpIAdd", &[field, kept]);
        let away = match rounding {
            Rounding::Up => Some(0),
            Rounding::Down => Some(1),
            _ => None,
        };
        let away = away.map(|side| self.emit(BOOL, "OpIEqual", &[sign, long(side)]));
        let (mut rounded, mut end) = (magnitude, long(DOUBLE.largest_finite()));
        if let Some(away) = away {
            let moves = self.emit(BOOL, "OpLogicalAnd", &[away, inexact]);
            let step = self.select(U64, moves, long(1), long(0));
            rounded = self.emit(U64, "OpIAdd", &[magnitude, step]);
            end = self.select(U64, away, long(DOUBLE.infinity()), end);
        }
        let beyond = self.emit(BOOL, "OpUGreaterThanEqual", &[rounded, long(DOUBLE.infinity())]);
        self.select(U64, beyond, end, rounded)
    }

    fn parts(&mut self, bits: Id) -> Parts {
        let sign = self.down(bits, 63);
        let field = self.down(bits, DOUBLE.frac_bits().into());
        let field = self.emit(U64, "OpBitwiseAnd", &[field, long(DOUBLE.exp_max())]);
        let fraction = self.emit(U64, "OpBitwiseAnd", &[bits, long(DOUBLE.frac_mask())]);
        let subnormal = self.emit(BOOL, "OpIEqual", &[field, long(0)]);
        let normal = self.emit(U64, "OpBitwiseOr", &[fraction, long(DOUBLE.smallest_normal())]);
        let significand = self.select(U64, subnormal, fraction, normal);
        let zeros = self.call(U64, "clz", &[significand]);
        let over = self.emit(U64, "OpISub", &[zeros, long(63 - u64::from(DOUBLE.frac_bits()))]);
        let significand = self.emit(U64, "OpShiftLeftLogical", &[significand, over]);
        let field = self.select(U64, subnormal, long(1), field);
        let exponent = self.emit(U64, "OpISub", &[field, over]);
        let exponent = self.emit(U32, "OpUConvert", &[exponent]);
        Parts { sign, exponent, significand }
    }

    fn nowhere_if_zero(&mut self, high: Id, exponent: Id) -> Id {
        let zero = self.emit(BOOL, "OpIEqual", &[high, long(0)]);
        self.select(U32, zero, Id::constant(U32, NOWHERE), exponent)
    }

    fn up(&mut self, value: Id, by: u64) -> Id {
        self.emit(U64, "OpShiftLeftLogical", &[value, long(by)])
    }

    fn down(&mut self, value: Id, by: u64) -> Id {
        self.emit(U64, "OpShiftRightLogical", &[value, long(by)])
    }

    /// What a shift left by `by`, below 64, moves beyond the top.
    fn upper_bits(&mut self, low: Id, by: Id) -> Id {
        let half = self.down(low, 1);
        let rest = self.emit(U64, "OpISub", &[long(63), by]);
        self.emit(U64, "OpShiftRightLogical", &[half, rest])
    }

    /// Moved down by any number of bits; what is lost is one in the lowest bit.
    fn moved_down_sticky(&mut self, [high, low]: Wide, by: Id) -> Wide {
        let by = self.call(U32, "u_min", &[by, word(127)]);
        let far = self.emit(BOOL, "OpUGreaterThanEqual", &[by, word(64)]);
        let within = self.emit(U32, "OpBitwiseAnd", &[by, word(63)]);
        let within = self.emit(U64, "OpUConvert", &[within]);
        let lost = self.select(U64, far, low, long(0));
        let low = self.select(U64, far, high, low);
        let high = self.select(U64, far, long(0), high);
        let moved = self.emit(U64, "OpShiftRightLogical", &[low, within]);
        let back = self.emit(U64, "OpShiftLeftLogical", &[moved, within]);
        let left = self.emit(U64, "OpBitwiseXor", &[back, low]);
        let lost = self.emit(U64, "OpBitwiseOr", &[lost, left]);
        let any = self.emit(BOOL, "OpINotEqual", &[lost, long(0)]);
        let sticky = self.select(U64, any, long(1), long(0));
        let twice = self.up(high, 1);
        let rest = self.emit(U64, "OpISub", &[long(63), within]);
        let from_high = self.emit(U64, "OpShiftLeftLogical", &[twice, rest]);
        let low = self.emit(U64, "OpBitwiseOr", &[moved, from_high]);
        let low = self.emit(U64, "OpBitwiseOr", &[low, sticky]);
        [self.emit(U64, "OpShiftRightLogical", &[high, within]), low]
    }

    fn sum(&mut self, a: Wide, b: Wide) -> Wide {
        let low = self.emit(U64, "OpIAdd", &[a[1], b[1]]);
        let carries = self.emit(BOOL, "OpULessThan", &[low, b[1]]);
        let carry = self.select(U64, carries, long(1), long(0));
        let high = self.emit(U64, "OpIAdd", &[a[0], b[0]]);
        [self.emit(U64, "OpIAdd", &[high, carry]), low]
    }

    /// Two's complement where `if_one` is 1, the same where it is 0.
    fn negated_if(&mut self, value: Wide, if_one: Id) -> Wide {
        let mask = self.emit(U64, "OpSNegate", &[if_one]);
        let flipped = value.map(|half| self.emit(U64, "OpBitwiseXor", &[half, mask]));
        self.sum(flipped, [long(0), if_one])
    }
}
