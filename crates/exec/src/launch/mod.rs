//! The public interface: a launch, its options, its report.
//!
//! The top floor: it lays out memory (`arguments`), and gives batches of thread blocks to workers (`workers`), each of
//! which has an [interpreter](crate::interp). `part` runs some of the blocks and says what they accessed (`marks`, `bytes`,
//! `accesses`); `footprint` guesses that before they run.

mod accesses;
mod api;
mod arguments;
mod bytes;
mod footprint;
mod marks;
mod part;
mod pool;
mod shadow;
mod workers;

pub use accesses::{Accesses, Conflict, conflict};
pub use api::{Arg, Contract, Difference, Engine, Launch, Options, Report, RunError};
pub use bytes::Bytes;
pub use part::Part;
pub use pool::Threads;
pub use shadow::{Against, ROUNDING_FACTOR, SPREAD, ShadowReport};

use crate::interp::{Digests, Exceptions, FaultKind, Stats};
use crate::kernel::{Buffer, DecodedKernel, LaunchConfig};
use crate::native;
use arguments::{GlobalMemory, Sizes};
use rayon::ThreadPool;
use roundonce_ir::{Guard, Kernel, Op, Program, contract, runnable};

impl Launch<'_> {
    /// Runs the kernel over the grid.
    ///
    /// # Errors
    /// The first fault, that of the lowest block. No buffer is returned then.
    pub fn run(self) -> Result<Report, RunError> {
        let (program, kernel) = (self.program, self.kernel()?);
        let sizes = self.sizes(kernel)?;
        let Launch { args, options, .. } = self;
        if options.contract == Contract::None {
            return run_kernel(program, kernel, &sizes, args, &options);
        }
        let (fused_kernel, lines) = fused(kernel);
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

impl<'a> Launch<'a> {
    /// The kernel that is meant, of a program that is one.
    fn kernel(&self) -> Result<&'a Kernel, RunError> {
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
        program.kernel(self.entry).ok_or_else(|| {
            let names: Vec<&str> = program.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
            let message = match self.entry {
                Some(name) => format!("there is no kernel `{name}`; there are: {}", names.join(", ")),
                None if names.is_empty() => "there is no kernel".to_owned(),
                None => format!("which kernel? there are: {}", names.join(", ")),
            };
            RunError::usage(self.entry.unwrap_or_default(), message)
        })
    }

    /// The sizes of a launch of that kernel.
    fn sizes(&self, kernel: &Kernel) -> Result<Sizes, RunError> {
        arguments::check_count(kernel, self.args.len())?;
        let own = arguments::SharedArguments::of(kernel, &self.args)?;
        let dynamic_shared = self.dynamic_shared.saturating_add(own.bytes);
        let sizes = Sizes { grid: self.grid, block: self.block, dynamic_shared };
        sizes.check(kernel)?;
        let lanes = self.grid.iter().chain(&self.block).fold(1u64, |all, &axis| all.saturating_mul(axis.into()));
        if let Some(lane) = self.options.trace_lane.filter(|&lane| lane >= lanes) {
            let message = format!("there is no lane {lane} to trace: the launch has {lanes}, counted from 0");
            return Err(RunError::usage(&kernel.name, message));
        }
        Ok(sizes)
    }
}

/// The kernel with everything fused that may be, and the lines of these additions.
fn fused(kernel: &Kernel) -> (Kernel, Vec<u32>) {
    let mut fused = kernel.clone();
    let locs = contract(&mut fused);
    (fused, locs.iter().map(|&loc| kernel.source_locs[loc as usize].line).collect())
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
    let kernel = &*runnable(kernel);
    let code = decoded(program, kernel, options);
    let workers = workers(&code, sizes, options);
    let register_limit = arguments::check_memory(program, kernel, sizes, &args, options, (workers.0, 1))?;
    let count = args.len();
    let (mut memory, config) = GlobalMemory::lay_out(program, kernel, sizes, args, options, register_limit)?;
    let stats = execute(&code, &config, &mut memory, workers)?;
    Ok(report(kernel, stats, memory, count))
}

fn decoded<'p>(program: &'p Program, kernel: &'p Kernel, options: &Options) -> DecodedKernel<'p> {
    let compiles = |op: &Op, guard: Option<Guard>| native::is_supported(op, guard.is_some());
    DecodedKernel::new(program, kernel, options.profile, compiles)
}

/// The workers of all launches.
static THREADS: Threads = Threads::new();

/// The workers of a launch: how many, and the pool that runs them, if they are several.
type Workers = (usize, Option<&'static ThreadPool>);

/// How many workers a launch has. One needs no pool, and some machines have none.
fn workers(code: &DecodedKernel<'_>, sizes: &Sizes, options: &Options) -> Workers {
    let blocks = sizes.grid.iter().fold(1usize, |all, &axis| all.saturating_mul(axis as usize));
    let wanted = options.threads.min(blocks);
    if wanted <= 1 || options.observed().any() || code.communication().is_some() {
        return (1, None);
    }
    // More than there are blocks, or than the pool runs at a time, would only wait. To ask the pool starts it.
    THREADS.pool().map_or((1, None), |pool| (wanted.min(4 * pool.current_num_threads()), Some(pool)))
}

fn execute(
    code: &DecodedKernel<'_>,
    config: &LaunchConfig,
    memory: &mut GlobalMemory,
    (workers, pool): Workers,
) -> Result<Stats, RunError> {
    match pool {
        None => workers::run_serial(code, config, memory),
        Some(pool) => workers::run_parallel(code, config, memory, (pool, workers)),
    }
}

/// What a launch of so many arguments left.
fn report(kernel: &Kernel, stats: Stats, memory: GlobalMemory, count: usize) -> Report {
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
    // Place 0 is no instruction.
    for (loc, times) in stats.locs.into_iter().filter(|&(loc, _)| loc != 0) {
        *report.lines.entry(kernel.source_locs[loc as usize].line).or_default() += times;
    }
    report
}
