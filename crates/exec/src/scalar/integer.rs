//! Integers.

use roundonce_ir::{IntOp, PermuteMode, Signedness};

/// The low `bits` of a value as a signed number.
#[inline(always)]
pub const fn sign_extend(value: u64, bits: u32) -> i64 {
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

const fn is_signed(sign: Signedness) -> bool {
    matches!(sign, Signedness::Signed)
}

/// An integer operation on operands of `bits` bits (1 for predicates); unused operands are ignored, and so are bits
/// above. The result is as wide as [`IntOp::result_width`] says, zeros above.
///
/// ```
/// use roundonce_exec::scalar::int_op;
/// use roundonce_ir::{IntOp, Signedness};
/// assert_eq!(int_op(IntOp::MulHigh(Signedness::Signed), 32, [0xffff_ffff, 2, 0, 0]), 0xffff_ffff);
/// ```
#[inline(never)] // Large; loops over one operation take `int_op_inline`.
pub fn int_op(op: IntOp, bits: u32, args: [u64; 4]) -> u64 {
    int_op_inline(op, bits, args)
}

/// The same for an operation known where it is compiled.
#[inline(always)]
pub(crate) fn int_op_inline(op: IntOp, bits: u32, [a, b, c, d]: [u64; 4]) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let signed = |value: u64| sign_extend(value, bits);
    let (ua, ub) = (a & mask, b & mask);
    // The operands as numbers, by signedness, in more bits than any product needs.
    let number =
        |value: u64, sign: Signedness| if is_signed(sign) { signed(value) as i128 } else { (value & mask) as i128 };
    let highest = mask >> 1;
    let result = match op {
        IntOp::Add => a.wrapping_add(b),
        IntOp::Sub => a.wrapping_sub(b),
        IntOp::Mul => a.wrapping_mul(b),
        IntOp::MulAdd => a.wrapping_mul(b).wrapping_add(c),
        IntOp::MulHigh(sign) => ((number(a, sign).wrapping_mul(number(b, sign))) >> bits) as u64,
        IntOp::MulWide(sign) => {
            let wide = wide_product(sign, bits, a, b);
            return if bits >= 32 { wide } else { wide & 0xffff_ffff };
        }
        IntOp::MulAddWide(sign) => {
            let wide = wide_product(sign, bits, a, b).wrapping_add(c);
            return if bits >= 32 { wide } else { wide & 0xffff_ffff };
        }
        IntOp::Div(_) | IntOp::Rem(_) if ub == 0 => mask,
        IntOp::Div(Signedness::Unsigned) => ua / ub,
        IntOp::Rem(Signedness::Unsigned) => ua % ub,
        IntOp::Div(Signedness::Signed) => signed(a).wrapping_div(signed(b)) as u64,
        IntOp::Rem(Signedness::Signed) => signed(a).wrapping_rem(signed(b)) as u64,
        IntOp::Min(Signedness::Unsigned) => ua.min(ub),
        IntOp::Max(Signedness::Unsigned) => ua.max(ub),
        IntOp::Min(Signedness::Signed) => signed(a).min(signed(b)) as u64,
        IntOp::Max(Signedness::Signed) => signed(a).max(signed(b)) as u64,
        IntOp::AddSat | IntOp::SubSat => {
            let (x, y) = (signed(a) as i128, signed(b) as i128);
            let exact = if op == IntOp::AddSat { x + y } else { x - y };
            exact.clamp(-(highest as i128) - 1, highest as i128) as u64
        }
        IntOp::Abs => signed(a).unsigned_abs(),
        IntOp::Neg => a.wrapping_neg(),
        IntOp::AbsDiff(sign) => (number(a, sign) - number(b, sign)).unsigned_abs().wrapping_add(c as u128) as u64,
        IntOp::And => a & b,
        IntOp::Or => a | b,
        IntOp::Xor => a ^ b,
        IntOp::Not => !a,
        IntOp::IsZero => (ua == 0) as u64,
        IntOp::Shl => shift_left(a, b, bits),
        IntOp::Shr(Signedness::Unsigned) => shift_right(ua, b, bits),
        IntOp::Shr(Signedness::Signed) => (signed(a) >> (b & 0xffff_ffff).min(bits as u64 - 1)) as u64,
        IntOp::Funnel { left, clamp } => {
            let both = (b & mask) << 32 | ua;
            let count = if clamp { (c & 0xffff_ffff).min(32) } else { c & 31 };
            if left { (both << count) >> 32 } else { both >> count }
        }
        IntOp::LeadingZeros => return (ua.leading_zeros() - (64 - bits)) as u64,
        IntOp::PopCount => return ua.count_ones() as u64,
        IntOp::Reverse => ua.reverse_bits() >> (64 - bits),
        IntOp::FindHighest { sign, shift } => return find_highest(ua, bits, is_signed(sign), shift),
        IntOp::FieldExtract(sign) => {
            field_extract(ua, place_in_field(b, bits), place_in_field(c, bits), bits, is_signed(sign))
        }
        IntOp::FieldInsert => field_insert(ua, ub, place_in_field(c, bits), place_in_field(d, bits), bits),
        IntOp::Permute => permute((ub << 32) | ua, c),
        IntOp::PermuteMode(mode) => permute((ub << 32) | ua, pattern(mode, c & 3)),
        IntOp::Logic3(table) => logic3(table, a, b, c),
        IntOp::DotProduct4(sa, sb) => dot4(a, b, c, is_signed(sa), is_signed(sb)),
        IntOp::DotProduct2 { a: sa, b: sb, high } => dot2(a, b, c, is_signed(sa), is_signed(sb), high),
        IntOp::Mask { clamp } => bit_mask(a & 0xffff_ffff, b & 0xffff_ffff, clamp),
        IntOp::FindNth => find_nth(ua, b & 0xffff_ffff, c & 0xffff_ffff),
    };
    result & mask
}

/// 64-bit operands are not widened: their whole product has no register.
#[inline(always)]
fn wide_product(sign: Signedness, bits: u32, a: u64, b: u64) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    match sign {
        Signedness::Unsigned => (a & mask).wrapping_mul(b & mask),
        Signedness::Signed => sign_extend(a, bits).wrapping_mul(sign_extend(b, bits)) as u64,
    }
}

#[inline(always)]
fn shift_left(a: u64, count: u64, bits: u32) -> u64 {
    let count = count & 0xffff_ffff;
    if count < bits as u64 { a << count } else { 0 }
}

#[inline(always)]
fn shift_right(a: u64, count: u64, bits: u32) -> u64 {
    let count = count & 0xffff_ffff;
    if count < bits as u64 { a >> count } else { 0 }
}

fn find_highest(a: u64, bits: u32, signed: bool, shift: bool) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let value = if signed && a >> (bits - 1) & 1 == 1 { !a & mask } else { a };
    if value == 0 {
        return 0xffff_ffff;
    }
    let place = 63 - value.leading_zeros();
    (if shift { bits - 1 - place } else { place }) as u64
}

/// A place or a length of a field. Of 32 bits and fewer eight bits count, as the manual says; of 64 bits the assembler shifts by
/// the whole number, with nothing left beyond the end (measured on sm_90).
#[inline(always)]
fn place_in_field(number: u64, bits: u32) -> u64 {
    if bits == 64 { (number & 0xffff_ffff).min(255) } else { number & 0xff }
}

/// PTX `bfe`: bits past the end are the sign (of the last bit taken, or the top bit).
fn field_extract(a: u64, start: u64, length: u64, bits: u32, signed: bool) -> u64 {
    let top = bits as u64 - 1;
    let sign = if signed && length > 0 { a >> (start + length - 1).min(top) & 1 == 1 } else { false };
    let field = if start > top { 0 } else { a >> start };
    let available = (bits as u64).saturating_sub(start).min(length);
    let kept = if available == 0 { 0 } else { field & (u64::MAX >> (64 - available)) };
    if sign && available < 64 { kept | (u64::MAX << available) } else { kept }
}

/// PTX `bfi`.
fn field_insert(a: u64, b: u64, start: u64, length: u64, bits: u32) -> u64 {
    if start >= bits as u64 || length == 0 {
        return b;
    }
    let field = (u64::MAX >> (64 - length.min(64))) << start;
    (b & !field) | ((a << start) & field)
}

/// PTX `prmt`: four bytes of eight by nibbles, the nibble's top bit spreading the byte's sign.
fn permute(source: u64, selection: u64) -> u64 {
    (0..4).fold(0, |result, place| {
        let nibble = selection >> (4 * place) & 15;
        let byte = source >> (8 * (nibble & 7)) & 0xff;
        let byte = if nibble & 8 == 0 { byte } else { (byte >> 7) * 0xff };
        result | byte << (8 * place)
    })
}

/// The nibbles of `prmt`'s modes.
fn pattern(mode: PermuteMode, count: u64) -> u64 {
    mode.patterns()[count as usize & 3]
}

#[inline(always)]
fn logic3(table: u8, a: u64, b: u64, c: u64) -> u64 {
    (0..8).fold(0, |result, row: u32| {
        let term = |value: u64, bit: u32| if row >> bit & 1 == 1 { value } else { !value };
        let here = (table as u64 >> row & 1).wrapping_neg();
        result | (here & term(a, 2) & term(b, 1) & term(c, 0))
    })
}

fn piece(value: u64, place: u32, bits: u32, signed: bool) -> i64 {
    let piece = value >> (place * bits) & ((1 << bits) - 1);
    if signed { sign_extend(piece, bits) } else { piece as i64 }
}

fn dot4(a: u64, b: u64, c: u64, signed_a: bool, signed_b: bool) -> u64 {
    (0..4).fold(c, |sum, place| sum.wrapping_add((piece(a, place, 8, signed_a) * piece(b, place, 8, signed_b)) as u64))
}

fn dot2(a: u64, b: u64, c: u64, signed_a: bool, signed_b: bool, high: bool) -> u64 {
    let first = if high { 2 } else { 0 };
    (0..2).fold(c, |sum, place| {
        sum.wrapping_add((piece(a, place, 16, signed_a) * piece(b, place + first, 8, signed_b)) as u64)
    })
}

/// PTX `bmsk`.
fn bit_mask(start: u64, length: u64, clamp: bool) -> u64 {
    let (start, length) = if clamp { (start.min(32), length.min(32)) } else { (start & 31, length & 31) };
    ((1u64 << length) - 1) << start
}

/// PTX `fns`: `offset` counts set bits from place `base`, upward if positive, downward if negative.
fn find_nth(mask: u64, base: u64, offset: u64) -> u64 {
    let offset = offset as u32 as i32;
    // Measured on sm_90: the least offset has no opposite, and no place is behind the last.
    if offset == i32::MIN {
        return 0;
    }
    if base > 31 {
        return 0xffff_ffff;
    }
    if offset == 0 {
        return if mask >> base & 1 == 1 { base } else { 0xffff_ffff };
    }
    let places: Vec<u64> = if offset > 0 { (base..32).collect() } else { (0..=base).rev().collect() };
    let wanted = offset.unsigned_abs() as usize - 1;
    places.into_iter().filter(|place| mask >> place & 1 == 1).nth(wanted).unwrap_or(0xffff_ffff)
}

/// a + b + carry, or a − b − borrow: the result and the carry (or borrow) out.
#[inline(always)]
pub fn carry(subtract: bool, bits: u32, a: u64, b: u64, carry_in: bool) -> (u64, bool) {
    let mask = u64::MAX >> (64 - bits);
    let (a, b) = ((a & mask) as u128, (b & mask) as u128);
    let exact = if subtract { a.wrapping_sub(b).wrapping_sub(carry_in as u128) } else { a + b + carry_in as u128 };
    (exact as u64 & mask, exact >> bits & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_at_the_edges() {
        assert_eq!(field_extract(0x8000_0000, 31, 4, 32, true) & 0xffff_ffff, 0xffff_ffff);
        assert_eq!(field_extract(0xf0, 4, 4, 32, false), 0xf);
        assert_eq!(field_extract(0xf0, 4, 0, 32, true), 0);
        assert_eq!(field_extract(0x8000_0000, 40, 4, 32, true) & 0xffff_ffff, 0xffff_ffff);
        assert_eq!(field_insert(0xff, 0, 28, 8, 32) & 0xffff_ffff, 0xf000_0000);
        assert_eq!(permute(0x7766_5544_8322_1100, 0xb321), 0xff83_2211);
    }

    #[test]
    fn carries() {
        assert_eq!(carry(false, 32, 0xffff_ffff, 0, true), (0, true));
        assert_eq!(carry(true, 64, 0, 0, true), (u64::MAX, true));
        assert_eq!(carry(true, 32, 5, 3, true), (1, false));
    }

    #[test]
    fn highs() {
        assert_eq!(int_op(IntOp::MulHigh(Signedness::Unsigned), 64, [u64::MAX, u64::MAX, 0, 0]), u64::MAX - 1);
        assert_eq!(int_op(IntOp::MulHigh(Signedness::Signed), 64, [u64::MAX, u64::MAX, 0, 0]), 0);
        assert_eq!(int_op(IntOp::Div(Signedness::Signed), 32, [0x8000_0000, 0xffff_ffff, 0, 0]), 0x8000_0000);
        assert_eq!(int_op(IntOp::Not, 1, [1, 0, 0, 0]), 0);
    }
}
