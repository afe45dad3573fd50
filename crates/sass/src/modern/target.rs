//! The targets of 128-bit words, in the classes that share an encoding.

use core::fmt;

/// Targets with one encoding. Where two differ, the opcode table says how.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Generation {
    /// sm_70, sm_72.
    Volta,
    /// sm_75.
    Turing,
    /// sm_80.
    Ampere,
    /// sm_86 to sm_89.
    Ada,
    /// sm_90.
    Hopper,
    /// sm_100, sm_103, sm_107.
    Blackwell,
    /// sm_101, sm_110.
    Thor,
    /// sm_120, sm_121.
    Consumer,
}

impl Generation {
    /// All, the oldest first.
    pub const ALL: [Generation; 8] = [
        Generation::Volta,
        Generation::Turing,
        Generation::Ampere,
        Generation::Ada,
        Generation::Hopper,
        Generation::Blackwell,
        Generation::Thor,
        Generation::Consumer,
    ];
    /// In a set of generations.
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A target whose words have 128 bits.
///
/// ```
/// use roundonce_sass::modern::{Generation, Target};
/// assert_eq!("sm_89".parse::<Target>().unwrap().generation(), Generation::Ada);
/// assert!("sm_50".parse::<Target>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    number: u32,
    generation: Generation,
}

/// The numbers of all targets.
pub const TARGETS: [u32; 16] = [70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 107, 110, 120, 121];

impl Target {
    /// The target of a number: `sm_90` is 90. `None` where it has no 128-bit words.
    pub fn new(number: u32) -> Option<Target> {
        let generation = match number {
            70 | 72 => Generation::Volta,
            75 => Generation::Turing,
            80 => Generation::Ampere,
            86..=89 => Generation::Ada,
            90 => Generation::Hopper,
            100 | 103 | 107 => Generation::Blackwell,
            101 | 110 => Generation::Thor,
            120 | 121 => Generation::Consumer,
            _ => return None,
        };
        Some(Target { number, generation })
    }
    /// Its number.
    pub fn number(self) -> u32 {
        self.number
    }
    /// The targets that share its encoding.
    pub fn generation(self) -> Generation {
        self.generation
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)
    }
}

impl core::str::FromStr for Target {
    type Err = String;
    /// `sm_90`, `sm_90a`: the letter changes no encoding.
    fn from_str(text: &str) -> Result<Target, String> {
        let digits = text.strip_prefix("sm_").map(|rest| rest.trim_end_matches(['a', 'f']));
        let number = digits.filter(|digits| digits.len() <= 3).and_then(|digits| digits.parse().ok());
        number.and_then(Target::new).ok_or_else(|| {
            let known: Vec<String> = TARGETS.iter().map(|number| format!("sm_{number}")).collect();
            format!("`{text}` has no 128-bit words: expected one of {}", known.join(" "))
        })
    }
}

/// A set of generations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Generations(u8);

impl Generations {
    /// All.
    pub const ALL: Generations = Generations(0xff);

    /// From one on to the newest.
    pub const fn since(first: Generation) -> Generations {
        Generations(!(first.bit() - 1))
    }
    /// From one to another, both included.
    pub const fn range(first: Generation, last: Generation) -> Generations {
        Generations(Generations::since(first).0 & (last.bit() | (last.bit() - 1)))
    }
    /// Before one.
    pub const fn before(first: Generation) -> Generations {
        Generations(first.bit() - 1)
    }
    /// Those of both sets.
    pub const fn and(self, other: Generations) -> Generations {
        Generations(self.0 & other.0)
    }
    /// Whether one of them is in the set.
    pub const fn holds(self, generation: Generation) -> bool {
        self.0 & generation.bit() != 0
    }
}
