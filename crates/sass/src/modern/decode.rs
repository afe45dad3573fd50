//! From a 128-bit word to its instruction.

use core::fmt;

use super::instruction::Instruction;
use super::opcode::{Kind, Opcode, Place, Role, SHAPES, bit};
use super::table::OPCODES;
use super::target::{Generation, Target};
use crate::schedule::Slot;

/// Where the control fields begin: a slot of 21 bits as Maxwell's control words have three of.
pub(super) const CONTROL: u32 = 105;

/// One operand form of one opcode on one generation.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) opcode: u8,
    /// Bits 9 to 11.
    pub(super) form: u8,
    /// What bit 91 must be; `None` where it may be both.
    selects_uniform: Option<bool>,
    /// The sources that are registers: 1 for A, 2 for B, 4 for C.
    reusable: u32,
    /// Of one register beside Ra, either bit of B and C says `.reuse`: sm_70.
    one_of_two: bool,
    /// Modifiers that exclude each other.
    exclusive: [u128; 2],
    /// `.reuse` is never printed.
    hides_reuse: bool,
    /// The entry that it is where this bit is set.
    other: Option<(u8, u8)>,
}

/// The most entries of one generation, and the number that means none.
const MOST: usize = 72;
const NONE: u8 = 0xff;

struct Index {
    /// By the opcode's 12 bits.
    by_opcode: [u8; 1 << 12],
    entries: [Entry; MOST],
    count: usize,
}

static INDEXES: [Index; 8] = {
    let mut all =
        [const { Index { by_opcode: [NONE; 1 << 12], entries: [entry_of(0, 1, Generation::Volta); MOST], count: 0 } };
            8];
    let mut index = 0;
    while index < 8 {
        fill(&mut all[index], Generation::ALL[index]);
        index += 1;
    }
    all
};

const fn fill(index: &mut Index, generation: Generation) {
    let (mut count, mut opcode) = (0, 0);
    while opcode < OPCODES.len() {
        let row = &OPCODES[opcode];
        let mut form = 0;
        while form < row.forms.len() {
            let (digit, generations) = row.forms[form];
            if generations.holds(generation) {
                index.entries[count] = entry_of(opcode, digit, generation);
                let bits = (row.low | (digit as u16) << 9) as usize;
                let other = index.by_opcode[bits];
                match row.picked_by {
                    Some(bit) => {
                        assert!(other != NONE, "the row that it shares its bits with stands before it");
                        index.entries[other as usize].other = Some((bit, count as u8));
                    }
                    None => {
                        assert!(other == NONE, "one opcode, two rows");
                        index.by_opcode[bits] = count as u8;
                    }
                }
                count += 1;
            }
            form += 1;
        }
        opcode += 1;
    }
    index.count = count;
}

const fn entry_of(opcode: usize, form: u8, generation: Generation) -> Entry {
    let row = &OPCODES[opcode];
    let Some(shape) = SHAPES[form as usize] else { panic!("no such form") };
    let volta = matches!(generation, Generation::Volta);
    let selects_uniform = match shape.kind {
        _ if row.uniform => Some(true),
        Kind::Uniform => Some(true),
        _ if volta => None,
        Kind::Constant => None,
        Kind::Register | Kind::Immediate => Some(false),
    };
    // Registers beside Ra.
    let (mut beside, mut role) = (0, 1);
    while role < row.roles.len() {
        let is_wide = match row.roles[role] {
            _ if row.roles.len() == 2 => true,
            Role::C => shape.wide_addend,
            _ => !shape.wide_addend,
        };
        if !is_wide || matches!(shape.kind, Kind::Register) {
            beside |= row.roles[role].reuse_bit();
        }
        role += 1;
    }
    let one_of_two = volta && (beside == 2 || beside == 4);
    let is_double = matches!(row.number, super::opcode::Number::F64);
    let (mut exclusive, mut pair) = ([0; 2], 0);
    while pair < row.exclusive.len() {
        let ([first, second], generations) = row.exclusive[pair];
        if generations.holds(generation) {
            exclusive[pair] = 1 << first | 1 << second;
        }
        pair += 1;
    }
    Entry {
        opcode: opcode as u8,
        form,
        selects_uniform,
        reusable: if row.uniform { 0 } else { row.keeps_a as u32 | if one_of_two { 6 } else { beside } },
        one_of_two,
        exclusive,
        hides_reuse: is_double && matches!(generation, Generation::Consumer),
        other: None,
    }
}

impl Entry {
    #[inline]
    pub(super) fn row(&self) -> &'static Opcode {
        &OPCODES[usize::from(self.opcode)]
    }
    /// Whether a set bit of the control word prints as `.reuse`.
    pub(super) fn shows_reuse(&self, slot: Slot) -> bool {
        !self.hides_reuse && slot.schedule() >= 17
    }
    /// Whether bit 91 is always set.
    pub(super) fn needs_uniform_bit(&self) -> bool {
        self.selects_uniform == Some(true)
    }
    /// The bits of the control word that keep an operand.
    pub(super) fn reuse_bits(&self, role: Role) -> u32 {
        if self.one_of_two && role != Role::A { 6 } else { role.reuse_bit() }
    }
}

/// Every form on a generation.
pub(super) fn entries(generation: Generation) -> impl Iterator<Item = &'static Entry> + Clone {
    let index = &INDEXES[generation as usize];
    index.entries[..index.count].iter()
}

/// Why a word is no instruction of the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DecodeError {
    /// The table has no such opcode.
    Opcode(u16),
    /// The opcode is none of the target's.
    NotOnTarget(&'static str),
    /// Bit 91 is not what the form needs.
    Uniform {
        /// What it must be.
        expected: bool,
    },
    /// The stall and yield bits have a value that means nothing.
    Schedule(u32),
    /// Operands are kept for reuse that cannot be.
    Reuse(u32),
    /// Two modifiers that exclude each other: their bits.
    Exclusive([u8; 2]),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::Opcode(bits) => write!(f, "opcode {bits:#05x} (bits 0 to 11) is none of the float family's"),
            DecodeError::NotOnTarget(name) => write!(f, "{name} has no such operand form on this target"),
            DecodeError::Uniform { expected } => {
                write!(f, "bit 91 is {}, and this form needs {}", u8::from(!expected), u8::from(expected))
            }
            DecodeError::Schedule(value) => write!(f, "the stall and yield bits (105 to 109) are {value}: no schedule"),
            DecodeError::Reuse(mask) => {
                write!(f, "the reuse bits (122 to 124) are {mask:03b}, which this form cannot be")
            }
            DecodeError::Exclusive([first, second]) => {
                write!(f, "bits {first} and {second} are modifiers that exclude each other")
            }
        }
    }
}

/// The instruction of a word on a target.
///
/// # Errors
/// If the target has no such instruction.
///
/// ```
/// use roundonce_sass::modern::{Target, decode};
/// let sm_90 = Target::new(90).unwrap();
/// assert_eq!(decode(0x000fe2000000000a_0000000806047223, sm_90).unwrap().opcode().name, "FFMA");
/// assert!(decode(0, sm_90).is_err());
/// ```
#[inline]
pub fn decode(word: u128, target: Target) -> Result<Instruction, DecodeError> {
    let index = &INDEXES[target.generation() as usize];
    let opcode = (word & 0xfff) as usize;
    let number = index.by_opcode[opcode];
    if number == NONE {
        return Err(unknown(opcode as u16));
    }
    let mut entry = &index.entries[usize::from(number)];
    if let Some((picks, other)) = entry.other
        && bit(word, picks)
    {
        entry = &index.entries[usize::from(other)];
    }
    let uniform = bit(word, 91);
    if entry.selects_uniform.is_some_and(|expected| expected != uniform) {
        return Err(DecodeError::Uniform { expected: !uniform });
    }
    for (pair, mask) in entry.exclusive.into_iter().enumerate() {
        if mask != 0 && word & mask == mask {
            return Err(DecodeError::Exclusive(entry.row().exclusive[pair].0));
        }
    }
    check_control(word, entry)?;
    Ok(Instruction { word, entry, target })
}

#[inline]
fn check_control(word: u128, entry: &Entry) -> Result<(), DecodeError> {
    let slot = control(word);
    let (schedule, reuse) = (slot.schedule(), slot.reuse());
    if schedule == 16 || schedule >= 28 {
        return Err(DecodeError::Schedule(schedule));
    }
    let legal = match schedule {
        0 => reuse == 0,
        // Where nothing can be kept, the bits of A and B exclude each other too.
        _ if schedule < 17 || entry.hides_reuse => reuse & 6 != 6 && (reuse & 3 != 3 || entry.reusable != 0),
        _ => reuse & !entry.reusable == 0 && !(entry.one_of_two && reuse & 6 == 6),
    };
    if legal { Ok(()) } else { Err(DecodeError::Reuse(reuse)) }
}

/// The control fields of a word.
#[inline]
pub(super) fn control(word: u128) -> Slot {
    Slot::from_bits((word >> CONTROL) as u32)
}

#[cold]
fn unknown(opcode: u16) -> DecodeError {
    let known = OPCODES.iter().find(|row| {
        row.picked_by.is_none() && row.forms.iter().any(|(form, _)| row.low | u16::from(*form) << 9 == opcode)
    });
    match known {
        Some(row) => DecodeError::NotOnTarget(row.name),
        None => DecodeError::Opcode(opcode),
    }
}

/// Whether an operand of a form is one of the wide slot's kind.
pub(super) fn kind_of(row: &Opcode, form: u8, role: Role) -> Kind {
    let own = if row.uniform { Kind::Uniform } else { Kind::Register };
    match SHAPES[usize::from(form)] {
        Some(shape) if row.place(role, shape) == Place::Wide && shape.kind != Kind::Register => shape.kind,
        _ => own,
    }
}
