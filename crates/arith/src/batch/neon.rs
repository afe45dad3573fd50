//! AArch64's vectors: f32, f64, and factors of 16 bits with f32.
//!
//! The rounding direction is the thread's, set by a guard while a kernel runs. The operations that round are inline
//! assembly, because the compiler assumes rounding to nearest for all arithmetic that it knows. The
//! processor cannot flush operands without also flushing results, by a rule of its own, so its flush is not used.
#![allow(unsafe_code)]

use core::arch::aarch64::*;

use super::driver::for_each_vector;
use super::table;
use super::vector::{DOWN, Factor, Mask, Mode, UP, Vector, ZERO};
use super::{Job, Kernels, portable};
use crate::{Format, Operation, Profile};

/// The kernel for an operation; `None` if there is none.
pub(super) fn select(operation: &Operation, profile: &Profile) -> Option<Kernels> {
    match (operation.source_format, operation.format) {
        (Format::F32, Format::F32) => table::select_f32::<F32x4>(operation, profile).map(Kernels::U32),
        (Format::F64, Format::F64) => table::select_f64::<F64x2>(operation, profile).map(Kernels::U64),
        (Format::F16, Format::F32) => table::select_mixed::<F32x4, F16x4>(operation, profile).map(Kernels::U16U32),
        (Format::BF16, Format::F32) => table::select_mixed::<F32x4, Bf16x4>(operation, profile).map(Kernels::U16U32),
        _ => None,
    }
}

/// Four f32, as their bits.
#[derive(Clone, Copy)]
struct F32x4(uint32x4_t);
/// Two f64, as their bits.
#[derive(Clone, Copy)]
struct F64x2(uint64x2_t);
/// Four f16: factors only.
struct F16x4;
/// Four bf16: factors only.
struct Bf16x4;
/// A mask: all ones in its lanes.
#[derive(Clone, Copy)]
struct MaskVector<M>(M);

/// Calls intrinsics.
macro_rules! neon {
    ($($intrinsics:tt)*) => {{
        // SAFETY: the targets that this is compiled for have them all; pointers come from arrays of a vector's size.
        #[allow(unused_unsafe)] // Later compilers have most of them safe to call.
        unsafe { $($intrinsics)* }
    }};
}

/// One instruction: the vector that it writes and may read, and those that it only reads.
macro_rules! instruction {
    ($text:expr, $r:expr $(, $name:ident = $read:expr)*) => {{
        let mut result = $r;
        // SAFETY: only registers are read and written; pure, because the direction is constant while a kernel runs.
        unsafe {
            core::arch::asm!($text, r = inout(vreg) result, $($name = in(vreg) $read,)*
                options(pure, nomem, nostack));
        }
        result
    }};
}

/// A format, its vector, and the assembler's name for its lanes.
macro_rules! native {
    ($vector:ident, $format:expr, $canonical:literal, $lane:ty, $lanes:literal, $shape:literal, $one:expr, $bits:ty,
     $load:ident, $store:ident, $splat:ident, $and:ident, $or:ident, $xor:ident, $clear:ident, $select:ident,
     $equal:ident, $less:ident, $sub:ident, $as_words:expr) => {
        impl Mask for MaskVector<$bits> {
            // SAFETY: any 16 bytes are a value of the type.
            const NONE: Self = MaskVector(unsafe { core::mem::zeroed() });
            #[inline(always)]
            fn union(self, other: Self) -> Self {
                MaskVector(neon!($or(self.0, other.0)))
            }
            #[inline(always)]
            fn is_empty(self) -> bool {
                neon!(vmaxvq_u32($as_words(self.0))) == 0
            }
        }

        impl Vector for $vector {
            type Lane = $lane;
            type Array = [$lane; $lanes];
            type Mask = MaskVector<$bits>;
            type Magnitudes = $bits;

            const LANES: usize = $lanes;
            const FORMAT: Format = $format;
            const CANONICAL_NAN: bool = $canonical;
            const HARDWARE_FLUSH: bool = false;

            #[inline(always)]
            fn load(from: &Self::Array) -> Self {
                Self(neon!($load(from.as_ptr())))
            }
            #[inline(always)]
            fn store<const ROUND: i32>(self, to: &mut Self::Array) {
                neon!($store(to.as_mut_ptr(), self.0));
            }
            #[inline(always)]
            fn store_nontemporal<const ROUND: i32>(self, to: &mut Self::Array) {
                self.store::<ROUND>(to);
            }
            #[inline(always)]
            fn store_fence() {}
            #[inline(always)]
            fn splat(bits: u64) -> Self {
                Self(neon!($splat(bits as $lane)))
            }
            #[inline(always)]
            fn flip(self, mask: Self) -> Self {
                Self(neon!($xor(self.0, mask.0)))
            }
            #[inline(always)]
            fn select(mask: MaskVector<$bits>, yes: Self, no: Self) -> Self {
                Self(neon!($select(mask.0, yes.0, no.0)))
            }
            #[inline(always)]
            fn to_zero(self, mask: MaskVector<$bits>) -> Self {
                let rest = Self::splat(Self::FORMAT.magnitude_mask()).0;
                Self(neon!($clear(self.0, $and(mask.0, rest))))
            }
            #[inline(always)]
            fn zero(self) -> MaskVector<$bits> {
                MaskVector(neon!($equal(self.magnitude(), $splat(0))))
            }
            #[inline(always)]
            fn unordered(one: Self, other: Self) -> MaskVector<$bits> {
                let infinity = Self::splat(Self::FORMAT.infinity()).0;
                MaskVector(neon!($or($less(infinity, one.magnitude()), $less(infinity, other.magnitude()))))
            }
            #[inline(always)]
            fn subnormal(self) -> MaskVector<$bits> {
                // Between zero and the smallest normal: zero wraps around.
                let bound = Self::splat(Self::FORMAT.smallest_normal() - 1).0;
                MaskVector(neon!($less($sub(self.magnitude(), $splat(1)), bound)))
            }
            #[inline(always)]
            fn magnitude(self) -> $bits {
                neon!($and(self.0, $splat(Self::FORMAT.magnitude_mask() as $lane)))
            }
            #[inline(always)]
            fn lesser(one: $bits, other: $bits) -> $bits {
                neon!($select($less(one, other), one, other))
            }
            #[inline(always)]
            fn any_below(magnitudes: $bits, bound: $bits) -> bool {
                !MaskVector(neon!($less(magnitudes, bound))).is_empty()
            }
            #[inline(always)]
            fn smallest_normal(self) -> MaskVector<$bits> {
                MaskVector(neon!($equal(self.magnitude(), $splat(Self::FORMAT.smallest_normal() as $lane))))
            }
            #[inline(always)]
            fn quiet(self) -> Self {
                Self(neon!($or(self.0, $splat(Self::FORMAT.quiet_bit() as $lane))))
            }
            #[inline(always)]
            fn rectify(self) -> Self {
                // fmaxnm returns the number if the other is a quiet NaN, and the greater of two zeros: results are never signalling.
                Self(instruction!(
                    concat!("fmaxnm {r:v}.", $shape, ", {r:v}.", $shape, ", {x:v}.", $shape),
                    self.0,
                    x = neon!($splat(0))
                ))
            }
            #[inline(always)]
            fn clamp(self) -> Self {
                Self(instruction!(
                    concat!("fminnm {r:v}.", $shape, ", {r:v}.", $shape, ", {x:v}.", $shape),
                    self.rectify().0,
                    x = neon!($splat($one))
                ))
            }
            #[inline(always)]
            fn optimisation_barrier() {
                // SAFETY: no instruction.
                unsafe { core::arch::asm!("", options(nomem, nostack, preserves_flags)) };
            }
            #[inline(always)]
            fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> Self {
                Self(instruction!(
                    concat!("fmla {r:v}.", $shape, ", {x:v}.", $shape, ", {y:v}.", $shape),
                    c.0,
                    x = a.0,
                    y = b.0
                ))
            }
            #[inline(always)]
            fn add<const ROUND: i32>(a: Self, c: Self) -> Self {
                Self(instruction!(concat!("fadd {r:v}.", $shape, ", {r:v}.", $shape, ", {x:v}.", $shape), a.0, x = c.0))
            }
            #[inline(always)]
            fn mul<const ROUND: i32>(a: Self, b: Self) -> Self {
                Self(instruction!(concat!("fmul {r:v}.", $shape, ", {r:v}.", $shape, ", {x:v}.", $shape), a.0, x = b.0))
            }
            #[inline(never)] // The same for the function around it.
            fn run<F: Factor<Self>, const ROUND: i32, const OP: u8, const MODE: Mode>(
                job: &Job<'_, F::Lane, Self::Lane>,
                out: &mut [Self::Lane],
            ) {
                let Some(_guard) = FpEnvGuard::enter(ROUND) else {
                    return portable::run(job, out);
                };
                kernel::<Self, F, ROUND, OP, MODE>(job, out);
            }
        }
    };
}

native!(
    F32x4,
    Format::F32,
    true,
    u32,
    4,
    "4s",
    0x3f80_0000,
    uint32x4_t,
    vld1q_u32,
    vst1q_u32,
    vdupq_n_u32,
    vandq_u32,
    vorrq_u32,
    veorq_u32,
    vbicq_u32,
    vbslq_u32,
    vceqq_u32,
    vcltq_u32,
    vsubq_u32,
    core::convert::identity
);
native!(
    F64x2,
    Format::F64,
    false,
    u64,
    2,
    "2d",
    0x3ff0_0000_0000_0000,
    uint64x2_t,
    vld1q_u64,
    vst1q_u64,
    vdupq_n_u64,
    vandq_u64,
    vorrq_u64,
    veorq_u64,
    vbicq_u64,
    vbslq_u64,
    vceqq_u64,
    vcltq_u64,
    vsubq_u64,
    vreinterpretq_u32_u64
);

impl Factor<F32x4> for F16x4 {
    type Lane = u16;
    type Array = [u16; 4];
    #[inline(always)]
    fn load(from: &[u16; 4]) -> F32x4 {
        let halves = neon!(vcombine_u16(vld1_u16(from.as_ptr()), vdup_n_u16(0)));
        F32x4(neon!(vreinterpretq_u32_u16(instruction!("fcvtl {r:v}.4s, {r:v}.4h", halves))))
    }
}

impl Factor<F32x4> for Bf16x4 {
    type Lane = u16;
    type Array = [u16; 4];
    #[inline(always)]
    fn load(from: &[u16; 4]) -> F32x4 {
        F32x4(neon!(vshll_n_u16::<16>(vld1_u16(from.as_ptr()))))
    }
}

#[inline(never)] // The environment is not the default in here.
fn kernel<V: Vector, F: Factor<V>, const ROUND: i32, const OP: u8, const MODE: Mode>(
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    for_each_vector::<V, F, ROUND, OP, MODE>(job, out);
}

/// While it lives, the thread rounds in a kernel's direction. When it is dropped, the environment is restored, the sticky
/// exception bits included.
struct FpEnvGuard {
    control: u64,
    status: u64,
}

impl FpEnvGuard {
    /// `None` if the thread's control register is not the default, zero.
    #[inline(always)]
    fn enter(round: i32) -> Option<FpEnvGuard> {
        let (control, status): (u64, u64);
        // SAFETY: reads two registers.
        unsafe {
            core::arch::asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) status,
                options(nomem, nostack, preserves_flags));
        }
        if control != 0 {
            return None;
        }
        let mode = match round {
            UP => 1,
            DOWN => 2,
            ZERO => 3,
            _ => 0,
        };
        if mode != 0 {
            set(mode << 22, status);
        }
        Some(FpEnvGuard { control, status })
    }
}

impl Drop for FpEnvGuard {
    #[inline(always)]
    fn drop(&mut self) {
        set(self.control, self.status);
    }
}

#[inline(always)]
fn set(control: u64, status: u64) {
    // SAFETY: the control register differs only while a kernel runs, which is never inlined and whose arithmetic is inline
    // assembly.
    unsafe { core::arch::asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) control, in(reg) status, options(nostack)) };
}
