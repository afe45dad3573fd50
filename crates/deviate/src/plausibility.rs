//! How plausible a deviation is as a cause, and which unusual ones a person may allow.

use serde::Serialize;

use crate::deviation::{Deviation, Products};

/// How plausible a cause is, the most plausible first. An explanation by several deviations is as plausible as the
/// least plausible of them ([`plausibility`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plausibility {
    /// One policy for the whole computation, as a compiler's option or a machine's mode sets it: as written; every
    /// product contracted; subnormals flushed everywhere; a wider type, rounded at each operation or once.
    Uniform,
    /// One library function or intrinsic stands in for another: an fma computed as a product and a sum, a root through its
    /// reciprocal, factors of f32 products in TF32, f16 or bf16.
    Replaced,
    /// Some products are contracted and others are not.
    PartialContraction,
    /// The sum is taken in another order, or compensated.
    OtherOrder,
    /// A function gives a value that its documents allow and that is not the correctly rounded one.
    Approximated,
    /// What no compiler does unasked: directed rounding, saturation, zero dominance, sm_1x, a half of a flush,
    /// a flipped sign.
    Unusual,
}

/// How plausible several deviations together are. Results flushed by another rule than the profile's are a half of a
/// flush; where operands are flushed too, they are another machine's flush.
///
/// ```
/// use roundonce_arith::Tininess;
/// use roundonce_deviate::{Deviation, Plausibility, plausibility};
/// let half = Deviation::FlushResults(Tininess::Result);
/// assert_eq!(plausibility(&[half.clone()]), Plausibility::Unusual);
/// assert_eq!(plausibility(&[Deviation::Flush(None), half]), Plausibility::Uniform);
/// ```
pub fn plausibility(deviations: &[Deviation]) -> Plausibility {
    relevant(deviations).map(Deviation::plausibility).max().unwrap_or(Plausibility::Uniform)
}

/// The deviations that say how plausible they are together.
fn relevant(deviations: &[Deviation]) -> impl Iterator<Item = &Deviation> {
    let is_flushing = deviations.iter().any(|it| matches!(it, Deviation::Flush(_)));
    deviations.iter().filter(move |it| !(is_flushing && matches!(it, Deviation::FlushResults(_))))
}

impl Deviation {
    /// How plausible it is as a cause.
    pub const fn plausibility(&self) -> Plausibility {
        match self {
            Deviation::Contract(Products::All | Products::Only(_))
            | Deviation::Flush(_)
            | Deviation::Keep(_)
            | Deviation::WideEachOperation(_)
            | Deviation::WideWhole(_)
            | Deviation::X87(_)
            | Deviation::SubnormalsTwice
            | Deviation::WideResult(_)
            | Deviation::Bf16Cut(_)
            // Conversions to narrow formats are written so by hand; the second is an instruction's too.
            | Deviation::TiesAway(Some(_))
            | Deviation::StayFinite(_)
            | Deviation::WideSum(_)
            | Deviation::Machine(_)
            | Deviation::NanOperand(_)
            | Deviation::OtherNan
            | Deviation::Reciprocal
            | Deviation::ExpM1
            | Deviation::Log1P
            | Deviation::MultipliedOut
            | Deviation::CastThroughF32
            | Deviation::HalfToEven
            | Deviation::HalfAway
            | Deviation::X86Integers
            | Deviation::UnlimitedIntegers
            | Deviation::NumberFirst
            | Deviation::CastsLeftOut
            | Deviation::ReciprocalRoot => Plausibility::Uniform,
            // Both are another build's.
            Deviation::Split(_)
            | Deviation::Contract(Products::Apart)
            | Deviation::Tf32(_)
            | Deviation::NarrowFactors(_)
            | Deviation::RootByReciprocal
            | Deviation::ReciprocalByRoot
            | Deviation::QuotientByRoot => Plausibility::Replaced,
            Deviation::Approximate(_) => Plausibility::Approximated,
            Deviation::Contract(Products::Written(_) | Products::Lines { .. }) => Plausibility::PartialContraction,
            Deviation::Order(_) | Deviation::TensorCores(_) | Deviation::Compensated => Plausibility::OtherOrder,
            Deviation::Round(_)
            | Deviation::RoundUnmodified(_)
            | Deviation::TiesAway(None)
            | Deviation::ZeroDominance
            | Deviation::NoZeroDominance
            | Deviation::TruncatedProduct
            | Deviation::WholeProduct
            | Deviation::OutOfBounds
            | Deviation::NoOutOfBounds
            | Deviation::Saturate
            | Deviation::NoSaturate
            | Deviation::FlushResults(_)
            | Deviation::FlushOperands
            | Deviation::KeepOperands
            | Deviation::KeepResults
            | Deviation::OtherZero
            | Deviation::NegateAddend
            | Deviation::NegateProduct => Plausibility::Unusual,
        }
    }

    /// The unusual mode that it is, if it is one that can be allowed.
    const fn mode(&self) -> Option<UnusualMode> {
        match self {
            Deviation::Round(_) | Deviation::RoundUnmodified(_) | Deviation::TiesAway(None) => {
                Some(UnusualMode::Directed)
            }
            Deviation::Saturate | Deviation::NoSaturate => Some(UnusualMode::Saturation),
            Deviation::ZeroDominance | Deviation::NoZeroDominance => Some(UnusualMode::ZeroDominance),
            Deviation::TruncatedProduct | Deviation::WholeProduct => Some(UnusualMode::Sm1x),
            _ => None,
        }
    }
}

/// A mode that machines have and compilers do not choose unasked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnusualMode {
    /// Directed rounding, and ties away from zero.
    Directed,
    /// `.sat`.
    Saturation,
    /// `.FMZ`.
    ZeroDominance,
    /// `mad.f32` of sm_1x.
    Sm1x,
}

impl UnusualMode {
    /// Every mode.
    pub const ALL: [UnusualMode; 4] =
        [UnusualMode::Directed, UnusualMode::Saturation, UnusualMode::ZeroDominance, UnusualMode::Sm1x];

    /// What a person calls it.
    pub const fn name(self) -> &'static str {
        match self {
            UnusualMode::Directed => "directed",
            UnusualMode::Saturation => "sat",
            UnusualMode::ZeroDominance => "fmz",
            UnusualMode::Sm1x => "sm1x",
        }
    }
}

/// The unusual modes that may be causes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Allowed(u8);

impl Allowed {
    /// None of them.
    pub const NONE: Allowed = Allowed(0);
    /// All of them.
    pub const ALL: Allowed = Allowed(0b1111);
    /// All of them, and what no machine does: the causes in a program of one's own that carries out an instruction.
    pub const ANYTHING: Allowed = Allowed(u8::MAX);

    /// Reads a list of names with commas between.
    ///
    /// # Errors
    /// The name that is none, and the names there are.
    ///
    /// ```
    /// use roundonce_deviate::{Allowed, Deviation};
    /// let allowed = Allowed::parse("sat,fmz").unwrap();
    /// assert!(allowed.is_cause(&[Deviation::Saturate]));
    /// assert!(!allowed.is_cause(&[Deviation::TruncatedProduct]));
    /// assert!(Allowed::parse("truncated").unwrap_err().contains("directed, sat, fmz, sm1x"));
    /// ```
    pub fn parse(list: &str) -> Result<Allowed, String> {
        let mut allowed = Allowed::NONE;
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let mode = UnusualMode::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| {
                let known = UnusualMode::ALL.map(UnusualMode::name).join(", ");
                format!("`{name}` cannot be allowed: expected {known}")
            })?;
            allowed = allowed.and(mode);
        }
        Ok(allowed)
    }

    /// These and others.
    #[must_use]
    pub const fn or(self, other: Allowed) -> Allowed {
        Allowed(self.0 | other.0)
    }

    /// These, and one more.
    #[must_use]
    pub const fn and(self, mode: UnusualMode) -> Allowed {
        Allowed(self.0 | 1 << mode as u8)
    }

    fn has(self, mode: UnusualMode) -> bool {
        self.0 & 1 << mode as u8 != 0
    }

    /// Whether deviations may together be a cause: they are plausible but for modes that are allowed.
    pub fn is_cause(self, deviations: &[Deviation]) -> bool {
        let is_cause = |deviation: &Deviation| {
            deviation.plausibility() != Plausibility::Unusual || deviation.mode().is_some_and(|mode| self.has(mode))
        };
        self == Allowed::ANYTHING || relevant(deviations).all(is_cause)
    }
}
