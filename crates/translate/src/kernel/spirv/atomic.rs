//! Atomics on memory.

use roundonce_arith::Rounding;
use roundonce_ir::{AtomicKind, IntOp, Op, Signedness};

use super::body::{Body, Result};
use super::ids::{Id, Ty};

/// The scope of all of a launch's threads.
const DEVICE: u64 = 1;

impl Body<'_> {
    pub(super) fn atomic(&mut self, op: &Op) -> Result {
        let Op::Atomic { d, kind, space, bytes, address, offset, b, c, high } = op else { return Ok(()) };
        if high.is_some() {
            return Err("an atomic on 128 bits".to_owned());
        }
        let int = Self::atomic_type(*bytes)?;
        if int == Ty::U64 {
            self.module.capability("Int64Atomics");
        }
        let ty = match kind {
            AtomicKind::Float { operation, lanes: 1 } => {
                let ty = Ty::of_format(operation.format).filter(|ty| ty.bits() == int.bits());
                let ty = ty.ok_or("an atomic sum in this format")?;
                let mode = self.mode(ty);
                if operation.rounding != Rounding::NearestEven || mode.toward_zero || mode.flush != operation.flush {
                    return Err("an atomic sum that the kernel's modes do not give".to_owned());
                }
                ty
            }
            AtomicKind::Float { .. } | AtomicKind::FloatMinMax { .. } => {
                return Err("an atomic on packed floats, or an extremum of floats".to_owned());
            }
            _ => int,
        };
        let pointer = self.pointer(*space, *address, *offset, ty, 1)?;
        let scope = Id::constant(Ty::U32, DEVICE);
        let relaxed = Id::constant(Ty::U32, 0);
        let value = self.read_as(*b, ty);
        let args = [pointer, scope, relaxed, value];
        let old = match kind {
            AtomicKind::Int(op) => {
                let opcode = match op {
                    IntOp::Add => "OpAtomicIAdd",
                    IntOp::And => "OpAtomicAnd",
                    IntOp::Or => "OpAtomicOr",
                    IntOp::Xor => "OpAtomicXor",
                    IntOp::Min(Signedness::Signed) => "OpAtomicSMin",
                    IntOp::Min(Signedness::Unsigned) => "OpAtomicUMin",
                    IntOp::Max(Signedness::Signed) => "OpAtomicSMax",
                    IntOp::Max(Signedness::Unsigned) => "OpAtomicUMax",
                    _ => return Err("this atomic".to_owned()),
                };
                self.emit(ty, opcode, &args)
            }
            AtomicKind::Exchange => self.emit(ty, "OpAtomicExchange", &args),
            AtomicKind::CompareAndSwap => {
                let new = self.read_as(*c, ty);
                self.emit(ty, "OpAtomicCompareExchange", &[pointer, scope, relaxed, relaxed, new, value])
            }
            AtomicKind::Float { .. } => {
                self.module.extension("SPV_EXT_shader_atomic_float_add");
                let capability = if ty == Ty::F64 { "AtomicFloat64AddEXT" } else { "AtomicFloat32AddEXT" };
                self.module.capability(capability);
                self.emit(ty, "OpAtomicFAddEXT", &args)
            }
            AtomicKind::Increment | AtomicKind::Decrement => return Err("an atomic that wraps".to_owned()),
            AtomicKind::Arrive | AtomicKind::FloatMinMax { .. } => return Err("this atomic".to_owned()),
        };
        if let Some(d) = d {
            self.write(*d, old, ty);
        }
        Ok(())
    }
}
