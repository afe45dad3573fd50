//! `asm` and `disasm` of 128-bit words, sm_70 to sm_121.

use std::fmt::Write;
use std::path::Path;

use roundonce::answers::Checked;
use roundonce::isa::has_errors;
use roundonce::sass::modern::{self, Cubin, Target};
use roundonce::sass::{self, Layout};
use roundonce_vectors::without_mark;

use crate::asm::{no_instruction, refused};
use crate::disasm::no_listing;
use crate::{Ended, Failure, Status, files, lines, report};

/// Stdin to words, a line at a time.
pub(crate) fn assemble_lines(target: Target) -> Ended {
    let answer = |line: &str, out: &mut String| {
        let word = modern::asm_line(line, target).map_err(|finding| finding.to_string())?;
        let _ = write!(out, "{word:#034x}");
        Ok(())
    };
    lines::answer(None, || answer, lines::error_line)
}

/// A text to words.
pub(crate) fn assemble(file: &Path, output: Option<&Path>, target: Target) -> Ended {
    let text = files::text(file, files::read(file)?)?;
    let (listing, findings) = modern::Listing::parse(&text, target);
    if has_errors(&findings) {
        return refused(file, text, findings);
    }
    if listing.lines.is_empty() {
        return Err(no_instruction(file));
    }
    if !findings.is_empty() {
        report::tell(Checked::new(&file.display().to_string(), text, findings, false))?;
    }
    let words = listing.lines.iter().map(|line| line.word);
    match output {
        Some(path) => files::write(path, &words.flat_map(u128::to_le_bytes).collect::<Vec<u8>>())?,
        None => {
            let lines: String = words.map(|word| format!("{word:#034x}\n")).collect();
            files::write_or_print(None, lines.as_bytes())?;
        }
    }
    Ok(Status::Done)
}

/// Replaces one instruction of a cubin.
pub(crate) fn patch(cubin: &Path, entry: Option<&str>, at: usize, text: &str, output: &Path) -> Ended {
    let mut bytes = files::read(cubin)?;
    let findings = sass::patch(&mut bytes, entry, at, text)
        .map_err(|finding| Failure::Input(format!("{}: {finding}", cubin.display())))?;
    if !findings.is_empty() {
        report::tell(Checked::new("the instruction", text.to_owned(), findings, false))?;
    }
    files::write(output, &bytes)?;
    Ok(Status::Done)
}

/// Words of stdin, a line at a time.
pub(crate) fn disassemble_lines(target: Target, layout: &Layout) -> Ended {
    let answer = |line: &str, out: &mut String| {
        let word = read_word(line)?;
        modern::disasm_word_into(word, target, layout, out).map_err(|finding| finding.to_string())
    };
    lines::answer(None, || answer, lines::error_line)
}

fn read_word(text: &str) -> Result<u128, String> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let fits = (1..=32).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| u128::from_str_radix(digits, 16).ok()).flatten().ok_or_else(|| {
        format!("`{text}` is not a word: expected up to 32 hex digits, such as 0x000fe2000000000a0000000806047223")
    })
}

/// The target that a cubin or a listing names, where its words have 128 bits.
pub(crate) fn target_of(bytes: &[u8]) -> Option<Target> {
    if sass::Cubin::is_elf(bytes) {
        return Cubin::target_of(bytes);
    }
    modern::listing_target(std::str::from_utf8(without_mark(bytes)).ok()?)
}

/// The text of a cubin, of raw or hex words, or of a listing.
pub(crate) fn disassemble(file: &Path, bytes: &[u8], target: Target, layout: &Layout) -> Result<String, Failure> {
    let named = |finding: roundonce::Finding| Failure::Input(format!("{}: {finding}", file.display()));
    if sass::Cubin::is_elf(bytes) {
        return Ok(Cubin::parse(bytes).map_err(named)?.disassemble(layout));
    }
    let words = match std::str::from_utf8(without_mark(bytes)) {
        Ok(text) => match hex_words(text) {
            Some(words) => words,
            None => modern::asm_file(text, target).map_err(|findings| no_listing(file, text, findings))?,
        },
        Err(_) => {
            let (words, rest) = bytes.as_chunks::<16>();
            if !rest.is_empty() {
                let message = format!("{} bytes are neither text nor whole words of 16 bytes", bytes.len());
                return Err(Failure::Input(format!("{}: {message}", file.display())));
            }
            words.iter().map(|word| u128::from_le_bytes(*word)).collect()
        }
    };
    if words.is_empty() {
        return Err(no_instruction(file));
    }
    Ok(modern::disasm_words(&words, target, layout))
}

/// A text of nothing but hex words.
fn hex_words(text: &str) -> Option<Vec<u128>> {
    text.split_whitespace()
        .map(|word| read_word(word).ok())
        .collect::<Option<Vec<u128>>>()
        .filter(|words| !words.is_empty())
}
