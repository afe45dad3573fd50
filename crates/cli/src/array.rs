//! Arrays in NumPy's .npy format, as the bytes they hold.

use std::io::Cursor;
use std::path::Path;

use npyz::{DType, Endianness, NpyHeader};

use crate::{Failure, files};

/// An array: its bytes, and the header that says what they are.
pub(crate) struct Array {
    header: Vec<u8>,
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
        let fault = |problem: String| Failure::Input(format!("{}: {problem}", path.display()));
        let mut bytes = files::read(path)?;
        let mut cursor = Cursor::new(bytes.as_slice());
        let header = NpyHeader::from_reader(&mut cursor).map_err(|error| fault(format!("not a .npy file: {error}")))?;
        let start = cursor.position() as usize;
        let element = match header.dtype() {
            DType::Plain(ty) if ty.endianness() != Endianness::Big => ty.num_bytes(),
            dtype => return Err(fault(format!("its element type {} is not supported", dtype.descr()))),
        };
        let elements = header.shape().iter().try_fold(1u64, |product, &length| product.checked_mul(length));
        let expected = elements.zip(element).and_then(|(count, size)| count.checked_mul(size as u64));
        if expected != Some((bytes.len() - start) as u64) {
            return Err(fault(format!(
                "its header asks for another number of bytes than the {} it has",
                bytes.len() - start
            )));
        }
        let data = bytes.split_off(start);
        Ok(Array { header: bytes, bytes: data })
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
        Ok(Array { header: header(descr, count), bytes: zeros })
    }

    /// Writes the bytes under the same header.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        files::write(path, &[&self.header, bytes].concat())
    }
}

/// The header of a one-dimensional array, format version 1.0.
fn header(descr: &str, count: usize) -> Vec<u8> {
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}");
    // The data begins at a multiple of 64; the text ends in a newline.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(padded - text.len() - 1));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}
