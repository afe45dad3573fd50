//! What one lane computes, on bits: everything but the multiply-add family. The interpreter, the compiler and callers that
//! need a single value use the same functions.

mod approximate;
mod convert;
mod float;
mod integer;
mod quotient;

pub use approximate::approximate;
pub use convert::{Conversion, convert};
pub use float::{MinMax, classify, compare, copy_sign, min_max, sign};
pub(crate) use integer::int_op_inline;
pub use integer::{carry, int_op, sign_extend};
pub use quotient::{divide, reciprocal_square_root, remainder, scale, square_root};
