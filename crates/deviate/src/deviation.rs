//! The one list of what may be done otherwise.

use std::borrow::Cow;
use std::cmp::Ordering;

use roundonce_arith::{Format, NanRule, Rounding, Tininess};
use roundonce_isa::convert;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::text::Scope;

/// One thing done otherwise than what is written.
///
/// The order ([`Ord`]) is the one in which deviations are preferred where several explain the same: the commoner in
/// practice first. A half of a flush stands behind the whole one, because machines and compilers offer the whole.
///
/// ```
/// use roundonce_deviate::{Deviation, Scope};
/// let flush = Deviation::Flush(None);
/// assert_eq!(flush.text(Scope::Expression), "flushes subnormals to zero (.ftz)");
/// assert_eq!(flush.text(Scope::Instruction), "flushing subnormal operands and results");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Deviation {
    /// Products are fused into the sums that they are terms of.
    Contract(Products),
    /// Each operation is computed in this wider format and rounded again to its own: double rounding.
    WideEachOperation(Format),
    /// Fused multiply-adds are computed as a product and a sum.
    Split(Fmas),
    /// Subnormal operands and results are flushed (`.ftz`); of this format alone, if one is named. Where operations are
    /// carried out in a wider format, that may be the wider one.
    Flush(Option<Format>),
    /// Subnormal operands and results are kept; of this format alone, if one is named.
    Keep(Option<Format>),
    /// A zero factor makes a product +0 (`.FMZ`). It needs the flush, as the mode has it.
    ZeroDominance,
    /// No zero factor makes a product +0.
    NoZeroDominance,
    /// Everything is computed in this wider format and rounded once at the end.
    WideWhole(Format),
    /// Operations are computed in the x87's 80-bit format.
    X87(Narrowing),
    /// The rounding errors of a sum are added to it at the end.
    Compensated,
    /// Subnormal results are rounded twice: to all digits of the significand first.
    SubnormalsTwice,
    /// Everything is computed in this wider format, and the result is not rounded to its own.
    WideResult(Format),
    /// Operations are carried out in f32, and what is stored as bf16 is its upper half.
    Bf16Cut(Narrowing),
    /// What is rounded to nearest goes away from zero where it lies half way between two numbers; what is rounded to this
    /// format alone, if one is named. Of f64 it is not computed.
    TiesAway(Option<Format>),
    /// What is too large for this format stays at its largest finite number of the same sign (`.satfinite`).
    StayFinite(Format),
    /// The sums of a reduction are kept in this wider format and rounded at the end; its terms and all else are not.
    WideSum(Format),
    /// Another direction of rounding.
    Round(Rounding),
    /// The direction of the operations that are written without a rounding modifier.
    RoundUnmodified(Rounding),
    /// A fused product is cut to the format's precision: `mad.f32` of sm_1x, which flushes subnormals besides.
    TruncatedProduct,
    /// The product of sm_1x's `mad.f32` is not cut.
    WholeProduct,
    /// An out-of-bounds NaN as a factor makes the result +0 (`.oob`).
    OutOfBounds,
    /// An out-of-bounds NaN is a NaN as others.
    NoOutOfBounds,
    /// The result is clamped to [0, 1] (`.sat`).
    Saturate,
    /// The result is not clamped.
    NoSaturate,
    /// The sum is taken in this order.
    Order(String),
    /// A matrix product is computed on tensor cores, whose steps these are.
    TensorCores(String),
    /// Matrices are multiplied as on another machine, or others.
    Machine(String),
    /// A NaN result is chosen by this rule.
    NanOperand(NanRule),
    /// A NaN has other bits.
    OtherNan,
    /// Subnormal results are flushed by this rule; operands are as they were.
    FlushResults(Tininess),
    /// Subnormal operands are flushed; results are as they were.
    FlushOperands,
    /// Subnormal operands are kept; results are as they were.
    KeepOperands,
    /// Subnormal results are kept; operands are as they were.
    KeepResults,
    /// A zero has the other sign.
    OtherZero,
    /// The addend's sign is flipped.
    NegateAddend,
    /// The product's sign is flipped.
    NegateProduct,
    /// Quotients are computed as products with a reciprocal.
    Reciprocal,
    /// Square roots are computed as products with a reciprocal root.
    RootByReciprocal,
    /// Reciprocal square roots are computed as reciprocals of a root.
    ReciprocalByRoot,
    /// Quotients by a root are computed with the reciprocal root, which rounds once.
    ReciprocalRoot,
    /// `exp(x) - 1` is computed as `expm1(x)`.
    ExpM1,
    /// `log(1 + x)` is computed as `log1p(x)`.
    Log1P,
    /// A product with a sum that has a 1 is multiplied out and fused: `x * (y + 1)` as `fma(x, y, x)`.
    MultipliedOut,
    /// Products with a reciprocal square root are computed as quotients by the root.
    QuotientByRoot,
    /// Casts from f64 to f16 and bf16 go through f32.
    CastThroughF32,
    /// `round` gives the even one of two integers as near.
    HalfToEven,
    /// `rint` gives the one further from zero of two integers as near.
    HalfAway,
    /// A cast to an integer gives what x86 gives for a number that the type does not hold.
    X86Integers,
    /// A cast to an integer has no limit, as Python's `int`.
    UnlimitedIntegers,
    /// A number beside a value of 16 bits is rounded to its type before the sum.
    NumberFirst,
    /// Everything is computed in f32, and what is cast to 16 bits on the way is not.
    CastsLeftOut,
    /// A function gives another value than the correctly rounded one, as its documents allow.
    Approximate(Approximation),
    /// The factors of f32 products are rounded to TF32 before.
    Tf32(Tf32Rounding),
    /// The factors of f32 products are rounded to this narrower format before.
    NarrowFactors(Format),
}

/// When what was computed in a wider format is rounded to its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Narrowing {
    /// After each operation.
    EachOperation,
    /// At the end.
    Whole,
}

/// How f32 becomes TF32, which has f32's exponent and eleven bits of significand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Tf32Rounding {
    /// To nearest, ties away from zero: PTX `cvt.rna.tf32.f32`.
    NearestAway,
    /// Cut off, as tensor cores do with bits that they do not take.
    Truncated,
    /// To nearest even.
    NearestEven,
}

impl Tf32Rounding {
    /// Every way.
    pub const ALL: [Tf32Rounding; 3] = [Tf32Rounding::NearestAway, Tf32Rounding::Truncated, Tf32Rounding::NearestEven];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Tf32Rounding::NearestAway => "to nearest, ties away",
            Tf32Rounding::Truncated => "cut off",
            Tf32Rounding::NearestEven => "to nearest even",
        }
    }

    /// The f32 that holds an f32 as TF32; NaNs stay NaNs.
    ///
    /// ```
    /// use roundonce_deviate::Tf32Rounding;
    /// // 1 + 2^-11 lies half way between two.
    /// assert_eq!(Tf32Rounding::ALL.map(|how| how.of_f32(0x3f80_1000)), [0x3f80_2000, 0x3f80_0000, 0x3f80_0000]);
    /// ```
    pub fn of_f32(self, bits: u64) -> u64 {
        const DROPPED: u64 = 0x1fff;
        if bits & 0x7fff_ffff > 0x7f80_0000 {
            return bits;
        }
        let up = match self {
            Tf32Rounding::NearestAway => 0x1000,
            Tf32Rounding::Truncated => 0,
            Tf32Rounding::NearestEven => 0xfff + (bits >> 13 & 1),
        };
        (bits + up) & !DROPPED
    }
}

/// What the factors of f32 products are rounded to before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FactorRounding {
    /// TF32.
    Tf32(Tf32Rounding),
    /// A narrower format, to nearest even.
    Narrow(Format),
}

impl FactorRounding {
    /// The deviation that it is.
    pub const fn deviation(self) -> Deviation {
        match self {
            FactorRounding::Tf32(how) => Deviation::Tf32(how),
            FactorRounding::Narrow(format) => Deviation::NarrowFactors(format),
        }
    }

    /// The format's name.
    pub fn name(self) -> &'static str {
        match self {
            FactorRounding::Tf32(_) => "TF32",
            FactorRounding::Narrow(format) => format_name(format),
        }
    }

    /// The f32 that holds an f32 rounded so.
    pub fn of_f32(self, bits: u64) -> u64 {
        let converted = |from, to, bits| convert(from, to, Rounding::NearestEven, bits).0;
        match self {
            FactorRounding::Tf32(how) => how.of_f32(bits),
            FactorRounding::Narrow(format) => converted(format, Format::F32, converted(Format::F32, format, bits)),
        }
    }
}

/// A value that the documents of libraries and machines allow a function to give.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Approximation {
    /// The function with its operands, as written.
    pub call: String,
    /// How many representable values above the correctly rounded one it lies; below, if it is negative. Of several values
    /// how far they lie at most.
    pub steps: i32,
    /// Its bits, in hexadecimal; none, if it stands for several.
    pub bits: Option<String>,
    /// Whose documents allow it: `expf of CUDA (2 ulp)`.
    pub allowed_by: Vec<String>,
}

/// The products that are fused into sums.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Products {
    /// One product of an expression, as written, while others that could be are not.
    Written(String),
    /// The one product of an expression, as written, that is fused where every sum that can takes a product.
    Only(String),
    /// The product of one line of a kernel, into the sum of another.
    Lines {
        /// The product's line.
        product: u32,
        /// The sum's line.
        sum: u32,
    },
    /// Of a kernel: every product that only sums use, into each of them, as NVIDIA's assembler does. Of an expression:
    /// every sum that can takes a product, of two the first operand's, as compilers do (`docs/contraction.md`).
    All,
    /// Of a kernel: the same, with those that are written to stay apart (`.rn`), as another build has it.
    Apart,
}

/// The fused multiply-adds that are split.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fmas {
    /// All of them.
    All,
    /// That of one line of a kernel.
    Line(u32),
}

impl Approximation {
    /// Whether it is a quotient or a root, which machines can round once.
    pub fn is_quotient(&self) -> bool {
        self.call.contains(" / ") || ["sqrt(", "rcp("].iter().any(|name| self.call.starts_with(name))
    }
}

impl Deviation {
    /// The place in the order of preference.
    const fn rank(&self) -> u8 {
        match self {
            Deviation::Contract(Products::Written(_) | Products::Only(_)) => 0,
            Deviation::Contract(Products::Lines { .. }) => 1,
            // A library's own function is commoner than a wider type, which fits the same.
            Deviation::ReciprocalRoot => 2,
            Deviation::ExpM1 => 3,
            Deviation::Log1P => 4,
            Deviation::MultipliedOut => 5,
            Deviation::Contract(Products::All) => 6,
            Deviation::WideEachOperation(_) => 7,
            Deviation::Split(Fmas::Line(_)) => 8,
            Deviation::Split(Fmas::All) => 9,
            Deviation::Flush(_) => 10,
            Deviation::Keep(_) => 11,
            Deviation::ZeroDominance => 12,
            Deviation::NoZeroDominance => 13,
            Deviation::WideWhole(_) => 14,
            Deviation::Round(_) => 15,
            Deviation::RoundUnmodified(_) => 16,
            Deviation::TruncatedProduct => 17,
            Deviation::WholeProduct => 18,
            // It acts on the one NaN alone: where it explains something, a clamp does so by the way.
            Deviation::OutOfBounds => 19,
            Deviation::NoOutOfBounds => 20,
            Deviation::Saturate => 21,
            Deviation::NoSaturate => 22,
            Deviation::Order(_) => 23,
            Deviation::TensorCores(_) => 49,
            Deviation::Machine(_) => 50,
            Deviation::NanOperand(_) => 24,
            Deviation::OtherNan => 25,
            Deviation::FlushResults(Tininess::Result) => 26,
            Deviation::FlushResults(Tininess::AfterRounding) => 27,
            Deviation::FlushResults(Tininess::BeforeRounding) => 28,
            Deviation::FlushOperands => 29,
            Deviation::KeepOperands => 30,
            Deviation::KeepResults => 31,
            Deviation::OtherZero => 32,
            Deviation::NegateAddend => 33,
            Deviation::NegateProduct => 34,
            Deviation::Reciprocal => 36,
            Deviation::RootByReciprocal => 37,
            Deviation::ReciprocalByRoot => 38,
            // Libraries take TF32 for f32, unasked or by a switch; f16, which often fits the same, leaves its results in f16 too.
            Deviation::Tf32(_) => 39,
            Deviation::NarrowFactors(_) => 40,
            Deviation::Approximate(_) => 51,
            Deviation::X87(Narrowing::Whole) => 41,
            Deviation::X87(Narrowing::EachOperation) => 42,
            Deviation::SubnormalsTwice => 43,
            Deviation::WideResult(_) => 44,
            Deviation::Compensated => 47,
            Deviation::Bf16Cut(Narrowing::Whole) => 45,
            Deviation::Bf16Cut(Narrowing::EachOperation) => 46,
            Deviation::WideSum(_) => 48,
            Deviation::TiesAway(_) => 52,
            Deviation::StayFinite(_) => 58,
            Deviation::X86Integers => 59,
            Deviation::UnlimitedIntegers => 60,
            Deviation::NumberFirst => 61,
            Deviation::CastsLeftOut => 62,
            Deviation::Contract(Products::Apart) => 53,
            Deviation::CastThroughF32 => 54,
            Deviation::QuotientByRoot => 55,
            Deviation::HalfToEven => 56,
            Deviation::HalfAway => 57,
        }
    }

    /// What it is about beside its kind: a product, a format, a direction, an order.
    pub fn detail(&self) -> Option<Cow<'_, str>> {
        match self {
            Deviation::Contract(Products::Written(text) | Products::Only(text))
            | Deviation::Order(text)
            | Deviation::TensorCores(text)
            | Deviation::Machine(text) => Some(text.into()),
            Deviation::WideEachOperation(format)
            | Deviation::WideWhole(format)
            | Deviation::WideSum(format)
            | Deviation::WideResult(format)
            | Deviation::StayFinite(format)
            | Deviation::NarrowFactors(format) => Some(format_name(*format).into()),
            Deviation::Bf16Cut(Narrowing::EachOperation) => Some("each operation".into()),
            Deviation::Bf16Cut(Narrowing::Whole) => Some("the result".into()),
            Deviation::X87(_) => Some("x87".into()),
            Deviation::Flush(format) | Deviation::Keep(format) | Deviation::TiesAway(format) => {
                format.map(|format| format_name(format).into())
            }
            Deviation::Round(rounding) | Deviation::RoundUnmodified(rounding) => Some(rounding.name().into()),
            Deviation::NanOperand(rule) => Some(rule.name().into()),
            Deviation::Tf32(rounding) => Some(rounding.name().into()),
            Deviation::Approximate(given) => Some(match &given.bits {
                Some(bits) => format!("{} = {bits}", given.call).into(),
                None => given.call.as_str().into(),
            }),
            _ => None,
        }
    }

    /// The lines of a kernel that it is about, where it is about one place: of a fusion the product's and the sum's.
    pub fn lines(&self) -> Vec<u32> {
        match *self {
            Deviation::Contract(Products::Lines { product, sum }) => vec![product, sum],
            Deviation::Split(Fmas::Line(line)) => vec![line],
            _ => Vec::new(),
        }
    }

    /// Whether it is the same in one computation: which format's subnormals are flushed follows there from the other
    /// deviations.
    pub fn is_alike(&self, other: &Deviation) -> bool {
        self == other || matches!((self, other), (Deviation::Flush(_), Deviation::Flush(_)))
    }

    /// Whether it is about the direction of roundings.
    pub const fn is_rounding(&self) -> bool {
        matches!(self, Deviation::Round(_) | Deviation::RoundUnmodified(_))
    }
}

/// `f32`; `wide` for a format that has no name.
pub(crate) fn format_name(format: Format) -> &'static str {
    format.name().unwrap_or("wide")
}

impl Ord for Deviation {
    fn cmp(&self, other: &Deviation) -> Ordering {
        let by_rank = self.rank().cmp(&other.rank());
        // Of the directions toward zero is the commonest: it is what cutting off gives.
        let is_cut = |it: &Deviation| {
            matches!(it, Deviation::Round(Rounding::TowardZero) | Deviation::RoundUnmodified(Rounding::TowardZero))
        };
        let by_rank = by_rank.then_with(|| is_cut(other).cmp(&is_cut(self)));
        by_rank.then_with(|| self.detail().cmp(&other.detail())).then_with(|| self.lines().cmp(&other.lines()))
    }
}

impl PartialOrd for Deviation {
    fn partial_cmp(&self, other: &Deviation) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `{"kind": "fused", "what": "a * b"}`, with the kinds of an expression.
impl Serialize for Deviation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Which format is flushed follows from the others of the expression's deviations.
        let detail = self.detail().filter(|_| !matches!(self, Deviation::Flush(_) | Deviation::Keep(_)));
        let mut fields = serializer.serialize_struct("Deviation", 1 + usize::from(detail.is_some()))?;
        fields.serialize_field("kind", self.kind(Scope::Expression))?;
        if let Some(detail) = detail {
            fields.serialize_field("what", &detail)?;
        }
        fields.end()
    }
}
