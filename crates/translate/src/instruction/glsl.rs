//! GLSL for Vulkan. Its own `fma` inherits the accuracy of `a * b + c` and is not known to be fused, and no word of it says the
//! rounding; GL_EXT_spirv_intrinsics gives it the instruction and the execution modes of SPIR-V.
//!
//! Source: GLSL 4.60, 8.3 `fma` and 4.9 `precise`; GL_EXT_spirv_intrinsics; Vulkan, Precision and Operation of SPIR-V
//! Instructions.

use roundonce_arith::{ArithOp, Clamp, Format, Operation};
use roundonce_isa::Recipe;

use super::spirv;
use super::text::{Core, Names, Text, Writer, is_plain, selection};

pub(super) struct Glsl;

fn type_name(format: Format, components: u32) -> Option<String> {
    let (scalar, vector) = match format {
        Format::F16 => ("float16_t", "f16vec"),
        Format::F32 => ("float", "vec"),
        Format::F64 => ("double", "dvec"),
        _ => return None,
    };
    Some(if components == 1 { scalar.to_owned() } else { format!("{vector}{components}") })
}

/// The extensions that a format needs.
fn declare(format: Format, text: &mut Text) {
    if format == Format::F16 {
        text.stands("#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require");
    }
}

fn literal(format: Format, bits: u64) -> &'static str {
    let is_one = bits == format.one();
    let is_zero = bits == 0;
    match format {
        Format::F16 if is_one => "float16_t(1.0)",
        Format::F16 if is_zero => "float16_t(0.0)",
        Format::F16 => "float16_t(-0.0)",
        Format::F64 if is_one => "1.0lf",
        Format::F64 if is_zero => "0.0lf",
        Format::F64 => "-0.0lf",
        _ if is_one => "1.0",
        _ if is_zero => "0.0",
        _ => "-0.0",
    }
}

impl Writer for Glsl {
    fn names(&self, _: &Operation, _: u32) -> Names {
        Names::plain("")
    }

    fn cores(&self, recipe: &Recipe, names: &Names) -> Vec<Core> {
        let operation = &recipe.operation;
        let written = || {
            let ty = type_name(operation.format, recipe.components).filter(|_| is_plain(recipe))?;
            let modes = spirv::modes(operation)?;
            let mut text = Text { open: spirv::open(operation), ..Text::default() };
            declare(operation.format, &mut text);
            text.stands("#extension GL_EXT_spirv_intrinsics : require");
            for (_, mode, capability) in modes {
                let width = operation.format.width();
                text.stands(format!(
                    "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [{capability}], {mode}, {width});"
                ));
            }
            let operands = names.taken(operation);
            let (spelling, value) = match (operation.op, operands.as_slice()) {
                (ArithOp::MulAdd, operands) => {
                    text.stands(format!(
                        "spirv_instruction(extensions = [\"SPV_KHR_fma\"], capabilities = [6030], id = 4427) {ty} fmaKHR({ty} a, {ty} b, {ty} c);"
                    ));
                    ("OpFmaKHR by spirv_instruction", format!("fmaKHR({})", operands.join(", ")))
                }
                (ArithOp::Add, [a, c]) if operation.negate_addend => ("precise a - c", format!("{a} - {c}")),
                (ArithOp::Add, [a, c]) => ("precise a + c", format!("{a} + {c}")),
                (ArithOp::Mul, [a, b]) => ("precise a * b", format!("{a} * {b}")),
                _ => return None,
            };
            text.code.push(format!("precise {ty} {} = {value};", names.result));
            Some(Core { spelling: spelling.to_owned(), text })
        };
        written().into_iter().collect()
    }

    fn converted(&self, from: Format, to: Format, operand: &str, _: &str, text: &mut Text) -> Option<String> {
        type_name(from, 1)?;
        let ty = type_name(to, 1)?;
        declare(from, text);
        // A subnormal operand is kept: the wider format has it as a normal number.
        text.stands(format!(
            "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4464], 4459, {});",
            from.width()
        ));
        Some(format!("{ty}({operand})"))
    }

    fn negated(&self, _: Format, operand: &str, _: &str, _: &mut Text) -> Option<String> {
        Some(format!("-{operand}"))
    }

    fn negate_result(&self, format: Format, from: &str, new: &str, text: &mut Text) {
        let ty = type_name(format, 1).unwrap_or_default();
        text.code.push(format!("{ty} {new} = -{from};"));
    }

    fn constant(&self, format: Format, components: u32, bits: u64, _: &str, text: &mut Text) -> Option<String> {
        if components != 1 {
            return None;
        }
        Some(match format {
            _ if bits & format.magnitude_mask() == 0 || bits == format.one() => literal(format, bits).to_owned(),
            Format::F16 => {
                text.stands("#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require");
                format!("uint16BitsToHalf({bits:#x}us)")
            }
            Format::F32 => format!("uintBitsToFloat({bits:#x}u)"),
            Format::F64 => format!("packDouble2x32(uvec2({:#x}u, {:#x}u))", bits & 0xffff_ffff, bits >> 32),
            _ => return None,
        })
    }

    fn zero_factors(&self, names: &mut Names, text: &mut Text) -> Option<()> {
        // The bits are asked: a comparison of floats might flush, or not.
        let [a, b, _] = names.operands.clone();
        let is_zero = |operand: &str| format!("(floatBitsToUint({operand}) & 0x7fffffffu) < 0x800000u");
        text.code.push(format!("bool is_zero = {} || {};", is_zero(&a), is_zero(&b)));
        for (old, new) in names.rename_factors("") {
            text.code.push(format!("float {new} = is_zero ? 0.0 : {old};"));
        }
        Some(())
    }

    fn clamps(&self, _: Clamp, recipe: &Recipe) -> bool {
        recipe.components == 1
    }

    fn clamp(&self, clamp: Clamp, recipe: &Recipe, from: &str, to: &str, text: &mut Text) {
        let format = recipe.operation.format;
        let Some(ty) = type_name(format, 1) else { return };
        let ends = [literal(format, 0), literal(format, format.one())];
        text.code.push(format!("{ty} {to} = {};", selection(clamp, from, ends)));
    }

    fn reasons(&self, fields: &[&str]) -> Vec<&'static str> {
        spirv::reasons(fields)
    }
}
