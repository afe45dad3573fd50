//! The header of a `.npy` array.
//!
//! Source: NumPy, numpy.lib.format.

use std::io::{self, Read};

use npyz::NpyHeader;

/// Bytes of a header, at most: NumPy writes less than a hundred for an array, and reads ten thousand.
const LONGEST: u32 = 1 << 16;

/// Reads a header off the beginning of a file, up to where the data begins.
///
/// # Errors
/// If it is none, or its shape has more elements than 64 bits count.
///
/// ```
/// let read = |shape| roundonce_vectors::read_npy_header(roundonce_vectors::npy_header("<f4", shape).as_slice());
/// assert_eq!(read("(3, 5)").unwrap().shape(), [3, 5]);
/// let error = read("(4294967296, 4294967296)").err().unwrap();
/// assert_eq!(error.to_string(), "no array has the shape (4294967296, 4294967296)");
/// ```
pub fn read_npy_header(mut file: impl Read) -> io::Result<NpyHeader> {
    let mut header = vec![0; 8];
    file.read_exact(&mut header)?;
    // Version 1 counts the text's bytes in 16 bits, the later ones in 32.
    let mut length = [0; 4];
    let width = if header[6] == 1 { 2 } else { 4 };
    file.read_exact(&mut length[..width])?;
    header.extend(&length[..width]);
    let start = header.len();
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        let problem = format!("its header has {length} bytes by its own account: expected at most {LONGEST}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    file.take(length.into()).read_to_end(&mut header)?;
    if header.len() - start < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // npyz multiplies what the shape says without looking.
    let text = String::from_utf8_lossy(&header[start..]);
    if let Some(shape) = shape(&text)
        && !countable(shape)
    {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("no array has the shape ({shape})")));
    }
    // Its errors quote all of the text.
    NpyHeader::from_reader(header.as_slice()).map_err(|error| {
        let text: String = error.to_string().chars().take(200).collect();
        io::Error::new(error.kind(), text)
    })
}

/// What stands between the brackets of the shape.
fn shape(header: &str) -> Option<&str> {
    let (_, after) = header.rsplit_once("shape")?;
    let (_, after) = after.split_once('(')?;
    Some(after.split_once(')')?.0)
}

/// Whether 64 bits count the elements of a shape, each axis after the other.
fn countable(shape: &str) -> bool {
    let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
    let mut elements = 1u64;
    for length in lengths {
        // What is no number is refused as such later.
        let digits = length.trim_end_matches('L');
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            match digits.parse().ok().and_then(|length| elements.checked_mul(length)) {
                Some(product) => elements = product,
                None => return false,
            }
        }
    }
    true
}

/// The header of a `.npy` array in C order, format version 1.0: `descr` as NumPy spells the element's type, `shape` as
/// Python writes a tuple.
///
/// ```
/// let header = roundonce_vectors::npy_header("<f4", "(3,)");
/// assert_eq!((header.len() % 64, &header[1..6]), (0, b"NUMPY".as_slice()));
/// ```
pub fn npy_header(descr: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // The data begins at a multiple of 64; the text ends in a newline.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(padded - text.len() - 1));
    text.push('\n');
    [b"\x93NUMPY\x01\x00".as_slice(), &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}
