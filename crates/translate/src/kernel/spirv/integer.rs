//! Integers: what SPIR-V leaves undefined is given PTX's meaning.

use roundonce_ir::{IntOp, Operand, PermuteMode, Signedness, Width};

use super::body::{Body, Result};
use super::ids::{Id, Ty};

const U32: Ty = Ty::U32;

impl Body<'_> {
    fn c(&self, ty: Ty, bits: u64) -> Id {
        Id::constant(ty, bits)
    }

    /// An integer operation: its result, as wide as [`IntOp::result_width`] says.
    pub(super) fn integer(&mut self, op: IntOp, width: Width, args: &[Operand; 4]) -> Result<(Id, Ty)> {
        let ty = Ty::of(width);
        let (widths, count) = op.operand_widths(width);
        let mut all = [Id::Undef(ty); 4];
        for at in 0..count {
            all[at] = self.read_as(args[at], Ty::of(widths[at]));
        }
        let [a, b, c, d] = all;
        let result = Ty::of(op.result_width(width));
        if ty == Ty::Bool {
            return self.logic(op, a, b).map(|id| (id, ty));
        }
        let value = match op {
            IntOp::Add => self.emit(ty, "OpIAdd", &[a, b]),
            IntOp::Sub => self.emit(ty, "OpISub", &[a, b]),
            IntOp::Mul => self.emit(ty, "OpIMul", &[a, b]),
            IntOp::MulAdd => {
                let product = self.emit(ty, "OpIMul", &[a, b]);
                self.emit(ty, "OpIAdd", &[product, c])
            }
            IntOp::MulHigh(sign) => self.call(ty, named(sign, "s_mul_hi", "u_mul_hi"), &[a, b]),
            IntOp::MulWide(sign) => self.wide_product(sign, ty, result, a, b),
            IntOp::MulAddWide(sign) => {
                let product = self.wide_product(sign, ty, result, a, b);
                self.emit(result, "OpIAdd", &[product, c])
            }
            IntOp::Div(sign) => self.quotient_of(sign, ty, a, b),
            IntOp::Rem(sign) => self.remainder_of(sign, ty, a, b),
            IntOp::Min(sign) => self.call(ty, named(sign, "s_min", "u_min"), &[a, b]),
            IntOp::Max(sign) => self.call(ty, named(sign, "s_max", "u_max"), &[a, b]),
            IntOp::AddSat => self.call(ty, "s_add_sat", &[a, b]),
            IntOp::SubSat => self.call(ty, "s_sub_sat", &[a, b]),
            IntOp::Abs => self.call(ty, "s_abs", &[a]),
            IntOp::Neg => self.emit(ty, "OpSNegate", &[a]),
            IntOp::AbsDiff(sign) => {
                let difference = self.call(ty, named(sign, "s_abs_diff", "u_abs_diff"), &[a, b]);
                self.emit(ty, "OpIAdd", &[difference, c])
            }
            IntOp::And => self.emit(ty, "OpBitwiseAnd", &[a, b]),
            IntOp::Or => self.emit(ty, "OpBitwiseOr", &[a, b]),
            IntOp::Xor => self.emit(ty, "OpBitwiseXor", &[a, b]),
            IntOp::Not => self.emit(ty, "OpNot", &[a]),
            IntOp::IsZero => {
                let zero = self.emit(Ty::Bool, "OpIEqual", &[a, self.c(ty, 0)]);
                self.select(ty, zero, self.c(ty, 1), self.c(ty, 0))
            }
            IntOp::Shl => self.shifted("OpShiftLeftLogical", ty, a, b),
            IntOp::Shr(Signedness::Unsigned) => self.shifted("OpShiftRightLogical", ty, a, b),
            IntOp::Shr(Signedness::Signed) => {
                let most = u64::from(ty.bits() - 1);
                let count = match b.known() {
                    Some(count) => self.c(U32, count.min(most)),
                    None => self.call(U32, "u_min", &[b, self.c(U32, most)]),
                };
                self.shift("OpShiftRightArithmetic", ty, a, count)
            }
            IntOp::Funnel { left, clamp } => self.funnel(left, clamp, a, b, c),
            IntOp::LeadingZeros => self.count("clz", ty, a),
            IntOp::PopCount => self.count("popcount", ty, a),
            IntOp::Reverse => self.reversed(ty, a),
            IntOp::FindHighest { sign, shift } => self.highest(sign, shift, ty, a),
            IntOp::FieldExtract(sign) => self.field(sign, ty, a, b, c),
            IntOp::FieldInsert => self.inserted(ty, a, b, c, d),
            IntOp::Permute => self.permuted(a, b, c),
            IntOp::PermuteMode(mode) => self.permuted_by(mode, a, b, c),
            IntOp::Logic3(table) => self.table_of_three(table, ty, a, b, c),
            IntOp::DotProduct4(first, second) => {
                self.products(a, b, c, &[0, 1, 2, 3].map(|at| (8, at, at)), first, second)
            }
            IntOp::DotProduct2 { a: first, b: second, high } => {
                let start = if high { 2 } else { 0 };
                self.products(a, b, c, &[(16, 0, start), (16, 1, start + 1)], first, second)
            }
            IntOp::Mask { clamp } => self.mask(clamp, a, b),
            IntOp::FindNth => return Err("the n-th set bit".to_owned()),
        };
        Ok((value, result))
    }

    /// Of predicates.
    fn logic(&mut self, op: IntOp, a: Id, b: Id) -> Result<Id> {
        Ok(match op {
            IntOp::And => self.emit(Ty::Bool, "OpLogicalAnd", &[a, b]),
            IntOp::Or => self.emit(Ty::Bool, "OpLogicalOr", &[a, b]),
            IntOp::Xor => self.emit(Ty::Bool, "OpLogicalNotEqual", &[a, b]),
            IntOp::Not => self.emit(Ty::Bool, "OpLogicalNot", &[a]),
            _ => return Err("arithmetic of predicates".to_owned()),
        })
    }

    fn wide_product(&mut self, sign: Signedness, ty: Ty, result: Ty, a: Id, b: Id) -> Id {
        let wide = [a, b].map(|value| match sign {
            Signedness::Signed => self.extend(value, ty, result),
            Signedness::Unsigned => self.resize(value, ty, result),
        });
        self.emit(result, "OpIMul", &wide)
    }

    /// By zero all ones; the lowest number by −1 itself.
    fn quotient_of(&mut self, sign: Signedness, ty: Ty, a: Id, b: Id) -> Id {
        let (one, ones) = (self.c(ty, 1), self.c(ty, u64::MAX));
        let opcode = if sign == Signedness::Signed { "OpSDiv" } else { "OpUDiv" };
        match (b.known(), sign) {
            (Some(0), _) => return ones,
            (Some(known), Signedness::Signed) if known == ty.mask() => return self.emit(ty, "OpSNegate", &[a]),
            (Some(_), _) => return self.emit(ty, opcode, &[a, b]),
            _ => {}
        }
        let zero = self.emit(Ty::Bool, "OpIEqual", &[b, self.c(ty, 0)]);
        let safe = self.select(ty, zero, one, b);
        if sign == Signedness::Unsigned {
            let quotient = self.emit(ty, opcode, &[a, safe]);
            return self.select(ty, zero, ones, quotient);
        }
        let minus = self.emit(Ty::Bool, "OpIEqual", &[b, ones]);
        let safe = self.select(ty, minus, one, safe);
        let quotient = self.emit(ty, opcode, &[a, safe]);
        let negated = self.emit(ty, "OpSNegate", &[a]);
        let quotient = self.select(ty, minus, negated, quotient);
        self.select(ty, zero, ones, quotient)
    }

    /// By zero the dividend.
    fn remainder_of(&mut self, sign: Signedness, ty: Ty, a: Id, b: Id) -> Id {
        let (zero, one, ones) = (self.c(ty, 0), self.c(ty, 1), self.c(ty, u64::MAX));
        let opcode = if sign == Signedness::Signed { "OpSRem" } else { "OpUMod" };
        match (b.known(), sign) {
            (Some(0), _) => return ones,
            (Some(known), Signedness::Signed) if known == ty.mask() => return zero,
            (Some(_), _) => return self.emit(ty, opcode, &[a, b]),
            _ => {}
        }
        let is_zero = self.emit(Ty::Bool, "OpIEqual", &[b, zero]);
        let mut safe = self.select(ty, is_zero, one, b);
        if sign == Signedness::Signed {
            // Of −1 the remainder is 0, as of 1.
            let minus = self.emit(Ty::Bool, "OpIEqual", &[b, ones]);
            safe = self.select(ty, minus, one, safe);
        }
        let rest = self.emit(ty, opcode, &[a, safe]);
        self.select(ty, is_zero, ones, rest)
    }

    /// By the type's bits or more gives 0.
    fn shifted(&mut self, opcode: &str, ty: Ty, a: Id, count: Id) -> Id {
        let bits = u64::from(ty.bits());
        match count.known() {
            Some(count) if count >= bits => return self.c(ty, 0),
            Some(0) => return a,
            Some(_) => return self.shift(opcode, ty, a, count),
            None => {}
        }
        let inside = self.emit(Ty::Bool, "OpULessThan", &[count, self.c(U32, bits)]);
        let safe = self.emit(U32, "OpBitwiseAnd", &[count, self.c(U32, bits - 1)]);
        let value = self.shift(opcode, ty, a, safe);
        self.select(ty, inside, value, self.c(ty, 0))
    }

    /// By a count of 32 bits, less than the type has. Not every reader takes a count of another type than what is shifted.
    pub(super) fn shift(&mut self, opcode: &str, ty: Ty, a: Id, count: Id) -> Id {
        let count = self.resize(count, U32, ty);
        self.emit(ty, opcode, &[a, count])
    }

    fn funnel(&mut self, left: bool, clamp: bool, a: Id, b: Id, c: Id) -> Id {
        let both = self.joined(Ty::U64, a, b);
        let count = match (c.known(), clamp) {
            (Some(count), true) => self.c(U32, count.min(32)),
            (Some(count), false) => self.c(U32, count & 31),
            (None, true) => self.call(U32, "u_min", &[c, self.c(U32, 32)]),
            (None, false) => self.emit(U32, "OpBitwiseAnd", &[c, self.c(U32, 31)]),
        };
        if left {
            let shifted = self.shift("OpShiftLeftLogical", Ty::U64, both, count);
            let upper = self.emit(Ty::U64, "OpShiftRightLogical", &[shifted, self.c(Ty::U64, 32)]);
            return self.resize(upper, Ty::U64, U32);
        }
        let shifted = self.shift("OpShiftRightLogical", Ty::U64, both, count);
        self.resize(shifted, Ty::U64, U32)
    }

    /// A count of bits: 32 bits.
    fn count(&mut self, name: &str, ty: Ty, a: Id) -> Id {
        let count = self.call(ty, name, &[a]);
        self.resize(count, ty, U32)
    }

    /// Neighbours exchanged, in ever larger groups.
    fn reversed(&mut self, ty: Ty, a: Id) -> Id {
        let mut value = a;
        let mut size = 1;
        while size < ty.bits() {
            // Every second group of so many bits.
            let low = u64::MAX / ((1u64 << size) + 1);
            let count = self.c(ty, size.into());
            let upper = self.emit(ty, "OpShiftRightLogical", &[value, count]);
            let upper = self.emit(ty, "OpBitwiseAnd", &[upper, self.c(ty, low)]);
            let lower = self.emit(ty, "OpBitwiseAnd", &[value, self.c(ty, low)]);
            let lower = self.emit(ty, "OpShiftLeftLogical", &[lower, count]);
            value = self.emit(ty, "OpBitwiseOr", &[upper, lower]);
            size *= 2;
        }
        value
    }

    fn highest(&mut self, sign: Signedness, shift: bool, ty: Ty, a: Id) -> Id {
        let mut value = a;
        if sign == Signedness::Signed {
            let signs = self.emit(ty, "OpShiftRightArithmetic", &[a, self.c(ty, u64::from(ty.bits() - 1))]);
            value = self.emit(ty, "OpBitwiseXor", &[a, signs]);
        }
        let zeros = self.count("clz", ty, value);
        let none = self.emit(Ty::Bool, "OpIEqual", &[value, self.c(ty, 0)]);
        let place = match shift {
            true => zeros,
            false => self.emit(U32, "OpISub", &[self.c(U32, u64::from(ty.bits() - 1)), zeros]),
        };
        self.select(U32, none, self.c(U32, u64::MAX), place)
    }

    /// PTX's `bfe`: as many bits as there are, extended by the last one taken.
    fn field(&mut self, sign: Signedness, ty: Ty, a: Id, start: Id, length: Id) -> Id {
        let bits = u64::from(ty.bits());
        let (start, length) = (self.place(ty, start), self.place(ty, length));
        let lesser = |body: &mut Self, a: Id, most: Id| match (a.known(), most.known()) {
            (Some(a), Some(most)) => body.c(U32, a.min(most)),
            _ => body.call(U32, "u_min", &[a, most]),
        };
        let difference = |body: &mut Self, a: Id, b: Id| match (a.known(), b.known()) {
            (Some(a), Some(b)) => body.c(U32, a.wrapping_sub(b)),
            _ => body.emit(U32, "OpISub", &[a, b]),
        };
        // Moved to the top, so that the shift down extends it.
        let whole = self.c(U32, bits);
        let first = lesser(self, start, whole);
        let rest = difference(self, whole, first);
        let taken = lesser(self, length, rest);
        let end = difference(self, rest, taken);
        if sign == Signedness::Unsigned {
            let moved = self.shifted("OpShiftRightLogical", ty, a, first);
            let above = difference(self, whole, taken);
            let up = self.shifted("OpShiftLeftLogical", ty, moved, above);
            return self.shifted("OpShiftRightLogical", ty, up, above);
        }
        let up = self.shifted("OpShiftLeftLogical", ty, a, end);
        let above = difference(self, whole, taken);
        let most = self.c(U32, bits - 1);
        let count = lesser(self, above, most);
        let field = self.shift("OpShiftRightArithmetic", ty, up, count);
        // Where nothing is left but a length was asked for, the top bit fills the whole.
        let none = match taken.known() {
            Some(taken) => self.c(Ty::Bool, u64::from(taken == 0)),
            None => self.emit(Ty::Bool, "OpIEqual", &[taken, self.c(U32, 0)]),
        };
        let asked = match length.known() {
            Some(length) => self.c(Ty::Bool, u64::from(length != 0)),
            None => self.emit(Ty::Bool, "OpINotEqual", &[length, self.c(U32, 0)]),
        };
        let sign_bits = self.shift("OpShiftRightArithmetic", ty, a, most);
        let outside = self.select(ty, asked, sign_bits, self.c(ty, 0));
        self.select(ty, none, outside, field)
    }

    /// A place or a length of a field: of a type of 64 bits all its bits count, of fewer eight.
    fn place(&mut self, ty: Ty, number: Id) -> Id {
        match number.known() {
            _ if ty.bits() == 64 => number,
            Some(known) => self.c(U32, known & 0xff),
            None => self.emit(U32, "OpBitwiseAnd", &[number, self.c(U32, 0xff)]),
        }
    }

    /// PTX's `bfi`.
    fn inserted(&mut self, ty: Ty, a: Id, b: Id, start: Id, length: Id) -> Id {
        let (start, length) = (self.place(ty, start), self.place(ty, length));
        let ones = self.c(ty, u64::MAX);
        let above = self.shifted("OpShiftLeftLogical", ty, ones, length);
        let field = self.emit(ty, "OpNot", &[above]);
        let field = self.shifted("OpShiftLeftLogical", ty, field, start);
        let moved = self.shifted("OpShiftLeftLogical", ty, a, start);
        let inside = self.emit(ty, "OpBitwiseAnd", &[moved, field]);
        let around = self.emit(ty, "OpNot", &[field]);
        let outside = self.emit(ty, "OpBitwiseAnd", &[b, around]);
        self.emit(ty, "OpBitwiseOr", &[outside, inside])
    }

    /// PTX's `prmt`: bytes by nibbles, whose highest bits spread the byte's sign.
    fn permuted(&mut self, a: Id, b: Id, selection: Id) -> Id {
        let both = self.joined(Ty::U64, a, b);
        let mut all: Option<Id> = None;
        for place in 0..4u64 {
            let nibble = |body: &mut Self, bits: u64| match selection.known() {
                Some(known) => body.c(U32, known >> (4 * place) & bits),
                None => {
                    let moved = body.shifted("OpShiftRightLogical", U32, selection, body.c(U32, 4 * place));
                    body.emit(U32, "OpBitwiseAnd", &[moved, body.c(U32, bits)])
                }
            };
            let index = nibble(self, 7);
            let count = match index.known() {
                Some(index) => self.c(U32, 8 * index),
                None => self.emit(U32, "OpShiftLeftLogical", &[index, self.c(U32, 3)]),
            };
            let moved = self.shifted_inside(both, count);
            let word = self.resize(moved, Ty::U64, U32);
            let byte = self.emit(U32, "OpBitwiseAnd", &[word, self.c(U32, 0xff)]);
            let spread = nibble(self, 8);
            let byte = match spread.known() {
                Some(0) => byte,
                _ => {
                    let narrow = self.resize(byte, U32, Ty::U8);
                    let signs = self.emit(Ty::Bool, "OpSLessThan", &[narrow, self.c(Ty::U8, 0)]);
                    let signs = self.select(U32, signs, self.c(U32, 0xff), self.c(U32, 0));
                    let spreads = match spread.known() {
                        Some(_) => self.c(Ty::Bool, 1),
                        None => self.emit(Ty::Bool, "OpINotEqual", &[spread, self.c(U32, 0)]),
                    };
                    self.select(U32, spreads, signs, byte)
                }
            };
            let byte = self.shifted("OpShiftLeftLogical", U32, byte, self.c(U32, 8 * place));
            all = Some(match all {
                None => byte,
                Some(all) => self.emit(U32, "OpBitwiseOr", &[all, byte]),
            });
        }
        all.unwrap_or(self.c(U32, 0))
    }

    /// Down by less than 64.
    fn shifted_inside(&mut self, value: Id, count: Id) -> Id {
        if count.known() == Some(0) {
            return value;
        }
        self.shift("OpShiftRightLogical", Ty::U64, value, count)
    }

    fn permuted_by(&mut self, mode: PermuteMode, a: Id, b: Id, c: Id) -> Id {
        // Sixteen bits each, in one word of 64.
        let table = mode.patterns().iter().rev().fold(0, |all, pattern| all << 16 | pattern);
        let low = self.emit(U32, "OpBitwiseAnd", &[c, self.c(U32, 3)]);
        let count = self.emit(U32, "OpShiftLeftLogical", &[low, self.c(U32, 4)]);
        let pattern = self.shifted_inside(self.c(Ty::U64, table), count);
        let pattern = self.resize(pattern, Ty::U64, U32);
        let pattern = self.emit(U32, "OpBitwiseAnd", &[pattern, self.c(U32, 0xffff)]);
        self.permuted(a, b, pattern)
    }

    /// Any function of three bits, as the terms that it is made of.
    fn table_of_three(&mut self, table: u8, ty: Ty, a: Id, b: Id, c: Id) -> Id {
        let known: Option<(&str, Id, Id)> = match table {
            0x00 => return self.c(ty, 0),
            0xff => return self.c(ty, u64::MAX),
            0xf0 => return a,
            0xcc => return b,
            0xaa => return c,
            0xc0 => Some(("OpBitwiseAnd", a, b)),
            0xa0 => Some(("OpBitwiseAnd", a, c)),
            0x88 => Some(("OpBitwiseAnd", b, c)),
            0xfc => Some(("OpBitwiseOr", a, b)),
            0xfa => Some(("OpBitwiseOr", a, c)),
            0xee => Some(("OpBitwiseOr", b, c)),
            0x3c => Some(("OpBitwiseXor", a, b)),
            0x5a => Some(("OpBitwiseXor", a, c)),
            0x66 => Some(("OpBitwiseXor", b, c)),
            _ => None,
        };
        if let Some((opcode, x, y)) = known {
            return self.emit(ty, opcode, &[x, y]);
        }
        // Of both values of a: a function of b and c each.
        let halves = [table & 15, table >> 4].map(|table| self.table_of_two(table, ty, b, c));
        if halves[0] == halves[1] {
            return halves[0];
        }
        // The second half where a is one: h0 ^ (a & (h0 ^ h1)).
        let differs = self.emit(ty, "OpBitwiseXor", &halves);
        let chosen = self.emit(ty, "OpBitwiseAnd", &[a, differs]);
        self.emit(ty, "OpBitwiseXor", &[halves[0], chosen])
    }

    fn table_of_two(&mut self, table: u8, ty: Ty, b: Id, c: Id) -> Id {
        let (opcode, flips) = match table {
            0x0 => return self.c(ty, 0),
            0xf => return self.c(ty, u64::MAX),
            0xc => return b,
            0xa => return c,
            0x3 => return self.emit(ty, "OpNot", &[b]),
            0x5 => return self.emit(ty, "OpNot", &[c]),
            0x8 => ("OpBitwiseAnd", false),
            0x7 => ("OpBitwiseAnd", true),
            0xe => ("OpBitwiseOr", false),
            0x1 => ("OpBitwiseOr", true),
            0x6 => ("OpBitwiseXor", false),
            0x9 => ("OpBitwiseXor", true),
            0x4 | 0xb => {
                let other = self.emit(ty, "OpNot", &[c]);
                let both = self.emit(ty, "OpBitwiseAnd", &[b, other]);
                return if table == 0x4 { both } else { self.emit(ty, "OpNot", &[both]) };
            }
            _ => {
                let other = self.emit(ty, "OpNot", &[b]);
                let both = self.emit(ty, "OpBitwiseAnd", &[other, c]);
                return if table == 0x2 { both } else { self.emit(ty, "OpNot", &[both]) };
            }
        };
        let value = self.emit(ty, opcode, &[b, c]);
        if flips { self.emit(ty, "OpNot", &[value]) } else { value }
    }

    /// Products of pieces of a, so many bits each, and bytes of b, added to c.
    fn products(
        &mut self,
        a: Id,
        b: Id,
        c: Id,
        places: &[(u32, u32, u32)],
        first: Signedness,
        second: Signedness,
    ) -> Id {
        let piece = |body: &mut Self, value: Id, bits: u32, place: u32, sign: Signedness| {
            let up = body.shifted("OpShiftLeftLogical", U32, value, body.c(U32, u64::from(32 - bits * (place + 1))));
            let opcode = if sign == Signedness::Signed { "OpShiftRightArithmetic" } else { "OpShiftRightLogical" };
            body.emit(U32, opcode, &[up, body.c(U32, u64::from(32 - bits))])
        };
        let mut sum = c;
        for &(bits, of_a, of_b) in places {
            let (x, y) = (piece(self, a, bits, of_a, first), piece(self, b, 8, of_b, second));
            let product = self.emit(U32, "OpIMul", &[x, y]);
            sum = self.emit(U32, "OpIAdd", &[sum, product]);
        }
        sum
    }

    /// PTX's `bmsk`.
    fn mask(&mut self, clamp: bool, start: Id, length: Id) -> Id {
        let [start, length] = [start, length].map(|count| match (count.known(), clamp) {
            (Some(known), true) => self.c(U32, known.min(32)),
            (Some(known), false) => self.c(U32, known & 31),
            (None, true) => self.call(U32, "u_min", &[count, self.c(U32, 32)]),
            (None, false) => self.emit(U32, "OpBitwiseAnd", &[count, self.c(U32, 31)]),
        });
        let above = self.shifted("OpShiftLeftLogical", U32, self.c(U32, u64::MAX), length);
        let ones = self.emit(U32, "OpNot", &[above]);
        self.shifted("OpShiftLeftLogical", U32, ones, start)
    }

    /// a + b + carry or a − b − borrow, and what is carried out.
    pub(super) fn carry(&mut self, subtract: bool, ty: Ty, carry: Operand, a: Id, b: Id) -> (Id, Id) {
        let opcode = if subtract { "OpISub" } else { "OpIAdd" };
        let first = self.emit(ty, opcode, &[a, b]);
        let over = |body: &mut Self, result: Id, x: Id, y: Id| {
            let pair = if subtract { [x, y] } else { [result, x] };
            body.emit(Ty::Bool, "OpULessThan", &pair)
        };
        let one = over(self, first, a, b);
        if carry == Operand::ZERO {
            return (first, one);
        }
        let carry = self.read_as(carry, Ty::Bool);
        let carry = self.select(ty, carry, self.c(ty, 1), self.c(ty, 0));
        let value = self.emit(ty, opcode, &[first, carry]);
        let other = over(self, value, first, carry);
        (value, self.emit(Ty::Bool, "OpLogicalOr", &[one, other]))
    }
}

const fn named(sign: Signedness, signed: &'static str, unsigned: &'static str) -> &'static str {
    match sign {
        Signedness::Signed => signed,
        Signedness::Unsigned => unsigned,
    }
}
