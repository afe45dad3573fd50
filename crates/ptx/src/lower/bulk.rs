//! Copies and reductions in bulk, between global and shared memory. Each is done at once ([`mbarrier`](super::mbarrier)).
//!
//! Source: PTX ISA, `cp.async.bulk` and `cp.reduce.async.bulk`.

use super::operand::Address;
use super::statement::Inst;
use super::{Body, Result};
use crate::types::Type;
use roundonce_ir::{Comparand, Comparison, Guard, IntOp, Op, Operand, Reg, Space, Terminator, Width, arrival};

/// A base, what is added to it, and the space.
type Place = (Operand, i64, Space);

/// What is at work in a loop over the bytes of a copy.
struct Chunk {
    to: Place,
    from: Place,
    /// The bytes before it, and all of them.
    done: Operand,
    size: Operand,
}

/// Which bytes are copied, where not all are.
#[derive(Clone, Copy)]
enum Chosen {
    /// Of each 16 those whose bits are set.
    Mask(Operand),
    /// Those behind so many at the beginning and before so many at the end. What becomes of the others, the manual leaves open: they
    /// stay as they were.
    Inside(Operand, Operand),
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// `cp.async.bulk`: multiples of 16 bytes.
    pub(super) fn copy_bulk(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let chosen = if inst.has(".cp_mask") {
            Some(Chosen::Mask(self.value_at(inst, inst.operands.len() - 1, Type { bits: 16, ..Type::B64 })?))
        } else if inst.has(".ignore_oob") {
            Some(Chosen::Inside(self.value_at(inst, 3, Type::U32)?, self.value_at(inst, 4, Type::U32)?))
        } else {
            None
        };
        self.in_bulk(inst, 16, |body, chunk| {
            let Chunk { to: (to, to_offset, to_space), from: (from, from_offset, from_space), .. } = chunk;
            let Some(chosen) = chosen else {
                let words = [(); 4].map(|()| body.fresh(Width::B32));
                let (d, values) = (words.map(Some).to_vec(), words.map(Operand::Reg).to_vec());
                let (space, address, offset) = (from_space, from, from_offset);
                body.emit(Op::Load { d, space, bytes: 4, signed: false, address, offset });
                let (space, address, offset, width) = (to_space, to, to_offset, Width::B32);
                body.emit(Op::Store { values, width, space, bytes: 4, address, offset });
                return;
            };
            for byte in 0..16 {
                let (value, pred) = (body.fresh(Width::B16), body.is_chosen(chosen, &chunk, byte));
                body.guard = Some(Guard { pred, expected: true });
                let (space, address, offset) = (from_space, from, from_offset.wrapping_add(byte));
                body.emit(Op::Load { d: vec![Some(value)], space, bytes: 1, signed: false, address, offset });
                let (space, address, offset) = (to_space, to, to_offset.wrapping_add(byte));
                let (values, width) = (vec![Operand::Reg(value)], Width::B16);
                body.emit(Op::Store { values, width, space, bytes: 1, address, offset });
                body.guard = None;
            }
        })
    }

    /// Whether a byte of a chunk is copied.
    fn is_chosen(&mut self, chosen: Chosen, chunk: &Chunk, byte: i64) -> Reg {
        match chosen {
            Chosen::Mask(mask) => {
                let bit = self.int(IntOp::And, Width::B16, [mask, Operand::Imm(1 << byte), Operand::ZERO]);
                self.compare(Comparison::Ne, Comparand::Unsigned(Width::B16), bit.into(), Operand::ZERO)
            }
            Chosen::Inside(left, right) => {
                let of = Comparand::Unsigned(Width::B32);
                let at = self.word(IntOp::Add, chunk.done, Operand::Imm(byte as u64)).into();
                let rest = self.word(IntOp::Sub, chunk.size, at).into();
                let is_behind = self.compare(Comparison::Ge, of, at, left).into();
                let is_before = self.compare(Comparison::Gt, of, rest, right).into();
                self.int(IntOp::And, Width::Pred, [is_behind, is_before, Operand::ZERO])
            }
        }
    }

    /// `cp.reduce.async.bulk`: the same with an operation of an atomic for each number, one after another.
    pub(super) fn reduce_bulk(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        if !is_reduction_in_bulk(inst) {
            return Err(self.refuse(inst));
        }
        let ty = self.type_of(inst)?;
        let (kind, bytes) = (self.atomic_kind(inst, ty)?, ty.bytes());
        self.in_bulk(inst, bytes, |body, chunk| {
            let value = body.fresh(ty.width());
            let (address, offset, space) = chunk.from;
            body.emit(Op::Load { d: vec![Some(value)], space, bytes, signed: false, address, offset });
            let (address, offset, space) = chunk.to;
            let (b, c) = (value.into(), Operand::ZERO);
            body.emit(Op::Atomic { d: None, kind, space, bytes, address, offset, b, c, high: None });
        })
    }

    /// What is done in bulk: so many bytes at a time, from one place to another.
    fn in_bulk(&mut self, inst: &Inst<'m, 'a>, unit: u32, work: impl FnOnce(&mut Self, Chunk)) -> Result<()> {
        let spaces: Vec<Space> = inst.modifiers.iter().filter_map(|word| space_of(word)).collect();
        let [to_space, from_space] = spaces[..] else { return Err(self.refuse(inst)) };
        let (to, from) = (self.address(self.operand_at(inst, 0)?)?, self.address(self.operand_at(inst, 1)?)?);
        let (Address::Memory { base: to, offset: to_offset, .. }, Address::Memory { base: from, offset, .. }) =
            (to, from)
        else {
            return Err(self.refuse(inst));
        };
        let size = self.value_at(inst, 2, Type::U32)?;
        // Two numbers of bytes stand before the object.
        let ignored = inst.has(".ignore_oob").then_some([3, 4]);
        let object = match inst.has(".mbarrier::complete_tx::bytes") {
            true => Some(self.object(inst, if ignored.is_some() { 5 } else { 3 })?),
            false => None,
        };
        let (to, from) = (self.base(to, to_space)?, self.base(from, from_space)?);
        let ends = [(to, to_offset, to_space), (from, offset, from_space)];
        self.only_if(|body| {
            body.trap_unless_of_16(size, Width::B32, "a copy in bulk is of a multiple of 16 bytes");
            for index in ignored.into_iter().flatten() {
                let count = body.value_at(inst, index, Type::U32)?;
                body.trap_from(count, 16, "a copy in bulk ignores up to 15 bytes at either end");
            }
            body.bulk_loop(ends, size, unit, work);
            if let Some(object) = object {
                body.arrive(object, None, &[(size, arrival::BYTES)]);
            }
            Ok(())
        })
    }

    /// A loop over so many bytes, a unit at a time.
    fn bulk_loop(&mut self, ends: [Place; 2], size: Operand, unit: u32, work: impl FnOnce(&mut Self, Chunk)) {
        let (head, inside, after) = (self.new_block(), self.new_block(), self.new_block());
        let (done, more) = (self.fresh(Width::B32), self.fresh(Width::Pred));
        self.emit(Op::Move { d: done, a: Operand::ZERO });
        self.start(head);
        let of = Comparand::Unsigned(Width::B32);
        self.emit(Op::Compare { d: more, comparison: Comparison::Lt, of, a: done.into(), b: size });
        self.end(Terminator::Branch { pred: more, then: inside, otherwise: after });
        self.current = inside;
        let [to, from] = ends.map(|(base, offset, space)| {
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
        work(self, Chunk { to, from, done: done.into(), size });
        let args = [done.into(), Operand::Imm(unit.into()), Operand::ZERO, Operand::ZERO];
        self.emit(Op::Int { d: done, op: IntOp::Add, width: Width::B32, args });
        self.end(Terminator::Jump(head));
        self.current = after;
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
