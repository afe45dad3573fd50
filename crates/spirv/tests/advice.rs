//! What is valid and yet reported: the findings that no other validator gives. Each with its code, its level and the
//! words that matter.

use roundonce_isa::{Finding, Location, Severity};
use roundonce_spirv::{Environment, check_text};

const FMA: &str = "OpCapability Shader
OpCapability FMAKHR
OpExtension \"SPV_KHR_fma\"
{import}OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
{decorate}%void = OpTypeVoid
%vf = OpTypeFunction %void
%f = OpTypeFloat 32
%a = OpConstant %f 1.5
%main = OpFunction %void None %vf
%lbl = OpLabel
{body}OpReturn
OpFunctionEnd
";

fn module(import: &str, decorate: &str, body: &str) -> String {
    FMA.replace("{import}", import).replace("{decorate}", decorate).replace("{body}", body)
}

/// The findings with the text each points at.
fn found(text: &str) -> Vec<(Finding, String)> {
    let findings = check_text(text, Environment::UNIVERSAL);
    let pointed = |finding: &Finding| match finding.location {
        Location::Span { start, end } => text[start..end].to_owned(),
        _ => String::new(),
    };
    findings.into_iter().map(|finding| (finding.clone(), pointed(&finding))).collect()
}

fn one(text: &str, code: &str) -> (Finding, String) {
    let all = found(text);
    assert!(all.iter().all(|(finding, _)| finding.severity < Severity::Error), "{all:#?}");
    let mut of_code = all.iter().filter(|(finding, _)| finding.code == code);
    let first = of_code.next().unwrap_or_else(|| panic!("no {code} in {all:#?}"));
    assert!(of_code.next().is_none(), "{code} twice in {all:#?}");
    first.clone()
}

const R: &str = "%r = OpFmaKHR %f %a %a %a\n";

#[test]
fn open_modes_are_named_with_what_closes_them() {
    let open = module("", "", R);
    let (rounding, at) = one(&open, "SPV0064");
    assert_eq!(rounding.severity, Severity::Note);
    assert_eq!(at, "OpEntryPoint GLCompute %main \"main\"");
    assert!(rounding.help.contains("`OpExecutionMode %main RoundingModeRTE 32`"), "{}", rounding.help);
    assert!(one(&open, "SPV0065").0.help.contains("DenormFlushToZero 32"));
    assert!(one(&open, "SPV0066").0.help.contains("SignedZeroInfNanPreserve 32"));
    // Declared for another width it is as open as before; declared for this one it is not.
    for (width, count) in [(16, 3), (32, 0)] {
        let modes = ["RoundingModeRTE", "DenormPreserve", "SignedZeroInfNanPreserve"];
        let capabilities: String = modes.iter().map(|mode| format!("OpCapability {mode}\n")).collect();
        let lines: String = modes.iter().map(|mode| format!("OpExecutionMode %main {mode} {width}\n")).collect();
        let closed = capabilities + &module("", &lines, R);
        let notes =
            found(&closed).iter().filter(|(at, _)| ["SPV0064", "SPV0065", "SPV0066"].contains(&at.code)).count();
        assert_eq!(notes, count, "{closed}");
    }
}

/// What is not fused is rounded too: the operation's operands are those of the witness.
#[test]
fn sums_and_products_leave_modes_open() {
    for body in ["%r = OpFMul %f %a %a\n", "%r = OpFSub %f %a %a\n"] {
        let text = module("", "", body);
        let all = found(&text);
        assert_eq!(
            all.iter().map(|(finding, _)| finding.code).collect::<Vec<_>>(),
            ["SPV0061", "SPV0072", "SPV0072", "SPV0072"]
        );
        let rounding = &all[1].0;
        assert!(rounding.message.contains("the rounding of 32-bit sums and products"), "{}", rounding.message);
        assert_eq!(rounding.open.as_ref().unwrap().inputs, ["Operand 1", "Operand 2"]);
    }
    let (fused, _) = one(&module("", "", &format!("%p = OpFMul %f %a %a\n{R}")), "SPV0064");
    assert_eq!(fused.open.unwrap().inputs.len(), 3);
    let types = "%v = OpTypeVector %f 2\n%main = OpFunction %void";
    let text = module("", "", "%u = OpUndef %v\n%d = OpDot %f %u %u\n").replace("%main = OpFunction %void", types);
    let (sum, at) = one(&text, "SPV0071");
    assert_eq!((sum.severity, at.as_str()), (Severity::Note, "%d = OpDot %f %u %u"));
}

#[test]
fn a_function_that_is_called_counts_for_its_entry_point() {
    let text = module("", "", "%q = OpFunctionCall %void %g\n")
        + "%g = OpFunction %void None %vf\n%l = OpLabel\n%r = OpFmaKHR %f %a %a %a\nOpReturn\nOpFunctionEnd\n";
    one(&text, "SPV0064");
    let uncalled = text.replace("%q = OpFunctionCall %void %g\n", "");
    assert!(found(&uncalled).iter().all(|(finding, _)| finding.code != "SPV0064"));
}

#[test]
fn modes_that_contradict_one_another() {
    let both = "OpExecutionMode %main RoundingModeRTE 32\nOpExecutionMode %main RoundingModeRTZ 32\n";
    let text = "OpCapability RoundingModeRTE\nOpCapability RoundingModeRTZ\n".to_owned() + &module("", both, R);
    let (finding, at) = one(&text, "SPV0068");
    assert_eq!((finding.severity, at.as_str()), (Severity::Warning, "OpExecutionMode %main RoundingModeRTZ 32"));
    one(&text, "SPV0064");
}

/// spirv-val takes it, and it is run as member 0.
#[test]
fn a_member_by_null() {
    let types = "%u = OpTypeInt 32 0\n%none = OpConstantNull %u\n%s = OpTypeStruct %f %u\n\
        %ps = OpTypePointer Function %s\n%pf = OpTypePointer Function %f\n%main = OpFunction %void";
    let body = "%x = OpVariable %ps Function\n%r = OpAccessChain %pf %x %none\n";
    let text = module("", "", body).replace("%main = OpFunction %void", types);
    let (finding, at) = one(&text, "SPV0069");
    assert_eq!((finding.severity, at.as_str()), (Severity::Warning, "%none"));
}

#[test]
fn what_has_no_effect_or_no_use() {
    let (finding, at) = one(&module("", "OpDecorate %r NoContraction\n", R), "SPV0063");
    assert_eq!((finding.severity, at.as_str()), (Severity::Note, "OpDecorate %r NoContraction"));
    let unused = module("", "", "");
    let (finding, at) = one(&unused, "SPV0061");
    assert_eq!((finding.severity, at.as_str()), (Severity::Warning, "OpCapability FMAKHR"));
    let extension_alone = unused.replace("OpCapability FMAKHR\n", "");
    assert_eq!(one(&extension_alone, "SPV0061").0.severity, Severity::Note);
}

#[test]
fn multiply_adds_of_other_sets() {
    let glsl = "%g = OpExtInstImport \"GLSL.std.450\"\n";
    let call = "%s = OpExtInst %f %g Fma %a %a %a\n";
    let (finding, at) = one(&module(glsl, "", &(R.to_owned() + call)), "SPV0062");
    assert_eq!((finding.severity, at.as_str()), (Severity::Note, call.trim_end()));
    let decorated = module(glsl, "OpDecorate %s NoContraction\n", &(R.to_owned() + call));
    assert!(found(&decorated).iter().all(|(finding, _)| finding.code != "SPV0062"));
    let opencl = include_str!("../../../vectors/edge/spirv/opencl-fma.spvasm");
    let deprecated: Vec<Severity> =
        found(opencl).iter().filter(|(at, _)| at.code == "SPV0060").map(|(at, _)| at.severity).collect();
    assert_eq!(deprecated, [Severity::Warning, Severity::Warning]);
    let (finding, _) = one(&opencl.replacen(" fma ", " mad ", 1), "SPV0070");
    assert!(finding.severity == Severity::Note && finding.open.is_some());
}

#[test]
fn a_product_and_a_sum_that_may_be_contracted() {
    let apart = "%p = OpFMul %f %a %a\n%s = OpFAdd %f %a %p\n";
    let (finding, at) = one(&module("", "", &(R.to_owned() + apart)), "SPV0067");
    assert_eq!((finding.severity, at.as_str()), (Severity::Note, "%s = OpFAdd %f %a %p"));
    for decorated in ["%p", "%s"] {
        let kept = module("", &format!("OpDecorate {decorated} NoContraction\n"), &(R.to_owned() + apart));
        assert!(found(&kept).iter().all(|(finding, _)| finding.code != "SPV0067"), "{decorated}");
    }
}

#[test]
fn messages_name_the_operand_and_the_types_found() {
    let said = |types: &str, body: &str| {
        let text = module("", "", body).replace("%a = ", &format!("{types}%a = "));
        let errors: Vec<(Finding, String)> =
            found(&text).into_iter().filter(|(at, _)| at.severity == Severity::Error).collect();
        let [(finding, at)] = errors.as_slice() else { panic!("{errors:#?}") };
        (finding.code, finding.message.clone(), at.clone())
    };
    let types = "%i = OpTypeInt 32 1\n%k = OpConstant %i 3\n%f2 = OpTypeVector %f 2\n%m = OpTypeMatrix %f2 2\n%nm = OpConstantNull %m\n";
    let expect = |code, message: &str, at: &str| (code, message.to_owned(), at.to_owned());
    assert_eq!(
        said(types, "%r = OpFmaKHR %f %a %k %a\n"),
        expect("SPV0041", "OpFmaKHR: Operand 2 %k is of type i32; the Result Type is f32", "%k")
    );
    assert_eq!(
        said(types, "%r = OpFmaKHR %m %nm %nm %nm\n"),
        expect(
            "SPV0040",
            "OpFmaKHR: the Result Type must be a scalar or vector of floating-point type, found a matrix of 2 columns v2f32",
            "%m"
        )
    );
    assert_eq!(
        said("", "%r = OpFmaKHR %f %f %a %a\n"),
        expect("SPV0041", "OpFmaKHR: Operand 1 %f is a type, f32; the Result Type is f32", "%f")
    );
    assert_eq!(
        said("", "%r = OpFmaKHR %f %a %a\n"),
        expect("SPV0002", "OpFmaKHR lacks Operand 3: found `OpReturn`", "%a")
    );
    assert_eq!(
        said("", "%r = OpFmaKHR %f %a %a %q\n"),
        expect("SPV0012", "OpFmaKHR: Operand 3 %q is not defined", "%q")
    );
}
