//! `eval --in … --out …`: one instruction over .npy files, a part at a time, so that files larger than memory serve.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use roundonce::arith::{Elements, Format};
use roundonce::array::{Operand, PART, eval_into};
use roundonce::{Finding, Instruction, Profile, Value};
use roundonce_vectors::npy;

use crate::array::Header;
use crate::progress::Progress;
use crate::{Ended, Failure, Status, eval, files, output};

/// An operand of the command line.
enum Input {
    /// A value, or the one of an array of one.
    Uniform(Value),
    Array(ArrayFile),
}

/// An array's file, its elements of a type that the operand takes.
struct ArrayFile {
    path: PathBuf,
    header: Header,
    format: Format,
    /// The array's shape without the axis of a packed value's components, if it has one.
    shape: Vec<u64>,
}

/// Evaluates into a file that has its name only once it is whole.
pub(crate) fn run(
    instruction: &Instruction,
    profile: &Profile,
    texts: &[String],
    out: &Path,
    threads: Option<NonZeroUsize>,
) -> Ended {
    roundonce::check_arity(instruction, texts.len())?;
    let inputs = texts.iter().enumerate().map(|(index, text)| open(instruction, index, text));
    let mut inputs = inputs.collect::<Result<Vec<Input>, Failure>>()?;
    let (header, values) = result_header(instruction, &inputs)?;
    for input in &mut inputs {
        if let Input::Array(array) = input
            && array.values() == 1
        {
            *input = Input::Uniform(array.only_value(instruction.recipe.components)?);
        }
    }
    if instruction.recipe.condition_codes {
        output::note("the results are written without condition codes: these follow from each result's bits");
    }
    let mut file = files::temporary(out)?;
    let failed = |error| files::failed(out, error);
    file.write_all(&header).map_err(failed)?;
    let components = values * u64::from(instruction.recipe.components);
    let job = Job { instruction, profile, inputs: &inputs, components, start: header.len() as u64 };

    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, NonZeroUsize::get)).build();
    let pool = pool.map_err(|error| Failure::Input(format!("--threads: {error}")))?;
    let parts = components.div_ceil(PART as u64);
    let progress = Progress::new(parts);
    pool.install(|| {
        (0..parts).into_par_iter().try_for_each_init(
            || Buffers::new(instruction),
            |buffers, part| {
                job.compute(part, buffers)?;
                job.write(part, buffers, file.reopen().map_err(failed)?).map_err(failed)?;
                progress.advance(1);
                Ok::<(), Failure>(())
            },
        )
    })?;
    files::rename(file, out)?;
    Ok(Status::Done)
}

/// A value, or the file of an array with its header read and its type checked.
fn open(instruction: &Instruction, index: usize, text: &str) -> Result<Input, Failure> {
    if !text.ends_with(".npy") {
        let parsed = roundonce::operand(instruction, index, text)?;
        if !parsed.exact {
            eval::note_inexact(index, text);
        }
        return Ok(Input::Uniform(parsed.value));
    }
    let path = PathBuf::from(text);
    let fault = |problem: String| Failure::Input(format!("{text}: {problem}"));
    let mut file = File::open(&path).map_err(|error| files::failed(&path, error))?;
    let size = file.metadata().map_err(|error| files::failed(&path, error))?.len();
    let header = Header::read(&path, &mut file, size)?;
    if header.fortran {
        let shape = npy::tuple(&header.shape);
        return Err(fault(format!("its {shape} elements are in Fortran order: expected C order")));
    }
    let recipe = &instruction.recipe;
    let format = recipe.operation.operand_format(index);
    let [packed, component] = types(format, recipe.components);
    let mut shape = header.shape.clone();
    let fits = match header.element() {
        element if packed.contains(&element) => true,
        element if component.contains(&element) => shape.pop() == Some(u64::from(recipe.components)),
        _ => false,
    };
    if !fits {
        let mut expected: Vec<String> = packed.iter().map(|name| (*name).to_owned()).collect();
        expected.extend(component.iter().map(|name| format!("{name} with a last axis of {}", recipe.components)));
        return Err(fault(format!(
            "operand {} of `{}` is {}: expected elements of {}; found {} of shape {}",
            index + 1,
            instruction.form.syntax(),
            type_name(format, recipe.components),
            expected.join(" or "),
            header.dtype,
            npy::tuple(&header.shape)
        )));
    }
    Ok(Input::Array(ArrayFile { path, header, format, shape }))
}

/// NumPy's types for a whole value, and for a component of a packed one; the first is what results are written in if
/// nothing tells. Unsigned integers are bits; bf16, which NumPy lacks, is such bits or two opaque bytes.
fn types(format: Format, lanes: u32) -> [&'static [&'static str]; 2] {
    let one: &[&str] = match format {
        Format::F16 => &["f2", "u2"],
        Format::BF16 => &["u2", "V2"],
        Format::F32 => &["f4", "u4"],
        _ => &["f8", "u8"],
    };
    match lanes * format.width() {
        _ if lanes == 1 => [one, &[]],
        32 => [&["u4"], one],
        64 => [&["u8"], one],
        _ => [&[], one],
    }
}

fn type_name(format: Format, lanes: u32) -> String {
    let name = format.name().unwrap_or("another format");
    if lanes == 1 { name.to_owned() } else { format!("{lanes} × {name}") }
}

/// The header of the results and how many values they are. They have the type and shape of the first array that is as
/// long and of the result's format.
fn result_header(instruction: &Instruction, inputs: &[Input]) -> Result<(Vec<u8>, u64), Failure> {
    let recipe = &instruction.recipe;
    let arrays = inputs.iter().filter_map(|input| if let Input::Array(array) = input { Some(array) } else { None });
    let arrays: Vec<&ArrayFile> = arrays.collect();
    let Some(widest) = arrays.iter().find(|array| array.values() != 1).or(arrays.first()) else {
        return Err(Failure::Input("--in: none of the operands is a .npy file".to_owned()));
    };
    if let Some(other) = arrays.iter().find(|array| array.values() != 1 && array.shape != widest.shape) {
        let [one, two] = [widest, other].map(|array| (array.path.display(), npy::tuple(&array.shape)));
        return Err(Failure::Input(format!("shapes differ: {} has {}, {} has {}", one.0, one.1, two.0, two.1)));
    }
    let format = recipe.operation.format;
    let header = match arrays.iter().find(|array| array.format == format && array.shape == widest.shape) {
        Some(like) => npy::Header::bytes(&like.header.dtype, &like.header.shape),
        None => {
            let [packed, component] = types(format, recipe.components);
            let axis = packed.is_empty().then_some(u64::from(recipe.components));
            let shape: Vec<u64> = widest.shape.iter().copied().chain(axis).collect();
            let dtype: String = packed.iter().chain(component).take(1).map(|name| format!("<{name}")).collect();
            npy::Header::bytes(&dtype, &shape)
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
    fn only_value(&self, lanes: u32) -> Result<Value, Failure> {
        let mut elements = Elements::of(self.format);
        self.read(0, lanes as usize, &mut Vec::new(), &mut elements)?;
        Ok(Value::of(elements.iter()))
    }

    /// Reads so many components from one on.
    fn read(&self, from: u64, count: usize, bytes: &mut Vec<u8>, into: &mut Elements) -> Result<(), Failure> {
        let size = self.format.width() / 8;
        bytes.resize(count * size as usize, 0);
        let mut read = || -> io::Result<()> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.header.start + from * u64::from(size)))?;
            file.read_exact(bytes)
        };
        read().map_err(|error| files::failed(&self.path, error))?;
        into.fill_from_bytes(bytes);
        Ok(())
    }
}

/// What a thread keeps from one part to the next.
struct Buffers {
    bytes: Vec<u8>,
    operands: Vec<Elements>,
    results: Elements,
}

impl Buffers {
    fn new(instruction: &Instruction) -> Buffers {
        let operation = &instruction.recipe.operation;
        let operands = (0..operation.op.arity()).map(|index| Elements::of(operation.operand_format(index))).collect();
        Buffers { bytes: Vec::new(), operands, results: Elements::of(operation.format) }
    }
}

struct Job<'a> {
    instruction: &'a Instruction,
    profile: &'a Profile,
    inputs: &'a [Input],
    components: u64,
    /// Where the results' data begins.
    start: u64,
}

impl Job<'_> {
    /// Reads a part of each array and computes the same part of the results.
    fn compute(&self, part: u64, Buffers { bytes, operands, results }: &mut Buffers) -> Result<(), Failure> {
        let from = part * PART as u64;
        let count = (self.components - from).min(PART as u64) as usize;
        let mut sources = Vec::with_capacity(operands.len());
        for (input, elements) in self.inputs.iter().zip(operands) {
            sources.push(match input {
                Input::Uniform(value) => Operand::Uniform(*value),
                Input::Array(array) => {
                    array.read(from, count, bytes, elements)?;
                    Operand::from(&*elements)
                }
            });
        }
        results.resize(count);
        let evaluated: Result<(), Finding> = eval_into(self.instruction, self.profile, &sources, results.into());
        Ok(evaluated?)
    }

    fn write(&self, part: u64, Buffers { bytes, results, .. }: &mut Buffers, mut file: File) -> io::Result<()> {
        bytes.clear();
        results.write_bytes(bytes);
        let size = u64::from(self.instruction.recipe.operation.format.width() / 8);
        file.seek(SeekFrom::Start(self.start + part * PART as u64 * size))?;
        file.write_all(bytes)
    }
}
