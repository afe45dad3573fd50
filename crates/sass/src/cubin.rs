//! Cubins: ELF files of GPU code.

use std::collections::BTreeMap;

use object::LittleEndian;
use object::elf::{EM_CUDA, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader};
use roundonce_isa::{Finding, Location};

use crate::check::listing_findings;
use crate::decode::decode_for;
use crate::disassemble::{Layout, disasm_bundles};
use crate::generation::Generation;
use crate::listing::{Code, Line, Listing};
use crate::rules;
use crate::schedule::Control;

/// One kernel of a cubin: a section `.text.NAME`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Where its code begins in the file, in bytes.
    pub offset: usize,
    /// Its code, the control words included.
    pub words: Vec<u64>,
}

/// A parsed cubin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cubin {
    /// The target: `sm_50` is 50.
    pub target: u32,
    /// Its kernels, in the file's order.
    pub kernels: Vec<Kernel>,
}

/// The targets whose code has 64-bit words with control words: Maxwell and Pascal.
pub const MAXWELL_TARGETS: core::ops::RangeInclusive<u32> = 50..=62;

/// The target that the header names. Source: cubins of ptxas 12.9 and 13.5; ABI version 8 came with CUDA 12.8 for
/// sm_100 and with CUDA 13 for every target.
fn target(abi_version: u8, flags: u32) -> u32 {
    if abi_version >= 8 { flags >> 8 & 0xff } else { flags & 0xff }
}

/// The code of a GPU's ELF file, of any target.
pub(crate) struct Image<'a> {
    pub(crate) target: u32,
    pub(crate) sections: Vec<Section<'a>>,
    /// By their names.
    data: Vec<Data<'a>>,
    /// What stands in bank 4: by their places.
    pub(crate) addresses: Vec<Address<'a>>,
}

/// The address of a variable, which a section of bank 4 holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Address<'a> {
    /// The section of bank 4.
    pub(crate) bank: &'a str,
    /// The place in it, in bytes.
    pub(crate) place: u64,
    /// The section of the variable, and the place there.
    pub(crate) section: &'a str,
    pub(crate) offset: u64,
}

/// Any other section.
pub(crate) struct Data<'a> {
    pub(crate) name: &'a str,
    /// Empty where the file holds none.
    pub(crate) bytes: &'a [u8],
    pub(crate) size: u64,
}

/// A section `.text.NAME`.
pub(crate) struct Section<'a> {
    pub(crate) name: String,
    /// Where its code begins in the file.
    pub(crate) offset: usize,
    pub(crate) code: &'a [u8],
}

/// How the sections of bank 4 begin: those of a file, or of one kernel with its name behind.
pub(crate) const BANK_4: &str = ".nv.constant4";

pub(crate) fn fault(message: String) -> Finding {
    rules::CUBIN.finding(Location::Whole, message)
}

impl<'a> Image<'a> {
    /// # Errors
    /// If it is no ELF file of a GPU, or damaged.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Image<'a>, Finding> {
        let broken = |error: object::read::Error| fault(format!("the ELF file cannot be read: {error}"));
        let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(broken)?;
        let endian = header.endian().map_err(broken)?;
        let machine = header.e_machine(endian);
        if machine != EM_CUDA {
            return Err(fault(format!("the ELF file's machine is {machine}, not {EM_CUDA}, an NVIDIA GPU")));
        }
        let target = target(header.e_ident().abi_version, header.e_flags(endian));
        let table = header.sections(endian, bytes).map_err(broken)?;
        let (mut sections, mut others, mut names, mut read) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for section in table.iter() {
            let name = table.section_name(endian, section).map_err(broken)?;
            names.push(str::from_utf8(name).unwrap_or_default());
            let Some(name) = name.strip_prefix(b".text.") else {
                if let (Ok(name), Ok(bytes)) = (str::from_utf8(name), section.data(endian, bytes)) {
                    others.push(Data { name, bytes, size: section.sh_size(endian) });
                }
                continue;
            };
            let code = section.data(endian, bytes).map_err(broken)?;
            // Many sections of the same bytes would be far larger than the file.
            read += name.len() + code.len();
            if read > bytes.len() {
                return Err(fault("the sections of code overlap: together they are larger than the file".to_owned()));
            }
            let name = String::from_utf8_lossy(name).into_owned();
            sections.push(Section { name, offset: section.sh_offset(endian) as usize, code });
        }
        Ok(Image::of(target, sections, others).with_addresses(&names))
    }

    pub(crate) fn of(target: u32, sections: Vec<Section<'a>>, mut data: Vec<Data<'a>>) -> Image<'a> {
        data.sort_by_key(|section| section.name);
        Image { target, sections, data, addresses: Vec::new() }
    }

    /// Reads the relocations of bank 4 by the symbols' sections, whose names are in the file's order.
    fn with_addresses(mut self, names: &[&'a str]) -> Image<'a> {
        /// An address of 64 bits. Source: cubins of ptxas 12.9.
        const ADDRESS: u64 = 2;
        let symbols = self.data(".symtab").map_or(&[][..], |data| data.bytes.as_chunks::<24>().0);
        let half = |bytes: &[u8]| bytes.first_chunk::<2>().map_or(0, |bytes| u16::from_le_bytes(*bytes));
        let word = |bytes: &[u8]| bytes.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let mut addresses = Vec::new();
        for table in &self.data {
            let Some(bank) = table.name.strip_prefix(".rel").filter(|bank| bank.starts_with(BANK_4)) else { continue };
            for entry in table.bytes.as_chunks::<16>().0 {
                let (place, info) = (word(entry), word(&entry[8..]));
                let symbol = symbols.get((info >> 32) as usize).filter(|_| info & 0xffff_ffff == ADDRESS);
                let Some(symbol) = symbol else { continue };
                let Some(section) = names.get(usize::from(half(&symbol[6..]))) else { continue };
                addresses.push(Address { bank, place, section, offset: word(&symbol[8..]) });
            }
        }
        self.addresses = addresses;
        self
    }

    /// A section that is no code.
    pub(crate) fn data(&self, name: &str) -> Option<&Data<'a>> {
        let first = self.data.partition_point(|section| section.name < name);
        self.data.get(first).filter(|section| section.name == name)
    }
}

/// Of a target that is not known, the one with every instruction.
pub(crate) fn generation(target: u32) -> Generation {
    Generation::of(target).unwrap_or_default()
}

impl Cubin {
    /// Whether bytes begin as every ELF file does.
    pub fn is_elf(bytes: &[u8]) -> bool {
        bytes.starts_with(&object::elf::ELFMAG)
    }

    /// Parses a cubin of Maxwell or Pascal.
    ///
    /// # Errors
    /// If it is no ELF file of a GPU, of another GPU family, damaged, or its code is not whole bundles.
    pub fn parse(bytes: &[u8]) -> Result<Cubin, Finding> {
        let Image { target, sections, .. } = Image::read(bytes)?;
        if !MAXWELL_TARGETS.contains(&target) {
            return Err(fault(format!("the cubin is for sm_{target}: its words are not Maxwell's"))
                .help("sm_50 to sm_62 have 64-bit words with control words"));
        }
        let kernel = |Section { name, offset, code }| {
            let words = words(code).map_err(|finding| named(finding, &name))?;
            Ok(Kernel { name, offset, words })
        };
        Ok(Cubin { target, kernels: sections.into_iter().map(kernel).collect::<Result<_, Finding>>()? })
    }

    /// The GPUs whose instructions they are.
    pub fn generation(&self) -> Generation {
        generation(self.target)
    }

    /// The kernels' words with their scheduling, each located in the file in words of 8 bytes.
    pub fn listing(&self) -> Listing {
        let mut listing = Listing { generation: self.generation(), ..Listing::default() };
        for kernel in &self.kernels {
            listing.kernels.push((kernel.name.clone(), listing.lines.len()));
            for (index, bundle) in kernel.words.chunks_exact(4).enumerate() {
                let control = Control(bundle[0]);
                for (place, slot) in control.slots().into_iter().enumerate() {
                    listing.lines.push(Line {
                        code: Code::Word(bundle[place + 1]),
                        location: Location::Word(kernel.offset / 8 + 4 * index + place + 1),
                        slot: Some(slot),
                        pairs: slot.pairs(),
                        word: None,
                        control_top: place == 0 && control.top(),
                    });
                }
            }
        }
        listing
    }

    /// Every violation of a rule, and the number of words of no known encoding.
    pub fn check(&self) -> (Vec<Finding>, usize) {
        let listing = self.listing();
        let unknown =
            |line: &&Line| matches!(line.code, Code::Word(word) if decode_for(word, listing.generation).is_err());
        let kernels: BTreeMap<usize, &Kernel> = self.kernels.iter().map(|kernel| (kernel.offset, kernel)).collect();
        let with_place = |finding: Finding| {
            let Location::Word(word) = finding.location else { return finding };
            match kernels.range(..=8 * word).next_back() {
                Some((offset, kernel)) => placed(finding, &kernel.name, 8 * word - offset),
                None => finding,
            }
        };
        let findings = listing_findings("", &listing).into_iter().map(with_place).collect();
        (findings, listing.lines.iter().filter(unknown).count())
    }

    /// The kernels as text, each under its label `.text.NAME:`, as its own target has them. Words of no known encoding
    /// are `.dword`.
    pub fn disassemble(&self, layout: &Layout) -> Result<String, Finding> {
        let layout = &Layout { generation: self.generation(), ..*layout };
        let mut out = String::new();
        for kernel in &self.kernels {
            out.push_str(&format!(".text.{}:\n", kernel.name));
            out.push_str(&disasm_bundles(&kernel.words, layout).map_err(|finding| named(finding, &kernel.name))?);
        }
        Ok(out)
    }
}

pub(crate) fn named(mut finding: Finding, kernel: &str) -> Finding {
    finding.message = format!("kernel `{kernel}`: {}", finding.message);
    finding
}

/// A finding in a kernel's code, with the kernel and the address there.
pub(crate) fn placed(mut finding: Finding, kernel: &str, address: usize) -> Finding {
    finding.message = format!("kernel `{kernel}`, {address:#06x}: {}", finding.message);
    finding
}

/// Bytes as words, lowest byte first, in whole bundles.
///
/// # Errors
/// If the bytes are not a whole number of 32-byte bundles.
pub(crate) fn words(bytes: &[u8]) -> Result<Vec<u64>, Finding> {
    if !bytes.len().is_multiple_of(32) {
        let message = format!("{} bytes are not a whole number of 32-byte bundles", bytes.len());
        return Err(rules::LAYOUT.finding(Location::Word(bytes.len() / 8), message));
    }
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}
