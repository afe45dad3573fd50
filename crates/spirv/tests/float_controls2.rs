//! SPV_KHR_float_controls2: flags settle what they settle, for a check and for a run, and what excludes them is an error.
//! The judge's verdicts on such modules are in `verdicts`.

use roundonce_isa::{Finding, Severity};
use roundonce_spirv::{Environment, Settings, assemble_module, check_text, lower};

/// A module of both kinds of float controls, with an entry point of this model.
fn module(model: &str, modes: &str, decorations: &str, body: &str) -> String {
    let (capability, memory) = match model {
        "Kernel" => ("OpCapability Kernel\nOpCapability Addresses", "Physical64 OpenCL"),
        _ => ("OpCapability Shader", "Logical GLSL450"),
    };
    let set = if model == "Kernel" { "OpenCL.std" } else { "GLSL.std.450" };
    format!(
        "{capability}\nOpCapability FMAKHR\nOpCapability FloatControls2\nOpCapability Float16\nOpExtension \"SPV_KHR_fma\"
OpExtension \"SPV_KHR_float_controls2\"\n%set = OpExtInstImport \"{set}\"\nOpMemoryModel {memory}
OpEntryPoint {model} %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n{modes}\n{decorations}
%void = OpTypeVoid\n%f32 = OpTypeFloat 32\n%f16 = OpTypeFloat 16\n%u32 = OpTypeInt 32 0\n%none = OpConstant %u32 0
%nan = OpConstant %u32 1\n%contract = OpConstant %u32 0x10000\n%a = OpConstant %f32 1.5\n%h = OpConstant %f16 1.5
%procedure = OpTypeFunction %void\n%main = OpFunction %void None %procedure\n%start = OpLabel
{body}\nOpReturn\nOpFunctionEnd\n"
    )
}

fn shader(modes: &str, decorations: &str, body: &str) -> String {
    module("GLCompute", modes, decorations, body)
}

/// The findings of a valid module.
fn notes(text: &str, environment: &str) -> Vec<Finding> {
    let environment: Environment = environment.parse().expect("an environment");
    let findings = check_text(text, environment);
    assert!(findings.iter().all(|at| at.severity < Severity::Error), "{findings:#?}\n{text}");
    findings
}

fn codes(text: &str) -> Vec<&'static str> {
    notes(text, "spv1.6").into_iter().map(|at| at.code).collect()
}

/// What a run picks.
fn picked(text: &str) -> Vec<String> {
    let module = assemble_module(text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
    lower(&module, Some(text), &Settings::default()).unwrap_or_else(|findings| panic!("{findings:?}")).undetermined
}

const FMA: &str = "%r = OpFmaKHR %f32 %a %a %a";
const BOTH: &str = "%p = OpFMul %f32 %a %a\n%r = OpFAdd %f32 %p %a";
const NONE: &str = "OpExecutionModeId %main FPFastMathDefault %f32 %none";
const NAN: &str = "OpExecutionModeId %main FPFastMathDefault %f32 %nan";
const CONTRACT: &str = "OpExecutionModeId %main FPFastMathDefault %f32 %contract";

/// 3.15 FP Fast Math Mode.
#[test]
fn flags_settle_infinities_nans_and_signs_of_zeros() {
    let special = |modes: &str, decorations: &str, body| codes(&shader(modes, decorations, body)).contains(&"SPV0066");
    assert!(special("", "", FMA));
    assert!(!special(NONE, "", FMA));
    assert!(!special(CONTRACT, "", FMA));
    assert!(special(NAN, "", FMA));
    // Its own flags come first.
    assert!(!special("", "OpDecorate %r FPFastMathMode None", FMA));
    assert!(!special(NAN, "OpDecorate %r FPFastMathMode None", FMA));
    for flag in ["NotNaN", "NotInf", "NSZ"] {
        assert!(special(NONE, &format!("OpDecorate %r FPFastMathMode {flag}"), FMA), "{flag}");
    }
    // One of two instructions leaves it open.
    let two = "%r = OpFmaKHR %f32 %a %a %a\n%s = OpFmaKHR %f32 %a %a %a";
    assert!(special("", "OpDecorate %r FPFastMathMode None", two));
    // A type without a default has no flags where another has one.
    assert!(!special(NAN, "", "%r = OpFmaKHR %f16 %h %h %h"));
    assert!(special(&NAN.replace("%f32", "%f16"), "", "%r = OpFmaKHR %f16 %h %h %h"));
    // Rounding and subnormals stay open.
    assert_eq!(codes(&shader(NONE, "", FMA)), ["SPV0064", "SPV0065"]);
}

/// 3.6 Execution Mode, the exclusions of 2.16.1: what would be invalid is no advice.
#[test]
fn flags_are_not_answered_with_what_they_exclude() {
    let special =
        |text: &str| notes(text, "spv1.6").into_iter().find(|at| at.code == "SPV0066").expect("an open choice");
    let by_flags = special(&shader(NAN, "", FMA));
    assert!(by_flags.help.contains("FPFastMathMode without NotNaN"), "{}", by_flags.help);
    assert!(by_flags.open.expect("a choice").edits.is_empty());
    assert!(special(&shader("", "", FMA)).help.contains("SignedZeroInfNanPreserve 32"));
}

/// AllowContract: of the operation that takes the product.
#[test]
fn flags_settle_contraction() {
    let may = |modes: &str, decorations: &str| codes(&shader(modes, decorations, BOTH)).contains(&"SPV0067");
    assert!(may("", "") && may(CONTRACT, ""));
    assert!(!may(NONE, "") && !may("", "OpDecorate %r FPFastMathMode None"));
    assert!(may("", "OpDecorate %p FPFastMathMode None") && may(NONE, "OpDecorate %r FPFastMathMode AllowContract"));
    assert!(!may(CONTRACT, "OpDecorate %r FPFastMathMode NSZ"));
    let glsl = |modes: &str, decorations: &str| {
        let body = "%r = OpExtInst %f32 %set Fma %a %a %a";
        codes(&shader(modes, decorations, body)).contains(&"SPV0062")
    };
    assert!(glsl("", "") && glsl(CONTRACT, ""));
    assert!(!glsl(NONE, "") && !glsl("", "OpDecorate %r FPFastMathMode None"));
}

#[test]
fn runs_know_the_flags() {
    let rounding = "32-bit rounding: to nearest even";
    let subnormals = "32-bit subnormals: flushed, as NVIDIA does unless RoundingModeRTE is declared";
    let special = "32-bit infinities, NaNs and signs of zeros: as IEEE 754 has them";
    let contraction = "products and sums without NoContraction: rounded apart, or as --contract says";
    let unused = "FPFastMathMode: nothing made use of";
    assert_eq!(picked(&shader("", "", FMA)), [special, rounding, subnormals]);
    assert_eq!(picked(&shader(NONE, "", FMA)), [rounding, subnormals]);
    assert_eq!(picked(&shader(NONE, "", BOTH)), [rounding, subnormals]);
    assert_eq!(picked(&shader(NAN, "", FMA)), [rounding, subnormals, unused]);
    assert_eq!(picked(&shader(CONTRACT, "", BOTH)), [rounding, subnormals, unused, contraction]);
    assert_eq!(picked(&shader("", "OpDecorate %r FPFastMathMode None", FMA)), [rounding, subnormals]);
}

/// The OpenCL SPIR-V Environment, OpenCL Numerical Compliance, Rounding Modes.
#[test]
fn kernels_round_to_nearest_even() {
    let fused = ["%r = OpFmaKHR %f32 %a %a %a", "%r = OpExtInst %f32 %set fma %a %a %a"];
    for body in fused {
        let text = module("Kernel", "", "", body);
        let rounding = |environment| {
            let all = notes(
                &text.replace("FloatControls2", "Float16").replace("float_controls2", "float_controls"),
                environment,
            );
            all.into_iter().find(|at| at.code == "SPV0064").map(|at| at.message)
        };
        assert_eq!([rounding("spv1.6"), rounding("opencl2.2"), rounding("opencl1.2")], [None, None, None], "{body}");
        let embedded = rounding("opencl2.2embedded").expect("an open choice");
        assert!(embedded.ends_with("left open: to nearest even or toward zero"), "{embedded}");
        assert!(picked(&text).iter().all(|open| !open.contains("rounding")), "{body}");
    }
    let half = module("Kernel", "", "", "%r = OpFmaKHR %f16 %h %h %h");
    let found = notes(&half, "spv1.6").into_iter().find(|at| at.code == "SPV0064").expect("an open choice");
    assert!(found.message.ends_with("left open: to nearest even or toward zero"), "{}", found.message);
}

/// SPIR-V 1.6, 3.20 Decoration: each once, but attributes of parameters and linkage.
#[test]
fn decorations_stand_once() {
    let errors = |decorations: &str| -> Vec<String> {
        let text = shader("", decorations, FMA).replace("%none =", "%block = OpTypeStruct %f32\n%none =");
        let findings = check_text(&text, Environment::UNIVERSAL).into_iter();
        findings.filter(|at| at.severity == Severity::Error).map(|at| format!("{} {}", at.code, at.message)).collect()
    };
    assert_eq!(
        errors("OpDecorate %r RelaxedPrecision\nOpDecorate %r RelaxedPrecision"),
        ["SPV0055 %r is decorated RelaxedPrecision a second time"]
    );
    assert_eq!(
        errors("OpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 0 Offset 4"),
        ["SPV0055 member 0 of %block is decorated Offset a second time"]
    );
    assert!(errors("OpDecorate %r RelaxedPrecision\nOpDecorate %r NoContraction").is_empty());
    assert!(errors("OpDecorate %g RelaxedPrecision\n%g = OpDecorationGroup\nOpGroupDecorate %g %r\nOpDecorate %r RelaxedPrecision").is_empty());
}
