//! Straight-line listings of SASS: their registers and words of constant banks.

use std::collections::BTreeMap;
use std::path::Path;

use roundonce::answers::{inexact_number, located};
use roundonce::arith::Format;
use roundonce::kernel::{self, LaneValues, Lanes};
use roundonce::sass::{self, Lowered, Name};

use super::{LaunchArguments, split_pair};
use crate::array::Array;
use crate::asm::check_listing;
use crate::{Failure, files, output};

/// A .sass listing with its registers and constants, and its text.
pub(crate) fn listing(
    path: &Path,
    entry: Option<&str>,
    arguments: &LaunchArguments,
) -> Result<(Lowered, Lanes, String), Failure> {
    let text = files::text(path, files::read(path)?)?;
    check_listing(path, &text)?;
    let lowered = sass::lower(&text, entry).map_err(|findings| {
        let unknown = findings.iter().any(|finding| finding.code == sass::NOT_COMPUTED);
        let text = located(&path.display().to_string(), &text, findings);
        if unknown { Failure::Unsupported(text) } else { Failure::Input(text) }
    })?;
    let lanes = kernel::lanes(&lowered, &given(arguments)?, missing).map_err(Failure::Input)?;
    let fits = lanes.fit(arguments.grid, arguments.block);
    fits.map_err(|problem| Failure::Input(format!("{}: {problem}", path.display())))?;
    Ok((lowered, lanes, text))
}

/// `R1=0x3f800000`, `P0=1`, `0x3:0x140=x.npy`, by the names that the lowering gives.
fn given(arguments: &LaunchArguments) -> Result<BTreeMap<String, LaneValues>, Failure> {
    let mut given = BTreeMap::new();
    let registers = arguments.reg.iter().map(|text| ("--reg", text));
    let constants = arguments.cbank.iter().map(|text| ("--cbank", text));
    for (option, text) in registers.chain(constants) {
        let (name, value) = split_pair(option, text)?;
        let name = if option == "--reg" { register_name(name)? } else { constant_name(name)? };
        let value = if value.is_array() {
            LaneValues::of_bytes(name, &Array::read(value.path())?.bytes)
        } else {
            let number = value.text()?;
            let is_word = matches!(name, Name::Register(_) | Name::Constant { .. });
            let what = format!("{option} {name}: `{number}`");
            let note = inexact_number(&what, Format::F32, number).filter(|_| is_word);
            note.iter().for_each(|note| output::note(note));
            LaneValues::parse(name, number)
        };
        let value = value.map_err(|problem| Failure::Input(format!("{option} {text}: {problem}")))?;
        let name = name.to_string();
        if given.insert(name.clone(), value).is_some() {
            return Err(Failure::Input(format!("{option}: `{name}` is given twice")));
        }
    }
    Ok(given)
}

fn register_name(text: &str) -> Result<Name, Failure> {
    let problem = || Failure::Input(format!("--reg `{text}` is not R0 to R254, P0 to P6 or CC"));
    kernel::register_name(text).ok_or_else(problem)
}

fn constant_name(text: &str) -> Result<Name, Failure> {
    let problem = || Failure::Input(format!("--cbank `{text}` is not BANK:OFFSET, such as 0x3:0x140"));
    kernel::constant_name(text).ok_or_else(problem)
}

fn missing(name: &Name) -> String {
    let option = match name {
        Name::Constant { bank, offset } => format!("--cbank {bank:#x}:{offset:#x}=…"),
        _ => format!("--reg {name}=…"),
    };
    format!("{name} is read before it is written: add {option}")
}
