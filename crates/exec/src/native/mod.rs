//! A just-in-time compiler for the hot parts of kernels, for x86-64 with AVX-512 or AVX2, and for AArch64. Its code gives the
//! interpreter's bits; where it cannot, the interpreter runs.
//!
//! A **region** (`region`) is a part of a kernel with one entry. It extends along all paths up to the instructions that
//! only the interpreter runs: barriers, atomics, shuffles, and what has no code here. It is compiled when a group of
//! lanes reaches its entry and the launch is long enough to pay for it (`interp/native_entries`), for launches with the same
//! parameters and sizes, which are constants of the code (`code_cache`).
//!
//! The code runs **tiles** of 16 to 128 lanes one after another, each through the whole region, so that a tile's values
//! stay in the processor's registers. `shape` finds the values that a tile needs only once (uniform ones, and uniform
//! ones plus a fixed pattern such as `tid.x` or `tid.x & 31`, by what `numbers` knows of a launch's registers), `deferred` the steps of the arithmetic pipeline that can be deferred
//! until the bits are observed, `indexed` the addresses that are a base and an index of 32 bits, `schedule` orders the instructions, `alloc` allocates
//! registers, and `emit` writes the code.
//!
//! A tile runs as a transaction: it stores after everything that can fail has been checked. When an access is out
//! of bounds or the step budget runs out, the code takes a **side exit**: nothing has been written, and the interpreter
//! runs the tile's lanes from the region's entry, so it reports the same error at the same instruction. Where code follows
//! stores the tile **commits** what it has, as at an exit; a side exit behind leaves it there. A divergent
//! branch is a side exit too, until so many tiles have diverged that the region is compiled again: with short sides of
//! branches under masks, which all lanes pass together (`region/detour`), or, where that is not enough, for divergent lanes:
//! then the paths run one after another under masks (`emit/divergence`), and `inactive` says which registers are live in
//! the inactive lanes. The budget is a tile's: the interpreter runs more lanes at a time and may exhaust it earlier
//! where lanes diverge, and later where tiles go on one by one behind what they have committed. The tiles that completed
//! before had no error, so the first error is the same one, unless a tile that committed in a loop is iterations ahead of
//! others: of two errors of one instruction the interpreter may then meet the other one first.
//!
//! Registers have as many bits a lane as the kernel says, but those of 16 bits have 32, zeros above (`emit/half`,
//! `emit/convert`).
//!
//! A warp's lanes are always in one tile, so that its lanes see each other's stores in the interpreter's order. Threads of
//! different warps that race without a barrier have no order to keep; in global memory those of a block keep the
//! interpreter's all the same where addresses show that they might race (`CompiledRegion::may_conflict`): such stores are the interpreter's.

mod alloc;
mod asm;
mod budget;
mod butterfly;
mod call;
mod code_cache;
mod compile;
mod deferred;
mod emit;
mod folded;
mod frame;
mod inactive;
mod indexed;
mod numbers;
mod quotient;
mod region;
mod run;
mod schedule;
mod shape;
mod tile;
mod warp_lanes;

pub(crate) use code_cache::{CodeCache, History};
pub(crate) use compile::{CompiledRegion, Input, LiveValue, MAX_TILE, MIN_TILE};
pub(crate) use region::{CompileMode, Exit, ProgramPoint, is_supported, live_registers};
pub(crate) use run::{AccessEnd, CodeInstance, SegmentView, TileCounts, TileOutcome};

use crate::kernel::{DecodedKernel, LOCAL_WINDOW, LaunchConfig, Machine, PARAM_WINDOW, SHARED_WINDOW, read_element};
use crate::scalar::sign_extend;
use roundonce_ir::{Op, Special};

/// What is known of a launch, all of which is constant in its code.
#[derive(Clone, Copy)]
pub(crate) struct LaunchConstants<'a> {
    pub(crate) code: &'a DecodedKernel<'a>,
    pub(crate) config: &'a LaunchConfig,
}

impl LaunchConstants<'_> {
    /// What code is compiled for.
    fn machine(&self) -> Machine {
        self.config.native.unwrap_or(Machine::Avx512)
    }
    fn axes(size: [u32; 3], index: u64) -> [u32; 3] {
        LaunchConfig::axes(size, index)
    }
    /// A special register that is the same for all threads and known before the launch.
    fn constant(&self, special: Special) -> Option<u64> {
        let LaunchConfig { grid, block, dynamic_shared, variables, buffer_bytes, .. } = self.config;
        Some(match special.in_engine() {
            Special::Ntid(axis) => block[axis as usize % 3].into(),
            Special::Nctaid(axis) => grid[axis as usize % 3].into(),
            Special::Warps => self.config.threads().div_ceil(32) as u64,
            Special::DynamicShared => (*dynamic_shared).into(),
            Special::TotalShared => self.config.shared_bytes(),
            Special::Address(variable) => *variables.get(variable as usize)?,
            Special::BufferBytes(param) => *buffer_bytes.get(param as usize)?,
            Special::SharedWindow => SHARED_WINDOW,
            Special::LocalWindow => LOCAL_WINDOW,
            Special::ParamWindow => PARAM_WINDOW,
            Special::Placement(placement) => placement.value()?,
            _ => return None,
        })
    }
    /// An element of the parameter block.
    fn param(&self, at: u64, bytes: u32, signed: bool) -> Option<u64> {
        let fits = at < self.config.param_bytes && self.config.param_bytes - at >= bytes.into();
        if !fits || !at.is_multiple_of(bytes.into()) {
            return None;
        }
        let value = read_element(|index| self.config.params[index], at, bytes);
        Some(if signed { sign_extend(value, bytes * 8) as u64 } else { value })
    }
}

/// Whether a launch of a kernel may use native code at all: not where single instructions are observed.
pub(crate) fn may_run(launch: &LaunchConstants<'_>) -> bool {
    let LaunchConfig { check_races, trace_lane, count_lines, observed, .. } = launch.config;
    let observed = *check_races || trace_lane.is_some() || *count_lines || observed.any();
    let clock = |op: &Op| matches!(op, Op::Special { special: Special::Clock, .. });
    !observed && !launch.code.insts().any(|inst| clock(inst.op))
}
