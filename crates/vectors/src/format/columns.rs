//! Vectors that a file keeps as columns.

use roundonce::Value;
use roundonce::arith::{Elements, Format};

use super::{Bits, OPERANDS, Options, name};
use crate::block::{Block, Vector};
use crate::instruction::InstructionUnderTest;
use crate::matrices::MatrixRow;
use crate::verify::{Known, Verifier};

/// Values of a part of a column.
pub(super) enum Cells {
    Integers(Elements),
    Hex(Vec<String>),
}

impl Cells {
    fn get(&self, row: usize) -> Bits<'_> {
        match self {
            Cells::Integers(all) => Bits::Integer(all.get(row)),
            Cells::Hex(all) => Bits::Hex(&all[row]),
        }
    }
    /// The bits that any of the integers has.
    fn any(&self) -> Option<u64> {
        match self {
            Cells::Integers(all) => Some(all.iter().fold(0, |any, bits| any | bits)),
            Cells::Hex(_) => None,
        }
    }
    /// The components of integers that fit.
    fn components(self, count: usize, format: Format, components: u32) -> Elements {
        match (self, format.width()) {
            (Cells::Integers(all), width) if components == 1 && all.width() == width => all,
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
    /// Whether every row has an integer of no more than so many bits.
    fn fits(&self, bits: u32) -> bool {
        self.present.is_none() && self.cells.any().is_some_and(|any| any.checked_shr(bits).unwrap_or(0) == 0)
    }
    fn get(&self, row: usize) -> Option<Bits<'_>> {
        self.present.as_ref().is_none_or(|present| present[row]).then(|| self.cells.get(row))
    }
}

/// The instructions of a part of a file.
pub(super) enum Names {
    /// One.
    All(Known),
    /// Each row's, or what is wrong with it.
    Each(Vec<Result<Known, String>>),
}

/// Some rows of a file.
pub(super) struct Part {
    /// The first row's number, from 1.
    pub(super) first: u64,
    pub(super) count: usize,
    pub(super) names: Names,
    pub(super) operands: [Option<Column>; 3],
    pub(super) result: Column,
    pub(super) flags: Option<Column>,
}

/// The columns that a file must have.
///
/// # Errors
/// If one is not there, or there is no instruction.
pub(super) fn check(names: &[String], options: &Options) -> Result<(), String> {
    let has = |name: &str| names.iter().any(|known| known == name);
    for name in ["a", "b", "d"] {
        if !has(name) {
            return Err(format!("there is no column `{name}`: found {}", names.join(", ")));
        }
    }
    if !has("instruction") && options.instruction.is_none() {
        return Err("there is no column `instruction`: say which with --instruction".to_owned());
    }
    Ok(())
}

impl Part {
    /// Judges the rows.
    pub(super) fn judge(self, verifier: &mut Verifier<'_>) {
        match self.names {
            Names::All(Known::Scalar(index)) if self.is_plain(verifier.instruction(index)) => {
                let block = self.block(verifier.instruction(index));
                verifier.judge(index, &block);
            }
            _ => self.judge_rows(verifier),
        }
    }

    /// The columns of an instruction, the result's last.
    fn columns(&self, tested: &InstructionUnderTest) -> impl Iterator<Item = Option<&Column>> {
        self.operands.iter().take(tested.arity()).map(Option::as_ref).chain([Some(&self.result)])
    }

    /// Whether the columns can be taken as they are.
    fn is_plain(&self, tested: &InstructionUnderTest) -> bool {
        let fits = |(at, column): (usize, Option<&Column>)| column.is_some_and(|it| it.fits(tested.width(at)));
        self.count <= Block::capacity(tested.components())
            && self.columns(tested).enumerate().all(fits)
            && self.flags.as_ref().is_none_or(|flags| flags.fits(5))
    }

    fn block(self, tested: &InstructionUnderTest) -> Block {
        let columns = self.operands.into_iter().take(tested.arity()).flatten().chain([self.result]).enumerate();
        let columns = columns
            .map(|(at, column)| column.cells.components(self.count, tested.format(at), tested.components()))
            .collect();
        let flags = self.flags.as_ref().map_or(0..0, |_| 0..self.count);
        let flags = flags.filter_map(|row| self.flags.as_ref()?.get(row)?.flags().ok()).collect();
        Block { rows: (self.first..).take(self.count).collect(), columns, flags }
    }

    fn judge_rows(&self, verifier: &mut Verifier<'_>) {
        for at in 0..self.count {
            let row = self.first + at as u64;
            let index = match &self.names {
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
        let text = |name: &str, column: Option<&Column>| match column.and_then(|column| column.get(at)) {
            Some(Bits::Hex(text)) => Ok(text.to_owned()),
            Some(Bits::Integer(bits)) if matches!(name, "c" | "d") => Ok(format!("{bits:#x}")),
            Some(Bits::Integer(_)) => Err(format!("{name}: expected a string of hex digits")),
            None => Err(format!("{name}: nothing is there")),
        };
        let names = OPERANDS.iter().zip(&self.operands);
        let operands =
            names.map(|(name, column)| text(name, column.as_ref())).collect::<Result<Vec<String>, String>>()?;
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        let result = text("d", Some(&self.result))?;
        verifier.push_matrix(index, row, &MatrixRow { operands: &operands, result: &result })
    }

    fn vector(&self, tested: &InstructionUnderTest, row: usize) -> Result<Vector, String> {
        let value = |(at, column): (usize, Option<&Column>)| match column.and_then(|column| column.get(row)) {
            Some(bits) => bits.value(tested, at),
            None => Err(format!("{}: nothing is there", name(tested, at))),
        };
        let mut values = self.columns(tested).enumerate().map(value).collect::<Result<Vec<_>, String>>()?;
        let result = values.pop().unwrap_or(Value::scalar(0));
        let flags = self.flags.as_ref().and_then(|flags| flags.get(row)).map(Bits::flags).transpose()?;
        Ok(Vector { operands: values, result, flags })
    }
}
