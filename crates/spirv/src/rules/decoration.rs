//! Decorations: what each may be put on.

use std::collections::HashSet;

use roundonce_isa::Version;
use rspirv::grammar::OperandKind;
use rspirv::spirv::{BuiltIn, Capability, Decoration, LinkageType, Op, StorageClass};

use super::entry::takes_ids;
use super::view::View;
use super::{Checker, code, source};
use crate::environment::Client;
use crate::facts::Attached;
use crate::module::Instruction;

const DECORATIONS: &str = "SPIR-V 1.6, 3.20 Decoration";

pub(super) fn check(checker: &mut Checker<'_>) {
    repeated(checker);
    forms(checker);
    exclusive(checker);
    removed(checker);
    linkage(checker);
    for decoration in &checker.facts.decorations {
        if let Some(wanted) = wanted(checker, decoration) {
            let id = checker.module.id(decoration.target);
            let name = Decoration::from_u32(decoration.value).map_or_else(String::new, |name| format!("{name:?}"));
            let what = checker.facts.definition(decoration.target);
            let what = what.map_or_else(String::new, |at| crate::grammar::instruction_name(at.opcode));
            let message = format!("OpDecorate: {name} is for {wanted}; {id} is an {what}");
            checker.error(code::DECORATION, decoration.instruction.word, DECORATIONS, message);
        }
    }
}

/// A function without a body is imported, one with a body is not.
fn linkage(checker: &mut Checker<'_>) {
    let (module, facts) = (checker.module, checker.facts);
    let instructions = module.instructions();
    let functions = instructions.iter().enumerate().filter(|(_, at)| at.opcode == Op::Function as u16);
    for (index, function) in functions {
        let Some(id) = module.result(function) else { continue };
        let inside = |at: &&Instruction| ![Op::FunctionEnd, Op::Function].iter().any(|&op| op as u16 == at.opcode);
        let has_body = instructions[index + 1..].iter().take_while(inside).any(|at| at.opcode == Op::Label as u16);
        let imported = facts.decorations_of(id).any(|at| {
            at.value == Decoration::LinkageAttributes as u32 && at.words.last() == Some(&(LinkageType::Import as u32))
        });
        if has_body == imported {
            let what = if has_body { "it has a body and is decorated" } else { "it has no body and is not decorated" };
            let message = format!("OpFunction: {}: {what} LinkageAttributes Import", module.id(id));
            checker.error(code::DECORATION, function.word, source::UNIVERSAL, message);
        }
    }
}

/// BufferBlock is of the versions before Block of the storage class StorageBuffer took its place.
fn removed(checker: &mut Checker<'_>) {
    let buffers = |at: &&Attached| at.value == Decoration::BufferBlock as u32;
    let Some(first) = checker.facts.decorations.iter().find(buffers) else { return };
    let version = checker.module.version();
    if version > Version(1, 3) {
        let message =
            format!("OpDecorate BufferBlock: SPIR-V 1.3 is the last that has it, the module is SPIR-V {version}");
        let word = first.instruction.word;
        checker.error(code::DECORATION, word, DECORATIONS, message).help =
            "decorate the struct Block, and have its variables in the storage class StorageBuffer".to_owned();
    }
}

/// A decoration of an id or of a member stands once. Parameters may have several attributes, symbols several names.
fn repeated(checker: &mut Checker<'_>) {
    let module = checker.module;
    let mut seen = HashSet::new();
    for instruction in module.instructions() {
        let word = |index| module.operand_word(instruction, index);
        let (target, member, decoration) = match Op::from_u32(instruction.opcode.into()) {
            Some(Op::Decorate | Op::DecorateId) => (word(0), None, word(1)),
            Some(Op::MemberDecorate) => (word(0), Some(word(1)), word(2)),
            _ => continue,
        };
        let Some(name) = Decoration::from_u32(decoration).filter(|name| may_not_repeat(*name)) else { continue };
        if !seen.insert((target, member, decoration)) {
            let id = module.id(target);
            let of = member.map_or_else(|| id.to_string(), |member| format!("member {member} of {id}"));
            let message = format!("{of} is decorated {name:?} a second time");
            checker.error(code::DECORATION_TWICE, instruction.word, DECORATIONS, message);
        }
    }
}

/// Each decoration has the instruction that is for it.
fn forms(checker: &mut Checker<'_>) {
    let module = checker.module;
    for instruction in module.instructions() {
        let word = |index| module.operand_word(instruction, index);
        let (decoration, by_id) = match Op::from_u32(instruction.opcode.into()) {
            Some(Op::Decorate) => (word(1), Some(false)),
            Some(Op::DecorateId) => (word(1), Some(true)),
            Some(Op::MemberDecorate) => (word(2), None),
            _ => continue,
        };
        let Some(name) = Decoration::from_u32(decoration) else { continue };
        let message = match by_id {
            None if NOT_OF_MEMBERS.contains(&name) => {
                format!("OpMemberDecorate: {name:?} is not for a struct's members")
            }
            Some(by_id) if takes_ids(OperandKind::Decoration, decoration).is_some_and(|takes| takes != by_id) => {
                format!("{name:?} is a decoration of {}", if by_id { "OpDecorate" } else { "OpDecorateId" })
            }
            _ => continue,
        };
        checker.error(code::DECORATION, instruction.word, DECORATIONS, message);
    }
}

/// Decorations of which an id has one at most.
fn exclusive(checker: &mut Checker<'_>) {
    use Decoration::{Aliased, AliasedPointer, Block, BufferBlock, Restrict, RestrictPointer};
    const PAIRS: [(Decoration, Decoration); 3] =
        [(Restrict, Aliased), (RestrictPointer, AliasedPointer), (Block, BufferBlock)];
    let mut seen = HashSet::new();
    for at in &checker.facts.decorations {
        seen.insert((at.target, at.value));
        for (one, other) in PAIRS.iter().flat_map(|&(one, other)| [(one, other), (other, one)]) {
            if at.value == one as u32 && seen.contains(&(at.target, other as u32)) {
                let message = format!("{} is decorated {one:?} and {other:?}", checker.module.id(at.target));
                checker.error(code::DECORATION, at.instruction.word, DECORATIONS, message);
            }
        }
    }
}

/// Decorations of whole types, variables and results.
const NOT_OF_MEMBERS: [Decoration; 30] = [
    Decoration::SpecId,
    Decoration::Block,
    Decoration::BufferBlock,
    Decoration::ArrayStride,
    Decoration::GLSLShared,
    Decoration::GLSLPacked,
    Decoration::CPacked,
    Decoration::Aliased,
    Decoration::Constant,
    Decoration::Uniform,
    Decoration::UniformId,
    Decoration::SaturatedConversion,
    Decoration::Index,
    Decoration::Binding,
    Decoration::DescriptorSet,
    Decoration::FuncParamAttr,
    Decoration::FPRoundingMode,
    Decoration::FPFastMathMode,
    Decoration::LinkageAttributes,
    Decoration::NoContraction,
    Decoration::InputAttachmentIndex,
    Decoration::Alignment,
    Decoration::MaxByteOffset,
    Decoration::AlignmentId,
    Decoration::MaxByteOffsetId,
    Decoration::NoSignedWrap,
    Decoration::NoUnsignedWrap,
    Decoration::NonUniform,
    Decoration::RestrictPointer,
    Decoration::AliasedPointer,
];

/// Those of the core.
fn may_not_repeat(decoration: Decoration) -> bool {
    match decoration {
        Decoration::FuncParamAttr | Decoration::LinkageAttributes => false,
        Decoration::NoSignedWrap | Decoration::NoUnsignedWrap => true,
        other => (other as u32) <= Decoration::MaxByteOffsetId as u32,
    }
}

/// What a decoration is for, if its target is something else.
fn wanted(checker: &Checker<'_>, decoration: &Attached) -> Option<&'static str> {
    let facts = checker.facts;
    let target = decoration.target;
    let op = Op::from_u32(facts.definition(target)?.opcode.into())?;
    // A group carries its decorations to others.
    if op == Op::DecorationGroup {
        return None;
    }
    let variable = matches!(op, Op::Variable | Op::UntypedVariableKHR);
    let constant = (41..=52).contains(&(op as u32));
    let (good, wanted) = match Decoration::from_u32(decoration.value)? {
        Decoration::Block
        | Decoration::BufferBlock
        | Decoration::GLSLShared
        | Decoration::GLSLPacked
        | Decoration::CPacked => (op == Op::TypeStruct, "a struct type"),
        Decoration::BuiltIn if decoration.words.first() == Some(&(BuiltIn::WorkgroupSize as u32)) => {
            (constant || variable && facts.has(Capability::Kernel), "a constant, where it is a shader's WorkgroupSize")
        }
        Decoration::BuiltIn => (variable, "a variable or a struct's member"),
        // VUID-StandaloneSpirv-DescriptorSet-06491.
        Decoration::DescriptorSet | Decoration::Binding
            if variable && matches!(checker.environment.client, Client::Vulkan(_)) =>
        {
            let View::Pointer { class, .. } = checker.view_of(target) else { return None };
            let classes = [StorageClass::StorageBuffer, StorageClass::Uniform, StorageClass::UniformConstant];
            (is_one_of(class, &classes), "a variable of a buffer, an image or a sampler")
        }
        Decoration::NonReadable | Decoration::NonWritable if unreadable(checker, decoration) => {
            (false, "images and buffers, NonWritable from SPIR-V 1.4 on for private variables too")
        }
        Decoration::Invariant
        | Decoration::Flat
        | Decoration::NoPerspective
        | Decoration::Centroid
        | Decoration::Sample
            if variable && matches!(checker.environment.client, Client::Vulkan(_)) =>
        {
            // VUID-StandaloneSpirv-Invariant-04677 and VUID-StandaloneSpirv-Flat-04670.
            let View::Pointer { class, .. } = checker.view_of(target) else { return None };
            (is_one_of(class, &[StorageClass::Input, StorageClass::Output]), "an input or an output")
        }
        Decoration::Restrict
        | Decoration::Aliased
        | Decoration::RestrictPointer
        | Decoration::AliasedPointer
        | Decoration::Volatile
        | Decoration::Coherent
        | Decoration::NonWritable
        | Decoration::NonReadable
        | Decoration::Flat
        | Decoration::NoPerspective
        | Decoration::Centroid
        | Decoration::Sample
        | Decoration::Patch
        | Decoration::Component => {
            let holder = variable || matches!(op, Op::FunctionParameter | Op::RawAccessChainNV);
            let pointer = matches!(checker.view_of(target), View::Pointer { .. } | View::Foreign);
            (holder && pointer, "a variable, or a parameter that is a pointer")
        }
        Decoration::Location
        | Decoration::Binding
        | Decoration::DescriptorSet
        | Decoration::Index
        | Decoration::InputAttachmentIndex
        | Decoration::Invariant
        | Decoration::Constant => (variable, "a variable"),
        Decoration::RelaxedPrecision => (!facts.is_type(target), "values and members: no type has it"),
        Decoration::NoSignedWrap | Decoration::NoUnsignedWrap => {
            let integer = matches!(
                op,
                Op::IAdd
                    | Op::ISub
                    | Op::IMul
                    | Op::ShiftLeftLogical
                    | Op::SNegate
                    | Op::ExtInst
                    | Op::ExtInstWithForwardRefsKHR
            );
            (integer, "OpIAdd, OpISub, OpIMul, OpSNegate, OpShiftLeftLogical and extended instructions")
        }
        Decoration::SpecId => (
            matches!(op, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse),
            "a scalar specialisation constant",
        ),
        Decoration::ArrayStride => {
            let stride =
                matches!(op, Op::TypeArray | Op::TypeRuntimeArray | Op::TypePointer | Op::TypeUntypedPointerKHR);
            (stride, "an array or pointer type")
        }
        Decoration::RowMajor | Decoration::ColMajor | Decoration::MatrixStride => (false, "a struct's member"),
        Decoration::FPRoundingMode => {
            let conversion =
                matches!(op, Op::FConvert | Op::ConvertFToS | Op::ConvertFToU | Op::ConvertSToF | Op::ConvertUToF);
            // Kernels may put it anywhere; shaders narrow floats with it.
            let good = !facts.has(Capability::Shader) || (conversion && op == Op::FConvert);
            (good, "OpFConvert in a shader: no other instruction's rounding is decorated")
        }
        _ => return None,
    };
    (!good).then_some(wanted)
}

fn is_one_of(class: u32, classes: &[StorageClass]) -> bool {
    classes.iter().any(|&of| of as u32 == class)
}

/// Whether a shader's variable is of a storage class where it can't be kept from being read or written.
fn unreadable(checker: &Checker<'_>, decoration: &Attached) -> bool {
    use StorageClass::{Function, Input, Output, Private, Workgroup};
    let (module, facts) = (checker.module, checker.facts);
    let variable = facts.defined_by(module, decoration.target, Op::Variable);
    let Some(class) = variable.map(|at| module.operand_word(at, 2)) else { return false };
    let constant = decoration.value == Decoration::NonWritable as u32 && module.version() >= Version(1, 4);
    facts.has(Capability::Shader)
        && (is_one_of(class, &[Workgroup, Input, Output]) || !constant && is_one_of(class, &[Function, Private]))
}
