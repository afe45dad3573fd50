//! What the lanes of a warp tell each other: shuffles whose sources are known before the launch, votes. All lanes of a warp
//! take part, or none: the interpreter runs the others.

use super::super::asm::{Decorators, at};
use super::{A, B, C, D, DeoptReason, EmitError, EmitResult, Emitter, FRAME, Part, Source};
use crate::kernel::Machine;
use crate::native::alloc::Allocation;
use crate::native::shape::VectorShape;
use crate::scalar::shuffle_source;
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{Operand, Reg, ShuffleMode, VoteMode, Width};
use std::collections::BTreeSet;

const RAX: Register = Register::RAX;
const EAX: Register = Register::EAX;
const RCX: Register = Register::RCX;
const K2: Register = Register::K2;
const WARP: usize = 32;

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
        let (VectorShape::Constant(b), VectorShape::Constant(c)) = (self.shapes.shape(b), self.shapes.shape(c)) else {
            return Err(EmitError::Unsupported);
        };
        self.whole_warps(mask)?;
        let sources: Vec<(usize, bool)> =
            (0..WARP).map(|lane| shuffle_source(mode, lane, b as u32, c as u32)).collect();
        let warps = 0..self.shapes.lanes / WARP;
        let mut values = None;
        for warp in warps {
            if self.machine() == Machine::Avx512 {
                self.permuted_pair(d, a, warp, &sources)?;
            } else if self.machine() == Machine::Avx2 && self.can_permute_in_place(d, a, warp, &sources) {
                self.permuted_in_place(d, a, warp, &sources)?;
            } else {
                let values = *values.get_or_insert_with(|| self.frame.reserve(4 * WARP, 64));
                self.permuted_by_memory(d, a, (warp, values), &sources)?;
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
    fn given(&mut self, d: Reg, a: Operand, part: Part, scratch: Register) -> EmitResult<Register> {
        if self.deferred.eager.contains(&d) {
            return self.canonicalised(a, Width::B32, part, scratch);
        }
        self.register(a, Width::B32, part, scratch)
    }
    /// A warp's values where two vectors hold them. Uses A to D.
    fn permuted_pair(&mut self, d: Reg, a: Operand, warp: usize, sources: &[(usize, bool)]) -> EmitResult {
        let part = |vector: usize| Part { vector: 2 * warp + vector, half: 0 };
        let from = [self.given(d, a, part(0), A)?, self.given(d, a, part(1), B)?];
        // Both before the first is written back: it may be in the place of one that the second is made of.
        let mut results = [D, C];
        for (vector, result) in results.iter_mut().enumerate() {
            let sources = &sources[16 * vector..][..16];
            let is_own = sources.iter().enumerate().all(|(lane, &(source, _))| source == 16 * vector + lane);
            if is_own {
                *result = from[vector];
                continue;
            }
            let places = sources.iter().flat_map(|&(source, _)| (source as u32).to_le_bytes()).collect();
            let places = self.frame.constant(places);
            self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, *result, at(FRAME, places));
            let only = sources[0].0 / 16;
            // The places' fifth bits count in the second instruction alone.
            if sources.iter().all(|&(source, _)| source / 16 == only) {
                let code = Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32;
                self.op3(code, *result, *result, Source::Register(from[only]), Decorators::default());
            } else {
                let code = Code::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32;
                self.op3(code, *result, from[0], Source::Register(from[1]), Decorators::default());
            }
        }
        for (vector, result) in results.into_iter().enumerate() {
            self.write_back(d, part(vector), result);
        }
        Ok(())
    }
    /// Whether each vector of the result is made of two at most, none of which is written before.
    fn can_permute_in_place(&self, d: Reg, a: Operand, warp: usize, sources: &[(usize, bool)]) -> bool {
        let lanes = self.machine().lanes();
        let part = |vector: usize| Part { vector: warp * (WARP / lanes) + vector, half: 0 };
        let of = |vector: usize| match a {
            Operand::Reg(a) => self.location(a, part(vector)),
            Operand::Imm(_) => None,
        };
        let mut written = Vec::new();
        sources.chunks(lanes).enumerate().all(|(vector, sources)| {
            let from = vectors_of(sources);
            let is_free = from.len() <= 2 && from.iter().all(|&from| of(from).is_none_or(|at| !written.contains(&at)));
            written.extend(self.location(d, part(vector)));
            is_free
        })
    }
    /// A warp's values from where they are. Uses A to D.
    fn permuted_in_place(&mut self, d: Reg, a: Operand, warp: usize, sources: &[(usize, bool)]) -> EmitResult {
        let lanes = self.machine().lanes();
        let part = |vector: usize| Part { vector: warp * (WARP / lanes) + vector, half: 0 };
        for (vector, sources) in sources.chunks(lanes).enumerate() {
            let from = vectors_of(sources);
            let one = self.given(d, a, part(from[0]), A)?;
            if from.len() == 1 && is_in_order(sources) {
                self.write_back(d, part(vector), one);
                continue;
            }
            let other = from.get(1).map_or(Ok(one), |&other| self.given(d, a, part(other), B))?;
            let of_other = from.get(1).map_or(0, |&other| lanes_of(sources, other));
            let to = self.target(d, part(vector), D);
            let places = self.frame.constant(places(sources));
            self.asm.pick(to, [one, other], at(FRAME, places), (of_other, 0xff));
            self.write_back(d, part(vector), to);
        }
        Ok(())
    }
    /// The same by way of a place in the frame.
    fn permuted_by_memory(
        &mut self,
        d: Reg,
        a: Operand,
        (warp, values): (usize, i64),
        sources: &[(usize, bool)],
    ) -> EmitResult {
        let lanes = self.machine().lanes();
        let of_warp = WARP / lanes;
        let part = |vector: usize| Part { vector: warp * of_warp + vector, half: 0 };
        for vector in 0..of_warp {
            let x = self.given(d, a, part(vector), A)?;
            let to = at(FRAME, values + (4 * lanes * vector) as i64);
            self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, to, x);
        }
        for (vector, sources) in sources.chunks(lanes).enumerate() {
            let to = self.target(d, part(vector), D);
            self.permuted(to, values, sources);
            self.write_back(d, part(vector), to);
        }
        Ok(())
    }
    /// A vector of the lanes at these places among a warp's values in the frame. Uses C and K2.
    fn permuted(&mut self, to: Register, values: i64, sources: &[(usize, bool)]) {
        let vector_at = |vector: usize| values + (4 * sources.len() * vector) as i64;
        let vectors = vectors_of(sources);
        if vectors.len() == 1 && is_in_order(sources) {
            return self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, at(FRAME, vector_at(vectors[0])));
        }
        let places = self.frame.constant(places(sources));
        for (index, vector) in vectors.into_iter().enumerate() {
            self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, C, at(FRAME, places));
            let decorators = if index == 0 {
                Decorators::default()
            } else {
                let here = u64::from(lanes_of(sources, vector));
                let here = self.frame.constant(here.to_le_bytes().to_vec());
                self.load_mask(here, Width::B32, Part { vector: 0, half: 0 }, K2);
                Decorators::masked(K2)
            };
            let from = Source::Frame(vector_at(vector));
            self.op3(Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, to, C, from, decorators);
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

/// Of a warp's vectors, those that have the lanes that a vector of the result is made of.
fn vectors_of(sources: &[(usize, bool)]) -> Vec<usize> {
    let vectors: BTreeSet<usize> = sources.iter().map(|&(lane, _)| lane / sources.len()).collect();
    vectors.into_iter().collect()
}
/// The lanes of the result that one of these has, as bits.
fn lanes_of(sources: &[(usize, bool)], vector: usize) -> u32 {
    sources.iter().rev().fold(0, |bits, &(lane, _)| bits << 1 | u32::from(lane / sources.len() == vector))
}
/// Where in its vector each of these lanes is.
fn places(sources: &[(usize, bool)]) -> Vec<u8> {
    sources.iter().flat_map(|&(lane, _)| ((lane % sources.len()) as u32).to_le_bytes()).collect()
}
/// Whether each already is in its place.
fn is_in_order(sources: &[(usize, bool)]) -> bool {
    sources.iter().enumerate().all(|(place, &(lane, _))| lane % sources.len() == place)
}
