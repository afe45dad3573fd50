//! Whether a module obeys SPIR-V, SPV_KHR_fma and its target environment, and what it leaves open.
//!
//! Errors are violations that spirv-val reports too (of the instructions around the multiply-add family; this is no
//! full validator). Warnings and notes are about modules that are valid: what is deprecated, without effect, or does not
//! determine the bits.

mod advice;
mod calls;
mod capability;
mod codes;
mod composite;
mod decoration;
mod dominators;
mod entry;
mod explicit_layout;
mod extended;
mod fast_math;
mod flow;
mod functions;
mod ids;
mod image;
mod interface;
mod kinds;
pub(crate) mod layout;
mod open;
mod operand;
mod phi;
mod since;
mod structure;
mod types;
mod unchecked;
mod values;
mod view;

pub use codes::RULES;
pub use unchecked::unchecked;

use std::cell::OnceCell;
use std::ops::RangeInclusive;
use std::rc::Rc;

use calls::Calls;
use roundonce_isa::{Finding, Location, Severity};
use rspirv::spirv::Op;

use crate::environment::Environment;
use crate::facts::Facts;
use crate::grammar::{Class, Expected};
use crate::literal::read_string;
use crate::module::{Instruction, Module, NumberTypes, Operand};

/// The stable codes, by what they are about.
#[rustfmt::skip] // A code a line.
pub(crate) mod code {
    // 0001 and 0002: a binary or a text that cannot be read (`module`, `asm`).
    pub(crate) const OPERANDS: &str = "SPV0003";
    pub(crate) const OPCODE: &str = "SPV0004";
    pub(crate) const VERSION: &str = "SPV0006";
    pub(crate) const LAYOUT: &str = "SPV0010";
    pub(crate) const BLOCK: &str = "SPV0011";
    pub(crate) const ID_UNDEFINED: &str = "SPV0012";
    pub(crate) const ID_TWICE: &str = "SPV0013";
    pub(crate) const ID_BOUND: &str = "SPV0014";
    pub(crate) const DOMINANCE: &str = "SPV0015";
    pub(crate) const STRUCTURE: &str = "SPV0017";
    pub(crate) const PHI: &str = "SPV0018";
    pub(crate) const NOT_A_TYPE: &str = "SPV0016";
    pub(crate) const CAPABILITY_NEEDED: &str = "SPV0020";
    pub(crate) const EXTENSION_NEEDED: &str = "SPV0021";
    pub(crate) const CAPABILITY_REFUSED: &str = "SPV0022";
    pub(crate) const TYPE_DECLARATION: &str = "SPV0030";
    pub(crate) const TYPE_TWICE: &str = "SPV0031";
    pub(crate) const CONSTANT: &str = "SPV0032";
    pub(crate) const RESULT_TYPE: &str = "SPV0040";
    pub(crate) const OPERAND_TYPE: &str = "SPV0041";
    pub(crate) const NARROW_FLOAT: &str = "SPV0042";
    pub(crate) const MEMORY_MODEL: &str = "SPV0050";
    pub(crate) const ENTRY_POINT: &str = "SPV0051";
    pub(crate) const EXECUTION_MODE: &str = "SPV0052";
    pub(crate) const DECORATION: &str = "SPV0053";
    pub(crate) const FAST_MATH: &str = "SPV0054";
    pub(crate) const DECORATION_TWICE: &str = "SPV0055";
    pub(crate) const INTERFACE: &str = "SPV0056";
    pub(crate) const DEPRECATED_FMA: &str = "SPV0060";
    pub(crate) const UNUSED: &str = "SPV0061";
    pub(crate) const GLSL_FMA: &str = "SPV0062";
    pub(crate) const NO_CONTRACTION: &str = "SPV0063";
    pub(crate) const ROUNDING_OPEN: &str = "SPV0064";
    pub(crate) const DENORM_OPEN: &str = "SPV0065";
    pub(crate) const SPECIAL_OPEN: &str = "SPV0066";
    pub(crate) const CONTRACTION: &str = "SPV0067";
    pub(crate) const MODES_CONTRADICT: &str = "SPV0068";
    pub(crate) const NULL_MEMBER: &str = "SPV0069";
    pub(crate) const MAD: &str = "SPV0070";
    pub(crate) const SUM_OPEN: &str = "SPV0071";
    pub(crate) const SUMS_OPEN: &str = "SPV0072";
}

/// The errors of a module's structure: its sections, functions, blocks and ids.
const OF_STRUCTURE: RangeInclusive<&str> = code::LAYOUT..=code::PHI;

/// Errors beyond this many are not kept.
const MOST_ERRORS: usize = 100;

/// The documents that contain the rules.
pub(crate) mod source {
    pub(crate) const FMA: &str = "SPV_KHR_fma, OpFmaKHR";
    pub(crate) const FMA_CAPABILITY: &str = "SPV_KHR_fma, Capability FMAKHR";
    pub(crate) const LAYOUT: &str = "SPIR-V 1.6, 2.4 Logical Layout of a Module";
    pub(crate) const UNIVERSAL: &str = "SPIR-V 1.6, 2.16.1 Universal Validation Rules";
    pub(crate) const FLOAT_CONTROLS: &str = "SPV_KHR_float_controls";
    pub(crate) const UNSPECIFIED_SUM: &str = "Vulkan, Precision and Operation of SPIR-V Instructions";
}

/// Codes of notes that nearly every module has: worth a word where someone asks what is left open.
pub const OF_DETERMINACY: &[&str] = &[code::SUM_OPEN, code::SUMS_OPEN];

/// Assembles a text and checks it. A text that cannot be read gives those findings alone.
///
/// ```
/// use roundonce_spirv::{Environment, check_text};
/// let findings = check_text("OpCapability FMAKHR", Environment::UNIVERSAL);
/// assert!(findings[0].message.contains("SPV_KHR_fma"));
/// ```
pub fn check_text(text: &str, environment: Environment) -> Vec<Finding> {
    match crate::asm::assemble_module(text, Some(environment.version())) {
        Ok(module) => check_module(&module, Some(text), environment),
        Err(findings) => findings,
    }
}

/// Reads a binary of either byte order and checks it.
pub fn check_binary(binary: &[u8], environment: Environment) -> Vec<Finding> {
    match Module::from_binary(binary) {
        Ok(mut module) => {
            let names = debug_names(&module);
            module.name_ids(names);
            check(&module, environment)
        }
        Err(finding) => vec![finding],
    }
}

/// Checks a module. Findings are in the module's order; warnings and notes among them leave it valid.
pub fn check(module: &Module, environment: Environment) -> Vec<Finding> {
    check_module(module, None, environment)
}

/// The errors in a module's structure, which [`lower`](crate::lower) takes for granted: what its sections, functions, blocks and ids
/// must be. Where there is one, nothing of the module can be run.
///
/// ```
/// use roundonce_spirv::{assemble_module, structural_errors};
/// let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n%void = OpTypeVoid\n%void = OpTypeBool";
/// let errors = structural_errors(&assemble_module(text, None).unwrap());
/// assert_eq!(errors[0].message, "%void is defined a second time");
/// ```
pub fn structural_errors(module: &Module) -> Vec<Finding> {
    let facts = Facts::of(module);
    let mut checker = Checker::new(module, None, Environment::UNIVERSAL, &facts);
    ids::definitions(&mut checker);
    instructions(&mut checker);
    checker.findings.retain(|finding| OF_STRUCTURE.contains(&finding.code));
    checker.finished()
}

/// Of a module that was read from a text the findings have edits of it.
fn check_module(module: &Module, text: Option<&str>, environment: Environment) -> Vec<Finding> {
    let facts = Facts::of(module);
    let mut checker = Checker::new(module, text, environment, &facts);
    checker.version();
    ids::definitions(&mut checker);
    let decoded = instructions(&mut checker);
    entry::check(&mut checker);
    functions::check(&mut checker);
    decoration::check(&mut checker);
    explicit_layout::check(&mut checker);
    fast_math::check(&mut checker);
    // What a module leaves open is worth a word only where the words can be trusted.
    if decoded && checker.findings.iter().all(|finding| finding.severity < Severity::Error) {
        advice::check(&mut checker);
    }
    checker.finished()
}

pub(crate) struct Checker<'m> {
    pub module: &'m Module,
    pub text: Option<&'m str>,
    pub environment: Environment,
    pub facts: &'m Facts,
    pub findings: Vec<Finding>,
    /// Found out when it is first asked for.
    calls: OnceCell<Rc<Calls>>,
    /// The OpFunction of the instruction at work, and its index.
    pub function: Option<(usize, Instruction)>,
}

impl<'m> Checker<'m> {
    fn new(module: &'m Module, text: Option<&'m str>, environment: Environment, facts: &'m Facts) -> Checker<'m> {
        Checker { module, text, environment, facts, findings: Vec::new(), calls: OnceCell::new(), function: None }
    }
    /// The findings in the module's order, not too many of them.
    fn finished(mut self) -> Vec<Finding> {
        let order = |finding: &Finding| match finding.location {
            Location::Span { start, .. } => start,
            Location::Word(word) => word,
            Location::Whole => 0,
        };
        self.findings.sort_by_key(order);
        // What is no error stays: it may be what a module leaves open, which is asked for.
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        let mut errors = 0;
        self.findings.retain(|finding| {
            errors += usize::from(is_error(finding));
            !is_error(finding) || errors <= MOST_ERRORS
        });
        if errors > MOST_ERRORS
            && let Some(last) = self.findings.iter_mut().rfind(|finding| is_error(finding))
        {
            last.add_help(&format!("there are more errors: {MOST_ERRORS} are listed"));
        }
        self.findings
    }
}

impl Checker<'_> {
    pub(crate) fn error(&mut self, code: &'static str, word: usize, rule: &str, message: String) -> &mut Finding {
        self.report(Finding::error(code, self.module.location(word), message).rule(rule))
    }
    pub(crate) fn report(&mut self, finding: Finding) -> &mut Finding {
        self.findings.push(finding);
        self.findings.last_mut().expect("just pushed")
    }
    /// Which functions call which.
    fn calls(&self) -> Rc<Calls> {
        self.calls.get_or_init(|| Rc::new(Calls::of(self.module))).clone()
    }
    /// A value with its type, as a message shows it: `%k (i32)`.
    pub(crate) fn typed(&self, id: u32) -> String {
        match self.facts.type_of(id) {
            Some(type_id) => format!("{} ({})", self.module.id(id), self.facts.describe(self.module, type_id)),
            None => self.module.id(id).to_string(),
        }
    }

    fn version(&mut self) {
        let (found, newest) = (self.module.version(), self.environment.version());
        if found > newest {
            let message = format!("the module is SPIR-V {found}; {} takes {newest} at most", self.environment);
            self.error(code::VERSION, 1, "SPIR-V 1.6, 2.3 Physical Layout", message);
        }
    }
}

/// The walk over all instructions, each read by the grammar once. Whether all could be read.
fn instructions(checker: &mut Checker<'_>) -> bool {
    let module = checker.module;
    let mut numbers = NumberTypes::default();
    let mut expected = Expected::new();
    let mut operands: Vec<Operand> = Vec::new();
    let mut layout = layout::Layout::default();
    let mut capabilities = capability::Capabilities::default();
    let mut types = types::Types::default();
    let mut flow = flow::Flow::default();
    let mut interface = interface::Uses::default();
    let mut good = true;
    for (index, instruction) in module.instructions().iter().enumerate() {
        match Op::from_u32(instruction.opcode.into()) {
            Some(Op::Function) => checker.function = Some((index, *instruction)),
            Some(Op::FunctionEnd) => checker.function = None,
            _ => {}
        }
        layout.check(checker, instruction);
        flow.enter(checker, instruction);
        match module.operands(instruction, &numbers, &mut expected, &mut operands) {
            Ok(()) if crate::grammar::shape(instruction.opcode).is_some() => {
                interface.take(checker, instruction, &operands);
                let usable = ids::uses(checker, index, instruction, &operands, &mut flow);
                capabilities.check(checker, instruction, &operands);
                since::check(checker, instruction);
                if usable {
                    types.check(checker, instruction, &operands);
                    typed(checker, instruction, &operands);
                }
                good &= usable;
            }
            Ok(()) => {
                good = false;
                let message = format!("opcode {} is not in the grammar of SPIR-V 1.6", instruction.opcode);
                checker.error(code::OPCODE, instruction.word, "SPIR-V 1.6, 3.49 Instructions", message);
            }
            Err(malformed) => {
                good = false;
                let rule =
                    if instruction.opcode == operand::FMA { source::FMA } else { "SPIR-V 1.6, 3.49 Instructions" };
                checker.error(code::OPERANDS, malformed.word, rule, malformed.message);
            }
        }
        numbers.track(instruction.opcode, module.words_of(instruction));
    }
    layout.finish(checker);
    flow.finish(checker);
    interface.finish(checker);
    good
}

/// The rules of an instruction's operands, until one finds something.
fn typed(checker: &mut Checker<'_>, instruction: &Instruction, operands: &[Operand]) {
    let before = checker.findings.len();
    operand::check(checker, instruction);
    if checker.findings.len() == before {
        kinds::check(checker, instruction, operands);
    }
    if checker.findings.len() == before {
        values::check(checker, instruction);
        composite::check(checker, instruction);
        image::check(checker, instruction);
        if instruction.opcode == Op::ExtInst as u16 {
            extended::check(checker, instruction);
        }
    }
}

/// The names that OpName gives, for messages about binaries.
pub(crate) fn debug_names(module: &Module) -> Vec<(u32, String)> {
    let named = module.instructions().iter().filter(|at| at.opcode == Op::Name as u16);
    named
        .filter_map(|instruction| {
            let words = module.words_of(instruction);
            let (bytes, _) = read_string(words.get(2..)?)?;
            let name = String::from_utf8(bytes).ok().filter(|name| !name.is_empty())?;
            Some((words[1], name))
        })
        .collect()
}

/// Whether an operand is an id that is used, not defined.
pub(crate) fn is_use(operand: &Operand) -> bool {
    matches!(operand.class, Class::Id | Class::ResultType)
}

/// The location of an instruction is that of its first word.
pub(crate) fn at(instruction: &Instruction) -> usize {
    instruction.word
}
