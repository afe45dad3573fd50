//! Rules about the module as a whole: version, target, types of declarations.

use super::Check;
use super::debug::LINES;
use super::declarations::Scope;
use crate::ast::{Item, Operand, Space, Variable, WIDE_ADDRESSES};
use crate::types::Type;
use roundonce_isa::{Finding, SmTarget, Version};

/// The newest PTX whose opcodes, targets and versions these tables hold.
pub(super) const NEWEST: Version = Version(9, 5);

/// The last minor version of each major one.
static LAST_MINOR: &[Version] = &[
    Version(1, 5),
    Version(2, 3),
    Version(3, 2),
    Version(4, 3),
    Version(5, 1),
    Version(6, 5),
    Version(7, 8),
    Version(8, 8),
    Version(9, 5),
];

/// Whether there is such a PTX, and its opcodes are known here.
pub fn is_version(version: Version) -> bool {
    LAST_MINOR.iter().any(|last| version.0 == last.0 && version.1 <= last.1)
}

/// What is wrong with a version that is none.
pub fn no_version(version: Version) -> String {
    if version < NEWEST {
        format!("there is no PTX {version}: expected a version from 1.0 to {NEWEST}")
    } else {
        format!("PTX {version} is newer than what is checked here: expected at most {NEWEST}")
    }
}

/// Every target and the first PTX that has it. As the assembler accepts them; the document's own table leaves out
/// sm_21 and names sm_110 where older documents say sm_101.
#[rustfmt::skip] // A table.
static TARGETS: &[(&str, Version)] = &[
    ("10", Version(1, 0)), ("11", Version(1, 0)), ("12", Version(1, 2)), ("13", Version(1, 2)),
    ("20", Version(2, 0)), ("21", Version(2, 0)),
    ("30", Version(3, 0)), ("32", Version(4, 0)), ("35", Version(3, 1)), ("37", Version(4, 1)),
    ("50", Version(4, 0)), ("52", Version(4, 1)), ("53", Version(4, 2)),
    ("60", Version(5, 0)), ("61", Version(5, 0)), ("62", Version(5, 0)),
    ("70", Version(5, 1)), ("72", Version(6, 1)), ("75", Version(6, 3)),
    ("80", Version(7, 0)), ("86", Version(7, 1)), ("87", Version(7, 4)), ("88", Version(9, 0)), ("89", Version(7, 8)),
    ("90", Version(7, 8)), ("90a", Version(8, 0)),
    ("100", Version(8, 6)), ("100a", Version(8, 6)), ("100f", Version(8, 8)),
    ("101", Version(8, 6)), ("101a", Version(8, 6)), ("101f", Version(8, 8)),
    ("103", Version(8, 8)), ("103a", Version(8, 8)), ("103f", Version(8, 8)),
    ("107", Version(9, 4)), ("107a", Version(9, 4)), ("107f", Version(9, 4)),
    ("110", Version(9, 0)), ("110a", Version(9, 0)), ("110f", Version(9, 0)),
    ("120", Version(8, 7)), ("120a", Version(8, 7)), ("120f", Version(8, 8)),
    ("121", Version(8, 8)), ("121a", Version(8, 8)), ("121f", Version(8, 8)),
];

/// The name of every target: `sm_90a`.
pub fn targets() -> impl Iterator<Item = String> {
    TARGETS.iter().map(|(name, _)| format!("sm_{name}"))
}

/// The first PTX that has a target; `None` if no PTX has it.
///
/// ```
/// use roundonce_isa::Version;
/// assert_eq!(roundonce_ptx::first_version("sm_90a".parse().unwrap()), Some(Version(8, 0)));
/// assert_eq!(roundonce_ptx::first_version(33.into()), None);
/// ```
pub fn first_version(target: SmTarget) -> Option<Version> {
    let name = target.to_string();
    TARGETS.iter().find(|(number, _)| name.strip_prefix("sm_") == Some(number)).map(|(_, first)| *first)
}

/// Targets that end: the last assembler that has them, 12.9, reads up to this PTX. Later ones read a module that names
/// them, but only for another GPU.
static ENDED: &[&str] = &["50", "52", "53", "60", "61", "62", "70", "72", "101", "101a", "101f"];
const ENDED_AFTER: Version = Version(8, 8);

/// What a `.target` may say beside an architecture.
static TARGET_OPTIONS: &[&str] = &["texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"];

/// The first version with `debug` in `.target`.
const DEBUG_VERSION: Version = Version(3, 0);

/// The first target with f64 in hardware: from it on, `map_f64_to_f32` is an error.
const F64_TARGET: u32 = 13;

/// The first version and the first target with `.b128`.
const WIDEST_VERSION: Version = Version(8, 3);
const WIDEST_TARGET: u32 = 70;

/// The first version in which a module says how wide its addresses are.
const SIZED_ADDRESSES: Version = Version(2, 3);

/// The first target with `.f16x2` registers and variables; scalar `.f16` ones are declared anywhere.
const PACKED_HALF_TARGET: u32 = 53;

impl<'m, 'a> Check<'m, 'a> {
    /// `.version` first, then `.target`.
    pub(super) fn header(&mut self) {
        let rule = "PTX ISA, 11.1 PTX module directives";
        match self.module.items.first() {
            Some(Item::Version { .. }) => {}
            first => {
                let place = first.and_then(|item| self.item_place(item)).unwrap_or(roundonce_isa::Location::Whole);
                self.report(
                    Finding::error(
                        "PTX0010",
                        place,
                        "a module begins with `.version`: expected one like `.version 8.6`",
                    )
                    .rule(rule),
                );
            }
        }
        let module = self.module;
        let versions = module.items.iter().filter_map(|item| match item {
            Item::Version { span, .. } => Some(*span),
            _ => None,
        });
        for span in versions.skip(1) {
            let message = "a second `.version`: expected one, at the beginning of the module";
            self.report(Finding::error("PTX0010", span.place(), message).rule(rule));
        }
        // What has been read: `.target`, then `.address_size`, then other things.
        let mut reached = 0;
        for item in &module.items {
            let (rank, wrong) = match item {
                Item::Version { .. } => continue,
                Item::Target { span, .. } => (1, (reached > 1).then_some((span, "`.target`", "`.version`"))),
                Item::AddressSize { span, .. } => (2, (reached > 1).then_some((span, "`.address_size`", "`.target`"))),
                _ => (3, None),
            };
            if let Some((span, name, before)) = wrong {
                let message = format!("{name} in another place: expected it right behind {before}");
                self.report(Finding::error("PTX0010", span.place(), message).rule(rule));
            }
            reached = reached.max(rank);
        }
        self.target_options();
        if self.module.targets().next().is_none() {
            self.report(
                Finding::error(
                    "PTX0012",
                    roundonce_isa::Location::Whole,
                    "the module names no target: expected one like `.target sm_90` behind `.version`",
                )
                .rule(rule),
            );
        }
    }

    /// An architecture comes first, and there is one mode of textures.
    fn target_options(&mut self) {
        let module = self.module;
        let lists = module.items.iter().filter_map(|item| match item {
            Item::Target { words, .. } => Some(module.operands(*words)),
            _ => None,
        });
        let words: Vec<&Operand> = lists.flatten().collect();
        let rule = "PTX ISA, 11.1.2 .target";
        if let Some(first) = words.first().filter(|word| word.name().is_some_and(|name| TARGET_OPTIONS.contains(&name)))
        {
            let message = "an option before the architecture: expected one like `sm_90` first";
            self.report(Finding::error("PTX0012", first.span.place(), message).rule(rule));
        }
        let modes = || words.iter().filter(|word| word.name().is_some_and(|name| name.starts_with("texmode_")));
        let mode = modes().next().and_then(|word| word.name());
        if let Some(other) = modes().find(|word| word.name() != mode) {
            let message = "a second mode of textures: expected one";
            self.report(Finding::error("PTX0012", other.span.place(), message).rule(rule));
        }
        let Some(debug) = words.iter().find(|word| word.name() == Some("debug")) else { return };
        if self.version.is_some_and(|version| version < DEBUG_VERSION) {
            self.needs_version(debug.span, "`debug` in `.target`", DEBUG_VERSION, rule);
        }
        if !module.items.iter().any(|item| matches!(item, Item::Section(_))) {
            let message = "`debug` in `.target` of a module without debug data: expected a `.section`";
            let finding = Finding::error("PTX0036", debug.span.place(), message).rule(rule);
            self.report(finding.help("source lines need no `debug`"));
        }
    }

    fn item_place(&self, item: &Item) -> Option<roundonce_isa::Location> {
        let span = match item {
            Item::Version { span, .. } | Item::Target { span, .. } | Item::AddressSize { span, .. } => *span,
            Item::Variables(list) => self.module.variables(*list).first()?.span,
            Item::Function(function) => function.span,
            Item::Directive(directive) => directive.span,
            Item::Line(line) => line.span,
            Item::Section(section) => section.span,
            Item::Dwarf(line) => self.span(line),
        };
        Some(span.place())
    }

    pub(super) fn item(&mut self, item: &'m Item<'a>) {
        match item {
            Item::Version { version, span } if !is_version(*version) => {
                let (place, message) = (span.place(), no_version(*version));
                self.report(if *version < NEWEST {
                    Finding::error("PTX0011", place, message).rule("PTX ISA, 11.1.1 .version")
                } else {
                    Finding::note("PTX0011", place, message)
                });
            }
            Item::Target { words, .. } => {
                let module = self.module;
                for word in module.operands(*words) {
                    self.target_word(word);
                }
            }
            Item::AddressSize { span, .. } if self.version.is_some_and(|version| version < SIZED_ADDRESSES) => {
                self.needs_version(*span, "`.address_size`", SIZED_ADDRESSES, "PTX ISA, 11.1.3 .address_size");
            }
            Item::AddressSize { bits, span } if !matches!(bits, 32 | 64) => {
                self.report(
                    Finding::error("PTX0012", span.place(), format!("an address has {bits} bits: expected 32 or 64"))
                        .rule("PTX ISA, 11.1.3 .address_size"),
                );
            }
            Item::AddressSize { bits: 32, span } if self.target.is_some_and(|it| it.number >= WIDE_ADDRESSES) => {
                let message = format!("addresses of 32 bits from sm_{WIDE_ADDRESSES} on: expected `.address_size 64`");
                self.report(Finding::error("PTX0012", span.place(), message).rule("PTX ISA, 11.1.3 .address_size"));
            }
            Item::Variables(list) => {
                let module = self.module;
                for variable in module.variables(*list) {
                    self.identifier(variable.name, false);
                    self.declaration(variable, Scope::Module);
                    self.declare_in_module(variable);
                    self.declare_variable(variable);
                }
            }
            Item::Function(function) => self.function(function),
            Item::Section(section) => self.section(section),
            Item::Line(line) => {
                let message = "`.loc` outside functions: expected it in a body";
                self.report(Finding::error("PTX0036", line.span.place(), message).rule(LINES));
            }
            Item::Directive(directive) if directive.name == ".alias" => self.alias(directive),
            Item::Directive(directive) if directive.name == ".file" => self.file(directive),
            Item::Directive(directive) => self.module_directive(directive),
            _ => {}
        }
    }

    fn target_word(&mut self, operand: &Operand<'a>) {
        let Some(word) = operand.name() else { return };
        let rule = "PTX ISA, 11.1.2 .target";
        if let Some(name) = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_")) {
            let Some((_, first)) = TARGETS.iter().find(|(target, _)| *target == name) else {
                let newer = self.version.is_some_and(|version| version > NEWEST);
                let message = format!("there is no target `{word}`: expected one like `sm_90`");
                let finding = if newer {
                    Finding::note("PTX0012", operand.span.place(), message)
                } else {
                    Finding::error("PTX0012", operand.span.place(), message)
                };
                return self.report(finding.rule(rule));
            };
            if let Some(version) = self.version.filter(|version| version < first) {
                self.report(
                    Finding::error(
                        "PTX0013",
                        operand.span.place(),
                        format!("PTX {version} does not know `{word}`: expected `.version {first}` or later"),
                    )
                    .rule(rule)
                    .help(format!("write `.version {first}`, or name an older target")),
                );
            } else if let Some(version) = self.version.filter(|version| *version > ENDED_AFTER && ENDED.contains(&name))
            {
                let message = format!(
                    "no assembler has both PTX {version} and `{word}`: expected `.version {ENDED_AFTER}` or earlier"
                );
                let help = format!("write `.version {ENDED_AFTER}`, or name a later target");
                self.report(Finding::error("PTX0013", operand.span.place(), message).rule(rule).help(help));
            }
        } else if word == "map_f64_to_f32" {
            if self.target.is_some_and(|target| target.number >= F64_TARGET) {
                self.report(
                    Finding::error(
                        "PTX0014",
                        operand.span.place(),
                        "`map_f64_to_f32` is for targets without f64: expected sm_10, sm_11 or sm_12",
                    )
                    .rule(rule)
                    .help("drop it: from sm_13 on f64 is computed as f64"),
                );
            }
        } else if !TARGET_OPTIONS.contains(&word) {
            self.report(
                Finding::error(
                    "PTX0012",
                    operand.span.place(),
                    format!(
                        "there is no target or option `{word}`: expected `sm_…` or one of {}",
                        TARGET_OPTIONS.join(", ")
                    ),
                )
                .rule(rule),
            );
        }
    }

    /// Whether a register or a variable can have the type it is declared with.
    pub(super) fn variable_type(&mut self, variable: &Variable<'a>) {
        let is_register = variable.space == Space::Reg;
        let place = self.span(variable.ty).place();
        let rule = "PTX ISA, 5.2 types";
        let Some(Type { bits, .. }) = Type::of_register(variable.ty) else {
            let finding = Finding::error(
                "PTX0015",
                place,
                format!(
                    "a {} has no type `{}`: expected a fundamental type like `.b16` or `.f32`",
                    if is_register { "register" } else { "variable" },
                    variable.ty
                ),
            );
            return self.report(finding.rule(rule).help("alternate formats are held in `.b` registers of their width"));
        };
        if bits == 1 && !is_register {
            let message = "a predicate in memory: expected it in `.reg`";
            self.report(Finding::error("PTX0015", place, message).rule(rule).help("select a 0 or a 1 with `selp`"));
            return;
        }
        let is_new = bits == 128
            && (self.version.is_some_and(|version| version < WIDEST_VERSION)
                || self.target.is_some_and(|target| target.number < WIDEST_TARGET));
        if is_new {
            let message =
                format!("a `.b128`: expected `.version {WIDEST_VERSION}` and `.target sm_{WIDEST_TARGET}` or higher");
            self.report(Finding::error("PTX0015", place, message).rule(rule));
        }
        if variable.ty == ".f16x2" && self.target.is_some_and(|target| target.number < PACKED_HALF_TARGET) {
            let what = if is_register { "register" } else { "variable" };
            self.report(
                Finding::error("PTX0015", place, format!("a `.f16x2` {what}: expected `.target sm_53` or higher"))
                    .rule(rule)
                    .help("declare it as `.b32`"),
            );
        }
        if bits == 1 && variable.lanes > 1 {
            self.report(
                Finding::error("PTX0015", place, "predicates form no vectors: expected a scalar `.pred`").rule(rule),
            );
        } else if bits * u32::from(variable.lanes) > 128 || variable.lanes > 4 {
            self.report(
                Finding::error(
                    "PTX0015",
                    place,
                    format!(
                        "`.v{} {}` is too large: expected at most 4 components and 128 bits",
                        variable.lanes, variable.ty
                    ),
                )
                .rule("PTX ISA, 5.4.2 vectors"),
            );
        }
    }
}
