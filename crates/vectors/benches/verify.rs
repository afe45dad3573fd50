//! How many vectors a second one core verifies from Parquet, with and without flags. The figure to hold: 20 million
//! without.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use parquet::basic::Compression;
use parquet::data_type::{ByteArrayType, DataType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use roundonce_vectors::{Generated, Observer, Options, Vector, verify_file};

struct Nobody;
impl Observer for Nobody {
    fn bad_row(&mut self, row: u64, problem: &str) {
        panic!("row {row}: {problem}");
    }
    fn progress(&mut self, _: u64, _: Option<u64>) {}
}

const ROWS_OF_A_GROUP: usize = 1 << 20;

/// So many row groups of the same vectors, as a data frame's library writes them: compressed by Snappy.
fn write(path: &Path, spelling: &str, groups: usize, flags: bool) -> u64 {
    let made = Generated::new(&[spelling], ROWS_OF_A_GROUP as u64, 0, &Default::default()).expect("an instruction");
    let vectors: Vec<Vector> = made.iter().map(|(_, vector)| vector).collect();
    let column = |of: &dyn Fn(&Vector) -> u64| vectors.iter().map(|vector| of(vector) as i32).collect::<Vec<i32>>();
    let mut columns: Vec<Vec<i32>> = (0..3).map(|at| column(&|vector| vector.operands[at].components()[0])).collect();
    columns.push(column(&|vector| vector.result.components()[0]));
    let mut schema = "message m { required binary instruction (UTF8); required int32 a; required int32 b; \
                      required int32 c; required int32 d;"
        .to_owned();
    if flags {
        schema.push_str(" required int32 flags;");
        columns.push(column(&|vector| vector.flags.unwrap_or(0).into()));
    }
    let schema = Arc::new(parse_message_type(&(schema + "}")).expect("a schema"));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = File::create(path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).expect("a writer");
    for _ in 0..groups {
        let mut group = writer.next_row_group().expect("a group");
        put::<ByteArrayType>(&mut group, &vec![spelling.into(); ROWS_OF_A_GROUP]);
        columns.iter().for_each(|column| put::<Int32Type>(&mut group, column));
        group.close().expect("a group");
    }
    writer.close().expect("a file");
    (groups * ROWS_OF_A_GROUP) as u64
}

fn put<T: DataType>(group: &mut SerializedRowGroupWriter<'_, File>, values: &[T::T]) {
    let mut column = group.next_column().expect("a column").expect("a column");
    column.typed::<T>().write_batch(values, None, None).expect("values");
    column.close().expect("a column");
}

fn main() {
    // Under `cargo test` this is a smoke test on one row group.
    let (groups, runs) = if std::env::args().any(|argument| argument == "--bench") { (20, 5) } else { (1, 1) };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors.parquet");
    for (spelling, flags) in [("fma.rn.f32", false), ("fma.rz.f32.bf16", false), ("fma.rn.f32", true)] {
        let rows = write(&path, spelling, groups, flags);
        let mut best = f64::INFINITY;
        for _ in 0..runs {
            let start = Instant::now();
            let report = verify_file(&path, &Options::default(), &mut Nobody).expect("a report");
            assert!(report.is_clean() && report.vectors == rows);
            best = best.min(start.elapsed().as_secs_f64());
        }
        let with = if flags { "with flags" } else { "without flags" };
        println!("{spelling:16} {with:14} {:6.1} million vectors a second", rows as f64 / best / 1e6);
    }
}
