//! The second reader: what a spelling means, read without the rows, and the judge's word on it.

// Every test binary compiles this file and uses its own part of it.
#![allow(dead_code, unreachable_pub)]

use roundonce::arith::{Format, Rounding};
use roundonce::isa::{Language, Variants, convert};
use roundonce::{TABLES, Target, instruction};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::{Direction, FlushRule, Layout, NanBits, Shape, Spec, rational};

/// The out-of-bounds NaN of 16-bit tensors.
const OOB_NAN: u64 = 0x7ff7;

/// A spelling as the second reader understands it.
pub struct Reading {
    pub spec: Spec,
    pub lanes: usize,
    pub codes: bool,
}

pub fn read(spelling: &str) -> Reading {
    let (name, target) = spelling.split_once('@').unwrap_or((spelling, ""));
    let lower = name.to_lowercase().replace('+', ".");
    let mut words: Vec<&str> = lower.split('.').collect();
    let sass = of_sass(&mut words);
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
    // The result's type stands first; where there is a second one, it is the factors'.
    let is_type = |word: &&str| ["f16", "f32", "f64"].iter().any(|ty| word.contains(ty)) && !word.starts_with("ff");
    let types: Vec<&str> = match sass {
        Some(types) => types.to_vec(),
        None => words[1..].iter().copied().filter(is_type).collect(),
    };
    let ty = types.first().copied().unwrap_or("f32");
    let (lanes, element) = match ty.strip_suffix("x2") {
        Some(element) => (2, element),
        None if ty.starts_with('v') => (ty[1..2].parse().unwrap(), &ty[2..]),
        None => (1, ty),
    };
    let factors = types.get(1).map_or(element, |ty| ty.trim_end_matches("x2"));
    let layout = |name: &str| match name {
        "f16" => Layout::F16,
        "bf16" => Layout::BF16,
        "f64" => Layout::F64,
        _ => Layout::F32,
    };
    let to = layout(element);
    // With a type for each operand these are all said.
    let of = |place: usize| layout(types.get(place).map_or(element, |ty| ty.trim_end_matches("x2")));
    let operands = match shape {
        Shape::Add if types.len() == 3 => [of(1), of(1), of(2)],
        Shape::Mul if types.len() == 3 => [of(1), of(2), to],
        _ if types.len() == 4 => [of(1), of(2), of(3)],
        _ => [layout(factors), layout(factors), to],
    };
    let plain = operands == [layout(factors), layout(factors), to] && layout(factors).width() <= to.width();
    let flush = has("ftz") || has("fmz") || (sm_1x && element == "f32");
    let spec = Spec {
        factors: layout(factors),
        operands: (!plain).then_some(operands),
        negate_c: words[0] == "sub",
        flush: flush.then_some(if shape == Shape::TruncatedMulAdd { FlushRule::Delivered } else { FlushRule::Rounded }),
        flush_of_two: flush.then_some(FlushRule::Rounded),
        fmz: has("fmz") && shape != Shape::Add,
        saturate: has("sat"),
        relu: has("relu"),
        oob_nan: has("oob").then_some(OOB_NAN),
        nan: if to == Layout::F64 { NanBits::FirstOf([1, 2, 0]) } else { NanBits::AllOnes },
        ..Spec::new(shape, to, direction)
    };
    Reading { spec, lanes, codes: has("cc") }
}

/// What the mnemonics of sm_70 and later say of their types, the result's first. The shape's name takes their place.
fn of_sass(words: &mut [&str]) -> Option<&'static [&'static str]> {
    let has = |word: &str| words.contains(&word);
    let (shape, types): (&str, &'static [&'static str]) = match words[0].strip_prefix('u').unwrap_or(words[0]) {
        "fhfma" if has("bf16") => ("fma", &["f32", "bf16"]),
        "fhadd" if has("bf16") => ("add", &["f32", "bf16"]),
        "fhfma" => ("fma", &["f32", "f16"]),
        "fhadd" => ("add", &["f32", "f16"]),
        "dfma" => ("fma", &["f64"]),
        "dadd" => ("add", &["f64"]),
        "dmul" => ("mul", &["f64"]),
        "hfma2" if has("bf16_v2") => ("fma", &["bf16x2"]),
        "hadd2" if has("bf16_v2") => ("add", &["bf16x2"]),
        "hmul2" if has("bf16_v2") => ("mul", &["bf16x2"]),
        "hfma2" => ("fma", &["f16x2"]),
        "hadd2" => ("add", &["f16x2"]),
        "hmul2" => ("mul", &["f16x2"]),
        "ffma2" => ("fma", &["f32x2"]),
        "fadd2" => ("add", &["f32x2"]),
        "fmul2" => ("mul", &["f32x2"]),
        "ffma" => ("fma", &["f32"]),
        "fadd" => ("add", &["f32"]),
        "fmul" => ("mul", &["f32"]),
        _ => return None,
    };
    words[0] = shape;
    Some(types)
}

/// Every spelling, with the target where a spelling alone names another row.
pub fn spellings() -> Vec<String> {
    let mut all = Vec::new();
    for form in TABLES.into_iter().flatten() {
        for (spelling, recipe) in form.spellings() {
            let plain = instruction(&spelling, &Target::default()).expect(&spelling);
            let letter = if form.gate.variants == Variants::All { "" } else { "a" };
            let is_sass = form.language == Language::Sass;
            let with_target = match (plain.form == form, form.gate.target.last, form.gate.target.first) {
                (true, None, _) => spelling,
                // The older machine's row is what the spelling alone names.
                (true, ..) if is_sass => spelling,
                (_, Some(last), _) => format!("{spelling}@sm_{last}{letter}"),
                (false, None, first) => format!("{spelling}@sm_{first}{letter}"),
            };
            let found = instruction(&with_target, &Target::default()).expect(&with_target);
            assert_eq!((found.form, found.recipe), (form, recipe), "`{with_target}` names another row");
            all.push(with_target);
        }
    }
    all
}

/// A source of operands for [`triple`].
pub fn generator(reading: &Reading, seed: u64) -> Generator {
    let spec = &reading.spec;
    // Operands of formats of their own are made where the result's ties and edges are.
    Generator::new(seed, if spec.operands.is_some() { spec.to } else { spec.factors }, spec.to)
}

/// An operand made in one format as one of another: rounded, or widened, often with lower bits set.
fn refitted(from: Layout, to: Layout, bits: u64, more: u64) -> u64 {
    if from == to {
        return bits;
    }
    let format = |layout: Layout| match layout {
        Layout::F16 => Format::F16,
        Layout::BF16 => Format::BF16,
        _ => Format::F32,
    };
    let refitted = convert(format(from), format(to), Rounding::NearestEven, bits).0;
    let is_number = refitted & to.magnitude() != 0 && refitted & to.magnitude() < to.infinity();
    let below = to.frac_bits.saturating_sub(from.frac_bits);
    match more % 4 {
        0 if is_number => refitted ^ (1 << below >> 1),
        1 if is_number => refitted ^ (more >> 2 & ((1 << below) - 1)),
        _ => refitted,
    }
}

/// Operands for a component. Few random ones are the out-of-bounds NaN: of those that look for it every third has one.
pub fn triple(reading: &Reading, generator: &mut Generator) -> [u64; 3] {
    let mut triple = generator.triple();
    if let Some(layouts) = reading.spec.operands {
        let more = generator.triple();
        triple = core::array::from_fn(|at| {
            let random = more[at].wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
            refitted(reading.spec.to, layouts[at], triple[at], random)
        });
    }
    if reading.spec.oob_nan.is_some() && triple[0].is_multiple_of(3) {
        triple[(triple[1] % 3) as usize] = OOB_NAN;
    }
    triple
}

/// The judge's result of one component, and its condition codes.
pub fn judged(reading: &Reading, triple: [u64; 3]) -> (u64, u8) {
    let verdict = rational::judge(&reading.spec, triple);
    (verdict.bits, verdict.flags)
}

/// The operands that an instruction takes out of `[a, b, c]`.
pub fn taken<T: Copy>(shape: Shape, [a, b, c]: [T; 3]) -> Vec<T> {
    match shape {
        Shape::MulAdd | Shape::TruncatedMulAdd => vec![a, b, c],
        Shape::Add => vec![a, c],
        Shape::Mul => vec![a, b],
    }
}
