//! Where instructions of a binary are said to stand: in its disassembly, and in the source that its debug lines name.

use roundonce_ir::SourceLoc;
use roundonce_spirv::{Module, Settings, assemble, assemble_module, disassemble_module, lower};

/// A shader that carries its source, as `glslangValidator -g` writes it.
const SHADER: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1
%file = OpString \"a.comp\"
OpSource GLSL 450 %file \"#version 450
void main() {
}
\"
OpName %y \"y\"\nOpDecorate %y DescriptorSet 0\nOpDecorate %y Binding 0
OpMemberDecorate %block 0 Offset 0\nOpDecorate %block Block
%void = OpTypeVoid\n%procedure = OpTypeFunction %void\n%float = OpTypeFloat 32\n%int = OpTypeInt 32 0
%zero = OpConstant %int 0\n%one = OpConstant %float 1\n%block = OpTypeStruct %float
%to_block = OpTypePointer StorageBuffer %block\n%to_float = OpTypePointer StorageBuffer %float
%y = OpVariable %to_block StorageBuffer\n%main = OpFunction %void None %procedure\n%start = OpLabel
%at = OpAccessChain %to_float %y %zero\n%old = OpLoad %float %at
%new = OpFAdd %float %old %one\nOpStore %at %new\nOpReturn\nOpFunctionEnd\n";

/// The binary's disassembly, and the places of the instructions that a run of it names.
fn places(text: &str) -> (String, Vec<SourceLoc>) {
    let module = Module::from_words(assemble(text).expect("a module")).expect("a module");
    let lowered = lower(&module, None, &Settings::default()).unwrap_or_else(|findings| panic!("{findings:?}"));
    let kernel = lowered.program.kernels.into_iter().next().expect("a kernel");
    let of = |instruction: &roundonce_ir::Instruction| kernel.source_locs[instruction.loc as usize].clone();
    (disassemble_module(&module), kernel.blocks.iter().flat_map(|block| &block.instructions).map(of).collect())
}

/// The source of an instruction by its opcode.
fn source(text: &str, opcode: &str) -> String {
    let (_, places) = places(text);
    let place = places.iter().find(|place| place.text.contains(opcode));
    place.unwrap_or_else(|| panic!("{opcode} in {places:?}")).source.clone()
}

/// OpLine holds up to the next, OpNoLine or the end of the block; a binary's places say it, and so do a text's.
#[test]
fn debug_lines_name_the_source() {
    let text = SHADER.replace("a.comp\"", "shaders/a.comp\"").replace("%at =", "OpLine %file 7 3\n%at =");
    let text = text.replace("%new =", "OpLine %file 8 1\n%new =").replace("OpStore", "OpNoLine\nOpStore");
    assert_eq!(source(&text, "OpLoad"), "a.comp:7:3");
    assert_eq!(source(&text, "OpFAdd"), "a.comp:8:1");
    assert_eq!(source(&text, "OpStore"), "");
    let branch = "OpLine %file 8 1\n%new =";
    let text =
        text.replace(branch, &format!("OpBranch %next\n%next = OpLabel\n{}", branch.split_once('\n').unwrap().1));
    assert_eq!(source(&text, "OpLoad"), "a.comp:7:3");
    assert_eq!(source(&text, "OpFAdd"), "");
    let module = assemble_module(&text, None).expect("a module");
    let kernel = &lower(&module, Some(&text), &Settings::default()).expect("a kernel").program.kernels[0];
    assert!(kernel.source_locs.iter().any(|place| place.source == "a.comp:7:3"), "{:?}", kernel.source_locs);
}

#[test]
fn a_string_of_several_lines_moves_no_place() {
    let (text, places) = places(SHADER);
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    for opcode in ["OpLoad", "OpFAdd", "OpStore"] {
        let place = places.iter().find(|place| place.text.contains(opcode));
        let place = place.unwrap_or_else(|| panic!("{opcode} in {places:?}"));
        assert_eq!(lines[place.line as usize - 1], place.text, "{opcode}\n{text}");
    }
}
