//! The evaluations of a sum or a matrix product: an order of its additions, and the precisions around them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use roundonce_arith::{ArithOp, Element, Elements, Format, Operation, Profile, Rounding};
use roundonce_deviate::{Deviation, FactorRounding, Narrowing, Plausibility, Products, Tf32Rounding, plausibility};
use roundonce_functions::{Function, approximate};
use roundonce_isa::convert;

use super::engine::{LANES, run};
use super::evaluate::{BLOCK, Runner};
use super::lanes::{Additions, Factor, Lanes, Width, in_element};
use super::question::{Operand, Question, Reduction};
use super::reduction::Word;
use super::schedule::{Row, Schedule, TensorUnit, representatives, rows, tensor_rows};
use super::view::{place, strides_in};
use super::{Bits, Column, parallel};
use crate::evaluation::Evaluation;
use crate::expr::Expr;
use crate::plan::Plan;
use crate::rewrite::rewritings;

/// Results of a sum that are computed together.
const RESULTS: usize = 256;

/// What is said where a compensated sum explains what was seen: one in 80 bits gives nearly the same.
pub(super) const EIGHTY_BITS_UNTRIED: &str = "not tried: sums kept in 80 bits (long double, as R's sum)";

/// Whether a sum is compensated among some deviations.
pub(super) fn is_compensated(deviations: &[Deviation]) -> bool {
    deviations.iter().any(|it| matches!(it, Deviation::Order(order) if order.ends_with("compensation")))
}

/// In which format sums are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Precision {
    /// The type of the terms.
    Own,
    /// A wider one, and all else too; the result is rounded once.
    Whole(Format),
    /// A wider one; products and the rest are in the type of the terms.
    Sum(Format),
    /// Each operation is computed in a wider one and rounded again.
    Each(Format),
    /// A wider one, and all else too; the result is not rounded.
    Result(Format),
    /// f32, and all else too; the result is cut to bf16.
    Cut,
}

/// How terms are made and added, whatever their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Setting {
    is_fused: bool,
    precision: Precision,
    is_flushed: bool,
    factors: Option<FactorRounding>,
    /// A mean is the product with a rounded reciprocal.
    by_reciprocal: bool,
}

/// One evaluation: an order, a setting, and how what stands around the sum is computed, by their places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SumEvaluation {
    row: usize,
    setting: usize,
    around: usize,
}

/// Every evaluation of a reduction.
pub(super) struct Sums<'a> {
    question: &'a Question,
    reduction: &'a Reduction,
    profile: &'a Profile,
    rows: Vec<Row>,
    /// For each row the first one that adds as many terms in the same tree.
    same_as: Vec<usize>,
    settings: Vec<Setting>,
    /// What stands around the sum, as written and with its quotients and roots computed in other ways.
    arounds: Vec<(Vec<Deviation>, Expr)>,
    evaluations: Vec<SumEvaluation>,
}

/// The factors of a setting's terms, in the format that they are added in.
pub(super) struct Prepared<'a> {
    factors: Vec<(Cow<'a, Elements>, &'a Operand)>,
}

impl Setting {
    /// The format that sums are kept in.
    fn working(&self, own: Format) -> Format {
        match self.precision {
            Precision::Own => own,
            Precision::Whole(wide) | Precision::Sum(wide) | Precision::Each(wide) | Precision::Result(wide) => wide,
            Precision::Cut => Format::F32,
        }
    }

    /// Whether 16-bit terms are added in f64: what a reference does, and hardly any machine.
    fn is_reference(&self, own: Format) -> bool {
        own.width() == 16 && self.working(own) == Format::F64
    }

    /// Whether all is computed in the wider format, products and what stands around the sum too.
    const fn is_all_wide(&self) -> bool {
        matches!(self.precision, Precision::Whole(_) | Precision::Result(_) | Precision::Cut)
    }

    fn deviations(&self, product: Option<&str>) -> Vec<Deviation> {
        let mut all = Vec::new();
        all.extend(product.filter(|_| self.is_fused).map(|text| Deviation::Contract(Products::Only(text.to_owned()))));
        all.extend(self.is_flushed.then_some(Deviation::Flush(None)));
        all.extend(match self.precision {
            Precision::Own => None,
            Precision::Whole(wide) => Some(Deviation::WideWhole(wide)),
            Precision::Sum(wide) => Some(Deviation::WideSum(wide)),
            Precision::Each(wide) => Some(Deviation::WideEachOperation(wide)),
            Precision::Result(wide) => Some(Deviation::WideResult(wide)),
            Precision::Cut => Some(Deviation::Bf16Cut(Narrowing::Whole)),
        });
        all.extend(self.factors.map(FactorRounding::deviation));
        all.extend(self.by_reciprocal.then_some(Deviation::Reciprocal));
        all
    }

    /// Whether a tensor core's sums are kept so: in its accumulator's type, the factors as they are or in its TF32.
    fn is_of(&self, unit: &TensorUnit, own: Format) -> bool {
        let takes_tf32 = unit.dot.a == Element::Float(Format::TF32);
        let takes_factors = match self.factors {
            None => !takes_tf32,
            Some(FactorRounding::Tf32(_)) => takes_tf32,
            Some(FactorRounding::Narrow(_)) => false,
        };
        let is_plain = !self.is_fused && !self.is_flushed && !self.by_reciprocal && takes_factors;
        is_plain
            && matches!(self.precision, Precision::Own | Precision::Sum(_) | Precision::Result(_) | Precision::Cut)
            && self.working(own) == unit.dot.accumulator
    }

    /// How an expression of the terms is evaluated.
    fn modes(&self) -> Vec<Deviation> {
        let factors = self.factors.map(FactorRounding::deviation);
        self.is_flushed.then_some(Deviation::Flush(None)).into_iter().chain(factors).collect()
    }
}

/// Every setting of a reduction for what was seen in a format, the one as written first.
fn settings(question: &Question, reduction: &Reduction, seen: Format) -> Vec<Setting> {
    let own = reduction.format();
    let plain =
        Setting { is_fused: false, precision: Precision::Own, is_flushed: false, factors: None, by_reciprocal: false };
    let has_product = reduction.product.is_some();
    // Then the whole is the sum, and a wider whole is a wider sum.
    let is_sum_alone = matches!(question.expr, Expr::Value(..))
        && matches!(&reduction.operands[..], [Operand { expr: Expr::Value(..), .. }]);
    let wider: &[Format] = match own {
        Format::F16 | Format::BF16 => &[Format::F32, Format::F64],
        Format::F32 => &[Format::F64],
        _ => &[],
    };
    let mut all = vec![plain];
    all.extend(has_product.then_some(Setting { is_fused: true, ..plain }));
    for &wide in wider {
        all.push(Setting { precision: Precision::Whole(wide), ..plain });
        let is_kept = seen.width() > question.format().width();
        all.extend(is_kept.then_some(Setting { precision: Precision::Result(wide), ..plain }));
        all.extend((!is_sum_alone).then_some(Setting { precision: Precision::Sum(wide), ..plain }));
        // A product and a sum of f32 are the same rounded from f64, and of 16 bits rounded from f32.
        let each = Setting { is_fused: true, precision: Precision::Each(wide), ..plain };
        all.extend((has_product && wide == Format::F32).then_some(each));
    }
    let is_bf16 = own == Format::BF16 && question.format() == own;
    all.extend(is_bf16.then_some(Setting { precision: Precision::Cut, ..plain }));
    if has_product && own == Format::F32 {
        let rounded = |how| Setting { factors: Some(how), ..plain };
        all.extend(Tf32Rounding::ALL.map(|how| rounded(FactorRounding::Tf32(how))));
        if reduction.operands.len() == 2 {
            all.extend([Format::F16, Format::BF16].map(|format| rounded(FactorRounding::Narrow(format))));
        }
    }
    if matches!(own, Format::F16 | Format::F32) && !is_far_from_subnormal(question, reduction) {
        let flushed = all.clone().into_iter().filter(|setting| setting.precision == Precision::Own);
        all.extend(flushed.map(|setting| Setting { is_flushed: true, ..setting }));
    }
    if reduction.word == Word::Mean && !reduction.length.is_power_of_two() {
        let divided = all.clone();
        all.extend(divided.into_iter().map(|setting| Setting { by_reciprocal: true, ..setting }));
    }
    all
}

/// The tensor cores that take the factors of a matrix product: as they are, if their types hold every one.
fn units(question: &Question, reduction: &Reduction) -> Vec<TensorUnit> {
    let holds = |operand: &Operand, element: Element| {
        let Expr::Value(_, name) = &operand.expr else { return false };
        let Some(Column { format, bits: Bits::Each(elements) }) = operand.columns.get(name) else { return false };
        *format == Format::F32 && element == Element::Float(Format::TF32)
            || elements.iter().all(|bits| in_element(*format, element, bits).is_some())
    };
    let [a, b] = &reduction.operands[..] else { return Vec::new() };
    // A type's answer is asked for once of each factor.
    let mut known: BTreeMap<(bool, &'static str), bool> = BTreeMap::new();
    let mut takes = |is_a: bool, element: Element| {
        *known.entry((is_a, element.name())).or_insert_with(|| holds(if is_a { a } else { b }, element))
    };
    question.units.iter().filter(|unit| takes(true, unit.dot.a) && takes(false, unit.dot.b)).cloned().collect()
}

/// Whether no term and no sum of terms can be subnormal: all are multiples of a unit that is a normal number.
fn is_far_from_subnormal(question: &Question, reduction: &Reduction) -> bool {
    let format = reduction.format();
    let mut unit = 0;
    for operand in &reduction.operands {
        let factors = match &operand.expr {
            Expr::Mul(a, b) => vec![&**a, &**b],
            value => vec![value],
        };
        for factor in factors {
            let Expr::Value(value, name) = factor else { return false };
            let magnitude = |bits: u64| bits & format.magnitude_mask();
            let mut least = u64::MAX;
            let mut take = |bits: u64| least = least.min(magnitude(bits).wrapping_sub(1));
            match operand.columns.get(name) {
                None => take(value.bits),
                Some(Column { format: own, bits: Bits::Each(elements) }) if *own == format => elements.for_each(take),
                Some(_) => return false,
            }
            // The exponent of the last place; of zeros alone there is none.
            if least < u64::MAX {
                unit += ((least + 1) >> format.frac_bits()) as i64
                    - i64::from(format.bias())
                    - i64::from(format.frac_bits());
            }
        }
    }
    let is_alone = matches!(question.expr, Expr::Value(..)) && reduction.word != Word::Mean;
    is_alone && unit >= i64::from(format.emin())
}

impl<'a> Sums<'a> {
    /// For what was seen in a format.
    pub(super) fn of(question: &'a Question, reduction: &'a Reduction, seen: Format, profile: &'a Profile) -> Sums<'a> {
        let mut rows: Vec<Row> = rows().into_iter().filter(|row| !row.is_numpy() || is_sum(reduction)).collect();
        rows.extend(tensor_rows(&units(question, reduction), question.addend().is_some()));
        let same_as = representatives(&rows, reduction.length);
        let settings = settings(question, reduction, seen);
        let mut arounds = vec![(Vec::new(), question.expr.clone())];
        // One thing is done otherwise, wherever it stands.
        arounds.extend(rewritings(&question.expr).into_iter().filter(|(deviations, _)| deviations.len() == 1));
        let mut evaluations = Vec::new();
        for (row, it) in rows.iter().enumerate() {
            // What adds in the tree of the order as written is that order.
            if row > 0 && same_as[row] == 0 {
                continue;
            }
            let fits = |setting: &Setting| {
                if let Some((unit, _)) = it.schedule.tensor() {
                    return setting.is_of(unit, reduction.format());
                }
                // f64 holds sums of 16-bit numbers exactly or nearly so, in whatever order.
                if setting.is_reference(reduction.format()) {
                    return row == 0;
                }
                // Nothing is compensated in f64, which needs it less.
                let is_double = setting.precision != Precision::Own && setting.working(Format::F32) == Format::F64;
                let is_compensated = matches!(it.schedule, Schedule::Compensated(_));
                !is_compensated || !setting.is_fused && setting.factors.is_none() && !is_double
            };
            let fitting = (0..settings.len()).filter(|&at| fits(&settings[at]));
            for setting in fitting {
                let is_plain = !settings[setting].is_flushed && settings[setting].factors.is_none();
                let arounds = if is_plain { arounds.len() } else { 1 };
                evaluations.extend((0..arounds).map(|around| SumEvaluation { row, setting, around }));
            }
        }
        let mut sums = Sums { question, reduction, profile, rows, same_as, settings, arounds, evaluations };
        let deviations: Vec<Vec<Deviation>> = (0..sums.len()).map(|at| sums.deviations(at)).collect();
        let mut order: Vec<usize> = (0..sums.len()).collect();
        order.sort_by_key(|&at| sums.plausibility(at, &deviations[at]));
        sums.evaluations = order.into_iter().map(|at| sums.evaluations[at]).collect();
        sums
    }

    /// How many evaluations there are, the one as written first.
    pub(super) fn len(&self) -> usize {
        self.evaluations.len()
    }

    /// How many add the terms as written.
    pub(super) fn in_order(&self) -> usize {
        self.evaluations.iter().take_while(|it| it.row == 0).count()
    }

    /// Terms of each result.
    pub(super) fn terms(&self) -> usize {
        self.reduction.length.max(1)
    }

    /// How the evaluation deviates from the expression as written.
    pub(super) fn deviations(&self, evaluation: usize) -> Vec<Deviation> {
        let SumEvaluation { row, setting, around } = self.evaluations[evaluation];
        let mut all = self.settings[setting].deviations(self.reduction.product.as_deref());
        // A mean may have a reciprocal of its own.
        all.extend(self.arounds[around].0.iter().filter(|it| !all.contains(it)).cloned().collect::<Vec<_>>());
        let Row { schedule, name, .. } = &self.rows[row];
        let deviation = if schedule.tensor().is_some() { Deviation::TensorCores } else { Deviation::Order };
        all.extend(name.clone().map(deviation));
        all
    }

    /// How plausible an evaluation with these deviations is.
    pub(super) fn plausibility(&self, evaluation: usize, deviations: &[Deviation]) -> Plausibility {
        let setting = &self.settings[self.evaluations[evaluation].setting];
        if setting.is_reference(self.reduction.format()) { Plausibility::Unusual } else { plausibility(deviations) }
    }

    /// The place of an evaluation's order.
    pub(super) fn row(&self, evaluation: usize) -> usize {
        self.evaluations[evaluation].row
    }

    /// Who adds in its order, if that is not the one as written.
    pub(super) fn by(&self, evaluation: usize) -> Option<&str> {
        let row = &self.rows[self.evaluations[evaluation].row];
        row.name.as_ref().map(|_| row.by.as_str())
    }

    /// The evaluation that stands for all that compute the same.
    pub(super) fn representative(&self, evaluation: usize) -> SumEvaluation {
        let it = self.evaluations[evaluation];
        SumEvaluation { row: self.same_as[it.row], ..it }
    }

    /// How many different things are computed by the evaluations up to one.
    pub(super) fn different(&self, last: usize) -> usize {
        (0..=last).map(|at| self.representative(at)).collect::<HashSet<SumEvaluation>>().len()
    }

    fn is_two(&self, setting: &Setting) -> bool {
        self.reduction.operands.len() == 2 || setting.is_fused
    }

    /// The factors of an evaluation's terms.
    pub(super) fn prepare(&self, of: SumEvaluation, threads: usize) -> Prepared<'a> {
        let setting = self.settings[of.setting];
        let own = self.reduction.format();
        let parts: Vec<(&'a Expr, &'a Operand)> = match self.reduction.operands.as_slice() {
            [term] => match &term.expr {
                Expr::Mul(a, b) if self.is_two(&setting) => vec![(&**a, term), (&**b, term)],
                expr => vec![(expr, term)],
            },
            operands => operands.iter().map(|operand| (&operand.expr, operand)).collect(),
        };
        let factors = parts.into_iter().map(|(expr, operand)| {
            let mut elements = self.elements(expr, operand, &setting, threads);
            if let Some(how) = setting.factors.filter(|_| self.reduction.operands.len() == 2) {
                let mut rounded = Elements::of(own);
                rounded.extend(elements.iter().map(|bits| how.of_f32(bits)));
                elements = Cow::Owned(rounded);
            }
            (elements, operand)
        });
        Prepared { factors: factors.collect() }
    }

    /// The values of an expression of an operand, in the format that sums are kept in.
    fn elements(&self, expr: &Expr, operand: &'a Operand, setting: &Setting, threads: usize) -> Cow<'a, Elements> {
        let own = self.reduction.format();
        let working = setting.working(own);
        if let Expr::Value(_, name) = expr
            && let Some(Column { format, bits: Bits::Each(elements) }) = operand.columns.get(name)
            && *format == working
            && elements.width() == working.width()
        {
            return Cow::Borrowed(elements);
        }
        let mut evaluation = Evaluation::plain(Plan::as_written(expr));
        evaluation.modes = setting.modes();
        if setting.is_all_wide() {
            // What is computed in the wide format is not narrowed before the sum.
            Arc::make_mut(&mut evaluation.plan).ops.iter_mut().for_each(|op| op.format = working);
        }
        let count: usize = operand.shape.iter().product();
        const PIECE: usize = 64 * BLOCK;
        let pieces = parallel::map(threads, count.div_ceil(PIECE), PIECE as u64, &mut |_| (), |piece| {
            let mut runner = Runner::new(&evaluation, &operand.columns, self.profile);
            let all: Vec<usize> = (piece * PIECE..count.min((piece + 1) * PIECE)).collect();
            let mut elements = Elements::of(working);
            for block in all.chunks(BLOCK) {
                let from = runner.format();
                elements.extend(runner.run(block).iter().map(|&bits| converted(from, working, bits)));
            }
            elements
        });
        let mut elements = Elements::of(working);
        pieces.into_iter().for_each(|piece| elements.extend(piece.iter()));
        Cow::Owned(elements)
    }

    /// How many results are computed together at best.
    pub(super) fn at_once(&self, of: SumEvaluation) -> usize {
        (LANES / self.rows[of.row].schedule.width(self.terms())).clamp(1, RESULTS)
    }

    /// The results of evaluations whose sums are the same at elements, in a format.
    pub(super) fn results(
        &self,
        alike: &[SumEvaluation],
        prepared: &Prepared<'_>,
        elements: &[usize],
        to: Format,
    ) -> Vec<Vec<u64>> {
        let of = alike[0];
        let setting = &self.settings[of.setting];
        let Reduction { shape, .. } = self.reduction;
        let (own, working) = (self.reduction.format(), setting.working(self.reduction.format()));
        // The reduction's result may repeat in the whole.
        let strides = strides_in(shape, &self.question.shape);
        let own_elements: Vec<usize> = elements.iter().map(|&at| place(&self.question.shape, &strides, at)).collect();
        let schedule = &self.rows[of.row].schedule;
        let begins = schedule.tensor().is_some_and(|(_, begins)| begins);
        let mut addends = Vec::new();
        if let Some(column) = self.question.addend().filter(|_| begins) {
            column.gather(elements, &mut addends);
            addends.iter_mut().for_each(|bits| *bits = converted(column.format, working, *bits));
        }
        let mut sums: Vec<u64> = match working.width() {
            16 => self.sums::<u16>(setting, schedule, prepared, &own_elements, &addends),
            32 => self.sums::<u32>(setting, schedule, prepared, &own_elements, &addends),
            _ => self.sums::<u64>(setting, schedule, prepared, &own_elements, &addends),
        };
        if self.reduction.word == Word::Mean {
            sums.iter_mut().for_each(|sum| *sum = self.mean(setting, working, *sum));
        }
        let finished = |it: &SumEvaluation| {
            let sums = sums.clone();
            let (sums, format) = match (&self.arounds[it.around].1, setting.precision) {
                _ if begins => (sums, working),
                (Expr::Value(..), Precision::Result(_) | Precision::Cut) => (sums, working),
                (Expr::Value(..), _) => (narrowed(sums, working, own), own),
                (expr, _) if setting.is_all_wide() => self.around(expr, sums, working, working, setting, elements),
                (expr, _) => self.around(expr, narrowed(sums, working, own), own, own, setting, elements),
            };
            let own = self.question.format();
            match setting.precision {
                Precision::Result(_) => narrowed(sums, format, to),
                Precision::Cut => {
                    let cut = |bits: &u64| convert(format, own, Rounding::TowardZero, *bits).0;
                    narrowed(sums.iter().map(cut).collect(), own, to)
                }
                // What is computed in a wide format is rounded once to its own.
                _ => narrowed(narrowed(sums, format, own), own, to),
            }
        };
        alike.iter().map(finished).collect()
    }

    fn sums<T: Width>(
        &self,
        setting: &Setting,
        schedule: &Schedule,
        prepared: &Prepared<'_>,
        elements: &[usize],
        addends: &[u64],
    ) -> Vec<u64> {
        let own = self.reduction.format();
        let is_product = self.reduction.operands.len() == 2;
        let additions = Additions {
            format: setting.working(own),
            flush: setting.is_flushed,
            // A product of two narrow numbers is exact in the wide format: fused or not is the same there.
            is_fused: setting.is_fused || setting.is_all_wide(),
            narrow: matches!(setting.precision, Precision::Each(_)).then_some(own),
            narrow_product: (is_product && matches!(setting.precision, Precision::Sum(_))).then_some(own),
        };
        let factors = prepared.factors.iter().filter_map(|(values, operand)| {
            let first = elements.iter().map(|&at| place(&self.reduction.shape, &operand.strides, at));
            Some(Factor::new(T::of(values)?, first.collect(), operand.step))
        });
        let factors: Vec<Factor<'_, T>> = factors.collect();
        if factors.len() != prepared.factors.len() {
            return vec![0; elements.len()];
        }
        let addends = addends.iter().map(|bits| T::cut(*bits)).collect();
        let mut lanes = Lanes::new(factors, additions, self.profile).with_addends(addends);
        run(&mut lanes, schedule, &[0], self.reduction.length).into_iter().map(Width::bits).collect()
    }

    /// A sum divided by the number of terms.
    fn mean(&self, setting: &Setting, format: Format, sum: u64) -> u64 {
        let count = (self.reduction.length as f64).to_bits();
        let count = converted(Format::F64, format, count);
        let divide =
            |by| approximate(self.profile, Function::Divide, format, Rounding::NearestEven, setting.is_flushed, by);
        if !setting.by_reciprocal {
            return divide([sum, count]);
        }
        let multiply =
            Operation { flush: setting.is_flushed, ..Operation::new(ArithOp::Mul, format, Rounding::NearestEven) };
        multiply.evaluate(self.profile, &[sum, divide([format.one(), count])]).bits
    }

    /// What is computed with the sums at some elements, all in the format in which it is, and that format.
    fn around(
        &self,
        expr: &Expr,
        sums: Vec<u64>,
        format: Format,
        working: Format,
        setting: &Setting,
        elements: &[usize],
    ) -> (Vec<u64>, Format) {
        let mut columns = BTreeMap::new();
        for (name, column) in &self.question.columns {
            let mut bits = Vec::new();
            column.gather(elements, &mut bits);
            columns.insert(name.clone(), Column { format: column.format, bits: Bits::Each(Elements::U64(bits)) });
        }
        let bits = Bits::Each(Elements::U64(sums));
        columns.insert(self.reduction.text.clone(), Column { format, bits });
        let mut evaluation = Evaluation::plain(Plan::as_written(expr));
        evaluation.modes = setting.modes();
        if working != self.reduction.format() {
            Arc::make_mut(&mut evaluation.plan).ops.iter_mut().for_each(|op| op.format = working);
        }
        let mut runner = Runner::new(&evaluation, &columns, self.profile);
        let all: Vec<usize> = (0..elements.len()).collect();
        let results = all.chunks(BLOCK).flat_map(|block| runner.run(block).to_vec()).collect();
        (results, runner.format())
    }
}

/// Whether it is no product: NumPy's order is meant for sums alone, over any axis, because which terms stand beside each other in
/// memory is not known here. An array in Fortran order and the transpose of another one have those of the first axis there.
const fn is_sum(reduction: &Reduction) -> bool {
    matches!(reduction.word, Word::Sum | Word::Mean)
}

fn converted(from: Format, to: Format, bits: u64) -> u64 {
    if from == to { bits } else { convert(from, to, Rounding::NearestEven, bits).0 }
}

fn narrowed(mut bits: Vec<u64>, from: Format, to: Format) -> Vec<u64> {
    if from != to {
        bits.iter_mut().for_each(|bits| *bits = converted(from, to, *bits));
    }
    bits
}

impl SumEvaluation {
    /// The place of its setting.
    pub(super) const fn setting(self) -> usize {
        self.setting
    }

    /// Whether its sums are those of another one.
    pub(super) fn has_sums_of(self, other: SumEvaluation) -> bool {
        (self.row, self.setting) == (other.row, other.setting)
    }
}
