//! `completions` and `man`: files about the command, made of its arguments.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{Ended, Status, files};

#[derive(Args)]
pub(crate) struct Completions {
    /// The shell that is to read them
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct Man {
    /// A folder for `roundonce.1` and a page for each verb
    folder: PathBuf,
}

/// Prints the shell's script.
pub(crate) fn completions(arguments: &Completions) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "roundonce", &mut script);
    files::write_or_print(None, &script)?;
    Ok(Status::Done)
}

/// Writes the pages.
pub(crate) fn man(arguments: &Man) -> Ended {
    let folder = &arguments.folder;
    clap_mangen::generate_to(crate::Arguments::command(), folder).map_err(|error| files::failed(folder, error))?;
    Ok(Status::Done)
}
