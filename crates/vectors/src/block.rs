//! Vectors of one instruction side by side, a column an operand, as the batch evaluation takes them.

use roundonce::Value;
use roundonce::arith::Format;
use roundonce::array::{Operand, PART, Results};
use roundonce::isa::hex_bits;

use crate::instruction::InstructionUnderTest;

/// Components of one width, as bits; those of a packed value follow one another, the lowest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Lanes {
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Lanes {
    pub(crate) fn of(format: Format) -> Lanes {
        match format.width() {
            16 => Lanes::U16(Vec::new()),
            32 => Lanes::U32(Vec::new()),
            _ => Lanes::U64(Vec::new()),
        }
    }
    pub(crate) fn len(&self) -> usize {
        match self {
            Lanes::U16(all) => all.len(),
            Lanes::U32(all) => all.len(),
            Lanes::U64(all) => all.len(),
        }
    }
    pub(crate) fn get(&self, index: usize) -> u64 {
        match self {
            Lanes::U16(all) => all[index].into(),
            Lanes::U32(all) => all[index].into(),
            Lanes::U64(all) => all[index],
        }
    }
    pub(crate) fn push(&mut self, bits: u64) {
        match self {
            Lanes::U16(all) => all.push(bits as u16),
            Lanes::U32(all) => all.push(bits as u32),
            Lanes::U64(all) => all.push(bits),
        }
    }
    /// The same component again and again.
    pub(crate) fn fill(&mut self, bits: u64, count: usize) {
        match self {
            Lanes::U16(all) => all.extend(std::iter::repeat_n(bits as u16, count)),
            Lanes::U32(all) => all.extend(std::iter::repeat_n(bits as u32, count)),
            Lanes::U64(all) => all.extend(std::iter::repeat_n(bits, count)),
        }
    }
    pub(crate) fn clear(&mut self) {
        match self {
            Lanes::U16(all) => all.clear(),
            Lanes::U32(all) => all.clear(),
            Lanes::U64(all) => all.clear(),
        }
    }
    /// The value of `lanes` components that begins at one.
    pub(crate) fn value(&self, first: usize, lanes: usize) -> Value {
        Value::of((first..first + lanes).map(|at| self.get(at)))
    }
    /// Whether a value that begins at one is the same in both.
    pub(crate) fn same(&self, other: &Lanes, first: usize, lanes: usize) -> bool {
        (first..first + lanes).all(|at| self.get(at) == other.get(at))
    }
    pub(crate) fn operand(&self) -> Operand<'_> {
        match self {
            Lanes::U16(all) => Operand::U16(all),
            Lanes::U32(all) => Operand::U32(all),
            Lanes::U64(all) => Operand::U64(all),
        }
    }
    /// Room for so many results.
    pub(crate) fn results(&mut self, count: usize) -> Results<'_> {
        fn sized<T: Copy + Default>(all: &mut Vec<T>, count: usize) -> &mut [T] {
            all.resize(count, T::default());
            all
        }
        match self {
            Lanes::U16(all) => Results::U16(sized(all, count)),
            Lanes::U32(all) => Results::U32(sized(all, count)),
            Lanes::U64(all) => Results::U64(sized(all, count)),
        }
    }
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
    pub(crate) columns: Vec<Lanes>,
    /// The exceptions; empty where the vectors have none.
    pub(crate) flags: Vec<u8>,
}

impl Block {
    /// As many vectors as are evaluated at a time.
    pub(crate) const fn capacity(lanes: u32) -> usize {
        PART / lanes as usize
    }
    pub(crate) fn new(subject: &InstructionUnderTest) -> Block {
        let columns = (0..=subject.arity()).map(|column| Lanes::of(subject.format(column))).collect();
        Block { rows: Vec::new(), columns, flags: Vec::new() }
    }
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.flags.clear();
        self.columns.iter_mut().for_each(Lanes::clear);
    }
    pub(crate) fn push(&mut self, row: u64, vector: &Vector) {
        self.rows.push(row);
        for (column, value) in self.columns.iter_mut().zip(vector.operands.iter().chain([&vector.result])) {
            value.components().iter().for_each(|&bits| column.push(bits));
        }
        self.flags.extend(vector.flags);
    }
    pub(crate) fn vector(&self, index: usize, lanes: usize) -> Vector {
        let mut values: Vec<Value> = self.columns.iter().map(|column| column.value(index * lanes, lanes)).collect();
        let result = values.pop().unwrap_or(Value::scalar(0));
        Vector { operands: values, result, flags: self.flags.get(index).copied() }
    }
}

/// The components of a packed integer.
pub(crate) fn unpack(format: Format, lanes: u32, bits: u64) -> Result<Value, String> {
    let width = lanes * format.width();
    if width < 64 && bits >> width != 0 {
        return Err(format!("{bits:#x} does not fit: it has {} bits, expected {width}", 64 - bits.leading_zeros()));
    }
    // Of more than 64 bits the upper ones are zero.
    let component = |lane: u32| bits.checked_shr(lane * format.width()).unwrap_or(0) & format.mask();
    Ok(Value::of((0..lanes).map(component)))
}

/// A packed integer, if it has no more than 64 bits.
pub(crate) fn pack(format: Format, value: &Value) -> u64 {
    value.components().iter().rev().fold(0, |bits, lane| bits.checked_shl(format.width()).unwrap_or(0) | lane)
}

/// The components of hex digits, `0x` before them or not.
pub(crate) fn parse_hex(format: Format, lanes: u32, text: &str) -> Result<Value, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let expected = || {
        let example = hex_bits(format.width() * lanes, 0).replacen("0x", "", 1);
        format!("`{text}` is no value: expected {} hex digits", example.len())
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(expected());
    }
    if digits.len() <= 16
        && let Ok(bits) = u64::from_str_radix(digits, 16)
    {
        return unpack(format, lanes, bits);
    }
    let parsed = roundonce::isa::parse_value(format, lanes, &format!("0x{digits}")).map_err(|_| expected())?;
    Ok(parsed.value)
}
