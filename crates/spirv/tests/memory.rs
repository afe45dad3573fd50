//! Where memory holds what a module accesses: layouts, offsets and alignments that its decorations and operands declare.

use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_spirv::{Settings, assemble_module, lower};

/// What a module's last argument holds after one invocation.
fn run(text: &str, args: Vec<Arg>) -> Vec<u8> {
    run_group(text, args, 1)
}

/// The same after a workgroup.
fn run_group(text: &str, args: Vec<Arg>, invocations: u32) -> Vec<u8> {
    let module = assemble_module(text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
    let lowered = lower(&module, Some(text), &Settings::default()).unwrap_or_else(|it| panic!("{it:?}\n{text}"));
    let (grid, block) = ([1; 3], [invocations, 1, 1]);
    let options = Options { engine: Engine::Native, check_races: invocations > 1, ..Options::default() };
    let launch = Launch { program: &lowered.program, entry: None, grid, block, args, dynamic_shared: 0, options };
    let report = launch.run().unwrap_or_else(|error| panic!("{error}\n{text}"));
    report.buffers.last().unwrap().as_ref().unwrap().to_bytes()
}

/// An OpenCL kernel of two buffers, %x of the type `from` and %y of the type `to`.
fn kernel(declared: &str, [from, to]: [&str; 2], body: &str, x: &[u8], y: usize) -> Vec<u8> {
    let text = format!(
        "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\nOpCapability Int16\nOpCapability Int8
OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %main \"main\"\nOpDecorate %packed CPacked
%void = OpTypeVoid\n%u8 = OpTypeInt 8 0\n%u16 = OpTypeInt 16 0\n%u32 = OpTypeInt 32 0\n%u64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32\n%f32x2 = OpTypeVector %f32 2\n%zero = OpConstant %u32 0\n%one = OpConstant %u32 1
%two = OpConstant %u32 2\n%u8x2 = OpTypeArray %u8 %two\n%packed = OpTypeStruct %u8 %u16 %u8x2
{declared}\n%to_x = OpTypePointer CrossWorkgroup %{from}\n%to_y = OpTypePointer CrossWorkgroup %{to}
%procedure = OpTypeFunction %void %to_x %to_y\n%main = OpFunction %void None %procedure
%x = OpFunctionParameter %to_x\n%y = OpFunctionParameter %to_y\n%start = OpLabel
{body}\nOpReturn\nOpFunctionEnd\n"
    );
    run(&text, vec![Arg::Buffer(Buffer::from_bytes(x)), Arg::Buffer(Buffer::zeros(y))])
}

/// The bytes from 1 on.
fn counted<const N: usize>() -> [u8; N] {
    core::array::from_fn(|at| at as u8 + 1)
}

/// SPIR-V, OpAccessChain and OpPtrAccessChain: indices are treated as signed.
#[test]
fn constant_indices_are_signed() {
    let words: Vec<u8> = [10u32, 11, 12, 13].iter().flat_map(|word| word.to_le_bytes()).collect();
    for minus in ["%u8 255", "%u16 65535", "%u32 4294967295", "%u64 18446744073709551615"] {
        let (ty, value) = minus.split_once(' ').unwrap();
        let declared = format!("%minus = OpConstant {ty} {value}\n%table = OpTypeArray %u32 %two");
        let body = "%p = OpInBoundsPtrAccessChain %to_x %x %two\n%q = OpInBoundsPtrAccessChain %to_x %p %minus
%a = OpLoad %u32 %q Aligned 4\nOpStore %y %a Aligned 4";
        assert_eq!(kernel(&declared, ["u32", "u32"], body, &words, 4), [11, 0, 0, 0], "{minus}");
        let body = "%p = OpInBoundsPtrAccessChain %to_x %x %one\n%q = OpInBoundsPtrAccessChain %to_y %p %zero %minus
%a = OpLoad %u32 %q Aligned 4\nOpStore %y %a Aligned 4";
        assert_eq!(kernel(&declared, ["table", "u32"], body, &words, 4), [11, 0, 0, 0], "{minus}");
    }
}

/// Members of a packed struct lie one behind the other: here at 0, 1 and 3 of 5 bytes.
#[test]
fn packed_structs() {
    let declared = "%to_u16 = OpTypePointer CrossWorkgroup %u16\n%to_packed = OpTypePointer Function %packed";
    let body =
        "%p = OpInBoundsPtrAccessChain %to_u16 %x %one %one\n%a = OpLoad %u16 %p Aligned 1\nOpStore %y %a Aligned 2";
    assert_eq!(kernel(declared, ["packed", "u16"], body, &counted::<10>(), 2), [7, 8]);
    let body = "%v = OpVariable %to_packed Function\n%p = OpInBoundsPtrAccessChain %to_x %x %one
%a = OpLoad %packed %p Aligned 1\nOpStore %v %a Aligned 1\n%b = OpLoad %packed %v Aligned 1\nOpStore %y %b Aligned 1";
    assert_eq!(kernel(declared, ["packed", "packed"], body, &counted::<10>(), 5), [6, 7, 8, 9, 10]);
}

/// A kernel's access takes pieces of the alignment that it declares.
#[test]
fn declared_alignments() {
    for (ty, bytes) in [("u16", 2), ("u32", 4), ("u64", 8), ("f32", 4), ("f32x2", 8)] {
        let declared = format!("%to_value = OpTypePointer CrossWorkgroup %{ty}");
        for (at, aligned) in [(1, 1), (2, 2), (4, 4), (3, 1), (8, 16)] {
            let at_address = format!(
                "%offset = OpConstant %u64 {at}\n%i = OpInBoundsPtrAccessChain %to_x %x %offset
%j = OpInBoundsPtrAccessChain %to_y %y %offset\n%p = OpBitcast %to_value %i\n%q = OpBitcast %to_value %j"
            );
            let (constant, at_address) = at_address.split_once('\n').unwrap();
            let declared = format!("{declared}\n{constant}");
            let mut expected = vec![0; 16];
            expected[at..at + bytes].copy_from_slice(&counted::<16>()[at..at + bytes]);
            for access in [
                format!("%a = OpLoad %{ty} %p Aligned {aligned}\nOpStore %q %a Aligned {aligned}"),
                format!("OpCopyMemory %q %p Aligned {aligned}"),
                format!("OpCopyMemory %q %p Volatile|Aligned {aligned} Aligned {aligned}"),
            ] {
                let body = format!("{at_address}\n{access}");
                let found = kernel(&declared, ["u8", "u8"], &body, &counted::<16>(), 16);
                assert_eq!(found, expected, "{ty} at {at}: {access}");
            }
        }
    }
}

/// Push constants end where their last component does, by the matrix's own layout.
#[test]
fn matrices_in_push_constants() {
    let shader = |layout: &str, bytes: usize| {
        let mut text = format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %floats ArrayStride 4\nOpDecorate %block Block
OpMemberDecorate %block 0 Offset 0\nOpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 0
OpDecorate %push Block\nOpMemberDecorate %push 0 Offset 0\nOpMemberDecorate %push 0 {layout}
OpMemberDecorate %push 0 MatrixStride 16\n%void = OpTypeVoid\n%procedure = OpTypeFunction %void
%u32 = OpTypeInt 32 0\n%f32 = OpTypeFloat 32\n%f32x2 = OpTypeVector %f32 2\n%m2x3 = OpTypeMatrix %f32x2 3
%push = OpTypeStruct %m2x3\n%to_push = OpTypePointer PushConstant %push\n%to_in = OpTypePointer PushConstant %f32
%in = OpVariable %to_push PushConstant\n%floats = OpTypeRuntimeArray %f32\n%block = OpTypeStruct %floats
%to_block = OpTypePointer StorageBuffer %block\n%to_out = OpTypePointer StorageBuffer %f32
%out = OpVariable %to_block StorageBuffer\n"
        );
        for at in 0..6 {
            text += &format!("%c{at} = OpConstant %u32 {at}\n");
        }
        text += "%main = OpFunction %void None %procedure\n%start = OpLabel\n";
        for at in 0..6 {
            text += &format!(
                "%i{at} = OpAccessChain %to_in %in %c0 %c{} %c{}\n%x{at} = OpLoad %f32 %i{at}
%o{at} = OpAccessChain %to_out %out %c0 %c{at}\nOpStore %o{at} %x{at}\n",
                at / 2,
                at % 2
            );
        }
        text += "OpReturn\nOpFunctionEnd\n";
        let words = |bytes: Vec<u8>| bytes.chunks_exact(4).map(|word| word[0]).collect::<Vec<u8>>();
        let push = (0..bytes as u8).map(|at| at / 4).collect();
        words(run(&text, vec![Arg::Bytes(push), Arg::Buffer(Buffer::zeros(24))]))
    };
    // Columns, and rows, four words apart.
    assert_eq!(shader("ColMajor", 40), [0, 1, 4, 5, 8, 9]);
    assert_eq!(shader("RowMajor", 28), [0, 4, 1, 5, 2, 6]);
}

/// An array of row-major matrices: outside of the struct that makes them so its stride has no room for aligned columns.
#[test]
fn arrays_of_row_major_matrices_as_variables() {
    let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 0\nOpDecorate %pair ArrayStride 48
OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 0 RowMajor
OpMemberDecorate %block 0 MatrixStride 16\n%void = OpTypeVoid\n%procedure = OpTypeFunction %void\n%u32 = OpTypeInt 32 0
%f32 = OpTypeFloat 32\n%f32x3 = OpTypeVector %f32 3\n%m3x4 = OpTypeMatrix %f32x3 4\n%two = OpConstant %u32 2
%pair = OpTypeArray %m3x4 %two\n%block = OpTypeStruct %pair\n%to_block = OpTypePointer StorageBuffer %block
%to_pair = OpTypePointer StorageBuffer %pair\n%to_local = OpTypePointer Function %pair\n%to_number = OpTypePointer Function %f32
%b = OpVariable %to_block StorageBuffer\n%0 = OpConstant %u32 0\n%1 = OpConstant %u32 1\n%3 = OpConstant %u32 3
%main = OpFunction %void None %procedure\n%start = OpLabel\n%w = OpVariable %to_local Function
%all = OpAccessChain %to_pair %b %0\n%before = OpLoad %pair %all\nOpStore %w %before
%first = OpAccessChain %to_number %w %0 %3 %1\n%a = OpLoad %f32 %first\n%i = OpConvertFToU %u32 %a
%second = OpAccessChain %to_number %w %i %0 %1\nOpStore %second %a\n%after = OpLoad %pair %w\nOpStore %all %after
OpReturn\nOpFunctionEnd\n";
    // Column 3, row 1 of the first matrix says which matrix gets it in column 0, row 1.
    let at = |matrix: usize, column: usize, row: usize| 12 * matrix + 4 * row + column;
    let mut words: Vec<f32> = (0..24).map(|number| number as f32 + 10.0).collect();
    words[at(0, 3, 1)] = 1.0;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    words[at(1, 0, 1)] = 1.0;
    let wanted: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(run(text, vec![Arg::Buffer(Buffer::from_bytes(&bytes))]), wanted);
}

/// A count of 64 bits is larger than all widths also where its lower half is small.
#[test]
fn shifts_by_long_counts() {
    let shifted = |op: &str, count: u64| {
        let declared = "%long = OpTypePointer CrossWorkgroup %u64";
        let body = format!(
            "%n = OpLoad %u64 %x Aligned 8\n%minus = OpSNegate %u32 %two\n%s = {op} %u32 %minus %n\nOpStore %y %s Aligned 4"
        );
        let bytes = kernel(declared, ["u64", "u32"], &body, &count.to_le_bytes(), 4);
        u32::from_le_bytes(bytes.try_into().unwrap())
    };
    for count in [1u64 << 32, 1 << 63, u64::MAX, 32] {
        assert_eq!(shifted("OpShiftLeftLogical", count), 0, "{count}");
        assert_eq!(shifted("OpShiftRightLogical", count), 0, "{count}");
        assert_eq!(shifted("OpShiftRightArithmetic", count), u32::MAX, "{count}");
    }
    assert_eq!(shifted("OpShiftLeftLogical", 3), 0xffff_fff0);
}

/// A float of a specialisation constant made wider is folded; made narrower it is refused, as is what is made of it, by the operation's name.
#[test]
fn wider_floats_of_specialisation() {
    let shader = |part: &str, value: &str| {
        format!(
            "OpCapability Kernel\nOpCapability Addresses\nOpCapability Float64\nOpCapability Float16\nOpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\"\nOpDecorate %s SpecId 0\n%void = OpTypeVoid\n%bool = OpTypeBool\n%f16 = OpTypeFloat 16\n%f32 = OpTypeFloat 32
%f64 = OpTypeFloat 64\n%s = OpSpecConstant %f32 0.1\n%true = OpConstantTrue %bool
%w = OpSpecConstantOp %{part} FConvert %s\n%t = OpSpecConstantOp %{part} Select %true %w %w
%to = OpTypePointer CrossWorkgroup %{part}\n%procedure = OpTypeFunction %void %to\n%main = OpFunction %void None %procedure
%y = OpFunctionParameter %to\n%start = OpLabel\nOpStore %y {value} Aligned 2\nOpReturn\nOpFunctionEnd\n"
        )
    };
    let bytes = run(&shader("f64", "%t"), vec![Arg::Buffer(Buffer::zeros(8))]);
    assert_eq!(bytes, 0x3fb9_9999_a000_0000u64.to_le_bytes());
    for value in ["%w", "%t"] {
        let text = shader("f16", value);
        let module = assemble_module(&text, None).unwrap();
        let refused = lower(&module, Some(&text), &Settings::default()).unwrap_err();
        assert!(refused[0].message.contains("OpSpecConstantOp of OpFConvert %w"), "{refused:?}");
    }
}

/// `async_work_group_copy` and its strided form, there and back: elements that a stride passes over stay.
#[test]
fn copies_of_a_workgroup() {
    let text = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\nOpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\" %id\nOpDecorate %id BuiltIn LocalInvocationId\nOpDecorate %id Constant
%void = OpTypeVoid\n%u32 = OpTypeInt 32 0\n%u64 = OpTypeInt 64 0\n%v3 = OpTypeVector %u64 3\n%v2 = OpTypeVector %u32 2\n%event = OpTypeEvent
%workgroup = OpConstant %u32 2\n%one = OpConstant %u32 1\n%n = OpConstant %u64 7\n%stride = OpConstant %u64 COUNT
%last = OpConstant %u64 6\n%table = OpTypeArray %v2 %n\n%none = OpConstantNull %event\n%to_id = OpTypePointer Input %v3
%to_table = OpTypePointer Workgroup %table\n%to_local = OpTypePointer Workgroup %v2\n%to_global = OpTypePointer CrossWorkgroup %v2
%to_event = OpTypePointer Function %event\n%zero = OpConstantNull %u64\n%bool = OpTypeBool\n%seq = OpConstant %u32 272
%id = OpVariable %to_id Input\n%held = OpVariable %to_table Workgroup\n%turned = OpVariable %to_table Workgroup
%procedure = OpTypeFunction %void %to_global %to_global\n%main = OpFunction %void None %procedure
%x = OpFunctionParameter %to_global\n%y = OpFunctionParameter %to_global\n%start = OpLabel\n%e = OpVariable %to_event Function
%h = OpInBoundsAccessChain %to_local %held %zero\n%t = OpInBoundsAccessChain %to_local %turned %zero
%first = OpGroupAsyncCopy %event %workgroup %h %x %n %stride %none\nOpStore %e %first\nOpGroupWaitEvents %workgroup %one %e
%ids = OpLoad %v3 %id\n%i = OpCompositeExtract %u64 %ids 0\n%may = OpULessThan %bool %i %n\nOpSelectionMerge %done None
OpBranchConditional %may %turn %done\n%turn = OpLabel\n%j = OpISub %u64 %last %i\n%from = OpInBoundsAccessChain %to_local %held %j
%value = OpLoad %v2 %from Aligned 8\n%to = OpInBoundsAccessChain %to_local %turned %i\nOpStore %to %value Aligned 8\nOpBranch %done
%done = OpLabel\nOpControlBarrier %workgroup %workgroup %seq\n%second = OpGroupAsyncCopy %event %workgroup %y %t %n %stride %first
OpStore %e %second\nOpGroupWaitEvents %workgroup %one %e\nOpReturn\nOpFunctionEnd\n";
    for (stride, invocations) in [(1, 8), (1, 7), (2, 32), (3, 64)] {
        let text = text.replace("COUNT", &stride.to_string());
        let words: Vec<u64> = (0..7 * stride as u64).map(|at| (at << 32) | (at + 100)).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let args = vec![Arg::Buffer(Buffer::from_bytes(&bytes)), Arg::Buffer(Buffer::zeros(bytes.len()))];
        let wanted = (0..7 * stride).map(|at| if at % stride == 0 { words[6 * stride - at] } else { 0 });
        let wanted: Vec<u8> = wanted.flat_map(u64::to_le_bytes).collect();
        assert_eq!(run_group(&text, args, invocations), wanted, "{stride} {invocations}");
    }
}

/// More elements than invocations.
#[test]
fn a_long_copy_of_a_workgroup() {
    let text = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\nOpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\"\n%void = OpTypeVoid\n%u32 = OpTypeInt 32 0\n%u64 = OpTypeInt 64 0\n%event = OpTypeEvent
%workgroup = OpConstant %u32 2\n%one = OpConstant %u32 1\n%n = OpConstant %u64 100\n%unit = OpConstant %u64 1\n%zero = OpConstantNull %u64
%table = OpTypeArray %u32 %n\n%none = OpConstantNull %event\n%to_table = OpTypePointer Workgroup %table
%to_local = OpTypePointer Workgroup %u32\n%to_global = OpTypePointer CrossWorkgroup %u32\n%to_event = OpTypePointer Function %event
%held = OpVariable %to_table Workgroup\n%procedure = OpTypeFunction %void %to_global %to_global\n%main = OpFunction %void None %procedure
%x = OpFunctionParameter %to_global\n%y = OpFunctionParameter %to_global\n%start = OpLabel\n%e = OpVariable %to_event Function
%h = OpInBoundsAccessChain %to_local %held %zero\n%first = OpGroupAsyncCopy %event %workgroup %h %x %n %unit %none\nOpStore %e %first
OpGroupWaitEvents %workgroup %one %e\n%second = OpGroupAsyncCopy %event %workgroup %y %h %n %unit %none\nOpStore %e %second
OpGroupWaitEvents %workgroup %one %e\nOpReturn\nOpFunctionEnd\n";
    let bytes: Vec<u8> = (0..100u32).flat_map(|at| (at * 77).to_le_bytes()).collect();
    for invocations in [1, 6, 33] {
        let args = vec![Arg::Buffer(Buffer::from_bytes(&bytes)), Arg::Buffer(Buffer::zeros(400))];
        assert_eq!(run_group(text, args, invocations), bytes, "{invocations}");
    }
}

/// The same of a subgroup: of two, the second of which may be short, each copies its own part.
#[test]
fn copies_of_a_subgroup() {
    let text = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\nOpCapability SubgroupDispatch\nOpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\" %id\nOpDecorate %id BuiltIn SubgroupId\nOpDecorate %id Constant
%void = OpTypeVoid\n%u32 = OpTypeInt 32 0\n%u64 = OpTypeInt 64 0\n%event = OpTypeEvent\n%subgroup = OpConstant %u32 3
%one = OpConstant %u32 1\n%n = OpConstant %u64 50\n%all = OpConstant %u64 100\n%unit = OpConstant %u64 1\n%table = OpTypeArray %u32 %all
%none = OpConstantNull %event\n%to_table = OpTypePointer Workgroup %table\n%to_id = OpTypePointer Input %u32
%to_local = OpTypePointer Workgroup %u32\n%to_global = OpTypePointer CrossWorkgroup %u32\n%to_event = OpTypePointer Function %event
%held = OpVariable %to_table Workgroup\n%id = OpVariable %to_id Input\n%procedure = OpTypeFunction %void %to_global %to_global
%main = OpFunction %void None %procedure\n%x = OpFunctionParameter %to_global\n%y = OpFunctionParameter %to_global
%start = OpLabel\n%e = OpVariable %to_event Function\n%own = OpLoad %u32 %id\n%wide = OpUConvert %u64 %own\n%at = OpIMul %u64 %wide %n
%h = OpInBoundsAccessChain %to_local %held %at\n%from = OpInBoundsPtrAccessChain %to_global %x %at
%to = OpInBoundsPtrAccessChain %to_global %y %at\n%first = OpGroupAsyncCopy %event %subgroup %h %from %n %unit %none\nOpStore %e %first
OpGroupWaitEvents %subgroup %one %e\n%second = OpGroupAsyncCopy %event %subgroup %to %h %n %unit %none\nOpStore %e %second
OpGroupWaitEvents %subgroup %one %e\nOpReturn\nOpFunctionEnd\n";
    let bytes: Vec<u8> = (0..100u32).flat_map(|at| (at * 77).to_le_bytes()).collect();
    for invocations in [6, 32, 33, 40, 64] {
        let args = vec![Arg::Buffer(Buffer::from_bytes(&bytes)), Arg::Buffer(Buffer::zeros(400))];
        // A part for each subgroup that there is.
        let copied = if invocations > 32 { 400 } else { 200 };
        let wanted = [&bytes[..copied], &vec![0; 400 - copied]].concat();
        assert_eq!(run_group(text, args, invocations), wanted, "{invocations}");
    }
}

/// Of an array of descriptors each has its own length: by a constant and by what an invocation computes. The type says how many there are,
/// or the launch.
#[test]
fn arrays_of_descriptors() {
    let shader = |blocks: &str, chosen: &str| {
        format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %index
OpExecutionMode %main LocalSize 3 1 1\nOpDecorate %index BuiltIn LocalInvocationIndex\nOpDecorate %words ArrayStride 4
OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 1 Offset 4\nOpDecorate %many DescriptorSet 0
OpDecorate %many Binding 0\nOpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 1\n%void = OpTypeVoid\n%procedure = OpTypeFunction %void
%u32 = OpTypeInt 32 0\n%two = OpConstant %u32 2\n%three = OpConstant %u32 3\n%one = OpConstant %u32 1\n%none = OpConstant %u32 0
%words = OpTypeRuntimeArray %u32\n%block = OpTypeStruct %u32 %words\n%blocks = {blocks}
%to_blocks = OpTypePointer StorageBuffer %blocks\n%to_block = OpTypePointer StorageBuffer %block
%to_word = OpTypePointer StorageBuffer %u32\n%in = OpTypePointer Input %u32\n%many = OpVariable %to_blocks StorageBuffer
%out = OpVariable %to_block StorageBuffer\n%index = OpVariable %in Input\n%main = OpFunction %void None %procedure
%start = OpLabel\n%i = OpLoad %u32 %index\n%b = OpAccessChain %to_block %many %i\n%n = OpArrayLength %u32 %b 1
%to = OpAccessChain %to_word %out %one %i\nOpStore %to %n\n%c = OpAccessChain %to_block %many %two\n%m = OpArrayLength %u32 %c 1
%place = OpAccessChain %to_word %many {chosen} %none\n%head = OpLoad %u32 %place\n%sum = OpIMul %u32 %head %m\n%j = OpIAdd %u32 %i %three
%also = OpAccessChain %to_word %out %one %j\nOpStore %also %sum\nOpReturn\nOpFunctionEnd\n"
        )
    };
    let at_run_time = "OpTypeRuntimeArray %block";
    let lowered = |text: &str, count: Option<u32>| {
        let module = assemble_module(text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
        let descriptors = count.map(|count| ((0, 0), count)).into_iter().collect();
        lower(&module, Some(text), &Settings { descriptors, ..Settings::default() })
    };
    let run = |text: &str, count: Option<u32>| {
        let program = lowered(text, count).unwrap_or_else(|it| panic!("{it:?}\n{text}")).program;
        let many = (0..count.unwrap_or(3)).map(|at| [at + 7].into_iter().chain(vec![0; [1, 11, 5, 3][at as usize]]));
        let mut args: Vec<Arg> = many.map(|words| Arg::Buffer(Buffer::from_words(words.collect()))).collect();
        args.push(Arg::Buffer(Buffer::zeros(28)));
        let launch = Launch {
            program: &program,
            entry: None,
            grid: [1; 3],
            block: [3, 1, 1],
            args,
            dynamic_shared: 0,
            options: Options { engine: Engine::Native, ..Options::default() },
        };
        launch.run().map(|report| report.buffers.last().unwrap().as_ref().unwrap().words().to_vec())
    };
    for (blocks, count) in [("OpTypeArray %block %three", None), (at_run_time, Some(3)), (at_run_time, Some(4))] {
        assert_eq!(run(&shader(blocks, "%i"), count).unwrap(), [0, 1, 11, 5, 35, 40, 45], "{blocks}");
    }
    // The fourth of three, and by a constant.
    let error =
        run(&shader(at_run_time, "%next").replace("%place = ", "%next = OpIAdd %u32 %i %one\n%place = "), Some(3));
    assert!(error.unwrap_err().to_string().contains("outside every buffer"));
    let refused = |text: String, count| lowered(&text, count).unwrap_err()[0].message.clone();
    let none = "0.0: a run-time array of descriptors without a buffer cannot be run";
    assert_eq!(refused(shader(at_run_time, "%i"), None), none);
    let fourth = "OpAccessChain: descriptor 3 of 3 that are given cannot be run";
    assert_eq!(refused(shader(at_run_time, "%three"), Some(3)), fourth);
    assert_eq!(refused(shader(at_run_time, "%i"), Some(257)), "0.0: an array of 257 descriptors cannot be run");
}
