//! Divergence: tiles whose lanes take different paths.
//!
//! Every node and every exit has a path mask in the frame: the lanes that are there. While all lanes are at one node the
//! code without masks runs. At a divergent branch the lanes are added to the masks of its targets, and the nodes run in
//! reverse postorder, each for the lanes in its mask, until all lanes have reached an exit: the interpreter schedules
//! warp splits in the same order. Lanes that leave a loop wait behind it for the others. Lanes that reach the same node
//! reconverge there, and when all lanes have reconverged the code without masks runs again.

use super::super::asm::{Label, at};
use super::super::frame::{LiveReg, header, record};
use super::{A, EmitResult, Emitter, FRAME, TILE};
use crate::native::alloc::Allocation;
use crate::native::region::{Next, Target};
use crate::native::shape::VectorShape;
use iced_x86::{Code, Register};
use roundonce_ir::{Operand, Width};

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;

/// A region's path masks and the labels of the code that uses them.
#[derive(Clone, Debug)]
pub(super) struct PathMasks {
    /// The offset of the nodes' masks; the exits' follow.
    offset: i64,
    bytes: i64,
    /// The start of each node's masked code; one more for when all lanes have reached an exit.
    entries: Vec<Label>,
    /// The end of each node's masked code, where its lanes continue to its targets.
    tails: Vec<Label>,
    /// The divergence of each node's branch in the code without masks.
    pub(super) splits: Vec<Label>,
    /// For each exit the first word of its mask in the tile's record.
    pub(super) exit_words: Vec<usize>,
}

impl Emitter<'_> {
    pub(super) fn plan_path_masks(&mut self) {
        let (nodes, exits) = (self.region.nodes.len(), self.region.exits.len());
        let bytes = ((nodes + exits) * 8 * self.mask_words() as usize).next_multiple_of(64);
        let offset = self.frame.reserve(bytes, 64);
        let exit_words = (0..exits)
            .map(|_| {
                let first = self.frame.record_word();
                (1..self.mask_words()).for_each(|_| _ = self.frame.record_word());
                first
            })
            .collect();
        let mut labels = |count| (0..count).map(|_| self.asm.label()).collect();
        let (entries, tails, splits) = (labels(nodes + 1), labels(nodes), labels(nodes));
        self.path_masks = Some(PathMasks { offset, bytes: bytes as i64, entries, tails, splits, exit_words });
    }

    fn mask_of(&self, masks: &PathMasks, target: Target) -> i64 {
        let index = match target {
            Target::Node(node) => node,
            Target::Exit(exit) => self.region.nodes.len() + exit,
        };
        masks.offset + 8 * self.mask_words() * index as i64
    }

    /// The code for divergent lanes. `nodes` and `exits` are the labels of the code without masks.
    pub(super) fn divergent_paths(
        &mut self,
        masks: &PathMasks,
        nodes: &[Label],
        exits: &[Label],
        outputs: &[Vec<LiveReg>],
        done: Label,
    ) -> EmitResult {
        for (index, node) in self.region.nodes.iter().enumerate() {
            if let Next::Branch { pred, .. } = node.next
                && let Allocation::Mask(_) = self.allocations[pred.0 as usize]
            {
                self.split(masks, index);
            }
        }
        for (index, &uniform) in nodes.iter().enumerate() {
            let node = &self.region.nodes[index];
            let mask = self.mask_of(masks, Target::Node(index));
            self.asm.bind(masks.entries[index]);
            self.jump_if_empty(mask, masks.entries[index + 1]);
            self.jump_if_all(mask, uniform);
            if let Next::Commit { before, .. } = node.next {
                if let Some(exit) = before {
                    self.move_all(masks, index, Target::Exit(exit));
                }
                continue;
            }
            self.count_lanes(mask, node.cost.completed);
            self.charge_budget(node.cost);
            self.active_mask = Some(mask);
            let done = self.node(index);
            self.active_mask = None;
            done?;
            self.asm.bind(masks.tails[index]);
            self.dispatch_successors(masks, index)?;
        }
        self.asm.bind(masks.entries[nodes.len()]);
        self.point = self.region.nodes[self.region.entry].start;
        for (exit, &uniform) in exits.iter().enumerate() {
            self.jump_if_all(self.mask_of(masks, Target::Exit(exit)), uniform);
        }
        for (exit, live_out) in outputs.iter().enumerate() {
            let mask = self.mask_of(masks, Target::Exit(exit));
            for word in 0..self.mask_words() {
                self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, mask + 8 * word));
                self.asm.mr(Code::Mov_rm64_r64, at(TILE, 8 * (masks.exit_words[exit] as i64 + word)), RAX);
            }
            let none = self.asm.label();
            self.jump_if_empty(mask, none);
            self.active_mask = Some(mask);
            let result = self.emit_exit(exit, live_out);
            self.active_mask = None;
            result?;
            self.asm.bind(none);
        }
        self.asm.mi(Code::Mov_rm64_imm32, at(TILE, 8 * record::EXIT as i64), exits.len() as i32);
        self.asm.jump(Code::Jmp_rel32_64, done);
        Ok(())
    }

    /// From the code without masks at a node's end: all lanes are in the node's mask.
    fn split(&mut self, masks: &PathMasks, index: usize) {
        self.asm.bind(masks.splits[index]);
        self.asm.push(iced_x86::Instruction::with3(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, A, A, A));
        for offset in (0..masks.bytes).step_by(4 * self.machine().lanes()) {
            self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, masks.offset + offset), A);
        }
        self.asm.constant(RAX, self.all_lanes());
        let mask = self.mask_of(masks, Target::Node(index));
        for word in 0..self.mask_words() {
            self.asm.mr(Code::Mov_rm64_r64, at(FRAME, mask + 8 * word), RAX);
        }
        self.asm.jump(Code::Jmp_rel32_64, masks.tails[index]);
    }

    /// Moves a node's lanes to its targets, and continues at the lowest node that has any.
    fn dispatch_successors(&mut self, masks: &PathMasks, index: usize) -> EmitResult {
        let node = &self.region.nodes[index];
        match node.next {
            // The interpreter's, where lanes diverge.
            Next::Switch(_) => {}
            Next::Exit(exit) => self.move_all(masks, index, Target::Exit(exit)),
            Next::Jump(target) => self.move_all(masks, index, target),
            Next::Stores(node) | Next::Fall(node) => self.move_all(masks, index, Target::Node(node)),
            // Together only.
            Next::Commit { .. } => {}
            Next::Branch { pred, then, otherwise, mid_block, .. } => {
                let operand = Operand::Reg(pred);
                // A lane that exits in the middle of a block still counts the exit instruction.
                let last = self.region.insts(self.launch.code, index).last();
                let counts = mid_block && last.is_some_and(|inst| inst.completes);
                let counts = |target: Target| counts && matches!(target, Target::Exit(_));
                if let Allocation::Mask(pred_mask) = self.allocations[pred.0 as usize] {
                    self.divide(masks, index, pred_mask, [then, otherwise], counts);
                } else {
                    let (other, end) = (self.asm.label(), self.asm.label());
                    self.test_scalar(operand)?;
                    self.asm.jump(Code::Je_rel32_64, other);
                    for (target, label) in [(then, None), (otherwise, Some(other))] {
                        if let Some(label) = label {
                            self.asm.jump(Code::Jmp_rel32_64, end);
                            self.asm.bind(label);
                        }
                        if counts(target) {
                            self.count_lanes(self.mask_of(masks, Target::Node(index)), 1);
                        }
                        self.move_all(masks, index, target);
                    }
                    self.asm.bind(end);
                }
            }
        }
        let back_edges = self.region.targets(node.next).filter_map(|target| match target {
            Target::Node(head) if head <= index => Some(head),
            _ => None,
        });
        if let Some(head) = back_edges.min() {
            self.asm.jump(Code::Jmp_rel32_64, masks.entries[head]);
        }
        Ok(())
    }

    fn move_all(&mut self, masks: &PathMasks, from: usize, to: Target) {
        let (from, to) = (self.mask_of(masks, Target::Node(from)), self.mask_of(masks, to));
        for word in 0..self.mask_words() {
            self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, from + 8 * word));
            self.asm.mi(Code::Mov_rm64_imm32, at(FRAME, from + 8 * word), 0);
            self.asm.mr(Code::Or_rm64_r64, at(FRAME, to + 8 * word), RAX);
        }
    }

    /// Divides a node's lanes between two targets by a predicate.
    fn divide(
        &mut self,
        masks: &PathMasks,
        index: usize,
        pred_mask: i64,
        to: [Target; 2],
        counts: impl Fn(Target) -> bool,
    ) {
        let from = self.mask_of(masks, Target::Node(index));
        for word in 0..self.mask_words() {
            self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, from + 8 * word));
            self.asm.rm(Code::Mov_r64_rm64, RCX, at(FRAME, pred_mask + 8 * word));
            self.asm.rr(Code::And_r64_rm64, RCX, RAX);
            self.asm.rr(Code::Xor_r64_rm64, RAX, RCX);
            self.asm.mi(Code::Mov_rm64_imm32, at(FRAME, from + 8 * word), 0);
            for (target, lanes) in to.into_iter().zip([RCX, RAX]) {
                self.asm.mr(Code::Or_rm64_r64, at(FRAME, self.mask_of(masks, target) + 8 * word), lanes);
                if counts(target) {
                    self.asm.rr(Code::Popcnt_r64_rm64, Register::RDX, lanes);
                    self.asm.mr(Code::Add_rm64_r64, at(FRAME, header::PREDICATED), Register::RDX);
                }
            }
        }
    }

    /// Sets the flags from a uniform predicate.
    fn test_scalar(&mut self, pred: Operand) -> EmitResult {
        if let VectorShape::Constant(bits) = self.shapes.shape(pred) {
            self.asm.constant(RAX, bits & 1);
            self.asm.rr(Code::Test_rm32_r32, Register::EAX, Register::EAX);
            return Ok(());
        }
        let number = super::low(self.scalar(pred, Width::Pred, RAX)?);
        self.asm.rr(Code::Test_rm32_r32, number, number);
        Ok(())
    }

    fn jump_if_empty(&mut self, mask: i64, to: Label) {
        self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, mask));
        for word in 1..self.mask_words() {
            self.asm.rm(Code::Or_r64_rm64, RAX, at(FRAME, mask + 8 * word));
        }
        self.asm.rr(Code::Test_rm64_r64, RAX, RAX);
        self.asm.jump(Code::Je_rel32_64, to);
    }
    fn jump_if_all(&mut self, mask: i64, to: Label) {
        self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, mask));
        for word in 1..self.mask_words() {
            self.asm.rm(Code::And_r64_rm64, RAX, at(FRAME, mask + 8 * word));
        }
        self.asm.constant(RCX, self.all_lanes());
        self.asm.rr(Code::Cmp_r64_rm64, RAX, RCX);
        self.asm.jump(Code::Je_rel32_64, to);
    }
}
