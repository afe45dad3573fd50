//! Two texts as what `diff` compares.

use std::collections::BTreeMap;

use roundonce_arith::Format;
use roundonce_isa::{Finding, Instruction, counted, split_spelling};

use crate::why::diff::{OPERANDS, Side};
use crate::why::{ExprError, Typed, names_in, parse_expr};
use crate::{Target, instruction};

/// Why two texts cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SideProblem {
    /// One is meant for an instruction and is none.
    Instruction(Finding),
    /// One is no expression.
    Expression {
        /// Which.
        text: String,
        /// Where, and what is wrong.
        error: ExprError,
    },
    /// Their results are of different kinds, or one is of other operands.
    Unlike(String),
    /// One has what is not compared.
    Unsupported(String),
}

/// Reads the two sides of a comparison: each an instruction as its language spells it, whose operands are `a`, `b` and
/// `c`, or an expression, whose names are of the types that an instruction gives them, else of `ty`.
///
/// # Errors
/// If one cannot be read, or the two have different results.
///
/// ```
/// use roundonce::arith::Format;
/// let [one, other] = roundonce::sides(["fma(a, b, c)", "fma.rn.f32"], Format::F32, &Default::default()).unwrap();
/// assert_eq!((one.text.as_str(), other.text.as_str()), ("fma(a, b, c)", "fma.rn.f32"));
/// ```
pub fn sides(texts: [&str; 2], ty: Format, target: &Target) -> Result<[Side; 2], SideProblem> {
    let read = |text: &str| {
        let found = is_spelling(text).then(|| instruction(text, target));
        found.transpose().map_err(SideProblem::Instruction)
    };
    let instructions = [read(texts[0])?, read(texts[1])?];
    let mut types: BTreeMap<&str, Format> = BTreeMap::new();
    for operation in instructions.iter().flatten().map(|instruction| instruction.recipe.operation) {
        let operands = OPERANDS.iter().take(operation.op.arity()).enumerate();
        types.extend(operands.map(|(at, name)| (*name, operation.operand_format(at))));
    }
    if let [Some(one), Some(other)] = &instructions {
        let of = |instruction: &Instruction| (instruction.recipe.components, instruction.recipe.condition_codes);
        let ((components, codes), (others, other_codes)) = (of(one), of(other));
        if components != others {
            let message = format!(
                "`{}` has {} and `{}` has {others}",
                texts[0],
                counted(components.into(), "component"),
                texts[1]
            );
            return Err(SideProblem::Unlike(message));
        }
        if codes != other_codes {
            let writes = texts[usize::from(other_codes)];
            return Err(SideProblem::Unlike(format!("only `{writes}` writes condition codes")));
        }
    }
    let side = |text: &str, instruction: &Option<Instruction>| {
        if let Some(instruction) = instruction {
            return Ok(Side::instruction(text, instruction.recipe.operation));
        }
        let names = names_in(text);
        if let Some(name) = names.iter().find(|name| !types.is_empty() && !types.contains_key(name.as_str())) {
            let operands = types.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let other = texts[usize::from(instructions[0].is_none())];
            let message =
                format!("`{name}` is neither an instruction nor an operand of `{other}`: expected {operands}");
            return Err(SideProblem::Unlike(message));
        }
        let typed = |name: String| {
            let format = types.get(name.as_str()).copied().unwrap_or(ty);
            (name, Typed { format, bits: 0 })
        };
        let names = names.into_iter().map(typed).collect();
        let expr = parse_expr(text, &names);
        let expr = expr.map_err(|error| SideProblem::Expression { text: text.to_owned(), error })?;
        if let Some(call) = Side::uncompared(&expr) {
            let message = format!(
                "`{text}` has `{}`: only sums, products, quotients, square roots, fma and signs are compared",
                call.name()
            );
            return Err(SideProblem::Unsupported(message));
        }
        Ok(Side::expression(&expr))
    };
    Ok([side(texts[0], &instructions[0])?, side(texts[1], &instructions[1])?])
}

/// Whether an instruction's row calls its second operand `c`, as the manual does where a number of another type is added; it is a
/// column `b` like any other's.
pub fn calls_second_c(instruction: &Instruction) -> bool {
    instruction.recipe.operation.op.arity() == 2 && instruction.form.operands.split(", ").nth(2) == Some("c")
}

/// Whether a text is meant for an instruction: a name alone, a number, or brackets and operators, are an expression.
pub(crate) fn is_spelling(text: &str) -> bool {
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    // A target behind it.
    let mnemonic = split_spelling(text.split('@').next().unwrap_or_default()).0;
    text.contains('.') && !is_number && !text.contains(['(', ' ', '*', '+', '-'])
        || crate::TABLES
            .into_iter()
            .flatten()
            .any(|form| form.mnemonic == mnemonic && form.language != roundonce_isa::Language::Ptx)
}
