//! How likely it is that an explanation is found by accident.
//!
//! A search that tries many evaluations finds one for some wrong values too. How many of the values near to a seen one it
//! would have explained says how much an explanation is worth; of arrays, how often evaluations match when what was seen is
//! moved by a few ulps.

use std::collections::HashSet;

use serde::Serialize;

/// Neighbourhoods that are looked at: so many values on each side.
const RADII: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// A chance above it makes an explanation weak: what was seen is consistent with it, and no more.
pub const WEAK: f64 = 1.0 / 16.0;

/// Bits of evidence below which an explanation of an array is weak.
pub const WEAK_BITS: f64 = 10.0;

/// How many of the values nearest to a seen one have an explanation at least as plausible as what was found. The
/// neighbourhood is the one, of 1 to 32 values on each side, in which the largest share of the other values has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Neighbourhood {
    /// So many have one, the seen value itself among them if it has.
    pub explained: u64,
    /// How many values it has, the seen one among them.
    pub values: u64,
}

impl Neighbourhood {
    /// Of a seen value, from the distances of the results that were tried, in values; 0 is the seen value's own.
    ///
    /// ```
    /// use roundonce_why::Neighbourhood;
    /// assert_eq!(Neighbourhood::of([0, 1, 1, -900]), Neighbourhood { explained: 2, values: 3 });
    /// assert_eq!(Neighbourhood::of([0, 900]), Neighbourhood { explained: 1, values: 65 });
    /// ```
    pub fn of(distances: impl IntoIterator<Item = i64>) -> Neighbourhood {
        let widest = RADII[RADII.len() - 1];
        let near: HashSet<i64> = distances.into_iter().filter(|distance| distance.unsigned_abs() <= widest).collect();
        let others = |radius: u64| near.iter().filter(|it| (1..=radius).contains(&it.unsigned_abs())).count() as u64;
        let mut radius = widest;
        for smaller in RADII.into_iter().rev() {
            // As fractions: others / (2 radius), the smaller neighbourhood of equals, if there is anything in it.
            if others(smaller) > 0 && others(smaller) * radius >= others(radius) * smaller {
                radius = smaller;
            }
        }
        Neighbourhood { explained: others(radius) + u64::from(near.contains(&0)), values: 2 * radius + 1 }
    }

    /// Of a NaN that is explained by a NaN of other bits: every other one would be.
    pub(crate) const ALL: Neighbourhood = Neighbourhood { explained: 65, values: 65 };

    /// Of a comparison, whose results are two.
    pub(crate) const OF_TWO: Neighbourhood = Neighbourhood { explained: 1, values: 2 };

    /// The chance that a value from there has an explanation.
    pub fn chance(self) -> f64 {
        self.explained as f64 / self.values as f64
    }

    /// Whether an explanation says little.
    pub fn is_weak(self) -> bool {
        self.chance() > WEAK
    }

    /// In a sentence, about a value that has an explanation.
    pub(crate) fn sentence(&self) -> String {
        let Neighbourhood { explained, values } = *self;
        let who =
            if explained == 1 { format!("it alone of the {values}") } else { format!("{explained} of the {values}") };
        let strength = if self.is_weak() { ": weak" } else { "" };
        format!("chance: {who} values nearest to it would have an explanation{strength}")
    }
}

/// An array is moved by so many ulps to each side.
pub const FARTHEST: i128 = 4;

/// The chance of an accident that bits of evidence leave.
pub fn chance_of(bits: f64) -> f64 {
    (-bits).exp2().max(f64::MIN_POSITIVE)
}

/// The chance that one element matches, from the most that do in a sample that was moved: as if one more had matched, of
/// one more that did and one that did not.
pub fn chance_of_a_match(most: usize, sample: usize) -> f64 {
    (most + 1) as f64 / (sample + 2) as f64
}

/// Whether so many elements match that it is clearly more than so many that may by accident: by two standard deviations.
///
/// ```
/// use roundonce_why::is_beyond_accident;
/// assert!(!is_beyond_accident(3, 2) && is_beyond_accident(30, 2));
/// ```
pub fn is_beyond_accident(matched: usize, by_accident: usize) -> bool {
    let more = matched.saturating_sub(by_accident);
    more * more > 4 * (by_accident + 1)
}

/// The bits of evidence that so many of some elements are no accident where one matches with the given chance: the
/// negative logarithm of Chernoff's bound on the chance of as many matches. None if neither twice as many match as by
/// accident, nor half as many do not: then values beside the seen ones match about as often.
///
/// ```
/// use roundonce_why::bits_of_evidence;
/// assert!(bits_of_evidence(999, 1000, 0.54) > 800.0);
/// assert_eq!(bits_of_evidence(690, 1000, 0.54), 0.0);
/// ```
pub fn bits_of_evidence(matched: usize, of: usize, chance: f64) -> f64 {
    let (all, share) = (of as f64, matched as f64 / of as f64);
    if share <= chance || share < 2.0 * chance && 2.0 * (1.0 - share) > 1.0 - chance {
        return 0.0;
    }
    let term = |share: f64, chance: f64| if share == 0.0 { 0.0 } else { share * (share / chance).log2() };
    all * (term(share, chance) + term(1.0 - share, 1.0 - chance))
}

/// The bits of evidence that are left where what explains most was chosen among so many: one of many matches by accident as
/// often as they are many.
///
/// ```
/// use roundonce_why::bits_after_choice;
/// assert_eq!([bits_after_choice(15.0, 1), bits_after_choice(15.0, 256), bits_after_choice(5.0, 256)], [15.0, 7.0, 0.0]);
/// ```
pub fn bits_after_choice(bits: f64, among: usize) -> f64 {
    (bits - (among.max(1) as f64).log2()).max(0.0)
}

/// Bits of evidence in words.
pub fn evidence_text(bits: f64) -> String {
    match bits {
        bits if bits >= 100.0 => "evidence: more than 100 bits".to_owned(),
        // Rounded down: what is weak does not read as if it were not.
        bits if bits < WEAK_BITS => format!("evidence: {:.1} bits, weak", (bits * 10.0).floor() / 10.0),
        bits => format!("evidence: {bits:.0} bits"),
    }
}
