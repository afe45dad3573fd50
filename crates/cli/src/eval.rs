//! `eval`: one result, a line at a time, or arrays.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use roundonce::isa::{hex_bits, shortest_decimal};
use roundonce::spirv::Environment;
use roundonce::{Batch, Instruction, conversion, instruction, integer, matrix, operands};
use serde::Serialize;

use crate::argument::Argument;
use crate::eval_arrays::Evaluated;
use crate::eval_matrices::{self, Matrices};
use crate::output::{self, Format, FormatArgument, MachineArguments, ProfileArgument};
use crate::{Ended, Failure, Status};
use crate::{allowed, eval_arrays, files, terminal};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The instruction, as its language spells it (fma.rz.sat.f32.bf16, mad.f32@sm_13, FFMA.FTZ.RZ.CC,
    /// OpFmaKHR.v2f16+rtz), or `-` to read `INSTRUCTION OPERAND…` lines from stdin
    instruction: String,
    /// Hex bits, 0f3F800000, a decimal, 0x1.8p0, inf, nan
    #[arg(value_parser = output::signed)]
    operands: Vec<String>,
    /// For OpFmaKHR: every result that an implementation may give under the modes declared, and the choice behind it
    #[arg(long)]
    allowed: bool,
    /// With --allowed, a captured result: which choice explains it (exit 1 if none does)
    #[arg(long, value_name = "BITS", requires = "allowed", value_parser = output::signed)]
    saw: Option<String>,
    /// With --allowed, the environment whose rules hold, as spirv-val names it: spv1.6, vulkan1.3, opencl2.2… (default:
    /// SPV_KHR_float_controls alone)
    #[arg(long, value_name = "ENV", requires = "allowed")]
    target_env: Option<Environment>,
    /// Evaluates element by element: .npy files of one shape, or values and arrays of one element, which go with every
    /// element. Floats, or unsigned integers as bits; packed values as such integers or with a last axis of components,
    /// the results of conversions as such integers
    #[arg(long = "in", num_args = 1.., value_name = "FILE|VALUE", value_parser = Argument::parser(), requires = "out")]
    #[arg(conflicts_with_all = ["operands", "allowed"])]
    inputs: Vec<Argument>,
    /// The .npy file for the results of `--in`, or of `--a` and `--b`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    matrices: Matrices,
    /// Threads for arrays (default: one a core)
    #[arg(long, value_name = "N", requires = "out")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    target: MachineArguments,
    #[command(flatten)]
    profile: ProfileArgument,
    #[command(flatten)]
    format: FormatArgument,
}

#[derive(Serialize)]
struct Report<'a> {
    instruction: &'a str,
    bits: String,
    value: String,
    hexadecimal: String,
    flags: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    codes: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let (target, profile) = (arguments.target.target(), arguments.profile.profile());
    if arguments.instruction == "-" {
        if !arguments.operands.is_empty() || !arguments.inputs.is_empty() {
            return Err(Failure::Input("`eval -` reads its operands from stdin".to_owned()));
        }
        if arguments.allowed {
            return Err(Failure::Input("--allowed takes one instruction, not lines".to_owned()));
        }
        let mut batch = Batch::new(target, profile);
        if arguments.format.format == Format::Json {
            return files::answer_lines(
                |line, out| {
                    batch.line(line, out)?;
                    *out = json_line(line, out);
                    Ok(())
                },
                |problem| serde_json::json!({ "error": problem }).to_string(),
            );
        }
        return files::answer_lines(|line, out| batch.line(line, out), files::error_line);
    }
    let spelled = match arguments.target_env {
        Some(environment) if !arguments.instruction.contains('@') => format!("{}@{environment}", arguments.instruction),
        Some(_) => return Err(Failure::Input("--target-env: the instruction has an environment already".to_owned())),
        None => arguments.instruction.clone(),
    };
    let spelling = &spelled;
    let (is_integer, is_conversion) = (integer::is_integer(spelling), conversion::is_conversion(spelling));
    let is_matrix = matrix::is_matrix(spelling);
    if arguments.allowed && (is_integer || is_conversion || is_matrix) {
        let problem = format!("`{spelling}` with --allowed: only the floating-point multiply-add has it");
        return Err(Failure::Unsupported(problem));
    }
    if arguments.matrices.are_given() && !is_matrix {
        return Err(Failure::Input(format!(
            "`{spelling}` takes no matrices: --a and --b go with mma, wmma, wgmma, tcgen05"
        )));
    }
    if let Some(out) = &arguments.out {
        if is_matrix {
            let matrix = matrix::instruction(spelling, &target, &profile)?;
            return match arguments.matrices.are_given() {
                true => eval_matrices::whole(&matrix, &profile, &arguments.matrices, out, arguments.threads),
                false => eval_matrices::each(&matrix, &profile, &arguments.inputs, out, arguments.threads),
            };
        }
        if arguments.inputs.is_empty() {
            return Err(Failure::Input("--out goes with --in, or with --a and --b".to_owned()));
        }
        let evaluated = match (is_integer, is_conversion) {
            (true, _) => Evaluated::Integer(integer::instruction(spelling, &target)?),
            (_, true) => Evaluated::Conversion(conversion::instruction(spelling, &target)?),
            _ => Evaluated::Float(instruction(spelling, &target)?),
        };
        return eval_arrays::run(&evaluated, &profile, &arguments.inputs, out, arguments.threads);
    }
    if is_matrix {
        return matrices(arguments);
    }
    if is_integer {
        return integers(arguments);
    }
    if is_conversion {
        return conversions(arguments);
    }
    let instruction = instruction(spelling, &target)?;
    check_digits(&instruction, &arguments.operands)?;
    let operands = operands(&instruction, &arguments.operands)?;
    for &index in &operands.inexact {
        note_inexact(index, &arguments.operands[index]);
    }
    if arguments.allowed {
        return allowed::run(
            spelling,
            &instruction,
            &operands.values,
            arguments.saw.as_deref(),
            arguments.format.format,
        );
    }
    let result = roundonce::eval(&instruction, &operands.values, &profile);
    let format = instruction.recipe.operation.format;
    let report = Report {
        instruction: spelling,
        bits: result.value.hex(format),
        value: result.value.decimal(format),
        hexadecimal: result.value.hexadecimal(format),
        flags: result.flags.names().collect(),
        codes: result.codes.map(|codes| codes.to_string()),
    };
    if arguments.format.format == Format::Json {
        output::json(&report)?;
    } else {
        let flags = if report.flags.is_empty() { "exact".to_owned() } else { report.flags.join(", ") };
        let codes = report.codes.map_or(String::new(), |codes| format!(" {codes}"));
        let exactly =
            if instruction.recipe.components == 1 { format!("{}; ", report.hexadecimal) } else { String::new() };
        writeln!(terminal::stdout(), "{} {}{codes} ({exactly}{flags})", report.bits, report.value)?;
    }
    Ok(Status::Done)
}

/// What [`Batch::line`] wrote of a line, as an object.
fn json_line(line: &str, result: &str) -> String {
    #[derive(Serialize)]
    struct Report<'a> {
        instruction: &'a str,
        bits: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        codes: Option<&'a str>,
    }
    let instruction = line.split_whitespace().next().unwrap_or_default();
    let (bits, codes) = result.split_once(' ').map_or((result, None), |(bits, codes)| (bits, Some(codes)));
    serde_json::json!(Report { instruction, bits, codes }).to_string()
}

fn integers(arguments: &Arguments) -> Ended {
    let found = integer::instruction(&arguments.instruction, &arguments.target.target())?;
    let explained = found.explain(&arguments.instruction, &found.read(&arguments.operands)?);
    let result = &explained.result;
    if arguments.format.format == Format::Json {
        #[derive(Serialize)]
        struct Report<'a> {
            instruction: &'a str,
            bits: &'a str,
            value: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            carry: Option<bool>,
        }
        let (bits, value, carry) = (&result.bits, &result.value, explained.carry);
        output::json(&Report { instruction: &arguments.instruction, bits, value, carry })?;
    } else {
        let carry = explained.carry.map_or(String::new(), |carry| format!(" carry {}", u8::from(carry)));
        writeln!(terminal::stdout(), "{} {}{carry}", result.bits, result.value)?;
    }
    Ok(Status::Done)
}

fn conversions(arguments: &Arguments) -> Ended {
    let spelling = &arguments.instruction;
    let found = conversion::instruction(spelling, &arguments.target.target())?;
    let operands = found.read(&arguments.operands)?;
    for &index in &operands.inexact {
        note_inexact(index, &arguments.operands[index]);
    }
    let explained = found.explain(spelling, &arguments.profile.profile(), &operands);
    if arguments.format.format == Format::Json {
        #[derive(Serialize)]
        struct Report<'a> {
            instruction: &'a str,
            bits: &'a str,
            value: String,
        }
        output::json(&Report { instruction: spelling, bits: &explained.bits, value: explained.values() })?;
    } else {
        writeln!(terminal::stdout(), "{} ({})", explained.bits, explained.values())?;
    }
    Ok(Status::Done)
}

fn matrices(arguments: &Arguments) -> Ended {
    let (spelling, profile) = (&arguments.instruction, arguments.profile.profile());
    let found = matrix::instruction(spelling, &arguments.target.target(), &profile)?;
    let (operands, exact) = found.read(&arguments.operands)?;
    if !exact {
        note_inexact_elements();
    }
    let bits = found.eval(&profile, &operands);
    let (hex, value) = (found.hex(bits), shortest_decimal(found.row.dot.d, bits));
    if arguments.format.format == Format::Json {
        #[derive(Serialize)]
        struct Report<'a> {
            instruction: &'a str,
            bits: &'a str,
            value: &'a str,
            target: String,
            unit: &'a str,
            evidence: &'a str,
        }
        let (target, unit, evidence) = (found.target.to_string(), found.row.unit.sass, found.row.evidence.name());
        output::json(&Report { instruction: spelling, bits: &hex, value: &value, target, unit, evidence })?;
    } else {
        writeln!(terminal::stdout(), "{hex} {value} (on {}; evidence: {})", found.target, found.row.evidence.name())?;
    }
    Ok(Status::Done)
}

/// Says that an element of a matrix was rounded before anything was computed.
pub(crate) fn note_inexact_elements() {
    output::note("an operand is not exact in its format: rounded once, to nearest even");
}

/// Says that an operand was rounded before anything was computed.
pub(crate) fn note_inexact(index: usize, text: &str) {
    let place = index + 1;
    output::note(&format!("operand {place} `{text}` is not exact in its format: rounded once, to nearest even"));
}

/// Refuses hex bits with fewer digits than the operand has, `0x0` apart: a digit may be missing at either end.
pub(crate) fn check_digits(instruction: &Instruction, texts: &[String]) -> Result<(), Failure> {
    let recipe = &instruction.recipe;
    for (index, text) in texts.iter().enumerate().take(recipe.operation.op.arity()) {
        let width = recipe.operation.operand_format(index).width() * recipe.components;
        let digits = text.trim_start_matches('-').strip_prefix("0x").filter(|digits| *digits != "0");
        let Some(bits) = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) else { continue };
        let whole = hex_bits(width, bits);
        if text.trim_start_matches('-').len() < whole.len() {
            let message = format!("operand {}: `{text}` has too few digits for {width} bits: write {whole}", index + 1);
            return Err(Failure::Input(format!("{message}, or what was meant")));
        }
    }
    Ok(())
}
