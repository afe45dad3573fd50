//! Two arrays of results: how many differ, by how much, and where in the range of exponents.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::arrays::Values;
use crate::search::ulps;
use crate::text::{COLUMNS, Line, Role, wrap};
use roundonce_arith::Format;
use roundonce_isa::{grouped, hex_bits, shortest_decimal};

/// How two arrays differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Differences {
    /// Elements compared.
    pub elements: usize,
    /// Elements whose bits differ.
    pub different: usize,
    /// Elements that are NaNs of different bits.
    pub nans: usize,
    /// Elements of which one is a NaN and the other is not.
    pub one_nan: usize,
    /// The first element that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Place>,
    /// Elements by the second's distance from the first, in units in the last place, without the NaNs and those that
    /// agree. Zeros of different signs are at distance 0.
    pub histogram: Vec<Bar>,
    /// Elements that differ by the power of two of the first's magnitude.
    pub exponents: Vec<Exponent>,
    /// Both at once: of the elements in [`Differences::histogram`] whose first number is finite. For pictures.
    #[serde(skip)]
    pub cells: Vec<Cell>,
}

/// Elements of a range of magnitudes and of distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// As [`Exponent::exponent`].
    pub exponent: i32,
    /// As [`Bar::to`], of the distance without its sign.
    pub distance: i64,
    /// How many.
    pub count: usize,
}

/// An element that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    /// Its place along each axis.
    pub index: Vec<usize>,
    /// The first array's bits and value.
    pub first: String,
    /// The second's.
    pub second: String,
}

/// A bar of the histogram: distances from `from` to `to`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Bar {
    /// The smallest distance, negative where the second array's number is the smaller one.
    pub from: i64,
    /// The largest.
    pub to: i64,
    /// How many.
    pub count: usize,
}

/// Elements of a range of magnitudes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Exponent {
    /// The first array's numbers are from 2^exponent to below 2^(exponent + 1); the lowest holds zeros and subnormals.
    pub exponent: i32,
    /// How many there are.
    pub elements: usize,
    /// How many differ.
    pub different: usize,
}

/// The bars: 0, 1, 2, 3 to 4, 5 to 8 and so on, with both signs.
fn bar(distance: i64) -> (i64, i64) {
    let magnitude = distance.unsigned_abs();
    let (from, to) = match magnitude {
        0..=2 => (magnitude, magnitude),
        _ => {
            let to = magnitude.checked_next_power_of_two().unwrap_or(1 << 63);
            (to / 2 + 1, to)
        }
    };
    let (from, to) = (from as i64, to.min(i64::MAX as u64) as i64);
    if distance < 0 { (-to, -from) } else { (from, to) }
}

/// Compares two arrays.
///
/// # Errors
/// If their shapes or types differ, or they have no elements.
pub fn compare_arrays(first: &Values, second: &Values) -> Result<Differences, String> {
    if first.shape != second.shape {
        return Err(format!("the shapes differ: {:?} and {:?}", first.shape, second.shape));
    }
    let format = first.column.format;
    if format != second.column.format {
        return Err(format!("the types differ: {} and {}", name(format), name(second.column.format)));
    }
    let elements: usize = first.shape.iter().product();
    if elements == 0 {
        return Err("the arrays have no elements: there is nothing to compare".to_owned());
    }
    let mut found = Differences {
        elements,
        different: 0,
        nans: 0,
        one_nan: 0,
        first: None,
        histogram: Vec::new(),
        exponents: Vec::new(),
        cells: Vec::new(),
    };
    let mut cells = BTreeMap::<(i32, i64), usize>::new();
    let mut histogram = BTreeMap::<(i64, i64), usize>::new();
    let mut exponents = BTreeMap::<i32, (usize, usize)>::new();
    for element in 0..elements {
        let (a, b) = (first.column.at(element).bits, second.column.at(element).bits);
        let is_finite = a & format.magnitude_mask() < format.infinity();
        let exponent = ((a & format.magnitude_mask()) >> format.frac_bits()) as i32 - format.bias();
        if is_finite {
            let counts = exponents.entry(exponent).or_default();
            counts.0 += 1;
            counts.1 += usize::from(a != b);
        }
        if a == b {
            continue;
        }
        found.different += 1;
        let show = |bits| format!("{} {}", hex_bits(format.width(), bits), shortest_decimal(format, bits));
        found.first.get_or_insert_with(|| Place {
            index: crate::arrays::element_index(&first.shape, element),
            first: show(a),
            second: show(b),
        });
        match ulps(format, a, b) {
            Some(distance) => {
                let smaller = ordered(format, b) < ordered(format, a);
                let distance = i64::try_from(distance).unwrap_or(i64::MAX);
                *histogram.entry(bar(if smaller { -distance } else { distance })).or_default() += 1;
                if is_finite {
                    *cells.entry((exponent, bar(distance).1)).or_default() += 1;
                }
            }
            None if format.is_nan(a) && format.is_nan(b) => found.nans += 1,
            None => found.one_nan += 1,
        }
    }
    found.histogram = histogram.into_iter().map(|((from, to), count)| Bar { from, to, count }).collect();
    found.exponents = exponents
        .into_iter()
        .map(|(exponent, (elements, different))| Exponent { exponent, elements, different })
        .collect();
    found.cells = cells.into_iter().map(|((exponent, distance), count)| Cell { exponent, distance, count }).collect();
    Ok(found)
}

fn ordered(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & format.magnitude_mask()) as i64;
    if format.is_negative(bits) { -magnitude } else { magnitude }
}

fn name(format: Format) -> &'static str {
    format.name().unwrap_or("?")
}

/// A bar of at most forty marks.
fn marks(count: usize, most: usize) -> String {
    "#".repeat((count * 40).div_ceil(most.max(1)).min(40))
}

impl Differences {
    /// Whether all bits agree.
    pub fn equal(&self) -> bool {
        self.different == 0
    }

    /// The comparison for a reader.
    pub fn lines(&self) -> Vec<Line> {
        if self.equal() {
            return vec![Line::of(Role::Strong, format!("equal: all {} elements", grouped(self.elements as u64)))];
        }
        let share = 100.0 * self.different as f64 / self.elements.max(1) as f64;
        let text = format!(
            "different: {} of {} elements ({share:.3} %)",
            grouped(self.different as u64),
            grouped(self.elements as u64)
        );
        let mut lines = wrap(Role::Strong, &text, 0, COLUMNS);
        for (count, what) in [(self.nans, "NaNs of other bits"), (self.one_nan, "a NaN on one side only")] {
            if count > 0 {
                lines.push(Line::plain(format!("  {} {what}", grouped(count as u64))));
            }
        }
        if let Some(first) = &self.first {
            let index: Vec<String> = first.index.iter().map(usize::to_string).collect();
            lines.push(Line::plain(format!("  first at [{}]: {} and {}", index.join(", "), first.first, first.second)));
        }
        let most = self.histogram.iter().map(|bar| bar.count).max().unwrap_or(0);
        if most > 0 {
            lines.push(Line::of(Role::Label, "  ulp from the first to the second"));
        }
        for bar in &self.histogram {
            let range =
                if bar.from == bar.to { format!("{:+}", bar.to) } else { format!("{:+} to {:+}", bar.from, bar.to) };
            lines.push(
                Line::plain(format!("  {range:>24} {:>12} ", grouped(bar.count as u64)))
                    .and(Role::Kept, marks(bar.count, most)),
            );
        }
        let different: Vec<&Exponent> = self.exponents.iter().filter(|exponent| exponent.different > 0).collect();
        if !different.is_empty() {
            lines.push(Line::of(Role::Label, "  where in the range"));
        }
        for exponent in different {
            lines.push(
                Line::plain(format!(
                    "  {:>24} {:>12} ",
                    format!("2^{}", exponent.exponent),
                    format!("{} of {}", grouped(exponent.different as u64), grouped(exponent.elements as u64))
                ))
                .and(Role::Kept, marks(exponent.different, exponent.elements)),
            );
        }
        lines
    }
}
