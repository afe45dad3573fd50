//! What is asked: an expression over arrays of one shape, or a sum of one over an axis.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Rounding};
use roundonce_deviate::Typed;
use roundonce_isa::convert;

use super::{Bits, Column};
use crate::expr::{Expr, ExprError};
use crate::literals::{Literal, LiteralTypes};
use crate::parse::names_in;

/// An array: its values and its shape, the last axis running fastest. One value for all has no axes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    /// The values.
    pub column: Column,
    /// The lengths of its axes.
    pub shape: Vec<usize>,
}

impl LiteralTypes {
    /// The values of names, with the literals of single ones; those that are weak take the type of the others.
    pub fn values_of(&self, given: BTreeMap<String, (Values, Option<Literal>)>) -> BTreeMap<String, Values> {
        let is_weak = |literal: &Option<Literal>| literal.is_some_and(|literal| literal.is_weak);
        let strong = given.values().filter(|(_, literal)| !is_weak(literal)).map(|(values, _)| values.column.format);
        let beside = self.beside(strong.collect::<Vec<Format>>());
        let in_its_type = |(values, literal): (Values, Option<Literal>)| {
            if !is_weak(&literal) {
                return values;
            }
            let Typed { format, bits } = values.column.at(0);
            let bits = convert(format, beside, Rounding::NearestEven, bits).0;
            Values { column: Column::one(Typed { format: beside, bits }), ..values }
        };
        given.into_iter().map(|(name, given)| (name, in_its_type(given))).collect()
    }
}

/// An expression over arrays of one shape, or a sum of one over an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    pub(super) expr: Expr,
    pub(super) columns: BTreeMap<String, Column>,
    pub(super) shape: Vec<usize>,
    /// The axis summed over; all of them, if it has no number.
    pub(super) sum: Option<Option<usize>>,
}

impl Question {
    /// Reads `a*x + y`, `sum(a*b)`, `sum(a*b, 1)`, with the names' values. Single values serve every element.
    ///
    /// # Errors
    /// The byte of the text at fault, and what is wrong there: also where shapes differ.
    pub fn parse(text: &str, names: BTreeMap<String, Values>) -> Result<Question, ExprError> {
        Question::parse_as(text, names, LiteralTypes::default().beside_arrays())
    }

    /// The same where the literals have these types.
    ///
    /// # Errors
    /// As [`Question::parse`].
    pub fn parse_as(
        text: &str,
        mut names: BTreeMap<String, Values>,
        types: LiteralTypes,
    ) -> Result<Question, ExprError> {
        for indexed in names_in(text) {
            if let Some(values) = element_of(&indexed, &names).filter(|_| !names.contains_key(&indexed)) {
                names.insert(indexed, values);
            }
        }
        let used = names_in(text);
        let is_used_whole = |name: &String| used.contains(name) || !used.iter().any(|it| base_of(it) == Some(name));
        names.retain(|name, _| is_used_whole(name));
        let whole = |message: String| ExprError { at: 0, message };
        let mut shape: Option<(&str, &[usize])> = None;
        for (name, values) in names.iter().filter(|(_, values)| values.column.len().is_some()) {
            match shape {
                None => shape = Some((name, &values.shape)),
                Some((first, known)) if known != values.shape => {
                    let message = format!("`{first}` has the shape {known:?} and `{name}` {:?}", values.shape);
                    return Err(whole(message));
                }
                Some(_) => {}
            }
        }
        let shape = shape.map(|(_, shape)| shape.to_vec()).ok_or_else(|| whole("no name is an array".to_owned()))?;
        let of_column = |column: &Column| Literal::typed(column.at_any(), true);
        let columns = names.iter().map(|(name, values)| (name.clone(), of_column(&values.column))).collect();
        let (term, sum) = split_sum(text, shape.len())?;
        let expr = types
            .parse_expr(&text[term.clone()], &columns)
            .map_err(|error| ExprError { at: error.at + term.start, ..error })?;
        let columns = names.into_iter().map(|(name, values)| (name, values.column)).collect();
        Ok(Question { expr, columns, shape, sum })
    }

    /// Whether its text has a literal without a type.
    pub fn has_untyped(&self) -> bool {
        self.expr.has_untyped()
    }

    /// The expression's type.
    pub fn format(&self) -> Format {
        self.expr.format()
    }

    /// The shape of the result.
    pub fn result_shape(&self) -> Vec<usize> {
        match self.sum {
            None => self.shape.clone(),
            Some(None) => Vec::new(),
            Some(Some(axis)) => [&self.shape[..axis], &self.shape[axis + 1..]].concat(),
        }
    }

    pub(super) fn text(&self) -> String {
        match self.sum {
            None => self.expr.to_string(),
            Some(None) => format!("sum({})", self.expr),
            Some(Some(axis)) => format!("sum({}, {axis})", self.expr),
        }
    }
}

/// The array of an indexed name: `a` of `a[i]`.
fn base_of(name: &str) -> Option<&str> {
    name.ends_with(']').then(|| name.split('[').next()).flatten()
}

/// What an indexed name stands for: one element where the index is a number, else the element at the place that is
/// looked at.
fn element_of(name: &str, names: &BTreeMap<String, Values>) -> Option<Values> {
    let values = names.get(base_of(name)?)?;
    let index = name[name.find('[')? + 1..name.len() - 1].trim();
    match index.parse::<usize>() {
        Ok(at) if values.shape.len() == 1 && at < values.shape[0] => {
            Some(Values { column: Column::one(values.column.at(at)), shape: Vec::new() })
        }
        Ok(_) => None,
        Err(_) => Some(values.clone()),
    }
}

impl Column {
    /// A value of the column's type: the type is what counts.
    fn at_any(&self) -> Typed {
        match self.bits {
            Bits::One(bits) => Typed { format: self.format, bits },
            _ => Typed { format: self.format, bits: 0 },
        }
    }
}

/// The bytes of the term of `sum(TERM, AXIS)`, and the axis; of the whole text, if it is no sum.
fn split_sum(text: &str, axes: usize) -> Result<(std::ops::Range<usize>, Option<Option<usize>>), ExprError> {
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    let Some(inner) = text[start..end].strip_prefix("sum(") else { return Ok((0..text.len(), None)) };
    let first = start + "sum(".len();
    let Some(inner) = inner.strip_suffix(')') else {
        return Err(ExprError { at: end, message: "found the end, expected `)` behind the sum".to_owned() });
    };
    let mut depth = 0usize;
    for (at, character) in inner.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1).ok_or_else(|| ExprError {
                    at: first + at,
                    message: "a sum stands alone: nothing is computed with it".to_owned(),
                })?;
            }
            ',' if depth == 0 => {
                let number = inner[at + 1..].trim();
                let axis = number.parse::<usize>().ok().filter(|axis| *axis < axes);
                let message = || format!("`{number}` is not an axis: the arrays have {axes}, counted from 0");
                let axis = axis.ok_or_else(|| ExprError { at: first + at + 1, message: message() })?;
                return Ok((first..first + at, Some(Some(axis))));
            }
            _ => {}
        }
    }
    Ok((first..first + inner.len(), Some(None)))
}
