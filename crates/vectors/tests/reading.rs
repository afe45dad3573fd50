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
    assert_eq!(verified(b"", &Options::default()).lines(), ["0 vectors verified"]);
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
        [(2, "d: nothing is there"), (3, "instruction: nothing is ther"), (4, "there is no instruction `nop")];
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
    let column = |group: &mut Group<'_, '_>| put::<Int32Type>(group, &[0], None);
    let bytes = parquet("required int32 a; required int32 b;", &[&column, &column]);
    assert_eq!(refusal(&bytes), "there is no column `d`: found a, b");
    let bytes = parquet("required int32 a; required int32 b; required int32 d;", &[&column, &column, &column]);
    assert_eq!(refusal(&bytes), "there is no column `instruction`: say which with --instruction");
}

/// Arrays as NumPy saves them: floats, a single value for all rows, strings.
#[test]
fn npz() {
    let npy = |descr: &str, shape: &str, data: &[u8]| {
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let text = format!("{text:width$}\n", width = (10 + text.len() + 1).next_multiple_of(64) - 11);
        [b"\x93NUMPY\x01\x00".as_slice(), &(text.len() as u16).to_le_bytes(), text.as_bytes(), data].concat()
    };
    let f32s = |bits: &[u32]| bits.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<u8>>();
    let packed = |arrays: &[(&str, Vec<u8>)], method: zip::CompressionMethod| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in arrays {
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            zip.start_file(format!("{name}.npy"), options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    // As savez_compressed does it.
    let archive = |arrays: &[(&str, Vec<u8>)]| packed(arrays, zip::CompressionMethod::Deflated);
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
