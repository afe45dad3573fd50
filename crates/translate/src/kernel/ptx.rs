//! A program as PTX.

use roundonce_ir::Program;
use roundonce_isa::Finding;

use super::{Options, Translation};

/// The program in PTX.
///
/// # Errors
/// What has no counterpart, each with its place.
pub fn write(_program: &Program, _options: &Options<'_>) -> Result<Translation, Vec<Finding>> {
    Err(Vec::new())
}
