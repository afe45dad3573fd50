//! `mbarrier`, and the copies in bulk that complete on one. A copy is done at once, so that it is complete when it is
//! issued: every order that the documents allow has that outcome among its own.
//!
//! A barrier object is opaque in PTX. Here its 64 bits are three counts and a phase ([`AtomicKind::Arrive`]); what an
//! arrival returns is the object before it.

use super::operand::Address;
use super::statement::Inst;
use super::{Body, Result};
use crate::ast::OperandKind;
use crate::types::Type;
use roundonce_ir::{
    AtomicKind, Comparand, Comparison, Guard, IntOp, Op, Operand, Reg, Signedness, Space, Special, Terminator, Width,
    arrival,
};

/// A base, what is added to it, and the space.
type Place = (Operand, i64, Space);

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
    fn arrive(&mut self, (address, offset): (Operand, i64), d: Option<Reg>, numbers: &[(Operand, u64)]) {
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

    fn object(&mut self, inst: &Inst<'m, 'a>, at: usize) -> Result<(Operand, i64)> {
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

    /// `cp.async.bulk`: between global and shared memory, multiples of 16 bytes; with `.cp_mask` of each 16 the bytes of a mask.
    pub(super) fn copy_bulk(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let mask = if inst.has(".cp_mask") {
            Some(self.value_at(inst, inst.operands.len() - 1, Type { bits: 16, ..Type::B64 })?)
        } else {
            None
        };
        self.in_bulk(inst, 16, |body, [to, from]| {
            let Some(mask) = mask else {
                let words = [(); 4].map(|()| body.fresh(Width::B32));
                let (address, offset, space) = from;
                let d = words.map(Some).to_vec();
                body.emit(Op::Load { d, space, bytes: 4, signed: false, address, offset });
                let (address, offset, space) = to;
                let values = words.map(Operand::Reg).to_vec();
                body.emit(Op::Store { values, width: Width::B32, space, bytes: 4, address, offset });
                return;
            };
            for byte in 0..16 {
                let value = body.fresh(Width::B16);
                let bit = body.int(IntOp::And, Width::B16, [mask, Operand::Imm(1 << byte), Operand::ZERO]);
                let of = Comparand::Unsigned(Width::B16);
                let pred = body.compare(Comparison::Ne, of, bit.into(), Operand::ZERO);
                body.guard = Some(Guard { pred, expected: true });
                let (address, offset, space) = from;
                let offset = offset.wrapping_add(byte);
                body.emit(Op::Load { d: vec![Some(value)], space, bytes: 1, signed: false, address, offset });
                let (address, offset, space) = to;
                let (values, offset) = (vec![Operand::Reg(value)], offset.wrapping_add(byte));
                body.emit(Op::Store { values, width: Width::B16, space, bytes: 1, address, offset });
                body.guard = None;
            }
        })
    }

    /// `cp.reduce.async.bulk`: the same with an operation of an atomic for each number, one after another.
    pub(super) fn reduce_bulk(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        if !is_reduction_in_bulk(inst) {
            return Err(self.refuse(inst));
        }
        let ty = self.type_of(inst)?;
        let (kind, bytes) = (self.atomic_kind(inst, ty)?, ty.bytes());
        self.in_bulk(inst, bytes, |body, [to, from]| {
            let value = body.fresh(ty.width());
            let (address, offset, space) = from;
            body.emit(Op::Load { d: vec![Some(value)], space, bytes, signed: false, address, offset });
            let (address, offset, space) = to;
            let (b, c) = (value.into(), Operand::ZERO);
            body.emit(Op::Atomic { d: None, kind, space, bytes, address, offset, b, c, high: None });
        })
    }

    /// What is done in bulk: so many bytes at a time, from one place to another.
    fn in_bulk(&mut self, inst: &Inst<'m, 'a>, unit: u32, work: impl FnOnce(&mut Self, [Place; 2])) -> Result<()> {
        let spaces: Vec<Space> = inst.modifiers.iter().filter_map(|word| space_of(word)).collect();
        let [to_space, from_space] = spaces[..] else { return Err(self.refuse(inst)) };
        let (to, from) = (self.address(self.operand_at(inst, 0)?)?, self.address(self.operand_at(inst, 1)?)?);
        let (Address::Memory { base: to, offset: to_offset, .. }, Address::Memory { base: from, offset, .. }) =
            (to, from)
        else {
            return Err(self.refuse(inst));
        };
        let size = self.value_at(inst, 2, Type::U32)?;
        let object = if inst.has(".mbarrier::complete_tx::bytes") { Some(self.object(inst, 3)?) } else { None };
        let (to, from) = (self.base(to, to_space)?, self.base(from, from_space)?);
        let ends = [(to, to_offset, to_space), (from, offset, from_space)];
        self.only_if(|body| {
            body.trap_unless_of_16(size, Width::B32, "a copy in bulk is of a multiple of 16 bytes");
            body.bulk_loop(ends, size, unit, work);
            if let Some(object) = object {
                body.arrive(object, None, &[(size, arrival::BYTES)]);
            }
            Ok(())
        })
    }

    /// A loop over so many bytes, a unit at a time.
    fn bulk_loop(&mut self, ends: [Place; 2], size: Operand, unit: u32, work: impl FnOnce(&mut Self, [Place; 2])) {
        let (head, inside, after) = (self.new_block(), self.new_block(), self.new_block());
        let (done, more) = (self.fresh(Width::B32), self.fresh(Width::Pred));
        self.emit(Op::Move { d: done, a: Operand::ZERO });
        self.start(head);
        let of = Comparand::Unsigned(Width::B32);
        self.emit(Op::Compare { d: more, comparison: Comparison::Lt, of, a: done.into(), b: size });
        self.end(Terminator::Branch { pred: more, then: inside, otherwise: after });
        self.current = inside;
        let ends = ends.map(|(base, offset, space)| {
            let width = match base {
                Operand::Reg(reg) => self.kernel.width(reg),
                Operand::Imm(_) => self.address_width(),
            };
            let more = match width {
                Width::B64 => self.widened(done.into()),
                _ => done,
            };
            (Operand::Reg(self.int(IntOp::Add, width, [base, more.into(), Operand::ZERO])), offset, space)
        });
        work(self, ends);
        let args = [done.into(), Operand::Imm(unit.into()), Operand::ZERO, Operand::ZERO];
        self.emit(Op::Int { d: done, op: IntOp::Add, width: Width::B32, args });
        self.end(Terminator::Jump(head));
        self.current = after;
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

/// The operations of `cp.reduce.async.bulk`, and the types into global memory and into another block's.
#[rustfmt::skip] // One row an operation.
static REDUCTIONS: [(&str, &str, &str); 8] = [
    (".and", "b32 b64", "b32"),
    (".or",  "b32 b64", "b32"),
    (".xor", "b32 b64", "b32"),
    (".add", "u32 s32 u64 f32 f64 noftz.f16 noftz.bf16", "u32 s32 u64"),
    (".inc", "u32", "u32"),
    (".dec", "u32", "u32"),
    (".min", "u32 s32 u64 s64 f16 bf16", "u32 s32"),
    (".max", "u32 s32 u64 s64 f16 bf16", "u32 s32"),
];

/// Whether the manual has a form of `cp.reduce.async.bulk`.
fn is_reduction_in_bulk(inst: &Inst<'_, '_>) -> bool {
    let goes = |to: &str| inst.modifiers.windows(2).any(|pair| pair == [to, ".shared::cta"]);
    let is_one_of = |op: &str, types: &str| types.split(' ').any(|ty| inst.spelling.ends_with(&format!("{op}.{ty}")));
    REDUCTIONS.iter().any(|(op, to_global, to_shared)| {
        goes(".global") && is_one_of(op, to_global) || goes(".shared::cluster") && is_one_of(op, to_shared)
    })
}

fn space_of(word: &str) -> Option<Space> {
    match word {
        ".global" => Some(Space::Global),
        ".shared::cta" | ".shared::cluster" => Some(Space::Shared),
        _ => None,
    }
}
