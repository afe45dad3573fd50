//! What is valid and yet worth knowing: deprecated, without effect, or leaving bits to the implementation.

use std::collections::{BTreeSet, HashMap, HashSet};

use roundonce_isa::{Finding, Level};
use rspirv::spirv::{Capability, Decoration, ExecutionMode, ExecutionModel, FPFastMathMode, Op};

use super::operand::{FMA, fused};
use super::{Checker, code, source};
use crate::modes::FloatModes;
use crate::module::Instruction;

pub(super) fn check(checker: &mut Checker<'_>) {
    unused(checker);
    let calls = extended_calls(checker);
    contraction(checker);
    open_modes(checker, &calls);
    contradictions(checker);
}

fn find(
    checker: &mut Checker<'_>,
    level: Level,
    code: &'static str,
    word: usize,
    rule: &str,
    message: String,
) -> usize {
    let place = checker.module.place(word);
    checker.report(Finding::new(level, code, place, message).rule(rule));
    checker.findings.len() - 1
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
        find(checker, Level::Warning, code::UNUSED, at.word, source::FMA_CAPABILITY, message.to_owned());
    }
    if declared.is_empty() && facts.extensions.contains("SPV_KHR_fma") {
        let extension = module.instructions().iter().find(|at| at.opcode == Op::Extension as u16);
        let message = "SPV_KHR_fma is declared; without the capability FMAKHR it has no effect".to_owned();
        let word = extension.map_or(0, |at| at.word);
        find(checker, Level::Note, code::UNUSED, word, "SPV_KHR_fma, Extension Name", message);
    }
}

/// Calls of OpenCL.std and GLSL.std.450 that multiply and add; the result types of those that round as OpFmaKHR does.
fn extended_calls(checker: &mut Checker<'_>) -> HashSet<usize> {
    let (module, facts) = (checker.module, checker.facts);
    let mut calls = HashSet::new();
    for instruction in module.instructions().iter().filter(|at| at.opcode == Op::ExtInst as u16) {
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
                let at = find(
                    checker,
                    Level::Warning,
                    code::DEPRECATED_FMA,
                    instruction.word,
                    "SPV_KHR_fma, Deprecation",
                    message,
                );
                checker.findings[at].help = "OpFmaKHR gives the same bits; `check --fix` writes it".to_owned();
            }
            Some("Fma") if !facts.is_decorated(id, Decoration::NoContraction) => {
                let message = "GLSL.std.450 Fma may be computed unfused, with two roundings".to_owned();
                let at = find(checker, Level::Note, code::GLSL_FMA, instruction.word, "GLSL.std.450, Fma", message);
                checker.findings[at].help =
                    "decorate it NoContraction, or write OpFmaKHR (`check --fix=glsl-fma`)".to_owned();
            }
            Some("Fma") => {
                calls.insert(instruction.word);
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
                Level::Note,
                code::NO_CONTRACTION,
                decoration.instruction.word,
                "SPIR-V 1.6, 3.20 Decoration, NoContraction",
                message,
            );
        }
    }
    calls
}

/// A product that only feeds one sum, where nothing forbids that a driver fuses the two.
fn contraction(checker: &mut Checker<'_>) {
    let (module, facts) = (checker.module, checker.facts);
    // Kernels say it for the entry point.
    let off = |function| {
        facts.modes.iter().any(|at| at.target == function && at.value == ExecutionMode::ContractionOff as u32)
    };
    let kernels_off = !facts.entry_points.is_empty()
        && facts.entry_points.iter().all(|entry| entry.model == ExecutionModel::Kernel as u32 && off(entry.function));
    if kernels_off {
        return;
    }
    for sum in module.instructions().iter().filter(|at| at.opcode == Op::FAdd as u16 || at.opcode == Op::FSub as u16) {
        let words = module.words_of(sum);
        let Some(&id) = words.get(2) else { continue };
        let product = words[3..]
            .iter()
            .find(|&&operand| facts.defined_by(module, operand, Op::FMul).is_some() && may_contract(checker, operand));
        let Some(&product) = product.filter(|_| may_contract(checker, id)) else {
            continue;
        };
        let name = if sum.opcode == Op::FAdd as u16 { "OpFAdd" } else { "OpFSub" };
        let message = format!(
            "a driver may contract the OpFMul {} and this {name} into one operation, with one rounding",
            module.id(product)
        );
        let at = find(
            checker,
            Level::Note,
            code::CONTRACTION,
            sum.word,
            "SPIR-V 1.6, 3.20 Decoration, NoContraction",
            message,
        );
        checker.findings[at].help =
            "write OpFmaKHR to have it fused, decorate it NoContraction to have it apart".to_owned();
    }
}

/// Whether nothing forbids to contract an instruction: NoContraction, or a fast-math mode without AllowContract.
fn may_contract(checker: &Checker<'_>, id: u32) -> bool {
    let allows = FPFastMathMode::ALLOW_CONTRACT.bits() | FPFastMathMode::FAST.bits();
    let mut decorations = checker.facts.decorations_of(id);
    !decorations.any(|at| {
        at.value == Decoration::NoContraction as u32
            || checker.facts.has(Capability::FloatControls2)
                && at.value == Decoration::FPFastMathMode as u32
                && at.words.first().is_some_and(|mask| mask & allows == 0)
    })
}

/// For every entry point and every width that a fused multiply-add under it has: the modes it does not declare.
fn open_modes(checker: &mut Checker<'_>, calls: &HashSet<usize>) {
    let (module, facts) = (checker.module, checker.facts);
    let (widths, callees) = per_function(checker, calls);
    for entry in &facts.entry_points {
        let mut reached = BTreeSet::from([entry.function]);
        let mut left = vec![entry.function];
        while let Some(function) = left.pop() {
            for &callee in callees.get(&function).into_iter().flatten() {
                if reached.insert(callee) {
                    left.push(callee);
                }
            }
        }
        let used: BTreeSet<u32> =
            reached.iter().filter_map(|function| widths.get(function)).flatten().copied().collect();
        for width in used {
            let modes = FloatModes::of(facts, entry.function, width);
            let id = module.id(entry.function);
            let word = entry.instruction.word;
            let mut open = |code, what: String, names: &[&str]| {
                let rule = source::FLOAT_CONTROLS;
                let lines: Vec<String> =
                    names.iter().map(|name| format!("`OpExecutionMode {id} {name} {width}`")).collect();
                let at = find(checker, Level::Note, code, word, rule, what);
                checker.findings[at].help = format!("{} settles it", lines.join(" or "));
            };
            let name = &entry.name;
            if modes.rounding.is_none() {
                let what = format!(
                    "entry point \"{name}\": the rounding of {width}-bit multiply-adds is left open: either neighbour is legal"
                );
                open(code::ROUNDING_OPEN, what, &["RoundingModeRTE", "RoundingModeRTZ"]);
            }
            if modes.denorm.is_none() {
                let what = format!("entry point \"{name}\": whether {width}-bit subnormals are kept is left open");
                open(code::DENORM_OPEN, what, &["DenormPreserve", "DenormFlushToZero"]);
            }
            if !modes.preserve_special {
                let what =
                    format!("entry point \"{name}\": zero signs, infinities and NaNs of {width} bits are left open");
                open(code::SPECIAL_OPEN, what, &["SignedZeroInfNanPreserve"]);
            }
        }
    }
}

/// By function: the widths of its fused multiply-adds, and the functions it calls.
type PerFunction = (HashMap<u32, BTreeSet<u32>>, HashMap<u32, BTreeSet<u32>>);

fn per_function(checker: &Checker<'_>, calls: &HashSet<usize>) -> PerFunction {
    let (module, facts) = (checker.module, checker.facts);
    let (mut widths, mut callees): PerFunction = Default::default();
    let mut current = 0;
    for instruction in module.instructions() {
        match Op::from_u32(instruction.opcode.into()) {
            Some(Op::Function) => current = module.result(instruction).unwrap_or(0),
            Some(Op::FunctionCall) => {
                callees.entry(current).or_default().insert(module.operand_word(instruction, 2));
            }
            _ if instruction.opcode == FMA || calls.contains(&instruction.word) => {
                let format = module.result_type(instruction).and_then(|id| facts.float_format(module, id));
                if let Some(format) = format {
                    widths.entry(current).or_default().insert(format.width());
                }
            }
            _ => {}
        }
    }
    (widths, callees)
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
                    Level::Warning,
                    code::MODES_CONTRADICT,
                    mode.instruction.word,
                    source::FLOAT_CONTROLS,
                    message,
                );
            }
        }
    }
}
