//! What a kernel's code says of its parameters: where it reads them, though a register has the address, and which of those that are declared
//! as bits (`.b32`) are floats.

use crate::types::{ScalarKind, Type};
use roundonce_arith::Format;
use roundonce_ir::flow::ParamBytes;
use roundonce_ir::{IntOp, Kernel, Op, Operand, Reg, Role, Scalar, Space};

/// Loads of parameters get their addresses from the instruction where a register has a known one: `mov.b64 %r, p; ld.param.f64 %f, [%r+8]`.
pub(super) fn resolve_addresses(kernel: &mut Kernel) {
    let is_computed = |op: &Op| matches!(op, Op::Load { space: Space::Param, address: Operand::Reg(_), .. });
    if !kernel.blocks.iter().flat_map(|block| &block.instructions).any(|step| is_computed(&step.op)) {
        return;
    }
    let definitions = definitions(kernel);
    // What the first block sets and nothing else holds everywhere behind that; otherwise to the end of its block.
    let mut known: Vec<Option<u64>> = vec![None; kernel.registers.len()];
    for (number, block) in kernel.blocks.iter_mut().enumerate() {
        let mut own = Vec::new();
        for step in &mut block.instructions {
            let value = |operand: Operand| match operand {
                Operand::Imm(bits) => Some(bits),
                Operand::Reg(Reg(reg)) => known[reg as usize],
            };
            let set = match &mut step.op {
                Op::Load { space: Space::Param, address, .. } => {
                    *address = value(*address).map_or(*address, Operand::Imm);
                    None
                }
                Op::Move { d, a, .. } => value(*a).map(|bits| (*d, bits)),
                Op::Int { d, op: IntOp::Add, args: [a, b, ..], .. } => {
                    value(*a).zip(value(*b)).map(|(a, b)| (*d, a.wrapping_add(b)))
                }
                _ => None,
            };
            step.op.registers(|role, reg| {
                if role == Role::Def {
                    known[reg.0 as usize] = None;
                }
            });
            if let Some((d, bits)) = set.filter(|_| step.guard.is_none()) {
                known[d.0 as usize] = Some(bits & kernel.registers[d.0 as usize].mask());
                own.push(d);
            }
        }
        for Reg(d) in own {
            if number > 0 || definitions[d as usize] > 1 {
                known[d as usize] = None;
            }
        }
    }
}

/// How a parameter is read.
#[derive(Clone, Default)]
struct Reads {
    uses: usize,
    /// Those of them that take a float, the format of the first, and whether all have that.
    floats: usize,
    format: Option<Format>,
    differ: bool,
    /// Whether it may be read in another way too.
    unknown: bool,
}

/// Parameters of these types have a type where they are declared as bits, and all that uses them takes a float of one format.
pub(super) fn infer_floats(kernel: &mut Kernel, types: &[Option<Type>]) {
    // Behind those that are declared are some that stand for textures and surfaces.
    let is_bits = |ty: &Option<Type>| ty.is_some_and(|ty| ty.kind == ScalarKind::Bits && ty.components == 1);
    if !types.iter().any(is_bits) {
        return;
    }
    let Some(reads) = reads(kernel) else { return };
    for ((param, ty), reads) in kernel.params.iter_mut().zip(types).zip(reads) {
        let Reads { uses, floats, format, differ, unknown } = reads;
        if let Some(format) = format.filter(|format| format.width() == 8 * param.size)
            && is_bits(ty)
            && uses == floats
            && !differ
            && !unknown
        {
            param.scalar = Some(Scalar::Float(format));
        }
    }
}

/// How each parameter is read; none where one is read at an address that is computed.
fn reads(kernel: &Kernel) -> Option<Vec<Reads>> {
    let params = ParamBytes::of(kernel);
    let definitions = definitions(kernel);
    let mut reads = vec![Reads::default(); kernel.params.len()];
    // The parameter that a load gives its only register.
    let loaded = |op: &Op, reads: &mut Vec<Reads>| {
        let Op::Load { d, space: Space::Param, bytes, address, offset, .. } = op else { return Some(None) };
        let Operand::Imm(at) = address else { return None };
        let first = (*at as i64).wrapping_add(*offset);
        let last = first.wrapping_add(i64::from(*bytes) * d.len() as i64 - 1);
        let (Some((from, is_start)), Some((to, _))) = (params.at(first), params.at(last)) else { return Some(None) };
        match d[..] {
            [Some(d)] if from == to && is_start && *bytes == kernel.params[from].size => return Some(Some((d, from))),
            _ => reads.iter_mut().take(to + 1).skip(from).for_each(|reads| reads.unknown = true),
        }
        Some(None)
    };
    // The parameter that a register holds: wherever that is where nothing else writes it, and to the end of the block elsewhere.
    let mut held: Vec<Option<usize>> = vec![None; kernel.registers.len()];
    for op in kernel.blocks.iter().flat_map(|block| &block.instructions).map(|step| &step.op) {
        if let Some((Reg(d), param)) = loaded(op, &mut reads)?
            && definitions[d as usize] == 1
        {
            held[d as usize] = Some(param);
        }
    }
    for block in &kernel.blocks {
        let mut own = Vec::new();
        for step in &block.instructions {
            let seen = |operand: Operand| match operand {
                Operand::Reg(Reg(reg)) => held[reg as usize],
                Operand::Imm(_) => None,
            };
            step.op.float_operands(|operand, format| {
                if let Some(param) = seen(operand) {
                    let reads = &mut reads[param];
                    reads.floats += 1;
                    reads.differ |= *reads.format.get_or_insert(format) != format;
                }
            });
            step.op.registers(|role, reg| match (role, held[reg.0 as usize]) {
                (Role::Use, Some(param)) => reads[param].uses += 1,
                (Role::Def, Some(param)) if definitions[reg.0 as usize] > 1 => {
                    reads[param].unknown |= step.guard.is_some();
                    held[reg.0 as usize] = None;
                }
                _ => {}
            });
            if let Some((d, param)) = loaded(&step.op, &mut reads)?
                && definitions[d.0 as usize] > 1
            {
                reads[param].unknown |= step.guard.is_some();
                held[d.0 as usize] = Some(param);
                own.push(d);
            }
        }
        for Reg(reg) in own {
            if let Some(param) = held[reg as usize].take() {
                reads[param].unknown = true;
            }
        }
    }
    Some(reads)
}

/// By register how many instructions write it.
fn definitions(kernel: &Kernel) -> Vec<usize> {
    let mut counts = vec![0; kernel.registers.len()];
    for step in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        step.op.registers(|role, reg| counts[reg.0 as usize] += usize::from(role == Role::Def));
    }
    counts
}
