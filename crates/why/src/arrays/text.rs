//! The answer about arrays, as lines of text.

use roundonce_deviate::Plausibility;
use roundonce_isa::{counted, grouped};

use super::{ArrayAnswer, ArrayGroup, Example, ObservedArray, PossibleGroup};
use crate::answer::{FUSED_OR_NOT, count_ulps};
use crate::chance::{WEAK_BITS, evidence_text, is_beyond_accident};
use crate::text::{COLUMNS, Line, Role, wrap};

/// Other evaluations that are named.
const ALTERNATIVES: usize = 3;

/// Of an evaluation that too many elements contradict.
const NO_EVIDENCE: &str =
    "no evidence: too many contradict it for exceptions; what was computed is near to it, and may be none of these";

impl ArrayAnswer {
    /// Whether every element of every seen array is explained.
    pub fn explained(&self) -> bool {
        self.seen.iter().all(|seen| seen.unexplained == 0)
    }

    /// The answer for a reader: plain sentences first, then the evidence.
    pub fn lines(&self) -> Vec<Line> {
        let about = format!(
            "   in {}, {}, {} compared",
            self.ty,
            counted(self.elements as u64, "element"),
            counted(self.evaluations as u64, "evaluation")
        );
        let mut lines = vec![Line::of(Role::Strong, self.expression.clone()).and(Role::Faint, about)];
        lines.extend(self.literals.iter().flat_map(|text| wrap(Role::Plain, text, 0, COLUMNS)));
        for seen in &self.seen {
            let compared = seen.compared.unwrap_or(self.elements) as u64;
            let of = |count: usize| format!("{} of {}", grouped(count as u64), grouped(compared));
            lines.push(Line::default());
            let main = match seen.groups.first() {
                Some(ArrayGroup { contradicted: Some(others), count, sentence, .. }) => {
                    let (of, others) = (of(*count), grouped(*others as u64));
                    format!(
                        "none fits: closest, contradicted by {others}, is the evaluation that {sentence}: it gives {of}"
                    )
                }
                Some(group) if group.is_weak() => {
                    format!("{} are consistent with the evaluation that {}", of(group.count), group.sentence)
                }
                Some(group) => format!("the evaluation that {} explains {}", group.sentence, of(group.count)),
                None if seen.nearly().is_some() => {
                    format!("none fits: no evaluation explains enough of {}", counted(compared, "element"))
                }
                None if seen.by_accident.is_some() => {
                    format!(
                        "none fits: no evaluation explains more of {} than by accident",
                        counted(compared, "element")
                    )
                }
                None => format!("none fits: no evaluation explains any of {}", counted(compared, "element")),
            };
            lines.extend(wrap(Role::Strong, &format!("{}: {main}", seen.saw), 0, COLUMNS));
            if seen.compared.is_some() {
                let text = "of a large array, elements spread evenly were compared";
                lines.extend(wrap(Role::Faint, text, 2, COLUMNS));
            }
            for (index, group) in seen.groups.iter().enumerate() {
                if index > 0 {
                    lines.push(Line::default());
                    let is = if group.is_weak() { "consistent with " } else { "" };
                    let text = format!("{} more: {is}the evaluation that {}", of(group.count), group.sentence);
                    lines.extend(wrap(Role::Plain, &text, 2, COLUMNS));
                }
                let of_one = match group.fitting() {
                    1 => String::new(),
                    count => format!(", shared by these {count}"),
                };
                let evidence = match group.contradicted {
                    Some(_) => NO_EVIDENCE.to_owned(),
                    None => format!("{}{of_one}", evidence_text(group.evidence)),
                };
                lines.extend(wrap(Role::Faint, &format!("{evidence}{}", group.deciding_text()), 4, COLUMNS));
                if let Some(by) = &group.by {
                    lines.extend(wrap(Role::Faint, &format!("who adds so: {by}"), 4, COLUMNS));
                }
                let shown = if self.verbose { usize::MAX } else { ALTERNATIVES };
                for other in group.alternatives.iter().take(shown) {
                    lines.extend(wrap(Role::Plain, &format!("or, just as well: the one that {other}"), 4, COLUMNS));
                }
                if group.alternatives.len() > shown {
                    let more = group.alternatives.len() - shown;
                    lines.push(Line::of(Role::Faint, format!("    and {more} more: --verbose names them")));
                }
                if group.is_fused_or_not {
                    lines.push(Line::of(Role::Faint, format!("    {FUSED_OR_NOT}")));
                }
                let less = group.less_plausible.iter().chain(&group.others_less_plausible);
                for other in less.clone().take(shown) {
                    lines.extend(wrap(Role::Faint, &format!("or, less plausible: the one that {other}"), 4, COLUMNS));
                }
                if less.clone().count() > shown {
                    let more = less.count() - shown;
                    lines.push(Line::of(Role::Faint, format!("    and {more} less plausible: --verbose names them")));
                }
                if let Some(inputs) = group.inputs {
                    lines.push(Line::of(Role::Faint, format!("    {inputs}")));
                }
                group.example.lines(self.verbose, &mut lines);
            }
            if seen.unexplained > 0 {
                lines.push(Line::default());
                lines.push(Line::of(Role::Strong, format!("  {}: nothing explains them", of(seen.unexplained))));
            }
            let is_one_of_many = |group: &ArrayGroup| {
                group.is_weak() && group.contradicted.is_none() && group.plausibility != Plausibility::Approximated
            };
            if seen.unexplained > 0 && seen.groups.first().is_some_and(is_one_of_many) {
                let text = "other evaluations explain nearly as many as the first: the true one may be none of these";
                lines.extend(wrap(Role::Faint, text, 4, COLUMNS));
            }
            if let Some(other) = &seen.other_types {
                lines.extend(wrap(Role::Plain, &other.text(), 4, COLUMNS));
            }
            if let Some([matched, after]) = seen.by_accident {
                let of_these = if seen.groups.is_empty() { "" } else { "of these " };
                let text = match seen.nearly() {
                    Some(nearest) => format!(
                        "{of_these}closest is the evaluation that {}: it gives {}; moved by a few ulps, up to {after} would \
                         match: near to what was computed, but too few to be the cause",
                        nearest.sentence,
                        of(matched)
                    ),
                    None => format!(
                        "{of_these}the best evaluation matches {matched}; moved by a few ulps, up to {after} would match: {} more than by accident",
                        if matched > after { "not clearly" } else { "no" }
                    ),
                };
                lines.extend(wrap(Role::Faint, &text, 4, COLUMNS));
            }
            if let (None, Some(exact)) = (seen.by_accident, &seen.nearest) {
                let contradicted = grouped(compared - exact.count as u64);
                let text = format!(
                    "of exact evaluations, closest, contradicted by {contradicted}, is the one that {}: it gives {}",
                    exact.sentence,
                    of(exact.count)
                );
                lines.extend(wrap(Role::Faint, &text, 2, COLUMNS));
            }
            if let Some(example) = &seen.first_unexplained {
                example.lines(self.verbose, &mut lines);
            }
            if let Some(possible) = seen.also_possible.first() {
                let text = format!("also arithmetically possible, of {}: {}", of(possible.count), possible.sentence);
                lines.extend(wrap(Role::Faint, &text, 2, COLUMNS));
            }
        }
        lines.extend(self.untried.iter().flat_map(|text| wrap(Role::Faint, text, 0, COLUMNS)));
        crate::advice::lines(&self.advice, &mut lines);
        lines
    }
}

impl ObservedArray {
    /// The evaluation that matches more of what nothing explains than one does by accident, and not enough.
    fn nearly(&self) -> Option<&PossibleGroup> {
        self.by_accident.filter(|[matched, after]| is_beyond_accident(*matched, *after)).and(self.nearest.as_ref())
    }
}

impl ArrayGroup {
    /// Whether it says little.
    pub(crate) fn is_weak(&self) -> bool {
        self.evidence < WEAK_BITS
    }

    /// Which of the elements speak for the evaluation.
    fn deciding_text(&self) -> String {
        self.deciding.map_or(String::new(), |deciding| {
            let verb = if deciding == 1 { "tells" } else { "tell" };
            format!("; {} of {} {verb} it from as written", grouped(deciding as u64), grouped(self.count as u64))
        })
    }
}

impl Example {
    pub(crate) fn lines(&self, verbose: bool, lines: &mut Vec<Line>) {
        let index: Vec<String> = self.index.iter().map(usize::to_string).collect();
        let distance = match self.ulps {
            Some(0) if self.saw == self.as_written => "the same as written".to_owned(),
            Some(0) => "as written it is the zero of the other sign".to_owned(),
            Some(ulps) => format!("{} from as written, {}", count_ulps(ulps), self.as_written),
            None => format!("as written {}", self.as_written),
        };
        let head = format!("    such as [{}]: ", index.join(", "));
        let fits = head.chars().count() + self.saw.chars().count() + distance.chars().count() + 4 <= COLUMNS;
        let head = Line::of(Role::Label, head).and(Role::Strong, self.saw.clone());
        if fits {
            lines.push(head.and(Role::Faint, format!("  ({distance})")));
        } else {
            lines.push(head);
            lines.extend(wrap(Role::Faint, &distance, 6, COLUMNS));
        }
        for (name, value) in &self.inputs {
            lines.push(Line::of(Role::Faint, format!("      {name} = {value}")));
        }
        if let Some(evaluated) = &self.evaluated {
            evaluated.lines(verbose, lines);
        }
    }
}
