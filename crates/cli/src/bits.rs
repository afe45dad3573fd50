//! `bits`: one number taken apart.

use clap::Args;
use roundonce::arith::{Format as Float, Rounding, Unpacked, unpack};
use roundonce::isa::{convert, exact_decimal, hex_bits, hexadecimal, shortest_decimal};
use roundonce::why::{Line, Role, Typed, parse_typed};
use serde::Serialize;

use crate::output::{self, Format, FormatArgument};
use crate::{Ended, Failure, Status};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A number with its type: 1e20f f32, 2.0 f64, 1.5h f16, 1.5b bf16, 0x3f800000, 0x3c00:f16
    #[arg(value_parser = output::signed)]
    value: String,
    #[command(flatten)]
    format: FormatArgument,
}

/// The number in one format.
#[derive(Serialize)]
struct Row {
    #[serde(rename = "type")]
    ty: &'static str,
    bits: String,
    sign: String,
    exponent: String,
    fraction: String,
    class: &'static str,
    value: String,
    hexadecimal: String,
    exact: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    value: &'a str,
    #[serde(rename = "type")]
    ty: &'static str,
    exact_decimal: String,
    formats: Vec<Row>,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let (value, exact) = parse_typed(&arguments.value).map_err(Failure::Input)?;
    let ty = value.format.name().unwrap_or("?");
    if !exact {
        output::note(&format!("`{}` is not exact in {ty}: rounded once, to nearest even", arguments.value));
    }
    let report = Report {
        value: &arguments.value,
        ty,
        exact_decimal: exact_decimal(value.format, value.bits),
        formats: Float::NAMED.map(|(name, format)| row(name, format, value)).into(),
    };
    if arguments.format.format == Format::Json {
        output::json(&report)?;
        return Ok(Status::Done);
    }
    let mut lines = vec![
        Line::of(Role::Strong, report.value)
            .and(Role::Faint, format!("   {ty}, exactly "))
            .and(Role::Plain, report.exact_decimal.clone()),
        Line::default(),
        Line::of(Role::Label, format!("{:<5} {:<18} s {:<11} {}", "type", "bits", "exponent", "fraction")),
    ];
    for row in &report.formats {
        lines.push(
            Line::of(Role::Label, format!("{:<5} ", row.ty))
                .and(Role::Strong, format!("{:<18} ", row.bits))
                .and(Role::Plain, format!("{} {:<11} {}", row.sign, row.exponent, row.fraction)),
        );
        let note = if row.exact { "" } else { ", rounded" };
        lines.push(
            Line::plain(format!("      {} = {}", row.value, row.hexadecimal))
                .and(Role::Faint, format!("   {}{note}", row.class)),
        );
    }
    output::lines(&lines)?;
    Ok(Status::Done)
}

fn row(ty: &'static str, format: Float, value: Typed) -> Row {
    let (bits, exact) = convert(value.format, format, Rounding::NearestEven, value.bits);
    let field = |bits: u64, width: u32| format!("{bits:0width$b}", width = width as usize);
    Row {
        ty,
        bits: hex_bits(format.width(), bits),
        sign: field(u64::from(format.is_negative(bits)), 1),
        exponent: field(bits >> format.frac_bits() & format.exp_max(), format.exp_bits()),
        fraction: field(bits & format.frac_mask(), format.frac_bits()),
        class: match unpack(format, bits) {
            Unpacked::Zero { .. } => "zero",
            Unpacked::Finite(_) if format.is_subnormal(bits) => "subnormal",
            Unpacked::Finite(_) => "normal",
            Unpacked::Infinite { .. } => "infinity",
            Unpacked::Nan { signalling: true } => "signalling NaN",
            Unpacked::Nan { signalling: false } => "quiet NaN",
        },
        value: shortest_decimal(format, bits),
        hexadecimal: hexadecimal(format, bits),
        exact,
    }
}
