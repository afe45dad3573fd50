//! A program as PTX.
//!
//! Every operation becomes the instruction that PTX has for it where there is one, otherwise instructions that give the same
//! bits; what has neither is refused by its name. Roundings are always written, so that no assembler contracts what the
//! source rounds twice. Approximated functions are PTX's own of the same name, which need not have the source's bits.
//!
//! - **Target and version.** The lowest target with everything that is used, from the source's own on where that is older than
//!   `sm_80`, and otherwise from `sm_80` on (the first with a fused multiply-add of bf16; before sm_70 threads of a warp
//!   cannot wait for each other); and the lowest PTX that has both; or what [`Options::target`] and [`Options::version`] ask for.
//! - **Parameters** keep their names where PTX takes them: `0.1` is `binding_0_1`, other signs are `_`. A buffer's size,
//!   where the source asks for it, is one more parameter; a pointer to shared memory is where its piece begins
//!   ([`Argument`]).
//! - **Memory.** What a kernel declares of shared and local memory is one array of bytes; what the launch gives stands behind
//!   it. Constant variables are global ones, which have the program's addresses.
//! - **Order of accesses.** An instruction says how it is ordered, and for whom. Where nothing says it, an access is weak, an
//!   atomic operation relaxed on the GPU, and a fence the strongest. What a fence or a barrier is beyond that (of other
//!   grids, of another address of the same memory, not aligned) the text of the source's instruction says.
//!
//! Reading order: `body` (a kernel), `text` (an instruction), `rows` and `float`, then one file a family.

mod atomic;
mod body;
mod convert;
mod copies;
mod float;
mod image;
mod integer;
mod lines;
mod memory;
mod names;
mod needs;
mod ordering;
mod params;
mod rows;
mod special_float;
mod text;
mod variables;
mod warp;

use roundonce_ir::Program;
use roundonce_isa::{Finding, Location};

#[cfg(doc)]
use super::Argument;
use super::{Options, Translation, questions_of_place};
use crate::rules::{NO_COUNTERPART, UNAVAILABLE};
use body::{DYNAMIC_SHARED, Shared};
use lines::Lines;
use names::ModuleNames;
use needs::Needs;

/// The program in PTX.
///
/// # Errors
/// What has no counterpart, each with its place.
pub fn write(program: &Program, options: &Options<'_>) -> Result<Translation, Vec<Finding>> {
    let refused = |code, message: String| Err(vec![Finding::error(code, Location::Whole, message)]);
    if program.address_bits != 64 {
        let what = format!("a module with addresses of {} bits has no counterpart in PTX", program.address_bits);
        return refused(NO_COUNTERPART.code, what);
    }
    let mut shared = Shared {
        program,
        needs: Needs::new(options),
        findings: Vec::new(),
        losses: Vec::new(),
        open: Vec::new(),
        prints: false,
        dynamic_shared: None,
    };
    shared.findings.extend(program.kernels.iter().flat_map(questions_of_place));
    let mut names = ModuleNames::of(program);
    let mut lines = Lines::new(options);
    let mut variables = String::new();
    for index in 0..program.variables.len() {
        if let Err(what) = variables::write(program, &names, index, &mut variables) {
            let message = format!("{what} has no counterpart in PTX");
            shared.findings.push(Finding::error(NO_COUNTERPART.code, Location::Whole, message));
        }
    }
    let mut kernels = String::new();
    let mut arguments = Vec::with_capacity(program.kernels.len());
    for index in 0..program.kernels.len() {
        kernels.push('\n');
        arguments.push(body::write(&mut shared, &mut names, &mut lines, index, &mut kernels));
    }
    if !shared.findings.is_empty() {
        return Err(shared.findings);
    }
    let (target, version) = match shared.needs.decided() {
        Ok(decided) => decided,
        Err(message) => return refused(UNAVAILABLE.code, message),
    };
    let mut text = String::with_capacity(kernels.len() + variables.len() + 256);
    let mode = if shared.needs.has_separate_samplers() { ", texmode_independent" } else { "" };
    text.push_str(&format!(".version {version}\n.target {target}{mode}\n.address_size 64\n"));
    lines.write_files(&mut text);
    if shared.prints {
        text.push_str(".extern .func (.param .b32 printed) vprintf (.param .b64 format, .param .b64 values);\n");
    }
    if let Some(align) = shared.dynamic_shared {
        text.push_str(&format!(".extern .shared .align {} .b8 {DYNAMIC_SHARED}[];\n", align.max(16)));
    }
    text.push_str(&variables);
    text.push_str(&kernels);
    Ok(Translation { text, arguments, losses: shared.losses, open: shared.open })
}
