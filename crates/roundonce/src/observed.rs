//! What a run was asked besides its results, with the instructions' places: exceptional results, how far rounding has moved
//! them.

use roundonce_arith::Format;
use roundonce_exec::{Breadth, Exception, SPREAD, ShadowElement, ShadowLine, ShadowReport};
use roundonce_ir::{Kernel, SourceLoc, place_name};
use roundonce_isa::{hex_bits, shortest_decimal};
use serde::Serialize;

/// An instruction of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionPlace<'a> {
    /// Its line.
    pub line: u32,
    /// The line of the source that it was compiled from, where the module says so.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub source: &'a str,
    /// As it stands there.
    pub instruction: String,
    /// Whether the line is an address, of machine code.
    #[serde(skip)]
    pub is_address: bool,
}

impl<'a> InstructionPlace<'a> {
    fn of(kernel: &Kernel, place: &'a SourceLoc) -> InstructionPlace<'a> {
        let instruction = place.text.split_whitespace().collect::<Vec<_>>().join(" ");
        InstructionPlace { line: place.line, source: &place.source, instruction, is_address: kernel.addresses }
    }
    /// For a reader.
    pub fn text(&self) -> String {
        let source = if self.source.is_empty() { String::new() } else { format!(" ({})", self.source) };
        format!("{}{source}  {}", place_name(self.is_address, self.line), self.instruction)
    }
}

/// Results of one kind of one instruction.
#[derive(Clone, Debug, Serialize)]
pub struct ExceptionText<'a> {
    /// The instruction.
    #[serde(flatten)]
    pub at: InstructionPlace<'a>,
    /// `NaN`, `infinity`, `subnormal` or `inexact`.
    pub kind: &'static str,
    /// How many results are so.
    pub count: u64,
    /// How many of them have no such operand.
    pub arising: u64,
    /// How many results the instruction had.
    pub results: u64,
    /// The block of the first.
    pub block: [u32; 3],
    /// Its thread.
    pub thread: [u32; 3],
    /// Its operands' bits.
    pub operands: Vec<String>,
    /// Its bits.
    pub result: String,
}

/// What was counted of a kernel's results, the first to occur first.
pub fn exceptions<'a>(all: &[Exception], kernel: &'a Kernel) -> Vec<ExceptionText<'a>> {
    let text = |it: &Exception| ExceptionText {
        at: InstructionPlace::of(kernel, &kernel.source_locs[it.loc as usize]),
        kind: it.kind.name(),
        count: it.count,
        arising: it.arising,
        results: it.results,
        block: it.thread.0,
        thread: it.thread.1,
        operands: it.operands.iter().map(|&(bits, width)| hex_bits(width, bits)).collect(),
        result: hex_bits(it.result.1, it.result.0),
    };
    all.iter().map(text).collect()
}

/// How far rounding has moved a kernel's results.
#[derive(Clone, Debug, Serialize)]
pub struct ShadowText<'a> {
    /// `f64` or `long`.
    pub breadth: &'static str,
    /// The buffers that floats were written to.
    pub buffers: Vec<BufferShadow<'a>>,
    /// By instruction.
    pub lines: Vec<LineShadow<'a>>,
}

/// The floats of a buffer.
#[derive(Clone, Debug, Serialize)]
pub struct BufferShadow<'a> {
    /// The parameter's name.
    pub parameter: &'a str,
    /// How many floats the kernel wrote.
    pub floats: usize,
    /// The upper end of each class in ulps, and how many floats are in it; no end for those beyond all.
    pub moved: Vec<(Option<f64>, u64)>,
    /// The one that was moved most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub furthest: Option<ElementShadow>,
    /// What the buffer should hold, and whether rounding explains the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<AgainstExpected>,
}

/// A float and the wider one beside it.
#[derive(Clone, Debug, Serialize)]
pub struct ElementShadow {
    /// Its place in the buffer, in elements.
    pub index: u64,
    /// Its bits; of what is expected, those.
    pub bits: String,
    /// The same as a number.
    pub value: String,
    /// The wider number.
    pub wide: String,
    /// How far apart they are; `null` where one of the two is no finite number.
    pub ulps: Option<f64>,
}

/// A buffer against what it should hold.
#[derive(Clone, Debug, Serialize)]
pub struct AgainstExpected {
    /// How many floats differ.
    pub differing: u64,
    /// How many of them as rounding would.
    pub rounding: u64,
    /// How many by more.
    pub further: u64,
    /// The first of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_further: Option<ElementShadow>,
}

/// The results of an instruction.
#[derive(Clone, Debug, Serialize)]
pub struct LineShadow<'a> {
    /// The instruction.
    #[serde(flatten)]
    pub at: InstructionPlace<'a>,
    /// How many results it had.
    pub results: u64,
    /// How many of them rounding has moved.
    pub moved: u64,
    /// How far at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_ulps: Option<f64>,
    /// Whether one is moved to or from what is no finite number.
    pub not_finite: bool,
    /// Sums whose terms cancel so that the distance in ulps grows fourfold or more.
    pub cancellations: u64,
    /// How many bits at most.
    pub cancelled_bits: u32,
    /// Comparisons.
    pub decisions: u64,
    /// How many of them come out otherwise without rounding.
    pub reversed: u64,
    /// Values that are not followed through it: what it makes of them counts as exact.
    pub not_followed: u64,
}

/// A number of ulps, as far as a person or JSON can use it.
fn finite(ulps: f64) -> Option<f64> {
    ulps.is_finite().then_some(ulps)
}

fn element(element: &ShadowElement, bits: u64, ulps: f64) -> ElementShadow {
    let format = element.format;
    ElementShadow {
        index: element.offset * 8 / u64::from(format.width()),
        bits: hex_bits(format.width(), bits),
        value: shortest_decimal(format, bits),
        wide: shortest_decimal(Format::F64, element.wide.to_bits()),
        ulps: finite(ulps),
    }
}

/// How far rounding has moved a kernel's results. `expected` has what some arguments, by their places, should hold.
pub fn shadow<'a>(report: &ShadowReport, kernel: &'a Kernel, expected: &[(usize, Vec<u8>)]) -> ShadowText<'a> {
    let buffer = |argument: usize| {
        let ends = SPREAD.iter().copied().map(|end| Some(end).filter(|&end| end != f64::MAX));
        let reference = expected.iter().find(|(place, _)| *place == argument);
        BufferShadow {
            parameter: &kernel.params[argument].name,
            floats: report.buffers[argument].len(),
            moved: ends.chain([None]).zip(report.spread(argument)).collect(),
            furthest: report.furthest(argument).filter(|it| it.ulps > 0.0).map(|it| element(it, it.bits, it.ulps)),
            expected: reference.map(|(_, bytes)| {
                let against = report.against(argument, bytes);
                AgainstExpected {
                    differing: against.differing,
                    rounding: against.rounding,
                    further: against.further,
                    first_further: against.first_further.map(|(it, bits, ulps)| element(&it, bits, ulps)),
                }
            }),
        }
    };
    let line = |(&loc, it): (&u32, &ShadowLine)| LineShadow {
        at: InstructionPlace::of(kernel, &kernel.source_locs[loc as usize]),
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
    ShadowText {
        breadth: match report.breadth {
            Breadth::Double => "f64",
            Breadth::Long => "long",
        },
        buffers: (0..report.buffers.len()).filter(written).map(buffer).collect(),
        lines: report.lines.iter().map(line).collect(),
    }
}
