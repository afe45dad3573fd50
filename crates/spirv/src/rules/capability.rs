//! Capabilities: those that instructions and enumerants need, those that need an extension, and those that a target
//! environment refuses. Enumerants that need an extension or a version have a table of their own (`since.rs`).

use std::collections::HashMap;

use rspirv::grammar::OperandKind;
use rspirv::spirv::{Capability, Decoration, GroupOperation, Op};

use super::{Checker, code, since, source};
use crate::environment::Client;
use crate::facts::Facts;
use crate::grammar::{self, Class, instruction_name, operand, set_bits, shape};
use crate::module::{Instruction, Operand};
use roundonce_isa::Version;

/// What was asked before: a module repeats its instructions.
#[derive(Default)]
pub(super) struct Capabilities {
    opcodes: HashMap<u16, bool>,
    enumerants: HashMap<(OperandKind, u32), bool>,
}

/// Any of several, as the grammar lists them.
fn any(facts: &Facts, needed: &[Capability]) -> bool {
    needed.is_empty() || needed.iter().any(|&capability| facts.has(capability))
}

fn listed(capabilities: &[Capability]) -> String {
    capabilities.iter().map(|capability| format!("{capability:?}")).collect::<Vec<_>>().join(" or ")
}

impl Capabilities {
    pub(super) fn check(&mut self, checker: &mut Checker<'_>, instruction: &Instruction, operands: &[Operand]) {
        let facts = checker.facts;
        let opcode = instruction.opcode;
        let Some(row) = shape(opcode) else {
            return;
        };
        let good = *self.opcodes.entry(opcode).or_insert_with(|| any(facts, row.grammar.capabilities));
        let name = instruction_name(opcode);
        if !good {
            let needed = listed(row.grammar.capabilities);
            let rule =
                if opcode == Op::FmaKHR as u16 { source::FMA_CAPABILITY } else { "SPIR-V 1.6, 3.49 Instructions" };
            let message = format!("{name} needs the capability {needed}, which is not declared");
            checker.error(code::CAPABILITY_NEEDED, instruction.word, rule, message).help =
                format!("declare it: `OpCapability {}`", listed(&row.grammar.capabilities[..1]));
        }
        for at in operands.iter().filter(|at| matches!(at.class, Class::Value | Class::Mask)) {
            let value = checker.module.words()[at.word];
            if at.kind == OperandKind::Capability {
                continue;
            }
            let good = *self.enumerants.entry((at.kind, value)).or_insert_with(|| {
                lacking(checker, at.kind, value).is_none() && since::missing(checker, at.kind, value).is_none()
            });
            if good {
                continue;
            }
            if let Some(message) = since::missing(checker, at.kind, value) {
                let message = format!("{name}: {:?} {message}", at.kind);
                checker.error(code::EXTENSION_NEEDED, at.word, "SPIR-V 1.6, 3 Binary Form", message);
            }
            if let Some((part, needed)) = lacking(checker, at.kind, value) {
                let what = grammar::name_of(at.kind, part).unwrap_or_else(|| part.to_string());
                let message = format!(
                    "{name}: {:?} {what} needs the capability {}, which is not declared",
                    at.kind,
                    listed(&needed)
                );
                checker.error(code::CAPABILITY_NEEDED, at.word, "SPIR-V 1.6, 3 Binary Form", message);
            }
        }
        if opcode == Op::Capability as u16 {
            declared(checker, instruction);
        }
    }
}

/// The enumerant itself, or the bits of a mask.
pub(super) fn parts(kind: OperandKind, value: u32) -> Vec<u32> {
    match grammar::class(kind) {
        Class::Mask => set_bits(value).collect(),
        _ => vec![value],
    }
}

/// The enumerant, or the bit of a mask, whose capabilities are not declared, and those.
fn lacking(checker: &Checker<'_>, kind: OperandKind, value: u32) -> Option<(u32, Vec<Capability>)> {
    // Consumers take these without (SPIRV-Tools does too): a vertex shader may write its PointSize.
    const BUILT_INS: [u32; 3] = [1, 3, 4];
    let free = match kind {
        OperandKind::BuiltIn => BUILT_INS.contains(&value),
        OperandKind::FPRoundingMode => true,
        // Groups' reductions are SPV_AMD_shader_ballot's too, without a capability that enables them.
        OperandKind::GroupOperation => {
            value <= GroupOperation::ExclusiveScan as u32 && checker.facts.extensions.contains("SPV_AMD_shader_ballot")
        }
        _ => false,
    };
    if free {
        return None;
    }
    let vulkan = matches!(checker.environment.client, Client::Vulkan(_));
    if kind == OperandKind::Decoration && value == Decoration::FPRoundingMode as u32 && vulkan {
        let needed = vec![
            Capability::StorageBuffer16BitAccess,
            Capability::UniformAndStorageBuffer16BitAccess,
            Capability::StoragePushConstant16,
            Capability::StorageInputOutput16,
        ];
        return (!any(checker.facts, &needed)).then_some((value, needed));
    }
    parts(kind, value).into_iter().find_map(|part| {
        let needed = operand(kind, part)?.required_capabilities();
        (!any(checker.facts, &needed)).then_some((part, needed))
    })
}

/// The version of SPIR-V that took an extension's capabilities into its core.
#[rustfmt::skip] // A row an extension.
static CORE_SINCE: &[(&str, u16)] = &[
    ("SPV_KHR_16bit_storage", 3), ("SPV_KHR_device_group", 3), ("SPV_KHR_multiview", 3),
    ("SPV_KHR_shader_draw_parameters", 3), ("SPV_KHR_storage_buffer_storage_class", 3),
    ("SPV_KHR_variable_pointers", 3), ("SPV_KHR_shader_ballot", 3), ("SPV_KHR_subgroup_vote", 3),
    ("SPV_KHR_float_controls", 4), ("SPV_KHR_no_integer_wrap_decoration", 4),
    ("SPV_KHR_8bit_storage", 5), ("SPV_EXT_descriptor_indexing", 5), ("SPV_EXT_shader_viewport_index_layer", 5),
    ("SPV_EXT_physical_storage_buffer", 5), ("SPV_KHR_physical_storage_buffer", 5), ("SPV_KHR_vulkan_memory_model", 5),
    ("SPV_EXT_demote_to_helper_invocation", 6), ("SPV_KHR_integer_dot_product", 6),
    ("SPV_KHR_terminate_invocation", 6),
];

/// Capabilities that came with a later version, without an extension.
fn first_minor(capability: Capability) -> u16 {
    use Capability::*;
    match capability {
        SubgroupDispatch | NamedBarrier | PipeStorage => 1,
        GroupNonUniform
        | GroupNonUniformVote
        | GroupNonUniformArithmetic
        | GroupNonUniformBallot
        | GroupNonUniformShuffle
        | GroupNonUniformShuffleRelative
        | GroupNonUniformClustered
        | GroupNonUniformQuad => 3,
        UniformDecoration => 6,
        _ => 0,
    }
}

/// A declared capability: its extension, its version, the environment.
fn declared(checker: &mut Checker<'_>, instruction: &Instruction) {
    let value = checker.module.operand_word(instruction, 0);
    let Some(capability) = Capability::from_u32(value) else {
        return;
    };
    let word = instruction.word;
    let extensions = operand(OperandKind::Capability, value).map_or_else(Vec::new, |row| row.required_extensions());
    let by_extension = extensions.iter().any(|extension| checker.facts.extensions.contains(*extension));
    let Version(_, minor) = checker.module.version();
    let core = |extension: &str| CORE_SINCE.iter().any(|&(name, since)| name == extension && since <= minor);
    // Numbers below 4000 are those of SPIR-V 1.0 to 1.3's core; extensions of those let more devices have them.
    let of_the_core = value < 4000;
    if !of_the_core && !extensions.is_empty() && !by_extension && !extensions.iter().any(|extension| core(extension)) {
        let message = format!("the capability {capability:?} needs `OpExtension \"{}\"`", extensions.join("\" or \""));
        let rule = if capability == Capability::FMAKHR {
            "SPV_KHR_fma, Extension Name"
        } else {
            "SPIR-V 1.6, 3.31 Capability"
        };
        let finding = checker.error(code::EXTENSION_NEEDED, word, rule, message);
        finding.help = format!("declare it: `OpExtension \"{}\"`", extensions[0]);
        return;
    }
    if first_minor(capability) > minor {
        let message = format!("the capability {capability:?} needs SPIR-V 1.{}", first_minor(capability));
        checker.error(code::CAPABILITY_REFUSED, word, "SPIR-V 1.6, 3.31 Capability", message);
        return;
    }
    let environment = checker.environment;
    let allowed = by_extension
        || match environment.client {
            Client::Universal | Client::OpenGl => true,
            Client::Vulkan(version) => vulkan(capability, version, environment.version()),
            Client::OpenCl { version, embedded } => opencl(capability, version, embedded, checker.facts),
        };
    if !allowed {
        let message = format!("the capability {capability:?} is not allowed in {environment}");
        checker.error(code::CAPABILITY_REFUSED, word, "the environment's list of capabilities", message);
    }
}

/// The capabilities that a Vulkan version supports or may support (Vulkan, SPIR-V Environment, Capabilities).
fn vulkan(capability: Capability, Version(_, minor): Version, spirv: Version) -> bool {
    use Capability::*;
    // vulkan1.1spv1.4 is no version of Vulkan's own table.
    if minor == 1 && spirv == Version(1, 4) {
        return true;
    }
    let since = match capability {
        Matrix
        | Shader
        | InputAttachment
        | Sampled1D
        | Image1D
        | SampledBuffer
        | ImageBuffer
        | ImageQuery
        | DerivativeControl
        | Geometry
        | Tessellation
        | Float64
        | Int64
        | Int16
        | TessellationPointSize
        | GeometryPointSize
        | ImageGatherExtended
        | StorageImageMultisample
        | UniformBufferArrayDynamicIndexing
        | SampledImageArrayDynamicIndexing
        | StorageBufferArrayDynamicIndexing
        | StorageImageArrayDynamicIndexing
        | ClipDistance
        | CullDistance
        | ImageCubeArray
        | SampleRateShading
        | SparseResidency
        | MinLod
        | SampledCubeArray
        | ImageMSArray
        | StorageImageExtendedFormats
        | InterpolationFunction
        | StorageImageReadWithoutFormat
        | StorageImageWriteWithoutFormat
        | MultiViewport
        | Int64Atomics
        | TransformFeedback
        | GeometryStreams
        | Float16
        | Int8 => 0,
        GroupNonUniform
        | GroupNonUniformVote
        | GroupNonUniformArithmetic
        | GroupNonUniformBallot
        | GroupNonUniformShuffle
        | GroupNonUniformShuffleRelative
        | GroupNonUniformClustered
        | GroupNonUniformQuad
        | DrawParameters
        | StorageBuffer16BitAccess
        | UniformAndStorageBuffer16BitAccess
        | StoragePushConstant16
        | StorageInputOutput16
        | DeviceGroup
        | MultiView
        | VariablePointersStorageBuffer
        | VariablePointers => 1,
        DenormPreserve
        | DenormFlushToZero
        | SignedZeroInfNanPreserve
        | RoundingModeRTE
        | RoundingModeRTZ
        | VulkanMemoryModel
        | VulkanMemoryModelDeviceScope
        | StorageBuffer8BitAccess
        | UniformAndStorageBuffer8BitAccess
        | StoragePushConstant8
        | ShaderViewportIndex
        | ShaderLayer
        | PhysicalStorageBufferAddresses
        | RuntimeDescriptorArray
        | UniformTexelBufferArrayDynamicIndexing
        | StorageTexelBufferArrayDynamicIndexing
        | UniformBufferArrayNonUniformIndexing
        | SampledImageArrayNonUniformIndexing
        | StorageBufferArrayNonUniformIndexing
        | StorageImageArrayNonUniformIndexing
        | InputAttachmentArrayNonUniformIndexing
        | UniformTexelBufferArrayNonUniformIndexing
        | StorageTexelBufferArrayNonUniformIndexing
        | InputAttachmentArrayDynamicIndexing
        | ShaderNonUniform => 2,
        DotProduct
        | DotProductInputAll
        | DotProductInput4x8Bit
        | DotProductInput4x8BitPacked
        | DemoteToHelperInvocation => 3,
        _ => return false,
    };
    minor >= since
}

/// The capabilities that an OpenCL version supports or may support (OpenCL SPIR-V Environment, 2 and 6).
fn opencl(capability: Capability, version: Version, embedded: bool, facts: &Facts) -> bool {
    use Capability::*;
    let images = facts.declared.iter().any(|(_, declared)| *declared == ImageBasic as u32);
    match capability {
        Addresses | Float16Buffer | Int16 | Int8 | Kernel | Linkage | Vector16 | ImageBasic | Float64 | Float16 => true,
        Int64 => !embedded,
        DeviceEnqueue | GenericPointer | Groups | Pipes => version >= Version(2, 0),
        SubgroupDispatch | PipeStorage => version >= Version(2, 2),
        LiteralSampler | Sampled1D | Image1D | SampledBuffer | ImageBuffer => images,
        ImageReadWrite => version >= Version(2, 0) && images,
        _ => false,
    }
}
