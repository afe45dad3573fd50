//! The public interface: a launch, its options, its report.
//!
//! The top floor: it lays out memory (`arguments`), and gives batches of thread blocks to workers (`workers`), each of
//! which has an [interpreter](crate::interp).

mod api;
mod arguments;
mod shadow;
mod workers;

pub use api::{Arg, Contract, Difference, Engine, Launch, Options, Report, RunError};
pub use shadow::{Against, ROUNDING_FACTOR, SPREAD, ShadowReport};

use crate::interp::{Digests, Exceptions, FaultKind};
use crate::kernel::{Buffer, DecodedKernel};
use crate::native;
use arguments::{GlobalMemory, Sizes};
use roundonce_ir::{Guard, Kernel, Op, Program, contract, scalarize};

impl Launch<'_> {
    /// Runs the kernel over the grid.
    ///
    /// # Errors
    /// The first fault, that of the lowest block. No buffer is returned then.
    pub fn run(self) -> Result<Report, RunError> {
        let program = self.program;
        program.verify().map_err(|invalid| RunError {
            kind: FaultKind::Invalid,
            message: invalid.message,
            kernel: invalid.kernel,
            line: invalid.line,
            is_address: false,
            instruction: String::new(),
            thread: None,
        })?;
        let Some(kernel) = program.kernel(self.entry) else {
            let names: Vec<&str> = program.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
            let message = match self.entry {
                Some(name) => format!("there is no kernel `{name}`; there are: {}", names.join(", ")),
                None if names.is_empty() => "there is no kernel".to_owned(),
                None => format!("which kernel? there are: {}", names.join(", ")),
            };
            return Err(RunError::usage(self.entry.unwrap_or_default(), message));
        };
        let Launch { grid, block, args, dynamic_shared, options, .. } = self;
        arguments::check_count(kernel, args.len())?;
        let own = arguments::SharedArguments::of(kernel, &args)?;
        let sizes = Sizes { grid, block, dynamic_shared: dynamic_shared.saturating_add(own.bytes) };
        sizes.check(kernel)?;
        if options.contract == Contract::None {
            return run_kernel(program, kernel, &sizes, args, &options);
        }
        let mut fused_kernel = kernel.clone();
        let locs = contract(&mut fused_kernel);
        let lines: Vec<u32> = locs.iter().map(|&loc| kernel.source_locs[loc as usize].line).collect();
        let mut report = if options.contract == Contract::Fuse {
            run_kernel(program, &fused_kernel, &sizes, args, &options)?
        } else {
            let unfused = run_kernel(program, kernel, &sizes, args.clone(), &options)?;
            let fused = run_kernel(program, &fused_kernel, &sizes, args, &options)?;
            let differences = compare(&unfused, &fused);
            Report { differences, ..unfused }
        };
        report.fused = lines;
        Ok(report)
    }
}

/// Where two runs' buffers differ.
fn compare(unfused: &Report, fused: &Report) -> Vec<Difference> {
    let pairs = unfused.buffers.iter().zip(&fused.buffers).enumerate();
    let difference = |(arg, (a, b)): (usize, (&Option<Buffer>, &Option<Buffer>))| {
        let (a, b) = (a.as_ref()?.words(), b.as_ref()?.words());
        let mut differing = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
        let (first, (&unfused, &fused)) = differing.next()?;
        Some(Difference { arg, words: 1 + differing.count(), first, unfused, fused })
    };
    pairs.filter_map(difference).collect()
}

/// Runs one kernel, as it stands.
fn run_kernel(
    program: &Program,
    kernel: &Kernel,
    sizes: &Sizes,
    args: Vec<Arg>,
    options: &Options,
) -> Result<Report, RunError> {
    let kernel = &*scalarize(kernel);
    let compiles = |op: &Op, guard: Option<Guard>| native::is_supported(op, guard.is_some());
    let code = DecodedKernel::new(program, kernel, options.profile, compiles);
    let blocks = sizes.grid.iter().fold(1usize, |all, &axis| all.saturating_mul(axis as usize));
    // More than there are blocks, or than the pool runs at a time, would only wait. To ask the pool starts it.
    let wanted = options.threads.min(blocks);
    let workers = if wanted <= 1 || options.observed().any() || code.blocks_communicate() {
        1
    } else {
        wanted.min(4 * rayon::current_num_threads())
    };
    let register_limit = arguments::check_memory(program, kernel, sizes, &args, options, workers)?;
    let count = args.len();
    let (mut memory, config) = GlobalMemory::lay_out(program, kernel, sizes, args, options, register_limit)?;
    let stats = if workers == 1 {
        workers::run_serial(&code, &config, &mut memory)?
    } else {
        workers::run_parallel(&code, &config, &mut memory, workers)?
    };
    let mut report = Report::default();
    if let Some(observers) = stats.observers {
        report.exceptions = observers.exceptions.map(Exceptions::into_list).unwrap_or_default();
        report.digests = observers.digests.map(Digests::into_list).unwrap_or_default();
        report.shadow = observers.shadow.map(|shadow| {
            let buffers = memory.elements(count, shadow.global());
            ShadowReport { breadth: shadow.breadth(), lines: shadow.into_lines(), buffers }
        });
    }
    report.buffers = memory.into_buffers(count);
    report.approximations = stats.approximations;
    report.steps = stats.steps;
    report.native_steps = stats.native_steps;
    report.trace = stats.trace;
    report.printed = stats.printed.into_iter().map(|(_, text)| text).collect();
    for (loc, times) in stats.locs {
        *report.lines.entry(kernel.source_locs[loc as usize].line).or_default() += times;
    }
    Ok(report)
}
