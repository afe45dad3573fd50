//! The registers that are live into a region and out of it: between their locations and the tiles' records and columns.

use super::super::asm::{Decorators, at};
use super::super::frame::{LiveLocation, LiveReg, record};
use super::{A, EmitResult, Emitter, FRAME, Location, Part, TILE};
use crate::kernel::Machine;
use crate::native::LaunchConstants;
use crate::native::alloc::Allocation;
use crate::native::region::{Region, is_live, members};
use crate::native::shape::VectorShape;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{Operand, Reg, Role, Width};

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const RDX: Register = Register::RDX;

/// The registers that a region defines.
fn written(launch: &LaunchConstants<'_>, region: &Region) -> Vec<bool> {
    let mut written = vec![false; launch.code.kernel.registers.len()];
    for node in 0..region.nodes.len() {
        for inst in region.insts(launch.code, node) {
            inst.op.registers(|role, reg| written[reg.0 as usize] |= role == Role::Def);
        }
    }
    written
}

/// Which registers a region reads, or leaves to what follows.
pub(super) fn reads(launch: &LaunchConstants<'_>, region: &Region) -> Vec<bool> {
    let mut reads = vec![false; launch.code.kernel.registers.len()];
    let mut read = |reg: Reg| reads[reg.0 as usize] = true;
    for (index, node) in region.nodes.iter().enumerate() {
        for inst in region.insts(launch.code, index) {
            inst.op.registers(|role, reg| match role {
                Role::Use => read(reg),
                Role::Def => {}
            });
            inst.guard.iter().for_each(|guard| read(guard.pred));
        }
        region.decider(node.next).into_iter().for_each(&mut read);
    }
    region.live_at_exits().iter().flat_map(|live| members(live)).for_each(read);
    reads
}

impl Emitter<'_> {
    /// The live-out registers of each exit: defined in the region and live there.
    pub(super) fn plan_outputs(&mut self) -> Vec<Vec<LiveReg>> {
        let written = written(self.launch, self.region);
        let mut words = vec![None; written.len()];
        let exits = self.region.live_at_exits();
        exits
            .iter()
            .map(|live| {
                let regs =
                    (0..written.len() as u32).map(Reg).filter(|&reg| written[reg.0 as usize] && is_live(live, reg));
                regs.map(|reg| {
                    let location =
                        *words[reg.0 as usize].get_or_insert_with(|| match self.shapes.shape(Operand::Reg(reg)) {
                            VectorShape::Constant(bits) => LiveLocation::Constant(bits),
                            VectorShape::Scalar(pattern) => {
                                LiveLocation::Word { word: self.frame.record_word(), pattern }
                            }
                            _ => LiveLocation::Column(self.frame.reserve(8, 8)),
                        });
                    LiveReg { reg, location }
                })
                .collect()
            })
            .collect()
    }

    /// Writes an exit's live-out registers.
    pub(super) fn emit_exit(&mut self, exit: usize, live_out: &[LiveReg]) -> EmitResult {
        self.states = self.deferred.at_exit[exit].clone();
        let in_columns = live_out.iter().filter(|output| matches!(output.location, LiveLocation::Column(_)));
        self.settle_nans(in_columns.map(|output| output.reg));
        live_out.iter().try_for_each(|output| self.output(output))
    }
    fn output(&mut self, &LiveReg { reg, location }: &LiveReg) -> EmitResult {
        let width = self.width(reg);
        match location {
            LiveLocation::Constant(_) => {}
            LiveLocation::Word { word, .. } => {
                let number = self.scalar(Operand::Reg(reg), width, RAX)?;
                self.asm.mr(Code::Mov_rm64_r64, at(TILE, 8 * word as i64), number);
            }
            LiveLocation::Column(column) => {
                self.load_column_address(column);
                if let Allocation::Mask(mask) = self.allocations[reg.0 as usize] {
                    if self.machine() != Machine::Avx512 {
                        for byte in 0..self.shapes.lanes / 8 {
                            let lanes: Vec<u8> = (0..16).map(|lane| 1 << (lane % 8)).collect();
                            let lanes = at(FRAME, self.frame.constant(lanes));
                            let ones = at(FRAME, self.frame.constant(vec![1; 16]));
                            let bits = at(FRAME, mask + byte as i64);
                            self.asm.bytes_from_bits(lane_at(width, 8 * byte), bits, lanes, ones);
                        }
                        return Ok(());
                    }
                    for vector in 0..self.shapes.lanes / self.machine().lanes() {
                        let part = Part { vector, half: 0 };
                        self.load_mask(mask, Width::B32, part, Register::K2);
                        let ones = self.frame.constant(vec![1; 16]);
                        let load =
                            Instruction::with2(Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128, Register::XMM27, at(FRAME, ones));
                        self.asm.vector(load, Decorators::zeroing(Register::K2));
                        self.asm.mr(Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm, self.lanes_at(width, part), Register::XMM27);
                    }
                    return Ok(());
                }
                let halves = if width == Width::B64 { 2 } else { 1 };
                for index in 0..halves * self.shapes.lanes / self.machine().lanes() {
                    let part = Part { vector: index / halves, half: index % halves };
                    let from = self.canonicalised(Operand::Reg(reg), width, part, A)?;
                    let to = self.lanes_at(width, part);
                    self.write(to, from, width.bits() / 8, part);
                }
            }
        }
        Ok(())
    }

    pub(super) fn input(&mut self, &LiveReg { reg, location }: &LiveReg) -> EmitResult {
        let width = self.width(reg);
        match location {
            LiveLocation::Constant(bits) => {
                if let Allocation::Mask(_) = self.allocations[reg.0 as usize] {
                    return self.copy(reg, Operand::Imm(bits));
                }
                self.asm.constant(RAX, bits & width.mask());
                self.define(reg, RAX, 0)?;
            }
            LiveLocation::Word { word, pattern } => {
                self.asm.rm(Code::Mov_r64_rm64, RAX, at(TILE, 8 * word as i64));
                self.define(reg, RAX, pattern)?;
            }
            LiveLocation::Column(column) => {
                self.load_column_address(column);
                if let Allocation::Mask(mask) = self.allocations[reg.0 as usize] {
                    if self.machine() != Machine::Avx512 {
                        for byte in 0..self.shapes.lanes / 8 {
                            self.asm.bits_from_bytes(RAX, lane_at(width, 8 * byte));
                            self.asm.mr(Code::Mov_rm8_r8, at(FRAME, mask + byte as i64), Register::AL);
                        }
                        return Ok(());
                    }
                    for vector in 0..self.shapes.lanes / self.machine().lanes() {
                        let part = Part { vector, half: 0 };
                        self.asm.rm(Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128, Register::XMM27, self.lanes_at(width, part));
                        let (code, k2, x) = (Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128, Register::K2, Register::XMM27);
                        self.asm.push(Instruction::with3(code, k2, x, x));
                        self.asm.mr(Code::VEX_Kmovw_m16_kr, at(FRAME, mask + 2 * vector as i64), k2);
                    }
                    return Ok(());
                }
                let load = match width {
                    Width::B16 => Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
                    Width::B64 => Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
                    _ => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
                };
                for part in self.parts(reg) {
                    match self.location(reg, part) {
                        Some(Location::Register(register)) => self.asm.rm(load, register, self.lanes_at(width, part)),
                        Some(Location::Slot(_)) => {
                            self.asm.rm(load, A, self.lanes_at(width, part));
                            self.write_back(reg, part, A);
                        }
                        None => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// A part of a column, after [`load_column_address`](Emitter::load_column_address).
    fn lanes_at(&self, width: Width, part: Part) -> MemoryOperand {
        lane_at(width, self.first_lane_of(width, part))
    }
    /// Sets RCX to a column's address and RDX to the tile's first lane.
    fn load_column_address(&mut self, column: i64) {
        self.asm.rm(Code::Mov_r64_rm64, RCX, at(FRAME, column));
        self.asm.rm(Code::Mov_r64_rm64, RDX, at(TILE, 8 * record::LANE as i64));
    }
}

/// A lane of a column, after [`load_column_address`](Emitter::load_column_address).
fn lane_at(width: Width, lane: usize) -> MemoryOperand {
    let bytes = match width {
        Width::Pred => 1,
        Width::B16 => 2,
        Width::B32 => 4,
        Width::B64 => 8,
    };
    MemoryOperand::with_base_index_scale_displ_size(RCX, RDX, bytes, lane as i64 * i64::from(bytes), 1)
}
