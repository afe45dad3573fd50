//! An explanation as lines of text, good in 80 columns.

use roundonce_arith::Kind;

use super::{Component, Explained};
use crate::text::{Line, Role, wrap};

const COLUMNS: usize = 80;

impl Explained {
    /// The explanation for a reader. `kind` names the rows of the picture.
    pub fn lines(&self, kind: Kind) -> Vec<Line> {
        let mut lines = vec![Line::of(Role::Strong, &self.instruction).and(Role::Faint, format!("   {}", self.source))];
        lines.extend(wrap(Role::Plain, &self.meaning, 0, COLUMNS));
        if !self.note.is_empty() {
            lines.extend(wrap(Role::Faint, self.note, 0, COLUMNS));
        }
        for (index, component) in self.components.iter().enumerate() {
            lines.push(Line::default());
            if self.components.len() > 1 {
                lines.push(Line::of(Role::Label, format!("component {index}")));
            }
            component.lines(kind, &mut lines);
        }
        if !self.counterparts.is_empty() {
            lines.push(Line::default());
            lines.push(Line::of(Role::Label, "in the other languages"));
        }
        for counterpart in &self.counterparts {
            let gives = counterpart.gives.as_ref().map_or(String::new(), |gives| format!("; here {gives}"));
            let relation = if counterpart.differs.is_empty() {
                "the same bits for all operands".to_owned()
            } else {
                format!("differs in {}{gives}", counterpart.differs.join(", "))
            };
            lines.push(
                Line::of(Role::Faint, format!("  {:<8}", counterpart.language))
                    .and(Role::Plain, format!("{:<26} ", counterpart.spelling))
                    .and(Role::Faint, relation),
            );
        }
        lines
    }
}

impl Component {
    fn lines(&self, kind: Kind, lines: &mut Vec<Line>) {
        for operand in &self.operands {
            let number = &operand.number;
            lines.push(
                Line::of(Role::Label, format!("  {} ", operand.name))
                    .and(Role::Strong, format!("{:<18} ", number.bits))
                    .and(Role::Plain, format!("{:<24} {:<22} ", number.value, number.hexadecimal))
                    .and(Role::Faint, format!("{} {}", operand.ty, operand.class)),
            );
        }
        if let Some(picture) = &self.picture {
            let product = if kind == Kind::Add { "a" } else { "a × b" };
            lines.push(Line::default());
            lines.extend(picture.lines(product, "c", COLUMNS));
            let bit = |set| if set { '1' } else { '0' };
            let text = format!(
                "          kept to 2^{}; guard {} round {} sticky {}",
                picture.cut,
                bit(picture.guard),
                bit(picture.round),
                bit(picture.sticky)
            );
            lines.push(Line::of(Role::Faint, text));
        }
        lines.push(Line::default());
        for step in &self.steps {
            lines.extend(wrap(Role::Plain, step, 2, COLUMNS));
        }
        let flags = if self.flags.is_empty() { "exact".to_owned() } else { self.flags.join(", ") };
        let codes = self.codes.as_ref().map_or(String::new(), |codes| format!("   codes {codes}"));
        lines.push(
            Line::of(Role::Label, "  d ")
                .and(Role::Strong, format!("{:<18} ", self.result.bits))
                .and(Role::Plain, format!("{:<24} {:<22} ", self.result.value, self.result.hexadecimal))
                .and(Role::Faint, format!("{flags}{codes}")),
        );
        lines.push(Line::default());
        for neighbour in &self.neighbours {
            let distance = match neighbour.ulps {
                Some(0) => "the same".to_owned(),
                Some(1) => "1 ulp away".to_owned(),
                Some(ulps) => format!("{ulps} ulps away"),
                None if neighbour.number.bits == self.result.bits => "the same".to_owned(),
                None => "another kind of value".to_owned(),
            };
            let role = if neighbour.number.bits == self.result.bits { Role::Faint } else { Role::Plain };
            lines.push(
                Line::of(Role::Label, format!("  {:<24} ", neighbour.what))
                    .and(role, format!("{:<18} {:<24} {distance}", neighbour.number.bits, neighbour.number.value)),
            );
        }
    }
}
