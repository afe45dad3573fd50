//! `eval`: one result, a line at a time, or arrays.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use roundonce::answers::{self, Noted};
use roundonce::spirv::Environment;
use roundonce::{Batch, Profile, Target, conversion, instruction, integer, matrix};
use serde::Serialize;

use crate::argument::Argument;
use crate::eval_arrays::Evaluated;
use crate::eval_matrices::{self, Matrices};
use crate::output::{self, Format, FormatArgument, MachineArguments, ProfileArgument};
use crate::{Ended, Failure, Status};
use crate::{allowed, eval_arrays, files, lines, terminal, threads};

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
    /// Threads for arrays, and for lines on stdin (default: one a core)
    #[arg(long, value_name = "N", value_parser = threads::count)]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    target: MachineArguments,
    #[command(flatten)]
    profile: ProfileArgument,
    #[command(flatten)]
    format: FormatArgument,
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
        return answer_lines(arguments, target, &profile);
    }
    if arguments.threads.is_some() && arguments.out.is_none() {
        return Err(Failure::Input("--threads goes with lines on stdin (`eval -`), and with --out".to_owned()));
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
        files::check_extension("--out", out, "npy")?;
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
    if arguments.allowed {
        let instruction = instruction(spelling, &target)?;
        let operands = roundonce::operands(&instruction, &arguments.operands)?;
        for &index in &operands.inexact {
            note_inexact(index, &arguments.operands[index]);
        }
        let (saw, format) = (arguments.saw.as_deref(), arguments.format.format);
        return allowed::run(spelling, &instruction, &operands.values, saw, format);
    }
    let Noted { answer, notes } = answers::eval(spelling, &arguments.operands, &target, &profile)?;
    notes.iter().for_each(|note| output::note(note));
    match arguments.format.format {
        Format::Json => output::json(&answer)?,
        Format::Text => writeln!(terminal::stdout(), "{}", answer.line())?,
    }
    Ok(Status::Done)
}

/// `eval -`.
fn answer_lines(arguments: &Arguments, target: Target, profile: &Profile) -> Ended {
    // Of all threads.
    let rounded = AtomicU64::new(0);
    let batch = || {
        let mut batch = Batch::new(target, *profile);
        let rounded = &rounded;
        move |line: &str, out: &mut String| {
            batch.line(line, out)?;
            let lines = batch.take_rounded();
            if lines > 0 {
                rounded.fetch_add(lines, Ordering::Relaxed);
            }
            Ok(())
        }
    };
    let ended = match arguments.format.format {
        Format::Text => lines::answer(arguments.threads, batch, lines::error_line),
        Format::Json => {
            let answerer = || {
                let (mut batch, mut result) = (batch(), String::new());
                move |line: &str, out: &mut String| {
                    result.clear();
                    batch(line, &mut result)?;
                    out.push_str(&json_line(line, &result));
                    Ok(())
                }
            };
            let refusal = |problem: &str| serde_json::json!({ "error": problem }).to_string();
            lines::answer(arguments.threads, answerer, refusal)
        }
    };
    match rounded.into_inner() {
        0 => {}
        lines => output::note(&answers::inexact_lines(lines)),
    }
    ended
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

/// Says that an operand was rounded before anything was computed.
pub(crate) fn note_inexact(index: usize, text: &str) {
    output::note(&answers::inexact_operand(index, text));
}
