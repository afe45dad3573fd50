//! `translate` of a module: its kernels in another language.

use std::path::{Path, PathBuf};

use clap::Args;
use roundonce::answers::{Checked, TranslatedModule, located};
use roundonce::kernel::{Choice, Source};
use roundonce::spirv::{self, Environment};
use roundonce::translate::rules::LOSSES;
use roundonce::translation::{NoTranslation, Options, STEP_LIMIT, To, Verification, translate};
use roundonce::{SmTarget, Version};

use crate::cuda::CudaSource;
use crate::launch::{Assumption, spec_constants};
use crate::output::{self, Format};
use crate::{Ended, Failure, Status, files, modules, report};

#[derive(Args)]
#[command(next_help_heading = "Kernels")]
pub(crate) struct KernelArguments {
    /// The kernel (default: every kernel of the module)
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Where the translation goes: a module to .ptx, .spvasm, or as the words of SPIR-V to .spv; of others what is printed
    /// without it (default: the text on stdout)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compares each kernel with its translation: by proof, and by runs of both on directed and random data
    #[arg(long)]
    verify: bool,
    /// How many runs --verify makes of each kernel
    #[arg(long, value_name = "N", default_value_t = 16, requires = "verify")]
    runs: usize,
    /// With --verify: a run of a kernel that takes more instructions than this is given up
    #[arg(long, value_name = "N", default_value_t = STEP_LIMIT, requires = "verify")]
    step_limit: u64,
    /// Accepts a loss, by the code that the refusal names
    #[arg(long, value_name = "CODE", value_parser = loss)]
    allow: Vec<String>,
    /// From SPIR-V: what the translation does where the module leaves bits open (default: nvidia)
    #[arg(long, value_enum)]
    assume: Option<Assumption>,
    /// From SPIR-V: a specialisation constant, by its SpecId
    #[arg(long, value_name = "ID=VALUE")]
    spec: Vec<String>,
    /// To PTX: its version (default: the lowest that has every instruction)
    #[arg(long, value_name = "VERSION", value_parser = roundonce::parse_ptx)]
    ptx: Option<Version>,
    /// To SPIR-V: whom the module is for: opencl1.2, opencl2.2 …
    #[arg(long, value_name = "ENVIRONMENT")]
    target_env: Option<Environment>,
    /// To SPIR-V: a fused multiply-add is OpFmaKHR of SPV_KHR_fma, not OpenCL.std's fma
    #[arg(long)]
    fma_khr: bool,
}

/// The code of a loss that a translation can have.
fn loss(code: &str) -> Result<String, String> {
    let known: Vec<&str> = LOSSES.iter().map(|rule| rule.code).collect();
    let unknown = || format!("no loss has this code: expected one of {}", known.join(", "));
    known.contains(&code).then(|| code.to_owned()).ok_or_else(unknown)
}

impl KernelArguments {
    /// Where the translation goes, if not to stdout.
    pub(crate) fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// That no option is given that a translation to the language does not have.
    fn check(&self, to: To, target: Option<SmTarget>) -> Result<(), Failure> {
        let (of_other, other) = match to {
            To::Ptx => (&[("--target-env", self.target_env.is_some()), ("--fma-khr", self.fma_khr)], "SPIR-V"),
            To::Spirv => (&[("--target", target.is_some()), ("--ptx", self.ptx.is_some())], "PTX"),
        };
        match of_other.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::Input(format!("{option} is for translations to {other}"))),
            None => Ok(()),
        }
    }
}

/// Exit 1 where something has no counterpart, or what was compared is not equal.
pub(crate) fn run(
    file: &Path,
    to: To,
    target: Option<SmTarget>,
    contract: bool,
    arguments: &KernelArguments,
    format: Format,
) -> Ended {
    arguments.check(to, target)?;
    let binary = arguments.output.as_deref().map(|path| is_binary(path, to)).transpose()?.unwrap_or(false);
    let choice = Choice {
        entry: arguments.entry.clone(),
        assume: arguments.assume.map(Into::into).unwrap_or_default(),
        spec: spec_constants(&arguments.spec)?,
        ..Choice::default()
    };
    let name = file.display().to_string();
    let options = Options {
        allow: &arguments.allow,
        file: &name,
        target,
        version: arguments.ptx,
        contract,
        environment: arguments.target_env,
        fma_khr: arguments.fma_khr,
        ..Options::default()
    };
    let translated = |source: Source<'_>, choice: &Choice| match translate(source, to, choice, &options) {
        Ok(translated) => Ok(Ok(translated)),
        Err(NoTranslation::NoCounterpart(findings)) => Ok(Err(findings)),
        Err(NoTranslation::Unread(refusal)) => Err(refusal),
    };
    let (translated, text) = match CudaSource::of(file) {
        None => modules::read(file, &choice, translated)?,
        Some(source) => {
            let text = source.compile("")?;
            let translated = translated(Source::Ptx(&text), &choice);
            (translated.map_err(|refusal| modules::refused(file, &text, refusal))?, text)
        }
    };
    let translated = match translated {
        Ok(translated) => translated,
        Err(findings) => {
            report::tell(Checked::new(&name, text, findings, false))?;
            return Ok(Status::Found);
        }
    };
    let verified = if arguments.verify { translated.verify(arguments.runs, arguments.step_limit) } else { Vec::new() };
    let answer = TranslatedModule::new(&translated, &verified);
    match &arguments.output {
        Some(path) if binary => files::write(path, &words(answer.text)?)?,
        Some(path) => files::write(path, answer.text.as_bytes())?,
        None if format == Format::Text => files::write_or_print(None, answer.text.as_bytes())?,
        None => {}
    }
    match format {
        Format::Json => output::json(&answer)?,
        Format::Text => {
            answer.notes().iter().for_each(|note| output::note(note));
            // The module alone goes to stdout where it goes there.
            if arguments.output.is_some() {
                output::lines(&answer.lines())?;
            } else {
                answer
                    .kernels
                    .iter()
                    .filter_map(|kernel| Some((kernel.kernel, kernel.verification.as_ref()?)))
                    .for_each(|(kernel, verification)| output::note(&format!("{kernel}: {}", verification.reason)));
            }
        }
    }
    Ok(if verified.iter().all(Verification::holds) { Status::Done } else { Status::Found })
}

/// Whether the words of SPIR-V are asked for, by a file's name.
fn is_binary(path: &Path, to: To) -> Result<bool, Failure> {
    match (path.extension().and_then(|extension| extension.to_str()), to) {
        (Some("ptx"), To::Ptx) | (Some("spvasm"), To::Spirv) => Ok(false),
        (Some("spv"), To::Spirv) => Ok(true),
        _ => {
            let expected = if to == To::Ptx { ".ptx" } else { ".spvasm or .spv" };
            Err(Failure::Input(format!("{}: expected a file {expected}", path.display())))
        }
    }
}

fn words(text: &str) -> Result<Vec<u8>, Failure> {
    let module = spirv::assemble_module(text, None);
    let module = module.map_err(|findings| Failure::Input(located("the translation", text, findings)))?;
    Ok(module.to_bytes())
}
