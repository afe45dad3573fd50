//! The answer about a kernel, as lines of text.

use crate::{
    Computation, DifferingElement, Element, FirstDifference, KernelAnswer, Nearest, ObservedRun, PolicyText, Thread,
};
use roundonce_isa::{counted, grouped};
use roundonce_why::{COLUMNS, Line, Outcome, Role, advice_lines, evidence_text, wrap};

/// How many policies are listed; the data has all.
const LISTED: usize = 6;

fn elements(count: usize) -> String {
    counted(count as u64, "element")
}

impl KernelAnswer {
    /// Whether every observation is explained.
    pub fn explained(&self) -> bool {
        self.seen.iter().all(|seen| seen.outcome != Outcome::None)
    }

    /// The answer for a reader: what gives the seen bits first, then where it first differs from the kernel as written.
    pub fn lines(&self) -> Vec<Line> {
        let policies = match self.policies {
            1 => "run as written".to_owned(),
            count => format!("{} policies compared", grouped(count as u64)),
        };
        let mut lines =
            vec![Line::of(Role::Strong, format!("kernel {}", self.kernel)).and(Role::Faint, format!("   {policies}"))];
        if self.left_out > 0 {
            let text = format!("{} products and fmas were not tried one by one: there are too many", self.left_out);
            lines.extend(wrap(Role::Faint, &text, 0, COLUMNS));
        }
        for seen in &self.seen {
            lines.push(Line::default());
            seen.lines(&mut lines);
        }
        advice_lines(&self.advice, &mut lines);
        for note in self.doubts.notes() {
            lines.push(Line::default());
            lines.extend(wrap(Role::Plain, &note, 0, COLUMNS));
        }
        lines
    }
}

impl ObservedRun {
    fn lines(&self, lines: &mut Vec<Line>) {
        let all = elements(self.elements);
        let simplest = self.explanations.first();
        let head = match self.outcome {
            Outcome::One if simplest.is_some_and(|policy| policy.deviations.is_empty()) => {
                format!("the kernel as written gives all {all}")
            }
            Outcome::One => format!("one policy gives all {all}"),
            Outcome::None => format!("none: no policy gives all {all}"),
            Outcome::Consistent if self.explanations.len() == 1 => format!("consistent with one policy for all {all}"),
            Outcome::Consistent => format!("consistent with {} policies for all {all}", self.explanations.len()),
            _ => format!("ambiguous: {} policies give all {all}, simplest first", self.explanations.len()),
        };
        let saw = self.saw.join(", ");
        lines.push(Line::of(Role::Label, "saw ").and(Role::Strong, saw).and(Role::Plain, format!("  {head}")));
        if simplest.is_some() {
            lines.push(Line::of(Role::Faint, format!("    {}", evidence_text(self.evidence))));
        }
        let listed = self.explanations.iter().filter(|policy| !policy.deviations.is_empty());
        for (index, policy) in listed.take(LISTED).enumerate() {
            policy.lines(&format!("{}. ", index + 1), lines);
        }
        if self.explanations.len() > LISTED {
            lines.push(Line::of(Role::Faint, format!("  and {} more", self.explanations.len() - LISTED)));
        }
        if let Some(possible) = &self.also_possible {
            let text = format!("also arithmetically possible: {}", possible.sentence);
            lines.extend(wrap(Role::Faint, &text, 2, COLUMNS));
        }
        let written = match (self.as_written, simplest) {
            (_, Some(policy)) if policy.deviations.is_empty() => None,
            (0, _) => Some("As written, the kernel gives none of them.".to_owned()),
            (count, _) => Some(format!("As written, the kernel gives {} of them.", grouped(count as u64))),
        };
        if let Some(text) = written {
            lines.extend(wrap(Role::Plain, &text, 2, COLUMNS));
        }
        if let Some(nearest) = &self.nearest {
            nearest.lines(self.elements, lines);
        }
        if let Some(element) = &self.first_difference {
            lines.push(Line::default());
            element.lines(if self.nearest.is_some() { "by the nearest" } else { "by policy 1" }, lines);
        }
    }
}

impl PolicyText {
    fn lines(&self, mark: &str, lines: &mut Vec<Line>) {
        let mut text = self.sentence.clone();
        if self.nan_bits > 0 {
            text.push_str(&format!("; {} are NaNs of other bits", elements(self.nan_bits)));
        }
        lines.extend(wrap(Role::Strong, &format!("{mark}{text}"), 2, COLUMNS));
    }
}

impl Nearest {
    fn lines(&self, all: usize, lines: &mut Vec<Line>) {
        if !self.policy.deviations.is_empty() {
            let text =
                format!("The nearest gives {} of them: it {}.", grouped(self.explained as u64), self.policy.sentence);
            lines.extend(wrap(Role::Plain, &text, 2, COLUMNS));
        }
        let element = &self.first_unexplained;
        let text = format!(
            "{} of {} left; the first is {}{}: {} was seen, {} computed{}.",
            if self.explained == 0 { "All".to_owned() } else { grouped((all - self.explained) as u64) },
            grouped(all as u64),
            element.name(),
            element.thread.map_or(String::new(), |thread| format!(", written by {}", thread.name())),
            element.saw,
            element.computed,
            element.distance(),
        );
        lines.extend(wrap(Role::Plain, &text, 2, COLUMNS));
    }
}

impl Thread {
    fn name(&self) -> String {
        let axes = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
        format!("block {} thread {}", axes(self.block), axes(self.thread))
    }
}

impl Element {
    fn name(&self) -> String {
        let index: Vec<String> = self.index.iter().map(usize::to_string).collect();
        format!("{}[{}]", self.parameter, index.join(", "))
    }
    fn distance(&self) -> String {
        match self.ulps {
            None => String::new(),
            Some(1) => ", 1 ulp away".to_owned(),
            Some(ulps) => format!(", {} ulps away", grouped(ulps)),
        }
    }
}

impl DifferingElement {
    fn lines(&self, policy: &str, lines: &mut Vec<Line>) {
        let element = &self.element;
        let text = format!(
            "The first element that it changes is {}: {} as written, {} {policy}{}.",
            element.name(),
            element.saw,
            element.computed,
            element.distance(),
        );
        lines.extend(wrap(Role::Plain, &text, 0, COLUMNS));
        match (&self.at, element.thread) {
            (Some(at), _) => at.lines(["as written", policy], lines),
            (None, Some(thread)) => {
                let text = format!("{} wrote it; the first instruction that differs was not found.", thread.name());
                lines.extend(wrap(Role::Plain, &text, 0, COLUMNS));
            }
            (None, None) => {}
        }
    }
}

impl FirstDifference {
    /// The instruction, and what it gave on either side.
    pub(crate) fn lines(&self, sides: [&str; 2], lines: &mut Vec<Line>) {
        if let Some(through) = self.through {
            let text = format!("{} wrote it, of values that another thread had computed.", through.name());
            lines.extend(wrap(Role::Plain, &text, 0, COLUMNS));
        }
        for (side, computation) in sides.into_iter().zip([&self.first, &self.second]) {
            lines.push(Line::default());
            let place = Line::of(Role::Label, format!("{side}, "))
                .and(Role::Plain, format!("{}, {}", self.thread.name(), computation.place));
            lines.push(if computation.source.is_empty() {
                place
            } else {
                place.and(Role::Faint, format!("   {}", computation.source))
            });
            computation.lines(lines);
        }
    }
}

impl Computation {
    fn lines(&self, lines: &mut Vec<Line>) {
        lines.push(Line::of(Role::Strong, format!("  {}", self.instruction)));
        for worked in &self.worked {
            lines.push(Line::of(Role::Label, format!(" {}", worked.what.name())));
            worked.component.worked_lines(worked.kind, lines);
        }
        if self.worked.is_empty() {
            for (what, values) in [("reads", &self.operands), ("writes", &self.results)] {
                lines.push(Line::of(Role::Label, format!("  {what:<8}")).and(Role::Plain, values.join("; ")));
            }
        }
    }
}
