//! Binary interchange formats as data.

/// A binary floating-point format with the fields of IEEE 754: one sign bit, `exp_bits` of biased
/// exponent (all ones: infinity or NaN; zero: zero or subnormal), `frac_bits` of trailing significand.
///
/// Values are carried as the low [`width`](Format::width) bits of a `u64`; the bits above are ignored on input and
/// zero on output.
///
/// ```
/// use roundonce_arith::Format;
/// assert_eq!(Format::F32.precision(), 24);
/// assert_eq!(Format::F32.infinity(), 0x7f80_0000);
/// assert_eq!(Format::new(4, 3), Format::E4M3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    exp_bits: u32,
    frac_bits: u32,
}

impl Format {
    /// IEEE 754 binary16.
    pub const F16: Format = Format::new(5, 10);
    /// bfloat16: the upper half of a binary32.
    pub const BF16: Format = Format::new(8, 7);
    /// IEEE 754 binary32.
    pub const F32: Format = Format::new(8, 23);
    /// IEEE 754 binary64.
    pub const F64: Format = Format::new(11, 52);
    /// TensorFloat-32: the upper 19 bits of a binary32, which a register holds in 32.
    pub const TF32: Format = Format::new(8, 10);
    /// Four exponent bits, three fraction bits, read as an IEEE format (not the OCP variant without infinities).
    pub const E4M3: Format = Format::new(4, 3);
    /// Five exponent bits, two fraction bits, read as an IEEE format.
    pub const E5M2: Format = Format::new(5, 2);

    /// A format of 2 to 11 exponent bits and 1 to 52 fraction bits.
    ///
    /// # Panics
    /// Outside those ranges (at compile time in a `const`).
    #[inline]
    pub const fn new(exp_bits: u32, frac_bits: u32) -> Format {
        assert!(exp_bits >= 2 && exp_bits <= 11 && frac_bits >= 1 && frac_bits <= 52);
        Format { exp_bits, frac_bits }
    }

    /// The fields of ue8m0, whose numbers are powers of two: exponents alone.
    pub(crate) const UE8M0: Format = Format { exp_bits: 8, frac_bits: 0 };

    /// The same with one exponent bit more. A code of this format is one of that, a power of two off, and what is an
    /// infinity or a NaN here is a number there.
    pub(crate) const fn with_wider_exponent(self) -> Format {
        Format::new(self.exp_bits + 1, self.frac_bits)
    }

    /// The four formats of the GPU languages, with their names.
    pub const NAMED: [(&'static str, Format); 4] =
        [("f16", Format::F16), ("bf16", Format::BF16), ("f32", Format::F32), ("f64", Format::F64)];

    /// `f16`, `bf16`, `f32` or `f64`; `None` for any other format.
    pub fn name(self) -> Option<&'static str> {
        Format::NAMED.iter().find(|(_, format)| *format == self).map(|(name, _)| *name)
    }

    /// Bits of a value.
    #[inline]
    pub const fn width(self) -> u32 {
        1 + self.exp_bits + self.frac_bits
    }
    /// Bits of the exponent field.
    #[inline]
    pub const fn exp_bits(self) -> u32 {
        self.exp_bits
    }
    /// Bits of the trailing significand field.
    #[inline]
    pub const fn frac_bits(self) -> u32 {
        self.frac_bits
    }
    /// Bits of the significand, the hidden one counted.
    #[inline]
    pub const fn precision(self) -> u32 {
        self.frac_bits + 1
    }
    /// The bias: what is subtracted from the exponent field of a normal number.
    #[inline]
    pub const fn bias(self) -> i32 {
        (1 << (self.exp_bits - 1)) - 1
    }
    /// Exponent of the smallest normal number.
    #[inline]
    pub const fn emin(self) -> i32 {
        1 - self.bias()
    }
    /// Exponent of the largest finite number.
    #[inline]
    pub const fn emax(self) -> i32 {
        self.bias()
    }
    /// Exponent of the smallest subnormal: the quantum of every subnormal.
    #[inline]
    pub const fn min_quantum(self) -> i32 {
        self.emin() - self.frac_bits as i32
    }
    /// The exponent field's largest value: infinity and NaN.
    #[inline]
    pub const fn exp_max(self) -> u64 {
        (1 << self.exp_bits) - 1
    }
    /// The sign bit.
    #[inline]
    pub const fn sign_mask(self) -> u64 {
        1 << (self.exp_bits + self.frac_bits)
    }
    /// The bits of the trailing significand.
    #[inline]
    pub const fn frac_mask(self) -> u64 {
        (1 << self.frac_bits) - 1
    }
    /// Every bit but the sign: also the bits of the positive NaN with the largest payload.
    #[inline]
    pub const fn magnitude_mask(self) -> u64 {
        self.sign_mask() - 1
    }
    /// Every bit of a value.
    #[inline]
    pub const fn mask(self) -> u64 {
        self.magnitude_mask() | self.sign_mask()
    }
    /// The fraction bit that is set in a quiet NaN and clear in a signalling one.
    #[inline]
    pub const fn quiet_bit(self) -> u64 {
        1 << (self.frac_bits - 1)
    }
    /// Positive infinity.
    #[inline]
    pub const fn infinity(self) -> u64 {
        self.exp_max() << self.frac_bits
    }
    /// The largest finite number.
    #[inline]
    pub const fn largest_finite(self) -> u64 {
        self.infinity() - 1
    }
    /// The smallest positive normal number.
    #[inline]
    pub const fn smallest_normal(self) -> u64 {
        1 << self.frac_bits
    }
    /// One.
    #[inline]
    pub const fn one(self) -> u64 {
        (self.bias() as u64) << self.frac_bits
    }

    /// A subnormal becomes the zero of its sign; any other value is unchanged: `.ftz`.
    #[inline]
    pub const fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign_mask() } else { bits & self.mask() }
    }
    /// The value clamped to [+0, 1]: a NaN and all below zero, −0 included, become +0: `.sat`.
    #[inline]
    pub const fn saturate(self, bits: u64) -> u64 {
        if self.is_nan(bits) || self.is_negative(bits) {
            0
        } else if bits & self.mask() > self.one() {
            self.one()
        } else {
            bits & self.mask()
        }
    }

    /// Whether the bits are a NaN.
    #[inline]
    pub const fn is_nan(self, bits: u64) -> bool {
        bits & self.magnitude_mask() > self.infinity()
    }
    /// Whether the bits are a signalling NaN.
    #[inline]
    pub const fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet_bit() == 0
    }
    /// Whether the bits are +0 or −0.
    #[inline]
    pub const fn is_zero(self, bits: u64) -> bool {
        bits & self.magnitude_mask() == 0
    }
    /// Whether the bits are an infinity.
    #[inline]
    pub const fn is_infinite(self, bits: u64) -> bool {
        bits & self.magnitude_mask() == self.infinity()
    }
    /// Whether the bits are a nonzero number below the smallest normal.
    #[inline]
    pub const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude_mask();
        magnitude != 0 && magnitude < self.smallest_normal()
    }
    /// Whether the sign bit is set.
    #[inline]
    pub const fn is_negative(self, bits: u64) -> bool {
        bits & self.sign_mask() != 0
    }
}
