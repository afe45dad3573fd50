//! The vector instructions that code is compiled for.

/// Bytes of a cache line.
pub(crate) const LINE: u64 = 64;

/// A set of vector instructions. `emit` writes the instructions of AVX-512; `avx2` rewrites them for vectors of half the
/// length, of which there are half as many, with masks in vectors, and `neon` for AArch64's of a quarter of the length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Machine {
    /// F, BW, DQ and VL.
    Avx512,
    /// With FMA and F16C: x86-64-v3.
    Avx2,
    /// AArch64's, without extensions. Under Linux, where programs may say that instructions have changed.
    Neon,
}

impl Machine {
    /// The best one that this processor has.
    pub(crate) fn of_processor() -> Option<Machine> {
        [Machine::Avx512, Machine::Avx2, Machine::Neon].into_iter().find(|machine| machine.is_available())
    }

    /// Whether this processor has it.
    pub(crate) fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Machine::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("popcnt")
            }
            Machine::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
                    && is_x86_feature_detected!("popcnt")
            }
            Machine::Neon => false,
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            cfg!(all(target_arch = "aarch64", target_endian = "little", target_os = "linux")) && self == Machine::Neon
        }
    }

    /// Whether it can treat subnormal operands as zeros, and tiny results as well or not. AArch64 flushes both or neither,
    /// results before they are rounded.
    pub(crate) const fn flushes(self) -> bool {
        !matches!(self, Machine::Neon)
    }
    /// Lanes of a vector, 32 bits each.
    pub(crate) const fn lanes(self) -> usize {
        match self {
            Machine::Avx512 => 16,
            Machine::Avx2 => 8,
            Machine::Neon => 4,
        }
    }
    /// Vector registers that are allocated, from the first; the last ones are scratch.
    pub(crate) const fn registers(self) -> usize {
        match self {
            Machine::Avx512 => 27,
            Machine::Avx2 => 9,
            Machine::Neon => 21,
        }
    }
}
