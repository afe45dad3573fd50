//! What would have come out had the instruction been written otherwise, or in another language.

use roundonce_arith::{ArithOp, Clamp, OperandIndex, Operation, Profile, Rounding};
use roundonce_deviate::{Deviation, EvalModel, Fmas};
use roundonce_isa::{Form, Instruction, Language, Recipe, Value, evaluate};
use serde::{Serialize, Serializer};

use super::Number;
use crate::search::ulps;

/// Another instruction on the same operands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Neighbour {
    /// What is different.
    pub what: String,
    /// What it gives.
    #[serde(flatten)]
    pub number: Number,
    /// How far it lies from the result; absent for a NaN.
    pub ulps: Option<u64>,
}

/// The nearest form of another language.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Counterpart {
    /// The language.
    #[serde(serialize_with = "by_name")]
    pub language: Language,
    /// The spelling.
    pub spelling: String,
    /// The fields of the meaning in which it differs; empty where the bits are the same for all operands.
    pub differs: Vec<&'static str>,
    /// What it gives on the same operands, where it takes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gives: Option<String>,
}

fn by_name<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(language.name())
}

/// The four roundings, the unfused pair, and the modes switched over.
pub(super) fn neighbours(operation: &Operation, operands: &[u64], profile: &Profile, result: u64) -> Vec<Neighbour> {
    let format = operation.format;
    let neighbour = |what: String, bits: u64| Neighbour {
        what,
        number: Number::of(format, bits),
        ulps: ulps(format, bits, result),
    };
    let give = |what: &str, other: Operation| neighbour(what.to_owned(), other.evaluate(profile, operands).bits);
    let mut all: Vec<Neighbour> = Vec::new();
    if operation.op != ArithOp::TruncatedMulAdd {
        all.extend(
            Rounding::ALL.map(|rounding| give(&format!(".{}", rounding.name()), Operation { rounding, ..*operation })),
        );
    }
    if matches!(operation.op, ArithOp::MulAdd | ArithOp::TruncatedMulAdd) {
        all.push(neighbour("unfused".to_owned(), unfused(operation, operands, profile)));
    }
    if operation.op == ArithOp::TruncatedMulAdd {
        all.push(give("fused", Operation { op: ArithOp::MulAdd, ..*operation }));
    } else if operation.fmz {
        all.push(give("without FMZ", Operation { fmz: false, flush: false, ..*operation }));
    } else if operation.flush {
        all.push(give("without ftz", Operation { flush: false, ..*operation }));
    } else {
        all.push(give("with ftz", Operation { flush: true, ..*operation }));
    }
    let (clamped, clamp) = match operation.clamp {
        Clamp::None => ("with sat", Clamp::Unit),
        Clamp::Unit => ("without sat", Clamp::None),
        Clamp::Relu => ("without relu", Clamp::None),
    };
    all.push(give(clamped, Operation { clamp, ..*operation }));
    all
}

/// The product rounded, then the sum rounded; neither has `.oob`.
fn unfused(operation: &Operation, operands: &[u64], profile: &Profile) -> u64 {
    let fused = Operation { op: ArithOp::MulAdd, oob: false, ..*operation };
    EvalModel::of(fused, profile).with_all(&[Deviation::Split(Fmas::All)]).result(operands)
}

/// For each other language the form whose meaning is nearest.
pub(super) fn counterparts(
    instruction: &Instruction,
    operands: &[Value],
    profile: &Profile,
    tables: &[&'static [Form]],
) -> Vec<Counterpart> {
    let mut found: Vec<(u32, Counterpart)> = Vec::new();
    for form in tables.iter().copied().flatten().filter(|form| form.language != instruction.form.language) {
        for (spelling, recipe) in form.spellings() {
            let (spelling, recipe) = match form.language {
                Language::Sass => signed(spelling, recipe, &instruction.recipe.operation),
                _ => (spelling, recipe),
            };
            let Some(differs) = differences(&instruction.recipe, &recipe) else { continue };
            let distance = differs.len() as u32;
            let counterpart = || Counterpart {
                language: form.language,
                spelling: spelling.clone(),
                gives: takes(&instruction.recipe, &recipe)
                    .then(|| evaluate(&recipe, profile, operands).value.hex(recipe.operation.format)),
                differs: differs.clone(),
            };
            match found.iter_mut().find(|(_, known)| known.language == form.language) {
                Some(known) if distance < known.0 => *known = (distance, counterpart()),
                Some(_) => {}
                None => found.push((distance, counterpart())),
            }
        }
    }
    found.into_iter().map(|(_, counterpart)| counterpart).collect()
}

/// A form with the signs of an operation, on its operands: SASS subtracts so.
fn signed(spelling: String, mut recipe: Recipe, wanted: &Operation) -> (String, Recipe) {
    let signs = |operation: &Operation| (operation.negate_product, operation.negate_addend);
    if signs(&recipe.operation) == signs(wanted) || recipe.operation.op != wanted.op {
        return (spelling, recipe);
    }
    (recipe.operation.negate_product, recipe.operation.negate_addend) = signs(wanted);
    let a = if wanted.negate_product { "-a" } else { "a" };
    let c = if wanted.negate_addend { "-c" } else { "c" };
    let operands = wanted.op.operands().iter().map(|operand| match operand {
        OperandIndex::A => a,
        OperandIndex::B => "b",
        OperandIndex::C => c,
    });
    (format!("{spelling} {}", operands.collect::<Vec<_>>().join(", ")), recipe)
}

/// Whether an instruction takes the operands of another.
fn takes(one: &Recipe, other: &Recipe) -> bool {
    one.components == other.components && one.operand_formats() == other.operand_formats()
}

/// The fields in which two meanings differ; `None` if they are no counterparts at all.
fn differences(one: &Recipe, other: &Recipe) -> Option<Vec<&'static str>> {
    let (a, b) = (&one.operation, &other.operation);
    if a.format != b.format || a.op.arity() != b.op.arity() || other.condition_codes != one.condition_codes {
        // Condition codes are SASS's alone: elsewhere they are a loss, not another instruction.
        let only_codes = a.format == b.format && a.op.arity() == b.op.arity();
        if !only_codes || other.condition_codes {
            return None;
        }
    }
    Some(one.differing_fields(other))
}
