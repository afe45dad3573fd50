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
        self.reordered(shape, &strides)
    }

    /// The same elements along other strides.
    fn reordered(&self, shape: &[usize], strides: &[usize]) -> Values {
        let mut elements = Elements::of(self.column.format);
        let count = shape.iter().product();
        elements.extend((0..count).map(|element| self.column.at(place(shape, strides, element)).bits));
        Values { column: Column { format: self.column.format, bits: Bits::Each(elements) }, shape: shape.to_vec() }
    }

    /// Its axes in the opposite order.
    fn transposed(&self) -> Values {
        let shape: Vec<usize> = self.shape.iter().rev().copied().collect();
        let strides: Vec<usize> = strides(&self.shape).into_iter().rev().collect();
        self.reordered(&shape, &strides)
    }

    /// What a word behind its name makes of it: `.T`, or an index in brackets, of which a number takes one place of an
    /// axis and a name the place that is looked at.
    pub(super) fn viewed(&self, word: &str) -> Option<Values> {
        if word == ".T" {
            return Some(self.transposed());
        }
        let index: Vec<&str> = word.strip_prefix('[')?.strip_suffix(']')?.split(',').map(str::trim).collect();
        let numbers: Vec<Option<usize>> = index.iter().map(|text| text.parse().ok()).collect();
        if numbers.iter().all(Option::is_none) {
            return Some(self.clone());
        }
        if index.len() > self.shape.len() {
            return None;
        }
        let strides = strides(&self.shape);
        let (mut first, mut shape, mut kept) = (0, Vec::new(), Vec::new());
        for (axis, (&length, &stride)) in self.shape.iter().zip(&strides).enumerate() {
            match numbers.get(axis).copied().flatten() {
                Some(at) if at < length => first += at * stride,
                Some(_) => return None,
                None => {
                    shape.push(length);
                    kept.push(stride);
                }
            }
        }
        if shape.is_empty() {
            return Some(Values { column: Column::one(self.column.at(first)), shape });
        }
        let mut elements = Elements::of(self.column.format);
        let count = shape.iter().product();
        elements.extend((0..count).map(|element| self.column.at(first + place(&shape, &kept, element)).bits));
        Some(Values { column: Column { format: self.column.format, bits: Bits::Each(elements) }, shape })
    }
}
