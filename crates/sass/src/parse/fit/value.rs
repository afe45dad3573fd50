//! What one operand puts into the word.

use roundonce_arith::Format;
use roundonce_isa::parse_value;

use super::super::numbers::{read_immediate, whole_number};
use super::super::operand::{What, Written};
use super::super::{Span, Target};
use super::{Fit, Misfit, Values, starts_with};
use crate::encode::EncodeError;
use crate::instruction::RZ;
use crate::print::{MINUS, SIGNS};
use crate::row::{BANK, Bits, Kind, OFFSET, OperandField};

impl Fit<'_> {
    pub(super) fn value(&mut self, field: &OperandField, operand: usize, written: &Written) -> Result<(), Misfit> {
        match (&field.kind, written.what) {
            (Kind::Register(bits), What::Register(number)) => self.register(*bits, number, operand),
            (Kind::SwapRegister { register, wide }, What::Register(number)) => {
                // The first register and the width say which it is.
                let bits = (*register, *wide);
                let distance = number.wrapping_sub(bits.0.get(self.word) as u8);
                match distance {
                    1 | 2 => self.constrain(bits.1, Values::One(u64::from(distance == 2))),
                    _ => self.refuse(operand, EncodeError::SwapRegister { register: number }),
                }
            }
            (Kind::Predicate(bits), What::Predicate(number)) => {
                self.constrain(*bits, Values::One(u64::from(number)));
            }
            (Kind::Inverted(bits), What::Predicate(number)) => {
                self.constrain(*bits, Values::One(u64::from(7 - number)))
            }
            (Kind::Zero, What::Register(_)) => {}
            (Kind::Constant { .. }, What::Constant { bank, offset }) => {
                if offset % 4 != 0 {
                    self.refuse(operand, EncodeError::Offset { offset });
                }
                self.word |= OFFSET.put((offset >> 2) as u64) | BANK.put(u64::from(bank));
                self.known |= OFFSET.mask() | BANK.mask();
            }
            (Kind::ConstantAt { register, offset, bank }, What::ConstantAt { .. } | What::Constant { .. }) => {
                let (number, base, distance) = match written.what {
                    What::ConstantAt { bank, register, offset } => (bank, register, offset),
                    What::Constant { bank, offset } => (bank, RZ, i64::from(offset as i16)),
                    _ => (0, RZ, 0),
                };
                if register.width() > 0 {
                    self.register(*register, base, operand);
                } else if base != RZ {
                    self.refuse(operand, EncodeError::AddressOffset { offset: distance });
                }
                self.offset(*offset, 0, false, distance, operand);
                self.constrain(*bank, Values::One(u64::from(number)));
            }
            (Kind::Memory { register, offset, shift, .. }, What::Memory { register: base, offset: distance, .. }) => {
                if register.width() > 0 {
                    self.register(*register, base, operand);
                } else if base != RZ {
                    self.refuse(operand, EncodeError::AddressOffset { offset: distance });
                }
                self.offset(*offset, *shift, base == RZ, distance, operand);
            }
            (Kind::RegisterPlus { register, offset }, What::Register(_) | What::RegisterPlus { .. }) => {
                let (base, distance) = match written.what {
                    What::RegisterPlus { register, offset } => (register, offset),
                    What::Register(register) => (register, 0),
                    _ => (RZ, 0),
                };
                self.register(*register, base, operand);
                self.offset(*offset, 0, false, distance, operand);
            }
            (Kind::Set(bits), What::Set(set)) => self.constrain(*bits, Values::One(u64::from(set))),
            (Kind::Named(slot), What::Word(span)) => {
                let found = starts_with(slot, self.piece(span));
                if let Some((_, values)) = found {
                    self.constrain(slot.bits, values);
                }
            }
            (Kind::Scoreboard(bits), What::Word(span)) => {
                match self.piece(span).strip_prefix("SB").and_then(|digits| digits.parse::<u64>().ok()) {
                    Some(number @ 0..6) => self.constrain(*bits, Values::One(number)),
                    _ => return Err(Misfit::Number { span, message: "scoreboards are SB0 to SB5".to_owned() }),
                }
            }
            (Kind::Signs(bits), What::Word(span)) => {
                let text = self.piece(span).to_owned();
                let mut pattern = 0;
                for at in 0..4 {
                    let pair = text.get(2 * at..2 * at + 2).unwrap_or_default();
                    let Some(value) = SIGNS.iter().position(|known| *known == pair).filter(|_| text.len() == 8) else {
                        let message = format!("`{text}` is not eight of P, N and Z that a word holds");
                        return Err(Misfit::Number { span, message });
                    };
                    pattern = pattern << 2 | value as u64;
                }
                self.constrain(*bits, Values::One(pattern));
            }
            (Kind::Relative(bits), What::Word(span)) => {
                let text = self.piece(span);
                let label = text.strip_prefix("`(").and_then(|label| label.strip_suffix(')'));
                // The address of a label is known when all of the text is.
                let (target, address) = match label {
                    Some(_) => (Target::Label((span.0 + 2, span.1 - 1)), 0),
                    None => {
                        let address = integer(text).ok_or_else(|| Misfit::Number {
                            span,
                            message: format!(
                                "`{text}` is not an address of code, such as 0x140, or a label, `(.L_x_1)"
                            ),
                        })?;
                        (Target::Address(address), address)
                    }
                };
                self.target = Some(target);
                self.constrain(*bits, Values::One(bits.get(bits.put((address - 8) as u64))));
            }
            (Kind::Integer { bits, signed }, What::Word((start, end))) => {
                let minus = field.sign.is_some_and(|slot| slot.name == MINUS);
                let skipped = usize::from(minus && self.piece((start, end)).starts_with('-'));
                self.integer(*bits, *signed, operand, (start + skipped, end))?;
            }
            (Kind::Float { bits, format }, What::Word(span)) => self.float(*bits, *format, operand, span)?,
            _ => return Err(Misfit::Kinds { operand }),
        }
        Ok(())
    }

    fn integer(&mut self, bits: Bits, signed: bool, operand: usize, span: Span) -> Result<(), Misfit> {
        let text = self.piece(span);
        let Some(number) = integer(text) else {
            let message = format!("`{text}` is not a 32-bit pattern: it takes whole numbers, as 0x3f800000");
            return Err(Misfit::Number { span, message });
        };
        if !(-0x8000_0000..0x1_0000_0000).contains(&number) {
            let message = format!("`{text}` is not a 32-bit pattern, as 0x3f800000");
            return Err(Misfit::Number { span, message });
        }
        let put = bits.put(number as u64);
        // A sign-extended field holds the upper bits of a pattern of 32 bits too.
        let fits = match signed {
            true => bits.get_signed(put) as u32 == number as u32,
            false => bits.get(put) as i64 == number,
        };
        if !fits {
            self.refuse(operand, EncodeError::Integer { value: number, width: bits.width() });
        }
        self.word |= put & !self.known;
        self.known |= bits.mask();
        Ok(())
    }

    fn float(&mut self, bits: Bits, format: u8, operand: usize, span: Span) -> Result<(), Misfit> {
        let text = self.piece(span);
        let low = match (format, bits.width()) {
            (16, 10) => 6,
            (16, _) => 0,
            (format, width) => u32::from(format) - width,
        };
        let pattern = match format {
            _ if text.starts_with('#') => field_bits(&text[1..], bits.width()).map(|field| field << low),
            16 => read_float(Format::F16, 0x7e00, 15, text),
            32 => read_immediate(text).map(u64::from),
            _ => read_float(Format::F64, 0x7ff8 << 48, 63, text),
        };
        let mut pattern = pattern.map_err(|message| Misfit::Number { span, message })?;
        // A product without a sign bit has the immediate's.
        if self.product_sign && !self.row.operands[1..].iter().take(2).any(|field| field.sign.is_some()) {
            pattern ^= 1 << (format - 1);
        }
        if pattern & ((1 << low) - 1) != 0 {
            self.refuse(operand, EncodeError::ShortImmediate { bits: pattern, format });
        }
        self.word |= bits.put(pattern >> low);
        self.known |= bits.mask();
        Ok(())
    }
}

fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    whole_number(digits).map(|number| if negative { -number } else { number })
}

/// The bits of a number, rounded once to nearest even.
fn read_float(format: Format, nan: u64, sign: u32, text: &str) -> Result<u64, String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned.eq_ignore_ascii_case("QNAN") || unsigned.eq_ignore_ascii_case("SNAN") {
        // 0x7ff8… and 0x7ff4…: the lowest bit that is set is the quiet one.
        let quiet = nan & nan.wrapping_neg();
        let nan = if unsigned.starts_with(['S', 's']) { nan ^ quiet | quiet >> 1 } else { nan };
        return Ok(nan | u64::from(text.starts_with('-')) << sign);
    }
    let parsed = parse_value(format, 1, text.strip_prefix('+').unwrap_or(text))?;
    Ok(parsed.value.components()[0])
}

/// An immediate as the manual has it, `#Imm20`: the bits of its field.
fn field_bits(text: &str, width: u32) -> Result<u64, String> {
    let number =
        whole_number(text).ok_or_else(|| format!("`#{text}` is not the bits of an immediate, such as #0x3d000"))?;
    let fits = number >> width.min(63) == 0;
    fits.then_some(number as u64).ok_or_else(|| format!("`#{text}` has more than the {width} bits of this immediate"))
}
