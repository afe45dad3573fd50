//! Conversions.

use roundonce_arith::{ConversionRounding, Format, PackedConversion, Rounding};
use roundonce_ir::{Operand, Reg, Scalar, Width};

use super::body::{Body, Written, none};
use super::float::{rounding_word, type_word};
use super::needs::since;
use super::rows;
use super::text::{Arg, bits_type};

/// Everything that a conversion's spelling decides.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) to: Scalar,
    pub(super) from: Scalar,
    pub(super) rounding: Rounding,
    pub(super) integral: bool,
    pub(super) flush: bool,
    pub(super) saturate: bool,
}

const fn integral_word(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => ".rni",
        Rounding::TowardZero => ".rzi",
        Rounding::Down => ".rmi",
        Rounding::Up => ".rpi",
    }
}

/// `.s32`, `.f16`
fn scalar_word(scalar: Scalar) -> Option<&'static str> {
    match scalar {
        Scalar::Float(format) => type_word(format),
        Scalar::Int { bits, signed } => Some(match (bits, signed) {
            (8, false) => ".u8",
            (8, true) => ".s8",
            (16, false) => ".u16",
            (16, true) => ".s16",
            (32, false) => ".u32",
            (32, true) => ".s32",
            (64, false) => ".u64",
            (64, true) => ".s64",
            _ => return None,
        }),
    }
}

/// Whether one format has every number of another.
const fn holds(wide: Format, narrow: Format) -> bool {
    wide.precision() >= narrow.precision() && wide.exp_bits() >= narrow.exp_bits()
}

/// Whether one integer type has every number of another.
const fn holds_range(to: Scalar, from: Scalar) -> bool {
    match (to, from) {
        (Scalar::Int { bits: to, signed: to_signed }, Scalar::Int { bits: from, signed: from_signed }) => {
            (to_signed == from_signed && to >= from) || (to_signed && to > from)
        }
        _ => false,
    }
}

impl Body<'_> {
    pub(super) fn convert(&mut self, d: Reg, how: How, a: Operand) -> Written {
        let a = self.register(a, how.from.width());
        // `.ftz` acts on f32 alone, and not on what a number passes through.
        let single = Scalar::Float(Format::F32);
        let how = How { flush: how.flush && [how.to, how.from].contains(&single), ..how };
        self.convert_value(d.into(), how, a)
    }

    /// From a register to a register.
    fn convert_value(&mut self, d: Arg<'static>, how: How, a: Arg<'static>) -> Written {
        let How { to, from, rounding, integral, flush, saturate } = how;
        let (Some(to_word), Some(from_word)) = (scalar_word(to), scalar_word(from)) else {
            return none("a conversion of such a format");
        };
        let flushes = flush && from == Scalar::Float(Format::F32);
        if from == to && matches!(to, Scalar::Float(_)) && !integral && !saturate && !flushes {
            self.ins(&["mov", bits_type(to.width())], &[d, a]);
            return Ok(());
        }
        if let (true, Scalar::Float(Format::BF16)) = (saturate && from != to, to) {
            return self.convert_clamped(d, how, a);
        }
        // A range within another clamps nothing, and the assembler says so.
        let sat = if saturate && !holds_range(to, from) { ".sat" } else { "" };
        let (word, through) = match (from, to) {
            (Scalar::Int { .. }, Scalar::Int { .. }) => ("", false),
            (Scalar::Int { bits, .. }, Scalar::Float(format)) => {
                // Numbers of 16 bits are f32's; of longer ones bf16 needs its own conversion.
                let through = format == Format::BF16 && bits <= 16;
                (rounding_word(rounding), through)
            }
            (Scalar::Float(format), Scalar::Int { .. }) => (integral_word(rounding), format == Format::BF16),
            (Scalar::Float(narrow), Scalar::Float(wide)) if narrow == wide => {
                let through = narrow == Format::BF16;
                (if integral { integral_word(rounding) } else { "" }, through)
            }
            (Scalar::Float(Format::BF16), Scalar::Float(Format::F32)) if saturate || integral => {
                return self.convert_by_single(d, how, a);
            }
            (Scalar::Float(first), Scalar::Float(second)) if integral => {
                // To an integer in the wider format: two steps, of which one is exact.
                let widens = holds(second, first);
                let middle = if widens { to } else { from };
                let value = self.temporary(middle.width());
                let [first, second] = if widens {
                    let flush = flush && from == Scalar::Float(Format::F32);
                    [How { integral: false, saturate: false, flush, ..how }, How { from: to, flush: false, ..how }]
                } else {
                    [How { to: from, saturate: false, ..how }, How { integral: false, ..how }]
                };
                self.free(|body| body.convert_value(value, first, a))?;
                return self.convert_value(d, second, value);
            }
            (Scalar::Float(first), Scalar::Float(second)) => {
                let widens = holds(second, first);
                let pair = [first, second];
                let through = pair.contains(&Format::BF16) && !pair.contains(&Format::F32);
                (if widens { "" } else { rounding_word(rounding) }, through)
            }
        };
        if through {
            return self.convert_by_single(d, how, a);
        }
        let single = Scalar::Float(Format::F32);
        if flush && from == single && to == Scalar::Float(Format::F16) {
            // `cvt` flushes nothing there.
            let flushed = self.computed(Width::B32, &["add.rn.ftz.f32"], &[a, Arg::F32(Format::F32.sign_mask())]);
            return self.convert_value(d, How { flush: false, ..how }, flushed);
        }
        let ftz = if flush && (to == single || from == single) { ".ftz" } else { "" };
        let words = ["cvt", word, ftz, sat, to_word, from_word];
        match (from, to) {
            (_, Scalar::Float(Format::BF16)) | (Scalar::Float(Format::BF16), _) => {
                let other = if from == Scalar::Float(Format::BF16) { to } else { from };
                let plain = other == single && (from == single || ftz.is_empty()) && sat.is_empty();
                self.using(if plain { since(7, 1, 80) } else { since(7, 8, 90) }, &words)?;
            }
            (Scalar::Float(Format::F16), _) | (_, Scalar::Float(Format::F16)) => {
                self.using(since(4, 2, 53), &words)?;
            }
            _ => {}
        }
        self.ins(&words, &[d, a]);
        Ok(())
    }

    /// Clamped to [+0, 1] before it is converted to bf16, which has both ends: no other number comes of it.
    fn convert_clamped(&mut self, d: Arg<'static>, how: How, a: Arg<'static>) -> Written {
        let middle = match how.from {
            Scalar::Int { .. } => Scalar::Float(Format::F32),
            float => float,
        };
        let clamped = self.temporary(middle.width());
        self.free(|body| body.convert_value(clamped, How { to: middle, integral: false, ..how }, a))?;
        self.convert_value(d, How { from: middle, saturate: false, ..how }, clamped)
    }

    /// By way of f32, which holds all numbers of 16-bit formats.
    fn convert_by_single(&mut self, d: Arg<'static>, how: How, a: Arg<'static>) -> Written {
        let single = Scalar::Float(Format::F32);
        let first = How { to: single, integral: false, flush: false, saturate: false, ..how };
        let second = How { from: single, ..how };
        match how.from {
            Scalar::Float(from @ (Format::F16 | Format::BF16)) => {
                let wide = self.widen(a, from);
                if how.to == how.from {
                    let result = self.temporary(Width::B32);
                    self.free(|body| body.convert_value(result, How { to: single, ..second }, wide))?;
                    return self.convert_value(d, How { from: single, to: how.to, ..first }, result);
                }
                // The operand is no f32: what is made of it is not flushed before it is an integer.
                let flush = how.flush && !how.integral;
                self.convert_value(d, How { flush, ..second }, wide)
            }
            // Exact; or rounded toward zero twice, which is rounded toward zero once.
            Scalar::Int { bits: 8 | 16, .. } => self.convert_twice(d, first, second, a),
            _ if how.rounding == Rounding::TowardZero => self.convert_twice(d, first, second, a),
            _ => {
                let [to, from] = [how.to, how.from].map(|scalar| scalar_word(scalar).unwrap_or_default());
                let words = ["cvt", rounding_word(how.rounding), to, from];
                self.using(since(7, 8, 90), &words)?;
                self.ins(&words, &[d, a]);
                Ok(())
            }
        }
    }

    fn convert_twice(&mut self, d: Arg<'static>, first: How, second: How, a: Arg<'static>) -> Written {
        let middle = self.temporary(first.to.width());
        self.free(|body| body.convert_value(middle, first, a))?;
        self.convert_value(d, second, middle)
    }

    /// Without the guard: only registers are written that nothing else reads.
    fn free(&mut self, work: impl FnOnce(&mut Self) -> Written) -> Written {
        let guard = self.guard.take();
        let written = work(self);
        self.guard = guard;
        written
    }

    pub(super) fn convert_packed(&mut self, d: Reg, conversion: &PackedConversion, args: &[Operand; 5]) -> Written {
        let rows = rows::conversions(conversion);
        let row =
            rows.iter().find(|row| self.has(&row.gate)).or_else(|| rows.iter().find(|row| self.may_have(&row.gate)));
        let Some(row) = row.or(rows.first()) else {
            return none(format!("a conversion of {} from {}", conversion.to.name(), conversion.from.name()));
        };
        self.using(row.gate, &[&row.spelling])?;
        let separate = conversion.has_separate_operands();
        let width = Width::holding(conversion.operand_bits());
        let mut operands = [Arg::Sink; 4];
        let count = conversion.operand_count();
        for (operand, arg) in operands.iter_mut().zip(args).take(count) {
            *operand = match arg {
                Operand::Imm(bits) if separate => Arg::F32(*bits),
                arg => self.register(*arg, width),
            };
        }
        // Eight bits have registers of their own, which nothing else takes.
        const BYTE: Arg<'static> = Arg::Text("%byte");
        let result_is_byte = conversion.result_bits() == 8;
        if result_is_byte || conversion.operand_bits() == 8 {
            self.text.push_str("    {\n    .reg .b8 %byte;\n");
        }
        if conversion.operand_bits() == 8 {
            self.always(&["mov.b16"], &[Arg::Vector(&[BYTE, Arg::Sink]), operands[0]]);
            operands[0] = BYTE;
        }
        let random = (conversion.rounding == ConversionRounding::Random).then(|| self.register(args[4], Width::B32));
        let to = if result_is_byte { BYTE } else { Arg::Reg(d) };
        // The guard stands before what takes the byte's register.
        let guard = if result_is_byte { self.guard.take() } else { self.guard };
        if count == 4 {
            // A vector holds registers.
            for operand in &mut operands {
                if let Arg::F32(bits) = *operand {
                    *operand = self.in_register(Arg::Int(bits, Width::B32), Width::B32);
                }
            }
            let random = random.unwrap_or(Arg::Int(0, Width::B32));
            self.ins(&[&row.spelling], &[to, Arg::Vector(&operands), random]);
        } else {
            let mut all = [to, operands[0], operands[1], Arg::Sink];
            let used = 1 + count;
            if let Some(random) = random {
                all[used] = random;
            }
            self.ins(&[&row.spelling], &all[..used + usize::from(random.is_some())]);
        }
        self.guard = guard;
        if result_is_byte {
            self.ins(&["mov.b16"], &[Arg::Reg(d), Arg::Vector(&[BYTE, Arg::Int(0, Width::B16)])]);
        }
        if result_is_byte || conversion.operand_bits() == 8 {
            self.text.push_str("    }\n");
        }
        Ok(())
    }
}
