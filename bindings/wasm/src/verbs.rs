//! The verbs that need no engine.

use std::num::NonZeroUsize;

use roundonce::answers::{
    self, AboutArrays, ArrayValue, Asked, AskedArrays, CheckOptions, Compared, NoAnswer, Noted, TextLanguage,
    literal_type,
};
use roundonce::isa::{Location, Severity};
use roundonce::spirv::Environment;
use roundonce::why::diff::Budget;
use roundonce::why::{Allowed, Language, Line, LiteralTypes, Options, Values, toolchain};
use roundonce::{Profile, ProfileChoice, Target, parse_sm};
use serde::Deserialize;

use crate::reply::{Ended, Reply, fault, option};

/// Where the meaning depends on it: the machine, the version of PTX, what the documents leave open.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Machine {
    target: Option<String>,
    ptx: Option<String>,
    profile: Option<String>,
}

impl Machine {
    pub(crate) fn target(&self) -> Result<Target, NoAnswer> {
        let sm = self.target.as_deref().map(parse_sm).transpose();
        let ptx = self.ptx.as_deref().map(|text| text.parse().map_err(|error| format!("{error}"))).transpose();
        Ok(Target { sm: option("target", sm)?, ptx: option("ptx", ptx)? })
    }

    pub(crate) fn profile(&self) -> Result<Profile, NoAnswer> {
        let choice = self.profile.as_deref().map(ProfileChoice::parse).transpose();
        Ok(option("profile", choice)?.map_or(Profile::NVIDIA, |choice| choice.apply(Profile::NVIDIA)))
    }
}

#[derive(Deserialize)]
pub(crate) struct Bits {
    value: String,
}

pub(crate) fn bits(request: Bits) -> Ended {
    let Noted { answer, notes } = answers::bits(&request.value)?;
    Reply { notes, ..Reply::default() }.with(&answer, answer.lines())
}

#[derive(Deserialize)]
pub(crate) struct Instruction {
    instruction: String,
    operands: Vec<String>,
    #[serde(flatten)]
    machine: Machine,
}

pub(crate) fn eval(request: Instruction) -> Ended {
    let Instruction { instruction, operands, machine } = request;
    let evaluated = answers::eval(&instruction, &operands, &machine.target()?, &machine.profile()?);
    let Noted { answer, notes } = evaluated.map_err(fault)?;
    Reply { notes, ..Reply::default() }.with(&answer, vec![Line::plain(answer.line())])
}

pub(crate) fn explain(request: Instruction) -> Ended {
    let Instruction { instruction, operands, machine } = request;
    let explained = answers::explain(&instruction, &operands, &machine.target()?, &machine.profile()?);
    let Noted { answer, notes } = explained.map_err(fault)?;
    Reply { notes, pictures: answer.pictures(), ..Reply::default() }.with(&answer, answer.lines())
}

#[derive(Deserialize)]
pub(crate) struct Why {
    expression: String,
    #[serde(default)]
    inputs: Vec<String>,
    #[serde(default)]
    saw: Vec<String>,
    #[serde(default, rename = "type")]
    ty: Option<String>,
    #[serde(default, rename = "as")]
    language: Option<String>,
    #[serde(default)]
    allow: Option<String>,
    #[serde(default)]
    toolchain: Option<String>,
    #[serde(default)]
    reassociate: bool,
    #[serde(default)]
    verbose: bool,
    #[serde(flatten)]
    machine: Machine,
}

pub(crate) fn why(request: Why) -> Ended {
    let split = |text: &'_ String| match text.split_once('=') {
        Some((name, value)) => (Some(name.to_owned()), value.to_owned()),
        None => (None, text.clone()),
    };
    let (inputs, seen): (Vec<_>, Vec<_>) =
        (request.inputs.iter().map(split).collect(), request.saw.iter().map(split).collect());
    let named = |(at, (name, value)): (usize, &'_ (Option<String>, String))| match name {
        Some(name) => Ok((name.clone(), value.clone())),
        None => Err(NoAnswer::Input(format!("`{}` is not NAME=VALUE", request.inputs[at]))),
    };
    let inputs = inputs.iter().enumerate().map(named).collect::<Result<Vec<_>, _>>()?;
    if inputs.iter().map(|(_, value)| value).chain(&request.saw).any(|value| value.ends_with(".npy")) {
        let message = "files are read by the command and in Python; here an array is a list, such as [1, 2.5]:f32";
        return Err(NoAnswer::Unsupported(message.to_owned()));
    }
    let options = Options {
        reassociate: request.reassociate,
        allow: option("allow", request.allow.as_deref().map(Allowed::parse).transpose())?.unwrap_or_default(),
        toolchain: option("toolchain", request.toolchain.as_deref().map(toolchain).transpose())?,
        verbose: request.verbose,
        threads: NonZeroUsize::new(1),
        ..Options::default()
    };
    let types = LiteralTypes {
        ty: option("type", request.ty.as_deref().map(literal_type).transpose())?,
        language: option("as", request.language.as_deref().map(Language::parse).transpose())?,
        ..LiteralTypes::default()
    };
    let (expression, profile) = (request.expression.as_str(), request.machine.profile()?);
    if inputs.iter().map(|(_, value)| value).chain(&request.saw).any(|value| Values::is_list(value)) {
        let asked = AskedArrays {
            expression,
            inputs: inputs.iter().map(|(name, value)| (name.as_str(), ArrayValue::Written(value))).collect(),
            seen: request.saw.iter().map(|text| (text.clone(), ArrayValue::Written(text))).collect(),
            options,
            types,
        };
        let Noted { answer: AboutArrays { answer, .. }, notes } = answers::why_arrays(asked, &profile, &mut |_| ())?;
        return Ok(Reply { notes, ..Reply::default() }.with(&answer, answer.lines())?.found(!answer.explained()));
    }
    let asked = Asked {
        expression,
        inputs: inputs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        seen: seen.iter().map(|(name, value)| (name.as_deref(), value.as_str())).collect(),
        options,
        types,
    };
    let Noted { answer, notes } = answers::why(&asked, &profile)?;
    let explained = answer.iter().all(|answer| answer.explained());
    let reply = Reply { notes, ..Reply::default() }.found(!explained);
    answer.iter().try_fold(reply, |reply, answer| {
        let mut lines = answer.lines();
        if !reply.lines.is_empty() {
            lines.insert(0, Line::default());
        }
        reply.with(answer, lines)
    })
}

#[derive(Deserialize)]
pub(crate) struct Nothing {}

pub(crate) fn cases(_: Nothing) -> Ended {
    answers::cases().iter().try_fold(Reply::default(), |reply, case| reply.with(case, Vec::new()))
}

#[derive(Deserialize)]
pub(crate) struct Diff {
    first: String,
    second: String,
    #[serde(default, rename = "type")]
    ty: Option<String>,
    #[serde(default)]
    tries: Option<u64>,
    #[serde(default)]
    nan_bits: bool,
    #[serde(flatten)]
    machine: Machine,
}

pub(crate) fn diff(request: Diff) -> Ended {
    let budget = Budget::default();
    let asked = Compared {
        texts: [&request.first, &request.second],
        ty: option("--type", literal_type(request.ty.as_deref().unwrap_or("f32")))?,
        target: request.machine.target()?,
        profile: &request.machine.profile()?,
        budget: Budget { random: request.tries.unwrap_or(budget.random), nan_bits: request.nan_bits, ..budget },
        data: None,
    };
    let Noted { answer: comparison, notes } = answers::between(&asked, &|_| None, &|_| ())?;
    let reply = Reply { notes, ..Reply::default() }.with(&comparison, comparison.lines())?;
    Ok(match answers::equal(&comparison) {
        Ok(equal) => reply.found(!equal),
        Err(reason) => reply.but(reason),
    })
}

#[derive(Deserialize)]
pub(crate) struct Check {
    file: String,
    text: String,
    #[serde(default)]
    determinacy: bool,
    #[serde(default)]
    target_env: Option<String>,
}

pub(crate) fn check(request: Check) -> Ended {
    let Check { file, text, determinacy, target_env } = request;
    let environment = target_env.as_deref().unwrap_or("spv1.6").parse::<Environment>();
    let options = CheckOptions { determinacy, environment: option("--target-env", environment)? };
    let language = file.rsplit_once('.').and_then(|(_, extension)| TextLanguage::of_extension(extension));
    let language = language.filter(|language| *language != TextLanguage::Sass);
    let language = language.ok_or_else(|| NoAnswer::Input(format!("{file}: expected a .ptx or .spvasm file")))?;
    let report = language.report(&text, &options);
    let checked = language.checked(&file, text, report, &options, determinacy);
    let reply = Reply { spans: spans(&checked), ..Reply::default() };
    let reply = checked.rows().try_fold(reply, |reply, row| reply.with(&row, Vec::new()))?;
    let lines = vec![Line::plain(format!("{file}: {}", checked.summary()))];
    Ok(Reply { lines, ..reply }.found(checked.worst() >= Some(Severity::Error)))
}

/// Where the findings stand, counted as JavaScript counts.
fn spans(checked: &answers::Checked) -> Vec<[usize; 2]> {
    let text = &checked.text;
    // The units before each byte; of text that is all ASCII as many as bytes.
    let units: Option<Vec<usize>> = (!text.is_ascii()).then(|| {
        let mut units = Vec::with_capacity(text.len() + 1);
        let mut at = 0;
        for symbol in text.chars() {
            units.extend(std::iter::repeat_n(at, symbol.len_utf8()));
            at += symbol.len_utf16();
        }
        units.push(at);
        units
    });
    let unit = |byte: usize| units.as_ref().map_or(byte.min(text.len()), |units| units[byte.min(text.len())]);
    let span = |finding: &roundonce::Finding| match finding.location {
        Location::Span { start, end } => [unit(start), unit(end)],
        Location::Word(_) | Location::Whole => [0, 0],
    };
    checked.findings.iter().map(span).collect()
}

#[derive(Deserialize)]
pub(crate) struct Forms {
    #[serde(default)]
    pattern: String,
}

pub(crate) fn forms(request: Forms) -> Ended {
    let rows = answers::forms(&request.pattern);
    if rows.is_empty() {
        return Err(NoAnswer::Input(format!("no form matches `{}`", request.pattern.to_lowercase())));
    }
    rows.iter().try_fold(Reply::default(), |reply, row| reply.with(row, Vec::new()))
}
