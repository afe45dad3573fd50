//! Modules, checked by the documents' rules.

use pyo3::prelude::*;
use roundonce::answers::TextLanguage;
use roundonce::spirv::Environment;
use roundonce::why::diff::Witnesses;
use roundonce::{Profile, ptx, sass, spirv};

use crate::error::{self, Finding, Places, unmarked};
use crate::kernel::Content;

/// The language of a module's text: `ptx`, `spvasm` or `sass`.
#[pyfunction]
pub(crate) fn language_of(text: &str) -> &'static str {
    match TextLanguage::of_text(text) {
        TextLanguage::Ptx => "ptx",
        TextLanguage::Spirv => "spvasm",
        TextLanguage::Sass => "sass",
    }
}

/// What the documents' rules have against a file.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    language: &str,
    content: Content,
    determinacy: bool,
    target_env: &str,
) -> PyResult<Vec<Finding>> {
    let environment: Environment = target_env.parse().map_err(|problem| error::whole(py, problem))?;
    let (text, findings) = py.detach(|| match &content {
        Content::Binary(bytes) => ("", spirv::check_binary(bytes, environment)),
        Content::Text(whole) => {
            let text = unmarked(whole);
            let findings = match language {
                "ptx" => ptx::check_text(text, &ptx::Options { determinacy }),
                "sass" => sass::check(text),
                _ => spirv::check_text(text, environment),
            };
            (&**whole, findings)
        }
    });
    let mut witnesses = Witnesses::new(&Profile::NVIDIA);
    let witness =
        |found: &roundonce::Finding| found.open.as_ref().filter(|_| determinacy).map(|open| witnesses.of(open));
    let shown: Vec<_> = py.detach(|| findings.iter().map(witness).map(Option::flatten).collect());
    let places = Places::of(text);
    Ok(findings.iter().zip(shown).map(|(found, witness)| Finding::of(&places, found, witness)).collect())
}
