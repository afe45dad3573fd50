//! One instruction in another language: the spellings that give the same bits, with what must stand around them, or the
//! fields in which none does.
//!
//! Reading order: [`Counterpart`], [`translate`], `steps.rs` (the ways to compute a recipe that are equal for all operands),
//! then a file for each language: how it spells an operation and each step.
//!
//! What this is not: it searches no witness and evaluates nothing but [`Step`]s; `roundonce` asks `diff` for the operands on
//! which the nearest form differs.

mod c;
mod cuda;
mod glsl;
mod open;
mod ptx;
mod sass;
mod spirv;
mod steps;
pub(crate) mod text;

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_isa::{Form, Gate, Recipe};

pub(crate) use spirv::FLUSH;
pub use steps::{Step, evaluate};

use steps::Plan;
use text::{Core, Names, Text, Writer};

/// A language that an instruction is translated to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Language {
    /// PTX.
    Ptx,
    /// SASS.
    Sass,
    /// SPIR-V.
    SpirV,
    /// CUDA C++.
    Cuda,
    /// GLSL for Vulkan.
    Glsl,
    /// WGSL.
    Wgsl,
    /// The Metal shading language.
    Metal,
    /// C.
    C,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 8] = [
        Language::Ptx,
        Language::Sass,
        Language::SpirV,
        Language::Cuda,
        Language::Glsl,
        Language::Wgsl,
        Language::Metal,
        Language::C,
    ];

    /// As a command's option has it: `ptx`, `spirv`.
    pub const fn word(self) -> &'static str {
        match self {
            Language::Ptx => "ptx",
            Language::Sass => "sass",
            Language::SpirV => "spirv",
            Language::Cuda => "cuda",
            Language::Glsl => "glsl",
            Language::Wgsl => "wgsl",
            Language::Metal => "metal",
            Language::C => "c",
        }
    }

    /// As its documents write it.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Ptx => "PTX",
            Language::Sass => "SASS",
            Language::SpirV => "SPIR-V",
            Language::Cuda => "CUDA C++",
            Language::Glsl => "GLSL",
            Language::Wgsl => "WGSL",
            Language::Metal => "Metal",
            Language::C => "C",
        }
    }

    /// The language of a [`word`](Language::word).
    ///
    /// # Errors
    /// A text that names those there are.
    pub fn parse(word: &str) -> Result<Language, String> {
        Language::ALL.into_iter().find(|language| language.word() == word).ok_or_else(|| {
            let words: Vec<&str> = Language::ALL.into_iter().map(Language::word).collect();
            format!("`{word}` is no language to translate to: expected one of {}", words.join(", "))
        })
    }
}

/// A spelling in another language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterpart {
    /// The instruction, the function or the operator: `FFMA.RZ`, `__fmaf_rz`, `a * b`.
    pub spelling: String,
    /// The lines that compute `d` of `a`, `b` and `c`, or of their registers.
    pub code: Vec<String>,
    /// Lines of the same language that stand elsewhere: declarations, execution modes, decorations.
    pub around: Vec<String>,
    /// Options of the compiler.
    pub flags: Vec<String>,
    /// Versions, machines, and how operands and components are given, in words.
    pub needs: Vec<String>,
    /// What the language leaves to the implementation; where it does not matter, the bits are the same.
    pub open: Vec<&'static str>,
    /// Decisions that no document makes and that no hardware was asked about, on which the equality rests.
    pub assumes: Vec<&'static str>,
    /// The components that one of it computes.
    pub components: u32,
    /// What each component computes.
    pub steps: Vec<Step>,
    /// The versions and machines that have its instruction, where the language has a table of them.
    pub gate: Option<Gate>,
}

/// That no spelling gives the same bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The fields of the meaning that the language has not, or leaves open.
    pub fields: Vec<&'static str>,
    /// Why, in sentences, with the document.
    pub reasons: Vec<&'static str>,
    /// What comes nearest.
    pub nearest: Option<Box<Nearest>>,
}

/// The nearest spelling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nearest {
    /// It.
    pub counterpart: Counterpart,
    /// What it computes, or may compute where its language leaves that open.
    pub operation: Operation,
    /// Where that is open.
    pub is_open: bool,
}

/// What was found in a language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Translated {
    /// Every spelling with the same bits, the plainest first.
    Counterparts(Vec<Counterpart>),
    /// None.
    Refused(Refusal),
}

/// The counterparts of a recipe in a language; `tables` are the rows of PTX, SASS and SPIR-V.
///
/// ```
/// use roundonce_arith::{Format, Operation, Rounding};
/// use roundonce_isa::Recipe;
/// use roundonce_translate::instruction::{Language, Translated, translate};
/// let fma = |rounding| Recipe::scalar(Operation::mul_add(Format::F32, rounding));
/// let Translated::Counterparts(found) = translate(&fma(Rounding::Up), Language::Cuda, &[]) else { panic!() };
/// assert_eq!(found[0].code, ["float d = __fmaf_ru(a, b, c);"]);
/// let Translated::Refused(refusal) = translate(&fma(Rounding::Up), Language::SpirV, &[]) else { panic!() };
/// assert_eq!(refusal.fields, ["rounding"]);
/// ```
pub fn translate(recipe: &Recipe, to: Language, tables: &[&'static [Form]]) -> Translated {
    let Some(writer) = writer(to, tables) else { return Translated::Refused(open::refusal(recipe, to)) };
    let found = counterparts(recipe, &*writer);
    if found.is_empty() { Translated::Refused(refusal(recipe, &*writer)) } else { Translated::Counterparts(found) }
}

/// What writes a language; `None` where its documents leave every result open.
pub(crate) fn writer<'t>(to: Language, tables: &'t [&'static [Form]]) -> Option<Box<dyn Writer + 't>> {
    Some(match to {
        Language::Ptx => Box::new(ptx::Ptx { tables }),
        Language::Sass => Box::new(sass::Sass { tables }),
        Language::SpirV => Box::new(spirv::SpirV),
        Language::Cuda => Box::new(cuda::Cuda { tables }),
        Language::Glsl => Box::new(glsl::Glsl),
        Language::C => Box::new(c::C),
        Language::Wgsl | Language::Metal => return None,
    })
}

fn counterparts(recipe: &Recipe, writer: &dyn Writer) -> Vec<Counterpart> {
    let mut counterparts: Vec<Counterpart> = Vec::new();
    let mut found: Vec<Plan> = Vec::new();
    for plan in Plan::of(recipe) {
        if plan.is_superfluous(&found) {
            continue;
        }
        let written = spelled(&plan, recipe.components, writer);
        if !written.is_empty() {
            found.push(plan);
            counterparts.extend(written);
        }
    }
    counterparts
}

/// A plan's spellings, of as many components at once as the language has: the source's, or fewer, or twice as many.
fn spelled(plan: &Plan, wanted: u32, writer: &dyn Writer) -> Vec<Counterpart> {
    let mut sizes = vec![wanted, 2, 1];
    sizes.dedup();
    if wanted == 1 {
        sizes = vec![1, 2];
    }
    for components in sizes {
        let core = Recipe { components, contractible: false, ..plan.core };
        let mut names = writer.names(&core.operation, components);
        let mut before = Text::default();
        let write = |step| prepare(step, components, writer, &mut names, &mut before);
        let is_written = plan.before.iter().map(write).all(|written| written.is_some());
        let clamped = (plan.clamp != Clamp::None).then_some(plan.clamp);
        if !is_written || clamped.is_some_and(|clamp| !writer.clamps(clamp, &core)) {
            continue;
        }
        let result = names.result.clone();
        if clamped.is_some() {
            names.result = writer.unclamped(&result);
        }
        let mut cores = writer.cores(&core, &names);
        if plan.steps().len() > 1 && !writer.writes_all_beside_steps() {
            cores.truncate(1);
        }
        let written = cores.into_iter().map(|core_text| {
            let Core { spelling, text: own } = core_text;
            let mut text = before.clone();
            text.append(own);
            if let Some(clamp) = clamped {
                writer.clamp(clamp, &core, &names.result, &result, &mut text);
            }
            writer.finish(&core, &mut text);
            counterpart(plan, spelling, text, (wanted, components))
        });
        let written: Vec<Counterpart> = written.collect();
        if !written.is_empty() {
            return written;
        }
    }
    Vec::new()
}

/// Writes a step that stands before the arithmetic. `None` where the language, or this number of components, has no text
/// for it.
fn prepare(step: &Step, components: u32, writer: &dyn Writer, names: &mut Names, text: &mut Text) -> Option<()> {
    let new = |prefix: &str, operand: usize| format!("{prefix}{}", ["a", "b", "c"][operand]);
    match *step {
        Step::Constant { operand, format, bits } => {
            names.operands[operand] = writer.constant(format, components, bits, &new("k", operand), text)?;
        }
        _ if components != 1 => return None,
        Step::Widen { operand, from, to } => {
            names.operands[operand] = writer.converted(from, to, &names.operands[operand], &new("w", operand), text)?;
        }
        Step::Negate { operand, format } => {
            names.operands[operand] = writer.negated(format, &names.operands[operand], &new("n", operand), text)?;
        }
        Step::ZeroFactors(Format::F32) => writer.zero_factors(names, text)?,
        Step::ZeroFactors(_) | Step::Compute(_) | Step::Clamp(..) => return None,
    }
    Some(())
}

fn counterpart(plan: &Plan, spelling: String, text: Text, (wanted, components): (u32, u32)) -> Counterpart {
    let Text { code, around, flags, mut needs, mut open, gate, .. } = text;
    if let Some(gate) = gate {
        needs.insert(0, gate.to_string());
    }
    if components < wanted {
        let each = if components == 1 { "each component".to_owned() } else { format!("{components} components") };
        needs.push(format!("once for {each}"));
    } else if components > wanted {
        needs.push("the value stands in the low half, and the high half is computed beside it".to_owned());
    }
    let steps = plan.steps();
    let operation = plan.core.operation;
    let clamp = if plan.clamp == Clamp::None { operation.clamp } else { plan.clamp };
    if clamp == Clamp::Unit {
        // No NaN is left.
        open.retain(|what| *what != text::NAN_BITS);
    }
    let mut assumes = Vec::new();
    if clamp == Clamp::Unit && steps.iter().any(|step| matches!(step, Step::ZeroFactors(_))) {
        assumes.push("fmz_sat_nan: a saturating .FMZ form counts a zero times a NaN as +0; measured on sm_90 alone");
    }
    Counterpart { spelling, code, around, flags, needs, open, assumes, components, steps, gate }
}

/// Why `.FMZ` has no counterpart.
const ZERO_FACTORS: &str = "zero factors of an f32 alone are written as selections, packed ones are not";

/// Something of a recipe that a nearest form may lack.
type Relaxation = (&'static str, fn(&Recipe) -> Option<Recipe>);

/// In the order in which they are tried: the first makes the least difference.
static RELAXATIONS: [Relaxation; 7] = [
    ("condition codes", |recipe| recipe.condition_codes.then_some(Recipe { condition_codes: false, ..*recipe })),
    ("out-of-bounds NaN", |recipe| changed(recipe, recipe.operation.oob, |operation| operation.oob = false)),
    ("zero factors", |recipe| changed(recipe, recipe.operation.fmz, |operation| operation.fmz = false)),
    ("subnormals", |recipe| changed(recipe, true, |operation| operation.flush ^= true)),
    ("rounding", |recipe| {
        let is_directed = recipe.operation.rounding != Rounding::NearestEven;
        changed(recipe, is_directed, |operation| operation.rounding = Rounding::NearestEven)
    }),
    ("saturation", |recipe| {
        changed(recipe, recipe.operation.clamp != Clamp::None, |operation| operation.clamp = Clamp::None)
    }),
    ("the product is truncated", |recipe| {
        let is_truncated = recipe.operation.op == ArithOp::TruncatedMulAdd;
        changed(recipe, is_truncated, |operation| operation.op = ArithOp::MulAdd)
    }),
];

fn changed(recipe: &Recipe, applies: bool, change: impl FnOnce(&mut Operation)) -> Option<Recipe> {
    let mut other = *recipe;
    change(&mut other.operation);
    applies.then_some(other)
}

/// The fewest fields without which the language has a counterpart, and that.
fn refusal(recipe: &Recipe, writer: &dyn Writer) -> Refusal {
    let mut choices: Vec<u32> = (1..1 << RELAXATIONS.len()).collect();
    choices.sort_by_key(|chosen| chosen.count_ones());
    for chosen in choices {
        let relaxations = RELAXATIONS.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
        let relaxed = relaxations.clone().try_fold(*recipe, |recipe, (_, (_, relax))| relax(&recipe));
        let Some(relaxed) = relaxed else { continue };
        if let Some(counterpart) = counterparts(&relaxed, writer).into_iter().next() {
            let fields: Vec<&str> = relaxations.map(|(_, (field, _))| *field).collect();
            let nearest = Nearest { counterpart, operation: relaxed.operation, is_open: false };
            return Refusal { reasons: writer.reasons(&fields), fields, nearest: Some(Box::new(nearest)) };
        }
    }
    let fields = vec!["operand types"];
    Refusal { reasons: writer.reasons(&fields), fields, nearest: None }
}
