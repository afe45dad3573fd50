//! Berkeley TestFloat's text: `a b c d flags` a line, in hex digits without a prefix. It names no instruction.
//!
//! Source: TestFloat 3e, testfloat_gen and testfloat_ver.

use std::io::{self, Write};

use super::{Bits, Options, refused};
use crate::block::Vector;
use crate::generate::Generated;
use crate::verify::Verifier;

/// One line. The outer error ends the run: without an instruction no line can be read.
pub(super) fn line(
    line: &[u8],
    row: u64,
    options: &Options,
    verifier: &mut Verifier<'_>,
) -> Result<Result<(), String>, String> {
    let Some(tested) = &options.instruction else {
        return Err("TestFloat's text names no instruction: say which with --instruction".to_owned());
    };
    let index = verifier.index_or_add(tested);
    let vector = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned()).and_then(|line| {
        let mut words = line.split_ascii_whitespace();
        let arity = tested.arity();
        let mut value = |column| {
            let word = words.next().ok_or_else(|| format!("expected {} operands, a result and flags", arity))?;
            Bits::Hex(word).value(tested, column)
        };
        let operands = (0..arity).map(&mut value).collect::<Result<Vec<_>, String>>()?;
        let result = value(arity)?;
        let flags = words.next().map(|word| Bits::Hex(word).flags()).transpose()?;
        match words.next() {
            Some(extra) => Err(format!("`{extra}` is one too many: expected {arity} operands, a result and flags")),
            None => Ok(Vector { operands, result, flags }),
        }
    });
    Ok(vector.map(|vector| verifier.push(index, row, &vector)))
}

pub(super) fn write(vectors: &Generated, out: &mut impl Write) -> io::Result<()> {
    if vectors.instructions().len() > 1 {
        return Err(refused("TestFloat's text names no instruction: give one, or another format"));
    }
    for (tested, vector) in vectors.iter() {
        for (column, value) in vector.operands.iter().chain([&vector.result]).enumerate() {
            write!(out, "{} ", value.hex(tested.format(column))[2..].to_uppercase())?;
        }
        writeln!(out, "{:02X}", vector.flags.unwrap_or(0))?;
    }
    Ok(())
}
