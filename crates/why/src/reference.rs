//! A multiply-add of one's own compared with the instruction it stands for: what does it really compute?

use std::collections::BTreeMap;

use roundonce_arith::{ArithOp, Elements, Format, Operation, Profile, Rounding};
use roundonce_deviate::{Allowed, Deviation, Scope, Typed};
use roundonce_isa::{grouped, hex_bits, shortest_decimal};
use serde::Serialize;

use crate::arrays::{ArrayAnswer, Bits, Column, Question, Values, answer_arrays};
use crate::diff::{OPERANDS, directed_inputs};
use crate::search::Options;
use crate::text::{COLUMNS, Line, Role, wrap};

/// Inputs of an instruction of one component on which evaluations differ, and the expression that it is.
#[derive(Clone, Debug)]
pub struct ReferenceTest {
    operation: Operation,
    question: Question,
    /// One column an operand.
    columns: Vec<Column>,
    count: usize,
}

/// What a reference computes.
#[derive(Clone, Debug, Serialize)]
pub struct ReferenceReport {
    /// How many inputs it was given.
    pub cases: usize,
    /// On how many its bits are the instruction's, any NaN for a NaN.
    pub correct: usize,
    /// What it does not do that the instruction does: `ignores .rz`.
    pub ignores: Vec<String>,
    /// What it does that the instruction does not.
    pub does: Vec<String>,
    /// On how many it gives a NaN of other bits than the instruction does.
    pub other_nans: usize,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_other_nan: Option<CaseAnswer>,
    /// The first case that is not correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_wrong: Option<CaseAnswer>,
    /// The evaluations behind its answers.
    pub evidence: ArrayAnswer,
}

/// A case that a reference answers otherwise than the instruction does.
#[derive(Clone, Debug, Serialize)]
pub struct CaseAnswer {
    /// Which case.
    pub case: usize,
    /// Its operands by name.
    pub operands: Vec<(String, String)>,
    /// What the reference gives.
    pub gave: String,
    /// What the instruction gives.
    pub expected: String,
}

/// The bits that a reference gave, and those of the instruction.
struct Compared<'r> {
    format: Format,
    gave: &'r [u64],
    expected: Vec<u64>,
}

impl Compared<'_> {
    fn are_nans(&self, case: usize) -> bool {
        self.format.is_nan(self.gave[case]) && self.format.is_nan(self.expected[case])
    }
    fn is_correct(&self, case: usize) -> bool {
        self.gave[case] == self.expected[case] || self.are_nans(case)
    }
    fn has_other_nan(&self, case: usize) -> bool {
        self.gave[case] != self.expected[case] && self.are_nans(case)
    }

    /// What is said of zeros of the other sign: which one it gives, if it is always the same.
    fn zeros(&self) -> Option<&'static str> {
        let wrong = self.gave.iter().zip(&self.expected).filter(|(gave, expected)| gave != expected);
        let mut zeros = wrong.filter(|(gave, expected)| self.format.is_zero(**gave) && self.format.is_zero(**expected));
        let is_negative = |(gave, _): (&u64, &u64)| self.format.is_negative(*gave);
        let first = zeros.next().map(is_negative)?;
        let text = if first { "gives -0 for +0" } else { "gives +0 for -0" };
        zeros.map(is_negative).all(|negative| negative == first).then_some(text)
    }
}

impl ReferenceTest {
    /// As many inputs of an instruction.
    ///
    /// # Errors
    /// For what no expression says: negated operands, the truncating `mad.f32`.
    pub fn new(operation: Operation, count: usize) -> Result<ReferenceTest, String> {
        let text = match operation.op {
            ArithOp::MulAdd => "fma(a, b, c)",
            ArithOp::Mul => "a * b",
            ArithOp::Add => "a + b",
            ArithOp::TruncatedMulAdd => {
                return Err("the truncating mad.f32 of sm_1x has no reference of three operands".to_owned());
            }
        };
        if operation.negate_product || operation.negate_addend {
            return Err("an instruction that negates an operand: try the one that does not".to_owned());
        }
        let formats: Vec<Format> = (0..operation.op.arity()).map(|at| operation.operand_format(at)).collect();
        let columns = directed_inputs(&formats, count);
        let named = OPERANDS.iter().zip(&columns);
        let names: BTreeMap<String, Values> =
            named.map(|(name, column)| ((*name).to_owned(), values(column.clone(), count))).collect();
        let question = Question::parse(text, names).map_err(|error| error.message)?;
        Ok(ReferenceTest { operation, question, columns, count })
    }

    /// The operands of every case, in order.
    pub fn cases(&self) -> impl Iterator<Item = Vec<u64>> {
        (0..self.count).map(|case| self.columns.iter().map(|column| column.at(case).bits).collect())
    }

    /// What a reference computes that gave these bits for the [`cases`](ReferenceTest::cases).
    ///
    /// # Errors
    /// If there are not as many results as cases.
    pub fn answer(&self, results: &[u64], profile: &Profile) -> Result<ReferenceReport, String> {
        if results.len() != self.count {
            return Err(format!("it gave {} results for {} cases", results.len(), self.count));
        }
        let format = self.operation.format;
        let expected = self.cases().map(|operands| self.operation.evaluate(profile, &operands).bits).collect();
        let compared = Compared { format, gave: results, expected };
        let correct = (0..self.count).filter(|&case| compared.is_correct(case)).count();
        let mut other_nans = (0..self.count).filter(|&case| compared.has_other_nan(case)).peekable();
        let first_other_nan = other_nans.peek().map(|&case| self.case_answer(case, &compared));
        let other_nans = other_nans.count();
        let first_wrong = (0..self.count).find(|&case| !compared.is_correct(case));
        let first_wrong = first_wrong.map(|case| self.case_answer(case, &compared));
        let seen = Column { format, bits: Bits::Each(Elements::U64(results.to_vec())) };
        let seen = [("the reference".to_owned(), values(seen, self.count))];
        let options = Options { any_nan: true, allow: Allowed::ANYTHING, ..Options::default() };
        let mut evidence = answer_arrays(&self.question, &seen, options, profile, &mut |_| ())?;
        let (mut ignores, mut does) = (Vec::new(), Vec::new());
        let seen = &evidence.seen[0];
        // More than half of the wrong answers are its, even if it gives all the correct ones.
        let main = seen.groups.first().filter(|main| 2 * main.count > self.count + correct);
        if let Some(main) = main {
            let asked = deviations(&self.operation);
            let missing = asked.iter().filter(|deviation| !main.deviations.contains(deviation));
            ignores.extend(missing.map(|deviation| modifier(deviation).to_owned()));
            let extra = main.deviations.iter().filter(|deviation| !asked.contains(deviation));
            does.extend(extra.map(|deviation| match (deviation, compared.zeros()) {
                (Deviation::OtherZero, Some(text)) => text.to_owned(),
                _ => deviation.text(Scope::Expression),
            }));
        } else if correct < self.count {
            evidence.take_for_no_cause();
        }
        let cases = self.count;
        Ok(ReferenceReport { cases, correct, ignores, does, other_nans, first_other_nan, first_wrong, evidence })
    }

    fn case_answer(&self, case: usize, compared: &Compared<'_>) -> CaseAnswer {
        let value =
            |format: Format, bits| format!("{} {}", hex_bits(format.width(), bits), shortest_decimal(format, bits));
        let operand = |(name, column): (&&str, &Column)| {
            let Typed { format, bits } = column.at(case);
            ((*name).to_owned(), value(format, bits))
        };
        CaseAnswer {
            case,
            operands: OPERANDS.iter().zip(&self.columns).map(operand).collect(),
            gave: value(compared.format, compared.gave[case]),
            expected: value(compared.format, compared.expected[case]),
        }
    }
}

fn values(column: Column, count: usize) -> Values {
    Values { column, shape: vec![count] }
}

/// How the instruction deviates from its expression, rounded to nearest even.
fn deviations(operation: &Operation) -> Vec<Deviation> {
    let mut all = Vec::new();
    all.extend(operation.flush.then_some(Deviation::Flush(None)));
    all.extend(operation.fmz.then_some(Deviation::ZeroDominance));
    let directed = operation.rounding != Rounding::NearestEven;
    all.extend(directed.then_some(Deviation::Round(operation.rounding)));
    all.extend(operation.saturates().then_some(Deviation::Saturate));
    all
}

fn modifier(deviation: &Deviation) -> &'static str {
    match deviation {
        Deviation::Flush(_) => ".ftz",
        Deviation::ZeroDominance => ".FMZ",
        Deviation::Saturate => ".sat",
        Deviation::Round(Rounding::NearestEven) => ".rn",
        Deviation::Round(Rounding::TowardZero) => ".rz",
        Deviation::Round(Rounding::Down) => ".rm",
        Deviation::Round(Rounding::Up) => ".rp",
        _ => "a modifier",
    }
}

impl ReferenceReport {
    /// Whether every answer is the instruction's, any NaN for a NaN.
    pub fn is_correct(&self) -> bool {
        self.correct == self.cases
    }

    /// The answer in a sentence.
    pub fn sentence(&self, what: &str) -> String {
        let of = |count: usize| format!("{} of {}", grouped(count as u64), grouped(self.cases as u64));
        let nans = self.first_other_nan.as_ref().map_or(String::new(), |first| {
            let CaseAnswer { gave, expected, .. } = first;
            let count = grouped(self.other_nans as u64);
            format!(", the bits of NaNs apart: other ones in {count}, such as {gave} for {expected}")
        });
        if self.is_correct() {
            return format!("{what}: correct on {} cases{nans}", grouped(self.cases as u64));
        }
        let mut findings: Vec<String> = self.ignores.iter().map(|modifier| format!("ignores {modifier}")).collect();
        findings.extend(self.does.iter().cloned());
        let seen = &self.evidence.seen[0];
        let verdict = match (seen.groups.first(), seen.also_possible.first()) {
            (Some(main), _) if !findings.is_empty() => {
                format!("it {} (this explains {})", findings.join(" and "), of(main.count))
            }
            (_, Some(best)) if best.count > self.correct => format!(
                "none of the evaluations known explains most of the rest (the best one, which {}, explains {})",
                best.sentence,
                of(best.count)
            ),
            _ => "none of the evaluations known explains most of the rest".to_owned(),
        };
        format!("{what}: correct on {}{nans}: {verdict}", of(self.correct))
    }

    /// The answer for a reader.
    pub fn lines(&self, what: &str) -> Vec<Line> {
        let mut lines = wrap(Role::Strong, &self.sentence(what), 0, COLUMNS);
        let seen = &self.evidence.seen[0];
        match &self.first_wrong {
            None => {}
            Some(wrong) if seen.groups.is_empty() => wrong.lines(&mut lines),
            _ => {
                lines.push(Line::default());
                lines.extend(self.evidence.lines());
            }
        }
        lines
    }
}

impl CaseAnswer {
    fn lines(&self, lines: &mut Vec<Line>) {
        let CaseAnswer { case, operands, gave, expected } = self;
        let head = Line::of(Role::Label, format!("    such as [{case}]: ")).and(Role::Strong, gave.clone());
        lines.push(head.and(Role::Faint, format!("  (right: {expected})")));
        for (name, value) in operands {
            lines.push(Line::of(Role::Faint, format!("      {name} = {value}")));
        }
    }
}
