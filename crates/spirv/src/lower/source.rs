//! The source locations of instructions, for traces and errors.

use roundonce_ir::SourceLoc;

use crate::disasm::{HEADER_LINES, lines};
use crate::module::Module;

/// A module's text: the one that it was assembled from, or a binary's disassembly.
pub(super) enum Source<'s> {
    Text {
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

impl Source<'_> {
    pub(super) fn new<'s>(module: &Module, text: Option<&'s str>) -> Source<'s> {
        let Some(text) = text else {
            let texts = lines(module);
            let next = |line: &mut u32, text: &String| {
                let first = *line;
                *line += 1 + text.bytes().filter(|byte| *byte == b'\n').count() as u32;
                Some(first)
            };
            let numbers = texts.iter().scan(HEADER_LINES + 1, next).collect();
            return Source::Disassembly { texts, numbers };
        };
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Source::Text { text, starts: [0].into_iter().chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The location of an instruction by its index.
    pub(super) fn place(&self, module: &Module, index: usize) -> SourceLoc {
        let source = String::new();
        match self {
            Source::Text { text, starts } => {
                let span = module.span(module.instructions()[index].word).unwrap_or_default();
                SourceLoc {
                    line: starts.partition_point(|&start| start <= span.start) as u32,
                    text: text.get(span.clone()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "),
                    source,
                    span,
                }
            }
            Source::Disassembly { texts, numbers } => {
                SourceLoc { line: numbers[index], text: texts[index].trim_start().to_owned(), source, span: 0..0 }
            }
        }
    }
}
