//! Cubins: ELF files of GPU code.

use object::LittleEndian;
use object::elf::{EM_CUDA, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader};
use roundonce_isa::{Finding, Location};

use crate::disassemble::{Layout, disasm_bundles};
use crate::rules;

/// One kernel of a cubin: a section `.text.NAME`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
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

impl Cubin {
    /// Whether bytes begin as every ELF file does.
    pub fn is_elf(bytes: &[u8]) -> bool {
        bytes.starts_with(&object::elf::ELFMAG)
    }

    /// Parses a cubin.
    ///
    /// # Errors
    /// If it is no ELF file of a GPU, of another GPU family, damaged, or its code is not whole bundles.
    pub fn parse(bytes: &[u8]) -> Result<Cubin, Finding> {
        let fault = |message: String| rules::CUBIN.finding(Location::Whole, message);
        let broken = |error: object::read::Error| fault(format!("the ELF file cannot be read: {error}"));
        let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(broken)?;
        let endian = header.endian().map_err(broken)?;
        let machine = header.e_machine(endian);
        if machine != EM_CUDA {
            return Err(fault(format!("the ELF file's machine is {machine}, not {EM_CUDA}, an NVIDIA GPU")));
        }
        let target = header.e_flags(endian) & 0xff;
        if !MAXWELL_TARGETS.contains(&target) {
            return Err(fault(format!("the cubin is for sm_{target}: its words are not Maxwell's"))
                .help("sm_50 to sm_62 have 64-bit words with control words"));
        }
        let sections = header.sections(endian, bytes).map_err(broken)?;
        let (mut kernels, mut read) = (Vec::new(), 0);
        for section in sections.iter() {
            let name = sections.section_name(endian, section).map_err(broken)?;
            let Some(name) = name.strip_prefix(b".text.") else { continue };
            let code = section.data(endian, bytes).map_err(broken)?;
            // Many sections of the same bytes would be far larger than the file.
            read += name.len() + code.len();
            if read > bytes.len() {
                return Err(fault("the sections of code overlap: together they are larger than the file".to_owned()));
            }
            let name = String::from_utf8_lossy(name).into_owned();
            kernels.push(Kernel { words: words(code).map_err(|finding| named(finding, &name))?, name });
        }
        Ok(Cubin { target, kernels })
    }

    /// The kernels as text, each under its label `.text.NAME:`. Words of no known encoding are `.dword`.
    pub fn disassemble(&self, layout: &Layout) -> Result<String, Finding> {
        let mut out = String::new();
        for kernel in &self.kernels {
            out.push_str(&format!(".text.{}:\n", kernel.name));
            out.push_str(&disasm_bundles(&kernel.words, layout).map_err(|finding| named(finding, &kernel.name))?);
        }
        Ok(out)
    }
}

fn named(mut finding: Finding, kernel: &str) -> Finding {
    finding.message = format!("kernel `{kernel}`: {}", finding.message);
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
