//! Arrays in NumPy's .npy format, as the bytes they hold.

use std::io::{Cursor, Read, Seek, Write};
use std::path::Path;

use roundonce::elements::Elements;
use roundonce::exec::Buffer;
use roundonce_vectors::npy;

use crate::{Failure, files, output};

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

    /// What a message says behind the element's type: NumPy counts bytes, so that `f16` is no binary16.
    pub(crate) fn remark(&self) -> &'static str {
        match self.element() {
            "f16" => " (long double, of 16 bytes; binary16 is f2)",
            "c32" => " (complex long double, of 32 bytes)",
            _ => "",
        }
    }

    /// Elements of a file as they lie in C order, the last axis running fastest.
    fn in_c_order(&self, bytes: &[u8]) -> Vec<u8> {
        let count = self.shape.iter().product::<u64>() as usize;
        let Some(size) = bytes.len().checked_div(count).filter(|size| *size > 0) else { return bytes.to_vec() };
        // Of each axis its length, how far its elements are apart, and which one is next.
        let mut stride = size;
        let mut axes: Vec<[usize; 3]> = Vec::with_capacity(self.shape.len());
        for length in self.shape.iter().map(|&length| length as usize) {
            axes.push([length, stride, 0]);
            stride *= length;
        }
        let (mut ordered, mut at) = (Vec::with_capacity(bytes.len()), 0);
        for _ in 0..count {
            ordered.extend_from_slice(&bytes[at..at + size]);
            for [length, stride, next] in axes.iter_mut().rev() {
                (*next, at) = (*next + 1, at + *stride);
                if *next < *length {
                    break;
                }
                (*next, at) = (0, at - *stride * *length);
            }
        }
        ordered
    }
}

/// An array: its bytes, and the header that says what they are.
pub(crate) struct Array {
    /// As it stands in a file of these bytes.
    head: Vec<u8>,
    pub(crate) header: Header,
    /// Little-endian elements.
    pub(crate) bytes: Vec<u8>,
}

impl Array {
    /// Reads a .npy file whole, its elements in C order whatever the file's was.
    pub(crate) fn read(path: &Path) -> Result<Array, Failure> {
        let array = Array::of_file(path)?;
        let Array { header, bytes, .. } = &array;
        if !header.fortran {
            return Ok(array);
        }
        let (head, bytes) = (npy::Header::bytes(&header.dtype, &header.shape), header.in_c_order(bytes));
        let header = Header { fortran: false, start: head.len() as u64, ..array.header };
        Ok(Array { header, head, bytes })
    }
    /// The same in the file's order: its bytes.
    pub(crate) fn of_file(path: &Path) -> Result<Array, Failure> {
        let mut bytes = files::read_up_to(path, u64::MAX)?;
        let size = bytes.len() as u64;
        let header = Header::read(path, &mut Cursor::new(bytes.as_slice()), size)?;
        // The data stays where it is: it may be most of the memory.
        let head = bytes.drain(..header.start as usize).collect();
        Ok(Array { head, header, bytes })
    }

    /// Elements as written in an argument: `zeros:f32:1024`; `None` for a text of another kind.
    pub(crate) fn written(text: &str) -> Option<Result<Array, Failure>> {
        let elements = Elements::parse(text)?.map_err(Failure::Input);
        if elements.is_ok() {
            Elements::notes(text).iter().for_each(|note| output::note(note));
        }
        Some(elements.map(|Elements { ty, shape, bytes }| {
            let head = npy::Header::bytes(ty.descr, &shape);
            let header = Header { dtype: ty.descr.to_owned(), shape, fortran: false, start: head.len() as u64 };
            Array { head, header, bytes }
        }))
    }

    /// Writes a buffer under the same header.
    pub(crate) fn write(&self, path: &Path, buffer: &Buffer) -> Result<(), Failure> {
        files::write_with(path, |file| {
            file.write_all(&self.head)?;
            buffer.write_to(file)
        })
    }
}
