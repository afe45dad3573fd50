//! The places of an operation that name registers, to be changed.

use roundonce_ir::{Op, Operand, Reg};

/// A place that an operand is read from, or a register written to.
pub(super) enum Place<'a> {
    Use(&'a mut Operand),
    Def(&'a mut Reg),
}

/// Calls `see` with every place of an operation, reads before writes, in the order of [`Op::registers`]. Whether the
/// operation is one whose places can be changed.
pub(super) fn places(op: &mut Op, see: &mut dyn FnMut(Place<'_>)) -> bool {
    fn reads<'a>(see: &mut dyn FnMut(Place<'_>), operands: impl IntoIterator<Item = &'a mut Operand>) {
        operands.into_iter().for_each(|operand| see(Place::Use(operand)));
    }
    match op {
        Op::Move { d, a } | Op::Sign { d, a, .. } | Op::Convert { d, a, .. } | Op::Extract { d, a, .. } => {
            reads(see, [a]);
            see(Place::Def(d));
        }
        Op::Special { d, .. } => see(Place::Def(d)),
        Op::Float { d, operation, args, .. } => {
            reads(see, args.iter_mut().take(operation.op.arity()));
            see(Place::Def(d));
        }
        Op::Int { d, op, width, args } => {
            let (_, count) = op.operand_widths(*width);
            reads(see, args.iter_mut().take(count));
            see(Place::Def(d));
        }
        Op::Compare { d, a, b, .. } | Op::MinMax { d, a, b, .. } | Op::Approximate { d, a, b, .. } => {
            reads(see, [a, b]);
            see(Place::Def(d));
        }
        Op::Select { d, p, a, b } => {
            reads(see, [p, a, b]);
            see(Place::Def(d));
        }
        Op::Pack { d, low, high } => {
            reads(see, [low, high]);
            see(Place::Def(d));
        }
        Op::Load { d, address, .. } => {
            reads(see, [address]);
            d.iter_mut().flatten().for_each(|d| see(Place::Def(d)));
        }
        Op::Store { values, address, .. } => {
            reads(see, [address]);
            reads(see, values);
        }
        Op::Barrier { .. } | Op::Fence | Op::Trap { .. } | Op::Exit => return names_none(op),
        _ => return false,
    }
    true
}

fn names_none(op: &Op) -> bool {
    let mut none = true;
    op.registers(|_, _| none = false);
    none
}
