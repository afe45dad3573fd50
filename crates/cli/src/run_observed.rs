//! What `run --exceptions` and `run --shadow` tell.

use std::io::Write;

use clap::ValueEnum;
use roundonce::arith::Format;
use roundonce::exec::{Breadth, Exception, ROUNDING_FACTOR, Report, SPREAD, ShadowElement, ShadowLine, ShadowReport};
use roundonce::ir::{Kernel, SourceLoc};
use roundonce::isa::{hex_bits, shortest_decimal};
use serde::Serialize;

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

/// An instruction's place.
#[derive(Serialize)]
struct At<'a> {
    line: u32,
    #[serde(skip_serializing_if = "str::is_empty")]
    source: &'a str,
    instruction: String,
}

impl<'a> At<'a> {
    fn of(place: &'a SourceLoc) -> At<'a> {
        let instruction = place.text.split_whitespace().collect::<Vec<_>>().join(" ");
        At { line: place.line, source: &place.source, instruction }
    }
    fn text(&self) -> String {
        let source = if self.source.is_empty() { String::new() } else { format!(" ({})", self.source) };
        format!("line {}{source}  {}", self.line, self.instruction)
    }
}

#[derive(Serialize)]
pub(crate) struct ToldException<'a> {
    #[serde(flatten)]
    at: At<'a>,
    kind: &'static str,
    count: u64,
    arising: u64,
    results: u64,
    block: [u32; 3],
    thread: [u32; 3],
    operands: Vec<String>,
    result: String,
}

pub(crate) fn exceptions<'a>(all: &[Exception], kernel: &'a Kernel) -> Vec<ToldException<'a>> {
    let told = |it: &Exception| ToldException {
        at: At::of(&kernel.source_locs[it.loc as usize]),
        kind: it.kind.name(),
        count: it.count,
        arising: it.arising,
        results: it.results,
        block: it.thread.0,
        thread: it.thread.1,
        operands: it.operands.iter().map(|&(bits, width)| hex_bits(width, bits)).collect(),
        result: hex_bits(it.result.1, it.result.0),
    };
    all.iter().map(told).collect()
}

pub(crate) fn write_exceptions(out: &mut impl Write, all: &[ToldException<'_>]) -> Result<(), Failure> {
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

#[derive(Serialize)]
pub(crate) struct ToldShadow<'a> {
    breadth: &'static str,
    buffers: Vec<ToldBuffer<'a>>,
    lines: Vec<ToldLine<'a>>,
}

#[derive(Serialize)]
struct ToldBuffer<'a> {
    parameter: &'a str,
    floats: usize,
    /// The upper end of each class in ulps, and how many floats are in it; no end for those beyond all.
    moved: Vec<(Option<f64>, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    furthest: Option<ToldElement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<ToldAgainst>,
}

#[derive(Serialize)]
struct ToldElement {
    index: u64,
    bits: String,
    value: String,
    wide: String,
    /// `null` where one of the two is no finite number.
    ulps: Option<f64>,
}

#[derive(Serialize)]
struct ToldAgainst {
    differing: u64,
    rounding: u64,
    further: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_further: Option<ToldElement>,
}

#[derive(Serialize)]
struct ToldLine<'a> {
    #[serde(flatten)]
    at: At<'a>,
    results: u64,
    moved: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst_ulps: Option<f64>,
    not_finite: bool,
    cancellations: u64,
    cancelled_bits: u32,
    decisions: u64,
    reversed: u64,
    not_followed: u64,
}

/// A number of ulps, as far as a person or JSON can use it.
fn finite(ulps: f64) -> Option<f64> {
    ulps.is_finite().then_some(ulps)
}

fn told_element(element: &ShadowElement, bits: u64, ulps: f64) -> ToldElement {
    let format = element.format;
    ToldElement {
        index: element.offset * 8 / u64::from(format.width()),
        bits: hex_bits(format.width(), bits),
        value: shortest_decimal(format, bits),
        wide: shortest_decimal(Format::F64, element.wide.to_bits()),
        ulps: finite(ulps),
    }
}

/// What the shadow says; `expected` holds what some arguments should be.
pub(crate) fn shadow<'a>(report: &ShadowReport, kernel: &'a Kernel, expected: &[(usize, Vec<u8>)]) -> ToldShadow<'a> {
    let buffer = |argument: usize| {
        let ends = SPREAD.iter().copied().map(|end| Some(end).filter(|&end| end != f64::MAX));
        let reference = expected.iter().find(|(place, _)| *place == argument);
        ToldBuffer {
            parameter: &kernel.params[argument].name,
            floats: report.buffers[argument].len(),
            moved: ends.chain([None]).zip(report.spread(argument)).collect(),
            furthest: report.furthest(argument).filter(|it| it.ulps > 0.0).map(|it| told_element(it, it.bits, it.ulps)),
            expected: reference.map(|(_, bytes)| {
                let against = report.against(argument, bytes);
                ToldAgainst {
                    differing: against.differing,
                    rounding: against.rounding,
                    further: against.further,
                    first_further: against.first_further.map(|(it, bits, ulps)| told_element(&it, bits, ulps)),
                }
            }),
        }
    };
    let line = |(&loc, it): (&u32, &ShadowLine)| ToldLine {
        at: At::of(&kernel.source_locs[loc as usize]),
        results: it.results,
        moved: it.moved,
        worst_ulps: it.worst.and_then(|worst| finite(worst.ulps)),
        not_finite: it.worst.is_some_and(|worst| !worst.ulps.is_finite()),
        cancellations: it.cancellations,
        cancelled_bits: it.cancelled_bits,
        decisions: it.decisions,
        reversed: it.reversed,
        not_followed: it.not_followed,
    };
    let written = |&argument: &usize| !report.buffers[argument].is_empty();
    ToldShadow {
        breadth: match report.breadth {
            Breadth::Double => "f64",
            Breadth::Long => "long",
        },
        buffers: (0..report.buffers.len()).filter(written).map(buffer).collect(),
        lines: report.lines.iter().map(line).collect(),
    }
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

pub(crate) fn write_shadow(out: &mut impl Write, shadow: &ToldShadow<'_>) -> Result<(), Failure> {
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
    let mut lines: Vec<&ToldLine<'_>> = shadow.lines.iter().filter(|line| line.speaks()).collect();
    lines.sort_by(|a, b| b.rank().total_cmp(&a.rank()));
    for line in lines.iter().take(SHOWN) {
        writeln!(out, "  {}", line.at.text())?;
        writeln!(out, "    {}", line.says().join("; "))?;
    }
    if lines.len() > SHOWN {
        writeln!(out, "  and {} instructions more (--format json has all)", lines.len() - SHOWN)?;
    }
    Ok(())
}

fn write_expected(out: &mut impl Write, parameter: &str, expected: &ToldAgainst) -> Result<(), Failure> {
    let ToldAgainst { differing, rounding, further, first_further } = expected;
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

impl ToldLine<'_> {
    fn speaks(&self) -> bool {
        self.moved > 0 || self.reversed > 0 || self.not_followed > 0
    }
    /// What may have changed results first, then how far values moved.
    fn rank(&self) -> f64 {
        match (self.not_finite, self.worst_ulps) {
            (true, _) => f64::INFINITY,
            _ if self.reversed > 0 => f64::MAX,
            (false, ulps) => ulps.unwrap_or(0.0),
        }
    }
    fn says(&self) -> Vec<String> {
        let mut says = Vec::new();
        if self.moved > 0 {
            let worst = ulps(self.worst_ulps.filter(|_| !self.not_finite));
            says.push(format!("{} of {} results moved, up to {worst}", self.moved, self.results));
        }
        if self.cancellations > 0 {
            let (times, bits) = (self.cancellations, self.cancelled_bits);
            says.push(format!("{times} of them where up to {bits} leading bits cancel"));
        }
        if self.reversed > 0 {
            says.push(format!("{} of {} decisions come out otherwise without rounding", self.reversed, self.decisions));
        }
        if self.not_followed > 0 {
            says.push(format!(
                "{} values are not followed through it: what it makes of them counts as exact",
                self.not_followed
            ));
        }
        says
    }
}

/// Both, where they were asked for.
pub(crate) fn write(
    out: &mut impl Write,
    exceptions: Option<&[ToldException<'_>]>,
    shadow: Option<&ToldShadow<'_>>,
) -> Result<(), Failure> {
    exceptions.map_or(Ok(()), |all| write_exceptions(out, all))?;
    shadow.map_or(Ok(()), |shadow| write_shadow(out, shadow))
}

/// What the report has of each, where it was asked for.
pub(crate) fn told<'a>(
    report: &Report,
    kernel: &'a Kernel,
    asked: bool,
    expected: &[(usize, Vec<u8>)],
) -> (Option<Vec<ToldException<'a>>>, Option<ToldShadow<'a>>) {
    let all = asked.then(|| exceptions(&report.exceptions, kernel));
    (all, report.shadow.as_ref().map(|it| shadow(it, kernel, expected)))
}
