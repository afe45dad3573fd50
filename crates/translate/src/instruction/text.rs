//! What the languages share: names of operands, the parts of a text, what a language has to say.

use roundonce_arith::{ArithOp, Clamp, Format, Operation};
use roundonce_isa::{Gate, Recipe, hexadecimal};

/// What an implementation may choose of a NaN.
pub(crate) const NAN_BITS: &str = "the bits of a NaN";

/// The names of a, b and c, and of the result.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) operands: [String; 3],
    pub(crate) result: String,
}

impl Names {
    pub(crate) fn plain(mark: &str) -> Names {
        let name = |letter: &str| format!("{mark}{letter}");
        Names { operands: ["a", "b", "c"].map(name), result: name("d") }
    }

    /// Those that an operation takes.
    pub(crate) fn taken(&self, operation: &Operation) -> Vec<&str> {
        operation.op.operands().iter().map(|&operand| self.operands[operand as usize].as_str()).collect()
    }

    /// The factors get other names: for each the old and the new one.
    pub(crate) fn rename_factors(&mut self, mark: &str) -> [(String, String); 2] {
        [("a", 0), ("b", 1)].map(|(letter, operand)| {
            let new = format!("{mark}z{letter}");
            (std::mem::replace(&mut self.operands[operand], new.clone()), new)
        })
    }
}

/// The parts of a counterpart's text.
#[derive(Clone, Default, Debug)]
pub(crate) struct Text {
    pub(crate) code: Vec<String>,
    /// Declarations that stand before the code.
    pub(crate) declared: Vec<String>,
    pub(crate) around: Vec<String>,
    pub(crate) flags: Vec<String>,
    pub(crate) needs: Vec<String>,
    pub(crate) open: Vec<&'static str>,
    pub(crate) gate: Option<Gate>,
}

impl Text {
    pub(crate) fn append(&mut self, other: Text) {
        self.code.extend(other.code);
        self.declared.extend(other.declared);
        other.around.into_iter().for_each(|line| self.stands(line));
        add(&mut self.flags, other.flags);
        add(&mut self.needs, other.needs);
        add(&mut self.open, other.open);
        self.gate = other.gate.or(self.gate);
    }

    /// A line that stands elsewhere, once.
    pub(crate) fn stands(&mut self, line: impl Into<String>) {
        let line = line.into();
        if !self.around.contains(&line) {
            self.around.push(line);
        }
    }
}

/// Appends what is not there yet.
fn add<T: PartialEq>(known: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !known.contains(&one) {
            known.push(one);
        }
    }
}

/// An instruction, a function or an operator, and the text that uses it.
pub(crate) struct Core {
    pub(crate) spelling: String,
    pub(crate) text: Text,
}

/// A language that spells operations and the steps around them.
pub(crate) trait Writer {
    /// The operands' names.
    fn names(&self, operation: &Operation, components: u32) -> Names;
    /// Every spelling of a recipe as it is, without steps.
    fn cores(&self, recipe: &Recipe, names: &Names) -> Vec<Core>;
    /// A name of an expression as the language has it.
    fn name(&self, name: &str) -> String {
        name.to_owned()
    }
    /// An operand in a format that holds it; `new` is free for a name. `None` where the language has no text for it.
    fn converted(&self, from: Format, to: Format, operand: &str, new: &str, text: &mut Text) -> Option<String>;
    /// An operand with its sign flipped.
    fn negated(&self, _format: Format, _operand: &str, _new: &str, _text: &mut Text) -> Option<String> {
        None
    }
    /// The result `new` of an expression, which is the negated `from`.
    fn negate_result(&self, format: Format, from: &str, new: &str, text: &mut Text) {
        self.negated(format, from, new, text);
    }
    /// A constant, the same in each component.
    fn constant(&self, format: Format, components: u32, bits: u64, new: &str, text: &mut Text) -> Option<String>;
    /// If a or b of f32 is zero or subnormal, both become +0.
    fn zero_factors(&self, _names: &mut Names, _text: &mut Text) -> Option<()> {
        None
    }
    /// Whether [`clamp`](Writer::clamp) writes it.
    fn clamps(&self, _clamp: Clamp, _recipe: &Recipe) -> bool {
        false
    }
    /// The name of a result before it is clamped.
    fn unclamped(&self, result: &str) -> String {
        result.replace('d', "r")
    }
    /// Writes the clamp of `from` to `to`.
    fn clamp(&self, _clamp: Clamp, _recipe: &Recipe, _from: &str, _to: &str, _text: &mut Text) {}
    /// Whether every core is written beside steps, or the plainest alone.
    fn writes_all_beside_steps(&self) -> bool {
        true
    }
    /// The last touch to a whole text.
    fn finish(&self, _recipe: &Recipe, _text: &mut Text) {}
    /// Why there is no counterpart with these fields.
    fn reasons(&self, fields: &[&str]) -> Vec<&'static str>;
}

/// The clamp as C and its descendants write it.
pub(crate) fn selection(clamp: Clamp, from: &str, [zero, one]: [&str; 2]) -> String {
    match clamp {
        Clamp::Unit => format!("{from} > {zero} ? ({from} < {one} ? {from} : {one}) : {zero}"),
        Clamp::None | Clamp::Relu => format!("{from} > {zero} || {from} != {from} ? {from} : {zero}"),
    }
}

/// A finite number as C and its descendants have it.
pub(crate) fn c_literal(format: Format, bits: u64) -> Option<String> {
    let digits = hexadecimal(format, bits);
    match format {
        _ if format.is_nan(bits) || format.is_infinite(bits) => None,
        Format::F32 => Some(format!("{digits}f")),
        Format::F64 => Some(digits),
        _ => None,
    }
}

/// Whether a recipe is an IEEE operation of one format, a difference among them, with nothing around it.
pub(crate) fn is_plain(recipe: &Recipe) -> bool {
    let operation = &recipe.operation;
    let has_sign = operation.negate_product || operation.negate_addend && operation.op != ArithOp::Add;
    operation.is_uniform()
        && operation.op != ArithOp::TruncatedMulAdd
        && operation.clamp == Clamp::None
        && !(has_sign || operation.fmz || operation.oob || recipe.condition_codes)
}
