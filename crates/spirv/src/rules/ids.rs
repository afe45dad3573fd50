//! Ids: defined once, within the bound, before they are used.

use rspirv::spirv::Op;

use super::{Checker, code, flow::Flow, is_use, source};
use crate::facts::Definition;
use crate::grammar::{Class, instruction_name, shape};
use crate::module::{Instruction, Operand};

/// The largest bound that every consumer takes (SPIR-V 1.6, 2.17 Universal Limits).
const LARGEST_BOUND: u32 = 4_194_303;

/// Definitions: once, and below the bound.
pub(super) fn definitions(checker: &mut Checker<'_>) {
    let (module, facts) = (checker.module, checker.facts);
    let bound = module.bound();
    if bound > LARGEST_BOUND {
        let message = format!("the header's bound is {bound}; the universal limit is {LARGEST_BOUND}");
        checker.error(code::ID_BOUND, 3, "SPIR-V 1.6, 2.17 Universal Limits", message);
    }
    for (instruction, id) in &facts.twice {
        let message = format!("{} is defined a second time", module.id(*id));
        checker.error(code::ID_TWICE, instruction.word, source::UNIVERSAL, message);
    }
    for instruction in module.instructions() {
        if let Some(id) = module.result(instruction)
            && (id == 0 || id >= bound)
        {
            let message = format!("the result {} is not below the header's bound, {bound}", module.id(id));
            checker.error(code::ID_BOUND, instruction.word, source::UNIVERSAL, message);
        }
    }
}

/// Whether an operand may name an id that is defined further on.
fn may_be_forward(opcode: u16, operand: usize) -> bool {
    use Op::*;
    let Some(op) = Op::from_u32(opcode.into()) else {
        return true;
    };
    match op {
        EntryPoint | ExecutionMode | ExecutionModeId | Name | MemberName | Decorate | DecorateId | DecorateString
        | MemberDecorate | MemberDecorateString | GroupDecorate | GroupMemberDecorate | TypeForwardPointer
        | SelectionMerge | LoopMerge | Branch | BranchConditional | Switch | Phi => {
            // The condition and the selector are values.
            !(matches!(op, BranchConditional | Switch) && operand == 0)
        }
        FunctionCall => operand == 2,
        // Instructions that the rules do not know may have forms of their own.
        EnqueueKernel
        | GetKernelNDrangeSubGroupCount
        | GetKernelNDrangeMaxSubGroupSize
        | GetKernelWorkGroupSize
        | GetKernelPreferredWorkGroupSizeMultiple => true,
        _ => opcode > 400 && op != FmaKHR,
    }
}

/// Uses: of defined ids, of types where a type is wanted. Whether all ids are what they must be for other rules to
/// look at them.
pub(super) fn uses(
    checker: &mut Checker<'_>,
    index: usize,
    instruction: &Instruction,
    operands: &[Operand],
    flow: &mut Flow,
) -> bool {
    let (module, facts) = (checker.module, checker.facts);
    let mut good = true;
    let name = || instruction_name(instruction.opcode);
    // A type comes after what it is made of, but for pointers that OpTypeForwardPointer declares ahead (SPIR-V 1.6,
    // 3.49.6).
    let declares_type = instruction.opcode != Op::TypeForwardPointer as u16
        && shape(instruction.opcode).is_some_and(|shape| shape.grammar.opname.starts_with("Type"));
    for (position, operand) in operands.iter().enumerate().filter(|(_, operand)| is_use(operand)) {
        let id = module.words()[operand.word];
        let ahead = || facts.forward_pointers.get(&id).is_some_and(|&word| word < instruction.word);
        let forward = if declares_type {
            ahead()
        } else {
            may_be_forward(instruction.opcode, position) || facts.is_non_semantic(module, instruction)
        };
        let Some(definition) = facts.definition(id) else {
            let message = format!("{}: {} {} is not defined", name(), place(instruction, position), module.id(id));
            checker.error(code::ID_UNDEFINED, operand.word, source::UNIVERSAL, message);
            good = false;
            continue;
        };
        if definition.index as usize > index && !forward {
            let message =
                format!("{}: {} {} is defined only further on", name(), place(instruction, position), module.id(id));
            checker.error(code::ID_UNDEFINED, operand.word, source::UNIVERSAL, message);
            good = false;
        } else if operand.class == Class::ResultType && !facts.is_type(id) {
            let message = format!("{}: Result Type {} is not a type", name(), module.id(id));
            checker.error(code::NOT_A_TYPE, operand.word, source::UNIVERSAL, message);
            good = false;
        } else if operand.class == Class::Id && !forward && is_of_another_function(checker, definition) {
            let message = format!("{}: {} is a parameter of another function", name(), module.id(id));
            checker.error(code::DOMINANCE, operand.word, source::UNIVERSAL, message);
            good = false;
        } else if operand.class == Class::Id && !forward {
            flow.used(facts, operand.word, id);
        }
    }
    good
}

fn is_of_another_function(checker: &Checker<'_>, definition: &Definition) -> bool {
    definition.opcode == Op::FunctionParameter as u16
        && checker.function.is_some_and(|(index, _)| (definition.index as usize) <= index)
}

/// An operand's name: OpFmaKHR's operands as its document names them.
fn place(instruction: &Instruction, position: usize) -> String {
    match (instruction.opcode == super::operand::FMA, position) {
        (_, 0) if shape(instruction.opcode).is_some_and(|shape| shape.has_type) => "Result Type".to_owned(),
        (true, position) => format!("Operand {}", position - 1),
        (false, _) => "operand".to_owned(),
    }
}
