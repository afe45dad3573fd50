//! Loads and stores at addresses without a pattern, such as tables indexed by data: each lane's address is checked, then
//! all are gathered or scattered.

use super::super::asm::{Decorators, at};
use super::super::frame::{Access, AccessSite};
use super::check::Group;
use super::one_by_one::LaneAccess;
use super::{A, B, C, D, DeoptReason, E, EmitError, EmitResult, Emitter, FRAME, Part, RAX, RCX, Source, by, ymm};
use crate::kernel::Machine;
use crate::native::indexed::IndexedAddress;
use crate::native::shape::{Period, VectorShape};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{Operand, Reg, Space, Width};

const RDX: Register = Register::RDX;
const K1: Register = Register::K1;
const K2: Register = Register::K2;

/// Offsets are displacements of instructions, and do not carry into the sign of a 32-bit address.
const MAX_OFFSET: u64 = 1 << 30;

/// What a lane loads.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub(super) bytes: u32,
    pub(super) signed: bool,
}

impl Emitter<'_> {
    /// Whether each lane's address is checked: where they have no pattern, and where it leads some lane out of shared memory.
    /// Such lanes are inactive, or there is an error.
    pub(super) fn is_scattered(&self, address: Operand, space: Space) -> bool {
        if !self.shapes.shape(address).is_scalar() {
            return true;
        }
        let pattern = self.shapes.pattern(self.pattern_of(address));
        let span = pattern.iter().max().zip(pattern.iter().min()).map_or(0, |(most, least)| most.abs_diff(*least));
        space == Space::Shared && self.active_mask.is_some() && span >= self.launch.config.shared_bytes()
    }
    /// What says where the lanes access memory.
    pub(super) fn places_of(&self, address: Operand) -> Places {
        let width = self.address_width(address);
        match self.addresses.of(address) {
            Some(&indexed) => Places { of: indexed.index.into(), width: Width::B32, indexed: Some(indexed) },
            None => Places { of: address, width, indexed: None },
        }
    }

    /// Checks the active lanes' addresses. Uses RAX, RCX, RDX, A to E, K1 and K2.
    pub(super) fn check_lanes(
        &mut self,
        access: Access,
        space: Space,
        (bytes, count): (u32, usize),
        address: Operand,
        offset: i64,
    ) -> EmitResult {
        let (places, shape) = (self.places_of(address), self.shapes.shape(address));
        let (mut offset, mut length) = (offset, u64::from(bytes) * count as u64);
        if let Some(&Group { first, from, to }) = self.groups.get(&self.point).filter(|_| access == Access::Load) {
            if first != self.point && self.accesses.contains_key(&first) {
                return Ok(());
            }
            (offset, length) = (from, from.abs_diff(to));
        }
        let (width, mut align) = (places.width, self.alignment(bytes, count));
        let shared = space == Space::Shared;
        let narrow = width == Width::B32 && places.indexed.is_none();
        if !matches!(space, Space::Global | Space::Const | Space::Generic | Space::Shared)
            || !matches!(width, Width::B32 | Width::B64)
            || narrow && !shared
            || offset.unsigned_abs() > MAX_OFFSET
        {
            return Err(EmitError::Unsupported);
        }
        let site = AccessSite { cache: 0, space, access, align, span: length, address, shape, offset, length };
        let site = self.site(site);
        let cache = self.frame.sites[site].cache;
        // What is subtracted from an address or an index before it is compared, and with what, for multiples of the alignment.
        let (base, limit) = if shared {
            let room = self.launch.config.shared_bytes().checked_sub(length).ok_or(EmitError::Unsupported)?;
            let base = self.broadcast_constant(offset.wrapping_neg() as u64, width);
            let limit = self.broadcast_constant(room / u64::from(align) + 1, width);
            (base, self.load(limit, width, D))
        } else if let Some(indexed) = &places.indexed {
            self.index_range(site, indexed)?;
            self.broadcast(RDX, Width::B32, C);
            self.broadcast(RAX, Width::B32, D);
            align = 1;
            (Source::Register(C), D)
        } else {
            self.asm.rm(Code::Mov_r64_rm64, RCX, at(FRAME, cache));
            if offset != 0 {
                self.asm.ri(Code::Sub_rm64_imm32, RCX, offset as i32);
            }
            self.broadcast(RCX, Width::B64, C);
            self.asm.rm(Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64, D, at(FRAME, cache + 8));
            (Source::Register(C), D)
        };
        let (failed, passed) = (self.asm.label(), self.asm.label());
        let failing = self.frame.reserve(64, 64);
        let parts = self.address_parts(places);
        if self.machine() == Machine::Avx2 && self.active_mask.is_none() && parts.len() > 1 {
            self.check_all(&parts, places, (base, limit), align)?;
            self.asm.jump(Code::Je_rel32_64, passed);
        }
        for part in parts {
            self.position(part, places, base, align)?;
            let mask = self.active_mask.map(|mask| {
                self.load_mask(mask, width, part, K1);
                K1
            });
            // The lanes whose addresses are not less than the limit.
            let compare =
                by(width, Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8);
            let compared = Instruction::with4(compare, K2, B, limit, 5);
            self.asm.vector(compared, Decorators { mask, ..Decorators::default() });
            self.asm.rr(Code::VEX_Kortestw_kr_kr, K2, K2);
            self.asm.jump(Code::Jne_rel32_64, failed);
        }
        self.asm.jump(Code::Jmp_rel32_64, passed);
        self.asm.bind(failed);
        self.first_failing(failing, width);
        if let Some(indexed) = &places.indexed {
            self.position_of_index(site, indexed, failing)?;
        }
        self.side_exit(
            Code::Jmp_rel32_64,
            if shared { DeoptReason::Other } else { DeoptReason::CacheMiss },
            if shared { 0 } else { site },
        );
        self.asm.bind(passed);
        Ok(())
    }
    /// B becomes the number of a part's positions from where an access may start. Uses A.
    fn position(&mut self, part: Part, places: Places, base: Source, align: u32) -> EmitResult {
        let Places { of, width, .. } = places;
        let x = self.canonicalised(of, width, part, A)?;
        let sub = by(width, Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64);
        self.op3(sub, B, x, base, Decorators::default());
        if align > 1 {
            let rotate =
                by(width, Code::EVEX_Vprord_zmm_k1z_zmmm512b32_imm8, Code::EVEX_Vprorq_zmm_k1z_zmmm512b64_imm8);
            self.shift(rotate, B, B, align.trailing_zeros());
        }
        Ok(())
    }
    /// Sets the flag for zero if all positions are below the limit, which is no more than half of what its width holds: then their
    /// signs are clear and those of what they have more than the limit are set. Uses A, B, E and K2.
    fn check_all(
        &mut self,
        parts: &[Part],
        places: Places,
        (base, limit): (Source, Register),
        align: u32,
    ) -> EmitResult {
        let width = places.width;
        let sub = by(width, Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64);
        let and = by(width, Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64);
        let without = by(width, Code::EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpandnq_zmm_k1z_zmm_zmmm512b64);
        for (index, &part) in parts.iter().enumerate() {
            self.position(part, places, base, align)?;
            self.op3(sub, A, B, Source::Register(limit), Decorators::default());
            self.op3(without, if index == 0 { E } else { A }, B, Source::Register(A), Decorators::default());
            if index > 0 {
                self.op3(and, E, E, Source::Register(A), Decorators::default());
            }
        }
        let compare =
            by(width, Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8);
        let zero = self.broadcast_constant(0, width);
        self.op3_immediate(compare, K2, E, zero, 5);
        self.asm.rr(Code::VEX_Kortestw_kr_kr, K2, K2);
        Ok(())
    }
    /// The parts of an address that differ. Where some lanes are inactive these differ too.
    fn address_parts(&self, Places { of, width, .. }: Places) -> Vec<Part> {
        match (of, self.active_mask) {
            (Operand::Reg(reg), None) => self.parts(reg),
            _ => self.parts_that_run(width),
        }
    }
    /// RAX becomes the number in B of the first lane of K2.
    fn first_failing(&mut self, slot: i64, width: Width) {
        let wide = width == Width::B64;
        self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, slot), B);
        match self.machine() {
            Machine::Avx512 => self.asm.rr(Code::VEX_Kmovw_r32_kr, Register::ECX, K2),
            _ => self.asm.bits_of_mask(K2, Register::ECX, wide),
        }
        self.asm.rr(Code::Tzcnt_r32_rm32, Register::ECX, Register::ECX);
        let bytes = if wide { 8 } else { 4 };
        let from = MemoryOperand::with_base_index_scale_displ_size(FRAME, RCX, bytes, slot, 1);
        match wide {
            true => self.asm.rm(Code::Mov_r64_rm64, RAX, from),
            false => self.asm.rm(Code::Mov_r32_rm32, Register::EAX, from),
        }
    }

    /// Loads from addresses that have been checked. Uses RAX, RCX, A to E, K1 and K2.
    pub(super) fn read_lanes(
        &mut self,
        d: &[Option<Reg>],
        element: Element,
        address: Operand,
        offset: i64,
    ) -> EmitResult {
        let Some(first) = d.iter().copied().flatten().next() else { return Ok(()) };
        let width = self.width(first);
        let fits = match element.bytes {
            1 | 2 => matches!(width, Width::B16 | Width::B32),
            4 => matches!(width, Width::B32 | Width::B64),
            _ => width == Width::B64,
        };
        let alike = |d: Reg| {
            let is_vectors = !self.is_general(d) && !self.is_constant(d);
            // Where other code sets one of several results, it may not repeat as the others do.
            is_vectors && self.width(d) == width && self.shapes.are_kept_alike(d, first)
        };
        if !fits || !d.iter().flatten().all(|&d| alike(d)) {
            return Err(EmitError::Unsupported);
        }
        let active = self.active_mask;
        match self.shapes.shape(Operand::Reg(first)) {
            VectorShape::Repeated(Period::Tile) => self.active_mask = active.map(|mask| self.in_any_vector(mask)),
            // Each warp's lanes would need such a mask.
            VectorShape::Repeated(_) if active.is_some() => return Err(EmitError::Unsupported),
            _ => {}
        }
        self.load_distance(address)?;
        let places = self.places_of(address);
        let overwrites = d.iter().flatten().any(|&d| Operand::Reg(d) == places.of);
        for part in self.parts(first) {
            let indices = self.indices(places, width, part, overwrites)?;
            for (index, &d) in d.iter().enumerate() {
                let Some(d) = d else { continue };
                let offset = offset + index as i64 * i64::from(element.bytes);
                let to = self.target(d, part, D);
                match element.bytes {
                    1 | 2 => self.gather_narrow(&indices, element, width, offset, part, to)?,
                    _ => self.gather(&indices, element, width, offset, part, to),
                }
                self.write_back(d, part, to);
            }
        }
        self.active_mask = active;
        Ok(())
    }
    /// The lanes of a vector that are active in any of the tile's vectors, as a mask in the frame: what they read is one vector
    /// for all of them, and none may read at an address that no active lane has. Uses RAX and RCX.
    fn in_any_vector(&mut self, mask: i64) -> i64 {
        let any = self.frame.reserve(8, 8);
        self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, mask));
        for word in 1..self.mask_words() {
            self.asm.rm(Code::Or_r64_rm64, RAX, at(FRAME, mask + 8 * word));
        }
        let mut lanes = self.shapes.lanes.min(64);
        while lanes > self.machine().lanes() {
            lanes /= 2;
            self.asm.rr(Code::Mov_r64_rm64, RCX, RAX);
            self.asm.push(Instruction::with2(Code::Shr_rm64_imm8, RCX, lanes as u32));
            self.asm.rr(Code::Or_r64_rm64, RAX, RCX);
        }
        self.asm.mr(Code::Mov_rm64_r64, at(FRAME, any), RAX);
        any
    }
    /// Sets RAX to the distance from a checked access's addresses to the host's; where the lanes have indices, to where index 0
    /// leads.
    pub(super) fn load_distance(&mut self, address: Operand) -> EmitResult {
        let first = self.groups.get(&self.point).and_then(|group| self.accesses.get(&group.first));
        let Some(&site) = first.or_else(|| self.accesses.get(&self.point)) else { return Err(EmitError::Unsupported) };
        let base = match self.addresses.of(address) {
            Some(indexed) => Some(self.scalar(indexed.base, Width::B64, RCX)?),
            None => None,
        };
        self.set_host_address(site, base);
        Ok(())
    }
    /// The vectors with the addresses of a part of so wide a result; in A and E where they are about to be overwritten.
    pub(super) fn indices(&mut self, places: Places, width: Width, part: Part, keep: bool) -> EmitResult<Vec<Index>> {
        let (wide, scale) = (places.width == Width::B64, places.scale());
        let one = |emit: &mut Self, half: usize, scratch: Register| -> EmitResult<Index> {
            let at = Part { half, ..part };
            let mut register = emit.canonicalised(places.of, places.width, at, scratch)?;
            if keep {
                emit.copy_vector(scratch, register);
                register = scratch;
            }
            Ok(Index { register, wide, scale })
        };
        Ok(match (wide, width) {
            (true, Width::B64) => vec![one(self, part.half, A)?],
            (true, _) => vec![one(self, 0, A)?, one(self, 1, E)?],
            (false, Width::B64) => {
                let Index { register, .. } = one(self, 0, A)?;
                if part.half == 1 {
                    let upper = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                    self.asm.push(Instruction::with3(upper, ymm(A), register, 1));
                    vec![Index { register: A, wide, scale }]
                } else {
                    vec![Index { register, wide, scale }]
                }
            }
            (false, _) => vec![one(self, 0, A)?],
        })
    }

    /// A mask of the active lanes of a part, in K2.
    fn lanes_mask(&mut self, width: Width, part: Part) {
        match self.active_mask {
            Some(mask) => self.load_mask(mask, width, part, K2),
            None => self.asm.push(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, K2, K2, K2)),
        }
    }
    /// Gathers elements of 4 or 8 bytes from RAX and the indices. Uses B and C.
    fn gather(&mut self, indices: &[Index], element: Element, width: Width, offset: i64, part: Part, to: Register) {
        let scale = indices[0].scale;
        let memory = |register| MemoryOperand::with_base_index_scale_displ_size(RAX, register, scale, offset, 1);
        match (indices, element.bytes) {
            (&[Index { register, wide: true, .. }], 8) => {
                self.lanes_mask(Width::B64, part);
                self.gather_into(Code::EVEX_Vpgatherqq_zmm_k1_vm64z, to, memory(register));
            }
            (&[Index { register, wide: false, .. }], 8) => {
                self.lanes_mask(Width::B64, part);
                self.gather_into(Code::EVEX_Vpgatherdq_zmm_k1_vm32y, to, memory(ymm(register)));
            }
            // Elements of 4 bytes, extended to 8.
            (&[Index { register, wide, .. }], _) if width == Width::B64 => {
                self.lanes_mask(Width::B64, part);
                if wide {
                    self.gather_into(Code::EVEX_Vpgatherqd_ymm_k1_vm64z, ymm(B), memory(register));
                } else {
                    self.gather_into(Code::EVEX_Vpgatherdq_zmm_k1_vm32y, B, memory(ymm(register)));
                    self.asm.rr(Code::EVEX_Vpmovqd_ymmm256_k1z_zmm, ymm(B), B);
                }
                let code = match element.signed {
                    true => Code::EVEX_Vpmovsxdq_zmm_k1z_ymmm256,
                    false => Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
                };
                self.asm.rr(code, to, ymm(B));
            }
            (&[Index { register, .. }], _) => {
                self.lanes_mask(Width::B32, part);
                self.gather_into(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, to, memory(register));
            }
            (halves, _) => {
                for ((half, index), half_to) in halves.iter().enumerate().zip([B, C]) {
                    self.lanes_mask(Width::B64, Part { half, ..part });
                    self.gather_into(Code::EVEX_Vpgatherqd_ymm_k1_vm64z, ymm(half_to), memory(index.register));
                }
                let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
                self.asm.push(Instruction::with4(insert, to, B, ymm(C), 1));
            }
        }
    }
    fn gather_into(&mut self, code: Code, to: Register, from: MemoryOperand) {
        self.asm.vector(Instruction::with2(code, to, from), Decorators::masked(K2));
    }
    /// Gathers elements of 1 or 2 bytes into 32-bit lanes: each lane loads the word around its element. Segments and shared
    /// memory are whole words. Uses B, C and D.
    fn gather_narrow(
        &mut self,
        indices: &[Index],
        element: Element,
        width: Width,
        offset: i64,
        part: Part,
        to: Register,
    ) -> EmitResult {
        let (words, places) = (self.frame.reserve(64, 64), self.frame.reserve(64, 64));
        let half_bytes = 2 * self.machine().lanes() as i64;
        for (half, &Index { register, wide, .. }) in indices.iter().enumerate() {
            let lane = if wide { Width::B64 } else { Width::B32 };
            let add = by(lane, Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64);
            let and = by(lane, Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64);
            let (offset, whole) = (self.broadcast_constant(offset as u64, lane), self.broadcast_constant(!3, lane));
            self.op3(add, B, register, offset, Decorators::default());
            self.op3(and, C, B, whole, Decorators::default());
            self.lanes_mask(lane, Part { half, ..part });
            let memory = MemoryOperand::with_base_index_scale_displ_size(RAX, C, 1, 0, 1);
            if wide {
                self.gather_into(Code::EVEX_Vpgatherqd_ymm_k1_vm64z, ymm(D), memory);
                self.asm.rr(Code::EVEX_Vpmovqd_ymmm256_k1z_zmm, ymm(B), B);
                for (to, from) in [(words, D), (places, B)] {
                    let to = at(FRAME, to + half as i64 * half_bytes);
                    self.asm.mr(Code::EVEX_Vmovups_ymmm256_k1z_ymm, to, ymm(from));
                }
            } else {
                self.gather_into(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, D, memory);
            }
        }
        if indices[0].wide {
            self.asm.rm(Code::EVEX_Vmovups_zmm_k1z_zmmm512, D, at(FRAME, words));
            self.asm.rm(Code::EVEX_Vmovups_zmm_k1z_zmmm512, B, at(FRAME, places));
        }
        self.shift(Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, B, B, 3);
        self.mask_lanes(B, B, 24);
        self.narrow_elements(to, D, B, element, width);
        Ok(())
    }

    /// Stores the active lanes of a part to addresses that have been checked. `from` is not A. Uses A, C, E, RCX, RDX and K2.
    pub(super) fn write_lanes(
        &mut self,
        from: Register,
        bytes: u32,
        address: Operand,
        offset: i64,
        part: Part,
    ) -> EmitResult {
        let width = if bytes == 8 { Width::B64 } else { Width::B32 };
        if self.machine() != Machine::Avx512 || bytes < 4 {
            let store = LaneAccess::Store(from, bytes);
            return self.each_lane(address, width, part, (offset, store), |emit, lanes, lane, to| {
                if let Some(lanes) = lanes {
                    emit.store_lane(lanes, lane, to);
                }
                Ok(())
            });
        }
        let places = self.places_of(address);
        let indices = self.indices(places, width, part, false)?;
        let memory =
            |register| MemoryOperand::with_base_index_scale_displ_size(RAX, register, places.scale(), offset, 1);
        let (lane, halves) = if indices.len() == 2 { (Width::B64, 2) } else { (width, 1) };
        for (half, &Index { register, wide, .. }) in indices.iter().enumerate() {
            let place = if halves == 2 { Part { half, ..part } } else { part };
            self.lanes_mask(lane, place);
            let (code, index, value) = match (wide, bytes) {
                (true, 8) => (Code::EVEX_Vpscatterqq_vm64z_k1_zmm, register, from),
                (true, _) => (Code::EVEX_Vpscatterqd_vm64z_k1_ymm, register, ymm(if half == 0 { from } else { C })),
                (false, 8) => (Code::EVEX_Vpscatterdq_vm32y_k1_zmm, ymm(register), from),
                (false, _) => (Code::EVEX_Vpscatterdd_vm32z_k1_zmm, register, from),
            };
            if half == 1 {
                let upper = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                self.asm.push(Instruction::with3(upper, ymm(C), from, 1));
            }
            self.asm.vector(Instruction::with2(code, memory(index), value), Decorators::masked(K2));
        }
        Ok(())
    }
}

/// What says where lanes access memory: their addresses, or indices.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) of: Operand,
    pub(super) width: Width,
    indexed: Option<IndexedAddress>,
}

impl Places {
    /// What it is multiplied by.
    pub(super) fn scale(&self) -> u32 {
        self.indexed.map_or(1, |indexed| indexed.factor)
    }
}

/// A vector of addresses or indices, of 64 bits or of 32.
#[derive(Clone, Copy)]
pub(super) struct Index {
    pub(super) register: Register,
    pub(super) wide: bool,
    scale: u32,
}
