//! Contraction: what an assembler may do to a product that an addition alone uses.

use super::{Kernel, Liveness, Op, Operand, Reg, Role};
use roundonce_arith::{Kind, Operation};

/// Fuses every contractible product with the contractible addition or subtraction that alone uses it, in the same
/// block, under the same guard and of the same format and flush. Returns the places (the additions') where it did.
///
/// Of an addition of two products the first operand's is fused.
pub fn fuse(kernel: &mut Kernel) -> Vec<u32> {
    let liveness = Liveness::of(kernel);
    let mut places = Vec::new();
    for block in 0..kernel.blocks.len() {
        let mut at = 0;
        while at < kernel.blocks[block].instructions.len() {
            if let Some((sum, fused)) = partner(kernel, &liveness, block, at) {
                let instructions = &mut kernel.blocks[block].instructions;
                instructions[sum].op = fused;
                places.push(instructions[sum].place);
                instructions.remove(at);
            } else {
                at += 1;
            }
        }
    }
    places
}

/// The addition that the product at `at` may be fused with, and what becomes of it.
fn partner(kernel: &Kernel, liveness: &Liveness, block: usize, at: usize) -> Option<(usize, Op)> {
    let instructions = &kernel.blocks[block].instructions;
    let Op::Float { d: product, operation: mul, contractible: true, args: factors } = &instructions[at].op else {
        return None;
    };
    if mul.kind != Kind::Mul || factors.contains(&Operand::Reg(*product)) {
        return None;
    }
    let guard = instructions[at].guard;
    let mut found: Option<(usize, Op)> = None;
    for (index, instruction) in instructions.iter().enumerate().skip(at + 1) {
        let mut reads = 0;
        let mut writes_product = false;
        let mut writes_factor = guard.is_some_and(|guard| writes(&instruction.op, guard.pred));
        instruction.op.registers(|role, reg| match role {
            Role::Read => reads += (reg == *product) as usize,
            Role::Write => {
                writes_product |= reg == *product;
                writes_factor |= factors.contains(&Operand::Reg(reg));
            }
        });
        if reads > 0 {
            if found.is_some() || reads > 1 || instruction.guard != guard {
                return None;
            }
            found = Some((index, replaced(mul, *product, *factors, &instruction.op)?));
        } else if found.is_none() && writes_factor {
            return None;
        }
        if writes_product {
            // Written again before anybody else reads it: whatever comes later reads the new value.
            return if instruction.guard.is_none() { found } else { None };
        }
    }
    found.filter(|_| !liveness.is_live_after(block, *product))
}

fn writes(op: &Op, reg: Reg) -> bool {
    let mut found = false;
    op.registers(|role, other| found |= role == Role::Write && other == reg);
    found
}

/// The one operation that a product and the addition that takes it become: of its `first` operand or of its second.
/// `None` where no operation has the modes of both.
pub fn fused(mul: &Operation, add: &Operation, first: bool) -> Option<Operation> {
    if (mul.kind, add.kind, mul.saturate) != (Kind::Mul, Kind::Add, false)
        || add.format != mul.format
        || add.factors != add.format
        || add.flush != mul.flush
    {
        return None;
    }
    let (negate_product, negate_addend) =
        if first { (add.negate_product, add.negate_addend) } else { (add.negate_addend, add.negate_product) };
    let negate_product = negate_product ^ mul.negate_product;
    Some(Operation { kind: Kind::MulAdd, factors: mul.factors, negate_product, negate_addend, ..*add })
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
