//! Integers, bits, comparisons, selections.

use super::statement::Inst;
use super::{Body, Result};
use crate::ast::Operand as Written;
use crate::opcodes::IntegerOp;
use crate::types::{ScalarKind, Type};
use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand, PermuteMode, Reg, Signedness, Width};

const NONE: Operand = Operand::ZERO;

impl<'m, 'a> Body<'_, 'm, 'a> {
    fn emit_int(&mut self, d: Reg, op: IntOp, width: Width, args: [Operand; 4]) {
        self.emit(Op::Int { d, op, width, args });
    }

    /// The type of integer arithmetic; only `.s32` saturates.
    fn arithmetic_type(&self, inst: &Inst<'m, 'a>) -> Result<Type> {
        let ty = self.type_of(inst)?;
        let clamps = !inst.has(".sat") || (ty.is_signed() && ty.bits == 32);
        if ty.bits < 16 || !ty.is_integer() || !clamps { Err(self.refuse(inst)) } else { Ok(ty) }
    }

    /// add, sub and their carry forms.
    pub(super) fn integer_sum(&mut self, inst: &Inst<'m, 'a>, subtract: bool, carries: bool) -> Result<()> {
        let ty = self.arithmetic_type(inst)?;
        if ty.components > 1 {
            if subtract || carries {
                return Err(self.refuse(inst));
            }
            return self.packed_integers(inst, ty, IntOp::Add);
        }
        let sets = inst.has(".cc");
        let (a, b) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        if carries || sets {
            self.carried(d, subtract, carries, sets, a, b);
            return Ok(());
        }
        let op = match (subtract, inst.has(".sat")) {
            (false, false) => IntOp::Add,
            (true, false) => IntOp::Sub,
            (false, true) => IntOp::AddSat,
            (true, true) => IntOp::SubSat,
        };
        self.emit_int(d, op, ty.width(), [a, b, NONE, NONE]);
        Ok(())
    }

    /// `add.u16x2` and its like.
    fn packed_integers(&mut self, inst: &Inst<'m, 'a>, ty: Type, op: IntOp) -> Result<()> {
        let (sign, width) = (ty.sign(), ty.component().width());
        let relu = inst.has(".relu");
        if inst.modifiers.len() > 1 + usize::from(relu && op != IntOp::Add && sign == Signedness::Signed) {
            return Err(self.refuse(inst));
        }
        let values = [self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?];
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        self.by_component(d, ty, &values, |body, d, values| {
            let args = [values[0], values[1], NONE];
            if relu {
                let best = body.int(op, width, args);
                body.emit_int(d, IntOp::Max(Signedness::Signed), width, [best.into(), NONE, NONE, NONE]);
            } else {
                body.emit_int(d, op, width, [args[0], args[1], NONE, NONE]);
            }
            Ok(())
        })
    }

    fn carried(&mut self, d: Reg, subtract: bool, carries: bool, sets: bool, a: Operand, b: Operand) {
        let flag = self.carry;
        // A subtraction leaves the carry of a + ~b + 1 in the flag: set where it does not borrow. So `addc` and `subc` read
        // what either left.
        let carry = match (carries, subtract) {
            (false, _) => NONE,
            (true, false) => flag.into(),
            (true, true) => self.int(IntOp::Not, Width::Pred, [flag.into(), NONE, NONE]).into(),
        };
        self.emit(Op::Carry { d, out: sets.then_some(flag), subtract, carry, a, b });
        if sets && subtract {
            self.emit_int(flag, IntOp::Not, Width::Pred, [flag.into(), NONE, NONE, NONE]);
        }
    }

    /// The 24-bit mul and mad, of the low 24 bits of each factor.
    pub(super) fn product_of_24_bits(&mut self, inst: &Inst<'m, 'a>, adds: bool) -> Result<()> {
        let ty = self.arithmetic_type(inst)?;
        let (width, sign) = (ty.width(), ty.sign());
        if ty.components > 1 || width != Width::B32 {
            return Err(self.refuse(inst));
        }
        let mut factors = [self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?];
        let c = if adds { Some(self.value_at(inst, 3, ty)?) } else { None };
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        for factor in &mut factors {
            let args = [*factor, Operand::Imm(0), Operand::Imm(24)];
            *factor = Operand::Reg(self.int(IntOp::FieldExtract(sign), width, args));
        }
        let [a, b] = factors;
        let product = if inst.has(".hi") {
            // Bits 16 to 47 of the 48.
            let whole = self.int(IntOp::MulWide(sign), width, [a, b, NONE]);
            let shifted = self.int(IntOp::Shr(sign), Width::B64, [whole.into(), Operand::Imm(16), NONE]);
            let low = self.fresh(Width::B32);
            self.emit_always(Op::Extract { d: low, a: shifted.into(), width: Width::B64, shift: 0 });
            low
        } else {
            self.int(IntOp::Mul, width, [a, b, NONE])
        };
        match c {
            Some(c) => {
                let op = if inst.has(".sat") { IntOp::AddSat } else { IntOp::Add };
                self.emit_int(d, op, width, [product.into(), c, NONE, NONE]);
            }
            None => self.emit(Op::Move { d, a: product.into() }),
        }
        Ok(())
    }

    /// mul, mad, with .lo, .hi, .wide.
    pub(super) fn product(&mut self, inst: &Inst<'m, 'a>, adds: bool, carries: bool) -> Result<()> {
        let ty = self.arithmetic_type(inst)?;
        let (width, sign, sets) = (ty.width(), ty.sign(), inst.has(".cc"));
        let wide = inst.has(".wide");
        // Not in the manual: the assembler takes `madc` of 16 bits, and clamped.
        let undocumented = (carries || sets) && (inst.has(".sat") || width == Width::B16);
        if ty.components > 1 || wide && ty.bits > 32 || undocumented {
            return Err(self.refuse(inst));
        }
        let (a, b) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?);
        let result = if wide { Type { bits: ty.bits * 2, ..ty } } else { ty };
        let c = if adds { Some(self.value_at(inst, 3, result)?) } else { None };
        let d = self.exact(self.operand_at(inst, 0)?, result)?;
        let high = inst.has(".hi");
        let Some(c) = c else {
            let op = if wide {
                IntOp::MulWide(sign)
            } else if high {
                IntOp::MulHigh(sign)
            } else {
                IntOp::Mul
            };
            self.emit_int(d, op, width, [a, b, NONE, NONE]);
            return Ok(());
        };
        if !carries && !sets && !high && !inst.has(".sat") {
            let op = if wide { IntOp::MulAddWide(sign) } else { IntOp::MulAdd };
            self.emit_int(d, op, width, [a, b, c, NONE]);
            return Ok(());
        }
        let product = self.int(if high { IntOp::MulHigh(sign) } else { IntOp::Mul }, width, [a, b, NONE]);
        if carries || sets {
            self.carried(d, false, carries, sets, product.into(), c);
        } else {
            let op = if inst.has(".sat") { IntOp::AddSat } else { IntOp::Add };
            self.emit_int(d, op, width, [product.into(), c, NONE, NONE]);
        }
        Ok(())
    }

    /// What is one operation on integers or bits.
    pub(super) fn integer(&mut self, inst: &Inst<'m, 'a>, op: IntegerOp) -> Result<()> {
        let ty = self.type_of(inst)?;
        let (width, sign) = (ty.width(), ty.sign());
        if ty.components != 1 {
            let sign = ty.sign();
            return match op {
                IntegerOp::Min => self.packed_integers(inst, ty, IntOp::Min(sign)),
                IntegerOp::Max => self.packed_integers(inst, ty, IntOp::Max(sign)),
                _ => Err(self.refuse(inst)),
            };
        }
        if ty.bits < 16 && ty.kind != ScalarKind::Pred {
            return Err(self.refuse(inst));
        }
        let u32 = Type::U32;
        let (op, types): (IntOp, Vec<Type>) = match op {
            IntegerOp::Divide => (IntOp::Div(sign), vec![ty; 2]),
            IntegerOp::Remainder => (IntOp::Rem(sign), vec![ty; 2]),
            IntegerOp::Min => (IntOp::Min(sign), vec![ty; 2]),
            IntegerOp::Max => (IntOp::Max(sign), vec![ty; 2]),
            IntegerOp::Abs => (IntOp::Abs, vec![ty]),
            IntegerOp::Negate => (IntOp::Neg, vec![ty]),
            IntegerOp::SumOfDifference => (IntOp::AbsDiff(sign), vec![ty; 3]),
            IntegerOp::And => (IntOp::And, vec![ty; 2]),
            IntegerOp::Or => (IntOp::Or, vec![ty; 2]),
            IntegerOp::Xor => (IntOp::Xor, vec![ty; 2]),
            IntegerOp::Not => (IntOp::Not, vec![ty]),
            IntegerOp::LogicalNot => (IntOp::IsZero, vec![ty]),
            IntegerOp::ShiftLeft => (IntOp::Shl, vec![ty, u32]),
            IntegerOp::ShiftRight => (IntOp::Shr(sign), vec![ty, u32]),
            IntegerOp::FunnelShift => {
                let (left, clamp) = (inst.has(".l"), inst.has(".clamp"));
                (IntOp::Funnel { left, clamp }, vec![ty, ty, u32])
            }
            IntegerOp::LeadingZeros => (IntOp::LeadingZeros, vec![ty]),
            IntegerOp::PopCount => (IntOp::PopCount, vec![ty]),
            IntegerOp::Reverse => (IntOp::Reverse, vec![ty]),
            IntegerOp::FindHighest => (IntOp::FindHighest { sign, shift: inst.has(".shiftamt") }, vec![ty]),
            IntegerOp::FindNth => (IntOp::FindNth, vec![u32; 3]),
            IntegerOp::FieldExtract => (IntOp::FieldExtract(sign), vec![ty, u32, u32]),
            IntegerOp::FieldInsert => (IntOp::FieldInsert, vec![ty, ty, u32, u32]),
            IntegerOp::Permute => (Self::permute_mode(inst), vec![ty; 3]),
            IntegerOp::Mask => (IntOp::Mask { clamp: inst.has(".clamp") }, vec![u32; 2]),
        };
        let result_is_32 = matches!(op, IntOp::LeadingZeros | IntOp::PopCount | IntOp::FindHighest { .. });
        if !op.takes(width) || inst.operands.len() != types.len() + 1 {
            return Err(self.refuse(inst));
        }
        let mut args = [NONE; 4];
        for (index, ty) in types.iter().enumerate() {
            args[index] = self.value_at(inst, index + 1, *ty)?;
        }
        let result = if result_is_32 { Type::U32 } else { ty };
        let d = self.exact(self.operand_at(inst, 0)?, result)?;
        if inst.has(".relu") {
            let best = self.fresh(width);
            self.emit_always(Op::Int { d: best, op, width, args });
            self.emit_int(d, IntOp::Max(Signedness::Signed), width, [best.into(), NONE, NONE, NONE]);
            return Ok(());
        }
        self.emit_int(d, op, width, args);
        Ok(())
    }

    fn permute_mode(inst: &Inst<'m, 'a>) -> IntOp {
        let mode = inst.modifiers.iter().find_map(|modifier| match *modifier {
            ".f4e" => Some(PermuteMode::F4e),
            ".b4e" => Some(PermuteMode::B4e),
            ".rc8" => Some(PermuteMode::Rc8),
            ".ecl" => Some(PermuteMode::Ecl),
            ".ecr" => Some(PermuteMode::Ecr),
            ".rc16" => Some(PermuteMode::Rc16),
            _ => None,
        });
        mode.map_or(IntOp::Permute, IntOp::PermuteMode)
    }

    /// `lop3.b32 d, a, b, c, table` and `lop3.or.b32 d|p, a, b, c, table, q`, where p = (d ≠ 0) or q.
    pub(super) fn lop3(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let join = Self::join(inst);
        if ty.width() != Width::B32 || inst.operands.len() != 5 + usize::from(join.is_some()) {
            return Err(self.refuse(inst));
        }
        let mut args = [NONE; 4];
        for (index, arg) in args.iter_mut().enumerate().take(3) {
            *arg = self.value_at(inst, index + 1, ty)?;
        }
        let Operand::Imm(table) = self.value_at(inst, 4, Type::U32)? else {
            return Err(self.malformed("the table of lop3 must be a constant"));
        };
        let op = IntOp::Logic3(table as u8);
        let Some(join) = join else {
            let d = self.exact(self.operand_at(inst, 0)?, ty)?;
            self.emit_int(d, op, ty.width(), args);
            return Ok(());
        };
        let (d, p) = self.pair(self.operand_at(inst, 0)?);
        let (Some(p), q) = (p, self.value_at(inst, 5, Type::PRED)?) else { return Err(self.refuse(inst)) };
        let (d, p) = (self.exact(d, ty)?, self.exact(p, Type::PRED)?);
        let value = self.fresh(ty.width());
        self.emit_always(Op::Int { d: value, op, width: ty.width(), args });
        let truth = self.compare(Comparison::Ne, Comparand::Unsigned(ty.width()), value.into(), NONE);
        self.emit(Op::Move { d, a: value.into() });
        self.emit_int(p, join, Width::Pred, [truth.into(), q, NONE, NONE]);
        Ok(())
    }

    /// Sign or zero extension from a place: a field of that many bits.
    pub(super) fn szext(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        if ty.width() != Width::B32 || ty.components != 1 {
            return Err(self.refuse(inst));
        }
        let (a, b) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, Type::U32)?);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let count = if inst.has(".wrap") {
            self.int(IntOp::And, Width::B32, [b, Operand::Imm(31), NONE])
        } else {
            self.int(IntOp::Min(Signedness::Unsigned), Width::B32, [b, Operand::Imm(32), NONE])
        };
        self.emit_int(d, IntOp::FieldExtract(ty.sign()), Width::B32, [a, NONE, count.into(), NONE]);
        Ok(())
    }

    pub(super) fn dot(&mut self, inst: &Inst<'m, 'a>, of_bytes: bool) -> Result<()> {
        let [first, second] = inst.types[..] else { return Err(self.refuse(inst)) };
        let mut args = [NONE; 4];
        for (index, arg) in args.iter_mut().enumerate().take(3) {
            *arg = self.value_at(inst, index + 1, Type::B32)?;
        }
        let d = self.exact(self.operand_at(inst, 0)?, Type::B32)?;
        let op = if of_bytes {
            IntOp::DotProduct4(first.sign(), second.sign())
        } else {
            IntOp::DotProduct2 { a: first.sign(), b: second.sign(), high: inst.has(".hi") }
        };
        self.emit_int(d, op, Width::B32, args);
        Ok(())
    }

    /// `clmad`: a product of polynomials over the field of two elements, its lower or upper half, and a sum there.
    pub(super) fn clmad(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let high = inst.has(".hi");
        if ty.kind != ScalarKind::Unsigned || ty.bits != 64 || high == inst.has(".lo") {
            return Err(self.refuse(inst));
        }
        let (a, b) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?);
        let mut sum = self.value_at(inst, 3, ty)?;
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let unsigned = Signedness::Unsigned;
        for place in u64::from(high)..64 {
            let (op, count) = if high { (IntOp::Shr(unsigned), 64 - place) } else { (IntOp::Shl, place) };
            let shifted = self.int(op, Width::B64, [a, Operand::Imm(count), NONE]);
            // The bit in every place.
            let bit = [b, Operand::Imm(place), Operand::Imm(1)];
            let bit = self.int(IntOp::FieldExtract(Signedness::Signed), Width::B64, bit);
            let term = self.int(IntOp::And, Width::B64, [shifted.into(), bit.into(), NONE]);
            sum = self.int(IntOp::Xor, Width::B64, [sum, term.into(), NONE]).into();
        }
        self.emit(Op::Move { d, a: sum });
        Ok(())
    }

    /// The comparison that a modifier names, for a type.
    pub(super) fn comparison(&self, inst: &Inst<'m, 'a>, ty: Type) -> Result<(Comparison, Comparand)> {
        use Comparison::{Eq, Equ, Ge, Geu, Gt, Gtu, Le, Leu, Lt, Ltu, Nan, Ne, Neu, Num};
        let found = inst.modifiers.iter().find_map(|modifier| {
            Some(match *modifier {
                ".eq" => (Eq, false),
                ".ne" => (Ne, false),
                ".lt" => (Lt, false),
                ".le" => (Le, false),
                ".gt" => (Gt, false),
                ".ge" => (Ge, false),
                ".lo" => (Lt, true),
                ".ls" => (Le, true),
                ".hi" => (Gt, true),
                ".hs" => (Ge, true),
                ".equ" => (Equ, false),
                ".neu" => (Neu, false),
                ".ltu" => (Ltu, false),
                ".leu" => (Leu, false),
                ".gtu" => (Gtu, false),
                ".geu" => (Geu, false),
                ".num" => (Num, false),
                ".nan" => (Nan, false),
                _ => return None,
            })
        });
        let Some((comparison, unsigned)) = found else { return Err(self.refuse(inst)) };
        let comparand = match ty.kind {
            ScalarKind::Float(format) if ty.components == 1 => {
                Comparand::Float { format, flush: self.flushes(inst, ty) }
            }
            ScalarKind::Signed if !unsigned => Comparand::Signed(ty.width()),
            ScalarKind::Float(_) | ScalarKind::Pred => return Err(self.refuse(inst)),
            _ => Comparand::Unsigned(ty.width()),
        };
        if ty.bits < 16 {
            return Err(self.refuse(inst));
        }
        Ok((comparison, comparand))
    }

    /// The logic that joins a comparison with a predicate.
    fn join(inst: &Inst<'m, 'a>) -> Option<IntOp> {
        inst.modifiers.iter().find_map(|modifier| match *modifier {
            ".and" => Some(IntOp::And),
            ".or" => Some(IntOp::Or),
            ".xor" => Some(IntOp::Xor),
            _ => None,
        })
    }

    /// The truth of a comparison, and of its contrary, joined with the last operand where there is one.
    fn truths(
        &mut self,
        inst: &Inst<'m, 'a>,
        ty: Type,
        [a, b]: [Operand; 2],
        both: bool,
    ) -> Result<(Reg, Option<Reg>)> {
        let (comparison, of) = self.comparison(inst, ty)?;
        let join = Self::join(inst);
        let c = match join {
            Some(_) => Some(self.value_at(inst, 3, Type::PRED)?),
            None => None,
        };
        let guard = self.guard.take();
        let truth = self.fresh(Width::Pred);
        self.emit(Op::Compare { d: truth, comparison, of, a, b });
        let mut truths = vec![truth];
        if both {
            truths.push(self.int(IntOp::Not, Width::Pred, [truth.into(), NONE, NONE]));
        }
        if let (Some(join), Some(c)) = (join, c) {
            for truth in &mut truths {
                *truth = self.int(join, Width::Pred, [(*truth).into(), c, NONE]);
            }
        }
        self.guard = guard;
        Ok((truths[0], truths.get(1).copied()))
    }

    pub(super) fn setp(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        if ty.components == 2 {
            return self.setp_packed(inst, ty);
        }
        let (p, q) = self.pair(self.operand_at(inst, 0)?);
        let plain = q.is_none() && Self::join(inst).is_none();
        if plain {
            let (comparison, of) = self.comparison(inst, ty)?;
            let (a, b) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?);
            let d = self.exact(p, Type::PRED)?;
            self.emit(Op::Compare { d, comparison, of, a, b });
            return Ok(());
        }
        let args = [self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?];
        let (yes, no) = self.truths(inst, ty, args, q.is_some())?;
        self.move_to(p, yes)?;
        if let (Some(q), Some(no)) = (q, no) {
            self.move_to(q, no)?;
        }
        Ok(())
    }

    fn move_to(&mut self, written: &Written<'a>, value: Reg) -> Result<()> {
        let d = self.exact(written, Type::PRED)?;
        self.emit(Op::Move { d, a: value.into() });
        Ok(())
    }

    /// `setp.lt.f16x2 p|q, a, b`: a predicate a half.
    fn setp_packed(&mut self, inst: &Inst<'m, 'a>, ty: Type) -> Result<()> {
        let (p, q) = self.pair(self.operand_at(inst, 0)?);
        let Some(q) = q else { return Err(self.refuse(inst)) };
        let (a, b) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?);
        let (a, b) = (self.unpacked(a, ty), self.unpacked(b, ty));
        let mut truths = Vec::new();
        for (&a, &b) in a.iter().zip(&b) {
            truths.push(self.truths(inst, ty.component(), [a, b], false)?.0);
        }
        for (written, truth) in [p, q].into_iter().zip(truths) {
            self.move_to(written, truth)?;
        }
        Ok(())
    }

    /// A comparison as a number: all ones (1.0 for a float) or zero.
    pub(super) fn set(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let [mut to, from] = inst.types[..] else { return Err(self.refuse(inst)) };
        // Of a pair the integer has a truth in each half: CUDA's `__hgt2_mask` is this instruction.
        if to.bits == 32 && from.components == 2 && to.format().is_none() {
            to.components = 2;
        }
        if to.bits < 16 || to.components != from.components {
            return Err(self.refuse(inst));
        }
        let args = [self.value_at(inst, 1, from)?, self.value_at(inst, 2, from)?];
        let d = self.exact(self.operand_at(inst, 0)?, to)?;
        let (one, of) = (to.component(), from.component());
        let yes = one.format().map_or(one.width().mask(), |format| format.one());
        self.by_component(d, to, &args, |body, d, args| {
            let (truth, _) = body.truths(inst, of, [args[0], args[1]], false)?;
            body.emit(Op::Select { d, p: truth.into(), a: Operand::Imm(yes), b: NONE });
            Ok(())
        })
    }

    pub(super) fn selp(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let (a, b) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?);
        let p = self.value_at(inst, 3, Type::PRED)?;
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        self.emit(Op::Select { d, p, a, b });
        Ok(())
    }

    /// By the sign of the third operand; −0 counts as not negative, NaN as negative.
    pub(super) fn slct(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let [ty, by] = inst.types[..] else { return Err(self.refuse(inst)) };
        let (a, b) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?);
        let c = self.value_at(inst, 3, by)?;
        let of = match by.kind {
            ScalarKind::Float(format) => Comparand::Float { format, flush: self.flushes(inst, by) },
            _ => Comparand::Signed(by.width()),
        };
        let p = self.compare(Comparison::Ge, of, c, NONE);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        self.emit(Op::Select { d, p: p.into(), a, b });
        Ok(())
    }
}
