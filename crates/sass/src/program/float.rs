//! Numbers of 32 and 64 bits.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{Comparand, Comparison, Function, IntOp, Op, Operand as Arg, Signedness, Width};

use super::body::{B32, Body, TRUE};
use crate::instruction::{Instruction, Operand, Value};
use crate::row::Lowering;

/// The rounding of a slot whose first value is to nearest even.
pub(super) fn rounding(text: Option<&str>) -> Option<Rounding> {
    Some(match text {
        None => Rounding::NearestEven,
        Some(".RM" | ".FLOOR") => Rounding::Down,
        Some(".RP" | ".CEIL") => Rounding::Up,
        Some(".RZ" | ".TRUNC") => Rounding::TowardZero,
        Some(_) => return None,
    })
}

/// The comparison of floats; `Err` of a constant. `FCMP.GT` is written `FCMP`.
pub(super) fn comparison(text: Option<&str>) -> Option<Result<Comparison, Arg>> {
    Some(match text.unwrap_or(".GT") {
        ".F" => Err(Arg::ZERO),
        ".LT" => Ok(Comparison::Lt),
        ".EQ" => Ok(Comparison::Eq),
        ".LE" => Ok(Comparison::Le),
        ".GT" => Ok(Comparison::Gt),
        ".NE" => Ok(Comparison::Ne),
        ".GE" => Ok(Comparison::Ge),
        ".NUM" => Ok(Comparison::Num),
        ".NAN" => Ok(Comparison::Nan),
        ".LTU" => Ok(Comparison::Ltu),
        ".EQU" => Ok(Comparison::Equ),
        ".LEU" => Ok(Comparison::Leu),
        ".GTU" => Ok(Comparison::Gtu),
        ".NEU" => Ok(Comparison::Neu),
        ".GEU" => Ok(Comparison::Geu),
        ".T" => Err(TRUE),
        _ => return None,
    })
}

/// The operation with its operands negated where these say so.
pub(super) fn negated(mut operation: Operation, negations: impl IntoIterator<Item = bool>) -> Operation {
    for (side, negate) in operation.op.operands().iter().zip(negations) {
        match side {
            roundonce_arith::OperandIndex::C => operation.negate_addend ^= negate,
            _ => operation.negate_product ^= negate,
        }
    }
    operation
}

/// The exponents with which a division of f32 takes the shorter way, in their place in the number.
pub(super) mod division {
    /// An exponent's bits.
    pub(in super::super) const EXPONENT: u32 = 0x7f80_0000;
    /// The dividend's least: below it the remainder could be subnormal.
    pub(in super::super) const DIVIDEND: u32 = 32 << 23;
    /// The divisor's least; its most, 238, is that of a normal reciprocal too.
    pub(in super::super) const DIVISOR: u32 = 16 << 23;
    /// How far the dividend's may be below the divisor's, or above: the quotient is normal.
    pub(in super::super) const APART: u32 = 111 << 23;
    /// From the least to the most of each.
    pub(in super::super) const ROOM: u32 = 222 << 23;
}

impl Body<'_> {
    pub(super) fn arithmetic(&mut self, inst: &Instruction) -> Option<()> {
        let Lowering::Arithmetic(arithmetic) = inst.row().lowering else { return None };
        let mut recipe = arithmetic.recipe;
        for (_, text) in inst.modifiers() {
            recipe = recipe.with(arithmetic.choice(text)?.effect);
        }
        if recipe.condition_codes {
            return None;
        }
        let operands = inst.operands();
        let operation = negated(recipe.operation, operands[1..].iter().map(|operand| operand.negate));
        let mut args = [Arg::ZERO; 3];
        for (arg, operand) in args.iter_mut().zip(&operands[1..]) {
            *arg = self.single(&Operand { negate: false, ..*operand })?;
        }
        let d = self.target(&operands[0])?;
        self.finish(Op::Float { d, operation, components: 1, contractible: false, args });
        Some(())
    }

    pub(super) fn double_arithmetic(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["rnd"])?;
        let op = match inst.mnemonic() {
            "DADD" => ArithOp::Add,
            "DMUL" => ArithOp::Mul,
            _ => ArithOp::MulAdd,
        };
        let operands = inst.operands();
        let operation = Operation::new(op, Format::F64, rounding(inst.modifier("rnd"))?);
        let operation = negated(operation, operands[1..].iter().map(|operand| operand.negate));
        let mut args = [Arg::ZERO; 3];
        for (arg, operand) in args.iter_mut().zip(&operands[1..]) {
            *arg = self.double(&Operand { negate: false, ..*operand })?;
        }
        let d = self.fresh(Width::B64);
        self.finish(Op::Float { d, operation, components: 1, contractible: false, args });
        self.write_pair(&operands[0], d)
    }

    pub(super) fn float_min_max(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["ftz"])?;
        let operands = inst.operands();
        let is_double = inst.mnemonic() == "DMNMX";
        let format = if is_double { Format::F64 } else { Format::F32 };
        let mut read = |operand| if is_double { self.double(operand) } else { self.single(operand) };
        let (a, b) = (read(&operands[1])?, read(&operands[2])?);
        let p = self.condition(&operands[3])?;
        let width = Width::holding(format.width());
        let flush = inst.modifier("ftz").is_some();
        let mut of = |max| {
            let d = self.fresh(width);
            self.finish(Op::MinMax { d, max, format, flush, nan: false, xorsign_abs: false, a, b });
            d
        };
        let d = match p {
            Arg::Imm(p) => of(p == 0),
            Arg::Reg(_) => {
                let (min, max) = (of(false), of(true));
                let d = self.fresh(width);
                self.finish(Op::Select { d, p, a: min.into(), b: max.into() });
                d
            }
        };
        if is_double {
            return self.write_pair(&operands[0], d);
        }
        let target = self.target(&operands[0])?;
        self.finish(Op::Move { d: target, a: d.into() });
        Some(())
    }

    /// Comparisons into predicates, into a truth, and of a third number with zero.
    pub(super) fn float_set(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["bf", "cmp", "ftz", "bool", "CC"])?;
        let operands = inst.operands();
        let is_double = inst.mnemonic().starts_with('D');
        let format = if is_double { Format::F64 } else { Format::F32 };
        let of = Comparand::Float { format, flush: inst.modifier("ftz").is_some() };
        let comparison = comparison(inst.modifier("cmp"))?;
        if inst.mnemonic() == "FCMP" {
            let (a, b, c) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.single(&operands[3])?);
            let p = self.holds(comparison, of, [c, Arg::ZERO]);
            let d = self.target(&operands[0])?;
            self.finish(Op::Select { d, p, a, b });
            return Some(());
        }
        let [.., a, b, with] = &*operands else { return None };
        let mut read = |operand| if is_double { self.double(operand) } else { self.single(operand) };
        let (a, b) = (read(a)?, read(b)?);
        let result = self.holds(comparison, of, [a, b]);
        self.write_comparison(inst, result, with)
    }

    /// What hardware approximates. Subnormals are flushed, as in PTX's `.approx.ftz`.
    pub(super) fn function(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["function", "sat"])?;
        let operands = inst.operands();
        let text = inst.modifier("function")?;
        let (function, format) = match text {
            ".COS" => (Function::Cos, Format::F32),
            ".SIN" => (Function::Sin, Format::F32),
            ".EX2" => (Function::Exp2, Format::F32),
            ".LG2" => (Function::Log2, Format::F32),
            ".RCP" => (Function::Reciprocal, Format::F32),
            ".RSQ" => (Function::ReciprocalSquareRoot, Format::F32),
            ".SQRT" => (Function::SquareRoot, Format::F32),
            ".RCP64H" => (Function::Reciprocal, Format::F64),
            ".RSQ64H" => (Function::ReciprocalSquareRoot, Format::F64),
            _ => return None,
        };
        let value = self.single(&operands[1])?;
        let d = self.target(&operands[0])?;
        let saturate = inst.modifier("sat").is_some();
        let name = format!("MUFU{text}");
        let approximate = |d, a| Op::Approximate { d, function, format, flush: true, saturate, a, b: Arg::ZERO, name };
        if format == Format::F32 {
            self.finish(approximate(d, value));
            return Some(());
        }
        // The upper half of a number gives the upper half of the result.
        let whole = self.pack(Arg::ZERO, value).into();
        let result = self.fresh(Width::B64);
        self.finish(approximate(result, whole));
        let upper = self.fresh(Width::B32);
        self.finish(Op::Extract { d: upper, a: result.into(), width: Width::B64, shift: 32 });
        // As `rcp.approx.ftz.f64` has it, which this instruction is (PTX ISA).
        let is_nan =
            self.compare(Comparison::Nan, Comparand::Float { format, flush: false }, result.into(), result.into());
        self.finish(Op::Select { d, p: is_nan.into(), a: Arg::Imm(0x7fff_ffff), b: upper.into() });
        Some(())
    }

    /// The range reduction before a function: the function is computed of the number itself.
    pub(super) fn reduce_range(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["function"])?;
        let operands = inst.operands();
        let a = self.single(&operands[1])?;
        let d = self.target(&operands[0])?;
        self.finish(Op::Move { d, a });
        Some(())
    }

    /// Whether a division must take the longer way. Where the hardware takes it is not documented; here wherever the
    /// exponents could make the shorter one inexact: the dividend is so small that the remainder could be subnormal, or
    /// the divisor's reciprocal or the quotient could be. Both ways give the same quotient.
    pub(super) fn check_division(&mut self, inst: &Instruction) -> Option<()> {
        if inst.modifier("function") != Some(".DIVIDE") {
            return None;
        }
        let operands = inst.operands();
        let mut exponent = |operand| -> Option<Arg> {
            let value = self.bits(operand)?;
            Some(self.int32(IntOp::And, &[value, Arg::Imm(division::EXPONENT.into())]))
        };
        let (a, b) = (exponent(&operands[1])?, exponent(&operands[2])?);
        // One comparison for all three: they have as much room.
        let number = |bits: u32| Arg::Imm(bits.into());
        let dividend = self.int32(IntOp::Sub, &[a, number(division::DIVIDEND)]);
        let divisor = self.int32(IntOp::Sub, &[b, number(division::DIVISOR)]);
        let above = self.int32(IntOp::Add, &[a, number(division::APART)]);
        let apart = self.int32(IntOp::Sub, &[above, b]);
        let most = self.int32(IntOp::Max(Signedness::Unsigned), &[dividend, divisor]);
        let most = self.int32(IntOp::Max(Signedness::Unsigned), &[most, apart]);
        let outside = self.compare_bits(Comparison::Gt, most, number(division::ROOM));
        let Value::Predicate(predicate) = operands[0].value else { return None };
        let d = self.predicate(predicate);
        self.finish(Op::Move { d, a: outside.into() });
        Some(())
    }

    /// The bits of a field of a register, extended.
    pub(super) fn part(&mut self, value: Arg, place: u32, bits: u32, sign: Signedness) -> Arg {
        if bits == B32.bits() {
            return value;
        }
        self.int32(IntOp::FieldExtract(sign), &[value, Arg::Imm(u64::from(place)), Arg::Imm(u64::from(bits))])
    }
}
