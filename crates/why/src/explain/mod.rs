//! One instruction on given operands, step by step, with what its neighbours would have given.

mod dot;
mod neighbours;
mod picture;
mod render;
mod svg;

use roundonce_arith::{
    ArithOp, Clamp, ConditionCodes, Event, Flags, Format, OperandIndex, Operation, Outcome, Profile, Tininess,
};
use roundonce_isa::{Form, Instruction, Value, hex_bits, hexadecimal, shortest_decimal};
use serde::Serialize;

pub use dot::{DotExplained, DotMachine, DotMachines, DotPlace, DotReference, DotStep, DotTermText, explain_dot};
pub use neighbours::{Counterpart, Neighbour};
pub use picture::Picture;
pub use render::flags_text;
pub use svg::COLOURS;

/// An explained instruction.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The instruction as spelled.
    pub instruction: String,
    /// What it computes, in words.
    pub meaning: String,
    /// Document and section.
    pub source: &'static str,
    /// What a reader would not guess.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
    /// One for each component, the lowest first.
    pub components: Vec<Component>,
    /// The nearest form of each other language.
    pub counterparts: Vec<Counterpart>,
}

/// One component's steps through the pipeline.
#[derive(Clone, Debug, Serialize)]
pub struct Component {
    /// The operands as given.
    pub operands: Vec<OperandText>,
    /// What the steps did, in order.
    pub steps: Vec<String>,
    /// The aligned significands, where the result comes of a finite sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
    /// The result.
    pub result: Number,
    /// The exceptions raised.
    pub flags: Vec<&'static str>,
    /// The condition codes, where they are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codes: Option<String>,
    /// What other roundings and modes, and the unfused pair, would have given.
    pub neighbours: Vec<Neighbour>,
}

/// A number in three spellings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Number {
    /// Its bits.
    pub bits: String,
    /// The shortest decimal that reads back.
    pub value: String,
    /// Exact.
    pub hexadecimal: String,
}

impl Number {
    pub(crate) fn of(format: Format, bits: u64) -> Number {
        Number {
            bits: hex_bits(format.width(), bits),
            value: shortest_decimal(format, bits),
            hexadecimal: hexadecimal(format, bits),
        }
    }
}

/// An operand as given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OperandText {
    /// `a`, `b` or `c`.
    pub name: &'static str,
    /// Its format.
    #[serde(rename = "type")]
    pub ty: &'static str,
    /// What it is.
    #[serde(flatten)]
    pub number: Number,
    /// `normal`, `subnormal`, `zero`, `infinity`, `quiet NaN` or `signalling NaN`.
    pub class: &'static str,
}

/// Explains an instruction. `tables` are the languages' rows, searched for counterparts.
///
/// # Panics
/// If there are not as many operands as the instruction takes.
pub fn explain(
    spelling: &str,
    instruction: &Instruction,
    operands: &[Value],
    profile: &Profile,
    tables: &[&'static [Form]],
) -> Explained {
    let recipe = &instruction.recipe;
    let component = |lane: usize| {
        let bits: Vec<u64> = operands.iter().map(|operand| operand.components()[lane]).collect();
        Component::of(&recipe.operation, recipe.condition_codes, &bits, profile)
    };
    Explained {
        instruction: spelling.to_owned(),
        meaning: meaning(instruction),
        source: instruction.form.source,
        note: instruction.form.note,
        components: (0..recipe.components as usize).map(component).collect(),
        counterparts: neighbours::counterparts(instruction, operands, profile, tables),
    }
}

fn operand_name(operand: OperandIndex) -> &'static str {
    match operand {
        OperandIndex::A => "a",
        OperandIndex::B => "b",
        OperandIndex::C => "c",
    }
}

/// What an instruction computes, in words.
pub fn meaning(instruction: &Instruction) -> String {
    let recipe = &instruction.recipe;
    let operation = &recipe.operation;
    let sign = |negated| if negated { "-" } else { "" };
    let (p, c) = (sign(operation.negate_product), if operation.negate_addend { "-" } else { "+" });
    let mut text = match operation.op {
        ArithOp::MulAdd => format!("d = {p}a × b {c} c, exact, then rounded once"),
        ArithOp::Add => format!("d = {p}a {c} c, exact, then rounded once"),
        ArithOp::Mul => format!("d = {p}a × b, exact, then rounded once"),
        ArithOp::TruncatedMulAdd => format!("d = trunc({p}a × b) {c} c: the product cut to 24 bits, the sum rounded"),
    };
    text.push_str(match operation.rounding {
        roundonce_arith::Rounding::NearestEven => " to nearest even",
        roundonce_arith::Rounding::TowardZero => " toward zero",
        roundonce_arith::Rounding::Down => " toward -infinity",
        roundonce_arith::Rounding::Up => " toward +infinity",
    });
    if operation.flush {
        text.push_str("; subnormals flushed");
    }
    if operation.fmz {
        text.push_str("; a zero factor makes the product +0");
    }
    if operation.oob {
        text.push_str("; an out-of-bounds NaN operand makes the result +0");
    }
    text.push_str(match operation.clamp {
        Clamp::None => "",
        Clamp::Unit => "; clamped to [0, 1]",
        Clamp::Relu => "; what is negative becomes +0",
    });
    if recipe.components > 1 {
        text.push_str(&format!("; {} components", recipe.components));
    }
    text
}

fn class(format: Format, bits: u64) -> &'static str {
    if format.is_signalling(bits) {
        "signalling NaN"
    } else if format.is_nan(bits) {
        "quiet NaN"
    } else if format.is_infinite(bits) {
        "infinity"
    } else if format.is_zero(bits) {
        "zero"
    } else if format.is_subnormal(bits) {
        "subnormal"
    } else {
        "normal"
    }
}

impl Component {
    /// One operation on its operands' bits; `codes`: it writes condition codes.
    pub fn of(operation: &Operation, codes: bool, bits: &[u64], profile: &Profile) -> Component {
        let format = operation.format;
        let mut events = Vec::new();
        let outcome = operation.evaluate_traced(profile, bits, &mut |event| events.push(event));
        let operands = operation.op.operands().iter().zip(bits).enumerate().map(|(index, (&operand, &bits))| {
            let format = operation.operand_format(index);
            OperandText {
                name: operand_name(operand),
                ty: format.name().unwrap_or("?"),
                number: Number::of(format, bits),
                class: class(format, bits),
            }
        });
        // Where sm_1x rounds the product by itself, that is the rounding to look at.
        let picture = events.iter().find_map(|event| match *event {
            Event::Terms { product, addend } => Some(Picture::of(format, product, addend, outcome.bits)),
            _ => None,
        });
        Component {
            operands: operands.collect(),
            steps: steps(operation, bits, &events, outcome),
            picture: picture.flatten(),
            result: Number::of(format, outcome.bits),
            flags: outcome.flags.names().collect(),
            codes: codes.then(|| ConditionCodes::of(format, outcome.bits).to_string()),
            neighbours: neighbours::neighbours(operation, bits, profile, outcome.bits),
        }
    }
}

/// Where machines differ: what decides whether this result is flushed.
fn boundary(tininess: Tininess, tiny_after: bool) -> String {
    let unbounded = if tiny_after { "is below it" } else { "is not below it" };
    let decision = match tininess {
        Tininess::Result => "what is delivered decides: kept".to_owned(),
        Tininess::AfterRounding => {
            format!("the value so rounded decides: {}", if tiny_after { "flushed" } else { "kept" })
        }
        Tininess::BeforeRounding => "the exact value decides: flushed".to_owned(),
    };
    format!(
        "the boundary of .ftz, where machines differ: the exact value is below the smallest normal number and rounds up to \
         it; rounded with an unbounded exponent it {unbounded}; {decision} (tininess={})",
        tininess.name()
    )
}

/// Whether one factor is infinite and the other zero, or becomes it.
fn multiplies_zero_by_infinity(operation: &Operation, bits: &[u64], events: &[Event]) -> bool {
    if operation.op == ArithOp::Add {
        return false;
    }
    let factors = operation.op.operands().iter().zip(bits).enumerate().take(2);
    let kinds = factors.map(|(index, (&operand, &bits))| {
        let format = operation.operand_format(index);
        let is_zero = bits & !format.sign_mask() == 0 || events.contains(&Event::FlushedOperand(operand));
        (is_zero, format.is_infinite(bits))
    });
    let kinds: Vec<(bool, bool)> = kinds.collect();
    !events.contains(&Event::ZeroFactor)
        && kinds.iter().any(|(is_zero, _)| *is_zero)
        && kinds.iter().any(|(_, is_infinite)| *is_infinite)
}

/// What the pipeline did, in words.
fn steps(operation: &Operation, bits: &[u64], events: &[Event], outcome: Outcome) -> Vec<String> {
    let show_in =
        |format: Format, bits| format!("{} {}", hex_bits(format.width(), bits), shortest_decimal(format, bits));
    let show = |bits: u64| show_in(operation.format, bits);
    // Operands of formats of their own are widened to f32.
    let wide = if operation.operand_formats.is_some() { Format::F32 } else { operation.format };
    let mut steps = Vec::new();
    let mut is_contested = false;
    for (index, (&operand, &bits)) in operation.op.operands().iter().zip(bits).enumerate() {
        let narrow = operation.operand_format(index);
        if narrow != wide {
            let bits = show_in(wide, roundonce_arith::widen(narrow, wide, bits));
            steps.push(format!("{} is widened, exactly, to {bits}", operand_name(operand)));
        }
    }
    for (at, event) in events.iter().enumerate() {
        let next = events.get(at + 1);
        steps.extend(match *event {
            Event::FlushedOperand(operand) => {
                Some(format!("{} is subnormal and becomes zero of its sign", operand_name(operand)))
            }
            Event::ZeroFactor => Some("a factor is zero: the product is +0 whatever the other is".to_owned()),
            Event::NanOperand(operand) => {
                let beside = if multiplies_zero_by_infinity(operation, bits, events) {
                    "; zero times infinity beside it is invalid"
                } else {
                    ""
                };
                Some(format!("{} is a NaN: the result is one{beside}", operand_name(operand)))
            }
            Event::ZeroTimesInfinity => Some("zero times infinity is invalid: a NaN".to_owned()),
            Event::InfinityMinusInfinity => Some("infinity minus infinity is invalid: a NaN".to_owned()),
            Event::ProductTruncated => Some("the product is cut to 24 bits, toward zero".to_owned()),
            Event::SeparateProduct(product) => {
                Some(format!("c is zero: the product is rounded by itself, as mul does, to {}", show(product.bits)))
            }
            // It is the product's, which the next event tells.
            Event::Rounded(_) if matches!(next, Some(Event::SeparateProduct(_))) => None,
            Event::Rounded(rounded) => {
                let exactly = if rounded.flags.contains(Flags::INEXACT) { "rounds to" } else { "is exactly" };
                let what = if operation.op == ArithOp::Mul { "product" } else { "sum" };
                Some(format!("the {what} {exactly} {}", show(rounded.bits)))
            }
            Event::Boundary { tininess, tiny_after } => {
                is_contested = true;
                Some(boundary(tininess, tiny_after))
            }
            Event::FlushedResult if is_contested => Some("the result becomes zero of its sign".to_owned()),
            Event::FlushedResult => Some("the result is subnormal and becomes zero of its sign".to_owned()),
            Event::OutOfBounds => Some("an operand is the out-of-bounds NaN: the result is +0".to_owned()),
            Event::Clamped(before) => Some(format!("{} is clamped to {}", show(before), show(outcome.bits))),
            Event::Terms { .. } => None,
        });
    }
    steps
}
