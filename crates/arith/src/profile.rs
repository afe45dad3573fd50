//! Decisions: everything the documents leave open, each with a name, a source and whether hardware was asked.

use crate::Format;

/// Which results of a flushing form count as subnormal where rounding crosses the smallest normal number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tininess {
    /// The rounded result, at subnormal precision, is still below the smallest normal: the seeds' literal words.
    Result,
    /// The result rounded with an unbounded exponent range is below the smallest normal (as x86).
    AfterRounding,
    /// The exact value is below the smallest normal.
    BeforeRounding,
}

/// When the underflow flag counts a result as tiny (IEEE 754-2019, 7.5). It never changes a bit of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Underflow {
    /// After rounding with an unbounded exponent range.
    AfterRounding,
    /// Before rounding: the exact value.
    BeforeRounding,
}

/// One operand's place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// The first factor.
    A,
    /// The second factor.
    B,
    /// The addend.
    C,
}

/// Which NaN a NaN result is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NanRule {
    /// Positive, every fraction bit set (0x7fffffff for f32), whatever the operands.
    Canonical,
    /// The first NaN operand in this order, made quiet; a NaN that an invalid operation makes is negative, quiet,
    /// with an empty payload (0xfff8000000000000 for f64).
    Payload([Operand; 3]),
}

/// What `mad.f32` without a rounding modifier does on a machine (PTX `mad`, notes for sm_1x).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sm1xMad {
    /// The sm_1x hardware: the product is truncated to 24 bits.
    Truncate,
    /// Recompiled by a driver for sm_20 or later: `fma.rn.ftz.f32`.
    FusedFtz,
}

/// The policy that the pipeline follows where the documents leave a choice.
///
/// ```
/// use roundonce_arith::{Profile, Tininess};
/// let x86_like = Profile { tininess: Tininess::AfterRounding, ..Profile::NVIDIA };
/// assert_ne!(x86_like, Profile::NVIDIA);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Profile {
    /// Which results `.ftz`, `.FTZ` and `.FMZ` flush at the boundary.
    pub tininess: Tininess,
    /// When the underflow flag is raised.
    pub underflow: Underflow,
    /// NaN results of f32.
    pub nan_f32: NanRule,
    /// NaN results of f64.
    pub nan_f64: NanRule,
    /// NaN results of f16, bf16 and any smaller format.
    pub nan_small: NanRule,
    /// `mad.f32` of sm_1x.
    pub sm1x_mad: Sm1xMad,
}

/// Whether a decision was held against hardware.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// A document says it.
    Documented,
    /// Known of the hardware from public material.
    Reported,
    /// No document says it and no GPU was asked yet.
    Unmeasured,
}

/// One decision as a reader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The profile's field.
    pub field: &'static str,
    /// What it decides.
    pub decides: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
    /// Whether hardware was asked.
    pub status: Status,
}

impl Profile {
    /// NVIDIA hardware, as far as the documents and public measurements tell.
    pub const NVIDIA: Profile = Profile {
        tininess: Tininess::Result,
        underflow: Underflow::AfterRounding,
        nan_f32: NanRule::Canonical,
        nan_f64: NanRule::Payload([Operand::A, Operand::B, Operand::C]),
        nan_small: NanRule::Canonical,
        sm1x_mad: Sm1xMad::Truncate,
    };

    /// The NaN rule of a format.
    #[inline]
    pub(crate) const fn nan_rule(&self, format: Format) -> NanRule {
        match format.width() {
            0..=16 => self.nan_small,
            17..=32 => self.nan_f32,
            _ => self.nan_f64,
        }
    }

    /// The quiet NaN that an operation returns: for a NaN operand, or for an invalid operation.
    #[inline]
    pub const fn quiet_nan(&self, format: Format, operand: Option<u64>) -> u64 {
        match (self.nan_rule(format), operand) {
            (NanRule::Canonical, _) => format.magnitude_mask(),
            (NanRule::Payload(_), Some(bits)) => (bits | format.quiet_bit()) & format.mask(),
            (NanRule::Payload(_), None) => format.sign_mask() | format.infinity() | format.quiet_bit(),
        }
    }

    /// Every decision, one row a field.
    pub const DECISIONS: [Decision; 7] = [
        Decision {
            field: "tininess",
            decides: "which results at the edge of the subnormal range .ftz, .FTZ and .FMZ flush",
            source: "PTX fma, subnormal numbers; FFMA .fmz: the result is flushed",
            status: Status::Unmeasured,
        },
        Decision {
            field: "underflow",
            decides: "when the reported underflow flag counts a result as tiny; no result bit depends on it",
            source: "IEEE 754-2019, 7.5; Berkeley TestFloat's default",
            status: Status::Documented,
        },
        Decision {
            field: "nan_f32",
            decides: "the bits of an f32 NaN: 0x7fffffff",
            source: "NVIDIA hardware, public measurements; PTX leaves it open",
            status: Status::Reported,
        },
        Decision {
            field: "nan_f64",
            decides: "whose payload an f64 NaN keeps: a, then b, then c; an invalid operation gives 0xfff8000000000000",
            source: "NVIDIA hardware keeps a payload; the order is ours",
            status: Status::Unmeasured,
        },
        Decision {
            field: "nan_small",
            decides: "the bits of an f16 or bf16 NaN: 0x7fff",
            source: "SPIR-V leaves any NaN legal; the value is what later PTX forms give",
            status: Status::Unmeasured,
        },
        Decision {
            field: "sm1x_mad",
            decides: "whether mad.f32 of sm_1x truncates its product or runs as fma.rn.ftz.f32 after recompilation",
            source: "PTX mad, notes for .target sm_1x",
            status: Status::Documented,
        },
        Decision {
            field: "condition codes",
            decides: "Z = zero or NaN, S = negative (not -0) or NaN, C = V = 0",
            source: "FFMA .CC; measured by others on the oldest generation, inferred for Maxwell",
            status: Status::Unmeasured,
        },
    ];
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::NVIDIA
    }
}
