//! Video instructions: bytes, half words and words widened, one operation on them, its result clamped, and joined with a
//! third operand. Every number has 64 bits in between, where none overflows.
//!
//! Source: the manual of the PTX instructions that ptxas makes these of one to one. What they would be where the lowering
//! of PTX refuses (sums of unsigned words clamped, `.MIN` and `.MAX` of what is no signed word) is refused here too.

use roundonce_ir::{Comparand, IntOp, Op, Operand as Arg, Signedness, Width};

use super::body::{B32, Body};
use super::integer::comparison;
use crate::instruction::{Instruction, Operand, Value};

const SIGNED: Signedness = Signedness::Signed;
const UNSIGNED: Signedness = Signedness::Unsigned;
/// The bits of the result of a shift.
const SHIFTED_BITS: u64 = 34;

/// A source: what it is, and its number of 64 bits.
#[derive(Clone, Copy)]
struct Source {
    number: Arg,
    sign: Signedness,
    /// A byte or a half word.
    is_part: bool,
}

impl Body<'_> {
    pub(super) fn video(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["ud", "sd", "a_type", "b_type", "part", "mx", "sat", "merge", "w", "cmp"])?;
        let operands = inst.operands();
        let sources = [self.source(inst, 0)?, self.source(inst, 1)?];
        let [a, b] = sources;
        let is_sum = !matches!(inst.mnemonic(), "VMNMX" | "VSHR" | "VSET");
        let carries =
            inst.mnemonic() == "VADD" || inst.mnemonic() == "VABSDIFF" && (a.sign == SIGNED || b.sign == SIGNED);
        let to = match inst.mnemonic() {
            "VABSDIFF" if inst.modifier("sd").is_some() => SIGNED,
            "VABSDIFF" | "VSET" => UNSIGNED,
            _ if inst.modifier("ud").is_some() => UNSIGNED,
            _ => SIGNED,
        };
        let are_parts = a.is_part && b.is_part;
        let saturates = inst.modifier("sat").is_some();
        let fits = to == SIGNED && (saturates || !is_sum || are_parts && inst.mnemonic() != "VSHL");
        if saturates && carries && to == UNSIGNED && !are_parts && operands[1].negate == operands[2].negate {
            return None;
        }
        let mut result = self.video_operation(inst, a, b)?;
        let (bits, place) = match inst.modifier("merge") {
            Some(".MRG_16H") => (16, 16),
            Some(".MRG_16L") => (16, 0),
            Some(".MRG_8B0") => (8, 0),
            Some(".MRG_8B2") => (8, 16),
            _ => (32, 0),
        };
        if saturates {
            result = self.clipped(result, to, bits);
        }
        let c = self.bits(operands.get(3)?)?;
        let joined = match inst.modifier("merge") {
            Some(".ACC") => Some(IntOp::Add),
            Some(".MIN" | ".MAX") if !fits => return None,
            Some(".MIN") => Some(IntOp::Min(SIGNED)),
            Some(".MAX") => Some(IntOp::Max(SIGNED)),
            _ => None,
        };
        if let Some(op) = joined {
            let c = self.widened(c, to);
            result = self.long(op, result, c);
        }
        let mut low = self.low(result);
        if bits < 32 {
            low = self.int32(IntOp::FieldInsert, &[low, c, Arg::Imm(place), Arg::Imm(bits)]);
        }
        self.finish_video(&operands[0], low)
    }

    fn video_operation(&mut self, inst: &Instruction, a: Source, b: Source) -> Option<Arg> {
        let operands = inst.operands();
        let (a, b) = (a.number, b.number);
        Some(match inst.mnemonic() {
            "VADD" => match (operands[1].negate, operands[2].negate) {
                (false, false) => self.long(IntOp::Add, a, b),
                (false, true) => self.long(IntOp::Sub, a, b),
                (true, false) => self.long(IntOp::Sub, b, a),
                (true, true) => return None,
            },
            "VABSDIFF" => self.long(IntOp::AbsDiff(SIGNED), a, b),
            "VMNMX" if inst.modifier("mx").is_some() => self.long(IntOp::Max(SIGNED), a, b),
            "VMNMX" => self.long(IntOp::Min(SIGNED), a, b),
            "VSET" => {
                let comparison = comparison(inst.modifier("cmp"))?;
                let holds = self.holds(comparison, Comparand::Signed(Width::B64), [a, b]);
                let d = self.fresh(Width::B64);
                self.emit(Op::Select { d, p: holds, a: Arg::Imm(1), b: Arg::ZERO });
                d.into()
            }
            _ => {
                let count = self.low(b);
                let count = match inst.modifier("w") {
                    Some(_) => self.int32(IntOp::And, &[count, Arg::Imm(31)]),
                    None => self.int32(IntOp::Min(UNSIGNED), &[count, Arg::Imm(32)]),
                };
                if inst.mnemonic() == "VSHR" {
                    return Some(self.long(IntOp::Shr(SIGNED), a, count));
                }
                let shifted = self.long(IntOp::Shl, a, count);
                let rest = Arg::Imm(64 - SHIFTED_BITS);
                let top = self.long(IntOp::Shl, shifted, rest);
                self.long(IntOp::Shr(SIGNED), top, rest)
            }
        })
    }

    /// `VMAD`: a product, negated or not, a third operand, shifted and clamped.
    pub(super) fn video_multiply_add(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["a_type", "b_type", "part", "po", "scale", "sat"])?;
        let operands = inst.operands();
        let (a, b) = (self.source(inst, 0)?, self.source(inst, 1)?);
        let (negates_product, negates_c) = (operands[1].negate, operands[3].negate);
        let is_signed = a.sign == SIGNED || b.sign == SIGNED || negates_product || negates_c;
        let shift = match inst.modifier("scale") {
            None => 0,
            Some(".SHR_7") => 7,
            _ => 15,
        };
        let is_word = |source: Source| source.sign == UNSIGNED && !source.is_part;
        if (shift > 0 || inst.modifier("sat").is_some()) && (!is_signed || is_word(a) || is_word(b)) {
            return None;
        }
        let c = self.bits(&operands[3])?;
        let c = self.widened(c, if is_signed { SIGNED } else { UNSIGNED });
        let product = self.long(IntOp::Mul, a.number, b.number);
        let mut result = match (negates_product, negates_c) {
            (true, _) => self.long(IntOp::Sub, c, product),
            (_, true) => self.long(IntOp::Sub, product, c),
            _ => self.long(IntOp::Add, product, c),
        };
        if inst.modifier("po").is_some() {
            result = self.long(IntOp::Add, result, Arg::Imm(1));
        }
        if shift > 0 {
            result = self.long(IntOp::Shr(SIGNED), result, Arg::Imm(shift));
        }
        if inst.modifier("sat").is_some() {
            result = self.clipped(result, SIGNED, 32);
        }
        let low = self.low(result);
        self.finish_video(&operands[0], low)
    }

    /// `VABSDIFF4` of unsigned bytes: their distances, or with `.ACC` the sum of these and of a third number.
    pub(super) fn byte_distances(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["type", "merge", "mask"])?;
        let operands = inst.operands();
        let is_plain = operands[1].suffix.is_empty() && operands[2].suffix.is_empty();
        if inst.modifier("type") != Some(".U8.U8") || inst.modifier("mask").is_some() || !is_plain {
            return None;
        }
        let sums = inst.modifier("merge").is_some();
        let (a, b, c) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.bits(&operands[3])?);
        let mut result = if sums { c } else { Arg::ZERO };
        for place in [0, 8, 16, 24] {
            let [a, b] = [a, b].map(|word| self.part(word, place, 8, UNSIGNED));
            let distance = self.int32(IntOp::AbsDiff(UNSIGNED), &[a, b]);
            result = match sums {
                true => self.int32(IntOp::Add, &[result, distance]),
                false => self.int32(IntOp::FieldInsert, &[distance, result, Arg::Imm(u64::from(place)), Arg::Imm(8)]),
            };
        }
        self.finish_video(&operands[0], result)
    }

    /// The first or the second source: a part of a word, extended to 64 bits.
    fn source(&mut self, inst: &Instruction, which: usize) -> Option<Source> {
        let operands = inst.operands();
        let operand: &Operand = &operands[1 + which];
        // The type of an immediate may be the row's.
        let ty = inst.modifier(["a_type", "b_type"][which]);
        let ty = ty.or_else(|| inst.modifier("fixed").filter(|_| which == 1)).unwrap_or(".S32");
        let sign = if ty.starts_with(".S") { SIGNED } else { UNSIGNED };
        if let Value::Immediate(bits) = operand.value {
            let half = bits as u16;
            let number = if sign == SIGNED { i64::from(half.cast_signed()) } else { i64::from(half) };
            return Some(Source { number: Arg::Imm(number.cast_unsigned()), sign, is_part: true });
        }
        let bits = match ty.get(2..)? {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            _ => return None,
        };
        let place = match operand.suffix {
            ".B1" => 8,
            ".B2" | ".H1" => 16,
            ".B3" => 24,
            _ => 0,
        };
        let word = self.bits(operand)?;
        let word = self.part(word, place, bits, sign);
        Some(Source { number: self.widened(word, sign), sign, is_part: bits < 32 })
    }

    pub(super) fn widened(&mut self, word: Arg, sign: Signedness) -> Arg {
        self.int(IntOp::MulWide(sign), B32, &[word, Arg::Imm(1)]).into()
    }
    fn long(&mut self, op: IntOp, a: Arg, b: Arg) -> Arg {
        self.int(op, Width::B64, &[a, b]).into()
    }
    pub(super) fn low(&mut self, number: Arg) -> Arg {
        let d = self.fresh(B32);
        self.emit(Op::Extract { d, a: number, width: Width::B64, shift: 0 });
        d.into()
    }
    pub(super) fn clipped(&mut self, number: Arg, sign: Signedness, bits: u64) -> Arg {
        let (least, most) = match sign {
            Signedness::Signed => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
            Signedness::Unsigned => (0, (1i64 << bits) - 1),
        };
        let number = self.long(IntOp::Max(SIGNED), number, Arg::Imm(least.cast_unsigned()));
        self.long(IntOp::Min(SIGNED), number, Arg::Imm(most.cast_unsigned()))
    }
    fn finish_video(&mut self, target: &Operand, a: Arg) -> Option<()> {
        let d = self.target(target)?;
        self.finish(Op::Move { d, a });
        Some(())
    }
}
