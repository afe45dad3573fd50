//! What a tile counts: instructions, approximate ones by name, and what is left of its budget.

use super::super::asm::at;
use super::super::frame::{header, record};
use super::{BUDGET_LEFT, DeoptReason, Emitter, FRAME, STEPS, TILE};
use crate::native::region::Cost;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::Op;

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;

impl Emitter<'_> {
    /// Adds a tile's counts to those of all tiles.
    pub(super) fn add_counts(&mut self) {
        self.asm.mr(Code::Add_rm64_r64, at(FRAME, header::ALL_STEPS), STEPS);
        self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, header::PREDICATED));
        self.asm.mr(Code::Add_rm64_r64, at(FRAME, header::ALL_PREDICATED), RAX);
        for index in 0..self.approximations.len() {
            let [one, all] = [0, 1].map(|word| self.approximation_counter(index, word));
            self.asm.rm(Code::Mov_r64_rm64, RAX, one);
            self.asm.mr(Code::Add_rm64_r64, all, RAX);
        }
    }

    /// Stores a tile's counts in its record.
    pub(super) fn store_counts(&mut self) {
        self.asm.mr(Code::Mov_rm64_r64, at(TILE, 8 * record::BUDGET_LEFT as i64), BUDGET_LEFT);
        self.asm.mr(Code::Mov_rm64_r64, at(TILE, 8 * record::STEPS as i64), STEPS);
        self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, header::PREDICATED));
        self.asm.mr(Code::Mov_rm64_r64, at(TILE, 8 * record::PREDICATED as i64), RAX);
    }

    /// Counts instructions that every lane completes.
    pub(super) fn count(&mut self, count: u32) {
        if count > 0 {
            self.asm.ri(Code::Add_rm64_imm32, STEPS, count as i32);
        }
    }

    /// Subtracts a node's instructions from the budget.
    pub(super) fn charge_budget(&mut self, cost: Cost) {
        if cost.issued > 0 {
            self.asm.ri(Code::Sub_rm64_imm32, BUDGET_LEFT, cost.issued as i32);
        }
        if cost.checks_budget {
            self.side_exit(Code::Js_rel32_64, DeoptReason::Other, 0);
        }
    }

    /// Counts instructions that every active lane completes.
    pub(super) fn count_active(&mut self, count: u32) {
        match self.active_mask {
            Some(mask) => self.count_lanes(mask, count),
            None => self.count(count),
        }
    }

    /// Counts instructions that every lane of a mask completes.
    pub(super) fn count_lanes(&mut self, mask: i64, count: u32) {
        if count > 0 {
            self.count_lanes_at(mask, count, at(FRAME, header::PREDICATED));
        }
    }

    /// Adds so much for each lane of a mask to a counter.
    pub(super) fn count_lanes_at(&mut self, mask: i64, count: u32, counter: MemoryOperand) {
        self.asm.rm(Code::Popcnt_r64_rm64, RAX, at(FRAME, mask));
        for word in 1..self.mask_words() {
            self.asm.rm(Code::Popcnt_r64_rm64, RCX, at(FRAME, mask + 8 * word));
            self.asm.rr(Code::Add_r64_rm64, RAX, RCX);
        }
        if count > 1 {
            self.asm.push(Instruction::with3(Code::Imul_r64_rm64_imm32, RAX, RAX, count as i32));
        }
        self.asm.mr(Code::Add_rm64_r64, counter, RAX);
    }

    /// Counts an approximate instruction in every active lane.
    pub(super) fn count_approximation(&mut self, name: &str) {
        let Some(index) = self.approximations.iter().position(|(known, _)| known == name) else { return };
        let counter = self.approximation_counter(index, 0);
        match self.active_mask {
            Some(mask) => self.count_lanes_at(mask, 1, counter),
            None => self.asm.mi(Code::Add_rm64_imm32, counter, self.shapes.lanes as i32),
        }
    }

    /// The two words of an approximate instruction: what the tile has counted, and that when it committed, or of whole kernels the sum
    /// over tiles.
    pub(super) fn approximation_counter(&self, index: usize, word: i64) -> MemoryOperand {
        let first = self.approximations[index].1 as i64;
        if self.whole { at(FRAME, first + 8 * word) } else { at(TILE, 8 * (first + word)) }
    }

    /// Gives each approximate instruction of the region its counters.
    pub(super) fn plan_approximations(&mut self) {
        for node in 0..self.region.nodes.len() {
            for inst in self.region.insts(self.launch.code, node) {
                if let Op::Approximate { name, .. } = inst.op
                    && self.approximations.iter().all(|(known, _)| known != name)
                {
                    let first = if self.whole {
                        self.frame.reserve(16, 8) as usize
                    } else {
                        let first = self.frame.record_word();
                        self.frame.record_word();
                        first
                    };
                    self.approximations.push((name.clone(), first));
                }
            }
        }
    }
}
