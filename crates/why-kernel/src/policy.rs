//! What may be done with a kernel beside what it says: each change is a rewriting of its program, a policy is a set of
//! them. Rewriting keeps every instruction's place, so that two runs can be laid side by side.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{Candidate, Comparand, Instruction, Kernel, Op, Operand, Position, Scalar, candidates, fuse};
use serde::Serialize;

/// More products, or more fmas, than this are not tried one by one.
const MAX_SINGLE: usize = 64;

/// One departure from the kernel as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// What the assembler fuses is fused: what `run --contract fuse` does.
    FuseAll,
    /// One product is fused into one sum.
    Fuse(Candidate),
    /// Subnormals of a format are flushed, or kept, everywhere.
    Flush(Format, bool),
    /// Every fma is computed as a product and a sum.
    SplitAll,
    /// One fma is: that at a block's place.
    Split(usize, usize),
    /// Zero factors dominate in every product, or in none.
    ZeroDominance(bool),
    /// Operations without a rounding modifier round in this direction.
    RoundUnmodified(Rounding),
    /// All operations to nearest even round in this direction instead.
    RoundAll(Rounding),
}

/// What a language lets vary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Freedom {
    /// The formats whose subnormals may be flushed or kept.
    pub flushes: Vec<Format>,
    /// It has a mode in which zero factors dominate.
    pub zero_dominance: bool,
}

/// A change as a reader sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChangeText {
    /// `fuse-all`, `fuse`, `flush`, `keep-subnormals`, `split-all`, `split`, `zero-dominance`,
    /// `no-zero-dominance`, `round-unmodified`, `round-all`.
    pub kind: &'static str,
    /// The lines that it is about, where it is not about all: of a fusion the product's and the sum's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<u32>,
    /// The format or the direction, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<&'static str>,
    /// The same in words, as the predicate of a sentence.
    pub sentence: String,
}

/// The multiply-add of an instruction, where it is one.
fn operation(instruction: &Instruction) -> Option<&Operation> {
    match &instruction.op {
        Op::Float { operation, .. } => Some(operation),
        _ => None,
    }
}

/// Every place of a kernel.
fn places(kernel: &Kernel) -> impl Iterator<Item = (usize, usize, &Instruction)> {
    let blocks = kernel.blocks.iter().enumerate();
    blocks.flat_map(|(block, contents)| contents.instructions.iter().enumerate().map(move |(at, it)| (block, at, it)))
}

/// Every change that may make a difference to a kernel, the commoner in practice first, one instruction's before all
/// instructions' where the two come to the same; and how many products and fmas are too many to be tried one by one.
pub(crate) fn changes(kernel: &Kernel, freedom: &Freedom) -> (Vec<Change>, usize) {
    let candidates = candidates(kernel);
    let is_fma = |(_, _, instruction): &(usize, usize, &Instruction)| {
        operation(instruction).is_some_and(|operation| operation.op == ArithOp::MulAdd)
    };
    let fmas: Vec<(usize, usize)> = places(kernel).filter(is_fma).map(|(block, at, _)| (block, at)).collect();
    let mut all = Vec::new();
    let several = |count: usize| count > 1;
    all.extend(candidates.iter().take(MAX_SINGLE).map(|&candidate| Change::Fuse(candidate)));
    all.extend(several(candidates.len()).then_some(Change::FuseAll));
    all.extend(freedom.flushes.iter().flat_map(|&format| [Change::Flush(format, true), Change::Flush(format, false)]));
    all.extend(fmas.iter().take(MAX_SINGLE).map(|&(block, at)| Change::Split(block, at)));
    all.extend(several(fmas.len()).then_some(Change::SplitAll));
    if freedom.zero_dominance {
        all.extend([Change::ZeroDominance(true), Change::ZeroDominance(false)]);
    }
    let directions = [Rounding::TowardZero, Rounding::Down, Rounding::Up];
    all.extend(directions.map(Change::RoundUnmodified));
    all.extend(directions.map(Change::RoundAll));
    let left_out = candidates.len().saturating_sub(MAX_SINGLE) + fmas.len().saturating_sub(MAX_SINGLE);
    (all, left_out)
}

impl Change {
    /// Whether the two say different things about the same.
    pub(crate) fn contradicts(self, other: Change) -> bool {
        match (self, other) {
            (Change::Flush(one, _), Change::Flush(another, _)) => one == another,
            (Change::Fuse(one), Change::Fuse(another)) => one.sum == another.sum,
            (Change::ZeroDominance(_), Change::ZeroDominance(_)) => true,
            _ => self.is_rounding() && other.is_rounding(),
        }
    }

    /// Whether it is about one product or one fma alone.
    pub(crate) fn is_single(self) -> bool {
        matches!(self, Change::Fuse(_) | Change::Split(..))
    }

    fn is_rounding(self) -> bool {
        matches!(self, Change::RoundUnmodified(_) | Change::RoundAll(_))
    }

    /// When it is made: directions and flushes first, which fusing asks for, splitting last, which moves places.
    fn rank(self) -> u32 {
        match self {
            Change::Flush(..) | Change::ZeroDominance(_) | Change::RoundUnmodified(_) | Change::RoundAll(_) => 0,
            Change::FuseAll | Change::Fuse(_) => 1,
            Change::SplitAll | Change::Split(..) => 2,
        }
    }

    pub(crate) fn text(self, kernel: &Kernel) -> ChangeText {
        let line =
            |block: usize, index: usize| kernel.source_locs[kernel.blocks[block].instructions[index].loc as usize].line;
        let name = |format: Format| format.name().unwrap_or("?");
        let (kind, lines, mode, sentence) = match self {
            Change::FuseAll => {
                let sentence = "fuses every product that only sums use (run --contract fuse)".to_owned();
                ("fuse-all", vec![], None, sentence)
            }
            Change::Fuse(Candidate { product, sum, .. }) => {
                let (product, sum) = (line(product.block, product.index), line(sum.block, sum.index));
                let sentence = if product == sum {
                    format!("fuses a product and a sum of line {sum}, which rounds once")
                } else {
                    format!("fuses the product of line {product} into the sum of line {sum}, which rounds once")
                };
                ("fuse", vec![product, sum], None, sentence)
            }
            Change::Flush(format, true) => {
                let sentence = format!("flushes {} subnormals to zero everywhere (-ftz=true)", name(format));
                ("flush", vec![], Some(name(format)), sentence)
            }
            Change::Flush(format, false) => {
                let sentence = format!("keeps {} subnormals everywhere (-ftz=false)", name(format));
                ("keep-subnormals", vec![], Some(name(format)), sentence)
            }
            Change::SplitAll => {
                let sentence = "computes every fma as a product and a sum, which rounds twice".to_owned();
                ("split-all", vec![], None, sentence)
            }
            Change::Split(block, at) => {
                let line = line(block, at);
                let sentence = format!("computes the fma of line {line} as a product and a sum, which rounds twice");
                ("split", vec![line], None, sentence)
            }
            Change::ZeroDominance(true) => {
                ("zero-dominance", vec![], None, "lets a zero factor make every product +0 (.FMZ)".to_owned())
            }
            Change::ZeroDominance(false) => {
                ("no-zero-dominance", vec![], None, "lets no zero factor make a product +0 (no .FMZ)".to_owned())
            }
            Change::RoundUnmodified(rounding) => {
                let sentence = format!("rounds what has no rounding modifier {}", direction(rounding));
                ("round-unmodified", vec![], Some(rounding.name()), sentence)
            }
            Change::RoundAll(rounding) => {
                let sentence = format!("rounds {} what is written to nearest even", direction(rounding));
                ("round-all", vec![], Some(rounding.name()), sentence)
            }
        };
        ChangeText { kind, lines, mode, sentence }
    }
}

fn direction(rounding: Rounding) -> &'static str {
    roundonce_why::direction(rounding.name())
}

/// The kernel with changes made to it.
pub(crate) fn changed(kernel: &Kernel, changes: &[Change]) -> Kernel {
    let mut changes = changes.to_vec();
    changes.sort_by_key(|change| change.rank());
    let mut changed = kernel.clone();
    let mut splits = Vec::new();
    let mut fusions = Vec::new();
    for change in changes {
        match change {
            Change::FuseAll => fusions.extend(candidates(kernel).into_iter().filter(|candidate| candidate.fuses)),
            Change::Fuse(only) => fusions.push(only),
            Change::SplitAll => splits.extend(places(kernel).map(|(block, at, _)| (block, at))),
            Change::Split(block, at) => splits.push((block, at)),
            _ => instructions(&mut changed).for_each(|instruction| set(&mut instruction.op, change)),
        }
    }
    let copies = fuse(&mut changed, &fusions);
    splits.sort_unstable();
    splits.dedup();
    for (block, at) in splits.into_iter().rev() {
        // What fusing has made stays.
        if operation(&kernel.blocks[block].instructions[at]).is_some_and(|operation| operation.op == ArithOp::MulAdd) {
            let before = |copy: &&Position| copy.block == block && copy.index <= at;
            split(&mut changed, block, at + copies.iter().filter(before).count());
        }
    }
    changed
}

fn instructions(kernel: &mut Kernel) -> impl Iterator<Item = &mut Instruction> {
    kernel.blocks.iter_mut().flat_map(|block| &mut block.instructions)
}

/// An fma as a product, rounded, and a sum.
fn split(kernel: &mut Kernel, block: usize, at: usize) {
    let instruction = kernel.blocks[block].instructions[at].clone();
    let Op::Float { d, operation, components, contractible, args: [a, b, c] } = instruction.op else { return };
    let product = kernel.register(roundonce_ir::Width::holding(operation.format.width() * components));
    let mul = Operation { op: ArithOp::Mul, negate_addend: false, saturate: false, ..operation };
    let add =
        Operation { op: ArithOp::Add, source_format: operation.format, negate_product: false, fmz: false, ..operation };
    let first = Op::Float { d: product, operation: mul, components, contractible, args: [a, b, Operand::ZERO] };
    let second = Op::Float { d, operation: add, components, contractible, args: [product.into(), c, Operand::ZERO] };
    let both = [first, second].map(|op| Instruction { op, ..instruction });
    kernel.blocks[block].instructions.splice(at..=at, both);
}

/// A mode set on one operation, as far as it has it.
fn set(op: &mut Op, change: Change) {
    match (change, op) {
        (Change::Flush(format, on), op) => set_flush(op, format, on),
        (Change::ZeroDominance(on), Op::Float { operation, .. })
            if operation.format == Format::F32 && matches!(operation.op, ArithOp::Mul | ArithOp::MulAdd) =>
        {
            // The mode flushes too; without it, what is written beside it stays.
            operation.flush |= on;
            operation.fmz = on;
        }
        (Change::RoundUnmodified(to), Op::Float { operation, contractible: true, .. }) => operation.rounding = to,
        (Change::RoundAll(to), op) => {
            let rounding = match op {
                Op::Float { operation, .. } => &mut operation.rounding,
                Op::Divide { rounding, .. } | Op::SquareRoot { rounding, .. } | Op::Scale { rounding, .. } => rounding,
                Op::Convert { rounding, to: Scalar::Float(_), integral: false, .. } => rounding,
                _ => return,
            };
            if *rounding == Rounding::NearestEven {
                *rounding = to;
            }
        }
        _ => {}
    }
}

fn set_flush(op: &mut Op, wanted: Format, on: bool) {
    let is_wanted = |scalar: &Scalar| *scalar == Scalar::Float(wanted);
    match op {
        // What sm_1x does is no matter of a flag.
        Op::Float { operation, .. } if operation.format == wanted && operation.op != ArithOp::TruncatedMulAdd => {
            operation.flush = on;
        }
        Op::Sign { format, flush, .. }
        | Op::Divide { format, flush, .. }
        | Op::SquareRoot { format, flush, .. }
        | Op::Scale { format, flush, .. }
        | Op::Approximate { format, flush, .. }
        | Op::MinMax { format, flush, .. }
        | Op::Compare { of: Comparand::Float(format, flush), .. }
            if *format == wanted =>
        {
            *flush = on;
        }
        Op::Convert { to, from, flush, .. } if is_wanted(to) || is_wanted(from) => *flush = on,
        _ => {}
    }
}
