//! Machines by name: profiles that public measurements support.

use crate::{FmzSatNan, Profile, Tininess};

/// A machine or one of its modes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The name to ask for it by.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// What it computes. What was not measured of it is as in [`Profile::NVIDIA`].
    pub profile: Profile,
    /// The profile's fields that were measured of it.
    pub measured: &'static [&'static str],
}

/// A machine that nothing measured tells from the default.
const fn as_default(name: &'static str, title: &'static str, measured: &'static [&'static str]) -> Machine {
    Machine { name, title, profile: Profile::NVIDIA, measured }
}

impl Machine {
    /// All of them.
    pub const ALL: [Machine; 9] = [
        Machine {
            name: "gt200",
            title: "NVIDIA GT200 and the other sm_1x",
            profile: Profile { fmz_sat_nan: FmzSatNan::Zero, ..Profile::NVIDIA },
            measured: &["nan_f32", "nan_f64", "sm1x_mad", "fmz_sat_nan"],
        },
        as_default("sm_53", "NVIDIA GM20B (Tegra X1)", &["nan_small"]),
        as_default("sm_86", "NVIDIA RTX 3060", &["nan_f32"]),
        as_default("sm_89", "NVIDIA L40S", &["tininess"]),
        as_default(
            "sm_90",
            "NVIDIA H100, H200",
            &[
                "tininess",
                "nan_f32",
                "nan_f64",
                "nan_small",
                "fmz_sat_nan",
                "oob_nan",
                "dot_zero",
                "dot_zero_sign",
                "dot_addend",
                "dot_nan_f64",
            ],
        ),
        as_default("sm_100", "NVIDIA, sm_100a", &["tininess", "nan_f32", "oob_nan"]),
        as_default("sm_120", "NVIDIA RTX 5090, RTX PRO 6000", &["nan_f32", "nan_f64"]),
        Machine {
            name: "apple-m4",
            title: "Apple M4, Metal",
            profile: Profile { tininess: Tininess::BeforeRounding, ..Profile::NVIDIA },
            measured: &["tininess"],
        },
        as_default("gfx942-flush", "AMD MI300X, MODE.FP_DENORM = flush", &["tininess"]),
    ];

    /// The machine of this name.
    pub fn named(name: &str) -> Option<&'static Machine> {
        const ALL: &[Machine] = &Machine::ALL;
        ALL.iter().find(|machine| machine.name == name)
    }
}
