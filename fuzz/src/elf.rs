//! ELF files from choices, byte by byte: a header, sections with names, sizes and offsets, and whatever is wrong with them.

use crate::Choices;

/// What the sections are called.
const NAMES: [&str; 8] =
    [".text.k", ".text.other", ".text.", ".shstrtab", ".strtab", ".nv.info", ".symtab", ".text.k.long"];
const SECTION_HEADER: usize = 64;

struct Section {
    name: u32,
    kind: u32,
    offset: u64,
    size: u64,
    link: u32,
    entry_size: u64,
}

/// A number as it should be, or seldom another.
fn nearly(choices: &mut Choices<'_>, right: u64) -> u64 {
    if !choices.one_in(24) {
        return right;
    }
    match choices.below(6) {
        0 => right.wrapping_add(1),
        1 => right.wrapping_sub(1),
        2 => right << 32,
        3 => u64::MAX,
        4 => choices.below(1 << 16) as u64,
        _ => choices.bits(64),
    }
}

/// The file.
pub fn generate(choices: &mut Choices<'_>) -> Vec<u8> {
    // The names, the first of them empty, behind the header.
    let (mut names, mut places) = (vec![0], Vec::new());
    for name in NAMES {
        places.push(names.len() as u32);
        names.extend(name.bytes());
        names.push(0);
    }
    let mut bytes = vec![0; 64];
    let names_at = bytes.len() as u64;
    bytes.extend(&names);
    bytes.resize(bytes.len().next_multiple_of(32), 0);

    let mut sections: Vec<Section> = Vec::new();
    let count = 1 + choices.below(12);
    for _ in 0..count {
        let which = choices.below(NAMES.len());
        let words = 4 * choices.below(5);
        let mut offset = bytes.len() as u64;
        // Where an earlier one is, or on its own.
        match sections.last() {
            Some(section) if choices.one_in(4) => offset = section.offset,
            _ => (0..words).for_each(|_| bytes.extend(choices.bits(64).to_le_bytes())),
        }
        let size = nearly(choices, 8 * words as u64);
        sections.push(Section {
            name: nearly(choices, places[which].into()) as u32,
            kind: nearly(choices, section_type(which)) as u32,
            offset: nearly(choices, offset),
            size,
            link: choices.below(4) as u32,
            entry_size: if which == 6 { 24 } else { 0 },
        });
    }
    let kind = nearly(choices, 3) as u32;
    let size = nearly(choices, names.len() as u64);
    sections.push(Section { name: places[3], kind, offset: nearly(choices, names_at), size, link: 0, entry_size: 0 });

    let headers_at = bytes.len() as u64;
    bytes.extend([0; SECTION_HEADER]);
    for section in &sections {
        bytes.extend(section.name.to_le_bytes());
        bytes.extend(section.kind.to_le_bytes());
        bytes.extend(6u64.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.extend(section.offset.to_le_bytes());
        bytes.extend(section.size.to_le_bytes());
        bytes.extend(section.link.to_le_bytes());
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(32u64.to_le_bytes());
        bytes.extend(section.entry_size.to_le_bytes());
    }
    // Many headers that are one: as many as the file's bytes allow.
    if choices.one_in(8) {
        let last = bytes[bytes.len() - 2 * SECTION_HEADER..bytes.len() - SECTION_HEADER].to_vec();
        for _ in 0..choices.below(64) {
            let at = bytes.len() - SECTION_HEADER;
            bytes.splice(at..at, last.iter().copied());
        }
    }
    let headers = (bytes.len() - headers_at as usize) / SECTION_HEADER;

    let target = *choices.pick(&[50u64, 52, 53, 60, 61, 62, 70]);
    let header: [(usize, usize, u64); 12] = [
        (0, 4, nearly(choices, 0x464c_457f)),
        (4, 3, nearly(choices, 0x01_01_02)),
        (16, 2, nearly(choices, 2)),
        (18, 2, nearly(choices, 190)),
        (20, 4, nearly(choices, 1)),
        (40, 8, nearly(choices, headers_at)),
        (48, 4, nearly(choices, target | target << 16 | 0x500)),
        (52, 2, nearly(choices, 64)),
        (54, 2, 56),
        (58, 2, nearly(choices, SECTION_HEADER as u64)),
        (60, 2, nearly(choices, headers as u64)),
        (62, 2, nearly(choices, headers as u64 - 1)),
    ];
    for (at, width, value) in header {
        bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
    if choices.one_in(16) {
        let cut = choices.below(bytes.len());
        bytes.truncate(cut);
    }
    bytes
}

/// A section's type by its name: bits, a symbol table or strings.
fn section_type(which: usize) -> u64 {
    match which {
        3 | 4 => 3,
        6 => 2,
        _ => 1,
    }
}
