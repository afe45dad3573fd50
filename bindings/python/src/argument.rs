//! What Python gives for a parameter or a constant, as the kernel has it.

use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use roundonce::arith::{Format, Rounding};
use roundonce::exec::{Arg, Buffer};
use roundonce::image;
use roundonce::ir::{Kernel, Param, Passing, Scalar};
use roundonce::isa::convert;
use roundonce::kernel::{self, Source};
use roundonce::spirv;

use crate::error;
use crate::kernel::{contiguous, held};
use crate::report::named;

/// A kernel's argument as Python gives it.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// A number as the command reads it.
    Text(String),
    /// A number without a type, rounded once.
    Float(f64),
    /// A number of a format.
    Typed(String, u64),
    /// An integer of NumPy: the name of its type, such as `u32`, and its digits.
    Integer(String, String),
    /// An array's format, if it is one of floats, its bytes, NumPy's name of an element, and its shape.
    Array(Option<String>, Bound<'py, PyArray1<u8>>, String, Vec<u64>),
    /// Some bytes of an array: its format, these, where they begin, and how many bytes it has.
    Slice(Option<String>, Bound<'py, PyArray1<u8>>, u64, u64),
}

/// A texture, a surface or an image: an array, and the words of its sampler.
pub(crate) fn image_argument(
    py: Python<'_>,
    called: &str,
    param: &Param,
    given: &Given<'_>,
    words: Option<&str>,
) -> PyResult<Arg> {
    let Given::Array(_, array, element, shape) = given else {
        return Err(PyTypeError::new_err(format!("{called} is an image: expected an array")));
    };
    let bytes = held(array)?;
    let image = image::sampler_for(param, words)
        .and_then(|sampler| Ok((sampler, contiguous(&bytes).map_err(|problem| problem.to_string())?)))
        .and_then(|(sampler, bytes)| image::image(element, shape, bytes, sampler));
    image.map(Arg::Image).map_err(|problem| error::whole(py, format!("{called}: {problem}")))
}

/// What a parameter is given: an array's bytes, or that it has so many where its contents are not wanted; or a number as the parameter has it.
pub(crate) fn argument(
    py: Python<'_>,
    kernel: &Kernel,
    (place, takes_array): (usize, bool),
    given: &Given<'_>,
    contents: bool,
) -> PyResult<Arg> {
    let (param, called) = (&kernel.params[place], kernel::called(kernel, place));
    match (param.passing, given) {
        (Passing::Image(_), _) => return image_argument(py, &called, param, given, None),
        (Passing::Sampler, Given::Text(words)) => {
            let sampler = image::sampler_for(param, Some(words));
            let sampler = sampler.map_err(|problem| error::whole(py, format!("{called}: {problem}")))?;
            return Ok(Arg::Sampler(sampler.unwrap_or_default()));
        }
        (Passing::Sampler, _) => {
            let expected = "expected text such as \"linear,clamp,normalized\"";
            return Err(PyTypeError::new_err(format!("{called} is a sampler: {expected}")));
        }
        _ => {}
    }
    if param.passing == Passing::Buffer && !matches!(given, Given::Array(..) | Given::Slice(..)) {
        return Err(PyTypeError::new_err(format!("{called} is a buffer: expected an array")));
    }
    match given {
        Given::Array(..) | Given::Slice(..) if !takes_array || matches!(param.scalar, Some(Scalar::Float(_))) => {
            Err(PyTypeError::new_err(kernel::number_expected(kernel, place)))
        }
        Given::Array(_, array, ..) if contents || kernel::is_by_value(param) => {
            Ok(kernel::array_argument(param, contiguous(&held(array)?)?))
        }
        Given::Array(_, array, ..) => Ok(Arg::Slice { bytes: Buffer::default(), at: 0, of: array.len()? as u64 }),
        Given::Slice(_, array, at, of) => {
            Ok(Arg::Slice { bytes: Buffer::from_bytes(contiguous(&held(array)?)?), at: *at, of: *of })
        }
        _ => number(py, &called, param.size, param.scalar, given).map(Arg::Scalar),
    }
}

/// A number as what takes it has it: of so many bytes, and of a type where one is declared. A float of NumPy must be of that
/// type; for a float an unsigned integer of its width is its bits.
fn number(py: Python<'_>, called: &str, bytes: u32, scalar: Option<Scalar>, given: &Given<'_>) -> PyResult<u64> {
    let declared = match scalar {
        Some(Scalar::Float(format)) => Some(format),
        _ => None,
    };
    let other_type = |found: &str| {
        let declared = match scalar {
            Some(Scalar::Float(format)) => {
                format.name().map_or_else(|| format!("a float of {} bits", format.width()), str::to_owned)
            }
            Some(Scalar::Int { bits, signed }) => format!("{}{bits}", if signed { "i" } else { "u" }),
            None => format!("{bytes} bytes"),
        };
        PyTypeError::new_err(format!("{called} is {declared}: found {found}"))
    };
    match (given, declared) {
        (Given::Integer(name, digits), Some(format)) => {
            let bits = digits.parse().ok().filter(|_| *name == format!("u{}", format.width()));
            bits.ok_or_else(|| other_type(name))
        }
        (Given::Text(text) | Given::Integer(_, text), _) => {
            kernel::number(bytes, scalar, text).map_err(|problem| error::whole(py, format!("{called}: {problem}")))
        }
        (Given::Float(value), Some(format)) => {
            Ok(convert(Format::F64, format, Rounding::NearestEven, value.to_bits()).0)
        }
        (Given::Float(value), None) => {
            let expected = "expected an integer or bits";
            Err(PyTypeError::new_err(format!("{called} is no float: {expected}, found {value}")))
        }
        (Given::Typed(name, bits), _) => {
            let fits = named(name).is_some_and(|format| match scalar {
                Some(_) => declared == Some(format),
                None => format.width() == bytes * 8,
            });
            if fits { Ok(*bits) } else { Err(other_type(name)) }
        }
        (Given::Array(..) | Given::Slice(..), _) => {
            Err(PyTypeError::new_err(format!("{called} is a number: found an array")))
        }
    }
}

/// Specialisation constants as the front door reads them: what is no text by the types that the module declares.
pub(crate) fn constants(
    py: Python<'_>,
    name: &str,
    source: Source<'_>,
    given: &[(u32, Given<'_>)],
) -> PyResult<Vec<(u32, String)>> {
    let is_text = |(_, value): &(u32, Given<'_>)| matches!(value, Given::Text(_));
    let module = match source {
        _ if given.iter().all(is_text) => None,
        Source::SpirvText(text) => spirv::assemble_module(text, None).ok(),
        Source::Spirv(bytes) => spirv::Module::from_binary(bytes).ok(),
        _ => None,
    };
    let known = module.as_ref().map(spirv::spec_constants).unwrap_or_default();
    let text = |(id, value): &(u32, Given<'_>)| {
        let called = format!("{name}: constant {id}");
        let constant = known.iter().find(|constant| constant.id == *id);
        let text = match (value, constant.map(|constant| constant.scalar)) {
            (Given::Text(text), _) => text.clone(),
            (_, Some(Some(scalar))) => {
                let digits = scalar.bits() as usize / 4;
                format!("0x{:0digits$x}", number(py, &called, scalar.bits() / 8, Some(scalar), value)?)
            }
            (Given::Integer(_, text), _) => text.clone(),
            (_, Some(None)) => return Err(PyTypeError::new_err(format!("{called} is true or false: found a float"))),
            // There is no such constant: the front door says so.
            (_, None) => "a float".to_owned(),
        };
        Ok((*id, text))
    };
    given.iter().map(text).collect()
}
