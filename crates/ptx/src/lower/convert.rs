//! mov, cvt, cvta, isspacep.

use super::statement::Inst;
use super::{Body, Result};
use crate::ast::{Operand as Written, OperandKind};
use crate::conversions::{FORMS, NOT_RUN, is_conversion, packed_conversion};
use crate::types::{ScalarKind, Type};
use roundonce_arith::{ConversionRounding, Element, Format, PackedConversion, Rounding};
use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand, Reg, Scalar, Signedness, Special, Width};

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn mov(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let (to, from) = (self.operand_at(inst, 0)?, self.operand_at(inst, 1)?);
        let vector = |kind: OperandKind<'_>| matches!(kind, OperandKind::Vector(_));
        if ty.bits > 64 {
            let (to, from) = (self.parts_of(to, ty), self.parts_of(from, ty));
            return self.moves(&to, &from, Type::B64);
        }
        if inst.has(".v2") || inst.has(".v4") {
            let (to, from) = (self.parts(to), self.parts(from));
            return self.moves(&to, &from, ty);
        }
        // Braces around one value are as good as none.
        if vector(to.kind) != vector(from.kind)
            && let ([to], [from]) = (&self.parts(to)[..], &self.parts(from)[..])
        {
            return self.moves(&[*to], &[*from], ty);
        }
        match (vector(to.kind), vector(from.kind)) {
            (false, true) => self.pack(inst, ty),
            (true, false) => self.unpack(inst, ty),
            (true, true) => Err(self.refuse(inst)),
            (false, false) => {
                let (to, from) = (self.parts(to), self.parts(from));
                match (&to[..], &from[..]) {
                    // A vector register is its components.
                    ([_], [_, _, ..]) => self.pack(inst, ty),
                    ([_, _, ..], [_]) => self.unpack(inst, ty),
                    _ => self.moves(&to, &from, ty),
                }
            }
        }
    }

    /// All at once: a destination may be a source of another.
    fn moves(&mut self, to: &[Written<'a>], from: &[Written<'a>], ty: Type) -> Result<()> {
        if to.len() != from.len() {
            return Err(self.malformed("the operands have different numbers of components"));
        }
        let mut values = Vec::new();
        for (to, from) in to.iter().zip(from) {
            values.push((self.exact(to, ty)?, self.value(from, ty)?));
        }
        if to.len() > 1 {
            for (_, value) in &mut values {
                let copy = self.fresh(ty.width());
                self.emit_always(Op::Move { d: copy, a: *value });
                *value = copy.into();
            }
        }
        for (d, a) in values {
            self.emit(Op::Move { d, a });
        }
        Ok(())
    }

    /// `mov.b64 d, {a, b}`
    fn pack(&mut self, inst: &Inst<'m, 'a>, ty: Type) -> Result<()> {
        let parts = self.parts(self.operand_at(inst, 1)?);
        let bits = ty.bits / parts.len().max(1) as u32;
        if !matches!(parts.len(), 2 | 4) || !matches!(bits, 8 | 16 | 32) {
            return Err(self.refuse(inst));
        }
        let part = Type { kind: ScalarKind::Bits, bits, components: 1 };
        if bits == 8 {
            return self.pack_bytes(inst, &parts, ty, part);
        }
        let mut values = Vec::new();
        for written in &parts {
            values.push(self.value(written, part)?);
        }
        if let [a, b, c, d] = values[..] {
            let (low, high) = (self.fresh(Width::B32), self.fresh(Width::B32));
            self.emit_always(Op::Pack { d: low, low: a, high: b });
            self.emit_always(Op::Pack { d: high, low: c, high: d });
            values = vec![low.into(), high.into()];
        }
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        self.emit(Op::Pack { d, low: values[0], high: values[1] });
        Ok(())
    }

    /// `mov.b16 d, {a, b}` of bytes, which have registers of 16 bits.
    fn pack_bytes(&mut self, inst: &Inst<'m, 'a>, parts: &[Written<'a>], ty: Type, part: Type) -> Result<()> {
        let width = ty.width();
        let mut whole = Operand::ZERO;
        for (index, written) in parts.iter().enumerate() {
            let byte = self.value(written, part)?;
            let wide = self.fresh(width);
            let guard = self.guard.take();
            self.resize(wide, (width.bits(), false), (8, false), byte);
            self.guard = guard;
            let shift = Operand::Imm(index as u64 * 8);
            let placed = self.int(IntOp::Shl, width, [wide.into(), shift, Operand::ZERO]);
            whole = self.int(IntOp::Or, width, [whole, placed.into(), Operand::ZERO]).into();
        }
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        self.emit(Op::Move { d, a: whole });
        Ok(())
    }

    /// `mov.b64 {a, b}, d`
    fn unpack(&mut self, inst: &Inst<'m, 'a>, ty: Type) -> Result<()> {
        let parts = self.parts(self.operand_at(inst, 0)?);
        let bits = ty.bits / parts.len().max(1) as u32;
        if !matches!(parts.len(), 2 | 4) || !matches!(bits, 8 | 16 | 32) {
            return Err(self.refuse(inst));
        }
        let part = Type { kind: ScalarKind::Bits, bits, components: 1 };
        let whole = self.value_at(inst, 1, ty)?;
        // A part may be the whole's own register.
        let copy = self.fresh(ty.width());
        self.emit_always(Op::Move { d: copy, a: whole });
        for (index, written) in parts.iter().enumerate() {
            let d = self.exact(written, part)?;
            let shift = index as u32 * bits;
            if bits > 8 {
                self.emit(Op::Extract { d, a: copy.into(), width: ty.width(), shift });
                continue;
            }
            // Bytes have registers of 16 bits.
            let width = ty.width();
            let shift = Operand::Imm(shift.into());
            let shifted = self.int(IntOp::Shr(Signedness::Unsigned), width, [copy.into(), shift, Operand::ZERO]);
            self.resize(d, (8, false), (width.bits(), false), shifted.into());
        }
        Ok(())
    }

    pub(super) fn cvt(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        if inst.has(".pack") {
            return self.cvt_pack(inst);
        }
        if inst.has(".tf32") {
            return self.cvt_tf32(inst);
        }
        if is_conversion(inst.modifiers) {
            return self.cvt_narrow(inst);
        }
        let known = [".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi", ".ftz", ".sat", ".relu", ".satfinite"];
        let allowed = |modifier: &&str| known.contains(modifier) || Type::of(modifier).is_some();
        let (true, [to, from]) = (inst.modifiers.iter().all(allowed), &inst.types[..]) else {
            return Err(self.refuse(inst));
        };
        let (to, from) = (*to, *from);
        if to.components == 2 {
            return self.cvt_packed(inst, to, from);
        }
        let (Some(to_scalar), Some(from_scalar)) = (to.scalar(), from.scalar()) else {
            return Err(self.refuse(inst));
        };
        let a = self.operand_at(inst, 1)?;
        let a = self.value_relaxed(a, from)?;
        let d = self.destination(self.operand_at(inst, 0)?, to)?;
        let width = self.kernel.width(d);
        if width < to.width() {
            return Err(self.malformed(format!("the destination has fewer than {} bits", to.bits)));
        }
        let clamped = inst.has(".relu") || inst.has(".satfinite");
        if clamped && !matches!(to.format(), Some(Format::F16 | Format::BF16)) {
            return Err(self.refuse(inst));
        }
        if width == to.width() && !clamped {
            self.convert(inst, d, to_scalar, from_scalar, a);
            return Ok(());
        }
        // A wider destination is extended as the type says.
        let guard = self.guard.take();
        let narrow = self.fresh(to.width());
        self.convert(inst, narrow, to_scalar, from_scalar, a);
        let narrow = self.clamped(inst, to, narrow);
        self.guard = guard;
        self.clamps(inst, d, to, from, &[a]);
        if width == to.width() {
            self.emit(Op::Move { d, a: narrow.into() });
        } else {
            let signed = to.is_signed();
            self.resize(d, (width.bits(), signed), (to.width().bits(), signed), narrow.into());
        }
        Ok(())
    }

    /// `.satfinite`: an infinity becomes the largest finite number; `.relu`: what is negative becomes +0.
    fn clamped(&mut self, inst: &Inst<'m, 'a>, ty: Type, value: Reg) -> Reg {
        let Some(format) = ty.format() else { return value };
        let mut bounds = Vec::new();
        if inst.has(".satfinite") {
            let largest = format.largest_finite();
            bounds.extend([(false, largest), (true, largest | format.sign_mask())]);
        }
        if inst.has(".relu") {
            bounds.push((true, 0));
        }
        bounds.into_iter().fold(value, |value, (max, bound)| {
            let d = self.fresh(ty.width());
            let (a, b) = (value.into(), Operand::Imm(bound));
            self.emit(Op::MinMax { d, max, format, flush: false, nan: true, xorsign_abs: false, a, b });
            d
        })
    }

    /// A conversion that was clamped is one operation, not a conversion and extrema.
    fn clamps(&mut self, inst: &Inst<'m, 'a>, d: Reg, to: Type, from: Type, args: &[Operand]) {
        let (clamped, is_single) = (inst.has(".relu") || inst.has(".satfinite"), from == Type::F32);
        if let (Some(format), true, true) = (to.component().format(), clamped, is_single) {
            let rounding = inst.rounding().unwrap_or(Rounding::NearestEven);
            self.stepwise(inst, d, (Element::Float(format), to.components), rounding, args);
        }
    }

    /// What this instruction's steps convert from f32.
    pub(super) fn stepwise(
        &mut self,
        inst: &Inst<'m, 'a>,
        d: Reg,
        (to, count): (Element, u32),
        rounding: Rounding,
        operands: &[Operand],
    ) {
        let conversion = PackedConversion {
            to,
            from: Element::Float(Format::F32),
            count,
            rounding: ConversionRounding::Direction(rounding),
            satfinite: inst.has(".satfinite"),
            relu: inst.has(".relu"),
        };
        let mut args = [Operand::ZERO; 5];
        args[..operands.len()].copy_from_slice(operands);
        self.kernel.stepwise.entry(self.loc).or_default().push(Op::ConvertPacked { d, conversion, args });
    }

    /// `cvt.pack.sat.s8.s32.b32 d, a, b, c`: a above b, both clamped, and the low bits of c above them.
    fn cvt_pack(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (to, rest) = match inst.types[..] {
            [to, from] if to.bits == 16 && from.is_signed() => (to, None),
            [to, from, rest] if to.bits == 8 && from.is_signed() => (to, Some(rest)),
            _ => return Err(self.refuse(inst)),
        };
        let wanted = if rest.is_some() { 4 } else { 3 };
        let known = |modifier: &&str| matches!(*modifier, ".pack" | ".sat") || Type::of(modifier).is_some();
        if !inst.has(".sat") || !inst.modifiers.iter().all(known) || inst.operands.len() != wanted {
            return Err(self.refuse(inst));
        }
        let signed = to.is_signed();
        let highest = to.width().mask() >> (to.width().bits() - to.bits) >> u32::from(signed);
        let lowest = if signed { !highest } else { 0 };
        let mask = (1u64 << to.bits) - 1;
        let b32 = |value: u64| Operand::Imm(value & 0xffff_ffff);
        let s32 = Type { kind: ScalarKind::Signed, bits: 32, components: 1 };
        let mut whole = match rest {
            Some(_) => self.value_at(inst, 3, Type::B32)?,
            None => Operand::ZERO,
        };
        for index in [1, 2] {
            let value = self.value_at(inst, index, s32)?;
            let low = self.int(IntOp::Max(Signedness::Signed), Width::B32, [value, b32(lowest), Operand::ZERO]);
            let both = self.int(IntOp::Min(Signedness::Signed), Width::B32, [low.into(), b32(highest), Operand::ZERO]);
            let field = self.int(IntOp::And, Width::B32, [both.into(), b32(mask), Operand::ZERO]);
            let above = self.int(IntOp::Shl, Width::B32, [whole, Operand::Imm(to.bits.into()), Operand::ZERO]);
            whole = self.int(IntOp::Or, Width::B32, [above.into(), field.into(), Operand::ZERO]).into();
        }
        let d = self.exact(self.operand_at(inst, 0)?, Type::B32)?;
        self.emit(Op::Move { d, a: whole });
        Ok(())
    }

    /// The formats of eight bits and fewer, and random bits.
    fn cvt_narrow(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        if let Some(form) = NOT_RUN.iter().find(|form| form.effects("cvt", inst.modifiers).is_ok()) {
            return Err(self.unsupported(format!("`{}` ({})", inst.spelling, form.note)));
        }
        let conversion = packed_conversion(&inst.spelling);
        let right = FORMS.iter().any(|form| form.effects("cvt", inst.modifiers).is_ok());
        let Some(conversion) = conversion.filter(|_| right) else { return Err(self.refuse(inst)) };
        let bits = |bits: u32| Type { kind: ScalarKind::Bits, bits, components: 1 };
        let mut args = [Operand::ZERO; 5];
        let written = match conversion.operand_count() {
            4 => self.parts(self.operand_at(inst, 1)?),
            count => (1..=count).map(|at| self.operand_at(inst, at).copied()).collect::<Result<_>>()?,
        };
        if written.len() != conversion.operand_count() {
            return Err(self.malformed("operands are missing"));
        }
        let ty = if conversion.has_separate_operands() { Type::F32 } else { bits(conversion.operand_bits()) };
        for (arg, written) in args.iter_mut().zip(&written) {
            *arg = self.value(written, ty)?;
        }
        if conversion.rounding == ConversionRounding::Random {
            let at = inst.operands.len().saturating_sub(1);
            args[4] = self.value_at(inst, at, Type::B32)?;
        }
        let d = self.exact(self.operand_at(inst, 0)?, bits(conversion.result_bits()))?;
        self.emit(Op::ConvertPacked { d, conversion, args });
        Ok(())
    }

    /// An integer of one width and signedness in another.
    pub(super) fn resize(
        &mut self,
        d: Reg,
        (to, to_signed): (u32, bool),
        (from, from_signed): (u32, bool),
        a: Operand,
    ) {
        self.emit(Op::Convert {
            d,
            to: Scalar::Int { bits: to, signed: to_signed },
            from: Scalar::Int { bits: from, signed: from_signed },
            rounding: Rounding::TowardZero,
            integral: false,
            flush: false,
            saturate: false,
            a,
        });
    }

    fn convert(&mut self, inst: &Inst<'m, 'a>, d: Reg, to: Scalar, from: Scalar, a: Operand) {
        let integral = inst.modifiers.iter().find_map(|modifier| match *modifier {
            ".rni" => Some(Rounding::NearestEven),
            ".rzi" => Some(Rounding::TowardZero),
            ".rmi" => Some(Rounding::Down),
            ".rpi" => Some(Rounding::Up),
            _ => None,
        });
        let rounding = integral.or(inst.rounding()).unwrap_or(Rounding::NearestEven);
        // Nothing is converted: a NaN keeps its bits (measured on sm_90).
        if to == from
            && matches!(to, Scalar::Float(_))
            && inst.rounding().or(integral).is_none()
            && !inst.has(".sat")
            && !inst.has(".ftz")
            && self.lowering.target.number >= 20
        {
            return self.emit(Op::Move { d, a });
        }
        // Up to PTX 1.4 rounding a float to another without a modifier that makes it integral was `.rzi` for integers.
        let single = Scalar::Float(Format::F32);
        // Up to PTX 1.4 nothing is flushed where a number has 64 bits (PTX ISA, `cvt`, "Subnormal numbers").
        let is_wide = |of: Scalar| matches!(of, Scalar::Float(Format::F64) | Scalar::Int { bits: 64, .. });
        let keeps = self.lowering.version <= roundonce_isa::Version(1, 4) && (is_wide(to) || is_wide(from));
        // To f16 nothing is flushed, although the manual has the modifier there (measured on sm_90).
        let flush = inst.has(".ftz") && to != Scalar::Float(Format::F16)
            || (self.lowering.target.number < 20 && (to == single || from == single) && !keeps);
        let saturate = inst.has(".sat");
        self.emit(Op::Convert { d, to, from, rounding, integral: integral.is_some(), flush, saturate, a });
    }

    /// `cvt.rn.f16x2.f32 d, a, b`: a in the upper half.
    fn cvt_packed(&mut self, inst: &Inst<'m, 'a>, to: Type, from: Type) -> Result<()> {
        let half = to.component();
        let known = matches!(half.format(), Some(Format::F16 | Format::BF16));
        let (Some(to_scalar), Some(from_scalar), 3, true) = (half.scalar(), from.scalar(), inst.operands.len(), known)
        else {
            return Err(self.refuse(inst));
        };
        let (a, b) = (self.value_at(inst, 1, from)?, self.value_at(inst, 2, from)?);
        let d = self.exact(self.operand_at(inst, 0)?, to)?;
        let guard = self.guard.take();
        let mut halves = [Operand::ZERO; 2];
        for (half_value, value) in halves.iter_mut().zip([b, a]) {
            let narrow = self.fresh(half.width());
            self.convert(inst, narrow, to_scalar, from_scalar, value);
            *half_value = self.clamped(inst, half, narrow).into();
        }
        self.guard = guard;
        self.clamps(inst, d, to, from, &[a, b]);
        self.emit(Op::Pack { d, low: halves[0], high: halves[1] });
        Ok(())
    }

    /// Where a space begins among generic addresses; global and constant memory are where they are.
    fn window(&self, inst: &Inst<'m, 'a>) -> Result<Option<Special>> {
        let space = inst.modifiers.iter().find_map(|modifier| {
            let name = modifier.split("::").next().unwrap_or(modifier);
            match name {
                ".global" | ".const" => Some(None),
                ".shared" => Some(Some(Special::SharedWindow)),
                ".local" => Some(Some(Special::LocalWindow)),
                ".param" => Some(Some(Special::ParamWindow)),
                _ => None,
            }
        });
        space.ok_or_else(|| self.refuse(inst))
    }

    pub(super) fn cvta(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let window = self.window(inst)?;
        let a = self.value_at(inst, 1, ty)?;
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let Some(window) = window else {
            self.emit(Op::Move { d, a });
            return Ok(());
        };
        if ty.width() != self.address_width() {
            return Err(self.refuse(inst));
        }
        let start = self.fresh(ty.width());
        self.emit_always(Op::Special { d: start, special: window });
        let op = if inst.has(".to") { IntOp::Sub } else { IntOp::Add };
        let args = [a, start.into(), Operand::ZERO, Operand::ZERO];
        self.emit(Op::Int { d, op, width: ty.width(), args });
        Ok(())
    }

    /// Windows have 2^24 bytes and are aligned to them.
    pub(super) fn isspacep(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let width = self.address_width();
        let ty = Type { kind: ScalarKind::Unsigned, bits: width.bits(), components: 1 };
        let a = self.value_at(inst, 1, ty)?;
        let d = self.exact(self.operand_at(inst, 0)?, Type::PRED)?;
        let place = self.int(IntOp::Shr(ty.sign()), width, [a, Operand::Imm(24), Operand::ZERO]);
        let of = Comparand::Unsigned(width);
        let Some(window) = self.window(inst)? else {
            // Behind all windows.
            let last = self.fresh(width);
            self.emit_always(Op::Special { d: last, special: Special::ParamWindow });
            let last = self.int(IntOp::Shr(ty.sign()), width, [last.into(), Operand::Imm(24), Operand::ZERO]);
            self.emit(Op::Compare { d, comparison: Comparison::Gt, of, a: place.into(), b: last.into() });
            return Ok(());
        };
        let start = self.fresh(width);
        self.emit_always(Op::Special { d: start, special: window });
        let start = self.int(IntOp::Shr(ty.sign()), width, [start.into(), Operand::Imm(24), Operand::ZERO]);
        self.emit(Op::Compare { d, comparison: Comparison::Eq, of, a: place.into(), b: start.into() });
        Ok(())
    }
}
