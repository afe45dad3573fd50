//! What a check does not reach is named; what it reaches completely is not.

use roundonce_spirv::{assemble_module, unchecked};

fn groups(text: &str) -> Vec<&'static str> {
    unchecked(&assemble_module(text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}")))
}

const HEAD: &str = "OpCapability Shader\n%set = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\nDECORATIONS%void = OpTypeVoid\n%u32 = OpTypeInt 32 0
%f32 = OpTypeFloat 32\n%n = OpConstant %u32 1\n%a = OpConstant %f32 1\n%procedure = OpTypeFunction %void
%main = OpFunction %void None %procedure\n%start = OpLabel\n";

fn module(decorations: &str, body: &str) -> String {
    HEAD.replace("DECORATIONS", decorations) + body + "\nOpReturn\nOpFunctionEnd\n"
}

#[test]
fn each_group_is_named() {
    for (body, expected) in [
        ("", &[][..]),
        ("%r = OpFmaKHR %f32 %a %a %a\n%s = OpFAdd %f32 %r %a\n%t = OpExtInst %f32 %set Fma %a %a %a", &[]),
        ("%r = OpIAdd %u32 %n %n\n%s = OpConvertFToU %u32 %a\n%t = OpShiftLeftLogical %u32 %n %n", &[]),
        ("%r = OpExtInst %f32 %set Sqrt %a", &["extended instructions"]),
        ("%r = OpGenericCastToPtr %u32 %a", &["conversions"]),
        ("OpControlBarrier %n %n %n", &["barriers"]),
        ("OpSelectionMerge %end None\nOpBranchConditional %n %end %end\n%end = OpLabel", &[]),
        ("%r = OpFunctionCall %void %main", &[]),
        ("%r = OpAtomicLoad %u32 %n %n %n", &["atomics"]),
        ("%r = OpSDotKHR %u32 %n %n PackedVectorFormat4x8Bit", &["instructions of extensions"]),
    ] {
        assert_eq!(groups(&module("", body)), expected, "{body}");
    }
    let flags = "OpExecutionModeId %main FPFastMathDefault %f32 %n\nOpDecorateString %a UserSemantic \"a\"\n";
    assert!(groups(&module(flags, "")).is_empty());
    let block = "OpDecorate %b Block\nOpMemberDecorate %b 0 Offset 0\nOpDecorate %i BuiltIn WorkgroupId\n";
    assert_eq!(groups(&module(block, "")), ["built-in variables and interfaces", "layout of blocks and descriptors"]);
}

/// Sets whose instructions compute nothing have no rules to miss, but for debug information.
#[test]
fn debug_information_is_named() {
    let text = include_str!("../../../vectors/edge/spirv/non-semantic.spvasm");
    assert_eq!(groups(text), ["debug information"]);
    let other = module("", "%r = OpExtInst %void %set 3 %n").replace("GLSL.std.450", "NonSemantic.Unknown.7");
    assert!(groups(&other).is_empty(), "{:?}", groups(&other));
}
