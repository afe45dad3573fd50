//! A JSON object a line: `{"instruction":"fma.rn.f32","a":"0x3f800001",…,"d":"0x28800000","flags":0}`.

use std::borrow::Cow;
use std::io::{self, Write};
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use super::columns::COLUMNS;
use super::{Bits, Options, known};
use crate::block::Vector;
use crate::generate::Generated;
use crate::matrices::MatrixRow;
use crate::verify::{Known, Verifier};
use roundonce::{calls_second_c, matrix};

/// Bits as JSON has them.
enum Json<'a> {
    Integer(u64),
    Text(Cow<'a, str>),
}

impl Json<'_> {
    fn bits(&self) -> Bits<'_> {
        match self {
            Json::Integer(bits) => Bits::Integer(*bits),
            Json::Text(digits) => Bits::Hex(digits),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json<'a>, D::Error> {
        struct OfJson;
        impl<'de> Visitor<'de> for OfJson {
            type Value = Json<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string of hex digits or an unsigned integer")
            }
            fn visit_u64<E: Error>(self, bits: u64) -> Result<Json<'de>, E> {
                Ok(Json::Integer(bits))
            }
            fn visit_borrowed_str<E: Error>(self, digits: &'de str) -> Result<Json<'de>, E> {
                Ok(Json::Text(Cow::Borrowed(digits)))
            }
            fn visit_str<E: Error>(self, digits: &str) -> Result<Json<'de>, E> {
                Ok(Json::Text(Cow::Owned(digits.to_owned())))
            }
        }
        deserializer.deserialize_any(OfJson)
    }
}

/// A row: what its columns hold, in the order of [`COLUMNS`], and the names of others.
struct Row<'a, V> {
    values: [Option<V>; COLUMNS.len()],
    ignored: Vec<Cow<'a, str>>,
}

/// The place of a column; `instr` is short for the first.
fn place(name: &str) -> Option<usize> {
    let name = if name == "instr" { "instruction" } else { name };
    COLUMNS.iter().position(|known| *known == name)
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Row<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Row<'a, V>, D::Error> {
        struct OfObject<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for OfObject<V> {
            type Value = Row<'de, V>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Row<'de, V>, A::Error> {
                let mut row = Row { values: [const { None }; COLUMNS.len()], ignored: Vec::new() };
                let mut there = [false; COLUMNS.len()];
                while let Some(name) = members.next_key::<Json<'de>>()? {
                    let Json::Text(name) = name else { continue };
                    match place(&name) {
                        Some(at) if there[at] => return Err(Error::duplicate_field(COLUMNS[at])),
                        Some(at) => (there[at], row.values[at]) = (true, members.next_value()?),
                        None => {
                            members.next_value::<IgnoredAny>()?;
                            row.ignored.push(name);
                        }
                    }
                }
                Ok(row)
            }
        }
        deserializer.deserialize_map(OfObject(PhantomData))
    }
}

impl<V> Row<'_, V> {
    /// What its columns hold; the verifier notes the others.
    fn values(self, verifier: &mut Verifier<'_>) -> [Option<V>; COLUMNS.len()] {
        self.ignored.iter().for_each(|name| verifier.ignored(name));
        self.values
    }
}

/// A captured matrix multiply-add: rows of a, columns of b, rows of c and d; or one element, a string each.
#[derive(Deserialize)]
struct MatrixLine<'a> {
    #[serde(borrow, alias = "instr")]
    instruction: Cow<'a, str>,
    arch: Option<String>,
    a: Rows,
    b: Rows,
    c: Rows,
    d: Rows,
    sa: Option<Rows>,
    sb: Option<Rows>,
}

/// Rows of hex digits, or one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Rows {
    One(String),
    All(Vec<String>),
}

impl Rows {
    fn all(&self) -> &[String] {
        match self {
            Rows::One(row) => std::slice::from_ref(row),
            Rows::All(rows) => rows,
        }
    }
}

/// Whether a line names a matrix multiply-add.
fn is_matrix_line(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Spelling<'a> {
        #[serde(borrow, alias = "instr")]
        instruction: Cow<'a, str>,
    }
    serde_json::from_slice(line).is_ok_and(|Spelling { instruction }| matrix::is_matrix(&instruction))
}

/// The elements of a captured matrix multiply-add.
fn matrix_line(line: &[u8], number: u64, options: &Options, verifier: &mut Verifier<'_>) -> Result<(), String> {
    let row: MatrixLine<'_> = serde_json::from_slice(line).map_err(|error| unread(line, &error))?;
    let names: Row<'_, IgnoredAny> = serde_json::from_slice(line).map_err(|error| unread(line, &error))?;
    names.values(verifier);
    let index = match known(Some(&row.instruction), row.arch.as_deref(), options, verifier)? {
        Known::Matrix(index) => index,
        Known::Scalar(_) => return Err(format!("`{}` is no matrix multiply-add", row.instruction)),
    };
    let (a, b, c, d) = (row.a.all(), row.b.all(), row.c.all(), row.d.all());
    if [c.len(), d.len()] != [a.len(); 2] {
        return Err(format!("a has {} rows, c {} and d {}", a.len(), c.len(), d.len()));
    }
    let scales = |name: &str, rows: &Option<Rows>, at: usize| -> Option<String> {
        Some(format!("{name}={}", rows.as_ref()?.all().get(at)?))
    };
    for (at, a) in a.iter().enumerate() {
        // A row of c has an element for each column of b, all of one width.
        let element = |row: &'_ str, column: usize| -> Result<String, String> {
            let width = row.len() / b.len().max(1);
            let found = row.get(column * width..(column + 1) * width).filter(|_| width * b.len() == row.len());
            found.map(str::to_owned).ok_or_else(|| format!("a row of {} digits for {} columns", row.len(), b.len()))
        };
        for (column, b) in b.iter().enumerate() {
            let (c, d) = (element(&c[at], column)?, element(&d[at], column)?);
            let scales = [scales("sa", &row.sa, at), scales("sb", &row.sb, column)];
            let mut operands = vec![a.as_str(), b, &c];
            operands.extend(scales.iter().flatten().map(String::as_str));
            verifier.push_matrix(index, number, &MatrixRow { operands: &operands, result: &d })?;
        }
    }
    Ok(())
}

/// Why a line is no row.
fn unread(line: &[u8], error: &serde_json::Error) -> String {
    if !line.starts_with(b"{") {
        return "expected a JSON object with instruction, a, b, c, d and flags".to_owned();
    }
    match error.classify() {
        Category::Data => {
            let message = error.to_string();
            let message = message.split_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            // An enumeration of ours has no words for what it expects.
            let is_list = message.contains("untagged enum");
            let message = if is_list { "expected a string of hex digits, or a list of them" } else { message };
            match error.column() {
                0 => message.to_owned(),
                column => format!("column {column}: {message}"),
            }
        }
        Category::Eof => "the JSON object ends too early".to_owned(),
        Category::Syntax | Category::Io => format!("column {}: no JSON", error.column()),
    }
}

/// What is a string where it is there.
fn text<'j>(name: &str, json: Option<&'j Json<'_>>) -> Result<Option<&'j str>, String> {
    match json {
        Some(Json::Text(text)) => Ok(Some(text)),
        Some(Json::Integer(_)) => Err(format!("{name}: expected a string")),
        None => Ok(None),
    }
}

/// One line.
pub(super) fn line(line: &[u8], number: u64, options: &Options, verifier: &mut Verifier<'_>) -> Result<(), String> {
    let row: Row<'_, Json<'_>> = match serde_json::from_slice(line) {
        Ok(Row { values: [Some(Json::Text(spelling)), ..], .. }) if matrix::is_matrix(&spelling) => {
            return matrix_line(line, number, options, verifier);
        }
        Ok(row) => row,
        // Its matrices are lists, which are no bits.
        Err(_) if is_matrix_line(line) => return matrix_line(line, number, options, verifier),
        Err(error) => return Err(unread(line, &error)),
    };
    let [instruction, arch, a, b, c, _, _, d, flags] = row.values(verifier);
    let (instruction, arch) = (text("instruction", instruction.as_ref())?, text("arch", arch.as_ref())?);
    let index = match known(instruction, arch, options, verifier)? {
        Known::Scalar(index) => index,
        Known::Matrix(_) => return Err("instruction: a matrix".to_owned()),
    };
    let tested = verifier.instruction(index);
    let value = |column: usize, json: &Option<Json<'_>>| match json {
        Some(json) => json.bits().value(tested, column),
        None => Err(format!("{}: nothing is there", super::name(tested, column))),
    };
    let arity = tested.arity();
    // Of a sum of another type the manual calls it c.
    let second = if b.is_none() && calls_second_c(&tested.instruction) { &c } else { &b };
    let operands = [&a, second, &c].into_iter().take(arity).enumerate();
    let vector = Vector {
        operands: operands.map(|(column, json)| value(column, json)).collect::<Result<_, String>>()?,
        result: value(arity, &d)?,
        flags: flags.as_ref().map(|flags| flags.bits().flags()).transpose()?,
    };
    verifier.push(index, number, &vector);
    Ok(())
}

#[derive(Serialize)]
struct Written<'a> {
    instruction: &'a str,
    a: String,
    b: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<String>,
    d: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<u8>,
}

pub(super) fn write(vectors: &Generated, out: &mut impl Write) -> io::Result<()> {
    for (tested, vector) in vectors.iter() {
        let operand = |column: usize| vector.operands.get(column).map(|value| value.hex(tested.format(column)));
        let row = Written {
            instruction: &tested.spelling,
            a: operand(0).unwrap_or_default(),
            b: operand(1).unwrap_or_default(),
            c: operand(2),
            d: vector.result.hex(tested.format(tested.arity())),
            flags: vector.flags,
        };
        serde_json::to_writer(&mut *out, &row)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
