//! An instruction over arrays gives the bits of the instruction on each element.

use roundonce::arith::Elements;
use roundonce::array::{Operand, PART, Results, convert_into, eval_into};
use roundonce::{Instruction, Profile, TABLES, Value, conversion, eval, instruction};
use roundonce_oracle::Layout;
use roundonce_oracle::generate::{Generator, SplitMix64};

fn elements(width: u32, bits: impl Iterator<Item = u64>) -> Elements {
    let mut elements = Elements::of_width(width);
    elements.extend(bits);
    elements
}

/// How an operand is given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Slice,
    Uniform,
    Out,
}

fn layout(width: u32) -> Layout {
    match width {
        16 => Layout::F16,
        32 => Layout::F32,
        _ => Layout::F64,
    }
}

/// Computes so many values with the operands given in these ways, and holds each against `eval`.
fn check(spelling: &str, instruction: &Instruction, values: usize, ways: &[Way], seed: u64) {
    let operation = &instruction.recipe.operation;
    let components = instruction.recipe.components as usize;
    let width = operation.format.width();
    let mut generator = Generator::new(seed, layout(operation.source_format.width()), layout(width));
    let triples: Vec<[u64; 3]> = (0..values * components).map(|_| generator.triple()).collect();
    let places = operation.op.operands();
    let column = |index: usize| {
        let bits = triples.iter().map(|triple| triple[places[index] as usize]);
        elements(operation.operand_format(index).width(), bits)
    };
    let columns: Vec<Elements> = (0..places.len()).map(column).collect();
    let mut out = elements(width, triples.iter().rev().map(|triple| triple[2]));
    let old = out.iter().collect::<Vec<_>>();
    let value =
        |bits: &[u64], index: usize| Value::of(bits[index * components..(index + 1) * components].iter().copied());
    let operands: Vec<Operand> = std::iter::zip(&columns, ways)
        .map(|(column, way)| match way {
            Way::Slice => column.into(),
            Way::Uniform => Operand::Uniform(value(&column.iter().collect::<Vec<_>>(), 0)),
            Way::Out => Operand::Out,
        })
        .collect();
    eval_into(instruction, &Profile::NVIDIA, &operands, Results::from(&mut out)).expect(spelling);
    let (bits, results) = (
        columns.iter().map(|column| column.iter().collect::<Vec<_>>()).collect::<Vec<_>>(),
        out.iter().collect::<Vec<_>>(),
    );
    for index in 0..values {
        let operands: Vec<Value> = (0..columns.len())
            .map(|place| match ways[place] {
                Way::Slice => value(&bits[place], index),
                Way::Uniform => value(&bits[place], 0),
                Way::Out => value(&old, index),
            })
            .collect();
        let expected = eval(instruction, &operands, &Profile::NVIDIA).value;
        assert_eq!(value(&results, index), expected, "{spelling} {ways:?}, value {index} of {values}: {operands:x?}");
    }
}

/// Every spelling, its operands given in every way.
#[test]
fn every_spelling_gives_the_bits_of_each_element() {
    let mut checked = 0;
    for form in TABLES.into_iter().flatten() {
        for (spelling, recipe) in form.spellings() {
            let instruction = Instruction { form, recipe };
            let arity = recipe.operation.op.arity();
            for ways in 0..3_usize.pow(arity as u32) {
                let way = |place: usize| [Way::Slice, Way::Uniform, Way::Out][ways / 3_usize.pow(place as u32) % 3];
                let ways: Vec<Way> = (0..arity).map(way).collect();
                let narrow = |place: usize| recipe.operation.operand_format(place) != recipe.operation.format;
                if !(0..arity).any(|place| ways[place] == Way::Out && narrow(place)) {
                    check(&spelling, &instruction, 67, &ways, checked);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 2_000, "only {checked} cases");
}

/// More than one part: parts of their own threads, the last one not whole.
#[test]
fn many_parts() {
    let found = |spelling| instruction(spelling, &Default::default()).unwrap();
    let slices = [Way::Slice; 3];
    for (spelling, components) in
        [("fma.rz.ftz.f32", 1), ("fma.rm.f64", 1), ("OpFmaKHR.v3f16+rtz", 3), ("fma.rp.sat.f32.bf16", 1)]
    {
        check(spelling, &found(spelling), 2 * PART / components + 5, &slices, 1);
    }
    // A packed value of unlike components goes with every element of every part.
    check("OpFmaKHR.v3f32", &found("OpFmaKHR.v3f32"), PART, &[Way::Uniform, Way::Slice, Way::Slice], 2);
    check("fma.rn.f32x2", &found("fma.rn.f32x2"), PART, &[Way::Slice, Way::Uniform, Way::Out], 3);
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |spelling: &str, operands: &[Operand], out: Results| {
        let found = instruction(spelling, &Default::default()).unwrap();
        let finding = eval_into(&found, &Profile::NVIDIA, operands, out).expect_err("it was not refused");
        format!("{} {}", finding.code, finding.message)
    };
    let (half, single, double) = ([0_u16; 4], [0_u32; 4], [0_u64; 4]);
    let [half, single, double] = [Operand::U16(&half), Operand::U32(&single), Operand::U64(&double)];
    let one = Operand::Uniform(Value::scalar(0));
    let mut out = [0_u32; 4];
    assert_eq!(
        refused("fma.rn.f32", &[single, one], Results::U32(&mut out)),
        "FORM0005 `fma.rnd{.ftz}{.sat}.f32` takes 3 operands (d, a, b, c), found 2"
    );
    assert_eq!(
        refused("fma.rn.f32", &[single, double, one], Results::U32(&mut out)),
        "FORM0007 operand 2: elements of 64 bits, expected 32 for f32"
    );
    assert_eq!(
        refused("fma.rn.f32", &[single; 3], Results::U64(&mut [0; 4])),
        "FORM0007 the results: elements of 64 bits, expected 32 for f32"
    );
    assert_eq!(
        refused("OpFmaKHR.f16", &[half; 3], Results::U32(&mut out)),
        "FORM0007 the results: elements of 32 bits, expected 16 for f16"
    );
    assert_eq!(
        refused("fma.rn.f32.f16", &[half, Operand::Out, single], Results::U32(&mut out)),
        "FORM0007 operand 2: elements of 32 bits, expected 16 for f16"
    );
    assert_eq!(
        refused("fma.rn.f32", &[one, one, single], Results::U32(&mut [0; 3])),
        "FORM0008 operand 3 has 4 elements, the results have 3"
    );
    assert_eq!(
        refused("fma.rn.f32x2", &[Operand::Out; 3], Results::U32(&mut [0; 3])),
        "FORM0008 the results have 3 elements: not a multiple of 2"
    );
    assert_eq!(
        refused("fma.rn.f32x2", &[one, single, single], Results::U32(&mut out)),
        "FORM0008 operand 1 has 1 components, the instruction 2"
    );
}

/// A conversion over arrays gives each element what it gives alone.
#[test]
fn conversions_are_each_their_own() {
    let mut draw = SplitMix64(11);
    let length = PART + 7;
    for spelling in ["cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.relu.f16x2.e5m2x2", "cvt.rs.satfinite.e2m1x4.f32"] {
        let found = conversion::instruction(spelling, &Default::default()).unwrap();
        let columns: Vec<Vec<u32>> =
            found.names().iter().map(|_| (0..length).map(|_| draw.next_bits() as u32).collect()).collect();
        let halves: Vec<Vec<u16>> =
            columns.iter().map(|column| column.iter().map(|bits| *bits as u16).collect()).collect();
        let is_half = found.meaning.operand_bits() == 16;
        let mut operands: Vec<Operand> = match is_half {
            true => halves.iter().map(|column| Operand::U16(column)).collect(),
            false => columns.iter().map(|column| Operand::U32(column)).collect(),
        };
        // The last goes with every element, if there is another.
        let alone = columns[operands.len() - 1][0];
        if operands.len() > 1 {
            *operands.last_mut().unwrap() = Operand::Uniform(Value::scalar(alone.into()));
        }
        let (mut small, mut large) = (vec![0_u16; length], vec![0_u32; length]);
        let is_large = found.meaning.result_bits() == 32;
        let out = if is_large { Results::U32(&mut large) } else { Results::U16(&mut small) };
        convert_into(&found, &Profile::NVIDIA, &operands, out).unwrap();
        for at in 0..length {
            let bits: Vec<u64> = columns
                .iter()
                .enumerate()
                .map(|(index, column)| match index + 1 == columns.len() && index > 0 {
                    true => alone.into(),
                    false => u64::from(if is_half { column[at] & 0xffff } else { column[at] }),
                })
                .collect();
            let expected = found.eval(&Profile::NVIDIA, &found.operands(&bits));
            let result: u64 = if is_large { large[at].into() } else { small[at].into() };
            assert_eq!(expected, result, "{spelling}, element {at}");
        }
    }
}

#[test]
fn what_does_not_fit_a_conversion_is_refused() {
    let refused = |spelling: &str, operands: &[Operand], out: Results| {
        let found = conversion::instruction(spelling, &Default::default()).unwrap();
        let finding = convert_into(&found, &Profile::NVIDIA, operands, out).expect_err("it was not refused");
        format!("{} {}", finding.code, finding.message)
    };
    let (byte, half, single) = ([0_u8; 4], [0_u16; 4], [0_u32; 4]);
    let one = Operand::Uniform(Value::scalar(0));
    let e4m3 = "cvt.rn.satfinite.e4m3x2.f32";
    assert_eq!(
        refused(e4m3, &[one], Results::U16(&mut [0; 4])),
        "FORM0005 `cvt.rn.satfinite{.relu}.f8x2type.f32` takes 2 operands (a, b), found 1"
    );
    assert_eq!(
        refused(e4m3, &[Operand::U32(&single), Operand::U16(&half)], Results::U16(&mut [0; 4])),
        "FORM0007 operand 2: elements of 16 bits, expected 32"
    );
    assert_eq!(
        refused(e4m3, &[Operand::U32(&single), one], Results::U8(&mut [0; 4])),
        "FORM0007 the results: elements of 8 bits, expected 16"
    );
    assert_eq!(
        refused(e4m3, &[Operand::U32(&single[..3]), one], Results::U16(&mut [0; 4])),
        "FORM0008 operand 1 has 3 elements, the results have 4"
    );
    assert_eq!(
        refused("cvt.rn.f16x2.e2m1x2", &[Operand::U8(&byte), one], Results::U32(&mut [0; 4])),
        "FORM0005 `cvt.rn{.relu}.f16x2.f6x2type` takes 1 operands (a), found 2"
    );
    assert!(
        refused("cvt.rn.f16x2.e2m1x2", &[Operand::Out], Results::U32(&mut [0; 4])).starts_with("FORM0007 operand 1")
    );
    let pair = Operand::Uniform(Value::of([1, 2]));
    assert_eq!(
        refused("cvt.rn.f16x2.e2m1x2", &[pair], Results::U32(&mut [0; 4])),
        "FORM0008 operand 1 has 2 components, expected 1"
    );
}
