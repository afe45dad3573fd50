//! What a kernel's run tells besides its buffers.

use std::collections::BTreeMap;

use roundonce_exec::Report;
use roundonce_ir::Kernel;
use roundonce_isa::hex_bits;
use roundonce_why_kernel::{Doubts, assumed};
use serde::Serialize;

use crate::observed::{ExceptionText, ShadowText, exceptions, shadow};

/// What a run tells.
#[derive(Clone, Debug, Serialize)]
pub struct RunAnswer<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// Instructions of all groups.
    pub steps: u64,
    /// What it printed.
    pub printed: &'a str,
    /// What a GPU need not give alike.
    #[serde(flatten)]
    pub doubts: Doubts,
    /// What the module leaves open of the bits, and what was assumed.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub undetermined: &'a [String],
    /// Lines of the sums that were fused.
    pub fused_lines: &'a [u32],
    /// Buffers that fusing changes, where both were run.
    pub differences: Vec<DifferingBuffer<'a>>,
    /// How often each line ran, where that was asked.
    pub lines: &'a BTreeMap<u32, u64>,
    /// The instructions of one thread.
    pub trace: Vec<TracedStep<'a>>,
    /// Exceptional results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exceptions: Option<Vec<ExceptionText<'a>>>,
    /// How far rounding has moved the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<ShadowText<'a>>,
}

/// A buffer that fusing changes.
#[derive(Clone, Debug, Serialize)]
pub struct DifferingBuffer<'a> {
    /// Its parameter.
    pub parameter: &'a str,
    /// How many words differ.
    pub words: usize,
    /// The first that does.
    pub first: usize,
    /// It, unfused.
    pub unfused: String,
    /// It, fused.
    pub fused: String,
}

/// An instruction of a traced thread.
#[derive(Clone, Debug, Serialize)]
pub struct TracedStep<'a> {
    /// Its line.
    pub line: u32,
    /// As it stands there.
    pub instruction: &'a str,
    /// Its operands' bits.
    pub operands: Vec<String>,
    /// Its results' bits.
    pub results: Vec<String>,
}

impl<'a> RunAnswer<'a> {
    /// Of a run: `undetermined` as [`Ready`](crate::kernel::Ready) has it, `expected` what some arguments should hold.
    pub fn of(
        report: &'a Report,
        kernel: &'a Kernel,
        undetermined: &'a [String],
        counts_exceptions: bool,
        expected: &[(usize, Vec<u8>)],
    ) -> RunAnswer<'a> {
        let bits = |values: &[(u64, u32)]| values.iter().map(|&(bits, width)| hex_bits(width, bits)).collect();
        let difference = |it: &roundonce_exec::Difference| DifferingBuffer {
            parameter: &kernel.params[it.arg].name,
            words: it.words,
            first: it.first,
            unfused: hex_bits(32, u64::from(it.unfused)),
            fused: hex_bits(32, u64::from(it.fused)),
        };
        let traced = report.trace.iter().filter(|step| step.is_written()).map(|step| TracedStep {
            line: step.line,
            instruction: &step.text,
            operands: bits(&step.operands),
            results: bits(&step.results),
        });
        RunAnswer {
            kernel: &kernel.name,
            steps: report.steps,
            printed: &report.printed,
            doubts: Doubts::of(report, kernel),
            undetermined,
            fused_lines: &report.fused,
            differences: report.differences.iter().map(difference).collect(),
            lines: &report.lines,
            trace: traced.collect(),
            exceptions: counts_exceptions.then(|| exceptions(&report.exceptions, kernel)),
            shadow: report.shadow.as_ref().map(|it| shadow(it, kernel, expected)),
        }
    }

    /// What is assumed, what is not exact, and what is not determined.
    pub fn notes(&self) -> Vec<String> {
        assumed(self.undetermined).into_iter().chain(self.doubts.notes()).collect()
    }
}
