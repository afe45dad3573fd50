//! Atomics on memory. What OpenCL has no instruction for is a loop that computes the new value and exchanges it where the
//! old one still stands.

use roundonce_arith::{Format, Operation, Rounding};
use roundonce_ir::{AtomicKind, IntOp, Op, Operand, Reg, Signedness, Space, Width, arrival};

use super::body::{Body, Result};
use super::ids::{Id, Ty};
use super::order::of_atomic;

impl Body<'_> {
    pub(super) fn atomic(&mut self, op: &Op) -> Result {
        let Op::Atomic { d, kind, space, bytes, address, offset, b, c, high } = op else { return Ok(()) };
        if high.is_some() {
            return Err("an atomic on 128 bits".to_owned());
        }
        let int = self.atomic_word(*bytes)?;
        let (ty, sum) = match kind {
            AtomicKind::Float { operation, lanes: 1 } => {
                // PTX never flushes what is shared.
                if *space == Space::Generic && operation.flush && self.has_windows() {
                    return Err("an atomic sum that is flushed unless its address leads to shared memory".to_owned());
                }
                let operation = Operation { flush: operation.flush && *space != Space::Shared, ..*operation };
                let ty = Ty::of_format(operation.format).filter(|ty| ty.bits() == int.bits());
                let ty = ty.ok_or("an atomic sum in this format")?;
                let mode = self.mode(ty);
                let is_native =
                    operation.rounding == Rounding::NearestEven && !mode.toward_zero && mode.flush == operation.flush;
                if is_native { (ty, None) } else { (int, Some(operation)) }
            }
            _ => (int, None),
        };
        let pointer = self.pointer(*space, *address, *offset, ty, 1)?;
        let [scope, semantics, failed] = of_atomic(self.order);
        let value = self.read_as(*b, ty);
        let args = [pointer, scope, semantics, value];
        if op.is_atomic_store() {
            self.effect("OpAtomicStore", &args);
            return Ok(());
        }
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
                    _ => return Err("this combination".to_owned()),
                };
                self.emit(ty, opcode, &args)
            }
            AtomicKind::Exchange => self.emit(ty, "OpAtomicExchange", &args),
            AtomicKind::CompareAndSwap => {
                let new = self.read_as(*c, ty);
                self.emit(ty, "OpAtomicCompareExchange", &[pointer, scope, semantics, failed, new, value])
            }
            AtomicKind::Float { operation, lanes: 2.. } => {
                self.packed_loop(pointer, operation.format, value, |body, pair| {
                    body.family(operation, &[pair[0], pair[1], Operand::ZERO])
                })?
            }
            AtomicKind::FloatMinMax { max, format, lanes: 2.. } => {
                self.packed_loop(pointer, *format, value, |body, pair| {
                    body.extremum(*max, (*format, false), (false, false), pair)
                })?
            }
            AtomicKind::Float { .. } => match sum {
                None => {
                    self.module.extension("SPV_EXT_shader_atomic_float_add");
                    let capability = if ty == Ty::F64 { "AtomicFloat64AddEXT" } else { "AtomicFloat32AddEXT" };
                    self.module.capability(capability);
                    self.emit(ty, "OpAtomicFAddEXT", &args)
                }
                Some(operation) => self.exchange_loop(pointer, ty, |body, old| {
                    let old = body.scratch(old, ty);
                    let (sum, of) = body.family(&operation, &[old, *b, Operand::ZERO])?;
                    Ok(body.bitcast(sum, of, ty))
                })?,
            },
            AtomicKind::FloatMinMax { max, format, lanes: 1 } if format.width() == int.bits() => {
                self.exchange_loop(pointer, ty, |body, old| {
                    let old = body.scratch(old, ty);
                    let (value, of) = body.extremum(*max, (*format, false), (false, false), [old, *b])?;
                    Ok(body.bitcast(value, of, ty))
                })?
            }
            AtomicKind::Increment => self.exchange_loop(pointer, ty, |body, old| {
                let more = body.emit(ty, "OpIAdd", &[old, Id::constant(ty, 1)]);
                let below = body.emit(Ty::Bool, "OpULessThan", &[old, value]);
                Ok(body.select(ty, below, more, Id::constant(ty, 0)))
            })?,
            AtomicKind::Decrement => self.exchange_loop(pointer, ty, |body, old| {
                let less = body.emit(ty, "OpISub", &[old, Id::constant(ty, 1)]);
                // Of 0 it is the largest number, which is not below the operand.
                let within = body.emit(Ty::Bool, "OpULessThan", &[less, value]);
                Ok(body.select(ty, within, less, value))
            })?,
            AtomicKind::Arrive => self.exchange_loop(pointer, ty, |body, old| Ok(body.arrived(old, value)))?,
            AtomicKind::FloatMinMax { .. } => return Err("an atomic extremum in this format".to_owned()),
        };
        if let Some(d) = d {
            self.write(*d, old, ty);
        }
        Ok(())
    }

    /// The type of an atomic on so many bytes.
    fn atomic_word(&mut self, bytes: u32) -> Result<Ty> {
        match bytes {
            4 => Ok(Ty::U32),
            8 if self.options.environment().full_opencl().is_some() => {
                Err("an atomic on 64 bits, which OpenCL's environments lack".to_owned())
            }
            8 => {
                self.module.capability("Int64Atomics");
                Ok(Ty::U64)
            }
            _ => Err(format!("an atomic on {} bits", 8 * bytes)),
        }
    }

    /// A load that is ordered: each element on its own.
    pub(super) fn atomic_load(
        &mut self,
        d: &[Option<Reg>],
        (space, bytes, signed): (Space, u32, bool),
        address: Operand,
        offset: i64,
    ) -> Result {
        let ty = self.atomic_word(bytes)?;
        let [scope, semantics, _] = of_atomic(self.order);
        for (place, reg) in (0..).zip(d) {
            let at = offset.wrapping_add(place * i64::from(bytes));
            let pointer = self.pointer(space, address, at, ty, 1)?;
            let value = self.emit(ty, "OpAtomicLoad", &[pointer, scope, semantics]);
            if let Some(reg) = reg {
                self.write_extended(*reg, value, ty, signed);
            }
        }
        Ok(())
    }

    /// A store that is ordered: each element on its own.
    pub(super) fn atomic_store(
        &mut self,
        values: &[Operand],
        (space, bytes, width): (Space, u32, Width),
        address: Operand,
        offset: i64,
    ) -> Result {
        let ty = self.atomic_word(bytes)?;
        let [scope, semantics, _] = of_atomic(self.order);
        for (place, value) in (0..).zip(values) {
            let at = offset.wrapping_add(place * i64::from(bytes));
            let pointer = self.pointer(space, address, at, ty, 1)?;
            let whole = Ty::of(width);
            let value = self.read_as(*value, whole);
            let value = self.resize(value, whole, ty);
            self.effect("OpAtomicStore", &[pointer, scope, semantics, value]);
        }
        Ok(())
    }

    /// A barrier object after arrivals, as [`arrival::arrived`] has it.
    fn arrived(&mut self, object: Id, arrivals: Id) -> Id {
        let ty = Ty::U64;
        let constant = |bits: u64| Id::constant(ty, bits);
        let phase = self.emit(ty, "OpBitwiseAnd", &[object, constant(arrival::PHASE)]);
        let counts = self.emit(ty, "OpISub", &[object, arrivals]);
        let counts = self.emit(ty, "OpBitwiseAnd", &[counts, constant(!arrival::PHASE)]);
        let pending = (arrival::EXPECTED - 1) | (arrival::PHASE - arrival::BYTES);
        let pending = self.emit(ty, "OpBitwiseAnd", &[counts, constant(pending)]);
        let over = self.emit(Ty::Bool, "OpIEqual", &[pending, constant(0)]);
        let waits = self.emit(ty, "OpBitwiseOr", &[phase, counts]);
        let next = self.emit(ty, "OpBitwiseXor", &[phase, constant(arrival::PHASE)]);
        let shift = constant(arrival::EXPECTED.trailing_zeros().into());
        let again = self.emit(ty, "OpShiftRightLogical", &[counts, shift]);
        let next = self.emit(ty, "OpBitwiseOr", &[next, counts]);
        let next = self.emit(ty, "OpBitwiseOr", &[next, again]);
        self.select(ty, over, next, waits)
    }

    /// Of a word of two halves, each combined with a half of the operand.
    fn packed_loop(
        &mut self,
        pointer: Id,
        format: Format,
        value: Id,
        combine: impl Fn(&mut Self, [Operand; 2]) -> Result<(Id, Ty)>,
    ) -> Result<Id> {
        let (word, half) = (Ty::U32, Ty::U16);
        if format.width() != half.bits() {
            return Err("an atomic on packed floats in this format".to_owned());
        }
        self.exchange_loop(pointer, word, |body, old| {
            let mut halves = [Id::Undef(half); 2];
            for (place, result) in halves.iter_mut().enumerate() {
                let pair = [old, value].map(|whole| body.extracted(whole, word, half.bits() * place as u32, half));
                let pair = body.scratch_pair(pair, half);
                let (combined, ty) = combine(body, pair)?;
                *result = body.bitcast(combined, ty, half);
            }
            Ok(body.joined(word, halves[0], halves[1]))
        })
    }

    /// The old value, once nothing has come between reading it and writing what is made of it.
    fn exchange_loop(&mut self, pointer: Id, ty: Ty, new: impl FnOnce(&mut Self, Id) -> Result<Id>) -> Result<Id> {
        let [scope, semantics, failed] = of_atomic(self.order);
        let relaxed = Id::constant(Ty::U32, 0);
        let seen = self.local_variable(ty);
        let start = self.emit(ty, "OpAtomicLoad", &[pointer, scope, relaxed]);
        self.effect("OpStore", &[seen, start]);
        let (again, behind) = (self.module.label(), self.module.label());
        self.effect("OpBranch", &[again]);
        self.label(again);
        let old = self.emit(ty, "OpLoad", &[seen]);
        let value = new(self, old)?;
        let found = self.emit(ty, "OpAtomicCompareExchange", &[pointer, scope, semantics, failed, value, old]);
        self.effect("OpStore", &[seen, found]);
        let done = self.emit(Ty::Bool, "OpIEqual", &[found, old]);
        self.effect("OpBranchConditional", &[done, behind, again]);
        self.label(behind);
        Ok(old)
    }
}
