//! The control word: three slots of scheduling, one for each instruction of a 32-byte bundle.

use core::fmt;

use crate::fields::{self, Field, SLOT_WIDTH};

/// The scheduling of one instruction: 21 bits.
///
/// ```
/// use roundonce_sass::Slot;
/// let slot = Slot::from_bits(0x2e1);
/// assert_eq!((slot.stall(), slot.yields(), slot.write_barrier(), slot.read_barrier()), (1, true, None, Some(2)));
/// assert_eq!(slot.name(), "?W1G");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot(u32);

impl Slot {
    /// No barrier, no wait, no reuse, and the longest stall: right before any instruction of fixed latency. What a
    /// listing without scheduling gets.
    pub const CAUTIOUS: Slot = Slot(0x7ef);
    /// No barrier, no wait, no reuse, no stall: what pads the end of a kernel.
    pub const PADDING: Slot = Slot(0x7e0);

    /// A slot of 21 bits; those above are dropped.
    pub const fn from_bits(bits: u32) -> Slot {
        Slot(bits & ((1 << SLOT_WIDTH) - 1))
    }
    /// Its 21 bits.
    pub const fn bits(self) -> u32 {
        self.0
    }
    const fn get(self, field: Field) -> u32 {
        field.get(self.0 as u64) as u32
    }
    /// With another value in one of [`fields::SLOT_FIELDS`].
    #[must_use]
    pub const fn with(self, field: Field, value: u32) -> Slot {
        Slot(field.set(self.0 as u64, value as u64) as u32)
    }
    /// Cycles until the next instruction may issue: 0 to 15.
    pub const fn stall(self) -> u32 {
        self.get(fields::STALL)
    }
    /// Whether the scheduler may switch to another warp.
    pub const fn yields(self) -> bool {
        self.get(fields::NO_YIELD) == 0
    }
    /// Stall and yield together, as the manual's `?sched` names them: 0 to 31.
    pub const fn schedule(self) -> u32 {
        self.get(fields::SCHEDULE)
    }
    /// Whether the next instruction issues in the same cycle: `{ … }`.
    pub const fn pairs(self) -> bool {
        self.schedule() == PAIR
    }
    /// The barrier that is set when the result is written: 0 to 6.
    pub const fn write_barrier(self) -> Option<u32> {
        match self.get(fields::WRITE_BARRIER) {
            7 => None,
            barrier => Some(barrier),
        }
    }
    /// The barrier that is set when the operands were read: 0 to 6.
    pub const fn read_barrier(self) -> Option<u32> {
        match self.get(fields::READ_BARRIER) {
            7 => None,
            barrier => Some(barrier),
        }
    }
    /// The barriers waited for, bit 0 the first: the manual's `&req`.
    pub const fn wait(self) -> u32 {
        self.get(fields::WAIT)
    }
    /// The operands kept in the operand cache: bit 0 A, bit 1 B, bit 2 C.
    pub const fn reuse(self) -> u32 {
        self.get(fields::REUSE)
    }
    /// Bit 20, which must be zero.
    pub const fn top(self) -> bool {
        self.get(fields::SLOT_TOP) != 0
    }
    /// The manual's name of stall and yield: `?W5G`.
    pub const fn name(self) -> &'static str {
        SCHEDULE_NAMES[self.schedule() as usize][0]
    }
    /// Violations in the slot of an instruction of fixed latency.
    pub fn faults(self) -> impl Iterator<Item = SlotFault> {
        let faults = [
            self.write_barrier().map(SlotFault::WriteBarrier),
            self.read_barrier().map(SlotFault::ReadBarrier),
            self.top().then_some(SlotFault::Top),
        ];
        faults.into_iter().flatten()
    }
}

/// Why a slot cannot belong to an instruction of fixed latency: both barriers must be 7, none, which is why the manual
/// lists only `&req` and `?sched` for them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotFault {
    /// The write barrier is set.
    WriteBarrier(u32),
    /// The read barrier is set.
    ReadBarrier(u32),
    /// Bit 20 is set.
    Top,
}

impl fmt::Display for SlotFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, number) = match self {
            SlotFault::WriteBarrier(number) => ("write", number),
            SlotFault::ReadBarrier(number) => ("read", number),
            SlotFault::Top => return f.write_str("bit 20 of the slot is set; it must be zero"),
        };
        write!(f, "an instruction of fixed latency sets no barrier, but the {name} barrier is {number}")
    }
}

/// The value of [`Slot::schedule`] that issues the next instruction in the same cycle.
pub(crate) const PAIR: u32 = 16;

/// The names of stall and yield together, by value: the one written first, then others that are read.
///
/// 1 to 15 stall and end the group (the warp may yield); 17 to 27 stall within it. Source: the scheduling names of
/// sm_50 in public compilers; `?PAIR` is ours, since the disassembler writes braces instead.
#[rustfmt::skip] // One value a row.
pub static SCHEDULE_NAMES: [&[&str]; 32] = [
    &["?DRAIN", "?YIELD"],
    &["?W1G", "?WAIT1_END_GROUP"],   &["?W2G", "?WAIT2_END_GROUP"],   &["?W3G", "?WAIT3_END_GROUP"],
    &["?W4G", "?WAIT4_END_GROUP"],   &["?W5G", "?WAIT5_END_GROUP"],   &["?W6G", "?WAIT6_END_GROUP"],
    &["?W7G", "?WAIT7_END_GROUP"],   &["?W8G", "?WAIT8_END_GROUP"],   &["?W9G", "?WAIT9_END_GROUP"],
    &["?W10G", "?WAIT10_END_GROUP"], &["?W11G", "?WAIT11_END_GROUP"], &["?W12G", "?WAIT12_END_GROUP"],
    &["?W13G", "?WAIT13_END_GROUP"], &["?W14G", "?WAIT14_END_GROUP"], &["?W15G", "?WAIT15_END_GROUP"],
    &["?PAIR"],
    &["?W1", "?WAIT1", "?trans1"],    &["?W2", "?WAIT2", "?trans2"],    &["?W3", "?WAIT3", "?trans3"],
    &["?W4", "?WAIT4", "?trans4"],    &["?W5", "?WAIT5", "?trans5"],    &["?W6", "?WAIT6", "?trans6"],
    &["?W7", "?WAIT7", "?trans7"],    &["?W8", "?WAIT8", "?trans8"],    &["?W9", "?WAIT9", "?trans9"],
    &["?W10", "?WAIT10", "?trans10"], &["?W11", "?WAIT11", "?trans11"],
    &["?PIXBAR"], &["?YLD6"], &["?YLD8"], &["?OFF_DECK"],
];

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot({:#x})", self.0)
    }
}

/// The first word of a bundle: three slots, and bit 63, which means nothing and is kept.
///
/// ```
/// use roundonce_sass::Control;
/// let control = Control(0x001f_8400_fc20_07e1);
/// assert_eq!(control.slots().map(|slot| slot.stall()), [1, 1, 1]);
/// assert_eq!(Control::of(control.slots()), control);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Control(pub u64);

impl Control {
    /// The control word of three slots.
    pub const fn of(slots: [Slot; 3]) -> Control {
        Control(slots[0].0 as u64 | (slots[1].0 as u64) << SLOT_WIDTH | (slots[2].0 as u64) << (2 * SLOT_WIDTH))
    }
    /// Its three slots.
    pub const fn slots(self) -> [Slot; 3] {
        [
            Slot::from_bits(self.0 as u32),
            Slot::from_bits((self.0 >> SLOT_WIDTH) as u32),
            Slot::from_bits((self.0 >> (2 * SLOT_WIDTH)) as u32),
        ]
    }
    /// Bit 63.
    pub const fn top(self) -> bool {
        self.0 >> 63 == 1
    }
}
