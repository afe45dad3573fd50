//! Arrays in NumPy's .npy format, as the bytes they hold.

use std::io::{Cursor, Read, Seek, Write};
use std::path::Path;

use roundonce::arith::Format;
use roundonce::exec::Buffer;
use roundonce_vectors::{npy, split_mix_64};

use crate::{Failure, files};

/// What a file's header says; the file has as many bytes.
#[derive(Clone)]
pub(crate) struct Header {
    /// The element's type, little-endian or without a byte order: `<f4`.
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
    /// Of more than one dimension, the first running fastest.
    pub(crate) fortran: bool,
    /// Where the data begins.
    pub(crate) start: u64,
}

impl Header {
    /// Reads it off the beginning of a file of `size` bytes.
    pub(crate) fn read(path: &Path, file: &mut (impl Read + Seek), size: u64) -> Result<Header, Failure> {
        let fault = |problem: String| Failure::Input(format!("{}: {problem}", path.display()));
        let header = npy::Header::read(&mut *file).map_err(|error| fault(format!("not a .npy file: {error}")))?;
        let start = file.stream_position().map_err(|error| files::failed(path, error))?;
        let element = header.element().map_err(fault)?;
        let npy::Header { descr: dtype, fortran, shape } = header;
        // The header's reader has checked the product.
        let promised = shape.iter().product::<u64>().checked_mul(element.size as u64);
        let found = size.saturating_sub(start);
        if promised != Some(found) {
            let shape = npy::tuple(&shape);
            let problem = match promised {
                Some(promised) if found < promised => {
                    format!("it is cut short: {shape} elements of {dtype} take {promised} bytes, {found} are there")
                }
                Some(promised) => {
                    format!("it is too long: {shape} elements of {dtype} take {promised} bytes, {found} are there")
                }
                None => format!("no file has {shape} elements of {dtype}"),
            };
            return Err(fault(problem));
        }
        let fortran = fortran && shape.len() > 1;
        Ok(Header { dtype, shape, fortran, start })
    }

    /// The element's type without its byte order.
    pub(crate) fn element(&self) -> &str {
        self.dtype.trim_start_matches(['<', '|'])
    }
}

/// An array: its bytes, and the header that says what they are.
pub(crate) struct Array {
    /// As it stands in the file.
    head: Vec<u8>,
    pub(crate) header: Header,
    /// Little-endian elements, in the order of the file.
    pub(crate) bytes: Vec<u8>,
}

/// The element types of `zeros:TYPE:COUNT`, with NumPy's names. NumPy has no bf16: two opaque bytes stand for it.
const TYPES: [ElementType; 12] = [
    ("f16", "<f2", 2),
    ("bf16", "<V2", 2),
    ("f32", "<f4", 4),
    ("f64", "<f8", 8),
    ("u8", "|u1", 1),
    ("i8", "|i1", 1),
    ("u16", "<u2", 2),
    ("i16", "<i2", 2),
    ("u32", "<u4", 4),
    ("i32", "<i4", 4),
    ("u64", "<u8", 8),
    ("i64", "<i8", 8),
];

/// Our name, NumPy's, and the bytes of an element.
type ElementType = (&'static str, &'static str, usize);

fn element_type(name: &str) -> Option<&'static ElementType> {
    TYPES.iter().find(|(known, ..)| *known == name)
}

fn unreadable(text: &str, wanted: &str) -> Failure {
    let names: Vec<&str> = TYPES.iter().map(|(name, ..)| *name).collect();
    Failure::Input(format!("`{text}` is not {wanted} with a type of {}", names.join(" ")))
}

impl Array {
    /// Reads a .npy file whole.
    pub(crate) fn read(path: &Path) -> Result<Array, Failure> {
        let mut bytes = files::read_up_to(path, u64::MAX)?;
        let size = bytes.len() as u64;
        let header = Header::read(path, &mut Cursor::new(bytes.as_slice()), size)?;
        // The data stays where it is: it may be most of the memory.
        let head = bytes.drain(..header.start as usize).collect();
        Ok(Array { head, header, bytes })
    }

    /// Reads `zeros:f32:1024`, or `zeros:f32:32x32` with several axes.
    pub(crate) fn zeros(text: &str) -> Result<Array, Failure> {
        let parts = text.strip_prefix("zeros:").and_then(|rest| rest.split_once(':'));
        let axes = |text: &str| text.split('x').map(|axis| axis.parse().ok()).collect::<Option<Vec<u64>>>();
        let found = parts.and_then(|(ty, shape)| Some((element_type(ty)?, axes(shape)?)));
        let Some((ty, shape)) = found else { return Err(unreadable(text, "zeros:TYPE:COUNT")) };
        Array::filled(text, ty, &shape, |_| 0)
    }

    /// Reads `random:f32:1024:7`: as many numbers, the same for the same seed. Floats are spread evenly over (-1, 1),
    /// with all bits of their significand; integers over all their values.
    pub(crate) fn random(text: &str) -> Result<Array, Failure> {
        let parts: Vec<&str> = text.split(':').collect();
        let found = match parts[..] {
            ["random", ty, count, seed] => element_type(ty).zip(count.parse().ok()).zip(seed.parse::<u64>().ok()),
            _ => None,
        };
        let Some(((ty, count), seed)) = found else { return Err(unreadable(text, "random:TYPE:COUNT:SEED")) };
        let format = Format::NAMED.iter().find(|(name, _)| *name == ty.0).map(|(_, format)| *format);
        let mut state = seed.wrapping_mul(2).wrapping_add(1);
        Array::filled(text, ty, &[count], |_| {
            let bits = split_mix_64(&mut state);
            format.map_or(bits, |format| {
                // Each binade below 1 is half as likely as the one above it.
                let below = u64::from(split_mix_64(&mut state).leading_zeros()) + 1;
                let exponent = (format.bias() as u64).saturating_sub(below);
                let significand = bits & ((1 << (format.precision() - 1)) - 1);
                ((bits >> 63) * format.sign_mask()) | (exponent << (format.precision() - 1)) | significand
            })
        })
    }

    /// An array; `bits` gives each element.
    fn filled(
        text: &str,
        ty: &ElementType,
        shape: &[u64],
        mut bits: impl FnMut(usize) -> u64,
    ) -> Result<Array, Failure> {
        let (_, descr, size) = *ty;
        let large = || Failure::Input(format!("`{text}`: no memory for so many elements"));
        let count = shape.iter().try_fold(1, |all: u64, &axis| all.checked_mul(axis));
        let count = count.and_then(|count| usize::try_from(count).ok()).ok_or_else(large)?;
        let length = size.checked_mul(count).filter(|bytes| *bytes <= isize::MAX as usize).ok_or_else(large)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| large())?;
        for at in 0..count {
            bytes.extend_from_slice(&bits(at).to_le_bytes()[..size]);
        }
        let head = npy::Header::bytes(descr, shape);
        let header =
            Header { dtype: descr.to_owned(), shape: shape.to_vec(), fortran: false, start: head.len() as u64 };
        Ok(Array { head, header, bytes })
    }

    /// Writes a buffer under the same header.
    pub(crate) fn write(&self, path: &Path, buffer: &Buffer) -> Result<(), Failure> {
        files::write_with(path, |file| {
            file.write_all(&self.head)?;
            buffer.write_to(file)
        })
    }
}
