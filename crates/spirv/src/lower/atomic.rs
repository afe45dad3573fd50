//! Atomics on memory, and barriers.

use roundonce_arith::{ArithOp, Format, Operation};
use roundonce_ir::{AtomicKind, BarrierKind, IntOp, MemoryOrder, Op, Operand, Signedness, Width};
use rspirv::spirv::{Op as Opcode, Scope};

use super::types::Part;
use super::{Body, Result};

impl Body<'_> {
    pub(super) fn atomic(&mut self, op: Opcode) -> Result<()> {
        let (pointer, to) = self.memory(self.operand(0)?)?;
        let Some(part) = self.lowering.types.scalar(to).filter(|part| *part != Part::Bool && part.bits() >= 16) else {
            let what = self.lowering.facts.describe(self.lowering.module, to);
            return Err(self.unsupported(format!("{} of {what}", self.opcode())));
        };
        let (space, address, offset, bytes) = (pointer.space, pointer.address, pointer.offset, part.bytes());
        let width = part.width();
        let order = self.order_of_semantics(1, 2)?;
        if op == Opcode::AtomicLoad {
            // The fence keeps blocks that may write it in order.
            self.emit_ordered(Op::Fence, MemoryOrder::RELAXED);
            let d = self.fresh(width);
            self.emit_ordered(Op::Load { d: vec![Some(d)], space, bytes, signed: false, address, offset }, order);
            return self.define(vec![d.into()]);
        }
        let value = match op {
            Opcode::AtomicCompareExchange | Opcode::AtomicCompareExchangeWeak => Some(4),
            Opcode::AtomicIIncrement | Opcode::AtomicIDecrement => None,
            _ => Some(3),
        };
        let b = match value {
            Some(at) => self.scalar(self.operand(at)?)?.1,
            None => Operand::Imm(1),
        };
        let mut c = Operand::ZERO;
        let kind = match op {
            Opcode::AtomicStore | Opcode::AtomicExchange => AtomicKind::Exchange,
            Opcode::AtomicCompareExchange | Opcode::AtomicCompareExchangeWeak => AtomicKind::CompareAndSwap,
            Opcode::AtomicFAddEXT => {
                let operation = self.operation(ArithOp::Add, self.float_part(part)?);
                AtomicKind::Float { operation: Operation { source_format: operation.format, ..operation }, lanes: 1 }
            }
            Opcode::AtomicFMinEXT | Opcode::AtomicFMaxEXT => {
                let format = self.float_part(part)?;
                AtomicKind::FloatMinMax { max: op == Opcode::AtomicFMaxEXT, format, lanes: 1 }
            }
            _ if !matches!(part, Part::Int { .. }) => return Err(self.malformed("the pointer leads to no integer")),
            Opcode::AtomicSMin => AtomicKind::Int(IntOp::Min(Signedness::Signed)),
            Opcode::AtomicUMin => AtomicKind::Int(IntOp::Min(Signedness::Unsigned)),
            Opcode::AtomicSMax => AtomicKind::Int(IntOp::Max(Signedness::Signed)),
            Opcode::AtomicUMax => AtomicKind::Int(IntOp::Max(Signedness::Unsigned)),
            Opcode::AtomicAnd => AtomicKind::Int(IntOp::And),
            Opcode::AtomicOr => AtomicKind::Int(IntOp::Or),
            Opcode::AtomicXor => AtomicKind::Int(IntOp::Xor),
            _ => AtomicKind::Int(IntOp::Add),
        };
        let b = match op {
            Opcode::AtomicISub => self.int(IntOp::Neg, width, &[b]),
            Opcode::AtomicIDecrement => Operand::Imm(width.mask()),
            Opcode::AtomicCompareExchange | Opcode::AtomicCompareExchangeWeak => {
                // Value, then comparator; the engine wants what is compared first.
                c = b;
                self.scalar(self.operand(5)?)?.1
            }
            _ => b,
        };
        let d = (op != Opcode::AtomicStore).then(|| self.fresh(width));
        let order = match op {
            Opcode::AtomicCompareExchange | Opcode::AtomicCompareExchangeWeak => {
                order.joined(self.order_of_semantics(1, 3)?)
            }
            _ => order,
        };
        self.emit_ordered(Op::Atomic { d, kind, space, bytes, address, offset, b, c, high: None }, order);
        match d {
            Some(d) => self.define(vec![d.into()]),
            None => Ok(()),
        }
    }

    fn float_part(&self, part: Part) -> Result<Format> {
        match part {
            Part::Float(format) => Ok(format),
            _ => Err(self.malformed("the pointer leads to no floating-point number")),
        }
    }

    /// OpControlBarrier waits for its scope, OpMemoryBarrier for none; both order memory.
    pub(super) fn barrier(&mut self, op: Opcode) -> Result<()> {
        let scope = self.lowering.constants.scalar(self.operand(0)?).and_then(|scope| Scope::from_u32(scope as u32));
        match (op, scope) {
            (Opcode::ControlBarrier, Some(Scope::Workgroup)) => {
                let barrier = Op::Barrier { kind: BarrierKind::Wait, id: Operand::ZERO, count: None };
                self.emit_ordered(barrier, self.order_of_semantics(1, 2)?);
            }
            (Opcode::ControlBarrier, Some(Scope::Subgroup)) => {
                let barrier = Op::WarpBarrier { mask: Operand::Imm(Width::B32.mask()) };
                self.emit_ordered(barrier, self.order_of_semantics(1, 2)?);
            }
            (Opcode::ControlBarrier, _) => {
                return Err(self.unsupported(format!("{} of a scope beyond the workgroup", self.opcode())));
            }
            _ => {
                let order = self.order_of_semantics(0, 1)?;
                self.emit_ordered(Op::Fence, order);
            }
        }
        Ok(())
    }
}
