//! Accesses to memory lane by lane: where the machine has no scatter, and atomics.

use super::super::asm::{Label, at};
use super::lanes::Index;
use super::{EmitResult, Emitter, FRAME, Part, RAX, RCX};
use crate::kernel::Machine;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{Operand, Width};

const RDX: Register = Register::RDX;

/// A vector whose lanes are stored one by one, and where in the frame they are, if they are there.
#[derive(Clone, Copy)]
pub(super) struct LanesToStore {
    from: Register,
    bytes: u32,
    at_frame: Option<i64>,
}

/// What is done for each lane.
#[derive(Clone, Copy)]
pub(super) enum LaneAccess {
    /// A store of so many bytes of a vector's lane.
    Store(Register, u32),
    /// Something that uses RCX, or no register at all.
    WithRcx,
    Alone,
}

impl Emitter<'_> {
    /// Prepares the stores of a vector's lanes: with AVX2 they leave it as they are, where they are whole words.
    pub(super) fn lanes_to_store(&mut self, from: Register, bytes: u32) -> LanesToStore {
        if self.machine() == Machine::Avx2 && bytes >= 4 {
            self.asm.split_for_stores(from);
            return LanesToStore { from, bytes, at_frame: None };
        }
        let at_frame = self.frame.reserve(64, 64);
        self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, at_frame), from);
        LanesToStore { from, bytes, at_frame: Some(at_frame) }
    }
    /// Stores the low bytes of a lane. Uses RCX where the lanes are in the frame.
    pub(super) fn store_lane(&mut self, lanes: LanesToStore, lane: usize, to: MemoryOperand) {
        let LanesToStore { from, bytes, at_frame } = lanes;
        let Some(vector) = at_frame else { return self.asm.store_lane(to, from, lane, bytes == 8) };
        let lane = lane as i64;
        match bytes {
            8 => self.asm.rm(Code::Mov_r64_rm64, RCX, at(FRAME, vector + 8 * lane)),
            _ => self.asm.rm(Code::Mov_r32_rm32, Register::ECX, at(FRAME, vector + 4 * lane)),
        }
        let (code, element) = match bytes {
            1 => (Code::Mov_rm8_r8, Register::CL),
            2 => (Code::Mov_rm16_r16, Register::CX),
            4 => (Code::Mov_rm32_r32, Register::ECX),
            _ => (Code::Mov_rm64_r64, RCX),
        };
        self.asm.mr(code, to, element);
    }
    /// Accesses memory for each active lane of a part, one after the other; RAX has the distance to the host's addresses. Uses A, E,
    /// RDX, and RCX where the access does not.
    pub(super) fn each_lane(
        &mut self,
        address: Operand,
        width: Width,
        part: Part,
        (offset, kind): (i64, LaneAccess),
        access: impl Fn(&mut Self, Option<LanesToStore>, usize, MemoryOperand) -> EmitResult,
    ) -> EmitResult {
        let places = self.places_of(address);
        let indices = self.indices(places, width, part, false)?;
        // Behind the indices, which may take its registers.
        let (lanes, has_rcx) = match kind {
            LaneAccess::Store(from, bytes) => {
                let lanes = self.lanes_to_store(from, bytes);
                (Some(lanes), lanes.at_frame.is_none())
            }
            LaneAccess::WithRcx => (None, false),
            LaneAccess::Alone => (None, true),
        };
        let in_registers = self.machine() == Machine::Avx2 && places.width == Width::B32 && has_rcx;
        let spilled = if in_registers { 0 } else { self.spill(&indices) };
        let start = self.first_lane_of(width, part);
        for lane in 0..self.lanes_of(width) {
            // What is computed for two lanes is not jumped over.
            let mut index = RDX;
            if in_registers && lane % 2 == 0 {
                self.asm.lane_pair(RDX, indices[0].register, lane / 2);
                self.asm.rr(Code::Movsxd_r64_rm32, RCX, Register::EDX);
                index = RCX;
            } else if in_registers {
                self.asm.push(Instruction::with2(Code::Sar_rm64_imm8, RDX, 32));
            }
            let next = self.skip_inactive(start + lane);
            if !in_registers {
                let (lane, wide) = (lane as i64, indices[0].wide);
                let from = at(FRAME, spilled + lane * if wide { 8 } else { 4 });
                self.asm.rm(if wide { Code::Mov_r64_rm64 } else { Code::Movsxd_r64_rm32 }, RDX, from);
            }
            access(
                self,
                lanes,
                lane,
                MemoryOperand::with_base_index_scale_displ_size(RAX, index, places.scale(), offset, 1),
            )?;
            if let Some(next) = next {
                self.asm.bind(next);
            }
        }
        Ok(())
    }
    /// Writes a part's addresses or indices to the frame.
    fn spill(&mut self, indices: &[Index]) -> i64 {
        let (at_frame, vector_bytes) = (self.frame.reserve(128, 64), 4 * self.machine().lanes() as i64);
        for (half, index) in indices.iter().enumerate() {
            let to = at(FRAME, at_frame + half as i64 * vector_bytes);
            self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, to, index.register);
        }
        at_frame
    }
    /// Jumps over what is emitted next if a lane is inactive; the label is bound behind it.
    pub(super) fn skip_inactive(&mut self, lane: usize) -> Option<Label> {
        let mask = self.active_mask?;
        let next = self.asm.label();
        self.asm.mi(Code::Bt_rm32_imm8, at(FRAME, mask + 4 * (lane as i64 / 32)), lane as i32 % 32);
        self.asm.jump(Code::Jae_rel32_64, next);
        Some(next)
    }
}
