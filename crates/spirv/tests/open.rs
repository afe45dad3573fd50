//! What a module leaves open is reported, and nothing else: each declaration closes its own line.

use roundonce_spirv::{Assume, Settings, assemble_module, lower};

/// Modes, decorations and instructions of a module with two f32 constants, `%a` and `%b`.
fn open(modes: &str, decorations: &str, body: &str, assume: Assume) -> Vec<String> {
    let text = format!(
        "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n{modes}\n{decorations}
%void = OpTypeVoid\n%procedure = OpTypeFunction %void\n%f32 = OpTypeFloat 32\n%f16 = OpTypeFloat 16\n%u32 = OpTypeInt 32 0
%a = OpConstant %f32 1\n%b = OpConstant %f32 2\n%n = OpConstant %u32 3\n%main = OpFunction %void None %procedure
%start = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
    );
    let module = assemble_module(&text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
    let settings = Settings { assume, ..Settings::default() };
    lower(&module, Some(&text), &settings).unwrap_or_else(|findings| panic!("{findings:?}\n{text}")).undetermined
}

const CLOSED: &str = "OpExecutionMode %main RoundingModeRTE 32\nOpExecutionMode %main DenormPreserve 32
OpExecutionMode %main SignedZeroInfNanPreserve 32";

#[test]
fn each_mode_closes_its_line() {
    let sum = |modes: &str, assume| open(modes, "", "%r = OpFAdd %f32 %a %b", assume);
    let special = "32-bit infinities, NaNs and signs of zeros: as IEEE 754 has them";
    let flushed = "32-bit subnormals: flushed, as NVIDIA does unless RoundingModeRTE is declared";
    let all = [special, "32-bit rounding: to nearest even", flushed];
    assert_eq!(sum("", Assume::Nvidia), all);
    assert_eq!(sum("", Assume::Strict)[2], "32-bit subnormals: kept");
    let kept = "32-bit subnormals: kept, as NVIDIA does where RoundingModeRTE is declared";
    assert_eq!(sum("OpExecutionMode %main RoundingModeRTE 32", Assume::Nvidia), [all[0], kept]);
    assert_eq!(sum("", Assume::Flush)[2], "32-bit subnormals: flushed");
    assert_eq!(sum("OpExecutionMode %main RoundingModeRTZ 32", Assume::Nvidia), [all[0], all[2]]);
    assert_eq!(sum("OpExecutionMode %main DenormFlushToZero 32", Assume::Nvidia), [all[0], all[1]]);
    assert_eq!(sum("OpExecutionMode %main SignedZeroInfNanPreserve 32", Assume::Nvidia), [all[1], all[2]]);
    // Another width's modes close nothing.
    assert_eq!(sum(&CLOSED.replace("32", "16"), Assume::Nvidia), all);
    assert!(sum(CLOSED, Assume::Nvidia).is_empty());
}

#[test]
fn only_what_is_computed_with_counts() {
    let reported = |body| open("", "", body, Assume::Nvidia);
    assert!(reported("%r = OpIAdd %u32 %n %n").is_empty());
    // A comparison rounds nothing, a widening neither.
    assert_eq!(
        reported("%s = OpExtInst %f32 %glsl FMax %a %b"),
        ["32-bit subnormals: flushed, as NVIDIA does unless RoundingModeRTE is declared"]
    );
    assert!(reported("%r = OpFConvert %f16 %a").contains(&"16-bit rounding: to nearest even".to_owned()));
}

#[test]
fn contraction_precision_and_fast_math() {
    let both = "%p = OpFMul %f32 %a %b\n%r = OpFAdd %f32 %p %b";
    let reported = |decorations: &str, body| open(CLOSED, decorations, body, Assume::Nvidia);
    let contraction = "products and sums without NoContraction: rounded apart, or as --contract says";
    assert_eq!(reported("", both), [contraction]);
    assert!(reported("OpDecorate %p NoContraction", both).is_empty());
    assert!(reported("", "%r = OpFAdd %f32 %a %b").is_empty());
    let sum = "%r = OpFAdd %f32 %a %b";
    assert_eq!(reported("OpDecorate %r RelaxedPrecision", sum), ["RelaxedPrecision: computed in full precision"]);
    assert_eq!(reported("OpDecorate %r FPFastMathMode NotNaN", sum), ["FPFastMathMode: nothing made use of"]);
    assert!(reported("OpDecorate %r FPFastMathMode None", sum).is_empty());
    let fused = "%r = OpExtInst %f32 %glsl Fma %a %a %b";
    assert_eq!(reported("", fused), ["GLSL.std.450 Fma without NoContraction: fused"]);
    assert!(reported("OpDecorate %r NoContraction", fused).is_empty());
    assert_eq!(reported("", "%r = OpFDiv %f32 %a %b"), ["OpFDiv: rounded once, where 2.5 ulps are allowed"]);
}
