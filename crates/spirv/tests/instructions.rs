//! One instruction at a time: operands out of buffers, the result into one. The expected bits are worked out by hand.

use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_spirv::{Assume, Settings, assemble_module, lower};

/// Declarations that every module has: types by short names.
const TYPES: &str = "%void = OpTypeVoid\n%procedure = OpTypeFunction %void\n%bool = OpTypeBool
%i8 = OpTypeInt 8 1\n%u8 = OpTypeInt 8 0\n%i16 = OpTypeInt 16 1\n%u16 = OpTypeInt 16 0\n%i32 = OpTypeInt 32 1
%u32 = OpTypeInt 32 0\n%i64 = OpTypeInt 64 1\n%u64 = OpTypeInt 64 0\n%f16 = OpTypeFloat 16\n%f32 = OpTypeFloat 32
%f64 = OpTypeFloat 64\n%bool2 = OpTypeVector %bool 2\n%f16x2 = OpTypeVector %f16 2\n%f32x2 = OpTypeVector %f32 2
%f32x3 = OpTypeVector %f32 3\n%f32x4 = OpTypeVector %f32 4\n%u8x8 = OpTypeVector %u8 8\n%u8x4 = OpTypeVector %u8 4\n%u16x2 = OpTypeVector %u16 2\n%u32x2 = OpTypeVector %u32 2
%i32x2 = OpTypeVector %i32 2\n%m2 = OpTypeMatrix %f32x2 2\n%pair = OpTypeStruct %u32 %u32\n%fi = OpTypeStruct %f32 %i32
%ff = OpTypeStruct %f32 %f32\n%zero = OpConstant %u32 0\n%one = OpConstant %u32 1\n%five = OpConstant %u32 5
%minus = OpConstant %i32 -1\n%scope = OpConstant %u32 2\n%none = OpConstant %u32 0
%true = OpConstantTrue %bool\n%false = OpConstantFalse %bool\n%four = OpConstant %u32 4
%table = OpTypeArray %f32 %four\n%to_table = OpTypePointer Function %table\n%to_cell = OpTypePointer Function %f32
%cells = OpTypeStruct %table %u32\n%to_cells = OpTypePointer Function %cells";

/// Bytes of a short name's type.
fn bytes(ty: &str) -> usize {
    let (scalar, count) = ty.split_once('x').unwrap_or((ty, "1"));
    scalar[1..].parse::<usize>().unwrap() / 8 * count.parse::<usize>().unwrap()
}

/// Runs `body`, whose operands are %a, %b, %c of the given types and whose result is %r of type `to`. Its decorations and
/// execution modes are put where they belong.
fn run(body: &str, operands: &[(&str, u128)], to: &str) -> u128 {
    let said = |line: &&str| ["OpDecorate", "OpExecutionMode"].iter().any(|op| line.starts_with(op));
    let (said, body): (Vec<&str>, Vec<&str>) = body.lines().partition(said);
    let [said, body] = [said, body].map(|lines| lines.join("\n"));
    let names = ["a", "b", "c"];
    let (mut decorations, mut variables, mut loads) = (String::new(), String::new(), String::new());
    let all: Vec<(&str, &str)> = names.into_iter().zip(operands.iter().map(|(ty, _)| *ty)).chain([("r", to)]).collect();
    for (at, (name, ty)) in all.iter().enumerate() {
        decorations += &format!(
            "OpDecorate %v_{name} DescriptorSet 0\nOpDecorate %v_{name} Binding {at}
OpMemberDecorate %s_{name} 0 Offset 0\nOpDecorate %s_{name} Block\n"
        );
        variables += &format!(
            "%s_{name} = OpTypeStruct %{ty}\n%ps_{name} = OpTypePointer StorageBuffer %s_{name}
%p_{name} = OpTypePointer StorageBuffer %{ty}\n%v_{name} = OpVariable %ps_{name} StorageBuffer\n"
        );
        loads += &format!("%at_{name} = OpAccessChain %p_{name} %v_{name} %zero\n");
        if *name != "r" {
            loads += &format!("%{name} = OpLoad %{ty} %at_{name}\n");
        }
    }
    let text = format!(
        "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\n%cl = OpExtInstImport \"OpenCL.std\"
OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1
{said}\n{decorations}{TYPES}\n{variables}%main = OpFunction %void None %procedure\n%start = OpLabel
%table_at = OpVariable %to_table Function\n%cells_at = OpVariable %to_cells Function\n%cell_at = OpVariable %to_cell Function
{loads}{body}\nOpStore %at_r %r\nOpReturn\nOpFunctionEnd\n"
    );
    let module = assemble_module(&text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
    let lowered = lower(&module, Some(&text), &Settings { assume: Assume::Strict, ..Settings::default() })
        .unwrap_or_else(|findings| panic!("{findings:?}\n{body}"));
    let kernel = &lowered.program.kernels[0];
    let args: Vec<Arg> = kernel
        .params
        .iter()
        .map(|param| match param.name.strip_prefix("0.").and_then(|at| at.parse::<usize>().ok()) {
            Some(at) if at < operands.len() => {
                let (ty, bits) = operands[at];
                Arg::Buffer(Buffer::from_bytes(&bits.to_le_bytes()[..bytes(ty)]))
            }
            _ => Arg::Buffer(Buffer::zeros(bytes(to))),
        })
        .collect();
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid: [1; 3],
        block: [1; 3],
        args,
        dynamic_shared: 0,
        options: Options { engine: Engine::Native, ..Options::default() },
    };
    let report = launch.run().unwrap_or_else(|error| panic!("{error}\n{body}"));
    let result = report.buffers.last().unwrap().as_ref().unwrap().to_bytes();
    result.iter().rev().fold(0, |all, &byte| all << 8 | u128::from(byte))
}

type Row = (&'static str, &'static [(&'static str, u128)], &'static str, u128);

#[rustfmt::skip] // A case a line.
const ROWS: &[Row] = &[
    // Floats beside the multiply-add: −7.5 and 2.
    ("%r = OpFRem %f32 %a %b",   &[("f32", 0xc0f0_0000), ("f32", 0x4000_0000)], "f32", 0xbfc0_0000),
    ("%r = OpFMod %f32 %a %b",   &[("f32", 0xc0f0_0000), ("f32", 0x4000_0000)], "f32", 0x3f00_0000),
    ("%r = OpFMod %f32 %a %b",   &[("f32", 0x40f0_0000), ("f32", 0xc000_0000)], "f32", 0xbf00_0000),
    ("%r = OpFMod %f32 %a %b",   &[("f32", 0x40c0_0000), ("f32", 0xc000_0000)], "f32", 0x8000_0000),
    ("OpExecutionMode %main DenormFlushToZero 32\n%r = OpFMod %f32 %a %b", &[("f32", 0x0089_0000), ("f32", 0x8088_0000)], "f32", 0x8087_0000),
    ("OpExecutionMode %main DenormFlushToZero 32\n%r = OpFMod %f32 %a %b", &[("f32", 0x0089_0000), ("f32", 0x0088_0000)], "f32", 0),
    ("%r = OpFDiv %f16 %a %b",   &[("f16", 0x3c00), ("f16", 0x4200)],           "f16", 0x3555),
    ("%r = OpFNegate %f64 %a",   &[("f64", 0x3ff0_0000_0000_0000)],             "f64", 0xbff0_0000_0000_0000),
    ("%r = OpDot %f32 %a %b",    &[("f32x2", 0x4040_0000_3f80_0000), ("f32x2", 0x4080_0000_4000_0000)], "f32", 0x4160_0000),
    ("%r = OpVectorTimesScalar %f32x2 %a %b", &[("f32x2", 0x4040_0000_3f80_0000), ("f32", 0x4000_0000)], "f32x2", 0x40c0_0000_4000_0000),
    // Comparisons and classes, as numbers by a selection.
    ("%p = OpFUnordLessThan %bool %a %b\n%r = OpSelect %u32 %p %one %five", &[("f32", 0x7fc0_0000), ("f32", 0)], "u32", 1),
    ("%p = OpFOrdLessThan %bool %a %b\n%r = OpSelect %u32 %p %one %five",   &[("f32", 0x7fc0_0000), ("f32", 0)], "u32", 5),
    ("%p = OpLessOrGreater %bool %a %b\n%r = OpSelect %u32 %p %one %five",  &[("f32", 0x3f80_0000), ("f32", 0)], "u32", 1),
    ("%p = OpOrdered %bool %a %a\n%r = OpSelect %u32 %p %one %five",        &[("f64", 0x7ff8_0000_0000_0000)], "u32", 5),
    ("%p = OpIsInf %bool %a\n%r = OpSelect %u32 %p %one %five",             &[("f16", 0xfc00)], "u32", 1),
    ("%p = OpIsNormal %bool %a\n%r = OpSelect %u32 %p %one %five",          &[("f32", 0x0040_0000)], "u32", 5),
    ("%p = OpSignBitSet %bool %a\n%r = OpSelect %u32 %p %one %five",        &[("f32", 0x8000_0000)], "u32", 1),
    // Integers of every width; a sign that only an extension shows.
    ("%r = OpSMod %i8 %a %b",    &[("i8", 0xf9), ("i8", 0x03)],                 "i8",  0x02),
    ("%r = OpSRem %i8 %a %b",    &[("i8", 0xf9), ("i8", 0x03)],                 "i8",  0xff),
    ("%r = OpSDiv %i8 %a %b",    &[("i8", 0x80), ("i8", 0x02)],                 "i8",  0xc0),
    ("%r = OpIMul %u8 %a %b",    &[("u8", 0xff), ("u8", 0xff)],                 "u8",  0x01),
    ("%r = OpShiftRightArithmetic %i8 %a %b", &[("i8", 0x84), ("u32", 2)],      "i8",  0xe1),
    ("%r = OpShiftRightLogical %u8 %a %b",    &[("u8", 0x84), ("u64", 2)],      "u8",  0x21),
    ("%r = OpShiftLeftLogical %u16 %a %b",    &[("u16", 0x8421), ("u8", 4)],    "u16", 0x4210),
    ("%r = OpSMod %i64 %a %b",   &[("i64", 0xffff_ffff_ffff_fff9), ("i64", 3)], "i64", 2),
    ("%p = OpSLessThan %bool %a %b\n%r = OpSelect %u32 %p %one %five", &[("i8", 0x80), ("i8", 0x7f)], "u32", 1),
    ("%p = OpULessThan %bool %a %b\n%r = OpSelect %u32 %p %one %five", &[("u8", 0x80), ("u8", 0x7f)], "u32", 5),
    ("%r = OpBitReverse %u8 %a", &[("u8", 0x13)],                               "u8",  0xc8),
    ("%r = OpBitCount %u32 %a",  &[("u32", 0xf00f_0001)],                       "u32", 9),
    ("%r = OpBitFieldInsert %u32 %a %b %four %five", &[("u32", 0xffff_ffff), ("u32", 0x05)], "u32", 0xffff_fe5f),
    ("%r = OpBitFieldSExtract %i32 %a %four %five",  &[("i32", 0x0000_0150)],   "i32", 0xffff_fff5),
    ("%s = OpUMulExtended %pair %a %b\n%r = OpCompositeExtract %u32 %s 1", &[("u32", 0xffff_ffff), ("u32", 0xffff_ffff)], "u32", 0xffff_fffe),
    ("%s = OpIAddCarry %pair %a %b\n%r = OpCompositeExtract %u32 %s 1",    &[("u32", 0xffff_ffff), ("u32", 1)], "u32", 1),
    ("%s = OpISubBorrow %pair %a %b\n%r = OpCompositeExtract %u32 %s 1",   &[("u32", 0), ("u32", 1)], "u32", 1),
    // Bools.
    ("%p = OpFOrdLessThan %bool2 %a %b\n%q = OpAny %bool %p\n%s = OpAll %bool %p\n%t = OpLogicalNotEqual %bool %q %s\n%r = OpSelect %u32 %t %one %five",
     &[("f32x2", 0x3f80_0000_0000_0000), ("f32x2", 0x3f80_0000_3f80_0000)], "u32", 1),
    ("%p = OpLogicalEqual %bool %true %false\n%q = OpLogicalNot %bool %p\n%r = OpSelect %u32 %q %a %five", &[("u32", 9)], "u32", 9),
    // Conversions: saturated, rounded, extended, quantised.
    ("%r = OpConvertFToS %i8 %a",  &[("f32", 0xc320_0000)],                     "i8",  0x80),
    ("%r = OpConvertFToU %u16 %a", &[("f64", 0x40ef_ffef_0000_0000)],           "u16", 0xffff),
    ("%r = OpConvertSToF %f16 %a", &[("i8", 0xfe)],                             "f16", 0xc000),
    ("%r = OpConvertUToF %f32 %a", &[("u64", 0xffff_ffff_ffff_ffff)],           "f32", 0x5f80_0000),
    ("%r = OpSConvert %i64 %a",    &[("i8", 0x81)],                             "i64", 0xffff_ffff_ffff_ff81),
    ("%r = OpUConvert %u8 %a",     &[("u64", 0x1234_5678)],                     "u8",  0x78),
    ("%r = OpFConvert %f16 %a",    &[("f64", 0x3ff0_0100_0000_0001)],           "f16", 0x3c00),
    ("%r = OpFConvert %f64 %a",    &[("f16", 0x0001)],                          "f64", 0x3e70_0000_0000_0000),
    ("%r = OpQuantizeToF16 %f32 %a", &[("f32", 0x3f80_1fff)],                   "f32", 0x3f80_2000),
    ("%r = OpQuantizeToF16 %f32 %a", &[("f32", 0xc77f_f000)],                   "f32", 0xff80_0000),
    ("%r = OpQuantizeToF16 %f32 %a", &[("f32", 0x3880_0000)],                   "f32", 0x3880_0000),
    ("%r = OpQuantizeToF16 %f32 %a", &[("f32", 0x387f_ffff)],                   "f32", 0),
    ("%r = OpQuantizeToF16 %f32 %a", &[("f32", 0xb727_c5ac)],                   "f32", 0x8000_0000),
    ("OpDecorate %r SaturatedConversion\n%r = OpConvertFToU %u8 %a",  &[("f64", 0x7ff8_0000_0000_0000)], "u8",  0),
    ("OpDecorate %r SaturatedConversion\n%r = OpConvertFToS %i32 %a", &[("f64", 0xfff8_0000_0000_0000)], "i32", 0),
    ("OpDecorate %r SaturatedConversion\n%r = OpConvertFToU %u64 %a", &[("f32", 0x7fc0_0000)],           "u64", 0),
    ("OpDecorate %r SaturatedConversion\n%r = OpConvertFToS %i64 %a", &[("f16", 0x7e00)],                "i64", 0),
    ("OpDecorate %r SaturatedConversion\n%r = OpConvertFToS %i64 %a", &[("f32", 0xff80_0000)],           "i64", 0x8000_0000_0000_0000),
    ("OpDecorate %r SaturatedConversion\n%r = OpSConvert %i8 %a",     &[("i32", 0xffff_fed4)],           "i8",  0x80),
    ("OpDecorate %r SaturatedConversion\n%r = OpSConvert %i16 %a",    &[("i64", 0x1_0000)],              "i16", 0x7fff),
    ("OpDecorate %r SaturatedConversion\n%r = OpUConvert %u8 %a",     &[("u32", 0x0000_012c)],           "u8",  0xff),
    ("%r = OpSatConvertSToU %u16 %a", &[("i16", 0x8000)],                       "u16", 0),
    ("%r = OpBitcast %u64 %a",     &[("u8x8", 0x0807_0605_0403_0201)],          "u64", 0x0807_0605_0403_0201),
    ("%r = OpBitcast %u8x4 %a",    &[("u16x2", 0x4433_2211)],                   "u8x4", 0x4433_2211),
    ("%r = OpBitcast %f32x2 %a",   &[("u64", 0x3f80_0000_4000_0000)],           "f32x2", 0x3f80_0000_4000_0000),
    // Composites.
    ("%r = OpVectorShuffle %f32x3 %a %b 3 0 1", &[("f32x2", 0x2_0000_0001), ("f32x2", 0x4_0000_0003)], "f32x3", 0x2_0000_0001_0000_0004),
    ("%r = OpVectorExtractDynamic %f32 %a %b",  &[("f32x3", 0x3_0000_0002_0000_0001), ("u32", 2)], "f32", 3),
    ("%r = OpVectorInsertDynamic %f32x2 %a %b %c", &[("f32x2", 0x2_0000_0001), ("f32", 7), ("u64", 1)], "f32x2", 0x7_0000_0001),
    ("%m = OpCompositeConstruct %m2 %a %b\n%t = OpTranspose %m2 %m\n%r = OpCompositeExtract %f32x2 %t 1",
     &[("f32x2", 0x2_0000_0001), ("f32x2", 0x4_0000_0003)], "f32x2", 0x4_0000_0002),
    ("%m = OpOuterProduct %m2 %a %b\n%n = OpMatrixTimesMatrix %m2 %m %m\n%r = OpCompositeExtract %f32x2 %n 1",
     &[("f32x2", 0x4000_0000_3f80_0000), ("f32x2", 0x4080_0000_4040_0000)], "f32x2", 0x42b0_0000_4230_0000),
    ("%m = OpCompositeConstruct %m2 %a %b\n%n = OpMatrixTimesScalar %m2 %m %c\n%r = OpCompositeExtract %f32x2 %n 1",
     &[("f32x2", 0), ("f32x2", 0x4000_0000_3f80_0000), ("f32", 0x4000_0000)], "f32x2", 0x4080_0000_4000_0000),
    ("%s = OpCompositeConstruct %pair %a %b\n%t = OpCompositeInsert %pair %five %s 0\n%u = OpSelect %pair %true %t %s\n%v = OpCompositeExtract %u32 %u 0\n%w = OpCompositeExtract %u32 %u 1\n%r = OpIAdd %u32 %v %w",
     &[("u32", 1), ("u32", 10)], "u32", 15),
    // A variable with an address, one in registers, and a copy between memories.
    ("%t = OpCompositeConstruct %table %a %b %a %b\nOpStore %table_at %t\n%p = OpAccessChain %to_cell %table_at %c\n%r = OpLoad %f32 %p",
     &[("f32", 11), ("f32", 22), ("u32", 3)], "f32", 22),
    ("%t = OpCompositeConstruct %table %a %b %a %b\n%s = OpCompositeConstruct %cells %t %five\nOpStore %cells_at %s\n%p = OpAccessChain %to_cell %cells_at %zero %one\nOpCopyMemory %cell_at %p\n%r = OpLoad %f32 %cell_at",
     &[("f32", 11), ("f32", 22)], "f32", 22),
    // Atomics: what was there, and what is there then.
    ("%o = OpAtomicISub %u32 %at_a %one %none %five\n%n = OpAtomicLoad %u32 %at_a %one %none\n%r = OpISub %u32 %o %n", &[("u32", 3)], "u32", 5),
    ("%o = OpAtomicIDecrement %u32 %at_a %one %none\n%r = OpAtomicIIncrement %u32 %at_a %one %none", &[("u32", 0)], "u32", 0xffff_ffff),
    ("%o = OpAtomicCompareExchange %u32 %at_a %one %none %none %five %one\n%r = OpAtomicExchange %u32 %at_a %one %none %zero", &[("u32", 1)], "u32", 5),
    ("%o = OpAtomicSMin %i32 %at_a %one %none %minus\n%r = OpAtomicUMax %u32 %at_b %one %none %five", &[("i32", 1), ("u32", 7)], "u32", 7),
    ("%o = OpAtomicFAddEXT %f32 %at_a %one %none %b\n%r = OpAtomicExchange %f32 %at_a %one %none %b", &[("f32", 0x3f80_0000), ("f32", 0x4000_0000)], "f32", 0x4040_0000),
    ("OpAtomicStore %at_a %one %none %five\n%r = OpAtomicXor %u32 %at_a %one %none %one", &[("u32", 0)], "u32", 5),
    // GLSL.std.450 beyond the shader of tests/shaders.
    ("%r = OpExtInst %f32 %glsl FMix %a %b %c",  &[("f32", 0x3f80_0000), ("f32", 0x4040_0000), ("f32", 0x3e80_0000)], "f32", 0x3fc0_0000),
    ("%r = OpExtInst %f32 %glsl Step %a %b",     &[("f32", 0x3f80_0000), ("f32", 0x3f7f_ffff)], "f32", 0),
    ("%r = OpExtInst %f32 %glsl SmoothStep %a %b %c", &[("f32", 0), ("f32", 0x4000_0000), ("f32", 0x3f00_0000)], "f32", 0x3e20_0000),
    ("%r = OpExtInst %f32 %glsl Length %a",      &[("f32x2", 0x4080_0000_4040_0000)], "f32", 0x40a0_0000),
    ("%r = OpExtInst %f32 %glsl Distance %a %b", &[("f32x2", 0x4080_0000_4040_0000), ("f32x2", 0)], "f32", 0x40a0_0000),
    ("%r = OpExtInst %f32x3 %glsl Cross %a %b",  &[("f32x3", 0x3f80_0000), ("f32x3", 0x3f80_0000_0000_0000)], "f32x3", 0x3f80_0000_0000_0000_0000_0000),
    ("%r = OpExtInst %f32x2 %glsl Normalize %a", &[("f32x2", 0x4000_0000_0000_0000)], "f32x2", 0x3f80_0000_0000_0000),
    ("%r = OpExtInst %f32x2 %glsl Reflect %a %b", &[("f32x2", 0xbf80_0000_3f80_0000), ("f32x2", 0x3f80_0000_0000_0000)], "f32x2", 0x3f80_0000_3f80_0000),
    ("%r = OpExtInst %f32x2 %glsl FaceForward %a %a %a", &[("f32x2", 0x3f80_0000)], "f32x2", 0x8000_0000_bf80_0000),
    ("%r = OpExtInst %f32 %glsl Degrees %a",     &[("f32", 0x3f80_0000)], "f32", 0x4265_2ee1),
    ("%v = OpVectorShuffle %f32x4 %a %b 0 1 2 3\n%r = OpExtInst %u32 %glsl PackSnorm4x8 %v", &[("f32x2", 0xbf80_0000_3f80_0000), ("f32x2", 0xc000_0000_3f00_0000)], "u32", 0x8140_817f),
    ("%r = OpExtInst %u32 %glsl PackUnorm2x16 %a", &[("f32x2", 0x3f80_0000_3f00_0000)], "u32", 0xffff_8000),
    ("%r = OpExtInst %f32x2 %glsl UnpackSnorm2x16 %a", &[("u32", 0x7fff_8000)], "f32x2", 0x3f80_0000_bf80_0000),
    ("%r = OpExtInst %f64 %glsl PackDouble2x32 %a", &[("u32x2", 0x3ff0_0000_0000_0001)], "f64", 0x3ff0_0000_0000_0001),
    ("%s = OpExtInst %fi %glsl FrexpStruct %a\n%e = OpCompositeExtract %i32 %s 1\n%r = OpConvertSToF %f32 %e", &[("f32", 0x0000_0001)], "f32", 0xc314_0000),
    ("%s = OpExtInst %ff %glsl ModfStruct %a\n%r = OpCompositeExtract %f32 %s 0", &[("f32", 0xff80_0000)], "f32", 0x8000_0000),
    ("%r = OpExtInst %f32 %glsl Ldexp %a %b",    &[("f32", 0x3f80_0000), ("i64", 0xffff_ffff_0000_0000)], "f32", 0),
    ("%r = OpExtInst %f32 %glsl Ldexp %a %b",    &[("f32", 0x3f80_0000), ("i64", 0x0000_0001_0000_0000)], "f32", 0x7f80_0000),
    ("%r = OpExtInst %f32 %glsl Ldexp %a %b",    &[("f32", 0x3f80_0000), ("i64", 0xffff_ffff_ffff_ffff)], "f32", 0x3f00_0000),
    ("%r = OpExtInst %i32 %glsl FindSMsb %a",    &[("i32", 0xffff_fff0)], "i32", 3),
    ("%r = OpExtInst %i32 %glsl SSign %a",       &[("i32", 0xffff_fff0)], "i32", 0xffff_ffff),
    ("%r = OpExtInst %f32 %glsl NMax %a %b",     &[("f32", 0x7fc0_0000), ("f32", 0xbf80_0000)], "f32", 0xbf80_0000),
    ("%r = OpExtInst %f64 %glsl Fma %a %a %b",   &[("f64", 0x3ff0_0000_0000_0001), ("f64", 0xbff0_0000_0000_0002)], "f64", 0x3970_0000_0000_0000),
    // OpenCL.std.
    ("%r = OpExtInst %f32 %cl round %a",         &[("f32", 0xbf00_0000)], "f32", 0xbf80_0000),
    ("%r = OpExtInst %f32 %cl round %a",         &[("f32", 0x3eff_ffff)], "f32", 0),
    ("%r = OpExtInst %f32 %cl tanpi %a",         &[("f32", 0xbe80_0000)], "f32", 0xbf80_0000),
    ("%r = OpExtInst %f32 %cl acospi %a",        &[("f32", 0xbf80_0000)], "f32", 0x3f80_0000),
    ("%r = OpExtInst %f32 %cl asinpi %a",        &[("f32", 0xbf80_0000)], "f32", 0xbf00_0000),
    ("%r = OpExtInst %f32 %cl atanpi %a",        &[("f32", 0x3f80_0000)], "f32", 0x3e80_0000),
    ("%r = OpExtInst %f32 %cl atan2pi %a %b",    &[("f32", 0x3f80_0000), ("f32", 0xbf80_0000)], "f32", 0x3f40_0000),
    ("%r = OpExtInst %f32 %cl erfc %a",          &[("f32", 0xff80_0000)], "f32", 0x4000_0000),
    ("%r = OpExtInst %f32 %cl rootn %a %b",      &[("f32", 0xc1d8_0000), ("i32", 3)], "f32", 0xc040_0000),
    ("%r = OpExtInst %f32 %cl rootn %a %b",      &[("f32", 0xbf80_0000), ("i32", 0x0100_0001)], "f32", 0xbf80_0000),
    ("%r = OpExtInst %f32 %cl pown %a %b",       &[("f32", 0x7fc0_0000), ("i32", 0)], "f32", 0x3f80_0000),
    ("%r = OpExtInst %f32 %cl pown %a %b",       &[("f32", 0xbf80_0000), ("i32", 0x0100_0001)], "f32", 0xbf80_0000),
    ("%r = OpExtInst %f32 %cl pown %a %b",       &[("f32", 0x3f80_0001), ("i32", 0x02fa_f081)], "f32", 0x43c1_e522),
    ("%r = OpExtInst %f32 %cl pown %a %b",       &[("f32", 0xc000_0000), ("i32", 0xffff_fffd)], "f32", 0xbe00_0000),
    ("%r = OpExtInst %f16 %cl pown %a %b",       &[("f16", 0xbc00), ("i32", 2049)],   "f16", 0xbc00),
    ("%r = OpExtInst %f16 %cl pown %a %b",       &[("f16", 0x3c00), ("i32", 70001)],  "f16", 0x3c00),
    ("%r = OpExtInst %f16 %cl pown %a %b",       &[("f16", 0xbc00), ("i32", 70001)],  "f16", 0xbc00),
    ("%r = OpExtInst %f64 %cl pown %a %b",       &[("f64", 0xbff0_0000_0000_0000), ("i32", 0x7fff_ffff)], "f64", 0xbff0_0000_0000_0000),
    ("%r = OpExtInst %f32 %cl pow %a %b",        &[("f32", 0x3f80_0000), ("f32", 0x7fc0_0000)], "f32", 0x3f80_0000),
    ("%r = OpExtInst %f32 %cl pow %a %b",        &[("f32", 0x7fc0_0000), ("f32", 0x8000_0000)], "f32", 0x3f80_0000),
    ("%r = OpExtInst %f32 %cl pow %a %b",        &[("f32", 0x7fc0_0000), ("f32", 0x3f80_0000)], "f32", 0x7fff_ffff),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0xc000_0000), ("f32", 0x4040_0000)], "f32", 0x7fff_ffff),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0x8000_0000), ("f32", 0)],           "f32", 0x7fff_ffff),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0x7f80_0000), ("f32", 0x8000_0000)], "f32", 0x7fff_ffff),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0x3f80_0000), ("f32", 0xff80_0000)], "f32", 0x7fff_ffff),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0x7fc0_0000), ("f32", 0)],           "f32", 0x7fff_ffff),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0x3f80_0000), ("f32", 0x7fc0_0000)], "f32", 0x7fff_ffff),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0x8000_0000), ("f32", 0xc040_0000)], "f32", 0x7f80_0000),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0x8000_0000), ("f32", 0x4040_0000)], "f32", 0),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0x4110_0000), ("f32", 0xbf00_0000)], "f32", 0x3eaa_aaab),
    ("%r = OpExtInst %f32 %cl powr %a %b",       &[("f32", 0x4040_0000), ("f32", 0x8000_0000)], "f32", 0x3f80_0000),
    ("%r = OpExtInst %f32 %cl sign %a",          &[("f32", 0x8000_0000)], "f32", 0x8000_0000),
    ("%r = OpExtInst %f32 %cl sign %a",          &[("f32", 0xffc0_0000)], "f32", 0),
    ("%r = OpExtInst %f32 %cl sign %a",          &[("f32", 0x8000_0001)], "f32", 0xbf80_0000),
    ("%r = OpExtInst %f32 %cl rint %a",          &[("f32", 0x4020_0000)], "f32", 0x4000_0000),
    ("%r = OpExtInst %f32 %cl mad %a %a %b",     &[("f32", 0x3f80_0001), ("f32", 0xbf80_0002)], "f32", 0x2880_0000),
    ("%r = OpExtInst %f32 %cl copysign %a %b",   &[("f32", 0x3f80_0000), ("f32", 0x8000_0000)], "f32", 0xbf80_0000),
    ("%r = OpExtInst %f32 %cl fmod %a %b",       &[("f32", 0xc0f0_0000), ("f32", 0x4000_0000)], "f32", 0xbfc0_0000),
    ("%r = OpExtInst %f32 %cl ldexp %a %minus",  &[("f32", 0x0000_0003)], "f32", 2),
    ("%r = OpExtInst %f64 %cl sqrt %a",          &[("f64", 0x4000_0000_0000_0000)], "f64", 0x3ff6_a09e_667f_3bcd),
    ("%r = OpExtInst %u8 %cl clz %a",            &[("u8", 0x10)], "u8", 3),
    ("%r = OpExtInst %i32 %cl s_clamp %a %minus %b", &[("i32", 0xffff_fff0), ("i32", 5)], "i32", 0xffff_ffff),
];

#[test]
fn each_gives_its_bits() {
    let mut wrong = Vec::new();
    for (body, operands, to, expected) in ROWS {
        let found = run(body, operands, to);
        if found != *expected {
            wrong.push(format!("{body}\n  {found:#x}, not {expected:#x}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
