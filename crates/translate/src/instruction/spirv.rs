//! SPIR-V: `OpFmaKHR`, and `OpFAdd`, `OpFSub` and `OpFMul` that are not contracted, under execution modes that say rounding,
//! subnormals, and that zero signs, infinities and NaNs count.
//!
//! Source: SPV_KHR_fma; SPV_KHR_float_controls; SPIR-V 1.6, NoContraction and OpenCL.std.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_isa::{Recipe, hexadecimal};

use super::text::{Core, NAN_BITS, Names, Text, Writer, is_plain};

/// What DenormFlushToZero leaves open.
pub(crate) const FLUSH: &str = "flushes: the sign of a zero that one makes, whether a value that rounds up to the smallest normal \
                                number is subnormal";
/// And in Vulkan alone.
const FLUSH_IN_VULKAN: &str = "in Vulkan whether an operand is flushed";

pub(super) struct SpirV;

pub(super) fn type_name(format: Format) -> Option<&'static str> {
    match format {
        Format::F16 => Some("half"),
        Format::F32 => Some("float"),
        Format::F64 => Some("double"),
        _ => None,
    }
}

/// The execution modes that an operation needs: the name, the number, and that of its capability.
pub(super) fn modes(operation: &Operation) -> Option<[(&'static str, u32, u32); 3]> {
    let rounding = match operation.rounding {
        Rounding::NearestEven => ("RoundingModeRTE", 4462, 4467),
        Rounding::TowardZero => ("RoundingModeRTZ", 4463, 4468),
        Rounding::Down | Rounding::Up => return None,
    };
    let denorm = if operation.flush { ("DenormFlushToZero", 4460, 4465) } else { ("DenormPreserve", 4459, 4464) };
    Some([rounding, denorm, ("SignedZeroInfNanPreserve", 4461, 4466)])
}

/// What is open under [`modes`].
pub(super) fn open(operation: &Operation) -> Vec<&'static str> {
    let flush = if operation.flush { &[FLUSH, FLUSH_IN_VULKAN][..] } else { &[] };
    [NAN_BITS].iter().chain(flush).copied().collect()
}

/// The types that a format's values need, in a module.
fn declare(format: Format, components: u32, text: &mut Text) -> Option<String> {
    let name = type_name(format)?;
    match format.width() {
        16 => text.stands("OpCapability Float16"),
        64 => text.stands("OpCapability Float64"),
        _ => {}
    }
    text.stands(format!("%{name} = OpTypeFloat {}", format.width()));
    if components == 1 {
        return Some(format!("%{name}"));
    }
    text.stands(format!("%v{components}{name} = OpTypeVector %{name} {components}"));
    Some(format!("%v{components}{name}"))
}

fn constant(format: Format, bits: u64, name: &str, text: &mut Text) -> Option<String> {
    let ty = declare(format, 1, text)?;
    text.stands(format!("%{name} = OpConstant {ty} {}", hexadecimal(format, bits)));
    Some(format!("%{name}"))
}

/// The modes of a width, with what declares them.
fn float_controls(operation: &Operation, text: &mut Text) -> Option<()> {
    let modes = modes(operation)?;
    let width = operation.format.width();
    for (name, ..) in modes {
        text.stands(format!("OpCapability {name}"));
    }
    text.stands("OpExtension \"SPV_KHR_float_controls\"");
    for (name, ..) in modes {
        text.stands(format!("OpExecutionMode %main {name} {width}"));
    }
    Some(())
}

impl Writer for SpirV {
    fn names(&self, _: &Operation, _: u32) -> Names {
        Names::plain("%")
    }

    fn cores(&self, recipe: &Recipe, names: &Names) -> Vec<Core> {
        let operation = &recipe.operation;
        if !is_plain(recipe) || !(1..=4).contains(&recipe.components) {
            return Vec::new();
        }
        let core = |spelling: &str, own: &[&str]| {
            let mut text = Text { open: open(operation), ..Text::default() };
            own.iter().filter(|line| line.starts_with("OpCapability")).for_each(|line| text.stands(*line));
            own.iter().filter(|line| line.starts_with("OpExtension")).for_each(|line| text.stands(*line));
            own.iter().filter(|line| line.starts_with('%')).for_each(|line| text.stands(*line));
            float_controls(operation, &mut text)?;
            own.iter().filter(|line| line.starts_with("OpDecorate")).for_each(|line| text.stands(*line));
            let ty = declare(operation.format, recipe.components, &mut text)?;
            let operands = names.taken(operation).join(" ");
            let (opcode, set) = spelling.split_once(' ').map_or((spelling, ""), |(opcode, set)| (opcode, set));
            let set = if set.is_empty() { String::new() } else { format!(" {set}") };
            text.code.push(format!("{} = {opcode} {ty}{set} {operands}", names.result));
            Some(Core { spelling: spelling.replace('%', ""), text })
        };
        let uncontracted = format!("OpDecorate {} NoContraction", names.result);
        let found = match operation.op {
            ArithOp::MulAdd => {
                let own = ["OpCapability FMAKHR", "OpExtension \"SPV_KHR_fma\""];
                let opencl = ["OpCapability Kernel", "%OpenCL.std = OpExtInstImport \"OpenCL.std\""];
                let mut deprecated = core("OpExtInst %OpenCL.std fma", &opencl);
                if let Some(core) = &mut deprecated {
                    core.text.needs.push("a module for OpenCL; SPV_KHR_fma deprecates it".to_owned());
                }
                [core("OpFmaKHR", &own), deprecated]
            }
            ArithOp::Add if operation.negate_addend => [core("OpFSub", &[&uncontracted]), None],
            ArithOp::Add => [core("OpFAdd", &[&uncontracted]), None],
            ArithOp::Mul => [core("OpFMul", &[&uncontracted]), None],
            ArithOp::TruncatedMulAdd => [None, None],
        };
        found.into_iter().flatten().collect()
    }

    fn name(&self, name: &str) -> String {
        format!("%{}", name.replace(|c: char| !c.is_alphanumeric() && c != '_', "_"))
    }

    fn converted(&self, from: Format, to: Format, operand: &str, new: &str, text: &mut Text) -> Option<String> {
        declare(from, 1, text)?;
        let ty = declare(to, 1, text)?;
        // A subnormal operand is kept: the wider format has it as a normal number.
        text.stands("OpCapability DenormPreserve");
        text.stands("OpExtension \"SPV_KHR_float_controls\"");
        text.stands(format!("OpExecutionMode %main DenormPreserve {}", from.width()));
        text.code.push(format!("%{new} = OpFConvert {ty} {operand}"));
        Some(format!("%{new}"))
    }

    fn negated(&self, format: Format, operand: &str, new: &str, text: &mut Text) -> Option<String> {
        let ty = declare(format, 1, text)?;
        text.code.push(format!("%{new} = OpFNegate {ty} {operand}"));
        Some(format!("%{new}"))
    }

    fn constant(&self, format: Format, components: u32, bits: u64, new: &str, text: &mut Text) -> Option<String> {
        if components != 1 || format.is_nan(bits) || format.is_infinite(bits) {
            return None;
        }
        let name = match bits {
            0 => "zero",
            bits if bits == format.sign_mask() => "minus_zero",
            bits if bits == format.one() => "one",
            _ => new,
        };
        constant(format, bits, name, text)
    }

    fn zero_factors(&self, names: &mut Names, text: &mut Text) -> Option<()> {
        // The bits are asked: a comparison of floats might flush, or not.
        let format = Format::F32;
        let zero = constant(format, 0, "zero", text)?;
        let ty = declare(format, 1, text)?;
        text.stands("%uint = OpTypeInt 32 0");
        text.stands("%bool = OpTypeBool");
        text.stands("%magnitude = OpConstant %uint 0x7fffffff");
        text.stands("%smallest_normal = OpConstant %uint 0x800000");
        for (letter, operand) in ["a", "b"].into_iter().zip(&names.operands) {
            text.code.push(format!("%u{letter} = OpBitcast %uint {operand}"));
            text.code.push(format!("%m{letter} = OpBitwiseAnd %uint %u{letter} %magnitude"));
            text.code.push(format!("%is_zero_{letter} = OpULessThan %bool %m{letter} %smallest_normal"));
        }
        text.code.push("%is_zero = OpLogicalOr %bool %is_zero_a %is_zero_b".to_owned());
        for (old, new) in names.rename_factors("%") {
            text.code.push(format!("{new} = OpSelect {ty} %is_zero {zero} {old}"));
        }
        Some(())
    }

    fn clamps(&self, _: Clamp, recipe: &Recipe) -> bool {
        recipe.components == 1
    }

    fn unclamped(&self, _: &str) -> String {
        "%r".to_owned()
    }

    fn clamp(&self, clamp: Clamp, recipe: &Recipe, from: &str, to: &str, text: &mut Text) {
        let format = recipe.operation.format;
        let (Some(ty), Some(zero)) = (declare(format, 1, text), constant(format, 0, "zero", text)) else { return };
        text.stands("%bool = OpTypeBool");
        let mut line = |line: String| text.code.push(line);
        if clamp == Clamp::Unit {
            // A NaN is not greater than zero.
            line(format!("%above = OpFOrdGreaterThan %bool {from} {zero}"));
            line(format!("%p = OpSelect {ty} %above {from} {zero}"));
            line("%below = OpFOrdLessThan %bool %p %one".to_owned());
            line(format!("{to} = OpSelect {ty} %below %p %one"));
            constant(format, format.one(), "one", text);
        } else {
            line(format!("%above = OpFUnordGreaterThan %bool {from} {zero}"));
            line(format!("{to} = OpSelect {ty} %above {from} {zero}"));
        }
    }

    fn finish(&self, _: &Recipe, text: &mut Text) {
        // In the order of a module.
        const SECTIONS: [&str; 5] = ["OpCapability", "OpExtension", "%OpenCL.std", "OpExecutionMode", "OpDecorate"];
        let section = |line: &String| {
            let place = SECTIONS.iter().position(|section| line.starts_with(section));
            place.unwrap_or(SECTIONS.len() + usize::from(line.contains("OpConstant")))
        };
        text.around.sort_by_key(section);
    }

    fn reasons(&self, fields: &[&str]) -> Vec<&'static str> {
        reasons(fields)
    }
}

/// Of SPIR-V, and so of GLSL for Vulkan.
pub(super) fn reasons(fields: &[&str]) -> Vec<&'static str> {
    let reason = |field: &&str| match *field {
        "rounding" => Some("SPV_KHR_float_controls has execution modes to nearest even and toward zero alone"),
        "condition codes" => Some("SPIR-V has no condition codes"),
        "out-of-bounds NaN" => Some("SPIR-V has no out-of-bounds NaN"),
        "the product is truncated" => Some("SPIR-V rounds a product as the execution mode says"),
        "zero factors" => Some(super::ZERO_FACTORS),
        "operand types" => {
            Some("SPIR-V has no arithmetic of this type: its bfloat16 is converted alone (SPV_KHR_bfloat16)")
        }
        _ => None,
    };
    fields.iter().filter_map(reason).collect()
}
