#![doc = include_str!("../README.md")]
//!
//! The program that engines run and analyses read: kernels of typed virtual registers and basic blocks, with no trace
//! of the language they come from but a [`SourceLoc`] an instruction.
//!
//! A front end (PTX, SASS, SPIR-V) builds a [`Program`]; [`Program::verify`] says whether it is one; an engine runs a
//! [`Kernel`] of it. This page says what running means. Two engines that follow it give the same bits.
//!
//! # Kernels and registers
//!
//! A kernel is run by every thread of a grid of blocks of threads. Each thread has its own copy of the kernel's
//! registers; a register has one of four widths ([`Width`]): a predicate, 16, 32 or 64 bits. Registers hold bits
//! without a type: the operation says whether they are an integer, a float or an address. 8-bit values are held in
//! 16-bit registers: a load extends them, a store writes the low half. Registers may be written any number of times
//! (this is not SSA form). What one holds before it is written is not defined: a front end takes care that it is.
//!
//! Nothing is implicit. An operand has the width that the operation asks for; a conversion, an extraction of bits or a
//! sign flip is an operation of its own. Constants are operands ([`Operand::Imm`]): their bits, as wide as asked for.
//!
//! # Order of evaluation
//!
//! A thread starts at the first instruction of block 0. An instruction reads all its operands, then writes its
//! destinations, so that a destination may be an operand too. Instructions of a block run in order; the
//! [`Terminator`] then names the next block or ends the thread. Between threads no order is defined but what barriers,
//! atomics and fences give; engines run the blocks of a grid in the order of their numbers, or at the same time where
//! no instruction lets one see another.
//!
//! # Guards
//!
//! An instruction may have a [`Guard`], a predicate register and the value it must have. Where it has another value
//! the instruction does nothing in that thread: no destination is written, no memory touched, no error raised.
//! Terminators have no guard; a conditional jump is [`Terminator::Branch`].
//!
//! # Divergence and reconvergence
//!
//! Threads run in warps of 32 lanes. Where lanes of a warp take different successors of a block they diverge; each part
//! then runs on its own, and they reconverge at the immediate post-dominator of the branch ([`Cfg::ipdom`]), the first
//! block that all paths lead through. Of several parts that of the block first in [`Cfg::priority`] runs first. Which
//! lanes run together is only seen by operations between lanes ([`Op::Shuffle`], [`Op::Vote`], …): those with a mask
//! of lanes wait for the lanes of the mask, those without act on the lanes that arrive together.
//!
//! # Memory
//!
//! Loads and stores name an address space ([`Space`]). Global, shared, local and parameter memory are bytes in
//! little-endian order, at addresses aligned to the size of an element; [`Space::Generic`] covers the first three by
//! windows of the address. An access outside a buffer or a variable, or a misaligned one, ends the launch with an error
//! that names the instruction.
//!
//! # Memory order
//!
//! What a source asks of accesses that other threads see (volatile, acquire, release, and for whom) stands at the
//! instruction ([`MemoryOrder`]). Engines need none of it, since they do what is written in the order in which it is
//! written; a translation keeps it.
//!
//! # Images
//!
//! An image ([`ImageShape`], [`TexelType`]) is an argument, known by a handle of 64 bits; a sampler is a number of 64 bits
//! ([`Sampler::to_bits`]), or the handle of an image that has one. Linear filtering weighs the texels by fractions of 8
//! bits and rounds their sum once ([`Op::ImageSample`]).
//!
//! # Floats, one rounding, packed operations
//!
//! [`Op::Float`] is one [`Operation`](roundonce_arith::Operation) of the multiply-add family: exact, then rounded once,
//! by the rules of `roundonce_arith`. With `components: 2` its operands are packed: a register holds both components,
//! the first in the low bits, and each is computed on its own. It stays one operation, so that an analysis sees what
//! the assembler sees. Engines that compute one value at a time take it apart when they decode a kernel
//! ([`scalarize`]).
//!
//! # Contraction
//!
//! A product and an addition that are `contractible` may be computed as one multiply-add, with one rounding in place
//! of two. The kernel as it stands means two roundings. Which pairs the assembler fuses, by the rules observed of it,
//! is what [`candidates`] says; [`contract`] rewrites the kernel so.
//!
//! # What `verify` guarantees
//!
//! Every register, block, source location and variable named exists; every operand has a width that its operation
//! takes; formats, component counts and sizes are ones that engines have. It does not say that the program ends, that its
//! addresses are valid, that its barriers are reached by all, or that no [`Op::Unsupported`] is reached.
//!
//! # An example
//!
//! `y = x + x` in single precision, then 2x in both halves of a register:
//!
//! ```
//! use roundonce_arith::{ArithOp, Format, Operation, Rounding};
//! use roundonce_ir::{Block, Instruction, Kernel, Op, Operand, Program, Terminator, Width};
//! let mut kernel = Kernel::new("twice");
//! let (x, y, halves) = (kernel.register(Width::B32), kernel.register(Width::B32), kernel.register(Width::B32));
//! let add = |format| Operation::new(ArithOp::Add, format, Rounding::NearestEven);
//! let float = |d, format, components| {
//!     let args = [Operand::Reg(x), Operand::Reg(x), Operand::ZERO];
//!     Instruction::new(Op::Float { d, operation: add(format), components, contractible: false, args }, 0)
//! };
//! kernel.blocks.push(Block {
//!     instructions: vec![float(y, Format::F32, 1), float(halves, Format::F16, 2)],
//!     terminator: Terminator::Exit,
//!     loc: 0,
//! });
//! assert!(Program::of(kernel).verify().is_ok());
//! ```
//!
//! Reading order: this file (registers, blocks, kernels), `op` (the operations), `types`, `image` and `matrix` (what tells
//! them apart), `operands` (what they read and write), `order` (how memory is ordered for others), `verify`, `cfg` (control flow), `liveness`, `contraction` and `fuse`,
//! `scalarize`.

mod cfg;
mod contraction;
mod equivalence;
pub mod flow;
mod fuse;
mod image;
mod liveness;
mod matrix;
mod op;
mod operands;
mod order;
#[cfg(test)]
mod random;
mod scalarize;
mod types;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub use cfg::{Cfg, Dominators};
pub use contraction::{Candidate, Position, candidates, unrolled_candidates};
pub use equivalence::{Given, Unproved, equal, equal_in_order};
pub use fuse::{Writes, contract, fuse};
pub use image::{AddressMode, Border, ImageProperty, ImageShape, ImageType, Outside, Sampler, TexelType};
pub use liveness::{LiveSet, Liveness, step_back};
pub use matrix::{Fragment, MatrixMultiply, ScaleFragment, ScaleOperand};
pub use op::Op;
pub use operands::Role;
pub use order::{MemoryOrder, Scope, Semantics};
pub use roundonce_functions::Function;
pub use scalarize::{runnable, scalarize};
pub use types::{
    AtomicKind, BarrierKind, Class, Comparand, Comparison, HighHalf, IntOp, PermuteMode, Placement, Reduction, Scalar,
    ShuffleMode, Signedness, Special, VoteMode, arrival,
};
pub use verify::VerifyError;

/// How large a kernel may be where nothing else is asked for: its operations and blocks, with its calls inlined. A front
/// end refuses a larger one before it takes the memory.
pub const LARGEST_KERNEL: usize = 1 << 20;

/// What a front end calls a kernel that is larger than a limit, and the help that it gives.
pub fn too_large(limit: usize) -> (String, &'static str) {
    let what = format!("a kernel of more than {limit} operations and blocks, its calls inlined,");
    (what, "let it call less, or raise the limit: `--limit-instructions`")
}

/// How large the kernels of a module may be together where each may have so many operations and blocks: calls are inlined in each, so that
/// they grow with the product of kernels and functions, and a text of so many bytes has few operations that are no call's.
pub const fn largest_module(largest_kernel: usize, bytes: usize) -> usize {
    largest_kernel.saturating_mul(2).saturating_add(bytes / 8)
}

/// As [`too_large`] of the kernels of a module.
pub fn too_large_together(limit: usize) -> (String, &'static str) {
    let what = format!("kernels of more than {limit} operations and blocks together, their calls inlined,");
    (what, "name one of them, `--entry`, or raise the limit: `--limit-instructions`")
}

/// The width of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    /// A predicate: false or true.
    Pred,
    /// 16 bits, or 8 in the low half.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
}

impl Width {
    /// Bits of a value; a predicate has one.
    pub const fn bits(self) -> u32 {
        match self {
            Width::Pred => 1,
            Width::B16 => 16,
            Width::B32 => 32,
            Width::B64 => 64,
        }
    }
    /// The bits that a value may have set.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
    /// The register width that holds this many bits.
    pub const fn holding(bits: u32) -> Width {
        match bits {
            0 | 1 => Width::Pred,
            2..=16 => Width::B16,
            17..=32 => Width::B32,
            _ => Width::B64,
        }
    }
}

/// A register of a kernel, an index into [`Kernel::registers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u32);

/// A register or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// Bits, as wide as the operation asks.
    Imm(u64),
}

impl Operand {
    /// The constant 0, and what stands in a place that the operation does not use.
    pub const ZERO: Operand = Operand::Imm(0);
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

/// A condition on an instruction: it acts only in the lanes where the predicate is `expected`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// A predicate register.
    pub pred: Reg,
    /// What it must be.
    pub expected: bool,
}

/// An instruction and where it comes from.
#[derive(Clone, PartialEq, Debug)]
pub struct Instruction {
    /// What it does.
    pub op: Op,
    /// In which lanes.
    pub guard: Option<Guard>,
    /// An index into [`Kernel::source_locs`].
    pub loc: u32,
    /// How the source orders it for other threads; see [`effective_order`](Instruction::effective_order).
    pub order: MemoryOrder,
}

impl Instruction {
    /// Without a guard, and ordered as an operation of its kind is at least.
    pub const fn new(op: Op, loc: u32) -> Instruction {
        Instruction { op, guard: None, loc, order: MemoryOrder::WEAK }
    }
}

/// How a block ends. Targets are indices into [`Kernel::blocks`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Terminator {
    /// On to another block.
    Jump(usize),
    /// By a predicate.
    Branch {
        /// A predicate register.
        pred: Reg,
        /// Where it is true.
        then: usize,
        /// Where it is false.
        otherwise: usize,
    },
    /// By a number.
    Switch {
        /// 32 bits.
        index: Operand,
        /// The target of each index from 0.
        targets: Vec<usize>,
        /// Of every other index.
        otherwise: usize,
    },
    /// The thread ends.
    Exit,
}

impl Terminator {
    /// Every block that may follow.
    pub fn successors(&self) -> Vec<usize> {
        match self {
            Terminator::Jump(target) => vec![*target],
            Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Terminator::Switch { targets, otherwise, .. } => {
                let mut all = targets.clone();
                all.push(*otherwise);
                all
            }
            Terminator::Exit => Vec::new(),
        }
    }
}

/// Straight-line code and where it leads.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// In order.
    pub instructions: Vec<Instruction>,
    /// Afterwards.
    pub terminator: Terminator,
    /// The terminator's place, an index into [`Kernel::source_locs`]; 0 where no instruction ends the block.
    pub loc: u32,
}

/// Where an instruction stands in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLoc {
    /// From 1; 0 where there are no lines (a word's index may serve a binary).
    pub line: u32,
    /// The instruction as written, or as a disassembler writes it.
    pub text: String,
    /// What it was compiled from, where the module says it: `saxpy.cu:7:12`; empty otherwise.
    pub source: String,
    /// Its bytes in the text of the module; empty where that is no text.
    pub span: Range<usize>,
}

/// A parameter of a kernel, as a launch sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name, or `set.binding`.
    pub name: String,
    /// Its first byte in the parameter block.
    pub offset: u32,
    /// Its bytes: 4 or 8 for an address, any number for a structure passed by value.
    pub size: u32,
    /// What the source declares, as written (`.f32`, `.u64`), so that a number given in decimal becomes the right
    /// bits; `None` where nothing says it.
    pub scalar: Option<Scalar>,
    /// What may be given for it.
    pub passing: Passing,
}

/// What a launch may give for a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Passing {
    /// A value, or a buffer whose address it receives: the language passes addresses as integers.
    Any,
    /// A buffer alone.
    Buffer,
    /// A value alone.
    Value,
    /// A number of bytes of the block's shared memory, whose address it receives: a `__local` pointer of OpenCL C. Zero
    /// bytes stand for the launch's dynamic shared memory.
    Shared,
    /// An image, whose handle it receives.
    Image(ImageType),
    /// A sampler.
    Sampler,
}

/// Memory that exists before a kernel starts and outlives it: `.global` and `.const` variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its first bytes; the rest is zero.
    pub initial: Vec<u8>,
    /// Its bytes in all.
    pub size: u64,
    /// Its address is a multiple of this power of two.
    pub align: u64,
    /// Whether stores are refused.
    pub constant: bool,
    /// Addresses to be written into it before the start: at a byte offset, the address of the variable of that
    /// index plus an addend, in this many bytes.
    pub relocations: Vec<Relocation>,
}

/// An address inside an initial value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Where, in bytes.
    pub offset: u64,
    /// Of which variable, an index into [`Program::variables`].
    pub variable: u32,
    /// Plus this.
    pub addend: i64,
    /// How many bits of the address are left out below.
    pub shift: u8,
    /// In so many bytes: 1, 2, 4 or 8.
    pub bytes: u8,
}

/// An address space of loads and stores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// Buffers and `.global` variables.
    Global,
    /// Memory that the threads of a block share.
    Shared,
    /// `.const` variables: the same addresses as [`Space::Global`], no stores.
    Const,
    /// A thread's own memory.
    Local,
    /// The kernel's parameters, no stores.
    Param,
    /// Any of the above but `Param`, chosen by the address.
    Generic,
}

/// A kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// In order.
    pub params: Vec<Param>,
    /// How many of the first parameters are members of a block of push constants.
    pub push_constants: usize,
    /// Bytes of the parameter block.
    pub param_bytes: u32,
    /// Bytes of shared memory that it declares.
    pub shared_bytes: u32,
    /// What shared memory's first byte has an address that is a multiple of: a power of two.
    pub shared_align: u32,
    /// Whether it may use shared memory beyond that, which a launch gives: it names an array of no size, or nothing says it.
    pub dynamic_shared: bool,
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// The threads of a block that it asks for, where it does.
    pub required_block: Option<[u32; 3]>,
    /// The most threads of a block, where it says.
    pub max_threads: Option<u32>,
    /// The widths of its registers.
    pub registers: Vec<Width>,
    /// The first is where every thread starts.
    pub blocks: Vec<Block>,
    /// The places that instructions name.
    pub source_locs: Vec<SourceLoc>,
    /// Whether places are numbered by addresses, as machine code is, and not by lines.
    pub addresses: bool,
    /// Whether several elements that are accessed together lie at a multiple of all their bytes, and not only of one's.
    pub aligned_vectors: bool,
    /// Blocks that an assembler does not join with the one before, even where nothing else leads to them: the body of
    /// a function that was inlined, what follows it, and what follows a fence that no engine needs.
    pub separate: Vec<usize>,
    /// Blocks that a front end knows to be seldom reached: an engine that compiles need not compile them.
    pub unlikely: BTreeSet<usize>,
    /// By place, conversions of floats that are computed in several steps: each as the one operation that it is, with the
    /// register that the last step writes. Who observes floats sees it in place of the steps.
    pub stepwise: BTreeMap<u32, Vec<Op>>,
}

/// What a place is called by its number: `line 12`, or as an address `0x0148`.
pub fn place_name(is_address: bool, number: u32) -> String {
    if is_address { format!("{number:#06x}") } else { format!("line {number}") }
}

impl Kernel {
    /// An empty kernel with one place, 0, that says nothing.
    pub fn new(name: impl Into<String>) -> Kernel {
        Kernel {
            name: name.into(),
            params: Vec::new(),
            push_constants: 0,
            param_bytes: 0,
            shared_bytes: 0,
            shared_align: 1,
            dynamic_shared: false,
            local_bytes: 0,
            required_block: None,
            max_threads: None,
            registers: Vec::new(),
            blocks: Vec::new(),
            source_locs: vec![SourceLoc { line: 0, text: String::new(), source: String::new(), span: 0..0 }],
            addresses: false,
            aligned_vectors: false,
            separate: Vec::new(),
            unlikely: BTreeSet::new(),
            stepwise: BTreeMap::new(),
        }
    }
    /// What a place is called: `line 12`, of machine code `0x0148`.
    pub fn place_name(&self, line: u32) -> String {
        place_name(self.addresses, line)
    }
    /// The places of its additions of floats to memory whose order nothing fixes ([`Op::is_unordered_sum`]), in order.
    pub fn unordered_sums(&self) -> Vec<u32> {
        let instructions = self.blocks.iter().flat_map(|block| &block.instructions);
        let sums = instructions.filter(|instruction| instruction.op.is_unordered_sum());
        self.lines(sums)
    }
    /// The places of the sums into which the assembler may fuse a product, where it unrolls a loop among them, in order.
    pub fn contractible_lines(&self) -> Vec<u32> {
        let as_written = candidates(self);
        let unrolled = unrolled_candidates(self, &as_written);
        let fused = as_written.into_iter().filter(|candidate| candidate.fuses).chain(unrolled);
        self.lines(fused.map(|Candidate { sum, .. }| &self.blocks[sum.block].instructions[sum.index]))
    }
    fn lines<'a>(&self, instructions: impl Iterator<Item = &'a Instruction>) -> Vec<u32> {
        let lines: BTreeSet<u32> = instructions.map(|it| self.source_locs[it.loc as usize].line).collect();
        lines.into_iter().collect()
    }
    /// A new register.
    pub fn register(&mut self, width: Width) -> Reg {
        self.registers.push(width);
        Reg(self.registers.len() as u32 - 1)
    }
    /// The width of a register; of one that is not the kernel's, 64 bits.
    pub fn width(&self, reg: Reg) -> Width {
        self.registers.get(reg.0 as usize).copied().unwrap_or(Width::B64)
    }
}

/// A module's kernels and what they share.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// Every kernel that can be launched.
    pub kernels: Vec<Kernel>,
    /// Memory beside the buffers.
    pub variables: Vec<Variable>,
    /// 32 or 64: how wide an address is.
    pub address_bits: u32,
}

impl Program {
    /// One kernel with 64-bit addresses and no variables.
    pub fn of(kernel: Kernel) -> Program {
        Program { kernels: vec![kernel], variables: Vec::new(), address_bits: 64 }
    }
    /// The kernel of a name, or the only one where no name is given.
    pub fn kernel(&self, name: Option<&str>) -> Option<&Kernel> {
        match name {
            Some(name) => self.kernels.iter().find(|kernel| kernel.name == name),
            None if self.kernels.len() == 1 => self.kernels.first(),
            None => None,
        }
    }
}
