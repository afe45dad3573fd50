//! Forms that share a mnemonic with the family but are outside it: rows for `fma` on 16-bit types, a rule for the
//! integer `mad`, and the types of `add`, `sub` and `mul` that are not looked into.
//!
//! They are no rows of [`crate::forms::FORMS`], because nothing here computes them; they are known so that a legal one
//! is not refused and an illegal one is.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_isa::{Choice, Effect, Form, Gate, Part, Recipe, Slot, Version};

const fn same(text: &'static str) -> Choice {
    Choice { text, effect: Effect::Nothing }
}
const fn slot(name: &'static str, choices: &'static [Choice], required: bool) -> Part {
    Part::Slot(Slot { name, choices, required })
}
const RN: Part = slot(".rn", &[same(".rn")], true);
const FTZ: Part = slot(".ftz", &[same(".ftz")], false);
const SAT: Part = slot(".sat", &[same(".sat")], false);
const RELU: Part = slot(".relu", &[same(".relu")], true);
const OOB: Part = slot(".oob", &[same(".oob")], true);
const RELU_OPTIONAL: Part = slot(".relu", &[same(".relu")], false);

const fn half(parts: &'static [Part], format: Format, lanes: u32, version: Version, target: u32) -> Form {
    let recipe = Recipe::scalar(Operation::new(ArithOp::MulAdd, format, Rounding::NearestEven));
    Form {
        language: "PTX",
        mnemonic: "fma",
        parts,
        operands: "d, a, b, c",
        gate: Gate::since(version, target),
        recipe: Recipe { components: lanes, ..recipe },
        source: "PTX ISA, 9.7.4 half precision floating-point instructions: fma",
        note: "",
    }
}

macro_rules! halves {
    ($($text:literal $format:expr, $lanes:literal;)*) => {
        &[$(
            half(&[RN, RELU, Part::Fixed($text)], $format, $lanes, Version(7, 0), 80),
            half(&[RN, OOB, RELU_OPTIONAL, Part::Fixed($text)], $format, $lanes, Version(8, 1), 90),
        )*
        half(&[RN, FTZ, SAT, Part::Fixed(".f16")], Format::F16, 1, Version(4, 2), 53),
        half(&[RN, FTZ, SAT, Part::Fixed(".f16x2")], Format::F16, 2, Version(4, 2), 53),
        half(&[RN, FTZ, RELU, Part::Fixed(".f16")], Format::F16, 1, Version(7, 0), 80),
        half(&[RN, FTZ, RELU, Part::Fixed(".f16x2")], Format::F16, 2, Version(7, 0), 80),
        half(&[RN, Part::Fixed(".bf16")], Format::BF16, 1, Version(7, 0), 80),
        half(&[RN, Part::Fixed(".bf16x2")], Format::BF16, 2, Version(7, 0), 80),
        ]
    };
}

/// `fma` on 16-bit types.
pub(super) const HALVES: &[Form] = halves!(
    ".f16" Format::F16, 1;
    ".f16x2" Format::F16, 2;
    ".bf16" Format::BF16, 1;
    ".bf16x2" Format::BF16, 2;
);

/// Words that are types wherever they stand in an opcode.
#[rustfmt::skip] // A table.
const TYPES: &[&str] = &[
    ".b1", ".b4", ".b8", ".b16", ".b32", ".b64", ".b128", ".u2", ".u4", ".u8", ".u16", ".u32", ".u64", ".u16x2",
    ".s2", ".s4", ".s8", ".s16", ".s32", ".s64", ".s16x2", ".f16", ".f16x2", ".bf16", ".bf16x2", ".tf32", ".f32", ".f32x2", ".f64",
    ".e4m3", ".e5m2", ".e4m3x2", ".e5m2x2", ".e2m1", ".e2m3", ".e3m2", ".ue8m0", ".pred",
];

pub(super) fn is_type(word: &str) -> bool {
    TYPES.contains(&word)
}

/// Single types of `add`, `sub` and `mul` whose rules are not kept here.
const UNCHECKED: &[&str] = &[
    ".u16", ".u32", ".u64", ".s16", ".s32", ".s64", ".u16x2", ".s16x2", ".f16", ".f16x2", ".bf16", ".bf16x2", ".f32x2",
];

pub(super) fn is_unchecked(mnemonic: &str, types: &[&str]) -> bool {
    matches!(mnemonic, "add" | "sub" | "mul") && types.len() == 1 && UNCHECKED.contains(&types[0])
}

/// The rule of the integer `mad`.
pub(super) const INTEGER_MAD: &str = "PTX ISA, 9.7.1 integer arithmetic instructions: mad";

/// Which part of an integer product `mad` takes.
pub(super) const HALVES_OF_PRODUCT: &[&str] = &[".hi", ".lo", ".wide"];

/// What is wrong with the modifiers of an integer `mad`: the word, and what was expected.
pub(super) fn integer_mad(modifiers: &[&str]) -> Option<(Option<usize>, String)> {
    let at = |word: &str| modifiers.iter().position(|modifier| *modifier == word);
    let types: Vec<usize> = (0..modifiers.len()).filter(|&index| is_type(modifiers[index])).collect();
    let parts: Vec<usize> = (0..modifiers.len()).filter(|&i| HALVES_OF_PRODUCT.contains(&modifiers[i])).collect();
    let part = modifiers[parts[0]];
    if parts[0] != 0 {
        return Some((Some(parts[0]), format!("`{part}` right behind `mad`")));
    }
    if let Some(&second) = parts.get(1) {
        return Some((Some(second), format!("one of `{}` after `{part}`", HALVES_OF_PRODUCT.join("` `"))));
    }
    let wide: &[&str] = &[".u16", ".s16", ".u32", ".s32"];
    let any: &[&str] = &[".u16", ".s16", ".u32", ".s32", ".u64", ".s64"];
    let allowed = if part == ".wide" { wide } else { any };
    let &[ty_at] = types.as_slice() else {
        let extra = types.get(1).copied();
        return Some((extra, format!("exactly one type of {} for `mad{part}`", allowed.join(" "))));
    };
    let ty = modifiers[ty_at];
    if !allowed.contains(&ty) {
        return Some((Some(ty_at), format!("a type of {} for `mad{part}`", allowed.join(" "))));
    }
    if let Some(sat) = at(".sat")
        && (part, ty) != (".hi", ".s32")
    {
        return Some((Some(sat), "no `.sat` but in `mad.hi.sat.s32`".to_owned()));
    }
    if let Some(carry) = at(".cc") {
        if part == ".wide" || ty.ends_with("16") {
            return Some((Some(carry), "`.cc` on `.lo` and `.hi` of 32 or 64 bits only".to_owned()));
        }
        if at(".sat").is_some() {
            return Some((Some(carry), "either `.cc` or `.sat`".to_owned()));
        }
    }
    let known = |word: &&str| is_type(word) || HALVES_OF_PRODUCT.contains(word) || matches!(*word, ".sat" | ".cc");
    let other = modifiers.iter().position(|word| !known(word))?;
    Some((Some(other), format!("`mad{part}` with nothing but `.sat`, `.cc` and a type")))
}
