//! The GPUs of the family, in the classes that share instructions and their names.

use core::str::FromStr;

/// GPUs with the same instructions under the same names, the oldest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Generation {
    /// sm_50.
    Sm50,
    /// sm_52, sm_53: packed halves, atomics and loads that say whether they were done.
    Sm52,
    /// sm_60: f64 atomics.
    Sm60,
    /// sm_61, sm_62: integer dot products. It has every instruction of the others.
    #[default]
    Sm61,
}

impl FromStr for Generation {
    type Err = String;
    /// `sm_50`.
    fn from_str(text: &str) -> Result<Generation, String> {
        let number = text.strip_prefix("sm_").and_then(|digits| digits.parse().ok());
        number.and_then(Generation::of).ok_or_else(|| format!("`{text}` is not one of sm_50 to sm_62"))
    }
}

impl Generation {
    /// All, the oldest first.
    pub const ALL: [Generation; 4] = [Generation::Sm50, Generation::Sm52, Generation::Sm60, Generation::Sm61];
    /// The one that has every instruction.
    pub const NEWEST: Generation = Generation::Sm61;

    /// That of a target: `sm_53` is 53. `None` outside [`MAXWELL_TARGETS`](crate::MAXWELL_TARGETS).
    ///
    /// ```
    /// use roundonce_sass::Generation;
    /// assert_eq!(Generation::of(53), Some(Generation::Sm52));
    /// assert_eq!(Generation::of(70), None);
    /// ```
    pub fn of(target: u32) -> Option<Generation> {
        let known = crate::MAXWELL_TARGETS.contains(&target);
        Generation::ALL.into_iter().rfind(|generation| known && generation.first() <= target)
    }

    /// The number of its first target.
    pub const fn first(self) -> u32 {
        match self {
            Generation::Sm50 => 50,
            Generation::Sm52 => 52,
            Generation::Sm60 => 60,
            Generation::Sm61 => 61,
        }
    }
}
