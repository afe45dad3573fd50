//! A straight-line listing as a program that engines run.
//!
//! Every lane has its own registers. What the listing reads before it writes it is an input; whatever it writes is an
//! output: each is a buffer of 32 bits a lane. A write to `RZ` without `.CC` does nothing, and what it reads is no input.

use core::fmt;
use std::collections::BTreeMap;

use roundonce_ir::{
    self, Block, Comparand, Comparison, IntOp, Kernel, Op, Param, Passing, Program, Reg, Signedness, Space, Special,
    Terminator, Width,
};
use roundonce_isa::{Finding, LineIndex, Location, Severity};

use crate::instruction::{Guard, Instruction, PT, RZ, Value};
use crate::listing::{Code, Listing};
use crate::print::Register;
use crate::row::Lowering;
use crate::{decode, modern, rules};

/// What a lane has a value in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Name {
    /// A register: 32 bits.
    Register(u8),
    /// A predicate: 0 or not 0.
    Predicate(u8),
    /// A word of a constant bank; the offset is in bytes.
    Constant {
        /// The bank.
        bank: u8,
        /// In bytes.
        offset: u16,
    },
    /// The condition codes: bit 0 Z, bit 1 S; C and V are clear.
    ConditionCodes,
}

/// `R1`, `P0`, `c[0x3][0x140]`, `CC`.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Register(number) => write!(f, "{}", Register(*number)),
            Name::Predicate(number) => write!(f, "P{number}"),
            Name::Constant { bank, offset } => write!(f, "c[{bank:#x}][{offset:#x}]"),
            Name::ConditionCodes => f.write_str("CC"),
        }
    }
}

/// A program and what its parameters are: first the number of lanes (32 bits), then a buffer for each input, then a
/// buffer for each output. A launch may have more threads than lanes.
#[derive(Clone, PartialEq, Debug)]
pub struct Lowered {
    /// One kernel.
    pub program: Program,
    /// What is read before it is written, sorted, in the order of the parameters.
    pub inputs: Vec<Name>,
    /// What is written, sorted, in the order of the parameters.
    pub outputs: Vec<Name>,
}

/// The program of a listing of the rows' instructions; of several kernels, of the one named.
///
/// # Errors
/// Everything that cannot be read, and everything that is no instruction of the rows.
///
/// ```
/// let lowered = roundonce_sass::lower("FFMA.CC R0, R1, c[0x3][0x140], -R0;", None).unwrap();
/// let names = |names: &[roundonce_sass::Name]| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
/// assert_eq!(names(&lowered.inputs), "R0 R1 c[0x3][0x140]");
/// assert_eq!(names(&lowered.outputs), "R0 CC");
/// assert!(lowered.program.verify().is_ok());
/// ```
pub fn lower(text: &str, entry: Option<&str>) -> Result<Lowered, Vec<Finding>> {
    if let Some(target) = modern::listing_target(text) {
        return modern::lower(text, entry, target);
    }
    let (listing, mut findings) = Listing::parse(text);
    let (name, lines) = match kernel_lines(&listing.kernels, &listing.lines, entry) {
        Ok(kernel) => kernel,
        Err(message) => {
            findings.push(rules::ENTRY.finding(Location::Whole, message));
            return Err(findings);
        }
    };
    let mut builder = KernelBuilder::default();
    let text_lines = LineIndex::new(text);
    for line in lines {
        let instruction = match &line.code {
            Code::Statement(statement) => {
                if let Some(fault) = statement.fault {
                    findings.push(rules::encode_finding(statement, fault));
                }
                Ok(statement.instruction)
            }
            Code::Word(word) => decode(*word),
        };
        match instruction {
            Err(error) => findings.push(rules::OPCODE.finding(line.location, error.to_string())),
            Ok(instruction) => {
                if let Some(name) = instruction.illegal_modifier() {
                    findings.push(rules::INVALID_FMZ.finding(line.location, format!("`{name}` means nothing")));
                }
                let (start, end) = match line.location {
                    Location::Span { start, end } => (start, end),
                    Location::Word(_) | Location::Whole => (0, 0),
                };
                let number = text_lines.line_column(start).0;
                let written = text.get(start..end).unwrap_or_default();
                if let Err(message) = builder.instruction(&instruction, number as u32, written) {
                    findings.push(rules::UNMEASURED.finding(line.location, message));
                }
            }
        }
    }
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    Ok(builder.finish(&name))
}

/// The name and the lines of the kernel that is meant.
pub(crate) fn kernel_lines<'a, L>(
    kernels: &[(String, usize)],
    lines: &'a [L],
    entry: Option<&str>,
) -> Result<(String, &'a [L]), String> {
    let names = || kernels.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let at = match (entry, kernels.len()) {
        (None, 0) => return Ok(("listing".to_owned(), lines)),
        (None, 1) => 0,
        (Some(entry), 0) => {
            return Err(format!("the listing has no kernel `{entry}`: its instructions stand under no name"));
        }
        (None, _) => return Err(format!("the listing has several kernels, name one: {}", names())),
        (Some(entry), _) => {
            let found = kernels.iter().position(|(name, _)| name == entry);
            found.ok_or_else(|| format!("the listing has no kernel `{entry}`; it has {}", names()))?
        }
    };
    let (name, first) = &kernels[at];
    let end = kernels.get(at + 1).map_or(lines.len(), |(_, next)| *next);
    // Code before the first label belongs to the only kernel.
    let first = if kernels.len() == 1 { 0 } else { *first };
    Ok((name.clone(), lines.get(first..end).unwrap_or_default()))
}

#[derive(Default)]
pub(crate) struct KernelBuilder {
    pub(crate) body: Vec<roundonce_ir::Instruction>,
    registers: Vec<Width>,
    /// The program's register of each name.
    names: BTreeMap<Name, Reg>,
    inputs: Vec<Name>,
    outputs: Vec<Name>,
    source_locs: Vec<roundonce_ir::SourceLoc>,
}

const NO_ARGS: [roundonce_ir::Operand; 4] = [roundonce_ir::Operand::ZERO; 4];

pub(crate) fn integer(op: IntOp, d: Reg, width: Width, args: &[roundonce_ir::Operand]) -> Op {
    let mut all = NO_ARGS;
    all[..args.len()].copy_from_slice(args);
    Op::Int { d, op, width, args: all }
}

/// Whether a move writes all four bytes.
fn moves_all(instruction: &Instruction) -> bool {
    instruction.operands().last().is_some_and(|mask| mask.value == Value::Immediate(0xf))
}

impl KernelBuilder {
    pub(crate) fn register(&mut self, width: Width) -> Reg {
        self.registers.push(width);
        Reg(self.registers.len() as u32 - 1)
    }

    /// The program's register of a name, an input if nothing wrote it yet.
    pub(crate) fn read(&mut self, name: Name) -> Reg {
        if let Some(reg) = self.names.get(&name) {
            return *reg;
        }
        let width = if matches!(name, Name::Predicate(_)) { Width::Pred } else { Width::B32 };
        let reg = self.register(width);
        self.names.insert(name, reg);
        self.inputs.push(name);
        reg
    }

    /// The program's register that a write goes to. Under a guard some lanes keep the old value, which is then read.
    pub(crate) fn write(&mut self, name: Name, guarded: bool) -> Reg {
        if !self.outputs.contains(&name) {
            self.outputs.push(name);
        }
        if guarded {
            return self.read(name);
        }
        if let Some(reg) = self.names.get(&name) {
            return *reg;
        }
        let reg = self.register(Width::B32);
        self.names.insert(name, reg);
        reg
    }

    fn operand(&mut self, value: Value) -> Result<roundonce_ir::Operand, String> {
        Ok(match value {
            Value::Register(RZ) => roundonce_ir::Operand::ZERO,
            Value::Register(number) => self.read(Name::Register(number)).into(),
            Value::Constant { bank, offset } => self.read(Name::Constant { bank, offset }).into(),
            Value::Immediate(bits) => roundonce_ir::Operand::Imm(u64::from(bits)),
            other => return Err(format!("an operand of this kind ({}) is not run", other.kind().name())),
        })
    }

    /// A new source location.
    pub(crate) fn source_loc(&mut self, line: u32, text: &str) -> u32 {
        self.source_locs.push(roundonce_ir::SourceLoc {
            line,
            text: text.to_owned(),
            source: String::new(),
            span: 0..0,
        });
        // Location 0 means none.
        self.source_locs.len() as u32
    }

    /// The program's guard; `None` where the instruction never runs.
    pub(crate) fn guard(&mut self, guard: Guard) -> Option<Option<roundonce_ir::Guard>> {
        match guard {
            Guard { predicate: PT, negated: true } => None,
            Guard { predicate: PT, negated: false } => Some(None),
            Guard { predicate, negated } => {
                let pred = self.read(Name::Predicate(predicate));
                Some(Some(roundonce_ir::Guard { pred, expected: !negated }))
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction, line: u32, text: &str) -> Result<(), String> {
        let recipe = instruction.recipe();
        match instruction.row().lowering {
            Lowering::Move if moves_all(instruction) => {}
            Lowering::Arithmetic(_) if recipe.is_some() || instruction.illegal_modifier().is_some() => {}
            _ => return Err(format!("`{}` is not run", text.trim())),
        }
        let loc = self.source_loc(line, text);
        let Some(guard) = self.guard(instruction.guard()) else { return Ok(()) };
        let destination = instruction.destination();
        let condition_codes = recipe.is_some_and(|recipe| recipe.condition_codes);
        if destination == RZ && !condition_codes {
            return Ok(());
        }
        let operands = instruction.operands();
        let sources = operands[1..].iter().map(|operand| self.operand(operand.value));
        let sources: Vec<roundonce_ir::Operand> = sources.collect::<Result<_, _>>()?;
        let d = match destination {
            RZ => self.register(Width::B32),
            number => self.write(Name::Register(number), guard.is_some()),
        };
        let op = match instruction.row().lowering {
            Lowering::Arithmetic(arithmetic) => {
                let mut args = [roundonce_ir::Operand::ZERO; 3];
                args[..sources.len()].copy_from_slice(&sources);
                // An illegal modifier, which leaves no recipe, is an error of the listing.
                let operation = recipe.unwrap_or(arithmetic.recipe).operation;
                Op::Float { d, operation, components: 1, contractible: false, args }
            }
            Lowering::Move | Lowering::None => Op::Move { d, a: sources[0] },
        };
        self.body.push(roundonce_ir::Instruction { guard, ..roundonce_ir::Instruction::new(op, loc) });
        if condition_codes {
            self.condition_codes(d, guard, loc);
        }
        Ok(())
    }

    /// Z is zero or NaN, S is negative (not −0) or NaN: the profile's decision, on the result's bits.
    fn condition_codes(&mut self, result: Reg, guard: Option<roundonce_ir::Guard>, loc: u32) {
        let magnitude = self.register(Width::B32);
        let [nan, zero, below, z, s] = [(); 5].map(|()| self.register(Width::Pred));
        let [z_bit, s_bit] = [(); 2].map(|()| self.register(Width::B32));
        let codes = self.write(Name::ConditionCodes, guard.is_some());
        let imm = roundonce_ir::Operand::Imm;
        let compare = |d, comparison, a: Reg, b| Op::Compare {
            d,
            comparison,
            of: Comparand::Unsigned(Width::B32),
            a: a.into(),
            b: imm(b),
        };
        let select = |d, p: Reg, a| Op::Select { d, p: p.into(), a: imm(a), b: imm(0) };
        let ops = [
            integer(IntOp::And, magnitude, Width::B32, &[result.into(), imm(0x7fff_ffff)]),
            compare(nan, Comparison::Gt, magnitude, 0x7f80_0000),
            compare(zero, Comparison::Eq, magnitude, 0),
            compare(below, Comparison::Gt, result, 0x8000_0000),
            integer(IntOp::Or, z, Width::Pred, &[nan.into(), zero.into()]),
            integer(IntOp::Or, s, Width::Pred, &[nan.into(), below.into()]),
            select(z_bit, z, 1),
            select(s_bit, s, 2),
            integer(IntOp::Or, codes, Width::B32, &[z_bit.into(), s_bit.into()]),
        ];
        self.body.extend(ops.map(|op| roundonce_ir::Instruction { guard, ..roundonce_ir::Instruction::new(op, loc) }));
    }

    /// The kernel around the body: the lane's number, loads, the body, stores.
    pub(crate) fn finish(mut self, name: &str) -> Lowered {
        self.inputs.sort();
        self.outputs.sort();
        let mut kernel = Kernel::new(name);
        kernel.source_locs.append(&mut self.source_locs);
        kernel.params.push(Param {
            name: "lanes".to_owned(),
            offset: 0,
            size: 4,
            scalar: None,
            passing: Passing::Value,
        });
        let buffers = self.inputs.iter().map(|name| name.to_string());
        let buffers: Vec<String> =
            buffers.chain(self.outputs.iter().map(|name| format!("{name} afterwards"))).collect();
        for (index, name) in buffers.into_iter().enumerate() {
            kernel.params.push(Param {
                name,
                offset: 8 + 8 * index as u32,
                size: 8,
                scalar: None,
                passing: Passing::Buffer,
            });
        }
        kernel.param_bytes = 8 * kernel.params.len() as u32;

        let [lanes, tid, size, block, lane] = [(); 5].map(|()| self.register(Width::B32));
        let offset = self.register(Width::B64);
        let inside = self.register(Width::Pred);
        let special = |d, special| Op::Special { d, special };
        let load_param = |d, at: u32, bytes| Op::Load {
            d: vec![Some(d)],
            space: Space::Param,
            bytes,
            signed: false,
            address: roundonce_ir::Operand::ZERO,
            offset: i64::from(at),
        };
        let entry = [
            load_param(lanes, 0, 4),
            special(tid, Special::Tid(0)),
            special(size, Special::Ntid(0)),
            special(block, Special::Ctaid(0)),
            integer(IntOp::MulAdd, lane, Width::B32, &[block.into(), size.into(), tid.into()]),
            integer(
                IntOp::MulWide(Signedness::Unsigned),
                offset,
                Width::B32,
                &[lane.into(), roundonce_ir::Operand::Imm(4)],
            ),
            Op::Compare {
                d: inside,
                comparison: Comparison::Lt,
                of: Comparand::Unsigned(Width::B32),
                a: lane.into(),
                b: lanes.into(),
            },
        ];

        let mut work = Vec::new();
        let address = |builder: &mut KernelBuilder, param: usize, work: &mut Vec<roundonce_ir::Instruction>| {
            let [base, at] = [(); 2].map(|()| builder.register(Width::B64));
            work.push(roundonce_ir::Instruction::new(load_param(base, 8 * param as u32, 8), 0));
            let sum = integer(IntOp::Add, at, Width::B64, &[base.into(), offset.into()]);
            work.push(roundonce_ir::Instruction::new(sum, 0));
            at
        };
        let global = Space::Global;
        for (index, name) in self.inputs.clone().into_iter().enumerate() {
            let at = address(&mut self, 1 + index, &mut work);
            let reg = self.names[&name];
            let is_predicate = matches!(name, Name::Predicate(_));
            let loaded = if is_predicate { self.register(Width::B32) } else { reg };
            let load = Op::Load {
                d: vec![Some(loaded)],
                space: global,
                bytes: 4,
                signed: false,
                address: at.into(),
                offset: 0,
            };
            work.push(roundonce_ir::Instruction::new(load, 0));
            if is_predicate {
                let test = Op::Compare {
                    d: reg,
                    comparison: Comparison::Ne,
                    of: Comparand::Unsigned(Width::B32),
                    a: loaded.into(),
                    b: roundonce_ir::Operand::ZERO,
                };
                work.push(roundonce_ir::Instruction::new(test, 0));
            }
        }
        work.append(&mut self.body);
        let first_output = 1 + self.inputs.len();
        for (index, name) in self.outputs.clone().into_iter().enumerate() {
            let at = address(&mut self, first_output + index, &mut work);
            let values = vec![self.names[&name].into()];
            let store = Op::Store { values, width: Width::B32, space: global, bytes: 4, address: at.into(), offset: 0 };
            work.push(roundonce_ir::Instruction::new(store, 0));
        }

        kernel.registers = self.registers;
        let first = entry.map(|op| roundonce_ir::Instruction::new(op, 0)).to_vec();
        let branch = Terminator::Branch { pred: inside, then: 1, otherwise: 2 };
        kernel.blocks = vec![
            Block { instructions: first, terminator: branch, loc: 0 },
            Block { instructions: work, terminator: Terminator::Jump(2), loc: 0 },
            Block { instructions: Vec::new(), terminator: Terminator::Exit, loc: 0 },
        ];
        Lowered { program: Program::of(kernel), inputs: self.inputs, outputs: self.outputs }
    }
}
