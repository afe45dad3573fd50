//! Moves, selections, predicates, special registers, votes, barriers; and which file lowers what.

use roundonce_ir::{
    BarrierKind, Comparand, Comparison, IntOp, MemoryOrder, Op, Operand as Arg, Reg, Scope, Semantics, ShuffleMode,
    Special, VoteMode, Width,
};

use super::body::{B32, Body, Flags};
use crate::instruction::{Instruction, Operand, PT, RZ, Value};

/// The carry among the condition codes, which are Z, S, C and V from bit 0 on.
const CARRY: u64 = 4;
/// Whether an operation takes nothing of a register but the carry that it may hold.
pub(super) fn asks_for_carry(op: &Op) -> bool {
    matches!(op, Op::Int { op: IntOp::And, args: [_, Arg::Imm(CARRY), ..], .. })
}

/// The mask of all four condition codes.
const ALL_CODES: Value = Value::Immediate(0xf);

/// `.AND`, `.OR`, `.XOR`.
pub(super) fn logic(text: Option<&str>) -> Option<IntOp> {
    match text? {
        ".AND" => Some(IntOp::And),
        ".OR" => Some(IntOp::Or),
        ".XOR" => Some(IntOp::Xor),
        _ => None,
    }
}

impl Body<'_> {
    /// One instruction that leads nowhere else. Nothing where it is not run.
    pub(super) fn instruction(&mut self, inst: &Instruction) -> Option<()> {
        if inst.illegal_modifier().is_some() {
            return None;
        }
        let name = inst.mnemonic();
        match name {
            "NOP" | "DEPBAR" | "CCTL" | "CCTLL" | "TEXDEPBAR" => Some(()),
            "MEMBAR" => {
                let scope = match inst.modifier("level") {
                    Some(".CTA") => Scope::Block,
                    Some(".GL") => Scope::Device,
                    _ => Scope::System,
                };
                self.finish_ordered(Op::Fence, MemoryOrder::new(Semantics::SequentiallyConsistent, scope));
                Some(())
            }
            "BPT" => self.trap(inst),
            "MOV" | "MOV32I" => self.copy(inst),
            "SEL" => self.choice(inst),
            "S2R" | "CS2R" => self.special(inst),
            "P2R" => self.predicates_to_register(inst),
            "R2P" => self.register_to_predicates(inst),
            "PSETP" | "PSET" => self.combine_predicates(inst),
            "CSETP" | "CSET" => self.codes_to_predicates(inst),
            "VOTE" => self.vote(inst),
            "SHFL" => self.shuffle(inst),
            "BAR" => self.barrier(inst),
            "B2R" => self.barrier_result(inst),
            "FFMA" | "FFMA32I" | "FADD" | "FADD32I" | "FMUL" | "FMUL32I" => self.arithmetic(inst),
            "DADD" | "DMUL" | "DFMA" => self.double_arithmetic(inst),
            "HADD2" | "HADD2_32I" | "HMUL2" | "HMUL2_32I" | "HFMA2" | "HFMA2_32I" => self.half_arithmetic(inst),
            "HSET2" | "HSETP2" => self.half_comparison(inst),
            "FMNMX" | "DMNMX" => self.float_min_max(inst),
            "FSET" | "FSETP" | "DSET" | "DSETP" | "FCMP" => self.float_set(inst),
            "MUFU" => self.function(inst),
            "RRO" => self.reduce_range(inst),
            "FCHK" => self.check_division(inst),
            "F2F" => self.float_to_float(inst),
            "F2I" => self.float_to_int(inst),
            "I2F" => self.int_to_float(inst),
            "I2I" => self.int_to_int(inst),
            "IDP" => self.dot_product(inst),
            "XMAD" => self.multiply_halves(inst),
            "LD" | "LDG" | "LDL" | "LDS" | "LDC" => self.load(inst),
            "ST" | "STG" | "STL" | "STS" => self.store(inst),
            "ATOM" | "ATOMS" | "RED" => self.atomic(inst),
            "VADD" | "VABSDIFF" | "VMNMX" | "VSET" | "VSHL" | "VSHR" => self.video(inst),
            "VMAD" => self.video_multiply_add(inst),
            "VABSDIFF4" => self.byte_distances(inst),
            _ => self.integer(inst),
        }
    }

    /// What `trap` becomes.
    fn trap(&mut self, inst: &Instruction) -> Option<()> {
        inst.modifier("mode").filter(|mode| *mode == ".TRAP")?;
        self.finish(Op::trap());
        Some(())
    }

    fn copy(&mut self, inst: &Instruction) -> Option<()> {
        let operands = inst.operands();
        // The bytes that are written.
        if operands.last()?.value != Value::Immediate(0xf) {
            return None;
        }
        let a = self.bits(&operands[1])?;
        let d = self.target(&operands[0])?;
        self.finish(Op::Move { d, a });
        Some(())
    }

    fn choice(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&[])?;
        let operands = inst.operands();
        let (a, b, p) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.condition(&operands[3])?);
        let d = self.target(&operands[0])?;
        self.finish(Op::Select { d, p, a, b });
        Some(())
    }

    fn special(&mut self, inst: &Instruction) -> Option<()> {
        let operands = inst.operands();
        let Value::Name(name, _) = operands[1].value else { return None };
        let special = match name {
            // Where the stack ends, which grows down. ptxas -O0 compares R1 with it, and traps where that is lower.
            "SR_LMEMHIOFF" => None,
            _ => Some(special_register(name)?),
        };
        let d = self.target(&operands[0])?;
        self.finish(special.map_or(Op::Move { d, a: Arg::ZERO }, |special| Op::Special { d, special }));
        Some(())
    }

    /// The place of the lowest bit of the byte that is named, as `.B1`.
    fn byte(inst: &Instruction) -> u32 {
        match inst.modifier("byte") {
            Some(".B1") => 8,
            Some(".B2") => 16,
            Some(".B3") => 24,
            _ => 0,
        }
    }
    /// The mask of the predicates, where it is one and they are not the condition codes.
    fn predicate_mask(which: &Operand, mask: &Operand) -> Option<u32> {
        match (which.value, mask.value) {
            (Value::Name("PR", _), Value::Immediate(mask)) if mask < 0x80 => Some(mask),
            _ => None,
        }
    }

    fn register_to_predicates(&mut self, inst: &Instruction) -> Option<()> {
        let operands = inst.operands();
        if let (Value::Name("CC", _), Value::Register(number)) = (operands[0].value, operands[1].value) {
            return self.register_to_codes(inst, number);
        }
        let mask = Self::predicate_mask(&operands[0], &operands[2])?;
        let (from, a) = (Self::byte(inst), self.bits(&operands[1])?);
        let mut writes = Vec::new();
        for number in (0..7).filter(|number| mask >> number & 1 != 0) {
            let bit = self.int32(IntOp::And, &[a, Arg::Imm(1 << (from + number))]);
            let is_clear = self.compare_bits(Comparison::Ne, bit, Arg::ZERO);
            writes.push((self.predicate(number as u8), is_clear));
        }
        let guard = self.guard.map(|guard| guard.pred);
        writes.sort_by_key(|(d, _)| Some(*d) == guard);
        for (d, a) in writes {
            self.finish(Op::Move { d, a: a.into() });
        }
        Some(())
    }

    fn predicates_to_register(&mut self, inst: &Instruction) -> Option<()> {
        let operands = inst.operands();
        if matches!(operands[1].value, Value::Name("CC", _)) {
            return self.codes_to_register(inst);
        }
        let mask = Self::predicate_mask(&operands[1], &operands[3])?;
        let at = Self::byte(inst);
        let a = self.bits(&operands[2])?;
        let mut all = self.int32(IntOp::And, &[a, Arg::Imm(u64::from(!(mask << at)))]);
        for number in (0..7).filter(|number| mask >> number & 1 != 0) {
            let p = self.predicate(number as u8);
            let bit = self.select(p, Arg::Imm(1 << (at + number)), Arg::ZERO);
            all = self.int32(IntOp::Or, &[all, bit]);
        }
        let d = self.target(&operands[0])?;
        self.finish(Op::Move { d, a: all });
        Some(())
    }

    /// Condition codes by their bits in a register: Z and S where they are known beside the carry. V is not known.
    fn kept_codes(&mut self, flags: Flags) -> Vec<(u64, Reg)> {
        let mut codes = vec![(CARRY, self.carry())];
        if flags == Flags::Sum {
            codes.extend([(1, self.zero()), (2, self.negative())]);
        }
        codes
    }

    /// All condition codes to a register, which nothing but their way back may read.
    fn codes_to_register(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&[])?;
        let operands = inst.operands();
        let Value::Register(number) = operands[0].value else { return None };
        let rest = [operands[2].value, operands[3].value];
        if number == RZ || rest != [Value::Register(RZ), ALL_CODES] || self.guard.is_some() || !self.has_carry() {
            return None;
        }
        let mut all = Arg::ZERO;
        for (bit, flag) in self.kept_codes(self.flags) {
            let flag = self.select(flag, Arg::Imm(bit), Arg::ZERO);
            all = self.int32(IntOp::Or, &[all, flag]);
        }
        let d = self.register(number);
        self.finish(Op::Move { d, a: all });
        self.saved.insert(number, Some(self.flags));
        Some(())
    }

    /// And back; from another block the carry alone.
    fn register_to_codes(&mut self, inst: &Instruction, number: u8) -> Option<()> {
        inst.only(&[])?;
        let operands = inst.operands();
        let flags = self.saved.get(&number).copied().flatten().unwrap_or(Flags::Unknown);
        if operands[2].value != ALL_CODES || !operands[1].suffix.is_empty() || self.guard.is_some() {
            return None;
        }
        let a = self.register(number).into();
        for (bit, d) in self.kept_codes(flags) {
            let bit = self.int32(IntOp::And, &[a, Arg::Imm(bit)]);
            self.finish(Op::Compare {
                d,
                comparison: Comparison::Ne,
                of: Comparand::Unsigned(B32),
                a: bit,
                b: Arg::ZERO,
            });
        }
        (self.flags, self.low_sum) = (flags, None);
        Some(())
    }

    /// −1 or 0; with `.BF` the float 1 or 0.
    pub(super) fn write_truth(&mut self, inst: &Instruction, operand: &Operand, p: Arg) -> Option<()> {
        let truth = if inst.modifier("bf").is_some() { 0x3f80_0000 } else { 0xffff_ffff };
        let d = self.target(operand)?;
        self.finish(Op::Select { d, p, a: Arg::Imm(truth), b: Arg::ZERO });
        if inst.modifier("CC").is_some() {
            self.write_flags(d, Flags::Result);
        }
        Some(())
    }

    /// What a comparison and its opposite become with another predicate: two predicates, or −1 and 0.
    pub(super) fn write_comparison(&mut self, inst: &Instruction, result: Arg, with: &Operand) -> Option<()> {
        let op = logic(inst.modifier("bool"))?;
        let with = self.condition(with)?;
        let operands = inst.operands();
        let first = self.combine(op, result, with);
        if !matches!(operands[0].value, Value::Predicate(_)) {
            return self.write_truth(inst, &operands[0], first);
        }
        let mut second = Arg::ZERO;
        if operands[1].value != Value::Predicate(PT) {
            let opposite = self.int(IntOp::Not, Width::Pred, &[result]).into();
            second = self.combine(op, opposite, with);
        }
        self.write_predicates([&operands[0], &operands[1]], [first, second])
    }

    pub(super) fn combine(&mut self, op: IntOp, a: Arg, b: Arg) -> Arg {
        if op == IntOp::And && b == Arg::Imm(1) {
            return a;
        }
        self.int(op, Width::Pred, &[a, b]).into()
    }

    fn combine_predicates(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["bool", "bool2", "bf", "CC"])?;
        let operands = inst.operands();
        let [.., a, b, c] = &*operands else { return None };
        let (p, q, with) = (self.condition(a)?, self.condition(b)?, self.condition(c)?);
        let result = self.combine(logic(inst.modifier("bool"))?, p, q);
        let second = logic(inst.modifier("bool2"))?;
        let first = self.combine(second, result, with);
        if inst.mnemonic() == "PSET" {
            return self.write_truth(inst, &operands[0], first);
        }
        let opposite = self.int(IntOp::Not, Width::Pred, &[result]).into();
        let other = self.combine(second, opposite, with);
        self.write_predicates([&operands[0], &operands[1]], [first, other])
    }

    fn codes_to_predicates(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["cmp", "bool", "bf"])?;
        let result = self.asked(inst.modifier("cmp")?.strip_prefix('.')?)?;
        self.write_comparison(inst, result, inst.operands().last()?)
    }

    fn vote(&mut self, inst: &Instruction) -> Option<()> {
        let operands = inst.operands();
        let mode = match inst.modifier("vote")? {
            ".ALL" => VoteMode::All,
            ".ANY" => VoteMode::Any,
            ".EQ" => VoteMode::Uniform,
            _ => return None,
        };
        let a = self.condition(&operands[2])?;
        let written = [operands[0].value != Value::Register(RZ), operands[1].value != Value::Predicate(PT)];
        if written[1] {
            let Value::Predicate(number) = operands[1].value else { return None };
            // The guard of the ballot, and what it asks, is read before.
            if written[0] || self.guard.is_some_and(|guard| Some(guard.pred) == self.predicate_of(number)) {
                return None;
            }
            let d = self.predicate(number);
            self.finish(Op::Vote { d, mode, a, mask: None });
        } else if written[0] {
            let d = self.target(&operands[0])?;
            self.finish(Op::Vote { d, mode: VoteMode::Ballot, a, mask: None });
        }
        Some(())
    }
    fn predicate_of(&mut self, number: u8) -> Option<Reg> {
        (number != PT).then(|| self.predicate(number))
    }

    fn shuffle(&mut self, inst: &Instruction) -> Option<()> {
        let operands = inst.operands();
        let mode = match inst.modifier("mode")? {
            ".IDX" => ShuffleMode::Index,
            ".UP" => ShuffleMode::Up,
            ".DOWN" => ShuffleMode::Down,
            ".BFLY" => ShuffleMode::Butterfly,
            _ => return None,
        };
        let Value::Predicate(number) = operands[0].value else { return None };
        let p = self.predicate_of(number);
        let (a, b, c) = (self.bits(&operands[2])?, self.bits(&operands[3])?, self.bits(&operands[4])?);
        let d = self.target(&operands[1])?;
        self.finish(Op::Shuffle { d, p, mode, a, b, c, mask: None });
        Some(())
    }

    fn barrier(&mut self, inst: &Instruction) -> Option<()> {
        let operands = inst.operands();
        let kind = match (inst.modifier("fixed"), inst.modifier("op")) {
            (Some(".SYNC"), _) => BarrierKind::Wait,
            (Some(".ARV"), _) => BarrierKind::Arrive,
            (_, Some(op)) => {
                let p = self.condition(operands.get(2)?)?;
                let d = self.fresh(if op == ".RED.POPC" { B32 } else { Width::Pred });
                self.barrier = Some(d);
                match op {
                    ".RED.POPC" => BarrierKind::Count { d, p },
                    ".RED.AND" => BarrierKind::Reduce { d, p, all: true },
                    ".RED.OR" => BarrierKind::Reduce { d, p, all: false },
                    _ => return None,
                }
            }
            _ => return None,
        };
        let id = self.bits(&operands[0])?;
        let count = match operands[1].value {
            Value::Immediate(0) | Value::Register(RZ) => None,
            _ => Some(self.bits(&operands[1])?),
        };
        self.finish(Op::Barrier { kind, id, count });
        Some(())
    }

    /// The result of the barrier before, in the same block: a count to a register, a truth to a predicate.
    fn barrier_result(&mut self, inst: &Instruction) -> Option<()> {
        let operands = inst.operands();
        let result = self.barrier.filter(|_| inst.modifier("fixed") == Some(".RESULT"))?;
        let d = match (operands[0].value, operands[1].value) {
            (Value::Register(number), Value::Predicate(PT)) if number != RZ => self.register(number),
            (Value::Register(RZ), Value::Predicate(number @ 0..PT)) => self.predicate(number),
            _ => return None,
        };
        if self.kernel.width(d) != self.kernel.width(result) {
            return None;
        }
        self.finish(Op::Move { d, a: result.into() });
        Some(())
    }

    pub(super) fn compare_bits(&mut self, comparison: Comparison, a: Arg, b: Arg) -> Reg {
        self.compare(comparison, Comparand::Unsigned(B32), a, b)
    }
}

fn special_register(name: &str) -> Option<Special> {
    Some(match name {
        "SR_LANEID" => Special::Lane,
        "SR_TID.X" => Special::Tid(0),
        "SR_TID.Y" => Special::Tid(1),
        "SR_TID.Z" => Special::Tid(2),
        "SR_CTAID.X" => Special::Ctaid(0),
        "SR_CTAID.Y" => Special::Ctaid(1),
        "SR_CTAID.Z" => Special::Ctaid(2),
        "SR_EQMASK" => Special::MaskEq,
        "SR_LTMASK" => Special::MaskLt,
        "SR_LEMASK" => Special::MaskLe,
        "SR_GTMASK" => Special::MaskGt,
        "SR_GEMASK" => Special::MaskGe,
        "SR_CLOCKLO" => Special::Clock,
        _ => return None,
    })
}
