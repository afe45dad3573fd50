//! What is valid and yet worth knowing: deprecated, without effect, or leaving bits to the implementation.

use std::collections::HashSet;

use roundonce_isa::{Finding, Severity};
use rspirv::spirv::{Capability, Decoration, ExecutionMode, Op};

use super::operand::{FMA, fused};
use super::{Checker, code, open, source};
use crate::module::Instruction;

pub(super) fn check(checker: &mut Checker<'_>) {
    unused(checker);
    let mut defaults = open::Defaults::new(checker);
    let calls = extended_calls(checker, &mut defaults);
    open::contraction(checker, &mut defaults);
    open::modes(checker, &calls);
    open::sums(checker);
    contradictions(checker);
}

pub(super) fn find<'c>(
    checker: &'c mut Checker<'_>,
    level: Severity,
    code: &'static str,
    word: usize,
    rule: &str,
    message: String,
) -> &'c mut Finding {
    let place = checker.module.location(word);
    checker.report(Finding::new(level, code, place, message).rule(rule))
}

fn unused(checker: &mut Checker<'_>) {
    let (module, facts) = (checker.module, checker.facts);
    let used = module.instructions().iter().any(|at| at.opcode == FMA);
    let declared: Vec<Instruction> = facts
        .declared
        .iter()
        .filter(|(_, capability)| *capability == Capability::FMAKHR as u32)
        .map(|(instruction, _)| *instruction)
        .collect();
    for (index, at) in declared.iter().enumerate() {
        let message = match (index, used) {
            (0, true) => continue,
            (0, false) => "the capability FMAKHR is declared and no OpFmaKHR uses it",
            _ => "the capability FMAKHR is declared a second time",
        };
        find(checker, Severity::Warning, code::UNUSED, at.word, source::FMA_CAPABILITY, message.to_owned());
    }
    if declared.is_empty() && facts.extensions.contains("SPV_KHR_fma") {
        let extension = module.instructions().iter().find(|at| at.opcode == Op::Extension as u16);
        let message = "SPV_KHR_fma is declared; without the capability FMAKHR it has no effect".to_owned();
        let word = extension.map_or(0, |at| at.word);
        find(checker, Severity::Note, code::UNUSED, word, "SPV_KHR_fma, Extension Name", message);
    }
}

/// Calls of OpenCL.std and GLSL.std.450 that multiply and add; the result types of those that round as OpFmaKHR does.
fn extended_calls(checker: &mut Checker<'_>, defaults: &mut open::Defaults) -> HashSet<usize> {
    let (module, facts) = (checker.module, checker.facts);
    let mut calls = HashSet::new();
    let mut function = 0;
    for instruction in module.instructions() {
        if instruction.opcode == Op::Function as u16 {
            function = module.result(instruction).unwrap_or(0);
        }
        if instruction.opcode != Op::ExtInst as u16 {
            continue;
        }
        let words = module.words_of(instruction);
        let (Some(set), Some(&number), Some(&id)) =
            (words.get(3).and_then(|id| facts.imports.get(id)), words.get(4), words.get(2))
        else {
            continue;
        };
        match fused(set, number) {
            Some("fma") => {
                calls.insert(instruction.word);
                let message = "OpenCL.std fma is deprecated by SPV_KHR_fma".to_owned();
                let rule = "SPV_KHR_fma, Deprecation";
                find(checker, Severity::Warning, code::DEPRECATED_FMA, instruction.word, rule, message).help =
                    "OpFmaKHR gives the same bits; `check --fix` writes it".to_owned();
            }
            Some("Fma") => {
                let format = module.result_type(instruction).and_then(|of| facts.float_format(module, of));
                let flags = defaults.of(checker, function, format.map_or(0, |format| format.width()));
                if !flags.iter().any(|&default| facts.may_contract(id, default)) {
                    calls.insert(instruction.word);
                    continue;
                }
                let message = "GLSL.std.450 Fma may be computed unfused, with two roundings".to_owned();
                let open = open::glsl(checker, instruction, flags);
                let apart = open::apart(facts, id, flags);
                let rule = "GLSL.std.450, Fma";
                let found = find(checker, Severity::Note, code::GLSL_FMA, instruction.word, rule, message);
                found.help = format!("{apart}, or write OpFmaKHR (`check --fix=glsl-fma`)");
                found.open = open.map(Box::new);
            }
            Some("mad") => {
                let message = "OpenCL.std mad may be computed with one rounding or with two".to_owned();
                let open = open::multiply_add(checker, instruction, Vec::new());
                let rule = "OpenCL.std, mad";
                let found = find(checker, Severity::Note, code::MAD, instruction.word, rule, message);
                found.help = "write OpFmaKHR for one rounding, OpFMul and OpFAdd kept apart for two".to_owned();
                found.open = open.map(Box::new);
            }
            _ => {}
        }
    }
    for decoration in facts.decorations.iter().filter(|at| at.value == Decoration::NoContraction as u32) {
        if facts.defined_by(module, decoration.target, Op::FmaKHR).is_some() {
            let id = module.id(decoration.target);
            let message = format!("NoContraction has no effect on the OpFmaKHR {id}: it is one operation already");
            find(
                checker,
                Severity::Note,
                code::NO_CONTRACTION,
                decoration.instruction.word,
                "SPIR-V 1.6, 3.20 Decoration, NoContraction",
                message,
            );
        }
    }
    calls
}

/// Two modes of one entry point and width that cannot both hold.
fn contradictions(checker: &mut Checker<'_>) {
    let facts = checker.facts;
    use ExecutionMode::*;
    for [one, other] in [[RoundingModeRTE, RoundingModeRTZ], [DenormPreserve, DenormFlushToZero]] {
        for mode in facts.modes.iter().filter(|at| at.value == other as u32) {
            let same = |at: &&crate::facts::Attached| {
                at.target == mode.target && at.value == one as u32 && at.words.first() == mode.words.first()
            };
            if facts.modes.iter().any(|at| same(&at)) {
                let width = mode.words.first().copied().unwrap_or(0);
                let message =
                    format!("{one:?} and {other:?} are both declared for {width} bits: neither can be relied on");
                find(
                    checker,
                    Severity::Warning,
                    code::MODES_CONTRADICT,
                    mode.instruction.word,
                    source::FLOAT_CONTROLS,
                    message,
                );
            }
        }
    }
}
