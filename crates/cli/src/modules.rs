//! A file with kernels: its language, its kernels, what is wrong with it.

use std::borrow::Cow;
use std::path::Path;

use roundonce::answers::{NoAnswer, TextLanguage};
use roundonce::isa::SmTarget;
use roundonce::kernel::{Choice, Ready, Refusal, Source};
use roundonce::{matrix, sass};

use crate::cuda::CudaSource;
use crate::launch::{Asked, LaunchArguments, choice};
use crate::{Failure, files};

/// What files with kernels are called.
pub(crate) const KERNELS: &str = ".ptx, .spv, .spvasm, .sass, .cubin or .cu";

/// The language of a kernel; CUDA C++ becomes PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    Ptx,
    /// A binary module.
    Spirv,
    SpirvText,
    /// A listing without whole kernels, whose registers are given.
    Sass,
    /// Kernels of machine code, of a cubin or a listing.
    Cubin,
}

impl Language {
    /// By a file's name; of standard input by what it holds.
    pub(crate) fn of(path: &Path) -> Option<Language> {
        if CudaSource::of(path).is_some() {
            return Some(Language::Ptx);
        }
        if path == Path::new("-") {
            return files::stdin().ok().and_then(Language::of_content);
        }
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "ptx" => Some(Language::Ptx),
            "spv" => Some(Language::Spirv),
            "spvasm" => Some(Language::SpirvText),
            "sass" => Some(Language::Sass),
            "cubin" => Some(Language::Cubin),
            _ => None,
        }
    }

    /// By the first bytes, or by what a text holds.
    pub(crate) fn of_content(bytes: &[u8]) -> Option<Language> {
        match bytes {
            [0x7f, b'E', b'L', b'F', ..] => return Some(Language::Cubin),
            [0x03, 0x02, 0x23, 0x07, ..] | [0x07, 0x23, 0x02, 0x03, ..] => return Some(Language::Spirv),
            _ => {}
        }
        let text = String::from_utf8_lossy(bytes);
        match TextLanguage::of_text(&text) {
            TextLanguage::Ptx => Some(Language::Ptx),
            // Comments of PTX alone are in any encoding.
            _ if matches!(text, Cow::Owned(_)) => None,
            TextLanguage::Spirv => Some(Language::SpirvText),
            TextLanguage::Sass => Some(Language::Sass),
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

/// The machine of a kernel's matrix multiply-adds, the one that is asked for or the module's, if they are presumed to be as its
/// family's.
pub(crate) fn presumed_machine(ready: &Ready, asked: Option<SmTarget>) -> Option<String> {
    matrix::presumed_machine(ready.kernel(), asked.or(ready.target), &ready.profile)
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
    if each.is_empty() {
        let missing = wanted.map_or_else(|| "in it".to_owned(), |name| format!("`{name}`"));
        return Err(Failure::Input(format!("{}: there is no kernel {missing}", path.display())));
    }
    Ok(each)
}

/// What a reader makes of a module, and its text.
pub(crate) fn read<T>(
    path: &Path,
    choice: &Choice,
    reader: impl Fn(Source<'_>, &Choice) -> Result<T, Refusal>,
) -> Result<(T, String), Failure> {
    let expected = || Failure::Input(format!("{}: expected a {KERNELS} file", path.display()));
    let language = Language::read(path)?.ok_or_else(expected)?;
    if language == Language::Sass {
        let what = "a listing of whole kernels of Maxwell or Pascal, each with its EXIT, is read; this one holds none";
        return Err(Failure::Unsupported(format!("{}: {what}", path.display())));
    }
    let bytes = files::read(path)?;
    let binary = match language {
        Language::Cubin if sass::Cubin::is_elf(&bytes) => Some(Source::Cubin(&bytes)),
        Language::Spirv => Some(Source::Spirv(&bytes)),
        _ => None,
    };
    if let Some(source) = binary {
        let read = reader(source, choice);
        return read.map(|ready| (ready, String::new())).map_err(|refusal| refused(path, "", refusal));
    }
    let text = match language {
        Language::Ptx => files::ptx(path, bytes)?.0,
        _ => files::text(path, bytes)?,
    };
    let source = match language {
        Language::Ptx => Source::Ptx(&text),
        Language::Cubin => Source::Listing(&text),
        _ => Source::SpirvText(&text),
    };
    match reader(source, choice) {
        Ok(ready) => Ok((ready, text)),
        Err(refusal) => Err(refused(path, &text, refusal)),
    }
}

/// The failure that a refusal is: 3 where all findings are about what is not supported.
pub(crate) fn refused(path: &Path, text: &str, refusal: Refusal) -> Failure {
    NoAnswer::refused(&path.display().to_string(), text, refusal).into()
}
