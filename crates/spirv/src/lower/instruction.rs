//! The table of opcodes: who makes what of each.

use roundonce_arith::Format;
use rspirv::grammar::OperandQuantifier;
use rspirv::spirv::Op;

use super::types::{Part, TypeKind};
use super::{Body, Lowering, Result};

/// Whether an instruction hands numbers on as they are, or converts them: what bfloat16 numbers have.
fn moves_bits(op: Op) -> bool {
    matches!(
        op,
        Op::FConvert
            | Op::Load
            | Op::Store
            | Op::CopyMemory
            | Op::CopyObject
            | Op::CopyLogical
            | Op::Bitcast
            | Op::Variable
            | Op::Undef
            | Op::Phi
            | Op::Select
            | Op::FunctionCall
            | Op::ReturnValue
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::VectorShuffle
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic
    )
}

impl Body<'_> {
    /// Whether an instruction's result or an operand is a bfloat16 number or a vector of such.
    fn is_of_bf16(&self) -> bool {
        let Lowering { types, facts, module, .. } = self.lowering;
        let is_bf16 = |id| matches!(types.components(id), Some((Part::Float(Format::BF16), _)));
        // The first operands of OpExtInst are no values.
        let values =
            self.operands().get(if self.at.opcode == Op::ExtInst as u16 { 2 } else { 0 }..).unwrap_or_default();
        module.result_type(&self.at).is_some_and(is_bf16)
            || values.iter().any(|&id| facts.type_of(id).is_some_and(is_bf16))
    }

    /// One instruction of a function.
    #[rustfmt::skip] // Families stand together.
    pub(super) fn instruction(&mut self, index: usize) -> Result<()> {
        let Some(op) = Op::from_u32(self.at.opcode.into()) else { return Err(self.unsupported(self.opcode())) };
        if self.lowering.types.has_bf16 && !moves_bits(op) && self.is_of_bf16() {
            return Err(self.unsupported(format!("{} of bfloat16", self.opcode())));
        }
        match op {
            // Said about the code, not done by it.
            Op::Nop | Op::Name | Op::Line | Op::NoLine | Op::SelectionMerge | Op::LoopMerge | Op::Undef
            | Op::LifetimeStart | Op::LifetimeStop | Op::AssumeTrueKHR => {
                if op == Op::Undef { self.undefined() } else { Ok(()) }
            }
            Op::Branch => self.branch(),
            Op::BranchConditional => self.branch_conditional(),
            Op::Switch => self.switch(),
            Op::Return => self.return_value(None),
            Op::ReturnValue => self.return_value(Some(self.operand(0)?)),
            Op::Unreachable => self.unreachable(),
            Op::Phi => self.phi(index),
            Op::FunctionCall => self.call(),

            Op::Variable => self.variable(),
            Op::Load => self.load(),
            Op::Store => self.store(),
            Op::CopyMemory => self.copy_memory(),
            Op::CopyMemorySized => self.copy_bytes(),
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => self.pointer_chain(),
            Op::ArrayLength => self.array_length(),
            Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::ConvertPtrToU | Op::ConvertUToPtr => self.cast_pointer(op),
            Op::PtrEqual | Op::PtrNotEqual => self.compare_pointers(op),

            Op::CopyObject | Op::CopyLogical | Op::ExpectKHR => self.copy_object(),
            Op::CompositeConstruct => self.construct(),
            Op::CompositeExtract => self.extract_part(),
            Op::CompositeInsert => self.insert_part(),
            Op::VectorShuffle => self.shuffle(),
            Op::VectorExtractDynamic => self.extract_dynamic(),
            Op::VectorInsertDynamic => self.insert_dynamic(),
            Op::Select => self.select_value(),
            Op::Transpose | Op::MatrixTimesScalar | Op::VectorTimesMatrix | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix | Op::OuterProduct => self.matrix(op),

            Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FMod | Op::FNegate | Op::FmaKHR
            | Op::VectorTimesScalar | Op::Dot => self.float_arithmetic(op),
            Op::IsNan | Op::IsInf | Op::IsFinite | Op::IsNormal | Op::SignBitSet => self.classify(op),
            Op::FOrdEqual | Op::FUnordEqual | Op::FOrdNotEqual | Op::FUnordNotEqual | Op::FOrdLessThan
            | Op::FUnordLessThan | Op::FOrdGreaterThan | Op::FUnordGreaterThan | Op::FOrdLessThanEqual
            | Op::FUnordLessThanEqual | Op::FOrdGreaterThanEqual | Op::FUnordGreaterThanEqual | Op::LessOrGreater
            | Op::Ordered | Op::Unordered => self.float_comparison(op),

            Op::IAdd | Op::ISub | Op::IMul | Op::UDiv | Op::SDiv | Op::UMod | Op::SRem | Op::SMod | Op::BitwiseAnd
            | Op::BitwiseOr | Op::BitwiseXor | Op::SNegate | Op::Not => self.integer_arithmetic(op),
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => self.shift(op),
            Op::IEqual | Op::INotEqual | Op::ULessThan | Op::SLessThan | Op::UGreaterThan | Op::SGreaterThan
            | Op::ULessThanEqual | Op::SLessThanEqual | Op::UGreaterThanEqual | Op::SGreaterThanEqual => {
                self.integer_comparison(op)
            }
            Op::LogicalAnd | Op::LogicalOr | Op::LogicalNot | Op::LogicalEqual | Op::LogicalNotEqual => self.logic(op),
            Op::Any | Op::All => self.any_or_all(op),
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => self.extended_arithmetic(op),
            Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => self.int_dot(op),
            Op::BitCount | Op::BitReverse => self.count_or_reverse(op),
            Op::BitFieldInsert | Op::BitFieldSExtract | Op::BitFieldUExtract => self.bit_field(op),

            Op::ConvertFToU | Op::ConvertFToS | Op::ConvertSToF | Op::ConvertUToF | Op::UConvert | Op::SConvert
            | Op::FConvert | Op::SatConvertSToU | Op::SatConvertUToS | Op::QuantizeToF16 => self.conversion(op),
            Op::Bitcast => self.bitcast(),
            Op::ExtInst | Op::ExtInstWithForwardRefsKHR => self.extended_instruction(),

            Op::AtomicLoad | Op::AtomicStore | Op::AtomicExchange | Op::AtomicCompareExchange
            | Op::AtomicCompareExchangeWeak | Op::AtomicIIncrement | Op::AtomicIDecrement | Op::AtomicIAdd
            | Op::AtomicISub | Op::AtomicSMin | Op::AtomicUMin | Op::AtomicSMax | Op::AtomicUMax | Op::AtomicAnd
            | Op::AtomicOr | Op::AtomicXor | Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
                self.atomic(op)
            }
            Op::ImageRead | Op::ImageFetch | Op::ImageWrite | Op::ImageSampleExplicitLod | Op::ImageGather
            | Op::ImageQuerySize | Op::ImageQuerySizeLod | Op::ImageQueryLevels | Op::SampledImage | Op::Image => {
                self.image(op)
            }
            Op::ImageTexelPointer => self.texel_pointer(),
            Op::ControlBarrier | Op::MemoryBarrier => self.barrier(op),
            Op::GroupNonUniformElect | Op::GroupNonUniformAll | Op::GroupNonUniformAny | Op::GroupNonUniformAllEqual
            | Op::GroupNonUniformBallot | Op::GroupNonUniformBroadcast | Op::GroupNonUniformBroadcastFirst
            | Op::GroupNonUniformShuffle | Op::GroupNonUniformShuffleXor | Op::GroupNonUniformShuffleUp
            | Op::GroupNonUniformShuffleDown => self.subgroup(op),
            Op::GroupNonUniformInverseBallot | Op::GroupNonUniformBallotBitExtract
            | Op::GroupNonUniformBallotBitCount | Op::GroupNonUniformBallotFindLSB
            | Op::GroupNonUniformBallotFindMSB => self.of_ballot(op),
            Op::GroupNonUniformQuadBroadcast | Op::GroupNonUniformQuadSwap | Op::GroupNonUniformRotateKHR => {
                self.neighbour_lane(op)
            }
            Op::SubgroupBallotKHR | Op::SubgroupFirstInvocationKHR | Op::SubgroupAllKHR | Op::SubgroupAnyKHR
            | Op::SubgroupAllEqualKHR | Op::SubgroupReadInvocationKHR | Op::SubgroupShuffleINTEL
            | Op::SubgroupShuffleXorINTEL => self.khr_subgroup(op),
            Op::GroupAll | Op::GroupAny | Op::GroupBroadcast | Op::GroupIAdd | Op::GroupFAdd | Op::GroupFMin
            | Op::GroupUMin | Op::GroupSMin | Op::GroupFMax | Op::GroupUMax | Op::GroupSMax => self.group(op),
            Op::GroupAsyncCopy => self.copy_in_group(),
            Op::GroupWaitEvents => self.wait_for_copies(),
            Op::GroupNonUniformIAdd | Op::GroupNonUniformFAdd | Op::GroupNonUniformIMul | Op::GroupNonUniformFMul
            | Op::GroupNonUniformSMin | Op::GroupNonUniformUMin | Op::GroupNonUniformFMin | Op::GroupNonUniformSMax
            | Op::GroupNonUniformUMax | Op::GroupNonUniformFMax | Op::GroupNonUniformBitwiseAnd
            | Op::GroupNonUniformBitwiseOr | Op::GroupNonUniformBitwiseXor | Op::GroupNonUniformLogicalAnd
            | Op::GroupNonUniformLogicalOr | Op::GroupNonUniformLogicalXor => self.group_operation(op),
            _ => Err(self.unsupported(self.opcode())),
        }
    }

    fn undefined(&mut self) -> Result<()> {
        self.open("OpUndef: zeros");
        let parts = self.lowering.parts_of(self.result_type()?)?;
        self.define(vec![roundonce_ir::Operand::ZERO; parts.len()])
    }

    fn unreachable(&mut self) -> Result<()> {
        let message = "OpUnreachable is reached".to_owned();
        self.emit(roundonce_ir::Op::Trap { message, is_asked_for: true });
        self.end(roundonce_ir::Terminator::Exit);
        Ok(())
    }

    /// OpExtInst: by its set.
    fn extended_instruction(&mut self) -> Result<()> {
        let (set, number) = (self.operand(0)?, self.operand(1)?);
        let name = self.lowering.facts.imports.get(&set).map_or("", String::as_str);
        if crate::grammar::is_non_semantic(name) {
            // What is void has no value that could be asked for.
            let is_void = matches!(self.lowering.types.kind(self.result_type()?), Some(TypeKind::Void));
            return if is_void { Ok(()) } else { Err(self.unsupported(format!("OpExtInst {name} {number}"))) };
        }
        // The set may be imported where the operands were not read by its grammar yet.
        let row = crate::grammar::extended(name, number);
        let required = |row: &crate::grammar::ExtendedGrammar| {
            row.operands.iter().filter(|operand| operand.quantifier == OperandQuantifier::One).count()
        };
        if row.is_some_and(|row| required(row) > self.operands().len() - 2) {
            return Err(self.malformed(format!("{} lacks an operand", self.spelled(name, number))));
        }
        match name {
            "GLSL.std.450" => self.glsl(number),
            "OpenCL.std" => self.opencl(number),
            _ => Err(self.unsupported(format!("OpExtInst {name:?} {number}"))),
        }
    }

    /// An extended instruction as it is written.
    pub(super) fn spelled(&self, set: &str, number: u32) -> String {
        let row = crate::grammar::extended(set, number);
        let name = row.map_or_else(|| number.to_string(), |row| row.opname.to_owned());
        format!("{set} {name}")
    }
}
