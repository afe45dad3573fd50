//! Floating-point arithmetic that is one instruction under the kernel's modes, and what surrounds it: signs, clamps,
//! comparisons, extrema.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding};
use roundonce_ir::{Class, Comparand, Comparison, Function, Operand, Signedness};

use super::body::{Body, Result};
use super::ids::{Id, Ty};
use super::shape::is_plain;

impl Body<'_> {
    /// An operation of the multiply-add family, of one component.
    pub(super) fn family(&mut self, operation: &Operation, args: &[Operand; 3]) -> Result<(Id, Ty)> {
        let ty = Ty::of_format(operation.format);
        if operation.oob {
            return self.unless_out_of_bounds(operation, args);
        }
        let (value, ty) = match ty {
            _ if operation.op == ArithOp::TruncatedMulAdd => self.truncated(operation, args)?,
            Some(ty) if is_plain(operation) && self.is_native(operation) => (self.native(operation, ty, args)?, ty),
            _ => self.expanded(operation, args)?,
        };
        let Some(float) = Ty::of_format(operation.format) else {
            return Ok((self.clamped_bits(operation.clamp, value), ty));
        };
        Ok((self.clamped(operation.clamp, value, float), ty))
    }

    /// +0 where a factor is the out-of-bounds NaN, of either sign.
    fn unless_out_of_bounds(&mut self, operation: &Operation, args: &[Operand; 3]) -> Result<(Id, Ty)> {
        if operation.operand_formats.is_some() || operation.format.width() != 16 {
            return Err("an out-of-bounds NaN (`.oob`) in this format".to_owned());
        }
        let (value, ty) = self.family(&Operation { oob: false, ..*operation }, args)?;
        let mut bits = self.bitcast(value, ty, Ty::U16);
        let magnitude = Id::constant(Ty::U16, operation.format.magnitude_mask());
        for &arg in &args[..2] {
            let operand = self.read_as(arg, Ty::U16);
            let operand = self.emit(Ty::U16, "OpBitwiseAnd", &[operand, magnitude]);
            let outside = Id::constant(Ty::U16, Profile::NVIDIA.oob_nan);
            let outside = self.emit(Ty::Bool, "OpIEqual", &[operand, outside]);
            bits = self.select(Ty::U16, outside, Id::constant(Ty::U16, 0), bits);
        }
        Ok((bits, Ty::U16))
    }

    /// Whether the modes say an operation's rounding and its flush.
    fn is_native(&self, operation: &Operation) -> bool {
        let mode = self.shape.mode(operation.format);
        mode.rounding() == operation.rounding && mode.flush == operation.flush
    }

    fn native(&mut self, operation: &Operation, ty: Ty, args: &[Operand; 3]) -> Result<Id> {
        self.mode(ty);
        let arity = operation.op.arity();
        let mut values = Vec::with_capacity(3);
        for (at, &arg) in args.iter().enumerate().take(arity) {
            values.push(self.widened(arg, operation.operand_format(at), operation.format)?);
        }
        let Operation { negate_product, negate_addend, .. } = *operation;
        Ok(match operation.op {
            ArithOp::Add => match (negate_product, negate_addend) {
                (false, false) => self.emit(ty, "OpFAdd", &values),
                (false, true) => self.emit(ty, "OpFSub", &values),
                (true, subtracts) => {
                    let first = self.negated(values[0], ty);
                    let opcode = if subtracts { "OpFSub" } else { "OpFAdd" };
                    self.emit(ty, opcode, &[first, values[1]])
                }
            },
            ArithOp::Mul => {
                let first = if negate_product { self.negated(values[0], ty) } else { values[0] };
                self.emit(ty, "OpFMul", &[first, values[1]])
            }
            ArithOp::MulAdd | ArithOp::TruncatedMulAdd => {
                let first = if negate_product { self.negated(values[0], ty) } else { values[0] };
                let last = if negate_addend { self.negated(values[2], ty) } else { values[2] };
                self.fused(ty, first, values[1], last)
            }
        })
    }

    /// a × b + c, rounded once.
    pub(super) fn fused(&mut self, ty: Ty, a: Id, b: Id, c: Id) -> Id {
        if self.options.fma_khr {
            self.module.capability("FMAKHR");
            self.module.extension("SPV_KHR_fma");
            return self.emit(ty, "OpFmaKHR", &[a, b, c]);
        }
        self.call(ty, "fma", &[a, b, c])
    }

    /// An operand in a format that holds its own.
    fn widened(&mut self, arg: Operand, from: Format, to: Format) -> Result<Id> {
        let to = Ty::of_format(to).ok_or("a format that kernels have no type of")?;
        match Ty::of_format(from) {
            Some(ty) if ty == to => Ok(self.read_as(arg, ty)),
            Some(ty) => {
                let value = self.operand(arg, ty, false)?;
                Ok(self.emit(to, "OpFConvert", &[value]))
            }
            None if from == Format::BF16 && to == Ty::F32 => {
                let bits = self.read_as(arg, Ty::U16);
                Ok(self.widened_bf16(bits))
            }
            None => Err(format!("a number of format {}", from.name().unwrap_or("of its own"))),
        }
    }

    /// The f32 that a bf16 is.
    pub(super) fn widened_bf16(&mut self, bits: Id) -> Id {
        let wide = self.resize(bits, Ty::U16, Ty::U32);
        let shifted = self.emit(Ty::U32, "OpShiftLeftLogical", &[wide, Id::constant(Ty::U32, 16)]);
        self.bitcast(shifted, Ty::U32, Ty::F32)
    }

    /// The sign flipped; of an f64's NaN, which keeps it, not.
    pub(super) fn negated(&mut self, value: Id, ty: Ty) -> Id {
        let int = Ty::int(ty.bits());
        let bits = self.bitcast(value, ty, int);
        let flipped = self.emit(int, "OpBitwiseXor", &[bits, Id::constant(int, ty.format().sign_mask())]);
        let flipped = self.bitcast(flipped, int, ty);
        if ty != Ty::F64 {
            return flipped;
        }
        let nan = self.emit(Ty::Bool, "OpIsNan", &[value]);
        self.select(ty, nan, value, flipped)
    }

    /// A result in its range; a NaN becomes +0 in [0, 1], and −0 becomes +0.
    pub(super) fn clamped(&mut self, clamp: Clamp, value: Id, ty: Ty) -> Id {
        let zero = Id::constant(ty, 0);
        match clamp {
            Clamp::None => value,
            Clamp::Unit => {
                let one = Id::constant(ty, ty.format().one());
                let below = self.emit(Ty::Bool, "OpFOrdLessThan", &[value, one]);
                let inside = self.select(ty, below, value, one);
                let above = self.emit(Ty::Bool, "OpFOrdGreaterThan", &[value, zero]);
                self.select(ty, above, inside, zero)
            }
            Clamp::Relu => {
                let above = self.emit(Ty::Bool, "OpFUnordGreaterThan", &[value, zero]);
                self.select(ty, above, value, zero)
            }
        }
    }

    /// The same of bf16's bits.
    pub(super) fn clamped_bits(&mut self, clamp: Clamp, bits: Id) -> Id {
        if clamp == Clamp::None {
            return bits;
        }
        let value = self.widened_bf16(bits);
        let clamped = self.clamped(clamp, value, Ty::F32);
        let wide = self.bitcast(clamped, Ty::F32, Ty::U32);
        let shifted = self.emit(Ty::U32, "OpShiftRightLogical", &[wide, Id::constant(Ty::U32, 16)]);
        self.resize(shifted, Ty::U32, Ty::U16)
    }

    /// Subnormals made zeros of their sign.
    pub(super) fn flushed(&mut self, value: Id, ty: Ty) -> Id {
        let (int, format) = (Ty::int(ty.bits()), ty.format());
        let bits = self.bitcast(value, ty, int);
        let exponent = self.emit(int, "OpBitwiseAnd", &[bits, Id::constant(int, format.infinity())]);
        let small = self.emit(Ty::Bool, "OpIEqual", &[exponent, Id::constant(int, 0)]);
        let zero = self.emit(int, "OpBitwiseAnd", &[bits, Id::constant(int, format.sign_mask())]);
        let bits = self.select(int, small, zero, bits);
        self.bitcast(bits, int, ty)
    }

    /// An operand of an instruction that flushes or does not, as the modes do not do it.
    pub(super) fn operand(&mut self, arg: Operand, ty: Ty, flush: bool) -> Result<Id> {
        let value = self.read_as(arg, ty);
        self.flushed_where(value, ty, flush)
    }

    /// A constant is flushed here, since what is made of it need not be an instruction that a mode is about.
    fn flushed_where(&mut self, value: Id, ty: Ty, flush: bool) -> Result<Id> {
        match (flush, self.mode(ty).flush) {
            (true, _) if let Some(bits) = value.known() => Ok(Id::constant(ty, ty.format().flush(bits))),
            (true, false) => Ok(self.flushed(value, ty)),
            (false, true) => Err("subnormals kept where the kernel flushes them".to_owned()),
            _ => Ok(value),
        }
    }

    /// The sign cleared or flipped.
    pub(super) fn sign(
        &mut self,
        negate: bool,
        format: Format,
        flush: bool,
        arithmetic: bool,
        a: Operand,
    ) -> Result<(Id, Ty)> {
        let int = Ty::int(format.width());
        let mut bits = self.read_as(a, int);
        if flush {
            let ty = Ty::of_format(format).ok_or("a flush in this format")?;
            let value = self.bitcast(bits, int, ty);
            let value = self.flushed(value, ty);
            bits = self.bitcast(value, ty, int);
        }
        let signed = match negate {
            true => self.emit(int, "OpBitwiseXor", &[bits, Id::constant(int, format.sign_mask())]),
            false => self.emit(int, "OpBitwiseAnd", &[bits, Id::constant(int, format.magnitude_mask())]),
        };
        if !arithmetic {
            return Ok((signed, int));
        }
        let magnitude = self.emit(int, "OpBitwiseAnd", &[bits, Id::constant(int, format.magnitude_mask())]);
        let infinity = Id::constant(int, format.infinity());
        let is_nan = self.emit(Ty::Bool, "OpUGreaterThan", &[magnitude, infinity]);
        let nan = match format {
            Format::F64 => self.emit(int, "OpBitwiseOr", &[bits, Id::constant(int, format.quiet_bit())]),
            _ => Id::constant(int, format.magnitude_mask()),
        };
        Ok((self.emit(int, "OpSelect", &[is_nan, nan, signed]), int))
    }

    pub(super) fn copy_sign(&mut self, format: Format, sign: Operand, magnitude: Operand) -> (Id, Ty) {
        let int = Ty::int(format.width());
        let (sign, magnitude) = (self.read_as(sign, int), self.read_as(magnitude, int));
        let sign = self.emit(int, "OpBitwiseAnd", &[sign, Id::constant(int, format.sign_mask())]);
        let rest = self.emit(int, "OpBitwiseAnd", &[magnitude, Id::constant(int, format.magnitude_mask())]);
        (self.emit(int, "OpBitwiseOr", &[sign, rest]), int)
    }

    /// The smaller or the larger. OpenCL leaves open which zero is: equal values are joined bit by bit.
    pub(super) fn extremum(
        &mut self,
        max: bool,
        (format, flush): (Format, bool),
        (nan, xorsign): (bool, bool),
        [a, b]: [Operand; 2],
    ) -> Result<(Id, Ty)> {
        let (ty, is_bf16) = match Ty::of_format(format) {
            Some(ty) => (ty, false),
            None if format == Format::BF16 && !flush => (Ty::F32, true),
            None => return Err("an extremum in this format".to_owned()),
        };
        let int = Ty::int(ty.bits());
        let [mut a, mut b] = match is_bf16 {
            true => [a, b].map(|arg| {
                let bits = self.read_as(arg, Ty::U16);
                self.widened_bf16(bits)
            }),
            // Joined bit by bit, they are flushed here whatever the modes say.
            false if flush => [a, b].map(|arg| {
                let value = self.read_as(arg, ty);
                self.flushed(value, ty)
            }),
            false => [self.operand(a, ty, flush)?, self.operand(b, ty, flush)?],
        };
        self.mode(ty);
        let mut signs = None;
        if xorsign {
            let [x, y] = [a, b].map(|value| self.bitcast(value, ty, int));
            let both = self.emit(int, "OpBitwiseXor", &[x, y]);
            signs = Some(self.emit(int, "OpBitwiseAnd", &[both, Id::constant(int, ty.format().sign_mask())]));
            [a, b] = [x, y].map(|bits| {
                let magnitude =
                    self.emit(int, "OpBitwiseAnd", &[bits, Id::constant(int, ty.format().magnitude_mask())]);
                self.bitcast(magnitude, int, ty)
            });
        }
        let plain = self.call(ty, if max { "fmax" } else { "fmin" }, &[a, b]);
        let equal = self.emit(Ty::Bool, "OpFOrdEqual", &[a, b]);
        let [x, y] = [a, b].map(|value| self.bitcast(value, ty, int));
        let joined = self.emit(int, if max { "OpBitwiseAnd" } else { "OpBitwiseOr" }, &[x, y]);
        let joined = self.bitcast(joined, int, ty);
        let mut value = self.select(ty, equal, joined, plain);
        if nan {
            let unordered = self.emit(Ty::Bool, "OpUnordered", &[a, b]);
            // A NaN as arithmetic makes one of these operands.
            let sum = self.emit(ty, "OpFAdd", &[a, b]);
            value = self.select(ty, unordered, sum, value);
        }
        let mut bits = self.bitcast(value, ty, int);
        if let Some(signs) = signs {
            let signed = self.emit(int, "OpBitwiseOr", &[bits, signs]);
            let is_nan = self.emit(Ty::Bool, "OpIsNan", &[value]);
            bits = self.select(int, is_nan, bits, signed);
        }
        if !is_bf16 {
            return Ok((self.bitcast(bits, int, ty), ty));
        }
        let shifted = self.emit(Ty::U32, "OpShiftRightLogical", &[bits, Id::constant(Ty::U32, 16)]);
        Ok((self.resize(shifted, Ty::U32, Ty::U16), Ty::U16))
    }

    pub(super) fn compare(&mut self, comparison: Comparison, of: Comparand, a: Operand, b: Operand) -> Result<Id> {
        let (ty, sign) = match of {
            Comparand::Unsigned(width) => (Ty::of(width), Some(Signedness::Unsigned)),
            Comparand::Signed(width) => (Ty::of(width), Some(Signedness::Signed)),
            Comparand::Float { format, flush } => return self.compare_floats(comparison, format, flush, a, b),
        };
        let (a, b) = (self.read_as(a, ty), self.read_as(b, ty));
        let signed = sign == Some(Signedness::Signed);
        let opcode = match (comparison, signed) {
            (Comparison::Eq | Comparison::Equ, _) if ty == Ty::Bool => "OpLogicalEqual",
            (Comparison::Ne | Comparison::Neu, _) if ty == Ty::Bool => "OpLogicalNotEqual",
            (Comparison::Eq | Comparison::Equ, _) => "OpIEqual",
            (Comparison::Ne | Comparison::Neu, _) => "OpINotEqual",
            (Comparison::Lt | Comparison::Ltu, false) => "OpULessThan",
            (Comparison::Lt | Comparison::Ltu, true) => "OpSLessThan",
            (Comparison::Le | Comparison::Leu, false) => "OpULessThanEqual",
            (Comparison::Le | Comparison::Leu, true) => "OpSLessThanEqual",
            (Comparison::Gt | Comparison::Gtu, false) => "OpUGreaterThan",
            (Comparison::Gt | Comparison::Gtu, true) => "OpSGreaterThan",
            (Comparison::Ge | Comparison::Geu, false) => "OpUGreaterThanEqual",
            (Comparison::Ge | Comparison::Geu, true) => "OpSGreaterThanEqual",
            (Comparison::Num, _) => return Ok(Id::constant(Ty::Bool, 1)),
            (Comparison::Nan, _) => return Ok(Id::constant(Ty::Bool, 0)),
        };
        Ok(self.emit(Ty::Bool, opcode, &[a, b]))
    }

    fn compare_floats(
        &mut self,
        comparison: Comparison,
        format: Format,
        flush: bool,
        a: Operand,
        b: Operand,
    ) -> Result<Id> {
        let [a, b] = match Ty::of_format(format) {
            Some(ty) => [self.operand(a, ty, flush)?, self.operand(b, ty, flush)?],
            None if format == Format::BF16 && !flush => [a, b].map(|arg| {
                let bits = self.read_as(arg, Ty::U16);
                self.mode(Ty::F32);
                self.widened_bf16(bits)
            }),
            None => return Err("a comparison in this format".to_owned()),
        };
        let opcode = match comparison {
            Comparison::Eq => "OpFOrdEqual",
            Comparison::Ne => "OpFOrdNotEqual",
            Comparison::Lt => "OpFOrdLessThan",
            Comparison::Le => "OpFOrdLessThanEqual",
            Comparison::Gt => "OpFOrdGreaterThan",
            Comparison::Ge => "OpFOrdGreaterThanEqual",
            Comparison::Equ => "OpFUnordEqual",
            Comparison::Neu => "OpFUnordNotEqual",
            Comparison::Ltu => "OpFUnordLessThan",
            Comparison::Leu => "OpFUnordLessThanEqual",
            Comparison::Gtu => "OpFUnordGreaterThan",
            Comparison::Geu => "OpFUnordGreaterThanEqual",
            Comparison::Num => "OpOrdered",
            Comparison::Nan => "OpUnordered",
        };
        Ok(self.emit(Ty::Bool, opcode, &[a, b]))
    }

    /// By the bits.
    pub(super) fn classify(&mut self, class: Class, format: Format, a: Operand) -> Id {
        let int = Ty::int(format.width());
        let bits = self.read_as(a, int);
        let magnitude = self.emit(int, "OpBitwiseAnd", &[bits, Id::constant(int, format.magnitude_mask())]);
        let infinity = Id::constant(int, format.infinity());
        let within = |body: &mut Self, low: u64, count: u64| {
            let above = body.emit(int, "OpISub", &[magnitude, Id::constant(int, low)]);
            body.emit(Ty::Bool, "OpULessThan", &[above, Id::constant(int, count)])
        };
        match class {
            Class::Finite => self.emit(Ty::Bool, "OpULessThan", &[magnitude, infinity]),
            Class::Infinite => self.emit(Ty::Bool, "OpIEqual", &[magnitude, infinity]),
            Class::Number => self.emit(Ty::Bool, "OpULessThanEqual", &[magnitude, infinity]),
            Class::NotANumber => self.emit(Ty::Bool, "OpUGreaterThan", &[magnitude, infinity]),
            Class::Normal => {
                let least = format.smallest_normal();
                within(self, least, format.infinity() - least)
            }
            Class::Subnormal => within(self, 1, format.smallest_normal() - 1),
        }
    }

    /// A function that hardware approximates, by OpenCL's name for it.
    pub(super) fn approximate(
        &mut self,
        source: &str,
        function: Function,
        (format, flush): (Format, bool),
        saturate: bool,
        args: [Operand; 2],
    ) -> Result<(Id, Ty)> {
        let ty = Ty::of_format(format).ok_or("a function of this format")?;
        let (name, two) = approximation(function);
        let mut values = vec![self.operand(args[0], ty, flush)?];
        if function.takes_integer() {
            values.push(self.read_as(args[1], Ty::U32));
        } else if two {
            values.push(self.operand(args[1], ty, flush)?);
        }
        // OpenCL's `native` functions are of f32. In f64 these are rounded once.
        let name = match function {
            Function::Reciprocal if ty == Ty::F64 => {
                values.insert(0, Id::constant(ty, 1f64.to_bits()));
                "OpFDiv"
            }
            Function::SquareRoot if ty == Ty::F64 => "sqrt",
            _ if ty != Ty::F32 && name.starts_with("native_") => {
                return Err(format!("{function:?} approximated in this format"));
            }
            _ => name,
        };
        let mut value = if name == "OpFDiv" {
            self.approximations.add(source, name);
            self.emit(ty, name, &values)
        } else {
            self.approximations.add(source, &format!("OpenCL.std {name}"));
            self.call(ty, name, &values)
        };
        if flush && !self.mode(ty).flush {
            value = self.flushed(value, ty);
        }
        if self.shape.mode(format).rounding() != Rounding::NearestEven {
            return Err("an approximated function where results are rounded toward zero".to_owned());
        }
        let clamp = if saturate { Clamp::Unit } else { Clamp::None };
        Ok((self.clamped(clamp, value, ty), ty))
    }
}

/// OpenCL's name of a function, and whether it takes two operands. What PTX approximates is what OpenCL may: its `native`
/// functions where they say so, others within the few ulps that OpenCL allows.
#[rustfmt::skip] // A function a line.
fn approximation(function: Function) -> (&'static str, bool) {
    match function {
        Function::Divide               => ("native_divide", true),
        Function::Reciprocal           => ("native_recip", false),
        Function::SquareRoot           => ("native_sqrt", false),
        Function::ReciprocalSquareRoot => ("rsqrt", false),
        Function::Exp2                 => ("exp2", false),
        Function::Log2                 => ("log2", false),
        Function::Exp                  => ("exp", false),
        Function::Log                  => ("log", false),
        Function::Sin                  => ("sin", false),
        Function::Cos                  => ("cos", false),
        Function::Tan                  => ("tan", false),
        Function::Asin                 => ("asin", false),
        Function::Acos                 => ("acos", false),
        Function::Atan                 => ("atan", false),
        Function::Atan2                => ("atan2", true),
        Function::Sinh                 => ("sinh", false),
        Function::Cosh                 => ("cosh", false),
        Function::Tanh                 => ("tanh", false),
        Function::Asinh                => ("asinh", false),
        Function::Acosh                => ("acosh", false),
        Function::Atanh                => ("atanh", false),
        Function::Pow                  => ("pow", true),
        Function::Erf                  => ("erf", false),
        Function::Erfc                 => ("erfc", false),
        Function::Exp10                => ("exp10", false),
        Function::Log10                => ("log10", false),
        Function::ExpM1                => ("expm1", false),
        Function::Log1P                => ("log1p", false),
        Function::Cbrt                 => ("cbrt", false),
        Function::Hypot                => ("hypot", true),
        Function::SinPi                => ("sinpi", false),
        Function::CosPi                => ("cospi", false),
        Function::TanPi                => ("tanpi", false),
        Function::AsinPi               => ("asinpi", false),
        Function::AcosPi               => ("acospi", false),
        Function::AtanPi               => ("atanpi", false),
        Function::Atan2Pi              => ("atan2pi", true),
        Function::Pown                 => ("pown", true),
        Function::Powr                 => ("powr", true),
        Function::Root                 => ("rootn", true),
    }
}
