//! A memory image for SystemVerilog's `$readmemh`: one word a vector, operands first, then the result and eight bits of
//! flags. IEEE 1800-2017, 21.4: hex digits, `_` between them, `//` comments.

use std::io::{self, Write};

use super::{name, refused};
use crate::generate::Generated;

pub(super) fn write(vectors: &Generated, out: &mut impl Write) -> io::Result<()> {
    let [tested] = vectors.instructions() else {
        return Err(refused("a memory has words of one width: give one instruction, or another format"));
    };
    let columns = 0..=tested.arity();
    let bits = columns.clone().map(|column| tested.width(column)).sum::<u32>() + 8;
    let names = columns.map(|column| format!("{}[{}:0]", name(tested, column), tested.width(column) - 1));
    let names: Vec<String> = names.chain(["flags[7:0]".to_owned()]).collect();
    let last = vectors.count() - 1;
    writeln!(out, "// {}: {{{}}}", tested.spelling, names.join(", "))?;
    writeln!(out, "// reg [{}:0] vectors [0:{last}]; initial $readmemh(\"FILE\", vectors);", bits - 1)?;
    for vector in vectors.of(tested) {
        for (column, value) in vector.operands.iter().chain([&vector.result]).enumerate() {
            write!(out, "{}_", &value.hex(tested.format(column))[2..])?;
        }
        writeln!(out, "{:02x}", vector.flags.unwrap_or(0))?;
    }
    Ok(())
}
