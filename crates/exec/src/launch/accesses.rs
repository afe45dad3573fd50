//! What parts of a launch accessed, and whether one of them depends on another.

use super::bytes::Bytes;
use std::fmt;
use std::ops::Range;

/// What a part accessed of a buffer or a variable.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Accesses {
    /// The parameter's or the variable's name.
    pub name: String,
    /// Which argument it is; a variable is none.
    pub argument: Option<usize>,
    /// The bytes that it wrote, with whatever values.
    pub written: Bytes,
    /// The bytes that it read, but those that no part may write, and those that the same thread wrote afterwards.
    pub read: Bytes,
}

/// A byte that makes one part depend on another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The parameter's or the variable's name.
    pub name: String,
    /// Which byte of it.
    pub byte: u64,
    /// The blocks that one part wrote it in.
    pub writer: Range<u64>,
    /// The blocks that another part wrote it in, or read it.
    pub other: Range<u64>,
    /// It wrote it too.
    pub is_written_twice: bool,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict { name, byte, writer, other, is_written_twice } = self;
        let what = if *is_written_twice { "written by" } else { "read by" };
        let blocks = |blocks: &Range<u64>| format!("blocks {} to {}", blocks.start, blocks.end.saturating_sub(1));
        write!(f, "byte {byte} of `{name}` is written by one of {} and {what} one of ", blocks(writer))?;
        write!(f, "{}: what one leaves there depends on the other, and parts do not see each other", blocks(other))
    }
}

/// The first byte, of the first memory that has one, by which one of these parts depends on another. Each is its blocks and
/// what they accessed, of the same launch.
pub fn conflict(parts: &[(Range<u64>, Vec<Accesses>)]) -> Option<Conflict> {
    let memories = parts.iter().map(|(_, accesses)| accesses.len()).max().unwrap_or(0);
    (0..memories).find_map(|memory| {
        let mut least: Option<Conflict> = None;
        let mut found = |common: Option<u64>, writer: &Range<u64>, other: &Range<u64>, name: &str, is_written_twice| {
            if let Some(byte) = common.filter(|&byte| least.as_ref().is_none_or(|least| byte < least.byte)) {
                let (writer, other) = (writer.clone(), other.clone());
                least = Some(Conflict { name: name.to_owned(), byte, writer, other, is_written_twice });
            }
        };
        let of = |place: usize| parts[place].1.get(memory).map(|it| (&parts[place].0, it));
        for (place, (blocks, one)) in (0..parts.len()).filter_map(|place| Some((place, of(place)?))) {
            for (others, other) in (0..place).filter_map(of) {
                found(other.written.first_common(&one.written), others, blocks, &one.name, true);
                found(other.written.first_common(&one.read), others, blocks, &one.name, false);
                found(one.written.first_common(&other.read), blocks, others, &one.name, false);
            }
        }
        least
    })
}
