//! Matrix multiply-add against what others computed: `vectors/matrix` (see its README for sources and licences).

use flate2::read::GzDecoder;
use roundonce_arith::{Element, Profile, ZeroExponent};
use roundonce_isa::SmTarget;
use roundonce_ptx::matrix::{MatrixInstruction, MatrixRow, Refusal};
use std::io::{BufRead, BufReader};

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
        let (instruction, row) = self.row(profile).unwrap_or_else(|refusal| panic!("{}: {refusal}", self.instr));
        let width = |element: Element| element.stride();
        let pad = |mut elements: Vec<u64>| {
            // wmma's tf32 lines of real GPUs are padded with zeros.
            let rest = elements.split_off(elements.len().min(row.dot.k as usize));
            assert!(rest.iter().all(|bits| *bits == 0));
            elements
        };
        let scale =
            |matrix: usize, index: usize| self.scales[matrix].get(index).map_or(vec![], |text| elements(text, 8));
        let [mut all, mut equal] = [0; 2];
        for (i, a) in self.a.iter().enumerate() {
            let (c, d) = (elements(&self.c[i], instruction.c.width()), elements(&self.d[i], instruction.d.width()));
            for (j, b) in self.b.iter().enumerate() {
                let (a, b) = (pad(elements(a, width(instruction.a))), pad(elements(b, width(instruction.b))));
                let (sa, sb) = (scale(0, i), scale(1, j));
                let result = row.dot.evaluate(profile, &a, &b, c[j], [&sa, &sb]);
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

/// A model that its authors validated on GPUs: every line but those that depend on an open question.
#[test]
fn a_validated_model() {
    let (mut all, mut equal, mut open) = (0, 0, 0);
    for line in lines("mma-sim.jsonl.gz") {
        if !line.open.is_empty() {
            open += 1;
            continue;
        }
        let (more, same) = line.equal(&Profile::NVIDIA);
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
