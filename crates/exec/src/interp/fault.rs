//! What stops a run.

/// What kind of failure it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultKind {
    /// The launch does not fit the kernel: a missing argument, a block too large.
    Usage,
    /// The program is malformed: an error of the front end.
    Invalid,
    /// An access outside every buffer, to read-only memory, or not aligned.
    Access,
    /// The kernel trapped.
    Trap,
    /// An instruction that cannot be run was reached.
    Unsupported,
    /// Too many instructions.
    StepLimit,
    /// Too much memory.
    MemoryLimit,
    /// Threads wait for others that never come.
    Deadlock,
    /// Two threads' accesses to shared memory are not ordered.
    Race,
    /// An access to bytes of a buffer of which only others are given.
    Absent,
    /// The launch's blocks may depend on each other: it is not run in parts.
    Dependence,
    /// Another thread stopped it.
    Stopped,
}

/// What stopped a batch of blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
    /// The lane at fault; otherwise the first active one is reported.
    pub(crate) lane: Option<usize>,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { kind, message: message.into(), lane: None })
    }
    pub(crate) fn stopped() -> Box<Fault> {
        Fault::new(FaultKind::Stopped, "the run was stopped")
    }
    pub(super) fn at(kind: FaultKind, lane: usize, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { kind, message: message.into(), lane: Some(lane) })
    }
}

pub(super) type Outcome<T = ()> = Result<T, Box<Fault>>;
