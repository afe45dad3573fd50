//! PTX `cvt` from and to formats of eight bits and fewer, and by random bits, read from its spelling and judged on exact
//! integers.
//!
//! Every magnitude is a whole multiple of one tiny power of two, the unit. A format is the list of its magnitudes in
//! order, their places being their bits, and a result is looked up between its neighbours in the list.

use num_bigint::BigUint;

/// The unit is 2^-UNIT: below half of the smallest f32, and of what 16 random bits add to one.
const UNIT: i32 = 200;

/// A format of numbers.
#[derive(Clone, Debug)]
pub struct Numbers {
    exponent_bits: u32,
    fraction_bits: u32,
    /// The largest finite magnitude's bits.
    largest: u64,
    infinity: Option<u64>,
    nan: Option<u64>,
    /// Powers of two alone, without a sign: 2^(bits - 127).
    is_power: bool,
}

impl Numbers {
    /// The format of a name in a spelling: `f32`, `e4m3`.
    fn named(name: &str) -> Option<Numbers> {
        let is_power = name == "ue8m0";
        let (exponent_bits, fraction_bits, largest, infinity, nan) = match name {
            "ue8m0" => (8, 0, 0xfe, None, Some(0xff)),
            "f32" => (8, 23, 0x7f7f_ffff, Some(0x7f80_0000), Some(0x7fff_ffff)),
            "f16" => (5, 10, 0x7bff, Some(0x7c00), Some(0x7fff)),
            "bf16" => (8, 7, 0x7f7f, Some(0x7f80), Some(0x7fff)),
            "e4m3" => (4, 3, 0x7e, None, Some(0x7f)),
            "e5m2" => (5, 2, 0x7b, Some(0x7c), Some(0x7f)),
            "e2m3" => (2, 3, 0x1f, None, None),
            "e3m2" => (3, 2, 0x1f, None, None),
            "e2m1" => (2, 1, 0x7, None, None),
            _ => return None,
        };
        Some(Numbers { exponent_bits, fraction_bits, largest, infinity, nan, is_power })
    }

    /// Bits of a value.
    pub fn width(&self) -> u32 {
        u32::from(!self.is_power) + self.exponent_bits + self.fraction_bits
    }

    /// Bits from one packed value to the next.
    pub fn stride(&self) -> u32 {
        if self.width() == 6 { 8 } else { self.width() }
    }

    fn sign(&self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits)
    }

    /// In units.
    fn magnitude(&self, bits: u64) -> BigUint {
        if self.is_power {
            return BigUint::from(1_u32) << (UNIT + bits as i32 - 127);
        }
        let bias = (1 << (self.exponent_bits - 1)) - 1;
        let exponent = (bits >> self.fraction_bits) as i32;
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let significand = if exponent == 0 { fraction } else { fraction | 1 << self.fraction_bits };
        let quantum = exponent.max(1) - bias - self.fraction_bits as i32;
        BigUint::from(significand) << (UNIT + quantum)
    }
}

/// How a result is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Nearest,
    TowardZero,
    /// Of magnitudes: away from zero.
    Up,
    Random,
}

/// A conversion.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// Of the operands.
    pub from: Numbers,
    /// Of the result.
    pub to: Numbers,
    /// How many values.
    pub count: u32,
    choice: Choice,
    satfinite: bool,
    relu: bool,
    /// The magnitudes of `to` that are finite, and the next that would be.
    places: Vec<BigUint>,
}

impl Conversion {
    /// Reads `cvt.rn.satfinite.e4m3x2.f32`.
    pub fn read(spelling: &str) -> Option<Conversion> {
        let mut words = spelling.split('.');
        if words.next() != Some("cvt") {
            return None;
        }
        let (mut choice, mut satfinite, mut relu, mut types) = (None, false, false, Vec::new());
        for word in words {
            match word {
                "rn" => choice = Some(Choice::Nearest),
                "rz" => choice = Some(Choice::TowardZero),
                "rp" => choice = Some(Choice::Up),
                "rs" => choice = Some(Choice::Random),
                "satfinite" => satfinite = true,
                "relu" => relu = true,
                _ => types
                    .push(word.split_once('x').map_or((word, 1), |(name, count)| (name, count.parse().unwrap_or(0)))),
            }
        }
        let &[(to, count), (from, _)] = types.as_slice() else { return None };
        let (to, from) = (Numbers::named(to)?, Numbers::named(from)?);
        if to.width() > 16 {
            return None;
        }
        let places = (0..=to.largest + 1).map(|bits| to.magnitude(bits)).collect();
        Some(Conversion { from, to, count, choice: choice?, satfinite, relu, places })
    }

    /// The exponents of the result's smallest and largest finite numbers.
    pub fn exponents(&self) -> (i32, i32) {
        let exponent = |place: usize| self.places[place].bits() as i32 - 1 - UNIT;
        (exponent(1), exponent(self.places.len() - 2))
    }

    /// The fraction's bits of the result.
    pub fn fraction_bits(&self) -> u32 {
        self.to.fraction_bits
    }

    /// Whether random bits are the last operand.
    pub fn is_random(&self) -> bool {
        self.choice == Choice::Random
    }

    /// Whether each value is an operand of its own, the first the highest; otherwise one has them all.
    pub fn is_separate(&self) -> bool {
        self.from.width() == 32
    }

    /// The result of operands, packed.
    pub fn judge(&self, operands: &[u64], rbits: u64) -> u64 {
        let mut packed = 0;
        for index in 0..self.count {
            let bits = if self.is_separate() {
                operands[(self.count - 1 - index) as usize]
            } else {
                operands[0] >> (index * self.from.stride()) & ((1 << self.from.width()) - 1)
            };
            packed |= self.value(bits, self.random(index, rbits)) << (index * self.to.stride());
        }
        packed
    }

    /// The random bits of a value, 0 being the lowest, and how many: 13 for an f16; one half each of two values; of four
    /// values one half for two, but for e2m1 a byte of each half.
    fn random(&self, index: u32, rbits: u64) -> (u64, u32) {
        let upper_pair = index >= self.count / 2;
        let half = if upper_pair { rbits >> 16 } else { rbits } & 0xffff;
        match (self.count, self.to.width()) {
            (2, 16) if self.to.fraction_bits == 10 => (half & 0x1fff, 13),
            (4, 4) => {
                let byte = if upper_pair { rbits >> 8 } else { rbits };
                (byte >> 8 & 0xff00 | byte & 0xff, 16)
            }
            _ => (half, 16),
        }
    }

    /// One value, with its random bits and their number.
    pub fn value(&self, bits: u64, (random, count): (u64, u32)) -> u64 {
        let (negative, magnitude) = (bits & self.from.sign() != 0, bits & (self.from.sign() - 1));
        let past = self.places.len() - 1;
        let place = if Some(magnitude) == self.from.infinity {
            past
        } else if magnitude > self.from.largest {
            return self.to.nan.unwrap_or(self.to.largest);
        } else {
            self.place(&self.from.magnitude(magnitude), random, count)
        };
        if negative && self.relu {
            return 0;
        }
        let found = match place < past {
            true => place as u64,
            false if self.satfinite => self.to.largest,
            false => self.to.infinity.or(self.to.nan).unwrap_or(self.to.largest),
        };
        found | if negative && !self.to.is_power { self.to.sign() } else { 0 }
    }

    /// The place in the list.
    fn place(&self, exact: &BigUint, random: u64, count: u32) -> usize {
        // Powers of two begin above zero; what is less than the first becomes it (CUDA Math API, `__nv_cvt_float_to_e8m0`).
        if exact < &self.places[0] {
            return 0;
        }
        let below = |value: &BigUint| self.places.partition_point(|known| known <= value) - 1;
        let at = below(exact);
        let (Some(low), Some(high)) = (self.places.get(at), self.places.get(at + 1)) else { return at };
        match self.choice {
            Choice::TowardZero => at,
            Choice::Up => at + usize::from(exact > low),
            Choice::Random => below(&(exact + (((high - low) * random) >> count))),
            Choice::Nearest => {
                let (down, up) = (exact - low, high - exact);
                at + usize::from(up < down || up == down && at % 2 == 1)
            }
        }
    }
}
