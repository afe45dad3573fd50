//! Types and constants: widths, components, capabilities, and nothing declared twice.

use std::collections::HashSet;

use rspirv::spirv::{Capability, FPEncoding, Op, StorageClass};

use super::view::{Scalar, View};
use super::{Checker, code, source};
use crate::environment::Client;
use crate::grammar::instruction_name;
use crate::module::{Instruction, Operand};

#[derive(Default)]
pub(super) struct Types {
    declared: HashSet<Vec<u32>>,
}

const TYPES: &str = "SPIR-V 1.6, 3.49.6 Type-Declaration Instructions";
const CONSTANTS: &str = "SPIR-V 1.6, 3.49.7 Constant-Creation Instructions";

/// Capabilities that let a module name 16-bit numbers to move them, not to compute with them.
const STORAGE_16: [Capability; 5] = [
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
    Capability::StorageInputOutput16,
    Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
];
const STORAGE_8: [Capability; 4] = [
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
    Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
];

impl Types {
    pub(super) fn check(&mut self, checker: &mut Checker<'_>, instruction: &Instruction, _operands: &[Operand]) {
        let Some(op) = Op::from_u32(instruction.opcode.into()) else {
            return;
        };
        if op == Op::Undef && has_limited_parts(checker, instruction) {
            let message = "OpUndef: 8- and 16-bit numbers that can only be stored have no undefined values".to_owned();
            checker.error(code::CONSTANT, instruction.word, "SPIR-V 1.6, 2.16.1 Universal Validation Rules", message);
        }
        if op == Op::Undef && is_void(checker, instruction) {
            let message = "OpUndef: void has no values".to_owned();
            checker.error(code::CONSTANT, instruction.word, "SPIR-V 1.6, OpUndef", message);
        }
        // Most instructions declare nothing.
        if !(19..=52).contains(&instruction.opcode) {
            return;
        }
        let name = instruction_name(instruction.opcode);
        if let Some(message) = declaration(checker, instruction, op) {
            checker.error(code::TYPE_DECLARATION, instruction.word, TYPES, format!("{name}: {message}"));
        }
        if let Some(message) = constant(checker, instruction, op) {
            checker.error(code::CONSTANT, instruction.word, CONSTANTS, format!("{name}: {message}"));
        }
        self.unique(checker, instruction, op);
    }

    /// Aggregates and pointers may be declared twice, to be decorated differently.
    fn unique(&mut self, checker: &mut Checker<'_>, instruction: &Instruction, op: Op) {
        use Op::*;
        let unique = matches!(
            op,
            TypeVoid
                | TypeBool
                | TypeInt
                | TypeFloat
                | TypeVector
                | TypeMatrix
                | TypeImage
                | TypeSampler
                | TypeSampledImage
                | TypeFunction
                | TypeEvent
                | TypeDeviceEvent
                | TypeReserveId
                | TypeQueue
                | TypePipe
        );
        if !unique {
            return;
        }
        let words = checker.module.words_of(instruction);
        let mut key = words.to_vec();
        key.remove(1);
        if !self.declared.insert(key) {
            let id = checker.module.operand_word(instruction, 0);
            let type_name = checker.facts.describe(checker.module, id);
            let message = format!("{type_name} is declared a second time");
            checker.error(code::TYPE_TWICE, instruction.word, source::UNIVERSAL, message);
        }
    }
}

/// The error in a type's declaration.
fn declaration(checker: &Checker<'_>, instruction: &Instruction, op: Op) -> Option<String> {
    let (module, facts) = (checker.module, checker.facts);
    let word = |index| module.operand_word(instruction, index);
    let has = |capability| facts.has(capability);
    let is = |id, op: Op| facts.definition(id).is_some_and(|definition| definition.opcode == op as u16);
    let shown = |id| facts.describe(module, id);
    match op {
        Op::TypeInt => {
            let capable = match word(1) {
                8 => has(Capability::Int8) || STORAGE_8.into_iter().any(has),
                16 => has(Capability::Int16) || STORAGE_16.into_iter().any(has),
                32 => true,
                64 => has(Capability::Int64),
                width => return Some(format!("no integer has {width} bits: expected 8, 16, 32 or 64")),
            };
            if !capable {
                return Some(format!("{0} bits need the capability Int{0}, which is not declared", word(1)));
            }
            match word(2) {
                0 => None,
                1 if has(Capability::Kernel) => {
                    Some("signedness is 0 where the capability Kernel is declared".to_owned())
                }
                1 => None,
                other => Some(format!("signedness is 0 or 1, not {other}")),
            }
        }
        Op::TypeFloat => {
            let encoding = (instruction.count > 3).then(|| word(2));
            let half = || {
                has(Capability::Float16)
                    || has(Capability::Float16Buffer)
                    || STORAGE_16.into_iter().any(has)
                    || facts.extensions.contains("SPV_AMD_gpu_shader_half_float")
            };
            let needed = match (word(1), encoding) {
                // An encoding requires its capability itself.
                (16, Some(encoding)) if encoding == FPEncoding::BFloat16KHR as u32 => return None,
                (8, Some(_)) => return None,
                (16, _) if !half() => Capability::Float16,
                (64, _) if !has(Capability::Float64) => Capability::Float64,
                (8, None) => Capability::Float8EXT,
                (16 | 32 | 64, _) => return None,
                (width, _) => return Some(format!("no float has {width} bits: expected 16, 32 or 64")),
            };
            Some(format!("{} bits need the capability {needed:?}, which is not declared", word(1)))
        }
        Op::TypeImage => {
            let (view, sampled) = (checker.view(word(1)), shown(word(1)));
            let void = is(word(1), Op::TypeVoid);
            let number = matches!(view, View::Scalar(scalar) if scalar != Scalar::Bool);
            // VUID-StandaloneSpirv-OpTypeImage-04656.
            let narrow =
                matches!(view.numbers(), Some((Scalar::Float { width: 32 } | Scalar::Int { width: 32 | 64, .. }, 1)));
            match checker.environment.client {
                _ if !void && !number => Some(format!("the Sampled Type is void or a number, found {sampled}")),
                Client::Vulkan(_) if !narrow => {
                    Some(format!("the Sampled Type is a float of 32 bits or an integer of 32 or 64, found {sampled}"))
                }
                _ => None,
            }
        }
        Op::TypeVector => {
            let scalar = [Op::TypeInt, Op::TypeFloat, Op::TypeBool].into_iter().any(|op| is(word(1), op));
            match word(2) {
                _ if !scalar => Some(format!("components are scalars, found {}", shown(word(1)))),
                2..=4 => None,
                8 | 16 if has(Capability::Vector16) => None,
                count @ (8 | 16) => {
                    Some(format!("{count} components need the capability Vector16, which is not declared"))
                }
                count => Some(format!("no vector has {count} components: expected 2, 3, 4, 8 or 16")),
            }
        }
        Op::TypeMatrix => {
            let column = facts.defined_by(module, word(1), Op::TypeVector);
            match column {
                None => Some(format!("columns are vectors, found {}", shown(word(1)))),
                Some(column) if !is(module.operand_word(column, 1), Op::TypeFloat) => {
                    Some(format!("columns are vectors of floats, found {}", shown(word(1))))
                }
                Some(_) if !(2..=4).contains(&word(2)) => {
                    Some(format!("a matrix has 2, 3 or 4 columns, not {}", word(2)))
                }
                Some(_) => None,
            }
        }
        Op::TypeArray => {
            let length = facts.instruction(module, word(2));
            let constant = length.is_some_and(|length| (41..=52).contains(&length.opcode));
            if is(word(1), Op::TypeVoid) || !facts.is_type(word(1)) {
                return Some(format!("{} cannot be an element", module.id(word(1))));
            }
            let integer = facts.type_of(word(2)).is_some_and(|id| is(id, Op::TypeInt));
            if !constant || !integer {
                return Some(format!("the length {} is not a constant integer", checker.typed(word(2))));
            }
            let none = length.is_some_and(|length| {
                let bits = module.words_of(length).get(3..).unwrap_or_default();
                let is_negative = checker.is_signed(word(2)) && bits.last().is_some_and(|&high| (high as i32) < 0);
                match Op::from_u32(length.opcode.into()) {
                    Some(Op::ConstantNull) => true,
                    Some(Op::Constant) => is_negative || bits.iter().all(|&bits| bits == 0),
                    _ => false,
                }
            });
            none.then(|| "an array has one element at least".to_owned())
        }
        Op::TypeStruct | Op::TypeFunction => {
            let first = if op == Op::TypeStruct { 1 } else { 2 };
            module.words_of(instruction)[first.min(usize::from(instruction.count))..]
                .iter()
                .skip(1)
                .find(|&&id| is(id, Op::TypeVoid) || !facts.is_type(id) && facts.definition(id).is_some())
                .map(|&id| format!("{} cannot be a member or parameter", module.id(id)))
        }
        Op::TypeForwardPointer => {
            let Some(pointer) = facts.defined_by(module, word(0), Op::TypePointer) else {
                return Some(format!("{} is no pointer type", module.id(word(0))));
            };
            let physical = word(1) == StorageClass::PhysicalStorageBuffer as u32;
            if module.operand_word(pointer, 1) != word(1) {
                return Some(format!("the storage class is not that of the pointer type {}", module.id(word(0))));
            }
            // VUID-StandaloneSpirv-OpTypeForwardPointer-04711.
            (matches!(checker.environment.client, Client::Vulkan(_)) && !physical)
                .then(|| format!("the storage class is PhysicalStorageBuffer in {}", checker.environment))
        }
        Op::TypePointer | Op::TypeRuntimeArray => {
            let pointee = if op == Op::TypePointer { word(2) } else { word(1) };
            (!facts.is_type(pointee)).then(|| format!("{} is not a type", module.id(pointee)))
        }
        _ => None,
    }
}

/// The error in a constant.
fn constant(checker: &Checker<'_>, instruction: &Instruction, op: Op) -> Option<String> {
    let (module, facts) = (checker.module, checker.facts);
    if !(41..=52).contains(&instruction.opcode) {
        return None;
    }
    let result_type = module.result_type(instruction)?;
    let is = |id, op: Op| facts.definition(id).is_some_and(|definition| definition.opcode == op as u16);
    let shown = facts.describe(module, result_type);
    let constituents = module.words_of(instruction).get(3..).unwrap_or_default();
    match op {
        Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
            (!is(result_type, Op::TypeBool)).then(|| format!("the Result Type is bool, found {shown}"))
        }
        Op::Constant | Op::SpecConstant => {
            if !is(result_type, Op::TypeInt) && !is(result_type, Op::TypeFloat) {
                return Some(format!("the Result Type is a scalar integer or float, found {shown}"));
            }
            limited(checker, result_type).is_some().then(|| {
                format!("{shown} can be stored and loaded here, not made into constants: its arithmetic capability is not declared")
            })
        }
        Op::ConstantComposite | Op::SpecConstantComposite => {
            let words = facts.instruction(module, result_type)?;
            let count = module.operand_word(words, 2) as usize;
            let element = match Op::from_u32(words.opcode.into()) {
                Some(Op::TypeVector | Op::TypeMatrix) => module.operand_word(words, 1),
                Some(Op::TypeStruct) => return composed_struct(checker, words, constituents),
                Some(Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypePointer) => {
                    return Some(format!("the Result Type is a composite, found {shown}"));
                }
                _ => return None,
            };
            if constituents.len() != count {
                return Some(format!("{shown} has {count} constituents, found {}", constituents.len()));
            }
            let wrong = constituents.iter().find(|&&id| facts.type_of(id) != Some(element))?;
            Some(format!("{} is no constituent of {shown}", checker.typed(*wrong)))
        }
        Op::ConstantNull if is_logical_pointer(checker, result_type) => {
            Some(format!("{shown} is a logical pointer, which has no null value"))
        }
        Op::ConstantNull => {
            let without_null = find_part(checker, result_type, |id| {
                let op = Op::from_u32(facts.definition(id)?.opcode.into())?;
                NOT_NULL.contains(&op).then(|| facts.describe(module, id))
            })?;
            Some(format!("{without_null} has no null value"))
        }
        Op::SpecConstantOp => {
            let inner = module.operand_word(instruction, 2);
            (!crate::grammar::spec_constant_opcode(inner)).then(|| {
                let name = u16::try_from(inner).map_or_else(|_| inner.to_string(), instruction_name);
                format!("{name} cannot be computed at specialisation")
            })
        }
        _ => None,
    }
}

fn composed_struct(checker: &Checker<'_>, declared: &Instruction, constituents: &[u32]) -> Option<String> {
    let members = &checker.module.words_of(declared)[2..];
    if members.len() != constituents.len() {
        return Some(format!("the struct has {} members, found {}", members.len(), constituents.len()));
    }
    let mut pairs = members.iter().zip(constituents);
    let (member, wrong) = pairs.find(|&(member, id)| checker.facts.type_of(*id) != Some(*member))?;
    let expected = checker.facts.describe(checker.module, *member);
    Some(format!("{} is no member of type {expected}", checker.typed(*wrong)))
}

/// Whether a result type has parts that may be moved but not computed with.
pub(super) fn has_limited_parts(checker: &Checker<'_>, instruction: &Instruction) -> bool {
    checker.module.result_type(instruction).is_some_and(|id| limited_width(checker, id).is_some())
}

/// How wide the parts of a type are that may be moved but not computed with.
pub(super) fn limited_width(checker: &Checker<'_>, type_id: u32) -> Option<u32> {
    find_part(checker, type_id, |id| limited(checker, id))
}

/// What is found of a type or of one that it is made of.
fn find_part<T>(checker: &Checker<'_>, type_id: u32, mut find: impl FnMut(u32) -> Option<T>) -> Option<T> {
    let (module, facts) = (checker.module, checker.facts);
    let mut left = vec![type_id];
    let mut seen = HashSet::new();
    while let Some(id) = left.pop().filter(|_| seen.len() < LARGEST_TYPE) {
        if !seen.insert(id) {
            continue;
        }
        if let Some(found) = find(id) {
            return Some(found);
        }
        let Some(declared) = facts.instruction(module, id) else { continue };
        match Op::from_u32(declared.opcode.into()) {
            Some(Op::TypeVector | Op::TypeMatrix | Op::TypeArray | Op::TypeRuntimeArray) => {
                left.push(module.operand_word(declared, 1));
            }
            Some(Op::TypeStruct) => left.extend(&module.words_of(declared)[2..]),
            _ => {}
        }
    }
    None
}

/// Whether a type is a pointer that variable pointers are not declared for, in a module without addresses.
fn is_logical_pointer(checker: &Checker<'_>, type_id: u32) -> bool {
    let View::Pointer { class, .. } = checker.view(type_id) else { return false };
    let variable = match StorageClass::from_u32(class) {
        Some(StorageClass::StorageBuffer) => checker.facts.has(Capability::VariablePointersStorageBuffer),
        Some(StorageClass::Workgroup) => checker.facts.has(Capability::VariablePointers),
        _ => false,
    };
    checker.facts.is_logical() && !variable
}

/// Types without a null value.
const NOT_NULL: [Op; 8] = [
    Op::TypeVoid,
    Op::TypeImage,
    Op::TypeSampler,
    Op::TypeSampledImage,
    Op::TypeRuntimeArray,
    Op::TypeOpaque,
    Op::TypeFunction,
    Op::TypePipe,
];

fn is_void(checker: &Checker<'_>, instruction: &Instruction) -> bool {
    let result = checker.module.result_type(instruction);
    result.is_some_and(|id| checker.facts.defined_by(checker.module, id, Op::TypeVoid).is_some())
}

/// Parts of a type that are looked at.
const LARGEST_TYPE: usize = 1000;

/// How wide a type is that may be moved but not computed with: narrow, and only its storage capability declared.
fn limited(checker: &Checker<'_>, id: u32) -> Option<u32> {
    let (module, facts) = (checker.module, checker.facts);
    if !facts.has(Capability::Shader) {
        return None;
    }
    let width = |op| facts.defined_by(module, id, op).map(|row| module.operand_word(row, 1));
    let arithmetic = match (width(Op::TypeInt), facts.float(module, id)) {
        (Some(8), _) => (8, Capability::Int8),
        (Some(16), _) => (16, Capability::Int16),
        (_, Some((16, None))) => (16, Capability::Float16),
        _ => return None,
    };
    (!facts.has(arithmetic.1)).then_some(arithmetic.0)
}
