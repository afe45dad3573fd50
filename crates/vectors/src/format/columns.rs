//! Vectors that a file keeps as columns.

use roundonce::Value;
use roundonce::arith::{Elements, Format};
use roundonce::isa::hex_bits;

use super::{Bits, Options, SCALES, known, name};
use crate::block::{Block, Vector};
use crate::instruction::InstructionUnderTest;
use crate::matrices::MatrixRow;
use crate::verify::{Known, Verifier};

/// What a file says that its integers are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// Bits; the upper ones are zero where an operand has more.
    Unsigned,
    /// Numbers of so many bits with a sign.
    Signed(u32),
    /// The bits of floats.
    Float(Format),
    /// So many bits of a type that the file does not name, as NumPy saves a bf16.
    Opaque(u32),
}

impl Meaning {
    /// Whether they are the bits of a value, and if not, what they are. `any` are the bits that any of them has.
    fn check(self, any: u64, format: Format, components: u32) -> Result<(), String> {
        let width = format.width() * components;
        let name = |format: Format| format.name().map_or_else(|| format!("{} bits", format.width()), str::to_owned);
        let found = match self {
            Meaning::Signed(own) if own != width && any >> (own - 1) != 0 => format!("a negative number of {own} bits"),
            Meaning::Float(own) if own != format || components != 1 => format!("floats of {}", name(own)),
            Meaning::Opaque(own) if own != width => format!("{own} bits of another type"),
            _ => return Ok(()),
        };
        let expected = if components == 1 { name(format) } else { format!("{components} × {}", name(format)) };
        Err(format!("expected bits of {expected}, found {found}"))
    }
}

/// Values of a part of a column.
pub(super) enum Cells {
    Integers(Elements, Meaning),
    Texts(Vec<String>),
    /// The same in every row.
    Text(String),
}

impl Cells {
    fn get(&self, row: usize) -> Bits<'_> {
        match self {
            Cells::Integers(all, _) => Bits::Integer(all.get(row)),
            Cells::Texts(all) => Bits::Hex(&all[row]),
            Cells::Text(text) => Bits::Hex(text),
        }
    }
    /// The components of integers that fit.
    fn components(self, count: usize, format: Format, components: u32) -> Elements {
        match (self, format.width()) {
            (Cells::Integers(all, _), width) if components == 1 && all.width() == width => all,
            (cells, width) => {
                let mut elements = Elements::of(format);
                for row in 0..count {
                    let Bits::Integer(bits) = cells.get(row) else { continue };
                    (0..components).for_each(|component| elements.push(bits >> (component * width) & format.mask()));
                }
                elements
            }
        }
    }
}

/// A part of a column.
pub(super) struct Column {
    pub(super) cells: Cells,
    /// Where the file says so: whether there is a value.
    pub(super) present: Option<Vec<bool>>,
}

impl Column {
    /// The bits that any row's integer has, if every row has one.
    fn any(&self) -> Option<u64> {
        match &self.cells {
            Cells::Integers(all, _) if self.present.is_none() => Some(all.iter().fold(0, |any, bits| any | bits)),
            _ => None,
        }
    }
    /// Whether every row has an integer that is a value of so many components.
    fn fits(&self, format: Format, components: u32) -> bool {
        let (Some(any), Cells::Integers(_, meaning)) = (self.any(), &self.cells) else { return false };
        let is_narrow = any.checked_shr(format.width() * components).unwrap_or(0) == 0;
        is_narrow && meaning.check(any, format, components).is_ok()
    }
    fn get(&self, row: usize) -> Option<Bits<'_>> {
        self.present.as_ref().is_none_or(|present| present[row]).then(|| self.cells.get(row))
    }
    /// The same, if it may be a value of so many components.
    fn value(&self, row: usize, format: Format, components: u32) -> Option<Result<Bits<'_>, String>> {
        let bits = self.get(row)?;
        Some(match (&self.cells, bits) {
            (Cells::Integers(_, meaning), Bits::Integer(integer)) => {
                meaning.check(integer, format, components).map(|()| bits)
            }
            _ => Ok(bits),
        })
    }
    /// Whether every row has the same text.
    fn is_one_text(&self) -> bool {
        match &self.cells {
            _ if self.present.is_some() => false,
            Cells::Integers(..) => false,
            Cells::Texts(all) => all.windows(2).all(|pair| pair[0] == pair[1]),
            Cells::Text(_) => true,
        }
    }
}

/// The columns that are read, in the order in which they are asked for.
pub(super) static COLUMNS: [&str; 9] = ["instruction", "arch", "a", "b", "c", "sa", "sb", "d", "flags"];

/// Some rows of a file.
pub(super) struct Part {
    /// The first row's number, from 1.
    pub(super) first: u64,
    pub(super) count: usize,
    /// As in [`COLUMNS`].
    pub(super) columns: [Option<Column>; 9],
}

/// The instructions of some rows.
enum Names {
    /// One.
    All(Known),
    /// Each row's, or what is wrong with it.
    Each(Vec<Result<Known, String>>),
}

/// The columns that a file must have. The verifier notes those that are not read.
///
/// # Errors
/// If one is not there or there twice, or there is no instruction.
pub(super) fn check(names: &[String], options: &Options, verifier: &mut Verifier<'_>) -> Result<(), String> {
    let has = |name: &str| names.iter().any(|known| known == name);
    for name in ["a", "b", "d"] {
        if !has(name) {
            return Err(format!("there is no column `{name}`: found {}", names.join(", ")));
        }
    }
    if let Some(name) = COLUMNS.iter().find(|name| names.iter().filter(|known| known == *name).count() > 1) {
        return Err(format!("there are several columns `{name}`: expected one"));
    }
    if !has("instruction") && options.instruction.is_none() {
        return Err("there is no column `instruction`: say which with --instruction".to_owned());
    }
    let unknown = names.iter().filter(|name| !COLUMNS.contains(&name.as_str()));
    unknown.for_each(|name| verifier.ignored(name));
    Ok(())
}

impl Part {
    /// Judges the rows.
    pub(super) fn judge(self, options: &Options, verifier: &mut Verifier<'_>) {
        let Part { first, count, columns: [instruction, arch, a, b, c, sa, sb, result, flags] } = self;
        let names = names([instruction.as_ref(), arch.as_ref()], count, options, verifier);
        let values = Values { first, count, operands: [a, b, c], scales: [sa, sb], result, flags };
        match names {
            Names::All(Known::Scalar(index)) if values.is_plain(verifier.instruction(index)) => {
                let block = values.block(verifier.instruction(index));
                verifier.judge(index, &block);
            }
            names => values.judge_rows(&names, verifier),
        }
    }
}

/// What the rows are about, each on its machine where it says one.
fn names(
    [instruction, arch]: [Option<&Column>; 2],
    count: usize,
    options: &Options,
    verifier: &mut Verifier<'_>,
) -> Names {
    let mut name =
        |row: usize| known(text("instruction", instruction, row)?, text("arch", arch, row)?, options, verifier);
    let is_one = [instruction, arch].into_iter().flatten().all(Column::is_one_text);
    match is_one.then(|| name(0)) {
        Some(Ok(all)) => Names::All(all),
        _ => Names::Each((0..count).map(name).collect()),
    }
}

/// A row's text; `None` if nothing is there.
fn text<'c>(name: &str, column: Option<&'c Column>, row: usize) -> Result<Option<&'c str>, String> {
    match column.and_then(|column| column.get(row)) {
        Some(Bits::Integer(_)) => Err(format!("{name}: expected a string")),
        Some(Bits::Hex(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        None => Ok(None),
    }
}

/// The values of some rows.
struct Values {
    first: u64,
    count: usize,
    operands: [Option<Column>; 3],
    scales: [Option<Column>; 2],
    result: Option<Column>,
    flags: Option<Column>,
}

impl Values {
    /// The columns of an instruction, the result's last.
    fn columns(&self, tested: &InstructionUnderTest) -> impl Iterator<Item = Option<&Column>> {
        self.operands.iter().take(tested.arity()).map(Option::as_ref).chain([self.result.as_ref()])
    }

    /// Whether the columns can be taken as they are.
    fn is_plain(&self, tested: &InstructionUnderTest) -> bool {
        let fits = |(at, column): (usize, Option<&Column>)| {
            column.is_some_and(|it| it.fits(tested.format(at), tested.components()))
        };
        self.count <= Block::capacity(tested.components())
            && self.columns(tested).enumerate().all(fits)
            && self.flags.as_ref().is_none_or(|flags| flags.any().is_some_and(|any| any < 32))
    }

    fn block(self, tested: &InstructionUnderTest) -> Block {
        let columns = self.operands.into_iter().take(tested.arity()).chain([self.result]).flatten().enumerate();
        let columns = columns
            .map(|(at, column)| column.cells.components(self.count, tested.format(at), tested.components()))
            .collect();
        let flags = self.flags.as_ref().map_or(0..0, |_| 0..self.count);
        let flags = flags.filter_map(|row| self.flags.as_ref()?.get(row)?.flags().ok()).collect();
        Block { rows: (self.first..).take(self.count).collect(), columns, flags }
    }

    fn judge_rows(&self, names: &Names, verifier: &mut Verifier<'_>) {
        for at in 0..self.count {
            let row = self.first + at as u64;
            let index = match names {
                Names::All(index) => Ok(*index),
                Names::Each(all) => all[at].clone(),
            };
            let read = index.and_then(|index| match index {
                Known::Scalar(index) => {
                    let vector = self.vector(verifier.instruction(index), at)?;
                    verifier.push(index, row, &vector);
                    Ok(())
                }
                Known::Matrix(index) => self.element(verifier, index, at, row),
            });
            if let Err(problem) = read {
                verifier.bad(row, &problem);
            }
        }
    }

    /// An element of a matrix multiply-add: its columns are strings, as `eval` reads them.
    fn element(&self, verifier: &mut Verifier<'_>, index: usize, at: usize, row: u64) -> Result<(), String> {
        let [a, b, c] = &self.operands;
        let digits = |name: &str, column: &Option<Column>| {
            text(name, column.as_ref(), at)?.map(str::to_owned).ok_or_else(|| format!("{name}: nothing is there"))
        };
        let number = |name: &str, column: Option<&Column>, format: Format| {
            let value = column.and_then(|column| column.value(at, format, 1));
            match value {
                Some(Ok(Bits::Hex(text))) => Ok(text.to_owned()),
                Some(Ok(Bits::Integer(bits))) => Ok(hex_bits(format.width(), bits)),
                Some(Err(problem)) => Err(format!("{name}: {problem}")),
                None => Err(format!("{name}: nothing is there")),
            }
        };
        let [of_c, of_d] = verifier.accumulators(index);
        let mut operands = vec![digits("a", a)?, digits("b", b)?, number("c", c.as_ref(), of_c)?];
        for (name, column) in SCALES.into_iter().zip(&self.scales) {
            operands.extend(text(name, column.as_ref(), at)?.map(|digits| format!("{name}={digits}")));
        }
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        let result = number("d", self.result.as_ref(), of_d)?;
        verifier.push_matrix(index, row, &MatrixRow { operands: &operands, result: &result })
    }

    fn vector(&self, tested: &InstructionUnderTest, row: usize) -> Result<Vector, String> {
        let value = |(at, column): (usize, Option<&Column>)| {
            let wrong = |problem: &str| format!("{}: {problem}", name(tested, at));
            match column.and_then(|column| column.value(row, tested.format(at), tested.components())) {
                Some(bits) => bits.map_err(|problem| wrong(&problem))?.value(tested, at),
                None => Err(wrong("nothing is there")),
            }
        };
        let mut values = self.columns(tested).enumerate().map(value).collect::<Result<Vec<_>, String>>()?;
        let result = values.pop().unwrap_or(Value::scalar(0));
        let flags = self.flags.as_ref().and_then(|flags| flags.get(row)).map(Bits::flags).transpose()?;
        Ok(Vector { operands: values, result, flags })
    }
}
