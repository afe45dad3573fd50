//! Every spelling of every form, against the exact-rational judge: thousands of generated operands each, and the
//! vectors kept in vectors/edge/forms.txt.
//!
//! What a spelling means is read here by a second reader that knows nothing of the rows, so that a wrong row is found
//! too. `ROUNDONCE_BLESS=1 cargo test -p roundonce --test forms` writes the vectors anew, from the judge.

use std::collections::BTreeMap;

use roundonce::{Batch, TABLES, Target, Value, eval, instruction};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::{Direction, FlushRule, Layout, NanBits, Shape, Spec, condition_codes, rational};

/// A spelling as the second reader understands it.
struct Reading {
    spec: Spec,
    lanes: usize,
    codes: bool,
}

fn read(spelling: &str) -> Reading {
    let (name, target) = spelling.split_once('@').unwrap_or((spelling, ""));
    let lower = name.to_lowercase().replace('+', ".");
    let words: Vec<&str> = lower.split('.').collect();
    let has = |word: &str| words.contains(&word);
    let direction = match () {
        () if has("rz") || has("rtz") => Direction::Zero,
        () if has("rm") => Direction::Down,
        () if has("rp") => Direction::Up,
        () => Direction::Nearest,
    };
    let sm_1x = target == "sm_13";
    let shape = match words[0] {
        "mad" if sm_1x && has("f32") => Shape::TruncatedMulAdd,
        "fma" | "mad" | "ffma" | "ffma32i" | "opfmakhr" => Shape::MulAdd,
        "add" | "sub" | "fadd" | "fadd32i" => Shape::Add,
        "mul" | "fmul" | "fmul32i" => Shape::Mul,
        other => panic!("the second reader does not know `{other}`"),
    };
    let mixed = has("f32") && (has("f16") || has("bf16"));
    let ty = words.iter().rev().find(|word| word.contains("f32") || word.contains("f64") || word.contains("f16"));
    let ty = if mixed { "f32" } else { ty.copied().unwrap_or("f32") };
    let (lanes, element) = match ty {
        "f32x2" => (2, "f32"),
        vector if vector.starts_with('v') => (vector[1..2].parse().unwrap(), &vector[2..]),
        scalar => (1, scalar),
    };
    let layout = |name: &str| match name {
        "f16" => Layout::F16,
        "bf16" => Layout::BF16,
        "f64" => Layout::F64,
        _ => Layout::F32,
    };
    let to = layout(element);
    let flush = has("ftz") || has("fmz") || (sm_1x && element == "f32");
    let spec = Spec {
        factors: if mixed { layout(if has("bf16") { "bf16" } else { "f16" }) } else { to },
        negate_c: words[0] == "sub",
        flush: flush.then_some(FlushRule::Delivered),
        zero_dominance: has("fmz") && shape != Shape::Add,
        saturate: has("sat"),
        nan: if to == Layout::F64 { NanBits::FirstOf([0, 1, 2]) } else { NanBits::AllOnes },
        ..Spec::new(shape, to, direction)
    };
    Reading { spec, lanes, codes: has("cc") }
}

/// Every spelling, with the target where a spelling alone names another row.
fn spellings() -> Vec<String> {
    let mut all = Vec::new();
    for form in TABLES.into_iter().flatten() {
        for (spelling, recipe) in form.spellings() {
            let plain = instruction(&spelling, &Target::default()).expect(&spelling);
            let with_target = match (plain.form == form, form.gate.target.last, form.gate.target.first) {
                (true, Some(last), _) => format!("{spelling}@sm_{last}"),
                (true, None, _) => spelling,
                (false, Some(last), _) => format!("{spelling}@sm_{last}"),
                (false, None, first) => format!("{spelling}@sm_{first}"),
            };
            let found = instruction(&with_target, &Target::default()).expect(&with_target);
            assert_eq!((found.form, found.recipe), (form, recipe), "`{with_target}` names another row");
            all.push(with_target);
        }
    }
    all
}

/// The judge's result of one component, and its condition codes.
fn judged(reading: &Reading, triple: [u64; 3]) -> (u64, u8) {
    let verdict = rational::judge(&reading.spec, triple);
    (verdict.bits, verdict.flags)
}

/// The operands that an instruction takes out of `[a, b, c]`.
fn taken<T: Copy>(shape: Shape, [a, b, c]: [T; 3]) -> Vec<T> {
    match shape {
        Shape::MulAdd | Shape::TruncatedMulAdd => vec![a, b, c],
        Shape::Add => vec![a, c],
        Shape::Mul => vec![a, b],
    }
}

#[test]
fn every_spelling_agrees_with_the_judge() {
    for (index, spelling) in spellings().iter().enumerate() {
        let reading = read(spelling);
        let found = instruction(spelling, &Target::default()).unwrap();
        assert_eq!(found.recipe.lanes as usize, reading.lanes, "{spelling}");
        let mut generator = Generator::new(index as u64, reading.spec.factors, reading.spec.to);
        for _ in 0..2_000 / reading.lanes {
            let triples: Vec<[u64; 3]> = (0..reading.lanes).map(|_| generator.triple()).collect();
            let column = |place: usize| Value::of(triples.iter().map(|triple| triple[place]));
            let operands = taken(reading.spec.shape, [column(0), column(1), column(2)]);
            let result = eval(&found, &operands, &Default::default());
            let mut all_flags = 0;
            for (lane, triple) in triples.iter().enumerate() {
                let (bits, flags) = judged(&reading, *triple);
                all_flags |= flags;
                assert_eq!(result.value.lanes()[lane], bits, "{spelling} {triple:x?}");
            }
            assert_eq!(result.flags.bits(), all_flags, "flags of {spelling} {triples:x?}");
            let codes = reading.codes.then(|| condition_codes(reading.spec.to, judged(&reading, triples[0]).0));
            assert_eq!(result.codes.map(|codes| codes.bits()), codes, "codes of {spelling} {triples:x?}");
        }
    }
}

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/edge/forms.txt");
const VECTORS_EACH: usize = 4;

/// The line that `eval -` should print for a spelling and its components' operands.
fn vector_line(spelling: &str, reading: &Reading, triples: &[[u64; 3]]) -> String {
    let packed = |layout: Layout, bits: &dyn Fn(usize) -> u64| {
        let digits = layout.width() as usize / 4;
        let lanes: String = (0..triples.len()).rev().map(|lane| format!("{:0digits$x}", bits(lane))).collect();
        format!("0x{lanes}")
    };
    let spec = &reading.spec;
    let operand = |place: usize| {
        let layout = if place == 2 { spec.to } else { spec.factors };
        packed(layout, &|lane| triples[lane][place])
    };
    let operands = taken(spec.shape, [0, 1, 2]).into_iter().map(operand).collect::<Vec<_>>().join(" ");
    let result = packed(spec.to, &|lane| judged(reading, triples[lane]).0);
    let codes = match condition_codes(spec.to, judged(reading, triples[0]).0) {
        _ if !reading.codes => "",
        0 => " ----",
        1 => " Z---",
        2 => " -S--",
        _ => " ZS--",
    };
    format!("{spelling} {operands} = {result}{codes}\n")
}

fn blessed() -> String {
    let mut text = String::from(
        "# Every spelling of every form, a line a case: INSTRUCTION OPERAND... = RESULT [CODES], in hex bits.\n\
         # Judge: exact rationals (dev/oracle). Written by ROUNDONCE_BLESS=1 cargo test -p roundonce --test forms.\n",
    );
    for (index, spelling) in spellings().iter().enumerate() {
        let reading = read(spelling);
        let mut generator = Generator::new(0x0ec7 + index as u64, reading.spec.factors, reading.spec.to);
        for _ in 0..VECTORS_EACH {
            let triples: Vec<[u64; 3]> = (0..reading.lanes).map(|_| generator.triple()).collect();
            text.push_str(&vector_line(spelling, &reading, &triples));
        }
    }
    text
}

#[test]
fn every_form_has_vectors() {
    if std::env::var_os("ROUNDONCE_BLESS").is_some() {
        std::fs::write(VECTORS, blessed()).unwrap();
    }
    let text = std::fs::read_to_string(VECTORS).unwrap();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    let mut batch = Batch::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (case, expected) = line.split_once(" = ").unwrap();
        let mut found = String::new();
        batch.line(case, &mut found).unwrap();
        assert_eq!(found, expected, "{case}");
        *count.entry(case.split_whitespace().next().unwrap()).or_default() += 1;
    }
    let without: Vec<String> =
        spellings().into_iter().filter(|spelling| !count.contains_key(spelling.as_str())).collect();
    assert!(without.is_empty(), "these spellings have no vector in {VECTORS}: {without:?}");
}
