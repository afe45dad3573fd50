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
    /// Other requirements, as text: `SPA 5.0`, `capability FMAKHR`.
    pub needs: &'static [&'static str],
}

impl Gate {
    /// A gate of a first version and a first target.
    pub const fn since(version: Version, target: u32) -> Gate {
        Gate { version: Range::new(version), target: Range::new(target), needs: &[] }
    }
    /// A gate of declared needs alone.
    pub const fn needs(needs: &'static [&'static str]) -> Gate {
        Gate { version: Range::new(Version(0, 0)), target: Range::new(0), needs }
    }
    /// Whether a target and a version, where given, have the form.
    pub fn holds(&self, target: Option<u32>, version: Option<Version>) -> bool {
        target.is_none_or(|target| self.target.holds(target))
            && version.is_none_or(|version| self.version.holds(version))
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
        parts.extend(self.needs.iter().map(|need| (*need).to_owned()));
        f.write_str(&parts.join(", "))
    }
}
