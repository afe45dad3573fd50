//! The launch configuration: what is the same for all threads of a launch.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::image::PlacedImage;
use super::machine::Machine;
use roundonce_functions::Breadth;

/// What is observed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Observed {
    pub(crate) exceptions: bool,
    pub(crate) shadow: Option<Breadth>,
    pub(crate) digests: bool,
}

impl Observed {
    pub(crate) const fn any(self) -> bool {
        self.exceptions || self.shadow.is_some() || self.digests
    }
}

/// Stops launches from another thread: every launch whose options have a clone of it ends with
/// [`FaultKind::Stopped`](crate::FaultKind::Stopped), the interpreter at the end of a block of instructions, native code at
/// the end of a batch of blocks.
///
/// ```
/// use roundonce_exec::StopSignal;
/// let signal = StopSignal::default();
/// let of_the_launch = signal.clone();
/// signal.stop();
/// assert!(of_the_launch.is_stopped());
/// ```
#[derive(Clone, Default, Debug)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// From now on nothing runs that has it.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether it was given.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A launch's grid, parameters and limits.
#[derive(Debug)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// The parameter block.
    pub(crate) params: Vec<u32>,
    pub(crate) param_bytes: u64,
    pub(crate) static_shared: u32,
    pub(crate) dynamic_shared: u32,
    pub(crate) step_limit: u64,
    pub(crate) stop: StopSignal,
    /// Bytes that a worker's registers may take.
    pub(crate) register_limit: u64,
    pub(crate) check_races: bool,
    /// The accesses of a run that fails are reported too: native code stops at the first tile that it cannot complete.
    pub(crate) stops_at_faults: bool,
    pub(crate) trace_lane: Option<u64>,
    /// The blocks that run; all where none are named.
    pub(crate) blocks: Option<Range<u64>>,
    pub(crate) count_lines: bool,
    pub(crate) observed: Observed,
    /// What native code is compiled for, if it may be used.
    pub(crate) native: Option<Machine>,
    /// Not before the launch has proved long enough to pay for it.
    pub(crate) compiles_late: bool,
    /// What compiling it may cost.
    pub(crate) compile_limit: u64,
    /// Code is taken from other launches and left for them.
    pub(crate) keep_code: bool,
    /// The address of each variable of the program.
    pub(crate) variables: Vec<u64>,
    /// The size of each parameter's buffer.
    pub(crate) buffer_bytes: Vec<u64>,
    /// The images, by the numbers of their handles.
    pub(crate) images: Vec<PlacedImage>,
}

impl LaunchConfig {
    /// Threads of a block.
    pub(crate) fn threads(&self) -> usize {
        self.block.iter().map(|&axis| axis as usize).product()
    }
    /// The blocks that run, counted through the grid.
    pub(crate) fn block_range(&self) -> Range<u64> {
        let all = self.grid.iter().map(|&axis| u64::from(axis)).product();
        let (start, end) = self.blocks.as_ref().map_or((0, all), |blocks| (blocks.start.min(all), blocks.end.min(all)));
        start..end.max(start)
    }
    /// Bytes of a block's shared memory.
    pub(crate) fn shared_bytes(&self) -> u64 {
        u64::from(self.static_shared) + u64::from(self.dynamic_shared)
    }
    /// The coordinates of an index into a grid or a block, x first.
    pub(crate) fn axes(size: [u32; 3], index: u64) -> [u32; 3] {
        let (x, y) = (size[0].max(1) as u64, size[1].max(1) as u64);
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }
    /// The coordinates behind some, without a division.
    pub(crate) fn next_axes(size: [u32; 3], [x, y, z]: [u32; 3]) -> [u32; 3] {
        match (x + 1 < size[0], y + 1 < size[1]) {
            (true, _) => [x + 1, y, z],
            (false, true) => [0, y + 1, z],
            (false, false) => [0, 0, z.wrapping_add(1)],
        }
    }
}
