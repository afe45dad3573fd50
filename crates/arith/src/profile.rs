//! Decisions: everything that the documents leave open, each with a name, a source and whether hardware was measured.

use crate::Format;

/// The tininess criterion of a flushing form: which results count as subnormal where rounding crosses the smallest
/// normal number (IEEE 754-2019, 7.5, has the last two criteria).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tininess {
    /// The rounded result, at subnormal precision, is below the smallest normal: the documents' literal words.
    Result,
    /// After rounding: the result rounded with an unbounded exponent range is below the smallest normal. NVIDIA, AMD and
    /// x86.
    AfterRounding,
    /// Before rounding: the exact value is below the smallest normal. Apple.
    BeforeRounding,
}

impl Tininess {
    /// All criteria.
    pub const ALL: [Tininess; 3] = [Tininess::Result, Tininess::AfterRounding, Tininess::BeforeRounding];

    /// `result`, `after-rounding`, `before-rounding`.
    pub const fn name(self) -> &'static str {
        match self {
            Tininess::Result => "result",
            Tininess::AfterRounding => "after-rounding",
            Tininess::BeforeRounding => "before-rounding",
        }
    }
}

/// The tininess criterion of the underflow flag (IEEE 754-2019, 7.5). It never changes a bit of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Underflow {
    /// After rounding: the result rounded with an unbounded exponent range.
    AfterRounding,
    /// Before rounding: the exact value.
    BeforeRounding,
}

/// The position of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandIndex {
    /// The first factor.
    A,
    /// The second factor.
    B,
    /// The addend.
    C,
}

/// The bits of a NaN result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NanRule {
    /// Positive, every fraction bit set (0x7fffffff for f32), whatever the operands.
    Canonical,
    /// The first NaN operand in this order, made quiet; an invalid operation gives a negative quiet NaN with an empty
    /// payload (0xfff8000000000000 for f64).
    Payload([OperandIndex; 3]),
}

impl NanRule {
    /// The rules that a machine may have: the canonical NaN, and the orders of three operands.
    pub const ALL: [NanRule; 7] = {
        use OperandIndex::{A, B, C};
        [
            NanRule::Canonical,
            NanRule::Payload([A, B, C]),
            NanRule::Payload([A, C, B]),
            NanRule::Payload([B, A, C]),
            NanRule::Payload([B, C, A]),
            NanRule::Payload([C, A, B]),
            NanRule::Payload([C, B, A]),
        ]
    };

    /// `canonical`, or the operands in their order: `bca`.
    pub const fn name(self) -> &'static str {
        use OperandIndex::{A, B, C};
        match self {
            NanRule::Canonical => "canonical",
            NanRule::Payload([A, B, _]) => "abc",
            NanRule::Payload([A, ..]) => "acb",
            NanRule::Payload([B, A, _]) => "bac",
            NanRule::Payload([B, ..]) => "bca",
            NanRule::Payload([C, A, _]) => "cab",
            NanRule::Payload([C, ..]) => "cba",
        }
    }

    /// The bits of a NaN result; `operand` is the NaN operand that the rule chooses, `None` for an invalid operation.
    pub const fn result(self, format: Format, operand: Option<u64>) -> u64 {
        let bits = match (self, operand) {
            (NanRule::Canonical, _) => format.magnitude_mask(),
            (NanRule::Payload(_), Some(bits)) => bits | format.quiet_bit(),
            (NanRule::Payload(_), None) => format.sign_mask() | format.infinity() | format.quiet_bit(),
        };
        bits & format.mask()
    }
}

/// What `mad.f32` without a rounding modifier computes (PTX `mad`, notes for sm_1x).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sm1xMad {
    /// The sm_1x hardware: the product is truncated to 24 bits.
    Truncate,
    /// Recompiled by a driver for sm_20 or later: `fma.rn.ftz.f32`.
    FusedFtz,
}

/// The result of a saturating `.FMZ` form where one factor is zero and the other a NaN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FmzSatNan {
    /// +0 plus the addend, clamped: zero dominance comes first.
    Addend,
    /// +0: the clamp counts the product as a NaN.
    Zero,
}

/// The exponent that a term which is zero aligns the others by, in a matrix multiply-add.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ZeroExponent {
    /// The row's own, below that of the smallest number of the accumulator: so the largest exponent is never below it.
    Floor,
    /// A zero operand has the smallest exponent of f32, −126, and a product with it the sum of both exponents.
    Operand,
    /// None: zeros take no part.
    Absent,
}

/// The sign of a zero that a step of a matrix multiply-add gives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ZeroSum {
    /// Always +0.
    Positive,
    /// −0 where every term is negative or −0, and where a negative sum is cut away by the conversion.
    AllNegative,
}

/// How much of the addend a step of a matrix multiply-add keeps below the largest exponent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddendCut {
    /// As many bits as of the products.
    AsProducts,
    /// As many as the accumulator's fraction has.
    ToPrecision,
}

/// The products that a step of sm_75's m16n8k8 adds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TuringBlock {
    /// Eight.
    Eight,
    /// Four.
    Four,
}

/// The choices that the pipeline makes where the documents leave one.
///
/// ```
/// use roundonce_arith::{Profile, Tininess};
/// let literal = Profile { tininess: Tininess::Result, ..Profile::NVIDIA };
/// assert_ne!(literal, Profile::NVIDIA);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Profile {
    /// Which results `.ftz`, `.FTZ` and `.FMZ` flush at the boundary.
    pub tininess: Tininess,
    /// The same for `mad.f32` of sm_1x with a nonzero addend. With a zero addend it is `mul.f32` and `add.f32`, which go
    /// by `tininess`.
    pub sm1x_tininess: Tininess,
    /// When the underflow flag is raised.
    pub underflow: Underflow,
    /// NaN results of f32.
    pub nan_f32: NanRule,
    /// NaN results of f64. A minus, from sm_70 on an absolute value too, leaves the sign of a NaN operand alone.
    pub nan_f64: NanRule,
    /// NaN results of f64 divisions, which are a routine of the assembler's: a is the dividend.
    pub div_nan_f64: NanRule,
    /// NaN results of f16, bf16 and any smaller format.
    pub nan_small: NanRule,
    /// `mad.f32` of sm_1x.
    pub sm1x_mad: Sm1xMad,
    /// Saturating `.FMZ` forms where a zero meets a NaN.
    pub fmz_sat_nan: FmzSatNan,
    /// The out-of-bounds NaN of `.oob`, in f16 and bf16.
    pub oob_nan: u64,
    /// The exponent of a zero term of a matrix multiply-add.
    pub dot_zero: ZeroExponent,
    /// The sign of its zero sums.
    pub dot_zero_sign: ZeroSum,
    /// The bits that it keeps of the addend.
    pub dot_addend: AddendCut,
    /// NaN results of f64 in a matrix multiply-add.
    pub dot_nan_f64: NanRule,
    /// The products that sm_75 adds at once.
    pub turing_block: TuringBlock,
}

/// Whether a decision was compared with hardware.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// A document says it.
    Documented,
    /// Results of hardware say it, and a test holds them (`vectors/hw`); the source names the machines.
    Measured,
    /// Known of the hardware from public material.
    Reported,
    /// No document says it and no GPU was measured yet.
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
    /// Whether hardware was measured.
    pub status: Status,
}

impl Profile {
    /// NVIDIA hardware, as far as documents and public measurements describe it.
    pub const NVIDIA: Profile = Profile {
        tininess: Tininess::AfterRounding,
        sm1x_tininess: Tininess::Result,
        underflow: Underflow::AfterRounding,
        nan_f32: NanRule::Canonical,
        nan_f64: NanRule::Payload([OperandIndex::B, OperandIndex::C, OperandIndex::A]),
        div_nan_f64: NanRule::Payload([OperandIndex::A, OperandIndex::B, OperandIndex::C]),
        nan_small: NanRule::Canonical,
        sm1x_mad: Sm1xMad::Truncate,
        fmz_sat_nan: FmzSatNan::Addend,
        oob_nan: 0x7ff7,
        dot_zero: ZeroExponent::Floor,
        dot_zero_sign: ZeroSum::Positive,
        dot_addend: AddendCut::AsProducts,
        dot_nan_f64: NanRule::Payload([OperandIndex::B, OperandIndex::C, OperandIndex::A]),
        turing_block: TuringBlock::Eight,
    };

    /// The criterion that flushes the results of an operation.
    #[inline]
    pub const fn tininess_of(&self, op: crate::ArithOp) -> Tininess {
        match op {
            crate::ArithOp::TruncatedMulAdd => self.sm1x_tininess,
            _ => self.tininess,
        }
    }

    /// The NaN rule of a format.
    #[inline]
    pub const fn nan_rule(&self, format: Format) -> NanRule {
        match format.width() {
            0..=16 => self.nan_small,
            17..=32 => self.nan_f32,
            _ => self.nan_f64,
        }
    }

    /// The bits of a NaN result: [`NanRule::result`] by the format's rule.
    #[inline]
    pub const fn nan_result(&self, format: Format, operand: Option<u64>) -> u64 {
        self.nan_rule(format).result(format, operand)
    }

    /// The bits of a NaN result of an operation of two factors, of which one or both are NaN, beside the pipeline:
    /// minima, remainders.
    pub fn nan_of_pair(&self, format: Format, a: u64, b: u64) -> u64 {
        let order = match self.nan_rule(format) {
            NanRule::Canonical => [OperandIndex::A, OperandIndex::B, OperandIndex::C],
            NanRule::Payload(order) => order,
        };
        let mut given = order.into_iter().filter_map(|operand| [a, b].get(operand as usize).copied());
        self.nan_result(format, given.find(|&bits| format.is_nan(bits)))
    }

    /// The same of a quotient, by `div_nan_f64`.
    pub fn nan_of_quotient(&self, format: Format, dividend: u64, divisor: u64) -> u64 {
        Profile { nan_f64: self.div_nan_f64, ..*self }.nan_of_pair(format, dividend, divisor)
    }

    /// Whether a factor is the out-of-bounds NaN, of either sign.
    pub fn has_oob_factor(&self, [a, b, _]: [u64; 3]) -> bool {
        [a, b].iter().any(|factor| (factor ^ self.oob_nan) & Format::F16.magnitude_mask() == 0)
    }

    /// Every decision, one row for each field.
    pub const DECISIONS: [Decision; 16] = [
        Decision {
            field: "tininess",
            decides: "which results at the edge of the subnormal range .ftz, .FTZ and .FMZ flush: those that are \
                      subnormal when rounded with an unbounded exponent range",
            source: "sm_90 (in all four directions, f32 and f16) and sm_89; sm_100 agrees; sm_50 to sm_86 unmeasured",
            status: Status::Measured,
        },
        Decision {
            field: "sm1x_tininess",
            decides: "the same for mad.f32 of sm_1x with a nonzero addend: those that are subnormal when delivered",
            source: "envytools/envytools nvhw/fp.c, a model; no tested operand reaches the boundary",
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
            source: "sm_1x, sm_90 and sm_120; PTX leaves it open",
            status: Status::Measured,
        },
        Decision {
            field: "nan_f64",
            decides: "whose payload an f64 NaN keeps: b, then c, then a; a minus, from sm_70 on an absolute value \
                      too, leaves the sign of a NaN operand alone; an invalid operation gives 0xfff8000000000000",
            source: "GT200, sm_90, and the multiplication of sm_120; which operand of a sum or a product is the second one the assembler may choose; sm_20 to sm_86 unmeasured",
            status: Status::Measured,
        },
        Decision {
            field: "div_nan_f64",
            decides: "whose payload the NaN of an f64 division keeps: the dividend's, then the divisor's",
            source: "ptxas: the routine of div.f64 asks the dividend first (12.9: sm_50 and sm_90 in all four directions; 12.9 \
                     and 13.5: sm_75, sm_90 and sm_100 in .rn); no GPU was asked",
            status: Status::Reported,
        },
        Decision {
            field: "nan_small",
            decides: "the bits of an f16 or bf16 NaN: 0x7fff",
            source: "f16 add and mul on sm_53, f16 and bf16 on sm_90; SPIR-V leaves any NaN legal",
            status: Status::Measured,
        },
        Decision {
            field: "sm1x_mad",
            decides: "whether mad.f32 of sm_1x truncates its product or runs as fma.rn.ftz.f32 after recompilation",
            source: "PTX mad, notes for .target sm_1x",
            status: Status::Documented,
        },
        Decision {
            field: "fmz_sat_nan",
            decides: "what a saturating .FMZ form gives for a zero factor and a NaN factor: +0 plus the addend, clamped",
            source: "FFMA .FMZ; sm_90, by the bit of the machine code; a Tesla gives +0; unmeasured on Maxwell",
            status: Status::Measured,
        },
        Decision {
            field: "oob_nan",
            decides: "the out-of-bounds NaN of .oob, in f16 and bf16: 0x7ff7 of either sign, in a or b; in c it is a NaN as others",
            source: "sm_90; a public test suite that ran on sm_100",
            status: Status::Measured,
        },
        Decision {
            field: "dot_zero",
            decides: "the exponent of a zero term of a matrix multiply-add, seen where all other terms are tiny: a floor \
                      below the accumulator's own exponents, by row: -132 on sm_80",
            source: "sm_90, where the other readings fail; microsoft/MMA-Sim's later files for the rest",
            status: Status::Measured,
        },
        Decision {
            field: "dot_zero_sign",
            decides: "the sign of a zero sum of a matrix multiply-add: +0",
            source: "sm_90, where the other reading fails; microsoft/MMA-Sim's first release",
            status: Status::Measured,
        },
        Decision {
            field: "dot_addend",
            decides: "the bits that a matrix multiply-add keeps of the addend: as many as of a product",
            source: "sm_90, where the other reading fails; microsoft/MMA-Sim for the rest",
            status: Status::Measured,
        },
        Decision {
            field: "dot_nan_f64",
            decides: "whose payload an f64 NaN of a matrix multiply-add keeps: b, then c, then a",
            source: "sm_90: the rule of a chain of fused multiply-adds",
            status: Status::Measured,
        },
        Decision {
            field: "turing_block",
            decides: "the products that a step of mma.m16n8k8 adds on sm_75: eight",
            source: "microsoft/MMA-Sim, validated on a T4; arXiv 2502.15999 has a 5-operand adder",
            status: Status::Unmeasured,
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
