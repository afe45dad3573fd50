//! The grammar as the assembler, the reader and the printer need it: rspirv's tables, looked up by number and by name,
//! and the operands an instruction still expects as words are read ([`Expected`]).

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::OnceLock;

use rspirv::binary::Disassemble;
use rspirv::dr;
use rspirv::grammar::{INSTRUCTION_TABLE, LogicalOperand, OperandKind, OperandQuantifier};
use rspirv::spirv;

pub(crate) type Grammar = rspirv::grammar::Instruction<'static>;

/// An opcode's row of the grammar with what is asked of it most often.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub grammar: &'static Grammar,
    pub has_type: bool,
    pub has_result: bool,
}

struct Tables {
    by_opcode: Vec<Option<Shape>>,
    by_name: HashMap<&'static str, u16>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut by_opcode = Vec::new();
        let mut by_name = HashMap::new();
        for grammar in INSTRUCTION_TABLE.iter() {
            let has = |kind| grammar.operands.iter().any(|operand| operand.kind == kind);
            let at = grammar.opcode as usize;
            if by_opcode.len() <= at {
                by_opcode.resize(at + 1, None);
            }
            by_opcode[at] = Some(Shape {
                grammar,
                has_type: has(OperandKind::IdResultType),
                has_result: has(OperandKind::IdResult),
            });
            by_name.insert(grammar.opname, at as u16);
        }
        Tables { by_opcode, by_name }
    })
}

/// The row of an opcode.
pub(crate) fn shape(opcode: u16) -> Option<Shape> {
    tables().by_opcode.get(usize::from(opcode)).copied().flatten()
}

/// The opcode of a name without its `Op`. An instruction taken into the core, or from one vendor to another, keeps
/// its older name as an alias.
pub(crate) fn opcode_of(name: &str) -> Option<u16> {
    const SUFFIXES: [&str; 7] = ["", "KHR", "EXT", "NV", "INTEL", "ALTERA", "GOOGLE"];
    let by_name = &tables().by_name;
    by_name.get(name).copied().or_else(|| {
        let bare = SUFFIXES[1..].iter().find_map(|suffix| name.strip_suffix(suffix))?;
        SUFFIXES.iter().find_map(|suffix| by_name.get(format!("{bare}{suffix}").as_str()).copied())
    })
}

pub(crate) type ExtendedGrammar = rspirv::grammar::ExtendedInstruction<'static>;

/// The instructions of an imported set. Of two sets the name ends in a version, which changes no number.
fn set_table(set: &str) -> Option<&'static rspirv::grammar::InstructionTable<rspirv::grammar::ExtInstOp>> {
    const VERSIONED: [&str; 2] = ["NonSemantic.ClspvReflection", "NonSemantic.VkspReflection"];
    let versioned = |name: &&str| set.strip_prefix(*name).is_some_and(|version| version.starts_with('.'));
    rspirv::grammar::ext_inst_table(VERSIONED.into_iter().find(versioned).unwrap_or(set))
}

/// The number of an instruction of an imported set.
pub(crate) fn extended_of(set: &str, name: &str) -> Option<u32> {
    set_table(set)?.iter().find(|row| row.opname == name).map(|row| row.opcode.into())
}

/// The names of the instructions of an imported set.
pub(crate) fn extended_names(set: &str) -> Vec<String> {
    set_table(set).map_or(Vec::new(), |table| table.iter().map(|row| row.opname.to_owned()).collect())
}

/// The row of an instruction of an imported set.
pub(crate) fn extended(set: &str, number: u32) -> Option<&'static ExtendedGrammar> {
    set_table(set)?.lookup_opcode(number)
}

/// The name that an instruction of an imported set is printed by: its number where SPIRV-Tools know no name.
pub(crate) fn extended_name(set: &str, number: u32) -> String {
    let by_number = matches!(set, "NonSemantic.DebugPrintf" | "NonSemantic.DebugBreak");
    let row = extended(set, number).filter(|_| !by_number);
    row.map_or_else(|| number.to_string(), |row| row.opname.to_owned())
}

/// Whether the instructions of a set compute nothing: debugging and reflection information, known or not.
///
/// Source: SPV_KHR_non_semantic_info; OpenCL.DebugInfo.100, 1 Introduction.
pub(crate) fn is_non_semantic(set: &str) -> bool {
    set.starts_with("NonSemantic.") || matches!(set, "DebugInfo" | "OpenCL.DebugInfo.100")
}

/// What a word of an operand kind is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    ResultType,
    Result,
    Id,
    Integer,
    Float,
    Text,
    /// A number whose width the result type (of OpSwitch: the selector's type) gives.
    Typed,
    Extended,
    SpecOpcode,
    Value,
    Mask,
    /// An enumeration of a debugging set: carried as a raw word.
    Raw,
}

const fn one(kind: OperandKind) -> LogicalOperand {
    LogicalOperand { kind, quantifier: OperandQuantifier::One }
}

macro_rules! enumerations {
    (values: $($value:ident)*; masks: $($mask:ident)*) => {
        /// What an operand kind is.
        pub(crate) fn class(kind: OperandKind) -> Class {
            match kind {
                OperandKind::IdResultType => Class::ResultType,
                OperandKind::IdResult => Class::Result,
                OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => Class::Id,
                OperandKind::LiteralInteger => Class::Integer,
                OperandKind::LiteralFloat => Class::Float,
                OperandKind::LiteralString => Class::Text,
                OperandKind::LiteralContextDependentNumber => Class::Typed,
                OperandKind::LiteralExtInstInteger => Class::Extended,
                OperandKind::LiteralSpecConstantOpInteger => Class::SpecOpcode,
                $(OperandKind::$value => Class::Value,)*
                $(OperandKind::$mask => Class::Mask,)*
                _ => Class::Raw,
            }
        }

        fn plain_value(kind: OperandKind, name: &str) -> Option<u32> {
            match kind {
                $(OperandKind::$value => spirv::$value::from_str(name).ok().map(|value| value as u32),)*
                _ => None,
            }
        }

        fn plain_name(kind: OperandKind, value: u32) -> Option<String> {
            match kind {
                $(OperandKind::$value => spirv::$value::from_u32(value).map(|value| format!("{value:?}")),)*
                _ => None,
            }
        }

        fn bit_name(kind: OperandKind, bit: u32) -> Option<String> {
            match kind {
                $(OperandKind::$mask => spirv::$mask::from_bits(bit).map(|mask| mask.disassemble()),)*
                _ => None,
            }
        }

        /// The enumerant as rspirv's operand, which knows what it needs and what follows it.
        pub(crate) fn operand(kind: OperandKind, value: u32) -> Option<dr::Operand> {
            match kind {
                $(OperandKind::$value => spirv::$value::from_u32(value).map(dr::Operand::from),)*
                $(OperandKind::$mask => spirv::$mask::from_bits(value).map(dr::Operand::from),)*
                _ => None,
            }
        }
    };
}

enumerations! {
    values: SourceLanguage ExecutionModel AddressingModel MemoryModel ExecutionMode StorageClass Dim
        SamplerAddressingMode SamplerFilterMode ImageFormat ImageChannelOrder ImageChannelDataType FPRoundingMode
        FPDenormMode QuantizationModes FPOperationMode OverflowModes LinkageType AccessQualifier HostAccessQualifier
        FunctionParameterAttribute Decoration BuiltIn Scope GroupOperation KernelEnqueueFlags Capability
        RayQueryIntersection RayQueryCommittedIntersectionType RayQueryCandidateIntersectionType PackedVectorFormat
        CooperativeMatrixLayout CooperativeMatrixUse TensorClampMode InitializationModeQualifier LoadCacheControl
        StoreCacheControl NamedMaximumNumberOfRegisters FPEncoding CooperativeVectorMatrixLayout ComponentType;
    masks: ImageOperands FPFastMathMode SelectionControl LoopControl FunctionControl MemorySemantics MemoryAccess
        KernelProfilingInfo RayFlags FragmentShadingRate RawAccessChainOperands CooperativeMatrixOperands
        CooperativeMatrixReduce TensorAddressingOperands MatrixMultiplyAccumulateOperands TensorOperands
}

/// The name of the empty mask.
fn empty_mask(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::RayFlags | OperandKind::CooperativeMatrixOperands => "NoneKHR",
        OperandKind::TensorOperands => "NoneARM",
        _ => "None",
    }
}

/// The enumerant that a name is, masks as `A|B`.
pub(crate) fn value_of(kind: OperandKind, name: &str) -> Option<u32> {
    if class(kind) == Class::Mask {
        return name.split('|').try_fold(0, |mask, part| {
            if part == "None" || part == empty_mask(kind) {
                return Some(mask);
            }
            let bit = (0..32).map(|at| 1 << at).find(|&bit| bit_name(kind, bit).as_deref() == Some(part))?;
            Some(mask | bit)
        });
    }
    match kind {
        // Rust's names cannot begin with a digit: `2D` is `Dim2D` there.
        OperandKind::Dim => plain_value(kind, &format!("Dim{name}")),
        // LLVM's translator spells it in mixed case.
        OperandKind::Capability if name == "FmaKHR" => Some(spirv::Capability::FMAKHR as u32),
        _ => plain_value(kind, name),
    }
}

/// The name of an enumerant; `None` if the grammar has none.
pub(crate) fn name_of(kind: OperandKind, value: u32) -> Option<String> {
    if class(kind) == Class::Mask {
        if value == 0 {
            return Some(empty_mask(kind).to_owned());
        }
        let names = set_bits(value).map(|bit| bit_name(kind, bit)).collect::<Option<Vec<String>>>()?;
        return Some(names.join("|"));
    }
    let name = plain_name(kind, value)?;
    Some(if kind == OperandKind::Dim { name["Dim".len()..].to_owned() } else { name })
}

/// The bits of a mask one by one, the lowest first: the order in which their operands follow.
pub(crate) fn set_bits(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).map(|at| 1 << at).filter(move |bit| mask & bit != 0)
}

/// The operands that an enumerant requires.
fn parameters(kind: OperandKind, value: u32) -> Vec<LogicalOperand> {
    let of = |value| operand(kind, value).map_or_else(Vec::new, |operand| operand.additional_operands());
    match class(kind) {
        Class::Value => of(value),
        Class::Mask => set_bits(value).flat_map(of).collect(),
        _ => Vec::new(),
    }
}

/// The operands that an instruction still expects: filled from its row, consumed in order, and added to where an
/// enumerant, an extended instruction or OpSpecConstantOp brings operands of its own.
pub(crate) struct Expected {
    /// The next one last.
    pending: Vec<LogicalOperand>,
}

impl Expected {
    pub(crate) fn new() -> Expected {
        Expected { pending: Vec::new() }
    }

    /// Starts anew with a row's operands.
    pub(crate) fn start(&mut self, grammar: &Grammar) {
        self.pending.clear();
        self.pending.extend(grammar.operands.iter().rev().cloned());
    }

    /// The next operand's kind and whether it must be there. A repeated one is returned for as long as the caller asks.
    pub(crate) fn next(&mut self) -> Option<(OperandKind, bool)> {
        let operand = self.pending.pop()?;
        let required = operand.quantifier == OperandQuantifier::One;
        let (first, second) = match operand.kind {
            OperandKind::PairIdRefIdRef => (OperandKind::IdRef, Some(OperandKind::IdRef)),
            OperandKind::PairIdRefLiteralInteger => (OperandKind::IdRef, Some(OperandKind::LiteralInteger)),
            OperandKind::PairLiteralIntegerIdRef => {
                // OpSwitch alone has this pair.
                (OperandKind::LiteralContextDependentNumber, Some(OperandKind::IdRef))
            }
            kind => (kind, None),
        };
        if operand.quantifier == OperandQuantifier::ZeroOrMore {
            self.pending.push(operand);
        }
        self.pending.extend(second.map(one));
        Some((first, required))
    }

    /// Whether the instruction is complete as it is.
    pub(crate) fn required(&self) -> Option<OperandKind> {
        self.pending
            .iter()
            .rev()
            .find(|operand| operand.quantifier == OperandQuantifier::One)
            .map(|operand| operand.kind)
    }

    /// After an enumerant: its operands come next.
    pub(crate) fn after_enumerant(&mut self, kind: OperandKind, value: u32) {
        // Most have nothing.
        if !matches!(class(kind), Class::Value | Class::Mask) || kind == OperandKind::Capability {
            return;
        }
        let parameters = parameters(kind, value);
        self.pending.extend(parameters.into_iter().rev());
    }

    /// After the number of an extended instruction: its own operands, where its set is known.
    pub(crate) fn after_extended(&mut self, set: Option<&str>, number: u32) {
        if let Some(row) = set.and_then(|set| extended(set, number)) {
            self.pending.clear();
            self.pending.extend(row.operands.iter().rev().cloned());
        }
    }

    /// After the opcode inside OpSpecConstantOp.
    pub(crate) fn after_spec_opcode(&mut self, opcode: u32) {
        let row = u16::try_from(opcode).ok().and_then(shape);
        self.pending.clear();
        let own = row.map_or(&[][..], |row| row.grammar.operands);
        let own = own
            .iter()
            .rev()
            .filter(|operand| !matches!(operand.kind, OperandKind::IdResultType | OperandKind::IdResult));
        self.pending.extend(own.cloned());
    }
}

/// The name of an opcode with its `Op`.
pub(crate) fn instruction_name(opcode: u16) -> String {
    shape(opcode).map_or_else(|| format!("opcode {opcode}"), |shape| format!("Op{}", shape.grammar.opname))
}

/// The opcodes that OpSpecConstantOp takes (SPIR-V 1.6, OpSpecConstantOp; CooperativeMatrixLengthKHR and its like
/// included). OpFmaKHR is none of them.
#[rustfmt::skip] // In the document's order, a group a line.
pub(crate) fn spec_constant_opcode(opcode: u32) -> bool {
    use spirv::Op::*;
    let allowed = [
        SConvert, UConvert, FConvert, SNegate, Not, IAdd, ISub, IMul, UDiv, SDiv, UMod, SRem, SMod,
        ShiftRightLogical, ShiftRightArithmetic, ShiftLeftLogical, BitwiseOr, BitwiseXor, BitwiseAnd,
        VectorShuffle, CompositeExtract, CompositeInsert, LogicalOr, LogicalAnd, LogicalNot, LogicalEqual,
        LogicalNotEqual, Select, IEqual, INotEqual, ULessThan, SLessThan, UGreaterThan, SGreaterThan,
        ULessThanEqual, SLessThanEqual, UGreaterThanEqual, SGreaterThanEqual, QuantizeToF16,
        ConvertFToS, ConvertSToF, ConvertFToU, ConvertUToF, ConvertPtrToU, ConvertUToPtr, GenericCastToPtr,
        PtrCastToGeneric, Bitcast, FNegate, FAdd, FSub, FMul, FDiv, FRem, FMod,
        AccessChain, InBoundsAccessChain, PtrAccessChain, InBoundsPtrAccessChain,
        CooperativeMatrixLengthNV, CooperativeMatrixLengthKHR,
    ];
    allowed.iter().any(|&op| op as u32 == opcode)
}
