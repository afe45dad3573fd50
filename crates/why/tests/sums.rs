//! Sums, means and matrix products made by the exact-rational judge: how they are written, and how they are found.

mod rational;

use std::collections::BTreeMap;

use rational::{NEAREST, PLAIN, array, ask, convert, deviations, fma, multiply, numbers, operation, plus};
use roundonce_arith::Format;
use roundonce_oracle::generate::Generator;
use roundonce_oracle::{Layout, Shape};
use roundonce_why::{ArrayAnswer, Outcome, Question, Values};

fn fused(terms: impl Iterator<Item = [u64; 2]>) -> u64 {
    terms.fold(0, |sum, [a, b]| fma(a, b, sum))
}

/// The terms of an element of a matrix product.
fn row_by_column<'a>(
    a: &'a [u64],
    b: &'a [u64],
    (k, n): (usize, usize),
    at: usize,
) -> impl Iterator<Item = [u64; 2]> + use<'a> {
    (0..k).map(move |step| [a[at / n * k + step], b[step * n + at % n]])
}

fn f32s(values: &[u64], shape: &[usize]) -> Values {
    array(Format::F32, values, shape)
}

#[track_caller]
fn all_found(answer: &ArrayAnswer, expected: &str) {
    let seen = &answer.seen[0];
    assert_eq!((seen.unexplained, seen.groups.len(), seen.outcome), (0, 1, Outcome::One), "{answer:#?}");
    assert_eq!(deviations(answer), expected);
}

const FUSED: &str = r#"[{"kind":"fused","what":"a[i,k] * b[k,j]"}]"#;

#[test]
fn matrix_products_are_told_apart() {
    let (m, k, n) = (9, 70, 8);
    let (a, b) = (numbers(1, m * k), numbers(2, k * n));
    let names = [("a", f32s(&a, &[m, k])), ("b", f32s(&b, &[k, n]))];
    let each = |sum: &dyn Fn(Vec<[u64; 2]>) -> u64| {
        let of = |at| sum(row_by_column(&a, &b, (k, n), at).collect());
        f32s(&(0..m * n).map(of).collect::<Vec<u64>>(), &[m, n])
    };
    let in_order = each(&|terms| fused(terms.into_iter()));
    all_found(&ask("a @ b", &names, in_order.clone()), FUSED);
    all_found(&ask("np.matmul(a, b)", &names, in_order.clone()), FUSED);
    all_found(&ask("a.dot(b)", &names, in_order), FUSED);
    let rounded = each(&|terms| terms.into_iter().fold(0, |sum, [a, b]| plus(sum, multiply(a, b))));
    all_found(&ask("a @ b", &names, rounded), "[]");
    let split_k = each(&|terms| {
        let sums: Vec<u64> = terms.chunks(35).map(|part| fused(part.iter().copied())).collect();
        plus(sums[0], sums[1])
    });
    let answer = ask("a @ b", &names, split_k);
    assert!(deviations(&answer).contains("of 2 parts") && answer.seen[0].unexplained == 0, "{answer:#?}");
    // TF32 by truncation: thirteen bits are cut off.
    let cut = |bits: u64| bits & !0x1fff;
    let tf32 = each(&|terms| fused(terms.into_iter().map(|term| term.map(cut))));
    all_found(&ask("a @ b", &names, tf32), r#"[{"kind":"tf32-factors","what":"cut off"}]"#);
}

#[test]
fn matrices_are_read_in_every_shape() {
    let (m, k, n) = (4, 30, 5);
    let (a, b, v, c) = (numbers(3, 2 * m * k), numbers(4, k * n), numbers(5, k), numbers(6, n));
    let of = |a: &[u64]| (0..m * n).map(|at| fused(row_by_column(a, &b, (k, n), at))).collect::<Vec<u64>>();
    let (first, second) = (of(&a[..m * k]), of(&a[m * k..]));
    let transposed: Vec<u64> = (0..n * k).map(|at| b[at % k * n + at / k]).collect();
    let names = [
        ("a", f32s(&a, &[2, m, k])),
        ("b", f32s(&b, &[k, n])),
        ("t", f32s(&transposed, &[n, k])),
        ("v", f32s(&v, &[k])),
        ("c", f32s(&c, &[n])),
    ];
    let finds = |text: &str, seen: &[u64], shape: &[usize]| {
        let answer = ask(text, &names, f32s(seen, shape));
        assert_eq!(answer.seen[0].unexplained, 0, "{text}: {answer:#?}");
        assert!(deviations(&answer).contains("fused"), "{text}: {answer:#?}");
        answer.expression
    };
    finds("a @ b", &[first.clone(), second.clone()].concat(), &[2, m, n]);
    assert_eq!(finds("a[1] @ t.T", &second, &[m, n]), "a[1] @ t.T");
    let by_vector: Vec<u64> = (0..n).map(|at| fused((0..k).map(|step| [v[step], b[step * n + at]]))).collect();
    finds("v @ b", &by_vector, &[n]);
    finds("t @ v", &by_vector, &[n]);
    let half = operation(Shape::Mul, Layout::F32, PLAIN, false, [0x3f00_0000, 0x3f80_0000, 0]);
    let scaled: Vec<u64> = first.iter().enumerate().map(|(at, &sum)| plus(multiply(half, sum), c[at % n])).collect();
    assert_eq!(finds("0.5f*(a[0] @ b) + c", &scaled, &[m, n]), "0.5f * (a[0] @ b) + c");
    finds("p = a[0] @ b\np * 0.5f + c", &scaled, &[m, n]);
}

#[test]
fn sums_are_read_as_numpy_writes_them() {
    let (rows, length) = (30, 90);
    let m = numbers(7, rows * length);
    let w = numbers(8, length);
    let names = [("m", f32s(&m, &[rows, length])), ("w", f32s(&w, &[length]))];
    // A vector repeats over the rows.
    let products = |row: &[u64]| row.iter().zip(&w).map(|(&a, &b)| [a, b]).collect::<Vec<[u64; 2]>>();
    let weighted: Vec<u64> = m.chunks(length).map(|row| fused(products(row).into_iter())).collect();
    let texts = ["sum(m*w, 1)", "np.sum(m * w, axis=-1)", "(m*w).sum(1)", "m @ w", "t = m*w; sum(t, 1)"];
    for text in texts.into_iter().chain(["t = w; u = m*t\nv = u.sum(1)"]) {
        let answer = ask(text, &names, f32s(&weighted, &[rows]));
        assert!(deviations(&answer).contains("fused") && answer.seen[0].unexplained == 0, "{text}: {answer:#?}");
    }
    let total = |row: &[u64]| row.iter().fold(0, |sum, &term| plus(sum, term));
    let sums: Vec<u64> = m.chunks(length).map(total).collect();
    let kept = ask("m.sum(1, keepdims=True)", &names, f32s(&sums, &[rows, 1]));
    all_found(&kept, "[]");
    // A sum repeats over the elements that it is taken from.
    let shifted: Vec<u64> = m.iter().enumerate().map(|(at, &term)| plus(sums[at / length], term)).collect();
    all_found(&ask("sum(m, 1, keepdims=True) + m", &names, f32s(&shifted, &[rows, length])), "[]");
    let columns: Vec<u64> =
        (0..length).map(|at| m.iter().skip(at).step_by(length).fold(0, |sum, &term| plus(sum, term))).collect();
    let answer = ask("sum(m, 0)", &names, f32s(&columns, &[length]));
    all_found(&answer, "[]");
    assert!(answer.untried.is_empty(), "{answer:#?}");
}

/// Where the terms of the first axis stand beside each other in memory, in Fortran order or after a transpose, NumPy sums that axis
/// by eight partial sums.
#[test]
fn numpys_order_is_one_of_the_first_axis_too() {
    let (rows, length) = (45, 60);
    let m = numbers(17, rows * length);
    let sum = |terms: Vec<u64>| {
        let (whole, rest) = terms.split_at(terms.len() / 8 * 8);
        let parts: Vec<u64> = (0..8).map(|at| whole[at..].iter().step_by(8).copied().reduce(plus).unwrap()).collect();
        let pairs: Vec<u64> = parts.chunks(2).map(|pair| plus(pair[0], pair[1])).collect();
        let all = plus(plus(pairs[0], pairs[1]), plus(pairs[2], pairs[3]));
        rest.iter().fold(all, |sum, term| plus(sum, *term))
    };
    let columns: Vec<u64> = (0..length).map(|at| sum(m.iter().skip(at).step_by(length).copied().collect())).collect();
    let transposed: Vec<u64> = (0..length).flat_map(|at| m.iter().skip(at).step_by(length).copied()).collect();
    let names = [("m", f32s(&m, &[rows, length])), ("t", f32s(&transposed, &[length, rows]))];
    for text in ["sum(m, 0)", "sum(t.T, 0)", "sum(t, 1)"] {
        let answer = ask(text, &names, f32s(&columns, &[length]));
        assert!(deviations(&answer).contains("NumPy's add.reduce"), "{text}: {answer:#?}");
        assert_eq!(answer.seen[0].unexplained, 0, "{text}");
    }
}

/// Factors of f16 whose products cancel but for the last two, which are smaller by a power of two: what a wider type rounds
/// shows in the sum.
fn cancelling((m, k, n): (usize, usize, usize), smaller_by: u64) -> [Vec<u64>; 2] {
    let half = |bits: &u64| convert(Layout::F32, Layout::F16, NEAREST, *bits);
    let [mut a, mut b] =
        [(21, m * k), (22, k * n)].map(|(seed, count)| numbers(seed, count).iter().map(half).collect::<Vec<u64>>());
    let cancelled = k / 2 - 1;
    for step in 0..cancelled {
        (0..m).for_each(|row| a[row * k + step + cancelled] = a[row * k + step]);
        (0..n).for_each(|column| b[(step + cancelled) * n + column] = b[step * n + column] ^ 0x8000);
    }
    b[2 * cancelled * n..].iter_mut().for_each(|bits| *bits -= smaller_by << Layout::F16.frac_bits);
    [a, b]
}

/// What is found where a matrix product of f16 was summed in a wider type.
fn ask_of_halves(
    (m, k, n): (usize, usize, usize),
    [a, b]: [Vec<u64>; 2],
    wide: Layout,
    sum: impl Fn(&[[u64; 2]]) -> u64,
) -> ArrayAnswer {
    let widen = |bits| convert(Layout::F16, wide, NEAREST, bits);
    let of = |at| {
        let terms: Vec<[u64; 2]> = row_by_column(&a, &b, (k, n), at).map(|term| term.map(widen)).collect();
        convert(wide, Layout::F16, NEAREST, sum(&terms))
    };
    let seen: Vec<u64> = (0..m * n).map(of).collect();
    let halves = |values: &[u64], shape: &[usize]| array(Format::F16, values, shape);
    ask("a @ b", &[("a", halves(&a, &[m, k])), ("b", halves(&b, &[k, n]))], halves(&seen, &[m, n]))
}

#[test]
fn halves_are_added_in_f64_too() {
    let shape = (12, 32, 12);
    let fused = |sum, &[a, b]: &[u64; 2]| operation(Shape::MulAdd, Layout::F64, PLAIN, false, [a, b, sum]);
    let answer = ask_of_halves(shape, cancelling(shape, 9), Layout::F64, |terms| terms.iter().fold(0, fused));
    all_found(&answer, r#"[{"kind":"wide-whole","what":"f64"}]"#);
}

/// Sums of f16 that are kept in f32 seldom tell their order: several are near to one that is not among those compared.
#[test]
fn an_order_near_the_true_one_is_no_cause() {
    let shape = (48, 200, 48);
    let in_blocks = |terms: &[[u64; 2]]| terms.chunks(7).map(|block| fused(block.iter().copied())).fold(0, plus);
    let answer = ask_of_halves(shape, cancelling(shape, 0), Layout::F32, in_blocks);
    let groups = &answer.seen[0].groups;
    assert!(groups.iter().all(|group| group.count < 48 * 48 && group.evidence == 0.0), "{answer:#?}");
}

/// What orders have in common for few terms is said of all of them.
#[test]
fn orders_that_are_one_are_named_together() {
    let m = numbers(9, 300);
    // The last two first.
    let sum = |row: &[u64]| plus(plus(row[2], row[1]), row[0]);
    let seen: Vec<u64> = m.chunks(3).map(sum).collect();
    let answer = ask("sum(m, 1)", &[("m", f32s(&m, &[100, 3]))], f32s(&seen, &[100]));
    let group = &answer.seen[0].groups[0];
    assert_eq!((group.count, answer.seen[0].outcome), (100, Outcome::Ambiguous), "{answer:#?}");
    for name in ["from the last term to the first", "by halves (pairwise)"] {
        let named = |sentence: &String| sentence.contains(name);
        assert!(named(&group.sentence) || group.alternatives.iter().any(named), "{name}: {answer:#?}");
    }
}

#[test]
fn noise_beside_a_matrix_product_is_explained_by_nothing() {
    let (m, k, n) = (12, 60, 12);
    let (a, b) = (numbers(10, m * k), numbers(11, k * n));
    let wide = |bits| convert(Layout::F32, Layout::F64, NEAREST, bits);
    let sum = |at| {
        let terms = row_by_column(&a, &b, (k, n), at).map(|term| term.map(wide));
        let sum = terms.fold(0, |sum, [a, b]| operation(Shape::MulAdd, Layout::F64, PLAIN, false, [a, b, sum]));
        convert(Layout::F64, Layout::F32, NEAREST, sum)
    };
    let mut generator = Generator::new(12, Layout::F32, Layout::F32);
    let seen: Vec<u64> = (0..m * n).map(|at| sum(at) + generator.triple()[0] % 7 - 3).collect();
    let names = [("a", f32s(&a, &[m, k])), ("b", f32s(&b, &[k, n]))];
    let answer = ask("a @ b", &names, f32s(&seen, &[m, n]));
    assert_eq!((answer.seen[0].outcome, answer.seen[0].groups.len()), (Outcome::None, 0), "{answer:#?}");
}

#[test]
fn what_is_wrong_with_a_sum_is_said_with_its_place() {
    let names = BTreeMap::from([
        ("a".to_owned(), f32s(&[0; 6], &[2, 3])),
        ("v".to_owned(), f32s(&[0; 2], &[2])),
        ("long".to_owned(), f32s(&[0; 20_000], &[20_000, 1])),
        (
            "s".to_owned(),
            Values { column: roundonce_why::Column::one(roundonce_why::parse_typed("1f").unwrap().0), shape: vec![] },
        ),
    ]);
    let cases = [
        ("sum(a, 2)", 7, "`2` is not an axis: the arrays have 2"),
        ("sum(a, -3)", 7, "`-3` is not an axis"),
        ("sum(a, axis=(0,1))", 12, "expected one number"),
        ("sum(a, where=a)", 7, "`where` is not known of sum"),
        ("sum(a) + sum(a)", 9, "a second sum"),
        ("sum(a @ v)", 4, "a second sum"),
        ("a @ v", 0, "`a` has the shape [2, 3] and `v` [2]: no matrix product"),
        ("a @ s", 0, "no name is an array"),
        ("a @", 3, "expected an array behind `@`"),
        ("@ a", 0, "expected an array before `@`"),
        ("a + v", 0, "they do not broadcast"),
        ("sum(a", 5, "expected `)`"),
        ("dot(a)", 0, "takes 2 operands, found 1"),
        ("sum(a + b)", 8, "`b` has no value"),
        ("sum(long * long.T)", 4, "more than 268,435,456 elements"),
    ];
    for (text, at, message) in cases {
        let error = Question::parse(text, names.clone()).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error:?}");
        assert!(error.at == at || message.contains("no name"), "{text}: {error:?}");
    }
}

/// Any text is read or refused with a place in it.
#[test]
fn no_text_panics() {
    let words = [
        "sum(",
        "mean(",
        "a",
        "v",
        "s",
        "@",
        ")",
        "(",
        ",",
        "1",
        "-1",
        "axis=",
        "keepdims=True",
        ".sum(",
        ".T",
        "[1]",
        "[i]",
        "*",
        "+",
        "-",
        "**",
        ";",
        "\n",
        "t = ",
        "dot(",
        "a.sum(",
        "np.",
        "2.5f",
        "ſ",
        "é",
        "=",
        "[[1]]",
        "return ",
    ];
    let names = BTreeMap::from([
        ("a".to_owned(), f32s(&[0; 4], &[2, 2])),
        ("v".to_owned(), f32s(&[0; 2], &[2])),
        ("e".to_owned(), f32s(&[], &[0, 2])),
    ]);
    let mut generator = Generator::new(13, Layout::F32, Layout::F32);
    let mut read = 0;
    for _ in 0..30_000 {
        let [length, ..] = generator.triple();
        let mut text = String::new();
        (0..1 + length % 9).for_each(|_| text.push_str(words[generator.triple()[1] as usize % words.len()]));
        match Question::parse(&text, names.clone()) {
            Ok(_) => read += 1,
            Err(error) => assert!(text.is_char_boundary(error.at), "{text}: {error:?}"),
        }
    }
    assert!(read > 100, "{read}");
}

/// An axis without elements has sums of no terms.
#[test]
fn sums_of_nothing_are_zero() {
    let names = [("e", f32s(&[], &[3, 0]))];
    let answer = ask("sum(e, 1)", &names, f32s(&[0; 3], &[3]));
    assert_eq!((answer.seen[0].unexplained, deviations(&answer).as_str()), (0, "[]"), "{answer:#?}");
    assert_eq!(ask("mean(e, 1)", &names, f32s(&[0x7fff_ffff; 3], &[3])).seen[0].unexplained, 0);
}
