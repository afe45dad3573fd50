//! The frame of the code: tiles one after another, nodes and the ways between them, exits.

use super::super::asm::{Asm, Label, at};
use super::super::frame::{Frame, Handed, How, Site, head, line};
use super::{A, Done, Emit, FRAME, LEFT, Part, Place, Stop, TILE, Trouble, low};
use crate::native::Given;
use crate::native::alloc::{Home, has, live_at};
use crate::native::notes::Noted;
use crate::native::region::{Cost, Next, Point, Region, Target};
use crate::native::shape::{Shape, Shapes, VECTOR};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{Op, Operand, Reg, Role, Width};
use std::collections::BTreeMap;

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const RDX: Register = Register::RDX;

/// A region's code.
pub(in crate::native) struct Emitted {
    pub(in crate::native) code: Vec<u8>,
    pub(in crate::native) frame: Frame,
    /// What each exit hands over.
    pub(in crate::native) outputs: Vec<Vec<Handed>>,
    /// For each exit the first word of a tile's line that says which lanes took it, where lanes may part.
    pub(in crate::native) parted: Vec<usize>,
}

/// Registers that a region writes.
fn written(given: &Given<'_>, region: &Region) -> Vec<bool> {
    let mut written = vec![false; given.code.kernel.registers.len()];
    for node in 0..region.nodes.len() {
        for step in region.steps(given.code, node) {
            step.op.registers(|role, reg| written[reg.0 as usize] |= role == Role::Def);
        }
    }
    written
}

/// The code of a region, or the instruction that stands in the way (none: a mistake of ours in an encoding).
pub(in crate::native) fn region(
    given: &Given<'_>,
    region: &Region,
    shapes: &Shapes,
    noted: &Noted,
    homes: &[Home],
    frame: Frame,
    inputs: &[Handed],
) -> Result<Emitted, (Stop, Option<Point>)> {
    let first = region.nodes[region.entry].start;
    let mut emit = Emit {
        given,
        region,
        shapes,
        noted,
        homes,
        frame,
        asm: Asm::default(),
        notes: noted.before[region.entry].clone(),
        guard: None,
        point: first,
        accesses: BTreeMap::new(),
        ways: None,
        troubles: Vec::new(),
    };
    let outputs = emit.plan_outputs();
    if shapes.parting {
        emit.plan_ways();
    }
    let start = Some(first);
    emit.prologue();
    let tile = emit.asm.label();
    emit.asm.bind(tile);
    emit.asm.rm(Code::Mov_r64_rm64, LEFT, at(FRAME, head::BUDGET));
    emit.asm.mi(Code::Mov_rm64_imm32, at(FRAME, head::STEPS), 0);
    emit.asm.mi(Code::Mov_rm64_imm32, at(FRAME, head::GUARDED), 0);
    for input in inputs {
        emit.input(input).map_err(|stop| (stop, start))?;
    }
    let nodes: Vec<Label> = region.nodes.iter().map(|_| emit.asm.label()).collect();
    let exits: Vec<Label> = region.exits.iter().map(|_| emit.asm.label()).collect();
    let label = |target: Target| match target {
        Target::Node(node) => nodes[node],
        Target::Exit(exit) => exits[exit],
    };
    emit.asm.jump(Code::Jmp_rel32_64, nodes[region.entry]);
    for (index, node) in region.nodes.iter().enumerate() {
        emit.asm.bind(nodes[index]);
        emit.count(node.cost.completed);
        emit.issue(node.cost);
        emit.node(index).map_err(|stop| (stop, Some(emit.point)))?;
        let follows = |target: Target| target == Target::Node(index + 1);
        match node.next {
            Next::Leave(exit) => emit.asm.jump(Code::Jmp_rel32_64, exits[exit]),
            Next::Jump(target) if follows(target) => {}
            Next::Jump(target) => emit.asm.jump(Code::Jmp_rel32_64, label(target)),
            Next::Stores(node) => emit.asm.jump(Code::Jmp_rel32_64, nodes[node]),
            Next::Branch { pred, then, otherwise, inside } => {
                let (yes, no) = if inside {
                    // The instruction counts where it is taken.
                    let counted = emit.asm.label();
                    match (then, otherwise) {
                        (Target::Exit(_), _) => (counted, label(otherwise)),
                        _ => (label(then), counted),
                    }
                } else {
                    (label(then), label(otherwise))
                };
                let place = Point { at: node.end - usize::from(inside), ..node.start };
                emit.branch(index, pred, yes, no).map_err(|stop| (stop, Some(place)))?;
                if inside {
                    let counted = if matches!(then, Target::Exit(_)) { yes } else { no };
                    emit.asm.bind(counted);
                    let completes = region.steps(given.code, index).last().is_some_and(|step| step.completes);
                    emit.count(u32::from(completes));
                    let taken = if matches!(then, Target::Exit(_)) { then } else { otherwise };
                    emit.asm.jump(Code::Jmp_rel32_64, label(taken));
                }
            }
        }
    }
    let done = emit.asm.label();
    if let Some(ways) = emit.ways.clone() {
        emit.parted(&ways, &nodes, &exits, &outputs, done).map_err(|stop| (stop, Some(emit.point)))?;
    }
    for (exit, handed) in outputs.iter().enumerate() {
        emit.asm.bind(exits[exit]);
        emit.leave(exit, handed).map_err(|stop| (stop, start))?;
        emit.asm.mi(Code::Mov_rm64_imm32, at(TILE, 8 * line::EXIT as i64), exit as i32);
        emit.asm.jump(Code::Jmp_rel32_64, done);
    }
    emit.epilogue(tile, done);
    let code = emit.asm.finish().map_err(|_| (Stop::Cut, None))?;
    let parted = emit.ways.map_or_else(Vec::new, |ways| ways.told);
    Ok(Emitted { code, frame: emit.frame, outputs, parted })
}

impl Emit<'_> {
    fn prologue(&mut self) {
        for register in SAVED {
            self.asm.push(Instruction::with1(Code::Push_r64, register));
        }
        self.asm.rr(Code::Mov_r64_rm64, FRAME, Register::RDI);
        self.asm.rr(Code::Mov_r64_rm64, TILE, Register::RSI);
        self.asm.push(Instruction::with1(Code::Stmxcsr_m32, at(FRAME, head::SAVED)));
        self.asm.push(Instruction::with1(Code::Ldmxcsr_m32, at(FRAME, head::ENVIRONMENT)));
    }

    /// After an exit: the tile's counts, the next tile; and the ways out.
    fn epilogue(&mut self, tile: Label, done: Label) {
        self.asm.bind(done);
        self.asm.mr(Code::Mov_rm64_r64, at(TILE, 8 * line::LEFT as i64), LEFT);
        for (from, word) in [(head::STEPS, line::STEPS), (head::GUARDED, line::GUARDED)] {
            self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, from));
            self.asm.mr(Code::Mov_rm64_r64, at(TILE, 8 * word as i64), RAX);
        }
        let bytes = 8 * (line::NUMBERS + self.frame.numbers) as i32;
        self.asm.ri(Code::Add_rm64_imm32, TILE, bytes);
        self.asm.rm(Code::Cmp_r64_rm64, TILE, at(FRAME, head::END));
        self.asm.jump(Code::Jb_rel32_64, tile);
        let back = self.asm.label();
        self.asm.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX);
        self.asm.bind(back);
        self.asm.mr(Code::Mov_rm64_r64, at(FRAME, head::TILE), TILE);
        self.asm.op0(Code::VEX_Vzeroupper);
        self.asm.push(Instruction::with1(Code::Ldmxcsr_m32, at(FRAME, head::SAVED)));
        for register in SAVED.iter().rev() {
            self.asm.push(Instruction::with1(Code::Pop_r64, *register));
        }
        self.asm.op0(Code::Retnq);
        for (label, why, site) in std::mem::take(&mut self.troubles) {
            self.asm.bind(label);
            if why == Trouble::Unknown {
                // RAX is the address less the segment's, rotated; the caller wants the address.
                let Site { at: place, bytes, .. } = self.frame.sites[site];
                if bytes > 1 {
                    self.asm.push(Instruction::with2(Code::Rol_rm64_imm8, RAX, bytes.trailing_zeros()));
                }
                self.asm.rm(Code::Add_r64_rm64, RAX, at(FRAME, place));
                self.asm.mr(Code::Mov_rm64_r64, at(FRAME, head::ADDRESS), RAX);
            }
            self.asm.constant(RAX, why as u64 | (site as u64) << 8);
            self.asm.jump(Code::Jmp_rel32_64, back);
        }
    }

    /// `count` instructions completed by every lane.
    fn count(&mut self, count: u32) {
        if count > 0 {
            self.asm.mi(Code::Add_rm64_imm32, at(FRAME, head::STEPS), count as i32);
        }
    }

    /// A node's instructions issued.
    pub(super) fn issue(&mut self, cost: Cost) {
        if cost.issued > 0 {
            self.asm.ri(Code::Sub_rm64_imm32, LEFT, cost.issued as i32);
        }
        if cost.ends {
            self.give_up(Code::Js_rel32_64, Trouble::Other, 0);
        }
    }

    /// A node's instructions. Its stores are all checked before the first is made, so that nothing goes wrong in between;
    /// where they are a node of their own, they are checked here and made there.
    pub(super) fn node(&mut self, index: usize) -> Done {
        let node = &self.region.nodes[index];
        let steps = self.region.steps(self.given.code, index);
        self.notes = self.noted.before[index].clone();
        for (place, step) in steps.iter().enumerate() {
            self.point = Point { at: node.start.at + place, ..node.start };
            if !matches!(step.op, Op::Exit | Op::Store { .. }) {
                self.guarded(step)?;
                self.noted.pass(step, &mut self.notes);
            }
        }
        let stores = |index: usize| {
            let start = self.region.nodes[index].start;
            let steps = self.region.steps(self.given.code, index).iter().enumerate();
            let stores = steps.filter(|(_, step)| matches!(step.op, Op::Store { .. }));
            stores.map(move |(place, step)| (Point { at: start.at + place, ..start }, step)).collect::<Vec<_>>()
        };
        let here = stores(index);
        let checked = match node.next {
            Next::Stores(apart) => stores(apart),
            _ if self.shapes.parting => Vec::new(),
            _ => here.clone(),
        };
        for (point, step) in checked {
            self.point = point;
            self.check_store(step)?;
        }
        for (point, step) in here {
            self.point = point;
            self.store(step)?;
        }
        Ok(())
    }

    /// An instruction in the lanes that its guard lets through.
    fn guarded(&mut self, step: &crate::kernel::DecodedInst<'_>) -> Done {
        let Some(guard) = step.guard else { return self.instruction(step) };
        let pred = Operand::Reg(guard.pred);
        let completes = u32::from(step.completes);
        if let Shape::Constant(bits) = self.shapes.shape(pred) {
            if (bits & 1 != 0) == guard.expected {
                self.instruction(step)?;
                self.count_here(completes);
            }
            return Ok(());
        }
        if let Home::Mask(mask) = self.homes[guard.pred.0 as usize] {
            let at_work = self.guard;
            let mask = self.let_through(mask, guard.expected);
            self.count_lanes(mask, completes);
            self.guard = Some(mask);
            let done = self.instruction(step);
            self.guard = at_work;
            return done;
        }
        let skip = self.asm.label();
        let number = self.number(pred, Width::Pred, RAX)?;
        self.asm.rr(Code::Test_rm32_r32, low(number), low(number));
        self.asm.jump(if guard.expected { Code::Je_rel32_64 } else { Code::Jne_rel32_64 }, skip);
        self.instruction(step)?;
        self.count_here(completes);
        self.asm.bind(skip);
        Ok(())
    }
    /// The mask of those lanes at work where a predicate is as expected.
    fn let_through(&mut self, pred: i64, expected: bool) -> i64 {
        let mask = self.frame.reserve(8 * self.mask_words() as usize, 8);
        for word in 0..self.mask_words() {
            self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, pred + 8 * word));
            if !expected {
                self.asm.push(Instruction::with1(Code::Not_rm64, RAX));
            }
            match self.guard {
                Some(at_work) => self.asm.rm(Code::And_r64_rm64, RAX, at(FRAME, at_work + 8 * word)),
                None => {
                    self.asm.constant(RCX, self.all_lanes());
                    self.asm.rr(Code::And_r64_rm64, RAX, RCX);
                }
            }
            self.asm.mr(Code::Mov_rm64_r64, at(FRAME, mask + 8 * word), RAX);
        }
        mask
    }
    /// A mask's word where all lanes are in it.
    pub(super) fn all_lanes(&self) -> u64 {
        u64::MAX >> (64 - self.shapes.lanes.min(64))
    }
    /// `count` instructions completed by every lane at work.
    fn count_here(&mut self, count: u32) {
        match self.guard {
            Some(mask) => self.count_lanes(mask, count),
            None => self.count(count),
        }
    }
    /// `count` instructions completed by every lane of a mask.
    pub(super) fn count_lanes(&mut self, mask: i64, count: u32) {
        if count == 0 {
            return;
        }
        self.asm.rm(Code::Popcnt_r64_rm64, RAX, at(FRAME, mask));
        for word in 1..self.mask_words() {
            self.asm.rm(Code::Popcnt_r64_rm64, RCX, at(FRAME, mask + 8 * word));
            self.asm.rr(Code::Add_r64_rm64, RAX, RCX);
        }
        if count > 1 {
            self.asm.push(Instruction::with3(Code::Imul_r64_rm64_imm32, RAX, RAX, count as i32));
        }
        self.asm.mr(Code::Add_rm64_r64, at(FRAME, head::GUARDED), RAX);
    }

    /// A branch that all lanes take alike; where they part, each goes its own way, or the tile is given up.
    fn branch(&mut self, node: usize, pred: Reg, yes: Label, no: Label) -> Done {
        let operand = Operand::Reg(pred);
        if let Shape::Constant(bits) = self.shapes.shape(operand) {
            self.asm.jump(Code::Jmp_rel32_64, if bits & 1 != 0 { yes } else { no });
            return Ok(());
        }
        let Home::Mask(mask) = self.homes[pred.0 as usize] else {
            let number = self.number(operand, Width::Pred, RAX)?;
            self.asm.rr(Code::Test_rm32_r32, low(number), low(number));
            self.asm.jump(Code::Jne_rel32_64, yes);
            self.asm.jump(Code::Jmp_rel32_64, no);
            return Ok(());
        };
        // RAX: what all words have; RDX: what any has.
        for word in 0..self.mask_words() {
            let from = at(FRAME, mask + 8 * word);
            let (load, to) = match self.shapes.lanes {
                16 => (Code::Movzx_r32_rm16, Register::ECX),
                32 => (Code::Mov_r32_rm32, Register::ECX),
                _ => (Code::Mov_r64_rm64, RCX),
            };
            self.asm.rm(load, to, from);
            if word == 0 {
                self.asm.rr(Code::Mov_r64_rm64, RAX, RCX);
                self.asm.rr(Code::Mov_r64_rm64, RDX, RCX);
            } else {
                self.asm.rr(Code::And_r64_rm64, RAX, RCX);
                self.asm.rr(Code::Or_r64_rm64, RDX, RCX);
            }
        }
        self.asm.constant(RCX, self.all_lanes());
        self.asm.rr(Code::Cmp_r64_rm64, RAX, RCX);
        self.asm.jump(Code::Je_rel32_64, yes);
        self.asm.rr(Code::Test_rm64_r64, RDX, RDX);
        self.asm.jump(Code::Je_rel32_64, no);
        match &self.ways {
            Some(ways) => self.asm.jump(Code::Jmp_rel32_64, ways.parts[node]),
            None => self.give_up(Code::Jmp_rel32_64, Trouble::Parts, 0),
        }
        Ok(())
    }

    /// What each exit hands over: what was written here and lives there.
    fn plan_outputs(&mut self) -> Vec<Vec<Handed>> {
        let written = written(self.given, self.region);
        let mut words = vec![None; written.len()];
        let exits: Vec<Vec<u64>> = self.region.exits.iter().map(|&exit| live_at(self.given.code, exit)).collect();
        exits
            .iter()
            .map(|live| {
                let regs = (0..written.len() as u32).map(Reg).filter(|&reg| written[reg.0 as usize] && has(live, reg));
                regs.map(|reg| {
                    let how =
                        *words[reg.0 as usize].get_or_insert_with(|| match self.shapes.shape(Operand::Reg(reg)) {
                            Shape::Constant(bits) => How::Constant(bits),
                            Shape::Scalar(pattern) => How::Number { word: self.frame.number(), pattern },
                            _ => How::Column(self.frame.reserve(8, 8)),
                        });
                    Handed { reg, how }
                })
                .collect()
            })
            .collect()
    }

    /// What an exit hands over goes where it is looked for.
    pub(super) fn leave(&mut self, exit: usize, handed: &[Handed]) -> Done {
        self.notes = self.noted.leaving[exit].clone();
        handed.iter().try_for_each(|output| self.output(output))
    }
    fn output(&mut self, &Handed { reg, how }: &Handed) -> Done {
        let width = self.width(reg);
        match how {
            How::Constant(_) => {}
            How::Number { word, .. } => {
                let number = self.number(Operand::Reg(reg), width, RAX)?;
                self.asm.mr(Code::Mov_rm64_r64, at(TILE, 8 * word as i64), number);
            }
            How::Column(column) => {
                self.column(column);
                if let Home::Mask(mask) = self.homes[reg.0 as usize] {
                    for vector in 0..self.shapes.lanes / VECTOR {
                        let part = Part { vector, half: 0 };
                        self.lanes_of(mask, Width::B32, part, Register::K2);
                        let ones = self.frame.constant(vec![1; 16]);
                        let load =
                            Instruction::with2(Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128, Register::XMM27, at(FRAME, ones));
                        self.asm.vector(load, super::super::asm::Manner::zeroing(Register::K2));
                        self.asm.mr(Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm, lanes_at(width, part), Register::XMM27);
                    }
                    return Ok(());
                }
                let halves = if width == Width::B64 { 2 } else { 1 };
                for index in 0..halves * self.shapes.lanes / VECTOR {
                    let part = Part { vector: index / halves, half: index % halves };
                    let from = self.finished(Operand::Reg(reg), width, part, A)?;
                    self.write(lanes_at(width, part), from, width, part);
                }
            }
        }
        Ok(())
    }

    fn input(&mut self, &Handed { reg, how }: &Handed) -> Done {
        let width = self.width(reg);
        match how {
            How::Constant(bits) => {
                if let Home::Mask(_) = self.homes[reg.0 as usize] {
                    return self.copy(reg, Operand::Imm(bits));
                }
                self.asm.constant(RAX, bits & width.mask());
                self.give(reg, RAX, 0)?;
            }
            How::Number { word, pattern } => {
                self.asm.rm(Code::Mov_r64_rm64, RAX, at(TILE, 8 * word as i64));
                self.give(reg, RAX, pattern)?;
            }
            How::Column(column) => {
                self.column(column);
                if let Home::Mask(mask) = self.homes[reg.0 as usize] {
                    for vector in 0..self.shapes.lanes / VECTOR {
                        let part = Part { vector, half: 0 };
                        self.asm.rm(Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128, Register::XMM27, lanes_at(width, part));
                        let (code, k2, x) = (Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128, Register::K2, Register::XMM27);
                        self.asm.push(Instruction::with3(code, k2, x, x));
                        self.asm.mr(Code::VEX_Kmovw_m16_kr, at(FRAME, mask + 2 * vector as i64), k2);
                    }
                    return Ok(());
                }
                for part in self.parts(reg) {
                    match self.place(reg, part) {
                        Some(Place::Register(home)) => {
                            self.asm.rm(Code::EVEX_Vmovups_zmm_k1z_zmmm512, home, lanes_at(width, part));
                        }
                        Some(Place::Frame(_)) => {
                            self.asm.rm(Code::EVEX_Vmovups_zmm_k1z_zmmm512, A, lanes_at(width, part));
                            self.bring(reg, part, A);
                        }
                        None => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// RCX becomes a column's address, RDX the tile's first lane.
    fn column(&mut self, column: i64) {
        self.asm.rm(Code::Mov_r64_rm64, RCX, at(FRAME, column));
        self.asm.rm(Code::Mov_r64_rm64, RDX, at(TILE, 8 * line::LANE as i64));
    }
}

/// What a function must leave as it was.
const SAVED: [Register; 6] = [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// A part of a column, as [`column`](Emit::column) prepares.
fn lanes_at(width: Width, part: Part) -> MemoryOperand {
    let bytes = match width {
        Width::Pred => 1,
        Width::B16 => 2,
        Width::B32 => 4,
        Width::B64 => 8,
    };
    let offset = (part.vector * VECTOR + part.half * VECTOR / 2) as i64 * i64::from(bytes);
    MemoryOperand::with_base_index_scale_displ_size(RCX, RDX, bytes, offset, 1)
}
