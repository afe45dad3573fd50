//! Compiled code, which the workers of a launch share, and the launches behind it of the same kernel with the same sizes and
//! parameters.

use super::LaunchConstants;
use super::budget::Budget;
use super::compile::{CompiledRegion, Input};
use super::numbers::Numbers;
use super::region::{CompileMode, ProgramPoint};
use crate::kernel::{DecodedKernel, LaunchConfig, Machine};
use roundonce_arith::Profile;
use roundonce_ir::{Kernel, Reg};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The code of so many launches is kept, with their kernels of about so many bytes in all.
const KEPT_LAUNCHES: usize = 32;
const KEPT_BYTES: usize = 16 << 20;
/// What an instruction of a kernel takes, more or less.
const INSTRUCTION_BYTES: usize = 256;
/// So many versions are kept for one entry point.
const MAX_VERSIONS: usize = 16;

/// The code that a launch's workers share, and what it may spend on more.
#[derive(Debug)]
pub(crate) struct CodeCache {
    code: Arc<LaunchCode>,
    /// Later launches may take it, and have not got it yet.
    is_to_be_kept: bool,
    /// What compiling may still cost.
    pub(crate) budget: Budget,
}

/// The code for one entry point: a version for each combination of input shapes.
type Versions = Vec<Arc<CompiledRegion>>;

/// The code of a kernel for one set of launch constants.
#[derive(Debug, Default)]
struct LaunchCode {
    versions: Mutex<BTreeMap<(ProgramPoint, CompileMode), Versions>>,
    /// Bytes of all versions.
    bytes: AtomicUsize,
    numbers: Numbers,
    history: Mutex<History>,
}

/// What earlier launches say about the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// Nanoseconds, more or less, that the interpreter ran.
    pub(crate) interpreted: u64,
    /// What compiling has cost.
    pub(crate) spent: u64,
    /// The entry points that have code, and the greatest mode in which it was used.
    pub(crate) modes: BTreeMap<ProgramPoint, CompileMode>,
}

impl CodeCache {
    /// With the code that an earlier launch left, if there is one that was the same in all that code depends on.
    pub(crate) fn new(launch: &LaunchConstants<'_>) -> CodeCache {
        let is_shared = launch.config.keep_code && launch.config.native.is_some();
        let found = is_shared.then(|| take_kept(launch)).flatten();
        let budget = Budget::new(launch.config.compile_limit);
        CodeCache { is_to_be_kept: is_shared && found.is_none(), code: found.unwrap_or_default(), budget }
    }
    /// Leaves the code for launches behind this one.
    pub(crate) fn keep(self, launch: &LaunchConstants<'_>) {
        lock(&self.code.history).spent += self.budget.spent();
        let kernel_bytes = INSTRUCTION_BYTES * launch.code.insts().count();
        let fits = kernel_bytes + self.code.bytes.load(Ordering::Relaxed) <= KEPT_BYTES;
        // What ran out of its budget may do better the next time.
        if !self.is_to_be_kept || !fits || self.budget.is_spent() {
            return;
        }
        let (kernel, constants) = (launch.code.kernel.clone(), Constants::of(launch));
        let mut kept = lock(&KEPT);
        // Another thread may have launched the same.
        if kept.iter().any(|one| one.is_of(&kernel, &constants)) {
            return;
        }
        kept.push_front(Kept { kernel, kernel_bytes, constants, code: self.code });
        let mut bytes = 0;
        let fit = kept.iter().take(KEPT_LAUNCHES).take_while(|one| {
            bytes += one.kernel_bytes + one.code.bytes.load(Ordering::Relaxed);
            bytes <= KEPT_BYTES
        });
        let count = fit.count();
        // Others are dropped once the lock is free.
        let _others = kept.split_off(count);
        drop(kept);
    }
    /// What earlier launches have found.
    pub(crate) fn history(&self) -> History {
        lock(&self.code.history).clone()
    }
    /// Adds to it what a worker has interpreted, and the modes of the code that it used.
    pub(crate) fn note(&self, interpreted: u64, modes: impl Iterator<Item = (ProgramPoint, CompileMode)>) {
        let mut history = lock(&self.code.history);
        history.interpreted = history.interpreted.saturating_add(interpreted);
        for (point, mode) in modes {
            let known = history.modes.entry(point).or_insert(mode);
            *known = mode.max(*known);
        }
    }
    /// Whether the pattern of a register's lanes does not depend on data.
    pub(crate) fn is_of_indices(&self, launch: &LaunchConstants<'_>, reg: Reg) -> bool {
        self.code.numbers.is_of_indices(launch, reg, &self.budget)
    }
    /// The version that fits, compiled now if there is none and it may be: for these inputs, the registers that may be read from
    /// there on. The lock is held meanwhile: other workers would compile the same.
    pub(crate) fn get(
        &self,
        launch: &LaunchConstants<'_>,
        (start, mode): (ProgramPoint, CompileMode),
        fits: impl Fn(&CompiledRegion) -> bool,
        inputs: impl FnOnce() -> Option<Vec<(Reg, Input)>>,
    ) -> Option<Arc<CompiledRegion>> {
        let mut all = lock(&self.code.versions);
        let versions = all.entry((start, mode)).or_default();
        if let Some(known) = versions.iter().find(|code| fits(code)) {
            return Some(known.clone());
        }
        let known = (&self.code.numbers, &self.budget);
        let made = Arc::new(CompiledRegion::compile(launch, start, &inputs()?, mode, known)?);
        if versions.len() == MAX_VERSIONS {
            let oldest = versions.remove(0);
            self.code.bytes.fetch_sub(oldest.code_bytes(), Ordering::Relaxed);
        }
        self.code.bytes.fetch_add(made.code_bytes(), Ordering::Relaxed);
        versions.push(made.clone());
        Some(made)
    }
}

/// All of a launch but its kernel that code depends on.
#[derive(PartialEq, Debug)]
struct Constants {
    grid: [u32; 3],
    block: [u32; 3],
    params: Vec<u32>,
    param_bytes: u64,
    shared: [u32; 2],
    variables: Vec<u64>,
    buffer_bytes: Vec<u64>,
    machine: Option<Machine>,
    compile_limit: u64,
    profile: Profile,
}

impl Constants {
    fn of(launch: &LaunchConstants<'_>) -> Constants {
        // All fields are named: a new one is either part of this or not.
        let &LaunchConfig {
            grid,
            block,
            ref params,
            param_bytes,
            static_shared,
            dynamic_shared,
            native: machine,
            compile_limit,
            ref variables,
            ref buffer_bytes,
            step_limit: _,
            stop: _,
            register_limit: _,
            check_races: _,
            stops_at_faults: _,
            trace_lane: _,
            blocks: _,
            count_lines: _,
            observed: _,
            compiles_late: _,
            keep_code: _,
            images: _,
        } = launch.config;
        let &DecodedKernel { profile, .. } = launch.code;
        Constants {
            grid,
            block,
            params: params.clone(),
            param_bytes,
            shared: [static_shared, dynamic_shared],
            variables: variables.clone(),
            buffer_bytes: buffer_bytes.clone(),
            machine,
            compile_limit,
            profile,
        }
    }
}

/// What a launch has left.
struct Kept {
    kernel: Kernel,
    kernel_bytes: usize,
    constants: Constants,
    code: Arc<LaunchCode>,
}

impl Kept {
    fn is_of(&self, kernel: &Kernel, constants: &Constants) -> bool {
        self.constants == *constants && self.kernel == *kernel
    }
}

/// Of all launches of the process, the last one first.
static KEPT: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// What a launch like this one has left.
fn take_kept(launch: &LaunchConstants<'_>) -> Option<Arc<LaunchCode>> {
    let constants = Constants::of(launch);
    let mut kept = lock(&KEPT);
    let place = kept.iter().position(|one| one.is_of(launch.code.kernel, &constants))?;
    let found = kept.remove(place)?;
    let code = found.code.clone();
    kept.push_front(found);
    Some(code)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
