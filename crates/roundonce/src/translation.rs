//! Modules in another language, and what is known of their equality: a proof, or launches on the same data.

use std::collections::HashSet;

use rayon::prelude::*;
use roundonce_arith::Format;
use roundonce_exec::{Arg, Buffer, Launch, RunError, element_formats};
use roundonce_ir::flow::pointer_parameters;
use roundonce_ir::{Given, Kernel, Param, Passing, Program, Scalar, Unproved, equal_in_order};
use roundonce_isa::Finding;
use roundonce_translate::kernel::{self, Comments};
use roundonce_translate::rules::ORDER;
use roundonce_why::random::{INCREMENT, mixed};

pub use roundonce_translate::kernel::{Argument, Options, Translation};

use crate::answers::NoAnswer;
use crate::exec;
use crate::kernel::{Choice, LONG, Ready, Refusal, Source, side_by_side};
use crate::spirv::Assume;

/// A language that modules are translated to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum To {
    /// PTX.
    Ptx,
    /// SPIR-V's assembly, for OpenCL.
    Spirv,
}

/// A module, its translation, and both ready to run.
#[derive(Clone, Debug)]
pub struct Translated {
    /// What was read, with what it leaves open of products and sums decided.
    pub source: Ready,
    /// What was written.
    pub translation: Translation,
    to: To,
    /// What a translation to SPIR-V is read with, as its source was.
    assume: Assume,
}

/// Why a module has no translation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoTranslation {
    /// It cannot be read.
    Unread(Refusal),
    /// Something in it has no counterpart.
    NoCounterpart(Vec<Finding>),
}

/// Translates the kernel that is chosen, or where none is the whole module. The comments of its text are taken from it.
///
/// # Errors
/// If it cannot be read, or not be written with the same bits.
///
/// ```
/// use roundonce::kernel::{Choice, Source};
/// use roundonce::translation::{Options, To, translate};
/// let text = ".version 7.0\n.target sm_80\n.address_size 64\n\
///     .visible .entry one(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret; }";
/// let translated = translate(Source::Ptx(text), To::Ptx, &Choice::default(), &Options::default()).unwrap();
/// assert!(translated.translation.text.contains(".entry one("));
/// assert!(translated.verify(1, roundonce::translation::STEP_LIMIT)[0].proof.is_ok());
/// ```
pub fn translate(
    source: Source<'_>,
    to: To,
    choice: &Choice,
    options: &Options<'_>,
) -> Result<Translated, NoTranslation> {
    if let (To::Spirv, Some(asked)) = (to, options.environment)
        && !asked.has_kernels()
    {
        let problem = format!(
            "no kernel is written for {asked}: opencl1.2 to opencl2.2 and spv1.0 to spv1.6 have all that it takes"
        );
        return Err(NoTranslation::Unread(Refusal::Usage(problem)));
    }
    let (text, comments_of): (&str, fn(&str) -> Comments) = match source {
        Source::Ptx(text) | Source::Listing(text) => (text, Comments::of_slashes),
        Source::SpirvText(text) => (text, Comments::of_semicolons),
        Source::Spirv(_) | Source::Cubin(_) => ("", |_| Comments::default()),
    };
    let (ready, comments) = side_by_side(text.len(), || Ready::read_all(source, choice), || comments_of(text));
    let mut ready = ready.map_err(NoTranslation::Unread)?;
    let kernels = &mut ready.program.kernels;
    let decide = |kernel: &mut Kernel| kernel::decide_contraction(kernel, options.contract);
    let decided: Vec<_> = match text.len() < LONG {
        true => kernels.iter_mut().map(decide).collect(),
        false => kernels.par_iter_mut().map(decide).collect(),
    };
    let options = Options { comments, source_target: ready.target, ..options.clone() };
    let write: kernel::Writer = match to {
        To::Ptx => kernel::ptx::write,
        To::Spirv => kernel::spirv::write,
    };
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for kernel in ready.program.kernels.iter().filter(|_| to == To::Ptx) {
        match kernel::nan_results(kernel, &ready.profile).map(|loss| options.accept(loss)) {
            Some(Ok(loss)) => accepted.push(loss),
            Some(Err(loss)) => refused.push(loss),
            None => {}
        }
    }
    if !refused.is_empty() {
        return Err(NoTranslation::NoCounterpart(refused));
    }
    let written = write(&ready.program, &options);
    let mut translation = written.map_err(|findings| NoTranslation::NoCounterpart(each_once(findings)))?;
    for (open, decided) in translation.open.iter_mut().zip(decided) {
        open.splice(0..0, decided);
    }
    translation.losses = each_once(translation.losses);
    translation.losses.extend(accepted);
    Ok(Translated { source: ready, translation, to, assume: choice.assume })
}

/// Without what is said a second time of one place: one instruction of the source is several operations, and what kernels
/// call is in each of them.
fn each_once(mut findings: Vec<Finding>) -> Vec<Finding> {
    let mut said = HashSet::new();
    findings.retain(|finding| said.insert((finding.code, finding.location, finding.message.clone())));
    findings
}

/// What is known of a kernel and its translation.
#[derive(Clone, Debug)]
pub struct Verification {
    /// That they are equal for all data, or where the proof ends.
    pub proof: Result<(), Unproved>,
    /// Launches of both that ran to their end.
    pub launches: usize,
    /// Launches of the source that failed, so that they say nothing.
    pub failed: usize,
    /// The first of them.
    pub failure: Option<Failure>,
    /// Bytes that these launches changed in buffers, in all: all of them were compared.
    pub changed: u64,
    /// The first launch whose results differ.
    pub different: Option<Difference>,
}

impl Verification {
    /// Before any launch.
    const fn of(proof: Result<(), Unproved>) -> Verification {
        Verification { proof, launches: 0, failed: 0, failure: None, changed: 0, different: None }
    }
    /// Whether the two are known to be equal, for all data or for data that made them write something.
    pub fn holds(&self) -> bool {
        self.different.is_none() && (self.proof.is_ok() || self.changed > 0)
    }
}

/// A launch of the source that failed.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// How many blocks it had.
    pub blocks: u32,
    /// Their threads.
    pub block: [u32; 3],
    /// What stopped it.
    pub error: RunError,
}

/// How a launch of the translation differs.
#[derive(Clone, PartialEq, Debug)]
pub enum Difference {
    /// It cannot be read or launched.
    Fails(String),
    /// A byte of a buffer, that of a parameter of the source.
    Byte {
        /// The parameter.
        param: usize,
        /// Its place in the buffer.
        at: usize,
    },
}

/// Bytes of each buffer.
const BUFFER: usize = 1 << 16;
/// Threads of a block where the kernel says nothing.
const BLOCK: u32 = 64;
/// The most threads of a block on any machine.
const MOST_THREADS: u32 = 1024;
/// What a parameter gets that is shared memory.
const SHARED: u32 = 16 << 10;
/// The most shared memory that a block has on any machine: a kernel that has dynamic shared memory gets what it leaves of it.
const MOST_SHARED: u32 = 227 << 10;
/// What pieces of shared memory are rounded up to ([`Argument::SharedOffset`]).
const SHARED_PIECE: u32 = 128;
/// Instructions after which a launch of the source is given up, where no other limit is asked for.
pub const STEP_LIMIT: u64 = 1 << 24;
/// So many times more may a launch of the translation take.
const LONGER: u64 = 64;

impl Translated {
    /// Compares each kernel, in the program's order, with its translation: by proof, and by this many launches on data that is
    /// made by the parameters' types, numbers at the edges of the formats among it. A launch of the source that takes more than
    /// `step_limit` instructions is given up ([`STEP_LIMIT`]).
    pub fn verify(&self, launches: usize, step_limit: u64) -> Vec<Verification> {
        let kernels = &self.source.program.kernels;
        let other = match self.read_back() {
            Ok(other) => other,
            Err(problem) => {
                let unread = Unproved { reason: "the translation cannot be read", locs: [0; 2] };
                let different = Some(Difference::Fails(problem));
                return vec![Verification { different, ..Verification::of(Err(unread)) }; kernels.len()];
            }
        };
        let pairs = kernels.iter().zip(&other.program.kernels).zip(&self.translation.arguments);
        let is_weaker = self.translation.losses.iter().any(|loss| loss.code == ORDER.code);
        let pairs = pairs.map(|((kernel, twin), arguments)| {
            let pair = Pair { source: &self.source, kernel, other: &other, twin, arguments, step_limit };
            let mut verification = pair.verify(launches);
            if is_weaker && verification.proof.is_ok() {
                let reason = "the translation orders memory less for other threads";
                verification.proof = Err(Unproved { reason, locs: [0; 2] });
            }
            verification
        });
        pairs.collect()
    }

    /// The translation as its own front end reads it.
    fn read_back(&self) -> Result<Ready, String> {
        let text = &self.translation.text;
        let source = match self.to {
            To::Ptx => Source::Ptx(text),
            To::Spirv => Source::SpirvText(text),
        };
        let read = Ready::read_all(source, &Choice { assume: self.assume, ..Choice::default() });
        let read = read.map_err(|refusal| match NoAnswer::refused("the translation", text, refusal) {
            NoAnswer::Input(problem) | NoAnswer::Unsupported(problem) => problem,
        })?;
        let [expected, found] = [&self.source, &read].map(|ready| ready.program.kernels.len());
        if expected == found { Ok(read) } else { Err(format!("the translation has {found} kernels, not {expected}")) }
    }
}

/// A kernel and its translation.
struct Pair<'a> {
    source: &'a Ready,
    kernel: &'a Kernel,
    other: &'a Ready,
    twin: &'a Kernel,
    arguments: &'a [Argument],
    step_limit: u64,
}

impl Pair<'_> {
    fn verify(&self, launches: usize) -> Verification {
        let Pair { source, kernel, other, twin, arguments, .. } = self;
        let given = arguments.iter().map(|argument| match *argument {
            Argument::Param(param) => Given::Param(param),
            Argument::BufferBytes(param) => Given::BufferBytes(param),
            Argument::SharedOffset(_) | Argument::DynamicShared | Argument::AllShared => Given::Other,
        });
        let proof = if source.profile == other.profile {
            equal_in_order((&source.program, kernel), (&other.program, twin), &given.collect::<Vec<_>>())
        } else {
            Err(Unproved { reason: "the two are run under different profiles", locs: [0; 2] })
        };
        let mut verification = Verification::of(proof);
        for trial in 0..launches as u64 {
            let data = Data { program: &source.program, kernel, seed: mixed(trial + INCREMENT), trial };
            self.compare((1 + trial as u32 % 2, self.block(trial)), data.arguments(), &mut verification);
            if verification.different.is_some() {
                break;
            }
        }
        verification
    }

    /// The block of a trial: the one that the kernel requires, or one of [`BLOCK`] threads and of the most that it names in turn.
    fn block(&self, trial: u64) -> [u32; 3] {
        let threads = match self.kernel.max_threads {
            Some(most) if most < BLOCK || trial & 2 != 0 => most.min(MOST_THREADS),
            _ => BLOCK,
        };
        self.kernel.required_block.unwrap_or([threads, 1, 1])
    }

    /// Runs one of the two, block after block: what blocks write to one place at a time no two kernels have to agree on.
    fn launch(
        &self,
        (ready, kernel): (&Ready, &Kernel),
        (blocks, block): (u32, [u32; 3]),
        mut args: Vec<Arg>,
        dynamic_shared: u32,
        step_limit: u64,
    ) -> Result<Vec<Arg>, RunError> {
        let (program, entry, grid) = (&ready.program, Some(kernel.name.as_str()), [blocks, 1, 1]);
        for only in 0..u64::from(blocks) {
            let (profile, blocks) = (ready.profile, Some(only..only + 1));
            let options = exec::Options { profile, step_limit, blocks, ..exec::Options::default() };
            let launch = Launch { program, entry, grid, block, args: args.clone(), dynamic_shared, options };
            for (arg, buffer) in args.iter_mut().zip(launch.run()?.buffers) {
                if let (Arg::Buffer(held), Some(buffer)) = (arg, buffer) {
                    *held = buffer;
                }
            }
        }
        Ok(args)
    }

    /// One launch of both.
    fn compare(&self, grid: (u32, [u32; 3]), args: Vec<Arg>, verification: &mut Verification) {
        let Pair { source, kernel, other, twin, arguments, step_limit } = self;
        let before: Vec<Option<Vec<u8>>> = args.iter().map(bytes).collect();
        let dynamic =
            if kernel.dynamic_shared { MOST_SHARED.saturating_sub(kernel.shared_bytes) & !15 } else { SHARED };
        let (translated, shared) = translated_arguments(kernel, arguments, &args, dynamic);
        let expected = match self.launch((source, kernel), grid, args, dynamic, *step_limit) {
            Ok(expected) => expected,
            Err(error) => {
                let (blocks, block) = grid;
                verification.failed += 1;
                verification.failure.get_or_insert(Failure { blocks, block, error });
                return;
            }
        };
        let found = match self.launch(
            (other, twin),
            grid,
            translated,
            shared,
            (*step_limit).max(STEP_LIMIT).saturating_mul(LONGER),
        ) {
            Ok(found) => found,
            Err(error) => {
                verification.different = Some(Difference::Fails(error.to_string()));
                return;
            }
        };
        verification.launches += 1;
        for (place, argument) in arguments.iter().enumerate() {
            let Argument::Param(param) = *argument else { continue };
            let [one, other] = [&expected[param], &found[place]].map(bytes);
            let (Some(one), Some(other)) = (one, other) else { continue };
            if let Some(at) = (0..one.len()).find(|&at| other.get(at) != Some(&one[at])) {
                verification.different = Some(Difference::Byte { param, at });
                return;
            }
            let changed = one.iter().zip(before[param].iter().flatten()).filter(|(now, before)| now != before);
            verification.changed += changed.count() as u64;
        }
    }
}

fn bytes(arg: &Arg) -> Option<Vec<u8>> {
    match arg {
        Arg::Buffer(buffer) => Some(buffer.to_bytes()),
        _ => None,
    }
}

/// What a launch of a translated kernel is given where the source's is given `args` and bytes of dynamic shared memory: its
/// arguments, and its own bytes of dynamic shared memory.
pub fn translated_arguments(
    kernel: &Kernel,
    arguments: &[Argument],
    args: &[Arg],
    dynamic_shared: u32,
) -> (Vec<Arg>, u32) {
    let (offsets, pieces) = shared_pieces(kernel, args);
    // Only what names shared memory takes it out of the launch's.
    let mut dynamic = dynamic_shared;
    let mut one = |argument: &Argument| match *argument {
        Argument::Param(param) => args[param].clone(),
        Argument::BufferBytes(param) => Arg::Scalar(match &args[param] {
            Arg::Buffer(buffer) => buffer.len() as u64,
            _ => 0,
        }),
        Argument::SharedOffset(param) => {
            dynamic = dynamic_shared + pieces;
            Arg::Scalar(offsets[param].into())
        }
        Argument::DynamicShared | Argument::AllShared => {
            dynamic = 0;
            let declared = if *argument == Argument::AllShared { kernel.shared_bytes } else { 0 };
            Arg::Scalar((declared + dynamic_shared).into())
        }
    };
    let args = arguments.iter().map(&mut one).collect();
    (args, dynamic)
}

/// Where each piece of shared memory begins that is given for a parameter, and what all take: [`Argument::SharedOffset`].
fn shared_pieces(kernel: &Kernel, args: &[Arg]) -> (Vec<u32>, u32) {
    let bytes = kernel.params.iter().zip(args).map(|(param, arg)| match arg {
        Arg::Scalar(bytes) if param.passing == Passing::Shared => {
            u32::try_from(*bytes).unwrap_or(u32::MAX - SHARED_PIECE).next_multiple_of(SHARED_PIECE)
        }
        _ => 0,
    });
    let bytes: Vec<u32> = bytes.collect();
    let all = bytes.iter().fold(0, |all: u32, bytes| all.saturating_add(*bytes));
    let mut end = 0u32;
    let offsets = bytes.iter().map(|bytes| {
        end = end.saturating_add(*bytes);
        if *bytes == 0 { all } else { end - bytes }
    });
    (offsets.collect(), all)
}

/// The arguments of one trial.
struct Data<'a> {
    program: &'a Program,
    kernel: &'a Kernel,
    seed: u64,
    trial: u64,
}

impl Data<'_> {
    fn arguments(&self) -> Vec<Arg> {
        let pointers = pointer_parameters(self.program, self.kernel);
        let formats = element_formats(self.program, self.kernel);
        let params = self.kernel.params.iter().enumerate();
        let argument = |(place, param): (usize, &Param)| {
            let mut state = self.seed ^ mixed(place as u64 + 1);
            let mut random = || {
                state = state.wrapping_add(INCREMENT);
                mixed(state)
            };
            let is_buffer = param.passing == Passing::Buffer || param.passing == Passing::Any && pointers[place];
            let format =
                FORMATS.into_iter().find(|format| format.name().is_some_and(|name| formats[place].contains(name)));
            match (param.passing, param.scalar) {
                (Passing::Shared, _) => Arg::Scalar(SHARED.into()),
                _ if is_buffer => Arg::Buffer(Buffer::from_bytes(&self.elements(format, &mut random))),
                (_, Some(Scalar::Float(format))) => Arg::Scalar(number(format, self.trial, &mut random)),
                _ if param.size > 8 => {
                    let bytes = self.elements(None, &mut random);
                    Arg::Bytes(bytes.into_iter().cycle().take(param.size as usize).collect())
                }
                _ => Arg::Scalar(COUNTS[random() as usize % COUNTS.len()]),
            }
        };
        params.map(argument).collect()
    }

    /// A buffer: floats of its format where the kernel's code tells, otherwise small integers or f32.
    fn elements(&self, format: Option<Format>, random: &mut dyn FnMut() -> u64) -> Vec<u8> {
        let format = format.or(self.trial.is_multiple_of(2).then_some(Format::F32));
        let mut bytes = Vec::with_capacity(BUFFER);
        while bytes.len() < BUFFER {
            match format {
                Some(format) => {
                    let bits = number(format, self.trial, random);
                    bytes.extend_from_slice(&bits.to_le_bytes()[..(format.width() / 8) as usize]);
                }
                None => bytes.extend_from_slice(&((random() % 16) as u32).to_le_bytes()),
            }
        }
        bytes
    }
}

/// The formats of elements.
const FORMATS: [Format; 4] = [Format::F32, Format::F64, Format::F16, Format::BF16];
/// Integers that count elements or threads.
const COUNTS: [u64; 6] = [64, 16, 128, 7, 32, 1];

/// A number of a format: in the first trials of moderate size, later any bits, and numbers at the edges of the format, among
/// them a NaN that says whether payloads are kept.
fn number(format: Format, trial: u64, random: &mut dyn FnMut() -> u64) -> u64 {
    let any = random();
    let mask = u64::MAX >> (64 - format.width());
    let (fraction, sign) = (format.frac_bits(), any & (mask ^ mask >> 1));
    match (trial % 4, any >> 60) {
        (3, 0..8) => {
            let (one, infinity) = (format.one(), format.infinity());
            let nan = infinity | format.quiet_bit() | 0x25;
            let edges = [0, 1, (1 << fraction) - 1, 1 << fraction, infinity, infinity - 1, one, one + 1, nan];
            edges[(any >> 40) as usize % edges.len()] | sign
        }
        (2.., _) => any & mask,
        // Between 2^-4 and 2^4.
        _ => {
            let exponent = (any >> 32) % 8;
            sign | (format.one() + (exponent << fraction) - (4 << fraction)) | any & ((1 << fraction) - 1)
        }
    }
}
