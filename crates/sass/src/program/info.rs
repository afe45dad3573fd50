//! What a cubin says of a kernel beside its code.
//!
//! Source: cubins of ptxas 12.9, and nvdisasm's names of the attributes of `.nv.info`.

use std::collections::BTreeSet;

use roundonce_isa::Finding;

use super::Words;
use crate::cubin::{Address, BANK_4, Image, fault};
use crate::instruction::{RZ, Value};

/// A target of a jump by a register: where the jump is, and where it may lead.
pub(super) type Jump = (u32, Vec<u32>);

/// What is known of a kernel.
#[derive(Default)]
pub(super) struct Info<'a> {
    /// The offset and the size of each parameter.
    pub(super) params: Vec<(u32, u32)>,
    /// Whether that is said; otherwise they are the words that the code reads.
    pub(super) has_params: bool,
    /// Where the parameters begin in bank 0.
    pub(super) param_base: u32,
    pub(super) param_bytes: u32,
    pub(super) shared_bytes: u32,
    pub(super) local_bytes: u32,
    pub(super) required_block: Option<[u32; 3]>,
    pub(super) max_threads: Option<u32>,
    pub(super) jumps: Vec<Jump>,
    /// The constants of banks 2 and 3.
    pub(super) banks: [&'a [u8]; 2],
    /// The addresses in bank 4.
    pub(super) addresses: Vec<Address<'a>>,
    /// Memory of variables: the section's name, its first bytes, its bytes in all.
    pub(super) globals: [(&'static str, &'a [u8], u64); 2],
}

/// The attributes of `.nv.info` that are read.
mod attribute {
    pub(super) const MAX_THREADS: u8 = 0x05;
    pub(super) const PARAM_CBANK: u8 = 0x0a;
    pub(super) const REQUIRED_THREADS: u8 = 0x10;
    pub(super) const FRAME_SIZE: u8 = 0x11;
    pub(super) const MIN_STACK_SIZE: u8 = 0x12;
    pub(super) const KPARAM_INFO: u8 = 0x17;
    pub(super) const INDIRECT_BRANCH_TARGETS: u8 = 0x34;
}

/// Where ptxas lays the parameters of every GPU of the family.
const PARAM_BASE: u32 = 0x140;
/// More shared or local memory than any GPU of the family gives.
const MOST_BYTES: u64 = 1 << 24;
/// More than a program of 32-bit offsets has.
const MOST_GLOBAL_BYTES: u64 = 1 << 32;
/// Parameters are 4 KiB at most.
const MOST_PARAM_BYTES: u32 = 4096;

/// The attributes of a section, with the bytes of each.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    core::iter::from_fn(move || {
        let (&[format, attribute, low, high], rest) = bytes.split_first_chunk::<4>()?;
        if format != 4 {
            // One or two bytes, or none: they stand in the place of the size.
            let value = bytes.get(2..4)?;
            bytes = rest;
            return Some((attribute, value));
        }
        let size = usize::from(u16::from_le_bytes([low, high]));
        let value = rest.get(..size)?;
        bytes = rest.get(size.next_multiple_of(4)..).unwrap_or_default();
        Some((attribute, value))
    })
}

/// The parameters of code that nothing is said of: the words of bank 0 that it reads, two of them one of 64 bits where
/// the first is so aligned and the second is only moved or added with a carry.
fn read_params(code: Words<'_>) -> Vec<(u32, u32)> {
    let (mut places, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    let places_of_code = (0..code.words.len()).filter(|index| !index.is_multiple_of(4));
    for instruction in places_of_code.filter_map(|index| code.instruction(index)) {
        // Operands of 64 bits.
        let is_wide = instruction.mnemonic().starts_with('D')
            || instruction.modifiers().any(|(name, text)| matches!(name, "from" | "type") && text.ends_with("64"));
        for operand in &*instruction.operands() {
            let offset = match operand.value {
                Value::Constant { bank: 0, offset } => u32::from(offset),
                Value::ConstantAt { bank: 0, register: RZ, offset } => offset.cast_unsigned(),
                _ => continue,
            };
            let Some(place) = offset.checked_sub(PARAM_BASE).filter(|place| *place < MOST_PARAM_BYTES) else {
                continue;
            };
            places.insert(place);
            if is_wide {
                places.insert(place + 4);
            } else if instruction.mnemonic() != "MOV" && instruction.modifier("x").is_none() {
                numbers.insert(place);
            }
        }
    }
    let mut params = Vec::new();
    while let Some(place) = places.pop_first() {
        let upper = place + 4;
        let is_pair = place.is_multiple_of(8) && !numbers.contains(&upper) && places.remove(&upper);
        params.push((place, if is_pair { 8 } else { 4 }));
    }
    params
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

impl<'a> Info<'a> {
    pub(super) fn of(image: &Image<'a>, name: &str, code: Words<'_>) -> Result<Info<'a>, Finding> {
        let bytes = |section: &str| image.data(section).map_or(&[][..], |data| data.bytes);
        let mut info = Info { param_base: PARAM_BASE, ..Info::default() };
        info.banks = [bytes(&format!(".nv.constant2.{name}")), bytes(".nv.constant3")];
        let own = format!("{BANK_4}.{name}");
        let of_kernel = |address: &&Address<'a>| address.bank == BANK_4 || address.bank == own;
        info.addresses = image.addresses.iter().filter(of_kernel).copied().collect();
        let memory = |name| image.data(name).map_or((name, &[][..], 0), |data| (name, data.bytes, data.size));
        info.globals = [".nv.global.init", ".nv.global"].map(memory);
        let of_file = attributes(bytes(".nv.info"));
        let stacks = of_file.filter(|(kind, _)| matches!(*kind, attribute::FRAME_SIZE | attribute::MIN_STACK_SIZE));
        // Each is of a function: its symbol and a size.
        let local = stacks.filter_map(|(_, value)| words(value).get(1).copied()).max().unwrap_or(0);
        let shared = image.data(&format!(".nv.shared.{name}")).map_or(0, |data| data.size);
        if let Some((name, _, size)) = info.globals.iter().find(|(_, _, size)| *size > MOST_GLOBAL_BYTES) {
            return Err(fault(format!("section {name} has {size} bytes")));
        }
        if shared > MOST_BYTES || u64::from(local) > MOST_BYTES {
            return Err(fault(format!("kernel `{name}` has {shared} bytes of shared and {local} of local memory")));
        }
        info.shared_bytes = shared as u32;
        info.local_bytes = local.next_multiple_of(16);
        let mut params = Vec::new();
        let section = image.data(&format!(".nv.info.{name}"));
        info.has_params = section.is_some();
        for (kind, value) in attributes(section.map_or(&[][..], |data| data.bytes)) {
            info.attribute(kind, &words(value), &mut params);
        }
        params.sort_unstable();
        params.dedup_by_key(|(ordinal, ..)| *ordinal);
        info.params = params.into_iter().map(|(_, offset, size)| (offset, size)).collect();
        if !info.has_params {
            info.params = read_params(code);
        }
        let end = info.params.iter().map(|(offset, size)| offset + size).max().unwrap_or(0);
        info.param_bytes = info.param_bytes.max(end);
        let is_valid = info.param_bytes <= MOST_PARAM_BYTES && info.params.iter().all(|(_, size)| *size > 0);
        is_valid.then_some(info).ok_or_else(|| fault(format!("the parameters of kernel `{name}` cannot be")))
    }

    fn attribute(&mut self, kind: u8, value: &[u32], params: &mut Vec<(u32, u32, u32)>) {
        match (kind, value) {
            // The section's symbol, then the offset and the size of the parameters, 16 bits each.
            (attribute::PARAM_CBANK, &[_, place]) => {
                (self.param_base, self.param_bytes) = (place & 0xffff, place >> 16);
            }
            // An index, the ordinal and the offset, 16 bits each, and the size above 18 bits of other things.
            (attribute::KPARAM_INFO, &[_, place, flags]) => params.push((place & 0xffff, place >> 16, flags >> 18)),
            (attribute::MAX_THREADS, &[x, y, z]) => {
                self.max_threads = Some(x.saturating_mul(y).saturating_mul(z));
            }
            (attribute::REQUIRED_THREADS, &[x, y, z]) => self.required_block = Some([x, y, z]),
            (attribute::INDIRECT_BRANCH_TARGETS, value) => {
                let mut rest = value;
                while let [at, _, count, tail @ ..] = rest {
                    let Some((targets, tail)) = tail.split_at_checked(*count as usize) else { break };
                    self.jumps.push((*at, targets.to_vec()));
                    rest = tail;
                }
            }
            _ => {}
        }
    }
}
