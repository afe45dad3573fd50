//! Arrays in NumPy's .npy format, as the bytes they hold.

use std::io::{Cursor, Read, Seek};
use std::path::Path;

use npyz::{DType, Endianness, Order};

use crate::{Failure, files};

/// What a file's header says; the file has as many bytes.
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
        let header = roundonce_vectors::read_npy_header(&mut *file)
            .map_err(|error| fault(format!("not a .npy file: {error}")))?;
        let start = file.stream_position()?;
        let (dtype, element) = match header.dtype() {
            DType::Plain(ty) if ty.endianness() == Endianness::Big => {
                return Err(fault(format!("its elements are big-endian ({ty}): expected little-endian ones")));
            }
            DType::Plain(ty) if !ty.uses_pickled_array() => (ty.to_string(), ty.num_bytes()),
            dtype => return Err(fault(format!("its element type {} is not supported", dtype.descr()))),
        };
        let elements = header.shape().iter().try_fold(1u64, |product, &length| product.checked_mul(length));
        let promised = elements.zip(element).and_then(|(count, size)| count.checked_mul(size as u64));
        let found = size.saturating_sub(start);
        if promised != Some(found) {
            let shape = shape_text(header.shape());
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
        let shape = header.shape().to_vec();
        let fortran = header.order() == Order::Fortran && shape.len() > 1;
        Ok(Header { dtype, shape, fortran, start })
    }

    /// The element's type without its byte order.
    pub(crate) fn element(&self) -> &str {
        self.dtype.trim_start_matches(['<', '|'])
    }
}

/// An array: its bytes, and the header that says what they are.
pub(crate) struct Array {
    pub(crate) header: Vec<u8>,
    /// The element's type as NumPy writes it, without its byte order: `f4`.
    pub(crate) element: String,
    /// Little-endian elements, in the order of the file.
    pub(crate) bytes: Vec<u8>,
}

/// The element types of `zeros:TYPE:COUNT`, with NumPy's names. NumPy has no bf16: two opaque bytes stand for it.
const TYPES: [(&str, &str, usize); 12] = [
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

impl Array {
    /// Reads a .npy file whole.
    pub(crate) fn read(path: &Path) -> Result<Array, Failure> {
        let mut bytes = files::read(path)?;
        let size = bytes.len() as u64;
        let found = Header::read(path, &mut Cursor::new(bytes.as_slice()), size)?;
        let data = bytes.split_off(found.start as usize);
        Ok(Array { header: bytes, element: found.element().to_owned(), bytes: data })
    }

    /// Reads `zeros:f32:1024`.
    pub(crate) fn zeros(text: &str) -> Result<Array, Failure> {
        let parts = text.strip_prefix("zeros:").and_then(|rest| rest.split_once(':'));
        let found = parts.and_then(|(ty, count)| {
            let (_, descr, size) = TYPES.iter().find(|(name, ..)| *name == ty)?;
            let count: usize = count.parse().ok()?;
            Some((*descr, count, size.checked_mul(count).filter(|bytes| *bytes <= isize::MAX as usize)?))
        });
        let Some((descr, count, bytes)) = found else {
            let names: Vec<&str> = TYPES.iter().map(|(name, ..)| *name).collect();
            return Err(Failure::Input(format!("`{text}` is not zeros:TYPE:COUNT with a type of {}", names.join(" "))));
        };
        let mut zeros = Vec::new();
        zeros.try_reserve_exact(bytes).map_err(|_| Failure::Input(format!("`{text}`: no memory for {bytes} bytes")))?;
        zeros.resize(bytes, 0);
        let element = descr.trim_start_matches(['<', '|']).to_owned();
        Ok(Array { header: header(descr, &[count as u64]), element, bytes: zeros })
    }

    /// Writes the bytes under the same header.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        files::write(path, &[&self.header, bytes].concat())
    }
}

/// As Python writes a tuple.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("({}{})", lengths.join(", "), if shape.len() == 1 { "," } else { "" })
}

/// The header of an array in C order, format version 1.0.
pub(crate) fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    roundonce_vectors::npy_header(descr, &shape_text(shape))
}
