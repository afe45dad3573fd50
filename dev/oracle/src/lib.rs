//! Independent judges of the arithmetic: slow, plain, and sharing no code with the product.
//!
//! Reading order: [`Spec`] (a case to be judged, in the judges' own types), [`rational`] (the whole pipeline on exact
//! integers, any format), [`table`] (the same for small formats, every value listed), [`softfloat`] and `mpfr` (other
//! projects' arithmetic, for what they cover), `processor` (the processor's own), [`conversion`] (PTX `cvt` of small
//! formats), [`generate`] (operands), [`record`] (what a check found).
//!
//! What this is not: a dependency of anything but tests.

pub mod conversion;
pub mod dot;
pub mod generate;
#[cfg(feature = "mpfr")]
pub mod mpfr;
#[cfg(target_arch = "x86_64")]
pub mod processor;
pub mod rational;
pub mod record;
pub mod softfloat;
mod spec;
mod special;
pub mod table;

pub use spec::{Direction, FlushRule, INEXACT, INVALID, Layout, NanBits, OVERFLOW, Shape, Spec, UNDERFLOW, Verdict};
pub use spec::{condition_codes, rectified, saturated};
