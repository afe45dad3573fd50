//! What a module leaves to the implementation: each choice with its evaluations and with the edit that settles it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_isa::{Alternatives, Fix, OpenChoice, Sequence, SequenceOperand, Severity, Version};
use rspirv::spirv::{Capability, ExecutionMode, ExecutionModel, Op};

use super::advice::find;
use super::operand::FMA;
use super::{Checker, code, source};
use crate::allowed::allowed;
use crate::grammar;
use crate::migrate::line_after;
use crate::modes::{Denorm, FloatModes};
use crate::module::Instruction;

/// A product that only feeds one sum, where nothing forbids that a driver fuses the two.
pub(super) fn contraction(checker: &mut Checker<'_>) {
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
            .find(|&&operand| facts.defined_by(module, operand, Op::FMul).is_some() && facts.may_contract(operand));
        let Some(&product) = product.filter(|_| facts.may_contract(id)) else {
            continue;
        };
        let name = if sum.opcode == Op::FAdd as u16 { "OpFAdd" } else { "OpFSub" };
        let message = format!(
            "a driver may contract the OpFMul {} and this {name} into one operation, with one rounding",
            module.id(product)
        );
        let open = apart_or_fused(checker, product, sum);
        let rule = "SPIR-V 1.6, 3.20 Decoration, NoContraction";
        let found = find(checker, Severity::Note, code::CONTRACTION, sum.word, rule, message);
        found.help = "write OpFmaKHR to have it fused, decorate it NoContraction to have it apart".to_owned();
        found.open = open.map(Box::new);
    }
}

/// For every entry point and every width that a fused multiply-add under it has: the modes it does not declare.
pub(super) fn modes(checker: &mut Checker<'_>, calls: &HashSet<usize>) {
    let (module, facts) = (checker.module, checker.facts);
    let (formats, callees) = per_function(checker, calls);
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
        let used: BTreeMap<u32, Format> = reached
            .iter()
            .filter_map(|function| formats.get(function))
            .flatten()
            .map(|(&width, &format)| (width, format))
            .collect();
        for (width, format) in used {
            let modes = FloatModes::of(facts, entry.function, width);
            let id = module.id(entry.function);
            let word = entry.instruction.word;
            // The first mode named is the one that the edit declares.
            let mut open = |code, what: String, names: &[Capability], between: Alternatives| {
                let lines: Vec<String> =
                    names.iter().map(|name| format!("`OpExecutionMode {id} {name:?} {width}`")).collect();
                let edits = declared(checker, entry.function, names[0], width);
                let inputs = (1..=3).map(|at| format!("Operand {at}")).collect();
                let found = find(checker, Severity::Note, code, word, source::FLOAT_CONTROLS, what);
                found.help = format!("{} settles it", lines.join(" or "));
                found.open = Some(Box::new(OpenChoice { inputs, alternatives: between, edits }));
            };
            let fma = |rounding| Operation::mul_add(format, rounding);
            let nearest = fma(Rounding::NearestEven);
            let either = |choices: [(&'static str, Operation); 2]| {
                Alternatives::Evaluations(choices.map(|(name, operation)| Sequence::single(name, operation)))
            };
            let name = &entry.name;
            if modes.rounding.is_none() {
                let what = format!(
                    "entry point \"{name}\": the rounding of {width}-bit multiply-adds is left open: either neighbour is legal"
                );
                let between = either([("to nearest even", nearest), ("toward zero", fma(Rounding::TowardZero))]);
                open(code::ROUNDING_OPEN, what, &[Capability::RoundingModeRTE, Capability::RoundingModeRTZ], between);
            }
            if modes.denorm.is_none() {
                let what = format!("entry point \"{name}\": whether {width}-bit subnormals are kept is left open");
                let between = either([("kept", nearest), ("flushed", Operation { flush: true, ..nearest })]);
                open(code::DENORM_OPEN, what, &[Capability::DenormPreserve, Capability::DenormFlushToZero], between);
            }
            if !modes.preserve_special {
                let what =
                    format!("entry point \"{name}\": zero signs, infinities and NaNs of {width} bits are left open");
                open(code::SPECIAL_OPEN, what, &[Capability::SignedZeroInfNanPreserve], either_zero(format));
            }
        }
    }
}

/// By function: the widths and formats of its fused multiply-adds, and the functions it calls.
type PerFunction = (HashMap<u32, BTreeMap<u32, Format>>, HashMap<u32, BTreeSet<u32>>);

fn per_function(checker: &Checker<'_>, calls: &HashSet<usize>) -> PerFunction {
    let (module, facts) = (checker.module, checker.facts);
    let (mut formats, mut callees): PerFunction = Default::default();
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
                    formats.entry(current).or_default().insert(format.width(), format);
                }
            }
            _ => {}
        }
    }
    (formats, callees)
}

/// An operand as a term: a constant's bits, or a value by the name that it has.
fn term(checker: &Checker<'_>, id: u32, inputs: &mut Vec<String>) -> SequenceOperand {
    let (module, facts) = (checker.module, checker.facts);
    if let Some(constant) = facts.defined_by(module, id, Op::Constant) {
        let words = &module.words_of(constant)[3..];
        let bits = words.iter().rev().fold(0, |bits, &word| bits << 32 | u64::from(word));
        return SequenceOperand::Constant(bits);
    }
    SequenceOperand::named(module.id(id).to_string(), inputs)
}

/// The two evaluations of a product and a sum that takes it.
fn apart_or_fused(checker: &Checker<'_>, product: u32, sum: &Instruction) -> Option<OpenChoice> {
    let (module, facts) = (checker.module, checker.facts);
    let format = facts.float_format(module, module.result_type(sum)?)?;
    let (words, mul) = (module.words_of(sum), facts.instruction(module, product)?);
    let (&[left, right, ..], &[a, b, ..]) = (words.get(3..)?, module.words_of(mul).get(3..)?) else { return None };
    let first = left == product;
    let addend = if first { right } else { left };
    let operation = |kind| Operation::new(kind, format, Rounding::NearestEven);
    let add = Operation { negate_addend: sum.opcode == Op::FSub as u16, ..operation(ArithOp::Add) };
    let mut inputs = Vec::new();
    let [a, b] = [a, b].map(|id| term(checker, id, &mut inputs));
    let addend = if addend == product { SequenceOperand::Step(0) } else { term(checker, addend, &mut inputs) };
    let between = Alternatives::contraction(&operation(ArithOp::Mul), [a, b], &add, addend, first)?;
    Some(OpenChoice { inputs, alternatives: between, edits: uncontracted(checker, module.result(sum)?) })
}

/// GLSL.std.450 Fma: one operation or two.
pub(super) fn glsl(checker: &Checker<'_>, call: &Instruction) -> Option<OpenChoice> {
    let module = checker.module;
    let format = checker.facts.float_format(module, module.result_type(call)?)?;
    let &[a, b, c] = module.words_of(call).get(5..)? else { return None };
    let operation = |kind| Operation::new(kind, format, Rounding::NearestEven);
    let mut inputs = Vec::new();
    let [a, b, c] = [a, b, c].map(|id| term(checker, id, &mut inputs));
    let between = Alternatives::contraction(&operation(ArithOp::Mul), [a, b], &operation(ArithOp::Add), c, true)?;
    Some(OpenChoice { inputs, alternatives: between, edits: uncontracted(checker, module.result(call)?) })
}

/// A zero that may have either sign.
fn either_zero(format: Format) -> Alternatives {
    let modes = FloatModes { denorm: Some(Denorm::Preserve), ..FloatModes::default() };
    let inputs = [0; 3];
    let set = allowed(format, modes, inputs);
    let zeros = set.ranges().iter().map(|range| range.first);
    let mut results = [("its sign kept", 0), ("its sign changed", 0)];
    results.iter_mut().zip(zeros).for_each(|(result, zero)| result.1 = zero);
    Alternatives::Results { format, inputs: inputs.to_vec(), results }
}

/// The lines that have an instruction stay as it is: a decoration, or in kernels the entry points' execution mode.
fn uncontracted(checker: &Checker<'_>, id: u32) -> Vec<Fix> {
    if checker.facts.has(Capability::Shader) {
        let line = format!("OpDecorate {} NoContraction", checker.module.id(id));
        return decorated(checker, &line).into_iter().collect();
    }
    let entries = checker.facts.entry_points.iter();
    let line = |function| format!("OpExecutionMode {} ContractionOff", checker.module.id(function));
    entries.filter_map(|entry| inserted(checker, MODES, line(entry.function))).collect()
}

/// The lines that declare a mode of SPV_KHR_float_controls for a function and a width; the capability has its name.
fn declared(checker: &Checker<'_>, function: u32, mode: Capability, width: u32) -> Vec<Fix> {
    const EXTENSION: &str = "SPV_KHR_float_controls";
    let (module, facts) = (checker.module, checker.facts);
    let line = format!("OpExecutionMode {} {mode:?} {width}", module.id(function));
    let mode_line = inserted(checker, MODES, line);
    let capability = || inserted(checker, &[Op::Capability], format!("OpCapability {mode:?}"));
    let extension = || inserted(checker, &[Op::Extension, Op::Capability], format!("OpExtension \"{EXTENSION}\""));
    let old = module.version() < Version(1, 4) && !facts.extensions.contains(EXTENSION);
    let extension = old.then(extension).flatten();
    let capability = (!facts.has(mode)).then(capability).flatten();
    [mode_line, capability, extension].into_iter().flatten().collect()
}

/// Entry points and their modes.
const MODES: &[Op] = &[Op::ExecutionMode, Op::ExecutionModeId, Op::EntryPoint];

/// A line after the last instruction of these opcodes; `None` where the module was no text.
fn inserted(checker: &Checker<'_>, after: &[Op], line: String) -> Option<Fix> {
    let among = |at: &&Instruction| after.iter().any(|op| at.opcode == *op as u16);
    let last = checker.module.instructions().iter().rfind(among)?;
    Some(line_after(checker.text?, checker.module.span(last.word)?, &line))
}

/// A decoration, before the first type: there no other line is inserted.
fn decorated(checker: &Checker<'_>, line: &str) -> Option<Fix> {
    let instructions = checker.module.instructions();
    let is_type = |at: &Instruction| grammar::instruction_name(at.opcode).starts_with("OpType");
    let first = instructions.iter().position(is_type)?;
    let text = checker.text?;
    let after = line_after(text, checker.module.span(instructions[first.checked_sub(1)?].word)?, line);
    let start = checker.module.span(instructions[first].word)?.start;
    let margin = text[..start].len() - text[..start].trim_end_matches([' ', '\t']).len();
    let alone = text[..start - margin].ends_with('\n');
    let start = if alone { start - margin } else { start };
    Some(Fix { start, end: start, replacement: format!("{}\n", after.replacement.trim_start_matches('\n')) })
}
