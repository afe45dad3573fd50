//! What the lanes of a warp tell each other: shuffles whose sources are known before the launch, votes. All lanes of a warp
//! take part, or none: the interpreter runs the others.

use super::super::asm::{Decorators, at};
use super::{A, B, C, D, DeoptReason, EmitError, EmitResult, Emitter, FRAME, Part, Source};
use crate::kernel::Machine;
use crate::native::alloc::Allocation;
use crate::native::shape::VectorShape;
use crate::native::warp_lanes::WARP;
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{Operand, Reg, ShuffleMode, VoteMode, Width};
use std::collections::{BTreeMap, BTreeSet};

const RAX: Register = Register::RAX;
const EAX: Register = Register::EAX;
const RCX: Register = Register::RCX;
const K2: Register = Register::K2;

impl Emitter<'_> {
    /// The lanes of warps wait for each other: here they are together, or they are not compiled.
    pub(super) fn whole_warps(&mut self, mask: Option<Operand>) -> EmitResult {
        let all = |operand: Operand| self.shapes.shape(operand) == VectorShape::Constant(u32::MAX.into());
        if !mask.is_none_or(all) || !self.shapes.lanes.is_multiple_of(WARP) {
            return Err(EmitError::Unsupported);
        }
        if let Some(active) = self.active_mask {
            for warp in 0..self.shapes.lanes / WARP {
                self.asm.rm(Code::Mov_r32_rm32, EAX, at(FRAME, active + 4 * warp as i64));
                self.asm.ri(Code::Add_rm32_imm32, EAX, 1);
                self.asm.ri(Code::Cmp_rm32_imm32, EAX, 1);
                self.side_exit(Code::Ja_rel32_64, DeoptReason::Other, 0);
            }
        }
        Ok(())
    }

    pub(super) fn shuffle(
        &mut self,
        d: Reg,
        p: Option<Reg>,
        mode: ShuffleMode,
        [a, b, c]: [Operand; 3],
        mask: Option<Operand>,
    ) -> EmitResult {
        let Some(sources) = self.shapes.sources((mode, b, c)) else { return Err(EmitError::Unsupported) };
        self.whole_warps(mask)?;
        let lanes = self.machine().lanes();
        let mut values = None;
        let parts = self.parts(d);
        for of_warp in parts.chunk_by(|one, next| one.vector / (WARP / lanes) == next.vector / (WARP / lanes)) {
            let lane = |part: Part, lane: usize| {
                let first = part.vector - part.vector % (WARP / lanes);
                self.shapes.first_vector(a, first + lane / lanes) * lanes + lane % lanes
            };
            let made = of_warp.iter().map(|&part| {
                let sources = sources.chunks(lanes).nth(part.vector % (WARP / lanes)).unwrap_or_default();
                Made { part, lanes: sources.iter().map(|&(source, _)| lane(part, source)).collect() }
            });
            let made: Vec<Made> = made.collect();
            if self.machine() == Machine::Avx512 {
                self.permuted_pair(d, a, &made)?;
            } else if self.machine() == Machine::Avx2 && self.can_permute_in_place(d, a, &made) {
                self.permuted_in_place(d, a, &made)?;
            } else {
                let values = *values.get_or_insert_with(|| self.frame.reserve(4 * WARP, 64));
                self.permuted_by_memory(d, a, values, &made)?;
            }
        }
        let Some(p) = p.filter(|p| self.reads[p.0 as usize]) else { return Ok(()) };
        let Allocation::Mask(to) = self.allocations[p.0 as usize] else { return Err(EmitError::Unsupported) };
        let bits = sources.iter().rev().fold(0u64, |bits, &(_, in_range)| bits << 1 | u64::from(in_range));
        for word in 0..self.mask_words() {
            self.asm.constant(RAX, bits | bits << WARP);
            self.set_mask_word(p, to, word);
        }
        Ok(())
    }
    /// A vector of what lanes give each other: it waits for the pipeline's last steps as theirs do.
    fn given(&mut self, d: Reg, a: Operand, vector: usize, scratch: Register) -> EmitResult<Register> {
        let part = Part { vector, half: 0 };
        if self.deferred.eager.contains(&d) {
            return self.canonicalised(a, Width::B32, part, scratch);
        }
        self.register(a, Width::B32, part, scratch)
    }
    /// A warp's values where two vectors hold them. Uses A to D.
    fn permuted_pair(&mut self, d: Reg, a: Operand, made: &[Made]) -> EmitResult {
        let mut loaded = BTreeMap::new();
        for vector in vectors_of(made) {
            let scratch = if loaded.is_empty() { A } else { B };
            loaded.insert(vector, self.given(d, a, vector, scratch)?);
        }
        // All before the first is written back: it may be in the place of one that the second is made of.
        let mut results = Vec::new();
        for (one, scratch) in made.iter().zip([D, C]) {
            let vectors = vectors_of(std::slice::from_ref(one));
            let from: Vec<Register> = vectors.iter().map(|vector| loaded[vector]).collect();
            if one.is_in_order() {
                match vectors[0] == one.part.vector {
                    true => results.push(from[0]),
                    false => {
                        self.copy_vector(scratch, from[0]);
                        results.push(scratch);
                    }
                }
                continue;
            }
            // The second vector's places have the fifth bit, which counts where there are two alone.
            let place = |&lane: &usize| (lane % 16 + if lane / 16 == vectors[0] { 0 } else { 16 }) as u32;
            let places = self.frame.constant(one.lanes.iter().flat_map(|lane| place(lane).to_le_bytes()).collect());
            self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, scratch, at(FRAME, places));
            match from[..] {
                [only] => {
                    let code = Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32;
                    self.op3(code, scratch, scratch, Source::Register(only), Decorators::default());
                }
                _ => {
                    let code = Code::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32;
                    self.op3(code, scratch, from[0], Source::Register(from[1]), Decorators::default());
                }
            }
            results.push(scratch);
        }
        for (one, result) in made.iter().zip(results) {
            self.write_back(d, one.part, result);
        }
        Ok(())
    }
    /// Whether each vector of the result is made of two at most, none of which is written before.
    fn can_permute_in_place(&self, d: Reg, a: Operand, made: &[Made]) -> bool {
        let of = |vector: usize| match a {
            Operand::Reg(a) => self.location(a, Part { vector, half: 0 }),
            Operand::Imm(_) => None,
        };
        let mut written = Vec::new();
        made.iter().all(|one| {
            let from = vectors_of(std::slice::from_ref(one));
            let is_free = from.len() <= 2 && from.iter().all(|&from| of(from).is_none_or(|at| !written.contains(&at)));
            written.extend(self.location(d, one.part));
            is_free
        })
    }
    /// A warp's values from where they are. Uses A to D.
    fn permuted_in_place(&mut self, d: Reg, a: Operand, made: &[Made]) -> EmitResult {
        for one in made {
            let from = vectors_of(std::slice::from_ref(one));
            let first = self.given(d, a, from[0], A)?;
            if one.is_in_order() {
                self.write_back(d, one.part, first);
                continue;
            }
            let other = from.get(1).map_or(Ok(first), |&other| self.given(d, a, other, B))?;
            let of_other = from.get(1).map_or(0, |&other| one.lanes_of(other));
            let to = self.target(d, one.part, D);
            let places = self.frame.constant(one.places());
            self.asm.pick(to, [first, other], at(FRAME, places), (of_other, 0xff));
            self.write_back(d, one.part, to);
        }
        Ok(())
    }
    /// The same by way of a place in the frame.
    fn permuted_by_memory(&mut self, d: Reg, a: Operand, values: i64, made: &[Made]) -> EmitResult {
        let (lanes, vectors) = (self.machine().lanes(), vectors_of(made));
        let place = |place: usize| values + (4 * lanes * place) as i64;
        for (index, &vector) in vectors.iter().enumerate() {
            let x = self.given(d, a, vector, A)?;
            self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, place(index)), x);
        }
        for one in made {
            let to = self.target(d, one.part, D);
            let from = vectors.iter().enumerate().map(|(index, &vector)| (place(index), one.lanes_of(vector)));
            self.permuted(to, one, from.filter(|&(_, lanes)| lanes != 0).collect());
            self.write_back(d, one.part, to);
        }
        Ok(())
    }
    /// A vector of lanes from vectors in the frame. Uses C and K2.
    fn permuted(&mut self, to: Register, one: &Made, from: Vec<(i64, u32)>) {
        if one.is_in_order() {
            return self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, at(FRAME, from[0].0));
        }
        let places = self.frame.constant(one.places());
        for (index, (vector, lanes)) in from.into_iter().enumerate() {
            self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, C, at(FRAME, places));
            let decorators = if index == 0 {
                Decorators::default()
            } else {
                let here = self.frame.constant(u64::from(lanes).to_le_bytes().to_vec());
                self.load_mask(here, Width::B32, Part { vector: 0, half: 0 }, K2);
                Decorators::masked(K2)
            };
            let code = Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32;
            self.op3(code, to, C, Source::Frame(vector), decorators);
        }
    }

    pub(super) fn vote(&mut self, d: Reg, mode: VoteMode, a: Operand, mask: Option<Operand>) -> EmitResult {
        self.whole_warps(mask)?;
        let votes = self.votes(a)?;
        if mode == VoteMode::Ballot {
            let of_warp = WARP / self.machine().lanes();
            for part in self.parts(d) {
                let to = self.target(d, part, D);
                let from = at(FRAME, votes + 4 * (part.vector / of_warp) as i64);
                self.asm.rm(Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, to, from);
                self.write_back(d, part, to);
            }
            return Ok(());
        }
        let Allocation::Mask(to) = self.allocations[d.0 as usize] else { return Err(EmitError::Unsupported) };
        for word in 0..self.mask_words() {
            // Each warp's 32 votes as all ones or zero, in RAX.
            for (warp, into) in [(1, RAX), (0, RCX)] {
                self.asm.rm(Code::Mov_r32_rm32, super::low(into), at(FRAME, votes + 8 * word + 4 * warp));
                self.outcome(mode, into);
            }
            self.asm.push(Instruction::with2(Code::Shl_rm64_imm8, RAX, 32u32));
            self.asm.rr(Code::Or_r64_rm64, RAX, RCX);
            self.set_mask_word(d, to, word);
        }
        Ok(())
    }
    /// The votes as a mask in the frame.
    fn votes(&mut self, a: Operand) -> EmitResult<i64> {
        if let Operand::Reg(reg) = a
            && let Allocation::Mask(votes) = self.allocations[reg.0 as usize]
        {
            return Ok(votes);
        }
        let votes = self.frame.reserve(8 * self.mask_words() as usize, 8);
        for word in 0..self.mask_words() {
            self.mask_word(a, word, RAX)?;
            self.asm.mr(Code::Mov_rm64_r64, at(FRAME, votes + 8 * word), RAX);
        }
        Ok(votes)
    }
    /// 32 votes, zero-extended, become 32 ones or zero.
    fn outcome(&mut self, mode: VoteMode, votes: Register) {
        let votes = super::low(votes);
        match mode {
            VoteMode::All => {
                // With the carry only where there are 32: then it is subtracted from 0.
                self.asm.ri(Code::Add_rm32_imm32, votes, 1);
                self.asm.rr(Code::Sbb_r32_rm32, votes, votes);
            }
            VoteMode::Any => {
                self.asm.push(Instruction::with1(Code::Neg_rm32, votes));
                self.asm.rr(Code::Sbb_r32_rm32, votes, votes);
            }
            _ => {
                // Uniform: none and all become 0 and 1, which are less than 2.
                self.asm.ri(Code::Add_rm32_imm32, votes, 1);
                self.asm.ri(Code::Cmp_rm32_imm32, votes, 2);
                self.asm.rr(Code::Sbb_r32_rm32, votes, votes);
            }
        }
    }
}

/// A vector of what a shuffle gives, and the lanes of the tile that its lanes are.
struct Made {
    part: Part,
    lanes: Vec<usize>,
}

/// The vectors that have the lanes of these.
fn vectors_of(made: &[Made]) -> Vec<usize> {
    let vectors: BTreeSet<usize> =
        made.iter().flat_map(|one| one.lanes.iter().map(|lane| lane / one.lanes.len())).collect();
    vectors.into_iter().collect()
}

impl Made {
    /// The lanes that one of the vectors has, as bits.
    fn lanes_of(&self, vector: usize) -> u32 {
        let count = self.lanes.len();
        self.lanes.iter().rev().fold(0, |bits, &lane| bits << 1 | u32::from(lane / count == vector))
    }
    /// Where in its vector each lane is.
    fn places(&self) -> Vec<u8> {
        self.lanes.iter().flat_map(|&lane| ((lane % self.lanes.len()) as u32).to_le_bytes()).collect()
    }
    /// Whether it is one of the vectors as it is.
    fn is_in_order(&self) -> bool {
        self.lanes.iter().enumerate().all(|(place, &lane)| lane == self.lanes[0] + place)
            && self.lanes[0].is_multiple_of(self.lanes.len())
    }
}
