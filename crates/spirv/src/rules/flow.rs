//! Blocks and who dominates whom: a value is used only where its definition was passed.

use std::collections::HashMap;

use rspirv::spirv::{Capability, Op};

use super::{Checker, code, layout::is_terminator, source};
use crate::facts::Facts;
use crate::module::{ById, Instruction, Module};

#[derive(Default)]
struct Block {
    label: u32,
    successors: Vec<u32>,
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
    /// Merge instructions so far, and the first conditional branch without one before it.
    merges: u32,
    merge_before: bool,
    unstructured: Option<usize>,
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
                self.blocks.push(Block { label, successors: Vec::new() });
                self.in_block = true;
            }
            _ if self.in_block => {
                if let Some(id) = module.result(instruction) {
                    self.defined_in.set(id, self.current());
                }
                self.structure(op, instruction, module);
                if is_terminator(op) {
                    self.in_block = false;
                    let words = module.words_of(instruction);
                    let block = self.blocks.last_mut().expect("a block is open");
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

    /// Follows merge instructions and the branches that want one.
    fn structure(&mut self, op: Op, instruction: &Instruction, module: &Module) {
        let merge = matches!(op, Op::SelectionMerge | Op::LoopMerge);
        let two_ways =
            op == Op::BranchConditional && module.operand_word(instruction, 1) != module.operand_word(instruction, 2);
        if (two_ways || op == Op::Switch) && !self.merge_before && self.unstructured.is_none() {
            self.unstructured = Some(instruction.word);
        }
        self.merges += u32::from(merge);
        self.merge_before = merge;
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
        // Inside a loop or a switch such a branch may be a break; with no merge in the function it is none.
        let unstructured = self.unstructured.take().filter(|_| self.merges == 0);
        (self.merges, self.merge_before) = (0, false);
        if let Some(word) = unstructured.filter(|_| checker.facts.has(Capability::Shader)) {
            let message =
                "a branch on a condition without OpSelectionMerge before it: shaders are structured".to_owned();
            checker.error(
                code::STRUCTURE,
                word,
                "SPIR-V 1.6, 2.16.2 Validation Rules for Shader Capabilities",
                message,
            );
        }
        if !uses.is_empty() {
            let tree = Dominators::of(&blocks);
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
        }
        self.first_block += blocks.len() as u32;
        (self.in_function, self.in_block) = (false, false);
    }
}

/// Immediate dominators, and intervals of the tree's walk so that a question costs nothing.
struct Dominators {
    enter: Vec<u32>,
    leave: Vec<u32>,
}

const NONE: usize = usize::MAX;

impl Dominators {
    /// Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
    fn of(blocks: &[Block]) -> Dominators {
        let index: HashMap<u32, usize> = blocks.iter().enumerate().map(|(at, block)| (block.label, at)).collect();
        let successors: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| block.successors.iter().filter_map(|label| index.get(label).copied()).collect())
            .collect();
        let order = postorder(&successors);
        let mut number = vec![NONE; blocks.len()];
        for (at, &block) in order.iter().enumerate() {
            number[block] = at;
        }
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for &block in &order {
            for &next in &successors[block] {
                predecessors[next].push(block);
            }
        }
        let mut idom = vec![NONE; blocks.len()];
        idom[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().rev().filter(|&&block| block != 0) {
                let mut new = NONE;
                for &before in predecessors[block].iter().filter(|&&before| idom[before] != NONE) {
                    new = if new == NONE { before } else { common_dominator(&idom, &number, before, new) };
                }
                if idom[block] != new {
                    idom[block] = new;
                    changed = true;
                }
            }
        }
        let mut children = vec![Vec::new(); blocks.len()];
        for (block, &parent) in idom.iter().enumerate().filter(|&(block, &parent)| parent != NONE && block != 0) {
            children[parent].push(block);
        }
        let (mut enter, mut leave) = (vec![0; blocks.len()], vec![0; blocks.len()]);
        let mut clock = 0;
        let mut walk = vec![(0usize, 0usize)];
        while let Some((block, child)) = walk.pop() {
            if child == 0 {
                clock += 1;
                enter[block] = clock;
            }
            if let Some(&next) = children[block].get(child) {
                walk.push((block, child + 1));
                walk.push((next, 0));
            } else {
                clock += 1;
                leave[block] = clock;
            }
        }
        Dominators { enter, leave }
    }

    fn reachable(&self, block: usize) -> bool {
        self.enter.get(block).is_some_and(|&enter| enter != 0)
    }
    fn dominates(&self, above: usize, below: usize) -> bool {
        self.reachable(above) && self.enter[above] <= self.enter[below] && self.leave[below] <= self.leave[above]
    }
}

fn common_dominator(idom: &[usize], number: &[usize], mut one: usize, mut other: usize) -> usize {
    while one != other {
        while number[one] < number[other] {
            one = idom[one];
        }
        while number[other] < number[one] {
            other = idom[other];
        }
    }
    one
}

/// Blocks reachable from the first, each after all it leads to. Without recursion: a function may have a million.
fn postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::with_capacity(successors.len());
    if successors.is_empty() {
        return order;
    }
    seen[0] = true;
    let mut walk = vec![(0usize, 0usize)];
    while let Some((block, next)) = walk.pop() {
        match successors[block].get(next) {
            Some(&to) => {
                walk.push((block, next + 1));
                if !seen[to] {
                    seen[to] = true;
                    walk.push((to, 0));
                }
            }
            None => order.push(block),
        }
    }
    order
}
