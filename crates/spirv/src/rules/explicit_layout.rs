//! Types with offsets and strides stay in the storage that is laid out so.

use std::collections::HashSet;

use roundonce_isa::Version;
use rspirv::spirv::{Capability, Decoration, Op, StorageClass};

use super::view::{View, class_name};
use super::{Checker, code};
use crate::environment::Client;

/// VUID-StandaloneSpirv-None-10684: Vulkan alone has it.
pub(super) fn check(checker: &mut Checker<'_>) {
    if !matches!(checker.environment.client, Client::Vulkan(_)) {
        return;
    }
    let module = checker.module;
    let laid_out = laid_out(checker);
    for variable in module.instructions().iter().filter(|at| at.opcode == Op::Variable as u16) {
        let View::Pointer { class, to } = checker.view(module.operand_word(variable, 0)) else { continue };
        if !takes_layout(checker, class) && laid_out.contains(&to) {
            let id = module.id(module.operand_word(variable, 1));
            let message =
                format!("OpVariable: {id} is in {}; its type has offsets or strides of members", class_name(class));
            checker.error(code::DECORATION, variable.word, "Vulkan, VUID-StandaloneSpirv-None-10684", message);
        }
    }
}

fn takes_layout(checker: &Checker<'_>, class: u32) -> bool {
    match StorageClass::from_u32(class) {
        Some(StorageClass::UniformConstant) => false,
        Some(StorageClass::Workgroup) => checker.facts.has(Capability::WorkgroupMemoryExplicitLayoutKHR),
        Some(StorageClass::Function | StorageClass::Private) => checker.module.version() <= Version(1, 4),
        _ => true,
    }
}

/// Types that have offsets or strides somewhere in them. A type is made of types that stand before it.
fn laid_out(checker: &Checker<'_>) -> HashSet<u32> {
    let module = checker.module;
    let mut found = HashSet::new();
    for instruction in module.instructions() {
        let word = |index| module.operand_word(instruction, index);
        match Op::from_u32(instruction.opcode.into()) {
            Some(Op::MemberDecorate)
                if matches!(Decoration::from_u32(word(2)), Some(Decoration::Offset | Decoration::MatrixStride)) =>
            {
                found.insert(word(0));
            }
            Some(Op::TypeArray | Op::TypeRuntimeArray)
                if found.contains(&word(1)) || checker.facts.is_decorated(word(0), Decoration::ArrayStride) =>
            {
                found.insert(word(0));
            }
            Some(Op::TypeStruct) if module.words_of(instruction).iter().skip(2).any(|id| found.contains(id)) => {
                found.insert(word(0));
            }
            _ => {}
        }
    }
    found
}
