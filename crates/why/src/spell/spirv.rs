//! An evaluation in SPIR-V: instructions, and the execution modes that they need.

use roundonce_arith::{ArithOp, Format, Rounding};
use roundonce_deviate::{Deviation, EvalMethod, Typed};
use roundonce_isa::hexadecimal;

use super::{Speller, constant_name, literal, operand_name, register, result_name, unused_name};
use crate::plan::Ref;

impl Speller<'_> {
    pub(super) fn spirv(&self) -> Vec<String> {
        let evaluation = self.evaluation;
        if evaluation.plan.ops.iter().any(|op| op.call().is_some()) {
            return Vec::new();
        }
        let directed = matches!(self.model.rounding(), Rounding::Down | Rounding::Up);
        let has_mode = self.has_machine_mode() || self.has(&Deviation::Saturate);
        if has_mode || directed || self.model.method() != EvalMethod::Native {
            return Vec::new();
        }
        // SPV_KHR_bfloat16 has conversions of bfloat16, and no arithmetic.
        if evaluation.plan.ops.iter().any(|op| op.format == Format::BF16) {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for leaf in 0..evaluation.plan.leaves.len() {
            if let Some(Typed { format, bits }) = literal(evaluation, leaf) {
                if bits & format.magnitude_mask() >= format.infinity() {
                    return Vec::new();
                }
                let (name, ty) = (constant_name(evaluation, leaf), spirv_type(format));
                lines.push(format!("%{name} = OpConstant %{ty} {}", hexadecimal(format, bits)));
            }
        }
        let operand_text = |operand| match operand {
            Ref::Leaf(leaf) if literal(evaluation, leaf).is_some() => format!("%{}", constant_name(evaluation, leaf)),
            _ => format!("%{}", register(operand_name(evaluation, operand))),
        };
        let mut uncontracted = false;
        for (index, op) in evaluation.plan.ops.iter().enumerate() {
            let operation = self.operation(index);
            let ty = format!("%{}", spirv_type(operation.format));
            let mut operands: Vec<String> = op.operands.iter().map(|&operand| operand_text(operand)).collect();
            for (place, format) in self.operand_formats(index) {
                if format != operation.format {
                    let wide = format!("%{}", unused_name(evaluation, format!("w{index}_{place}")));
                    lines.push(format!("{wide} = OpFConvert {ty} {}", operands[place]));
                    operands[place] = wide;
                }
            }
            let subtracts = op.arith() == Some(ArithOp::Add) && operation.negate_addend;
            let last = operands.len() - 1;
            for (place, negate) in [(0, operation.negate_product), (last, operation.negate_addend && !subtracts)] {
                if negate && (place == 0 || op.arith() != Some(ArithOp::Mul)) {
                    let opposite = format!("%{}", unused_name(evaluation, format!("n{index}_{place}")));
                    lines.push(format!("{opposite} = OpFNegate {ty} {}", operands[place]));
                    operands[place] = opposite;
                }
            }
            let name = match (operation.op, subtracts) {
                (ArithOp::MulAdd | ArithOp::TruncatedMulAdd, _) => "OpFmaKHR",
                (ArithOp::Mul, _) => "OpFMul",
                (ArithOp::Add, true) => "OpFSub",
                (ArithOp::Add, false) => "OpFAdd",
            };
            uncontracted |= name != "OpFmaKHR";
            let destination = format!("%{}", result_name(evaluation, index));
            lines.push(format!("{destination} = {name} {ty} {}", operands.join(" ")));
        }
        if evaluation.plan.negate_result {
            let result = result_name(evaluation, evaluation.plan.ops.len().saturating_sub(1));
            lines.push(format!("%{result}_ = OpFNegate %{} %{result}", spirv_type(evaluation.plan.format())));
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
