//! What an editor shows of a module: the lexer's tokens with what the tree says of them, and its names.

use crate::ast::{
    Directive, Function, Instruction, Item, Module, Operand, OperandKind, Operands, Space, Statement, Variable,
    Variables,
};
use crate::lexer::{Lexer, TokenKind};
use crate::opcodes;
use crate::parser::parse;
use crate::rules::is_special;
use crate::scopes::{Found, Scopes, labels_by_scope};
use crate::types::is_type;
use roundonce_isa::{Declaration, Outline, Spelled, Token, TokenClass, Use};

/// The outline of a text, whether it is a whole module or not.
///
/// ```
/// use roundonce_isa::TokenClass;
/// let text = ".entry k () { .reg .f32 %f<3>; mul.f32 %f0, %f1, %f2; }";
/// let outline = roundonce_ptx::outline(text);
/// let register = outline.used(text.rfind("%f2").unwrap()).unwrap();
/// let declaration = &outline.declarations[register.declaration];
/// assert_eq!((declaration.name.as_str(), declaration.class), ("%f", TokenClass::Register));
/// ```
pub fn outline(text: &str) -> Outline {
    let module = parse(text).module;
    let mut outline = Outline { sm: module.target(), version: module.version(), ..Outline::default() };
    let end = text.len();
    let mut walk =
        Walk { module: &module, outline: &mut outline, scopes: Scopes::default(), words: Vec::new(), scope: (0, end) };
    walk.module();
    let mut words = std::mem::take(&mut walk.words);
    words.sort_by_key(|&(start, _)| start);
    outline.uses.sort_by_key(|used| used.start);
    outline.tokens = tokens(text, &words);
    // A preprocessor's `# 12 "file"` is one too.
    outline.add_comments(text, &["//", "/*", "#"]);
    outline
}

/// The lexer's tokens; `words` say by their first bytes what the tree made of them.
fn tokens(text: &str, words: &[(usize, TokenClass)]) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 8);
    if text.len() > u32::MAX as usize - 16 {
        return tokens;
    }
    let mut lexer = Lexer::new(text);
    let mut words = words.iter().peekable();
    loop {
        let token = lexer.next();
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        while words.next_if(|(word, _)| *word < start).is_some() {}
        let said = words.peek().filter(|(word, _)| *word == start).map(|&&(_, class)| class);
        let class = match token.kind {
            TokenKind::End => return tokens,
            TokenKind::Word => said,
            TokenKind::Dot if is_type(token.span.of(text)) => Some(TokenClass::Type),
            TokenKind::Dot => said.or(Some(TokenClass::Directive)),
            TokenKind::Number | TokenKind::Bits32 | TokenKind::Bits64 => Some(TokenClass::Number),
            TokenKind::Text => Some(TokenClass::Text),
            TokenKind::Dwarf | TokenKind::Unended => Some(TokenClass::Comment),
            TokenKind::Mark(_) | TokenKind::Junk => None,
        };
        // What has no class stands between tokens all the same, and is no comment.
        tokens.push(Token { start, end, class: class.unwrap_or(TokenClass::Mark) });
    }
}

struct Walk<'m, 'a> {
    module: &'m Module<'a>,
    outline: &'m mut Outline,
    /// Declarations by their index.
    scopes: Scopes<'a, usize, usize>,
    /// What words are, by their first bytes.
    words: Vec<(usize, TokenClass)>,
    /// The function at hand.
    scope: (usize, usize),
}

impl<'m, 'a> Walk<'m, 'a> {
    fn span(&self, part: &str) -> Option<(usize, usize)> {
        self.module.span_of(part).map(|span| (span.start as usize, span.end as usize))
    }

    fn word(&mut self, part: &str, class: TokenClass) {
        if let Some((start, _)) = self.span(part) {
            self.words.push((start, class));
        }
    }

    fn module(&mut self) {
        // A function may be called above its body.
        let functions: Vec<&'m Function<'a>> = self.module.functions().collect();
        let (bodies, heads): (Vec<_>, Vec<_>) = functions.into_iter().partition(|function| function.body.is_some());
        for function in heads.into_iter().chain(bodies) {
            let whole = (function.span.start as usize, function.span.end as usize);
            if let Some(index) = self.declaration(function.name, TokenClass::Function, whole) {
                self.scopes.declare(function.name, index);
            }
        }
        for item in &self.module.items {
            match item {
                Item::Variables(list) => self.variables(*list),
                Item::Function(function) => self.function(function),
                Item::Target { words, .. } => {
                    for word in self.module.operands(*words).iter().filter_map(Operand::name) {
                        self.word(word, TokenClass::Enumerant);
                    }
                }
                Item::Directive(directive) => self.directive(directive),
                _ => {}
            }
        }
    }

    /// Lists a declaration; nothing if the name is not of the text.
    fn declaration(&mut self, name: &'a str, class: TokenClass, whole: (usize, usize)) -> Option<usize> {
        let span = self.span(name)?;
        let name = name.to_owned();
        self.outline.declarations.push(Declaration {
            name,
            class,
            span,
            whole,
            scope: self.scope,
            is_predicate: false,
        });
        Some(self.outline.declarations.len() - 1)
    }

    fn variables(&mut self, list: Variables) {
        for variable in self.module.variables(list) {
            self.variable(variable);
        }
    }

    fn variable(&mut self, variable: &Variable<'a>) {
        if variable.name == "_" || variable.name.is_empty() {
            return;
        }
        let class = match variable.space {
            Space::Reg | Space::Sreg => TokenClass::Register,
            Space::Param => TokenClass::Parameter,
            _ => TokenClass::Variable,
        };
        let whole = (variable.span.start as usize, variable.span.end as usize);
        let Some(index) = self.declaration(variable.name, class, whole) else { return };
        self.outline.declarations[index].is_predicate = variable.space == Space::Reg && variable.ty == ".pred";
        match variable.count {
            Some(count) => self.scopes.declare_range(variable.name, count, index),
            None => self.scopes.declare(variable.name, index),
        }
        self.used(variable.name, index, None);
        self.operands(variable.dimensions);
        if let Some(initial) = variable.initial {
            self.operand(self.module.operand(initial));
        }
    }

    fn used(&mut self, name: &str, declaration: usize, number: Option<u32>) {
        if let Some((start, end)) = self.span(name) {
            self.outline.uses.push(Use { start, end, declaration, number });
            self.words.push((start, self.outline.declarations[declaration].class));
        }
    }

    fn name(&mut self, name: &'a str) {
        match self.scopes.find(name) {
            Some(Found::Name(_, &index)) => self.used(name, index, None),
            Some(Found::InRange(_, number, &index)) => self.used(name, index, Some(number)),
            None if is_special(name) => self.word(name, TokenClass::Special),
            None if name == "WARP_SZ" => self.word(name, TokenClass::Enumerant),
            None => {}
        }
    }

    fn operands(&mut self, operands: Operands) {
        for operand in self.module.operands(operands) {
            self.operand(operand);
        }
    }

    fn operand(&mut self, operand: &'m Operand<'a>) {
        match operand.kind {
            OperandKind::Name(name) => self.name(name),
            OperandKind::Component(name, component) => {
                self.name(name);
                let end = operand.span.end as usize;
                self.words.push((end.saturating_sub(component.text().len()), TokenClass::Modifier));
            }
            OperandKind::Selected(name, selected) => {
                self.name(name);
                self.word(selected, TokenClass::Modifier);
            }
            OperandKind::Address(items)
            | OperandKind::Vector(items)
            | OperandKind::List(items)
            | OperandKind::Pair(items)
            | OperandKind::Index(items)
            | OperandKind::Apply(items)
            | OperandKind::Assign(items)
            | OperandKind::Binary(_, items)
            | OperandKind::Choose(items) => self.operands(items),
            OperandKind::Group(inner) | OperandKind::Unary(_, inner) | OperandKind::Cast(_, inner) => {
                self.operand(self.module.operand(inner));
            }
            OperandKind::Empty
            | OperandKind::Range(..)
            | OperandKind::Number(_)
            | OperandKind::Text(_)
            | OperandKind::Dot(_)
            | OperandKind::Discard => {}
        }
    }

    fn directive(&mut self, directive: &Directive<'a>) {
        self.operands(directive.operands);
    }

    fn function(&mut self, function: &'m Function<'a>) {
        if let Some(Found::Name(_, &index)) = self.scopes.find(function.name) {
            self.used(function.name, index, None);
        }
        let outer = std::mem::replace(&mut self.scope, (function.span.start as usize, function.span.end as usize));
        self.scopes.enter();
        self.variables(function.returns);
        self.variables(function.parameters);
        for directive in &function.directives {
            self.directive(directive);
        }
        if let Some(body) = &function.body {
            self.body(body);
        }
        self.scopes.leave();
        self.scope = outer;
    }

    fn body(&mut self, body: &'m [Statement<'a>]) {
        let mut labels = labels_by_scope(body).into_iter();
        self.labels(body, labels.next());
        let mut depth = 0;
        for statement in body {
            match statement {
                Statement::Open(_) => {
                    depth += 1;
                    self.scopes.enter();
                    self.labels(body, labels.next());
                }
                // The parser keeps a brace too many.
                Statement::Close(_) if depth > 0 => {
                    depth -= 1;
                    self.scopes.leave();
                }
                Statement::Close(_) | Statement::Line(_) | Statement::Section(_) | Statement::Dwarf(_) => {}
                Statement::Label(name) => self.name(name),
                Statement::Instruction(instruction) => self.instruction(instruction),
                Statement::Variables(list) => self.variables(*list),
                Statement::Directive(directive) => self.directive(directive),
                Statement::Prototype(prototype) => self.variables(prototype.parameters),
            }
        }
        (0..depth).for_each(|_| self.scopes.leave());
    }

    fn labels(&mut self, body: &[Statement<'a>], places: Option<Vec<usize>>) {
        for place in places.unwrap_or_default() {
            if let Statement::Label(name) = body[place]
                && let Some(span) = self.span(name)
                && let Some(index) = self.declaration(name, TokenClass::Label, span)
            {
                self.scopes.declare_label(name, index);
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) {
        let module = self.module;
        if let Some(guard) = instruction.guard(module) {
            self.operand(guard.predicate);
        }
        let modifiers = module.modifiers(instruction.modifiers);
        if let Some((start, end)) = self.span(instruction.opcode) {
            if opcodes::find(instruction.opcode).is_some() {
                self.words.push((start, TokenClass::Opcode));
            }
            let end = modifiers.last().and_then(|last| self.span(last)).map_or(end, |(_, end)| end);
            let (spelling, instruction_end) = (instruction.spelling(module), instruction.span.end as usize);
            self.outline.spelled.push(Spelled { start, end, instruction_end, spelling });
        }
        for modifier in modifiers {
            self.word(modifier, TokenClass::Modifier);
        }
        self.operands(instruction.operands);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 8.0\n.target sm_90 // here\n.global .f32 x;\n.func f;\n.entry k (.param .u64 p) {\n\
        .reg .f32 %f<3>; .reg .pred q;\nL: { .reg .f32 x; mul.rn.f32 %f0, x, 1.5; @q bra L; }\n\
        mov.u32 %f1, %tid.x; st.global.f32 [x], %f1; call f; }\n.func f { ret; }\n";

    fn declared(outline: &Outline, at: usize) -> Option<(&str, TokenClass, (usize, usize))> {
        let declaration = &outline.declarations[outline.used(at)?.declaration];
        Some((&declaration.name, declaration.class, declaration.span))
    }

    #[test]
    fn names_lead_to_the_declaration_of_their_scope() {
        let outline = outline(TEXT);
        let at = |text: &str| TEXT.find(text).unwrap();
        let (global, local) = (at("x;\n.func"), at("x; mul"));
        assert_eq!(declared(&outline, at("x, 1.5")), Some(("x", TokenClass::Register, (local, local + 1))));
        assert_eq!(declared(&outline, at("x], ")), Some(("x", TokenClass::Variable, (global, global + 1))));
        let label = at("L: {");
        assert_eq!(declared(&outline, at("L; }")), Some(("L", TokenClass::Label, (label, label + 1))));
        // The one with a body.
        let function = at("f { ret");
        assert_eq!(declared(&outline, at("f; }\n.func")), Some(("f", TokenClass::Function, (function, function + 1))));
        assert_eq!(declared(&outline, at("%f1, %tid")).unwrap().0, "%f");
        assert_eq!(declared(&outline, at("%tid")), None);
    }

    #[test]
    fn registers_of_a_range_have_their_own_uses() {
        let text =
            ".entry k () { .reg .f32 %f<4>; fma.rn.f32 %f1, %f2, %f01, %f3; { .reg .f32 %f<2>; neg.f32 %f1, %f1; } }";
        let outline = outline(text);
        let uses = |at| outline.uses_at(at).unwrap().map(|used| &text[used.start..used.end]).collect::<Vec<_>>();
        assert_eq!(uses(text.find("%f1").unwrap()), ["%f", "%f1", "%f01"]);
        assert_eq!(uses(text.find("%f3").unwrap()), ["%f", "%f3"]);
        assert_eq!(uses(text.rfind("%f1").unwrap()), ["%f", "%f1", "%f1"]);
        assert_eq!(uses(text.find("%f<").unwrap()), ["%f", "%f1", "%f2", "%f01", "%f3"]);
    }

    #[test]
    fn tokens_have_their_classes() {
        let outline = outline(TEXT);
        let class = |text: &str| outline.token(TEXT.find(text).unwrap()).unwrap().class;
        let found =
            ["// here", ".reg", "mul", ".rn", ".f32 %f0", "%f0", "%tid", ".x; st", "sm_90", "1.5", "k (", "q bra"];
        let classes = [
            TokenClass::Comment,
            TokenClass::Directive,
            TokenClass::Opcode,
            TokenClass::Modifier,
            TokenClass::Type,
            TokenClass::Register,
            TokenClass::Special,
            TokenClass::Modifier,
            TokenClass::Enumerant,
            TokenClass::Number,
            TokenClass::Function,
            TokenClass::Register,
        ];
        assert_eq!(found.map(class), classes);
        let multiply = outline.opcode(TEXT.find(".rn").unwrap()).unwrap();
        assert_eq!(multiply.spelling, "mul.rn.f32");
        assert_eq!(outline.sm, "sm_90".parse().ok());
    }
}
