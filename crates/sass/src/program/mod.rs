//! Kernels of a Maxwell cubin as programs that engines run.
//!
//! A register is a register of 32 bits, a pair is put together where 64 bits are read; the carry is a predicate. Where
//! `SYNC`, `BRK`, `CONT` and `RET` lead is known along every path, since what they return to is pushed by an instruction
//! with a target: code that is reached with two stacks is there twice, and a function where it is called. What the
//! hardware does and neither a document nor compiled code that needs it says is not run.
//!
//! Reading order: `info` (what a cubin says beside its code), `listing` (the same of a disassembler's text), `flow` (blocks), `body` (registers, constants, operands),
//! then a file for each class of instructions.

mod barriers;
mod body;
mod convert;
mod copies;
mod float;
mod flow;
mod half;
mod hazards;
mod hints;
mod info;
mod integer;
mod listing;
mod live_ranges;
mod memory;
mod moves;
mod multiply;
mod pairs;
mod places;
mod quotients;
mod simplify;
mod unused;
mod video;
mod wide;

use roundonce_ir::{Kernel, Param, Passing, Program};
use roundonce_isa::{Finding, Location};

pub use simplify::simplify;

pub use listing::{is_kernel_listing, listing_hazards, listing_kernels, lower_kernel_listing};

use crate::cubin::{Image, generation, words};
use crate::generation::Generation;
use crate::instruction::Instruction;
use crate::print::Style;
use crate::{MAXWELL_TARGETS, decode_for, rules};
use body::Body;
use info::Info;

/// The names of a cubin's kernels, in its order.
///
/// # Errors
/// If it is no cubin of Maxwell or Pascal.
pub fn cubin_kernels(bytes: &[u8]) -> Result<Vec<String>, Finding> {
    let image = read(bytes)?;
    let is_kernel = |name: &&str| image.data(&format!(".nv.constant0.{name}")).is_some();
    let names = image.sections.iter().map(|section| section.name.as_str());
    Ok(names.filter(is_kernel).map(str::to_owned).collect())
}

/// The target of a cubin of Maxwell or Pascal: `sm_50` is 50.
pub fn cubin_target(bytes: &[u8]) -> Option<u32> {
    read(bytes).ok().map(|image| image.target)
}

/// A kernel of a cubin as a program; at most so many operations and blocks.
///
/// # Errors
/// If the cubin cannot be read, has not the kernel, or the kernel has what is not run: every such instruction.
pub fn lower_cubin(bytes: &[u8], name: &str, largest: usize) -> Result<Program, Vec<Finding>> {
    let image = read(bytes).map_err(|finding| vec![finding])?;
    lower_image(&image, name, largest)
}

/// Every register and predicate of a cubin's kernel that is read or overwritten before a result of variable latency was
/// waited for; of every kernel where none is named.
///
/// # Errors
/// If the cubin cannot be read, or has not the kernel.
pub fn cubin_hazards(bytes: &[u8], name: Option<&str>, largest: usize) -> Result<Vec<Finding>, Vec<Finding>> {
    let image = read(bytes).map_err(|finding| vec![finding])?;
    let names = image.sections.iter().map(|section| section.name.as_str());
    let names: Vec<&str> = names.filter(|known| name.is_none_or(|name| *known == name)).collect();
    if let (Some(name), true) = (name, names.is_empty()) {
        return Err(vec![rules::ENTRY.finding(Location::Whole, format!("there is no kernel `{name}`"))]);
    }
    let mut found = Vec::new();
    for name in names {
        found.extend(image_hazards(&image, name, largest)?);
    }
    Ok(found)
}

fn image_hazards(image: &Image<'_>, name: &str, largest: usize) -> Result<Vec<Finding>, Vec<Finding>> {
    with_body(image, name, |body, code, offset| Ok(flow::hazards(body, code, offset, largest)))
}

fn lower_image(image: &Image<'_>, name: &str, largest: usize) -> Result<Program, Vec<Finding>> {
    let (kernel, variables) = with_body(image, name, |body, code, offset| flow::lower(body, code, offset, largest))?;
    Ok(Program { variables, ..Program::of(kernel) })
}

/// With a kernel's code, where it begins in the file, and a body for it.
fn with_body<T>(
    image: &Image<'_>,
    name: &str,
    f: impl FnOnce(Body<'_>, Words<'_>, usize) -> Result<T, Vec<Finding>>,
) -> Result<T, Vec<Finding>> {
    let Some(section) = image.sections.iter().find(|section| section.name == name) else {
        return Err(vec![rules::ENTRY.finding(Location::Whole, format!("there is no kernel `{name}`"))]);
    };
    let words = words(section.code).map_err(|finding| vec![finding])?;
    let code = Words { words: &words, generation: generation(image.target) };
    let info = Info::of(image, name, code).map_err(|finding| vec![finding])?;
    let mut kernel = Kernel::new(name);
    kernel.addresses = true;
    kernel.aligned_vectors = true;
    kernel.params = params(&info);
    kernel.param_bytes = info.param_bytes;
    kernel.shared_bytes = info.shared_bytes;
    // Nothing in a cubin says it.
    kernel.dynamic_shared = true;
    kernel.local_bytes = info.local_bytes;
    kernel.required_block = info.required_block;
    kernel.max_threads = info.max_threads;
    f(Body::new(kernel, &info), code, section.offset)
}

/// A kernel's words, control words among them, and whose instructions they are.
#[derive(Clone, Copy)]
struct Words<'a> {
    words: &'a [u64],
    generation: Generation,
}

impl Words<'_> {
    fn instruction(&self, at: usize) -> Option<Instruction> {
        decode_for(*self.words.get(at)?, self.generation).ok()
    }
    fn text(&self, at: usize) -> String {
        let mut text = String::new();
        if let Some(instruction) = self.instruction(at) {
            instruction.write_body_at(8 * at as u64, Style::Exact, None, &mut text);
        }
        text.trim().to_owned()
    }
}

fn read(bytes: &[u8]) -> Result<Image<'_>, Finding> {
    let image = Image::read(bytes)?;
    if MAXWELL_TARGETS.contains(&image.target) {
        return Ok(image);
    }
    let message = format!("a cubin for sm_{} is not run", image.target);
    Err(rules::UNMEASURED
        .finding(Location::Whole, message)
        .help("sm_50 to sm_62 are run; `disasm` and `check` read the others"))
}

fn params(info: &Info<'_>) -> Vec<Param> {
    let name = |index, offset| match info.has_params {
        true => format!("param_{index}"),
        false => format!("{:#x}", info.param_base + offset),
    };
    let param = |(index, &(offset, size)): (usize, &(u32, u32))| Param {
        name: name(index, offset),
        offset,
        size,
        scalar: None,
        passing: Passing::Any,
    };
    info.params.iter().enumerate().map(param).collect()
}
