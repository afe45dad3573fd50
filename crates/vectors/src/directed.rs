//! Directed operands: those at the places where a multiply-add goes wrong.
//!
//! A choice of operands need not be right, only likely to get there: the results are the engine's, whatever the operands turn out to be.

use roundonce::Profile;
use roundonce::arith::{ArithOp, ExactNumber, Flags, Format, Operation, Rounding};
use roundonce::isa::convert;

use roundonce::why::random::next as split_mix_64;

/// A source of operands `[a, b, c]` for one operation, the same ones for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct DirectedGenerator {
    state: u64,
    kind: ArithOp,
    factors: Format,
    to: Format,
    operand_formats: Option<[Format; 3]>,
    /// The out-of-bounds NaN, where the operation has one.
    oob_nan: Option<u64>,
}

/// A choice of operands; `None` where this try finds none.
type Class = fn(&mut DirectedGenerator) -> Option<[u64; 3]>;

/// Every boundary that the pipeline has. Directed vectors take them in turn.
const CLASSES: [Class; 14] = [
    DirectedGenerator::beside_addend,
    DirectedGenerator::specials,
    DirectedGenerator::product_tie,
    DirectedGenerator::cancellation,
    DirectedGenerator::subnormal_operand,
    DirectedGenerator::product_at_edge,
    DirectedGenerator::one_special,
    DirectedGenerator::ordinary,
    DirectedGenerator::zero_factor,
    DirectedGenerator::beside_addend,
    DirectedGenerator::several_nans,
    DirectedGenerator::far_apart,
    DirectedGenerator::overflow,
    DirectedGenerator::product_tie,
];

/// Where an out-of-bounds NaN counts, one in so many is about it: odd, so that every class keeps its share.
const OUT_OF_BOUNDS_EVERY: u64 = 9;

impl DirectedGenerator {
    pub(crate) fn new(seed: u64, operation: &Operation, profile: &Profile) -> DirectedGenerator {
        let (factors, to) = match operation.operand_formats {
            Some(_) => (Format::F32, Format::F32),
            None => (operation.source_format, operation.format),
        };
        let (kind, operand_formats) = (operation.op, operation.operand_formats);
        let oob_nan = operation.oob.then_some(profile.oob_nan);
        DirectedGenerator { state: seed, kind, factors, to, operand_formats, oob_nan }
    }

    /// The `index`th directed triple.
    pub(crate) fn directed(&mut self, index: u64) -> [u64; 3] {
        let class = match self.oob_nan {
            Some(_) if index.is_multiple_of(OUT_OF_BOUNDS_EVERY) => DirectedGenerator::out_of_bounds,
            _ => CLASSES[(index % CLASSES.len() as u64) as usize],
        };
        let triple = (0..8).find_map(|_| class(self)).unwrap_or_else(|| self.bits());
        self.narrowed(triple)
    }

    /// Any bits, or half the time numbers of like size, so that the sum is more than its larger term.
    pub(crate) fn random(&mut self) -> [u64; 3] {
        let triple = if self.next() & 1 == 0 { self.bits() } else { self.ordinary().unwrap_or_else(|| self.bits()) };
        self.narrowed(triple)
    }

    /// Operands that have formats of their own are made in f32 and rounded to these.
    fn narrowed(&self, triple: [u64; 3]) -> [u64; 3] {
        let Some(formats) = self.operand_formats else { return triple };
        core::array::from_fn(|at| convert(Format::F32, formats[at], Rounding::NearestEven, triple[at]).0)
    }

    fn bits(&mut self) -> [u64; 3] {
        [self.next() & self.factors.mask(), self.next() & self.factors.mask(), self.next() & self.to.mask()]
    }

    fn next(&mut self) -> u64 {
        split_mix_64(&mut self.state)
    }
    /// From the first to the last, both included.
    fn between(&mut self, first: i32, last: i32) -> i32 {
        let count = (last.max(first) - first) as u64 + 1;
        first + ((u128::from(self.next()) * u128::from(count)) >> 64) as i32
    }
    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.between(0, choices.len() as i32 - 1) as usize]
    }
    fn sign(&mut self, format: Format) -> u64 {
        self.next() & format.sign_mask()
    }

    /// An odd integer of exactly so many bits.
    fn odd(&mut self, bits: u32) -> u64 {
        let top = 1 << (bits.clamp(1, 63) - 1);
        self.next() & (top - 1) | top | 1
    }
    /// A significand: random, nearly empty or nearly full.
    fn significand(&mut self, format: Format) -> u64 {
        let (hidden, all) = (format.smallest_normal(), format.frac_mask());
        let place = self.between(0, format.frac_bits() as i32 - 1);
        let fraction = match self.between(0, 7) {
            0 => 0,
            1 => all,
            2 => 1 << place,
            3 => all ^ 1 << place,
            4 => all >> place,
            5 => self.next() << place,
            _ => self.next(),
        };
        hidden | fraction & all
    }

    /// ±integer × 2^quantum, if the format holds it.
    fn exact(format: Format, sign: u64, integer: u64, quantum: i32) -> Option<u64> {
        let exact = ExactNumber { negative: sign != 0, quantum, significand: integer.into(), sticky: false };
        let outcome = exact.round(format, Rounding::NearestEven);
        (outcome.flags == Flags::NONE).then_some(outcome.bits)
    }
    /// Factors m × n × 2^quantum of random signs; for an addition, where there is one operand, the product itself.
    fn product(&mut self, m: u64, n: u64, quantum: i32) -> Option<[u64; 2]> {
        let (sa, sb) = (self.sign(self.factors), self.sign(self.factors));
        if self.kind == ArithOp::Add {
            return Some([DirectedGenerator::exact(self.factors, sa, m.checked_mul(n)?, quantum)?, 0]);
        }
        let half = quantum.div_euclid(2);
        let skew = self.between(-12, 12);
        [half + skew, half, quantum, 0].into_iter().find_map(|first| {
            let a = DirectedGenerator::exact(self.factors, sa, m, first)?;
            Some([a, DirectedGenerator::exact(self.factors, sb, n, quantum - first)?])
        })
    }
    /// The product rounded to the addend's format.
    fn rounded_product(&self, [a, b]: [u64; 2]) -> u64 {
        let mul =
            Operation { source_format: self.factors, ..Operation::new(ArithOp::Mul, self.to, Rounding::NearestEven) };
        match self.kind {
            ArithOp::Add => Operation { op: ArithOp::Add, ..mul }.evaluate(&Profile::NVIDIA, &[a, 0]).bits,
            _ => mul.evaluate(&Profile::NVIDIA, &[a, b]).bits,
        }
    }
    /// The quantum of a number's last place.
    fn quantum(format: Format, bits: u64) -> i32 {
        let field = (bits & format.magnitude_mask()) >> format.frac_bits();
        format.min_quantum() + field.saturating_sub(1) as i32
    }
    /// An exponent that products can have and the result hold, some beyond it included.
    fn exponent(&mut self) -> i32 {
        let (f, t) = (self.factors, self.to);
        self.between((t.min_quantum() - 3).max(2 * f.emin()), (t.emax() + 1).min(2 * f.emax()))
    }
    /// A normal number of this exponent, or the nearest there is.
    fn number(&mut self, format: Format, exponent: i32) -> u64 {
        let exponent = exponent.clamp(format.emin(), format.emax());
        let field = ((exponent + format.bias()) as u64) << format.frac_bits();
        self.sign(format) | field | self.significand(format) & format.frac_mask()
    }
    /// Factors of normal size with a product of about this exponent.
    fn factors_at(&mut self, exponent: i32) -> [u64; 2] {
        let f = self.factors;
        if self.kind == ArithOp::Add {
            return [self.number(f, exponent), 0];
        }
        let first = self.between((exponent - f.emax()).max(f.emin()), (exponent - f.emin()).min(f.emax()));
        [self.number(f, first), self.number(f, exponent - first)]
    }
    /// Nothing, or so little that it only tips a tie.
    fn nothing_much(&mut self) -> u64 {
        let tiny = self.one_of(&[0, 0, 1]);
        self.sign(self.to) | tiny
    }

    /// Values with a name.
    fn special(&mut self, format: Format) -> u64 {
        let payload = (self.next() & (format.quiet_bit() - 1)).max(1);
        let quiet = format.infinity() | format.quiet_bit();
        // A format with one fraction bit has no signalling NaN.
        let signalling = if format.frac_bits() > 1 { format.infinity() | payload } else { quiet };
        let named = [
            0,
            0,
            1,
            format.smallest_normal() - 1,
            format.smallest_normal(),
            format.one(),
            format.one() + 1,
            format.largest_finite(),
            format.infinity(),
            format.infinity(),
            quiet,
            quiet | payload,
            signalling,
        ];
        self.sign(format) | self.one_of(&named)
    }

    fn specials(&mut self) -> Option<[u64; 3]> {
        Some([self.special(self.factors), self.special(self.factors), self.special(self.to)])
    }
    fn one_special(&mut self) -> Option<[u64; 3]> {
        let mut triple = self.ordinary()?;
        let at = self.between(0, 2) as usize;
        triple[at] = self.special(if at == 2 { self.to } else { self.factors });
        Some(triple)
    }
    /// NaNs of unlike payloads, signalling ones among them, so that it shows which one is kept.
    fn several_nans(&mut self) -> Option<[u64; 3]> {
        let mut triple = self.specials()?;
        for (at, bits) in triple.iter_mut().enumerate() {
            let format = if at == 2 { self.to } else { self.factors };
            if self.next() & 3 != 0 {
                *bits = self.sign(format) | format.infinity() | (self.next() & format.frac_mask()).max(1);
            }
        }
        Some(triple)
    }
    /// The out-of-bounds NaN, or a neighbour of it that is none, in a, in b or where it does not count, in c.
    fn out_of_bounds(&mut self) -> Option<[u64; 3]> {
        let nan = self.oob_nan?;
        let mut triple = if self.next() & 1 == 0 { self.ordinary()? } else { self.specials()? };
        let at = self.between(0, 2) as usize;
        let format = if at == 2 { self.to } else { self.factors };
        let beside = nan.wrapping_add_signed(self.one_of(&[0, 0, 0, 1, -1]));
        triple[at] = self.sign(format) | beside & format.magnitude_mask();
        Some(triple)
    }
    /// Terms that overlap.
    fn ordinary(&mut self) -> Option<[u64; 3]> {
        let at = self.exponent();
        let [a, b] = self.factors_at(at);
        let reach = self.to.precision() as i32 + 2;
        let beside = self.between(at - reach, at + reach);
        Some([a, b, self.number(self.to, beside)])
    }
    /// Terms so far apart that the smaller is no more than a sticky bit.
    fn far_apart(&mut self) -> Option<[u64; 3]> {
        let at = self.exponent();
        let [a, b] = self.factors_at(at);
        let apart = self.between(self.to.precision() as i32, 3 * self.to.precision() as i32);
        let c = if self.next() & 1 == 0 { at - apart } else { at + apart };
        Some([a, b, self.number(self.to, c)])
    }
    /// An addend at an edge (of the subnormals, of the numbers, at one, where saturation begins, or anywhere), and a
    /// product of some eighths of its last place, or of a hair more or less than a power of two of it: ties and what is
    /// beside them, carries into the next binade, the edge of the subnormals under every policy.
    fn beside_addend(&mut self) -> Option<[u64; 3]> {
        let t = self.to;
        let any = {
            let at = self.exponent();
            self.number(t, at) & t.magnitude_mask()
        };
        let edges = [
            0,
            1,
            t.smallest_normal() - 1,
            t.smallest_normal(),
            t.smallest_normal(),
            t.one(),
            t.largest_finite(),
            any,
            any,
        ];
        let edge = self.one_of(&edges);
        let nudged = (edge as i64 + i64::from(self.between(-1, 1))).max(0) as u64;
        let c = self.sign(t) | nudged.min(t.largest_finite());
        let quantum = DirectedGenerator::quantum(t, nudged);
        let [a, b] = if self.next() & 1 == 0 {
            let eighths = self.between(1, 12) as u64;
            self.product(eighths, 1, quantum - 3)?
        } else {
            let bits = self.factors.precision() as i32 - 1;
            let whole = 1_u64 << bits;
            let (m, n) = self.one_of(&[(whole + 1, whole - 1), (whole + 1, whole + 1), (whole - 1, whole - 1)]);
            let scale = self.between(-3, 0);
            self.product(m, n, quantum + scale - 2 * bits)?
        };
        Some([a, b, c])
    }
    /// A product with one bit more than the result keeps: a tie, or one that next to nothing tips.
    fn product_tie(&mut self) -> Option<[u64; 3]> {
        let t = self.to;
        let at = if self.next() & 1 == 0 { self.exponent() } else { self.between(t.min_quantum() - 1, t.emin()) };
        let kept = t.precision() as i32 - (t.emin() - at).max(0);
        let length = (kept + 1).max(1) as u32;
        let most = self.factors.precision();
        let first = self.between(length.saturating_sub(most).max(1) as i32, length.min(most) as i32) as u32;
        let (m, n) = (self.odd(first), self.odd((length + 1 - first).min(most)));
        let [a, b] = self.product(m, n, at + 1 - length as i32)?;
        Some([a, b, self.nothing_much()])
    }
    /// A product within a few units of an edge: the smallest normal number, the largest, one.
    fn product_at_edge(&mut self) -> Option<[u64; 3]> {
        let t = self.to;
        let edge = self.one_of(&[t.emin(), t.emin(), t.emax() + 1, 0, t.min_quantum(), t.min_quantum() - 1]);
        let bits = self.factors.precision();
        let m = self.significand(self.factors);
        // m × n is next to 2^(2 bits - 1), most often just below.
        let n = ((1_u128 << (2 * bits - 1)) / u128::from(m)) as u64;
        let n = n.saturating_add_signed(self.one_of(&[0, 0, 0, 1, -1]));
        let [a, b] = if self.kind == ArithOp::Add {
            let m = (1_u64 << bits) - self.between(0, 2) as u64;
            self.product(m, 1, edge - bits as i32)?
        } else {
            self.product(m, n, edge + 1 - 2 * bits as i32)?
        };
        Some([a, b, self.nothing_much()])
    }
    /// An addend that takes all of the product away, or nearly all.
    fn cancellation(&mut self) -> Option<[u64; 3]> {
        let at = self.exponent();
        let [a, b] = if self.next() & 1 == 0 {
            self.factors_at(at)
        } else {
            // A product that the addend can equal.
            let length = self.between(1, self.to.precision() as i32 - 1) as u32;
            let first = self.between(1, length as i32) as u32;
            let (m, n) = (self.odd(first), self.odd(length + 1 - first));
            self.product(m, n, at - length as i32)?
        };
        let c = self.rounded_product([a, b]) ^ self.to.sign_mask();
        let nudge = self.one_of(&[0, 0, 1, -1, 3]);
        Some([a, b, c.wrapping_add_signed(nudge) & self.to.mask()])
    }
    /// A subnormal operand whose flushing shows.
    fn subnormal_operand(&mut self) -> Option<[u64; 3]> {
        let (f, t) = (self.factors, self.to);
        let subnormal = |generator: &mut DirectedGenerator, format: Format| {
            let bits = (generator.next() & format.frac_mask()).max(1);
            generator.sign(format) | bits >> generator.between(0, bits.ilog2() as i32)
        };
        if self.next().is_multiple_of(3) {
            let [a, b] = {
                let at = self.between(t.min_quantum() - 1, t.emin() + 2);
                self.factors_at(at)
            };
            return Some([a, b, subnormal(self, t)]);
        }
        let a = subnormal(self, f);
        let large = self.between(0, f.emax());
        let b = self.number(f, large);
        let at = DirectedGenerator::quantum(f, 0) + f.precision() as i32 + large;
        let beside = self.between(at - t.precision() as i32, at + 4);
        let c = match self.between(0, 2) {
            0 => self.nothing_much(),
            1 => self.special(t),
            _ => self.number(t, beside),
        };
        Some(if self.kind != ArithOp::Add && self.next() & 1 == 0 { [b, a, c] } else { [a, b, c] })
    }
    /// A factor that is zero, or becomes it, times anything.
    fn zero_factor(&mut self) -> Option<[u64; 3]> {
        let f = self.factors;
        let zero = self.sign(f) | self.one_of(&[0, 0, 1, f.smallest_normal() - 1]);
        let [ordinary, _, addend] = self.ordinary()?;
        let other = self.one_of(&[f.infinity(), f.infinity() | f.quiet_bit(), ordinary, 0]) | self.sign(f);
        let c = if self.next() & 1 == 0 { self.special(self.to) } else { addend };
        Some(if self.next() & 1 == 0 { [zero, other, c] } else { [other, zero, c] })
    }
    /// A product beyond the largest number, or just below, and an addend that brings it back or over.
    fn overflow(&mut self) -> Option<[u64; 3]> {
        let t = self.to;
        let at = self.between(t.emax() - 1, t.emax() + 1).min(2 * self.factors.emax());
        let [a, b] = self.factors_at(at);
        let c = if self.next() & 1 == 0 {
            self.sign(t) | (t.largest_finite() - self.next() % 4)
        } else {
            let near = self.between(t.emax() - t.precision() as i32 - 1, t.emax());
            self.number(t, near)
        };
        Some([a, b, c])
    }
}
