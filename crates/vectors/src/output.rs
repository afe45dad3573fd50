//! Files that are written: whole or not at all, and as their path says.
//!
//! A regular file is written to a temporary one beside it and renamed once it is whole. The mode of a file that is there
//! stays, and so does a symbolic link: what it points at is replaced. Devices, pipes and terminals are written as streams.
//! `-` is standard output.
//!
//! What this is not: it handles no signal. A program that does calls [`abandon`] before it ends.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// The temporary files that have not got their name yet.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every temporary file, for a process that is about to end. From now on none is made and none is renamed:
/// a thread that tries waits for the end.
pub fn abandon() {
    let mut files = unfinished();
    for file in mem::take(&mut *files) {
        // Gone already, or not to be helped.
        let _ = fs::remove_file(file);
    }
    mem::forget(files);
}

/// Symbolic links that are followed, at most: the kernel's own limit.
const MOST_LINKS: usize = 40;

/// Something that is written.
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("results.txt");
/// let mut out = roundonce_vectors::output::Output::create(&path)?;
/// out.write_all(b"0x3f800000\n")?;
/// assert!(!path.exists());
/// out.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"0x3f800000\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "what is not finished is removed"]
pub struct Output(Place);

#[derive(Debug)]
enum Place {
    File(Temporary),
    /// What cannot be written in order is put together in a file without a name first.
    Stream {
        stream: File,
        assembled: Option<File>,
    },
}

/// Where a path leads.
enum Target {
    File { path: PathBuf, found: Option<fs::Metadata> },
    Stream(File),
}

impl Output {
    /// Begins a file, or opens a stream.
    ///
    /// # Errors
    /// If the path is a folder's, or may not be written.
    pub fn create(path: &Path) -> io::Result<Output> {
        Ok(Output(match target(path)? {
            Target::Stream(stream) => Place::Stream { stream, assembled: None },
            Target::File { path, found } => Place::File(Temporary::beside(path, found.as_ref())?),
        }))
    }

    /// A file to be written in any order, in place of what [`Write`] does.
    ///
    /// # Errors
    /// If a stream's cannot be made.
    pub fn seekable(&mut self) -> io::Result<&mut File> {
        match &mut self.0 {
            Place::File(temporary) => Ok(temporary.file.as_file_mut()),
            Place::Stream { assembled: Some(file), .. } => Ok(file),
            Place::Stream { assembled, .. } => Ok(assembled.insert(tempfile::tempfile()?)),
        }
    }

    /// Gives a file its name; hands over to a stream what is left.
    ///
    /// # Errors
    /// If that fails. Then the name refers to what it did before.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Place::File(temporary) => temporary.rename(),
            Place::Stream { mut stream, assembled } => {
                if let Some(mut file) = assembled {
                    file.rewind()?;
                    io::copy(&mut file, &mut stream)?;
                }
                stream.flush()
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Place::File(temporary) => temporary.file.as_file_mut().write(bytes),
            Place::Stream { stream, .. } => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Place::File(temporary) => temporary.file.as_file_mut().flush(),
            Place::Stream { stream, .. } => stream.flush(),
        }
    }
}

/// Writes a file or a stream.
///
/// # Errors
/// As [`Output`].
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut out = Output::create(path)?;
    out.write_all(bytes)?;
    out.finish()
}

/// Follows symbolic links, the last one to what may not be there yet.
fn target(path: &Path) -> io::Result<Target> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Some(stream) = standard(&path)? {
            return Ok(Target::Stream(stream));
        }
        let found = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Target::File { path, found: None }),
            found => found?,
        };
        if found.is_file() {
            // What may not be written may not be replaced either.
            OpenOptions::new().write(true).open(&path)?;
            return Ok(Target::File { path, found: Some(found) });
        }
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // `/dev/fd/3` reads as a link; what it names is open already and may have no path.
        if !found.is_symlink() || fs::canonicalize(folder(&path)).is_ok_and(|folder| folder.starts_with("/proc")) {
            return Ok(Target::Stream(OpenOptions::new().append(true).open(&path)?));
        }
        path = folder(&path).join(fs::read_link(&path)?);
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// This process's standard output or error. Opened anew, a file that they go to would be written from its beginning.
#[cfg(unix)]
fn standard(path: &Path) -> io::Result<Option<File>> {
    use std::os::fd::AsFd;
    let is = |names: [&str; 3]| names.iter().any(|name| path == Path::new(name));
    let owned = if path == Path::new("-") || is(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
        io::stdout().flush()?;
        io::stdout().as_fd().try_clone_to_owned()?
    } else if is(["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"]) {
        io::stderr().as_fd().try_clone_to_owned()?
    } else {
        return Ok(None);
    };
    Ok(Some(File::from(owned)))
}

#[cfg(not(unix))]
fn standard(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// A file beside its target that vanishes unless it is renamed.
#[derive(Debug)]
struct Temporary {
    file: NamedTempFile,
    target: PathBuf,
}

impl Temporary {
    fn beside(target: PathBuf, found: Option<&fs::Metadata>) -> io::Result<Temporary> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".roundonce-").suffix(".tmp");
        // What the user's mask leaves of it, as with any new file; a temporary one would be private.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut files = unfinished();
        // A problem of the folder is reported as the folder's, not as the temporary file's.
        fs::metadata(folder(&target))?;
        let file = builder.tempfile_in(folder(&target)).map_err(without_path)?;
        files.insert(file.path().to_owned());
        drop(files);
        let temporary = Temporary { file, target };
        if let Some(found) = found {
            temporary.file.as_file().set_permissions(found.permissions())?;
        }
        Ok(temporary)
    }

    fn rename(mut self) -> io::Result<()> {
        let mut files = unfinished();
        fs::rename(self.file.path(), &self.target)?;
        files.remove(self.file.path());
        self.file.disable_cleanup(true);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut files = unfinished();
        if files.remove(self.file.path()) {
            // Gone already, or not to be helped.
            let _ = fs::remove_file(self.file.path());
        }
    }
}

/// What went wrong, without the temporary file's path.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}
