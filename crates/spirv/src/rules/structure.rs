//! Structured control flow: branches and merge instructions of every module, and the constructs that shaders are made
//! of (SPIR-V 1.6, 2.11 and 2.16.2).
//!
//! A header names its merge block, a loop's also its continue target. The structural graph has an edge from a header to
//! each of them beside the branches; dominance in it tells which blocks a construct has.

use std::collections::{HashMap, HashSet};

use rspirv::spirv::{LoopControl, Op};

use super::dominators::{Dominators, postorder};
use super::flow::{Block, Merge};
use super::{Checker, code, source};
use roundonce_isa::Version;

const RULE: &str = "SPIR-V 1.6, 2.11 Structured Control Flow";
/// Constructs in constructs (SPIR-V 1.6, 2.17).
const DEEPEST: usize = 1023;
/// Literals of one OpSwitch, each with its label (SPIR-V 1.6, 2.17).
const MOST_CASES: usize = 16_383;

/// The blocks of a function.
pub(super) struct Graph<'f> {
    pub(super) blocks: &'f [Block],
    /// By label.
    pub(super) index: &'f HashMap<u32, usize>,
    pub(super) successors: &'f [Vec<usize>],
    pub(super) tree: &'f Dominators,
}

/// What every module obeys. Whether the branches can be followed.
pub(super) fn universal(checker: &mut Checker<'_>, graph: &Graph<'_>) -> bool {
    let (module, facts) = (checker.module, checker.facts);
    let mut good = true;
    let mut merged = HashSet::new();
    for (at, block) in graph.blocks.iter().enumerate() {
        let end = block.end.as_ref();
        let word = end.map_or(block.word, |end| end.word);
        let name = end.map_or_else(String::new, |end| crate::grammar::instruction_name(end.opcode));
        let op = end.and_then(|end| Op::from_u32(end.opcode.into()));
        let mut fault = |word: usize, message: String| {
            checker.error(code::STRUCTURE, word, source::UNIVERSAL, message);
        };
        for &target in &block.successors {
            match graph.index.get(&target) {
                None => {
                    good = false;
                    fault(word, format!("{name}: {} is no block of this function", module.id(target)));
                }
                Some(0) => fault(word, format!("{name}: nothing may branch to a function's first block")),
                Some(_) => {}
            }
        }
        if let Some(end) = end.filter(|_| matches!(op, Some(Op::BranchConditional | Op::Switch))) {
            let value = module.operand_word(end, 0);
            let kind = facts.type_of(value).and_then(|ty| facts.instruction(module, ty));
            let wanted = if op == Some(Op::Switch) { Op::TypeInt } else { Op::TypeBool };
            if kind.is_some_and(|kind| kind.opcode != wanted as u16) {
                let what = if op == Some(Op::Switch) { "Selector is no integer" } else { "Condition is no bool" };
                fault(word, format!("{name}: {what}: {}", module.id(value)));
            }
            if op == Some(Op::BranchConditional) && module.words_of(end).len() == 5 {
                fault(word, format!("{name}: one branch weight where there are two or none"));
            }
            // The default is no case.
            let cases = block.successors.len().saturating_sub(1);
            if op == Some(Op::Switch) && cases > MOST_CASES {
                fault(word, format!("{name}: {cases} literals with labels where SPIR-V allows {MOST_CASES}"));
            }
            let same = block.successors.len() == 2 && block.successors[0] == block.successors[1];
            if op == Some(Op::BranchConditional) && same && module.version() >= Version(1, 6) {
                fault(word, format!("{name}: both ways lead to one block, which SPIR-V 1.6 does not allow"));
            }
        }
        if let Some(merge) = &block.merge {
            let word = merge.instruction.word;
            let name = crate::grammar::instruction_name(merge.instruction.opcode);
            for id in [Some(merge.block), merge.continues].into_iter().flatten() {
                if !graph.index.contains_key(&id) {
                    good = false;
                    fault(word, format!("{name}: {} is no block of this function", module.id(id)));
                }
            }
            if !merged.insert(merge.block) {
                let id = module.id(merge.block);
                fault(word, format!("{name}: {id} is the merge block of another header already"));
            }
            if merge.continues.is_some() && merge.block == block.label {
                fault(word, format!("{name}: a loop's merge block is another than its header"));
            }
            if merge.continues == Some(merge.block) {
                fault(word, format!("{name}: Merge Block and Continue Target are one"));
            }
            if merge.continues.is_some() {
                let control = LoopControl::from_bits_truncate(module.operand_word(&merge.instruction, 2));
                let earlier = LoopControl::MIN_ITERATIONS | LoopControl::MAX_ITERATIONS;
                let earlier = earlier | LoopControl::DEPENDENCY_LENGTH;
                // The controls' numbers follow in the order of their bits.
                let place = 3 + (control & earlier).bits().count_ones() as usize;
                if control.contains(LoopControl::ITERATION_MULTIPLE)
                    && module.words_of(&merge.instruction).get(place + 1) == Some(&0)
                {
                    fault(word, format!("{name}: IterationMultiple is zero"));
                }
                let not = control.contains(LoopControl::DONT_UNROLL);
                let with = LoopControl::UNROLL | LoopControl::PEEL_COUNT | LoopControl::PARTIAL_COUNT;
                if not && control.intersects(with) {
                    fault(word, format!("{name}: DontUnroll excludes Unroll, PeelCount and PartialCount"));
                }
            }
        }
        if let Some(above) = graph.tree.immediate(at).filter(|above| *above > at) {
            let (label, above) = (module.id(block.label), module.id(graph.blocks[above].label));
            fault(block.word, format!("{label} stands before {above}, which dominates it"));
        }
    }
    good
}

/// What a construct is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Selection,
    Loop,
    Continue,
}

/// The first block of a construct, and the one that ends it: the merge block, or the block that goes back.
struct Construct {
    kind: Kind,
    header: usize,
    exit: usize,
    /// Of a loop and its continue construct: the loop's header.
    owner: usize,
}

struct Structure<'f> {
    graph: &'f Graph<'f>,
    merges: Vec<Option<(usize, Option<usize>)>>,
    structural: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    tree: Dominators,
    /// Backwards, from a block behind all that end.
    after: Dominators,
    /// The header of the nearest loop or switch around a block.
    around: Vec<Option<usize>>,
    /// The header of a construct that is nested too deep.
    too_deep: Option<usize>,
    /// By block, the last construct that was found to contain it, and how many were looked at.
    member_of: Vec<usize>,
    looked_at: usize,
    /// Steps that are left before the constructs must be nested too deep.
    budget: usize,
}

/// What shaders obey.
pub(super) fn check(checker: &mut Checker<'_>, graph: &Graph<'_>) {
    let structure = Structure::of(graph);
    if let Err((block, message)) = structure.and_then(|mut structure| structure.faults(checker)) {
        // The instruction that decides where a block goes.
        let block = &graph.blocks[block];
        let merge = block.merge.map(|merge| merge.instruction);
        let word = merge.or(block.end).map_or(block.word, |instruction| instruction.word);
        checker.error(code::STRUCTURE, word, RULE, message);
    }
}

type Fault = (usize, String);

fn nested_too_deep(header: usize) -> Fault {
    (header, format!("constructs are nested deeper than {DEEPEST}"))
}

impl<'f> Structure<'f> {
    fn of(graph: &'f Graph<'f>) -> Result<Structure<'f>, Fault> {
        let place = |label: &u32| graph.index.get(label).copied();
        let known = |merge: &Merge| Some((place(&merge.block)?, merge.continues.as_ref().and_then(place)));
        let merges: Vec<_> = graph.blocks.iter().map(|block| block.merge.as_ref().and_then(known)).collect();
        let mut structural = Vec::with_capacity(graph.blocks.len());
        for (merge, successors) in merges.iter().zip(graph.successors) {
            let more = merge.iter().flat_map(|(merge, continues)| [Some(*merge), *continues]).flatten();
            // A switch may name one block for most of its literals.
            let mut known = HashSet::new();
            structural
                .push(more.chain(successors.iter().copied()).filter(|&next| known.insert(next)).collect::<Vec<_>>());
        }
        let tree = Dominators::of(&structural, 0);
        let count = structural.len();
        let mut predecessors = vec![Vec::new(); count];
        for (block, successors) in graph.successors.iter().enumerate() {
            for &next in successors {
                predecessors[next].push(block);
            }
        }
        // Backwards: the root leads to every block that leads nowhere.
        let mut backwards = vec![Vec::new(); count + 1];
        for (block, successors) in structural.iter().enumerate() {
            if successors.is_empty() {
                backwards[count].push(block);
            }
            for &next in successors {
                backwards[next].push(block);
            }
        }
        let after = Dominators::of(&backwards, count);
        let around = vec![None; count];
        let edges: usize = structural.iter().map(Vec::len).sum();
        let budget = (edges + count + 1) * (2 * DEEPEST + 2);
        let mut structure = Structure {
            graph,
            merges,
            structural,
            predecessors,
            tree,
            after,
            around,
            too_deep: None,
            member_of: vec![0; count],
            looked_at: 0,
            budget,
        };
        structure.find_around();
        Ok(structure)
    }

    fn name(&self, checker: &Checker<'_>, block: usize) -> String {
        checker.module.id(self.graph.blocks[block].label).to_string()
    }
    fn is_loop(&self, block: usize) -> bool {
        self.merges[block].is_some_and(|(_, continues)| continues.is_some())
    }
    fn ends_with(&self, block: usize, op: Op) -> bool {
        self.graph.blocks[block].end.is_some_and(|end| end.opcode == op as u16)
    }

    /// The loop or switch around each block, and how many constructs are, from the outside in.
    fn find_around(&mut self) {
        let mut depths = vec![0; self.structural.len()];
        let mut header_of = HashMap::new();
        for (header, merge) in self.merges.iter().enumerate() {
            if let Some((merge, _)) = merge {
                header_of.entry(*merge).or_insert(header);
            }
        }
        for block in postorder(&self.structural, 0).into_iter().rev() {
            let closed = header_of
                .get(&block)
                .copied()
                .filter(|&header| header != block && self.tree.dominates(header, block) && self.tree.reachable(header));
            (self.around[block], depths[block]) = match (closed, self.tree.immediate(block)) {
                // Behind a construct stands what stands around it.
                (Some(header), _) => (self.around[header], depths[header]),
                (None, Some(above)) => {
                    let breaks =
                        self.is_loop(above) || self.merges[above].is_some() && self.ends_with(above, Op::Switch);
                    let left = self.merges[above].is_none_or(|(merge, _)| self.tree.dominates(merge, block));
                    let around = if breaks && !left { Some(above) } else { self.around[above] };
                    let depth = depths[above] + usize::from(!left);
                    if depth > DEEPEST {
                        self.too_deep.get_or_insert(above);
                    }
                    (around, depth)
                }
                (None, None) => (None, 0),
            };
        }
    }

    fn faults(&mut self, checker: &Checker<'_>) -> Result<(), Fault> {
        let name = |structure: &Self, block: usize| structure.name(checker, block);
        let count = self.graph.blocks.len();
        let mut latches: Vec<Option<usize>> = vec![None; count];
        for (from, to) in self.back_edges() {
            if !self.is_loop(to) {
                return Err((from, format!("the branch back to {} leads to no loop's header", name(self, to))));
            }
            if latches[to].replace(from).is_some_and(|other| other != from) {
                return Err((to, format!("more than one block branches back to the loop's header {}", name(self, to))));
            }
        }
        let mut constructs = Vec::new();
        for block in (0..count).filter(|&block| self.tree.reachable(block)) {
            let Some((merge, continues)) = self.merges[block] else { continue };
            let Some(continues) = continues else {
                constructs.push(Construct { kind: Kind::Selection, header: block, exit: merge, owner: block });
                continue;
            };
            let Some(latch) = latches[block] else {
                return Err((block, format!("no block branches back to the loop's header {}", name(self, block))));
            };
            constructs.push(Construct { kind: Kind::Loop, header: block, exit: merge, owner: block });
            constructs.push(Construct { kind: Kind::Continue, header: continues, exit: latch, owner: block });
        }
        if let Some(header) = self.too_deep {
            return Err(nested_too_deep(header));
        }
        for construct in &constructs {
            self.construct(checker, construct)?;
        }
        self.selections(checker)
    }

    /// Branches to a block that the walk is still inside of.
    fn back_edges(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut state = vec![0u8; self.structural.len()];
        let mut walk = vec![(0usize, 0usize)];
        state[0] = 1;
        while let Some((block, next)) = walk.pop() {
            match self.structural[block].get(next) {
                Some(&to) => {
                    walk.push((block, next + 1));
                    if state[to] == 0 {
                        state[to] = 1;
                        walk.push((to, 0));
                    } else if state[to] == 1 && self.graph.successors[block].contains(&to) {
                        found.push((block, to));
                    }
                }
                None => state[block] = 2,
            }
        }
        found
    }

    fn construct(&mut self, checker: &Checker<'_>, construct: &Construct) -> Result<(), Fault> {
        let &Construct { kind, header, exit, owner } = construct;
        let name = |structure: &Self, block: usize| structure.name(checker, block);
        let what = match kind {
            Kind::Selection => "selection",
            Kind::Loop => "loop",
            Kind::Continue => "continue construct",
        };
        let of = format!("the {what} of {}", name(self, header));
        if !self.tree.dominates(header, exit) {
            return Err((header, format!("{of}: {} is reached without it", name(self, exit))));
        }
        if kind != Kind::Continue && header == exit {
            return Err((header, format!("{of} is its own merge block")));
        }
        let ends = self.after.reachable(header) && self.after.reachable(exit);
        if kind == Kind::Continue && ends && !self.after.dominates(exit, header) {
            let message = format!("{of}: not every way leads to {}, which branches back", name(self, exit));
            return Err((header, message));
        }
        let inside = self.inside(construct)?;
        for &block in &inside {
            for &next in &self.graph.successors[block] {
                if !self.is_inside(next) && !self.is_exit(construct, next) {
                    let message = format!("{of} is left to {}, which is no exit of it", name(self, next));
                    return Err((block, message));
                }
            }
            if block == header {
                continue;
            }
            let entered =
                self.predecessors[block].iter().find(|&&from| self.tree.reachable(from) && !self.is_inside(from));
            if let Some(&from) = entered {
                let message = format!("{of} is entered at {}, not at its header", name(self, block));
                return Err((from, message));
            }
            if let Some((merge, _)) = self.merges[block].filter(|&(merge, _)| !self.is_inside(merge)) {
                let message =
                    format!("{of} contains {}, but not its merge block {}", name(self, block), name(self, merge));
                return Err((block, message));
            }
        }
        if kind == Kind::Loop
            && let Some((_, Some(continues))) = self.merges[header].filter(|(_, at)| *at != Some(header))
        {
            for &from in &self.predecessors[continues] {
                let back = self.tree.dominates(continues, from);
                if self.tree.reachable(from) && !self.is_inside(from) && !back {
                    let message = format!("{of}: its continue target is entered from outside");
                    return Err((from, message));
                }
            }
        }
        if kind == Kind::Selection && self.ends_with(owner, Op::Switch) {
            self.switch(checker, header, exit)?;
        }
        Ok(())
    }

    /// Whether the construct that was last looked at contains a block.
    fn is_inside(&self, block: usize) -> bool {
        self.member_of[block] == self.looked_at
    }

    /// The blocks of a construct.
    fn inside(&mut self, construct: &Construct) -> Result<Vec<usize>, Fault> {
        let &Construct { kind, header, exit, owner } = construct;
        let continues = self.merges[owner].and_then(|(_, continues)| continues).filter(|_| kind == Kind::Loop);
        let mut inside = Vec::new();
        let mut stack = vec![header];
        self.looked_at += 1;
        while let Some(block) = stack.pop() {
            self.budget = self.budget.saturating_sub(1);
            if self.budget == 0 {
                return Err(nested_too_deep(header));
            }
            if !self.tree.dominates(header, block) {
                continue;
            }
            let included = if kind == Kind::Continue && self.after.dominates(exit, block) {
                true
            } else {
                !self.tree.dominates(exit, block)
                    && continues.is_none_or(|continues| !self.tree.dominates(continues, block))
            };
            if included && !self.is_inside(block) {
                self.member_of[block] = self.looked_at;
                inside.push(block);
                stack.extend(&self.structural[block]);
            }
        }
        Ok(inside)
    }

    /// Whether a construct may be left to a block.
    fn is_exit(&self, construct: &Construct, to: usize) -> bool {
        let &Construct { kind, header, exit, owner } = construct;
        let merges = |header: usize| self.merges[header].map(|(merge, _)| merge);
        let continues = |header: usize| self.merges[header].and_then(|(_, continues)| continues);
        match kind {
            Kind::Loop => [merges(owner), continues(owner)].contains(&Some(to)),
            Kind::Continue => to == owner || merges(owner) == Some(to),
            Kind::Selection if to == exit => true,
            Kind::Selection => {
                let from_switch = self.ends_with(header, Op::Switch);
                let mut in_switch = false;
                let mut around = self.around[header];
                while let Some(outer) = around {
                    if self.is_loop(outer) {
                        return [merges(outer), continues(outer)].contains(&Some(to));
                    }
                    // Out of the nearest switch, but not out of a switch into one around it.
                    if !from_switch && !in_switch && merges(outer) == Some(to) {
                        return true;
                    }
                    in_switch |= !from_switch;
                    around = self.around[outer];
                }
                false
            }
        }
    }

    /// The cases of a switch: each falls through to the next one listed at most, and is fallen into from one.
    fn switch(&self, checker: &Checker<'_>, header: usize, merge: usize) -> Result<(), Fault> {
        let name = |block: usize| self.name(checker, block);
        let targets = &self.graph.successors[header];
        let Some((&default, cases)) = targets.split_first() else { return Ok(()) };
        let all: HashSet<usize> = targets.iter().copied().collect();
        let default_is_case = cases.contains(&default);
        let mut known: HashMap<usize, Option<usize>> = HashMap::new();
        let mut fallen: HashSet<usize> = HashSet::new();
        let mut default_falls = None;
        for (at, &target) in targets.iter().enumerate() {
            if target == merge {
                continue;
            }
            let mut falls = match known.get(&target) {
                Some(&falls) => falls,
                None => {
                    if !self.tree.dominates(header, target) {
                        return Err((header, format!("the case at {} is reached without its switch", name(target))));
                    }
                    let falls = self.fall_through(checker, target, merge, &all)?;
                    if let Some(next) = falls.filter(|next| !fallen.insert(*next)) {
                        return Err((header, format!("several cases fall through to {}", name(next))));
                    }
                    known.insert(target, falls);
                    falls
                }
            };
            if falls == Some(default) && !default_is_case {
                falls = default_falls;
            }
            let Some(next) = falls else { continue };
            if at == 0 {
                default_falls = Some(next);
                continue;
            }
            let listed = targets[at..].iter().find(|&&other| other != target);
            if listed != Some(&next) {
                let message =
                    format!("the case at {} falls through to {}, which is not the next", name(target), name(next));
                return Err((header, message));
            }
        }
        Ok(())
    }

    /// The other case that a case's blocks lead to.
    fn fall_through(
        &self,
        checker: &Checker<'_>,
        target: usize,
        merge: usize,
        all: &HashSet<usize>,
    ) -> Result<Option<usize>, Fault> {
        let mut falls = None;
        let mut seen = HashSet::new();
        let mut stack = vec![target];
        while let Some(block) = stack.pop() {
            if block == merge || !seen.insert(block) {
                continue;
            }
            if self.tree.dominates(target, block) {
                stack.extend(&self.graph.successors[block]);
            } else if all.contains(&block) && falls.replace(block).is_some_and(|other| other != block) {
                let name = self.name(checker, target);
                return Err((target, format!("the case at {name} falls through to several others")));
            }
        }
        Ok(falls)
    }

    /// A branch on a condition is a header, or one of its ways leaves a construct.
    fn selections(&self, checker: &Checker<'_>) -> Result<(), Fault> {
        let mut seen = HashSet::new();
        for block in postorder(&self.structural, 0).into_iter().rev() {
            if let Some((merge, continues)) = self.merges[block] {
                seen.extend([Some(merge), continues].into_iter().flatten());
            }
            let targets = &self.graph.successors[block];
            if self.ends_with(block, Op::Switch) {
                if self.merges[block].is_none() {
                    return Err((block, "OpSwitch without OpSelectionMerge before it".to_owned()));
                }
                seen.extend(targets.iter().copied());
            }
            if let (true, &[then, otherwise]) = (self.ends_with(block, Op::BranchConditional), &targets[..]) {
                let new = [seen.insert(then), seen.insert(otherwise)];
                let heads_selection = self.merges[block].is_some_and(|(_, continues)| continues.is_none());
                if new == [true, true] && !heads_selection {
                    let name = self.name(checker, block);
                    let message =
                        format!("the branch on a condition in {name} has no OpSelectionMerge: shaders are structured");
                    return Err((block, message));
                }
            }
        }
        Ok(())
    }
}
