//! Words to text: a word, a bundle, a file.

use roundonce_isa::{Finding, Location};

use crate::decode::decode_for;
use crate::generation::Generation;
use crate::print::Style;
use crate::rules;
use crate::schedule::{Control, Slot};
use crate::schedule_text::{ScheduleStyle, push_envytools, push_prefix, push_suffix};

/// How a disassembly looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// Immediates.
    pub style: Style,
    /// Scheduling, if it is to be written. Without it, and with [`words`](Layout::words), the control word is
    /// in a comment, as the disassemblers write it.
    pub schedule: Option<ScheduleStyle>,
    /// `/*0008*/` before each instruction.
    pub addresses: bool,
    /// `/* 0x5980038000670008 */` behind each.
    pub words: bool,
    /// Whose instructions and names, of 64-bit words.
    pub generation: Generation,
}

impl Layout {
    /// What `nvdisasm -hex` prints.
    pub const NVDISASM_HEX: Layout =
        Layout { style: Style::Nvdisasm, schedule: None, addresses: true, words: true, generation: Generation::NEWEST };
}

/// The text of a word.
///
/// # Errors
/// If it has none of the table's encodings; the location is word 0.
///
/// ```
/// use roundonce_sass::{Style, disasm_word};
/// assert_eq!(disasm_word(0x338101bfc0070100, Style::Nvdisasm).unwrap(), "FFMA R0, R1, -1.5.NEG, R3;");
/// assert_eq!(disasm_word(0x0c07f80000170008, Style::Exact).unwrap(), "FFMA32I R8, R0, 0x7f800001, R8;");
/// assert_eq!(disasm_word(0, Style::Exact).unwrap_err().code, "SASS0012");
/// ```
pub fn disasm_word(word: u64, style: Style) -> Result<String, Finding> {
    let mut text = String::new();
    disasm_word_into(word, style, Generation::NEWEST, &mut text)?;
    Ok(text)
}

/// The same on the GPUs of one generation, appended to a buffer.
///
/// # Errors
/// As [`disasm_word`]; the buffer is left as it was.
pub fn disasm_word_into(word: u64, style: Style, generation: Generation, out: &mut String) -> Result<(), Finding> {
    match decode_for(word, generation) {
        Ok(instruction) => {
            instruction.write(style, None, out);
            Ok(())
        }
        Err(error) => Err(rules::OPCODE.finding(Location::Word(0), error.to_string())),
    }
}

/// One line of a disassembly.
struct Row {
    address: usize,
    word: u64,
    text: String,
    opens: bool,
    closes: bool,
}

/// The instruction or the word as text, scheduling around it.
fn row_text(address: usize, word: u64, slot: Option<Slot>, layout: &Layout, in_pair: bool) -> String {
    let mut text = String::new();
    let own_schedule = layout.schedule.zip(slot);
    if let Some((style, slot)) = own_schedule {
        push_prefix(slot, style, &mut text);
    }
    let shown = match decode_for(word, layout.generation) {
        Ok(instruction) => {
            instruction.write_body_at(address as u64, layout.style, slot, &mut text);
            instruction.shown_reuse()
        }
        Err(_) => {
            text.push_str(&format!(".dword {word:#018x}"));
            0
        }
    };
    if let Some((style, slot)) = own_schedule {
        push_suffix(slot, shown, style, &mut text);
    }
    let blank = layout.schedule.is_none() && slot.is_some_and(|slot| slot.schedule() != 0);
    if !in_pair {
        text.push_str(if blank { " ;" } else { ";" });
    }
    text
}

/// The text of instruction words without control words, one a line.
pub fn disasm_words(words: &[u64], layout: &Layout) -> String {
    let rows = words.iter().enumerate();
    let rows: Vec<Row> = rows
        .map(|(index, word)| Row {
            address: 8 * index,
            word: *word,
            text: row_text(8 * index, *word, None, layout, false),
            opens: false,
            closes: false,
        })
        .collect();
    let mut out = String::new();
    let column = comment_column(rows.iter(), layout);
    for row in &rows {
        push_row(row, column, layout, &mut out);
    }
    out
}

/// The text of bundles: a control word and three instructions each. A word of no known encoding becomes
/// `.dword 0x…`.
///
/// # Errors
/// If the words are not a whole number of bundles.
pub fn disasm_bundles(words: &[u64], layout: &Layout) -> Result<String, Finding> {
    if !words.len().is_multiple_of(4) {
        let message = format!("{} words are not a whole number of bundles of four", words.len());
        return Err(rules::LAYOUT.finding(Location::Word(words.len()), message));
    }
    let rows = bundle_rows(words, layout);
    let column = comment_column(rows.iter(), layout);
    let mut out = String::new();
    for (bundle, rows) in words.chunks_exact(4).zip(rows.chunks_exact(3)) {
        let control = Control(bundle[0]);
        let slots = control.slots();
        if layout.schedule.is_none() && layout.words || control.top() {
            out.extend(core::iter::repeat_n(' ', column));
            out.push_str(&format!("/* {:#018x} */\n", control.0));
        }
        if layout.schedule == Some(ScheduleStyle::Envytools) {
            out.push_str("sched");
            for slot in slots {
                out.push(' ');
                push_envytools(slot, &mut out);
            }
            out.push('\n');
        }
        for row in rows {
            push_row(row, column, layout, &mut out);
        }
    }
    Ok(out)
}

/// The rows of whole bundles. The disassembler writes braces around a pair, which may cross from one bundle into the
/// next; the scheduling styles have their own notation.
fn bundle_rows(words: &[u64], layout: &Layout) -> Vec<Row> {
    let braces = layout.schedule.is_none();
    let last = words.len() / 4 * 3;
    let mut rows: Vec<Row> = Vec::with_capacity(last);
    for (index, bundle) in words.chunks_exact(4).enumerate() {
        for (place, slot) in Control(bundle[0]).slots().into_iter().enumerate() {
            let closes = rows.last().is_some_and(|before| before.opens);
            rows.push(Row {
                address: 32 * index + 8 * (place + 1),
                word: bundle[place + 1],
                text: row_text(32 * index + 8 * (place + 1), bundle[place + 1], Some(slot), layout, closes),
                opens: braces && slot.pairs() && !closes && rows.len() + 1 < last,
                closes,
            });
        }
    }
    rows
}

impl Row {
    /// The guard and its blank, if the text begins with one.
    fn guard(&self) -> &str {
        self.text.split_inclusive(' ').next().filter(|guard| guard.starts_with('@')).unwrap_or_default()
    }
}

/// Where the comments begin. The disassembler counts a guard twice and no blanks behind a brace, observed on
/// `vectors/edge/sass/listing.sass`.
fn comment_column<'a>(rows: impl Iterator<Item = &'a Row>, layout: &Layout) -> usize {
    let width = |row: &Row| {
        let guard = if layout.addresses { row.guard().len() } else { 0 };
        line_of(row, layout).len() + guard + if row.closes { 0 } else { 2 }
    };
    rows.map(width).max().unwrap_or(0)
}

/// A row without the comment behind it.
fn line_of(row: &Row, layout: &Layout) -> String {
    let mut line = String::new();
    if layout.addresses {
        // The mnemonics are in one column, the guards directly before them.
        let guard = row.guard();
        let brace = if row.opens { '{' } else { ' ' };
        line.push_str(&format!("        /*{:04x}*/         {brace}{guard:>9}", row.address));
        line.push_str(&row.text[guard.len()..]);
    } else if row.opens {
        line.push_str("{ ");
        line.push_str(&row.text);
    } else {
        line.push_str(&row.text);
    }
    if row.closes {
        line.push_str(if layout.addresses { "         }" } else { " }" });
    }
    line
}

fn push_row(row: &Row, column: usize, layout: &Layout, out: &mut String) {
    let line = line_of(row, layout);
    out.push_str(&line);
    if layout.words {
        // The disassembler breaks the line behind a brace.
        let mut width = line.len();
        if row.closes {
            out.push('\n');
            width = 0;
        }
        out.extend(core::iter::repeat_n(' ', column - width));
        out.push_str(&format!("/* {:#018x} */", row.word));
    }
    out.push('\n');
}
