//! Video instructions: bytes, half-words and words widened, one operation on them, its result clamped, and joined with a
//! third operand. Every number has 64 bits in between, where none overflows.
//!
//! The manual's text is what is computed. Where ptxas 13.5 expands an instruction for sm_90 to something else (unsigned
//! words whose sums or products it takes for signed ones), it is refused: which of them a machine does, none was asked.

use super::statement::Inst;
use super::{Body, Result};
use crate::ast::{Operand as Written, OperandKind, Unary};
use crate::opcodes::VideoOp;
use crate::types::{ScalarKind, Type};
use crate::video::Selector;
use roundonce_ir::{IntOp, Op, Operand, Reg, Signedness, Width};

const NONE: Operand = Operand::ZERO;
const SIGNED: Signedness = Signedness::Signed;
const UNSIGNED: Signedness = Signedness::Unsigned;
/// The bits of the result of a shift, by the manual.
const SHIFTED_BITS: u64 = 34;

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// An instruction on one number of each operand.
    pub(super) fn video(&mut self, inst: &Inst<'m, 'a>, op: VideoOp) -> Result<()> {
        let [to, a, b] = self.video_types(inst, op)?;
        let (merged, joined) = (self.selector(inst, 0, 1)?, [".add", ".min", ".max"].into_iter().find(|m| inst.has(m)));
        let has_third = merged.is_some() || joined.is_some();
        if inst.operands.len() != 3 + usize::from(has_third) || merged.is_some() && joined.is_some() {
            return Err(self.refuse(inst));
        }
        let parts = [self.selector(inst, 1, 1)?, self.selector(inst, 2, 1)?];
        let are_parts = parts.iter().all(Option::is_some);
        let sums = matches!(op, VideoOp::Add | VideoOp::Subtract | VideoOp::AbsDifference | VideoOp::ShiftLeft);
        // What the expansion takes for a signed number of 32 bits must be one.
        let fits = to == SIGNED && (inst.has(".sat") || !sums || are_parts && op != VideoOp::ShiftLeft);
        let may_carry = op == VideoOp::Add || sums && op != VideoOp::ShiftLeft && (a == SIGNED || b == SIGNED);
        let clamps_carry = inst.has(".sat") && may_carry && to == UNSIGNED && !are_parts;
        if clamps_carry || matches!(joined, Some(".min" | ".max")) && (!fits || matches!(op, VideoOp::Compare)) {
            return Err(self.differs(inst));
        }
        let c = if has_third { Some(self.value_at(inst, 3, Type::B32)?) } else { None };
        let [a, b] = self.video_sources(inst, [a, b], parts)?;
        let mut result = self.video_op(inst, op, a, b)?;
        let bits = merged.map_or(32, |part| part.bits);
        if inst.has(".sat") {
            result = self.clipped(result, to, bits);
        }
        if let (Some(joined), Some(c)) = (joined, c) {
            let op = match joined {
                ".add" => IntOp::Add,
                ".min" => IntOp::Min(SIGNED),
                _ => IntOp::Max(SIGNED),
            };
            let c = self.number(c, to, None);
            result = self.long(op, result, c);
        }
        let mut low = self.low(result);
        if let (Some(part), Some(c)) = (merged, c) {
            low = self.inserted(low, c, part.bits, part.places().next().unwrap_or(0));
        }
        self.finish_video(inst, low)
    }

    /// An instruction on two or four numbers of each operand, by a mask.
    pub(super) fn video_lanes(&mut self, inst: &Inst<'m, 'a>, op: VideoOp, lanes: u32) -> Result<()> {
        let [to, a, b] = self.video_types(inst, op)?;
        let bits = 32 / lanes;
        let own: Vec<u32> = (0..lanes).collect();
        let others: Vec<u32> = (lanes..2 * lanes).collect();
        let mut places = Vec::new();
        for (at, default) in [(0, &own), (1, &own), (2, &others)] {
            places
                .push(self.selector(inst, at, lanes)?.map_or_else(|| default.clone(), |part| part.places().collect()));
        }
        let sources = [self.video_word(inst, 1)?, self.video_word(inst, 2)?];
        let c = self.video_word(inst, 3)?;
        let mut result = c;
        for lane in 0..lanes {
            if !places[0].contains(&lane) {
                continue;
            }
            let [a, b] = [(a, places[1][lane as usize]), (b, places[2][lane as usize])]
                .map(|(sign, place)| self.number(sources[(place / lanes) as usize], sign, Some((bits, place % lanes))));
            let mut number = self.video_op(inst, op, a, b)?;
            if inst.has(".sat") {
                number = self.clipped(number, to, bits);
            }
            let low = self.low(number);
            result = if inst.has(".add") {
                self.int(IntOp::Add, Width::B32, [result, low, NONE]).into()
            } else {
                self.inserted(low, result, bits, lane)
            };
        }
        self.finish_video(inst, result)
    }

    /// `vmad`: a product, negated or not, a third operand, shifted and clamped.
    pub(super) fn video_multiply_add(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let [_, a, b] = self.video_types(inst, VideoOp::Add)?;
        let negative = |at: usize| matches!(inst.operands[at].kind, OperandKind::Unary(Unary::Minus, _));
        let is_constant = self.is_constant(&inst.operands[3]);
        let (negates_product, negates_c) = (negative(1) != negative(2), negative(3) && !is_constant);
        if negates_product && negates_c || inst.has(".po") && (negates_product || negates_c) {
            return Err(self.refuse(inst));
        }
        let is_signed = a == SIGNED || b == SIGNED || negates_product || negates_c;
        let shift = if inst.has(".shr7") { 7 } else { 15 * u64::from(inst.has(".shr15")) };
        let parts = [self.selector(inst, 1, 1)?, self.selector(inst, 2, 1)?];
        let is_word = |sign, part: Option<Selector<'_>>| sign == UNSIGNED && part.is_none();
        let reads_high = shift > 0 || inst.has(".sat");
        if reads_high && (!is_signed || is_word(a, parts[0]) || is_word(b, parts[1])) {
            return Err(self.differs(inst));
        }
        let [a, b] = self.video_sources(inst, [a, b], parts)?;
        let c = if negates_c { self.video_word(inst, 3)? } else { self.value_at(inst, 3, Type::B32)? };
        let c = self.number(c, if is_signed { SIGNED } else { UNSIGNED }, None);
        let product = self.long(IntOp::Mul, a, b);
        let mut result = match (negates_product, negates_c) {
            (true, _) => self.long(IntOp::Sub, c, product),
            (_, true) => self.long(IntOp::Sub, product, c),
            _ => self.long(IntOp::Add, product, c),
        };
        if inst.has(".po") {
            result = self.long(IntOp::Add, result, Operand::Imm(1));
        }
        if shift > 0 {
            result = self.long(IntOp::Shr(SIGNED), result, Operand::Imm(shift));
        }
        if inst.has(".sat") {
            result = self.clipped(result, SIGNED, 32);
        }
        let low = self.low(result);
        self.finish_video(inst, low)
    }

    /// Whether the result and the sources are signed; a comparison's result is not.
    fn video_types(&self, inst: &Inst<'m, 'a>, op: VideoOp) -> Result<[Signedness; 3]> {
        if inst.types.iter().any(|ty| ty.bits != 32 || ty.components != 1 || !is_number(*ty)) {
            return Err(self.refuse(inst));
        }
        match (op, &inst.types[..]) {
            (VideoOp::Compare, [a, b]) => Ok([UNSIGNED, a.sign(), b.sign()]),
            (VideoOp::Compare, _) => Err(self.refuse(inst)),
            (_, [to, a, b]) => Ok([to.sign(), a.sign(), b.sign()]),
            _ => Err(self.refuse(inst)),
        }
    }

    /// What is computed otherwise by the assembler's expansion than the manual says.
    fn differs(&self, inst: &Inst<'m, 'a>) -> roundonce_isa::Finding {
        self.refuse(inst).help("the manual's result and that of the assembler's expansion for sm_90 differ")
    }

    /// The selector of an operand, if it has one.
    fn selector(&self, inst: &Inst<'m, 'a>, at: usize, lanes: u32) -> Result<Option<Selector<'a>>> {
        let operand = self.without_minus(self.operand_at(inst, at)?);
        let OperandKind::Selected(_, text) = operand.kind else { return Ok(None) };
        match Selector::of(text).filter(|selector| selector.fits(lanes, at == 0)) {
            Some(selector) => Ok(Some(selector)),
            None => Err(self.malformed(format!("`{text}` selects nothing of operand {at}"))),
        }
    }

    fn without_minus(&self, operand: &'m Written<'a>) -> &'m Written<'a> {
        match operand.kind {
            OperandKind::Unary(Unary::Minus, inner) => self.module.operand(inner),
            _ => operand,
        }
    }

    fn is_constant(&self, operand: &'m Written<'a>) -> bool {
        !matches!(self.without_minus(operand).kind, OperandKind::Name(_) | OperandKind::Selected(..))
    }

    /// The two sources of an instruction on one number of each.
    fn video_sources(
        &mut self,
        inst: &Inst<'m, 'a>,
        signs: [Signedness; 2],
        parts: [Option<Selector<'a>>; 2],
    ) -> Result<[Operand; 2]> {
        let mut numbers = [NONE; 2];
        for (at, number) in numbers.iter_mut().enumerate() {
            let word = self.video_word(inst, at + 1)?;
            let part = parts[at].map(|part| (part.bits, part.places().next().unwrap_or(0)));
            *number = self.number(word, signs[at], part);
        }
        Ok(numbers)
    }

    /// The word that an operand is, or is a part of.
    fn video_word(&mut self, inst: &Inst<'m, 'a>, at: usize) -> Result<Operand> {
        let operand = self.operand_at(inst, at)?;
        if self.is_constant(operand) {
            return self.value(operand, Type::B32);
        }
        self.value(&whole(self.without_minus(operand)), Type::B32)
    }

    /// A word, or so many bits of it at a place counted in them, as a number of 64 bits.
    fn number(&mut self, word: Operand, sign: Signedness, part: Option<(u32, u32)>) -> Operand {
        let part = part.map(|(bits, place)| [word, Operand::Imm((bits * place).into()), Operand::Imm(bits.into())]);
        let word = part.map_or(word, |args| self.int(IntOp::FieldExtract(sign), Width::B32, args).into());
        self.int(IntOp::MulWide(sign), Width::B32, [word, Operand::Imm(1), NONE]).into()
    }

    fn long(&mut self, op: IntOp, a: Operand, b: Operand) -> Operand {
        self.int(op, Width::B64, [a, b, NONE]).into()
    }

    fn low(&mut self, number: Operand) -> Operand {
        let d = self.fresh(Width::B32);
        self.emit_always(Op::Extract { d, a: number, width: Width::B64, shift: 0 });
        d.into()
    }

    /// `value`'s low bits in `whole`, at a place counted in them.
    fn inserted(&mut self, value: Operand, whole: Operand, bits: u32, place: u32) -> Operand {
        let d = self.fresh(Width::B32);
        let args = [value, whole, Operand::Imm((bits * place).into()), Operand::Imm(bits.into())];
        self.emit_always(Op::Int { d, op: IntOp::FieldInsert, width: Width::B32, args });
        d.into()
    }

    fn clipped(&mut self, number: Operand, sign: Signedness, bits: u32) -> Operand {
        let (least, most) = match sign {
            Signedness::Signed => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
            Signedness::Unsigned => (0, (1i64 << bits) - 1),
        };
        let number = self.long(IntOp::Max(SIGNED), number, Operand::Imm(least as u64));
        self.long(IntOp::Min(SIGNED), number, Operand::Imm(most as u64))
    }

    /// The operation itself.
    fn video_op(&mut self, inst: &Inst<'m, 'a>, op: VideoOp, a: Operand, b: Operand) -> Result<Operand> {
        Ok(match op {
            VideoOp::Add => self.long(IntOp::Add, a, b),
            VideoOp::Subtract => self.long(IntOp::Sub, a, b),
            VideoOp::AbsDifference => self.long(IntOp::AbsDiff(SIGNED), a, b),
            VideoOp::Min => self.long(IntOp::Min(SIGNED), a, b),
            VideoOp::Max => self.long(IntOp::Max(SIGNED), a, b),
            VideoOp::Average => {
                // Halves go away from zero.
                let sum = self.long(IntOp::Add, a, b);
                let sign = self.long(IntOp::Shr(SIGNED), sum, Operand::Imm(63));
                let more = self.long(IntOp::Add, sum, Operand::Imm(1));
                let more = self.long(IntOp::Add, more, sign);
                self.long(IntOp::Shr(SIGNED), more, Operand::Imm(1))
            }
            VideoOp::ShiftLeft | VideoOp::ShiftRight => {
                let count = self.low(b);
                let count = if inst.has(".wrap") {
                    self.int(IntOp::And, Width::B32, [count, Operand::Imm(31), NONE])
                } else {
                    self.int(IntOp::Min(UNSIGNED), Width::B32, [count, Operand::Imm(32), NONE])
                };
                if op == VideoOp::ShiftRight {
                    return Ok(self.long(IntOp::Shr(SIGNED), a, count.into()));
                }
                let shifted = self.long(IntOp::Shl, a, count.into());
                let rest = Operand::Imm(64 - SHIFTED_BITS);
                let top = self.long(IntOp::Shl, shifted, rest);
                self.long(IntOp::Shr(SIGNED), top, rest)
            }
            VideoOp::Compare => {
                let (comparison, of) = self.comparison(inst, Type::S64)?;
                let (p, d) = (self.compare(comparison, of, a, b), self.fresh(Width::B64));
                self.emit_always(Op::Select { d, p: p.into(), a: Operand::Imm(1), b: NONE });
                d.into()
            }
        })
    }

    fn finish_video(&mut self, inst: &Inst<'m, 'a>, result: Operand) -> Result<()> {
        let d: Reg = self.exact(&whole(self.operand_at(inst, 0)?), Type::B32)?;
        self.emit(Op::Move { d, a: result });
        Ok(())
    }
}

/// An operand without its selector.
fn whole<'a>(operand: &Written<'a>) -> Written<'a> {
    match operand.kind {
        OperandKind::Selected(name, _) => Written { kind: OperandKind::Name(name), ..*operand },
        _ => *operand,
    }
}

/// An integer with a sign or without.
fn is_number(ty: Type) -> bool {
    matches!(ty.kind, ScalarKind::Signed | ScalarKind::Unsigned)
}
