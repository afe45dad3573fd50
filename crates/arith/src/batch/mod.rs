//! The pipeline over slices, with SIMD instructions and the same bits.
//!
//! A [`Batch`] is an [`Operation`] under a [`Profile`] with its kernel chosen once; every run is one call of a function
//! pointer. An operand is a [`Source`]: a slice, one value for all lanes, or the output's previous contents (accumulation
//! in place). Lane i of the output has the bits that [`Operation::evaluate`] gives for lane i of the
//! sources, on every [`Level`].
//!
//! ```
//! use roundonce_arith::batch::{Batch, Source};
//! use roundonce_arith::{Format, Operation, Profile, Rounding};
//! let fma = Batch::new(Operation::mul_add(Format::F32, Rounding::TowardZero), &Profile::NVIDIA);
//! let x = [0x3f80_0001_u32; 100];
//! let mut y = [0xbf80_0002_u32; 100];
//! // y = x · 1.0000001 + y
//! fma.run(&[Source::Slice(&x), Source::Uniform(0x3f80_0001), Source::Out], &mut y);
//! assert_eq!(y, [0x2880_0000; 100]);
//! ```
//!
//! What this is not: it gives bits and no [`Flags`](crate::Flags), and it starts no threads (cut the slices and give
//! each thread its part: a `Batch` is `Copy` and `Sync`).
//!
//! The caller's floating-point environment is checked and restored: if the thread runs with flush-to-zero (or, without
//! AVX-512, with another rounding direction or unmasked exceptions), the portable kernel is used for the call.

/// Whether the processor has these features; without `std`, whether the build's target guarantees them.
#[cfg(target_arch = "x86_64")]
macro_rules! has_features {
    ($($feature:tt)*) => {{
        #[cfg(feature = "std")]
        { $(std::arch::is_x86_feature_detected!($feature))&&* }
        #[cfg(not(feature = "std"))]
        { $(cfg!(target_feature = $feature))&&* }
    }};
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon")))]
mod driver;
#[cfg(target_arch = "x86_64")]
mod environment;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
mod portable;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon")))]
mod table;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon")))]
mod vector;

use crate::{ArithOp, Format, Operation, Profile, Sm1xMad};

/// An instruction set that kernels are written for, slowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Integer arithmetic only: the scalar pipeline for each lane.
    Portable,
    /// AArch64; arithmetic of f16 or bf16 alone uses [`Portable`](Level::Portable).
    Neon,
    /// x86-64 with AVX2, FMA and F16C.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Level {
    /// All levels.
    pub const ALL: [Level; 4] = [Level::Portable, Level::Neon, Level::Avx2, Level::Avx512];

    /// Whether this processor has it. Without the crate's feature `std`: whether the build's target guarantees it.
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            Level::Neon => cfg!(all(target_arch = "aarch64", target_feature = "neon")),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::is_available(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The fastest available level.
    pub fn best() -> Level {
        Level::ALL.into_iter().rfind(|level| level.is_available()).unwrap_or(Level::Portable)
    }
}

/// How results reach memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stores {
    /// Through the cache, unless one run's output is too large for it and is not read: then non-temporal.
    Automatic,
    /// Through the cache.
    Cached,
    /// Non-temporal, around the cache: for a part of an array that is too large as a whole.
    Streaming,
}

/// The source of one operand's lanes.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a, T> {
    /// One value for each lane; as long as the output.
    Slice(&'a [T]),
    /// The same value in every lane.
    Uniform(T),
    /// The value that the output's lane holds before the run.
    Out,
}

/// An operation over slices. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    operation: Operation,
    profile: Profile,
    level: Level,
    stores: Stores,
    kernel: Kernels,
}

/// An unsigned integer that holds the bits of a lane.
pub trait Lane: Copy + Default + private::Sealed {
    #[doc(hidden)]
    const BITS: u32;
    #[doc(hidden)]
    fn to_bits(self) -> u64;
    #[doc(hidden)]
    fn from_bits(bits: u64) -> Self;
}

/// Types that the public trait [`Lane`] must name.
mod private {
    use super::{Source, Stores};
    use crate::{Operation, Profile};

    /// The arguments of a kernel: the operation for lanes that it leaves to the scalar pipeline, and the operands, their
    /// lengths checked. The unused operand of an operation of two is a uniform zero.
    pub struct Job<'a, N, W> {
        pub(super) operation: &'a Operation,
        pub(super) profile: &'a Profile,
        #[cfg_attr(
            not(any(target_arch = "x86_64", target_arch = "aarch64")),
            allow(dead_code, reason = "only vectors ask")
        )]
        pub(super) stores: Stores,
        /// By reference: copies made for a short run would be loaded before their stores complete.
        pub(super) factors: [&'a Source<'a, N>; 2],
        pub(super) addend: &'a Source<'a, W>,
    }

    impl<N, W> Job<'_, N, W> {
        /// Whether results are stored non-temporally.
        #[inline(always)]
        #[cfg_attr(
            not(any(target_arch = "x86_64", target_arch = "aarch64")),
            allow(dead_code, reason = "only vectors ask")
        )]
        pub(super) fn bypasses_cache(&self, length: usize) -> bool {
            /// Bytes of output that with the operands exceed a typical second-level cache.
            const LARGE: usize = 1 << 20;
            match self.stores {
                Stores::Streaming => true,
                Stores::Cached => false,
                // The output is in the cache if it is also read.
                Stores::Automatic => {
                    length >= LARGE / size_of::<W>()
                        && !matches!(self.addend, Source::Out)
                        && !self.factors.iter().any(|factor| matches!(factor, Source::Out))
                }
            }
        }
    }

    #[allow(unreachable_pub)] // A type alias is not seen to be used by the trait.
    pub type Kernel<N, W> = fn(&Job<'_, N, W>, &mut [W]);

    /// The kernel for the types of the operands and the result; `Portable` takes any.
    #[derive(Clone, Copy, Debug)]
    pub enum Kernels {
        Portable,
        U16(Kernel<u16, u16>),
        U32(Kernel<u32, u32>),
        U64(Kernel<u64, u64>),
        U16U32(Kernel<u16, u32>),
    }

    pub trait Sealed: Sized {
        /// The kernel for operands and results of this one type.
        fn kernel(kernels: Kernels) -> Option<Kernel<Self, Self>>;
    }
}
use private::{Job, Kernel, Kernels};

macro_rules! lane {
    ($int:ty, $kernel:ident) => {
        impl Lane for $int {
            const BITS: u32 = <$int>::BITS;
            #[inline(always)]
            fn to_bits(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as $int
            }
        }
        impl private::Sealed for $int {
            #[inline(always)]
            fn kernel(kernels: Kernels) -> Option<Kernel<Self, Self>> {
                if let Kernels::$kernel(kernel) = kernels { Some(kernel) } else { None }
            }
        }
    };
}
lane!(u16, U16);
lane!(u32, U32);
lane!(u64, U64);

impl Batch {
    /// The fastest kernel for this processor.
    pub fn new(operation: Operation, profile: &Profile) -> Batch {
        Batch::at_level(operation, profile, Level::best())
    }

    /// The kernel of a given level, or of the nearest lower one that has a kernel for the operation; for tests and
    /// benchmarks. [`level`](Batch::level) returns which it is.
    ///
    /// # Panics
    /// If the level is not available.
    pub fn at_level(operation: Operation, profile: &Profile, level: Level) -> Batch {
        assert!(level.is_available(), "this machine has no {level:?}");
        let (level, kernel) = select(&canonical(operation, profile), profile, level);
        Batch { operation, profile: *profile, level, stores: Stores::Automatic, kernel }
    }

    /// The same kernel with another choice of stores.
    #[must_use]
    pub fn with_stores(self, stores: Stores) -> Batch {
        Batch { stores, ..self }
    }

    /// What is computed.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The level of the chosen kernel: [`Level::Portable`] if no faster one supports the operation.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Computes every lane of `out`. There are [`ArithOp::arity`] operands, in the order a, b, c.
    ///
    /// `T` is `u32` for f32, `u64` for f64, `u16` for f16 and bf16; a wider one works too (slowly), its upper bits ignored in
    /// operands and zero in results. An f32x2 register of 64 bits is two lanes of `u32`.
    ///
    /// # Panics
    /// If the number of operands is wrong, a slice is not as long as `out`, or `T` is narrower than the format.
    #[inline]
    pub fn run<T: Lane>(&self, operands: &[Source<'_, T>], out: &mut [T]) {
        let zero = Source::Uniform(T::default());
        let (factors, addend) = match (self.operation.op, operands) {
            (ArithOp::MulAdd | ArithOp::TruncatedMulAdd, [a, b, c]) => ([a, b], c),
            (ArithOp::Add, [a, c]) => ([a, &zero], c),
            (ArithOp::Mul, [a, b]) => ([a, b], &zero),
            (op, _) => panic!("{op:?} takes {} operands, not {}", op.arity(), operands.len()),
        };
        for (source, name) in [(factors[0], "a"), (factors[1], "b"), (addend, "c")] {
            check_length(source, name, out.len());
        }
        self.start(T::kernel(self.kernel), factors, addend, out);
    }

    /// [`run`](Batch::run) for factors of 16 bits and an addend and a result of 32: f16 or bf16 with f32.
    ///
    /// `factors` are a and b, of an addition a alone; `addend` is c, `None` for a multiplication.
    ///
    /// # Panics
    /// If the number of operands is wrong, a slice is not as long as `out`, a factor is [`Source::Out`], or a format
    /// is wider than its lanes.
    #[inline]
    pub fn run_mixed(&self, factors: &[Source<'_, u16>], addend: Option<Source<'_, u32>>, out: &mut [u32]) {
        let (factors, addend) = match (self.operation.op, factors, &addend) {
            (ArithOp::MulAdd | ArithOp::TruncatedMulAdd, [a, b], Some(c)) => ([a, b], c),
            (ArithOp::Add, [a], Some(c)) => ([a, &Source::Uniform(0)], c),
            (ArithOp::Mul, [a, b], None) => ([a, b], &Source::Uniform(0)),
            (op, ..) => panic!(
                "{op:?} takes {} operands, not {} factors and {} addends",
                op.arity(),
                factors.len(),
                addend.is_some() as u32
            ),
        };
        for (source, name) in [(factors[0], "a"), (factors[1], "b")] {
            check_length(source, name, out.len());
            assert!(!matches!(source, Source::Out), "operand {name} has 16 bits and the output 32: it can't be Out");
        }
        check_length(addend, "c", out.len());
        let kernel = if let Kernels::U16U32(kernel) = self.kernel { Some(kernel) } else { None };
        self.start(kernel, factors, addend, out);
    }

    #[inline(always)]
    fn start<N: Lane, W: Lane>(
        &self,
        kernel: Option<Kernel<N, W>>,
        factors: [&Source<'_, N>; 2],
        addend: &Source<'_, W>,
        out: &mut [W],
    ) {
        let Batch { operation, profile, stores, .. } = self;
        let job = Job { operation, profile, stores: *stores, factors, addend };
        match kernel {
            Some(kernel) => kernel(&job, out),
            None => portable::run(&job, out),
        }
    }
}

#[inline(always)]
fn check_length<T>(source: &Source<'_, T>, name: &str, length: usize) {
    if let Source::Slice(slice) = source {
        assert!(slice.len() == length, "operand {name} has {} lanes and the output {length}", slice.len());
    }
}

/// The operation in a canonical form, so that fewer kernels suffice: `mad.f32` of sm_1x recompiled for sm_20 is a fused
/// multiply-add; the sign of an unused operand is not changed.
fn canonical(operation: Operation, profile: &Profile) -> Operation {
    let mut simple = operation;
    if simple.op == ArithOp::TruncatedMulAdd && profile.sm1x_mad == Sm1xMad::FusedFtz {
        simple.op = ArithOp::MulAdd;
        simple.flush = true;
    }
    match simple.op {
        ArithOp::Mul => simple.negate_addend = false,
        ArithOp::Add => simple.fmz = false,
        _ => {}
    }
    simple
}

fn select(operation: &Operation, profile: &Profile, level: Level) -> (Level, Kernels) {
    if operation.operand_formats.is_some() {
        return (Level::Portable, Kernels::Portable);
    }
    #[cfg(target_arch = "x86_64")]
    if level >= Level::Avx512
        && let Some(kernel) = avx512::select(operation, profile)
    {
        return (Level::Avx512, kernel);
    }
    #[cfg(target_arch = "x86_64")]
    if level >= Level::Avx2
        && let Some(kernel) = avx2::select(operation, profile)
    {
        return (Level::Avx2, kernel);
    }
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    if level >= Level::Neon
        && let Some(kernel) = neon::select(operation, profile)
    {
        return (Level::Neon, kernel);
    }
    let _ = (operation, profile, level);
    (Level::Portable, Kernels::Portable)
}

/// Checks that the formats fit the lanes' types.
#[track_caller]
fn check_width<N: Lane, W: Lane>(operation: &Operation) {
    let fits = |format: Format, bits: u32, what: &str| {
        assert!(format.width() <= bits, "{what} of {} bits in lanes of {bits}", format.width());
    };
    fits(operation.source_format, N::BITS, "factors");
    fits(operation.format, W::BITS, "results");
}
