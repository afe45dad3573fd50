//! A counterpart's text in a kernel, so that its own front end reads it and the engine runs it over many operands.

// Every test binary compiles this file and uses its own part of it.
#![allow(dead_code, unreachable_pub)]

use roundonce::arith::Operation;
use roundonce::exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce::isa::{Variants, Version};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::instruction::Counterpart;

/// The widths in bits of the operands and, last, of the result.
fn widths(operation: &Operation, components: u32) -> Vec<u32> {
    let operands = (0..operation.op.arity()).map(|at| operation.operand_format(at).width() * components);
    operands.chain([operation.format.width() * components]).collect()
}

/// The letters of the operands that an operation takes, and of the result.
fn letters(operation: &Operation) -> Vec<&'static str> {
    operation.op.operands().iter().map(|&operand| ["a", "b", "c"][operand as usize]).chain(["d"]).collect()
}

/// PTX's text as a kernel of arrays. `operation` is the source's, whose operands the text takes.
pub fn ptx_module(counterpart: &Counterpart, operation: &Operation) -> String {
    let gate = counterpart.gate.unwrap();
    let letter = if gate.variants == Variants::All { "" } else { "a" };
    let target = format!("sm_{}{letter}", gate.target.first.max(10));
    // Addresses of 64 bits are those of PTX 2.3 and later.
    let long = gate.target.first >= 20;
    let version = if long { gate.version.first.max(Version(2, 3)) } else { gate.version.first };
    let (letters, widths) = (letters(operation), widths(operation, counterpart.components));
    let params: Vec<String> = letters.iter().map(|letter| format!(".param .u64 p{letter}")).collect();
    let mut text = format!(".version {version}\n.target {target}\n");
    if long {
        text.push_str(".address_size 64\n");
    }
    text.push_str(&format!(".entry k({}) {{\n.reg .u32 %t, %n, %i;\n.reg .u64 %at, %place;\n", params.join(", ")));
    for (letter, width) in letters.iter().zip(&widths) {
        text.push_str(&format!(".reg .b{width} {letter};\n"));
    }
    text.push_str("mov.u32 %t, %tid.x;\nmov.u32 %n, %ctaid.x;\nmad.lo.u32 %i, %n, 128, %t;\n");
    for (at, (letter, width)) in letters.iter().zip(&widths).enumerate() {
        if at + 1 == letters.len() {
            text.push_str(&counterpart.code.join("\n"));
            text.push('\n');
        }
        let address = format!(
            "mul.wide.u32 %at, %i, {};\nld.param.u64 %place, [p{letter}];\nadd.u64 %at, %at, %place;\n",
            width / 8
        );
        text.push_str(&address);
        text.push_str(&match at + 1 == letters.len() {
            true => format!("st.global.b{width} [%at], {letter};\n"),
            false => format!("ld.global.b{width} {letter}, [%at];\n"),
        });
    }
    text.push_str("ret;\n}\n");
    text
}

/// SPIR-V's text as a compute shader of arrays, an element a component.
pub fn spirv_module(counterpart: &Counterpart, operation: &Operation) -> String {
    let (letters, widths, components) = (letters(operation), widths(operation, 1), counterpart.components);
    let part = |starts: &'static [&'static str]| {
        counterpart.around.iter().filter(move |line| starts.iter().any(|start| line.starts_with(start)))
    };
    let mut lines: Vec<String> = vec!["OpCapability Shader".to_owned()];
    lines.extend(part(&["OpCapability"]).cloned());
    let has = |width: u32| widths.contains(&width);
    for (width, line) in
        [(16, "OpCapability Int16"), (16, "OpCapability StorageBuffer16BitAccess"), (64, "OpCapability Int64")]
    {
        lines.extend(has(width).then(|| line.to_owned()));
    }
    lines.extend(part(&["OpExtension"]).cloned());
    lines.push("OpExtension \"SPV_KHR_storage_buffer_storage_class\"".to_owned());
    lines.extend(has(16).then(|| "OpExtension \"SPV_KHR_16bit_storage\"".to_owned()));
    lines.push("OpMemoryModel Logical GLSL450".to_owned());
    lines.push("OpEntryPoint GLCompute %main \"main\" %gid".to_owned());
    lines.push("OpExecutionMode %main LocalSize 128 1 1".to_owned());
    lines.extend(part(&["OpExecutionMode"]).cloned());
    lines.push("OpDecorate %gid BuiltIn GlobalInvocationId".to_owned());
    lines.extend(part(&["OpDecorate"]).cloned());
    let word = |width: u32| match width {
        16 => "ushort",
        32 => "uint",
        _ => "ulong",
    };
    let mut types: Vec<String> = vec!["%uint = OpTypeInt 32 0".to_owned()];
    let mut used: Vec<u32> = widths.clone();
    used.sort_unstable();
    used.dedup();
    types.extend(
        used.iter().filter(|width| **width != 32).map(|width| format!("%{} = OpTypeInt {width} 0", word(*width))),
    );
    let own = counterpart.around.iter().filter(|line| line.starts_with('%') && !line.starts_with("%OpenCL"));
    types.extend(own.filter(|line| !line.starts_with("%uint =")).cloned());
    types.extend((0..components).map(|at| format!("%place_{at} = OpConstant %uint {at}")));
    types.push(format!("%size = OpConstant %uint {components}"));
    types.push("%void = OpTypeVoid\n%fn = OpTypeFunction %void".to_owned());
    types.push(
        "%v3uint = OpTypeVector %uint 3\n%in_v3uint = OpTypePointer Input %v3uint\n%gid = OpVariable %in_v3uint Input"
            .to_owned(),
    );
    for width in &used {
        let word = word(*width);
        lines.push(format!("OpDecorate %array_{word} ArrayStride {}", width / 8));
        lines.push(format!("OpDecorate %block_{word} Block\nOpMemberDecorate %block_{word} 0 Offset 0"));
        types.push(format!(
            "%array_{word} = OpTypeRuntimeArray %{word}\n%block_{word} = OpTypeStruct %array_{word}\n\
             %to_block_{word} = OpTypePointer StorageBuffer %block_{word}\n%to_{word} = OpTypePointer StorageBuffer %{word}"
        ));
    }
    for (at, (letter, width)) in letters.iter().zip(&widths).enumerate() {
        lines.push(format!("OpDecorate %buffer_{letter} DescriptorSet 0\nOpDecorate %buffer_{letter} Binding {at}"));
        types.push(format!("%buffer_{letter} = OpVariable %to_block_{} StorageBuffer", word(*width)));
    }
    types.sort_by_key(|line| usize::from(line.contains("OpVariable") || line.contains("OpConstant")));
    lines.extend(types);
    let scalar = |width: u32| match width {
        16 => "half",
        32 => "float",
        _ => "double",
    };
    // The index is a constant of %uint, `zero` may be a float's.
    lines.push("%first = OpConstant %uint 0".to_owned());
    lines.push("%main = OpFunction %void None %fn\n%entry = OpLabel\n%ids = OpLoad %v3uint %gid".to_owned());
    lines.push("%id = OpCompositeExtract %uint %ids 0\n%start = OpIMul %uint %id %size".to_owned());
    lines.extend((0..components).map(|at| format!("%i{at} = OpIAdd %uint %start %place_{at}")));
    let (operands, result) = (&letters[..letters.len() - 1], widths[widths.len() - 1]);
    for (letter, &width) in operands.iter().zip(&widths) {
        let (word, scalar) = (word(width), scalar(width));
        let name = |at: u32| if components == 1 { format!("%{letter}") } else { format!("%{letter}{at}") };
        for at in 0..components {
            lines.push(format!(
                "%at_{letter}{at} = OpAccessChain %to_{word} %buffer_{letter} %first %i{at}\n\
                 %bits_{letter}{at} = OpLoad %{word} %at_{letter}{at}\n{} = OpBitcast %{scalar} %bits_{letter}{at}",
                name(at)
            ));
        }
        if components > 1 {
            let parts: Vec<String> = (0..components).map(name).collect();
            lines.push(format!("%{letter} = OpCompositeConstruct %v{components}{scalar} {}", parts.join(" ")));
        }
    }
    lines.extend(counterpart.code.iter().cloned());
    for at in 0..components {
        let (word, scalar) = (word(result), scalar(result));
        let name = if components == 1 { "%d".to_owned() } else { format!("%d{at}") };
        if components > 1 {
            lines.push(format!("{name} = OpCompositeExtract %{scalar} %d {at}"));
        }
        lines.push(format!(
            "%bits_d{at} = OpBitcast %{word} {name}\n%at_d{at} = OpAccessChain %to_{word} %buffer_d %first %i{at}\n\
             OpStore %at_d{at} %bits_d{at}"
        ));
    }
    lines.push("OpReturn\nOpFunctionEnd\n".to_owned());
    lines.join("\n")
}

/// Runs a kernel over operands, a triple for each component of each thread; the results in their order.
pub fn run(source: Source<'_>, operation: &Operation, components: u32, triples: &[[u64; 3]]) -> Vec<u64> {
    let ready = match Ready::read(source, &Choice::default()) {
        Ok(ready) => ready,
        Err(refusal) => panic!("{refusal:?}\n{source:?}"),
    };
    let element = |width: u32, bits: u64| bits.to_le_bytes()[..width as usize / 8].to_vec();
    let widths = widths(operation, 1);
    let places = operation.op.operands();
    let mut args: Vec<Arg> = places
        .iter()
        .zip(&widths)
        .map(|(&place, &width)| {
            let bytes: Vec<u8> = triples.iter().flat_map(|triple| element(width, triple[place as usize])).collect();
            Arg::Buffer(Buffer::from_bytes(&bytes))
        })
        .collect();
    let width = widths[widths.len() - 1] as usize / 8;
    args.push(Arg::Buffer(Buffer::zeros(triples.len() * width)));
    let threads = triples.len() as u32 / components;
    assert_eq!(threads % 128, 0);
    let launch = Launch {
        program: &ready.program,
        entry: None,
        grid: [threads / 128, 1, 1],
        block: [128, 1, 1],
        args,
        dynamic_shared: 0,
        options: Options { engine: Engine::Native, ..Options::default() },
    };
    let report = launch.run().unwrap();
    let last = report.buffers.into_iter().flatten().next_back().unwrap();
    let bytes: Vec<u8> = last.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes
        .chunks(width)
        .take(triples.len())
        .map(|chunk| chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
        .collect()
}
