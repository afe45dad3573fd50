//! What a type modifier says.

use roundonce_arith::Format;
use roundonce_ir::{Scalar, Width};

/// How the bits of a value are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Bits,
    Unsigned,
    Signed,
    Float(Format),
    Pred,
}

/// A fundamental type, or two halves packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Type {
    pub(super) kind: Kind,
    /// Bits in all.
    pub(super) bits: u32,
    /// 1, or 2 packed components.
    pub(super) lanes: u32,
}

impl Type {
    pub(super) const PRED: Type = Type { kind: Kind::Pred, bits: 1, lanes: 1 };
    pub(super) const B32: Type = Type { kind: Kind::Bits, bits: 32, lanes: 1 };
    pub(super) const B64: Type = Type { kind: Kind::Bits, bits: 64, lanes: 1 };
    pub(super) const U32: Type = Type { kind: Kind::Unsigned, bits: 32, lanes: 1 };

    /// `.u32`, `.f16x2` …, with its dot.
    pub(super) fn of(text: &str) -> Option<Type> {
        let float = |format: Format| Some(Type { kind: Kind::Float(format), bits: format.width(), lanes: 1 });
        let packed = |format: Format| Some(Type { kind: Kind::Float(format), bits: 2 * format.width(), lanes: 2 });
        match text {
            ".pred" => return Some(Type::PRED),
            ".f16" => return float(Format::F16),
            ".bf16" => return float(Format::BF16),
            ".f32" => return float(Format::F32),
            ".f64" => return float(Format::F64),
            ".f16x2" => return packed(Format::F16),
            ".bf16x2" => return packed(Format::BF16),
            ".f32x2" => return packed(Format::F32),
            _ => {}
        }
        let (kind, digits) = match text.get(..2)? {
            ".b" => (Kind::Bits, text.get(2..)?),
            ".u" => (Kind::Unsigned, text.get(2..)?),
            ".s" => (Kind::Signed, text.get(2..)?),
            _ => return None,
        };
        let bits = match digits {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            "128" if kind == Kind::Bits => 128,
            "16x2" if kind != Kind::Bits => return Some(Type { kind, bits: 32, lanes: 2 }),
            _ => return None,
        };
        Some(Type { kind, bits, lanes: 1 })
    }

    /// The register that holds a value; 128 bits take two of 64.
    pub(super) const fn width(self) -> Width {
        Width::holding(self.bits)
    }
    pub(super) const fn bytes(self) -> u32 {
        self.bits.div_ceil(8)
    }
    /// The type of one component.
    pub(super) const fn component(self) -> Type {
        Type { bits: self.bits / self.lanes, lanes: 1, ..self }
    }
    pub(super) const fn format(self) -> Option<Format> {
        match self.kind {
            Kind::Float(format) => Some(format),
            _ => None,
        }
    }
    pub(super) fn is_signed(self) -> bool {
        self.kind == Kind::Signed
    }
    pub(super) const fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Bits | Kind::Unsigned | Kind::Signed)
    }
    pub(super) fn sign(self) -> roundonce_ir::Signedness {
        if self.is_signed() { roundonce_ir::Signedness::Signed } else { roundonce_ir::Signedness::Unsigned }
    }
    /// As conversions know it; packed types and predicates they do not.
    pub(super) fn scalar(self) -> Option<Scalar> {
        match self.kind {
            _ if self.lanes > 1 || self.bits > 64 => None,
            Kind::Float(format) => Some(Scalar::Float(format)),
            Kind::Pred => None,
            _ => Some(Scalar::Int { bits: self.bits, signed: self.is_signed() }),
        }
    }
    /// The type whose literals it takes: packed halves are bits.
    pub(super) fn literal(self) -> String {
        match self.kind {
            Kind::Float(Format::F32) if self.lanes == 1 => ".f32".to_owned(),
            Kind::Float(Format::F64) => ".f64".to_owned(),
            Kind::Unsigned => format!(".u{}", self.bits),
            Kind::Signed => format!(".s{}", self.bits),
            _ => format!(".b{}", self.bits),
        }
    }
}
