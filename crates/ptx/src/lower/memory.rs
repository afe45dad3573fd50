//! Loads, stores, atomics.

use super::operand::Address;
use super::statement::Inst;
use super::{Body, Result};
use crate::ast::OperandKind;
use crate::opcodes::space_name;
use crate::types::{ScalarKind, Type};
use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{
    AtomicKind, Comparand, Comparison, Guard, HighHalf, IntOp, Op, Operand, Reg, Scalar, Space, Special, Width,
};

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// The space that a modifier names, otherwise the name's, otherwise any.
    pub(super) fn space(&self, inst: &Inst<'m, 'a>, implied: Option<Space>) -> Space {
        let written = inst.modifiers.iter().find_map(|modifier| match space_name(modifier)? {
            ".global" => Some(Space::Global),
            ".shared" => Some(Space::Shared),
            ".const" => Some(Space::Const),
            ".local" => Some(Space::Local),
            ".param" => Some(Space::Param),
            _ => None,
        });
        match (written, implied) {
            // A call's structure is kept in local memory.
            (Some(Space::Param), Some(Space::Local)) => Space::Local,
            // `ld.param` of a register's address: in a function its own parameters, which are local.
            (Some(Space::Param), None) if !self.calls.is_empty() => Space::Local,
            (Some(space), _) => space,
            (None, Some(space)) => space,
            (None, None) => Space::Generic,
        }
    }

    pub(super) fn load(&mut self, inst: &Inst<'m, 'a>, is_global: bool) -> Result<()> {
        let ty = self.type_of(inst)?;
        if ty.bits < 8 {
            return Err(self.refuse(inst));
        }
        let address = self.address(self.operand_at(inst, 1)?)?;
        let parts = self.parts_of(self.operand_at(inst, 0)?, ty);
        let is_wide = ty.bits > 64;
        let ty = if is_wide { Type::B64 } else { ty };
        let (base, offset, implied) = match address {
            Address::CallParam(reg, has) => {
                let [written] = &parts[..] else { return Err(self.refuse(inst)) };
                let d = self.destination(written, ty)?;
                return self.read_param(inst, d, reg, has, ty);
            }
            Address::Memory { base, offset, space } => (base, offset, space),
        };
        let space = self.space(inst, implied.or(is_global.then_some(Space::Global)));
        let mut d = Vec::new();
        for written in &parts {
            let discard = matches!(written.kind, OperandKind::Discard);
            d.push(if discard { None } else { Some(self.destination(written, ty)?) });
        }
        let base = self.base(base, space)?;
        if is_wide {
            self.trap_misaligned(base, offset);
        }
        let signed = ty.is_signed();
        self.emit(Op::Load { d, space, bytes: ty.bytes(), signed, address: base, offset });
        Ok(())
    }

    /// An address of the space's width.
    pub(super) fn base(&mut self, base: Operand, space: Space) -> Result<Operand> {
        let Operand::Reg(reg) = base else { return Ok(base) };
        let (has, wants) = (self.kernel.width(reg), self.address_width());
        let any = !matches!(space, Space::Global | Space::Generic);
        if has == wants || (any && has >= Width::B32) {
            return Ok(base);
        }
        if has == Width::B32 && wants == Width::B64 {
            // Old modules keep addresses in 32 bits.
            let wide = self.fresh(Width::B64);
            let int = |bits| Scalar::Int { bits, signed: false };
            self.emit_always(Op::Convert {
                d: wide,
                to: int(64),
                from: int(32),
                rounding: Rounding::TowardZero,
                integral: false,
                flush: false,
                saturate: false,
                a: base,
            });
            return Ok(wide.into());
        }
        if has == Width::B64 && wants == Width::B32 {
            let low = self.fresh(Width::B32);
            self.emit_always(Op::Extract { d: low, a: base, width: Width::B64, shift: 0 });
            return Ok(low.into());
        }
        Err(self.malformed(format!("an address of {} bits", has.bits())))
    }

    /// A call's parameter, kept in a register.
    fn read_param(&mut self, inst: &Inst<'m, 'a>, d: Reg, from: Reg, has: Type, ty: Type) -> Result<()> {
        let width = self.kernel.width(d);
        if width == has.width() && ty.bits == has.bits {
            self.emit(Op::Move { d, a: from.into() });
            return Ok(());
        }
        if ty.bits > has.bits || width < ty.width() || !ty.is_integer() {
            return Err(self.refuse(inst));
        }
        // The low part, extended into the register.
        let mut value = Operand::Reg(from);
        if has.width() > ty.width() {
            let low = self.fresh(ty.width());
            self.emit_always(Op::Extract { d: low, a: value, width: has.width(), shift: 0 });
            value = low.into();
        }
        let signed = ty.is_signed();
        self.emit(Op::Convert {
            d,
            to: Scalar::Int { bits: width.bits(), signed },
            from: Scalar::Int { bits: ty.bits, signed },
            rounding: Rounding::TowardZero,
            integral: false,
            flush: false,
            saturate: false,
            a: value,
        });
        Ok(())
    }

    pub(super) fn store(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        if ty.bits < 8 {
            return Err(self.refuse(inst));
        }
        let address = self.address(self.operand_at(inst, 0)?)?;
        let written = self.parts_of(self.operand_at(inst, 1)?, ty);
        let is_wide = ty.bits > 64;
        let ty = if is_wide { Type::B64 } else { ty };
        let mut values = Vec::new();
        for part in &written {
            values.push(self.value_relaxed(part, ty)?);
        }
        let (base, offset, implied) = match address {
            Address::CallParam(reg, has) => {
                let ([value], true) = (&values[..], has.width() == ty.width()) else { return Err(self.refuse(inst)) };
                self.emit(Op::Move { d: reg, a: *value });
                return Ok(());
            }
            Address::Memory { base, offset, space } => (base, offset, space),
        };
        let space = self.space(inst, implied);
        let address = self.base(base, space)?;
        if is_wide {
            self.trap_misaligned(address, offset);
        }
        self.emit(Op::Store { values, width: ty.width(), space, bytes: ty.bytes(), address, offset });
        Ok(())
    }

    /// A place in shared memory. An address of which neither the instruction nor a name gives the space is generic; one that
    /// has fewer bits than those is such a place already.
    pub(super) fn shared_place(
        &mut self,
        inst: &Inst<'m, 'a>,
        base: Operand,
        implied: Option<Space>,
    ) -> Result<Operand> {
        let (base, width) = (self.base(base, Space::Shared)?, self.address_width());
        let is_wide = matches!(base, Operand::Reg(reg) if self.kernel.width(reg) == width);
        if !is_wide || self.space(inst, implied) != Space::Generic {
            return Ok(base);
        }
        let start = self.fresh(width);
        self.emit_always(Op::Special { d: start, special: Special::SharedWindow });
        Ok(self.int(IntOp::Sub, width, [base, start.into(), Operand::ZERO]).into())
    }

    /// Ends the launch where 16 bytes that are accessed as one do not lie at a multiple of 16.
    fn trap_misaligned(&mut self, base: Operand, offset: i64) {
        let width = match base {
            Operand::Reg(reg) => self.kernel.width(reg),
            Operand::Imm(_) => self.address_width(),
        };
        let offset = Operand::Imm(offset as u64 & width.mask());
        let address = self.int(IntOp::Add, width, [base, offset, Operand::ZERO]);
        let message = "the address is not a multiple of 16, the size of what is accessed";
        self.trap_unless_of_16(address.into(), width, message);
    }

    /// Ends the launch where a number is no multiple of 16.
    pub(super) fn trap_unless_of_16(&mut self, number: Operand, width: Width, message: &str) {
        if matches!(number, Operand::Imm(number) if number % 16 == 0) {
            return;
        }
        let pred = self.is_not_of_16(number, width);
        self.trap_where(pred, message.to_owned(), false);
    }

    /// Whether a number is no multiple of 16.
    pub(super) fn is_not_of_16(&mut self, number: Operand, width: Width) -> Reg {
        let rest = self.int(IntOp::And, width, [number, Operand::Imm(15), Operand::ZERO]);
        self.compare(Comparison::Ne, Comparand::Unsigned(width), rest.into(), Operand::ZERO)
    }

    /// Ends the launch where a word is not below a limit.
    pub(super) fn trap_from(&mut self, word: Operand, limit: u64, message: &str) {
        if matches!(word, Operand::Imm(word) if word < limit) {
            return;
        }
        let pred = self.compare(Comparison::Ge, Comparand::Unsigned(Width::B32), word, Operand::Imm(limit));
        self.trap_where(pred, message.to_owned(), false);
    }

    /// Ends the launch where a predicate holds and the instruction runs.
    pub(super) fn trap_where(&mut self, mut pred: Reg, message: String, is_asked_for: bool) {
        let guard = self.guard.take();
        if let Some(Guard { pred: runs, expected }) = guard {
            let not = |body: &mut Self| body.int(IntOp::Not, Width::Pred, [runs.into(), Operand::ZERO, Operand::ZERO]);
            let runs = if expected { runs } else { not(self) };
            pred = self.int(IntOp::And, Width::Pred, [pred.into(), runs.into(), Operand::ZERO]);
        }
        self.guard = Some(Guard { pred, expected: true });
        self.emit(Op::Trap { message, is_asked_for });
        self.guard = guard;
    }

    /// atom, red.
    pub(super) fn atomic(&mut self, inst: &Inst<'m, 'a>, returns: bool) -> Result<()> {
        let ty = self.type_of(inst)?;
        let at = usize::from(returns);
        if inst.types.len() != 1 || ty.bits < 16 {
            return Err(self.refuse(inst));
        }
        let Address::Memory { base, offset, space } = self.address(self.operand_at(inst, at)?)? else {
            return Err(self.refuse(inst));
        };
        let space = self.space(inst, space);
        if ty.bits > 64 {
            return self.atomic_of_16_bytes(inst, (base, offset, space));
        }
        let kind = self.atomic_kind(inst, ty)?;
        let c = if kind == AtomicKind::CompareAndSwap { self.value_at(inst, at + 2, ty)? } else { Operand::ZERO };
        let address = self.base(base, space)?;
        // Each element of a vector is atomic on its own (PTX 9.7.13.5).
        let mut steps = Vec::new();
        for written in self.parts(self.operand_at(inst, at + 1)?) {
            steps.push((self.value(&written, ty)?, None));
        }
        if returns {
            let written = self.parts(self.operand_at(inst, 0)?);
            if written.len() != steps.len() {
                return Err(self.malformed("the operands have different numbers of components"));
            }
            for ((_, d), written) in steps.iter_mut().zip(&written) {
                *d = Some(self.exact(written, ty)?);
            }
        }
        let bytes = ty.bytes();
        // All at once: what one of several returns may be an operand of another.
        let is_vector = steps.len() > 1;
        let mut moves = Vec::new();
        for (index, (b, mut d)) in steps.into_iter().enumerate() {
            let offset = offset.wrapping_add(i64::from(bytes) * index as i64);
            if let Some(d) = d.as_mut().filter(|_| is_vector) {
                let returned = self.fresh(self.kernel.width(*d));
                moves.push(Op::Move { d: std::mem::replace(d, returned), a: returned.into() });
            }
            self.emit(Op::Atomic { d, kind, space, bytes, address, offset, b, c, high: None });
        }
        moves.into_iter().for_each(|op| self.emit(op));
        Ok(())
    }

    /// What an atomic or a reduction in bulk does with a number.
    pub(super) fn atomic_kind(&self, inst: &Inst<'m, 'a>, ty: Type) -> Result<AtomicKind> {
        let sign = ty.sign();
        Ok(match (atomic_operation(inst), ty.kind) {
            (Some(".add"), ScalarKind::Float(format)) => {
                let mut operation = Operation::new(ArithOp::Add, format, Rounding::NearestEven);
                // PTX atom: `.add.f32` on global memory flushes subnormals; shared memory never does.
                operation.flush = format == Format::F32;
                AtomicKind::Float { operation, lanes: ty.components }
            }
            (Some(name @ (".min" | ".max")), ScalarKind::Float(format)) => {
                AtomicKind::FloatMinMax { max: name == ".max", format, lanes: ty.components }
            }
            (Some(".exch"), _) => AtomicKind::Exchange,
            (Some(".cas"), _) => AtomicKind::CompareAndSwap,
            (_, ScalarKind::Float(_) | ScalarKind::Pred) => return Err(self.refuse(inst)),
            (Some(".add"), _) => AtomicKind::Int(IntOp::Add),
            (Some(".and"), _) => AtomicKind::Int(IntOp::And),
            (Some(".or"), _) => AtomicKind::Int(IntOp::Or),
            (Some(".xor"), _) => AtomicKind::Int(IntOp::Xor),
            (Some(".min"), _) => AtomicKind::Int(IntOp::Min(sign)),
            (Some(".max"), _) => AtomicKind::Int(IntOp::Max(sign)),
            (Some(".inc"), _) => AtomicKind::Increment,
            (Some(".dec"), _) => AtomicKind::Decrement,
            _ => return Err(self.refuse(inst)),
        })
    }

    /// `atom.exch.b128`, `atom.cas.b128`.
    fn atomic_of_16_bytes(&mut self, inst: &Inst<'m, 'a>, (base, offset, space): (Operand, i64, Space)) -> Result<()> {
        let kind = match (inst.row.name, atomic_operation(inst)) {
            ("atom", Some(".exch")) => AtomicKind::Exchange,
            ("atom", Some(".cas")) => AtomicKind::CompareAndSwap,
            _ => return Err(self.refuse(inst)),
        };
        let address = self.base(base, space)?;
        let [b, b_high] = self.halves(inst, 2)?;
        let [c, c_high] = match kind {
            AtomicKind::CompareAndSwap => self.halves(inst, 3)?,
            _ => [Operand::ZERO; 2],
        };
        let written = self.operand_at(inst, 0)?;
        let [d, d_high] = match written.kind {
            OperandKind::Discard => [None; 2],
            _ => match &self.parts_of(written, inst.types[0])[..] {
                [low, high] => [Some(self.exact(low, Type::B64)?), Some(self.exact(high, Type::B64)?)],
                _ => return Err(self.refuse(inst)),
            },
        };
        let high = Some(HighHalf { d: d_high, b: b_high, c: c_high });
        self.emit(Op::Atomic { d, kind, space, bytes: 8, address, offset, b, c, high });
        Ok(())
    }

    /// The two halves of a value of 128 bits, the lower one first.
    fn halves(&mut self, inst: &Inst<'m, 'a>, index: usize) -> Result<[Operand; 2]> {
        let whole = *self.operand_at(inst, index)?;
        if matches!(whole.kind, OperandKind::Number(_) | OperandKind::Unary(..) | OperandKind::Binary(..)) {
            // The assembler takes 64 bits of a constant, and has zeros above them.
            return Ok([self.constant(&whole, Type::B64)?, Operand::ZERO]);
        }
        match &self.parts_of(self.operand_at(inst, index)?, inst.types[0])[..] {
            [low, high] => Ok([self.value(low, Type::B64)?, self.value(high, Type::B64)?]),
            _ => Err(self.refuse(inst)),
        }
    }
}

/// The word of an atomic's operation.
pub(super) fn atomic_operation<'a>(inst: &Inst<'_, 'a>) -> Option<&'a str> {
    inst.modifiers.iter().copied().find(|modifier| {
        [".and", ".or", ".xor", ".cas", ".exch", ".add", ".inc", ".dec", ".min", ".max"].contains(modifier)
    })
}
