//! A kernel with its arguments and its grid: what `run`, `why` and `diff` share.

mod listing;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::Path;

use clap::{Args, ValueEnum};
use roundonce::answers::inexact_number;
use roundonce::arith::Format;
use roundonce::compiled::Compiled;
use roundonce::exec::{Arg, Launch, Options};
use roundonce::ir::{Kernel, Passing, Program};
use roundonce::isa::{SmTarget, hex_bits};
use roundonce::kernel::{self, Choice, Ready};
use roundonce::sass;
use roundonce::spirv::Assume;
use roundonce::{Profile, ProfileChoice, elements};

use crate::argument::Argument;
use crate::array::Array;
use crate::images::{self, ImageArguments};
use crate::modules::{Language, presumed_machine, ready};
use crate::{Failure, files, memory, output, threads};

pub(crate) use listing::listing;

/// What is done where a SPIR-V module leaves bits open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Assumption {
    /// To nearest even, NVIDIA's NaNs; a shader's f32 subnormals flushed unless it declares RoundingModeRTE, others kept
    Nvidia,
    /// IEEE 754: to nearest even, subnormals kept, a NaN operand's payload kept
    Strict,
    /// To nearest even, subnormals flushed
    Flush,
}

/// A kernel of a file and the machine that runs it, where they are named.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) entry: Option<&'a str>,
    pub(crate) machine: Option<SmTarget>,
}

#[derive(Args)]
#[command(next_help_heading = "Kernels")]
pub(crate) struct LaunchArguments {
    /// The kernel (needed when there are several); `diff` takes one for each file
    #[arg(long, value_name = "NAME")]
    entry: Vec<String>,
    /// PTX: the machine whose matrix multiply-add it is (sm_90), the module's own target where none is named: a driver
    /// compiles a module again for a newer one; `diff` takes one for each side, of an instruction as `@sm_90` behind it
    #[arg(long, value_name = "TARGET", value_parser = kernel::machine)]
    arch: Vec<SmTarget>,
    /// Blocks of the grid
    #[arg(long, value_name = "X[,Y,Z]", default_value = "1", value_parser = extent)]
    grid: [u32; 3],
    /// Threads of a block; where the kernel says how many it wants, that is the default, otherwise 1
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extent)]
    block: Option<[u32; 3]>,
    /// A parameter, by position from 0 or by name: a number, in.npy (a buffer with the file's bytes), zeros:f32:1024,
    /// random:f32:1024:SEED or values:f32:1,2.5,0x7f800000; a SPIR-V buffer by set and binding, 0.1=in.npy
    #[arg(long, visible_alias = "buffer", value_name = "P=VALUE", value_parser = Argument::parser())]
    arg: Vec<Argument>,
    #[command(flatten)]
    images: ImageArguments,
    /// SPIR-V: all push constants as the bytes of their block: hex digits, two a byte, or the bytes of an array in.npy
    #[arg(long, value_name = "BYTES", value_parser = Argument::parser())]
    push: Option<Argument>,
    /// SASS: a register, predicate or CC before the listing; a number for every lane, or in.npy with one a lane
    #[arg(long, value_name = "R1=VALUE", value_parser = Argument::parser())]
    reg: Vec<Argument>,
    /// SASS: a word of a constant bank, as --reg
    #[arg(long, value_name = "BANK:OFFSET=VALUE", value_parser = Argument::parser())]
    cbank: Vec<Argument>,
    /// CUDA C++: options of the compiler beside those that make PTX, such as "-arch=sm_90 -use_fast_math"
    #[arg(long, value_name = "OPTIONS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    compiler_flags: String,
    /// SPIR-V: a specialisation constant, by its SpecId
    #[arg(long, value_name = "ID=VALUE")]
    spec: Vec<String>,
    /// SPIR-V: what is done where the module leaves bits open
    #[arg(long, value_enum, default_value = "nvidia")]
    assume: Assumption,
    /// What the documents leave open: machines by name and FIELD=VALUE, separated by commas (gt200, sm_90, apple-m4,
    /// tininess=result, nan_f64=abc); docs/decisions.md lists them. `run --profile` alone counts the instructions by line
    #[arg(long, value_name = "PROFILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    profile: Vec<String>,
    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,
    /// PTX: bytes of a thread's stack, for recursive functions, those called through addresses, and `alloca`
    #[arg(long, value_name = "BYTES", default_value_t = Choice::default().stack_bytes)]
    stack: u32,
    /// PTX: bytes that `malloc` gives away in all; what is freed is not given away again
    #[arg(long, value_name = "BYTES", default_value_t = Choice::default().heap_bytes)]
    heap: u64,
    /// Worker threads
    #[arg(long, value_name = "N", value_parser = threads::count)]
    threads: Option<NonZeroUsize>,
    /// Give up after this many instructions of one group of blocks
    #[arg(long, value_name = "N", default_value_t = Options::default().step_limit)]
    step_limit: u64,
    /// Give up beyond this many bytes of memory; at most half of what the shell allows a process
    #[arg(long, value_name = "BYTES", default_value_t = Options::default().memory_limit)]
    memory_limit: u64,
    /// Refuse a kernel of more operations and blocks, its calls inlined; at most what the address space has room for
    #[arg(long, value_name = "N", default_value_t = Choice::default().largest_kernel)]
    limit_instructions: usize,
    /// Interpret what would take more steps to compile to native code (a nanosecond each, about)
    #[arg(long, value_name = "N", default_value_t = Options::default().compile_limit)]
    limit_compile: u64,
}

/// Threads of a warp.
const WARP: u32 = 32;
/// Threads of a block at most.
const LARGEST_BLOCK: u32 = 1024;
/// What `--smoke` gives a kernel: bytes of each buffer, and of shared memory in all, as much as a block of sm_90 has.
const SMOKE_BUFFER: usize = 1 << 20;
const SMOKE_SHARED: u32 = 227 << 10;

impl LaunchArguments {
    /// What the arguments are given for.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.arg.iter().filter_map(|text| text.split()).map(|(name, _)| name)
    }

    /// A kernel on arguments of zeros, with as many threads a block as it was made for, a warp where it does not say.
    pub(crate) fn smoke<'r>(&self, ready: &'r Ready, options: Options) -> Result<Launch<'r>, Failure> {
        let kernel = ready.kernel();
        let threads = kernel.max_threads.map_or(WARP, |most| most.min(LARGEST_BLOCK));
        Ok(Launch {
            program: &ready.program,
            entry: Some(&kernel.name),
            grid: self.grid,
            block: self.block.or(kernel.required_block).unwrap_or([threads, 1, 1]),
            args: ready.zero_arguments(SMOKE_BUFFER),
            dynamic_shared: match self.shared {
                0 => SMOKE_SHARED.saturating_sub(kernel.shared_bytes),
                bytes => bytes,
            },
            options: Options { profile: self.choice()?.apply(ready.profile), ..options },
        })
    }

    /// Whether a value is given for any parameter.
    pub(crate) fn gives_arguments(&self) -> bool {
        !self.arg.is_empty() || self.push.is_some() || self.images.has_textures() || self.images.has_samplers()
    }

    /// How many threads were asked for.
    pub(crate) const fn threads(&self) -> Option<NonZeroUsize> {
        self.threads
    }

    /// The one kernel that is named, if one is.
    pub(crate) fn entry(&self) -> Result<Option<&str>, Failure> {
        match &self.entry[..] {
            [] => Ok(None),
            [entry] => Ok(Some(entry)),
            _ => Err(Failure::Input("--entry is given twice".to_owned())),
        }
    }

    /// The kernel and the machine that are named.
    pub(crate) fn asked(&self) -> Result<Asked<'_>, Failure> {
        Ok(Asked { entry: self.entry()?, machine: self.machine()? })
    }

    /// The one machine that is named, if one is.
    pub(crate) fn machine(&self) -> Result<Option<SmTarget>, Failure> {
        match self.arch[..] {
            [] => Ok(None),
            [machine] => Ok(Some(machine)),
            _ => Err(Failure::Input("--arch is given twice".to_owned())),
        }
    }

    /// The machines that are named, as many as there are.
    pub(crate) fn machines(&self) -> &[SmTarget] {
        &self.arch
    }

    /// The kernels of two files and their machines; one name serves both.
    pub(crate) fn asked_of_two(&self) -> Result<[Asked<'_>; 2], Failure> {
        let entries = match &self.entry[..] {
            [first, second] => [Some(first.as_str()), Some(second)],
            _ => [self.entry()?; 2],
        };
        let machines = match self.arch[..] {
            [first, second] => [Some(first), Some(second)],
            _ => [self.machine()?; 2],
        };
        Ok([0, 1].map(|file| Asked { entry: entries[file], machine: machines[file] }))
    }

    /// What was chosen of the profile.
    pub(crate) fn choice(&self) -> Result<ProfileChoice, Failure> {
        let given = self.profile.iter().filter(|text| !text.is_empty());
        given.map(|text| ProfileChoice::parse(text)).try_fold(ProfileChoice::default(), |all, choice| {
            Ok(all.and(&choice.map_err(|problem| Failure::Input(format!("--profile: {problem}")))?))
        })
    }
    /// The profile of what is no kernel.
    pub(crate) fn profile(&self) -> Result<Profile, Failure> {
        Ok(self.choice()?.apply(Profile::NVIDIA))
    }
    /// Whether `--profile` stands alone.
    pub(crate) fn counts_lines(&self) -> bool {
        self.profile.iter().any(String::is_empty)
    }

    /// What a compiler of CUDA C++ is given.
    pub(crate) fn compiler_flags(&self) -> &str {
        &self.compiler_flags
    }

    /// How a launch is run, of what is asked here.
    pub(crate) fn options(&self) -> Options {
        Options {
            step_limit: self.step_limit,
            memory_limit: self.memory_limit.min(memory::allowed()),
            compile_limit: self.limit_compile,
            threads: self.threads.map_or_else(threads::cores, NonZeroUsize::get),
            ..Options::default()
        }
    }
}

/// A kernel that can be launched.
pub(crate) struct Prepared {
    pub(crate) program: Program,
    /// The module as it was read; empty of a binary.
    pub(crate) text: String,
    /// Its place in the program.
    place: usize,
    pub(crate) language: Language,
    pub(crate) profile: Profile,
    /// What the module leaves open of the bits, and what was picked.
    pub(crate) undetermined: Vec<String>,
    /// The machine whose matrix multiply-adds it has, if these are presumed to be as its family's.
    pub(crate) presumed: Option<String>,
    grid: [u32; 3],
    block: [u32; 3],
    args: Vec<Arg>,
    /// The arrays that came with the arguments: their headers, the bytes are in `args`.
    pub(crate) arrays: Vec<Option<Array>>,
    shared: u32,
    /// What a .sass listing writes, and the argument of each.
    registers: Vec<(String, usize)>,
}

impl Prepared {
    /// Reads a module, its arguments and its grid.
    pub(crate) fn read(path: &Path, asked: Asked<'_>, arguments: &LaunchArguments) -> Result<Prepared, Failure> {
        let language = Language::read(path)?.unwrap_or(Language::Ptx);
        if language == Language::Sass {
            let (lowered, lanes, text) = listing(path, asked.entry, arguments)?;
            let first = 1 + lowered.inputs.len();
            let registers = lowered.outputs.iter().enumerate().map(|(at, name)| (name.to_string(), first + at));
            return Ok(Prepared {
                text,
                place: 0,
                language: Language::Sass,
                profile: arguments.profile()?,
                undetermined: Vec::new(),
                presumed: None,
                grid: lanes.grid,
                block: lanes.block,
                arrays: lanes.args.iter().map(|_| None).collect(),
                args: lanes.args,
                shared: 0,
                registers: registers.collect(),
                program: lowered.program,
            });
        }
        let (mut ready, text) = ready(path, asked, arguments)?;
        ready.name_members(arguments.names()).map_err(|problem| Failure::Input(format!("--arg: {problem}")))?;
        let (args, arrays) = bind(&ready, arguments)?;
        ready.check_formats(&formats(&arrays)).map_err(Failure::Input)?;
        let kernel = ready.kernel();
        let name = &kernel.name;
        if let (None, None, Some(most @ 2..)) = (arguments.block, kernel.required_block, kernel.max_threads) {
            let made = format!("kernel `{name}` is made for up to {most} threads a block");
            output::note(&format!("{made}, and one is run: `--block` gives more"));
        }
        Ok(Prepared {
            text,
            place: ready.program.kernels.iter().position(|kernel| kernel.name == *name).unwrap_or(0),
            language,
            profile: arguments.choice()?.apply(ready.profile),
            undetermined: ready.undetermined.clone(),
            presumed: presumed_machine(&ready, asked.machine),
            grid: arguments.grid,
            block: arguments.block.or(ready.kernel().required_block).unwrap_or([1; 3]),
            args,
            arrays,
            shared: arguments.shared,
            registers: Vec::new(),
            program: ready.program,
        })
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        &self.program.kernels[self.place]
    }

    /// Fuses what the machine code in a cubin of the module fused, and leaves nothing open; the lines of the sums that are
    /// fused.
    pub(crate) fn follow(&mut self, cubin: &Path) -> Result<Vec<u32>, Failure> {
        let named = |problem: String| format!("{}: {problem}", cubin.display());
        if self.language != Language::Ptx {
            return Err(Failure::Input(named("a cubin is made of PTX: the kernel is not PTX".to_owned())));
        }
        let module = sass::CompiledModule::parse(&files::read(cubin)?)
            .map_err(|finding| Failure::Input(named(finding.to_string())))?;
        let compiled = Compiled::of(self.kernel(), &module).map_err(|problem| Failure::Input(named(problem)))?;
        let contracted = compiled.contracted(self.kernel()).map_err(|problem| Failure::Unsupported(named(problem)))?;
        self.program.kernels[self.place] = contracted;
        Ok(compiled.fused_lines())
    }

    pub(crate) fn launch(&self, options: Options) -> Launch<'_> {
        self.launch_with(self.args.clone(), options)
    }

    /// The only launch: it takes the arguments, which are most of the memory.
    pub(crate) fn launch_once(&mut self, options: Options) -> Launch<'_> {
        let args = std::mem::take(&mut self.args);
        self.launch_with(args, options)
    }

    fn launch_with(&self, args: Vec<Arg>, options: Options) -> Launch<'_> {
        Launch {
            program: &self.program,
            entry: Some(&self.kernel().name),
            grid: self.grid,
            block: self.block,
            args,
            dynamic_shared: self.shared,
            options: Options { profile: self.profile, ..options },
        }
    }

    /// The buffers that it may be compared by: the name and the argument of each. Of a listing, what it writes.
    pub(crate) fn buffers(&self) -> Vec<(&str, usize)> {
        let registers = self.registers.iter().map(|(name, arg)| (name.as_str(), *arg));
        let params = self.kernel().params.iter().zip(&self.arrays).enumerate();
        let arrays =
            params.filter(|(_, (_, array))| array.is_some()).map(|(arg, (param, _))| (param.name.as_str(), arg));
        registers.chain(arrays).collect()
    }

    /// What an argument is called, in answers: a register as given, a parameter by its own name.
    pub(crate) fn name<'a>(&'a self, arg: usize, given: &'a str) -> &'a str {
        if self.language == Language::Sass { given } else { &self.kernel().params[arg].name }
    }

    /// Bytes of an argument's buffer.
    pub(crate) fn buffer_bytes(&self, arg: usize) -> usize {
        match &self.args[arg] {
            Arg::Buffer(buffer) | Arg::Slice { bytes: buffer, .. } => buffer.len(),
            Arg::Image(image) => image.data.len(),
            Arg::Bytes(_) | Arg::Scalar(_) | Arg::Sampler(_) => 0,
        }
    }

    /// The argument whose buffer a parameter, or a register that a listing writes, names.
    pub(crate) fn buffer(&self, option: &str, name: &str) -> Result<usize, Failure> {
        if self.language == Language::Sass {
            let found = self.registers.iter().find(|(register, _)| *register == name.to_uppercase());
            let names: Vec<&str> = self.registers.iter().map(|(register, _)| register.as_str()).collect();
            return found.map(|(_, arg)| *arg).ok_or_else(|| not_written(option, name, &names));
        }
        let place = kernel::parameter(self.kernel(), name).map_err(Failure::Input)?;
        match self.arrays[place] {
            Some(_) => Ok(place),
            None => Err(Failure::Input(format!("{option}: parameter `{name}` is a number, not a buffer"))),
        }
    }
}

fn not_written(option: &str, name: &str, names: &[&str]) -> Failure {
    Failure::Input(format!("{option}: the listing does not write `{name}`: it writes {}", names.join(", ")))
}

impl From<Assumption> for Assume {
    fn from(assumption: Assumption) -> Assume {
        match assumption {
            Assumption::Nvidia => Assume::Nvidia,
            Assumption::Strict => Assume::Strict,
            Assumption::Flush => Assume::Flush,
        }
    }
}

/// Specialisation constants, as they are given.
pub(crate) fn spec_constants(given: &[String]) -> Result<Vec<(u32, String)>, Failure> {
    let spec = given.iter().map(|text| {
        let (id, value) = text.split_once('=').ok_or_else(|| no_pair("--spec", text))?;
        let id = id.parse().map_err(|_| Failure::Input(format!("--spec `{text}`: `{id}` is no SpecId")))?;
        Ok((id, value.to_owned()))
    });
    spec.collect()
}

pub(crate) fn choice(asked: Asked<'_>, arguments: &LaunchArguments) -> Result<Choice, Failure> {
    Ok(Choice {
        entry: asked.entry.map(str::to_owned),
        machine: asked.machine,
        profile: arguments.profile()?,
        assume: arguments.assume.into(),
        spec: spec_constants(&arguments.spec)?,
        arguments: arguments.names().map(str::to_owned).collect(),
        largest_kernel: memory::largest_kernel(arguments.limit_instructions),
        stack_bytes: arguments.stack,
        heap_bytes: arguments.heap,
    })
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

pub(crate) fn split_pair<'t>(option: &str, argument: &'t Argument) -> Result<(&'t str, Argument), Failure> {
    argument.split().ok_or_else(|| no_pair(option, argument))
}

fn no_pair(option: &str, given: impl Display) -> Failure {
    Failure::Input(format!("{option} `{given}` is not P=VALUE"))
}

/// The arguments, and the arrays that came with them.
fn bind(ready: &Ready, arguments: &LaunchArguments) -> Result<(Vec<Arg>, Vec<Option<Array>>), Failure> {
    let kernel = ready.kernel();
    let takes_array = ready.array_parameters();
    let mut given: BTreeMap<usize, Argument> = BTreeMap::new();
    for text in &arguments.arg {
        let (name, value) = split_pair("--arg", text)?;
        let place = kernel::parameter(kernel, name).map_err(Failure::Input)?;
        if given.insert(place, value).is_some() {
            let own = &kernel.params[place].name;
            let other = if own == name { String::new() } else { format!(" is `{own}`, which") };
            return Err(Failure::Input(format!("--arg: `{name}`{other} is given twice")));
        }
    }
    let mut images = arguments.images.bind(kernel)?;
    if let Some(place) = images.keys().find(|place| given.contains_key(place)) {
        return Err(Failure::Input(format!("`{}` is given twice", kernel.params[*place].name)));
    }
    let mut pushed = match &arguments.push {
        Some(block) => kernel::push_constants(kernel, &push_block(block)?)
            .map_err(|problem| Failure::Input(format!("--push: {problem}")))?,
        None => BTreeMap::new(),
    };
    if let Some(place) = pushed.keys().find(|place| given.contains_key(place)) {
        let name = &kernel.params[*place].name;
        return Err(Failure::Input(format!("`{name}` is given twice: by --arg and by --push")));
    }
    let mut defaults = kernel::default_arguments(kernel, arguments.shared);
    let mut args = Vec::new();
    let mut arrays = Vec::new();
    for (place, param) in kernel.params.iter().enumerate() {
        let called = || kernel::called(kernel, place);
        if let Some((arg, array)) = images.remove(&place) {
            args.push(arg);
            arrays.push(array);
            continue;
        }
        let known = pushed.remove(&place);
        let default = || defaults[place].take();
        let Some(value) = given.get(&place) else {
            if let Some(arg) = known.or_else(default) {
                args.push(arg);
                arrays.push(None);
                continue;
            }
            let option = if param.passing == Passing::Sampler { "--sampler" } else { "--arg" };
            return Err(Failure::Input(ready.value_expected(place, option)));
        };
        if matches!(param.passing, Passing::Image(_) | Passing::Sampler) {
            let (arg, array) = images::read(kernel, place, value)?;
            args.push(arg);
            arrays.push(array);
            continue;
        }
        let mut array = match value.text() {
            _ if value.is_array() => Some(Array::of_file(value.path())?),
            Ok(text) => Array::written(text).transpose()?,
            Err(_) => None,
        };
        if array.is_none() {
            value.no_other_array()?;
        }
        args.push(match &mut array {
            Some(_) if !takes_array[place] => {
                let message = format!("{}, `{value}`", kernel::number_expected(kernel, place));
                return Err(Failure::Input(message));
            }
            Some(array) => kernel::array_argument(param, std::mem::take(&mut array.bytes)),
            None if param.passing == Passing::Buffer => {
                let message =
                    format!("{} is a buffer: expected in.npy, {}, found `{value}`", called(), elements::WRITTEN);
                return Err(Failure::Input(message));
            }
            None => {
                let text = value.text()?;
                let bits = kernel::number(param.size, param.scalar, text)
                    .map_err(|problem| Failure::Input(format!("{}: {problem}", called())))?;
                let rounded = kernel::number_format(param.size, param.scalar, text)
                    .and_then(|format| inexact_number(&format!("{}: `{text}`", called()), format, text));
                rounded.iter().for_each(|note| output::note(note));
                if let Some(format) = kernel::assumed_format(param.size, param.scalar, text).filter(|_| !is_hex(text)) {
                    let name = if format == Format::F32 { "f32" } else { "f64" };
                    let bits = hex_bits(8 * param.size, bits);
                    output::note(&format!("{} has no type: `{text}` is taken as an {name}, {bits}", called()));
                }
                Arg::Scalar(bits)
            }
        });
        arrays.push(array);
    }
    Ok((args, arrays))
}

/// Whether a number is given by its bits.
fn is_hex(text: &str) -> bool {
    text.starts_with("0x") && !text.contains(['p', 'P'])
}

/// A block of push constants: hex digits, or an array's bytes.
fn push_block(block: &Argument) -> Result<Vec<u8>, Failure> {
    if block.is_array() {
        return Ok(Array::of_file(block.path())?.bytes);
    }
    let text = block.text()?;
    let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    let whole = bytes.filter(|_| digits.len() % 2 == 0 && digits.iter().all(u8::is_ascii_hexdigit));
    whole.ok_or_else(|| Failure::Input(format!("--push: `{text}` is neither hex digits, two a byte, nor in.npy")))
}

/// The formats of arrays of floats. Integers are bits.
fn formats(arrays: &[Option<Array>]) -> Vec<Option<&'static str>> {
    let format = |array: &Option<Array>| match array.as_ref()?.header.element() {
        "f2" => Some("f16"),
        "f4" => Some("f32"),
        "f8" => Some("f64"),
        _ => None,
    };
    arrays.iter().map(format).collect()
}
