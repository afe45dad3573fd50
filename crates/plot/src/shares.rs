//! The share of elements that something holds for, by two whole numbers of each element.

use super::{Drawn, HEIGHT, KEY, MARK, WIDTH, chart, legend, named, well_formed};
use plotters::prelude::*;

/// The elements with the same two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShareCell {
    /// Its place on the axes.
    pub at: [i32; 2],
    /// How many there are.
    pub elements: u64,
    /// How many of them it holds for.
    pub holding: u64,
}

/// What a picture of shares shows. Places without elements stay empty.
#[derive(Clone, Debug)]
pub struct Shares {
    /// What the picture is about.
    pub title: String,
    /// What the two numbers are, and what a share is one of.
    pub axes: [String; 3],
    /// At most 1,000 numbers apart on each axis.
    pub cells: Vec<ShareCell>,
}

/// The farthest apart that two cells may be.
const MOST: i32 = 1000;

/// The picture.
///
/// ```
/// use roundonce_plot::{ShareCell, Shares, shares_svg};
/// let axes = ["exponent of a", "exponent of b", "% that differ"].map(str::to_owned);
/// let cells = vec![ShareCell { at: [-2, 0], elements: 10, holding: 4 }, ShareCell { at: [1, 3], elements: 7, holding: 0 }];
/// let picture = shares_svg(&Shares { title: "a * b".to_owned(), axes, cells })?;
/// assert!(picture.starts_with("<svg") && picture.contains("exponent of a"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// If there are no cells, or they are too far apart; what the drawing library says.
pub fn shares_svg(shares: &Shares) -> Result<String, String> {
    let ends = |axis: usize| {
        let places = shares.cells.iter().map(|cell| cell.at[axis]);
        Some((places.clone().min()?, places.max()?))
    };
    let (Some(x), Some(y)) = (ends(0), ends(1)) else { return Err("there are no elements".to_owned()) };
    if [x, y].iter().any(|&(low, high)| high.checked_sub(low).is_none_or(|span| span > MOST)) {
        return Err(format!("the numbers of an axis are more than {MOST} apart"));
    }
    let mut svg = String::new();
    draw(&mut svg, shares, x, y).map_err(|error| error.to_string())?;
    Ok(well_formed(svg))
}

fn draw(svg: &mut String, shares: &Shares, x: (i32, i32), y: (i32, i32)) -> Drawn {
    let names = |(low, high): (i32, i32)| (low..=high).map(|number| number.to_string()).collect::<Vec<_>>();
    let (columns, rows) = (names(x), names(y));
    let [x_axis, y_axis, holding] = &shares.axes;
    let key_width = KEY + 40;
    let all = SVGBackend::with_string(svg, (WIDTH * 3 / 2 + key_width, HEIGHT * 5 / 4)).into_drawing_area();
    let (area, key) = all.split_horizontally(WIDTH * 3 / 2);
    let range = -0.5..rows.len() as f64 - 0.5;
    let mut chart = chart(&area, &shares.title, [x_axis, y_axis], &columns, range, &|at| named(&rows, at))?;
    // Nought is faint, and not nothing.
    let strength = |share: f64| 0.08 + 0.92 * share;
    chart.draw_series(shares.cells.iter().map(|cell| {
        let [x, y] = [f64::from(cell.at[0] - x.0), f64::from(cell.at[1] - y.0)];
        let share = cell.holding as f64 / cell.elements.max(1) as f64;
        Rectangle::new([(x - 0.5, y - 0.5), (x + 0.5, y + 0.5)], MARK.mix(strength(share)).filled())
    }))?;
    legend(&key, holding, ["100", "0"], &strength)?;
    all.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: &[([i32; 2], u64, u64)]) -> Result<String, String> {
        let cells = cells.iter().map(|&(at, elements, holding)| ShareCell { at, elements, holding }).collect();
        shares_svg(&Shares { title: "shares".to_owned(), axes: ["x", "y", "%"].map(str::to_owned), cells })
    }
    /// XML has no control characters, not even escaped.
    #[test]
    fn control_characters() {
        let cells = vec![ShareCell { at: [0, 0], elements: 1, holding: 1 }];
        let title = "a\0\u{1}\u{1b}\u{fffe}\u{ffff}".to_owned();
        let svg = shares_svg(&Shares { title, axes: ["x\u{7}", "y", "%"].map(str::to_owned), cells }).unwrap();
        assert!(svg.contains("a\u{2400}\u{2401}\u{241b}\u{fffd}\u{fffd}") && svg.contains("x\u{2407}"), "{svg}");
        let is_legal = |character: char| !character.is_control() || matches!(character, '\t' | '\n' | '\r');
        assert!(svg.chars().all(is_legal));
    }

    /// The opacities of the cells, which come before those of the legend.
    fn opacities(svg: &str, count: usize) -> Vec<String> {
        let places = svg.match_indices("<rect x=");
        let all = places.map(|(at, _)| {
            let text = &svg[at..];
            text[text.find("opacity=\"").unwrap() + 9..].split('"').next().unwrap().to_owned()
        });
        all.take(count).collect()
    }

    #[test]
    fn the_colour_is_as_strong_as_the_share() {
        let svg = of(&[([0, 0], 4, 4), ([1, 0], 4, 2), ([2, 5], 4, 0)]).unwrap();
        assert_eq!(opacities(&svg, 3), ["1", "0.54", "0.08"]);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        assert!(of(&[]).is_err());
        assert!(of(&[([0, 0], 1, 0), ([1001, 0], 1, 0)]).is_err());
        assert!(of(&[([i32::MIN, 0], 1, 0), ([i32::MAX, 0], 1, 0)]).is_err());
        assert!(of(&[([0, 0], 0, 0), ([1000, 0], 1, 1)]).is_ok());
    }
}
