//! The types that extended instructions take: GLSL.std.450 and OpenCL.std.

use rspirv::spirv::Op;

use super::values::Want::{self, *};
use super::values::{Wrong, by_row};
use super::{Checker, code};
use crate::grammar::extended;
use crate::module::Instruction;

struct Row {
    names: &'static [&'static str],
    result: Want,
    operands: &'static [Want],
}

const fn row(names: &'static [&'static str], result: Want, operands: &'static [Want]) -> Row {
    Row { names, result, operands }
}

/// GLSL.std.450, 3 Binary Form.
#[rustfmt::skip] // A row a rule.
static GLSL: &[Row] = &[
    row(&["Round", "RoundEven", "Trunc", "FAbs", "FSign", "Floor", "Ceil", "Fract", "Sqrt", "InverseSqrt", "Normalize"],
        Floats, &[Result]),
    row(&["FMin", "FMax", "NMin", "NMax", "Step", "Reflect", "Cross"], Floats, &[Result, Result]),
    row(&["FClamp", "NClamp", "FMix", "SmoothStep", "FaceForward"], Floats, &[Result, Result, Result]),
    row(&["Refract"], Floats, &[Result, Result, OneFloat]),
    row(&["Radians", "Degrees", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh",
        "Atanh", "Exp", "Log", "Exp2", "Log2"], NarrowFloats, &[Result]),
    row(&["Atan2", "Pow"], NarrowFloats, &[Result, Result]),
    row(&["SAbs", "SSign", "FindILsb", "FindUMsb", "FindSMsb"], Ints, &[IntsLikeResult]),
    row(&["UMin", "SMin", "UMax", "SMax"], Ints, &[IntsLikeResult, IntsLikeResult]),
    row(&["UClamp", "SClamp"], Ints, &[IntsLikeResult, IntsLikeResult, IntsLikeResult]),
    row(&["Modf"], Floats, &[Result, PointerToResult]),
    row(&["Frexp"], Floats, &[Result, Pointer]),
    row(&["Ldexp"], Floats, &[Result, IntsAsMany]),
    row(&["PackSnorm4x8", "PackUnorm4x8"], OneInt, &[Floats32(4)]),
    row(&["PackSnorm2x16", "PackUnorm2x16", "PackHalf2x16"], OneInt, &[Floats32(2)]),
    row(&["UnpackSnorm4x8", "UnpackUnorm4x8"], Floats32(4), &[OneInt]),
    row(&["UnpackSnorm2x16", "UnpackUnorm2x16", "UnpackHalf2x16"], Floats32(2), &[OneInt]),
    row(&["PackDouble2x32"], OneFloat, &[Ints]),
    row(&["UnpackDouble2x32"], Ints, &[OneFloat]),
    row(&["Length"], OneFloat, &[Floats]),
    row(&["Distance"], OneFloat, &[Floats, First]),
];

/// OpenCL Extended Instruction Set, 2 Binary Form.
#[rustfmt::skip] // A row a rule.
static OPENCL: &[Row] = &[
    row(&["acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atanh", "atanpi", "cbrt", "ceil", "cos", "cosh",
        "cospi", "erfc", "erf", "exp", "exp2", "exp10", "expm1", "fabs", "floor", "lgamma", "log", "log2", "log10", "log1p",
        "logb", "rint", "round", "rsqrt", "sin", "sinh", "sinpi", "sqrt", "tan", "tanh", "tanpi", "tgamma", "trunc",
        "half_cos", "half_exp", "half_exp2", "half_exp10", "half_log", "half_log2", "half_log10", "half_recip",
        "half_rsqrt", "half_sin", "half_sqrt", "half_tan", "native_cos", "native_exp", "native_exp2", "native_exp10",
        "native_log", "native_log2", "native_log10", "native_recip", "native_rsqrt", "native_sin", "native_sqrt",
        "native_tan", "degrees", "radians", "sign"], Floats, &[Result]),
    row(&["atan2", "atan2pi", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "maxmag", "minmag", "nextafter", "pow",
        "powr", "remainder", "half_divide", "half_powr", "native_divide", "native_powr", "fmax_common", "fmin_common",
        "step"], Floats, &[Result, Result]),
    row(&["fclamp", "mix", "smoothstep"], Floats, &[Result, Result, Result]),
    row(&["fract", "modf", "sincos"], Floats, &[Result, PointerToResult]),
    row(&["frexp", "lgamma_r"], Floats, &[Result, Pointer]),
    row(&["remquo"], Floats, &[Result, Result, Pointer]),
    row(&["ldexp", "pown", "rootn"], Floats, &[Result, IntsOf32AsMany]),
    row(&["ilogb"], Ints32, &[FloatsAsMany]),
    row(&["nan"], Floats, &[IntsAsMany]),
    row(&["s_abs", "u_abs", "clz", "ctz", "popcount"], Ints, &[Result]),
    row(&["s_abs_diff", "u_abs_diff", "s_add_sat", "u_add_sat", "s_hadd", "u_hadd", "s_rhadd", "u_rhadd", "s_max", "u_max",
        "s_min", "u_min", "s_mul_hi", "u_mul_hi", "rotate", "s_sub_sat", "u_sub_sat", "s_mul24", "u_mul24"],
        Ints, &[Result, Result]),
    row(&["s_clamp", "u_clamp", "s_mad_hi", "u_mad_hi", "s_mad_sat", "u_mad_sat", "s_mad24", "u_mad24"],
        Ints, &[Result, Result, Result]),
    row(&["length", "fast_length"], OneFloat, &[Floats]),
    row(&["distance", "fast_distance"], OneFloat, &[Floats, First]),
    row(&["normalize", "fast_normalize"], Floats, &[Result]),
    row(&["cross"], Floats, &[Result, Result]),
    row(&["bitselect"], Anything, &[Result, Result, Result]),
];

pub(super) fn check(checker: &mut Checker<'_>, instruction: &Instruction) {
    let words = checker.module.words_of(instruction);
    let Some((set, &number)) = words.get(3).and_then(|id| checker.facts.imports.get(id)).zip(words.get(4)) else {
        return;
    };
    let rows = match set.as_str() {
        "GLSL.std.450" => GLSL,
        "OpenCL.std" => OPENCL,
        "OpenCL.DebugInfo.100" => return returned(checker, instruction, number),
        _ => return,
    };
    let Some(name) = extended(set, number).map(|row| row.opname) else { return };
    let Some(row) = rows.iter().find(|row| row.names.contains(&name)) else { return };
    let wrong: Wrong = by_row(checker, instruction, row.result, row.operands, 5);
    if let Some((word, message)) = wrong {
        let code = if word == 1 { code::RESULT_TYPE } else { code::OPERAND_TYPE };
        checker.error(code, instruction.word + word, set, format!("{set} {name}: {message}"));
    }
}

/// What a DebugTypeFunction returns: OpTypeVoid, or a type that debug information describes (OpenCL.DebugInfo.100, 4.3).
fn returned(checker: &mut Checker<'_>, instruction: &Instruction, number: u32) {
    const SET: &str = "OpenCL.DebugInfo.100";
    let (module, facts) = (checker.module, checker.facts);
    let is = |number, name: &str| extended(SET, number).is_some_and(|row| row.opname.starts_with(name));
    let id = module.operand_word(instruction, 5);
    let Some(definition) = facts.instruction(module, id).filter(|_| is(number, "DebugTypeFunction")) else { return };
    let described = definition.opcode == Op::ExtInst as u16 && is(module.operand_word(definition, 3), "DebugType");
    if definition.opcode != Op::TypeVoid as u16 && !described {
        let message = format!("{SET} DebugTypeFunction: the Return Type {} is no type", module.id(id));
        checker.error(code::OPERAND_TYPE, instruction.word + 6, SET, message);
    }
}
