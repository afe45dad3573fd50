//! Integers, bits, predicates.

use roundonce_ir::{IntOp, Operand, PermuteMode, Reg, Signedness, Width};

use super::body::{Body, Written, none};
use super::needs::since;
use super::text::{Arg, bits_type, signed_type, unsigned_type};

/// A type by its signedness.
const fn type_of(width: Width, sign: Signedness) -> &'static str {
    match sign {
        Signedness::Unsigned => unsigned_type(width),
        Signedness::Signed => signed_type(width),
    }
}

const B16: Width = Width::B16;
const B32: Width = Width::B32;
const B64: Width = Width::B64;

/// A count or a place of 32 bits.
const fn small(number: u64) -> Arg<'static> {
    Arg::Int(number, B32)
}

impl Body<'_> {
    pub(super) fn mov(&mut self, d: Reg, a: Operand) -> Written {
        let width = self.width(d);
        let a = self.int(a, width);
        self.ins(&["mov", bits_type(width)], &[d.into(), a]);
        Ok(())
    }

    pub(super) fn integer(&mut self, d: Reg, op: IntOp, width: Width, args: &[Operand; 4]) -> Written {
        let (widths, count) = op.operand_widths(width);
        let mut operands = [Arg::Sink; 5];
        operands[0] = d.into();
        for ((operand, arg), width) in operands[1..].iter_mut().zip(args).zip(widths).take(count) {
            *operand = self.int(*arg, width);
        }
        // The assembler takes eight bits of a constant place or length of a field; more reach no bit of 64.
        let first_count = match op {
            IntOp::FieldExtract(_) => 2,
            IntOp::FieldInsert => 3,
            _ => operands.len(),
        };
        let of_64_bits = width == Width::B64;
        for operand in &mut operands[first_count..] {
            if let Arg::Int(bits, width) = operand {
                *operand = Arg::Int(if of_64_bits { (*bits).min(255) } else { *bits & 0xff }, *width);
            }
        }
        if width == B16 && self.integer_of_16_bits(d, op, [operands[1], operands[2], operands[3], operands[4]])? {
            return Ok(());
        }
        if width == Width::Pred && !matches!(op, IntOp::And | IntOp::Or | IntOp::Xor | IntOp::Not) {
            return none("arithmetic of predicates");
        }
        let all = &operands[..=count];
        let (bits, signed) = (bits_type(width), signed_type(width));
        match op {
            IntOp::Add => self.ins(&["add", signed], all),
            IntOp::Sub => self.ins(&["sub", signed], all),
            IntOp::Mul => self.ins(&["mul.lo", signed], all),
            IntOp::MulAdd => self.ins(&["mad.lo", signed], all),
            IntOp::MulHigh(sign) => self.ins(&["mul.hi", type_of(width, sign)], all),
            IntOp::MulWide(sign) => self.ins(&["mul.wide", type_of(width, sign)], all),
            IntOp::MulAddWide(sign) => self.ins(&["mad.wide", type_of(width, sign)], all),
            IntOp::Div(sign) => self.ins(&["div", type_of(width, sign)], all),
            IntOp::Rem(sign) => self.ins(&["rem", type_of(width, sign)], all),
            IntOp::Min(sign) => self.ins(&["min", type_of(width, sign)], all),
            IntOp::Max(sign) => self.ins(&["max", type_of(width, sign)], all),
            IntOp::AddSat if width == B32 => self.ins(&["add.sat.s32"], all),
            IntOp::SubSat if width == B32 => self.ins(&["sub.sat.s32"], all),
            IntOp::AddSat | IntOp::SubSat => self.clamped_sum(d, op == IntOp::SubSat, [operands[1], operands[2]]),
            IntOp::Abs => self.ins(&["abs", signed], all),
            IntOp::Neg => self.ins(&["neg", signed], all),
            IntOp::AbsDiff(sign) => self.ins(&["sad", type_of(width, sign)], all),
            IntOp::And => self.ins(&["and", bits], all),
            IntOp::Or => self.ins(&["or", bits], all),
            IntOp::Xor => self.ins(&["xor", bits], all),
            IntOp::Not => self.ins(&["not", bits], all),
            IntOp::IsZero => self.ins(&["cnot", bits], all),
            IntOp::Shl => self.ins(&["shl", bits], all),
            IntOp::Shr(sign) => self.ins(&["shr", type_of(width, sign)], all),
            IntOp::Funnel { left, clamp } => {
                let (way, mode) = (if left { ".l" } else { ".r" }, if clamp { ".clamp" } else { ".wrap" });
                self.ins(&["shf", way, mode, ".b32"], all);
            }
            IntOp::LeadingZeros => self.ins(&["clz", bits], all),
            IntOp::PopCount => self.ins(&["popc", bits], all),
            IntOp::Reverse => self.ins(&["brev", bits], all),
            IntOp::FindHighest { sign, shift } => {
                self.ins(&["bfind", if shift { ".shiftamt" } else { "" }, type_of(width, sign)], all);
            }
            IntOp::FieldExtract(sign) => self.ins(&["bfe", type_of(width, sign)], all),
            IntOp::FieldInsert => self.ins(&["bfi", bits], all),
            IntOp::Permute => self.ins(&["prmt.b32"], all),
            IntOp::PermuteMode(mode) => self.ins(&["prmt.b32", mode_word(mode)], all),
            IntOp::Logic3(table) => self.logic3(d, table, width, [operands[1], operands[2], operands[3]]),
            IntOp::DotProduct4(a, b) => {
                let words = ["dp4a", type_of(B32, a), type_of(B32, b)];
                self.using(since(5, 0, 61), &words)?;
                self.ins(&words, all);
            }
            IntOp::DotProduct2 { a, b, high } => {
                let words = ["dp2a", if high { ".hi" } else { ".lo" }, type_of(B32, a), type_of(B32, b)];
                self.using(since(5, 0, 61), &words)?;
                self.ins(&words, all);
            }
            IntOp::Mask { clamp } => {
                let words = ["bmsk", if clamp { ".clamp" } else { ".wrap" }, ".b32"];
                self.using(since(7, 6, 70), &words)?;
                self.ins(&words, all);
            }
            IntOp::FindNth => {
                self.using(since(6, 0, 30), &["fns.b32"])?;
                self.ins(&["fns.b32"], all);
            }
        }
        Ok(())
    }

    /// What PTX has of 32 and 64 bits alone: whether it was one of these.
    fn integer_of_16_bits(
        &mut self,
        d: Reg,
        op: IntOp,
        [a, b, c, e]: [Arg<'static>; 4],
    ) -> Result<bool, super::body::Refusal> {
        let low = |body: &mut Self, value: Arg<'static>| body.ins(&["cvt.u16.u32"], &[d.into(), value]);
        match op {
            IntOp::AddSat | IntOp::SubSat => {
                let (a, b) = (self.wide(a, true), self.wide(b, true));
                let word = if op == IntOp::AddSat { "add.s32" } else { "sub.s32" };
                let exact = self.computed(B32, &[word], &[a, b]);
                self.ins(&["cvt.sat.s16.s32"], &[d.into(), exact]);
            }
            IntOp::LeadingZeros => {
                let a = self.wide(a, false);
                let zeros = self.computed(B32, &["clz.b32"], &[a]);
                self.ins(&["sub.s32"], &[d.into(), zeros, small(16)]);
            }
            IntOp::PopCount => {
                let a = self.wide(a, false);
                self.ins(&["popc.b32"], &[d.into(), a]);
            }
            IntOp::Reverse => {
                let a = self.wide(a, false);
                let reversed = self.computed(B32, &["brev.b32"], &[a]);
                let shifted = self.computed(B32, &["shr.u32"], &[reversed, small(16)]);
                low(self, shifted);
            }
            IntOp::FindHighest { sign, shift } => {
                let is_signed = sign == Signedness::Signed;
                let a = self.wide(a, is_signed);
                let ty = type_of(B32, sign);
                if !shift {
                    self.ins(&["bfind", ty], &[d.into(), a]);
                    return Ok(true);
                }
                let place = self.computed(B32, &["bfind", ty], &[a]);
                let from_top = self.computed(B32, &["sub.s32"], &[small(15), place]);
                let found = self.computed(Width::Pred, &["setp.ge.s32"], &[place, small(0)]);
                self.ins(&["selp.b32"], &[d.into(), from_top, place, found]);
            }
            IntOp::FieldExtract(sign) => {
                let a = self.wide(a, sign == Signedness::Signed);
                let field = self.computed(B32, &["bfe", type_of(B32, sign)], &[a, b, c]);
                low(self, field);
            }
            IntOp::FieldInsert => {
                let (a, b) = (self.wide(a, false), self.wide(b, false));
                let whole = self.computed(B32, &["bfi.b32"], &[a, b, c, e]);
                low(self, whole);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// 16 bits in 32.
    fn wide(&mut self, arg: Arg<'static>, signed: bool) -> Arg<'static> {
        let word = if signed { "cvt.s32.s16" } else { "cvt.u32.u16" };
        let arg = self.in_register(arg, B16);
        self.computed(B32, &[word], &[arg])
    }

    /// A sum or a difference of 64 bits clamped to the signed range: where the sign is wrong, the bound on the side of a.
    fn clamped_sum(&mut self, d: Reg, subtract: bool, [a, b]: [Arg<'static>; 2]) {
        let sum = self.computed(B64, &[if subtract { "sub.s64" } else { "add.s64" }], &[a, b]);
        let moved = self.computed(B64, &["xor.b64"], &[a, sum]);
        let apart = if subtract { [a, b] } else { [b, sum] };
        let apart = self.computed(B64, &["xor.b64"], &apart);
        let wrong = self.computed(B64, &["and.b64"], &[moved, apart]);
        let wrong = self.computed(Width::Pred, &["setp.lt.s64"], &[wrong, Arg::Int(0, B64)]);
        let sign = self.computed(B64, &["shr.s64"], &[a, small(63)]);
        let bound = self.computed(B64, &["xor.b64"], &[sign, Arg::Int(u64::MAX >> 1, B64)]);
        self.ins(&["selp.b64"], &[d.into(), bound, sum, wrong]);
    }

    /// Any function of three bits; PTX has it of 32 bits, other widths by parts.
    fn logic3(&mut self, d: Reg, table: u8, width: Width, args: [Arg<'static>; 3]) {
        let table = small(table.into());
        match width {
            B16 => {
                let args = args.map(|arg| self.wide(arg, false));
                let [a, b, c] = args;
                let whole = self.computed(B32, &["lop3.b32"], &[a, b, c, table]);
                self.ins(&["cvt.u16.u32"], &[d.into(), whole]);
            }
            B64 => {
                let halves = args.map(|arg| {
                    let arg = self.in_register(arg, B64);
                    self.halves(arg, B64)
                });
                let [a, b, c] = halves;
                let low = self.computed(B32, &["lop3.b32"], &[a[0], b[0], c[0], table]);
                let high = self.computed(B32, &["lop3.b32"], &[a[1], b[1], c[1], table]);
                self.ins(&["mov.b64"], &[d.into(), Arg::Vector(&[low, high])]);
            }
            _ => {
                let [a, b, c] = args;
                self.ins(&["lop3.b32"], &[d.into(), a, b, c, table]);
            }
        }
    }

    /// With the carry in predicates, PTX's flag can be seen by nothing else: the carry out is where a sum is smaller than
    /// what was added to, of a difference where more is taken than there is.
    pub(super) fn carry(
        &mut self,
        d: Reg,
        out: Option<Reg>,
        subtract: bool,
        carry: Operand,
        [a, b]: [Operand; 2],
    ) -> Written {
        let width = self.width(d);
        let (a, b) = (self.int(a, width), self.int(b, width));
        let (signed, below) = (signed_type(width), ["setp.lt", unsigned_type(width)]);
        let word = if subtract { "sub" } else { "add" };
        if carry == Operand::ZERO && out.is_none() {
            self.ins(&[word, signed], &[d.into(), a, b]);
            return Ok(());
        }
        let first = self.computed(width, &[word, signed], &[a, b]);
        let mut carried = self.computed(Width::Pred, &below, &if subtract { [a, b] } else { [first, a] });
        let mut sum = first;
        if carry != Operand::ZERO {
            let carry = self.register(carry, Width::Pred);
            let (one, zero) = (Arg::Int(1, width), Arg::Int(0, width));
            let one = self.computed(width, &["selp", bits_type(width)], &[one, zero, carry]);
            sum = self.computed(width, &[word, signed], &[first, one]);
            let again = self.computed(Width::Pred, &below, &if subtract { [first, one] } else { [sum, first] });
            carried = self.computed(Width::Pred, &["or.pred"], &[carried, again]);
        }
        self.ins(&["mov", bits_type(width)], &[d.into(), sum]);
        if let Some(out) = out {
            // Last: it may be the guard.
            self.ins(&["mov.pred"], &[out.into(), carried]);
        }
        Ok(())
    }

    pub(super) fn pack(&mut self, d: Reg, low: Operand, high: Operand) -> Written {
        let width = self.width(d);
        let half = Width::holding(width.bits() / 2);
        let halves = [self.int(low, half), self.int(high, half)];
        self.ins(&["mov", bits_type(width)], &[d.into(), Arg::Vector(&halves)]);
        Ok(())
    }

    pub(super) fn extract(&mut self, d: Reg, a: Operand, width: Width, shift: u32) -> Written {
        let to = self.width(d);
        let a = self.register(a, width);
        let half = Width::holding(width.bits() / 2);
        if to == width {
            self.ins(&["mov", bits_type(width)], &[d.into(), a]);
        } else if to == half && shift == 0 {
            self.ins(&["cvt", unsigned_type(to), unsigned_type(width)], &[d.into(), a]);
        } else if to == half && shift == half.bits() {
            self.ins(&["mov", bits_type(width)], &[Arg::Vector(&[Arg::Sink, d.into()]), a]);
        } else {
            let mut value = a;
            if shift > 0 {
                value = self.computed(width, &["shr", unsigned_type(width)], &[a, small(shift.into())]);
            }
            self.ins(&["cvt", unsigned_type(to), unsigned_type(width)], &[d.into(), value]);
        }
        Ok(())
    }
}

const fn mode_word(mode: PermuteMode) -> &'static str {
    match mode {
        PermuteMode::F4e => ".f4e",
        PermuteMode::B4e => ".b4e",
        PermuteMode::Rc8 => ".rc8",
        PermuteMode::Ecl => ".ecl",
        PermuteMode::Ecr => ".ecr",
        PermuteMode::Rc16 => ".rc16",
    }
}
