//! What the code of each finding stands for: the rule, its source, and an example that gives it.
//!
//! The rules of a language stand in its crate; those of spellings and of `why` here. The examples are the files of the
//! folder `rules`, of which the book's pages of codes are made (`crates/cli/tests/reference.rs`).

use roundonce_isa::Rule;
use roundonce_why::{Line, Outcome, Role, wrap};
use serde::Serialize;

use crate::{ptx, sass, spirv, translate};

const SPELLING: &str = "the table of forms";

/// Rules about the spelling of an instruction, and about its operands.
pub static FORMS: &[Rule] = &[
    Rule::error("FORM0001", "a spelling names an instruction", SPELLING),
    Rule::error("FORM0002", "a spelling has the modifiers of its form", SPELLING),
    Rule::error("FORM0003", "the target and the version have the instruction", SPELLING),
    Rule::error("FORM0004", "a target or an environment is one that is known", "the command line's contract"),
    Rule::error("FORM0005", "an instruction takes as many operands as its form", SPELLING),
    Rule::error("FORM0006", "an operand is a value of its format", "the command line's contract"),
    Rule::error("FORM0007", "arrays have elements of the width of their format", "the interface for arrays"),
    Rule::error(
        "FORM0008",
        "arrays have one length, and values the components of the form",
        "the interface for arrays",
    ),
    Rule::error("FORM0009", "what is computed alone is a form, and known", SPELLING),
];

const ONE: Rule = Rule::note("WHY0001", "one evaluation gives what was seen", WHY_SOURCE);
const SEVERAL: Rule = Rule::note("WHY0002", "each part of what was seen has an evaluation of its own", WHY_SOURCE);
const AMBIGUOUS: Rule = Rule::note("WHY0003", "several evaluations give what was seen", WHY_SOURCE);
const NONE: Rule = Rule::warning("WHY0004", "no evaluation gives all that was seen", WHY_SOURCE);
const CONSISTENT: Rule =
    Rule::note("WHY0005", "what was seen is consistent with an evaluation: it may be an accident", WHY_SOURCE);
const WHY_SOURCE: &str = "the evaluations that were compared";

/// What `why` found, as SARIF says it.
pub static WHY: &[Rule] = &[ONE, SEVERAL, AMBIGUOUS, NONE, CONSISTENT];

/// The rule that a verdict of `why` is reported by.
pub const fn of_outcome(outcome: Outcome) -> &'static Rule {
    match outcome {
        Outcome::One => &ONE,
        Outcome::Several => &SEVERAL,
        Outcome::Ambiguous => &AMBIGUOUS,
        Outcome::None => &NONE,
        Outcome::Consistent => &CONSISTENT,
    }
}

/// Rules that are shown on one page of the book.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The page is `diagnostics-NAME.md`.
    pub name: &'static str,
    /// What the rules are about.
    pub title: &'static str,
    /// In the order of their codes, or of the table's.
    pub rules: &'static [Rule],
    examples: &'static str,
}

/// All rules.
pub static GROUPS: [Group; 6] = [
    Group { name: "ptx", title: "PTX", rules: ptx::RULES, examples: include_str!("rules/ptx.txt") },
    Group { name: "sass", title: "SASS", rules: sass::RULES, examples: include_str!("rules/sass.txt") },
    Group { name: "spirv", title: "SPIR-V", rules: spirv::RULES, examples: include_str!("rules/spirv.txt") },
    Group { name: "forms", title: "Spellings and operands", rules: FORMS, examples: include_str!("rules/forms.txt") },
    Group {
        name: "translate",
        title: "Translation",
        rules: translate::rules::RULES,
        examples: include_str!("rules/translate.txt"),
    },
    Group { name: "why", title: "Verdicts of why", rules: WHY, examples: include_str!("rules/why.txt") },
];

/// What gives a finding with a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Example {
    /// A command for a shell; empty where the command cannot give the finding, and the text says what does.
    pub command: &'static str,
    /// What the file holds whose name in the command begins with the code; empty where there is none.
    pub text: &'static str,
}

impl Example {
    /// The file that the command reads.
    pub fn file(&self, code: &str) -> Option<&'static str> {
        let is_file = |word: &&str| word.strip_prefix(code).is_some_and(|rest| rest.starts_with('.'));
        self.command.split_whitespace().find(is_file).filter(|_| !self.text.is_empty())
    }
}

impl Group {
    /// The example of a code.
    pub fn example(&self, code: &str) -> Option<Example> {
        let entry = self.examples.split("=== ").find_map(|entry| entry.strip_prefix(code)?.strip_prefix('\n'))?;
        Some(match entry.strip_prefix("$ ").and_then(|rest| rest.split_once('\n')) {
            Some((command, text)) => Example { command, text },
            None => Example { command: "", text: entry },
        })
    }

    /// Where the book says more of a code.
    pub fn address(&self, code: &str) -> String {
        let repository = env!("CARGO_PKG_REPOSITORY");
        format!("{repository}/blob/main/docs/reference/diagnostics-{}.md#{}", self.name, code.to_lowercase())
    }
}

/// The rule of a code, with what belongs to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Explained {
    /// The code.
    pub code: &'static str,
    /// `error`, `warning` or `note`.
    pub level: &'static str,
    /// What the rule asks for.
    pub title: &'static str,
    /// Document and section.
    pub source: &'static str,
    /// What gives such a finding.
    pub example: Option<Example>,
    /// The book's page.
    pub address: String,
}

/// Whether a text has the form of a code, as `PTX0022` has.
///
/// ```
/// assert!(roundonce::rules::is_code("sass9999") && !roundonce::rules::is_code("fma.rn.f32"));
/// ```
pub fn is_code(text: &str) -> bool {
    let text = text.to_uppercase();
    let letters = text.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let of_group =
        |group: &Group| group.rules.first().is_some_and(|rule| rule.code.strip_prefix(letters).is_some_and(is_number));
    text.strip_prefix(letters).is_some_and(is_number) && GROUPS.iter().any(of_group)
}

fn is_number(digits: &str) -> bool {
    digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// What a code stands for.
///
/// ```
/// let explained = roundonce::rules::explain("ptx0022").unwrap();
/// assert_eq!(explained.title, "a modifier that a form requires is written");
/// ```
pub fn explain(code: &str) -> Option<Explained> {
    let code = code.to_uppercase();
    let (group, rule) =
        GROUPS.iter().find_map(|group| Some((group, group.rules.iter().find(|rule| rule.code == code)?)))?;
    Some(Explained {
        code: rule.code,
        level: rule.level.name(),
        title: rule.title,
        source: rule.source,
        example: group.example(rule.code),
        address: group.address(rule.code),
    })
}

impl Explained {
    /// For a person.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::of(Role::Strong, self.code).and(Role::Plain, format!("   {}: {}", self.level, self.title)),
            Line::of(Role::Faint, format!("rule: {}", self.source)),
        ];
        if let Some(example) = self.example {
            lines.push(Line::default());
            if example.command.is_empty() {
                lines.extend(wrap(Role::Plain, example.text, 0, 80));
            } else {
                lines.extend(example.text.lines().map(|line| Line::of(Role::Plain, format!("  {line}"))));
                lines.push(Line::of(Role::Label, format!("given by: {}", example.command)));
            }
        }
        lines.push(Line::default());
        lines.push(Line::of(Role::Faint, self.address.clone()));
        lines
    }
}
