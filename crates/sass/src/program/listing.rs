//! Kernels of listings: the code, and what nvdisasm prints of the sections beside it, read back into their bytes.

use std::collections::HashMap;

use roundonce_ir::Program;
use roundonce_isa::{Finding, Location};

use crate::cubin::{Address, BANK_4, Data, Image, Section, fault};
use crate::listing::{Code, Listing};
use crate::{Assembly, asm_file, decode, modern, rules};

/// Bytes that a text may ask for with `.zero` and `.align`: more than constants and tables of kernels have.
const MOST_BYTES: usize = 1 << 24;

/// Whether a text is a listing of whole kernels of Maxwell or Pascal, which end with `EXIT`, and not of a few
/// instructions.
pub fn is_kernel_listing(text: &str) -> bool {
    if modern::listing_target(text).is_some() {
        return false;
    }
    let (listing, _) = Listing::parse(text);
    let is_exit = |code: &Code| match code {
        Code::Statement(statement) => statement.instruction.mnemonic() == "EXIT",
        Code::Word(word) => decode(*word).is_ok_and(|instruction| instruction.mnemonic() == "EXIT"),
    };
    listing.lines.iter().any(|line| is_exit(&line.code))
}

/// The names of a listing's kernels, in its order; `listing` where it names none.
///
/// # Errors
/// Everything that cannot be read.
pub fn listing_kernels(text: &str) -> Result<Vec<String>, Vec<Finding>> {
    Ok(kernels(&asm_file(text)?).map(|(name, ..)| name).collect())
}

/// A kernel of a listing as a program, as [`lower_cubin`](super::lower_cubin) makes it of a cubin. What nvdisasm prints
/// of parameters, constants, shared memory and variables is read; where nothing says what the parameters are, they are
/// the words that the code reads of bank 0, each named by its offset: `0x140`.
///
/// # Errors
/// If the text cannot be read, has not the kernel, or the kernel has what is not run: every such instruction.
pub fn lower_kernel_listing(text: &str, name: &str, largest: usize) -> Result<Program, Vec<Finding>> {
    let assembly = asm_file(text)?;
    let Some((_, first, end)) = kernels(&assembly).find(|(known, ..)| known == name) else {
        return Err(vec![rules::ENTRY.finding(Location::Whole, format!("there is no kernel `{name}`"))]);
    };
    with_image(text, &assembly, name, first, end, |image| super::lower_image(image, name, largest))
}

/// What [`cubin_hazards`](super::cubin_hazards) finds, in a listing of kernels with their scheduling.
///
/// # Errors
/// If the text cannot be read, or has not the kernel.
pub fn listing_hazards(text: &str, name: Option<&str>, largest: usize) -> Result<Vec<Finding>, Vec<Finding>> {
    let assembly = asm_file(text)?;
    let asked: Vec<_> = kernels(&assembly).filter(|(known, ..)| name.is_none_or(|name| known == name)).collect();
    if let (Some(name), true) = (name, asked.is_empty()) {
        return Err(vec![rules::ENTRY.finding(Location::Whole, format!("there is no kernel `{name}`"))]);
    }
    let mut found = Vec::new();
    for (name, first, end) in asked {
        if assembly.code[first..end].iter().any(|instruction| !instruction.is_scheduled) {
            let message = format!("kernel `{name}` has no scheduling in the text: hazards are not checked");
            found.push(rules::UNCHECKED.finding(Location::Whole, message));
            continue;
        }
        found.extend(with_image(text, &assembly, &name, first, end, |image| {
            super::image_hazards(image, &name, largest)
        })?);
    }
    Ok(found)
}

/// With what a cubin would have of a kernel; findings are where the text has their instructions.
fn with_image<T: Located>(
    text: &str,
    assembly: &Assembly,
    name: &str,
    first: usize,
    end: usize,
    f: impl FnOnce(&Image<'_>) -> Result<T, Vec<Finding>>,
) -> Result<T, Vec<Finding>> {
    let code = assembly.part(first, end);
    let labels: HashMap<&str, i64> = assembly.labels.iter().map(|(name, at)| (name.as_str(), *at)).collect();
    let sections = Sections::read(text, &labels).map_err(|finding| vec![finding])?;
    let locate = |finding: &mut Finding| {
        if let Location::Word(word) = finding.location {
            let line = first + word / 4 * 3 + (word % 4).saturating_sub(1);
            finding.location = assembly.locations.get(line).copied().unwrap_or(Location::Whole);
        }
    };
    match f(&sections.image(name, &code)) {
        Ok(mut result) => {
            result.findings().iter_mut().for_each(locate);
            Ok(result)
        }
        Err(mut findings) => {
            findings.iter_mut().for_each(locate);
            Err(findings)
        }
    }
}

/// What may hold findings.
trait Located {
    fn findings(&mut self) -> &mut [Finding];
}
impl Located for Program {
    fn findings(&mut self) -> &mut [Finding] {
        &mut []
    }
}
impl Located for Vec<Finding> {
    fn findings(&mut self) -> &mut [Finding] {
        self
    }
}

/// Each kernel with the numbers of its first instruction and of the one behind its last.
fn kernels(assembly: &Assembly) -> impl Iterator<Item = (String, usize, usize)> {
    let all = assembly.code.len();
    let starts: Vec<(String, usize)> = match &assembly.kernels[..] {
        [] => vec![("listing".to_owned(), 0)],
        // Code before the first label belongs to the only kernel.
        [(name, _)] => vec![(name.clone(), 0)],
        several => several.to_vec(),
    };
    let ends: Vec<usize> = starts.iter().skip(1).map(|(_, first)| *first).chain([all]).collect();
    starts.into_iter().zip(ends).map(|((name, first), end)| (name, first, end))
}

/// The sections of data of a text.
#[derive(Default)]
struct Sections<'t> {
    all: Vec<Text<'t>>,
    /// Labels in them: the number of the section, and the place.
    labels: HashMap<&'t str, (usize, u64)>,
    /// What a word is that labels say.
    named: Vec<Named<'t>>,
    /// How many bytes were read.
    read: usize,
}

/// A section and its bytes.
struct Text<'t> {
    name: &'t str,
    /// Those that a cubin holds.
    bytes: Vec<u8>,
    /// Whether it holds none: shared memory, variables that begin as zero.
    is_empty: bool,
    size: u64,
}

/// A value that a label says.
struct Named<'t> {
    section: usize,
    place: usize,
    bytes: usize,
    text: &'t str,
}

impl<'t> Sections<'t> {
    fn read(text: &'t str, code: &HashMap<&str, i64>) -> Result<Sections<'t>, Finding> {
        let mut sections = Sections::default();
        let mut current = None;
        for line in text.lines() {
            let line = line.trim();
            let line =
                line.strip_prefix("/*").and_then(|rest| rest.split_once("*/")).map_or(line, |(_, rest)| rest.trim());
            if let Some(header) = line.strip_prefix(".section").filter(|rest| rest.starts_with(['\t', ' '])) {
                current = sections.begin(header.trim());
                continue;
            }
            if let Some(section) = current {
                sections.line(section, line)?;
            }
        }
        sections.resolve(code);
        Ok(sections)
    }

    /// A section's header: `.nv.shared.k,"aw",@nobits`. That of code is read elsewhere.
    fn begin(&mut self, header: &'t str) -> Option<usize> {
        let name = header.split(',').next().unwrap_or_default();
        if name.starts_with(".text") {
            return None;
        }
        self.all.push(Text { name, bytes: Vec::new(), is_empty: header.ends_with("@nobits"), size: 0 });
        Some(self.all.len() - 1)
    }

    fn line(&mut self, section: usize, line: &'t str) -> Result<(), Finding> {
        if let Some(label) = line.strip_suffix(':') {
            self.labels.insert(label, (section, self.all[section].size));
            return Ok(());
        }
        let (directive, rest) = line.split_once(['\t', ' ']).unwrap_or((line, ""));
        let rest = rest.trim();
        let bytes = match directive {
            ".byte" => 1,
            ".short" => 2,
            ".word" => 4,
            ".dword" => 8,
            ".zero" => return self.zeros(section, number(rest).unwrap_or(0)),
            ".align" => {
                let align = number(rest).unwrap_or(1).max(1);
                let size = self.all[section].size;
                return self.zeros(section, size.checked_next_multiple_of(align).map_or(u64::MAX, |end| end - size));
            }
            _ => return Ok(()),
        };
        for value in rest.split(',').map(str::trim) {
            let text = &mut self.all[section];
            match number(value) {
                Some(value) => text.bytes.extend(&value.to_le_bytes()[..bytes]),
                None => {
                    self.named.push(Named { section, place: text.bytes.len(), bytes, text: value });
                    text.bytes.extend(&[0; 8][..bytes]);
                }
            }
            text.size += bytes as u64;
        }
        Ok(())
    }

    fn zeros(&mut self, section: usize, count: u64) -> Result<(), Finding> {
        let text = &mut self.all[section];
        text.size = text.size.saturating_add(count);
        if text.is_empty {
            return Ok(());
        }
        self.read = self.read.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
        if self.read > MOST_BYTES {
            return Err(fault(format!("section {} has {} bytes", text.name, text.size)));
        }
        text.bytes.resize(text.bytes.len() + count as usize, 0);
        Ok(())
    }

    /// Distances between labels, and places of code. Symbols are ignored.
    fn resolve(&mut self, code: &HashMap<&str, i64>) {
        for Named { section, place, bytes, text } in &self.named {
            let at = |label: &str| self.labels.get(label.trim()).map(|(_, place)| *place);
            let difference = || {
                let (end, start) = text.strip_prefix('(')?.strip_suffix(')')?.split_once(" - ")?;
                Some(at(end)?.wrapping_sub(at(start)?))
            };
            let target = || {
                let (label, more) = text.trim_start_matches('(').split_once("@srel")?;
                let more = more.trim_end_matches(')').strip_prefix(" + ").map_or(Some(0), number)?;
                Some(code.get(label)?.cast_unsigned().wrapping_add(more))
            };
            let Some(value) = difference().or_else(target) else { continue };
            let place = *place..*place + bytes;
            self.all[*section].bytes[place].copy_from_slice(&value.to_le_bytes()[..*bytes]);
        }
    }

    /// As a cubin has them, with the code of one kernel.
    fn image<'a>(&'a self, name: &str, code: &'a [u8]) -> Image<'a> {
        let data = self.all.iter().map(|text| Data { name: text.name, bytes: &text.bytes, size: text.size });
        let section = Section { name: name.to_owned(), offset: 0, code };
        let mut image = Image::of(0, vec![section], data.collect());
        let of_bank = self.named.iter().filter(|named| self.all[named.section].name.starts_with(BANK_4));
        image.addresses = of_bank
            .filter_map(|named| {
                let (section, offset) = *self.labels.get(named.text)?;
                let (bank, place) = (self.all[named.section].name, named.place as u64);
                Some(Address { bank, place, section: self.all[section].name, offset })
            })
            .collect();
        image
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
