//! Where two runs first differ: which thread wrote an element, and the first instruction of it whose results differ.

use std::collections::BTreeSet;

use roundonce_arith::{ArithOp, Format, Profile};
use roundonce_exec::{Arg, Buffer, Computed, Launch, Options, TraceLine};
use roundonce_ir::{
    Comparand, Comparison, Guard, Instruction, IntOp, Kernel, Op, Operand, Param, Passing, Reg, Role, Scalar, Space,
    Special, Width,
};
use roundonce_isa::{hex_bits, shortest_decimal};
use serde::Serialize;

use crate::search::{communicates, run};
use roundonce_why::Component;

/// Instructions of one thread that are kept, over all threads of a block that are looked through.
const MAX_LINES: usize = 2_000_000;

/// A thread of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Thread {
    /// Its block in the grid.
    pub block: [u32; 3],
    /// Its place in the block.
    pub thread: [u32; 3],
}

/// A place counted through an extent, the first axis fastest.
fn counted([x, y, z]: [u32; 3], [width, height, _]: [u32; 3]) -> u64 {
    u64::from(x) + u64::from(width) * (u64::from(y) + u64::from(height) * u64::from(z))
}

/// The reverse.
fn place(number: u64, [width, height, _]: [u32; 3]) -> [u32; 3] {
    let (width, height) = (u64::from(width.max(1)), u64::from(height.max(1)));
    [number % width, number / width % height, number / width / height].map(|axis| axis as u32)
}

impl Thread {
    /// Its block, counted through the grid.
    pub(crate) fn block_number(&self, grid: [u32; 3]) -> u64 {
        counted(self.block, grid)
    }
}

/// The thread that writes a byte of an argument's buffer last: found by running the kernel with a probe at each store.
pub(crate) fn last_writer(
    launch: &Launch<'_>,
    kernel: &Kernel,
    arg: usize,
    byte: usize,
    bytes: usize,
) -> Option<Thread> {
    let mut probe = StoreProbe::new(kernel, launch.program.address_bits, arg, byte as u64, bytes as u64);
    for block in 0..probe.kernel.blocks.len() {
        let instructions = std::mem::take(&mut probe.kernel.blocks[block].instructions);
        for instruction in instructions {
            probe.instruction(instruction);
        }
        probe.kernel.blocks[block].instructions = std::mem::take(&mut probe.body);
    }
    let mut launch = launch.clone();
    launch.args.push(Arg::Buffer(Buffer::zeros(4 * RECORD_WORDS)));
    let options = Options { threads: 1, ..launch.options.clone() };
    let report = run(&launch, &probe.kernel, options).ok()?;
    match report.buffers.last()?.as_ref()?.words() {
        &[1, bx, by, bz, tx, ty, tz, _] => Some(Thread { block: [bx, by, bz], thread: [tx, ty, tz] }),
        _ => None,
    }
}

/// Words that a probe records: that it has run, the block, the thread, and one to make it a power of two.
const RECORD_WORDS: usize = 8;

/// A kernel being instrumented: every store to some bytes records its thread.
struct StoreProbe {
    kernel: Kernel,
    body: Vec<Instruction>,
    address: Width,
    /// Where the parameter block has the addresses of the watched buffer and of the record.
    watched: i64,
    record: i64,
    /// The watched bytes of the buffer.
    byte: u64,
    bytes: u64,
}

impl StoreProbe {
    fn new(kernel: &Kernel, address_bits: u32, arg: usize, byte: u64, bytes: u64) -> StoreProbe {
        let mut kernel = kernel.clone();
        let offset = kernel.param_bytes.next_multiple_of(8);
        let size = address_bits / 8;
        let name = "record".to_owned();
        kernel.params.push(Param { name, offset, size, scalar: None, passing: Passing::Buffer });
        kernel.param_bytes = offset + 8;
        let watched = kernel.params[arg].offset.into();
        let address = Width::holding(address_bits);
        StoreProbe { kernel, body: Vec::new(), address, watched, record: offset.into(), byte, bytes }
    }

    fn push(&mut self, op: Op) {
        self.body.push(Instruction::new(op, 0));
    }

    fn integer(&mut self, op: IntOp, width: Width, a: Operand, b: Operand) -> Reg {
        let d = self.kernel.register(width);
        self.push(Op::Int { d, op, width, args: [a, b, Operand::ZERO, Operand::ZERO] });
        d
    }

    fn param(&mut self, offset: i64) -> Reg {
        let d = self.kernel.register(self.address);
        let bytes = self.address.bits() / 8;
        let address = Operand::ZERO;
        self.push(Op::Load { d: vec![Some(d)], space: Space::Param, bytes, signed: false, address, offset });
        d
    }

    /// The instruction, with a probe before it if it writes the watched bytes.
    fn instruction(&mut self, instruction: Instruction) {
        let written = match &instruction.op {
            Op::Store { space: Space::Global | Space::Generic, address, offset, values, bytes, .. } => {
                Some((*address, *offset, u64::from(*bytes) * values.len() as u64))
            }
            Op::Atomic { space: Space::Global | Space::Generic, address, offset, bytes, high, .. } => {
                Some((*address, *offset, u64::from(*bytes) * if high.is_some() { 2 } else { 1 }))
            }
            _ => None,
        };
        if let Some((address, offset, bytes)) = written {
            self.record(instruction.guard, address, offset, bytes);
        }
        self.body.push(instruction);
    }

    fn record(&mut self, guard: Option<Guard>, address: Operand, offset: i64, bytes: u64) {
        let width = self.address;
        let base = self.param(self.watched);
        // The store begins at most `bytes - 1` before the watched bytes and ends behind their first: the distance from
        // its first byte to their last, as an unsigned number, is below the two lengths together.
        let shift = (self.byte + self.bytes - 1).wrapping_sub(offset as u64) & width.mask();
        let last = self.integer(IntOp::Add, width, base.into(), Operand::Imm(shift));
        let distance = self.integer(IntOp::Sub, width, last.into(), address);
        let mut hit = self.kernel.register(Width::Pred);
        self.push(Op::Compare {
            d: hit,
            comparison: Comparison::Lt,
            of: Comparand::Unsigned(width),
            a: distance.into(),
            b: Operand::Imm(bytes + self.bytes - 1),
        });
        if let Some(Guard { pred, expected }) = guard {
            let holds =
                if expected { pred } else { self.integer(IntOp::Xor, Width::Pred, pred.into(), Operand::Imm(1)) };
            hit = self.integer(IntOp::And, Width::Pred, hit.into(), holds.into());
        }
        let mut values = vec![Operand::Imm(1)];
        for special in [0, 1, 2].map(Special::Ctaid).into_iter().chain([0, 1, 2].map(Special::Tid)) {
            let d = self.kernel.register(Width::B32);
            self.push(Op::Special { d, special });
            values.push(d.into());
        }
        values.push(Operand::ZERO);
        let to = self.param(self.record);
        let op = Op::Store { values, width: Width::B32, space: Space::Global, bytes: 4, address: to.into(), offset: 0 };
        self.body.push(Instruction { guard: Some(Guard { pred: hit, expected: true }), ..Instruction::new(op, 0) });
    }
}

/// What one thread does, of a run of its block alone where that is the same.
pub(crate) fn trace(launch: &Launch<'_>, kernel: &Kernel, thread: Thread) -> Vec<TraceLine> {
    let threads: u64 = launch.block.iter().map(|&axis| u64::from(axis)).product();
    let block = thread.block_number(launch.grid);
    let options = Options {
        trace_lane: Some(block * threads + counted(thread.thread, launch.block)),
        blocks: (!communicates(kernel)).then_some(block..block + 1),
        ..launch.options.clone()
    };
    run(launch, kernel, options).map(|report| report.trace).unwrap_or_default()
}

/// A multiply-add, worked through step by step.
#[derive(Clone, Debug, Serialize)]
pub struct WorkedExample {
    /// Which part of the instruction it is.
    pub what: Part,
    /// Its steps.
    #[serde(flatten)]
    pub component: Component,
    #[serde(skip)]
    pub(crate) kind: ArithOp,
}

/// What a multiply-add is of its instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// A product alone.
    Product,
    /// A sum alone.
    Sum,
    /// All of it.
    Fma,
}

impl Part {
    /// As in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Product => "product",
            Part::Sum => "sum",
            Part::Fma => "fma",
        }
    }
}

/// What an instruction gave in one of two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Computation {
    /// The instruction's line; of machine code its address.
    pub line: u32,
    /// What that is called.
    #[serde(skip)]
    pub place: String,
    /// The instruction as written.
    pub instruction: String,
    /// What it was compiled from, where the module says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The bits that it read, with their value where it computes with floats.
    pub operands: Vec<String>,
    /// What it wrote.
    pub results: Vec<String>,
    /// The multiply-adds that it consists of, with the product that a sum takes in.
    pub worked: Vec<WorkedExample>,
}

/// The first instruction at which two runs differ.
#[derive(Clone, Debug, Serialize)]
pub struct FirstDifference {
    /// The thread whose instruction it is.
    #[serde(flatten)]
    pub thread: Thread,
    /// The thread that wrote the element, if it got the difference from the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<Thread>,
    /// As the kernel is written; of two kernels, in the first.
    pub first: Computation,
    /// Under the policy; of two kernels, in the second.
    pub second: Computation,
}

/// How often a value is followed from the thread that read it to the one that computed it.
const MAX_HOPS: usize = 64;

/// What one thread does in two runs, as long as it takes the same path.
struct Traces {
    thread: Thread,
    first: Vec<TraceLine>,
    second: Vec<TraceLine>,
}

/// Where two kernels of the same instructions first differ: the first instruction, of those that an element of a buffer is
/// computed from, whose results differ. `wrote` is the thread that wrote it, `bits` are its values in the two runs.
pub(crate) fn first_difference(
    launch: &Launch<'_>,
    kernels: [&Kernel; 2],
    wrote: Thread,
    bits: (u64, u64),
) -> Option<FirstDifference> {
    let traces = |thread| Traces::of(launch, kernels, thread);
    let threads: u64 = launch.block.iter().map(|&axis| u64::from(axis)).product();
    let mut traced = traces(wrote);
    let mut sink = traced.last_differing_sink(kernels[0], traced.len(), Some(bits)).or_else(|| {
        // A value that was packed or cut before it was stored.
        traced.last_differing_sink(kernels[0], traced.len(), None)
    });
    let mut lines = 0;
    for _ in 0..MAX_HOPS {
        let at = traced.first_differing(kernels[0], sink?)?;
        if !has_operation(kernels[0], traced.first[at].loc, Op::is_source) {
            return Some(traced.difference(launch, kernels, wrote, at));
        }
        // It is what this thread, or another one, had put there. The neighbours behind it come first: a tree of sums
        // looks there.
        let (one, other) = (&traced.first[at].results, &traced.second[at].results);
        let wanted = one.iter().zip(other).find(|(one, other)| one != other).map(|(one, other)| (one.0, other.0));
        sink = traced.last_differing_sink(kernels[0], at, wanted);
        let own = counted(traced.thread.thread, launch.block);
        let mut others = (own + 1..threads).chain(0..own);
        while sink.is_none() && lines < MAX_LINES {
            let thread = Thread { thread: place(others.next()?, launch.block), ..wrote };
            traced = traces(thread);
            lines += traced.len();
            sink = traced.last_differing_sink(kernels[0], traced.len(), wanted);
        }
    }
    None
}

impl Traces {
    fn of(launch: &Launch<'_>, kernels: [&Kernel; 2], thread: Thread) -> Traces {
        let [mut first, mut second] = kernels.map(|kernel| trace(launch, kernel, thread));
        let same = first.iter().zip(&second).take_while(|(one, other)| one.loc == other.loc).count();
        first.truncate(same);
        second.truncate(same);
        Traces { thread, first, second }
    }

    fn len(&self) -> usize {
        self.first.len()
    }

    /// The last instruction before a place that gives other values to memory, or to other threads, in the two runs: these
    /// values, where they are known.
    fn last_differing_sink(&self, kernel: &Kernel, before: usize, wanted: Option<(u64, u64)>) -> Option<usize> {
        (0..before).rev().find(|&at| {
            let operands = self.first[at].operands.iter().zip(&self.second[at].operands);
            let mut values = operands.map(|(one, other)| (one.0, other.0)).filter(|(one, other)| one != other);
            values.any(|pair| wanted.is_none_or(|wanted| pair == wanted))
                && has_operation(kernel, self.first[at].loc, Op::is_sink)
        })
    }

    /// The first instruction whose results differ, of those that an instruction's operands are computed from.
    fn first_differing(&self, kernel: &Kernel, sink: usize) -> Option<usize> {
        let mut needed: BTreeSet<Reg> = BTreeSet::new();
        let mut first = None;
        for at in (0..=sink).rev() {
            let (reads, writes) = registers(kernel, self.first[at].loc);
            if at != sink && writes.is_disjoint(&needed) {
                continue;
            }
            if at != sink && self.first[at].results != self.second[at].results {
                first = Some(at);
            }
            if at != sink {
                needed.retain(|reg| !writes.contains(reg));
            }
            needed.extend(reads);
        }
        first
    }

    fn difference(&self, launch: &Launch<'_>, kernels: [&Kernel; 2], wrote: Thread, at: usize) -> FirstDifference {
        let (mut first, mut second) = (self.first[at].clone(), self.second[at].clone());
        if first.computed.len() == second.computed.len() {
            // Of several components those that differ.
            let pairs = first.computed.iter().zip(&second.computed).filter(|(a, b)| a.result != b.result);
            (first.computed, second.computed) = pairs.map(|(a, b)| (a.clone(), b.clone())).unzip();
        }
        let profile = &launch.options.profile;
        FirstDifference {
            thread: self.thread,
            through: (self.thread != wrote).then_some(wrote),
            first: computation(kernels[0], &self.first[..at], &first, profile),
            second: computation(kernels[1], &self.second[..at], &second, profile),
        }
    }
}

/// The operations of a source instruction.
fn operations(kernel: &Kernel, place: u32) -> impl Iterator<Item = &Instruction> {
    let instructions = kernel.blocks.iter().flat_map(|block| &block.instructions);
    instructions.filter(move |instruction| instruction.loc == place)
}

/// The registers that a source instruction, which ran, reads and writes.
fn registers(kernel: &Kernel, place: u32) -> (BTreeSet<Reg>, BTreeSet<Reg>) {
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    for instruction in operations(kernel, place) {
        reads.extend(instruction.guard.map(|guard| guard.pred));
        instruction.op.registers(|role, reg| {
            match role {
                Role::Use => reads.insert(reg),
                Role::Def => writes.insert(reg),
            };
        });
    }
    (reads, writes)
}

pub(crate) fn has_operation(kernel: &Kernel, place: u32, asked: impl Fn(&Op) -> bool) -> bool {
    operations(kernel, place).any(|instruction| asked(&instruction.op))
}

/// How an operation exchanges values with memory and with other threads.
trait Communication {
    /// It is a source: its results come from there.
    fn is_source(&self) -> bool;
    /// It is a sink: its operands go there.
    fn is_sink(&self) -> bool;
}

impl Communication for Op {
    fn is_source(&self) -> bool {
        matches!(self, Op::Load { .. } | Op::Barrier { .. }) || self.is_sink() && !matches!(self, Op::Store { .. })
    }
    fn is_sink(&self) -> bool {
        matches!(
            self,
            Op::Store { .. }
                | Op::Atomic { .. }
                | Op::Shuffle { .. }
                | Op::Vote { .. }
                | Op::Match { .. }
                | Op::Reduce { .. }
        )
    }
}

/// A traced line, worked through.
pub(crate) fn computation(kernel: &Kernel, before: &[TraceLine], line: &TraceLine, profile: &Profile) -> Computation {
    let formats = formats(kernel, line.loc);
    let show = |values: &[(u64, u32)]| {
        let value = |&(bits, width): &(u64, u32)| {
            let format = formats.iter().find(|format| format.width() == width);
            let decimal = format.map_or(String::new(), |&format| format!(" {}", shortest_decimal(format, bits)));
            format!("{}{decimal}", hex_bits(width, bits))
        };
        values.iter().map(value).collect()
    };
    let product = line.computed.first().and_then(|sum| product_of(before, sum));
    let computed = product.into_iter().chain(&line.computed);
    Computation {
        line: line.line,
        place: kernel.place_name(line.line),
        instruction: line.text.clone(),
        source: kernel.source_locs[line.loc as usize].source.clone(),
        operands: show(&line.operands),
        results: show(&line.results),
        worked: computed.map(|computed| WorkedExample::of(computed, profile)).collect(),
    }
}

/// The product that a sum adds, if it was computed by an instruction before it.
fn product_of<'t>(before: &'t [TraceLine], sum: &Computed) -> Option<&'t Computed> {
    if sum.operation.op != ArithOp::Add {
        return None;
    }
    let products = before.iter().rev().flat_map(|line| &line.computed);
    products.into_iter().find(|it| it.operation.op == ArithOp::Mul && sum.operands.contains(&it.result))
}

impl WorkedExample {
    fn of(computed: &Computed, profile: &Profile) -> WorkedExample {
        let kind = computed.operation.op;
        let what = match kind {
            ArithOp::Mul => Part::Product,
            ArithOp::Add => Part::Sum,
            ArithOp::MulAdd | ArithOp::TruncatedMulAdd => Part::Fma,
        };
        WorkedExample { what, component: Component::of(&computed.operation, false, &computed.operands, profile), kind }
    }
}

/// The formats that an instruction computes in.
fn formats(kernel: &Kernel, place: u32) -> Vec<Format> {
    let ops = operations(kernel, place).map(|instruction| &instruction.op);
    ops.flat_map(|op| match op {
        Op::Float { operation, .. } => vec![operation.format, operation.source_format],
        Op::Sign { format, .. }
        | Op::Divide { format, .. }
        | Op::Remainder { format, .. }
        | Op::SquareRoot { format, .. }
        | Op::Scale { format, .. }
        | Op::Approximate { format, .. }
        | Op::MinMax { format, .. }
        | Op::CopySign { format, .. }
        | Op::Compare { of: Comparand::Float { format, .. }, .. } => vec![*format],
        Op::Convert { to, from, .. } => [to, from]
            .into_iter()
            .filter_map(|scalar| match scalar {
                Scalar::Float(format) => Some(*format),
                Scalar::Int { .. } => None,
            })
            .collect(),
        _ => Vec::new(),
    })
    .collect()
}
