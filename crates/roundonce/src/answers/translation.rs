//! A translated module: its text, what its kernels take, and what is known of their equality.

use roundonce_exec::FaultKind;
use roundonce_ir::Kernel;
use roundonce_isa::{counted, grouped};
use roundonce_translate::kernel::Argument;
use roundonce_why::{COLUMNS, Line, Role, wrap};
use serde::Serialize;

use crate::translation::{Difference, Failure, Translated, Verification};

/// A translated module, for programs.
#[derive(Clone, Debug, Serialize)]
pub struct TranslatedModule<'a> {
    /// The module.
    pub text: &'a str,
    /// What the source leaves open of the bits; the translation has what stands here.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub undetermined: &'a [String],
    /// Losses that were accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<String>,
    /// Its kernels.
    pub kernels: Vec<TranslatedKernel<'a>>,
}

/// A kernel of it.
#[derive(Clone, Debug, Serialize)]
pub struct TranslatedKernel<'a> {
    /// Its name in the source.
    pub kernel: &'a str,
    /// What a launch gives for each of its parameters.
    pub parameters: Vec<String>,
    /// What documents leave open of its bits, so that they need not be the source's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// What was found where both were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerifiedKernel>,
}

/// What is known of a kernel and its translation.
#[derive(Clone, Debug, Serialize)]
pub struct VerifiedKernel {
    /// `proved`, `proved-as-decided` where something is open of the bits or lost, `equal-on-data`, `nothing-compared` or `different`.
    pub verdict: &'static str,
    /// In words: of what is not proved why, of what differs where.
    pub reason: String,
    /// Launches of both that were compared.
    pub launches: usize,
    /// Launches of the source that failed, and say nothing.
    pub failed: usize,
    /// The first of them: its blocks, and what stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Bytes that they changed, and that were compared.
    pub changed: u64,
}

impl<'a> TranslatedModule<'a> {
    /// Of a translation, with the verification of each kernel where it was asked for.
    pub fn new(translated: &'a Translated, verified: &[Verification]) -> TranslatedModule<'a> {
        let kernels = translated.source.program.kernels.iter().enumerate().map(|(place, kernel)| {
            let arguments = &translated.translation.arguments[place];
            let parameters = arguments.iter().map(|argument| described(kernel, *argument)).collect();
            let open = &translated.translation.open[place];
            let losses = &translated.translation.losses;
            let is_open = !open.is_empty() || !losses.is_empty() || !translated.source.undetermined.is_empty();
            let verification = verified.get(place);
            let verification = verification.map(|verification| VerifiedKernel::new(kernel, verification, is_open));
            let open = open.iter().map(ToString::to_string).collect();
            TranslatedKernel { kernel: &kernel.name, parameters, open, verification }
        });
        TranslatedModule {
            text: &translated.translation.text,
            undetermined: &translated.source.undetermined,
            losses: translated.translation.losses.iter().map(ToString::to_string).collect(),
            kernels: kernels.collect(),
        }
    }

    /// What a reader of the module should know beside it.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        notes.extend(self.undetermined.iter().map(|open| format!("left open by the source, decided here: {open}")));
        notes.extend(self.losses.iter().cloned());
        notes.extend(self.open());
        for kernel in &self.kernels {
            for (place, what) in kernel.parameters.iter().enumerate().filter(|(_, what)| !what.starts_with('`')) {
                notes.push(format!("`{}`: parameter {place} is {what}", kernel.kernel));
            }
        }
        notes
    }

    /// What is open of the kernels' bits, each said once for all kernels that it is said of.
    fn open(&self) -> Vec<String> {
        let mut said: Vec<(&str, Vec<String>)> = Vec::new();
        for kernel in &self.kernels {
            let name = format!("`{}`", kernel.kernel);
            for open in &kernel.open {
                match said.iter_mut().find(|(known, _)| known == open) {
                    Some((_, kernels)) => kernels.push(name.clone()),
                    None => said.push((open, vec![name.clone()])),
                }
            }
        }
        said.into_iter().map(|(open, kernels)| format!("{}: {open}", kernels.join(", "))).collect()
    }

    /// What was found where the two were compared.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for kernel in &self.kernels {
            if let Some(verification) = &kernel.verification {
                let text = format!("{}: {}", kernel.kernel, verification.reason);
                lines.extend(wrap(Role::Plain, &text, 0, COLUMNS));
            }
        }
        lines
    }
}

/// What is given for a parameter.
fn described(kernel: &Kernel, argument: Argument) -> String {
    let name = |param: usize| &kernel.params[param].name;
    match argument {
        Argument::Param(param) => format!("`{}`", name(param)),
        Argument::BufferBytes(param) => format!("the size in bytes of the buffer of `{}`", name(param)),
        Argument::SharedOffset(param) => {
            format!("where in dynamic shared memory the piece begins that was given for `{}`", name(param))
        }
        Argument::DynamicShared => "dynamic shared memory, by its size in bytes".to_owned(),
        Argument::AllShared => {
            format!("shared memory, by its size in bytes: {} and those of the dynamic one", kernel.shared_bytes)
        }
    }
}

impl VerifiedKernel {
    fn new(kernel: &Kernel, verification: &Verification, is_open: bool) -> VerifiedKernel {
        let Verification { proof, launches, failed, failure, changed, different } = verification;
        let failure = failure.as_ref().map(described_failure);
        let compared = format!("{}, {} bytes written", counted(*launches as u64, "run"), grouped(*changed));
        let place = |loc: u32| match kernel.source_locs.get(loc as usize) {
            Some(place) if place.line > 0 => format!(" at {}", kernel.place_name(place.line)),
            _ => String::new(),
        };
        let (verdict, reason) = match (different, proof) {
            (Some(Difference::Fails(problem)), _) => ("different", format!("different: {problem}")),
            (Some(Difference::Byte { param, at }), _) => {
                let name = &kernel.params[*param].name;
                ("different", format!("different: byte {at} of the buffer of `{name}`, after {compared}"))
            }
            (None, Ok(())) => {
                let both = "both do the same operations on memory with the same values";
                if is_open {
                    ("proved-as-decided", format!("equal for all data but for what the notes say is open: {both}"))
                } else {
                    ("proved", format!("equal for all data: {both}"))
                }
            }
            (None, Err(unproved)) => {
                let why = format!("not proved for all data: {}{}", unproved.reason, place(unproved.locs[0]));
                if verification.holds() {
                    ("equal-on-data", format!("equal in {compared}; {why}"))
                } else {
                    let first = failure.as_ref().map(|first| format!(", the first {first}")).unwrap_or_default();
                    ("nothing-compared", format!("nothing was compared: {compared}, {failed} failed{first}; {why}"))
                }
            }
        };
        VerifiedKernel { verdict, reason, launches: *launches, failed: *failed, failure, changed: *changed }
    }
}

/// `with 1 block of 64 threads: …`
fn described_failure(Failure { blocks, block, error }: &Failure) -> String {
    let threads = block.iter().map(|count| u64::from(*count)).product();
    let option = if error.kind == FaultKind::StepLimit { " (--step-limit N sets another)" } else { "" };
    format!("with {} of {}: {error}{option}", counted((*blocks).into(), "block"), counted(threads, "thread"))
}
