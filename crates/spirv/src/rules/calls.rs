//! Which functions an entry point reaches.

use std::collections::{BTreeSet, HashMap};

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

/// A function and all that it calls, directly or not.
pub(super) fn reached(callees: &Callees, function: u32) -> BTreeSet<u32> {
    let mut reached = BTreeSet::from([function]);
    let mut left = vec![function];
    while let Some(function) = left.pop() {
        for &callee in callees.get(&function).into_iter().flatten() {
            if reached.insert(callee) {
                left.push(callee);
            }
        }
    }
    reached
}
