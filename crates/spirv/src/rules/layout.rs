//! The order of a module's sections, and which instructions belong in a block.

use rspirv::spirv::Op;

use super::{Checker, at, code, source};
use crate::grammar::instruction_name;
use crate::module::Instruction;

/// How far the walk is.
#[derive(Default)]
pub(super) struct Layout {
    section: u8,
    in_function: bool,
    in_block: bool,
    memory_models: u32,
}

/// The section of an instruction outside functions (SPIR-V 1.6, 2.4); `None` where it may be anywhere or is not
/// known.
fn section(op: Op) -> Option<u8> {
    use Op::*;
    Some(match op {
        Capability => 1,
        Extension => 2,
        ExtInstImport => 3,
        MemoryModel => 4,
        EntryPoint => 5,
        ExecutionMode | ExecutionModeId => 6,
        String | SourceExtension | Source | SourceContinued => 7,
        Name | MemberName => 8,
        ModuleProcessed => 9,
        Decorate | MemberDecorate | GroupDecorate | GroupMemberDecorate | DecorationGroup | DecorateId
        | DecorateString | MemberDecorateString => 10,
        TypeVoid
        | TypeBool
        | TypeInt
        | TypeFloat
        | TypeVector
        | TypeMatrix
        | TypeImage
        | TypeSampler
        | TypeSampledImage
        | TypeArray
        | TypeRuntimeArray
        | TypeStruct
        | TypeOpaque
        | TypePointer
        | TypeFunction
        | TypeEvent
        | TypeDeviceEvent
        | TypeReserveId
        | TypeQueue
        | TypePipe
        | TypeForwardPointer
        | ConstantTrue
        | ConstantFalse
        | Constant
        | ConstantComposite
        | ConstantSampler
        | ConstantNull
        | SpecConstantTrue
        | SpecConstantFalse
        | SpecConstant
        | SpecConstantComposite
        | SpecConstantOp => 11,
        Function => 12,
        _ => return None,
    })
}

/// Whether an instruction computes, moves or branches: such a one belongs in a block. By ranges of opcodes, as the
/// document groups them.
pub(super) fn needs_block(opcode: u16) -> bool {
    matches!(opcode,
        57 | 60..=69 | 77..=84 | 86..=107 | 109..=124 | 126..=152 | 154..=191 | 194..=205 | 207..=215 | 218..=221
        | 224..=225 | 227..=242 | 245..=247 | 249..=257)
        || opcode == Op::FmaKHR as u16
}

pub(crate) fn is_terminator(op: Op) -> bool {
    rspirv::grammar::reflect::is_block_terminator(op)
}

impl Layout {
    pub(super) fn check(&mut self, checker: &mut Checker<'_>, instruction: &Instruction) {
        let Some(op) = Op::from_u32(instruction.opcode.into()) else {
            return;
        };
        let name = instruction_name(instruction.opcode);
        let word = at(instruction);
        if let Some(section) = section(op) {
            if section < self.section {
                let message = format!("{name} stands after instructions that must follow it");
                checker.error(code::LAYOUT, word, source::LAYOUT, message);
            } else {
                self.section = section;
            }
        }
        let mut block = |message: String| {
            checker.error(code::BLOCK, word, source::LAYOUT, message);
        };
        match op {
            Op::MemoryModel => {
                self.memory_models += 1;
                if self.memory_models > 1 {
                    let message = "a second OpMemoryModel: a module has one".to_owned();
                    checker.error(code::LAYOUT, word, source::LAYOUT, message);
                }
            }
            Op::Function => {
                if self.in_function {
                    block("OpFunction stands in a function: OpFunctionEnd is missing before it".to_owned());
                }
                (self.in_function, self.in_block) = (true, false);
            }
            Op::FunctionParameter if !self.in_function || self.in_block => {
                block("OpFunctionParameter stands right after its OpFunction".to_owned());
            }
            Op::FunctionEnd => {
                if self.in_block {
                    block("OpFunctionEnd in a block: the block before it has no terminator".to_owned());
                } else if !self.in_function {
                    block("OpFunctionEnd without an OpFunction".to_owned());
                }
                (self.in_function, self.in_block) = (false, false);
            }
            Op::Label => {
                if self.in_block {
                    block("OpLabel in a block: the block before it has no terminator".to_owned());
                } else if !self.in_function {
                    block("OpLabel outside a function".to_owned());
                }
                self.in_block = self.in_function;
            }
            _ if !self.in_block && needs_block(instruction.opcode) => {
                block(format!("{name} must appear in a block"));
            }
            _ if is_terminator(op) => self.in_block = false,
            _ => {}
        }
    }

    pub(super) fn finish(&self, checker: &mut Checker<'_>) {
        let end = checker.module.words().len();
        if self.in_function {
            // The last instruction is where it is missing.
            let word = checker.module.instructions().last().map_or(end, at);
            checker.error(code::BLOCK, word, source::LAYOUT, "OpFunctionEnd is missing at the end".to_owned());
        }
        if self.memory_models == 0 {
            let message = "OpMemoryModel is missing: a module has one".to_owned();
            checker.error(code::LAYOUT, end, source::LAYOUT, message);
        }
    }
}
