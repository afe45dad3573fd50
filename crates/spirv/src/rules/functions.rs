//! Functions and their calls: parameters, where variables stand, what an entry point reaches.

use std::collections::HashSet;

use rspirv::spirv::{ExecutionModel, Op};

use super::{Checker, code, source};
use crate::environment::Client;
use crate::facts::EntryPoint;
use crate::module::Instruction;

pub(super) fn check(checker: &mut Checker<'_>) {
    let (module, facts) = (checker.module, checker.facts);
    let entries: HashSet<u32> = facts.entry_points.iter().map(|entry| entry.function).collect();
    let mut function = 0;
    let mut variables = false;
    for (index, instruction) in module.instructions().iter().enumerate() {
        match Op::from_u32(instruction.opcode.into()) {
            Some(Op::Function) => {
                function = module.result(instruction).unwrap_or(0);
                variables = true;
                parameters(checker, index, instruction);
            }
            Some(Op::Variable) if function != 0 && !variables => {
                let id = module.operand_word(instruction, 1);
                let message = format!("OpVariable: {} stands first in its function's first block", module.id(id));
                checker.error(code::BLOCK, instruction.word, source::UNIVERSAL, message);
            }
            Some(Op::Variable | Op::UntypedVariableKHR | Op::FunctionParameter | Op::Line | Op::NoLine) => {}
            // A later block comes after the terminator of the first.
            Some(Op::Label) => {}
            Some(Op::FunctionEnd) => function = 0,
            op => {
                variables &= facts.is_non_semantic(module, instruction);
                let callee = (op == Some(Op::FunctionCall)).then(|| module.operand_word(instruction, 2));
                if let Some(callee) = callee.filter(|callee| entries.contains(callee)) {
                    let message =
                        format!("OpFunctionCall: {} is an entry point, which is not called", module.id(callee));
                    checker.error(code::ENTRY_POINT, instruction.word, source::UNIVERSAL, message);
                }
            }
        }
    }
    fragment_only(checker);
    circle(checker);
}

/// A function has the parameters of its type.
fn parameters(checker: &mut Checker<'_>, index: usize, function: &Instruction) {
    let (module, facts) = (checker.module, checker.facts);
    let id = module.id(module.operand_word(function, 1));
    let Some(declared) = facts.defined_by(module, module.operand_word(function, 3), Op::TypeFunction) else { return };
    let wanted = module.words_of(declared).get(3..).unwrap_or_default();
    let skipped = |at: &&Instruction| [Op::Line, Op::NoLine].iter().any(|&op| op as u16 == at.opcode);
    let mut found = 0;
    for at in module.instructions()[index + 1..].iter().filter(|at| !skipped(at)) {
        if at.opcode != Op::FunctionParameter as u16 {
            break;
        }
        let given = module.operand_word(at, 0);
        if let Some(&wanted) = wanted.get(found).filter(|&&wanted| wanted != given) {
            let (given, wanted) = (facts.describe(module, given), facts.describe(module, wanted));
            let message = format!("OpFunctionParameter: {given}, in the type of {id} it is {wanted}");
            checker.error(code::OPERAND_TYPE, at.word, source::UNIVERSAL, message);
        }
        found += 1;
    }
    if found != wanted.len() {
        let message = format!("OpFunction: {id} has {found} parameters, its type has {}", wanted.len());
        checker.error(code::OPERAND_TYPE, function.word, source::UNIVERSAL, message);
    }
}

/// Instructions that only fragment shaders reach.
fn fragment_only(checker: &mut Checker<'_>) {
    let (module, facts) = (checker.module, checker.facts);
    let ends = |at: &&Instruction| [Op::Kill, Op::TerminateInvocation].iter().any(|&op| op as u16 == at.opcode);
    if !module.instructions().iter().any(|at| ends(&at)) {
        return;
    }
    let others = |entry: &&EntryPoint| entry.model != ExecutionModel::Fragment as u32;
    let calls = checker.calls();
    let is_reached = calls.reached(facts.entry_points.iter().filter(others).map(|entry| entry.function));
    let mut function = 0;
    for instruction in module.instructions() {
        if instruction.opcode == Op::Function as u16 {
            function = module.result(instruction).unwrap_or(0);
        }
        if ends(&instruction) && is_reached(function) {
            let name = crate::grammar::instruction_name(instruction.opcode);
            let message = format!("{name}: only fragment shaders have it, an entry point of another model reaches it");
            checker.error(code::ENTRY_POINT, instruction.word, source::UNIVERSAL, message);
        }
    }
}

/// VUID-StandaloneSpirv-None-04634: Vulkan alone has it.
fn circle(checker: &mut Checker<'_>) {
    let (module, facts) = (checker.module, checker.facts);
    if !matches!(checker.environment.client, Client::Vulkan(_)) {
        return;
    }
    let entries = facts.entry_points.iter().map(|entry| entry.function);
    let Some(function) = checker.calls().in_circle(entries) else { return };
    let word = facts.instruction(module, function).map_or(0, |at| at.word);
    let message =
        format!("OpFunction: {} calls itself, directly or not, and an entry point reaches it", module.id(function));
    checker.error(code::ENTRY_POINT, word, "Vulkan, VUID-StandaloneSpirv-None-04634", message);
}
