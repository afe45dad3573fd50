//! What hardware gave, row by row: `vectors/hw/hardware.tsv`, and all 262,144 results of an H100.
//!
//! Each row is evaluated under the profile of its machine. Nothing is skipped: a row that no form of the tables spells is
//! named below with how it is read instead.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use roundonce::arith::batch::{Batch, Source};
use roundonce::arith::{Format, Machine, NanRule, Operation, Profile, Rounding, Tininess};
use roundonce::{Target, eval, instruction, operands};

/// Instructions of other vendors, and the form that computes the same.
const SPELLED: [(&str, &str); 2] =
    [("Metal fma (f32)", "fma.rn.ftz.f32"), ("v_fma_f32 MODE.FP_DENORM(f32)=0", "fma.rn.ftz.f32")];
/// Rows of the table, and what a claim of a model is among them.
const ROWS: usize = 1435;
const CLAIMS: usize = 3;

/// A row of `hardware.tsv`.
struct Row {
    line: usize,
    instruction: String,
    machine: &'static Machine,
    operands: Vec<String>,
    result: String,
    source: String,
    strength: String,
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/hw").join(name)
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(file("hardware.tsv")).unwrap();
    let mut lines = text.lines().enumerate();
    let (_, header) = lines.next().unwrap();
    assert_eq!(header, "instruction\tmachine\toperands\tresult\tsource\tstrength");
    let row = |(number, line): (usize, &str)| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [instruction, machine, operands, result, source, strength] = fields[..] else {
            panic!("line {}: {} fields", number + 1, fields.len())
        };
        Row {
            line: number + 1,
            instruction: instruction.to_owned(),
            machine: Machine::named(machine).unwrap_or_else(|| panic!("line {}: no machine {machine}", number + 1)),
            operands: operands.split(' ').map(str::to_owned).collect(),
            result: result.to_owned(),
            source: source.to_owned(),
            strength: strength.to_owned(),
        }
    };
    lines.map(row).collect()
}

/// The result of a row under a profile, in hex.
fn result(row: &Row, profile: &Profile) -> String {
    let other = SPELLED.iter().find(|(name, _)| *name == row.instruction);
    let spelling = other.map_or(row.instruction.as_str(), |(_, form)| form);
    let found = instruction(spelling, &Target::default());
    let found = found.unwrap_or_else(|finding| panic!("line {}: {spelling}: {finding}", row.line));
    let values = operands(&found, &row.operands).unwrap_or_else(|finding| panic!("line {}: {finding}", row.line));
    eval(&found, &values.values, profile).value.hex(found.recipe.operation.format)
}

#[test]
fn every_row() {
    let rows = rows();
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let ours = result(row, &row.machine.profile);
            let Row { line, instruction, operands, source, .. } = row;
            (ours != row.result).then(|| {
                let (machine, operands) = (row.machine.name, operands.join(" "));
                format!("line {line}: {machine} {instruction} {operands}: {}, not {ours} ({source})", row.result)
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    assert_eq!(rows.len(), ROWS);
    let of_strength = |start: &str| rows.iter().filter(|row| row.strength.starts_with(start)).count();
    assert_eq!(of_strength("emulator's claim"), CLAIMS, "the others were measured");
    assert!(rows.iter().all(|row| row.source.split('/').count() > 1), "a source is a repository and a path");
}

/// A machine's profile is held by rows of that machine, and by nothing that the table does not have.
#[test]
fn every_machine_is_measured() {
    let rows = rows();
    let machines: BTreeSet<&str> = rows.iter().map(|row| row.machine.name).collect();
    for machine in &Machine::ALL {
        // Public reports with counts, but no operands.
        let has_rows = machine.name != "sm_86";
        assert_eq!(machines.contains(machine.name), has_rows, "{}", machine.name);
        assert!(!machine.measured.is_empty(), "{}", machine.name);
        let fields = Profile::DECISIONS.map(|decision| decision.field);
        assert!(machine.measured.iter().all(|field| fields.contains(field)), "{}", machine.name);
    }
}

/// The other readings of what the rows decide are refuted by this many rows: the check can fail.
#[test]
fn other_readings_are_refuted() {
    let rows = rows();
    type Reading = fn(Profile) -> Profile;
    let readings: [(&str, Reading, usize); 6] = [
        ("tininess=result", |profile| Profile { tininess: Tininess::Result, ..profile }, 44),
        ("tininess=before-rounding", |profile| Profile { tininess: Tininess::BeforeRounding, ..profile }, 265),
        ("sm1x_tininess=before-rounding", |profile| Profile { sm1x_tininess: Tininess::BeforeRounding, ..profile }, 1),
        ("nan_f32=bca", |profile| Profile { nan_f32: Profile::NVIDIA.nan_f64, ..profile }, 18),
        ("nan_f64=abc", |profile| Profile { nan_f64: NanRule::ALL[1], ..profile }, 201),
        ("nan_small=bca", |profile| Profile { nan_small: Profile::NVIDIA.nan_f64, ..profile }, 5),
    ];
    let counts = readings.map(|(name, reading, _)| {
        let differs = |row: &&Row| result(row, &reading(row.machine.profile)) != row.result;
        (name, rows.iter().filter(differs).count())
    });
    assert_eq!(counts, readings.map(|(name, _, count)| (name, count)));
}

/// FNV-1a, 64 bits, over the results' bytes, the lowest first: what the probe printed.
fn hash(results: &[u32]) -> u64 {
    results
        .iter()
        .flat_map(|bits| bits.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// `h100-fma-ftz.tsv.gz`: a, b, c, and the results of fma.rn.f32 and of fma.rn.ftz.f32.
fn h100() -> [Vec<u32>; 5] {
    let mut text = String::new();
    let packed = std::fs::read(file("h100-fma-ftz.tsv.gz")).unwrap();
    GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    let mut columns: [Vec<u32>; 5] = Default::default();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("a\tb\tc\tfma.rn.f32\tfma.rn.ftz.f32"));
    for line in lines {
        let words: Vec<u32> = line.split('\t').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
        assert_eq!(words.len(), 5, "{line}");
        columns.iter_mut().zip(words).for_each(|(column, word)| column.push(word));
    }
    columns
}

/// All results of the same probe on three machines, by their published hashes. The file has the H100's, recomputed.
#[test]
fn all_of_the_h100() {
    let [a, b, c, kept, flushed] = h100();
    assert_eq!(a.len(), 64 * 64 * 64);
    let run = |flush, profile: &Profile| {
        let operation = Operation { flush, ..Operation::mul_add(Format::F32, Rounding::NearestEven) };
        let mut out = vec![0; a.len()];
        Batch::new(operation, profile).run(&[Source::Slice(&a), Source::Slice(&b), Source::Slice(&c)], &mut out);
        let scalar = |at: usize| operation.evaluate(profile, &[a[at], b[at], c[at]].map(u64::from)).bits;
        assert!((0..a.len()).all(|at| u64::from(out[at]) == scalar(at)), "arrays and single operations differ");
        out
    };
    let of = |name| &Machine::named(name).unwrap().profile;
    let differing = |ours: &[u32], theirs: &[u32]| ours.iter().zip(theirs).filter(|(one, other)| one != other).count();
    assert_eq!(differing(&run(false, of("sm_90")), &kept), 0, "fma.rn.f32");
    assert_eq!(differing(&run(true, of("sm_90")), &flushed), 0, "fma.rn.ftz.f32");
    for (machine, published) in
        [("sm_90", 0xeb76_eb53_d65e_0007), ("gfx942-flush", 0xeb76_eb53_d65e_0007), ("apple-m4", 0xf269_fc70_e562_5987)]
    {
        assert_eq!(hash(&run(true, of(machine))), published, "{machine}");
    }
    assert_eq!(hash(&run(false, of("sm_90"))), 0xaed7_498f_99e0_7f49);
    // The other readings differ from the H100 in so many results.
    let others = [Tininess::Result, Tininess::BeforeRounding]
        .map(|tininess| differing(&run(true, &Profile { tininess, ..Profile::NVIDIA }), &flushed));
    assert_eq!(others, [50, 265]);
}

/// By machine and source, for the page of evidence: `docs/evidence.md` has these counts.
#[test]
fn rows_by_machine() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    rows().iter().for_each(|row| *counts.entry(row.machine.name).or_default() += 1);
    assert_eq!(
        counts.into_iter().collect::<Vec<_>>(),
        [
            ("apple-m4", 1),
            ("gfx942-flush", 1),
            ("gt200", 339),
            ("sm_100", 276),
            ("sm_120", 464),
            ("sm_53", 26),
            ("sm_89", 1),
            ("sm_90", 327)
        ]
    );
}
