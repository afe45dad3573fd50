//! The picture at the whiteboard: product and addend as aligned binary significands, their exact sum, and where the
//! cut falls.

use num_bigint::{BigInt, BigUint, Sign};
use roundonce_arith::{FiniteNumber, Format, Term, Unpacked, unpack};
use serde::Serialize;

use crate::text::{Line, Role};

/// Aligned rows of bits, the highest weight first. Each row has one character a column: `0`, `1`, `.` where the term
/// has no bit, `…` where alike columns are left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Picture {
    /// The product, its sign first; of an addition, its first operand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The addend, its sign first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addend: Option<String>,
    /// The exact sum, its sign first.
    pub sum: String,
    /// The weight of each column as a power of two; of a left-out run, its first.
    pub weights: Vec<i64>,
    /// How many columns each `…` stands for, in order.
    pub left_out: Vec<usize>,
    /// The weight of the result's lowest bit: what lies below is dropped.
    pub cut: i64,
    /// The first dropped bit.
    pub guard: bool,
    /// The second dropped bit.
    pub round: bool,
    /// Whether any lower bit is set.
    pub sticky: bool,
    /// What is delivered, in the same columns, if it has its bits among them: its sign first.
    #[serde(skip)]
    pub result: Option<String>,
}

/// Bits at integer weights.
struct Row {
    negative: bool,
    bits: BigUint,
    quantum: i64,
}

impl Row {
    fn of(term: Term) -> Row {
        Row { negative: term.negative, bits: BigUint::from(term.significand), quantum: i64::from(term.quantum) }
    }
    /// The weight above the leading bit.
    fn end(&self) -> i64 {
        self.quantum + self.bits.bits() as i64
    }
    fn bit(&self, weight: i64) -> bool {
        weight >= self.quantum && self.bits.bit((weight - self.quantum) as u64)
    }
    fn symbol(&self, weight: i64) -> char {
        match weight {
            _ if weight >= self.end() || weight < self.quantum => '.',
            _ if self.bit(weight) => '1',
            _ => '0',
        }
    }
    fn signed(&self, bottom: i64) -> BigInt {
        let magnitude = self.bits.clone() << (self.quantum - bottom) as u64;
        BigInt::from_biguint(if self.negative { Sign::Minus } else { Sign::Plus }, magnitude)
    }
}

/// A picture of no more columns than this is shown whole.
const ALL_SHOWN: usize = 70;

/// In a longer one, runs of alike columns longer than this are left out.
const LONGEST_RUN: usize = 12;

impl Picture {
    /// The picture of a sum of at most two terms, rounded to a format; `None` if there is no term.
    /// `result` has the rounded bits.
    pub(crate) fn of(format: Format, product: Option<Term>, addend: Option<Term>, result: u64) -> Option<Picture> {
        let rows: Vec<Row> = [product, addend].into_iter().flatten().map(Row::of).collect();
        let bottom = rows.iter().map(|row| row.quantum).min()?;
        let total: BigInt = rows.iter().map(|row| row.signed(bottom)).sum();
        let (sign, magnitude) = total.into_parts();
        let sum = Row { negative: sign == Sign::Minus, bits: magnitude, quantum: bottom };
        let top = rows.iter().map(Row::end).max()?.max(sum.end());
        let exponent = (sum.end() - 1).max(i64::from(format.emin()));
        let cut = exponent - i64::from(format.frac_bits());

        let columns: Vec<(i64, Vec<char>)> = (bottom..top)
            .rev()
            .map(|weight| {
                let mut column: Vec<char> = rows.iter().map(|row| row.symbol(weight)).collect();
                column.push(if sum.bit(weight) { '1' } else { '0' });
                (weight, column)
            })
            .collect();
        let (kept, left_out) = if columns.len() > ALL_SHOWN { leave_out(columns, cut) } else { (columns, Vec::new()) };
        let text = |row: &Row, place: usize| {
            let bits: String = kept.iter().map(|(_, column)| column[place]).collect();
            format!("{}{bits}", if row.negative { '-' } else { '+' })
        };
        let mut places = rows.iter().enumerate();
        let mut next = |present: bool| present.then(|| places.next().map(|(place, row)| text(row, place))).flatten();
        let delivered = delivered(format, result, bottom).filter(|row| row.end() <= top && row.quantum >= bottom);
        let dropped = (cut - sum.quantum).max(0) as u64;
        let below = dropped.saturating_sub(2);
        Some(Picture {
            product: next(product.is_some()),
            addend: next(addend.is_some()),
            sum: text(&sum, rows.len()),
            weights: kept.iter().map(|(weight, _)| *weight).collect(),
            left_out,
            cut,
            guard: sum.bit(cut - 1),
            round: sum.bit(cut - 2),
            sticky: sum.bits.trailing_zeros().is_some_and(|zeros| zeros < below),
            result: delivered.map(|row| {
                // A run of alike columns of the sum is one of alike columns here: a carry ends at its lowest.
                let symbol = |(weight, column): &Column| if column[0] == '…' { '…' } else { row.symbol(*weight) };
                let bits: String = kept.iter().map(symbol).collect();
                format!("{}{bits}", if row.negative { '-' } else { '+' })
            }),
        })
    }

    /// The rows, in chunks of at most `width` columns.
    pub(crate) fn lines(&self, product_name: &str, addend_name: &str, width: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        let rows = [(product_name, &self.product), (addend_name, &self.addend), ("sum", &Some(self.sum.clone()))];
        // The label, a blank, the sign, and the mark of the cut.
        let room = width - LABEL - 3;
        let mut start = 0;
        while start < self.weights.len() {
            let end = (start + room).min(self.weights.len());
            // The mark of the cut takes a column of its own.
            let cut = (start..end).find(|&column| self.weights[column] < self.cut);
            lines.push(self.scale(start, end));
            for (name, row) in rows.iter().filter_map(|(name, row)| Some((*name, row.as_ref()?))) {
                lines.push(row_line(name, row, start, end, cut, name == "sum"));
            }
            start = end;
        }
        if !self.left_out.is_empty() {
            let counts: Vec<String> = self.left_out.iter().map(usize::to_string).collect();
            lines
                .push(Line::of(Role::Faint, format!("{:LABEL$} … leaves out {} alike columns", "", counts.join(", "))));
        }
        lines
    }

    /// The weights of a chunk's first and last column.
    fn scale(&self, start: usize, end: usize) -> Line {
        let first = format!("2^{}", self.weights[start]);
        let last = format!("2^{}", self.weights[end - 1]);
        let inner = (end - start).saturating_sub(first.len() + last.len());
        let text = if end - start > first.len() + last.len() { format!("{first}{:inner$}{last}", "") } else { first };
        Line::of(Role::Faint, format!("{:LABEL$}  {text}", ""))
    }
}

/// What is delivered, if it is finite and not zero: the bits of its significand, without zeros below a weight.
fn delivered(format: Format, bits: u64, bottom: i64) -> Option<Row> {
    let Unpacked::Finite(FiniteNumber { negative, quantum, significand }) = unpack(format, bits) else { return None };
    let spare = (bottom - i64::from(quantum)).clamp(0, significand.trailing_zeros().into());
    let quantum = quantum + spare as i32;
    Some(Row::of(Term { negative, quantum, significand: u128::from(significand >> spare) }))
}

const LABEL: usize = 6;

fn row_line(name: &str, row: &str, start: usize, end: usize, cut: Option<usize>, is_sum: bool) -> Line {
    let symbols: Vec<char> = row.chars().collect();
    let sign = if start == 0 { symbols[0] } else { ' ' };
    let piece = |from: usize, to: usize| symbols[1 + from..1 + to].iter().collect::<String>();
    let line = Line::of(Role::Label, format!("{name:>LABEL$} ")).and(Role::Plain, sign.to_string());
    let (kept, dropped) = if is_sum { (Role::Kept, Role::Dropped) } else { (Role::Plain, Role::Faint) };
    match cut {
        Some(cut) => line.and(kept, piece(start, cut)).and(Role::Strong, "|").and(dropped, piece(cut, end)),
        None => line.and(kept, piece(start, end)),
    }
}

/// A column's weight and its symbols.
type Column = (i64, Vec<char>);

/// Replaces long runs of alike columns by one of `…`, but for those beside the cut.
fn leave_out(columns: Vec<Column>, cut: i64) -> (Vec<Column>, Vec<usize>) {
    let mut kept: Vec<Column> = Vec::new();
    let mut counts = Vec::new();
    let near_cut = |weight: i64| (cut - 4..cut + 2).contains(&weight);
    let mut at = 0;
    while at < columns.len() {
        let alike = |column: &&Column| column.1 == columns[at].1 && !near_cut(column.0);
        let run = columns[at..].iter().take_while(alike).count();
        if run > LONGEST_RUN {
            // Two columns at either end say what is repeated.
            kept.extend_from_slice(&columns[at..at + 2]);
            kept.push((columns[at + 2].0, vec!['…'; columns[at].1.len()]));
            counts.push(run - 4);
            kept.extend_from_slice(&columns[at + run - 2..at + run]);
            at += run;
        } else {
            kept.extend_from_slice(&columns[at..at + run.max(1)]);
            at += run.max(1);
        }
    }
    (kept, counts)
}
