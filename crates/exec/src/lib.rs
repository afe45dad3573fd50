#![doc = include_str!("../README.md")]
//!
//! Three floors, each of which knows only those below it: `kernel` (a decoded kernel, the launch configuration, memory),
//! `native` (the compiler), `interp` (the interpreter). `launch` on top is the public interface; `scalar`, below all, is
//! what one lane computes.
//!
//! What this is not: it knows no syntax and no terminal; it reads no file.

mod interp;
mod kernel;
mod launch;
mod native;
pub mod scalar;

pub use interp::{
    Computed, Exception, ExceptionKind, FaultKind, Moved, ResultDigest, ShadowElement, ShadowLine, TraceLine,
};
pub use kernel::{Buffer, Image, ImageUse, StopSignal, element_formats, image_parameters};
pub use launch::{
    Accesses, Against, Arg, Bytes, Conflict, Contract, Difference, Engine, Launch, Options, Part, ROUNDING_FACTOR,
    Report, RunError, SPREAD, ShadowReport, Threads, conflict,
};
pub use roundonce_functions::Breadth;
