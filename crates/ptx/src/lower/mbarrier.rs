//! `mbarrier`, and what completes on one. A copy is done at once, so that it is complete when it is issued: every order that the
//! documents allow has that outcome among its own.
//!
//! A barrier object is opaque in PTX. Here its 64 bits are three counts and a phase ([`AtomicKind::Arrive`]); what an
//! arrival returns is the object before it.

use super::operand::Address;
use super::statement::Inst;
use super::{Body, Result};
use crate::ast::OperandKind;
use crate::types::Type;
use roundonce_ir::{
    AtomicKind, Comparand, Comparison, IntOp, Op, Operand, Reg, Signedness, Space, Special, Width, arrival,
};

/// Bytes that a phase waits for are added, where arrivals are taken off.
const EXPECTED_BYTES: u64 = arrival::BYTES.wrapping_neg();

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn mbarrier(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let Some(&action) = inst.modifiers.first() else { return Err(self.refuse(inst)) };
        match action {
            ".init" => {
                let object = self.object(inst, 0)?;
                let count = self.value_at(inst, 1, Type::U32)?;
                let last = match count {
                    Operand::Imm(count) => Operand::Imm(count.wrapping_sub(1) & Width::B32.mask()),
                    _ => self.word(IntOp::Sub, count, Operand::Imm(1)).into(),
                };
                let message = "a barrier object is for 1 to 1048575 arrivals";
                self.trap_from(last, arrival::EXPECTED - 1, message);
                // Both counts: what is missing in this phase and in each that follows.
                let both = Operand::Imm(arrival::PENDING | arrival::EXPECTED);
                let value = self.int(IntOp::MulWide(Signedness::Unsigned), Width::B32, [count, both, Operand::ZERO]);
                self.store_object(object, value.into());
                Ok(())
            }
            ".inval" => self.object(inst, 0).map(|_| ()),
            ".expect_tx" | ".complete_tx" => {
                let object = self.object(inst, 0)?;
                let bytes = self.value_at(inst, 1, Type::U32)?;
                let unit = if action == ".complete_tx" { arrival::BYTES } else { EXPECTED_BYTES };
                self.arrive(object, None, &[(bytes, unit)]);
                Ok(())
            }
            ".arrive" | ".arrive_drop" => self.mbarrier_arrive(inst, action == ".arrive_drop"),
            ".test_wait" | ".try_wait" => self.mbarrier_wait(inst),
            ".pending_count" => {
                let state = self.value_at(inst, 1, Type::B64)?;
                let d = self.exact(self.operand_at(inst, 0)?, Type::U32)?;
                let a = self.pending(state).into();
                self.emit(Op::Move { d, a });
                Ok(())
            }
            _ => Err(self.refuse(inst)),
        }
    }

    fn mbarrier_arrive(&mut self, inst: &Inst<'m, 'a>, drops: bool) -> Result<()> {
        // The state is left out where the object is another block's.
        let first_is_state = !matches!(self.operand_at(inst, 0)?.kind, OperandKind::Address(_));
        let at = usize::from(first_is_state);
        let state = match inst.operands[0].kind {
            OperandKind::Discard => None,
            _ if !first_is_state => None,
            _ => Some(self.exact(&inst.operands[0], Type::B64)?),
        };
        let object = self.object(inst, at)?;
        let expects = inst.has(".expect_tx");
        let given = if inst.operands.len() > at + 1 { Some(self.value_at(inst, at + 1, Type::U32)?) } else { None };
        let count = given.filter(|_| !expects).unwrap_or(Operand::Imm(1));
        let mut numbers = vec![(count, arrival::PENDING)];
        numbers.extend(drops.then_some((count, arrival::EXPECTED)));
        numbers.extend(given.filter(|_| expects).map(|bytes| (bytes, EXPECTED_BYTES)));
        let before = state.unwrap_or_else(|| self.fresh(Width::B64));
        self.arrive(object, Some(before), &numbers);
        self.trap_too_many(before, count);
        Ok(())
    }

    /// Ends the launch where the object has not waited for so many arrivals.
    fn trap_too_many(&mut self, before: Reg, count: Operand) {
        let pending = self.pending(before.into());
        let of = Comparand::Unsigned(Width::B32);
        let exceeds = self.compare(Comparison::Gt, of, count, pending.into());
        self.trap_where(exceeds, "more arrivals at a barrier object than it waits for".to_owned(), false);
    }

    /// The arrivals that an object waits for.
    fn pending(&mut self, object: Operand) -> Reg {
        let low = self.fresh(Width::B32);
        self.emit_always(Op::Extract { d: low, a: object, width: Width::B64, shift: 0 });
        self.word(IntOp::And, low.into(), Operand::Imm(arrival::EXPECTED - 1))
    }

    /// Takes numbers off the object, each in units of a field; bytes that are expected are taken off negatively.
    pub(super) fn arrive(&mut self, (address, offset): (Operand, i64), d: Option<Reg>, numbers: &[(Operand, u64)]) {
        let mut b = Operand::ZERO;
        for &(number, unit) in numbers {
            let part = match number {
                Operand::Imm(number) => Operand::Imm(number.wrapping_mul(unit)),
                number => {
                    let wide = self.widened(number);
                    self.int(IntOp::Mul, Width::B64, [wide.into(), Operand::Imm(unit), Operand::ZERO]).into()
                }
            };
            b = if b == Operand::ZERO {
                part
            } else {
                self.int(IntOp::Add, Width::B64, [b, part, Operand::ZERO]).into()
            };
        }
        let (kind, space, c) = (AtomicKind::Arrive, Space::Shared, Operand::ZERO);
        let arrival = Op::Atomic { d, kind, space, bytes: 8, address, offset, b, c, high: None };
        self.releasing(|body| body.emit(arrival));
    }

    /// A word in 64 bits.
    pub(super) fn widened(&mut self, word: Operand) -> Reg {
        self.int(IntOp::MulWide(Signedness::Unsigned), Width::B32, [word, Operand::Imm(1), Operand::ZERO])
    }

    /// Whether the phase of a state, or of a parity, is complete: the object is in another one.
    fn mbarrier_wait(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let p = self.exact(self.operand_at(inst, 0)?, Type::PRED)?;
        let (address, offset) = self.object(inst, 1)?;
        let phase = if inst.has(".parity") {
            let parity = self.value_at(inst, 2, Type::U32)?;
            let one = Operand::Imm(1);
            let parity = self.int(IntOp::And, Width::B32, [parity, one, Operand::ZERO]);
            self.widened(parity.into())
        } else {
            let state = self.value_at(inst, 2, Type::B64)?;
            self.phase(state)
        };
        // A sum with nothing reads the object: unlike a load it is no race with the others' arrivals.
        let now = self.fresh(Width::B64);
        let (d, kind, b) = (Some(now), AtomicKind::Int(IntOp::Add), Operand::ZERO);
        self.emit(Op::Atomic { d, kind, space: Space::Shared, bytes: 8, address, offset, b, c: b, high: None });
        let now = self.phase(now.into());
        let of = Comparand::Unsigned(Width::B64);
        self.emit(Op::Compare { d: p, comparison: Comparison::Ne, of, a: now.into(), b: phase.into() });
        Ok(())
    }

    fn phase(&mut self, object: Operand) -> Reg {
        let shift = Operand::Imm(arrival::PHASE.trailing_zeros().into());
        self.int(IntOp::Shr(Signedness::Unsigned), Width::B64, [object, shift, Operand::ZERO])
    }

    pub(super) fn object(&mut self, inst: &Inst<'m, 'a>, at: usize) -> Result<(Operand, i64)> {
        match self.address(self.operand_at(inst, at)?)? {
            Address::Memory { base, offset, space } => Ok((self.shared_place(inst, base, space)?, offset)),
            Address::CallParam(..) => Err(self.refuse(inst)),
        }
    }

    fn store_object(&mut self, (address, offset): (Operand, i64), value: Operand) {
        let values = vec![value];
        self.emit(Op::Store { values, width: Width::B64, space: Space::Shared, bytes: 8, address, offset });
    }

    /// `cp.async.mbarrier.arrive`: the copies before it are complete. Without `.noinc` it counts up before it counts off.
    pub(super) fn copy_arrives(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let object = self.object(inst, 0)?;
        if inst.has(".noinc") {
            let (before, one) = (self.fresh(Width::B64), Operand::Imm(1));
            self.arrive(object, Some(before), &[(one, arrival::PENDING)]);
            self.trap_too_many(before, one);
        }
        Ok(())
    }

    /// `st.async`: a store, and its bytes on a barrier.
    pub(super) fn store_async(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let object = self.object(inst, 2)?;
        let bytes: u32 = {
            let ty = self.type_of(inst)?;
            ty.bytes() * self.parts(self.operand_at(inst, 1)?).len() as u32
        };
        self.store(inst)?;
        self.arrive(object, None, &[(Operand::Imm(bytes.into()), arrival::BYTES)]);
        Ok(())
    }

    /// `red.async`: done at once, and its bytes counted.
    pub(super) fn red_async(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        if !inst.has(".mbarrier::complete_tx::bytes") {
            return Err(self.refuse(inst));
        }
        let (object, bytes) = (self.object(inst, 2)?, self.type_of(inst)?.bytes());
        self.atomic(inst, false)?;
        self.arrive(object, None, &[(Operand::Imm(bytes.into()), arrival::BYTES)]);
        Ok(())
    }

    /// `mapa`: the same variable in a block of the cluster, which has only this one. Of any other rank it is where no shared
    /// memory is, so that an access is an error.
    pub(super) fn map_address(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let (d, a) = (self.exact(self.operand_at(inst, 0)?, ty)?, self.value_at(inst, 1, ty)?);
        let (rank, width) = (self.value_at(inst, 2, Type::U32)?, ty.width());
        if rank == Operand::ZERO {
            self.emit(Op::Move { d, a });
            return Ok(());
        }
        let (rank, first_bit) = if width == Width::B64 { (self.widened(rank).into(), 40) } else { (rank, 24) };
        let far = self.int(IntOp::Shl, width, [rank, Operand::Imm(first_bit), Operand::ZERO]);
        let args = [a, far.into(), Operand::ZERO, Operand::ZERO];
        self.emit(Op::Int { d, op: IntOp::Add, width, args });
        Ok(())
    }

    /// `getctarank`: which block of the cluster has an address, and there is only this one. What the rank of any other address
    /// is, a global one or one that `mapa` made of a rank that there is not, the manual does not say: an error.
    pub(super) fn rank(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (ty, width) = (self.type_of(inst)?, self.address_width());
        let d = self.exact(self.operand_at(inst, 0)?, Type::U32)?;
        let a = match (ty.width(), width) {
            (Width::B32, Width::B64) => {
                let a = self.value_at(inst, 1, ty)?;
                self.widened(a).into()
            }
            (given, width) if given == width => self.value_at(inst, 1, ty)?,
            _ => return Err(self.refuse(inst)),
        };
        let first = if inst.modifiers.iter().any(|modifier| modifier.starts_with(".shared")) {
            Operand::ZERO
        } else {
            let first = self.fresh(width);
            self.emit_always(Op::Special { d: first, special: Special::SharedWindow });
            first.into()
        };
        // A window has 2^24 bytes.
        let offset = self.int(IntOp::Sub, width, [a, first, Operand::ZERO]);
        let of = Comparand::Unsigned(width);
        let is_outside = self.compare(Comparison::Ge, of, offset.into(), Operand::Imm(1 << 24));
        let message = "the address that `getctarank` is asked for is in no block's shared memory";
        self.trap_where(is_outside, message.to_owned(), false);
        self.emit(Op::Move { d, a: Operand::ZERO });
        Ok(())
    }
}
