#!/usr/bin/env python3
"""Asks spirv-val which changed operands it takes, and which versions and extensions instructions need.

    dev/verdicts/operands.py [FOLDER]      # writes vectors/edge/spirv/operands.jsonl and versions.jsonl

FOLDER has spirv-as and spirv-val; without it they are looked for in PATH. In a copy of a module one id of one instruction is
replaced by another id of the module; of all copies a fixed choice is recorded. crates/spirv/tests/verdicts.rs holds `check`
against both records.
"""

import random
import re
import sys

from spirv_val import Judge

# An instruction of each rule, on values of types close to those it takes.
SHADER = """OpCapability Shader
OpCapability Int64
OpCapability GroupNonUniform
OpCapability GroupNonUniformVote
OpCapability GroupNonUniformBallot
OpCapability GroupNonUniformShuffle
OpCapability GroupNonUniformArithmetic
OpCapability GroupNonUniformQuad
OpCapability ImageQuery
%set = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %numbers ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 16
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%i32 = OpTypeInt 32 1
%u64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%bool2 = OpTypeVector %bool 2
%u2 = OpTypeVector %u32 2
%u4 = OpTypeVector %u32 4
%i2 = OpTypeVector %i32 2
%f2 = OpTypeVector %f32 2
%f3 = OpTypeVector %f32 3
%f4 = OpTypeVector %f32 4
%m23 = OpTypeMatrix %f3 2
%m32 = OpTypeMatrix %f2 3
%pair = OpTypeStruct %u32 %u32
%zero = OpConstant %u32 0
%one = OpConstant %u32 1
%two = OpConstant %u32 2
%three = OpConstant %u32 3
%semantics = OpConstant %u32 264
%minus = OpConstant %i32 -1
%long = OpConstant %u64 7
%half = OpConstant %f32 0.5
%array = OpTypeArray %f32 %three
%numbers = OpTypeRuntimeArray %u32
%block = OpTypeStruct %u32 %numbers
%to_block = OpTypePointer StorageBuffer %block
%to_u32 = OpTypePointer StorageBuffer %u32
%in_f32 = OpTypePointer Function %f32
%in_array = OpTypePointer Function %array
%in_u32 = OpTypePointer Function %u32
%image = OpTypeImage %f32 2D 0 0 0 1 Unknown
%stored = OpTypeImage %f32 2D 0 0 0 2 R32f
%sampler = OpTypeSampler
%sampled = OpTypeSampledImage %image
%to_image = OpTypePointer UniformConstant %image
%to_stored = OpTypePointer UniformConstant %stored
%to_sampler = OpTypePointer UniformConstant %sampler
%true = OpConstantTrue %bool
%yes2 = OpConstantComposite %bool2 %true %true
%a2 = OpConstantComposite %u2 %one %two
%b2 = OpConstantComposite %i2 %minus %minus
%c2 = OpConstantComposite %f2 %half %half
%c3 = OpConstantComposite %f3 %half %half %half
%c4 = OpConstantComposite %f4 %half %half %half %half
%a4 = OpConstantComposite %u4 %one %two %one %two
%procedure = OpTypeFunction %void
%unary = OpTypeFunction %u32 %u32 %f32
%buffer = OpVariable %to_block StorageBuffer
%picture = OpVariable %to_image UniformConstant
%drawn = OpVariable %to_stored UniformConstant
%filter = OpVariable %to_sampler UniformConstant
%callee = OpFunction %u32 None %unary
%x = OpFunctionParameter %u32
%y = OpFunctionParameter %f32
%entry = OpLabel
OpReturnValue %x
OpFunctionEnd
%main = OpFunction %void None %procedure
%start = OpLabel
%local = OpVariable %in_f32 Function %half
%locals = OpVariable %in_array Function
%count = OpVariable %in_u32 Function %one
BODY
OpSelectionMerge %end None
OpSwitch %one %end 1 %here
%here = OpLabel
OpBranchConditional %true %end %there
%there = OpLabel
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
"""
SHADER_BODY = """%p = OpAccessChain %to_u32 %buffer %one %two
%q = OpAccessChain %in_f32 %locals %two
%l = OpLoad %u32 %p
OpStore %p %one
OpStore %local %half
%n = OpArrayLength %u32 %buffer 1
%r = OpFunctionCall %u32 %callee %one %half
%add = OpIAdd %u32 %one %minus
%sub2 = OpISub %i2 %a2 %b2
%div = OpUDiv %u32 %one %two
%rem = OpSRem %i32 %minus %minus
%neg = OpSNegate %u32 %one
%not = OpNot %u2 %a2
%shift = OpShiftLeftLogical %u32 %one %long
%and = OpBitwiseAnd %u2 %a2 %b2
%insert = OpBitFieldInsert %u32 %one %two %zero %minus
%extract = OpBitFieldUExtract %u2 %a2 %zero %one
%reverse = OpBitReverse %u32 %one
%bits = OpBitCount %i32 %one
%sum = OpIAddCarry %pair %one %two
%product = OpUMulExtended %pair %one %two
%scaled = OpVectorTimesScalar %f3 %c3 %half
%dot = OpDot %f32 %c3 %c3
%matrix = OpCompositeConstruct %m23 %c3 %c3
%times = OpMatrixTimesScalar %m23 %matrix %half
%column = OpMatrixTimesVector %f3 %matrix %c2
%row = OpVectorTimesMatrix %f2 %c3 %matrix
%turned = OpTranspose %m32 %matrix
%square = OpOuterProduct %m23 %c3 %c2
%any = OpAny %bool %yes2
%nan = OpIsNan %bool2 %c2
%less = OpFOrdLessThan %bool2 %c2 %c2
%same = OpLogicalEqual %bool2 %yes2 %yes2
%other = OpLogicalNot %bool %true
%equal = OpIEqual %bool2 %a2 %b2
%chosen = OpSelect %u2 %yes2 %a2 %a2
%whole = OpSelect %f32 %true %half %half
%to_u = OpConvertFToU %u2 %c2
%to_s = OpConvertFToS %i32 %half
%to_f = OpConvertSToF %f2 %b2
%wide = OpUConvert %u64 %one
%cast = OpBitcast %f2 %a2
%cast64 = OpBitcast %u64 %a2
%f16 = OpQuantizeToF16 %f2 %c2
%copy = OpCopyObject %f32 %half
%part = OpCompositeExtract %f32 %c3 1
%deep = OpCompositeExtract %f32 %matrix 1 2
%put = OpCompositeInsert %f3 %half %c3 1
%made = OpCompositeConstruct %f3 %c2 %half
%struct = OpCompositeConstruct %pair %one %two
%mixed = OpVectorShuffle %f3 %c2 %c3 0 2 4
%at = OpVectorExtractDynamic %f32 %c3 %one
%into = OpVectorInsertDynamic %f3 %c3 %half %one
%atomic = OpAtomicIAdd %u32 %p %one %zero %two
%swap = OpAtomicCompareExchange %u32 %p %one %zero %zero %two %one
%seen = OpAtomicLoad %u32 %p %one %zero
OpAtomicStore %p %one %zero %two
OpControlBarrier %two %two %semantics
OpMemoryBarrier %one %semantics
%picture_ = OpLoad %image %picture
%filter_ = OpLoad %sampler %filter
%drawn_ = OpLoad %stored %drawn
%both = OpSampledImage %sampled %picture_ %filter_
%colour = OpImageSampleExplicitLod %f4 %both %c2 Lod %half
%gathered = OpImageGather %f4 %both %c2 %one
%texel = OpImageFetch %f4 %picture_ %a2 Lod %zero
%read = OpImageRead %f4 %drawn_ %a2
OpImageWrite %drawn_ %a2 %c4
%back = OpImage %image %both
%size = OpImageQuerySizeLod %i2 %picture_ %zero
%elect = OpGroupNonUniformElect %bool %three
%all = OpGroupNonUniformAll %bool %three %true
%ballot = OpGroupNonUniformBallot %u4 %three %true
%members = OpGroupNonUniformBallotBitCount %u32 %three Reduce %a4
%bit = OpGroupNonUniformInverseBallot %bool %three %a4
%told = OpGroupNonUniformBroadcast %f32 %three %half %one
%moved = OpGroupNonUniformShuffle %f32 %three %half %one
%quad = OpGroupNonUniformQuadSwap %f32 %three %half %one
%total = OpGroupNonUniformIAdd %u32 %three Reduce %one
%largest = OpGroupNonUniformFMax %f32 %three Reduce %half
%sine = OpExtInst %f2 %set Sin %c2
%clamped = OpExtInst %f32 %set FClamp %half %half %half
%least = OpExtInst %i32 %set SMin %minus %one
%top = OpExtInst %u32 %set FindUMsb %one
%power = OpExtInst %f2 %set Ldexp %c2 %b2
%fraction = OpExtInst %f32 %set Modf %half %local
%far = OpExtInst %f32 %set Distance %c2 %c2
%packed = OpExtInst %u32 %set PackHalf2x16 %c2"""
KERNEL = """OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int8
OpCapability Int64
%set = OpExtInstImport "OpenCL.std"
OpMemoryModel Physical64 OpenCL
OpDecorate %extern LinkageAttributes "extern" Import
%void = OpTypeVoid
%bool = OpTypeBool
%u8 = OpTypeInt 8 0
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%u2 = OpTypeVector %u32 2
%f2 = OpTypeVector %f32 2
%one = OpConstant %u32 1
%long = OpConstant %u64 7
%half = OpConstant %f32 0.5
%a2 = OpConstantComposite %u2 %one %one
%c2 = OpConstantComposite %f2 %half %half
%global = OpTypePointer CrossWorkgroup %f32
%words = OpTypePointer CrossWorkgroup %u32
%in_u32 = OpTypePointer Function %u32
%in_f32 = OpTypePointer Function %f32
%kernel = OpTypeFunction %void %global %words
%unary = OpTypeFunction %f32 %f32
%extern = OpFunction %f32 None %unary
%argument = OpFunctionParameter %f32
OpFunctionEnd
%main = OpFunction %void None %kernel
%data = OpFunctionParameter %global
%counts = OpFunctionParameter %words
%start = OpLabel
%count = OpVariable %in_u32 Function
%local = OpVariable %in_f32 Function
BODY
OpReturn
OpFunctionEnd
"""
KERNEL_BODY = """%called = OpFunctionCall %f32 %extern %half
%p = OpInBoundsPtrAccessChain %global %data %long
%l = OpLoad %f32 %p Aligned 4
OpStore %p %half Aligned 4
%address = OpConvertPtrToU %u64 %p
%again = OpConvertUToPtr %global %address
%cast = OpBitcast %words %p
%narrow = OpUConvert %u8 %one
%sat = OpSatConvertSToU %u8 %one
%sign = OpSignBitSet %bool %half
%ordered = OpOrdered %bool %half %half
%atomic = OpAtomicIIncrement %u32 %counts %one %one
%sine = OpExtInst %f2 %set sinpi %c2
%fused = OpExtInst %f32 %set mix %half %half %half
%power = OpExtInst %f32 %set pown %half %one
%parts = OpExtInst %f32 %set fract %half %local
%exponent = OpExtInst %u32 %set ilogb %half
%greatest = OpExtInst %u32 %set u_max %one %one
%turned = OpExtInst %u2 %set rotate %a2 %a2
%length = OpExtInst %f32 %set length %c2"""
SAMPLE = 350


def changed(text, body):
    """Each copy with one id of a line of the body, or of a branch, replaced by another."""
    lines = body.split("\n")
    module = text.split("\n")
    ids = sorted(set(re.findall(r"%\w+", text + body)))
    lines += [line for line in module if line.startswith(("OpSwitch", "OpBranchConditional", "OpReturnValue"))]
    for line in lines:
        for found in list(re.finditer(r"%\w+", line))[line.startswith("%") :]:
            for other in ids:
                if other != found[0]:
                    yield line, line[: found.start()] + other + line[found.end() :]


def slim(text, body, keep):
    """A module of the frame, of one line, and of what they need."""
    lines = text.replace("BODY", body).split("\n")
    optional = [line in body.split("\n") or bool(re.search(r"= Op(Type|Constant|Variable)|Op(Member)?Decorate", line)) for line in lines]
    kept = {at for at, line in enumerate(lines) if line == keep or not optional[at]}
    while True:
        ids = {found for at in kept for found in re.findall(r"%\w+", lines[at])}
        about = {at: re.match(r"(?:Op\w+ )?(%\w+)", line) for at, line in enumerate(lines) if "=" in line or "Decorate" in line}
        more = {at for at, found in about.items() if found and found[1] in ids} - kept
        if not more:
            return "\n".join(lines[at] for at in sorted(kept))
        kept |= more


def operands(judge):
    draw = random.Random("operands")
    for environment, text, body in (("spv1.3", SHADER, SHADER_BODY), ("spv1.2", KERNEL, KERNEL_BODY)):
        judge.record("as it is", environment, text.replace("BODY", body))
        for line, copy in draw.sample(list(changed(text, body)), SAMPLE):
            judge.record(f"{copy} for {line}", environment, slim(text.replace(line, copy), body.replace(line, copy), copy))


FUNCTION = """%void = OpTypeVoid
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%procedure = OpTypeFunction %void
%one = OpConstant %u32 1
%pointer = OpTypePointer Function %u32
%struct = OpTypeStruct %u32
%main = OpFunction %void None %procedure
%start = OpLabel
%a = OpVariable %pointer Function
%b = OpVariable %pointer Function
"""
END = "OpReturn\nOpFunctionEnd\n"
SHADER_HEAD = "OpCapability Shader\nOpCapability Linkage\n"
KERNEL_HEAD = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Linkage\n"
LOGICAL, PHYSICAL = "OpMemoryModel Logical GLSL450\n", "OpMemoryModel Physical64 OpenCL\n"
GOOGLE = 'OpExtension "SPV_GOOGLE_hlsl_functionality1"\n'
VERSIONS = {
    "OpDecorateId": KERNEL_HEAD + PHYSICAL + "OpDecorateId %a AlignmentId %one\n" + FUNCTION + END,
    "OpMemberDecorateString": SHADER_HEAD + LOGICAL + 'OpMemberDecorateString %struct 0 UserSemantic "x"\n' + FUNCTION + END,
    "OpMemberDecorateString with an extension of the decoration": SHADER_HEAD + GOOGLE + LOGICAL + 'OpMemberDecorateString %struct 0 UserSemantic "x"\n' + FUNCTION + END,
    "OpMemberDecorateString with both extensions": SHADER_HEAD + GOOGLE + 'OpExtension "SPV_GOOGLE_decorate_string"\n' + LOGICAL + 'OpMemberDecorateString %struct 0 UserSemantic "x"\n' + FUNCTION + END,
    "OpCopyLogical": SHADER_HEAD + LOGICAL + FUNCTION.replace("%main =", "%same = OpTypeStruct %u32\n%whole = OpConstantNull %struct\n%main =") + "%x = OpCopyLogical %same %whole\n" + END,
    "OpPtrEqual": KERNEL_HEAD + PHYSICAL + FUNCTION + "%x = OpPtrEqual %bool %a %b\n" + END,
    "OpPtrNotEqual": KERNEL_HEAD + PHYSICAL + FUNCTION + "%x = OpPtrNotEqual %bool %a %b\n" + END,
    "OpPtrDiff": KERNEL_HEAD + PHYSICAL + FUNCTION + "%x = OpPtrDiff %u32 %a %b\n" + END,
    "OpSizeOf": KERNEL_HEAD + PHYSICAL + FUNCTION + "%x = OpSizeOf %u32 %a\n" + END,
    "OpTerminateInvocation": SHADER_HEAD + LOGICAL + FUNCTION + "OpTerminateInvocation\nOpFunctionEnd\n",
    "OpTerminateInvocation with its extension": SHADER_HEAD + 'OpExtension "SPV_KHR_terminate_invocation"\n' + LOGICAL + FUNCTION + "OpTerminateInvocation\nOpFunctionEnd\n",
    "OpModuleProcessed": SHADER_HEAD + LOGICAL + 'OpModuleProcessed "x"\n' + FUNCTION + END,
    "OpExecutionModeId": SHADER_HEAD + LOGICAL + 'OpEntryPoint GLCompute %main "m"\nOpExecutionModeId %main LocalSizeId %one %one %one\n' + FUNCTION + END,
    "a NonSemantic set": SHADER_HEAD + '%set = OpExtInstImport "NonSemantic.Other"\n' + LOGICAL + FUNCTION + END,
    "a NonSemantic set with its extension": SHADER_HEAD + 'OpExtension "SPV_KHR_non_semantic_info"\n%set = OpExtInstImport "NonSemantic.Other"\n' + LOGICAL + FUNCTION + END,
    "an imported definition": SHADER_HEAD + LOGICAL + 'OpDecorate %main LinkageAttributes "m" Import\n' + FUNCTION + END,
    "an exported definition": SHADER_HEAD + LOGICAL + 'OpDecorate %main LinkageAttributes "m" Export\n' + FUNCTION + END,
    "a declaration that is not imported": SHADER_HEAD + LOGICAL + FUNCTION.replace("%main =", "%other = OpFunction %void None %procedure\nOpFunctionEnd\n%main =") + END,
    "an imported declaration": SHADER_HEAD + LOGICAL + 'OpDecorate %other LinkageAttributes "m" Import\n' + FUNCTION.replace("%main =", "%other = OpFunction %void None %procedure\nOpFunctionEnd\n%main =") + END,
}
# Storage that is only read, numbers that are only stored, layouts where none belongs.
STORAGE = """OpCapability Shader
OpCapability StorageBuffer16BitAccess
OpCapability UniformAndStorageBuffer16BitAccess
OpExtension "SPV_KHR_16bit_storage"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 4
OpDecorate %strided ArrayStride 4
OpDecorate %variable DescriptorSet 0
OpDecorate %variable Binding 0
%void = OpTypeVoid
%u32 = OpTypeInt 32 0
%f16 = OpTypeFloat 16
%h2 = OpTypeVector %f16 2
%zero = OpConstant %u32 0
%one = OpConstant %u32 1
%strided = OpTypeArray %u32 %one
%block = OpTypeStruct %u32 %h2
%to_block = OpTypePointer CLASS %block
%to_u32 = OpTypePointer CLASS %u32
%to_h2 = OpTypePointer CLASS %h2
%to_local = OpTypePointer INNER %strided
%procedure = OpTypeFunction %void
%variable = OpVariable %to_block CLASS
PRIVATE%main = OpFunction %void None %procedure
%start = OpLabel
FUNCTION%p = OpAccessChain %to_u32 %variable %zero
%q = OpAccessChain %to_h2 %variable %one
%loaded = OpLoad %h2 %q
BODY
OpReturn
OpFunctionEnd
"""
BODIES = ["", "OpStore %p %one", "OpStore %q %loaded", "%part = OpCompositeExtract %f16 %loaded 0", "%mixed = OpVectorShuffle %h2 %loaded %loaded 1 0",
          "%made = OpCompositeConstruct %h2 %loaded", "%put = OpVectorExtractDynamic %f16 %loaded %one"]


def versions(judge):
    for case, text in VERSIONS.items():
        for minor in range(7):
            judge.record(case, f"spv1.{minor}", text)
    for storage in ("StorageBuffer", "Uniform", "PushConstant", "UniformConstant", "Input"):
        for body in BODIES:
            for environment in ("spv1.3", "vulkan1.1"):
                text = STORAGE.replace("CLASS", storage).replace("BODY", body).replace("INNER", "Function")
                judge.record(f"{body} in {storage}", environment, text.replace("PRIVATE", "").replace("FUNCTION", ""))
    local = "%local = OpVariable %to_local INNER\n"
    for inner in ("Function", "Private", "Workgroup"):
        text = STORAGE.replace("CLASS", "StorageBuffer").replace("BODY", "")
        text = text.replace("PRIVATE", local * (inner != "Function")).replace("FUNCTION", local * (inner == "Function")).replace("INNER", inner)
        for environment in ("spv1.3", "vulkan1.1", "vulkan1.3"):
            judge.record(f"a stride in {inner}", environment, text)
    for name, first in EXTENSIONS.items():
        for minor in (first - 1, first):
            judge.record(f"{name} in 1.{minor}", f"spv1.{minor}", SHADER_HEAD + f'OpExtension "{name}"\n' + LOGICAL)


# The version that an extension is written against; the last is of the first version.
EXTENSIONS = {name: 4 for name in """SPV_EXT_mesh_shader SPV_EXT_shader_invocation_reorder SPV_KHR_workgroup_memory_explicit_layout
SPV_NV_cluster_acceleration_structure SPV_NV_linear_swept_spheres SPV_NV_shader_invocation_reorder SPV_QCOM_image_processing
SPV_QCOM_image_processing2""".split()}
EXTENSIONS |= {"SPV_KHR_vulkan_memory_model": 3, "SPV_QCOM_cooperative_matrix_conversion": 3, "SPV_KHR_multiview": 1}

if __name__ == "__main__":
    with Judge(sys.argv[1:], "operands") as judge:
        operands(judge)
    with Judge(sys.argv[1:], "versions") as judge:
        versions(judge)
