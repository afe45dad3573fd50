//! What a vector is about: an instruction of a language, or one of TestFloat's functions, and which results are right.

use roundonce::arith::{ArithOp, Format, Operation, Rounding};
use roundonce::isa::{Gate, Language, Location, Recipe};
use roundonce::spirv::{self, AllowedSet, Environment, FloatModes};
use roundonce::{Evaluation, Finding, Form, Instruction, Profile, Target, Value};

/// Which results are right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Criterion {
    /// These bits and no others.
    Exact,
    /// These bits, but any NaN is as good as another: TestFloat's default.
    AnyNan,
    /// Whatever an implementation of SPIR-V may give under these modes.
    Allowed(FloatModes),
}

/// What a vector is about.
#[derive(Clone, Debug)]
pub struct InstructionUnderTest {
    /// As it was spelled.
    pub spelling: String,
    /// Its row and its meaning.
    pub instruction: Instruction,
    /// Which results are right.
    pub criterion: Criterion,
    /// What results are held against.
    pub profile: Profile,
}

impl InstructionUnderTest {
    /// An instruction as [`roundonce::instruction`] reads it, or a function of TestFloat with its rounding: `f16_mulAdd`
    /// rounds to nearest even, `f16_mulAdd_rm` down.
    ///
    /// # Errors
    /// A finding that says what is wrong with the spelling.
    ///
    /// ```
    /// use roundonce_vectors::{Criterion, InstructionUnderTest};
    /// let target = Default::default();
    /// assert_eq!(InstructionUnderTest::of("fma.rn.f32", &target)?.criterion, Criterion::Exact);
    /// assert_eq!(InstructionUnderTest::of("f32_mulAdd_rz", &target)?.criterion, Criterion::AnyNan);
    /// assert!(InstructionUnderTest::of("f32_mulAdd_up", &target).is_err());
    /// # Ok::<(), roundonce::Finding>(())
    /// ```
    pub fn of(spelling: &str, target: &Target) -> Result<InstructionUnderTest, Finding> {
        if let Some(function) = testfloat(spelling) {
            return function;
        }
        let instruction = roundonce::instruction(spelling, target)?;
        let criterion = if instruction.form.language == Language::SpirV {
            Criterion::Allowed(FloatModes::of_spelling(spelling))
        } else {
            Criterion::Exact
        };
        Ok(InstructionUnderTest { spelling: spelling.to_owned(), instruction, criterion, profile: Profile::NVIDIA })
    }

    /// The same under a spelling that means it wherever it is read: where the target decides, it is behind an `@`.
    ///
    /// # Errors
    /// As [`of`](InstructionUnderTest::of), or where the version of PTX decides, which no spelling has.
    pub(crate) fn alone(spelling: &str, target: &Target) -> Result<InstructionUnderTest, Finding> {
        let wanted = InstructionUnderTest::of(spelling, target)?;
        let with_target = target.sm.map(|sm| format!("{spelling}@{sm}"));
        for text in std::iter::once(spelling.to_owned()).chain(with_target) {
            if let Ok(found) = InstructionUnderTest::of(&text, &Target::default())
                && found.recipe() == wanted.recipe()
            {
                return Ok(found);
            }
        }
        let message = format!("no spelling says what `{spelling}` means under that version of PTX");
        Err(Finding::error("FORM0007", Location::Whole, message).help("name its target alone"))
    }

    /// The same under an environment, where it is SPIR-V's and names none.
    pub(crate) fn under(self, environment: Environment) -> InstructionUnderTest {
        match self.criterion {
            Criterion::Allowed(_) if !self.spelling.contains('@') => {
                let spelling = format!("{}@{environment}", self.spelling);
                InstructionUnderTest {
                    criterion: Criterion::Allowed(FloatModes::of_spelling(&spelling)),
                    spelling,
                    ..self
                }
            }
            _ => self,
        }
    }

    /// What the name of a file says: `f16_mulAdd_rm.txt.gz`, `fma.rn.f32.txt`.
    pub fn of_file_name(name: &str, target: &Target) -> Option<InstructionUnderTest> {
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        InstructionUnderTest::of(stem, target).ok()
    }

    pub(crate) fn recipe(&self) -> &Recipe {
        &self.instruction.recipe
    }
    /// How many operands it takes.
    pub fn arity(&self) -> usize {
        self.recipe().operation.op.arity()
    }
    /// Components of a value.
    pub fn components(&self) -> u32 {
        self.recipe().components
    }
    /// The format of a column's components: the operands, then the result.
    pub fn format(&self, column: usize) -> Format {
        let operation = &self.recipe().operation;
        if column < self.arity() { operation.operand_format(column) } else { operation.format }
    }
    /// Bits of a column's values.
    pub(crate) fn width(&self, column: usize) -> u32 {
        self.format(column).width() * self.components()
    }
    /// The result that the engine gives.
    pub fn evaluate(&self, operands: &[Value]) -> Evaluation {
        roundonce::eval(&self.instruction, operands, &self.profile)
    }
    /// Where several results are right: each component's.
    pub(crate) fn allowed(&self, operands: &[Value]) -> Vec<AllowedSet> {
        let Criterion::Allowed(modes) = self.criterion else { return Vec::new() };
        let format = self.recipe().operation.format;
        let triple = |component: usize| [0, 1, 2].map(|operand| operands[operand].components()[component]);
        (0..self.components() as usize).map(|component| spirv::allowed(format, modes, triple(component))).collect()
    }
}

const fn function(mnemonic: &'static str, operands: &'static str, kind: ArithOp, format: Format) -> Form {
    Form {
        language: Language::TestFloat,
        mnemonic,
        parts: &[],
        operands,
        gate: Gate::needs(&[]),
        recipe: Recipe::scalar(Operation::new(kind, format, Rounding::NearestEven)),
        source: "Berkeley TestFloat 3e, testfloat_gen",
        note: "with _rn, _rz, _rm or _rp at the end for the direction; tininess after rounding; any NaN equals any other",
    }
}
const fn subtracting(mut form: Form) -> Form {
    form.recipe.operation.negate_addend = true;
    form
}

/// TestFloat's functions that are multiply-adds or their parts.
#[rustfmt::skip] // One row a function.
static FUNCTIONS: [Form; 12] = [
    function("f16_mulAdd", "a, b, c", ArithOp::MulAdd, Format::F16),
    function("f32_mulAdd", "a, b, c", ArithOp::MulAdd, Format::F32),
    function("f64_mulAdd", "a, b, c", ArithOp::MulAdd, Format::F64),
    function("f16_add", "a, b", ArithOp::Add, Format::F16),
    function("f32_add", "a, b", ArithOp::Add, Format::F32),
    function("f64_add", "a, b", ArithOp::Add, Format::F64),
    subtracting(function("f16_sub", "a, b", ArithOp::Add, Format::F16)),
    subtracting(function("f32_sub", "a, b", ArithOp::Add, Format::F32)),
    subtracting(function("f64_sub", "a, b", ArithOp::Add, Format::F64)),
    function("f16_mul", "a, b", ArithOp::Mul, Format::F16),
    function("f32_mul", "a, b", ArithOp::Mul, Format::F32),
    function("f64_mul", "a, b", ArithOp::Mul, Format::F64),
];

/// A function of TestFloat's, if it is one's name.
fn testfloat(spelling: &str) -> Option<Result<InstructionUnderTest, Finding>> {
    let rest =
        |form: &Form| spelling.strip_prefix(form.mnemonic).filter(|rest| rest.is_empty() || rest.starts_with('_'));
    let (form, suffix) = FUNCTIONS.iter().find_map(|form| Some((form, rest(form)?)))?;
    let direction = Rounding::ALL.into_iter().find(|rounding| suffix.strip_prefix('_') == Some(rounding.name()));
    let rounding = match direction {
        Some(rounding) => rounding,
        None if suffix.is_empty() => Rounding::NearestEven,
        None => {
            let message = format!("`{suffix}` in `{spelling}` is no direction: expected _rn, _rz, _rm or _rp");
            return Some(Err(Finding::error("FORM0002", Location::Whole, message).rule(form.source)));
        }
    };
    let mut recipe = form.recipe;
    recipe.operation.rounding = rounding;
    let instruction = Instruction { form, recipe };
    Some(Ok(InstructionUnderTest {
        spelling: spelling.to_owned(),
        instruction,
        criterion: Criterion::AnyNan,
        profile: Profile::NVIDIA,
    }))
}
