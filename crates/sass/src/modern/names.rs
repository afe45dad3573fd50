//! The mnemonics of opcodes outside the float family.

use super::target::Generation;

/// The mnemonic of a word's opcode, without modifiers, where it is known.
pub fn mnemonic(_word: u128, _generation: Generation) -> Option<&'static str> {
    None
}
