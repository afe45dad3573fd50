//! Functions that both sets have, and those that GLSL.std.450 derives from others: computed as the document writes
//! them, one rounding an operation.

use roundonce_arith::{ArithOp, Format, Rounding};
use roundonce_ir::{Class, Comparand, Comparison, Function, IntOp, Op, Operand, Signedness, Width};

use super::types::Part;
use super::value::Components;
use super::{Body, Result};

impl Body<'_> {
    /// min(max(x, low), high).
    pub(super) fn clamp(&mut self, format: Format, args: &[Operand]) -> Operand {
        let raised = self.maximum(format, args[0], args[1]);
        self.minimum(format, raised, args[2])
    }

    /// 1, 0 or −1; of a zero +0, of a NaN +0.
    pub(super) fn sign_number(&mut self, format: Format, a: Operand) -> Operand {
        let width = Width::holding(format.width());
        let of = Comparand::Float { format, flush: self.flushes(format) };
        let [above, below] =
            [Comparison::Gt, Comparison::Lt].map(|comparison| self.compare(comparison, of, a, Operand::ZERO));
        let negative = self.select(width, below, Operand::Imm(format.one() | format.sign_mask()), Operand::ZERO);
        self.select(width, above, Operand::Imm(format.one()), negative)
    }

    /// x × 2^n, rounded once.
    pub(super) fn scaled(&mut self, x: u32, n: u32) -> Result<()> {
        let exponents = self.components(n)?;
        let count = self.result()?.1;
        if !matches!(exponents.part, Part::Int { .. }) || exponents.parts.len() != count {
            return Err(self.malformed("the exponent is no integer, or has another number of components"));
        }
        let mut exponents_left = exponents.parts.iter();
        self.each_float(&[x], |body, format, args| {
            let mut exponent = exponents_left.next().copied().unwrap_or(Operand::ZERO);
            if exponents.part.bits() == 64 {
                // Beyond 2^16 nothing changes.
                let [least, most] = [-1i64 << 16, 1 << 16].map(|bound| Operand::Imm(bound as u64));
                exponent = body.int(IntOp::Max(Signedness::Signed), Width::B64, &[exponent, least]);
                exponent = body.int(IntOp::Min(Signedness::Signed), Width::B64, &[exponent, most]);
            }
            let exponent = body.resized(exponents.part, Signedness::Signed, 32, exponent);
            let mode = body.rounds(format);
            let d = body.fresh(Width::holding(format.width()));
            let (rounding, flush) = (mode.rounding, mode.flush);
            body.emit(Op::Scale { d, format, rounding, flush, a: args[0], exponent });
            d.into()
        })
    }

    /// Fraction and whole part, both with the sign of the operand: a struct, or the whole part through a pointer.
    pub(super) fn modf(&mut self, ids: &[u32]) -> Result<()> {
        let (format, parts) = self.float_operand(ids[0])?;
        let width = Width::holding(format.width());
        let (mut fractions, mut wholes) = (Vec::new(), Vec::new());
        for &a in &parts[..] {
            let whole = self.integral(format, Rounding::TowardZero, a);
            let rest = self.subtract(format, a, whole);
            // Infinity minus itself is none.
            let infinite = self.is_of(Class::Infinite, format, a);
            let rest = self.select(width, infinite, Operand::ZERO, rest);
            let d = self.fresh(width);
            self.emit(Op::CopySign { d, format, sign: a, magnitude: rest });
            fractions.push(d.into());
            wholes.push(whole);
        }
        self.both(ids, fractions, wholes)
    }

    /// A significand in [1/2, 1) and an exponent; of what has none the operand and 0.
    pub(super) fn frexp(&mut self, ids: &[u32]) -> Result<()> {
        let (format, parts) = self.float_operand(ids[0])?;
        let width = Width::holding(format.width());
        let (mut significands, mut exponents) = (Vec::new(), Vec::new());
        for &a in &parts[..] {
            let a = self.flushed(format, a);
            let (significand, exponent) = self.significand_and_exponent(format, a);
            let finite = self.is_of(Class::Finite, format, a);
            let nonzero = self.compare(Comparison::Neu, Comparand::Float { format, flush: false }, a, Operand::ZERO);
            let has = self.int(IntOp::And, Width::Pred, &[nonzero, finite]);
            significands.push(self.select(width, has, significand, a));
            exponents.push(self.select(Width::B32, has, exponent, Operand::ZERO));
        }
        self.both(ids, significands, exponents)
    }

    /// A significand in [1/2, 1) and an exponent of a finite number that is not zero; of others anything.
    pub(super) fn significand_and_exponent(&mut self, format: Format, a: Operand) -> (Operand, Operand) {
        let width = Width::holding(format.width());
        let subnormal = self.is_of(Class::Subnormal, format, a);
        // A subnormal is made normal first.
        let up = self.fresh(width);
        let exponent = Operand::Imm(u64::from(format.precision()));
        let (rounding, flush) = (Rounding::NearestEven, false);
        self.emit(Op::Scale { d: up, format, rounding, flush, a, exponent });
        let normal = self.select(width, subnormal, up.into(), a);
        let shift = Operand::Imm(format.frac_bits().into());
        let field = self.int(IntOp::Shr(Signedness::Unsigned), width, &[normal, shift]);
        let field = self.int(IntOp::And, width, &[field, Operand::Imm(format.exp_max())]);
        let field = self.resized(Part::Int { bits: width.bits(), signed: false }, Signedness::Unsigned, 32, field);
        let bias = |extra: u32| Operand::Imm(u64::from(((1 - format.bias()) as u32).wrapping_sub(extra)));
        let offset = self.select(Width::B32, subnormal, bias(format.precision()), bias(0));
        let exponent = self.int(IntOp::Add, Width::B32, &[field, offset]);
        let kept = Operand::Imm(format.sign_mask() | format.frac_mask());
        let significand = self.int(IntOp::And, width, &[normal, kept]);
        let half = Operand::Imm(format.one() - format.smallest_normal());
        (self.int(IntOp::Or, width, &[significand, half]), exponent)
    }

    /// Two results: a struct of both, or the second stored through a pointer.
    pub(super) fn both(&mut self, ids: &[u32], mut first: Vec<Operand>, mut second: Vec<Operand>) -> Result<()> {
        if let Some(&pointer) = ids.get(1) {
            let (pointer, to) = self.pointer(pointer)?;
            self.store_to(&pointer, to, &second)?;
        } else {
            first.append(&mut second);
        }
        self.define(first)
    }

    /// Halves away from zero.
    pub(super) fn rounded_away(&mut self, format: Format, a: Operand) -> Operand {
        let width = Width::holding(format.width());
        let whole = self.integral(format, Rounding::TowardZero, a);
        let rest = self.subtract(format, a, whole);
        let rest = self.magnitude(format, rest);
        let half = Operand::Imm(format.one() - format.smallest_normal());
        let away = self.compare(Comparison::Ge, Comparand::Float { format, flush: false }, rest, half);
        let one = self.fresh(width);
        self.emit(Op::CopySign { d: one, format, sign: a, magnitude: Operand::Imm(format.one()) });
        let moved = self.float(ArithOp::Add, format, &[whole, one.into()]);
        self.select(width, away, moved, whole)
    }

    /// A number rounded into a format, for a constant of a formula.
    fn constant(format: Format, numerator: f64) -> Operand {
        let bits = roundonce_isa::convert(Format::F64, format, Rounding::NearestEven, numerator.to_bits()).0;
        Operand::Imm(bits)
    }

    /// What the document derives from other operations.
    pub(super) fn derived(&mut self, name: &str, spelled: &str, ids: &[u32]) -> Result<()> {
        const KNOWN: [&str; 11] = [
            "FMix",
            "Step",
            "SmoothStep",
            "Degrees",
            "Radians",
            "Length",
            "Distance",
            "Normalize",
            "Cross",
            "FaceForward",
            "Reflect",
        ];
        if !KNOWN.contains(&name) {
            return Err(self.unsupported(format!("OpExtInst {spelled}")));
        }
        if name != "Step" {
            self.open(format!("{spelled}: as the document derives it, each operation rounded"));
        }
        match name {
            "FMix" => self.each_float(ids, |body, format, args| body.mix(format, args)),
            "Step" => self.each_float(ids, |body, format, args| body.step(format, args[0], args[1])),
            "SmoothStep" => self.each_float(ids, |body, format, args| {
                let [low, high, x] = *args else { return Operand::ZERO };
                let (above, range) = (body.subtract(format, x, low), body.subtract(format, high, low));
                let t = body.divide(format, above, range);
                let t = body.clamp(format, &[t, Operand::ZERO, Operand::Imm(format.one())]);
                let square = body.float(ArithOp::Mul, format, &[t, t]);
                let twice = body.float(ArithOp::Mul, format, &[Self::constant(format, 2.0), t]);
                let rest = body.subtract(format, Self::constant(format, 3.0), twice);
                body.float(ArithOp::Mul, format, &[square, rest])
            }),
            "Degrees" => self.each_float(ids, |body, format, args| {
                let factor = Self::constant(format, 180.0 / core::f64::consts::PI);
                body.float(ArithOp::Mul, format, &[args[0], factor])
            }),
            "Radians" => self.each_float(ids, |body, format, args| {
                let factor = Self::constant(format, core::f64::consts::PI / 180.0);
                body.float(ArithOp::Mul, format, &[args[0], factor])
            }),
            _ => self.vectors(name, spelled, ids),
        }
    }

    /// x × (1 − a) + y × a.
    pub(super) fn mix(&mut self, format: Format, args: &[Operand]) -> Operand {
        let [x, y, a] = *args else { return Operand::ZERO };
        let rest = self.subtract(format, Operand::Imm(format.one()), a);
        let (left, right) = (self.float(ArithOp::Mul, format, &[x, rest]), self.float(ArithOp::Mul, format, &[y, a]));
        self.float(ArithOp::Add, format, &[left, right])
    }

    /// 0 below the edge, otherwise 1.
    pub(super) fn step(&mut self, format: Format, edge: Operand, x: Operand) -> Operand {
        let of = Comparand::Float { format, flush: self.flushes(format) };
        let below = self.compare(Comparison::Lt, of, x, edge);
        self.select(Width::holding(format.width()), below, Operand::ZERO, Operand::Imm(format.one()))
    }

    /// What remains of a vector I behind a surface of normal N, for the ratio of the indices.
    pub(super) fn refracted(&mut self, spelled: &str, ids: &[u32]) -> Result<()> {
        self.open(format!("{spelled}: as the document derives it, each operation rounded"));
        let ((format, incident), (other, normal)) = (self.float_operand(ids[0])?, self.float_operand(ids[1])?);
        let (part, eta) = self.scalar(ids[2])?;
        let Part::Float(narrow) = part else { return Err(self.malformed("the ratio is no float")) };
        if format != other || incident.len() != normal.len() {
            return Err(self.malformed("the operands are of different types"));
        }
        let eta = self.float_to_float(narrow, format, eta);
        let mul = |body: &mut Self, a, b| body.float(ArithOp::Mul, format, &[a, b]);
        let one = Operand::Imm(format.one());
        let pairs: Vec<_> = normal.iter().zip(&incident[..]).map(|(&n, &i)| [n, i]).collect();
        let along = self.dot(format, &pairs);
        // k = 1 − η² × (1 − (N·I)²); below zero nothing is refracted.
        let square = mul(self, along, along);
        let rest = self.subtract(format, one, square);
        let ratio = mul(self, eta, eta);
        let product = mul(self, ratio, rest);
        let k = self.subtract(format, one, product);
        let of = Comparand::Float { format, flush: self.flushes(format) };
        let below = self.compare(Comparison::Lt, of, k, Operand::ZERO);
        let root = self.square_root(format, spelled, k);
        let bent = mul(self, eta, along);
        let factor = self.float(ArithOp::Add, format, &[bent, root]);
        let one = |[n, i]: [Operand; 2]| {
            let (kept, turned) = (mul(self, eta, i), mul(self, factor, n));
            let value = self.subtract(format, kept, turned);
            self.select(Width::holding(format.width()), below, Operand::ZERO, value)
        };
        let parts: Vec<_> = pairs.into_iter().map(one).collect();
        self.define(parts)
    }

    fn vectors(&mut self, name: &str, spelled: &str, ids: &[u32]) -> Result<()> {
        let mut all = Vec::new();
        for &id in ids {
            let Components { part, parts } = self.components(id)?;
            let Part::Float(format) = part else { return Err(self.malformed("an operand is no float")) };
            all.push((format, parts.to_vec()));
        }
        let (format, a) = all[0].clone();
        let others = &all[1..];
        if others.iter().any(|(other, parts)| *other != format || parts.len() != a.len()) {
            return Err(self.malformed("the operands are of different types"));
        }
        let b = others.first().map_or_else(Vec::new, |(_, parts)| parts.clone());
        let c = others.get(1).map_or_else(Vec::new, |(_, parts)| parts.clone());
        let pairs = |x: &[Operand], y: &[Operand]| x.iter().zip(y).map(|(&x, &y)| [x, y]).collect::<Vec<_>>();
        let product = |body: &mut Self, x, y| body.float(ArithOp::Mul, format, &[x, y]);
        let parts = match name {
            "Length" | "Distance" => {
                let difference: Vec<Operand> = match name {
                    "Length" => a,
                    _ => pairs(&a, &b).into_iter().map(|[x, y]| self.subtract(format, x, y)).collect(),
                };
                let square = self.dot(format, &pairs(&difference, &difference));
                vec![self.square_root(format, spelled, square)]
            }
            "Normalize" => {
                let square = self.dot(format, &pairs(&a, &a));
                let inverse = self.approximate(Function::ReciprocalSquareRoot, format, spelled, &[square]);
                a.iter().map(|&x| product(self, x, inverse)).collect()
            }
            "Cross" => {
                // OpenCL.std takes vectors of four too: the last component is zero.
                let ([x0, x1, x2, rest @ ..], [y0, y1, y2, ..]) = (&a[..], &b[..]) else {
                    return Err(self.malformed("the operands are no vectors of three"));
                };
                let last = vec![Operand::ZERO; rest.len()];
                let crossed = [[x1, y2, y1, x2], [x2, y0, y2, x0], [x0, y1, y0, x1]];
                let one = |[p, q, r, s]: [&Operand; 4]| {
                    let (left, right) = (product(self, *p, *q), product(self, *r, *s));
                    self.subtract(format, left, right)
                };
                crossed.map(one).into_iter().chain(last).collect()
            }
            "FaceForward" => {
                let facing = self.dot(format, &pairs(&c, &b));
                let below =
                    self.compare(Comparison::Lt, Comparand::Float { format, flush: false }, facing, Operand::ZERO);
                let width = Width::holding(format.width());
                let one = |&x: &Operand| {
                    let turned = self.negated(format, x);
                    self.select(width, below, x, turned)
                };
                a.iter().map(one).collect()
            }
            // I − 2 × dot(N, I) × N
            _ => {
                let along = self.dot(format, &pairs(&b, &a));
                let twice = product(self, Self::constant(format, 2.0), along);
                let one = |[x, n]: [Operand; 2]| {
                    let part = product(self, twice, n);
                    self.subtract(format, x, part)
                };
                pairs(&a, &b).into_iter().map(one).collect()
            }
        };
        self.define(parts)
    }
}
