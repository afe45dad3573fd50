//! A program as SPIR-V for OpenCL: text that spirv-as reads.
//!
//! A kernel is its blocks, one for one; registers are results where they can be and variables elsewhere. Rounding and
//! subnormals are said by execution modes (SPV_KHR_float_controls), and contraction is off; what the modes cannot say is
//! computed in f64 and rounded once (`exact`), directions of f64 on integers (`double`), and what SPIR-V leaves undefined of
//! integers is chosen (`integer`). Formats that kernels have no type of are taken apart and put together by
//! their fields (`narrow`). A matrix multiply-add calls functions, one a kind (`matrix`), that call one for each element (`dot`).
//!
//! Reading order: `shape` (what is known of a kernel), `body` (values and blocks), `emit`, `memory`, `operation` (the table), then
//! one file a family.

mod atomic;
mod body;
mod convert;
mod divergence;
mod dot;
mod double;
mod emit;
mod exact;
mod float;
mod group;
mod ids;
mod integer;
mod matrix;
mod memory;
mod module;
mod narrow;
mod operation;
mod order;
mod shape;

use std::borrow::Cow;
use std::fmt::Write as _;

use rayon::prelude::*;
use roundonce_ir::{Kernel, Program, scalarize};
use roundonce_isa::{Finding, Location, Version};

use super::{Options, Translation, open, questions_of_place};
use body::Body;
use ids::{Ty, Type};
use memory::{Parameters, Pointers};
use module::Module;
use shape::Shape;

/// The program in SPIR-V for OpenCL.
///
/// # Errors
/// What has no counterpart, each with its place.
///
/// ```
/// use roundonce_ir::{Block, Kernel, Program, Terminator};
/// use roundonce_translate::kernel::{Options, spirv};
/// let mut kernel = Kernel::new("nothing");
/// kernel.blocks.push(Block { instructions: Vec::new(), terminator: Terminator::Exit, loc: 0 });
/// let text = spirv::write(&Program::of(kernel), &Options::default()).unwrap().text;
/// assert!(text.contains("OpEntryPoint Kernel %nothing \"nothing\"\n"));
/// ```
pub fn write(program: &Program, options: &Options<'_>) -> Result<Translation, Vec<Finding>> {
    let environment = options.environment();
    let mut module = Module::new(if program.address_bits == 32 { Ty::U32 } else { Ty::U64 });
    let mut findings = Vec::new();
    let names: Vec<_> = program.kernels.iter().map(|kernel| module.named(&kernel.name)).collect();
    let variables = memory::variables(&mut module, program, environment.full_opencl(), &mut findings);
    let (mut arguments, mut losses, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for (Analysed { kernel, questions, shape, pointers }, name) in analysed(program).into_iter().zip(names) {
        let asked: Vec<Location> = questions.iter().map(|finding| finding.location).collect();
        findings.extend(questions);
        let params = Parameters::of(&mut module, &pointers, &kernel, &mut findings);
        arguments.push(params.arguments.clone());
        let mut body = Body::new(&mut module, &kernel, options, &variables, (params, shape));
        body.run();
        let written = body.written(name);
        // What a question is made of is refused with it.
        findings.extend(written.findings.into_iter().filter(|finding| !asked.contains(&finding.location)));
        losses.extend(written.losses);
        open.push(written.open);
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let version = environment.version().min(Version(1, 3));
    Ok(Translation { text: module.finish(version), arguments, losses, open })
}

/// What is known of a kernel before anything is written.
struct Analysed<'p> {
    kernel: Cow<'p, Kernel>,
    questions: Vec<Finding>,
    shape: Shape,
    pointers: Pointers,
}

/// From so many instructions on other threads are worth their start.
const LONG: usize = 1 << 13;

/// Every kernel, on all threads where they are long.
fn analysed(program: &Program) -> Vec<Analysed<'_>> {
    let one = |kernel| {
        let questions = questions_of_place(kernel);
        let kernel = scalarize(kernel);
        let (shape, pointers) = (Shape::of(&kernel), Pointers::of(program, &kernel));
        Analysed { kernel, questions, shape, pointers }
    };
    let blocks = program.kernels.iter().flat_map(|kernel| &kernel.blocks);
    match blocks.map(|block| block.instructions.len()).sum::<usize>() < LONG {
        true => program.kernels.iter().map(one).collect(),
        false => program.kernels.par_iter().map(one).collect(),
    }
}

/// What is left of a body.
struct Written {
    findings: Vec<Finding>,
    losses: Vec<Finding>,
    open: Vec<Finding>,
}

impl Body<'_> {
    /// Puts the kernel into its module.
    fn written(mut self, name: ids::Id) -> Written {
        let params = std::mem::take(&mut self.params.declared);
        let types: Vec<Type> = params.iter().map(|&(_, ty)| ty).collect();
        let function_type = self.module.function_type(Type::Void, &types);
        let kernel: &Kernel = self.kernel;
        let mut out = std::mem::take(&mut self.module.functions);
        self.module.put(&mut out, name);
        let _ = writeln!(out, " = OpFunction %void None {function_type}");
        for (id, ty) in params {
            self.module.put(&mut out, id);
            out.push_str(" = OpFunctionParameter ");
            ty.write(&mut out);
            out.push('\n');
        }
        let first = self.module.label();
        self.module.put(&mut out, first);
        out.push_str(" = OpLabel\n");
        out.push_str(&self.declarations());
        self.local_memory(&mut out);
        out.push_str(&self.prologue);
        out.push_str("OpBranch ");
        let entry = self.entry();
        self.module.put(&mut out, entry);
        out.push('\n');
        out.push_str(&self.out);
        out.push_str("OpFunctionEnd\n");
        self.module.functions = out;

        let mut line = std::mem::take(&mut self.module.entry_points);
        line.push_str("OpEntryPoint Kernel ");
        self.module.put(&mut line, name);
        module::quoted(&mut line, &kernel.name);
        line.pop();
        for &id in &self.interface {
            line.push(' ');
            self.module.put(&mut line, id);
        }
        line.push('\n');
        self.module.entry_points = line;
        self.execution_modes(name);
        let open = self.open();
        Written { findings: self.findings, losses: self.losses, open }
    }

    /// What is open of the kernel's bits.
    fn open(&self) -> Vec<Finding> {
        let computes = self.widths.contains(&true);
        let flushes = self.widths.iter().zip(&self.shape.modes).any(|(&used, mode)| used && mode.flush);
        let modes = computes.then(|| open::of_modes(flushes));
        self.approximations.finding().into_iter().chain(modes).collect()
    }

    fn execution_modes(&mut self, name: ids::Id) {
        let mut modes = std::mem::take(&mut self.module.modes);
        let mut declare = |module: &mut Module, mode: &str| {
            modes.push_str("OpExecutionMode ");
            module.put(&mut modes, name);
            let _ = writeln!(modes, " {mode}");
        };
        declare(self.module, "ContractionOff");
        if self.has_warps {
            self.module.capability("SubgroupDispatch");
            declare(self.module, "SubgroupSize 32");
        }
        if let Some([x, y, z]) = self.kernel.required_block {
            declare(self.module, &format!("LocalSize {x} {y} {z}"));
        }
        for (place, width) in [16, 32, 64].into_iter().enumerate().filter(|&(place, _)| self.widths[place]) {
            let mode = self.shape.modes[place];
            let rounding = if mode.toward_zero { "RoundingModeRTZ" } else { "RoundingModeRTE" };
            let subnormals = if mode.flush { "DenormFlushToZero" } else { "DenormPreserve" };
            self.module.extension("SPV_KHR_float_controls");
            for mode in [rounding, subnormals, "SignedZeroInfNanPreserve"] {
                self.module.capability(mode);
                declare(self.module, &format!("{mode} {width}"));
            }
        }
        self.module.modes = modes;
    }
}
