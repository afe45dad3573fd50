//! Arithmetic, comparisons and conversions at random.

use super::{Generator, INPUT};
use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand, Scalar, Signedness, Space, Width};

impl Generator<'_> {
    pub(super) fn float(&mut self) {
        const FORMATS: [(Format, u32); 8] = [
            (Format::F32, 1),
            (Format::F32, 1),
            (Format::F64, 1),
            (Format::F16, 1),
            (Format::BF16, 1),
            (Format::F16, 2),
            (Format::BF16, 2),
            (Format::F32, 2),
        ];
        let (format, components) = if !self.plain {
            FORMATS[self.pick(FORMATS.len())]
        } else if self.pick(3) > 0 {
            FORMATS[0]
        } else if self.pick(5) > 0 {
            FORMATS[3 + self.pick(4)]
        } else {
            FORMATS[2]
        };
        let width = Width::holding(format.width() * components);
        let kind = [ArithOp::MulAdd, ArithOp::MulAdd, ArithOp::Add, ArithOp::Mul][self.pick(4)];
        let mut operation = Operation::new(kind, format, Rounding::ALL[self.pick(4)]);
        let any = !self.plain || format != Format::F64;
        let directed = matches!(operation.rounding, Rounding::Down | Rounding::Up);
        let flushes = match format {
            Format::F16 => !directed,
            Format::F32 => true,
            _ => false,
        };
        operation.flush = self.pick(4) == 0 && (!self.plain || flushes);
        operation.clamp = match self.pick(12) {
            0 | 1 if any => Clamp::Unit,
            2 => Clamp::Relu,
            _ => Clamp::None,
        };
        operation.negate_product = self.pick(4) == 0;
        operation.negate_addend = self.pick(4) == 0;
        let d = self.reg(width);
        let args = [self.operand(width), self.operand(width), self.operand(width)];
        self.guarded(Op::Float { d, operation, components, contractible: false, args });
        if self.pick(4) == 0 {
            let (d, a, negate) = (self.reg(Width::B32), self.operand(Width::B32), self.pick(2) == 0);
            let arithmetic = d.0 % 2 == 0;
            self.guarded(Op::Sign { d, negate, format: Format::F32, flush: false, arithmetic, a });
        }
    }

    pub(super) fn integer(&mut self) {
        use IntOp::*;
        let sign = [Signedness::Signed, Signedness::Unsigned][self.pick(2)];
        #[rustfmt::skip] // Families stand together.
        let ops = [
            Add, Add, Sub, Mul, MulAdd, MulHigh(sign), MulWide(sign), MulAddWide(sign), Div(sign), Rem(sign), Min(sign),
            Max(sign), AddSat, SubSat, Abs, Neg, AbsDiff(sign), And, Or, Xor, Not, IsZero, Shl, Shl, Shr(sign),
            LeadingZeros, PopCount, Reverse, Logic3(0x96), Logic3(0xca), FieldExtract(sign), FieldInsert, Permute,
            Funnel { left: true, clamp: false }, Funnel { left: false, clamp: true },
        ];
        let simple = [Add, Sub, Mul, MulAdd, MulWide(sign), Min(sign), Max(sign), And, Or, Xor, Not, Shl, Shr(sign)];
        let op = if self.plain { simple[self.pick(simple.len())] } else { ops[self.pick(ops.len())] };
        let widths = [Width::B32, Width::B32, Width::B64, Width::B16, Width::Pred];
        let mut width = widths[self.pick(widths.len())];
        while !op.takes(width) {
            width = widths[self.pick(3)];
            if matches!(op, MulWide(_) | MulAddWide(_)) {
                width = Width::B32;
            }
        }
        if width == Width::Pred && !matches!(op, And | Or | Xor | Not) {
            width = Width::B32;
        }
        let d = self.reg(op.result_width(width));
        let mut args = [Operand::ZERO; 4];
        let (wanted, count) = op.operand_widths(width);
        for (arg, width) in args.iter_mut().zip(wanted).take(count) {
            *arg = self.operand(width);
        }
        self.guarded(Op::Int { d, op, width, args });
    }

    pub(super) fn comparison(&mut self) {
        use Comparison::*;
        let kinds = [
            Comparand::Signed(Width::B32),
            Comparand::Unsigned(Width::B32),
            Comparand::Signed(Width::B64),
            Comparand::Unsigned(Width::B16),
            Comparand::Float { format: Format::F32, flush: false },
            Comparand::Float { format: Format::F64, flush: false },
        ];
        let halves = [
            Comparand::Signed(Width::B16),
            Comparand::Float { format: Format::F16, flush: false },
            Comparand::Float { format: Format::BF16, flush: false },
        ];
        let of = match self.plain.then(|| self.pick(4)) {
            Some(0) => halves[self.pick(halves.len())],
            _ => kinds[self.pick(kinds.len())],
        };
        let float = [Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan];
        let comparison = float[self.pick(if matches!(of, Comparand::Float { .. }) { 14 } else { 6 })];
        let width = match of {
            Comparand::Signed(width) | Comparand::Unsigned(width) => width,
            Comparand::Float { format, .. } => Width::holding(format.width()),
        };
        let d = self.reg(Width::Pred);
        let (a, b) = (self.operand(width), self.operand(width));
        self.guarded(Op::Compare { d, comparison, of, a, b });
    }

    pub(super) fn conversion(&mut self) {
        let int = |bits, signed| Scalar::Int { bits, signed };
        let single = Scalar::Float(Format::F32);
        let (f16, bf16) = (Scalar::Float(Format::F16), Scalar::Float(Format::BF16));
        let plain = [
            (f16, single),
            (bf16, single),
            (single, f16),
            (single, bf16),
            (int(32, true), f16),
            (int(16, false), bf16),
            (f16, int(32, true)),
            (bf16, int(16, true)),
            (single, int(32, false)),
            (single, int(8, true)),
            (int(8, true), int(64, true)),
            (int(64, true), int(16, false)),
            (int(16, true), int(8, false)),
            (int(16, false), single),
        ];
        let pairs = [
            (int(32, true), int(64, true)),
            (int(32, false), int(64, false)),
            (int(64, true), int(32, true)),
            (int(16, true), int(32, true)),
            (int(32, true), int(16, false)),
            (int(32, true), single),
            (int(64, false), single),
            (single, int(32, true)),
            (single, int(64, false)),
        ];
        let (from, to) = match self.plain.then(|| self.pick(3)) {
            Some(0) => pairs[self.pick(6)],
            Some(_) => plain[self.pick(plain.len())],
            None => pairs[self.pick(pairs.len())],
        };
        let (d, a) = (self.reg(to.width()), self.operand(from.width()));
        let float = matches!(from, Scalar::Float(_));
        let rounding = match (float, to) {
            (true, Scalar::Float(_)) if self.plain => Rounding::ALL[self.pick(4)],
            (true, _) => Rounding::TowardZero,
            (false, _) => Rounding::NearestEven,
        };
        self.guarded(Op::Convert { d, to, from, rounding, integral: false, flush: false, saturate: false, a });
    }

    /// Registers of 16 bits, put together, taken apart and loaded; minima.
    pub(super) fn halves(&mut self) {
        let none = Operand::ZERO;
        match self.pick(6) {
            0 => {
                let wide = self.pick(4) == 0;
                let (width, half) = if wide { (Width::B64, Width::B32) } else { (Width::B32, Width::B16) };
                let (d, low, high) = (self.reg(width), self.operand(half), self.operand(half));
                self.guarded(Op::Pack { d, low, high });
            }
            1 => {
                let (from, to, shift) = [
                    (Width::B32, Width::B16, 0),
                    (Width::B32, Width::B16, 16),
                    (Width::B64, Width::B32, 32),
                    (Width::B64, Width::B16, 48),
                    (Width::B64, Width::B16, 16),
                ][self.pick(5)];
                let (d, a) = (self.reg(to), self.operand(from));
                self.guarded(Op::Extract { d, a, width: from, shift });
            }
            2 | 3 => {
                let format = [Format::F16, Format::BF16, Format::F32, Format::F64][self.pick(15) / 4];
                let width = Width::holding(format.width());
                let (d, a, b) = (self.reg(width), self.operand(width), self.operand(width));
                let [max, flush, nan, xorsign_abs] = [2, 4, 2, 4].map(|one_in| self.pick(one_in) == 0);
                self.guarded(Op::MinMax { d, max, format, flush, nan, xorsign_abs, a, b });
            }
            4 => {
                let (d, a, negate) = (self.reg(Width::B16), self.operand(Width::B16), self.pick(2) == 0);
                let arithmetic = d.0 % 2 == 0;
                self.guarded(Op::Sign { d, negate, format: Format::F16, flush: false, arithmetic, a });
                let (d, a) = (self.reg(Width::B16), self.operand(Width::B16));
                self.guarded(Op::Move { d, a });
            }
            _ => {
                // Neighbours, every second one, the same one.
                let bytes = [1, 2, 2][self.pick(3)];
                let step = [bytes, 4, 0][self.pick(3)];
                let (at, wide) = (self.kernel.register(Width::B64), IntOp::MulAddWide(Signedness::Unsigned));
                let step = Operand::Imm(step.into());
                self.int(at, wide, Width::B32, [self.thread.into(), step, self.input.into(), none]);
                let offset = i64::from(bytes) * self.pick(INPUT as usize / 2) as i64;
                let width = [Width::B16, Width::B32][self.pick(2)];
                let (d, signed) = (vec![Some(self.reg(width))], self.pick(2) == 0);
                let (space, address) = (Space::Global, at.into());
                self.guarded(Op::Load { d, space, bytes, signed, address, offset });
            }
        }
    }
}
