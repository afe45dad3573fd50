//! Operand types of the multiply-add family and of the instructions around it.

use rspirv::spirv::{FPEncoding, Op};

use super::{Checker, code, source};
use crate::grammar::{extended, instruction_name};
use crate::module::{Instruction, Module};

pub(super) const FMA: u16 = Op::FmaKHR as u16;

const ARITHMETIC: &str = "SPIR-V 1.6, 3.49.13 Arithmetic Instructions";

pub(super) fn check(checker: &mut Checker<'_>, instruction: &Instruction) {
    match Op::from_u32(instruction.opcode.into()) {
        Some(Op::FmaKHR) => arithmetic(checker, instruction, source::FMA),
        // Cooperative matrices and vectors have these too, and rules of their own.
        Some(Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FMod | Op::FNegate)
            if kind_of(checker, instruction).is_none_or(|op| !cooperative(op)) =>
        {
            arithmetic(checker, instruction, ARITHMETIC);
        }
        Some(Op::ExtInst) => extended_fma(checker, instruction),
        Some(Op::Load | Op::Store | Op::Variable | Op::Function | Op::ReturnValue) => memory(checker, instruction),
        _ => {}
    }
}

/// The opcode that declares the result type.
fn kind_of(checker: &Checker<'_>, instruction: &Instruction) -> Option<Op> {
    let id = checker.module.result_type(instruction)?;
    Op::from_u32(checker.facts.definition(id)?.opcode.into())
}

fn cooperative(op: Op) -> bool {
    matches!(op, Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV | Op::TypeVectorIdEXT)
}

/// Formats that the documents list the uses of: conversions, dot products, cooperative matrices. SPIRV-Tools 2025.5 takes
/// OpFmaKHR on them, later ones do not; they all refuse the other arithmetic.
fn without_arithmetic(encoding: u32) -> Option<(&'static str, &'static str)> {
    match FPEncoding::from_u32(encoding)? {
        FPEncoding::BFloat16KHR => Some(("bfloat16 numbers", "SPV_KHR_bfloat16, 2.16.1 Universal Validation Rules")),
        FPEncoding::Float8E4M3EXT | FPEncoding::Float8E5M2EXT => {
            Some(("8-bit floats", "SPV_EXT_float8, 2.16.1 Universal Validation Rules"))
        }
    }
}

/// Result type a scalar or vector of floats, every operand of that type.
fn arithmetic(checker: &mut Checker<'_>, instruction: &Instruction, rule: &str) {
    let name = instruction_name(instruction.opcode);
    if let Some((result_type, shown)) = float_result(checker, instruction, &name, rule) {
        operands(checker, instruction, &name, result_type, &shown, rule);
    }
}

/// The Result Type and its description, if it is a scalar or vector of floats that can be computed with.
fn float_result(checker: &mut Checker<'_>, instruction: &Instruction, name: &str, rule: &str) -> Option<(u32, String)> {
    let (module, facts) = (checker.module, checker.facts);
    let result_type = module.result_type(instruction)?;
    let shown = facts.describe(module, result_type);
    let scalar = facts.components(module, result_type).map(|(scalar, _)| scalar);
    let Some((_, encoding)) = scalar.and_then(|scalar| facts.float(module, scalar)) else {
        let message =
            format!("{name}: the Result Type must be a scalar or vector of floating-point type, found {shown}");
        checker.error(code::RESULT_TYPE, instruction.word + 1, rule, message);
        return None;
    };
    if let Some((what, rule)) = encoding.and_then(without_arithmetic) {
        let message = format!("{name}: the Result Type is {shown}; {what} have no arithmetic but that of matrices");
        checker.error(code::NARROW_FLOAT, instruction.word + 1, rule, message).help =
            "convert to f32, compute there, convert back: two roundings".to_owned();
        return None;
    }
    Some((result_type, shown))
}

fn operands(
    checker: &mut Checker<'_>,
    instruction: &Instruction,
    name: &str,
    result_type: u32,
    shown: &str,
    rule: &str,
) {
    let module = checker.module;
    let first = Module::first_operand(instruction);
    for (position, &id) in module.words_of(instruction)[first..].iter().enumerate() {
        if let Some(found) = not_of_type(checker, id, result_type) {
            let message =
                format!("{name}: Operand {} {} {found}; the Result Type is {shown}", position + 1, module.id(id));
            checker.error(code::OPERAND_TYPE, instruction.word + first + position, rule, message);
        }
    }
}

/// What an operand is instead of a value of the type.
fn not_of_type(checker: &Checker<'_>, id: u32, expected: u32) -> Option<String> {
    let (module, facts) = (checker.module, checker.facts);
    let definition = facts.definition(id)?;
    match Op::from_u32(definition.opcode.into()) {
        Some(Op::Function) => return Some("is a function".to_owned()),
        Some(Op::Label) => return Some("is a label".to_owned()),
        _ if facts.is_type(id) => return Some(format!("is a type, {}", facts.describe(module, id))),
        _ => {}
    }
    match facts.type_of(id) {
        Some(found) if found == expected => None,
        Some(found) => Some(format!("is of type {}", facts.describe(module, found))),
        None => Some("has no type".to_owned()),
    }
}

/// OpenCL.std `fma` and `mad`, GLSL.std.450 `Fma`: three operands of the result's type.
fn extended_fma(checker: &mut Checker<'_>, instruction: &Instruction) {
    let (module, facts) = (checker.module, checker.facts);
    let words = module.words_of(instruction);
    let Some(set) = facts.imports.get(words.get(3).unwrap_or(&0)) else {
        let id = module.id(words.get(3).copied().unwrap_or(0));
        let message = format!("OpExtInst: {id} is no imported set of instructions");
        checker.error(code::OPERAND_TYPE, instruction.word, "SPIR-V 1.6, OpExtInst", message);
        return;
    };
    let Some(name) = fused(set, words.get(4).copied().unwrap_or(u32::MAX)) else {
        return;
    };
    let name = format!("{set} {name}");
    let Some((result_type, shown)) = float_result(checker, instruction, &name, &name) else {
        return;
    };
    for (position, &id) in words[5..].iter().enumerate() {
        if let Some(found) = not_of_type(checker, id, result_type) {
            let letter = ["a", "b", "c"].get(position).unwrap_or(&"?");
            let message = format!("{name}: operand {letter} {} {found}; the Result Type is {shown}", module.id(id));
            checker.error(code::OPERAND_TYPE, instruction.word + 5 + position, &name, message);
        }
    }
}

/// The name of an extended instruction that multiplies and adds.
pub(super) fn fused(set: &str, number: u32) -> Option<&'static str> {
    let row = extended(set, number)?;
    matches!((set, row.opname), ("OpenCL.std", "fma" | "mad") | ("GLSL.std.450", "Fma")).then_some(row.opname)
}

/// Loads, stores, variables and functions: the types that must agree in them.
fn memory(checker: &mut Checker<'_>, instruction: &Instruction) {
    let (module, facts) = (checker.module, checker.facts);
    let word = |index| module.operand_word(instruction, index);
    let pointee = |id| {
        let pointer = facts.defined_by(module, facts.type_of(id)?, Op::TypePointer)?;
        Some(module.operand_word(pointer, 2))
    };
    let shown = |id| facts.describe(module, id);
    let message = match Op::from_u32(instruction.opcode.into()) {
        Some(Op::Load) => match pointee(word(2)) {
            Some(found) if found != word(0) => Some(format!(
                "the Result Type is {}; the pointer {} holds {}",
                shown(word(0)),
                module.id(word(2)),
                shown(found)
            )),
            _ => None,
        },
        Some(Op::Store) => match (pointee(word(0)), facts.type_of(word(1))) {
            (Some(to), Some(found)) if to != found && !same_layout(checker, to, found) => {
                Some(format!("{} is stored where {} holds {}", checker.typed(word(1)), module.id(word(0)), shown(to)))
            }
            _ => None,
        },
        Some(Op::Variable) => match facts.defined_by(module, word(0), Op::TypePointer) {
            None => Some(format!("the Result Type is a pointer, found {}", shown(word(0)))),
            Some(pointer) if module.operand_word(pointer, 1) != word(2) => {
                Some("its storage class is not its pointer's".to_owned())
            }
            Some(_) => None,
        },
        Some(Op::Function) => match facts.defined_by(module, word(3), Op::TypeFunction) {
            None => Some(format!("{} is no function type", module.id(word(3)))),
            Some(function) if module.operand_word(function, 1) != word(0) => Some(format!(
                "the Result Type is {}; its function type returns {}",
                shown(word(0)),
                shown(module.operand_word(function, 1))
            )),
            Some(_) => None,
        },
        _ => None,
    };
    if let Some(message) = message {
        let name = instruction_name(instruction.opcode);
        checker.error(
            code::OPERAND_TYPE,
            instruction.word,
            "SPIR-V 1.6, 3.49 Instructions",
            format!("{name}: {message}"),
        );
    }
}

/// Two aggregates may be one in all but their ids: OpStore between them is for others to judge.
fn same_layout(checker: &Checker<'_>, one: u32, other: u32) -> bool {
    let opcode = |id| checker.facts.definition(id).map(|definition| definition.opcode);
    opcode(one) == opcode(other)
        && matches!(
            opcode(one).and_then(|opcode| Op::from_u32(opcode.into())),
            Some(Op::TypeStruct | Op::TypeArray | Op::TypePointer)
        )
}
