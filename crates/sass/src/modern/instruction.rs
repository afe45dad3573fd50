//! A decoded instruction: the word, and the form that says what its bits are.

use super::decode::{Entry, control};
use super::forms::FORMS;
use super::opcode::{Kind, Modifier, Number, Opcode, Place, Role, SHAPES, Selector, Shape, bit, gather};
use super::target::{Generation, Target};
use crate::instruction::{Guard, RZ};
use crate::schedule::Slot;
use roundonce_isa::{Recipe, split_spelling};

/// A decoded instruction. The word is all of it, so nothing is lost.
#[derive(Clone, Copy)]
pub struct Instruction {
    pub(super) word: u128,
    pub(super) entry: &'static Entry,
    pub(super) target: Target,
}

/// What an operand names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// `R0` to `R254`, `RZ` (255).
    Register(u8),
    /// `UR0`…, and `URZ` (`None`).
    Uniform(Option<u8>),
    /// `c[bank][offset]` or `cx[base][offset]`, the offset in bytes.
    Constant {
        /// The bank, or the uniform register that names it (`None` within: URZ).
        bank: Bank,
        /// In bytes, modulo 64 KiB.
        offset: u16,
    },
    /// 32 bits of the word.
    Immediate(u32),
}

/// The bank of a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bank {
    /// Its number.
    Number(u8),
    /// In a uniform register.
    Uniform(Option<u8>),
}

/// One source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// What it is to the operation.
    pub role: Role,
    /// What it names.
    pub value: Value,
    /// `-`.
    pub negate: bool,
    /// `|…|`.
    pub absolute: bool,
    /// Where it is.
    pub(super) place: Place,
}

impl Instruction {
    /// Its word.
    pub fn word(&self) -> u128 {
        self.word
    }
    /// Its target.
    pub fn target(&self) -> Target {
        self.target
    }
    /// Its row.
    #[inline]
    pub fn opcode(&self) -> &'static Opcode {
        self.entry.row()
    }
    #[inline]
    pub(super) fn generation(&self) -> Generation {
        self.target.generation()
    }
    pub(super) fn shape(&self) -> Shape {
        // Only forms with a shape are entries.
        SHAPES[usize::from(self.entry.form)].unwrap_or(Shape { kind: Kind::Register, wide_addend: false })
    }
    /// Where it runs.
    pub fn guard(&self) -> Guard {
        Guard { predicate: (self.word >> 12 & 7) as u8, negated: bit(self.word, 15) }
    }
    /// Stall, barriers and reuse.
    pub fn control(&self) -> Slot {
        control(self.word)
    }
    fn byte(&self, low: u32) -> u8 {
        (self.word >> low) as u8
    }
    /// The destination.
    pub fn destination(&self) -> Value {
        self.register(self.byte(16))
    }
    /// The register that is written, if one is.
    pub(super) fn written(&self) -> Option<u8> {
        match self.destination() {
            Value::Register(number) if number != RZ => Some(number),
            _ => None,
        }
    }
    fn register(&self, number: u8) -> Value {
        if self.opcode().uniform { Value::Uniform((number != RZ).then_some(number)) } else { Value::Register(number) }
    }
    /// The uniform register in bits 32 and up.
    fn uniform(&self, short: bool) -> Option<u8> {
        if short || self.generation() < Generation::Blackwell {
            Some(self.byte(32) & 63).filter(|number| *number != 63)
        } else {
            Some(self.byte(32)).filter(|number| *number != 255)
        }
    }

    /// The sources, in the order in which they are written.
    #[inline]
    pub fn operands(&self) -> impl Iterator<Item = Operand> + use<'_> {
        self.opcode().roles.iter().map(|role| self.operand(*role))
    }
    #[inline]
    fn operand(&self, role: Role) -> Operand {
        let (row, shape, word) = (self.opcode(), self.shape(), self.word);
        let place = row.place(role, shape);
        let ([absolute, negate], value) = match place {
            Place::A => (row.a_signs, self.register(self.byte(24))),
            Place::Y => (row.y_signs, self.register(self.byte(64))),
            Place::Wide => (
                [Some(62), Some(63)],
                self.wide(if row.uniform && shape.kind == Kind::Register { Kind::Uniform } else { shape.kind }),
            ),
        };
        let signs = !matches!(value, Value::Immediate(_));
        let set = |index: Option<u8>| signs && index.is_some_and(|index| bit(word, index));
        Operand { role, value, negate: set(negate), absolute: set(absolute), place }
    }
    #[inline]
    fn wide(&self, kind: Kind) -> Value {
        let word = self.word;
        match kind {
            Kind::Register => Value::Register(self.byte(32)),
            Kind::Uniform => Value::Uniform(self.uniform(false)),
            Kind::Immediate => Value::Immediate((word >> 32) as u32),
            Kind::Constant => {
                let indirect = bit(word, 91) && self.generation() != Generation::Volta;
                let bank =
                    if indirect { Bank::Uniform(self.uniform(true)) } else { Bank::Number((word >> 54 & 0x1f) as u8) };
                Value::Constant { bank, offset: ((word >> 40 & 0x3fff) * 4) as u16 }
            }
        }
    }
    /// The modifiers that exist on the target, each with its value.
    #[inline]
    pub(super) fn modifiers(&self) -> impl Iterator<Item = (&'static Modifier, usize)> + use<'_> {
        self.opcode().modifiers_on(self.generation()).map(|modifier| (modifier, gather(self.word, modifier.bits)))
    }
    /// The text of a modifier slot: `None` where none is printed.
    pub fn modifier(&self, slot: &str) -> Option<&'static str> {
        let (modifier, value) = self.modifiers().find(|(modifier, _)| modifier.slot.name == slot)?;
        Some(modifier.texts[value]).filter(|text| !text.is_empty())
    }
    /// What is printed behind an operand.
    pub(super) fn selectors(&self, operand: Operand) -> impl Iterator<Item = (&'static Selector, usize)> + use<'_> {
        let immediate = matches!(operand.value, Value::Immediate(_));
        let generation = self.generation();
        let of_operand = move |selector: &&'static Selector| {
            (selector.role, selector.place) == (operand.role, operand.place)
                && selector.generations.holds(generation)
                && (selector.on_immediate || !immediate)
        };
        self.opcode().selectors.iter().filter(of_operand).map(|selector| (selector, gather(self.word, selector.bits)))
    }
    /// All that is printed behind an operand.
    pub(super) fn suffix(&self, operand: Operand) -> String {
        self.selectors(operand).map(|(selector, value)| selector.texts[value]).collect()
    }
    /// Whether an operand's register is kept, where the disassembler says so.
    pub(super) fn reuses(&self, operand: Operand) -> bool {
        matches!(operand.value, Value::Register(_)) && self.control().reuse() & self.entry.reuse_bits(operand.role) != 0
    }
    /// The bits of the reuse field that belong to registers.
    pub(super) fn own_reuse(&self) -> u32 {
        let registers = self.operands().filter(|operand| matches!(operand.value, Value::Register(_)));
        self.control().reuse() & registers.fold(0, |mask, operand| mask | operand.role.reuse_bit())
    }
    /// A modifier that is a value of its field and means nothing.
    pub fn illegal_modifier(&self) -> Option<&'static str> {
        let modifiers = self.modifiers().map(|(modifier, value)| modifier.texts[value]);
        let selectors =
            self.operands().flat_map(|operand| self.selectors(operand).map(|(selector, value)| selector.texts[value]));
        modifiers.chain(selectors).find(|text| text.contains("INVALID"))
    }
    /// The predicate of `.RELU`, and whether it is negated; `None` where it is not printed.
    pub(super) fn relu_predicate(&self) -> Option<Guard> {
        if self.opcode().number != Number::Half {
            return None;
        }
        self.modifier(".RELU")?;
        let guard = Guard { predicate: (self.word >> 87 & 7) as u8, negated: bit(self.word, 90) };
        (guard != Guard::ALWAYS).then_some(guard)
    }
    /// Whether an H200 stops at it: an f32 result of halves, but for that of [`Self::widened_half`], and bf16 that is flushed or
    /// saturated.
    pub(super) fn is_illegal(&self) -> bool {
        let is_refused = match self.opcode().number {
            Number::Half => match self.modifier(".type") {
                Some(".F32") => true,
                Some(".BF16_V2") => {
                    let mut changes = [".SAT", ".FTZ", ".fmz"].into_iter().filter_map(|slot| self.modifier(slot));
                    changes.any(|text| text != ".OOB")
                }
                _ => false,
            },
            Number::LowHalf => {
                let is_register = |role| matches!(self.operand(role).value, Value::Register(number) if number != RZ);
                is_register(Role::A) && is_register(Role::C)
            }
            Number::F32 | Number::F64 => false,
        };
        is_refused && self.generation() == Generation::Hopper
    }
    /// The half that `HADD2.F32` adds to −0; `None` where it is another instruction or sum.
    pub(super) fn widened_half(&self) -> Option<WidenedHalf> {
        // One opcode with the packed sum before sm_86.
        let is_wide = self.opcode().number == Number::LowHalf
            || self.opcode().name == "HADD2" && self.modifier(".type") == Some(".F32");
        if !is_wide {
            return None;
        }
        let (a, operand) = (self.operand(Role::A), self.operand(Role::C));
        if (a.value, a.negate) != (Value::Register(RZ), true) {
            return None;
        }
        let shift = match self.suffix(operand).as_str() {
            ".H0_H0" => 0,
            ".H1_H1" => 16,
            _ => return None,
        };
        let [flush, saturate] = [".FTZ", ".SAT"].map(|slot| self.modifier(slot).is_some());
        Some(WidenedHalf { operand, shift, flush, saturate })
    }
    /// What the immediate is.
    pub(super) fn number(&self) -> ImmediateFormat {
        match self.opcode().number {
            Number::F32 => ImmediateFormat::F32,
            Number::F64 => ImmediateFormat::F64,
            Number::LowHalf => ImmediateFormat::LowF16,
            Number::Half => match self.modifier(".type") {
                Some(".BF16_V2") => ImmediateFormat::Bf16Pair,
                _ => ImmediateFormat::F16Pair,
            },
        }
    }

    /// Its spelling: the mnemonic and the modifiers.
    pub fn spelling(&self) -> String {
        let modifiers = self.modifiers().map(|(modifier, value)| modifier.texts[value]);
        core::iter::once(self.opcode().name).chain(modifiers).collect()
    }
    /// What it computes, without the signs and the halves of its operands; `None` where it is none of [`FORMS`].
    pub fn recipe(&self) -> Option<Recipe> {
        let spelling = self.spelling();
        let (mnemonic, modifiers) = split_spelling(&spelling);
        let on_target = FORMS.iter().filter(|form| form.gate.has_target(self.target.number().into()));
        on_target.filter_map(|form| form.matches(mnemonic, &modifiers).ok()).map(|found| found.recipe).next()
    }
}

/// A half that becomes an f32.
pub(super) struct WidenedHalf {
    /// Its register and signs.
    pub(super) operand: Operand,
    /// Where it begins.
    pub(super) shift: u32,
    /// A subnormal half becomes zero.
    pub(super) flush: bool,
    /// The f32 is clamped to [+0, 1].
    pub(super) saturate: bool,
}

/// The format of an immediate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ImmediateFormat {
    F32,
    F64,
    F16Pair,
    Bf16Pair,
    LowF16,
}
