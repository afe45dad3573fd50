//! Operations by the exact-rational judge, and questions about arrays.

use std::collections::BTreeMap;

use roundonce_arith::{Elements, Format, Profile};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::rational::judge;
use roundonce_oracle::{Direction, FlushRule, Layout, Shape, Spec};
use roundonce_why::{Allowed, ArrayAnswer, Bits, Column, Options, Question, Values, answer_arrays};

pub(crate) const NEAREST: Direction = Direction::Nearest;

/// How the judge computes one operation.
#[derive(Clone, Copy)]
pub(crate) struct Mode {
    pub(crate) direction: Direction,
    pub(crate) flush: bool,
    pub(crate) fmz: bool,
    pub(crate) saturate: bool,
}

pub(crate) const PLAIN: Mode = Mode { direction: NEAREST, flush: false, fmz: false, saturate: false };

pub(crate) fn operation(shape: Shape, layout: Layout, mode: Mode, saturate: bool, operands: [u64; 3]) -> u64 {
    let spec = Spec {
        flush: mode.flush.then_some(FlushRule::Rounded),
        fmz: mode.fmz && shape != Shape::Add,
        saturate: mode.saturate && saturate,
        ..Spec::new(shape, layout, mode.direction)
    };
    judge(&spec, operands).bits
}

/// A number of one format in another: the product with one, rounded once.
pub(crate) fn convert(from: Layout, to: Layout, direction: Direction, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    if from.is_nan(bits) {
        return to.infinity() | to.quiet() | (to.quiet() - 1);
    }
    judge(&Spec { factors: from, ..Spec::new(Shape::Mul, to, direction) }, [bits, from.one(), 0]).bits
}

fn column(format: Format, values: &[u64]) -> Column {
    let mut elements = Elements::of(format);
    elements.extend(values.iter().copied());
    Column { format, bits: Bits::Each(elements) }
}

pub(crate) fn array(format: Format, values: &[u64], shape: &[usize]) -> Values {
    Values { column: column(format, values), shape: shape.to_vec() }
}

pub(crate) fn ask(text: &str, names: &[(&str, Values)], seen: Values) -> ArrayAnswer {
    let names: BTreeMap<String, Values> =
        names.iter().map(|(name, values)| ((*name).to_owned(), values.clone())).collect();
    let question = Question::parse(text, names).unwrap();
    let options = Options { allow: Allowed::ALL, ..Options::default() };
    answer_arrays(&question, &[("seen".to_owned(), seen)], options, &Profile::NVIDIA, &mut |_| ()).unwrap()
}

pub(crate) fn deviations(answer: &ArrayAnswer) -> String {
    let group = &answer.seen[0].groups[0];
    serde_json::to_string(&group.deviations).unwrap()
}

/// Operations of f32, to nearest.
pub(crate) fn multiply(a: u64, b: u64) -> u64 {
    operation(Shape::Mul, Layout::F32, PLAIN, false, [a, b, 0])
}

pub(crate) fn plus(a: u64, b: u64) -> u64 {
    operation(Shape::Add, Layout::F32, PLAIN, false, [a, 0, b])
}

pub(crate) fn fma(a: u64, b: u64, c: u64) -> u64 {
    operation(Shape::MulAdd, Layout::F32, PLAIN, false, [a, b, c])
}

/// Numbers of f32 near one, of both signs.
#[allow(dead_code, reason = "not every test takes them")]
pub(crate) fn numbers(seed: u64, count: usize) -> Vec<u64> {
    let mut generator = Generator::new(seed, Layout::F32, Layout::F32);
    let near_one = |bits: u64| (bits & !Layout::F32.infinity()) | Layout::F32.one();
    (0..count).map(|_| near_one(generator.triple()[0] ^ generator.triple()[1] << 1)).collect()
}
