//! What a row of the opcode table is made of.

use roundonce_isa::{Choice, Form, Gate, Language, Part, Range, Recipe, Slot};

use crate::fields::{self, Field};
use crate::opcodes::Encoded;

/// One mnemonic: its spelling, its operand forms with their encodings, and what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opcode {
    /// The mnemonic.
    pub name: &'static str,
    /// Its modifier slots, in the order in which they are printed.
    pub modifiers: &'static [Modifier],
    /// The operands as the manual writes them.
    pub operands: &'static str,
    /// What it becomes in a program.
    pub lowering: Lowering,
    /// Its operand forms. The first one that fits the operands of a statement is taken.
    pub forms: &'static [OperandForm],
    /// The mnemonic that takes a 32-bit immediate where this one takes a shorter one.
    pub long_immediate: Option<&'static str>,
    /// The document that describes it.
    pub source: &'static str,
    /// What a reader would not guess. Empty where nothing.
    pub note: &'static str,
}

/// What an instruction becomes in a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lowering {
    /// Arithmetic: the recipe before modifiers and signs are applied. Immediates are numbers.
    Arithmetic(Recipe),
    /// A copy of 32 bits. Immediates are patterns of bits, and a source has no sign.
    Move,
}

/// One modifier slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Modifier {
    /// Its spellings, and what each changes.
    pub slot: Slot,
    /// The value of the first choice: 0 if that is what no modifier means (`.RN`), otherwise 1.
    pub first: u8,
    /// A value that the encoding can hold and that means nothing, and the disassembler's name for it.
    pub illegal: Option<(u8, &'static str)>,
}

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandKind {
    /// `R0` to `R254`, and `RZ`, which reads as zero.
    Register,
    /// `c[0x3][0x140]`: a bank and an offset in bytes.
    Constant,
    /// A number, or its bits in hex.
    Immediate,
}

/// Where an operand is in the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandField {
    /// A register's number.
    Register(Field),
    /// A constant: its offset in words, and its bank.
    Constant {
        /// The offset, in units of 4 bytes.
        offset: Field,
        /// The bank.
        bank: Field,
    },
    /// The upper 20 bits of an f32, in two pieces; the lower 12 are zero.
    ShortImmediate {
        /// Bits 12 to 30 of the f32.
        low: Field,
        /// Bit 31 of the f32.
        sign: Field,
    },
    /// All 32 bits.
    Immediate(Field),
    /// The register that the destination's field holds.
    Destination,
    /// An operand of a form whose encoding is not known.
    Unencoded(OperandKind),
}

/// One operand form of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandForm {
    /// What distinguishes it from the opcode's other forms.
    pub name: &'static str,
    /// The operands in the order in which they are written, the destination first.
    pub operands: &'static [OperandField],
    /// The rest of the word; `None` where only the text is known.
    pub encoding: Option<Encoding>,
}

/// An encoded operand form as a type, so that encoder and decoder have a copy for each in which the form is a
/// constant: two to three times as fast as a loop over the form's fields.
pub(crate) trait EncodedForm {
    const ENCODED: Encoded;
    const FORM: OperandForm;
    const ENCODING: Encoding;
}

/// Something to do with an encoded form as a type.
pub(crate) trait FormVisitor {
    type Output;
    fn visit<F: EncodedForm>(self) -> Self::Output;
}

/// The 64-bit word of an operand form, apart from its operands and its guard. Every encoded instruction has a fixed
/// latency: it sets no barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encoding {
    pub(crate) encoded: Encoded,
    /// The bits that identify the form.
    pub mask: u64,
    /// Their values.
    pub bits: u64,
    /// The field of each of the opcode's modifiers.
    pub modifiers: &'static [Field],
    /// The sign bits.
    pub signs: &'static [SignField],
}

/// A sign bit. One bit may be the sign of several operands together: of a product, for instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignField {
    /// Where it is.
    pub field: Field,
    /// The operands whose signs it combines: bit n for operand n, the destination being operand 0.
    pub operands: u8,
    /// The operand on which it is printed.
    pub printed_on: usize,
}

/// The most operands that a form has.
pub const MAX_OPERANDS: usize = 4;
/// The most modifier slots that an opcode has.
pub(crate) const MAX_MODIFIERS: usize = 4;

impl Modifier {
    /// The choice that a value is.
    #[inline]
    pub(crate) fn choice(&self, value: u8) -> Option<&'static Choice> {
        self.slot.choices.get(usize::from(value.checked_sub(self.first)?))
    }
    /// The name of a value that means nothing.
    #[inline]
    pub(crate) fn illegal_text(&self, value: u8) -> Option<&'static str> {
        self.illegal.filter(|(illegal, _)| *illegal == value).map(|(_, text)| text)
    }
    /// As a value is printed: nothing for 0.
    #[inline]
    pub(crate) fn text(&self, value: u8) -> Option<&'static str> {
        match self.choice(value) {
            _ if value == 0 => None,
            Some(choice) => Some(choice.text),
            None => self.illegal_text(value),
        }
    }
}

impl OperandKind {
    /// As a finding writes it.
    pub const fn name(self) -> &'static str {
        match self {
            OperandKind::Register => "register",
            OperandKind::Constant => "constant",
            OperandKind::Immediate => "immediate",
        }
    }
}

impl OperandField {
    /// The kind of operand that it holds.
    pub const fn kind(self) -> OperandKind {
        match self {
            OperandField::Register(_) | OperandField::Destination => OperandKind::Register,
            OperandField::Constant { .. } => OperandKind::Constant,
            OperandField::ShortImmediate { .. } | OperandField::Immediate(_) => OperandKind::Immediate,
            OperandField::Unencoded(kind) => kind,
        }
    }
    /// The bits that it takes.
    pub const fn mask(self) -> u64 {
        match self {
            OperandField::Register(field) | OperandField::Immediate(field) => field.mask(),
            OperandField::Constant { offset, bank } => offset.mask() | bank.mask(),
            OperandField::ShortImmediate { low, sign } => low.mask() | sign.mask(),
            OperandField::Destination | OperandField::Unencoded(_) => 0,
        }
    }
}

impl Opcode {
    /// Its row among the arithmetic forms; `None` where it computes nothing.
    pub(crate) const fn form(&self, parts: &'static [Part]) -> Option<Form> {
        match self.lowering {
            Lowering::Move => None,
            Lowering::Arithmetic(recipe) => Some(Form {
                language: Language::Sass,
                mnemonic: self.name,
                parts,
                operands: self.operands,
                gate: Gate { target: Range::until(50, 62), ..Gate::needs(&["SPA 5.0"]) },
                recipe,
                source: self.source,
                note: self.note,
            }),
        }
    }
    /// Whether immediates are patterns of bits and not numbers.
    pub(crate) const fn immediates_are_bits(&self) -> bool {
        match self.lowering {
            Lowering::Move => true,
            Lowering::Arithmetic(_) => false,
        }
    }
    /// Whether it can be written as a word.
    pub fn is_encodable(&self) -> bool {
        self.forms.iter().any(|form| form.encoding.is_some())
    }
    /// The spelling as the manual writes it: mnemonic and modifier slots.
    pub fn syntax(&self) -> String {
        let slots = self.modifiers.iter().map(|modifier| format!("{{{}}}", modifier.slot.name));
        core::iter::once(self.name.to_owned()).chain(slots).collect()
    }
}

impl OperandForm {
    /// The bits that mean nothing in this form: kept, so that a word is reproduced exactly.
    pub const fn ignored(&self) -> u64 {
        match self.encoding {
            None => 0,
            Some(encoding) => !self.used(&encoding),
        }
    }
    const fn used(&self, encoding: &Encoding) -> u64 {
        let mut used = encoding.mask | fields::PREDICATE.mask() | fields::PREDICATE_NOT.mask();
        let mut index = 0;
        while index < self.operands.len() {
            used |= self.operands[index].mask();
            index += 1;
        }
        index = 0;
        while index < encoding.modifiers.len() {
            used |= encoding.modifiers[index].mask();
            index += 1;
        }
        index = 0;
        while index < encoding.signs.len() {
            used |= encoding.signs[index].field.mask();
            index += 1;
        }
        used
    }
    /// The number of bits in all fields together: equal to the number of used bits if no two overlap.
    const fn field_widths(&self, encoding: &Encoding) -> u32 {
        let mut bits = encoding.mask.count_ones() + fields::PREDICATE.width + fields::PREDICATE_NOT.width;
        let mut index = 0;
        while index < self.operands.len() {
            bits += self.operands[index].mask().count_ones();
            index += 1;
        }
        index = 0;
        while index < encoding.modifiers.len() {
            bits += encoding.modifiers[index].width;
            index += 1;
        }
        index = 0;
        while index < encoding.signs.len() {
            bits += encoding.signs[index].field.width;
            index += 1;
        }
        bits
    }
    /// Fails to compile where the form contradicts itself or its opcode.
    pub(crate) const fn validate(&self, opcode: &Opcode) {
        assert!(self.operands.len() <= MAX_OPERANDS && opcode.modifiers.len() <= MAX_MODIFIERS);
        let mut index = 0;
        while index < self.operands.len() {
            let unencoded = matches!(self.operands[index], OperandField::Unencoded(_));
            assert!(unencoded == self.encoding.is_none(), "an operand has a field where its form has an encoding");
            index += 1;
        }
        let Some(encoding) = self.encoding else { return };
        assert!(encoding.modifiers.len() == opcode.modifiers.len(), "each modifier has a field");
        assert!(encoding.bits & !encoding.mask == 0 && encoding.mask & !fields::OPCODE.mask() == 0);
        assert!(self.field_widths(&encoding) == self.used(&encoding).count_ones(), "two fields overlap");
        let mut index = 0;
        while index < encoding.signs.len() {
            let sign = &encoding.signs[index];
            assert!(sign.printed_on < self.operands.len() && sign.operands >> self.operands.len() == 0);
            assert!(sign.operands >> sign.printed_on & 1 == 1 && sign.operands & 1 == 0, "a destination has no sign");
            index += 1;
        }
    }
    /// Whether the last operand may be left out, because the word has it in the destination's field.
    pub(crate) const fn implies_last(&self) -> bool {
        matches!(self.operands.last(), Some(OperandField::Destination))
    }
    /// The operands' kinds, as a finding writes them: `register, register, constant, register`.
    pub fn kinds(&self) -> String {
        let names: Vec<&str> = self.operands.iter().map(|operand| operand.kind().name()).collect();
        names.join(", ")
    }
}
