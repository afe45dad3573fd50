//! Directives, and what declarations have beside names and types: the PTX versions and targets that have each, where they
//! may stand, and what stands behind them.

use super::Check;
use super::declarations::OPAQUE;
use super::gate::Gated;
use super::module::NEWEST;
use super::scope::{Entity, Layout};
use crate::ast::{Directive, Function, Module, Operand, OperandKind, Operands, Space, Span};
use crate::literal::{Constant, evaluate};
use crate::types::is_type;
use roundonce_isa::{Finding, Gate, Range, Variants, Version};

/// Where a directive stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// Before the body of a kernel.
    Kernel,
    /// Before that of a function, or in a prototype.
    Function,
    Body,
    Module,
}

impl At {
    const fn text(self) -> &'static str {
        match self {
            At::Kernel => "of a kernel",
            At::Function => "of a function",
            At::Body => "in a body",
            At::Module => "outside functions",
        }
    }
}

/// What stands behind a directive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Integers between two.
    Numbers {
        least: u64,
        most: u64,
    },
    Names,
    Strings,
}

#[derive(Clone, Copy)]
struct Operated {
    least: usize,
    most: usize,
    kind: Kind,
}

struct Row {
    /// With its dot, or as messages name it.
    name: &'static str,
    gate: Gate,
    /// Where it may stand. Nowhere: it is a part of a declaration, or of something else.
    at: &'static [At],
    behind: Operated,
    source: &'static str,
}

const fn since(major: u16, minor: u16, target: u32) -> Gate {
    Gate::since(Version(major, minor), target)
}
const fn within(first: Version, last: Version) -> Gate {
    Gate::of(Range { first, last: Some(last) }, Range::new(0), Variants::All)
}
const fn kernel(name: &'static str, gate: Gate, behind: Operated, source: &'static str) -> Row {
    Row { name, gate, at: &[At::Kernel], behind, source }
}
const fn function(name: &'static str, gate: Gate, behind: Operated, source: &'static str) -> Row {
    Row { name, gate, at: &[At::Function], behind, source }
}
const fn listed(name: &'static str, gate: Gate, at: &'static [At], kind: Kind, source: &'static str) -> Row {
    Row { name, gate, at, behind: Operated { least: 1, most: usize::MAX, kind }, source }
}
const fn part(name: &'static str, gate: Gate, source: &'static str) -> Row {
    Row { name, gate, at: &[], behind: NONE, source }
}

const ANY: Kind = Kind::Numbers { least: 0, most: u32::MAX as u64 };
const POSITIVE: Kind = Kind::Numbers { least: 1, most: u32::MAX as u64 };
const WIDE: Kind = Kind::Numbers { least: 0, most: u64::MAX };
const NONE: Operated = Operated { least: 0, most: 0, kind: ANY };
const ONE: Operated = Operated { least: 1, most: 1, kind: ANY };
const SIZES: Operated = Operated { least: 1, most: 3, kind: ANY };
const ONE_POSITIVE: Operated = Operated { kind: POSITIVE, ..ONE };
const SIZES_POSITIVE: Operated = Operated { kind: POSITIVE, ..SIZES };

const TUNING: &str = "PTX ISA, 11.4 performance-tuning directives";
const CLUSTER: &str = "PTX ISA, 11.7 cluster dimension directives";
const ABI: &str = "PTX ISA, 7 abstracting the ABI";
const LINKING: &str = "PTX ISA, 11.6 linking directives";
const CONTROL: &str = "PTX ISA, 11.3 control flow directives";
const ATTRIBUTE: &str = "PTX ISA, 5.4.8 variable and function attribute directive";
const INITIAL: &str = "PTX ISA, 5.4.4 initializers";
pub(super) const SECTION: &str = "PTX ISA, 11.5.3 .section";
pub(super) const ENTRIES: &str = "PTX ISA, 11.2 specifying kernel entry points and functions";

pub(super) const OPEN_PARAMETER: &str = "an array without a size as a parameter";
const ADDRESS: &str = "an address as an initial value";
const KERNEL: &str = "the address of a kernel as an initial value";
const GENERIC: &str = "`generic()` in an initial value";
const MASK: &str = "a mask in an initial value";
pub(super) const BANK: &str = "a constant bank";
pub(super) const LABELS: &str = "a label in a `.section`";
pub(super) const STAMPED: &str = "the time and the size of a file";
pub(super) const OFFSET: &str = "a sum in a `.section`";
pub(super) const NEGATIVE: &str = "a negative number in a `.section`";
pub(super) const DIFFERENCE: &str = "a difference of labels in a `.section`";

/// As the manual and ptxas 12.9 and 13.5 have them. What they do not agree on is left out: since when `.branchtargets` is
/// there. Of what a `.pragma` asks for ptxas's versions stand here: the manual has shared memory for spills from 9.0 on.
#[rustfmt::skip] // A table.
static ROWS: &[Row] = &[
    kernel(".maxnreg", since(1, 3, 0), ONE_POSITIVE, TUNING),
    kernel(".maxntid", since(1, 3, 0), SIZES_POSITIVE, TUNING),
    kernel(".reqntid", since(2, 1, 0), SIZES_POSITIVE, TUNING),
    kernel(".minnctapersm", since(2, 0, 0), ONE_POSITIVE, TUNING),
    kernel(".maxnctapersm", within(Version(1, 3), Version(2, 0)), ONE_POSITIVE, TUNING),
    kernel(".reqnctapercluster", since(7, 8, 90), SIZES, CLUSTER),
    kernel(".explicitcluster", since(7, 8, 90), NONE, CLUSTER),
    kernel(".maxclusterrank", since(7, 8, 90), ONE, CLUSTER),
    kernel(".blocksareclusters", since(9, 0, 90), NONE, CLUSTER),
    function(".noreturn", since(6, 4, 30), NONE, TUNING),
    function(".abi_preserve", since(9, 0, 80), ONE, ABI),
    function(".abi_preserve_control", since(9, 0, 80), ONE, ABI),
    listed(".pragma", since(2, 0, 0), &[At::Kernel, At::Body, At::Module], Kind::Strings, TUNING),
    part(".pragma \"used_bytes_mask\"", since(8, 3, 0), TUNING),
    part(".pragma \"enable_smem_spilling\"", since(8, 7, 0), TUNING),
    part(".pragma \"frequency\"", since(9, 0, 0), TUNING),
    part(".alias", since(6, 3, 30), ENTRIES),
    part(BANK, within(Version(1, 5), Version(2, 1)), "PTX ISA, 5.1.3 constant state space"),
    listed(".branchtargets", since(1, 0, 0), &[At::Body], Kind::Names, CONTROL),
    listed(".calltargets", since(2, 1, 20), &[At::Body], Kind::Names, CONTROL),
    part(".callprototype", since(2, 1, 20), CONTROL),
    part(".weak", since(3, 1, 20), LINKING),
    part(".common", since(5, 0, 20), LINKING),
    part(".managed", since(4, 0, 30), ATTRIBUTE),
    part(".unified", since(8, 0, 90), ATTRIBUTE),
    part(OPEN_PARAMETER, since(6, 0, 30), ENTRIES),
    part(ADDRESS, since(2, 1, 0), INITIAL),
    part(KERNEL, since(3, 1, 35), INITIAL),
    part(GENERIC, since(3, 1, 0), INITIAL),
    part(MASK, since(7, 1, 0), INITIAL),
    part(LABELS, since(7, 0, 0), SECTION),
    part(".ptr", since(2, 2, 0), "PTX ISA, 5.1.6 parameter state space"),
    part(STAMPED, since(3, 2, 0), "PTX ISA, 11.5 debugging directives"),
    part(OFFSET, since(3, 2, 0), SECTION),
    part(NEGATIVE, since(7, 5, 0), SECTION),
    part(DIFFERENCE, since(7, 5, 0), SECTION),
];

/// What a variable or a function may be said to be, with how many numbers, and whether a function may.
static ATTRIBUTES: &[(&str, usize, bool)] = &[(".managed", 0, false), (".unified", 2, true)];

/// What has an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bearer {
    Variable(Space),
    Function,
    Kernel,
}

impl Kind {
    /// One of them, and several, as messages name them.
    const fn text(self) -> (&'static str, &'static str) {
        match self {
            ANY => ("an integer of 32 bits, not a negative one", "numbers"),
            Kind::Numbers { .. } => ("a positive integer of 32 bits", "numbers"),
            Kind::Names => ("a name, or several like `L<3>`", "names"),
            Kind::Strings => ("a text in quotes", "texts"),
        }
    }

    fn has(self, module: &Module, operand: &Operand) -> bool {
        match (self, operand.kind) {
            // Of expressions the assembler takes none here.
            (Kind::Numbers { least, most }, OperandKind::Number(_) | OperandKind::Name("WARP_SZ")) => {
                let value = evaluate(module, operand).ok().and_then(Constant::natural);
                value.is_some_and(|value| (least..=most).contains(&value))
            }
            (Kind::Names, OperandKind::Name(_) | OperandKind::Range(..)) | (Kind::Strings, OperandKind::Text(_)) => {
                true
            }
            _ => false,
        }
    }
}

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
    pub(super) fn attributes(&mut self, attributes: Operands, of: Bearer) {
        let module = self.module;
        for attribute in module.operands(attributes) {
            let (named, numbers) = match attribute.kind {
                OperandKind::Apply(items) => match module.operands(items) {
                    [first, rest @ ..] => (first, rest),
                    [] => continue,
                },
                _ => (attribute, &[][..]),
            };
            let OperandKind::Dot(name) = named.kind else {
                self.attribute_wrong(attribute, "expected a word like `.managed`");
                continue;
            };
            self.available(name, attribute.span);
            let expected = match (ATTRIBUTES.iter().find(|row| row.0 == name), of) {
                (None, _) => "expected `.managed` or `.unified`",
                (Some((.., false)), Bearer::Function) | (_, Bearer::Kernel) => "expected it of a variable",
                (_, Bearer::Variable(space)) if space != Space::Global => "expected it of a variable in `.global`",
                (Some((_, count, _)), _)
                    if *count != numbers.len() || !numbers.iter().all(|it| WIDE.has(module, it)) =>
                {
                    if *count == 0 {
                        "expected no numbers"
                    } else {
                        "expected two integers"
                    }
                }
                _ => continue,
            };
            self.attribute_wrong(attribute, expected);
        }
    }

    fn attribute_wrong(&mut self, attribute: &Operand, expected: &str) {
        let found = attribute.span.of(self.module.text());
        let message = format!("the attribute `{found}`: {expected}");
        self.report(Finding::error("PTX0017", attribute.span.place(), message).rule(ATTRIBUTE));
    }

    /// A directive: whether there is one of the name, it may stand there, and what stands behind it may.
    pub(super) fn directive(&mut self, directive: &Directive<'a>, at: At) {
        let module = self.module;
        let (name, place) = (directive.name, self.span(directive.name).place());
        self.available(name, self.span(name));
        let Some(row) = find(name).filter(|row| row.at.contains(&at)) else {
            let expected = match find(name) {
                Some(Row { at: [one, ..], .. }) => format!("`{name}` {}: expected it {}", at.text(), one.text()),
                _ => format!("there is no directive `{name}` {}: expected one that PTX has", at.text()),
            };
            // A module newer than this table may well know more.
            let is_newer = self.version.is_some_and(|version| version > NEWEST);
            let finding = if is_newer {
                Finding::note("PTX0034", place, expected)
            } else {
                Finding::error("PTX0034", place, expected)
            };
            return self.report(finding.rule("PTX ISA, 11 directives"));
        };
        let given = module.operands(directive.operands);
        let Operated { least, most, kind } = row.behind;
        let problem = if !(least..=most).contains(&given.len()) {
            let expected = match (least, most) {
                (_, 0) => "none".to_owned(),
                (1, 1) => "one".to_owned(),
                (least, usize::MAX) => format!("at least {least}"),
                (least, most) => format!("{least} to {most}"),
            };
            Some(format!("`{name}` with {} {}: expected {expected}", given.len(), kind.text().1))
        } else {
            let wrong = given.iter().find(|operand| !kind.has(module, operand));
            wrong.map(|operand| format!("`{name} {}`: expected {}", operand.span.of(module.text()), kind.text().0))
        };
        if let Some(message) = problem {
            self.report(Finding::error("PTX0034", place, message).rule(row.source));
        }
    }

    /// A directive of the module that is none of its header.
    pub(super) fn module_directive(&mut self, directive: &Directive<'a>) {
        let name = directive.name;
        if is_type(name) || OPAQUE.contains(&name) {
            let message = format!("a variable of `{name}` without a state space: expected one like `.global`");
            let finding = Finding::error("PTX0017", self.span(name).place(), message);
            return self.report(finding.rule("PTX ISA, 5.1 state spaces"));
        }
        self.directive(directive, At::Module);
    }

    /// A directive in a body. What a list of targets names was declared, and is of its kind.
    pub(super) fn body_directive(&mut self, directive: &Directive<'a>) {
        let name = directive.name;
        self.directive(directive, At::Body);
        let (wanted, what) = match name {
            ".branchtargets" => (Entity::Label, "a label of this function"),
            ".calltargets" => (Entity::Function, "a function"),
            ".pragma" => return self.pragma(directive.operands),
            _ => return,
        };
        for operand in self.module.operands(directive.operands) {
            let found = match operand.kind {
                OperandKind::Name(target) => match self.scopes.find(target) {
                    Some(entity) if entity == wanted => continue,
                    Some(entity) => format!("the {} `{target}`", entity.noun()),
                    None => {
                        self.undeclared(target, operand.span);
                        continue;
                    }
                },
                OperandKind::Range(prefix, count) => match self.wrong_target((prefix, count), wanted) {
                    Some(found) => found,
                    None => continue,
                },
                _ => continue,
            };
            let message = format!("{found} in `{name}`: expected {what}");
            self.report(Finding::error("PTX0030", operand.span.place(), message).rule(CONTROL));
        }
    }

    /// The first of a range of targets that is of another kind, or nothing. No more are looked up in a module than it has
    /// bytes: lists that repeat a long range would take too long.
    fn wrong_target(&mut self, (prefix, count): (&str, u32), wanted: Entity) -> Option<String> {
        for number in 0..count {
            let Some(left) = self.targets_left.checked_sub(1) else {
                self.unchecked += 1;
                return None;
            };
            self.targets_left = left;
            let target = format!("{prefix}{number}");
            match self.scopes.find(&target) {
                Some(entity) if entity == wanted => {}
                Some(entity) => return Some(format!("the {} `{target}`", entity.noun())),
                None => return Some(format!("`{target}`, which is not declared,")),
            }
        }
        None
    }

    /// A directive that instructions name by its label, and that has none.
    pub(super) fn unlabelled(&mut self, name: &str, span: Span) {
        let message = format!("`{name}` without a label: expected one before it");
        self.report(Finding::error("PTX0034", span.place(), message).rule(CONTROL));
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
