//! A C header: for each instruction an array of structures. Values of more than 64 bits are arrays of components, the
//! lowest first.

use std::io::{self, Write};

use super::name;
use crate::block::pack;
use crate::generate::Generated;
use crate::instruction::InstructionUnderTest;

pub(super) fn write(vectors: &Generated, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "/* Operands, result, exceptions (1 inexact, 2 underflow, 4 overflow, 16 invalid). */")?;
    writeln!(out, "#pragma once\n#include <stdint.h>")?;
    for tested in vectors.instructions() {
        let name = identifier(&tested.spelling);
        let fields: Vec<String> = (0..=tested.arity()).map(|column| field(tested, column)).collect();
        writeln!(out, "\n/* {} */\nstruct {name} {{ {} uint8_t flags; }};", tested.spelling, fields.join(" "))?;
        writeln!(out, "static const struct {name} {name}_vectors[{}] = {{", vectors.count())?;
        for vector in vectors.of(tested) {
            let values = vector.operands.iter().chain([&vector.result]).enumerate();
            let values: Vec<String> = values.map(|(column, value)| literal(tested, column, value)).collect();
            writeln!(out, "  {{{}, {:#04x}}},", values.join(", "), vector.flags.unwrap_or(0))?;
        }
        writeln!(out, "}};")?;
    }
    Ok(())
}

/// `fma.rn.f32` as a name of C: `fma_rn_f32`.
fn identifier(spelling: &str) -> String {
    spelling.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn field(tested: &InstructionUnderTest, column: usize) -> String {
    let name = name(tested, column);
    match tested.width(column) {
        width @ ..=64 => format!("uint{}_t {name};", width.next_power_of_two()),
        _ => format!("uint{}_t {name}[{}];", tested.format(column).width(), tested.components()),
    }
}

fn literal(tested: &InstructionUnderTest, column: usize, value: &roundonce::Value) -> String {
    let format = tested.format(column);
    let hex = |width: u32, bits: u64| {
        let suffix = if width > 32 { "ull" } else { "u" };
        format!("{}{suffix}", roundonce::isa::hex_bits(width, bits))
    };
    match tested.width(column) {
        width @ ..=64 => hex(width, pack(format, value)),
        _ => {
            let components: Vec<String> = value.components().iter().map(|bits| hex(format.width(), *bits)).collect();
            format!("{{{}}}", components.join(", "))
        }
    }
}
