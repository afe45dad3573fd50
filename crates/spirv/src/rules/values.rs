//! The types that instructions compute from and to, by a table: integers, bits, relations, conversions, matrices, atomics.

use rspirv::spirv::{Capability, Op};

use super::view::{Scalar, View};
use super::{Checker, code};
use crate::environment::Client;
use crate::grammar::instruction_name;
use crate::module::{Instruction, Module};
use roundonce_isa::Version;

use Want::*;

/// What a result or an operand must be. Scalars and vectors are meant, where nothing else is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    Anything,
    Floats,
    /// Floats of 16 or 32 bits.
    NarrowFloats,
    Ints,
    UnsignedInts,
    Bools,
    OneBool,
    OneInt,
    OneUnsigned,
    OneFloat,
    OneNumber,
    FloatVector,
    BoolVector,
    Pointer,
    /// Of the Result Type itself.
    Result,
    /// Integers as many and as wide as the result's.
    IntsLikeResult,
    /// As many as the result's, of any width.
    IntsAsMany,
    FloatsAsMany,
    /// As the result's, but of another width.
    IntsOfOtherWidth,
    FloatsOfOtherWidth,
    /// The scalar that the result is made of.
    Component,
    /// Of the type of the first operand.
    First,
    /// Integers as many and as wide as those of the first operand.
    IntsLikeFirst,
    /// A pointer to what the result is.
    PointerToResult,
    /// A pointer to what the operand after scope and semantics is.
    PointerToNumber,
    /// An integer of 32 bits that is constant in a shader.
    Scope,
    /// That of a subgroup or a workgroup.
    GroupScope,
    Semantics,
    /// An unsigned integer, constant before SPIR-V 1.5.
    Lane,
    IntsOf32AsMany,
    /// Two or four floats of 32 bits, as they are packed.
    Floats32(u32),
    Ints32,
    /// A number in the instruction itself.
    Literal,
    Numbers,
    FourNumbers,
    /// A ballot: four unsigned integers of 32 bits.
    Ballot,
    /// Where an image is sampled: floats, in a kernel integers too.
    Coordinates,
    Image,
    SampledImage,
    Sampler,
}

struct Row {
    ops: &'static [Op],
    result: Want,
    operands: &'static [Want],
}

const fn row(ops: &'static [Op], result: Want, operands: &'static [Want]) -> Row {
    Row { ops, result, operands }
}

/// SPIR-V 1.6, 3.49.11 to 3.49.18.
#[rustfmt::skip] // A row a rule.
static ROWS: &[Row] = &[
    row(&[Op::SNegate, Op::Not], Ints, &[IntsLikeResult]),
    row(&[Op::IAdd, Op::ISub, Op::IMul, Op::SDiv, Op::SRem, Op::SMod], Ints, &[IntsLikeResult, IntsLikeResult]),
    row(&[Op::UDiv, Op::UMod], UnsignedInts, &[Result, Result]),
    row(&[Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor], Ints, &[IntsLikeResult, IntsLikeResult]),
    row(&[Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic], Ints, &[IntsLikeResult, IntsAsMany]),
    row(&[Op::BitFieldInsert], Ints, &[Result, Result, OneInt, OneInt]),
    row(&[Op::BitFieldSExtract, Op::BitFieldUExtract], Ints, &[Result, OneInt, OneInt]),
    row(&[Op::BitReverse], Ints, &[Result]),
    row(&[Op::BitCount], Ints, &[IntsAsMany]),
    row(&[Op::VectorTimesScalar], FloatVector, &[Result, Component]),
    row(&[Op::Dot], OneFloat, &[FloatVector, First]),
    row(&[Op::Any, Op::All], OneBool, &[BoolVector]),
    row(&[Op::IsNan, Op::IsInf, Op::IsFinite, Op::IsNormal, Op::SignBitSet], Bools, &[FloatsAsMany]),
    row(&[Op::LessOrGreater, Op::Ordered, Op::Unordered, Op::FOrdEqual, Op::FUnordEqual, Op::FOrdNotEqual,
        Op::FUnordNotEqual, Op::FOrdLessThan, Op::FUnordLessThan, Op::FOrdGreaterThan, Op::FUnordGreaterThan,
        Op::FOrdLessThanEqual, Op::FUnordLessThanEqual, Op::FOrdGreaterThanEqual, Op::FUnordGreaterThanEqual],
        Bools, &[FloatsAsMany, First]),
    row(&[Op::LogicalEqual, Op::LogicalNotEqual, Op::LogicalAnd, Op::LogicalOr], Bools, &[Result, Result]),
    row(&[Op::LogicalNot], Bools, &[Result]),
    row(&[Op::IEqual, Op::INotEqual, Op::UGreaterThan, Op::SGreaterThan, Op::UGreaterThanEqual, Op::SGreaterThanEqual,
        Op::ULessThan, Op::SLessThan, Op::ULessThanEqual, Op::SLessThanEqual], Bools, &[IntsAsMany, IntsLikeFirst]),
    row(&[Op::ConvertFToU], UnsignedInts, &[FloatsAsMany]),
    row(&[Op::ConvertFToS], Ints, &[FloatsAsMany]),
    row(&[Op::ConvertSToF, Op::ConvertUToF], Floats, &[IntsAsMany]),
    row(&[Op::UConvert], UnsignedInts, &[IntsOfOtherWidth]),
    row(&[Op::SConvert], Ints, &[IntsOfOtherWidth]),
    row(&[Op::SatConvertSToU, Op::SatConvertUToS], Ints, &[IntsAsMany]),
    row(&[Op::FConvert], Floats, &[FloatsOfOtherWidth]),
    row(&[Op::QuantizeToF16], Floats, &[Result]),
    row(&[Op::ConvertPtrToU], OneUnsigned, &[Pointer]),
    row(&[Op::ConvertUToPtr], Pointer, &[OneInt]),
    row(&[Op::CopyObject], Anything, &[Result]),
    row(&[Op::DPdx, Op::DPdy, Op::Fwidth, Op::DPdxFine, Op::DPdyFine, Op::FwidthFine, Op::DPdxCoarse,
        Op::DPdyCoarse, Op::FwidthCoarse], Floats, &[Result]),
    row(&[Op::AtomicLoad], OneNumber, &[PointerToResult, Scope, Semantics]),
    row(&[Op::AtomicStore], Anything, &[PointerToNumber, Scope, Semantics, OneNumber]),
    row(&[Op::AtomicExchange], OneNumber, &[PointerToResult, Scope, Semantics, Result]),
    row(&[Op::AtomicCompareExchange, Op::AtomicCompareExchangeWeak], OneInt,
        &[PointerToResult, Scope, Semantics, Semantics, Result, Result]),
    row(&[Op::AtomicIIncrement, Op::AtomicIDecrement], OneInt, &[PointerToResult, Scope, Semantics]),
    row(&[Op::AtomicIAdd, Op::AtomicISub, Op::AtomicSMin, Op::AtomicUMin, Op::AtomicSMax, Op::AtomicUMax,
        Op::AtomicAnd, Op::AtomicOr, Op::AtomicXor], OneInt, &[PointerToResult, Scope, Semantics, Result]),
    row(&[Op::SampledImage], SampledImage, &[Image, Sampler]),
    row(&[Op::Image], Image, &[SampledImage]),
    row(&[Op::ImageSampleImplicitLod, Op::ImageSampleExplicitLod, Op::ImageSampleProjImplicitLod,
        Op::ImageSampleProjExplicitLod], FourNumbers, &[SampledImage, Coordinates]),
    row(&[Op::ImageSampleDrefImplicitLod, Op::ImageSampleDrefExplicitLod, Op::ImageSampleProjDrefImplicitLod,
        Op::ImageSampleProjDrefExplicitLod], OneNumber, &[SampledImage, Coordinates, OneFloat]),
    row(&[Op::ImageGather], FourNumbers, &[SampledImage, Coordinates, OneInt]),
    row(&[Op::ImageDrefGather], FourNumbers, &[SampledImage, Coordinates, OneFloat]),
    row(&[Op::ImageFetch], FourNumbers, &[Image, Ints]),
    row(&[Op::ImageRead], Numbers, &[Image, Ints]),
    row(&[Op::ImageWrite], Anything, &[Image, Ints, Numbers]),
    row(&[Op::ImageQueryFormat, Op::ImageQueryOrder, Op::ImageQueryLevels, Op::ImageQuerySamples], OneInt, &[Image]),
    row(&[Op::ImageQuerySize], Ints, &[Image]),
    row(&[Op::ImageQuerySizeLod], Ints, &[Image, OneInt]),
    row(&[Op::ImageQueryLod], FloatVector, &[SampledImage, Coordinates]),
    row(&[Op::GroupNonUniformElect], OneBool, &[GroupScope]),
    row(&[Op::GroupNonUniformAll, Op::GroupNonUniformAny], OneBool, &[GroupScope, OneBool]),
    row(&[Op::GroupNonUniformAllEqual], OneBool, &[GroupScope, Anything]),
    row(&[Op::GroupNonUniformShuffle, Op::GroupNonUniformShuffleXor, Op::GroupNonUniformShuffleUp,
        Op::GroupNonUniformShuffleDown], Anything, &[GroupScope, Result, OneUnsigned]),
    row(&[Op::GroupNonUniformBroadcast, Op::GroupNonUniformQuadBroadcast, Op::GroupNonUniformQuadSwap], Anything,
        &[GroupScope, Result, Lane]),
    row(&[Op::GroupNonUniformBroadcastFirst], Anything, &[GroupScope, Result]),
    row(&[Op::GroupNonUniformBallot], Ballot, &[GroupScope, OneBool]),
    row(&[Op::GroupNonUniformInverseBallot], OneBool, &[GroupScope, Ballot]),
    row(&[Op::GroupNonUniformBallotBitExtract], OneBool, &[GroupScope, Ballot, OneUnsigned]),
    row(&[Op::GroupNonUniformBallotBitCount], OneUnsigned, &[GroupScope, Literal, Ballot]),
    row(&[Op::GroupNonUniformBallotFindLSB, Op::GroupNonUniformBallotFindMSB], OneUnsigned, &[GroupScope, Ballot]),
    row(&[Op::GroupNonUniformIAdd, Op::GroupNonUniformIMul, Op::GroupNonUniformSMin, Op::GroupNonUniformUMin,
        Op::GroupNonUniformSMax, Op::GroupNonUniformUMax, Op::GroupNonUniformBitwiseAnd, Op::GroupNonUniformBitwiseOr,
        Op::GroupNonUniformBitwiseXor], Ints, &[GroupScope, Literal, Result]),
    row(&[Op::GroupNonUniformFAdd, Op::GroupNonUniformFMul, Op::GroupNonUniformFMin, Op::GroupNonUniformFMax],
        Floats, &[GroupScope, Literal, Result]),
    row(&[Op::GroupNonUniformLogicalAnd, Op::GroupNonUniformLogicalOr, Op::GroupNonUniformLogicalXor],
        Bools, &[GroupScope, Literal, Result]),
    row(&[Op::ControlBarrier], Anything, &[Scope, Scope, Semantics]),
    row(&[Op::MemoryBarrier], Anything, &[Scope, Semantics]),
];

const RULE: &str = "SPIR-V 1.6, 3.49 Instructions";

pub(super) fn check(checker: &mut Checker<'_>, instruction: &Instruction) {
    let Some(op) = Op::from_u32(instruction.opcode.into()) else { return };
    let message = match op {
        Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => extended(checker, instruction),
        Op::Select => select(checker, instruction),
        Op::Bitcast => bitcast(checker, instruction),
        Op::OuterProduct
        | Op::MatrixTimesScalar
        | Op::VectorTimesMatrix
        | Op::MatrixTimesVector
        | Op::MatrixTimesMatrix
        | Op::Transpose => matrices(checker, instruction, op),
        _ => match ROWS.iter().find(|row| row.ops.contains(&op)) {
            Some(row) => by_row(checker, instruction, row.result, row.operands, Module::first_operand(instruction)),
            None => return,
        },
    };
    if let Some((word, message)) = message {
        let code = if word == 1 { code::RESULT_TYPE } else { code::OPERAND_TYPE };
        let message = format!("{}: {message}", instruction_name(instruction.opcode));
        checker.error(code, instruction.word + word, RULE, message);
    }
}

/// A word of an instruction, and what is wrong with it.
pub(super) type Wrong = Option<(usize, String)>;

/// The operands from `first` on against what is wanted of them.
pub(super) fn by_row(
    checker: &Checker<'_>,
    instruction: &Instruction,
    result: Want,
    wants: &[Want],
    first: usize,
) -> Wrong {
    let module = checker.module;
    let words = module.words_of(instruction);
    let result_type = module.result_type(instruction);
    let given = words.get(first..).unwrap_or_default();
    let foreign = |(&want, &id): (&Want, &u32)| want != Literal && checker.view_of(id) == View::Foreign;
    if result_type.is_some_and(|id| checker.view(id) == View::Foreign) || wants.iter().zip(given).any(foreign) {
        return None;
    }
    let context = Context { checker, result: result_type.unwrap_or(0), operands: given };
    if let Some(result_type) = result_type
        && !context.is(result, result_type, None)
    {
        let shown = checker.facts.describe(module, result_type);
        return Some((1, format!("the Result Type must be {}, found {shown}", words_for(result))));
    }
    let operands = wants.iter().zip(given).enumerate().filter(|(_, (want, _))| **want != Literal);
    operands.into_iter().find_map(|(at, (&want, &id))| {
        let type_id = checker.facts.type_of(id)?;
        if context.is(want, type_id, Some(id)) {
            return None;
        }
        let wanted = words_for(want);
        let shown = match result_type {
            Some(result) => format!("; the Result Type is {}", checker.facts.describe(module, result)),
            None => String::new(),
        };
        Some((first + at, format!("Operand {} must be {wanted}, found {}{shown}", at + 1, checker.typed(id))))
    })
}

struct Context<'a, 'm> {
    checker: &'a Checker<'m>,
    result: u32,
    operands: &'a [u32],
}

impl Context<'_, '_> {
    fn is(&self, want: Want, type_id: u32, value: Option<u32>) -> bool {
        let checker = self.checker;
        let view = checker.view(type_id);
        let result = || checker.view(self.result);
        let first = || checker.facts.type_of(self.operands[0]).unwrap_or(0);
        let as_many = |count: Option<u32>| count.is_some() && count == result().numbers().map(|(_, count)| count);
        match want {
            Anything | Literal => true,
            Numbers => view.numbers().is_some_and(|(scalar, _)| scalar != Scalar::Bool),
            FourNumbers => view.numbers().is_some_and(|(scalar, count)| scalar != Scalar::Bool && count == 4),
            Ballot => view == View::Vector(Scalar::Int { width: 32, signed: false }, 4),
            Coordinates => view.floats().is_some() || view.ints().is_some() && checker.facts.has(Capability::Kernel),
            Image => view == View::Other(Op::TypeImage),
            SampledImage => view == View::Other(Op::TypeSampledImage),
            Sampler => view == View::Other(Op::TypeSampler),
            Floats => view.floats().is_some(),
            NarrowFloats => view.floats().is_some_and(|(width, _)| width < 64),
            Ints => view.ints().is_some(),
            UnsignedInts => matches!(view.numbers(), Some((Scalar::Int { signed: false, .. }, _))),
            Bools => view.bools().is_some(),
            OneBool => view == View::Scalar(Scalar::Bool),
            OneInt => view.is_scalar() && view.ints().is_some(),
            OneUnsigned => matches!(view, View::Scalar(Scalar::Int { signed: false, .. })),
            OneFloat => view.is_scalar() && view.floats().is_some(),
            OneNumber => view.is_scalar() && view.bools().is_none(),
            FloatVector => view.is_vector() && view.floats().is_some(),
            BoolVector => view.is_vector() && view.bools().is_some(),
            Pointer => matches!(view, View::Pointer { .. }),
            Result => type_id == self.result,
            IntsLikeResult => view.ints().is_some() && view.ints() == result().ints(),
            IntsAsMany => as_many(view.ints().map(|(_, count)| count)),
            FloatsAsMany => as_many(view.floats().map(|(_, count)| count)),
            IntsOfOtherWidth => as_many(view.ints().map(|(_, count)| count)) && view.ints() != result().ints(),
            // Two formats of the same width are different types.
            FloatsOfOtherWidth => as_many(view.floats().map(|(_, count)| count)) && type_id != self.result,
            Component => {
                let component = checker.facts.components(checker.module, self.result);
                component.is_some_and(|(scalar, _)| scalar == type_id)
            }
            First => type_id == first(),
            IntsLikeFirst => view.ints().is_some() && view.ints() == checker.view(first()).ints(),
            PointerToResult => matches!(view, View::Pointer { to, .. } if to == self.result),
            PointerToNumber => {
                let number = self.operands.get(3).and_then(|&id| checker.facts.type_of(id));
                matches!(view, View::Pointer { to, .. } if Some(to) == number)
            }
            Floats32(count) => view == View::Vector(Scalar::Float { width: 32 }, count),
            Ints32 => view.ints().is_some_and(|(width, _)| width == 32),
            IntsOf32AsMany => as_many(view.ints().filter(|(width, _)| *width == 32).map(|(_, count)| count)),
            Lane => {
                let constant =
                    checker.module.version() >= Version(1, 5) || value.is_some_and(|id| checker.is_constant(id));
                matches!(view, View::Scalar(Scalar::Int { signed: false, .. })) && constant
            }
            Scope | GroupScope | Semantics => {
                let known = value.and_then(|id| checker.constant(id));
                let vulkan = matches!(checker.environment.client, Client::Vulkan(_));
                let named = match want {
                    Scope => known.is_none_or(|scope| scope <= rspirv::spirv::Scope::ShaderCallKHR as u32),
                    // VUID-StandaloneSpirv-None-04642.
                    GroupScope => known.is_none_or(|scope| scope == 3 || scope == 2 && !vulkan),
                    _ => true,
                };
                if !named {
                    return false;
                }
                let constant = !checker.facts.has(Capability::Shader)
                    || checker.facts.has(Capability::CooperativeMatrixNV)
                    || value.is_some_and(|id| checker.is_constant(id));
                view.is_scalar() && view.ints().is_some_and(|(width, _)| width == 32) && constant
            }
        }
    }
}

/// What is wanted, in words.
fn words_for(want: Want) -> &'static str {
    match want {
        Anything | Literal => "a value",
        Numbers => "numbers",
        FourNumbers => "four numbers",
        Ballot => "four unsigned integers of 32 bits",
        Coordinates => "coordinates, which are floats",
        Image => "an image",
        SampledImage => "a sampled image",
        Sampler => "a sampler",
        Floats => "a scalar or vector of floating-point type",
        NarrowFloats => "a scalar or vector of 16- or 32-bit floats",
        Ints => "a scalar or vector of integers",
        UnsignedInts => "a scalar or vector of unsigned integers",
        Bools => "a scalar or vector of bool",
        OneBool => "bool",
        OneInt => "an integer",
        OneUnsigned => "an unsigned integer",
        OneFloat => "a floating-point scalar",
        OneNumber => "an integer or a floating-point scalar",
        FloatVector => "a vector of floating-point type",
        BoolVector => "a vector of bool",
        Pointer => "a pointer",
        Result => "of the Result Type",
        IntsLikeResult => "integers as many and as wide as the result's",
        IntsAsMany => "as many integers as the result has components",
        FloatsAsMany => "as many floats as the result has components",
        IntsOfOtherWidth => "as many integers as the result has, of another width",
        FloatsOfOtherWidth => "as many floats as the result has, of another type",
        Component => "of the type of the result's components",
        First => "of the type of Operand 1",
        IntsLikeFirst => "integers as many and as wide as those of Operand 1",
        PointerToResult => "a pointer to the Result Type",
        PointerToNumber => "a pointer to the type of the value",
        Scope => "a scope, constant in a shader",
        GroupScope => "the scope Subgroup, or Workgroup outside Vulkan, constant in a shader",
        Semantics => "a 32-bit integer, constant in a shader",
        Lane => "an unsigned integer, constant before SPIR-V 1.5",
        Floats32(2) => "two floats of 32 bits",
        Floats32(_) => "four floats of 32 bits",
        Ints32 => "integers of 32 bits",
        IntsOf32AsMany => "as many 32-bit integers as the result has components",
    }
}

/// A sum or product with its carry: a struct of two alike.
fn extended(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let word = |index| module.operand_word(instruction, index);
    let result = facts.defined_by(module, word(0), Op::TypeStruct);
    let member = result.and_then(|result| match module.words_of(result) {
        &[_, _, one, other] if one == other => Some(one),
        _ => None,
    });
    let ints = |id| match checker.view(id).numbers() {
        Some((Scalar::Int { signed, .. }, _)) => {
            !signed || matches!(Op::from_u32(instruction.opcode.into()), Some(Op::SMulExtended))
        }
        _ => false,
    };
    let Some(member) = member.filter(|&member| ints(member)) else {
        let found = facts.describe(module, word(0));
        return Some((1, format!("the Result Type must be a struct of two integers of one type, found {found}")));
    };
    [2, 3].into_iter().find(|&index| facts.type_of(word(index)) != Some(member)).map(|index| {
        let (found, wanted) = (checker.typed(word(index)), facts.describe(module, member));
        (index + 1, format!("Operand {} must be {wanted} as the result's members, found {found}", index - 1))
    })
}

fn select(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let word = |index| module.operand_word(instruction, index);
    let result = checker.view(word(0));
    let version = module.version();
    let Some(conditions) = checker.view_of(word(2)).bools() else {
        return Some((3, format!("the condition must be bool or a vector of bool, found {}", checker.typed(word(2)))));
    };
    let composite = matches!(result, View::Other(Op::TypeStruct | Op::TypeArray | Op::TypeMatrix));
    let fits = match result {
        View::Vector(_, count) => conditions == count || conditions == 1 && version >= Version(1, 4),
        View::Scalar(_) | View::Pointer { .. } => conditions == 1,
        View::Other(_) if composite => conditions == 1 && version >= Version(1, 4),
        View::Other(_) if checker.facts.has(Capability::BindlessTextureNV) => return None,
        View::Other(_) => false,
        View::Foreign => return None,
    };
    if !fits {
        let (shown, condition) = (facts.describe(module, word(0)), checker.typed(word(2)));
        return Some((1, format!("the Result Type is {shown}, the condition {condition}")));
    }
    [3, 4].into_iter().find(|&index| facts.type_of(word(index)) != Some(word(0))).map(|index| {
        let (found, shown) = (checker.typed(word(index)), facts.describe(module, word(0)));
        (index + 1, format!("Object {} {found} is not of the Result Type, {shown}", index - 2))
    })
}

fn bitcast(checker: &Checker<'_>, instruction: &Instruction) -> Wrong {
    let word = |index| checker.module.operand_word(instruction, index);
    let (result, value) = (checker.view(word(0)), checker.view_of(word(2)));
    let numbers = |view: View| view.numbers().filter(|(scalar, _)| *scalar != Scalar::Bool);
    let bits = |view: View| {
        numbers(view).map(|(scalar, count)| match scalar {
            Scalar::Int { width, .. } | Scalar::Float { width } => width * count,
            Scalar::Bool => 0,
        })
    };
    let pointer = |view: View| matches!(view, View::Pointer { .. });
    let known = |view: View| pointer(view) || numbers(view).is_some();
    if result == View::Foreign || value == View::Foreign {
        return None;
    }
    let shown = |index| checker.facts.describe(checker.module, index);
    if !known(result) {
        return Some((1, format!("the Result Type must be a pointer or numbers, found {}", shown(word(0)))));
    }
    if !known(value) {
        return Some((3, format!("the operand must be a pointer or numbers, found {}", checker.typed(word(2)))));
    }
    let physical = checker.facts.extensions.contains("SPV_KHR_physical_storage_buffer");
    let later = checker.module.version() >= Version(1, 5) || physical;
    let address = |view: View| match view.ints() {
        Some((width, count)) => count == 1 || later && (width, count) == (32, 2),
        None => false,
    };
    if pointer(result) && !pointer(value) && !address(value) {
        return Some((
            3,
            format!("the operand of a cast to a pointer is a pointer or an integer, found {}", checker.typed(word(2))),
        ));
    }
    if pointer(value) && !pointer(result) && !address(result) {
        return Some((1, format!("a pointer is cast to a pointer or an integer, not to {}", shown(word(0)))));
    }
    let sizes = bits(result).zip(bits(value));
    sizes
        .filter(|(to, from)| to != from)
        .map(|(to, from)| (3, format!("{} has {from} bits, the Result Type {to}", checker.typed(word(2)))))
}

/// The type of a matrix's columns, and how many.
pub(super) fn columns(checker: &Checker<'_>, type_id: u32) -> Option<(u32, u32)> {
    let matrix = checker.facts.defined_by(checker.module, type_id, Op::TypeMatrix)?;
    Some((checker.module.operand_word(matrix, 1), checker.module.operand_word(matrix, 2)))
}

fn matrices(checker: &Checker<'_>, instruction: &Instruction, op: Op) -> Wrong {
    let (module, facts) = (checker.module, checker.facts);
    let word = |index| module.operand_word(instruction, index);
    let types = [Some(word(0)), facts.type_of(word(2)), facts.type_of(word(3)).filter(|_| instruction.count > 4)];
    if types.iter().flatten().any(|&id| checker.view(id) == View::Foreign) {
        return None;
    }
    // Rows and columns of a matrix; a vector is one column.
    let matrix = |id: Option<u32>| {
        let (column, count) = columns(checker, id?)?;
        checker.view(column).floats().map(|(width, rows)| (width, rows, count))
    };
    let vector = |id: Option<u32>| checker.view(id?).floats();
    let scalar = |id: Option<u32>| vector(id).filter(|(_, count)| *count == 1).map(|(width, _)| width);
    let [result, left, right] = types;
    let good = match op {
        Op::MatrixTimesScalar => {
            matrix(result).is_some()
                && left == result
                && scalar(right).is_some_and(|width| Some(width) == matrix(result).map(|(width, ..)| width))
        }
        Op::VectorTimesMatrix => match (vector(result), vector(left), matrix(right)) {
            (Some((a, columns)), Some((b, rows)), Some(matrix)) => a == b && matrix == (a, rows, columns),
            _ => false,
        },
        Op::MatrixTimesVector => match (vector(result), matrix(left), vector(right)) {
            (Some((a, rows)), Some(matrix), Some((b, columns))) => a == b && matrix == (a, rows, columns),
            _ => false,
        },
        Op::MatrixTimesMatrix => match (matrix(result), matrix(left), matrix(right)) {
            (Some(all), Some((a, rows, inner)), Some((b, of, columns))) => {
                a == b && inner == of && all == (a, rows, columns)
            }
            _ => false,
        },
        Op::OuterProduct => match (matrix(result), vector(left), vector(right)) {
            (Some(all), Some((a, rows)), Some((b, columns))) => a == b && all == (a, rows, columns),
            _ => false,
        },
        _ => match (matrix(result), matrix(left)) {
            (Some((a, rows, columns)), Some(of)) => of == (a, columns, rows),
            _ => false,
        },
    };
    (!good).then(|| {
        let operands: Vec<String> = module.words_of(instruction)[3..].iter().map(|&id| checker.typed(id)).collect();
        let shown = facts.describe(module, word(0));
        (1, format!("{} do not make {shown}", operands.join(" and ")))
    })
}
