//! What is executed: a kernel decoded once, the launch configuration, and memory.
//!
//! The lowest of three floors. It knows neither the compiler ([`native`](crate::native)) nor the interpreter
//! ([`interp`](crate::interp)), which both work on these types.

mod config;
mod decode;
mod element_formats;
mod image;
mod machine;
mod may_write;
mod memory;
mod waits;

pub use config::StopSignal;
pub(crate) use config::{LaunchConfig, Observed};
pub(crate) use decode::{DecodedBlock, DecodedInst, DecodedKernel, conversion, may_block};
pub use element_formats::element_formats;
pub(crate) use image::{Extents, PlacedImage, handle, image_of, named, sampler_of};
pub use image::{Image, ImageUse, image_parameters};
pub(crate) use machine::{LINE, Machine};
pub(crate) use may_write::{MayWrite, Origins};
pub use memory::Buffer;
pub(crate) use memory::{
    BUFFER_ALIGN, Global, LOCAL_WINDOW, Layout, PARAM_WINDOW, SHARED_WINDOW, Segment, SegmentWords, WINDOW, WordsView,
    Writes, mix, read_element, write_element,
};
pub(crate) use waits::Wait;

/// Lanes that run together at most: a batch of whole thread blocks. More would not fit the first-level cache, fewer
/// would pay the cost of an instruction more often.
pub(crate) const LANES: usize = 2048;
/// Threads of a block at most, as on GPUs.
pub(crate) const THREADS: usize = 1024;
