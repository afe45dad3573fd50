//! Integer functions of OpenCL.std that take several operations, and choices by bits.

use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Signedness, Width};

use super::types::Part;
use super::{Body, Result};

impl Body<'_> {
    /// A function of integers, or a choice by bits; none of another name.
    pub(super) fn opencl_integer(&mut self, name: &str, ids: &[u32]) -> Option<Result<()>> {
        let (sign, plain) = match name.split_once('_') {
            Some(("s", plain)) => (Signedness::Signed, plain),
            Some(("u", plain)) => (Signedness::Unsigned, plain),
            _ => (Signedness::Unsigned, name),
        };
        let f: fn(&mut Self, Part, Signedness, &[Operand]) -> Operand = match plain {
            "abs" => |_, _, _, args| args[0],
            "add_sat" | "sub_sat" => {
                let subtracts = plain == "sub_sat";
                return Some(
                    self.each_int(ids, |body, part, args| body.sum_saturated(part, sign, subtracts, args[0], args[1])),
                );
            }
            "hadd" | "rhadd" => {
                let rounds_up = plain == "rhadd";
                return Some(
                    self.each_int(ids, |body, part, args| body.half_sum(part, sign, rounds_up, args[0], args[1])),
                );
            }
            "mul_hi" => |body, part, sign, args| body.product_high(part, sign, args[0], args[1]),
            "mad_hi" => |body, part, sign, args| {
                let high = body.product_high(part, sign, args[0], args[1]);
                body.int_of(IntOp::Add, part, Signedness::Unsigned, &[high, args[2]])
            },
            "mad_sat" => Self::product_sum_saturated,
            "rotate" => |body, part, _, args| body.rotated(part, args[0], args[1]),
            "ctz" => return Some(self.each_counted(2, Self::trailing_zeros)),
            "upsample" => return Some(self.upsample(ids)),
            "bitselect" => return Some(self.chosen_by_bits(ids, false)),
            "select" => return Some(self.chosen_by_bits(ids, true)),
            _ => return None,
        };
        Some(self.each_int(ids, |body, part, args| f(body, part, sign, args)))
    }

    /// The lowest and the highest number of an integer type, as its registers hold them when extended.
    fn range(part: Part, sign: Signedness) -> [Operand; 2] {
        let (bits, mask) = (part.bits(), part.width().mask());
        let ones = u64::MAX >> (64 - bits);
        let ends = if sign == Signedness::Signed { [!(ones >> 1) & mask, ones >> 1] } else { [0, ones] };
        ends.map(Operand::Imm)
    }

    /// Of 8 bits, whose registers have room for a whole sum or product: clamped to the type's range.
    fn clamped_small(&mut self, part: Part, sign: Signedness, a: Operand) -> Operand {
        let [low, high] = Self::range(part, sign);
        // A difference may be below zero, whatever the operands' sign.
        let raised = self.int(IntOp::Max(Signedness::Signed), Width::B16, &[a, low]);
        let inside = self.int(IntOp::Min(Signedness::Signed), Width::B16, &[raised, high]);
        self.cut(part, inside)
    }

    /// a + b or a − b, clamped to the type's range.
    pub(super) fn sum_saturated(
        &mut self,
        part: Part,
        sign: Signedness,
        subtracts: bool,
        a: Operand,
        b: Operand,
    ) -> Operand {
        let width = part.width();
        let op = if subtracts { IntOp::Sub } else { IntOp::Add };
        let (a, b) = (self.extended(part, sign, a), self.extended(part, sign, b));
        let sum = self.int(op, width, &[a, b]);
        let [low, high] = Self::range(part, sign);
        if part.bits() == 8 {
            return self.clamped_small(part, sign, sum);
        }
        if sign == Signedness::Unsigned {
            let (x, y, end) = if subtracts { (a, b, low) } else { (sum, a, high) };
            let over = self.compare(Comparison::Lt, Comparand::Unsigned(width), x, y);
            return self.select(width, over, end, sum);
        }
        // It overflows where the sum's sign is not that of `a`, though b's (or −b's) is.
        let turned = self.int(IntOp::Xor, width, &[a, sum]);
        let other = self.int(IntOp::Xor, width, &[if subtracts { a } else { sum }, b]);
        let both = self.int(IntOp::And, width, &[turned, other]);
        let over = self.is_negative(part, both);
        let negative = self.is_negative(part, a);
        let end = self.select(width, negative, low, high);
        self.select(width, over, end, sum)
    }

    /// (a + b) / 2 without overflow, rounded down, or up.
    fn half_sum(&mut self, part: Part, sign: Signedness, rounds_up: bool, a: Operand, b: Operand) -> Operand {
        let width = part.width();
        let (a, b) = (self.extended(part, sign, a), self.extended(part, sign, b));
        let different = self.int(IntOp::Xor, width, &[a, b]);
        let half = self.int(IntOp::Shr(sign), width, &[different, Operand::Imm(1)]);
        let (alike, op) = if rounds_up { (IntOp::Or, IntOp::Sub) } else { (IntOp::And, IntOp::Add) };
        let alike = self.int(alike, width, &[a, b]);
        let sum = self.int(op, width, &[alike, half]);
        self.cut(part, sum)
    }

    /// The high half of a product.
    fn product_high(&mut self, part: Part, sign: Signedness, a: Operand, b: Operand) -> Operand {
        let width = part.width();
        let (a, b) = (self.extended(part, sign, a), self.extended(part, sign, b));
        if part.bits() == 8 {
            let product = self.int(IntOp::Mul, width, &[a, b]);
            let high = self.int(IntOp::Shr(Signedness::Unsigned), width, &[product, Operand::Imm(8)]);
            return self.cut(part, high);
        }
        self.int(IntOp::MulHigh(sign), width, &[a, b])
    }

    /// a × b + c, clamped to the type's range.
    fn product_sum_saturated(&mut self, part: Part, sign: Signedness, args: &[Operand]) -> Operand {
        let width = part.width();
        let args: Vec<Operand> = args.iter().map(|&a| self.extended(part, sign, a)).collect();
        let [low, high] = Self::range(part, sign);
        if part.bits() == 8 {
            // As wide as the register, unsigned numbers have no sign there.
            let sum = self.int(IntOp::MulAdd, width, &args);
            let raised = self.int(IntOp::Max(sign), width, &[sum, low]);
            let inside = self.int(IntOp::Min(sign), width, &[raised, high]);
            return self.cut(part, inside);
        }
        let product = self.int(IntOp::Mul, width, &args[..2]);
        let upper = self.int(IntOp::MulHigh(sign), width, &args[..2]);
        let sum = self.int(IntOp::Add, width, &[product, args[2]]);
        let carries = self.compare(Comparison::Lt, Comparand::Unsigned(width), sum, product);
        let carry = self.select(width, carries, Operand::Imm(1), Operand::ZERO);
        let upper = self.int(IntOp::Add, width, &[upper, carry]);
        if sign == Signedness::Unsigned {
            let over = self.is_not_zero(width, upper);
            return self.select(width, over, high, sum);
        }
        let above = Operand::Imm(u64::from(width.bits() - 1));
        let shift = IntOp::Shr(Signedness::Signed);
        let addend = self.int(shift, width, &[args[2], above]);
        let upper = self.int(IntOp::Add, width, &[upper, addend]);
        let extension = self.int(shift, width, &[sum, above]);
        let over = self.compare(Comparison::Ne, Comparand::Unsigned(width), upper, extension);
        let negative = self.is_negative(part, upper);
        let end = self.select(width, negative, low, high);
        self.select(width, over, end, sum)
    }

    /// Bits shifted left and those that leave put in at the right; the count is modulo the type's bits.
    fn rotated(&mut self, part: Part, a: Operand, count: Operand) -> Operand {
        let (width, bits) = (part.width(), part.bits());
        let count = self.resized(part, Signedness::Unsigned, 32, count);
        let left = self.int(IntOp::And, Width::B32, &[count, Operand::Imm(u64::from(bits - 1))]);
        let right = self.int(IntOp::Sub, Width::B32, &[Operand::Imm(bits.into()), left]);
        let upper = self.int(IntOp::Shl, width, &[a, left]);
        let lower = self.int(IntOp::Shr(Signedness::Unsigned), width, &[a, right]);
        let all = self.int(IntOp::Or, width, &[upper, lower]);
        self.cut(part, all)
    }

    /// Zeros below the lowest bit set; of zero the type's bits.
    fn trailing_zeros(&mut self, part: Part, a: Operand) -> Operand {
        let width = part.width();
        // A bit above those of 8 stops the count there.
        let a = match part.bits() {
            8 => self.int(IntOp::Or, width, &[a, Operand::Imm(0x100)]),
            _ => a,
        };
        let zeros = self.zeros_below(width, a);
        self.int(IntOp::PopCount, width, &[zeros])
    }

    /// One integer above another in one of twice the width.
    fn upsample(&mut self, ids: &[u32]) -> Result<()> {
        let (part, count) = self.result()?;
        let (high, low) = (self.components(ids[0])?, self.components(ids[1])?);
        let half = high.part.bits();
        let is_int = |part: Part| matches!(part, Part::Int { .. });
        let fits = [high.part, low.part, part].into_iter().all(is_int)
            && (low.part.bits(), 2 * half) == (half, part.bits())
            && [high.parts.len(), low.parts.len()] == [count; 2];
        if !fits {
            return Err(self.malformed("the operands are no two halves of the result"));
        }
        let pairs: Vec<_> = high.parts.iter().copied().zip(low.parts.iter().copied()).collect();
        let whole: Vec<_> = pairs.into_iter().map(|(high, low)| self.joined(half, low, high)).collect();
        self.define(whole)
    }

    /// The second where the third says so, otherwise the first: bit by bit, or whole values: a scalar by any bit, a
    /// vector's component by the highest.
    fn chosen_by_bits(&mut self, ids: &[u32], whole: bool) -> Result<()> {
        let (part, count) = self.result()?;
        let mut all = Vec::with_capacity(ids.len());
        for &id in ids {
            let found = self.components(id)?;
            if found.part == Part::Bool || found.part.bits() != part.bits() || found.parts.len() != count {
                return Err(self.malformed("an operand has another number of bits than the result"));
            }
            all.push(found);
        }
        let [a, b, c] = &all[..] else { return Err(self.malformed("there are no three operands")) };
        let width = part.width();
        let mut chosen = Vec::with_capacity(count);
        for ((&a, &b), &by) in a.parts.iter().zip(&b.parts[..]).zip(&c.parts[..]) {
            chosen.push(if whole {
                let second = if count == 1 { self.is_not_zero(width, by) } else { self.is_negative(c.part, by) };
                self.select(width, second, b, a)
            } else {
                let kept = self.int(IntOp::Not, width, &[by]);
                let (a, b) = (self.int(IntOp::And, width, &[a, kept]), self.int(IntOp::And, width, &[b, by]));
                self.int(IntOp::Or, width, &[a, b])
            });
        }
        self.define(chosen)
    }
}
