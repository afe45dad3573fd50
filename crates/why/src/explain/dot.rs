//! One element of a matrix multiply-add, step by step: the aligned terms, what was cut off them, the sum, its conversion,
//! and what other machines give.

use num_bigint::{BigInt, BigUint, Sign};
use roundonce_arith::{
    Addend, Dot, DotEvent, DotTerm, Element, ExactNumber, Format, Order, Position, Profile, Rounding, Unpacked,
};
use serde::Serialize;

use super::Number;
use crate::diff::DotOperands;
use crate::text::{Line, Role, wrap};

/// An explained element of a matrix multiply-add.
#[derive(Clone, Debug, Serialize)]
pub struct DotExplained {
    /// The instruction as spelled.
    pub instruction: String,
    /// What it computes, in words.
    pub meaning: String,
    /// The machine: `sm_80`.
    pub target: String,
    /// Its machine instruction.
    pub unit: &'static str,
    /// How the arithmetic is known: `hardware`, `assembler`, `model` or `presumed`.
    pub evidence: &'static str,
    /// Where it is known from.
    pub source: String,
    /// The steps, in order.
    pub steps: Vec<DotStep>,
    /// The result.
    pub result: Number,
    /// What no tensor core computes: the exact value rounded once, fused multiply-adds one after the other.
    pub references: Vec<DotReference>,
    /// What each target that has the instruction gives, by result.
    pub machines: Vec<DotMachines>,
}

/// A step.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DotStep {
    /// Terms cut and added.
    Sum {
        /// The terms that are not zero, the addend last.
        terms: Vec<DotTermText>,
        /// How many are zero.
        zeros: usize,
        /// The largest exponent.
        largest: i32,
        /// The exponent of the lowest bit that is kept of a term.
        grid: i32,
        /// The exact sum of what was left, in binary, units of the grid.
        sum: String,
        /// The bits of the sum that the conversion drops.
        dropped: String,
        /// The conversion's result.
        result: Number,
    },
    /// Something else.
    Other {
        /// What was done.
        text: String,
        /// Its result.
        result: Number,
    },
}

/// A term of a step.
#[derive(Clone, Debug, Serialize)]
pub struct DotTermText {
    /// `a0·b0`, `c`, or `so far`: the sum of the steps before.
    pub name: String,
    /// The exponent that it is aligned by.
    pub exponent: i32,
    /// What is left of it: its sign and its bits, in units of the grid.
    pub kept: String,
    /// The bits that were cut off it, up to the last one that is set.
    pub cut: String,
    /// Whether one of these is set.
    pub lost: bool,
}

/// What something else computes.
#[derive(Clone, Debug, Serialize)]
pub struct DotReference {
    /// What it is.
    pub name: &'static str,
    /// Its result.
    pub result: Number,
}

/// Machines that give one result.
#[derive(Clone, Debug, Serialize)]
pub struct DotMachines {
    /// Their names, in order; those presumed to be as their family with a `?`.
    pub targets: Vec<String>,
    /// The result.
    pub result: Number,
}

/// Where an explained element is computed: what only its language knows.
#[derive(Clone, Debug)]
pub struct DotPlace {
    /// The machine.
    pub target: String,
    /// Its machine instruction.
    pub unit: &'static str,
    /// How the arithmetic is known.
    pub evidence: &'static str,
    /// Where it is known from.
    pub source: String,
}

/// A machine to compare with.
#[derive(Clone, Debug)]
pub struct DotMachine {
    /// `sm_90`.
    pub target: String,
    /// What it computes.
    pub dot: Dot,
    /// Whether there is evidence of it, and not only of its family.
    pub is_known: bool,
}

/// The most bits below the grid that are written out.
const MOST_CUT: usize = 16;

/// Explains one element.
///
/// # Panics
/// As [`Dot::evaluate`].
pub fn explain_dot(
    spelling: &str,
    place: DotPlace,
    dot: &Dot,
    profile: &Profile,
    operands: &DotOperands,
    machines: Vec<DotMachine>,
) -> DotExplained {
    let DotOperands { a, b, c, scales } = operands;
    let (c, scales) = (*c, [&scales[0][..], &scales[1][..]]);
    let DotPlace { target, unit, evidence, source } = place;
    let mut steps = Vec::new();
    let mut observe = |event: DotEvent<'_>| {
        let addend = if steps.is_empty() && dot.addend == Addend::InFirstStep { "c" } else { "so far" };
        steps.push(step(dot, addend, event));
    };
    let result = dot.evaluate_traced(profile, a, b, c, scales, &mut observe);
    let mut references = Vec::new();
    if let Some(exact) = exact(dot, a, b, c, scales) {
        let result = Number::of(dot.d, exact);
        references.push(DotReference { name: "exact, rounded once to nearest even", result });
    }
    if dot.scale.is_none() && dot.kept.is_some() {
        let accumulator = if dot.accumulator == Format::F16 { Format::F32 } else { dot.accumulator };
        let chain = Dot {
            accumulator,
            block: 1,
            kept: None,
            order: Order::Ascending,
            addend: Addend::InFirstStep,
            rounding: Rounding::NearestEven,
            fraction: accumulator.frac_bits(),
            ..*dot
        };
        let result = Number::of(dot.d, chain.evaluate(profile, a, b, c, scales));
        references.push(DotReference { name: "fused multiply-adds of f32, k ascending", result });
    }
    let mut groups: Vec<DotMachines> = Vec::new();
    for machine in machines {
        let bits = machine.dot.evaluate(profile, a, b, c, scales);
        let number = Number::of(dot.d, bits);
        let name = if machine.is_known { machine.target } else { format!("{}?", machine.target) };
        match groups.iter_mut().find(|group| group.result == number) {
            Some(group) => group.targets.push(name),
            None => groups.push(DotMachines { targets: vec![name], result: number }),
        }
    }
    DotExplained {
        instruction: spelling.to_owned(),
        meaning: meaning(dot),
        target,
        unit,
        evidence,
        source,
        steps,
        result: Number::of(dot.d, result),
        references,
        machines: groups,
    }
}

/// What the operation computes, in words.
fn meaning(dot: &Dot) -> String {
    let name = |format| Element::Float(format).name();
    let products =
        if dot.a == dot.b { dot.a.name().to_owned() } else { format!("{} and {}", dot.a.name(), dot.b.name()) };
    let accumulator = name(dot.accumulator);
    let Some(kept) = dot.kept else {
        let start = if dot.addend == Addend::InFirstStep { "c" } else { "+0" };
        let last = if dot.addend == Addend::InFirstStep { "" } else { "; then c is added, to nearest even" };
        return format!(
            "{} products of {products}, one fused multiply-add of {accumulator} each, from {start} on{last}",
            dot.k
        );
    };
    let steps = match (dot.steps(), dot.order) {
        (1, _) => format!("one step of {}", dot.k),
        (steps, Order::Ascending) => format!("{steps} steps of {}", dot.block),
        (steps, Order::Halves) => format!("{steps} steps of {}, k mod 4 below 2 first", dot.block),
    };
    let terms = if dot.group == 1 { "each product" } else { "each exact sum of 16 products, scaled," };
    let direction = if dot.rounding == Rounding::TowardZero { "toward zero" } else { "to nearest even" };
    let short = match dot.fraction < dot.accumulator.frac_bits() {
        true => format!(" keeping {} fraction bits", dot.fraction),
        false => String::new(),
    };
    let addend = match dot.addend {
        Addend::InFirstStep => "with c, later the sum so far, as one more term",
        Addend::AfterLastStep => "from +0 on, and c added at the end to nearest even",
    };
    let last =
        if dot.d == dot.accumulator { String::new() } else { format!("; at the end rounded to {}", name(dot.d)) };
    format!(
        "{} products of {products} in {steps}: {terms} is cut toward zero {kept} bits below the largest exponent, what is \
         left is added exactly ({addend}) and converted to {accumulator} {direction}{short}{last}",
        dot.k
    )
}

/// A step in words and bits; `addend` is what the sum before it is called.
fn step(dot: &Dot, addend: &str, event: DotEvent<'_>) -> DotStep {
    let number = |bits| Number::of(dot.accumulator, bits);
    let other = |text: String, result| DotStep::Other { text, result: number(result) };
    match event {
        DotEvent::Step { terms, largest, grid, sum, result } => {
            let length = bits_of(sum.unsigned_abs());
            let quantum =
                (grid + length as i32 - 1 - dot.fraction as i32).max(dot.accumulator.emin() - dot.fraction as i32);
            let drop = (quantum - grid).clamp(0, length as i32) as usize;
            let binary = format!("{:b}", sum.unsigned_abs());
            let cut = binary.len() - drop.min(binary.len());
            let zeros = terms.iter().filter(|term| term.significand == 0).count();
            DotStep::Sum {
                terms: terms
                    .iter()
                    .filter(|term| term.significand != 0)
                    .map(|term| term_text(dot, addend, term, grid))
                    .collect(),
                zeros,
                largest,
                grid,
                sum: format!("{}{}", if sum < 0 { '-' } else { '+' }, &binary[..cut]),
                dropped: binary[cut..].to_owned(),
                result: number(result),
            }
        }
        DotEvent::Invalid { position, result } => {
            let name = name(dot, addend, position);
            other(format!("{name} is a NaN, 0 × infinity or an infinity of the other sign: NaN"), result)
        }
        DotEvent::Infinite { position, result } => {
            other(format!("{} is an infinity", name(dot, addend, position)), result)
        }
        DotEvent::Fused { index, result, .. } => {
            let addend = if index == 0 && dot.addend == Addend::AfterLastStep { "+0" } else { addend };
            other(format!("fma a{index} × b{index} + {addend}"), result)
        }
        DotEvent::AddendAdded { result, .. } => other("so far + c, to nearest even".to_owned(), result),
        DotEvent::Converted { result, .. } => {
            let text = format!("rounded to {}, to nearest even", Element::Float(dot.d).name());
            DotStep::Other { text, result: Number::of(dot.d, result) }
        }
    }
}

fn bits_of(number: u64) -> u32 {
    64 - number.leading_zeros()
}

fn name(dot: &Dot, addend: &str, position: Position) -> String {
    match position {
        Position::Product(index) => format!("a{index}·b{index}"),
        Position::Group(index) => format!("k {index}…{}", index + dot.group as usize - 1),
        Position::Addend => addend.to_owned(),
    }
}

fn term_text(dot: &Dot, addend: &str, term: &DotTerm, grid: i32) -> DotTermText {
    let quantum = term.exponent - term.fraction as i32;
    let below = (grid - quantum).max(0) as usize;
    let binary = format!("{:0>width$b}", term.significand, width = below.min(128));
    let start = if below > 128 { 0 } else { binary.len() - below };
    let cut = if below > 128 { format!("…{binary}") } else { binary[start..].to_owned() };
    let mut cut = cut.trim_end_matches('0').to_owned();
    if cut.chars().count() > MOST_CUT {
        cut = cut.chars().take(MOST_CUT).chain(['…']).collect();
    }
    DotTermText {
        name: name(dot, addend, term.position),
        exponent: term.exponent,
        kept: format!("{}{:b}", if term.negative { '-' } else { '+' }, term.cut),
        cut,
        lost: term.inexact,
    }
}

/// The exact value rounded once to the result's format, to nearest even; `None` if a term is no number.
fn exact(dot: &Dot, a: &[u64], b: &[u64], c: u64, scales: [&[u64]; 2]) -> Option<u64> {
    // In units of a power of two below every product's.
    const UNIT: i32 = -3000;
    let finite = |unpacked| match unpacked {
        Unpacked::Zero { .. } => Some(None),
        Unpacked::Finite(number) => Some(Some((number.negative, BigUint::from(number.significand), number.quantum))),
        Unpacked::Infinite { .. } | Unpacked::Nan { .. } => None,
    };
    let mut sum = BigInt::ZERO;
    let mut add = |factors: Vec<Option<(bool, BigUint, i32)>>| {
        let Some(factors) = factors.into_iter().collect::<Option<Vec<_>>>() else { return };
        let one = (false, BigUint::from(1u32), 0);
        let product = factors.into_iter().fold(one, |x, y| (x.0 ^ y.0, x.1 * y.1, x.2 + y.2));
        let sign = if product.0 { Sign::Minus } else { Sign::Plus };
        sum += BigInt::from_biguint(sign, product.1 << (product.2 - UNIT).max(0) as u32);
    };
    for index in 0..dot.k as usize {
        let element = |element: Element, bits| finite(element.unpack(element.of_container(bits)));
        let mut factors = vec![element(dot.a, a[index])?, element(dot.b, b[index])?];
        if let Some(by) = dot.scale {
            let at = index / by.block as usize;
            for scales in scales {
                factors.push(finite(by.format.unpack(scales[at]))?);
            }
        }
        add(factors);
    }
    add(vec![finite(Element::Float(dot.c).unpack(c))?]);
    let (sign, magnitude) = sum.into_parts();
    let drop = magnitude.bits().saturating_sub(120);
    let kept = &magnitude >> drop;
    let exact = ExactNumber {
        negative: sign == Sign::Minus,
        quantum: UNIT + drop as i32,
        significand: u128::try_from(&kept).ok()?,
        sticky: (kept << drop) != magnitude,
    };
    Some(exact.round(dot.d, Rounding::NearestEven).bits)
}

impl DotExplained {
    /// The explanation for a reader.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::of(Role::Strong, &self.instruction)];
        lines.extend(wrap(Role::Plain, &format!("on {} ({}): {}", self.target, self.unit, self.meaning), 0, 80));
        lines.extend(wrap(Role::Faint, &format!("evidence: {}; {}", self.evidence, self.source), 0, 80));
        let count = self.steps.len();
        for (index, step) in self.steps.iter().enumerate() {
            lines.push(Line::default());
            let title = if count == 1 { String::new() } else { format!("step {} of {count}: ", index + 1) };
            step.lines(&title, &mut lines);
        }
        lines.push(Line::default());
        lines.push(number_line("result", &self.result, Role::Strong, ""));
        for reference in &self.references {
            let remark = if reference.result == self.result { "the same" } else { reference.name };
            let name = if reference.result == self.result { reference.name } else { "" };
            let remark = if name.is_empty() { remark.to_owned() } else { format!("{name}: {remark}") };
            lines.push(number_line("", &reference.result, Role::Plain, &remark));
        }
        for group in &self.machines {
            lines.push(number_line("", &group.result, Role::Plain, &group.targets.join(" ")));
        }
        if self.machines.iter().flat_map(|group| &group.targets).any(|name| name.ends_with('?')) {
            lines.push(Line::of(
                Role::Faint,
                "       ? presumed as its family: nothing public of this target was found",
            ));
        }
        lines
    }
}

fn number_line(name: &str, number: &Number, role: Role, remark: &str) -> Line {
    let line = Line::of(Role::Label, format!("{name:<6} ")).and(role, format!("{:<10} ", number.bits));
    if remark.is_empty() {
        return line.and(Role::Plain, &number.value);
    }
    line.and(Role::Plain, format!("{:<15} ", number.value)).and(Role::Faint, remark)
}

impl DotStep {
    fn lines(&self, title: &str, lines: &mut Vec<Line>) {
        match self {
            DotStep::Other { text, result } => {
                lines.push(Line::of(Role::Label, title).and(Role::Plain, text));
                lines.push(number_line("", result, Role::Plain, ""));
            }
            DotStep::Sum { terms, zeros, largest, grid, sum, dropped, result } => {
                let is_of_zeros = terms.iter().all(|term| term.exponent != *largest);
                let of_zeros = if is_of_zeros { " (that of zeros, --profile dot_zero)" } else { "" };
                let caption =
                    format!("largest exponent {largest}{of_zeros}; what lies below 2^{grid} is cut off each term");
                lines.push(Line::of(Role::Label, title).and(Role::Plain, caption));
                let width =
                    terms.iter().map(|term| term.kept.len()).chain([sum.len() + dropped.len()]).max().unwrap_or(0);
                for DotTermText { name, kept, cut, lost, .. } in terms {
                    let bits = format!("{}{:>width$}", &kept[..1], &kept[1..], width = width - 1);
                    let mut line = Line::of(Role::Label, format!("  {name:<9} ")).and(Role::Kept, bits);
                    if *lost {
                        line = line.and(Role::Dropped, format!("|{cut}"));
                    }
                    lines.push(line);
                }
                match zeros {
                    0 => {}
                    1 => lines.push(Line::of(Role::Faint, "  one term more, a zero")),
                    _ => lines.push(Line::of(Role::Faint, format!("  {zeros} terms more, zeros"))),
                }
                let digits = width - 1 - dropped.len();
                let line = Line::of(Role::Label, format!("  {:<9} ", "sum"))
                    .and(Role::Kept, format!("{}{:>digits$}", &sum[..1], &sum[1..]))
                    .and(Role::Dropped, dropped);
                lines.push(line);
                lines.push(number_line("", result, Role::Plain, ""));
            }
        }
    }
}
