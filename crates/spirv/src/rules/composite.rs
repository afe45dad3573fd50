//! Composites, pointers into them, memory and calls: what types must agree.

use rspirv::spirv::{Capability, Decoration, MemoryAccess, Op, StorageClass};

use super::advice::find;
use super::types::{has_limited_parts, limited_width};
use super::values::Wrong;
use super::view::{View, class_name};
use super::{Checker, code};
use crate::environment::Client;
use crate::grammar::instruction_name;
use crate::module::Instruction;
use roundonce_isa::Severity;

const RULE: &str = "SPIR-V 1.6, 3.49 Instructions";

pub(super) fn check(checker: &mut Checker<'_>, instruction: &Instruction) {
    let Some(op) = Op::from_u32(instruction.opcode.into()) else { return };
    let message = match op {
        Op::CompositeExtract => extract(checker, instruction),
        Op::CompositeInsert => insert(checker, instruction),
        Op::CompositeConstruct => construct(checker, instruction),
        Op::VectorShuffle => shuffle(checker, instruction),
        Op::VectorExtractDynamic | Op::VectorInsertDynamic => dynamic(checker, instruction, op),
        Op::AccessChain | Op::InBoundsAccessChain => chain(checker, instruction, 3),
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain => chain(checker, instruction, 4),
        Op::ArrayLength => array_length(checker, instruction),
        Op::FunctionCall => call(checker, instruction),
        Op::Load => pointer(checker, instruction, 3).or_else(|| alignment(checker, instruction, 4)),
        Op::Store => pointer(checker, instruction, 1)
            .or_else(|| read_only(checker, instruction))
            .or_else(|| alignment(checker, instruction, 3)),
        Op::Return => returned_nothing(checker),
        Op::ReturnValue => returned(checker, instruction),
        Op::Bitcast => of_pointer(checker, instruction),
        Op::ConvertPtrToU | Op::ConvertUToPtr => without_addresses(checker),
        Op::Variable => initializer(checker, instruction),
        Op::BranchConditional => condition(checker, instruction),
        Op::Switch => selector(checker, instruction),
        _ => None,
    };
    let moves_parts = matches!(
        op,
        Op::CompositeExtract
            | Op::CompositeInsert
            | Op::CompositeConstruct
            | Op::VectorShuffle
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic
            | Op::Transpose
    );
    let message = message.or_else(|| {
        (moves_parts && has_limited_parts(checker, instruction)).then(|| {
            (0, "8- and 16-bit numbers that can only be stored are not taken apart or put together".to_owned())
        })
    });
    if let Some((word, message)) = message {
        let code = if word == 1 { code::RESULT_TYPE } else { code::OPERAND_TYPE };
        let message = format!("{}: {message}", instruction_name(instruction.opcode));
        checker.error(code, instruction.word + word, RULE, message);
    } else if let Some(word) = null_member(checker, instruction, op) {
        let name = instruction_name(instruction.opcode);
        let message = format!(
            "{name}: the member {} of a struct is null: the document asks for an OpConstant, spirv-val takes this as member 0",
            checker.typed(checker.module.words_of(instruction)[word])
        );
        let rule = "SPIR-V 1.6, 3.49.8, OpAccessChain";
        find(checker, Severity::Warning, code::NULL_MEMBER, instruction.word + word, rule, message);
    }
}

/// The index of a struct's member in a pointer's path that is an OpConstantNull.
fn null_member(checker: &Checker<'_>, instruction: &Instruction, op: Op) -> Option<usize> {
    let base = match op {
        Op::AccessChain | Op::InBoundsAccessChain => 3,
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain => 4,
        _ => return None,
    };
    let words = checker.module.words_of(instruction);
    let View::Pointer { to: mut type_id, .. } = checker.view_of(words[3]) else { return None };
    for (at, &index) in words.iter().enumerate().skip(base + 1) {
        let structure = checker.facts.defined_by(checker.module, type_id, Op::TypeStruct).is_some();
        if structure && checker.facts.defined_by(checker.module, index, Op::ConstantNull).is_some() {
            return Some(at);
        }
        let member = if structure { checker.constant(index)? } else { 0 };
        let Part::Type(next) = part(checker, type_id, member) else { return None };
        type_id = next;
    }
    None
}

/// The type of a part, by a literal index. A part of a type with rules of its own is not known.
enum Part {
    Type(u32),
    Beyond(u32),
    None,
    Unknown,
}

fn part(checker: &Checker<'_>, type_id: u32, index: u32) -> Part {
    let module = checker.module;
    let Some((op, declared)) = checker.declared(type_id) else { return Part::Unknown };
    let word = |index| module.operand_word(declared, index);
    match op {
        Op::TypeVector | Op::TypeMatrix if index >= word(2) => Part::Beyond(word(2)),
        Op::TypeArray => match checker.constant(word(2)) {
            Some(length) if index >= length => Part::Beyond(length),
            _ => Part::Type(word(1)),
        },
        Op::TypeVector | Op::TypeMatrix | Op::TypeRuntimeArray => Part::Type(word(1)),
        Op::TypeStruct => match module.words_of(declared)[2..].get(index as usize) {
            Some(&member) => Part::Type(member),
            None => Part::Beyond(u32::from(declared.count) - 2),
        },
        _ if declared.opcode < 400 => Part::None,
        _ => Part::Unknown,
    }
}

/// The part that literal indices lead to; `Ok(None)` of a type with rules of its own.
fn walk(checker: &Checker<'_>, whole: u32, indices: &[u32], first: usize) -> Result<Option<u32>, (usize, String)> {
    let mut type_id = whole;
    for (at, &index) in indices.iter().enumerate() {
        let shown = || checker.facts.describe(checker.module, type_id);
        type_id = match part(checker, type_id, index) {
            Part::Type(next) => next,
            Part::Beyond(count) => return Err((first + at, format!("index {index}: {} has {count} parts", shown()))),
            Part::None => return Err((first + at, format!("index {index}: {} has no parts", shown()))),
            Part::Unknown => return Ok(None),
        };
    }
    Ok(Some(type_id))
}

fn extract(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let words = checker.module.words_of(instruction);
    let (whole, indices) = (checker.facts.type_of(words[3])?, &words[4..]);
    if indices.is_empty() {
        return Some((0, "at least one index is expected".to_owned()));
    }
    match walk(checker, whole, indices, 4) {
        Err(wrong) => Some(wrong),
        Ok(Some(found)) if found != words[1] => {
            let shown = |id| checker.facts.describe(checker.module, id);
            Some((1, format!("the Result Type is {}, the part {}", shown(words[1]), shown(found))))
        }
        Ok(_) => None,
    }
}

fn insert(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let words = checker.module.words_of(instruction);
    let (whole, indices) = (checker.facts.type_of(words[4])?, &words[5..]);
    let shown = |id| checker.facts.describe(checker.module, id);
    if whole != words[1] {
        return Some((1, format!("the Result Type is {}, the composite {}", shown(words[1]), shown(whole))));
    }
    if indices.is_empty() {
        return Some((0, "at least one index is expected".to_owned()));
    }
    match walk(checker, whole, indices, 5) {
        Err(wrong) => Some(wrong),
        Ok(Some(found)) if checker.facts.type_of(words[3]) != Some(found) => {
            Some((3, format!("the object is {}, the part {}", checker.typed(words[3]), shown(found))))
        }
        Ok(_) => None,
    }
}

fn construct(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let words = module.words_of(instruction);
    let (result, given) = (words[1], &words[3..]);
    let (op, declared) = checker.declared(result)?;
    let word = |index| module.operand_word(declared, index);
    let count = |expected: usize| {
        (given.len() != expected).then(|| {
            (0, format!("{} has {expected} constituents, found {}", facts.describe(module, result), given.len()))
        })
    };
    let all_of = |type_of: &dyn Fn(usize) -> u32| {
        let wrong = given.iter().enumerate().find(|&(at, &id)| facts.type_of(id) != Some(type_of(at)))?;
        let wanted = facts.describe(module, type_of(wrong.0));
        Some((3 + wrong.0, format!("{} is not of the constituent's type, {wanted}", checker.typed(*wrong.1))))
    };
    match op {
        Op::TypeVector => {
            let mut components = 0;
            for (at, &id) in given.iter().enumerate() {
                let found = facts.type_of(id).and_then(|type_id| facts.components(module, type_id));
                match found {
                    Some((scalar, count)) if scalar == word(1) => components += count,
                    _ => {
                        let wanted = facts.describe(module, word(1));
                        return Some((3 + at, format!("{} is not made of {wanted}", checker.typed(id))));
                    }
                }
            }
            if components == word(2) && given.len() > 1 {
                return None;
            }
            let shown = facts.describe(module, result);
            Some((0, format!("{shown} is made of two constituents at least; these have {components} components")))
        }
        Op::TypeMatrix => count(word(2) as usize).or_else(|| all_of(&|_| word(1))),
        Op::TypeArray => {
            let length = checker.constant(word(2));
            length.and_then(|length| count(length as usize)).or_else(|| all_of(&|_| word(1)))
        }
        Op::TypeStruct => {
            let members = &module.words_of(declared)[2..];
            count(members.len()).or_else(|| all_of(&|at| members[at]))
        }
        _ if declared.opcode < 400 => {
            Some((1, format!("the Result Type must be a composite, found {}", facts.describe(module, result))))
        }
        _ => None,
    }
}

fn shuffle(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let words = module.words_of(instruction);
    let View::Vector(_, count) = checker.view(words[1]) else {
        return Some((1, format!("the Result Type must be a vector, found {}", facts.describe(module, words[1]))));
    };
    let component = facts.components(module, words[1]).map(|(scalar, _)| scalar);
    let mut all = 0;
    for at in [3, 4] {
        let vector = facts.type_of(words[at]).filter(|&id| checker.view(id).is_vector());
        match vector.and_then(|id| facts.components(module, id)) {
            Some((scalar, count)) if Some(scalar) == component => all += count,
            _ => {
                let wanted = component.map_or_else(String::new, |id| facts.describe(module, id));
                return Some((at, format!("{} is no vector of {wanted}", checker.typed(words[at]))));
            }
        }
    }
    let chosen = &words[5..];
    if chosen.len() != count as usize {
        return Some((0, format!("the Result Type has {count} components, {} are chosen", chosen.len())));
    }
    let beyond = chosen.iter().position(|&at| at >= all && at != u32::MAX)?;
    Some((5 + beyond, format!("component {} of {all}", chosen[beyond])))
}

/// A component by a value.
fn dynamic(checker: &Checker<'_>, instruction: &Instruction, op: Op) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let words = module.words_of(instruction);
    let inserts = op == Op::VectorInsertDynamic;
    let vector = facts.type_of(words[3])?;
    let (component, _) = facts.components(module, vector)?;
    match checker.view(vector) {
        View::Foreign => return None,
        View::Vector(..) => {}
        _ => return Some((3, format!("{} is no vector", checker.typed(words[3])))),
    }
    let result = if inserts { vector } else { component };
    if result != words[1] {
        let shown = |id| facts.describe(module, id);
        return Some((1, format!("the Result Type must be {}, found {}", shown(result), shown(words[1]))));
    }
    if inserts && facts.type_of(words[4]) != Some(component) {
        return Some((4, format!("{} is no component of {}", checker.typed(words[4]), checker.typed(words[3]))));
    }
    let index = if inserts { 5 } else { 4 };
    let view = checker.view_of(words[index]);
    (!view.is_scalar() || view.ints().is_none())
        .then(|| (index, format!("the index {} is no integer", checker.typed(words[index]))))
}

/// A pointer to a part. Indices begin at word `first + 1`.
fn chain(checker: &Checker<'_>, instruction: &Instruction, base: usize) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let words = module.words_of(instruction);
    let (result, from) = (checker.view(words[1]), checker.view_of(words[3]));
    let View::Pointer { class, to } = result else {
        let shown = facts.describe(module, words[1]);
        return (result != View::Foreign).then(|| (1, format!("the Result Type must be a pointer, found {shown}")));
    };
    let View::Pointer { class: of, to: mut type_id } = from else {
        return (from != View::Foreign).then(|| (3, format!("the base {} is no pointer", checker.typed(words[3]))));
    };
    if class != of {
        let (result, base) = (class_name(class), class_name(of));
        return Some((1, format!("the Result Type points to storage class {result}, the base to {base}")));
    }
    let element = (base == 4).then_some(4);
    for at in element.into_iter().chain(base + 1..words.len()) {
        let index = words[at];
        // The element that a pointer is moved by is not looked at.
        if at == 4 && base == 4 {
            continue;
        }
        let view = checker.view_of(index);
        if !view.is_scalar() || view.ints().is_none() {
            return (view != View::Foreign).then(|| (at, format!("the index {} is no integer", checker.typed(index))));
        }
        let structure = facts.defined_by(module, type_id, Op::TypeStruct).is_some();
        let constant = checker.constant(index);
        if constant.is_some_and(|value| checker.is_signed(index) && (value as i32) < 0) {
            return Some((at, format!("the index {} is negative", checker.typed(index))));
        }
        let is_null = facts.defined_by(module, index, Op::ConstantNull).is_some();
        if structure && constant.is_none() && !is_null {
            return Some((at, format!("the member {} of a struct must be an OpConstant", checker.typed(index))));
        }
        // What is beyond an array or a vector is no error of a pointer's.
        type_id = match part(checker, type_id, if structure { constant.unwrap_or(0) } else { 0 }) {
            Part::Type(next) => next,
            Part::Beyond(count) => {
                let shown = facts.describe(module, type_id);
                return Some((at, format!("{shown} has {count} members, this is member {}", constant.unwrap_or(0))));
            }
            Part::None => {
                return Some((at, format!("{} has no parts", facts.describe(module, type_id))));
            }
            Part::Unknown => return None,
        };
    }
    (type_id != to).then(|| {
        let shown = |id| facts.describe(module, id);
        (1, format!("the Result Type is {}, the indices lead to {}", shown(words[1]), shown(type_id)))
    })
}

fn array_length(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let words = module.words_of(instruction);
    if !matches!(checker.view(words[1]).numbers(), Some((super::view::Scalar::Int { width: 32, signed: false }, 1))) {
        return Some((1, "the Result Type must be an unsigned integer of 32 bits".to_owned()));
    }
    let structure = match checker.view_of(words[3]) {
        View::Pointer { to, .. } => facts.defined_by(module, to, Op::TypeStruct),
        View::Foreign => return None,
        _ => None,
    };
    let members = structure.map(|at| &module.words_of(at)[2..]);
    let last =
        members.and_then(<[u32]>::last).is_some_and(|&id| facts.defined_by(module, id, Op::TypeRuntimeArray).is_some());
    if !last {
        let shown = checker.typed(words[3]);
        return Some((3, format!("{shown} is no pointer to a struct whose last member is a runtime array")));
    }
    let count = members.map_or(0, <[u32]>::len);
    (words[4] as usize != count - 1)
        .then(|| (4, format!("the runtime array is member {}, not {}", count - 1, words[4])))
}

fn call(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let words = module.words_of(instruction);
    let Some(function) = facts.defined_by(module, words[3], Op::Function) else {
        return Some((3, format!("{} is no function", module.id(words[3]))));
    };
    let shown = |id| facts.describe(module, id);
    let returns = module.operand_word(function, 0);
    if returns != words[1] {
        return Some((1, format!("the Result Type is {}, the function returns {}", shown(words[1]), shown(returns))));
    }
    let declared = facts.defined_by(module, module.operand_word(function, 3), Op::TypeFunction)?;
    let (parameters, given) = (module.words_of(declared).get(3..)?, &words[4..]);
    if parameters.len() != given.len() {
        return Some((0, format!("the function has {} parameters, found {}", parameters.len(), given.len())));
    }
    let (at, (&parameter, &id)) = parameters
        .iter()
        .zip(given)
        .enumerate()
        .find(|&(_, (&parameter, &id))| facts.type_of(id) != Some(parameter))?;
    Some((4 + at, format!("argument {} {} is no {}", at + 1, checker.typed(id), shown(parameter))))
}

/// What a logical pointer may come from.
fn pointer(checker: &Checker<'_>, instruction: &Instruction, at: usize) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let id = module.words_of(instruction)[at];
    match checker.view_of(id) {
        View::Pointer { .. } => {}
        View::Foreign => return None,
        _ => return Some((at, format!("{} is no pointer", checker.typed(id)))),
    }
    let variable = facts.has(Capability::VariablePointers) || facts.has(Capability::VariablePointersStorageBuffer);
    let from = Op::from_u32(facts.definition(id)?.opcode.into())?;
    let computed =
        matches!(from, Op::Undef | Op::ConstantNull | Op::Select | Op::Phi | Op::Bitcast | Op::ConvertUToPtr);
    (computed && from != Op::Bitcast && from != Op::ConvertUToPtr && facts.is_logical() && !variable).then(|| {
        (at, format!("{} comes from {}, which no logical pointer does", module.id(id), instruction_name(from as u16)))
    })
}

/// The bits of a logical pointer are nothing to compute with.
fn of_pointer(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let id = checker.module.operand_word(instruction, 2);
    let View::Pointer { class, .. } = checker.view_of(id) else { return None };
    (checker.facts.is_logical() && class != StorageClass::PhysicalStorageBuffer as u32)
        .then(|| (3, format!("{} is a logical pointer", checker.typed(id))))
}

/// Where pointers have no addresses.
fn without_addresses(checker: &Checker<'_>) -> Wrong {
    checker.facts.is_logical().then(|| (3, "pointers have no addresses: the addressing model is Logical".to_owned()))
}

/// The alignment that an access is said to have.
fn alignment(checker: &Checker<'_>, instruction: &Instruction, mask: usize) -> Wrong {
    let words = checker.module.words_of(instruction);
    let aligned = words.get(mask)? & MemoryAccess::ALIGNED.bits() != 0;
    let bytes = *words.get(mask + 1).filter(|_| aligned)?;
    (!bytes.is_power_of_two()).then(|| (mask + 1, format!("the alignment {bytes} is no power of two")))
}

/// Storage that is only read.
fn read_only(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let module = checker.module;
    let id = module.operand_word(instruction, 0);
    let View::Pointer { class, .. } = checker.view_of(id) else { return None };
    let shown = || module.id(id);
    let read = [StorageClass::Input, StorageClass::PushConstant, StorageClass::UniformConstant];
    if read.iter().any(|&class_of| class_of as u32 == class) {
        return Some((1, format!("{} points to {}, which is only read", shown(), class_name(class))));
    }
    let vulkan = matches!(checker.environment.client, Client::Vulkan(_));
    (vulkan && class == StorageClass::Uniform as u32 && is_uniform_block(checker, id)?)
        .then(|| (1, format!("{} points into a uniform block, which is only read", shown())))
}

/// Whether a pointer leads into a variable whose struct is a Block; `None` where that is not seen.
fn is_uniform_block(checker: &Checker<'_>, mut id: u32) -> Option<bool> {
    let (module, facts) = (checker.module, checker.facts);
    // Each step names an id of an earlier instruction.
    let mut last = u32::MAX;
    loop {
        let definition = facts.definition(id)?;
        if definition.index >= last {
            return None;
        }
        last = definition.index;
        let instruction = facts.instruction(module, id)?;
        match Op::from_u32(definition.opcode.into())? {
            Op::Variable => break,
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::CopyObject => {
                id = module.operand_word(instruction, 2);
            }
            _ => return None,
        }
    }
    let View::Pointer { mut to, .. } = checker.view_of(id) else { return None };
    while let Some((Op::TypeArray | Op::TypeRuntimeArray, declared)) = checker.declared(to) {
        to = module.operand_word(declared, 1);
    }
    Some(facts.is_decorated(to, Decoration::Block))
}

/// Where numbers that can only be stored may lie.
fn allocated(checker: &Checker<'_>, instruction: &Instruction) -> Option<String> {
    use Capability::*;
    let class = checker.module.operand_word(instruction, 2);
    let View::Pointer { to, .. } = checker.view(checker.module.operand_word(instruction, 0)) else { return None };
    let width = limited_width(checker, to)?;
    let (eight, sixteen): (&[Capability], &[Capability]) = match StorageClass::from_u32(class)? {
        // Which of the two a uniform buffer needs, its decoration says.
        StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PhysicalStorageBuffer => (
            &[StorageBuffer8BitAccess, UniformAndStorageBuffer8BitAccess],
            &[StorageBuffer16BitAccess, UniformAndStorageBuffer16BitAccess],
        ),
        StorageClass::PushConstant => (&[StoragePushConstant8], &[StoragePushConstant16]),
        StorageClass::Input | StorageClass::Output => (&[], &[StorageInputOutput16]),
        StorageClass::Workgroup => {
            (&[WorkgroupMemoryExplicitLayout8BitAccessKHR], &[WorkgroupMemoryExplicitLayout16BitAccessKHR])
        }
        StorageClass::Function | StorageClass::Private | StorageClass::UniformConstant => (&[], &[]),
        _ => return None,
    };
    let needed = if width == 8 { eight } else { sixteen };
    (!needed.iter().any(|&capability| checker.facts.has(capability)))
        .then(|| format!("numbers of {width} bits in {} need a capability that is not declared", class_name(class)))
}

fn initializer(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let module = checker.module;
    if let Some(message) = allocated(checker, instruction) {
        return Some((0, message));
    }
    let id = *module.words_of(instruction).get(4)?;
    let variable = checker.facts.defined_by(module, id, Op::Variable);
    let global = variable.is_some_and(|at| module.operand_word(at, 2) != StorageClass::Function as u32);
    let class = module.operand_word(instruction, 2);
    if checker.is_constant(id) || global {
        let (given, shown) = (checker.facts.type_of(id)?, |id| checker.facts.describe(module, id));
        if let View::Pointer { to, .. } = checker.view(module.operand_word(instruction, 0))
            && to != given
        {
            return Some((4, format!("the initializer {} is no {}", checker.typed(id), shown(to))));
        }
        return limited_width(checker, given)
            .is_some()
            .then(|| (4, "the initializer has 8- or 16-bit numbers that can only be stored".to_owned()));
    }
    Some((4, format!("the initializer {} of a variable in {} is no constant", checker.typed(id), class_name(class))))
}

fn returned(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let (_, function) = checker.function?;
    let (id, returns) = (module.operand_word(instruction, 0), module.operand_word(&function, 0));
    (facts.type_of(id) != Some(returns)).then(|| {
        (1, format!("{} is not of the function's type, {}", checker.typed(id), facts.describe(module, returns)))
    })
}

fn returned_nothing(checker: &Checker<'_>) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let returns = module.operand_word(&checker.function?.1, 0);
    facts
        .defined_by(module, returns, Op::TypeVoid)
        .is_none()
        .then(|| (0, format!("the function returns {}: expected OpReturnValue", facts.describe(module, returns))))
}

fn condition(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let id = checker.module.operand_word(instruction, 0);
    let view = checker.view_of(id);
    (!view.is_scalar() || view.bools().is_none())
        .then(|| (1, format!("the condition {} is not bool", checker.typed(id))))
}

fn selector(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let id = checker.module.operand_word(instruction, 0);
    let view = checker.view_of(id);
    (!view.is_scalar() || view.ints().is_none())
        .then(|| (1, format!("the selector {} is no integer", checker.typed(id))))
}
