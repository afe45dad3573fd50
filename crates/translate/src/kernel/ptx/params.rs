//! The parameters of a kernel: where each stands among the bytes of the source's parameter block, and how it is declared.

use roundonce_arith::Format;
use roundonce_ir::{Kernel, Op, Passing, Scalar, Special};

use super::super::Argument;
use super::text::push_number;

/// A parameter of the source.
#[derive(Clone, Copy)]
struct Place {
    start: u32,
    end: u32,
    index: usize,
}

/// Those of the written kernel.
pub(super) struct Params {
    /// Of the source, by their first bytes.
    places: Vec<Place>,
    /// What a launch gives for each.
    pub(super) arguments: Vec<Argument>,
    /// Of which parameters of the source the number of bytes is asked, and which parameter here has it.
    sizes: Vec<(usize, usize)>,
    /// What the added ones are called.
    pub(super) added: Vec<String>,
}

impl Params {
    pub(super) fn of(kernel: &Kernel) -> Params {
        let mut places: Vec<Place> = Vec::with_capacity(kernel.params.len());
        for (index, param) in kernel.params.iter().enumerate() {
            places.push(Place { start: param.offset, end: param.offset.saturating_add(param.size), index });
        }
        places.sort_by_key(|place| place.start);
        let mut arguments: Vec<Argument> = Vec::new();
        for (index, param) in kernel.params.iter().enumerate() {
            arguments.push(match param.passing {
                Passing::Shared => Argument::SharedOffset(index),
                _ => Argument::Param(index),
            });
        }
        let mut asked: Vec<usize> = Vec::new();
        for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
            if let Op::Special { special: Special::BufferBytes(param), .. } = &instruction.op {
                asked.push(*param as usize);
            }
        }
        asked.sort_unstable();
        asked.dedup();
        let (mut sizes, mut added) = (Vec::new(), Vec::new());
        for param in asked {
            let Some(of) = kernel.params.get(param) else { continue };
            sizes.push((param, arguments.len()));
            arguments.push(Argument::BufferBytes(param));
            added.push(format!("{}_bytes", of.name));
        }
        Params { places, arguments, sizes, added }
    }

    /// The parameter in which some bytes of the source's block lie, and where in it; `None` where they lie in no one.
    pub(super) fn find(&self, start: u64, bytes: u64) -> Option<(usize, i64)> {
        let after = self.places.partition_point(|place| u64::from(place.start) <= start);
        let place = self.places.get(after.checked_sub(1)?)?;
        let inside = start.saturating_add(bytes) <= u64::from(place.end);
        inside.then(|| (place.index, start as i64 - i64::from(place.start)))
    }

    /// Whether some bytes of the block are those of no parameter.
    pub(super) fn is_padding(&self, start: u64, bytes: u64) -> bool {
        let end = start.saturating_add(bytes);
        let before = self.places.partition_point(|place| u64::from(place.start) < end);
        before.checked_sub(1).and_then(|last| self.places.get(last)).is_none_or(|place| u64::from(place.end) <= start)
    }

    /// The parameter that has a buffer's number of bytes.
    pub(super) fn size_of(&self, param: usize) -> Option<usize> {
        let at = self.sizes.binary_search_by_key(&param, |(of, _)| *of).ok()?;
        Some(self.sizes[at].1)
    }

    /// Whether PTX lays the parameters out as the source does, so that one address leads to all of them.
    pub(super) fn keeps_layout(&self, kernel: &Kernel) -> bool {
        let mut end = 0u32;
        for param in &kernel.params {
            let align = declared_align(param.size, param.offset);
            if end.checked_next_multiple_of(align) != Some(param.offset) {
                return false;
            }
            end = param.offset.saturating_add(param.size);
        }
        true
    }

    /// Everything between the parentheses.
    pub(super) fn declare(&self, kernel: &Kernel, names: &[String], text: &mut String) {
        for (index, name) in names.iter().enumerate() {
            text.push_str(if index == 0 { "\n    .param " } else { ",\n    .param " });
            let Some(param) = kernel.params.get(index) else {
                text.push_str(".u64 ");
                text.push_str(name);
                continue;
            };
            match declared_type(param.size, param.scalar) {
                Some(ty) => {
                    text.push_str(ty);
                    text.push(' ');
                    text.push_str(name);
                }
                None => {
                    text.push_str(".align ");
                    push_number(text, declared_align(param.size, param.offset).into());
                    text.push_str(" .b8 ");
                    text.push_str(name);
                    text.push('[');
                    push_number(text, param.size.into());
                    text.push(']');
                }
            }
        }
        if !names.is_empty() {
            text.push('\n');
        }
    }
}

/// The type of a parameter that is a number.
fn declared_type(size: u32, scalar: Option<Scalar>) -> Option<&'static str> {
    let float = |width: u32| matches!(scalar, Some(Scalar::Float(format)) if format.width() == width * 8);
    let (is_integer, is_signed) = match scalar {
        Some(Scalar::Int { bits, signed }) => (bits == size * 8, signed),
        _ => (false, false),
    };
    let all = match size {
        1 => [".b8", ".u8", ".s8", ".b8"],
        // The assembler has no parameters of bf16.
        2 => [".b16", ".u16", ".s16", if scalar == Some(Scalar::Float(Format::F16)) { ".f16" } else { ".b16" }],
        4 => [".b32", ".u32", ".s32", ".f32"],
        8 => [".b64", ".u64", ".s64", ".f64"],
        _ => return None,
    };
    Some(
        all[match (is_integer, is_signed, float(size)) {
            (true, false, _) => 1,
            (true, true, _) => 2,
            (false, _, true) => 3,
            _ => 0,
        }],
    )
}

/// What a parameter's address is a multiple of: its own size, of a structure as much as its place allows.
fn declared_align(size: u32, offset: u32) -> u32 {
    match size {
        1 | 2 | 4 | 8 => size,
        _ => 1 << offset.trailing_zeros().min(4),
    }
}
