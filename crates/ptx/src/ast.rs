//! A PTX module as data.
//!
//! Names, numbers and opcodes are slices of the text that was parsed; lists are ranges of pools that the [`Module`]
//! holds, so that an instruction costs no allocation. Ask the module for what a range means:
//! [`Module::operands`], [`Module::modifiers`], [`Module::variables`].
//!
//! What this is not: it resolves no name. Whether `x` is a register, a variable, a label or a function, and which of
//! several scopes declared it, is the work of who reads the tree.

use roundonce_isa::{Location, SmTarget, Version};

/// The first target without addresses of 32 bits.
pub(crate) const WIDE_ADDRESSES: u32 = 90;

/// A range of bytes of the text.
///
/// Two spans always compare equal: modules are equal when they say the same, wherever it stands.
#[derive(Clone, Copy, Default, Debug)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}
impl Eq for Span {}

impl Span {
    /// From a first byte to the byte after the last.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }
    /// From this span's start to the other's end.
    pub const fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end }
    }
    /// As a finding's place.
    pub const fn place(self) -> Location {
        Location::Span { start: self.start as usize, end: self.end as usize }
    }
    /// The bytes it covers; empty where the span is not of this text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

macro_rules! pool_range {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct $name {
            /// The first one's index in the pool.
            pub start: u32,
            /// How many.
            pub len: u32,
        }
        impl $name {
            pub(crate) fn range(self) -> core::ops::Range<usize> {
                self.start as usize..self.start as usize + self.len as usize
            }
        }
    };
}
pool_range!(
    /// Some operands of the module's pool, in order.
    Operands
);
pool_range!(
    /// Some modifiers of the module's pool, in order.
    Modifiers
);
pool_range!(
    /// Some variables of the module's pool, in order.
    Variables
);

/// One operand of the module's pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandId(pub u32);

/// A whole module.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Module<'a> {
    /// What stands at the top, in order.
    pub items: Vec<Item<'a>>,
    pub(crate) operands: Vec<Operand<'a>>,
    pub(crate) modifiers: Vec<&'a str>,
    pub(crate) variables: Vec<Variable<'a>>,
    pub(crate) source: Source<'a>,
}

/// The text a module was parsed from; like spans, no part of what a module says.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Source<'a>(pub(crate) &'a str);
impl PartialEq for Source<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Source<'_> {}

impl<'a> Module<'a> {
    /// The text it was parsed from.
    pub fn text(&self) -> &'a str {
        self.source.0
    }
    /// The operands of a range.
    pub fn operands(&self, range: Operands) -> &[Operand<'a>] {
        self.operands.get(range.range()).unwrap_or_default()
    }
    /// One operand.
    ///
    /// # Panics
    /// If the id is another module's.
    pub fn operand(&self, id: OperandId) -> &Operand<'a> {
        &self.operands[id.0 as usize]
    }
    /// The modifiers of a range, each with its dot: `.rn`, `.L2::128B`.
    pub fn modifiers(&self, range: Modifiers) -> &[&'a str] {
        self.modifiers.get(range.range()).unwrap_or_default()
    }
    /// The variables of a range.
    pub fn variables(&self, range: Variables) -> &[Variable<'a>] {
        self.variables.get(range.range()).unwrap_or_default()
    }
    /// Where a name, modifier or number of this module stands in its text; nothing if it is no slice of it.
    pub fn span_of(&self, part: &str) -> Option<Span> {
        let start = (part.as_ptr() as usize).checked_sub(self.source.0.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        (end <= self.source.0.len()).then(|| Span::new(start as u32, end as u32))
    }
    /// What `.version` says, the first if several do.
    pub fn version(&self) -> Option<Version> {
        self.items.iter().find_map(|item| match item {
            Item::Version { version, .. } => Some(*version),
            _ => None,
        })
    }
    /// The words of every `.target`: `sm_20`, `map_f64_to_f32`.
    pub fn targets(&self) -> impl Iterator<Item = &'a str> {
        let lists = self.items.iter().filter_map(|item| match item {
            Item::Target { words, .. } => Some(self.operands(*words)),
            _ => None,
        });
        lists.flatten().filter_map(|word| word.name())
    }
    /// The last `sm_` target.
    pub fn target(&self) -> Option<SmTarget> {
        self.targets().filter_map(|word| word.parse().ok()).last()
    }
    /// What `.address_size` says; where nothing does, 32 for targets that have such addresses.
    pub fn address_size(&self) -> u32 {
        let size = self.items.iter().find_map(|item| match item {
            Item::AddressSize { bits, .. } => Some(*bits),
            _ => None,
        });
        size.unwrap_or(if self.target().is_some_and(|target| target.number >= WIDE_ADDRESSES) { 64 } else { 32 })
    }
    /// Every function with or without a body.
    pub fn functions(&self) -> impl Iterator<Item = &Function<'a>> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(&**function),
            _ => None,
        })
    }
}

/// What stands at the top of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item<'a> {
    /// `.version 8.6`
    Version {
        /// The directive.
        span: Span,
        /// What it says.
        version: Version,
    },
    /// `.target sm_20, map_f64_to_f32`
    Target {
        /// The directive.
        span: Span,
        /// Names.
        words: Operands,
    },
    /// `.address_size 64`
    AddressSize {
        /// The directive.
        span: Span,
        /// 32 or 64.
        bits: u32,
    },
    /// A variable, or several declared at once.
    Variables(Variables),
    /// A `.entry` or `.func`.
    Function(Box<Function<'a>>),
    /// Anything else that begins with a dot: `.file`, `.alias`, `.pragma`, and what this parser does not know.
    Directive(Directive<'a>),
    /// A source line, which no assembler takes outside functions.
    Line(Box<Line<'a>>),
    /// Debug data.
    Section(Box<Section<'a>>),
    /// A line of the debug data of PTX 1.x, `@@DWARF` and what follows it, as it stands.
    Dwarf(&'a str),
}

/// A directive and its operands: `.pragma "nounroll"`, `.maxntid 16, 16`, `.branchtargets A, B`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Directive<'a> {
    /// The whole.
    pub span: Span,
    /// With its dot.
    pub name: &'a str,
    /// In order.
    pub operands: Operands,
}

/// `.loc FILE LINE COLUMN`, with what it was inlined into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line<'a> {
    /// The whole.
    pub span: Span,
    /// The index that a `.file` gave.
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// `function_name LABEL` or `LABEL+OFFSET`, then `inlined_at FILE LINE COLUMN`.
    pub inlined: Option<(&'a str, Option<u32>, [u32; 3])>,
}

/// `.section NAME { … }`: debug data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section<'a> {
    /// The whole.
    pub span: Span,
    /// `.debug_info`
    pub name: &'a str,
    /// What stands between the braces, word for word: no instruction reads it.
    pub body: &'a str,
}

/// Who else sees a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// `.extern`: defined elsewhere.
    Extern,
    /// `.visible`: seen elsewhere.
    Visible,
    /// `.weak`: seen elsewhere, and elsewhere's wins.
    Weak,
    /// `.common`: seen elsewhere, and the largest wins.
    Common,
}

impl Linkage {
    /// Every one, in the order of the enumeration.
    pub const ALL: [Linkage; 4] = [Linkage::Extern, Linkage::Visible, Linkage::Weak, Linkage::Common];
    /// As written, its dot included.
    pub const fn text(self) -> &'static str {
        match self {
            Linkage::Extern => ".extern",
            Linkage::Visible => ".visible",
            Linkage::Weak => ".weak",
            Linkage::Common => ".common",
        }
    }
}

/// Where a variable lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// `.reg`
    Reg,
    /// `.sreg`
    Sreg,
    /// `.const`, in PTX before 2.2 with a bank: `.const[2]`.
    Const(Option<u8>),
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.param`
    Param,
    /// `.shared`
    Shared,
    /// `.tex`
    Tex,
}

impl Space {
    /// Every one without a bank.
    pub const ALL: [Space; 8] = [
        Space::Reg,
        Space::Sreg,
        Space::Const(None),
        Space::Global,
        Space::Local,
        Space::Param,
        Space::Shared,
        Space::Tex,
    ];
    /// As written without its bank, its dot included.
    pub const fn text(self) -> &'static str {
        match self {
            Space::Reg => ".reg",
            Space::Sreg => ".sreg",
            Space::Const(_) => ".const",
            Space::Global => ".global",
            Space::Local => ".local",
            Space::Param => ".param",
            Space::Shared => ".shared",
            Space::Tex => ".tex",
        }
    }
}

/// One declared name. `.reg .f32 a, b;` makes two; the second's [`continues`](Variable::continues) is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable<'a> {
    /// From the directive (of a name that continues: from the name) to its end.
    pub span: Span,
    /// Who else sees it.
    pub linkage: Option<Linkage>,
    /// Where it lives.
    pub space: Space,
    /// `.align 8`
    pub align: Option<u32>,
    /// `.v2`, `.v4`, `.v8`; otherwise 1.
    pub lanes: u8,
    /// `.f32`, with its dot.
    pub ty: &'a str,
    /// The operands of `.attribute(…)`.
    pub attributes: Operands,
    /// `.ptr .global .align 4` of a kernel's parameter.
    pub pointer: Option<Pointer<'a>>,
    /// `%f`; in a `.callprototype` often `_`.
    pub name: &'a str,
    /// `%f<4>`: this many registers, named `%f0` to `%f3`.
    pub count: Option<u32>,
    /// `[4][8]`, as constant expressions; [`OperandKind::Empty`] for `[]`.
    pub dimensions: Operands,
    /// What stands after `=`.
    pub initial: Option<OperandId>,
    /// Whether it shares the declaration before it, after a comma.
    pub continues: bool,
}

/// `.ptr{.space}{.align N}`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer<'a> {
    /// `.global`, with its dot.
    pub space: Option<&'a str>,
    /// Of what it points to.
    pub align: Option<u32>,
}

/// A kernel or a function, declared or defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function<'a> {
    /// From its first directive to its end.
    pub span: Span,
    /// Who else sees it.
    pub linkage: Option<Linkage>,
    /// `.entry`, not `.func`.
    pub is_entry: bool,
    /// The operands of `.attribute(…)`.
    pub attributes: Operands,
    /// What it returns.
    pub returns: Variables,
    /// Its name.
    pub name: &'a str,
    /// Whether a list of parameters is written, if only an empty one.
    pub has_list: bool,
    /// What it takes.
    pub parameters: Variables,
    /// `.maxntid`, `.noreturn`, `.pragma` …
    pub directives: Vec<Directive<'a>>,
    /// Absent in a declaration.
    pub body: Option<Vec<Statement<'a>>>,
}

/// What stands in a function's body. Blocks are kept flat, as their braces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement<'a> {
    /// `{`
    Open(Span),
    /// `}`
    Close(Span),
    /// `LABEL:`
    Label(&'a str),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// A declaration.
    Variables(Variables),
    /// `.pragma`, `.branchtargets`, `.calltargets`, and what this parser does not know.
    Directive(Directive<'a>),
    /// A `.loc`.
    Line(Box<Line<'a>>),
    /// A `.callprototype`: a function without a body, its name mostly `_`.
    Prototype(Box<Function<'a>>),
    /// Debug data.
    Section(Box<Section<'a>>),
    /// A line of PTX 1.x debug data.
    Dwarf(&'a str),
}

/// An instruction as written. Whether anybody knows its opcode is not asked here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction<'a> {
    /// From the guard to the semicolon, the latter left out.
    pub span: Span,
    /// `fma`
    pub opcode: &'a str,
    /// `.rn`, `.f32`, in the order written.
    pub modifiers: Modifiers,
    /// In order.
    pub operands: Operands,
    pub(crate) guard: GuardKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GuardKind {
    None,
    If,
    IfNot,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard<'m, 'a> {
    /// What is asked, mostly a name.
    pub predicate: &'m Operand<'a>,
    /// `@!p`
    pub negated: bool,
}

impl Directive<'_> {
    /// Whether it is the list that the label before it names: of where a `brx.idx` goes, or what a call calls.
    pub(crate) fn is_target_list(&self) -> bool {
        is_target_list(self.name)
    }
}

/// Whether a directive of such a name is a list of targets.
pub(crate) fn is_target_list(name: &str) -> bool {
    matches!(name, ".branchtargets" | ".calltargets")
}

impl<'a> Instruction<'a> {
    /// The guard in front of it. It is stored in the pool before the operands.
    pub fn guard<'m>(&self, module: &'m Module<'a>) -> Option<Guard<'m, 'a>> {
        let negated = match self.guard {
            GuardKind::None => return None,
            GuardKind::If => false,
            GuardKind::IfNot => true,
        };
        let predicate = module.operands.get((self.operands.start as usize).checked_sub(1)?)?;
        Some(Guard { predicate, negated })
    }
    /// The opcode with its modifiers as a part of the text, white space and comments included.
    pub(crate) fn spelled(&self, module: &Module<'a>) -> Option<&'a str> {
        let start = module.span_of(self.opcode)?;
        let end = module.modifiers(self.modifiers).last().map_or(Some(start), |word| module.span_of(word))?;
        Some(start.to(end).of(module.text())).filter(|text| !text.is_empty())
    }
    /// The opcode with its modifiers, as written but for white space: `fma.rn.f32`.
    pub fn spelling(&self, module: &Module<'a>) -> String {
        module.modifiers(self.modifiers).iter().fold(self.opcode.to_owned(), |all, part| all + part)
    }
}

/// An operand and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand<'a> {
    /// The whole.
    pub span: Span,
    /// What it is.
    pub kind: OperandKind<'a>,
}

impl<'a> Operand<'a> {
    /// The name, if it is one.
    pub fn name(&self) -> Option<&'a str> {
        match self.kind {
            OperandKind::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// The shapes of operands and constant expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind<'a> {
    /// Nothing: the size of `[]`.
    Empty,
    /// `%f1`, `x`, `LABEL`, `WARP_SZ`
    Name(&'a str),
    /// `%tid.x`, `v.y`, `a.b0`: a name and a component of it.
    Component(&'a str, Component),
    /// `L<3>`: `L0`, `L1` and `L2`, in a list of targets.
    Range(&'a str, u32),
    /// `x.b3210`: bytes or half-words of what a video instruction reads or writes.
    Selected(&'a str, &'a str),
    /// `1.0`, `0f3F800000`, `0x10`, `42U`: see [`crate::literal`].
    Number(&'a str),
    /// A string without its quotes.
    Text(&'a str),
    /// A word with its dot: `.managed`, `.debug_info`.
    Dot(&'a str),
    /// `_`
    Discard,
    /// `[a+4]`, `[tex, {x, y}]`
    Address(Operands),
    /// `{a, b}`
    Vector(Operands),
    /// `(a, b)`: the parameters of a call.
    List(Operands),
    /// `d|p`
    Pair(Operands),
    /// `a[4]`: a name and its index.
    Index(Operands),
    /// `generic(x)`, `0xff(x)`, `.unified(1, 2)`: the first operand is what is applied.
    Apply(Operands),
    /// `width = 5` in an initialiser: two operands.
    Assign(Operands),
    /// `(1 + 2)` in an expression.
    Group(OperandId),
    /// `-x`, `!p`, `~1`
    Unary(Unary, OperandId),
    /// `(.s64) x`
    Cast(Cast, OperandId),
    /// `a + 4`: two operands.
    Binary(Binary, Operands),
    /// `a ? b : c`: three operands.
    Choose(Operands),
}

macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident => $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($(#[$vdoc])* #[doc = concat!("`", $text, "`")] $variant),* }
        impl $name {
            /// Every one.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            /// As written.
            pub const fn text(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }
            /// The one written so.
            pub fn of(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

spelled!(
    /// A component of a name: of a vector, of a special register.
    Component {
        X => ".x", Y => ".y", Z => ".z", W => ".w",
        R => ".r", G => ".g", B => ".b", A => ".a",
    }
);
spelled!(
    /// Operators before an expression.
    Unary { Plus => "+", Minus => "-", Not => "!", Complement => "~" }
);
spelled!(
    /// Conversions before an expression.
    Cast { S64 => ".s64", U64 => ".u64" }
);
spelled!(
    /// Operators between expressions.
    Binary {
        Multiply => "*", Divide => "/", Remainder => "%", Add => "+", Subtract => "-",
        ShiftLeft => "<<", ShiftRight => ">>",
        Less => "<", LessEqual => "<=", Greater => ">", GreaterEqual => ">=", Equal => "==", NotEqual => "!=",
        BitAnd => "&", BitXor => "^", BitOr => "|", And => "&&", Or => "||",
    }
);

impl Binary {
    /// How tightly it binds: C's order, 10 for multiplication down to 1 for `||`.
    pub const fn precedence(self) -> u8 {
        match self {
            Binary::Multiply | Binary::Divide | Binary::Remainder => 10,
            Binary::Add | Binary::Subtract => 9,
            Binary::ShiftLeft | Binary::ShiftRight => 8,
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => 7,
            Binary::Equal | Binary::NotEqual => 6,
            Binary::BitAnd => 5,
            Binary::BitXor => 4,
            Binary::BitOr => 3,
            Binary::And => 2,
            Binary::Or => 1,
        }
    }
}
