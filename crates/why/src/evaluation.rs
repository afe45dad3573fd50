//! One evaluation of an expression: a plan, and what each of its operations rounds to. Every difference from the
//! expression as written is a deviation with a name.

use std::sync::Arc;

use roundonce_arith::{Extended, Format, Operation, Outcome, Profile, Rounding};
use roundonce_deviate::{
    Approximation, Carried, Deviation, EvalModel, FactorRounding, Fmas, NarrowBy, Narrowing, Plausibility, Products,
    Stages, Typed, plausibility,
};

use roundonce_isa::{convert, shortest_decimal};

use crate::call::{Call, whole_by};
use crate::expr::Expr;
use crate::integer::{HELD_IN, IntegerCast, IntegerType};
use crate::plan::{Choices, Plan, Ref};
use crate::search::{at_place, place};
use crate::x87::{self, X87Outcome, X87Value};

/// A plan and the modes of its operations.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Evaluation {
    /// The operations. Evaluations that differ in their modes alone share them.
    pub plan: Arc<Plan>,
    /// The sum's order, if it is not the written one.
    pub order: Option<String>,
    /// What all operations do otherwise.
    pub modes: Vec<Deviation>,
    /// The functions, by their operation's place, that give another value than the correctly rounded one.
    pub approximations: Vec<(usize, Approximation)>,
}

/// One operation carried out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// What was computed; of a call its type, direction and flush.
    pub operation: Operation,
    /// What was computed, if the pipeline does not compute it.
    pub call: Option<Call>,
    /// The operands' places.
    pub operands: Vec<Ref>,
    /// The operands' bits, in the operation's format.
    pub bits: Vec<u64>,
    /// The result, in the operation's format.
    pub result: u64,
    /// Whether it differs from the exact value.
    pub inexact: bool,
    /// Whether it is another value than the correctly rounded one, as documents allow: no instruction that rounds gives it.
    pub approximated: bool,
    /// The result rounded again to the expression's type.
    pub narrowed: Option<Typed>,
    /// How it is; of a cast how that rounds, if not as the operation does.
    pub narrow_by: Option<NarrowBy>,
    /// What is flushed apart from the operation: its operands before it, its result after it.
    pub flushed: [bool; 2],
    /// Whether the result was kept from an infinity.
    pub stayed_finite: bool,
    /// Whether an operand was flushed, or the result, but for what `flushed` says and the pipeline's own events.
    pub flushed_within: [bool; 2],
    /// What the operation does where documents leave it open.
    pub profile: Profile,
    /// What its factors are rounded to before.
    pub factors: Option<FactorRounding>,
    /// The result in the x87's format, where it is computed there. The fields above then have it in the operation's type.
    pub x87: Option<Extended>,
}

impl Evaluation {
    /// A plan as written.
    pub(crate) fn plain(plan: impl Into<Arc<Plan>>) -> Evaluation {
        Evaluation { plan: plan.into(), order: None, modes: Vec::new(), approximations: Vec::new() }
    }

    /// An expression as written: nothing fused, every operation rounded to nearest even.
    pub fn as_written(expr: &Expr) -> Evaluation {
        Evaluation::plain(Plan::as_written(expr))
    }

    /// The same where every sum that can takes a product, of two the first operand's: what compilers do that contract.
    pub fn contracted(expr: &Expr) -> Evaluation {
        let choices = Choices::of(expr);
        Evaluation::plain(choices.plan(&choices.compilers(), false))
    }

    /// The deviations from the expression as written.
    pub fn deviations(&self) -> Vec<Deviation> {
        let Plan { fused, contracts_all, .. } = &*self.plan;
        let fused: Vec<Products> = match fused.as_slice() {
            [product] if *contracts_all => vec![Products::Only(product.clone())],
            [_, _, ..] if *contracts_all => vec![Products::All],
            products => products.iter().cloned().map(Products::Written).collect(),
        };
        let split = (self.plan.split > 0).then_some(Deviation::Split(Fmas::All));
        let order = self.order.clone().map(Deviation::Order);
        // That a product is contracted to sm_1x's `mad` says that subnormals are flushed.
        let is_mad = !self.plan.fused.is_empty() && self.modes.contains(&Deviation::TruncatedProduct);
        let modes = self.modes.iter().filter(|mode| !is_mad || !matches!(mode, Deviation::Flush(_))).cloned();
        let approximated = self.approximations.iter().map(|(_, given)| Deviation::Approximate(given.clone()));
        let rewritten = self.plan.rewritten.iter().cloned();
        let plan = fused.into_iter().map(Deviation::Contract).chain(split).chain(rewritten);
        plan.chain(modes).chain(order).chain(approximated).collect()
    }

    /// The digits of a result that is an integer and that the type of the results does not hold.
    pub(crate) fn unheld_integer(&self, result: Typed) -> Option<String> {
        let [_, digits] = self.plan.integer().filter(|_| !self.plan.negate_result)?.texts(result.bits)?;
        (digits != shortest_decimal(result.format, result.bits) && digits.len() > 16).then_some(digits)
    }

    /// Whether a function is among its operations.
    pub(crate) fn has_function(&self) -> bool {
        self.plan.ops.iter().any(|op| op.call().and_then(Call::function).is_some())
    }

    /// How plausible it is as a cause.
    pub fn plausibility(&self) -> Plausibility {
        plausibility(&self.deviations())
    }

    /// How the operations are evaluated, seen from a multiply-add of the expression's type.
    pub(crate) fn model(&self) -> EvalModel {
        let multiply_add = Operation::mul_add(self.plan.format(), Rounding::NearestEven);
        EvalModel::of(multiply_add, &Profile::NVIDIA).with_all(&self.modes)
    }

    /// How the plan's `index`th operation is carried out.
    pub(crate) fn stages(&self, index: usize, profile: &Profile) -> Stages {
        let is_last = index + 1 == self.plan.ops.len();
        // The result alone is clamped; a cast is to its type even where all else is computed in a wider one.
        let op = &self.plan.ops[index];
        let is_cast = op.call().is_some_and(Call::is_cast);
        let is_wide = |mode: &Deviation| {
            matches!(
                mode,
                Deviation::WideEachOperation(_)
                    | Deviation::WideWhole(_)
                    | Deviation::WideResult(_)
                    | Deviation::Bf16Cut(_)
            )
        };
        // Functions have next to no ties.
        let is_tie = |mode: &Deviation| matches!(mode, Deviation::TiesAway(_)) && op.call().is_some();
        let keeps_subnormals = op.call().is_some_and(|call| call.keeps_subnormals(op.format));
        let is_flush = |mode: &Deviation| {
            matches!(mode, Deviation::Flush(_) | Deviation::FlushOperands | Deviation::FlushResults(_))
        };
        let is_done = |mode: &&Deviation| {
            (is_last || **mode != Deviation::Saturate)
                && !(is_cast && is_wide(mode))
                && !is_tie(mode)
                && !(keeps_subnormals && is_flush(mode))
        };
        let model = EvalModel::of(op.operation(), profile);
        let mut stages = model.with_all(self.modes.iter().filter(is_done)).stages(is_last);
        if let Some(Call::RoundTo(_, by)) = op.call() {
            stages.operation.rounding = by;
            stages.narrow = None;
        } else if is_cast {
            // How the cast itself rounds.
            let by = model.with_all(&self.modes).narrowing();
            stages.narrow = (by != NarrowBy::Direction(stages.operation.rounding)).then_some((op.format, by));
        }
        stages
    }

    /// The result.
    pub(crate) fn result(&self, profile: &Profile) -> Typed {
        match self.on_x87() {
            Some(narrowing) => self.run_on_x87(narrowing, |leaf| self.plan.leaves[leaf].0, |_, _| ()),
            None => self.run(profile, false, |_, _, _| ()),
        }
    }

    /// Whether it is computed in the x87's format, and when that is left.
    pub(crate) fn on_x87(&self) -> Option<Narrowing> {
        self.modes.iter().find_map(|mode| if let Deviation::X87(narrowing) = mode { Some(*narrowing) } else { None })
    }

    /// Carries the plan out on the x87, of these values of its leaves. `done` receives every operation's place and
    /// outcome, in order.
    pub(crate) fn run_on_x87(
        &self,
        narrowing: Narrowing,
        leaf: impl Fn(usize) -> Typed,
        mut done: impl FnMut(usize, X87Outcome),
    ) -> Typed {
        let mut results: Vec<X87Outcome> = Vec::with_capacity(self.plan.ops.len());
        for (index, op) in self.plan.ops.iter().enumerate() {
            let value = |operand: &Ref| match *operand {
                Ref::Leaf(at) => X87Value::Memory(leaf(at)),
                Ref::Op(earlier) => results[earlier].value(),
            };
            let operands: Vec<X87Value> = op.operands.iter().map(value).collect();
            let stores = narrowing == Narrowing::EachOperation || index + 1 == self.plan.ops.len();
            results.push(x87::carry_out(op, &operands, stores));
            done(index, results[index]);
        }
        self.signed(results.last().map_or_else(|| leaf(0), |last| last.as_format(self.plan.format())))
    }

    /// The plan's result from its last operation's, or from the value alone.
    fn signed(&self, mut result: Typed) -> Typed {
        if self.plan.negate_result {
            result.bits ^= result.format.sign_mask();
        }
        result
    }

    /// Carries the plan out; whether functions are exact is found out where it is asked for. `done` receives every operation's place, stages and outcome, in order.
    fn run(&self, profile: &Profile, wants_flags: bool, mut done: impl FnMut(usize, &Stages, &Carried)) -> Typed {
        let mut results: Vec<Typed> = Vec::with_capacity(self.plan.ops.len());
        for (index, op) in self.plan.ops.iter().enumerate() {
            let stages = self.stages(index, profile);
            let value = |operand: &Ref| match *operand {
                Ref::Leaf(leaf) => self.plan.leaves[leaf].0,
                Ref::Op(earlier) => results[earlier],
            };
            let mut operands = [Typed { format: op.format, bits: 0 }; 3];
            operands.iter_mut().zip(&op.operands).for_each(|(operand, from)| *operand = value(from));
            let approximation = self.approximations.iter().find(|(at, _)| *at == index);
            let moved_by = approximation.map_or(0, |(_, given)| given.steps);
            let carried = carry_out(&stages, op.call(), &operands[..op.operands.len()], moved_by, wants_flags);
            results.push(carried.value());
            done(index, &stages, &carried);
        }
        self.signed(results.last().copied().unwrap_or_else(|| self.plan.leaves[0].0))
    }

    /// The result and every step.
    pub fn trace(&self, profile: &Profile) -> (Typed, Vec<Step>) {
        let mut steps = Vec::new();
        if let Some(narrowing) = self.on_x87() {
            let result = self.run_on_x87(
                narrowing,
                |leaf| self.plan.leaves[leaf].0,
                |index, outcome| {
                    let op = &self.plan.ops[index];
                    steps.push(Step {
                        operation: op.operation(),
                        call: op.call(),
                        operands: op.operands.clone(),
                        bits: Vec::new(),
                        result: outcome.as_format(op.format).bits,
                        inexact: outcome.result.inexact,
                        approximated: false,
                        narrowed: outcome.stored,
                        narrow_by: None,
                        flushed: [false; 2],
                        stayed_finite: false,
                        flushed_within: [false; 2],
                        profile: *profile,
                        factors: None,
                        x87: Some(outcome.result.number),
                    });
                },
            );
            return (result, steps);
        }
        let result = self.run(profile, true, |index, stages, carried| {
            let op = &self.plan.ops[index];
            steps.push(Step {
                operation: stages.operation,
                call: op.call(),
                operands: op.operands.clone(),
                bits: carried.operands[..op.operands.len()].to_vec(),
                result: carried.result.bits,
                inexact: carried.inexact,
                approximated: self.approximations.iter().any(|(at, _)| *at == index),
                narrowed: carried.narrowed,
                narrow_by: stages.narrow.map(|(_, by)| by),
                flushed: [stages.flush_operands, carried.flushed_result],
                stayed_finite: carried.stayed_finite,
                flushed_within: carried.flushed_within,
                profile: stages.profile,
                factors: stages.factors,
                x87: None,
            });
        });
        (result, steps)
    }
}

impl Step {
    /// The type of integers that its result has, if it is an integer.
    pub(crate) fn integer(&self) -> Option<IntegerType> {
        if let Some(Call::ToInteger(cast)) = self.call { Some(cast.to) } else { None }
    }

    /// What was computed, before it was narrowed.
    pub(crate) fn computed(&self) -> Typed {
        Typed { format: self.operation.format, bits: self.result }
    }
}

/// The first operation of each of two evaluations that the other does not carry out with the same result.
pub fn first_difference<'s>(one: &'s [Step], other: &'s [Step]) -> Option<(&'s Step, &'s Step)> {
    // What is exact in one type is the same number in another one, and in 80 bits.
    let type_of = |step: &Step| (step.operation.format, step.x87.is_some());
    let number = |step: &Step| {
        let Typed { format, bits } = step.narrowed.unwrap_or(step.computed());
        convert(format, Format::F64, Rounding::NearestEven, bits).0
    };
    let is_exact_in_both =
        |a: &Step, b: &Step| type_of(a) != type_of(b) && !a.inexact && !b.inexact && number(a) == number(b);
    let is_alike = |a: &Step, b: &Step| {
        (a.operation.format, a.result, &a.bits, a.narrowed, a.x87)
            == (b.operation.format, b.result, &b.bits, b.narrowed, b.x87)
    };
    let same = |a: &Step, b: &Step| {
        a.operation.op == b.operation.op && a.call == b.call && (is_alike(a, b) || is_exact_in_both(a, b))
    };
    let first_unshared =
        |steps: &'s [Step], others: &[Step]| steps.iter().find(|step| !others.iter().any(|other| same(step, other)));
    first_unshared(one, other).zip(first_unshared(other, one))
}

/// Whether a wider type is among some deviations.
pub(crate) fn has_wider_type(deviations: &[Deviation]) -> bool {
    let is_wide =
        |it: &Deviation| matches!(it, Deviation::WideEachOperation(_) | Deviation::WideWhole(_) | Deviation::X87(_));
    deviations.iter().any(is_wide)
}

/// Whether an evaluation is another one with all products fused, and what it is has nothing else but a flush. Where both
/// give the same, both are named: who asks wants to know which of the two it was.
pub(crate) fn is_same_fused(unfused: &[Deviation], other: &[Deviation]) -> bool {
    let is_flush = |it: &Deviation| matches!(it, Deviation::Flush(_));
    let is_fusion = |it: &Deviation| matches!(it, Deviation::Contract(Products::All | Products::Only(_)));
    unfused.iter().all(is_flush)
        && other.len() == unfused.len() + 1
        && other.iter().any(is_fusion)
        && other.iter().all(|it| is_fusion(it) || unfused.contains(it))
}

/// Carries an operation out; a call's result is moved by so many representable values.
pub(crate) fn carry_out(
    stages: &Stages,
    call: Option<Call>,
    operands: &[Typed],
    moved_by: i32,
    wants_flags: bool,
) -> Carried {
    let wants_flags = wants_flags || !stages.needs_no_flags();
    match call {
        None => stages.run(operands),
        Some(Call::Round | Call::RoundTo(..)) => rounded(stages, operands[0]),
        Some(Call::ToInteger(cast)) => as_integer(stages, cast, operands[0]),
        Some(call) => {
            let format = stages.operation.format;
            let carried =
                stages.run_as(operands, |bits| moved(format, call.compute(stages, bits, wants_flags), moved_by));
            let given = &carried.operands[..operands.len()];
            let flushes = wants_flags && stages.operation.flush;
            let within = if flushes { flushed_within(stages, call, given, carried.result.bits) } else { [false; 2] };
            Carried { flushed_within: [0, 1].map(|at| carried.flushed_within[at] || within[at]), ..carried }
        }
    }
}

/// Whether a call that flushes has flushed an operand, and its result.
fn flushed_within(stages: &Stages, call: Call, operands: &[u64], result: u64) -> [bool; 2] {
    let format = stages.operation.format;
    let kept = Stages { operation: Operation { flush: false, ..stages.operation }, ..*stages };
    let clean: Vec<u64> = operands.iter().map(|&bits| format.flush(bits)).collect();
    let is_result = format.is_zero(result) && !format.is_zero(call.compute(&kept, &clean, false).bits);
    [operands.iter().any(|&bits| format.is_subnormal(bits)), is_result]
}

/// A cast.
fn rounded(stages: &Stages, Typed { format, bits }: Typed) -> Carried {
    let to = stages.operation.format;
    let flushes = stages.flush_operands || stages.operation.flush;
    let clean = |format: Format, bits: u64| if flushes { format.flush(bits) } else { bits };
    let (given, bits) = (bits, clean(format, bits));
    let by = stages.narrow.map_or(NarrowBy::Direction(stages.operation.rounding), |(_, by)| by);
    let kept = by.convert(format, to, bits);
    let result = clean(to, kept);
    let flushed_within = [bits != given, result != kept];
    let stayed_finite = stages.keeps_finite(to, result);
    let result = result - u64::from(stayed_finite);
    let inexact = convert(to, format, Rounding::NearestEven, result).0 != bits && !format.is_nan(bits);
    let result = Typed { format: to, bits: result };
    Carried {
        operands: [bits, 0, 0],
        result,
        inexact,
        narrowed: None,
        flushed_result: false,
        stayed_finite,
        flushed_within,
    }
}

/// A cast to an integer, of a number in its own type.
fn as_integer(stages: &Stages, cast: IntegerCast, Typed { format, bits }: Typed) -> Carried {
    let flushes = stages.flush_operands || stages.operation.flush;
    let (given, bits) = (bits, if flushes { format.flush(bits) } else { bits });
    let whole = whole_by(&stages.profile, format, cast.by, bits);
    let operand = convert(format, HELD_IN, Rounding::NearestEven, bits).0;
    Carried {
        operands: [operand, 0, 0],
        result: Typed { format: HELD_IN, bits: cast.of_whole(format, whole).0 },
        inexact: whole != bits && !format.is_nan(bits),
        narrowed: None,
        flushed_result: false,
        stayed_finite: false,
        flushed_within: [bits != given, false],
    }
}

/// A result so many representable values away.
fn moved(format: Format, outcome: Outcome, steps: i32) -> Outcome {
    match steps {
        0 => outcome,
        _ => Outcome { bits: at_place(format, place(format, outcome.bits) + i128::from(steps)), ..outcome },
    }
}
