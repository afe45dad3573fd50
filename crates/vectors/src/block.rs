//! Vectors of one instruction side by side, a column an operand, as the batch evaluation takes them.

use roundonce::Value;
use roundonce::arith::{Elements, Format};
use roundonce::array::PART;
use roundonce::isa::hex_bits;

use crate::instruction::InstructionUnderTest;

/// The value of so many components that begins at one.
pub(crate) fn value_at(elements: &Elements, first: usize, components: usize) -> Value {
    Value::of((first..first + components).map(|at| elements.get(at)))
}

/// Whether a value that begins at one is the same in both.
pub(crate) fn is_same_at(one: &Elements, other: &Elements, first: usize, components: usize) -> bool {
    (first..first + components).all(|at| one.get(at) == other.get(at))
}

/// One vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vector {
    /// The operands, as many as the instruction takes.
    pub operands: Vec<Value>,
    /// The result.
    pub result: Value,
    /// The exceptions, as TestFloat writes them, where the vector has them.
    pub flags: Option<u8>,
}

/// Vectors of one instruction.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Each vector's number in its file, from 1.
    pub(crate) rows: Vec<u64>,
    /// The operands, then the result.
    pub(crate) columns: Vec<Elements>,
    /// The exceptions; empty where the vectors have none.
    pub(crate) flags: Vec<u8>,
}

impl Block {
    /// As many vectors as are evaluated at a time.
    pub(crate) const fn capacity(components: u32) -> usize {
        PART / components as usize
    }
    pub(crate) fn new(tested: &InstructionUnderTest) -> Block {
        let columns = (0..=tested.arity()).map(|column| Elements::of(tested.format(column))).collect();
        Block { rows: Vec::new(), columns, flags: Vec::new() }
    }
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.flags.clear();
        self.columns.iter_mut().for_each(Elements::clear);
    }
    pub(crate) fn push(&mut self, row: u64, vector: &Vector) {
        self.rows.push(row);
        for (column, value) in self.columns.iter_mut().zip(vector.operands.iter().chain([&vector.result])) {
            value.components().iter().for_each(|&bits| column.push(bits));
        }
        self.flags.extend(vector.flags);
    }
    pub(crate) fn vector(&self, index: usize, components: usize) -> Vector {
        let mut values: Vec<Value> =
            self.columns.iter().map(|column| value_at(column, index * components, components)).collect();
        let result = values.pop().unwrap_or(Value::scalar(0));
        Vector { operands: values, result, flags: self.flags.get(index).copied() }
    }
}

/// The components of a packed integer.
pub(crate) fn unpack(format: Format, components: u32, bits: u64) -> Result<Value, String> {
    let width = components * format.width();
    if width < 64 && bits >> width != 0 {
        return Err(format!("{bits:#x} does not fit: it has {} bits, expected {width}", 64 - bits.leading_zeros()));
    }
    // Of more than 64 bits the upper ones are zero.
    let component = |index: u32| bits.checked_shr(index * format.width()).unwrap_or(0) & format.mask();
    Ok(Value::of((0..components).map(component)))
}

/// A packed integer, if it has no more than 64 bits.
pub(crate) fn pack(format: Format, value: &Value) -> u64 {
    value.components().iter().rev().fold(0, |bits, component| bits.checked_shl(format.width()).unwrap_or(0) | component)
}

/// The components of hex digits, `0x` before them or not. All digits are there, a single zero apart: of fewer one may be
/// missing at either end.
pub(crate) fn parse_hex(format: Format, components: u32, text: &str) -> Result<Value, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let expected = || {
        let example = hex_bits(format.width() * components, 0).replacen("0x", "", 1);
        format!("`{text}` is no value: expected {} hex digits", example.len())
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(expected());
    }
    let width = format.width() * components;
    if digits.len() < width.div_ceil(4) as usize && digits != "0" {
        return Err(format!(
            "`{text}` has too few digits for {width} bits: {} are there, {} are expected",
            digits.len(),
            width.div_ceil(4)
        ));
    }
    if digits.len() <= 16
        && let Ok(bits) = u64::from_str_radix(digits, 16)
    {
        return unpack(format, components, bits);
    }
    let parsed = roundonce::isa::parse_value(format, components, &format!("0x{digits}")).map_err(|_| expected())?;
    Ok(parsed.value)
}
