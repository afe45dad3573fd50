//! Which line of the PTX each instruction of a cubin comes from: the section `.nv_debug_line_sass`, a DWARF line table
//! that the assembler writes where it was given `-lineinfo` or `-g`.

use std::collections::HashMap;

use gimli::{DebugLine, DebugLineOffset};
use object::LittleEndian;
use object::elf::{FileHeader64, Rela64};
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, Sym};
use roundonce_isa::Finding;

use crate::cubin::fault;

/// The lines of a kernel's instructions: pairs of the first byte that a line is about and the line, in order.
pub(crate) type Lines = Vec<(u64, u32)>;

/// What a cubin says about the PTX that it was made of.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct PtxLines {
    /// Of each kernel.
    pub(crate) kernels: HashMap<String, Lines>,
    /// The PTX, line by line, where the cubin has it.
    pub(crate) text: Vec<String>,
}

/// The number of a section, in the upper half of an address.
const SECTION: u32 = 32;

/// The line tables; none where the assembler was asked for none.
///
/// # Errors
/// If the file or a table is damaged.
pub(crate) fn ptx_lines(bytes: &[u8]) -> Result<PtxLines, Finding> {
    let broken = |error: object::read::Error| fault(format!("the ELF file cannot be read: {error}"));
    let damaged = |error: gimli::Error| fault(format!("the table of PTX lines cannot be read: {error}"));
    let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(broken)?;
    let endian = header.endian().map_err(broken)?;
    let sections = header.sections(endian, bytes).map_err(broken)?;
    let Some((table, section)) = sections.section_by_name(endian, b".nv_debug_line_sass") else {
        return Ok(PtxLines::default());
    };
    let mut data = section.data(endian, bytes).map_err(broken)?.to_vec();
    // The addresses are the sections' own. With the section's number above them, one table is about all.
    for section in sections.iter().filter(|section| section.info_link(endian) == table) {
        // Each relocation's place, symbol and addend; without one of its own, it is what stands at the place.
        type Relocation = (u64, u32, Option<u64>);
        let (relocations, symbols): (Vec<Relocation>, _) =
            if let Some((all, symbols)) = section.rel(endian, bytes).map_err(broken)? {
                (all.iter().map(|one| (one.r_offset(endian), one.r_sym(endian), None)).collect(), symbols)
            } else if let Some((all, symbols)) = section.rela(endian, bytes).map_err(broken)? {
                let of = |one: &Rela64<LittleEndian>| {
                    (one.r_offset(endian), one.r_sym(endian, false), Some(one.r_addend(endian) as u64))
                };
                (all.iter().map(of).collect(), symbols)
            } else {
                continue;
            };
        let symbols = sections.symbol_table_by_index(endian, bytes, symbols).map_err(broken)?;
        for (at, symbol, addend) in relocations {
            let symbol = symbols.symbol(object::read::SymbolIndex(symbol as usize)).map_err(broken)?;
            if let Some(place) = data.get_mut(at as usize..).and_then(|data| data.first_chunk_mut::<8>()) {
                let address = symbol.st_value(endian).wrapping_add(addend.unwrap_or(u64::from_le_bytes(*place)));
                *place = (u64::from(symbol.st_shndx(endian)) << SECTION | address & 0xffff_ffff).to_le_bytes();
            }
        }
    }
    let lines = DebugLine::new(&data, gimli::LittleEndian);
    let mut of_section: HashMap<u64, Lines> = HashMap::new();
    let mut start = 0;
    while start < data.len() {
        let program = lines.program(DebugLineOffset(start), 8, None, None).map_err(damaged)?;
        start += program.header().unit_length() + 4;
        let mut rows = program.rows();
        while let Some((_, row)) = rows.next_row().map_err(damaged)? {
            if row.end_sequence() {
                continue;
            }
            if let Some(line) = row.line() {
                let of_section = of_section.entry(row.address() >> SECTION).or_default();
                of_section.push((row.address() & 0xffff_ffff, line.get() as u32));
            }
        }
    }
    let mut kernels = HashMap::new();
    for (index, section) in sections.enumerate() {
        let name = sections.section_name(endian, section).map_err(broken)?;
        if let Some(name) = name.strip_prefix(b".text.")
            && let Some(mut lines) = of_section.remove(&(index.0 as u64))
        {
            lines.sort_by_key(|(address, _)| *address);
            kernels.insert(String::from_utf8_lossy(name).into_owned(), lines);
        }
    }
    let text = match sections.section_by_name(endian, b".nv_debug_ptx_txt") {
        Some((_, section)) => section.data(endian, bytes).map_err(broken)?,
        None => &[],
    };
    let text = text.split(|byte| *byte == 0).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    Ok(PtxLines { kernels, text })
}

/// The line of an address.
pub(crate) fn line_at(lines: &Lines, address: u64) -> Option<u32> {
    let after = lines.partition_point(|(first, _)| *first <= address);
    lines[..after].last().map(|(_, line)| *line)
}
