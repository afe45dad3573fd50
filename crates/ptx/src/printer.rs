//! Tree to text, one statement a line. What is printed parses to the same module.
//!
//! What this is not: comments and the layout of the text that was parsed are not kept.

use crate::ast::{
    Binary, Directive, Function, GuardKind, Instruction, Item, Line, Module, Operand, OperandId, OperandKind, Operands,
    Section, Space, Statement, Variable, Variables,
};
use core::fmt::Write;

/// Writes a module.
///
/// ```
/// let text = ".version 1.4\n.target sm_10\n.entry k { .reg .f32 a, b<2>; mad.f32 a , b0,b1, 0f00000000; exit; }";
/// let printed = roundonce_ptx::print(&roundonce_ptx::parse(text).module);
/// assert_eq!(printed, "\
/// .version 1.4
/// .target sm_10
/// .entry k
/// {
/// \t.reg .f32 a, b<2>;
/// \tmad.f32 \ta, b0, b1, 0f00000000;
/// \texit;
/// }
/// ");
/// ```
pub fn print(module: &Module) -> String {
    let mut printer = Printer { module, out: String::with_capacity(module.text().len()) };
    for item in &module.items {
        printer.item(item);
        printer.out.push('\n');
    }
    printer.out
}

/// Writes one instruction without its semicolon.
///
/// ```
/// let parsed = roundonce_ptx::parse(".version 8.0\n.target sm_90\n.entry k () { @!p fma .rn.f32 a,b,c,-1.5; }");
/// let body = parsed.module.functions().next().unwrap().body.as_ref().unwrap();
/// let roundonce_ptx::ast::Statement::Instruction(fma) = &body[0] else { unreachable!() };
/// assert_eq!(roundonce_ptx::print_instruction(&parsed.module, fma), "@!p fma.rn.f32 \ta, b, c, -1.5");
/// ```
pub fn print_instruction(module: &Module, instruction: &Instruction) -> String {
    let mut printer = Printer { module, out: String::new() };
    printer.instruction(instruction);
    printer.out
}

struct Printer<'m, 'a> {
    module: &'m Module<'a>,
    out: String,
}

impl Printer<'_, '_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }
    fn number(&mut self, number: u32) {
        // Writing to a String never fails.
        let _ = write!(self.out, "{number}");
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Version { version, .. } => {
                let _ = write!(self.out, ".version {version}");
            }
            Item::Target { words, .. } => {
                self.text(".target ");
                self.operands(*words);
            }
            Item::AddressSize { bits, .. } => {
                self.text(".address_size ");
                self.number(*bits);
            }
            Item::Variables(variables) => {
                self.declaration(*variables);
                self.text(";");
            }
            Item::Function(function) => self.function(function),
            Item::Directive(directive) => self.ended_directive(directive),
            Item::Line(line) => self.line(line),
            Item::Section(section) => self.section(section),
            Item::Dwarf(line) => self.text(line),
        }
    }

    fn function(&mut self, function: &Function) {
        if let Some(linkage) = function.linkage {
            self.text(linkage.text());
            self.text(" ");
        }
        self.text(if function.is_entry { ".entry " } else { ".func " });
        self.attributes(function.attributes);
        self.signature(function);
        let Some(body) = &function.body else {
            self.text("\n;");
            return;
        };
        self.text("\n{\n");
        for statement in body {
            self.statement(statement);
            self.text("\n");
        }
        self.text("}");
    }

    /// Results, name, parameters and the directives behind them.
    fn signature(&mut self, function: &Function) {
        let module = self.module;
        if function.returns.len > 0 {
            self.parameters(module.variables(function.returns));
            self.text(" ");
        }
        self.text(function.name);
        if function.has_list {
            self.text(" ");
            self.parameters(module.variables(function.parameters));
        }
        for directive in &function.directives {
            self.text(" ");
            self.directive(directive);
            if directive.name == ".pragma" {
                self.text(";");
            }
        }
    }

    fn parameters(&mut self, parameters: &[Variable]) {
        self.text("(");
        for (index, parameter) in parameters.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.prefix(parameter);
            self.declarator(parameter);
        }
        self.text(")");
    }

    fn attributes(&mut self, attributes: Operands) {
        if attributes.len > 0 {
            self.text(".attribute(");
            self.operands(attributes);
            self.text(") ");
        }
    }

    fn declaration(&mut self, variables: Variables) {
        for variable in self.module.variables(variables) {
            if variable.continues {
                self.text(", ");
            } else {
                self.prefix(variable);
            }
            self.declarator(variable);
        }
    }

    fn prefix(&mut self, variable: &Variable) {
        if let Some(linkage) = variable.linkage {
            self.text(linkage.text());
            self.text(" ");
        }
        self.text(variable.space.text());
        if let Space::Const(Some(bank)) = variable.space {
            let _ = write!(self.out, "[{bank}]");
        }
        self.text(" ");
        self.attributes(variable.attributes);
        if let Some(align) = variable.align {
            let _ = write!(self.out, ".align {align} ");
        }
        if variable.lanes > 1 {
            let _ = write!(self.out, ".v{} ", variable.lanes);
        }
        self.text(variable.ty);
        self.text(" ");
        if let Some(pointer) = variable.pointer {
            self.text(".ptr ");
            if let Some(space) = pointer.space {
                self.text(space);
                self.text(" ");
            }
            if let Some(align) = pointer.align {
                let _ = write!(self.out, ".align {align} ");
            }
        }
    }

    fn declarator(&mut self, variable: &Variable) {
        self.text(variable.name);
        if let Some(count) = variable.count {
            let _ = write!(self.out, "<{count}>");
        }
        for dimension in self.module.operands(variable.dimensions) {
            self.text("[");
            self.operand(dimension);
            self.text("]");
        }
        if let Some(initial) = variable.initial {
            self.text(" = ");
            self.operand_id(initial);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Label(name) => {
                self.text(name);
                self.text(":");
                return;
            }
            // A debug line may begin nowhere but at the line's start.
            Statement::Dwarf(line) => return self.text(line),
            _ => self.text("\t"),
        }
        match statement {
            Statement::Open(_) => self.text("{"),
            Statement::Close(_) => self.text("}"),
            Statement::Instruction(instruction) => {
                self.instruction(instruction);
                self.text(";");
            }
            Statement::Variables(variables) => {
                self.declaration(*variables);
                self.text(";");
            }
            Statement::Directive(directive) => self.ended_directive(directive),
            Statement::Line(line) => self.line(line),
            Statement::Prototype(prototype) => {
                self.text(".callprototype ");
                self.signature(prototype);
                self.text(";");
            }
            Statement::Section(section) => self.section(section),
            Statement::Label(_) | Statement::Dwarf(_) => {}
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        if let Some(guard) = instruction.guard(self.module) {
            self.text(if instruction.guard == GuardKind::IfNot { "@!" } else { "@" });
            self.operand(guard.predicate);
            self.text(" ");
        }
        self.text(instruction.opcode);
        for modifier in self.module.modifiers(instruction.modifiers) {
            self.text(modifier);
        }
        if instruction.operands.len > 0 {
            self.text(" \t");
            self.operands(instruction.operands);
        }
    }

    fn directive(&mut self, directive: &Directive) {
        self.text(directive.name);
        if directive.operands.len > 0 {
            self.text(" ");
            self.operands(directive.operands);
        }
    }

    fn ended_directive(&mut self, directive: &Directive) {
        if directive.name != ".file" {
            self.directive(directive);
            return self.text(";");
        }
        // A `.file` has no comma behind its index, and no semicolon.
        self.text(".file");
        for (index, operand) in self.module.operands(directive.operands).iter().enumerate() {
            self.text(if index < 2 { " " } else { ", " });
            self.operand(operand);
        }
    }

    fn line(&mut self, line: &Line) {
        let _ = write!(self.out, ".loc {} {} {}", line.file, line.line, line.column);
        if let Some((label, offset, [file, line, column])) = line.inlined {
            let _ = write!(self.out, ", function_name {label}");
            if let Some(offset) = offset {
                let _ = write!(self.out, "+{offset}");
            }
            let _ = write!(self.out, ", inlined_at {file} {line} {column}");
        }
    }

    fn section(&mut self, section: &Section) {
        let _ = write!(self.out, ".section {} {{{}}}", section.name, section.body);
    }

    fn operands(&mut self, operands: Operands) {
        for (index, operand) in self.module.operands(operands).iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.operand(operand);
        }
    }

    fn bracketed(&mut self, open: &str, operands: Operands, close: &str) {
        self.text(open);
        self.operands(operands);
        self.text(close);
    }

    fn operand_id(&mut self, id: OperandId) {
        let module = self.module;
        self.operand(module.operand(id));
    }

    /// Two operands around a mark.
    fn around(&mut self, operands: Operands, mark: &str) {
        if let [left, right] = self.module.operands(operands) {
            self.operand(left);
            self.text(mark);
            self.operand(right);
        }
    }

    fn operand(&mut self, operand: &Operand) {
        match operand.kind {
            OperandKind::Empty => {}
            OperandKind::Name(text) | OperandKind::Number(text) | OperandKind::Dot(text) => self.text(text),
            OperandKind::Component(name, component) => {
                self.text(name);
                self.text(component.text());
            }
            OperandKind::Selected(name, selector) => {
                self.text(name);
                self.text(selector);
            }
            OperandKind::Range(name, count) => {
                self.text(name);
                self.text("<");
                self.text(&count.to_string());
                self.text(">");
            }
            OperandKind::Text(text) => {
                self.text("\"");
                self.text(text);
                self.text("\"");
            }
            OperandKind::Discard => self.text("_"),
            OperandKind::Address(items) => self.bracketed("[", items, "]"),
            OperandKind::Vector(items) => self.bracketed("{", items, "}"),
            OperandKind::List(items) => self.bracketed("(", items, ")"),
            OperandKind::Pair(items) => self.around(items, "|"),
            OperandKind::Assign(items) => self.around(items, " = "),
            OperandKind::Index(items) => {
                if let [name, index] = self.module.operands(items) {
                    self.operand(name);
                    self.text("[");
                    self.operand(index);
                    self.text("]");
                }
            }
            OperandKind::Apply(items) => {
                if let Some((applied, arguments)) = self.module.operands(items).split_first() {
                    self.operand(applied);
                    self.text("(");
                    for (index, argument) in arguments.iter().enumerate() {
                        if index > 0 {
                            self.text(", ");
                        }
                        self.operand(argument);
                    }
                    self.text(")");
                }
            }
            OperandKind::Group(inner) => {
                self.text("(");
                self.operand_id(inner);
                self.text(")");
            }
            OperandKind::Unary(unary, inner) => {
                self.text(unary.text());
                self.operand_id(inner);
            }
            OperandKind::Cast(cast, inner) => {
                self.text("(");
                self.text(cast.text());
                self.text(")");
                self.operand_id(inner);
            }
            // Parentheses of the text are kept as groups: the tree needs no others.
            // `23%209` would name a register.
            OperandKind::Binary(Binary::Remainder, items) => self.around(items, " % "),
            OperandKind::Binary(binary, items) => self.around(items, binary.text()),
            OperandKind::Choose(items) => {
                if let [condition, then, otherwise] = self.module.operands(items) {
                    self.operand(condition);
                    self.text(" ? ");
                    self.operand(then);
                    self.text(" : ");
                    self.operand(otherwise);
                }
            }
        }
    }
}
