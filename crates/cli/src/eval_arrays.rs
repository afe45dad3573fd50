//! `eval --in … --out …`: one instruction over .npy files, a part at a time, so that files larger than memory serve.

use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use roundonce::arith::{Element, Elements, Format};
use roundonce::array::{Operand, PART, Results, convert_into, eval_into, integer_into};
use roundonce::conversion::Conversion;
use roundonce::integer::{Integer, IntegerType};
use roundonce::{Finding, Instruction, Profile, Value};
use roundonce_vectors::npy;
use zerocopy::IntoBytes;

use crate::argument::Argument;
use crate::array::{Array, Header};
use crate::progress::Progress;
use crate::{Ended, Failure, Status, eval, files, output, threads};

/// What is evaluated element by element.
pub(crate) enum Evaluated {
    Float(Instruction),
    Conversion(Conversion),
    Integer(Integer),
}

/// How the values of an operand or of the results lie in an array.
#[derive(Clone, PartialEq, Eq)]
struct ValueType {
    /// As messages name it.
    name: String,
    /// Bits of an element, and how many elements a value is.
    bits: u32,
    elements: u32,
    /// NumPy's types for a whole value; the first is what results are written in if nothing tells.
    whole: &'static [&'static str],
    /// And those for a component of a packed one, where a last axis has the components.
    component: &'static [&'static str],
    components: u32,
}

impl ValueType {
    fn of_float(format: Format, components: u32) -> ValueType {
        let name = format.name().unwrap_or("another format");
        let one = component_types(format);
        let (whole, component): (&[&str], &[&str]) = match components * format.width() {
            _ if components == 1 => (one, &[]),
            32 => (&["u4"], one),
            64 => (&["u8"], one),
            _ => (&[], one),
        };
        let name = if components == 1 { name.to_owned() } else { format!("{components} × {name}") };
        ValueType { name, bits: format.width(), elements: components, whole, component, components }
    }

    fn of_integer(ty: IntegerType) -> ValueType {
        let whole: &[&str] = match (ty.bits, ty.signed) {
            (16, true) => &["i2", "u2"],
            (16, false) => &["u2", "i2"],
            (32, true) => &["i4", "u4"],
            (32, false) => &["u4", "i4"],
            (_, true) => &["i8", "u8"],
            (_, false) => &["u8", "i8"],
        };
        let name = format!("{}{}", if ty.signed { 's' } else { 'u' }, ty.bits);
        ValueType { name, bits: ty.bits, elements: 1, whole, component: &[], components: 1 }
    }

    /// Of so many values packed into one element, or the random bits of a conversion.
    fn packed(bits: u32, values: Option<(Element, u32)>) -> ValueType {
        let Some((element, count)) = values else {
            let name = "random bits".to_owned();
            return ValueType { name, bits, elements: 1, whole: &["u4"], component: &[], components: 1 };
        };
        let whole: &[&str] = match bits {
            8 => &["u1"],
            16 => &["u2"],
            _ => &["u4"],
        };
        let component: &[&str] = match element {
            Element::Float(format) => component_types(format),
            _ if element.stride() == 8 => &["u1"],
            _ => &[],
        };
        let name = format!("{count} × {}", element.name());
        ValueType { name, bits, elements: 1, whole, component, components: count }
    }
}

/// NumPy's types for a value of a format. Unsigned integers are bits; bf16, which NumPy lacks, is such bits or two opaque
/// bytes.
fn component_types(format: Format) -> &'static [&'static str] {
    match format {
        Format::F16 => &["f2", "u2"],
        Format::BF16 => &["u2", "V2"],
        Format::F32 => &["f4", "u4"],
        _ => &["f8", "u8"],
    }
}

impl Evaluated {
    fn check_arity(&self, found: usize) -> Result<(), Finding> {
        match self {
            Evaluated::Float(instruction) => roundonce::check_arity(instruction, found),
            Evaluated::Conversion(conversion) => conversion.check_arity(found),
            Evaluated::Integer(integer) => integer.check_arity(found),
        }
    }

    fn syntax(&self) -> String {
        match self {
            Evaluated::Float(instruction) => instruction.form.syntax(),
            Evaluated::Conversion(conversion) => conversion.form.syntax(),
            Evaluated::Integer(integer) => integer.form.syntax(),
        }
    }

    fn operands(&self) -> Vec<ValueType> {
        match self {
            Evaluated::Float(Instruction { recipe, .. }) => {
                let format = |index| recipe.operation.operand_format(index);
                let arity = recipe.operation.op.arity();
                (0..arity).map(|index| ValueType::of_float(format(index), recipe.components)).collect()
            }
            Evaluated::Conversion(conversion) => {
                let of = |ty: roundonce::conversion::OperandType| match ty.values {
                    Some((Element::Float(format), 1)) => ValueType::of_float(format, 1),
                    values => ValueType::packed(ty.bits, values),
                };
                conversion.operand_types().into_iter().map(of).collect()
            }
            Evaluated::Integer(integer) => integer.operands.iter().copied().map(ValueType::of_integer).collect(),
        }
    }

    fn result(&self) -> ValueType {
        match self {
            Evaluated::Float(Instruction { recipe, .. }) => {
                ValueType::of_float(recipe.operation.format, recipe.components)
            }
            Evaluated::Conversion(Conversion { meaning, .. }) => {
                ValueType::packed(meaning.result_bits(), Some((meaning.to, meaning.count)))
            }
            Evaluated::Integer(integer) => ValueType::of_integer(integer.result),
        }
    }

    /// An operand written as text, and whether it is exact.
    fn read(&self, index: usize, text: &str) -> Result<(Value, bool), Finding> {
        match self {
            Evaluated::Float(instruction) => {
                roundonce::operand(instruction, index, text).map(|parsed| (parsed.value, parsed.exact))
            }
            Evaluated::Conversion(conversion) => {
                conversion.operand(index, text).map(|(bits, exact)| (Value::scalar(bits), exact))
            }
            Evaluated::Integer(integer) => integer.operand(index, text).map(|bits| (Value::scalar(bits), true)),
        }
    }

    fn eval_into(&self, profile: &Profile, operands: &[Operand<'_>], out: Results<'_>) -> Result<(), Finding> {
        match self {
            Evaluated::Float(instruction) => eval_into(instruction, profile, operands, out),
            Evaluated::Conversion(conversion) => convert_into(conversion, profile, operands, out),
            Evaluated::Integer(integer) => integer_into(integer, operands, out),
        }
    }
}

/// An operand of the command line.
enum Input {
    /// A value, or the one of an array of one.
    Uniform(Value),
    Array(ArrayFile),
}

/// An array's file, its elements of a type that the operand takes.
struct ArrayFile {
    path: PathBuf,
    file: File,
    header: Header,
    ty: ValueType,
    /// The array's shape without the axis of a packed value's components, if it has one.
    shape: Vec<u64>,
}

/// Evaluates into a file that has its name only once it is whole.
pub(crate) fn run(
    evaluated: &Evaluated,
    profile: &Profile,
    texts: &[Argument],
    out: &Path,
    threads: Option<NonZeroUsize>,
) -> Ended {
    evaluated.check_arity(texts.len())?;
    let (types, result) = (evaluated.operands(), evaluated.result());
    let inputs = texts.iter().zip(&types).enumerate().map(|(index, (text, ty))| open(evaluated, index, ty, text));
    let mut inputs = inputs.collect::<Result<Vec<Input>, Failure>>()?;
    let (header, values) = result_header(&result, &inputs)?;
    for input in &mut inputs {
        if let Input::Array(array) = input
            && array.values() == 1
        {
            *input = Input::Uniform(array.only_value()?);
        }
    }
    if matches!(evaluated, Evaluated::Float(instruction) if instruction.recipe.condition_codes) {
        output::note("the results are written without condition codes: these follow from each result's bits");
    }
    if matches!(evaluated, Evaluated::Integer(integer) if integer.writes_carry) {
        output::note("the results are written without the carry flags");
    }
    let path = out;
    let mut out = files::create(path)?;
    let failed = |error| files::failed(path, error);
    let file = out.seekable().map_err(failed)?;
    file.write_all(&header).map_err(failed)?;
    let elements = values * u64::from(result.elements);
    let job = Job { evaluated, profile, inputs: &inputs, elements, size: result.bits / 8, start: header.len() as u64 };

    let parts = elements.div_ceil(PART as u64);
    let pool = threads::pool(threads, parts)?;
    let progress = Progress::new(parts);
    pool.install(|| {
        (0..parts).into_par_iter().try_for_each_init(
            || Buffers::new(&types, &result),
            |buffers, part| {
                job.compute(part, buffers)?;
                job.write(part, buffers, file).map_err(failed)?;
                progress.advance(1);
                Ok::<(), Failure>(())
            },
        )
    })?;
    out.finish().map_err(failed)?;
    Ok(Status::Done)
}

/// A value, or the file of an array with its header read and its type checked.
fn open(evaluated: &Evaluated, index: usize, ty: &ValueType, given: &Argument) -> Result<Input, Failure> {
    if !given.is_array() {
        let text = given.text()?;
        let (value, exact) = evaluated.read(index, text)?;
        if !exact {
            eval::note_inexact(index, text);
        }
        return Ok(Input::Uniform(value));
    }
    let path = given.path().to_owned();
    let fault = |problem: String| Failure::Input(format!("{given}: {problem}"));
    let (mut file, size) = files::open_regular(&path)?;
    let mut header = Header::read(&path, &mut file, size)?;
    let mut shape = header.shape.clone();
    let fits = match header.element() {
        element if ty.whole.contains(&element) => true,
        element if ty.component.contains(&element) => shape.pop() == Some(u64::from(ty.components)),
        _ => false,
    };
    if !fits {
        let mut expected: Vec<String> = ty.whole.iter().map(|name| (*name).to_owned()).collect();
        expected.extend(ty.component.iter().map(|name| format!("{name} with a last axis of {}", ty.components)));
        return Err(fault(format!(
            "operand {} of `{}` is {}: expected elements of {}; found {}{} of shape {}",
            index + 1,
            evaluated.syntax(),
            ty.name,
            expected.join(" or "),
            header.dtype,
            header.remark(),
            npy::tuple(&header.shape)
        )));
    }
    if header.fortran {
        (file, header) = in_c_order(&path)?;
    }
    Ok(Input::Array(ArrayFile { path, file, header, ty: ty.clone(), shape }))
}

/// An array in Fortran order as a file without a name in C order: its parts do not lie together in its own.
fn in_c_order(path: &Path) -> Result<(File, Header), Failure> {
    let Array { header, bytes, .. } = Array::read(path)?;
    let mut file = tempfile::tempfile().map_err(|error| files::failed(&std::env::temp_dir(), error))?;
    file.write_all(&bytes).map_err(|error| files::failed(&std::env::temp_dir(), error))?;
    Ok((file, Header { start: 0, ..header }))
}

/// The header of the results and how many values they are. They have the type and shape of the first array that is as
/// long and of the result's format.
fn result_header(ty: &ValueType, inputs: &[Input]) -> Result<(Vec<u8>, u64), Failure> {
    let arrays = inputs.iter().filter_map(|input| if let Input::Array(array) = input { Some(array) } else { None });
    let arrays: Vec<&ArrayFile> = arrays.collect();
    let Some(widest) = arrays.iter().find(|array| array.values() != 1).or(arrays.first()) else {
        return Err(Failure::Input("--in: none of the operands is a .npy file".to_owned()));
    };
    if let Some(other) = arrays.iter().find(|array| array.values() != 1 && array.shape != widest.shape) {
        let [one, two] = [widest, other].map(|array| (array.path.display(), npy::tuple(&array.shape)));
        return Err(Failure::Input(format!("shapes differ: {} has {}, {} has {}", one.0, one.1, two.0, two.1)));
    }
    let header = match arrays.iter().find(|array| array.ty == *ty && array.shape == widest.shape) {
        Some(like) => npy::Header::bytes(&like.header.dtype, &like.header.shape),
        None => {
            let axis = ty.whole.is_empty().then_some(u64::from(ty.components));
            let shape: Vec<u64> = widest.shape.iter().copied().chain(axis).collect();
            let name = ty.whole.iter().chain(ty.component).next().copied().unwrap_or_default();
            // One byte has no order.
            let order = if name == "u1" { '|' } else { '<' };
            npy::Header::bytes(&format!("{order}{name}"), &shape)
        }
    };
    Ok((header, widest.values()))
}

impl ArrayFile {
    /// How many values it has. The header was held against the file's size: there is no overflow.
    fn values(&self) -> u64 {
        self.shape.iter().product()
    }

    /// The value of an array of one.
    fn only_value(&self) -> Result<Value, Failure> {
        let mut elements = Elements::of_width(self.ty.bits);
        self.read(0, self.ty.elements as usize, &mut elements)?;
        Ok(Value::of(elements.iter()))
    }

    /// Reads so many elements from one on, to where they are computed with: nothing is copied but by the kernel.
    fn read(&self, from: u64, count: usize, into: &mut Elements) -> Result<(), Failure> {
        into.resize(count);
        let read = files::read_at(&self.file, bytes(into), self.header.start + from * u64::from(self.ty.bits / 8));
        read.map_err(|error| files::failed(&self.path, error))?;
        swap_unless_little_endian(into);
        Ok(())
    }
}

/// The bytes in which elements lie in memory.
fn bytes(elements: &mut Elements) -> &mut [u8] {
    match elements {
        Elements::U8(all) => all,
        Elements::U16(all) => all.as_mut_slice().as_mut_bytes(),
        Elements::U32(all) => all.as_mut_slice().as_mut_bytes(),
        Elements::U64(all) => all.as_mut_slice().as_mut_bytes(),
    }
}

/// Between the order of a file's bytes and that of the machine's, either way.
fn swap_unless_little_endian(elements: &mut Elements) {
    match elements {
        Elements::U8(_) => {}
        Elements::U16(all) => all.iter_mut().for_each(|bits| *bits = bits.to_le()),
        Elements::U32(all) => all.iter_mut().for_each(|bits| *bits = bits.to_le()),
        Elements::U64(all) => all.iter_mut().for_each(|bits| *bits = bits.to_le()),
    }
}

/// What a thread keeps from one part to the next.
struct Buffers {
    operands: Vec<Elements>,
    results: Elements,
}

impl Buffers {
    fn new(operands: &[ValueType], result: &ValueType) -> Buffers {
        let operands = operands.iter().map(|ty| Elements::of_width(ty.bits)).collect();
        Buffers { operands, results: Elements::of_width(result.bits) }
    }
}

struct Job<'a> {
    evaluated: &'a Evaluated,
    profile: &'a Profile,
    inputs: &'a [Input],
    elements: u64,
    /// Bytes of an element of the results.
    size: u32,
    /// Where the results' data begins.
    start: u64,
}

impl Job<'_> {
    /// Reads a part of each array and computes the same part of the results.
    fn compute(&self, part: u64, Buffers { operands, results }: &mut Buffers) -> Result<(), Failure> {
        let from = part * PART as u64;
        let count = (self.elements - from).min(PART as u64) as usize;
        let mut sources = Vec::with_capacity(operands.len());
        for (input, elements) in self.inputs.iter().zip(operands) {
            sources.push(match input {
                Input::Uniform(value) => Operand::Uniform(*value),
                Input::Array(array) => {
                    array.read(from, count, elements)?;
                    Operand::from(&*elements)
                }
            });
        }
        results.resize(count);
        Ok(self.evaluated.eval_into(self.profile, &sources, results.into())?)
    }

    fn write(&self, part: u64, Buffers { results, .. }: &mut Buffers, file: &File) -> io::Result<()> {
        swap_unless_little_endian(results);
        files::write_at(file, bytes(results), self.start + part * PART as u64 * u64::from(self.size))
    }
}
