//! `translate`: an instruction, an expression or a kernel in another language with the same bits, or the fields in which
//! none has them.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use roundonce::answers::{
    AskedExpression, CounterpartAnswer, CounterpartOutcome, Noted, is_spelling, literal_type, translate_expression,
    translate_instruction,
};
use roundonce::arith::Format as Lane;
use roundonce::translate::instruction::Language;
use roundonce::translation::To;
use roundonce::why::{Language as Rules, LiteralTypes};
use roundonce::{Profile, SmTarget};

use crate::argument::Argument;
use crate::options::{self, Given, Kind};
use crate::output::{self, Format, FormatArgument};
use crate::translate_kernel::{self, KernelArguments};
use crate::{Ended, Failure, Status, files};

/// What becomes of a product beside a sum.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Contract {
    /// It is rounded, unless `fma` is written: the default.
    None,
    /// A sum takes it, as compilers fuse.
    Fuse,
}

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// An instruction (fma.rz.ftz.f32, FFMA.SAT, OpFmaKHR.f32+rtz), an expression (fma(a,b,c)*d), or a kernel's file
    #[arg(value_name = "FORM|EXPRESSION|FILE", allow_hyphen_values = true, value_parser = Argument::parser())]
    source: Argument,
    /// The types of an expression's names: a=f16 x=f64
    #[arg(value_name = "NAME=TYPE", value_parser = Argument::parser())]
    types: Vec<Argument>,
    /// The language: ptx, sass, spirv, cuda, glsl, wgsl, metal, c
    #[arg(long, value_name = "LANGUAGE", value_parser = Language::parse)]
    to: Language,
    /// The language whose rules give an expression's literals their types: c, cuda, numpy, torch, jax, julia, glsl, wgsl
    #[arg(long, value_name = "LANGUAGE", value_parser = Rules::parse)]
    from: Option<Rules>,
    /// The type of an expression's names that are given none
    #[arg(id = "type", long = "type", value_name = "TYPE", default_value = "f32", value_parser = literal_type)]
    ty: Lane,
    /// Whether sums take products, where an expression or a kernel leaves that open
    #[arg(long, value_enum, value_name = "POLICY")]
    contract: Option<Contract>,
    /// The machine that must have what is written, such as sm_80
    #[arg(long, value_name = "SM", value_parser = roundonce::parse_sm)]
    target: Option<SmTarget>,
    #[command(flatten)]
    format: FormatArgument,
    #[command(flatten)]
    kernels: KernelArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let source = &arguments.source;
    let file = source.path();
    let module = Kind::of_module(file)?;
    if file.as_os_str() == "-" || file.is_file() || module.is_some() {
        arguments.given.check(options::TRANSLATE, module.as_slice(), source)?;
        if let Some(extra) = arguments.types.first() {
            return Err(Failure::Input(format!("`{extra}`: a kernel says the types of its names")));
        }
        return translate_kernel::run(
            file,
            module_language(arguments.to)?,
            arguments.target,
            arguments.contract == Some(Contract::Fuse),
            &arguments.kernels,
            arguments.format.format,
        );
    }
    let text = source.text()?;
    arguments.given.check(options::TRANSLATE, &[Kind::of_text(text)], text)?;
    let Noted { answer, notes } = if is_spelling(text) {
        if let Some(extra) = arguments.types.first() {
            return Err(Failure::Input(format!("`{extra}`: an instruction says the types of its operands")));
        }
        translate_instruction(text, arguments.to, arguments.target, &Profile::NVIDIA)?
    } else {
        let is_directory = file.is_dir();
        expression(arguments, text).map_err(|failure| match failure {
            Failure::Input(_) if is_directory => {
                Failure::Input(format!("{}: a directory: expected a kernel's file", file.display()))
            }
            failure => failure,
        })?
    };
    notes.iter().for_each(|note| output::note(note));
    let has_counterpart = answer.outcome != CounterpartOutcome::NoCounterpart;
    match (arguments.kernels.output(), arguments.format.format) {
        (Some(path), Format::Json) if has_counterpart => {
            let text = serde_json::to_string(&answer).map_err(|error| Failure::Input(error.to_string()))?;
            files::write(path, format!("{text}\n").as_bytes())?;
        }
        (Some(path), Format::Text) if has_counterpart => {
            let text: String = answer.lines().iter().map(|line| format!("{line}\n")).collect();
            files::write(path, text.as_bytes())?;
        }
        (_, Format::Json) => output::json(&answer)?,
        (_, Format::Text) => output::lines(&answer.lines())?,
    }
    Ok(if has_counterpart { Status::Done } else { Status::Found })
}

/// The languages in which whole modules are written.
fn module_language(to: Language) -> Result<To, Failure> {
    match to {
        Language::Ptx => Ok(To::Ptx),
        Language::SpirV => Ok(To::Spirv),
        _ => Err(Failure::Unsupported(format!("a kernel in {}: kernels are written in PTX and SPIR-V", to.name()))),
    }
}

fn expression(arguments: &Arguments, text: &str) -> Result<Noted<CounterpartAnswer>, Failure> {
    let mut types = BTreeMap::new();
    for given in &arguments.types {
        let unreadable = || Failure::Input(format!("`{given}` is not NAME=TYPE"));
        let (name, ty) = given.split().ok_or_else(unreadable)?;
        let ty = literal_type(ty.text()?).map_err(|problem| Failure::Input(format!("{name}: {problem}")))?;
        types.insert(name.to_owned(), ty);
    }
    let literals = LiteralTypes { language: arguments.from, ..LiteralTypes::default() };
    let contract = arguments.contract == Some(Contract::Fuse);
    let asked = AskedExpression { expression: text, types, ty: arguments.ty, literals, contract };
    Ok(translate_expression(&asked, arguments.to, arguments.target, &Profile::NVIDIA)?)
}
