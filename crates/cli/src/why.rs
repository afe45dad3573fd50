//! `why`: which evaluation gives each seen value.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use roundonce::Profile;
use roundonce::answers::{self, Asked, ListedCase, Noted};
use roundonce::arith::Format as Lane;
use roundonce::why::{Allowed, Case, Language, Line, LiteralTypes, Options, Role, Values, names_in, toolchain};

use crate::answer_output::Writer;
use crate::argument::Argument;
use crate::launch::LaunchArguments;
use crate::options::{self, Given, Kind};
use crate::output;
use crate::report::Format;
use crate::{Ended, Failure, Status, files, terminal, threads, why_arrays, why_kernel, why_reference};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// The expression: + - * ( ), fma(a,b,c), names, literals such as 1.5f, 2.0, 1.5h, 1.5b; of arrays sum(a*b, 1), mean(a),
    /// a @ b too; or a kernel, with its arguments as for `run`: a .ptx, .spv, .spvasm, .sass, .cubin or .cu file, or a line of the
    /// last (kernel.cu:34)
    #[arg(value_parser = Argument::parser())]
    expression: Option<Argument>,
    /// The names' values: a=1e20f x=0x3f800000 y=0x3c00:f16
    #[arg(value_name = "NAME=VALUE", value_parser = Argument::parser())]
    inputs: Vec<Argument>,
    /// A value that was seen: typed or hex bits exactly, a plain decimal to the digits given; of a kernel P=FILE.npy or
    /// P=values:f32:1,2.5, the buffer P afterwards; may be repeated
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, value_parser = Argument::parser())]
    saw: Vec<Argument>,
    /// A published case by its name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["expression", "saw"])]
    case: Option<String>,
    /// The published cases
    #[arg(long, conflicts_with_all = ["expression", "saw", "case"])]
    list: bool,
    /// A program of your own that reads lines of hex bits `a b c` and writes a result a line: what does it compute,
    /// held against the instruction given in place of the expression (fma.rn.f32)?
    #[arg(long, value_name = "CMD", conflicts_with_all = ["inputs", "saw", "case", "list"])]
    test_reference: Option<String>,
    /// Let sums be taken in any order
    #[arg(long)]
    reassociate: bool,
    /// Modes that may be causes: directed (rounding), sat, fmz, sm1x, with commas between
    #[arg(long, value_name = "LIST", value_parser = Allowed::parse)]
    allow: Option<Allowed>,
    /// Whose options are advised: nvcc, clang, gcc, glsl and others; all of them without it
    #[arg(long, value_name = "NAME", value_parser = toolchain)]
    toolchain: Option<&'static str>,
    /// The type of literals and values that carry none: f16, bf16, f32, f64
    #[arg(long = "type", value_name = "TYPE", value_parser = answers::literal_type, id = "type")]
    literal_type: Option<Lane>,
    /// The language whose rules give them their types: c, cuda, numpy, torch, jax, julia, glsl, wgsl; without it c, and
    /// beside arrays numpy
    #[arg(id = "as", long = "as", value_name = "LANGUAGE", value_parser = Language::parse, conflicts_with = "type")]
    language: Option<Language>,
    /// The answer as one page to attach, beside what is printed
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Of arrays: a picture of how far each seen one is from the expression as written, and where
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Of a PTX kernel: a cubin made of it with `-lineinfo`; its products are fused as there, and not otherwise
    #[arg(long, value_name = "FILE.cubin")]
    compiled: Option<PathBuf>,
    /// Who reads the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    launch: LaunchArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    if arguments.list {
        return list(arguments.format);
    }
    let file = arguments.expression.as_ref().map_or(Path::new(""), Argument::path);
    let (kind, name) = match (&arguments.expression, &arguments.test_reference, &arguments.case) {
        (_, Some(command), _) => (Kind::Program, command.clone()),
        (Some(expression), ..) => (Kind::of_module(file)?.unwrap_or(Kind::Expression), expression.to_string()),
        (None, _, case) => (Kind::Case, case.clone().unwrap_or_else(|| "why".to_owned())),
    };
    arguments.given.check(options::WHY, &[kind], name)?;
    let profile = arguments.launch.profile()?;
    arguments.report.as_deref().map_or(Ok(()), |path| files::check_extension("--report", path, "html"))?;
    let writer = Writer::new(arguments.format, arguments.report.as_deref());
    if let Some(command) = &arguments.test_reference {
        let instruction = arguments.expression.as_ref().map_or(Ok("fma.rn.f32"), Argument::text)?;
        return why_reference::run(command, instruction, &profile, writer);
    }
    let options = Options {
        reassociate: arguments.reassociate,
        allow: arguments.allow.unwrap_or_default(),
        toolchain: arguments.toolchain,
        verbose: terminal::is_verbose(),
        threads: NonZeroUsize::new(threads::useful(arguments.launch.threads(), u64::MAX)),
        ..Options::default()
    };
    let Some(expression) = &arguments.expression else {
        let case = answers::case(arguments.case.as_deref())?;
        let inputs = case.inputs.iter().map(|(name, value)| Argument::from(format!("{name}={value}").as_str()));
        let inputs: Vec<Argument> = inputs.collect();
        let saw: Vec<Argument> = case.seen.iter().map(|(value, _)| Argument::from(*value)).collect();
        if arguments.format == Format::Text {
            output::lines(&introduction(case))?;
        }
        return ask(case.expression, &inputs, &saw, (options, &profile), LiteralTypes::default(), writer);
    };
    if kind != Kind::Expression {
        if let Some(input) = arguments.inputs.first() {
            return Err(Failure::Input(format!("`{input}`: a kernel's arguments are given as --arg {input}")));
        }
        let asked =
            why_kernel::Asked { launch: &arguments.launch, saw: &arguments.saw, cubin: arguments.compiled.as_deref() };
        return why_kernel::ask(file, &asked, options, writer);
    }
    let values = arguments.inputs.iter().filter_map(|input| Some(input.split()?.1));
    let given = values
        .clone()
        .chain(arguments.saw.iter().map(|saw| saw.split().map_or_else(|| saw.clone(), |(_, value)| value)));
    given.into_iter().try_for_each(|value| value.no_other_array())?;
    let is_list = |value: &Argument| value.text().is_ok_and(Values::is_list);
    let arrays = values.chain(arguments.saw.iter().cloned()).any(|value| value.is_array() || is_list(&value));
    let expression = expression.text()?;
    let types = LiteralTypes { ty: arguments.literal_type, language: arguments.language, ..LiteralTypes::default() };
    let (inputs, saw) = (&arguments.inputs, &arguments.saw);
    match &arguments.plot {
        plot if arrays => why_arrays::ask(expression, inputs, saw, (options, &profile), types, plot.as_deref(), writer),
        None => ask(expression, inputs, saw, (options, &profile), types, writer),
        Some(_) => Err(Failure::Input("--plot draws arrays: expected --saw FILE.npy".to_owned())),
    }
}

fn ask(
    expression: &str,
    inputs: &[Argument],
    saw: &[Argument],
    (options, profile): (Options, &Profile),
    types: LiteralTypes,
    mut writer: Writer<'_>,
) -> Ended {
    let inputs: Vec<(&str, Argument)> = inputs.iter().map(split_input).collect::<Result<_, _>>()?;
    let values = inputs.iter().map(|(name, text)| Ok((*name, text.text()?)));
    // `--saw t=…` is about the name that a statement gives a value; the others about the result.
    let seen = saw.iter().map(|given| match given.split() {
        Some((name, value)) => (Some(name), value),
        None => (None, given.clone()),
    });
    let seen: Vec<(Option<&str>, Argument)> = seen.collect();
    let texts = seen.iter().map(|(name, value)| Ok((*name, value.text()?)));
    let asked = Asked {
        expression,
        inputs: values.collect::<Result<_, Failure>>()?,
        seen: texts.collect::<Result<_, Failure>>()?,
        options,
        types,
    };
    if seen.iter().any(|(name, _)| *name != seen[0].0) && writer.format() == Format::Sarif {
        return Err(Failure::Input("--format sarif: expected values of one name".to_owned()));
    }
    let Noted { answer, notes } = answers::why(&asked, profile)?;
    notes.iter().for_each(|note| output::note(note));
    let mut status = Status::Done;
    for (index, answer) in answer.iter().enumerate() {
        if index > 0 && writer.format() == Format::Text {
            output::lines(&[Line::default()])?;
        }
        if writer.write(answer, None)? != Status::Done {
            status = Status::Found;
        }
    }
    writer.finish()?;
    Ok(status)
}

pub(crate) fn split_input(input: &Argument) -> Result<(&str, Argument), Failure> {
    let split = input.split().ok_or_else(|| Failure::Input(format!("`{input}` is not NAME=VALUE")))?;
    if !names_in(split.0).iter().eq([split.0]) {
        return Err(Failure::Input(format!("`{input}`: `{}` is no name that an expression can have", split.0)));
    }
    Ok(split)
}

fn introduction(case: &Case) -> Vec<Line> {
    let seen: Vec<String> = case.seen.iter().map(|(value, who)| format!("{value} ({who})")).collect();
    vec![
        Line::of(Role::Label, "case ").and(Role::Strong, case.name).and(Role::Faint, format!("   {}", case.source)),
        Line::of(Role::Faint, format!("the same as: {}", ListedCase::from(case).command)),
        Line::plain(format!("seen: {}", seen.join(", "))),
        Line::default(),
    ]
}

fn list(format: Format) -> Ended {
    for case in answers::cases() {
        match format {
            Format::Json => output::json(&case)?,
            Format::Sarif => return Err(Failure::Input("--list is text or json".to_owned())),
            Format::Text => output::lines(&[
                Line::of(Role::Strong, format!("{:<24}", case.name)).and(Role::Plain, case.source),
                Line::of(Role::Faint, format!("    {}; {}", case.expression, case.cause)),
            ])?,
        }
    }
    Ok(Status::Done)
}
