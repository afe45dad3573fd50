//! The comments of a text, by line.

use std::collections::BTreeMap;

/// The comments of a module's text: what each line has of them, without the marks that begin and end them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comments(BTreeMap<u32, String>);

impl Comments {
    /// Of PTX and of listings of SASS: from `//` to the end of the line, and between `/*` and `*/`.
    ///
    /// ```
    /// use roundonce_translate::kernel::Comments;
    /// let comments = Comments::of_slashes("add; // one\n/* two\n three */ sub;");
    /// let all: Vec<(u32, &str)> = comments.between(0, 9).collect();
    /// assert_eq!(all, [(1, "one"), (2, "two"), (3, "three")]);
    /// ```
    pub fn of_slashes(text: &str) -> Comments {
        let mut comments = BTreeMap::new();
        let mut inside = false;
        for (line, mut rest) in (1..).zip(text.lines()) {
            let mut found: Vec<&str> = Vec::new();
            loop {
                if inside {
                    let end = rest.find("*/");
                    found.push(&rest[..end.unwrap_or(rest.len())]);
                    let Some(end) = end else { break };
                    inside = false;
                    rest = &rest[end + 2..];
                }
                // A quotation may hold the marks of a comment.
                let Some(mark) = rest.find(['"', '/']) else { break };
                let tail = &rest[mark..];
                rest = if let Some(quoted) = tail.strip_prefix('"') {
                    quoted.find('"').map_or("", |end| &quoted[end + 1..])
                } else if let Some(comment) = tail.strip_prefix("//") {
                    found.push(comment);
                    break;
                } else if let Some(comment) = tail.strip_prefix("/*") {
                    inside = true;
                    comment
                } else {
                    &tail[1..]
                };
            }
            insert(&mut comments, line, &found);
        }
        Comments(comments)
    }

    /// Of SPIR-V's assembly: from `;` to the end of the line.
    pub fn of_semicolons(text: &str) -> Comments {
        let mut comments = BTreeMap::new();
        for (line, text) in (1..).zip(text.lines()) {
            let mut quoted = false;
            let mark = text.bytes().position(|byte| {
                quoted ^= byte == b'"';
                byte == b';' && !quoted
            });
            if let Some(mark) = mark {
                insert(&mut comments, line, &[&text[mark + 1..]]);
            }
        }
        Comments(comments)
    }

    /// Those after one line, up to another and with it.
    pub fn between(&self, after: u32, to: u32) -> impl Iterator<Item = (u32, &str)> {
        let lines = (after < to).then(|| self.0.range(after + 1..=to));
        lines.into_iter().flatten().map(|(line, text)| (*line, text.as_str()))
    }
}

fn insert(comments: &mut BTreeMap<u32, String>, line: u32, found: &[&str]) {
    let texts: Vec<&str> = found.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
    if !texts.is_empty() {
        comments.insert(line, texts.join(" "));
    }
}
