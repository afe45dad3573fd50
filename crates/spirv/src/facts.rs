//! What a module declares, gathered in one walk before any rule is asked: capabilities, extensions, imported sets,
//! definitions, entry points, execution modes, decorations.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use roundonce_arith::Format;
use rspirv::spirv::{AddressingModel, Capability, Decoration, ExecutionMode, FPEncoding, Op};

use crate::grammar;
use crate::literal::read_string;
use crate::module::{ById, Instruction, Module};

/// Where and as what an id is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Definition {
    /// The index of its instruction, from 1; 0 is no definition.
    pub index: u32,
    pub opcode: u16,
    pub result_type: u32,
}

/// An entry point.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    pub instruction: Instruction,
    pub model: u32,
    pub function: u32,
    pub name: String,
}

/// A mode of an entry point, or a decoration of an id, with its extra words.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    pub instruction: Instruction,
    pub target: u32,
    pub value: u32,
    pub words: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Declared, with what they imply.
    pub capabilities: HashSet<u32>,
    pub declared: Vec<(Instruction, u32)>,
    /// Of the memory model.
    addressing: Option<u32>,
    pub extensions: HashSet<String>,
    pub imports: HashMap<u32, String>,
    pub entry_points: Vec<EntryPoint>,
    pub modes: Vec<Attached>,
    /// Modes by their entry point.
    modes_by_target: HashMap<u32, Vec<usize>>,
    pub decorations: Vec<Attached>,
    definitions: ById<Definition>,
    /// Decorations by their target.
    by_target: HashMap<u32, Vec<usize>>,
    /// Pointer types by the first word of the OpTypeForwardPointer that declares them ahead.
    pub forward_pointers: HashMap<u32, usize>,
    pub preamble: Preamble,
    /// The entry points without the mode ContractionOff.
    pub contracting: Vec<u32>,
    /// Ids defined a second time, with the instruction that does it.
    pub twice: Vec<(Instruction, u32)>,
}

/// The instructions before the first type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preamble {
    pub length: usize,
    /// The place of the last instruction of each opcode.
    pub last: HashMap<u16, usize>,
}

impl Preamble {
    fn take(&mut self, index: usize, instruction: &Instruction) {
        let is_next = self.length == index;
        if is_next && !grammar::instruction_name(instruction.opcode).starts_with("OpType") {
            self.length = index + 1;
            self.last.insert(instruction.opcode, index);
        }
    }
}

impl Facts {
    pub(crate) fn of(module: &Module) -> Facts {
        let mut facts = Facts::default();
        for (index, instruction) in module.instructions().iter().enumerate() {
            facts.take(module, instruction);
            facts.preamble.take(index, instruction);
            if let Some(id) = module.result(instruction) {
                let result_type = module.result_type(instruction).unwrap_or(0);
                let definition = Definition { index: index as u32 + 1, opcode: instruction.opcode, result_type };
                if facts.definition(id).is_some() {
                    facts.twice.push((*instruction, id));
                } else {
                    facts.definitions.set(id, definition);
                }
            }
        }
        facts.imply();
        for (at, mode) in facts.modes.iter().enumerate() {
            facts.modes_by_target.entry(mode.target).or_default().push(at);
        }
        let is_off = |entry| facts.modes_of(entry).any(|at| at.value == ExecutionMode::ContractionOff as u32);
        facts.contracting =
            facts.entry_points.iter().map(|entry| entry.function).filter(|&entry| !is_off(entry)).collect();
        for (at, decoration) in facts.decorations.iter().enumerate() {
            facts.by_target.entry(decoration.target).or_default().push(at);
        }
        facts
    }

    fn take(&mut self, module: &Module, instruction: &Instruction) {
        let words = module.words_of(instruction);
        let text = |words: &[u32]| {
            read_string(words).map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
        };
        let attached =
            |target, value, rest: &[u32]| Attached { instruction: *instruction, target, value, words: rest.to_vec() };
        match (Op::from_u32(instruction.opcode.into()), words) {
            (Some(Op::Capability), &[_, capability]) => self.declared.push((*instruction, capability)),
            (Some(Op::MemoryModel), &[_, addressing, _]) => {
                self.addressing.get_or_insert(addressing);
            }
            (Some(Op::Extension), [_, name @ ..]) => {
                self.extensions.insert(text(name));
            }
            (Some(Op::ExtInstImport), [_, id, name @ ..]) => {
                self.imports.insert(*id, text(name));
            }
            (Some(Op::TypeForwardPointer), &[_, id, _]) => {
                self.forward_pointers.entry(id).or_insert(instruction.word);
            }
            (Some(Op::EntryPoint), [_, model, function, name @ ..]) => self.entry_points.push(EntryPoint {
                instruction: *instruction,
                model: *model,
                function: *function,
                name: text(name),
            }),
            (Some(Op::ExecutionMode | Op::ExecutionModeId), [_, target, mode, rest @ ..]) => {
                self.modes.push(attached(*target, *mode, rest));
            }
            (Some(Op::Decorate | Op::DecorateId | Op::DecorateString), [_, target, decoration, rest @ ..]) => {
                self.decorations.push(attached(*target, *decoration, rest));
            }
            _ => {}
        }
    }

    /// Adds what declared capabilities declare implicitly (SPIR-V 1.6, 3.31 Capability).
    fn imply(&mut self) {
        let mut left: Vec<u32> = self.declared.iter().map(|(_, capability)| *capability).collect();
        while let Some(capability) = left.pop() {
            if self.capabilities.insert(capability) {
                let operand = grammar::operand(rspirv::grammar::OperandKind::Capability, capability);
                let implied = operand.map_or_else(Vec::new, |operand| operand.required_capabilities());
                left.extend(implied.into_iter().map(|capability| capability as u32));
            }
        }
    }

    /// The modes of an entry point's function.
    pub(crate) fn modes_of(&self, function: u32) -> impl Iterator<Item = &Attached> {
        self.modes_by_target.get(&function).into_iter().flatten().map(|&at| &self.modes[at])
    }

    /// Whether an instruction is one of an imported set that computes nothing.
    pub(crate) fn is_non_semantic(&self, module: &Module, instruction: &Instruction) -> bool {
        let extended = [Op::ExtInst, Op::ExtInstWithForwardRefsKHR].iter().any(|&op| op as u16 == instruction.opcode);
        let set = module.words_of(instruction).get(3).filter(|_| extended).and_then(|id| self.imports.get(id));
        set.is_some_and(|set| grammar::is_non_semantic(set))
    }
    /// Whether pointers have no bits that instructions compute with.
    pub(crate) fn is_logical(&self) -> bool {
        self.addressing == Some(AddressingModel::Logical as u32)
    }
    pub(crate) fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&(capability as u32))
    }
    pub(crate) fn definition(&self, id: u32) -> Option<&Definition> {
        self.definitions.get(id).filter(|definition| definition.index != 0)
    }
    /// The instruction that defines an id, if its opcode is this one.
    pub(crate) fn defined_by<'m>(&self, module: &'m Module, id: u32, op: Op) -> Option<&'m Instruction> {
        let definition = self.definition(id).filter(|definition| definition.opcode == op as u16)?;
        module.instructions().get(definition.index as usize - 1)
    }
    /// The instruction that defines an id.
    pub(crate) fn instruction<'m>(&self, module: &'m Module, id: u32) -> Option<&'m Instruction> {
        module.instructions().get(self.definition(id)?.index as usize - 1)
    }
    pub(crate) fn is_type(&self, id: u32) -> bool {
        self.definition(id).is_some_and(|definition| {
            let name = grammar::shape(definition.opcode).map_or("", |shape| shape.grammar.opname);
            name.starts_with("Type")
        })
    }
    /// The type of a value.
    pub(crate) fn type_of(&self, id: u32) -> Option<u32> {
        self.definition(id).map(|definition| definition.result_type).filter(|&result_type| result_type != 0)
    }
    /// The decorations of an id.
    pub(crate) fn decorations_of(&self, id: u32) -> impl Iterator<Item = &Attached> {
        self.by_target.get(&id).into_iter().flatten().map(|&at| &self.decorations[at])
    }
    pub(crate) fn is_decorated(&self, id: u32, decoration: Decoration) -> bool {
        self.decorations_of(id).any(|attached| attached.value == decoration as u32)
    }

    /// The scalar and the number of components of a scalar or vector type.
    pub(crate) fn components(&self, module: &Module, id: u32) -> Option<(u32, u32)> {
        match self.defined_by(module, id, Op::TypeVector) {
            Some(vector) => Some((module.operand_word(vector, 1), module.operand_word(vector, 2))),
            None => self.definition(id).map(|_| (id, 1)),
        }
    }
    /// The width of a floating-point type without an encoding of its own, and its encoding where it has one.
    pub(crate) fn float(&self, module: &Module, id: u32) -> Option<(u32, Option<u32>)> {
        let float = self.defined_by(module, id, Op::TypeFloat)?;
        let encoding = (float.count > 3).then(|| module.operand_word(float, 2));
        Some((module.operand_word(float, 1), encoding))
    }
    /// The format of the components of a scalar or vector of f16, f32 or f64.
    pub(crate) fn float_format(&self, module: &Module, id: u32) -> Option<Format> {
        let (scalar, _) = self.components(module, id)?;
        match self.float(module, scalar)? {
            (16, None) => Some(Format::F16),
            (32, None) => Some(Format::F32),
            (64, None) => Some(Format::F64),
            _ => None,
        }
    }

    /// A type in words: `f32`, `v2f32`, `i32`, `struct {f32, f32}`.
    pub(crate) fn describe(&self, module: &Module, id: u32) -> String {
        let mut text = String::new();
        self.describe_into(module, id, 4, &mut text);
        text
    }

    fn describe_into(&self, module: &Module, id: u32, depth: u32, text: &mut String) {
        let Some(instruction) = self.instruction(module, id) else {
            text.push_str("an undefined type");
            return;
        };
        if depth == 0 {
            // A type that contains itself through pointers has no end.
            text.push('…');
            return;
        }
        let word = |index| module.operand_word(instruction, index);
        let inner = |text: &mut String, id| self.describe_into(module, id, depth - 1, text);
        match Op::from_u32(instruction.opcode.into()) {
            Some(Op::TypeVoid) => text.push_str("void"),
            Some(Op::TypeBool) => text.push_str("bool"),
            Some(Op::TypeInt) => {
                let letter = if word(2) == 1 { 'i' } else { 'u' };
                let _ = write!(text, "{letter}{}", word(1));
            }
            Some(Op::TypeFloat) => match self.float(module, id) {
                Some((16, Some(0))) => text.push_str("bf16"),
                Some((8, Some(encoding))) if encoding == FPEncoding::Float8E4M3EXT as u32 => text.push_str("e4m3"),
                Some((8, Some(encoding))) if encoding == FPEncoding::Float8E5M2EXT as u32 => text.push_str("e5m2"),
                Some((width, Some(encoding))) => {
                    let _ = write!(text, "f{width} of encoding {encoding}");
                }
                _ => {
                    let _ = write!(text, "f{}", word(1));
                }
            },
            Some(Op::TypeVector) => {
                let _ = write!(text, "v{}", word(2));
                inner(text, word(1));
            }
            Some(Op::TypeMatrix) => {
                let _ = write!(text, "a matrix of {} columns ", word(2));
                inner(text, word(1));
            }
            Some(Op::TypeArray | Op::TypeRuntimeArray) => {
                text.push_str("an array of ");
                inner(text, word(1));
            }
            Some(Op::TypeStruct) => text.push_str("a struct"),
            Some(Op::TypePointer) => {
                text.push_str("a pointer to ");
                inner(text, word(2));
            }
            Some(Op::TypeFunction) => text.push_str("a function type"),
            _ => {
                let _ = write!(text, "an {}", grammar::instruction_name(instruction.opcode));
            }
        }
    }
}
