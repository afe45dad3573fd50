//! Small arrays as a person writes them: `[1, 2.5, 3]`, `[[1f, 2f], [3f, 4f]]`, `[1, 2]:bf16`.

use roundonce_arith::{Elements, Format, Rounding};
use roundonce_isa::convert;

use super::{Bits, Column, Values};
use crate::expr::{common, parse_typed};
use crate::literals::{Literal, LiteralTypes};

/// Deeper lists are none that a person writes.
const MAX_AXES: usize = 8;

impl Values {
    /// Whether a text is a list.
    pub fn is_list(text: &str) -> bool {
        text.trim_start().starts_with('[')
    }

    /// The array of a list, and whether some of its numbers have no type. These have the type given, or that which they
    /// have beside each other.
    ///
    /// # Errors
    /// What was found and what was expected.
    ///
    /// ```
    /// use roundonce_arith::Format;
    /// use roundonce_why::{LiteralTypes, Values};
    /// let (values, _) = Values::list("[[1, 2.5], [3, 4]]:f16", LiteralTypes::default(), None).unwrap();
    /// assert_eq!((values.shape, values.column.format, values.column.at(1).bits), (vec![2, 2], Format::F16, 0x4100));
    /// assert!(Values::list("[[1, 2], [3]]", LiteralTypes::default(), None).unwrap_err().contains("one length"));
    /// ```
    pub fn list(text: &str, types: LiteralTypes, ty: Option<Format>) -> Result<(Values, bool), String> {
        let (list, suffix) = match text.trim().rsplit_once("]:") {
            Some((list, suffix)) => (format!("{list}]"), Some(suffix)),
            None => (text.trim().to_owned(), None),
        };
        let named = |name: &str| {
            let found = Format::NAMED.iter().find(|(known, _)| *known == name);
            found.map(|(_, format)| *format).ok_or(format!("`{name}` is no type: expected f16, bf16, f32 or f64"))
        };
        let ty = suffix.map(named).transpose()?.or(types.ty).or(ty);
        let (mut shape, mut numbers) = (Vec::new(), Vec::new());
        read(&list, 0, &mut shape, &mut numbers)?;
        let literals = numbers.iter().map(|number| match ty {
            Some(ty) if crate::literals::is_untyped(number) => {
                let name = ty.name().unwrap_or("f64");
                parse_typed(&format!("{number}:{name}")).map(|(value, exact)| Literal::typed(value, exact))
            }
            _ => types.read(number),
        });
        let literals = literals.collect::<Result<Vec<Literal>, String>>()?;
        let strong = literals.iter().filter(|literal| !literal.is_weak).map(|literal| literal.value.format);
        let format = ty.or(strong.reduce(common)).unwrap_or(types.beside([]));
        let mut elements = Elements::of(format);
        elements.extend(
            literals
                .iter()
                .map(|literal| convert(literal.value.format, format, Rounding::NearestEven, literal.value.bits).0),
        );
        let is_untyped = ty.is_none() && literals.iter().any(|literal| literal.is_untyped);
        Ok((Values { column: Column { format, bits: Bits::Each(elements) }, shape }, is_untyped))
    }
}

/// Reads a list at a depth: its length must be that of the others there.
fn read<'t>(text: &'t str, depth: usize, shape: &mut Vec<usize>, numbers: &mut Vec<&'t str>) -> Result<(), String> {
    let inner = text.trim().strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    let Some(inner) = inner else {
        if depth != shape.len() || depth == 0 {
            return Err(format!("`{}` is not a list of one depth, such as [1, 2.5] or [[1, 2], [3, 4]]", text.trim()));
        }
        numbers.push(text.trim());
        return Ok(());
    };
    if depth == MAX_AXES {
        return Err(format!("the list is more than {MAX_AXES} deep"));
    }
    let (mut items, mut first, mut open) = (Vec::new(), 0, 0usize);
    for (at, character) in inner.char_indices() {
        match character {
            '[' => open += 1,
            ']' => open = open.checked_sub(1).ok_or("found a `]` that closes no `[`")?,
            ',' if open == 0 => {
                items.push(&inner[first..at]);
                first = at + 1;
            }
            _ => {}
        }
    }
    if !inner[first..].trim().is_empty() {
        items.push(&inner[first..]);
    }
    // A deeper list is met before any number where there is one.
    let is_new = depth == shape.len() && numbers.is_empty();
    if is_new {
        shape.push(items.len());
    }
    if shape.get(depth) != Some(&items.len()) {
        return Err(format!("`{}` has {} elements: all lists of one depth have one length", text.trim(), items.len()));
    }
    items.into_iter().try_for_each(|item| read(item, depth + 1, shape, numbers))
}
