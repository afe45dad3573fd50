//! What other people's files look like: types, missing values, rows that cannot be read.

mod common;

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use common::{Bad, of, verified};
use parquet::basic::Compression;
use parquet::data_type::{ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use roundonce_vectors::{Options, Report, verify_stream};

fn verified_with_bad(bytes: &[u8], options: &Options) -> (Report, Vec<(u64, String)>) {
    let mut bad = Bad::default();
    let report = verify_stream(bytes, options, &mut bad).unwrap();
    assert_eq!(report.bad, bad.0.len() as u64);
    (report, bad.0)
}

fn refusal(bytes: &[u8]) -> String {
    verify_stream(bytes, &Options::default(), &mut Bad::default()).unwrap_err().to_string()
}

/// 1 + 2^-23 squared, minus 1 + 2^-22.
const RIGHT: &str = r#""a":"0x3f800001","b":1065353217,"c":"bf800002","d":"28800000""#;

#[test]
fn json_rows_that_cannot_be_read() {
    let rows = [
        format!("{{\"instruction\":\"fma.rn.f32\",{RIGHT}}}"),
        format!("{{\"instruction\":\"fma.rn.f32\",{RIGHT},\"flags\":\"00\",\"who\":[1,{{}}]}}"),
        format!("{{\"instruction\":\"fma.f32\",{RIGHT}}}"),
        format!("{{{RIGHT}}}"),
        "{\"instruction\":\"fma.rn.f32\",\"a\":1,\"b\":2,\"c\":3}".to_owned(),
        "{\"instruction\":\"fma.rn.f32\",\"a\":4294967296,\"b\":2,\"c\":3,\"d\":4}".to_owned(),
        "{\"instruction\":\"fma.rn.f32\",\"a\":1.5,\"b\":2,\"c\":3,\"d\":4}".to_owned(),
        "{\"instruction\":\"fma.rn.f32\",\"a\":\"1.5\",\"b\":2,\"c\":3,\"d\":4}".to_owned(),
        format!("{{\"instruction\":\"fma.rn.f32\",{RIGHT},\"flags\":99}}"),
        "{\"instruction\":".to_owned(),
        String::new(),
        "{\"instruction\":\"add.f32\",\"a\":0,\"b\":0,\"c\":null,\"d\":0}".to_owned(),
    ];
    let (report, bad) = verified_with_bad(rows.join("\n").as_bytes(), &Options::default());
    assert_eq!((report.vectors, report.failed), (3, 0), "{}", report.lines().join("\n"));
    let expected = [
        (
            3,
            "`fma.f32` lacks one of .rn .rz .rm .rp: the form is `fma.rnd{.ftz}{.sat}.f32` (PTX ISA, 9.7.3.6 fma) [FORM0002]",
        ),
        (4, "instruction: the row names none"),
        (5, "d: nothing is there"),
        (6, "a: 0x100000000 does not fit: it has 33 bits, expected 32"),
        (7, "column 35: invalid type: floating point `1.5`, expected a string of hex digits or an unsigned integer"),
        (8, "a: `1.5` is no value: expected 8 hex digits"),
        (9, "flags: expected five bits as TestFloat has them"),
        (10, "the JSON object ends too early"),
    ];
    let bad: Vec<(u64, &str)> = bad.iter().map(|(row, problem)| (*row, problem.as_str())).collect();
    assert_eq!(bad, expected);
}

#[test]
fn testfloat_rows_that_cannot_be_read() {
    let text = "3f800001 3f800001 bf800002 28800000 00\n00000001 00000002 00000003\n00000001 00000002 00000003 00000004 0 6\nxyz 1 2 3\n\n3f800001 3f800001 bf800002 28800000\n";
    let (report, bad) = verified_with_bad(text.as_bytes(), &of("fma.rn.f32"));
    assert_eq!((report.vectors, report.failed), (2, 0));
    let expected = [
        (2, "expected 3 operands, a result and flags".to_owned()),
        (3, "`6` is one too many: expected 3 operands, a result and flags".to_owned()),
        (4, "a: `xyz` is no value: expected 8 hex digits".to_owned()),
    ];
    assert_eq!(bad, expected);
    assert_eq!(refusal(text.as_bytes()), "TestFloat's text names no instruction: say which with --instruction");
}

#[test]
fn files_that_cannot_be_read() {
    assert!(refusal(b"PAR1nothing").contains("Parquet"), "{}", refusal(b"PAR1nothing"));
    assert!(refusal(b"PK\x03\x04nothing").contains("invalid Zip"), "{}", refusal(b"PK\x03\x04nothing"));
    assert!(refusal(b"\x1f\x8bnothing").contains("cut short"), "{}", refusal(b"\x1f\x8bnothing"));
    let nothing = verified(b"", &Options::default());
    assert_eq!(nothing.lines(), ["0 vectors verified"]);
    // Nothing was verified, so that nothing is known to be right.
    assert!(!nothing.is_clean());
}

/// The first line that is not blank says what a text is; rows are lines, blank ones among them. A byte order mark is before all.
#[test]
fn blank_lines_first() {
    let values = ["0x3f800001", "0x3f800001", "0xbf800002", "0x28800001"];
    let csv = format!("instruction,a,b,c,d\nfma.rn.f32,{}\n", values.join(","));
    let json = format!("{{\"instruction\":\"fma.rn.f32\",{RIGHT}}}\n").replace("28800000", "28800001");
    let testfloat = "3f800001 3f800001 bf800002 28800001\n".to_owned();
    for blank in ["", "\n", "\r\n \t\r\n\n", "\u{feff}", "\u{feff}\n\n"] {
        let lines = blank.matches('\n').count() as u64;
        for (text, row) in [(&csv, 2), (&json, 1), (&testfloat, 1)] {
            let report = verified(format!("{blank}{text}").as_bytes(), &of("fma.rn.f32"));
            assert_eq!(report.failed, 1, "{blank:?} {text}");
            assert_eq!(report.causes[0].first.row, lines + row, "{blank:?} {text}");
        }
    }
    let commented = "\n\n/* Operands */\n";
    assert!(refusal(commented.as_bytes()).contains("these are written, not read"));
}

/// Where a comma is a decimal point, spreadsheets separate by `;`.
#[test]
fn csv_with_semicolons() {
    let text = "instruction;a;b;c;d;note, of ours\n\
        fma.rn.f32;0x3f800001;1065353217;\"0xbf800002\";0x28800000;one, two\n\
        fma.rn.f32;0x3f800001;1065353217;;0x28800000;1,5\n";
    let (report, bad) = verified_with_bad(text.as_bytes(), &Options::default());
    assert_eq!((report.vectors, report.failed), (1, 0));
    assert_eq!(bad, [(3, "c: nothing is there".to_owned())]);
}

/// Rows in one array, as `json.dump` writes a list: on one line or on many. Its elements are the rows.
#[test]
fn a_json_array() {
    let row = format!("{{\"instruction\":\"fma.rn.f32\",{RIGHT}}}");
    let other =
        format!("{{\"note\":\"}},]\\\\\\\"[\",\"more\":[[1],{{\"a\":2}}],\"instruction\":\"fma.rn.f32\",{RIGHT}}}");
    let wrong = other.replace("28800000", "28800001");
    let spread = wrong.replace(",\"", ",\n\r\t \"");
    for text in [
        format!("[{row},{other},{wrong}]"),
        format!("\u{feff}\n [\n  {row} ,\n{other}\n,\n{spread}\n]\n\n"),
        format!("[{},{other},{wrong}]", " ".repeat(200_000) + &row),
    ] {
        let report = verified(text.as_bytes(), &Options::default());
        assert_eq!((report.vectors, report.failed, report.causes[0].first.row), (3, 1, 3), "{text}");
    }
    assert_eq!(verified(b"[ \n]", &Options::default()).vectors, 0);

    let of_bad = |text: String| verified_with_bad(text.as_bytes(), &Options::default()).1;
    let early = "the JSON array ends too early";
    for (text, problem) in [
        (format!("[{row},1.5]"), (2, "expected a JSON object with instruction, a, b, c, d and flags")),
        (format!("[{row},]"), (2, "expected a JSON object with instruction, a, b, c, d and flags")),
        (
            format!("[{row},{{\n\n\"a\":-1}}]"),
            (2, "column 9: invalid type: integer `-1`, expected a string of hex digits or an unsigned integer"),
        ),
        (format!("[{row}"), (1, early)),
        (format!("[{row},{}", &row[..20]), (2, early)),
        (format!("[{row},{{\"a\":\"]"), (2, early)),
        (format!("[{row}]\n{row}"), (2, "something stands behind the array: expected the end of the file")),
        ("[".to_owned(), (1, early)),
    ] {
        assert_eq!(of_bad(text.clone()), [(problem.0, problem.1.to_owned())], "{text}");
    }
}

type Group<'a, 'f> = SerializedRowGroupWriter<'a, &'f mut File>;
/// Writes the next column.
type Write<'a> = &'a dyn Fn(&mut Group<'_, '_>);

/// A table as its columns' writers make it.
fn parquet(schema: &str, columns: &[Write<'_>]) -> Vec<u8> {
    compressed(Compression::UNCOMPRESSED, schema, columns)
}

fn compressed(compression: Compression, schema: &str, columns: &[Write<'_>]) -> Vec<u8> {
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let schema = Arc::new(parse_message_type(&format!("message m {{ {schema} }}")).unwrap());
    let mut writer = SerializedFileWriter::new(file.as_file_mut(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    columns.iter().for_each(|column| column(&mut group));
    group.close().unwrap();
    writer.close().unwrap();
    std::fs::read(file.path()).unwrap()
}

fn put<T: DataType>(group: &mut Group<'_, '_>, values: &[T::T], levels: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

/// Optional columns, as other programs write them, with a row that lacks its result and one that lacks its name.
#[test]
fn parquet_with_gaps() {
    let schema =
        "optional binary instruction (UTF8); optional int32 a; optional int32 b; optional int32 c; optional int32 d;";
    let ints = |values: &'static [u32], levels: &'static [i16]| {
        move |group: &mut Group<'_, '_>| {
            let values: Vec<i32> = values.iter().map(|bits| *bits as i32).collect();
            put::<Int32Type>(group, &values, Some(levels));
        }
    };
    let name = |group: &mut Group<'_, '_>| {
        put::<ByteArrayType>(group, &["fma.rn.f32".into(), "fma.rn.f32".into(), "nop".into()], Some(&[1, 1, 0, 1]));
    };
    let bytes = parquet(
        schema,
        &[
            &name,
            &ints(&[0x3f80_0001; 4], &[1; 4]),
            &ints(&[0x3f80_0001; 4], &[1; 4]),
            &ints(&[0xbf80_0002; 4], &[1; 4]),
            &ints(&[0x2880_0000; 3], &[1, 0, 1, 1]),
        ],
    );
    let (report, bad) = verified_with_bad(&bytes, &Options::default());
    assert_eq!((report.vectors, report.failed), (1, 0));
    let problems: Vec<(u64, &str)> =
        bad.iter().map(|(row, problem)| (*row, &problem[..28.min(problem.len())])).collect();
    let expected =
        [(2, "d: nothing is there"), (3, "instruction: the row names n"), (4, "there is no instruction `nop")];
    assert_eq!(problems, expected);
}

/// As pandas, Arrow and Spark compress them.
#[test]
fn parquet_of_every_compression() {
    let (gzip, zstd) = (Compression::GZIP(Default::default()), Compression::ZSTD(Default::default()));
    let all = [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, zstd, Compression::LZ4, Compression::LZ4_RAW];
    for compression in all {
        let column = |bits: u32| move |group: &mut Group<'_, '_>| put::<Int32Type>(group, &[bits as i32; 1000], None);
        let name = |group: &mut Group<'_, '_>| put::<ByteArrayType>(group, &vec!["fma.rn.f32".into(); 1000], None);
        let bytes = compressed(
            compression,
            "required binary instruction (UTF8); required int32 a; required int32 b; required int32 c; required int32 d;",
            &[&name, &column(0x3f80_0001), &column(0x3f80_0001), &column(0xbf80_0002), &column(0x2880_0000)],
        );
        let report = verified(&bytes, &Options::default());
        assert_eq!((report.vectors, report.failed), (1000, 0), "{compression:?}");
    }
}

/// Results as floats, as a data frame has them.
#[test]
fn parquet_of_floats() {
    let f32s =
        |bits: [u32; 2]| move |group: &mut Group<'_, '_>| put::<FloatType>(group, &bits.map(f32::from_bits), None);
    let schema = "required float a; required float b; required float c; required float d;";
    let bytes = parquet(
        schema,
        &[&f32s([0x3f80_0001; 2]), &f32s([0x3f80_0001; 2]), &f32s([0xbf80_0002; 2]), &f32s([0x2880_0000, 0])],
    );
    let report = verified(&bytes, &of("fma.rn.f32"));
    assert_eq!((report.vectors, report.failed), (2, 1));
    assert_eq!(report.causes[0].first.row, 2);

    let f64s = |value: f64| move |group: &mut Group<'_, '_>| put::<DoubleType>(group, &[value], None);
    let schema = "required double a; required double b; required double c; required double d;";
    let bytes = parquet(schema, &[&f64s(3.0), &f64s(5.0), &f64s(-1.0), &f64s(14.0)]);
    assert_eq!(verified(&bytes, &of("fma.rn.f64")).lines(), ["fma.rn.f64: 1 vector, as expected"]);

    let halves = |bits: u16| {
        move |group: &mut Group<'_, '_>| {
            let bytes = parquet::data_type::ByteArray::from(bits.to_le_bytes().to_vec());
            put::<FixedLenByteArrayType>(group, &[bytes.into()], None);
        }
    };
    let half = |name: &str| format!("required fixed_len_byte_array(2) {name} (FLOAT16);");
    let bytes = parquet(
        &["a", "b", "c", "d"].map(half).concat(),
        &[&halves(0x3c01), &halves(0x3c01), &halves(0xbc02), &halves(0x0010)],
    );
    let report = verified(&bytes, &of("f16_mulAdd"));
    assert_eq!(report.lines(), ["f16_mulAdd: 1 vector, as expected"]);
}

/// Sixty-four bits hold a packed value; one that has more bits than the instruction is a bad row.
#[test]
fn parquet_of_wide_integers() {
    let column =
        |bits: [u64; 2]| move |group: &mut Group<'_, '_>| put::<Int64Type>(group, &bits.map(|it| it as i64), None);
    let schema = "required int64 a; required int64 b; required int64 c; required int64 d;";
    let one = 0x3f80_0001_3f80_0001;
    let bytes = parquet(
        schema,
        &[
            &column([one; 2]),
            &column([one; 2]),
            &column([0xbf80_0002_0000_0000; 2]),
            &column([0x2880_0000_3f80_0002; 2]),
        ],
    );
    assert_eq!(verified(&bytes, &of("fma.rn.f32x2")).lines(), ["fma.rn.f32x2: 2 vectors, as expected"]);

    let bytes = parquet(schema, &[&column([0, 1 << 32]), &column([0; 2]), &column([0; 2]), &column([0; 2])]);
    let (report, bad) = verified_with_bad(&bytes, &of("fma.rn.f32"));
    assert_eq!((report.vectors, report.failed), (1, 0));
    assert_eq!(bad, [(2, "a: 0x100000000 does not fit: it has 33 bits, expected 32".to_owned())]);
}

#[test]
fn columns_that_are_not_there() {
    assert_eq!(refusal(b"instruction,a,b,c,d,d\n"), "there are several columns `d`: expected one");
    let column = |group: &mut Group<'_, '_>| put::<Int32Type>(group, &[0], None);
    let bytes = parquet("required int32 a; required int32 b;", &[&column, &column]);
    assert_eq!(refusal(&bytes), "there is no column `d`: found a, b");
    let bytes = parquet("required int32 a; required int32 b; required int32 d;", &[&column, &column, &column]);
    assert_eq!(refusal(&bytes), "there is no column `instruction`: say which with --instruction");
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let text = format!("{text:width$}\n", width = (10 + text.len() + 1).next_multiple_of(64) - 11);
    [b"\x93NUMPY\x01\x00".as_slice(), &(text.len() as u16).to_le_bytes(), text.as_bytes(), data].concat()
}

fn packed(arrays: &[(&str, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// As savez_compressed does it.
fn archive(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    packed(arrays, zip::CompressionMethod::Deflated)
}

/// Arrays as NumPy saves them: floats, a single value for all rows, strings.
#[test]
fn npz() {
    let f32s = |bits: &[u32]| bits.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<u8>>();
    let names: Vec<u8> = b"fma.rn.f32fma.rz.f32nop\0\0\0\0\0\0\0".to_vec();
    let mut arrays = vec![
        ("instruction", npy("|S10", "(3,)", &names)),
        ("a", npy("<f4", "()", &f32s(&[0x3f80_0001]))),
        ("b", npy("<f4", "(3,)", &f32s(&[0x3f80_0001; 3]))),
        ("c", npy("<u4", "(3,)", &f32s(&[0xbf80_0002; 3]))),
        ("d", npy("<i4", "(3,)", &f32s(&[0x2880_0000; 3]))),
    ];
    let (report, bad) = verified_with_bad(&archive(&arrays), &Options::default());
    assert_eq!(report.lines()[..2], ["fma.rn.f32: 1 vector, as expected", "fma.rz.f32: 1 vector, as expected"]);
    assert_eq!(bad.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [3]);

    // A bit that is not the archive's any more is no finding about an instruction, in an array or in a single value.
    for bits in [0x2880_0000, 0x3f80_0001_u32] {
        let mut stored = packed(&arrays, zip::CompressionMethod::Stored);
        let place = stored.windows(4).position(|bytes| bytes == bits.to_le_bytes()).unwrap();
        stored[place] ^= 0x10;
        assert!(refusal(&stored).contains(".npy: it is damaged: "), "{}", refusal(&stored));
    }
    let right = std::mem::replace(&mut arrays[4].1, npy("<i4", "(3,)", &f32s(&[0x2880_0000; 4])));
    assert_eq!(refusal(&archive(&arrays)), "d.npy: it goes on behind its last element");
    arrays[4].1 = right;

    arrays[4].1 = npy("<u4", "(2,)", &f32s(&[0; 2]));
    assert_eq!(refusal(&archive(&arrays)), "the arrays are of unlike length: 3 and 2");
    arrays[4].1 = npy(">u4", "(3,)", &f32s(&[0; 3]));
    assert_eq!(refusal(&archive(&arrays)), "d.npy: its elements are big-endian (>u4): expected little-endian ones");
    arrays[4].1 = npy("<u4", "(3,)", &f32s(&[0; 2]));
    assert!(refusal(&archive(&arrays)).starts_with("d.npy: it is cut short"), "{}", refusal(&archive(&arrays)));
    for lengths in ["4294967296, 4294967296", "18446744073709551616,", "9223372036854775808, 2, 0"] {
        arrays[4].1 = npy("<u4", &format!("({lengths})"), &[]);
        assert_eq!(refusal(&archive(&arrays)), format!("d.npy: no array has the shape ({lengths})"));
    }
    let mut lies = npy("<u4", "(3,)", &[]);
    lies.splice(6..10, [2, 0, 0xff, 0xff, 0xff, 0xff]);
    arrays[4].1 = lies;
    assert!(refusal(&archive(&arrays)).starts_with("d.npy: "), "{}", refusal(&archive(&arrays)));
    arrays.pop();
    assert_eq!(refusal(&archive(&arrays)), "there is no column `d`: found instruction, a, b, c");
}

/// 1 × 1 + 1 = 2 in arrays of another type than the operand's: no verdict about the instruction.
#[test]
fn npz_of_another_format() {
    let all = |spelling: &str, descr: &str, one: &[u8], two: &[u8]| {
        let operand = |name| (name, npy(descr, "(1,)", one));
        let name = npy(&format!("|S{}", spelling.len()), "()", spelling.as_bytes());
        let arrays = [("instruction", name), operand("a"), operand("b"), operand("c"), ("d", npy(descr, "(1,)", two))];
        verified_with_bad(&archive(&arrays), &Options::default())
    };
    let (half, two_halves) = (0x3c00_u16.to_le_bytes(), 0x4000_u16.to_le_bytes());
    let (single, double) = (1.0_f32.to_le_bytes(), 1.0_f64.to_le_bytes());
    for (spelling, descr, one, problem) in [
        ("fma.rn.f64", "<f4", &single[..], "a: expected bits of f64, found floats of f32"),
        ("fma.rn.f32", "<f2", &half, "a: expected bits of f32, found floats of f16"),
        ("fma.rn.f32", "<f8", &double, "a: expected bits of f32, found floats of f64"),
        ("fma.rn.bf16", "<f2", &half, "a: expected bits of bf16, found floats of f16"),
        ("fma.rn.f32x2", "<f8", &double, "a: expected bits of 2 × f32, found floats of f64"),
        ("fma.rn.f32", "|V2", &half, "a: expected bits of f32, found 16 bits of another type"),
        ("fma.rn.f32", "<i2", &[0xff; 2], "a: expected bits of f32, found a negative number of 16 bits"),
    ] {
        let (report, bad) = all(spelling, descr, one, one);
        assert_eq!((report.vectors, bad), (0, vec![(1, problem.to_owned())]), "{spelling} {descr}");
    }
    let bf16 = (0x3f80_u16.to_le_bytes(), 0x4000_u16.to_le_bytes());
    for (spelling, descr, one, two) in [
        ("fma.rn.f16", "<f2", &half[..], &two_halves[..]),
        ("fma.rn.bf16", "|V2", &bf16.0, &bf16.1),
        ("fma.rn.bf16", "<i2", &bf16.0, &bf16.1),
        ("fma.rn.f32", "<i8", &0x3f80_0000_u64.to_le_bytes(), &0x4000_0000_u64.to_le_bytes()),
        ("fma.rn.f64", "<f8", &double, &2.0_f64.to_le_bytes()),
    ] {
        let (report, bad) = all(spelling, descr, one, two);
        assert_eq!((report.vectors, report.failed, bad.len()), (1, 0, 0), "{spelling} {descr}");
    }
}

/// The same in Parquet.
#[test]
fn parquet_of_another_format() {
    let schema = |of: &str| ["a", "b", "c", "d"].map(|name| format!("required {of} {name};")).concat();
    let single = |group: &mut Group<'_, '_>| put::<FloatType>(group, &[1.0], None);
    let negative = |group: &mut Group<'_, '_>| put::<Int32Type>(group, &[-1], None);
    for (of_column, column, problem) in [
        ("float", &single as Write<'_>, "a: expected bits of f64, found floats of f32"),
        ("int32", &negative, "a: expected bits of f64, found a negative number of 32 bits"),
    ] {
        let bytes = parquet(&schema(of_column), &[column; 4]);
        let (report, bad) = verified_with_bad(&bytes, &of("fma.rn.f64"));
        assert_eq!((report.vectors, bad), (0, vec![(1, problem.to_owned())]));
    }
}

/// Rows of CSV are lines, however lines end; a row of several lines is the first of them.
#[test]
fn rows_of_csv() {
    let good = "fma.rn.f32,0x3f800000,0x3f800000,0x3f800000,0x40000000,0";
    let wrong = "fma.rn.f32,0x3f800000,0x3f800000,0x3f800000,0x40000001,0";
    let lines = [
        "instruction,a,b,c,d,flags", // 1
        good,
        "",
        wrong, // 4
        "",
        "",
        "fma.rn.f32,zz,0x0,0x0,0x0,0", // 7
        "fma.rn.f32,\"0x0",
        "\",0x0,0x0,0x0,0",
        "fma.rn.f32,\"yy", // 10
        "\",0x0,0x0,0x0,0",
        "fma.rn.f32,xx,0x0,0x0,0x0,0", // 12
    ];
    for end in ["\n", "\r\n", "\r"] {
        for last in ["", end] {
            let text = lines.join(end) + last;
            // The first line tells what the file is.
            let text = if end == "\r" { text.replacen('\r', "\n", 1) } else { text };
            let (report, bad) = verified_with_bad(text.as_bytes(), &Options::default());
            assert_eq!((report.vectors, report.failed, report.causes[0].first.row), (3, 1, 4), "{end:?}");
            assert_eq!(bad.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [7, 10, 12], "{end:?}");
        }
    }
}

/// The machine in a column of its own: a result that sm_90 gives and sm_80 does not.
#[test]
fn the_machine_in_a_column() {
    let mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    let a = "d00000000000000000000000000000000000000000000000000000009c000000";
    let b = "70000000000000000000000000000000000000000000000000000000c0000000";
    let (c, d) = ("0x00000000", "0xc87fffff");
    let rows = [(mma, "sm_90"), (mma, "sm_80"), (&format!("{mma}@sm_90"), ""), (&format!("{mma}@sm_90"), "sm_90")];
    let text: String = rows.iter().map(|(name, arch)| format!("{name},{arch},{a},{b},{c},{d}\n")).collect();
    let csv = format!("instruction,arch,a,b,c,d\n{text}");

    let strings = |texts: &[&str]| {
        let longest = texts.iter().map(|text| text.len()).max().unwrap();
        let bytes = texts.iter().flat_map(|text| format!("{text:\0<longest$}").into_bytes()).collect::<Vec<u8>>();
        npy(&format!("|S{longest}"), &format!("({},)", texts.len()), &bytes)
    };
    let npz = archive(&[
        ("instruction", strings(&rows.map(|(name, _)| name))),
        ("arch", strings(&rows.map(|(_, arch)| arch))),
        ("a", strings(&[a; 4])),
        ("b", strings(&[b; 4])),
        ("c", npy("<f4", "(4,)", &[0; 16])),
        ("d", npy("<u4", "(4,)", &[0xff, 0xff, 0x7f, 0xc8].repeat(4))),
    ]);

    let texts = |texts: Vec<String>| {
        move |group: &mut Group<'_, '_>| {
            let texts: Vec<_> = texts.iter().map(|text| text.as_str().into()).collect();
            put::<ByteArrayType>(group, &texts, None);
        }
    };
    let same = |text: &str| texts(vec![text.to_owned(); 4]);
    let schema = ["instruction", "arch", "a", "b", "c", "d"].map(|name| format!("required binary {name} (UTF8);"));
    let [instruction, arch] = [rows.map(|row| row.0.to_owned()), rows.map(|row| row.1.to_owned())];
    let columns: [Write<'_>; 6] =
        [&texts(instruction.to_vec()), &texts(arch.to_vec()), &same(a), &same(b), &same(c), &same(d)];
    let parquet = parquet(&schema.concat(), &columns);

    for file in [csv.as_bytes(), &npz, &parquet] {
        let report = verified(file, &Options::default());
        let seen: Vec<(&str, u64, u64)> = report
            .instructions
            .iter()
            .map(|it| (it.instruction.split_once('@').unwrap().1, it.vectors, it.failed))
            .collect();
        assert_eq!(seen, [("sm_90", 3, 0), ("sm_80", 1, 1)]);
    }
}

/// Of a scalar instruction too, and the scales of a matrix multiply-add.
#[test]
fn the_machine_of_a_scalar_and_scales() {
    // sm_1x cuts the product, sm_20 rounds once.
    let values = ["0x3f800001", "0x3f800001", "0xbf800002", "0x28800000"];
    let csv = |arch: &str| format!("instruction,arch,a,b,c,d\nmad.f32,{arch},{}\n", values.join(","));
    let [a, b, c, d] = values;
    let json =
        |arch: &str| format!(r#"{{"instruction":"mad.f32","arch":"{arch}","a":"{a}","b":"{b}","c":"{c}","d":"{d}"}}"#);
    for text in [csv("sm_20"), json("sm_20")] {
        assert_eq!(verified(text.as_bytes(), &Options::default()).lines(), ["mad.f32@sm_20: 1 vector, as expected"]);
    }
    for text in [csv("sm_13"), json("sm_13")] {
        assert_eq!(verified(text.as_bytes(), &Options::default()).failed, 1);
    }
    let (_, bad) = verified_with_bad(csv("hopper").as_bytes(), &Options::default());
    assert!(bad.len() == 1 && bad[0].1.contains("hopper"), "{bad:?}");
    // Where a file names the machine and the options the instruction.
    let report = verified(csv("sm_20").replace("mad.f32", "").as_bytes(), &of("mad.f32"));
    assert_eq!(report.lines(), ["mad.f32@sm_20: 1 vector, as expected"]);

    let mma =
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0@sm_120a";
    let ones = "38".repeat(32);
    // 32 × 2 × 4.
    let csv = format!("instruction,a,b,c,d,sa,sb\n{mma},{ones},{ones},0x00000000,0x43800000,80,81\n");
    let report = verified(csv.as_bytes(), &Options::default());
    assert_eq!((report.vectors, report.failed), (1, 0), "{}", report.lines().join("\n"));
}

/// SPIR-V leaves a choice: a legal result passes and is reported, another fails.
#[test]
fn legal_results() {
    let row = |d: &str| {
        format!(
            "{{\"instruction\":\"OpFmaKHR.f32\",\"a\":\"3eaaaaab\",\"b\":\"3eaaaaab\",\"c\":\"3f800000\",\"d\":\"{d}\"}}\n"
        )
    };
    let text = [row("3f8e38e4"), row("3f8e38e3"), row("3f8e38e3")].concat();
    let report = verified(text.as_bytes(), &Options::default());
    assert!(report.is_clean());
    let expected =
        ["OpFmaKHR.f32: 3 vectors, as expected", "  2 legal though not what eval gives: the neighbour below"];
    assert_eq!(report.lines(), expected);
    let report = verified(row("3f8e38e5").as_bytes(), &Options::default());
    assert_eq!(report.failed, 1);
    assert_eq!(report.causes[0].first.expected, "0x3f8e38e3 or 0x3f8e38e4");
}

/// The vectors that are verified of a file, and what was said of columns that are not read.
fn notes(bytes: &[u8]) -> (u64, Vec<String>) {
    let mut told = Bad::default();
    let report = verify_stream(bytes, &of("fma.rn.f32"), &mut told).unwrap();
    assert_eq!((report.failed, told.0), (0, vec![]));
    (report.vectors, told.1)
}

/// Columns that are not read are told of, each once, with the one that was meant.
#[test]
fn columns_that_are_not_read() {
    let csv = "a,b,c,d,Flags,flgs,note,,e\n".to_owned()
        + &"0x3f800000,0x3f800000,0x3f800000,0x40000000,31,31,x,,7\n".repeat(2);
    let of = |(column, meant)| format!("the column `{column}` is not read{meant}");
    let flags = ": did you mean `flags`?";
    let expected = [("Flags", flags), ("flgs", flags), ("note", ""), ("e", "")].map(of);
    assert_eq!(notes(csv.as_bytes()), (2, expected.to_vec()));
    let row = r#"{"a":"0x3f800000","b":"0x3f800000","c":"0x3f800000","d":"0x40000000","Flags":31,"flgs":[1,{}],"note":null,"e":7}"#;
    assert_eq!(notes(format!("{row}\n{row}\n").as_bytes()), (2, expected.to_vec()));
    assert_eq!(notes(format!("[{row},{row}]").as_bytes()), (2, expected.to_vec()));
    let zeros = npy("<u4", "(2,)", &[0; 8]);
    let arrays = ["a", "b", "c", "d", "flag"].map(|name| (name, zeros.clone()));
    assert_eq!(notes(&archive(&arrays)), (2, vec![of(("flag", flags))]));
    let column = |group: &mut Group<'_, '_>| put::<Int32Type>(group, &[0, 0], None);
    let schema = "required int32 a; required int32 b; required int32 c; required int32 d; required int32 FLAGS;";
    let bytes = parquet(schema, &[&column, &column, &column, &column, &column]);
    assert_eq!(notes(&bytes), (2, vec![of(("FLAGS", flags))]));
}

/// A cell beyond the named columns is an error of its row, unless nothing is in it.
#[test]
fn rows_of_csv_that_are_too_long() {
    let good = "0x3f800000,0x3f800000,0x3f800000,0x40000000";
    let text = format!("a,b,c,d\n{good}\n{good},1,2,3\n{good},,\n{good},, 0 \n");
    let (report, bad) = verified_with_bad(text.as_bytes(), &of("fma.rn.f32"));
    assert_eq!(report.vectors, 2);
    let problem = |text: &str| format!("`{text}` is one too many: 4 columns are named");
    assert_eq!(bad, [(3, problem("1")), (5, problem("0"))]);
}
