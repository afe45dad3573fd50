//! OpPhi: a value for each way into its block.

use std::collections::HashSet;

use rspirv::spirv::{Capability, Op};

use super::structure::Graph;
use super::{Checker, code};
use crate::module::Instruction;

const RULE: &str = "SPIR-V 1.6, 3.49.17, OpPhi";

/// Judges the Phi of a function. `defined` gives the block of the function that defines an id.
pub(super) fn check(checker: &mut Checker<'_>, graph: &Graph<'_>, defined: &dyn Fn(u32) -> Option<usize>) {
    if graph.blocks.iter().all(|block| block.phis.is_empty()) {
        return;
    }
    let mut before = vec![HashSet::new(); graph.blocks.len()];
    for (block, successors) in graph.successors.iter().enumerate() {
        for &next in successors {
            before[next].insert(graph.blocks[block].label);
        }
    }
    for (at, block) in graph.blocks.iter().enumerate() {
        for phi in &block.phis {
            if let Some((word, message)) = fault(checker, graph, phi, at, &before[at], defined) {
                checker.error(code::PHI, word, RULE, message);
            }
        }
    }
}

fn fault(
    checker: &Checker<'_>,
    graph: &Graph<'_>,
    phi: &Instruction,
    block: usize,
    before: &HashSet<u32>,
    defined: &dyn Fn(u32) -> Option<usize>,
) -> Option<(usize, String)> {
    let (module, facts) = (checker.module, checker.facts);
    let pairs = module.words_of(phi).get(3..).unwrap_or_default();
    let result = module.result_type(phi).unwrap_or(0);
    let kind = facts.instruction(module, result).and_then(|at| Op::from_u32(at.opcode.into()));
    let whole = |message: String| Some((phi.word, message));
    let has = |capability| facts.has(capability);
    match kind {
        Some(Op::TypeVoid) => return whole("OpPhi: Result Type is void".to_owned()),
        Some(Op::TypePointer) => {
            if facts.is_logical()
                && !has(Capability::VariablePointers)
                && !has(Capability::VariablePointersStorageBuffer)
            {
                return whole("OpPhi of pointers needs capability VariablePointers".to_owned());
            }
        }
        Some(Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage) if !has(Capability::BindlessTextureNV) => {
            let what = facts.describe(module, result);
            return whole(format!("OpPhi: Result Type is {what}, which no Phi may have"));
        }
        _ => {}
    }
    if pairs.len() / 2 != before.len() {
        let (given, ways) = (pairs.len() / 2, before.len());
        return whole(format!("OpPhi has values for {given} ways, {ways} lead into its block"));
    }
    let mut seen = HashSet::new();
    for (index, pair) in pairs.chunks_exact(2).enumerate() {
        let (word, [value, parent]) = (phi.word + 3 + 2 * index, [pair[0], pair[1]]);
        let name = |id| module.id(id);
        if facts.type_of(value) != Some(result) {
            let (found, wanted) = (checker.typed(value), facts.describe(module, result));
            return Some((word, format!("OpPhi: {found} is not of the Result Type, {wanted}")));
        }
        if !before.contains(&parent) {
            let label = graph.blocks[block].label;
            return Some((word + 1, format!("OpPhi: {} does not branch to {}", name(parent), name(label))));
        }
        if !seen.insert(parent) {
            return Some((word + 1, format!("OpPhi: {} is given twice", name(parent))));
        }
        // What is no value of a block is there everywhere.
        let (Some(from), Some(&to)) = (defined(value), graph.index.get(&parent)) else { continue };
        if graph.tree.reachable(block) && graph.tree.reachable(to) && !graph.tree.dominates(from, to) {
            let message = format!("OpPhi: {} is not defined on every way to {}", name(value), name(parent));
            return Some((word, message));
        }
    }
    None
}
