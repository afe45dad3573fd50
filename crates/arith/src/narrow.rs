//! Formats of eight bits and fewer, and packed conversions from and to them: PTX `cvt` with `.e4m3x2` and its like.
//!
//! Sources: OCP 8-bit Floating Point Specification (OFP8) 1.0 for e4m3 and e5m2, OCP Microscaling Formats (MX) 1.0 for
//! e2m3, e3m2 and e2m1; PTX ISA, `cvt`.

use crate::{ExactNumber, Format, Profile, Rounding, ScaleFormat, Unpacked, unpack, widen};

/// A format of at most eight bits: the fields of [`Format`], but with numbers where IEEE 754 has infinities and NaNs.
///
/// ```
/// use roundonce_arith::{NarrowFormat, Unpacked};
/// let e4m3 = NarrowFormat::E4M3;
/// assert_eq!(e4m3.largest_finite(), 0x7e); // 448
/// assert_eq!(e4m3.unpack(0xff), Unpacked::Nan { signalling: false });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NarrowFormat {
    name: &'static str,
    /// The fields.
    fields: Format,
    /// The largest finite magnitude.
    largest: u64,
    /// The magnitude of a NaN that is made.
    nan: Option<u64>,
}

impl NarrowFormat {
    /// OCP E4M3: no infinity, one NaN of each sign, up to 448.
    pub const E4M3: NarrowFormat =
        NarrowFormat { name: "e4m3", fields: Format::new(4, 3), largest: 0x7e, nan: Some(0x7f) };
    /// OCP E5M2: as IEEE 754, up to 57344.
    pub const E5M2: NarrowFormat =
        NarrowFormat { name: "e5m2", fields: Format::new(5, 2), largest: 0x7b, nan: Some(0x7f) };
    /// OCP E2M3: neither infinity nor NaN, up to 7.5.
    pub const E2M3: NarrowFormat = NarrowFormat { name: "e2m3", fields: Format::new(2, 3), largest: 0x1f, nan: None };
    /// OCP E3M2: neither infinity nor NaN, up to 28.
    pub const E3M2: NarrowFormat = NarrowFormat { name: "e3m2", fields: Format::new(3, 2), largest: 0x1f, nan: None };
    /// OCP E2M1: neither infinity nor NaN, up to 6.
    pub const E2M1: NarrowFormat = NarrowFormat { name: "e2m1", fields: Format::new(2, 1), largest: 0x7, nan: None };

    /// All of them.
    pub const ALL: [NarrowFormat; 5] =
        [NarrowFormat::E4M3, NarrowFormat::E5M2, NarrowFormat::E2M3, NarrowFormat::E3M2, NarrowFormat::E2M1];

    /// `e4m3` …
    pub const fn name(self) -> &'static str {
        self.name
    }
    /// The format of this name.
    pub fn named(name: &str) -> Option<NarrowFormat> {
        NarrowFormat::ALL.into_iter().find(|format| format.name == name)
    }
    /// Bits of a value.
    pub const fn width(self) -> u32 {
        self.fields.width()
    }
    /// The fields as those of a [`Format`], whose infinities and NaNs this format does not have.
    pub const fn fields(self) -> Format {
        self.fields
    }
    /// The largest finite number.
    pub const fn largest_finite(self) -> u64 {
        self.largest
    }
    /// The bits of a NaN that a conversion makes, if the format has any.
    pub const fn nan(self) -> Option<u64> {
        self.nan
    }
    /// Whether it has infinities.
    pub const fn has_infinities(self) -> bool {
        self.largest < self.fields.infinity() && self.nan.is_some()
    }

    /// Reads the bits of a value; those above [`width`](NarrowFormat::width) are ignored.
    pub const fn unpack(self, bits: u64) -> Unpacked {
        let magnitude = bits & self.fields.magnitude_mask();
        if magnitude <= self.largest {
            // A wider exponent field has no infinities here; the value is a power of two off.
            let wide = self.fields.with_wider_exponent();
            let sign = if self.fields.is_negative(bits) { wide.sign_mask() } else { 0 };
            return match unpack(wide, sign | magnitude) {
                Unpacked::Finite(mut number) => {
                    number.quantum += self.fields.min_quantum() - wide.min_quantum();
                    Unpacked::Finite(number)
                }
                special => special,
            };
        }
        if self.has_infinities() && magnitude == self.fields.infinity() {
            return Unpacked::Infinite { negative: self.fields.is_negative(bits) };
        }
        Unpacked::Nan { signalling: self.has_infinities() && magnitude & self.fields.quiet_bit() == 0 }
    }

    /// The value in a format that holds it: f16, bf16, f32, f64.
    pub fn widen(self, to: Format, bits: u64) -> u64 {
        let sign = if self.fields.is_negative(bits) { to.sign_mask() } else { 0 };
        match self.unpack(bits) {
            Unpacked::Nan { .. } => Profile::NVIDIA.nan_result(to, None),
            Unpacked::Zero { .. } => sign,
            Unpacked::Infinite { .. } => sign | to.infinity(),
            Unpacked::Finite(number) => ExactNumber::from(number).round(to, Rounding::NearestEven).bits,
        }
    }

    /// The bits nearest to a number, ties to even; what is too large becomes the largest finite number.
    pub fn nearest(self, number: ExactNumber) -> u64 {
        let magnitude = match number.significand {
            0 => 0,
            _ => number.round_unbounded(self.fields, Rounding::NearestEven).min(self.largest),
        };
        magnitude | if number.negative { self.fields.sign_mask() } else { 0 }
    }
}

/// What a conversion converts from or to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// f16, bf16, TF32, f32 or f64.
    Float(Format),
    /// A format of at most eight bits.
    Narrow(NarrowFormat),
    /// ue8m0, a power of two ([`ScaleFormat::Ue8m0`]): no sign, no zero, no infinity, one NaN.
    PowerOfTwo,
}

/// What a ue8m0's exponents are counted from.
const POWER_BIAS: i32 = Format::UE8M0.bias();
/// The NaN of ue8m0.
const POWER_NAN: u64 = 0xff;

impl Element {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Element::Float(Format::TF32) => "tf32",
            Element::Float(format) => format.name().unwrap_or("?"),
            Element::Narrow(format) => format.name(),
            Element::PowerOfTwo => ScaleFormat::Ue8m0.name(),
        }
    }
    /// Bits of a value.
    pub const fn width(self) -> u32 {
        match self {
            Element::Float(format) => format.width(),
            Element::Narrow(format) => format.width(),
            Element::PowerOfTwo => 8,
        }
    }
    /// Bits from one value to the next where several are packed: six bits are padded to eight, TF32 to 32.
    pub const fn stride(self) -> u32 {
        match self.width() {
            6 => 8,
            19 => 32,
            width => width,
        }
    }
    /// The value's bits among those of its place in a register. TF32 stands in the upper bits, any other format in the
    /// lowest.
    pub const fn of_container(self, bits: u64) -> u64 {
        match self {
            Element::Float(Format::TF32) => bits >> 13,
            _ => bits,
        }
    }
    /// Reads the bits of a value.
    pub const fn unpack(self, bits: u64) -> Unpacked {
        match self {
            Element::Float(format) => unpack(format, bits),
            Element::Narrow(format) => format.unpack(bits),
            Element::PowerOfTwo => ScaleFormat::Ue8m0.unpack(bits),
        }
    }
    /// The sign bit, if it has one.
    pub const fn sign_mask(self) -> u64 {
        match self {
            Element::PowerOfTwo => 0,
            _ => self.fields().sign_mask(),
        }
    }
    /// Bits of the trailing significand field.
    pub const fn fraction_bits(self) -> u32 {
        self.fields().frac_bits()
    }
    /// One, as it stands in a register.
    pub const fn one(self) -> u64 {
        let one = self.fields().one();
        if matches!(self, Element::Float(Format::TF32)) { one << 13 } else { one }
    }
    /// The value of what stands in a register as an f64, which holds every one.
    pub fn widened(self, bits: u64) -> u64 {
        self.widened_to(Format::F64, bits)
    }
    /// The same in a format that holds every value of this one.
    pub fn widened_to(self, to: Format, bits: u64) -> u64 {
        match self {
            Element::Float(format) => widen(format, to, self.of_container(bits)),
            Element::Narrow(format) => format.widen(to, bits),
            Element::PowerOfTwo => match self.unpack(bits) {
                Unpacked::Finite(number) => ExactNumber::from(number).round(to, Rounding::NearestEven).bits,
                _ => Profile::NVIDIA.nan_result(to, None),
            },
        }
    }
    /// The fields, as [`NarrowFormat::fields`] says; those of a power of two with a sign above them that it has not.
    pub const fn fields(self) -> Format {
        match self {
            Element::Float(format) => format,
            Element::Narrow(format) => format.fields(),
            Element::PowerOfTwo => Format::UE8M0,
        }
    }
    /// Whether it has infinities.
    pub const fn has_infinities(self) -> bool {
        match self {
            Element::Float(_) => true,
            Element::Narrow(format) => format.has_infinities(),
            Element::PowerOfTwo => false,
        }
    }
    /// The largest finite number.
    pub const fn largest_finite(self) -> u64 {
        match self {
            Element::Float(format) => format.largest_finite(),
            Element::Narrow(format) => format.largest_finite(),
            Element::PowerOfTwo => POWER_NAN - 1,
        }
    }
    /// What a result too large becomes without `.satfinite`.
    pub const fn overflow(self) -> u64 {
        match self {
            Element::Float(format) => format.infinity(),
            Element::Narrow(format) if format.has_infinities() => format.fields().infinity(),
            Element::Narrow(format) => match format.nan() {
                Some(nan) => nan,
                None => format.largest_finite(),
            },
            Element::PowerOfTwo => POWER_NAN,
        }
    }
    /// What a NaN becomes.
    pub fn nan(self, profile: &Profile) -> u64 {
        match self {
            Element::Float(format) => profile.nan_result(format, None),
            // PTX ISA, `cvt`: formats without NaN get the largest positive number.
            Element::Narrow(format) => format.nan().unwrap_or(format.largest_finite()),
            Element::PowerOfTwo => POWER_NAN,
        }
    }
}

/// How a conversion chooses between the two neighbours of an exact value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConversionRounding {
    /// `.rn`, `.rz`; to a power of two `.rz` or `.rp`, of the magnitude.
    Direction(Rounding),
    /// `.rs`: the magnitude plus so many given bits below the last bit that is kept, then truncated.
    Random,
}

/// A packed conversion of PTX `cvt`: two or four values at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PackedConversion {
    /// Of the result.
    pub to: Element,
    /// Of the operands.
    pub from: Element,
    /// How many values: 2 or 4.
    pub count: u32,
    /// How each is rounded.
    pub rounding: ConversionRounding,
    /// `.satfinite`: what is larger than the largest finite number becomes it.
    pub satfinite: bool,
    /// `.relu`: what is negative becomes +0.
    pub relu: bool,
}

impl PackedConversion {
    /// Whether each operand is a value of its own: f32, which has no packed form here. Otherwise one operand has all.
    pub const fn has_separate_operands(&self) -> bool {
        self.from.width() == 32
    }

    /// How many operands there are, random bits not counted.
    pub const fn operand_count(&self) -> usize {
        if self.has_separate_operands() { self.count as usize } else { 1 }
    }
    /// Bits of an operand.
    pub const fn operand_bits(&self) -> u32 {
        if self.has_separate_operands() { self.from.width() } else { self.from.stride() * self.count }
    }
    /// Bits of the result.
    pub const fn result_bits(&self) -> u32 {
        self.to.stride() * self.count
    }

    /// The values in order, the one in the lowest bits of the result first. Separate operands stand in the order of
    /// PTX's syntax: the first is the highest.
    pub fn values(&self, operands: &[u64]) -> [u64; 4] {
        let mut values = [0; 4];
        let count = self.count as usize;
        for (index, value) in values.iter_mut().take(count).enumerate() {
            *value = if self.has_separate_operands() {
                operands.get(count - 1 - index).copied().unwrap_or(0)
            } else {
                let bits = operands.first().copied().unwrap_or(0) >> (index as u32 * self.from.stride());
                bits & (u64::MAX >> (64 - self.from.width()))
            };
        }
        values
    }

    /// The random bits of the value at `index` (0 is the lowest), and how many they are: PTX ISA, `cvt`, `rbits`.
    pub fn random_bits(&self, index: usize, rbits: u64) -> (u64, u32) {
        let half = |upper: bool| rbits >> if upper { 16 } else { 0 } & 0xffff;
        match (self.count, self.to.width()) {
            (2, 16) if self.to.fields().precision() == Format::F16.precision() => (half(index == 1) & 0x1fff, 13),
            (2, _) => (half(index == 1), 16),
            // Of both halves the lower eight bits for the lower pair, the upper eight for the upper pair.
            (_, 4) => {
                let byte = |half: u64| half >> if index >= 2 { 8 } else { 0 } & 0xff;
                (byte(half(true)) << 8 | byte(half(false)), 16)
            }
            _ => (half(index >= 2), 16),
        }
    }

    /// All values converted and packed. `rbits` counts under `.rs` alone.
    ///
    /// ```
    /// use roundonce_arith::{ConversionRounding, Element, Format, NarrowFormat, PackedConversion, Profile, Rounding};
    /// let cvt = PackedConversion { // cvt.rn.satfinite.e4m3x2.f32
    ///     to: Element::Narrow(NarrowFormat::E4M3),
    ///     from: Element::Float(Format::F32),
    ///     count: 2,
    ///     rounding: ConversionRounding::Direction(Rounding::NearestEven),
    ///     satfinite: true,
    ///     relu: false,
    /// };
    /// // 1.0 above, 1000.0 below
    /// assert_eq!(cvt.evaluate(&Profile::NVIDIA, &[0x3f80_0000, 0x447a_0000], 0), 0x387e);
    /// ```
    pub fn evaluate(&self, profile: &Profile, operands: &[u64], rbits: u64) -> u64 {
        let values = self.values(operands);
        let convert = |index: usize| self.convert(profile, values[index], self.random_bits(index, rbits));
        (0..self.count as usize).fold(0, |packed, index| packed | convert(index) << (index as u32 * self.to.stride()))
    }

    /// One value converted, with its random bits and their number.
    pub fn convert(&self, profile: &Profile, bits: u64, random: (u64, u32)) -> u64 {
        if self.to == Element::PowerOfTwo {
            return self.power_of_two(bits);
        }
        let fields = self.to.fields();
        let signed = |negative: bool, magnitude: u64| match negative {
            true if self.relu => 0,
            true => fields.sign_mask() | magnitude,
            false => magnitude,
        };
        let overflow = if self.satfinite { self.to.largest_finite() } else { self.to.overflow() };
        match self.from.unpack(bits) {
            Unpacked::Nan { .. } => self.to.nan(profile),
            Unpacked::Zero { negative } => signed(negative, 0),
            Unpacked::Infinite { negative } => signed(negative, overflow),
            Unpacked::Finite(number) => {
                let negative = number.negative;
                let exact = ExactNumber::from(number);
                let magnitude = match self.rounding {
                    ConversionRounding::Direction(direction) => exact.round_unbounded(fields, direction),
                    ConversionRounding::Random => {
                        exact.plus_random(fields, random).round_unbounded(fields, Rounding::TowardZero)
                    }
                };
                signed(negative, if magnitude > self.to.largest_finite() { overflow } else { magnitude })
            }
        }
    }

    /// One value as a power of two. Its sign is left out, and what is less than the smallest becomes it, zero too: so the
    /// CUDA Math API says of `__nv_cvt_float_to_e8m0`, which is this instruction; PTX does not, and no GPU was asked.
    fn power_of_two(&self, bits: u64) -> u64 {
        let largest = self.to.largest_finite() as i32;
        let up = self.rounding == ConversionRounding::Direction(Rounding::Up);
        let code = match self.from.unpack(bits) {
            Unpacked::Nan { .. } => return POWER_NAN,
            Unpacked::Zero { .. } => 0,
            Unpacked::Infinite { .. } => largest + 1,
            Unpacked::Finite(number) => ExactNumber::from(number).power_of_two(up) + POWER_BIAS,
        };
        match code > largest && !self.satfinite {
            true => self.to.overflow(),
            false => code.clamp(0, largest) as u64,
        }
    }
}
