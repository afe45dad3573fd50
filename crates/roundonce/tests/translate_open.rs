//! What documents leave open of a kernel's bits: a translation says it, and promises no more than it has.

use roundonce::answers::TranslatedModule;
use roundonce::isa::{Finding, Location};
use roundonce::kernel::{Choice, Ready, Refusal, Source};
use roundonce::spirv::{Assume, Environment};
use roundonce::translation::{NoTranslation, Options, STEP_LIMIT, To, Translated, translate};

/// A kernel that stores what instructions make of `f1`.
fn kernel(target: &str, body: &str) -> String {
    format!(
        ".version 7.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b64 d;\n.reg .b32 r<9>;\n\
         .reg .f32 f<9>;\n.reg .f64 g<9>;\nld.param.u64 d, [p];\nmov.u32 r1, %tid.x;\nmad.wide.u32 d, r1, 8, d;\n\
         ld.global.f32 f1, [d];\nld.global.f32 f2, [d+4];\nld.global.f64 g1, [d];\n{body}\nret;\n}}\n"
    )
}

fn translated(source: Source<'_>, to: To, choice: &Choice, options: &Options<'_>) -> Translated {
    translate(source, to, choice, options).unwrap_or_else(|why| panic!("{why:?}\n{source:?}"))
}

fn of_ptx(text: &str, to: To, options: &Options<'_>) -> Translated {
    translated(Source::Ptx(text), to, &Choice::default(), options)
}

/// The codes and messages of what is open of the only kernel.
fn open(translated: &Translated) -> Vec<(&'static str, &str)> {
    let [open] = &translated.translation.open[..] else { panic!("{:?}", translated.translation.open) };
    open.iter().map(|finding| (finding.code, finding.message.as_str())).collect()
}

fn codes(translated: &Translated) -> Vec<&'static str> {
    open(translated).into_iter().map(|(code, _)| code).collect()
}

/// Equal by proof, or in launches that wrote something.
fn holds(translated: &Translated) {
    let [verification] = &translated.verify(8, STEP_LIMIT)[..] else { panic!("one kernel") };
    assert!(verification.holds(), "{verification:?}\n{}", translated.translation.text);
}

#[test]
fn contraction_is_decided_and_said() {
    let text = kernel("sm_80", "mul.f32 f3, f1, f2;\nadd.f32 f3, f3, f1;\nst.global.f32 [d], f3;");
    let fuse = Options { contract: true, ..Options::default() };
    for to in [To::Ptx, To::Spirv] {
        let apart = of_ptx(&text, to, &Options::default());
        let fused = of_ptx(&text, to, &fuse);
        assert_eq!([codes(&apart)[0], codes(&fused)[0]], ["TRN0301"; 2]);
        let fma = if to == To::Ptx { "fma.rn.f32" } else { " fma " };
        assert!(!apart.translation.text.contains(fma) && fused.translation.text.contains(fma), "{apart:?}");
        holds(&apart);
        holds(&fused);
    }
    // Nothing is open where the roundings are written.
    let text = kernel("sm_80", "mul.rn.f32 f3, f1, f2;\nadd.f32 f3, f3, f1;\nst.global.f32 [d], f3;");
    assert_eq!(codes(&of_ptx(&text, To::Ptx, &fuse)), [""; 0]);
}

#[test]
fn approximations_of_another_language_are_named() {
    let text = kernel("sm_80", "sin.approx.f32 f3, f1;\nrsqrt.approx.ftz.f32 f4, f3;\nst.global.f32 [d], f4;");
    assert_eq!(codes(&of_ptx(&text, To::Ptx, &Options::default())), [""; 0]);
    let spirv = of_ptx(&text, To::Spirv, &Options::default());
    let expected = "approximated, so that another machine may give other bits: rsqrt.approx.ftz.f32 is OpenCL.std rsqrt, \
                    sin.approx.f32 is OpenCL.std sin";
    assert_eq!(open(&spirv)[0], ("TRN0302", expected));
    let back = translated(Source::SpirvText(&spirv.translation.text), To::Ptx, &Choice::default(), &Options::default());
    assert_eq!(codes(&back), ["TRN0302"]);
    let again =
        translated(Source::SpirvText(&spirv.translation.text), To::Spirv, &Choice::default(), &Options::default());
    assert_eq!(codes(&again), ["TRN0303"]);
}

#[test]
fn what_execution_modes_do_not_say_is_named() {
    let computed = |body: &str| of_ptx(&kernel("sm_80", body), To::Spirv, &Options::default());
    let flushed = computed("fma.rn.ftz.f32 f3, f1, f2, f1;\nst.global.f32 [d], f3;");
    let [(code, message)] = open(&flushed)[..] else { panic!("{:?}", open(&flushed)) };
    assert_eq!(code, "TRN0303");
    assert!(message.contains("the bits of a NaN") && message.contains("flushes: the sign of a zero"), "{message}");
    let kept = computed("fma.rn.f32 f3, f1, f2, f1;\nst.global.f32 [d], f3;");
    assert_eq!(open(&kept), [("TRN0303", "SPIR-V leaves open the bits of a NaN")]);
    assert_eq!(codes(&computed("add.u32 r2, r1, 1;\nst.global.u32 [d], r2;")), [""; 0]);
}

/// A shader that adds 1, or negates, and stores.
fn shader(operation: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %id\n\
         OpExecutionMode %main LocalSize 64 1 1\nOpDecorate %id BuiltIn LocalInvocationId\nOpDecorate %array ArrayStride 4\n\
         OpDecorate %S BufferBlock\nOpMemberDecorate %S 0 Offset 0\nOpDecorate %y DescriptorSet 0\nOpDecorate %y Binding 0\n\
         %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%uint = OpTypeInt 32 0\n\
         %v3 = OpTypeVector %uint 3\n%ptr_v3 = OpTypePointer Input %v3\n%id = OpVariable %ptr_v3 Input\n\
         %zero = OpConstant %uint 0\n%one = OpConstant %float 1\n%array = OpTypeRuntimeArray %float\n%S = OpTypeStruct %array\n\
         %ptr_S = OpTypePointer Uniform %S\n%ptr_float = OpTypePointer Uniform %float\n%y = OpVariable %ptr_S Uniform\n\
         %main = OpFunction %void None %fn\n%entry = OpLabel\n%ids = OpLoad %v3 %id\n%x = OpCompositeExtract %uint %ids 0\n\
         %at = OpAccessChain %ptr_float %y %zero %x\n%a = OpLoad %float %at\n%result = {operation}\nOpStore %at %result\n\
         OpReturn\nOpFunctionEnd\n"
    )
}

#[test]
fn payloads_of_nans_are_refused_in_ptx() {
    let text = shader("OpFAdd %float %a %one");
    let strict = Choice { assume: Assume::Strict, ..Choice::default() };
    let refused = translate(Source::SpirvText(&text), To::Ptx, &strict, &Options::default()).unwrap_err();
    let NoTranslation::NoCounterpart(findings) = refused else { panic!("{refused:?}") };
    assert_eq!((findings.len(), findings[0].code), (1, "TRN0304"));
    let allow = ["TRN0304".to_owned()];
    let options = Options { allow: &allow, ..Options::default() };
    let accepted = translated(Source::SpirvText(&text), To::Ptx, &strict, &options);
    assert_eq!(accepted.translation.losses.len(), 1);
    // A NaN with a payload is among the first data.
    assert!(accepted.verify(4, STEP_LIMIT)[0].different.is_some());
    // SPIR-V is read as the source is.
    let again = translated(Source::SpirvText(&text), To::Spirv, &strict, &Options::default());
    assert_eq!(again.verify(1, STEP_LIMIT)[0].proof, Ok(()));
    let kept = shader("OpCopyObject %float %a");
    translated(Source::SpirvText(&kept), To::Ptx, &strict, &Options::default());
}

#[test]
fn environments_without_kernels_are_refused() {
    let text = kernel("sm_80", "st.global.u32 [d], r1;");
    let refused = Environment::all().filter(|&environment| {
        let options = Options { environment: Some(environment), ..Options::default() };
        match translate(Source::Ptx(&text), To::Spirv, &Choice::default(), &options) {
            Ok(translated) => {
                let findings = roundonce::spirv::check_text(&translated.translation.text, environment);
                assert!(findings.iter().all(|found| found.severity < roundonce::isa::Severity::Error), "{findings:?}");
                false
            }
            Err(NoTranslation::Unread(Refusal::Usage(problem))) => problem.contains(environment.name()),
            Err(other) => panic!("{other:?}"),
        }
    });
    let refused: Vec<&str> = refused.map(|environment| environment.name()).collect();
    assert!(refused.iter().any(|name| name.starts_with("opengl")) && refused.contains(&"vulkan1.3"), "{refused:?}");
    assert!(refused.contains(&"opencl2.2embedded") && !refused.contains(&"opencl1.2"), "{refused:?}");
}

#[test]
fn the_target_is_the_lowest_with_every_instruction() {
    let header = |target: &str, body: &str| {
        let translated = of_ptx(&kernel(target, body), To::Ptx, &Options::default());
        holds(&translated);
        translated.translation.text.lines().take(2).collect::<Vec<_>>().join(" ")
    };
    let sum = "add.rn.f32 f3, f1, f2;\nst.global.f32 [d], f3;";
    assert_eq!(header("sm_50", sum), ".version 4.3 .target sm_50");
    assert_eq!(header("sm_61", sum), ".version 5.0 .target sm_61");
    assert_eq!(header("sm_90", sum), ".version 7.0 .target sm_80");
    assert_eq!(header("sm_75", "tanh.approx.f32 f3, f1;\nst.global.f32 [d], f3;"), ".version 7.0 .target sm_75");
    assert_eq!(
        header("sm_50", "neg.ftz.f32 f3, f1;\nabs.ftz.f32 f4, f2;\nst.global.v2.f32 [d], {f3, f4};"),
        ".version 4.3 .target sm_50"
    );
    let older = Options { target: Some("sm_60".parse().unwrap()), ..Options::default() };
    for operation in ["OpFNegate %float %a", "OpExtInst %float %set FAbs %a"] {
        let import = "%set = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel";
        let text = shader(operation).replace("OpMemoryModel", import);
        holds(&translated(Source::SpirvText(&text), To::Ptx, &Choice::default(), &older));
    }
    // Of f64 a NaN keeps its payload, and its sign too.
    let text = kernel("sm_80", "neg.f64 g2, g1;\nabs.f64 g3, g1;\nst.global.f64 [d], g2;\nst.global.f64 [d+1024], g3;");
    holds(&of_ptx(&text, To::Ptx, &older));
}

#[test]
fn what_opencl_rounds_is_not_called_open() {
    let open = |operation: &str| {
        let text = format!(
            "OpCapability Kernel\nOpCapability Addresses\nOpCapability Float64\n%cl = OpExtInstImport \"OpenCL.std\"\n\
             OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %k \"k\"\n%void = OpTypeVoid\n%double = OpTypeFloat 64\n\
             %ptr = OpTypePointer CrossWorkgroup %double\n%fn = OpTypeFunction %void %ptr\n%k = OpFunction %void None %fn\n\
             %p = OpFunctionParameter %ptr\n%entry = OpLabel\n%a = OpLoad %double %p Aligned 8\n%r = {operation}\n\
             OpStore %p %r Aligned 8\nOpReturn\nOpFunctionEnd\n"
        );
        let ready = Ready::read(Source::SpirvText(&text), &Choice::default()).unwrap();
        ready.undetermined.iter().any(|what| what.contains("where"))
    };
    for rounded in ["OpFDiv %double %a %a", "OpExtInst %double %cl sqrt %a", "OpExtInst %double %cl fmod %a %a"] {
        assert!(!open(rounded), "{rounded}");
    }
    assert!(!open("OpExtInst %double %cl remainder %a %a"));
    assert!(open("OpExtInst %double %cl native_sqrt %a") && open("OpExtInst %double %cl length %a"));
}

/// What is refused stands in the text, once for each place: `malloc` is more than one atomic, and a function that is called too
/// deep is not one instruction.
#[test]
fn refusals_have_a_place_and_are_said_once() {
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n\
        .extern .func (.param .b64 r) malloc(.param .b64 n);\n\
        .func (.param .b32 r) deep(.param .b32 n)\n{\n.reg .b32 r<4>; .reg .pred p;\n\
        ld.param.u32 r1, [n]; setp.eq.u32 p, r1, 0; @p bra D; add.u32 r1, r1, -1;\n\
        { .param .b32 a; .param .b32 o; st.param.b32 [a], r1; call (o), deep, (a); ld.param.b32 r1, [o]; }\n\
        D: st.param.b32 [r], r1; ret;\n}\n\
        .visible .entry k(.param .u64 y)\n{\n.reg .b64 d<4>; .reg .b32 r<4>;\nld.param.u64 d1, [y];\n\
        { .param .b32 a; .param .b32 o; st.param.b32 [a], 5; call (o), deep, (a); ld.param.b32 r2, [o]; }\n\
        { .param .b64 a; .param .b64 o; st.param.b64 [a], 8; call (o), malloc, (a); ld.param.b64 d2, [o]; }\n\
        st.global.u32 [d1], r2; st.global.u64 [d1+8], d2; ret;\n}\n";
    let refused = translate(Source::Ptx(text), To::Spirv, &Choice::default(), &Options::default());
    let Err(NoTranslation::NoCounterpart(findings)) = refused else { panic!("{refused:?}") };
    let place = |finding: &Finding| match finding.location {
        Location::Span { start, end } => (finding.code, &text[start..end]),
        _ => (finding.code, ""),
    };
    let mut places: Vec<_> = findings.iter().map(place).collect();
    places.sort_unstable();
    assert_eq!(places, [("TRN0001", "call (o), malloc, (a)"), ("TRN0201", "deep")], "{findings:?}");
}

/// A barrier object for 128 arrivals: blocks of 64 threads wait for ever. What stopped the runs is said; where the kernel
/// names its most threads, blocks of as many are run too.
#[test]
fn what_stops_a_verifying_run_is_said() {
    let text = |directive: &str| {
        format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 y) {directive}\n{{\n\
             .reg .b64 d<6>; .reg .b32 r<8>; .reg .pred p;\n.shared .align 8 .b64 m;\n\
             ld.param.u64 d1, [y]; mov.u32 r1, %tid.x; mov.u32 r2, m;\n\
             setp.eq.u32 p, r1, 0; @p mbarrier.init.shared.b64 [r2], 128;\nbar.sync 0;\n\
             mbarrier.arrive.shared.b64 d2, [r2];\nW: mbarrier.test_wait.shared.b64 p, [r2], d2; @!p bra W;\n\
             mul.wide.u32 d3, r1, 4; add.s64 d1, d1, d3; st.global.u32 [d1], r1; ret;\n}}\n"
        )
    };
    let stopped = of_ptx(&text(""), To::Ptx, &Options::default());
    let [verification] = &stopped.verify(1, STEP_LIMIT)[..] else { panic!("one kernel") };
    assert!(!verification.holds() && verification.failed == 1, "{verification:?}");
    let answer = TranslatedModule::new(&stopped, std::slice::from_ref(verification));
    let said = answer.kernels[0].verification.as_ref().unwrap();
    assert_eq!(said.verdict, "nothing-compared");
    let expected = "nothing was compared: 0 runs, 0 bytes written, 1 failed, the first with 1 block of 64 threads: \
        kernel `k`, line 12, `@!p bra W`, block (0, 0, 0) thread (0, 0, 0): the step limit of 16777216 instructions is reached \
        (--step-limit N sets another); not proved for all data: the proof cannot match the operations of the two at line 11";
    assert_eq!(said.reason, expected);
    assert_eq!(said.failure.as_deref().map(|first| first.starts_with("with 1 block of 64 threads: ")), Some(true));
    let error = stopped.verify(1, 5000)[0].failure.as_ref().map(|failure| failure.error.to_string());
    assert!(error.is_some_and(|error| error.ends_with("the step limit of 5000 instructions is reached")));
    for directive in [".maxntid 128", ".reqntid 128"] {
        let waits_for_all = of_ptx(&text(directive), To::Ptx, &Options::default());
        let [verification] = &waits_for_all.verify(4, STEP_LIMIT)[..] else { panic!("one kernel") };
        assert!(verification.holds() && verification.launches >= 2, "{directive}: {verification:?}");
    }
}

/// Kernels with dynamic shared memory get all that a block can have.
#[test]
fn dynamic_shared_memory_reaches_as_far_as_on_any_machine() {
    let text = |last: u32| {
        format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 s[];\n.visible .entry k(.param .u64 y)\n{{\n\
             .reg .b64 d<6>; .reg .b32 r<8>;\n.shared .align 16 .b8 own[1024];\n\
             ld.param.u64 d1, [y]; mov.u32 r1, %tid.x; st.shared.u32 [own], 5; bar.sync 0;\n\
             st.shared.u32 [s+{last}], 3; bar.sync 0; ld.shared.u32 r2, [s+{last}]; ld.shared.u32 r3, [own]; add.u32 r2, r2, r3;\n\
             mul.wide.u32 d3, r1, 4; add.s64 d1, d1, d3; st.global.u32 [d1], r2; ret;\n}}\n"
        )
    };
    for to in [To::Ptx, To::Spirv] {
        let last = (227 << 10) - 1024 - 4;
        let runs = |last: u32| of_ptx(&text(last), to, &Options::default()).verify(2, STEP_LIMIT)[0].launches;
        assert_eq!((runs(last), runs(last + 4)), (2, 0), "{to:?}");
    }
}
