//! Where a form is available: language versions, targets, capabilities.

use core::fmt;

/// A language version: major and minor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version(pub u16, pub u16);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl core::str::FromStr for Version {
    type Err = String;
    fn from_str(text: &str) -> Result<Version, String> {
        let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        parts.map(|(major, minor)| Version(major, minor)).ok_or_else(|| format!("`{text}` is not a version like 8.6"))
    }
}

/// A PTX target: `sm_90`, `sm_100a`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SmTarget {
    /// `sm_90` is 90.
    pub number: u32,
    /// What its letter says.
    pub variant: Option<SmVariant>,
}

/// The variants of a target that have more than it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SmVariant {
    /// `sm_100a`: for this architecture alone.
    Architecture,
    /// `sm_100f`: for its family.
    Family,
}

impl From<u32> for SmTarget {
    fn from(number: u32) -> SmTarget {
        SmTarget { number, variant: None }
    }
}

impl fmt::Display for SmTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.variant {
            None => "",
            Some(SmVariant::Architecture) => "a",
            Some(SmVariant::Family) => "f",
        };
        write!(f, "sm_{}{letter}", self.number)
    }
}

impl core::str::FromStr for SmTarget {
    type Err = String;
    /// Whether there is such a target is for the language to say.
    fn from_str(text: &str) -> Result<SmTarget, String> {
        let read = |text: &str| {
            let name = text.strip_prefix("sm_")?;
            let (digits, variant) = match name.strip_suffix(['a', 'f']) {
                Some(digits) if name.ends_with('a') => (digits, Some(SmVariant::Architecture)),
                Some(digits) => (digits, Some(SmVariant::Family)),
                None => (name, None),
            };
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            Some(SmTarget { number: digits.parse().ok().filter(|_| is_number)?, variant })
        };
        read(text).ok_or_else(|| format!("`{text}` is not a target like sm_20 or sm_100a"))
    }
}

/// Which of the targets in its range have a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variants {
    /// All.
    All,
    /// The `a` and `f` ones.
    Specific,
    /// The `a` and `f` ones of these numbers.
    SpecificOf(&'static [u32]),
    /// The `a` ones of these numbers.
    Architecture(&'static [u32]),
}

impl Variants {
    fn holds(self, target: SmTarget) -> bool {
        match self {
            Variants::All => true,
            Variants::Specific => target.variant.is_some(),
            Variants::SpecificOf(numbers) => target.variant.is_some() && numbers.contains(&target.number),
            Variants::Architecture(numbers) => {
                target.variant == Some(SmVariant::Architecture) && numbers.contains(&target.number)
            }
        }
    }
}

/// A range of values, closed or without an upper end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range<T> {
    /// The first.
    pub first: T,
    /// The last, if it ends.
    pub last: Option<T>,
}

impl<T: PartialOrd + Copy> Range<T> {
    /// Without an upper end.
    pub const fn new(first: T) -> Range<T> {
        Range { first, last: None }
    }
    /// Up to and including `last`.
    pub const fn until(first: T, last: T) -> Range<T> {
        Range { first, last: Some(last) }
    }
    /// Whether it contains the value.
    pub fn holds(&self, value: T) -> bool {
        value >= self.first && self.last.is_none_or(|last| value <= last)
    }
}

/// What a program must declare, or the target it must run on, to use a form. Languages without numbered targets leave
/// `target` unrestricted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gate {
    /// The language's versions that have the form.
    pub version: Range<Version>,
    /// The targets (`sm_20` is 20) that have it.
    pub target: Range<u32>,
    /// Which variants of these.
    pub variants: Variants,
    /// Other requirements, as text: `SPA 5.0`, `capability FMAKHR`.
    pub needs: &'static [&'static str],
}

impl Gate {
    /// A gate of versions and targets.
    pub const fn of(version: Range<Version>, target: Range<u32>, variants: Variants) -> Gate {
        Gate { version, target, variants, needs: &[] }
    }
    /// A gate of a first version and a first target.
    pub const fn since(version: Version, target: u32) -> Gate {
        Gate::of(Range::new(version), Range::new(target), Variants::All)
    }
    /// The lowest target that has it.
    pub fn first_target(&self) -> u32 {
        let of_variants = match self.variants {
            Variants::SpecificOf(numbers) | Variants::Architecture(numbers) => numbers.iter().copied().min(),
            Variants::All | Variants::Specific => None,
        };
        self.target.first.max(of_variants.unwrap_or(0))
    }
    /// A gate of declared needs alone.
    pub const fn needs(needs: &'static [&'static str]) -> Gate {
        Gate { version: Range::new(Version(0, 0)), target: Range::new(0), variants: Variants::All, needs }
    }
    /// Whether a target has the form.
    pub fn has_target(&self, target: SmTarget) -> bool {
        self.target.holds(target.number) && self.variants.holds(target)
    }
    /// Whether a target and a version, where given, have the form.
    pub fn holds(&self, target: Option<SmTarget>, version: Option<Version>) -> bool {
        target.is_none_or(|target| self.has_target(target)) && version.is_none_or(|version| self.version.holds(version))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.version.first > Version(0, 0) {
            parts.push(match self.version.last {
                None => format!("PTX {}", self.version.first),
                Some(last) => format!("PTX {} to {last}", self.version.first),
            });
        }
        if self.target.first > 0 {
            parts.push(match self.target.last {
                None => format!("sm_{}", self.target.first),
                Some(last) if last == self.target.first => format!("sm_{last} alone"),
                Some(last) => format!("sm_{} to sm_{last}", self.target.first),
            });
        }
        match self.variants {
            Variants::All => {}
            Variants::Specific => parts.push("a target with `a` or `f`".to_owned()),
            Variants::SpecificOf(numbers) | Variants::Architecture(numbers) => {
                let letters = if matches!(self.variants, Variants::Architecture(_)) { "a" } else { "a/f" };
                let names: Vec<String> = numbers.iter().map(|number| format!("sm_{number}{letters}")).collect();
                parts.push(match names.as_slice() {
                    [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                    names => names.concat(),
                });
            }
        }
        parts.extend(self.needs.iter().map(|need| (*need).to_owned()));
        f.write_str(&parts.join(", "))
    }
}
