//! Loads that need no register: what is loaded is used once, by the arithmetic that is compiled next, which loads each
//! vector where it needs it.

use super::region::Region;
use super::shape::{Shapes, VectorShape};
use crate::kernel::{DecodedInst, DecodedKernel};
use roundonce_arith::Format;
use roundonce_ir::{Op, Operand, Reg, Space, Width};

/// The registers whose loads are folded, by number. None where lanes may diverge.
pub(super) fn folded(code: &DecodedKernel<'_>, region: &Region, shapes: &Shapes) -> Vec<bool> {
    let count = code.kernel.registers.len();
    if shapes.divergent {
        return vec![false; count];
    }
    // How often each is named, and in how many pairs of a load and what uses it.
    let (mut named, mut pairs) = (vec![0u32; count], vec![0u32; count]);
    for node in 0..region.nodes.len() {
        let mut last: Option<&DecodedInst<'_>> = None;
        for inst in region.insts(code, node) {
            inst.op.registers(|_, reg| named[reg.0 as usize] += 1);
            if let Some(reg) = last.and_then(|load| folds(code, shapes, load, inst)) {
                pairs[reg.0 as usize] += 1;
            }
            last = Some(inst);
        }
    }
    let is_folded = |reg: usize| pairs[reg] > 0 && named[reg] == 2 * pairs[reg] && !region.leaves(Reg(reg as u32));
    (0..count).map(is_folded).collect()
}

/// The register between a load and the arithmetic behind it.
fn folds(
    code: &DecodedKernel<'_>,
    shapes: &Shapes,
    load: &DecodedInst<'_>,
    arithmetic: &DecodedInst<'_>,
) -> Option<Reg> {
    let (Op::Load { d, space, bytes, address, .. }, None, None) = (load.op, load.guard, arithmetic.guard) else {
        return None;
    };
    let (&[Some(reg)], Op::Float { operation, args, .. }) = (&d[..], arithmetic.op) else { return None };
    let width = code.kernel.width(reg);
    let format = match width {
        Width::B32 => Format::F32,
        Width::B64 => Format::F64,
        _ => return None,
    };
    let uses = args[..operation.op.arity()].iter().filter(|&&arg| arg == Operand::Reg(reg)).count();
    let fits = *space != Space::Param
        && !shapes.lie_apart(*address, *space, *bytes, d.len())
        && bytes * 8 == width.bits()
        && shapes.shape(*address).is_scalar()
        && shapes.shape(Operand::Reg(reg)) == VectorShape::Varying
        && operation.format == format
        && operation.is_uniform()
        && uses == 1;
    fits.then_some(reg)
}
