//! The code of a region: operands and results in their homes; one function for each kind of instruction stands in the
//! files beside this one.

mod control;
mod memory;
mod parting;
mod scalar;
mod vector;

use super::Given;
use super::alloc::{Home, Place};
use super::asm::{Asm, Label, Manner, all_at, at, low};
use super::frame::Frame;
use super::notes::{LATE, NAN, Noted, Notes, is_mixed, operand};
use super::region::{Point, Region};
use super::shape::{Shape, Shapes, VECTOR};
use crate::kernel::DecodedInst;
use iced_x86::{Code, Instruction, Register};
use parting::Ways;
use roundonce_arith::Format;
use roundonce_ir::{Operand, Reg, Width};
use std::collections::BTreeMap;

pub(super) use control::{Emitted, region};

/// Why an instruction cannot be compiled as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// It is the interpreter's.
    Cut,
    /// This register's values must be finished at once.
    Eager(Reg),
}

type Done<T = ()> = Result<T, Stop>;

/// The frame, the tile's line, the steps left.
const FRAME: Register = Register::R15;
const TILE: Register = Register::R13;
const LEFT: Register = Register::R14;
/// Scratch, by name of use.
const A: Register = Register::ZMM27;
const B: Register = Register::ZMM28;
const C: Register = Register::ZMM29;
const D: Register = Register::ZMM30;
const E: Register = Register::ZMM31;

/// Why a tile is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trouble {
    /// The interpreter will see why.
    Other = 1,
    /// Its lanes part.
    Parts = 2,
    /// An address that the site does not know yet.
    Unknown = 3,
}

/// A vector operand.
#[derive(Clone, Copy, Debug)]
enum Source {
    Register(Register),
    /// A vector in the frame.
    Frame(i64),
    /// One element for all lanes, in the frame.
    Every(i64),
}

/// One vector of a register: its number in the tile, and the half of its lanes where they have 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    vector: usize,
    half: usize,
}

struct Emit<'a> {
    given: &'a Given<'a>,
    region: &'a Region,
    shapes: &'a Shapes,
    noted: &'a Noted,
    homes: &'a [Home],
    frame: Frame,
    asm: Asm,
    /// What the registers hold at this instruction.
    notes: Notes,
    /// Where the mask of the lanes at work stands, if these are not all.
    guard: Option<i64>,
    /// The instruction at work.
    point: Point,
    /// The site of each access.
    accesses: BTreeMap<Point, usize>,
    /// Where lanes that part go on.
    ways: Option<Ways>,
    troubles: Vec<(Label, Trouble, usize)>,
}

/// The first 128 or 256 bits of a vector register.
fn xmm(register: Register) -> Register {
    Register::XMM0 + (register as u32 - Register::ZMM0 as u32)
}
fn ymm(register: Register) -> Register {
    Register::YMM0 + (register as u32 - Register::ZMM0 as u32)
}

/// The code of an instruction for elements of 32 bits, or of 64.
fn by(width: Width, narrow: Code, wide: Code) -> Code {
    if width == Width::B64 { wide } else { narrow }
}

impl Emit<'_> {
    fn width(&self, reg: Reg) -> Width {
        self.given.code.kernel.width(reg)
    }

    /// A jump to where the tile is given up.
    fn give_up(&mut self, code: Code, why: Trouble, site: usize) {
        let known = self.troubles.iter().find(|(_, other, at)| (*other, *at) == (why, site));
        let label = known.map(|(label, ..)| *label).unwrap_or_else(|| {
            let label = self.asm.label();
            self.troubles.push((label, why, site));
            label
        });
        self.asm.jump(code, label);
    }

    /// The parts of a register that are different vectors.
    fn parts(&self, reg: Reg) -> Vec<Part> {
        let halves = if self.width(reg) == Width::B64 { 2 } else { 1 };
        let count = match &self.homes[reg.0 as usize] {
            Home::Vectors(places) => places.len(),
            // The first lane's is the number.
            Home::Scalar(_) => 1,
            _ => 0,
        };
        (0..count).map(|part| Part { vector: part / halves, half: part % halves }).collect()
    }
    fn place(&self, reg: Reg, part: Part) -> Option<Place> {
        let halves = if self.width(reg) == Width::B64 { 2 } else { 1 };
        let Home::Vectors(places) = &self.homes[reg.0 as usize] else { return None };
        let index = match places.len() {
            1 => 0,
            count if count == halves => part.half,
            _ => part.vector * halves + part.half % halves,
        };
        places.get(index).copied()
    }

    /// An element for all lanes, in the frame.
    fn every(&mut self, bits: u64, width: Width) -> Source {
        let bytes =
            if width == Width::B64 { bits.to_le_bytes().to_vec() } else { (bits as u32).to_le_bytes().to_vec() };
        Source::Every(self.frame.constant(bytes))
    }
    /// A pattern's numbers in the lanes of a part.
    fn pattern(&mut self, pattern: usize, width: Width, part: Part) -> i64 {
        let all = self.shapes.pattern(pattern);
        let bytes = if width == Width::B64 {
            let start = part.vector * VECTOR + part.half * (VECTOR / 2);
            all[start..start + VECTOR / 2].iter().flat_map(|number| number.to_le_bytes()).collect()
        } else {
            let start = part.vector * VECTOR;
            all[start..start + VECTOR].iter().flat_map(|&number| (number as i32).to_le_bytes()).collect()
        };
        self.frame.constant(bytes)
    }

    /// An operand's lanes. What is not in a vector register or the frame yet goes through `scratch`.
    fn source(&mut self, operand: Operand, width: Width, part: Part, scratch: Register) -> Done<Source> {
        let shape = self.shapes.shape(operand);
        if let Shape::Constant(bits) = shape {
            return Ok(self.every(bits, width));
        }
        let Operand::Reg(reg) = operand else { return Err(Stop::Cut) };
        if let Some(place) = self.place(reg, part) {
            return Ok(match place {
                Place::Register(register) => Source::Register(register),
                Place::Frame(offset) => Source::Frame(offset),
            });
        }
        let (&Home::Scalar(place), Shape::Scalar(pattern)) = (&self.homes[reg.0 as usize], shape) else {
            return Err(Stop::Cut);
        };
        match place {
            Place::Frame(offset) if pattern == 0 => return Ok(Source::Every(offset)),
            Place::Frame(offset) => {
                let code = by(width, Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64);
                self.asm.rm(code, scratch, at(FRAME, offset));
            }
            Place::Register(register) => self.broadcast(register, width, scratch),
        }
        if pattern != 0 {
            let numbers = self.pattern(pattern, width, part);
            let add = by(width, Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64);
            self.op3(add, scratch, scratch, Source::Frame(numbers), Manner::default());
        }
        Ok(Source::Register(scratch))
    }
    /// A general register's number in all lanes.
    fn broadcast(&mut self, from: Register, width: Width, to: Register) {
        match width {
            Width::B64 => self.asm.rr(Code::EVEX_Vpbroadcastq_zmm_k1z_r64, to, from),
            _ => self.asm.rr(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, to, low(from)),
        }
    }
    /// The same in a register.
    fn register(&mut self, operand: Operand, width: Width, part: Part, scratch: Register) -> Done<Register> {
        let source = self.source(operand, width, part, scratch)?;
        Ok(self.load(source, width, scratch))
    }
    fn load(&mut self, source: Source, width: Width, scratch: Register) -> Register {
        match source {
            Source::Register(register) => return register,
            Source::Frame(offset) => self.asm.rm(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, scratch, at(FRAME, offset)),
            Source::Every(offset) => {
                let code = by(width, Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64);
                self.asm.rm(code, scratch, at(FRAME, offset));
            }
        }
        scratch
    }
    /// The same with its bits as the pipeline would have left them.
    fn finished(&mut self, value: Operand, width: Width, part: Part, scratch: Register) -> Done<Register> {
        let notes = operand(&self.notes, value);
        let register = self.register(value, width, part, scratch)?;
        if notes & (NAN | LATE) == 0 || width != Width::B32 {
            return Ok(register);
        }
        if is_mixed(notes) {
            return match value {
                Operand::Reg(reg) => Err(Stop::Eager(reg)),
                Operand::Imm(_) => Err(Stop::Cut),
            };
        }
        if register != scratch {
            self.asm.rr(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, scratch, register);
        }
        self.finish(scratch, notes);
        Ok(scratch)
    }
    /// The pipeline's last steps on f32: NaN, then flush.
    fn finish(&mut self, register: Register, notes: u8) {
        if notes & NAN != 0 {
            let nan = self.every(Format::F32.magnitude_mask(), Width::B32);
            let unordered = Instruction::with4(
                Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
                Register::K2,
                register,
                register,
                3,
            );
            self.asm.push(unordered);
            if let Source::Every(offset) = nan {
                let code = Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32;
                let instruction = Instruction::with2(code, register, at(FRAME, offset));
                self.asm.vector(instruction, Manner::masked(Register::K2));
            }
        }
        if notes & LATE != 0 {
            self.flush(register);
        }
    }
    /// Subnormal f32 become zero of their sign.
    fn flush(&mut self, register: Register) {
        let exponent = self.every(Format::F32.infinity(), Width::B32);
        let sign = self.every(Format::F32.sign_mask(), Width::B32);
        self.op3(Code::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32, Register::K2, register, exponent, Manner::default());
        let manner = Manner::masked(Register::K2);
        self.op3(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, register, register, sign, manner);
    }

    /// `to = a ∘ b`.
    fn op3(&mut self, code: Code, to: Register, a: Register, b: Source, manner: Manner) {
        let instruction = match b {
            Source::Register(b) => Instruction::with3(code, to, a, b),
            Source::Frame(offset) => Instruction::with3(code, to, a, at(FRAME, offset)),
            Source::Every(offset) => Instruction::with3(code, to, a, all_at(FRAME, offset)),
        };
        self.asm.vector(instruction, manner);
    }

    /// Where a part of a result is made: its home, or `scratch` on the way to the frame or past a guard.
    fn target(&self, d: Reg, part: Part, scratch: Register) -> Register {
        match self.place(d, part) {
            Some(Place::Register(register)) if self.held_back(d).is_none() => register,
            _ => scratch,
        }
    }
    /// The mask of the lanes that write a register, if others keep what they have in it.
    fn held_back(&self, d: Reg) -> Option<i64> {
        self.guard.filter(|_| self.shapes.shape(Operand::Reg(d)) == Shape::Lanes)
    }
    /// Brings a result home from where [`target`](Emit::target) put it.
    fn bring(&mut self, d: Reg, part: Part, from: Register) {
        let Some(place) = self.place(d, part) else {
            let (code, to) = match self.width(d) {
                Width::B64 => (Code::EVEX_Vmovq_rm64_xmm, Register::RAX),
                _ => (Code::EVEX_Vmovd_rm32_xmm, Register::EAX),
            };
            self.asm.rr(code, to, xmm(from));
            return self.set_number(d, Register::RAX);
        };
        let manner = match self.held_back(d) {
            Some(mask) => {
                self.lanes_of(mask, self.width(d), part, Register::K1);
                Manner::masked(Register::K1)
            }
            None => Manner::default(),
        };
        let wide = self.width(d) == Width::B64;
        let instruction = match place {
            Place::Register(home) if home == from => return,
            Place::Register(home) => {
                let code = if wide { Code::EVEX_Vmovapd_zmm_k1z_zmmm512 } else { Code::EVEX_Vmovaps_zmm_k1z_zmmm512 };
                Instruction::with2(code, home, from)
            }
            Place::Frame(offset) => {
                let code = if wide { Code::EVEX_Vmovapd_zmmm512_k1z_zmm } else { Code::EVEX_Vmovaps_zmmm512_k1z_zmm };
                Instruction::with2(code, at(FRAME, offset), from)
            }
        };
        self.asm.vector(instruction, manner);
    }
    /// The lanes of a part where a mask in the frame is set.
    fn lanes_of(&mut self, mask: i64, width: Width, part: Part, to: Register) {
        let half = if width == Width::B64 { part.half as i64 } else { 0 };
        let code = if width == Width::B64 { Code::VEX_Kmovb_kr_km8 } else { Code::VEX_Kmovw_kr_km16 };
        self.asm.rm(code, to, at(FRAME, mask + 2 * part.vector as i64 + half));
    }

    /// One number, in a general register: `scratch`, or its home.
    fn number(&mut self, value: Operand, width: Width, scratch: Register) -> Done<Register> {
        if let Shape::Constant(bits) = self.shapes.shape(value) {
            self.asm.constant(scratch, bits & width.mask());
            return Ok(scratch);
        }
        let Operand::Reg(reg) = value else { return Err(Stop::Cut) };
        match self.homes[reg.0 as usize] {
            Home::Scalar(Place::Register(register)) => Ok(register),
            Home::Scalar(Place::Frame(offset)) => {
                self.asm.rm(Code::Mov_r64_rm64, scratch, at(FRAME, offset));
                Ok(scratch)
            }
            Home::Vectors(_) if self.shapes.shape(value).is_uniform() => {
                let register = self.finished(value, width, Part { vector: 0, half: 0 }, E)?;
                match width {
                    Width::B64 => self.asm.rr(Code::EVEX_Vmovq_rm64_xmm, scratch, xmm(register)),
                    _ => self.asm.rr(Code::EVEX_Vmovd_rm32_xmm, low(scratch), xmm(register)),
                }
                Ok(scratch)
            }
            _ => Err(Stop::Cut),
        }
    }
    /// A number, and a pattern on top of it, become a register's value.
    fn give(&mut self, d: Reg, from: Register, pattern: usize) -> Done {
        let width = self.width(d);
        match self.homes[d.0 as usize] {
            Home::Nowhere | Home::Scalar(_) => self.set_number(d, from),
            Home::Vectors(_) => {
                for part in self.parts(d) {
                    let to = self.target(d, part, A);
                    self.broadcast(from, width, to);
                    if pattern != 0 {
                        let numbers = Source::Frame(self.pattern(pattern, width, part));
                        let add = by(
                            width,
                            Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
                            Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
                        );
                        self.op3(add, to, to, numbers, Manner::default());
                    }
                    self.bring(d, part, to);
                }
            }
            Home::Mask(to) => {
                self.copy_number(Width::B64, Register::RAX, from);
                self.asm.push(Instruction::with1(Code::Neg_rm64, Register::RAX));
                for word in 0..self.mask_words() {
                    self.set_mask_word(d, to, word);
                }
            }
        }
        Ok(())
    }

    fn set_number(&mut self, d: Reg, from: Register) {
        match self.homes[d.0 as usize] {
            Home::Scalar(Place::Register(home)) if home != from => self.asm.rr(Code::Mov_r64_rm64, home, from),
            Home::Scalar(Place::Frame(offset)) => self.asm.mr(Code::Mov_rm64_r64, at(FRAME, offset), from),
            _ => {}
        }
    }

    /// One instruction, its guard already looked at.
    fn instruction(&mut self, step: &DecodedInst<'_>) -> Done {
        use roundonce_ir::Op;
        match step.op {
            Op::Move { d, a } => self.copy(*d, *a),
            Op::Special { d, special } => self.special(*d, *special),
            Op::Float { d, operation, args, .. } => self.float(*d, operation, args),
            &Op::Sign { d, negate, format, flush: false, a } => self.sign(d, negate, format, a),
            Op::Int { d, op, width: Width::Pred, args } => self.logic(*d, *op, args),
            Op::Int { d, op, width, args } => self.int(*d, *op, *width, args),
            &Op::Compare { d, comparison, of, a, b } => self.compare(d, comparison, of, a, b),
            &Op::Select { d, p, a, b } => self.select(d, p, a, b),
            &Op::Convert { d, to, from, rounding, saturate: false, integral: false, a, .. } => {
                self.convert(d, to, from, rounding, a)
            }
            Op::Load { d, space, bytes, signed, address, offset } => {
                self.read(d, *space, (*bytes, *signed), *address, *offset)
            }
            _ => Err(Stop::Cut),
        }
    }
}
