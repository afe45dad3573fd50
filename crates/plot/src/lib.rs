#![doc = include_str!("../README.md")]
//!
//! The ground is transparent, and every colour can be read on white and on black.

mod shares;

pub use shares::{ShareCell, Shares, shares_svg};

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use roundonce_why::diff::files::{Bar, Differences};

/// What one row of the picture is about.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What is compared with what.
    pub title: String,
    /// How they differ.
    pub differences: Differences,
}

/// Of a chart, in pixels, and of the line above a row of them.
const WIDTH: u32 = 380;
const HEIGHT: u32 = 300;
const TITLE: u32 = 36;
/// Of the legend of the colours.
const KEY: u32 = 62;
const TEXT: RGBColor = RGBColor(0x80, 0x80, 0x80);
const MARK: RGBColor = RGBColor(0x2e, 0x8b, 0xd6);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The picture.
///
/// # Errors
/// What the drawing library says.
pub fn svg(comparisons: &[Comparison]) -> Result<String, String> {
    let mut svg = String::new();
    draw(&mut svg, comparisons).map_err(|error| error.to_string())?;
    Ok(well_formed(svg))
}

/// The picture with U+2400 and the like for the control characters of a title, which XML has not in any form.
fn well_formed(svg: String) -> String {
    let picture = |character: char| match character {
        '\t' | '\n' | '\r' => character,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    svg.chars().map(picture).collect()
}

fn draw(svg: &mut String, comparisons: &[Comparison]) -> Drawn {
    let height = |comparison: &Comparison| {
        if comparison.differences.histogram.is_empty() { TITLE } else { TITLE + HEIGHT }
    };
    let all = comparisons.iter().map(height).sum();
    let mut rest = SVGBackend::with_string(svg, (3 * WIDTH, all)).into_drawing_area();
    for comparison in comparisons {
        let (row, below) = rest.split_vertically(height(comparison));
        rest = below;
        let (head, body) = row.split_vertically(TITLE);
        let differences = &comparison.differences;
        let count = format!("{} of {} elements differ", differences.different, differences.elements);
        head.draw(&Text::new(format!("{}: {count}", comparison.title), (16, 12), font(16)))?;
        if differences.histogram.is_empty() {
            continue;
        }
        let charts = body.split_evenly((1, 3));
        distances(&charts[0], differences)?;
        cumulative(&charts[1], differences)?;
        exponents(&charts[2], differences)?;
    }
    rest.present()?;
    Ok(())
}

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&TEXT)
}

/// A chart whose horizontal axis has `names`, one a column, and whose vertical one says what `mark` does of a number.
fn chart<'a, 'b>(
    area: &'a Area<'b>,
    title: &str,
    [x, y]: [&str; 2],
    names: &[String],
    range: std::ops::Range<f64>,
    mark: &dyn Fn(f64) -> String,
) -> Drawn<Chart<'a, 'b>> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, font(14))
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(-0.5..names.len() as f64 - 0.5, range)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(TEXT.mix(0.25))
        .axis_style(TEXT)
        .label_style(font(11))
        .axis_desc_style(font(12))
        .x_labels(9.min(names.len()))
        .y_labels(6)
        .x_label_formatter(&|at| named(names, *at))
        .y_label_formatter(&|value| mark(*value))
        .x_desc(x)
        .y_desc(y)
        .draw()?;
    Ok(chart)
}

/// The name of a place on an axis; nothing between two places.
fn named(names: &[String], at: f64) -> String {
    let place = at.round();
    let is_place = (at - place).abs() < 1e-6 && place >= 0.0;
    if is_place { names.get(place as usize).cloned().unwrap_or_default() } else { String::new() }
}

/// Powers of two and what lies between them, short enough for an axis.
fn short(distance: i64) -> String {
    match distance.unsigned_abs() {
        0..10_000 => distance.to_string(),
        magnitude => format!("{}2^{}", if distance < 0 { "-" } else { "" }, magnitude.ilog2()),
    }
}

/// The whole powers of ten of an axis of logarithms.
fn power_of_ten(value: f64) -> String {
    let whole = value.round();
    if (value - whole).abs() > 1e-6 || whole < 0.0 {
        return String::new();
    }
    if whole < 4.0 { format!("{}", 10f64.powf(whole)) } else { format!("1e{whole}") }
}

/// The far end of a bar, which names it: 1, 2, 4, 8.
fn far(bar: &Bar) -> i64 {
    if bar.from < 0 { bar.from } else { bar.to }
}

/// Every far end between two, both among them.
fn far_ends(low: i64, high: i64) -> Vec<i64> {
    let powers = (0..63).map(|power| 1i64 << power).chain([i64::MAX]);
    let mut ends: Vec<i64> = powers.flat_map(|end| [-end, end]).filter(|end| (low..=high).contains(end)).collect();
    ends.sort_unstable();
    ends
}

fn distances(area: &Area<'_>, differences: &Differences) -> Drawn {
    let bars = &differences.histogram;
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return Ok(()) };
    let ends = far_ends(far(first), far(last));
    let names: Vec<String> = ends.iter().map(|&end| short(end)).collect();
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(1) as f64;
    let range = -0.3..most.log10() + 0.2;
    let mut chart = chart(area, "how far apart", ["distance, ulp", "elements"], &names, range, &power_of_ten)?;
    chart.draw_series(bars.iter().map(|bar| {
        let at = ends.partition_point(|&end| end < far(bar)) as f64;
        Rectangle::new([(at - 0.4, -0.3), (at + 0.4, (bar.count as f64).log10())], MARK.filled())
    }))?;
    Ok(())
}

fn cumulative(area: &Area<'_>, differences: &Differences) -> Drawn {
    let mut counts = std::collections::BTreeMap::from([(0, differences.elements - differences.different)]);
    for bar in &differences.histogram {
        *counts.entry(bar.to.abs().max(bar.from.abs())).or_default() += bar.count;
    }
    let last = counts.keys().next_back().copied().unwrap_or(0);
    for end in far_ends(1, last) {
        counts.entry(end).or_default();
    }
    let names: Vec<String> = counts.keys().map(|&distance| short(distance)).collect();
    let all = differences.elements.max(1) as f64;
    let shares: Vec<f64> = counts
        .values()
        .scan(0, |sum, count| {
            *sum += count;
            Some(100.0 * *sum as f64 / all)
        })
        .collect();
    let percent = |value: f64| format!("{value:.0}");
    let texts = ["distance at most, ulp", "% of all elements"];
    let mut chart = chart(area, "how many are that close", texts, &names, 0.0..101.0, &percent)?;
    let step = shares.iter().enumerate().flat_map(|(at, &share)| [(at as f64 - 0.5, share), (at as f64 + 0.5, share)]);
    chart.draw_series(LineSeries::new(step, MARK.stroke_width(2)))?;
    Ok(())
}

fn exponents(area: &Area<'_>, differences: &Differences) -> Drawn {
    let cells = &differences.cells;
    let (Some(low), Some(high)) =
        (cells.iter().map(|cell| cell.exponent).min(), cells.iter().map(|cell| cell.exponent).max())
    else {
        return Ok(());
    };
    let ends = [cells.iter().map(|cell| cell.distance).min(), cells.iter().map(|cell| cell.distance).max()];
    let rows = far_ends(ends[0].unwrap_or(1), ends[1].unwrap_or(1));
    let names: Vec<String> = (low..=high).map(|exponent| format!("2^{exponent}")).collect();
    let most = cells.iter().map(|cell| cell.count).max().unwrap_or(1) as f64;
    let row_names: Vec<String> = rows.iter().map(|&distance| short(distance)).collect();
    let row = |value: f64| named(&row_names, value);
    let range = -0.5..rows.len() as f64 - 0.5;
    let weight = |count: f64| 0.15 + 0.85 * (count + 1.0).ln() / (most + 1.0).ln();
    let (area, key) = area.split_horizontally(WIDTH - KEY);
    let mut chart = chart(&area, "where", ["magnitude of the first", "distance, ulp"], &names, range, &row)?;
    chart.draw_series(cells.iter().map(|cell| {
        let x = f64::from(cell.exponent - low);
        let y = rows.partition_point(|&distance| distance < cell.distance) as f64;
        Rectangle::new([(x - 0.5, y - 0.5), (x + 0.5, y + 0.5)], MARK.mix(weight(cell.count as f64)).filled())
    }))?;
    let one = if most > 1.0 { "1" } else { "" };
    // Evenly in the logarithm, as the colour is.
    legend(&key, "elements", [&short(most as i64), one], &|share| weight(most.powf(share)))
}

/// What the strength of the colour says, from one at the top to zero.
fn legend(area: &Area<'_>, title: &str, [top_name, end_name]: [&str; 2], strength: &dyn Fn(f64) -> f64) -> Drawn {
    const STEPS: i32 = 24;
    let (top, step) = (40, 8);
    area.draw(&Text::new(title.to_owned(), (0, top - 22), font(11)))?;
    for at in 0..STEPS {
        let share = f64::from(STEPS - 1 - at) / f64::from(STEPS - 1);
        let corners = [(0, top + at * step), (14, top + (at + 1) * step)];
        area.draw(&Rectangle::new(corners, MARK.mix(strength(share)).filled()))?;
    }
    area.draw(&Text::new(top_name.to_owned(), (18, top - 4), font(11)))?;
    area.draw(&Text::new(end_name.to_owned(), (18, top + (STEPS - 1) * step - 4), font(11)))?;
    Ok(())
}
