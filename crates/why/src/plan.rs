//! An expression as a sequence of operations: which products are fused, which explicit fma is split, in which order a
//! sum is taken. What the operations round to is not decided here.

use std::collections::HashMap;

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_deviate::{Deviation, Typed};

use crate::call::Call;
use crate::expr::{Expr, product_text};
use crate::integer::IntegerType;

/// Where an operand comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ref {
    /// A value of the expression, by its place in [`Plan::leaves`].
    Leaf(usize),
    /// The result of an earlier operation.
    Op(usize),
}

/// What an operation computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OpKind {
    /// A sum, a product or a multiply-add: the pipeline's.
    Arith(ArithOp),
    /// Anything else.
    Call(Call),
}

/// One operation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PlanOp {
    /// What is computed.
    pub kind: OpKind,
    /// Its type by the expression's own rules.
    pub format: Format,
    /// Its operands, in the kind's order.
    pub operands: Vec<Ref>,
    /// The product (of an addition, its first operand) is negated.
    pub negate_product: bool,
    /// The addend is negated.
    pub negate_addend: bool,
}

impl PlanOp {
    /// The operation in its own type, rounded to nearest even. Of a call a sum stands for its type, direction and
    /// flush.
    pub(crate) fn operation(&self) -> Operation {
        let PlanOp { negate_product, negate_addend, .. } = *self;
        let kind = self.arith().unwrap_or(ArithOp::Add);
        Operation { negate_product, negate_addend, ..Operation::new(kind, self.format, Rounding::NearestEven) }
    }

    /// What it computes, if the pipeline does it.
    pub(crate) const fn arith(&self) -> Option<ArithOp> {
        match self.kind {
            OpKind::Arith(op) => Some(op),
            OpKind::Call(_) => None,
        }
    }

    /// What it computes, if the pipeline does not.
    pub(crate) const fn call(&self) -> Option<Call> {
        match self.kind {
            OpKind::Arith(_) => None,
            OpKind::Call(call) => Some(call),
        }
    }
}

/// A sequence of operations whose last one gives the result.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Plan {
    /// The operations; empty for an expression that is a value alone.
    pub ops: Vec<PlanOp>,
    /// The values used, and how they were written.
    pub leaves: Vec<(Typed, String)>,
    /// Whether the result is negated after everything else.
    pub negate_result: bool,
    /// The products that were fused into a sum, as written.
    pub fused: Vec<String>,
    /// Whether every sum that can takes a product, of two the first operand's: what compilers do.
    pub contracts_all: bool,
    /// How many explicit fma were split into a product and a sum.
    pub split: usize,
    /// What was written otherwise before: quotients as products, roots as quotients.
    pub rewritten: Vec<Deviation>,
}

/// What may be done to a sum one of whose terms is a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Fusion {
    None,
    Left,
    Right,
}

/// A term of a sum with its signs taken off.
struct Signed<'e> {
    negative: bool,
    expr: &'e Expr,
}

fn unsign(expr: &Expr) -> Signed<'_> {
    match expr {
        Expr::Neg(inner) => {
            let inner = unsign(inner);
            Signed { negative: !inner.negative, expr: inner.expr }
        }
        _ => Signed { negative: false, expr },
    }
}

/// The factors of a product that may be fused into a sum of the given type.
fn fusible(expr: &Expr, format: Format) -> Option<(bool, &Expr, &Expr)> {
    let term = unsign(expr);
    match term.expr {
        Expr::Mul(a, b) if term.expr.format() == format => Some((term.negative, a, b)),
        _ => None,
    }
}

/// The sums of an expression, and what may be fused into each.
pub(crate) struct Choices<'e> {
    expr: &'e Expr,
    /// What may be fused into each sum, each once however often it stands there.
    pub(crate) sums: Vec<Vec<Fusion>>,
    /// The sum's place among them, by where it stands.
    at: HashMap<*const Expr, usize>,
}

impl<'e> Choices<'e> {
    pub(crate) fn of(expr: &'e Expr) -> Choices<'e> {
        let mut choices = Choices { expr, sums: Vec::new(), at: HashMap::new() };
        choices.collect(expr, &mut HashMap::new());
        choices
    }

    fn collect(&mut self, expr: &'e Expr, known: &mut HashMap<&'e Expr, usize>) {
        if let Expr::Add(a, b) | Expr::Sub(a, b) = expr {
            let place = *known.entry(expr).or_insert_with(|| {
                let format = expr.format();
                let mut here = vec![Fusion::None];
                here.extend(fusible(a, format).map(|_| Fusion::Left));
                here.extend(fusible(b, format).map(|_| Fusion::Right));
                self.sums.push(here);
                self.sums.len() - 1
            });
            self.at.insert(expr, place);
        }
        for part in expr.parts() {
            self.collect(part, known);
        }
    }

    /// The fusions that compilers choose: every sum that can takes a product, of two the first operand's.
    pub(crate) fn compilers(&self) -> Vec<Fusion> {
        self.sums.iter().map(|here| here.get(1).copied().unwrap_or(Fusion::None)).collect()
    }

    /// The plan with one fusion chosen for each sum; none for those that are not named.
    pub(crate) fn plan(&self, fusions: &[Fusion], split_fma: bool) -> Plan {
        let mut builder = Builder { plan: Plan::default(), choices: self, fusions, split_fma };
        let root = unsign(self.expr);
        builder.operand(root.expr);
        builder.plan.negate_result = root.negative;
        builder.plan.contracts_all = !builder.plan.fused.is_empty() && fusions == self.compilers().as_slice();
        builder.plan
    }
}

impl Plan {
    /// Whether an operation is a cast to a narrower type.
    pub(crate) fn is_narrowing(&self, op: &PlanOp) -> bool {
        op.call() == Some(Call::Round) && self.format_of(op.operands[0]).width() > op.format.width()
    }

    /// The type of an operand.
    pub(crate) fn format_of(&self, operand: Ref) -> Format {
        match operand {
            Ref::Leaf(leaf) => self.leaves[leaf].0.format,
            Ref::Op(earlier) => self.ops[earlier].format,
        }
    }

    /// The plan of an expression as written: nothing fused, nothing split.
    pub(crate) fn as_written(expr: &Expr) -> Plan {
        Choices::of(expr).plan(&[], false)
    }

    /// A sum of three terms or more, written one after the other, with the error of each of its additions added at the end: Neumaier's
    /// sum, by Knuth's error-free addition in the place of a comparison.
    ///
    /// Source: CPython, Python/bltinmodule.c, cs_add.
    pub(crate) fn compensated(expr: &Expr) -> Option<Plan> {
        let mut terms = Vec::new();
        flatten(expr, false, &mut terms);
        let mut inner = expr;
        while let Expr::Add(rest, last) | Expr::Sub(rest, last) = inner {
            if matches!(unsign(last).expr, Expr::Add(..) | Expr::Sub(..)) {
                return None;
            }
            inner = rest;
        }
        let (first, others) = terms.split_first().filter(|(_, others)| others.len() >= 2)?;
        let choices = Choices::of(expr);
        let mut builder = Builder { plan: Plan::default(), choices: &choices, fusions: &[], split_fma: false };
        let format = expr.format();
        let mut sum = builder.signed(first);
        let mut errors: Option<Ref> = None;
        for term in others {
            let Signed { negative, expr } = unsign(term);
            let term = builder.operand(expr);
            let next = builder.add(format, vec![sum, term], false, negative);
            let taken = builder.add(format, vec![next, sum], false, true);
            let kept = builder.add(format, vec![next, taken], false, true);
            let of_sum = builder.add(format, vec![sum, kept], false, true);
            let of_term = builder.add(format, vec![term, taken], negative, true);
            let error = builder.add(format, vec![of_sum, of_term], false, false);
            errors = Some(errors.map_or(error, |errors| builder.add(format, vec![errors, error], false, false)));
            sum = next;
        }
        builder.add(format, vec![sum, errors?], false, false);
        builder.plan.rewritten.push(Deviation::Compensated);
        Some(builder.plan)
    }

    /// The place of a value, each once.
    pub(crate) fn leaf(&mut self, value: Typed, written: String) -> Ref {
        let leaf = (value, written);
        let known = self.leaves.iter().position(|other| *other == leaf);
        Ref::Leaf(known.unwrap_or_else(|| {
            self.leaves.push(leaf);
            self.leaves.len() - 1
        }))
    }

    /// The type of integers that the result has, if it is an integer.
    pub fn integer(&self) -> Option<IntegerType> {
        match self.ops.last()?.call()? {
            Call::ToInteger(cast) => Some(cast.to),
            _ => None,
        }
    }

    /// The type of the result, as a person calls it.
    pub(crate) fn type_name(&self) -> &'static str {
        self.integer().map_or(self.format().name().unwrap_or("?"), IntegerType::name)
    }

    /// The type of the result.
    pub fn format(&self) -> Format {
        match (self.ops.last(), self.leaves.first()) {
            (Some(op), _) => op.format,
            (None, Some((leaf, _))) => leaf.format,
            (None, None) => Format::F32,
        }
    }
}

struct Builder<'f> {
    plan: Plan,
    choices: &'f Choices<'f>,
    fusions: &'f [Fusion],
    split_fma: bool,
}

impl Builder<'_> {
    /// The place of an operation; of one that is there already, its.
    fn push(&mut self, op: PlanOp) -> Ref {
        if let Some(known) = self.plan.ops.iter().position(|known| *known == op) {
            return Ref::Op(known);
        }
        self.plan.ops.push(op);
        Ref::Op(self.plan.ops.len() - 1)
    }

    /// Plans an expression, its sign as an operation of its own.
    fn signed(&mut self, expr: &Expr) -> Ref {
        let Signed { negative, expr } = unsign(expr);
        let operand = self.operand(expr);
        if negative { self.call(Call::Negate, expr.format(), vec![operand]) } else { operand }
    }

    /// Plans an expression whose outer signs are taken off.
    fn operand(&mut self, expr: &Expr) -> Ref {
        let format = expr.format();
        match expr {
            Expr::Value(value, written) => self.plan.leaf(*value, written.clone()),
            Expr::Neg(_) => unreachable!("signs are taken off before an operand is planned"),
            Expr::Mul(a, b) => {
                let (operands, negative) = self.factors(a, b);
                self.multiply(format, operands.to_vec(), negative)
            }
            Expr::Fma(a, b, c) => {
                let (a, b, c) = (unsign(a), unsign(b), unsign(c));
                let operands = vec![self.operand(a.expr), self.operand(b.expr), self.operand(c.expr)];
                let negative = a.negative ^ b.negative;
                if !self.split_fma {
                    return self.multiply_add(format, operands, negative, c.negative);
                }
                self.plan.split += 1;
                let product = self.multiply(format, vec![operands[0], operands[1]], negative);
                self.add(format, vec![product, operands[2]], false, c.negative)
            }
            Expr::Add(a, b) => self.sum(expr, a, b, false),
            Expr::Sub(a, b) => self.sum(expr, a, b, true),
            Expr::Call(call, operands) => {
                let operands = operands.iter().map(|operand| self.signed(operand)).collect();
                self.call(*call, format, operands)
            }
            Expr::Round(None, inner) => self.signed(inner),
            Expr::Round(Some(format), inner) => {
                let operand = self.signed(inner);
                self.call(Call::Round, *format, vec![operand])
            }
        }
    }

    /// The operands of a product, and whether their signs make it negative.
    fn factors(&mut self, a: &Expr, b: &Expr) -> ([Ref; 2], bool) {
        let (operands, [a_negative, b_negative]) = self.terms(a, b);
        (operands, a_negative ^ b_negative)
    }

    fn sum(&mut self, sum: &Expr, a: &Expr, b: &Expr, subtract: bool) -> Ref {
        let format = sum.format();
        let place = self.choices.at.get(&std::ptr::from_ref(sum));
        let fusion = place.and_then(|place| self.fusions.get(*place)).copied().unwrap_or(Fusion::None);
        let product = match fusion {
            Fusion::None => None,
            Fusion::Left => fusible(a, format),
            Fusion::Right => fusible(b, format),
        };
        let Some((negative, x, y)) = product else {
            let ([a, b], [a_negative, b_negative]) = self.terms(a, b);
            return self.add(format, vec![a, b], a_negative, b_negative ^ subtract);
        };
        let fused = product_text(x, y);
        if !self.plan.fused.contains(&fused) {
            self.plan.fused.push(fused);
        }
        if fusion == Fusion::Left {
            let ([x, y], sign) = self.factors(x, y);
            let addend = unsign(b);
            let c = self.operand(addend.expr);
            self.multiply_add(format, vec![x, y, c], negative ^ sign, addend.negative ^ subtract)
        } else {
            let addend = unsign(a);
            let c = self.operand(addend.expr);
            let ([x, y], sign) = self.factors(x, y);
            self.multiply_add(format, vec![x, y, c], negative ^ sign ^ subtract, addend.negative)
        }
    }

    fn terms(&mut self, a: &Expr, b: &Expr) -> ([Ref; 2], [bool; 2]) {
        let (a, b) = (unsign(a), unsign(b));
        ([self.operand(a.expr), self.operand(b.expr)], [a.negative, b.negative])
    }

    fn call(&mut self, call: Call, format: Format, operands: Vec<Ref>) -> Ref {
        let kind = OpKind::Call(call);
        self.push(PlanOp { kind, format, operands, negate_product: false, negate_addend: false })
    }
    fn multiply(&mut self, format: Format, operands: Vec<Ref>, negate_product: bool) -> Ref {
        self.push(PlanOp { kind: OpKind::Arith(ArithOp::Mul), format, operands, negate_product, negate_addend: false })
    }
    fn add(&mut self, format: Format, operands: Vec<Ref>, negate_product: bool, negate_addend: bool) -> Ref {
        self.push(PlanOp { kind: OpKind::Arith(ArithOp::Add), format, operands, negate_product, negate_addend })
    }
    fn multiply_add(&mut self, format: Format, operands: Vec<Ref>, negate_product: bool, negate_addend: bool) -> Ref {
        self.push(PlanOp { kind: OpKind::Arith(ArithOp::MulAdd), format, operands, negate_product, negate_addend })
    }
}

/// The most terms of a sum that are reordered: beyond, there are more than ten thousand orders.
pub(crate) const MAX_TERMS: usize = 6;

/// A sum in other orders.
pub(crate) struct Reorderings {
    /// The expression with its outermost sum in each of them.
    pub(crate) trees: Vec<Expr>,
    /// How many terms the sum has.
    pub(crate) terms: usize,
}

impl Reorderings {
    /// The other orders of the outermost sum (additions commute, so that orders differ only in what is added to what).
    /// Of more than [`MAX_TERMS`] terms from the last to the first and by halves alone; none of fewer than three.
    pub(crate) fn of(expr: &Expr) -> Reorderings {
        let mut terms = Vec::new();
        flatten(expr, false, &mut terms);
        let mut trees = match terms.len() {
            0..=2 => Vec::new(),
            3..=MAX_TERMS => {
                let mut trees = vec![terms[0].clone()];
                for term in &terms[1..] {
                    trees = trees.iter().flat_map(|tree| insertions(tree, term)).collect();
                }
                trees
            }
            _ => vec![backward(&terms), halves(&terms)],
        };
        trees.retain(|tree| tree != expr);
        Reorderings { trees, terms: terms.len() }
    }

    /// Whether there are orders that were left out.
    pub(crate) fn is_limited(&self) -> bool {
        self.terms > MAX_TERMS
    }
}

/// How many terms the outermost sum has.
pub(crate) fn terms_of(expr: &Expr) -> usize {
    let mut terms = Vec::new();
    flatten(expr, false, &mut terms);
    terms.len()
}

/// Whether three factors or more are multiplied somewhere.
pub(crate) fn has_long_product(expr: &Expr) -> bool {
    let is_product = |expr: &Expr| matches!(unsign(expr).expr, Expr::Mul(..));
    let parts = expr.parts();
    is_product(expr) && parts.iter().any(|part| is_product(part)) || parts.into_iter().any(has_long_product)
}

/// Whether a sum is a factor somewhere.
pub(crate) fn has_product_of_sum(expr: &Expr) -> bool {
    let is_sum = |expr: &&Expr| matches!(unsign(expr).expr, Expr::Add(..) | Expr::Sub(..));
    let parts = expr.parts();
    matches!(expr, Expr::Mul(..)) && parts.iter().any(is_sum) || parts.into_iter().any(has_product_of_sum)
}

/// A term added to a sum.
fn plus(sum: Expr, term: &Expr) -> Expr {
    match term {
        Expr::Neg(inner) => Expr::Sub(Box::new(sum), inner.clone()),
        _ => Expr::Add(Box::new(sum), Box::new(term.clone())),
    }
}

/// The sum of some terms, at least one, from the last to the first.
fn backward(terms: &[Expr]) -> Expr {
    let mut from_last = terms.iter().rev();
    let last = from_last.next().unwrap_or(&terms[0]);
    from_last.fold(last.clone(), plus)
}

/// The sum of some terms, at least one, by halves.
fn halves(terms: &[Expr]) -> Expr {
    match terms {
        [one] => one.clone(),
        _ => {
            let (first, second) = terms.split_at(terms.len() / 2);
            Expr::Add(Box::new(halves(first)), Box::new(halves(second)))
        }
    }
}

fn flatten(expr: &Expr, negative: bool, terms: &mut Vec<Expr>) {
    match expr {
        Expr::Add(a, b) => {
            flatten(a, negative, terms);
            flatten(b, negative, terms);
        }
        Expr::Sub(a, b) => {
            flatten(a, negative, terms);
            flatten(b, !negative, terms);
        }
        Expr::Neg(inner) => flatten(inner, !negative, terms),
        _ if negative => terms.push(Expr::Neg(Box::new(expr.clone()))),
        _ => terms.push(expr.clone()),
    }
}

/// Every tree that has `term` added at one more place: beside the whole or beside any part.
fn insertions(tree: &Expr, term: &Expr) -> Vec<Expr> {
    let mut trees = vec![plus(tree.clone(), term)];
    // A subtrahend is a term, not a sum of terms: only sums have inner places.
    if let Expr::Add(a, b) = tree {
        trees.extend(insertions(a, term).into_iter().map(|a| Expr::Add(Box::new(a), b.clone())));
        trees.extend(insertions(b, term).into_iter().map(|b| Expr::Add(a.clone(), Box::new(b))));
    }
    if let Expr::Sub(a, b) = tree {
        trees.extend(insertions(a, term).into_iter().map(|a| Expr::Sub(Box::new(a), b.clone())));
        let negated = Expr::Neg(b.clone());
        trees.extend(insertions(&negated, term).into_iter().map(|b| Expr::Add(a.clone(), Box::new(b))));
    }
    trees
}
