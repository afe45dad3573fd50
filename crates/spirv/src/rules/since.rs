//! Instructions, enumerants, extensions and imported sets that need an extension or a version of SPIR-V, whatever
//! capabilities are declared.

use rspirv::grammar::OperandKind;
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, ImageOperands, LinkageType, LoopControl, Op, StorageClass};

use super::capability::parts;
use super::{Checker, code};
use crate::grammar::{instruction_name, name_of, operand, shape};
use crate::literal::read_string;
use crate::module::Instruction;
use roundonce_isa::Version;

use Core::{Never, Since, Until};

/// The minor versions of SPIR-V 1 whose core has an enumerant.
#[derive(Clone, Copy)]
enum Core {
    Since(u16),
    Until(u16),
    Never,
}

/// Enumerants that no capability brings and that not every version has: SPIR-V 1.6, the last columns of the tables of
/// section 3. Their extensions are the grammar's.
#[rustfmt::skip] // A row an enumerant.
static ROWS: &[(OperandKind, u32, Core)] = &[
    (OperandKind::BuiltIn, BuiltIn::BaryCoordNoPerspAMD as u32, Never),
    (OperandKind::BuiltIn, BuiltIn::BaryCoordNoPerspCentroidAMD as u32, Never),
    (OperandKind::BuiltIn, BuiltIn::BaryCoordNoPerspSampleAMD as u32, Never),
    (OperandKind::BuiltIn, BuiltIn::BaryCoordSmoothAMD as u32, Never),
    (OperandKind::BuiltIn, BuiltIn::BaryCoordSmoothCentroidAMD as u32, Never),
    (OperandKind::BuiltIn, BuiltIn::BaryCoordSmoothSampleAMD as u32, Never),
    (OperandKind::BuiltIn, BuiltIn::BaryCoordPullModelAMD as u32, Never),
    (OperandKind::Decoration, Decoration::BufferBlock as u32, Until(3)),
    (OperandKind::Decoration, Decoration::UniformId as u32, Since(4)),
    (OperandKind::Decoration, Decoration::MaxByteOffset as u32, Since(1)),
    (OperandKind::Decoration, Decoration::AlignmentId as u32, Since(2)),
    (OperandKind::Decoration, Decoration::MaxByteOffsetId as u32, Since(2)),
    (OperandKind::Decoration, Decoration::NoSignedWrap as u32, Since(4)),
    (OperandKind::Decoration, Decoration::NoUnsignedWrap as u32, Since(4)),
    (OperandKind::Decoration, Decoration::WeightTextureQCOM as u32, Never),
    (OperandKind::Decoration, Decoration::BlockMatchTextureQCOM as u32, Never),
    (OperandKind::Decoration, Decoration::BlockMatchSamplerQCOM as u32, Never),
    (OperandKind::Decoration, Decoration::ExplicitInterpAMD as u32, Never),
    (OperandKind::Decoration, Decoration::CounterBuffer as u32, Since(4)),
    (OperandKind::Decoration, Decoration::UserSemantic as u32, Since(4)),
    (OperandKind::Decoration, Decoration::UserTypeGOOGLE as u32, Never),
    (OperandKind::ExecutionMode, ExecutionMode::Initializer as u32, Since(1)),
    (OperandKind::ExecutionMode, ExecutionMode::Finalizer as u32, Since(1)),
    (OperandKind::ExecutionMode, ExecutionMode::SubgroupsPerWorkgroupId as u32, Since(2)),
    (OperandKind::ExecutionMode, ExecutionMode::LocalSizeId as u32, Since(2)),
    (OperandKind::ExecutionMode, ExecutionMode::LocalSizeHintId as u32, Since(2)),
    (OperandKind::ExecutionMode, ExecutionMode::SubgroupUniformControlFlowKHR as u32, Never),
    (OperandKind::ExecutionMode, ExecutionMode::EarlyAndLateFragmentTestsAMD as u32, Never),
    (OperandKind::ExecutionMode, ExecutionMode::MaximallyReconvergesKHR as u32, Never),
    (OperandKind::ImageOperands, ImageOperands::SIGN_EXTEND.bits(), Since(4)),
    (OperandKind::ImageOperands, ImageOperands::ZERO_EXTEND.bits(), Since(4)),
    (OperandKind::ImageOperands, ImageOperands::NONTEMPORAL.bits(), Since(6)),
    (OperandKind::LinkageType, LinkageType::LinkOnceODR as u32, Never),
    (OperandKind::LoopControl, LoopControl::DEPENDENCY_INFINITE.bits(), Since(1)),
    (OperandKind::LoopControl, LoopControl::DEPENDENCY_LENGTH.bits(), Since(1)),
    (OperandKind::LoopControl, LoopControl::MIN_ITERATIONS.bits(), Since(4)),
    (OperandKind::LoopControl, LoopControl::MAX_ITERATIONS.bits(), Since(4)),
    (OperandKind::LoopControl, LoopControl::ITERATION_MULTIPLE.bits(), Since(4)),
    (OperandKind::LoopControl, LoopControl::PEEL_COUNT.bits(), Since(4)),
    (OperandKind::LoopControl, LoopControl::PARTIAL_COUNT.bits(), Since(4)),
    (OperandKind::StorageClass, StorageClass::StorageBuffer as u32, Since(3)),
];

/// Instructions of the core that no capability brings: SPIR-V 1.6, 3.49. OpTerminateInvocation needs its version beside
/// its capability.
#[rustfmt::skip] // A version a line.
static OPCODES: &[(Op, u16)] = &[
    (Op::ModuleProcessed, 1),
    (Op::ExecutionModeId, 2), (Op::DecorateId, 2),
    (Op::CopyLogical, 4), (Op::PtrEqual, 4), (Op::PtrNotEqual, 4), (Op::DecorateString, 4), (Op::MemberDecorateString, 4),
    (Op::TerminateInvocation, 6),
];

/// Extensions written against a later version than the first.
#[rustfmt::skip] // A version a line.
static EXTENSIONS: &[(&str, u16)] = &[
    ("SPV_KHR_vulkan_memory_model", 3), ("SPV_QCOM_cooperative_matrix_conversion", 3),
    ("SPV_EXT_mesh_shader", 4), ("SPV_EXT_shader_invocation_reorder", 4), ("SPV_KHR_workgroup_memory_explicit_layout", 4),
    ("SPV_NV_cluster_acceleration_structure", 4), ("SPV_NV_linear_swept_spheres", 4),
    ("SPV_NV_shader_invocation_reorder", 4), ("SPV_QCOM_image_processing", 4), ("SPV_QCOM_image_processing2", 4),
];

/// What an instruction needs, or the extension or set that it declares.
pub(super) fn check(checker: &mut Checker<'_>, instruction: &Instruction) {
    let Version(_, minor) = checker.module.version();
    let (module, facts) = (checker.module, checker.facts);
    let Some(op) = Op::from_u32(instruction.opcode.into()) else { return };
    let text = |at: usize| {
        let words = module.words_of(instruction).get(at..)?;
        read_string(words).map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned())
    };
    let declares = |extension: &str| facts.extensions.contains(extension);
    let message = match op {
        Op::Extension => text(1).and_then(|name| {
            let &(_, first) = EXTENSIONS.iter().find(|row| row.0 == name)?;
            (minor < first).then(|| format!("{name} needs SPIR-V 1.{first}"))
        }),
        Op::ExtInstImport => text(2).and_then(|name| {
            let needed = name.starts_with("NonSemantic.") && minor < 6 && !declares("SPV_KHR_non_semantic_info");
            needed.then(|| format!("{name} needs SPIR-V 1.6 or `OpExtension \"SPV_KHR_non_semantic_info\"`"))
        }),
        _ => {
            let extensions = shape(instruction.opcode).map_or(&[][..], |shape| shape.grammar.extensions);
            let row = OPCODES.iter().find(|row| row.0 == op && row.1 > minor);
            row.filter(|_| !extensions.iter().any(|name| declares(name))).map(|&(_, first)| match extensions {
                [] => format!("it needs SPIR-V 1.{first}"),
                _ => format!("it needs SPIR-V 1.{first} or `OpExtension \"{}\"`", extensions.join("\" or \"")),
            })
        }
    };
    if let Some(message) = message {
        let message = format!("{}: {message}", instruction_name(instruction.opcode));
        checker.error(code::EXTENSION_NEEDED, instruction.word, "SPIR-V 1.6, 3 Binary Form", message);
    }
}

/// What the first enumerant of an operand lacks, in words that follow the operand's kind.
pub(super) fn missing(checker: &Checker<'_>, kind: OperandKind, value: u32) -> Option<String> {
    let Version(_, minor) = checker.module.version();
    parts(kind, value).into_iter().find_map(|part| {
        let &(_, _, core) = ROWS.iter().find(|row| row.0 == kind && row.1 == part)?;
        let is_core = match core {
            Since(first) => minor >= first,
            Until(last) => minor <= last,
            Never => false,
        };
        let extensions = operand(kind, part)?.required_extensions();
        if is_core || extensions.iter().any(|extension| checker.facts.extensions.contains(*extension)) {
            return None;
        }
        let extension = || format!("`OpExtension \"{}\"`", extensions.join("\" or \""));
        let needed = match core {
            Since(first) if extensions.is_empty() => format!("SPIR-V 1.{first}"),
            Since(first) => format!("SPIR-V 1.{first} or {}", extension()),
            Until(last) => format!("SPIR-V 1.{last} or older"),
            Never => extension(),
        };
        Some(format!("{} needs {needed}", name_of(kind, part).unwrap_or_default()))
    })
}
