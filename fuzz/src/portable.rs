//! Straight-line arithmetic that PTX, SPIR-V and, for f32, SASS have alike, written in each.

use crate::Choices;
use roundonce::arith::Format;
use roundonce::{Profile, Target, Value, eval, instruction};
use std::fmt::Write;

/// Threads, each with three values of its own.
pub const LANES: usize = 33;
pub const INPUTS: usize = 3;

/// A format in the languages, and whether PTX's instructions in it round toward zero and flush.
const FORMATS: [(Format, &str, bool, bool); 4] = [
    (Format::F32, "f32", true, true),
    (Format::F32, "f32", true, true),
    (Format::F16, "f16", false, true),
    (Format::F64, "f64", true, false),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Fma,
    Mul,
    Add,
    Sub,
}

/// Every operation of one format, direction and treatment of subnormals; an operand is an input or an earlier result.
#[derive(Clone, Debug)]
pub struct Program {
    pub format: Format,
    name: &'static str,
    toward_zero: bool,
    flush: bool,
    pub steps: Vec<(Op, [usize; 3])>,
}

pub fn generate(choices: &mut Choices<'_>) -> Program {
    let (format, name, directed, flushing) = *choices.pick(&FORMATS);
    let (toward_zero, flush) = (directed && choices.one_in(3), flushing && choices.one_in(2));
    let mut steps = Vec::new();
    for _ in 0..1 + choices.below(12) {
        let op = *choices.pick(&[Op::Fma, Op::Mul, Op::Add, Op::Sub]);
        let known = INPUTS + steps.len();
        // The latest is used most.
        let mut operand = || if choices.one_in(3) { known - 1 } else { choices.below(known) };
        steps.push((op, [operand(), operand(), operand()]));
    }
    Program { format, name, toward_zero, flush, steps }
}

impl Program {
    fn bytes(&self) -> usize {
        self.format.width() as usize / 8
    }

    fn spelling(&self, op: Op) -> String {
        let mnemonic = match op {
            Op::Fma => "fma",
            Op::Mul => "mul",
            Op::Add => "add",
            Op::Sub => "sub",
        };
        let (rounding, flush) = (if self.toward_zero { ".rz" } else { ".rn" }, if self.flush { ".ftz" } else { "" });
        format!("{mnemonic}{rounding}{flush}.{}", self.name)
    }

    /// A lane's results, one instruction after the other.
    pub fn evaluated(&self, inputs: &[u64]) -> Vec<u64> {
        let mut values = inputs.to_vec();
        for (op, operands) in &self.steps {
            let found = instruction(&self.spelling(*op), &Target::default()).expect("a spelling of PTX");
            let count = if *op == Op::Fma { 3 } else { 2 };
            let operands: Vec<Value> = operands[..count].iter().map(|at| Value::scalar(values[*at])).collect();
            values.push(eval(&found, &operands, &Profile::NVIDIA).value.components()[0]);
        }
        values.split_off(INPUTS)
    }

    pub fn ptx(&self) -> String {
        let (bytes, count) = (self.bytes(), self.steps.len());
        let ty = format!(".b{}", self.format.width());
        let mut text = format!(
            ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry main(.param .u64 in, .param .u64 out)\n{{\n\
             \t.reg {ty} %v<{}>;\n\t.reg .b64 %in, %out;\n\t.reg .b32 %t;\n\tld.param.u64 %in, [in];\n\
             \tld.param.u64 %out, [out];\n\tmov.u32 %t, %tid.x;\n\tmad.wide.u32 %in, %t, {}, %in;\n\
             \tmad.wide.u32 %out, %t, {}, %out;\n",
            INPUTS + count,
            INPUTS * bytes,
            count * bytes
        );
        for input in 0..INPUTS {
            let _ = writeln!(text, "\tld.global{ty} %v{input}, [%in+{}];", input * bytes);
        }
        for (at, (op, [a, b, c])) in self.steps.iter().enumerate() {
            let third = if *op == Op::Fma { format!(", %v{c}") } else { String::new() };
            let _ = writeln!(text, "\t{} %v{}, %v{a}, %v{b}{third};", self.spelling(*op), INPUTS + at);
            let _ = writeln!(text, "\tst.global{ty} [%out+{}], %v{};", at * bytes, INPUTS + at);
        }
        text + "\tret;\n}\n"
    }

    pub fn spirv(&self) -> String {
        let (width, count) = (self.format.width(), self.steps.len());
        let rounding = if self.toward_zero { "RoundingModeRTZ" } else { "RoundingModeRTE" };
        let denorm = if self.flush { "DenormFlushToZero" } else { "DenormPreserve" };
        let mut decorations = String::new();
        let mut body = String::new();
        for input in 0..INPUTS {
            let _ = writeln!(body, "%i{input} = OpIAdd %uint %first %c{input}");
            let _ = writeln!(body, "%at{input} = OpAccessChain %to_number %in %c0 %i{input}");
            let _ = writeln!(body, "%v{input} = OpLoad %number %at{input}");
        }
        for (at, (op, [a, b, c])) in self.steps.iter().enumerate() {
            let (step, third) = (INPUTS + at, if *op == Op::Fma { format!(" %v{c}") } else { String::new() });
            let name = match op {
                Op::Fma => "OpFmaKHR",
                Op::Mul => "OpFMul",
                Op::Add => "OpFAdd",
                Op::Sub => "OpFSub",
            };
            let _ = writeln!(decorations, "OpDecorate %v{step} NoContraction");
            let _ =
                writeln!(body, "%v{step} = {name} %number %v{a} %v{b}{third}\n%i{step} = OpIAdd %uint %last %c{at}");
            let _ =
                writeln!(body, "%at{step} = OpAccessChain %to_number %out %c0 %i{step}\nOpStore %at{step} %v{step}");
        }
        let mut constants = String::new();
        for number in 0..=count.max(INPUTS) {
            let _ = writeln!(constants, "%c{number} = OpConstant %uint {number}");
        }
        format!(
            "OpCapability Shader\nOpCapability Float16\nOpCapability Float64\nOpCapability FMAKHR\n\
             OpCapability {rounding}\nOpCapability {denorm}\nOpCapability SignedZeroInfNanPreserve\n\
             OpExtension \"SPV_KHR_fma\"\nOpExtension \"SPV_KHR_float_controls\"\nOpMemoryModel Logical GLSL450\n\
             OpEntryPoint GLCompute %main \"main\" %lane\nOpExecutionMode %main LocalSize {LANES} 1 1\n\
             OpExecutionMode %main {rounding} {width}\nOpExecutionMode %main {denorm} {width}\n\
             OpExecutionMode %main SignedZeroInfNanPreserve {width}\nOpDecorate %lane BuiltIn LocalInvocationIndex\n\
             OpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 0\nOpDecorate %out DescriptorSet 0\n\
             OpDecorate %out Binding 1\nOpDecorate %numbers ArrayStride {}\nOpMemberDecorate %block 0 Offset 0\n\
             OpDecorate %block Block\n{decorations}%void = OpTypeVoid\n%procedure = OpTypeFunction %void\n\
             %uint = OpTypeInt 32 0\n%number = OpTypeFloat {width}\n%numbers = OpTypeRuntimeArray %number\n\
             %block = OpTypeStruct %numbers\n%to_lane = OpTypePointer Input %uint\n\
             %to_block = OpTypePointer StorageBuffer %block\n%to_number = OpTypePointer StorageBuffer %number\n\
             {constants}%lane = OpVariable %to_lane Input\n%in = OpVariable %to_block StorageBuffer\n\
             %out = OpVariable %to_block StorageBuffer\n%main = OpFunction %void None %procedure\n%start = OpLabel\n\
             %l = OpLoad %uint %lane\n%first = OpIMul %uint %l %c{INPUTS}\n%last = OpIMul %uint %l %c{count}\n\
             {body}OpReturn\nOpFunctionEnd\n",
            self.bytes()
        )
    }

    /// Of f32 alone: inputs in `R0` to `R2`, a register for each result behind them.
    pub fn sass(&self) -> Option<String> {
        if self.format != Format::F32 {
            return None;
        }
        let mut text = String::new();
        for (at, (op, [a, b, c])) in self.steps.iter().enumerate() {
            let (name, sources) = match op {
                Op::Fma => ("FFMA", format!("R{a}, R{b}, R{c}")),
                Op::Mul => ("FMUL", format!("R{a}, R{b}")),
                Op::Add => ("FADD", format!("R{a}, R{b}")),
                Op::Sub => ("FADD", format!("R{a}, -R{b}")),
            };
            let (flush, rounding) = (if self.flush { ".FTZ" } else { "" }, if self.toward_zero { ".RZ" } else { "" });
            let _ = writeln!(text, "{name}{flush}{rounding} R{}, {sources};", INPUTS + at);
        }
        Some(text)
    }
}
