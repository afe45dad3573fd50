//! PTX: its rows, and the instructions around them.

use roundonce_arith::{Format, Operation};
use roundonce_isa::{Form, Language, Recipe, Version};

use super::text::{Core, Names, Text, Writer};

pub(super) struct Ptx<'t> {
    pub(super) tables: &'t [&'static [Form]],
}

/// The register type of a value: its format, or bits where it has several components.
fn register(format: Format, components: u32) -> String {
    match (format.width() * components, format) {
        (16, _) => "b16".to_owned(),
        (32, Format::F32) => "f32".to_owned(),
        (64, Format::F64) => "f64".to_owned(),
        (width, _) => format!("b{width}"),
    }
}

impl Writer for Ptx<'_> {
    fn names(&self, _: &Operation, _: u32) -> Names {
        Names::plain("")
    }

    fn cores(&self, recipe: &Recipe, names: &Names) -> Vec<Core> {
        let forms = self.tables.iter().copied().flatten().filter(|form| form.language == Language::Ptx);
        let mut cores: Vec<Core> = Vec::new();
        for form in forms {
            let is_it = |(_, other): &(String, Recipe)| other == recipe;
            for (spelling, _) in form.spellings().into_iter().filter(is_it) {
                let mut text = Text::default();
                let operands = names.taken(&recipe.operation).join(", ");
                text.code.push(format!("{spelling} {}, {operands};", names.result));
                text.gate = Some(form.gate);
                cores.push(Core { spelling, text });
            }
        }
        cores
    }

    fn converted(&self, from: Format, to: Format, operand: &str, new: &str, text: &mut Text) -> Option<String> {
        if to != Format::F32 {
            return None;
        }
        text.declared.push(format!(".reg .f32 {new};"));
        match from {
            Format::F16 => text.code.push(format!("cvt.f32.f16 {new}, {operand};")),
            // A bf16 is the high half of the f32 that it is.
            Format::BF16 => {
                if !text.declared.iter().any(|line| line.contains(" low;")) {
                    text.declared.push(".reg .b16 low;".to_owned());
                    text.code.push("mov.b16 low, 0;".to_owned());
                }
                text.code.push(format!("mov.b32 {new}, {{low, {operand}}};"));
            }
            _ => return None,
        }
        Some(new.to_owned())
    }

    fn negated(&self, format: Format, operand: &str, new: &str, text: &mut Text) -> Option<String> {
        let ty = format.name()?;
        text.declared.push(format!(".reg .{} {new};", register(format, 1)));
        text.code.push(format!("neg.{ty} {new}, {operand};"));
        Some(new.to_owned())
    }

    fn constant(&self, format: Format, components: u32, bits: u64, new: &str, text: &mut Text) -> Option<String> {
        Some(match (format, components) {
            (Format::F32, 1) => format!("0f{bits:08X}"),
            (Format::F64, 1) => format!("0d{bits:016X}"),
            _ => {
                let width = format.width() * components;
                let all = (0..components).fold(0, |all: u64, _| all << (format.width() % 64) | bits);
                text.declared.push(format!(".reg .b{width} {new};"));
                text.code.push(format!("mov.b{width} {new}, {all:#x};"));
                new.to_owned()
            }
        })
    }

    fn zero_factors(&self, names: &mut Names, text: &mut Text) -> Option<()> {
        let [a, b, _] = names.operands.clone();
        text.declared.push(".reg .pred p, q;".to_owned());
        text.declared.push(".reg .f32 za, zb;".to_owned());
        text.code.push(format!("setp.eq.ftz.f32 p, {a}, 0f00000000;"));
        text.code.push(format!("setp.eq.or.ftz.f32 q, {b}, 0f00000000, p;"));
        for (old, new) in names.rename_factors("") {
            text.code.push(format!("selp.f32 {new}, 0f00000000, {old}, q;"));
        }
        Some(())
    }

    fn finish(&self, _: &Recipe, text: &mut Text) {
        // A row's versions are of the spelling without modifiers; `.ftz` came with PTX 1.4.
        if let Some(gate) = text.gate.as_mut().filter(|_| text.code.iter().any(|line| line.contains(".ftz"))) {
            gate.version.first = gate.version.first.max(Version(1, 4));
        }
        if !text.declared.is_empty() {
            let mut lines = vec!["{".to_owned()];
            lines.append(&mut text.declared);
            lines.append(&mut text.code);
            lines.push("}".to_owned());
            text.code = lines;
        }
    }

    fn writes_all_beside_steps(&self) -> bool {
        false
    }

    fn reasons(&self, fields: &[&str]) -> Vec<&'static str> {
        reasons(fields)
    }
}

/// Of PTX, and so of CUDA C++, which has PTX within it.
pub(super) fn reasons(fields: &[&str]) -> Vec<&'static str> {
    let reason = |field: &&str| match *field {
        "condition codes" => Some("PTX has no condition codes of floating-point results"),
        "rounding" => Some("no PTX instruction of this type has the rounding direction"),
        "subnormals" => Some("no PTX instruction of this type treats subnormals so"),
        "zero factors" => Some(super::ZERO_FACTORS),
        "operand types" => Some("no PTX instruction has these operand types"),
        _ => None,
    };
    fields.iter().filter_map(reason).collect()
}
