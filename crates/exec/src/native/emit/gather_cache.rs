//! A cache for gathers whose elements lie cache lines apart, such as the factors of a stage of a Fourier transform: powers of two apart they
//! share a few sets of the processor's caches and stay in none. What a tile gathers is kept side by side, by the address of its first
//! element, and a later tile with that address takes it from there. Only of segments that the launch cannot write.

use super::super::asm::at;
use super::memory::PartLoad;
use super::{A, D, EmitResult, Emitter, FRAME, Part, RCX};
use crate::kernel::Machine;
use crate::native::alloc::Allocation;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{Operand, Reg, Space, Width};

const RDX: Register = Register::RDX;
const EDX: Register = Register::EDX;

/// Bytes of what one load keeps at most, and of how many tiles.
const MAX_BYTES: usize = 32 << 10;
const MAX_TILES: usize = 64;

/// What a load keeps.
struct Kept {
    /// For each slot the complement of an element's address, or 0: a valid address is a multiple of its element's size.
    keys: i64,
    /// The slots, of so many bytes.
    slots: i64,
    bytes: usize,
    count: usize,
}

impl Emitter<'_> {
    /// Loads elements that lie lines apart, which have been checked, from the host address in RAX or from where they are kept. Uses RCX, RDX,
    /// A to E, K1 and K2. None of this if it does not suit them.
    pub(super) fn read_kept(
        &mut self,
        d: &[Option<Reg>],
        space: Space,
        bytes: u32,
        address: Operand,
        offset: i64,
    ) -> EmitResult<bool> {
        let is_vector = |reg: Reg| {
            let is_whole = self.width(reg).bits() == bytes * 8 && !self.is_general(reg) && !self.is_constant(reg);
            is_whole && matches!(self.allocations[reg.0 as usize], Allocation::Vectors(_))
        };
        let point = self.groups.get(&self.point).map_or(self.point, |group| group.first);
        let (true, true, Some(&site)) = (
            self.shapes.lie_apart(address, space, bytes, d.len()),
            d.iter().all(|d| d.is_some_and(is_vector)),
            self.accesses.get(&point),
        ) else {
            return Ok(false);
        };
        let pattern = self.shapes.pattern(self.pattern_of(address)).to_vec();
        let kept = self.reserve_kept(&pattern, bytes as usize * d.len());
        let width = Width::holding(bytes * 8);
        // Tiles side by side have slots side by side.
        let (most, least) = (pattern.iter().max().unwrap_or(&0), pattern.iter().min().unwrap_or(&0));
        let span = most.abs_diff(*least);
        let shift = (span + span / (pattern.len() as u64 - 1)).ilog2();
        let [hit, filled] = [(); 2].map(|()| self.asm.label());

        let number = self.scalar(address, self.address_width(address), RCX)?;
        self.asm.rm(Code::Lea_r64_m, RCX, at(number, offset + pattern[0]));
        self.asm.push(Instruction::with1(Code::Not_rm64, RCX));
        self.asm.rr(Code::Mov_r64_rm64, RDX, RCX);
        self.asm.push(Instruction::with2(Code::Shr_rm64_imm8, RDX, shift));
        self.asm.ri(Code::And_rm32_imm32, EDX, kept.count as i32 - 1);
        let key = MemoryOperand::with_base_index_scale_displ_size(FRAME, RDX, 8, kept.keys, 1);
        self.asm.rm(Code::Cmp_r64_rm64, RCX, key);
        self.asm.jump(Code::Je_rel32_64, hit);
        // What may be written is kept under no key.
        let unwritten = self.frame.unwritten_of(site);
        self.asm.rm(Code::And_r64_rm64, RCX, at(FRAME, unwritten));
        self.asm.mr(Code::Mov_rm64_r64, key, RCX);
        self.point_to_slot(&kept);
        self.fill_slot(d.len(), PartLoad { address, offset, bytes, mask: None }, width)?;
        self.asm.jump(Code::Jmp_rel32_64, filled);
        self.asm.bind(hit);
        self.point_to_slot(&kept);
        self.asm.bind(filled);
        for (index, &d) in d.iter().flatten().enumerate() {
            for part in self.parts(d) {
                let to = self.target(d, part, D);
                let from = self.place_in_slot(index, width, part);
                self.asm.rm(Code::EVEX_Vmovups_zmm_k1z_zmmm512, to, from);
                self.write_back(d, part, to);
            }
        }
        Ok(true)
    }
    fn reserve_kept(&mut self, pattern: &[i64], bytes: usize) -> Kept {
        let bytes = bytes * pattern.len();
        let count = (MAX_BYTES / bytes).clamp(1, MAX_TILES);
        Kept { keys: self.frame.reserve(8 * count, 64), slots: self.frame.reserve(bytes * count, 64), bytes, count }
    }
    /// RDX, the number of a slot, becomes its address.
    fn point_to_slot(&mut self, kept: &Kept) {
        self.asm.push(Instruction::with2(Code::Shl_rm64_imm8, RDX, kept.bytes.ilog2()));
        let slot = MemoryOperand::with_base_index_scale_displ_size(FRAME, RDX, 1, kept.slots, 1);
        self.asm.rm(Code::Lea_r64_m, RDX, slot);
    }
    /// Where a slot, whose address is in RDX, has a part of each lane's element of this number.
    fn place_in_slot(&self, index: usize, width: Width, part: Part) -> MemoryOperand {
        let (bytes, lane) = (width.bits() as usize / 8, self.first_lane_of(width, part));
        at(RDX, ((index * self.shapes.lanes + lane) * bytes) as i64)
    }
    /// Gathers a tile's elements from the host address in RAX into a slot. Uses A to E and K2.
    fn fill_slot(&mut self, count: usize, load: PartLoad, width: Width) -> EmitResult {
        let store = |emit: &mut Self, index, part, from| {
            let to = emit.place_in_slot(index, width, part);
            emit.asm.mr(Code::EVEX_Vmovups_zmmm512_k1z_zmm, to, from);
        };
        let (halves, vectors) = (if width == Width::B64 { 2 } else { 1 }, self.shapes.lanes / self.machine().lanes());
        for part in (0..halves * vectors).map(|part| Part { vector: part / halves, half: part % halves }) {
            if self.machine() == Machine::Avx2 && (load.bytes, count) == (4, 2) {
                for (index, from) in self.pairs(load, part)?.into_iter().enumerate().take(count) {
                    store(self, index, part, from);
                }
                continue;
            }
            for index in 0..count {
                let offset = load.offset + index as i64 * i64::from(load.bytes);
                self.load_part(A, PartLoad { offset, ..load }, width, part)?;
                store(self, index, part, A);
            }
        }
        Ok(())
    }
}
