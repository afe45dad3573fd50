//! The words for a deviation, in every place where one is named.

use roundonce_arith::{Format, NanRule, Rounding, Tininess};

use crate::deviation::{Approximation, Deviation, Fmas, Narrowing, Products, format_name};

/// What a text is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// An expression. The text is the predicate of a sentence: "(the evaluation) rounds toward zero (.rz)".
    Expression,
    /// One instruction. The text is the end of "explained by": "rounding toward zero".
    Instruction,
    /// A kernel. The text is the predicate of a sentence: "(the policy) rounds toward zero (.rz) what is written …".
    Kernel,
}

/// A direction of rounding as the end of a sentence.
pub const fn direction(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => "to nearest even (.rn)",
        Rounding::TowardZero => "toward zero (.rz)",
        Rounding::Down => "toward -infinity (.rm)",
        Rounding::Up => "toward +infinity (.rp)",
    }
}

/// The same of one instruction, where no modifier is meant.
const fn plain_direction(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => "to nearest even",
        Rounding::TowardZero => "toward zero",
        Rounding::Down => "down",
        Rounding::Up => "up",
    }
}

/// The NaN of a rule.
fn nan(rule: NanRule) -> String {
    match rule {
        NanRule::Canonical => "the canonical NaN".to_owned(),
        NanRule::Payload(_) => format!("the first NaN operand in the order {}", rule.name()),
    }
}

impl Approximation {
    fn predicate(&self) -> String {
        let Approximation { call, steps, bits, allowed_by } = self;
        let by = allowed_by.join(", ");
        let Some(bits) = bits else {
            let away = if steps.abs() == 1 { "one value" } else { "values" };
            let count = if steps.abs() == 1 { String::new() } else { format!("up to {} ", steps.abs()) };
            return format!("gives for {call} {count}{away} beside the correctly rounded one, as allowed: {by}");
        };
        let side = if *steps > 0 { "above" } else { "below" };
        let values = if steps.abs() == 1 { "one value" } else { "values" };
        let count = if steps.abs() == 1 { String::new() } else { format!("{} ", steps.abs()) };
        format!("has {bits} for {call}, {count}{values} {side} the correctly rounded one, as allowed: {by}")
    }
}

impl Deviation {
    /// The kind's name in JSON. A kernel's names say whether all of it or one place is meant.
    pub const fn kind(&self, scope: Scope) -> &'static str {
        let in_kernel = matches!(scope, Scope::Kernel);
        match self {
            Deviation::Contract(Products::All) => "fuse-all",
            Deviation::Contract(Products::Apart) => "fuse-apart",
            Deviation::Contract(Products::Lines { .. }) => "fuse",
            Deviation::Contract(Products::Written(_) | Products::Only(_)) => "fused",
            Deviation::WideEachOperation(_) | Deviation::X87(Narrowing::EachOperation) => "wide-each-operation",
            Deviation::Split(Fmas::All) if in_kernel => "split-all",
            Deviation::Split(Fmas::All) => "split-fma",
            Deviation::Split(Fmas::Line(_)) => "split",
            Deviation::Flush(_) => "flush",
            Deviation::Keep(_) => "keep-subnormals",
            Deviation::ZeroDominance => "zero-dominance",
            Deviation::NoZeroDominance => "no-zero-dominance",
            Deviation::WideWhole(_) | Deviation::X87(Narrowing::Whole) => "wide-whole",
            Deviation::WideSum(_) => "wide-sum",
            Deviation::Round(_) if in_kernel => "round-all",
            Deviation::Round(_) => "round",
            Deviation::RoundUnmodified(_) => "round-unmodified",
            Deviation::TruncatedProduct => "truncated-product",
            Deviation::WholeProduct => "whole-product",
            Deviation::OutOfBounds => "out-of-bounds",
            Deviation::NoOutOfBounds => "no-out-of-bounds",
            Deviation::Saturate => "saturate",
            Deviation::NoSaturate => "no-saturate",
            Deviation::Order(_) => "order",
            Deviation::TensorCores(_) => "tensor-cores",
            Deviation::Machine(_) => "machine",
            Deviation::NanOperand(_) => "nan-operand",
            Deviation::OtherNan => "other-nan",
            Deviation::FlushResults(Tininess::Result) => "flush-results",
            Deviation::FlushResults(Tininess::AfterRounding) => "flush-results-after-rounding",
            Deviation::FlushResults(Tininess::BeforeRounding) => "flush-results-before-rounding",
            Deviation::FlushOperands => "flush-operands",
            Deviation::KeepOperands => "keep-operands",
            Deviation::KeepResults => "keep-results",
            Deviation::OtherZero => "other-zero",
            Deviation::NegateAddend => "negated-addend",
            Deviation::NegateProduct => "negated-product",
            Deviation::Compensated => "compensated",
            Deviation::SubnormalsTwice => "subnormals-rounded-twice",
            Deviation::WideResult(_) => "wide-result",
            Deviation::Bf16Cut(_) => "bf16-cut",
            Deviation::TiesAway(_) => "ties-away",
            Deviation::StayFinite(_) => "stay-finite",
            Deviation::Reciprocal => "reciprocal",
            Deviation::RootByReciprocal => "root-by-reciprocal",
            Deviation::ReciprocalByRoot => "reciprocal-by-root",
            Deviation::ReciprocalRoot => "reciprocal-root",
            Deviation::ExpM1 => "expm1",
            Deviation::Log1P => "log1p",
            Deviation::MultipliedOut => "multiplied-out",
            Deviation::QuotientByRoot => "quotient-by-root",
            Deviation::CastThroughF32 => "cast-through-f32",
            Deviation::HalfToEven => "half-to-even",
            Deviation::HalfAway => "half-away",
            Deviation::X86Integers => "x86-integers",
            Deviation::UnlimitedIntegers => "unlimited-integers",
            Deviation::NumberFirst => "number-rounded-first",
            Deviation::CastsLeftOut => "casts-left-out",
            Deviation::Approximate(_) => "approximate",
            Deviation::Tf32(_) => "tf32-factors",
            Deviation::NarrowFactors(_) => "narrow-factors",
        }
    }

    /// What is done, in plain words.
    pub fn text(&self, scope: Scope) -> String {
        match scope {
            Scope::Expression => self.predicate(),
            Scope::Instruction => self.cause(),
            Scope::Kernel => self.policy(),
        }
    }

    /// Of an expression.
    fn predicate(&self) -> String {
        let fixed = match self {
            Deviation::Contract(Products::Written(product) | Products::Only(product)) => {
                return format!("fuses `{product}` into the sum, which rounds once");
            }
            Deviation::Contract(Products::Lines { product, sum }) if product == sum => {
                return format!("fuses a product and a sum of line {sum}, which rounds once");
            }
            Deviation::Contract(Products::Lines { product, sum }) => {
                return format!("fuses the product of line {product} into the sum of line {sum}, which rounds once");
            }
            Deviation::WideEachOperation(wide) => {
                let wide = format_name(*wide);
                return format!("computes each operation in {wide} and rounds it again (double rounding)");
            }
            Deviation::WideWhole(wide) => {
                let wide = format_name(*wide);
                return format!("computes everything in {wide} and rounds to the result's type at the end");
            }
            Deviation::WideResult(wide) => {
                return format!("computes everything in {} and does not round the result", format_name(*wide));
            }
            Deviation::WideSum(wide) => {
                return format!("keeps the sums in {} and rounds them at the end", format_name(*wide));
            }
            Deviation::Split(Fmas::Line(line)) => {
                return format!("computes the fma of line {line} as a product and a sum, which rounds twice");
            }
            Deviation::Round(rounding) => return format!("rounds {}", direction(*rounding)),
            Deviation::RoundUnmodified(rounding) => {
                return format!("rounds what has no rounding modifier {}", direction(*rounding));
            }
            Deviation::Order(order) => return format!("adds in the order {order}"),
            Deviation::TensorCores(steps) => return format!("multiplies on tensor cores: {steps}"),
            Deviation::Machine(machines) => return format!("multiplies matrices as on {machines}"),
            Deviation::Approximate(given) => return given.predicate(),
            Deviation::Tf32(rounding) => return format!("rounds the factors to TF32 ({})", rounding.name()),
            Deviation::NarrowFactors(format) => return format!("rounds the factors to {}", format_name(*format)),
            Deviation::Bf16Cut(Narrowing::EachOperation) => {
                "computes each operation in f32 and cuts the result to bf16 (its upper half)"
            }
            Deviation::Bf16Cut(Narrowing::Whole) => {
                "computes everything in f32 and cuts the result to bf16 (its upper half)"
            }
            Deviation::TiesAway(Some(format)) => {
                let format = format_name(*format);
                return format!("rounds to {format} with ties away from zero (adds half an ulp and cuts)");
            }
            Deviation::TiesAway(None) => "rounds to nearest with ties away from zero",
            Deviation::StayFinite(format) => {
                let format = format_name(*format);
                return format!("keeps what is too large for {format} at its largest finite number (.satfinite)");
            }
            Deviation::Compensated => {
                "adds the sum's rounding errors at the end (compensated summation, as Python's sum since 3.12)"
            }
            Deviation::SubnormalsTwice => {
                "rounds subnormal results twice: to all digits of the significand, then to the subnormal"
            }
            Deviation::X87(Narrowing::EachOperation) => {
                "computes each operation in 80 bits (x87) and rounds it again (double rounding)"
            }
            Deviation::X87(Narrowing::Whole) => {
                "computes everything in 80 bits (x87, long double) and rounds to the result's type at the end"
            }
            Deviation::Reciprocal => "computes a / b as a * (1 / b), which rounds twice",
            Deviation::RootByReciprocal => "computes sqrt(x) as x * rsqrt(x), which rounds twice",
            Deviation::ReciprocalByRoot => "computes rsqrt(x) as 1 / sqrt(x), which rounds twice",
            Deviation::ReciprocalRoot => "computes 1 / sqrt(x) as rsqrt(x), which rounds once",
            Deviation::ExpM1 => "computes exp(x) - 1 as expm1(x), which rounds once",
            Deviation::Log1P => "computes log(1 + x) as log1p(x), which rounds once",
            Deviation::MultipliedOut => "computes x * (y ± 1) as fma(x, y, ±x), which rounds once",
            Deviation::QuotientByRoot => "computes x * rsqrt(y) as x / sqrt(y)",
            Deviation::CastThroughF32 => "casts f64 to the narrower type through f32, which rounds twice",
            Deviation::HalfToEven => {
                "takes the even one of two integers as near, as rint and the round of Python's libraries do"
            }
            Deviation::HalfAway => "takes the one further from zero of two integers as near, as round of C does",
            Deviation::X86Integers => {
                "casts what the integer type does not hold as x86 does (cvttss2si: the least integer of 32 or 64 bits)"
            }
            Deviation::UnlimitedIntegers => "casts to an integer without a limit (Python's int)",
            Deviation::NumberFirst => "rounds the number to the type beside it before the sum (torch on a CPU)",
            Deviation::CastsLeftOut => {
                "computes everything in f32 and rounds to the result's type at the end, without the casts within"
            }
            Deviation::NanOperand(rule @ NanRule::Payload(_)) => {
                return format!("gives {}, and where none is a NaN x86's negative one", nan(*rule));
            }
            Deviation::NanOperand(rule) => return format!("gives {}", nan(*rule)),
            Deviation::Contract(Products::All) => "fuses a product into every sum that has one, of two the first",
            Deviation::Contract(Products::Apart) => {
                "fuses also products and sums that are written to stay apart (.rn), as a build that contracts would"
            }
            Deviation::Split(Fmas::All) => "computes the fma as a product and a sum, which rounds twice",
            Deviation::Flush(Some(Format::F16)) => "flushes subnormals of f16 to zero",
            Deviation::Flush(_) => "flushes subnormals to zero (.ftz)",
            Deviation::Keep(_) => "keeps subnormals",
            Deviation::ZeroDominance => "lets a zero factor make the product +0 (.FMZ)",
            Deviation::NoZeroDominance => "lets no zero factor make the product +0 (no .FMZ)",
            Deviation::TruncatedProduct => "cuts the product to 24 bits (mad.f32 of sm_1x)",
            Deviation::WholeProduct => "does not cut the product",
            Deviation::OutOfBounds => "lets an out-of-bounds NaN as a factor make the result +0 (.oob)",
            Deviation::NoOutOfBounds => "takes an out-of-bounds NaN as any NaN (no .oob)",
            Deviation::Saturate => "clamps the result to [0, 1] (.sat)",
            Deviation::NoSaturate => "does not clamp the result",
            Deviation::OtherNan => "gives a NaN of other bits",
            Deviation::FlushResults(Tininess::Result) => "flushes results that are delivered as subnormals",
            Deviation::FlushResults(Tininess::AfterRounding) => {
                "flushes results that are subnormal when rounded with an unbounded exponent"
            }
            Deviation::FlushResults(Tininess::BeforeRounding) => {
                "flushes subnormal results before rounding, as Arm's processors do"
            }
            Deviation::FlushOperands => "flushes subnormal operands to zero, but not results",
            Deviation::KeepOperands => "keeps subnormal operands",
            Deviation::KeepResults => "keeps subnormal results",
            Deviation::OtherZero => "gives a zero of the other sign",
            Deviation::NegateAddend => "flips the addend's sign",
            Deviation::NegateProduct => "flips the product's sign",
        };
        fixed.to_owned()
    }

    /// Of one instruction.
    fn cause(&self) -> String {
        let fixed = match self {
            Deviation::WideEachOperation(wide) | Deviation::WideWhole(wide) => {
                return format!("computing in {} and rounding again (double rounding)", format_name(*wide));
            }
            Deviation::WideSum(wide) => return format!("keeping the sums in {}", format_name(*wide)),
            Deviation::Round(rounding) | Deviation::RoundUnmodified(rounding) => {
                return format!("rounding {}", plain_direction(*rounding));
            }
            Deviation::Order(order) => return format!("adding in the order {order}"),
            Deviation::TensorCores(steps) => return format!("multiplying on tensor cores: {steps}"),
            Deviation::Machine(machines) => return format!("multiplying matrices as on {machines}"),
            Deviation::Approximate(given) => return format!("an approximated {}", given.call),
            Deviation::Tf32(rounding) => return format!("rounding the factors to TF32 ({})", rounding.name()),
            Deviation::NarrowFactors(format) => return format!("rounding the factors to {}", format_name(*format)),
            Deviation::WideResult(_) => "not rounding the result",
            Deviation::Bf16Cut(_) => "cutting the result to bf16",
            Deviation::TiesAway(_) => "rounding ties away from zero",
            Deviation::StayFinite(_) => "keeping what is too large at the largest finite number (.satfinite)",
            Deviation::Compensated => "compensated summation",
            Deviation::SubnormalsTwice => "rounding subnormal results twice",
            Deviation::X87(_) => "computing in 80 bits (x87) and rounding again (double rounding)",
            Deviation::Reciprocal => "multiplying by a reciprocal",
            Deviation::RootByReciprocal => "multiplying by a reciprocal root",
            Deviation::ReciprocalByRoot => "the reciprocal of a rounded root",
            Deviation::ReciprocalRoot => "a reciprocal root rounded once",
            Deviation::ExpM1 => "expm1 in the place of exp(x) - 1",
            Deviation::Log1P => "log1p in the place of log(1 + x)",
            Deviation::MultipliedOut => "multiplying out and fusing x * (y ± 1)",
            Deviation::QuotientByRoot => "dividing by a root",
            Deviation::CastThroughF32 => "casting through f32",
            Deviation::HalfToEven => "rounding halves to even integers",
            Deviation::HalfAway => "rounding halves away from zero",
            Deviation::X86Integers => "x86's integers of what is out of range",
            Deviation::UnlimitedIntegers => "integers without a limit",
            Deviation::NumberFirst => "rounding the number before the sum",
            Deviation::CastsLeftOut => "leaving the casts within out",
            Deviation::NanOperand(rule) => return format!("giving {}", nan(*rule)),
            Deviation::Contract(_) => "fusing the product into the sum",
            Deviation::Split(_) => "rounding the product before the sum (unfused)",
            Deviation::Flush(_) => "flushing subnormal operands and results",
            Deviation::Keep(_) => "keeping subnormal operands and results",
            Deviation::ZeroDominance => "a zero factor making the product +0 (FMZ)",
            Deviation::NoZeroDominance => "a zero factor not making the product +0 (no FMZ)",
            Deviation::TruncatedProduct => "cutting the product to the result's precision (mad of sm_1x)",
            Deviation::WholeProduct => "not cutting the product (fma)",
            Deviation::OutOfBounds => "an out-of-bounds NaN as a factor making the result +0 (.oob)",
            Deviation::NoOutOfBounds => "taking an out-of-bounds NaN as any NaN (no .oob)",
            Deviation::Saturate => "saturating the result",
            Deviation::NoSaturate => "not saturating the result",
            Deviation::OtherNan => "another NaN's bits",
            Deviation::FlushResults(Tininess::Result) => "flushing results that are delivered as subnormals",
            Deviation::FlushResults(Tininess::AfterRounding) => {
                "flushing results that are subnormal when rounded with an unbounded exponent"
            }
            Deviation::FlushResults(Tininess::BeforeRounding) => "flushing subnormal results before rounding",
            Deviation::FlushOperands => "flushing subnormal operands",
            Deviation::KeepOperands => "keeping subnormal operands",
            Deviation::KeepResults => "keeping subnormal results",
            Deviation::OtherZero => "the other sign of a zero",
            Deviation::NegateAddend => "the addend's sign flipped",
            Deviation::NegateProduct => "the product's sign flipped",
        };
        fixed.to_owned()
    }

    /// Of a kernel: as of an expression, but for what is done to all of it.
    fn policy(&self) -> String {
        let name = |format: &Option<_>| format.map_or(String::new(), |format| format!("{} ", format_name(format)));
        match self {
            Deviation::Flush(format) => format!("flushes {}subnormals to zero everywhere (-ftz=true)", name(format)),
            Deviation::Keep(format) => format!("keeps {}subnormals everywhere (-ftz=false)", name(format)),
            Deviation::Contract(Products::All) => {
                "fuses every product that only sums use into each of them (run --contract fuse)".to_owned()
            }
            Deviation::Split(Fmas::All) => "computes every fma as a product and a sum, which rounds twice".to_owned(),
            Deviation::ZeroDominance => "lets a zero factor make every product +0 (.FMZ)".to_owned(),
            Deviation::NoZeroDominance => "lets no zero factor make a product +0 (no .FMZ)".to_owned(),
            Deviation::Round(rounding) => format!("rounds {} what is written to nearest even", direction(*rounding)),
            _ => self.predicate(),
        }
    }
}
