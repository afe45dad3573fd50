//! One decoded instruction: what text and binary both become.

use roundonce_arith::OperandIndex as Side;
use roundonce_isa::Recipe;

use crate::fields;
use crate::lookup;
use crate::parse::is_illegal;
use crate::row::{BANK, Kind, Latency, Lowering, MAX_OPERANDS, OFFSET, OperandField, Row, Slot};

/// The register that reads as zero and swallows what is written: `RZ`.
pub const RZ: u8 = 255;
/// The predicate that always holds: `PT`.
pub const PT: u8 = 7;

/// `@P0`, `@!P0`: the instruction runs in the lanes where the predicate holds, or does not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// 0 to 6, or [`PT`].
    pub predicate: u8,
    /// `!`.
    pub negated: bool,
}

impl Guard {
    /// No guard: `@PT`, which is not written.
    pub const ALWAYS: Guard = Guard { predicate: PT, negated: false };
}

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandKind {
    /// `R0` to `R254`, and `RZ`, which reads as zero.
    Register,
    /// `P0` to `P6`, and `PT`, which holds.
    Predicate,
    /// `c[0x3][0x140]`: a bank and an offset in bytes.
    Constant,
    /// A number, or its bits in hex.
    Immediate,
    /// `[R1+0x10]`: an address.
    Memory,
    /// An address of code.
    Target,
    /// A name: a special register, a texture's dimension, `CC.LT`.
    Name,
}

impl OperandKind {
    /// As a finding writes it.
    pub const fn name(self) -> &'static str {
        match self {
            OperandKind::Register => "register",
            OperandKind::Predicate => "predicate",
            OperandKind::Constant => "constant",
            OperandKind::Immediate => "immediate",
            OperandKind::Memory => "address",
            OperandKind::Target => "target",
            OperandKind::Name => "name",
        }
    }
}

/// What an operand names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A register's number; [`RZ`] is 255.
    Register(u8),
    /// A predicate's number; [`PT`] is 7.
    Predicate(u8),
    /// `c[bank][offset]`, the offset in bytes, modulo 64 KiB.
    Constant {
        /// 0 to 31.
        bank: u8,
        /// In bytes, a multiple of 4. Offsets from 0x8000 print negative.
        offset: u16,
    },
    /// `c[bank][Rn+offset]`.
    ConstantAt {
        /// 0 to 31.
        bank: u8,
        /// The register added; [`RZ`] is none.
        register: u8,
        /// In bytes.
        offset: i32,
    },
    /// 32 bits: a whole number, or the bits of an f32.
    Immediate(u32),
    /// The bits of an f64.
    Wide(u64),
    /// The bits of an f16.
    Half(u16),
    /// `[Rn+offset]`.
    Memory {
        /// The register added; [`RZ`] is none.
        register: u8,
        /// In bytes.
        offset: i64,
    },
    /// The distance in bytes of an address of code from the next instruction.
    Relative(i32),
    /// A register and a number added to it.
    RegisterPlus {
        /// The register.
        register: u8,
        /// The number.
        offset: i32,
    },
    /// A set of barriers.
    Set(u8),
    /// A name and its number in the field; the name is empty where the value has none of its own.
    Name(&'static str, u16),
}

impl Value {
    /// Its kind.
    pub const fn kind(self) -> OperandKind {
        match self {
            Value::Register(_) | Value::RegisterPlus { .. } => OperandKind::Register,
            Value::Predicate(_) => OperandKind::Predicate,
            Value::Constant { .. } | Value::ConstantAt { .. } => OperandKind::Constant,
            Value::Immediate(_) | Value::Wide(_) | Value::Half(_) => OperandKind::Immediate,
            Value::Memory { .. } => OperandKind::Memory,
            Value::Relative(_) => OperandKind::Target,
            Value::Set(_) | Value::Name(..) => OperandKind::Name,
        }
    }
}

/// One operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// What it names.
    pub value: Value,
    /// `-R1`, `-c[0x3][0x140]`, `1.5.NEG`: the value with its sign flipped.
    pub negate: bool,
    /// `|R1|`, `1.5.ABS`: the value without its sign.
    pub absolute: bool,
    /// `~R1`, `!P0`, `0x1.INV`: the value with its bits flipped.
    pub invert: bool,
    /// What stands behind it: `.CC`, `.H1`, `.B2`; empty where nothing does.
    pub suffix: &'static str,
    /// `.reuse`: the register stays in the operand cache. It belongs to the control word and changes no bit of a
    /// result.
    pub reuse: bool,
}

impl Operand {
    /// A value as it is.
    pub const fn plain(value: Value) -> Operand {
        Operand { value, negate: false, absolute: false, invert: false, suffix: "", reuse: false }
    }
}

/// The operands of one instruction.
#[derive(Clone, Copy)]
pub struct Operands {
    list: [Operand; MAX_OPERANDS],
    count: usize,
}

impl core::ops::Deref for Operands {
    type Target = [Operand];

    fn deref(&self) -> &[Operand] {
        &self.list[..self.count]
    }
}

/// A decoded instruction: its word and the row that the word is of. Fields are read when they are asked for, so that
/// decoding is finding the row.
///
/// ```
/// use roundonce_sass::{Value, decode};
/// let load = decode(0xeed4_2000_0107_0204).unwrap();
/// assert_eq!((load.mnemonic(), load.modifier("e")), ("LDG", Some(".E")));
/// assert_eq!(load.operands()[1].value, Value::Memory { register: 2, offset: 16 });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// The number of its row.
    pub(crate) row: u16,
    /// The operands that a text marks with `.reuse`, as in a control word.
    pub(crate) reuse: u8,
    pub(crate) word: u64,
}

impl Instruction {
    /// Its row in the table.
    #[inline]
    pub fn row(&self) -> &'static Row {
        lookup::row(self.row)
    }
    /// Whether its result comes later than after a fixed number of cycles.
    pub fn is_variable(&self) -> bool {
        match self.row().latency {
            Latency::Fixed => false,
            Latency::Variable => true,
            Latency::VariableWhere(bits, value) => bits.get(self.word) == value,
        }
    }
    /// Its word.
    #[inline]
    pub const fn word(&self) -> u64 {
        self.word
    }
    /// The mnemonic.
    #[inline]
    pub fn mnemonic(&self) -> &'static str {
        self.row().name
    }
    /// Where it runs.
    #[inline]
    pub fn guard(&self) -> Guard {
        if !self.row().guarded {
            return Guard::ALWAYS;
        }
        let predicate = fields::PREDICATE.get(self.word) as u8;
        Guard { predicate, negated: fields::PREDICATE_NOT.get(self.word) != 0 }
    }
    /// The bits of the word that mean nothing in its row.
    pub fn ignored_bits(&self) -> u64 {
        self.word & lookup::ignored(self.row)
    }
    /// The operands of the row, those left out of a text included, so that an operand's place depends on the row
    /// alone.
    pub fn operands(&self) -> Operands {
        let fields = self.row().operands;
        let mut operands = Operands { list: [Operand::plain(Value::Register(RZ)); MAX_OPERANDS], count: fields.len() };
        for (operand, field) in operands.list.iter_mut().zip(fields) {
            *operand = self.operand(field);
        }
        operands
    }

    fn operand(&self, field: &OperandField) -> Operand {
        let word = self.word;
        let sign = field.sign.map_or("", |slot| slot.text(word).unwrap_or_default());
        Operand {
            value: value(&field.kind, word),
            negate: sign == "-",
            absolute: field.absolute.is_some_and(|bit| bit.get(word) != 0),
            invert: matches!(sign, "~" | "!"),
            suffix: field.suffix.map_or("", |slot| slot.text(word).unwrap_or_default()),
            reuse: self.reuse & field.reuse != 0,
        }
    }

    /// The register written: the first operand, or the second where the first is a predicate; [`RZ`] where there is
    /// none.
    pub fn destination(&self) -> u8 {
        match self.row().operands.iter().find(|field| !matches!(field.kind, Kind::Predicate(_) | Kind::Inverted(_))) {
            Some(OperandField { kind: Kind::Register(bits), .. }) => bits.get(self.word) as u8,
            _ => RZ,
        }
    }

    /// The modifiers that are printed, with the names of their slots: those behind the mnemonic in their order, then
    /// those on the operands.
    pub fn modifiers(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let word = self.word;
        let row = self.row();
        let suffixes = row.operands.iter().filter_map(|operand| operand.suffix.as_ref());
        let slots = row.modifiers.iter().chain(suffixes);
        slots.map(move |slot| (slot.name, text_or_prefix(slot, word))).filter(|(_, text)| !text.is_empty())
    }
    /// The modifier in a slot, as it is printed: `None` where nothing is.
    pub fn modifier(&self, slot: &str) -> Option<&'static str> {
        self.modifiers().find(|(name, _)| *name == slot).map(|(_, text)| text)
    }
    /// The modifier that the encoding has room for and that means nothing, if there is one: `.INVALIDFMZ3`.
    pub fn illegal_modifier(&self) -> Option<&'static str> {
        self.modifiers().map(|(_, text)| text).find(|text| is_illegal(text))
    }

    /// What it computes, negations included: `None` where it is no arithmetic with a recipe, where a modifier means
    /// nothing or is none of the recipe's, and where a source has an absolute value.
    ///
    /// ```
    /// use roundonce_arith::Rounding;
    /// let recipe = roundonce_sass::decode(0x59bc_0180_0027_0100).unwrap().recipe().unwrap();
    /// assert_eq!(recipe.operation.rounding, Rounding::TowardZero);
    /// assert!(recipe.operation.flush && recipe.operation.saturates());
    /// ```
    pub fn recipe(&self) -> Option<Recipe> {
        let Lowering::Arithmetic(arithmetic) = self.row().lowering else { return None };
        let mut recipe = arithmetic.recipe;
        for (_, text) in self.modifiers() {
            recipe = recipe.with(arithmetic.choice(text)?.effect);
        }
        let operands = self.operands();
        if operands.iter().any(|operand| operand.absolute) {
            return None;
        }
        // The sources follow the destination in the order of the operation's operands.
        for (side, operand) in recipe.operation.op.operands().iter().zip(&operands[1..]) {
            match side {
                Side::C => recipe.operation.negate_addend ^= operand.negate,
                Side::A | Side::B => recipe.operation.negate_product ^= operand.negate,
            }
        }
        Some(recipe)
    }
}

/// A slot's text; where its value is printed by its number, what stands before the number.
fn text_or_prefix(slot: &Slot, word: u64) -> &'static str {
    slot.text(word).unwrap_or(slot.numbered)
}

fn value(kind: &Kind, word: u64) -> Value {
    match kind {
        Kind::Register(bits) => Value::Register(bits.get(word) as u8),
        Kind::SwapRegister { register, wide } => {
            Value::Register(swap_register(register.get(word) as u8, wide.get(word) != 0))
        }
        Kind::Predicate(bits) => Value::Predicate(bits.get(word) as u8),
        Kind::Inverted(bits) => Value::Predicate(7 - bits.get(word) as u8),
        Kind::Zero => Value::Register(RZ),
        Kind::Constant { .. } => Value::Constant { bank: BANK.get(word) as u8, offset: (OFFSET.get(word) * 4) as u16 },
        Kind::ConstantAt { register, offset, bank } => Value::ConstantAt {
            bank: bank.get(word) as u8,
            register: register_or_none(*register, word),
            offset: offset.get_signed(word) as i32,
        },
        Kind::Integer { bits, signed: true } => Value::Immediate(bits.get_signed(word) as u32),
        Kind::Integer { bits, signed: false } => Value::Immediate(bits.get(word) as u32),
        Kind::Float { bits, format } => {
            let pattern = bits.get(word) << (u32::from(*format) - bits.width().min(u32::from(*format)));
            match format {
                16 => Value::Half(half_bits(*bits, word)),
                32 => Value::Immediate(pattern as u32),
                _ => Value::Wide(pattern),
            }
        }
        Kind::Memory { register, offset, shift, .. } => {
            let register = register_or_none(*register, word);
            let distance = if register == RZ { offset.get(word) as i64 } else { offset.get_signed(word) };
            Value::Memory { register, offset: distance << shift }
        }
        Kind::Relative(bits) => Value::Relative(bits.get_signed(word) as i32),
        Kind::RegisterPlus { register, offset } => {
            Value::RegisterPlus { register: register.get(word) as u8, offset: offset.get_signed(word) as i32 }
        }
        Kind::Set(bits) => Value::Set(bits.get(word) as u8),
        Kind::Scoreboard(bits) | Kind::Signs(bits) => Value::Name("", bits.get(word) as u16),
        Kind::Named(slot) => Value::Name(slot.text(word).unwrap_or_default(), slot.bits.get(word) as u16),
    }
}

/// The register in a field; without bits there is none.
pub(crate) fn register_or_none(bits: crate::row::Bits, word: u64) -> u8 {
    if bits.width() == 0 { RZ } else { bits.get(word) as u8 }
}

/// The f16 that a field holds the upper bits of. A field of 20 bits is an f16 whose upper bits are the field's.
pub(crate) fn half_bits(bits: crate::row::Bits, word: u64) -> u16 {
    match bits.width() {
        10 => (bits.get(word) << 6) as u16,
        _ => bits.get(word) as u16,
    }
}

/// The register behind one, in a pair or in a four.
pub(crate) const fn swap_register(register: u8, wide: bool) -> u8 {
    register.wrapping_add(if wide { 2 } else { 1 })
}
