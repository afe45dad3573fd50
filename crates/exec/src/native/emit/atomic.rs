//! Atomics on integers whose old value nobody reads and whose order does not matter: lane by lane, at the end of a node, as
//! stores are. A kernel with atomics on global memory runs on one thread.

use super::super::asm::at;
use super::super::frame::Access;
use super::one_by_one::LaneAccess;
use super::{B, EmitError, EmitResult, Emitter, FRAME, RAX, RCX};
use crate::kernel::DecodedInst;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{AtomicKind, IntOp, Op, Operand, Signedness, Space, Width};

/// An atomic that has code.
#[derive(Clone, Copy)]
struct Atomic {
    op: IntOp,
    width: Width,
    space: Space,
    address: Operand,
    offset: i64,
    b: Operand,
}

impl Emitter<'_> {
    /// The current instruction, if it has code.
    fn atomic_of(&self, inst: &DecodedInst<'_>) -> EmitResult<Atomic> {
        let &Op::Atomic { d, kind: AtomicKind::Int(op), space, bytes, address, offset, b, high: None, .. } = inst.op
        else {
            return Err(EmitError::Unsupported);
        };
        if !matches!(bytes, 4 | 8) || d.is_some_and(|d| !inst.is_last_use(d)) {
            return Err(EmitError::Unsupported);
        }
        Ok(Atomic { op, width: Width::holding(8 * bytes), space, address, offset, b })
    }

    /// Checks an atomic before any store of the node is executed.
    pub(super) fn check_atomic(&mut self, inst: &DecodedInst<'_>) -> EmitResult {
        let Atomic { width, space, address, offset, .. } = self.atomic_of(inst)?;
        let bytes = width.bits() / 8;
        match self.is_scattered(address, space) {
            true => self.check_lanes(Access::Store, space, (bytes, 1), address, offset),
            false => self.check(Access::Store, space, bytes, 1, address, offset),
        }
    }

    /// An atomic that has been checked. Uses RAX, RCX, RDX, A, B and E.
    pub(super) fn atomic(&mut self, inst: &DecodedInst<'_>) -> EmitResult {
        let all = self.atomic_of(inst)?;
        let Atomic { width, space, address, offset, b, .. } = all;
        let scattered = self.is_scattered(address, space);
        match scattered {
            true => self.load_distance(address)?,
            false => self.load_host_address(address)?,
        }
        let known = self.shapes.constant(b);
        let known = known.and_then(|bits| i32::try_from(crate::scalar::sign_extend(bits, width.bits())).ok());
        let values = self.frame.reserve(64, 64);
        for part in self.parts_that_run(width) {
            if known.is_none() {
                let from = self.canonicalised(b, width, part, B)?;
                self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, values), from);
            }
            let value = |lane: usize| values + i64::from(width.bits() / 8) * lane as i64;
            if scattered {
                let kind =
                    if all.op == IntOp::Add && known.is_some() { LaneAccess::Alone } else { LaneAccess::WithRcx };
                self.each_lane(address, width, part, (offset, kind), |emit, _, lane, memory| {
                    emit.combine(all, known, value(lane), memory)
                })?;
                continue;
            }
            let start = self.first_lane_of(width, part);
            for lane in self.lanes_that_run(width, part) {
                let next = self.skip_inactive(start + lane);
                let pattern = self.shapes.pattern(self.pattern_of(address));
                self.combine(all, known, value(lane), at(RAX, offset + pattern[start + lane]))?;
                if let Some(next) = next {
                    self.asm.bind(next);
                }
            }
        }
        Ok(())
    }

    /// One lane's: the operand is a number or stands in the frame.
    fn combine(&mut self, atomic: Atomic, known: Option<i32>, value: i64, memory: MemoryOperand) -> EmitResult {
        let wide = atomic.width == Width::B64;
        let pick = |narrow, double| if wide { double } else { narrow };
        if let (IntOp::Add, Some(number)) = (atomic.op, known) {
            self.asm.mi(pick(Code::Add_rm32_imm32, Code::Add_rm64_imm32), memory, number);
            return Ok(());
        }
        let register = if wide { RCX } else { Register::ECX };
        match known {
            Some(number) => {
                self.asm.push(Instruction::with2(pick(Code::Mov_rm32_imm32, Code::Mov_rm64_imm32), register, number))
            }
            None => self.asm.rm(pick(Code::Mov_r32_rm32, Code::Mov_r64_rm64), register, at(FRAME, value)),
        }
        let plain = match atomic.op {
            IntOp::Add => Some(pick(Code::Add_rm32_r32, Code::Add_rm64_r64)),
            IntOp::And => Some(pick(Code::And_rm32_r32, Code::And_rm64_r64)),
            IntOp::Or => Some(pick(Code::Or_rm32_r32, Code::Or_rm64_r64)),
            IntOp::Xor => Some(pick(Code::Xor_rm32_r32, Code::Xor_rm64_r64)),
            _ => None,
        };
        if let Some(code) = plain {
            self.asm.mr(code, memory, register);
            return Ok(());
        }
        // Where what is there is less already, or greater.
        let unless = match atomic.op {
            IntOp::Min(Signedness::Signed) => Code::Jge_rel32_64,
            IntOp::Min(Signedness::Unsigned) => Code::Jae_rel32_64,
            IntOp::Max(Signedness::Signed) => Code::Jle_rel32_64,
            IntOp::Max(Signedness::Unsigned) => Code::Jbe_rel32_64,
            _ => return Err(EmitError::Unsupported),
        };
        let stays = self.asm.label();
        self.asm.rm(pick(Code::Cmp_r32_rm32, Code::Cmp_r64_rm64), register, memory);
        self.asm.jump(unless, stays);
        self.asm.mr(pick(Code::Mov_rm32_r32, Code::Mov_rm64_r64), memory, register);
        self.asm.bind(stays);
        Ok(())
    }
}
