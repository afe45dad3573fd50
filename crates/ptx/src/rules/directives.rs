//! Directives, and what declarations have beside names and types: the first PTX version and target that have each, which
//! functions they are of, and which numbers stand behind them.

use super::Check;
use super::gate::Gated;
use super::scope::{Entity, Layout};
use crate::ast::{Directive, Function, Operand, OperandKind, Operands, Section, Space, Span};
use crate::lexer::{Lexer, TokenKind};
use crate::literal::{Constant, evaluate};
use crate::types::is_type;
use roundonce_isa::{Finding, Gate, Version};

/// What a directive is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Kernel,
    Function,
    /// Anything else.
    Module,
}

/// The numbers behind a directive.
#[derive(Clone, Copy)]
struct Numbers {
    least: usize,
    most: usize,
    /// Whether 0 is none of them.
    positive: bool,
}

struct Row {
    /// With its dot, or as messages name it.
    name: &'static str,
    gate: Gate,
    of: Of,
    /// `None`: they are not looked at.
    numbers: Option<Numbers>,
    source: &'static str,
}

const fn since(major: u16, minor: u16, target: u32) -> Gate {
    Gate::since(Version(major, minor), target)
}
const fn kernel(name: &'static str, gate: Gate, numbers: Numbers, source: &'static str) -> Row {
    Row { name, gate, of: Of::Kernel, numbers: Some(numbers), source }
}
const fn function(name: &'static str, gate: Gate, numbers: Numbers, source: &'static str) -> Row {
    Row { name, gate, of: Of::Function, numbers: Some(numbers), source }
}
const fn other(name: &'static str, gate: Gate, source: &'static str) -> Row {
    Row { name, gate, of: Of::Module, numbers: None, source }
}

const NONE: Numbers = Numbers { least: 0, most: 0, positive: false };
const ONE: Numbers = Numbers { least: 1, most: 1, positive: false };
const SIZES: Numbers = Numbers { least: 1, most: 3, positive: false };
const ONE_POSITIVE: Numbers = Numbers { positive: true, ..ONE };
const SIZES_POSITIVE: Numbers = Numbers { positive: true, ..SIZES };

const TUNING: &str = "PTX ISA, 11.4 performance-tuning directives";
const CLUSTER: &str = "PTX ISA, 11.7 cluster dimension directives";
const ABI: &str = "PTX ISA, 7 abstracting the ABI";
const LINKING: &str = "PTX ISA, 11.6 linking directives";
const CONTROL: &str = "PTX ISA, 11.3 control flow directives";
const ATTRIBUTES: &str = "PTX ISA, 5.4.8 variable and function attribute directive";
const INITIAL: &str = "PTX ISA, 5.4.4 initializers";
const ENTRIES: &str = "PTX ISA, 11.2 specifying kernel entry points and functions";

pub(super) const OPEN_PARAMETER: &str = "an array without a size as a parameter";
const ADDRESS: &str = "an address as an initial value";
const KERNEL: &str = "the address of a kernel as an initial value";
const GENERIC: &str = "`generic()` in an initial value";
const MASK: &str = "a mask in an initial value";
const LABELS: &str = "a label in a `.section`";

/// As the manual and ptxas 12.9 and 13.5 have them. What they do not agree on is left out: since when `.branchtargets` is
/// there. Of what a `.pragma` asks for ptxas's versions stand here: the manual has shared memory for spills from 9.0 on.
#[rustfmt::skip] // A table.
static ROWS: &[Row] = &[
    kernel(".maxnreg", since(1, 3, 0), ONE_POSITIVE, TUNING),
    kernel(".maxntid", since(1, 3, 0), SIZES_POSITIVE, TUNING),
    kernel(".reqntid", since(2, 1, 0), SIZES_POSITIVE, TUNING),
    kernel(".minnctapersm", since(2, 0, 0), ONE_POSITIVE, TUNING),
    kernel(".maxnctapersm", since(1, 3, 0), ONE_POSITIVE, TUNING),
    kernel(".reqnctapercluster", since(7, 8, 90), SIZES, CLUSTER),
    kernel(".explicitcluster", since(7, 8, 90), NONE, CLUSTER),
    kernel(".maxclusterrank", since(7, 8, 90), ONE, CLUSTER),
    kernel(".blocksareclusters", since(9, 0, 90), NONE, CLUSTER),
    function(".noreturn", since(6, 4, 30), NONE, TUNING),
    function(".abi_preserve", since(9, 0, 80), ONE, ABI),
    function(".abi_preserve_control", since(9, 0, 80), ONE, ABI),
    other(".pragma", since(2, 0, 0), TUNING),
    other(".pragma \"used_bytes_mask\"", since(8, 3, 0), TUNING),
    other(".pragma \"enable_smem_spilling\"", since(8, 7, 0), TUNING),
    other(".pragma \"frequency\"", since(9, 0, 0), TUNING),
    other(".alias", since(6, 3, 30), ENTRIES),
    other(".calltargets", since(2, 1, 20), CONTROL),
    other(".callprototype", since(2, 1, 20), CONTROL),
    other(".weak", since(3, 1, 20), LINKING),
    other(".common", since(5, 0, 20), LINKING),
    other(".managed", since(4, 0, 30), ATTRIBUTES),
    other(".unified", since(8, 0, 90), ATTRIBUTES),
    other(OPEN_PARAMETER, since(6, 0, 30), ENTRIES),
    other(ADDRESS, since(2, 1, 0), INITIAL),
    other(KERNEL, since(3, 1, 35), INITIAL),
    other(GENERIC, since(3, 1, 0), INITIAL),
    other(MASK, since(7, 1, 0), INITIAL),
    other(LABELS, since(7, 0, 0), "PTX ISA, 11.5.3 .section"),
];

fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// How many bytes of parameters a kernel may have, and from which version and target on it may have more.
const PARAMETER_BYTES: u64 = 4352;
const MORE_PARAMETER_BYTES: u64 = 32764;
const MORE_PARAMETERS: Gate = since(8, 1, 70);

impl<'a> Check<'_, 'a> {
    /// That the version and the target of the module have what has a row; of anything else nothing is said.
    pub(super) fn available(&mut self, name: &str, span: Span) {
        let Some(row) = find(name) else { return };
        if !self.passes(&row.gate, self.target) {
            let name = if name.starts_with('.') { format!("`{name}`") } else { name.to_owned() };
            let gated = Gated { span, name, gate: &row.gate, source: row.source, note: "" };
            self.report_gate(&gated, self.target);
        }
    }

    /// `.attribute(.managed, .unified(1, 2))`
    pub(super) fn attributes(&mut self, attributes: Operands) {
        let module = self.module;
        for attribute in module.operands(attributes) {
            let named = match attribute.kind {
                OperandKind::Apply(items) => module.operands(items).first(),
                _ => Some(attribute),
            };
            if let Some(Operand { kind: OperandKind::Dot(name), .. }) = named {
                self.available(name, attribute.span);
            }
        }
    }

    /// One directive of a function: whether it is there, is of such a function, and has its numbers.
    pub(super) fn function_directive(&mut self, directive: &Directive<'a>, of: &Function<'a>) {
        let module = self.module;
        let name = directive.name;
        self.available(name, self.span(name));
        let Some(row) = find(name) else { return };
        let (given, is_entry) = (module.operands(directive.operands), of.is_entry);
        let problem = match (row.of, row.numbers) {
            (Of::Kernel, _) if !is_entry => Some(format!("`{name}` of a function: expected it of a kernel")),
            (Of::Function, _) if is_entry => Some(format!("`{name}` of a kernel: expected it of a function")),
            (_, Some(numbers)) if !(numbers.least..=numbers.most).contains(&given.len()) => {
                let expected = match (numbers.least, numbers.most) {
                    (_, 0) => "none".to_owned(),
                    (1, 1) => "one".to_owned(),
                    (least, most) => format!("{least} to {most}"),
                };
                Some(format!("`{name}` with {} numbers: expected {expected}", given.len()))
            }
            (_, Some(numbers)) => {
                let is_right = |number: &Operand| match evaluate(module, number) {
                    Ok(Constant::Signed(value)) => value >= i64::from(numbers.positive),
                    Ok(Constant::Unsigned(value)) => value >= u64::from(numbers.positive),
                    _ => false,
                };
                let wrong = given.iter().find(|number| !is_right(number));
                let kind = if numbers.positive { "a positive integer" } else { "an integer, not a negative one" };
                wrong.map(|number| format!("`{name} {}`: expected {kind}", number.span.of(module.text())))
            }
            _ => None,
        };
        if let Some(message) = problem {
            self.report(Finding::error("PTX0034", self.span(name).place(), message).rule(row.source));
        }
    }

    /// A directive of the module that is none of its header.
    pub(super) fn module_directive(&mut self, directive: &Directive<'a>) {
        let name = directive.name;
        self.available(name, self.span(name));
        if is_type(name) || matches!(name, ".texref" | ".samplerref" | ".surfref") {
            let message = format!("a variable of `{name}` without a state space: expected one like `.global`");
            let finding = Finding::error("PTX0017", self.span(name).place(), message);
            self.report(finding.rule("PTX ISA, 5.1 state spaces"));
        }
    }

    /// A directive in a body. What a list of targets names was declared, and is of its kind.
    pub(super) fn body_directive(&mut self, directive: &Directive<'a>) {
        let name = directive.name;
        self.available(name, self.span(name));
        let (wanted, what) = match name {
            ".branchtargets" => (Entity::Label, "a label of this function"),
            ".calltargets" => (Entity::Function, "a function"),
            ".pragma" => return self.pragma(directive.operands),
            _ => return,
        };
        for operand in self.module.operands(directive.operands) {
            let Some(target) = operand.name() else { continue };
            match self.scopes.find(target) {
                Some(entity) if entity == wanted => {}
                Some(entity) => {
                    let message = format!("the {} `{target}` in `{name}`: expected {what}", entity.noun());
                    self.report(Finding::error("PTX0030", operand.span.place(), message).rule(CONTROL));
                }
                None => self.undeclared(target, operand.span),
            }
        }
    }

    /// What a `.pragma` in a body asks for, by the first word of each string.
    fn pragma(&mut self, strings: Operands) {
        let module = self.module;
        for string in module.operands(strings) {
            let OperandKind::Text(text) = string.kind else { continue };
            let word = text.split_whitespace().next().unwrap_or_default();
            self.available(&format!(".pragma \"{word}\""), string.span);
        }
    }

    pub(super) fn section(&mut self, section: &Section<'a>) {
        let mut lexer = Lexer::new(section.body);
        loop {
            let token = lexer.next();
            if token.is(b':') {
                return self.available(LABELS, self.span(section.name));
            }
            if token.kind == TokenKind::End {
                return;
            }
        }
    }

    /// The names of an initial value.
    pub(super) fn initial_names(&mut self, value: &Operand<'a>) {
        let module = self.module;
        match value.kind {
            OperandKind::Name(name) if name != "WARP_SZ" => {
                let is_kernel = self.functions.get(name).is_some_and(|found| found.iter().any(|it| it.is_entry));
                self.available(if is_kernel { KERNEL } else { ADDRESS }, value.span);
            }
            OperandKind::Apply(items) => {
                let Some((applied, rest)) = module.operands(items).split_first() else { return };
                let is_mask = matches!(applied.kind, OperandKind::Number(_));
                self.available(if is_mask { MASK } else { GENERIC }, value.span);
                for item in rest {
                    self.initial_names(item);
                }
            }
            OperandKind::Binary(_, items) => {
                for item in module.operands(items) {
                    self.initial_names(item);
                }
            }
            OperandKind::Group(inner) | OperandKind::Unary(_, inner) | OperandKind::Cast(_, inner) => {
                self.initial_names(module.operand(inner));
            }
            _ => {}
        }
    }

    /// That what is declared has a name which may be declared. `_` is one where `blank`.
    pub(super) fn identifier(&mut self, name: &str, blank: bool) {
        let message = match name {
            "_" if blank => return,
            "_" | "$" | "%" => format!("`{name}` as a name: expected a letter, a digit, `_` or `$` behind it"),
            "WARP_SZ" => "`WARP_SZ` is predefined: expected another name".to_owned(),
            _ => return,
        };
        let finding = Finding::error("PTX0001", self.span(name).place(), message);
        self.report(finding.rule("PTX ISA, 4.4 identifiers"));
    }

    /// Several results are in registers.
    pub(super) fn results(&mut self, function: &Function<'a>) {
        let results = self.module.variables(function.returns);
        let in_memory = results.iter().find(|it| it.space == Space::Param);
        if let Some(variable) = in_memory.filter(|_| results.len() > 1) {
            let name = variable.name;
            let message = format!("the result `{name}` in `.param` beside others: expected several in `.reg`");
            self.report(Finding::error("PTX0017", self.span(name).place(), message).rule("PTX ISA, 5.1 state spaces"));
        }
    }

    /// That the parameters of a kernel are not too large. Those of opaque types do not count.
    pub(super) fn parameter_space(&mut self, function: &Function<'a>) {
        let module = self.module;
        let mut bytes = 0_u64;
        for variable in module.variables(function.parameters) {
            let layout = Layout::of(module, variable);
            let Some(ty) = layout.register() else { continue };
            let size = u64::from(ty.bytes()).saturating_mul(layout.elements.unwrap_or(1));
            let alignment = u64::from(layout.alignment()).max(1);
            bytes = bytes.div_ceil(alignment).saturating_mul(alignment).saturating_add(size);
        }
        let most = if self.passes(&MORE_PARAMETERS, self.target) { MORE_PARAMETER_BYTES } else { PARAMETER_BYTES };
        if bytes > most {
            let name = function.name;
            let message = format!("`{name}` has {bytes} bytes of parameters: expected at most {most}");
            let finding = Finding::error("PTX0035", self.span(name).place(), message).rule("PTX ISA, 11.2.1 .entry");
            let more = format!("from PTX {} and sm_70 on {MORE_PARAMETER_BYTES}", MORE_PARAMETERS.version.first);
            self.report(if most == PARAMETER_BYTES { finding.help(more) } else { finding });
        }
    }
}
