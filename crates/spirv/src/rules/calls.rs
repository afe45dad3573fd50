//! Which functions an entry point reaches.

use std::collections::{BTreeSet, HashMap, HashSet};

use rspirv::spirv::Op;

use crate::module::Module;

/// The functions that each function calls.
pub(super) type Callees = HashMap<u32, BTreeSet<u32>>;

pub(super) fn callees(module: &Module) -> Callees {
    let mut callees = Callees::new();
    let mut current = 0;
    for instruction in module.instructions() {
        match Op::from_u32(instruction.opcode.into()) {
            Some(Op::Function) => current = module.result(instruction).unwrap_or(0),
            Some(Op::FunctionCall) => {
                callees.entry(current).or_default().insert(module.operand_word(instruction, 2));
            }
            _ => {}
        }
    }
    callees
}

/// Leaves out the calls that lead to none of these functions, so that no walk from an entry point goes there.
pub(super) fn keep_leading_to(callees: &mut Callees, functions: impl Iterator<Item = u32>) {
    let mut callers: HashMap<u32, Vec<u32>> = HashMap::new();
    for (&caller, called) in callees.iter() {
        called.iter().for_each(|&callee| callers.entry(callee).or_default().push(caller));
    }
    let mut leading: HashSet<u32> = functions.collect();
    let mut left: Vec<u32> = leading.iter().copied().collect();
    while let Some(function) = left.pop() {
        for &caller in callers.get(&function).into_iter().flatten() {
            if leading.insert(caller) {
                left.push(caller);
            }
        }
    }
    callees.values_mut().for_each(|called| called.retain(|callee| leading.contains(callee)));
}

/// Functions and all that they call, directly or not.
pub(super) fn reached(callees: &Callees, functions: impl IntoIterator<Item = u32>) -> BTreeSet<u32> {
    let mut reached: BTreeSet<u32> = functions.into_iter().collect();
    let mut left: Vec<u32> = reached.iter().copied().collect();
    while let Some(function) = left.pop() {
        for &callee in callees.get(&function).into_iter().flatten() {
            if reached.insert(callee) {
                left.push(callee);
            }
        }
    }
    reached
}
