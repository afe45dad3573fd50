//! Lanes of a tile that go different ways.
//!
//! Every node and every exit has a mask in the frame: the lanes that are there. While all lanes are at one node the code
//! runs that knows no masks; where they part, each branch adds its lanes to the masks of its targets, and the nodes run in
//! the order of their ranks, each for the lanes at it, until all have left: the order of the interpreter's fragments. A
//! loop's lanes gather behind it while it goes round for the others; what joins runs together from there on, and when
//! all are together again, without masks.

use super::super::asm::{Label, at};
use super::super::frame::{Handed, head, line};
use super::{A, Done, Emit, FRAME, TILE};
use crate::native::alloc::Home;
use crate::native::region::{Next, Target};
use crate::native::shape::Shape;
use iced_x86::{Code, Register};
use roundonce_ir::{Operand, Width};

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;

/// The places of a region's masks, and of the code that minds them.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    /// The masks of the nodes, then those of the exits.
    masks: i64,
    bytes: i64,
    /// Where a node begins for the lanes of its mask; one more: all have left.
    enter: Vec<Label>,
    /// Where a node's lanes go on after its instructions.
    ends: Vec<Label>,
    /// Where lanes part that were all together.
    pub(super) parts: Vec<Label>,
    /// For each exit the first word of the tile's line that takes its mask.
    pub(super) told: Vec<usize>,
}

impl Emit<'_> {
    pub(super) fn plan_ways(&mut self) {
        let (nodes, exits) = (self.region.nodes.len(), self.region.exits.len());
        let bytes = ((nodes + exits) * 8 * self.mask_words() as usize).next_multiple_of(64);
        let masks = self.frame.reserve(bytes, 64);
        let told = (0..exits)
            .map(|_| {
                let first = self.frame.number();
                (1..self.mask_words()).for_each(|_| _ = self.frame.number());
                first
            })
            .collect();
        let mut labels = |count| (0..count).map(|_| self.asm.label()).collect();
        let (enter, ends, parts) = (labels(nodes + 1), labels(nodes), labels(nodes));
        self.ways = Some(Ways { masks, bytes: bytes as i64, enter, ends, parts, told });
    }

    fn mask_of(&self, ways: &Ways, target: Target) -> i64 {
        let place = match target {
            Target::Node(node) => node,
            Target::Exit(exit) => self.region.nodes.len() + exit,
        };
        ways.masks + 8 * self.mask_words() * place as i64
    }

    /// The code for lanes that have parted. `nodes` and `exits` are where all are together.
    pub(super) fn parted(
        &mut self,
        ways: &Ways,
        nodes: &[Label],
        exits: &[Label],
        outputs: &[Vec<Handed>],
        done: Label,
    ) -> Done {
        for (index, node) in self.region.nodes.iter().enumerate() {
            if let Next::Branch { pred, .. } = node.next
                && let Home::Mask(_) = self.homes[pred.0 as usize]
            {
                self.part(ways, index);
            }
        }
        for (index, &together) in nodes.iter().enumerate() {
            let node = &self.region.nodes[index];
            let mask = self.mask_of(ways, Target::Node(index));
            self.asm.bind(ways.enter[index]);
            self.jump_if_empty(mask, ways.enter[index + 1]);
            self.jump_if_all(mask, together);
            self.count_lanes(mask, node.cost.completed);
            self.issue(node.cost);
            self.guard = Some(mask);
            let done = self.node(index);
            self.guard = None;
            done?;
            self.asm.bind(ways.ends[index]);
            self.way_on(ways, index)?;
        }
        self.asm.bind(ways.enter[nodes.len()]);
        self.point = self.region.nodes[self.region.entry].start;
        for (exit, &together) in exits.iter().enumerate() {
            self.jump_if_all(self.mask_of(ways, Target::Exit(exit)), together);
        }
        for (exit, handed) in outputs.iter().enumerate() {
            let mask = self.mask_of(ways, Target::Exit(exit));
            for word in 0..self.mask_words() {
                self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, mask + 8 * word));
                self.asm.mr(Code::Mov_rm64_r64, at(TILE, 8 * (ways.told[exit] as i64 + word)), RAX);
            }
            let none = self.asm.label();
            self.jump_if_empty(mask, none);
            self.guard = Some(mask);
            let left = self.leave(exit, handed);
            self.guard = None;
            left?;
            self.asm.bind(none);
        }
        self.asm.mi(Code::Mov_rm64_imm32, at(TILE, 8 * line::EXIT as i64), exits.len() as i32);
        self.asm.jump(Code::Jmp_rel32_64, done);
        Ok(())
    }

    /// From where all lanes are together at a node's end.
    fn part(&mut self, ways: &Ways, index: usize) {
        self.asm.bind(ways.parts[index]);
        self.asm.push(iced_x86::Instruction::with3(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, A, A, A));
        for offset in (0..ways.bytes).step_by(64) {
            self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, ways.masks + offset), A);
        }
        self.asm.constant(RAX, self.all_lanes());
        let mask = self.mask_of(ways, Target::Node(index));
        for word in 0..self.mask_words() {
            self.asm.mr(Code::Mov_rm64_r64, at(FRAME, mask + 8 * word), RAX);
        }
        self.asm.jump(Code::Jmp_rel32_64, ways.ends[index]);
    }

    /// A node's lanes go to its targets, and the lowest node that has any is next.
    fn way_on(&mut self, ways: &Ways, index: usize) -> Done {
        let node = &self.region.nodes[index];
        match node.next {
            Next::Leave(exit) => self.move_all(ways, index, Target::Exit(exit)),
            Next::Jump(target) => self.move_all(ways, index, target),
            Next::Stores(stores) => self.move_all(ways, index, Target::Node(stores)),
            Next::Branch { pred, then, otherwise, inside } => {
                let operand = Operand::Reg(pred);
                // Who leaves inside a block completes the instruction by which he does.
                let last = self.region.steps(self.given.code, index).last();
                let counts = inside && last.is_some_and(|step| step.completes);
                let counts = |target: Target| counts && matches!(target, Target::Exit(_));
                if let Home::Mask(truths) = self.homes[pred.0 as usize] {
                    self.divide(ways, index, truths, [then, otherwise], counts);
                } else {
                    let (other, on) = (self.asm.label(), self.asm.label());
                    self.test_number(operand)?;
                    self.asm.jump(Code::Je_rel32_64, other);
                    for (target, label) in [(then, None), (otherwise, Some(other))] {
                        if let Some(label) = label {
                            self.asm.jump(Code::Jmp_rel32_64, on);
                            self.asm.bind(label);
                        }
                        if counts(target) {
                            self.count_lanes(self.mask_of(ways, Target::Node(index)), 1);
                        }
                        self.move_all(ways, index, target);
                    }
                    self.asm.bind(on);
                }
            }
        }
        let back = node.next.targets().into_iter().flatten().filter_map(|target| match target {
            Target::Node(head) if head <= index => Some(head),
            _ => None,
        });
        if let Some(head) = back.min() {
            self.asm.jump(Code::Jmp_rel32_64, ways.enter[head]);
        }
        Ok(())
    }

    fn move_all(&mut self, ways: &Ways, from: usize, to: Target) {
        let (from, to) = (self.mask_of(ways, Target::Node(from)), self.mask_of(ways, to));
        for word in 0..self.mask_words() {
            self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, from + 8 * word));
            self.asm.mi(Code::Mov_rm64_imm32, at(FRAME, from + 8 * word), 0);
            self.asm.mr(Code::Or_rm64_r64, at(FRAME, to + 8 * word), RAX);
        }
    }

    /// Those of a node's lanes where a predicate is true go one way, the others the other.
    fn divide(&mut self, ways: &Ways, index: usize, truths: i64, to: [Target; 2], counts: impl Fn(Target) -> bool) {
        let from = self.mask_of(ways, Target::Node(index));
        for word in 0..self.mask_words() {
            self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, from + 8 * word));
            self.asm.rm(Code::Mov_r64_rm64, RCX, at(FRAME, truths + 8 * word));
            self.asm.rr(Code::And_r64_rm64, RCX, RAX);
            self.asm.rr(Code::Xor_r64_rm64, RAX, RCX);
            self.asm.mi(Code::Mov_rm64_imm32, at(FRAME, from + 8 * word), 0);
            for (target, lanes) in to.into_iter().zip([RCX, RAX]) {
                self.asm.mr(Code::Or_rm64_r64, at(FRAME, self.mask_of(ways, target) + 8 * word), lanes);
                if counts(target) {
                    self.asm.rr(Code::Popcnt_r64_rm64, Register::RDX, lanes);
                    self.asm.mr(Code::Add_rm64_r64, at(FRAME, head::GUARDED), Register::RDX);
                }
            }
        }
    }

    /// The flags of a number that is the same for all lanes.
    fn test_number(&mut self, pred: Operand) -> Done {
        if let Shape::Constant(bits) = self.shapes.shape(pred) {
            self.asm.constant(RAX, bits & 1);
            self.asm.rr(Code::Test_rm32_r32, Register::EAX, Register::EAX);
            return Ok(());
        }
        let number = super::low(self.number(pred, Width::Pred, RAX)?);
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
