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
use crate::modules::Language as KernelLanguage;
use crate::output::{self, Format, FormatArgument};
use crate::translate_kernel::{self, KernelArguments};
use crate::{Ended, Failure, Status};

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
    #[arg(long = "type", value_name = "TYPE", default_value = "f32", value_parser = literal_type)]
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
    if file.as_os_str() == "-" || file.is_file() || KernelLanguage::of(file).is_some() {
        if let Some(extra) = arguments.types.first() {
            return Err(Failure::Input(format!("`{extra}`: a kernel says the types of its names")));
        }
        if arguments.from.is_some() {
            return Err(Failure::Input("--from is for expressions: a kernel's file says its language".to_owned()));
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
    if let Some(option) = arguments.kernels.given() {
        return Err(Failure::Input(format!("{option} is for kernels, and `{text}` is no file")));
    }
    let Noted { answer, notes } = if is_spelling(text) {
        if let Some(extra) = arguments.types.first() {
            return Err(Failure::Input(format!("`{extra}`: an instruction says the types of its operands")));
        }
        if arguments.contract.is_some() {
            return Err(Failure::Input(
                "--contract is for expressions and kernels: an instruction says itself what it rounds".to_owned(),
            ));
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
    match arguments.format.format {
        Format::Json => output::json(&answer)?,
        Format::Text => output::lines(&answer.lines())?,
    }
    Ok(if answer.outcome == CounterpartOutcome::NoCounterpart { Status::Found } else { Status::Done })
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
