//! Directed generation of operands for multiply-adds, for any format: triples at the cases where implementations go wrong.
//!
//! A generator needs coverage, not correctness: it builds operands by cutting and clamping, and judges nothing.

use crate::Layout;

/// The pseudorandom generator SplitMix64 (Steele, Lea and Flood, 2014), for all tests.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next 64 bits.
    #[inline]
    pub fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// An endless, reproducible source of operands `[a, b, c]`.
#[derive(Clone, Debug)]
pub struct Generator {
    random: SplitMix64,
    factors: Layout,
    to: Layout,
}

impl Generator {
    /// For factors of one format and an addend and result of another (or the same).
    pub fn new(seed: u64, factors: Layout, to: Layout) -> Generator {
        Generator { random: SplitMix64(seed), factors, to }
    }

    #[inline]
    fn random(&mut self) -> u64 {
        self.random.next_bits()
    }
    #[inline]
    fn below(&mut self, count: u32) -> u32 {
        (((self.random() >> 32) * count as u64) >> 32) as u32
    }
    /// Both ends included; the lower one if they are the wrong way round.
    #[inline]
    fn between(&mut self, low: i32, high: i32) -> i32 {
        if high <= low { low } else { low + self.below((high - low + 1) as u32) as i32 }
    }
    #[inline]
    fn sign(&mut self, layout: Layout) -> u64 {
        self.random() & layout.sign()
    }

    /// A significand with its hidden bit: random, sparse, nearly all ones, a random head, or a random tail.
    #[inline]
    fn significand(&mut self, layout: Layout) -> u64 {
        let hidden = layout.smallest_normal();
        let all = hidden - 1;
        let random = self.random();
        let place = (self.random() >> 32) as u32;
        let bit = 1 << (place % layout.frac_bits);
        let run = (1_u64 << ((place >> 8) % (layout.frac_bits + 1))) - 1;
        let fraction = match (place >> 24) & 15 {
            0..=5 => random,
            6 => 0,
            7 => bit,
            8 => bit | 1,
            9 => all,
            10 => all ^ bit,
            11 => all ^ run,
            12 => random & run,
            13 => random & !run,
            14 => random | run,
            _ => run,
        };
        hidden | fraction & all
    }

    /// ±significand × 2^(exponent − fraction bits), cut or clamped to what the format has.
    #[inline]
    fn number(layout: Layout, sign: u64, exponent: i32, significand: u64) -> u64 {
        let magnitude = if exponent > layout.emax() {
            layout.infinity() - 1
        } else if exponent >= layout.emin() {
            (((exponent - layout.emin()) as u64) << layout.frac_bits) + significand
        } else {
            significand.checked_shr((layout.emin() - exponent) as u32).unwrap_or(0)
        };
        sign | magnitude
    }

    /// Numbers with a name, of either sign; NaNs with a random payload.
    fn special(&mut self, layout: Layout) -> u64 {
        let (normal, one, infinity) = (layout.smallest_normal(), layout.one(), layout.infinity());
        let payload = self.random() & (normal - 1);
        let sign = self.sign(layout);
        sign | match self.below(16) {
            0 | 1 => 0,
            2 => 1,
            3 => normal - 1,
            4 => normal,
            5 => normal + 1,
            6 | 7 => one,
            8 => one - 1,
            9 => one + 1,
            10 => infinity - 1,
            11 | 12 => infinity,
            13 | 14 => infinity | layout.quiet() | payload,
            // A signalling NaN needs a payload to be none of the others; a one-bit fraction has none.
            _ if layout.frac_bits > 1 => infinity | (payload & (layout.quiet() - 1)).max(1),
            _ => infinity | layout.quiet(),
        }
    }

    /// A few units in the last place up or down. Near zero it wraps into a NaN of the other sign, which is welcome.
    #[inline]
    fn nudge(&mut self, layout: Layout, bits: u64) -> u64 {
        let step = self.between(-2, 2) as i64 as u64;
        bits.wrapping_add(step) & (layout.sign() | layout.magnitude())
    }

    /// Factors whose product has this exponent (or the next), with significands as given.
    #[inline]
    fn factors_of(&mut self, exponent: i32, sa: u64, sb: u64) -> (u64, u64) {
        let layout = self.factors;
        let (lowest, highest) = (layout.emin(), layout.emax());
        // One factor in eight may be subnormal.
        let lowest = if self.random() & 7 == 0 { layout.quantum() } else { lowest };
        let ea = self.between(lowest.max(exponent - highest), highest.min(exponent - lowest));
        let (na, nb) = (self.sign(layout), self.sign(layout));
        let a = Generator::number(layout, na, ea, sa);
        let b = Generator::number(layout, nb, exponent - ea, sb);
        if self.random() & 1 == 0 { (a, b) } else { (b, a) }
    }
    fn random_factors(&mut self, exponent: i32) -> (u64, u64) {
        let (sa, sb) = (self.significand(self.factors), self.significand(self.factors));
        self.factors_of(exponent, sa, sb)
    }
    fn addend(&mut self, exponent: i32) -> u64 {
        let significand = self.significand(self.to);
        let sign = self.sign(self.to);
        Generator::number(self.to, sign, exponent, significand)
    }

    /// An exponent that a product can have and a result hold, subnormals and some more included.
    #[inline]
    fn product_exponent(&mut self) -> i32 {
        let (f, t) = (self.factors, self.to);
        let low = (t.quantum() - 3).max(2 * f.quantum());
        let high = (t.emax() + 1).min(2 * f.emax() + 1);
        self.between(low, high)
    }

    /// a × b cut to the addend's format.
    fn product(&self, a: u64, b: u64) -> u64 {
        let (f, t) = (self.factors, self.to);
        let split = |bits: u64| {
            let magnitude = bits & f.magnitude();
            let field = (magnitude >> f.frac_bits) as i32;
            let fraction = magnitude & (f.smallest_normal() - 1);
            if field == 0 { (fraction, f.quantum()) } else { (fraction | f.smallest_normal(), f.quantum() + field - 1) }
        };
        let ((sa, qa), (sb, qb)) = (split(a), split(b));
        let product = sa as u128 * sb as u128;
        let sign = if (a & f.sign() != 0) != (b & f.sign() != 0) { t.sign() } else { 0 };
        if product == 0 {
            return sign;
        }
        let length = (u128::BITS - product.leading_zeros()) as i32;
        let excess = length - t.precision() as i32;
        let significand = if excess >= 0 { product >> excess } else { product << -excess };
        Generator::number(t, sign, qa + qb + length - 1, significand as u64)
    }

    /// An odd significand of exactly `length` bits, as the format writes it.
    fn odd(&mut self, layout: Layout, length: u32) -> u64 {
        let top = 1_u64 << (length - 1);
        ((self.random() & (top - 1)) | top | 1) << (layout.precision() - length)
    }
    /// Two odd significands with `length` or one bit less in their product, as far as they can have it.
    fn odd_pair(&mut self, length: i32) -> (u64, u64) {
        let f = self.factors;
        let most = f.precision() as i32;
        let first = self.between((length - most).clamp(1, most), (length - 1).clamp(1, most));
        let second = (length - first).clamp(1, most);
        (self.odd(f, first as u32), self.odd(f, second as u32))
    }

    /// Around 0, 1, the edge of the subnormals, and the edge of the numbers, in the addend; the product around half a
    /// unit in the last place of it.
    fn edge_addend(&mut self, edge: u64) -> [u64; 3] {
        let t = self.to;
        let sign = self.sign(t);
        let c = sign | self.nudge(t, edge);
        let exponent = ((edge >> t.frac_bits) as i32).max(1) - 1 + t.emin();
        let spread = if self.random() & 3 == 0 { 2 * t.precision() as i32 } else { 3 };
        let half = exponent - t.precision() as i32;
        let at = self.between(half - spread, half + 3);
        let (a, b) = self.random_factors(at);
        [a, b, c]
    }
    /// The product just at this exponent, the addend nothing, or far below, or beside it.
    fn edge_product(&mut self, exponent: i32) -> [u64; 3] {
        let at = self.between(exponent - 2, exponent + 1);
        let (a, b) = self.random_factors(at);
        let precision = self.to.precision() as i32;
        let c = match self.below(4) {
            0 => self.sign(self.to),
            1 => {
                let far = self.between(at - 3 * precision, at - precision);
                self.addend(far)
            }
            2 => self.special(self.to),
            _ => {
                let near = self.between(at - precision, at + 1);
                self.addend(near)
            }
        };
        [a, b, c]
    }

    /// A product halfway between two results, and an addend that may tip it.
    fn product_tie(&mut self) -> [u64; 3] {
        let t = self.to;
        let at =
            if self.random() & 3 == 0 { self.between(t.quantum() - 2, t.emin() + 1) } else { self.product_exponent() };
        let kept = t.precision() as i32 - (t.emin() - at).max(0);
        let length = kept.max(0) + 1 + (self.random() & 1) as i32;
        let (sa, sb) = self.odd_pair(length);
        let (a, b) = self.factors_of(at, sa, sb);
        let c = match self.below(4) {
            0 => self.sign(t),
            1 => self.sign(t) | 1,
            _ => {
                let precision = t.precision() as i32;
                let far = self.between(at - 3 * precision, at - precision);
                self.addend(far)
            }
        };
        [a, b, c]
    }
    /// An addend, and a product whose lowest bit is half a unit in its last place (one time in four a little off).
    fn addend_tie(&mut self) -> [u64; 3] {
        let (f, t) = (self.factors, self.to);
        let exponent = self.product_exponent();
        let c = self.addend(exponent);
        let half = exponent.max(t.emin()) - t.precision() as i32;
        let length = self.between(1, t.precision() as i32);
        let (sa, sb) = self.odd_pair(length);
        let fraction = f.frac_bits as i32;
        let low = (sa.trailing_zeros() + sb.trailing_zeros()) as i32;
        let (mut a, b) = self.factors_of(half + 2 * fraction - low, sa, sb);
        if self.random() & 3 == 0 {
            a ^= 1;
        }
        [a, b, c]
    }
    /// An addend that takes nearly all, or all, of the product away.
    fn cancellation(&mut self) -> [u64; 3] {
        let at = self.product_exponent();
        let (a, b) = if self.random() & 1 == 0 {
            self.random_factors(at)
        } else {
            let length = self.to.precision() as i32;
            let length = self.between(2, length);
            let (sa, sb) = self.odd_pair(length);
            self.factors_of(at, sa, sb)
        };
        let c = self.product(a, b) ^ self.to.sign();
        [a, b, if self.random() & 1 == 0 { c } else { self.nudge(self.to, c) }]
    }
    /// A subnormal factor whose product is seen, or a subnormal addend beside one.
    fn subnormal_operand(&mut self) -> [u64; 3] {
        let (f, t) = (self.factors, self.to);
        let random = self.random();
        if random & 1 == 0 {
            let a = self.sign(f) | self.random() & (f.smallest_normal() - 1);
            let sb = self.significand(f);
            let sign = self.sign(f);
            let eb = if random & 2 == 0 { self.between(0, f.emax()) } else { self.between(f.emin(), f.emax()) };
            let b = Generator::number(f, sign, eb, sb);
            let reach = t.precision() as i32;
            let c = match random >> 2 & 3 {
                0 => self.special(t),
                1 => self.product(a, b) ^ t.sign(),
                _ => {
                    let at = self.between(f.emin() + eb - reach, f.emin() + eb + 2);
                    self.addend(at)
                }
            };
            if random & 16 == 0 { [a, b, c] } else { [b, a, c] }
        } else {
            let at = self.between(t.quantum() - 2, t.emin() + 1);
            let (a, b) = self.random_factors(at);
            let c = self.sign(t) | self.random() & (t.smallest_normal() - 1);
            [a, b, c]
        }
    }

    /// The next triple.
    pub fn triple(&mut self) -> [u64; 3] {
        let (f, t) = (self.factors, self.to);
        let precision = t.precision() as i32;
        match self.below(20) {
            0 => {
                let keep = |layout: Layout, bits: u64| bits & (layout.sign() | layout.magnitude());
                [keep(f, self.random()), keep(f, self.random()), keep(t, self.random())]
            }
            1 => [self.special(f), self.special(f), self.special(t)],
            2 => {
                // One or two of them special, the rest in the middle of the range.
                let which = self.below(6) + 1;
                let (ea, eb, ec) = (self.between(-3, 3), self.between(-3, 3), self.between(-3, 3));
                let (sa, sb) = (self.significand(f), self.significand(f));
                let (na, nb) = (self.sign(f), self.sign(f));
                let a = if which & 1 != 0 { self.special(f) } else { Generator::number(f, na, ea, sa) };
                let b = if which & 2 != 0 { self.special(f) } else { Generator::number(f, nb, eb, sb) };
                let c = if which & 4 != 0 { self.special(t) } else { self.addend(ec) };
                [a, b, c]
            }
            3..=6 => {
                let at = self.product_exponent();
                let (a, b) = self.random_factors(at);
                let near = self.between(at - precision - 3, at + precision + 3);
                [a, b, self.addend(near)]
            }
            7 => {
                // Too far apart for anything but a sticky bit.
                let at = self.product_exponent();
                let (a, b) = self.random_factors(at);
                let apart = self.between(precision, 3 * precision + 6);
                let c = if self.random() & 1 == 0 { self.addend(at + apart) } else { self.addend(at - apart) };
                [a, b, c]
            }
            8 | 9 => self.product_tie(),
            10 | 11 => self.addend_tie(),
            12 | 13 => self.cancellation(),
            14 => self.edge_addend(t.smallest_normal()),
            15 => {
                let at = self.between(t.emin() - 1, t.emin());
                self.edge_product(at)
            }
            16 => {
                if self.random() & 1 == 0 {
                    self.edge_product(t.emax())
                } else {
                    self.edge_addend(t.infinity() - 1)
                }
            }
            17 => self.edge_addend(t.one()),
            18 => {
                // Factors beside ±1, and little or nothing added.
                let a = self.sign(f) | self.nudge(f, f.one());
                let b = self.sign(f) | self.nudge(f, f.one());
                let at = self.between(-2 * precision, 0);
                [a, b, if self.random() & 3 == 0 { self.special(t) } else { self.addend(at) }]
            }
            _ => self.subnormal_operand(),
        }
    }
}
