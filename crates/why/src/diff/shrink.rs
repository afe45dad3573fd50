//! From an input on which two computations differ to a simpler one.

use roundonce_arith::Format;

use super::Pair;

/// How hard a number is to read: its significant bits, the distance of its exponent from 0, its sign. Zero is the
/// simplest, infinity and NaN the hardest.
fn cost(format: Format, bits: u64) -> (u32, u32) {
    let sign = u32::from(format.is_negative(bits));
    let magnitude = bits & format.magnitude_mask();
    if magnitude == 0 {
        return (0, sign);
    }
    if magnitude >= format.infinity() {
        return (200 + u32::from(magnitude > format.infinity()), sign);
    }
    let field = (magnitude >> format.frac_bits()) as i32;
    // A subnormal number has the exponent of its highest bit.
    let (significand, exponent) = match field {
        0 => (magnitude, magnitude.ilog2() as i32 - format.frac_bits() as i32 + 1 - format.bias()),
        _ => ((magnitude & format.frac_mask()) + format.frac_mask() + 1, field - format.bias()),
    };
    let significant = significand.ilog2() + 1 - significand.trailing_zeros();
    (significant, 2 * exponent.unsigned_abs() + sign)
}

fn total(formats: &[Format], values: &[u64]) -> (u32, u32) {
    let costs = formats.iter().zip(values).map(|(&format, &bits)| cost(format, bits));
    costs.fold((0, 0), |sum, (significant, rest)| (sum.0 + significant, sum.1 + rest))
}

/// Simpler numbers to try for one.
fn simpler(format: Format, bits: u64) -> Vec<u64> {
    let one = format.one();
    let mut all = vec![0, one, one | format.sign_mask(), bits & format.magnitude_mask()];
    let magnitude = bits & format.magnitude_mask();
    if magnitude < format.infinity() {
        // The fraction cut, rounded up, and with any single bit cleared.
        for dropped in (0..=format.frac_bits()).rev() {
            let cut = bits >> dropped << dropped;
            all.extend([cut, cut.wrapping_add(1 << dropped) & format.mask(), bits & !(1 << dropped)]);
        }
        all.extend(
            [1, 2, 4, 8, 32, 128]
                .into_iter()
                .flat_map(|by: i32| [scaled(format, bits, by), scaled(format, bits, -by)].into_iter().flatten()),
        );
    }
    all
}

/// The number times 2^`by`, if it stays normal.
fn scaled(format: Format, bits: u64, by: i32) -> Option<u64> {
    let field = (bits & format.magnitude_mask()) >> format.frac_bits();
    let moved = field as i64 + i64::from(by);
    let normal = (1..format.exp_max() as i64).contains(&moved) && (1..format.exp_max()).contains(&field);
    normal.then(|| (bits & !(format.magnitude_mask() ^ format.frac_mask())) | (moved as u64) << format.frac_bits())
}

impl Pair<'_> {
    /// The simplest that some inputs become.
    pub(super) fn simplest(&self, found: Vec<Vec<u64>>) -> Option<Vec<u64>> {
        let formats: Vec<Format> = self.inputs.values().copied().collect();
        found.into_iter().map(|values| self.shrunk(&formats, values)).min_by_key(|values| total(&formats, values))
    }

    /// An input that no single step makes simpler without a difference that is less plain.
    fn shrunk(&self, formats: &[Format], mut values: Vec<u64>) -> Vec<u64> {
        let (first, second) = self.results(&values);
        let kind = self.kind(first, second);
        let differ = |values: &[u64]| {
            let (first, second) = self.results(values);
            self.differ(first, second) && self.kind(first, second) <= kind
        };
        loop {
            let now = total(formats, &values);
            let better = self
                .neighbours(formats, &values)
                .into_iter()
                .filter(|candidate| total(formats, candidate) < now)
                .filter(|candidate| differ(candidate))
                .min_by_key(|candidate| total(formats, candidate));
            match better {
                Some(better) => values = better,
                None => return values,
            }
        }
    }

    /// One number simpler, or two scaled together.
    fn neighbours(&self, formats: &[Format], values: &[u64]) -> Vec<Vec<u64>> {
        let mut all = Vec::new();
        let with = |at: usize, bits: u64| {
            let mut changed = values.to_vec();
            changed[at] = bits;
            changed
        };
        for (at, &format) in formats.iter().enumerate() {
            all.extend(simpler(format, values[at]).into_iter().map(|bits| with(at, bits)));
            for other in (0..formats.len()).filter(|&other| other != at) {
                for (by, same) in [1, -1, 4, -4, 16, -16].into_iter().flat_map(|by| [(by, by), (by, -by)]) {
                    let moved = scaled(format, values[at], by).zip(scaled(formats[other], values[other], same));
                    all.extend(moved.map(|(one, two)| {
                        let mut changed = with(at, one);
                        changed[other] = two;
                        changed
                    }));
                }
                // Signs that go together.
                let flip = |at: usize| values[at] ^ formats[at].sign_mask();
                let mut changed = with(at, flip(at));
                changed[other] = flip(other);
                all.push(changed);
            }
        }
        all
    }
}
