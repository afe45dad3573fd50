//! Loads and stores, each access checked against its segment before it touches anything.

use super::super::asm::{Manner, at};
use super::super::frame::{Frame, Site, line};
use super::{A, D, Done, E, Emit, FRAME, Part, Stop, TILE, Trouble, by, low, ymm};
use crate::kernel::DecodedInst;
use crate::native::shape::{Shape, VECTOR};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{Op, Operand, Reg, Space, Width};

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;

/// How a vector's elements lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lie {
    /// All lanes read one element.
    Same,
    /// Neighbours.
    Row,
    /// Anyhow.
    Apart,
}

impl Emit<'_> {
    /// Checks an access by all lanes of the tile, whether they are at work or not; RAX is then the machine's address of the
    /// address's number. Uses RCX.
    fn check(&mut self, store: bool, space: Space, bytes: u32, count: usize, address: Operand, offset: i64) -> Done {
        let shape = self.shapes.shape(address);
        if !shape.is_scalar() {
            return Err(Stop::Cut);
        }
        let pattern = self.shapes.pattern(self.pattern_of(address));
        let least = pattern.iter().copied().min().unwrap_or(0);
        let most = pattern.iter().copied().max().unwrap_or(0);
        let length = u64::from(bytes) * count as u64;
        let Some(from) = least.checked_add(offset).and_then(|from| i32::try_from(from).ok()) else {
            return Err(Stop::Cut);
        };
        let span = most.abs_diff(least).checked_add(length).filter(|&span| span < 1 << 31).ok_or(Stop::Cut)?;
        // Lanes must be aligned alike.
        if pattern.iter().any(|number| number.rem_euclid(bytes.into()) != least.rem_euclid(bytes.into())) {
            return Err(Stop::Cut);
        }
        let width = match address {
            Operand::Reg(reg) => self.width(reg),
            Operand::Imm(_) => Width::B64,
        };
        let number = self.number(address, width, RCX)?;
        self.asm.rm(Code::Lea_r64_m, RAX, at(number, from.into()));
        let rotate = |emit: &mut Self| {
            if bytes > 1 {
                emit.asm.push(Instruction::with2(Code::Ror_rm64_imm8, RAX, bytes.trailing_zeros()));
            }
        };
        match space {
            Space::Shared => {
                // Of shared memory the size is known, and the tile knows where it is.
                let Some(room) = self.given.setup.shared_bytes().checked_sub(span) else { return Err(Stop::Cut) };
                self.site(|_| Site { at: 0, space, store, bytes, span, address, shape, offset, length });
                rotate(self);
                self.asm.ri(Code::Cmp_rm64_imm32, RAX, (room / u64::from(bytes)) as i32);
                self.give_up(Code::Ja_rel32_64, Trouble::Other, 0);
                self.asm.rm(Code::Mov_r64_rm64, RAX, at(TILE, 8 * line::SHARED as i64));
            }
            Space::Global | Space::Const | Space::Generic => {
                let site = self.site(|frame| {
                    let at = frame.reserve(32, 32);
                    Site { at, space, store, bytes, span, address, shape, offset, length }
                });
                let place = self.frame.sites[site].at;
                self.asm.rm(Code::Sub_r64_rm64, RAX, at(FRAME, place));
                rotate(self);
                self.asm.rm(Code::Cmp_r64_rm64, RAX, at(FRAME, place + 8));
                self.give_up(Code::Jae_rel32_64, Trouble::Unknown, site);
                self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, place + 16));
            }
            _ => return Err(Stop::Cut),
        }
        self.asm.rr(Code::Add_r64_rm64, RAX, number);
        Ok(())
    }
    /// The site of the access at work: one, however often it is compiled.
    fn site(&mut self, make: impl FnOnce(&mut Frame) -> Site) -> usize {
        if let Some(&known) = self.accesses.get(&self.point) {
            return known;
        }
        let site = make(&mut self.frame);
        self.frame.sites.push(site);
        self.accesses.insert(self.point, self.frame.sites.len() - 1);
        self.frame.sites.len() - 1
    }

    /// How a part's elements lie, and where the first is from the address's number.
    fn lie(&self, address: Operand, width: Width, bytes: u32, part: Part) -> (Lie, i64, Vec<i64>) {
        let pattern = self.shapes.pattern(self.pattern_of(address));
        let (start, count) = match width {
            Width::B64 => (part.vector * VECTOR + part.half * (VECTOR / 2), VECTOR / 2),
            _ => (part.vector * VECTOR, VECTOR),
        };
        let lanes = &pattern[start..start + count];
        let steps: Vec<i64> = lanes.iter().map(|number| number - lanes[0]).collect();
        let lie = if steps.iter().all(|&step| step == 0) {
            Lie::Same
        } else if steps.iter().enumerate().all(|(lane, &step)| step == lane as i64 * i64::from(bytes)) {
            Lie::Row
        } else {
            Lie::Apart
        };
        (lie, lanes[0], steps)
    }

    pub(super) fn read(
        &mut self,
        d: &[Option<Reg>],
        space: Space,
        (bytes, signed): (u32, bool),
        address: Operand,
        offset: i64,
    ) -> Done {
        if space == Space::Param {
            let known = d.iter().flatten().all(|&d| self.is_constant(d));
            if known {
                return Ok(());
            }
            // A parameter that other numbers share a register with.
            let Shape::Constant(at) = self.shapes.shape(address) else { return Err(Stop::Cut) };
            for (place, &d) in d.iter().enumerate() {
                let Some(d) = d else { continue };
                let from = at.wrapping_add(offset as u64).wrapping_add(place as u64 * u64::from(bytes));
                let value = self.given.param(from, bytes, signed).ok_or(Stop::Cut)?;
                self.asm.constant(RAX, value & self.width(d).mask());
                self.give(d, RAX, 0)?;
            }
            return Ok(());
        }
        self.check(false, space, bytes, d.len(), address, offset)?;
        for (place, &d) in d.iter().enumerate() {
            let Some(d) = d else { continue };
            let offset = offset + place as i64 * i64::from(bytes);
            let width = self.width(d);
            if width == Width::Pred {
                return Err(Stop::Cut);
            }
            if self.is_general(d) {
                self.load_number(RCX, at(RAX, offset), width, bytes, signed)?;
                self.give(d, RCX, 0)?;
                continue;
            }
            if self.is_constant(d) || width.bits() != bytes * 8 {
                return Err(Stop::Cut);
            }
            for part in self.parts(d) {
                let to = self.target(d, part, D);
                let (lie, first, steps) = self.lie(address, width, bytes, part);
                let from = at(RAX, offset + first);
                match lie {
                    Lie::Same => {
                        let code =
                            by(width, Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64);
                        self.asm.rm(code, to, from);
                    }
                    Lie::Row => self.asm.rm(Code::EVEX_Vmovups_zmm_k1z_zmmm512, to, from),
                    Lie::Apart => {
                        let (memory, mask) = self.apart(&steps, width, offset + first)?;
                        let code = by(width, Code::EVEX_Vpgatherdd_zmm_k1_vm32z, Code::EVEX_Vpgatherdq_zmm_k1_vm32y);
                        self.asm.vector(Instruction::with2(code, to, memory), Manner::masked(mask));
                    }
                }
                self.bring(d, part, to);
            }
        }
        Ok(())
    }

    /// The memory operand of a gather or scatter with fixed steps, and a mask of all lanes.
    fn apart(&mut self, steps: &[i64], width: Width, offset: i64) -> Done<(MemoryOperand, Register)> {
        let mut bytes = Vec::with_capacity(64);
        for &step in steps {
            bytes.extend(i32::try_from(step).map_err(|_| Stop::Cut)?.to_le_bytes());
        }
        bytes.resize(64, 0);
        let numbers = self.frame.constant(bytes);
        self.asm.rm(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, E, at(FRAME, numbers));
        self.asm.push(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, Register::K2, Register::K2, Register::K2));
        let index = if width == Width::B64 { ymm(E) } else { E };
        Ok((MemoryOperand::with_base_index_scale_displ_size(RAX, index, 1, offset, 1), Register::K2))
    }

    fn load_number(&mut self, to: Register, from: MemoryOperand, width: Width, bytes: u32, signed: bool) -> Done {
        let wide = width == Width::B64;
        let (code, register) = match (bytes, signed) {
            (8, _) => (Code::Mov_r64_rm64, to),
            (4, true) if wide => (Code::Movsxd_r64_rm32, to),
            (4, _) => (Code::Mov_r32_rm32, low(to)),
            (2, true) if wide => (Code::Movsx_r64_rm16, to),
            (2, true) => (Code::Movsx_r32_rm16, low(to)),
            (2, false) => (Code::Movzx_r32_rm16, low(to)),
            (1, true) if wide => (Code::Movsx_r64_rm8, to),
            (1, true) => (Code::Movsx_r32_rm8, low(to)),
            (1, false) => (Code::Movzx_r32_rm8, low(to)),
            _ => return Err(Stop::Cut),
        };
        self.asm.rm(code, register, from);
        Ok(())
    }

    /// Whether a store can be made, before any is.
    pub(super) fn check_store(&mut self, step: &DecodedInst<'_>) -> Done {
        let Op::Store { values, width, space, bytes, address, offset } = step.op else { return Err(Stop::Cut) };
        if width.bits() != bytes * 8 || self.shapes.shape(*address).is_uniform() {
            return Err(Stop::Cut);
        }
        self.check(true, *space, *bytes, values.len(), *address, *offset)
    }

    /// A store that was checked.
    pub(super) fn store(&mut self, step: &DecodedInst<'_>) -> Done {
        let Op::Store { values, width, bytes, address, offset, .. } = step.op else { return Err(Stop::Cut) };
        self.locate(*address)?;
        for (place, &value) in values.iter().enumerate() {
            let offset = offset + place as i64 * i64::from(*bytes);
            let halves = if *width == Width::B64 { 2 } else { 1 };
            for index in 0..halves * self.shapes.lanes / VECTOR {
                let part = Part { vector: index / halves, half: index % halves };
                let from = self.finished(value, *width, part, A)?;
                let (lie, first, steps) = self.lie(*address, *width, *bytes, part);
                if lie == Lie::Row {
                    self.write(at(RAX, offset + first), from, *width, part);
                } else {
                    let (memory, all) = self.apart(&steps, *width, offset + first)?;
                    if let Some(mask) = self.guard {
                        self.lanes_of(mask, *width, part, all);
                    }
                    let code = by(*width, Code::EVEX_Vpscatterdd_vm32z_k1_zmm, Code::EVEX_Vpscatterdq_vm32y_k1_zmm);
                    self.asm.vector(Instruction::with2(code, memory, from), Manner::masked(all));
                }
            }
        }
        Ok(())
    }

    /// A part's lanes at work, side by side, to memory.
    pub(super) fn write(&mut self, to: MemoryOperand, from: Register, width: Width, part: Part) {
        let mask = self.guard.map(|mask| {
            self.lanes_of(mask, width, part, Register::K1);
            Register::K1
        });
        let code = by(width, Code::EVEX_Vmovups_zmmm512_k1z_zmm, Code::EVEX_Vmovupd_zmmm512_k1z_zmm);
        self.asm.vector(Instruction::with2(code, to, from), Manner { mask, ..Manner::default() });
    }

    /// RAX becomes the machine's address of the store at work, which was checked.
    fn locate(&mut self, address: Operand) -> Done {
        let width = match address {
            Operand::Reg(reg) => self.width(reg),
            Operand::Imm(_) => Width::B64,
        };
        let number = self.number(address, width, RCX)?;
        let Some(&site) = self.accesses.get(&self.point) else { return Err(Stop::Cut) };
        let from = match self.frame.sites[site] {
            Site { space: Space::Shared, .. } => at(TILE, 8 * line::SHARED as i64),
            Site { at: place, .. } => at(FRAME, place + 16),
        };
        self.asm.rm(Code::Mov_r64_rm64, RAX, from);
        self.asm.rr(Code::Add_r64_rm64, RAX, number);
        Ok(())
    }
}
