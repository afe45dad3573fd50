//! An explanation as lines of text, good in 80 columns.

use roundonce_arith::ArithOp;
use roundonce_isa::Language;

use super::{Component, Explained, Number};
use crate::text::{COLUMNS, Line, Role, wrap};

impl Explained {
    /// The explanation for a reader. `kind` names the rows of the picture.
    pub fn lines(&self, kind: ArithOp) -> Vec<Line> {
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
            let relation = match (counterpart.differs.is_empty(), counterpart.language) {
                (false, _) => format!("differs in {}{gives}", counterpart.differs.join(", ")),
                // What a shader's modes do not declare is the implementation's.
                (true, Language::SpirV) => "the same bits, as far as modes decide them".to_owned(),
                (true, _) => "the same bits for all operands".to_owned(),
            };
            let mut wrapped = wrap(Role::Faint, &relation, 0, COLUMNS - 35).into_iter();
            let first = wrapped.next().unwrap_or_default().to_string();
            lines.push(
                Line::of(Role::Label, format!("  {:<7} ", counterpart.language))
                    .and(Role::Plain, format!("{:<24} ", counterpart.spelling))
                    .and(Role::Faint, first),
            );
            lines.extend(wrapped.map(|line| Line::of(Role::Faint, format!("{:35}{line}", ""))));
        }
        lines
    }
}

/// The columns of a number: its bits, its decimal, its hexadecimal literal.
fn columns(number: &Number) -> (usize, usize, usize) {
    // An f64 needs all that 80 columns have; the others share narrower ones.
    if number.bits.len() > 10 { (18, 23, 24) } else { (10, 15, 17) }
}

/// The names of a result's flags; a number that raises none is exact.
pub fn flags_text(flags: &[&str], hexadecimal: &str) -> String {
    match flags {
        [] if hexadecimal.ends_with("nan") => "no flag".to_owned(),
        [] => "exact".to_owned(),
        _ => flags.join(", "),
    }
}

fn number_line(name: &str, number: &Number, remark: &str) -> Line {
    let (bits, value, hexadecimal) = columns(number);
    Line::of(Role::Label, format!(" {name} "))
        .and(Role::Strong, format!("{:<bits$} ", number.bits))
        .and(Role::Plain, format!("{:<value$} {:<hexadecimal$} ", number.value, number.hexadecimal))
        .and(Role::Faint, remark)
}

/// Beyond a million, only the size of the distance means anything.
fn distance(ulps: Option<u64>, same: bool) -> String {
    match ulps {
        _ if same => "the same".to_owned(),
        Some(0) => "the other zero".to_owned(),
        Some(1) => "1 ulp away".to_owned(),
        Some(ulps) if ulps < 1_000_000 => format!("{ulps} ulps away"),
        Some(ulps) if ulps.is_power_of_two() => format!("2^{} ulps away", ulps.ilog2()),
        Some(ulps) => format!("over 2^{} ulps away", ulps.ilog2()),
        None => "a NaN on one side".to_owned(),
    }
}

/// What the rows of the picture are called.
pub(super) const fn row_names(kind: ArithOp) -> [&'static str; 2] {
    [if matches!(kind, ArithOp::Add) { "a" } else { "a × b" }, "c"]
}

impl Component {
    fn lines(&self, kind: ArithOp, lines: &mut Vec<Line>) {
        self.worked_lines(kind, lines);
        lines.push(Line::default());
        for neighbour in &self.neighbours {
            let (bits, value, _) = columns(&neighbour.number);
            let same = neighbour.number.bits == self.result.bits;
            let text = format!(
                "{:<bits$} {:<value$} {}",
                neighbour.number.bits,
                neighbour.number.value,
                distance(neighbour.ulps, same)
            );
            let role = if same { Role::Faint } else { Role::Plain };
            lines.push(Line::of(Role::Label, format!(" {:<12} ", neighbour.what)).and(role, text));
        }
    }

    /// The aligned significands, where there is something to align.
    pub(crate) fn picture_lines(&self, kind: ArithOp, lines: &mut Vec<Line>) {
        if let Some(picture) = &self.picture {
            let [product, addend] = row_names(kind);
            lines.extend(picture.lines(product, addend, COLUMNS));
            let bit = |set| if set { '1' } else { '0' };
            let text = format!(
                "        kept to 2^{}; guard {} round {} sticky {}",
                picture.cut,
                bit(picture.guard),
                bit(picture.round),
                bit(picture.sticky)
            );
            lines.push(Line::of(Role::Faint, text));
        }
    }

    /// Operands, the aligned significands, the steps and the result.
    pub fn worked_lines(&self, kind: ArithOp, lines: &mut Vec<Line>) {
        let mixed = self.operands.iter().any(|operand| operand.ty != self.operands[0].ty);
        for operand in &self.operands {
            let ty = if mixed { format!("{} ", operand.ty) } else { String::new() };
            lines.push(number_line(operand.name, &operand.number, &format!("{ty}{}", operand.class)));
        }
        if self.picture.is_some() {
            lines.push(Line::default());
        }
        self.picture_lines(kind, lines);
        lines.push(Line::default());
        for step in &self.steps {
            lines.extend(wrap(Role::Plain, step, 1, COLUMNS));
        }
        let codes = self.codes.as_ref().map_or(String::new(), |codes| format!(" {codes}"));
        let flags = flags_text(&self.flags, &self.result.hexadecimal);
        lines.push(number_line("d", &self.result, &format!("{}{codes}", if flags.len() > 9 { "" } else { &flags })));
        if flags.len() > 9 {
            lines.push(Line::of(Role::Faint, format!("   {flags}")));
        }
    }
}
