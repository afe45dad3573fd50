//! What of a module the rules do not reach: by the document's groups of instructions, and by what decorations are about.

use std::collections::BTreeSet;

use rspirv::spirv::{Capability, Decoration, Op};

use super::interface;
use super::operand::fused;
use crate::facts::Facts;
use crate::module::{Instruction, Module};

/// The groups of rules that a check lacks for what a module contains; of a module without any it is complete.
///
/// ```
/// use roundonce_spirv::{assemble_module, unchecked};
/// let module = assemble_module("%u = OpTypeInt 32 0\n%a = OpConstant %u 1\nOpMemoryBarrier %a %a", None).unwrap();
/// assert_eq!(unchecked(&module), ["barriers"]);
/// ```
pub fn unchecked(module: &Module) -> Vec<&'static str> {
    let facts = Facts::of(module);
    let mut found = BTreeSet::new();
    for instruction in module.instructions() {
        found.extend(group(module, &facts, instruction));
        found.extend(decorated(module, instruction));
    }
    let functions = module.instructions().iter().filter(|at| at.opcode == Op::Function as u16).count();
    if !interface::is_checked(facts.entry_points.len(), functions) {
        found.insert("interfaces of so many entry points");
    }
    if facts.has(Capability::GroupNonUniform) || facts.has(Capability::Groups) {
        found.insert(SUBGROUPS);
    }
    found.into_iter().collect()
}

const SUBGROUPS: &str = "groups and subgroups";

/// The group of an instruction whose operands no rule judges (SPIR-V 1.6, 3.49: a number for each).
#[rustfmt::skip] // In the document's order.
fn group(module: &Module, facts: &Facts, instruction: &Instruction) -> Option<&'static str> {
    let opcode = instruction.opcode;
    if opcode == Op::FmaKHR as u16 {
        return None;
    }
    if facts.is_non_semantic(module, instruction) {
        let set = module.words_of(instruction).get(3).and_then(|id| facts.imports.get(id));
        return set.filter(|set| set.contains("DebugInfo")).map(|_| "debug information");
    }
    Some(match opcode {
        12 if is_fused(module, facts, instruction) => return None,
        12 => "extended instructions",
        26..=27 | 34..=38 | 45 | 86..=107 | 305..=317 | 320 => "images and samplers",
        60 | 318..=319 | 227..=242 => "atomics",
        63..=64 | 256..=257 | 401..=403 => "memory",
        69 => "access chains",
        400 => "composites",
        121..=123 => "conversions",
        207..=221 => "derivatives and primitives",
        224..=225 => "barriers",
        259..=271 | 333..=366 => SUBGROUPS,
        272..=304 | 321..=329 => "pipes and queues",
        404..=5631 | 5634.. => "instructions of extensions",
        _ => return None,
    })
}

fn is_fused(module: &Module, facts: &Facts, instruction: &Instruction) -> bool {
    let words = module.words_of(instruction);
    let set = words.get(3).and_then(|id| facts.imports.get(id));
    set.zip(words.get(4)).is_some_and(|(set, &number)| fused(set, number).is_some())
}

/// What a decoration is about, if rules of it are missing.
fn decorated(module: &Module, instruction: &Instruction) -> Option<&'static str> {
    let at = match Op::from_u32(instruction.opcode.into())? {
        Op::Decorate | Op::DecorateId => 1,
        Op::MemberDecorate => 2,
        _ => return None,
    };
    match Decoration::from_u32(module.operand_word(instruction, at))? {
        Decoration::BuiltIn | Decoration::Location | Decoration::Component => Some("built-in variables and interfaces"),
        Decoration::Block
        | Decoration::BufferBlock
        | Decoration::Offset
        | Decoration::ArrayStride
        | Decoration::MatrixStride
        | Decoration::DescriptorSet
        | Decoration::Binding => Some("layout of blocks and descriptors"),
        _ => None,
    }
}
