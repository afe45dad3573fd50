//! Variables with their first values.

use roundonce_ir::{Program, Variable};

use super::names::ModuleNames;
use super::text::push_number;

/// Writes a variable; `Err` says what PTX has not.
pub(super) fn write(program: &Program, names: &ModuleNames, index: usize, text: &mut String) -> Result<(), String> {
    let (Some(variable), Some(name)) = (program.variables.get(index), names.variables.get(index)) else {
        return Ok(());
    };
    if variable.relocations.is_empty() {
        write_bytes(variable, name, text);
        return Ok(());
    }
    write_words(variable, names, name, text)
}

fn declare(variable: &Variable, ty: &str, name: &str, count: u64, text: &mut String) {
    text.push_str(".visible .global .align ");
    push_number(text, variable.align.clamp(1, 1 << 16).next_power_of_two());
    text.push(' ');
    text.push_str(ty);
    text.push(' ');
    text.push_str(name);
    text.push('[');
    push_number(text, count);
    text.push(']');
}

/// Elements between braces, up to the last that is not zero.
fn initial(values: impl ExactSizeIterator<Item = u64>, zero_from: usize, text: &mut String) {
    for (index, value) in values.take(zero_from).enumerate() {
        text.push_str(if index == 0 {
            " = {"
        } else if index % 32 == 0 {
            ",\n    "
        } else {
            ", "
        });
        push_number(text, value);
    }
    if zero_from > 0 {
        text.push('}');
    }
}

fn write_bytes(variable: &Variable, name: &str, text: &mut String) {
    declare(variable, ".b8", name, variable.size.max(1), text);
    let bytes = &variable.initial[..variable.initial.len().min(variable.size as usize)];
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    initial(bytes.iter().map(|byte| u64::from(*byte)), end, text);
    text.push_str(";\n");
}

/// A variable with addresses in it is an array of words as wide as they are.
fn write_words(variable: &Variable, names: &ModuleNames, name: &str, text: &mut String) -> Result<(), String> {
    const WORD: u64 = 8;
    let fits = variable.relocations.iter().all(|address| {
        u64::from(address.bytes) == WORD && address.offset % WORD == 0 && address.offset + WORD <= variable.size
    });
    if !fits || variable.size % WORD != 0 {
        return Err(format!("`{name}`, which has an address of other than 8 bytes in its first value,"));
    }
    declare(variable, ".u64", name, variable.size / WORD, text);
    let mut relocations = variable.relocations.clone();
    relocations.sort_by_key(|address| address.offset);
    let mut relocations = relocations.iter().peekable();
    for index in 0..variable.size / WORD {
        text.push_str(if index == 0 {
            " = {"
        } else if index % 8 == 0 {
            ",\n    "
        } else {
            ", "
        });
        // Of two addresses at one place the last counts.
        let mut here = None;
        while let Some(address) = relocations.next_if(|address| address.offset == index * WORD) {
            here = Some(address);
        }
        match here.and_then(|address| Some((names.variables.get(address.variable as usize)?, address.addend))) {
            Some((target, addend)) => {
                text.push_str("generic(");
                text.push_str(target);
                text.push(')');
                if addend != 0 {
                    text.push_str(if addend < 0 { "-" } else { "+" });
                    push_number(text, addend.unsigned_abs());
                }
            }
            None => {
                let start = (index * WORD) as usize;
                let bytes = (start..start + WORD as usize).rev().map(|at| variable.initial.get(at).copied());
                push_number(text, bytes.fold(0, |word, byte| word << 8 | u64::from(byte.unwrap_or(0))));
            }
        }
    }
    text.push_str("};\n");
    Ok(())
}
