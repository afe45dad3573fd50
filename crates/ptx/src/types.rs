//! What a type modifier says: the one table of PTX's types.

use roundonce_arith::Format;
use roundonce_ir::{Scalar, Width};

/// How the bits of a value are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScalarKind {
    Bits,
    Unsigned,
    Signed,
    Float(Format),
    Pred,
}

/// A fundamental type, or two components packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Type {
    pub(crate) kind: ScalarKind,
    /// Bits in all.
    pub(crate) bits: u32,
    /// 1, or 2 packed components.
    pub(crate) components: u32,
}

/// One type: its spelling, what it is where programs are lowered with it, and whether registers are declared with it.
struct TypeRow {
    text: &'static str,
    ty: Option<Type>,
    is_register: bool,
}

const fn row(text: &'static str, ty: Type) -> TypeRow {
    TypeRow { text, ty: Some(ty), is_register: true }
}
/// A type of an instruction, for values in registers of another type.
const fn instruction_only(text: &'static str, ty: Type) -> TypeRow {
    TypeRow { text, ty: Some(ty), is_register: false }
}
/// A type that is recognised, and that no program is lowered with.
const fn name_only(text: &'static str) -> TypeRow {
    TypeRow { text, ty: None, is_register: false }
}
const fn bits(bits: u32) -> Type {
    Type { kind: ScalarKind::Bits, bits, components: 1 }
}
const fn unsigned(bits: u32) -> Type {
    Type { kind: ScalarKind::Unsigned, bits, components: 1 }
}
const fn signed(bits: u32) -> Type {
    Type { kind: ScalarKind::Signed, bits, components: 1 }
}
const fn float(format: Format) -> Type {
    Type { kind: ScalarKind::Float(format), bits: format.width(), components: 1 }
}
/// Two of them in one register.
const fn packed(ty: Type) -> Type {
    Type { bits: 2 * ty.bits, components: 2, ..ty }
}

/// Every word that is a type wherever it stands in an opcode, sorted.
#[rustfmt::skip] // A table.
static TYPES: &[TypeRow] = &[
    name_only(".b1"),
    row(".b128", bits(128)),
    row(".b16", bits(16)),
    row(".b32", bits(32)),
    name_only(".b4"),
    row(".b64", bits(64)),
    row(".b8", bits(8)),
    instruction_only(".bf16", float(Format::BF16)),
    instruction_only(".bf16x2", packed(float(Format::BF16))),
    name_only(".e2m1"),
    name_only(".e2m3"),
    name_only(".e3m2"),
    name_only(".e4m3"),
    name_only(".e4m3x2"),
    name_only(".e5m2"),
    name_only(".e5m2x2"),
    row(".f16", float(Format::F16)),
    row(".f16x2", packed(float(Format::F16))),
    row(".f32", float(Format::F32)),
    instruction_only(".f32x2", packed(float(Format::F32))),
    row(".f64", float(Format::F64)),
    row(".pred", Type::PRED),
    row(".s16", signed(16)),
    instruction_only(".s16x2", packed(signed(16))),
    name_only(".s2"),
    row(".s32", signed(32)),
    name_only(".s4"),
    row(".s64", signed(64)),
    row(".s8", signed(8)),
    name_only(".tf32"),
    row(".u16", unsigned(16)),
    instruction_only(".u16x2", packed(unsigned(16))),
    name_only(".u2"),
    row(".u32", unsigned(32)),
    name_only(".u4"),
    row(".u64", unsigned(64)),
    row(".u8", unsigned(8)),
    name_only(".ue8m0"),
];

/// `.bf16x2`, `.e4m3x2`.
const LONGEST: usize = 7;

fn find(text: &str) -> Option<&'static TypeRow> {
    // Most modifiers are none.
    if !matches!(text.as_bytes(), [b'.', b'b' | b'e' | b'f' | b'p' | b's' | b't' | b'u', ..]) || text.len() > LONGEST {
        return None;
    }
    let at = KEYS.binary_search(&key(text)).ok()?;
    Some(&TYPES[at])
}

/// A text of at most eight bytes as a number, ordered as the texts are.
const fn key(text: &str) -> u64 {
    let (bytes, mut key, mut at) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        key |= (bytes[at] as u64) << (56 - 8 * at);
        at += 1;
    }
    key
}

/// The keys of [`TYPES`].
const KEYS: [u64; TYPES.len()] = {
    let (mut keys, mut at) = ([0; TYPES.len()], 0);
    while at < keys.len() {
        keys[at] = key(TYPES[at].text);
        at += 1;
    }
    keys
};

/// Every type, its dot included.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|row| row.text)
}

/// Whether a modifier is a type, its dot included.
pub(crate) fn is_type(text: &str) -> bool {
    find(text).is_some()
}

impl Type {
    pub(crate) const PRED: Type = Type { kind: ScalarKind::Pred, bits: 1, components: 1 };
    pub(crate) const B32: Type = bits(32);
    pub(crate) const B64: Type = bits(64);
    pub(crate) const U32: Type = unsigned(32);
    pub(crate) const S64: Type = signed(64);
    pub(crate) const F32: Type = float(Format::F32);

    /// `.u32`, `.f16x2` …, with its dot.
    pub(crate) fn of(text: &str) -> Option<Type> {
        find(text)?.ty
    }
    /// The type of a register that is declared with it.
    pub(crate) fn of_register(text: &str) -> Option<Type> {
        find(text).filter(|row| row.is_register)?.ty
    }

    /// The register that holds a value; 128 bits take two of 64.
    pub(crate) const fn width(self) -> Width {
        Width::holding(self.bits)
    }
    pub(crate) const fn bytes(self) -> u32 {
        self.bits.div_ceil(8)
    }
    /// The type of one component.
    pub(crate) const fn component(self) -> Type {
        Type { bits: self.bits / self.components, components: 1, ..self }
    }
    pub(crate) const fn format(self) -> Option<Format> {
        match self.kind {
            ScalarKind::Float(format) => Some(format),
            _ => None,
        }
    }
    pub(crate) fn is_signed(self) -> bool {
        self.kind == ScalarKind::Signed
    }
    /// `.b32` and its like.
    pub(crate) fn is_untyped(self) -> bool {
        self.kind == ScalarKind::Bits
    }
    pub(crate) const fn is_integer(self) -> bool {
        matches!(self.kind, ScalarKind::Bits | ScalarKind::Unsigned | ScalarKind::Signed)
    }
    pub(crate) fn sign(self) -> roundonce_ir::Signedness {
        if self.is_signed() { roundonce_ir::Signedness::Signed } else { roundonce_ir::Signedness::Unsigned }
    }
    /// As conversions know it; packed types and predicates they do not.
    pub(crate) fn scalar(self) -> Option<Scalar> {
        match self.kind {
            _ if self.components > 1 || self.bits > 64 => None,
            ScalarKind::Float(format) => Some(Scalar::Float(format)),
            ScalarKind::Pred => None,
            _ => Some(Scalar::Int { bits: self.bits, signed: self.is_signed() }),
        }
    }
    /// The type whose literals it takes: packed halves are bits.
    pub(crate) fn literal(self) -> String {
        match self.kind {
            ScalarKind::Float(Format::F32) if self.components == 1 => ".f32".to_owned(),
            ScalarKind::Float(Format::F64) => ".f64".to_owned(),
            ScalarKind::Unsigned => format!(".u{}", self.bits),
            ScalarKind::Signed => format!(".s{}", self.bits),
            _ => format!(".b{}", self.bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_sorted_so_that_they_are_found() {
        assert!(TYPES.is_sorted_by_key(|row| row.text));
        assert!(names().all(is_type));
    }
}
