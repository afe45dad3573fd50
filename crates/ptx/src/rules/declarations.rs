//! Declarations of variables: where they may stand, their types, alignments, sizes and initial values; the directives of a
//! function. As ptxas 12.9 and 13.5 have them, which agree.

use super::directives::{At, BANK, Bearer, ENTRIES, OPEN_PARAMETER};
use super::{Check, Entity, Layout, is_special};
use crate::ast::{Function, Linkage, Operand, OperandId, OperandKind, Space, Variable};
use crate::literal::{Constant, evaluate};
use crate::types::{ScalarKind, Type};
use roundonce_isa::{Finding, Version};
use std::collections::HashSet;

/// Where a variable is declared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Module,
    /// Among the parameters of a kernel.
    Kernel,
    /// Among those of a function; whether it is the last.
    Function(bool),
    /// Among what a function returns.
    Returns,
    /// Among the parameters of a prototype, of which less is asked; whether it is the last.
    Prototype(bool),
    Body,
}

/// Types of what has no bits.
pub(super) static OPAQUE: &[&str] = &[".texref", ".samplerref", ".surfref"];

const VARIABLES: &str = "PTX ISA, 5.4 variables";
const SPACES: &str = "PTX ISA, 5.1 state spaces";
const OPAQUE_TYPES: &str = "PTX ISA, 5.3 texture sampler and surface types";
const INITIAL: &str = "PTX ISA, 5.4.4 initializers";

/// What is said of textures, samplers and surfaces, and of which of them.
#[rustfmt::skip] // A table.
static FIELDS: &[(&str, &[&str])] = &[
    ("width", IMAGES), ("height", IMAGES), ("depth", IMAGES), ("array_size", IMAGES),
    ("channel_data_type", IMAGES), ("channel_order", IMAGES),
    ("memory_layout", &[".surfref"]),
    ("num_mipmap_levels", &[".texref"]), ("num_samples", &[".texref"]), ("normalized_coords", &[".texref"]),
    ("force_unnormalized_coords", &[".samplerref"]),
    ("filter_mode", SAMPLED), ("addr_mode_0", SAMPLED), ("addr_mode_1", SAMPLED), ("addr_mode_2", SAMPLED),
];
const IMAGES: &[&str] = &[".texref", ".surfref"];
const SAMPLED: &[&str] = &[".texref", ".samplerref"];

/// The first PTX that is compiled by an ABI alone: registers and local memory are a function's.
const ABI: Version = Version(3, 0);
/// The last PTX with variables in `.tex`.
const LAST_TEX: Version = Version(1, 4);

impl<'a> Check<'_, 'a> {
    /// Checks a declaration by what it says itself.
    pub(super) fn declaration(&mut self, variable: &Variable<'a>, scope: Scope) {
        if !variable.continues {
            let is_opaque = OPAQUE.contains(&variable.ty);
            let is_prototype = matches!(scope, Scope::Prototype(_));
            match (is_opaque, is_prototype) {
                (true, false) => self.opaque(variable, scope),
                (true, true) => {}
                (false, true) if Type::of_register(variable.ty).is_some() => {}
                (false, _) => self.variable_type(variable),
            }
            self.aligned(variable);
            self.placed(variable, scope);
            if !is_prototype {
                self.attributes(variable.attributes, Bearer::Variable(variable.space));
            }
            if let Some(linkage) = variable.linkage {
                self.available(linkage.text(), self.span(variable.name));
            }
            if variable.pointer.is_some() {
                self.available(".ptr", self.span(variable.name));
            }
        }
        self.sized(variable, scope);
        if let Some(initial) = variable.initial {
            self.initial(variable, initial);
        }
    }

    /// All declarations of a function are of one kind, linkage and type.
    pub(super) fn declared_before(&mut self, function: &Function<'a>) {
        let first = self.functions.get(function.name).map(|all| all[0]);
        let Some(first) = first.filter(|first| !std::ptr::eq(*first, function)) else { return };
        let kind = |it: &Function| if it.is_entry { ".entry" } else { ".func" };
        let linkage = |it: &Function| it.linkage.map_or("without linkage".to_owned(), |it| format!("`{}`", it.text()));
        let (name, module) = (function.name, self.module);
        let types = |list| module.variables(list).iter().map(|it| (it.space, Layout::unaligned(module, it))).collect();
        let lists = |it: &Function| -> [Vec<_>; 2] { [types(it.returns), types(it.parameters)] };
        let message = if kind(first) != kind(function) {
            format!("`{name}` is a `{}` here and a `{}` before: expected one of both", kind(function), kind(first))
        } else if first.linkage != function.linkage {
            let [here, before] = [function, first].map(linkage);
            format!("`{name}` is {here} here and {before} before: expected one linkage")
        } else if lists(first) != lists(function) {
            format!("`{name}` has other parameters than before: expected the same types")
        } else {
            return;
        };
        self.declared_wrong("PTX0034", name, message, ENTRIES);
    }

    fn declared_wrong(&mut self, code: &'static str, part: &str, message: String, rule: &'static str) {
        let place = self.span(part).place();
        self.report(Finding::error(code, place, message).rule(rule));
    }

    fn aligned(&mut self, variable: &Variable<'a>) {
        let pointer = variable.pointer.and_then(|pointer| pointer.align);
        if let Some(align) = variable.align.into_iter().chain(pointer).find(|align| !align.is_power_of_two()) {
            let message = format!("`.align {align}` of `{}`: expected a power of two", variable.name);
            self.declared_wrong("PTX0018", variable.name, message, VARIABLES);
        }
    }

    /// Whether its state space may stand there.
    fn placed(&mut self, variable: &Variable<'a>, scope: Scope) {
        let (space, name) = (variable.space.text(), variable.name);
        if matches!(variable.space, Space::Const(Some(_))) {
            self.available(BANK, self.span(name));
        }
        let since = |first: Version| self.version.is_some_and(|version| version >= first);
        let is_vector = (variable.lanes > 1 || variable.ty == ".f16x2") && variable.dimensions.len == 0;
        let first_size = self.module.operands(variable.dimensions).first();
        let is_open_elsewhere =
            variable.linkage == Some(Linkage::Extern) && first_size.is_some_and(|size| size.kind == OperandKind::Empty);
        let message = match (scope, variable.space) {
            (Scope::Module, Space::Param) => format!("`{name}` in `{space}` outside a function: expected it in one"),
            (Scope::Module, Space::Reg | Space::Local) if since(ABI) => {
                format!("`{name}` in `{space}` outside a function: expected it in one, from PTX {ABI} on")
            }
            (_, Space::Sreg) => {
                format!("`{name}` in `.sreg`: expected another state space, special registers are there")
            }
            (_, Space::Tex) if !matches!(variable.ty, ".u32" | ".u64") => {
                format!("`{name}` in `.tex` of another type: expected `.u32` or `.u64`")
            }
            (Scope::Module, Space::Tex) if self.version.is_some_and(|version| version > LAST_TEX) => {
                format!("`{name}` in `.tex`: expected a `.texref` in `.global`, after PTX {LAST_TEX}")
            }
            (Scope::Kernel, space) if space != Space::Param => {
                format!("the kernel's parameter `{name}` in `{}`: expected it in `.param`", space.text())
            }
            (Scope::Function(_) | Scope::Returns | Scope::Prototype(_), space)
                if !matches!(space, Space::Param | Space::Reg) =>
            {
                format!("the function's parameter `{name}` in `{}`: expected it in `.reg` or `.param`", space.text())
            }
            (Scope::Kernel | Scope::Function(_) | Scope::Returns | Scope::Body, Space::Param) if is_vector => {
                format!("`{name}` in `.param` is a vector: expected a scalar or an array of them")
            }
            (_, space) if variable.linkage == Some(Linkage::Common) && space != Space::Global => {
                format!("`{name}` is `.common` in `{}`: expected it in `.global`", space.text())
            }
            (_, Space::Const(Some(1..))) if !is_open_elsewhere => {
                format!("`{name}` in a constant bank other than 0: expected an `.extern` array without a size")
            }
            _ => return,
        };
        self.declared_wrong("PTX0017", name, message, SPACES);
    }

    /// Whether its array has a size.
    fn sized(&mut self, variable: &Variable<'a>, scope: Scope) {
        let module = self.module;
        let name = variable.name;
        let dimensions = module.operands(variable.dimensions);
        let is_last = matches!(scope, Scope::Function(true) | Scope::Prototype(true));
        if variable.space == Space::Reg && !dimensions.is_empty() {
            let message = format!("the register `{name}` as an array: expected `{name}<4>`, or a variable in memory");
            return self.declared_wrong("PTX0018", name, message, VARIABLES);
        }
        for (index, size) in dimensions.iter().enumerate() {
            let is_open = match evaluate(module, size) {
                _ if size.kind == OperandKind::Empty => true,
                Ok(Constant::Signed(size)) if size >= 0 => size == 0,
                Ok(Constant::Unsigned(size)) => size == 0,
                Ok(_) => {
                    let message = format!("the size of `{name}`: expected a positive integer");
                    self.report(Finding::error("PTX0018", size.span.place(), message).rule(VARIABLES));
                    continue;
                }
                // Reported where the value is asked for.
                Err(_) => false,
            };
            let is_filled = variable.initial.is_some() && size.kind == OperandKind::Empty;
            let may_be_open = variable.linkage == Some(Linkage::Extern) || is_filled || is_last;
            if is_open && !(index == 0 && may_be_open) {
                let what =
                    "the first one of what is `.extern`, of a function's last parameter, or of what has initial values";
                let message = format!("`{name}` has no size: only {what} is open");
                let finding = Finding::error("PTX0018", self.span(name).place(), message);
                return self.report(finding.rule(VARIABLES));
            }
            if is_open && is_last {
                self.available(OPEN_PARAMETER, self.span(name));
            }
        }
    }

    /// Whether its initial value may be, and has its type and its shape.
    fn initial(&mut self, variable: &Variable<'a>, initial: OperandId) {
        let module = self.module;
        let name = variable.name;
        let refused = match variable.space {
            _ if variable.linkage == Some(Linkage::Extern) => Some("it is defined elsewhere".to_owned()),
            Space::Global | Space::Const(_) => None,
            space => Some(format!("what is in `{}` has none", space.text())),
        };
        if let Some(why) = refused {
            let place = module.operand(initial).span.place();
            let message = format!("an initial value of `{name}`: expected none, {why}");
            return self.report(Finding::error("PTX0019", place, message).rule(INITIAL));
        }
        if OPAQUE.contains(&variable.ty) {
            return self.fields(variable, module.operand(initial), variable.dimensions.len);
        }
        let Some(ty) = Type::of_register(variable.ty) else { return };
        // What the assembler makes of packed halves is another thing each time.
        if ty.components > 1 || ty.kind == ScalarKind::Pred {
            return;
        }
        let mut shape: Vec<Extent> = Vec::new();
        for size in module.operands(variable.dimensions) {
            let most = match evaluate(module, size) {
                Ok(Constant::Signed(size)) => u64::try_from(size).unwrap_or(u64::MAX),
                Ok(Constant::Unsigned(size)) => size,
                _ => u64::MAX,
            };
            shape.push(Extent::AtMost(most));
        }
        if variable.lanes > 1 {
            shape.push(Extent::Exactly(u64::from(variable.lanes)));
        }
        self.initial_of(module.operand(initial), &shape, ty, name);
    }

    fn initial_of(&mut self, value: &Operand<'a>, shape: &[Extent], ty: Type, name: &str) {
        let module = self.module;
        let found = match (value.kind, shape.split_first()) {
            (OperandKind::Vector(items), Some((extent, rest))) => {
                let given = u64::from(items.len);
                let is_right = match extent {
                    Extent::AtMost(most) => given <= *most,
                    Extent::Exactly(count) => given == *count,
                };
                if is_right {
                    for item in module.operands(items) {
                        self.initial_of(item, rest, ty, name);
                    }
                    return;
                }
                format!("{given} values in braces: expected {}", extent.text())
            }
            (OperandKind::Vector(_), None) => "braces: expected one value".to_owned(),
            (_, Some(_)) => "one value: expected values in braces".to_owned(),
            (_, None) => match evaluate(module, value) {
                Ok(_) if ty.kind == ScalarKind::Float(roundonce_arith::Format::F16) => {
                    "a value of `.f16`: expected a variable of `.b16`, halves have none".to_owned()
                }
                Ok(Constant::Double(_) | Constant::Single(_))
                    if matches!(ty.kind, ScalarKind::Unsigned | ScalarKind::Signed) =>
                {
                    "a floating constant: expected an integer".to_owned()
                }
                Ok(Constant::Signed(_) | Constant::Unsigned(_)) if matches!(ty.kind, ScalarKind::Float(_)) => {
                    "an integer constant: expected a floating one".to_owned()
                }
                // Of names only whether they may stand there at all.
                _ if is_value(value) => return self.initial_names(value),
                _ => "no constant and no address: expected one".to_owned(),
            },
        };
        let message = format!("an initial value of `{name}` is {found}");
        self.report(Finding::error("PTX0019", value.span.place(), message).rule(INITIAL));
    }

    /// A texture, a sampler or a surface. Of an array of them the assembler asks little.
    fn opaque(&mut self, variable: &Variable<'a>, scope: Scope) {
        let ty = variable.ty;
        let is_scalar = variable.dimensions.len == 0;
        if is_scalar && ty == ".samplerref" && !self.module.targets().any(|word| word == "texmode_independent") {
            let message = "a `.samplerref`: expected `texmode_independent` in `.target`";
            let finding = Finding::error("PTX0026", self.span(ty).place(), message).rule("PTX ISA, 11.1.2 .target");
            return self.report(finding.help("without it the sampler is a part of the texture"));
        }
        let wrong = match (scope, variable.space) {
            _ if variable.lanes > 1 => format!("a vector of `{ty}`: expected one of a fundamental type"),
            (Scope::Body, _) | (_, Space::Reg) => {
                format!("a `{ty}` here: expected it outside functions, or as a kernel's parameter")
            }
            (Scope::Module, Space::Global) if variable.linkage != Some(Linkage::Common) => return,
            (Scope::Module, space) if is_scalar => match variable.linkage {
                Some(Linkage::Common) => format!("a `{ty}` that is `.common`: expected another linkage"),
                _ => format!("a `{ty}` in `{}`: expected it in `.global`", space.text()),
            },
            (Scope::Function(_) | Scope::Returns, _) if is_scalar => {
                format!("a `{ty}` of a function: expected it as a kernel's parameter")
            }
            _ => return,
        };
        self.declared_wrong("PTX0015", ty, wrong, OPAQUE_TYPES);
    }

    /// The initial value of a texture, a sampler or a surface, or of each in an array.
    fn fields(&mut self, variable: &Variable<'a>, value: &Operand<'a>, dimensions: u32) {
        let module = self.module;
        let is_field = |item: &Operand| match item.kind {
            OperandKind::Assign(parts) => {
                let name = module.operands(parts).first().and_then(Operand::name);
                let row = FIELDS.iter().find(|(field, _)| Some(*field) == name);
                row.is_some_and(|(_, types)| types.contains(&variable.ty))
            }
            _ => false,
        };
        let wrong = match value.kind {
            OperandKind::Vector(items) if dimensions > 0 => {
                for item in module.operands(items) {
                    self.fields(variable, item, dimensions - 1);
                }
                return;
            }
            OperandKind::Vector(items) => module.operands(items).iter().find(|item| !is_field(item)),
            _ => Some(value),
        };
        if let Some(wrong) = wrong {
            let (name, ty, found) = (variable.name, variable.ty, wrong.span.of(module.text()));
            let message = format!("an initial value of `{name}` is `{found}`: expected fields of a `{ty}` in braces");
            let finding = Finding::error("PTX0019", wrong.span.place(), message).rule(OPAQUE_TYPES);
            self.report(finding.help("like `{filter_mode = linear}` or `{width = 4}`"));
        }
    }

    /// Declares a variable of the module: it is defined once, and its name is no function's.
    pub(super) fn declare_in_module(&mut self, variable: &Variable<'a>) {
        let name = variable.name;
        let is_function = self.scopes.find(name) == Some(Entity::Function);
        let is_definition = variable.linkage != Some(Linkage::Extern);
        let is_known = self.globals.get(name).copied();
        if variable.space != Space::Reg && (is_function || is_definition && is_known == Some(true)) {
            let span = self.span(name);
            self.duplicate(name, span);
        }
        self.globals.insert(name, is_definition || is_known == Some(true));
    }

    /// Whether a function's directives fit it and each other.
    pub(super) fn directives(&mut self, function: &Function<'a>) {
        let has = |name: &str| function.directives.iter().find(|it| it.name == name);
        let mut found: Vec<(&str, String)> = Vec::new();
        for [one, other] in [[".maxntid", ".reqntid"], [".reqnctapercluster", ".maxclusterrank"]] {
            if let (Some(_), Some(second)) = (has(one), has(other)) {
                found.push((second.name, format!("`{other}` beside `{one}`: expected one of them")));
            }
        }
        if let Some(clusters) = has(".blocksareclusters")
            && (has(".reqntid").is_none() || has(".reqnctapercluster").is_none())
        {
            let needed = "`.blocksareclusters` alone: expected `.reqntid` and `.reqnctapercluster` beside it";
            found.push((clusters.name, needed.to_owned()));
        }
        if let Some(noreturn) = has(".noreturn").filter(|_| !function.is_entry && function.returns.len > 0) {
            let name = function.name;
            found.push((noreturn.name, format!("`.noreturn` of `{name}`: expected it of a function without results")));
        }
        if function.linkage == Some(Linkage::Extern) && function.body.is_some() {
            let name = function.name;
            found.push((name, format!("`{name}` is `.extern` and has a body: expected one of both")));
        }
        if !function.is_entry {
            // Those of a function stand once each, and `.noreturn` first; those of a kernel as they like.
            let mut seen = HashSet::new();
            for (index, directive) in function.directives.iter().enumerate() {
                let name = directive.name;
                if !seen.insert(name) {
                    found.push((name, format!("a second `{name}` of `{}`: expected one", function.name)));
                } else if name == ".noreturn" && index > 0 {
                    found.push((name, "`.noreturn` behind others: expected it first".to_owned()));
                }
            }
        }
        for (part, message) in found {
            self.declared_wrong("PTX0034", part, message, ENTRIES);
        }
        let at = if function.is_entry { At::Kernel } else { At::Function };
        for directive in &function.directives {
            self.directive(directive, at);
        }
        self.attributes(function.attributes, if function.is_entry { Bearer::Kernel } else { Bearer::Function });
        if let Some(linkage) = function.linkage {
            self.available(linkage.text(), self.span(function.name));
        }
        self.results(function);
        if function.is_entry {
            self.parameter_space(function);
        }
    }
}

/// Whether an initial value is a constant, or has an address in it.
fn is_value(operand: &Operand) -> bool {
    use OperandKind::{Apply, Binary, Cast, Choose, Group, Name, Number, Unary};
    match operand.kind {
        Name(name) => !is_special(name),
        Apply(_) | Binary(..) | Cast(..) | Choose(_) | Group(_) | Number(_) | Unary(..) => true,
        _ => false,
    }
}

/// How many values stand in braces.
enum Extent {
    AtMost(u64),
    Exactly(u64),
}

impl Extent {
    fn text(&self) -> String {
        match self {
            Extent::AtMost(count) => format!("at most {count}"),
            Extent::Exactly(count) => format!("{count}"),
        }
    }
}
