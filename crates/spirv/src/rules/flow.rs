//! Blocks and who dominates whom: a value is used only where its definition was passed.

use std::collections::HashMap;

use rspirv::spirv::{Capability, Op};

use super::dominators::Dominators;
use super::{Checker, code, layout::is_terminator, phi, source, structure};
use crate::facts::Facts;
use crate::module::{ById, Instruction};

#[derive(Default)]
pub(super) struct Block {
    pub(super) label: u32,
    pub(super) word: usize,
    pub(super) successors: Vec<u32>,
    pub(super) merge: Option<Merge>,
    /// The branch or return at its end.
    pub(super) end: Option<Instruction>,
    pub(super) phis: Vec<Instruction>,
}

/// A merge instruction.
#[derive(Clone, Copy)]
pub(super) struct Merge {
    pub(super) instruction: Instruction,
    pub(super) block: u32,
    /// Where a loop goes on.
    pub(super) continues: Option<u32>,
}

/// A value used in another block than the one that defines it.
struct Use {
    word: usize,
    id: u32,
    from: u32,
    to: u32,
}

/// The current function. Blocks count from 1 through the whole module, so that a value of another function is
/// distinguishable from one of this.
#[derive(Default)]
pub(super) struct Flow {
    first_block: u32,
    blocks: Vec<Block>,
    defined_in: ById<u32>,
    uses: Vec<Use>,
    in_function: bool,
    in_block: bool,
    /// The merge instruction just before the one at work.
    merge: Option<Merge>,
    /// Whether a Phi may still follow in this block.
    at_start: bool,
}

impl Flow {
    fn current(&self) -> u32 {
        self.first_block + self.blocks.len() as u32
    }

    pub(super) fn enter(&mut self, checker: &mut Checker<'_>, instruction: &Instruction) {
        let module = checker.module;
        let Some(op) = Op::from_u32(instruction.opcode.into()) else {
            return;
        };
        match op {
            Op::Function => {
                self.close(checker);
                self.in_function = true;
            }
            Op::FunctionEnd => {
                self.close(checker);
            }
            Op::Label if self.in_function => {
                let label = module.operand_word(instruction, 0);
                self.blocks.push(Block { label, word: instruction.word, ..Block::default() });
                (self.in_block, self.at_start, self.merge) = (true, self.blocks.len() > 1, None);
            }
            _ if self.in_block => {
                if let Some(id) = module.result(instruction) {
                    self.defined_in.set(id, self.current());
                }
                self.merge_before(checker, op, instruction);
                self.phi(checker, op, instruction);
                if is_terminator(op) {
                    self.in_block = false;
                    let words = module.words_of(instruction);
                    let block = self.blocks.last_mut().expect("a block is open");
                    block.end = Some(*instruction);
                    match op {
                        Op::Branch => block.successors.extend(words.get(1)),
                        Op::BranchConditional => block.successors.extend(words.iter().skip(2).take(2)),
                        Op::Switch => {
                            let selector = checker.facts.type_of(words.get(1).copied().unwrap_or(0));
                            let selector = selector.and_then(|id| checker.facts.instruction(module, id));
                            let wide = selector.is_some_and(|int| module.operand_word(int, 1) > 32);
                            block.successors.extend(words.get(2));
                            // Literal and label in turn.
                            let pair = if wide { 3 } else { 2 };
                            block.successors.extend(words.iter().skip(2 + pair).step_by(pair));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// A merge instruction stands right before the branch that it is about.
    fn merge_before(&mut self, checker: &mut Checker<'_>, op: Op, instruction: &Instruction) {
        let module = checker.module;
        if let Some(merge) = self.merge.take() {
            let fits = match merge.continues {
                Some(_) => matches!(op, Op::Branch | Op::BranchConditional),
                None => matches!(op, Op::BranchConditional | Op::Switch),
            };
            if fits {
                if let Some(block) = self.blocks.last_mut() {
                    block.merge = Some(merge);
                }
            } else {
                let (name, wanted) = match merge.continues {
                    Some(_) => ("OpLoopMerge", "OpBranch or OpBranchConditional"),
                    None => ("OpSelectionMerge", "OpBranchConditional or OpSwitch"),
                };
                let message = format!("{name} must stand right before an {wanted} at its block's end");
                checker.error(code::STRUCTURE, merge.instruction.word, source::UNIVERSAL, message);
            }
        }
        if matches!(op, Op::SelectionMerge | Op::LoopMerge) {
            let block = module.operand_word(instruction, 0);
            let continues = (op == Op::LoopMerge).then(|| module.operand_word(instruction, 1));
            self.merge = Some(Merge { instruction: *instruction, block, continues });
        }
    }

    /// Phi stand at the beginning of a block that is not the first.
    fn phi(&mut self, checker: &mut Checker<'_>, op: Op, instruction: &Instruction) {
        match op {
            Op::Phi => {
                if !self.at_start {
                    let message = "OpPhi stands before all others in a block that is not the first".to_owned();
                    checker.error(code::PHI, instruction.word, "SPIR-V 1.6, 2.16.1, OpPhi", message);
                }
                if let Some(block) = self.blocks.last_mut() {
                    block.phis.push(*instruction);
                }
            }
            Op::Line | Op::NoLine => {}
            _ => self.at_start &= checker.facts.is_non_semantic(checker.module, instruction),
        }
    }

    /// A value is used by the current instruction.
    pub(super) fn used(&mut self, facts: &Facts, word: usize, id: u32) {
        let from = self.defined_in.get(id).copied().unwrap_or(0);
        if !self.blocks.is_empty() && from != 0 && from != self.current() && facts.type_of(id).is_some() {
            self.uses.push(Use { word, id, from, to: self.current() });
        }
    }

    pub(super) fn finish(&mut self, checker: &mut Checker<'_>) {
        self.close(checker);
    }

    /// The end of a function: its cross-block uses are judged.
    fn close(&mut self, checker: &mut Checker<'_>) {
        let blocks = std::mem::take(&mut self.blocks);
        let uses = std::mem::take(&mut self.uses);
        self.merge = None;
        if blocks.is_empty() {
            (self.in_function, self.in_block) = (false, false);
            return;
        }
        let index: HashMap<u32, usize> = blocks.iter().enumerate().map(|(at, block)| (block.label, at)).collect();
        let successors: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| block.successors.iter().filter_map(|label| index.get(label).copied()).collect())
            .collect();
        let tree = Dominators::of(&successors, 0);
        let graph = structure::Graph { blocks: &blocks, index: &index, successors: &successors, tree: &tree };
        if structure::universal(checker, &graph) {
            let defined = |id| {
                let block = self.defined_in.get(id).copied().filter(|block| *block > self.first_block);
                block.map(|block| (block - self.first_block - 1) as usize)
            };
            phi::check(checker, &graph, &defined);
            if checker.facts.has(Capability::Shader) {
                structure::check(checker, &graph);
            }
        }
        for at in uses {
            // Block numbers of this function start after first_block; index 0 is its entry.
            let local = |block: u32| block.checked_sub(self.first_block + 1).map(|index| index as usize);
            let to = at.to - self.first_block - 1;
            let bad = match local(at.from) {
                None => true,
                Some(from) => tree.reachable(to as usize) && !tree.dominates(from, to as usize),
            };
            if bad {
                let id = checker.module.id(at.id);
                let message = format!("{id} is defined in a block that does not dominate this use");
                checker.error(code::DOMINANCE, at.word, source::UNIVERSAL, message);
            }
        }
        self.first_block += blocks.len() as u32;
        (self.in_function, self.in_block) = (false, false);
    }
}
