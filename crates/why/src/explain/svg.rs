//! The aligned picture as SVG: a cell for each bit, which says on hovering what it is.

use std::fmt::Write;

use roundonce_arith::ArithOp;

use super::picture::Picture;
use super::render::row_names;
use super::{Component, Explained};

/// Of a cell, of a row, and of what is left of the first column.
const CELL: usize = 13;
const ROW: usize = 27;
const LEFT: usize = 86;
/// What the words about the cut take beside it.
const LABEL: usize = 300;
/// Where the first row's letters stand.
const TOP: usize = 44;
/// The colours of bits and the picture's shapes, as CSS; the web page has them from the same file.
pub const COLOURS: &str = include_str!("picture.css");

impl Explained {
    /// Each component's picture as SVG, without its style, for a page that has it; empty where there is nothing to align.
    pub fn pictures(&self, kind: ArithOp) -> Vec<String> {
        let [product, addend] = row_names(kind);
        let svg = |component: &Component| component.picture.as_ref().map(|picture| picture.svg(product, addend));
        self.components.iter().map(|component| svg(component).unwrap_or_default()).collect()
    }

    /// The first component's picture as a file of its own, if there is something to align.
    pub fn picture_file(&self, kind: ArithOp) -> Option<String> {
        let [product, addend] = row_names(kind);
        Some(self.components.first()?.picture.as_ref()?.svg_file(product, addend))
    }
}

impl Picture {
    /// The picture without its style, for a page that has it; `product` and `addend` name its rows.
    fn svg(&self, product: &str, addend: &str) -> String {
        self.drawn(product, addend, "")
    }

    /// The picture as a file of its own.
    fn svg_file(&self, product: &str, addend: &str) -> String {
        self.drawn(product, addend, &format!("<style>\n{COLOURS}</style>\n"))
    }

    fn drawn(&self, product: &str, addend: &str, style: &str) -> String {
        let sum = Some(&self.sum);
        let rows = [
            (product, self.product.as_ref()),
            (addend, self.addend.as_ref()),
            ("sum", sum),
            ("result", self.result.as_ref()),
        ];
        let rows: Vec<(&str, &String)> = rows.into_iter().filter_map(|(name, row)| Some((name, row?))).collect();
        let columns = self.weights.len();
        let cut = self.weights.iter().position(|&weight| weight < self.cut).unwrap_or(columns);
        // The words about the cut stand on the longer side of it, if that has room for them.
        let (at_cut, at_end) = (LEFT + CELL * cut, LEFT + CELL * columns + 18);
        let is_left = cut * 2 > columns && at_cut >= LABEL;
        let width = if is_left || cut == columns { at_end } else { at_end.max(at_cut + LABEL) };
        let bottom = TOP + ROW * rows.len() - 10;
        let height = bottom + 24;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             class=\"aligned\" role=\"img\">\n<title>{}</title>\n{style}",
            self.sentence(product, addend)
        );
        self.svg_scale(&mut svg, cut);
        for (place, (name, row)) in rows.iter().enumerate() {
            self.svg_row(&mut svg, TOP + ROW * place, name, row);
        }
        let above_sum = TOP + ROW * (rows.iter().position(|(name, _)| *name == "sum").unwrap_or(0)) - 19;
        let end = LEFT + CELL * columns;
        let _ = writeln!(svg, "<path d=\"M{LEFT} {above_sum}H{end}\" class=\"rule\"/>");
        if cut < columns {
            let _ = writeln!(svg, "<path d=\"M{at_cut} {}V{}\" class=\"cut\"/>", TOP - 19, bottom + 2);
            let (side, x) = if is_left { ("at-end", at_cut - 6) } else { ("at-start", at_cut + 6) };
            let bit = u8::from;
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{}\" class=\"scale {side}\">cut below {}<tspan dy=\"4\">:</tspan> guard {}, round {}, sticky {}</text>",
                bottom + 16,
                power(self.cut),
                bit(self.guard),
                bit(self.round),
                bit(self.sticky)
            );
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// For who does not see it.
    fn sentence(&self, product: &str, addend: &str) -> String {
        let terms = match (&self.product, &self.addend) {
            (Some(_), Some(_)) => format!("{product} and {addend}, aligned bit by bit, their exact sum"),
            (Some(_), None) => format!("{product}, bit by bit"),
            _ => format!("{addend}, bit by bit"),
        };
        format!("{terms}, and the cut below 2^{} where it is rounded", self.cut)
    }

    /// The weights of the first column, of the last one kept, and of the last.
    fn svg_scale(&self, svg: &mut String, cut: usize) {
        let columns = self.weights.len();
        let mut last = None;
        for column in [0, cut.saturating_sub(1), columns - 1] {
            // A weight takes some four columns.
            if column >= columns || last.is_some_and(|last| column < last + 5) {
                continue;
            }
            last = Some(column);
            let x = LEFT + CELL * column + CELL / 2;
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{}\" class=\"scale\">{}</text>",
                TOP - 24,
                power(self.weights[column])
            );
        }
    }

    fn svg_row(&self, svg: &mut String, y: usize, name: &str, row: &str) {
        let mut symbols = row.chars();
        let sign = if symbols.next() == Some('-') { '−' } else { '+' };
        let (end, sign_at) = (LEFT - 26, LEFT - 10);
        let _ = writeln!(
            svg,
            "<text x=\"{end}\" y=\"{y}\" class=\"name\">{name}</text>\
             <g><title>{name}: its sign</title><text x=\"{sign_at}\" y=\"{y}\" class=\"sign\">{sign}</text></g>"
        );
        for (column, (symbol, &weight)) in symbols.zip(&self.weights).enumerate() {
            let is_term = name != "sum" && name != "result";
            let kind = match symbol {
                _ if !is_term && weight >= self.cut => "kept",
                '.' => "beyond",
                _ if is_term => "term",
                _ => "lost",
            };
            let digit = match symbol {
                '1' => "one",
                '0' => "zero",
                _ => "none",
            };
            let shown = if symbol == '.' { '·' } else { symbol };
            let (x, middle, top) = (LEFT + CELL * column, LEFT + CELL * column + CELL / 2, y - 15);
            let _ = writeln!(
                svg,
                "<g class=\"{kind}\"><title>{}</title><rect x=\"{x}\" y=\"{top}\" width=\"{CELL}\" height=\"21\"/>\
                 <text x=\"{middle}\" y=\"{y}\" class=\"{digit}\">{shown}</text></g>",
                self.role(name, symbol, weight)
            );
        }
    }

    /// What a cell is.
    fn role(&self, name: &str, symbol: char, weight: i64) -> String {
        let place = match symbol {
            '…' => return format!("{name}: alike columns from 2^{weight} down are left out"),
            '.' => return format!("{name} has no bit at 2^{weight}"),
            bit => format!("{name}, 2^{weight}: {bit}"),
        };
        let role = match weight - self.cut {
            _ if name != "sum" => return place,
            0 => "the last bit kept",
            1.. => "kept",
            -1 => "dropped: the guard bit",
            -2 => "dropped: the round bit",
            _ => "dropped: part of the sticky bit",
        };
        format!("{place}, {role}")
    }
}

/// A power of two in letters.
fn power(weight: i64) -> String {
    format!("2<tspan dy=\"-4\" class=\"power\">{}</tspan>", weight.to_string().replace('-', "−"))
}

#[cfg(test)]
mod tests {
    use roundonce_arith::{Format, Operation, Profile, Rounding};

    use crate::explain::Component;

    fn picture(bits: [u64; 3]) -> String {
        let fma = Operation::mul_add(Format::F32, Rounding::NearestEven);
        let component = Component::of(&fma, false, &bits, &Profile::NVIDIA);
        component.picture.map_or(String::new(), |picture| picture.svg_file("a × b", "c"))
    }

    #[test]
    fn every_bit_has_its_role_and_the_cut_falls_between_two_of_them() {
        let svg = picture([0x3f80_0003, 0x3f80_0001, 0x3380_0000]);
        assert_eq!(svg.matches("<rect").count(), 4 * 47);
        assert_eq!(svg.matches("class=\"lost\"").count(), 23, "the sum has 47 bits, the result 24");
        assert!(svg.contains("<title>sum, 2^-23: 0, the last bit kept</title>"), "{svg}");
        assert!(svg.contains("<title>sum, 2^-24: 1, dropped: the guard bit</title>"), "{svg}");
        assert!(svg.contains(">−23</tspan><tspan dy=\"4\">:</tspan> guard 1, round 0, sticky 1<"), "{svg}");
        assert!(svg.contains("<title>result, 2^-23: 1</title>"), "{svg}");
    }

    #[test]
    fn an_exact_sum_has_no_cut_line() {
        let svg = picture([0x3f80_0000, 0x3f80_0000, 0x3f80_0000]);
        assert_eq!((svg.matches("class=\"cut\"").count(), svg.matches("class=\"lost\"").count()), (0, 0), "{svg}");
        // What is left of a cancellation has fewer bits than its format: it stands in the columns of the sum.
        assert!(picture([0x3f80_0001, 0x3f80_0001, 0xbf80_0002]).contains(">result</text>"));
    }
}
