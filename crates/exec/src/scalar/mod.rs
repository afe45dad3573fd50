//! What one lane computes, on bits: everything beside the multiply-add family. The engine and whoever needs a single
//! value call the same functions.

mod approximate;
mod convert;
mod float;
mod integer;
mod quotient;

pub use approximate::approximate;
pub use convert::{Conversion, convert};
pub use float::{classify, compare, copy_sign, extremum, sign};
pub(crate) use integer::int_op_inline;
pub use integer::{carry, int_op, sign_extend};
pub use quotient::{divide, reciprocal_square_root, remainder, scale, square_root};
