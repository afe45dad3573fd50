//! Requests in, replies out.

use roundonce::Finding;
use roundonce::answers::NoAnswer;
use roundonce::why::Line;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a verb gives back.
#[derive(Default, Serialize)]
pub(crate) struct Reply {
    /// The command's exit status: 0 done, equal, valid; 1 a finding; 2 unreadable; 3 not supported.
    pub(crate) status: u8,
    /// The lines that the command prints with `--format json`.
    pub(crate) json: Vec<String>,
    /// The same for a person, in pieces with their roles.
    pub(crate) lines: Vec<Line>,
    /// What stands beside the answer.
    pub(crate) notes: Vec<String>,
    /// Why there is no answer.
    pub(crate) error: String,
    /// Of `explain`: each component's picture as SVG; empty where it has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pictures: Vec<String>,
    /// Of `check`: where each finding stands, in UTF-16 units of the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) spans: Vec<[usize; 2]>,
    /// Of `run`: the buffers afterwards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) buffers: Vec<BufferAfter>,
}

/// A buffer after a run.
#[derive(Serialize)]
pub(crate) struct BufferAfter {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) ty: &'static str,
    /// How many elements it has; the first of them are here.
    pub(crate) count: usize,
    pub(crate) bits: Vec<String>,
    pub(crate) values: Vec<String>,
}

impl Reply {
    /// Adds what the command prints of an answer.
    pub(crate) fn with(mut self, answer: &impl Serialize, lines: Vec<Line>) -> Result<Reply, NoAnswer> {
        self.json.push(serde_json::to_string(answer).map_err(|error| NoAnswer::Input(error.to_string()))?);
        self.lines.extend(lines);
        Ok(self)
    }

    /// Status 1 for a finding.
    pub(crate) fn found(self, found: bool) -> Reply {
        Reply { status: u8::from(found), ..self }
    }

    /// An answer was made and there is none all the same: the command prints both.
    pub(crate) fn but(self, reason: NoAnswer) -> Reply {
        let (status, error) = match reason {
            NoAnswer::Input(message) => (2, message),
            NoAnswer::Unsupported(message) => (3, message),
        };
        Reply { status, error, ..self }
    }
}

/// What a verb ends with.
pub(crate) type Ended = Result<Reply, NoAnswer>;

/// A problem of an option's value.
pub(crate) fn option<T>(name: &str, read: Result<T, String>) -> Result<T, NoAnswer> {
    read.map_err(|problem| NoAnswer::Input(format!("{name}: {problem}")))
}

/// Reads a request, has it answered, writes the reply.
pub(crate) fn text<T: DeserializeOwned>(request: &str, verb: fn(T) -> Ended) -> String {
    let read = serde_json::from_str(request).map_err(|error| NoAnswer::Input(format!("the request: {error}")));
    let reply = read.and_then(verb).unwrap_or_else(|reason| Reply::default().but(reason));
    serde_json::to_string(&reply)
        .unwrap_or_else(|_| r#"{"status":2,"json":[],"lines":[],"notes":[],"error":"no JSON"}"#.into())
}

/// A finding about no module.
pub(crate) fn fault(finding: Finding) -> NoAnswer {
    finding.into()
}
