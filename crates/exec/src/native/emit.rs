//! Code emission. This file has the access to operands and results at their allocated locations; the files below emit
//! the kinds of instructions.

mod atomic;
mod check;
mod control;
mod convert;
mod convert_double;
mod counts;
mod divergence;
mod float;
mod gather_cache;
mod half;
mod index_range;
mod integer;
mod interleaved;
mod lanes;
mod live;
mod memory;
mod min_max;
mod nans;
mod one_by_one;
mod power;
mod prefetch;
mod quotient;
mod scalar;
mod vector;
mod warp;

use super::LaunchConstants;
use super::alloc::{Allocation, Location};
use super::asm::{Asm, Decorators, FRAME, Label, at, broadcast_at, low};
use super::deferred::{Deferred, FLUSH_PENDING, NAN_PENDING, States, is_conflicting, operand_state};
use super::frame::Frame;
use super::indexed::IndexedAddresses;
use super::region::{ProgramPoint, Region};
use super::shape::{Shapes, VectorShape};
use crate::kernel::{DecodedInst, Machine, conversion};
use crate::scalar::MinMax;
use check::Group;
use divergence::PathMasks;
use iced_x86::{Code, Instruction, Register};
use memory::PartLoad;
use roundonce_arith::{Clamp, Format};
use roundonce_ir::{Operand, Reg, Width};
use std::collections::BTreeMap;

pub(super) use control::{Emitted, region};

/// Why an instruction cannot be compiled as planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EmitError {
    /// There is no code for it: it becomes a boundary of the region.
    Unsupported,
    /// This register's values must be canonicalised eagerly.
    NeedsEager(Reg),
}

type EmitResult<T = ()> = Result<T, EmitError>;

/// The tile's record, what is left of the budget.
const TILE: Register = Register::R13;
const BUDGET_LEFT: Register = Register::R14;
/// Instructions completed by every lane of the current tile.
const STEPS: Register = Register::R12;
/// Scratch registers.
const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const A: Register = Register::ZMM27;
const B: Register = Register::ZMM28;
const C: Register = Register::ZMM29;
const D: Register = Register::ZMM30;
const E: Register = Register::ZMM31;

/// The reason for a side exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DeoptReason {
    /// An error, or a value that has no code: the interpreter finds out which.
    Other = 1,
    /// A divergent branch.
    Divergence = 2,
    /// An address outside the segment in the site's inline cache.
    CacheMiss = 3,
}

/// A vector operand.
#[derive(Clone, Copy, Debug)]
enum Source {
    Register(Register),
    /// A vector in the frame.
    Frame(i64),
    /// One element for all lanes, in the frame.
    Broadcast(i64),
}

/// One of a register's vectors: its index in the tile, and which half of its lanes where they have 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    vector: usize,
    half: usize,
}

struct Emitter<'a> {
    launch: &'a LaunchConstants<'a>,
    region: &'a Region,
    shapes: &'a Shapes,
    deferred: &'a Deferred,
    /// Which registers are read, here or behind the region.
    reads: Vec<bool>,
    allocations: &'a [Allocation],
    /// Addresses of lanes that are taken as indices.
    addresses: &'a IndexedAddresses,
    frame: Frame,
    asm: Asm,
    /// The state of the registers at this instruction.
    states: States,
    /// The offset of the mask of active lanes, if not all lanes are active.
    active_mask: Option<i64>,
    /// The current instruction.
    point: ProgramPoint,
    /// The comparison of the current node that its branch makes.
    deciding: Option<ProgramPoint>,
    /// The index of each access's site.
    accesses: BTreeMap<ProgramPoint, usize>,
    /// The folded load before this instruction; RAX holds its host address.
    folded: Option<PartLoad>,
    /// The loads of the current node that are checked together, by their points.
    groups: BTreeMap<ProgramPoint, Group>,
    /// The blocks in which loads prefetch, and so many bytes ahead.
    prefetches: BTreeMap<usize, i64>,
    /// Whether code prefetches lines that the caller names, and writes where its accesses end; where it goes for that and comes back, and how
    /// many instructions there were the last time.
    prefetches_ahead: bool,
    prefetch_points: Vec<[Label; 2]>,
    last_point: usize,
    /// Of each node, in how many loops it is; and whether the current one is in any.
    loop_depths: Vec<u32>,
    in_loop: bool,
    /// General registers that nothing has.
    free: Vec<Register>,
    /// Words of the frame that the code loads when it is entered, and the registers that have them.
    loaded_at_entry: BTreeMap<i64, Register>,
    /// In divergent code: the masks of the paths.
    path_masks: Option<PathMasks>,
    /// The approximate instructions, and the word in a tile's record where their runs are counted; of whole kernels, in the frame.
    approximations: Vec<(String, usize)>,
    /// Whether the code runs blocks from their starts to their ends.
    whole: bool,
    side_exits: Vec<(Label, DeoptReason, usize)>,
    unsettled: Vec<nans::Unsettled>,
}

/// The first 128 or 256 bits of a vector register.
fn xmm(register: Register) -> Register {
    Register::XMM0 + (register as u32 - Register::ZMM0 as u32)
}
fn ymm(register: Register) -> Register {
    Register::YMM0 + (register as u32 - Register::ZMM0 as u32)
}

/// The opcode for elements of 32 bits or of 64.
fn by(width: Width, narrow: Code, wide: Code) -> Code {
    if width == Width::B64 { wide } else { narrow }
}

impl Emitter<'_> {
    fn machine(&self) -> Machine {
        self.shapes.machine
    }
    fn width(&self, reg: Reg) -> Width {
        self.launch.code.kernel.width(reg)
    }

    /// A jump to a side exit, conditional or not.
    fn side_exit(&mut self, code: Code, reason: DeoptReason, site: usize) {
        let known = self.side_exits.iter().find(|(_, other, at)| (*other, *at) == (reason, site));
        let label = known.map(|(label, ..)| *label).unwrap_or_else(|| {
            let label = self.asm.label();
            self.side_exits.push((label, reason, site));
            label
        });
        self.asm.jump(code, label);
    }

    /// The lanes of a part that may run the current instruction.
    fn lanes_that_run(&self, width: Width, part: Part) -> Vec<usize> {
        let start = self.first_lane_of(width, part);
        let may_run = |&lane: &usize| self.shapes.may_run(self.point.block, start + lane);
        (0..self.lanes_of(width)).filter(may_run).collect()
    }
    /// The parts of so wide a value that has its own for each lane, of those lanes that may run the current instruction.
    fn parts_that_run(&self, width: Width) -> Vec<Part> {
        let halves = if width == Width::B64 { 2 } else { 1 };
        let vectors = 0..self.shapes.lanes / self.machine().lanes();
        let parts = vectors.flat_map(|vector| (0..halves).map(move |half| Part { vector, half }));
        parts.filter(|&part| !self.lanes_that_run(width, part).is_empty()).collect()
    }
    /// The parts of a register that have different vectors: under a mask those with lanes that may be active.
    fn parts(&self, reg: Reg) -> Vec<Part> {
        let halves = if self.width(reg) == Width::B64 { 2 } else { 1 };
        match &self.allocations[reg.0 as usize] {
            Allocation::Vectors(_) if self.merge_mask(reg).is_some() => self.parts_that_run(self.width(reg)),
            Allocation::Vectors(locations) if locations.len() > 1 => {
                let parts = |vector| (0..halves).map(move |half| Part { vector, half });
                self.shapes.vectors(reg).flat_map(parts).collect()
            }
            // All lanes have the number, or all vectors are the same.
            Allocation::Vectors(_) | Allocation::Scalar(_) => vec![Part { vector: 0, half: 0 }],
            _ => Vec::new(),
        }
    }
    fn location(&self, reg: Reg, part: Part) -> Option<Location> {
        let halves = if self.width(reg) == Width::B64 { 2 } else { 1 };
        let Allocation::Vectors(locations) = &self.allocations[reg.0 as usize] else { return None };
        let index = match locations.len() {
            1 => 0,
            _ => self.shapes.place(reg, part.vector) * halves + part.half % halves,
        };
        locations.get(index).copied()
    }

    /// A constant for all lanes, in the frame.
    fn broadcast_constant(&mut self, bits: u64, width: Width) -> Source {
        let bits = bits & width.mask();
        let bytes =
            if width == Width::B64 { bits.to_le_bytes().to_vec() } else { (bits as u32).to_le_bytes().to_vec() };
        match self.machine() {
            Machine::Avx512 => Source::Broadcast(self.frame.constant(bytes)),
            machine => Source::Frame(self.frame.constant(bytes.repeat(4 * machine.lanes() / bytes.len()))),
        }
    }
    /// A pattern's numbers in the lanes of a part.
    fn pattern(&mut self, pattern: usize, width: Width, part: Part) -> i64 {
        let (all, vector) = (self.shapes.pattern(pattern), self.machine().lanes());
        let bytes = if width == Width::B64 {
            let start = part.vector * vector + part.half * (vector / 2);
            all[start..start + vector / 2].iter().flat_map(|number| number.to_le_bytes()).collect()
        } else {
            let start = part.vector * vector;
            all[start..start + vector].iter().flat_map(|&number| (number as i32).to_le_bytes()).collect()
        };
        self.frame.constant(bytes)
    }

    /// An operand's lanes: in their location, or computed in `scratch`.
    fn source(&mut self, operand: Operand, width: Width, part: Part, scratch: Register) -> EmitResult<Source> {
        let shape = self.shapes.shape(operand);
        if let VectorShape::Constant(bits) = shape {
            return Ok(self.broadcast_constant(bits, width));
        }
        let Operand::Reg(reg) = operand else { return Err(EmitError::Unsupported) };
        if let (Allocation::Folded, Some(load)) = (&self.allocations[reg.0 as usize], self.folded) {
            self.load_part(scratch, load, width, part)?;
            return Ok(Source::Register(scratch));
        }
        if let Some(location) = self.location(reg, part) {
            return Ok(match location {
                Location::Register(register) => Source::Register(register),
                Location::Slot(offset) => Source::Frame(offset),
            });
        }
        let (&Allocation::Scalar(location), VectorShape::Scalar(pattern)) = (&self.allocations[reg.0 as usize], shape)
        else {
            return Err(EmitError::Unsupported);
        };
        match location {
            Location::Slot(offset) if pattern == 0 && self.machine() == Machine::Avx512 => {
                return Ok(Source::Broadcast(offset));
            }
            Location::Slot(offset) => {
                let code = by(width, Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64);
                self.asm.rm(code, scratch, at(FRAME, offset));
            }
            Location::Register(register) => self.broadcast(register, width, scratch),
        }
        if pattern != 0 {
            let numbers = self.pattern(pattern, width, part);
            let add = by(width, Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64);
            self.op3(add, scratch, scratch, Source::Frame(numbers), Decorators::default());
        }
        Ok(Source::Register(scratch))
    }
    /// Broadcasts a general register to all lanes.
    fn broadcast(&mut self, from: Register, width: Width, to: Register) {
        match width {
            Width::B64 => self.asm.rr(Code::EVEX_Vpbroadcastq_zmm_k1z_r64, to, from),
            _ => self.asm.rr(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, to, low(from)),
        }
    }
    /// [`source`](Emitter::source), in a register.
    fn register(&mut self, operand: Operand, width: Width, part: Part, scratch: Register) -> EmitResult<Register> {
        let source = self.source(operand, width, part, scratch)?;
        Ok(self.load(source, width, scratch))
    }
    fn load(&mut self, source: Source, width: Width, scratch: Register) -> Register {
        match source {
            Source::Register(register) => return register,
            Source::Frame(offset) => self.asm.rm(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, scratch, at(FRAME, offset)),
            Source::Broadcast(offset) => {
                let code = by(width, Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64);
                self.asm.rm(code, scratch, at(FRAME, offset));
            }
        }
        scratch
    }
    /// [`register`](Emitter::register), with the deferred steps of the pipeline done.
    fn canonicalised(&mut self, value: Operand, width: Width, part: Part, scratch: Register) -> EmitResult<Register> {
        let state = operand_state(&self.states, value);
        let register = self.register(value, width, part, scratch)?;
        if state & (NAN_PENDING | FLUSH_PENDING) == 0 || width != Width::B32 {
            return Ok(register);
        }
        if is_conflicting(state) {
            return match value {
                Operand::Reg(reg) => Err(EmitError::NeedsEager(reg)),
                Operand::Imm(_) => Err(EmitError::Unsupported),
            };
        }
        if state & FLUSH_PENDING == 0 {
            let nan = self.broadcast_constant(Format::F32.magnitude_mask(), Width::B32);
            if let Source::Frame(nan) = nan {
                self.asm.replace_nans(scratch, register, at(FRAME, nan));
                return Ok(scratch);
            }
            self.nan_mask(register, Register::K2);
            let blend = Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32;
            self.op3(blend, scratch, register, nan, Decorators::masked(Register::K2));
            return Ok(scratch);
        }
        self.copy_vector(scratch, register);
        self.canonicalise(scratch, state);
        Ok(scratch)
    }
    /// The same as an operand that need not be in a register.
    fn canonicalised_source(
        &mut self,
        value: Operand,
        width: Width,
        part: Part,
        scratch: Register,
    ) -> EmitResult<Source> {
        match operand_state(&self.states, value) & (NAN_PENDING | FLUSH_PENDING) {
            0 => self.source(value, width, part, scratch),
            _ => self.canonicalised(value, width, part, scratch).map(Source::Register),
        }
    }
    /// The pipeline's last steps on f32: canonical NaN, then flush.
    fn canonicalise(&mut self, register: Register, state: u8) {
        if state & NAN_PENDING != 0 {
            self.nan_mask(register, Register::K2);
            self.canonical_nan(Format::F32, register, Register::K2);
        }
        if state & FLUSH_PENDING != 0 {
            self.flush(Format::F32, register, 0);
        }
    }
    /// Flushes subnormals, shifted up by so many bits, to the zero of their sign. Uses Register::K2.
    fn flush(&mut self, format: Format, x: Register, up: u32) {
        let lane = if format == Format::F64 { Width::B64 } else { Width::B32 };
        let exponent = self.broadcast_constant(format.infinity() << up, lane);
        let sign = self.broadcast_constant(format.sign_mask() << up, lane);
        let test = by(lane, Code::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32, Code::EVEX_Vptestnmq_kr_k1_zmm_zmmm512b64);
        let and = by(lane, Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64);
        self.op3(test, Register::K2, x, exponent, Decorators::default());
        self.op3(and, x, x, sign, Decorators::masked(Register::K2));
    }
    /// The lanes where an f32 is NaN.
    fn nan_mask(&mut self, x: Register, to: Register) {
        self.asm.push(Instruction::with4(Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, to, x, x, 3));
    }
    /// The lanes of a mask become the canonical NaN.
    fn canonical_nan(&mut self, format: Format, to: Register, mask: Register) {
        self.merge_constant(to, format.magnitude_mask(), mask);
    }
    /// The 32-bit lanes of a mask become a constant.
    fn merge_constant(&mut self, to: Register, bits: u64, mask: Register) {
        let (code, from) = match self.broadcast_constant(bits, Width::B32) {
            Source::Broadcast(offset) => (Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, offset),
            Source::Frame(offset) => (Code::EVEX_Vmovaps_zmm_k1z_zmmm512, offset),
            Source::Register(_) => return,
        };
        self.asm.vector(Instruction::with2(code, to, at(FRAME, from)), Decorators::masked(mask));
    }
    /// Clamps f32 in place. A NaN becomes +0 under `Unit`; what becomes of one under `Relu` is not said.
    fn clamp_single(&mut self, clamp: Clamp, x: Register) {
        let zero = self.broadcast_constant(0, Width::B32);
        match clamp {
            Clamp::None => {}
            Clamp::Unit => {
                // vmaxps and vminps return the second operand if one is a NaN or both are zeros.
                let one = self.broadcast_constant(Format::F32.one(), Width::B32);
                self.op3(Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, x, x, zero, Decorators::default());
                self.op3(Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae, x, x, one, Decorators::default());
            }
            Clamp::Relu => self.op3(Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32, x, x, zero, Decorators::default()),
        }
    }

    /// `to = from`, if they differ.
    fn copy_vector(&mut self, to: Register, from: Register) {
        if to != from {
            self.asm.rr(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, to, from);
        }
    }
    /// A shift by a constant.
    fn shift(&mut self, code: Code, to: Register, from: Register, count: u32) {
        self.asm.push(Instruction::with3(code, to, from, count));
    }
    /// `to = a ∘ b`, of the kind that a number says: a comparison into a mask by its predicate, say.
    fn op3_immediate(&mut self, code: Code, to: Register, a: Register, b: Source, number: u32) {
        self.asm.push(match b {
            Source::Register(b) => Instruction::with4(code, to, a, b, number),
            Source::Frame(offset) => Instruction::with4(code, to, a, at(FRAME, offset), number),
            Source::Broadcast(offset) => Instruction::with4(code, to, a, broadcast_at(FRAME, offset), number),
        });
    }

    /// `to = a ∘ b`.
    fn op3(&mut self, code: Code, to: Register, a: Register, b: Source, decorators: Decorators) {
        let instruction = match b {
            Source::Register(b) => Instruction::with3(code, to, a, b),
            Source::Frame(offset) => Instruction::with3(code, to, a, at(FRAME, offset)),
            Source::Broadcast(offset) => Instruction::with3(code, to, a, broadcast_at(FRAME, offset)),
        };
        self.asm.vector(instruction, decorators);
    }

    /// The register in which to compute a part of a result: its location, or `scratch` if the location is a slot or the
    /// result is masked.
    fn target(&self, d: Reg, part: Part, scratch: Register) -> Register {
        match self.location(d, part) {
            Some(Location::Register(register)) if self.merge_mask(d).is_none() => register,
            _ => scratch,
        }
    }
    /// The merge mask: the lanes that write a register, if the others must keep their values.
    fn merge_mask(&self, d: Reg) -> Option<i64> {
        self.active_mask.filter(|_| self.shapes.shape(Operand::Reg(d)) == VectorShape::Varying)
    }
    /// Writes a result from where [`target`](Emitter::target) put it to its location.
    fn write_back(&mut self, d: Reg, part: Part, from: Register) {
        let Some(location) = self.location(d, part) else {
            let (code, to) = match self.width(d) {
                Width::B64 => (Code::EVEX_Vmovq_rm64_xmm, Register::RAX),
                _ => (Code::EVEX_Vmovd_rm32_xmm, Register::EAX),
            };
            self.asm.rr(code, to, xmm(from));
            return self.set_scalar(d, Register::RAX);
        };
        let decorators = match self.merge_mask(d) {
            Some(mask) => {
                self.load_mask(mask, self.width(d), part, Register::K1);
                Decorators::masked(Register::K1)
            }
            None => Decorators::default(),
        };
        let wide = self.width(d) == Width::B64;
        let instruction = match location {
            Location::Register(to) if to == from => return,
            Location::Register(register) => {
                let code = if wide { Code::EVEX_Vmovapd_zmm_k1z_zmmm512 } else { Code::EVEX_Vmovaps_zmm_k1z_zmmm512 };
                Instruction::with2(code, register, from)
            }
            Location::Slot(offset) => {
                let code = if wide { Code::EVEX_Vmovapd_zmmm512_k1z_zmm } else { Code::EVEX_Vmovaps_zmmm512_k1z_zmm };
                Instruction::with2(code, at(FRAME, offset), from)
            }
        };
        self.asm.vector(instruction, decorators);
    }
    /// Loads a part of a mask in the frame.
    fn load_mask(&mut self, mask: i64, width: Width, part: Part, to: Register) {
        if self.machine() != Machine::Avx512 {
            let wide = width == Width::B64;
            let (count, bits) = (self.lanes_of(width), if wide { 64 } else { 32 });
            let first = self.first_lane_of(width, part);
            let lanes =
                (first % bits..first % bits + count).flat_map(|lane| (1u64 << lane).to_le_bytes()[..bits / 8].to_vec());
            let lanes = self.frame.constant(lanes.collect());
            let word = mask + (first / bits * (bits / 8)) as i64;
            return self.asm.mask_from_bits(to, at(FRAME, word), at(FRAME, lanes), wide);
        }
        let half = if width == Width::B64 { part.half as i64 } else { 0 };
        let code = if width == Width::B64 { Code::VEX_Kmovb_kr_km8 } else { Code::VEX_Kmovw_kr_km16 };
        self.asm.rm(code, to, at(FRAME, mask + 2 * part.vector as i64 + half));
    }

    /// A uniform value in a general register: its location, or `scratch`.
    fn scalar(&mut self, value: Operand, width: Width, scratch: Register) -> EmitResult<Register> {
        if let VectorShape::Constant(bits) = self.shapes.shape(value) {
            self.asm.constant(scratch, bits & width.mask());
            return Ok(scratch);
        }
        let Operand::Reg(reg) = value else { return Err(EmitError::Unsupported) };
        match self.allocations[reg.0 as usize] {
            Allocation::Scalar(Location::Register(register)) => Ok(register),
            Allocation::Scalar(Location::Slot(offset)) => {
                self.asm.rm(Code::Mov_r64_rm64, scratch, at(FRAME, offset));
                Ok(scratch)
            }
            Allocation::Vectors(_) if self.shapes.shape(value).is_uniform() => {
                let register = self.canonicalised(value, width, Part { vector: 0, half: 0 }, E)?;
                match width {
                    Width::B64 => self.asm.rr(Code::EVEX_Vmovq_rm64_xmm, scratch, xmm(register)),
                    _ => self.asm.rr(Code::EVEX_Vmovd_rm32_xmm, low(scratch), xmm(register)),
                }
                Ok(scratch)
            }
            _ => Err(EmitError::Unsupported),
        }
    }
    /// Defines a register as the number in a general register plus a pattern.
    fn define(&mut self, d: Reg, from: Register, pattern: usize) -> EmitResult {
        let width = self.width(d);
        match self.allocations[d.0 as usize] {
            Allocation::None | Allocation::Folded | Allocation::Scalar(_) => self.set_scalar(d, from),
            Allocation::Vectors(_) => {
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
                        self.op3(add, to, to, numbers, Decorators::default());
                    }
                    self.write_back(d, part, to);
                }
            }
            Allocation::Mask(to) => {
                self.copy_scalar(Width::B64, Register::RAX, from);
                self.asm.push(Instruction::with1(Code::Neg_rm64, Register::RAX));
                for word in 0..self.mask_words() {
                    self.set_mask_word(d, to, word);
                }
            }
        }
        Ok(())
    }

    fn set_scalar(&mut self, d: Reg, from: Register) {
        match self.allocations[d.0 as usize] {
            Allocation::Scalar(Location::Register(register)) if register != from => {
                self.asm.rr(Code::Mov_r64_rm64, register, from)
            }
            Allocation::Scalar(Location::Slot(offset)) => self.asm.mr(Code::Mov_rm64_r64, at(FRAME, offset), from),
            _ => {}
        }
    }

    /// One instruction, whose predicate has been handled.
    fn instruction(&mut self, inst: &DecodedInst<'_>) -> EmitResult {
        use roundonce_ir::Op;
        if self.addresses.replace(inst.op) {
            return Ok(());
        }
        match inst.op {
            Op::Move { d, a } => self.copy(*d, *a),
            Op::Special { d, special } => self.special(*d, *special),
            Op::Float { d, operation, args, .. } => self.float(*d, operation, args),
            &Op::Sign { d, negate, format, flush: false, arithmetic, a } => self.sign(d, negate, format, arithmetic, a),
            Op::Int { d, op, width: Width::Pred, args } => self.logic(*d, *op, args),
            Op::Int { d, op, width, args } => self.int(*d, *op, *width, args),
            &Op::Compare { d, comparison, of, a, b } => self.compare(d, (comparison, of), a, b, None),
            &Op::Select { d, p, a, b } => self.select(d, p, a, b),
            &Op::MinMax { d, max, format, flush, nan, xorsign_abs, a, b } => {
                self.min_max(d, MinMax { format, max, flush, nan, xorsign_abs }, a, b)
            }
            &Op::Shuffle { d, p, mode, a, b, c, mask } => self.shuffle(d, p, mode, [a, b, c], mask),
            &Op::Vote { d, mode, a, mask } => self.vote(d, mode, a, mask),
            &Op::WarpBarrier { mask } => self.whole_warps(Some(mask)),
            &Op::Pack { d, low, high } => self.pack(d, low, high),
            &Op::Extract { d, a, width, shift } => self.extract(d, a, width, shift),
            &Op::Convert { d, a, .. } => match conversion(inst.op) {
                Some(how) => self.convert(d, how, a),
                None => Err(EmitError::Unsupported),
            },
            Op::Load { d, space, bytes, signed, address, offset } => {
                self.read(d, *space, (*bytes, *signed), *address, *offset)
            }
            op @ (Op::Divide { .. } | Op::SquareRoot { .. }) => self.quotient(op),
            op @ Op::Approximate { name, .. } => {
                self.quotient(op)?;
                self.count_approximation(name);
                Ok(())
            }
            _ => Err(EmitError::Unsupported),
        }
    }
}
