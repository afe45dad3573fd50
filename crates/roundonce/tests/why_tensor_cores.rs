//! Matrix products as tensor cores compute them, planted by exact integers (`dev/oracle`) and found by `why`.

#[path = "../../ptx/tests/common/dot_spec.rs"]
mod dot_spec;

use dot_spec::spec;
use roundonce::Profile;
use roundonce::arith::{Dot, Element, Elements, Format};
use roundonce::matrix::tensor_units;
use roundonce::why::{Bits, Column, Deviation, Options, Question, Values, answer_arrays};
use roundonce_oracle::dot::judge;
use roundonce_oracle::generate::SplitMix64;
use std::collections::BTreeMap;

const ROWS: usize = 8;
const COLUMNS: usize = 8;

/// Numbers of both signs, as the bits of a register; and the same in f32.
fn random(source: &mut SplitMix64, element: Element, count: usize) -> (Vec<u64>, Vec<u64>) {
    let numbers = (0..count).map(|_| {
        let bits = source.next_bits();
        let below = if element == Element::Float(Format::TF32) { 13 } else { 0 };
        let fraction = element.fraction_bits();
        let bias = element.one() >> below >> fraction;
        // Sums of few bits would be exact: such numbers are spread over all exponents.
        let exponent = match element {
            Element::Narrow(_) | Element::PowerOfTwo => 1 + source.next_bits() % (2 * bias),
            Element::Float(_) => bias - u64::from(bits.leading_zeros().min(4)),
        };
        let sign = bits & 1;
        let own = (sign << (element.width() - 1) | exponent << fraction | bits >> 8 & ((1 << fraction) - 1)) << below;
        let wide = roundonce::isa::convert(
            Format::F64,
            Format::F32,
            roundonce::arith::Rounding::TowardZero,
            element.widened(own),
        )
        .0;
        (own, wide)
    });
    numbers.unzip()
}

fn values(format: Format, shape: Vec<usize>, bits: &[u64]) -> Values {
    let mut elements = Elements::of(format);
    bits.iter().for_each(|bits| elements.push(*bits));
    Values { column: Column { format, bits: Bits::Each(elements) }, shape }
}

/// The factors of a product: a is ROWS × depth, b depth × COLUMNS.
struct Factors {
    registers: [Vec<u64>; 2],
    values: [Values; 2],
    depth: usize,
}

fn factors(source: &mut SplitMix64, dot: &Dot, depth: usize) -> Factors {
    let (a, a32) = random(source, dot.a, ROWS * depth);
    let (b, b32) = random(source, dot.b, depth * COLUMNS);
    let values = [values(Format::F32, vec![ROWS, depth], &a32), values(Format::F32, vec![depth, COLUMNS], &b32)];
    Factors { registers: [a, b], values, depth }
}

/// The sums of products of so many steps each from an addend on, as the judge has them.
fn planted(dot: &Dot, factors: &Factors, range: std::ops::Range<usize>, addends: &[u64]) -> Vec<u64> {
    let spec = spec(dot);
    let [a, b] = &factors.registers;
    let k = dot.k as usize;
    let sum = |(at, addend): (usize, &u64)| {
        range.clone().step_by(k).fold(*addend, |sum, start| {
            let row: Vec<u64> = (start..start + k).map(|at_k| a[at / COLUMNS * factors.depth + at_k]).collect();
            let column: Vec<u64> = (start..start + k).map(|at_k| b[at_k * COLUMNS + at % COLUMNS]).collect();
            judge(&spec, &row, &column, sum, [&[], &[]])
        })
    };
    addends.iter().enumerate().map(sum).collect()
}

/// The steps of tensor cores that are named for a product, by all that explain every element just as well.
fn found(text: &str, arrays: &[(&str, &Values)], seen: &[u64]) -> Vec<String> {
    let names = arrays.iter().map(|(name, values)| ((*name).to_owned(), (*values).clone()));
    let question = Question::parse(text, names.collect::<BTreeMap<_, _>>()).unwrap();
    let question = question.on_tensor_cores(|| tensor_units(&Profile::NVIDIA));
    let seen = [("d".to_owned(), values(Format::F32, vec![ROWS, COLUMNS], seen))];
    let answer = answer_arrays(&question, &seen, Options::default(), &Profile::NVIDIA, &mut |_| ()).unwrap();
    let [group] = &answer.seen[0].groups[..] else { return Vec::new() };
    assert_eq!((group.count, answer.seen[0].unexplained), (ROWS * COLUMNS, 0));
    let named = group.deviations.iter().filter_map(|deviation| match deviation {
        Deviation::TensorCores(steps) => Some(steps.clone()),
        _ => None,
    });
    named.chain(group.alternatives.iter().cloned()).collect()
}

/// Every way of adding whose sums are f32, over 64 products: as one chain, from an addend on, and with k split in two.
#[test]
fn products_of_tensor_cores_are_named() {
    let mut source = SplitMix64(0x7463);
    let zeros = [0; ROWS * COLUMNS];
    let mut count = 0;
    for unit in tensor_units(&Profile::NVIDIA).iter().filter(|unit| unit.dot.d == Format::F32) {
        let dot = &unit.dot;
        let factors = factors(&mut source, dot, 64);
        let (_, addends) = random(&mut source, Element::Float(Format::F32), ROWS * COLUMNS);
        let c = values(Format::F32, vec![ROWS, COLUMNS], &addends);
        let arrays = [("a", &factors.values[0]), ("b", &factors.values[1]), ("c", &c)];
        // Factors of one type may be numbers of another one: the steps are named, not always the type.
        let steps = &unit.name[unit.name.find(" products").unwrap()..];
        let steps = format!("{} … {steps}", dot.block);
        let names_it = |found: &[String], behind: &str| {
            let of_found = |text: &String| {
                let from = text.find(" products")?;
                let block = text[..from].rsplit(": ").next()?.split(' ').next()?.to_owned();
                Some(format!("{block} … {}", &text[from..]))
            };
            let wanted = format!("{steps}{behind}");
            assert!(found.iter().filter_map(of_found).any(|text| text.starts_with(&wanted)), "{wanted}: {found:?}");
        };
        names_it(&found("a @ b", &arrays, &planted(dot, &factors, 0..64, &zeros)), "");
        names_it(&found("a @ b + c", &arrays, &planted(dot, &factors, 0..64, &addends)), ", from the addend on");
        let halves = [0..32, 32..64].map(|range| planted(dot, &factors, range, &zeros));
        let add = roundonce_oracle::Spec::new(
            roundonce_oracle::Shape::Add,
            roundonce_oracle::Layout::F32,
            roundonce_oracle::Direction::Nearest,
        );
        let sums =
            halves[0].iter().zip(&halves[1]).map(|(a, c)| roundonce_oracle::rational::judge(&add, [*a, 0, *c]).bits);
        names_it(&found("a @ b", &arrays, &sums.collect::<Vec<_>>()), ", 2 parts of k");
        count += 1;
    }
    assert!(count >= 10, "{count} ways");
}

/// Results that are a few ulps off are no tensor core's.
#[test]
fn noise_is_not_claimed() {
    let mut source = SplitMix64(0x6e6f);
    let units = tensor_units(&Profile::NVIDIA);
    let dot = &units.iter().find(|unit| unit.dot.d == Format::F32).unwrap().dot;
    let factors = factors(&mut source, dot, 64);
    let arrays = [("a", &factors.values[0]), ("b", &factors.values[1])];
    let noisy: Vec<u64> = planted(dot, &factors, 0..64, &[0; ROWS * COLUMNS])
        .iter()
        .map(|bits| bits + 3 + source.next_bits() % 9)
        .collect();
    assert_eq!(found("a @ b", &arrays, &noisy), [""; 0]);
}
