//! The element formats of a kernel's buffers, inferred from its code.

use roundonce_arith::Format;
use roundonce_ir::flow::{ParamBytes, Written, propagate};
use roundonce_ir::{Block, Instruction, Kernel, Op, Operand, Program, Reg, Role, Scalar, Space};
use std::collections::BTreeSet;

/// For each parameter the names of the float formats in which the kernel computes with the elements that it points to
/// (`f32`). Empty if nothing is known.
///
/// Only what is certain counts: a load whose address comes from this parameter alone and whose value goes straight into
/// float arithmetic, a store of such arithmetic's result. In a kernel that computes in f64, two words that are moved
/// together may be one number.
pub fn element_formats(program: &Program, kernel: &Kernel) -> Vec<BTreeSet<&'static str>> {
    let origins = origins(kernel, program.address_bits / 8);
    let has_doubles = kernel.blocks.iter().flat_map(|block| &block.instructions).any(|Instruction { op, .. }| {
        let mut is_double = result(op) == Some(Format::F64);
        op.float_operands(|_, format| is_double |= format == Format::F64);
        is_double
    });
    // The parameter that an access is certain to go to, and the bytes of an element.
    let element = |address: Operand, bytes: u32, count: usize| {
        let Operand::Reg(Reg(address)) = address else { return None };
        match origins[address as usize] {
            Origin::Param(param) if !(has_doubles && bytes == 4 && count > 1) => Some((param, bytes)),
            _ => None,
        }
    };
    let written = |op: &Op| match op {
        Op::Load { address, bytes, d, space: Space::Global | Space::Generic, .. } => {
            element(*address, *bytes, d.len()).map(Value::Element)
        }
        _ => result(op).map(Value::Float),
    };
    let mut formats: Vec<BTreeSet<&'static str>> = vec![BTreeSet::new(); kernel.params.len()];
    let mut claim = |(param, bytes): (usize, u32), format: Format| {
        if format.width() == bytes * 8 {
            formats[param].extend(format.name());
        }
    };
    let mut values = Values::of(kernel, &written);
    for (block, Block { instructions, .. }) in kernel.blocks.iter().enumerate() {
        for Instruction { op, guard, .. } in instructions {
            op.float_operands(|operand, format| {
                if let Some(Value::Element(element)) = values.get(operand, block) {
                    claim(element, format);
                }
            });
            if let Op::Store { address, bytes, values: stored, space: Space::Global | Space::Generic, .. } = op
                && let Some(element) = element(*address, *bytes, stored.len())
            {
                for value in stored {
                    if let Some(Value::Float(format)) = values.get(*value, block) {
                        claim(element, format);
                    }
                }
            }
            values.write(op, written(op).filter(|_| guard.is_none()), block);
        }
    }
    formats
}

/// What is certain of a register's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// An element of a parameter's memory, of so many bytes.
    Element((usize, u32)),
    /// The result of float arithmetic.
    Float(Format),
}

/// Machine code has one register for one value after the other: what a register holds is certain where the same block wrote
/// it, or where all that is ever written to it is the same.
struct Values {
    ever: Vec<Option<Value>>,
    /// With the block that wrote it.
    last: Vec<Option<(usize, Value)>>,
}

impl Values {
    fn of(kernel: &Kernel, written: &dyn Fn(&Op) -> Option<Value>) -> Values {
        let count = kernel.registers.len();
        let (mut ever, mut is_written) = (vec![None; count], vec![false; count]);
        for Instruction { op, .. } in kernel.blocks.iter().flat_map(|block| &block.instructions) {
            let value = written(op);
            op.registers(|role, Reg(reg)| {
                let reg = reg as usize;
                if role == Role::Def {
                    let others = std::mem::replace(&mut is_written[reg], true).then_some(ever[reg]);
                    ever[reg] = value.filter(|_| others.is_none_or(|others| others == value));
                }
            });
        }
        Values { ever, last: vec![None; count] }
    }

    /// What an operation writes in every lane; `None` where that is not certain.
    fn write(&mut self, op: &Op, value: Option<Value>, block: usize) {
        op.registers(|role, Reg(reg)| {
            if role == Role::Def {
                self.last[reg as usize] = value.map(|value| (block, value));
            }
        });
    }

    fn get(&self, operand: Operand, block: usize) -> Option<Value> {
        let Operand::Reg(Reg(reg)) = operand else { return None };
        match self.last[reg as usize] {
            Some((by, value)) if by == block => Some(value),
            _ => self.ever[reg as usize],
        }
    }
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

/// The format of a result that is a float.
fn result(op: &Op) -> Option<Format> {
    match op {
        Op::Float { operation, components: 1, .. } => Some(operation.format),
        Op::Divide { format, .. }
        | Op::MinMax { format, .. }
        | Op::SquareRoot { format, .. }
        | Op::Approximate { format, .. }
        | Op::Convert { to: Scalar::Float(format), .. } => Some(*format),
        _ => None,
    }
}
