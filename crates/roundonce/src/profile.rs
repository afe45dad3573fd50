//! A profile chosen in text: machines by name and single decisions, `sm_90`, `tininess=result,nan_f64=abc`.

use roundonce_arith::{
    AddendCut, FmzSatNan, Machine, NanRule, Profile, Sm1xMad, Tininess, TuringBlock, Underflow, ZeroExponent, ZeroSum,
};

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
#[derive(Clone, PartialEq, Eq, Debug)]
enum Setting {
    Machine(&'static Machine),
    /// A field, by its place among [`FIELDS`], and its value.
    Field(usize, String),
}

/// Sets a decision to the one of its values that has a name.
fn named<T: Copy>(decision: &mut T, values: &[(&str, T)], text: &str) -> Result<(), String> {
    let found = values.iter().find(|(name, _)| *name == text);
    *decision = found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        format!("`{text}` is none of {}", names.join(", "))
    })?;
    Ok(())
}

fn tininess(decision: &mut Tininess, text: &str) -> Result<(), String> {
    named(decision, &Tininess::ALL.map(|tininess| (tininess.name(), tininess)), text)
}

fn nan_rule(decision: &mut NanRule, text: &str) -> Result<(), String> {
    named(decision, &NanRule::ALL.map(|rule| (rule.name(), rule)), text)
}

fn hexadecimal(decision: &mut u64, text: &str) -> Result<(), String> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() <= 4);
    let pattern = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    *decision = pattern.ok_or_else(|| format!("`{text}` is no pattern of 16 bits like 0x7ff7"))?;
    Ok(())
}

/// Sets a field to what a text says.
type Setter = fn(&mut Profile, &str) -> Result<(), String>;

/// A row a field: its name, and how it is set.
static FIELDS: [(&str, Setter); 15] = [
    ("tininess", |profile, text| tininess(&mut profile.tininess, text)),
    ("sm1x_tininess", |profile, text| tininess(&mut profile.sm1x_tininess, text)),
    ("underflow", |profile, text| {
        let rules = [("after-rounding", Underflow::AfterRounding), ("before-rounding", Underflow::BeforeRounding)];
        named(&mut profile.underflow, &rules, text)
    }),
    ("nan_f32", |profile, text| nan_rule(&mut profile.nan_f32, text)),
    ("nan_f64", |profile, text| nan_rule(&mut profile.nan_f64, text)),
    ("div_nan_f64", |profile, text| nan_rule(&mut profile.div_nan_f64, text)),
    ("nan_small", |profile, text| nan_rule(&mut profile.nan_small, text)),
    ("sm1x_mad", |profile, text| {
        named(&mut profile.sm1x_mad, &[("truncate", Sm1xMad::Truncate), ("fused-ftz", Sm1xMad::FusedFtz)], text)
    }),
    ("fmz_sat_nan", |profile, text| {
        named(&mut profile.fmz_sat_nan, &[("addend", FmzSatNan::Addend), ("zero", FmzSatNan::Zero)], text)
    }),
    ("oob_nan", |profile, text| hexadecimal(&mut profile.oob_nan, text)),
    ("dot_zero", |profile, text| {
        let rules =
            [("floor", ZeroExponent::Floor), ("operand", ZeroExponent::Operand), ("absent", ZeroExponent::Absent)];
        named(&mut profile.dot_zero, &rules, text)
    }),
    ("dot_zero_sign", |profile, text| {
        let rules = [("positive", ZeroSum::Positive), ("all-negative", ZeroSum::AllNegative)];
        named(&mut profile.dot_zero_sign, &rules, text)
    }),
    ("dot_addend", |profile, text| {
        let rules = [("as-products", AddendCut::AsProducts), ("to-precision", AddendCut::ToPrecision)];
        named(&mut profile.dot_addend, &rules, text)
    }),
    ("dot_nan_f64", |profile, text| nan_rule(&mut profile.dot_nan_f64, text)),
    ("turing_block", |profile, text| {
        named(&mut profile.turing_block, &[("8", TuringBlock::Eight), ("4", TuringBlock::Four)], text)
    }),
];

fn setting(text: &str) -> Result<Setting, String> {
    let fields = || FIELDS.map(|(name, _)| name).join(", ");
    let Some((field, value)) = text.split_once('=') else {
        return Machine::named(text).map(Setting::Machine).ok_or_else(|| {
            let machines = Machine::ALL.map(|machine| machine.name).join(", ");
            format!("`{text}` is no machine: expected one of {machines}, or FIELD=VALUE with a field of {}", fields())
        });
    };
    // The short name that measurements are published under.
    let field = if field == "tiny" { "tininess" } else { field };
    let place = FIELDS.iter().position(|(name, _)| *name == field);
    let place = place.ok_or_else(|| format!("`{field}` is no field: expected one of {}", fields()))?;
    FIELDS[place].1(&mut Profile::default(), value).map_err(|problem| format!("{field}: {problem}"))?;
    Ok(Setting::Field(place, value.to_owned()))
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
        self.settings.extend_from_slice(&other.settings);
        self
    }

    /// The profile with its changes. A machine is a whole profile.
    pub fn apply(&self, mut profile: Profile) -> Profile {
        for setting in &self.settings {
            match setting {
                Setting::Machine(machine) => profile = machine.profile,
                Setting::Field(place, value) => {
                    // The value was read once already.
                    let _ = FIELDS[*place].1(&mut profile, value);
                }
            }
        }
        profile
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
    fn every_field_sets_its_own_decision() {
        let changed = ProfileChoice::parse(
            "tininess=result,sm1x_tininess=before-rounding,underflow=before-rounding,nan_f32=bca,nan_f64=abc,\
             div_nan_f64=cab,nan_small=bca,sm1x_mad=fused-ftz,fmz_sat_nan=zero,oob_nan=0x7fff,dot_zero=absent,\
             dot_zero_sign=all-negative,dot_addend=to-precision,dot_nan_f64=cba,\
             turing_block=4",
        );
        let changed = changed.unwrap().apply(Profile::NVIDIA);
        assert_eq!((changed.tininess, changed.sm1x_tininess), (Tininess::Result, Tininess::BeforeRounding));
        let rules = [changed.nan_f32, changed.nan_f64, changed.div_nan_f64, changed.nan_small].map(NanRule::name);
        assert_eq!((changed.underflow, rules), (Underflow::BeforeRounding, ["bca", "abc", "cab", "bca"]));
        assert_eq!((changed.sm1x_mad, changed.fmz_sat_nan), (Sm1xMad::FusedFtz, FmzSatNan::Zero));
        assert_eq!(changed.oob_nan, 0x7fff);
        assert_eq!((changed.dot_zero, changed.dot_zero_sign), (ZeroExponent::Absent, ZeroSum::AllNegative));
        assert_eq!((changed.dot_addend, changed.dot_nan_f64.name()), (AddendCut::ToPrecision, "cba"));
        assert_eq!(changed.turing_block, TuringBlock::Four);
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
