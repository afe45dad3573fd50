//! Arguments that may name files: whatever bytes the system allows in one.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::{Failure, output};

/// A word of the command line: a text, or a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Argument(OsString);

/// Extensions of files that hold arrays and are not read.
const OTHER_ARRAYS: [&str; 8] = ["safetensors", "pt", "pth", "npz", "parquet", "csv", "h5", "mat"];

impl Argument {
    pub(crate) fn parser() -> impl TypedValueParser<Value = Argument> {
        OsStringValueParser::new().map(|word| match word.into_string() {
            Ok(text) => Argument(output::show_sign(&text).into()),
            Err(word) => Argument(word),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// What is no path is text.
    pub(crate) fn text(&self) -> Result<&str, Failure> {
        self.0.to_str().ok_or_else(|| Failure::Input(format!("`{self}` is not UTF-8")))
    }

    /// Whether it names an array's file.
    pub(crate) fn is_array(&self) -> bool {
        self.path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
    }

    /// That it is no array's file of another kind, where a number or an array is read.
    pub(crate) fn no_other_array(&self) -> Result<(), Failure> {
        let is_of = |known: &&str| self.path().extension().is_some_and(|found| found.eq_ignore_ascii_case(known));
        if OTHER_ARRAYS.iter().any(is_of) {
            return Err(Failure::Input(format!("`{self}`: arrays are read from .npy files, which numpy.save writes")));
        }
        Ok(())
    }

    /// An array's file and the words behind it: `in.npy,linear,clamp`.
    pub(crate) fn file_and_words(&self) -> (Argument, Option<String>) {
        let found = self.0.to_str().and_then(|text| {
            let lower = text.to_ascii_lowercase();
            let end = lower.rfind(".npy,")? + ".npy".len();
            Some((Argument(text[..end].into()), text[end + 1..].to_owned()))
        });
        found.map_or_else(|| (self.clone(), None), |(file, words)| (file, Some(words)))
    }

    /// A name and what follows its `=`.
    pub(crate) fn split(&self) -> Option<(&str, Argument)> {
        let (name, value) = split_at_equals(&self.0)?;
        Some((name.to_str()?, Argument(value.to_owned())))
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Argument {
        Argument(text.into())
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path().display().fmt(f)
    }
}

#[cfg(unix)]
fn split_at_equals(word: &OsStr) -> Option<(&OsStr, &OsStr)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    Some((OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..])))
}

#[cfg(not(unix))]
fn split_at_equals(word: &OsStr) -> Option<(&OsStr, &OsStr)> {
    word.to_str()?.split_once('=').map(|(name, value)| (OsStr::new(name), OsStr::new(value)))
}
