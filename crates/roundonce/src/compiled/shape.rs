//! Products and sums of machine code found by what they are computed from, where the cubin does not say which line its
//! instructions come from.
//!
//! A multiply-add has the shape of a product and a sum, so that fused code and code kept apart are found alike. What a
//! kernel loads, or computes in another way, may be anything.

use std::collections::{HashMap, HashSet};

use roundonce_arith::{ArithOp, Format};
use roundonce_ir::{Candidate, Kernel, Op, Operand, Position, Reg, Role};
use roundonce_sass::{CompiledKernel, CompiledSource};

/// How far back a shape goes.
const DEPTH: u32 = 4;
/// Places of the machine code that are compared with sums.
pub(super) const MAX_COMPARISONS: usize = 2_000_000;
/// Places that are compared with what leaves nothing open, most of which are of another kind.
const MAX_CLAIMS: usize = 20_000_000;

/// What a value is computed from.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Shape {
    Any,
    /// Loaded, or a constant: no product or sum.
    Given,
    Product(Box<[Shape; 2]>),
    Sum(Box<[Shape; 2]>),
}

/// Where a value of a kernel comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// Another block, or an instruction that may become some of these.
    Unknown,
    /// A load or a constant.
    Given,
    /// A multiply-add, or less, of the same block.
    Computed(Position),
}

/// A multiply-add, or less, of a kernel.
struct Computed {
    op: ArithOp,
    format: Format,
    sources: [Source; 3],
    /// An assembler may fuse it, or take it apart from its product.
    is_open: bool,
}

/// By the numbers of operations of machine code, which multiply-adds and sums of a kernel that leave nothing open they may be.
pub(super) struct Claims(HashMap<usize, Vec<Position>>);

impl Claims {
    /// Whether as many are claimed as there are: they are all found without a sum that is left open.
    fn cover(&self, places: &[usize]) -> bool {
        let mut claiming = HashSet::new();
        places.iter().filter_map(|number| self.0.get(number)).flatten().any(|position| {
            claiming.insert(*position);
            claiming.len() == places.len()
        })
    }
}

/// The shapes of a kernel's values.
pub(super) struct Shapes {
    computed: HashMap<Position, Computed>,
}

impl Shapes {
    pub(super) fn of(kernel: &Kernel) -> Shapes {
        let mut computed = HashMap::new();
        for (block, contents) in kernel.blocks.iter().enumerate() {
            let mut written: HashMap<Reg, Source> = HashMap::new();
            for (index, instruction) in contents.instructions.iter().enumerate() {
                let source = |operand: &Operand| match operand {
                    Operand::Reg(reg) => written.get(reg).copied().unwrap_or(Source::Unknown),
                    _ => Source::Given,
                };
                let position = Position { block, index };
                let from = match &instruction.op {
                    Op::Float { operation, args, contractible, .. } => {
                        let (op, format, is_open) = (operation.op, operation.format, *contractible);
                        let sources = args.each_ref().map(source);
                        computed.insert(position, Computed { op, format, sources, is_open });
                        Source::Computed(position)
                    }
                    // A copy, or a sign that machine code has on the operand.
                    Op::Move { a, .. } | Op::Sign { a, .. } => source(a),
                    Op::Load { .. } => Source::Given,
                    _ => Source::Unknown,
                };
                let from = if instruction.guard.is_none() { from } else { Source::Unknown };
                instruction.op.registers(|role, reg| {
                    if role == Role::Def {
                        written.insert(reg, from);
                    }
                });
            }
        }
        Shapes { computed }
    }

    fn shape(&self, source: Source, depth: u32) -> Shape {
        let position = match source {
            Source::Given => return Shape::Given,
            Source::Computed(position) if depth > 0 => position,
            _ => return Shape::Any,
        };
        let Some(Computed { op, sources, .. }) = self.computed.get(&position) else { return Shape::Any };
        let of = |place: usize| self.shape(sources[place], depth - 1);
        match op {
            ArithOp::Add => Shape::Sum(Box::new([of(0), of(1)])),
            ArithOp::Mul => Shape::Product(Box::new([of(0), of(1)])),
            ArithOp::MulAdd => Shape::Sum(Box::new([Shape::Product(Box::new([of(0), of(1)])), of(2)])),
            _ => Shape::Any,
        }
    }

    /// What the multiply-adds and the sums that leave nothing open may be in a section.
    pub(super) fn claims(&self, section: &CompiledKernel) -> Option<Claims> {
        let (open, closed): (Vec<_>, Vec<_>) = self.computed.iter().partition(|(_, computed)| computed.is_open);
        if open.is_empty() {
            return Some(Claims(HashMap::new()));
        }
        if closed.len().saturating_mul(section.operations.len()) > MAX_CLAIMS {
            return None;
        }
        let mut claims: HashMap<usize, Vec<Position>> = HashMap::new();
        for (position, Computed { op, format, .. }) in closed {
            let Shape::Sum(shapes) = self.shape(Source::Computed(*position), DEPTH) else { continue };
            for (number, operation) in section.operations.iter().enumerate() {
                let [first, other] = Value::Result(number).terms(section);
                let is_alike = (operation.op, operation.format) == (*op, *format);
                let both = |a, b| fits(&shapes[0], a, section) && fits(&shapes[1], b, section);
                if is_alike && (both(first, other) || *op == ArithOp::Add && both(other, first)) {
                    claims.entry(number).or_default().push(*position);
                }
            }
        }
        Some(Claims(claims))
    }

    /// The product that a sum may take, and its other term.
    fn terms(&self, candidate: &Candidate) -> [Shape; 2] {
        let sum = self.computed.get(&candidate.sum);
        let other = sum.map_or(Source::Unknown, |sum| sum.sources[usize::from(candidate.first)]);
        [self.shape(Source::Computed(candidate.product), DEPTH), self.shape(other, DEPTH)]
    }

    /// The places of a section that may be a sum: the address, and which of the products it takes; `None` if that is not
    /// clear, `Some(None)` if it takes none.
    pub(super) fn places(
        &self,
        candidates: &[&Candidate],
        format: Format,
        (section, claims): (&CompiledKernel, &Claims),
    ) -> Vec<(Option<Option<usize>>, u64)> {
        let terms: Vec<[Shape; 2]> = candidates.iter().map(|candidate| self.terms(candidate)).collect();
        let mut places = Vec::new();
        for (number, operation) in section.operations.iter().enumerate() {
            if operation.format != format || operation.op == ArithOp::Mul {
                continue;
            }
            let [product, addend] = Value::Result(number).terms(section);
            let fits = |[taken, other]: &[Shape; 2], a, b| fits(taken, a, section) && fits(other, b, section);
            let takes = |terms: &&[Shape; 2]| operation.op == ArithOp::MulAdd && fits(terms, product, addend);
            let is_apart = |terms: &&[Shape; 2]| {
                fits(terms, addend, product) || operation.op == ArithOp::Add && fits(terms, product, addend)
            };
            let taken: Vec<usize> = (0..terms.len()).filter(|index| takes(&&terms[*index])).collect();
            let product = match taken.as_slice() {
                [one] => Some(Some(*one)),
                [] if terms.iter().any(|terms| is_apart(&terms)) => Some(None),
                [] => continue,
                _ => None,
            };
            places.push((product, number));
        }
        // What is fused in any case is no sum that is left open, nor what is a sum in any case.
        for is_apart in [false, true] {
            let is_kind = |(product, _): &(Option<Option<usize>>, usize)| (*product == Some(None)) == is_apart;
            let alike: Vec<usize> = places.iter().filter(|place| is_kind(place)).map(|(_, number)| *number).collect();
            if claims.cover(&alike) {
                places.retain(|place| !is_kind(place));
            }
        }
        places.into_iter().map(|(product, number)| (product, section.operations[number].address)).collect()
    }
}

/// A value of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// Of an instruction that is none of these.
    Other,
    /// Of an approximation, as quotients begin with: no load.
    Approximation,
    /// An operation's result.
    Result(usize),
    /// The product within a multiply-add.
    Within(usize),
}

impl Value {
    fn of(source: CompiledSource) -> Value {
        match source {
            CompiledSource::Operation(number) => Value::Result(number),
            CompiledSource::Approximation => Value::Approximation,
            CompiledSource::Other => Value::Other,
        }
    }

    /// The terms of a sum.
    fn terms(self, section: &CompiledKernel) -> [Value; 2] {
        let Value::Result(number) = self else { return [Value::Other; 2] };
        let operation = &section.operations[number];
        let [a, b, c] = operation.sources;
        match operation.op {
            ArithOp::MulAdd => [Value::Within(number), Value::of(c)],
            // A multiply-add by one has its term in either factor.
            ArithOp::Add => [Value::of(if a == CompiledSource::Other { b } else { a }), Value::of(c)],
            _ => [Value::Other; 2],
        }
    }

    /// The factors of a product, if it is one.
    fn factors(self, section: &CompiledKernel) -> Option<[Value; 2]> {
        let number = match self {
            Value::Within(number) => number,
            Value::Result(number) if section.operations[number].op == ArithOp::Mul => number,
            _ => return None,
        };
        let [a, b, _] = section.operations[number].sources;
        Some([Value::of(a), Value::of(b)])
    }
}

/// Whether a value may be of a shape. Operands may stand in either order.
fn fits(shape: &Shape, value: Value, section: &CompiledKernel) -> bool {
    let (shapes, values) = match shape {
        Shape::Any => return true,
        Shape::Given => return matches!(value, Value::Other),
        Shape::Product(shapes) => match value.factors(section) {
            Some(values) => (shapes, values),
            None => return false,
        },
        Shape::Sum(shapes) => match value {
            Value::Result(number) if section.operations[number].op != ArithOp::Mul => (shapes, value.terms(section)),
            _ => return false,
        },
    };
    let both = |a, b| fits(&shapes[0], a, section) && fits(&shapes[1], b, section);
    both(values[0], values[1]) || both(values[1], values[0])
}
