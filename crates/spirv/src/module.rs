//! A module as words, with its instructions found and, where it came from a text, the location of every word.
//!
//! What this is not: it checks nothing but that the words can be walked; what the words say is `rules`'.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use roundonce_isa::{Finding, Location, Version};
use rspirv::grammar::OperandKind;
use rspirv::spirv::{self, Op};

use crate::grammar::{self, Class, Expected};
use crate::literal::{NumberType, read_string};

/// Words before the first instruction: magic number, version, generator, bound, schema.
pub(crate) const HEADER_WORDS: usize = 5;

/// The largest id that is read. The universal limit on the bound is 4,194,303 (SPIR-V 1.6, 2.17), and tables are as
/// long as the largest id.
pub(crate) const MAX_ID: u32 = 4_194_303;

/// One instruction's position among a module's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The index of its first word.
    pub word: usize,
    /// How many words it has, the first counted.
    pub count: u16,
    /// Its opcode.
    pub opcode: u16,
}

/// One operand of an instruction, as the grammar reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operand {
    pub kind: OperandKind,
    pub class: Class,
    /// The index of its first word in the module.
    pub word: usize,
    pub count: usize,
}

/// Why an instruction's words are not what the grammar says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Malformed {
    pub word: usize,
    pub message: String,
}

/// A SPIR-V module: its words as they are, cut into instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    words: Vec<u32>,
    instructions: Vec<Instruction>,
    spans: Vec<(u32, u32)>,
    names: Vec<(u32, String)>,
    swapped: bool,
}

/// Whether the words of a binary are in the other byte order; `None` of what does not begin as one.
fn is_swapped(bytes: &[u8]) -> Option<bool> {
    let magic = u32::from_le_bytes(*bytes.first_chunk()?);
    [false, true].into_iter().find(|swapped| {
        let wanted = if *swapped { spirv::MAGIC_NUMBER.swap_bytes() } else { spirv::MAGIC_NUMBER };
        magic == wanted
    })
}

impl Module {
    /// Whether bytes begin as a binary of either byte order does.
    pub fn is_binary(bytes: &[u8]) -> bool {
        is_swapped(bytes).is_some()
    }

    /// Reads a binary of either byte order.
    ///
    /// # Errors
    /// If it is no SPIR-V, or an instruction's length leads beyond its end.
    ///
    /// Source: SPIR-V 1.6, 2.3 Physical Layout.
    pub fn from_binary(bytes: &[u8]) -> Result<Module, Finding> {
        let bad = |word, message: String| {
            Finding::error("SPV0001", Location::Word(word), message).rule("SPIR-V 1.6, 2.3 Physical Layout")
        };
        let Some(swapped) = is_swapped(bytes) else {
            let found = match bytes.first_chunk() {
                Some(word) => {
                    format!("it begins with {:#010x}, not with 0x07230203", u32::from_le_bytes(*word))
                }
                None => format!("{} bytes hold no word", bytes.len()),
            };
            return Err(bad(0, format!("no SPIR-V binary: {found}")));
        };
        if !bytes.len().is_multiple_of(4) {
            return Err(bad(bytes.len() / 4, format!("{} bytes are no whole number of words", bytes.len())));
        }
        let read = |chunk: &[u8; 4]| if swapped { u32::from_be_bytes(*chunk) } else { u32::from_le_bytes(*chunk) };
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(read).collect();
        let mut module = Module::from_words(words)?;
        module.swapped = swapped;
        Ok(module)
    }

    /// Cuts words into instructions.
    ///
    /// # Errors
    /// As [`from_binary`](Module::from_binary).
    pub fn from_words(words: Vec<u32>) -> Result<Module, Finding> {
        let bad = |word, message: String| {
            Finding::error("SPV0001", Location::Word(word), message).rule("SPIR-V 1.6, 2.3 Physical Layout")
        };
        if words.len() < HEADER_WORDS {
            return Err(bad(words.len(), format!("the header has 5 words, the binary {}", words.len())));
        }
        let mut instructions = Vec::with_capacity(words.len() / 4);
        let mut word = HEADER_WORDS;
        while word < words.len() {
            let (count, opcode) = ((words[word] >> 16) as u16, words[word] as u16);
            if count == 0 {
                let name = grammar::instruction_name(opcode);
                return Err(bad(word, format!("{name} says it has no words at all")));
            }
            if usize::from(count) > words.len() - word {
                let name = grammar::instruction_name(opcode);
                return Err(bad(word, format!("{name} says it has {count} words, {} are left", words.len() - word)));
            }
            instructions.push(Instruction { word, count, opcode });
            word += usize::from(count);
        }
        Ok(Module { words, instructions, spans: Vec::new(), names: Vec::new(), swapped: false })
    }

    /// With the location of every word in the text, and the names it gave to ids.
    pub(crate) fn with_text(mut self, spans: Vec<(u32, u32)>, names: Vec<(u32, String)>) -> Module {
        self.spans = spans;
        self.names = names;
        self
    }

    /// The words, the header's included.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
    /// The module's bytes in the order it was read in; little-endian where it came from a text.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes(&self.words, self.swapped)
    }
    /// Whether the binary it was read from was big-endian.
    pub fn is_big_endian(&self) -> bool {
        self.swapped
    }
    /// The instructions, in order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }
    /// The version that the header declares.
    pub fn version(&self) -> Version {
        Version(u16::from((self.words[1] >> 16) as u8), u16::from((self.words[1] >> 8) as u8))
    }
    /// The bound on ids that the header declares.
    pub fn bound(&self) -> u32 {
        self.words[3]
    }
    /// The location of a word: in the text, where there is one. An instruction's first word has the location of all of it.
    pub fn location(&self, word: usize) -> Location {
        match (self.spans.get(word), self.spans.last()) {
            (Some(&(start, end)), _) => Location::Span { start: start as usize, end: end as usize },
            // What is missing at the end of a text is missing after its last word.
            (None, Some(&(_, end))) => Location::Span { start: end as usize, end: end as usize },
            (None, None) => Location::Word(word),
        }
    }
    /// The bytes of the text from which a word was assembled.
    pub(crate) fn span(&self, word: usize) -> Option<Range<usize>> {
        self.spans.get(word).map(|&(start, end)| start as usize..end as usize)
    }

    /// An instruction's words, its first included.
    pub fn words_of(&self, instruction: &Instruction) -> &[u32] {
        &self.words[instruction.word..instruction.word + usize::from(instruction.count)]
    }
    /// An instruction's operand words by index, from 0; 0 where it has fewer.
    pub(crate) fn operand_word(&self, instruction: &Instruction, index: usize) -> u32 {
        self.words_of(instruction).get(index + 1).copied().unwrap_or(0)
    }
    /// The id of an instruction's result type.
    pub fn result_type(&self, instruction: &Instruction) -> Option<u32> {
        let has = grammar::shape(instruction.opcode).is_some_and(|shape| shape.has_type);
        has.then(|| self.words_of(instruction).get(1).copied()).flatten()
    }
    /// The id of an instruction's result.
    pub fn result(&self, instruction: &Instruction) -> Option<u32> {
        let shape = grammar::shape(instruction.opcode)?;
        let at = 1 + usize::from(shape.has_type);
        shape.has_result.then(|| self.words_of(instruction).get(at).copied()).flatten()
    }
    /// The index, among an instruction's words, of the first operand after result type and result.
    pub(crate) fn first_operand(instruction: &Instruction) -> usize {
        grammar::shape(instruction.opcode)
            .map_or(1, |shape| 1 + usize::from(shape.has_type) + usize::from(shape.has_result))
    }

    /// An id as the reader knows it: by the text's name, by OpName, by number.
    pub fn id(&self, id: u32) -> IdName<'_> {
        let named = self.names.binary_search_by_key(&id, |(id, _)| *id).ok();
        IdName { id, name: named.map(|at| self.names[at].1.as_str()) }
    }
    /// Sets the names that ids are shown by, where the text gave none.
    pub(crate) fn name_ids(&mut self, mut names: Vec<(u32, String)>) {
        if self.names.is_empty() {
            names.sort_unstable();
            names.dedup_by_key(|(id, _)| *id);
            self.names = names;
        }
    }

    /// Reads an instruction's operands by the grammar into `out`.
    pub(crate) fn operands(
        &self,
        instruction: &Instruction,
        types: &NumberTypes,
        expected: &mut Expected,
        out: &mut Vec<Operand>,
    ) -> Result<(), Malformed> {
        out.clear();
        let Some(shape) = grammar::shape(instruction.opcode) else {
            return Ok(());
        };
        expected.start(shape.grammar);
        let words = self.words_of(instruction);
        let mut at = 1;
        while at < words.len() {
            let word = instruction.word + at;
            let bad = |message| Malformed { word, message };
            let Some((kind, _)) = expected.next() else {
                let extra = words.len() - at;
                let them = if extra == 1 { "a word" } else { "words" };
                return Err(bad(format!(
                    "{} has {them} too many: {extra} after its last operand",
                    self.name_of(instruction)
                )));
            };
            let class = grammar::class(kind);
            let value = words[at];
            let count = match class {
                Class::Text => {
                    read_string(&words[at..])
                        .ok_or_else(|| bad(format!("{}: a string without its zero byte", self.name_of(instruction))))?
                        .1
                }
                Class::Typed => self.number_type(instruction, types).map_or(1, NumberType::words),
                _ => 1,
            };
            if at + count > words.len() {
                return Err(bad(format!("{}: a number is cut off", self.name_of(instruction))));
            }
            match class {
                Class::Value | Class::Mask => {
                    if grammar::operand(kind, value).is_none() {
                        return Err(bad(format!("{}: {value} is no {kind:?}", self.name_of(instruction))));
                    }
                    expected.after_enumerant(kind, value);
                }
                Class::Extended => {
                    let set = types.set(words.get(at - 1).copied().unwrap_or(0));
                    expected.after_extended(set, value);
                }
                Class::SpecOpcode => expected.after_spec_opcode(value),
                _ => {}
            }
            out.push(Operand { kind, class, word, count });
            at += count;
        }
        match expected.required() {
            None => Ok(()),
            Some(kind) => Err(Malformed {
                word: instruction.word,
                message: format!("{} ends where {} is expected", self.name_of(instruction), describe(kind)),
            }),
        }
    }

    /// The type of the number that an instruction holds: OpSwitch's is its selector's.
    pub(crate) fn number_type(&self, instruction: &Instruction, types: &NumberTypes) -> Option<NumberType> {
        let id = self.operand_word(instruction, 0);
        if instruction.opcode == Op::Switch as u16 { types.of_value(id) } else { types.of_type(id) }
    }

    pub(crate) fn name_of(&self, instruction: &Instruction) -> String {
        grammar::instruction_name(instruction.opcode)
    }
}

/// The name of an operand kind in a message.
pub(crate) fn describe(kind: OperandKind) -> String {
    match grammar::class(kind) {
        Class::ResultType => "the Result Type".to_owned(),
        Class::Result => "the Result".to_owned(),
        Class::Id => "an id".to_owned(),
        Class::Integer | Class::Typed | Class::Float => "a number".to_owned(),
        Class::Text => "a string".to_owned(),
        Class::Extended => "an extended instruction".to_owned(),
        Class::SpecOpcode => "an opcode".to_owned(),
        Class::Value | Class::Mask | Class::Raw => format!("a {kind:?}"),
    }
}

/// Words as bytes.
pub(crate) fn bytes(words: &[u32], big_endian: bool) -> Vec<u8> {
    words.iter().flat_map(|word| if big_endian { word.to_be_bytes() } else { word.to_le_bytes() }).collect()
}

/// An id as it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdName<'a> {
    id: u32,
    name: Option<&'a str>,
}

impl fmt::Display for IdName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "%{name}"),
            None => write!(f, "%{}", self.id),
        }
    }
}

/// A table by id that grows as ids come.
#[derive(Clone, Debug, Default)]
pub(crate) struct ById<T>(Vec<T>);

impl<T: Clone + Default> ById<T> {
    /// Sets an id's entry; ids beyond [`MAX_ID`] have none.
    pub(crate) fn set(&mut self, id: u32, value: T) {
        if id > MAX_ID {
            return;
        }
        if self.0.len() <= id as usize {
            self.0.resize(id as usize + 1, T::default());
        }
        self.0[id as usize] = value;
    }
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.0.get(id as usize)
    }
}

/// The types that decide how many words a number has, and the names of imported sets: gathered in order, since a
/// number's type precedes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberTypes {
    types: ById<Option<NumberType>>,
    values: ById<u32>,
    sets: HashMap<u32, String>,
}

impl NumberTypes {
    /// Takes in an instruction's words.
    pub(crate) fn track(&mut self, opcode: u16, words: &[u32]) {
        const INT: u16 = Op::TypeInt as u16;
        const FLOAT: u16 = Op::TypeFloat as u16;
        const IMPORT: u16 = Op::ExtInstImport as u16;
        match (opcode, words) {
            (INT, &[_, id, width, signed]) => self.types.set(id, NumberType::of_int(width, signed)),
            (FLOAT, &[_, id, width]) => self.types.set(id, NumberType::of_float(width, None)),
            (FLOAT, &[_, id, width, encoding]) => self.types.set(id, NumberType::of_float(width, Some(encoding))),
            (IMPORT, [_, id, name @ ..]) => {
                if let Some((name, _)) = read_string(name) {
                    self.sets.insert(*id, String::from_utf8_lossy(&name).into_owned());
                }
            }
            // Only the type of OpSwitch's selector is needed, and that is an integer.
            (_, &[_, type_id, id, ..])
                if self.of_type(type_id).is_some()
                    && grammar::shape(opcode).is_some_and(|shape| shape.has_type && shape.has_result) =>
            {
                self.values.set(id, type_id);
            }
            _ => {}
        }
    }
    pub(crate) fn of_type(&self, id: u32) -> Option<NumberType> {
        self.types.get(id).copied().flatten()
    }
    pub(crate) fn of_value(&self, id: u32) -> Option<NumberType> {
        self.of_type(self.values.get(id).copied()?)
    }
    /// The name of an imported set.
    pub(crate) fn set(&self, id: u32) -> Option<&str> {
        self.sets.get(&id).map(String::as_str)
    }
}
