//! Cubins of targets with 128-bit words.

use roundonce_isa::{Finding, Location};

use super::disassemble::disasm_words;
use super::listing::word_findings;
use super::target::Target;
use super::{decode, parse};
use crate::cubin::{Image, Section, fault, named, placed};
use crate::disassemble::Layout;
use crate::rules;

/// One kernel: a section `.text.NAME`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Where its code begins in the file, in bytes.
    pub offset: usize,
    /// Its instructions.
    pub words: Vec<u128>,
}

/// A parsed cubin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cubin {
    /// Its target.
    pub target: Target,
    /// Its kernels, in the file's order.
    pub kernels: Vec<Kernel>,
}

impl Cubin {
    /// The target of a cubin, if its words have 128 bits.
    pub fn target_of(bytes: &[u8]) -> Option<Target> {
        Image::read(bytes).ok().and_then(|image| Target::new(image.target))
    }

    /// Parses a cubin.
    ///
    /// # Errors
    /// If it is no ELF file of a GPU, its words have not 128 bits, or it is damaged.
    pub fn parse(bytes: &[u8]) -> Result<Cubin, Finding> {
        let Image { target: number, sections, .. } = Image::read(bytes)?;
        let Some(target) = Target::new(number) else {
            return Err(fault(format!("the cubin is for sm_{number}: its words have not 128 bits")));
        };
        let kernel = |Section { name, offset, code }| {
            let (words, rest) = code.as_chunks::<16>();
            if !rest.is_empty() {
                let message = format!("{} bytes are not a whole number of words of 16 bytes", code.len());
                return Err(named(rules::LAYOUT.finding(Location::Word(offset / 16), message), &name));
            }
            Ok(Kernel { name, offset, words: words.iter().map(|word| u128::from_le_bytes(*word)).collect() })
        };
        Ok(Cubin { target, kernels: sections.into_iter().map(kernel).collect::<Result<_, Finding>>()? })
    }

    /// The kernels as text, each under its label `.text.NAME:`.
    pub fn disassemble(&self, layout: &Layout) -> String {
        let kernels = self.kernels.iter();
        kernels
            .map(|kernel| format!(".text.{}:\n{}", kernel.name, disasm_words(&kernel.words, self.target, layout)))
            .collect()
    }

    /// Every violation of a rule, and the number of words that are not of the float family.
    pub fn check(&self) -> (Vec<Finding>, usize) {
        let (mut findings, mut unknown) = (Vec::new(), 0);
        for kernel in &self.kernels {
            for (index, word) in kernel.words.iter().enumerate() {
                unknown += usize::from(decode(*word, self.target).is_err());
                // Locations are in words of 8 bytes, as in every cubin.
                let location = Location::Word(kernel.offset / 8 + 2 * index);
                let mut of_word = Vec::new();
                word_findings(*word, self.target, location, &mut of_word);
                findings.extend(of_word.into_iter().map(|finding| placed(finding, &kernel.name, 16 * index)));
            }
        }
        (findings, unknown)
    }
}

/// The word of a text in the place of another, whose control fields stay where the text does not write them, and what is
/// worth knowing of it.
///
/// # Errors
/// As [`asm_line`](super::asm_line).
pub(crate) fn replaced(word: u128, text: &str, target: Target) -> Result<(u128, Vec<Finding>), Finding> {
    let line = parse::parse_line(text, target)?;
    let word = parse::in_place_of(&line, word, target)?;
    let mut findings = line.rounded(text).collect();
    word_findings(word, target, Location::Whole, &mut findings);
    Ok((word, findings))
}
