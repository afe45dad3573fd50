//! `why` on a kernel: which policy gives the arrays that were seen.

use std::path::Path;

use roundonce::arith::Format as Lane;
use roundonce::matrix::other_machines;
use roundonce::why::Options;
use roundonce::why_kernel::{Experiment, Freedom, Observation, ObservedBuffer, answer_kernel};

use crate::answer_output::Writer;
use crate::argument::Argument;
use crate::array::{Array, Header};
use crate::launch::{LaunchArguments, Prepared};
use crate::modules::Language;
use crate::progress::Progress;
use crate::run::failed;
use crate::{Ended, Failure, Status};

impl Language {
    /// What a compiler or the hardware may do otherwise than the kernel says.
    fn freedom(self) -> Freedom {
        match self {
            Language::Ptx => Freedom::ptx(),
            Language::Spirv | Language::SpirvText => Freedom::spirv(),
            Language::Sass | Language::Cubin => Freedom::sass(),
        }
    }
}

/// What is asked of a kernel.
pub(crate) struct Asked<'a> {
    pub(crate) launch: &'a LaunchArguments,
    pub(crate) saw: &'a [Argument],
    /// The machine code that ran.
    pub(crate) cubin: Option<&'a Path>,
}

pub(crate) fn ask(file: &Path, asked: &Asked<'_>, how: Options, writer: Writer<'_>) -> Ended {
    let Asked { launch, saw, cubin } = *asked;
    let mut prepared = Prepared::read(file, launch.asked()?, launch)?;
    if let Some(cubin) = cubin {
        prepared.follow(cubin)?;
    }
    let machines = other_machines(prepared.kernel(), &launch.profile()?);
    let experiment = Experiment {
        launch: prepared.launch(launch.options()),
        kernel: prepared.kernel(),
        freedom: Freedom { machines, ..prepared.language.freedom() },
        observations: observations(&prepared, saw)?,
        allow: how.allow,
        toolchain: how.toolchain,
    };
    let progress = Progress::open("policies run");
    let answer = answer_kernel(&experiment, &mut |runs| progress.advance(runs));
    drop(progress);
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return failed(file, &error).map(|()| Status::Found),
    };
    writer.only(&answer, Some((file, &prepared.text)))
}

/// The arrays seen, by the runs that they are of.
fn observations(prepared: &Prepared, saw: &[Argument]) -> Result<Vec<Observation>, Failure> {
    if saw.is_empty() {
        return Err(Failure::Input(
            "nothing was seen: expected --saw P=FILE.npy, a buffer as it was afterwards".to_owned(),
        ));
    }
    let seen = saw.iter().map(|text| {
        let (name, given) = text.split().ok_or_else(|| {
            Failure::Input(format!("--saw `{text}` is not P=FILE.npy: whose buffer is it? such as --saw y={text}"))
        })?;
        let arg = prepared.buffer("--saw", name)?;
        observed(prepared, arg, prepared.name(arg, name), &given)
    });
    Ok(Observation::by_run(seen.collect::<Result<Vec<_>, Failure>>()?))
}

/// An array of a file, or elements as written, which have the buffer's name.
fn observed(prepared: &Prepared, arg: usize, parameter: &str, given: &Argument) -> Result<ObservedBuffer, Failure> {
    let (name, array) = match given.text().ok().and_then(Array::written) {
        Some(written) => (parameter.to_owned(), written?),
        None => (given.to_string(), Array::of_file(given.path())?),
    };
    let Array { header, bytes, .. } = array;
    let fault = |problem: String| Failure::Input(format!("{name}: {problem}"));
    let (format, size) = element(&header).map_err(fault)?;
    let lengths = header.shape.iter().map(|&length| length as usize);
    // A buffer has its elements as they lie in the file: in Fortran order the shape does not number them.
    let shape = if header.fortran { vec![lengths.product()] } else { lengths.collect() };
    let observed = ObservedBuffer { name, parameter: parameter.to_owned(), arg, bytes, size, format, shape };
    observed.of_bytes(prepared.buffer_bytes(arg)).map_err(Failure::Input)
}

/// What an array's elements are, `None` for integers, and their bytes.
pub(crate) fn element(header: &Header) -> Result<(Option<Lane>, usize), String> {
    Ok(match header.element() {
        "f2" => (Some(Lane::F16), 2),
        "V2" => (Some(Lane::BF16), 2),
        "f4" => (Some(Lane::F32), 4),
        "f8" => (Some(Lane::F64), 8),
        "i1" | "u1" | "b1" => (None, 1),
        "i2" | "u2" => (None, 2),
        "i4" | "u4" => (None, 4),
        "i8" | "u8" => (None, 8),
        other => {
            let remark = header.remark();
            return Err(format!("its elements are {other}{remark}: expected f2, f4, f8, V2 for bf16, or integers"));
        }
    })
}
