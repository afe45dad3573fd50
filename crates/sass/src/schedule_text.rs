//! The four notations of scheduling, read and written.
//!
//! | style | position | example |
//! |---|---|---|
//! | the manual's | behind the operands | `&req={0,2} ?W5G` |
//! | maxas | before the instruction | `05:-:-:Y:5` |
//! | CuAssembler | before the instruction | `[B0-2---:R-:W-:Y:S05]` |
//! | envytools | a line before three instructions | `sched (st 0x5 wt 0x5) (st 0x1) (st 0x1)` |
//!
//! None of the first three can express everything: reuse is written on the operands there, and bit 20 nowhere. What an
//! instruction's text cannot carry is written behind it as `&reuse={…}`, `&top`, `&wr=…`, `&rd=…`; nothing is lost.

use crate::decimal::push_integer;
use crate::fields::{self, Field};
use crate::schedule::{SCHEDULE_NAMES, Slot};

/// A notation of scheduling.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScheduleStyle {
    /// `&req={0,2} ?W5G` behind the instruction.
    Seed,
    /// `05:-:-:Y:5` before it.
    Maxas,
    /// `[B0-2---:R-:W-:Y:S05]` before it.
    CuAssembler,
    /// `sched (st 0x5 wt 0x5) (st 0x1) (st 0x1)` on a line before three instructions.
    Envytools,
}

impl ScheduleStyle {
    /// Every style with the name that options use.
    pub const NAMED: [(&'static str, ScheduleStyle); 4] = [
        ("seed", ScheduleStyle::Seed),
        ("maxas", ScheduleStyle::Maxas),
        ("cuassembler", ScheduleStyle::CuAssembler),
        ("envytools", ScheduleStyle::Envytools),
    ];
    /// The style of that name.
    pub fn named(name: &str) -> Option<ScheduleStyle> {
        ScheduleStyle::NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, style)| *style)
    }
}

fn push_hex_digit(number: u32, out: &mut String) {
    out.push(char::from(b"0123456789abcdef"[(number & 0xf) as usize]));
}

fn push_set(name: &str, mask: u32, out: &mut String) {
    out.push_str(name);
    out.push_str("={");
    for (count, bit) in (0..32).filter(|bit| mask >> bit & 1 == 1).enumerate() {
        out.push_str(if count == 0 { "" } else { "," });
        push_integer(bit, out);
    }
    out.push('}');
}

/// The part before an instruction, followed by a blank; nothing in styles that have none.
pub(crate) fn push_prefix(slot: Slot, style: ScheduleStyle, out: &mut String) {
    let barrier = |number: Option<u32>, first: u32, out: &mut String| match number {
        None => out.push('-'),
        Some(number) => push_integer(u64::from(number + first), out),
    };
    match style {
        ScheduleStyle::Seed | ScheduleStyle::Envytools => {}
        ScheduleStyle::Maxas => {
            if slot.wait() == 0 {
                out.push_str("--");
            } else {
                push_hex_digit(slot.wait() >> 4, out);
                push_hex_digit(slot.wait(), out);
            }
            out.push(':');
            // maxas counts barriers from 1.
            barrier(slot.read_barrier(), 1, out);
            out.push(':');
            barrier(slot.write_barrier(), 1, out);
            out.push_str(if slot.yields() { ":Y:" } else { ":-:" });
            push_hex_digit(slot.stall(), out);
            out.push(' ');
        }
        ScheduleStyle::CuAssembler => {
            out.push_str("[B");
            for bit in 0..6 {
                out.push(if slot.wait() >> bit & 1 == 1 { char::from(b'0' + bit) } else { '-' });
            }
            out.push_str(":R");
            barrier(slot.read_barrier(), 0, out);
            out.push_str(":W");
            barrier(slot.write_barrier(), 0, out);
            out.push_str(if slot.yields() { ":Y:S" } else { ":-:S" });
            push_integer(u64::from(slot.stall() / 10), out);
            push_integer(u64::from(slot.stall() % 10), out);
            out.push_str("] ");
        }
    }
}

/// The part behind an instruction, with a blank before each piece. `shown_reuse` are the reuse bits that the
/// operands' text shows.
pub(crate) fn push_suffix(slot: Slot, shown_reuse: u32, style: ScheduleStyle, out: &mut String) {
    if style == ScheduleStyle::Envytools {
        return;
    }
    if style == ScheduleStyle::Seed {
        if slot.wait() != 0 {
            push_set(" &req", slot.wait(), out);
        }
        for (name, number) in [(" &wr=", slot.write_barrier()), (" &rd=", slot.read_barrier())] {
            if let Some(number) = number {
                out.push_str(name);
                push_integer(u64::from(number), out);
            }
        }
    }
    if slot.reuse() & !shown_reuse != 0 {
        push_set(" &reuse", slot.reuse(), out);
    }
    if slot.top() {
        out.push_str(" &top");
    }
    if style == ScheduleStyle::Seed {
        out.push(' ');
        out.push_str(slot.name());
    }
}

/// A slot as a finding shows it: `&req={1} ?W3G`.
pub(crate) fn in_seed_style(slot: Slot) -> String {
    let mut text = String::new();
    push_suffix(slot, 0, ScheduleStyle::Seed, &mut text);
    text.trim_start().to_owned()
}

/// One of three parentheses of an envytools `sched` line.
pub(crate) fn push_envytools(slot: Slot, out: &mut String) {
    let field = |name: &str, number: u32, out: &mut String| {
        out.push_str(name);
        if number > 0xf {
            push_hex_digit(number >> 4, out);
        }
        push_hex_digit(number, out);
    };
    field("(st 0x", slot.stall(), out);
    if !slot.yields() {
        out.push_str(" yl");
    }
    if let Some(barrier) = slot.write_barrier() {
        field(" wr 0x", barrier, out);
    }
    if let Some(barrier) = slot.read_barrier() {
        field(" rd 0x", barrier, out);
    }
    if slot.wait() != 0 {
        field(" wt 0x", slot.wait(), out);
    }
    let reuse = slot.reuse() | u32::from(slot.top()) << 3;
    if reuse != 0 {
        field(" ru 0x", reuse, out);
    }
    out.push(')');
}

/// What a text says of an instruction's scheduling: some fields of its slot, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scheduling {
    bits: u32,
    /// The bits of the fields that are written.
    given: u32,
}

impl Scheduling {
    /// Of nothing.
    pub(crate) const NONE: Scheduling = Scheduling { bits: 0, given: 0 };

    /// Whether more than the operands kept for reuse is written.
    pub(crate) fn is_given(self) -> bool {
        u64::from(self.given) & !fields::REUSE.mask() != 0
    }
    /// The slot of this text where another says the rest.
    pub(crate) const fn over(self, rest: Slot) -> Slot {
        Slot::from_bits(rest.bits() & !self.given | self.bits)
    }
    /// With a field more; `None` if it was written before.
    pub(crate) fn with(self, field: Field, value: u32) -> Option<Scheduling> {
        let bits = field.set(0, u64::from(value)) as u32;
        let given = field.set(0, field.max()) as u32;
        (self.given & given == 0).then_some(Scheduling { bits: self.bits | bits, given: self.given | given })
    }
    /// With operands kept for reuse beside those that are.
    pub(crate) fn reusing(self, mask: u32) -> Scheduling {
        let mask = fields::REUSE.set(0, u64::from(mask)) as u32;
        Scheduling { bits: self.bits | mask, given: self.given | mask }
    }
}

/// Reads maxas's control text, `05:-:-:Y:5`: `None` if it is not such a text.
pub(crate) fn read_maxas(text: &str) -> Option<Scheduling> {
    let mut parts = text.split(':');
    let mut part = || parts.next();
    let (wait, read, write, yields, stall) = (part()?, part()?, part()?, part()?, part()?);
    if part().is_some() || wait.len() != 2 {
        return None;
    }
    let wait = if wait == "--" { 0 } else { hex(wait).filter(|mask| *mask <= 0x3f)? };
    let barrier = |text: &str| match text {
        "-" => Some(7),
        _ => decimal(text).filter(|number| (1..=7).contains(number)).map(|number| number - 1),
    };
    let stall = hex(stall).filter(|_| stall.len() == 1)?;
    build(wait, barrier(read)?, barrier(write)?, yield_letter(yields)?, stall)
}

/// Reads CuAssembler's control text without its brackets, `B0-2---:R-:W-:Y:S05`.
pub(crate) fn read_cuassembler(text: &str) -> Option<Scheduling> {
    let mut parts = text.split(':');
    let mut part = |letter: char| parts.next().and_then(|part| part.strip_prefix(letter));
    let (wait, read, write) = (part('B')?, part('R')?, part('W')?);
    let yields = parts.next()?;
    let stall = parts.next()?.strip_prefix('S')?;
    if parts.next().is_some() || wait.len() != 6 || stall.len() != 2 {
        return None;
    }
    let mut mask = 0;
    for (bit, letter) in wait.bytes().enumerate() {
        match letter {
            b'-' => {}
            digit if digit == b'0' + bit as u8 => mask |= 1 << bit,
            _ => return None,
        }
    }
    let barrier = |text: &str| match text {
        "-" => Some(7),
        _ => decimal(text).filter(|number| *number <= 6),
    };
    build(mask, barrier(read)?, barrier(write)?, yield_letter(yields)?, decimal(stall).filter(|stall| *stall <= 15)?)
}

fn yield_letter(text: &str) -> Option<bool> {
    match text {
        "Y" | "y" => Some(true),
        "-" => Some(false),
        _ => None,
    }
}

/// All but the operands kept for reuse and bit 20.
fn build(wait: u32, read: u32, write: u32, yields: bool, stall: u32) -> Option<Scheduling> {
    let scheduling = Scheduling::NONE.with(fields::WAIT, wait)?.with(fields::READ_BARRIER, read)?;
    let scheduling = scheduling.with(fields::WRITE_BARRIER, write)?.with(fields::NO_YIELD, u32::from(!yields))?;
    scheduling.with(fields::STALL, stall)
}

/// Reads the arguments of envytools' `sched`: three parentheses.
pub(crate) fn read_envytools(text: &str) -> Option<[Slot; 3]> {
    let mut left = text.trim();
    let mut slots = [Slot::PADDING; 3];
    for slot in &mut slots {
        let (inside, rest) = left.strip_prefix('(')?.split_once(')')?;
        *slot = read_parenthesis(inside)?;
        left = rest.trim_start();
    }
    left.is_empty().then_some(slots)
}

fn read_parenthesis(text: &str) -> Option<Slot> {
    let mut slot = Slot::PADDING;
    let mut words = text.split_whitespace();
    let mut has_stall = false;
    while let Some(word) = words.next() {
        if word == "yl" {
            slot = slot.with(fields::NO_YIELD, 1);
            continue;
        }
        let number = number(words.next()?)?;
        let (field, top) = match word {
            "st" => (fields::STALL, 0),
            "wr" => (fields::WRITE_BARRIER, 0),
            "rd" => (fields::READ_BARRIER, 0),
            "wt" => (fields::WAIT, 0),
            // envytools takes bit 20 for a fourth reuse flag.
            "ru" => (fields::REUSE, number >> 3),
            _ => return None,
        };
        has_stall |= word == "st";
        if top > 1 || top == 0 && u64::from(number) > field.max() {
            return None;
        }
        slot = slot.with(field, number).with(fields::SLOT_TOP, if word == "ru" { top } else { u32::from(slot.top()) });
    }
    has_stall.then_some(slot)
}

/// Why a piece of the manual's scheduling notation is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoSuffix {
    /// It is no such piece.
    Unknown,
    /// What it says was said before.
    Twice,
}

/// A scheduling with one more piece of the manual's notation.
pub(crate) fn apply_suffix(scheduling: Scheduling, piece: &str) -> Result<Scheduling, NoSuffix> {
    let (field, value) = suffix(piece).ok_or(NoSuffix::Unknown)?;
    scheduling.with(field, value).ok_or(NoSuffix::Twice)
}

/// The field that a piece says, and its value.
fn suffix(piece: &str) -> Option<(Field, u32)> {
    if piece.starts_with('?') {
        let value = SCHEDULE_NAMES.iter().position(|names| names.contains(&piece))?;
        return Some((fields::SCHEDULE, value as u32));
    }
    let piece = piece.strip_prefix('&')?;
    if piece == "top" {
        return Some((fields::SLOT_TOP, 1));
    }
    let (name, value) = piece.split_once('=')?;
    let (field, is_set) = match name.trim_end() {
        "req" => (fields::WAIT, true),
        "reuse" => (fields::REUSE, true),
        "wr" => (fields::WRITE_BARRIER, false),
        "rd" => (fields::READ_BARRIER, false),
        _ => return None,
    };
    let value = value.trim_start();
    if !is_set {
        return number(value).filter(|number| *number <= 6).map(|number| (field, number));
    }
    let mut mask = 0;
    let inside = value.strip_prefix('{')?.strip_suffix('}')?;
    for bit in inside.split(',').map(str::trim).filter(|bit| !bit.is_empty()) {
        mask |= number(bit).filter(|bit| *bit < field.width).map(|bit| 1 << bit)?;
    }
    Some((field, mask))
}

fn decimal(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}
fn hex(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(text, 16).ok())?
}
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => hex(digits),
        None => decimal(text),
    }
}
