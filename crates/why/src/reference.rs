//! A multiply-add of one's own compared with the instruction it stands for: what does it really compute?

use std::collections::BTreeMap;

use roundonce_arith::{ArithOp, Elements, Format, Operation, Profile, Rounding};
use roundonce_deviate::{Allowed, Deviation, Scope};
use roundonce_isa::grouped;
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
    /// The evaluations behind its answers.
    pub evidence: ArrayAnswer,
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
        let right = |(operands, result): &(Vec<u64>, &u64)| {
            let bits = self.operation.evaluate(profile, operands).bits;
            bits == **result || format.is_nan(bits) && format.is_nan(**result)
        };
        let correct = self.cases().zip(results).filter(right).count();
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
            does.extend(extra.map(|deviation| deviation.text(Scope::Expression)));
        } else if correct < self.count {
            evidence.take_for_no_cause();
        }
        Ok(ReferenceReport { cases: self.count, correct, ignores, does, evidence })
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
    /// Whether every answer is the instruction's.
    pub fn is_correct(&self) -> bool {
        self.correct == self.cases
    }

    /// The answer in a sentence.
    pub fn sentence(&self, what: &str) -> String {
        let of = |count: usize| format!("{} of {}", grouped(count as u64), grouped(self.cases as u64));
        if self.is_correct() {
            return format!("{what}: correct on {} cases", grouped(self.cases as u64));
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
        format!("{what}: correct on {}: {verdict}", of(self.correct))
    }

    /// The answer for a reader.
    pub fn lines(&self, what: &str) -> Vec<Line> {
        let mut lines = wrap(Role::Strong, &self.sentence(what), 0, COLUMNS);
        let seen = &self.evidence.seen[0];
        match &seen.first_unexplained {
            _ if self.is_correct() => {}
            Some(example) if seen.groups.is_empty() => example.lines(false, &mut lines),
            _ => {
                lines.push(Line::default());
                lines.extend(self.evidence.lines());
            }
        }
        lines
    }
}
