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
        ("%r = OpIAdd %u32 %n %n", &["integer arithmetic"]),
        ("%r = OpExtInst %f32 %set Sqrt %a", &["extended instructions"]),
        ("%r = OpConvertFToU %u32 %a", &["conversions"]),
        (
            "%r = OpFOrdLessThan %f32 %a %a\n%s = OpShiftLeftLogical %u32 %n %n",
            &["bit instructions", "relations and logic"],
        ),
        ("OpControlBarrier %n %n %n", &["barriers"]),
        ("OpSelectionMerge %end None\nOpBranchConditional %n %end %end\n%end = OpLabel", &[]),
        ("%r = OpFunctionCall %void %main", &["function calls"]),
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

#[test]
fn what_computes_nothing_has_no_rules_to_miss() {
    let text = include_str!("../../../vectors/edge/spirv/non-semantic.spvasm");
    assert!(groups(text).is_empty(), "{:?}", groups(text));
}
