//! A case to be judged, in types of the judges' own.

/// A binary interchange format: one sign bit, then exponent, then fraction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    /// Bits of the exponent field.
    pub exp_bits: u32,
    /// Bits of the fraction field.
    pub frac_bits: u32,
}

impl Layout {
    /// IEEE 754 binary16.
    pub const F16: Layout = Layout { exp_bits: 5, frac_bits: 10 };
    /// bfloat16.
    pub const BF16: Layout = Layout { exp_bits: 8, frac_bits: 7 };
    /// IEEE 754 binary32.
    pub const F32: Layout = Layout { exp_bits: 8, frac_bits: 23 };
    /// IEEE 754 binary64.
    pub const F64: Layout = Layout { exp_bits: 11, frac_bits: 52 };

    /// All bits of a value, counted.
    #[inline]
    pub const fn width(self) -> u32 {
        1 + self.exp_bits + self.frac_bits
    }
    /// Significand bits, the hidden one included.
    #[inline]
    pub const fn precision(self) -> u32 {
        self.frac_bits + 1
    }
    /// Exponent of the smallest normal number.
    #[inline]
    pub const fn emin(self) -> i32 {
        2 - (1 << (self.exp_bits - 1))
    }
    /// Exponent of the largest finite number's leading bit.
    #[inline]
    pub const fn emax(self) -> i32 {
        (1 << (self.exp_bits - 1)) - 1
    }
    /// Exponent of the smallest subnormal.
    #[inline]
    pub const fn quantum(self) -> i32 {
        self.emin() - self.frac_bits as i32
    }
    /// The sign bit.
    #[inline]
    pub const fn sign(self) -> u64 {
        1 << (self.width() - 1)
    }
    /// Everything but the sign bit.
    #[inline]
    pub const fn magnitude(self) -> u64 {
        self.sign() - 1
    }
    /// Positive infinity.
    #[inline]
    pub const fn infinity(self) -> u64 {
        self.magnitude() >> self.frac_bits << self.frac_bits
    }
    /// The smallest normal number.
    #[inline]
    pub const fn smallest_normal(self) -> u64 {
        1 << self.frac_bits
    }
    /// One.
    #[inline]
    pub const fn one(self) -> u64 {
        (self.infinity() >> 1) & self.infinity()
    }
    /// The fraction's top bit, set in a quiet NaN.
    #[inline]
    pub const fn quiet(self) -> u64 {
        1 << (self.frac_bits - 1)
    }
    /// Whether the bits are a NaN.
    #[inline]
    pub const fn is_nan(self, bits: u64) -> bool {
        bits & self.magnitude() > self.infinity()
    }
    /// Whether the bits are a signalling NaN.
    #[inline]
    pub const fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet() == 0
    }
}

/// A direction of rounding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// To nearest, ties to even.
    Nearest,
    /// Toward zero.
    Zero,
    /// Toward −infinity.
    Down,
    /// Toward +infinity.
    Up,
}

impl Direction {
    /// All four.
    pub const ALL: [Direction; 4] = [Direction::Nearest, Direction::Zero, Direction::Down, Direction::Up];
}

/// What is computed from the operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// a × b + c.
    MulAdd,
    /// a + c.
    Add,
    /// a × b.
    Mul,
    /// a × b cut to the destination's precision, + c; with a zero c, a rounded product and a rounded sum.
    TruncatedMulAdd,
}

/// What makes a nonzero result small enough to be flushed, or to underflow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlushRule {
    /// The result that would be delivered is subnormal.
    Delivered,
    /// Rounded as if the exponent had no lower bound, it is below the smallest normal number.
    Rounded,
    /// Before any rounding it is below the smallest normal number.
    Exact,
}

/// What a NaN result looks like.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NanBits {
    /// Every bit set but the sign.
    AllOnes,
    /// The first NaN operand in this order of positions (0 = a, 1 = b, 2 = c), made quiet; if none is a NaN, the sign,
    /// the exponent and the quiet bit.
    FirstOf([usize; 3]),
}

/// Everything that decides a result but the operands. Operands are always `[a, b, c]`; an absent one is ignored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    /// What is computed.
    pub shape: Shape,
    /// The format of c and of the result.
    pub to: Layout,
    /// The format of a and b.
    pub factors: Layout,
    /// The formats of a, b and c where they are not these: then they are numbers of f32, whatever the result is.
    pub operands: Option<[Layout; 3]>,
    /// −a, unless it is a NaN.
    pub negate_a: bool,
    /// −c, unless it is a NaN.
    pub negate_c: bool,
    /// The direction of rounding.
    pub direction: Direction,
    /// Subnormal operands are zeros, and so are results that the rule calls small.
    pub flush: Option<FlushRule>,
    /// The rule of the rounded product and the rounded sum, where a truncating operation with a zero addend is those two.
    pub flush_of_two: Option<FlushRule>,
    /// A zero factor makes the product +0.
    pub fmz: bool,
    /// With `fmz` and `saturate`, a zero factor and a NaN one make the result +0 whatever the addend is.
    pub fmz_nan_is_zero: bool,
    /// The result is clamped to 0 to 1.
    pub saturate: bool,
    /// A negative result becomes +0, a NaN the positive one with every bit set.
    pub relu: bool,
    /// The out-of-bounds NaN, where an operand that is one makes the result +0 before it is clamped.
    pub oob_nan: Option<u64>,
    /// NaN results.
    pub nan: NanBits,
    /// Whether the underflow flag asks the exact value rather than the rounded one.
    pub underflow_before_rounding: bool,
}

impl Spec {
    /// The formats of a, b and c.
    #[inline]
    pub fn layouts(&self) -> [Layout; 3] {
        self.operands.unwrap_or([self.factors, self.factors, self.to])
    }
    /// An operation of one format with nothing set but its direction.
    #[inline]
    pub const fn new(shape: Shape, to: Layout, direction: Direction) -> Spec {
        Spec {
            shape,
            to,
            factors: to,
            operands: None,
            negate_a: false,
            negate_c: false,
            direction,
            flush: None,
            flush_of_two: None,
            fmz: false,
            fmz_nan_is_zero: false,
            saturate: false,
            relu: false,
            oob_nan: None,
            nan: NanBits::AllOnes,
            underflow_before_rounding: false,
        }
    }
}

/// TestFloat's numbering of the flags.
pub const INEXACT: u8 = 1;
/// See [`INEXACT`].
pub const UNDERFLOW: u8 = 2;
/// See [`INEXACT`].
pub const OVERFLOW: u8 = 4;
/// See [`INEXACT`].
pub const INVALID: u8 = 16;

/// A judgement: the bits of the result, and the flags raised.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// The result.
    pub bits: u64,
    /// The flags in TestFloat's numbering.
    pub flags: u8,
}

impl core::fmt::Debug for Verdict {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#x} flags {:02x}", self.bits, self.flags)
    }
}

/// Step 10. Nothing but +0, the numbers between, and one is left.
pub fn saturated(layout: Layout, bits: u64) -> u64 {
    let negative = bits & layout.sign() != 0;
    if layout.is_nan(bits) || negative {
        0
    } else if bits > layout.one() {
        layout.one()
    } else {
        bits
    }
}

/// Step 10 of `.relu`.
pub fn rectified(layout: Layout, bits: u64) -> u64 {
    if layout.is_nan(bits) {
        return layout.magnitude();
    }
    if bits & layout.sign() == 0 { bits } else { 0 }
}

/// Step 11, as bits: 1 is Z (zero or NaN), 2 is S (negative but not −0, or NaN).
pub fn condition_codes(layout: Layout, bits: u64) -> u8 {
    if layout.is_nan(bits) {
        3
    } else if bits & layout.magnitude() == 0 {
        1
    } else if bits & layout.sign() != 0 {
        2
    } else {
        0
    }
}
