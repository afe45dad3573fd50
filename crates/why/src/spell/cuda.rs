//! What CUDA C++ calls operations, casts and values.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_deviate::NarrowBy;
use roundonce_functions::Function;
use roundonce_isa::hexadecimal;

use super::literal;
use crate::call::Call;
use crate::evaluation::Evaluation;
use crate::integer::IntegerCast;

/// A conversion that rounds; a cast does so to nearest.
pub(super) fn narrowed(from: Format, to: Format, rounding: Rounding, text: &str) -> String {
    let (name, suffix) = match (from, to) {
        _ if rounding == Rounding::NearestEven => return format!("({}){text}", c_type(to)),
        (Format::F64, Format::F32) => ("__double2float", cuda_rounding(rounding)),
        (_, Format::F16) => ("__float2half", cuda_rounding(rounding)),
        _ => ("__float2bfloat16", cuda_rounding(rounding)),
    };
    format!("{name}_{suffix}({text})")
}

/// A value as C++ has it: the expression's own text where that is C++ of its type.
pub(super) fn cuda_leaf(evaluation: &Evaluation, leaf: usize) -> String {
    let (value, text) = &evaluation.plan.leaves[leaf];
    if literal(evaluation, leaf).is_none() {
        return text.clone();
    }
    let digits = match value.format {
        Format::F32 => text.strip_suffix('f').unwrap_or(""),
        Format::F64 => text,
        _ => "",
    };
    let is_decimal = digits.contains('.') && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_finite = value.bits & value.format.magnitude_mask() < value.format.infinity();
    let hex = hexadecimal(value.format, value.bits);
    match value.format {
        _ if is_decimal => text.clone(),
        Format::F32 if is_finite => format!("{hex}f"),
        Format::F64 if is_finite => hex,
        Format::F32 => format!("__uint_as_float({:#x}u)", value.bits),
        Format::F64 => format!("__longlong_as_double({:#x}ll)", value.bits),
        Format::F16 => format!("__ushort_as_half({:#x})", value.bits),
        _ => format!("__ushort_as_bfloat16({:#x})", value.bits),
    }
}

pub(super) fn c_type(format: Format) -> &'static str {
    match format {
        Format::F16 => "__half",
        Format::BF16 => "__nv_bfloat16",
        Format::F32 => "float",
        _ => "double",
    }
}

pub(super) fn cuda_name(operation: &Operation, subtracts: bool) -> String {
    let rounding = cuda_rounding(operation.rounding);
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
        (_, "fma") if operation.saturates() => "__hfma_sat".to_owned(),
        (_, "fma") => "__hfma".to_owned(),
        _ if operation.saturates() => format!("__h{name}_sat"),
        _ => format!("__h{name}_rn"),
    }
}

/// CUDA's name of a call that gives its bits.
pub(super) fn cuda_call(call: Call, operation: &Operation) -> Option<String> {
    let rounding = cuda_rounding(operation.rounding);
    let (letter, suffix) = match operation.format {
        Format::F32 => ('f', "f"),
        Format::F64 => ('d', ""),
        _ => return None,
    };
    let exact = |name: &str| Some(format!("{name}{suffix}"));
    match call {
        Call::Function(Function::Divide) => Some(format!("__{letter}div_{rounding}")),
        Call::Function(Function::Reciprocal) => Some(format!("__{letter}rcp_{rounding}")),
        Call::Function(Function::SquareRoot) => Some(format!("__{letter}sqrt_{rounding}")),
        Call::Function(Function::ReciprocalSquareRoot) if suffix == "f" => Some("__frsqrt_rn".to_owned()),
        Call::Min => exact("fmin"),
        Call::Max => exact("fmax"),
        Call::Abs => exact("fabs"),
        Call::CopySign => exact("copysign"),
        Call::Floor => exact("floor"),
        Call::Ceil => exact("ceil"),
        Call::Trunc => exact("trunc"),
        Call::Rint => exact("rint"),
        Call::RoundAway => exact("round"),
        Call::Fmod => exact("fmod"),
        Call::Negate => Some("-".to_owned()),
        Call::Function(_)
        | Call::MinNan
        | Call::MaxNan
        | Call::Round
        | Call::RoundTo(..)
        | Call::Compare(_)
        | Call::ToInteger(_) => None,
    }
}

/// CUDA's conversion to an integer, where there is one.
pub(super) fn cuda_to_integer(cast: IntegerCast, from: Format) -> Option<String> {
    let to = match (cast.to.bits, cast.to.is_signed) {
        (32, true) => "int",
        (32, false) => "uint",
        (64, true) => "ll",
        (64, false) => "ull",
        _ => return None,
    };
    let from = match from {
        Format::F32 => "float",
        Format::F64 => "double",
        Format::F16 => "half",
        _ => "bfloat16",
    };
    let NarrowBy::Direction(rounding) = cast.by else { return None };
    Some(format!("__{from}2{to}_{}", cuda_rounding(rounding)))
}

const fn cuda_rounding(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => "rn",
        Rounding::TowardZero => "rz",
        Rounding::Down => "rd",
        Rounding::Up => "ru",
    }
}
