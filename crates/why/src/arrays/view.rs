//! Shapes: broadcasting as NumPy's, transposes, elements by an index.

use roundonce_arith::Elements;

use super::{Bits, Column, Values};

/// The elements of each axis from one to the next, the last axis running fastest.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect()
}

/// The shape that two shapes meet in: axes are matched from the last, and one of length 1 repeats.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let axes = a.len().max(b.len());
    let length = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(axes).map_or(1, |axis| shape[axis]);
    let meet = |axis| match (length(a, axis), length(b, axis)) {
        (one, other) if one == other => Some(one),
        (1, other) | (other, 1) => Some(other),
        _ => None,
    };
    (0..axes).map(meet).collect()
}

/// The strides of an array over a shape that it is broadcast to: 0 where it repeats.
pub(super) fn strides_in(own: &[usize], shape: &[usize]) -> Vec<usize> {
    let more = shape.len() - own.len();
    let known = strides(own).into_iter().zip(own).map(|(stride, &length)| if length == 1 { 0 } else { stride });
    std::iter::repeat_n(0, more).chain(known).collect()
}

/// Where an element of a shape stands along strides.
pub(super) fn place(shape: &[usize], strides: &[usize], mut element: usize) -> usize {
    let mut place = 0;
    for (length, stride) in shape.iter().zip(strides).rev() {
        place += element % length * stride;
        element /= length;
    }
    place
}

impl Values {
    /// The same in a shape that it broadcasts to. One value for all stays one.
    pub(super) fn expanded(self, shape: &[usize]) -> Values {
        if self.shape == shape || self.column.len().is_none() {
            return self;
        }
        let strides = strides_in(&self.shape, shape);
        self.reordered(0, shape, &strides)
    }

    /// Its elements from one on along other strides.
    fn reordered(&self, first: usize, shape: &[usize], strides: &[usize]) -> Values {
        let mut elements = Elements::of(self.column.format);
        let count = shape.iter().product();
        elements.extend((0..count).map(|element| self.column.at(first + place(shape, strides, element)).bits));
        Values { column: Column { format: self.column.format, bits: Bits::Each(elements) }, shape: shape.to_vec() }
    }
}

/// What one axis has in an index.
enum Index<'t> {
    /// One place; a negative one is counted from behind the last.
    Place(i64),
    /// All places: `:`.
    All,
    /// All places, of which the one with this name is looked at.
    Name(&'t str),
}

/// Names that are no place of an axis in Python.
static NO_PLACES: [&str; 4] = ["None", "True", "False", "Ellipsis"];

impl Index<'_> {
    fn parse(text: &str) -> Result<Index<'_>, String> {
        let is_letter = |c: char| c.is_alphabetic() || c == '_';
        if text == ":" {
            Ok(Index::All)
        } else if let Ok(place) = text.parse() {
            Ok(Index::Place(place))
        } else if text.starts_with(is_letter)
            && text.chars().all(|c| is_letter(c) || c.is_numeric())
            && !NO_PLACES.contains(&text)
        {
            Ok(Index::Name(text))
        } else {
            Err(format!("the index `{text}` is not read, only a number, a name or `:`"))
        }
    }
}

/// An array as it is written, and the names that its axes have there.
#[derive(Clone)]
pub(super) struct View {
    pub(super) values: Values,
    names: Vec<Option<String>>,
}

impl View {
    pub(super) fn of(values: Values) -> View {
        View { names: vec![None; values.shape.len()], values }
    }

    /// What a word behind its name makes of it: `.T`, or an index in brackets, of which a number takes one place of an
    /// axis and a name the place that is looked at. Axes that have a name are passed over, so that `a[i][k]` is `a[i, k]`.
    ///
    /// # Errors
    /// What of the index is not read, or is not there.
    pub(super) fn viewed(self, word: &str) -> Result<View, String> {
        let Some(index) = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) else {
            let names = self.names.iter().rev().cloned().collect();
            return Ok(View { values: self.values.transposed(), names });
        };
        let index =
            index.split(',').map(|text| Index::parse(text.trim())).collect::<Result<Vec<Index<'_>>, String>>()?;
        let is_number = self.values.column.len().is_none();
        if is_number && index.iter().all(|index| matches!(index, Index::Name(_))) {
            return Ok(self);
        }
        let View { values, mut names } = self;
        let free: Vec<usize> = (0..names.len()).filter(|axis| names[*axis].is_none()).collect();
        if index.len() > free.len() {
            return Err(format!("`{word}` is of {} axes, of which {} are there", index.len(), free.len()));
        }
        let mut places = vec![None; names.len()];
        for (index, axis) in index.into_iter().zip(free) {
            match index {
                Index::All => {}
                Index::Name(name) => names[axis] = Some(name.to_owned()),
                Index::Place(place) => {
                    let length = values.shape[axis];
                    let counted = if place < 0 { place + length as i64 } else { place };
                    let at = usize::try_from(counted).ok().filter(|at| *at < length);
                    places[axis] = Some(at.ok_or_else(|| format!("there is no {place} in an axis of {length}"))?);
                }
            }
        }
        let kept = names.into_iter().zip(&places).filter(|(_, place)| place.is_none());
        Ok(View { names: kept.map(|(name, _)| name).collect(), values: values.taken(&places) })
    }

    /// The names of its axes, each with the axis counted from the last, which is how shapes are broadcast.
    pub(super) fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.names.iter().rev().enumerate().filter_map(|(axis, name)| Some((axis, name.as_deref()?)))
    }
}

impl Values {
    /// Its axes in the opposite order.
    fn transposed(&self) -> Values {
        let shape: Vec<usize> = self.shape.iter().rev().copied().collect();
        let strides: Vec<usize> = strides(&self.shape).into_iter().rev().collect();
        self.reordered(0, &shape, &strides)
    }

    /// Those at one place of some axes.
    fn taken(self, places: &[Option<usize>]) -> Values {
        let strides = strides(&self.shape);
        let kept: Vec<usize> = (0..places.len()).filter(|axis| places[*axis].is_none()).collect();
        if kept.len() == places.len() {
            return self;
        }
        let first = places.iter().zip(&strides).map(|(place, stride)| place.unwrap_or(0) * stride).sum();
        let of_kept = |lengths: &[usize]| kept.iter().map(|axis| lengths[*axis]).collect::<Vec<usize>>();
        let shape = of_kept(&self.shape);
        if shape.is_empty() {
            return Values { column: Column::one(self.column.at(first)), shape };
        }
        self.reordered(first, &shape, &of_kept(&strides))
    }
}
