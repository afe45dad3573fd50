//! `--plot`: pictures into files.

use std::path::Path;

pub(crate) use roundonce_plot::Comparison;

use crate::{Failure, files};

/// That a picture can be written to a file of this name.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    if path.extension().is_some_and(|extension| extension == "svg") {
        return Ok(());
    }
    Err(Failure::Input(format!("--plot {}: expected a file name that ends in .svg", path.display())))
}

/// Writes the picture, whole or not at all.
pub(crate) fn write(path: &Path, comparisons: &[Comparison]) -> Result<(), Failure> {
    files::write(path, svg(comparisons)?.as_bytes())
}

/// The picture.
pub(crate) fn svg(comparisons: &[Comparison]) -> Result<String, Failure> {
    roundonce_plot::svg(comparisons).map_err(|problem| Failure::Input(format!("the picture: {problem}")))
}
