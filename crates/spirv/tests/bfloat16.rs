//! Numbers of SPV_KHR_bfloat16: loaded, stored, put together and converted. They have no arithmetic.

use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_spirv::{Settings, assemble_module, lower};

/// A kernel that makes a bfloat16 number of an f32, twice in a vector, and an f32 and an f16 of the first.
fn kernel(decoration: &str, line: &str) -> String {
    format!(
        "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\nOpCapability Float16\nOpCapability BFloat16TypeKHR
OpExtension \"SPV_KHR_bfloat16\"\nOpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %main \"main\"\n{decoration}
%void = OpTypeVoid\n%u64 = OpTypeInt 64 0\n%f32 = OpTypeFloat 32\n%f16 = OpTypeFloat 16\n%bf16 = OpTypeFloat 16 BFloat16KHR
%bf16x2 = OpTypeVector %bf16 2\n%half = OpConstant %bf16 0.5\n%one = OpConstant %u64 1\n%two = OpConstant %u64 2\n%three = OpConstant %u64 3
%to_f32 = OpTypePointer CrossWorkgroup %f32\n%to_bf16 = OpTypePointer CrossWorkgroup %bf16\n%to_bf16x2 = OpTypePointer CrossWorkgroup %bf16x2
%to_f16 = OpTypePointer CrossWorkgroup %f16\n%procedure = OpTypeFunction %void %to_f32 %to_bf16 %to_f32\n%main = OpFunction %void None %procedure
%x = OpFunctionParameter %to_f32\n%y = OpFunctionParameter %to_bf16\n%z = OpFunctionParameter %to_f32\n%start = OpLabel
%a = OpLoad %f32 %x Aligned 4\n%b = OpFConvert %bf16 %a\n%pair = OpCompositeConstruct %bf16x2 %half %b\n%pairs = OpBitcast %to_bf16x2 %y
OpStore %pairs %pair Aligned 4\n%at = OpInBoundsPtrAccessChain %to_bf16 %y %one\n%c = OpLoad %bf16 %at Aligned 2\n%d = OpFConvert %f32 %c
OpStore %z %d Aligned 4\n%e = OpFConvert %f16 %c\n%halves = OpBitcast %to_f16 %y\n%second = OpInBoundsPtrAccessChain %to_f16 %halves %two
OpStore %second %e Aligned 2\n{line}\nOpReturn\nOpFunctionEnd\n"
    )
}

/// The numbers behind y and z.
fn run(text: &str, x: u32) -> ([u16; 3], u32) {
    let module = assemble_module(text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
    let lowered = lower(&module, Some(text), &Settings::default()).unwrap_or_else(|it| panic!("{it:?}\n{text}"));
    let [grid, block] = [[1; 3]; 2];
    let args = vec![
        Arg::Buffer(Buffer::from_bytes(&x.to_le_bytes())),
        Arg::Buffer(Buffer::zeros(8)),
        Arg::Buffer(Buffer::zeros(4)),
    ];
    let options = Options { engine: Engine::Native, ..Options::default() };
    let launch = Launch { program: &lowered.program, entry: None, grid, block, args, dynamic_shared: 0, options };
    let report = launch.run().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let bytes = |at: usize| report.buffers[at].as_ref().unwrap().to_bytes();
    let (y, z) = (bytes(1), bytes(2));
    (
        core::array::from_fn(|at| u16::from_le_bytes([y[2 * at], y[2 * at + 1]])),
        u32::from_le_bytes(z.try_into().unwrap()),
    )
}

/// The upper half of a finite f32, its lower half rounded to nearest even.
fn nearest(x: u32) -> u16 {
    let (upper, lower) = (x >> 16, x & 0xffff);
    (upper + u32::from(lower > 0x8000 || lower == 0x8000 && upper & 1 == 1)) as u16
}

#[test]
fn conversions() {
    let mut x = 0x3f80_0000u32;
    for at in 0..400 {
        // Ties now and then, both ways; subnormals too.
        x = x.wrapping_mul(0x9e37_79b1).wrapping_add(0x1234_5677);
        let x = match at % 4 {
            0 => x & 0xffff_0000 | 0x8000,
            1 => x & 0x807f_ffff,
            _ => x,
        };
        if x & 0x7f80_0000 == 0x7f80_0000 {
            continue;
        }
        let ([half, b, _], widened) = run(&kernel("", ""), x);
        assert_eq!((half, b, widened), (0x3f00, nearest(x), u32::from(nearest(x)) << 16), "{x:#010x}");
    }
    // 1 + 2^-7 is an f16; 2^-25 + 2^-32 lies above the middle of 0 and the least f16, 2^-25 in it; 2^17 is beyond all.
    for (x, f16) in [(0x3f81_0000, 0x3c08), (0x3301_0000, 1), (0x3300_0000, 0), (0x4800_0000, 0x7c00)] {
        assert_eq!(run(&kernel("", ""), x).0[2], f16, "{x:#010x}");
    }
    // A direction of its own.
    let up = kernel("OpDecorate %b FPRoundingMode RTP", "");
    assert_eq!((run(&up, 0x3f80_0001).0[1], run(&up, 0xbf80_ffff).0[1]), (0x3f81, 0xbf80));
}

#[test]
fn arithmetic_is_refused() {
    for (line, op) in [("%f = OpFAdd %bf16 %b %half", "OpFAdd"), ("%g = OpFNegate %bf16 %b", "OpFNegate")] {
        let text = kernel("", line);
        let module = assemble_module(&text, None).unwrap();
        let refused = lower(&module, Some(&text), &Settings::default()).unwrap_err();
        assert!(refused[0].message.starts_with(&format!("{op} of bfloat16")), "{refused:?}");
    }
}
