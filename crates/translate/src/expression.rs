//! An expression in another language: its operations one by one, each with its one rounding pinned, in the order in which
//! they are given.

use std::collections::BTreeSet;

use roundonce_arith::{ArithOp, Format, Operation};
use roundonce_isa::{Form, Recipe, SmTarget, shortest_decimal};

use crate::instruction::text::{Core, Names, Text};
use crate::instruction::{Language, Refusal, Translated, translate, writer};

/// An operand of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A name.
    Name(String),
    /// A number: its bits.
    Literal(u64),
    /// The result of an earlier operation.
    Step(usize),
}

/// An operation and where its operands come from, in order, each with its format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpressionStep {
    /// What is computed.
    pub operation: Operation,
    /// Of what.
    pub operands: Vec<(Operand, Format)>,
}

/// Operations whose last one gives the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expression {
    /// In order.
    pub steps: Vec<ExpressionStep>,
    /// Whether the result's sign is flipped at the end.
    pub negate_result: bool,
}

/// An expression's text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// The lines that compute `d`.
    pub code: Vec<String>,
    /// Lines of the same language that stand elsewhere.
    pub around: Vec<String>,
    /// Options of the compiler.
    pub flags: Vec<String>,
    /// Versions, machines, and where operands stand, in words.
    pub needs: Vec<String>,
    /// What the language leaves to the implementation.
    pub open: Vec<&'static str>,
}

/// Why an expression has no text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unwritten {
    /// An operation has no counterpart.
    Refused(Refusal),
    /// An operation has counterparts, and the machine that is asked for has none of them: what one needs.
    Unavailable(String),
    /// Something that this does not write: a conversion, a number.
    Unsupported(String),
}

/// Writes an expression in SASS by the rows of a generation, in SPIR-V, GLSL or C; of WGSL and Metal the refusal is returned.
/// A machine, if one is given, must have what is written.
///
/// # Errors
/// The first operation that has no counterpart, or the first operand that has no text.
pub fn write(
    expression: &Expression,
    to: Language,
    rows: &'static [Form],
    target: Option<SmTarget>,
) -> Result<Written, Unwritten> {
    let tables = [rows];
    let Some(last) = expression.steps.last() else {
        return Err(Unwritten::Unsupported("an expression without an operation".to_owned()));
    };
    let refused = |recipe: &Recipe| match translate(recipe, to, &tables) {
        Translated::Refused(refusal) => Unwritten::Refused(refusal),
        Translated::Counterparts(_) => unsupported("this operation of an expression", to),
    };
    let writer = writer(to, &tables).filter(|_| !matches!(to, Language::Ptx | Language::Cuda));
    let Some(writer) = writer else { return Err(refused(&Recipe::scalar(last.operation))) };
    let mut names = FreshNames::of(expression);
    let mut registers = (to == Language::Sass).then(Registers::default);
    let results: Vec<String> = (expression.steps.iter().enumerate())
        .map(|(index, step)| {
            let ends = index + 1 == expression.steps.len() && !expression.negate_result;
            match &mut registers {
                Some(_) if ends => "R0".to_owned(),
                Some(registers) => registers.another(step.operation.format),
                None => writer.name(&names.fresh(&if ends { "d".to_owned() } else { format!("t{index}") })),
            }
        })
        .collect();
    let (mut text, mut gates, mut standing_in_halves) = (Text::default(), Vec::new(), None);
    for (step, result) in expression.steps.iter().zip(&results) {
        let operation = &step.operation;
        let mut given = Names { operands: Default::default(), result: result.clone() };
        for ((operand, format), &slot) in step.operands.iter().zip(operation.op.operands()) {
            let written = match operand {
                Operand::Step(earlier) => results[*earlier].clone(),
                _ if let Some(registers) = &mut registers => registers.of(operand, *format),
                Operand::Name(name) => writer.name(name),
                Operand::Literal(bits) => {
                    let constant = writer.constant(*format, 1, *bits, &names.fresh("k"), &mut text);
                    constant.ok_or_else(|| unsupported("an infinity or a NaN as a constant", to))?
                }
            };
            given.operands[slot as usize] = if *format == operation.format {
                written
            } else {
                let wide = writer.converted(*format, operation.format, &written, &names.fresh("w"), &mut text);
                wide.ok_or_else(|| unsupported("a conversion between these types", to))?
            };
        }
        let (plain, negated) = without_signs(operation);
        for slot in negated {
            let operand = given.operands[slot].clone();
            let opposite = match to {
                Language::Sass => Some(format!("-{operand}")),
                _ => writer.negated(operation.format, &operand, &names.fresh("n"), &mut text),
            };
            given.operands[slot] = opposite.ok_or_else(|| unsupported("a negation", to))?;
        }
        let recipe = Recipe::scalar(plain);
        let mut cores = writer.cores(&recipe, &given);
        if cores.is_empty() && registers.is_some() {
            cores = writer.cores(&Recipe { components: 2, ..recipe }, &given);
            let halves = "values stand in the low halves of registers";
            standing_in_halves = (!cores.is_empty()).then(|| halves.to_owned());
        }
        let oldest =
            |cores: Vec<Core>| cores.into_iter().min_by_key(|core| core.text.gate.map_or(0, |gate| gate.target.first));
        let has = |core: &Core| target.is_none_or(|target| core.text.gate.is_none_or(|gate| gate.has_target(target)));
        let (there, elsewhere): (Vec<Core>, Vec<Core>) = cores.into_iter().partition(has);
        let core = oldest(there).ok_or_else(|| match oldest(elsewhere) {
            Some(Core { spelling, text }) => {
                let gate = text.gate.map_or_else(String::new, |gate| gate.to_string());
                Unwritten::Unavailable(format!("`{spelling}`, which needs {gate}"))
            }
            None => refused(&recipe),
        })?;
        let gate = core.text.gate.map(|gate| gate.to_string()).filter(|gate| !gates.contains(gate));
        gates.extend(gate);
        text.append(core.text);
    }
    if expression.negate_result && registers.is_some() {
        return Err(unsupported("the sign of a result", to));
    }
    if let (true, Some(result)) = (expression.negate_result, results.last()) {
        writer.negate_result(last.operation.format, result, &names.fresh("d"), &mut text);
    }
    writer.finish(&Recipe::scalar(last.operation), &mut text);
    let Text { code, around, flags, needs, open, .. } = text;
    let standing = registers.into_iter().flat_map(|registers| registers.standing);
    let needs = gates.into_iter().chain(standing).chain(standing_in_halves).chain(needs).collect();
    Ok(Written { code, around, flags, needs, open })
}

fn unsupported(what: &str, to: Language) -> Unwritten {
    Unwritten::Unsupported(format!("{what} in {}", to.name()))
}

/// The operation without the signs of its terms, but for a difference, and the operands that are negated instead.
fn without_signs(operation: &Operation) -> (Operation, Vec<usize>) {
    let is_difference = operation.op == ArithOp::Add && operation.negate_addend;
    let addend = operation.negate_addend && !is_difference && operation.op != ArithOp::Mul;
    let negated = [(0, operation.negate_product), (2, addend)].into_iter().filter(|(_, negates)| *negates);
    let plain = Operation { negate_product: false, negate_addend: is_difference, ..*operation };
    (plain, negated.map(|(slot, _)| slot).collect())
}

/// Names that an expression has not taken.
struct FreshNames(BTreeSet<String>);

impl FreshNames {
    fn of(expression: &Expression) -> FreshNames {
        let operands = expression.steps.iter().flat_map(|step| &step.operands);
        let names = operands.filter_map(|(operand, _)| match operand {
            Operand::Name(name) => Some(name.clone()),
            Operand::Literal(_) | Operand::Step(_) => None,
        });
        FreshNames(names.collect())
    }

    /// The wanted name, or a longer one.
    fn fresh(&mut self, wanted: &str) -> String {
        let mut free = wanted.to_owned();
        while !self.0.insert(free.clone()) {
            free.push('_');
        }
        free
    }
}

/// The registers of an expression in SASS: R0 and R1 are the result's.
#[derive(Default)]
struct Registers {
    /// How many are taken, behind the result's.
    taken: u32,
    /// Each name and number with its register.
    places: Vec<(Operand, String)>,
    /// The same in words.
    standing: Vec<String>,
}

impl Registers {
    /// One that is free, or the even one of a pair.
    fn another(&mut self, format: Format) -> String {
        let size = format.width().div_ceil(32);
        let number = (self.taken + 2).next_multiple_of(size);
        self.taken = number + size - 2;
        format!("R{number}")
    }

    /// Where a name or a number stands.
    fn of(&mut self, operand: &Operand, format: Format) -> String {
        if let Some((_, register)) = self.places.iter().find(|(known, _)| known == operand) {
            return register.clone();
        }
        let register = self.another(format);
        let what = match operand {
            Operand::Name(name) => name.clone(),
            Operand::Literal(bits) => shortest_decimal(format, *bits),
            Operand::Step(_) => return register,
        };
        self.standing.push(format!("{what} in {register}"));
        self.places.push((operand.clone(), register.clone()));
        register
    }
}
