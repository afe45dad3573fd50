//! What cannot be run is reported with its location before anything runs; so is what is malformed.

use roundonce_isa::{Location, line_column};
use roundonce_spirv::{Settings, assemble_module, lower};

/// A module whose entry point holds `body`, with more declarations before it and functions after it.
fn module(globals: &str, body: &str, functions: &str) -> String {
    format!(
        "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"\nOpEntryPoint Fragment %main \"shade\"
OpExecutionMode %main LocalSize 1 1 1\nOpExecutionMode %main OriginUpperLeft
OpDecorate %many DescriptorSet 0\nOpDecorate %many Binding 3\nOpDecorate %vertex BuiltIn VertexIndex
%void = OpTypeVoid\n%procedure = OpTypeFunction %void\n%bool = OpTypeBool\n%u32 = OpTypeInt 32 0
%f32 = OpTypeFloat 32\n%v3 = OpTypeVector %f32 3\n%one = OpConstant %u32 1\n%float = OpConstant %f32 1
%big = OpConstant %u32 5000\n%huge = OpTypeArray %f32 %big\n%to_huge = OpTypePointer Function %huge
%to_f32 = OpTypePointer Function %f32\n%in = OpTypePointer Input %u32\n%vector = OpConstantNull %v3
{globals}\n%main = OpFunction %void None %procedure\n%start = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n{functions}"
    )
}

type Row = (&'static str, &'static str, &'static str, &'static str);

/// Declarations, body, functions; then `line-of-the-body: message` or `0: message`.
#[rustfmt::skip] // A case a line.
const ROWS: &[Row] = &[
    ("", "%r = OpFAdd %f32 %float %float\n%s = OpDPdx %f32 %r", "", "2 SPV0100 OpDPdx cannot be run"),
    ("%cube = OpTypeImage %f32 Cube 0 0 0 1 Unknown\n%to_cube = OpTypePointer UniformConstant %cube\n%many = OpVariable %to_cube UniformConstant", "%r = OpLoad %cube %many", "", "-2 SPV0100 0.3: a descriptor of an OpTypeImage cannot be run"),
    ("%packed = OpTypeImage %f32 2D 0 0 0 2 Rgb10A2\n%to_packed = OpTypePointer UniformConstant %packed\n%many = OpVariable %to_packed UniformConstant", "%r = OpLoad %packed %many", "", "-2 SPV0100 0.3: a descriptor of an OpTypeImage cannot be run"),
    ("%flat = OpTypeImage %f32 2D 0 0 0 1 Unknown\n%both = OpTypeSampledImage %flat\n%v4 = OpTypeVector %f32 4\n%to_both = OpTypePointer UniformConstant %both\n%many = OpVariable %to_both UniformConstant", "%r = OpLoad %both %many\n%s = OpImageSampleImplicitLod %v4 %r %vector", "", "2 SPV0100 OpImageSampleImplicitLod cannot be run"),
    ("%flat = OpTypeImage %f32 2D 0 0 0 2 Unknown\n%v4 = OpTypeVector %f32 4\n%to_flat = OpTypePointer UniformConstant %flat\n%many = OpVariable %to_flat UniformConstant", "%r = OpLoad %flat %many\n%s = OpImageRead %v4 %r %one", "", "2 SPV0101 OpImageRead: 1 coordinates of a 2-D image"),
    ("", "%s = OpImage %f32 %float", "", "1 SPV0101 OpImage: %float is no image"),
    ("%sampler = OpTypeSampler\n%flat = OpTypeImage %f32 2D 0 0 0 1 Unknown\n%both = OpTypeSampledImage %flat\n%to_flat = OpTypePointer UniformConstant %flat\n%many = OpVariable %to_flat UniformConstant", "%r = OpLoad %flat %many\n%s = OpSampledImage %both %r %one", "", "2 SPV0101 OpSampledImage: %one is no sampler"),
    ("", "%r = OpExtInst %f32 %glsl InterpolateAtCentroid %float", "", "1 SPV0100 OpExtInst GLSL.std.450 InterpolateAtCentroid cannot be run"),
    ("", "OpControlBarrier %one %one %one", "", "1 SPV0100 OpControlBarrier of a scope beyond the workgroup cannot be run"),
    ("", "%r = OpFunctionCall %void %again", "%again = OpFunction %void None %procedure\n%a = OpLabel\n%s = OpFunctionCall %void %again\nOpReturn\nOpFunctionEnd", "6 SPV0100 OpFunctionCall %again, which calls itself, cannot be run"),
    ("", "%r = OpFunctionCall %void %nowhere", "%nowhere = OpFunction %void None %procedure\nOpFunctionEnd", "1 SPV0100 OpFunctionCall %nowhere without a body cannot be run"),
    ("", "%p = OpVariable %to_huge Function\n%r = OpLoad %huge %p", "", "2 SPV0100 OpLoad of an array of f32 as a whole cannot be run"),
    ("", "%p = OpVariable %to_huge Function\n%r = OpLoad %huge %p\n%s = OpCopyObject %huge %r\nOpStore %p %s", "", "2 SPV0100 OpLoad of an array of f32 as a whole cannot be run"),
    ("%blocks = OpTypeArray %v3 %big\n%to_many = OpTypePointer StorageBuffer %blocks\n%many = OpVariable %to_many StorageBuffer", "%r = OpCopyObject %to_many %many", "", "-2 SPV0100 0.3: a descriptor of an array of v3f32 cannot be run"),
    ("%vertex = OpVariable %in Input", "%r = OpLoad %u32 %vertex", "", "-2 SPV0100 BuiltIn VertexIndex cannot be run"),
    ("%odd = OpConstant %f32 2\n%ratio = OpSpecConstantOp %f32 FAdd %odd %odd", "%r = OpFAdd %f32 %ratio %odd", "", "1 SPV0100 OpSpecConstantOp of OpFAdd %ratio cannot be run"),
    ("", "%r = OpFAdd %f32 %float %later", "", "1 SPV0101 OpFAdd: %later has no value here"),
    ("", "%r = OpFAdd %f32 %float %one", "", "1 SPV0101 OpFAdd: %one is of type u32, which does not fit the Result Type"),
    ("", "%r = OpCompositeExtract %f32 %vector 3", "", "1 SPV0101 OpCompositeExtract: the indices lead outside the composite"),
    ("", "OpStore %float %float", "", "1 SPV0101 OpStore: %float is no pointer"),
    ("", "OpBranch %next\n%next = OpLabel\n%r = OpPhi %f32 %float %main", "", "3 SPV0101 OpPhi: there is no value for the way from %start"),
    ("", "OpBranch %float", "", "1 SPV0101 OpBranch: %float is no block of this function"),
];

#[test]
fn each_is_named_with_its_place() {
    for (globals, body, functions, expected) in ROWS {
        let text = module(globals, body, functions);
        let read = assemble_module(&text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
        let findings = lower(&read, Some(&text), &Settings { entry: Some("main".to_owned()), ..Settings::default() });
        let findings = findings.expect_err(body);
        let start = line_column(&text, text.find("%start = OpLabel").unwrap()).0 as i64;
        let reported: Vec<String> = findings
            .iter()
            .map(|finding| {
                let Location::Span { start: at, .. } = finding.location else { panic!("{finding:?}") };
                format!("{} {} {}", line_column(&text, at).0 as i64 - start, finding.code, finding.message)
            })
            .collect();
        assert_eq!(reported, [*expected], "{body}");
    }
}

#[test]
fn several_are_told_at_once() {
    let text = module("", "%r = OpDPdx %f32 %float\n%s = OpFAdd %f32 %r %float\n%t = OpDPdx %f32 %s", "");
    let read = assemble_module(&text, None).unwrap();
    let settings = Settings { entry: Some("main".to_owned()), ..Settings::default() };
    let findings = lower(&read, None, &settings).unwrap_err();
    assert_eq!(findings.len(), 2, "{findings:?}");
}

#[test]
fn the_launch_must_fit() {
    let text = module("", "", "");
    let read = assemble_module(&text, None).unwrap();
    let reported = |settings: Settings| lower(&read, Some(&text), &settings).unwrap_err()[0].message.clone();
    let entry = |name: &str| Settings { entry: Some(name.to_owned()), ..Settings::default() };
    assert_eq!(reported(entry("other")), "there is no entry point `other`: expected one of main");
    assert_eq!(reported(entry("shade")), "OpEntryPoint Fragment \"shade\" cannot be run: expected GLCompute or Kernel");
    let spec = Settings { spec: [(3, 1)].into(), ..entry("main") };
    assert_eq!(reported(spec), "the module has no specialisation constant 3: it has none");
}

#[test]
fn what_grows_without_end_is_refused() {
    // Each function calls the next one twice.
    let functions: String = (0..40)
        .map(|at| {
            let call = |name| format!("%{name}{at} = OpFunctionCall %void %f{}\n", at + 1);
            let calls = if at < 39 { call("a") + &call("b") } else { String::new() };
            format!("%f{at} = OpFunction %void None %procedure\n%l{at} = OpLabel\n{calls}OpReturn\nOpFunctionEnd\n")
        })
        .collect();
    let text = module("", "%r = OpFunctionCall %void %f0", &functions);
    let read = assemble_module(&text, None).unwrap();
    let settings = Settings { entry: Some("main".to_owned()), ..Settings::default() };
    let findings = lower(&read, Some(&text), &settings).unwrap_err();
    assert!(findings.len() == 1 && findings[0].message.contains("operations and blocks"), "{findings:?}");
}

/// Declared a second time a type could contain itself; nested without end it could have no end of empty parts.
#[test]
fn types_that_contain_themselves_are_no_types() {
    let reported = |globals: &str, body: &str| {
        let text = module(globals, body, "");
        let read = assemble_module(&text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
        let settings = Settings { entry: Some("main".to_owned()), ..Settings::default() };
        lower(&read, Some(&text), &settings).map(|_| ()).map_err(|findings| findings[0].message.clone())
    };
    let twice = "%inner = OpTypeStruct %f32\n%outer = OpTypeArray %inner %one\n%inner = OpTypeStruct %outer";
    assert_eq!(reported(twice, "%r = OpUndef %outer"), Ok(()));
    let forward = "OpTypeForwardPointer %own PhysicalStorageBuffer\n%own = OpTypeStruct %own %f32";
    assert_eq!(reported(forward, "%r = OpUndef %own"), Ok(()));
    let nothing: String = (0..200).map(|at| format!("%n{} = OpTypeStruct %n{at} %n{at}\n", at + 1)).collect();
    assert_eq!(reported(&format!("%n0 = OpTypeStruct\n{nothing}"), "%r = OpUndef %n200"), Ok(()));
}

/// A workgroup without invocations: by what says its size, with the place.
#[test]
fn workgroups_of_nothing() {
    let mode = "OpExecutionMode %main LocalSize 1 1 1";
    let by_id = "OpExecutionModeId %main LocalSizeId %one %size %one";
    let built_in = "OpDecorate %group BuiltIn WorkgroupSize";
    let size = "OpDecorate %size SpecId 7";
    let reported = |replaced: &str, globals: &str, spec: Option<(u32, u64)>| {
        let text = module(globals, "", "").replace(mode, replaced);
        let read = assemble_module(&text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
        let entry = Some("main".to_owned());
        let settings = Settings { entry, spec: spec.into_iter().collect(), ..Settings::default() };
        let lowered = lower(&read, Some(&text), &settings);
        lowered.map(|lowered| lowered.program.kernels[0].required_block).map_err(|findings| {
            let Location::Span { start, end } = findings[0].location else { panic!("{findings:?}") };
            (text[start..end].to_owned(), findings[0].message.clone())
        })
    };
    let declared = "%size = OpSpecConstant %u32 2\n%v3u = OpTypeVector %u32 3\n%group = OpSpecConstantComposite %v3u %one %one %size";
    let wrong = |said_by: &str, size: &str| format!("{said_by} of {size} invocations: expected 1 to 2^32 - 1 of each");
    for (replaced, said_by, given, none) in [
        (format!("{by_id}\n{size}"), "LocalSizeId", [1, 2, 1], "1 × 0 × 1"),
        (format!("{mode}\n{built_in}\n{size}"), "BuiltIn WorkgroupSize", [1, 1, 2], "1 × 1 × 0"),
    ] {
        assert_eq!(reported(&replaced, declared, None), Ok(Some(given)), "{replaced}");
        let (place, message) = reported(&replaced, declared, Some((7, 0))).unwrap_err();
        assert_eq!(message, wrong(said_by, none));
        assert!(replaced.contains(&place) && place.contains(said_by.trim_start_matches("BuiltIn ")), "{place}");
    }
    let (_, message) = reported("OpExecutionMode %main LocalSize 4 1 0", "", None).unwrap_err();
    assert_eq!(message, wrong("LocalSize", "4 × 1 × 0"));
}
