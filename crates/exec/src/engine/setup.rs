//! Before and after: arguments and memory laid out, groups given to workers, results gathered.

use super::Fault;
use super::code::{Code, Written};
use super::group::{Machine, Setup, Tally};
use super::lanes::{LANES, THREADS};
use crate::launch::{Arg, Contract, Difference, Engine, Launch, Options, Report, RunError, Trouble};
use crate::memory::{Buffer, Global, Layout, WINDOW, Words};
use crate::native::Shelf;
use roundonce_ir::{Kernel, Passing, Program, Variable, contract, scalarize};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};

/// CUDA's limits of a grid's axes.
const GRID_LIMIT: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];

/// Runs a launch; see [`Launch::run`].
pub(crate) fn run(launch: Launch<'_>) -> Result<Report, RunError> {
    let program = launch.program;
    program.verify().map_err(|invalid| RunError {
        trouble: Trouble::Invalid,
        message: invalid.message,
        kernel: invalid.kernel,
        line: invalid.line,
        instruction: String::new(),
        thread: None,
    })?;
    let Some(kernel) = program.kernel(launch.entry) else {
        let names: Vec<&str> = program.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let message = match launch.entry {
            Some(name) => format!("there is no kernel `{name}`; there are: {}", names.join(", ")),
            None if names.is_empty() => "there is no kernel".to_owned(),
            None => format!("which kernel? there are: {}", names.join(", ")),
        };
        return Err(usage(launch.entry.unwrap_or_default(), message));
    };
    let Launch { grid, block, args, dynamic_shared, options, .. } = launch;
    let sizes = Sizes { grid, block, dynamic_shared };
    sizes.check(kernel)?;
    if options.contract == Contract::None {
        return run_kernel(program, kernel, &sizes, args, &options);
    }
    let mut fused_kernel = kernel.clone();
    let places = contract(&mut fused_kernel);
    let lines: Vec<u32> = places.iter().map(|&place| kernel.source_locs[place as usize].line).collect();
    let mut report = if options.contract == Contract::Fuse {
        run_kernel(program, &fused_kernel, &sizes, args, &options)?
    } else {
        let plain = run_kernel(program, kernel, &sizes, args.clone(), &options)?;
        let fused = run_kernel(program, &fused_kernel, &sizes, args, &options)?;
        let differences = compare(&plain, &fused);
        Report { differences, ..plain }
    };
    report.fused = lines;
    Ok(report)
}

fn usage(kernel: &str, message: String) -> RunError {
    RunError {
        trouble: Trouble::Usage,
        message,
        kernel: kernel.to_owned(),
        line: 0,
        instruction: String::new(),
        thread: None,
    }
}

/// Where two runs' buffers differ.
fn compare(plain: &Report, fused: &Report) -> Vec<Difference> {
    let pairs = plain.buffers.iter().zip(&fused.buffers).enumerate();
    let difference = |(arg, (a, b)): (usize, (&Option<Buffer>, &Option<Buffer>))| {
        let (a, b) = (a.as_ref()?.words(), b.as_ref()?.words());
        let mut differing = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
        let (first, (&unfused, &fused)) = differing.next()?;
        Some(Difference { arg, words: 1 + differing.count(), first, unfused, fused })
    };
    pairs.filter_map(difference).collect()
}

struct Sizes {
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
}

impl Sizes {
    fn check(&self, kernel: &Kernel) -> Result<(), RunError> {
        let fail = |message: String| Err(usage(&kernel.name, message));
        let [x, y, z] = self.block;
        let threads = self.block.iter().fold(1u64, |all, &axis| all.saturating_mul(axis.into()));
        if threads == 0 || threads > THREADS as u64 {
            return fail(format!("a block of {x} × {y} × {z} threads: it must have 1 to {THREADS}"));
        }
        if let Some(most) = kernel.max_threads.filter(|&most| threads > u64::from(most)) {
            return fail(format!("a block of {threads} threads: the kernel allows {most}"));
        }
        if let Some(required) = kernel.required_block.filter(|required| *required != self.block) {
            let [a, b, c] = required;
            return fail(format!("a block of {x} × {y} × {z} threads: the kernel requires {a} × {b} × {c}"));
        }
        for (axis, (&size, limit)) in self.grid.iter().zip(GRID_LIMIT).enumerate() {
            if size == 0 || size > limit {
                return fail(format!("{size} blocks along axis {axis}: there must be 1 to {limit}"));
            }
        }
        Ok(())
    }
}

/// A kernel's memory: the words of each segment and where they are.
struct Memory {
    layout: Layout,
    words: Vec<Vec<u32>>,
    /// Which argument each segment is; variables are none.
    args: Vec<Option<usize>>,
    /// Whether each may be written by this kernel.
    written: Vec<bool>,
}

impl Memory {
    fn add(&mut self, name: &str, words: Vec<u32>, bytes: u64, align: u64, writable: bool) -> u64 {
        self.words.push(words);
        self.layout.add(name, bytes, align, writable)
    }
}

fn run_kernel(
    program: &Program,
    kernel: &Kernel,
    sizes: &Sizes,
    args: Vec<Arg>,
    options: &Options,
) -> Result<Report, RunError> {
    let kernel = &*scalarize(kernel);
    let code = Code::new(program, kernel, options.profile);
    let fail = |message: String| Err(usage(&kernel.name, message));
    if args.len() != kernel.params.len() {
        let names: Vec<&str> = kernel.params.iter().map(|param| param.name.as_str()).collect();
        let (wanted, given) = (names.len(), args.len());
        return fail(format!("the kernel takes {wanted} arguments ({}), {given} are given", names.join(", ")));
    }
    let workers = if code.blocks_communicate() { 1 } else { options.threads.max(1) };
    check_memory(program, kernel, sizes, &args, options, workers)?;

    let written = code.written_params();
    let mut memory = Memory { layout: Layout::default(), words: Vec::new(), args: Vec::new(), written: Vec::new() };
    let mut params = vec![0u8; kernel.param_bytes as usize];
    let mut buffer_bytes = vec![0; kernel.params.len()];
    let count = args.len();
    for (index, (param, arg)) in kernel.params.iter().zip(args).enumerate() {
        let bytes = match arg {
            Arg::Buffer(_) if param.passing == Passing::Value => {
                return fail(format!("`{}` is a value, not a buffer", param.name));
            }
            Arg::Buffer(buffer) => {
                buffer_bytes[index] = buffer.len() as u64;
                memory.args.push(Some(index));
                memory.written.push(written.param(index));
                let size = buffer.len() as u64;
                memory.add(&param.name, buffer.into_words(), size, 256, true).to_le_bytes().to_vec()
            }
            Arg::Scalar(_) if param.passing == Passing::Buffer => {
                return fail(format!("`{}` is a buffer, not a number", param.name));
            }
            Arg::Scalar(bits) => bits.to_le_bytes().to_vec(),
            Arg::Bytes(bytes) => {
                if bytes.len() != param.size as usize {
                    return fail(format!("`{}` has {} bytes, {} are given", param.name, param.size, bytes.len()));
                }
                bytes
            }
        };
        let room = params.get_mut(param.offset as usize..(param.offset as usize + param.size as usize));
        let Some(room) = room else {
            return fail(format!("`{}` lies outside the parameter block", param.name));
        };
        for (place, byte) in room.iter_mut().enumerate() {
            *byte = bytes.get(place).copied().unwrap_or(0);
        }
    }
    let variables = place_variables(&program.variables, &mut memory, written);
    if program.address_bits == 32 && memory.layout.end() > 1 << 32 {
        return fail("the buffers do not fit into 32-bit addresses".to_owned());
    }
    let setup = Setup {
        grid: sizes.grid,
        block: sizes.block,
        params: Buffer::from_bytes(&params).into_words(),
        param_bytes: kernel.param_bytes.into(),
        static_shared: kernel.shared_bytes,
        dynamic_shared: sizes.dynamic_shared,
        step_limit: options.step_limit,
        check_races: options.check_races,
        trace_lane: options.trace_lane,
        only_block: options.only_block,
        count_lines: options.count_lines,
        native: options.engine != Engine::Interpreter,
        shelf: Shelf::default(),
        variables,
        buffer_bytes,
    };
    let tally =
        if workers == 1 { alone(&code, &setup, &mut memory) } else { together(&code, &setup, &mut memory, workers) };
    let tally = tally?;

    let mut report = Report { buffers: vec![None; count], ..Report::default() };
    for ((words, segment), arg) in memory.words.into_iter().zip(&memory.layout.segments).zip(&memory.args) {
        if let Some(arg) = *arg {
            report.buffers[arg] = Some(Buffer::from_parts(words, segment.bytes as usize));
        }
    }
    report.approximations = tally.approximations;
    report.steps = tally.steps;
    report.native_steps = tally.native_steps;
    report.trace = tally.trace;
    report.printed = tally.printed.into_iter().map(|(_, text)| text).collect();
    for (place, times) in tally.places {
        *report.lines.entry(kernel.source_locs[place as usize].line).or_default() += times;
    }
    Ok(report)
}

/// Everything that the launch will take, before any of it is.
fn check_memory(
    program: &Program,
    kernel: &Kernel,
    sizes: &Sizes,
    args: &[Arg],
    options: &Options,
    workers: usize,
) -> Result<(), RunError> {
    let buffers = args.iter().map(|arg| match arg {
        Arg::Buffer(buffer) => buffer.len() as u64,
        _ => 0,
    });
    let variables = program.variables.iter().map(|variable| variable.size);
    let global = buffers.chain(variables).fold(0u64, u64::saturating_add);
    let shared = u64::from(kernel.shared_bytes) + u64::from(sizes.dynamic_shared);
    let of_group = (shared + u64::from(kernel.local_bytes)) * LANES as u64;
    let all = global.saturating_add(of_group * workers as u64);
    let fail = |message: String| Err(RunError { trouble: Trouble::MemoryLimit, ..usage(&kernel.name, message) });
    if shared > WINDOW || u64::from(kernel.local_bytes) > WINDOW {
        return fail(format!(
            "{shared} bytes of shared and {} of local memory: {WINDOW} are possible",
            kernel.local_bytes
        ));
    }
    if all > options.memory_limit {
        return fail(format!("the launch needs {all} bytes of memory; the limit is {}", options.memory_limit));
    }
    Ok(())
}

/// Variables behind the buffers, addresses in their initial values filled in.
fn place_variables(variables: &[Variable], memory: &mut Memory, written: Written) -> Vec<u64> {
    let mut addresses = Vec::with_capacity(variables.len());
    for variable in variables {
        let align = variable.align.clamp(1, 1 << 20).next_power_of_two();
        memory.args.push(None);
        memory.written.push(written.variables() && !variable.constant);
        let mut bytes = variable.initial.clone();
        bytes.resize(variable.size as usize, 0);
        let words = Buffer::from_bytes(&bytes).into_words();
        addresses.push(memory.add(&variable.name, words, variable.size, align, !variable.constant));
    }
    let first = memory.words.len() - variables.len();
    for (variable, words) in variables.iter().zip(&mut memory.words[first..]) {
        for relocation in &variable.relocations {
            let address = addresses.get(relocation.variable as usize).copied().unwrap_or(0);
            let value = address.wrapping_add(relocation.addend as u64);
            let bytes = if relocation.bytes == 8 { 8 } else { 4 };
            let fits = relocation.offset % bytes == 0 && relocation.offset.saturating_add(bytes) <= variable.size;
            if fits {
                crate::memory::write_element(words, relocation.offset, bytes as u32, value);
            }
        }
    }
    addresses
}

/// The blocks that run, in groups of neighbours.
struct Groups {
    start: u64,
    end: u64,
    per_group: u64,
}

impl Groups {
    fn new(setup: &Setup, workers: usize) -> Groups {
        let all: u64 = setup.grid.iter().map(|&axis| u64::from(axis)).product();
        let (start, end) = setup.only_block.map_or((0, all), |only| (only.min(all), only.saturating_add(1).min(all)));
        // Full groups, but enough of them for every worker.
        let fitting = (LANES / setup.threads()) as u64;
        Groups { start, end, per_group: fitting.min((end - start).div_ceil(workers as u64)).max(1) }
    }
    fn get(&self, group: u64) -> Option<(u64, usize)> {
        let first = group.checked_mul(self.per_group)?.checked_add(self.start).filter(|&first| first < self.end)?;
        Some((first, self.per_group.min(self.end - first) as usize))
    }
    /// How many groups a worker takes when those before this one are taken: enough that what it does once for them does
    /// not count, fewer toward the end so that all workers are busy until then.
    fn at_once(&self, from: u64, workers: usize) -> u64 {
        let groups = (self.end - self.start).div_ceil(self.per_group);
        (groups.saturating_sub(from) / (4 * workers as u64)).clamp(1, 16)
    }
    /// Runs some groups from one on; the first fault, with its group. `None` when there are no more.
    fn run(&self, machine: &mut Machine<'_>, from: u64, count: u64) -> Option<Result<(), (u64, Box<Fault>)>> {
        let (first, _) = self.get(from)?;
        let blocks = (self.per_group * count).min(self.end - first) as usize;
        let left = machine.ahead(first, blocks, self.per_group as usize);
        for (group, left) in (from..).zip(left) {
            if let Some((first, blocks)) = self.get(group)
                && !left.is_empty()
                && let Err(fault) = machine.run(group, first, blocks, left)
            {
                return Some(Err((group, fault)));
            }
        }
        Some(Ok(()))
    }
}

fn error_of(code: &Code<'_>, machine: &Machine<'_>, fault: Fault) -> RunError {
    let place = &code.kernel.source_locs[machine.place() as usize];
    let lane = fault.lane.or_else(|| machine.first_active());
    RunError {
        trouble: fault.trouble,
        message: fault.message,
        kernel: code.kernel.name.clone(),
        line: place.line,
        instruction: place.text.clone(),
        thread: lane.map(|lane| machine.thread_of(lane)),
    }
}

/// All groups in order, on this thread.
fn alone(code: &Code<'_>, setup: &Setup, memory: &mut Memory) -> Result<Tally, RunError> {
    let words = memory.words.iter_mut().map(|words| Words::Own(words)).collect();
    let mut machine = Machine::new(code, setup, Global { layout: &memory.layout, words, last: 0 });
    let groups = Groups::new(setup, 1);
    let mut group = 0;
    loop {
        let count = groups.at_once(group, 1);
        match groups.run(&mut machine, group, count) {
            None => return Ok(machine.into_tally()),
            Some(Ok(())) => group += count,
            Some(Err((_, fault))) => return Err(error_of(code, &machine, *fault)),
        }
    }
}

/// A segment that workers share.
enum Held {
    Read(Vec<u32>),
    Written(Vec<AtomicU32>),
}

/// The groups among several threads. What is written is held in atomics (each access is a plain load or store of the
/// machine); what is only read is not.
fn together(code: &Code<'_>, setup: &Setup, memory: &mut Memory, workers: usize) -> Result<Tally, RunError> {
    let held: Vec<Held> =
        std::mem::take(&mut memory.words)
            .into_iter()
            .zip(&memory.written)
            .map(|(words, written)| {
                if *written {
                    Held::Written(words.into_iter().map(AtomicU32::new).collect())
                } else {
                    Held::Read(words)
                }
            })
            .collect();
    let groups = Groups::new(setup, workers);
    let next = AtomicU64::new(0);
    // Groups are taken in order: when one fails, all before it have been taken, and they finish.
    let end = AtomicU64::new(u64::MAX);
    let failure: Mutex<Option<(u64, RunError)>> = Mutex::new(None);
    let layout = &memory.layout;
    let work = &|| {
        let words = held.iter().map(|held| match held {
            Held::Read(words) => Words::Read(words),
            Held::Written(words) => Words::Shared(words),
        });
        let mut machine = Machine::new(code, setup, Global { layout, words: words.collect(), last: 0 });
        loop {
            let mut count = 0;
            let take = |from| {
                count = groups.at_once(from, workers);
                Some(from.saturating_add(count))
            };
            let (Ok(from) | Err(from)) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
            if from >= end.load(Ordering::Relaxed) {
                break;
            }
            let Some(outcome) = groups.run(&mut machine, from, count) else { break };
            if let Err((group, fault)) = outcome {
                end.fetch_min(group, Ordering::Relaxed);
                let error = error_of(code, &machine, *fault);
                if let Ok(mut failure) = failure.lock()
                    && failure.as_ref().is_none_or(|(other, _)| group < *other)
                {
                    *failure = Some((group, error));
                }
                break;
            }
        }
        machine.into_tally()
    };
    // The threads are those of a pool: starting one costs more than many a launch.
    let (sender, tallies) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        for _ in 1..workers {
            let sender = sender.clone();
            scope.spawn(move |_| {
                let _ = sender.send(work());
            });
        }
        let _ = sender.send(work());
    });
    drop(sender);
    if let Some((_, error)) = failure.into_inner().unwrap_or(None) {
        return Err(error);
    }
    memory.words = held
        .into_iter()
        .map(|held| match held {
            Held::Read(words) => words,
            Held::Written(words) => words.into_iter().map(AtomicU32::into_inner).collect(),
        })
        .collect();
    let mut all = Tally::default();
    for tally in tallies {
        for (name, times) in tally.approximations {
            *all.approximations.entry(name).or_default() += times;
        }
        for (place, times) in tally.places {
            *all.places.entry(place).or_default() += times;
        }
        all.printed.extend(tally.printed);
        all.steps += tally.steps;
        all.native_steps += tally.native_steps;
        all.trace.extend(tally.trace);
    }
    all.printed.sort_by_key(|(group, _)| *group);
    Ok(all)
}
