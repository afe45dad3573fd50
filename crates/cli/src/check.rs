//! `check`: files against the documents' rules.

use std::path::{Path, PathBuf};

use clap::Args;
use roundonce::answers::{CheckOptions, Checked, TextLanguage, Unchecked};
use roundonce::isa::{Severity, apply_counted, counted};
use roundonce::sass::modern;
use roundonce::spirv::{Environment, Migration, Module, NOT_MIGRATED, migrate_binary, migrate_text, unchecked};
use roundonce::{compiled, sass};
use roundonce_vectors::without_mark;

use crate::asm::check_listing;
use crate::cuda::CudaSource;
use crate::modules::Language;
use crate::options::{self, Given, Kind};
use crate::report::{self, Format};
use crate::{Ended, Failure, Status, files, output};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// Files to check: .ptx, .sass, .cubin, .spvasm, .spv; `-` reads stdin, whose language is known by what it holds
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Make warnings, or notes and warnings, count as errors
    #[arg(long, value_parser = ["warnings", "notes"], value_name = "LEVEL")]
    deny: Option<String>,
    /// PTX and SPIR-V: list every place where the bits are left open, with the smallest input found that shows it and the edit
    /// that settles it
    #[arg(long)]
    determinacy: bool,
    /// Machine code of Maxwell and Pascal: every register that is read or overwritten before a result of variable latency
    /// was waited for
    #[arg(long)]
    check_hazards: bool,
    /// PTX, with --determinacy: a cubin made of the file with `-lineinfo`; what became of each product that is left open
    #[arg(long, value_name = "FILE.cubin", requires = "determinacy")]
    compiled: Option<PathBuf>,
    /// SPIR-V: the environment, as spirv-val names it: spv1.6, vulkan1.3, opencl2.2…
    #[arg(long, value_name = "ENV", default_value = "spv1.6")]
    target_env: Environment,
    /// Apply the safe fixes to the files; in SPIR-V, migrate OpenCL.std fma to OpFmaKHR, with glsl-fma GLSL.std.450 Fma
    /// too; with determinacy the edits of what is left open as well
    #[arg(long, value_name = "ALSO", num_args = 0..=1, require_equals = true, default_missing_value = "safe",
        value_parser = ["safe", "glsl-fma", "determinacy"])]
    fix: Option<String>,
    /// Who reads the findings
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    // An option that is for one of the files is no mistake.
    let kind = |path: &PathBuf| match Language::of(path)? {
        Language::Ptx => Some(Kind::Ptx),
        Language::Spirv | Language::SpirvText => Some(Kind::Spirv),
        Language::Sass | Language::Cubin => Some(Kind::MachineCode),
    };
    let kinds: Vec<Kind> = arguments.files.iter().filter_map(kind).collect();
    arguments.given.check(options::CHECK, &kinds, arguments.files[0].display())?;
    let mut checked = Vec::with_capacity(arguments.files.len());
    let mut paths: Vec<&Path> = Vec::with_capacity(arguments.files.len());
    // What was found in other files is reported all the same.
    let mut failed = None;
    for path in &arguments.files {
        match check(path, arguments) {
            Ok(file) => {
                checked.push(file);
                paths.push(path);
            }
            Err(failure) => failed = worse(failed, failure)?,
        }
    }
    if failed.is_none() || !checked.is_empty() {
        report::write(arguments.format, &checked, &paths)?;
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    let refused = match arguments.deny.as_deref() {
        Some("notes") => Severity::Note,
        Some(_) => Severity::Warning,
        None => Severity::Error,
    };
    let bad = checked.iter().any(|file| file.worst() >= Some(refused));
    Ok(if bad { Status::Found } else { Status::Done })
}

/// The worse of two failures, by exit status; the other one is printed.
fn worse(known: Option<Failure>, failure: Failure) -> Result<Option<Failure>, Failure> {
    Ok(Some(match (known, failure) {
        (_, Failure::OutputClosed) => return Err(Failure::OutputClosed),
        (None, failure) => failure,
        (Some(known @ Failure::Unsupported(_)), Failure::Input(message)) => {
            output::error(&message);
            known
        }
        (Some(known), failure) => {
            if let Failure::Input(message) | Failure::Unsupported(message) = known {
                output::error(&message);
            }
            failure
        }
    }))
}

fn check(path: &Path, arguments: &Arguments) -> Result<Checked, Failure> {
    let expected =
        || Failure::Input(format!("{}: expected a .ptx, .sass, .cubin, .spvasm or .spv file", path.display()));
    let language = Language::of(path).filter(|_| CudaSource::of(path).is_none()).ok_or_else(expected)?;
    if path == Path::new("-") && arguments.fix.is_some() {
        return Err(Failure::Input("--fix edits files, and standard input is none".to_owned()));
    }
    let determinacy = arguments.determinacy || arguments.fix.as_deref() == Some(DETERMINACY);
    let options = CheckOptions { determinacy, environment: arguments.target_env };
    let language = match language {
        Language::Spirv => return binary(path, arguments, &options),
        Language::Cubin => return cubin(path, arguments),
        Language::Ptx => TextLanguage::Ptx,
        Language::Sass => TextLanguage::Sass,
        Language::SpirvText => TextLanguage::Spirv,
    };
    let checker = |text: &str| {
        let mut report = language.report(text, &options);
        if arguments.check_hazards && language == TextLanguage::Sass {
            report.findings.extend(sass::listing_hazards(text, None, LARGEST).unwrap_or_default());
        }
        report
    };
    let bytes = files::read(path)?;
    // What is written back keeps it.
    let mark = bytes[..bytes.len() - without_mark(&bytes).len()].to_vec();
    let (mut text, is_replaced) = match language {
        TextLanguage::Ptx => files::ptx(path, bytes)?,
        _ => (files::text(path, bytes)?, false),
    };
    if is_replaced && arguments.fix.is_some() {
        let message = format!("{}: --fix writes UTF-8 text: expected comments in it", path.display());
        return Err(Failure::Input(message));
    }
    if language == TextLanguage::Sass {
        check_listing(path, &text)?;
        has_known_hazards(path, arguments, modern::listing_target(&text))?;
    }
    let mut report = checker(&text);
    if let Some(fix) = &arguments.fix {
        let (mut fixed, mut made) = if language == TextLanguage::Spirv {
            // A text that cannot be read has its findings already, and nothing to migrate.
            match migrate_text(&text, migration(fix)) {
                Ok(migrated) => (migrated.output, migrated.rewritten),
                Err(refused) => {
                    report.findings.extend(refused.into_iter().filter(|finding| finding.code == NOT_MIGRATED));
                    (text.clone(), 0)
                }
            }
        } else {
            apply_counted(&text, report.findings.iter().filter_map(|finding| finding.fix.as_ref()))
        };
        if fix == DETERMINACY {
            let open = checker(&fixed).findings;
            let edits = open.iter().filter_map(|finding| finding.open.as_ref()).flat_map(|open| &open.edits);
            let settled = apply_counted(&fixed, edits);
            fixed = settled.0;
            made += settled.1;
        }
        if fixed != text {
            files::write(path, &[&mark, fixed.as_bytes()].concat())?;
            report = checker(&fixed);
            text = fixed;
        }
        tell_edits(path, made);
    }
    if let Some(cubin) = &arguments.compiled {
        if language != TextLanguage::Ptx {
            return Err(Failure::Input(format!("{}: --compiled is about PTX", path.display())));
        }
        let named = |problem: String| Failure::Input(format!("{}: {problem}", cubin.display()));
        let module = sass::CompiledModule::parse(&files::read(cubin)?).map_err(|finding| named(finding.to_string()))?;
        let name = cubin.file_name().unwrap_or_default().to_string_lossy();
        compiled::tell(&text, &name, &module, &mut report.findings).map_err(named)?;
    }
    Ok(language.checked(&path.display().to_string(), text, report, &options, arguments.determinacy))
}

/// That hazards are not asked for where they are not known: of sm_70 and later.
fn has_known_hazards(path: &Path, arguments: &Arguments, target: Option<modern::Target>) -> Result<(), Failure> {
    match target {
        Some(target) if arguments.check_hazards => {
            let place = path.display();
            let message = format!("{place}: hazards of {target} are not checked: --check-hazards knows sm_50 to sm_62");
            Err(Failure::Unsupported(message))
        }
        _ => Ok(()),
    }
}

/// Operations and blocks of a kernel whose hazards are checked.
pub(crate) const LARGEST: usize = 1 << 20;

/// The fix that settles what is left open.
const DETERMINACY: &str = "determinacy";

/// How many edits `--fix` made.
fn tell_edits(path: &Path, made: usize) {
    output::note(&format!("{}: {} made", path.display(), counted(made as u64, "edit")));
}

fn migration(fix: &str) -> Migration {
    Migration { glsl_fma: fix == "glsl-fma" }
}

fn cubin(path: &Path, arguments: &Arguments) -> Result<Checked, Failure> {
    if arguments.fix.is_some() {
        let message = "--fix edits texts: disassemble the cubin first (`roundonce disasm`)";
        return Err(Failure::Input(format!("{}: {message}", path.display())));
    }
    let bytes = files::read(path)?;
    let target = modern::Cubin::target_of(&bytes);
    has_known_hazards(path, arguments, target)?;
    let read = match target {
        Some(_) => modern::Cubin::parse(&bytes).map(|cubin| cubin.check()),
        None => sass::Cubin::parse(&bytes).map(|cubin| cubin.check()),
    };
    let (mut findings, unknown) = read.map_err(|finding| Failure::Input(format!("{}: {finding}", path.display())))?;
    if arguments.check_hazards {
        findings.extend(sass::cubin_hazards(&bytes, None, LARGEST).unwrap_or_else(|found| found));
    }
    let checked = Checked::new(&path.display().to_string(), String::new(), findings, arguments.determinacy);
    Ok(checked.without(|_| Unchecked::Instructions(unknown)))
}

fn binary(path: &Path, arguments: &Arguments, options: &CheckOptions) -> Result<Checked, Failure> {
    if arguments.fix.as_deref() == Some(DETERMINACY) {
        let message = "--fix=determinacy edits texts: disassemble the module first (`roundonce disasm`)";
        return Err(Failure::Input(format!("{}: {message}", path.display())));
    }
    let mut bytes = files::read(path)?;
    if !Module::is_binary(&bytes) {
        let message = "no SPIR-V binary: it does not begin with 0x07230203";
        return Err(Failure::Input(format!("{}: {message}", path.display())));
    }
    let mut made = 0;
    if let Some(migrated) = arguments.fix.as_ref().and_then(|fix| migrate_binary(&bytes, migration(fix)).ok())
        && migrated.rewritten > 0
    {
        bytes = migrated.output;
        files::write(path, &bytes)?;
        made = migrated.rewritten;
    }
    if arguments.fix.is_some() {
        tell_edits(path, made);
    }
    let findings = options.spirv_binary(&bytes);
    let module = Module::from_binary(&bytes);
    let checked = Checked::new(&path.display().to_string(), String::new(), findings, arguments.determinacy);
    Ok(checked.without(|_| Unchecked::Rules(module.as_ref().map_or_else(|_| Vec::new(), unchecked))))
}
