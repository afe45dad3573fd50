//! Arrays made by the exact-rational judge with a known cause: the cause is found, and nothing else.

mod rational;

use std::collections::BTreeMap;

use rational::{Mode, NEAREST, PLAIN, array, ask, convert, deviations, fma, multiply, operation, plus};
use roundonce_arith::{Format, Profile};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::rational::judge;
use roundonce_oracle::{Direction, FlushRule, Layout, Shape, Spec};
use roundonce_why::{ArrayAnswer, Options, Outcome, Question, Values, answer_arrays};

/// Triples without a NaN among operands and results (the bits of one are another question), half of them directed, half
/// of them in the range where nothing special happens.
fn triples(layout: Layout, count: usize) -> Vec<[u64; 3]> {
    let mut generator = Generator::new(7, layout, layout);
    let mut triples = Vec::with_capacity(count);
    while triples.len() < count {
        let triple = generator.triple();
        if layout.is_nan(fused(layout, PLAIN)(triple)) || layout.is_nan(split(layout, PLAIN)(triple)) {
            continue;
        }
        let near_one = |bits: u64| (bits & !layout.infinity()) | layout.one();
        triples.push(if triples.len() % 2 == 0 { triple } else { triple.map(near_one) });
    }
    triples
}

/// `a*b+c` over many elements, computed by the judge with one cause.
fn planted(format: Format, layout: Layout, compute: impl Fn([u64; 3]) -> u64) -> ArrayAnswer {
    let triples = triples(layout, 3000);
    let values = |at: usize| array(format, &triples.iter().map(|triple| triple[at]).collect::<Vec<u64>>(), &[30, 100]);
    let seen: Vec<u64> = triples.iter().map(|&triple| compute(triple)).collect();
    ask("a*b+c", &[("a", values(0)), ("b", values(1)), ("c", values(2))], array(format, &seen, &[30, 100]))
}

fn fused(layout: Layout, mode: Mode) -> impl Fn([u64; 3]) -> u64 {
    move |triple| operation(Shape::MulAdd, layout, mode, true, triple)
}

fn split(layout: Layout, mode: Mode) -> impl Fn([u64; 3]) -> u64 {
    move |[a, b, c]| {
        let product = operation(Shape::Mul, layout, mode, false, [a, b, 0]);
        operation(Shape::Add, layout, mode, true, [product, 0, c])
    }
}

#[track_caller]
fn found(answer: &ArrayAnswer, expected: &str) {
    assert_eq!((answer.seen[0].groups[0].count, deviations(answer).as_str()), (3000, expected), "{answer:#?}");
    // Toward zero or to one side, rounding in a wider type first changes nothing: then there are several explanations.
    let twice = |other: &String| expected.contains("round") && other.contains(" in f");
    assert!(answer.seen[0].groups[0].alternatives.iter().all(twice), "{answer:#?}");
}

const FUSED: &str = r#"{"kind":"fused","what":"a * b"}"#;

#[test]
fn every_mode_alone_and_with_fusion() {
    let modes = [
        (PLAIN, ""),
        (Mode { flush: true, ..PLAIN }, r#"{"kind":"flush"}"#),
        (Mode { direction: Direction::Zero, ..PLAIN }, r#"{"kind":"round","what":"rz"}"#),
        (Mode { direction: Direction::Down, ..PLAIN }, r#"{"kind":"round","what":"rm"}"#),
        (Mode { direction: Direction::Up, ..PLAIN }, r#"{"kind":"round","what":"rp"}"#),
        (Mode { saturate: true, ..PLAIN }, r#"{"kind":"saturate"}"#),
        (Mode { flush: true, fmz: true, ..PLAIN }, r#"{"kind":"flush"},{"kind":"zero-dominance"}"#),
        (Mode { flush: true, direction: Direction::Up, ..PLAIN }, r#"{"kind":"flush"},{"kind":"round","what":"rp"}"#),
        (
            Mode { saturate: true, direction: Direction::Up, ..PLAIN },
            r#"{"kind":"round","what":"rp"},{"kind":"saturate"}"#,
        ),
    ];
    for (mode, expected) in modes {
        let comma = if expected.is_empty() { "" } else { "," };
        found(&planted(Format::F32, Layout::F32, split(Layout::F32, mode)), &format!("[{expected}]"));
        found(&planted(Format::F32, Layout::F32, fused(Layout::F32, mode)), &format!("[{FUSED}{comma}{expected}]"));
        if mode.fmz || mode.saturate {
            continue;
        }
        let wide = |kind: &str| format!(r#"[{{"kind":"wide-{kind}","what":"f32"}},{expected}]"#);
        // No instruction of halves rounds to one side; those of f32 and a conversion do, to the same bits: f32 holds the
        // product of two halves.
        let (of_split, of_fused) = match (mode.direction, mode.flush) {
            (NEAREST, _) => (format!("[{expected}]"), format!("[{FUSED}{comma}{expected}]")),
            (_, false) => (wide("each-operation"), wide("whole")),
            (_, true) => continue,
        };
        found(&planted(Format::F16, Layout::F16, split(Layout::F16, mode)), &of_split);
        found(&planted(Format::F16, Layout::F16, fused(Layout::F16, mode)), &of_fused);
    }
}

const WIDE: &str = r#"[{"kind":"wide-whole","what":"f64"}]"#;

#[test]
fn a_wider_type() {
    let (narrow, wide) = (Layout::F32, Layout::F64);
    let widen = move |bits| convert(narrow, wide, NEAREST, bits);
    let whole = move |[a, b, c]: [u64; 3]| {
        let product = operation(Shape::Mul, wide, PLAIN, false, [widen(a), widen(b), 0]);
        convert(wide, narrow, NEAREST, operation(Shape::Add, wide, PLAIN, false, [product, 0, widen(c)]))
    };
    let answer = planted(Format::F32, narrow, whole);
    assert_eq!((answer.seen[0].groups[0].count, deviations(&answer).as_str()), (3000, WIDE), "{answer:#?}");
    // A product of two f32 is exact in f64: an fma there, rounded again, is the same.
    assert!(answer.seen[0].groups[0].alternatives.iter().all(|other| other.contains("in f64")), "{answer:#?}");
    // Twice rounded is no matter for one operation of f32 in f64 (53 ≥ 2 × 24 + 2): the expression as written.
    let each = move |[a, b, c]: [u64; 3]| {
        let product = operation(Shape::Mul, wide, PLAIN, false, [widen(a), widen(b), 0]);
        let product = widen(convert(wide, narrow, NEAREST, product));
        convert(wide, narrow, NEAREST, operation(Shape::Add, wide, PLAIN, false, [product, 0, widen(c)]))
    };
    found(&planted(Format::F32, narrow, each), "[]");
    let bf16 = move |[a, b, c]: [u64; 3]| {
        let widen = |bits| convert(Layout::BF16, narrow, NEAREST, bits);
        let product = operation(Shape::Mul, narrow, PLAIN, false, [widen(a), widen(b), 0]);
        convert(narrow, Layout::BF16, NEAREST, operation(Shape::Add, narrow, PLAIN, false, [product, 0, widen(c)]))
    };
    found(&planted(Format::BF16, Layout::BF16, bf16), r#"[{"kind":"wide-whole","what":"f32"}]"#);
}

#[test]
fn the_truncating_mad_of_old_machines() {
    let mad = Spec {
        flush: Some(FlushRule::Delivered),
        flush_of_two: Some(FlushRule::Rounded),
        ..Spec::new(Shape::TruncatedMulAdd, Layout::F32, NEAREST)
    };
    let answer = planted(Format::F32, Layout::F32, move |triple| judge(&mad, triple).bits);
    found(&answer, r#"[{"kind":"fused","what":"a * b"},{"kind":"truncated-product"}]"#);
}

#[test]
fn the_rest_is_grouped_by_what_explains_it() {
    let triples = triples(Layout::F32, 3000);
    let values =
        |at: usize| array(Format::F32, &triples.iter().map(|triple| triple[at]).collect::<Vec<u64>>(), &[3000]);
    let mut seen: Vec<u64> = triples.iter().map(|&triple| split(Layout::F32, PLAIN)(triple)).collect();
    // A tenth was rounded toward zero, and one element is unexplained.
    let toward_zero = Mode { direction: Direction::Zero, ..PLAIN };
    (0..300).for_each(|at| seen[at] = split(Layout::F32, toward_zero)(triples[at]));
    seen[2999] = 0x4242_4242;
    let names = [("a", values(0)), ("b", values(1)), ("c", values(2))];
    let answer = ask("a*b+c", &names, array(Format::F32, &seen, &[3000]));
    let seen = &answer.seen[0];
    assert_eq!(seen.outcome, Outcome::None);
    assert_eq!((seen.unexplained, seen.first_unexplained.as_ref().unwrap().index.as_slice()), (1, &[2999][..]));
    assert_eq!(seen.groups[0].deviations, []);
    assert_eq!(serde_json::to_string(&seen.groups[1].deviations).unwrap(), r#"[{"kind":"round","what":"rz"}]"#);
    assert_eq!(seen.groups.iter().map(|group| group.count).sum::<usize>(), 2999);
    assert!(!answer.explained());
}

#[test]
fn nan_bits_are_a_group_of_their_own() {
    let values = |bits: [u64; 3]| array(Format::F32, &bits, &[3]);
    let names = [("a", values([0x7f80_0000, 0x3f80_0000, 0x4000_0000])), ("b", values([0, 0x3f80_0001, 0x4040_0000]))];
    let answer = ask("a*b", &names, values([0x7fc0_1234, 0x3f80_0001, 0x40c0_0000]));
    let groups = &answer.seen[0].groups;
    assert_eq!(groups.iter().map(|group| group.count).collect::<Vec<usize>>(), [2, 1]);
    assert_eq!(serde_json::to_string(&groups[1].deviations).unwrap(), r#"[{"kind":"other-nan"}]"#);
    assert_eq!(groups[1].inputs, Some("an infinity is among the inputs of each"));
}

#[test]
fn what_cannot_be_told_apart_is_ambiguous() {
    let values = |bits: u64| array(Format::F32, &[bits; 4], &[4]);
    // 2 × 2 + 1 is exact in every evaluation that keeps its range; 1.5 ulp above one tells up from nearest only.
    let names = [("a", values(0x3f80_0001)), ("b", values(0x3f80_0001)), ("c", values(0))];
    let answer = ask("a*b+c", &names, values(0x3f80_0003));
    assert_eq!(deviations(&answer), r#"[{"kind":"round","what":"rp"}]"#);
    let names = [("a", values(0x3f80_0001)), ("b", values(0x3f80_0001)), ("c", values(0x3f00_0000))];
    let exact = operation(Shape::MulAdd, Layout::F32, PLAIN, false, [0x3f80_0001, 0x3f80_0001, 0x3f00_0000]);
    let down =
        split(Layout::F32, Mode { direction: Direction::Down, ..PLAIN })([0x3f80_0001, 0x3f80_0001, 0x3f00_0000]);
    assert_ne!(exact, down - 1);
    let answer = ask("a*b+c", &names, values(down));
    assert_eq!(exact, down);
    // Four equal elements say little.
    assert_eq!(answer.seen[0].outcome, Outcome::Consistent);
}

/// A sum by the judge.
fn chain(terms: impl Iterator<Item = [u64; 2]>, is_fused: bool) -> u64 {
    terms.fold(0, |sum, [a, b]| if is_fused { fma(a, b, sum) } else { plus(sum, multiply(a, b)) })
}

fn halves(terms: &[[u64; 2]]) -> u64 {
    match terms {
        [] => 0,
        [[a, b]] => operation(Shape::Mul, Layout::F32, PLAIN, false, [*a, *b, 0]),
        _ => plus(halves(&terms[..terms.len() / 2]), halves(&terms[terms.len() / 2..])),
    }
}

fn threads(terms: &[[u64; 2]], count: usize, is_fused: bool) -> u64 {
    let mut partial: Vec<u64> =
        (0..count).map(|at| chain(terms.iter().copied().skip(at).step_by(count), is_fused)).collect();
    while partial.len() > 1 {
        let half = partial.len() / 2;
        partial = (0..half).map(|at| plus(partial[at], partial[at + half])).collect();
    }
    partial[0]
}

#[test]
fn sums_are_told_apart_by_their_order() {
    let (rows, length) = (24, 700);
    let near_one = |bits: u64| (bits & !Layout::F32.infinity()) | Layout::F32.one();
    let mut generator = Generator::new(11, Layout::F32, Layout::F32);
    let mut random = || near_one(generator.triple()[0] ^ generator.triple()[1] << 1 & 0x7f_ffff);
    let terms: Vec<[u64; 2]> = (0..rows * length).map(|_| [random(), random()]).collect();
    let values =
        |at: usize| array(Format::F32, &terms.iter().map(|term| term[at]).collect::<Vec<u64>>(), &[rows, length]);
    let names = [("a", values(0)), ("b", values(1))];
    type Sum = fn(&[[u64; 2]]) -> u64;
    let cases: [(Sum, &str, bool); 9] = [
        (|terms| chain(terms.iter().copied(), false), "", false),
        (|terms| chain(terms.iter().copied(), true), "", true),
        (|terms| chain(terms.iter().rev().copied(), false), "from the last term to the first", false),
        (|terms| chain(terms.iter().rev().copied(), true), "from the last term to the first", true),
        (halves, "by halves (pairwise)", false),
        (|terms| threads(terms, 32, false), "of 32 partial sums", false),
        (|terms| threads(terms, 128, true), "of 128 partial sums", true),
        (|terms| threads(terms, 256, true), "of 256 partial sums", true),
        (
            |terms| terms.chunks(128).map(|block| chain(block.iter().copied(), true)).fold(0, plus),
            "of blocks of 128 terms",
            true,
        ),
    ];
    for (sum, order, is_fused) in cases {
        let seen: Vec<u64> = terms.chunks(length).map(sum).collect();
        let answer = ask("sum(a*b, 1)", &names, array(Format::F32, &seen, &[rows]));
        let group = &answer.seen[0].groups[0];
        let found = deviations(&answer);
        assert_eq!((group.count, answer.seen[0].outcome), (rows, Outcome::One), "{order}: {answer:#?}");
        assert_eq!(found.contains("fused"), is_fused, "{order}: {found}");
        assert_eq!(found.contains("order"), !order.is_empty(), "{order}: {found}");
        assert!(found.contains(order), "{order}: {found}");
    }
    // Over the other axis, in order: each column's sum strides over the rows.
    let column = |at: usize| terms.iter().copied().skip(at).step_by(length);
    let seen: Vec<u64> = (0..length).map(|at| chain(column(at), true)).collect();
    let answer = ask("sum(a*b, 0)", &names, array(Format::F32, &seen, &[length]));
    assert_eq!((answer.seen[0].groups[0].count, deviations(&answer)), (length, format!("[{FUSED}]")));
    // And over all of them.
    let seen = chain(terms.iter().copied(), false);
    let answer = ask("sum(a * b)", &names, array(Format::F32, &[seen], &[]));
    assert_eq!((answer.seen[0].groups[0].count, deviations(&answer).as_str()), (1, "[]"));
}

/// Noise of a few ulps, with and without what is right: no order explains it.
#[test]
fn noise_is_explained_by_nothing() {
    let near_one = |bits: u64| (bits & !Layout::F32.infinity()) | Layout::F32.one();
    for (seed, (rows, length, widest)) in
        [(256, 64, 3), (40, 64, 1), (256, 200, 2), (1000, 20, 1)].into_iter().enumerate()
    {
        let mut generator = Generator::new(90 + seed as u64, Layout::F32, Layout::F32);
        let mut random = || generator.triple()[0] ^ generator.triple()[1] << 1;
        let terms: Vec<u64> = (0..rows * length).map(|_| near_one(random() & 0x7f_ffff)).collect();
        let m = [("m", array(Format::F32, &terms, &[rows, length]))];
        let wide = |bits| convert(Layout::F32, Layout::F64, NEAREST, bits);
        let sum = |row: &[u64]| {
            let add = |sum, &term| operation(Shape::Add, Layout::F64, PLAIN, false, [sum, 0, wide(term)]);
            convert(Layout::F64, Layout::F32, NEAREST, row.iter().fold(0, add))
        };
        let exact: Vec<u64> = terms.chunks(length).map(sum).collect();
        let mut moved = |bits: &u64| bits + random() % (2 * widest + 1) - widest;
        let noise: Vec<u64> = exact.iter().map(&mut moved).collect();
        let answer = ask("sum(m, 1)", &m, array(Format::F32, &noise, &[rows]));
        let seen = &answer.seen[0];
        assert_eq!((seen.outcome, seen.groups.len(), seen.unexplained), (Outcome::None, 0, rows), "{answer:#?}");
        let [matched, after] = seen.by_accident.unwrap();
        assert!(matched < 2 * after, "{matched} {after}");
        // Noise in a few rows: the others are explained, and it is not.
        let some = exact
            .iter()
            .zip(&noise)
            .enumerate()
            .map(|(row, (exact, noise))| if row % 9 == 0 { *noise } else { *exact });
        let some: Vec<u64> = some.collect();
        let right = exact.iter().zip(&some).filter(|(exact, some)| exact == some).count();
        let answer = ask("sum(m, 1)", &m, array(Format::F32, &some, &[rows]));
        let seen = &answer.seen[0];
        assert_eq!(seen.groups.iter().map(|group| group.count).collect::<Vec<usize>>(), [right], "{answer:#?}");
        assert!(seen.outcome == Outcome::None && deviations(&answer).contains("wide-whole"), "{answer:#?}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let one = array(Format::F32, &[0; 6], &[2, 3]);
    let names = |values: &[(&str, &Values)]| -> BTreeMap<String, Values> {
        values.iter().map(|(name, values)| ((*name).to_owned(), (*values).clone())).collect()
    };
    let error = |text: &str, values: &[(&str, &Values)]| Question::parse(text, names(values)).unwrap_err();
    assert!(error("a+b", &[("a", &one)]).message.contains("`b` has no value"));
    assert_eq!(error("sum(a, 2)", &[("a", &one)]).at, 7);
    assert!(error("sum(a)*sum(a)", &[("a", &one)]).message.contains("a second sum"));
    assert!(error("sum(a", &[("a", &one)]).message.contains("`)`"));
    let other = array(Format::F32, &[0; 6], &[3, 2]);
    assert!(error("a+b", &[("a", &one), ("b", &other)]).message.contains("[2, 3] and `b` [3, 2]"));
    let question = Question::parse("a+a", names(&[("a", &one)])).unwrap();
    let seen = [("s".to_owned(), other)];
    let refused = answer_arrays(&question, &seen, Options::default(), &Profile::NVIDIA, &mut |_| ()).unwrap_err();
    assert_eq!(refused, "`s` has the shape [3, 2], the result [2, 3]");
}

/// An index that is a name is the element at the place that is looked at; one that is a number is that element.
#[test]
fn names_may_have_an_index() {
    let values: Vec<u64> = (0..8).map(|at| 0x3f80_0001 + at * 0x0011_1111).collect();
    let names = || {
        let c = array(Format::F32, &[0xbf80_0002, 0x4000_0000], &[2]);
        BTreeMap::from([("a".to_owned(), array(Format::F32, &values, &[8])), ("c".to_owned(), c)])
    };
    let question = Question::parse("a[i]*a[i] + c[1]", names()).unwrap();
    let square = |a: u64| operation(Shape::MulAdd, Layout::F32, PLAIN, false, [a, a, 0x4000_0000]);
    let fused: Vec<u64> = values.iter().map(|&a| square(a)).collect();
    let seen = [("saw".to_owned(), array(Format::F32, &fused, &[8]))];
    let answer = answer_arrays(&question, &seen, Options::default(), &Profile::NVIDIA, &mut |_| ()).unwrap();
    assert_eq!(answer.seen[0].unexplained, 0);
    assert!(answer.seen[0].groups[0].sentence.contains("fuses"), "{}", answer.seen[0].groups[0].sentence);
    assert!(
        Question::parse("a[i] + c[2]", names()).unwrap_err().message.contains("`c[2]`: there is no 2 in an axis of 2")
    );
}

/// A negative index counts from behind the last, and `:` is a whole axis, as NumPy has them.
#[test]
fn an_index_is_numpys() {
    let values: Vec<u64> = (0..24).map(|at| 0x3f80_0001 + at * 0x0011_1111).collect();
    let x = array(Format::F32, &values, &[4, 6]);
    let square = |a: &u64, b: &u64| operation(Shape::Mul, Layout::F32, PLAIN, false, [*a, *b, 0]);
    let is_explained = |text: &str, seen: Vec<u64>, shape: &[usize]| {
        let seen = array(Format::F32, &seen, shape);
        assert_eq!(ask(text, &[("x", x.clone())], seen).seen[0].unexplained, 0, "{text}");
    };
    let rows = |row: usize| values.iter().enumerate().map(|(at, a)| square(&values[row * 6 + at % 6], a)).collect();
    is_explained("x[-1]*x", rows(3), &[4, 6]);
    is_explained("x[-4]*x[i,j]", rows(0), &[4, 6]);
    let columns = (0..4).map(|row| square(&values[row * 6 + 1], &values[row * 6 + 5])).collect();
    is_explained("x[:,1]*x[:, -1]", columns, &[4]);
    let rows = (0..6).map(|column| square(&values[6 + column], &values[12 + column])).collect();
    is_explained("x[1][k]*x[2, k]", rows, &[6]);
    is_explained("x[i][j]*x[i, j]", values.iter().map(|a| square(a, a)).collect(), &[4, 6]);
}

/// What an index says is done or refused, with its place, and nothing of it is dropped.
#[test]
fn other_indices_are_refused() {
    let x = array(Format::F32, &[0x3f80_0000; 36], &[6, 6]);
    let names = || BTreeMap::from(["x", "y"].map(|name| (name.to_owned(), x.clone())));
    let refused = [
        ("y + x[i+1]", 4, "the index `i+1` is not read"),
        ("y + x[i - 1, j]", 4, "the index `i - 1` is not read"),
        ("y + x[None]", 4, "the index `None` is not read"),
        ("y[i,j] * x[0:2]", 9, "the index `0:2` is not read"),
        ("x[...]*y", 0, "the index `...` is not read"),
        ("y*x[6]", 2, "there is no 6 in an axis of 6"),
        ("y*x[-7]", 2, "there is no -7 in an axis of 6"),
        ("y*x[0,0,0]", 2, "`[0,0,0]` is of 3 axes, of which 2 are there"),
        ("x[j,i] * y[i,j]", 9, "`j` of `y[i,j]` is not the same axis as in `x[j,i]`"),
        ("x[i,j] * y[i,0]", 9, "`i` of `y[i,0]` is not the same axis as in `x[i,j]`"),
        ("x[i,i]", 0, "`x[i,i]` has `i` for two axes"),
        ("(x-y)[0]", 5, "`[` is not read here"),
        ("sum(x,0)[1]", 8, "`[` is not read here"),
        ("sum(x[i+1]*y, 1)", 4, "the index `i+1` is not read"),
        ("2*b*b", 2, "`b` has no value"),
    ];
    for (text, at, message) in refused {
        let error = Question::parse(text, names()).unwrap_err();
        assert!(error.at == at && error.message.contains(message), "{text}: {error:?}");
    }
    let shifted =
        names().into_iter().map(|(name, values)| (if name == "y" { "x[i+1]".to_owned() } else { name }, values));
    assert!(Question::parse("x[i+1] - x[i]", shifted.collect()).is_ok());
}

/// A function that is off by as much as a document allows, and one that is off by more.
#[test]
fn functions_within_their_documents() {
    let count = 300;
    let x: Vec<u64> = (0..count).map(|at| 0x3f80_0000 + at * 0x1_4321).collect();
    let names = [("x", array(Format::F32, &x, &[count as usize]))];
    // The host's exp in f64 rounds to the right f32 but for one in 2^29, and is moved here.
    let right = |bits: &u64| u64::from((f64::from(f32::from_bits(*bits as u32)).exp() as f32).to_bits());
    let moved = |by: &[i64]| -> Vec<u64> {
        x.iter().enumerate().map(|(at, bits)| right(bits).wrapping_add_signed(by[at % by.len()])).collect()
    };
    let answer_to = |seen: &[u64]| ask("exp(x)", &names, array(Format::F32, seen, &[count as usize]));
    let answer = answer_to(&moved(&[0, 1, -2, 2, -1, 0, 0]));
    let seen = &answer.seen[0];
    assert_eq!((seen.unexplained, seen.outcome), (0, Outcome::Consistent), "{answer:#?}");
    let sentence = &seen.groups.last().unwrap().sentence;
    assert!(sentence.contains("gives for exp(x) up to 2 values beside the correctly rounded one"), "{sentence}");
    assert!(sentence.contains("expf of CUDA (2 ulp)") && sentence.contains("exp of OpenCL (3 ulp)"), "{sentence}");
    let answer = answer_to(&moved(&[0, 3, -3, 2]));
    let sentence = &answer.seen[0].groups.last().unwrap().sentence;
    // OpenCL's 3 ulp are from the exact value: three values from the rounded one are too many on one side of it.
    assert!(!sentence.contains("CUDA") && !sentence.contains("OpenCL"), "{sentence}");
    assert!(sentence.contains("up to 3 values") && sentence.contains("exp of NumPy (4 ulp)"), "{sentence}");
    // What no document allows is not explained, whatever part of it is.
    let answer = answer_to(&moved(&[1, 50, -60, 2, 70]));
    assert!(answer.seen[0].groups.is_empty(), "{answer:#?}");
    // As written it is said so.
    assert_eq!(answer_to(&moved(&[0])).seen[0].outcome, Outcome::One);
}
