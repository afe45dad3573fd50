//! From a module to a program that engines run.
//!
//! An entry point becomes a kernel: constants are specialised, functions inlined, vectors and structs decomposed into
//! scalars, Phi made into copies along its edges. Variables that are only loaded and stored whole, or by constant
//! indices, live in registers; the others in memory. What the program form lacks (recursion, operations on
//! queues) is a finding that names its opcode and location, reported before anything runs.
//!
//! Reading order: `types` (what a value is made of), `constant`, this file, `control` (functions, blocks, Phi),
//! `instruction` (the table of opcodes), then one file a family.

mod arithmetic;
mod atomic;
mod bits;
mod builtin;
mod composite;
mod constant;
mod control;
mod convert;
mod emit;
mod float;
mod geometry;
mod glsl;
mod group;
mod image;
mod instruction;
mod matrix;
mod memory;
mod memory_variables;
mod module;
mod opencl;
mod opencl_float;
mod opencl_integer;
mod opencl_memory;
mod order;
mod source;
mod subgroup;
mod types;
mod value;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use roundonce_arith::{NanRule, OperandIndex as NanOperand, Profile, Rounding};
use roundonce_ir::{
    Block, Instruction as Step, Kernel, Operand, Program, Reg, Terminator, largest_module, too_large_together,
};
use roundonce_isa::Finding;
use rspirv::spirv::{ExecutionMode, ExecutionModel};

use crate::environment::Environment;
use crate::facts::{EntryPoint, Facts};
use crate::grammar::instruction_name;
use crate::modes::{Denorm, FloatModes};
use crate::module::{Instruction, Module};
use source::Source;
use value::{TypedValue, Value};

pub use constant::SpecConstant;

type Result<T> = core::result::Result<T, Finding>;

/// A construct that cannot be run.
pub const UNSUPPORTED: &str = "SPV0100";
/// A malformed instruction: an operand or a type does not fit.
const MALFORMED: &str = "SPV0101";
/// A launch that does not fit the module: no such entry point, no such specialisation constant.
const LAUNCH: &str = "SPV0102";
/// Findings that are gathered before the rest is left alone.
const MOST_FINDINGS: usize = 20;

/// What is done where a module leaves bits open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Assume {
    /// What NVIDIA's driver does under Vulkan: to nearest even, NVIDIA's NaNs; a shader's f32 subnormals flushed unless it
    /// declares RoundingModeRTE, others kept. Reported of one GPU and driver (RTX 3060, 581.95).
    #[default]
    Nvidia,
    /// IEEE 754 to the letter: to nearest even, subnormals kept, the payload of a NaN operand kept.
    Strict,
    /// To nearest even, subnormals flushed, NVIDIA's NaNs.
    Flush,
}

impl Assume {
    /// The profile that a launch is run under.
    pub const fn profile(self) -> Profile {
        let payload = NanRule::Payload([NanOperand::A, NanOperand::B, NanOperand::C]);
        match self {
            Assume::Strict => Profile { nan_f32: payload, nan_f64: payload, nan_small: payload, ..Profile::NVIDIA },
            Assume::Nvidia | Assume::Flush => Profile::NVIDIA,
        }
    }
}

/// How a module is made ready.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The entry point; may be left out where there is only one that can be run.
    pub entry: Option<String>,
    /// Bits of specialisation constants, by SpecId.
    pub spec: BTreeMap<u32, u64>,
    /// How many descriptors run-time arrays of them have, by set and binding.
    pub descriptors: BTreeMap<(u32, u32), u32>,
    /// What is done where the module is silent.
    pub assume: Assume,
    /// A kernel of more operations and blocks than this, its calls inlined, is refused.
    pub largest_kernel: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        let largest_kernel = roundonce_ir::LARGEST_KERNEL;
        let (spec, descriptors) = (BTreeMap::new(), BTreeMap::new());
        Settings { entry: None, spec, descriptors, assume: Assume::default(), largest_kernel }
    }
}

/// A kernel ready to run.
#[derive(Clone, PartialEq, Debug)]
pub struct Lowered {
    /// One kernel.
    pub program: Program,
    /// What the module leaves open of the bits, and what was picked.
    pub undetermined: Vec<String>,
}

/// The names of a module's entry points, of those too that cannot be run.
pub fn entry_points(module: &Module) -> Vec<String> {
    Facts::of(module).entry_points.iter().map(|entry| entry.name.clone()).collect()
}

/// The scalar specialisation constants of a module, in order.
pub fn spec_constants(module: &Module) -> Vec<SpecConstant> {
    let facts = Facts::of(module);
    module::globals(module, &facts, &BTreeMap::new()).1.spec
}

/// Makes an entry point ready to run. Locations are lines of `text`, where the module came from one, otherwise of the
/// module's disassembly.
///
/// # Errors
/// Every obstacle: `SPV0100` for a construct that cannot be run, `SPV0101` for a malformed instruction, `SPV0102`
/// for a launch that does not fit the module.
///
/// ```
/// use roundonce_spirv::{Settings, assemble_module, lower};
/// let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"
/// OpExecutionMode %main LocalSize 64 1 1\n%void = OpTypeVoid\n%type = OpTypeFunction %void
/// %main = OpFunction %void None %type\n%start = OpLabel\nOpReturn\nOpFunctionEnd";
/// let module = assemble_module(text, None).unwrap();
/// let lowered = lower(&module, Some(text), &Settings::default()).unwrap();
/// assert_eq!(lowered.program.kernels[0].required_block, Some([64, 1, 1]));
/// ```
pub fn lower(module: &Module, text: Option<&str>, settings: &Settings) -> core::result::Result<Lowered, Vec<Finding>> {
    let lowering = Lowering::new(module, settings)?;
    let entry = lowering.entry_point(settings.entry.as_deref()).map_err(|finding| vec![finding])?;
    lowering.kernel(entry, &Source::new(module, text))
}

/// Every entry point by its name, those too that cannot be run; [`Settings::entry`] is not asked.
///
/// # Errors
/// Of the module; each entry point has errors of its own.
pub fn lower_each(
    module: &Module,
    text: Option<&str>,
    settings: &Settings,
) -> core::result::Result<Vec<LoweredEntry>, Vec<Finding>> {
    let lowering = Lowering::new(module, settings)?;
    let source = Source::new(module, text);
    // Of several of one name it is the first that can be run.
    let mut by_name: HashMap<&str, &EntryPoint> = HashMap::new();
    for entry in &lowering.facts.entry_points {
        let known = by_name.entry(&entry.name).or_insert(entry);
        if !known.runs() && entry.runs() {
            *known = entry;
        }
    }
    let limit = largest_module(settings.largest_kernel, 4 * module.words().len());
    let (mut size, mut each) = (0, Vec::new());
    for entry in &lowering.facts.entry_points {
        let entry = by_name[entry.name.as_str()];
        let lowered =
            if entry.runs() { lowering.kernel(entry, &source) } else { Err(vec![lowering.wrong_model(entry)]) };
        let blocks = lowered.iter().flat_map(|lowered| &lowered.program.kernels).flat_map(|kernel| &kernel.blocks);
        size += blocks.map(|block| 1 + block.instructions.len()).sum::<usize>();
        if size > limit {
            // All of them.
            let (what, help) = too_large_together(limit);
            let refused = |entry: &EntryPoint| {
                let place = module.location(entry.instruction.word);
                let finding = Finding::error(UNSUPPORTED, place, format!("{what} cannot be run")).help(help);
                (entry.name.clone(), Err(vec![finding]))
            };
            return Ok(lowering.facts.entry_points.iter().map(refused).collect());
        }
        each.push((entry.name.clone(), lowered));
    }
    Ok(each)
}

/// The name of an entry point and what [`lower_each`] made of it.
pub type LoweredEntry = (String, core::result::Result<Lowered, Vec<Finding>>);

/// The arithmetic of a width: declared, or picked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mode {
    rounding: Rounding,
    flush: bool,
    /// What decides the flush where the module is silent.
    why: &'static str,
}

/// A module, read.
struct Lowering<'m> {
    module: &'m Module,
    facts: Facts,
    types: types::Types,
    constants: constant::Constants,
    /// The ids that each instruction uses, by its index.
    uses: Vec<Range<usize>>,
    used: Vec<u32>,
    /// The instructions of each function, from OpFunction to OpFunctionEnd.
    functions: HashMap<u32, Range<usize>>,
    /// What OpName calls ids.
    names: HashMap<u32, String>,
    /// The module's variables, those of functions aside.
    variables: Vec<usize>,
    /// Variables and parameters that need an address.
    in_memory: HashSet<u32>,
    assume: Assume,
    largest_kernel: usize,
    /// The lengths of run-time arrays of descriptors.
    descriptors: BTreeMap<(u32, u32), u32>,
}

/// A block without its end.
struct Draft {
    instructions: Vec<Step>,
    terminator: Option<Terminator>,
    place: u32,
}

/// A function being inlined.
#[derive(Default)]
struct Frame {
    function: u32,
    values: HashMap<u32, TypedValue>,
    labels: HashMap<u32, usize>,
    /// Where it returns to, and the registers of its result; the kernel's own function ends the thread.
    exit: Option<usize>,
    result: Vec<Reg>,
    /// The label of the block at work.
    label: u32,
    /// The Phi of each block that has any.
    phis: HashMap<u32, Vec<control::Phi>>,
    /// The edges into those blocks, completed when all values are known.
    edges: Vec<control::Edge>,
}

/// An entry point being lowered.
struct Body<'l> {
    lowering: &'l Lowering<'l>,
    entry: &'l EntryPoint,
    source: &'l Source<'l>,
    kernel: Kernel,
    program: Program,
    blocks: Vec<Draft>,
    current: usize,
    operations: usize,
    too_large: bool,
    /// The instruction at work.
    at: Instruction,
    place: u32,
    /// Places by instruction.
    place_of: HashMap<usize, u32>,
    globals: HashMap<u32, TypedValue>,
    /// Results without a value, and why they have none.
    refused: HashMap<u32, Finding>,
    frames: Vec<Frame>,
    local_top: u64,
    findings: Vec<Finding>,
    undetermined: BTreeSet<String>,
    /// Of 16, 32 and 64 bits.
    modes: [(Mode, FloatModes); 3],
    /// Where groups exchange values, in shared memory.
    scratch: Option<u64>,
    /// Arrays of descriptors.
    descriptors: HashMap<u32, builtin::Descriptors>,
    /// The flags of instructions that are not decorated, where the entry point declares any.
    fast_math: [Option<u32>; 3],
    /// Whether the entry point forbids contraction.
    contraction_off: bool,
    /// Whether there are products, and sums, that a compiler may fuse.
    contractible: (bool, bool),
}

impl EntryPoint {
    /// Whether its model is one that can be run.
    fn runs(&self) -> bool {
        [ExecutionModel::GLCompute, ExecutionModel::Kernel].iter().any(|model| *model as u32 == self.model)
    }
}

impl<'m> Lowering<'m> {
    /// The entry point to run.
    fn entry_point(&self, wanted: Option<&str>) -> Result<&EntryPoint> {
        let all: Vec<&EntryPoint> = self.facts.entry_points.iter().filter(|entry| entry.runs()).collect();
        let names: Vec<&str> = all.iter().map(|entry| entry.name.as_str()).collect();
        let fail = |message: String| Err(Finding::error(LAUNCH, roundonce_isa::Location::Whole, message));
        match (all.as_slice(), wanted) {
            (_, Some(name)) => match all.iter().find(|entry| entry.name == name) {
                Some(entry) => Ok(entry),
                None => match self.facts.entry_points.iter().find(|entry| entry.name == name) {
                    Some(other) => Err(self.wrong_model(other)),
                    None => fail(format!("there is no entry point `{name}`: expected one of {}", names.join(", "))),
                },
            },
            ([], None) => fail("there is no entry point of a compute shader or a kernel".to_owned()),
            ([only], None) => Ok(only),
            (_, None) => fail(format!("several entry points, choose with --entry: {}", names.join(", "))),
        }
    }

    fn wrong_model(&self, entry: &EntryPoint) -> Finding {
        let EntryPoint { model, name, instruction, .. } = entry;
        let model = ExecutionModel::from_u32(*model).map_or_else(|| model.to_string(), |model| format!("{model:?}"));
        let message = format!("OpEntryPoint {model} \"{name}\" cannot be run: expected GLCompute or Kernel");
        Finding::error(UNSUPPORTED, self.module.location(instruction.word), message)
    }

    /// The kernel of an entry point.
    fn kernel(&self, entry: &EntryPoint, source: &Source<'_>) -> core::result::Result<Lowered, Vec<Finding>> {
        let (program, undetermined) = Body::new(self, entry, source).run()?;
        // What is left to find are operands whose types do not fit their instruction.
        program.verify().map_err(|invalid| {
            let message = format!("the operands do not fit the instruction: {invalid}");
            vec![Finding::error(MALFORMED, roundonce_isa::Location::Whole, message)]
        })?;
        Ok(Lowered { program, undetermined })
    }

    /// The arithmetic that an entry point declares, or that is picked, for a width.
    fn mode_of(&self, entry: &EntryPoint, width: u32) -> (Mode, FloatModes) {
        let modes = FloatModes::of(self.module, &self.facts, entry, width, Environment::UNIVERSAL);
        let is_f32_shader = width == 32 && entry.model == ExecutionModel::GLCompute as u32;
        let is_nearest = modes.rounding == Some(Rounding::NearestEven);
        let (flush, why) = match (modes.denorm, self.assume) {
            (Some(denorm), _) => (denorm == Denorm::FlushToZero, ""),
            (None, Assume::Nvidia) if is_f32_shader && is_nearest => {
                (false, ", as NVIDIA does where RoundingModeRTE is declared")
            }
            (None, Assume::Nvidia) if is_f32_shader => (true, ", as NVIDIA does unless RoundingModeRTE is declared"),
            (None, assume) => (assume == Assume::Flush, ""),
        };
        (Mode { rounding: modes.rounding.unwrap_or(Rounding::NearestEven), flush, why }, modes)
    }

    fn unsupported(&self, what: impl core::fmt::Display) -> Finding {
        Finding::error(UNSUPPORTED, roundonce_isa::Location::Whole, format!("{what} cannot be run"))
    }
}

impl<'l> Body<'l> {
    fn new(lowering: &'l Lowering<'l>, entry: &'l EntryPoint, source: &'l Source<'l>) -> Body<'l> {
        let kernel = Kernel::new(entry.name.clone());
        let program = Program { kernels: Vec::new(), variables: Vec::new(), address_bits: 64 };
        let mut body = Body {
            lowering,
            entry,
            source,
            kernel,
            program,
            blocks: Vec::new(),
            current: 0,
            operations: 0,
            too_large: false,
            at: entry.instruction,
            place: 0,
            place_of: HashMap::new(),
            globals: HashMap::new(),
            refused: HashMap::new(),
            frames: Vec::new(),
            local_top: 0,
            findings: Vec::new(),
            undetermined: BTreeSet::new(),
            modes: [16, 32, 64].map(|width| lowering.mode_of(entry, width)),
            scratch: None,
            descriptors: HashMap::new(),
            fast_math: [16, 32, 64]
                .map(|width| lowering.facts.fast_math_default(lowering.module, entry.function, width)),
            contraction_off: lowering
                .facts
                .modes_of(entry.function)
                .any(|at| at.value == ExecutionMode::ContractionOff as u32),
            contractible: (false, false),
        };
        body.new_block();
        body
    }

    /// The entry point's function, with everything that it touches.
    fn run(mut self) -> core::result::Result<(Program, Vec<String>), Vec<Finding>> {
        let result = self.set_up().and_then(|()| self.main());
        if let Err(finding) = result {
            self.report(finding);
        }
        if !self.findings.is_empty() {
            return Err(self.findings);
        }
        if self.contractible == (true, true) {
            self.open("products and sums without NoContraction: rounded apart, or as --contract says");
        }
        for draft in self.blocks {
            self.kernel.blocks.push(Block {
                instructions: draft.instructions,
                terminator: draft.terminator.unwrap_or(Terminator::Exit),
                loc: draft.place,
            });
        }
        self.program.kernels.push(self.kernel);
        Ok((self.program, self.undetermined.into_iter().collect()))
    }

    /// Takes in a finding at the instruction at work, once. The finding with its place.
    fn report(&mut self, mut finding: Finding) -> Finding {
        if finding.location == roundonce_isa::Location::Whole {
            finding.location = self.lowering.module.location(self.at.word);
        }
        if !self.findings.contains(&finding) {
            self.findings.push(finding.clone());
        }
        finding
    }

    fn unsupported(&self, what: impl core::fmt::Display) -> Finding {
        self.lowering.unsupported(what)
    }
    fn malformed(&self, what: impl core::fmt::Display) -> Finding {
        Finding::error(MALFORMED, roundonce_isa::Location::Whole, format!("{}: {what}", self.opcode()))
    }
    /// The name of the instruction at work.
    fn opcode(&self) -> String {
        instruction_name(self.at.opcode)
    }

    /// The value of an id and its type.
    fn typed_value(&self, id: u32) -> Result<TypedValue> {
        if let Some(typed) = self.frames.last().and_then(|frame| frame.values.get(&id)) {
            return Ok(typed.clone());
        }
        if let Some(typed) = self.globals.get(&id) {
            return Ok(typed.clone());
        }
        if let Some(finding) = self.refused.get(&id) {
            return Err(finding.clone());
        }
        let lowering = self.lowering;
        let name = lowering.module.id(id);
        let Some(constant) = lowering.constants.get(id) else {
            return Err(self.malformed(format!("{name} has no value here")));
        };
        let type_id = constant.type_id;
        let value = match &constant.bits {
            constant::Bits::Known(bits) => bits.iter().map(|&bits| Operand::Imm(bits)).collect(),
            constant::Bits::Null => {
                vec![Operand::ZERO; lowering.parts_of(type_id)?.len()]
            }
            constant::Bits::Unfolded => {
                let (module, facts) = (lowering.module, &lowering.facts);
                let cause = lowering.constants.unfolded(module, facts, id);
                let op = facts.instruction(module, cause).map_or_else(String::new, |at| {
                    let inner = constant::operation(module, at);
                    let inner = inner.map_or_else(String::new, |op| format!(" of {}", instruction_name(op as u16)));
                    instruction_name(at.opcode) + &inner
                });
                return Err(self.unsupported(format!("{op} {}", module.id(cause))));
            }
        };
        Ok(TypedValue { type_id, value: Value::Parts(value.into()) })
    }
}
