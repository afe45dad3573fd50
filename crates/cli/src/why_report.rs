//! `why --report FILE.html`: an answer as one page that needs no other file, to attach to a report.

use std::fmt::Write;
use std::path::Path;
use std::sync::PoisonError;

use roundonce::why::{COLOURS, Line, Role};

use crate::{Failure, files};

/// What a page shows: its answers, as text and as data, and a picture of arrays.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) answers: Vec<(Vec<Line>, String)>,
    /// As SVG.
    pub(crate) picture: Option<String>,
}

const STYLE: &str = "\
:root { color-scheme: light dark; --label: #0a6e8a; background: var(--ground); color: var(--ink) }
@media (prefers-color-scheme: dark) { :root { --label: #5cc8e6 } }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font-family: system-ui, sans-serif; line-height: 1.5 }
h1 { font-size: 1.3rem } h2 { font-size: 1rem; color: var(--label) }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); border-radius: 6px; line-height: 1.35 }
.label { color: var(--label) } .faint { color: var(--faint) } .strong { font-weight: bold }
.kept { color: var(--significand); font-weight: bold } .dropped { color: var(--lost) }
svg { max-width: 100%; height: auto } footer { color: var(--faint); font-size: .85rem }
";

impl Page {
    /// Writes the page, whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        files::write(path, self.html(&command()).as_bytes())
    }

    fn html(&self, command: &str) -> String {
        let first = self.answers.first().and_then(|(lines, _)| lines.first());
        let title = escaped(&first.map_or(String::new(), Line::to_string));
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{COLOURS}{STYLE}</style>\n\
             <h1>Which evaluation gives these bits</h1>\n<h2>the command</h2>\n<pre>{}</pre>\n",
            escaped(command)
        );
        for (lines, _) in &self.answers {
            html.push_str("<h2>the answer</h2>\n<pre>");
            lines.iter().for_each(|line| push_line(&mut html, line));
            html.push_str("</pre>\n");
        }
        if let Some(picture) = &self.picture {
            let _ = write!(html, "<h2>as written, and what was seen</h2>\n{picture}\n");
        }
        for (_, data) in &self.answers {
            // What ends the element early is the one thing that JSON may not have here.
            let data = data.replace("</", "<\\/");
            let _ = writeln!(html, "<script type=\"application/json\" class=\"answer\">{data}</script>");
        }
        let version = env!("CARGO_PKG_VERSION");
        let _ = write!(
            html,
            "<footer>roundonce {version}. The same answer as data stands in this page, in elements of the class \
             <code>answer</code>.</footer>\n</html>\n"
        );
        html
    }
}

fn push_line(html: &mut String, line: &Line) {
    for (role, text) in &line.0 {
        let class = match role {
            Role::Plain => "",
            Role::Strong => "strong",
            Role::Label => "label",
            Role::Kept => "kept",
            Role::Dropped => "dropped",
            Role::Faint => "faint",
        };
        let text = escaped(text);
        let _ = match class {
            "" => write!(html, "{text}"),
            _ => write!(html, "<span class=\"{class}\">{text}</span>"),
        };
    }
    html.push('\n');
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The command as a shell would take it.
fn command() -> String {
    let words = crate::WORDS.read().unwrap_or_else(PoisonError::into_inner);
    let quoted = words.iter().skip(1).map(|word| {
        let word = word.to_string_lossy();
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=./:,@%".contains(c));
        if is_plain { word.into_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    });
    format!("roundonce {}", quoted.collect::<Vec<String>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_an_answer_is_markup() {
        let lines = vec![Line::of(Role::Strong, "a < b & c").and(Role::Plain, "</pre>")];
        let page = Page { answers: vec![(lines, "{\"saw\":\"</script>\"}".to_owned())], picture: None };
        let html = page.html("roundonce why 'a<b'");
        assert!(html.contains("<span class=\"strong\">a &lt; b &amp; c</span>&lt;/pre&gt;"), "{html}");
        assert_eq!((html.matches("</pre>").count(), html.matches("</script>").count()), (2, 1), "{html}");
    }
}
