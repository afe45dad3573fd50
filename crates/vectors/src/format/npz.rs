//! NumPy's archive: an array a column, all of one length; `instruction` may be a single string. Floats are taken as
//! the bits of their own format, other numbers as bits too, strings as hex digits.
//!
//! Source: NumPy, numpy.lib.format.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use roundonce::arith::{Elements, Format};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::columns::{COLUMNS, Cells, Column, Meaning, Part, check};
use super::{OPERANDS, Options, text};
use crate::block::{Block, pack};
use crate::generate::Generated;
use crate::instruction::InstructionUnderTest;
use crate::npy::{Element, Header};
use crate::verify::Verifier;

/// An array as it is read.
struct Array<R> {
    name: &'static str,
    stream: R,
    element: Element,
    /// How many there are; `None` for a single value that goes with every row.
    length: Option<u64>,
    single: Vec<u8>,
}

pub(super) fn read<R: Read + Seek>(
    open: &dyn Fn() -> io::Result<R>,
    options: &Options,
    verifier: &mut Verifier<'_>,
) -> Result<(), String> {
    let archive = || {
        let damaged = |error| format!("it is cut short or damaged: {error}");
        ZipArchive::new(BufReader::new(open().map_err(text)?)).map_err(damaged)
    };
    let index = archive()?;
    let names = index.file_names().map(|name| Ok(name.map_err(text)?.trim_end_matches(".npy").to_owned()));
    let names = names.collect::<Result<Vec<String>, String>>()?;
    check(&names, options, verifier)?;
    // A handle of its own for each array: they are read side by side.
    let there: Vec<&'static str> =
        COLUMNS.into_iter().filter(|column| names.iter().any(|name| name == column)).collect();
    let mut archives = there.iter().map(|_| archive()).collect::<Result<Vec<_>, String>>()?;
    let mut arrays = Vec::with_capacity(there.len());
    for (name, archive) in there.into_iter().zip(&mut archives) {
        let stream = archive.by_name(&format!("{name}.npy")).map_err(text)?;
        arrays.push(Array::open(name, stream).map_err(|problem| format!("{name}.npy: {problem}"))?);
    }
    let lengths: Vec<u64> = arrays.iter().filter_map(|array| array.length).collect();
    let total = lengths.first().copied().unwrap_or(1);
    if let Some(other) = lengths.iter().find(|length| **length != total) {
        return Err(format!("the arrays are of unlike length: {total} and {other}"));
    }
    let mut done = 0;
    while done < total {
        let count = (total - done).min(Block::capacity(1) as u64) as usize;
        let mut columns = [const { None }; COLUMNS.len()];
        for array in &mut arrays {
            let cells = array.cells(count).map_err(|problem| format!("{}.npy: {problem}", array.name))?;
            let at = COLUMNS.iter().position(|name| *name == array.name);
            if let Some(column) = at.and_then(|at| columns.get_mut(at)) {
                *column = Some(Column { cells, present: None });
            }
        }
        Part { first: done + 1, count, columns }.judge(options, verifier);
        done += count as u64;
        verifier.progress(done, Some(total));
    }
    arrays.iter_mut().try_for_each(|array| array.end().map_err(|problem| format!("{}.npy: {problem}", array.name)))
}

impl<R: Read> Array<R> {
    fn open(name: &'static str, mut stream: R) -> Result<Array<R>, String> {
        let header = Header::read(&mut stream).map_err(text)?;
        let element = header.element()?;
        let known = match element {
            Element { kind: 'u' | 'i' | 'f' | 'V', size } => matches!(size, 1 | 2 | 4 | 8),
            Element { kind: 'U' | 'S' | 'a', size } => size <= LONGEST_STRING,
            _ => false,
        };
        if !known {
            return Err(format!("its element type '{}' is not supported", header.descr));
        }
        let (length, mut single) = match header.shape.as_slice() {
            [length] => (Some(*length), Vec::new()),
            [] => (None, vec![0; element.size]),
            shape => return Err(format!("it has {} dimensions: expected one", shape.len())),
        };
        stream.read_exact(&mut single).map_err(text)?;
        Ok(Array { name, stream, element, length, single })
    }

    /// The archive compares its checksum at the end of what it packs, and there alone.
    fn end(&mut self) -> Result<(), String> {
        match self.stream.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err("it goes on behind its last element".to_owned()),
            Err(error) => Err(format!("it is damaged: {error}")),
        }
    }

    /// The next elements.
    fn cells(&mut self, count: usize) -> Result<Cells, String> {
        let Element { kind, size } = self.element;
        let string = |bytes: &[u8]| match kind {
            'U' => unicode(bytes),
            _ => String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned(),
        };
        let is_text = matches!(kind, 'U' | 'S' | 'a');
        let bytes = match self.length {
            None if is_text => return Ok(Cells::Text(string(&self.single))),
            None => self.single.repeat(count),
            Some(_) => {
                let mut bytes = vec![0; count * size];
                self.stream.read_exact(&mut bytes).map_err(|error| format!("it is cut short: {error}"))?;
                bytes
            }
        };
        if is_text {
            // numpy allows strings of no characters.
            let none = || vec![String::new(); count];
            return Ok(Cells::Texts(if size == 0 { none() } else { bytes.chunks(size).map(string).collect() }));
        }
        let width = 8 * size as u32;
        let meaning = match (kind, size) {
            ('i', _) => Meaning::Signed(width),
            ('f', 2) => Meaning::Float(Format::F16),
            ('f', 4) => Meaning::Float(Format::F32),
            ('f', _) => Meaning::Float(Format::F64),
            ('V', _) => Meaning::Opaque(width),
            _ => Meaning::Unsigned,
        };
        let mut integers = Elements::of_width(width);
        integers.fill_from_bytes(&bytes);
        Ok(Cells::Integers(integers, meaning))
    }
}

/// Bytes of a string that is neither a spelling nor a value: no memory is given to a header that lies.
const LONGEST_STRING: usize = 4096;

/// NumPy's strings have four bytes a character.
fn unicode(bytes: &[u8]) -> String {
    let characters = bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).take_while(|code| *code != 0);
    characters.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// An array's elements: unsigned integers of so many bytes, or hex digits.
enum Stored {
    Integers(usize),
    Hex(usize),
}

impl Stored {
    /// The narrowest that hold a column of every instruction.
    fn of(instructions: &[InstructionUnderTest], column: &dyn Fn(&InstructionUnderTest) -> Option<usize>) -> Stored {
        let widths = instructions.iter().filter_map(|tested| Some(tested.width(column(tested)?)));
        match widths.max().unwrap_or(8) {
            width @ ..=64 => Stored::Integers(width.next_power_of_two().max(8) as usize / 8),
            width => Stored::Hex(width as usize / 4 + 2),
        }
    }
}

pub(super) fn write(vectors: &Generated, file: &mut File) -> io::Result<()> {
    let mut zip = ZipWriter::new(io::BufWriter::with_capacity(1 << 20, FailingOnce { file, failed: false }));
    let instructions = vectors.instructions();
    let rows = vectors.count() * instructions.len() as u64;
    let mut put = |name: &str, descr: &str, shape: &[u64], data: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>| {
        let options = zip::write::SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(format!("{name}.npy"), options.large_file(true)).map_err(written)?;
        zip.write_all(&Header::bytes(descr, shape))?;
        data(&mut zip)
    };
    let string = |text: &str, length: usize, out: &mut dyn Write| -> io::Result<()> {
        let characters = text.chars().chain(std::iter::repeat('\0')).take(length);
        out.write_all(&characters.flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>())
    };
    let shape = [rows];
    let columns = OPERANDS.into_iter().chain(["d"]).enumerate().map(|(at, name)| {
        let column = move |tested: &InstructionUnderTest| match at {
            3 => Some(tested.arity()),
            at => (at < tested.arity()).then_some(at),
        };
        (name, column)
    });
    let columns: Vec<_> =
        columns.filter(|(_, column)| instructions.iter().any(|tested| column(tested).is_some())).collect();
    // The vectors are made anew for every array, so that any number of them needs no memory.
    let vectors = &vectors.in_passes(columns.len() as u64 + 1 + u64::from(instructions.len() > 1));
    let longest = instructions.iter().map(|tested| tested.spelling.chars().count()).max().unwrap_or(1);
    match instructions {
        [only] => put("instruction", &format!("<U{longest}"), &[], &mut |out| string(&only.spelling, longest, out))?,
        _ => put("instruction", &format!("<U{longest}"), &shape, &mut |out| {
            vectors.iter().try_for_each(|(tested, _)| string(&tested.spelling, longest, out))
        })?,
    }
    for (name, column) in columns {
        let elements = Stored::of(instructions, &column);
        let descr = match elements {
            Stored::Integers(size) => format!("<u{size}"),
            Stored::Hex(length) => format!("<U{length}"),
        };
        put(name, &descr, &shape, &mut |out| {
            vectors.iter().try_for_each(|(tested, vector)| {
                let value = column(tested).map(|at| (at, *vector.operands.get(at).unwrap_or(&vector.result)));
                match elements {
                    Stored::Integers(size) => {
                        let bits = value.map_or(0, |(at, value)| pack(tested.format(at), &value));
                        out.write_all(&bits.to_le_bytes()[..size])
                    }
                    Stored::Hex(length) => {
                        let hex = value.map_or(String::new(), |(at, value)| value.hex(tested.format(at)));
                        string(&hex, length, out)
                    }
                }
            })
        })?;
    }
    put("flags", "|u1", &shape, &mut |out| {
        vectors.iter().try_for_each(|(_, vector)| out.write_all(&[vector.flags.unwrap_or(0)]))
    })?;
    zip.finish().map_err(written)?.flush()
}

/// What went wrong with the file, told once.
fn written(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        error => error.into(),
    }
}

/// After its first failure takes everything: an archive that is given up tries to write its end once more, and tells
/// stderr of that failure.
struct FailingOnce<'a> {
    file: &'a mut File,
    failed: bool,
}

impl Write for FailingOnce<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Ok(bytes.len());
        }
        self.file.write(bytes).inspect_err(|error| self.failed = error.kind() != io::ErrorKind::Interrupted)
    }
    fn flush(&mut self) -> io::Result<()> {
        if self.failed { Ok(()) } else { self.file.flush() }
    }
}

impl Seek for FailingOnce<'_> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.file.seek(place)
    }
}
