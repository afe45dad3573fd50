//! What a row of the instruction table is made of.

use roundonce_isa::{Choice, Recipe, Slot as ArithmeticSlot};

use crate::generation::Generation;
use crate::instruction::OperandKind;

/// Up to three ranges of bits that hold one value, the least significant part first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bits {
    low: [u8; 3],
    width: [u8; 3],
}

impl Bits {
    /// One range.
    pub(crate) const fn new(low: u8, width: u8) -> Bits {
        Bits { low: [low, 0, 0], width: [width, 0, 0] }
    }
    /// With another range for the bits above.
    pub(crate) const fn and(mut self, low: u8, width: u8) -> Bits {
        let part = if self.width[1] == 0 { 1 } else { 2 };
        self.low[part] = low;
        self.width[part] = width;
        self
    }
    /// How many bits there are.
    pub const fn width(self) -> u32 {
        self.width[0] as u32 + self.width[1] as u32 + self.width[2] as u32
    }
    /// The bits of a word that it takes.
    pub const fn mask(self) -> u64 {
        self.put(u64::MAX)
    }
    /// The value in a word.
    #[inline]
    pub const fn get(self, word: u64) -> u64 {
        let first = word >> self.low[0] & ((1 << self.width[0]) - 1);
        if self.width[1] == 0 {
            return first;
        }
        let second = word >> self.low[1] & ((1 << self.width[1]) - 1);
        let third = word >> self.low[2] & ((1 << self.width[2]) - 1);
        first | second << self.width[0] | third << (self.width[0] + self.width[1])
    }
    /// A word with nothing but this value; what does not fit is cut off.
    #[inline]
    pub const fn put(self, value: u64) -> u64 {
        let first = (value & ((1 << self.width[0]) - 1)) << self.low[0];
        let rest = value >> self.width[0];
        let second = (rest & ((1 << self.width[1]) - 1)) << self.low[1];
        let third = (rest >> self.width[1] & ((1 << self.width[2]) - 1)) << self.low[2];
        first | second | third
    }
    /// The value as a two's complement number.
    pub(crate) const fn get_signed(self, word: u64) -> i64 {
        let unused = 64 - self.width();
        if unused == 64 { 0 } else { ((self.get(word) << unused) as i64) >> unused }
    }
}

/// A field with a text for each value: a modifier, a sign, or a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// What the lowering asks for: `rnd`, `ftz`, `cmp`.
    pub name: &'static str,
    /// Where it is.
    pub bits: Bits,
    /// The text of each value from 0, with its dot where it is a modifier. Empty where nothing is printed.
    pub texts: &'static [&'static str],
    /// What is printed, with the value behind it, where `texts` ends or says `#`.
    pub numbered: &'static str,
    /// The set of the first 64 values that print nothing.
    pub(crate) silent: u64,
}

/// A value of a [`Slot`] that is printed by its number.
pub(crate) const NUMBERED: &str = "#";

impl Slot {
    pub(crate) const fn new(name: &'static str, bits: Bits, texts: &'static [&'static str]) -> Slot {
        let (mut silent, mut at) = (0, 0);
        while at < texts.len() && at < 64 {
            if texts[at].is_empty() {
                silent |= 1 << at;
            }
            at += 1;
        }
        Slot { name, bits, texts, numbered: "", silent }
    }
    /// With a name for the values that have none of their own.
    pub(crate) const fn numbered(mut self, prefix: &'static str) -> Slot {
        self.numbered = prefix;
        self
    }
    /// The text of a word's value; `Err` with the value where it is printed by its number.
    #[inline]
    pub fn text(&self, word: u64) -> Result<&'static str, u64> {
        let value = self.bits.get(word);
        match self.texts.get(value as usize) {
            Some(text) if *text != NUMBERED => Ok(text),
            _ => Err(value),
        }
    }
}

/// What an operand is, and where its value is in the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `R0` to `R254`, `RZ`.
    Register(Bits),
    /// The register behind one, in an aligned pair or, where a bit is set, in an aligned four: the value that a
    /// compare-and-swap stores.
    SwapRegister {
        /// The first register.
        register: Bits,
        /// Set for 64 bits.
        wide: Bits,
    },
    /// `RZ`, which has no field.
    Zero,
    /// `P0` to `P6`, `PT`.
    Predicate(Bits),
    /// The same, its number taken from 7.
    Inverted(Bits),
    /// `c[0x0][0x10]`.
    Constant {
        /// Whether a blank is printed between the brackets.
        spaced: bool,
    },
    /// `c[0x0][R1+0x10]`.
    ConstantAt {
        /// The register added; without bits there is none.
        register: Bits,
        /// In bytes.
        offset: Bits,
        /// The bank.
        bank: Bits,
    },
    /// A whole number in hex.
    Integer {
        /// The value.
        bits: Bits,
        /// Whether it is printed with a sign.
        signed: bool,
    },
    /// A number: the upper bits of an f16, f32 or f64.
    Float {
        /// The value.
        bits: Bits,
        /// The width of the format: 16, 32 or 64.
        format: u8,
    },
    /// `[R0+0x10]`, `a[0x80]`.
    Memory {
        /// What stands before the bracket.
        space: &'static str,
        /// The register added; 255 is none.
        register: Bits,
        /// In units of 2^shift bytes.
        offset: Bits,
        /// See there.
        shift: u8,
    },
    /// An address of code: the distance from the next instruction.
    Relative(Bits),
    /// `R0 0x10`: a register and a number added to it.
    RegisterPlus {
        /// The register.
        register: Bits,
        /// The number.
        offset: Bits,
    },
    /// `{5,4,0}`: the set bits, the highest first.
    Set(Bits),
    /// `SB0`.
    Scoreboard(Bits),
    /// `PNZPPPPP`: a letter for each two bits.
    Signs(Bits),
    /// A name.
    Named(Slot),
}

impl Kind {
    /// The bits that it takes.
    pub const fn mask(&self) -> u64 {
        match self {
            Kind::Register(bits)
            | Kind::Predicate(bits)
            | Kind::Inverted(bits)
            | Kind::Relative(bits)
            | Kind::Set(bits)
            | Kind::Scoreboard(bits)
            | Kind::Signs(bits)
            | Kind::Integer { bits, .. }
            | Kind::Float { bits, .. } => bits.mask(),
            Kind::Zero => 0,
            Kind::SwapRegister { register, wide } => register.mask() | wide.mask(),
            Kind::Constant { .. } => OFFSET.mask() | BANK.mask(),
            Kind::ConstantAt { register, offset, bank } => register.mask() | offset.mask() | bank.mask(),
            Kind::Memory { register, offset, .. } | Kind::RegisterPlus { register, offset } => {
                register.mask() | offset.mask()
            }
            Kind::Named(slot) => slot.bits.mask(),
        }
    }
    /// What a finding calls it.
    pub const fn kind(&self) -> OperandKind {
        match self {
            Kind::Register(_) | Kind::SwapRegister { .. } | Kind::Zero => OperandKind::Register,
            Kind::Predicate(_) | Kind::Inverted(_) => OperandKind::Predicate,
            Kind::Constant { .. } | Kind::ConstantAt { .. } => OperandKind::Constant,
            Kind::Integer { .. } | Kind::Float { .. } => OperandKind::Immediate,
            Kind::Memory { .. } => OperandKind::Memory,
            Kind::Relative(_) => OperandKind::Target,
            Kind::RegisterPlus { .. } => OperandKind::Register,
            Kind::Set(_) | Kind::Scoreboard(_) | Kind::Signs(_) | Kind::Named(_) => OperandKind::Name,
        }
    }
}

/// The word offset of a constant, in units of 4 bytes.
pub(crate) const OFFSET: Bits = Bits::new(20, 14);
/// The bank of a constant.
pub(crate) const BANK: Bits = Bits::new(34, 5);

/// One operand of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandField {
    /// Its value.
    pub kind: Kind,
    /// `-`, `~` or `!` before it; behind an immediate `.NEG`, `.INV`.
    pub sign: Option<Slot>,
    /// The bit of `|…|`; behind an immediate `.ABS`.
    pub absolute: Option<Bits>,
    /// `.CC`, `.H1`, `.B2`.
    pub suffix: Option<Slot>,
    /// It is not printed where all of its bits are these.
    pub omitted: Option<u64>,
    /// The bit of a control word's reuse mask that keeps this register; 0 for none.
    pub reuse: u8,
}

/// When an instruction's result is there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Latency {
    /// After a fixed number of cycles: it sets no barrier, and its sources can be kept for reuse.
    Fixed,
    /// Later: it may set a read and a write barrier.
    Variable,
    /// Later where these bits of the word have the value, otherwise fixed.
    VariableWhere(Bits, u64),
}

/// What an instruction becomes in a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lowering {
    /// Arithmetic with a recipe.
    Arithmetic(&'static Arithmetic),
    /// A copy of 32 bits.
    Move,
    /// Not lowered yet.
    None,
}

/// The meaning of arithmetic, and how its form is listed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arithmetic {
    /// The mnemonic.
    pub name: &'static str,
    /// The recipe before modifiers and signs are applied.
    pub recipe: Recipe,
    /// The modifiers that change the recipe, in the order in which they are printed.
    pub slots: &'static [ArithmeticSlot],
    /// The operands as the manual writes them.
    pub operands: &'static str,
    /// The mnemonic that takes a 32-bit immediate where this one takes a shorter one.
    pub long_immediate: Option<&'static str>,
    /// The document that describes it.
    pub source: &'static str,
    /// What a reader would not guess.
    pub note: &'static str,
}

impl Arithmetic {
    /// The choice that a modifier's text is.
    pub(crate) fn choice(&self, text: &str) -> Option<&'static Choice> {
        self.slots.iter().flat_map(|slot| slot.choices).find(|choice| choice.text == text)
    }
    /// The spelling as the manual writes it: mnemonic and modifier slots.
    pub fn syntax(&self) -> String {
        let slots = self.slots.iter().map(|slot| format!("{{{}}}", slot.name));
        core::iter::once(self.name.to_owned()).chain(slots).collect()
    }
}

/// One mnemonic with one operand form.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// The mnemonic.
    pub name: &'static str,
    /// The bits that identify the row.
    pub mask: u64,
    /// Their values.
    pub bits: u64,
    /// Values of further bits with which there is no such instruction: masks and values.
    pub refused: &'static [(u64, u64)],
    /// The modifiers behind the mnemonic, in the order in which they are printed.
    pub modifiers: &'static [Slot],
    /// The operands in the order in which they are printed.
    pub operands: &'static [OperandField],
    /// The first GPUs that have it.
    pub since: Generation,
    /// The last: newer ones have another row for its words.
    pub until: Generation,
    /// When its result is there.
    pub latency: Latency,
    /// What it becomes in a program.
    pub lowering: Lowering,
    /// Between the mnemonic and the operands; a blank.
    pub separator: &'static str,
    /// Whether it has a guard. Where it has none, the guard's bits mean nothing.
    pub guarded: bool,
}

/// The most operands that a row has.
pub const MAX_OPERANDS: usize = 8;

/// The guard.
pub(crate) const GUARD: u64 = 0xf << 16;

impl Row {
    /// A row from the upper 16 bits of its words and their mask.
    pub(crate) const fn new(
        name: &'static str,
        top: u16,
        mask: u16,
        modifiers: &'static [Slot],
        operands: &'static [OperandField],
    ) -> Row {
        Row {
            name,
            mask: (mask as u64) << 48,
            bits: (top as u64) << 48,
            refused: &[],
            modifiers,
            operands,
            since: Generation::Sm50,
            until: Generation::NEWEST,
            latency: Latency::Fixed,
            lowering: Lowering::None,
            separator: " ",
            guarded: true,
        }
    }
    /// Further bits that identify it.
    pub(crate) const fn when(mut self, bits: Bits, value: u64) -> Row {
        self.mask |= bits.mask();
        self.bits |= bits.put(value);
        self
    }
    pub(crate) const fn refuse(mut self, refused: &'static [(u64, u64)]) -> Row {
        self.refused = refused;
        self
    }
    pub(crate) const fn since(mut self, since: Generation) -> Row {
        self.since = since;
        self
    }
    pub(crate) const fn until(mut self, until: Generation) -> Row {
        self.until = until;
        self
    }
    /// Whether a generation has it.
    pub fn is_of(&self, generation: Generation) -> bool {
        self.since <= generation && generation <= self.until
    }
    pub(crate) const fn lowering(mut self, lowering: Lowering) -> Row {
        self.lowering = lowering;
        self
    }
    pub(crate) const fn separator(mut self, separator: &'static str) -> Row {
        self.separator = separator;
        self
    }
    /// It runs always.
    pub(crate) const fn unguarded(mut self) -> Row {
        self.guarded = false;
        self
    }
    /// Its result comes later: no register of it is kept.
    pub(crate) const fn variable(mut self) -> Row {
        self.latency = Latency::Variable;
        self
    }
    /// Its result comes later where bits have a value.
    pub(crate) const fn variable_where(mut self, bits: Bits, value: u64) -> Row {
        self.latency = Latency::VariableWhere(bits, value);
        self
    }
    /// Whether a word is of this row.
    #[inline]
    pub(crate) fn matches(&self, word: u64) -> bool {
        word & self.mask == self.bits && !self.is_refused(word)
    }
    /// Whether there is no such instruction, though the row's bits are a word's.
    #[inline]
    pub(crate) fn is_refused(&self, word: u64) -> bool {
        self.refused.iter().any(|(mask, bits)| word & mask == *bits)
    }
    /// The bits that mean nothing.
    pub fn ignored(&self) -> u64 {
        let mut used = self.mask | if self.guarded { GUARD } else { 0 };
        for slot in self.slots() {
            used |= slot.bits.mask();
        }
        for operand in self.operands {
            used |= operand.kind.mask() | operand.absolute.map_or(0, Bits::mask);
        }
        !used
    }
    /// Every slot of the row: modifiers, signs, suffixes and names.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        let named = self.operands.iter().filter_map(|operand| match &operand.kind {
            Kind::Named(slot) => Some(slot),
            _ => None,
        });
        let beside = self.operands.iter().flat_map(|operand| [&operand.sign, &operand.suffix]).flatten();
        self.modifiers.iter().chain(named).chain(beside)
    }
    /// The operands' kinds, as a finding writes them: `register, register, constant, register`.
    pub fn kinds(&self) -> String {
        let names: Vec<&str> = self.operands.iter().map(|operand| operand.kind.kind().name()).collect();
        names.join(", ")
    }
}

impl OperandField {
    pub(crate) const fn new(kind: Kind) -> OperandField {
        OperandField { kind, sign: None, absolute: None, suffix: None, omitted: None, reuse: 0 }
    }
    pub(crate) const fn sign(mut self, slot: Slot) -> OperandField {
        self.sign = Some(slot);
        self
    }
    /// `-`.
    pub(crate) const fn neg(self, bit: u8) -> OperandField {
        self.sign(Slot::new("neg", Bits::new(bit, 1), &["", "-"]))
    }
    /// `~`.
    pub(crate) const fn inv(self, bit: u8) -> OperandField {
        self.sign(Slot::new("inv", Bits::new(bit, 1), &["", "~"]))
    }
    /// `!`.
    pub(crate) const fn not(self, bit: u8) -> OperandField {
        self.sign(Slot::new("not", Bits::new(bit, 1), &["", "!"]))
    }
    /// The first of two signs in adjacent bits, which together are `.PO` and no sign.
    pub(crate) const fn neg_low(self, low: u8) -> OperandField {
        self.sign(Slot::new("neg", Bits::new(low, 2), &["", "-", "", ""]))
    }
    /// The second.
    pub(crate) const fn neg_high(self, low: u8) -> OperandField {
        self.sign(Slot::new("neg", Bits::new(low, 2), &["", "", "-", ""]))
    }
    pub(crate) const fn abs(mut self, bit: u8) -> OperandField {
        self.absolute = Some(Bits::new(bit, 1));
        self
    }
    pub(crate) const fn suffix(mut self, slot: Slot) -> OperandField {
        self.suffix = Some(slot);
        self
    }
    pub(crate) const fn cc(self, bit: u8) -> OperandField {
        self.suffix(Slot::new("CC", Bits::new(bit, 1), &["", ".CC"]))
    }
    pub(crate) const fn omit(mut self, value: u64) -> OperandField {
        self.omitted = Some(value);
        self
    }
    pub(crate) const fn reuse(mut self, bit: u8) -> OperandField {
        self.reuse = bit;
        self
    }
}
