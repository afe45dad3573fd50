#![doc = include_str!("../README.md")]
//!
//! Reading order: [`instruction`] (a spelling to its meaning), [`operands`], [`eval`], [`explain`], [`Batch`] (many
//! lines), [`mod@array`] (many elements), [`integer`] (the integer multiply-add), [`conversion`] (formats
//! of eight bits and fewer), [`matrix`] (matrix multiply-add), [`kernel`] (whole modules), [`answers`] (what the command says, as data),
//! [`mod@rules`] (what each finding's code stands for, with an example). The crates behind it are re-exported whole.

pub mod answers;
pub mod array;
mod batch;
mod bits;
pub mod compiled;
pub mod conversion;
pub mod elements;
pub mod image;
pub mod integer;
pub mod kernel;
pub mod matrix;
pub mod observed;
mod profile;
pub mod rules;
mod sides;
pub mod translation;

pub use batch::Batch;
pub use profile::ProfileChoice;
pub use roundonce_arith::{self as arith, Profile};
pub use roundonce_exec as exec;
pub use roundonce_ir as ir;
pub use roundonce_isa::{self as isa, Evaluation, Finding, Form, Instruction, SmTarget, Value, Version};
pub use roundonce_ptx as ptx;
pub use roundonce_sass as sass;
pub use roundonce_spirv as spirv;
pub use roundonce_translate as translate;
pub use roundonce_why::{self as why, Explained};
pub use roundonce_why_kernel as why_kernel;
pub use sides::{SideProblem, calls_second_c, sides};

use roundonce_isa::{
    Language, Location, NO_SUCH_INSTRUCTION, ParsedValue, Table, missing_digits, parse_value, split_spelling,
};

/// Every language's rows.
pub static TABLES: [&[Form]; 4] = [ptx::forms::FORMS, sass::forms::FORMS, sass::modern::FORMS, spirv::forms::FORMS];

static TABLE: Table = Table::new(&TABLES);

/// The machine and language version that a PTX spelling is meant for, where its meaning depends on them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Target {
    /// `sm_13`, `sm_100a`.
    pub sm: Option<SmTarget>,
    /// The `.version`.
    pub ptx: Option<Version>,
}

/// Reads `sm_13`, `sm_100a`.
///
/// # Errors
/// If PTX has no such target: a text that names those it has.
pub fn parse_sm(text: &str) -> Result<SmTarget, String> {
    let found = ptx::targets().find(|known| known == text).and_then(|known| known.parse().ok());
    found.ok_or_else(|| {
        let known: Vec<String> = ptx::targets().collect();
        format!("`{text}` is no target of PTX: expected one of {}", known.join(" "))
    })
}

/// Reads a version of PTX, `8.6`.
///
/// # Errors
/// If there is no such version, or it is newer than what is known here.
pub fn parse_ptx(text: &str) -> Result<Version, String> {
    let version = text.parse()?;
    if ptx::is_version(version) { Ok(version) } else { Err(ptx::no_version(version)) }
}

/// The instruction that a spelling names: PTX `fma.rz.sat.f32.bf16`, `mad.f32@sm_13`; SASS `FFMA.FTZ.RZ.SAT.CC`; SPIR-V
/// `OpFmaKHR.v4f16+rtz+ftz`, `OpFmaKHR.f32@vulkan1.3`.
///
/// # Errors
/// A finding that says what is wrong with the spelling, or what lacks it, and the rule; [`NOT_COMPUTED`] for an
/// instruction outside the family.
pub fn instruction(spelling: &str, target: &Target) -> Result<Instruction, Finding> {
    let (name, sm) = spelled_target(spelling, target)?;
    TABLE.resolve(name, sm, target.ptx).map_err(|finding| {
        let machine = sm.and_then(|sm| sass::modern::Target::new(sm.number));
        let is_target_missing = finding.code == LACKS_FORM && machine.is_none();
        if !is_target_missing && sass::modern::is_spelling(name, machine) {
            let message = format!("`{spelling}` is not computed: no document says what it does");
            return fault(NOT_COMPUTED, message)
                .help("`roundonce asm` and `disasm` know its words; docs/sass.md says what was asked of a GPU");
        }
        if finding.code != NO_SUCH_INSTRUCTION {
            return finding;
        }
        if let Some(language) = outside_forms(name) {
            let message =
                format!("`{spelling}` is an instruction of {}, and none that is computed alone", language.name());
            return fault(NOT_COMPUTED, message)
                .help("`run` takes kernels with it; `roundonce forms` lists what stands alone");
        }
        if !is_outside_family(name) {
            return finding;
        }
        if matrix::is_matrix(name) {
            let message = format!("`{spelling}` is a matrix multiply-add, which is not taken here");
            return fault(NOT_COMPUTED, message)
                .help("`roundonce eval` and `explain` compute it, `diff` compares it on two machines, `run` takes kernels with it");
        }
        if conversion::is_conversion(name) || integer::is_integer(name) {
            let message =
                format!("`{spelling}` is no multiply-add, sum or product of floats, which alone is taken here");
            return fault(NOT_COMPUTED, message).help("`roundonce eval` and `explain` compute it");
        }
        let message = format!("`{spelling}` is not computed alone: it is no multiply-add, sum or product of floats");
        fault(NOT_COMPUTED, message).help("`run` computes a kernel with it; `roundonce forms` lists what stands alone")
    })
}

/// The code of a spelling that some other target has.
const LACKS_FORM: &str = "FORM0003";

/// The code of a spelling that its language has and that is not computed.
pub const NOT_COMPUTED: &str = "FORM0009";

/// The language, SASS or SPIR-V, that has an instruction of this mnemonic of which there is no row.
fn outside_forms(spelling: &str) -> Option<Language> {
    let (mnemonic, _) = split_spelling(spelling);
    let language = if sass::mnemonics().any(|known| known == mnemonic) {
        Language::Sass
    } else {
        spirv::opcode_text(mnemonic).map(|_| Language::SpirV)?
    };
    let has_row = TABLES.into_iter().flatten().any(|form| form.language == language && form.mnemonic == mnemonic);
    (!has_row).then_some(language)
}

/// Whether PTX has an opcode of this name and it is none of the rows, or it is one on integers.
fn is_outside_family(spelling: &str) -> bool {
    let (opcode, modifiers) = split_spelling(spelling);
    let in_family = ptx::forms::FORMS.iter().any(|form| form.mnemonic == opcode);
    let on_integers = || modifiers.iter().any(|word| matches!(word.get(..2), Some(".s" | ".u")) && *word != ".sat");
    ptx::is_opcode(opcode) && (!in_family || on_integers())
}

/// A spelling without the target behind its `@`, and the target that is meant: `target` says no other one.
fn spelled_target<'s>(spelling: &'s str, target: &Target) -> Result<(&'s str, Option<SmTarget>), Finding> {
    let Some((name, text)) = spelling.split_once('@') else { return Ok((spelling, target.sm)) };
    // SPIR-V's is an environment: it says which results are legal, not what the instruction means.
    if name.starts_with("Op") {
        text.parse::<spirv::Environment>().map_err(|problem| fault("FORM0004", problem))?;
        return Ok((name, target.sm));
    }
    let sm = parse_sm(text).map_err(|problem| fault("FORM0004", problem))?;
    match target.sm {
        Some(other) if other != sm => {
            let message = format!("`{spelling}` is for {sm}, and {other} is asked for");
            Err(fault("FORM0004", message).help("name one target, behind the `@` or beside the instruction"))
        }
        _ => Ok((name, Some(sm))),
    }
}

/// An instruction's operands, read from text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operands {
    /// Their bits.
    pub values: Vec<Value>,
    /// The places, from 0, of those that the format did not hold and that were rounded.
    pub inexact: Vec<usize>,
}

/// Reads an instruction's operands.
///
/// # Errors
/// A finding about their number or the first one that is no value.
pub fn operands<S: AsRef<str>>(instruction: &Instruction, texts: &[S]) -> Result<Operands, Finding> {
    check_arity(instruction, texts.len())?;
    let mut read = Operands { values: Vec::with_capacity(texts.len()), inexact: Vec::new() };
    for (index, text) in texts.iter().enumerate() {
        let parsed = operand(instruction, index, text.as_ref())?;
        read.values.push(parsed.value);
        if !parsed.exact {
            read.inexact.push(index);
        }
    }
    Ok(read)
}

/// Reads the operand at a place, from 0. Hex bits have all their digits, `0x0` apart, since of fewer one may be missing at
/// either end.
///
/// # Errors
/// A finding if it is no value of its format, or lacks digits.
///
/// # Panics
/// If the instruction has no such operand: [`check_arity`] sees to it.
pub fn operand(instruction: &Instruction, index: usize, text: &str) -> Result<ParsedValue, Finding> {
    let recipe = &instruction.recipe;
    let format = recipe.operation.operand_format(index);
    let width = format.width() * recipe.components;
    if let Some(whole) = missing_digits(text, width) {
        let message = format!("operand {}: `{text}` has too few digits for {width} bits", index + 1);
        return Err(fault("FORM0006", message).help(format!("write {whole}, or the digits that are missing")));
    }
    let read = |text| {
        parse_value(format, recipe.components, text)
            .map_err(|problem| fault("FORM0006", format!("operand {}: {problem}", index + 1)))
    };
    let parsed = read(text)?;
    // A minus of machine code is the instruction's, which leaves the sign of a NaN alone (docs/decisions.md, nan_f64).
    match text.strip_prefix('-') {
        Some(unsigned)
            if instruction.form.language == Language::Sass
                && parsed.value.components().iter().all(|&bits| format.is_nan(bits)) =>
        {
            read(unsigned)
        }
        _ => Ok(parsed),
    }
}

/// That an instruction takes so many operands.
///
/// # Errors
/// A finding with the form.
pub fn check_arity(instruction: &Instruction, found: usize) -> Result<(), Finding> {
    let arity = instruction.recipe.operation.op.arity();
    if found == arity {
        return Ok(());
    }
    let (syntax, operands) = (instruction.form.syntax(), instruction.form.operands);
    let message = format!("`{syntax}` takes {arity} operands ({operands}), found {found}");
    Err(fault("FORM0005", message).rule(instruction.form.source))
}

/// The GPU's bits.
///
/// # Panics
/// If there are not as many operands, or components, as the instruction takes: [`operands`] sees to it.
pub fn eval(instruction: &Instruction, operands: &[Value], profile: &Profile) -> Evaluation {
    isa::evaluate(&instruction.recipe, profile, operands)
}

/// The pipeline step by step, and what the neighbours give.
///
/// # Panics
/// As [`eval`].
pub fn explain(spelling: &str, instruction: &Instruction, operands: &[Value], profile: &Profile) -> Explained {
    why::explain(spelling, instruction, operands, profile, &TABLES)
}

/// Every result that an implementation may give for an OpFmaKHR under the modes that its spelling declares, a set for
/// each component, in the environment behind its `@`; what the spelling does not declare is open. Other languages leave
/// nothing open.
///
/// # Errors
/// A finding if the instruction is not SPIR-V's.
///
/// # Panics
/// As [`eval`].
///
/// ```
/// use roundonce::{Target, allowed, instruction, operands};
/// let spelling = "OpFmaKHR.f32+rtz";
/// let fma = instruction(spelling, &Target::default()).unwrap();
/// let [a, b, c] = ["0x3f800001", "0x3f800001", "1.0"];
/// let sets = allowed(spelling, &fma, &operands(&fma, &[a, b, c]).unwrap().values).unwrap();
/// assert_eq!(sets[0].determined(), Some(0x4000_0001));
/// ```
pub fn allowed(
    spelling: &str,
    instruction: &Instruction,
    operands: &[Value],
) -> Result<Vec<spirv::AllowedSet>, Finding> {
    if instruction.form.language != Language::SpirV {
        let message = format!("the bits of `{spelling}` are determined: only SPIR-V leaves a choice of results");
        return Err(fault("FORM0007", message).rule(instruction.form.source));
    }
    let format = instruction.recipe.operation.format;
    let modes = spirv::FloatModes::of_spelling(spelling);
    let component = |lane: usize| [0, 1, 2].map(|operand| operands[operand].components()[lane]);
    Ok((0..instruction.recipe.components as usize).map(|lane| spirv::allowed(format, modes, component(lane))).collect())
}

/// What is wrong with a whole instruction.
fn fault(code: &'static str, message: String) -> Finding {
    Finding::error(code, Location::Whole, message)
}
