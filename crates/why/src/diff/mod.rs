//! Are two computations bit-equal on all inputs? Proved, or the first input that shows that they are not.
//!
//! Reading order: [`Side`] (what is compared), `search.rs` (inputs, one block after the other), `shrink.rs` (the smallest
//! input on which they differ), `solver.rs` (the question for an SMT solver), [`Witnesses`] (what shows a choice that a
//! module leaves open), [`files`] (arrays of results).
//!
//! What this is not: a proof for more than 32 bits of input, unless both sides are the same operations or a solver is
//! at hand.

mod dot;
pub mod files;
mod search;
mod shrink;
mod solver;
mod witness;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use roundonce_arith::{ArithOp, Clamp, Format, NanRule, Operation, Profile, Rounding};
use roundonce_deviate::{Stages, Typed};
use roundonce_functions::Function;
use roundonce_isa::{Sequence, SequenceOperand, grouped, hex_bits, shortest_decimal};
use serde::{Serialize, Serializer};

pub use dot::{DotComparison, DotEvidence, DotFrequency, DotOperands, DotWitness, compare_dots};
pub(crate) use search::directed_inputs;
pub use solver::Query;
pub use witness::{Outcome, Witness, Witnesses};

use crate::arrays::{BLOCK, Bits, Column, Runner, parallel};
use crate::call::Call;
use crate::expr::Expr;
use crate::plan::{OpKind, Plan, PlanOp, Ref};
use crate::search::ulps;
use crate::text::{COLUMNS, Line, Role, wrap};

/// One of the two computations: a plan, and what each of its operations does.
#[derive(Clone, Debug)]
pub struct Side {
    /// As the reader wrote it.
    pub text: String,
    plan: Plan,
    operations: Vec<Operation>,
}

/// The names of an instruction's operands.
pub static OPERANDS: [&str; 3] = ["a", "b", "c"];

impl Side {
    /// An expression, every operation rounded to nearest even.
    pub fn expression(expr: &Expr) -> Side {
        let plan = Plan::as_written(&without_idle_casts(expr.clone()));
        let operations = plan.ops.iter().map(PlanOp::operation).collect();
        Side { text: expr.to_string(), plan, operations }
    }
    /// What an expression has that is not compared: a function that is no quotient and no square root, which alone machines
    /// round once.
    pub fn uncompared(expr: &Expr) -> Option<Call> {
        match expr {
            Expr::Call(call, _) if !is_rounded_once(*call) => Some(*call),
            _ => expr.parts().into_iter().find_map(Side::uncompared),
        }
    }
    /// An instruction of one component; its operands are a, b, c.
    pub fn instruction(text: &str, operation: Operation) -> Side {
        Side { text: text.to_owned(), ..Side::reading(&Sequence::single("", operation), &OPERANDS) }
    }
    /// An evaluation that a module allows.
    pub(crate) fn reading(reading: &Sequence, inputs: &[impl AsRef<str>]) -> Side {
        let mut plan = Plan::default();
        for (operation, terms) in &reading.steps {
            let mut operand = |(at, term): (usize, &SequenceOperand)| {
                let format = operation.operand_format(at);
                let (bits, name) = match *term {
                    SequenceOperand::Step(earlier) => return Ref::Op(earlier),
                    SequenceOperand::Input(input) => (0, inputs[input].as_ref().to_owned()),
                    SequenceOperand::Constant(bits) => (bits, hex_bits(format.width(), bits)),
                };
                plan.leaf(Typed { format, bits }, name)
            };
            let operands = terms.iter().enumerate().map(&mut operand).collect();
            plan.ops.push(PlanOp {
                kind: OpKind::Arith(operation.op),
                format: operation.format,
                operands,
                negate_product: operation.negate_product,
                negate_addend: operation.negate_addend,
            });
        }
        let operations = reading.steps.iter().map(|(operation, _)| *operation).collect();
        Side { text: reading.name.to_owned(), plan, operations }
    }

    /// Its inputs' names and formats.
    fn inputs(&self) -> BTreeMap<String, Format> {
        let leaves = self.plan.leaves.iter().filter(|(_, name)| is_name(name));
        leaves.map(|(value, name)| (name.clone(), value.format)).collect()
    }

    fn runner<'a>(&self, columns: &'a BTreeMap<String, Column>, profile: &Profile) -> Runner<'a> {
        Runner::of(&self.plan, columns, |index| Stages::of(self.operations[index], profile))
    }

    /// The operations in a form that is the same for both sides wherever their bits must be.
    fn normal(&self, any_nan: bool, profile: &Profile) -> Vec<NormalOp> {
        normal(&self.plan, &self.operations, any_nan, profile)
    }
}

/// The expression without casts to the types that things have.
fn without_idle_casts(expr: Expr) -> Expr {
    match expr.map_parts(without_idle_casts) {
        Expr::Round(Some(format), inner) if inner.format() == format => *inner,
        expr => expr,
    }
}

fn is_rounded_once(call: Call) -> bool {
    matches!(call, Call::Function(Function::Divide | Function::SquareRoot))
}

/// Whether a leaf is a name, not a literal.
fn is_name(written: &str) -> bool {
    written.starts_with(|c: char| c.is_alphabetic() || "_%$".contains(c))
}

/// An operation whose operands are what they are computed from, in an order of their own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct NormalOp {
    operation: Option<Operation>,
    /// What it is, if the pipeline does not compute it: a cast.
    call: Option<Call>,
    operands: Vec<String>,
}

/// The operations that the result is computed from, each operand spelled out, the last one the result.
fn normal(plan: &Plan, operations: &[Operation], any_nan: bool, profile: &Profile) -> Vec<NormalOp> {
    let mut spelled: Vec<String> = Vec::new();
    let leaf = |at: usize| {
        let (value, name) = &plan.leaves[at];
        // A literal is its bits, however it was written.
        if is_name(name) { format!("{name}: {:?}", value.format) } else { format!("{value:?}") }
    };
    let mut result =
        NormalOp { operation: None, call: None, operands: plan.leaves.first().map(|_| leaf(0)).into_iter().collect() };
    // Whether a result is the opposite of what is spelled out.
    let mut opposite: Vec<bool> = Vec::new();
    for (op, &operation) in plan.ops.iter().zip(operations) {
        let mut operation = operation;
        // Narrower factors are widened exactly; a flush asks whether they are subnormal where they are.
        if !operation.flush {
            operation.source_format = operation.format;
        }
        let sign_of = |operand: &Ref| matches!(*operand, Ref::Op(at) if opposite[at]);
        let addend = usize::from(op.arith() != Some(ArithOp::Add)) + 1;
        for (at, operand) in op.operands.iter().enumerate() {
            let sign = if at == addend { &mut operation.negate_addend } else { &mut operation.negate_product };
            *sign ^= sign_of(operand);
        }
        let mut operands: Vec<String> = op
            .operands
            .iter()
            .map(|operand| match *operand {
                Ref::Leaf(at) => leaf(at),
                Ref::Op(at) => spelled[at].clone(),
            })
            .collect();
        // Factors commute, and so do terms of one format with their signs, where a NaN does not show which came first.
        let is_alike = any_nan && operation.is_uniform() || commutes(&operation, profile);
        if let Some(kind) = op.arith().filter(|_| is_alike) {
            match kind {
                ArithOp::Mul | ArithOp::MulAdd | ArithOp::TruncatedMulAdd => operands[..2].sort_unstable(),
                ArithOp::Add if operands[0] > operands[1] => {
                    operands.swap(0, 1);
                    let Operation { negate_product, negate_addend, .. } = operation;
                    (operation.negate_product, operation.negate_addend) = (negate_addend, negate_product);
                }
                ArithOp::Add => {}
            }
        }
        // The opposite of a product is the product with the opposite factor, so of a quotient, and that of a cast the cast of
        // the opposite; a sum that is zero has a sign of its own.
        let is_odd_call = matches!(op.call(), Some(Call::Round | Call::Function(Function::Divide)));
        let is_odd = any_nan
            && (op.arith() == Some(ArithOp::Mul) || is_odd_call)
            && operation.clamp == Clamp::None
            && matches!(operation.rounding, Rounding::NearestEven | Rounding::TowardZero);
        opposite.push(is_odd && std::mem::take(&mut operation.negate_product));
        result = NormalOp { operation: Some(operation), call: op.call(), operands };
        spelled.push(format!("{result:?}"));
    }
    let negates = plan.negate_result ^ opposite.last().copied().unwrap_or(false);
    let negation = NormalOp { operation: None, call: None, operands: vec![format!("negated: {negates}")] };
    vec![result, negation]
}

fn commutes(operation: &Operation, profile: &Profile) -> bool {
    let rule = match operation.format {
        Format::F32 => profile.nan_f32,
        Format::F64 => profile.nan_f64,
        _ => profile.nan_small,
    };
    rule == NanRule::Canonical && operation.is_uniform()
}

/// What was found out about two computations.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The first.
    pub first: String,
    /// The second.
    pub second: String,
    /// What is known.
    pub verdict: Verdict,
    /// How often they differ on data, if they do.
    pub frequency: Option<Frequency>,
}

impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Object<'a> {
            compared: [&'a str; 2],
            #[serde(skip_serializing_if = "Option::is_none")]
            first: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            second: Option<&'a str>,
            #[serde(flatten)]
            verdict: &'a Verdict,
            #[serde(skip_serializing_if = "Option::is_none")]
            frequency: &'a Option<Frequency>,
        }
        // Where they differ, `first` and `second` are the results, and an object has each name once.
        let differ = matches!(self.verdict, Verdict::Different { .. });
        let [first, second] = [&self.first, &self.second].map(String::as_str);
        Object {
            compared: [first, second],
            first: (!differ).then_some(first),
            second: (!differ).then_some(second),
            verdict: &self.verdict,
            frequency: &self.frequency,
        }
        .serialize(serializer)
    }
}

/// Equal, different, or not known.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// They give the same bits for all inputs.
    Equal {
        /// How that is known.
        proof: String,
        /// Also where a result is a NaN.
        nan_bits: bool,
    },
    /// They differ.
    Different {
        /// The smallest input found: no single step makes it simpler.
        inputs: Vec<Input>,
        /// What the first gives.
        first: String,
        /// What the second gives.
        second: String,
        /// How far apart they are in units in the last place, unless one is a NaN.
        ulps: Option<u64>,
    },
    /// No difference was found, and no proof.
    Unknown {
        /// How many inputs were tried.
        tried: u64,
    },
}

/// One input's value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its bits.
    pub bits: String,
    /// Its value.
    pub value: String,
}

impl Input {
    fn new(name: &str, format: Format, bits: u64) -> Input {
        let value = shortest_decimal(format, bits);
        Input { name: name.to_owned(), bits: hex_bits(format.width(), bits), value }
    }
}

/// How often two computations differ.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Frequency {
    /// On how many inputs they differ.
    pub different: usize,
    /// Of how many.
    pub of: usize,
    /// The largest distance in units in the last place.
    pub most_ulps: u64,
    /// Where the inputs come from.
    pub data: String,
}

/// What a comparison may spend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Inputs of at most so many bits are all tried.
    pub exhaustive_bits: u32,
    /// Random inputs tried before giving up.
    pub random: u64,
    /// Two NaNs of different bits are a difference.
    pub nan_bits: bool,
    /// How many threads compare, one a core without it; the answer does not depend on it.
    pub threads: Option<NonZeroUsize>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { exhaustive_bits: 32, random: 1 << 22, nan_bits: false, threads: None }
    }
}

/// Compares two computations. `solve` is asked where nothing else decides: it may hand the query to an SMT solver, and
/// says its name where that proves them equal; `progress` receives the inputs tried.
///
/// # Errors
/// If a name has a different type on each side, or the results have.
///
/// ```
/// use std::collections::BTreeMap;
/// use roundonce_arith::{Format, Profile};
/// use roundonce_why::{Typed, diff::{Budget, Side, Verdict, compare}, parse_expr};
/// let names = ["a", "b", "c"].map(|name| (name.to_owned(), Typed { format: Format::F32, bits: 0 }));
/// let side = |text| Side::expression(&parse_expr(text, &BTreeMap::from(names.clone())).unwrap());
/// let verdict = |one, other| {
///     let compared = compare(&side(one), &side(other), None, Budget::default(), &Profile::NVIDIA, &|_| None, &|_| ());
///     compared.unwrap().verdict
/// };
/// assert!(matches!(verdict("a*b+c", "b*a+c"), Verdict::Equal { .. }));
/// assert!(matches!(verdict("fma(a,b,c)", "a*b+c"), Verdict::Different { .. }));
/// ```
pub fn compare(
    first: &Side,
    second: &Side,
    data: Option<&BTreeMap<String, Column>>,
    budget: Budget,
    profile: &Profile,
    solve: &dyn Fn(&Query) -> Option<String>,
    progress: &dyn Fn(u64),
) -> Result<Comparison, String> {
    let mut inputs = first.inputs();
    for (name, format) in second.inputs() {
        if let Some(known) = inputs.insert(name.clone(), format).filter(|known| *known != format) {
            return Err(format!("`{name}` is {} on one side and {} on the other", type_name(known), type_name(format)));
        }
    }
    if first.plan.format() != second.plan.format() {
        return Err(format!(
            "the results have different types: {} and {}",
            type_name(first.plan.format()),
            type_name(second.plan.format())
        ));
    }
    let pair =
        Pair { first, second, inputs, nan_bits: budget.nan_bits, threads: parallel::threads(budget.threads), profile };
    let verdict = pair.verdict(budget, solve, progress);
    let frequency = match verdict {
        Verdict::Different { .. } => pair.frequency(data)?,
        _ => None,
    };
    let [first, second] = [first, second].map(|side| side.text.clone());
    Ok(Comparison { first, second, verdict, frequency })
}

/// What kind of difference two results are, the plainest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    /// Two finite numbers.
    Finite,
    /// One is an infinity or a NaN.
    Special,
    /// Two zeros of different signs.
    ZeroSign,
}

fn type_name(format: Format) -> &'static str {
    format.name().unwrap_or("another type")
}

/// Two computations over the same inputs.
struct Pair<'a> {
    first: &'a Side,
    second: &'a Side,
    inputs: BTreeMap<String, Format>,
    nan_bits: bool,
    threads: usize,
    profile: &'a Profile,
}

impl Pair<'_> {
    fn verdict(&self, budget: Budget, solve: &dyn Fn(&Query) -> Option<String>, progress: &dyn Fn(u64)) -> Verdict {
        for nan_bits in [true, self.nan_bits] {
            let normal = |side: &Side| side.normal(!nan_bits, self.profile);
            if normal(self.first) == normal(self.second) {
                return Verdict::Equal { proof: "both are the same operations".to_owned(), nan_bits };
            }
        }
        let bits: u32 = self.inputs.values().map(|format| format.width()).sum();
        let found = if bits <= budget.exhaustive_bits {
            match self.exhaust(bits, progress) {
                found if found.is_empty() => {
                    let proof = format!("all {} inputs give the same bits", grouped(1 << bits));
                    return Verdict::Equal { proof, nan_bits: self.nan_bits };
                }
                found => found,
            }
        } else {
            self.search(budget.random, progress)
        };
        match self.simplest(found) {
            Some(values) => self.different(&values),
            None => match self.query().and_then(|query| solve(&query)) {
                Some(solver) => {
                    let proof = format!("{solver} finds no input that tells them apart");
                    Verdict::Equal { proof, nan_bits: self.nan_bits }
                }
                None => Verdict::Unknown { tried: budget.random },
            },
        }
    }

    /// The two results at one input.
    fn results(&self, values: &[u64]) -> (u64, u64) {
        let columns = self.columns(|at, _| Bits::One(values[at]));
        let result = |side: &Side| side.runner(&columns, self.profile).run(&[0])[0];
        (result(self.first), result(self.second))
    }

    fn differ(&self, one: u64, other: u64) -> bool {
        let format = self.first.plan.format();
        one != other && (self.nan_bits || !(format.is_nan(one) && format.is_nan(other)))
    }

    fn kind(&self, one: u64, other: u64) -> Kind {
        let format = self.first.plan.format();
        let is_finite = |bits: u64| bits & format.magnitude_mask() < format.infinity();
        match (format.is_zero(one) && format.is_zero(other), is_finite(one) && is_finite(other)) {
            (true, _) => Kind::ZeroSign,
            (false, true) => Kind::Finite,
            (false, false) => Kind::Special,
        }
    }

    fn columns(&self, mut bits: impl FnMut(usize, Format) -> Bits) -> BTreeMap<String, Column> {
        let inputs = self.inputs.iter().enumerate();
        inputs.map(|(at, (name, &format))| (name.clone(), Column { format, bits: bits(at, format) })).collect()
    }

    /// Tells the elements on which the results differ, with both results.
    fn each_difference(
        &self,
        columns: &BTreeMap<String, Column>,
        elements: std::ops::Range<usize>,
        mut give: impl FnMut(usize, u64, u64) -> bool,
    ) {
        let mut first = self.first.runner(columns, self.profile);
        let mut second = self.second.runner(columns, self.profile);
        let mut block = Vec::with_capacity(BLOCK);
        for start in elements.clone().step_by(BLOCK) {
            block.clear();
            block.extend(start..elements.end.min(start + BLOCK));
            for ((&element, &one), &other) in block.iter().zip(first.run(&block)).zip(second.run(&block)) {
                if self.differ(one, other) && give(element, one, other) {
                    return;
                }
            }
        }
    }

    fn different(&self, values: &[u64]) -> Verdict {
        let format = self.first.plan.format();
        let show = |bits: u64| format!("{} {}", hex_bits(format.width(), bits), shortest_decimal(format, bits));
        let (first, second) = self.results(values);
        let inputs = self.inputs.iter().zip(values);
        Verdict::Different {
            inputs: inputs.map(|((name, &format), &bits)| Input::new(name, format, bits)).collect(),
            first: show(first),
            second: show(second),
            ulps: ulps(format, first, second),
        }
    }
}

impl Comparison {
    /// The comparison for a reader.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        match &self.verdict {
            Verdict::Equal { proof, nan_bits } => {
                let but = if *nan_bits { "" } else { ", the bits of NaNs apart" };
                let text = format!("equal: {} and {} give the same bits for all inputs{but}", self.first, self.second);
                lines.extend(wrap(Role::Strong, &text, 0, COLUMNS));
                lines.extend(wrap(Role::Faint, &format!("proof: {proof}"), 2, COLUMNS));
            }
            Verdict::Unknown { tried } => {
                let text = format!("not decided: no difference in {} inputs, and no proof", grouped(*tried));
                lines.extend(wrap(Role::Strong, &text, 0, COLUMNS));
            }
            Verdict::Different { inputs, first, second, ulps } => {
                lines.push(Line::of(Role::Strong, "different"));
                for input in inputs {
                    lines.push(Line::plain(format!("  {} = {} {}", input.name, input.bits, input.value)));
                }
                let width = self.first.chars().count().max(self.second.chars().count());
                for (text, result) in [(&self.first, first), (&self.second, second)] {
                    lines.push(Line::of(Role::Label, format!("  {text:<width$}  ")).and(Role::Strong, result.clone()));
                }
                let distance = match ulps {
                    Some(0) => "only the sign of zero differs; ".to_owned(),
                    Some(ulps) => format!("{} ulp apart; ", grouped(*ulps)),
                    None => String::new(),
                };
                let smallest = "no input can be made simpler (fewer significand bits, an exponent nearer to 0, no \
                                sign) in one step without their agreeing";
                lines.extend(wrap(Role::Faint, &format!("{distance}{smallest}"), 2, COLUMNS));
            }
        }
        if let Some(frequency) = &self.frequency {
            let share = 100.0 * frequency.different as f64 / frequency.of.max(1) as f64;
            let text = format!(
                "{}: {} of {} differ ({share:.3} %), by at most {} ulp",
                frequency.data,
                grouped(frequency.different as u64),
                grouped(frequency.of as u64),
                grouped(frequency.most_ulps)
            );
            lines.extend(wrap(Role::Plain, &text, 2, COLUMNS));
        }
        lines
    }
}
