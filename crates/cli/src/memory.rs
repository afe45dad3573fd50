//! What the address space that the process may have leaves to each of its needs: a failed allocation would end the process in
//! the middle of something.

/// The most that a module may have: reading one takes several times its size, and no real one is near this.
const LARGEST_MODULE: u64 = 1 << 28;
/// What a module's byte takes at most, more or less.
const MODULE_BYTES: u64 = 64;
/// What an operation of a kernel takes with a register and a block of its own, more or less.
const OPERATION_BYTES: u64 = 960;

/// Half of the address space.
pub(crate) fn allowed() -> u64 {
    #[cfg(unix)]
    if let Some(bytes) = rustix::process::getrlimit(rustix::process::Resource::As).current {
        return bytes / 2;
    }
    u64::MAX
}

/// Bytes of a module.
pub(crate) fn largest_module() -> u64 {
    LARGEST_MODULE.min(allowed() / MODULE_BYTES)
}

/// Operations and blocks of a kernel, where as many are asked for.
pub(crate) fn largest_kernel(asked: usize) -> usize {
    usize::try_from(allowed() / OPERATION_BYTES).map_or(asked, |most| most.min(asked))
}
