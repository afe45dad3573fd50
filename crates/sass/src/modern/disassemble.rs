//! 128-bit words to text: a word, a kernel.

use roundonce_isa::{Finding, Location};

use super::decode::{control, decode};
use super::names::mnemonic;
use super::print::Reuse;
use super::target::Target;
use crate::disassemble::Layout;
use crate::rules;
use crate::schedule_text::{push_prefix, push_suffix};

/// The text of a word, appended to a buffer: with its scheduling where the layout has a style for it.
///
/// # Errors
/// If the word is no instruction of the float family; the buffer is left as it was.
///
/// ```
/// use roundonce_sass::{Layout, modern::{Target, disasm_word_into}};
/// let mut text = String::new();
/// let word = 0x000fe20000000006_0000000404027223;
/// disasm_word_into(word, Target::new(90).unwrap(), &Layout::default(), &mut text).unwrap();
/// assert_eq!(text, "FFMA R2, R4, R4, R6");
/// ```
pub fn disasm_word_into(word: u128, target: Target, layout: &Layout, out: &mut String) -> Result<(), Finding> {
    let instruction = decode(word, target).map_err(|error| {
        let name = match mnemonic(word, target.generation()) {
            Some(name) if !super::OPCODES.iter().any(|row| row.name == name) => format!(": {name} on {target}"),
            _ => String::new(),
        };
        rules::WORD.finding(Location::Word(0), format!("{error}{name}"))
    })?;
    let Some(style) = layout.schedule else {
        instruction.write(layout.style, out);
        return Ok(());
    };
    let slot = control(word);
    push_prefix(slot, style, out);
    instruction.write_with_reuse(layout.style, Reuse::Own, out);
    push_suffix(slot, instruction.own_reuse(), style, out);
    Ok(())
}

/// The text of instruction words. One that is not of the float family is `.dword LOW, HIGH` with its mnemonic, where that
/// is known, in a comment.
pub fn disasm_words(words: &[u128], target: Target, layout: &Layout) -> String {
    let lines: Vec<String> = words.iter().enumerate().map(|(index, word)| line(index, *word, target, layout)).collect();
    let column = lines.iter().map(String::len).max().unwrap_or(0) + 2;
    let mut out = String::new();
    for (line, word) in lines.iter().zip(words) {
        out.push_str(line);
        if layout.words {
            let (low, high) = (*word as u64, (*word >> 64) as u64);
            out.extend(core::iter::repeat_n(' ', column - line.len()));
            out.push_str(&format!("/* {low:#018x} */\n"));
            out.extend(core::iter::repeat_n(' ', column));
            out.push_str(&format!("/* {high:#018x} */"));
        }
        out.push('\n');
    }
    out
}

fn line(index: usize, word: u128, target: Target, layout: &Layout) -> String {
    let mut text = String::new();
    if disasm_word_into(word, target, layout, &mut text).is_err() {
        text = format!(".dword {:#018x}, {:#018x}", word as u64, (word >> 64) as u64);
        if let Some(name) = mnemonic(word, target.generation()) {
            text.push_str(&format!(" /* {name} */"));
        }
    }
    text.push_str(" ;");
    if !layout.addresses {
        return text;
    }
    // The mnemonics are in one column, the guards directly before them.
    let guard = if text.starts_with('@') { text.find(' ').map_or(0, |blank| blank + 1) } else { 0 };
    format!("        /*{:04x}*/ {:>18}{}", 16 * index, &text[..guard], &text[guard..])
}
