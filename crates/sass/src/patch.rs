//! One instruction of a cubin replaced by another.

use roundonce_isa::{Finding, Location};

use crate::assemble::still_with_a_word;
use crate::check::statement_findings;
use crate::cubin::{Image, MAXWELL_TARGETS, fault, generation};
use crate::schedule::Control;
use crate::{asm_line_for, fields, modern, parse_line, rules};

/// Replaces the instruction at an address of a kernel; `entry` is needed where there are several. Each control field that
/// the text does not write stays as it is; the operands kept for reuse are always the text's.
///
/// The result is what is worth knowing of the text, as of [`Assembly::findings`](crate::Assembly::findings).
///
/// # Errors
/// If the file cannot be read, there is no such instruction, or the text has no word. The bytes are then as before.
pub fn patch(bytes: &mut [u8], entry: Option<&str>, address: usize, text: &str) -> Result<Vec<Finding>, Finding> {
    let image = Image::read(bytes)?;
    let names = || image.sections.iter().map(|section| section.name.as_str()).collect::<Vec<_>>().join(", ");
    let section = match entry {
        Some(name) => image.sections.iter().find(|section| section.name == name),
        None if image.sections.len() > 1 => {
            return Err(
                rules::ENTRY.finding(Location::Whole, format!("which kernel is patched? there are {}", names()))
            );
        }
        None => image.sections.first(),
    };
    let Some(section) = section else {
        return Err(rules::ENTRY.finding(Location::Whole, format!("there is no such kernel: there are {}", names())));
    };
    let (offset, length, target) = (section.offset, section.code.len(), image.target);
    let size = if MAXWELL_TARGETS.contains(&target) { 8 } else { 16 };
    let no_instruction =
        |what: &str| fault(format!("there is no instruction at {address:#x} of `{}`: {what}", section.name));
    if !address.is_multiple_of(size) {
        return Err(no_instruction(&format!("words have {size} bytes")));
    }
    if address.checked_add(size).is_none_or(|end| end > length) {
        return Err(no_instruction(&format!("its code has {length:#x} bytes")));
    }
    let at = offset + address;
    if size == 16 {
        let Some(target) = modern::Target::new(target) else {
            return Err(fault(format!("nothing is known of the words of sm_{target}")));
        };
        let Some(place) = bytes.get_mut(at..at + size) else { return Ok(Vec::new()) };
        let old = place.try_into().map_or(0, u128::from_le_bytes);
        let (word, findings) = modern::replaced(old, text, target)?;
        place.copy_from_slice(&word.to_le_bytes());
        return Ok(still_with_a_word(findings));
    }
    // The first word of a bundle of four is the control word of the three behind it.
    let slot = address / 8 % 4;
    if slot == 0 {
        return Err(no_instruction("it is a control word"));
    }
    let word = asm_line_for(text, generation(target))?;
    let written = parse_line(text)?;
    let bundle = at - 8 * slot;
    let Some(control) = bytes.get(bundle..bundle + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes)
    else {
        return Ok(Vec::new());
    };
    let mut slots = Control(control).slots();
    slots[slot - 1] = written.scheduling.over(slots[slot - 1].with(fields::REUSE, 0));
    let control = Control::of(slots).0 | control & 1 << 63;
    bytes[bundle..bundle + 8].copy_from_slice(&control.to_le_bytes());
    bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    let mut findings = Vec::new();
    statement_findings(text, &written, &mut findings);
    Ok(still_with_a_word(findings))
}
