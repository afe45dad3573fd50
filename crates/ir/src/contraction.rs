//! Contraction: what an assembler may do to a product that an addition alone uses.

use super::{Kernel, Liveness, Op, Operand, Reg, Role};
use roundonce_arith::{ArithOp, Operation};
use roundonce_isa::fused;

/// A contractible product, and a contractible addition or subtraction of the same block that may take it in: of the
/// same guard, format and flush, with the factors unchanged in between.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Candidate {
    /// The block of both.
    pub block: usize,
    /// The product's place in the block.
    pub product: usize,
    /// The addition's place in the block.
    pub sum: usize,
    /// Nothing else uses the product.
    pub alone: bool,
}

impl Candidate {
    /// What the addition becomes when it takes the product in; `None` where the two have come to differ in format or
    /// flush, or the addition has taken in another product.
    pub fn fused(&self, kernel: &Kernel) -> Option<Op> {
        let instructions = &kernel.blocks[self.block].instructions;
        match &instructions[self.product].op {
            Op::Float { d, operation, args, .. } => replaced(operation, *d, *args, &instructions[self.sum].op),
            _ => None,
        }
    }
}

/// Every product with every addition that may take it in, in the order of the products.
pub fn candidates(kernel: &Kernel) -> Vec<Candidate> {
    let liveness = Liveness::of(kernel);
    let blocks = kernel.blocks.iter().enumerate();
    let places = blocks.flat_map(|(block, contents)| (0..contents.instructions.len()).map(move |at| (block, at)));
    places.flat_map(|(block, product)| sums(kernel, &liveness, block, product)).collect()
}

/// Fuses every contractible product with the contractible addition or subtraction that alone uses it, in the same
/// block, under the same guard and of the same format and flush. Returns the places (the additions') where it did.
///
/// Of an addition of two products the first operand's is fused.
pub fn fuse(kernel: &mut Kernel) -> Vec<u32> {
    let mut places = Vec::new();
    let mut products = Vec::new();
    for candidate in candidates(kernel).into_iter().filter(|candidate| candidate.alone) {
        // An addition that has taken a product in takes no other.
        let Some(fused) = candidate.fused(kernel) else { continue };
        let sum = &mut kernel.blocks[candidate.block].instructions[candidate.sum];
        sum.op = fused;
        places.push(sum.loc);
        products.push((candidate.block, candidate.product));
    }
    for (block, product) in products.into_iter().rev() {
        kernel.blocks[block].instructions.remove(product);
    }
    places
}

/// The additions that may take in the product at a place, if it is one.
fn sums(kernel: &Kernel, liveness: &Liveness, block: usize, at: usize) -> Vec<Candidate> {
    let instructions = &kernel.blocks[block].instructions;
    let Op::Float { d: product, operation: mul, contractible: true, args: factors } = &instructions[at].op else {
        return Vec::new();
    };
    if mul.op != ArithOp::Mul || factors.contains(&Operand::Reg(*product)) {
        return Vec::new();
    }
    let guard = instructions[at].guard;
    let mut found = Vec::new();
    let mut readers = 0;
    let mut intact = true;
    // Whether the product may be read beyond the instructions looked at.
    let mut lives = liveness.is_live_after(block, *product);
    for (index, instruction) in instructions.iter().enumerate().skip(at + 1) {
        let mut reads = 0;
        let mut writes_product = false;
        let mut writes_factor = guard.is_some_and(|guard| writes(&instruction.op, guard.pred));
        instruction.op.registers(|role, reg| match role {
            Role::Use => reads += (reg == *product) as usize,
            Role::Def => {
                writes_product |= reg == *product;
                writes_factor |= factors.contains(&Operand::Reg(reg));
            }
        });
        readers += reads;
        let takes = reads == 1 && intact && instruction.guard == guard;
        if takes && replaced(mul, *product, *factors, &instruction.op).is_some() {
            found.push(index);
        }
        intact &= !writes_factor;
        if writes_product {
            // Whatever comes later reads the new value, unless a guard keeps the old one.
            lives = instruction.guard.is_some();
            break;
        }
    }
    let alone = readers == 1 && !lives;
    found.into_iter().map(|sum| Candidate { block, product: at, sum, alone }).collect()
}

fn writes(op: &Op, reg: Reg) -> bool {
    let mut found = false;
    op.registers(|role, other| found |= role == Role::Def && other == reg);
    found
}

/// An addition with one operand replaced by a product.
fn replaced(mul: &Operation, product: Reg, factors: [Operand; 3], op: &Op) -> Option<Op> {
    let Op::Float { d, operation: add, contractible: true, args: [left, right, _] } = *op else {
        return None;
    };
    let first = left == Operand::Reg(product);
    let operation = fused(mul, &add, first)?;
    let addend = if first { right } else { left };
    Some(Op::Float { d, operation, contractible: false, args: [factors[0], factors[1], addend] })
}
