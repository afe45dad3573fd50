//! The words of PTX as an editor offers them, and what an opcode takes.

use crate::ast::{Linkage, Space};
use crate::opcodes::{self, OPCODES};
use crate::rules::plain_modifiers;
use crate::{signatures, types};
use roundonce_isa::{SmTarget, Version, split_spelling};

/// An opcode outside the multiply-add family.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpcodeText {
    /// The rows that the spelling may be one of, as `add{.sat}.s32`; the opcode alone where none is known.
    pub syntax: Vec<String>,
    /// Its operands as the manual writes them.
    pub operands: &'static str,
    /// The versions and targets that have it.
    pub gate: String,
}

/// What PTX says of an opcode with some of its modifiers.
///
/// ```
/// let found = roundonce_ptx::opcode_text("shl.b32").unwrap();
/// assert_eq!((found.syntax[0].as_str(), found.operands), ("shl.b16|.b32|.b64", "d, a, b"));
/// ```
pub fn opcode_text(spelling: &str) -> Option<OpcodeText> {
    let (name, written) = split_spelling(spelling);
    let opcode = opcodes::find(name)?;
    let written = plain_modifiers(&written);
    let rows = signatures::of(name);
    let fitting = rows.iter().filter(|row| row.matches(&written).is_ok());
    let mut syntax: Vec<String> = fitting.map(|row| format!("{name}{}", row.syntax())).collect();
    if syntax.is_empty() {
        syntax.push(name.to_owned());
    }
    syntax.dedup();
    Some(OpcodeText { syntax, operands: opcode.operands, gate: opcode.gate.to_string() })
}

/// Every opcode that a target and a version have, where given, with its operands.
pub fn opcodes(
    target: Option<SmTarget>,
    version: Option<Version>,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let there = OPCODES.iter().filter(move |opcode| opcode.gate.holds(target, version));
    there.map(|opcode| (opcode.name, opcode.operands))
}

/// The modifiers that an opcode outside the multiply-add family may still take beside some, each with its place: those that
/// a target and a version have, where given.
pub fn next_modifiers(
    opcode: &str,
    written: &[&str],
    target: Option<SmTarget>,
    version: Option<Version>,
) -> Vec<(usize, &'static str)> {
    signatures::next_modifiers(opcode, written, target, version)
}

/// What declarations are made of: state spaces, linkage, types, and other directives.
pub fn directives() -> impl Iterator<Item = &'static str> {
    const OTHERS: [&str; 20] = [
        ".version",
        ".target",
        ".address_size",
        ".entry",
        ".func",
        ".align",
        ".ptr",
        ".v2",
        ".v4",
        ".loc",
        ".file",
        ".pragma",
        ".section",
        ".maxntid",
        ".reqntid",
        ".minnctapersm",
        ".maxnreg",
        ".branchtargets",
        ".calltargets",
        ".callprototype",
    ];
    let declarations = Space::ALL.into_iter().map(Space::text).chain(Linkage::ALL.into_iter().map(Linkage::text));
    declarations.chain(OTHERS).chain(types::names())
}
