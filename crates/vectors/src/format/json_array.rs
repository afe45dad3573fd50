//! One JSON array of rows, each an object as a line of JSON Lines is one. It is read element by element, on any number of lines.

use std::io::{self, BufRead};

use super::{Options, jsonl};
use crate::verify::Verifier;

/// Where in the text a byte is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the array's bracket.
    Before,
    /// In an element or between two, in so many brackets that the element has opened.
    Inside(u64),
    /// Behind the array's end.
    Behind,
}

/// Judges every row; rows are the array's elements, counted from 1.
///
/// # Errors
/// If the stream fails.
pub(super) fn read(
    mut stream: impl BufRead,
    options: &Options,
    verifier: &mut Verifier<'_>,
    mut progress: impl FnMut(&mut Verifier<'_>),
) -> io::Result<()> {
    let mut rows = Rows { element: Vec::new(), row: 0 };
    let mut place = Place::Before;
    let (mut in_string, mut escaped) = (false, false);
    loop {
        let bytes = stream.fill_buf()?;
        let count = bytes.len();
        if count == 0 {
            break;
        }
        for &byte in bytes {
            if in_string {
                rows.element.push(byte);
                in_string = escaped || byte != b'"';
                escaped = byte == b'\\' && !escaped;
                continue;
            }
            match (place, byte) {
                (Place::Before, b'[') => place = Place::Inside(0),
                (Place::Inside(0), b',') => rows.end(options, verifier, &mut progress),
                (Place::Inside(0), b']') => {
                    // Nothing is between the brackets of an empty array.
                    if rows.row > 0 || !rows.element.trim_ascii().is_empty() {
                        rows.end(options, verifier, &mut progress);
                    }
                    place = Place::Behind;
                }
                (Place::Inside(depth), _) => {
                    in_string = byte == b'"';
                    place = Place::Inside(match byte {
                        b'[' | b'{' => depth + 1,
                        b']' | b'}' => depth.saturating_sub(1),
                        _ => depth,
                    });
                    // A message says the column in the element, not in one of its lines.
                    rows.element.push(if byte == b'\n' { b' ' } else { byte });
                }
                (Place::Behind, _) if !byte.is_ascii_whitespace() => {
                    verifier.bad(rows.row + 1, "something stands behind the array: expected the end of the file");
                    return Ok(());
                }
                (Place::Before | Place::Behind, _) => {}
            }
        }
        stream.consume(count);
    }
    if place != Place::Behind {
        verifier.bad(rows.row + 1, "the JSON array ends too early");
    }
    Ok(())
}

/// The elements that come.
struct Rows {
    /// What has been read of one.
    element: Vec<u8>,
    /// How many are whole.
    row: u64,
}

impl Rows {
    /// Judges an element that is whole now.
    fn end(&mut self, options: &Options, verifier: &mut Verifier<'_>, progress: &mut impl FnMut(&mut Verifier<'_>)) {
        self.row += 1;
        if let Err(problem) = jsonl::line(self.element.trim_ascii(), self.row, options, verifier) {
            verifier.bad(self.row, &problem);
        }
        self.element.clear();
        if self.row.is_multiple_of(4096) {
            progress(verifier);
        }
    }
}
