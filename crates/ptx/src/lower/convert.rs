//! mov, cvt, cvta, isspacep.

use super::statement::Inst;
use super::types::{Kind, Type};
use super::{Body, Result};
use crate::ast::OperandKind;
use roundonce_arith::{Format, Rounding};
use roundonce_isa::program::{Comparand, Comparison, IntOp, Op, Operand, Reg, Scalar, Special, Width};

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn mov(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let (to, from) = (self.operand_at(inst, 0)?, self.operand_at(inst, 1)?);
        let vector = |kind: OperandKind<'_>| matches!(kind, OperandKind::Vector(_));
        match (vector(to.kind), vector(from.kind)) {
            (false, true) => self.pack(inst, ty),
            (true, false) => self.unpack(inst, ty),
            (true, true) => Err(self.refuse(inst)),
            (false, false) => {
                let (to, from) = (self.parts(to), self.parts(from));
                if to.len() != from.len() {
                    return Err(self.nonsense("the operands have different numbers of components"));
                }
                for (to, from) in to.iter().zip(&from) {
                    let a = self.value(from, ty)?;
                    let d = self.exact(to, ty)?;
                    self.emit(Op::Move { d, a });
                }
                Ok(())
            }
        }
    }

    /// `mov.b64 d, {a, b}`
    fn pack(&mut self, inst: &Inst<'m, 'a>, ty: Type) -> Result<()> {
        let parts = self.parts(self.operand_at(inst, 1)?);
        let bits = ty.bits / parts.len().max(1) as u32;
        if !matches!(parts.len(), 2 | 4) || !matches!(bits, 16 | 32) {
            return Err(self.refuse(inst));
        }
        let part = Type { kind: Kind::Bits, bits, lanes: 1 };
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

    /// `mov.b64 {a, b}, d`
    fn unpack(&mut self, inst: &Inst<'m, 'a>, ty: Type) -> Result<()> {
        let parts = self.parts(self.operand_at(inst, 0)?);
        let bits = ty.bits / parts.len().max(1) as u32;
        if !matches!(parts.len(), 2 | 4) || !matches!(bits, 16 | 32) {
            return Err(self.refuse(inst));
        }
        let part = Type { kind: Kind::Bits, bits, lanes: 1 };
        let whole = self.value_at(inst, 1, ty)?;
        // A part may be the whole's own register.
        let copy = self.fresh(ty.width());
        self.emit_always(Op::Move { d: copy, a: whole });
        for (index, written) in parts.iter().enumerate() {
            let d = self.exact(written, part)?;
            self.emit(Op::Extract { d, a: copy.into(), width: ty.width(), shift: index as u32 * bits });
        }
        Ok(())
    }

    pub(super) fn cvt(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let known = [".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi", ".ftz", ".sat", ".relu"];
        let allowed = |modifier: &&str| known.contains(modifier) || Type::of(modifier).is_some();
        let (true, [to, from]) = (inst.modifiers.iter().all(allowed), &inst.types[..]) else {
            return Err(self.refuse(inst));
        };
        let (to, from) = (*to, *from);
        if to.lanes == 2 {
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
            return Err(self.nonsense(format!("the destination has fewer than {} bits", to.bits)));
        }
        if width == to.width() && !inst.has(".relu") {
            self.convert(inst, d, to_scalar, from_scalar, a);
            return Ok(());
        }
        // A wider destination is extended as the type says.
        let guard = self.guard.take();
        let narrow = self.fresh(to.width());
        self.convert(inst, narrow, to_scalar, from_scalar, a);
        let narrow = match to.format() {
            Some(format) if inst.has(".relu") => {
                let rectified = self.fresh(to.width());
                self.rectify(rectified, format, narrow.into());
                rectified
            }
            _ => narrow,
        };
        self.guard = guard;
        if width == to.width() {
            self.emit(Op::Move { d, a: narrow.into() });
        } else {
            let (bits, signed) = (to.width().bits(), to.is_signed());
            self.extend(d, Scalar::Int { bits, signed }, narrow.into(), width);
        }
        Ok(())
    }

    fn extend(&mut self, d: Reg, from: Scalar, a: Operand, width: Width) {
        let signed = matches!(from, Scalar::Int { signed: true, .. });
        self.emit(Op::Convert {
            d,
            to: Scalar::Int { bits: width.bits(), signed },
            from,
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
        // Up to PTX 1.4 rounding a float to another without a modifier that makes it integral was `.rzi` for integers.
        let single = Scalar::Float(Format::F32);
        let flush = inst.has(".ftz") || (self.lowering.target < 20 && (to == single || from == single));
        let saturate = inst.has(".sat");
        self.emit(Op::Convert { d, to, from, rounding, integral: integral.is_some(), flush, saturate, a });
    }

    /// `cvt.rn.f16x2.f32 d, a, b`: a in the upper half.
    fn cvt_packed(&mut self, inst: &Inst<'m, 'a>, to: Type, from: Type) -> Result<()> {
        let half = to.component();
        let (Some(to_scalar), Some(from_scalar), 3) = (half.scalar(), from.scalar(), inst.operands.len()) else {
            return Err(self.refuse(inst));
        };
        let (a, b) = (self.value_at(inst, 1, from)?, self.value_at(inst, 2, from)?);
        let d = self.exact(self.operand_at(inst, 0)?, to)?;
        let guard = self.guard.take();
        let mut halves = [Operand::ZERO; 2];
        for (half_value, value) in halves.iter_mut().zip([b, a]) {
            let narrow = self.fresh(half.width());
            self.convert(inst, narrow, to_scalar, from_scalar, value);
            *half_value = narrow.into();
            if let (true, Some(format)) = (inst.has(".relu"), half.format()) {
                let rectified = self.fresh(half.width());
                self.rectify(rectified, format, narrow.into());
                *half_value = rectified.into();
            }
        }
        self.guard = guard;
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
        let ty = Type { kind: Kind::Unsigned, bits: width.bits(), lanes: 1 };
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
