//! What a module leaves to the implementation: each choice with its evaluations and with the edit that settles it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_isa::{Alternatives, Fix, OpenChoice, Sequence, SequenceOperand, Severity, Version};
use rspirv::grammar::OperandKind;
use rspirv::spirv::{Capability, ExecutionMode, ExecutionModel, Op};

use super::advice::find;
use super::calls::Calls;
use super::operand::FMA;
use super::{Checker, code, source};
use crate::allowed::allowed;
use crate::facts::{EntryPoint, Facts};
use crate::fast_math::{keeps_special, without_contraction};
use crate::grammar;
use crate::migrate::line_after;
use crate::modes::{Denorm, FloatModes};
use crate::module::Instruction;

/// More entry points than this are left for the author: each product that may be fused would name them all.
const MOST_EDITS: usize = 64;

/// A product that only feeds one sum, where nothing forbids that a driver fuses the two.
pub(super) fn contraction(checker: &mut Checker<'_>, defaults: &mut Defaults) {
    let (module, facts) = (checker.module, checker.facts);
    // Kernels say it for the entry point.
    let is_kernel = |entry: &EntryPoint| entry.model == ExecutionModel::Kernel as u32;
    let kernels_off =
        facts.contracting.is_empty() && !facts.entry_points.is_empty() && facts.entry_points.iter().all(is_kernel);
    if kernels_off {
        return;
    }
    let mut function = 0;
    for sum in module.instructions() {
        if sum.opcode == Op::Function as u16 {
            function = module.result(sum).unwrap_or(0);
        }
        if sum.opcode != Op::FAdd as u16 && sum.opcode != Op::FSub as u16 {
            continue;
        }
        let words = module.words_of(sum);
        let Some(&id) = words.get(2) else { continue };
        let taken = |operand| facts.defined_by(module, operand, Op::FMul).is_some() && facts.may_be_contracted(operand);
        let Some(&product) = words[3..].iter().find(|&&operand| taken(operand)) else { continue };
        let width = module.result_type(sum).and_then(|of| facts.float_format(module, of)).map_or(0, |at| at.width());
        let flags = defaults.of(checker, function, width);
        if !flags.iter().any(|&default| facts.may_contract(id, default)) {
            continue;
        }
        let name = if sum.opcode == Op::FAdd as u16 { "OpFAdd" } else { "OpFSub" };
        let message = format!(
            "a driver may contract the OpFMul {} and this {name} into one operation, with one rounding",
            module.id(product)
        );
        let open = apart_or_fused(checker, product, sum, flags);
        let rule = "SPIR-V 1.6, 3.20 Decoration, NoContraction";
        let found = find(checker, Severity::Note, code::CONTRACTION, sum.word, rule, message);
        let apart = apart(facts, id, flags);
        found.help = format!("write OpFmaKHR to have it fused, {apart} to have it apart");
        found.open = open.map(Box::new);
    }
}

/// Products of vectors and matrices: their sums have no order.
pub(super) fn sums(checker: &mut Checker<'_>) {
    let module = checker.module;
    for instruction in module.instructions() {
        let name = match Op::from_u32(instruction.opcode.into()) {
            Some(op @ (Op::Dot | Op::MatrixTimesVector | Op::VectorTimesMatrix | Op::MatrixTimesMatrix)) => op,
            _ => continue,
        };
        let message = format!("the order and the roundings of the sum in this Op{name:?} are left open");
        let found = find(checker, Severity::Note, code::SUM_OPEN, instruction.word, source::UNSPECIFIED_SUM, message);
        found.help = "write its products and sums one by one, each NoContraction".to_owned();
    }
}

/// What forbids that an instruction is contracted.
pub(super) fn apart(facts: &Facts, id: u32, flags: &BTreeSet<Option<u32>>) -> &'static str {
    if facts.fast_math(id).is_some() || flags.iter().any(Option::is_some) {
        "leave AllowContract out of its FPFastMathMode"
    } else {
        "decorate it NoContraction"
    }
}

/// The flags of functions' instructions that are not decorated, under each entry point that reaches them.
pub(super) struct Defaults {
    /// Where entry points may have defaults.
    calls: Option<Rc<Calls>>,
    /// By width, of each function; none of those that no entry point reaches.
    known: HashMap<u32, Vec<BTreeSet<Option<u32>>>>,
    none: BTreeSet<Option<u32>>,
}

impl Defaults {
    pub(super) fn new(checker: &Checker<'_>) -> Defaults {
        let calls = checker.facts.has(Capability::FloatControls2).then(|| checker.calls());
        Defaults { calls, known: HashMap::new(), none: BTreeSet::from([None]) }
    }

    pub(super) fn of(&mut self, checker: &Checker<'_>, function: u32, width: u32) -> &BTreeSet<Option<u32>> {
        let Some(calls) = &self.calls else { return &self.none };
        let flags = self.known.entry(width).or_insert_with(|| {
            let join = |one: &mut BTreeSet<_>, other: &BTreeSet<_>| one.extend(other);
            let default = |entry: &EntryPoint| checker.facts.fast_math_default(checker.module, entry.function, width);
            let entries = checker.facts.entry_points.iter();
            let given = entries.map(|entry| (entry.function, BTreeSet::from([default(entry)])));
            let mut flags = calls.values(given, join);
            calls.hand_down(&mut flags, join);
            flags
        });
        calls.value(flags, function).filter(|flags| !flags.is_empty()).unwrap_or(&self.none)
    }
}

/// For every entry point and every width that a sum, a product or a fused multiply-add under it has: the modes it does not
/// declare.
pub(super) fn modes(checker: &mut Checker<'_>, fused: &HashSet<usize>) {
    let (module, facts) = (checker.module, checker.facts);
    let calls = checker.calls();
    let mut used = calls.values(per_function(checker, fused), Used::join_all);
    calls.hand_up(&mut used, Used::join_all);
    for entry in &facts.entry_points {
        for (&width, used) in calls.value(&used, entry.function).into_iter().flatten() {
            let format = used.format;
            let modes = FloatModes::of(module, facts, entry, width, checker.environment);
            let id = module.id(entry.function);
            let word = entry.instruction.word;
            // The first mode named is the one that the edit declares.
            let mut open = |code: &'static str, what: String, names: &[Capability], between: Alternatives| {
                let lines: Vec<String> =
                    names.iter().map(|name| format!("`OpExecutionMode {id} {name:?} {width}`")).collect();
                let by_modes = || {
                    let contradictory = names.iter().any(|&name| declares(facts, entry.function, name, width));
                    match contradictory {
                        true => ("one of the two modes alone settles it".to_owned(), Vec::new()),
                        false => (
                            format!("{} settles it", lines.join(" or ")),
                            declared(checker, entry.function, names[0], width),
                        ),
                    }
                };
                // Flags exclude the mode, and those of an instruction come before it.
                let by_flags = code == code::SPECIAL_OPEN
                    && (used.loses || facts.fast_math_default(module, entry.function, width).is_some());
                let flags = || "FPFastMathMode without NotNaN, NotInf and NSZ settles it".to_owned();
                let (help, edits) = if by_flags { (flags(), Vec::new()) } else { by_modes() };
                let inputs = (1..=used.kind.arity()).map(|at| format!("Operand {at}")).collect();
                let code = if used.kind == ArithOp::MulAdd { code } else { code::SUMS_OPEN };
                let found = find(checker, Severity::Note, code, word, source::FLOAT_CONTROLS, what);
                found.help = help;
                found.open = Some(Box::new(OpenChoice { inputs, alternatives: between, edits, product: None }));
            };
            let rounded = |rounding| Operation::new(used.kind, format, rounding);
            let nearest = rounded(Rounding::NearestEven);
            let either = |choices: [(&'static str, Operation); 2]| {
                Alternatives::Evaluations(choices.map(|(name, operation)| Sequence::single(name, operation)))
            };
            let name = &entry.name;
            if modes.rounding.is_none() {
                let legal =
                    if modes.nearest_or_zero { "to nearest even or toward zero" } else { "either neighbour is legal" };
                let what = format!(
                    "entry point \"{name}\": the rounding of {width}-bit {} is left open: {legal}",
                    used.name()
                );
                let between = either([("to nearest even", nearest), ("toward zero", rounded(Rounding::TowardZero))]);
                open(code::ROUNDING_OPEN, what, &[Capability::RoundingModeRTE, Capability::RoundingModeRTZ], between);
            }
            if modes.denorm.is_none() {
                let what = format!("entry point \"{name}\": whether {width}-bit subnormals are kept is left open");
                let between = either([("kept", nearest), ("flushed", Operation { flush: true, ..nearest })]);
                open(code::DENORM_OPEN, what, &[Capability::DenormPreserve, Capability::DenormFlushToZero], between);
            }
            if used.loses || used.keeps_default && !modes.preserve_special {
                let what =
                    format!("entry point \"{name}\": zero signs, infinities and NaNs of {width} bits are left open");
                open(code::SPECIAL_OPEN, what, &[Capability::SignedZeroInfNanPreserve], either_zero(used));
            }
        }
    }
}

/// The sums, products and fused multiply-adds of a width.
#[derive(Clone, Copy)]
struct Used {
    format: Format,
    /// One of them, of which witnesses are: fused where there is such.
    kind: ArithOp,
    /// Some have no flags of their own.
    keeps_default: bool,
    /// Some have flags that lose infinities, NaNs or the signs of zeros.
    loses: bool,
}

impl Used {
    fn join(&mut self, other: &Used) {
        if other.kind == ArithOp::MulAdd {
            self.kind = other.kind;
        }
        self.keeps_default |= other.keeps_default;
        self.loses |= other.loses;
    }
    fn name(&self) -> &'static str {
        if self.kind == ArithOp::MulAdd { "multiply-adds" } else { "sums and products" }
    }
    /// The same of each width.
    fn join_all(one: &mut BTreeMap<u32, Used>, other: &BTreeMap<u32, Used>) {
        for (&width, used) in other {
            one.entry(width).and_modify(|all| all.join(used)).or_insert(*used);
        }
    }
}

/// By function: what it rounds so, by width.
fn per_function(checker: &Checker<'_>, calls: &HashSet<usize>) -> HashMap<u32, BTreeMap<u32, Used>> {
    let (module, facts) = (checker.module, checker.facts);
    let mut formats: HashMap<u32, BTreeMap<u32, Used>> = HashMap::new();
    let mut current = 0;
    for instruction in module.instructions() {
        if instruction.opcode == Op::Function as u16 {
            current = module.result(instruction).unwrap_or(0);
        } else if let Some(kind) = rounded(instruction, calls) {
            let format = module.result_type(instruction).and_then(|id| facts.float_format(module, id));
            let Some(format) = format else { continue };
            let flags = module.result(instruction).and_then(|id| facts.fast_math(id));
            let loses = flags.is_some_and(|mask| !keeps_special(mask));
            let used = Used { format, kind, keeps_default: flags.is_none(), loses };
            let of_function = formats.entry(current).or_default();
            of_function.entry(format.width()).and_modify(|all| all.join(&used)).or_insert(used);
        }
    }
    formats
}

/// What an instruction computes with one rounding.
fn rounded(instruction: &Instruction, calls: &HashSet<usize>) -> Option<ArithOp> {
    if instruction.opcode == FMA || calls.contains(&instruction.word) {
        return Some(ArithOp::MulAdd);
    }
    let sums = [Op::FAdd, Op::FSub].map(|op| op as u16);
    let products = [Op::FMul, Op::VectorTimesScalar, Op::MatrixTimesScalar].map(|op| op as u16);
    let products = products.contains(&instruction.opcode).then_some(ArithOp::Mul);
    products.or_else(|| sums.contains(&instruction.opcode).then_some(ArithOp::Add))
}

/// Whether an entry point declares a mode for a width.
fn declares(facts: &Facts, function: u32, mode: Capability, width: u32) -> bool {
    facts.modes_of(function).any(|at| {
        ExecutionMode::from_u32(at.value).is_some_and(|found| format!("{found:?}") == format!("{mode:?}"))
            && at.words.first() == Some(&width)
    })
}

/// An operand as a term: a constant's bits, or a value by the name that it has.
fn term(checker: &Checker<'_>, id: u32, inputs: &mut Vec<String>) -> SequenceOperand {
    let (module, facts) = (checker.module, checker.facts);
    if let Some(constant) = facts.defined_by(module, id, Op::Constant) {
        let words = module.words_of(constant).iter().skip(3);
        let bits = words.rev().fold(0, |bits, &word| bits << 32 | u64::from(word));
        return SequenceOperand::Constant(bits);
    }
    SequenceOperand::named(module.id(id).to_string(), inputs)
}

/// The two evaluations of a product and a sum that takes it.
fn apart_or_fused(
    checker: &Checker<'_>,
    product: u32,
    sum: &Instruction,
    flags: &BTreeSet<Option<u32>>,
) -> Option<OpenChoice> {
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
    let edits = uncontracted(checker, module.result(sum)?, flags);
    Some(OpenChoice { inputs, alternatives: between, edits, product: Some(module.location(mul.word)) })
}

/// GLSL.std.450 Fma: one operation or two.
pub(super) fn glsl(checker: &Checker<'_>, call: &Instruction, flags: &BTreeSet<Option<u32>>) -> Option<OpenChoice> {
    let edits = uncontracted(checker, checker.module.result(call)?, flags);
    multiply_add(checker, call, edits)
}
/// An extended instruction that is one operation or two; some edits make it two.
pub(super) fn multiply_add(checker: &Checker<'_>, call: &Instruction, edits: Vec<Fix>) -> Option<OpenChoice> {
    let module = checker.module;
    let format = checker.facts.float_format(module, module.result_type(call)?)?;
    let &[a, b, c] = module.words_of(call).get(5..)? else { return None };
    let operation = |kind| Operation::new(kind, format, Rounding::NearestEven);
    let mut inputs = Vec::new();
    let [a, b, c] = [a, b, c].map(|id| term(checker, id, &mut inputs));
    let between = Alternatives::contraction(&operation(ArithOp::Mul), [a, b], &operation(ArithOp::Add), c, true)?;
    Some(OpenChoice { inputs, alternatives: between, edits, product: None })
}

/// A zero that may have either sign.
fn either_zero(used: &Used) -> Alternatives {
    let modes = FloatModes { denorm: Some(Denorm::Preserve), ..FloatModes::default() };
    let format = used.format;
    let set = allowed(format, modes, [0; 3]);
    let zeros = set.ranges().iter().map(|range| range.first);
    let mut results = [("its sign kept", 0), ("its sign changed", 0)];
    results.iter_mut().zip(zeros).for_each(|(result, zero)| result.1 = zero);
    Alternatives::Results { format, inputs: vec![0; used.kind.arity()], results }
}

/// The lines that have an instruction stay as it is: a decoration, or in kernels the entry points' execution mode. Where
/// there are flags, they exclude both: it is decorated with its default ones but those that let it be rearranged, and
/// flags that it is decorated with are left for the author.
fn uncontracted(checker: &Checker<'_>, id: u32, flags: &BTreeSet<Option<u32>>) -> Vec<Fix> {
    let facts = checker.facts;
    if facts.fast_math(id).is_some() {
        return Vec::new();
    }
    if flags.iter().any(Option::is_some) {
        let mut different = flags.iter().map(|mask| without_contraction(mask.unwrap_or(0)));
        let Some(mask) = different.next().filter(|mask| different.all(|other| other == *mask)) else {
            return Vec::new();
        };
        let Some(names) = grammar::name_of(OperandKind::FPFastMathMode, mask) else { return Vec::new() };
        let line = format!("OpDecorate {} FPFastMathMode {names}", checker.module.id(id));
        return decorated(checker, &line).into_iter().collect();
    }
    if facts.has(Capability::Shader) {
        let line = format!("OpDecorate {} NoContraction", checker.module.id(id));
        return decorated(checker, &line).into_iter().collect();
    }
    let line = |function| format!("OpExecutionMode {} ContractionOff", checker.module.id(function));
    let entries = &facts.contracting;
    if entries.len() > MOST_EDITS {
        return Vec::new();
    }
    entries.iter().filter_map(|&entry| inserted(checker, MODES, line(entry))).collect()
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
static MODES: &[Op] = &[Op::ExecutionMode, Op::ExecutionModeId, Op::EntryPoint];

/// A line after the last instruction of these opcodes; `None` where the module was no text.
fn inserted(checker: &Checker<'_>, after: &[Op], line: String) -> Option<Fix> {
    let last = after.iter().filter_map(|op| checker.facts.preamble.last.get(&(*op as u16))).max()?;
    let last = &checker.module.instructions()[*last];
    Some(line_after(checker.text?, checker.module.span(last.word)?, &line))
}

/// A decoration, before the first type: there no other line is inserted.
fn decorated(checker: &Checker<'_>, line: &str) -> Option<Fix> {
    let instructions = checker.module.instructions();
    let first = checker.facts.preamble.length;
    let text = checker.text?;
    let after = line_after(text, checker.module.span(instructions[first.checked_sub(1)?].word)?, line);
    let start = checker.module.span(instructions.get(first)?.word)?.start;
    let margin = text[..start].len() - text[..start].trim_end_matches([' ', '\t']).len();
    let alone = text[..start - margin].ends_with('\n');
    let start = if alone { start - margin } else { start };
    Some(Fix { start, end: start, replacement: format!("{}\n", after.replacement.trim_start_matches('\n')) })
}
