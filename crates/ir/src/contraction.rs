//! Contraction: which products the assembler fuses into the additions that take them.
//!
//! A `mul` and an `add` or `sub` without a rounding modifier ([`Op::Float`] with `contractible`) may become one
//! multiply-add. The documents only permit it; what is done here is what NVIDIA's assembler was observed to do
//! (docs/contraction.md has the cases, the versions and the exceptions):
//!
//! - Values count, not registers: a product may pass through copies and sign flips, and its factors may be
//!   overwritten before the addition.
//! - Both must have the same format, components and flush, and the product must not saturate or be guarded. The
//!   addition may do both.
//! - Both must be in one straight line of code. Labels that only fall through do not end it; a branch does, and so do
//!   a guarded exit and the operations that are expanded into code with branches ([`ends_block`]).
//! - A product is fused into every addition that uses it, or nowhere: any other use keeps all its additions apart.
//! - Additions take a product in their order; of two products that with fewer uses, of as many the first operand's.
//!   The other one then has a use that is no addition: it is not fused into what follows.
//! - Of operations with one component, the products with one use are taken before all others.

use super::{Function, IntOp, Kernel, LiveSet, Liveness, Op, Operand, Reg, Role, Signedness, Space, Terminator, Width};
use roundonce_arith::{ArithOp, Format, Operation};
use roundonce_isa::fused;
use std::collections::{BTreeSet, HashMap};

/// An instruction of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// Its block.
    pub block: usize,
    /// Its index in the block.
    pub index: usize,
}

/// A contractible product, and a contractible addition or subtraction of the same straight line that may take it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Candidate {
    /// The product.
    pub product: Position,
    /// The addition.
    pub sum: Position,
    /// The product is the addition's first operand, not its second.
    pub first: bool,
    /// The product's sign is flipped on the way.
    pub negated: bool,
    /// The assembler fuses the two.
    pub fuses: bool,
}

impl Candidate {
    /// The one operation that the two become; `None` where the kernel now has others there that do not fit, or the
    /// addition has already taken a product.
    pub(crate) fn operation(&self, kernel: &Kernel) -> Option<Operation> {
        let at = |position: Position| &kernel.blocks[position.block].instructions[position.index].op;
        joined(at(self.product), at(self.sum), self.first, self.negated)
    }
}

/// The operation that a product and an addition become.
fn joined(product: &Op, sum: &Op, first: bool, negated: bool) -> Option<Operation> {
    let (
        Op::Float { operation: mul, components, contractible: true, .. },
        Op::Float { operation: add, components: of_sum, contractible: true, .. },
    ) = (product, sum)
    else {
        return None;
    };
    let mut add = *add;
    let sign = if first { &mut add.negate_product } else { &mut add.negate_addend };
    *sign ^= negated;
    fused(mul, &add, first).filter(|_| components == of_sum)
}

fn is_contractible(op: &Op, wanted: ArithOp) -> bool {
    matches!(op, Op::Float { operation, contractible: true, .. } if operation.op == wanted)
}

fn has_contractible_product(kernel: &Kernel) -> bool {
    let mut instructions = kernel.blocks.iter().flat_map(|block| &block.instructions);
    instructions.any(|instruction| is_contractible(&instruction.op, ArithOp::Mul))
}

/// Every product with every addition that may take it, in the order of the additions of each straight line.
pub fn candidates(kernel: &Kernel) -> Vec<Candidate> {
    if !has_contractible_product(kernel) {
        return Vec::new();
    }
    candidates_of(kernel, &lines(kernel).blocks)
}

/// The pairs that the assembler fuses only where it unrolls a loop: the product of one iteration with the addition of
/// the next, and, where the loop vanishes, what stands directly before it or behind it with what is in it.
///
/// It unrolls before it fuses, so that several iterations are one straight line. Looked at are loops whose body is one
/// straight line that ends in the branch back. Which of them are unrolled, and how often, is not known here.
///
/// `as_written`: the kernel's [`candidates`].
pub fn unrolled_candidates(kernel: &Kernel, as_written: &[Candidate]) -> Vec<Candidate> {
    if !has_contractible_product(kernel) {
        return Vec::new();
    }
    let unrolled = lines(kernel).unrolled(kernel);
    if unrolled.is_empty() {
        return Vec::new();
    }
    let as_written: BTreeSet<&Candidate> = as_written.iter().filter(|candidate| candidate.fuses).collect();
    let found = candidates_of(kernel, &unrolled).into_iter();
    let new: BTreeSet<Candidate> =
        found.filter(|candidate| candidate.fuses && !as_written.contains(candidate)).collect();
    new.into_iter().collect()
}

fn candidates_of(kernel: &Kernel, lines: &[Vec<usize>]) -> Vec<Candidate> {
    let liveness = Liveness::of(kernel);
    lines.iter().flat_map(|blocks| Line::new(kernel, &liveness, blocks).candidates()).collect()
}

/// The straight lines of a kernel.
pub(crate) struct Lines {
    /// Blocks that run one after the other whenever the first does.
    pub(crate) blocks: Vec<Vec<usize>>,
    /// How many ways lead to each block.
    entries: Vec<usize>,
}

impl Lines {
    /// Each loop whose body is one line: what comes directly before it, its body twice, and what follows it.
    fn unrolled(&self, kernel: &Kernel) -> Vec<Vec<usize>> {
        let end = |line: &Vec<usize>| line.last().map(|&last| &kernel.blocks[last].terminator);
        let mut before: HashMap<usize, &[usize]> = HashMap::new();
        for line in &self.blocks {
            if let Some(&Terminator::Jump(target)) = end(line) {
                before.entry(target).or_insert(line);
            }
        }
        let by_head: HashMap<usize, &[usize]> = self.blocks.iter().map(|line| (line[0], line.as_slice())).collect();
        let unroll = |line: &Vec<usize>| {
            let (head, successors) = (line[0], end(line)?.successors());
            if !successors.contains(&head) {
                return None;
            }
            let exit = successors.iter().find(|&&next| next != head && self.entries[next] == 1);
            let before = before.get(&head).filter(|before| before[0] != head);
            let after = exit.and_then(|exit| by_head.get(exit));
            Some([before.copied().unwrap_or(&[]), line, line, after.copied().unwrap_or(&[])].concat())
        };
        self.blocks.iter().filter_map(unroll).collect()
    }
}

pub(crate) fn lines(kernel: &Kernel) -> Lines {
    let mut entries = vec![0usize; kernel.blocks.len()];
    let mut reached = vec![false; kernel.blocks.len()];
    let mut todo = vec![0];
    // The launch enters the first block too.
    entries[0] = 1;
    while let Some(block) = todo.pop() {
        if !core::mem::replace(&mut reached[block], true) {
            for next in kernel.blocks[block].terminator.successors() {
                entries[next] += 1;
                todo.push(next);
            }
        }
    }
    let separate: BTreeSet<usize> = kernel.separate.iter().copied().collect();
    let next = |block: usize| match kernel.blocks[block].terminator {
        Terminator::Jump(target) if entries[target] == 1 && !separate.contains(&target) => Some(target),
        _ => None,
    };
    let mut continues = vec![false; kernel.blocks.len()];
    for block in (0..kernel.blocks.len()).filter(|&block| reached[block]) {
        if let Some(target) = next(block) {
            continues[target] = true;
        }
    }
    let heads = (0..kernel.blocks.len()).filter(|&block| reached[block] && !continues[block]);
    let line = |head| core::iter::successors(Some(head), |&block| next(block)).collect();
    Lines { blocks: heads.map(line).collect(), entries }
}

/// Whether the assembler has made several blocks of an instruction, or a call, before it fuses anything.
fn ends_block(op: &Op, guarded: bool) -> bool {
    match op {
        Op::Exit | Op::Trap { .. } | Op::Fence | Op::Print { .. } => true,
        Op::Divide { .. } | Op::SquareRoot { .. } | Op::Remainder { .. } => true,
        Op::Approximate { function, format, .. } => {
            *function == Function::ReciprocalSquareRoot && *format == Format::F64
        }
        Op::Int { op: IntOp::Div(sign) | IntOp::Rem(sign), width, .. } => {
            *width != Width::B32 || *sign == Signedness::Signed
        }
        // Guarded, they are jumped over.
        Op::Load { space, .. } => guarded && *space != Space::Param,
        Op::Store { .. }
        | Op::Atomic { .. }
        | Op::ImageLoad { .. }
        | Op::ImageStore { .. }
        | Op::ImageSample { .. }
        | Op::Barrier { .. }
        | Op::WarpBarrier { .. }
        | Op::Vote { .. }
        | Op::Match { .. }
        | Op::Reduce { .. }
        | Op::MultiplyMatrices { .. }
        | Op::Elect { .. }
        | Op::ActiveMask { .. } => guarded,
        _ => false,
    }
}

/// A value that a product gives, or its negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Value {
    product: usize,
    negated: bool,
}

#[derive(Debug)]
struct Product {
    at: Position,
    /// What lies between two ends of blocks has one number.
    region: usize,
    /// The additions that have it as one operand and may take it: indices into [`Line::sums`].
    sums: Vec<usize>,
    /// Something else uses it.
    otherwise: bool,
}

#[derive(Debug)]
struct Sum {
    at: Position,
    /// The products among its operands that it may take.
    operands: [Option<Value>; 2],
    /// The operand that was taken.
    taken: Option<usize>,
}

/// A straight line of code: its products, and what becomes of them.
struct Line<'k> {
    kernel: &'k Kernel,
    products: Vec<Product>,
    sums: Vec<Sum>,
}

impl<'k> Line<'k> {
    fn new(kernel: &'k Kernel, liveness: &Liveness, blocks: &[usize]) -> Line<'k> {
        let mut line = Line { kernel, products: Vec::new(), sums: Vec::new() };
        let mut values: HashMap<Reg, Value> = HashMap::new();
        let mut region = 0;
        for at in line.useful(liveness, blocks) {
            let instruction = &kernel.blocks[at.block].instructions[at.index];
            let (op, guarded) = (&instruction.op, instruction.guard.is_some());
            if ends_block(op, guarded) {
                region += 1;
                continue;
            }
            // What the destination holds afterwards.
            let mut given = None;
            match op {
                Op::Move { a: Operand::Reg(from), .. } if !guarded => given = values.get(from).copied(),
                Op::Sign { negate: true, flush: false, a: Operand::Reg(from), .. } if !guarded => {
                    given = values.get(from).map(|value| Value { negated: !value.negated, ..*value });
                }
                Op::Float { args: [a, b, _], .. } if is_contractible(op, ArithOp::Add) => {
                    line.sum(at, region, [*a, *b].map(|operand| value_of(operand, &values)));
                }
                _ => op.registers(|role, reg| {
                    if let (Role::Use, Some(value)) = (role, values.get(&reg)) {
                        line.products[value.product].otherwise = true;
                    }
                }),
            }
            if is_contractible(op, ArithOp::Mul) && !guarded {
                given = Some(Value { product: line.products.len(), negated: false });
                line.products.push(Product { at, region, sums: Vec::new(), otherwise: false });
            }
            op.registers(|role, reg| {
                if role == Role::Def
                    && let Some(old) = values.remove(&reg)
                    && guarded
                {
                    // The old value stays where the guard does not hold.
                    line.products[old.product].otherwise = true;
                }
                if let (Role::Def, Some(value)) = (role, given) {
                    values.insert(reg, value);
                }
            });
        }
        let live = at_end(kernel, liveness, blocks);
        for (reg, value) in values {
            line.products[value.product].otherwise |= live.has(reg);
        }
        line
    }

    /// The instructions that compute something for another or have an effect: the others are removed before anything
    /// is fused. Additions are kept all the same: an example may leave its result unused.
    fn useful(&self, liveness: &Liveness, blocks: &[usize]) -> Vec<Position> {
        let mut useful = Vec::new();
        let mut live = at_end(self.kernel, liveness, blocks);
        for &block in blocks.iter().rev() {
            for (index, instruction) in self.kernel.blocks[block].instructions.iter().enumerate().rev() {
                if is_useful(&instruction.op, &live) || is_contractible(&instruction.op, ArithOp::Add) {
                    live.step(instruction);
                    useful.push(Position { block, index });
                }
            }
        }
        useful.reverse();
        useful
    }

    /// An addition: which operands may be taken, and whose other use it is.
    fn sum(&mut self, at: Position, region: usize, mut operands: [Option<Value>; 2]) {
        let twice = operands[0].is_some() && operands[0].map(|it| it.product) == operands[1].map(|it| it.product);
        let op = |at: Position| &self.kernel.blocks[at.block].instructions[at.index].op;
        for (side, operand) in operands.iter_mut().enumerate() {
            let Some(Value { product, negated }) = *operand else { continue };
            let of = &mut self.products[product];
            if !twice && of.region == region && joined(op(of.at), op(at), side == 0, negated).is_some() {
                of.sums.push(self.sums.len());
            } else {
                of.otherwise = true;
                *operand = None;
            }
        }
        self.sums.push(Sum { at, operands, taken: None });
    }

    /// Lets an addition take one of the products among its operands, of those that at most so many additions use.
    fn take(&mut self, sum: usize, most_uses: usize) {
        let operands = self.sums[sum].operands;
        let uses = |side: usize| {
            let product = &self.products[operands[side]?.product];
            Some(product.sums.len()).filter(|&uses| !product.otherwise && uses <= most_uses)
        };
        let sides = [0, 1].into_iter().filter_map(|side| Some((uses(side)?, side)));
        let Some((_, side)) = sides.min() else { return };
        self.sums[sum].taken = Some(side);
        if let Some(other) = operands[1 - side] {
            self.products[other.product].otherwise = true;
        }
    }

    fn candidates(mut self) -> Vec<Candidate> {
        let op = |at: Position| &self.kernel.blocks[at.block].instructions[at.index].op;
        let is_scalar = |sum: &Sum| matches!(op(sum.at), Op::Float { components: 1, .. });
        let scalar: Vec<usize> = (0..self.sums.len()).filter(|&sum| is_scalar(&self.sums[sum])).collect();
        for sum in scalar {
            self.take(sum, 1);
        }
        for sum in 0..self.sums.len() {
            if self.sums[sum].taken.is_none() {
                self.take(sum, usize::MAX);
            }
        }
        let sides = self.sums.iter().flat_map(|sum| [(sum, 0), (sum, 1)]);
        let found = sides.filter_map(|(sum, side)| {
            let Value { product, negated } = sum.operands[side]?;
            let product = self.products[product].at;
            Some(Candidate { product, sum: sum.at, first: side == 0, negated, fuses: sum.taken == Some(side) })
        });
        found.collect()
    }
}

/// The registers that may be read after the last of some blocks, and by its terminator.
fn at_end<'l>(kernel: &Kernel, liveness: &'l Liveness, blocks: &[usize]) -> LiveSet<'l> {
    let last = blocks.last().copied().unwrap_or(0);
    liveness.before_instruction(kernel, last, kernel.blocks[last].instructions.len())
}

/// Whether an instruction has an effect, or writes a register that is read later.
pub(crate) fn is_useful(op: &Op, live: &LiveSet<'_>) -> bool {
    let mut useful = has_effect(op);
    op.registers(|role, reg| useful |= role == Role::Def && live.has(reg));
    useful
}

fn value_of(operand: Operand, values: &HashMap<Reg, Value>) -> Option<Value> {
    match operand {
        Operand::Reg(reg) => values.get(&reg).copied(),
        Operand::Imm(_) => None,
    }
}

/// Whether an instruction does more than to write its registers.
fn has_effect(op: &Op) -> bool {
    match op {
        Op::Load { .. }
        | Op::Store { .. }
        | Op::Atomic { .. }
        | Op::ImageLoad { .. }
        | Op::ImageStore { .. }
        | Op::ImageAddress { .. }
        | Op::ImageSample { .. }
        | Op::Barrier { .. }
        | Op::WarpBarrier { .. }
        | Op::Fence
        | Op::Shuffle { .. }
        | Op::Vote { .. }
        | Op::Match { .. }
        | Op::ActiveMask { .. }
        | Op::Elect { .. }
        | Op::Reduce { .. }
        | Op::MultiplyMatrices { .. }
        | Op::Print { .. }
        | Op::Trap { .. }
        | Op::Exit
        | Op::Unsupported { .. } => true,
        Op::Move { .. }
        | Op::Special { .. }
        | Op::Float { .. }
        | Op::Sign { .. }
        | Op::Divide { .. }
        | Op::Remainder { .. }
        | Op::SquareRoot { .. }
        | Op::Scale { .. }
        | Op::Approximate { .. }
        | Op::MinMax { .. }
        | Op::CopySign { .. }
        | Op::Compare { .. }
        | Op::Classify { .. }
        | Op::Select { .. }
        | Op::Convert { .. }
        | Op::ConvertPacked { .. }
        | Op::Int { .. }
        | Op::Carry { .. }
        | Op::Pack { .. }
        | Op::Extract { .. }
        | Op::ImageQuery { .. } => false,
    }
}
