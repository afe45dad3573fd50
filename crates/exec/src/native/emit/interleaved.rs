//! Loads and stores of elements of 32 bits by permutations of whole vectors: of two or four a lane, lane after lane in memory
//! (`ld.v2`, `st.v4`); and, faster than gathers and scatters, of one a lane in any order within two vectors.

use super::super::asm::{Decorators, at};
use super::memory::PartLoad;
use super::{A, B, C, D, E, EmitResult, Emitter, FRAME, Part, RAX, Source};
use crate::kernel::Machine;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{Operand, Reg, Width};

/// Two vectors side by side in memory, which have a part's elements.
pub(super) struct Window {
    /// The first vector's offset from the address's number.
    start: i64,
    /// Of each lane the number of its element.
    places: Vec<usize>,
}

impl Emitter<'_> {
    /// The window of a part's elements of 4 bytes, if it lies within what the tile's lanes access.
    pub(super) fn window(&self, address: Operand, part: Part) -> Option<Window> {
        if self.machine() == Machine::Neon {
            return None;
        }
        let pattern = self.shapes.pattern(self.pattern_of(address));
        let (lanes, bytes) = (self.vector_lanes(), 2 * self.vector_bytes());
        let end = pattern.iter().max()?.checked_add(4)?;
        let own = &pattern[part.vector * lanes..][..lanes];
        let start = *own.iter().min()?.min(&end.checked_sub(bytes)?);
        let is_within = |&at: &i64| at.checked_sub(start).is_some_and(|place| place < bytes && place % 4 == 0);
        let fits = pattern.iter().min()? <= &start && own.iter().all(is_within);
        fits.then(|| Window { start, places: own.iter().map(|at| ((at - start) / 4) as usize).collect() })
    }
    /// Loads it from the host address in RAX. Uses E.
    pub(super) fn read_window(&mut self, to: Register, window: &Window, offset: i64) {
        let from = [0, 1].map(|vector| at(RAX, offset + window.start + vector * self.vector_bytes()));
        let load = |emit: &mut Self, to, from| emit.asm.rm(Code::EVEX_Vmovups_zmm_k1z_zmmm512, to, from);
        load(self, to, from[0]);
        if self.machine() == Machine::Avx512 {
            let numbers = self.lane_numbers(|lane| window.places[lane]);
            self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, E, numbers);
            let permute = Code::EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32;
            self.asm.push(Instruction::with3(permute, to, E, from[1]));
            return;
        }
        load(self, E, from[1]);
        self.pick(to, [to, E], |lane| window.places[lane]);
    }
    /// Stores to it at the host address in RAX, which nothing else may use meanwhile: what lies between is written as it was.
    /// Uses E. None of this if two lanes have one element.
    pub(super) fn write_window(&mut self, from: Register, window: &Window, offset: i64) -> bool {
        let lanes = self.vector_lanes();
        let lane_at = |place: usize| window.places.iter().position(|&other| other == place);
        if (0..2 * lanes).filter_map(lane_at).count() < lanes {
            return false;
        }
        for vector in 0..2 {
            let to = at(RAX, offset + window.start + vector as i64 * self.vector_bytes());
            let of = |place: usize| lane_at(vector * lanes + place);
            let changed = (0..lanes).filter(|&place| of(place).is_some()).fold(0, |all, place| all | 1 << place);
            if changed == 0 {
                continue;
            }
            self.asm.rm(Code::EVEX_Vmovups_zmm_k1z_zmmm512, E, to);
            self.pick_lanes(E, [from, from], |place| of(place).unwrap_or(0), changed);
            self.asm.mr(Code::EVEX_Vmovups_zmmm512_k1z_zmm, to, E);
        }
        true
    }

    /// Whether the lanes' elements lie side by side, `count` of 4 bytes a lane, and nothing is masked.
    pub(super) fn is_interleaved(&self, address: Operand, bytes: u32, count: usize) -> bool {
        let pattern = self.shapes.pattern(self.pattern_of(address));
        let step = i64::from(bytes) * count as i64;
        matches!(count, 2 | 4)
            && bytes == 4
            && self.machine() != Machine::Neon
            && pattern.iter().enumerate().all(|(lane, &number)| number - pattern[0] == lane as i64 * step)
    }
    /// The offset of a part's elements from the address's number.
    fn start(&self, address: Operand, offset: i64, count: usize, vector: usize) -> i64 {
        let pattern = self.shapes.pattern(self.pattern_of(address));
        offset + pattern[0] + self.vector_bytes() * (count * vector) as i64
    }
    /// Lanes of a vector of 32-bit elements, and its bytes.
    fn vector_lanes(&self) -> usize {
        self.machine().lanes()
    }
    pub(super) fn vector_bytes(&self) -> i64 {
        4 * self.vector_lanes() as i64
    }
    /// `to` becomes elements of two vectors, by their numbers among both.
    fn pick(&mut self, to: Register, from: [Register; 2], places: impl Fn(usize) -> usize) {
        self.pick_lanes(to, from, places, (1 << self.vector_lanes()) - 1);
    }
    /// The same in the upper half of the lanes; the lower ones stay.
    fn pick_upper(&mut self, to: Register, from: [Register; 2], places: impl Fn(usize) -> usize) {
        let lanes = self.vector_lanes();
        self.pick_lanes(to, from, places, (1 << lanes) - (1 << (lanes / 2)));
    }
    /// The same in some lanes, a bit each; the others stay.
    fn pick_lanes(&mut self, to: Register, from: [Register; 2], places: impl Fn(usize) -> usize, changed: u32) {
        let lanes = self.vector_lanes();
        let numbers = self.lane_numbers(&places);
        if self.machine() == Machine::Avx2 {
            let second = (0..lanes).filter(|&lane| places(lane) >= lanes).fold(0, |all, lane| all | 1 << lane);
            return self.asm.pick(to, from, numbers, (second, changed));
        }
        let decorators = if changed + 1 < 1 << lanes {
            let mask = self.frame.constant(u64::from(changed).to_le_bytes().to_vec());
            self.load_mask(mask, Width::B32, Part { vector: 0, half: 0 }, Register::K2);
            Decorators::masked(Register::K2)
        } else {
            Decorators::default()
        };
        self.asm.vector(Instruction::with2(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, numbers), decorators);
        let code = Code::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32;
        self.op3(code, to, from[0], Source::Register(from[1]), decorators);
    }

    /// A number for each lane, in the frame.
    fn lane_numbers(&mut self, number: impl Fn(usize) -> usize) -> MemoryOperand {
        let mut bytes: Vec<u8> =
            (0..self.vector_lanes()).flat_map(|lane| (number(lane) as u32).to_le_bytes()).collect();
        bytes.resize(64, 0);
        at(FRAME, self.frame.constant(bytes))
    }

    /// With AVX2: A to D have the elements lane after lane, which become a vector of each.
    fn write_back_transposed(&mut self, d: &[Option<Reg>], part: Part) {
        for (&d, from) in d.iter().zip(self.asm.transpose([A, B, C, D, E], d.len(), false)) {
            if let Some(d) = d.filter(|&d| !self.parts(d).is_empty()) {
                self.write_back(d, part, from);
            }
        }
    }

    /// Loads a vector of each element from the host address in RAX. Uses A to E.
    pub(super) fn read_interleaved(&mut self, d: &[Option<Reg>], address: Operand, offset: i64) {
        let (count, lanes, bytes) = (d.len(), self.vector_lanes(), self.vector_bytes());
        for vector in 0..self.shapes.lanes / lanes {
            let (start, part) = (self.start(address, offset, count, vector), Part { vector, half: 0 });
            for (index, register) in [A, B, C, D].into_iter().enumerate().take(count) {
                let from = at(RAX, start + bytes * index as i64);
                self.asm.rm(Code::EVEX_Vmovups_zmm_k1z_zmmm512, register, from);
            }
            if self.machine() == Machine::Avx2 {
                self.write_back_transposed(d, part);
                continue;
            }
            for (index, &d) in d.iter().enumerate() {
                let Some(d) = d.filter(|&d| !self.parts(d).is_empty()) else { continue };
                // The lower lanes from the first vectors, the upper ones from the last.
                self.pick(E, [A, B], |lane| (lane * count + index) % (2 * lanes));
                if count == 2 {
                    self.write_back(d, part, E);
                    continue;
                }
                // In the upper lanes those of the last vectors.
                self.pick_upper(E, [C, D], |lane| (lane * count + index) % (2 * lanes));
                self.write_back(d, part, E);
            }
        }
    }

    /// Loads pairs of elements in any order from the host address in RAX, each pair as one of 8 bytes. Uses A to E and K2.
    pub(super) fn read_pairs(&mut self, d: &[Option<Reg>], address: Operand, offset: i64) -> EmitResult {
        for vector in 0..self.shapes.lanes / self.vector_lanes() {
            let part = Part { vector, half: 0 };
            self.load_pairs(PartLoad { address, offset, bytes: 4, mask: None }, part)?;
            self.write_back_transposed(d, part);
        }
        Ok(())
    }
    /// Loads a part of pairs as elements of 8 bytes into A and B.
    fn load_pairs(&mut self, load: PartLoad, Part { vector, .. }: Part) -> EmitResult {
        for (half, to) in [A, B].into_iter().enumerate() {
            self.load_part(to, PartLoad { bytes: 8, ..load }, Width::B64, Part { vector, half })?;
        }
        Ok(())
    }
    /// The same, and where a vector of each of their elements is then. Uses A to E and K2.
    pub(super) fn pairs(&mut self, load: PartLoad, part: Part) -> EmitResult<[Register; 4]> {
        self.load_pairs(load, part)?;
        Ok(self.asm.transpose([A, B, C, D, E], 2, false))
    }

    /// Stores a vector of each element to the host address in RAX, in all lanes. Uses A to E.
    pub(super) fn write_interleaved(&mut self, values: &[Operand], address: Operand, offset: i64) -> EmitResult {
        let (count, lanes, bytes) = (values.len(), self.vector_lanes(), self.vector_bytes());
        for vector in 0..self.shapes.lanes / lanes {
            let (start, part) = (self.start(address, offset, count, vector), Part { vector, half: 0 });
            for (&value, scratch) in values.iter().zip([A, B, C, D]) {
                let from = self.canonicalised(value, Width::B32, part, scratch)?;
                self.copy_vector(scratch, from);
            }
            // Lane by lane, an element of each of two vectors: the lower lanes' or the upper ones'.
            let pairs = |upper: usize| move |place: usize| place / 2 + lanes / 2 * upper + lanes * (place % 2);
            let store = |emit: &mut Self, index: i64, from| {
                emit.asm.mr(Code::EVEX_Vmovups_zmmm512_k1z_zmm, at(RAX, start + bytes * index), from);
            };
            if self.machine() == Machine::Avx2 {
                let vectors = self.asm.transpose([A, B, C, D, E], count, true);
                for (index, from) in (0..).zip(vectors).take(count) {
                    store(self, index, from);
                }
                continue;
            }
            if count == 2 {
                for upper in 0..2 {
                    self.pick(E, [A, B], pairs(upper));
                    store(self, upper as i64, E);
                }
                continue;
            }
            let low = self.frame.reserve(64, 64);
            self.pick(E, [A, B], pairs(0));
            self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, low), E);
            self.pick(E, [A, B], pairs(1));
            self.copy_vector(A, E);
            self.pick(E, [C, D], pairs(0));
            self.copy_vector(B, E);
            self.pick(E, [C, D], pairs(1));
            self.copy_vector(C, E);
            self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, D, at(FRAME, low));
            // Then two elements of each of two.
            for (half, from) in [[D, B], [A, C]].into_iter().enumerate() {
                for upper in 0..2 {
                    self.pick(E, from, |place| place / 4 * 2 + place % 2 + lanes / 2 * upper + lanes * (place / 2 % 2));
                    store(self, (2 * half + upper) as i64, E);
                }
            }
        }
        Ok(())
    }
}
