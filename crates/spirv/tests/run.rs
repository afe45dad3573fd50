//! OpFmaKHR run as the conformance suite runs it: every signed triple of special values and random ones, scalars and
//! vectors of two to four, three rounding states by three denormal states. Every result is one that the judge of the
//! legal sets calls legal, and the member that was asked for.

use std::collections::HashMap;

use judge::{Rounded, legal, rounded, special_values};
use roundonce_arith::Rounding;
use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::{Direction, FlushRule, Layout, Shape, Spec, rational};
use roundonce_spirv::{Assume, Denorm, FloatModes, Settings, assemble_module, lower};

mod judge;

/// Invocations of a workgroup.
const GROUP: usize = 64;

/// `result[i] = fma(a[i], b[i], c[i])` over vectors of `count` components.
fn shader(width: u32, count: usize, modes: FloatModes) -> String {
    let mut declared = Vec::new();
    declared.extend(modes.rounding.map(|rounding| match rounding {
        Rounding::TowardZero => "RoundingModeRTZ",
        _ => "RoundingModeRTE",
    }));
    declared.extend(modes.denorm.map(|denorm| match denorm {
        Denorm::Preserve => "DenormPreserve",
        Denorm::FlushToZero => "DenormFlushToZero",
    }));
    declared.extend(modes.preserve_special.then_some("SignedZeroInfNanPreserve"));
    let declared: String = declared.iter().map(|mode| format!("OpExecutionMode %main {mode} {width}\n")).collect();
    let number = match count {
        1 => "%number = OpTypeFloat WIDTH".to_owned(),
        _ => format!("%scalar = OpTypeFloat WIDTH\n%number = OpTypeVector %scalar {count}"),
    };
    let names = ["a", "b", "c", "d"];
    let of_each = |line: &str| -> String {
        let lines = names.iter().enumerate();
        lines.map(|(at, name)| line.replace("NAME", name).replace("AT", &at.to_string()) + "\n").collect()
    };
    let text = format!(
        "OpCapability Shader\nOpCapability Float16\nOpCapability Float64\nOpCapability FMAKHR
OpExtension \"SPV_KHR_fma\"\nOpExtension \"SPV_KHR_float_controls\"\nOpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id\nOpExecutionMode %main LocalSize {GROUP} 1 1\n{declared}
OpDecorate %id BuiltIn GlobalInvocationId
{}OpDecorate %numbers ArrayStride {}\nOpMemberDecorate %block 0 Offset 0\nOpDecorate %block Block
%void = OpTypeVoid\n%procedure = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%uint3 = OpTypeVector %uint 3
{number}\n%numbers = OpTypeRuntimeArray %number\n%block = OpTypeStruct %numbers\n%zero = OpConstant %uint 0
%in = OpTypePointer Input %uint3\n%to_block = OpTypePointer StorageBuffer %block
%to_number = OpTypePointer StorageBuffer %number\n%id = OpVariable %in Input
{}%main = OpFunction %void None %procedure\n%start = OpLabel\n%ids = OpLoad %uint3 %id
%i = OpCompositeExtract %uint %ids 0
{}%va = OpLoad %number %at_a\n%vb = OpLoad %number %at_b\n%vc = OpLoad %number %at_c
%r = OpFmaKHR %number %va %vb %vc\nOpStore %at_d %r\nOpReturn\nOpFunctionEnd\n",
        of_each("OpDecorate %NAME DescriptorSet 0\nOpDecorate %NAME Binding AT"),
        count as u32 * width / 8,
        of_each("%NAME = OpVariable %to_block StorageBuffer"),
        of_each("%at_NAME = OpAccessChain %to_number %NAME %zero %i"),
    );
    text.replace("WIDTH", &width.to_string())
}

/// The results of a shader over the triples, whose number is a multiple of the invocations of a workgroup.
fn run(width: u32, count: usize, modes: FloatModes, assume: Assume, triples: &[[u64; 3]]) -> Vec<u64> {
    let text = shader(width, count, modes);
    let module = assemble_module(&text, None).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
    let settings = Settings { assume, ..Settings::default() };
    let lowered = lower(&module, Some(&text), &settings).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
    let open = [modes.rounding.is_none(), modes.denorm.is_none(), !modes.preserve_special];
    assert_eq!(lowered.undetermined.len(), open.into_iter().filter(|open| *open).count(), "{:?}", lowered.undetermined);
    let bytes = width as usize / 8;
    let buffer = |place: usize| {
        let all: Vec<u8> = triples.iter().flat_map(|triple| triple[place].to_le_bytes()[..bytes].to_vec()).collect();
        Arg::Buffer(Buffer::from_bytes(&all))
    };
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid: [(triples.len() / count / GROUP) as u32, 1, 1],
        block: [GROUP as u32, 1, 1],
        args: vec![buffer(0), buffer(1), buffer(2), Arg::Buffer(Buffer::zeros(triples.len() * bytes))],
        dynamic_shared: 0,
        options: Options { engine: Engine::Native, profile: assume.profile(), ..Options::default() },
    };
    let report = launch.run().unwrap_or_else(|error| panic!("{error}"));
    let results = report.buffers[3].as_ref().unwrap().to_bytes();
    results.chunks_exact(bytes).map(|bits| bits.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))).collect()
}

/// What was asked for: the declared modes, and where they are silent the member that is assumed.
fn wanted(
    layout: Layout,
    modes: FloatModes,
    assume: Assume,
    operands: [u64; 3],
    round: &mut impl FnMut([u64; 3]) -> Rounded,
) -> u64 {
    // NVIDIA's driver flushes a shader's f32 unless rounding to nearest is declared.
    let nvidia = assume == Assume::Nvidia && layout == Layout::F32 && modes.rounding != Some(Rounding::NearestEven);
    let flush = modes.denorm.map_or(assume == Assume::Flush || nvidia, |denorm| denorm == Denorm::FlushToZero);
    let flushed = |bits: u64| {
        let magnitude = bits & layout.magnitude();
        if flush && magnitude < layout.smallest_normal() { bits & layout.sign() } else { bits }
    };
    let operands = operands.map(flushed);
    let [nearest, zero, ..] = round(operands);
    if modes.rounding == Some(Rounding::TowardZero) {
        return flushed(zero);
    }
    // The one result that is subnormal with an unbounded exponent and delivered as the smallest normal number.
    if flush && nearest & layout.magnitude() == layout.smallest_normal() {
        let rule = FlushRule::Rounded;
        let flushing = Spec { flush: Some(rule), ..Spec::new(Shape::MulAdd, layout, Direction::Nearest) };
        return rational::judge(&flushing, operands).bits;
    }
    flushed(nearest)
}

fn conformance(layout: Layout, random: usize) {
    let values = special_values(layout);
    let mut triples = Vec::new();
    for &a in &values {
        for &b in &values {
            triples.extend(values.iter().map(|&c| [a, b, c]));
        }
    }
    let mut generator = Generator::new(11, layout, layout);
    triples.extend((0..random).map(|_| generator.triple()));
    triples.resize(triples.len().next_multiple_of(GROUP * 12), [0; 3]);
    // The modes need the same roundings again and again.
    let mut known: HashMap<[u64; 3], Rounded> = HashMap::new();
    let mut round = |operands| *known.entry(operands).or_insert_with(|| rounded(layout, operands));
    for rounding in [None, Some(Rounding::NearestEven), Some(Rounding::TowardZero)] {
        for denorm in [None, Some(Denorm::Preserve), Some(Denorm::FlushToZero)] {
            let modes = FloatModes { rounding, denorm, preserve_special: denorm.is_some(), ..FloatModes::default() };
            for assume in [Assume::Nvidia, Assume::Flush] {
                let results = run(layout.width(), 1, modes, assume, &triples);
                for (&operands, &result) in triples.iter().zip(&results) {
                    let legal = legal(layout, modes, operands, &mut round);
                    let nan = layout.is_nan(result);
                    let member = legal.anything || (legal.any_nan && nan) || legal.bits.contains(&result);
                    let wanted = wanted(layout, modes, assume, operands, &mut round);
                    let same = if layout.is_nan(wanted) { nan } else { result == wanted };
                    assert!(
                        member && same,
                        "{operands:#x?} under {modes} with {assume:?}: {result:#x}, wanted {wanted:#x}, {legal:#x?}"
                    );
                }
                for count in 2..=4 {
                    let vectors = run(layout.width(), count, modes, assume, &triples);
                    assert!(vectors == results, "vectors of {count} under {modes}");
                }
            }
        }
    }
}

#[test]
fn f16_results_are_legal() {
    conformance(Layout::F16, 20_000);
}

#[test]
fn f32_results_are_legal() {
    conformance(Layout::F32, 20_000);
}

#[test]
fn f64_results_are_legal() {
    conformance(Layout::F64, 5_000);
}
