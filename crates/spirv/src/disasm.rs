//! Words to assembly text, as `spirv-dis --raw-id` writes it: ids by number, so that the text assembles to the same
//! words. What the grammar cannot say (an unknown opcode, a wrong operand) is written as raw words, `!0x…`.

use roundonce_isa::Finding;
use rspirv::spirv::Op;

use crate::grammar::{self, Class, Expected};
use crate::literal::{NumberType, read_string, string_words};
use crate::module::{Instruction, MAX_ID, Module, NumberTypes, Operand};

/// Columns before `Op`: spirv-dis's.
const INDENT: usize = 15;

/// The text of a binary of either byte order.
///
/// # Errors
/// If it is no SPIR-V, or an instruction's length leads beyond its end.
///
/// ```
/// let words = roundonce_spirv::assemble("%f = OpTypeFloat 32\n%one = OpConstant %f 0x1p+0").unwrap();
/// let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
/// let text = roundonce_spirv::disassemble(&bytes).unwrap();
/// assert!(text.ends_with("          %1 = OpTypeFloat 32\n          %2 = OpConstant %1 1\n"));
/// assert_eq!(roundonce_spirv::assemble(&text), Ok(words));
/// ```
pub fn disassemble(binary: &[u8]) -> Result<String, Finding> {
    Ok(disassemble_module(&Module::from_binary(binary)?))
}

/// Lines before the first instruction.
pub(crate) const HEADER_LINES: u32 = 5;

/// The text of a module.
pub fn disassemble_module(module: &Module) -> String {
    let words = module.words();
    let version = module.version();
    let mut text = format!(
        "; SPIR-V\n; Version: {version}\n; Generator: {}\n; Bound: {}\n; Schema: {}\n",
        generator_name(words[2]),
        words[3],
        words[4]
    );
    each_line(module, |line| {
        text.push_str(&line);
        text.push('\n');
    });
    text
}

/// The text of each instruction. A string in it may hold newlines.
pub(crate) fn lines(module: &Module) -> Vec<String> {
    let mut lines = Vec::with_capacity(module.instructions().len());
    each_line(module, |line| lines.push(line));
    lines
}

fn each_line(module: &Module, mut write: impl FnMut(String)) {
    let mut types = NumberTypes::default();
    let mut expected = Expected::new();
    let mut operands = Vec::new();
    for instruction in module.instructions() {
        let decoded = module.operands(instruction, &types, &mut expected, &mut operands);
        let known = decoded.is_ok() && grammar::shape(instruction.opcode).is_some();
        let line = known.then(|| line(module, instruction, &types, &operands)).flatten();
        write(line.unwrap_or_else(|| raw_line(module.words_of(instruction))));
        types.track(instruction.opcode, module.words_of(instruction));
    }
}

fn raw_line(words: &[u32]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("!{word:#010x}")).collect();
    format!("{:INDENT$}{}", "", words.join(" "))
}

/// An instruction in words; `None` if some operand cannot be written so that it reads back.
fn line(module: &Module, instruction: &Instruction, types: &NumberTypes, operands: &[Operand]) -> Option<String> {
    let name = grammar::instruction_name(instruction.opcode);
    let mut line = match module.result(instruction) {
        Some(id) if id <= MAX_ID => format!("{:>width$} = {name}", format!("%{id}"), width = INDENT - 3),
        Some(_) => return None,
        None => format!("{:INDENT$}{name}", ""),
    };
    // After a raw word the assembler no longer knows what it reads.
    let mut raw = false;
    for operand in operands {
        let words = &module.words()[operand.word..operand.word + operand.count];
        let word = *words.first()?;
        if operand.class == Class::Result {
            continue;
        }
        let written = match operand.class {
            Class::ResultType | Class::Id if word > MAX_ID => return None,
            Class::ResultType | Class::Id => Some(format!("%{word}")),
            Class::Text => Some(string(words)?),
            Class::Raw => None,
            _ if raw => None,
            Class::Integer => Some(word.to_string()),
            Class::Float => NumberType::Float(roundonce_arith::Format::F32).write(words),
            Class::Typed => Some(module.number_type(instruction, types)?.write(words)?),
            Class::Extended => {
                let import = module.words()[operand.word - 1];
                Some(grammar::extended_name(types.set(import).unwrap_or_default(), word))
            }
            Class::SpecOpcode => {
                // One that the assembler would refuse is kept as its words.
                let opcode = u16::try_from(word).ok().filter(|_| grammar::spec_constant_opcode(word))?;
                Some(grammar::instruction_name(opcode)["Op".len()..].to_owned())
            }
            Class::Value | Class::Mask => Some(grammar::name_of(operand.kind, word)?),
            Class::Result => continue,
        };
        let written = written.unwrap_or_else(|| {
            raw = true;
            words.iter().map(|word| format!("!{word:#010x}")).collect::<Vec<_>>().join(" ")
        });
        line.push(' ');
        line.push_str(&written);
    }
    // A pair of OpSwitch whose selector has no known type would read back as something else.
    (instruction.opcode != Op::Switch as u16 || operands.len() <= 2 || module.number_type(instruction, types).is_some())
        .then_some(line)
}

/// A string in quotes; `None` if its words hold more than the string, or no UTF-8.
fn string(words: &[u32]) -> Option<String> {
    let (bytes, _) = read_string(words)?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let same = string_words(&bytes).eq(words.iter().copied());
    same.then(|| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Registered generators (SPIR-V registry, spir-v.xml): those whose modules are met most.
#[rustfmt::skip] // By number.
static GENERATORS: [&str; 16] = [
    "Khronos", "LunarG", "Valve", "Codeplay", "NVIDIA", "ARM",
    "Khronos LLVM/SPIR-V Translator", "Khronos SPIR-V Tools Assembler", "Khronos Glslang Reference Front End",
    "Qualcomm", "AMD", "Intel", "Imagination", "Google Shaderc over Glslang", "Google spiregg", "Google rspirv",
];

fn generator_name(word: u32) -> String {
    let (tool, version) = (word >> 16, word & 0xffff);
    match GENERATORS.get(tool as usize) {
        Some(name) => format!("{name}; {version}"),
        None => format!("Unknown({tool}); {version}"),
    }
}

/// The header's word for what [`generator_name`] wrote.
pub(crate) fn generator_word(text: &str) -> Option<u32> {
    let (name, version) = text.rsplit_once("; ")?;
    let unknown = || name.strip_prefix("Unknown(")?.strip_suffix(')')?.parse::<u16>().ok();
    let tool = GENERATORS.iter().position(|known| *known == name).map(|at| at as u16).or_else(unknown)?;
    Some(u32::from(tool) << 16 | u32::from(version.parse::<u16>().ok()?))
}
