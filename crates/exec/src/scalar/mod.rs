//! What one lane computes, on bits: everything but the multiply-add family. The interpreter, the compiler and callers that
//! need a single value use the same functions.

mod convert;
mod float;
mod image;
mod integer;
mod matrix;
mod warp;

pub use convert::{Conversion, convert};
pub(crate) use float::holds;
pub use float::{classify, compare};
pub(crate) use image::{Taps, read_component, taps, texel_at, weighted_sum, write_component};
pub(crate) use integer::int_op_inline;
pub use integer::{carry, int_op, sign_extend};
pub(crate) use matrix::multiply;
pub use roundonce_functions::{
    MinMax, approximate, copy_sign, divide, min_max, remainder, scale, sign, signed_sum, square_root,
};
pub(crate) use warp::shuffle_source;
