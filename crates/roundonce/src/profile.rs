//! A profile chosen in text: machines by name and single decisions, `sm_90`, `tininess=result,nan_f64=abc`.

use roundonce_arith::{FmzSatNan, Machine, NanRule, Profile, Sm1xMad, Tininess, Underflow};

/// Changes of a profile, in order.
///
/// ```
/// use roundonce::arith::{Profile, Tininess};
/// use roundonce::ProfileChoice;
/// let choice = ProfileChoice::parse("gt200,tininess=result").unwrap();
/// assert_eq!(choice.apply(Profile::NVIDIA).tininess, Tininess::Result);
/// assert!(ProfileChoice::parse("gt201").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ProfileChoice {
    settings: Vec<Setting>,
}

/// One change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Setting {
    Machine(&'static Machine),
    Tininess(Tininess),
    Sm1xTininess(Tininess),
    Underflow(Underflow),
    NanF32(NanRule),
    NanF64(NanRule),
    NanSmall(NanRule),
    Sm1xMad(Sm1xMad),
    FmzSatNan(FmzSatNan),
    OobNan(u64),
}

/// A value of a decision that has a few, each with a name.
fn named<T: Copy>(values: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = values.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        format!("`{text}` is none of {}", names.join(", "))
    })
}

fn tininess(text: &str) -> Result<Tininess, String> {
    named(&Tininess::ALL.map(|tininess| (tininess.name(), tininess)), text)
}

fn nan_rule(text: &str) -> Result<NanRule, String> {
    named(&NanRule::ALL.map(|rule| (rule.name(), rule)), text)
}

fn hexadecimal(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() <= 4);
    digits
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| format!("`{text}` is no pattern of 16 bits like 0x7ff7"))
}

/// The names of the decisions, and how each is read.
type Reader = fn(&str) -> Result<Setting, String>;
const FIELDS: [(&str, Reader); 9] = [
    ("tininess", |text| tininess(text).map(Setting::Tininess)),
    ("sm1x_tininess", |text| tininess(text).map(Setting::Sm1xTininess)),
    ("underflow", |text| {
        let rules = [("after-rounding", Underflow::AfterRounding), ("before-rounding", Underflow::BeforeRounding)];
        named(&rules, text).map(Setting::Underflow)
    }),
    ("nan_f32", |text| nan_rule(text).map(Setting::NanF32)),
    ("nan_f64", |text| nan_rule(text).map(Setting::NanF64)),
    ("nan_small", |text| nan_rule(text).map(Setting::NanSmall)),
    ("sm1x_mad", |text| {
        named(&[("truncate", Sm1xMad::Truncate), ("fused-ftz", Sm1xMad::FusedFtz)], text).map(Setting::Sm1xMad)
    }),
    ("fmz_sat_nan", |text| {
        named(&[("addend", FmzSatNan::Addend), ("zero", FmzSatNan::Zero)], text).map(Setting::FmzSatNan)
    }),
    ("oob_nan", |text| hexadecimal(text).map(Setting::OobNan)),
];

fn setting(text: &str) -> Result<Setting, String> {
    let Some((field, value)) = text.split_once('=') else {
        return Machine::named(text).map(Setting::Machine).ok_or_else(|| {
            let machines = Machine::ALL.map(|machine| machine.name).join(", ");
            let fields = FIELDS.map(|(name, _)| name).join(", ");
            format!("`{text}` is no machine: expected one of {machines}, or FIELD=VALUE with a field of {fields}")
        });
    };
    // The short name that measurements are published under.
    let field = if field == "tiny" { "tininess" } else { field };
    let Some((_, read)) = FIELDS.iter().find(|(name, _)| *name == field) else {
        return Err(format!("`{field}` is no field: expected one of {}", FIELDS.map(|(name, _)| name).join(", ")));
    };
    read(value).map_err(|problem| format!("{field}: {problem}"))
}

impl ProfileChoice {
    /// Reads a list, separated by commas, of machines and of `field=value`.
    ///
    /// # Errors
    /// Which part of it is unknown, and what is known.
    pub fn parse(text: &str) -> Result<ProfileChoice, String> {
        text.split(',').map(setting).collect::<Result<_, _>>().map(|settings| ProfileChoice { settings })
    }

    /// The same with the changes of another one after it.
    #[must_use]
    pub fn and(mut self, other: &ProfileChoice) -> ProfileChoice {
        self.settings.extend(&other.settings);
        self
    }

    /// The profile with its changes. A machine is a whole profile.
    pub fn apply(&self, base: Profile) -> Profile {
        self.settings.iter().fold(base, |profile, setting| match *setting {
            Setting::Machine(machine) => machine.profile,
            Setting::Tininess(tininess) => Profile { tininess, ..profile },
            Setting::Sm1xTininess(sm1x_tininess) => Profile { sm1x_tininess, ..profile },
            Setting::Underflow(underflow) => Profile { underflow, ..profile },
            Setting::NanF32(nan_f32) => Profile { nan_f32, ..profile },
            Setting::NanF64(nan_f64) => Profile { nan_f64, ..profile },
            Setting::NanSmall(nan_small) => Profile { nan_small, ..profile },
            Setting::Sm1xMad(sm1x_mad) => Profile { sm1x_mad, ..profile },
            Setting::FmzSatNan(fmz_sat_nan) => Profile { fmz_sat_nan, ..profile },
            Setting::OobNan(oob_nan) => Profile { oob_nan, ..profile },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that is added to the profile and not here shows: each decision of the profile's list has its name.
    #[test]
    fn every_decision_has_its_field() {
        let fields: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        let decisions = Profile::DECISIONS.iter().map(|decision| decision.field);
        assert_eq!(decisions.filter(|field| *field != "condition codes").collect::<Vec<_>>(), fields);
    }

    #[test]
    fn what_is_unknown_is_named_with_what_is_known() {
        for (text, part) in [
            ("", "`` is no machine: expected one of gt200"),
            ("sm_90,tiny=exact", "tininess: `exact` is none of result, after-rounding, before-rounding"),
            ("size=1", "`size` is no field: expected one of tininess"),
            ("nan_f64=ab", "nan_f64: `ab` is none of canonical, abc"),
            ("oob_nan=7", "oob_nan: `7` is no pattern"),
        ] {
            let problem = ProfileChoice::parse(text).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }

    #[test]
    fn later_changes_win() {
        let choice = ProfileChoice::parse("tiny=result,apple-m4,nan_f64=abc").unwrap();
        let profile = choice.apply(Profile::NVIDIA);
        assert_eq!((profile.tininess, profile.nan_f64.name()), (Tininess::BeforeRounding, "abc"));
        let other = ProfileChoice::parse("tiny=result").unwrap();
        assert_eq!(choice.and(&other).apply(Profile::NVIDIA).tininess, Tininess::Result);
    }
}
