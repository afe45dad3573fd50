//! Every row of the opcode table is complete: it has an encoding, a lowering, and its words and texts round-trip. A
//! failure names the row.

use roundonce_ir::Op;
use roundonce_oracle::generate::SplitMix64;
use roundonce_sass::{FORMS, Lowering, OPCODES, Opcode, OperandForm, OperandKind, Style, asm_line, decode, encode};
use roundonce_sass::{disasm_word, lower, parse_line};

/// The opcodes whose encoding is still to come: only their text is known.
const TEXT_ONLY: &[&str] = &["FADD", "FMUL", "FADD32I", "FMUL32I", "MOV", "MOV32I"];

fn rows() -> impl Iterator<Item = (&'static Opcode, &'static OperandForm, String)> {
    OPCODES.iter().flat_map(|opcode| {
        opcode.forms.iter().map(move |form| (opcode, form, format!("{} with {}", opcode.name, form.name)))
    })
}

/// A statement of the form with a modifier of every slot that has one to show.
fn statement(opcode: &Opcode, form: &OperandForm) -> String {
    let modifiers = opcode.modifiers.iter().map(|modifier| modifier.slot.choices[modifier.slot.choices.len() - 1].text);
    let sources = form.operands.iter().enumerate().skip(1).map(|(index, operand)| match operand.kind() {
        // The last operand may have to be the destination.
        OperandKind::Register if index == 3 => "R1".to_owned(),
        OperandKind::Register => format!("R{}", index + 1),
        OperandKind::Constant => "c[0x3][0x140]".to_owned(),
        OperandKind::Immediate => "0x3fc00000".to_owned(),
    });
    let sources: Vec<String> = sources.collect();
    format!("{}{} R1, {}", opcode.name, modifiers.collect::<String>(), sources.join(", "))
}

#[test]
fn names_are_unique() {
    for (index, opcode) in OPCODES.iter().enumerate() {
        assert!(OPCODES[..index].iter().all(|other| other.name != opcode.name), "{} has two rows", opcode.name);
        assert!(!opcode.forms.is_empty(), "{} has no operand form", opcode.name);
        assert!(!opcode.source.is_empty(), "{} has no source", opcode.name);
        if let Some(long) = opcode.long_immediate {
            let known = OPCODES.iter().any(|other| other.name == long);
            assert!(known, "{}: its counterpart {long} has no row", opcode.name);
        }
    }
}

#[test]
fn every_row_has_an_encoding() {
    for (opcode, form, name) in rows() {
        let waits = TEXT_ONLY.contains(&opcode.name);
        assert!(form.encoding.is_some() || waits, "{name} has no encoding");
        assert!(form.encoding.is_none() || !waits, "{name} has an encoding: take it off the list");
    }
    for name in TEXT_ONLY {
        assert!(OPCODES.iter().any(|opcode| opcode.name == *name), "{name} has no row: take it off the list");
    }
}

#[test]
fn every_row_round_trips_as_text() {
    for (opcode, form, name) in rows() {
        let text = statement(opcode, form);
        let parsed = parse_line(&text).unwrap_or_else(|finding| panic!("{name}: {text}: {finding}"));
        assert_eq!(parsed.instruction.opcode().name, opcode.name, "{name}: {text}");
        assert_eq!(parsed.instruction.operand_form().name, form.name, "{name}: {text}");
        let printed = parsed.instruction.to_string();
        let again = parse_line(&printed).unwrap_or_else(|finding| panic!("{name}: {printed}: {finding}"));
        assert_eq!(again.instruction, parsed.instruction, "{name}: {text} prints as {printed}");
    }
}

#[test]
fn every_encoding_round_trips() {
    let mut random = SplitMix64(0);
    for (opcode, form, name) in rows() {
        let Some(encoding) = form.encoding else { continue };
        for _ in 0..20_000 {
            let word = random.next_bits() & !encoding.mask | encoding.bits;
            let instruction = decode(word).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(instruction.opcode().name, opcode.name, "{word:#018x}");
            assert_eq!(instruction.operand_form().name, form.name, "{word:#018x}");
            assert_eq!(encode(&instruction), Ok(word), "{name}");
            let text = disasm_word(word, Style::Exact).unwrap();
            assert_eq!(asm_line(&text), Ok(word & !form.ignored()), "{name}: {text}");
        }
    }
}

#[test]
fn every_row_is_lowered() {
    for (opcode, form, name) in rows() {
        let text = statement(opcode, form);
        let lowered = lower(&text, None).unwrap_or_else(|findings| panic!("{name}: {text}: {findings:?}"));
        lowered.program.verify().unwrap_or_else(|invalid| panic!("{name}: {text}: {invalid}"));
        let wanted = parse_line(&text).unwrap().instruction.recipe();
        let blocks = &lowered.program.kernels[0].blocks;
        let computed = blocks.iter().flat_map(|block| &block.instructions).any(|instruction| {
            match (opcode.lowering, &instruction.op) {
                (Lowering::Move, Op::Move { .. }) => true,
                (Lowering::Arithmetic(_), Op::Float { operation, .. }) => {
                    Some(*operation) == wanted.map(|recipe| recipe.operation)
                }
                _ => false,
            }
        });
        assert!(computed, "{name}: {text} is not in the program");
    }
}

#[test]
fn arithmetic_rows_are_forms() {
    let arithmetic = OPCODES.iter().filter(|opcode| matches!(opcode.lowering, Lowering::Arithmetic(_)));
    let rows: Vec<&Opcode> = arithmetic.collect();
    assert_eq!(FORMS.len(), rows.len());
    for (opcode, form) in rows.into_iter().zip(FORMS) {
        assert_eq!(form.mnemonic, opcode.name);
        assert_eq!(form.slots().count(), opcode.modifiers.len(), "{}", opcode.name);
        assert_eq!(form.syntax(), opcode.syntax());
    }
}
