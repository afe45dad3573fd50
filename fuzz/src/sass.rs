//! SASS listings from choices, by the product's table of opcodes; and what a listing computes, one lane and one
//! instruction after the other.

use crate::Choices;
use roundonce::Profile;
use roundonce::isa::{Value as Components, evaluate};
use roundonce::sass::{Kind, Lowering, Name, OperandKind, PT, RZ, Row, Value, parse_line, rows};
use std::collections::BTreeMap;

/// A listing: its lines, each one instruction that has a word.
pub struct Code {
    pub lines: Vec<String>,
}

impl Code {
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| line.clone() + "\n").collect()
    }
}

/// Scheduling in front of an instruction, and behind it.
const SCHEDULES: [(&str, &str); 8] = [
    ("", ""),
    ("05:-:-:Y:5 ", ""),
    ("[B0-2---:R-:W-:Y:S05] ", ""),
    ("[B------:R-:W-:-:S15] ", ""),
    ("", " &req={0,2} ?W5G"),
    ("", " ?W1G"),
    ("--:-:-:-:1 ", ""),
    ("3f:-:-:Y:f ", ""),
];

/// A listing of up to forty instructions that are run.
pub fn generate(choices: &mut Choices<'_>) -> Code {
    let schedules = if choices.one_in(2) { &SCHEDULES[..] } else { &SCHEDULES[..1] };
    let rows: Vec<&Row> = rows().filter(|row| !matches!(row.lowering, Lowering::None)).collect();
    let mut lines = Vec::new();
    while lines.len() < 40 && !choices.is_empty() {
        let row = *choices.pick(&rows);
        let line = instruction(choices, row);
        // Scheduling in one style on every line.
        let (before, behind) = schedules[lines.len() % schedules.len()];
        lines.push(if schedules.len() == 1 { format!("{line};") } else { format!("{before}{line}{behind};") });
    }
    Code { lines }
}

fn register(choices: &mut Choices<'_>) -> u8 {
    if choices.one_in(16) { *choices.pick(&[RZ, 254, 100, 63, 64]) } else { choices.below(8) as u8 }
}

fn register_name(number: u8) -> String {
    if number == RZ { "RZ".to_owned() } else { format!("R{number}") }
}

fn instruction(choices: &mut Choices<'_>, row: &Row) -> String {
    let mut text = String::new();
    if choices.one_in(3) {
        text += if choices.one_in(2) { "@!" } else { "@" };
        text += &choices.pick(&["P0", "P1", "P6", "PT"]);
        text += " ";
    }
    text += row.name;
    let mut behind_destination = "";
    let slots = match row.lowering {
        Lowering::Arithmetic(arithmetic) => arithmetic.slots,
        Lowering::Move | Lowering::None => &[],
    };
    for slot in slots {
        if !choices.one_in(3) {
            continue;
        }
        let choice = choices.pick(slot.choices).text;
        if choice == ".CC" && choices.one_in(2) {
            behind_destination = choice;
        } else {
            text += choice;
        }
    }
    let destination = register(choices);
    text += &format!(" {}{behind_destination}", register_name(destination));
    let (is_arithmetic, is_long) = (!slots.is_empty(), row.name.ends_with("32I"));
    // The bytes that a move writes are left out: all of them.
    for field in row.operands[1..].iter().filter(|field| field.omitted.is_none()) {
        let minus = if is_arithmetic && choices.one_in(3) { "-" } else { "" };
        text += ", ";
        text += &match field.kind.kind() {
            OperandKind::Register => {
                let is_destination = matches!(field.kind, Kind::Register(_)) && field.kind == row.operands[0].kind;
                let number = if is_destination { destination } else { register(choices) };
                format!("{minus}{}", register_name(number))
            }
            OperandKind::Constant => {
                format!("{minus}c[{:#x}][{:#x}]", choices.below(4), 4 * choices.below(16))
            }
            _ if choices.one_in(2) && is_arithmetic => {
                (*choices.pick(&["0.5", "-0.5", "1", "2.0", "-1.5", "+INF", "-INF", "0", "-0", "1024"])).to_owned()
            }
            _ => {
                let bits = choices.bits(32) as u32;
                let bits = match (is_long, is_arithmetic) {
                    (true, _) => bits,
                    (false, true) => bits & 0xffff_f000,
                    (false, false) => bits & 0x7_ffff,
                };
                format!("{bits:#x}")
            }
        };
    }
    text
}

/// What is in a lane's names.
pub type Lane = BTreeMap<String, u32>;

/// What a lane has when the lines are done: the arithmetic by the recipe of each, everything else by hand. None where
/// a line is not read.
pub fn run(lines: &[String], lane: &mut Lane, profile: &Profile) -> Option<()> {
    for line in lines {
        let instruction = parse_line(line).ok()?.instruction;
        let get = |lane: &Lane, name: Name| lane.get(&name.to_string()).copied().unwrap_or(0);
        let guard = instruction.guard();
        let holds = guard.predicate == PT || get(lane, Name::Predicate(guard.predicate)) != 0;
        if holds == guard.negated {
            continue;
        }
        let value = |value: Value| match value {
            Value::Register(RZ) => 0,
            Value::Register(number) => get(lane, Name::Register(number)),
            Value::Constant { bank, offset } => get(lane, Name::Constant { bank, offset }),
            Value::Immediate(bits) => bits,
            _ => 0,
        };
        let sources: Vec<u32> = instruction.operands()[1..].iter().map(|operand| value(operand.value)).collect();
        let (result, has_codes) = match instruction.recipe() {
            Some(recipe) => {
                let values: Vec<Components> = sources.iter().map(|&bits| Components::scalar(bits.into())).collect();
                (evaluate(&recipe, profile, &values).value.components()[0] as u32, recipe.condition_codes)
            }
            None => (sources[0], false),
        };
        if has_codes {
            let number = f32::from_bits(result);
            let zero = u32::from(number == 0.0 || number.is_nan());
            let sign = u32::from(number < 0.0 || number.is_nan());
            lane.insert(Name::ConditionCodes.to_string(), zero | sign << 1);
        }
        if instruction.destination() != RZ {
            lane.insert(Name::Register(instruction.destination()).to_string(), result);
        }
    }
    Some(())
}
