//! The rows of SPIR-V: OpFmaKHR. A spelling carries the result type and, after `+`, the float-control execution modes
//! that a module declares for that width.

use roundonce_arith::{Format, Operation, Rounding};
use roundonce_isa::{Choice, Effect, Form, Gate, Language, Part, Recipe, Slot};

const fn choice(text: &'static str, effect: Effect) -> Choice {
    Choice { text, effect }
}
const fn lanes(text: &'static str, format: Format, lanes: u32) -> Choice {
    choice(text, Effect::Type(format, lanes))
}
const fn types(choices: &'static [Choice]) -> Part {
    Part::Slot(Slot { name: ".type", choices, required: true })
}

const ROUNDING: Part = Part::Slot(Slot {
    name: "+rounding",
    choices: &[
        choice("+rte", Effect::Round(Rounding::NearestEven)),
        choice("+rtz", Effect::Round(Rounding::TowardZero)),
    ],
    required: false,
});
const DENORM: Part = Part::Slot(Slot {
    name: "+denorm",
    choices: &[choice("+preserve", Effect::Nothing), choice("+ftz", Effect::Flush)],
    required: false,
});
const SPECIAL: Part =
    Part::Slot(Slot { name: "+special", choices: &[choice("+special", Effect::Nothing)], required: false });

const FMA: Recipe = Recipe::scalar(Operation::mul_add(Format::F32, Rounding::NearestEven));
const NOTE: &str = "per component; +rte RoundingModeRTE, +rtz RoundingModeRTZ, +preserve DenormPreserve, \
                    +ftz DenormFlushToZero, +special SignedZeroInfNanPreserve; where silent: to nearest even, \
                    subnormals kept";

const fn row(parts: &'static [Part], needs: &'static [&'static str]) -> Form {
    Form {
        language: Language::SpirV,
        mnemonic: "OpFmaKHR",
        parts,
        operands: "Result Type, Operand 1, Operand 2, Operand 3",
        gate: Gate::needs(needs),
        recipe: FMA,
        source: "SPV_KHR_fma, OpFmaKHR",
        note: NOTE,
    }
}

const F16: Part = types(&[
    lanes(".f16", Format::F16, 1),
    lanes(".v2f16", Format::F16, 2),
    lanes(".v3f16", Format::F16, 3),
    lanes(".v4f16", Format::F16, 4),
]);
const F32: Part = types(&[
    lanes(".f32", Format::F32, 1),
    lanes(".v2f32", Format::F32, 2),
    lanes(".v3f32", Format::F32, 3),
    lanes(".v4f32", Format::F32, 4),
]);
const F64: Part = types(&[
    lanes(".f64", Format::F64, 1),
    lanes(".v2f64", Format::F64, 2),
    lanes(".v3f64", Format::F64, 3),
    lanes(".v4f64", Format::F64, 4),
]);

/// Every SPIR-V form.
#[rustfmt::skip] // One row a form, so that rows can be compared.
pub static FORMS: &[Form] = &[
    row(&[F32, ROUNDING, DENORM, SPECIAL], &["capability FMAKHR", "extension SPV_KHR_fma"]),
    row(&[F16, ROUNDING, DENORM, SPECIAL], &["capability FMAKHR", "extension SPV_KHR_fma", "capability Float16"]),
    row(&[F64, ROUNDING, DENORM, SPECIAL], &["capability FMAKHR", "extension SPV_KHR_fma", "capability Float64"]),
];
