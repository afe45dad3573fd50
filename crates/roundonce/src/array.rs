//! One instruction on arrays: of the table, a conversion, or an integer multiply-add.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use roundonce_arith::batch::{Batch, Lane, Source, Stores};
use roundonce_arith::{Elements, Format, OperandIndex as Place, Operation, Profile};
use roundonce_isa::{Finding, Instruction, MAX_COMPONENTS, Value};

use crate::conversion::Conversion;
use crate::fault;
use crate::integer::{CARRY, Integer};

/// An operand: an element a component, as bits; the components of packed values follow one another, the lowest first.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// Formats of eight bits and fewer.
    U8(&'a [u8]),
    /// f16 or bf16.
    U16(&'a [u16]),
    /// f32.
    U32(&'a [u32]),
    /// f64.
    U64(&'a [u64]),
    /// The same value everywhere.
    Uniform(Value),
    /// What the results' own elements hold before.
    Out,
}

/// Where results go: elements as wide as a component of the result.
#[derive(Debug)]
pub enum Results<'a> {
    /// Formats of eight bits and fewer.
    U8(&'a mut [u8]),
    /// f16.
    U16(&'a mut [u16]),
    /// f32.
    U32(&'a mut [u32]),
    /// f64.
    U64(&'a mut [u64]),
}

impl<'a> From<&'a Elements> for Operand<'a> {
    fn from(elements: &'a Elements) -> Operand<'a> {
        match elements {
            Elements::U8(all) => Operand::U8(all),
            Elements::U16(all) => Operand::U16(all),
            Elements::U32(all) => Operand::U32(all),
            Elements::U64(all) => Operand::U64(all),
        }
    }
}

impl<'a> From<&'a mut Elements> for Results<'a> {
    fn from(elements: &'a mut Elements) -> Results<'a> {
        match elements {
            Elements::U8(all) => Results::U8(all),
            Elements::U16(all) => Results::U16(all),
            Elements::U32(all) => Results::U32(all),
            Elements::U64(all) => Results::U64(all),
        }
    }
}

/// Elements that one thread computes at a time: a multiple of every number of components, and few enough that
/// operands and results lie in the second-level cache together.
pub const PART: usize = 3 << 14;

/// Evaluates an instruction element by element, on all threads of the current rayon pool if there are more elements
/// than one [`PART`]. Every element has the bits of [`eval`](crate::eval); condition codes follow from these
/// ([`ConditionCodes::of`](crate::arith::ConditionCodes::of)).
///
/// ```
/// use roundonce::array::{Operand, Results, eval_into};
/// let fma = roundonce::instruction("fma.rz.ftz.f32", &Default::default())?;
/// let x = [0x3f80_0001, 0x4000_0000];
/// let a = roundonce::Value::scalar(0x3f80_0001);
/// let mut y = [0xbf80_0002, 0];
/// // y = a · x + y
/// let operands = [Operand::Uniform(a), Operand::U32(&x), Operand::Out];
/// eval_into(&fma, &Default::default(), &operands, Results::U32(&mut y))?;
/// assert_eq!(y, [0x2880_0000, 0x4000_0001]);
/// # Ok::<(), roundonce::Finding>(())
/// ```
///
/// # Errors
/// A finding about the number of operands, the width of elements, or an operand that is not as long as the results.
pub fn eval_into(
    instruction: &Instruction,
    profile: &Profile,
    operands: &[Operand<'_>],
    out: Results<'_>,
) -> Result<(), Finding> {
    crate::check_arity(instruction, operands.len())?;
    let job =
        Job { operation: instruction.recipe.operation, components: instruction.recipe.components as usize, operands };
    match out {
        Results::U8(_) => Err(fault("FORM0007", wrong_width("the results", job.operation.format, 8))),
        Results::U16(out) if job.operation.operand_formats.is_some() => job.unlike(profile, out),
        Results::U32(out) if job.operation.operand_formats.is_some() => job.unlike(profile, out),
        Results::U32(out) if job.operation.source_format.width() == 16 => job.mixed(profile, out),
        Results::U16(out) => job.same(profile, out),
        Results::U32(out) => job.same(profile, out),
        Results::U64(out) => job.same(profile, out),
    }
}

/// Evaluates a conversion element by element, on as many threads as [`eval_into`]. An element of an operand is that whole
/// operand, packed where it is, and one of the results the whole result; random bits are the last operand.
///
/// ```
/// use roundonce::array::{Operand, Results, convert_into};
/// let cvt = roundonce::conversion::instruction("cvt.rn.satfinite.e4m3x2.f32", &Default::default())?;
/// let mut pairs = [0; 2];
/// let a = Operand::Uniform(roundonce::Value::scalar(0x3f80_0000));
/// convert_into(&cvt, &Default::default(), &[a, Operand::U32(&[0x447a_0000, 0xbf80_0000])], Results::U16(&mut pairs))?;
/// assert_eq!(pairs, [0x387e, 0x38b8]);
/// # Ok::<(), roundonce::Finding>(())
/// ```
///
/// # Errors
/// A finding about the number of operands, the width of elements, or an operand that is not as long as the results.
pub fn convert_into(
    conversion: &Conversion,
    profile: &Profile,
    operands: &[Operand<'_>],
    out: Results<'_>,
) -> Result<(), Finding> {
    conversion.check_arity(operands.len())?;
    let meaning = &conversion.meaning;
    let widths: Vec<u32> = conversion.operand_types().iter().map(|ty| ty.bits).collect();
    let count = meaning.operand_count();
    each(&widths, meaning.result_bits(), operands, out, |bits| {
        meaning.evaluate(profile, &bits[..count], bits.get(count).copied().unwrap_or(0))
    })
}

/// Evaluates an integer multiply-add element by element, on as many threads as [`eval_into`]; an operand that is `madc`'s
/// carry flag has 32 bits. Carry flags that are written are not kept.
///
/// ```
/// use roundonce::array::{Operand, Results, integer_into};
/// let mad = roundonce::integer::instruction("mad.wide.s32", &Default::default())?;
/// let (one, mut out) = (roundonce::Value::scalar(1), [0; 2]);
/// let operands = [Operand::U32(&[3, u32::MAX]), Operand::U32(&[5, 7]), Operand::Uniform(one)];
/// integer_into(&mad, &operands, Results::U64(&mut out))?;
/// assert_eq!(out, [16, (-6i64) as u64]);
/// # Ok::<(), roundonce::Finding>(())
/// ```
///
/// # Errors
/// As [`convert_into`].
pub fn integer_into(integer: &Integer, operands: &[Operand<'_>], out: Results<'_>) -> Result<(), Finding> {
    integer.check_arity(operands.len())?;
    let widths: Vec<u32> = integer.operands.iter().map(|ty| ty.bits).collect();
    let is_carry = AtomicBool::new(true);
    each(&widths, integer.result.bits, operands, out, |bits| {
        if bits.get(CARRY).is_some_and(|carry| *carry > 1) {
            is_carry.store(false, Ordering::Relaxed);
        }
        integer.eval(bits).bits
    })?;
    if is_carry.into_inner() {
        Ok(())
    } else {
        Err(fault("FORM0006", format!("operand {}: the carry flag is 0 or 1, and an element is neither", CARRY + 1)))
    }
}

/// Gives the operands of each element, of so many bits each, to a function.
fn each(
    widths: &[u32],
    result_bits: u32,
    operands: &[Operand<'_>],
    out: Results<'_>,
    compute: impl Fn(&[u64]) -> u64 + Sync,
) -> Result<(), Finding> {
    match out {
        Results::U8(out) => each_into(widths, result_bits, operands, out, compute),
        Results::U16(out) => each_into(widths, result_bits, operands, out, compute),
        Results::U32(out) => each_into(widths, result_bits, operands, out, compute),
        Results::U64(out) => each_into(widths, result_bits, operands, out, compute),
    }
}

fn each_into<T: Word>(
    widths: &[u32],
    result_bits: u32,
    operands: &[Operand<'_>],
    out: &mut [T],
    compute: impl Fn(&[u64]) -> u64 + Sync,
) -> Result<(), Finding> {
    if T::WIDTH != result_bits {
        let found = T::WIDTH;
        return Err(fault("FORM0007", format!("the results: elements of {found} bits, expected {result_bits}")));
    }
    let mut columns = Vec::with_capacity(operands.len());
    for (index, (operand, &width)) in operands.iter().zip(widths).enumerate() {
        let what = format!("operand {}", index + 1);
        let wrong = |found: u32| fault("FORM0007", format!("{what}: elements of {found} bits, expected {width}"));
        columns.push(match operand {
            Operand::Out => {
                return Err(fault("FORM0007", format!("{what}: the results are no operand of this instruction")));
            }
            Operand::Uniform(value) => match value.components() {
                &[bits] => AnyColumn::U64(Column::Uniform(bits)),
                components => {
                    return Err(fault("FORM0008", format!("{what} has {} components, expected 1", components.len())));
                }
            },
            _ if operand.bits() != width => return Err(wrong(operand.bits())),
            Operand::U8(slice) => AnyColumn::U8(of_length(&what, slice, out.len())?),
            Operand::U16(slice) => AnyColumn::U16(of_length(&what, slice, out.len())?),
            Operand::U32(slice) => AnyColumn::U32(of_length(&what, slice, out.len())?),
            Operand::U64(slice) => AnyColumn::U64(of_length(&what, slice, out.len())?),
        });
    }
    in_parts(out, |range, part| {
        // The most operands: four values and the random bits of a conversion.
        let mut bits = [0; 5];
        for (at, out) in part.iter_mut().enumerate() {
            for (bits, column) in bits.iter_mut().zip(&columns) {
                *bits = column.get(range.start, at).unwrap_or(0);
            }
            *out = T::of(compute(&bits[..columns.len()]));
        }
    });
    Ok(())
}

/// A slice as long as the results.
fn of_length<'a, T>(what: &str, slice: &'a [T], length: usize) -> Result<Column<'a, T>, Finding> {
    if slice.len() == length {
        return Ok(Column::Slice(slice));
    }
    Err(fault("FORM0008", format!("{what} has {} elements, the results have {length}", slice.len())))
}

/// Bits of an element.
trait Word: Copy + Into<u64> + Send + Sync {
    const WIDTH: u32;
    fn of(bits: u64) -> Self;
}
/// What the type of an element that is computed with must be able to do.
trait Element: Lane + Word {
    fn slice<'a>(operand: &Operand<'a>) -> Option<&'a [Self]>;
}
macro_rules! word {
    ($int:ty) => {
        impl Word for $int {
            const WIDTH: u32 = <$int>::BITS;
            fn of(bits: u64) -> $int {
                bits as $int
            }
        }
    };
}
word!(u8);
word!(u16);
word!(u32);
word!(u64);
macro_rules! element {
    ($int:ty, $variant:ident) => {
        impl Element for $int {
            fn slice<'a>(operand: &Operand<'a>) -> Option<&'a [$int]> {
                if let Operand::$variant(slice) = operand { Some(slice) } else { None }
            }
        }
    };
}
element!(u16, U16);
element!(u32, U32);
element!(u64, U64);

struct Job<'a> {
    operation: Operation,
    components: usize,
    operands: &'a [Operand<'a>],
}

/// An operand of one type of elements.
enum Column<'a, T> {
    Slice(&'a [T]),
    Uniform(T),
    /// A packed value of unlike components, again and again: enough for a part.
    Repeated(Vec<T>),
    Out,
}

impl<T: Copy> Column<'_, T> {
    fn get(&self, start: usize, at: usize) -> Option<T> {
        match self {
            Column::Slice(slice) => Some(slice[start + at]),
            Column::Uniform(bits) => Some(*bits),
            Column::Repeated(pattern) => Some(pattern[at]),
            Column::Out => None,
        }
    }
}

impl<T: Element> Column<'_, T> {
    fn part(&self, range: Range<usize>) -> Source<'_, T> {
        match self {
            Column::Slice(slice) => Source::Slice(&slice[range]),
            Column::Uniform(bits) => Source::Uniform(*bits),
            Column::Repeated(pattern) => Source::Slice(&pattern[..range.len()]),
            Column::Out => Source::Out,
        }
    }
}

/// A column of any width.
enum AnyColumn<'a> {
    U8(Column<'a, u8>),
    U16(Column<'a, u16>),
    U32(Column<'a, u32>),
    U64(Column<'a, u64>),
}

impl AnyColumn<'_> {
    /// The element at a place of the part that begins at `start`; `None` where it is the result's own.
    fn get(&self, start: usize, at: usize) -> Option<u64> {
        match self {
            AnyColumn::U8(column) => column.get(start, at).map(u64::from),
            AnyColumn::U16(column) => column.get(start, at).map(u64::from),
            AnyColumn::U32(column) => column.get(start, at).map(u64::from),
            AnyColumn::U64(column) => column.get(start, at),
        }
    }
}

impl Job<'_> {
    /// Operands and results of one type.
    fn same<T: Element>(&self, profile: &Profile, out: &mut [T]) -> Result<(), Finding> {
        let batch = self.batch(profile, out)?;
        let arity = self.operation.op.arity();
        let columns = (0..arity).map(|index| self.column::<T>(index, out.len())).collect::<Result<Vec<_>, _>>()?;
        in_parts(out, |range, part| {
            let mut sources = [Source::Out; 3];
            for (source, column) in sources.iter_mut().zip(&columns) {
                *source = column.part(range.clone());
            }
            batch.run(&sources[..arity], part);
        });
        Ok(())
    }

    /// Factors of 16 bits, the rest of 32.
    fn mixed(&self, profile: &Profile, out: &mut [u32]) -> Result<(), Finding> {
        let batch = self.batch(profile, out)?;
        let (mut factors, mut addend) = (Vec::new(), None);
        for (index, place) in self.operation.op.operands().iter().enumerate() {
            match place {
                Place::C => addend = Some(self.column::<u32>(index, out.len())?),
                Place::A | Place::B => factors.push(self.column::<u16>(index, out.len())?),
            }
        }
        in_parts(out, |range, part| {
            let mut sources = [Source::Uniform(0); 2];
            for (source, column) in sources.iter_mut().zip(&factors) {
                *source = column.part(range.clone());
            }
            let addend = addend.as_ref().map(|column| column.part(range.clone()));
            batch.run_mixed(&sources[..factors.len()], addend, part);
        });
        Ok(())
    }

    /// Operands of formats of their own, one element at a time.
    fn unlike<T: Element>(&self, profile: &Profile, out: &mut [T]) -> Result<(), Finding> {
        self.batch(profile, out)?;
        let arity = self.operation.op.arity();
        let mut columns = Vec::with_capacity(arity);
        for index in 0..arity {
            columns.push(match self.operation.operand_format(index).width() {
                16 => AnyColumn::U16(self.column(index, out.len())?),
                _ => AnyColumn::U32(self.column(index, out.len())?),
            });
        }
        in_parts(out, |range, part| {
            for (at, out) in part.iter_mut().enumerate() {
                let mut bits = [0; 3];
                for (bits, column) in bits.iter_mut().zip(&columns) {
                    *bits = column.get(range.start, at).unwrap_or((*out).into());
                }
                *out = T::of(self.operation.evaluate(profile, &bits[..arity]).bits);
            }
        });
        Ok(())
    }

    fn batch<T: Element>(&self, profile: &Profile, out: &[T]) -> Result<Batch, Finding> {
        let format = self.operation.format;
        if T::BITS != format.width() {
            return Err(fault("FORM0007", wrong_width("the results", format, T::BITS)));
        }
        if !out.len().is_multiple_of(self.components) {
            let message = format!("the results have {} elements: not a multiple of {}", out.len(), self.components);
            return Err(fault("FORM0008", message));
        }
        // Of more than a part, the first have left the cache by the time that they are wanted.
        let reads_out = self.operands.iter().any(|operand| matches!(operand, Operand::Out));
        let stores = if out.len() > PART && !reads_out { Stores::Streaming } else { Stores::Cached };
        Ok(Batch::new(self.operation, profile).with_stores(stores))
    }

    fn column<T: Element>(&self, index: usize, length: usize) -> Result<Column<'_, T>, Finding> {
        let format = self.operation.operand_format(index);
        let what = format!("operand {}", index + 1);
        let slice = match &self.operands[index] {
            Operand::Out if T::BITS == self.operation.format.width() => return Ok(Column::Out),
            Operand::Out => {
                return Err(fault("FORM0007", wrong_width(&what, format, self.operation.format.width())));
            }
            Operand::Uniform(value) => return self.uniform(&what, value),
            slice => slice,
        };
        match T::slice(slice) {
            Some(slice) => of_length(&what, slice, length),
            None => Err(fault("FORM0007", wrong_width(&what, format, slice.bits()))),
        }
    }

    fn uniform<T: Element>(&self, what: &str, value: &Value) -> Result<Column<'_, T>, Finding> {
        let components = value.components();
        if components.len() != self.components {
            let message = format!("{what} has {} components, the instruction {}", components.len(), self.components);
            return Err(fault("FORM0008", message));
        }
        if components.iter().all(|bits| *bits == components[0]) {
            return Ok(Column::Uniform(T::of(components[0])));
        }
        Ok(Column::Repeated(components.iter().map(|&bits| T::of(bits)).cycle().take(PART).collect()))
    }
}

impl Operand<'_> {
    /// The width of an element of a slice.
    fn bits(&self) -> u32 {
        match self {
            Operand::U8(_) => 8,
            Operand::U16(_) => 16,
            Operand::U32(_) => 32,
            _ => 64,
        }
    }
}

fn wrong_width(what: &str, format: Format, found: u32) -> String {
    format!(
        "{what}: elements of {found} bits, expected {} for {}",
        format.width(),
        format.name().unwrap_or("the format")
    )
}

/// Cuts the results and has each part computed, given where it lies; on several threads if there are several.
fn in_parts<T: Send>(out: &mut [T], work: impl Fn(Range<usize>, &mut [T]) + Sync) {
    if out.len() <= PART {
        work(0..out.len(), out);
    } else {
        let part = |(number, part): (usize, &mut [T])| work(number * PART..number * PART + part.len(), part);
        out.par_chunks_mut(PART).enumerate().for_each(part);
    }
}

// A part of packed values ends with one.
const _: () = {
    let mut components = 1;
    while components <= MAX_COMPONENTS {
        assert!(PART.is_multiple_of(components));
        components += 1;
    }
};
