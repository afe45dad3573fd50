//! Matrix multiply-add against what others computed: `vectors/matrix` (see its README for sources and licences).

use flate2::read::GzDecoder;
use roundonce_arith::{Addend, Dot, Element, NanRule, OperandIndex, Profile, Rounding, ZeroExponent};
use roundonce_isa::SmTarget;
use roundonce_ptx::matrix::Evidence::{Hardware, Model, Presumed};
use roundonce_ptx::matrix::{MatrixInstruction, MatrixRow, ROWS, Refusal};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};

/// The first spellings of the rows of which neither corpus has a line: known by the machine code that ptxas makes.
const UNJUDGED: [&str; 3] = [
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
    "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64",
];

/// Planted bugs that no line shows: results of real GPUs alone, whose operands are all of about one size, do not tell that a
/// step has no more products (the rows of `mma` with the same unit do), and not how many bits are kept where 8-bit floats
/// are unpacked to f16 (they go to the unit of f16).
const NOT_TOLD_APART: [&str; 6] = [
    "70 wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32: twice the products a step",
    "80 wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32: twice the products a step",
    "80 wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32: twice the products a step",
    "90 mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32: one bit less",
    "90 mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32: one bit more",
    "90 wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32: twice the products a step",
];

/// One line: rows of a, columns of b, rows of c and d, in hexadecimal of a fixed width an element.
struct Line {
    arch: String,
    instr: String,
    a: Vec<String>,
    b: Vec<String>,
    c: Vec<String>,
    d: Vec<String>,
    /// Scales of a's rows and of b's columns.
    scales: [Vec<String>; 2],
    /// Names of what the documents leave open and the result depends on.
    open: Vec<String>,
}

impl Line {
    fn read(text: &str) -> Line {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let list = |key: &str| {
            let list = value[key].as_array().into_iter().flatten();
            list.map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let word = |key: &str| value[key].as_str().unwrap().to_owned();
        Line {
            arch: word("arch"),
            instr: word("instr"),
            a: list("a"),
            b: list("b"),
            c: list("c"),
            d: list("d"),
            scales: [list("sa"), list("sb")],
            open: list("open"),
        }
    }
}

fn lines(name: &str) -> impl Iterator<Item = Line> {
    let path = format!("{}/../../vectors/matrix/{name}", env!("CARGO_MANIFEST_DIR"));
    let file = BufReader::new(GzDecoder::new(std::fs::File::open(path).unwrap()));
    file.lines().map(|line| Line::read(&line.unwrap()))
}

fn elements(text: &str, bits: u32) -> Vec<u64> {
    let digits = bits.div_ceil(4) as usize;
    (0..text.len()).step_by(digits).map(|at| u64::from_str_radix(&text[at..at + digits], 16).unwrap()).collect()
}

impl Line {
    fn row(&self, profile: &Profile) -> Result<(MatrixInstruction, MatrixRow), Refusal> {
        let target: SmTarget = self.arch.parse().unwrap();
        let instruction = MatrixInstruction::parse(&self.instr)?;
        Ok((instruction, instruction.row(target, profile)?))
    }

    /// How many results the line has, and how many of them we give.
    fn equal(&self, profile: &Profile) -> (usize, usize) {
        let (_, row) = self.row(profile).unwrap_or_else(|refusal| panic!("{}: {refusal}", self.instr));
        self.equal_by(profile, &row.dot)
    }

    /// The same by another operation.
    fn equal_by(&self, profile: &Profile, dot: &Dot) -> (usize, usize) {
        let width = |element: Element| element.stride();
        let pad = |mut elements: Vec<u64>| {
            // wmma's tf32 lines of real GPUs are padded with zeros.
            let rest = elements.split_off(elements.len().min(dot.k as usize));
            assert!(rest.iter().all(|bits| *bits == 0));
            elements
        };
        let scale =
            |matrix: usize, index: usize| self.scales[matrix].get(index).map_or(vec![], |text| elements(text, 8));
        let [mut all, mut equal] = [0; 2];
        for (i, a) in self.a.iter().enumerate() {
            let (c, d) = (elements(&self.c[i], dot.c.width()), elements(&self.d[i], dot.d.width()));
            for (j, b) in self.b.iter().enumerate() {
                let (a, b) = (pad(elements(a, width(dot.a))), pad(elements(b, width(dot.b))));
                let (sa, sb) = (scale(0, i), scale(1, j));
                let result = dot.evaluate(profile, &a, &b, c[j], [&sa, &sb]);
                all += 1;
                equal += usize::from(result == d[j]);
                if result != d[j] && std::env::var_os("SHOW").is_some() {
                    println!(
                        "{} {} {a:x?} {b:x?} {:x} {:x} {sa:x?} {sb:x?}: {result:x}",
                        self.arch, self.instr, c[j], d[j]
                    );
                }
            }
        }
        (all, equal)
    }
}

/// Results of eight real GPUs: every one.
#[test]
fn real_gpus() {
    let (mut count, mut all, mut equal) = (0, 0, 0);
    for line in lines("mma-hw.jsonl.gz") {
        let (more, same) = line.equal(&Profile::NVIDIA);
        (count, all, equal) = (count + 1, all + more, equal + same);
    }
    assert_eq!((count, all, equal), (6400, 6400, 6400));
}

/// A model that its authors validated on GPUs: every line but those that depend on an open question. Of two NaNs of f64 it keeps that
/// which the processor keeps that it runs on, b's before a's; an H100 keeps c's before a's.
#[test]
fn a_validated_model() {
    let as_the_model = NanRule::Payload([OperandIndex::B, OperandIndex::A, OperandIndex::C]);
    let model = Profile { dot_nan_f64: as_the_model, ..Profile::NVIDIA };
    let (mut all, mut equal, mut open) = (0, 0, 0);
    for line in lines("mma-sim.jsonl.gz") {
        if !line.open.is_empty() {
            open += 1;
            continue;
        }
        let (more, same) = line.equal(&model);
        (all, equal) = (all + more, equal + same);
    }
    assert_eq!((all, equal, open), (41212, 41212, 263));
}

/// The lines that depend on an open question: the model's reading of it gives all of them.
#[test]
fn open_questions_as_the_model_has_them() {
    let model = Profile { dot_zero: ZeroExponent::Operand, ..Profile::NVIDIA };
    let mut unequal = [0; 2];
    for line in lines("mma-sim.jsonl.gz").filter(|line| !line.open.is_empty()) {
        if line.open.iter().any(|name| name == "PTX") {
            assert!(matches!(line.row(&model), Err(Refusal::Malformed(_))));
            continue;
        }
        for (unequal, profile) in unequal.iter_mut().zip([model, Profile::NVIDIA]) {
            let (all, equal) = line.equal(&profile);
            *unequal += all - equal;
        }
    }
    assert_eq!(unequal, [0, 56]);
}

/// Every row has a spelling that only it holds for, on its first target, and the corpora have one of each that is known by
/// more than the assembler.
#[test]
fn every_row_is_reached_and_judged() {
    let mut judged: Vec<String> = Vec::new();
    for name in ["mma-hw.jsonl.gz", "mma-sim.jsonl.gz"] {
        for line in lines(name) {
            if let Ok((_, row)) = line.row(&Profile::NVIDIA) {
                judged.push(format!("{:?}", row.unit));
            }
        }
        judged.sort_unstable();
        judged.dedup();
    }
    let mut unjudged = Vec::new();
    for row in ROWS {
        let spellings = row.spellings();
        assert!(!spellings.is_empty(), "{row:?}");
        if !judged.contains(&format!("{row:?}")) {
            unjudged.push(spellings[0].clone());
        }
    }
    assert_eq!(unjudged, UNJUDGED);
}

/// An operation wrong in one field, where it has that field.
type Mutate = fn(&Dot) -> Option<Dot>;

/// Wrong in one field, each row of tensor cores is caught by a line of the corpora.
#[test]
fn planted_bugs_are_caught() {
    let mutants: [(&str, Mutate); 6] = [
        ("one bit more", |dot| Some(Dot { kept: Some(dot.kept? + 1), ..*dot })),
        ("one bit less", |dot| Some(Dot { kept: Some(dot.kept? - 1), ..*dot })),
        ("twice the products a step", |dot| {
            (dot.kept.is_some() && dot.steps() % 2 == 0).then_some(Dot { block: dot.block * 2, ..*dot })
        }),
        ("half the products a step", |dot| {
            (dot.kept.is_some() && dot.block > dot.group).then_some(Dot { block: dot.block / 2, ..*dot })
        }),
        ("the other rounding", |dot| {
            let to_nearest = dot.rounding == Rounding::NearestEven;
            let rounding = if to_nearest { Rounding::TowardZero } else { Rounding::NearestEven };
            Some(Dot { rounding, ..*dot })
        }),
        ("c on the other side of the steps", |dot| {
            let is_first = dot.addend == Addend::InFirstStep;
            let addend = if is_first { Addend::AfterLastStep } else { Addend::InFirstStep };
            Some(Dot { addend, ..*dot })
        }),
    ];
    let mut caught: BTreeMap<(String, &str), bool> = BTreeMap::new();
    for name in ["mma-hw.jsonl.gz", "mma-sim.jsonl.gz"] {
        for line in lines(name).filter(|line| line.open.is_empty()) {
            let Ok((_, row)) = line.row(&Profile::NVIDIA) else { continue };
            let row_name = format!("{} {}", row.unit.targets[0], row.unit.spellings()[0]);
            for (mutant, mutate) in mutants {
                let Some(wrong) = mutate(&row.dot) else { continue };
                let is_caught = caught.entry((row_name.clone(), mutant)).or_default();
                if !*is_caught {
                    let (all, equal) = line.equal_by(&Profile::NVIDIA, &wrong);
                    *is_caught = all != equal;
                }
            }
        }
    }
    let missed = caught.iter().filter(|(_, is_caught)| !**is_caught);
    let missed: Vec<String> = missed.map(|((row, mutant), _)| format!("{row}: {mutant}")).collect();
    assert_eq!((caught.len(), missed), (148, NOT_TOLD_APART.map(str::to_owned).to_vec()));
}

/// What no GPU's results are stored of is not said to be known by them.
#[test]
fn evidence_is_that_of_the_target() {
    let of = |spelling: &str, target: u32| {
        let mma = MatrixInstruction::parse(spelling).unwrap();
        mma.row(target.into(), &Profile::NVIDIA).unwrap().evidence
    };
    let evidence = |target| of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", target);
    assert_eq!(
        [80, 86, 87, 100, 103, 120, 121].map(evidence),
        [Hardware, Hardware, Presumed, Hardware, Presumed, Model, Presumed]
    );
    let tf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
    let short = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32";
    assert_eq!(
        [(short, 80), (short, 90), (short, 100), (tf32, 89), (tf32, 90)].map(|(name, target)| of(name, target)),
        [Model, Hardware, Model, Model, Hardware]
    );
    let mixed = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32";
    assert_eq!([89, 90, 100].map(|target| of(mixed, target)), [Model, Hardware, Model]);
    assert_eq!(of("wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", 90), Model);
    // What `has_results` says is what is stored.
    for line in lines("mma-hw.jsonl.gz") {
        assert_eq!(line.row(&Profile::NVIDIA).unwrap().1.evidence, Hardware, "{} on {}", line.instr, line.arch);
    }
}
