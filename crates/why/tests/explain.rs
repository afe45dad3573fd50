//! Explanations fit in 80 columns and say the pipeline's result, whatever the operands.

use roundonce_arith::{ArithOp, Format, Operation, Profile, Rounding};
use roundonce_isa::{Form, Gate, Instruction, Language, Recipe, Value};
use roundonce_why::explain;

const fn subtracts(mut form: Form) -> Form {
    form.mnemonic = "sub";
    form.recipe.operation.negate_addend = true;
    form
}

const fn of_sass(mut form: Form) -> Form {
    form.language = Language::Sass;
    form.mnemonic = "FADD";
    form
}

const fn form(kind: ArithOp, format: Format) -> Form {
    Form {
        language: Language::Ptx,
        mnemonic: "fma",
        parts: &[],
        operands: "d, a, b, c",
        gate: Gate::needs(&[]),
        recipe: Recipe::scalar(Operation::new(kind, format, Rounding::TowardZero)),
        source: "a test",
        note: "",
    }
}

static FORMS: [Form; 6] = [
    form(ArithOp::MulAdd, Format::F16),
    form(ArithOp::MulAdd, Format::BF16),
    form(ArithOp::MulAdd, Format::F32),
    form(ArithOp::MulAdd, Format::F64),
    form(ArithOp::TruncatedMulAdd, Format::F32),
    form(ArithOp::Add, Format::F64),
];

#[test]
fn eighty_columns() {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state.rotate_left((state >> 59) as u32)
    };
    for form in &FORMS {
        let operation = &form.recipe.operation;
        let format = operation.format;
        let edges = [0, 1, format.smallest_normal(), format.largest_finite(), format.infinity(), format.mask()];
        for round in 0..400 {
            let operand = |choice: u64| {
                if choice.is_multiple_of(5) { edges[(choice >> 8) as usize % edges.len()] } else { choice }
            };
            let bits: Vec<u64> = (0..operation.op.arity()).map(|_| operand(random()) & format.mask()).collect();
            let operands: Vec<Value> = bits.iter().map(|&bits| Value::scalar(bits)).collect();
            let instruction = Instruction { form, recipe: form.recipe };
            let explained = explain("fma", &instruction, &operands, &Profile::NVIDIA, &[&FORMS]);
            let result = Value::scalar(operation.evaluate(&Profile::NVIDIA, &bits).bits);
            assert_eq!(explained.components[0].result.bits, result.hex(format));
            for line in explained.lines(operation.op) {
                let text = line.to_string();
                assert!(
                    text.chars().count() <= 80,
                    "round {round} {bits:x?}: {} columns: {text}",
                    text.chars().count()
                );
            }
        }
    }
}

static SUBTRACTIONS: [Form; 2] = [subtracts(form(ArithOp::Add, Format::F32)), of_sass(form(ArithOp::Add, Format::F32))];

fn explained(form: &'static Form, operands: [u64; 2]) -> Vec<String> {
    let instruction = Instruction { form, recipe: form.recipe };
    let operands = operands.map(Value::scalar);
    let explained = explain("a test", &instruction, &operands, &Profile::NVIDIA, &[&SUBTRACTIONS]);
    explained.lines(ArithOp::Add).iter().map(ToString::to_string).collect()
}

/// SASS subtracts by a sign on the operand.
#[test]
fn a_counterpart_has_the_signs() {
    let lines = explained(&SUBTRACTIONS[0], [0x3f80_0000, 0x3f80_0001]);
    let counterpart = lines.iter().find(|line| line.contains("SASS")).unwrap();
    assert!(
        counterpart.contains("FADD a, -c") && counterpart.ends_with("the same bits for all operands"),
        "{counterpart}"
    );
}

#[test]
fn distances() {
    let remark = |operands, row: &str| {
        let lines = explained(&SUBTRACTIONS[0], operands);
        let line = lines.iter().find(|line| line.starts_with(row)).unwrap().trim().to_owned();
        line.split("  ").last().unwrap().trim().to_owned()
    };
    // 1 - 1 is +0 in all directions but one.
    let one = [0x3f80_0000, 0x3f80_0000];
    assert_eq!((remark(one, " .rm"), remark(one, " .rp")), ("the other zero".into(), "the same".into()));
    // 2^24 - 0.5, clamped to 1: 24 binades, and the fraction on the way.
    assert_eq!(remark([0x4b80_0000, 0x3f00_0000], " with sat"), "over 2^27 ulps away");
    assert_eq!(remark([0x3f80_0000, 0x3f00_0000], " with sat"), "the same");
    assert_eq!(remark([0x4000_0000, 0x0000_0000], " with sat"), "2^23 ulps away");
}
