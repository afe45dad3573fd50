//! CUDA C++: the intrinsics, and PTX within C++.
//!
//! Source: CUDA Math API; CUDA C++ Programming Guide, inline PTX; nvcc, -ftz. What nvcc 13 makes of each is judged by
//! `dev/translate/spelling.py`.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_isa::{Form, Recipe};

use super::ptx::{self, Ptx};
use super::text::{Core, Names, Text, Writer, c_literal};

pub(super) struct Cuda<'t> {
    pub(super) tables: &'t [&'static [Form]],
}

fn type_name(format: Format, components: u32) -> Option<&'static str> {
    match (format, components) {
        (Format::F16, 1) => Some("__half"),
        (Format::F16, 2) => Some("__half2"),
        (Format::BF16, 1) => Some("__nv_bfloat16"),
        (Format::BF16, 2) => Some("__nv_bfloat162"),
        (Format::F32, 1) => Some("float"),
        (Format::F32, 2) => Some("float2"),
        (Format::F64, 1) => Some("double"),
        _ => None,
    }
}

fn include(format: Format, text: &mut Text) {
    match format {
        Format::F16 => text.stands("#include <cuda_fp16.h>"),
        Format::BF16 => text.stands("#include <cuda_bf16.h>"),
        _ => {}
    }
}

/// The intrinsic that a recipe is, and whether it takes the machine that the instruction does: others are computed by the header with
/// the same bits on machines without it.
fn intrinsic(recipe: &Recipe) -> Option<(String, bool)> {
    let Operation { op, format, rounding, flush, fmz, clamp, oob, .. } = recipe.operation;
    if !recipe.operation.is_uniform() || recipe.operation.negate_product || fmz || oob || recipe.condition_codes {
        return None;
    }
    let direction = match rounding {
        Rounding::NearestEven => "rn",
        Rounding::TowardZero => "rz",
        Rounding::Down => "rd",
        Rounding::Up => "ru",
    };
    let name = match op {
        ArithOp::MulAdd if !recipe.operation.negate_addend => "fma",
        ArithOp::Mul => "mul",
        ArithOp::Add if recipe.operation.negate_addend => "sub",
        ArithOp::Add => "add",
        _ => return None,
    };
    let nearest = rounding == Rounding::NearestEven;
    let found = match (format, recipe.components, clamp) {
        (Format::F32, 1, Clamp::None) if name == "fma" => (format!("__fmaf_{direction}"), false),
        (Format::F32, 1, Clamp::None) => (format!("__f{name}_{direction}"), false),
        (Format::F64, 1, Clamp::None) if flush => return None,
        (Format::F64, 1, Clamp::None) if name == "fma" => (format!("__fma_{direction}"), false),
        (Format::F64, 1, Clamp::None) => (format!("__d{name}_{direction}"), false),
        (Format::F32, 2, Clamp::None) if nearest && name != "sub" => (format!("__f{name}2_rn"), true),
        // The half intrinsics are without .ftz, whatever the options of nvcc.
        (Format::F16 | Format::BF16, 1 | 2, clamp) if nearest && !flush => {
            let two = if recipe.components == 2 { "2" } else { "" };
            match (name, clamp) {
                ("fma", Clamp::None) => (format!("__hfma{two}"), true),
                ("fma", Clamp::Relu) => (format!("__hfma{two}_relu"), true),
                ("fma", Clamp::Unit) if format == Format::F16 => (format!("__hfma{two}_sat"), true),
                (name, Clamp::Unit) if format == Format::F16 => (format!("__h{name}{two}_sat"), false),
                (name, Clamp::None) => (format!("__h{name}{two}_rn"), false),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(found)
}

/// PTX's constraint of an operand, and the operand as a register has it.
fn constrained(format: Format, components: u32, name: &str) -> String {
    let of_bits = |letter: &str, ty: &str| format!("\"{letter}\"(*({ty} *)&{name})");
    match (format.width() * components, format) {
        (16, _) => of_bits("h", "unsigned short"),
        (32, Format::F32) => format!("\"f\"({name})"),
        (64, Format::F64) => format!("\"d\"({name})"),
        (32, _) => of_bits("r", "unsigned"),
        _ => of_bits("l", "unsigned long long"),
    }
}

impl Cuda<'_> {
    /// PTX's first spelling, within C++.
    fn inline_ptx(&self, recipe: &Recipe, names: &Names) -> Option<Core> {
        let core = Ptx { tables: self.tables }.cores(recipe, &Names::plain("")).into_iter().next()?;
        // nvcc 13 knows no machine before sm_75.
        if recipe.operation.op == ArithOp::TruncatedMulAdd {
            return None;
        }
        let operation = &recipe.operation;
        let ty = type_name(operation.format, recipe.components)?;
        let mut text = Text { gate: core.text.gate, ..Text::default() };
        include(operation.format, &mut text);
        let formats = recipe.operand_formats();
        let operands = names.taken(operation);
        let marks: Vec<String> = (0..=operands.len()).map(|at| format!("%{at}")).collect();
        let inputs: Vec<String> = operands
            .iter()
            .zip(&formats)
            .map(|(operand, &format)| {
                include(format, &mut text);
                constrained(format, recipe.components, operand)
            })
            .collect();
        let result = constrained(operation.format, recipe.components, &names.result).replacen('"', "\"=", 1);
        text.code.push(format!("{ty} {};", names.result));
        text.code.push(format!("asm(\"{} {};\" : {result} : {});", core.spelling, marks.join(", "), inputs.join(", ")));
        Some(Core { spelling: format!("asm {}", core.spelling), text })
    }
}

impl Writer for Cuda<'_> {
    fn names(&self, _: &Operation, _: u32) -> Names {
        Names::plain("")
    }

    fn cores(&self, recipe: &Recipe, names: &Names) -> Vec<Core> {
        let operation = &recipe.operation;
        let inline = self.inline_ptx(recipe, names);
        let written = intrinsic(recipe).and_then(|(spelling, is_of_machine)| {
            let ty = type_name(operation.format, recipe.components)?;
            let mut text = Text::default();
            include(operation.format, &mut text);
            text.gate = inline.as_ref().and_then(|core| core.text.gate).filter(|_| is_of_machine);
            if operation.format == Format::F32 {
                text.flags.push(format!("-ftz={}", operation.flush));
            }
            let operands = names.taken(operation).join(", ");
            text.code.push(format!("{ty} {} = {spelling}({operands});", names.result));
            Some(Core { spelling, text })
        });
        written.into_iter().chain(inline).collect()
    }

    fn converted(&self, from: Format, to: Format, operand: &str, _: &str, text: &mut Text) -> Option<String> {
        let name = match (from, to) {
            (Format::F16, Format::F32) => "__half2float",
            (Format::BF16, Format::F32) => "__bfloat162float",
            _ => return None,
        };
        include(from, text);
        Some(format!("{name}({operand})"))
    }

    fn constant(&self, format: Format, components: u32, bits: u64, _: &str, _: &mut Text) -> Option<String> {
        if components == 1 { c_literal(format, bits) } else { None }
    }

    fn zero_factors(&self, names: &mut Names, text: &mut Text) -> Option<()> {
        let [a, b, _] = names.operands.clone();
        let is_zero = |operand: &str| format!("(__float_as_uint({operand}) & 0x7fffffffu) < 0x800000u");
        text.code.push(format!("bool is_zero = {} || {};", is_zero(&a), is_zero(&b)));
        for (old, new) in names.rename_factors("") {
            text.code.push(format!("float {new} = is_zero ? 0.0f : {old};"));
        }
        Some(())
    }

    fn clamps(&self, clamp: Clamp, recipe: &Recipe) -> bool {
        clamp == Clamp::Unit && recipe.operation.format == Format::F32 && recipe.components == 1
    }

    fn clamp(&self, _: Clamp, _: &Recipe, from: &str, to: &str, text: &mut Text) {
        text.code.push(format!("float {to} = __saturatef({from});"));
    }

    fn writes_all_beside_steps(&self) -> bool {
        false
    }

    fn reasons(&self, fields: &[&str]) -> Vec<&'static str> {
        let truncated = fields.contains(&"the product is truncated");
        let reason = "CUDA C++ is compiled for sm_75 and later, and sm_1x alone truncates the product";
        ptx::reasons(fields).into_iter().chain(truncated.then_some(reason)).collect()
    }
}
