//! A file with kernels: its language, its kernels, what is wrong with it.

use std::path::Path;

use roundonce::isa::Finding;
use roundonce::kernel::{Choice, Ready, Refusal, Source};
use roundonce::sass;

use crate::cuda::CudaSource;
use crate::launch::{Asked, LaunchArguments, choice};
use crate::report::Checked;
use crate::{Failure, files};

/// What files with kernels are called.
pub(crate) const KERNELS: &str = ".ptx, .spv, .spvasm, .sass, .cubin or .cu";

/// The language of a kernel; CUDA C++ becomes PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    Ptx,
    Spirv,
    /// A listing without whole kernels, whose registers are given.
    Sass,
    /// Kernels of machine code, of a cubin or a listing.
    Cubin,
}

impl Language {
    /// By a file's name.
    pub(crate) fn of(path: &Path) -> Option<Language> {
        if CudaSource::of(path).is_some() {
            return Some(Language::Ptx);
        }
        match path.extension()?.to_str()? {
            "ptx" => Some(Language::Ptx),
            "spv" | "spvasm" => Some(Language::Spirv),
            "sass" => Some(Language::Sass),
            "cubin" => Some(Language::Cubin),
            _ => None,
        }
    }
    /// By a file's name, and of a listing by what it holds.
    pub(crate) fn read(path: &Path) -> Result<Option<Language>, Failure> {
        match Language::of(path) {
            Some(Language::Sass) if sass::is_kernel_listing(&files::text(path, files::read(path)?)?) => {
                Ok(Some(Language::Cubin))
            }
            language => Ok(language),
        }
    }
}

/// A module, read for what is asked, and its text.
pub(crate) fn ready(path: &Path, asked: Asked<'_>, arguments: &LaunchArguments) -> Result<(Ready, String), Failure> {
    let choice = choice(asked, arguments)?;
    let Some(source) = CudaSource::of(path) else { return read(path, &choice, Ready::read) };
    let text = source.compile(arguments.compiler_flags())?;
    let every = Choice { entry: None, ..choice };
    let each = Ready::read_each(Source::Ptx(&text), &every).map_err(|refusal| refused(path, &text, refusal))?;
    let ready = source.choose(each, asked.entry)?.map_err(|refusal| refused(path, &text, refusal))?;
    Ok((ready, text))
}

/// A kernel's name, and the kernel, or why it cannot be run.
pub(crate) type Each = (String, Result<Ready, Failure>);

/// Every kernel of a module, or the one that is named.
pub(crate) fn each(path: &Path, arguments: &LaunchArguments) -> Result<Vec<Each>, Failure> {
    let asked = arguments.asked()?;
    let choice = choice(Asked { entry: None, ..asked }, arguments)?;
    let wanted = asked.entry;
    let (each, text) = read(path, &choice, Ready::read_each)?;
    let asked = each.into_iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == name));
    let each: Vec<Each> =
        asked.map(|(name, ready)| (name, ready.map_err(|refusal| refused(path, &text, refusal)))).collect();
    match wanted.filter(|_| each.is_empty()) {
        Some(name) => Err(Failure::Input(format!("{}: there is no kernel `{name}`", path.display()))),
        None => Ok(each),
    }
}

/// What a reader makes of a module, and its text.
fn read<T>(
    path: &Path,
    choice: &Choice,
    reader: impl Fn(Source<'_>, &Choice) -> Result<T, Refusal>,
) -> Result<(T, String), Failure> {
    let is_cubin = Language::of(path) == Some(Language::Cubin);
    if is_cubin || path.extension().is_some_and(|extension| extension == "spv") {
        let bytes = files::read(path)?;
        let read = reader(if is_cubin { Source::Cubin(&bytes) } else { Source::Spirv(&bytes) }, choice);
        return read.map(|ready| (ready, String::new())).map_err(|refusal| refused(path, "", refusal));
    }
    let language = Language::read(path)?;
    if matches!(language, None | Some(Language::Sass)) {
        return Err(Failure::Input(format!("{}: expected a {KERNELS} file", path.display())));
    }
    let text = files::text(path, files::read(path)?)?;
    let source = match language {
        Some(Language::Ptx) => Source::Ptx(&text),
        Some(Language::Cubin) => Source::Listing(&text),
        _ => Source::SpirvText(&text),
    };
    match reader(source, choice) {
        Ok(ready) => Ok((ready, text)),
        Err(refusal) => Err(refused(path, &text, refusal)),
    }
}

/// The failure that a refusal is: 3 where all findings are about what is not supported.
fn refused(path: &Path, text: &str, refusal: Refusal) -> Failure {
    let file = path.display();
    match refusal {
        Refusal::Findings { findings, unsupported: true } => Failure::Unsupported(located(path, text, findings)),
        Refusal::Findings { findings, .. } => Failure::Input(located(path, text, findings)),
        Refusal::Several(names) => {
            Failure::Input(format!("{file}: several kernels, choose with --entry: {}", names.join(", ")))
        }
        Refusal::Usage(problem) => Failure::Input(format!("{file}: {problem}")),
    }
}

/// Findings as `file:line:column: message`, of a binary `file: word 12: message`, one a line.
pub(crate) fn located(path: &Path, text: &str, findings: Vec<Finding>) -> String {
    let checked = Checked::new(path, text.to_owned(), findings, false);
    let lines: Vec<String> = checked
        .rows()
        .map(|row| match row.word {
            Some(word) => format!("{}: word {word}: {} [{}]", row.file, row.message, row.code),
            None => format!("{}:{}:{}: {} [{}]", row.file, row.line, row.column, row.message, row.code),
        })
        .collect();
    lines.join("\n")
}
