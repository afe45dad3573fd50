//! What the output says of the source: `.file`, `.loc` and comments.

use std::collections::HashMap;

use roundonce_ir::Kernel;

use super::super::Options;
use super::text::push_number;

/// Which places of the source have been named so far.
pub(super) struct Lines<'p> {
    options: &'p Options<'p>,
    numbers: HashMap<&'p str, u32>,
    files: Vec<&'p str>,
    /// The last line whose comments have been repeated.
    commented: u32,
    /// What the last `.loc` named.
    named: (u32, u32, u32),
}

/// `saxpy.cu:7:12`
fn place_of(source: &str) -> Option<(&str, u32, u32)> {
    let (rest, column) = source.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    plain(file, line, column)
}

/// A place in a file, where it is one. A quotation mark or a backslash would end or change the name.
fn plain(file: &str, line: u32, column: u32) -> Option<(&str, u32, u32)> {
    let is_name = !file.is_empty() && !file.contains(['"', '\\']) && !file.contains(char::is_control);
    (is_name && line > 0).then_some((file, line, column))
}

impl<'p> Lines<'p> {
    pub(super) fn new(options: &'p Options<'p>) -> Lines<'p> {
        Lines { options, numbers: HashMap::new(), files: Vec::new(), commented: 0, named: (0, 0, 0) }
    }

    /// The comments that stand before a kernel's first instruction.
    pub(super) fn before(&mut self, kernel: &Kernel, text: &mut String) {
        self.named = (0, 0, 0);
        let instructions = kernel.blocks.iter().flat_map(|block| &block.instructions);
        let first = instructions.map(|instruction| instruction.loc as usize).next();
        if let Some(place) = first.and_then(|loc| kernel.source_locs.get(loc)).filter(|_| !kernel.addresses) {
            self.comments(place.line, text, "");
        }
    }

    /// What stands before an instruction of a place.
    pub(super) fn at(&mut self, kernel: &'p Kernel, loc: u32, text: &mut String) {
        let Some(place) = kernel.source_locs.get(loc as usize) else { return };
        if !kernel.addresses {
            self.comments(place.line, text, "    ");
        }
        let of_file = || {
            let line = if kernel.addresses { 0 } else { place.line };
            plain(self.options.file, line, 0)
        };
        let Some((file, line, column)) = place_of(&place.source).or_else(of_file) else { return };
        let number = *self.numbers.entry(file).or_insert_with(|| {
            self.files.push(file);
            self.files.len() as u32
        });
        if self.named == (number, line, column) {
            return;
        }
        self.named = (number, line, column);
        text.push_str("    .loc ");
        for (index, part) in [number, line, column].into_iter().enumerate() {
            if index > 0 {
                text.push(' ');
            }
            push_number(text, part.into());
        }
        text.push('\n');
    }

    fn comments(&mut self, line: u32, text: &mut String, indent: &str) {
        for (_, comment) in self.options.comments.between(self.commented, line) {
            text.push_str(indent);
            text.push_str("// ");
            text.extend(comment.chars().filter(|character| !character.is_control()));
            text.push('\n');
        }
        self.commented = self.commented.max(line);
    }

    /// The files that were named.
    pub(super) fn write_files(&self, text: &mut String) {
        for (index, file) in self.files.iter().enumerate() {
            text.push_str(".file ");
            push_number(text, index as u64 + 1);
            text.push_str(" \"");
            text.push_str(file);
            text.push_str("\"\n");
        }
    }
}
