//! SPV_KHR_float_controls2: what FPFastMathMode and FPFastMathDefault may say, and what excludes them.

use std::collections::HashSet;

use rspirv::spirv::{Decoration, ExecutionMode, FPFastMathMode, Op};

use super::{Checker, code};
use crate::facts::Attached;

const UNIVERSAL: &str = "SPV_KHR_float_controls2, 2.16.1 Universal Validation Rules";
const MODE: &str = "SPV_KHR_float_controls2, 3.6 Execution Mode";

pub(super) fn check(checker: &mut Checker<'_>) {
    let facts = checker.facts;
    for at in facts.decorations.iter().filter(|at| at.value == Decoration::FPFastMathMode as u32) {
        let word = at.instruction.word;
        if at.words.first().is_some_and(|&mask| transforms_alone(mask)) {
            checker.error(code::FAST_MATH, word, UNIVERSAL, format!("OpDecorate FPFastMathMode: {COMPANIONS}"));
        }
        if facts.is_decorated(at.target, Decoration::NoContraction) {
            let id = checker.module.id(at.target);
            let message = format!("OpDecorate: {id} is decorated both NoContraction and FPFastMathMode");
            checker.error(code::FAST_MATH, word, UNIVERSAL, message);
        }
    }
    let mut seen = HashSet::new();
    for at in facts.modes.iter().filter(|at| at.value == ExecutionMode::FPFastMathDefault as u32) {
        if let Some(message) = default(checker, at) {
            let message = format!("OpExecutionModeId FPFastMathDefault: {message}");
            checker.error(code::FAST_MATH, at.instruction.word, MODE, message);
        }
        if at.words.first().is_some_and(|&of| !seen.insert((at.target, of))) {
            let message = "OpExecutionModeId FPFastMathDefault is declared a second time for this type".to_owned();
            checker.error(code::EXECUTION_MODE, at.instruction.word, MODE, message);
        }
    }
    excluded(checker);
}

const COMPANIONS: &str = "AllowTransform needs AllowContract and AllowReassoc beside it";

fn transforms_alone(mask: u32) -> bool {
    let all = FPFastMathMode::ALLOW_TRANSFORM | FPFastMathMode::ALLOW_CONTRACT | FPFastMathMode::ALLOW_REASSOC;
    mask & FPFastMathMode::ALLOW_TRANSFORM.bits() != 0 && mask & all.bits() != all.bits()
}

/// What is wrong with a default: its type, its flags.
fn default(checker: &Checker<'_>, at: &Attached) -> Option<String> {
    let (module, facts) = (checker.module, checker.facts);
    let &[of, flags] = at.words.as_slice() else { return None };
    if facts.definition(of).is_some() && facts.float(module, of).is_none() {
        return Some(format!("Target Type {} is no scalar floating-point type", module.id(of)));
    }
    let Some(mask) = facts.fast_math_constant(module, flags) else {
        let constant = "a 32-bit integer constant that is not specialised";
        return facts.definition(flags).map(|_| format!("Fast-Math Mode {} is not {constant}", module.id(flags)));
    };
    if mask & FPFastMathMode::FAST.bits() != 0 {
        return Some("Fast-Math Mode contains Fast: write the other flags".to_owned());
    }
    transforms_alone(mask).then(|| COMPANIONS.to_owned())
}

/// What an entry point with a default may not have: older modes, and older decorations in what it reaches.
fn excluded(checker: &mut Checker<'_>) {
    let (module, facts) = (checker.module, checker.facts);
    let has_default: HashSet<u32> = facts
        .modes
        .iter()
        .filter(|at| at.value == ExecutionMode::FPFastMathDefault as u32)
        .map(|at| at.target)
        .collect();
    if has_default.is_empty() {
        return;
    }
    for mode in [ExecutionMode::ContractionOff, ExecutionMode::SignedZeroInfNanPreserve] {
        for at in facts.modes.iter().filter(|at| at.value == mode as u32 && has_default.contains(&at.target)) {
            let message =
                format!("OpExecutionMode {mode:?}: the entry point declares FPFastMathDefault, which excludes it");
            checker.error(code::FAST_MATH, at.instruction.word, UNIVERSAL, message);
        }
    }
    let calls = checker.calls();
    let is_reached = calls.reached(has_default.iter().copied());
    let mut function = 0;
    for instruction in module.instructions() {
        if instruction.opcode == Op::Function as u16 {
            function = module.result(instruction).unwrap_or(0);
        }
        let Some(id) = module.result(instruction).filter(|_| is_reached(function)) else { continue };
        for at in facts.decorations_of(id) {
            let fast = at.value == Decoration::FPFastMathMode as u32
                && at.words.first().is_some_and(|mask| mask & FPFastMathMode::FAST.bits() != 0);
            let what = match fast {
                true => "FPFastMathMode Fast",
                false if at.value == Decoration::NoContraction as u32 => "NoContraction",
                false => continue,
            };
            let id = module.id(id);
            let message =
                format!("OpDecorate {what}: {id} is reached from an entry point that declares FPFastMathDefault");
            checker.error(code::FAST_MATH, at.instruction.word, UNIVERSAL, message);
        }
    }
}
