//! The question on whole arrays: which evaluation explains most elements, and what explains the rest.
//!
//! Reading order: [`Column`] (a name's values), [`Question`], `evaluate.rs` (an evaluation over many elements), this file
//! (the answer), `text.rs` (its sentences). Which candidates explain which elements is `roundonce-deviate`'s cover.
//!
//! Sums and matrix products: `reduction.rs` (how they are written), `schedule.rs` (the orders of libraries, as data),
//! `engine.rs` (carries an order out), `lanes.rs` (by batch arithmetic), `sums.rs` (orders with precisions).

mod approximated;
mod beside;
mod column;
mod compare;
mod engine;
mod evaluate;
mod evidence;
mod example;
mod lanes;
mod list;
pub(crate) mod parallel;
mod question;
mod reduction;
mod schedule;
mod sums;
mod text;
mod view;

use std::collections::HashSet;

use roundonce_arith::{Elements, Format, Profile};
use roundonce_deviate::cover::{Cover, Group, Matcher, NanMatch, Preference, Search, cover};
use roundonce_deviate::{Deviation, Plausibility};
use serde::Serialize;

pub use column::{Bits, Column};
use compare::Comparison;
pub(crate) use evaluate::{BLOCK, Runner};
pub use example::element_index;
pub use question::{Question, Values};
pub(crate) use reduction::is_reduction;
pub use schedule::TensorUnit;
use sums::{EIGHTY_BITS_UNTRIED, Sums, is_compensated};

use crate::advice::{Advice, advice};
use crate::answer::{MULTIPLIED_OUT_UNTRIED, ORDERS_UNTRIED, PRODUCTS_UNTRIED, SCHEMA};
use crate::chance::{WEAK_BITS, chance_of};
use crate::evaluation::{Evaluation, is_same_fused};
use crate::evaluation_text::{EvaluationText, describe};
use crate::plan::{has_long_product, has_product_of_sum, terms_of};
use crate::search::{Options, Plans, Tier};
use crate::untyped::OtherTypes;
use crate::verdict::Outcome;
use crate::whole::kind;

/// What is said where nothing explains a sum.
const PARTIAL_SUMS_UNTRIED: &str = "not tried: the partial sums of an unrolled loop added in order, parts of unequal lengths, and sums kept in 80 bits";

/// Elements looked at to say what their inputs have in common.
const LOOKED_AT: usize = 4096;

/// What was found out about the arrays seen.
#[derive(Clone, Debug, Serialize)]
pub struct ArrayAnswer {
    /// The version of this form.
    pub schema: u32,
    /// The expression, as read.
    pub expression: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// How many results there are.
    pub elements: usize,
    /// Which types literals without one have, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub literals: Option<String>,
    /// How many evaluations were compared.
    pub evaluations: usize,
    /// What was not tried, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untried: Vec<String>,
    /// What each seen array comes from.
    pub seen: Vec<ObservedArray>,
    /// What to do so that both sides agree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
    /// Whether the text has long code.
    #[serde(skip)]
    verbose: bool,
}

/// What one seen array comes from.
#[derive(Clone, Debug, Serialize)]
pub struct ObservedArray {
    /// Its name.
    pub saw: String,
    /// Whether one evaluation explains every element, groups of them have one each, more than one explain every element,
    /// or some have none; or what explains them might by accident.
    pub outcome: Outcome,
    /// The chance that the least certain group is an accident, estimated from above; 1 where there is none.
    pub chance: f64,
    /// Its elements by what explains them, the evaluation that explains most first.
    pub groups: Vec<ArrayGroup>,
    /// Where elements are left: what is arithmetically possible, and no cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_possible: Vec<PossibleGroup>,
    /// How many elements were compared, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<usize>,
    /// How many elements nothing explains.
    pub unexplained: usize,
    /// How many of them the nearest evaluation matches, too few to be their cause, and how many one does at most if what was
    /// seen is moved by a few ulps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_accident: Option<[usize; 2]>,
    /// That evaluation; beside functions that give other values, the exact one that is closest and that too many contradict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<PossibleGroup>,
    /// Where there are such: that an evaluation explains all elements if literals have another type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_types: Option<OtherTypes>,
    /// The first of them that is not what the expression as written gives, if any is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_unexplained: Option<Example>,
}

/// Elements that an evaluation gives which is no cause.
#[derive(Clone, Debug, Serialize)]
pub struct PossibleGroup {
    /// How many.
    pub count: usize,
    /// How the evaluation deviates from the expression as written.
    #[serde(rename = "departures")]
    pub deviations: Vec<Deviation>,
    /// The same in words.
    pub sentence: String,
}

/// Elements that one evaluation explains.
#[derive(Clone, Debug, Serialize)]
pub struct ArrayGroup {
    /// How many.
    pub count: usize,
    /// How many of them the expression as written does not give, if it gives some: the others say nothing for the evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deciding: Option<usize>,
    /// How many elements contradict it, if they are too many for exceptions: it is near to what was computed, and no cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicted: Option<usize>,
    /// Bits of evidence that it is no accident.
    pub evidence: f64,
    /// How the evaluation deviates from the expression as written.
    #[serde(rename = "departures")]
    pub deviations: Vec<Deviation>,
    /// The same in words.
    pub sentence: String,
    /// How plausible it is.
    pub plausibility: Plausibility,
    /// Of a sum in another order than the written one, who adds so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Other evaluations, as plausible and as simple, that explain the same elements.
    pub alternatives: Vec<String>,
    /// The simplest less plausible one that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub less_plausible: Option<String>,
    /// The others that do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others_less_plausible: Vec<String>,
    /// Whether one of the alternatives is the same with all products fused.
    #[serde(skip)]
    is_fused_or_not: bool,
    /// What all their inputs have in common, if there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<&'static str>,
    /// One of them, worked through: the first that differs from the expression as written, if any does.
    pub example: Example,
}

/// One element.
#[derive(Clone, Debug, Serialize)]
pub struct Example {
    /// Its place along each axis.
    pub index: Vec<usize>,
    /// The names' values there; empty for a sum.
    pub inputs: Vec<(String, String)>,
    /// The bits seen.
    pub saw: String,
    /// What the expression as written gives, to nearest even.
    pub as_written: String,
    /// Units in the last place between the two, if neither is a NaN.
    pub ulps: Option<u64>,
    /// The evaluation that explains it, step by step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluated: Option<EvaluationText>,
}

impl ArrayAnswer {
    /// What would explain the elements is no cause of them.
    pub(crate) fn take_for_no_cause(&mut self) {
        self.advice.clear();
        for seen in &mut self.seen {
            let example = seen.groups.first().map(|group| Example { evaluated: None, ..group.example.clone() });
            let is_wrong = |shown: &Example| shown.saw != shown.as_written;
            seen.first_unexplained = seen.first_unexplained.take().filter(is_wrong).or(example);
            let possible = seen.groups.drain(..).map(|ArrayGroup { count, deviations, sentence, .. }| PossibleGroup {
                count,
                deviations,
                sentence,
            });
            seen.also_possible.splice(..0, possible);
            (seen.outcome, seen.chance) = (Outcome::None, 1.0);
            seen.unexplained = seen.compared.unwrap_or(self.elements);
        }
    }
}

impl ArrayGroup {
    /// How many evaluations explain these elements equally well.
    pub fn fitting(&self) -> usize {
        1 + self.alternatives.len() + usize::from(self.less_plausible.is_some()) + self.others_less_plausible.len()
    }
}

/// The first candidate.
const AS_WRITTEN: usize = 0;

/// Groups, beyond which the rest is left unexplained: more would not be read.
const MAX_GROUPS: usize = 8;

/// What the candidates are.
enum Candidates<'a> {
    /// Evaluations, the most plausible first.
    Evaluations(Vec<Evaluation>),
    Sums(Sums<'a>),
}

/// The candidates that are considered at first, and with each step more.
struct Steps<'a> {
    candidates: Candidates<'a>,
    /// How many at each step.
    ends: Vec<usize>,
    /// How many of all may be causes.
    causes: usize,
    /// Those whose functions may give other values than the correctly rounded ones, by the type that these are computed in.
    approximable: Vec<Vec<Evaluation>>,
    untried: Vec<String>,
}

impl Candidates<'_> {
    fn deviations(&self) -> Vec<Vec<Deviation>> {
        match self {
            Candidates::Evaluations(all) => all.iter().map(Evaluation::deviations).collect(),
            Candidates::Sums(all) => (0..all.len()).map(|at| all.deviations(at)).collect(),
        }
    }
}

/// What explains the elements of a seen array.
struct Covered {
    cover: Cover,
    /// What would explain more, and is no cause.
    possible: Vec<Group>,
    /// How many candidates it was chosen among, and how many were compared in all.
    tried: usize,
    compared: usize,
}

impl Question {
    /// The candidates for what was seen in a format.
    fn steps<'a>(&'a self, seen: Format, options: Options, profile: &'a Profile) -> Steps<'a> {
        if let Some(reduction) = &self.reduction {
            let all = Sums::of(self, reduction, seen, profile);
            let (ends, untried) = (vec![all.in_order(), all.len()], Vec::new());
            let (causes, approximable) = (all.len(), Vec::new());
            return Steps { causes, candidates: Candidates::Sums(all), ends, approximable, untried };
        }
        let plans = Plans::of(&self.expr, options);
        let (mut all, mut ends, mut causes) = (Vec::new(), Vec::new(), 0);
        for tier in Tier::ALL {
            // NaNs of other bits are a group of their own; what is stored in the expression's type is rounded to it.
            let is_out = |mode: &Deviation| match mode {
                Deviation::OtherNan => true,
                Deviation::WideResult(_) => seen == self.format(),
                _ => false,
            };
            all.extend(plans.evaluations(tier).filter(|it| !it.modes.iter().any(is_out)));
            let is_step = !matches!(tier, Tier::Usual(class) if class != Plausibility::Uniform);
            if is_step && ends.last() != Some(&all.len()) {
                ends.push(all.len());
            }
            if tier != Tier::Possible {
                causes = all.len();
            }
        }
        let mut approximable = vec![plans.approximable().collect::<Vec<Evaluation>>()];
        approximable.extend(plans.approximable_in_f32());
        approximable.iter_mut().for_each(|all| all.retain(Evaluation::has_function));
        Steps { candidates: Candidates::Evaluations(all), ends, causes, approximable, untried: plans.untried }
    }

    /// What the expression as written gives, every operation rounded to nearest even, in the format of a seen array.
    pub fn as_written(&self, seen: &Values, options: Options, profile: &Profile) -> Values {
        let candidates = self.steps(seen.column.format, options, profile).candidates;
        let deviations = candidates.deviations();
        let (seen, progress) = (&seen.column, &mut |_| ());
        let mut comparison = Comparison::new(self, (&candidates, &deviations), seen, options, profile, progress);
        let shape = self.result_shape();
        let elements: Vec<usize> = (0..shape.iter().product()).collect();
        let bits = comparison.results(AS_WRITTEN, &elements);
        Values { column: Column { format: seen.format, bits: Bits::Each(Elements::U64(bits)) }, shape }
    }
}

/// How far a comparison has come. A step is an element of one evaluation; of a sum, a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// So many more steps are ahead.
    Expected(u64),
    /// So many more are done.
    Done(u64),
}

/// Finds, for each seen array, the evaluations behind its elements. `progress` receives how far that is.
///
/// # Errors
/// If a seen array's shape is not the result's.
///
/// ```
/// use std::collections::BTreeMap;
/// use roundonce_arith::{Elements, Format, Profile};
/// use roundonce_why::{Bits, Column, Options, Question, Values, answer_arrays};
/// let array = |bits: [u32; 2]| Values {
///     column: Column { format: Format::F32, bits: Bits::Each(Elements::U32(bits.to_vec())) },
///     shape: vec![2],
/// };
/// let names = [("a", [0x3f80_0001; 2]), ("c", [0xbf80_0002, 0])].map(|(name, bits)| (name.to_owned(), array(bits)));
/// let question = Question::parse("a*a+c", BTreeMap::from(names)).unwrap();
/// let seen = [("gpu".to_owned(), array([0x2880_0000, 0x3f80_0002]))];
/// let answer = answer_arrays(&question, &seen, Options::default(), &Profile::NVIDIA, &mut |_| ()).unwrap();
/// assert_eq!(answer.seen[0].groups[0].count, 2);
/// assert!(answer.seen[0].groups[0].sentence.starts_with("fuses `a * a` into the sum"));
/// ```
pub fn answer_arrays(
    question: &Question,
    seen: &[(String, Values)],
    options: Options,
    profile: &Profile,
    progress: &mut dyn FnMut(Work),
) -> Result<ArrayAnswer, String> {
    let (mut compared, mut untried) = (0, Vec::new());
    let shape = question.result_shape();
    let elements = shape.iter().product();
    let mut answers: Vec<ObservedArray> = Vec::with_capacity(seen.len());
    for (name, values) in seen {
        let one_sum = shape.is_empty() && values.column.len().is_none_or(|length| length == 1);
        if values.shape != shape && !one_sum {
            return Err(format!("`{name}` has the shape {:?}, the result {shape:?}", values.shape));
        }
        let steps = question.steps(values.column.format, options, profile);
        let deviations = steps.candidates.deviations();
        let candidates = (&steps.candidates, deviations.as_slice());
        let mut comparison = Comparison::new(question, candidates, &values.column, options, profile, progress);
        let amounts = comparison.amounts();
        for &amount in &amounts {
            comparison.compare_only(amount);
            let found = comparison.cover(&steps);
            compared = compared.max(found.compared);
            let answer = comparison.answer(name, &found, &steps.approximable);
            let is_over = answer.groups.is_empty() || Some(&amount) == amounts.last();
            if is_over {
                answers.push(answer);
                break;
            }
        }
        untried = steps.untried;
    }
    let is_doubtful = |seen: &ObservedArray| matches!(seen.outcome, Outcome::None | Outcome::Consistent);
    let has_orders = question.reduction.is_none() && terms_of(&question.expr) > 2;
    if has_orders && !options.reassociate && answers.iter().any(is_doubtful) {
        untried.push(ORDERS_UNTRIED.to_owned());
    }
    if question.reduction.is_none() && has_product_of_sum(&question.expr) && answers.iter().any(is_doubtful) {
        untried.push(MULTIPLIED_OUT_UNTRIED.to_owned());
    }
    if question.reduction.is_none() && has_long_product(&question.expr) && answers.iter().any(is_doubtful) {
        untried.push(PRODUCTS_UNTRIED.to_owned());
    }
    if question.reduction.is_some() && answers.iter().any(|seen| seen.outcome == Outcome::None) {
        untried.push(PARTIAL_SUMS_UNTRIED.to_owned());
    } else if answers.iter().flat_map(|seen| &seen.groups).any(|group| is_compensated(&group.deviations)) {
        untried.push(EIGHTY_BITS_UNTRIED.to_owned());
    }
    let is_believed = |seen: &ObservedArray, group: &ArrayGroup| seen.unexplained == 0 || !group.is_weak();
    let main = answers.iter().filter_map(|seen| seen.groups.first().filter(|group| is_believed(seen, group)));
    Ok(ArrayAnswer {
        schema: SCHEMA,
        verbose: options.verbose,
        literals: None,
        advice: advice(main.flat_map(|group| &group.deviations), Some(question.format()), options.toolchain.as_slice()),
        expression: question.text(),
        ty: question.type_name().to_owned(),
        elements,
        evaluations: compared,
        untried,
        seen: answers,
    })
}

impl Comparison<'_> {
    /// What explains the elements: with each step more candidates, believed where that is better with them.
    fn cover(&mut self, steps: &Steps<'_>) -> Covered {
        let (deviations, elements) = (self.deviations, self.compared);
        let search = Search {
            preference: Preference::MostExplained,
            max_groups: MAX_GROUPS,
            falls_back_to_any_nan: self.saw_nan(),
        };
        let is_sum = matches!(self.candidates, Candidates::Sums(_));
        let mut best = Cover { groups: Vec::new(), unexplained: (0..elements).collect() };
        let mut possible = Vec::new();
        let mut tried = 0;
        let rest = |cover: &Cover| (cover.unexplained.len(), cover.groups.len());
        for &end in &steps.ends {
            let is_cause = end <= steps.causes;
            let is_done = if is_cause { self.is_settled(&best) } else { best.unexplained.is_empty() };
            if is_done && tried > 0 {
                break;
            }
            (tried, self.tried) = (end, end);
            let found = cover(&deviations[..end], elements, search, self);
            if !is_cause {
                if rest(&found) < rest(&best) {
                    possible = found.groups.into_iter().filter(|it| it.candidates[0] >= steps.causes).collect();
                }
            } else if best.groups.is_empty() || rest(&found) < rest(&best) || is_sum && rest(&found) == rest(&best) {
                // Of a sum all that explains as much is named, whatever its order.
                best = found;
            }
        }
        let mut compared = tried;
        if let ([only], true) = (best.groups.as_mut_slice(), best.unexplained.is_empty()) {
            compared += self.add_what_fits(only, tried..steps.causes);
        }
        Covered { cover: best, possible, tried, compared }
    }

    /// Whether no further candidates are asked for. Where a sum was not taken as written, no order is more plausible than
    /// another one.
    fn is_settled(&self, best: &Cover) -> bool {
        match (best.groups.as_slice(), self.candidates) {
            ([only], Candidates::Sums(_)) => best.unexplained.is_empty() && only.candidates[0] == AS_WRITTEN,
            (groups, _) => best.unexplained.is_empty() && groups.len() <= 1,
        }
    }

    fn answer(&mut self, name: &str, covered: &Covered, approximable: &[Vec<Evaluation>]) -> ObservedArray {
        let deviations = self.deviations;
        let mut found = self.graded(&covered.cover, covered.tried);
        let possible = |group: &Group| PossibleGroup {
            count: group.elements.len(),
            deviations: deviations[group.candidates[0]].clone(),
            sentence: describe(&deviations[group.candidates[0]]),
        };
        let mut groups: Vec<ArrayGroup> =
            found.groups.iter().map(|(group, evidence)| self.group(group, *evidence)).collect();
        let mut nearest = found.too_few.as_ref().map(|(group, _)| possible(group));
        // Where the exact evaluation is no cause of any, one document must allow them all.
        let left = if found.is_contradicted { (0..self.compared).collect() } else { found.unexplained.clone() };
        if let Some((explained, group)) = self.approximated(approximable, &left, &found.unexplained) {
            let explained: HashSet<usize> = explained.into_iter().collect();
            found.unexplained = left.into_iter().filter(|element| !explained.contains(element)).collect();
            found.too_few = found.too_few.filter(|_| !found.unexplained.is_empty());
            if found.is_contradicted {
                nearest = found.groups.first().map(|(group, _)| possible(group));
                groups.clear();
            }
            groups.push(group);
        } else if let (Some(first), true) = (groups.first_mut(), found.is_contradicted) {
            first.contradicted = Some(found.unexplained.len());
        }
        let least = groups.iter().map(|group| group.evidence).reduce(f64::min);
        ObservedArray {
            saw: name.to_owned(),
            outcome: match groups.as_slice() {
                _ if !found.unexplained.is_empty() => Outcome::None,
                _ if least.is_some_and(|bits| bits < WEAK_BITS) => Outcome::Consistent,
                [only] if only.fitting() == 1 => Outcome::One,
                [_] => Outcome::Ambiguous,
                _ => Outcome::Several,
            },
            chance: least.map_or(1.0, chance_of),
            groups,
            by_accident: found.too_few.as_ref().map(|(group, at_most)| [group.elements.len(), *at_most]),
            nearest,
            compared: (self.compared < self.question.shape.iter().product()).then_some(self.compared),
            also_possible: covered.possible.iter().map(possible).collect(),
            unexplained: found.unexplained.len(),
            other_types: None,
            first_unexplained: (!found.unexplained.is_empty()).then(|| {
                let shown = self.first_shown(&found.unexplained);
                self.example(shown, None)
            }),
        }
    }

    fn group(&mut self, group: &Group, evidence: f64) -> ArrayGroup {
        let deviations = self.deviations;
        let with_nan = |candidate: usize| {
            let nan = (group.nan == NanMatch::Any).then_some(Deviation::OtherNan);
            deviations[candidate].iter().cloned().chain(nan).collect::<Vec<Deviation>>()
        };
        let simplest = group.candidates[0];
        let class = self.plausibility(simplest);
        let is_alike = |&&other: &&usize| self.question.reduction.is_some() || self.plausibility(other) <= class;
        let (others, less): (Vec<usize>, Vec<usize>) = group.candidates[1..].iter().partition(is_alike);
        let by = match self.candidates {
            Candidates::Sums(all) => all.by(simplest).map(str::to_owned),
            Candidates::Evaluations(_) => None,
        };
        let shown = self.first_shown(&group.elements);
        let count = group.elements.len();
        let is_whole = match self.candidates {
            Candidates::Evaluations(all) => kind(&all[AS_WRITTEN].plan).is_some(),
            Candidates::Sums(_) => false,
        };
        let deciding = (!group.candidates.contains(&AS_WRITTEN)).then(|| self.deciding(&group.elements));
        let of_deciding = evidence * deciding.unwrap_or(count) as f64 / count as f64;
        ArrayGroup {
            count,
            deciding: deciding.filter(|deciding| *deciding < count),
            contradicted: None,
            // Whole numbers that are not the ones as written are next to them: a bit each.
            evidence: deciding.filter(|_| is_whole).map_or(of_deciding, |deciding| of_deciding.min(deciding as f64)),
            deviations: with_nan(simplest),
            sentence: describe(&with_nan(simplest)),
            plausibility: class,
            by,
            alternatives: others.iter().map(|&other| describe(&with_nan(other))).collect(),
            less_plausible: less.first().map(|&other| describe(&with_nan(other))),
            others_less_plausible: less.iter().skip(1).map(|&other| describe(&with_nan(other))).collect(),
            is_fused_or_not: others.iter().any(|&other| is_same_fused(&deviations[simplest], &deviations[other])),
            inputs: self.in_common(&group.elements),
            example: self.example(shown, Some(simplest)),
        }
    }

    /// How many of some elements the expression as written does not give.
    fn deciding(&mut self, elements: &[usize]) -> usize {
        let mut differ =
            |block| self.matches(AS_WRITTEN, block, NanMatch::Exact).into_iter().filter(|same| !same).count();
        elements.chunks(LOOKED_AT).map(&mut differ).sum()
    }

    /// The first element that is not what the expression as written gives, NaNs' bits apart; the first one, if all are.
    fn first_shown(&mut self, elements: &[usize]) -> usize {
        let shown = elements.chunks(LOOKED_AT).find_map(|block| {
            let as_written = self.matches(AS_WRITTEN, block, NanMatch::Any);
            block.iter().zip(as_written).find_map(|(&element, same)| (!same).then_some(element))
        });
        shown.unwrap_or(elements[0])
    }
}
