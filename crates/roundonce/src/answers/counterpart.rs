//! An instruction or an expression in another language.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile};
use roundonce_isa::{Form, Language as SourceLanguage, Recipe, SmTarget, Version};
use roundonce_spirv::FloatModes;
use roundonce_translate::expression::{self, Expression, ExpressionStep, Operand, Unwritten};
use roundonce_translate::instruction::{Counterpart, Language, Refusal, Translated, translate};
use roundonce_why::diff::{Budget, Comparison, Side, Verdict, compare};
use roundonce_why::{
    COLUMNS, Evaluation, Expr, Line, Literal, LiteralTypes, OpKind, Ref, Role, Typed, names_in, result_type, spell,
    wrap,
};
use serde::Serialize;

use super::why::{underlined, unused};
use super::{NoAnswer, Noted};
use crate::{Instruction, TABLES, Target, instruction, ptx};

/// What a translation comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterpartOutcome {
    /// The same bits for all operands.
    Equal,
    /// The same bits wherever the language says what they are; what it leaves open is listed.
    EqualWhereDetermined,
    /// No spelling has the same bits.
    NoCounterpart,
}

/// An instruction or an expression in another language.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CounterpartAnswer {
    /// What was asked.
    pub source: String,
    /// The language.
    pub to: &'static str,
    /// Of an instruction, the types of its operands `a`, `b` and `c`, and of `d`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<&'static str, String>,
    /// What it comes to.
    pub outcome: CounterpartOutcome,
    /// Every way to write it, the plainest first.
    pub ways: Vec<Way>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RefusalAnswer>,
}

/// A way to write it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Way {
    /// The instruction, the function or the operator; empty for an expression.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub spelling: String,
    /// The components that one of it computes.
    pub components: u32,
    /// The lines.
    pub code: Vec<String>,
    /// Lines that stand elsewhere.
    pub around: Vec<String>,
    /// Options of the compiler.
    pub flags: Vec<String>,
    /// What it needs, in words.
    pub needs: Vec<String>,
    /// What the language leaves to the implementation.
    pub open: Vec<&'static str>,
    /// Unmeasured decisions on which the equality rests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<&'static str>,
}

/// Why there is no counterpart.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RefusalAnswer {
    /// The fields of the meaning that the language has not, or leaves open.
    pub fields: Vec<&'static str>,
    /// Why, with the document.
    pub reasons: Vec<&'static str>,
    /// What comes nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Way>,
    /// Operands on which it differs, or may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Comparison>,
}

impl From<Counterpart> for Way {
    fn from(counterpart: Counterpart) -> Way {
        let Counterpart { spelling, components, code, around, flags, needs, open, assumes, .. } = counterpart;
        Way { spelling, components, code, around, flags, needs, open, assumes }
    }
}

/// Whether a text is meant for an instruction's spelling, and not for an expression.
pub fn is_spelling(text: &str) -> bool {
    crate::sides::is_spelling(text)
}

/// An instruction in another language; a machine, if one is given, must have what is written.
///
/// # Errors
/// If it is no instruction, or one that is not computed alone.
///
/// ```
/// use roundonce::Profile;
/// use roundonce::answers::{CounterpartOutcome, translate_instruction};
/// use roundonce::translate::instruction::Language;
/// let found = translate_instruction("fma.rz.ftz.f32", Language::Sass, None, &Profile::NVIDIA).unwrap().answer;
/// assert_eq!((found.outcome, found.ways[0].spelling.as_str()), (CounterpartOutcome::Equal, "FFMA.FTZ.RZ"));
/// ```
pub fn translate_instruction(
    spelling: &str,
    to: Language,
    target: Option<SmTarget>,
    profile: &Profile,
) -> Result<Noted<CounterpartAnswer>, NoAnswer> {
    let source = instruction(spelling, &Target::default())?;
    let mut notes = Vec::new();
    if source.recipe.contractible {
        notes.push(format!("`{spelling}` may be fused with a neighbour by the assembler; what is given here is never"));
    }
    notes.extend(undeclared(spelling, &source));
    let (ways, refusal) = match translate(&source.recipe, to, &TABLES) {
        Translated::Refused(refusal) => (Vec::new(), Some(refused(refusal, spelling, &source.recipe, profile))),
        Translated::Counterparts(found) => {
            let all = found.len();
            let has = |counterpart: &Counterpart| {
                target.is_none_or(|target| counterpart.gate.is_none_or(|gate| gate.has_target(target)))
            };
            let ways: Vec<Way> = found.into_iter().filter(has).map(Way::from).collect();
            if let (true, Some(target)) = (ways.is_empty(), target) {
                let message = format!("{target} has none of the {all} counterparts of `{spelling}` in {}", to.name());
                return Err(NoAnswer::Unsupported(message));
            }
            (ways, None)
        }
    };
    let answer = CounterpartAnswer { types: types(&source.recipe), ..answer(spelling, to, ways, refusal) };
    Ok(Noted { answer, notes })
}

fn answer(source: &str, to: Language, ways: Vec<Way>, refusal: Option<RefusalAnswer>) -> CounterpartAnswer {
    let outcome = match ways.iter().map(|way| way.open.len()).min() {
        None => CounterpartOutcome::NoCounterpart,
        Some(0) => CounterpartOutcome::Equal,
        Some(_) => CounterpartOutcome::EqualWhereDetermined,
    };
    CounterpartAnswer { source: source.to_owned(), to: to.name(), types: BTreeMap::new(), outcome, ways, refusal }
}

/// The types of operands and result, as PTX names them: `f32`, `f16x2`.
fn types(recipe: &Recipe) -> BTreeMap<&'static str, String> {
    let name = |format: Format| match (format.name().unwrap_or("?"), recipe.components) {
        (name, 1) => name.to_owned(),
        (name, components) => format!("{name}x{components}"),
    };
    let operands = recipe.operation.op.operands().iter().map(|&operand| ["a", "b", "c"][operand as usize]);
    let typed = operands.zip(recipe.operand_formats()).map(|(operand, format)| (operand, name(format)));
    typed.chain([("d", name(recipe.operation.format))]).collect()
}

/// What an OpFmaKHR without all its modes leaves open, in a sentence, and what is taken for it; other languages leave nothing
/// open.
pub fn undeclared(spelling: &str, instruction: &Instruction) -> Option<String> {
    if instruction.form.language != SourceLanguage::SpirV {
        return None;
    }
    let modes = FloatModes::of_spelling(spelling);
    let open = [
        (modes.rounding.is_none(), "the rounding (to nearest even is taken)"),
        (modes.denorm.is_none(), "subnormals (they are kept)"),
        (!modes.preserve_special, "infinities, NaNs and the signs of zeros (they are IEEE 754's)"),
    ];
    let open: Vec<&str> = open.into_iter().filter(|(is_open, _)| *is_open).map(|(_, what)| what).collect();
    let (last, others) = open.split_last()?;
    let others = if others.is_empty() { String::new() } else { format!("{} and ", others.join(", ")) };
    Some(format!("`{spelling}` leaves open {others}{last}"))
}

/// A refusal, and operands on which the nearest form differs.
fn refused(refusal: Refusal, spelling: &str, recipe: &Recipe, profile: &Profile) -> RefusalAnswer {
    let Refusal { fields, reasons, nearest } = refusal;
    let witness = nearest.as_ref().and_then(|nearest| {
        let name = if nearest.is_open {
            format!("{} may give", nearest.counterpart.spelling)
        } else {
            nearest.counterpart.spelling.clone()
        };
        let sides = [Side::instruction(spelling, recipe.operation), Side::instruction(&name, nearest.operation)];
        let budget = Budget { random: WITNESS_INPUTS, exhaustive_bits: 0, ..Budget::default() };
        let compared = compare(&sides[0], &sides[1], None, budget, profile, &|_| None, &|_| ()).ok()?;
        matches!(compared.verdict, Verdict::Different { .. }).then_some(Comparison { frequency: None, ..compared })
    });
    RefusalAnswer { fields, reasons, nearest: nearest.map(|nearest| nearest.counterpart.into()), witness }
}

/// Inputs that are tried for a witness: what differs at all differs on one of the special values, or soon.
const WITNESS_INPUTS: u64 = 1 << 18;

/// An expression to be translated.
#[derive(Clone, Debug)]
pub struct AskedExpression<'a> {
    /// It.
    pub expression: &'a str,
    /// The types of names.
    pub types: BTreeMap<String, Format>,
    /// That of the other names.
    pub ty: Format,
    /// Which types literals without one have.
    pub literals: LiteralTypes,
    /// Sums take products, as compilers fuse them; otherwise nothing is fused that is not written so.
    pub contract: bool,
}

/// An expression in another language, each operation rounded once to nearest even; a machine, if one is given, must have
/// what is written.
///
/// # Errors
/// If it cannot be read, or has what is not written in the language.
pub fn translate_expression(
    asked: &AskedExpression<'_>,
    to: Language,
    target: Option<SmTarget>,
    profile: &Profile,
) -> Result<Noted<CounterpartAnswer>, NoAnswer> {
    let text = asked.expression;
    let used = names_in(text);
    let typed = |name: String| {
        let format = asked.types.get(&name).copied().unwrap_or(asked.ty);
        (name, Literal::typed(Typed { format, bits: 0 }, true))
    };
    let names: BTreeMap<String, Literal> = used.iter().cloned().map(typed).collect();
    let expr = asked.literals.parse_expr(text, &names);
    let expr = expr.map_err(|error| NoAnswer::Input(underlined(text, &error)))?;
    let evaluation = if asked.contract { Evaluation::contracted(&expr) } else { Evaluation::as_written(&expr) };
    if evaluation.plan.ops.is_empty() {
        return Err(NoAnswer::Input(format!("`{text}` has no operation")));
    }
    let notes = asked.types.keys().filter(|name| !used.contains(*name)).map(|name| unused(name)).collect();
    let noted = |answer| Ok(Noted { answer, notes });
    let unsupported = |what: String| NoAnswer::Unsupported(format!("`{text}`: {what}"));
    if matches!(to, Language::Ptx | Language::Cuda) {
        let way = spelled(&evaluation, to, target, profile).map_err(unsupported)?;
        return noted(answer(text, to, vec![way], None));
    }
    let expression = steps(&expr, &evaluation, &names).map_err(unsupported)?;
    // Each generation has rows of its own.
    let generations: &[&'static [Form]] = match to {
        Language::Sass => &[crate::sass::forms::FORMS, crate::sass::modern::FORMS],
        _ => &[&[]],
    };
    let (mut ways, mut problem) = (Vec::new(), None);
    for rows in generations {
        match expression::write(&expression, to, rows, target) {
            Ok(expression::Written { code, around, flags, needs, open }) => {
                let (spelling, assumes) = (String::new(), Vec::new());
                ways.push(Way { spelling, components: 1, code, around, flags, needs, open, assumes });
            }
            // Of the generations that have it not, one that would on another machine says more.
            Err(unwritten @ Unwritten::Unavailable(_)) => problem = Some(unwritten),
            Err(unwritten) => problem = problem.or(Some(unwritten)),
        }
    }
    match problem.filter(|_| ways.is_empty()) {
        None => noted(answer(text, to, ways, None)),
        Some(Unwritten::Unsupported(what)) => Err(unsupported(what)),
        Some(Unwritten::Unavailable(what)) => {
            let machine = target.map_or_else(|| "the machine".to_owned(), |target| target.to_string());
            Err(unsupported(format!("{machine} has not {what}")))
        }
        Some(Unwritten::Refused(Refusal { fields, reasons, .. })) => {
            let refusal = RefusalAnswer { fields, reasons, nearest: None, witness: None };
            noted(answer(text, to, Vec::new(), Some(refusal)))
        }
    }
}

/// The version and the machine that lines of PTX need: those of the line that needs the latest. `Err` names the first line that
/// the machine asked for has not.
fn ptx_needs(code: &[&String], target: Option<SmTarget>) -> Result<String, String> {
    let (mut version, mut machine) = (Version(1, 0), SmTarget::from(10));
    for line in code {
        let name = line.split(' ').next().unwrap_or_default();
        let gate = instruction(name, &Target::default()).ok().map(|found| found.form.gate);
        let first = match gate {
            Some(gate) => SmTarget::from(gate.first_target()),
            None => first_target(line),
        };
        let since = gate.map_or(Version(1, 0), |gate| gate.version.first);
        let is_there = |target: SmTarget| gate.map_or(target.number >= first.number, |gate| gate.has_target(target));
        if let Some(target) = target.filter(|target| !is_there(*target)) {
            return Err(format!("{target} has not `{name}`, which needs {first}"));
        }
        version = version.max(since);
        machine = if first.number > machine.number { first } else { machine };
    }
    version = version.max(ptx::first_version(machine).unwrap_or(version));
    Ok(format!("PTX {version}, {machine}"))
}

/// The first machine that has an instruction outside of the family: a conversion, a sign, a quotient or a root.
fn first_target(line: &str) -> SmTarget {
    let (name, operands) = line.split_once(' ').unwrap_or((line, ""));
    let types: Vec<&str> =
        name.split('.').filter(|word| matches!(*word, "f16" | "bf16" | "b16" | "f32" | "f64")).collect();
    let register = |at: usize| {
        // A conversion names the type of its result first.
        match types.get(at.min(types.len().saturating_sub(1))) {
            Some(&"f32") => "%f0",
            Some(&"f64") => "%d0",
            _ => "%h0",
        }
    };
    let operands: Vec<&str> = (0..operands.split(", ").count()).map(register).collect();
    let registers = ".reg .b16 %h<1>; .reg .f32 %f<1>; .reg .f64 %d<1>;";
    let mut known: Vec<SmTarget> = ptx::targets().filter_map(|name| name.parse().ok()).collect();
    known.sort_by_key(|target| target.number);
    let has = |target: &SmTarget| {
        let version = ptx::first_version(*target).unwrap_or(Version(1, 0)).max(Version(7, 8));
        let text = format!(
            ".version {version}\n.target {target}\n.entry k () {{ {registers} {name} {}; }}",
            operands.join(", ")
        );
        ptx::check_text(&text, &ptx::Options::default()).iter().all(|finding| finding.code != NOT_ON_TARGET)
    };
    // Those of sm_1x flush subnormals of f32 whether they say so or not.
    let flushes = types.contains(&"f32") && !name.contains(".ftz");
    known.into_iter().filter(|target| !flushes || target.number >= 20).find(has).unwrap_or(SmTarget::from(10))
}

/// The code of what a machine has not.
const NOT_ON_TARGET: &str = "PTX0026";

/// In PTX or CUDA C++, as `why` writes an evaluation.
fn spelled(evaluation: &Evaluation, to: Language, target: Option<SmTarget>, profile: &Profile) -> Result<Way, String> {
    let spelling = spell(evaluation, profile);
    // What else C++ has, the headers compute without the instruction.
    let is_of_machine =
        |line: &&String| to == Language::Ptx || line.starts_with("fma.rn.f16") || line.starts_with("fma.rn.bf16");
    let taken: Vec<&String> = spelling.ptx.iter().filter(is_of_machine).collect();
    let needs = if taken.is_empty() { Vec::new() } else { vec![ptx_needs(&taken, target)?] };
    let formats: Vec<Format> = evaluation.plan.ops.iter().map(|op| op.format).collect();
    let mut way = Way {
        spelling: String::new(),
        components: 1,
        code: spelling.ptx,
        around: Vec::new(),
        flags: Vec::new(),
        needs,
        open: Vec::new(),
        assumes: Vec::new(),
    };
    if to == Language::Cuda {
        let ty = result_type(evaluation);
        let mut result = "d".to_owned();
        while evaluation.plan.leaves.iter().any(|(_, taken)| *taken == result) {
            result.push('_');
        }
        let text = Some(spelling.cuda).filter(|text| !text.is_empty());
        way.code = text.map(|text| format!("{ty} {result} = {text};")).into_iter().collect();
        let headers = [(Format::F16, "cuda_fp16.h"), (Format::BF16, "cuda_bf16.h")];
        let used = headers.into_iter().filter(|(format, _)| formats.contains(format));
        way.around = used.map(|(_, header)| format!("#include <{header}>")).collect();
        way.flags.extend(formats.contains(&Format::F32).then(|| "-ftz=false".to_owned()));
    }
    match way.code.is_empty() {
        true => Err(format!("an operation of it is not written in {}", to.name())),
        false => Ok(way),
    }
}

/// An evaluation's operations.
fn steps(expr: &Expr, evaluation: &Evaluation, names: &BTreeMap<String, Literal>) -> Result<Expression, String> {
    let plan = &evaluation.plan;
    let mut steps = Vec::with_capacity(plan.ops.len());
    for op in &plan.ops {
        let OpKind::Arith(kind) = op.kind else {
            let name = expr.first_call().map_or("a conversion", |call| call.name());
            return Err(format!("`{name}` is not written in this language; sums, products, fma and signs are"));
        };
        let mut operation = roundonce_arith::Operation::new(kind, op.format, roundonce_arith::Rounding::NearestEven);
        (operation.negate_product, operation.negate_addend) = (op.negate_product, op.negate_addend);
        let operand = |operand: &Ref| match *operand {
            Ref::Op(earlier) => (Operand::Step(earlier), plan.ops[earlier].format),
            Ref::Leaf(leaf) => {
                let (value, written) = &plan.leaves[leaf];
                let is_name = names.contains_key(written);
                (if is_name { Operand::Name(written.clone()) } else { Operand::Literal(value.bits) }, value.format)
            }
        };
        steps.push(ExpressionStep { operation, operands: op.operands.iter().map(operand).collect() });
    }
    Ok(Expression { steps, negate_result: plan.negate_result })
}

impl CounterpartAnswer {
    /// The answer for a reader.
    pub fn lines(&self) -> Vec<Line> {
        let Self { source, to, .. } = self;
        let mut lines = Vec::new();
        let verdict = match self.outcome {
            CounterpartOutcome::Equal => format!("{source} in {to}: equal"),
            CounterpartOutcome::EqualWhereDetermined => {
                format!("{source} in {to}: equal where {to} says what the bits are")
            }
            CounterpartOutcome::NoCounterpart => {
                let fields = self.refusal.as_ref().map_or(String::new(), |refusal| refusal.fields.join(", "));
                format!("{source} has no counterpart in {to}: {fields}")
            }
        };
        lines.extend(wrap(Role::Strong, &verdict, 0, COLUMNS));
        self.ways.iter().for_each(|way| way.render(&mut lines));
        let Some(refusal) = &self.refusal else { return lines };
        refusal.reasons.iter().for_each(|reason| lines.extend(wrap(Role::Plain, reason, 2, COLUMNS)));
        if let Some(nearest) = &refusal.nearest {
            lines.push(Line::of(Role::Label, "nearest"));
            nearest.render(&mut lines);
        }
        if let Some(witness) = &refusal.witness {
            lines.extend(witness.lines().into_iter().map(|Line(mut pieces)| {
                pieces.insert(0, (Role::Plain, "  ".to_owned()));
                Line(pieces)
            }));
        }
        lines
    }
}

impl Way {
    fn render(&self, lines: &mut Vec<Line>) {
        if !self.spelling.is_empty() {
            lines.push(Line::of(Role::Strong, format!("  {}", self.spelling)));
        }
        lines.extend(self.code.iter().map(|line| Line::plain(format!("      {line}"))));
        if !self.around.is_empty() {
            lines.push(Line::of(Role::Label, "    around it"));
            lines.extend(self.around.iter().map(|line| Line::plain(format!("      {line}"))));
        }
        let mut said = |label: &str, what: String| {
            if !what.is_empty() {
                lines.extend(wrap(Role::Faint, &format!("{label}: {what}"), 4, COLUMNS));
            }
        };
        said("flags", self.flags.join(" "));
        said("needs", self.needs.join("; "));
        said("open", self.open.join("; "));
        said("assumes", self.assumes.join("; "));
    }
}
