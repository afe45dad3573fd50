//! Multiply-adds of the extended instruction sets rewritten as OpFmaKHR.
//!
//! OpenCL.std `fma` is fused by its document and deprecated by SPV_KHR_fma: the bits stay what they were.
//! GLSL.std.450 `Fma` may be computed unfused: rewriting it determines what was open, so it is done on request alone.

use std::collections::HashSet;
use std::ops::Range;

use roundonce_isa::{Finding, Fix, apply_edits};
use rspirv::spirv::{Capability, Op};

use crate::asm::assemble_module;
use crate::environment::Environment;
use crate::facts::Facts;
use crate::grammar::extended;
use crate::literal::string_words;
use crate::module::{HEADER_WORDS, Instruction, Module};

/// What is rewritten.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Migration {
    /// GLSL.std.450 `Fma` too.
    pub glsl_fma: bool,
}

/// A module after migration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Migrated<T> {
    /// The module.
    pub output: T,
    /// How many multiply-adds were rewritten.
    pub rewritten: usize,
}

/// What one instruction becomes.
enum Change {
    Drop,
    Fma,
}

/// What is to be done, in terms of the words.
struct Plan {
    changes: Vec<(Instruction, Change)>,
    capability_after: Option<Instruction>,
    extension_after: Option<Instruction>,
    rewritten: usize,
}

const EXTENSION: &str = "SPV_KHR_fma";

impl Plan {
    fn of(module: &Module, migration: Migration) -> Plan {
        let facts = Facts::of(module);
        let mut changes = Vec::new();
        let mut imports = HashSet::new();
        let mut used_otherwise = HashSet::new();
        for instruction in module.instructions() {
            let words = module.words_of(instruction);
            if instruction.opcode != Op::ExtInst as u16 || words.len() < 5 {
                // OpName, OpDecorate and the like may mention an import too; then it stays.
                if instruction.opcode != Op::ExtInstImport as u16 {
                    used_otherwise.extend(words[1..].iter().filter(|&id| facts.imports.contains_key(id)).copied());
                }
                continue;
            }
            let name =
                facts.imports.get(&words[3]).and_then(|set| Some((set.as_str(), extended(set, words[4])?.opname)));
            let wanted = match name {
                Some(("OpenCL.std", "fma")) => true,
                Some(("GLSL.std.450", "Fma")) => migration.glsl_fma,
                _ => false,
            };
            // What OpFmaKHR cannot be given stays as it is.
            if wanted && words.len() == 8 && facts.float_format(module, words[1]).is_some() {
                changes.push((*instruction, Change::Fma));
                imports.insert(words[3]);
            } else {
                used_otherwise.insert(words[3]);
            }
        }
        let rewritten = changes.len();
        let last = |opcode: Op| module.instructions().iter().rfind(|at| at.opcode == opcode as u16).copied();
        let (mut capability_after, mut extension_after) = (None, None);
        if rewritten > 0 {
            let unused = |instruction: &&Instruction| {
                let id = module.operand_word(instruction, 0);
                instruction.opcode == Op::ExtInstImport as u16 && imports.contains(&id) && !used_otherwise.contains(&id)
            };
            changes.extend(module.instructions().iter().filter(unused).map(|at| (*at, Change::Drop)));
            if !facts.has(Capability::FMAKHR) {
                capability_after = last(Op::Capability);
            }
            if !facts.extensions.contains(EXTENSION) {
                // Without another extension, right after the capabilities.
                extension_after = last(Op::Extension).or_else(|| last(Op::Capability));
            }
        }
        changes.sort_by_key(|(instruction, _)| instruction.word);
        Plan { changes, capability_after, extension_after, rewritten }
    }
}

/// The code of an instruction that is to be migrated and cannot.
pub const NOT_MIGRATED: &str = "SPV0007";

/// The edits of a text that migrate it ([`apply_edits`]): each replaces a range of bytes, the rest stays as it is.
///
/// # Errors
/// If the text cannot be read.
pub fn migration_fixes(text: &str, migration: Migration) -> Result<(Vec<Fix>, usize), Vec<Finding>> {
    let module = assemble_module(text, Some(Environment::UNIVERSAL.version()))?;
    let plan = Plan::of(&module, migration);
    let mut fixes = Vec::new();
    let of = |instruction: &Instruction, part: usize| module.span(instruction.word + part).unwrap_or_default();
    for (instruction, change) in &plan.changes {
        let whole = of(instruction, 0);
        match change {
            Change::Drop => fixes.push(line_removed(text, whole.start, whole.end)),
            Change::Fma => {
                // `%r = OpExtInst %type %set fma a b c`: the opcode changes, set and name go.
                const OPCODE: &str = "OpExtInst";
                let (Some(at), false) = (text[whole.clone()].find(OPCODE), text[whole.clone()].contains('!')) else {
                    let place = module.location(instruction.word);
                    let message = "raw words are not migrated: write the instruction by name";
                    return Err(vec![Finding::error(NOT_MIGRATED, place, message)]);
                };
                let start = whole.start + at;
                fixes.push(Fix { start, end: start + OPCODE.len(), replacement: "OpFmaKHR".to_owned() });
                fixes.push(Fix {
                    start: of(instruction, 3).start,
                    end: of(instruction, 5).start,
                    replacement: String::new(),
                });
            }
        }
    }
    for (after, line) in [
        (plan.capability_after, "OpCapability FMAKHR".to_owned()),
        (plan.extension_after, format!("OpExtension \"{EXTENSION}\"")),
    ] {
        if let Some(after) = after {
            fixes.push(line_after(text, of(&after, 0), &line));
        }
    }
    Ok((fixes, plan.rewritten))
}

/// A new line after an instruction.
pub(crate) fn line_after(text: &str, instruction: Range<usize>, line: &str) -> Fix {
    let (start, end) = (instruction.start, instruction.end);
    let start_of_line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    // It is indented as the one before it; one that shares its line is not indented.
    let indent: String = text[start_of_line..start].chars().take_while(|c| c.is_whitespace()).collect();
    Fix { start: end, end, replacement: format!("\n{indent}{line}") }
}

/// An instruction alone on its line goes with the line; a comment beside it stays.
fn line_removed(text: &str, start: usize, end: usize) -> Fix {
    let before = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let after = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    let alone = text[before..start].trim().is_empty() && text[end..after].trim().is_empty();
    let (start, end) = if alone { (before, after) } else { (start, end) };
    Fix { start, end, replacement: String::new() }
}

/// Migrates a text. What is not rewritten stays as it was, byte for byte.
///
/// # Errors
/// If the text cannot be read.
///
/// ```
/// use roundonce_spirv::{Migration, migrate_text};
/// let text = "OpCapability Kernel\n\
///     %set = OpExtInstImport \"OpenCL.std\" ; the old way\n\
///     %f = OpTypeFloat 32\n\
///     %r = OpExtInst %f %set fma %a %b %c ; keep me\n";
/// let migrated = migrate_text(text, Migration::default()).unwrap();
/// assert_eq!(migrated.rewritten, 1);
/// assert!(migrated.output.contains("%r = OpFmaKHR %f %a %b %c ; keep me\n"));
/// assert!(migrated.output.starts_with("OpCapability Kernel\nOpCapability FMAKHR\nOpExtension \"SPV_KHR_fma\"\n"));
/// ```
pub fn migrate_text(text: &str, migration: Migration) -> Result<Migrated<String>, Vec<Finding>> {
    let (fixes, rewritten) = migration_fixes(text, migration)?;
    Ok(Migrated { output: apply_edits(text, &fixes), rewritten })
}

/// Migrates a binary; the output has the input's byte order.
///
/// # Errors
/// If it is no SPIR-V.
pub fn migrate_binary(binary: &[u8], migration: Migration) -> Result<Migrated<Vec<u8>>, Finding> {
    let module = Module::from_binary(binary)?;
    let plan = Plan::of(&module, migration);
    let mut words = module.words()[..HEADER_WORDS].to_vec();
    let mut changes = plan.changes.iter().peekable();
    for instruction in module.instructions() {
        let own = module.words_of(instruction);
        match changes.next_if(|(changed, _)| changed.word == instruction.word) {
            Some((_, Change::Drop)) => {}
            Some((_, Change::Fma)) => {
                words.extend([instruction_word(Op::FmaKHR, 6), own[1], own[2]]);
                words.extend(&own[5..8]);
            }
            None => words.extend(own),
        }
        if plan.capability_after == Some(*instruction) {
            words.extend([instruction_word(Op::Capability, 2), Capability::FMAKHR as u32]);
        }
        if plan.extension_after == Some(*instruction) {
            let name: Vec<u32> = string_words(EXTENSION.as_bytes()).collect();
            words.push(instruction_word(Op::Extension, 1 + name.len() as u32));
            words.extend(name);
        }
    }
    let output = crate::module::bytes(&words, module.is_big_endian());
    Ok(Migrated { output, rewritten: plan.rewritten })
}

fn instruction_word(op: Op, count: u32) -> u32 {
    count << 16 | op as u32
}
