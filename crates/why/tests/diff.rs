//! Pairs of computations whose truth is known: by exhaustion through the exact-rational judge in small formats.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;

use roundonce_arith::{Elements, Format, Profile};
use roundonce_oracle::rational::judge;
use roundonce_oracle::{Direction, Layout, Shape, Spec};
use roundonce_why::diff::files::compare_arrays;
use roundonce_why::diff::{Budget, Comparison, Query, Side, Verdict, compare};
use roundonce_why::{Bits, Column, Typed, Values, parse_expr};

/// An expression of the test's own, and its value by the judge.
#[derive(Clone, Debug)]
enum Tree {
    Name(usize),
    Neg(Box<Tree>),
    Binary(char, Box<Tree>, Box<Tree>),
    Fma(Box<Tree>, Box<Tree>, Box<Tree>),
}

const NAMES: [&str; 2] = ["x", "y"];

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Name(at) => NAMES[*at].to_owned(),
            Tree::Neg(inner) => format!("-({})", inner.text()),
            Tree::Binary(operator, a, b) => format!("({}){operator}({})", a.text(), b.text()),
            Tree::Fma(a, b, c) => format!("fma({}, {}, {})", a.text(), b.text(), c.text()),
        }
    }
    fn value(&self, layout: Layout, inputs: [u64; 2]) -> u64 {
        self.value_by(&mut Judged::new(layout), inputs)
    }
    fn value_by(&self, judged: &mut Judged, inputs: [u64; 2]) -> u64 {
        match self {
            Tree::Name(at) => inputs[*at],
            Tree::Neg(inner) => inner.value_by(judged, inputs) ^ judged.layout.sign(),
            Tree::Binary(operator, a, b) => {
                let (a, b) = (a.value_by(judged, inputs), b.value_by(judged, inputs));
                judged.result(*operator, [a, b, 0])
            }
            Tree::Fma(a, b, c) => {
                let operands = [a, b, c].map(|operand| operand.value_by(judged, inputs));
                judged.result('f', operands)
            }
        }
    }
}

/// What the judge said, kept for formats of eight bits: it is asked for millions of results again and again.
struct Judged {
    layout: Layout,
    known: HashMap<char, Vec<u16>>,
}

impl Judged {
    fn new(layout: Layout) -> Judged {
        Judged { layout, known: HashMap::new() }
    }
    fn result(&mut self, operator: char, [a, b, c]: [u64; 3]) -> u64 {
        let layout = self.layout;
        let asked = || {
            let spec = |shape| Spec::new(shape, layout, Direction::Nearest);
            match operator {
                '*' => judge(&spec(Shape::Mul), [a, b, 0]).bits,
                '+' => judge(&spec(Shape::Add), [a, 0, b]).bits,
                '-' => judge(&Spec { negate_c: true, ..spec(Shape::Add) }, [a, 0, b]).bits,
                _ => judge(&spec(Shape::MulAdd), [a, b, c]).bits,
            }
        };
        if layout.width() > 8 {
            return asked();
        }
        let operands = if operator == 'f' { 3 } else { 2 };
        let known = self.known.entry(operator).or_insert_with(|| vec![u16::MAX; 1 << (8 * operands)]);
        let slot = &mut known[(a | b << 8 | c << 16) as usize];
        if *slot == u16::MAX {
            *slot = asked() as u16;
        }
        u64::from(*slot)
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % limit
    }
    fn tree(&mut self, depth: u32, names: u64) -> Tree {
        let inner = |random: &mut Random| Box::new(random.tree(depth - 1, names));
        match if depth == 0 { 0 } else { self.below(7) } {
            0 => Tree::Name(self.below(names) as usize),
            1 => Tree::Neg(inner(self)),
            2 => Tree::Fma(inner(self), inner(self), inner(self)),
            at => Tree::Binary(['*', '*', '+', '-'][at as usize - 3], inner(self), inner(self)),
        }
    }
    /// The same computation written otherwise, or nearly so.
    fn rewritten(&mut self, tree: &Tree) -> Tree {
        let same = |random: &mut Random, tree: &Tree| Box::new(random.rewritten(tree));
        match tree {
            Tree::Name(_) => tree.clone(),
            Tree::Neg(inner) => Tree::Neg(same(self, inner)),
            Tree::Binary('-', a, b) if self.below(2) == 0 => {
                Tree::Binary('+', same(self, a), Box::new(Tree::Neg(same(self, b))))
            }
            Tree::Binary(operator @ ('*' | '+'), a, b) if self.below(2) == 0 => {
                Tree::Binary(*operator, same(self, b), same(self, a))
            }
            Tree::Binary(operator, a, b) => Tree::Binary(*operator, same(self, a), same(self, b)),
            Tree::Fma(a, b, c) => match self.below(3) {
                0 => Tree::Fma(same(self, b), same(self, a), same(self, c)),
                1 => Tree::Binary('+', Box::new(Tree::Binary('*', same(self, a), same(self, b))), same(self, c)),
                _ => Tree::Fma(same(self, a), same(self, b), same(self, c)),
            },
        }
    }
}

fn side(text: &str, format: Format) -> Side {
    let names = NAMES.map(|name| (name.to_owned(), Typed { format, bits: 0 }));
    Side::expression(&parse_expr(text, &BTreeMap::from(names)).unwrap())
}

fn compared(first: &Side, second: &Side, budget: Budget) -> Comparison {
    compare(first, second, None, budget, &Profile::NVIDIA, &|_| None, &|_| ()).unwrap()
}

/// Whether the judge finds them equal on all inputs of so many names, NaNs' bits apart.
fn truth(judged: &mut Judged, names: u64, one: &Tree, other: &Tree) -> bool {
    let layout = judged.layout;
    let all = 1 << layout.width();
    (0..all).all(|x| {
        (0..if names == 2 { all } else { 1 }).all(|y| {
            let [one, other] = [one, other].map(|tree| tree.value_by(judged, [x, y]));
            one == other || layout.is_nan(one) && layout.is_nan(other)
        })
    })
}

/// A format whose inputs the judge goes through, and of how many names.
struct Ground {
    format: Format,
    judged: Judged,
    names: u64,
}

impl Ground {
    fn new(exp_bits: u32, frac_bits: u32, names: u64) -> Ground {
        let judged = Judged::new(Layout { exp_bits, frac_bits });
        Ground { format: Format::new(exp_bits, frac_bits), judged, names }
    }
}

fn hold(pairs: usize, grounds: &mut [Ground], seed: u64) {
    let mut random = Random(seed);
    let (mut equal, mut proved) = (0, 0);
    let count = grounds.len();
    for index in 0..pairs {
        let Ground { format, judged, names } = &mut grounds[index % count];
        let (format, names) = (*format, *names);
        let depth = 1 + random.below(3) as u32;
        let one = random.tree(depth, names);
        let other = if random.below(3) == 0 { random.tree(2, names) } else { random.rewritten(&one) };
        let truth = truth(judged, names, &one, &other);
        equal += usize::from(truth);
        let (first, second) = (side(&one.text(), format), side(&other.text(), format));
        // How often they differ is not asked here: on one element.
        let element = Column { format, bits: Bits::Each(Elements::U64(vec![0])) };
        let data = BTreeMap::from(NAMES.map(|name| (name.to_owned(), element.clone())));
        let verdict = |budget| {
            compare(&first, &second, Some(&data), budget, &Profile::NVIDIA, &|_| None, &|_| ()).unwrap().verdict
        };
        // With all inputs tried the verdict is the truth; without, an equal one still is, and so is a difference.
        let tried = verdict(Budget::default());
        assert_eq!(matches!(tried, Verdict::Equal { .. }), truth, "{} and {}", first.text, second.text);
        match verdict(Budget { exhaustive_bits: 0, random: 1 << 16, ..Budget::default() }) {
            Verdict::Equal { .. } => {
                proved += 1;
                assert!(truth, "{} and {}", first.text, second.text);
            }
            Verdict::Different { .. } => assert!(!truth, "{} and {}", first.text, second.text),
            Verdict::Unknown { .. } => {}
        }
    }
    assert!(equal > pairs / 10 && proved > pairs / 20, "{equal} equal, {proved} proved");
}

#[test]
fn verdicts_are_the_truth() {
    // Five and six bits, which the judge goes through in no time.
    hold(100, &mut [Ground::new(2, 2, 2), Ground::new(3, 2, 2)], 0x2545_f491_4f6c_dd1d);
}

/// By hand: `cargo test --release -p roundonce-why --test diff -- --ignored`.
#[test]
#[ignore = "a minute in release; dev/nightly.sh runs it"]
fn ten_thousand_verdicts_are_the_truth() {
    // Two names of eight bits, one of sixteen: 2^16 inputs each.
    let eight = |seed: u64| hold(4_900, &mut [Ground::new(4, 3, 2), Ground::new(5, 2, 2)], seed);
    let sixteen = || hold(200, &mut [Ground::new(5, 10, 1), Ground::new(8, 7, 1)], 0x9e37_79b9_7f4a_7c15);
    std::thread::scope(|scope| {
        scope.spawn(|| eight(0x2545_f491_4f6c_dd1d));
        scope.spawn(|| {
            eight(0x0123_4567_89ab_cdef);
            sixteen();
        });
    });
}

#[test]
fn a_difference_is_shown_by_inputs_that_make_it() {
    let verdict = |one, other| compared(&side(one, Format::F32), &side(other, Format::F32), Budget::default()).verdict;
    for (one, other) in [("fma(x,y,x)", "x*y+x"), ("x-y", "y-x"), ("x*x*y", "x*y*x"), ("x+y-y", "x")] {
        let Verdict::Different { inputs, first, second, .. } = verdict(one, other) else { panic!("{one} and {other}") };
        let value = |name: &str| {
            let input = inputs.iter().find(|input| input.name == name).map_or("0x0", |input| &input.bits);
            u64::from_str_radix(input.trim_start_matches("0x"), 16).unwrap()
        };
        let inputs = [value("x"), value("y")];
        let tree = |text: &str| match text {
            "fma(x,y,x)" => Tree::Fma(name(0), name(1), name(0)),
            "x*y+x" => Tree::Binary('+', Box::new(Tree::Binary('*', name(0), name(1))), name(0)),
            "x-y" => Tree::Binary('-', name(0), name(1)),
            "y-x" => Tree::Binary('-', name(1), name(0)),
            "x*x*y" => Tree::Binary('*', Box::new(Tree::Binary('*', name(0), name(0))), name(1)),
            "x*y*x" => Tree::Binary('*', Box::new(Tree::Binary('*', name(0), name(1))), name(0)),
            "x+y-y" => Tree::Binary('-', Box::new(Tree::Binary('+', name(0), name(1))), name(1)),
            _ => Tree::Name(0),
        };
        let (a, b) = (tree(one).value(Layout::F32, inputs), tree(other).value(Layout::F32, inputs));
        assert_ne!(a, b);
        assert!(
            first.starts_with(&format!("{a:#010x}")) && second.starts_with(&format!("{b:#010x}")),
            "{first} {second}"
        );
    }
    assert!(matches!(verdict("x*y", "y*x"), Verdict::Equal { .. }));
    assert!(matches!(verdict("x*x+y", "y+x*x"), Verdict::Equal { .. }));
}

/// Signs move through products and along with terms; through sums that are zero they do not.
#[test]
fn signs_move_where_they_may() {
    let verdict = |one, other| compared(&side(one, Format::F64), &side(other, Format::F64), Budget::default()).verdict;
    for (one, other) in [
        ("-((-x)*y)", "x*y"),
        ("-(x*(-y))+x", "x+y*x"),
        ("x-x*y", "-(y*x)+x"),
        ("fma(-(x*y),x,y)", "fma(y*x,-x,y)"),
        ("(-x-y)*y", "y*(-y-x)"),
    ] {
        let found = verdict(one, other);
        assert!(matches!(found, Verdict::Equal { .. }), "{one} and {other}: {found:?}");
    }
    // That is all that differs, and is said so.
    let found = compared(&side("-(x-y)", Format::F64), &side("y-x", Format::F64), Budget::default());
    let Verdict::Different { first, second, .. } = &found.verdict else { panic!("{found:?}") };
    assert_eq!((first.as_str(), second.as_str()), ("0x8000000000000000 -0", "0x0000000000000000 0"));
    assert!(found.lines().iter().any(|line| line.to_string().contains("only the sign of zero")), "{found:?}");
}

/// A person would call numbers a difference, before infinities and NaNs, and these before the sign of zero.
#[test]
fn a_witness_is_a_number_where_there_is_one() {
    for (one, other) in [("(x+y)+x", "(x+x)+y"), ("(x*y)*y", "x*(y*y)"), ("fma(x,y,x)", "x*y+x")] {
        let found = compared(&side(one, Format::F32), &side(other, Format::F32), Budget::default()).verdict;
        let Verdict::Different { inputs, first, second, ulps } = &found else { panic!("{one} and {other}: {found:?}") };
        let is_plain = |text: &String| !["nan", "inf"].iter().any(|word| text.contains(word));
        assert!(is_plain(first) && is_plain(second) && *ulps != Some(0), "{one} and {other}: {found:?}");
        assert!(inputs.iter().all(|input| is_plain(&input.value)), "{one} and {other}: {found:?}");
    }
}

/// Of 32 bits of input the edges are tried before the rest, on however many threads.
#[test]
fn a_difference_at_an_edge_is_found_before_all_are_counted() {
    for (one, other, format, expected) in [
        ("x+0f", "x", Format::F32, &[0x8000_0000][..]),
        ("x-x", "0f", Format::F32, &[0x7f80_0000]),
        ("x+y", "x+y+0h", Format::F16, &[0x8000, 0x8000]),
    ] {
        let sides = (side(one, format), side(other, format));
        let found = [1, 3].map(|threads| {
            let tried = Cell::new(0);
            let budget = Budget { threads: NonZeroUsize::new(threads), ..Budget::default() };
            let progress = |inputs| tried.set(tried.get() + inputs);
            let found = compare(&sides.0, &sides.1, None, budget, &Profile::NVIDIA, &|_| None, &progress).unwrap();
            assert!(tried.get() < 1 << 21, "{one} and {other}: {} inputs", tried.get());
            found
        });
        assert_eq!(found[0], found[1]);
        let Verdict::Different { inputs, .. } = &found[0].verdict else { panic!("{one} and {other}: {found:?}") };
        let bits: Vec<u64> =
            inputs.iter().map(|input| u64::from_str_radix(input.bits.trim_start_matches("0x"), 16).unwrap()).collect();
        assert_eq!(bits, expected, "{one} and {other}");
    }
}

fn name(at: usize) -> Box<Tree> {
    Box::new(Tree::Name(at))
}

#[test]
fn nan_bits_count_where_asked() {
    let sides = (side("x+y", Format::F64), side("y+x", Format::F64));
    assert!(matches!(compared(&sides.0, &sides.1, Budget::default()).verdict, Verdict::Equal { .. }));
    let strict = Budget { nan_bits: true, ..Budget::default() };
    let verdict = compared(&sides.0, &sides.1, strict).verdict;
    let Verdict::Different { inputs, .. } = verdict else { panic!("{verdict:?}") };
    assert!(inputs.iter().all(|input| input.value.contains("nan")), "{inputs:?}");
}

#[test]
fn files_are_counted() {
    let array = |bits: Vec<u32>| Values {
        column: Column { format: Format::F32, bits: Bits::Each(Elements::U32(bits)) },
        shape: vec![2, 4],
    };
    let first =
        array(vec![0x3f80_0000, 0x3f80_0001, 0x4000_0000, 0x8000_0000, 0x7fc0_0000, 0x7f80_0000, 1, 0x3f80_0009]);
    let second = array(vec![0x3f80_0000, 0x3f80_0000, 0x4000_0007, 0, 0x7fff_ffff, 0x7fc0_0000, 1, 0x3f80_0000]);
    let found = compare_arrays(&first, &second).unwrap();
    assert_eq!((found.elements, found.different, found.nans, found.one_nan), (8, 6, 1, 1));
    assert_eq!(found.first.as_ref().unwrap().index, [0, 1]);
    let bars: Vec<(i64, i64, usize)> = found.histogram.iter().map(|bar| (bar.from, bar.to, bar.count)).collect();
    assert_eq!(bars, [(-16, -9, 1), (-1, -1, 1), (0, 0, 1), (5, 8, 1)]);
    let exponents: Vec<(i32, usize, usize)> =
        found.exponents.iter().map(|at| (at.exponent, at.elements, at.different)).collect();
    assert_eq!(exponents, [(-127, 2, 1), (0, 3, 2), (1, 1, 1)]);
    assert!(compare_arrays(&first, &first).unwrap().equal());
    let other = Values { shape: vec![8], ..second };
    assert!(compare_arrays(&first, &other).unwrap_err().contains("shapes"));
}

/// A quotient and a root are rounded once.
#[test]
fn quotients_and_roots_are_compared() {
    let verdict = |one: &str, other: &str, format: Format| {
        compared(&side(one, format), &side(other, format), Budget { random: 1 << 12, ..Budget::default() }).verdict
    };
    let is_equal = |one, other, format| matches!(verdict(one, other, format), Verdict::Equal { .. });
    // All inputs of 16 bits, and the same operations.
    assert!(is_equal("x/4h", "x*0.25h", Format::F16));
    assert!(is_equal("sqrt(x*x)", "sqrt(-x*-x)", Format::F32));
    assert!(is_equal("(x*y)/x", "(y*x)/x", Format::F32));
    assert!(is_equal("((-x)*y)/x", "-((y*x)/x)", Format::F32));
    assert!(matches!(verdict("x/5h", "x*0.2h", Format::F16), Verdict::Different { ulps: Some(1), .. }));
    assert!(matches!(verdict("(-x)/y", "x/y", Format::F32), Verdict::Different { .. }));
    let found = verdict("sqrt(x)", "sqrt(-x)", Format::F32);
    let Verdict::Different { inputs, first, second, .. } = found else { panic!("{found:?}") };
    assert_eq!([inputs[0].value.as_str(), first.as_str(), second.as_str()], ["1", "0x3f800000 1", "0x7fffffff nan"]);
    let queries = |one: &str, other: &str| {
        let script = RefCell::new(String::new());
        let solve = |query: &Query| {
            script.replace(query.script.clone());
            None
        };
        let (first, second) = (side(one, Format::F64), side(other, Format::F64));
        let budget = Budget { random: 1, ..Budget::default() };
        compare(&first, &second, None, budget, &Profile::NVIDIA, &solve, &|_| ()).unwrap();
        script.into_inner()
    };
    assert!(queries("x/2.0", "x*0.5").contains("(assert (not (= (fp.div RNE |x| (fp"));
    assert!(queries("sqrt(x)/2.0", "sqrt(-(-x))*0.5").contains("(fp.sqrt RNE |x|)"));
}

/// A cast is an operation; one to the type that a value has is none.
#[test]
fn casts_are_compared() {
    let verdict = |one: &str, other: &str, format: Format| {
        compared(&side(one, format), &side(other, format), Budget { random: 1 << 12, ..Budget::default() }).verdict
    };
    let is_equal = |one, other, format| matches!(verdict(one, other, format), Verdict::Equal { .. });
    assert!(is_equal("half(x)", "half(x)", Format::F32));
    assert!(is_equal("float(x)*y", "x*y", Format::F32));
    assert!(is_equal("half(x*-y)", "-half(y*x)", Format::F32));
    assert!(is_equal("half(float(x))", "x", Format::F16));
    let differ = |one, other, format| matches!(verdict(one, other, format), Verdict::Different { .. });
    assert!(differ("float(half(x))", "x", Format::F32));
    assert!(differ("half(x)", "-half(x)", Format::F32));
    assert!(differ("half(float(x)*float(y))", "half(x)*half(y)", Format::F32));
    assert!(differ("float(double(x)*double(y)+double(x))", "x*y+x", Format::F32));
}
