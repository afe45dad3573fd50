//! Operations on integers of up to 32 bits that are several instructions: quotients, remainders, upper halves of products, fields, dot
//! products of bytes, saturating sums.

use super::super::asm::Decorators;
use super::{A, B, C, D, E, EmitError, EmitResult, Emitter, Part, Source, ymm};
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{IntOp, Operand, Reg, Signedness, Width};

const K2: Register = Register::K2;
const EXACT: Decorators = Decorators { mask: None, zeroing: false, rounding: None };
const OR: Code = Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32;
const XOR: Code = Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32;
const PLUS: Code = Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
const MINUS: Code = Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32;
const TIMES: Code = Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32;
const LEFT: Code = Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8;
const RIGHT: Code = Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8;
const SIGNED_RIGHT: Code = Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8;

impl Emitter<'_> {
    /// A quotient toward zero, or the remainder; by zero all ones. In f64: one that is no integer is further from the next integer than it is
    /// rounded by, in whatever direction.
    pub(super) fn divide_integers(
        &mut self,
        d: Reg,
        (remainder, sign, bits): (bool, Signedness, u32),
        [a, b]: [Operand; 2],
    ) -> EmitResult {
        let unsigned = sign == Signedness::Unsigned;
        for part in self.parts(d) {
            for (operand, to) in [(a, A), (b, B)] {
                let x = self.extended(operand, (bits, sign), part, to)?;
                match unsigned {
                    true => self.less_top(to, x),
                    false => self.copy_vector(to, x),
                }
            }
            for (half, quotient) in [(0, C), (1, D)] {
                for (from, to) in [(A, quotient), (B, E)] {
                    let mut lanes = ymm(from);
                    if half == 1 {
                        lanes = ymm(to);
                        let upper = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                        self.asm.push(Instruction::with3(upper, lanes, from, 1));
                    }
                    self.doubles(to, lanes, unsigned);
                }
                let divide = Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
                self.op3(divide, quotient, quotient, Source::Register(E), EXACT);
                if unsigned {
                    // The second operand is the result for a NaN, that of zero by zero.
                    let [most, top] = [4_294_967_295.0, 2_147_483_648.0f64]
                        .map(|number| self.broadcast_constant(number.to_bits(), Width::B64));
                    self.op3(Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae, quotient, quotient, most, EXACT);
                    let integral = Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
                    self.asm.push(Instruction::with3(integral, quotient, quotient, 8 | 3));
                    self.op3(Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er, quotient, quotient, top, EXACT);
                }
                self.asm.rr(Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae, ymm(quotient), quotient);
            }
            let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
            self.asm.push(Instruction::with4(insert, C, C, ymm(D), 1));
            if unsigned {
                self.less_top(C, C);
            }
            if remainder || !unsigned {
                self.remainder_or_ones(part, (remainder, sign, bits), [a, b])?;
            }
            if bits < 32 {
                self.mask_lanes(C, C, 0xffff);
            }
            self.write_back(d, part, C);
        }
        Ok(())
    }
    /// C, a quotient, becomes the remainder if that is asked for, and all ones where the divisor is zero.
    fn remainder_or_ones(
        &mut self,
        part: Part,
        (remainder, sign, bits): (bool, Signedness, u32),
        [a, b]: [Operand; 2],
    ) -> EmitResult {
        let divisor = self.extended(b, (bits, sign), part, B)?;
        if remainder {
            let dividend = self.extended(a, (bits, sign), part, A)?;
            self.op3(TIMES, C, C, Source::Register(divisor), EXACT);
            self.op3(MINUS, C, dividend, Source::Register(C), EXACT);
        }
        let zero = self.broadcast_constant(0, Width::B32);
        self.op3_immediate(Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, K2, divisor, zero, 0);
        self.merge_constant(C, u32::MAX.into(), K2);
        Ok(())
    }

    /// The upper half of a product.
    pub(super) fn multiply_high(
        &mut self,
        d: Reg,
        (sign, bits): (Signedness, u32),
        [a, b]: [Operand; 2],
    ) -> EmitResult {
        let right = Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8;
        let multiply = match sign {
            Signedness::Signed => Code::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64,
            Signedness::Unsigned => Code::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64,
        };
        for part in self.parts(d) {
            let x = self.extended(a, (bits, sign), part, A)?;
            let y = self.extended(b, (bits, sign), part, B)?;
            if bits < 32 {
                self.op3(TIMES, C, x, Source::Register(y), EXACT);
                self.shift(RIGHT, C, C, bits);
            } else {
                // Every second lane, then the others.
                self.op3(multiply, C, x, Source::Register(y), EXACT);
                self.shift(right, C, C, 32);
                self.shift(right, D, x, 32);
                self.shift(right, E, y, 32);
                self.op3(multiply, D, D, Source::Register(E), EXACT);
                let upper = self.broadcast_constant(0xffff_ffff_0000_0000, Width::B64);
                self.op3(Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64, D, D, upper, EXACT);
                self.op3(Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64, C, C, Source::Register(D), EXACT);
            }
            self.write_back(d, part, C);
        }
        Ok(())
    }

    /// Operations on 32 bits that are several instructions, of which C becomes the result.
    fn composed(&mut self, op: IntOp, part: Part, [a, b, c, d]: [Operand; 4]) -> EmitResult {
        use Code as K;
        let x = self.canonicalised(a, Width::B32, part, A)?;
        match op {
            IntOp::Abs => {
                let zero = self.broadcast_constant(0, Width::B32);
                let zero = self.load(zero, Width::B32, B);
                self.op3(MINUS, C, zero, Source::Register(x), EXACT);
                self.op3(K::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32, C, C, Source::Register(x), EXACT);
            }
            IntOp::AbsDiff(sign) => {
                let [most, least] = match sign {
                    Signedness::Signed => {
                        [K::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32]
                    }
                    Signedness::Unsigned => {
                        [K::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32]
                    }
                };
                let y = Source::Register(self.canonicalised(b, Width::B32, part, B)?);
                self.op3(most, C, x, y, EXACT);
                self.op3(least, D, x, y, EXACT);
                self.op3(MINUS, C, C, Source::Register(D), EXACT);
                let more = self.canonicalised_source(c, Width::B32, part, E)?;
                self.op3(PLUS, C, C, more, EXACT);
            }
            IntOp::FieldExtract(sign) => {
                let [start, length] = [b, c].map(|place| self.shapes.constant(place).map(|place| place as u32 & 0xff));
                let (Some(start @ ..32), Some(length @ 1..)) = (start, length) else {
                    return Err(EmitError::Unsupported);
                };
                // Bits past the end are the sign, or zeros.
                self.field(C, x, (start, length.min(32 - start)), sign);
            }
            IntOp::DotProduct4(first, second) => {
                let of_bytes = |place: u32| ((8 * place, 8), 8 * place);
                self.dot(part, (x, first), (b, second), c, (0..4).map(of_bytes))?;
            }
            IntOp::DotProduct2 { a: first, b: second, high } => {
                let from = if high { 16 } else { 0 };
                let of_halves = |place: u32| ((16 * place, 16), from + 8 * place);
                self.dot(part, (x, first), (b, second), c, (0..2).map(of_halves))?;
            }
            IntOp::AddSat | IntOp::SubSat => {
                let y = self.canonicalised(b, Width::B32, part, B)?;
                // Beyond the range the exact result has the sign of the first operand, and this one has not: a sum of two of one
                // sign, a difference of two of different ones.
                let (sum, other) = if op == IntOp::AddSat { (PLUS, C) } else { (MINUS, x) };
                self.op3(sum, C, x, Source::Register(y), EXACT);
                self.op3(XOR, D, x, Source::Register(C), EXACT);
                self.op3(XOR, E, y, Source::Register(other), EXACT);
                self.op3(K::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, D, D, Source::Register(E), EXACT);
                let zero = self.broadcast_constant(0, Width::B32);
                self.op3_immediate(K::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, K2, D, zero, 1);
                self.shift(SIGNED_RIGHT, E, x, 31);
                let highest = self.broadcast_constant(0x7fff_ffff, Width::B32);
                self.op3(XOR, E, E, highest, EXACT);
                let blend = Instruction::with2(K::EVEX_Vmovaps_zmm_k1z_zmmm512, C, E);
                self.asm.vector(blend, Decorators::masked(K2));
            }
            IntOp::Funnel { left: to_left, clamp } => {
                let Some(count) = self.shapes.constant(c) else { return Err(EmitError::Unsupported) };
                let count = if clamp { (count & 0xffff_ffff).min(32) } else { count & 31 } as u32;
                // So many bits of the lower operand go out to the right.
                let out = if to_left { 32 - count } else { count };
                let y = self.canonicalised(b, Width::B32, part, B)?;
                match out {
                    0 => self.copy_vector(C, x),
                    32 => self.copy_vector(C, y),
                    _ => {
                        self.shift(RIGHT, C, x, out);
                        self.shift(LEFT, D, y, 32 - out);
                        self.op3(OR, C, C, Source::Register(D), EXACT);
                    }
                }
            }
            IntOp::FieldInsert => {
                let [start, length] = [c, d].map(|place| self.shapes.constant(place).map(|place| place as u32 & 0xff));
                let (Some(start @ ..32), Some(length @ 1..)) = (start, length) else {
                    return Err(EmitError::Unsupported);
                };
                let field = u64::from((u32::MAX >> 32u32.saturating_sub(length)) << start);
                self.shift(LEFT, C, x, start);
                self.mask_lanes(C, C, field);
                let y = self.canonicalised(b, Width::B32, part, B)?;
                self.mask_lanes(D, y, !field & 0xffff_ffff);
                self.op3(OR, C, C, Source::Register(D), EXACT);
            }
            IntOp::Permute | IntOp::PermuteMode(_) => {
                let Some(choice) = self.shapes.constant(c) else { return Err(EmitError::Unsupported) };
                let choice = match op {
                    IntOp::PermuteMode(mode) => mode.patterns()[choice as usize & 3],
                    _ => choice,
                };
                let y = self.canonicalised(b, Width::B32, part, B)?;
                self.permute([x, y], choice);
            }
            IntOp::PopCount => self.count_bits(x),
            IntOp::LeadingZeros => {
                self.smear(x);
                self.count_bits(C);
                let all = self.broadcast_constant(32, Width::B32);
                let all = self.load(all, Width::B32, D);
                self.op3(MINUS, C, all, Source::Register(C), EXACT);
            }
            IntOp::FindHighest { sign, shift: false } => {
                let mut x = x;
                if sign == Signedness::Signed {
                    self.shift(SIGNED_RIGHT, C, x, 31);
                    self.op3(XOR, D, C, Source::Register(x), EXACT);
                    x = D;
                }
                self.smear(x);
                self.count_bits(C);
                // Of none it is -1.
                let one = self.broadcast_constant(1, Width::B32);
                self.op3(MINUS, C, C, one, EXACT);
            }
            IntOp::Reverse => {
                self.copy_vector(C, x);
                for (count, lower) in
                    [(16, 0xffff), (8, 0x00ff_00ff), (4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)]
                {
                    self.shift(RIGHT, D, C, count);
                    self.mask_lanes(D, D, lower);
                    self.mask_lanes(C, C, lower);
                    self.shift(LEFT, C, C, count);
                    self.op3(OR, C, C, Source::Register(D), EXACT);
                }
            }
            IntOp::Logic3(table) => {
                let y = self.canonicalised(b, Width::B32, part, B)?;
                let z = self.canonicalised(c, Width::B32, part, E)?;
                self.polynomial(table, [z, y, x]);
            }
            _ => return Err(EmitError::Unsupported),
        }
        Ok(())
    }
    /// `to` becomes some of a number's bits, from one on, extended.
    fn field(&mut self, to: Register, x: Register, (start, length): (u32, u32), sign: Signedness) {
        let down = if sign == Signedness::Signed { SIGNED_RIGHT } else { RIGHT };
        self.shift(LEFT, to, x, 32 - (start + length));
        if length < 32 {
            self.shift(down, to, to, 32 - length);
        }
    }
    /// C becomes a sum of products of parts and of c: of each product where the first factor's bits are, and where the second one's
    /// byte is. Uses D and E.
    fn dot(
        &mut self,
        part: Part,
        (x, first): (Register, Signedness),
        (b, second): (Operand, Signedness),
        c: Operand,
        products: impl Iterator<Item = ((u32, u32), u32)>,
    ) -> EmitResult {
        let y = self.canonicalised(b, Width::B32, part, B)?;
        let sum = self.canonicalised(c, Width::B32, part, C)?;
        self.copy_vector(C, sum);
        for (bits, byte) in products {
            self.field(D, x, bits, first);
            self.field(E, y, (byte, 8), second);
            self.op3(TIMES, D, D, Source::Register(E), EXACT);
            self.op3(PLUS, C, C, Source::Register(D), EXACT);
        }
        Ok(())
    }
    /// C becomes a function of three bits by its table, in which the first one counts 1: the sum modulo 2 of products of some of them. Uses D.
    fn polynomial(&mut self, table: u8, operands: [Register; 3]) {
        // The sum over all subsets of a product's factors says whether the product is a term.
        let is_term = |product: u8| {
            (0..8).filter(|row| row & product == *row).fold(0, |sum, row: u8| sum ^ table >> row & 1) == 1
        };
        let start = self.broadcast_constant(if is_term(0) { u64::MAX } else { 0 }, Width::B32);
        self.load(start, Width::B32, C);
        for product in (1..8).filter(|&product| is_term(product)) {
            let mut factors = (0..3).filter(|factor| product >> factor & 1 == 1).map(|factor| operands[factor]);
            let Some(mut term) = factors.next() else { continue };
            for factor in factors {
                self.op3(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, D, term, Source::Register(factor), EXACT);
                term = D;
            }
            self.op3(XOR, C, C, Source::Register(term), EXACT);
        }
    }
    /// C becomes bytes of two registers, by nibbles that say which: those that go as far in the same direction together. Uses D.
    fn permute(&mut self, from: [Register; 2], choice: u64) {
        let nibble = |place: u64| choice >> (4 * place) & 15;
        let mut terms: Vec<(u64, u64)> = Vec::new();
        for place in 0..4 {
            // How far to the left, or a byte's sign.
            let term = if nibble(place) & 8 == 0 { (place + 4 - (nibble(place) & 3)) << 4 } else { 0 };
            let term = term | if term == 0 { nibble(place) } else { nibble(place) & 4 };
            match terms.iter_mut().find(|(other, _)| *other == term) {
                Some((_, places)) => *places |= 0xff << (8 * place),
                None => terms.push((term, 0xff << (8 * place))),
            }
        }
        for (index, (term, places)) in terms.into_iter().enumerate() {
            let to = if index == 0 { C } else { D };
            let x = from[(term >> 2 & 1) as usize];
            match (term >> 4) as u32 {
                0 => {
                    self.shift(LEFT, to, x, 24 - 8 * (term as u32 & 3));
                    self.shift(SIGNED_RIGHT, to, to, 31);
                }
                4 => self.copy_vector(to, x),
                further @ 5.. => self.shift(LEFT, to, x, 8 * (further - 4)),
                less => self.shift(RIGHT, to, x, 8 * (4 - less)),
            }
            self.mask_lanes(to, to, places);
            if index > 0 {
                self.op3(OR, C, C, Source::Register(D), EXACT);
            }
        }
    }
    /// C becomes a number with ones from its highest bit on. Uses D.
    fn smear(&mut self, x: Register) {
        self.copy_vector(C, x);
        for count in [1, 2, 4, 8, 16] {
            self.shift(RIGHT, D, C, count);
            self.op3(OR, C, C, Source::Register(D), EXACT);
        }
    }
    /// C becomes how many bits of a number are set: of two, four and eight bits side by side, then of all bytes. Uses D.
    fn count_bits(&mut self, x: Register) {
        self.shift(RIGHT, D, x, 1);
        self.mask_lanes(D, D, 0x5555_5555);
        self.op3(MINUS, C, x, Source::Register(D), EXACT);
        self.shift(RIGHT, D, C, 2);
        self.mask_lanes(D, D, 0x3333_3333);
        self.mask_lanes(C, C, 0x3333_3333);
        self.op3(PLUS, C, C, Source::Register(D), EXACT);
        self.shift(RIGHT, D, C, 4);
        self.op3(PLUS, C, C, Source::Register(D), EXACT);
        self.mask_lanes(C, C, 0x0f0f_0f0f);
        let bytes = self.broadcast_constant(0x0101_0101, Width::B32);
        let bytes = self.load(bytes, Width::B32, D);
        self.op3(TIMES, C, C, Source::Register(bytes), EXACT);
        self.shift(RIGHT, C, C, 24);
    }
    /// Operations of several instructions, on vectors whatever the shapes are: a number of the tile is that of its first lane. `None` where
    /// there is no such code.
    pub(super) fn composed_int(&mut self, d: Reg, op: IntOp, width: Width, args: &[Operand; 4]) -> Option<EmitResult> {
        let (bits, operands) = (width.bits(), [args[0], args[1]]);
        Some(match op {
            _ if !matches!(width, Width::B16 | Width::B32) => return None,
            IntOp::Div(sign) => self.divide_integers(d, (false, sign, bits), operands),
            IntOp::Rem(sign) => self.divide_integers(d, (true, sign, bits), operands),
            IntOp::MulHigh(sign) => self.multiply_high(d, (sign, bits), operands),
            IntOp::Abs
            | IntOp::AbsDiff(_)
            | IntOp::FieldExtract(_)
            | IntOp::FieldInsert
            | IntOp::Funnel { .. }
            | IntOp::Logic3(_)
            | IntOp::Permute
            | IntOp::PermuteMode(_)
            | IntOp::PopCount
            | IntOp::LeadingZeros
            | IntOp::FindHighest { .. }
            | IntOp::Reverse
            | IntOp::DotProduct4(..)
            | IntOp::DotProduct2 { .. }
            | IntOp::AddSat
            | IntOp::SubSat
                if width == Width::B32 =>
            {
                self.parts(d).into_iter().try_for_each(|part| {
                    self.composed(op, part, *args)?;
                    self.write_back(d, part, C);
                    Ok(())
                })
            }
            _ => return None,
        })
    }
}
