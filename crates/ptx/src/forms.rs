//! The rows of PTX: the multiply-add family, and the neighbours that real kernels put beside it.
//!
//! Order matters in one way: where a spelling names several rows and nothing says which target is meant, the first
//! row that fits is taken.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_isa::{Choice, Effect, Form, Gate, Part, Range, Recipe, Slot, Version};

const fn choice(text: &'static str, effect: Effect) -> Choice {
    Choice { text, effect }
}

const RND: Part = Part::Slot(Slot {
    name: ".rnd",
    choices: &[
        choice(".rn", Effect::Round(Rounding::NearestEven)),
        choice(".rz", Effect::Round(Rounding::TowardZero)),
        choice(".rm", Effect::Round(Rounding::Down)),
        choice(".rp", Effect::Round(Rounding::Up)),
    ],
    required: true,
});

/// Without it: `.rn`, and a compiler may fuse the instruction with a neighbour.
const RND_OPTIONAL: Part = Part::Slot(Slot {
    name: ".rnd",
    choices: &[
        choice(".rn", Effect::RoundExplicitly(Rounding::NearestEven)),
        choice(".rz", Effect::RoundExplicitly(Rounding::TowardZero)),
        choice(".rm", Effect::RoundExplicitly(Rounding::Down)),
        choice(".rp", Effect::RoundExplicitly(Rounding::Up)),
    ],
    required: false,
});

/// The directions that `add.f32` and `mul.f32` have on sm_1x.
const RND_SM_1X: Part = Part::Slot(Slot {
    name: ".rnd",
    choices: &[
        choice(".rn", Effect::RoundExplicitly(Rounding::NearestEven)),
        choice(".rz", Effect::RoundExplicitly(Rounding::TowardZero)),
    ],
    required: false,
});

const fn optional(name: &'static str, choices: &'static [Choice]) -> Part {
    Part::Slot(Slot { name, choices, required: false })
}

const FTZ: Part = optional(".ftz", &[choice(".ftz", Effect::Flush)]);
const SAT: Part = optional(".sat", &[choice(".sat", Effect::Saturate)]);
const NARROW: &[Choice] =
    &[choice(".f16", Effect::Factors(Format::F16)), choice(".bf16", Effect::Factors(Format::BF16))];
const ATYPE: Part = Part::Slot(Slot { name: ".atype", choices: NARROW, required: true });
const ABTYPE: Part = Part::Slot(Slot { name: ".abtype", choices: NARROW, required: true });
const F32: Part = Part::Fixed(".f32");
const F32X2: Part = Part::Fixed(".f32x2");
const F64: Part = Part::Fixed(".f64");

const fn recipe(kind: ArithOp, format: Format) -> Recipe {
    Recipe::scalar(Operation::new(kind, format, Rounding::NearestEven))
}
/// An instruction that a compiler may contract unless a rounding modifier is written.
const fn contractible(kind: ArithOp, format: Format) -> Recipe {
    Recipe { contractible: true, ..recipe(kind, format) }
}
/// sm_1x has no subnormal f32.
const fn flushing(recipe: Recipe) -> Recipe {
    recipe.with(Effect::Flush)
}
const fn subtracting(mut recipe: Recipe) -> Recipe {
    recipe.operation.negate_addend = true;
    recipe
}

const SM_1X: Gate = Gate { version: Range::new(Version(1, 0)), target: Range::until(10, 13), needs: &[] };
const FMA: &str = "PTX ISA, 9.7.3.6 fma";
const MAD: &str = "PTX ISA, 9.7.3.7 mad";
const MIXED_GATE: Gate = Gate::since(Version(8, 6), 100);
const FUSED_F32: Recipe = recipe(ArithOp::MulAdd, Format::F32);
const FUSED_F64: Recipe = recipe(ArithOp::MulAdd, Format::F64);
const FLUSHES: &str = "sm_1x flushes subnormal operands and results, with or without .ftz";
const CONTRACTS: &str = "without .rnd: .rn, and the assembler may fuse a mul with an add or sub";

const fn row(
    mnemonic: &'static str,
    parts: &'static [Part],
    operands: &'static str,
    gate: Gate,
    recipe: Recipe,
    source: &'static str,
    note: &'static str,
) -> Form {
    Form { language: "PTX", mnemonic, parts, operands, gate, recipe, source, note }
}

/// Every PTX form.
#[rustfmt::skip] // One row a form, so that rows can be compared.
pub const FORMS: &[Form] = &[
    row("fma", &[RND, FTZ, SAT, F32], "d, a, b, c", Gate::since(Version(2, 0), 20), FUSED_F32, FMA, ""),
    row("fma", &[RND, FTZ, F32X2], "d, a, b, c", Gate::since(Version(8, 6), 100),
        Recipe { components: 2, ..FUSED_F32 }, FMA, "two f32 in a .b64, lane 0 in the low half; no .sat"),
    row("fma", &[RND, F64], "d, a, b, c", Gate::since(Version(1, 4), 13), FUSED_F64, FMA, ""),
    row("mad", &[FTZ, SAT, F32], "d, a, b, c", SM_1X,
        flushing(recipe(ArithOp::TruncatedMulAdd, Format::F32)), MAD,
        "the product is cut to 24 bits, its exponent unbounded, before c is added and rounded; mul then add where c is zero"),
    row("mad", &[FTZ, SAT, F32], "d, a, b, c",
        Gate { version: Range::until(Version(2, 0), Version(3, 1)), target: Range::new(20), needs: &[] }, FUSED_F32, MAD,
        "errata: without .rnd it means .rn up to PTX 3.1 (which warns); an error from 3.2"),
    row("mad", &[RND, FTZ, SAT, F32], "d, a, b, c", Gate::since(Version(2, 0), 20), FUSED_F32, MAD, "the same as fma.f32"),
    row("mad", &[RND, F64], "d, a, b, c", Gate::since(Version(1, 0), 13), FUSED_F64, MAD, "the same as fma.f64"),
    row("mad", &[F64], "d, a, b, c",
        Gate { version: Range::until(Version(1, 0), Version(1, 3)), target: Range::new(13), needs: &[] }, FUSED_F64, MAD,
        "without .rnd it means .rn up to PTX 1.3; an error from 1.4"),
    row("add", &[RND_OPTIONAL, SAT, F32, ATYPE], "d, a, c", MIXED_GATE, contractible(ArithOp::Add, Format::F32),
        "PTX ISA, 9.7.5.1 add", CONTRACTS),
    row("sub", &[RND_OPTIONAL, SAT, F32, ATYPE], "d, a, c", MIXED_GATE, subtracting(contractible(ArithOp::Add, Format::F32)),
        "PTX ISA, 9.7.5.2 sub", CONTRACTS),
    row("fma", &[RND, SAT, F32, ABTYPE], "d, a, b, c", MIXED_GATE, FUSED_F32,
        "PTX ISA, 9.7.5.3 fma", "a and b are widened, c and d are f32; no .ftz"),
    row("add", &[RND_OPTIONAL, FTZ, SAT, F32], "d, a, b", Gate::since(Version(2, 0), 20),
        contractible(ArithOp::Add, Format::F32), "PTX ISA, 9.7.3 add", CONTRACTS),
    row("sub", &[RND_OPTIONAL, FTZ, SAT, F32], "d, a, b", Gate::since(Version(2, 0), 20),
        subtracting(contractible(ArithOp::Add, Format::F32)), "PTX ISA, 9.7.3 sub", CONTRACTS),
    row("mul", &[RND_OPTIONAL, FTZ, SAT, F32], "d, a, b", Gate::since(Version(2, 0), 20),
        contractible(ArithOp::Mul, Format::F32), "PTX ISA, 9.7.3 mul", CONTRACTS),
    row("add", &[RND_OPTIONAL, F64], "d, a, b", Gate::since(Version(1, 0), 13),
        contractible(ArithOp::Add, Format::F64), "PTX ISA, 9.7.3 add", CONTRACTS),
    row("sub", &[RND_OPTIONAL, F64], "d, a, b", Gate::since(Version(1, 0), 13),
        subtracting(contractible(ArithOp::Add, Format::F64)), "PTX ISA, 9.7.3 sub", CONTRACTS),
    row("mul", &[RND_OPTIONAL, F64], "d, a, b", Gate::since(Version(1, 0), 13),
        contractible(ArithOp::Mul, Format::F64), "PTX ISA, 9.7.3 mul", CONTRACTS),
    row("add", &[RND_SM_1X, FTZ, SAT, F32], "d, a, b", SM_1X,
        flushing(contractible(ArithOp::Add, Format::F32)), "PTX ISA, 9.7.3 add", FLUSHES),
    row("sub", &[RND_SM_1X, FTZ, SAT, F32], "d, a, b", SM_1X,
        flushing(subtracting(contractible(ArithOp::Add, Format::F32))), "PTX ISA, 9.7.3 sub", FLUSHES),
    row("mul", &[RND_SM_1X, FTZ, SAT, F32], "d, a, b", SM_1X,
        flushing(contractible(ArithOp::Mul, Format::F32)), "PTX ISA, 9.7.3 mul", FLUSHES),
];
