//! The element formats of a kernel's buffers, inferred from its code.

use roundonce_arith::Format;
use roundonce_ir::flow::{ParamBytes, Written, propagate};
use roundonce_ir::{Comparand, Kernel, Op, Operand, Program, Reg, Scalar, Space};
use std::collections::BTreeSet;

/// For each parameter the names of the float formats in which the kernel computes with the elements that it points to
/// (`f32`). Empty if nothing is known.
///
/// Only what is certain counts: a load whose address comes from this parameter alone and whose value goes straight into
/// float arithmetic, a store of such arithmetic's result.
pub fn element_formats(program: &Program, kernel: &Kernel) -> Vec<BTreeSet<&'static str>> {
    let origins = origins(kernel, program.address_bits / 8);
    let mut formats: Vec<BTreeSet<&'static str>> = vec![BTreeSet::new(); kernel.params.len()];
    let mut known: Vec<Option<Format>> = vec![None; kernel.registers.len()];
    let ops = || kernel.blocks.iter().flat_map(|block| &block.instructions).map(|instruction| &instruction.op);
    for op in ops() {
        as_floats(op, &mut |operand, format| {
            if let Operand::Reg(reg) = operand {
                known[reg.0 as usize] = Some(format);
            }
        });
    }
    for op in ops() {
        let (address, bytes, values): (&Operand, u32, Vec<Operand>) = match op {
            Op::Load { address, bytes, d, space: Space::Global | Space::Generic, .. } => {
                (address, *bytes, d.iter().flatten().copied().map(Operand::Reg).collect())
            }
            Op::Store { address, bytes, values, space: Space::Global | Space::Generic, .. } => {
                (address, *bytes, values.clone())
            }
            _ => continue,
        };
        let Operand::Reg(Reg(address)) = *address else { continue };
        let Origin::Param(param) = origins[address as usize] else { continue };
        for value in values {
            if let Operand::Reg(Reg(reg)) = value
                && let Some(format) = known[reg as usize].filter(|format| format.width() == bytes * 8)
            {
                formats[param].extend(format.name());
            }
        }
    }
    formats
}

/// Where a register's value may come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// Not an address, so far.
    Number,
    /// One parameter and numbers.
    Param(usize),
    /// Several parameters, or memory.
    Anything,
}

impl Origin {
    fn and(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Number, any) | (any, Origin::Number) => any,
            (one, other) if one == other => one,
            _ => Origin::Anything,
        }
    }
}

fn origins(kernel: &Kernel, address_bytes: u32) -> Vec<Origin> {
    let params = ParamBytes::of(kernel);
    propagate(kernel, Origin::Number, Origin::and, |op| match op {
        Op::Load { space: Space::Param, address: Operand::Imm(at), offset, bytes, .. } => {
            let param = params.at((*at as i64).wrapping_add(*offset));
            // A parameter narrower than an address is a number.
            let param = param.filter(|&(_, whole)| whole && *bytes == address_bytes);
            Written::Value(param.map_or(Origin::Number, |(index, _)| Origin::Param(index)))
        }
        Op::Load { bytes, .. } | Op::Atomic { bytes, .. } if *bytes == address_bytes => {
            Written::Value(Origin::Anything)
        }
        Op::Load { .. } | Op::Atomic { .. } => Written::Value(Origin::Number),
        _ => Written::Operands,
    })
}

/// Calls `visit` with the operands and the result that are floats.
fn as_floats(op: &Op, visit: &mut dyn FnMut(Operand, Format)) {
    match op {
        Op::Float { d, operation, components: 1, args, .. } => {
            visit(Operand::Reg(*d), operation.format);
            for (at, arg) in args.iter().enumerate().take(operation.op.arity()) {
                visit(*arg, operation.operand_format(at));
            }
        }
        Op::Divide { d, format, a, b, .. } | Op::MinMax { d, format, a, b, .. } => {
            visit(Operand::Reg(*d), *format);
            visit(*a, *format);
            visit(*b, *format);
        }
        Op::SquareRoot { d, format, a, .. } | Op::Approximate { d, format, a, .. } => {
            visit(Operand::Reg(*d), *format);
            visit(*a, *format);
        }
        Op::Compare { of: Comparand::Float { format, .. }, a, b, .. } => {
            visit(*a, *format);
            visit(*b, *format);
        }
        Op::Convert { d, to, from, a, .. } => {
            if let Scalar::Float(format) = from {
                visit(*a, *format);
            }
            if let Scalar::Float(format) = to {
                visit(Operand::Reg(*d), *format);
            }
        }
        _ => {}
    }
}
