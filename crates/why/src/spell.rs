//! An evaluation as a program: what to write in PTX, CUDA and SPIR-V to get its bits.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding};
use roundonce_deviate::{Deviation, EvalMethod, EvalModel, NarrowBy, Typed};
use roundonce_functions::Function;
use roundonce_isa::hex_bits;
use serde::Serialize;

mod cuda;
mod spirv;

use self::cuda::{c_type, cuda_call, cuda_leaf, cuda_name, cuda_to_integer, narrowed};
use crate::call::Call;
use crate::evaluation::{Evaluation, Step};
use crate::integer::{IntegerCast, IntegerType, OutOfRange};
use crate::plan::{PlanOp, Ref};

/// What to write to get an evaluation's bits. Each is empty where the language has no such operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Spelling {
    /// PTX instructions, `d` the result.
    pub ptx: Vec<String>,
    /// One CUDA C++ expression.
    pub cuda: String,
    /// SPIR-V instructions, and the execution modes they need.
    pub spirv: Vec<String>,
}

impl Spelling {
    /// The languages that have it, and the text in each.
    pub(crate) fn texts(&self) -> Vec<(&'static str, String)> {
        let all = [("ptx", self.ptx.join(" ")), ("cuda", self.cuda.clone()), ("spirv", self.spirv.join("; "))];
        all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
    }
}

/// The spellings of an evaluation.
pub fn spell(evaluation: &Evaluation, profile: &Profile) -> Spelling {
    let model = evaluation.model();
    // A conversion of sixteen bits keeps subnormals.
    let flushes_f16 = model.flushes() && model.method().wide() == Some(Format::F32);
    let is_lenient = |mode: &Deviation| {
        matches!(
            mode,
            Deviation::NanOperand(_)
                | Deviation::OtherNan
                | Deviation::OtherZero
                | Deviation::Tf32(_)
                | Deviation::NarrowFactors(_)
                | Deviation::X87(_)
                | Deviation::WideResult(_)
                | Deviation::Bf16Cut(_)
                | Deviation::TiesAway(_)
                | Deviation::StayFinite(_)
                | Deviation::SubnormalsTwice
        )
    };
    // PTX has no flush of f64.
    let flushes_f64 = model.flushes() && evaluation.plan.format() == Format::F64;
    let is_approximated = !evaluation.approximations.is_empty();
    if model.flushes_unusually()
        || flushes_f16
        || flushes_f64
        || is_approximated
        || evaluation.modes.iter().any(is_lenient)
    {
        return Spelling { ptx: Vec::new(), cuda: String::new(), spirv: Vec::new() };
    }
    let speller = Speller { evaluation, model, profile };
    Spelling { ptx: speller.ptx(), cuda: speller.cuda(), spirv: speller.spirv() }
}

/// An evaluation whose operations are instructions of some machine.
struct Speller<'a> {
    evaluation: &'a Evaluation,
    /// How a multiply-add of the expression's type is evaluated.
    model: EvalModel,
    profile: &'a Profile,
}

impl Speller<'_> {
    fn operation(&self, index: usize) -> Operation {
        self.evaluation.stages(index, self.profile).operation
    }
    fn narrows(&self, index: usize) -> bool {
        self.evaluation.stages(index, self.profile).narrow.is_some()
    }
    fn has(&self, mode: &Deviation) -> bool {
        self.evaluation.modes.contains(mode)
    }
    /// The type that an operation takes to f64: a cast that rounds nothing.
    fn widened(&self, index: usize) -> Option<Format> {
        let op = &self.evaluation.plan.ops[index];
        let is_wide = op.call() == Some(Call::Round) && op.format == Format::F64;
        let (_, from) = *self.operand_formats(index).first().filter(|_| is_wide && !self.narrows(index))?;
        matches!(from, Format::F16 | Format::F32).then_some(from)
    }
    /// The cast to an integer that gives the result, and the type that it takes, where PTX and CUDA have it.
    fn to_integer(&self, index: usize) -> Option<(IntegerCast, Format)> {
        let plan = &self.evaluation.plan;
        let Some(Call::ToInteger(cast)) = plan.ops[index].call() else { return None };
        let is_result = index + 1 == plan.ops.len() && !plan.negate_result;
        let is_gpu = cast.out_of_range == OutOfRange::Clamped && cast.by != NarrowBy::TiesAway;
        let (_, from) = *self.operand_formats(index).first()?;
        (is_result && is_gpu).then_some((cast, from))
    }
    fn widens(&self, index: usize) -> bool {
        self.widened(index).is_some()
    }
    /// What no language but that of its machine has: SASS's zero dominance, sm_1x's product.
    fn has_machine_mode(&self) -> bool {
        self.has(&Deviation::ZeroDominance) || self.has(&Deviation::TruncatedProduct)
    }
}

/// An operation's PTX name: `fma.rz.ftz.f32`.
pub(crate) fn ptx_name(operation: &Operation) -> String {
    let mnemonic = match operation.op {
        ArithOp::MulAdd => "fma",
        ArithOp::TruncatedMulAdd => "mad",
        ArithOp::Mul => "mul",
        ArithOp::Add if operation.negate_addend && !operation.negate_product => "sub",
        ArithOp::Add => "add",
    };
    let rounding = match operation.op {
        ArithOp::TruncatedMulAdd => String::new(),
        _ => format!(".{}", operation.rounding.name()),
    };
    // There are no modifiers for what sm_1x and f64 do always.
    let is_modified = operation.flush && operation.op != ArithOp::TruncatedMulAdd && operation.format != Format::F64;
    let flush = if is_modified { ".ftz" } else { "" };
    let oob = if operation.oob { ".oob" } else { "" };
    let clamp = match operation.clamp {
        Clamp::None => "",
        Clamp::Unit => ".sat",
        Clamp::Relu => ".relu",
    };
    format!("{mnemonic}{rounding}{flush}{oob}{clamp}.{}", type_name(operation.format))
}

fn type_name(format: Format) -> &'static str {
    // With one bit of exponent, or of significand, more.
    #[rustfmt::skip]
    const ONE_BIT_MORE: [(Format, &str); 6] = [
        (Format::new(9, 23), "f32e9"), (Format::new(6, 10), "f16e6"), (Format::new(9, 7), "bf16e9"),
        (Format::new(8, 24), "f32m24"), (Format::new(5, 11), "f16m11"), (Format::new(8, 8), "bf16m8"),
    ];
    let wide = || ONE_BIT_MORE.iter().find(|(wide, _)| *wide == format).map(|(_, name)| *name);
    format.name().or_else(wide).unwrap_or("f?")
}

/// What an operand is called in a program.
fn operand_name(evaluation: &Evaluation, operand: Ref) -> String {
    match operand {
        Ref::Leaf(leaf) => evaluation.plan.leaves[leaf].1.clone(),
        Ref::Op(op) => result_name(evaluation, op),
    }
}

/// A name as assemblers take it: `a[i]` is `a_i_` there.
fn register(name: String) -> String {
    name.replace(|c: char| !c.is_alphanumeric() && c != '_', "_")
}

/// The value that a leaf is written as, where it is no name.
fn literal(evaluation: &Evaluation, leaf: usize) -> Option<Typed> {
    let (value, text) = &evaluation.plan.leaves[leaf];
    let is_literal = text.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    is_literal.then_some(*value)
}

/// What the result of an operation is called: `t0`, `t1`, and `d` at the end, or longer where the expression has taken
/// those names.
pub(crate) fn result_name(evaluation: &Evaluation, op: usize) -> String {
    let ends = op + 1 >= evaluation.plan.ops.len();
    unused_name(evaluation, if ends { "d".to_owned() } else { format!("t{op}") })
}

/// A name, or a longer one where the expression has taken it.
fn unused_name(evaluation: &Evaluation, mut name: String) -> String {
    while evaluation.plan.leaves.iter().any(|(_, taken)| *taken == name) {
        name.push('_');
    }
    name
}

/// What a literal is called that needs a name: `c0`, `c1`.
fn constant_name(evaluation: &Evaluation, leaf: usize) -> String {
    unused_name(evaluation, format!("c{leaf}"))
}

/// An operation with its operands' names: `fma.rn.f32(a, x, t0)`. Signs stand on the operands. What is approximated is no
/// instruction that rounds: `a / b`.
pub(crate) fn step_text(evaluation: &Evaluation, step: &Step) -> String {
    if step.approximated {
        return call_text(evaluation, step);
    }
    let text = step_in_own_type(evaluation, step);
    match step.x87 {
        Some(_) => text.replacen(&format!(".{}(", type_name(step.operation.format)), ".x87(", 1),
        None => text,
    }
}

fn step_in_own_type(evaluation: &Evaluation, step: &Step) -> String {
    let Step { operation, call, operands, narrow_by, .. } = step;
    // Nothing else than the instructions that PTX has is called `.ftz`.
    let is_named = has_ftz(evaluation, step);
    let mode = if operation.flush && !is_named { ", flushing" } else { "" };
    let operation = &Operation { flush: operation.flush && is_named, ..*operation };
    if let Some(call) = call {
        let names: Vec<String> = operands.iter().map(|&operand| operand_name(evaluation, operand)).collect();
        if let Call::Compare(relation) = call {
            return names.join(&format!(" {} ", relation.sign()));
        }
        let by = narrow_by.filter(|_| call.is_cast()).unwrap_or(NarrowBy::Direction(operation.rounding));
        return format!("{}({}){mode}", call_name(*call, operation, by), names.join(", "));
    }
    let subtracts = operation.op == ArithOp::Add && operation.negate_addend && !operation.negate_product;
    let last = operands.len() - 1;
    let names: Vec<String> = operands
        .iter()
        .enumerate()
        .map(|(index, &operand)| {
            let negated = (index == 0 && operation.negate_product)
                || (index == last && operation.negate_addend && operation.op != ArithOp::Mul && !subtracts);
            format!("{}{}", if negated { "-" } else { "" }, operand_name(evaluation, operand))
        })
        .collect();
    format!("{}({}){mode}", ptx_name(operation), names.join(", "))
}

/// What C++ calls the type of an evaluation's result.
pub fn result_type(evaluation: &Evaluation) -> &'static str {
    let plan = &evaluation.plan;
    plan.integer().map_or_else(|| c_type(plan.format()), IntegerType::c_name)
}

/// Whether what a step flushes is what `.ftz` of an instruction flushes: none flushes f64, which processors do by a mode; a
/// conversion flushes f32 alone; and NVIDIA's arithmetic flushes results after rounding.
fn has_ftz(evaluation: &Evaluation, step: &Step) -> bool {
    let Step { operation, call, operands, profile, .. } = step;
    match call {
        None => {
            operation.format != Format::F64
                && profile.tininess_of(operation.op) == Profile::NVIDIA.tininess_of(operation.op)
        }
        Some(Call::Round | Call::RoundTo(..)) => {
            let formats = [operation.format, evaluation.plan.format_of(operands[0])];
            formats.contains(&Format::F32) && formats.iter().all(|format| format.width() >= 32)
        }
        Some(Call::ToInteger(_)) => evaluation.plan.format_of(operands[0]) == Format::F32,
        Some(_) => operation.format == Format::F32,
    }
}

/// A call as an expression has it: `exp(x)`, `a / t0`.
pub(crate) fn call_text(evaluation: &Evaluation, Step { call, operands, .. }: &Step) -> String {
    let names: Vec<String> = operands.iter().map(|&operand| operand_name(evaluation, operand)).collect();
    match call {
        Some(Call::Function(Function::Divide)) => names.join(" / "),
        Some(Call::Compare(relation)) => names.join(&format!(" {} ", relation.sign())),
        Some(call) => format!("{}({})", call.name(), names.join(", ")),
        None => names.join(", "),
    }
}

/// A call's name: PTX's for what PTX rounds, `exp.f32` for the others.
fn call_name(call: Call, operation: &Operation, by: NarrowBy) -> String {
    if let Call::ToInteger(cast) = call {
        let flush = if operation.flush { ".ftz" } else { "" };
        let ptx = format!("cvt.{}{flush}.{}", cast.direction(), cast.to.ptx());
        return match cast.out_of_range {
            OutOfRange::Clamped => ptx,
            OutOfRange::X86 | OutOfRange::Kept => cast.to_string(),
        };
    }
    let flush = if operation.flush && operation.format == Format::F32 { ".ftz" } else { "" };
    let rounding = match call {
        Call::Function(Function::Divide | Function::Reciprocal | Function::SquareRoot)
        | Call::Round
        | Call::RoundTo(..) => {
            format!(".{}", by.name())
        }
        _ => String::new(),
    };
    let (name, nan) = match call {
        Call::MinNan => ("min", ".NaN"),
        Call::MaxNan => ("max", ".NaN"),
        _ => (call.name(), ""),
    };
    format!("{name}{rounding}{flush}{nan}.{}", type_name(operation.format))
}

/// Whether PTX has a call as one instruction that gives its bits.
fn has_instruction(call: Call, format: Format) -> bool {
    let is_exact = matches!(
        call,
        Call::Function(Function::Divide | Function::Reciprocal | Function::SquareRoot)
            | Call::Min
            | Call::Max
            | Call::Abs
            | Call::Negate
    );
    let gives_nan = matches!(call, Call::MinNan | Call::MaxNan);
    is_exact && matches!(format, Format::F32 | Format::F64) || gives_nan && format == Format::F32
}

impl Speller<'_> {
    fn ptx(&self) -> Vec<String> {
        let evaluation = self.evaluation;
        let method = self.model.method();
        // Neither has `.sat`.
        let is_unknown = |index: usize| {
            let operation = self.operation(index);
            operation.saturates() && matches!(operation.format, Format::BF16 | Format::F64)
        };
        let has_calls = evaluation.plan.ops.iter().any(|op| op.call().is_some());
        let is_missing = |(index, op): (usize, &PlanOp)| {
            let is_other = op.call().is_some_and(|call| !has_instruction(call, op.format)) && !self.widens(index);
            is_other && self.to_integer(index).is_none()
        };
        if self.has(&Deviation::ZeroDominance)
            || (0..evaluation.plan.ops.len()).any(is_unknown)
            || evaluation.plan.ops.iter().enumerate().any(is_missing)
            || has_calls && method != EvalMethod::Native
        {
            return Vec::new();
        }
        // A conversion between f32 and f64 flushes what is f32.
        let flush = if self.model.flushes() && method.wide() == Some(Format::F64) { ".ftz" } else { "" };
        let mut lines = Vec::new();
        // A constant of 16 bits needs a register.
        for (leaf, (value, _)) in evaluation.plan.leaves.iter().enumerate() {
            if literal(evaluation, leaf).is_some() && value.format.width() == 16 {
                lines.push(format!("mov.b16 {}, {};", constant_name(evaluation, leaf), hex_bits(16, value.bits)));
            }
        }
        let operand_text = |operand| match operand {
            Ref::Leaf(leaf) => match literal(evaluation, leaf) {
                Some(Typed { format: Format::F32, bits }) => format!("0f{bits:08X}"),
                Some(Typed { format: Format::F64, bits }) => format!("0d{bits:016X}"),
                Some(_) => constant_name(evaluation, leaf),
                None => register(operand_name(evaluation, operand)),
            },
            Ref::Op(_) => operand_name(evaluation, operand),
        };
        let mut negated = 0;
        for (index, op) in evaluation.plan.ops.iter().enumerate() {
            let operation = self.operation(index);
            if let Some((cast, from)) = self.to_integer(index) {
                let flush = if operation.flush && from == Format::F32 { ".ftz" } else { "" };
                let (to, result) = (cast.to.ptx(), result_name(evaluation, index));
                let (direction, from) = (cast.direction(), type_name(from));
                lines.push(format!("cvt.{direction}{flush}.{to}.{from} {result}, {};", operand_text(op.operands[0])));
                continue;
            }
            if let Some(from) = self.widened(index) {
                let flush = if operation.flush && from == Format::F32 { ".ftz" } else { "" };
                let (ty, from, result) = (type_name(op.format), type_name(from), result_name(evaluation, index));
                lines.push(format!("cvt{flush}.{ty}.{from} {result}, {};", operand_text(op.operands[0])));
                continue;
            }
            let name = op.call().map_or_else(
                || ptx_name(&operation),
                |call| call_name(call, &operation, NarrowBy::Direction(operation.rounding)),
            );
            let mut operands: Vec<String> = op.operands.iter().map(|&operand| operand_text(operand)).collect();
            let ty = type_name(operation.format);
            for (place, format) in self.operand_formats(index) {
                if format != operation.format {
                    let wide = unused_name(evaluation, format!("w{index}_{place}"));
                    lines.push(format!("cvt{flush}.{ty}.{} {wide}, {};", type_name(format), operands[place]));
                    operands[place] = wide;
                }
            }
            let subtracts = name.starts_with("sub");
            let last = operands.len() - 1;
            for (place, negate) in [(0, operation.negate_product), (last, operation.negate_addend && !subtracts)] {
                if negate && (place == 0 || op.arith() != Some(ArithOp::Mul)) {
                    let opposite = unused_name(evaluation, format!("n{negated}"));
                    lines.push(format!("neg.{ty} {opposite}, {};", operands[place]));
                    operands[place] = opposite;
                    negated += 1;
                }
            }
            let destination = result_name(evaluation, index);
            let narrows = self.narrows(index);
            let target = if narrows { unused_name(evaluation, format!("w{index}")) } else { destination.clone() };
            let note = if operation.op == ArithOp::TruncatedMulAdd { "  // .target sm_13" } else { "" };
            lines.push(format!("{name} {target}, {};{note}", operands.join(", ")));
            if narrows {
                let rounding = self.model.rounding().name();
                lines.push(format!("cvt.{rounding}{flush}.{}.{ty} {destination}, {target};", type_name(op.format)));
            }
        }
        if evaluation.plan.negate_result {
            let last = evaluation.plan.ops.len().checked_sub(1);
            let result = result_name(evaluation, last.unwrap_or(0));
            let positive = last.map_or_else(|| operand_text(Ref::Leaf(0)), |_| result.clone());
            lines.push(format!("neg.{} {result}, {positive};", type_name(evaluation.plan.format())));
        }
        // Sixteen-bit arithmetic has no directed rounding.
        let exists =
            |line: &String| !(line.contains("16 ") && [".rz.", ".rm.", ".rp."].iter().any(|r| line.contains(r)));
        if lines.iter().all(exists) { lines } else { Vec::new() }
    }

    /// The formats in which an operation's operands come.
    fn operand_formats(&self, index: usize) -> Vec<(usize, Format)> {
        let evaluation = self.evaluation;
        let format = |operand: &Ref| match (*operand, self.model.method()) {
            (Ref::Leaf(leaf), _) => evaluation.plan.leaves[leaf].0.format,
            (Ref::Op(_), EvalMethod::Whole(wide)) => wide,
            (Ref::Op(op), _) => evaluation.plan.ops[op].format,
        };
        evaluation.plan.ops[index].operands.iter().map(format).enumerate().collect()
    }

    fn cuda(&self) -> String {
        let evaluation = self.evaluation;
        let half =
            evaluation.plan.ops.iter().any(|op| op.format.width() == 16 && self.model.method() == EvalMethod::Native);
        let has_calls = evaluation.plan.ops.iter().any(|op| op.call().is_some());
        if self.has_machine_mode()
            || has_calls && self.model.method() != EvalMethod::Native
            || evaluation.plan.ops.is_empty() && !evaluation.plan.negate_result
            || (half && self.model.rounding() != Rounding::NearestEven)
        {
            return String::new();
        }
        // nvcc's option is about f32 alone.
        let is_other = |(index, op): (usize, &PlanOp)| op.format != Format::F32 && self.to_integer(index).is_none();
        if self.model.flushes() && evaluation.plan.ops.iter().enumerate().any(is_other) {
            return String::new();
        }
        let flag = if self.model.flushes() || self.model.flushes_wide() { "   // nvcc -ftz=true" } else { "" };
        let mut texts: Vec<String> = Vec::new();
        for (index, op) in evaluation.plan.ops.iter().enumerate() {
            let operation = self.operation(index);
            if let Some((cast, from)) = self.to_integer(index) {
                let operand = match op.operands[0] {
                    Ref::Leaf(leaf) => cuda_leaf(evaluation, leaf),
                    Ref::Op(earlier) => texts[earlier].clone(),
                };
                let Some(name) = cuda_to_integer(cast, from) else { return String::new() };
                texts.push(format!("{name}({operand})"));
                continue;
            }
            let cast = |format: Format, text: String| {
                if format == operation.format { text } else { format!("({}){text}", c_type(operation.format)) }
            };
            let mut operands: Vec<String> = op
                .operands
                .iter()
                .zip(self.operand_formats(index))
                .map(|(&operand, (_, format))| match operand {
                    Ref::Leaf(leaf) => cast(format, cuda_leaf(evaluation, leaf)),
                    Ref::Op(earlier) => cast(format, texts[earlier].clone()),
                })
                .collect();
            let last = operands.len() - 1;
            let subtracts = op.arith() == Some(ArithOp::Add) && operation.negate_addend;
            if operation.negate_product {
                operands[0] = format!("-{}", operands[0]);
            }
            if operation.negate_addend && !subtracts && op.arith() != Some(ArithOp::Mul) {
                operands[last] = format!("-{}", operands[last]);
            }
            let name = match op.call() {
                None => cuda_name(&operation, subtracts),
                // The cast stands on the operand already.
                Some(_) if self.widens(index) => {
                    texts.push(operands.swap_remove(0));
                    continue;
                }
                Some(call) => match cuda_call(call, &operation) {
                    Some(name) => name,
                    None => return String::new(),
                },
            };
            let mut text = format!("{name}({})", operands.join(", "));
            if operation.saturates() {
                match operation.format {
                    Format::F32 => text = format!("__saturatef({text})"),
                    Format::F16 => {}
                    _ => return String::new(),
                }
            }
            if self.narrows(index) {
                text = narrowed(operation.format, op.format, self.model.rounding(), &text);
            }
            texts.push(text);
        }
        let sign = if evaluation.plan.negate_result { "-" } else { "" };
        let text = texts.pop().unwrap_or_else(|| cuda_leaf(evaluation, 0));
        format!("{sign}{text}{flag}")
    }
}
