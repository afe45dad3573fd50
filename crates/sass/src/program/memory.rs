//! Memory.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{AtomicKind, IntOp, MemoryOrder, Op, Operand as Arg, Reg, Signedness, Space, Width};

use super::body::{B32, Body, neighbour};
use crate::instruction::{Instruction, Operand, PT, RZ, Value};

/// The space that the last letters name.
fn space(name: &str) -> Space {
    match name {
        "LDG" | "STG" => Space::Global,
        "LDL" | "STL" => Space::Local,
        "LDS" | "STS" | "ATOMS" => Space::Shared,
        _ => Space::Generic,
    }
}

/// Of an access: bytes of an element, whether it has a sign, and how many registers there are.
fn size(inst: &Instruction) -> Option<(u32, bool, u8)> {
    let text = inst.modifier("size").unwrap_or("");
    // `.U` says that all lanes read the same.
    let text = text.strip_prefix(".U.").unwrap_or_else(|| text.trim_start_matches('.'));
    Some(match text {
        "U8" => (1, false, 1),
        "S8" => (1, true, 1),
        "U16" => (2, false, 1),
        "S16" => (2, true, 1),
        "" | "32" => (4, false, 1),
        "64" => (4, false, 2),
        "128" => (4, false, 4),
        _ => return None,
    })
}

/// A volatile access is one past the caches. Shared memory has none, so that each access to it may be one.
fn order(inst: &Instruction) -> MemoryOrder {
    match inst.modifier("cache") {
        Some(".CV" | ".WT") => MemoryOrder::VOLATILE,
        _ if space(inst.mnemonic()) == Space::Shared => MemoryOrder::VOLATILE,
        _ => MemoryOrder::WEAK,
    }
}

impl Body<'_> {
    /// An instruction's address and what is added to it. Of 32 bits the sum has 32 bits.
    fn address(&mut self, inst: &Instruction, operand: &Operand) -> Option<(Arg, i64)> {
        let Value::Memory { register, offset } = operand.value else { return None };
        if register == RZ {
            return Some((Arg::Imm(offset.cast_unsigned()), 0));
        }
        let low = self.read(register);
        if inst.modifier("e").is_some() {
            let high = self.read(neighbour(register, 1)?);
            if let Some(whole) = self.known_pair(register) {
                return Some((whole, offset));
            }
            return Some((self.pack(low, high).into(), offset));
        }
        if !matches!(space(inst.mnemonic()), Space::Global | Space::Generic) {
            return Some((low, offset));
        }
        let sum = match offset {
            0 => low,
            _ => self.int32(IntOp::Add, &[low, Arg::Imm(offset.cast_unsigned() & 0xffff_ffff)]),
        };
        Some((self.pack(sum, Arg::ZERO).into(), 0))
    }

    /// The predicate of a generic access, which ptxas has `LEA` write of the address, changes nothing. Others are not
    /// run with one.
    fn without_predicate(&self, operand: Option<&Operand>) -> Option<()> {
        operand.is_none_or(|operand| operand.value == Value::Predicate(PT) || self.is_hinted).then_some(())
    }

    pub(super) fn load(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["e", "cache", "size"])?;
        let operands = inst.operands();
        let (bytes, signed, count) = size(inst)?;
        let Value::Register(first) = operands[0].value else { return None };
        self.without_predicate(operands.get(2))?;
        let (space, (address, offset)) = if inst.mnemonic() == "LDC" {
            self.constant_address(&operands[1], bytes * u32::from(count))?
        } else {
            (space(inst.mnemonic()), self.address(inst, &operands[1])?)
        };
        let mut d = Vec::new();
        for place in 0..count {
            let number = neighbour(first, place)?;
            d.push(if number == RZ { None } else { Some(self.register(number)) });
        }
        self.finish_ordered(Op::Load { d, space, bytes, signed, address, offset }, order(inst));
        Some(())
    }

    /// A place in a constant bank that a register names.
    fn constant_address(&mut self, operand: &Operand, bytes: u32) -> Option<(Space, (Arg, i64))> {
        let Value::ConstantAt { bank, register, offset } = operand.value else { return None };
        let low = self.read(register);
        let place = self.pack(low, Arg::ZERO).into();
        if bank != 0 {
            let base = self.bank_address(bank)?.into();
            let address = self.int(IntOp::Add, Width::B64, &[base, place]);
            return Some((Space::Const, (address.into(), i64::from(offset))));
        }
        let base = i64::from(offset) - i64::from(self.info.param_base);
        // Below the parameters stands what only the launch knows.
        if base < 0 || (register == RZ && base + i64::from(bytes) > i64::from(self.info.param_bytes)) {
            return None;
        }
        Some((Space::Param, (place, base)))
    }

    pub(super) fn store(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["e", "cache", "size"])?;
        let operands = inst.operands();
        let (bytes, _, count) = size(inst)?;
        let Value::Register(first) = operands[1].value else { return None };
        self.without_predicate(operands.get(2))?;
        let (address, offset) = self.address(inst, &operands[0])?;
        let mut values = Vec::new();
        for place in 0..count {
            values.push(neighbour(first, place).map(|number| self.read(number))?);
        }
        let store = Op::Store { values, width: B32, space: space(inst.mnemonic()), bytes, address, offset };
        self.finish_ordered(store, order(inst));
        Some(())
    }

    pub(super) fn atomic(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["e", "op", "type"])?;
        let operands = inst.operands();
        let returns = inst.mnemonic() != "RED";
        let (target, rest) = if returns { (operands.first(), operands.get(1..)?) } else { (None, &*operands) };
        let (memory, values) = rest.split_first()?;
        let ty = inst.modifier("type");
        let is_wide = matches!(ty, Some(".64" | ".U64" | ".S64" | ".F64.RN"));
        let is_swap = values.len() == 2;
        let kind = if is_swap {
            if inst.modifiers().any(|(name, text)| matches!(name, "op") && text != ".CAS") {
                return None;
            }
            AtomicKind::CompareAndSwap
        } else {
            atomic_kind(inst.modifier("op")?, ty)?
        };
        let (address, offset) = self.address(inst, memory)?;
        let mut value = |operand: Option<&Operand>| match operand {
            None => Some(Arg::ZERO),
            Some(operand) if is_wide => self.pair(operand),
            Some(operand) => self.bits(operand),
        };
        let (b, c) = (value(values.first())?, value(values.get(1))?);
        let bytes = if is_wide { 8 } else { 4 };
        let space = space(inst.mnemonic());
        let d: Option<Reg> = match target {
            Some(operand) if operand.value != Value::Register(RZ) => {
                Some(if is_wide { self.fresh(Width::B64) } else { self.target(operand)? })
            }
            _ => None,
        };
        self.finish(Op::Atomic { d, kind, space, bytes, address, offset, b, c, high: None });
        match (d, target) {
            (Some(d), Some(operand)) if is_wide => self.write_pair(operand, d),
            _ => Some(()),
        }
    }
}

fn atomic_kind(op: &str, ty: Option<&str>) -> Option<AtomicKind> {
    let format = match ty {
        Some(".F32.FTZ.RN") => Some(Format::F32),
        Some(".F64.RN") => Some(Format::F64),
        Some(".F16x2.RN") => return None,
        _ => None,
    };
    if let Some(format) = format {
        let mut operation = Operation::new(ArithOp::Add, format, Rounding::NearestEven);
        operation.flush = format == Format::F32;
        return (op == ".ADD").then_some(AtomicKind::Float { operation, lanes: 1 });
    }
    let sign = match ty {
        Some(".S32" | ".S64") => Signedness::Signed,
        _ => Signedness::Unsigned,
    };
    Some(match op {
        ".ADD" => AtomicKind::Int(IntOp::Add),
        ".MIN" => AtomicKind::Int(IntOp::Min(sign)),
        ".MAX" => AtomicKind::Int(IntOp::Max(sign)),
        ".AND" => AtomicKind::Int(IntOp::And),
        ".OR" => AtomicKind::Int(IntOp::Or),
        ".XOR" => AtomicKind::Int(IntOp::Xor),
        ".INC" => AtomicKind::Increment,
        ".DEC" => AtomicKind::Decrement,
        ".EXCH" => AtomicKind::Exchange,
        _ => return None,
    })
}
