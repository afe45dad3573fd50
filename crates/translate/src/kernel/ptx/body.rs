//! A kernel: its header, its blocks and how they end.

use roundonce_ir::{Guard, Instruction, Kernel, Op, Operand, Passing, Program, Reg, Terminator, Width};
use roundonce_isa::{Finding, Gate, SmTarget};

use super::super::open::Approximations;
use super::super::{Argument, location};
use super::copies::Copies;
use super::lines::Lines;
use super::names::{ModuleNames, Names};
use super::needs::{Needs, since};
use super::ordering::Ordering;
use super::params::Params;
use super::text::{Arg, Symbol, bits_type, place, prefix, push_number};
use crate::rules::{NO_COUNTERPART, UNAVAILABLE};

/// More are not collected.
const MOST_FINDINGS: usize = 20;

/// Bytes of shared memory that a kernel may declare; more is the launch's.
const DECLARED_SHARED: u32 = 48 << 10;

/// The alignment of what a kernel declares of shared memory, where it asks for none that is larger.
const SHARED_ALIGN: u32 = 128;

/// The shared memory that only a launch gives, where a kernel declares none.
pub(super) const DYNAMIC_SHARED: &str = "dynamic_shared";

/// What the kernels of a module share.
pub(super) struct Shared<'p> {
    pub(super) program: &'p Program,
    pub(super) needs: Needs,
    pub(super) findings: Vec<Finding>,
    /// What is written with a loss.
    pub(super) losses: Vec<Finding>,
    /// Of each kernel that is written, what is open.
    pub(super) open: Vec<Vec<Finding>>,
    /// Whether `vprintf` is called.
    pub(super) prints: bool,
    /// The alignment of the launch's shared memory, where a kernel has no other.
    pub(super) dynamic_shared: Option<u32>,
}

/// Whether an instruction was written; `Err` says what has no counterpart.
pub(super) type Written = Result<(), Refusal>;

/// Why an instruction is not written.
#[derive(Debug)]
pub(super) enum Refusal {
    /// PTX has nothing with the same bits: what it is.
    NoCounterpart(String),
    /// PTX has it, but not on the target or in the version that is asked for.
    Unavailable(String),
}

pub(super) fn none<T>(what: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::NoCounterpart(what.into()))
}

/// Addresses that the kernel's code adds to those of the source, which begin at 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) symbol: Symbol,
    pub(super) width: Width,
}

/// A kernel that is being written.
pub(super) struct Body<'b> {
    pub(super) program: &'b Program,
    pub(super) kernel: &'b Kernel,
    pub(super) names: Names<'b>,
    pub(super) params: Params,
    needs: &'b mut Needs,
    pub(super) prints: bool,
    /// Its instructions so far.
    pub(super) text: String,
    /// Of each register, its number among those of its width.
    pub(super) numbers: Vec<u32>,
    /// How many the writer has of its own, by width. Each is written in one place: an engine that asks what is known of a
    /// register would find less in one that serves twice.
    pub(super) temporaries: [u32; 4],
    pub(super) copies: Copies,
    /// The addresses that are added, in registers from the kernel's start on.
    bases: Vec<Base>,
    /// Whether the arrays of shared and local memory are named.
    named: [bool; 2],
    pub(super) guard: Option<Guard>,
    /// The place of the instruction at work.
    pub(super) loc: u32,
    /// How the current access is ordered.
    pub(super) ordering: Ordering,
    /// Whether the kernel has textures and surfaces, once that was asked.
    pub(super) images: Option<[bool; 2]>,
    /// Labels of the writer's own loops.
    loops: u32,
    /// What the translation does not carry over.
    pub(super) losses: Vec<Finding>,
    pub(super) approximations: Approximations,
}

/// Writes a kernel behind the text.
pub(super) fn write<'p>(
    shared: &mut Shared<'p>,
    names: &mut ModuleNames,
    lines: &mut Lines<'p>,
    index: usize,
    out: &mut String,
) -> Vec<Argument> {
    let program = shared.program;
    let Some(kernel) = program.kernels.get(index) else { return Vec::new() };
    let params = Params::of(kernel);
    let reached = reached(kernel);
    let name = names.kernels[index].clone();
    let (numbers, counts) = numbered(&kernel.registers);
    let mut body = Body {
        program,
        kernel,
        names: names.of_kernel(kernel, &params.added),
        params,
        needs: &mut shared.needs,
        prints: false,
        text: String::new(),
        numbers,
        temporaries: [0; 4],
        copies: Copies::of(kernel, &reached),
        bases: Vec::new(),
        named: [false; 2],
        guard: None,
        loc: 0,
        ordering: Ordering::default(),
        images: None,
        loops: 0,
        losses: Vec::new(),
        approximations: Approximations::default(),
    };
    lines.before(kernel, out);
    let mut findings = body.blocks(kernel, &reached, lines);
    if kernel.shared_bytes > DECLARED_SHARED {
        let (name, bytes) = (&kernel.name, kernel.shared_bytes);
        let what = format!("`{name}` declares {bytes} bytes of shared memory, {DECLARED_SHARED} can be: what is more");
        findings.push(body.finding(Refusal::NoCounterpart(what), 0));
    }
    body.write_whole(&name, counts, out);
    shared.prints |= body.prints;
    if body.named[0] && kernel.shared_bytes == 0 {
        shared.dynamic_shared = shared.dynamic_shared.max(Some(kernel.shared_align));
    }
    shared.losses.append(&mut body.losses);
    shared.open.push(body.approximations.finding().into_iter().collect());
    let arguments = body.params.arguments;
    let left = MOST_FINDINGS.saturating_sub(shared.findings.len());
    shared.findings.extend(findings.into_iter().take(left));
    arguments
}

/// Each register's number among those of its width, and how many there are of each.
fn numbered(registers: &[Width]) -> (Vec<u32>, [u32; 4]) {
    let mut counts = [0; 4];
    let number = |width: &Width| {
        let count = &mut counts[place(*width)];
        *count += 1;
        *count
    };
    let numbers = registers.iter().map(number).collect();
    (numbers, counts)
}

/// Which blocks the first leads to.
fn reached(kernel: &Kernel) -> Vec<bool> {
    let mut reached = vec![false; kernel.blocks.len()];
    let mut todo = vec![0];
    while let Some(at) = todo.pop() {
        let Some(block) = kernel.blocks.get(at) else { continue };
        if !core::mem::replace(&mut reached[at], true) {
            todo.extend(block.terminator.successors());
        }
    }
    reached
}

impl Body<'_> {
    /// All blocks that are reached, in their order; what has no counterpart.
    fn blocks<'p>(&mut self, kernel: &'p Kernel, reached: &[bool], lines: &mut Lines<'p>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let is_target = targets(kernel, reached);
        for (at, block) in kernel.blocks.iter().enumerate().filter(|(at, _)| reached[*at]) {
            if is_target[at] {
                self.push_label(at);
                self.text.push_str(":\n");
            }
            self.copies.begin_block();
            for instruction in &block.instructions {
                if self.copies.is_dead(instruction) {
                    self.copies.after(instruction);
                    continue;
                }
                lines.at(kernel, instruction.loc, &mut self.text);
                if let Err(refusal) = self.instruction(instruction) {
                    findings.push(self.finding(refusal, instruction.loc));
                    if findings.len() >= MOST_FINDINGS {
                        return findings;
                    }
                }
            }
            if block.loc != 0 {
                lines.at(kernel, block.loc, &mut self.text);
            }
            let next = (at + 1..kernel.blocks.len()).find(|&next| reached[next]);
            let ended = |last: &Instruction| last.op == Op::Exit && last.guard.is_none();
            if block.terminator == Terminator::Exit && block.instructions.last().is_some_and(ended) {
                continue;
            }
            if let Err(refusal) = self.terminator(&block.terminator, next) {
                findings.push(self.finding(refusal, block.loc));
            }
        }
        findings
    }

    fn finding(&self, refusal: Refusal, loc: u32) -> Finding {
        let (rule, message) = match refusal {
            Refusal::NoCounterpart(what) => (NO_COUNTERPART, format!("{what} has no counterpart in PTX")),
            Refusal::Unavailable(what) => (UNAVAILABLE, what),
        };
        Finding::error(rule.code, location(self.kernel, loc), message)
    }

    fn instruction(&mut self, instruction: &Instruction) -> Written {
        (self.guard, self.loc) = (instruction.guard, instruction.loc);
        let written = self.ordered(instruction);
        self.guard = None;
        self.copies.after(instruction);
        written
    }

    pub(super) fn op(&mut self, op: &Op) -> Written {
        match op {
            Op::Move { d, a } => self.mov(*d, *a),
            Op::Special { d, special } => self.special(*d, *special),
            Op::Float { d, operation, components, args, .. } => self.float(*d, operation, *components, *args),
            Op::Sign { d, negate, format, flush, arithmetic, a } => {
                self.sign(*d, *negate, *format, *flush, *arithmetic, *a)
            }
            Op::Divide { d, format, rounding, flush, a, b } => self.divide(*d, *format, *rounding, *flush, [*a, *b]),
            Op::Remainder { d, format, a, b } => self.remainder(*d, *format, *a, *b),
            Op::SquareRoot { d, format, rounding, flush, a } => self.square_root(*d, *format, *rounding, *flush, *a),
            Op::Scale { d, format, rounding, flush, a, exponent } => {
                self.scale(*d, *format, *rounding, *flush, [*a, *exponent])
            }
            Op::Approximate { d, function, format, flush, saturate, a, b, name } => {
                self.approximate(*d, *function, *format, [*flush, *saturate], [*a, *b], name)
            }
            Op::MinMax { d, max, format, flush, nan, xorsign_abs, a, b } => {
                let how = super::special_float::Extremum {
                    max: *max,
                    format: *format,
                    flush: *flush,
                    nan: *nan,
                    xorsign_abs: *xorsign_abs,
                };
                self.min_max(*d, how, [*a, *b])
            }
            Op::CopySign { d, format, sign, magnitude } => self.copy_sign(*d, *format, *sign, *magnitude),
            Op::Compare { d, comparison, of, a, b } => self.compare(*d, *comparison, *of, *a, *b),
            Op::Classify { d, class, format, a } => self.classify(*d, *class, *format, *a),
            Op::Select { d, p, a, b } => self.select(*d, *p, *a, *b),
            Op::Convert { d, to, from, rounding, integral, flush, saturate, a } => {
                let how = super::convert::How {
                    to: *to,
                    from: *from,
                    rounding: *rounding,
                    integral: *integral,
                    flush: *flush,
                    saturate: *saturate,
                };
                self.convert(*d, how, *a)
            }
            Op::ConvertPacked { d, conversion, args } => self.convert_packed(*d, conversion, args),
            Op::Int { d, op, width, args } => self.integer(*d, *op, *width, args),
            Op::Carry { d, out, subtract, carry, a, b } => self.carry(*d, *out, *subtract, *carry, [*a, *b]),
            Op::Pack { d, low, high } => self.pack(*d, *low, *high),
            Op::Extract { d, a, width, shift } => self.extract(*d, *a, *width, *shift),
            Op::Load { d, space, bytes, signed, address, offset } => {
                self.load(d, (*space, *bytes, *signed), *address, *offset)
            }
            Op::Store { values, width, space, bytes, address, offset } => {
                self.store(values, *width, (*space, *bytes), *address, *offset)
            }
            Op::Atomic { .. } => self.atomic(op),
            Op::ImageLoad { .. }
            | Op::ImageStore { .. }
            | Op::ImageAddress { .. }
            | Op::ImageSample { .. }
            | Op::ImageQuery { .. } => self.image(op),
            Op::Barrier { kind, id, count } => self.barrier(*kind, *id, *count),
            Op::WarpBarrier { mask } => {
                self.using(since(6, 0, 30), &["bar.warp.sync"])?;
                let mask = self.int(*mask, Width::B32);
                self.ins(&["bar.warp.sync"], &[mask]);
                Ok(())
            }
            Op::Fence => Ok(()),
            Op::Shuffle { d, p, mode, a, b, c, mask } => self.shuffle((*d, *p), *mode, [*a, *b, *c], *mask),
            Op::Vote { d, mode, a, mask } => self.vote(*d, *mode, *a, *mask),
            Op::Match { d, p, all, width, a, mask } => self.matching((*d, *p), *all, *width, *a, *mask),
            Op::ActiveMask { d } => {
                self.using(since(6, 2, 30), &["activemask.b32"])?;
                self.ins(&["activemask.b32"], &[(*d).into()]);
                Ok(())
            }
            Op::Elect { d, p, mask } => self.elect(*d, *p, *mask),
            Op::Reduce { d, reduction, a, mask } => self.reduce(*d, *reduction, *a, *mask),
            Op::MultiplyMatrices { multiply, d, a, b, c, scales } => {
                self.multiply_matrices(multiply, d, [a, b, c], scales.as_ref())
            }
            Op::Print { d, format, args } => self.print(*d, *format, *args),
            Op::Trap { .. } => {
                self.ins(&["trap"], &[]);
                Ok(())
            }
            Op::Exit => {
                self.ins(&["ret"], &[]);
                Ok(())
            }
            Op::Unsupported { message, .. } => none(message.clone()),
        }
    }

    /// Something that not every target has is written.
    pub(super) fn using(&mut self, gate: Gate, words: &[&str]) -> Written {
        self.needs.using(gate, words).map_err(Refusal::Unavailable)
    }

    /// Textures are read.
    pub(super) fn textures(&mut self, separate: bool) -> Written {
        self.needs.textures(separate).map_err(Refusal::NoCounterpart)
    }

    /// Matrices are multiplied as any of these machines does it, which have the instruction by a gate each.
    pub(super) fn using_machines(&mut self, machines: &[(SmTarget, Gate)], spelling: &str) -> Written {
        self.needs.using_machines(machines, spelling).map_err(Refusal::Unavailable)
    }

    /// Whether it can be written without a later target than is asked for, or than the lowest.
    pub(super) fn has(&self, gate: &Gate) -> bool {
        self.needs.has(gate)
    }

    /// Whether it can be written at all.
    pub(super) fn may_have(&self, gate: &Gate) -> bool {
        self.needs.may_have(gate)
    }

    /// The machine that is asked for.
    pub(super) fn asked_target(&self) -> Option<SmTarget> {
        self.needs.asked_target()
    }

    /// The width of an address.
    pub(super) fn address_width(&self) -> Width {
        if self.program.address_bits == 32 { Width::B32 } else { Width::B64 }
    }

    /// Where memory of the kernel begins, in a register from its start on.
    pub(super) fn base(&mut self, symbol: Symbol, width: Width) -> Arg<'static> {
        let base = Base { symbol, width };
        if !self.bases.contains(&base) {
            self.bases.push(base);
        }
        self.name(symbol);
        Arg::Text(base_name(base))
    }

    /// Memory of the kernel is named.
    pub(super) fn name(&mut self, symbol: Symbol) {
        match symbol {
            Symbol::Shared => self.named[0] = true,
            Symbol::Local => self.named[1] = true,
            Symbol::Param(_) | Symbol::Variable(_) => {}
        }
    }

    /// A label of the writer's own.
    pub(super) fn new_label(&mut self) -> u32 {
        self.loops += 1;
        self.loops
    }

    fn push_label(&mut self, block: usize) {
        self.text.push_str("$L");
        push_number(&mut self.text, block as u64);
    }

    fn jump(&mut self, guard: Option<Guard>, target: usize) {
        self.text.push_str("    ");
        if let Some(guard) = guard {
            self.push_guard(guard);
        }
        self.text.push_str("bra ");
        self.push_label(target);
        self.text.push_str(";\n");
    }

    fn terminator(&mut self, terminator: &Terminator, next: Option<usize>) -> Written {
        let falls = |target: usize| next == Some(target);
        match terminator {
            Terminator::Jump(target) if falls(*target) => {}
            Terminator::Jump(target) => self.jump(None, *target),
            Terminator::Branch { then, otherwise, .. } if then == otherwise => {
                return self.terminator(&Terminator::Jump(*then), next);
            }
            Terminator::Branch { pred, then, otherwise } => {
                if falls(*then) {
                    self.jump(Some(Guard { pred: *pred, expected: false }), *otherwise);
                } else {
                    self.jump(Some(Guard { pred: *pred, expected: true }), *then);
                    if !falls(*otherwise) {
                        self.jump(None, *otherwise);
                    }
                }
            }
            Terminator::Switch { index, targets, otherwise } => return self.switch(*index, targets, *otherwise, next),
            Terminator::Exit => self.ins(&["ret"], &[]),
        }
        Ok(())
    }

    /// `brx.idx` where the index is among the targets.
    fn switch(&mut self, index: Operand, targets: &[usize], otherwise: usize, next: Option<usize>) -> Written {
        if targets.is_empty() {
            return self.terminator(&Terminator::Jump(otherwise), next);
        }
        self.using(since(6, 0, 30), &["brx.idx"])?;
        let index = self.register(index, Width::B32);
        let count = Arg::Int(targets.len() as u64, Width::B32);
        let past = self.computed(Width::Pred, &["setp.ge.u32"], &[index, count]);
        self.text.push_str("    @");
        self.push_arg(&past);
        self.text.push_str(" bra ");
        self.push_label(otherwise);
        self.text.push_str(";\n");
        let label = self.new_label();
        self.line(format_args!("$Lswitch{label}:"));
        self.text.push_str("    .branchtargets ");
        for (place, target) in targets.iter().enumerate() {
            if place > 0 {
                self.text.push_str(", ");
            }
            self.push_label(*target);
        }
        self.text.push_str(";\n    brx.idx ");
        self.push_arg(&index);
        self.line(format_args!(", $Lswitch{label};"));
        Ok(())
    }

    /// The kernel as a whole.
    fn write_whole(&self, name: &str, counts: [u32; 4], out: &mut String) {
        let kernel = self.kernel;
        out.push_str(".visible .entry ");
        out.push_str(name);
        out.push('(');
        self.params.declare(kernel, &self.names.params, out);
        out.push_str(")\n");
        let numbers = |out: &mut String, directive: &str, numbers: &[u32]| {
            out.push_str(directive);
            for (index, number) in numbers.iter().enumerate() {
                out.push_str(if index == 0 { " " } else { ", " });
                push_number(out, (*number).into());
            }
            out.push('\n');
        };
        match (kernel.required_block, kernel.max_threads) {
            (Some(sizes), _) => numbers(out, ".reqntid", &sizes),
            (None, Some(most)) => numbers(out, ".maxntid", &[most]),
            (None, None) => {}
        }
        out.push_str("{\n");
        let mut array = |space: &str, align: u32, name: &str, bytes: u32| {
            out.push_str("    .");
            out.push_str(space);
            out.push_str(" .align ");
            push_number(out, align.into());
            out.push_str(" .b8 ");
            out.push_str(name);
            out.push('[');
            push_number(out, bytes.into());
            out.push_str("];\n");
        };
        // What is declared is part of what a launch takes, even where nothing is accessed.
        if kernel.shared_bytes > 0 {
            array("shared", kernel.shared_align.max(SHARED_ALIGN), &self.names.shared, kernel.shared_bytes);
        }
        if kernel.local_bytes > 0 || self.named[1] {
            array("local", 16, &self.names.local, kernel.local_bytes.max(1));
        }
        for width in [Width::Pred, Width::B16, Width::B32, Width::B64] {
            let register = |out: &mut String, suffix: &str, count: u32| {
                if count > 0 {
                    out.push_str("    .reg ");
                    out.push_str(bits_type(width));
                    out.push(' ');
                    out.push_str(prefix(width));
                    out.push_str(suffix);
                    out.push('<');
                    push_number(out, count.into());
                    out.push_str(">;\n");
                }
            };
            let count = counts[place(width)];
            register(out, "", if count > 0 { count + 1 } else { 0 });
            register(out, "t", self.temporaries[place(width)]);
        }
        for base in &self.bases {
            for part in ["    .reg ", bits_type(base.width), " ", base_name(*base), ";\n    mov"] {
                out.push_str(part);
            }
            let symbol = self.base_symbol(base.symbol);
            for part in [bits_type(base.width), " ", base_name(*base), ", ", symbol, ";\n"] {
                out.push_str(part);
            }
        }
        out.push_str(&self.text);
        out.push_str("}\n");
    }

    /// What a symbol is called; the launch's shared memory where the kernel declares none.
    pub(super) fn base_symbol(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Shared if self.kernel.shared_bytes == 0 => DYNAMIC_SHARED,
            symbol => self.names.of(symbol),
        }
    }

    /// How a parameter is passed.
    pub(super) fn passing(&self, index: usize) -> Option<Passing> {
        self.kernel.params.get(index).map(|param| param.passing)
    }

    /// The width of a register.
    pub(super) fn width(&self, reg: Reg) -> Width {
        self.kernel.width(reg)
    }
}

/// The register with an address that is added.
const fn base_name(base: Base) -> &'static str {
    match (base.symbol, base.width) {
        (Symbol::Shared, Width::B64) => "%shared64",
        (Symbol::Shared, _) => "%shared",
        (Symbol::Local, Width::B64) => "%local64",
        (Symbol::Local, _) => "%local",
        (_, Width::B64) => "%params64",
        _ => "%params",
    }
}

/// Which blocks something jumps to that is not the end of the block before.
fn targets(kernel: &Kernel, reached: &[bool]) -> Vec<bool> {
    let mut is_target = vec![false; kernel.blocks.len()];
    for (at, block) in kernel.blocks.iter().enumerate().filter(|(at, _)| reached[*at]) {
        let next = (at + 1..kernel.blocks.len()).find(|&next| reached[next]);
        let falls = match &block.terminator {
            Terminator::Jump(target) => Some(*target),
            Terminator::Branch { then, otherwise, .. } if Some(*then) != next || then == otherwise => Some(*otherwise),
            Terminator::Branch { then, .. } => Some(*then),
            Terminator::Switch { .. } | Terminator::Exit => None,
        };
        let mut fallen = falls.is_some() && falls == next;
        for target in block.terminator.successors() {
            let is_fall = Some(target) == falls && core::mem::take(&mut fallen);
            is_target[target] |= !is_fall;
        }
    }
    is_target
}
