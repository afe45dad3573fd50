//! Findings, as Python objects and as exceptions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use roundonce::isa::{Fix, LineIndex, Location, Severity};
use roundonce::kernel::Refusal;
use roundonce::why::diff::{Outcome, Witness};

pyo3::create_exception!(
    roundonce,
    Error,
    PyValueError,
    "What is wrong with an instruction, an operand, an expression or a module.\n\n\
     Attributes: `code` (such as FORM0002), `place` (the range of characters at fault, or None for the whole), `rule`\n\
     (document and section), `help`; those of which nothing can be said are empty. `findings`: of a module, everything\n\
     that is wrong with it."
);
pyo3::create_exception!(
    roundonce,
    KernelError,
    Error,
    "What a kernel did wrong while it ran: an access outside every buffer, a trap, a race, a deadlock, too many steps.\n\n\
     Attributes: `kind` (one of these, in a word), `kernel`, `line`, `instruction` (as written), `block` and\n\
     `thread` (three numbers each, or None)."
);

/// One thing that a document's rule has against a file, or that is worth knowing about it.
#[pyclass(frozen, get_all, eq, from_py_object, module = "roundonce")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    /// `note`, `warning` or `error`.
    level: String,
    /// A stable code, such as PTX0020.
    code: String,
    /// What was found, and what was expected in its place.
    message: String,
    /// The range of characters at fault, a byte order mark counted; None for a binary or the whole.
    place: Option<(usize, usize)>,
    /// The line of its beginning, from 1.
    line: usize,
    /// The column of its beginning, from 1.
    column: usize,
    /// Of a binary the word at fault, from 0.
    word: Option<usize>,
    /// Document and section; empty where no document says it.
    rule: String,
    /// What to do about it; may be empty.
    help: String,
    /// A safe replacement: the range of characters and what stands there afterwards.
    fix: Option<Edit>,
    /// What settles a choice that the module leaves open, all of them together, as `fix`.
    edits: Vec<Edit>,
    /// What shows that such a choice matters: inputs as (name, bits, value), two results as (choice, bits, value).
    witness: Option<Shown>,
}

type Edit = (usize, usize, String);
type Shown = (Vec<(String, String, String)>, Vec<(String, String, String)>);

/// The byte order mark that a text may begin with.
const MARK: char = '\u{feff}';

/// A module's text as its language's crate reads it: without a byte order mark.
pub(crate) fn unmarked(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Places of a module's text as Python has them.
pub(crate) struct Places<'a> {
    lines: LineIndex<'a>,
    /// Whether a byte order mark stands before the text that was read, which is a character of the whole.
    is_marked: bool,
}

impl<'a> Places<'a> {
    /// Those of a text, empty for a binary.
    pub(crate) fn of(text: &'a str) -> Places<'a> {
        Places { lines: LineIndex::new(unmarked(text)), is_marked: text.starts_with(MARK) }
    }
    /// Places count bytes; those of Python count characters.
    fn character(&self, byte: usize) -> usize {
        self.lines.units(byte) + usize::from(self.is_marked)
    }
}

impl Finding {
    pub(crate) fn of(places: &Places<'_>, found: &roundonce::Finding, witness: Option<Witness>) -> Finding {
        let character = |byte: usize| places.character(byte);
        let edit = |fix: &Fix| (character(fix.start), character(fix.end), fix.replacement.clone());
        let (line, column) = match found.location {
            Location::Span { start, .. } => places.lines.line_column(start),
            Location::Word(_) | Location::Whole => (1, 1),
        };
        Finding {
            level: found.severity.name().to_owned(),
            code: found.code.to_owned(),
            message: found.message.clone(),
            place: match found.location {
                Location::Span { start, end } => Some((character(start), character(end))),
                Location::Word(_) | Location::Whole => None,
            },
            line,
            column,
            word: match found.location {
                Location::Word(word) => Some(word),
                Location::Span { .. } | Location::Whole => None,
            },
            rule: found.rule.clone(),
            help: found.help.clone(),
            fix: found.fix.as_ref().map(edit),
            edits: found.open.iter().flat_map(|open| open.edits.iter().map(edit)).collect(),
            witness: witness.map(|witness| {
                let inputs = witness.inputs.into_iter().map(|input| (input.name, input.bits, input.value));
                let result = |result: Outcome| (result.choice.to_owned(), result.bits, result.value);
                (inputs.collect(), witness.results.map(result).into())
            }),
        }
    }
}

/// All fields of a finding, in their order.
type Fields = (
    String,
    String,
    String,
    Option<(usize, usize)>,
    usize,
    usize,
    Option<usize>,
    String,
    String,
    Option<Edit>,
    Vec<Edit>,
    Option<Shown>,
);

#[pymethods]
impl Finding {
    /// One that was taken apart to travel to another process.
    #[staticmethod]
    fn _of(fields: Fields) -> Finding {
        let (level, code, message, place, line, column, word, rule, help, fix, edits, witness) = fields;
        Finding { level, code, message, place, line, column, word, rule, help, fix, edits, witness }
    }
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (Fields,))> {
        let Finding { level, code, message, place, line, column, word, rule, help, fix, edits, witness } =
            slf.get().clone();
        let fields = (level, code, message, place, line, column, word, rule, help, fix, edits, witness);
        Ok((slf.getattr("_of")?.unbind(), (fields,)))
    }
    fn __str__(&self) -> String {
        let Finding { level, code, message, line, column, .. } = self;
        match self.word {
            Some(word) => format!("word {word}: {level}: {message} [{code}]"),
            None => format!("{line}:{column}: {level}: {message} [{code}]"),
        }
    }
    fn __repr__(&self) -> String {
        format!("<Finding {}>", self.__str__())
    }
}

/// The attributes of an exception.
struct About<'a> {
    code: &'a str,
    place: Option<(usize, usize)>,
    rule: &'a str,
    help: &'a str,
    findings: Vec<Finding>,
}

impl About<'_> {
    const NOTHING: About<'static> = About { code: "", place: None, rule: "", help: "", findings: Vec::new() };

    fn told_by(self, py: Python<'_>, error: PyErr) -> PyErr {
        let value = error.value(py);
        let set = value
            .setattr("code", self.code)
            .and_then(|()| value.setattr("place", self.place))
            .and_then(|()| value.setattr("rule", self.rule))
            .and_then(|()| value.setattr("help", self.help))
            .and_then(|()| value.setattr("findings", self.findings));
        match set {
            Ok(()) => error,
            Err(failed) => failed,
        }
    }
}

/// A finding about an instruction or its operands.
pub(crate) fn of_finding(py: Python<'_>, finding: &roundonce::Finding) -> PyErr {
    let place = match finding.location {
        Location::Span { start, end } => Some((start, end)),
        Location::Word(_) | Location::Whole => None,
    };
    let about = About { code: finding.code, place, rule: &finding.rule, help: &finding.help, findings: Vec::new() };
    about.told_by(py, Error::new_err(finding.to_string()))
}

/// Everything that is wrong with a module, whose text is empty if it is a binary; the first error speaks for all.
pub(crate) fn of_module(py: Python<'_>, name: &str, text: &str, refusal: &Refusal) -> PyErr {
    let found = match refusal {
        Refusal::Findings { findings, .. } => findings,
        Refusal::Several(names) => {
            return whole(py, format!("{name}: several kernels, choose one as `entry`: {}", names.join(", ")));
        }
        Refusal::Usage(problem) => return whole(py, format!("{name}: {problem}")),
    };
    let places = Places::of(text);
    let findings: Vec<Finding> = found.iter().map(|found| Finding::of(&places, found, None)).collect();
    let lines: Vec<String> = findings.iter().map(|finding| format!("{name}:{}", finding.__str__())).collect();
    let message = lines.join("\n");
    let first = findings.iter().find(|finding| finding.level == Severity::Error.name()).cloned();
    match &first {
        None => About { findings, ..About::NOTHING },
        Some(Finding { code, place, rule, help, .. }) => About { code, place: *place, rule, help, findings },
    }
    .told_by(py, Error::new_err(message))
}

/// What went wrong while a kernel ran.
pub(crate) fn of_run(py: Python<'_>, name: &str, error: &roundonce::exec::RunError) -> PyErr {
    use roundonce::exec::FaultKind;
    let kind = match error.kind {
        FaultKind::Usage | FaultKind::Invalid => return whole(py, format!("{name}: {error}")),
        FaultKind::Access => "access",
        FaultKind::Trap => "trap",
        FaultKind::Unsupported => "unsupported",
        FaultKind::StepLimit => "step limit",
        FaultKind::MemoryLimit => "memory limit",
        FaultKind::Deadlock => "deadlock",
        FaultKind::Race => "race",
        FaultKind::Absent => "absent",
        FaultKind::Dependence => "dependence",
        FaultKind::Stopped => "stopped",
    };
    let raised = About::NOTHING.told_by(py, KernelError::new_err(format!("{name}: {error}")));
    let value = raised.value(py);
    let (block, thread) = error.thread.unzip();
    let set = value
        .setattr("kind", kind)
        .and_then(|()| value.setattr("kernel", &error.kernel))
        .and_then(|()| value.setattr("line", error.line))
        .and_then(|()| value.setattr("instruction", &error.instruction))
        .and_then(|()| value.setattr("block", block.map(<(u32, u32, u32)>::from)))
        .and_then(|()| value.setattr("thread", thread.map(<(u32, u32, u32)>::from)));
    match set {
        Ok(()) => raised,
        Err(failed) => failed,
    }
}

/// Something wrong at a byte of a text, which is shown with the place marked.
pub(crate) fn at(py: Python<'_>, text: &str, byte: usize, message: &str) -> PyErr {
    let column = text[..byte].chars().count();
    let about = About { place: Some((column, column + 1)), ..About::NOTHING };
    about.told_by(py, Error::new_err(format!("{message}\n  {text}\n  {:column$}^", "")))
}

/// Something wrong that has no place.
pub(crate) fn whole(py: Python<'_>, message: String) -> PyErr {
    About::NOTHING.told_by(py, Error::new_err(message))
}
