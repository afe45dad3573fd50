//! One number taken apart in every named format.

use roundonce_arith::{
    ConversionRounding, Element, Format, NarrowFormat, PackedConversion, Profile, Rounding, Unpacked, unpack,
};
use roundonce_deviate::Typed;
use roundonce_isa::{convert, exact_decimal, hex_bits, hexadecimal, parse_narrow, shortest_decimal};
use serde::Serialize;

use crate::expr::parse_typed;
use crate::text::{COLUMNS, Line, Role};

/// The number in one format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FormatFields {
    /// The format.
    #[serde(rename = "type")]
    pub ty: &'static str,
    /// All bits, in hexadecimal.
    pub bits: String,
    /// The sign's bit.
    pub sign: String,
    /// The exponent's bits.
    pub exponent: String,
    /// The fraction's bits.
    pub fraction: String,
    /// Zero, subnormal, normal, infinity, quiet or signalling NaN.
    pub class: &'static str,
    /// The shortest decimal that means these bits.
    pub value: String,
    /// The value in hexadecimal.
    pub hexadecimal: String,
    /// Whether the format holds the number.
    pub exact: bool,
}

/// A number in its own format and the others, rounded to nearest even where they do not hold it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BitFields {
    /// As written.
    pub value: String,
    /// Its own format.
    #[serde(rename = "type")]
    pub ty: &'static str,
    /// Every digit of it.
    pub exact_decimal: String,
    /// In each format.
    pub formats: Vec<FormatFields>,
}

impl BitFields {
    /// Of a number with its type, as [`parse_typed`] reads it, or of a format of eight bits or fewer (`448:e4m3`); and
    /// whether the type holds what is written.
    ///
    /// # Errors
    /// If it is no number, in a sentence.
    pub fn parse(text: &str) -> Result<(BitFields, bool), String> {
        if let Some((number, name)) = text.rsplit_once(':') {
            if let Some(format) = NarrowFormat::named(name) {
                let width = format.width();
                let expected = || format!("`{number}` is no {name}: expected a number, or {width} bits in hexadecimal");
                let parsed = parse_narrow(format, number).ok_or_else(expected)?;
                return Ok((BitFields::of_narrow(text, format, parsed.bits), parsed.exact));
            }
            let known =
                Format::NAMED.map(|(known, _)| known).into_iter().chain(NarrowFormat::ALL.map(NarrowFormat::name));
            if !known.clone().any(|known| known == name) {
                let known: Vec<&str> = known.collect();
                return Err(format!("`{name}` is no type: expected one of {}", known.join(", ")));
            }
        }
        let (value, exact) = parse_typed(text)?;
        Ok((BitFields::of(text, value), exact))
    }

    /// Of a number, written as `text`.
    ///
    /// ```
    /// let bit_fields = roundonce_why::BitFields::of("0x3c00:f16", roundonce_why::parse_typed("0x3c00:f16").unwrap().0);
    /// assert_eq!(bit_fields.exact_decimal, "1");
    /// ```
    pub fn of(text: &str, value: Typed) -> BitFields {
        BitFields {
            value: text.to_owned(),
            ty: value.format.name().unwrap_or("?"),
            exact_decimal: exact_decimal(value.format, value.bits),
            formats: Format::NAMED
                .map(|(name, format)| row(name, format, value))
                .into_iter()
                .chain(NarrowFormat::ALL.map(|format| narrow_row(format, value)))
                .collect(),
        }
    }

    /// Of a number of a format of eight bits or fewer.
    pub fn of_narrow(text: &str, format: NarrowFormat, bits: u64) -> BitFields {
        let value = Typed { format: Format::F32, bits: format.widen(Format::F32, bits) };
        let mut fields = BitFields { ty: format.name(), ..BitFields::of(text, value) };
        // A NaN or a minus zero keeps its bits.
        for row in fields.formats.iter_mut().filter(|row| row.ty == fields.ty) {
            *row = narrow_fields(format, bits, true);
        }
        fields
    }

    /// The same for a reader.
    pub fn lines(&self) -> Vec<Line> {
        // An infinity may be what a number was rounded to, and a NaN is no number.
        let exactly =
            if self.exact_decimal.ends_with("inf") || self.exact_decimal.ends_with("nan") { "" } else { " exactly" };
        let mut lines =
            vec![Line::of(Role::Strong, self.value.as_str()).and(Role::Faint, format!("   {},{exactly}", self.ty))];
        let head = lines[0].to_string().chars().count() + 1;
        if head + self.exact_decimal.len() <= COLUMNS {
            lines[0].0.push((Role::Plain, format!(" {}", self.exact_decimal)));
        } else {
            let digits: Vec<char> = self.exact_decimal.chars().collect();
            let rows = digits.chunks(COLUMNS - 4).map(|row| row.iter().collect::<String>());
            lines.extend(rows.map(|row| Line::plain(format!("    {row}"))));
        }
        lines.push(Line::default());
        lines.push(Line::of(Role::Label, format!("{:<5} s {:<11} {}", "type", "exponent", "fraction")));
        for row in &self.formats {
            if NarrowFormat::named(row.ty).is_some() {
                let note = if row.exact { "" } else { ", rounded" };
                lines.push(
                    Line::of(Role::Label, format!("{:<5} ", row.ty))
                        .and(Role::Plain, format!("{} {:<11} {:<4} ", row.sign, row.exponent, row.fraction))
                        .and(Role::Strong, row.bits.clone())
                        .and(Role::Plain, format!(" = {}", row.value))
                        .and(Role::Faint, format!("   {}{note}", row.class)),
                );
                continue;
            }
            lines.push(
                Line::of(Role::Label, format!("{:<5} ", row.ty))
                    .and(Role::Plain, format!("{} {:<11} {}", row.sign, row.exponent, row.fraction)),
            );
            let note = if row.exact { "" } else { ", rounded" };
            lines.push(
                Line::plain("      ").and(Role::Strong, row.bits.clone()).and(Role::Plain, format!(" = {}", row.value)),
            );
            lines.push(
                Line::plain(format!("      {}", row.hexadecimal)).and(Role::Faint, format!("   {}{note}", row.class)),
            );
        }
        lines
    }
}

/// Rounded to nearest even; what is too large becomes the largest finite number.
fn narrow_row(format: NarrowFormat, value: Typed) -> FormatFields {
    let conversion = PackedConversion {
        to: Element::Narrow(format),
        from: Element::Float(value.format),
        count: 2,
        rounding: ConversionRounding::Direction(Rounding::NearestEven),
        satfinite: true,
        relu: false,
    };
    let bits = conversion.convert(&Profile::NVIDIA, value.bits, (0, 0));
    let (wide, _) = convert(value.format, Format::F64, Rounding::NearestEven, value.bits);
    let is_nan = value.format.is_nan(value.bits) && format.nan().is_some();
    narrow_fields(format, bits, is_nan || wide == format.widen(Format::F64, bits))
}

fn narrow_fields(format: NarrowFormat, bits: u64, exact: bool) -> FormatFields {
    let fields = format.fields();
    let wide = format.widen(Format::F32, bits);
    FormatFields {
        class: match format.unpack(bits) {
            Unpacked::Zero { .. } => "zero",
            Unpacked::Finite(_) if bits & fields.magnitude_mask() == format.largest_finite() => "largest finite",
            Unpacked::Finite(_) if fields.is_subnormal(bits) => "subnormal",
            Unpacked::Finite(_) => "normal",
            Unpacked::Infinite { .. } => "infinity",
            Unpacked::Nan { .. } => "NaN",
        },
        exact,
        value: shortest_decimal(Format::F32, wide),
        hexadecimal: hexadecimal(Format::F32, wide),
        ..layout(format.name(), fields, bits)
    }
}

fn row(ty: &'static str, format: Format, value: Typed) -> FormatFields {
    let (bits, exact) = convert(value.format, format, Rounding::NearestEven, value.bits);
    FormatFields {
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
        ..layout(ty, format, bits)
    }
}

/// The bits and their fields, and nothing about the value.
fn layout(ty: &'static str, format: Format, bits: u64) -> FormatFields {
    let field = |bits: u64, width: u32| format!("{bits:0width$b}", width = width as usize);
    FormatFields {
        ty,
        bits: hex_bits(format.width(), bits),
        sign: field(u64::from(format.is_negative(bits)), 1),
        exponent: field(bits >> format.frac_bits() & format.exp_max(), format.exp_bits()),
        fraction: field(bits & format.frac_mask(), format.frac_bits()),
        class: "",
        value: String::new(),
        hexadecimal: String::new(),
        exact: true,
    }
}
