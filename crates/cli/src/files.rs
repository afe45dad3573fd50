//! Files in and out: read whole, written whole or not at all.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use crate::{Ended, Failure, Status};

/// The bytes of a file; of stdin for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

/// The text of a file.
pub(crate) fn text(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::Input(format!("{}: byte {at} is not UTF-8 text", path.display()))
    })
}

/// Writes a file by way of a temporary one beside it, so that nobody ever finds half of it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Input(format!("{}: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// To a file, or to stdout.
pub(crate) fn write_or_print(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        Some(path) => write(path, bytes),
        None => Ok(std::io::stdout().lock().write_all(bytes)?),
    }
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
