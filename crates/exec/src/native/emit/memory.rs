//! Loads and stores. Every access is checked against its segment before it is made.

use super::super::asm::{Decorators, at};
use super::super::frame::{Access, AccessSite, record};
use super::lanes::Element;
use super::{A, B, D, E, EmitError, EmitResult, Emitter, FRAME, Part, Source, TILE, by, low, ymm};
use crate::kernel::{DecodedInst, Machine};
use crate::native::alloc::Allocation;
use crate::native::region::ProgramPoint;
use crate::native::shape::VectorShape;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{Op, Operand, Reg, Space, Width};

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const EDX: Register = Register::EDX;
const K2: Register = Register::K2;

/// How the elements of a vector are spread in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AccessPattern {
    /// All lanes read one element.
    Broadcast,
    /// Consecutive elements.
    Contiguous,
    /// Any others: a gather or a scatter.
    Gather,
}

/// A load of which each part is loaded where it is used.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PartLoad {
    pub(super) address: Operand,
    pub(super) offset: i64,
    pub(super) bytes: u32,
    /// The lanes that are loaded, where others may be out of bounds.
    pub(super) mask: Option<i64>,
}

impl Emitter<'_> {
    /// Lanes of a part.
    pub(super) fn lanes_of(&self, width: Width) -> usize {
        if width == Width::B64 { self.machine().lanes() / 2 } else { self.machine().lanes() }
    }
    /// The first lane of a part, in its tile.
    pub(super) fn first_lane_of(&self, width: Width, part: Part) -> usize {
        let half = if width == Width::B64 { part.half * self.lanes_of(width) } else { 0 };
        part.vector * self.machine().lanes() + half
    }

    /// The access pattern of a part, the offset of its first element from the address's number, and the elements' offsets
    /// from the first.
    fn access_pattern(&self, address: Operand, width: Width, bytes: u32, part: Part) -> (AccessPattern, i64, Vec<i64>) {
        let pattern = self.shapes.pattern(self.pattern_of(address));
        let start = self.first_lane_of(width, part);
        let lanes = &pattern[start..start + self.lanes_of(width)];
        let offsets: Vec<i64> = lanes.iter().map(|number| number - lanes[0]).collect();
        let access = if offsets.iter().all(|&offset| offset == 0) {
            AccessPattern::Broadcast
        } else if offsets.iter().enumerate().all(|(lane, &offset)| offset == lane as i64 * i64::from(bytes)) {
            AccessPattern::Contiguous
        } else {
            AccessPattern::Gather
        };
        (access, lanes[0], offsets)
    }

    /// What an address has more than the tile's number, where that is the same in all lanes.
    fn one_place(&self, address: Operand) -> Option<i64> {
        let (&first, rest) = self.shapes.pattern(self.pattern_of(address)).split_first()?;
        rest.iter().all(|&number| number == first).then_some(first)
    }

    pub(super) fn read(
        &mut self,
        d: &[Option<Reg>],
        space: Space,
        (bytes, signed): (u32, bool),
        address: Operand,
        offset: i64,
    ) -> EmitResult {
        if space == Space::Param {
            let known = d.iter().flatten().all(|&d| self.is_constant(d));
            if known {
                return Ok(());
            }
            // A parameter in a register that has other definitions too.
            let VectorShape::Constant(at) = self.shapes.shape(address) else { return Err(EmitError::Unsupported) };
            for (index, &d) in d.iter().enumerate() {
                let Some(d) = d else { continue };
                let from = at.wrapping_add(offset as u64).wrapping_add(index as u64 * u64::from(bytes));
                let value = self.launch.param(from, bytes, signed).ok_or(EmitError::Unsupported)?;
                self.asm.constant(RAX, value & self.width(d).mask());
                self.define(d, RAX, 0)?;
            }
            return Ok(());
        }
        if self.is_scattered(address, space) {
            self.check_lanes(Access::Load, space, (bytes, d.len()), address, offset)?;
            return self.read_lanes(d, Element { bytes, signed }, address, offset);
        }
        self.check(Access::Load, space, bytes, d.len(), address, offset)?;
        if self.read_kept(d, space, bytes, address, offset)? {
            return Ok(());
        }
        let is_single = |&d: &Reg| self.width(d) == Width::B32 && !self.is_general(d) && !self.is_constant(d);
        if d.iter().flatten().all(is_single) {
            if self.is_interleaved(address, bytes, d.len()) {
                self.read_interleaved(d, address, offset);
                return Ok(());
            }
            if self.machine() == Machine::Avx2 && (bytes, d.len()) == (4, 2) {
                return self.read_pairs(d, address, offset);
            }
        }
        for (index, &d) in d.iter().enumerate() {
            let Some(d) = d else { continue };
            let offset = offset + index as i64 * i64::from(bytes);
            let width = self.width(d);
            if width == Width::Pred {
                return Err(EmitError::Unsupported);
            }
            let load = PartLoad { address, offset, bytes, mask: self.lanes_checked_alone() };
            if self.allocations[d.0 as usize] == Allocation::Folded {
                self.folded = Some(load);
                continue;
            }
            if self.is_general(d) {
                self.load_scalar(RCX, at(RAX, offset), width, bytes, signed)?;
                self.define(d, RCX, 0)?;
                continue;
            }
            if self.is_constant(d) || width.bits() != bytes * 8 && width == Width::B64 {
                return Err(EmitError::Unsupported);
            }
            for part in self.parts(d) {
                let to = self.target(d, part, D);
                let (access, first, offsets) = self.access_pattern(address, width, bytes, part);
                let from = at(RAX, offset + first);
                if bytes < 4 {
                    self.read_narrow((access, from, &offsets), Element { bytes, signed }, width, to)?;
                    self.write_back(d, part, to);
                    continue;
                }
                self.load_part(to, load, width, part)?;
                self.write_back(d, part, to);
            }
        }
        Ok(())
    }
    /// A part of a load whose lanes lie side by side.
    pub(super) fn contiguous_part(&self, load: PartLoad, width: Width, part: Part) -> Option<MemoryOperand> {
        let PartLoad { address, offset, bytes, mask } = load;
        let (access, first, _) = self.access_pattern(address, width, bytes, part);
        (access == AccessPattern::Contiguous && mask.is_none()).then(|| at(RAX, offset + first))
    }
    /// Loads a part of elements of 4 or 8 bytes, from the host address in RAX. Uses E, K1 and K2.
    pub(super) fn load_part(&mut self, to: Register, load: PartLoad, width: Width, part: Part) -> EmitResult {
        let PartLoad { address, offset, bytes, mask } = load;
        let (access, first, offsets) = self.access_pattern(address, width, bytes, part);
        let from = at(RAX, offset + first);
        match access {
            AccessPattern::Broadcast => {
                let code = by(width, Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64);
                self.asm.rm(code, to, from);
            }
            AccessPattern::Contiguous => {
                let code = by(width, Code::EVEX_Vmovups_zmm_k1z_zmmm512, Code::EVEX_Vmovupd_zmm_k1z_zmmm512);
                let decorators = mask.map_or_else(Decorators::default, |mask| {
                    self.load_mask(mask, width, part, Register::K1);
                    Decorators::zeroing(Register::K1)
                });
                self.asm.vector(Instruction::with2(code, to, from), decorators);
            }
            AccessPattern::Gather => {
                if bytes == 4
                    && width == Width::B32
                    && let Some(window) = self.window(address, part)
                {
                    self.read_window(to, &window, offset);
                    return Ok(());
                }
                let (memory, mask) = self.gather_operand(&offsets, width, offset + first)?;
                let code = by(width, Code::EVEX_Vpgatherdd_zmm_k1_vm32z, Code::EVEX_Vpgatherdq_zmm_k1_vm32y);
                self.asm.vector(Instruction::with2(code, to, memory), Decorators::masked(mask));
            }
        }
        Ok(())
    }

    /// Loads elements of one or two bytes into 32-bit lanes. Uses RCX, RDX, A, E, K2.
    fn read_narrow(
        &mut self,
        (access, from, offsets): (AccessPattern, MemoryOperand, &[i64]),
        element: Element,
        width: Width,
        to: Register,
    ) -> EmitResult {
        let Element { bytes, signed } = element;
        match access {
            AccessPattern::Broadcast => {
                self.load_scalar(RCX, from, width, bytes, signed)?;
                self.broadcast(RCX, width, to);
            }
            AccessPattern::Contiguous => {
                let code = match (bytes, signed) {
                    (1, false) => Code::EVEX_Vpmovzxbd_zmm_k1z_xmmm128,
                    (1, true) => Code::EVEX_Vpmovsxbd_zmm_k1z_xmmm128,
                    (_, false) => Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
                    (_, true) => Code::EVEX_Vpmovsxwd_zmm_k1z_ymmm256,
                };
                self.asm.rm(code, to, from);
                if signed && width == Width::B16 {
                    self.mask_lanes(to, to, 0xffff);
                }
            }
            AccessPattern::Gather => {
                // Segments and shared memory are whole words: each lane loads the word around its element.
                self.asm.rm(Code::Lea_r64_m, RCX, from);
                self.asm.rr(Code::Mov_r32_rm32, EDX, low(RCX));
                self.asm.ri(Code::And_rm32_imm32, EDX, 3);
                self.asm.ri(Code::And_rm64_imm32, RCX, -4);
                let offsets = self.lane_offsets(offsets)?;
                self.broadcast(Register::RDX, Width::B32, E);
                self.op3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, E, E, Source::Frame(offsets), Decorators::default());
                self.mask_lanes(A, E, 0xffff_fffc);
                self.shift(Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, E, E, 3);
                self.mask_lanes(E, E, 24);
                self.asm.push(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, K2, K2, K2));
                let memory = MemoryOperand::with_base_index_scale_displ_size(RCX, A, 1, 0, 1);
                let gather = Instruction::with2(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, to, memory);
                self.asm.vector(gather, Decorators::masked(K2));
                self.narrow_elements(to, to, E, element, width);
            }
        }
        Ok(())
    }
    /// Elements of one or two bytes, from the words around them and how far up in these they are.
    pub(super) fn narrow_elements(
        &mut self,
        to: Register,
        words: Register,
        up: Register,
        element: Element,
        width: Width,
    ) {
        let (shift, count) = (Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32, 32 - 8 * element.bytes);
        self.op3(shift, to, words, Source::Register(up), Decorators::default());
        if element.signed {
            self.sign_extend_lanes(to, to, count);
        }
        if !element.signed || width == Width::B16 {
            let bits = if element.signed { 16 } else { 8 * element.bytes };
            self.mask_lanes(to, to, u64::from(u32::MAX >> (32 - bits)));
        }
    }

    /// Offsets of a vector's lanes, in the frame.
    fn lane_offsets(&mut self, offsets: &[i64]) -> EmitResult<i64> {
        let mut bytes = Vec::with_capacity(64);
        for &offset in offsets {
            bytes.extend(i32::try_from(offset).map_err(|_| EmitError::Unsupported)?.to_le_bytes());
        }
        bytes.resize(64, 0);
        Ok(self.frame.constant(bytes))
    }
    /// The memory operand of a gather or scatter at these offsets, and a mask of all lanes.
    fn gather_operand(&mut self, offsets: &[i64], width: Width, offset: i64) -> EmitResult<(MemoryOperand, Register)> {
        let numbers = self.lane_offsets(offsets)?;
        self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, E, at(FRAME, numbers));
        self.asm.push(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, K2, K2, K2));
        let index = if width == Width::B64 { ymm(E) } else { E };
        Ok((MemoryOperand::with_base_index_scale_displ_size(RAX, index, 1, offset, 1), K2))
    }

    fn load_scalar(&mut self, to: Register, from: MemoryOperand, width: Width, bytes: u32, signed: bool) -> EmitResult {
        let wide = width == Width::B64;
        let (code, register) = match (bytes, signed) {
            (8, _) => (Code::Mov_r64_rm64, to),
            (4, true) if wide => (Code::Movsxd_r64_rm32, to),
            (4, _) => (Code::Mov_r32_rm32, low(to)),
            (2, true) if wide => (Code::Movsx_r64_rm16, to),
            (2, true) => (Code::Movsx_r32_rm16, low(to)),
            (2, false) => (Code::Movzx_r32_rm16, low(to)),
            (1, true) if wide => (Code::Movsx_r64_rm8, to),
            (1, true) => (Code::Movsx_r32_rm8, low(to)),
            (1, false) => (Code::Movzx_r32_rm8, low(to)),
            _ => return Err(EmitError::Unsupported),
        };
        self.asm.rm(code, register, from);
        if signed && width == Width::B16 {
            self.asm.rr(Code::Movzx_r32_rm16, low(to), word(to));
        }
        Ok(())
    }

    /// Checks a store, or an atomic, before any store of the node is executed.
    pub(super) fn check_store(&mut self, inst: &DecodedInst<'_>) -> EmitResult {
        let Op::Store { values, width, space, bytes, address, offset } = inst.op else {
            return self.check_atomic(inst);
        };
        let fits = width.bits() == bytes * 8 || *bytes < 4 && matches!(width, Width::B16 | Width::B32);
        if !fits {
            return Err(EmitError::Unsupported);
        }
        values.iter().try_for_each(|&value| self.exit_on_stored_nans(value))?;
        let ones = u64::MAX >> (64 - bytes * 8);
        let is_ones = |value: &Operand| matches!(value, Operand::Imm(bits) if bits & ones == ones);
        let access = if values.iter().all(is_ones) { Access::StoreOnes } else { Access::Store };
        if self.is_scattered(*address, *space) {
            return self.check_lanes(access, *space, (*bytes, values.len()), *address, *offset);
        }
        self.check(access, *space, *bytes, values.len(), *address, *offset)
    }

    /// A store, or an atomic, that has been checked.
    pub(super) fn store(&mut self, inst: &DecodedInst<'_>) -> EmitResult {
        let Op::Store { values, width, space, bytes, address, offset } = inst.op else {
            return self.atomic(inst);
        };
        self.settle_nans(values.iter().filter_map(|value| match value {
            Operand::Reg(reg) => Some(*reg),
            Operand::Imm(_) => None,
        }));
        let scattered = self.is_scattered(*address, *space);
        match scattered {
            true => self.load_distance(*address)?,
            false => self.load_host_address(*address)?,
        }
        if !scattered && self.active_mask.is_none() && self.is_interleaved(*address, *bytes, values.len()) {
            return self.write_interleaved(values, *address, *offset);
        }
        let one_place = (!scattered && self.machine() != Machine::Neon).then(|| self.one_place(*address)).flatten();
        for (index, &value) in values.iter().enumerate() {
            let offset = offset + index as i64 * i64::from(*bytes);
            if let Some(place) = one_place {
                self.write_last((value, *width, *bytes), offset + place)?;
                continue;
            }
            for part in self.parts_that_run(*width) {
                if scattered {
                    let from = self.canonicalised(value, *width, part, B)?;
                    self.write_lanes(from, *bytes, *address, offset, part)?;
                    continue;
                }
                let from = self.canonicalised(value, *width, part, A)?;
                let (access, first, offsets) = self.access_pattern(*address, *width, *bytes, part);
                // Only AVX-512 has masked stores of 1 or 2 bytes, and scatters, which take longer than a few stores.
                let (has_scatters, is_narrow) = (self.machine() == Machine::Avx512, *bytes < 4);
                let scatters = has_scatters && !is_narrow && self.lanes_that_run(*width, part).len() > 4;
                let by_lane = !has_scatters && is_narrow && self.active_mask.is_some();
                // A block's own memory: no other thread writes what lies between.
                let is_own = *space == Space::Shared && *bytes == 4 && self.active_mask.is_none();
                if is_own
                    && access == AccessPattern::Gather
                    && let Some(window) = self.window(*address, part)
                    && self.write_window(from, &window, offset)
                {
                    continue;
                }
                if access == AccessPattern::Contiguous && !by_lane {
                    self.write(at(RAX, offset + first), from, *bytes, part);
                } else if !scatters {
                    self.write_each(offset + first, &offsets, from, *bytes, part);
                } else {
                    let (memory, all) = self.gather_operand(&offsets, *width, offset + first)?;
                    if let Some(mask) = self.active_mask {
                        self.load_mask(mask, *width, part, all);
                    }
                    let code = by(*width, Code::EVEX_Vpscatterdd_vm32z_k1_zmm, Code::EVEX_Vpscatterdq_vm32y_k1_zmm);
                    self.asm.vector(Instruction::with2(code, memory, from), Decorators::masked(all));
                }
            }
        }
        Ok(())
    }

    /// Stores the active lanes of a part to consecutive elements of so many bytes. With AVX2 elements of 2 bytes are
    /// stored in all lanes, the inactive ones as they were: nothing else may use them.
    pub(super) fn write(&mut self, to: MemoryOperand, from: Register, bytes: u32, part: Part) {
        let width = if bytes == 8 { Width::B64 } else { Width::B32 };
        let mask = self.active_mask.map(|mask| {
            self.load_mask(mask, width, part, Register::K1);
            Register::K1
        });
        if bytes == 2 && self.machine() == Machine::Avx2 && mask.is_some() {
            return self.asm.merge_halves(to, from);
        }
        let code = match bytes {
            1 => Code::EVEX_Vpmovdb_xmmm128_k1z_zmm,
            2 => Code::EVEX_Vpmovdw_ymmm256_k1z_zmm,
            4 => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
            _ => Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
        };
        self.asm.vector(Instruction::with2(code, to, from), Decorators { mask, ..Decorators::default() });
    }
    /// Stores elements for which there is no scatter lane by lane. Uses RCX.
    fn write_each(&mut self, first: i64, offsets: &[i64], from: Register, bytes: u32, part: Part) {
        let width = if bytes == 8 { Width::B64 } else { Width::B32 };
        let (start, that_run) = (self.first_lane_of(width, part), self.lanes_that_run(width, part));
        let lanes = self.lanes_to_store(from, bytes, &that_run);
        for lane in that_run {
            let next = self.skip_inactive(start + lane);
            self.store_lane(lanes, lane, at(RAX, first + offsets[lane]));
            if let Some(next) = next {
                self.asm.bind(next);
            }
        }
    }

    pub(super) fn address_width(&self, address: Operand) -> Width {
        match address {
            Operand::Reg(reg) => self.width(reg),
            Operand::Imm(_) => Width::B64,
        }
    }
    /// Sets RAX to the host address of the current store, which has been checked.
    pub(super) fn load_host_address(&mut self, address: Operand) -> EmitResult {
        self.load_host_address_of(self.point, address)
    }
    /// The same for an access that has been checked at this point, at the same address.
    pub(super) fn load_host_address_of(&mut self, point: ProgramPoint, address: Operand) -> EmitResult {
        let number = self.scalar(address, self.address_width(address), RCX)?;
        let Some(&site) = self.accesses.get(&point) else { return Err(EmitError::Unsupported) };
        self.set_host_address(site, Some(number));
        Ok(())
    }
    /// Sets RAX to the host address of a number in a general register, at a site that has been checked; without a number, to
    /// what the program's addresses are less than the host's.
    pub(super) fn set_host_address(&mut self, site: usize, number: Option<Register>) {
        if number.is_some_and(|number| self.asm.holds_host_address(site, number)) {
            return;
        }
        let (from, loaded) = match self.frame.sites[site] {
            AccessSite { space: Space::Shared, .. } => (at(TILE, 8 * record::SHARED as i64), None),
            AccessSite { cache, .. } => (at(FRAME, cache + 16), self.loaded_once(cache + 16)),
        };
        match (loaded, number) {
            (Some(distance), Some(number)) => {
                self.asm.rm(Code::Lea_r64_m, RAX, MemoryOperand::with_base_index(distance, number));
            }
            (Some(distance), None) => self.asm.rr(Code::Mov_r64_rm64, RAX, distance),
            (None, _) => self.asm.rm(Code::Mov_r64_rm64, RAX, from),
        }
        if let Some(number) = number {
            if loaded.is_none() {
                self.asm.rr(Code::Add_r64_rm64, RAX, number);
            }
            self.asm.hold_host_address(site, number);
        }
    }
    /// The register with a word of the frame, of those that change between calls alone: of those that loops read, while registers are left.
    fn loaded_once(&mut self, word: i64) -> Option<Register> {
        let known = self.loaded_at_entry.get(&word).copied();
        let register = known.or_else(|| self.in_loop.then(|| self.free.pop()).flatten())?;
        self.loaded_at_entry.insert(word, register);
        Some(register)
    }
}

/// The 16-bit name of a general register.
fn word(register: Register) -> Register {
    Register::AX + (register as u32 - Register::RAX as u32)
}
