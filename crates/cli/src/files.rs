//! Files in and out: read whole, written whole or not at all.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::{Ended, Failure, Status};

/// The most that a module may have: reading one takes several times its size, and no real one is near this.
const MOST: u64 = 1 << 28;

/// The bytes of a module; of stdin for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = read_up_to(path, MOST + 1)?;
    if bytes.len() as u64 > MOST {
        return Err(Failure::Input(format!("{}: more than 256 MiB: expected a module", path.display())));
    }
    Ok(bytes)
}

/// The first bytes of a file, all if it has not so many; of stdin for `-`.
pub(crate) fn read_up_to(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)?;
    } else {
        let file = std::fs::File::open(path).map_err(|error| failed(path, error))?;
        file.take(most).read_to_end(&mut bytes).map_err(|error| failed(path, error))?;
    }
    Ok(bytes)
}

/// The text of a file.
pub(crate) fn text(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::Input(format!("{}: byte {at} is not UTF-8 text", path.display()))
    })
}

/// Writes a file by way of a temporary one beside it: the name never refers to half of it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_with(path, |file| file.write_all(bytes))
}

/// The same, written piece by piece.
pub(crate) fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut NamedTempFile) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut file = temporary(path)?;
    fill(&mut file).map_err(|error| failed(path, error))?;
    rename(file, path)
}

/// A file beside `path` that vanishes unless it is renamed.
pub(crate) fn temporary(path: &Path) -> Result<NamedTempFile, Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // What the user's mask leaves of it, as with any new file; a temporary one would be private.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).map_err(|error| failed(path, error))
}

/// Gives a finished file its name.
pub(crate) fn rename(file: NamedTempFile, path: &Path) -> Result<(), Failure> {
    // A device or a pipe would be replaced by a file.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Failure::Input(format!("{}: is not a file", path.display())));
    }
    file.persist(path).map_err(|error| failed(path, error.error))?;
    Ok(())
}

/// What went wrong with a file, with its name.
pub(crate) fn failed(path: &Path, error: std::io::Error) -> Failure {
    let message = format!("{}: {error}", path.display());
    match error.kind() {
        std::io::ErrorKind::Unsupported => Failure::Unsupported(message),
        _ => Failure::Input(message),
    }
}

/// To a file, or to stdout.
pub(crate) fn write_or_print(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        Some(path) => write(path, bytes),
        None => Ok(std::io::stdout().lock().write_all(bytes)?),
    }
}

/// Writes lines to stdout.
pub(crate) fn print_lines(lines: &[String]) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(out.flush()?)
}

/// Writes one line for each line of stdin; one that `answer` refuses becomes `error: …` on its own line, and the run
/// goes on.
pub(crate) fn answer_lines(mut answer: impl FnMut(&str, &mut String) -> Result<(), String>) -> Ended {
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let mut status = Status::Done;
    let mut bytes = Vec::new();
    let mut line = String::new();
    loop {
        bytes.clear();
        line.clear();
        if input.read_until(b'\n', &mut bytes)? == 0 {
            out.flush()?;
            return Ok(status);
        }
        let answered = match std::str::from_utf8(&bytes) {
            Ok(question) => answer(question.trim_end_matches(['\n', '\r']), &mut line),
            Err(_) => Err("the line is not UTF-8".to_owned()),
        };
        if let Err(problem) = answered {
            status = Status::Unreadable;
            line = format!("error: {}", problem.replace('\n', " "));
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
}
