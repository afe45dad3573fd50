//! Comma-separated values with a line of names: `instruction,a,b,c,d,flags`. Hex digits have `0x` before them; digits alone
//! are a decimal integer, as a spreadsheet writes bits. Where a comma is a decimal point, a spreadsheet separates by `;`.

use std::io::{self, Read, Write};

use csv::{ErrorKind, ReaderBuilder, StringRecord};

use super::testfloat::is_prose;
use super::{Bits, OPERANDS, Options, SCALES, columns, known, name, text};
use crate::block::Vector;
use crate::generate::Generated;
use crate::matrices::MatrixRow;
use crate::verify::{Known, Verifier};
use roundonce::isa::counted;

/// What the first line of a text separates names by, if it is names: the one that it has more of.
pub(super) fn separator(line: &[u8]) -> Option<u8> {
    let count = |separator| line.iter().filter(|byte| **byte == separator).count();
    let separator = if count(b';') > count(b',') { b';' } else { b',' };
    let is_names = count(separator) > 0 && line[0] != b'{' && !is_prose(line) && std::str::from_utf8(line).is_ok();
    is_names.then_some(separator)
}

/// Judges every row, behind so many blank lines. An error ends the run: without names no row can be read.
pub(super) fn read(
    stream: impl Read,
    separator: u8,
    blank: u64,
    options: &Options,
    verifier: &mut Verifier<'_>,
    mut progress: impl FnMut(&mut Verifier<'_>),
) -> Result<(), String> {
    // The last line is ended as all others are.
    let stream = LineEnds { stream, after_return: false }.chain(&b"\n"[..]);
    let mut reader = ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(stream);
    let names: Vec<String> = reader.headers().map_err(text)?.iter().map(|name| name.trim().to_owned()).collect();
    columns::check(&names, options, verifier)?;
    let mut record = StringRecord::new();
    loop {
        let read = reader.read_record(&mut record);
        // A row is where it begins: before it the reader is where the row before ends, which blank lines may follow.
        let breaks = record.as_slice().bytes().filter(|byte| *byte == b'\n').count() as u64;
        let row = blank + reader.position().line() - 1 - breaks;
        let outcome = match read {
            Ok(false) => return Ok(()),
            Ok(true) => judge(&names, &record, row, options, verifier),
            Err(error) => match error.kind() {
                ErrorKind::Utf8 { .. } => Err("the row is not UTF-8".to_owned()),
                _ => return Err(text(error)),
            },
        };
        if let Err(problem) = outcome {
            verifier.bad(row, &problem);
        }
        if reader.position().record().is_multiple_of(4096) {
            progress(verifier);
        }
    }
}

/// A text whose lines all end in `\n`: the reader's own count of lines knows no other end.
struct LineEnds<R> {
    stream: R,
    after_return: bool,
}

impl<R: Read> Read for LineEnds<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let got = self.stream.read(bytes)?;
            let mut kept = 0;
            for at in 0..got {
                let byte = bytes[at];
                let is_second = byte == b'\n' && self.after_return;
                self.after_return = byte == b'\r';
                if !is_second {
                    bytes[kept] = if self.after_return { b'\n' } else { byte };
                    kept += 1;
                }
            }
            // Nothing is the end of the stream, or of what was read all was the second half of a line's end.
            if kept > 0 || got == 0 {
                return Ok(kept);
            }
        }
    }
}

/// A field as bits.
fn bits(field: &str) -> Result<Bits<'_>, String> {
    if field.starts_with("0x") || field.starts_with("0X") {
        return Ok(Bits::Hex(field));
    }
    let integer = field.parse().map(Bits::Integer);
    integer.map_err(|_| format!("`{field}` is no bits: expected 0x and hex digits, or an unsigned integer"))
}

fn judge(
    names: &[String],
    record: &StringRecord,
    row: u64,
    options: &Options,
    verifier: &mut Verifier<'_>,
) -> Result<(), String> {
    // Cells without a name may be empty, as those that a spreadsheet leaves behind a row.
    if let Some(extra) = record.iter().skip(names.len()).map(str::trim).find(|extra| !extra.is_empty()) {
        return Err(format!("`{extra}` is one too many: {} are named", counted(names.len() as u64, "column")));
    }
    let field = |wanted: &str| {
        let at = names.iter().position(|name| name == wanted)?;
        record.get(at).map(str::trim).filter(|field| !field.is_empty())
    };
    let present = |name: &str| field(name).ok_or_else(|| format!("{name}: nothing is there"));
    let index = match known(field("instruction"), field("arch"), options, verifier)? {
        Known::Scalar(index) => index,
        Known::Matrix(index) => {
            let scales = SCALES.iter().filter_map(|name| Some(format!("{name}={}", field(name)?)));
            let scales: Vec<String> = scales.collect();
            let mut operands = OPERANDS.iter().map(|name| present(name)).collect::<Result<Vec<&str>, String>>()?;
            operands.extend(scales.iter().map(String::as_str));
            return verifier.push_matrix(index, row, &MatrixRow { operands: &operands, result: present("d")? });
        }
    };
    let tested = verifier.instruction(index);
    let arity = tested.arity();
    let value = |column: usize| {
        let name = name(tested, column);
        bits(present(name)?).map_err(|problem| format!("{name}: {problem}"))?.value(tested, column)
    };
    let vector = Vector {
        operands: (0..arity).map(value).collect::<Result<_, String>>()?,
        result: value(arity)?,
        flags: field("flags").map(|field| bits(field)?.flags()).transpose()?,
    };
    verifier.push(index, row, &vector);
    Ok(())
}

pub(super) fn write(vectors: &Generated, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "instruction,a,b,c,d,flags")?;
    for (tested, vector) in vectors.iter() {
        write!(out, "{},", tested.spelling)?;
        for column in 0..OPERANDS.len() {
            let value = vector.operands.get(column).map(|value| value.hex(tested.format(column)));
            write!(out, "{},", value.unwrap_or_default())?;
        }
        let flags = vector.flags.map(|flags| flags.to_string()).unwrap_or_default();
        writeln!(out, "{},{flags}", vector.result.hex(tested.format(tested.arity())))?;
    }
    Ok(())
}
