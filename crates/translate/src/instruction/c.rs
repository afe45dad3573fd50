//! C. Rounding is the floating-point environment's; what a NaN's bits are is open; subnormals are kept unless the machine is
//! told otherwise, which x86-64's MXCSR does as NVIDIA's GPUs do: tininess after rounding, signs kept.
//!
//! Source: ISO C, `<fenv.h>`, `fma`, FP_CONTRACT; Intel SDM, MXCSR. What gcc makes of each is run by
//! `dev/translate/spelling.py`.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_isa::{Recipe, convert};

use super::text::{Core, NAN_BITS, Names, Text, Writer, c_literal, is_plain, selection};

pub(super) struct C;

fn type_name(format: Format) -> Option<&'static str> {
    match format {
        Format::F16 => Some("_Float16"),
        Format::F32 => Some("float"),
        Format::F64 => Some("double"),
        _ => None,
    }
}

/// What makes the compiler leave the arithmetic as written.
fn environment(operation: &Operation, text: &mut Text) {
    text.stands("#include <fenv.h>");
    text.stands("#include <math.h>");
    text.stands("#pragma STDC FENV_ACCESS ON");
    text.stands("#pragma STDC FP_CONTRACT OFF");
    let direction = match operation.rounding {
        Rounding::NearestEven => "FE_TONEAREST",
        Rounding::TowardZero => "FE_TOWARDZERO",
        Rounding::Down => "FE_DOWNWARD",
        Rounding::Up => "FE_UPWARD",
    };
    text.stands(format!("fesetround({direction});"));
    text.flags.extend(["-ffp-contract=off", "-frounding-math", "-fno-fast-math"].map(str::to_owned));
    if operation.flush {
        text.stands("#include <immintrin.h>");
        text.stands("_mm_setcsr(_mm_getcsr() | 0x8040);");
        text.flags.push("-mfma".to_owned());
        text.needs
            .push("x86-64: FTZ and DAZ of MXCSR; other machines decide before rounding what is subnormal".to_owned());
    }
    text.needs.push("FLT_EVAL_METHOD is 0".to_owned());
}

impl Writer for C {
    fn names(&self, _: &Operation, _: u32) -> Names {
        Names::plain("")
    }

    fn cores(&self, recipe: &Recipe, names: &Names) -> Vec<Core> {
        let operation = &recipe.operation;
        let Operation { op, format, .. } = *operation;
        let is_known = is_plain(recipe) && recipe.components == 1;
        // MXCSR flushes no f16, and a directed f16 would be rounded twice in two directions at its edges.
        let is_half = format == Format::F16;
        if !is_known || is_half && (operation.flush || operation.rounding != Rounding::NearestEven) {
            return Vec::new();
        }
        let Some(ty) = type_name(format) else { return Vec::new() };
        let mut text = Text { open: vec![NAN_BITS], ..Text::default() };
        environment(operation, &mut text);
        let operands = names.taken(operation);
        let cast = |ty: &str| operands.iter().map(|name| format!("({ty}){name}")).collect::<Vec<_>>();
        let (spelling, value) = match (op, operands.as_slice()) {
            // A sum or a product of f16 in f32, and their multiply-add in f64, is so near the exact value that rounding it
            // again gives what rounding once does.
            (ArithOp::MulAdd, _) if is_half => ("fma", format!("({ty})fma({})", cast("double").join(", "))),
            (ArithOp::Add, _) if is_half && operation.negate_addend => {
                ("a - c", format!("({ty})({})", cast("float").join(" - ")))
            }
            (ArithOp::Add, _) if is_half => ("a + c", format!("({ty})({})", cast("float").join(" + "))),
            (ArithOp::Mul, _) if is_half => ("a * b", format!("({ty})({})", cast("float").join(" * "))),
            (ArithOp::MulAdd, operands) if format == Format::F32 => ("fmaf", format!("fmaf({})", operands.join(", "))),
            (ArithOp::MulAdd, operands) => ("fma", format!("fma({})", operands.join(", "))),
            (ArithOp::Add, [a, c]) if operation.negate_addend => ("a - c", format!("{a} - {c}")),
            (ArithOp::Add, [a, c]) => ("a + c", format!("{a} + {c}")),
            (ArithOp::Mul, [a, b]) => ("a * b", format!("{a} * {b}")),
            _ => return Vec::new(),
        };
        text.code.push(format!("{ty} {} = {value};", names.result));
        vec![Core { spelling: spelling.to_owned(), text }]
    }

    fn converted(&self, from: Format, to: Format, operand: &str, _: &str, _: &mut Text) -> Option<String> {
        type_name(from)?;
        Some(format!("({}){operand}", type_name(to)?))
    }

    fn negated(&self, _: Format, operand: &str, _: &str, _: &mut Text) -> Option<String> {
        Some(format!("-{operand}"))
    }

    fn negate_result(&self, format: Format, from: &str, new: &str, text: &mut Text) {
        let ty = type_name(format).unwrap_or_default();
        text.code.push(format!("{ty} {new} = -{from};"));
    }

    fn constant(&self, format: Format, components: u32, bits: u64, _: &str, _: &mut Text) -> Option<String> {
        match format {
            _ if components != 1 => None,
            // A half is exact in f32, and the conversion of a constant is.
            Format::F16 => {
                let (wide, _) = convert(format, Format::F32, Rounding::NearestEven, bits);
                c_literal(Format::F32, wide).map(|literal| format!("(_Float16){literal}"))
            }
            format => c_literal(format, bits),
        }
    }

    fn zero_factors(&self, names: &mut Names, text: &mut Text) -> Option<()> {
        let [a, b, _] = names.operands.clone();
        text.stands("#include <float.h>");
        text.code.push(format!("int is_zero = fabsf({a}) < FLT_MIN || fabsf({b}) < FLT_MIN;"));
        for (old, new) in names.rename_factors("") {
            text.code.push(format!("float {new} = is_zero ? 0.0f : {old};"));
        }
        Some(())
    }

    fn clamps(&self, _: Clamp, recipe: &Recipe) -> bool {
        recipe.components == 1
    }

    fn clamp(&self, clamp: Clamp, recipe: &Recipe, from: &str, to: &str, text: &mut Text) {
        let Some(ty) = type_name(recipe.operation.format) else { return };
        text.code.push(format!("{ty} {to} = {};", selection(clamp, from, ["0", "1"])));
    }

    fn finish(&self, _: &Recipe, text: &mut Text) {
        text.around.sort_by_key(|line| match line.as_str() {
            line if line.starts_with("#include") => 0,
            line if line.starts_with("#pragma") => 1,
            _ => 2,
        });
    }

    fn reasons(&self, fields: &[&str]) -> Vec<&'static str> {
        let reason = |field: &&str| match *field {
            "rounding" => Some("of _Float16 the wider type that C computes in is rounded to nearest alone"),
            "subnormals" => Some("no floating-point environment flushes this type"),
            "condition codes" => Some("C has no condition codes"),
            "out-of-bounds NaN" => Some("C has no out-of-bounds NaN"),
            "the product is truncated" => Some("C rounds a product as the environment says"),
            "zero factors" => Some(super::ZERO_FACTORS),
            "operand types" => Some("C has no type of this format"),
            _ => None,
        };
        fields.iter().filter_map(reason).collect()
    }
}
