//! Conversions.

use roundonce_arith::{ConversionRounding, Format, PackedConversion, Rounding};
use roundonce_ir::{Operand, Reg, Scalar, Width};

use super::body::{Body, Written, none};
use super::float::{rounding_word, type_word};
use super::needs::since;
use super::rows;
use super::text::Arg;

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

impl Body<'_> {
    pub(super) fn convert(&mut self, d: Reg, how: How, a: Operand) -> Written {
        let a = self.register(a, how.from.width());
        self.convert_value(d.into(), how, a)
    }

    /// From a register to a register.
    fn convert_value(&mut self, d: Arg<'static>, how: How, a: Arg<'static>) -> Written {
        let How { to, from, rounding, integral, flush, saturate } = how;
        let (Some(to_word), Some(from_word)) = (scalar_word(to), scalar_word(from)) else {
            return none("a conversion of such a format");
        };
        let sat = if saturate { ".sat" } else { "" };
        let (word, through) = match (from, to) {
            (Scalar::Int { .. }, Scalar::Int { .. }) => ("", None),
            (Scalar::Int { bits, .. }, Scalar::Float(format)) => {
                // Numbers of 16 bits are f32's; of longer ones bf16 needs its own conversion.
                let through = (format == Format::BF16 && bits <= 16).then_some(Format::F32);
                (rounding_word(rounding), through)
            }
            (Scalar::Float(format), Scalar::Int { .. }) => {
                (integral_word(rounding), (format == Format::BF16).then_some(Format::F32))
            }
            (Scalar::Float(narrow), Scalar::Float(wide)) if narrow == wide => {
                let through = (narrow == Format::BF16).then_some(Format::F32);
                (if integral { integral_word(rounding) } else { "" }, through)
            }
            (Scalar::Float(first), Scalar::Float(_)) if integral => {
                // To an integer in the operand's format, then to the other: two steps here too.
                let middle = self.temporary(Width::holding(first.width()));
                let first = How { to: from, saturate: false, ..how };
                let guard = self.guard.take();
                let written = self.convert_value(middle, first, a);
                self.guard = guard;
                written?;
                return self.convert_value(d, How { integral: false, ..how }, middle);
            }
            (Scalar::Float(first), Scalar::Float(second)) => {
                let widens = second.precision() >= first.precision() && second.exp_bits() >= first.exp_bits();
                let pair = [first, second];
                let through = (pair.contains(&Format::BF16) && !pair.contains(&Format::F32)).then_some(Format::F32);
                (if widens { "" } else { rounding_word(rounding) }, through)
            }
        };
        if let Some(middle) = through {
            return self.convert_through(d, how, a, middle);
        }
        let single = Scalar::Float(Format::F32);
        let ftz = if flush && (to == single || from == single) { ".ftz" } else { "" };
        let words = ["cvt", word, ftz, sat, to_word, from_word];
        match (from, to) {
            (_, Scalar::Float(Format::BF16)) => {
                if from != single || !matches!(rounding, Rounding::NearestEven | Rounding::TowardZero) || saturate {
                    self.using(since(7, 8, 90), &words)?;
                } else {
                    self.using(since(7, 0, 80), &words)?;
                }
            }
            (Scalar::Float(Format::BF16), Scalar::Float(Format::F32)) if ftz.is_empty() && sat.is_empty() => {
                // Adding −0 changes no number, and gives a NaN the bits that a conversion gives it.
                let wide = self.widen(a, Format::BF16);
                self.ins(&["add.rn.f32"], &[d, wide, Arg::F32(Format::F32.sign_mask())]);
                return Ok(());
            }
            (Scalar::Float(Format::BF16), _) => self.using(since(7, 8, 90), &words)?,
            (Scalar::Float(Format::F16), _) | (_, Scalar::Float(Format::F16)) => {
                self.using(since(4, 2, 53), &words)?;
            }
            _ => {}
        }
        self.ins(&words, &[d, a]);
        Ok(())
    }

    /// By way of a format that holds all numbers of one of the two.
    fn convert_through(&mut self, d: Arg<'static>, how: How, a: Arg<'static>, middle: Format) -> Written {
        let holds = |format: Format| middle.precision() >= format.precision() && middle.exp_bits() >= format.exp_bits();
        let middle = Scalar::Float(middle);
        let exact = How { rounding: Rounding::NearestEven, integral: false, flush: false, saturate: false, ..how };
        // Either the first step is exact and the second has all that the conversion says, or, from a number of bf16 to
        // itself, the last one is exact.
        let (first, second) = match (how.from, how.to) {
            (from, to) if from == to => {
                let narrow = How { from: middle, ..exact };
                let inner = How { to: middle, from: middle, ..how };
                let wide = self.temporary(Width::B32);
                self.free(|body| body.convert_value(wide, How { to: middle, ..exact }, a))?;
                let result = self.temporary(Width::B32);
                self.free(|body| body.convert_value(result, inner, wide))?;
                return self.convert_value(d, narrow, result);
            }
            (Scalar::Float(from), _) if holds(from) => (How { to: middle, ..exact }, How { from: middle, ..how }),
            (Scalar::Int { bits, .. }, _) if bits <= 16 => (How { to: middle, ..exact }, How { from: middle, ..how }),
            // From f64 to bf16: rounded toward zero twice is rounded toward zero once.
            (_, _) if how.rounding == Rounding::TowardZero && !how.saturate && !how.flush => {
                (How { to: middle, rounding: Rounding::TowardZero, ..exact }, How { from: middle, ..how })
            }
            _ => {
                let words = [
                    "cvt",
                    rounding_word(how.rounding),
                    scalar_word(how.to).unwrap_or_default(),
                    scalar_word(how.from).unwrap_or_default(),
                ];
                self.using(since(7, 8, 90), &words)?;
                self.ins(&words, &[d, a]);
                return Ok(());
            }
        };
        let wide = self.temporary(Width::B32);
        self.free(|body| body.convert_value(wide, first, a))?;
        self.convert_value(d, second, wide)
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
