//! The floating-point execution modes that an entry point declares for a width.

use std::fmt;

use roundonce_arith::Rounding;
use roundonce_isa::split_spelling;
use rspirv::spirv::ExecutionMode;

use crate::facts::Facts;

/// What becomes of subnormal operands and results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Denorm {
    /// DenormPreserve: they are kept.
    Preserve,
    /// DenormFlushToZero: they become zero.
    FlushToZero,
}

/// The modes declared for one width; what is not declared is left to the implementation.
///
/// Source: SPV_KHR_float_controls, SPIR-V 1.6 3.6 Execution Mode.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FloatModes {
    /// RoundingModeRTE ([`Rounding::NearestEven`]) or RoundingModeRTZ ([`Rounding::TowardZero`]).
    pub rounding: Option<Rounding>,
    /// DenormPreserve or DenormFlushToZero.
    pub denorm: Option<Denorm>,
    /// SignedZeroInfNanPreserve: zeros keep their sign, infinities and NaNs are what IEEE 754 says.
    pub preserve_special: bool,
}

impl FloatModes {
    /// The modes that an instruction's spelling carries: `+rte`, `+rtz`, `+preserve`, `+ftz`, `+special`.
    ///
    /// ```
    /// use roundonce_spirv::{Denorm, FloatModes};
    /// let modes = FloatModes::of_spelling("OpFmaKHR.v2f16+ftz");
    /// assert_eq!((modes.rounding, modes.denorm), (None, Some(Denorm::FlushToZero)));
    /// ```
    pub fn of_spelling(spelling: &str) -> FloatModes {
        let (_, modifiers) = split_spelling(spelling);
        let has = |modifier| modifiers.contains(&modifier);
        let rounding = [("+rte", Rounding::NearestEven), ("+rtz", Rounding::TowardZero)];
        let denorm = [("+preserve", Denorm::Preserve), ("+ftz", Denorm::FlushToZero)];
        FloatModes {
            rounding: rounding.into_iter().find_map(|(name, rounding)| has(name).then_some(rounding)),
            denorm: denorm.into_iter().find_map(|(name, denorm)| has(name).then_some(denorm)),
            preserve_special: has("+special"),
        }
    }

    /// The modes that an entry point's function declares for a width. Of two that contradict one another neither holds.
    pub(crate) fn of(facts: &Facts, function: u32, width: u32) -> FloatModes {
        let declares = |mode: ExecutionMode| {
            let mut modes = facts.modes.iter();
            modes.any(|at| at.target == function && at.value == mode as u32 && at.words.first() == Some(&width))
        };
        let one_of = |first, second| match (declares(first), declares(second)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        };
        let rounding = one_of(ExecutionMode::RoundingModeRTE, ExecutionMode::RoundingModeRTZ);
        let denorm = one_of(ExecutionMode::DenormPreserve, ExecutionMode::DenormFlushToZero);
        FloatModes {
            rounding: rounding.map(|even| if even { Rounding::NearestEven } else { Rounding::TowardZero }),
            denorm: denorm.map(|keep| if keep { Denorm::Preserve } else { Denorm::FlushToZero }),
            preserve_special: declares(ExecutionMode::SignedZeroInfNanPreserve),
        }
    }
}

impl fmt::Display for FloatModes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounding = match self.rounding {
            None => "rounding open",
            Some(Rounding::TowardZero) => "RTZ",
            Some(_) => "RTE",
        };
        let denorm = match self.denorm {
            None => "denormals open",
            Some(Denorm::Preserve) => "denormals preserved",
            Some(Denorm::FlushToZero) => "denormals flushed",
        };
        let special = if self.preserve_special { ", signed zero, infinity and NaN preserved" } else { "" };
        write!(f, "{rounding}, {denorm}{special}")
    }
}
