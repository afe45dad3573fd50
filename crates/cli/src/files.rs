//! Files in and out.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::sync::OnceLock;

use roundonce::isa::line_column;
use roundonce::ptx::decode;
use roundonce_vectors::output::Output;
use roundonce_vectors::without_mark;

use crate::{Failure, memory, signals, terminal};

/// What messages call it.
pub(crate) const STDIN: &str = "standard input";

/// The bytes of a module; of stdin for `-`. One with nothing in it is nothing to work on.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let most = memory::largest_module();
    let bytes = if path == Path::new("-") { stdin()?.to_vec() } else { read_up_to(path, most + 1)? };
    if bytes.len() as u64 > most {
        return Err(Failure::Input(format!("{}: more than {} MiB: expected a module", path.display(), most >> 20)));
    }
    if without_mark(&bytes).trim_ascii().is_empty() {
        return Err(Failure::Input(format!("{}: the file is empty: expected a module", path.display())));
    }
    Ok(bytes)
}

/// The first bytes of a file, all if it has not so many; of stdin for `-`.
pub(crate) fn read_up_to(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(|error| failed(STDIN.as_ref(), error))?;
    } else {
        let file = File::open(path).map_err(|error| failed(path, error))?;
        file.take(most).read_to_end(&mut bytes).map_err(|error| failed(path, error))?;
    }
    Ok(bytes)
}

/// What stdin holds, up to one byte more than a module may have. It is kept, since what is done with it depends on it.
pub(crate) fn stdin() -> Result<&'static [u8], Failure> {
    static HELD: OnceLock<io::Result<Vec<u8>>> = OnceLock::new();
    let held = HELD.get_or_init(|| {
        let mut bytes = Vec::new();
        io::stdin().lock().take(memory::largest_module() + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    held.as_deref().map_err(|error| Failure::Input(format!("{STDIN}: {error}")))
}

/// Whether stdin begins as an ELF file does; it is not read, only looked at.
pub(crate) fn stdin_is_elf() -> bool {
    io::stdin().lock().fill_buf().is_ok_and(|seen| seen.starts_with(b"\x7fELF"))
}

/// A file that is read here and there, and its size. What is no regular file is taken into one without a name first.
pub(crate) fn open_regular(path: &Path) -> Result<(File, u64), Failure> {
    let open = || -> io::Result<(File, u64)> {
        let mut file = File::open(path)?;
        let found = file.metadata()?;
        if found.is_file() || found.is_dir() {
            return Ok((file, found.len()));
        }
        let mut taken = tempfile::tempfile()?;
        let size = io::copy(&mut file, &mut taken)?;
        taken.rewind()?;
        Ok((taken, size))
    };
    open().map_err(|error| failed(path, error))
}

/// Reads from a place on, for any number of threads at a time.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], from: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, from)
}

/// Writes from a place on, likewise.
#[cfg(unix)]
pub(crate) fn write_at(file: &File, bytes: &[u8], from: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, from)
}

#[cfg(windows)]
pub(crate) fn read_at(file: &File, mut bytes: &mut [u8], mut from: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, from)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            got => (bytes, from) = (&mut bytes[got..], from + got as u64),
        }
    }
    Ok(())
}

#[cfg(windows)]
pub(crate) fn write_at(file: &File, mut bytes: &[u8], mut from: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let got = std::os::windows::fs::FileExt::seek_write(file, bytes, from)?;
        (bytes, from) = (&bytes[got..], from + got as u64);
    }
    Ok(())
}

/// The text of a file, without a byte order mark.
pub(crate) fn text(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::Input(format!("{}: byte {at} is not UTF-8 text", path.display()))
    })?;
    Ok(unmarked(text))
}

/// The text of a file of PTX likewise, and whether its comments have bytes that are not UTF-8: each is a `?` in the text.
pub(crate) fn ptx(path: &Path, bytes: Vec<u8>) -> Result<(String, bool), Failure> {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok((unmarked(text), false)),
        Err(error) => error.into_bytes(),
    };
    let text = decode(&bytes).map_err(|at| {
        let before = String::from_utf8_lossy(&bytes[..at]);
        let (line, column) = line_column(&before, before.len());
        let found = format!("{}:{line}:{column}: the byte 0x{:02x} is not UTF-8 text", path.display(), bytes[at]);
        Failure::Input(format!("{found}: expected such ones in comments alone"))
    })?;
    Ok((unmarked(text), true))
}

fn unmarked(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// That a file of this name can have such a content: another extension says another one. Pipes and devices have any name.
pub(crate) fn check_extension(option: &str, path: &Path, extension: &str) -> Result<(), Failure> {
    let is_other = path.extension().is_some_and(|found| !found.eq_ignore_ascii_case(extension));
    if is_other && path.metadata().map_or(true, |found| found.is_file()) {
        let message = format!("{option} {}: expected a file name that ends in .{extension}", path.display());
        return Err(Failure::Input(message));
    }
    Ok(())
}

/// That no two outputs go to one file, where the later one would replace the other. Pipes and devices take several.
pub(crate) fn check_outputs<'p>(option: &str, paths: impl IntoIterator<Item = &'p Path>) -> Result<(), Failure> {
    let is_file = |path: &&Path| path.metadata().map_or(true, |found| found.is_file());
    let mut seen = BTreeSet::new();
    for path in paths.into_iter().filter(is_file) {
        if !seen.insert(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())) {
            let path = path.display();
            return Err(Failure::Input(format!("{option}: two outputs go to {path}: expected a file for each")));
        }
    }
    Ok(())
}

/// Begins what is written to a path.
pub(crate) fn create(path: &Path) -> Result<Output, Failure> {
    signals::watch();
    Output::create(path).map_err(|error| failed(path, error))
}

/// Writes a file whole.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_with(path, |out| out.write_all(bytes))
}

/// The same, written by a function.
pub(crate) fn write_with(path: &Path, fill: impl FnOnce(&mut Output) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = create(path)?;
    fill(&mut out).and_then(|()| out.finish()).map_err(|error| failed(path, error))
}

/// What went wrong with a file, with its name.
pub(crate) fn failed(path: &Path, error: io::Error) -> Failure {
    let message = format!("{}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::Unsupported => Failure::Unsupported(message),
        io::ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::Input(message),
    }
}

/// To a file, or to stdout.
pub(crate) fn write_or_print(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        Some(path) => write(path, bytes),
        None => Ok(terminal::stdout().write_all(bytes)?),
    }
}

/// Writes lines to stdout.
pub(crate) fn print_lines(lines: &[String]) -> Result<(), Failure> {
    let mut out = BufWriter::new(terminal::stdout());
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(out.flush()?)
}
