//! A program as a module of another language.
//!
//! A front end has lowered the module to a [`Program`]; a writer here ([`ptx`], [`spirv`]) turns the program into text that
//! its own front end reads back to a program with the same bits. What has no counterpart is a finding at its place in the
//! source.

mod comments;
mod open;
pub mod ptx;
pub mod spirv;

use roundonce_ir::{Instruction, Kernel, Op, Program};
use roundonce_isa::{Finding, Location, Severity, SmTarget, Version};
use roundonce_spirv::Environment;

use crate::rules::NO_COUNTERPART;
pub use comments::Comments;
pub use open::{decide_contraction, nan_results};

/// What a translation is given beside the program.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// Codes of losses that are accepted: a finding with one of them becomes a warning of the [`Translation`].
    pub allow: &'a [String],
    /// The source's comments, which the output repeats beside the instructions that they stood at.
    pub comments: Comments,
    /// What the source is called in the output's line information; empty for none.
    pub file: &'a str,
    /// Whether sums take products as an assembler fuses, where the source leaves that open ([`decide_contraction`]).
    pub contract: bool,
    /// Of SPIR-V: whom the module is for, one of OpenCL's environments or none; OpenCL 2.2 where nothing is said.
    pub environment: Option<Environment>,
    /// Of SPIR-V: a fused multiply-add is OpFmaKHR of SPV_KHR_fma, and not OpenCL.std's `fma`, which every consumer knows.
    pub fma_khr: bool,
    /// The machine that the source is for, where it says one.
    pub source_target: Option<SmTarget>,
    /// Of PTX: the target; where none is asked for `sm_80`, or the source's own where that is older, or the first after it
    /// that has everything.
    pub target: Option<SmTarget>,
    /// Of PTX: its version, the lowest that has everything and the target where none is asked for.
    pub version: Option<Version>,
}

impl Options<'_> {
    /// A loss, as a warning where it was accepted.
    ///
    /// # Errors
    /// The finding, which says how it is accepted, where it was not.
    pub fn accept(&self, loss: Finding) -> Result<Finding, Finding> {
        if self.allow.iter().any(|allowed| allowed == loss.code) {
            return Ok(Finding { severity: Severity::Warning, ..loss });
        }
        let help = format!("`--allow {}` accepts it", loss.code);
        Err(loss.help(help))
    }
    /// Whom SPIR-V is for.
    pub(crate) fn environment(&self) -> Environment {
        self.environment.unwrap_or(Environment::OPENCL)
    }
}

/// A program in another language.
#[derive(Clone, PartialEq, Debug)]
pub struct Translation {
    /// The module.
    pub text: String,
    /// Of each kernel, in the program's order: what a launch gives for each parameter of the translated kernel.
    pub arguments: Vec<Vec<Argument>>,
    /// The losses that were accepted, as warnings, and what was decided, as notes.
    pub losses: Vec<Finding>,
    /// Of each kernel, in the program's order: what documents leave open of its bits, so that they need not be the source's.
    pub open: Vec<Vec<Finding>>,
}

/// What a launch gives for a parameter of a translated kernel. Indices are of [`Kernel::params`] of the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Argument {
    /// What it gives for a parameter of the source.
    Param(usize),
    /// How many bytes the buffer has that it gives for a parameter of the source.
    BufferBytes(usize),
    /// Where, in the shared memory that the launch gives beyond what the kernel declares, the piece begins that it gives for
    /// a parameter of the source. The pieces stand one behind the other in the order of the parameters, each rounded up
    /// to a multiple of 128 bytes, and before anything else that the launch gives; one of no bytes stands behind them.
    SharedOffset(usize),
    /// Memory shared by a block, of as many bytes as the launch gives beyond those that the source declares.
    DynamicShared,
    /// All memory shared by a block, of as many bytes as the source declares and the launch gives beyond them.
    AllShared,
}

/// Where a finding about a place of the kernel is.
fn location(kernel: &Kernel, loc: u32) -> Location {
    match kernel.source_locs.get(loc as usize) {
        Some(place) if !place.span.is_empty() => Location::Span { start: place.span.start, end: place.span.end },
        Some(place) if place.line > 0 && !kernel.addresses => Location::Word(place.line as usize),
        _ => Location::Whole,
    }
}

/// The opcode and the modifiers of the instruction at a place, as the source writes it; empty where it has no text.
fn written_opcode(kernel: &Kernel, loc: u32) -> &str {
    let text = kernel.source_locs.get(loc as usize).map_or("", |place| place.text.as_str());
    let word = text.split_ascii_whitespace().find(|word| !word.starts_with('@'));
    word.unwrap_or_default().trim_end_matches(';')
}

/// Whether the threads of a warp may come to a barrier apart (PTX `barrier` without `.aligned`).
fn is_unaligned_barrier(kernel: &Kernel, loc: u32) -> bool {
    let opcode = written_opcode(kernel, loc);
    opcode.starts_with("barrier.") && !opcode.contains(".aligned")
}

/// What a fence is about beyond the order of memory: other grids (PTX `griddepcontrol`), or another way to the same memory
/// (`fence.proxy`).
fn fence_beyond_order(kernel: &Kernel, loc: u32) -> Option<&str> {
    let opcode = written_opcode(kernel, loc);
    (opcode.starts_with("griddepcontrol") || opcode.contains(".proxy.")).then_some(opcode)
}

/// Questions about where an address is: in which space (PTX `isspacep`), in which block of a cluster (`mapa`, `getctarank`). The
/// program has them as arithmetic on the engine's own windows, and machines have theirs elsewhere.
fn questions_of_place(kernel: &Kernel) -> Vec<Finding> {
    let question = |at: &Instruction| match written_opcode(kernel, at.loc).split('.').next() {
        Some("isspacep") if matches!(at.op, Op::Compare { .. }) => Some("the space of an address"),
        Some("mapa" | "getctarank") => Some("the place of an address in a cluster"),
        _ => None,
    };
    let instructions = kernel.blocks.iter().flat_map(|block| &block.instructions);
    let asked = instructions.filter_map(|at| Some((at.loc, question(at)?)));
    let mut asked: Vec<_> = asked.collect();
    // One instruction may be several operations.
    asked.dedup();
    let refused = |(loc, what): (u32, &str)| {
        NO_COUNTERPART.finding(location(kernel, loc), format!("a question about {what} is not translated"))
    };
    asked.into_iter().map(refused).collect()
}

/// Writes a program in a language.
pub type Writer = fn(&Program, &Options<'_>) -> Result<Translation, Vec<Finding>>;
