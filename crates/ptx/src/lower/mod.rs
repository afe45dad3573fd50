//! From a module to a program that engines run.
//!
//! Kernels are lowered one by one: names resolved, calls inlined, vectors taken apart. What the program form lacks
//! (tensor memory, integer matrices) is a finding that names it and its place, given before anything runs where every
//! thread reaches it; elsewhere it is [`Op::Unsupported`], which ends a launch that reaches it.
//!
//! Reading order: this file (modules, functions, scopes), `statement` (one instruction by its opcode's row), `operand`,
//! then one file a family.

mod analysis;
mod bulk;
mod call;
mod control;
mod convert;
mod copy;
mod declare;
mod float;
mod image;
mod integer;
mod kernels;
mod matrix;
mod mbarrier;
mod memory;
mod mma;
mod module;
mod operand;
mod order;
mod parameters;
mod routine;
mod stack;
mod statement;
mod tf32;
mod video;
mod warp;
mod wgmma;

use crate::ast::{Function, Instruction, Module, Operands, Space, Statement, Variable};
use crate::scopes::{Found, Map, Scopes};
use crate::types::Type;
use declare::RangeOf;
use roundonce_arith::Profile;
use roundonce_ir::{
    Block, Guard, Instruction as Step, Kernel, MemoryOrder, Op, Program, Reg, SourceLoc, Terminator, Width,
};
use roundonce_isa::{Finding, LineIndex, SmTarget, Version};
use routine::{Routine, Site};
use statement::Spelled;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

pub(crate) use analysis::lower_for_analysis;

type Result<T> = core::result::Result<T, Finding>;

/// A construct that cannot be run.
pub const UNSUPPORTED: &str = "PTX0100";
/// A name, an operand or a type that does not fit where it stands.
const MALFORMED: &str = "PTX0101";
/// How the message of an [`UNSUPPORTED`] finding ends.
const CANNOT_BE_RUN: &str = " cannot be run";

/// Lowers a kernel, or every kernel where none is named.
///
/// # Errors
/// Everything in the way: `PTX0100` for a construct that cannot be run, `PTX0101` for what is malformed.
///
/// ```
/// let text = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k () { exit; }";
/// let parsed = roundonce_ptx::parse(text);
/// let program = roundonce_ptx::lower(&parsed.module, None).unwrap();
/// assert_eq!(program.kernels[0].name, "k");
/// ```
pub fn lower(module: &Module, entry: Option<&str>) -> core::result::Result<Program, Vec<Finding>> {
    lower_with(module, &Settings { entry, ..Settings::default() })
}

/// What a module is lowered with.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'s> {
    /// The kernel; every one where none is named.
    pub entry: Option<&'s str>,
    /// How large a kernel may be: its operations and blocks, calls inlined.
    pub largest_kernel: usize,
    /// Bytes of a thread's stack, for recursive functions, those called through addresses, and `alloca`.
    pub stack_bytes: u32,
    /// Bytes that `malloc` gives away in all.
    pub heap_bytes: u64,
    /// The machine whose matrix multiply-add it is; the module's target where none is named.
    pub machine: Option<SmTarget>,
    /// What the documents leave open of matrix multiply-adds.
    pub profile: Profile,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        let largest_kernel = roundonce_ir::LARGEST_KERNEL;
        let profile = Profile::NVIDIA;
        Settings { entry: None, largest_kernel, stack_bytes: 16 << 10, heap_bytes: 8 << 20, machine: None, profile }
    }
}

/// As [`lower`], with other settings.
///
/// # Errors
/// As [`lower`].
pub fn lower_with(module: &Module, settings: &Settings<'_>) -> core::result::Result<Program, Vec<Finding>> {
    let (mut lowering, mut findings) = Lowering::new(module, settings);
    if !findings.is_empty() {
        return Err(findings);
    }
    let chosen = kernels(module).filter(|function| settings.entry.is_none_or(|name| name == function.name));
    let chosen: Vec<_> = chosen.collect();
    let lowered = lowering.kernels(&chosen);
    if let Some(first) = chosen.first().filter(|_| lowering.are_too_large()) {
        return Err(vec![lowering.together(first)]);
    }
    for lowered in lowered {
        match lowered {
            Ok(kernel) => lowering.program.kernels.push(kernel),
            Err(found) => findings.extend(found),
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    verified(lowering.program, &lowering.lines)
}

/// Every kernel of a module as a program of its own, with its function; [`Settings::entry`] is not asked.
///
/// # Errors
/// Of the module's variables; each kernel has errors of its own.
pub fn lower_each<'m, 'a>(
    module: &'m Module<'a>,
    settings: &Settings<'m>,
) -> core::result::Result<Vec<LoweredKernel<'m, 'a>>, Vec<Finding>> {
    let (lowering, findings) = Lowering::new(module, settings);
    if !findings.is_empty() {
        return Err(findings);
    }
    let functions: Vec<_> = kernels(module).collect();
    let lowered = lowering.kernels(&functions);
    let each = functions.into_iter().zip(lowered).map(|(function, lowered)| {
        let program = |kernel| Program { kernels: vec![kernel], ..lowering.program.clone() };
        (function, lowered.and_then(|kernel| verified(program(kernel), &lowering.lines)))
    });
    Ok(each.collect())
}

/// A kernel and what [`lower_each`] made of it.
pub type LoweredKernel<'m, 'a> = (&'m Function<'a>, core::result::Result<Program, Vec<Finding>>);

fn kernels<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = &'m Function<'a>> {
    module.functions().filter(|function| function.is_entry && function.body.is_some())
}

/// What is left to find are operands whose types do not fit their instruction.
fn verified(program: Program, lines: &LineIndex<'_>) -> core::result::Result<Program, Vec<Finding>> {
    match program.verify() {
        Ok(()) => Ok(program),
        Err(invalid) => {
            let start = lines.start(invalid.line as usize);
            let message = format!("the operands do not fit the instruction: {}", invalid.message);
            Err(vec![Finding::error(MALFORMED, roundonce_isa::Location::Span { start, end: start }, message)])
        }
    }
}

/// The shared variables that a function declares.
fn shared_variables<'m, 'a>(
    module: &'m Module<'a>,
    function: &'m Function<'a>,
) -> impl Iterator<Item = &'m Variable<'a>> {
    let variables = function.body.iter().flatten().filter_map(|statement| match statement {
        Statement::Variables(variables) => Some(module.variables(*variables)),
        _ => None,
    });
    variables.flatten().filter(|variable| variable.space == Space::Shared)
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Entity<'m, 'a> {
    /// A register.
    Register(Reg, Type),
    /// `.reg .v4 .f32 v`
    Vector(Vec<Reg>),
    /// A parameter of the kernel: its place in the parameter block.
    Param(u32),
    /// A parameter of a call: a register, as long as its address is not taken.
    CallParam(Reg, Type),
    /// An address in local memory.
    Local(u32),
    /// An offset in the frame of a routine's call.
    Frame(u32),
    /// An address in shared memory.
    Shared(u32),
    /// A variable of the program.
    Global(u32),
    /// A texture, a sampler or a surface outside functions.
    Opaque(&'m Variable<'a>),
    /// A block.
    Label(usize),
    /// `.branchtargets`, `.calltargets`
    Targets(Operands),
    /// `.callprototype`
    Prototype(&'m Function<'a>),
}

/// A name's meaning.
#[derive(Clone, Debug)]
struct Named<'m, 'a> {
    entity: Entity<'m, 'a>,
    /// What [`element_bytes`] says.
    element: Option<u32>,
}

/// The bytes that an index of an array counts: those of its type, `.v4` aside.
fn element_bytes(variable: &Variable<'_>) -> Option<u32> {
    Type::of(variable.ty).filter(|_| variable.dimensions.len > 0).map(Type::bytes)
}

impl<'m, 'a> Named<'m, 'a> {
    /// What a variable's name means.
    fn of(variable: &Variable<'a>, entity: Entity<'m, 'a>) -> Named<'m, 'a> {
        Named { entity, element: element_bytes(variable) }
    }
}

/// A module being lowered.
struct Lowering<'m, 'a> {
    module: &'m Module<'a>,
    program: Program,
    version: Version,
    target: SmTarget,
    /// The machine that runs it.
    machine: SmTarget,
    /// `.target map_f64_to_f32`
    narrows_f64: bool,
    /// Names of the whole module.
    globals: HashMap<&'a str, Named<'m, 'a>>,
    functions: Map<&'a str, &'m Function<'a>>,
    /// The shared variables of functions that are no kernels, in the text's order.
    shared_of_functions: Vec<&'m Variable<'a>>,
    lines: LineIndex<'a>,
    /// By the text of an opcode with its modifiers.
    spellings: Map<&'a str, Arc<Spelled<'a>>>,
    /// What `.file` gives each index.
    files: HashMap<u32, &'a str>,
    settings: Settings<'m>,
    /// Operations and blocks of the kernels that are made already.
    size: AtomicUsize,
    /// Variables that the runtime makes, where the module needs them: the heap, what a grid's barrier counts in.
    heap: Option<u32>,
    grid_workspace: Option<u32>,
    /// Where the shared memory starts that the system's software keeps for itself, in a module that asks for it.
    reserved_shared: Option<u32>,
    /// Functions that call themselves, if only through others.
    recursive: HashSet<&'a str>,
    /// Functions that allocate on the stack, or restore it.
    moves_stack: HashSet<&'a str>,
    /// Functions whose address is taken, and the addresses.
    addressed: Vec<&'m Function<'a>>,
    code_addresses: HashMap<&'a str, u64>,
    /// Bytes of the module's own shared variables.
    shared_bytes: u32,
    /// The largest alignment of these.
    shared_align: u32,
    /// Shared variables whose size the launch gives, and their alignment.
    dynamic_shared: Vec<(&'m Variable<'a>, u32)>,
}

/// A block, perhaps without its end yet.
#[derive(Clone)]
struct Draft {
    instructions: Vec<Step>,
    terminator: Option<Terminator>,
    loc: u32,
}

impl Draft {
    fn block(self) -> Block {
        let terminator = self.terminator.unwrap_or(Terminator::Exit);
        Block { instructions: self.instructions, terminator, loc: self.loc }
    }
}

/// What a function is lowered for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// An engine runs it: everything must be understood, and calls are inlined.
    Run,
    /// It is looked at: what is not understood is [`Op::Unsupported`], a call among it.
    Analysis,
}

/// A kernel being lowered.
struct Body<'l, 'm, 'a> {
    lowering: &'l Lowering<'m, 'a>,
    module: &'m Module<'a>,
    kernel: Kernel,
    blocks: Vec<Draft>,
    current: usize,
    /// From the function's names to those of the innermost braces. A register of a range is made when it is first named:
    /// a module may declare thousands that it does not use.
    scopes: Scopes<'a, Named<'m, 'a>, (RangeOf<'m, 'a>, u32)>,
    /// How many ranges were declared, and the registers made of each: one may be written in several ways.
    ranges: u32,
    of_ranges: Map<(u32, u32), Entity<'m, 'a>>,
    /// The offsets of the shared variables of functions, by the positions of their declarations.
    shared: HashMap<u32, u32>,
    /// Where the shared variables begin whose size the launch gives.
    dynamic: HashMap<&'a str, Named<'m, 'a>>,
    /// The functions that are being inlined, the innermost last, and where each returns to.
    calls: Vec<(&'a str, usize)>,
    /// Functions that are not inlined, in the order of their bodies, and where each is in it.
    routines: Vec<Routine<'m, 'a>>,
    routine_of: HashMap<&'a str, usize>,
    /// The one being lowered.
    owner: Option<usize>,
    first_of_routines: usize,
    sites: Vec<Site>,
    /// Where the frame of the current call begins, where there are routines.
    frame: Option<Reg>,
    /// Where what `alloca` takes of the stack begins.
    stack: Option<Reg>,
    /// Sums whose last operand is the size of a routine's frame, or of the kernel's: block and instruction.
    ends_of_frames: Vec<(Option<usize>, usize, usize)>,
    guard: Option<Guard>,
    /// Of the instruction's accesses to memory.
    order: MemoryOrder,
    loc: u32,
    /// Instructions and blocks so far.
    size: usize,
    too_large: bool,
    /// The places of inlined instructions, by their first byte: a function may be inlined many times.
    inlined_locs: HashMap<u32, u32>,
    /// What the last `.loc` named: `saxpy.cu:7:12`.
    source: String,
    /// The span of the current instruction.
    span: crate::ast::Span,
    /// The carry flag.
    carry: Reg,
    local_top: u32,
    findings: Vec<Finding>,
    /// The first of those for which there is an [`Op::Unsupported`].
    unsupported: Vec<Finding>,
    purpose: Purpose,
    /// What a function returns, where it is not inlined.
    returned: Vec<Reg>,
    /// Parameters that the kernel declares; behind them are those that stand for textures and surfaces of the module.
    own_params: usize,
}

impl<'m, 'a> Lowering<'m, 'a> {
    fn line(&self, byte: u32) -> u32 {
        self.lines.number(byte as usize) as u32
    }
}

impl<'l, 'm, 'a> Body<'l, 'm, 'a> {
    /// With its first block, empty.
    fn new(lowering: &'l Lowering<'m, 'a>, function: &Function<'a>, purpose: Purpose) -> Body<'l, 'm, 'a> {
        let mut kernel = Kernel::new(function.name);
        kernel.aligned_vectors = true;
        let carry = kernel.register(Width::Pred);
        (kernel.shared_bytes, kernel.shared_align) = (lowering.shared_bytes, lowering.shared_align);
        let mut body = Body {
            lowering,
            module: lowering.module,
            kernel,
            blocks: Vec::new(),
            current: 0,
            scopes: Scopes::default(),
            ranges: 0,
            of_ranges: Map::default(),
            shared: HashMap::new(),
            dynamic: HashMap::new(),
            calls: Vec::new(),
            routines: Vec::new(),
            routine_of: HashMap::new(),
            owner: None,
            first_of_routines: 0,
            sites: Vec::new(),
            frame: None,
            stack: None,
            ends_of_frames: Vec::new(),
            guard: None,
            order: MemoryOrder::WEAK,
            loc: 0,
            size: 0,
            too_large: false,
            inlined_locs: HashMap::new(),
            source: String::new(),
            span: function.span,
            carry,
            local_top: 0,
            findings: Vec::new(),
            unsupported: Vec::new(),
            purpose,
            returned: Vec::new(),
            own_params: 0,
        };
        body.new_block();
        body
    }

    /// A kernel's parameters, then its body.
    fn entry(&mut self, function: &'m Function<'a>) -> Result<()> {
        let mut offset = 0u32;
        for variable in self.module.variables(function.parameters) {
            let opaque = image::opaque_passing(variable.ty);
            let (size, align) = if opaque.is_some() { (image::HANDLE, image::HANDLE) } else { self.size_of(variable)? };
            offset = aligned(offset, align);
            let ty = Type::of(variable.ty);
            // A scalar's type may say how a number is meant; a structure is bytes.
            let scalar = ty.filter(|_| variable.dimensions.len == 0 && variable.lanes <= 1).and_then(Type::scalar);
            self.kernel.params.push(roundonce_ir::Param {
                name: variable.name.to_owned(),
                offset,
                size,
                scalar,
                passing: opaque.unwrap_or(roundonce_ir::Passing::Any),
            });
            self.scopes.declare(variable.name, Named::of(variable, Entity::Param(offset)));
            offset = offset.checked_add(size).ok_or_else(|| self.malformed("the parameters are too large"))?;
        }
        self.kernel.param_bytes = offset;
        self.own_params = self.kernel.params.len();
        for directive in &function.directives {
            self.performance(directive)?;
        }
        self.shared_before(function)?;
        if let Some(body) = &function.body {
            self.statements(body)?;
        }
        Ok(())
    }

    /// Shared variables of the kernel and of all functions it may call, then those whose size the launch gives: these
    /// start behind everything else.
    fn shared_before(&mut self, function: &'m Function<'a>) -> Result<()> {
        let mut top = self.kernel.shared_bytes;
        let own = shared_variables(self.module, function);
        // What is only looked at calls nothing.
        let (before, behind) = match self.purpose {
            Purpose::Analysis => Default::default(),
            Purpose::Run => {
                let all = &self.lowering.shared_of_functions;
                all.split_at(all.partition_point(|other| other.span.start < function.span.start))
            }
        };
        for variable in before.iter().copied().chain(own).chain(behind.iter().copied()) {
            let (size, align) = self.size_of(variable)?;
            self.kernel.shared_align = self.kernel.shared_align.max(align);
            top = aligned(top, align);
            self.shared.insert(variable.span.start, top);
            top = top.checked_add(size).ok_or_else(|| self.malformed("too much shared memory"))?;
        }
        self.kernel.shared_bytes = top;
        for &(variable, align) in &self.lowering.dynamic_shared {
            let align = align.max(16);
            self.kernel.shared_align = self.kernel.shared_align.max(align);
            let start = aligned(top, align);
            self.kernel.shared_bytes = self.kernel.shared_bytes.max(start);
            self.dynamic.insert(variable.name, Named::of(variable, Entity::Shared(start)));
        }
        Ok(())
    }

    fn finish(mut self) -> Kernel {
        self.kernel.blocks = self.blocks.into_iter().map(Draft::block).collect();
        self.kernel
    }

    /// `.maxntid`, `.reqntid`, `.reqnctapercluster`: a cluster is taken to be one block.
    fn performance(&mut self, directive: &crate::ast::Directive<'a>) -> Result<()> {
        let mut sizes = [1u32; 3];
        let operands = self.module.operands(directive.operands);
        for (size, operand) in sizes.iter_mut().zip(operands) {
            match crate::literal::evaluate(self.module, operand) {
                Ok(value) => *size = value.bits_as(".u32").unwrap_or(1) as u32,
                Err(_) => return Ok(()),
            }
        }
        match directive.name {
            ".reqntid" => self.kernel.required_block = Some(sizes),
            ".reqnctapercluster" if sizes.iter().any(|&size| size > 1) => {
                let [x, y, z] = sizes;
                return Err(self.unsupported(format!("a cluster of {x} × {y} × {z} blocks")));
            }
            ".maxntid" => self.kernel.max_threads = sizes.iter().copied().reduce(u32::saturating_mul),
            _ => {}
        }
        Ok(())
    }

    fn name(&mut self, name: &'a str, entity: Entity<'m, 'a>) {
        self.scopes.declare(name, Named { entity, element: None });
    }

    /// What a name stands for here.
    fn find(&mut self, name: &'a str) -> Option<Entity<'m, 'a>> {
        self.find_named(name).map(|named| named.entity)
    }

    /// The same, with what an index of it counts.
    fn find_named(&mut self, name: &'a str) -> Option<Named<'m, 'a>> {
        match self.scopes.find(name) {
            Some(Found::Name(_, named)) => Some(named.clone()),
            Some(Found::InRange(scope, number, (of, range))) => {
                let (of, range) = (of.clone(), *range);
                let known = self.of_ranges.get(&(range, number)).cloned();
                let entity = known.unwrap_or_else(|| self.of_range(of, number));
                self.of_ranges.insert((range, number), entity.clone());
                let named = Named { entity, element: None };
                self.scopes.declare_in(scope, name, named.clone());
                Some(named)
            }
            None => {
                let dynamic = self.dynamic.get(name).cloned();
                self.kernel.dynamic_shared |= dynamic.is_some();
                dynamic.or_else(|| self.lowering.globals.get(name).cloned())
            }
        }
    }

    fn new_block(&mut self) -> usize {
        self.size += 1;
        self.blocks.push(Draft { instructions: Vec::new(), terminator: None, loc: 0 });
        self.blocks.len() - 1
    }

    /// Ends the current block, if it has no end yet.
    fn end(&mut self, terminator: Terminator) {
        let loc = self.loc;
        let block = &mut self.blocks[self.current];
        if block.terminator.is_none() {
            block.terminator = Some(terminator);
            block.loc = loc;
        }
    }

    /// Continues in another block; the current one falls through into it.
    fn start(&mut self, block: usize) {
        let draft = &mut self.blocks[self.current];
        if draft.terminator.is_none() {
            (draft.terminator, draft.loc) = (Some(Terminator::Jump(block)), 0);
        }
        self.current = block;
    }

    /// Goes on in a block that an assembler does not join with this one.
    fn separate(&mut self) {
        let block = self.new_block();
        self.start(block);
        self.kernel.separate.push(block);
    }

    /// Emits an operation under the guard.
    fn emit(&mut self, op: Op) {
        self.size += 1;

        let step = Step { op, guard: self.guard, loc: self.loc, order: self.order };
        self.blocks[self.current].instructions.push(step);
    }

    fn fresh(&mut self, width: Width) -> Reg {
        self.kernel.register(width)
    }

    fn unsupported(&self, what: impl core::fmt::Display) -> Finding {
        Finding::error(UNSUPPORTED, self.span.place(), format!("{what}{CANNOT_BE_RUN}"))
    }

    fn malformed(&self, what: impl core::fmt::Display) -> Finding {
        Finding::error(MALFORMED, self.span.place(), what.to_string())
    }

    fn set_loc(&mut self, instruction: &Instruction<'a>) {
        self.span = instruction.span;
        if let Some(&known) = self.inlined_locs.get(&instruction.span.start) {
            self.loc = known;
            return;
        }
        let line = self.lowering.line(instruction.span.start);
        // On one line, whatever white space the printer puts between the parts.
        let mut text = crate::print_instruction(self.module, instruction);
        if text.contains(['\n', '\t']) || text.contains("  ") {
            text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        let span = instruction.span.start as usize..instruction.span.end as usize;
        self.kernel.source_locs.push(SourceLoc { line, text, source: self.source.clone(), span });
        self.loc = self.kernel.source_locs.len() as u32 - 1;
        if !self.calls.is_empty() {
            self.inlined_locs.insert(instruction.span.start, self.loc);
        }
    }
}

const fn aligned(offset: u32, align: u32) -> u32 {
    let align = if align == 0 { 1 } else { align };
    offset.div_ceil(align).saturating_mul(align)
}
