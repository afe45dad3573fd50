//! WGSL and Metal: their documents leave the rounding of every operation to the device, so that no spelling has known bits.
//!
//! Source: WGSL, 15.7 Floating Point Evaluation; Metal Shading Language 4, 8.1 and 8.2.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_isa::Recipe;

use super::steps::Step;
use super::text::NAN_BITS;
use super::{Counterpart, Language, Nearest, Refusal};

/// Why, and what comes nearest: the function or operator of a component, without what the language cannot say.
pub(super) fn refusal(recipe: &Recipe, to: Language) -> Refusal {
    let is_metal = to == Language::Metal;
    let operation = &recipe.operation;
    let mut fields = vec!["rounding", "subnormals"];
    let mut reasons = if is_metal {
        vec![
            "Metal Shading Language 4, 8.2: a device rounds to nearest even or toward zero",
            "Metal Shading Language 4, 8.1: subnormal operands and results may be flushed",
        ]
    } else {
        vec![
            "WGSL, 15.7.2: no rounding mode is specified, an implementation may round up or down",
            "WGSL, 15.7.2: an implementation may flush subnormal operands and results, and may assume that there is no NaN and \
             no infinity",
        ]
    };
    if operation.op == ArithOp::MulAdd && !is_metal {
        fields.push("fused");
        reasons.push("WGSL, accuracy of fma: inherited from x * y + z, which rounds twice");
    }
    let lacks = [
        ("condition codes", recipe.condition_codes),
        ("out-of-bounds NaN", operation.oob),
        ("the product is truncated", operation.op == ArithOp::TruncatedMulAdd),
    ];
    fields.extend(lacks.into_iter().filter(|(_, lacks)| *lacks).map(|(field, _)| field));
    let nearest = nearest(operation, is_metal);
    if nearest.is_none() {
        fields.push("operand types");
    }
    Refusal { fields, reasons, nearest: nearest.map(Box::new) }
}

fn nearest(operation: &Operation, is_metal: bool) -> Option<Nearest> {
    let format = operation.format;
    let is_held = |at: usize| [format, Format::F16].contains(&operation.operand_format(at));
    if !(0..operation.op.arity()).all(is_held) {
        return None;
    }
    let ty = match (format, is_metal) {
        (Format::F16, true) => "half",
        (Format::F32, true) => "float",
        (Format::BF16, true) => "bfloat",
        (Format::F16, false) => "f16",
        (Format::F32, false) => "f32",
        _ => return None,
    };
    let named: Vec<String> = operation
        .op
        .operands()
        .iter()
        .enumerate()
        .map(|(at, &operand)| {
            let name = ["a", "b", "c"][operand as usize];
            if operation.operand_format(at) == format { name.to_owned() } else { format!("{ty}({name})") }
        })
        .collect();
    let (spelling, value) = match (operation.op, named.as_slice()) {
        (ArithOp::Add, [a, c]) if operation.negate_addend => ("a - c", format!("{a} - {c}")),
        (ArithOp::Add, [a, c]) => ("a + c", format!("{a} + {c}")),
        (ArithOp::Mul, [a, b]) => ("a * b", format!("{a} * {b}")),
        _ => ("fma", format!("fma({})", named.join(", "))),
    };
    let value = match operation.clamp {
        Clamp::None => value,
        Clamp::Unit => format!("clamp({value}, {ty}(0.0), {ty}(1.0))"),
        Clamp::Relu => format!("max({value}, {ty}(0.0))"),
    };
    let code = if is_metal { format!("{ty} d = {value};") } else { format!("let d: {ty} = {value};") };
    // What a device may do: the other direction, whatever else it keeps.
    let rounding =
        if operation.rounding == Rounding::NearestEven { Rounding::TowardZero } else { Rounding::NearestEven };
    let op = if operation.op == ArithOp::TruncatedMulAdd { ArithOp::MulAdd } else { operation.op };
    let allowed = Operation { op, rounding, fmz: false, oob: false, ..*operation };
    let around = match (format, is_metal) {
        (Format::F16, false) => vec!["enable f16;".to_owned()],
        _ => Vec::new(),
    };
    let flags = ["-fno-fast-math", "-ffp-contract=off"].into_iter().filter(|_| is_metal).map(str::to_owned).collect();
    let counterpart = Counterpart {
        spelling: spelling.to_owned(),
        code: vec![code],
        around,
        flags,
        needs: Vec::new(),
        open: vec!["the rounding", "subnormals", NAN_BITS],
        assumes: Vec::new(),
        components: 1,
        gate: None,
        steps: vec![Step::Compute(allowed)],
    };
    Some(Nearest { counterpart, operation: allowed, is_open: true })
}
