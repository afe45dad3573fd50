//! The source locations of instructions, for traces and errors.

use std::collections::HashMap;

use roundonce_ir::SourceLoc;
use rspirv::spirv::Op;

use crate::disasm::{HEADER_LINES, lines};
use crate::literal::read_string;
use crate::module::{Instruction, Module};
use crate::rules::layout::is_terminator;

/// Where a module's instructions stand.
pub(super) struct Source<'s> {
    text: Text<'s>,
    /// The OpLine that each instruction is behind.
    debug_lines: Vec<Option<Instruction>>,
    /// The strings of the module, without directories.
    files: HashMap<u32, String>,
}

/// A module's text: the one that it was assembled from, or a binary's disassembly.
enum Text<'s> {
    Given {
        text: &'s str,
        /// Where its lines begin.
        starts: Vec<usize>,
    },
    Disassembly {
        /// The text of each instruction.
        texts: Vec<String>,
        /// The number of the line on which each begins: strings of several lines make instructions of several.
        numbers: Vec<u32>,
    },
}

impl<'s> Text<'s> {
    fn new(module: &Module, text: Option<&'s str>) -> Text<'s> {
        let Some(text) = text else {
            let texts = lines(module);
            let next = |line: &mut u32, text: &String| {
                let first = *line;
                *line += 1 + text.bytes().filter(|byte| *byte == b'\n').count() as u32;
                Some(first)
            };
            let numbers = texts.iter().scan(HEADER_LINES + 1, next).collect();
            return Text::Disassembly { texts, numbers };
        };
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Text::Given { text, starts: [0].into_iter().chain(ends.map(|(at, _)| at + 1)).collect() }
    }
}

/// For each instruction the OpLine that holds there: it does so up to the next one, OpNoLine or the end of the block.
///
/// Source: SPIR-V 1.6, 3.52.2 Debug Instructions (OpLine).
fn debug_lines(module: &Module) -> Vec<Option<Instruction>> {
    let after = |held: &mut Option<Instruction>, at: &Instruction| {
        let ends = held.take();
        *held = match Op::from_u32(at.opcode.into()) {
            Some(Op::Line) => Some(*at),
            Some(Op::NoLine | Op::FunctionEnd) => None,
            Some(op) if is_terminator(op) => None,
            _ => ends,
        };
        Some(ends)
    };
    module.instructions().iter().scan(None, after).collect()
}

impl Source<'_> {
    pub(super) fn new<'s>(module: &Module, text: Option<&'s str>) -> Source<'s> {
        let strings = module.instructions().iter().filter(|at| at.opcode == Op::String as u16);
        let file = |at: &Instruction| {
            let (bytes, _) = read_string(module.words_of(at).get(2..)?)?;
            let path = String::from_utf8(bytes).ok()?;
            Some((module.operand_word(at, 0), path.rsplit(['/', '\\']).next()?.to_owned()))
        };
        let files = strings.filter_map(file).collect();
        Source { text: Text::new(module, text), debug_lines: debug_lines(module), files }
    }

    /// The location of an instruction by its index.
    pub(super) fn place(&self, module: &Module, index: usize) -> SourceLoc {
        let line = self.debug_lines[index].and_then(|line| {
            let [file, number, column] = [0, 1, 2].map(|at| module.operand_word(&line, at));
            Some(format!("{}:{number}:{column}", self.files.get(&file)?))
        });
        let source = line.unwrap_or_default();
        match &self.text {
            Text::Given { text, starts } => {
                let span = module.span(module.instructions()[index].word).unwrap_or_default();
                SourceLoc {
                    line: starts.partition_point(|&start| start <= span.start) as u32,
                    text: text.get(span.clone()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "),
                    source,
                    span,
                }
            }
            Text::Disassembly { texts, numbers } => {
                SourceLoc { line: numbers[index], text: texts[index].trim_start().to_owned(), source, span: 0..0 }
            }
        }
    }
}
