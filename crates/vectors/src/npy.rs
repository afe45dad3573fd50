//! The header of an array in NumPy's `.npy` format: versions 1.0 to 3.0 are read, 1.0 is written.
//!
//! ```
//! use roundonce_vectors::npy::Header;
//! let bytes = Header::bytes("<f4", &[3, 5]);
//! let header = Header::read(bytes.as_slice())?;
//! assert_eq!((header.shape.as_slice(), header.fortran), ([3, 5].as_slice(), false));
//! assert_eq!(header.element().map(|element| (element.kind, element.size)), Ok(('f', 4)));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Source: NumPy, numpy.lib.format.
//!
//! What this is not: it reads no elements, and no types made of several (they can be told from the rest).

use std::io::{self, Read};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Bytes of a header, at most: NumPy writes less than a hundred for an array, and reads ten thousand.
const LONGEST: u32 = 1 << 16;

/// NumPy's own limit.
const MOST_AXES: usize = 64;

/// What a file says of its elements, which follow it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The type of an element as it is written, a string without its quotes: see [`element`](Header::element).
    pub descr: String,
    /// Whether the first axis runs fastest.
    pub fortran: bool,
    /// The length of each axis. Its product is at most `u64::MAX`.
    pub shape: Vec<u64>,
}

/// The type of an element, little-endian where it has a byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    /// NumPy's letter: `i` and `u` integers, `f` floats, `c` complex, `b` Boolean, `S` and `U` strings, `V` bytes.
    pub kind: char,
    /// Bytes of an element.
    pub size: usize,
}

impl Header {
    /// Reads a header off the beginning of a file, up to where the elements begin.
    ///
    /// # Errors
    /// If it is none, or its shape has more elements than 64 bits count.
    ///
    /// ```
    /// # use roundonce_vectors::npy::Header;
    /// let error = Header::read(Header::bytes("<f4", &[1 << 32, 1 << 32]).as_slice()).unwrap_err();
    /// assert_eq!(error.to_string(), "no array has the shape (4294967296, 4294967296)");
    /// ```
    pub fn read(mut file: impl Read) -> io::Result<Header> {
        let mut start = Vec::new();
        file.by_ref().take(8).read_to_end(&mut start)?;
        let Some((magic, &[major, minor])) = start.split_first_chunk().and_then(|(magic, rest)| {
            let version: &[u8; 2] = rest.try_into().ok()?;
            Some((magic, version))
        }) else {
            return Err(cut(start.len(), "a header of at least 10 bytes"));
        };
        if magic != MAGIC {
            return Err(fault("it does not begin with `\\x93NUMPY`"));
        }
        if !matches!((major, minor), (1..=3, 0)) {
            return Err(fault(format!("its format version is {major}.{minor}: expected 1.0, 2.0 or 3.0")));
        }
        // Version 1 counts the text's bytes in 16 bits, the later ones in 32.
        let mut length = [0; 4];
        file.read_exact(&mut length[..if major == 1 { 2 } else { 4 }])
            .map_err(|_| cut(start.len(), "the length of its header"))?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST {
            return Err(fault(format!("its header has {length} bytes by its own account: expected at most {LONGEST}")));
        }
        let mut text = Vec::new();
        file.take(length.into()).read_to_end(&mut text)?;
        if text.len() < length as usize {
            return Err(cut(text.len(), &format!("a header of {length} bytes")));
        }
        // What is not UTF-8 (versions 1 and 2 have Latin-1) can only be a name in a type that is not supported.
        Literal { text: &String::from_utf8_lossy(&text), at: 0 }.header().map_err(fault)
    }

    /// The bytes of a header for an array in C order: `descr` as NumPy spells the element's type. The elements after it
    /// begin at a multiple of 64.
    pub fn bytes(descr: &str, shape: &[u64]) -> Vec<u8> {
        let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {}, }}", tuple(shape));
        let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
        text.push_str(&" ".repeat(padded - text.len() - 1));
        text.push('\n');
        [MAGIC, [1, 0].as_slice(), &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
    }

    /// The element's type.
    ///
    /// # Errors
    /// What is wrong with it, if it is big-endian, made of several, a Python object, or none that NumPy has.
    pub fn element(&self) -> Result<Element, String> {
        let wrong = || format!("its element type '{}' is not supported", self.descr);
        let mut characters = self.descr.chars();
        let (order, kind) = characters.next().zip(characters.next()).ok_or_else(wrong)?;
        // Dates have a unit behind their size: <M8[ns].
        let digits = characters.as_str().split_once('[').filter(|_| matches!(kind, 'm' | 'M'));
        let size: usize = digits.map_or(characters.as_str(), |(digits, _)| digits).parse().map_err(|_| wrong())?;
        let known = match kind {
            'b' => size == 1,
            'i' | 'u' => matches!(size, 1 | 2 | 4 | 8),
            'f' => matches!(size, 2 | 4 | 8 | 16),
            'c' => matches!(size, 8 | 16 | 32),
            'm' | 'M' => size == 8,
            'S' | 'a' | 'U' | 'V' => true,
            _ => false,
        };
        let ordered = matches!(kind, 'i' | 'u' | 'f' | 'c' | 'm' | 'M') && size > 1 || kind == 'U';
        match order {
            _ if !known => Err(wrong()),
            '>' if ordered => Err(format!("its elements are big-endian ({}): expected little-endian ones", self.descr)),
            '|' if ordered => Err(wrong()),
            // A string's size is in characters of four bytes.
            '<' | '>' | '|' if kind == 'U' => Ok(Element { kind, size: size.checked_mul(4).ok_or_else(wrong)? }),
            '<' | '>' | '|' => Ok(Element { kind, size }),
            _ => Err(wrong()),
        }
    }
}

/// As Python writes a tuple: `(3,)`.
pub fn tuple(shape: &[u64]) -> String {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("({}{})", lengths.join(", "), if shape.len() == 1 { "," } else { "" })
}

fn fault(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.into())
}

fn cut(found: usize, expected: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("it ends after {found} bytes: expected {expected}"))
}

/// A Python literal as it is read: a dictionary of a string, a Boolean and a tuple.
struct Literal<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Literal<'a> {
    fn header(mut self) -> Result<Header, String> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.take('}') {
            let start = self.at;
            let key = self.string()?;
            self.expect(':')?;
            let again = match key {
                "descr" => descr.replace(self.descr()?).is_some(),
                "fortran_order" => fortran.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                _ => return Err(Literal { at: start, ..self }.fault("`descr`, `fortran_order` or `shape`")),
            };
            if again {
                return Err(format!("its header has `{key}` twice"));
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        if !self.rest().trim_start().is_empty() {
            return Err(self.fault("nothing more"));
        }
        let missing = |key| format!("its header has no `{key}`");
        Ok(Header {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn fault(&self, expected: &str) -> String {
        let found: String = self.rest().trim_start().chars().take(20).collect();
        format!("byte {} of its header: expected {expected}, found `{found}`", self.at)
    }

    fn take(&mut self, character: char) -> bool {
        self.skip_spaces();
        let there = self.rest().starts_with(character);
        if there {
            self.at += character.len_utf8();
        }
        there
    }

    fn expect(&mut self, character: char) -> Result<(), String> {
        if self.take(character) { Ok(()) } else { Err(self.fault(&format!("`{character}`"))) }
    }

    /// A string without escapes, which no key and no type that is supported has.
    fn string(&mut self) -> Result<&'a str, String> {
        self.skip_spaces();
        let mut rest = self.rest().chars();
        let quote = rest.next().filter(|quote| matches!(quote, '\'' | '"'));
        let Some((string, _)) = quote.and_then(|quote| rest.as_str().split_once(quote)) else {
            return Err(self.fault("a string"));
        };
        self.at += string.len() + 2;
        Ok(string)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.skip_spaces();
        let values = [("False", false), ("True", true)];
        let found = values.into_iter().find(|(word, _)| self.rest().starts_with(word));
        let (word, value) = found.ok_or_else(|| self.fault("`True` or `False`"))?;
        self.at += word.len();
        Ok(value)
    }

    /// A type's string, or the text of a list: a type made of several.
    fn descr(&mut self) -> Result<String, String> {
        self.skip_spaces();
        let start = self.at;
        if !self.take('[') {
            return self.string().map(str::to_owned);
        }
        let mut depth = 1;
        while depth > 0 {
            self.skip_spaces();
            match self.rest().chars().next() {
                Some('[' | '(') => depth += 1,
                Some(']' | ')') => depth -= 1,
                Some('\'' | '"') => {
                    self.string()?;
                    continue;
                }
                Some(_) => {}
                None => return Err(self.fault("`]`")),
            }
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        }
        Ok(self.text[start..self.at].chars().take(100).collect())
    }

    fn shape(&mut self) -> Result<Vec<u64>, String> {
        self.skip_spaces();
        let start = self.at;
        self.expect('(')?;
        let mut lengths = Vec::new();
        while !self.take(')') {
            let digits = self.rest().len() - self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits == 0 {
                return Err(self.fault("the length of an axis"));
            }
            lengths.push(self.rest()[..digits].parse::<u64>().ok());
            self.at += digits;
            // Python 2's mark of a long integer.
            self.take('L');
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        if lengths.len() > MOST_AXES {
            return Err(format!("it has {} axes: expected at most {MOST_AXES}", lengths.len()));
        }
        // Axis after axis: none may be absurd, even where another one is empty.
        let countable = lengths.iter().try_fold(1u64, |product, length| product.checked_mul((*length)?));
        let lengths = lengths.into_iter().collect::<Option<Vec<u64>>>().filter(|_| countable.is_some());
        lengths.ok_or_else(|| {
            let shape: String = self.text[start..self.at].chars().take(200).collect();
            format!("no array has the shape {shape}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_text(version: u8, text: &str) -> Result<Header, String> {
        let mut bytes = [MAGIC, [version, 0].as_slice(), &(text.len() as u32).to_le_bytes()].concat();
        if version == 1 {
            bytes.truncate(10);
        }
        bytes.extend(text.as_bytes());
        bytes.extend([0; 16]);
        Header::read(bytes.as_slice()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_numpy_writes() {
        let header = Header { descr: "<f4".to_owned(), fortran: true, shape: vec![3, 5] };
        for version in 1..=3 {
            let text = "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 5), }    \n";
            assert_eq!(of_text(version, text), Ok(header.clone()));
            assert_eq!(
                of_text(version, "{\"shape\":(3L,5L),\"fortran_order\":True,\"descr\":\"<f4\"}"),
                Ok(header.clone())
            );
        }
        for shape in [vec![], vec![7], vec![0, u64::MAX], vec![1; MOST_AXES]] {
            let bytes = Header::bytes("|u1", &shape);
            assert_eq!(bytes.len() % 64, 0);
            let mut rest = bytes.as_slice();
            assert_eq!(Header::read(&mut rest).unwrap().shape, shape);
            assert!(rest.is_empty(), "all of the header is read");
        }
    }

    #[test]
    fn elements() {
        let element = |descr: &str| Header { descr: descr.to_owned(), fortran: false, shape: vec![] }.element();
        for (descr, kind, size) in [
            ("<f4", 'f', 4),
            ("|u1", 'u', 1),
            (">u1", 'u', 1),
            ("<U7", 'U', 28),
            ("|S0", 'S', 0),
            ("|V2", 'V', 2),
            ("<M8[ns]", 'M', 8),
            ("<c16", 'c', 16),
        ] {
            assert_eq!(element(descr), Ok(Element { kind, size }), "{descr}");
        }
        assert_eq!(element(">f8").unwrap_err(), "its elements are big-endian (>f8): expected little-endian ones");
        for descr in [
            "",
            "<",
            "<f",
            "f4",
            "<f3",
            "<x4",
            "|O",
            "|O8",
            "|f4",
            "<f4[ns]",
            "<f99999999999999999999",
            "<U9223372036854775807",
            "é4",
        ] {
            assert_eq!(element(descr).unwrap_err(), format!("its element type '{descr}' is not supported"));
        }
        let several =
            of_text(1, "{'descr': [('a]', '<f4'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': (2,)}");
        assert!(several.unwrap().element().unwrap_err().contains("[('a]', '<f4'), "));
    }

    /// Every error says where and what was expected; none reserves what the header promises.
    #[test]
    fn what_is_wrong() {
        let long = format!("{{'shape': ({}), 'descr': '<f4', 'fortran_order': False}}", "1,".repeat(65));
        let cases = [
            ("", "byte 0 of its header: expected `{`, found ``"),
            ("{}", "its header has no `descr`"),
            ("{'descr': '<f4', 'descr': '<f4'}", "its header has `descr` twice"),
            ("{'descr': '<f4', 'shape': ()}", "its header has no `fortran_order`"),
            ("{'name': 1}", "byte 1 of its header: expected `descr`, `fortran_order` or `shape`, found `'name': 1}`"),
            ("{'descr': 4}", "byte 10 of its header: expected a string, found `4}`"),
            ("{'descr': '<f4}", "byte 10 of its header: expected a string, found `'<f4}`"),
            ("{'descr': [('a', '<f4')", "byte 23 of its header: expected `]`, found ``"),
            ("{'fortran_order': 1}", "byte 18 of its header: expected `True` or `False`, found `1}`"),
            ("{'shape': 3}", "byte 10 of its header: expected `(`, found `3}`"),
            ("{'shape': (-1,)}", "byte 11 of its header: expected the length of an axis, found `-1,)}`"),
            ("{'shape': (3 4)}", "byte 13 of its header: expected `)`, found `4)}`"),
            ("{'shape': (9223372036854775808, 2, 0)}", "no array has the shape (9223372036854775808, 2, 0)"),
            ("{'shape': (18446744073709551616,)}", "no array has the shape (18446744073709551616,)"),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': ()} 1",
                "byte 53 of its header: expected nothing more, found `1`",
            ),
            (&long, "it has 65 axes: expected at most 64"),
        ];
        for (text, problem) in cases {
            assert_eq!(of_text(2, text).unwrap_err(), problem, "{text}");
        }
        let read = |bytes: &[u8]| Header::read(bytes).unwrap_err().to_string();
        assert_eq!(read(b"1 2 3"), "it ends after 5 bytes: expected a header of at least 10 bytes");
        assert_eq!(read(b"1 2 3 4 5 6"), "it does not begin with `\\x93NUMPY`");
        assert_eq!(read(b"\x93NUMPY\x04\x00"), "its format version is 4.0: expected 1.0, 2.0 or 3.0");
        assert_eq!(read(b"\x93NUMPY\x02\x00\x01"), "it ends after 8 bytes: expected the length of its header");
        assert_eq!(read(b"\x93NUMPY\x01\x00\x09\x00{"), "it ends after 1 bytes: expected a header of 9 bytes");
        let promised = "its header has 4294967295 bytes by its own account: expected at most 65536";
        assert_eq!(read(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"), promised);
    }

    /// Any beginning of a header, and any with one byte changed, is read or refused.
    #[test]
    fn no_panic() {
        let good = b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3L, 5), }\n";
        for at in 0..good.len() {
            for byte in *b"{}[]()'\",:L0 \xff\xc3" {
                let mut text = good.to_vec();
                text[at] = byte;
                for text in [&text[..], &text[..at], &text[at..]] {
                    let bytes = [MAGIC, [1, 0].as_slice(), &(text.len() as u16).to_le_bytes(), text].concat();
                    if let Ok(header) = Header::read(bytes.as_slice()) {
                        let _ = header.element();
                    }
                }
            }
        }
    }
}
