//! `why` on the expression that an instruction is and `vectors verify` on the instruction name the same deviation: of many
//! vectors always; of one vector unless a more plausible or a usual deviation explains it as well.

mod common;

use std::collections::BTreeMap;

use common::{of, verified};
use roundonce::Profile;
use roundonce::arith::{ArithOp, Elements, Format};
use roundonce::why::{
    Bits, Column, ObservedValue, Options, Question, Typed, Values, answer, answer_arrays, parse_expr,
};
use roundonce_deviate::{
    Allowed, Deviation, EvalModel, ExpressionTraits, ModeSets, Scope, for_expressions, for_instructions, plausibility,
};
use roundonce_vectors::{Generated, Report};

/// An instruction may name any mode.
fn options() -> Options {
    Options { allow: Allowed::ANYTHING, ..Options::default() }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Instructions without a modifier, and the expressions that they are.
const INSTRUCTIONS: [(&str, &str); 6] = [
    ("fma.rn.f32", "fma(a, b, c)"),
    ("mul.rn.f32", "a * b"),
    ("add.rn.f32", "a + b"),
    ("fma.rn.f16", "fma(a, b, c)"),
    ("fma.rn.bf16", "fma(a, b, c)"),
    ("fma.rn.f64", "fma(a, b, c)"),
];

/// Operands, right results, results with a deviation planted.
struct Planted {
    spelling: &'static str,
    expression: &'static str,
    format: Format,
    vectors: Vec<(Vec<u64>, u64, u64)>,
}

impl Planted {
    /// `None` if the deviation changes nothing of the instruction.
    fn new((spelling, expression): (&'static str, &'static str), deviation: &Deviation) -> Option<Planted> {
        let generated = Generated::new(&[spelling], 3000, 17, &Default::default()).unwrap();
        let operation = generated.instructions()[0].instruction.recipe.operation;
        let format = operation.format;
        let model = EvalModel::of(operation, &Profile::NVIDIA).with(deviation)?;
        let planted = |operands: &[u64], right: u64| match deviation {
            Deviation::OtherNan if format.is_nan(right) => format.infinity() | format.quiet_bit() | 1,
            Deviation::OtherZero if format.is_zero(right) => right ^ format.sign_mask(),
            _ => model.result(operands),
        };
        let vector = |vector: roundonce_vectors::Vector| {
            let operands: Vec<u64> = vector.operands.iter().map(|value| value.components()[0]).collect();
            let right = vector.result.components()[0];
            let seen = planted(&operands, right);
            (operands, right, seen)
        };
        let vectors: Vec<_> = generated.iter().map(|(_, it)| vector(it)).collect();
        vectors.iter().any(|(_, right, seen)| right != seen).then_some(())?;
        Some(Planted { spelling, expression, format, vectors })
    }

    fn report(&self, vectors: &[(Vec<u64>, u64, u64)]) -> Report {
        let line = |(operands, _, seen): &(Vec<u64>, u64, u64)| {
            let digits = self.format.width() as usize / 4;
            let words: Vec<String> = operands.iter().chain([seen]).map(|bits| format!("{bits:0digits$x}")).collect();
            words.join(" ") + "\n"
        };
        let text: String = vectors.iter().map(line).collect();
        verified(text.as_bytes(), &of(self.spelling))
    }

    fn array(&self, bits: impl Iterator<Item = u64>) -> Values {
        let column = Column { format: self.format, bits: Bits::Each(Elements::U64(bits.collect())) };
        Values { column, shape: vec![self.vectors.len()] }
    }

    fn hex(&self, bits: u64) -> String {
        let digits = self.format.width() as usize / 4;
        format!("0x{bits:0digits$x}:{}", self.format.name().unwrap())
    }
}

fn text(deviations: &[Deviation]) -> String {
    deviations.iter().map(|it| it.text(Scope::Instruction)).collect::<Vec<_>>().join(" and ")
}

fn all_planted() -> impl Iterator<Item = (Deviation, Planted)> {
    let pairs =
        INSTRUCTIONS.iter().flat_map(|it| for_instructions().into_iter().map(move |deviation| (*it, deviation)));
    // An expression has no `.oob`.
    let pairs = pairs.filter(|(_, deviation)| *deviation != Deviation::OutOfBounds);
    pairs.filter_map(|(it, deviation)| Some((deviation.clone(), Planted::new(it, &deviation)?)))
}

#[test]
fn many_vectors_have_one_cause() {
    let mut count = 0;
    for (deviation, planted) in all_planted() {
        let Planted { spelling, expression, .. } = planted;
        let names = NAMES.iter().enumerate().take(planted.vectors[0].0.len());
        let column = |(at, name): (usize, &&str)| {
            ((*name).to_owned(), planted.array(planted.vectors.iter().map(|(operands, ..)| operands[at])))
        };
        let question = Question::parse(expression, names.map(column).collect()).unwrap();
        let seen = [("seen".to_owned(), planted.array(planted.vectors.iter().map(|(.., seen)| *seen)))];
        let found = answer_arrays(&question, &seen, options(), &Profile::NVIDIA, &mut |_| ()).unwrap();
        let report = planted.report(&planted.vectors);
        let of_vectors: Vec<&str> = report.causes.iter().map(|group| group.cause.as_str()).collect();
        // NaNs of other bits are a group of their own beside what is right.
        let groups = found.seen[0].groups.iter().filter(|group| !group.deviations.is_empty());
        let of_why: Vec<String> = groups.map(|group| text(&group.deviations)).collect();
        assert_eq!(of_why, of_vectors, "{spelling}, {deviation:?}");
        assert_eq!(found.seen[0].unexplained, 0, "{spelling}, {deviation:?}");
        count += 1;
    }
    assert!(count > 50, "{count} planted");
}

#[test]
fn one_vector_has_the_same_cause() {
    let mut same = 0;
    for (deviation, planted) in all_planted() {
        let Planted { spelling, expression, format, .. } = planted;
        let operation = of(spelling).instruction.unwrap().instruction.recipe.operation;
        let traits = ExpressionTraits {
            format,
            formats: vec![format],
            is_contracted: false,
            has_product: operation.op != ArithOp::Add,
            only: Some(operation.op),
            fits_x87: false,
            narrowed_to: Vec::new(),
        };
        let ModeSets { rare, hypothetical, .. } = for_expressions(&traits);
        let rare = [rare, hypothetical].concat();
        let failing = planted.vectors.iter().filter(|(_, right, seen)| right != seen);
        for vector in failing.step_by(7).take(25) {
            let (operands, _, seen) = vector;
            let names: BTreeMap<String, Typed> =
                NAMES.iter().zip(operands).map(|(name, &bits)| ((*name).to_owned(), Typed { format, bits })).collect();
            let expr = parse_expr(expression, &names).unwrap();
            let observed = [ObservedValue::parse(&planted.hex(*seen)).unwrap()];
            let found = answer(&expr, &observed, options(), &Profile::NVIDIA);
            let cause = &planted.report(std::slice::from_ref(vector)).causes[0].cause;
            let context = format!("{spelling} {operands:x?} {seen:x}, {deviation:?}: {cause}");
            let first = found.seen[0].explanations.first().unwrap_or_else(|| panic!("{context}"));
            // What machines have as modes is believed before what is rare in an expression, and `why` says so.
            let is_rare = |deviations: &[Deviation]| rare.iter().any(|it| it == deviations);
            let is_usual_before_rare = !is_rare(&first.deviations) && rare.iter().any(|it| text(it) == *cause);
            // `why` believes what is more plausible; of one instruction, a mode that it may name is as plausible.
            let named = for_instructions().into_iter().find(|it| text(std::slice::from_ref(it)) == *cause);
            let is_more_plausible = named.is_some_and(|it| plausibility(&first.deviations) < it.plausibility());
            if first.deviations.len() == 1 && !is_usual_before_rare && !is_more_plausible {
                assert_eq!(text(&first.deviations), *cause, "{context}");
                same += 1;
            }
        }
    }
    assert!(same > 1000, "{same} vectors");
}
