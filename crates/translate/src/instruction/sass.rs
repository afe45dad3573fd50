//! SASS: the rows of Maxwell and Pascal, and of sm_70 to sm_121.

use roundonce_arith::{ArithOp, Format, Operation};
use roundonce_isa::{Form, Language, Recipe, shortest_decimal};

use super::text::{Core, Names, Text, Writer};

pub(super) struct Sass<'t> {
    pub(super) tables: &'t [&'static [Form]],
}

impl Writer for Sass<'_> {
    /// Registers, pairs of them where a value has 64 bits.
    fn names(&self, operation: &Operation, components: u32) -> Names {
        let width = |format: Format| format.width() * components;
        let is_wide = width(operation.format) == 64;
        let registers = if is_wide { ["R2", "R4", "R6"] } else { ["R1", "R2", "R3"] };
        Names { operands: registers.map(str::to_owned), result: "R0".to_owned() }
    }

    fn cores(&self, recipe: &Recipe, names: &Names) -> Vec<Core> {
        // The sign of a term is written at its operand.
        let mut unsigned = *recipe;
        let negates = recipe.operation.op == ArithOp::Add && recipe.operation.negate_addend;
        unsigned.operation.negate_addend = recipe.operation.negate_addend && !negates;
        let forms = self.tables.iter().copied().flatten().filter(|form| form.language == Language::Sass);
        let mut cores: Vec<Core> = Vec::new();
        for form in forms {
            let is_it = |(_, other): &(String, Recipe)| *other == unsigned;
            for (spelling, _) in form.spellings().into_iter().filter(is_it) {
                if let Some(text) = code(form, &spelling, recipe, names, negates) {
                    cores.push(Core { spelling, text });
                }
            }
        }
        cores
    }

    fn converted(&self, _: Format, _: Format, _: &str, _: &str, _: &mut Text) -> Option<String> {
        None
    }

    fn constant(&self, format: Format, _: u32, bits: u64, _: &str, _: &mut Text) -> Option<String> {
        Some(match (format, bits) {
            (_, 0) => "RZ".to_owned(),
            (format, bits) if bits == format.sign_mask() => "-RZ".to_owned(),
            // A packed constant is written half by half.
            (Format::F16 | Format::BF16, bits) => {
                let value = shortest_decimal(format, bits);
                format!("{value}, {value}")
            }
            (Format::F32 | Format::F64, bits) => shortest_decimal(format, bits),
            _ => return None,
        })
    }

    fn reasons(&self, fields: &[&str]) -> Vec<&'static str> {
        let reason = |field: &&str| match *field {
            "rounding" => Some("no SASS instruction of this type has the rounding direction"),
            "subnormals" => Some("no SASS instruction of this type treats subnormals so"),
            "the product is truncated" => {
                Some("sm_1x alone truncates the product; its machine code is not spelled here")
            }
            "zero factors" => Some(super::ZERO_FACTORS),
            "operand types" => Some("no SASS instruction has these operand types"),
            _ => None,
        };
        fields.iter().filter_map(reason).collect()
    }
}

/// The instruction on registers; `None` where a constant cannot stand.
fn code(form: &Form, spelling: &str, recipe: &Recipe, names: &Names, negates: bool) -> Option<Text> {
    let mut text = Text { gate: Some(form.gate), ..Text::default() };
    let is_uniform = form.mnemonic.starts_with('U');
    let register = |name: &str| match name.find('R') {
        Some(at) if is_uniform => format!("{}U{}", &name[..at], &name[at..]),
        _ => name.to_owned(),
    };
    let mut operands: Vec<String> = names.taken(&recipe.operation).into_iter().map(register).collect();
    let has_constant = operands.iter().any(|name| !name.contains(|c: char| c.is_ascii_digit()) || !name.contains('R'));
    // Condition codes are asked for at the destination.
    let (mnemonic, codes) = spelling.strip_suffix(".CC").map_or((spelling, ""), |mnemonic| (mnemonic, ".CC"));
    if let Some(immediate) = operands.get_mut(1).filter(|_| form.operands.contains("imm32")) {
        if has_constant {
            return None;
        }
        *immediate = "0x3fc00000".to_owned();
        if negates {
            *immediate = format!("-{immediate}");
        }
        if let Some(addend) = operands.get_mut(2) {
            addend.clone_from(&names.result);
        }
        let what = if recipe.operation.op == ArithOp::Add { "c" } else { "b" };
        text.needs.push(format!("{what} is a constant, here 1.5"));
        if form.operands.ends_with("Rd") {
            text.needs.push("c stands in the result's register".to_owned());
        }
    } else if negates {
        let last = operands.last_mut()?;
        *last = format!("-{last}");
    }
    text.code.push(format!("{mnemonic} {}{codes}, {} ;", register(&names.result), operands.join(", ")));
    Some(text)
}
