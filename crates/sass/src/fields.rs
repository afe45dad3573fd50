//! The one table of bit ranges: every field of an instruction word and of a control word is defined here and
//! nowhere else.
//!
//! Source of every range: words of the public disassemblers for SPA 5.0, each bit flipped (`vectors/edge/sass`).

/// A range of bits of a 64-bit word.
///
/// ```
/// use roundonce_sass::fields::{BANK, Field};
/// assert_eq!(BANK, Field { name: "constant bank", low: 34, width: 5 });
/// assert_eq!(BANK.get(BANK.put(3)), 3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// What a finding calls it.
    pub name: &'static str,
    /// Its lowest bit, from 0.
    pub low: u32,
    /// How many bits it has.
    pub width: u32,
}

impl Field {
    const fn new(name: &'static str, low: u32, width: u32) -> Field {
        Field { name, low, width }
    }
    /// The largest value that it holds.
    pub const fn max(self) -> u64 {
        (1 << self.width) - 1
    }
    /// Its bits in a word.
    pub const fn mask(self) -> u64 {
        self.max() << self.low
    }
    /// Its value in a word.
    #[inline]
    pub const fn get(self, word: u64) -> u64 {
        word >> self.low & self.max()
    }
    /// A word with nothing but this value; what does not fit is cut off.
    #[inline]
    pub const fn put(self, value: u64) -> u64 {
        (value & self.max()) << self.low
    }
    /// A word with the field set to this value.
    #[inline]
    #[must_use]
    pub const fn set(self, word: u64, value: u64) -> u64 {
        word & !self.mask() | self.put(value)
    }
}

/// The table itself: a constant each, and the list of them all.
macro_rules! fields {
    ($list:ident, $about:literal: $($constant:ident $name:literal $low:literal $width:literal;)*) => {
        $(
            #[doc = concat!("Bits ", $low, " and up, ", $width, " of them: ", $name, ".")]
            pub const $constant: Field = Field::new($name, $low, $width);
        )*
        #[doc = $about]
        pub const $list: &[Field] = &[$($constant),*];
    };
}

fields! { INSTRUCTION_FIELDS, "Every field that an instruction word has in some form.":
    RD              "destination"               0  8;
    RA              "Ra"                        8  8;
    PREDICATE       "predicate"                16  3;
    PREDICATE_NOT   "predicate negation"       19  1;
    RB              "Rb"                       20  8;
    OFFSET          "constant word offset"     20 14;
    BANK            "constant bank"            34  5;
    IMMEDIATE_LOW   "low 19 bits of imm20"     20 19;
    IMMEDIATE_SIGN  "sign of imm20"            56  1;
    IMMEDIATE_32    "imm32"                    20 32;
    RC              "Rc"                       39  8;
    CC              ".CC"                      47  1;
    NEGATE_PRODUCT  "product sign"             48  1;
    NEGATE_ADDEND   "addend sign"              49  1;
    SAT             ".SAT"                     50  1;
    ROUNDING        ".rnd"                     51  2;
    FMZ             ".fmz"                     53  2;
    LONG_CC         ".CC beside imm32"         52  1;
    LONG_SAT        ".SAT beside imm32"        55  1;
    LONG_NEGATE_A   "product sign beside imm32"56  1;
    LONG_NEGATE_C   "addend sign beside imm32" 57  1;
    OPCODE          "opcode"                   51 13;
}

fields! { SLOT_FIELDS, "Every field of one of the three 21-bit slots of a control word, counted from the slot's start.":
    STALL           "stall count"               0  4;
    NO_YIELD        "yield, inverted"           4  1;
    SCHEDULE        "stall and yield together"  0  5;
    WRITE_BARRIER   "write barrier"             5  3;
    READ_BARRIER    "read barrier"              8  3;
    WAIT            "wait mask"                11  6;
    REUSE           "reuse of A, B and C"      17  3;
    SLOT_TOP        "bit 20"                   20  1;
}

/// Bits of one slot of a control word.
pub const SLOT_WIDTH: u32 = 21;
