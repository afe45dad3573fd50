//! Kernels: a module of any language made ready to run, and what its parameters take.

mod from_ptx;
mod from_spirv;
mod listing;
mod machine_code;
mod members;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use roundonce_arith::{Format, Profile};
use roundonce_exec::{Arg, Buffer, ImageUse, element_formats, image_parameters};
use roundonce_ir::flow::{number_parameters, pointer_parameters};
use roundonce_ir::{Kernel, Op, Param, Passing, Program, Sampler, Scalar, Special};
use roundonce_isa::{Finding, SmTarget, parse_value};

use crate::bits::read_float;
use crate::spirv::Assume;
use crate::{image, ptx};
pub use listing::{LaneValues, Lanes, constant_name, lanes, register_name};

/// Bytes of shared memory that a parameter gets where arguments are made by type.
const ZERO_SHARED: u64 = 4096;

/// A module as it is kept.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// PTX.
    Ptx(&'a str),
    /// SPIR-V as text.
    SpirvText(&'a str),
    /// SPIR-V as words.
    Spirv(&'a [u8]),
    /// Machine code: a cubin of Maxwell or Pascal.
    Cubin(&'a [u8]),
    /// Its text: a listing of whole kernels ([`crate::sass::is_kernel_listing`]).
    Listing(&'a str),
}

/// What a module is read for.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The kernel; may be left out where there is only one.
    pub entry: Option<String>,
    /// PTX: the machine whose matrix multiply-add it is; the module's target where none is named.
    pub machine: Option<SmTarget>,
    /// PTX: what the documents leave open of matrix multiply-adds.
    pub profile: Profile,
    /// SPIR-V: what is done where the module leaves bits open.
    pub assume: Assume,
    /// SPIR-V: specialisation constants, by their SpecId, as their types write them.
    pub spec: Vec<(u32, String)>,
    /// SPIR-V: the names of a launch's arguments, which say how long run-time arrays of descriptors are: `0.1[2]`.
    pub arguments: Vec<String>,
    /// A kernel of more operations and blocks than this, its calls inlined, is refused.
    pub largest_kernel: usize,
    /// PTX: bytes of a thread's stack, for recursive functions, those called through addresses, and `alloca`.
    pub stack_bytes: u32,
    /// PTX: bytes that `malloc` gives away in all.
    pub heap_bytes: u64,
}

impl Choice {
    /// That what is asked for is something that the language has.
    fn check(&self, source: Source<'_>) -> Result<(), Refusal> {
        let is_spirv = matches!(source, Source::Spirv(_) | Source::SpirvText(_));
        if is_spirv || self.spec.is_empty() {
            return Ok(());
        }
        Err(Refusal::Usage("specialisation constants are given, which SPIR-V alone has".to_owned()))
    }
}

impl Default for Choice {
    fn default() -> Choice {
        let ptx::Settings { largest_kernel, stack_bytes, heap_bytes, machine, profile, .. } = ptx::Settings::default();
        Choice {
            entry: None,
            machine,
            profile,
            assume: Assume::default(),
            spec: Vec::new(),
            arguments: Vec::new(),
            largest_kernel,
            stack_bytes,
            heap_bytes,
        }
    }
}

impl Choice {
    /// What PTX is lowered with, every kernel.
    fn ptx_settings(&self) -> ptx::Settings<'_> {
        let Choice { largest_kernel, stack_bytes, heap_bytes, machine, profile, .. } = *self;
        ptx::Settings { entry: None, largest_kernel, stack_bytes, heap_bytes, machine, profile }
    }
}

/// A module in the form that the engine runs.
#[derive(Clone, Debug)]
pub struct Ready {
    /// All of it.
    pub program: Program,
    /// What it is run under.
    pub profile: Profile,
    /// What it leaves open of the bits, and what was picked.
    pub undetermined: Vec<String>,
    /// The machine that it is for, where it says one.
    pub target: Option<SmTarget>,
    place: usize,
}

/// A kernel's name, and the kernel, or why it cannot be run.
pub type Each = (String, Result<Ready, Refusal>);

/// Why a module cannot be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// What is wrong in it.
    Findings {
        /// All of them.
        findings: Vec<Finding>,
        /// Whether each is about something that is legal and not supported.
        unsupported: bool,
    },
    /// It has these kernels, and none was named.
    Several(Vec<String>),
    /// What was asked for does not fit it.
    Usage(String),
}

impl Refusal {
    fn of(findings: Vec<Finding>, unsupported: &str) -> Refusal {
        let unsupported = findings.iter().all(|finding| finding.code == unsupported);
        Refusal::Findings { findings, unsupported }
    }
}

impl Ready {
    /// The first kernel of a program as NVIDIA's machines run it.
    fn of(program: Program, target: Option<SmTarget>) -> Ready {
        Ready { program, profile: Profile::NVIDIA, undetermined: Vec::new(), target, place: 0 }
    }

    /// Reads a module.
    ///
    /// # Errors
    /// If it is not valid, not supported, or has not the kernel or the constants asked for.
    ///
    /// ```
    /// use roundonce::kernel::{Choice, Ready, Source};
    /// let text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry nothing(.param .f32 x) { ret; }";
    /// let ready = Ready::read(Source::Ptx(text), &Choice::default()).unwrap();
    /// assert_eq!(ready.kernel().params[0].name, "x");
    /// ```
    pub fn read(source: Source<'_>, choice: &Choice) -> Result<Ready, Refusal> {
        match source {
            Source::Cubin(_) | Source::Listing(_) => {
                choice.check(source)?;
                Ready::of(machine_code::program(source, choice)?, machine_code::target(source)).chosen(choice)
            }
            Source::Ptx(_) | Source::SpirvText(_) | Source::Spirv(_) => Ready::read_portable(source, choice),
        }
    }

    /// The same of PTX and SPIR-V alone: a program with no other call has no decoder of machine code in it.
    ///
    /// # Errors
    /// As [`read`](Ready::read), and of machine code.
    pub fn read_portable(source: Source<'_>, choice: &Choice) -> Result<Ready, Refusal> {
        choice.check(source)?;
        let ready = match source {
            Source::Ptx(text) => {
                let (program, target) = from_ptx::program(text, choice, false)?;
                Ready::of(program, target)
            }
            Source::SpirvText(_) | Source::Spirv(_) => {
                let (program, profile, undetermined) = from_spirv::program(source, choice)?;
                Ready { program, profile, undetermined, target: None, place: 0 }
            }
            Source::Cubin(_) | Source::Listing(_) => {
                return Err(Refusal::Usage("it is machine code: expected PTX or SPIR-V".to_owned()));
            }
        };
        ready.chosen(choice)
    }

    /// With the kernel that is chosen, or the only one.
    fn chosen(mut self, choice: &Choice) -> Result<Ready, Refusal> {
        self.place = match (self.program.kernels.as_slice(), choice.entry.as_deref()) {
            ([], None) => return Err(Refusal::Usage("there is no kernel in it".to_owned())),
            ([_], None) => 0,
            (kernels, None) => {
                return Err(Refusal::Several(kernels.iter().map(|kernel| kernel.name.clone()).collect()));
            }
            (kernels, Some(name)) => kernels
                .iter()
                .position(|kernel| kernel.name == name)
                .ok_or_else(|| Refusal::Usage(format!("there is no kernel `{name}`")))?,
        };
        Ok(self)
    }

    /// Reads the kernel that is chosen, or where none is every kernel of a module, into one program.
    ///
    /// # Errors
    /// If the module or one of these kernels cannot be read.
    pub fn read_all(source: Source<'_>, choice: &Choice) -> Result<Ready, Refusal> {
        if choice.entry.is_some() {
            return Ready::read(source, choice);
        }
        if let Source::Ptx(text) = source {
            choice.check(source)?;
            let (program, target) = from_ptx::program(text, choice, true)?;
            if program.kernels.is_empty() {
                return Err(Refusal::Usage("there is no kernel in it".to_owned()));
            }
            return Ok(Ready::of(program, target));
        }
        let mut all: Option<Ready> = None;
        for (_, ready) in Ready::read_each(source, choice)? {
            let ready = ready?;
            match &mut all {
                None => all = Some(ready),
                Some(all) => all.append(ready),
            }
        }
        all.ok_or_else(|| Refusal::Usage("there is no kernel in it".to_owned()))
    }

    /// With another's kernels, of the same module: variables that are the same are one.
    fn append(&mut self, other: Ready) {
        let known = self.program.variables.len();
        let places = self.program.variables.iter().enumerate().map(|(place, known)| (known.name.clone(), place));
        let places: HashMap<String, usize> = places.collect();
        let mut numbers = Vec::new();
        for variable in other.program.variables {
            let same = places.get(&variable.name).copied().filter(|&place| self.program.variables[place] == variable);
            numbers.push(same.unwrap_or(self.program.variables.len()) as u32);
            if same.is_none() {
                self.program.variables.push(variable);
            }
        }
        for variable in &mut self.program.variables[known..] {
            for relocation in &mut variable.relocations {
                relocation.variable = numbers[relocation.variable as usize];
            }
        }
        for mut kernel in other.program.kernels {
            for instruction in kernel.blocks.iter_mut().flat_map(|block| &mut block.instructions) {
                if let Op::Special { special: Special::Address(variable), .. } = &mut instruction.op {
                    *variable = numbers[*variable as usize];
                }
            }
            self.program.kernels.push(kernel);
        }
        for open in other.undetermined {
            if !self.undetermined.contains(&open) {
                self.undetermined.push(open);
            }
        }
    }

    /// Reads every kernel of a module on its own, those among them that cannot be run: the name of each.
    ///
    /// # Errors
    /// If the module cannot be read.
    pub fn read_each(source: Source<'_>, choice: &Choice) -> Result<Vec<Each>, Refusal> {
        choice.check(source)?;
        match source {
            Source::Ptx(text) => from_ptx::each(text, choice),
            Source::SpirvText(_) | Source::Spirv(_) => from_spirv::each(source, choice),
            Source::Cubin(_) | Source::Listing(_) => machine_code::each(source, choice),
        }
    }

    /// Arguments by the parameters' types: zeros, in a buffer of so many bytes where the kernel uses it as one.
    pub fn zero_arguments(&self, buffer_bytes: usize) -> Vec<Arg> {
        let pointers = pointer_parameters(&self.program, self.kernel());
        let images = image_parameters(self.kernel());
        let params = self.kernel().params.iter().zip(pointers).zip(images);
        let argument = |((param, is_pointer), image): ((&Param, bool), Option<ImageUse>)| match (param.passing, image) {
            (Passing::Image(_) | Passing::Any, Some(image)) => image::zeros(image),
            (Passing::Image(ty), None) => image::zeros(ImageUse { ty, component: None }),
            (Passing::Sampler, _) => Arg::Sampler(Sampler::default()),
            (Passing::Buffer, _) => Arg::Buffer(Buffer::zeros(buffer_bytes)),
            (Passing::Any, None) if is_pointer => Arg::Buffer(Buffer::zeros(buffer_bytes)),
            (Passing::Shared, _) => Arg::Scalar(ZERO_SHARED),
            (Passing::Any | Passing::Value, _) if param.size <= 8 => Arg::Scalar(0),
            (Passing::Any | Passing::Value, _) => Arg::Bytes(vec![0; param.size as usize]),
        };
        params.map(argument).collect()
    }

    /// The kernel that is meant.
    pub fn kernel(&self) -> &Kernel {
        &self.program.kernels[self.place]
    }

    /// For each parameter whether an array may be given for it: memory whose address it receives, a structure passed by value,
    /// or an image. One that the kernel only computes with is a number, and so is one that has no room for an address.
    pub fn array_parameters(&self) -> Vec<bool> {
        let numbers = number_parameters(&self.program, self.kernel());
        let address_bytes = self.program.address_bits / 8;
        let takes = |(param, is_number): (&Param, bool)| {
            let is_float = matches!(param.scalar, Some(Scalar::Float(_)));
            param.passing != Passing::Any
                || is_by_value(param)
                || !(is_float || param.size < address_bytes || is_number)
        };
        self.kernel().params.iter().zip(numbers).map(takes).collect()
    }

    /// That nothing is given for a parameter, and how to give it: by an option, or by its members.
    pub fn value_expected(&self, place: usize, option: &str) -> String {
        let (kernel, members) = (self.kernel(), self.member_names(place).join(", "));
        let members = if members.is_empty() { members } else { format!(", or its members ({members})") };
        format!("{} has no value: add {option} {}=…{members}", called(kernel, place), kernel.params[place].name)
    }

    /// That arrays are of the formats that the kernel computes in, where its code tells: the name of each parameter's,
    /// `None` where it is no array of floats.
    ///
    /// # Errors
    /// Which parameter's is of another format.
    pub fn check_formats(&self, given: &[Option<&str>]) -> Result<(), String> {
        let used = element_formats(&self.program, self.kernel());
        for (place, (given, used)) in given.iter().zip(used).enumerate() {
            let Some(given) = given.filter(|given| !used.is_empty() && !used.contains(given)) else { continue };
            return Err(format!(
                "{}: the array holds {given}, the kernel computes with {}: convert it, or give its bits as integers",
                called(self.kernel(), place),
                listed(used)
            ));
        }
        Ok(())
    }
}

fn listed(names: BTreeSet<&str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(" and ")
}

/// From so many bytes of text on a second thread is worth its start.
pub(crate) const LONG: usize = 1 << 18;

/// Both, at the same time where the text has so many bytes that it pays.
pub(crate) fn side_by_side<A: Send, B: Send>(
    bytes: usize,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if bytes < LONG { (one(), other()) } else { rayon::join(one, other) }
}

/// A machine by its name, `sm_90`.
///
/// # Errors
/// If PTX has no such target.
pub fn machine(name: &str) -> Result<SmTarget, String> {
    let target = name.parse()?;
    let is_known = ptx::targets().any(|known| known == name);
    if is_known { Ok(target) } else { Err(format!("there is no target `{name}`")) }
}

/// The place of the parameter that a name or a number from 0 means. The members of a structure ([`Ready::name_members`])
/// are one in that count: `0+8` is what stands 8 bytes into it.
///
/// # Errors
/// If there is none; what there is.
pub fn parameter(kernel: &Kernel, name: &str) -> Result<usize, String> {
    let params = &kernel.params;
    let declared = declared(kernel);
    let at = |name: &str| params.iter().position(|param| param.name == name);
    let counted = |position: &str| declared.get(position.parse::<usize>().ok()?).copied();
    let by_position = match members::member(name) {
        Some((position, offset)) => {
            counted(position).and_then(|place| at(&format!("{}+{offset}", stem(kernel, place)?)))
        }
        None => counted(name).filter(|&place| stem(kernel, place).is_none()),
    };
    by_position.or_else(|| at(name)).ok_or_else(|| {
        let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        format!(
            "`{name}` is no parameter of `{}`: expected 0 to {} or one of {}",
            kernel.name,
            declared.len().saturating_sub(1),
            names.join(", ")
        )
    })
}

/// What each parameter is where nothing is given for it: the only piece of shared memory is the launch's dynamic one, if that has bytes; a
/// structure of which the kernel reads nothing is zeros.
///
/// ```
/// use roundonce::exec::Arg;
/// use roundonce::kernel::{Choice, Ready, Source, array_argument, default_arguments};
/// let text = ".version 7.0\n.target sm_80\n.address_size 64
///     .visible .entry k(.param .align 1 .b8 plus[1], .param .align 4 .b8 read[12], .param .u32 n) {
///         .reg .f32 %x; ld.param.f32 %x, [read+8]; ret; }";
/// let ready = Ready::read(Source::Ptx(text), &Choice::default()).unwrap();
/// assert_eq!(default_arguments(ready.kernel(), 0), [Some(Arg::Bytes(vec![0])), None, None]);
/// // It may be given as bytes all the same.
/// assert!(ready.array_parameters()[0]);
/// assert_eq!(array_argument(&ready.kernel().params[0], &[7][..]), Arg::Bytes(vec![7]));
/// ```
pub fn default_arguments(kernel: &Kernel, dynamic_shared: u32) -> Vec<Option<Arg>> {
    let pieces = kernel.params.iter().filter(|param| param.passing == Passing::Shared).count();
    let reads = members::Reads::of(kernel);
    let default = |param: &Param| match param.passing {
        Passing::Shared => (pieces == 1 && dynamic_shared > 0).then_some(Arg::Scalar(0)),
        Passing::Any if is_by_value(param) && !reads.reach(param) => Some(Arg::Bytes(vec![0; param.size as usize])),
        _ => None,
    };
    kernel.params.iter().map(default).collect()
}

/// Push constants given as the bytes of their block: the bytes of each member, by its parameter.
///
/// # Errors
/// Where the kernel has none, or the block is not as long.
pub fn push_constants(kernel: &Kernel, block: &[u8]) -> Result<BTreeMap<usize, Arg>, String> {
    let members = kernel.params.iter().take(kernel.push_constants).enumerate();
    let end = members.clone().map(|(_, param)| param.offset + param.size).max().unwrap_or(0) as usize;
    if end == 0 {
        return Err(format!("`{}` has no push constants", kernel.name));
    }
    // A block may be padded to its largest alignment: of a number that is its size, of what else there is at most 16.
    let alignment = |param: &Param| param.size.next_power_of_two().min(if param.scalar.is_some() { 8 } else { 16 });
    let largest = members.clone().map(|(_, param)| alignment(param)).max().unwrap_or(1);
    let padded = |shift: u32| (1 << shift) <= largest && block.len() == end.next_multiple_of(1 << shift);
    if !(0..=4).any(padded) {
        return Err(format!("the push constants take {end} bytes, {} are given", block.len()));
    }
    let member = |(place, param): (usize, &Param)| {
        let bytes = block.get(param.offset as usize..).and_then(|rest| rest.get(..param.size as usize));
        (place, Arg::Bytes(bytes.unwrap_or_default().to_vec()))
    };
    Ok(members.map(member).collect())
}

/// The structure that a parameter is a named member of.
fn stem(kernel: &Kernel, place: usize) -> Option<&str> {
    members::member(&kernel.params[place].name).map(|(stem, _)| stem)
}

/// The places of the parameters that a kernel declares, of structures with named members the first one.
fn declared(kernel: &Kernel) -> Vec<usize> {
    // A structure's members stand side by side.
    let begins = |&place: &usize| {
        let own = stem(kernel, place);
        place == 0 || own.is_none() || own != stem(kernel, place - 1)
    };
    (0..kernel.params.len()).filter(begins).collect()
}

/// A parameter as messages name it.
pub fn called(kernel: &Kernel, place: usize) -> String {
    let position = declared(kernel).partition_point(|&first| first <= place) - 1;
    format!("parameter {position} (`{}`)", kernel.params[place].name)
}

/// That an array is given for a parameter that is a number.
pub fn number_expected(kernel: &Kernel, place: usize) -> String {
    format!("{} is a number of {} bytes: found an array", called(kernel, place), kernel.params[place].size)
}

/// Whether an array for a parameter is a structure passed by value, and no address.
pub fn is_by_value(param: &Param) -> bool {
    let is_number = param.size <= 8 && (param.scalar.is_some() || matches!(param.size, 4 | 8));
    param.passing == Passing::Value || param.passing == Passing::Any && !is_number
}

/// An array's bytes for a parameter: memory, or the structure that it is passed by value.
pub fn array_argument<'b>(param: &Param, bytes: impl Into<Cow<'b, [u8]>>) -> Arg {
    let bytes = bytes.into();
    if is_by_value(param) {
        Arg::Bytes(bytes.into_owned())
    } else {
        Arg::Buffer(match bytes {
            Cow::Borrowed(bytes) => Buffer::from_bytes(bytes),
            Cow::Owned(bytes) => Buffer::from_vec(bytes),
        })
    }
}

/// A number as a declared type of some bytes has it: hexadecimal bits, or a decimal number.
///
/// # Errors
/// If it is none, or does not fit.
pub fn number(bytes: u32, scalar: Option<Scalar>, text: &str) -> Result<u64, String> {
    let bits = bytes * 8;
    let mask = u64::MAX >> 64u32.saturating_sub(bits).min(63);
    if let Some(Scalar::Float(format)) = scalar {
        return read_float(format, text);
    }
    let hex = text.strip_prefix("0x").filter(|digits| !digits.contains('p'));
    if let Some(bits) = hex.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        return if bits & !mask == 0 { Ok(bits) } else { Err(format!("`{text}` does not fit in {bytes} bytes")) };
    }
    match scalar {
        // PTX's spelling of a float's bits needs no type.
        _ if (bytes == 4 && text.starts_with("0f")) || (bytes == 8 && text.starts_with("0d")) => {
            let format = if bytes == 4 { Format::F32 } else { Format::F64 };
            parse_value(format, 1, text).map(|parsed| parsed.value.components()[0])
        }
        _ => {
            if let Some(format) = assumed_format(bytes, scalar, text) {
                return parse_value(format, 1, text).map(|parsed| parsed.value.components()[0]);
            }
            let integer: i128 = text.parse().map_err(|_| format!("`{text}` is neither an integer nor hex bits"))?;
            let fits = integer >= -(1i128 << (bits.min(64) - 1)) && integer <= i128::from(mask);
            if fits { Ok(integer as u64 & mask) } else { Err(format!("`{text}` does not fit in {bytes} bytes")) }
        }
    }
}

/// The format that a number is read in, where it is one of floats.
pub fn number_format(bytes: u32, scalar: Option<Scalar>, text: &str) -> Option<Format> {
    match scalar {
        Some(Scalar::Float(format)) => Some(format),
        _ => assumed_format(bytes, scalar, text),
    }
}

/// The format that a number is taken in where its parameter has no type: that of the parameter's width, of a number that
/// no integer is.
pub fn assumed_format(bytes: u32, scalar: Option<Scalar>, text: &str) -> Option<Format> {
    let format = match bytes {
        4 => Format::F32,
        8 => Format::F64,
        _ => return None,
    };
    let is_float = text.parse::<i128>().is_err() && !text.starts_with("0f") && !text.starts_with("0d");
    (scalar.is_none() && is_float && parse_value(format, 1, text).is_ok()).then_some(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_push_constants_is_padded_to_its_alignment_and_no_further() {
        let lengths = |members: &[(u32, u32, Option<Scalar>)]| -> Vec<usize> {
            let mut kernel = Kernel::new("k");
            let member =
                |&(offset, size, scalar)| Param { name: String::new(), offset, size, scalar, passing: Passing::Value };
            kernel.params = members.iter().map(member).collect();
            kernel.push_constants = members.len();
            (0..40).filter(|&length| push_constants(&kernel, &vec![0; length]).is_ok()).collect()
        };
        let [single, double] = [Format::F32, Format::F64].map(|format| Some(Scalar::Float(format)));
        assert_eq!(lengths(&[(0, 4, single)]), [4]);
        assert_eq!(lengths(&[(0, 8, double), (8, 4, single)]), [12, 16]);
        assert_eq!(lengths(&[(0, 12, None)]), [12, 16]);
        assert_eq!(lengths(&[(0, 16, None), (16, 4, single)]), [20, 24, 32]);
    }
}
