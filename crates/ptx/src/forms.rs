//! The rows of PTX that compute a multiply-add or a part of one, each with its meaning: the spelling, the operands and
//! the gate as the manual and the assembler have them, and the [`Recipe`].
//!
//! Where a spelling names several rows and nothing says which target is meant, the first row that fits is taken.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_isa::{Choice, Effect, Form, Gate, Language, Part, Range, Recipe, Slot, Variants, Version};

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

/// The direction of the 16-bit formats; without it a compiler may fuse the instruction with a neighbour.
const RN_OPTIONAL: Part = Part::Slot(Slot {
    name: ".rn",
    choices: &[choice(".rn", Effect::RoundExplicitly(Rounding::NearestEven))],
    required: false,
});
const RN: Part =
    Part::Slot(Slot { name: ".rn", choices: &[choice(".rn", Effect::Round(Rounding::NearestEven))], required: true });

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
const SAT: Part = optional(".sat", &[choice(".sat", Effect::Clamp(Clamp::Unit))]);
const RELU: Part = optional(".relu", &[choice(".relu", Effect::Clamp(Clamp::Relu))]);
const RELU_NEEDED: Part =
    Part::Slot(Slot { name: ".relu", choices: &[choice(".relu", Effect::Clamp(Clamp::Relu))], required: true });
const OOB: Part = Part::Slot(Slot { name: ".oob", choices: &[choice(".oob", Effect::OutOfBounds)], required: true });
/// Behind `.oob`.
const SAT_OR_RELU: Part =
    optional(".clamp", &[choice(".sat", Effect::Clamp(Clamp::Unit)), choice(".relu", Effect::Clamp(Clamp::Relu))]);
const FTZ_NEEDED: Part = Part::Slot(Slot { name: ".ftz", choices: &[choice(".ftz", Effect::Flush)], required: true });
static TOWARD_ZERO: &[Choice] = &[choice(".rz", Effect::RoundExplicitly(Rounding::TowardZero))];
const RZ: Part = optional(".rz", TOWARD_ZERO);
const RZ_NEEDED: Part = Part::Slot(Slot { name: ".rz", choices: TOWARD_ZERO, required: true });
static NARROW: &[Choice] =
    &[choice(".f16", Effect::Factors(Format::F16)), choice(".bf16", Effect::Factors(Format::BF16))];
const ATYPE: Part = Part::Slot(Slot { name: ".atype", choices: NARROW, required: true });
const ABTYPE: Part = Part::Slot(Slot { name: ".abtype", choices: NARROW, required: true });
const ATYPE_X2: Part = Part::Slot(Slot {
    name: ".atype",
    choices: &[choice(".f16x2", Effect::Factors(Format::F16)), choice(".bf16x2", Effect::Factors(Format::BF16))],
    required: true,
});
/// Of the first factor alone.
const FIRST_X2: Part = Part::Slot(Slot {
    name: ".atype",
    choices: &[
        choice(".f16x2", Effect::FirstFactor(Format::F16)),
        choice(".bf16x2", Effect::FirstFactor(Format::BF16)),
    ],
    required: true,
});
const F32: Part = Part::Fixed(".f32");
const F32X2: Part = Part::Fixed(".f32x2");
const F64: Part = Part::Fixed(".f64");
const F16: Part = Part::Fixed(".f16");
const F16X2: Part = Part::Fixed(".f16x2");
const BF16: Part = Part::Fixed(".bf16");
const BF16X2: Part = Part::Fixed(".bf16x2");

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
/// Of two components.
const fn packed(recipe: Recipe) -> Recipe {
    Recipe { components: 2, ..recipe }
}
const fn subtracting(mut recipe: Recipe) -> Recipe {
    recipe.operation.negate_addend = true;
    recipe
}

/// With operands of these formats, a, b and c; of the one that the operation has not, nothing is read.
const fn of_operands(formats: [Format; 3], mut recipe: Recipe) -> Recipe {
    recipe.operation.operand_formats = Some(formats);
    recipe
}
/// Of f32 operands, with a result of two narrower components.
const fn narrowing(op: ArithOp, format: Format) -> Recipe {
    of_operands([Format::F32; 3], packed(recipe(op, format)))
}

const SM_1X: Gate = Gate::of(Range::new(Version(1, 0)), Range::until(10, 13), Variants::All);
/// `fma` of PTX 2.0 and the half precision of sm_53, sm_80 and sm_90, as the assembler has them.
const SM_20: Gate = Gate::since(Version(2, 0), 20);
const F16_GATE: Gate = Gate::since(Version(4, 2), 53);
const RELU_GATE: Gate = Gate::since(Version(7, 0), 80);
const OOB_GATE: Gate = Gate::since(Version(8, 1), 90);
const BF16_GATE: Gate = Gate::since(Version(7, 8), 90);
const SM_100: Gate = Gate::since(Version(8, 6), 100);
/// Of sm_107a and sm_107f alone: sm_107, sm_110 and later refuse them.
const SM_107: Gate = Gate::of(Range::new(Version(9, 4)), Range::until(107, 107), Variants::Specific);

const FMA: &str = "PTX ISA, 9.7.3.6 fma";
const MAD: &str = "PTX ISA, 9.7.3.7 mad";
const MIXED: &str = "PTX ISA 9.4, mixed precision instructions on packed operands";
const HALF: &str = "PTX ISA, 9.7.4 half precision floating-point instructions";
const FUSED_F32: Recipe = recipe(ArithOp::MulAdd, Format::F32);
const FUSED_F64: Recipe = recipe(ArithOp::MulAdd, Format::F64);
const FUSED_F16: Recipe = recipe(ArithOp::MulAdd, Format::F16);
const FUSED_BF16: Recipe = recipe(ArithOp::MulAdd, Format::BF16);
const ADD_F32: Recipe = contractible(ArithOp::Add, Format::F32);
const ADD_F64: Recipe = contractible(ArithOp::Add, Format::F64);
const ADD_F16: Recipe = contractible(ArithOp::Add, Format::F16);
const ADD_BF16: Recipe = contractible(ArithOp::Add, Format::BF16);
const MUL_F32: Recipe = contractible(ArithOp::Mul, Format::F32);
const MUL_F64: Recipe = contractible(ArithOp::Mul, Format::F64);
const MUL_F16: Recipe = contractible(ArithOp::Mul, Format::F16);
const MUL_BF16: Recipe = contractible(ArithOp::Mul, Format::BF16);
const UNLIKE_BF16: Recipe =
    of_operands([Format::BF16, Format::F16, Format::BF16], packed(recipe(ArithOp::Mul, Format::BF16)));
const UNLIKE_F16: Recipe =
    of_operands([Format::F16, Format::BF16, Format::F16], packed(recipe(ArithOp::Mul, Format::F16)));
const FLUSHES: &str = "sm_1x flushes subnormal operands and results, with or without .ftz";
const CONTRACTS: &str = "without .rnd: .rn, and the assembler may fuse a mul with an add or sub";
const HALF_CONTRACTS: &str = "without .rn: .rn, and the assembler may fuse a mul with an add or sub";
const DIRECTED: &str = "the manual lists .rn alone; the assembler takes every direction";
const RECTIFIED: &str = "a negative result, -0 too, becomes +0; NaN becomes the canonical NaN";
const OUT_OF_BOUNDS: &str = "an operand that is the out-of-bounds NaN 0x7ff7 makes the component +0";
const NARROWED: &str = "f32 operands, the exact value rounded once (unmeasured); without .rz the assembler takes it, cannot \
    encode it, and .rn is assumed";
const NARROWED_PRODUCT: &str = "f32 operands, the exact product rounded once (unmeasured)";
const UNLIKE_FACTORS: &str =
    "the second factor has its own format; the exact product rounded once to nearest even (unmeasured)";
const PAIR: &str = "two f32 in a .b64, the first in the low half; no .sat";

const fn row(
    mnemonic: &'static str,
    parts: &'static [Part],
    operands: &'static str,
    gate: Gate,
    recipe: Recipe,
    source: &'static str,
    note: &'static str,
) -> Form {
    Form { language: Language::Ptx, mnemonic, parts, operands, gate, recipe, source, note }
}
const fn fma(parts: &'static [Part], gate: Gate, recipe: Recipe, source: &'static str, note: &'static str) -> Form {
    row("fma", parts, "d, a, b, c", gate, recipe, source, note)
}
const fn mad(parts: &'static [Part], gate: Gate, recipe: Recipe, note: &'static str) -> Form {
    row("mad", parts, "d, a, b, c", gate, recipe, MAD, note)
}
const fn add(parts: &'static [Part], gate: Gate, recipe: Recipe, source: &'static str, note: &'static str) -> Form {
    row("add", parts, "d, a, b", gate, recipe, source, note)
}
const fn sub(parts: &'static [Part], gate: Gate, recipe: Recipe, source: &'static str, note: &'static str) -> Form {
    row("sub", parts, "d, a, b", gate, subtracting(recipe), source, note)
}
const fn mul(parts: &'static [Part], gate: Gate, recipe: Recipe, source: &'static str, note: &'static str) -> Form {
    row("mul", parts, "d, a, b", gate, recipe, source, note)
}

#[rustfmt::skip] // One row a form, so that rows can be compared.
pub(crate) static FMA_FORMS: &[Form] = &[
    fma(&[RND, FTZ, SAT, F32], SM_20, FUSED_F32, FMA, ""),
    fma(&[RND, FTZ, F32X2], SM_100, packed(FUSED_F32), FMA, PAIR),
    fma(&[RND, F32X2, FIRST_X2, F32X2, F32X2], SM_107, packed(FUSED_F32), MIXED, "a alone is narrow, and widened"),
    fma(&[RND, F64], Gate::since(Version(1, 4), 13), FUSED_F64, FMA, ""),
    fma(&[RND, SAT, F32, ABTYPE], SM_100, FUSED_F32, "PTX ISA, 9.7.5.3 fma", "a and b are widened, c and d are f32; no .ftz"),
    fma(&[RN, FTZ, SAT, F16], F16_GATE, FUSED_F16, HALF, ""),
    fma(&[RN, FTZ, SAT, F16X2], F16_GATE, packed(FUSED_F16), HALF, ""),
    fma(&[RN, FTZ, RELU_NEEDED, F16], RELU_GATE, FUSED_F16, HALF, RECTIFIED),
    fma(&[RN, FTZ, RELU_NEEDED, F16X2], RELU_GATE, packed(FUSED_F16), HALF, RECTIFIED),
    fma(&[RND, RELU, BF16], RELU_GATE, FUSED_BF16, HALF, DIRECTED),
    fma(&[RND, RELU, BF16X2], RELU_GATE, packed(FUSED_BF16), HALF, DIRECTED),
    fma(&[RN, OOB, SAT_OR_RELU, F16], OOB_GATE, FUSED_F16, HALF, OUT_OF_BOUNDS),
    fma(&[RN, OOB, SAT_OR_RELU, F16X2], OOB_GATE, packed(FUSED_F16), HALF, OUT_OF_BOUNDS),
    fma(&[RND, OOB, RELU, BF16], OOB_GATE, FUSED_BF16, HALF, OUT_OF_BOUNDS),
    fma(&[RND, OOB, RELU, BF16X2], OOB_GATE, packed(FUSED_BF16), HALF, OUT_OF_BOUNDS),
];

#[rustfmt::skip] // One row a form.
pub(crate) static MAD_FORMS: &[Form] = &[
    mad(&[FTZ, SAT, F32], SM_1X, flushing(recipe(ArithOp::TruncatedMulAdd, Format::F32)),
        "the product is cut to 24 bits, its exponent unbounded, before c is added and rounded; mul then add where c is zero"),
    mad(&[FTZ, SAT, F32], Gate::of(Range::until(Version(2, 0), Version(3, 1)), Range::new(20), Variants::All),
        FUSED_F32, "errata: without .rnd it means .rn up to PTX 3.1 (which warns); an error from 3.2"),
    mad(&[RND, FTZ, SAT, F32], SM_20, FUSED_F32, "the same as fma.f32"),
    mad(&[RND, F64], Gate::since(Version(1, 0), 13), FUSED_F64, "the same as fma.f64"),
    mad(&[F64], Gate::of(Range::until(Version(1, 0), Version(1, 3)), Range::new(13), Variants::All), FUSED_F64,
        "without .rnd it means .rn up to PTX 1.3; an error from 1.4"),
];

#[rustfmt::skip] // One row a form.
pub(crate) static ADD_FORMS: &[Form] = &[
    add(&[RND_OPTIONAL, FTZ, SAT, F32], SM_20, ADD_F32, "PTX ISA, 9.7.3 add", CONTRACTS),
    add(&[RND_OPTIONAL, FTZ, F32X2], SM_100, packed(ADD_F32), "PTX ISA, 9.7.3 add", PAIR),
    add(&[RND_OPTIONAL, F64], Gate::since(Version(1, 0), 13), ADD_F64, "PTX ISA, 9.7.3 add", CONTRACTS),
    add(&[RND_SM_1X, FTZ, SAT, F32], SM_1X, flushing(ADD_F32), "PTX ISA, 9.7.3 add", FLUSHES),
    row("add", &[RND_OPTIONAL, SAT, F32, ATYPE], "d, a, c", SM_100, ADD_F32, "PTX ISA, 9.7.5.1 add", CONTRACTS),
    row("add", &[RND_OPTIONAL, F32X2, ATYPE_X2, F32X2], "d, a, c", SM_107, packed(ADD_F32), MIXED, CONTRACTS),
    add(&[RN_OPTIONAL, FTZ, SAT, F16], F16_GATE, ADD_F16, HALF, HALF_CONTRACTS),
    add(&[RN_OPTIONAL, FTZ, SAT, F16X2], F16_GATE, packed(ADD_F16), HALF, HALF_CONTRACTS),
    add(&[RN_OPTIONAL, BF16], BF16_GATE, ADD_BF16, HALF, HALF_CONTRACTS),
    add(&[RN_OPTIONAL, BF16X2], BF16_GATE, packed(ADD_BF16), HALF, HALF_CONTRACTS),
    add(&[RZ, FTZ_NEEDED, F16X2, F32X2, F32X2], SM_107, narrowing(ArithOp::Add, Format::F16), MIXED, NARROWED),
    add(&[RZ, BF16X2, F32X2, F32X2], SM_107, narrowing(ArithOp::Add, Format::BF16), MIXED, NARROWED),
];

#[rustfmt::skip] // One row a form.
pub(crate) static SUB_FORMS: &[Form] = &[
    sub(&[RND_OPTIONAL, FTZ, SAT, F32], SM_20, ADD_F32, "PTX ISA, 9.7.3 sub", CONTRACTS),
    sub(&[RND_OPTIONAL, FTZ, F32X2], SM_100, packed(ADD_F32), "PTX ISA, 9.7.3 sub", PAIR),
    sub(&[RND_OPTIONAL, F64], Gate::since(Version(1, 0), 13), ADD_F64, "PTX ISA, 9.7.3 sub", CONTRACTS),
    sub(&[RND_SM_1X, FTZ, SAT, F32], SM_1X, flushing(ADD_F32), "PTX ISA, 9.7.3 sub", FLUSHES),
    row("sub", &[RND_OPTIONAL, SAT, F32, ATYPE], "d, a, c", SM_100, subtracting(ADD_F32), "PTX ISA, 9.7.5.2 sub", CONTRACTS),
    row("sub", &[RND_OPTIONAL, F32X2, ATYPE_X2, F32X2], "d, a, c", SM_107, subtracting(packed(ADD_F32)), MIXED, CONTRACTS),
    sub(&[RN_OPTIONAL, FTZ, SAT, F16], F16_GATE, ADD_F16, HALF, HALF_CONTRACTS),
    sub(&[RN_OPTIONAL, FTZ, SAT, F16X2], F16_GATE, packed(ADD_F16), HALF, HALF_CONTRACTS),
    sub(&[RN_OPTIONAL, BF16], BF16_GATE, ADD_BF16, HALF, HALF_CONTRACTS),
    sub(&[RN_OPTIONAL, BF16X2], BF16_GATE, packed(ADD_BF16), HALF, HALF_CONTRACTS),
    sub(&[RZ, FTZ_NEEDED, F16X2, F32X2, F32X2], SM_107, narrowing(ArithOp::Add, Format::F16), MIXED, NARROWED),
    sub(&[RZ, BF16X2, F32X2, F32X2], SM_107, narrowing(ArithOp::Add, Format::BF16), MIXED, NARROWED),
];

#[rustfmt::skip] // One row a form.
pub(crate) static MUL_FORMS: &[Form] = &[
    mul(&[RND_OPTIONAL, FTZ, SAT, F32], SM_20, MUL_F32, "PTX ISA, 9.7.3 mul", CONTRACTS),
    mul(&[RND_OPTIONAL, FTZ, F32X2], SM_100, packed(MUL_F32), "PTX ISA, 9.7.3 mul", PAIR),
    mul(&[RND_OPTIONAL, F64], Gate::since(Version(1, 0), 13), MUL_F64, "PTX ISA, 9.7.3 mul", CONTRACTS),
    mul(&[RND_SM_1X, FTZ, SAT, F32], SM_1X, flushing(MUL_F32), "PTX ISA, 9.7.3 mul", FLUSHES),
    mul(&[RN_OPTIONAL, FTZ, SAT, F16], F16_GATE, MUL_F16, HALF, HALF_CONTRACTS),
    mul(&[RN_OPTIONAL, FTZ, SAT, F16X2], F16_GATE, packed(MUL_F16), HALF, HALF_CONTRACTS),
    mul(&[RN_OPTIONAL, BF16], BF16_GATE, MUL_BF16, HALF, HALF_CONTRACTS),
    mul(&[RN_OPTIONAL, BF16X2], BF16_GATE, packed(MUL_BF16), HALF, HALF_CONTRACTS),
    mul(&[RZ_NEEDED, FTZ_NEEDED, F16X2, F32X2, F32X2], SM_107, narrowing(ArithOp::Mul, Format::F16), MIXED, NARROWED_PRODUCT),
    mul(&[RZ_NEEDED, BF16X2, F32X2, F32X2], SM_107, narrowing(ArithOp::Mul, Format::BF16), MIXED, NARROWED_PRODUCT),
    mul(&[BF16X2, BF16X2, F16X2], SM_107, UNLIKE_BF16, MIXED, UNLIKE_FACTORS),
    mul(&[F16X2, F16X2, BF16X2], SM_107, UNLIKE_F16, MIXED, UNLIKE_FACTORS),
];

static FAMILY: [&[Form]; 5] = [FMA_FORMS, MAD_FORMS, ADD_FORMS, SUB_FORMS, MUL_FORMS];
const COUNT: usize = FMA_FORMS.len() + MAD_FORMS.len() + ADD_FORMS.len() + SUB_FORMS.len() + MUL_FORMS.len();

/// Every PTX form: those of the opcodes one after the other.
pub static FORMS: &[Form] = &{
    let mut all = [FMA_FORMS[0]; COUNT];
    let (mut count, mut opcode) = (0, 0);
    while opcode < FAMILY.len() {
        let mut index = 0;
        while index < FAMILY[opcode].len() {
            all[count] = FAMILY[opcode][index];
            (count, index) = (count + 1, index + 1);
        }
        opcode += 1;
    }
    all
};
