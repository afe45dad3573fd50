//! `run`: a kernel over a grid.

mod spirv;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use roundonce::exec::{Arg, Buffer, Contract, Launch, Options, Report, Trouble, element_formats};
use roundonce::isa::program::{Kernel, Passing, Program, Scalar};
use roundonce::isa::{Finding, Level, hex_bits, parse_value};
use roundonce::{Profile, ptx};
use serde::Serialize;

use crate::array::Array;
use crate::output::{self, Format, FormatArgument};
use crate::report::Checked;
use crate::{Ended, Failure, Status, files, run_sass};

/// What may be done with unmodified mul and add.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Contraction {
    /// Nothing is fused
    None,
    /// What the assembler may fuse is
    Fuse,
    /// Both, and where the bits differ
    Report,
}

#[derive(Args)]
pub(crate) struct Arguments {
    /// The kernel's module: .ptx, .spv, .spvasm, or a straight-line .sass listing
    pub(crate) file: PathBuf,
    /// The kernel (needed when there are several)
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Blocks of the grid
    #[arg(long, value_name = "X[,Y,Z]", default_value = "1", value_parser = extent)]
    grid: [u32; 3],
    /// Threads of a block; where the kernel says how many it wants, that is the default, otherwise 1
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extent)]
    block: Option<[u32; 3]>,
    /// A parameter, by position from 0 or by name: a number, in.npy (a buffer with the file's bytes) or zeros:f32:1024;
    /// a SPIR-V buffer by set and binding, 0.1=in.npy
    #[arg(long, visible_alias = "buffer", value_name = "P=VALUE")]
    arg: Vec<String>,
    /// Where a buffer goes afterwards, in the shape and type it came in with; of a .sass listing, a register
    #[arg(long, value_name = "P=FILE")]
    pub(crate) out: Vec<String>,
    /// SASS: a register, predicate or CC before the listing; a number for every lane, or in.npy with one a lane
    #[arg(long, value_name = "R1=VALUE", value_parser = output::signed)]
    pub(crate) reg: Vec<String>,
    /// SASS: a word of a constant bank, as --reg
    #[arg(long, value_name = "BANK:OFFSET=VALUE", value_parser = output::signed)]
    pub(crate) cbank: Vec<String>,
    /// SPIR-V: a specialisation constant, by its SpecId
    #[arg(long, value_name = "ID=VALUE")]
    pub(crate) spec: Vec<String>,
    /// SPIR-V: what is done where the module leaves bits open
    #[arg(long, value_enum, default_value = "nvidia")]
    pub(crate) assume: spirv::Assumption,
    /// What is done with mul and add that have no rounding modifier
    #[arg(long, value_enum, default_value = "none")]
    contract: Contraction,
    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,
    /// Print each instruction of one thread, counted through the grid from 0
    #[arg(long, value_name = "LANE")]
    trace: Option<u64>,
    /// Count the instructions by line
    #[arg(long)]
    profile: bool,
    /// Report data races on shared memory inside a block
    #[arg(long)]
    check_races: bool,
    /// Worker threads
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Give up after this many instructions of one group of blocks
    #[arg(long, value_name = "N", default_value_t = Options::default().step_limit)]
    step_limit: u64,
    /// Give up beyond this many bytes of memory
    #[arg(long, value_name = "BYTES", default_value_t = Options::default().memory_limit)]
    memory_limit: u64,
    #[command(flatten)]
    format: FormatArgument,
}

impl Arguments {
    pub(crate) fn json(&self) -> bool {
        self.format.format == Format::Json
    }
    /// Whether more was asked for than the results.
    pub(crate) fn trace_or_profile(&self) -> bool {
        !self.json() && (self.trace.is_some() || self.profile)
    }
    pub(crate) fn options(&self) -> Options {
        Options {
            contract: match self.contract {
                Contraction::None => Contract::None,
                Contraction::Fuse => Contract::Fuse,
                Contraction::Report => Contract::Report,
            },
            step_limit: self.step_limit,
            memory_limit: self.memory_limit,
            threads: self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
            check_races: self.check_races,
            trace_lane: self.trace,
            count_lines: self.profile,
            ..Options::default()
        }
    }
}

fn extent(text: &str) -> Result<[u32; 3], String> {
    let mut extent = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("more than three numbers".to_owned());
    }
    for (place, part) in extent.iter_mut().zip(parts) {
        *place = part.trim().parse().map_err(|error| format!("`{part}`: {error}"))?;
    }
    Ok(extent)
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    if arguments.file.extension().is_some_and(|extension| extension == "sass") {
        return run_sass::run(arguments);
    }
    let Ready { program, profile, undetermined } = ready(arguments)?;
    let kernel = the_kernel(&program, arguments)?;
    let (args, arrays) = bind(kernel, arguments)?;
    check_elements(&program, kernel, &arrays)?;
    let outputs = outputs(kernel, &arrays, arguments)?;
    let launch = Launch {
        program: &program,
        entry: Some(&kernel.name),
        grid: arguments.grid,
        block: arguments.block.or(kernel.required_block).unwrap_or([1; 3]),
        args,
        dynamic_shared: arguments.shared,
        options: Options { profile, ..arguments.options() },
    };
    let Some(report) = launched(launch, arguments)? else { return Ok(Status::Found) };
    for (place, path) in &outputs {
        if let (Some(array), Some(buffer)) = (&arrays[*place], &report.buffers[*place]) {
            array.write(path, &buffer.to_bytes())?;
        }
    }
    tell(&report, kernel, &undetermined, arguments)?;
    Ok(if report.differences.is_empty() { Status::Done } else { Status::Found })
}

/// Runs a kernel. Where the kernel itself is at fault that is told, and there is no report.
pub(crate) fn launched(launch: Launch, arguments: &Arguments) -> Result<Option<Report>, Failure> {
    launch.run().map(Some).or_else(|error| {
        let message = format!("{}: {error}", arguments.file.display());
        match error.trouble {
            Trouble::Usage | Trouble::Invalid => Err(Failure::Input(message)),
            _ => {
                output::error(&message);
                Ok(None)
            }
        }
    })
}

/// A module in the form that the engine runs.
pub(crate) struct Ready {
    pub(crate) program: Program,
    /// What it is run under.
    pub(crate) profile: Profile,
    /// What it leaves open of the bits, and what was picked.
    pub(crate) undetermined: Vec<String>,
}

fn ready(arguments: &Arguments) -> Result<Ready, Failure> {
    let path = &arguments.file;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("ptx") => {
            Ok(Ready { program: ptx_program(arguments)?, profile: Profile::NVIDIA, undetermined: Vec::new() })
        }
        Some("spv" | "spvasm") => spirv::ready(arguments),
        _ => Err(Failure::Input(format!("{}: expected a .ptx, .spv, .spvasm or .sass file", path.display()))),
    }
}

fn ptx_program(arguments: &Arguments) -> Result<Program, Failure> {
    let path = &arguments.file;
    let text = files::text(path, files::read(path)?)?;
    let parsed = ptx::parse(&text);
    let (module, errors) = (parsed.module, parsed.findings);
    let kernels = module.functions().filter(|function| function.is_entry && function.body.is_some());
    let names: Vec<&str> = kernels.map(|kernel| kernel.name).collect();
    if arguments.entry.is_none() && names.len() > 1 {
        return Err(several(path, &names));
    }
    let lowered = if errors.iter().any(|finding| finding.level == Level::Error) {
        Err(errors)
    } else {
        ptx::lower(&module, arguments.entry.as_deref())
    };
    lowered.map_err(|findings| refused(path, &text, findings, ptx::UNSUPPORTED))
}

/// The failure that findings are: 3 where all are about what is not supported.
pub(crate) fn refused(path: &Path, text: &str, findings: Vec<Finding>, unsupported: &str) -> Failure {
    let all = findings.iter().all(|finding| finding.code == unsupported);
    let message = located(path, text, findings);
    if all { Failure::Unsupported(message) } else { Failure::Input(message) }
}

/// Findings as `file:line:column: message`, of a binary `file: word 12: message`, one a line.
pub(crate) fn located(path: &Path, text: &str, findings: Vec<Finding>) -> String {
    let checked = Checked { file: path.display().to_string(), text: text.to_owned(), findings };
    let lines: Vec<String> = checked
        .rows()
        .map(|row| match row.word {
            Some(word) => format!("{}: word {word}: {} [{}]", row.file, row.message, row.code),
            None => format!("{}:{}:{}: {} [{}]", row.file, row.line, row.column, row.message, row.code),
        })
        .collect();
    lines.join("\n")
}

fn several(path: &Path, names: &[&str]) -> Failure {
    Failure::Input(format!("{}: several kernels, choose with --entry: {}", path.display(), names.join(", ")))
}

fn the_kernel<'p>(program: &'p Program, arguments: &Arguments) -> Result<&'p Kernel, Failure> {
    let names: Vec<&str> = program.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let file = arguments.file.display();
    let wanted = arguments.entry.as_deref();
    match (program.kernels.as_slice(), wanted) {
        ([], None) => Err(Failure::Input(format!("{file}: there is no kernel in it"))),
        ([only], None) => Ok(only),
        (_, None) => Err(several(&arguments.file, &names)),
        (kernels, Some(name)) => kernels
            .iter()
            .find(|kernel| kernel.name == name)
            .ok_or_else(|| Failure::Input(format!("{file}: there is no kernel `{name}`"))),
    }
}

/// The parameter that `P` names.
fn place_of(kernel: &Kernel, name: &str) -> Result<usize, Failure> {
    let by_position = name.parse::<usize>().ok().filter(|place| *place < kernel.params.len());
    by_position.or_else(|| kernel.params.iter().position(|param| param.name == name)).ok_or_else(|| {
        let names: Vec<&str> = kernel.params.iter().map(|param| param.name.as_str()).collect();
        Failure::Input(format!(
            "`{name}` is no parameter of `{}`: expected 0 to {} or one of {}",
            kernel.name,
            kernel.params.len().saturating_sub(1),
            names.join(", ")
        ))
    })
}

pub(crate) fn split_pair<'t>(option: &str, text: &'t str) -> Result<(&'t str, &'t str), Failure> {
    text.split_once('=').ok_or_else(|| Failure::Input(format!("{option} `{text}` is not P=VALUE")))
}

/// The arguments, and the arrays that came with them.
fn bind(kernel: &Kernel, arguments: &Arguments) -> Result<(Vec<Arg>, Vec<Option<Array>>), Failure> {
    let mut given: BTreeMap<usize, &str> = BTreeMap::new();
    for text in &arguments.arg {
        let (name, value) = split_pair("--arg", text)?;
        if given.insert(place_of(kernel, name)?, value).is_some() {
            return Err(Failure::Input(format!("--arg: `{name}` is given twice")));
        }
    }
    let mut args = Vec::new();
    let mut arrays = Vec::new();
    for (place, param) in kernel.params.iter().enumerate() {
        let Some(value) = given.get(&place) else {
            return Err(Failure::Input(format!("parameter {place} (`{0}`) has no value: add --arg {0}=…", param.name)));
        };
        let array = if value.starts_with("zeros:") {
            Some(Array::zeros(value)?)
        } else if value.ends_with(".npy") {
            Some(Array::read(Path::new(value))?)
        } else {
            None
        };
        args.push(match &array {
            // A structure passed by value is no address.
            Some(array) if param.passing == Passing::Value || param.passing == Passing::Any && param.size > 8 => {
                Arg::Bytes(array.bytes.clone())
            }
            Some(array) => Arg::Buffer(Buffer::from_bytes(&array.bytes)),
            None if param.passing == Passing::Buffer => {
                let message =
                    format!("parameter {place} (`{}`) is a buffer: expected in.npy or zeros:f32:N", param.name);
                return Err(Failure::Input(format!("{message}, found `{value}`")));
            }
            None => Arg::Scalar(
                number(param.size, param.scalar, value)
                    .map_err(|problem| Failure::Input(format!("parameter {place} (`{}`): {problem}", param.name)))?,
            ),
        });
        arrays.push(array);
    }
    Ok((args, arrays))
}

/// An array of floats must be of the format that the kernel computes in, where its code tells. Integers are bits.
fn check_elements(program: &Program, kernel: &Kernel, arrays: &[Option<Array>]) -> Result<(), Failure> {
    let used = element_formats(program, kernel);
    for (place, (array, used)) in arrays.iter().zip(used).enumerate() {
        let given = match array.as_ref().map(|array| array.element.as_str()) {
            Some("f2") => "f16",
            Some("f4") => "f32",
            Some("f8") => "f64",
            _ => continue,
        };
        if !used.is_empty() && !used.contains(given) {
            let name = &kernel.params[place].name;
            let used: Vec<&str> = used.into_iter().collect();
            return Err(Failure::Input(format!(
                "parameter {place} (`{name}`): the array holds {given}, the kernel computes with {}: convert it, or \
                 give its bits as integers",
                used.join(" and ")
            )));
        }
    }
    Ok(())
}

/// A number as a declared type of some bytes has it.
pub(crate) fn number(bytes: u32, scalar: Option<Scalar>, text: &str) -> Result<u64, String> {
    let bits = bytes * 8;
    let mask = u64::MAX >> 64u32.saturating_sub(bits).min(63);
    let hex = text.strip_prefix("0x").filter(|digits| !digits.contains('p'));
    if let Some(bits) = hex.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        return if bits & !mask == 0 { Ok(bits) } else { Err(format!("`{text}` does not fit in {bytes} bytes")) };
    }
    match scalar {
        Some(Scalar::Float(format)) => parse_value(format, 1, text).map(|parsed| parsed.value.lanes()[0]),
        _ => {
            let integer: i128 = text.parse().map_err(|_| format!("`{text}` is neither an integer nor hex bits"))?;
            let fits = integer >= -(1i128 << (bits.min(64) - 1)) && integer <= i128::from(mask);
            if fits { Ok(integer as u64 & mask) } else { Err(format!("`{text}` does not fit in {bytes} bytes")) }
        }
    }
}

/// Where each wanted buffer goes.
fn outputs(kernel: &Kernel, arrays: &[Option<Array>], arguments: &Arguments) -> Result<Vec<(usize, PathBuf)>, Failure> {
    let mut outputs = Vec::new();
    for text in &arguments.out {
        let (name, path) = split_pair("--out", text)?;
        let place = place_of(kernel, name)?;
        if arrays[place].is_none() {
            return Err(Failure::Input(format!("--out: parameter `{name}` is a number, not a buffer")));
        }
        outputs.push((place, PathBuf::from(path)));
    }
    Ok(outputs)
}

#[derive(Serialize)]
struct Told<'a> {
    kernel: &'a str,
    steps: u64,
    printed: &'a str,
    not_exact: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    undetermined: &'a [String],
    fused_lines: &'a [u32],
    differences: Vec<Differing<'a>>,
    lines: &'a BTreeMap<u32, u64>,
    trace: Vec<Traced<'a>>,
}

#[derive(Serialize)]
struct Differing<'a> {
    parameter: &'a str,
    words: usize,
    first: usize,
    unfused: String,
    fused: String,
}

#[derive(Serialize)]
struct Traced<'a> {
    line: u32,
    instruction: &'a str,
    operands: Vec<String>,
    results: Vec<String>,
}

pub(crate) fn tell(
    report: &Report,
    kernel: &Kernel,
    undetermined: &[String],
    arguments: &Arguments,
) -> Result<(), Failure> {
    let bits = |values: &[(u64, u32)]| values.iter().map(|&(bits, width)| hex_bits(width, bits)).collect();
    let told = Told {
        kernel: &kernel.name,
        steps: report.steps,
        printed: &report.printed,
        not_exact: &report.approximations,
        undetermined,
        fused_lines: &report.fused,
        differences: report
            .differences
            .iter()
            .map(|difference| Differing {
                parameter: &kernel.params[difference.arg].name,
                words: difference.words,
                first: difference.first,
                unfused: hex_bits(32, u64::from(difference.unfused)),
                fused: hex_bits(32, u64::from(difference.fused)),
            })
            .collect(),
        lines: &report.lines,
        trace: report
            .trace
            .iter()
            .map(|step| Traced {
                line: step.line,
                instruction: &step.text,
                operands: bits(&step.operands),
                results: bits(&step.results),
            })
            .collect(),
    };
    if arguments.json() {
        return output::json(&told);
    }
    let mut out = anstream::stdout().lock();
    write!(out, "{}", told.printed)?;
    for step in &told.trace {
        let instruction = step.instruction.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut line = format!("{:>5}  {instruction:<48} {}", step.line, step.operands.join(" "));
        if !step.results.is_empty() {
            line += &format!(" -> {}", step.results.join(" "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    for (line, count) in told.lines {
        writeln!(out, "line {line}: {count}")?;
    }
    for difference in &told.differences {
        writeln!(
            out,
            "contraction changes `{}`: {} words, the first at {}: {} unfused, {} fused",
            difference.parameter, difference.words, difference.first, difference.unfused, difference.fused
        )?;
    }
    if !undetermined.is_empty() {
        output::note(&format!("the module does not determine the bits; assumed {}", undetermined.join("; ")));
    }
    for (name, count) in told.not_exact {
        output::note(&format!("not exact: {name} × {count} (correctly rounded here; the GPU approximates it)"));
    }
    Ok(())
}
