//! A program as SPIR-V for OpenCL.

use roundonce_ir::Program;
use roundonce_isa::Finding;

use super::{Options, Translation};

/// The program in SPIR-V for OpenCL.
///
/// # Errors
/// What has no counterpart, each with its place.
pub fn write(_program: &Program, _options: &Options<'_>) -> Result<Translation, Vec<Finding>> {
    Err(Vec::new())
}
