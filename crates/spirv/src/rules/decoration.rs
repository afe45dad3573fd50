//! Decorations: what each may be put on.

use std::collections::HashSet;

use roundonce_isa::Version;
use rspirv::spirv::{BuiltIn, Capability, Decoration, LinkageType, Op, StorageClass};

use super::view::View;
use super::{Checker, code, source};
use crate::environment::Client;
use crate::facts::Attached;
use crate::module::Instruction;

const DECORATIONS: &str = "SPIR-V 1.6, 3.20 Decoration";

pub(super) fn check(checker: &mut Checker<'_>) {
    repeated(checker);
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
    let (module, facts) = (checker.module, checker.facts);
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
            (classes.iter().any(|&of| of as u32 == class), "a variable of a buffer, an image or a sampler")
        }
        Decoration::Restrict
        | Decoration::Aliased
        | Decoration::Volatile
        | Decoration::Coherent
        | Decoration::NonWritable
        | Decoration::NonReadable => {
            // Loads and pointers of physical addressing may carry some of these.
            let pointer = matches!(op, Op::FunctionParameter | Op::RawAccessChainNV | Op::TypeStruct);
            (variable || pointer, "a variable or a parameter")
        }
        Decoration::Location
        | Decoration::Component
        | Decoration::Binding
        | Decoration::DescriptorSet
        | Decoration::Index
        | Decoration::InputAttachmentIndex
        | Decoration::Invariant
        | Decoration::Constant
        | Decoration::Flat
        | Decoration::NoPerspective
        | Decoration::Centroid
        | Decoration::Sample
        | Decoration::Patch => {
            let member_holder = op == Op::TypeStruct && !matches!(decoration.value, 33 | 34);
            (variable || member_holder, "a variable")
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
    let _ = module;
    (!good).then_some(wanted)
}
