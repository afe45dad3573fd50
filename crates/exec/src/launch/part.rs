//! A launch in parts: some of its blocks each, on copies of its memory, and what they accessed.
//!
//! Parts give the bits of one run where no block depends on another. What a kernel's code says of that is asked before
//! anything runs; the rest only a run can show: a byte that one part writes and another one writes or reads.

use super::accesses::Accesses;
use super::api::{Contract, Launch, Report, RunError};
use super::arguments::{self, GlobalMemory};
use super::marks::{self, Marking};
use super::{Sizes, decoded, execute, fused, report, workers};
use crate::interp::FaultKind;
use crate::kernel::{DecodedKernel, LANES};
use roundonce_ir::{Op, Special, runnable};
use std::borrow::Cow;
use std::ops::Range;

/// Some of a launch's blocks, after their run.
#[derive(Clone, Debug)]
pub struct Part {
    /// What they left, in buffers that are otherwise as they were; or the first fault, that of the lowest block.
    pub outcome: Result<Report, RunError>,
    /// What they accessed, until a fault where there was one: of each argument in memory and each variable.
    pub accesses: Vec<Accesses>,
}

impl Launch<'_> {
    /// So many ranges of blocks that together are the grid, or fewer where it has not as many blocks. They begin where one
    /// thread begins a batch of blocks, if there are enough.
    ///
    /// # Errors
    /// Where the launch cannot be run in parts: see [`run_part`](Launch::run_part). The arguments are not looked at.
    pub fn parts(&self, count: u64) -> Result<Vec<Range<u64>>, RunError> {
        let kernel = self.kernel()?;
        let sizes = Sizes { grid: self.grid, block: self.block, dynamic_shared: self.dynamic_shared };
        sizes.check(kernel)?;
        self.check_options(&kernel.name)?;
        check(&decoded(self.program, &runnable(kernel), &self.options))?;
        let all: u64 = self.grid.iter().map(|&axis| u64::from(axis)).product();
        let threads: u64 = self.block.iter().map(|&axis| u64::from(axis)).product();
        let count = count.clamp(1, all);
        let batch = LANES as u64 / threads;
        let unit = if all.div_ceil(batch) >= count { batch } else { 1 };
        let units = all.div_ceil(unit);
        let cut = |part: u64| ((u128::from(units) * u128::from(part) / u128::from(count)) as u64 * unit).min(all);
        Ok((0..count).map(|part| cut(part)..cut(part + 1)).collect())
    }

    fn check_options(&self, kernel: &str) -> Result<(), RunError> {
        let observed = self.options.observed().any() || self.options.contract == Contract::Report;
        let message = "what observes a whole launch, or runs it twice, does not go with a launch in parts";
        if observed { Err(RunError::usage(kernel, message.to_owned())) } else { Ok(()) }
    }

    /// Runs some of the launch's blocks as one of several parts, and finds out, to the byte, what they access. Where no two
    /// parts of a launch [conflict](super::conflict), the bytes that they wrote, put together, are what one run of all blocks
    /// leaves. The marks of what is written take as much memory as the buffers, at most, and so do those of what is read;
    /// both count for the [limit](super::Options::memory_limit).
    ///
    /// # Errors
    /// Where a launch of all blocks fails before it runs, and, of [`FaultKind::Dependence`], where the kernel's blocks may
    /// communicate (atomics on global memory, fences, loops that wait for another block), print, read a clock, or write
    /// an image. Faults of the kernel are in the part's outcome.
    ///
    /// ```
    /// use roundonce_exec::{Arg, Buffer, Launch, Options, conflict};
    /// use roundonce_ir::*;
    /// // out[ctaid.x] = ctaid.x
    /// let mut kernel = Kernel::new("numbers");
    /// kernel.params.push(Param { name: "out".into(), offset: 0, size: 8, scalar: None, passing: Passing::Buffer });
    /// kernel.param_bytes = 8;
    /// let (out, address) = (kernel.register(Width::B64), kernel.register(Width::B64));
    /// let number = kernel.register(Width::B32);
    /// let load = Op::Load {
    ///     d: vec![Some(out)], space: Space::Param, bytes: 8, signed: false, address: Operand::ZERO, offset: 0,
    /// };
    /// let ctaid = Op::Special { d: number, special: Special::Ctaid(0) };
    /// let args = [number.into(), Operand::Imm(4), out.into(), Operand::ZERO];
    /// let place = Op::Int { d: address, op: IntOp::MulAddWide(Signedness::Unsigned), width: Width::B32, args };
    /// let store = Op::Store {
    ///     values: vec![number.into()], width: Width::B32, space: Space::Global, bytes: 4,
    ///     address: address.into(), offset: 0,
    /// };
    /// let instructions = [load, ctaid, place, store].map(|op| Instruction::new(op, 0)).to_vec();
    /// kernel.blocks.push(Block { instructions, terminator: Terminator::Exit, loc: 0 });
    /// let launch = Launch {
    ///     program: &Program::of(kernel),
    ///     entry: None,
    ///     grid: [5, 1, 1],
    ///     block: [1, 1, 1],
    ///     args: vec![Arg::Buffer(Buffer::zeros(20))],
    ///     dynamic_shared: 0,
    ///     options: Options::default(),
    /// };
    /// let mut out = vec![0; 20];
    /// let mut accesses = Vec::new();
    /// for blocks in launch.parts(2).unwrap() {
    ///     let part = launch.clone().run_part(blocks.clone()).unwrap();
    ///     let buffer = part.outcome.unwrap().buffers[0].take().unwrap();
    ///     let written = &part.accesses[0].written;
    ///     written.copy(&buffer.to_bytes()[written.range().start as usize..], &mut out);
    ///     accesses.push((blocks, part.accesses));
    /// }
    /// assert_eq!(conflict(&accesses), None);
    /// assert_eq!(out, launch.run().unwrap().buffers[0].as_ref().unwrap().to_bytes());
    /// ```
    pub fn run_part(mut self, blocks: Range<u64>) -> Result<Part, RunError> {
        let (program, kernel) = (self.program, self.kernel()?);
        let sizes = self.sizes(kernel)?;
        self.check_options(&kernel.name)?;
        self.options.blocks = Some(blocks);
        let (kernel, lines) = match self.options.contract {
            Contract::Fuse => {
                let (kernel, lines) = fused(kernel);
                (Cow::Owned(kernel), lines)
            }
            _ => (Cow::Borrowed(kernel), Vec::new()),
        };
        let kernel = runnable(&kernel);
        check(&decoded(program, &kernel, &self.options))?;
        let Marking { kernel, marks_reads } =
            Marking::of(&kernel, program.address_bits, &arguments::are_memory(&self.args));
        // A mark is an address and a store beside an access.
        self.options.step_limit = self.options.step_limit.saturating_mul(3);
        let code = decoded(program, &kernel, &self.options);
        let workers = workers(&code, &sizes, &self.options);
        let (args, options) = (self.args, &self.options);
        let count = args.len();
        let copies = 2 + u64::from(marks_reads);
        let limit = arguments::check_memory(program, &kernel, &sizes, &args, options, (workers.0, copies))?;
        let (mut memory, mut config) = GlobalMemory::lay_out(program, &kernel, &sizes, args, options, limit)?;
        config.stops_at_faults = true;
        memory.mark(&kernel, &sizes, (marks::distance(program.address_bits), marks_reads))?;
        let stats = execute(&code, &config, &mut memory, workers);
        let accesses = memory.accesses();
        if let Some(image) = config.images.iter().find(|image| !accesses[image.segment].written.is_empty()) {
            return Err(dependence(&code, &memory.layout.segments[image.segment].refused_store(), None));
        }
        let outcome = stats.map(|stats| Report { fused: lines, ..report(&kernel, stats, memory, count) });
        Ok(Part { outcome, accesses })
    }
}

/// That nothing in a kernel lets a block see another one, or what ran before it, but loads and stores.
fn check(code: &DecodedKernel<'_>) -> Result<(), RunError> {
    let found = code.communication().or_else(|| {
        code.insts().find_map(|inst| match inst.op {
            Op::Print { .. } => Some(("what blocks print has an order", inst.loc)),
            Op::Special { special: Special::Clock, .. } => Some(("a clock tells what ran before", inst.loc)),
            Op::ImageStore { .. } => Some(("it writes an image, whose texels no part tells of", inst.loc)),
            _ => None,
        })
    });
    match found {
        None => Ok(()),
        Some((what, loc)) => Err(dependence(code, &format!("{what}: such a launch is not run in parts"), Some(loc))),
    }
}

fn dependence(code: &DecodedKernel<'_>, message: &str, loc: Option<u32>) -> RunError {
    let mut error = RunError::usage(&code.kernel.name, message.to_owned());
    error.kind = FaultKind::Dependence;
    error.is_address = code.kernel.addresses;
    if let Some(place) = loc.and_then(|loc| code.kernel.source_locs.get(loc as usize)) {
        (error.line, error.instruction) = (place.line, place.text.clone());
    }
    error
}
