//! A launch, its options, its report and its error.

use super::shadow::ShadowReport;
use crate::interp::{Exception, FaultKind, ResultDigest, TraceLine};
use crate::kernel::{Buffer, Image, Machine, Observed, StopSignal};
use roundonce_arith::Profile;
use roundonce_functions::Breadth;
use roundonce_ir::{Program, Sampler, place_name};
use std::collections::BTreeMap;
use std::ops::Range;

/// What an assembler may do with products that an addition alone uses, where the source leaves it open.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Contract {
    /// Nothing is fused.
    #[default]
    None,
    /// Everything that may be is.
    Fuse,
    /// Both are run and compared; the buffers are those of `None`.
    Report,
}

/// What executes a kernel. The results do not depend on it, but where threads of different warps race: nothing determines
/// their order, and engines may have another one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Engine {
    /// The interpreter, and native code once the launch is long enough to pay for compiling it.
    #[default]
    Auto,
    /// Native code where the compiler supports it, from the start; the interpreter elsewhere.
    Native,
    /// The same for AVX2, also where the processor has AVX-512.
    Avx2,
    /// The same for AArch64 under Linux.
    Neon,
    /// The interpreter alone.
    Interpreter,
}

impl Engine {
    /// Those that compile from the start on this processor, no two of which make the same code.
    pub fn native() -> &'static [Engine] {
        match Machine::of_processor() {
            Some(Machine::Avx512) => &[Engine::Native, Engine::Avx2],
            _ => &[Engine::Native],
        }
    }
    /// Whether the processor has the instructions that it is named after.
    pub fn is_available(self) -> bool {
        !matches!(self, Engine::Avx2 | Engine::Neon) || self.machine().is_some()
    }
    /// What native code is compiled for, where the processor has it.
    pub(crate) fn machine(self) -> Option<Machine> {
        match self {
            Engine::Auto | Engine::Native => Machine::of_processor(),
            Engine::Avx2 => Some(Machine::Avx2).filter(|machine| machine.is_available()),
            Engine::Neon => Some(Machine::Neon).filter(|machine| machine.is_available()),
            Engine::Interpreter => None,
        }
    }
}

/// How a launch is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether contractible products are fused.
    pub contract: Contract,
    /// The choices that the documents leave open.
    pub profile: Profile,
    /// Instructions that may be issued for one batch of blocks before the launch fails. With divergent lanes the count depends
    /// on how many run together, and native code runs fewer: it is a bound on time, not a result.
    pub step_limit: u64,
    /// Stops the launch from another thread.
    pub stop: StopSignal,
    /// What compiling to native code may cost, in steps of the compiler's inner loops (about a nanosecond each). What is
    /// beyond is interpreted.
    pub compile_limit: u64,
    /// Whether native code is taken from an earlier launch of the process that was the same but for its data, and is left for later ones. If
    /// not, what runs natively does not depend on other launches; the results never do.
    pub keep_code: bool,
    /// Bytes of buffers, variables, shared and local memory, and of the interpreter's registers together.
    pub memory_limit: u64,
    /// Worker threads. Kernels whose blocks may communicate (atomics on global memory, fences, loops that wait) run on
    /// one, block after block, those that wait in turns, so that their results are deterministic.
    pub threads: usize,
    /// Unordered accesses of two threads of a block to the same shared memory are an error.
    pub check_races: bool,
    /// The thread, counted through the grid (block by block, x first), whose instructions are recorded.
    pub trace_lane: Option<u64>,
    /// Only these blocks run, counted through the grid, x first. Their numbers and the grid's size are those of the whole
    /// launch; what lies beyond the grid is left out.
    pub blocks: Option<Range<u64>>,
    /// Instructions are counted by line.
    pub count_lines: bool,
    /// NaN, infinite, subnormal and inexact results are counted by instruction, in one thread.
    pub count_exceptions: bool,
    /// Every float has a wider one beside it, in one thread: how far rounding has moved the results.
    pub shadow: Option<Breadth>,
    /// Every instruction's results are digested, in one thread.
    pub digest_results: bool,
    /// What executes it.
    pub engine: Engine,
}

impl Options {
    pub(crate) const fn observed(&self) -> Observed {
        Observed { exceptions: self.count_exceptions, shadow: self.shadow, digests: self.digest_results }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            contract: Contract::None,
            profile: Profile::NVIDIA,
            step_limit: 1 << 30,
            stop: StopSignal::default(),
            compile_limit: 1 << 30,
            keep_code: true,
            memory_limit: 16 << 30,
            threads: 1,
            check_races: false,
            trace_lane: None,
            blocks: None,
            count_lines: false,
            count_exceptions: false,
            shadow: None,
            digest_results: false,
            engine: Engine::Auto,
        }
    }
}

/// An argument of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A number's bits, as wide as the parameter.
    Scalar(u64),
    /// A structure passed by value.
    Bytes(Vec<u8>),
    /// Memory: the parameter receives its address, the report its contents afterwards.
    Buffer(Buffer),
    /// Some bytes of a buffer, for blocks that access no others ([`footprints`](Launch::footprints)). The parameter receives the address
    /// that the whole buffer would have, the report these bytes afterwards. An access to the others is a fault, [`FaultKind::Absent`].
    Slice {
        /// The bytes that are given.
        bytes: Buffer,
        /// Where in the buffer they begin: a multiple of 256, what buffers are aligned to, so that accesses are aligned as in all of it.
        at: u64,
        /// How many bytes the buffer has.
        of: u64,
    },
    /// An image: the parameter receives its handle, the report its contents afterwards.
    Image(Image),
    /// A sampler.
    Sampler(Sampler),
}

impl Arg {
    /// How many bytes the buffer has that it is.
    pub(super) fn buffer_bytes(&self) -> Option<u64> {
        match self {
            Arg::Buffer(buffer) => Some(buffer.len() as u64),
            Arg::Slice { of, .. } => Some(*of),
            _ => None,
        }
    }
}

/// A kernel with its grid, arguments and options.
///
/// ```
/// use roundonce_exec::{Arg, Buffer, Launch, Options};
/// use roundonce_ir::*;
/// // out[tid.x] = tid.x
/// let mut kernel = Kernel::new("iota");
/// kernel.params.push(Param { name: "out".into(), offset: 0, size: 8, scalar: None, passing: Passing::Buffer });
/// kernel.param_bytes = 8;
/// let (out, tid) = (kernel.register(Width::B64), kernel.register(Width::B32));
/// let (wide, address) = (kernel.register(Width::B64), kernel.register(Width::B64));
/// let load = Op::Load {
///     d: vec![Some(out)], space: Space::Param, bytes: 8, signed: false, address: Operand::ZERO, offset: 0,
/// };
/// let tid_x = Op::Special { d: tid, special: Special::Tid(0) };
/// let args = [Operand::Reg(tid), Operand::Imm(4), Operand::ZERO, Operand::ZERO];
/// let scale = Op::Int { d: wide, op: IntOp::MulWide(Signedness::Unsigned), width: Width::B32, args };
/// let args = [Operand::Reg(out), Operand::Reg(wide), Operand::ZERO, Operand::ZERO];
/// let add = Op::Int { d: address, op: IntOp::Add, width: Width::B64, args };
/// let store = Op::Store {
///     values: vec![Operand::Reg(tid)], width: Width::B32, space: Space::Global, bytes: 4,
///     address: Operand::Reg(address), offset: 0,
/// };
/// let instructions = [load, tid_x, scale, add, store].map(|op| Instruction::new(op, 0)).to_vec();
/// kernel.blocks.push(Block { instructions, terminator: Terminator::Exit, loc: 0 });
/// let program = Program::of(kernel);
/// let launch = Launch {
///     program: &program,
///     entry: None,
///     grid: [1, 1, 1],
///     block: [3, 1, 1],
///     args: vec![Arg::Buffer(Buffer::zeros(12))],
///     dynamic_shared: 0,
///     options: Options::default(),
/// };
/// let report = launch.run().unwrap();
/// assert_eq!(report.buffers[0].as_ref().unwrap().words(), [0, 1, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The module.
    pub program: &'a Program,
    /// The kernel; may be left out where there is only one.
    pub entry: Option<&'a str>,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// One for each parameter.
    pub args: Vec<Arg>,
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared: u32,
    /// How.
    pub options: Options,
}

/// The results of a launch.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// The buffers afterwards, one entry an argument; `None` for numbers.
    pub buffers: Vec<Option<Buffer>>,
    /// How often each approximate instruction ran: these results are correctly rounded, not the GPU's bits.
    pub approximations: BTreeMap<String, u64>,
    /// What the kernel printed.
    pub printed: String,
    /// Instructions that were run, counted by thread.
    pub steps: u64,
    /// How many of them by native code.
    pub native_steps: u64,
    /// What the traced thread did.
    pub trace: Vec<TraceLine>,
    /// Lines of the additions that contraction fuses.
    pub fused: Vec<u32>,
    /// Where contraction changes the results ([`Contract::Report`]).
    pub differences: Vec<Difference>,
    /// How often each line ran, by thread ([`Options::count_lines`]).
    pub lines: BTreeMap<u32, u64>,
    /// Results of each kind by instruction, in the order of their first occurrences ([`Options::count_exceptions`]).
    pub exceptions: Vec<Exception>,
    /// How far rounding moved the results ([`Options::shadow`]).
    pub shadow: Option<ShadowReport>,
    /// Digests of each instruction's results, in the order of their first ([`Options::digest_results`]).
    pub digests: Vec<ResultDigest>,
}

/// A buffer that contraction changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Of which argument.
    pub arg: usize,
    /// Words of 32 bits that differ.
    pub words: usize,
    /// The first of them.
    pub first: usize,
    /// Without contraction.
    pub unfused: u32,
    /// With it.
    pub fused: u32,
}

/// Why a launch failed, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunError {
    /// Of which kind.
    pub kind: FaultKind,
    /// What happened.
    pub message: String,
    /// The kernel.
    pub kernel: String,
    /// The line of the instruction, 0 where none is to blame.
    pub line: u32,
    /// Whether that is an address, of machine code.
    pub is_address: bool,
    /// The instruction as written.
    pub instruction: String,
    /// The block and the thread in it.
    pub thread: Option<([u32; 3], [u32; 3])>,
}

impl RunError {
    /// The launch does not fit the kernel.
    pub(super) fn usage(kernel: &str, message: String) -> RunError {
        RunError {
            kind: FaultKind::Usage,
            message,
            kernel: kernel.to_owned(),
            line: 0,
            is_address: false,
            instruction: String::new(),
            thread: None,
        }
    }
}

impl core::fmt::Display for RunError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "kernel `{}`", self.kernel)?;
        if self.line > 0 {
            write!(f, ", {}", place_name(self.is_address, self.line))?;
        }
        if !self.instruction.is_empty() {
            write!(f, ", `{}`", self.instruction)?;
        }
        if let Some((block, thread)) = self.thread {
            let axes = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
            write!(f, ", block {} thread {}", axes(block), axes(thread))?;
        }
        write!(f, ": {}", self.message)
    }
}

impl core::error::Error for RunError {}
