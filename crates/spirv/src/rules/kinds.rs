//! What kind of id an operand may be: a type, a value, a function, a string.

use rspirv::spirv::{ExecutionMode, Op};

use super::{Checker, code, is_use, source};
use crate::grammar::{Class, instruction_name, shape};
use crate::module::{Instruction, Operand};

/// Instructions that say something of any id.
fn is_about(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Name | MemberName
            | Line
            | String
            | Source
            | SourceContinued
            | SourceExtension
            | ModuleProcessed
            | NoLine
            | Decorate
            | MemberDecorate
            | DecorationGroup
            | GroupDecorate
            | GroupMemberDecorate
            | DecorateId
            | DecorateString
            | MemberDecorateString
    )
}

/// Instructions that name labels, sets, functions beside values.
fn names_others(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Branch
            | BranchConditional
            | Switch
            | Phi
            | SelectionMerge
            | LoopMerge
            | Function
            | FunctionCall
            | EntryPoint
            | ExecutionMode
            | ExecutionModeId
            | ExtInst
            | EnqueueKernel
    ) || op as u32 > 400
}

pub(super) fn check(checker: &mut Checker<'_>, instruction: &Instruction, operands: &[Operand]) {
    let Some(op) = Op::from_u32(instruction.opcode.into()) else { return };
    let (module, facts) = (checker.module, checker.facts);
    if let Some(message) = target(checker, instruction, op) {
        let name = instruction_name(instruction.opcode);
        checker.error(
            code::OPERAND_TYPE,
            instruction.word,
            "SPIR-V 1.6, 3.49 Instructions",
            format!("{name}: {message}"),
        );
        return;
    }
    let declares_type = shape(instruction.opcode).is_some_and(|shape| shape.grammar.opname.starts_with("Type"));
    // A function names its type, and a default of fast math the type it is for.
    let takes_types = declares_type || matches!(op, Op::Function | Op::ExecutionModeId);
    if is_about(op) || op as u32 > 400 && op != Op::FmaKHR || facts.is_non_semantic(module, instruction) {
        return;
    }
    let wrong = operands.iter().filter(|at| is_use(at) && at.class == Class::Id).find_map(|at| {
        let id = module.words()[at.word];
        let definition = facts.definition(id)?;
        let of = Op::from_u32(definition.opcode.into())?;
        let fault = if facts.is_type(id) {
            (!takes_types).then_some("is a type, not a value")
        } else if of == Op::Function {
            (!matches!(
                op,
                Op::FunctionCall | Op::EntryPoint | Op::ExecutionMode | Op::ExecutionModeId | Op::EnqueueKernel
            ) && !(290..=304).contains(&(op as u32)))
            .then_some("is a function, which is only called")
        } else if of == Op::Label && matches!(op, Op::ExtInst | Op::FunctionCall) {
            Some("is a label")
        } else if definition.result_type == 0 && !declares_type && !names_others(op) {
            Some("has no value")
        } else {
            None
        }?;
        Some((at.word, format!("{}: {} {fault}", instruction_name(instruction.opcode), module.id(id))))
    });
    if let Some((word, message)) = wrong {
        checker.error(code::OPERAND_TYPE, word, source::UNIVERSAL, message);
    }
}

/// What names, lines and decorations are about.
fn target(checker: &Checker<'_>, instruction: &Instruction, op: Op) -> Option<String> {
    let (module, facts) = (checker.module, checker.facts);
    let is = |id, wanted: Op| facts.definition(id).is_some_and(|at| at.opcode == wanted as u16);
    let word = |index| module.operand_word(instruction, index);
    let id = word(0);
    let shown = module.id(id);
    match op {
        Op::Line => (!is(id, Op::String)).then(|| format!("{shown} is no OpString")),
        Op::MemberName | Op::MemberDecorate | Op::MemberDecorateString => {
            let Some(structure) = facts.defined_by(module, id, Op::TypeStruct) else {
                return Some(format!("{shown} is no struct type"));
            };
            let count = u32::from(structure.count) - 2;
            (word(1) >= count).then(|| format!("{shown} has {count} members, this is member {}", word(1)))
        }
        Op::GroupDecorate | Op::GroupMemberDecorate => {
            (!is(id, Op::DecorationGroup)).then(|| format!("{shown} is no OpDecorationGroup"))
        }
        // FPFastMathDefault names a type first.
        Op::ExecutionModeId if word(1) != ExecutionMode::FPFastMathDefault as u32 => {
            let other = module.words_of(instruction).get(3..)?.iter().find(|&&id| !checker.is_constant(id))?;
            Some(format!("{} is no constant", module.id(*other)))
        }
        _ => None,
    }
}
