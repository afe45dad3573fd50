//! Registers, constants and operands of the kernel that is built.

use std::collections::{BTreeMap, HashMap};

use roundonce_arith::Format;
use roundonce_ir::{
    Comparand, Comparison, Guard, Instruction as Step, IntOp, Kernel, MemoryOrder, Op, Operand as Arg, Reg, Role,
    Space, Special, Variable, Width,
};

use super::info::Info;
use super::wide::{Halves, Known};
use crate::instruction::{Instruction, Operand, PT, RZ, Value};

/// The kernel, its registers by their names, and the instruction that is lowered.
pub(super) struct Body<'a> {
    pub(super) kernel: Kernel,
    pub(super) info: &'a Info<'a>,
    /// The constant banks that are read by registers, and the memory of variables; the address of each by its name.
    pub(super) variables: Vec<Variable>,
    memories: BTreeMap<String, Reg>,
    /// Pairs of words of constant banks.
    pairs: BTreeMap<(u8, u16), Reg>,
    /// Whether each instruction is to read and write what the machine's does: nothing is known of registers then.
    pub(super) is_traced: bool,
    /// What is known in this block of registers.
    pub(super) known: BTreeMap<u8, Known>,
    /// The last sum that set the carry: the register of its result, and what was added.
    pub(super) low_sum: Option<(u8, Halves)>,
    /// The machine's registers of the program's.
    numbers: HashMap<Reg, u8>,
    /// What is computed once, before the code.
    pub(super) before: Vec<Step>,
    /// The block that is built.
    pub(super) code: Vec<Step>,
    registers: BTreeMap<u8, Reg>,
    predicates: BTreeMap<u8, Reg>,
    /// Words of banks 0 and 4, by their offsets.
    constants: BTreeMap<(u8, u16), Reg>,
    /// The carry, that of a second addition, whether the result was zero, and whether it was negative.
    carry: Option<Reg>,
    second_carry: Option<Reg>,
    zero: Option<Reg>,
    negative: Option<Reg>,
    pub(super) flags: Flags,
    /// The guard of the choice between pairs that the flags are of; nothing where it has been written since.
    pub(super) choice: Option<Option<Guard>>,
    /// Registers of this block that hold condition codes, and which of them; nothing where some lanes hold something else.
    pub(super) saved: BTreeMap<u8, Option<Flags>>,
    /// Whether the instruction that is lowered reads such a register as a number: not all of its bits are known.
    reads_saved: bool,
    /// A predicate that an instruction writes without a documented value; no other instruction may read it.
    pub(super) hint: Option<Reg>,
    /// Whether the access that is lowered has that predicate.
    pub(super) is_hinted: bool,
    /// The last result of a barrier in this block.
    pub(super) barrier: Option<Reg>,
    pub(super) guard: Option<Guard>,
    pub(super) loc: u32,
}

/// What is known in this block of the condition codes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flags {
    /// At most the carry.
    Unknown,
    /// Whether the result was zero and whether it was negative; there is no carry.
    Result,
    /// Which upper halves a choice between pairs compared: whether they were equal, and as the carry, whether the
    /// first was taken.
    Choice,
    /// Both: they are those of one addition of 32 bits.
    Sum,
    /// How often a sum of three numbers carries: none, once by either of its additions, or by both.
    Counted,
}

pub(super) const B32: Width = Width::B32;
pub(super) const TRUE: Arg = Arg::Imm(1);

/// A register of a group of neighbours; `None` where there is none.
pub(super) fn neighbour(first: u8, place: u8) -> Option<u8> {
    if first == RZ { Some(RZ) } else { first.checked_add(place).filter(|number| *number < RZ) }
}

impl Instruction {
    /// Nothing where a modifier is printed that is in none of these slots: it would be ignored.
    pub(super) fn only(&self, slots: &[&str]) -> Option<()> {
        self.modifiers().all(|(name, _)| name == "fixed" || slots.contains(&name)).then_some(())
    }
}

impl<'a> Body<'a> {
    pub(super) fn new(kernel: Kernel, info: &'a Info<'a>) -> Body<'a> {
        Body {
            kernel,
            info,
            variables: Vec::new(),
            memories: BTreeMap::new(),
            pairs: BTreeMap::new(),
            is_traced: false,
            known: BTreeMap::new(),
            low_sum: None,
            numbers: HashMap::new(),
            before: Vec::new(),
            code: Vec::new(),
            registers: BTreeMap::new(),
            predicates: BTreeMap::new(),
            constants: BTreeMap::new(),
            carry: None,
            second_carry: None,
            choice: None,
            saved: BTreeMap::new(),
            reads_saved: false,
            zero: None,
            negative: None,
            flags: Flags::Unknown,
            hint: None,
            is_hinted: false,
            barrier: None,
            guard: None,
            loc: 0,
        }
    }

    /// At the start of a block nothing is known.
    pub(super) fn begin_block(&mut self) {
        (self.flags, self.barrier, self.low_sum) = (Flags::Unknown, None, None);
        self.known.clear();
        self.saved.clear();
    }
    /// What the block leaves behind whose value is not known to the last bit.
    pub(super) fn half_known(&self) -> Vec<Reg> {
        let saved = self.saved.keys().filter_map(|number| self.registers.get(number)).copied();
        let carry = self.carry.filter(|_| !self.has_carry());
        saved.chain(carry).collect()
    }
    /// Whether the instruction read condition codes as a number.
    pub(super) fn took_saved(&mut self) -> bool {
        std::mem::take(&mut self.reads_saved)
    }
    /// Whether there is a carry of one bit.
    pub(super) fn has_carry(&self) -> bool {
        matches!(self.flags, Flags::Unknown | Flags::Sum)
    }
    /// The flags of an addition beside the carry, or all flags of another result.
    pub(super) fn write_flags(&mut self, result: Reg, flags: Flags) {
        self.low_sum = None;
        let (zero, negative, of) = (self.zero(), self.negative(), Comparand::Signed(B32));
        for (d, comparison) in [(zero, Comparison::Eq), (negative, Comparison::Lt)] {
            self.finish(Op::Compare { d, comparison, of, a: result.into(), b: Arg::ZERO });
        }
        self.flags = flags;
    }
    /// The block that was built, without what it writes to flags that nothing in it asks: they are asked nowhere else.
    pub(super) fn take_code(&mut self) -> Vec<Step> {
        let mut code = std::mem::take(&mut self.code);
        let flags = [self.zero, self.negative];
        let mut asked = [false; 2];
        let mut kept = vec![true; code.len()];
        for (step, kept) in code.iter().zip(&mut kept).rev() {
            let (mut writes, mut reads) = ([false; 2], [false; 2]);
            step.op.registers(|role, reg| {
                for (place, _) in flags.iter().enumerate().filter(|(_, flag)| **flag == Some(reg)) {
                    match role {
                        Role::Use => reads[place] = true,
                        Role::Def => writes[place] = true,
                    }
                }
            });
            for place in 0..2 {
                if writes[place] && !asked[place] {
                    *kept = false;
                } else if writes[place] && step.guard.is_none() {
                    asked[place] = false;
                }
                asked[place] |= reads[place];
            }
        }
        let mut kept = kept.into_iter();
        code.retain(|_| kept.next().unwrap_or(true));
        code
    }
    /// A question to the condition codes, by its name without the dot.
    pub(super) fn asked(&mut self, test: &str) -> Option<Arg> {
        let flag: Arg = match (test, self.flags) {
            // Of an integer zero is not negative, so that nothing is unordered.
            ("EQ" | "NE" | "NEU", Flags::Result | Flags::Sum) => self.zero().into(),
            // Nothing but an addition overflows.
            ("LT" | "GE", Flags::Result) | ("SFT" | "SFF", Flags::Result | Flags::Sum) => self.negative().into(),
            _ => return None,
        };
        Some(if matches!(test, "NE" | "NEU" | "GE" | "SFF") {
            self.int(IntOp::Not, Width::Pred, &[flag]).into()
        } else {
            flag
        })
    }

    /// The program's registers of the machine's, by the numbers that hazards have.
    pub(super) fn named(&self) -> impl Iterator<Item = (Reg, u16)> + '_ {
        let registers = self.registers.iter().map(|(number, reg)| (*reg, u16::from(*number)));
        let predicates = self.predicates.iter().map(|(number, reg)| (*reg, 256 + u16::from(*number)));
        let codes = [self.carry, self.second_carry, self.zero, self.negative]
            .into_iter()
            .flatten()
            .map(|reg| (reg, super::hazards::CODES));
        registers.chain(predicates).chain(codes)
    }

    /// A new register for what is computed on the way.
    pub(super) fn fresh(&mut self, width: Width) -> Reg {
        self.kernel.register(width)
    }
    /// In every lane.
    pub(super) fn emit(&mut self, op: Op) {
        self.code.push(Step::new(op, self.loc));
    }
    /// In the lanes where the instruction runs.
    pub(super) fn finish(&mut self, op: Op) {
        self.finish_ordered(op, MemoryOrder::WEAK);
    }
    /// The same of an access to memory, or a fence.
    pub(super) fn finish_ordered(&mut self, op: Op, order: MemoryOrder) {
        op.registers(|role, reg| {
            if role == Role::Use {
                return;
            }
            if let Some(number) = self.numbers.get(&reg) {
                self.known.remove(number);
                if self.guard.is_none() {
                    self.saved.remove(number);
                } else if let Some(saved) = self.saved.get_mut(number) {
                    *saved = None;
                }
            }
            self.choice = self.choice.filter(|guard| guard.is_none_or(|guard| guard.pred != reg));
        });
        self.code.push(Step { op, guard: self.guard, loc: self.loc, order });
    }

    /// Where a register's value is written; what goes to `RZ` goes nowhere.
    pub(super) fn register(&mut self, number: u8) -> Reg {
        if number == RZ {
            return self.fresh(B32);
        }
        let (kernel, numbers) = (&mut self.kernel, &mut self.numbers);
        *self.registers.entry(number).or_insert_with(|| {
            let reg = kernel.register(B32);
            numbers.insert(reg, number);
            reg
        })
    }
    /// Which of the machine's predicates a register is.
    pub(super) fn predicate_number(&self, reg: Reg) -> Option<u8> {
        self.predicates.iter().find_map(|(number, known)| (*known == reg).then_some(*number))
    }
    pub(super) fn predicate(&mut self, number: u8) -> Reg {
        if number == PT {
            return self.fresh(Width::Pred);
        }
        let kernel = &mut self.kernel;
        *self.predicates.entry(number).or_insert_with(|| kernel.register(Width::Pred))
    }
    pub(super) fn carry(&mut self) -> Reg {
        let kernel = &mut self.kernel;
        *self.carry.get_or_insert_with(|| kernel.register(Width::Pred))
    }
    pub(super) fn second_carry(&mut self) -> Reg {
        let kernel = &mut self.kernel;
        *self.second_carry.get_or_insert_with(|| kernel.register(Width::Pred))
    }
    pub(super) fn zero(&mut self) -> Reg {
        let kernel = &mut self.kernel;
        *self.zero.get_or_insert_with(|| kernel.register(Width::Pred))
    }
    pub(super) fn negative(&mut self) -> Reg {
        let kernel = &mut self.kernel;
        *self.negative.get_or_insert_with(|| kernel.register(Width::Pred))
    }
    /// A register's value.
    pub(super) fn read(&mut self, number: u8) -> Arg {
        self.reads_saved |= self.saved.contains_key(&number);
        if number == RZ { Arg::ZERO } else { self.register(number).into() }
    }
    /// The register that an operand writes.
    pub(super) fn target(&mut self, operand: &Operand) -> Option<Reg> {
        match operand.value {
            Value::Register(number) => Some(self.register(number)),
            _ => None,
        }
    }

    /// An integer operation on the way.
    pub(super) fn int(&mut self, op: IntOp, width: Width, args: &[Arg]) -> Reg {
        let d = self.fresh(op.result_width(width));
        self.emit(crate::lower::integer(op, d, width, args));
        d
    }
    /// The same of 32 bits.
    pub(super) fn int32(&mut self, op: IntOp, args: &[Arg]) -> Arg {
        self.int(op, B32, args).into()
    }
    pub(super) fn compare(&mut self, comparison: Comparison, of: Comparand, a: Arg, b: Arg) -> Reg {
        let d = self.fresh(Width::Pred);
        self.emit(Op::Compare { d, comparison, of, a, b });
        d
    }
    /// The same of a comparison by its text, which may be a constant.
    pub(super) fn holds(&mut self, comparison: Result<Comparison, Arg>, of: Comparand, [a, b]: [Arg; 2]) -> Arg {
        comparison.map_or_else(|constant| constant, |comparison| self.compare(comparison, of, a, b).into())
    }
    pub(super) fn select(&mut self, p: impl Into<Arg>, a: Arg, b: Arg) -> Arg {
        let d = self.fresh(B32);
        self.emit(Op::Select { d, p: p.into(), a, b });
        d.into()
    }
    pub(super) fn pack(&mut self, low: Arg, high: Arg) -> Reg {
        let d = self.fresh(Width::B64);
        self.emit(Op::Pack { d, low, high });
        d
    }

    /// A predicate as an operand: `PT`, `!P0`.
    pub(super) fn condition(&mut self, operand: &Operand) -> Option<Arg> {
        let Value::Predicate(number) = operand.value else { return None };
        if number == PT {
            return Some(Arg::Imm(u64::from(!operand.invert)));
        }
        let p = self.predicate(number).into();
        Some(if operand.invert { self.int(IntOp::Not, Width::Pred, &[p]).into() } else { p })
    }

    /// An operand's 32 bits, its signs left aside.
    pub(super) fn bits(&mut self, operand: &Operand) -> Option<Arg> {
        match operand.value {
            Value::Register(number) => Some(self.read(number)),
            Value::Immediate(bits) => Some(Arg::Imm(u64::from(bits))),
            Value::Constant { bank, offset } => self.constant(bank, offset),
            _ => None,
        }
    }
    /// An operand as a whole number, its signs applied.
    pub(super) fn whole(&mut self, operand: &Operand) -> Option<Arg> {
        let value = self.bits(operand)?;
        let value = self.signed_int(operand, value);
        Some(if operand.invert { self.int32(IntOp::Not, &[value]) } else { value })
    }
    /// A whole number of 32 bits with an operand's signs applied.
    pub(super) fn signed_int(&mut self, operand: &Operand, value: Arg) -> Arg {
        self.signed_whole(operand, B32, value)
    }
    /// The same of a width.
    pub(super) fn signed_whole(&mut self, operand: &Operand, width: Width, mut value: Arg) -> Arg {
        for (is_asked, op) in [(operand.absolute, IntOp::Abs), (operand.negate, IntOp::Neg)] {
            if is_asked {
                value = self.int(op, width, &[value]).into();
            }
        }
        value
    }
    /// A sign cleared or flipped, as a bit.
    pub(super) fn signed(&mut self, operand: &Operand, format: Format, mut a: Arg) -> Arg {
        for (is_asked, negate) in [(operand.absolute, false), (operand.negate, true)] {
            if is_asked {
                let d = self.fresh(Width::holding(format.width()));
                self.emit(Op::Sign { d, negate, format, flush: false, arithmetic: false, a });
                a = d.into();
            }
        }
        a
    }
    /// An operand as an f32, its signs applied.
    pub(super) fn single(&mut self, operand: &Operand) -> Option<Arg> {
        let value = self.bits(operand)?;
        Some(self.signed(operand, Format::F32, value))
    }
    /// An operand's 64 bits, a register with the one behind it, its signs left aside.
    pub(super) fn pair(&mut self, operand: &Operand) -> Option<Arg> {
        let (low, high) = match operand.value {
            Value::Register(RZ) => return Some(Arg::ZERO),
            Value::Register(number) => (self.read(number), self.read(neighbour(number, 1)?)),
            Value::Wide(bits) => return Some(Arg::Imm(bits)),
            Value::Constant { bank, offset } => {
                (self.constant(bank, offset)?, self.constant(bank, offset.checked_add(4)?)?)
            }
            _ => return None,
        };
        Some(self.pack(low, high).into())
    }
    /// An operand as an f64, its signs applied.
    pub(super) fn double(&mut self, operand: &Operand) -> Option<Arg> {
        let value = self.pair(operand)?;
        Some(self.signed(operand, Format::F64, value))
    }
    /// 64 bits to a register and the one behind it.
    pub(super) fn write_pair(&mut self, operand: &Operand, value: Reg) -> Option<()> {
        let Value::Register(first) = operand.value else { return None };
        if first == RZ {
            return Some(());
        }
        for place in 0..2 {
            let d = self.register(neighbour(first, place)?);
            self.finish(Op::Extract { d, a: value.into(), width: Width::B64, shift: 32 * u32::from(place) });
        }
        Some(())
    }
    /// Two predicates; that of the guard last.
    pub(super) fn write_predicates(&mut self, operands: [&Operand; 2], values: [Arg; 2]) -> Option<()> {
        let mut writes = Vec::new();
        for (operand, a) in operands.into_iter().zip(values) {
            let Value::Predicate(number) = operand.value else { return None };
            if number != PT {
                writes.push((self.predicate(number), a));
            }
        }
        let guard = self.guard.map(|guard| guard.pred);
        writes.sort_by_key(|(d, _)| Some(*d) == guard);
        for (d, a) in writes {
            self.finish(Op::Move { d, a });
        }
        Some(())
    }

    /// What a cubin holds of bank 2 or 3.
    fn bank(&self, bank: u8) -> Option<&'a [u8]> {
        self.info.banks.get(usize::from(bank).checked_sub(2)?).copied()
    }
    /// The address of bank 2 or 3.
    pub(super) fn bank_address(&mut self, bank: u8) -> Option<Reg> {
        let bytes = self.bank(bank).filter(|bytes| !bytes.is_empty())?;
        Some(self.memory(&format!("c[{bank:#x}]"), bytes, bytes.len() as u64, true))
    }
    fn memory(&mut self, name: &str, initial: &[u8], size: u64, constant: bool) -> Reg {
        if let Some(reg) = self.memories.get(name) {
            return *reg;
        }
        self.variables.push(Variable {
            name: name.to_owned(),
            initial: initial.to_vec(),
            size,
            align: 256,
            constant,
            relocations: Vec::new(),
        });
        let d = self.kernel.register(Width::B64);
        let special = Special::Address(self.variables.len() as u32 - 1);
        self.before.push(Step::new(Op::Special { d, special }, 0));
        self.memories.insert(name.to_owned(), d);
        d
    }
    /// Two neighbouring words of a constant bank as one number.
    pub(super) fn constant_pair(&mut self, bank: u8, offset: u16) -> Option<Arg> {
        if let Some(reg) = self.pairs.get(&(bank, offset)) {
            return Some((*reg).into());
        }
        let (low, high) = (self.constant(bank, offset)?, self.constant(bank, offset.checked_add(4)?)?);
        let d = self.kernel.register(Width::B64);
        let place = u32::from(offset).checked_sub(self.info.param_base).filter(|_| bank == 0);
        let op = match place {
            // Engines see which parameter an address is of.
            Some(place) => Op::Load {
                d: vec![Some(d)],
                space: Space::Param,
                bytes: 8,
                signed: false,
                address: Arg::ZERO,
                offset: i64::from(place),
            },
            None => Op::Pack { d, low, high },
        };
        self.before.push(Step::new(op, 0));
        self.pairs.insert((bank, offset), d);
        Some(d.into())
    }
    /// Half of a variable's address, from bank 4.
    fn variable_address(&mut self, offset: u16) -> Option<Reg> {
        let info = self.info;
        let place = u64::from(offset & !7);
        let address = info.addresses.iter().find(|address| address.place == place)?;
        let (name, initial, size) = info.globals.iter().find(|(name, ..)| *name == address.section)?;
        let base = self.memory(name, initial, *size, false);
        let (whole, d) = (self.kernel.register(Width::B64), self.kernel.register(B32));
        let sum = [base.into(), Arg::Imm(address.offset)];
        self.before.push(Step::new(crate::lower::integer(IntOp::Add, whole, Width::B64, &sum), 0));
        let shift = 8 * u32::from(offset & 4);
        self.before.push(Step::new(Op::Extract { d, a: whole.into(), width: Width::B64, shift }, 0));
        Some(d)
    }

    /// A word of a constant bank: of bank 0 what the launch lays there, of banks 2 and 3 what the cubin holds, of bank 4
    /// a variable's address.
    fn constant(&mut self, bank: u8, offset: u16) -> Option<Arg> {
        if let Some(reg) = self.constants.get(&(bank, offset)) {
            return Some((*reg).into());
        }
        if bank == 4 {
            let reg = self.variable_address(offset)?;
            self.constants.insert((bank, offset), reg);
            return Some(reg.into());
        }
        if bank != 0 {
            let word = self.bank(bank)?.get(usize::from(offset)..)?.first_chunk::<4>()?;
            return Some(Arg::Imm(u64::from(u32::from_le_bytes(*word))));
        }
        let d = self.kernel.register(B32);
        let mut step = |op| self.before.push(Step::new(op, 0));
        let special = |special| Op::Special { d, special };
        match offset {
            0x8 | 0xc | 0x10 => step(special(Special::Ntid((offset as u8 - 0x8) / 4))),
            0x14 | 0x18 | 0x1c => step(special(Special::Nctaid((offset as u8 - 0x14) / 4))),
            0x20 => step(Op::Move { d, a: Arg::Imm(u64::from(self.info.local_bytes)) }),
            // Where shared and local memory begin among generic addresses.
            0x0 | 0x100 | 0x4 | 0x104 => {
                let window = if offset & 4 == 0 { Special::SharedWindow } else { Special::LocalWindow };
                let whole = self.kernel.register(Width::B64);
                step(Op::Special { d: whole, special: window });
                step(Op::Extract { d, a: whole.into(), width: Width::B64, shift: if offset < 0x100 { 0 } else { 32 } });
            }
            _ => {
                let place = u32::from(offset).checked_sub(self.info.param_base)?;
                let bytes = self.info.param_bytes.checked_sub(place).filter(|bytes| *bytes > 0)?;
                if bytes < 4 {
                    return None;
                }
                step(Op::Load {
                    d: vec![Some(d)],
                    space: Space::Param,
                    bytes: 4,
                    signed: false,
                    address: Arg::ZERO,
                    offset: i64::from(place),
                });
            }
        }
        self.constants.insert((bank, offset), d);
        Some(d.into())
    }
}
