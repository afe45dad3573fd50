//! Findings as Python exceptions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use roundonce::Finding;
use roundonce::isa::Place;

pyo3::create_exception!(
    roundonce,
    Error,
    PyValueError,
    "What is wrong with an instruction, an operand or an expression.\n\n\
     Attributes: `code` (such as FORM0002), `place` (the range of characters at fault, or None for the whole), `rule`\n\
     (document and section), `help`; those of which nothing can be said are empty."
);

fn error(py: Python<'_>, message: String, code: &str, place: Option<(usize, usize)>, rule: &str, help: &str) -> PyErr {
    let error = Error::new_err(message);
    let value = error.value(py);
    let set = value
        .setattr("code", code)
        .and_then(|()| value.setattr("place", place))
        .and_then(|()| value.setattr("rule", rule))
        .and_then(|()| value.setattr("help", help));
    match set {
        Ok(()) => error,
        Err(failed) => failed,
    }
}

/// A finding about an instruction or its operands.
pub(crate) fn of_finding(py: Python<'_>, finding: &Finding) -> PyErr {
    let place = match finding.place {
        Place::Span { start, end } => Some((start, end)),
        Place::Word(_) | Place::Whole => None,
    };
    error(py, finding.to_string(), finding.code, place, &finding.rule, &finding.help)
}

/// Something wrong at a byte of a text, which is shown with the place marked.
pub(crate) fn at(py: Python<'_>, text: &str, byte: usize, message: &str) -> PyErr {
    let column = text[..byte].chars().count();
    error(py, format!("{message}\n  {text}\n  {:column$}^", ""), "", Some((column, column + 1)), "", "")
}

/// Something wrong that has no place.
pub(crate) fn whole(py: Python<'_>, message: String) -> PyErr {
    error(py, message, "", None, "", "")
}
