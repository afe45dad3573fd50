//! CUDA C++ as PTX, by the compiler that is installed, and the kernel that a line of it is in.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use roundonce::ir::SourceLoc;
use roundonce::kernel::{Each, Ready, Refusal};

use crate::output;
use crate::{Failure, files};

/// `kernel.cu`, or a line of it, `kernel.cu:34`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CudaSource {
    file: PathBuf,
    line: Option<u32>,
}

/// The words of CUDA C++ that clang knows without the CUDA toolkit.
const PRELUDE: &str = "\
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#include <__clang_cuda_builtin_vars.h>
";

/// Instructions of a line that are named.
const NAMED: usize = 4;

impl CudaSource {
    pub(crate) fn of(path: &Path) -> Option<CudaSource> {
        let text = path.to_str()?;
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) => (file, Some(line.parse().ok()?)),
            None => (text, None),
        };
        file.ends_with(".cu").then(|| CudaSource { file: file.into(), line })
    }

    fn failure(&self, message: &str) -> Failure {
        Failure::Input(format!("{}: {message}", self.file.display()))
    }

    /// The PTX that the first compiler of these makes of it: `CUDACXX`, nvcc, clang.
    pub(crate) fn compile(&self, flags: &str) -> Result<String, Failure> {
        files::read(&self.file)?;
        let folder = tempfile::tempdir().map_err(|error| files::failed(&self.file, error))?;
        let chosen = std::env::var("CUDACXX").ok().filter(|name| !name.is_empty());
        let compilers =
            chosen.map_or_else(|| ["nvcc", "clang++", "clang"].map(str::to_owned).to_vec(), |name| vec![name]);
        for compiler in &compilers {
            let made = folder.path().join("module.ptx");
            let is_clang = Path::new(compiler).file_name().is_some_and(|name| name.to_string_lossy().contains("clang"));
            let run = |options: &[&str]| {
                let mut command = Command::new(compiler);
                command.args(options).args(flags.split_whitespace()).arg(&self.file).arg("-o").arg(&made);
                command.output()
            };
            let clang = ["-x", "cuda", "--cuda-device-only", "-S", "-O3", "-gline-tables-only"];
            let ran = if is_clang { run(&clang) } else { run(&["-ptx", "-lineinfo"]) };
            let ran = match ran {
                Ok(ran) if is_clang && lacks_toolkit(&ran) => {
                    output::note("clang finds no CUDA toolkit: the file is compiled without its headers and functions");
                    let prelude = folder.path().join("prelude.h");
                    files::write(&prelude, PRELUDE.as_bytes())?;
                    let prelude = prelude.to_string_lossy();
                    run(&[&clang[..], &["-nocudainc", "-nocudalib", "-include", &prelude]].concat())
                }
                ran => ran,
            };
            match ran {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(self.failure(&format!("{compiler}: {error}"))),
                Ok(ran) if !ran.status.success() => {
                    let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
                    return Err(self.failure(&format!("{compiler} does not compile it:\n{said}")));
                }
                Ok(_) if !made.exists() => return Err(self.failure(&format!("{compiler} wrote no PTX"))),
                Ok(_) => return files::text(&made, files::read(&made)?),
            }
        }
        Err(Failure::Unsupported(format!(
            "{}: CUDA C++ needs a compiler, and there is no {}: install the CUDA toolkit or clang, name one in CUDACXX, or \
             give the PTX (nvcc -ptx -lineinfo)",
            self.file.display(),
            compilers.join(", ")
        )))
    }

    /// Whether an instruction was compiled from the line.
    fn is_of_line(&self, place: &SourceLoc, line: u32) -> bool {
        self.line_of(place) == Some(line)
    }

    /// The line of this file that an instruction was compiled from.
    fn line_of(&self, place: &SourceLoc) -> Option<u32> {
        let (rest, _) = place.source.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        (Path::new(file).file_name() == self.file.file_name()).then(|| line.parse().ok())?
    }

    /// The kernel that is meant: by its name, as it stands in the source or in the module, and by the line.
    pub(crate) fn choose(&self, each: Vec<Each>, entry: Option<&str>) -> Result<Result<Ready, Refusal>, Failure> {
        let is_named =
            |name: &str, wanted: &str| name == wanted || name.starts_with(&format!("_Z{}{wanted}", wanted.len()));
        let names: Vec<String> = each.iter().map(|(name, _)| name.clone()).collect();
        let mut found: Vec<Each> =
            each.into_iter().filter(|(name, _)| entry.is_none_or(|wanted| is_named(name, wanted))).collect();
        if found.is_empty() {
            return Err(self.failure(&format!("there is no such kernel: it has {}", names.join(", "))));
        }
        if let Some(line) = self.line {
            let mut lines = BTreeSet::new();
            found.retain(|(_, ready)| {
                let Ok(ready) = ready else { return true };
                let places = &ready.kernel().source_locs;
                lines.extend(places.iter().filter_map(|place| self.line_of(place)).filter(|line| *line > 0));
                places.iter().any(|place| self.is_of_line(place, line))
            });
            if found.is_empty() {
                let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
                let message = format!("no instruction comes from line {line}: there are some of {}", lines.join(", "));
                return Err(self.failure(&message));
            }
        }
        if found.len() > 1 {
            let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            return Err(self.failure(&format!("several kernels, choose with --entry: {}", names.join(", "))));
        }
        let (name, ready) = found.swap_remove(0);
        if let (Some(line), Ok(ready)) = (self.line, &ready) {
            let of_line = ready.kernel().source_locs.iter().filter(|place| self.is_of_line(place, line));
            let (arithmetic, others): (Vec<&SourceLoc>, Vec<&SourceLoc>) =
                of_line.partition(|place| is_arithmetic(place));
            let shown = if arithmetic.is_empty() { others } else { arithmetic };
            let text = |place: &&SourceLoc| format!("{} (line {} of the PTX)", place.text.trim(), place.line);
            let texts: Vec<String> = shown.iter().map(text).collect();
            let more = if texts.len() > NAMED { format!(" and {} more", texts.len() - NAMED) } else { String::new() };
            let named = texts[..texts.len().min(NAMED)].join("; ");
            output::note(&format!("line {line} of {} is in `{name}`: {named}{more}", self.file.display()));
        }
        Ok(ready)
    }
}

/// Whether an instruction computes with floats, by its spelling.
fn is_arithmetic(place: &SourceLoc) -> bool {
    let opcode = place.text.split_whitespace().next().unwrap_or_default();
    let has_float = [".f16", ".bf16", ".f32", ".f64"].iter().any(|ty| opcode.contains(ty));
    has_float && !["ld", "st", "mov"].contains(&opcode.split('.').next().unwrap_or_default())
}

fn lacks_toolkit(ran: &Output) -> bool {
    !ran.status.success() && String::from_utf8_lossy(&ran.stderr).contains("cannot find CUDA installation")
}
