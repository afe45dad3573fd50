//! Integers, the long way: exact numbers in 128 bits, cut at the end.

use roundonce_ir::{IntOp, Signedness};

fn number(value: u64, bits: u32, sign: Signedness) -> i128 {
    let low = (value as u128 & ((1u128 << bits) - 1)) as i128;
    if sign == Signedness::Signed && low >> (bits - 1) & 1 == 1 { low - (1i128 << bits) } else { low }
}

/// A place or a length of a field: eight bits of it, and of 64 bits all that a shift has.
fn place(number: u64, bits: u32) -> u64 {
    let number = number & 0xffff_ffff;
    if bits == 64 { number.min(128) } else { number % 256 }
}

/// An operation on operands of `bits` bits.
///
/// # Panics
/// On operations that the generator does not write.
pub(crate) fn int(op: IntOp, bits: u32, [a, b, c, d]: [u64; 4]) -> u64 {
    let (x, y, z) = (
        number(a, bits, Signedness::Unsigned),
        number(b, bits, Signedness::Unsigned),
        number(c, bits, Signedness::Unsigned),
    );
    let cut = |value: i128, bits: u32| (value as u128 & ((1u128 << bits) - 1)) as u64;
    let count = (b & 0xffff_ffff) as u32;
    let wide = if bits == 16 { 32 } else { 64 };
    let exact = match op {
        IntOp::Add => x + y,
        IntOp::Sub => x - y,
        IntOp::Mul => x.wrapping_mul(y),
        IntOp::MulAdd => x.wrapping_mul(y).wrapping_add(z),
        IntOp::MulHigh(Signedness::Unsigned) => ((x as u128).wrapping_mul(y as u128) >> bits) as i128,
        IntOp::MulHigh(sign) => (number(a, bits, sign) * number(b, bits, sign)) >> bits,
        IntOp::MulWide(sign) => return cut(number(a, bits, sign) * number(b, bits, sign), wide),
        IntOp::MulAddWide(sign) => {
            return cut(number(a, bits, sign) * number(b, bits, sign) + c as i128, wide);
        }
        IntOp::Div(_) | IntOp::Rem(_) if y == 0 => -1,
        IntOp::Div(sign) => number(a, bits, sign) / number(b, bits, sign),
        IntOp::Rem(sign) => number(a, bits, sign) % number(b, bits, sign),
        IntOp::Min(sign) => number(a, bits, sign).min(number(b, bits, sign)),
        IntOp::Max(sign) => number(a, bits, sign).max(number(b, bits, sign)),
        IntOp::AddSat | IntOp::SubSat => {
            let (x, y) = (number(a, bits, Signedness::Signed), number(b, bits, Signedness::Signed));
            let sum = if op == IntOp::AddSat { x + y } else { x - y };
            sum.clamp(-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        }
        IntOp::Abs => number(a, bits, Signedness::Signed).abs(),
        IntOp::Neg => -x,
        IntOp::AbsDiff(sign) => (number(a, bits, sign) - number(b, bits, sign)).abs() + z,
        IntOp::And => x & y,
        IntOp::Or => x | y,
        IntOp::Xor => x ^ y,
        IntOp::Not => -1 - x,
        IntOp::IsZero => (x == 0) as i128,
        IntOp::Shl => {
            if count >= bits {
                0
            } else {
                x << count
            }
        }
        IntOp::Shr(sign) => number(a, bits, sign) >> count.min(bits),
        IntOp::LeadingZeros => return (0..bits).take_while(|place| x >> (bits - 1 - place) & 1 == 0).count() as u64,
        IntOp::PopCount => return (0..bits).filter(|place| x >> place & 1 == 1).count() as u64,
        IntOp::Reverse => (0..bits).fold(0, |all, place| all << 1 | (x >> place & 1)),
        IntOp::Logic3(table) => (0..bits).fold(0, |all, place| {
            let row = (x >> place & 1) << 2 | (y >> place & 1) << 1 | (z >> place & 1);
            all | ((table as i128) >> row & 1) << place
        }),
        IntOp::FieldExtract(sign) => {
            let (start, length) = (place(b, bits), place(c, bits));
            let top = u64::from(bits) - 1;
            let fill =
                if sign == Signedness::Unsigned || length == 0 { 0 } else { x >> (start + length - 1).min(top) & 1 };
            (0..u64::from(bits)).fold(0, |all, place| {
                let from = start + place;
                let bit = if place < length && from <= top { x >> from & 1 } else { fill };
                all | bit << place
            })
        }
        IntOp::FieldInsert => {
            let (start, length) = (place(c, bits), place(d, bits));
            (0..length).fold(y, |all, place| {
                let to = start + place;
                if to >= u64::from(bits) {
                    all
                } else {
                    (all & !(1 << to)) | (if place < 64 { x >> place & 1 } else { 0 }) << to
                }
            })
        }
        IntOp::Permute => (0..4).fold(0, |all, place| {
            let nibble = c >> (4 * place) & 15;
            let byte = ((y << 32 | x) >> (8 * (nibble & 7))) & 255;
            let byte = if nibble & 8 == 0 {
                byte
            } else if byte >= 128 {
                255
            } else {
                0
            };
            all | byte << (8 * place)
        }),
        IntOp::Funnel { left, clamp } => {
            let count = if clamp { (c & 0xffff_ffff).min(32) } else { c & 31 };
            let both = y << 32 | x;
            if left { both << count >> 32 } else { both >> count }
        }
        other => panic!("the judge does not know {other:?}"),
    };
    cut(exact, bits)
}
