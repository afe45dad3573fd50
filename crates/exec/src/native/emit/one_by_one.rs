//! Accesses to memory lane by lane: where the machine has no scatter, and atomics.

use super::super::asm::{Label, at};
use super::lanes::Index;
use super::{A, E, EmitResult, Emitter, FRAME, Part, RAX, RCX, xmm};
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

/// Where a lane's index is taken from. Loads from the frame wait for the stores before them, whose addresses are indices too: so
/// each lane would wait for the one before.
#[derive(Clone, Copy)]
enum IndexFrom {
    /// Two lanes of a vector at a time, or one.
    Pairs(Register),
    Lanes(Register),
    Frame(i64),
}

impl Emitter<'_> {
    /// Prepares the stores of some lanes of a vector: those of whole words leave it as they are with AVX2, and with AVX-512 where
    /// they are in its first quarter.
    pub(super) fn lanes_to_store(&mut self, from: Register, bytes: u32, lanes: &[usize]) -> LanesToStore {
        let stay = LanesToStore { from, bytes, at_frame: None };
        match self.machine() {
            Machine::Avx2 if bytes >= 4 => {
                self.asm.split_for_stores(from);
                return stay;
            }
            Machine::Avx512 if bytes >= 4 && lanes.iter().all(|&lane| lane * (bytes as usize) < 16) => return stay,
            _ => {}
        }
        let at_frame = self.frame.reserve(64, 64);
        self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, at_frame), from);
        LanesToStore { from, bytes, at_frame: Some(at_frame) }
    }
    /// Stores the low bytes of a lane. Uses RCX where the lanes are in the frame.
    pub(super) fn store_lane(&mut self, lanes: LanesToStore, lane: usize, to: MemoryOperand) {
        let LanesToStore { from, bytes, at_frame } = lanes;
        match at_frame {
            Some(vector) => self.copy_element(at(FRAME, vector + lane_bytes(bytes) * lane as i64), to, bytes),
            None if self.machine() == Machine::Avx2 => self.asm.store_lane(to, from, lane, bytes == 8),
            None => {
                let extract =
                    if bytes == 8 { Code::EVEX_Vpextrq_rm64_xmm_imm8 } else { Code::EVEX_Vpextrd_rm32_xmm_imm8 };
                self.asm.push(Instruction::with3(extract, to, xmm(from), lane as u32));
            }
        }
    }
    /// Stores the low bytes of a lane that is in the frame. Uses RCX.
    fn copy_element(&mut self, from: MemoryOperand, to: MemoryOperand, bytes: u32) {
        match bytes {
            8 => self.asm.rm(Code::Mov_r64_rm64, RCX, from),
            _ => self.asm.rm(Code::Mov_r32_rm32, Register::ECX, from),
        }
        let (code, element) = match bytes {
            1 => (Code::Mov_rm8_r8, Register::CL),
            2 => (Code::Mov_rm16_r16, Register::CX),
            4 => (Code::Mov_rm32_r32, Register::ECX),
            _ => (Code::Mov_rm64_r64, RCX),
        };
        self.asm.mr(code, to, element);
    }
    /// A store of all active lanes to one place, so many bytes from RAX on: what the last of them stores stays there. Uses A, RCX and RDX.
    pub(super) fn write_last(&mut self, (value, width, bytes): (Operand, Width, u32), offset: i64) -> EmitResult {
        let (lanes, lane_bytes) = (self.shapes.lanes, lane_bytes(bytes));
        let values = self.frame.reserve(lanes * lane_bytes as usize, 64);
        for part in self.parts_that_run(width) {
            let from = self.canonicalised(value, width, part, A)?;
            let to = at(FRAME, values + lane_bytes * self.first_lane_of(width, part) as i64);
            self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, to, from);
        }
        let Some(mask) = self.active_mask else {
            self.copy_element(at(FRAME, values + lane_bytes * (lanes as i64 - 1)), at(RAX, offset), bytes);
            return Ok(());
        };
        for word in 0..self.mask_words() {
            let next = self.asm.label();
            self.asm.rm(Code::Bsr_r64_rm64, RDX, at(FRAME, mask + 8 * word));
            self.asm.jump(Code::Je_rel32_64, next);
            let of_word = values + 64 * lane_bytes * word;
            let from = MemoryOperand::with_base_index_scale_displ_size(FRAME, RDX, lane_bytes as u32, of_word, 1);
            self.copy_element(from, at(RAX, offset), bytes);
            self.asm.bind(next);
        }
        Ok(())
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
        let (start, that_run) = (self.first_lane_of(width, part), self.lanes_that_run(width, part));
        let Some(&last) = that_run.last() else { return Ok(()) };
        let places = self.places_of(address);
        let indices = self.indices(places, width, part, false)?;
        // Behind the indices, which may take its registers.
        let (lanes, has_rcx) = match kind {
            LaneAccess::Store(from, bytes) => {
                let lanes = self.lanes_to_store(from, bytes, &that_run);
                (Some(lanes), lanes.at_frame.is_none())
            }
            LaneAccess::WithRcx => (None, false),
            LaneAccess::Alone => (None, true),
        };
        let from = match (self.machine(), places.width) {
            (Machine::Avx2 | Machine::Avx512, Width::B32) if has_rcx => IndexFrom::Pairs(indices[0].register),
            (Machine::Avx512, Width::B32) => IndexFrom::Lanes(indices[0].register),
            _ => IndexFrom::Frame(self.spill(&indices)),
        };
        for lane in 0..=last {
            // What is computed for more lanes than one is not jumped over.
            let mut index = RDX;
            match from {
                IndexFrom::Pairs(vector) if lane % 2 == 0 => {
                    self.lane_pair(vector, lane / 2);
                    self.asm.rr(Code::Movsxd_r64_rm32, RCX, Register::EDX);
                    index = RCX;
                }
                IndexFrom::Pairs(_) => self.asm.push(Instruction::with2(Code::Sar_rm64_imm8, RDX, 32)),
                IndexFrom::Lanes(vector) => {
                    let quarter = self.quarter(vector, lane / 4, lane % 4 == 0);
                    let extract = Code::EVEX_Vpextrd_rm32_xmm_imm8;
                    self.asm.push(Instruction::with3(extract, Register::EDX, quarter, lane as u32 % 4));
                }
                IndexFrom::Frame(_) => {}
            }
            if !that_run.contains(&lane) {
                continue;
            }
            let next = self.skip_inactive(start + lane);
            match from {
                IndexFrom::Pairs(_) => {}
                IndexFrom::Lanes(_) => self.asm.rr(Code::Movsxd_r64_rm32, RDX, Register::EDX),
                IndexFrom::Frame(spilled) if indices[0].wide => {
                    self.asm.rm(Code::Mov_r64_rm64, RDX, at(FRAME, spilled + 8 * lane as i64))
                }
                IndexFrom::Frame(spilled) => {
                    self.asm.rm(Code::Movsxd_r64_rm32, RDX, at(FRAME, spilled + 4 * lane as i64))
                }
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
    /// RDX becomes two lanes of 32 bits of a vector, by the number of the pair: all pairs in order. Uses E.
    fn lane_pair(&mut self, from: Register, pair: usize) {
        if self.machine() == Machine::Avx2 {
            return self.asm.lane_pair(RDX, from, pair);
        }
        let quarter = self.quarter(from, pair / 2, pair.is_multiple_of(2));
        self.asm.push(match pair % 2 {
            0 => Instruction::with2(Code::EVEX_Vmovq_rm64_xmm, RDX, quarter),
            _ => Instruction::with3(Code::EVEX_Vpextrq_rm64_xmm_imm8, RDX, quarter, 1u32),
        });
    }
    /// The register that has a quarter of a vector of 512 bits, from its first use on: all quarters in order. Uses E.
    fn quarter(&mut self, from: Register, quarter: usize, is_first_use: bool) -> Register {
        if quarter == 0 {
            return xmm(from);
        }
        if is_first_use {
            let code = Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8;
            self.asm.push(Instruction::with3(code, xmm(E), from, quarter as u32));
        }
        xmm(E)
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

/// Bytes of a lane whose element has so many.
fn lane_bytes(bytes: u32) -> i64 {
    if bytes == 8 { 8 } else { 4 }
}
