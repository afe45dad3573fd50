//! Modules, checked by the documents' rules.

use pyo3::prelude::*;
use roundonce::Profile;
use roundonce::answers::{CheckOptions, TextLanguage};
use roundonce::spirv::Environment;
use roundonce::why::diff::Witnesses;

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
    let options = CheckOptions { determinacy, environment };
    let (text, findings) = py.detach(|| match &content {
        Content::Binary(bytes) => ("", options.spirv_binary(bytes)),
        Content::Text(whole) => {
            let text = unmarked(whole);
            let language = match language {
                "ptx" => TextLanguage::Ptx,
                "sass" => TextLanguage::Sass,
                _ => TextLanguage::Spirv,
            };
            (&**whole, language.report(text, &options).findings)
        }
    });
    let mut witnesses = Witnesses::new(&Profile::NVIDIA);
    let witness =
        |found: &roundonce::Finding| found.open.as_ref().filter(|_| determinacy).map(|open| witnesses.of(open));
    let shown: Vec<_> = py.detach(|| findings.iter().map(witness).map(Option::flatten).collect());
    let places = Places::of(text);
    Ok(findings.iter().zip(shown).map(|(found, witness)| Finding::of(&places, found, witness)).collect())
}
