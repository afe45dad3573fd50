//! Apache Parquet: a flat table. Integers are taken as bits, floats and half floats as the bits of their own
//! format, strings as hex digits.
//!
//! Source: Apache Parquet format, types and encodings.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, ByteArray, ByteArrayType, DataType, FixedLenByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnDescPtr;
use roundonce::arith::{Elements, Format};

use super::columns::{COLUMNS, Cells, Column, Meaning, Part, check};
use super::{OPERANDS, Options, invalid, text};
use crate::block::{Block, Vector, pack};
use crate::generate::Generated;
use crate::instruction::InstructionUnderTest;
use crate::verify::Verifier;

pub(super) fn read_file(file: File, options: &Options, verifier: &mut Verifier<'_>) -> io::Result<()> {
    read(file, options, verifier).map_err(invalid)
}

pub(super) fn read_bytes(bytes: Vec<u8>, options: &Options, verifier: &mut Verifier<'_>) -> io::Result<()> {
    read(bytes::Bytes::from(bytes), options, verifier).map_err(invalid)
}

fn read<R: ChunkReader + 'static>(file: R, options: &Options, verifier: &mut Verifier<'_>) -> Result<(), String> {
    let file = SerializedFileReader::new(file).map_err(text)?;
    let metadata = file.metadata();
    let total = metadata.file_metadata().num_rows().max(0) as u64;
    let schema = metadata.file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    check(&names, options, verifier)?;
    let mut done = 0;
    for index in 0..file.num_row_groups() {
        let group = file.get_row_group(index).map_err(text)?;
        let open = |name: &str| -> Result<Option<Open>, String> {
            let Some(at) = names.iter().position(|known| known == name) else { return Ok(None) };
            let column = schema.column(at);
            if column.max_rep_level() > 0 || column.max_def_level() > 1 {
                return Err(format!("{name}: a nested column, expected a flat one"));
            }
            let reader = group.get_column_reader(at).map_err(text)?;
            Ok(Some(Open { name: name.to_owned(), reader, column }))
        };
        let mut opened = [const { None }; COLUMNS.len()];
        for (opened, name) in opened.iter_mut().zip(COLUMNS) {
            *opened = open(name)?;
        }
        let mut left = group.metadata().num_rows().max(0) as u64;
        while left > 0 {
            let count = left.min(Block::capacity(1) as u64) as usize;
            let mut columns = [const { None }; COLUMNS.len()];
            for (column, opened) in columns.iter_mut().zip(&mut opened) {
                *column = opened.as_mut().map(|opened| opened.next(count)).transpose()?;
            }
            Part { first: done + 1, count, columns }.judge(options, verifier);
            left -= count as u64;
            done += count as u64;
            verifier.progress(done, Some(total));
        }
    }
    Ok(())
}

/// A column of a row group as it is read.
struct Open {
    name: String,
    reader: ColumnReader,
    column: ColumnDescPtr,
}

/// The values that are there, and which rows have one.
type Values<T> = (Vec<T>, Option<Vec<bool>>);

impl Open {
    /// The next values.
    fn next(&mut self, count: usize) -> Result<Column, String> {
        let optional = self.column.max_def_level() > 0;
        let logical = self.column.logical_type_ref();
        let is_unsigned = matches!(logical, Some(LogicalType::Integer(integer)) if !integer.is_signed);
        // 64 bits are all that a value can have: their sign is one of them.
        let of_32 = if is_unsigned { Meaning::Unsigned } else { Meaning::Signed(32) };
        let of_16 =
            if logical == Some(&LogicalType::Float16) { Meaning::Float(Format::F16) } else { Meaning::Opaque(16) };
        let (f32s, f64s) = (Meaning::Float(Format::F32), Meaning::Float(Format::F64));
        let narrow = |bits, meaning| Cells::Integers(Elements::U32(bits), meaning);
        let wide = |bits, meaning| Cells::Integers(Elements::U64(bits), meaning);
        let column = match &mut self.reader {
            ColumnReader::Int32ColumnReader(reader) => next(reader, count, optional)
                .map(|values| expanded(values, |bits| *bits as u32, |bits| narrow(bits, of_32))),
            ColumnReader::Int64ColumnReader(reader) => next(reader, count, optional)
                .map(|values| expanded(values, |bits| *bits as u64, |bits| wide(bits, Meaning::Unsigned))),
            ColumnReader::FloatColumnReader(reader) => next(reader, count, optional)
                .map(|values| expanded(values, |value| value.to_bits(), |bits| narrow(bits, f32s))),
            ColumnReader::DoubleColumnReader(reader) => next(reader, count, optional)
                .map(|values| expanded(values, |value| value.to_bits(), |bits| wide(bits, f64s))),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => half(reader, count, optional, of_16),
            ColumnReader::ByteArrayColumnReader(reader) => next(reader, count, optional).map(texts),
            _ => Err("its type is not supported: expected integers, floats or strings".to_owned()),
        };
        column.map_err(|problem| format!("{}: {problem}", self.name))
    }
}

/// Strings; one where all are the same.
fn texts(values: Values<ByteArray>) -> Column {
    let string = |bytes: &ByteArray| String::from_utf8_lossy(bytes.as_bytes()).into_owned();
    // Values of a dictionary share their bytes: one look tells most of them alike.
    let same = |a: &ByteArray, b: &ByteArray| (a.data().as_ptr() == b.data().as_ptr() && a.len() == b.len()) || a == b;
    match values.0.first() {
        Some(first) if values.1.is_none() && values.0.iter().all(|text| same(first, text)) => {
            Column { cells: Cells::Text(string(first)), present: None }
        }
        _ => expanded(values, string, Cells::Texts),
    }
}

/// The next values of a column.
fn next<T: DataType>(reader: &mut ColumnReaderImpl<T>, count: usize, optional: bool) -> Result<Values<T::T>, String> {
    let mut values = Vec::with_capacity(count);
    let mut levels = Vec::new();
    let mut read = 0;
    while read < count {
        let (records, ..) =
            reader.read_records(count - read, optional.then_some(&mut levels), None, &mut values).map_err(text)?;
        if records == 0 {
            return Err(format!("it is cut short: {read} values of {count}"));
        }
        read += records;
    }
    let all_there = values.len() == count;
    Ok((values, (!all_there).then(|| levels.iter().map(|level| *level > 0).collect())))
}

/// One cell a row, whatever stands where nothing is there.
fn expanded<V, T: Default + Clone>(
    (values, present): Values<V>,
    cell: impl Fn(&V) -> T,
    cells: impl Fn(Vec<T>) -> Cells,
) -> Column {
    let all = match &present {
        None => values.iter().map(cell).collect(),
        Some(present) => {
            let mut values = values.iter();
            present
                .iter()
                .map(|&there| if there { values.next().map(&cell) } else { None }.unwrap_or_default())
                .collect()
        }
    };
    Column { cells: cells(all), present }
}

/// Half floats: two bytes each.
fn half(
    reader: &mut ColumnReaderImpl<FixedLenByteArrayType>,
    count: usize,
    optional: bool,
    meaning: Meaning,
) -> Result<Column, String> {
    let (values, present) = next(reader, count, optional)?;
    if let Some(other) = values.iter().find(|value| value.len() != 2) {
        return Err(format!("values of {} bytes: expected half floats of 2", other.len()));
    }
    let bits = |value: &parquet::data_type::FixedLenByteArray| {
        value.as_bytes().iter().rev().fold(0, |bits: u16, byte| bits << 8 | u16::from(*byte))
    };
    Ok(expanded((values, present), bits, |bits| Cells::Integers(Elements::U16(bits), meaning)))
}

/// Rows of a group: some megabytes a column.
const ROWS_OF_A_GROUP: usize = 1 << 20;

/// A column as it is written.
struct Written {
    name: &'static str,
    /// The widest value; of more than 64 bits they are hex strings.
    width: u32,
    /// Which column of an instruction it is, operands first.
    of: fn(&InstructionUnderTest) -> Option<usize>,
    optional: bool,
}

pub(super) fn write(vectors: &Generated, file: &mut File) -> io::Result<()> {
    const COLUMNS: [fn(&InstructionUnderTest) -> Option<usize>; 4] =
        [|_| Some(0), |_| Some(1), |tested| (tested.arity() > 2).then_some(2), |tested| Some(tested.arity())];
    let columns = OPERANDS.into_iter().chain(["d"]).zip(COLUMNS).map(|(name, of)| {
        let widths = vectors.instructions().iter().filter_map(|tested| Some(tested.width(of(tested)?)));
        let optional = vectors.instructions().iter().any(|tested| of(tested).is_none());
        Written { name, width: widths.max().unwrap_or(32), of, optional }
    });
    let columns: Vec<Written> = columns.collect();
    let mut schema = "message vectors { required binary instruction (UTF8);".to_owned();
    for Written { name, width, optional, .. } in &columns {
        let repetition = if *optional { "optional" } else { "required" };
        schema.push_str(&match width {
            ..=32 => format!(" {repetition} int32 {name} (INTEGER({},false));", width.next_power_of_two().max(8)),
            33..=64 => format!(" {repetition} int64 {name} (INTEGER(64,false));"),
            _ => format!(" {repetition} binary {name} (UTF8);"),
        });
    }
    schema.push_str(" required int32 flags (INTEGER(8,false)); }");
    let schema = Arc::new(parse_message_type(&schema)?);
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer = SerializedFileWriter::new(file, schema, properties)?;
    let mut rows = vectors.iter();
    loop {
        let rows: Vec<(&InstructionUnderTest, Vector)> = rows.by_ref().take(ROWS_OF_A_GROUP).collect();
        if rows.is_empty() {
            break;
        }
        let mut group = writer.next_row_group()?;
        let names: Vec<ByteArray> = rows.iter().map(|(tested, _)| tested.spelling.as_str().into()).collect();
        put::<ByteArrayType>(&mut group, &names, None)?;
        columns.iter().try_for_each(|column| column.write(&mut group, &rows))?;
        let flags: Vec<i32> = rows.iter().map(|(_, vector)| vector.flags.unwrap_or(0).into()).collect();
        put::<Int32Type>(&mut group, &flags, None)?;
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

impl Written {
    fn write(
        &self,
        group: &mut SerializedRowGroupWriter<'_, &mut File>,
        rows: &[(&InstructionUnderTest, Vector)],
    ) -> io::Result<()> {
        let values = rows.iter().filter_map(|(tested, vector)| {
            let at = (self.of)(tested)?;
            Some((tested.format(at), *vector.operands.get(at).unwrap_or(&vector.result)))
        });
        let levels: Vec<i16> = rows.iter().map(|(tested, _)| (self.of)(tested).is_some().into()).collect();
        let levels = self.optional.then_some(levels.as_slice());
        match self.width {
            ..=32 => {
                let all: Vec<i32> = values.map(|(format, value)| pack(format, &value) as i32).collect();
                put::<Int32Type>(group, &all, levels)
            }
            33..=64 => {
                let all: Vec<i64> = values.map(|(format, value)| pack(format, &value) as i64).collect();
                put::<Int64Type>(group, &all, levels)
            }
            _ => {
                let all: Vec<ByteArray> = values.map(|(format, value)| value.hex(format).as_str().into()).collect();
                put::<ByteArrayType>(group, &all, levels)
            }
        }
    }
}

/// Writes the next column of a row group.
fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut File>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> io::Result<()> {
    let mut column = group.next_column()?.ok_or_else(|| io::Error::other("no column is left"))?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()?;
    Ok(())
}
