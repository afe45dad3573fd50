//! Addresses that are a number which all lanes share and an index of 32 bits in each lane, times a constant: `a[i]`. What
//! accesses memory there takes the indices, and no vectors of 64 bits are computed.

use super::region::{Region, is_live, is_store};
use super::shape::{Shapes, VectorShape};
use crate::kernel::DecodedKernel;
use roundonce_ir::{IntOp, Op, Operand, Reg, Role, Scalar, Signedness, Space, Width};
use std::collections::HashMap;

/// The largest factor, which a memory operand can have.
const MAX_FACTOR: u64 = 8;

/// `base + factor * index`, in 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct IndexedAddress {
    pub(super) base: Operand,
    /// 32 bits in each lane.
    pub(super) index: Reg,
    pub(super) sign: Signedness,
    /// A power of two.
    pub(super) factor: u32,
}

/// The same while it is made: without the base at first.
#[derive(Clone, Copy)]
struct Sum {
    base: Option<Operand>,
    index: Reg,
    sign: Signedness,
    factor: u64,
}

/// The addresses of a region that are accessed so, and what need not be computed therefore.
#[derive(Debug)]
pub(super) struct IndexedAddresses {
    of: HashMap<Reg, IndexedAddress>,
    unneeded: Vec<bool>,
}

impl IndexedAddresses {
    pub(super) fn of(&self, address: Operand) -> Option<&IndexedAddress> {
        match address {
            Operand::Reg(reg) => self.of.get(&reg),
            Operand::Imm(_) => None,
        }
    }
    /// Whether what an instruction computes is read by nothing but such addresses.
    pub(super) fn replace(&self, op: &Op) -> bool {
        result(op).is_some_and(|d| self.unneeded[d.0 as usize])
    }
    /// The registers that an instruction reads and writes.
    pub(super) fn registers(&self, op: &Op, mut visit: impl FnMut(Role, Reg)) {
        if self.replace(op) {
            return;
        }
        op.registers(|role, reg| match self.of.get(&reg) {
            Some(address) => {
                visit(Role::Use, address.index);
                if let Operand::Reg(base) = address.base {
                    visit(Role::Use, base);
                }
            }
            None => visit(role, reg),
        });
    }

    pub(super) fn analyse(code: &DecodedKernel<'_>, region: &Region, shapes: &Shapes) -> IndexedAddresses {
        let count = code.kernel.registers.len();
        let [definitions, uses] = region.counts(code);
        let mut all = IndexedAddresses { of: HashMap::new(), unneeded: vec![false; count] };
        // The uses by accesses, and by what is not computed.
        let mut replaced = vec![0u32; count];
        for node in 0..region.nodes.len() {
            let mut known = Sums { code, shapes, of: HashMap::new(), read_by: HashMap::new() };
            let mut accessed: HashMap<Reg, IndexedAddress> = HashMap::new();
            let mut access = |op: &Op, known: &Sums<'_>, replaced: &mut [u32]| {
                if let Some(Operand::Reg(reg)) = address_of(op)
                    && let Some(address) = known.address(reg, op)
                    && accessed.get(&reg).is_none_or(|other| *other == address)
                {
                    accessed.insert(reg, address);
                    replaced[reg.0 as usize] += 1;
                }
            };
            for inst in region.insts(code, node) {
                if !is_store(inst.op) {
                    access(inst.op, &known, &mut replaced);
                }
                known.pass(inst.op, inst.guard.is_some());
            }
            // Stores are executed at the node's end.
            for inst in region.insts(code, node).filter(|inst| is_store(inst.op)) {
                access(inst.op, &known, &mut replaced);
            }
            let live = region.live_out(node);
            for inst in region.insts(code, node).rev() {
                let Some(d) = result(inst.op).filter(|_| inst.guard.is_none()) else { continue };
                let (at, is_sum) = (d.0 as usize, known.of.contains_key(&d));
                if !is_sum || definitions[at] != 1 || uses[at] != replaced[at] || is_live(&live, d) {
                    continue;
                }
                all.unneeded[at] = true;
                all.of.extend(accessed.get(&d).map(|&address| (d, address)));
                inst.op.registers(|role, reg| {
                    if role == Role::Use {
                        replaced[reg.0 as usize] += 1;
                    }
                });
            }
        }
        all
    }
}

/// What an instruction computes that may be part of an address.
fn result(op: &Op) -> Option<Reg> {
    match op {
        &Op::Int { d, .. } | &Op::Convert { d, .. } | &Op::Move { d, .. } => Some(d),
        _ => None,
    }
}
fn address_of(op: &Op) -> Option<Operand> {
    match op {
        &Op::Load { address, .. } | &Op::Store { address, .. } | &Op::Atomic { address, .. } => Some(address),
        _ => None,
    }
}

/// What is known of registers at a place in a node.
struct Sums<'a> {
    code: &'a DecodedKernel<'a>,
    shapes: &'a Shapes,
    of: HashMap<Reg, Sum>,
    /// By a register, the sums that have it.
    read_by: HashMap<Reg, Vec<Reg>>,
}

impl Sums<'_> {
    fn pass(&mut self, op: &Op, is_guarded: bool) {
        let sum = result(op).filter(|_| !is_guarded).and_then(|d| Some((d, self.sum(op)?)));
        op.registers(|role, reg| {
            if role == Role::Def {
                self.of.remove(&reg);
                for sum in self.read_by.remove(&reg).into_iter().flatten() {
                    self.of.remove(&sum);
                }
            }
        });
        let Some((d, sum)) = sum else { return };
        let base = sum.base.and_then(|base| if let Operand::Reg(base) = base { Some(base) } else { None });
        for read in base.into_iter().chain([sum.index]) {
            self.read_by.entry(read).or_default().push(d);
        }
        self.of.insert(d, sum);
    }
    /// What an instruction computes, as a sum.
    fn sum(&self, op: &Op) -> Option<Sum> {
        let width = |reg: Reg| self.code.kernel.width(reg);
        match *op {
            Op::Move { d, a } if width(d) == Width::B64 => self.of_operand(a),
            Op::Convert { d, to, from: Scalar::Int { bits: 32, signed }, saturate: false, a, .. }
                if width(d) == Width::B64 && matches!(to, Scalar::Int { bits: 64, .. }) =>
            {
                self.index(a, if signed { Signedness::Signed } else { Signedness::Unsigned }, 1)
            }
            Op::Int { op: IntOp::MulWide(sign), width: Width::B32, args: [a, b, ..], .. } => self.product(a, b, sign),
            Op::Int { op: IntOp::MulAddWide(sign), width: Width::B32, args: [a, b, c, _], .. } => {
                self.plus(self.product(a, b, sign)?, c)
            }
            Op::Int { op: IntOp::Add, width: Width::B64, args: [a, b, ..], .. } => match self.of_operand(a) {
                Some(sum) => self.plus(sum, b),
                None => self.plus(self.of_operand(b)?, a),
            },
            Op::Int { op: IntOp::Shl, width: Width::B64, args: [a, b, ..], .. } => {
                let count = self.shapes.constant(b).filter(|&count| count < 8)?;
                self.times(self.of_operand(a)?, 1 << count)
            }
            Op::Int { op: IntOp::Mul, width: Width::B64, args: [a, b, ..], .. } => match self.of_operand(a) {
                Some(sum) => self.times(sum, self.shapes.constant(b)?),
                None => self.times(self.of_operand(b)?, self.shapes.constant(a)?),
            },
            _ => None,
        }
    }
    fn of_operand(&self, operand: Operand) -> Option<Sum> {
        match operand {
            Operand::Reg(reg) => self.of.get(&reg).copied(),
            Operand::Imm(_) => None,
        }
    }
    fn product(&self, a: Operand, b: Operand, sign: Signedness) -> Option<Sum> {
        match self.shapes.constant(b) {
            Some(factor) => self.index(a, sign, factor & 0xffff_ffff),
            None => self.index(b, sign, self.shapes.constant(a)? & 0xffff_ffff),
        }
    }
    fn index(&self, index: Operand, sign: Signedness, factor: u64) -> Option<Sum> {
        let Operand::Reg(index) = index else { return None };
        let varies = self.shapes.shape(Operand::Reg(index)) == VectorShape::Varying;
        let is_index = varies && self.code.kernel.width(index) == Width::B32;
        let sum = Sum { base: None, index, sign, factor: 1 };
        if is_index { self.times(sum, factor) } else { None }
    }
    fn times(&self, sum: Sum, factor: u64) -> Option<Sum> {
        let factor =
            sum.factor.checked_mul(factor).filter(|factor| factor.is_power_of_two() && *factor <= MAX_FACTOR)?;
        sum.base.is_none().then_some(Sum { factor, ..sum })
    }
    fn plus(&self, sum: Sum, base: Operand) -> Option<Sum> {
        let is_number = match base {
            Operand::Imm(_) => true,
            Operand::Reg(reg) => {
                let shape = self.shapes.shape(base);
                matches!(shape, VectorShape::Constant(_)) || shape.is_uniform() && self.shapes.is_general(reg)
            }
        };
        (is_number && sum.base.is_none()).then_some(Sum { base: Some(base), ..sum })
    }
    /// The address of an access that can take one.
    fn address(&self, reg: Reg, access: &Op) -> Option<IndexedAddress> {
        let &Sum { base, index, sign, factor } = self.of.get(&reg)?;
        let (space, bytes, count) = match access {
            // A gather of 8 bytes by 32-bit indices would read behind an element of 4 that is extended.
            Op::Load { d, bytes: 4, .. } if d.iter().flatten().any(|&d| self.code.kernel.width(d) == Width::B64) => {
                return None;
            }
            Op::Load { space, bytes, d, .. } => (space, *bytes, d.len()),
            Op::Store { space, bytes, values, .. } => (space, *bytes, values.len()),
            Op::Atomic { space, bytes, .. } => (space, *bytes, 1),
            _ => return None,
        };
        let align = self.code.alignment(bytes, count);
        let fits = matches!(space, Space::Global | Space::Const | Space::Generic)
            && matches!(bytes, 4 | 8)
            && factor >= align.into()
            && self.shapes.shape(Operand::Reg(reg)) == VectorShape::Varying;
        fits.then_some(IndexedAddress { base: base?, index, sign, factor: factor as u32 })
    }
}
