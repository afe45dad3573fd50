//! How a [`Program`] runs: groups of whole blocks, up to 2,048 lanes at a time.
//!
//! Reading order: `lanes` (registers of many lanes), `code` (a kernel made ready once), `group` (the run of one group:
//! fragments, branches, barriers), `alu`, `access`, `warp` (one instruction over the active lanes), `watch` (counts and
//! the trace), `lent` (arithmetic on memory where it is), `native` (lanes through native code and back), `setup`
//! (arguments and memory before, reports after).
//!
//! What a module boundary is for: [`run`] is all that the rest of the crate knows.

mod access;
mod alu;
mod atomic;
mod barrier;
pub(crate) mod code;
pub(crate) mod group;
mod lanes;
mod lent;
mod linear;
mod maps;
mod mask;
mod native;
mod print;
mod races;
mod rows;
mod setup;
mod warp;
mod watch;

pub(crate) use setup::run;

use crate::launch::Trouble;

/// What stopped a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) trouble: Trouble,
    pub(crate) message: String,
    /// Whose access it was; otherwise the first active lane's.
    pub(crate) lane: Option<usize>,
}

impl Fault {
    fn new(trouble: Trouble, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { trouble, message: message.into(), lane: None })
    }
    fn at(trouble: Trouble, lane: usize, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { trouble, message: message.into(), lane: Some(lane) })
    }
}

type Outcome<T = ()> = Result<T, Box<Fault>>;
