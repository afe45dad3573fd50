//! The opcode table's indexes: by mnemonic, by modifier text, by opcode bits. The compiler builds them.

use crate::fields;
use crate::opcode::{MAX_MODIFIERS, Opcode, OperandForm};
use crate::opcodes::{Encoded, OPCODES};

/// One operand form and the index of its opcode.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) opcode: usize,
    pub(crate) form: &'static OperandForm,
}

impl Entry {
    #[inline]
    pub(crate) fn opcode(&self) -> &'static Opcode {
        &OPCODES[self.opcode]
    }
}

const COUNT: usize = {
    let (mut count, mut opcode) = (0, 0);
    while opcode < OPCODES.len() {
        count += OPCODES[opcode].forms.len();
        opcode += 1;
    }
    count
};

/// Every operand form with the index of its opcode, those of one opcode beside each other.
pub(crate) static ENTRIES: [Entry; COUNT] = ENTRY_TABLE;

const ENTRY_TABLE: [Entry; COUNT] = {
    let mut entries = [Entry { opcode: 0, form: &OPCODES[0].forms[0] }; COUNT];
    let (mut count, mut opcode) = (0, 0);
    while opcode < OPCODES.len() {
        let forms = OPCODES[opcode].forms;
        let mut form = 0;
        while form < forms.len() {
            forms[form].validate(&OPCODES[opcode]);
            entries[count] = Entry { opcode, form: &forms[form] };
            count += 1;
            form += 1;
        }
        opcode += 1;
    }
    entries
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

/// The operand forms of one opcode in [`ENTRIES`].
#[derive(Clone, Copy)]
pub(crate) struct Siblings {
    pub(crate) first: u16,
    pub(crate) count: u16,
}

impl Siblings {
    pub(crate) fn entries(self) -> &'static [Entry] {
        &ENTRIES[usize::from(self.first)..][..usize::from(self.count)]
    }
}

/// The mnemonics, packed (none is longer than eight letters), each with its operand forms.
static MNEMONICS: [(u64, Siblings); OPCODES.len()] = {
    let mut table = [(0, Siblings { first: 0, count: 0 }); OPCODES.len()];
    let (mut first, mut index) = (0, 0);
    while index < OPCODES.len() {
        let opcode = &OPCODES[index];
        assert!(opcode.name.len() <= 8, "a longer mnemonic needs a wider key");
        let count = opcode.forms.len() as u16;
        table[index] = (packed(opcode.name.as_bytes()), Siblings { first, count });
        first += count;
        index += 1;
    }
    table
};

/// The operand forms of the mnemonic in the first `length` bytes of a text.
#[inline]
pub(crate) fn mnemonic(text: &[u8], length: usize) -> Option<Siblings> {
    let name = packed_start(text, length);
    let found = MNEMONICS.iter().find(|(known, _)| *known == name)?;
    (length <= 8).then_some(found.1)
}

/// The opcode of a mnemonic.
pub(crate) fn opcode(name: &str) -> Option<&'static Opcode> {
    OPCODES.iter().find(|opcode| opcode.name == name)
}

/// The opcode whose counterpart with a 32-bit immediate is this one.
pub(crate) fn short_counterpart(opcode: &Opcode) -> Option<&'static Opcode> {
    OPCODES.iter().find(|short| short.long_immediate == Some(opcode.name))
}

/// The names of the opcodes that can be written as words.
pub(crate) fn encodable_names() -> Vec<&'static str> {
    OPCODES.iter().filter(|opcode| opcode.is_encodable()).map(|opcode| opcode.name).collect()
}

/// One modifier as text.
#[derive(Clone, Copy)]
struct Spelling {
    packed: u64,
    text: &'static str,
    /// The slot that it belongs to.
    slot: u8,
    /// The slot's value.
    value: u8,
}

const MAX_SPELLINGS: usize = 10;

/// Every modifier of each opcode, the illegal ones included.
static SPELLINGS: [[Spelling; MAX_SPELLINGS]; OPCODES.len()] = {
    let mut table = [[Spelling { packed: 0, text: "", slot: 0, value: 0 }; MAX_SPELLINGS]; OPCODES.len()];
    let mut index = 0;
    while index < OPCODES.len() {
        let modifiers = OPCODES[index].modifiers;
        let mut count = 0;
        let mut slot = 0;
        while slot < modifiers.len() {
            let modifier = &modifiers[slot];
            let choices = modifier.slot.choices;
            let mut choice = 0;
            while choice < choices.len() {
                let text = choices[choice].text;
                let value = choice as u8 + modifier.first;
                table[index][count] = Spelling { packed: packed(text.as_bytes()), text, slot: slot as u8, value };
                count += 1;
                choice += 1;
            }
            if let Some((value, text)) = modifier.illegal {
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
pub(crate) fn modifier(opcode: usize, text: &[u8], length: usize) -> Option<(usize, u8)> {
    let name = packed_start(text, length);
    let found = SPELLINGS[opcode].iter().find(|spelling| spelling.packed == name)?;
    // The packed bytes and the length identify a name of up to eight bytes.
    let exact = length == found.text.len() && (length <= 8 || text.get(..length)? == found.text.as_bytes());
    exact.then_some((usize::from(found.slot).min(MAX_MODIFIERS - 1), found.value))
}

/// The encoding of each of [`ENTRIES`].
pub(crate) static ENCODED: [Option<Encoded>; COUNT] = {
    let mut table = [None; COUNT];
    let mut index = 0;
    while index < COUNT {
        if let Some(encoding) = ENTRY_TABLE[index].form.encoding {
            table[index] = Some(encoding.encoded);
        }
        index += 1;
    }
    table
};

/// The index in [`ENTRIES`] of an encoded form. It does not compile where no opcode has the form.
pub(crate) const fn entry_of(encoded: Encoded) -> u16 {
    let mut index = 0;
    loop {
        if let Some(encoding) = ENTRY_TABLE[index].form.encoding
            && encoding.encoded as usize == encoded as usize
        {
            return index as u16;
        }
        index += 1;
    }
}

/// The form of each value of the opcode bits.
static BY_OPCODE: [Option<Encoded>; 1 << fields::OPCODE.width] = {
    let mut table = [None; 1 << fields::OPCODE.width];
    let mut index = 0;
    while index < COUNT {
        if let Some(encoding) = ENTRY_TABLE[index].form.encoding {
            let mut bits = 0;
            while bits < table.len() {
                if fields::OPCODE.put(bits as u64) & encoding.mask == encoding.bits {
                    assert!(table[bits].is_none(), "one opcode, two forms");
                    table[bits] = Some(encoding.encoded);
                }
                bits += 1;
            }
        }
        index += 1;
    }
    table
};

/// The form whose opcode a word has.
#[inline]
pub(crate) fn word(word: u64) -> Option<Encoded> {
    BY_OPCODE[fields::OPCODE.get(word) as usize]
}
