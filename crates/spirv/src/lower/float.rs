//! Floating-point arithmetic under the module's modes, and what the modules leave open of it.

use std::rc::Rc;

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{Class, Comparand, Comparison, Function, IntOp, Op, Operand, Scalar, Signedness, Width};
use rspirv::spirv::{Decoration, ExecutionModel, FPRoundingMode, Op as Opcode};

use super::types::Part;
use super::value::Components;
use super::{Body, Mode, Result};
use crate::modes::FloatModes;

/// Where a width's modes stand.
const fn index_of(width: u32) -> usize {
    match width {
        16 => 0,
        32 => 1,
        _ => 2,
    }
}

impl Body<'_> {
    /// The arithmetic of a width, for a result that is rounded; notes what the module leaves open.
    pub(super) fn rounds(&mut self, format: Format) -> Mode {
        let width = format.width();
        let (mode, declared) = self.mode(width);
        if declared.rounding.is_none() {
            self.open(format!("{width}-bit rounding: to nearest even"));
        }
        let (facts, id) = (&self.lowering.facts, self.lowering.module.result(&self.at).unwrap_or(0));
        let flags = facts.fast_math(id).or(self.fast_math[index_of(width)]);
        let relaxed = facts.is_decorated(id, Decoration::RelaxedPrecision);
        match flags {
            Some(0) => {}
            Some(_) => self.open("FPFastMathMode: nothing made use of"),
            None if declared.preserve_special => {}
            None => self.open(format!("{width}-bit infinities, NaNs and signs of zeros: as IEEE 754 has them")),
        }
        if relaxed {
            self.open("RelaxedPrecision: computed in full precision");
        }
        self.flushes(format);
        mode
    }

    /// Whether subnormals of a width become zero; notes what the module leaves open.
    pub(super) fn flushes(&mut self, format: Format) -> bool {
        let width = format.width();
        let (mode, declared) = self.mode(width);
        if declared.denorm.is_none() {
            let what = if mode.flush { "flushed" } else { "kept" };
            self.open(format!("{width}-bit subnormals: {what}{}", mode.why));
        }
        mode.flush
    }

    /// The arithmetic of a width, and what is declared of it.
    const fn mode(&self, width: u32) -> (Mode, FloatModes) {
        self.modes[index_of(width)]
    }

    /// Notes that something is left open, and what was picked.
    pub(super) fn open(&mut self, what: impl Into<String>) {
        self.undetermined.insert(what.into());
    }

    /// A value as an operation takes it that itself does not flush.
    pub(super) fn flushed(&mut self, format: Format, a: Operand) -> Operand {
        if !self.flushes(format) {
            return a;
        }
        let times_one = Operation { flush: true, ..Operation::new(ArithOp::Mul, format, Rounding::NearestEven) };
        self.operate(times_one, &[a, Operand::Imm(format.one())])
    }

    /// Operands that have the result's type, a float's, component by component.
    pub(super) fn each_float(
        &mut self,
        ids: &[u32],
        mut f: impl FnMut(&mut Self, Format, &[Operand]) -> Operand,
    ) -> Result<()> {
        self.each_float_by(ids, &mut f)
    }

    /// The same, compiled once for all functions.
    fn each_float_by(
        &mut self,
        ids: &[u32],
        f: &mut dyn FnMut(&mut Self, Format, &[Operand]) -> Operand,
    ) -> Result<()> {
        let (part, count) = self.result()?;
        let Part::Float(format) = part else {
            return Err(self.malformed("the Result Type is no floating-point scalar or vector"));
        };
        let all = self.alike(ids, &|found| found == part, count)?;
        let mut parts = Vec::with_capacity(count);
        for at in 0..count {
            let args: Vec<Operand> = all.iter().map(|parts| parts[at]).collect();
            parts.push(f(self, format, &args));
        }
        self.define(parts)
    }

    /// The components of operands that all have as many, of a type that fits.
    pub(super) fn alike(
        &mut self,
        ids: &[u32],
        fits: &dyn Fn(Part) -> bool,
        count: usize,
    ) -> Result<Vec<Rc<[Operand]>>> {
        let mut all = Vec::with_capacity(ids.len());
        for &id in ids {
            let Components { part, parts } = self.components(id)?;
            if !fits(part) || parts.len() != count {
                let type_id = self.typed_value(id)?.type_id;
                let what = self.lowering.facts.describe(self.lowering.module, type_id);
                let name = self.lowering.module.id(id);
                return Err(self.malformed(format!("{name} is of type {what}, which does not fit the Result Type")));
            }
            all.push(parts);
        }
        Ok(all)
    }

    /// The format of a float operand and its components.
    pub(super) fn float_operand(&mut self, id: u32) -> Result<(Format, Rc<[Operand]>)> {
        match self.components(id)? {
            Components { part: Part::Float(format), parts } => Ok((format, parts)),
            _ => Err(self.malformed(format!("{} is no floating-point value", self.lowering.module.id(id)))),
        }
    }

    /// Whether a compiler may fuse a product with a sum that takes it.
    fn is_contractible_product(&self) -> bool {
        let id = self.lowering.module.result(&self.at).unwrap_or(0);
        !self.contraction_off && self.lowering.facts.may_be_contracted(id)
    }

    /// Whether a compiler may fuse a sum of a width with a product that it takes.
    pub(super) fn is_contractible(&self, width: u32) -> bool {
        let id = self.lowering.module.result(&self.at).unwrap_or(0);
        !self.contraction_off && self.lowering.facts.may_contract(id, self.fast_math[index_of(width)])
    }

    pub(super) fn float_arithmetic(&mut self, op: Opcode) -> Result<()> {
        let ids = self.operands().to_vec();
        let product = matches!(op, Opcode::FMul | Opcode::VectorTimesScalar);
        let family = |kind: ArithOp, negate_addend: bool| {
            move |body: &mut Self, format: Format, args: &[Operand]| {
                let operation = Operation { negate_addend, ..body.operation(kind, format) };
                let contractible =
                    if product { body.is_contractible_product() } else { body.is_contractible(format.width()) };
                body.operate_as(operation, contractible && kind != ArithOp::MulAdd, args)
            }
        };
        match op {
            Opcode::FAdd => self.each_float(&ids, family(ArithOp::Add, false)),
            Opcode::FSub => self.each_float(&ids, family(ArithOp::Add, true)),
            Opcode::FMul => self.each_float(&ids, family(ArithOp::Mul, false)),
            Opcode::FmaKHR => self.each_float(&ids, family(ArithOp::MulAdd, false)),
            Opcode::FDiv => self.each_float(&ids, |body, format, args| body.divide(format, args[0], args[1])),
            Opcode::FRem => self.each_float(&ids, |body, format, args| body.remainder(format, args[0], args[1])),
            Opcode::FMod => self.each_float(&ids, |body, format, args| body.modulus(format, args[0], args[1])),
            Opcode::FNegate => self.each_float(&ids, |body, format, args| body.negated(format, args[0])),
            Opcode::VectorTimesScalar => {
                let (_, scalar) = self.scalar(self.operand(1)?)?;
                let times = family(ArithOp::Mul, false);
                self.each_float(&ids[..1], |body, format, args| times(body, format, &[args[0], scalar]))
            }
            _ => {
                let (format, a) = self.float_operand(self.operand(0)?)?;
                let (other, b) = self.float_operand(self.operand(1)?)?;
                if format != other || a.len() != b.len() || self.result()? != (Part::Float(format), 1) {
                    return Err(self.malformed("the vectors are of different types"));
                }
                let pairs: Vec<[Operand; 2]> = a.iter().zip(&b[..]).map(|(&a, &b)| [a, b]).collect();
                let sum = self.sum_of_products(format, self.is_contractible(format.width()), &pairs);
                self.define(vec![sum])
            }
        }
    }

    /// The same where no compiler may fuse them.
    pub(super) fn dot(&mut self, format: Format, pairs: &[[Operand; 2]]) -> Operand {
        self.sum_of_products(format, false, pairs)
    }

    /// Products added one to another, in order, each rounded.
    pub(super) fn sum_of_products(&mut self, format: Format, contractible: bool, pairs: &[[Operand; 2]]) -> Operand {
        self.open(format!("{}: products and sums in order, each rounded", self.opcode()));
        let (mul, add) = (self.operation(ArithOp::Mul, format), self.operation(ArithOp::Add, format));
        let mut sum = None;
        for pair in pairs {
            let product = self.operate_as(mul, contractible, pair);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.operate_as(add, contractible, &[sum, product]),
            });
        }
        sum.unwrap_or(Operand::ZERO)
    }

    /// The sign flipped.
    pub(super) fn negated(&mut self, format: Format, a: Operand) -> Operand {
        self.sign_of(format, true, a)
    }

    /// The sign cleared.
    pub(super) fn magnitude(&mut self, format: Format, a: Operand) -> Operand {
        self.sign_of(format, false, a)
    }

    fn sign_of(&mut self, format: Format, negate: bool, a: Operand) -> Operand {
        let flush = self.flushes(format);
        let d = self.fresh(Width::holding(format.width()));
        self.emit(Op::Sign { d, negate, format, flush, arithmetic: true, a });
        d.into()
    }

    pub(super) fn divide(&mut self, format: Format, a: Operand, b: Operand) -> Operand {
        // OpenCL rounds quotients of f64 once (OpenCL C 3.0, 7.4).
        if format != Format::F64 || self.entry.model != ExecutionModel::Kernel as u32 {
            self.open(format!("{}: rounded once, where 2.5 ulps are allowed", self.opcode()));
        }
        let Mode { rounding, flush, .. } = self.rounds(format);
        let d = self.fresh(Width::holding(format.width()));
        self.emit(Op::Divide { d, format, rounding, flush, a, b });
        d.into()
    }

    pub(super) fn square_root(&mut self, format: Format, what: &str, a: Operand) -> Operand {
        self.open(format!("{what}: rounded once, where more is allowed"));
        self.root(format, a)
    }

    /// The same where its document rounds it once.
    pub(super) fn root(&mut self, format: Format, a: Operand) -> Operand {
        let Mode { rounding, flush, .. } = self.rounds(format);
        let d = self.fresh(Width::holding(format.width()));
        self.emit(Op::SquareRoot { d, format, rounding, flush, a });
        d.into()
    }

    /// The remainder with the sign of the dividend: exact.
    pub(super) fn remainder(&mut self, format: Format, a: Operand, b: Operand) -> Operand {
        let (rest, _) = self.exact_remainder(format, a, b);
        self.flushed(format, rest)
    }

    /// The same before it is flushed, and the divisor that it is of.
    fn exact_remainder(&mut self, format: Format, a: Operand, b: Operand) -> (Operand, Operand) {
        // OpenCL's `fmod` is exact (OpenCL C 3.0, 7.4).
        if self.at.opcode != Opcode::ExtInst as u16 {
            self.open(format!("{}: exact, where a rounded quotient is allowed", self.opcode()));
        }
        let (a, b) = (self.flushed(format, a), self.flushed(format, b));
        let d = self.fresh(Width::holding(format.width()));
        self.emit(Op::Remainder { d, format, a, b });
        (d.into(), b)
    }

    /// The remainder with the sign of the divisor. Nothing is flushed before the result.
    fn modulus(&mut self, format: Format, a: Operand, b: Operand) -> Operand {
        let (rest, b) = self.exact_remainder(format, a, b);
        let width = Width::holding(format.width());
        let of = Comparand::Float { format, flush: false };
        let below = |body: &mut Self, a| body.compare(Comparison::Lt, of, a, Operand::ZERO);
        let (rest_negative, b_negative) = (below(self, rest), below(self, b));
        let opposed = self.int(IntOp::Xor, Width::Pred, &[rest_negative, b_negative]);
        let nonzero = self.compare(Comparison::Ne, of, rest, Operand::ZERO);
        let moves = self.int(IntOp::And, Width::Pred, &[opposed, nonzero]);
        let sum = Operation { flush: false, ..self.operation(ArithOp::Add, format) };
        let moved = self.operate(sum, &[rest, b]);
        let value = self.select(width, moves, moved, rest);
        let value = self.flushed(format, value);
        // A remainder of nothing has the divisor's sign too.
        let d = self.fresh(width);
        self.emit(Op::CopySign { d, format, sign: b, magnitude: value });
        let is_zero = self.compare(Comparison::Eq, of, value, Operand::ZERO);
        self.select(width, is_zero, d.into(), value)
    }

    /// The smaller; of a NaN and a number the number, −0 below +0.
    pub(super) fn minimum(&mut self, format: Format, a: Operand, b: Operand) -> Operand {
        self.extremum(format, false, a, b)
    }

    /// The larger, likewise.
    pub(super) fn maximum(&mut self, format: Format, a: Operand, b: Operand) -> Operand {
        self.extremum(format, true, a, b)
    }

    fn extremum(&mut self, format: Format, max: bool, a: Operand, b: Operand) -> Operand {
        let flush = self.flushes(format);
        let d = self.fresh(Width::holding(format.width()));
        self.emit(Op::MinMax { d, max, format, flush, nan: false, xorsign_abs: false, a, b });
        d.into()
    }

    /// A value rounded to an integral one.
    pub(super) fn integral(&mut self, format: Format, rounding: Rounding, a: Operand) -> Operand {
        let (a, float) = (self.flushed(format, a), Scalar::Float(format));
        let d = self.fresh(float.width());
        self.emit(Op::Convert {
            d,
            to: float,
            from: float,
            rounding,
            integral: true,
            flush: false,
            saturate: false,
            a,
        });
        d.into()
    }

    pub(super) fn approximate(&mut self, function: Function, format: Format, name: &str, args: &[Operand]) -> Operand {
        let flush = self.flushes(format);
        let d = self.fresh(Width::holding(format.width()));
        let (a, b) = (args[0], args.get(1).copied().unwrap_or(Operand::ZERO));
        self.emit(Op::Approximate { d, function, format, flush, saturate: false, a, b, name: name.to_owned() });
        d.into()
    }

    /// Whether a value is of a class.
    pub(super) fn is_of(&mut self, class: Class, format: Format, a: Operand) -> Operand {
        let d = self.fresh(Width::Pred);
        self.emit(Op::Classify { d, class, format, a });
        d.into()
    }

    pub(super) fn classify(&mut self, op: Opcode) -> Result<()> {
        let (format, parts) = self.float_operand(self.operand(0)?)?;
        let width = Width::holding(format.width());
        let class = match op {
            Opcode::IsNan => Class::NotANumber,
            Opcode::IsInf => Class::Infinite,
            Opcode::IsFinite => Class::Finite,
            Opcode::IsNormal => Class::Normal,
            _ => {
                let of = Comparand::Signed(width);
                let parts: Vec<_> = parts.iter().map(|&a| self.compare(Comparison::Lt, of, a, Operand::ZERO)).collect();
                return self.define(parts);
            }
        };
        let parts: Vec<_> = parts.iter().map(|&a| self.is_of(class, format, a)).collect();
        self.define(parts)
    }

    #[rustfmt::skip] // A comparison a line.
    pub(super) fn float_comparison(&mut self, op: Opcode) -> Result<()> {
        let comparison = match op {
            Opcode::FOrdEqual              => Comparison::Eq,
            Opcode::FUnordEqual            => Comparison::Equ,
            Opcode::FOrdNotEqual           => Comparison::Ne,
            Opcode::LessOrGreater          => Comparison::Ne,
            Opcode::FUnordNotEqual         => Comparison::Neu,
            Opcode::FOrdLessThan           => Comparison::Lt,
            Opcode::FUnordLessThan         => Comparison::Ltu,
            Opcode::FOrdGreaterThan        => Comparison::Gt,
            Opcode::FUnordGreaterThan      => Comparison::Gtu,
            Opcode::FOrdLessThanEqual      => Comparison::Le,
            Opcode::FUnordLessThanEqual    => Comparison::Leu,
            Opcode::FOrdGreaterThanEqual   => Comparison::Ge,
            Opcode::FUnordGreaterThanEqual => Comparison::Geu,
            Opcode::Ordered                => Comparison::Num,
            _                              => Comparison::Nan,
        };
        let (format, a) = self.float_operand(self.operand(0)?)?;
        let (other, b) = self.float_operand(self.operand(1)?)?;
        if format != other || a.len() != b.len() {
            return Err(self.malformed("the operands are of different types"));
        }
        let of = Comparand::Float { format, flush: self.flushes(format) };
        let parts: Vec<_> = a.iter().zip(&b[..]).map(|(&a, &b)| self.compare(comparison, of, a, b)).collect();
        self.define(parts)
    }

    /// The direction of an FPRoundingMode decoration.
    pub(super) fn decorated_rounding(&self) -> Option<Rounding> {
        let id = self.lowering.module.result(&self.at)?;
        let mut decorations = self.lowering.facts.decorations_of(id);
        let attached = decorations.find(|at| at.value == Decoration::FPRoundingMode as u32)?;
        Some(match FPRoundingMode::from_u32(*attached.words.first()?)? {
            FPRoundingMode::RTE => Rounding::NearestEven,
            FPRoundingMode::RTZ => Rounding::TowardZero,
            FPRoundingMode::RTP => Rounding::Up,
            FPRoundingMode::RTN => Rounding::Down,
        })
    }

    /// Whether an integer is below zero.
    pub(super) fn is_negative(&mut self, part: Part, a: Operand) -> Operand {
        let a = self.extended(part, Signedness::Signed, a);
        self.compare(Comparison::Lt, Comparand::Signed(part.width()), a, Operand::ZERO)
    }
}

/// The function that hardware approximates, by its name in either set.
#[rustfmt::skip] // A function a line.
pub(super) fn approximation(name: &str) -> Option<Function> {
    Some(match name {
        "Sin" | "sin"           => Function::Sin,
        "Cos" | "cos"           => Function::Cos,
        "Tan" | "tan"           => Function::Tan,
        "Asin" | "asin"         => Function::Asin,
        "Acos" | "acos"         => Function::Acos,
        "Atan" | "atan"         => Function::Atan,
        "Atan2" | "atan2"       => Function::Atan2,
        "Sinh" | "sinh"         => Function::Sinh,
        "Cosh" | "cosh"         => Function::Cosh,
        "Tanh" | "tanh"         => Function::Tanh,
        "Asinh" | "asinh"       => Function::Asinh,
        "Acosh" | "acosh"       => Function::Acosh,
        "Atanh" | "atanh"       => Function::Atanh,
        "Pow" | "pow"           => Function::Pow,
        "powr"                  => Function::Powr,
        "Exp" | "exp"           => Function::Exp,
        "Exp2" | "exp2"         => Function::Exp2,
        "Log" | "log"           => Function::Log,
        "Log2" | "log2"         => Function::Log2,
        "InverseSqrt" | "rsqrt" => Function::ReciprocalSquareRoot,
        "exp10"                 => Function::Exp10,
        "log10"                 => Function::Log10,
        "expm1"                 => Function::ExpM1,
        "erf"                   => Function::Erf,
        "log1p"                 => Function::Log1P,
        "cbrt"                  => Function::Cbrt,
        "hypot"                 => Function::Hypot,
        "sinpi"                 => Function::SinPi,
        "cospi"                 => Function::CosPi,
        "erfc"                  => Function::Erfc,
        "tanpi"                 => Function::TanPi,
        "asinpi"                => Function::AsinPi,
        "acospi"                => Function::AcosPi,
        "atanpi"                => Function::AtanPi,
        "atan2pi"               => Function::Atan2Pi,
        _ => return None,
    })
}
