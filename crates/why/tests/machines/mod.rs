//! Machines that compute an expression by one policy, by an independent judge: exact rationals.

use std::collections::BTreeMap;

use roundonce_arith::Format;
use roundonce_oracle::generate::Generator;
use roundonce_oracle::rational::judge;
use roundonce_oracle::{Direction, FlushRule, Layout, Shape, Spec};
use roundonce_why::{Expr, Typed, parse_expr};

/// The formats, as the product and as the judge know them, and the wider one.
pub(crate) const FORMATS: [(Format, Layout, Layout); 4] = [
    (Format::F16, Layout::F16, Layout::F32),
    (Format::BF16, Layout::BF16, Layout::F32),
    (Format::F32, Layout::F32, Layout::F64),
    (Format::F64, Layout::F64, Layout::F64),
];

/// Dot products, Horner's scheme, a product of complex numbers.
fn trees() -> [Tree; 8] {
    [complex(), dot(2), dot(3), dot(4), dot(6), horner(2), horner(3), horner(5)]
}

/// What is done to the whole expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    AsWritten,
    Contracted,
    WideEach,
    WideWhole,
    Flush,
}

const POLICIES: [Policy; 5] =
    [Policy::AsWritten, Policy::Contracted, Policy::WideEach, Policy::WideWhole, Policy::Flush];

/// The expressions, written here apart from the product's own trees.
#[derive(Clone, Debug)]
enum Tree {
    Name(usize),
    Add(Box<Tree>, Box<Tree>, bool),
    Mul(Box<Tree>, Box<Tree>),
}

fn name(at: usize) -> Tree {
    Tree::Name(at)
}
fn mul(a: Tree, b: Tree) -> Tree {
    Tree::Mul(Box::new(a), Box::new(b))
}
fn add(a: Tree, b: Tree) -> Tree {
    Tree::Add(Box::new(a), Box::new(b), false)
}
fn sub(a: Tree, b: Tree) -> Tree {
    Tree::Add(Box::new(a), Box::new(b), true)
}

/// `x0*x1 + x2*x3 + …`
fn dot(terms: usize) -> Tree {
    let product = |at: usize| mul(name(2 * at), name(2 * at + 1));
    (1..terms).fold(product(0), |sum, at| add(sum, product(at)))
}

/// `(x1*x0 + x2)*x0 + …`
fn horner(degree: usize) -> Tree {
    (0..degree).fold(name(1), |sum, at| add(mul(sum, name(0)), name(2 + at)))
}

/// The real part of a product of complex numbers.
fn complex() -> Tree {
    sub(mul(name(0), name(1)), mul(name(2), name(3)))
}

fn text(tree: &Tree) -> String {
    match tree {
        Tree::Name(at) => format!("x{at}"),
        Tree::Add(a, b, subtracts) => format!("({} {} {})", text(a), if *subtracts { "-" } else { "+" }, text(b)),
        Tree::Mul(a, b) => format!("{} * {}", text(a), text(b)),
    }
}

/// One way of computing, by the judge.
pub(crate) struct Machine {
    pub(crate) policy: Policy,
    own: Layout,
    wide: Layout,
}

impl Machine {
    fn working(&self) -> Layout {
        if matches!(self.policy, Policy::WideEach | Policy::WideWhole) { self.wide } else { self.own }
    }
    fn operation(&self, shape: Shape, subtracts: bool, operands: [u64; 3]) -> u64 {
        let working = self.working();
        let spec = Spec {
            flush: (self.policy == Policy::Flush).then_some(FlushRule::Rounded),
            ..Spec::new(shape, working, Direction::Nearest)
        };
        let [a, b, c] = operands;
        let c = if subtracts { c ^ working.sign() } else { c };
        let result = judge(&spec, [a, b, c]).bits;
        if self.policy == Policy::WideEach {
            convert(self.own, self.wide, convert(self.wide, self.own, result))
        } else {
            result
        }
    }
    /// A value in the working format.
    fn value(&self, tree: &Tree, values: &[u64]) -> u64 {
        match tree {
            Tree::Name(at) => convert(self.own, self.working(), values[*at]),
            Tree::Mul(a, b) => self.operation(Shape::Mul, false, [self.value(a, values), self.value(b, values), 0]),
            Tree::Add(a, b, subtracts) => {
                let (contracts, negate) = (self.policy == Policy::Contracted, self.working().sign());
                match (&**a, &**b) {
                    (Tree::Mul(x, y), _) if contracts => {
                        let operands = [self.value(x, values), self.value(y, values), self.value(b, values)];
                        self.operation(Shape::MulAdd, *subtracts, operands)
                    }
                    (_, Tree::Mul(x, y)) if contracts => {
                        let flip = if *subtracts { negate } else { 0 };
                        let operands = [self.value(x, values) ^ flip, self.value(y, values), self.value(a, values)];
                        self.operation(Shape::MulAdd, false, operands)
                    }
                    _ => self.operation(Shape::Add, *subtracts, [self.value(a, values), 0, self.value(b, values)]),
                }
            }
        }
    }
    fn result(&self, tree: &Tree, values: &[u64]) -> u64 {
        convert(self.working(), self.own, self.value(tree, values))
    }
}

/// A number of one format in another: the product with one, rounded once.
fn convert(from: Layout, to: Layout, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    judge(&Spec { factors: from, ..Spec::new(Shape::Mul, to, Direction::Nearest) }, [bits, from.one(), 0]).bits
}

/// A number near one, of either sign; for a flush small ones, so that results are subnormal.
fn value(generator: &mut Generator, layout: Layout, policy: Policy, case: u32) -> u64 {
    let random = generator.triple()[0] ^ (generator.triple()[1] << 1);
    let mantissa = random & ((layout.quiet() << 1) - 1);
    let negative = if random.count_ones().is_multiple_of(2) { layout.sign() } else { 0 };
    let small = policy == Policy::Flush && case.is_multiple_of(2);
    let exponent = if small { (layout.one() / 2) & layout.infinity() } else { layout.one() };
    negative | exponent | mantissa
}

/// A question to which a machine knows the answer.
pub(crate) struct Asked {
    pub(crate) format: Format,
    pub(crate) machine: Machine,
    pub(crate) expression: String,
    pub(crate) values: Vec<u64>,
    /// What the machine computes, and what the expression as written gives.
    pub(crate) result: u64,
    pub(crate) plain: u64,
}

impl Asked {
    pub(crate) fn expr(&self) -> Expr {
        let typed = |(at, &bits): (usize, &u64)| (format!("x{at}"), Typed { format: self.format, bits });
        let names: BTreeMap<String, Typed> = self.values.iter().enumerate().map(typed).collect();
        parse_expr(&self.expression, &names).unwrap()
    }
    /// Bits as a person types them.
    pub(crate) fn typed(&self, bits: u64) -> String {
        let digits = self.format.width() as usize / 4;
        format!("0x{bits:0digits$x}:{}", self.format.name().unwrap())
    }
}

/// Every policy on every tree in every format that has it, so many times, but for NaNs.
pub(crate) fn asked(seed: u64, times: u32) -> Vec<Asked> {
    let mut all = Vec::new();
    for (format, own, wide) in FORMATS {
        let mut generator = Generator::new(seed, own, own);
        for tree in &trees() {
            for policy in POLICIES {
                // f64 has no wider format; f64 and bf16 have no instructions that flush.
                let has_wide = own != wide || !matches!(policy, Policy::WideEach | Policy::WideWhole);
                let flushes = policy != Policy::Flush || matches!(format, Format::F16 | Format::F32);
                if !has_wide || !flushes {
                    continue;
                }
                for case in 0..times {
                    let values: Vec<u64> = (0..12).map(|_| value(&mut generator, own, policy, case)).collect();
                    let machine = Machine { policy, own, wide };
                    let plain = Machine { policy: Policy::AsWritten, own, wide }.result(tree, &values);
                    let result = machine.result(tree, &values);
                    if !own.is_nan(result) {
                        all.push(Asked { format, machine, expression: text(tree), values, result, plain });
                    }
                }
            }
        }
    }
    all
}
