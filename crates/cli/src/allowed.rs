//! `eval --allowed`: every result that an implementation may give, and whether a captured one is among them.

use std::io::Write;

use roundonce::arith::Format as Lane;
use roundonce::isa::parse_whole;
use roundonce::spirv::{AllowedSet, FloatModes};
use roundonce::{Instruction, Value};
use serde::Serialize;

use crate::output::{self, Format};
use crate::{Ended, Failure, Status, terminal};

#[derive(Serialize)]
struct Report<'a> {
    instruction: &'a str,
    modes: String,
    components: Vec<Component>,
}

#[derive(Serialize)]
struct Component {
    allowed: Vec<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    saw: Option<Saw>,
}

#[derive(Serialize)]
struct Range {
    first: String,
    last: String,
    choice: String,
}

#[derive(Serialize)]
struct Saw {
    bits: String,
    /// Which choice gives it; nothing if none does.
    choice: Option<String>,
}

fn component(format: Lane, set: &AllowedSet, saw: Option<u64>) -> Component {
    let hex = |bits| Value::of([bits]).hex(format);
    let ranges = set.ranges().iter();
    let choice = |bits| set.explain(bits).map(|choice| choice.to_string());
    Component {
        allowed: ranges
            .map(|range| Range { first: hex(range.first), last: hex(range.last), choice: range.choice.to_string() })
            .collect(),
        saw: saw.map(|bits| Saw { bits: hex(bits), choice: choice(bits) }),
    }
}

fn write(out: &mut impl Write, format: Lane, report: &Report<'_>, sets: &[AllowedSet]) -> std::io::Result<()> {
    writeln!(out, "{}: {}", report.instruction, report.modes)?;
    for (index, (component, set)) in report.components.iter().zip(sets).enumerate() {
        if sets.len() > 1 {
            writeln!(out, "component {index}")?;
        }
        for (range, bits) in component.allowed.iter().zip(set.ranges()) {
            if range.first == range.last {
                let value = Value::of([bits.first]).decimal(format);
                writeln!(out, "  {} {value}: {}", range.first, range.choice)?;
            } else {
                writeln!(out, "  {} to {}: {}", range.first, range.last, range.choice)?;
            }
        }
        if let Some(saw) = &component.saw {
            match &saw.choice {
                Some(choice) => writeln!(out, "  saw {}: legal, {choice}", saw.bits)?,
                None => writeln!(out, "  saw {}: no implementation may give it", saw.bits)?,
            }
        }
    }
    Ok(())
}

pub(crate) fn run(
    spelling: &str,
    instruction: &Instruction,
    operands: &[Value],
    saw: Option<&str>,
    format: Format,
) -> Ended {
    let sets = roundonce::allowed(spelling, instruction, operands)?;
    let lane = instruction.recipe.operation.format;
    let saw = saw.map(|text| parse_whole(lane, instruction.recipe.components, text)).transpose();
    let saw = saw.map_err(|problem| Failure::Input(format!("--saw: {problem}")))?;
    let seen = |index: usize| saw.as_ref().map(|saw| saw.value.components()[index]);
    let report = Report {
        instruction: spelling,
        modes: FloatModes::of_spelling(spelling).to_string(),
        components: sets.iter().enumerate().map(|(index, set)| component(lane, set, seen(index))).collect(),
    };
    if format == Format::Json {
        output::json(&report)?;
    } else {
        write(&mut terminal::stdout(), lane, &report, &sets)?;
    }
    let illegal = |component: &Component| component.saw.as_ref().is_some_and(|saw| saw.choice.is_none());
    Ok(if report.components.iter().any(illegal) { Status::Found } else { Status::Done })
}
