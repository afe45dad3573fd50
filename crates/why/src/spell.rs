//! An evaluation as a program: what to write in PTX, CUDA and SPIR-V to get its bits.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding};
use roundonce_deviate::{Deviation, EvalMethod, EvalModel};
use serde::Serialize;

use crate::evaluation::Evaluation;
use crate::plan::Ref;

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

/// The spellings of an evaluation.
pub fn spell(evaluation: &Evaluation, profile: &Profile) -> Spelling {
    let model = evaluation.model();
    // A conversion of sixteen bits keeps subnormals.
    let flushes_f16 = model.flushes() && model.method().wide() == Some(Format::F32);
    let is_lenient =
        |mode: &Deviation| matches!(mode, Deviation::NanOperand(_) | Deviation::OtherNan | Deviation::OtherZero);
    if model.flushes_unusually() || flushes_f16 || evaluation.modes.iter().any(is_lenient) {
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
    format.name().unwrap_or("f?")
}

/// What an operand is called in a program.
fn operand_name(evaluation: &Evaluation, operand: Ref) -> String {
    match operand {
        Ref::Leaf(leaf) => evaluation.plan.leaves[leaf].1.clone(),
        Ref::Op(op) => result_name(evaluation, op),
    }
}

/// What the result of an operation is called: `t0`, `t1`, and `d` at the end, or longer where the expression has taken
/// those names.
pub(crate) fn result_name(evaluation: &Evaluation, op: usize) -> String {
    let ends = op + 1 == evaluation.plan.ops.len();
    let mut name = if ends { "d".to_owned() } else { format!("t{op}") };
    while evaluation.plan.leaves.iter().any(|(_, taken)| *taken == name) {
        name.push('_');
    }
    name
}

/// An operation with its operands' names: `fma.rn.f32(a, x, t0)`. Signs stand on the operands.
pub(crate) fn step_text(evaluation: &Evaluation, operation: &Operation, operands: &[Ref]) -> String {
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
    format!("{}({})", ptx_name(operation), names.join(", "))
}

impl Speller<'_> {
    fn ptx(&self) -> Vec<String> {
        let evaluation = self.evaluation;
        let method = self.model.method();
        if self.has(&Deviation::ZeroDominance) {
            return Vec::new();
        }
        // A conversion between f32 and f64 flushes what is f32.
        let flush = if self.model.flushes() && method.wide() == Some(Format::F64) { ".ftz" } else { "" };
        let mut lines = Vec::new();
        let mut negated = 0;
        for (index, op) in evaluation.plan.ops.iter().enumerate() {
            let operation = self.operation(index);
            let name = ptx_name(&operation);
            let mut operands: Vec<String> =
                op.operands.iter().map(|&operand| operand_name(evaluation, operand)).collect();
            let ty = type_name(operation.format);
            for (place, format) in self.operand_formats(index) {
                if format != operation.format {
                    lines.push(format!("cvt{flush}.{ty}.{} w{index}_{place}, {};", type_name(format), operands[place]));
                    operands[place] = format!("w{index}_{place}");
                }
            }
            let subtracts = name.starts_with("sub");
            let last = operands.len() - 1;
            for (place, negate) in [(0, operation.negate_product), (last, operation.negate_addend && !subtracts)] {
                if negate && (place == 0 || op.kind != ArithOp::Mul) {
                    lines.push(format!("neg.{ty} n{negated}, {};", operands[place]));
                    operands[place] = format!("n{negated}");
                    negated += 1;
                }
            }
            let destination = result_name(evaluation, index);
            let narrows = self.narrows(index);
            let target = if narrows { format!("w{index}") } else { destination.clone() };
            let note = if operation.op == ArithOp::TruncatedMulAdd { "  // .target sm_13" } else { "" };
            lines.push(format!("{name} {target}, {};{note}", operands.join(", ")));
            if narrows {
                let rounding = self.model.rounding().name();
                lines.push(format!("cvt.{rounding}{flush}.{}.{ty} {destination}, {target};", type_name(op.format)));
            }
        }
        if evaluation.plan.negate_result {
            let result = result_name(evaluation, evaluation.plan.ops.len().saturating_sub(1));
            lines.push(format!("neg.{} {result}, {result};", type_name(evaluation.plan.format())));
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
        if self.has_machine_mode()
            || evaluation.plan.ops.is_empty()
            || (half && self.model.rounding() != Rounding::NearestEven)
        {
            return String::new();
        }
        let mut texts: Vec<String> = Vec::new();
        for (index, op) in evaluation.plan.ops.iter().enumerate() {
            let operation = self.operation(index);
            let cast = |format: Format, text: String| {
                if format == operation.format { text } else { format!("({}){text}", c_type(operation.format)) }
            };
            let mut operands: Vec<String> = op
                .operands
                .iter()
                .zip(self.operand_formats(index))
                .map(|(&operand, (_, format))| match operand {
                    Ref::Leaf(leaf) => cast(format, evaluation.plan.leaves[leaf].1.clone()),
                    Ref::Op(earlier) => cast(format, texts[earlier].clone()),
                })
                .collect();
            let last = operands.len() - 1;
            let subtracts = op.kind == ArithOp::Add && operation.negate_addend;
            if operation.negate_product {
                operands[0] = format!("-{}", operands[0]);
            }
            if operation.negate_addend && !subtracts && op.kind != ArithOp::Mul {
                operands[last] = format!("-{}", operands[last]);
            }
            let mut text = format!("{}({})", cuda_name(&operation, subtracts), operands.join(", "));
            if operation.saturates() {
                text = format!("__saturatef({text})");
            }
            if self.narrows(index) {
                text = format!("({}){text}", c_type(op.format));
            }
            texts.push(text);
        }
        let sign = if evaluation.plan.negate_result { "-" } else { "" };
        let flag = if self.model.flushes() || self.model.flushes_wide() { "   // nvcc -ftz=true" } else { "" };
        format!("{sign}{}{flag}", texts.pop().unwrap_or_default())
    }
}

fn c_type(format: Format) -> &'static str {
    match format {
        Format::F16 => "__half",
        Format::BF16 => "__nv_bfloat16",
        Format::F32 => "float",
        _ => "double",
    }
}

fn cuda_name(operation: &Operation, subtracts: bool) -> String {
    let rounding = match operation.rounding {
        Rounding::NearestEven => "rn",
        Rounding::TowardZero => "rz",
        Rounding::Down => "rd",
        Rounding::Up => "ru",
    };
    let name = match (operation.op, subtracts) {
        (ArithOp::MulAdd | ArithOp::TruncatedMulAdd, _) => "fma",
        (ArithOp::Mul, _) => "mul",
        (ArithOp::Add, true) => "sub",
        (ArithOp::Add, false) => "add",
    };
    match (operation.format, name) {
        (Format::F32, "fma") => format!("__fmaf_{rounding}"),
        (Format::F32, _) => format!("__f{name}_{rounding}"),
        (Format::F64, "fma") => format!("__fma_{rounding}"),
        (Format::F64, _) => format!("__d{name}_{rounding}"),
        (_, "fma") => "__hfma".to_owned(),
        _ => format!("__h{name}_rn"),
    }
}

impl Speller<'_> {
    fn spirv(&self) -> Vec<String> {
        let evaluation = self.evaluation;
        let directed = matches!(self.model.rounding(), Rounding::Down | Rounding::Up);
        let has_mode = self.has_machine_mode() || self.has(&Deviation::Saturate);
        if has_mode || directed || self.model.method() != EvalMethod::Native {
            return Vec::new();
        }
        let mut lines = Vec::new();
        let mut uncontracted = false;
        for (index, op) in evaluation.plan.ops.iter().enumerate() {
            let operation = self.operation(index);
            let ty = format!("%{}", spirv_type(operation.format));
            let mut operands: Vec<String> =
                op.operands.iter().map(|&operand| format!("%{}", operand_name(evaluation, operand))).collect();
            let subtracts = op.kind == ArithOp::Add && operation.negate_addend;
            let last = operands.len() - 1;
            for (place, negate) in [(0, operation.negate_product), (last, operation.negate_addend && !subtracts)] {
                if negate && (place == 0 || op.kind != ArithOp::Mul) {
                    lines.push(format!("%n{index}_{place} = OpFNegate {ty} {}", operands[place]));
                    operands[place] = format!("%n{index}_{place}");
                }
            }
            let name = match (op.kind, subtracts) {
                (ArithOp::MulAdd | ArithOp::TruncatedMulAdd, _) => "OpFmaKHR",
                (ArithOp::Mul, _) => "OpFMul",
                (ArithOp::Add, true) => "OpFSub",
                (ArithOp::Add, false) => "OpFAdd",
            };
            uncontracted |= name != "OpFmaKHR";
            let destination = format!("%{}", result_name(evaluation, index));
            lines.push(format!("{destination} = {name} {ty} {}", operands.join(" ")));
        }
        if uncontracted {
            lines.push("decorate OpFMul, OpFAdd and OpFSub with NoContraction".to_owned());
        }
        let width = evaluation.plan.format().width();
        let rounding =
            if self.model.rounding() == Rounding::TowardZero { "RoundingModeRTZ" } else { "RoundingModeRTE" };
        let denorm = if self.model.flushes() { "DenormFlushToZero" } else { "DenormPreserve" };
        lines.push(format!("execution modes {rounding} {width}, {denorm} {width}, SignedZeroInfNanPreserve {width}"));
        lines
    }
}

fn spirv_type(format: Format) -> &'static str {
    match format {
        Format::F16 => "half",
        Format::BF16 => "bfloat16",
        Format::F32 => "float",
        _ => "double",
    }
}
