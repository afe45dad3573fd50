//! The rules that the assembler keeps for a module and for the multiply-add family, as findings.
//!
//! Opcodes and forms come from the one table (`opcodes`): what is required, allowed and gated is read off the rows.
//! What only the assembler's behaviour shows stands in the constants beside the code that needs them.
//!
//! Instructions outside the family are checked by their [signatures](crate::signatures), those of matrices and of tensor
//! memory by the rows in `matrix::accepted` and `matrix::tensor_memory`. What this is not: of an opcode without any
//! (bulk copies, asynchronous barriers) the gate of the opcode and of its form, the guard and the names are
//! checked, and neither modifiers nor operands otherwise; [`Report::unchecked`] counts them.

mod addresses;
mod alias;
mod call;
mod codes;
mod conversions;
mod debug;
mod declarations;
mod determinacy;
mod directives;
mod family;
mod gate;
mod images;
mod integer_mad;
mod matrix;
mod module;
mod names;
mod operands;
mod places;
mod scope;
mod signature;

pub use codes::RULES;
pub use determinacy::{Contraction, contractions};
pub use module::{first_version, is_version, no_version, targets};
pub(crate) use names::{is_special, special_lanes};
pub(crate) use signature::plain as plain_modifiers;

use crate::ast::{Function, Instruction, Module, Operand, OperandKind, Operands, Space, Span, Statement, Variable};
use crate::conversions::is_conversion;
use crate::opcodes::{self, Lowering};
use crate::parser::parse;
use crate::scopes::{Map, Scopes, labels_by_scope};
use declarations::Scope;
use gate::Gated;
use roundonce_isa::{Finding, Form, Location, SmTarget, Version};
use scope::{Entity, Holds, Layout, Names};
use signature::BySignature;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What to check beyond the rules.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// List every place where the bits are not determined by the module: an unmodified `mul` whose result an unmodified
    /// `add` or `sub` takes, which the assembler may fuse, and what the manual leaves to the machine.
    pub determinacy: bool,
}

/// Parses a text and checks it: everything found, in the order of the text.
///
/// ```
/// use roundonce_ptx::{Options, check_text};
/// let text = ".version 3.2\n.target sm_20\n.entry k () { .reg .f32 f<4>; mad.f32 f0, f1, f2, f3; exit; }";
/// let findings = check_text(text, &Options::default());
/// assert_eq!(findings[0].code, "PTX0022");
/// let fixed = roundonce_isa::apply_fixes(text, &findings);
/// assert!(fixed.contains("mad.rn.f32 f0"));
/// assert!(check_text(&fixed, &Options::default()).is_empty());
/// ```
pub fn check_text(text: &str, options: &Options) -> Vec<Finding> {
    report_text(text, options).findings
}

/// Checks a module that was parsed: everything found, in the order of the text.
pub fn check(module: &Module, options: &Options) -> Vec<Finding> {
    report(module, options).findings
}

/// What was found in a module, and how much of it was not looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// In the order of the text.
    pub findings: Vec<Finding>,
    /// Instructions whose opcode, gates, guard and names were checked, and neither modifiers nor operands otherwise.
    pub unchecked: usize,
}

/// As [`check_text`], with what was not checked.
pub fn report_text(text: &str, options: &Options) -> Report {
    let parsed = parse(text);
    let mut report = report(&parsed.module, options);
    report.findings.extend(parsed.findings);
    sort(&mut report.findings);
    report
}

fn report(module: &Module, options: &Options) -> Report {
    let mut functions: HashMap<&str, Vec<&Function>> = HashMap::new();
    for function in module.functions() {
        functions.entry(function.name).or_default().push(function);
    }
    let mut check = Check {
        module,
        functions,
        version: module.version(),
        target: module.target(),
        address_size: module.address_size(),
        scopes: Names::new(),
        defined: HashSet::new(),
        globals: Map::default(),
        files: HashSet::new(),
        labels: HashSet::new(),
        lines: HashSet::new(),
        inlined: Vec::new(),
        undeclared: HashSet::new(),
        described: Scopes::default(),
        in_kernel: false,
        cta_group: None,
        targets_left: module.text().len(),
        unchecked: 0,
        right: Map::default(),
        findings: Vec::new(),
    };
    check.header();
    for item in &module.items {
        check.item(item);
    }
    check.inlined_names();
    if options.determinacy {
        check.findings.extend(determinacy::open_places(module));
    }
    sort(&mut check.findings);
    Report { findings: check.findings, unchecked: check.unchecked }
}

fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| match finding.location {
        Location::Span { start, end } => (start, end),
        Location::Word(word) => (word, word),
        Location::Whole => (0, 0),
    });
}

const INSTRUCTIONS: &str = "PTX ISA, 9.7 instructions";

struct Check<'m, 'a> {
    module: &'m Module<'a>,
    /// The declarations of each function, in order.
    functions: HashMap<&'a str, Vec<&'m Function<'a>>>,
    version: Option<Version>,
    target: Option<SmTarget>,
    address_size: u32,
    scopes: Names<'a>,
    /// Functions that have had their bodies.
    defined: HashSet<&'a str>,
    /// Variables of the module, and whether they have been defined: what is `.extern` is not.
    globals: Map<&'a str, bool>,
    /// The indices that a `.file` gave.
    files: HashSet<u64>,
    /// Sections, and their labels.
    labels: HashSet<&'a str>,
    /// Files, lines and columns of `.loc`.
    lines: HashSet<[u32; 3]>,
    /// Where the names of inlined functions stand, by the `.loc` that says so.
    inlined: Vec<(&'a str, Span)>,
    /// Names of the function at hand that were reported as declared nowhere: once each.
    undeclared: HashSet<&'a str>,
    /// The prototypes and lists of targets of the function at hand so far, by their labels.
    described: Scopes<'a, Described<'m, 'a>, ()>,
    /// Whether the function at hand is a kernel.
    in_kernel: bool,
    /// The `.cta_group` of the first instruction of tensor memory in the function at hand.
    cta_group: Option<&'a str>,
    /// How many targets of ranges may still be looked up.
    targets_left: usize,
    /// Instructions whose types, modifiers and operands no rule here looks at.
    unchecked: usize,
    /// By the text of an opcode with its modifiers, and the number of operands: instructions whose spelling is right. Modules
    /// repeat few of them many times.
    right: Map<(&'a str, u32), Spelled<'a>>,
    findings: Vec<Finding>,
}

/// What a label stands before.
enum Described<'m, 'a> {
    Prototype(&'m Function<'a>),
    /// `.calltargets`
    Calls,
    /// `.branchtargets`
    Jumps,
}

/// What an instruction's operands are checked by.
#[derive(Clone)]
enum Spelled<'a> {
    Form(&'static Form),
    Signature(Rc<BySignature<'a>>),
}

/// What the rules of an instruction's opcode and modifiers say.
enum Outcome<'a> {
    /// Nothing: they are not about it.
    Unknown,
    /// All that there is to report has been.
    Done,
    /// Whatever has been reported, the operands are left.
    Operands(Spelled<'a>),
}

impl<'m, 'a> Check<'m, 'a> {
    fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// The span of a part of the text.
    fn span(&self, part: &str) -> Span {
        self.module.span_of(part).unwrap_or_default()
    }

    fn function(&mut self, function: &'m Function<'a>) {
        // A function may be declared any number of times, but not after its body.
        self.scopes.declare(function.name, Entity::Function);
        self.identifier(function.name, false);
        self.header_of(function, false);
        let module = self.module;
        for list in [function.returns, function.parameters] {
            for variable in module.variables(list) {
                self.identifier(variable.name, function.is_entry);
            }
        }
        if self.defined.contains(function.name) || self.globals.contains_key(function.name) {
            let span = self.span(function.name);
            self.duplicate(function.name, span);
        } else if function.body.is_some() {
            self.defined.insert(function.name);
        }
        self.declared_before(function);
        let Some(body) = &function.body else { return };
        self.narrow_values(function, None);
        self.undeclared.clear();
        self.described.enter();
        self.in_kernel = function.is_entry;
        self.cta_group = None;
        self.scopes.enter();
        for (list, holds) in [(function.returns, Holds::Result), (function.parameters, Holds::Argument)] {
            for variable in module.variables(list) {
                self.declare_variable(variable);
                if variable.space == Space::Param {
                    let layout = Layout::of(module, variable);
                    self.scopes.declare(variable.name, Entity::Variable(Space::Param, holds, layout));
                }
            }
        }
        // A label may be used before it stands.
        let mut labels = labels_by_scope(body).into_iter();
        self.labels(body, labels.next());
        for (index, statement) in body.iter().enumerate() {
            let label = match index.checked_sub(1).map(|before| &body[before]) {
                Some(Statement::Label(label)) => Some(*label),
                _ => None,
            };
            match statement {
                Statement::Open(_) => {
                    self.scopes.enter();
                    self.described.enter();
                    self.labels(body, labels.next());
                }
                Statement::Close(_) => {
                    self.scopes.leave();
                    self.described.leave();
                }
                Statement::Variables(list) => {
                    for variable in module.variables(*list) {
                        self.identifier(variable.name, false);
                        self.declaration(variable, Scope::Body);
                        self.declare_variable(variable);
                    }
                }
                Statement::Instruction(instruction) => self.instruction(instruction),
                Statement::Directive(directive) => {
                    match label {
                        Some(label) if directive.name == ".calltargets" => {
                            self.described.declare(label, Described::Calls);
                        }
                        Some(label) if directive.is_target_list() => self.described.declare(label, Described::Jumps),
                        None if directive.is_target_list() => self.unlabelled(directive.name, directive.span),
                        _ => {}
                    }
                    self.body_directive(directive);
                }
                Statement::Section(section) => self.section_in_body(section),
                Statement::Line(line) => self.line(line),
                Statement::Prototype(prototype) => {
                    match label {
                        Some(label) => self.described.declare(label, Described::Prototype(prototype)),
                        None => self.unlabelled(".callprototype", prototype.span),
                    }
                    self.available(".callprototype", prototype.span);
                    self.header_of(prototype, true);
                }
                _ => {}
            }
        }
        self.scopes.leave();
        self.described.leave();
    }

    /// What stands before the body of a function, or in a prototype, but for names.
    fn header_of(&mut self, function: &Function<'a>, is_prototype: bool) {
        self.directives(function);
        let module = self.module;
        for variable in module.variables(function.returns) {
            self.declaration(variable, Scope::Returns);
        }
        let parameters = module.variables(function.parameters);
        for (index, variable) in parameters.iter().enumerate() {
            let is_last = index + 1 == parameters.len();
            let scope = match function.is_entry {
                true => Scope::Kernel,
                false if is_prototype => Scope::Prototype(is_last),
                false => Scope::Function(is_last),
            };
            self.declaration(variable, scope);
        }
    }

    fn labels(&mut self, body: &[Statement<'a>], places: Option<Vec<usize>>) {
        for place in places.unwrap_or_default() {
            let Statement::Label(name) = body[place] else { continue };
            self.identifier(name, false);
            if self.scopes.declare(name, Entity::Label) {
                let span = self.span(name);
                self.duplicate(name, span);
            }
        }
    }

    fn duplicate(&mut self, name: &str, span: Span) {
        self.report(
            Finding::error(
                "PTX0016",
                span.place(),
                format!("`{name}` is declared a second time in its scope: expected a new name"),
            )
            .rule("PTX ISA, 5.4 variables")
            .help("rename one of the two, or put it into a block of its own"),
        );
    }

    fn declare_variable(&mut self, variable: &Variable<'a>) {
        if variable.name == "_" {
            return;
        }
        if self.scopes.declare_variable(self.module, variable) {
            let span = self.span(variable.name);
            self.duplicate(variable.name, span);
        }
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) {
        let module = self.module;
        if let Some(guard) = instruction.guard(module) {
            self.guard(guard.predicate);
        }
        if instruction.opcode == "brx" {
            self.indexed_branch(instruction);
        }
        let key = instruction.spelled(module).map(|text| (text, instruction.operands.len));
        if let Some(spelled) = key.and_then(|key| self.right.get(&key)).cloned() {
            return self.operands_by(instruction, &spelled);
        }
        let before = self.findings.len();
        if let Some(spelled) = self.spelling(instruction) {
            if let Some(key) = key.filter(|_| self.findings.len() == before) {
                self.right.insert(key, spelled.clone());
            }
            self.operands_by(instruction, &spelled);
        }
    }

    fn operands_by(&mut self, instruction: &Instruction<'a>, spelled: &Spelled<'a>) {
        match spelled {
            Spelled::Form(form) => self.operands_of(instruction, form),
            Spelled::Signature(found) => self.by_places(instruction, found),
        }
    }

    /// Checks an opcode and its modifiers, and the operands too unless it gives what they are checked by.
    fn spelling(&mut self, instruction: &Instruction<'a>) -> Option<Spelled<'a>> {
        let module = self.module;
        let Some(opcode) = opcodes::find(instruction.opcode) else {
            self.unknown_opcode(instruction);
            return None;
        };
        if !opcode.forms.is_empty() {
            match self.family(instruction, opcode) {
                Outcome::Unknown => {}
                Outcome::Done => return None,
                Outcome::Operands(spelled) => return Some(spelled),
            }
        }
        if !self.passes(&opcode.gate, self.target) {
            let (span, name) = (self.span(instruction.opcode), format!("`{}`", opcode.name));
            let gated = Gated { span, name, gate: &opcode.gate, source: INSTRUCTIONS, note: "" };
            self.report_gate(&gated, self.target);
        }
        let written = module.modifiers(instruction.modifiers);
        let is_checked = if opcode.name == "cvt" && is_conversion(written) {
            self.conversion(instruction)
        } else if integer_mad::has_rows(opcode.name) {
            opcode.forms.is_empty() && self.integer_family(instruction)
        } else if opcode.lowering == Lowering::Call {
            self.unchecked += usize::from(!self.call(instruction));
            true
        } else {
            match self.by_signature(instruction) {
                Outcome::Operands(spelled) => return Some(spelled),
                Outcome::Done => false,
                Outcome::Unknown => {
                    self.form_without_row(instruction);
                    self.one_space(instruction);
                    let is_known = self.by_matrix_rows(instruction);
                    self.unchecked += usize::from(!is_known);
                    is_known
                }
            }
        };
        if !is_checked {
            self.declared(instruction.operands);
        }
        None
    }

    fn unknown_opcode(&mut self, instruction: &Instruction) {
        let opcode = instruction.opcode;
        let place = self.span(opcode).place();
        let message = format!("there is no instruction `{opcode}`: expected one that PTX has");
        // A module newer than this table may well know more.
        let finding = if self.version.is_some_and(|version| version > module::NEWEST) {
            Finding::note("PTX0020", place, format!("{message} up to {}", module::NEWEST))
        } else {
            Finding::error("PTX0020", place, message)
        };
        let finding = match opcodes::nearest(opcode) {
            Some(nearest) => finding.help(format!("did you mean `{nearest}`? Opcodes and modifiers are lower case")),
            None => finding,
        };
        self.report(finding.rule(INSTRUCTIONS));
    }

    fn guard(&mut self, predicate: &Operand<'a>) {
        let problem = match predicate.kind {
            OperandKind::Name(name) => match self.scopes.find(name) {
                Some(Entity::Register { ty: ".pred", lanes: 1 }) => return,
                Some(Entity::Register { ty, .. }) => format!("`{name}` is a `{ty}` register"),
                Some(entity) => format!("`{name}` is a {}", entity.noun()),
                None if !self.undeclared.insert(name) => return,
                None => format!("`{name}` is not declared"),
            },
            _ => format!("found `{}`", predicate.span.of(self.module.text())),
        };
        self.report(
            Finding::error(
                "PTX0032",
                predicate.span.place(),
                format!("{problem}: a guard is expected to be a `.pred` register"),
            )
            .rule("PTX ISA, 9.3 predicated execution")
            .help("declare it: `.reg .pred p;`"),
        );
    }

    /// Reports names that nothing declares.
    fn declared(&mut self, operands: Operands) {
        for operand in self.module.operands(operands) {
            self.declared_in(operand);
        }
    }

    /// The same of one operand.
    fn declared_in(&mut self, operand: &Operand<'a>) {
        let module = self.module;
        match operand.kind {
            OperandKind::Name(name) | OperandKind::Component(name, _) | OperandKind::Selected(name, _) => {
                self.declared_name(name, operand.span);
            }
            OperandKind::Address(items)
            | OperandKind::Vector(items)
            | OperandKind::List(items)
            | OperandKind::Pair(items)
            | OperandKind::Index(items)
            | OperandKind::Apply(items)
            | OperandKind::Binary(_, items) => self.declared(items),
            OperandKind::Unary(_, inner) | OperandKind::Group(inner) | OperandKind::Cast(_, inner) => {
                if let OperandKind::Name(name) = module.operand(inner).kind {
                    self.declared_name(name, operand.span);
                }
            }
            _ => {}
        }
    }

    fn declared_name(&mut self, name: &'a str, span: Span) {
        match self.scopes.find(name) {
            None if is_special(name) => self.special(name, span),
            None if name != "WARP_SZ" => self.undeclared(name, span),
            _ => {}
        }
    }

    fn undeclared(&mut self, name: &'a str, span: Span) {
        if !self.undeclared.insert(name) {
            return;
        }
        let ty = if name.starts_with("%f") { ".f32" } else { ".b32" };
        self.report(
            Finding::error(
                "PTX0031",
                span.place(),
                format!("`{name}` is not declared: expected a register, variable, label or function declared before"),
            )
            .rule("PTX ISA, 5.1.1 register state space")
            .help(format!("a register is declared like `.reg {ty} {name};`")),
        );
    }
}
