//! Floating-point operations beside the multiply-add family.

use roundonce_arith::{Format, Rounding};
use roundonce_ir::{Class, Comparand, Comparison, Function, Operand, Reg, Width};

use super::body::{Body, Written, none};
use super::float::{rounding_word, type_word};
use super::needs::since;
use super::text::{Arg, bits_type, signed_type, unsigned_type};

/// What tells minima and maxima apart.
#[derive(Clone, Copy)]
pub(super) struct Extremum {
    pub(super) max: bool,
    pub(super) format: Format,
    pub(super) flush: bool,
    pub(super) nan: bool,
    pub(super) xorsign_abs: bool,
}

const fn ftz(flush: bool) -> &'static str {
    if flush { ".ftz" } else { "" }
}

const fn is_half(format: Format) -> bool {
    format.width() == 16
}

/// What a format is called in a refusal.
fn name_of(format: Format) -> &'static str {
    format.name().unwrap_or("another format")
}

impl Body<'_> {
    pub(super) fn sign(
        &mut self,
        d: Reg,
        negate: bool,
        format: Format,
        flush: bool,
        arithmetic: bool,
        a: Operand,
    ) -> Written {
        let name = if negate { "neg" } else { "abs" };
        let a = self.float_operand(a, format, 1);
        // Before these targets it is a logical operation, except where it flushes.
        let is_early = format == Format::F32 || format == Format::F64 && negate;
        let sum = if is_early { since(4, 0, 50) } else { since(6, 5, 70) };
        match (format, flush, arithmetic) {
            (Format::F32 | Format::F64, false, true) if !self.has(&sum) => {
                self.signed_product(d, negate, format, a);
            }
            (Format::F16 | Format::F32, _, true) | (Format::BF16 | Format::F64, false, true) => {
                let spelling = [name, ftz(flush), type_word(format).unwrap_or_default()];
                let gate = match format {
                    Format::BF16 => since(7, 0, 80),
                    Format::F16 if flush => since(6, 0, 53),
                    Format::F32 if flush => since(2, 0, 20),
                    _ => sum,
                };
                self.using(gate, &spelling)?;
                self.ins(&spelling, &[d.into(), a]);
            }
            (Format::F16 | Format::BF16 | Format::F32 | Format::F64, false, false) => {
                let width = Width::holding(format.width());
                let (word, mask) = if negate { ("xor", format.sign_mask()) } else { ("and", format.magnitude_mask()) };
                self.ins(&[word, bits_type(width)], &[d.into(), a, Arg::Int(mask, width)]);
            }
            _ => return none(format!("`{name}{}` of {}", ftz(flush), name_of(format))),
        }
        Ok(())
    }

    /// The sign cleared or flipped by a product: of a NaN it makes the profile's.
    fn signed_product(&mut self, d: Reg, negate: bool, format: Format, a: Arg<'static>) {
        let width = Width::holding(format.width());
        let ty = type_word(format).unwrap_or_default();
        let constant = |bits: u64| if format == Format::F64 { Arg::F64(bits) } else { Arg::F32(bits) };
        if negate {
            return self.ins(&["mul.rn", ty], &[d.into(), a, constant(format.one() | format.sign_mask())]);
        }
        let product = self.computed(width, &["mul.rn", ty], &[a, constant(format.one())]);
        let is_number = self.computed(Width::Pred, &["setp.num", ty], &[a, a]);
        let magnitude =
            self.computed(width, &["and", bits_type(width)], &[product, Arg::Int(format.magnitude_mask(), width)]);
        self.ins(&["selp", bits_type(width)], &[d.into(), magnitude, product, is_number]);
    }

    /// A quotient. That of 16-bit numbers is rounded to f32 first, which has more than twice as many bits: no value is
    /// rounded otherwise for it (Figueroa, "When is double rounding innocuous?").
    pub(super) fn divide(
        &mut self,
        d: Reg,
        format: Format,
        rounding: Rounding,
        flush: bool,
        [a, b]: [Operand; 2],
    ) -> Written {
        let rnd = rounding_word(rounding);
        if is_half(format) && !flush {
            let (a, b) = (self.register(a, Width::B16), self.register(b, Width::B16));
            let (a, b) = (self.widen(a, format), self.widen(b, format));
            let quotient = self.computed(Width::B32, &["div", rnd, ".f32"], &[a, b]);
            return self.narrow_single(d, quotient, format, rounding);
        }
        if !matches!((format, flush), (Format::F32, _) | (Format::F64, false)) {
            return none(format!("a quotient of {}{}", name_of(format), if flush { " that flushes" } else { "" }));
        }
        let ty = type_word(format).unwrap_or_default();
        let is_one = a == Operand::Imm(format.one());
        let (a, b) = (self.float_operand(a, format, 1), self.float_operand(b, format, 1));
        if is_one {
            self.ins(&["rcp", rnd, ftz(flush), ty], &[d.into(), b]);
        } else {
            self.ins(&["div", rnd, ftz(flush), ty], &[d.into(), a, b]);
        }
        Ok(())
    }

    pub(super) fn square_root(
        &mut self,
        d: Reg,
        format: Format,
        rounding: Rounding,
        flush: bool,
        a: Operand,
    ) -> Written {
        let rnd = rounding_word(rounding);
        if is_half(format) && !flush {
            let a = self.register(a, Width::B16);
            let a = self.widen(a, format);
            let root = self.computed(Width::B32, &["sqrt", rnd, ".f32"], &[a]);
            return self.narrow_single(d, root, format, rounding);
        }
        if !matches!((format, flush), (Format::F32, _) | (Format::F64, false)) {
            return none(format!("a square root of {}{}", name_of(format), if flush { " that flushes" } else { "" }));
        }
        let a = self.float_operand(a, format, 1);
        self.ins(&["sqrt", rnd, ftz(flush), type_word(format).unwrap_or_default()], &[d.into(), a]);
        Ok(())
    }

    /// f32 to f16 or bf16.
    fn narrow_single(&mut self, d: Reg, a: Arg<'static>, format: Format, rounding: Rounding) -> Written {
        let ty = type_word(format).unwrap_or_default();
        let words = ["cvt", rounding_word(rounding), ty, ".f32"];
        self.using(if format == Format::BF16 { since(7, 0, 80) } else { since(4, 2, 53) }, &words)?;
        self.ins(&words, &[d.into(), a]);
        Ok(())
    }

    /// C's `fmod`: the divisor times the largest power of two that leaves a rest is taken away until the rest is smaller
    /// than the divisor. In f64, which holds every step exactly.
    pub(super) fn remainder(&mut self, d: Reg, format: Format, a: Operand, b: Operand) -> Written {
        if format == Format::F64 || type_word(format).is_none() {
            return none(format!("the remainder of {}", name_of(format)));
        }
        let label = self.new_label();
        let guard = self.guard.take();
        if let Some(mut guard) = guard {
            guard.expected = !guard.expected;
            self.text.push_str("    ");
            self.push_guard(guard);
            self.line(format_args!("bra $Lend{label};"));
        }
        let single = |body: &mut Self, operand: Operand| match format {
            Format::F32 => body.register(operand, Width::B32),
            _ => {
                let operand = body.register(operand, Width::B16);
                body.widen(operand, format)
            }
        };
        let (a, b) = (single(self, a), single(self, b));
        let magnitude = |body: &mut Self, value: Arg<'static>| {
            let magnitude = body.computed(Width::B32, &["abs.f32"], &[value]);
            body.computed(Width::B64, &["cvt.f64.f32"], &[magnitude])
        };
        let (rest, divisor) = (magnitude(self, a), magnitude(self, b));
        let (high, low) = (self.temporary(Width::B32), self.temporary(Width::B32));
        let (step, part) = (self.temporary(Width::B64), self.temporary(Width::B64));
        let (goes_on, too_large) = (self.temporary(Width::Pred), self.temporary(Width::Pred));
        // Where it does not exist: infinity / b, a / 0, a NaN.
        let infinity = Arg::F64(Format::F64.infinity());
        let exists = self.computed(Width::Pred, &["setp.lt.f64"], &[rest, infinity]);
        let exists = self.computed(Width::Pred, &["setp.gt.and.f64"], &[divisor, Arg::F64(0), exists]);
        self.line(format_args!("$Lloop{label}:"));
        self.ins(&["setp.ge.and.f64"], &[goes_on, rest, divisor, exists]);
        self.text.push_str("    @!");
        self.push_arg(&goes_on);
        self.line(format_args!(" bra $Ldone{label};"));
        // The divisor with the rest's exponent, or half of it.
        self.ins(&["shr.u64"], &[step, rest, Arg::Int(52, Width::B32)]);
        self.ins(&["cvt.u32.u64"], &[high, step]);
        self.ins(&["and.b64"], &[step, divisor, Arg::Int((1 << 52) - 1, Width::B64)]);
        self.ins(&["cvt.u64.u32"], &[part, high]);
        self.ins(&["shl.b64"], &[part, part, Arg::Int(52, Width::B32)]);
        self.ins(&["or.b64"], &[step, step, part]);
        self.ins(&["setp.gt.f64"], &[too_large, step, rest]);
        self.ins(&["selp.b32"], &[low, Arg::Int(1, Width::B32), Arg::Int(0, Width::B32), too_large]);
        self.ins(&["cvt.u64.u32"], &[part, low]);
        self.ins(&["shl.b64"], &[part, part, Arg::Int(52, Width::B32)]);
        self.ins(&["sub.s64"], &[step, step, part]);
        self.ins(&["sub.rn.f64"], &[rest, rest, step]);
        self.line(format_args!("    bra $Lloop{label};"));
        self.line(format_args!("$Ldone{label}:"));
        let value = self.computed(Width::B32, &["cvt.rn.f32.f64"], &[rest]);
        let value = self.computed(Width::B32, &["copysign.f32"], &[a, value]);
        let nan = Arg::Int(0x7fff_ffff, Width::B32);
        let value = self.computed(Width::B32, &["selp.b32"], &[value, nan, exists]);
        // By the divisor infinity the loop ends at once; a NaN divisor compares with nothing.
        let written = match format {
            Format::F32 => {
                self.ins(&["mov.b32"], &[d.into(), value]);
                Ok(())
            }
            _ => self.narrow_single(d, value, format, Rounding::NearestEven),
        };
        if guard.is_some() {
            self.line(format_args!("$Lend{label}:"));
        }
        self.guard = guard;
        written
    }

    /// a × 2^exponent: of the narrower formats the product is exact in f64, and rounded once; of f64 powers of two are
    /// multiplied one after the other, so that no digit is lost before the last.
    pub(super) fn scale(
        &mut self,
        d: Reg,
        format: Format,
        rounding: Rounding,
        flush: bool,
        [a, exponent]: [Operand; 2],
    ) -> Written {
        let rnd = rounding_word(rounding);
        let exponent = self.int(exponent, Width::B32);
        if format == Format::F64 && !flush {
            let value = self.float_operand(a, format, 1);
            return self.scale_double(d, rnd, value, exponent);
        }
        let value = match format {
            Format::F32 => {
                let a = self.float_operand(a, format, 1);
                self.computed(Width::B64, &["cvt", ftz(flush), ".f64.f32"], &[a])
            }
            Format::F16 | Format::BF16 if !flush => {
                let a = self.register(a, Width::B16);
                let a = self.widen(a, format);
                self.computed(Width::B64, &["cvt.f64.f32"], &[a])
            }
            _ => return none(format!("a number of {} times a power of two", name_of(format))),
        };
        // Beyond these every number is an infinity or next to zero.
        let low = self.computed(Width::B32, &["max.s32"], &[exponent, Arg::Text("-300")]);
        let both = self.computed(Width::B32, &["min.s32"], &[low, Arg::Text("300")]);
        let power = self.power(both);
        let product = self.computed(Width::B64, &["mul.rn.f64"], &[value, power]);
        match format {
            Format::F32 => {
                let narrow = self.computed(Width::B32, &["cvt", rnd, ftz(flush), ".f32.f64"], &[product]);
                self.canonical(d.into(), narrow, format)
            }
            Format::F16 => {
                let narrow = self.computed(Width::B16, &["cvt", rnd, ".f16.f64"], &[product]);
                self.canonical(d.into(), narrow, format)
            }
            _ => none("a number of bf16 times a power of two"),
        }
    }

    /// 2^exponent in f64, of an exponent of a normal number.
    fn power(&mut self, exponent: Arg<'static>) -> Arg<'static> {
        let biased = self.computed(Width::B32, &["add.s32"], &[exponent, Arg::Int(1023, Width::B32)]);
        let wide = self.computed(Width::B64, &["cvt.u64.u32"], &[biased]);
        self.computed(Width::B64, &["shl.b64"], &[wide, Arg::Int(52, Width::B32)])
    }

    /// Below the normal numbers the first factors leave 54 digits or more to the last: what they round is lost there in
    /// the same direction.
    fn scale_double(&mut self, d: Reg, rnd: &str, value: Arg<'static>, exponent: Arg<'static>) -> Written {
        let (mut value, mut left) = (value, exponent);
        for _ in 0..2 {
            let at_most = self.computed(Width::B32, &["min.s32"], &[left, Arg::Int(1023, Width::B32)]);
            let is_low = self.computed(Width::Pred, &["setp.lt.s32"], &[left, Arg::Text("-1022")]);
            let part = self.computed(Width::B32, &["selp.b32"], &[Arg::Text("-969"), at_most, is_low]);
            left = self.computed(Width::B32, &["sub.sat.s32"], &[left, part]);
            let power = self.power(part);
            value = self.computed(Width::B64, &["mul", rnd, ".f64"], &[value, power]);
        }
        let low = self.computed(Width::B32, &["max.s32"], &[left, Arg::Text("-1022")]);
        let last = self.computed(Width::B32, &["min.s32"], &[low, Arg::Int(1023, Width::B32)]);
        let power = self.power(last);
        self.ins(&["mul", rnd, ".f64"], &[d.into(), value, power]);
        Ok(())
    }

    /// A function that hardware approximates; the source's own instruction where it is one of PTX.
    pub(super) fn approximate(
        &mut self,
        d: Reg,
        function: Function,
        format: Format,
        [flush, saturate]: [bool; 2],
        [a, b]: [Operand; 2],
        name: &str,
    ) -> Written {
        let word = match function {
            // What is not this instruction is not as inexact for large divisors.
            Function::Divide if name.starts_with("div.approx") => Some("div.approx"),
            Function::Divide => Some("div.full"),
            Function::Reciprocal => Some("rcp.approx"),
            Function::ReciprocalSquareRoot => Some("rsqrt.approx"),
            Function::SquareRoot => Some("sqrt.approx"),
            Function::Exp2 => Some("ex2.approx"),
            Function::Log2 => Some("lg2.approx"),
            Function::Sin => Some("sin.approx"),
            Function::Cos => Some("cos.approx"),
            Function::Tanh => Some("tanh.approx"),
            _ => None,
        };
        let (flushes, gate) = match (function, format, flush) {
            (Function::Tanh, Format::F32, _) => (false, since(7, 0, 75)),
            (_, Format::F32, _) => (flush, since(2, 0, 20)),
            (Function::Reciprocal, Format::F64, true) => (true, since(2, 1, 20)),
            (Function::ReciprocalSquareRoot, Format::F64, _) => (flush, since(4, 0, 20)),
            (Function::Exp2, Format::F16, false) => (false, since(7, 0, 75)),
            (Function::Exp2, Format::BF16, true) => (true, since(7, 8, 90)),
            (Function::Tanh, Format::F16, false) => (false, since(7, 0, 75)),
            (Function::Tanh, Format::BF16, false) => (false, since(7, 8, 90)),
            _ => return none(format!("`{name}`")),
        };
        let (Some(word), Some(ty)) = (word, type_word(format)) else { return none(format!("`{name}`")) };
        if saturate && format != Format::F32 {
            return none(format!("`{name}`"));
        }
        let words = [word, ftz(flushes), ty];
        self.using(gate, &words)?;
        self.approximations.add(name, &words.concat());
        let (a, b) = (self.float_operand(a, format, 1), self.float_operand(b, format, 1));
        // `tanh` keeps subnormals.
        let a = if function == Function::Tanh && flush && format == Format::F32 {
            self.computed(Width::B32, &["add.rn.ftz.f32"], &[a, Arg::F32(format.sign_mask())])
        } else {
            a
        };
        let operands = if function == Function::Divide { &[a, b][..] } else { &[a] };
        if saturate {
            let result = self.computed(Width::B32, &words, operands);
            self.ins(&["cvt.sat.f32.f32"], &[d.into(), result]);
        } else {
            let mut all = [d.into(), a, b];
            all[1..=operands.len()].copy_from_slice(operands);
            self.ins(&words, &all[..=operands.len()]);
        }
        Ok(())
    }

    pub(super) fn min_max(&mut self, d: Reg, how: Extremum, [a, b]: [Operand; 2]) -> Written {
        let operands = [self.float_operand(a, how.format, 1), self.float_operand(b, how.format, 1)];
        self.extremum(d.into(), how, operands)
    }

    pub(super) fn extremum(&mut self, d: Arg<'static>, how: Extremum, [a, b]: [Arg<'static>; 2]) -> Written {
        let Extremum { max, format, flush, nan, xorsign_abs } = how;
        let name = if max { "max" } else { "min" };
        let words = [
            name,
            ftz(flush),
            if nan { ".NaN" } else { "" },
            if xorsign_abs { ".xorsign.abs" } else { "" },
            type_word(format).unwrap_or_default(),
        ];
        let known = match format {
            Format::F32 => true,
            Format::F64 => !flush && !nan && !xorsign_abs,
            Format::F16 => true,
            Format::BF16 => !flush,
            _ => false,
        };
        if !known {
            return none(format!("`{}`", words.concat()));
        }
        if xorsign_abs {
            self.using(since(7, 2, 86), &words)?;
        } else if nan || is_half(format) {
            self.using(since(7, 0, 80), &words)?;
        }
        self.ins(&words, &[d, a, b]);
        Ok(())
    }

    pub(super) fn copy_sign(&mut self, d: Reg, format: Format, sign: Operand, magnitude: Operand) -> Written {
        if let (false, Some(ty)) = (is_half(format), type_word(format)) {
            let (sign, magnitude) = (self.float_operand(sign, format, 1), self.float_operand(magnitude, format, 1));
            self.ins(&["copysign", ty], &[d.into(), sign, magnitude]);
            return Ok(());
        }
        if !is_half(format) {
            return none(format!("the sign of another number of {}", name_of(format)));
        }
        let width = Width::B16;
        let (sign, magnitude) = (self.int(sign, width), self.int(magnitude, width));
        let sign = self.computed(width, &["and.b16"], &[sign, Arg::Int(format.sign_mask(), width)]);
        let magnitude = self.computed(width, &["and.b16"], &[magnitude, Arg::Int(format.magnitude_mask(), width)]);
        self.ins(&["or.b16"], &[d.into(), sign, magnitude]);
        Ok(())
    }

    pub(super) fn compare(&mut self, d: Reg, comparison: Comparison, of: Comparand, a: Operand, b: Operand) -> Written {
        let word = comparison_word(comparison);
        let Comparand::Float { format, flush } = of else {
            let (width, ty) = match of {
                Comparand::Signed(width) => (width, signed_type(width)),
                Comparand::Unsigned(width) => (width, unsigned_type(width)),
                Comparand::Float { .. } => return Ok(()),
            };
            return self.compare_integers(d, comparison, (width, ty), a, b);
        };
        let (ty, a, b) = match format {
            Format::BF16 => {
                let (a, b) = (self.register(a, Width::B16), self.register(b, Width::B16));
                (".f32", self.widen(a, format), self.widen(b, format))
            }
            _ => {
                let Some(ty) = type_word(format).filter(|_| format != Format::F64 || !flush) else {
                    return none(format!("a comparison of {}", name_of(format)));
                };
                (ty, self.float_operand(a, format, 1), self.float_operand(b, format, 1))
            }
        };
        self.ins(&["setp", word, ftz(flush), ty], &[d.into(), a, b]);
        Ok(())
    }

    /// Integers are ordered: an unordered comparison is the ordered one.
    fn compare_integers(
        &mut self,
        d: Reg,
        comparison: Comparison,
        (width, ty): (Width, &str),
        a: Operand,
        b: Operand,
    ) -> Written {
        if width == Width::Pred {
            return none("a comparison of predicates");
        }
        let always = |value| Arg::Int(value, Width::Pred);
        let word = match comparison {
            Comparison::Num => {
                self.ins(&["mov.pred"], &[d.into(), always(1)]);
                return Ok(());
            }
            Comparison::Nan => {
                self.ins(&["mov.pred"], &[d.into(), always(0)]);
                return Ok(());
            }
            Comparison::Eq | Comparison::Equ => ".eq",
            Comparison::Ne | Comparison::Neu => ".ne",
            Comparison::Lt | Comparison::Ltu => ".lt",
            Comparison::Le | Comparison::Leu => ".le",
            Comparison::Gt | Comparison::Gtu => ".gt",
            Comparison::Ge | Comparison::Geu => ".ge",
        };
        let (a, b) = (self.int(a, width), self.int(b, width));
        self.ins(&["setp", word, ty], &[d.into(), a, b]);
        Ok(())
    }

    /// By the bits where `testp` has no such class: PTX counts zeros as normal, and knows f32 and f64 alone.
    pub(super) fn classify(&mut self, d: Reg, class: Class, format: Format, a: Operand) -> Written {
        let word = match class {
            Class::Finite => Some(".finite"),
            Class::Infinite => Some(".infinite"),
            Class::Number => Some(".number"),
            Class::NotANumber => Some(".notanumber"),
            Class::Subnormal => Some(".subnormal"),
            Class::Normal => None,
        };
        if let (Some(word), Format::F32 | Format::F64) = (word, format) {
            let a = self.float_operand(a, format, 1);
            self.ins(&["testp", word, type_word(format).unwrap_or_default()], &[d.into(), a]);
            return Ok(());
        }
        let width = Width::holding(format.width());
        let (bits, unsigned) = (bits_type(width), unsigned_type(width));
        let (infinity, least) = (format.infinity(), format.frac_mask() + 1);
        let magnitude = self.int(a, width);
        let and = ["and", bits];
        let magnitude = self.computed(width, &and, &[magnitude, Arg::Int(format.magnitude_mask(), width)]);
        // Classes are ranges of magnitudes: the first above `less` that is at most `size` away.
        let range = |body: &mut Self, first: u64, count: u64| {
            let place = body.computed(width, &["sub", signed_type(width)], &[magnitude, Arg::Int(first, width)]);
            body.ins(&["setp.lt", unsigned], &[d.into(), place, Arg::Int(count, width)]);
        };
        match class {
            Class::Finite => range(self, 0, infinity),
            Class::Infinite => range(self, infinity, 1),
            Class::Number => range(self, 0, infinity + 1),
            Class::NotANumber => range(self, infinity + 1, format.frac_mask()),
            Class::Normal => range(self, least, infinity - least),
            Class::Subnormal => range(self, 1, least - 1),
        }
        Ok(())
    }

    pub(super) fn select(&mut self, d: Reg, p: Operand, a: Operand, b: Operand) -> Written {
        let width = self.width(d);
        if let Operand::Imm(chosen) = p {
            return self.mov(d, if chosen & 1 == 1 { a } else { b });
        }
        let (p, a, b) = (self.int(p, Width::Pred), self.int(a, width), self.int(b, width));
        if width == Width::Pred {
            let yes = self.computed(width, &["and.pred"], &[p, a]);
            let not = self.computed(width, &["not.pred"], &[p]);
            let no = self.computed(width, &["and.pred"], &[not, b]);
            self.ins(&["or.pred"], &[d.into(), yes, no]);
        } else {
            self.ins(&["selp", bits_type(width)], &[d.into(), a, b, p]);
        }
        Ok(())
    }
}

/// `.lt`
const fn comparison_word(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => ".eq",
        Comparison::Ne => ".ne",
        Comparison::Lt => ".lt",
        Comparison::Le => ".le",
        Comparison::Gt => ".gt",
        Comparison::Ge => ".ge",
        Comparison::Equ => ".equ",
        Comparison::Neu => ".neu",
        Comparison::Ltu => ".ltu",
        Comparison::Leu => ".leu",
        Comparison::Gtu => ".gtu",
        Comparison::Geu => ".geu",
        Comparison::Num => ".num",
        Comparison::Nan => ".nan",
    }
}
