//! What `run --exceptions` and `run --shadow` tell.

use std::io::Write;

use clap::ValueEnum;
use roundonce::exec::{Breadth, ROUNDING_FACTOR};
use roundonce::observed::{AgainstExpected, ExceptionText, LineShadow, ShadowText};

use crate::Failure;

/// Lines of the source that are shown to a person.
const SHOWN: usize = 12;

/// How wide a shadow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ShadowBreadth {
    /// Doubles
    F64,
    /// Numbers of 1,024 bits (elementary functions: 192), for kernels in f64 and long sums
    Long,
}

impl ShadowBreadth {
    pub(crate) const fn breadth(self) -> Breadth {
        match self {
            ShadowBreadth::F64 => Breadth::Double,
            ShadowBreadth::Long => Breadth::Long,
        }
    }
}

pub(crate) fn write_exceptions(out: &mut impl Write, all: &[ExceptionText<'_>]) -> Result<(), Failure> {
    if all.is_empty() {
        writeln!(out, "no result is NaN, infinite, subnormal or inexact")?;
        return Ok(());
    }
    writeln!(out, "results that are NaN, infinite, subnormal or inexact, the first to occur first")?;
    for it in all {
        let origin = match it.count - it.arising {
            0 => String::new(),
            handed if handed == it.count => ", from such operands".to_owned(),
            handed => format!(", {handed} of them from such operands"),
        };
        writeln!(out, "  {}", it.at.text())?;
        let (block, thread) = (coordinates(it.block), coordinates(it.thread));
        writeln!(
            out,
            "    {}: {} of {}{origin}; the first in block {block}, thread {thread}: {} -> {}",
            it.kind,
            it.count,
            it.results,
            it.operands.join(" "),
            it.result
        )?;
    }
    Ok(())
}

fn coordinates([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

/// A number of ulps in a few digits.
fn ulps(value: Option<f64>) -> String {
    match value {
        None => "beyond any number".to_owned(),
        Some(value) if value < 100.0 => format!("{:.2} ulp", value),
        Some(value) if value < 1e15 => format!("{value:.0} ulp"),
        Some(value) => format!("{value:.2e} ulp"),
    }
}

pub(crate) fn write_shadow(out: &mut impl Write, shadow: &ShadowText<'_>) -> Result<(), Failure> {
    let against = if shadow.breadth == "f64" { "f64" } else { "1,024 bits" };
    writeln!(out, "how far rounding has moved the results, against the same operations in {against}")?;
    for buffer in &shadow.buffers {
        let [half, few, many, rest, wild] = [0, 1, 2, 3, 4].map(|place| buffer.moved[place].1);
        writeln!(
            out,
            "  `{}`: {} floats: {half} within 0.5 ulp, {few} within 4, {many} within 1024, {rest} further, {wild} beyond any number",
            buffer.parameter, buffer.floats
        )?;
        if let Some(it) = &buffer.furthest {
            writeln!(
                out,
                "    the furthest, {}: {}[{}] = {} ({}), {} without rounding",
                ulps(it.ulps),
                buffer.parameter,
                it.index,
                it.bits,
                it.value,
                it.wide
            )?;
        }
        if let Some(expected) = &buffer.expected {
            write_expected(out, buffer.parameter, expected)?;
        }
    }
    let mut lines: Vec<&LineShadow<'_>> = shadow.lines.iter().filter(|line| speaks(line)).collect();
    lines.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    for line in lines.iter().take(SHOWN) {
        writeln!(out, "  {}", line.at.text())?;
        writeln!(out, "    {}", says(line).join("; "))?;
    }
    if lines.len() > SHOWN {
        writeln!(out, "  and {} instructions more (--format json has all)", lines.len() - SHOWN)?;
    }
    Ok(())
}

fn write_expected(out: &mut impl Write, parameter: &str, expected: &AgainstExpected) -> Result<(), Failure> {
    let AgainstExpected { differing, rounding, further, first_further } = expected;
    writeln!(
        out,
        "    {differing} differ from what is expected: {rounding} as rounding would (at most {ROUNDING_FACTOR} times as far off as the result), {further} by more"
    )?;
    if let Some(it) = first_further {
        writeln!(
            out,
            "    the first by more: {parameter}[{}] expected {} ({}), {} from {}, the value without rounding",
            it.index,
            it.bits,
            it.value,
            ulps(it.ulps),
            it.wide
        )?;
    }
    Ok(())
}

fn speaks(line: &LineShadow<'_>) -> bool {
    line.moved > 0 || line.reversed > 0 || line.not_followed > 0
}

/// What may have changed results first, then how far values moved.
fn rank(line: &LineShadow<'_>) -> f64 {
    match (line.not_finite, line.worst_ulps) {
        (true, _) => f64::INFINITY,
        _ if line.reversed > 0 => f64::MAX,
        (false, ulps) => ulps.unwrap_or(0.0),
    }
}

fn says(line: &LineShadow<'_>) -> Vec<String> {
    let mut says = Vec::new();
    if line.moved > 0 {
        let worst = ulps(line.worst_ulps.filter(|_| !line.not_finite));
        says.push(format!("{} of {} results moved, up to {worst}", line.moved, line.results));
    }
    if line.cancellations > 0 {
        let (times, bits) = (line.cancellations, line.cancelled_bits);
        says.push(format!("{times} of them where up to {bits} leading bits cancel"));
    }
    if line.reversed > 0 {
        says.push(format!("{} of {} decisions come out otherwise without rounding", line.reversed, line.decisions));
    }
    if line.not_followed > 0 {
        says.push(format!(
            "{} values are not followed through it: what it makes of them counts as exact",
            line.not_followed
        ));
    }
    says
}

/// Both, where they were asked for.
pub(crate) fn write(
    out: &mut impl Write,
    exceptions: Option<&[ExceptionText<'_>]>,
    shadow: Option<&ShadowText<'_>>,
) -> Result<(), Failure> {
    exceptions.map_or(Ok(()), |all| write_exceptions(out, all))?;
    shadow.map_or(Ok(()), |shadow| write_shadow(out, shadow))
}
