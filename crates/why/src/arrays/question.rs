//! What is asked: an expression over arrays, in which a sum over an axis or a matrix product may stand.

use std::collections::BTreeMap;
use std::ops::Range;

use roundonce_arith::{Format, Rounding};
use roundonce_deviate::Typed;
use roundonce_isa::{convert, grouped};

use super::reduction::{Word, Written, first_reduction, inlined};
use super::schedule::TensorUnit;
use super::view::{View, broadcast, strides, strides_in};
use super::{Bits, Column};
use crate::expr::{Expr, ExprError};
use crate::integer::IntegerType;
use crate::literals::{Literal, LiteralTypes};
use crate::parse::placed_names;
use crate::tokens::tokens;

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

/// An expression over arrays. Their shapes are broadcast as NumPy's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// Elements of the result; a reduction is one of its leaves.
    pub(super) expr: Expr,
    /// The arrays of the expression, all in the result's shape.
    pub(super) columns: BTreeMap<String, Column>,
    pub(super) shape: Vec<usize>,
    pub(super) reduction: Option<Reduction>,
    /// Tensor cores that a matrix product may have been computed on.
    pub(super) units: Vec<TensorUnit>,
}

/// A sum over an axis, or a matrix product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reduction {
    pub(super) word: Word,
    /// What is summed, or the two factors.
    pub(super) operands: Vec<Operand>,
    /// The leaf of the expression that it is.
    pub(super) text: String,
    /// What is computed for each term, where that is a product.
    pub(super) product: Option<String>,
    /// The shape of its result.
    pub(super) shape: Vec<usize>,
    /// Terms of each result.
    pub(super) length: usize,
}

/// What a reduction is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Operand {
    pub(super) expr: Expr,
    /// The arrays of the expression, all in its shape.
    pub(super) columns: BTreeMap<String, Column>,
    pub(super) shape: Vec<usize>,
    /// Its elements from one result to the next along each axis of the results.
    pub(super) strides: Vec<usize>,
    /// Its elements from one term to the next.
    pub(super) step: usize,
}

impl Question {
    /// The same, with tensor cores that a matrix product may have been computed on; asked for only if it has one.
    #[must_use]
    pub fn on_tensor_cores(self, units: impl FnOnce() -> Vec<TensorUnit>) -> Question {
        let is_product = self.reduction.as_ref().is_some_and(|reduction| reduction.operands.len() == 2);
        Question { units: if is_product { units() } else { Vec::new() }, ..self }
    }

    /// What is added to a reduction, where the expression is that sum alone.
    pub(super) fn addend(&self) -> Option<&Column> {
        let Expr::Add(one, other) = &self.expr else { return None };
        let name = |expr: &Expr| match expr {
            Expr::Value(_, name) => Some(name.clone()),
            _ => None,
        };
        let text = &self.reduction.as_ref()?.text;
        let (one, other) = (name(one)?, name(other)?);
        let addend = if one == *text { other } else { one };
        self.columns.get(&addend)
    }
}

impl Reduction {
    /// The type of its result.
    pub(super) fn format(&self) -> Format {
        self.operands.iter().map(|operand| operand.expr.format()).reduce(crate::expr::common).unwrap_or(Format::F32)
    }
}

/// Elements that arrays of fewer are broadcast to at most.
const MOST: usize = 1 << 28;

/// What stands for a reduction in the text around it: no name that a person writes.
const PLACEHOLDER: &str = "ſ";

fn whole(message: impl Into<String>) -> ExprError {
    ExprError { at: 0, message: message.into() }
}

/// Arrays by their names, of what an expression uses, in the shape that they meet in.
struct Scope {
    columns: BTreeMap<String, Column>,
    shape: Vec<usize>,
}

/// The names of a text, and where they are not given, what they are of those that are.
struct Names {
    given: BTreeMap<String, Values>,
}

impl Names {
    /// What a name of a text stands for, with each `.T` and index behind it; `None` for one without a value.
    fn view(&self, name: &str) -> Result<Option<View>, String> {
        let (mut base, mut words) = (name, Vec::new());
        let values = loop {
            if let Some(values) = self.given.get(base) {
                break values;
            }
            let at = if base.ends_with(".T") { Some(base.len() - 2) } else { base.rfind('[') };
            let Some((before, word)) = at.map(|at| base.split_at(at)) else { return Ok(None) };
            words.push(word);
            base = before;
        };
        words.into_iter().rev().try_fold(View::of(values.clone()), View::viewed).map(Some)
    }

    /// Those that an expression uses; `shape` is that of what stands beside them.
    fn scope(&self, text: &str, shape: Option<(&str, &[usize])>) -> Result<Scope, ExprError> {
        let (mut found, mut missing, mut axes) = (Vec::new(), None, IndexNames::default());
        for (at, name) in placed_names(text).into_iter().filter(|(_, name)| *name != PLACEHOLDER) {
            let fault = |message| ExprError { at, message };
            let advice =
                |problem| fault(format!("`{name}`: {problem}; give what it is as an array of its own: `{name}=…`"));
            match self.view(name).map_err(advice)? {
                Some(view) => {
                    axes.add(name, &view).map_err(fault)?;
                    found.push((name.to_owned(), view.values));
                }
                None => missing = missing.or_else(|| Some(fault(format!("`{name}` has no value: add `{name}=…`")))),
            }
        }
        let mut met: Option<(String, Vec<usize>)> = shape.map(|(name, shape)| (name.to_owned(), shape.to_vec()));
        for (name, values) in found.iter().filter(|(_, values)| values.column.len().is_some()) {
            met = Some(match met {
                None => (name.clone(), values.shape.clone()),
                Some((first, known)) => match broadcast(&known, &values.shape) {
                    Some(shape) => (first, shape),
                    None => {
                        let message = format!(
                            "`{first}` has the shape {known:?} and `{name}` {:?}: they do not broadcast",
                            values.shape
                        );
                        return Err(whole(message));
                    }
                },
            });
        }
        let Some((_, shape)) = met else { return Err(missing.unwrap_or_else(|| whole("no name is an array"))) };
        let repeats = found.iter().any(|(_, values)| values.column.len().is_some() && values.shape != shape);
        if repeats
            && shape.iter().try_fold(1usize, |count, &length| count.checked_mul(length)).is_none_or(|it| it > MOST)
        {
            let most = grouped(MOST as u64);
            return Err(whole(format!("the arrays broadcast to {shape:?}: more than {most} elements")));
        }
        let columns = found.into_iter().map(|(name, values)| (name, values.expanded(&shape).column)).collect();
        Ok(Scope { columns, shape })
    }
}

/// The names that stand in indices. One is the place that is looked at along one axis, the same axis in all arrays.
#[derive(Default)]
struct IndexNames<'t> {
    known: Vec<(usize, String, &'t str)>,
}

impl<'t> IndexNames<'t> {
    fn add(&mut self, array: &'t str, view: &View) -> Result<(), String> {
        for (axis, name) in view.names() {
            let same = |known: &&(usize, String, &str)| known.0 == axis || known.1 == name;
            match self.known.iter().find(same) {
                Some((known_axis, known, _)) if *known_axis == axis && known == name => {}
                Some((.., other)) if other == &array => {
                    return Err(format!("`{array}` has `{name}` for two axes: one name is one axis"));
                }
                Some((.., other)) => {
                    let message = format!(
                        "`{name}` of `{array}` is not the same axis as in `{other}`: a name stands for one axis, and one axis \
                         has one name, counted from the last"
                    );
                    return Err(message);
                }
                None => self.known.push((axis, name.to_owned(), array)),
            }
        }
        Ok(())
    }
}

fn parsed(text: &str, scope: &Scope, more: Option<Typed>, types: LiteralTypes) -> Result<Expr, ExprError> {
    let of_column = |column: &Column| Literal::typed(column.at_any(), true);
    let mut names: BTreeMap<String, Literal> =
        scope.columns.iter().map(|(name, column)| (name.clone(), of_column(column))).collect();
    names.extend(more.map(|value| (PLACEHOLDER.to_owned(), Literal::typed(value, true))));
    types.parse_expr(text, &names)
}

impl Question {
    /// Reads `a*x + y`, `sum(a*b, 1)`, `mean(x)`, `scale * (a @ b) + bias`, with the names' values.
    ///
    /// # Errors
    /// The byte of the text at fault, and what is wrong there: also where shapes do not broadcast.
    pub fn parse(text: &str, names: BTreeMap<String, Values>) -> Result<Question, ExprError> {
        Question::parse_as(text, names, LiteralTypes::default().beside_arrays())
    }

    /// The same where the literals have these types.
    ///
    /// # Errors
    /// As [`Question::parse`].
    pub fn parse_as(text: &str, names: BTreeMap<String, Values>, types: LiteralTypes) -> Result<Question, ExprError> {
        tokens(text)?;
        let names = Names { given: names };
        let Some(written) = first_reduction(text)? else {
            let scope = names.scope(text, None)?;
            let expr = parsed(text, &scope, None, types)?;
            return Ok(Question {
                expr,
                columns: scope.columns,
                shape: scope.shape,
                reduction: None,
                units: Vec::new(),
            });
        };
        if let Some(inlined) = Some(written.statement).filter(|from| *from > 0).and_then(|from| inlined(text, from)) {
            let misplaced = |error: ExprError| ExprError { at: 0, ..error };
            return Question::parse_as(&inlined, names.given, types).map_err(misplaced);
        }
        let reduction = Reduction::of(text, &written, &names, types)?;
        let around = around(text, &written.span);
        if let Some(second) = first_reduction(&around)? {
            return Err(second_reduction(second.span.start));
        }
        let scope = names.scope(&around, Some((&reduction.text, &reduction.shape)))?;
        let value = Typed { format: reduction.format(), bits: 0 };
        let expr = named(parsed(&around, &scope, Some(value), types)?, &reduction.text);
        Ok(Question { expr, columns: scope.columns, shape: scope.shape, reduction: Some(reduction), units: Vec::new() })
    }

    /// Whether its text has a literal without a type.
    pub fn has_untyped(&self) -> bool {
        let of_operands = |reduction: &Reduction| reduction.operands.iter().any(|operand| operand.expr.has_untyped());
        self.expr.has_untyped() || self.reduction.as_ref().is_some_and(of_operands)
    }

    /// The expression's type, as a person calls it.
    pub(crate) fn type_name(&self) -> &'static str {
        self.expr.integer().map_or(self.format().name().unwrap_or("?"), IntegerType::name)
    }

    /// The expression's type.
    pub fn format(&self) -> Format {
        self.expr.format()
    }

    /// The shape of the result.
    pub fn result_shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    pub(super) fn text(&self) -> String {
        let text = self.expr.to_string();
        match &self.expr {
            // A product that stands alone needs no brackets.
            Expr::Value(..) => {
                text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).map_or(text.clone(), str::to_owned)
            }
            _ => text,
        }
    }
}

/// A text whose reduction is one name, with spaces so that places stay.
fn around(text: &str, span: &Range<usize>) -> String {
    let spaces = span.len().saturating_sub(PLACEHOLDER.len());
    format!("{}{PLACEHOLDER}{:spaces$}{}", &text[..span.start], "", &text[span.end..])
}

fn second_reduction(at: usize) -> ExprError {
    let message = "a second sum or matrix product: the orders of one are compared at a time; give the other's result as an \
                   array of its own";
    ExprError { at, message: message.to_owned() }
}

/// The expression with the reduction's leaf written as the reduction.
fn named(expr: Expr, text: &str) -> Expr {
    match expr {
        Expr::Value(value, written) if written == PLACEHOLDER => Expr::Value(value, text.to_owned()),
        _ => expr.map_parts(|part| named(part, text)),
    }
}

/// A factor of a matrix product, as text.
fn factor_text(expr: &Expr) -> String {
    match expr {
        Expr::Value(..) | Expr::Round(..) => expr.to_string(),
        _ => format!("({expr})"),
    }
}

impl Reduction {
    fn of(text: &str, written: &Written, names: &Names, types: LiteralTypes) -> Result<Reduction, ExprError> {
        // The statements before may give names to what stands in it.
        let before = &text[..written.statement];
        let operand = |bytes: &Range<usize>| {
            let own = &text[bytes.clone()];
            if let Some(second) = first_reduction(own)? {
                return Err(second_reduction(bytes.start + second.span.start));
            }
            let text = format!("{before}{own}");
            let moved = |error: ExprError| match error.at.checked_sub(before.len()) {
                Some(at) => ExprError { at: bytes.start + at, ..error },
                None => error,
            };
            let scope = names.scope(&text, None).map_err(moved)?;
            let expr = parsed(&text, &scope, None, types).map_err(moved)?;
            let Scope { columns, shape } = scope;
            Ok(Operand { expr, columns, shape, strides: Vec::new(), step: 1 })
        };
        let operands = written.operands.iter().map(operand).collect::<Result<Vec<Operand>, ExprError>>()?;
        match <[Operand; 2]>::try_from(operands) {
            Ok(factors) => Reduction::product(written, factors),
            Err(mut operands) => Reduction::sum(written, operands.remove(0)),
        }
    }

    fn sum(written: &Written, mut term: Operand) -> Result<Reduction, ExprError> {
        let axes = term.shape.len();
        let all = strides(&term.shape);
        let axis = written.axis.map(|(number, at)| {
            let counted = if number < 0 { number + axes as i64 } else { number };
            usize::try_from(counted).ok().filter(|axis| *axis < axes).ok_or_else(|| ExprError {
                at,
                message: format!("`{number}` is not an axis: the arrays have {axes}, counted from 0"),
            })
        });
        let axis = axis.transpose()?;
        let name = written.word.name();
        let keeps = if written.keeps_axis { ", keepdims" } else { "" };
        let text = match axis {
            None => format!("{name}({}{keeps})", term.expr),
            Some(axis) => format!("{name}({}, {axis}{keeps})", term.expr),
        };
        let is_summed = |at: usize| axis.is_none_or(|axis| axis == at);
        let length = (0..axes).filter(|at| is_summed(*at)).map(|at| term.shape[at]).product();
        term.step = axis.map_or(1, |axis| all[axis]);
        let mut shape = Vec::new();
        for (at, (&length, &stride)) in term.shape.iter().zip(&all).enumerate() {
            match is_summed(at) {
                false => {
                    shape.push(length);
                    term.strides.push(stride);
                }
                true if written.keeps_axis => {
                    shape.push(1);
                    term.strides.push(0);
                }
                true => {}
            }
        }
        let product = matches!(term.expr, Expr::Mul(..)).then(|| term.expr.to_string());
        Ok(Reduction { word: written.word, operands: vec![term], text, product, shape, length })
    }

    fn product(written: &Written, [mut a, mut b]: [Operand; 2]) -> Result<Reduction, ExprError> {
        let fault = |message: String| Err(ExprError { at: written.span.start, message });
        let [of_a, of_b] = [&a, &b].map(|factor| factor_text(&factor.expr));
        let (axes_a, axes_b) = (a.shape.len(), b.shape.len());
        if written.word == Word::Dot && axes_a.max(axes_b) > 2 {
            return fault("dot of more than two axes: write a matrix product, a @ b".to_owned());
        }
        if axes_a == 0 || axes_b == 0 {
            return fault("a matrix product of one number: write a * b".to_owned());
        }
        // A vector is a row before a matrix, and a column behind one.
        let matrix_a = if axes_a == 1 { vec![1, a.shape[0]] } else { a.shape.clone() };
        let matrix_b = if axes_b == 1 { vec![b.shape[0], 1] } else { b.shape.clone() };
        let (batch_a, [rows, length]) = split(&matrix_a);
        let (batch_b, [other_length, columns]) = split(&matrix_b);
        let batch = broadcast(batch_a, batch_b).filter(|_| length == other_length);
        let Some(batch) = batch else {
            let message = format!("`{of_a}` has the shape {:?} and `{of_b}` {:?}: no matrix product", a.shape, b.shape);
            return fault(message);
        };
        let strides_of = |batch_own: &[usize], own: &[usize]| {
            let size: usize = own.iter().product();
            strides_in(batch_own, &batch).into_iter().map(move |stride| stride * size).collect::<Vec<usize>>()
        };
        a.strides = strides_of(batch_a, &[rows, length]);
        b.strides = strides_of(batch_b, &[length, columns]);
        (a.step, b.step) = (1, columns);
        let mut shape = batch;
        if axes_a > 1 {
            shape.push(rows);
            a.strides.push(length);
            b.strides.push(0);
        }
        if axes_b > 1 {
            shape.push(columns);
            a.strides.push(0);
            b.strides.push(1);
        }
        let index = |is_vector: bool, matrix: &'static str| if is_vector { "[k]" } else { matrix };
        let product = format!("{of_a}{} * {of_b}{}", index(axes_a == 1, "[i,k]"), index(axes_b == 1, "[k,j]"));
        let text = format!("({of_a} @ {of_b})");
        Ok(Reduction { word: written.word, operands: vec![a, b], text, product: Some(product), shape, length })
    }
}

/// The axes before the last two, and these.
fn split(shape: &[usize]) -> (&[usize], [usize; 2]) {
    match shape {
        [batch @ .., rows, columns] => (batch, [*rows, *columns]),
        _ => (&[], [1, 1]),
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
