//! The operand forms: one row each, from which encoder, decoder, parser and printer all work.
//!
//! A row of [`FORMS`] is a mnemonic as its manual writes it; a [`Shape`] is one of its operand forms with the places
//! of everything in the word.

use roundonce_isa::Form;

use crate::fields::{self, Field};
use crate::forms::FORMS;

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// `R0` to `R254`, and `RZ`, which reads as zero.
    Register,
    /// `c[0x3][0x140]`: a bank and an offset in bytes.
    Constant,
    /// A number, or its bits in hex.
    Immediate,
}

impl Kind {
    /// As a finding says it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Register => "register",
            Kind::Constant => "constant",
            Kind::Immediate => "immediate",
        }
    }
}

/// Where an operand stands in the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
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
    /// Read and written as text; its place in the word is not part of the documents.
    Text(Kind),
}

impl Place {
    /// What an operand in this place is.
    pub const fn kind(self) -> Kind {
        match self {
            Place::Register(_) | Place::Destination => Kind::Register,
            Place::Constant { .. } => Kind::Constant,
            Place::ShortImmediate { .. } | Place::Immediate(_) => Kind::Immediate,
            Place::Text(kind) => kind,
        }
    }
    /// The bits that it takes.
    pub const fn mask(self) -> u64 {
        match self {
            Place::Register(field) | Place::Immediate(field) => field.mask(),
            Place::Constant { offset, bank } => offset.mask() | bank.mask(),
            Place::ShortImmediate { low, sign } => low.mask() | sign.mask(),
            Place::Destination | Place::Text(_) => 0,
        }
    }
}

/// One modifier slot of the row, in the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModifierField {
    /// Where its value stands.
    pub field: Field,
    /// The value of the slot's first choice: 0 if that is what no modifier means (`.RN`), otherwise 1.
    pub first: u8,
    /// A value that the field can hold and that means nothing, and the disassembler's name for it.
    pub illegal: Option<(u8, &'static str)>,
}

/// The binary side of a shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encoding {
    /// The bits that tell this form from every other.
    pub mask: u64,
    /// Their values.
    pub opcode: u64,
    /// The sign of the product.
    pub negate_product: Field,
    /// The operand that a negated product is printed on, counted from the destination.
    pub product_sign_on: usize,
    /// The sign of the addend.
    pub negate_addend: Field,
}

/// One operand form of one mnemonic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The first word of the spelling.
    pub mnemonic: &'static str,
    /// The row that says what it computes; `None` for a move.
    pub form: Option<&'static Form>,
    /// What tells it from its siblings.
    pub name: &'static str,
    /// The operands as they are written, the destination first.
    pub places: &'static [Place],
    /// The row's modifier slots, in the row's order.
    pub modifiers: &'static [ModifierField],
    /// The rest of the word; `None` where only the text is known.
    pub encoding: Option<Encoding>,
}

/// The most operands that a shape has.
pub const MAX_OPERANDS: usize = 4;
/// The most modifier slots that a row has.
pub(crate) const MAX_SLOTS: usize = 4;

impl Shape {
    /// The bits that mean nothing in this form: kept, so that a word comes back as it was.
    pub const fn ignored(&self) -> u64 {
        match self.encoding {
            None => 0,
            Some(encoding) => !self.used(&encoding),
        }
    }
    const fn used(&self, encoding: &Encoding) -> u64 {
        let mut used = encoding.mask
            | fields::PREDICATE.mask()
            | fields::PREDICATE_NOT.mask()
            | encoding.negate_product.mask()
            | encoding.negate_addend.mask();
        let mut index = 0;
        while index < self.places.len() {
            used |= self.places[index].mask();
            index += 1;
        }
        index = 0;
        while index < self.modifiers.len() {
            used |= self.modifiers[index].field.mask();
            index += 1;
        }
        used
    }
    /// The operands' kinds, as a finding writes them: `register, register, constant, register`.
    pub fn kinds(&self) -> String {
        let names: Vec<&str> = self.places.iter().map(|place| place.kind().name()).collect();
        names.join(", ")
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    a.len() == b.len() && index == a.len()
}

/// The row of a mnemonic; the compiler stops where there is none.
const fn row(mnemonic: &str) -> Option<&'static Form> {
    let mut index = 0;
    while !same(FORMS[index].mnemonic, mnemonic) {
        index += 1;
    }
    Some(&FORMS[index])
}

const fn modifier(field: Field, first: u8) -> ModifierField {
    ModifierField { field, first, illegal: None }
}
const FMZ: ModifierField = ModifierField { field: fields::FMZ, first: 1, illegal: Some((3, ".INVALIDFMZ3")) };
const FFMA_MODIFIERS: &[ModifierField] =
    &[FMZ, modifier(fields::ROUNDING, 0), modifier(fields::SAT, 1), modifier(fields::CC, 1)];
const FFMA32I_MODIFIERS: &[ModifierField] = &[FMZ, modifier(fields::LONG_SAT, 1), modifier(fields::LONG_CC, 1)];
/// The neighbours' modifiers are text: the values only number the choices.
const TEXT: ModifierField = modifier(Field { name: "text", low: 0, width: 0 }, 1);
const TEXT_RND: ModifierField = ModifierField { first: 0, ..TEXT };

const RD: Place = Place::Register(fields::RD);
const RA: Place = Place::Register(fields::RA);
const RB: Place = Place::Register(fields::RB);
const RC: Place = Place::Register(fields::RC);
const CONSTANT: Place = Place::Constant { offset: fields::OFFSET, bank: fields::BANK };
const SHORT: Place = Place::ShortImmediate { low: fields::IMMEDIATE_LOW, sign: fields::IMMEDIATE_SIGN };
const R: Place = Place::Text(Kind::Register);
const C: Place = Place::Text(Kind::Constant);
const I: Place = Place::Text(Kind::Immediate);

const fn ffma(name: &'static str, places: &'static [Place], mask: u64, opcode: u64) -> Shape {
    let encoding = Encoding {
        mask,
        opcode,
        negate_product: fields::NEGATE_PRODUCT,
        product_sign_on: 2,
        negate_addend: fields::NEGATE_ADDEND,
    };
    Shape { mnemonic: "FFMA", form: row("FFMA"), name, places, modifiers: FFMA_MODIFIERS, encoding: Some(encoding) }
}
const fn text(
    mnemonic: &'static str,
    name: &'static str,
    modifiers: &'static [ModifierField],
    places: &'static [Place],
) -> Shape {
    Shape { mnemonic, form: row(mnemonic), name, places, modifiers, encoding: None }
}
const fn moves(mnemonic: &'static str, name: &'static str, places: &'static [Place]) -> Shape {
    Shape { mnemonic, form: None, name, places, modifiers: &[], encoding: None }
}

const ALL_9: u64 = fields::OPCODE.mask();
/// Bit 56 is the immediate's sign.
const ALL_BUT_SIGN: u64 = ALL_9 & !fields::IMMEDIATE_SIGN.mask();
/// Bits 55 to 57 are modifiers.
const TOP_6: u64 = 0b1111_1100 << 56;

/// Every operand form.
#[rustfmt::skip] // One row a form, so that rows can be compared.
pub const SHAPES: &[Shape] = &[
    ffma("register",             &[RD, RA, RB, RC],       ALL_9,        0b0_1011_0011 << 55),
    ffma("constant Sb",          &[RD, RA, CONSTANT, RC], ALL_9,        0b0_1001_0011 << 55),
    ffma("constant Sc",          &[RD, RA, RC, CONSTANT], ALL_9,        0b0_1010_0011 << 55),
    ffma("20-bit immediate Sb",  &[RD, RA, SHORT, RC],    ALL_BUT_SIGN, 0b0_0110_0101 << 55),
    Shape {
        mnemonic: "FFMA32I", form: row("FFMA32I"), name: "32-bit immediate",
        places: &[RD, RA, Place::Immediate(fields::IMMEDIATE_32), Place::Destination],
        modifiers: FFMA32I_MODIFIERS,
        encoding: Some(Encoding {
            mask: TOP_6, opcode: 0b0000_1100 << 56,
            negate_product: fields::LONG_NEGATE_A, product_sign_on: 1, negate_addend: fields::LONG_NEGATE_C,
        }),
    },
    text("FADD", "register",  &[TEXT, TEXT_RND, TEXT, TEXT], &[R, R, R]),
    text("FADD", "constant",  &[TEXT, TEXT_RND, TEXT, TEXT], &[R, R, C]),
    text("FADD", "immediate", &[TEXT, TEXT_RND, TEXT, TEXT], &[R, R, I]),
    text("FMUL", "register",  &[TEXT, TEXT_RND, TEXT, TEXT], &[R, R, R]),
    text("FMUL", "constant",  &[TEXT, TEXT_RND, TEXT, TEXT], &[R, R, C]),
    text("FMUL", "immediate", &[TEXT, TEXT_RND, TEXT, TEXT], &[R, R, I]),
    text("FADD32I", "32-bit immediate", &[TEXT, TEXT],       &[R, R, I]),
    text("FMUL32I", "32-bit immediate", &[TEXT, TEXT, TEXT], &[R, R, I]),
    moves("MOV", "register",  &[R, R]),
    moves("MOV", "constant",  &[R, C]),
    moves("MOV", "immediate", &[R, I]),
    moves("MOV32I", "32-bit immediate", &[R, I]),
];

// What the table must hold for the rest to work, settled by the compiler.
const _: () = {
    let mut index = 0;
    while index < SHAPES.len() {
        let shape = &SHAPES[index];
        assert!(shape.places.len() <= MAX_OPERANDS && shape.modifiers.len() <= MAX_SLOTS);
        if let Some(form) = shape.form {
            assert!(form.parts.len() == shape.modifiers.len(), "a modifier slot without a place, or the reverse");
        }
        if let Some(encoding) = shape.encoding {
            assert!(encoding.opcode & !encoding.mask == 0 && encoding.mask & !ALL_9 == 0);
            // Fields that overlap would be fewer bits together than one by one.
            let mut bits = encoding.mask.count_ones() + 6;
            let mut place = 0;
            while place < shape.places.len() {
                bits += shape.places[place].mask().count_ones();
                place += 1;
            }
            let mut slot = 0;
            while slot < shape.modifiers.len() {
                bits += shape.modifiers[slot].field.width;
                slot += 1;
            }
            assert!(bits == (!shape.ignored()).count_ones(), "two fields overlap");
        }
        index += 1;
    }
};

/// Up to eight bytes as one number, so that words are compared at once.
const fn packed(word: &[u8]) -> u64 {
    let mut number = 0;
    let mut index = 0;
    while index < word.len() && index < 8 {
        number |= (word[index] as u64) << (8 * index);
        index += 1;
    }
    number
}

/// The same for a word at the start of a text, read in one step where the text is long enough.
#[inline]
fn packed_start(text: &[u8], length: usize) -> u64 {
    match text.first_chunk::<8>() {
        Some(eight) if length < 8 => u64::from_le_bytes(*eight) & ((1 << (8 * length)) - 1),
        Some(eight) => u64::from_le_bytes(*eight),
        None => packed(&text[..length.min(text.len())]),
    }
}

/// The mnemonics, packed (none is longer than eight letters), each with its first shape and its number of shapes.
const MNEMONICS: [(u64, u8, u8); 8] = {
    let mut table = [(0, 0, 0); 8];
    let mut index = 0;
    let mut count = 0;
    while index < SHAPES.len() {
        let name = packed(SHAPES[index].mnemonic.as_bytes());
        assert!(SHAPES[index].mnemonic.len() <= 8);
        if index > 0 && table[count - 1].0 == name {
            table[count - 1].2 += 1;
        } else {
            table[count] = (name, index as u8, 1);
            count += 1;
        }
        index += 1;
    }
    assert!(count == 8, "one entry for each mnemonic");
    table
};

/// The shapes of the mnemonic in the first `length` bytes of a text: the first one's index, and how many there are.
#[inline]
pub(crate) fn shapes_of(text: &[u8], length: usize) -> Option<(u8, u8)> {
    let name = packed_start(text, length);
    let found = MNEMONICS.iter().find(|(known, ..)| *known == name)?;
    (length <= 8).then_some((found.1, found.2))
}

/// One modifier as text.
#[derive(Clone, Copy)]
struct Spelling {
    packed: u64,
    text: &'static str,
    /// The slot that it stands in.
    slot: u8,
    /// The slot's value.
    value: u8,
}

const MAX_SPELLINGS: usize = 10;

/// Every modifier of each shape, the illegal ones included.
const SPELLINGS: [[Spelling; MAX_SPELLINGS]; SHAPES.len()] = {
    let mut table = [[Spelling { packed: 0, text: "", slot: 0, value: 0 }; MAX_SPELLINGS]; SHAPES.len()];
    let mut index = 0;
    while index < SHAPES.len() {
        let shape = &SHAPES[index];
        let mut count = 0;
        let mut slot = 0;
        while slot < shape.modifiers.len() {
            let field = &shape.modifiers[slot];
            if let Some(form) = shape.form
                && let roundonce_isa::Part::Slot(part) = &form.parts[slot]
            {
                let mut choice = 0;
                while choice < part.choices.len() {
                    let text = part.choices[choice].text;
                    let value = choice as u8 + field.first;
                    table[index][count] = Spelling { packed: packed(text.as_bytes()), text, slot: slot as u8, value };
                    count += 1;
                    choice += 1;
                }
            }
            if let Some((value, text)) = field.illegal {
                table[index][count] = Spelling { packed: packed(text.as_bytes()), text, slot: slot as u8, value };
                count += 1;
            }
            slot += 1;
        }
        index += 1;
    }
    table
};

/// The slot and the value of the modifier in the first `length` bytes of a text, its dot included.
#[inline]
pub(crate) fn modifier_of(shape: u8, text: &[u8], length: usize) -> Option<(u8, u8)> {
    let name = packed_start(text, length);
    let found = SPELLINGS[usize::from(shape)].iter().find(|spelling| spelling.packed == name)?;
    // Eight letters and the length say all of a name that is no longer.
    let exact = length == found.text.len() && (length <= 8 || text.get(..length)? == found.text.as_bytes());
    exact.then_some((found.slot, found.value))
}

/// How many shapes have an encoding: the first ones of [`SHAPES`].
pub(crate) const ENCODABLE: usize = {
    let mut count = 0;
    while count < SHAPES.len() && SHAPES[count].encoding.is_some() {
        count += 1;
    }
    let mut index = count;
    while index < SHAPES.len() {
        assert!(SHAPES[index].encoding.is_none(), "the encodable shapes come first");
        index += 1;
    }
    count
};

/// No form has this opcode.
const NO_SHAPE: u8 = u8::MAX;

/// The shape of each value of the nine opcode bits.
pub(crate) const BY_OPCODE: [u8; 512] = {
    let mut table = [NO_SHAPE; 512];
    let mut opcode = 0;
    while opcode < 512 {
        let word = (opcode as u64) << fields::OPCODE.low;
        let mut index = 0;
        while index < SHAPES.len() {
            if let Some(encoding) = SHAPES[index].encoding
                && word & encoding.mask == encoding.opcode
            {
                assert!(table[opcode] == NO_SHAPE, "one opcode, two forms");
                table[opcode] = index as u8;
            }
            index += 1;
        }
        opcode += 1;
    }
    table
};
