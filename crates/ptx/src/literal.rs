//! What the bits of a number are, and of a constant expression.
//!
//! As the assembler works: integers have 64 bits, signed unless they say or need otherwise; a decimal is rounded to
//! `f64` first, whatever will be made of it; only where it is used is it rounded again to `f32`. Both roundings are
//! to nearest even, and both are real: 1.00000005960464477540 becomes 1.0.

use crate::ast::{Binary, Cast, Module, Operand, OperandKind, Operands, Unary};
use roundonce_arith::{ArithOp, Format, Operation, Profile, Rounding};
use roundonce_isa::{Finding, Location, convert, parse_number};

/// An integer literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Integer {
    /// Its bits.
    pub bits: u64,
    /// Whether it is a `.u64`: marked `U`, or too large for a `.s64`.
    pub unsigned: bool,
}

/// Reads `42`, `0x2a`, `052`, `0b101010`, each with a `U` behind it or none; nothing if the text is no integer or has
/// more than 64 bits.
///
/// ```
/// use roundonce_ptx::literal::integer;
/// assert_eq!(integer("0b101010").unwrap().bits, 42);
/// assert!(integer("052U").unwrap().unsigned);
/// assert_eq!(integer("1.0"), None);
/// ```
pub fn integer(text: &str) -> Option<Integer> {
    let digits = text.strip_suffix('U').unwrap_or(text);
    let prefixed = |marks: [&str; 2]| marks.into_iter().find_map(|mark| digits.strip_prefix(mark));
    let (digits, radix) = if let Some(hexadecimal) = prefixed(["0x", "0X"]) {
        (hexadecimal, 16)
    } else if let Some(binary) = prefixed(["0b", "0B"]) {
        (binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (digits, 8)
    } else {
        (digits, 10)
    };
    if digits.starts_with('+') {
        return None;
    }
    let bits = u64::from_str_radix(digits, radix).ok()?;
    Some(Integer { bits, unsigned: text.ends_with('U') || bits > i64::MAX as u64 })
}

/// The value of a constant expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    /// A `.s64`, or what a comparison gives.
    Signed(i64),
    /// A `.u64`.
    Unsigned(u64),
    /// The bits of an `f64`: a decimal or `0d…`.
    Double(u64),
    /// The bits of an `f32`, `0f…`, which are never converted.
    Single(u32),
}

impl Constant {
    /// The bits it has as a value of a type (`.f32`, `.b64`, `.s16` …), or nothing where the type does not take it.
    ///
    /// Integers are cut to the type's width. A `Double` is rounded to the width of `.f32`. A `Single` in a 64-bit
    /// type is zero-extended, not converted: the assembler does the same.
    pub fn bits_as(self, ty: &str) -> Option<u64> {
        let kind = ty.trim_start_matches('.');
        let width: u32 = kind.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
        let mask = if width >= 64 { u64::MAX } else { (1u64 << width) - 1 };
        match (self, kind.as_bytes().first()?, width) {
            (Constant::Signed(value), b'b' | b'u' | b's', 1..=64) if kind != "bf16" => Some(value as u64 & mask),
            (Constant::Unsigned(value), b'b' | b'u' | b's', 1..=64) if kind != "bf16" => Some(value & mask),
            (Constant::Double(bits), b'f' | b'b', 64) => Some(bits),
            (Constant::Double(bits), b'f' | b'b', 32) => {
                Some(convert(Format::F64, Format::F32, Rounding::NearestEven, bits).0)
            }
            (Constant::Single(bits), b'f' | b'b', 32 | 64) => Some(u64::from(bits)),
            _ => None,
        }
    }

    /// As an `f64`'s bits, where it is a floating constant.
    fn double(self) -> Option<u64> {
        match self {
            Constant::Double(bits) => Some(bits),
            _ => None,
        }
    }
    const fn is_floating(self) -> bool {
        matches!(self, Constant::Double(_) | Constant::Single(_))
    }
    /// An integer that is not negative.
    pub(crate) fn natural(self) -> Option<u64> {
        match self {
            Constant::Signed(value) => u64::try_from(value).ok(),
            Constant::Unsigned(value) => Some(value),
            Constant::Double(_) | Constant::Single(_) => None,
        }
    }
    fn truth(self) -> Option<bool> {
        match self {
            Constant::Signed(value) => Some(value != 0),
            Constant::Unsigned(value) => Some(value != 0),
            Constant::Double(_) | Constant::Single(_) => None,
        }
    }
}

/// The bits that an immediate has in an operand of a type.
///
/// # Errors
/// The error, as a syntax finding or one of `PTX0006` (too large), `PTX0007` (no value) and `PTX0027` (the
/// type does not take it), placed in `text`.
///
/// ```
/// use roundonce_ptx::literal::bits;
/// assert_eq!(bits(".f32", "0f3FC00000").unwrap(), 0x3fc0_0000);
/// assert_eq!(bits(".f32", "1.0 + 2.0").unwrap(), 0x4040_0000);
/// assert_eq!(bits(".f64", "0f3F800000").unwrap(), 0x3f80_0000); // raw bits, not 1.0
/// assert_eq!(bits(".f32", "1").unwrap_err().code, "PTX0027");
/// ```
pub fn bits(ty: &str, text: &str) -> Result<u64, Finding> {
    let (module, operand) = crate::parser::parse_operand(text)?;
    let constant = evaluate(&module, &operand)?;
    constant.bits_as(ty).ok_or_else(|| {
        Finding::error("PTX0027", operand.span.place(), format!("`{text}` is no value of type `{ty}`"))
            .rule("PTX ISA, 4.5 constants")
    })
}

/// What `WARP_SZ` is.
pub(crate) const WARP_SIZE: u32 = 32;

/// What memory may be aligned to at most.
pub(crate) const LARGEST_ALIGNMENT: u64 = 1 << 23;

/// The value of a constant alignment: a power of two.
pub(crate) fn alignment(module: &Module, operand: &Operand) -> Option<u64> {
    let bits = evaluate(module, operand).ok()?.bits_as(".u64")?;
    (bits.is_power_of_two() && bits <= LARGEST_ALIGNMENT).then_some(bits)
}

/// Works a constant expression out.
///
/// # Errors
/// `PTX0006` where a number is too large, `PTX0007` where the expression has no value: a name in it, a division by
/// zero, an operator that does not take its operands.
pub fn evaluate(module: &Module, operand: &Operand) -> Result<Constant, Finding> {
    // The parser bounds the depth of what it accepts; so the recursion is bounded here.
    let at = |id| evaluate(module, module.operand(id));
    let fails = |message: String| {
        Finding::error("PTX0007", operand.span.place(), message).rule("PTX ISA, 4.5 constants and constant expressions")
    };
    match operand.kind {
        OperandKind::Number(text) => number(text, operand.span.place()),
        OperandKind::Name("WARP_SZ") => Ok(Constant::Signed(WARP_SIZE.into())),
        OperandKind::Group(inner) => at(inner),
        OperandKind::Cast(cast, inner) => match (cast, at(inner)?) {
            (Cast::S64, Constant::Unsigned(value)) => Ok(Constant::Signed(value as i64)),
            (Cast::U64, Constant::Signed(value)) => Ok(Constant::Unsigned(value as u64)),
            (_, value) if !value.is_floating() => Ok(value),
            _ => Err(fails(format!("`({})` of a floating constant: expected an integer", cast.text()))),
        },
        OperandKind::Unary(unary, inner) => apply_unary(unary, at(inner)?)
            .ok_or_else(|| fails(format!("`{}` does not take a floating constant: expected an integer", unary.text()))),
        OperandKind::Binary(binary, items) => {
            let [left, right] = both(module, items).ok_or_else(|| fails("an operand is missing".to_owned()))?;
            apply_binary(binary, evaluate(module, left)?, evaluate(module, right)?).map_err(fails)
        }
        OperandKind::Choose(items) => match module.operands(items) {
            [condition, then, otherwise] => {
                let truth = evaluate(module, condition)?.truth();
                let (then, otherwise) = (evaluate(module, then)?, evaluate(module, otherwise)?);
                if truth.is_none() || then.is_floating() || otherwise.is_floating() {
                    return Err(fails("`? :` chooses between integers: found a floating constant".to_owned()));
                }
                Ok(if truth == Some(true) { then } else { otherwise })
            }
            _ => Err(fails("an operand is missing".to_owned())),
        },
        _ => Err(fails("this is not a constant: expected a number or an expression of numbers".to_owned())),
    }
}

fn both<'m, 'a>(module: &'m Module<'a>, items: Operands) -> Option<[&'m Operand<'a>; 2]> {
    match module.operands(items) {
        [left, right] => Some([left, right]),
        _ => None,
    }
}

fn number(text: &str, place: Location) -> Result<Constant, Finding> {
    let too_large = |what: &str| {
        Finding::error("PTX0006", place, format!("`{text}` is too large: expected {what}"))
            .rule("PTX ISA, 4.5 constants")
    };
    let raw = |digits: usize, marks: [&str; 2]| {
        let hexadecimal = marks.into_iter().find_map(|mark| text.strip_prefix(mark))?;
        (hexadecimal.len() == digits).then(|| u64::from_str_radix(hexadecimal, 16).ok()).flatten()
    };
    if let Some(bits) = raw(8, ["0f", "0F"]) {
        return Ok(Constant::Single(bits as u32));
    }
    if let Some(bits) = raw(16, ["0d", "0D"]) {
        return Ok(Constant::Double(bits));
    }
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if !hexadecimal && text.contains(['.', 'e', 'E']) {
        let value = parse_number(Format::F64, text)
            .ok_or_else(|| Finding::error("PTX0007", place, format!("`{text}` is not a number")))?;
        if value.bits == Format::F64.infinity() {
            return Err(too_large("a number that fits an f64, at most 1.7976931348623157e308"));
        }
        // The assembler's reading of decimals reports any loss at the small end as it does at the large one.
        let tiny = value.bits == 0 && !value.exact || Format::F64.is_subnormal(value.bits);
        if tiny {
            return Err(too_small(text, place));
        }
        return Ok(Constant::Double(value.bits));
    }
    match integer(text) {
        Some(Integer { bits, unsigned: true }) => Ok(Constant::Unsigned(bits)),
        Some(Integer { bits, unsigned: false }) => Ok(Constant::Signed(bits as i64)),
        None => Err(too_large("at most 64 bits")),
    }
}

fn too_small(text: &str, place: Location) -> Finding {
    Finding::error(
        "PTX0006",
        place,
        format!("`{text}` is too small: expected 0 or a magnitude of at least 2.2250738585072014e-308"),
    )
    .rule("PTX ISA, 4.5 constants")
    .help("write its bits, `0d…`")
}

fn apply_unary(unary: Unary, value: Constant) -> Option<Constant> {
    Some(match (unary, value) {
        (Unary::Plus, value) => value,
        (Unary::Minus, Constant::Signed(value)) => Constant::Signed(value.wrapping_neg()),
        (Unary::Minus, Constant::Unsigned(value)) => Constant::Unsigned(value.wrapping_neg()),
        (Unary::Minus, Constant::Double(bits)) => Constant::Double(bits ^ Format::F64.sign_mask()),
        (Unary::Minus, Constant::Single(bits)) => Constant::Single(bits ^ Format::F32.sign_mask() as u32),
        (Unary::Not, value) => Constant::Signed(i64::from(!value.truth()?)),
        (Unary::Complement, Constant::Signed(value)) => Constant::Signed(!value),
        (Unary::Complement, Constant::Unsigned(value)) => Constant::Unsigned(!value),
        (Unary::Complement, _) => return None,
    })
}

fn apply_binary(binary: Binary, left: Constant, right: Constant) -> Result<Constant, String> {
    if left.is_floating() || right.is_floating() {
        let (Some(a), Some(b)) = (left.double(), right.double()) else {
            return Err(format!("`{}` between an integer and a floating constant: expected one kind", binary.text()));
        };
        return floating(binary, a, b);
    }
    let wide = |constant| match constant {
        Constant::Signed(value) => (value as u64, false),
        Constant::Unsigned(value) => (value, true),
        Constant::Double(bits) => (bits, true),
        Constant::Single(bits) => (u64::from(bits), true),
    };
    let ((a, a_unsigned), (b, b_unsigned)) = (wide(left), wide(right));
    let unsigned = match binary {
        // A shift has its left operand's type.
        Binary::ShiftLeft | Binary::ShiftRight => a_unsigned,
        _ => a_unsigned || b_unsigned,
    };
    let (signed_a, signed_b) = (a as i64, b as i64);
    let truth = |holds: bool| Ok(Constant::Signed(i64::from(holds)));
    let order = if unsigned { a.cmp(&b) } else { signed_a.cmp(&signed_b) };
    let bits = match binary {
        Binary::Multiply => a.wrapping_mul(b),
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Divide | Binary::Remainder if b == 0 => return Err("a division by zero has no value".to_owned()),
        Binary::Divide if unsigned => a / b,
        Binary::Divide => signed_a.wrapping_div(signed_b) as u64,
        Binary::Remainder if unsigned => a % b,
        Binary::Remainder => signed_a.wrapping_rem(signed_b) as u64,
        // A count of 64 or more shifts everything out.
        Binary::ShiftLeft => u32::try_from(b).ok().and_then(|count| a.checked_shl(count)).unwrap_or(0),
        Binary::ShiftRight if unsigned => u32::try_from(b).ok().and_then(|count| a.checked_shr(count)).unwrap_or(0),
        Binary::ShiftRight => (signed_a >> b.min(63)) as u64,
        Binary::BitAnd => a & b,
        Binary::BitXor => a ^ b,
        Binary::BitOr => a | b,
        Binary::Less => return truth(order.is_lt()),
        Binary::LessEqual => return truth(order.is_le()),
        Binary::Greater => return truth(order.is_gt()),
        Binary::GreaterEqual => return truth(order.is_ge()),
        Binary::Equal => return truth(a == b),
        Binary::NotEqual => return truth(a != b),
        Binary::And => return truth(a != 0 && b != 0),
        Binary::Or => return truth(a != 0 || b != 0),
    };
    Ok(if unsigned { Constant::Unsigned(bits) } else { Constant::Signed(bits as i64) })
}

/// Between two f64: rounded once to nearest even, by the project's arithmetic where it has the operation.
fn floating(binary: Binary, a: u64, b: u64) -> Result<Constant, String> {
    let eval = |kind, b| {
        let operation = Operation::new(kind, Format::F64, Rounding::NearestEven);
        Ok(Constant::Double(operation.evaluate(&Profile::default(), &[a, b]).bits))
    };
    let (host_a, host_b) = (f64::from_bits(a), f64::from_bits(b));
    let truth = |holds: bool| Ok(Constant::Signed(i64::from(holds)));
    match binary {
        Binary::Add => eval(ArithOp::Add, b),
        Binary::Subtract => eval(ArithOp::Add, b ^ Format::F64.sign_mask()),
        Binary::Multiply => eval(ArithOp::Mul, b),
        // IEEE division of f64 is exact in its rounding on every host.
        Binary::Divide => Ok(Constant::Double((host_a / host_b).to_bits())),
        Binary::Less => truth(host_a < host_b),
        Binary::LessEqual => truth(host_a <= host_b),
        Binary::Greater => truth(host_a > host_b),
        Binary::GreaterEqual => truth(host_a >= host_b),
        Binary::Equal => truth(host_a == host_b),
        Binary::NotEqual => truth(host_a != host_b),
        _ => Err(format!("`{}` does not take floating constants: expected integers", binary.text())),
    }
}
