//! Instructions that compute nothing never stop a run or a check, and pointers that are declared ahead of their type.

use roundonce_isa::{Finding, Severity};
use roundonce_spirv::{Settings, assemble, assemble_module, check_text, disassemble, lower};

const SETS: &str = include_str!("../../../vectors/edge/spirv/non-semantic.spvasm");

/// The entry point's operations as a run lowers them.
fn lowered(text: &str) -> Result<String, Vec<Finding>> {
    let module = assemble_module(text, None)?;
    let lowered = lower(&module, Some(text), &Settings::default())?;
    let instructions = lowered.program.kernels[0].blocks.iter().flat_map(|block| &block.instructions);
    Ok(instructions.map(|at| format!("{:?}\n", at.op)).collect())
}

fn errors(text: &str, environment: &str) -> Vec<String> {
    let findings = check_text(text, environment.parse().expect("an environment"));
    let errors = findings.into_iter().filter(|at| at.severity == Severity::Error);
    errors.map(|at| format!("{} {}", at.code, at.message)).collect()
}

#[test]
fn sets_that_compute_nothing_are_checked_and_run() {
    assert!(errors(SETS, "spv1.6").is_empty(), "{:?}", errors(SETS, "spv1.6"));
    lowered(SETS).expect("a run");
}

/// SPV_KHR_non_semantic_info: a consumer may ignore such an instruction, whatever its operands are.
#[test]
fn operands_of_what_computes_nothing_are_not_judged_by_a_run() {
    for operands in ["", " %unit", " %unit %unit", " %unit %unit %unit %unit"] {
        let text = SETS.replace("DebugScope %unit", &format!("!23{}", operands.replace("%unit", "%13")));
        assert_ne!(text, SETS);
        lowered(&text).unwrap_or_else(|findings| panic!("{operands}: {findings:?}"));
    }
}

#[test]
fn names_and_numbers_are_kept() {
    let words = assemble(SETS).expect("a module");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let printed = disassemble(&bytes).expect("a module");
    assert_eq!(assemble(&printed).as_ref(), Ok(&words));
    for written in ["DebugScope %13", "%3 Kernel ", "%2 35 ", "%4 1 ", "%5 1\n", "%6 4294967295", "%6 9 "] {
        assert!(printed.contains(&format!(" {written}")), "{written} in\n{printed}");
    }
    // Names that SPIRV-Tools do not know are read.
    let named = SETS.replace("%print 1", "%print DebugPrintf").replace("%break 1", "%break DebugBreak");
    assert_eq!(assemble(&named), Ok(words));
}

/// A variable that debugging information mentions stays in registers.
#[test]
fn debugging_information_changes_no_program() {
    let text = |debug: &str| {
        format!(
            "OpCapability Shader\nOpExtension \"SPV_KHR_non_semantic_info\"
%debug = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\nOpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid
%procedure = OpTypeFunction %void\n%f32 = OpTypeFloat 32\n%one = OpConstant %f32 1\n%to_f32 = OpTypePointer Function %f32
%none = OpExtInst %void %debug DebugInfoNone\n%expression = OpExtInst %void %debug DebugExpression
%main = OpFunction %void None %procedure\n%start = OpLabel\n%v = OpVariable %to_f32 Function
{debug}OpStore %v %one\n%r = OpLoad %f32 %v\nOpReturn\nOpFunctionEnd\n"
        )
    };
    let declared = text("%d = OpExtInst %void %debug DebugDeclare %none %v %expression\n");
    assert_eq!(lowered(&declared), lowered(&text("")));
    assert!(errors(&declared, "spv1.6").is_empty());
}

const AHEAD: &str = "OpCapability Shader
OpCapability PhysicalStorageBufferAddresses
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint GLCompute %main \"main\" %constants
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %node Block
OpMemberDecorate %node 0 Offset 0
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpTypeForwardPointer %to_node PhysicalStorageBuffer
%void = OpTypeVoid
%block = OpTypeStruct %to_node
%to_block = OpTypePointer PushConstant %block
%to_pointer = OpTypePointer PushConstant %to_node
%node = OpTypeStruct %to_node
%to_node = OpTypePointer PhysicalStorageBuffer %node
%constants = OpVariable %to_block PushConstant
%procedure = OpTypeFunction %void
%main = OpFunction %void None %procedure
%start = OpLabel
OpReturn
OpFunctionEnd
";

/// SPIR-V 1.6, 3.49.6 OpTypeForwardPointer.
#[test]
fn pointer_types_declared_ahead() {
    assert!(errors(AHEAD, "vulkan1.3").is_empty(), "{:?}", errors(AHEAD, "vulkan1.3"));
    lowered(AHEAD).expect("a run");
    // Without it a type comes after what it is made of.
    let ahead = "OpTypeForwardPointer %to_node PhysicalStorageBuffer\n";
    assert_eq!(
        errors(&AHEAD.replace(ahead, ""), "spv1.6"),
        [
            "SPV0012 OpTypeStruct: operand %to_node is defined only further on",
            "SPV0012 OpTypePointer: operand %to_node is defined only further on",
            "SPV0012 OpTypeStruct: operand %to_node is defined only further on"
        ]
    );
    let named = |line: &str| errors(&AHEAD.replace(ahead, &(line.to_owned() + "\n")), "spv1.6");
    let wrong_class = "SPV0030 OpTypeForwardPointer: the storage class is not that of the pointer type %to_node";
    assert!(named("OpTypeForwardPointer %to_node Uniform").contains(&wrong_class.to_owned()));
    let no_pointer = "SPV0030 OpTypeForwardPointer: %void is no pointer type";
    assert!(named("OpTypeForwardPointer %void Uniform").contains(&no_pointer.to_owned()));
    // VUID-StandaloneSpirv-OpTypeForwardPointer-04711.
    let workgroup =
        AHEAD.replace("PhysicalStorageBuffer\n", "Workgroup\n").replace("PhysicalStorageBuffer %", "Workgroup %");
    let only_physical = "SPV0030 OpTypeForwardPointer: the storage class is PhysicalStorageBuffer in vulkan1.3";
    assert_eq!(errors(&workgroup, "vulkan1.3"), [only_physical]);
    assert!(errors(&workgroup, "spv1.6").is_empty());
}

/// What a described function returns is a type, or void: as spirv-val 2025.5 has it.
#[test]
fn a_described_function_returns_a_type() {
    let found = |returns: &str| {
        let text = format!(
            "OpCapability Kernel\nOpCapability Addresses\nOpCapability Linkage\n%set = OpExtInstImport \"OpenCL.DebugInfo.100\"
OpMemoryModel Physical64 OpenCL\n%name = OpString \"int\"\n%void = OpTypeVoid\n%u32 = OpTypeInt 32 0\n%size = OpConstant %u32 32
%none = OpExtInst %void %set DebugInfoNone\n%int = OpExtInst %void %set DebugTypeBasic %name %size 4
%function = OpExtInst %void %set DebugTypeFunction 0 {returns}"
        );
        errors(&text, "opencl2.2")
    };
    assert_eq!([found("%void"), found("%int")], [Vec::<String>::new(), Vec::new()]);
    let [error] = &found("%none")[..] else { panic!("{:?}", found("%none")) };
    assert!(error.contains("%none is no type"), "{error}");
}
