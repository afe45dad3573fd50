//! The floating-point execution modes that an entry point declares for a width.

use std::fmt;

use roundonce_arith::Rounding;
use roundonce_isa::split_spelling;
use rspirv::spirv::{ExecutionMode, ExecutionModel};

use crate::environment::{Client, Environment};
use crate::facts::{EntryPoint, Facts};
use crate::fast_math::keeps_special;
use crate::module::Module;

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
    /// SignedZeroInfNanPreserve, or an FPFastMathDefault without NotNaN, NotInf and NSZ: zeros keep their sign, infinities
    /// and NaNs are what IEEE 754 says.
    pub preserve_special: bool,
    /// DenormFlushToZero is about results alone: a subnormal operand may be kept.
    pub may_keep_operands: bool,
    /// A rounding that is not declared is to nearest even or toward zero, in no other direction.
    pub nearest_or_zero: bool,
}

impl FloatModes {
    /// The modes that an instruction's spelling carries: `+rte`, `+rtz`, `+preserve`, `+ftz`, `+special`, in the
    /// environment behind its `@`.
    ///
    /// ```
    /// use roundonce_spirv::{Denorm, FloatModes};
    /// let modes = FloatModes::of_spelling("OpFmaKHR.v2f16+ftz");
    /// assert_eq!((modes.rounding, modes.denorm), (None, Some(Denorm::FlushToZero)));
    /// assert!(FloatModes::of_spelling("OpFmaKHR.f32+ftz@vulkan1.3").may_keep_operands);
    /// ```
    pub fn of_spelling(spelling: &str) -> FloatModes {
        const FORMATS: [(&str, u32); 3] = [("f16", 16), ("f32", 32), ("f64", 64)];
        let (name, environment) = spelling.split_once('@').unwrap_or((spelling, ""));
        let (_, modifiers) = split_spelling(name);
        let has = |modifier| modifiers.contains(&modifier);
        let rounding = [("+rte", Rounding::NearestEven), ("+rtz", Rounding::TowardZero)];
        let denorm = [("+preserve", Denorm::Preserve), ("+ftz", Denorm::FlushToZero)];
        let declared = FloatModes {
            rounding: rounding.into_iter().find_map(|(name, rounding)| has(name).then_some(rounding)),
            denorm: denorm.into_iter().find_map(|(name, denorm)| has(name).then_some(denorm)),
            preserve_special: has("+special"),
            ..FloatModes::default()
        };
        let format = modifiers.iter().find_map(|modifier| FORMATS.iter().find(|(name, _)| modifier.ends_with(name)));
        match (environment.parse(), format) {
            (Ok(environment), Some(&(_, width))) => declared.under(environment, width),
            _ => declared,
        }
    }

    /// The modes of a width as a target environment reads them. SPV_KHR_float_controls has DenormFlushToZero flush
    /// operands and results; Vulkan asks it of results, an operand may be kept. Where no mode says it OpenCL rounds f64 to
    /// nearest even, in the full profile f32 too, and what else there is to nearest even or toward zero.
    ///
    /// Source: SPV_KHR_float_controls, 3.6 Execution Mode; VK_KHR_shader_float_controls, issue 2; The OpenCL SPIR-V
    /// Environment, OpenCL Numerical Compliance, Rounding Modes.
    #[must_use]
    pub fn under(self, environment: Environment, width: u32) -> FloatModes {
        match environment.client {
            Client::Vulkan(_) => FloatModes { may_keep_operands: true, ..self },
            Client::OpenCl { embedded, .. } if width == 64 || width == 32 && !embedded => {
                FloatModes { rounding: self.rounding.or(Some(Rounding::NearestEven)), ..self }
            }
            Client::OpenCl { .. } => FloatModes { nearest_or_zero: true, ..self },
            Client::Universal | Client::OpenGl => self,
        }
    }

    /// The modes that an entry point's function declares for a width. Of two that contradict one another neither holds.
    /// Only OpenCL has kernels.
    pub(crate) fn of(
        module: &Module,
        facts: &Facts,
        entry: &EntryPoint,
        width: u32,
        environment: Environment,
    ) -> FloatModes {
        let function = entry.function;
        let is_kernel = entry.model == ExecutionModel::Kernel as u32 && environment.client == Client::Universal;
        let environment = if is_kernel { Environment::OPENCL } else { environment };
        let declares = |mode: ExecutionMode| {
            facts.modes_of(function).any(|at| at.value == mode as u32 && at.words.first() == Some(&width))
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
            preserve_special: match facts.fast_math_default(module, function, width) {
                Some(mask) => keeps_special(mask),
                None => declares(ExecutionMode::SignedZeroInfNanPreserve),
            },
            ..FloatModes::default()
        }
        .under(environment, width)
    }
}

impl fmt::Display for FloatModes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounding = match self.rounding {
            None if self.nearest_or_zero => "RTE or RTZ",
            None => "rounding open",
            Some(Rounding::TowardZero) => "RTZ",
            Some(_) => "RTE",
        };
        let denorm = match self.denorm {
            None => "denormals open",
            Some(Denorm::Preserve) => "denormals preserved",
            Some(Denorm::FlushToZero) if self.may_keep_operands => "denormal results flushed, operands open",
            Some(Denorm::FlushToZero) => "denormals flushed",
        };
        let special = if self.preserve_special { ", signed zero, infinity and NaN preserved" } else { "" };
        write!(f, "{rounding}, {denorm}{special}")
    }
}
