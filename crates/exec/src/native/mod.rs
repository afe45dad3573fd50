//! Native code for the hot parts of kernels, on x86-64 with AVX-512. It gives the interpreter's bits; where it cannot,
//! the interpreter goes on.
//!
//! A **region** (`region`) is a piece of a kernel from one entry along all paths to the instructions that are the
//! interpreter's alone: barriers, atomics, shuffles, and whatever has no code here. It is compiled when a group of lanes
//! first comes to its entry, for this launch: parameters and sizes are constants.
//!
//! The code runs **tiles** of 16 to 128 lanes one after another, each through the whole region, so that its registers
//! never leave the machine's. `shape` finds out what a tile has only once (one number, or a number and a fixed pattern
//! such as `tid.x`), `notes` which steps of the pipeline may wait until somebody looks at the bits, `alloc` where each
//! register lives; `emit` writes the instructions.
//!
//! A tile is a **transaction**: it stores last, after everything that can go wrong has been checked. When an access lies
//! outside its buffer, or the steps run out, the tile is given up and the interpreter takes its lanes from the region's
//! entry on, and so meets the same error at the same instruction. So it is when lanes part, until so many tiles have
//! parted that the region is compiled anew: then each lane goes its own way under masks (`emit/parting`), and `waiting`
//! says what registers must keep for those that wait. The steps left are those of a tile: where lanes part the
//! interpreter, which runs more lanes at a time, may run out of them before. Tiles that were done before had none, so that
//! the first error is the same one. Lanes of a warp never lie in two tiles, and stores to a buffer that another
//! instruction of the region accesses at other places are left to the interpreter: what one lane writes is seen by
//! others when the interpreter shows it. (Threads of different warps that race without a barrier have no order to keep.)

mod alloc;
mod asm;
mod call;
mod emit;
mod frame;
mod notes;
mod region;
mod run;
mod shape;
mod waiting;

pub(crate) use region::{Exit, Point, is_supported};
pub(crate) use run::{Compiled, Hand, Input, Kind, LEAST, Left, MOST, Piece, Segments, Shelf, Went, live};

use crate::kernel::{DecodedKernel, LOCAL_WINDOW, LaunchConfig, PARAM_WINDOW, SHARED_WINDOW, read_element};
use crate::scalar::sign_extend;
use roundonce_ir::{Op, Special};

/// What a launch says, all of which is constant in its code.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) code: &'a DecodedKernel<'a>,
    pub(crate) setup: &'a LaunchConfig,
}

impl Given<'_> {
    fn axes(size: [u32; 3], index: u64) -> [u32; 3] {
        LaunchConfig::axes(size, index)
    }
    /// A number that is the same for all threads.
    fn constant(&self, special: Special) -> Option<u64> {
        let LaunchConfig { grid, block, dynamic_shared, variables, buffer_bytes, .. } = self.setup;
        Some(match special {
            Special::Ntid(axis) => block[axis as usize % 3].into(),
            Special::Nctaid(axis) => grid[axis as usize % 3].into(),
            Special::Warps => self.setup.threads().div_ceil(32) as u64,
            Special::DynamicShared => (*dynamic_shared).into(),
            Special::TotalShared => self.setup.shared_bytes(),
            Special::Address(variable) => *variables.get(variable as usize)?,
            Special::BufferBytes(param) => *buffer_bytes.get(param as usize)?,
            Special::SharedWindow => SHARED_WINDOW,
            Special::LocalWindow => LOCAL_WINDOW,
            Special::ParamWindow => PARAM_WINDOW,
            _ => return None,
        })
    }
    /// An element of the parameter block.
    fn param(&self, at: u64, bytes: u32, signed: bool) -> Option<u64> {
        let fits = at < self.setup.param_bytes && self.setup.param_bytes - at >= bytes.into();
        if !fits || !at.is_multiple_of(bytes.into()) {
            return None;
        }
        let value = read_element(|index| self.setup.params[index], at, bytes);
        Some(if signed { sign_extend(value, bytes * 8) as u64 } else { value })
    }
}

/// Whether this machine runs what the compiler writes.
pub(crate) fn is_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("popcnt")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether a launch of a kernel may be native at all: nobody watches single instructions.
pub(crate) fn may_run(given: &Given<'_>) -> bool {
    let watched = given.setup.check_races || given.setup.trace_lane.is_some() || given.setup.count_lines;
    let clock = |op: &Op| matches!(op, Op::Special { special: Special::Clock, .. });
    is_available() && !watched && !given.code.insts().any(|step| clock(step.op))
}
