//! Vectors that a file keeps as columns.

use roundonce::Value;
use roundonce::arith::Format;

use super::{Bits, Options, name};
use crate::block::{Block, Lanes, Vector};
use crate::instruction::InstructionUnderTest;
use crate::verify::Verifier;

/// Values of a part of a column.
pub(super) enum Cells {
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    Hex(Vec<String>),
}

impl Cells {
    fn get(&self, row: usize) -> Bits<'_> {
        match self {
            Cells::U16(all) => Bits::Integer(all[row].into()),
            Cells::U32(all) => Bits::Integer(all[row].into()),
            Cells::U64(all) => Bits::Integer(all[row]),
            Cells::Hex(all) => Bits::Hex(&all[row]),
        }
    }
    /// The bits that any of the integers has.
    fn any(&self) -> Option<u64> {
        match self {
            Cells::U16(all) => Some(all.iter().fold(0, |any, bits| any | bits).into()),
            Cells::U32(all) => Some(all.iter().fold(0, |any, bits| any | bits).into()),
            Cells::U64(all) => Some(all.iter().fold(0, |any, bits| any | bits)),
            Cells::Hex(_) => None,
        }
    }
    /// The components of integers that fit.
    fn components(self, count: usize, format: Format, lanes: u32) -> Lanes {
        match (self, format.width()) {
            (Cells::U16(all), 16) if lanes == 1 => Lanes::U16(all),
            (Cells::U32(all), 32) if lanes == 1 => Lanes::U32(all),
            (Cells::U64(all), 64) if lanes == 1 => Lanes::U64(all),
            (cells, width) => {
                let mut components = Lanes::of(format);
                for row in 0..count {
                    let Bits::Integer(bits) = cells.get(row) else { continue };
                    (0..lanes).for_each(|lane| components.push(bits >> (lane * width) & format.mask()));
                }
                components
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
    All(usize),
    /// Each row's, or what is wrong with it.
    Each(Vec<Result<usize, String>>),
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
            Names::All(index) if self.is_plain(verifier.instruction(index)) => {
                let block = self.block(verifier.instruction(index));
                verifier.judge(index, &block);
            }
            _ => self.judge_rows(verifier),
        }
    }

    /// The columns of an instruction, the result's last.
    fn columns(&self, subject: &InstructionUnderTest) -> impl Iterator<Item = Option<&Column>> {
        self.operands.iter().take(subject.arity()).map(Option::as_ref).chain([Some(&self.result)])
    }

    /// Whether the columns can be taken as they are.
    fn is_plain(&self, subject: &InstructionUnderTest) -> bool {
        let fits = |(at, column): (usize, Option<&Column>)| column.is_some_and(|it| it.fits(subject.width(at)));
        self.count <= Block::capacity(subject.lanes())
            && self.columns(subject).enumerate().all(fits)
            && self.flags.as_ref().is_none_or(|flags| flags.fits(5))
    }

    fn block(self, subject: &InstructionUnderTest) -> Block {
        let columns = self.operands.into_iter().take(subject.arity()).flatten().chain([self.result]).enumerate();
        let columns = columns
            .map(|(at, column)| column.cells.components(self.count, subject.format(at), subject.lanes()))
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
            let read = index.and_then(|index| Ok((index, self.vector(verifier.instruction(index), at)?)));
            match read {
                Ok((index, vector)) => verifier.push(index, row, &vector),
                Err(problem) => verifier.bad(row, &problem),
            }
        }
    }

    fn vector(&self, subject: &InstructionUnderTest, row: usize) -> Result<Vector, String> {
        let value = |(at, column): (usize, Option<&Column>)| match column.and_then(|column| column.get(row)) {
            Some(bits) => bits.value(subject, at),
            None => Err(format!("{}: nothing is there", name(subject, at))),
        };
        let mut values = self.columns(subject).enumerate().map(value).collect::<Result<Vec<_>, String>>()?;
        let result = values.pop().unwrap_or(Value::scalar(0));
        let flags = self.flags.as_ref().and_then(|flags| flags.get(row)).map(Bits::flags).transpose()?;
        Ok(Vector { operands: values, result, flags })
    }
}
