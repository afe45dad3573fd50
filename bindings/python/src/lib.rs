//! What the Python package asks of the front door: instructions over contiguous columns of bits, modules, and
//! reports; and the command.
//!
//! Types of arrays, broadcasting and strides are `python/roundonce/_arrays.py`'s.

mod argument;
mod check;
mod convert;
mod error;
mod evaluate;
mod integer;
mod interrupt;
mod kernel;
mod matrix;
mod part;
mod report;
mod vectors;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The command, for a process that is nothing else.
#[pyfunction]
fn command(words: Vec<OsString>) -> u8 {
    roundonce_cli::command(words.into_iter())
}

#[pymodule]
mod _native {
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::check::{check, language_of};
    #[pymodule_export]
    use crate::command;
    #[pymodule_export]
    use crate::convert::{Conversion, convert};
    #[pymodule_export]
    use crate::error::{Error, Finding, KernelError};
    #[pymodule_export]
    use crate::evaluate::{Instruction, instruction};
    #[pymodule_export]
    use crate::integer::Integer;
    #[pymodule_export]
    use crate::kernel::{run, run_sass, why_kernel};
    #[pymodule_export]
    use crate::matrix::{matrix_types, multiply};
    #[pymodule_export]
    use crate::part::{check_parts, copy_part, footprints, parts, run_part};
    #[pymodule_export]
    use crate::report::{
        allowed, bits, diff, diff_arrays, explain, forms, plot, plot_shares, ulps, unused_names, why, why_arrays,
    };
    #[pymodule_export]
    use crate::vectors::{Sweep, generate, together, verify};
}
