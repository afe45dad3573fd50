//! The formats that people keep vectors in.
//!
//! Every one but TestFloat's text has columns `instruction, a, b, c, d, flags`: the operands in the instruction's order
//! (one of two operands has no `c`), the result, the exceptions in TestFloat's bits. Values are bits: unsigned integers,
//! or hex strings where they have more than 64 bits. Captures may have `arch` beside `instruction`, the machine, and the
//! scales `sa` and `sb` of a matrix multiply-add.

mod c;
mod columns;
mod csv;
mod json_array;
mod jsonl;
mod npz;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod readmemh;
mod testfloat;

pub use testfloat::run as run_testfloat;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Read, Seek, Write};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use roundonce::spirv::Environment;
use roundonce::{Profile, Target, Value};

use crate::block::{parse_hex, unpack};
use crate::generate::Generated;
use crate::instruction::InstructionUnderTest;
use crate::output::Output;
use crate::report::Report;
use crate::verify::{Known, Observer, Verifier};

/// A format of files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Berkeley TestFloat's: `a b c d flags` a line, in hex.
    TestFloat,
    /// A JSON object a line.
    JsonLines,
    /// Comma-separated values with a line of names.
    Csv,
    /// NumPy's archive, an array a column.
    Npz,
    /// Apache Parquet.
    Parquet,
    /// A C header with an array of structures. Written only.
    C,
    /// A memory image for SystemVerilog's `$readmemh`. Written only.
    Readmemh,
}

impl Format {
    /// The names that a command line takes, and the extensions of files.
    #[rustfmt::skip] // One row a format.
    pub const ALL: [(Format, &'static str, &'static [&'static str]); 7] = [
        (Format::TestFloat, "testfloat", &["txt", "tv"]),
        (Format::JsonLines, "jsonl", &["jsonl", "ndjson"]),
        (Format::Csv, "csv", &["csv"]),
        (Format::Npz, "npz", &["npz"]),
        (Format::Parquet, "parquet", &["parquet"]),
        (Format::C, "c", &["h", "c"]),
        (Format::Readmemh, "readmemh", &["hex", "mem", "memh"]),
    ];

    /// The format that a command line names.
    ///
    /// # Errors
    /// If it names none.
    pub fn of_name(name: &str) -> Result<Format, String> {
        let found = Format::ALL.into_iter().find(|(_, known, _)| *known == name);
        found.map(|(format, ..)| format).ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|(_, name, _)| *name).collect();
            format!("`{name}` is no format: expected one of {}", names.join(" "))
        })
    }

    /// The format that the extension of a file says; JSON Lines where it has none.
    ///
    /// # Errors
    /// If it has another.
    pub fn of_path(path: &Path) -> Result<Format, String> {
        let Some(extension) = path.extension() else { return Ok(Format::JsonLines) };
        let is_of = |known: &&str| extension.eq_ignore_ascii_case(known);
        let known = |(.., known): &(Format, &str, &[&str])| known.iter().any(is_of);
        Format::ALL.into_iter().find(known).map(|(format, ..)| format).ok_or_else(|| {
            let all: Vec<String> =
                Format::ALL.iter().flat_map(|(.., known)| *known).map(|it| format!(".{it}")).collect();
            format!("{}: expected one of {}, or the format beside it", path.display(), all.join(" "))
        })
    }

    /// Writes vectors.
    ///
    /// # Errors
    /// If the format cannot hold them, or the file cannot be written.
    pub fn write(self, vectors: &Generated, out: &mut Output) -> io::Result<()> {
        match self {
            Format::Npz => npz::write(vectors, out.seekable()?),
            Format::Parquet => parquet::write(vectors, out.seekable()?),
            _ => self.write_text(vectors, out),
        }
    }

    /// The same for the formats that are text, to anywhere.
    ///
    /// # Errors
    /// As [`write`](Format::write), or if the format is not text.
    pub fn write_text(self, vectors: &Generated, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        match self {
            Format::TestFloat => testfloat::write(vectors, &mut out)?,
            Format::JsonLines => jsonl::write(vectors, &mut out)?,
            Format::Csv => csv::write(vectors, &mut out)?,
            Format::C => c::write(vectors, &mut out)?,
            Format::Readmemh => readmemh::write(vectors, &mut out)?,
            Format::Npz | Format::Parquet => return Err(refused("npz and parquet are no text: name a file")),
        }
        out.flush()
    }
}

/// A format that cannot hold what it is given.
fn refused(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

/// How to read a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The instruction of rows that name none.
    pub instruction: Option<InstructionUnderTest>,
    /// The PTX target, where the meaning of a spelling depends on it.
    pub target: Target,
    /// The environment that instructions of SPIR-V are judged under which name none.
    pub environment: Option<Environment>,
    /// What results are held against.
    pub profile: Profile,
}

/// Verifies a file in any format that can be read: what it holds tells which.
///
/// # Errors
/// If it cannot be read at all ([`Unsupported`](io::ErrorKind::Unsupported) where this build cannot); a row that cannot
/// is reported to the observer.
pub fn verify_file(path: &Path, options: &Options, observer: &mut dyn Observer) -> io::Result<Report> {
    let mut options = options.clone();
    let name = path.file_name().map(|name| name.to_string_lossy());
    options.instruction = options.instruction.or_else(|| InstructionUnderTest::of_file_name(&name?, &options.target));
    let mut file = File::open(path)?;
    let found = file.metadata()?;
    if !found.is_file() && !found.is_dir() {
        return verify_stream(file, &options, observer);
    }
    let mut verifier = Verifier::new(&options, observer);
    let size = found.len();
    let mut magic = [0; 4];
    let got = read_up_to(&mut file, &mut magic)?;
    file.rewind()?;
    let container = Container::of(&magic[..got]);
    if let (None, Some(named)) = (&container, Container::named(path)) {
        return Err(invalid(format!("it is cut short, or no {named}: it does not begin like one")));
    }
    match container {
        Some(Container::Parquet) => parquet::read_file(file, &options, &mut verifier)?,
        Some(Container::Zip) => npz::read(&|| File::open(path), &options, &mut verifier).map_err(invalid)?,
        gzip => lines(file, Some(size), gzip.is_some(), &options, &mut verifier).map_err(invalid)?,
    }
    Ok(verifier.finish())
}

/// Verifies what a stream holds. Parquet and .npz are not made for streams: they are taken into memory whole.
///
/// # Errors
/// As [`verify_file`].
pub fn verify_stream(stream: impl Read, options: &Options, observer: &mut dyn Observer) -> io::Result<Report> {
    let mut verifier = Verifier::new(options, observer);
    let mut stream = BufReader::new(stream);
    let container = Container::of(stream.fill_buf()?);
    let mut whole = || -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        stream.read_to_end(&mut all)?;
        Ok(all)
    };
    match container {
        Some(Container::Parquet) => parquet::read_bytes(whole()?, options, &mut verifier)?,
        Some(Container::Zip) => {
            let whole: Rc<[u8]> = whole()?.into();
            npz::read(&|| Ok(Cursor::new(Rc::clone(&whole))), options, &mut verifier).map_err(invalid)?;
        }
        gzip => lines(stream, None, gzip.is_some(), options, &mut verifier).map_err(invalid)?,
    }
    Ok(verifier.finish())
}

/// What is known by its first bytes.
enum Container {
    Parquet,
    Zip,
    Gzip,
}

impl Container {
    fn of(magic: &[u8]) -> Option<Container> {
        match magic {
            [b'P', b'A', b'R', b'1', ..] => Some(Container::Parquet),
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Some(Container::Zip),
            [0x1f, 0x8b, ..] => Some(Container::Gzip),
            _ => None,
        }
    }

    /// What a file must be by its name.
    fn named(path: &Path) -> Option<&'static str> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "parquet" => Some("Parquet file"),
            "npz" => Some(".npz archive"),
            "gz" => Some("gzip file"),
            _ => None,
        }
    }
}

/// What a text begins with to say that it is UTF-8. It is no part of the text.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The beginning of a text without a byte order mark.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// As many bytes as there are.
fn read_up_to(file: &mut File, bytes: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    loop {
        match file.read(&mut bytes[got..])? {
            0 => return Ok(got),
            more => got += more,
        }
    }
}

/// Text, compressed or not: a JSON object a line or an array of them, comma-separated values, or TestFloat's. The first line that is
/// not blank says which.
fn lines(
    stream: impl Read,
    size: Option<u64>,
    gzip: bool,
    options: &Options,
    verifier: &mut Verifier<'_>,
) -> Result<(), String> {
    let damaged = |error: io::Error| match gzip {
        true => format!("its gzip data is cut short or damaged: {error}"),
        false => error.to_string(),
    };
    let read = Rc::new(Cell::new(0));
    let stream = BufReader::with_capacity(1 << 16, Counted { stream, read: Rc::clone(&read) });
    let mut stream: Box<dyn BufRead> = match gzip {
        true => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(stream))),
        false => Box::new(stream),
    };
    let mut first = Vec::new();
    // Lines before those that are read.
    let mut blank = 0;
    while stream.read_until(b'\n', &mut first).map_err(damaged)? > 0 {
        if blank == 0 {
            first.drain(..first.len() - without_mark(&first).len());
        }
        if !first.trim_ascii().is_empty() {
            break;
        }
        blank += 1;
        first.clear();
    }
    if [&b"/*"[..], b"//"].iter().any(|comment| first.starts_with(comment)) {
        return Err(
            "it begins with a comment, as a C header or a memory image does: these are written, not read".to_owned()
        );
    }
    let separator = csv::separator(&first);
    let begins_with = first.trim_ascii().first().copied();
    let mut stream = Cursor::new(first).chain(stream);
    let progress = |verifier: &mut Verifier<'_>| verifier.progress(read.get(), size);
    if begins_with == Some(b'[') {
        return json_array::read(stream, options, verifier, progress).map_err(damaged);
    }
    if let Some(separator) = separator {
        return csv::read(stream, separator, blank, options, verifier, progress);
    }
    let is_testfloat = begins_with != Some(b'{');
    let mut errors = testfloat::Lines::default();
    let mut line = Vec::new();
    let mut row = blank;
    loop {
        line.clear();
        let got = stream.read_until(b'\n', &mut line).map_err(damaged)?;
        if got == 0 {
            break;
        }
        row += 1;
        if row % 4096 == 0 {
            progress(verifier);
        }
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            continue;
        }
        let (row, outcome) = if is_testfloat {
            let Some((row, line)) = errors.push(row, &line) else { continue };
            (row, testfloat::line(line.trim_ascii(), row, options, verifier)?)
        } else {
            (row, jsonl::line(trimmed, row, options, verifier))
        };
        if let Err(problem) = outcome {
            verifier.bad(row, &problem);
        }
    }
    if let Some((row, line)) = errors.finish()
        && let Err(problem) = testfloat::line(line.trim_ascii(), row, options, verifier)?
    {
        verifier.bad(row, &problem);
    }
    Ok(())
}

/// Counts what is read.
struct Counted<R> {
    stream: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let got = self.stream.read(bytes)?;
        self.read.set(self.read.get() + got as u64);
        Ok(got)
    }
}

/// What is wrong with a file's contents.
fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A value as a file holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bits<'a> {
    Integer(u64),
    Hex(&'a str),
}

impl Bits<'_> {
    /// The value of a column of an instruction.
    fn value(self, tested: &InstructionUnderTest, column: usize) -> Result<Value, String> {
        let (format, components) = (tested.format(column), tested.components());
        let value = match self {
            Bits::Integer(bits) => unpack(format, components, bits),
            Bits::Hex(digits) => parse_hex(format, components, digits),
        };
        value.map_err(|problem| format!("{}: {problem}", name(tested, column)))
    }
    fn flags(self) -> Result<u8, String> {
        let flags = match self {
            Bits::Integer(bits) => u8::try_from(bits).ok(),
            Bits::Hex(digits) => u8::from_str_radix(digits.trim_start_matches("0x"), 16).ok(),
        };
        flags.filter(|flags| *flags < 32).ok_or_else(|| "flags: expected five bits as TestFloat has them".to_owned())
    }
}

/// What the columns of operands are called.
static OPERANDS: [&str; 3] = ["a", "b", "c"];
/// What the columns of a matrix multiply-add's scales are called.
static SCALES: [&str; 2] = ["sa", "sb"];

/// The column that a name which is none may be meant for: the same in other letters, or but for a slip.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    // Of a letter or two every other one would be a slip.
    let edits = match name.len() {
        0..=3 => 0,
        4..=6 => 1,
        _ => 2,
    };
    roundonce::isa::nearest(name, columns::COLUMNS.into_iter(), edits)
}

/// What a row is about: the instruction that it names, or that all rows are about, on the machine that it names.
fn known(
    instruction: Option<&str>,
    arch: Option<&str>,
    options: &Options,
    verifier: &mut Verifier<'_>,
) -> Result<Known, String> {
    let spelling = match (instruction, &options.instruction) {
        (Some(spelling), _) => spelling,
        (None, Some(tested)) if arch.is_none() => return Ok(Known::Scalar(verifier.index_or_add(tested))),
        (None, Some(tested)) => &tested.spelling,
        (None, None) => return Err("instruction: the row names none".to_owned()),
    };
    match arch {
        Some(arch) if spelling.rsplit_once('@').is_none_or(|(_, machine)| machine != arch) => {
            verifier.index_of(&format!("{spelling}@{arch}"))
        }
        _ => verifier.index_of(spelling),
    }
}

/// What a column of an instruction is called.
fn name(tested: &InstructionUnderTest, column: usize) -> &'static str {
    if column < tested.arity() { OPERANDS[column] } else { "d" }
}
